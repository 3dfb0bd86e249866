//! The settings of `[team]` and `DOCDECK_TEAM_URL`: where the team's database is, and this member's name.

use super::environment::Environment;
use super::error::ConfigError;
use super::file::ConfigFile;
use super::key::{KeySource, resolve_path};
use crate::api::ExtraRoots;
use crate::model::analytics::ReaderTextRetention;
use crate::model::endpoint::{ApiKey, TEAM_URL_VARIABLE};
use crate::model::prompt::MAX_AUTHOR_CHARS;
use crate::model::redaction::redacted_path;
use crate::model::text::CleanText;
use std::path::{Path, PathBuf};

/// The settings for the team's database.
#[derive(Debug)]
pub struct TeamSettings {
    url: KeySource,
    /// The name under which the team sees the prompts of this computer.
    pub member_name: CleanText,
    /// For how many days the texts that readers wrote are stored.
    pub reader_text_days: ReaderTextRetention,
    ca_file: Option<PathBuf>,
}

/// Returns `user@host`.
fn default_member_name(environment: &Environment) -> String {
    #[cfg(unix)]
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    #[cfg(not(unix))]
    let host = std::env::var("COMPUTERNAME").unwrap_or_default();
    let host = host.split('.').next().filter(|host| !host.is_empty()).unwrap_or("computer").to_owned();
    format!("{}@{host}", environment.user.as_deref().unwrap_or("user"))
}

impl TeamSettings {
    /// Returns the settings of the file at `path`; `None` if no URL is configured.
    ///
    /// # Errors
    /// Fails if `DOCDECK_TEAM_URL` is invalid.
    pub fn from_file(file: &ConfigFile, path: &Path, environment: &Environment) -> Result<Option<Self>, ConfigError> {
        let config = file.team.clone();
        let url = match (&environment.team_url, config.url_command, config.url_file) {
            (Some(Some(url)), ..) => KeySource::Literal(url.clone()),
            (Some(None), ..) => return Err(no_url_error(TEAM_URL_VARIABLE)),
            (None, Some(words), _) => KeySource::Command(words),
            (None, None, Some(file)) => KeySource::File(resolve_path(path, &file)),
            (None, None, None) => return Ok(None),
        };
        let member_name = config.name.unwrap_or_else(|| default_member_name(environment));
        let ca_file = config.ca_file.map(|file| resolve_path(path, &file));
        let member_name = CleanText::title(&member_name, MAX_AUTHOR_CHARS);
        Ok(Some(Self { url, member_name, reader_text_days: file.privacy.reader_text_days(), ca_file }))
    }

    /// Whether reading the URL runs a command, which may ask for a password.
    pub fn url_comes_from_command(&self) -> bool {
        matches!(self.url, KeySource::Command(_))
    }

    /// Reads the URL of the database. This may run a command, which may need the terminal for a password prompt.
    ///
    /// # Errors
    /// Fails if the command fails or prints no URL. Also fails if the file can't be read, contains no URL, or is
    /// readable by other users.
    pub async fn read_url(&self) -> Result<ApiKey, ConfigError> {
        self.url.read().await.map_err(|error| match error {
            ConfigError::KeyFile { path, why } => ConfigError::TeamUrl(CleanText::line(&format!(
                "The URL of the team's database can't be read from {}: {why}. Write it to this file and make it private \
                 (chmod 600), or set another url_file.",
                path.display()
            ))),
            ConfigError::KeyReadableByOthers { path } => ConfigError::TeamUrl(CleanText::line(&format!(
                "Other users can read {0}, which contains the password of the team's database, so it is not used. Make \
                 it private: chmod 600 {0}",
                redacted_path(&path).display()
            ))),
            ConfigError::KeyCommand { program, why } => ConfigError::TeamUrl(CleanText::line(&format!(
                "The url_command {program} {why}. Try it in a terminal; docdeck runs it without a shell."
            ))),
            ConfigError::NoKey { source_name } => no_url_error(&source_name),
            other => other,
        })
    }

    /// Reads the file of additional certificates.
    ///
    /// # Errors
    /// Fails if the file can't be read or contains no certificate.
    pub fn read_roots(&self) -> Result<Option<ExtraRoots>, ConfigError> {
        Ok(self.ca_file.as_deref().map(ExtraRoots::read).transpose()?)
    }
}

fn no_url_error(source: &str) -> ConfigError {
    ConfigError::TeamUrl(CleanText::line(&format!(
        "There is no usable URL in {source}. It must be a single line without spaces, like \
         postgres://USER:PASSWORD@HOST/DATABASE."
    )))
}
