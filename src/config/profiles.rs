//! All configured profiles, with what is needed to switch to them. Options and variables apply only to the profile that
//! was selected at the start; the others are as in the file.

use super::environment::Environment;
use super::file::{ConfigFile, LoadedFile, ProfileConfig};
use super::key::{self, KeySource};
use super::{ConfigError, Flags, sources};
use crate::api::{ClientOptions, ExtraRoots};
use crate::model::endpoint::Scope;
use crate::model::text::CleanText;
use std::path::{Path, PathBuf};

/// A configured profile, possibly incomplete.
#[derive(Debug, Clone)]
pub struct ConfiguredProfile {
    pub name: CleanText,
    /// The service and project; `None` without a project.
    pub scope: Option<Scope>,
    /// The source of its key; `Ok(None)` if none is set.
    pub key: Result<Option<KeySource>, ConfigError>,
    /// A certificate file that is trusted in addition to the system's certificates.
    pub ca_file: Option<PathBuf>,
}

impl ConfiguredProfile {
    /// Why docdeck can't switch to this profile; `None` if it can.
    pub fn problem(&self) -> Option<CleanText> {
        match (&self.scope, &self.key) {
            (None, _) => Some(CleanText::line("No project_id is set.")),
            (_, Ok(None)) => {
                Some(CleanText::line("No API key: set api_key_command, api_key_file or api_key in config.toml."))
            }
            (_, Err(error)) => Some(CleanText::line(&error.to_string())),
            (Some(_), Ok(Some(_))) => None,
        }
    }

    /// The settings of the HTTP client. Reads the certificate file, if there is one.
    ///
    /// # Errors
    /// Fails if the file can't be read or contains no certificates.
    pub fn client_options(&self) -> Result<ClientOptions, ConfigError> {
        let roots = self.ca_file.as_deref().map(ExtraRoots::read).transpose()?;
        Ok(ClientOptions { roots, ..ClientOptions::default() })
    }
}

/// All profiles by name, and the index of the selected one. A profile that is not in the file comes first.
pub(super) fn all_profiles(
    chosen: &ConfiguredProfile,
    raw_name: &str,
    environment: &Environment,
    path: &Path,
    found: &LoadedFile,
) -> (Vec<ConfiguredProfile>, usize) {
    let file: &ConfigFile = &found.file;
    let mut all = Vec::new();
    let mut at = 0;
    if !file.profiles.contains_key(raw_name) {
        all.push(chosen.clone());
    }
    for (name, profile) in &file.profiles {
        if name == raw_name {
            at = all.len();
            all.push(chosen.clone());
        } else {
            all.push(other(chosen, name, profile, environment, path, found.readable_by_others));
        }
    }
    (all, at)
}

fn other(
    chosen: &ConfiguredProfile,
    name: &str,
    profile: &ProfileConfig,
    environment: &Environment,
    path: &Path,
    readable_by_others: bool,
) -> ConfiguredProfile {
    let scope = sources::resolve_scope(&Flags::default(), &Environment::default(), profile);
    let own = KeySource::from_profile(name, profile, path, readable_by_others);
    let service = |scope: &Option<Scope>| scope.as_ref().map(|scope| scope.base_url.clone());
    // A key is only ever sent to the service that it was set for.
    let is_same_service = service(&scope).is_some() && service(&scope) == service(&chosen.scope);
    let key = match (own, &environment.api_key) {
        (Ok(None), Some(Some(key))) if is_same_service => Ok(Some(KeySource::Given(key.clone()))),
        (own, _) => own,
    };
    let ca_file = profile.ca_file.as_deref().map(|file| key::resolve_path(path, file));
    ConfiguredProfile { name: CleanText::line(name), scope, key, ca_file }
}
