//! The profiles of the configuration, each with what it takes to turn to it. Options and variables are about the profile
//! that was chosen at the start; the others are as they stand in the file.

use super::environment::Environment;
use super::file::{ConfigFile, LoadedFile, ProfileConfig};
use super::key::{self, KeySource};
use super::{ConfigError, Flags, sources};
use crate::api::{ClientOptions, ExtraRoots};
use crate::model::endpoint::Scope;
use crate::model::text::CleanText;
use std::path::{Path, PathBuf};

/// A profile that can be turned to, or can't.
#[derive(Debug, Clone)]
pub struct KnownProfile {
    pub name: CleanText,
    /// Whom to talk to; none without a project.
    pub scope: Option<Scope>,
    /// Where its key comes from; `Ok(None)` when nothing names one.
    pub key: Result<Option<KeySource>, ConfigError>,
    /// A file of certificates that are trusted beside those of the system.
    pub ca_file: Option<PathBuf>,
}

impl KnownProfile {
    /// Why it can't be turned to; none when it can.
    pub fn lacks(&self) -> Option<CleanText> {
        match (&self.scope, &self.key) {
            (None, _) => Some(CleanText::line("It has no project_id.")),
            (_, Ok(None)) => Some(CleanText::line(
                "It has no key of its own: api_key_command, api_key_file or api_key in config.toml.",
            )),
            (_, Err(error)) => Some(CleanText::line(&error.to_string())),
            (Some(_), Ok(Some(_))) => None,
        }
    }

    /// How the client talks to the service. Reads the file of certificates, where one is named.
    ///
    /// # Errors
    /// It can't be read, or is none.
    pub fn client_options(&self) -> Result<ClientOptions, ConfigError> {
        let roots = self.ca_file.as_deref().map(ExtraRoots::read).transpose()?;
        Ok(ClientOptions { roots, ..ClientOptions::default() })
    }
}

/// The profiles by name, and the place of the one that was chosen. One that stands in no file comes first.
pub(super) fn known(
    chosen: &KnownProfile,
    raw_name: &str,
    environment: &Environment,
    path: &Path,
    found: &LoadedFile,
) -> (Vec<KnownProfile>, usize) {
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
    chosen: &KnownProfile,
    name: &str,
    profile: &ProfileConfig,
    environment: &Environment,
    path: &Path,
    readable_by_others: bool,
) -> KnownProfile {
    let scope = sources::scope(&Flags::default(), &Environment::default(), profile);
    let own = KeySource::of_profile(name, profile, path, readable_by_others);
    let service = |scope: &Option<Scope>| scope.as_ref().map(|scope| scope.base_url.clone());
    // A key goes to the service that it was given for, and to no other.
    let is_same_service = service(&scope).is_some() && service(&scope) == service(&chosen.scope);
    let key = match (own, &environment.api_key) {
        (Ok(None), Some(Some(key))) if is_same_service => Ok(Some(KeySource::Given(key.clone()))),
        (own, _) => own,
    };
    let ca_file = profile.ca_file.as_deref().map(|file| key::beside(path, file));
    KnownProfile { name: CleanText::line(name), scope, key, ca_file }
}
