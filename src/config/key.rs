//! Where the API key comes from: a program, a file, or the configuration file itself. The key never shows up in an
//! error; what a failing program says on its stderr does, cleaned.

use super::ConfigError;
use super::file::{Profile, others_can_read, plain};
use crate::model::endpoint::ApiKey;
use crate::model::setup::KeyFrom;
use crate::model::text::CleanText;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use zeroize::Zeroizing;

/// How long a key command may take.
const COMMAND_LIMIT: Duration = Duration::from_secs(10);
/// What is read of a command's output or of a key file: a key is a line.
const MAX_BYTES: u64 = 64 * 1024;

/// One source of the key.
#[derive(Debug, Clone)]
pub enum KeySource {
    /// A program and its arguments, run without a shell.
    Command(Vec<String>),
    /// A file that holds nothing but the key.
    File(PathBuf),
    /// The key as it stands in the environment or the configuration file.
    Given(ApiKey),
}

impl KeySource {
    /// The source that a profile names, if it names one. `config` is the path of the configuration file (relative key
    /// files lie beside it).
    ///
    /// # Errors
    /// More than one source, a key in a file that others can read, text that can't be a key, an empty command.
    pub(super) fn of_profile(
        name: &str,
        profile: &Profile,
        config: &Path,
        readable_by_others: bool,
    ) -> Result<Option<Self>, ConfigError> {
        let clean = || CleanText::line(name);
        let named = [profile.api_key_command.is_some(), profile.api_key_file.is_some(), profile.api_key.is_some()];
        if named.iter().filter(|named| **named).count() > 1 {
            return Err(ConfigError::SeveralKeySources { profile: clean() });
        }
        if let Some(command) = &profile.api_key_command {
            if command.first().is_none_or(String::is_empty) {
                return Err(ConfigError::EmptyCommand { profile: clean() });
            }
            return Ok(Some(Self::Command(command.clone())));
        }
        if let Some(path) = &profile.api_key_file {
            return Ok(Some(Self::File(beside(config, path))));
        }
        let Some(key) = &profile.api_key else { return Ok(None) };
        if readable_by_others {
            return Err(ConfigError::KeyForAll { path: config.into() });
        }
        match ApiKey::new(key.expose()) {
            Some(key) => Ok(Some(Self::Given(key))),
            None => Err(ConfigError::NoKey { source_name: format!("api_key in {}", config.display()) }),
        }
    }

    /// The source that a new profile names; none where that is set elsewhere. `config` is where the file is to lie.
    pub fn of_new(key: &KeyFrom, config: &Path) -> Option<Self> {
        match key {
            KeyFrom::Elsewhere => None,
            KeyFrom::Command(words) => Some(Self::Command(words.clone())),
            KeyFrom::File(path) => Some(Self::File(beside(config, path))),
            KeyFrom::Typed(key) => Some(Self::Given(key.clone())),
        }
    }

    /// The key. Runs the command or reads the file, so ask once, and before the terminal is taken over: a password
    /// prompt of the command needs it.
    ///
    /// # Errors
    /// The command fails, takes longer than 10 s or prints no key; the file can't be read or others can read it.
    pub async fn read(&self) -> Result<ApiKey, ConfigError> {
        match self {
            Self::Given(key) => Ok(key.clone()),
            Self::File(path) => read_file(path),
            Self::Command(words) => run(words, COMMAND_LIMIT).await,
        }
    }
}

/// Where a path that a profile names lies: beside the configuration file, `~` is the home folder.
pub(super) fn beside(config: &Path, path: &Path) -> PathBuf {
    if let (Ok(rest), Some(dirs)) = (path.strip_prefix("~"), directories::BaseDirs::new()) {
        return dirs.home_dir().join(rest);
    }
    config.parent().map_or_else(|| path.to_path_buf(), |folder| folder.join(path))
}

fn read_file(path: &Path) -> Result<ApiKey, ConfigError> {
    use std::io::Read;
    let unreadable = |error: &std::io::Error| ConfigError::Unreadable { path: path.into(), why: plain(error) };
    let file = std::fs::File::open(path).map_err(|error| unreadable(&error))?;
    if others_can_read(&file).map_err(|error| unreadable(&error))? {
        return Err(ConfigError::KeyForAll { path: path.into() });
    }
    let mut text = Zeroizing::new(String::new());
    file.take(MAX_BYTES).read_to_string(&mut text).map_err(|error| unreadable(&error))?;
    ApiKey::new(&text).ok_or_else(|| ConfigError::NoKey { source_name: path.display().to_string() })
}

async fn run(words: &[String], limit: Duration) -> Result<ApiKey, ConfigError> {
    let (program, arguments) = words.split_first().map_or(("", [].as_slice()), |(first, rest)| (first.as_str(), rest));
    let failed = |why: &str| ConfigError::KeyCommand { program: CleanText::line(program), why: CleanText::line(why) };
    let mut child = tokio::process::Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .map_err(|error| failed(&format!("could not be started: {}", plain(&error))))?;
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let all = async { tokio::join!(child.wait(), head(stdout), head(stderr)) };
    let Ok((status, output, complaint)) = tokio::time::timeout(limit, all).await else {
        return Err(failed(&format!("gave no answer within {} s", limit.as_secs())));
    };
    let status = status.map_err(|error| failed(plain(&error).as_str()))?;
    if !status.success() {
        let said = CleanText::title(&String::from_utf8_lossy(&complaint), 300);
        let said = if said.is_empty() { "and said nothing".to_owned() } else { format!("and said: {said}") };
        return Err(failed(&format!("ended with {} {said}", ending(status))));
    }
    let text = Zeroizing::new(String::from_utf8_lossy(&output).into_owned());
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    ApiKey::new(line).ok_or_else(|| ConfigError::NoKey { source_name: format!("the output of {program}") })
}

fn ending(status: std::process::ExitStatus) -> String {
    status.code().map_or_else(|| "a signal".to_owned(), |code| format!("code {code}"))
}

/// Reads to the end and keeps the head: a program that prints without end is not to fill the memory.
async fn head(stream: Option<impl AsyncRead + Unpin>) -> Zeroizing<Vec<u8>> {
    let mut kept = Zeroizing::new(Vec::new());
    let Some(mut stream) = stream else { return kept };
    let mut part = Zeroizing::new(vec![0; 4096]);
    while let Ok(n @ 1..) = stream.read(&mut part).await {
        let room = usize::try_from(MAX_BYTES).unwrap_or(usize::MAX).saturating_sub(kept.len());
        kept.extend_from_slice(part.get(..n.min(room)).unwrap_or_default());
    }
    kept
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    async fn run_sh(script: &str) -> Result<ApiKey, ConfigError> {
        run(&words(&["sh", "-c", script]), COMMAND_LIMIT).await
    }

    #[tokio::test]
    async fn the_first_line_of_a_commands_output_is_the_key() {
        let key = run_sh("echo; echo mint_one; echo other").await.expect("a key");
        assert_eq!(key.expose(), "mint_one");
    }

    #[tokio::test]
    async fn arguments_are_not_read_by_a_shell() {
        let key = run(&words(&["printf", "%s", "$HOME;x"]), COMMAND_LIMIT).await.expect("a key");
        assert_eq!(key.expose(), "$HOME;x");
    }

    #[tokio::test]
    async fn what_a_failing_command_says_is_shown_clean_and_its_output_is_not() {
        let error = run_sh("echo mint_half; printf 'no \\033[2Jaccess' >&2; exit 3").await.expect_err("it failed");
        let said = error.to_string();
        assert!(said.contains("code 3") && said.contains("no access"), "{said}");
        assert!(!said.contains("mint_half") && !said.contains('\x1b'), "{said}");
    }

    #[tokio::test]
    async fn a_command_that_hangs_is_given_up() {
        let hangs = run(&words(&["sleep", "30"]), Duration::from_millis(20)).await;
        assert!(matches!(hangs, Err(ConfigError::KeyCommand { .. })), "{hangs:?}");
    }

    #[tokio::test]
    async fn a_command_that_does_not_exist_is_said_by_name() {
        let error = run(&words(&["docdeck-no-such-program"]), COMMAND_LIMIT).await.expect_err("not there");
        assert!(error.to_string().contains("docdeck-no-such-program"), "{error}");
    }

    #[test]
    fn a_key_file_that_others_can_read_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key");
        std::fs::write(&path, "mint_file\n").expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("mode");
        assert!(matches!(read_file(&path), Err(ConfigError::KeyForAll { .. })));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("mode");
        assert_eq!(read_file(&path).expect("a key").expose(), "mint_file");
    }
}
