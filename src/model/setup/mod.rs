//! A new profile before it is saved: the service, the project and the source of the API key. Other modules save and
//! test it.

mod form;
mod secret_input;

pub use form::{KeySourceChoice, SetupField, SetupForm, SetupPurpose};

use super::endpoint::{ApiKey, Scope};
use super::text::CleanText;
use std::path::PathBuf;

/// The service's address unless configured otherwise.
pub const DEFAULT_BASE_URL: &str = "https://api.mintlify.com";

/// The name of a profile that the user has not named.
pub const DEFAULT_PROFILE: &str = "default";

/// The source of a new profile's API key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySourceInput {
    /// The key is already set in the environment or in the configuration file, so nothing is written for it.
    SetElsewhere,
    /// A program and its arguments, run without a shell. The first line of its output is the key.
    Command(Vec<String>),
    /// A file that contains only the key.
    File(PathBuf),
    /// The key itself, stored in the configuration file.
    Typed(ApiKey),
}

/// A new profile, as it is written to the section `[profiles.NAME]` of the configuration file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewProfile {
    pub name: String,
    /// The service's address; `None` for the default one.
    pub base_url: Option<String>,
    pub project: String,
    pub organization: Option<String>,
    /// A file with certificates that are trusted in addition to the system's. `None` keeps the setting of an existing
    /// profile.
    pub ca_file: Option<PathBuf>,
    pub key: KeySourceInput,
}

impl NewProfile {
    /// Returns the service and project of the profile.
    pub fn scope(&self) -> Scope {
        let base_url = self.base_url.as_deref().unwrap_or(DEFAULT_BASE_URL).trim_end_matches('/').to_owned();
        Scope { base_url, project: self.project.clone(), organization: self.organization.clone() }
    }
}

/// The settings that already exist when the user sets up docdeck.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ExistingSettings {
    /// The selected profile's name.
    pub profile: String,
    pub base_url: Option<String>,
    pub project: Option<String>,
    pub organization: Option<String>,
    pub ca_file: Option<PathBuf>,
    pub key: KeyPresence,
}

/// Where the API key is already set, if it is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KeyPresence {
    #[default]
    NotSet,
    /// The environment variable `DOCDECK_API_KEY`, which takes precedence over the configuration file.
    Environment,
    /// The profile in the configuration file names a source of the key.
    File,
}

/// What may be changed in an existing configuration file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ConfigWritePermission {
    /// Nothing. Only a new file may be created.
    Nothing,
    /// A profile may be added.
    Add,
    /// A profile may be added, and an existing profile may be changed.
    Change,
}

impl ConfigWritePermission {
    /// Returns the question whether docdeck may add or change the profile in the existing configuration file `config`.
    /// Returns `None` if only a new file may be created.
    pub fn question(self, config: &CleanText, profile: &CleanText) -> Option<String> {
        match self {
            Self::Nothing => None,
            Self::Add => Some(format!("{config} already exists. Add the profile {profile}? The rest is unchanged.")),
            Self::Change => {
                Some(format!("{config} already has a profile {profile}. Update it? The rest is unchanged."))
            }
        }
    }
}

/// Why docdeck can't accept a new profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupProblem {
    /// The invalid field; `None` if the problem doesn't concern a single field.
    pub field: Option<SetupField>,
    pub sentence: CleanText,
}

impl SetupProblem {
    pub fn new(field: Option<SetupField>, sentence: &str) -> Self {
        Self { field, sentence: CleanText::line(sentence) }
    }
}

/// Whether a text contains the prefix of an API key and therefore must not be shown.
pub fn contains_key_prefix(text: &str) -> bool {
    text.to_ascii_lowercase().contains("mint_")
}

/// Trims typed text. Returns `None` if it is empty.
pub fn non_blank(text: &str) -> Option<String> {
    Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned)
}
