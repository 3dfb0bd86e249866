//! All configured profiles, with the settings needed to switch to them. Command-line options and environment variables
//! apply only to the profile that is selected at startup. The other profiles use only the file, with one exception: a
//! profile without an API key uses the environment's API key if its service is also the service of the selected
//! profile.

use super::environment::Environment;
use super::error::ConfigError;
use super::file::{ConfigFile, LoadedFile, ProfileConfig};
use super::global_options::GlobalOptions;
use super::key::{self, KeySource};
use super::sources;
use crate::api::{ClientOptions, ExtraRoots};
use crate::model::endpoint::Scope;
use crate::model::text::CleanText;
use std::path::{Path, PathBuf};

/// A configured profile, possibly incomplete.
#[derive(Debug, Clone)]
pub struct ConfiguredProfile {
    pub name: CleanText,
    /// The service and project, or `None` if the profile sets no project.
    pub scope: Option<Scope>,
    /// Where the profile's API key is read from, or `Ok(None)` if no API key is set.
    pub key: Result<Option<KeySource>, ConfigError>,
    /// A file of certificates to trust in addition to the system's certificates.
    pub ca_file: Option<PathBuf>,
}

impl ConfiguredProfile {
    /// Returns the reason why docdeck can't switch to this profile, or `None` if it can.
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

    /// Returns the options of the HTTP client. Reads the certificate file if one is configured.
    ///
    /// # Errors
    /// Fails if the certificate file can't be read or contains no certificates.
    pub fn client_options(&self) -> Result<ClientOptions, ConfigError> {
        let roots = self.ca_file.as_deref().map(ExtraRoots::read).transpose()?;
        Ok(ClientOptions { roots, ..ClientOptions::default() })
    }
}

/// Returns all profiles sorted by name, and the index of the selected profile `chosen`. If the file doesn't contain the
/// selected profile, that profile comes first.
pub(super) fn all_profiles(
    chosen: &ConfiguredProfile,
    chosen_name_in_file: &str,
    environment: &Environment,
    path: &Path,
    loaded: &LoadedFile,
) -> (Vec<ConfiguredProfile>, usize) {
    let file: &ConfigFile = &loaded.file;
    let mut all = Vec::new();
    let mut selected = 0;
    if !file.profiles.contains_key(chosen_name_in_file) {
        all.push(chosen.clone());
    }
    for (name, profile) in &file.profiles {
        if name == chosen_name_in_file {
            selected = all.len();
            all.push(chosen.clone());
        } else {
            all.push(resolve_other_profile(chosen, name, profile, environment, path, loaded.is_readable_by_others));
        }
    }
    (all, selected)
}

fn resolve_other_profile(
    chosen: &ConfiguredProfile,
    name: &str,
    profile: &ProfileConfig,
    environment: &Environment,
    path: &Path,
    is_readable_by_others: bool,
) -> ConfiguredProfile {
    let scope = sources::resolve_scope(&GlobalOptions::default(), &Environment::default(), profile);
    let profile_key = KeySource::from_profile(name, profile, path, is_readable_by_others);
    let base_url_of = |scope: &Option<Scope>| scope.as_ref().map(|scope| scope.base_url.clone());
    // The environment's API key is meant for the selected profile's service and must not be sent to any other service.
    let is_same_service = base_url_of(&scope).is_some() && base_url_of(&scope) == base_url_of(&chosen.scope);
    let key = match (profile_key, &environment.api_key) {
        (Ok(None), Some(Some(key))) if is_same_service => Ok(Some(KeySource::Literal(key.clone()))),
        (profile_key, _) => profile_key,
    };
    let ca_file = profile.ca_file.as_deref().map(|file| key::resolve_path(path, file));
    ConfiguredProfile { name: CleanText::line(name), scope, key, ca_file }
}
