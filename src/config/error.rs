//! The errors in the configuration.

use super::sourced::SettingSource;
use super::themes::ThemeError;
use crate::api::RootsError;
use crate::model::failure::Failure;
use crate::model::redaction::{redacted_except_words, redacted_setting};
use crate::model::text::CleanText;
use std::path::{Path, PathBuf};

/// An error in the configuration, worded for the user.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("{}:{line}:{column}: {what}. Fix the line, or choose another file with --config.", path.display())]
    Invalid { path: PathBuf, line: usize, column: usize, what: CleanText },
    #[error("{} can't be read: {why}. Make the file readable, or choose another one with --config.", path.display())]
    Unreadable { path: PathBuf, why: CleanText },
    #[error("{} is larger than 1 MiB. Shorten it, or choose another file with --config.", path.display())]
    TooLarge { path: PathBuf },
    #[error("The API key can't be read from {}: {why}. Write the key to this file and make it private (chmod 600), or set another api_key_file.", path.display())]
    KeyFile { path: PathBuf, why: CleanText },
    #[error("Configuration file {0} not found. Create it with `docdeck init --config {0}`.", path.display())]
    NotFound { path: PathBuf },
    #[error(
        "There is no profile {name} in {} (profiles: {known}). Choose one with --profile, or create it with \
         `docdeck init --profile {name}`.", path.display()
    )]
    NoProfile { name: CleanText, path: PathBuf, known: CleanText },
    #[error(
        "There are several profiles in {}: {known}. Choose one with --profile, or set default_profile.",
        path.display()
    )]
    AmbiguousProfile { path: PathBuf, known: CleanText },
    #[error("Other users can read {0}, which contains the API key, so it is not used. Make it private: chmod 600 {0}", path.display())]
    KeyReadableByOthers { path: PathBuf },
    #[error("The API key command {program} {why}. Try it in a terminal; docdeck runs it without a shell.")]
    KeyCommand { program: CleanText, why: CleanText },
    #[error("There is no usable API key in {source_name}. It must be a single line with only the key, without spaces.")]
    NoKey { source_name: String },
    #[error(
        "The project id ({from}) looks like an API key, so it is not used. Correct it, and set the key as DOCDECK_API_KEY or with `docdeck init`."
    )]
    ProjectIdLooksLikeKey { from: SettingSource },
    /// The URL of the team's database can't be used. The text states why, and contains no part of the URL.
    #[error("{0}")]
    TeamUrl(CleanText),
    /// The token of a code host can't be used. The text states why, and contains no part of the token.
    #[error("{0}")]
    HostToken(CleanText),
    #[error(transparent)]
    Theme(#[from] ThemeError),
    #[error(transparent)]
    Roots(#[from] RootsError),
    #[error("No home folder found. Set the data folder with --data-dir and the configuration file with --config.")]
    NoHome,
}

impl From<ConfigError> for Failure {
    /// Redacts API keys, in case the user has put one into the wrong field.
    fn from(error: ConfigError) -> Self {
        Self::local(&redacted_setting(&error.to_string()))
    }
}

impl ConfigError {
    /// Returns an error at a line and column of the file at `path`. Redacts API keys in `what`, in case the user has
    /// put one into the wrong field.
    pub fn invalid(path: &Path, (line, column): (usize, usize), what: &str) -> Self {
        Self::Invalid { path: path.into(), line, column, what: CleanText::line(&redacted_except_words(what)) }
    }
}
