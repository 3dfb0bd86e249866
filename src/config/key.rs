//! Reads the API key from one of its sources: the environment, a program, a file, or the configuration file. Errors
//! never contain the API key, but they contain the stderr of a failing program, with control characters removed.

use super::environment::Environment;
use super::error::ConfigError;
use super::file::{KEY_SOURCE_FIELDS, ProfileConfig, others_can_read, system_message};
use super::key_command::{KEY_COMMAND_TIMEOUT, MAX_KEY_SOURCE_BYTES, TerminalUse, run_key_command};
use crate::model::endpoint::{API_KEY_VARIABLE, ApiKey};
use crate::model::redaction::redacted_path;
use crate::model::setup::KeySourceInput;
use crate::model::text::CleanText;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Where the API key is read from.
#[derive(Debug, Clone)]
pub enum KeySource {
    /// A program and its arguments, run without a shell.
    Command(Vec<String>),
    /// A file that contains only the API key.
    File(PathBuf),
    /// The API key itself, from the environment, the configuration file or the setup screen.
    Literal(ApiKey),
}

impl KeySource {
    /// Returns the source of the API key that a profile sets, or `None` if the profile sets none. `config` is the path
    /// of the configuration file.
    ///
    /// # Errors
    /// Fails if the profile sets more than one source, an empty command or an invalid API key. Also fails if the
    /// profile contains the API key and other users can read the configuration file.
    pub(super) fn from_profile(
        name: &str,
        profile: &ProfileConfig,
        config: &Path,
        is_readable_by_others: bool,
    ) -> Result<Option<Self>, ConfigError> {
        let is_set = [profile.api_key_command.is_some(), profile.api_key_file.is_some(), profile.api_key.is_some()];
        let last =
            is_set.into_iter().zip(profile.key_source_positions).filter(|(is_set, _)| *is_set).map(|(_, at)| at).max();
        let wrong =
            |what: &str| ConfigError::invalid(config, last.unwrap_or((1, 1)), &format!("the profile {name} {what}"));
        if is_set.iter().filter(|is_set| **is_set).count() > 1 {
            let which = KEY_SOURCE_FIELDS.join(", ");
            return Err(wrong(&format!("names more than one source of the API key; keep one of {which}")));
        }
        if let Some(command) = &profile.api_key_command {
            if command.first().is_none_or(|program| program.trim().is_empty()) {
                return Err(wrong(
                    "has an empty api_key_command; it must be an array of the program and its arguments",
                ));
            }
            return Ok(Some(Self::Command(command.clone())));
        }
        if let Some(path) = &profile.api_key_file {
            return Ok(Some(Self::File(resolve_path(config, path))));
        }
        let Some(key) = &profile.api_key else { return Ok(None) };
        if is_readable_by_others {
            return Err(ConfigError::KeyReadableByOthers { path: config.into() });
        }
        match ApiKey::new(key.expose()) {
            Some(key) => Ok(Some(Self::Literal(key))),
            None => Err(ConfigError::NoKey { source_name: format!("api_key in {}", config.display()) }),
        }
    }

    /// Converts the source that the user entered for a new profile. Returns `None` if the user entered no source,
    /// because the API key is already set. `config` is the path of the configuration file.
    pub fn from_input(key: &KeySourceInput, config: &Path) -> Option<Self> {
        match key {
            KeySourceInput::SetElsewhere => None,
            KeySourceInput::Command(words) => Some(Self::Command(words.clone())),
            KeySourceInput::File(path) => Some(Self::File(resolve_path(config, path))),
            KeySourceInput::Typed(key) => Some(Self::Literal(key.clone())),
        }
    }

    /// Reads the API key. This may run a command, which may need the terminal for a password prompt.
    ///
    /// # Errors
    /// Fails if the command fails, runs longer than 10 s or prints no API key. Also fails if the file can't be read,
    /// contains no API key, or is readable by other users.
    pub async fn read(&self) -> Result<ApiKey, ConfigError> {
        self.read_with(TerminalUse::Foreground).await
    }

    /// Like [`Self::read`], but a command can be kept from using the terminal.
    pub(super) async fn read_with(&self, terminal: TerminalUse) -> Result<ApiKey, ConfigError> {
        match self {
            Self::Literal(key) => Ok(key.clone()),
            Self::File(path) => read_key_file(path),
            Self::Command(words) => run_key_command(words, KEY_COMMAND_TIMEOUT, terminal, &[]).await,
        }
    }
}

/// Returns the source of the API key: the environment if it sets one, otherwise the profile. Returns `None` if neither
/// does.
///
/// # Errors
/// Fails if the environment variable contains an invalid API key. For errors in the profile, see
/// [`KeySource::from_profile`].
pub fn resolve_key_source(
    environment: &Environment,
    name: &str,
    profile: &ProfileConfig,
    config: &Path,
    is_readable_by_others: bool,
) -> Result<Option<KeySource>, ConfigError> {
    match &environment.api_key {
        Some(Some(key)) => Ok(Some(KeySource::Literal(key.clone()))),
        Some(None) => Err(ConfigError::NoKey { source_name: API_KEY_VARIABLE.into() }),
        None => KeySource::from_profile(name, profile, config, is_readable_by_others),
    }
}

/// Resolves a path in a profile. Relative paths start at the folder of the configuration file `config`, and `~` is the
/// home folder.
pub fn resolve_path(config: &Path, path: &Path) -> PathBuf {
    if let (Ok(rest), Some(dirs)) = (path.strip_prefix("~"), directories::BaseDirs::new()) {
        return dirs.home_dir().join(rest);
    }
    config.parent().map_or_else(|| path.to_path_buf(), |folder| folder.join(path))
}

/// Reads the API key from a regular file that only its owner can read.
pub(super) fn read_key_file(path: &Path) -> Result<ApiKey, ConfigError> {
    use std::io::Read;
    let unreadable =
        |error: &std::io::Error| ConfigError::KeyFile { path: redacted_path(path), why: system_message(error) };
    let file = open_without_blocking(path).map_err(|error| unreadable(&error))?;
    let kind = file.metadata().map_err(|error| unreadable(&error))?.file_type();
    if !kind.is_file() {
        let why = if kind.is_dir() { "it is a folder" } else { "it is a pipe or a device, not a regular file" };
        return Err(ConfigError::KeyFile { path: redacted_path(path), why: CleanText::line(why) });
    }
    if others_can_read(&file).map_err(|error| unreadable(&error))? {
        return Err(ConfigError::KeyReadableByOthers { path: path.into() });
    }
    // Reserve enough space, because a buffer that grows leaves copies of the API key in memory that are never wiped.
    let mut text = Zeroizing::new(String::with_capacity(MAX_KEY_SOURCE_BYTES));
    file.take(MAX_KEY_SOURCE_BYTES as u64).read_to_string(&mut text).map_err(|error| unreadable(&error))?;
    ApiKey::new(&text).ok_or_else(|| ConfigError::NoKey { source_name: redacted_path(path).display().to_string() })
}

/// Opens a file for reading. If the file is a named pipe, doesn't wait until another program opens it for writing.
fn open_without_blocking(path: &Path) -> std::io::Result<std::fs::File> {
    let mut options = std::fs::OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        options.custom_flags((OFlags::NONBLOCK | OFlags::NOCTTY).bits().cast_signed());
    }
    options.open(path)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn an_api_key_file_that_other_users_can_read_is_rejected() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key");
        std::fs::write(&path, "mint_file\n").expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("mode");
        assert!(matches!(read_key_file(&path), Err(ConfigError::KeyReadableByOthers { .. })));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("mode");
        assert_eq!(read_key_file(&path).expect("a key").expose(), "mint_file");
    }

    #[test]
    fn a_pipe_device_or_folder_as_api_key_file_is_rejected_without_waiting() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let status =
            std::process::Command::new("mkfifo").arg("-m").arg("600").arg(&pipe).status().expect("mkfifo runs");
        assert!(status.success());
        for (path, why) in [
            (pipe.as_path(), "a pipe or a device"),
            (Path::new("/dev/zero"), "a pipe or a device"),
            (folder.path(), "a folder"),
        ] {
            let error = read_key_file(path).expect_err("refused").to_string();
            assert!(error.contains(why) && error.contains("chmod 600"), "{error}");
        }
    }
}
