//! Sources of the API key: a program, a file, or the configuration file itself. Errors never contain the key, but they
//! do contain the cleaned stderr of a failing program.

use super::environment::Environment;
use super::file::{KEY_SOURCES, ProfileConfig, others_can_read, system_message};
use super::{ConfigError, key_command};
use crate::model::endpoint::{ApiKey, KEY_VARIABLE};
use crate::model::redaction::redacted_path;
use crate::model::setup::KeySourceInput;
use crate::model::text::CleanText;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// Maximum bytes to read from a command's output or a key file.
pub(super) const MAX_BYTES: usize = 64 * 1024;

#[derive(Debug, Clone)]
pub enum KeySource {
    /// A program and its arguments, run without a shell.
    Command(Vec<String>),
    /// A file that contains only the key.
    File(PathBuf),
    /// The key itself, from the environment or the configuration file.
    Given(ApiKey),
}

impl KeySource {
    /// The source that a profile sets, if any. `config` is the path of the configuration file; relative key files start
    /// at its folder.
    ///
    /// # Errors
    /// Fails for more than one source, a key in a file that others can read, an invalid key, or an empty command.
    pub(super) fn from_profile(
        name: &str,
        profile: &ProfileConfig,
        config: &Path,
        readable_by_others: bool,
    ) -> Result<Option<Self>, ConfigError> {
        let named = [profile.api_key_command.is_some(), profile.api_key_file.is_some(), profile.api_key.is_some()];
        let last =
            named.into_iter().zip(profile.key_positions).filter(|(named, _)| *named).map(|(_, place)| place).max();
        let wrong =
            |what: &str| ConfigError::invalid(config, last.unwrap_or((1, 1)), &format!("the profile {name} {what}"));
        if named.iter().filter(|named| **named).count() > 1 {
            let which = KEY_SOURCES.join(", ");
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
        if readable_by_others {
            return Err(ConfigError::KeyReadableByOthers { path: config.into() });
        }
        match ApiKey::new(key.expose()) {
            Some(key) => Ok(Some(Self::Given(key))),
            None => Err(ConfigError::NoKey { source_name: format!("api_key in {}", config.display()) }),
        }
    }

    /// The source that a new profile sets; `None` if it is already set elsewhere. `config` is the path of the file.
    pub fn from_input(key: &KeySourceInput, config: &Path) -> Option<Self> {
        match key {
            KeySourceInput::SetElsewhere => None,
            KeySourceInput::Command(words) => Some(Self::Command(words.clone())),
            KeySourceInput::File(path) => Some(Self::File(resolve_path(config, path))),
            KeySourceInput::Typed(key) => Some(Self::Given(key.clone())),
        }
    }

    /// Reads the key. This runs the command or reads the file, so do it once, and before the dashboard starts: the
    /// command may need the terminal for a password prompt.
    ///
    /// # Errors
    /// Fails if the command fails, runs longer than 10 s or prints no key, or if the file can't be read or others can
    /// read it.
    pub async fn read(&self) -> Result<ApiKey, ConfigError> {
        match self {
            Self::Given(key) => Ok(key.clone()),
            Self::File(path) => read_file(path),
            Self::Command(words) => key_command::run_key_command(words, key_command::LIMIT).await,
        }
    }
}

/// The source of the key: the environment beats the profile. `None` if neither sets one.
///
/// # Errors
/// Fails if the variable contains an invalid key; see also [`KeySource::from_profile`].
pub fn source(
    environment: &Environment,
    name: &str,
    profile: &ProfileConfig,
    config: &Path,
    readable_by_others: bool,
) -> Result<Option<KeySource>, ConfigError> {
    match &environment.api_key {
        Some(Some(key)) => Ok(Some(KeySource::Given(key.clone()))),
        Some(None) => Err(ConfigError::NoKey { source_name: KEY_VARIABLE.into() }),
        None => KeySource::from_profile(name, profile, config, readable_by_others),
    }
}

/// Resolves a path in a profile: relative to the configuration file, with `~` for the home folder.
pub fn resolve_path(config: &Path, path: &Path) -> PathBuf {
    if let (Ok(rest), Some(dirs)) = (path.strip_prefix("~"), directories::BaseDirs::new()) {
        return dirs.home_dir().join(rest);
    }
    config.parent().map_or_else(|| path.to_path_buf(), |folder| folder.join(path))
}

pub(super) fn read_file(path: &Path) -> Result<ApiKey, ConfigError> {
    use std::io::Read;
    let unreadable =
        |error: &std::io::Error| ConfigError::KeyFile { path: redacted_path(path), why: system_message(error) };
    let file = open_at_once(path).map_err(|error| unreadable(&error))?;
    let kind = file.metadata().map_err(|error| unreadable(&error))?.file_type();
    if !kind.is_file() {
        let why = if kind.is_dir() { "it is a folder" } else { "it is a pipe or a device, not a regular file" };
        return Err(ConfigError::KeyFile { path: redacted_path(path), why: CleanText::line(why) });
    }
    if others_can_read(&file).map_err(|error| unreadable(&error))? {
        return Err(ConfigError::KeyReadableByOthers { path: path.into() });
    }
    // Reserve enough space: a buffer that grows leaves copies of the key in memory that are never wiped.
    let mut text = Zeroizing::new(String::with_capacity(MAX_BYTES));
    file.take(MAX_BYTES as u64).read_to_string(&mut text).map_err(|error| unreadable(&error))?;
    ApiKey::new(&text).ok_or_else(|| ConfigError::NoKey { source_name: redacted_path(path).display().to_string() })
}

/// Opens a file for reading, without waiting for a writer if it is a pipe.
fn open_at_once(path: &Path) -> std::io::Result<std::fs::File> {
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
    fn a_key_file_that_others_can_read_is_rejected() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("key");
        std::fs::write(&path, "mint_file\n").expect("written");
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).expect("mode");
        assert!(matches!(read_file(&path), Err(ConfigError::KeyReadableByOthers { .. })));
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).expect("mode");
        assert_eq!(read_file(&path).expect("a key").expose(), "mint_file");
    }

    #[test]
    fn a_key_file_that_is_a_pipe_a_device_or_a_folder_is_rejected_at_once() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg("-m").arg("600").arg(&pipe).status().expect("mkfifo runs");
        assert!(made.success());
        for (path, why) in [
            (pipe.as_path(), "a pipe or a device"),
            (Path::new("/dev/zero"), "a pipe or a device"),
            (folder.path(), "a folder"),
        ] {
            let error = read_file(path).expect_err("refused").to_string();
            assert!(error.contains(why) && error.contains("chmod 600"), "{error}");
        }
    }
}
