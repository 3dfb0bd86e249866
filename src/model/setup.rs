//! A profile before it is written: whom to talk to, and where the key is to come from. Writing it down and trying it out
//! happen elsewhere.

use super::endpoint::{ApiKey, Scope};
use super::text::CleanText;
use std::path::PathBuf;

/// Where the service is unless something says otherwise (api.md).
pub const DEFAULT_BASE_URL: &str = "https://api.mintlify.com";

/// Name of a profile that was never named.
pub const DEFAULT_PROFILE: &str = "default";

/// Where the key of a new profile comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum KeySourceInput {
    /// Set elsewhere: in the environment, or in the file already. Nothing about it is written.
    Elsewhere,
    /// The first line that a program prints: the program and its arguments, run without a shell.
    Command(Vec<String>),
    /// A file that holds nothing but the key.
    File(PathBuf),
    /// The key itself, kept in the configuration file.
    Typed(ApiKey),
}

/// What is to stand in `[profiles.NAME]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewProfile {
    pub name: String,
    /// None for the usual one.
    pub base_url: Option<String>,
    pub project: String,
    pub organization: Option<String>,
    /// Certificates that are trusted beside those of the system; none leaves a profile that is there with what it has.
    pub ca_file: Option<PathBuf>,
    pub key: KeySourceInput,
}

impl NewProfile {
    /// Whom it talks to.
    pub fn scope(&self) -> Scope {
        let base_url = self.base_url.as_deref().unwrap_or(DEFAULT_BASE_URL).trim_end_matches('/').to_owned();
        Scope { base_url, project: self.project.clone(), organization: self.organization.clone() }
    }
}

/// What is set already when docdeck is set up.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AlreadySet {
    /// The profile that would be used.
    pub profile: String,
    pub base_url: Option<String>,
    pub project: Option<String>,
    pub organization: Option<String>,
    pub ca_file: Option<PathBuf>,
    pub key: KnownKey,
}

/// Whether a source of the key is set already.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum KnownKey {
    #[default]
    No,
    /// `DOCDECK_API_KEY`; it beats whatever the file says.
    Environment,
    /// The profile in the file names one.
    File,
}

/// The most that may be done to a configuration file that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum WritePermission {
    /// Nothing: only a new file is written.
    Nothing,
    /// A profile may be added.
    Add,
    /// A profile that is there may be changed as well.
    Change,
}

/// A field of a new profile that can be wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SetupField {
    Key,
    Project,
    BaseUrl,
    Organization,
    CaFile,
    Name,
}

/// Why docdeck would not accept a new profile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SetupProblem {
    /// None if it is not about one field.
    pub field: Option<SetupField>,
    pub sentence: CleanText,
}

impl SetupProblem {
    /// With this sentence for the user.
    pub fn new(field: Option<SetupField>, sentence: &str) -> Self {
        Self { field, sentence: CleanText::line(sentence) }
    }
}

/// Whether a text has the beginning of an API key in it (api.md), so that it is not repeated on the screen.
pub fn looks_like_key(text: &str) -> bool {
    text.to_ascii_lowercase().contains("mint_")
}

/// A text as typed, or none where nothing was.
pub fn typed(text: &str) -> Option<String> {
    Some(text.trim()).filter(|text| !text.is_empty()).map(str::to_owned)
}
