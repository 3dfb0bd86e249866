//! Runs the effects of the setup form: checks a profile, reads its API key, tests the key with one request, and saves
//! the profile. Also saves filters and themes.

use crate::api::Client;
use crate::config::check;
use crate::config::key::{KeySource, resolve_path};
use crate::config::profiles::ConfiguredProfile;
use crate::config::write::{self, WriteError, write_profile};
use crate::engine::check::probe_key as test_key;
use crate::model::endpoint::ApiKey;
use crate::model::failure::Failure;
use crate::model::setup::{ConfigWritePermission, KeySourceInput, NewProfile, SetupProblem};
use crate::model::text::CleanText;
use crate::tui::ConfigWriteError;
use crate::tui::{Msg, ProfilesEffect, ProfilesMsg, SavedFilter};
use std::path::PathBuf;

/// Runs the effects of profiles and of the setup form.
#[derive(Debug, Clone, Default)]
pub struct ProfileEffectRunner {
    /// The path of the configuration file.
    pub config_path: PathBuf,
    /// The configured source of the API key, if any. Used for a new profile that has no source.
    pub configured_key_source: Option<KeySource>,
}

impl ProfileEffectRunner {
    pub(super) fn key_source(&self, key: &KeySourceInput) -> Option<KeySource> {
        KeySource::from_input(key, &self.config_path).or_else(|| self.configured_key_source.clone())
    }

    /// Runs an effect about profiles. Returns `None` if the event loop runs it.
    pub(super) async fn run(self, effect: ProfilesEffect) -> Option<ProfilesMsg> {
        match effect {
            ProfilesEffect::ReadNewProfileKey { attempt, key } => {
                Some(ProfilesMsg::NewProfileKeyRead { attempt, result: self.read_key(&key).await })
            }
            ProfilesEffect::WriteConfig { attempt, profile, allowed } => {
                Some(self.write_new_profile(attempt, profile, allowed).await)
            }
            ProfilesEffect::TestProfile { attempt, profile, key } => {
                Some(ProfilesMsg::ProfileTested { attempt, result: self.test_profile(&profile, key).await })
            }
            ProfilesEffect::CheckProfile { attempt, profile } => Some(self.check_new_profile(attempt, profile).await),
            ProfilesEffect::AddProfile(..)
            | ProfilesEffect::ReadProfileKey(_)
            | ProfilesEffect::TestProfileKey(..)
            | ProfilesEffect::SwitchProfile(..) => None,
        }
    }

    /// Checks a new profile by the rules that apply when docdeck starts. Reads files, but runs no program.
    async fn check_new_profile(self, attempt: u64, profile: Box<NewProfile>) -> ProfilesMsg {
        let checked = tokio::task::spawn_blocking(move || check::check_profile(&self.config_path, &profile)).await;
        let ending = || Err(SetupProblem::new(None, "docdeck is shutting down; nothing was saved."));
        ProfilesMsg::ProfileChecked { attempt, result: checked.unwrap_or_else(|_| ending()) }
    }

    pub(super) async fn save_filter(self, filter: SavedFilter, replace: bool) -> Msg {
        let saved = filter.clone();
        let write = move || write::save_filter(&self.config_path, saved.name.as_str(), &saved.text, replace);
        Msg::FilterSaved { filter, result: save_setting(write).await }
    }

    /// Saves the theme in the configuration, so that docdeck starts with it.
    pub(super) async fn save_theme_setting(self, name: String) -> Msg {
        let what = CleanText::line(&format!("Theme {name} saved in {}.", self.config_path.display()));
        Msg::ActionFinished {
            success_notice: what,
            result: save_setting(move || write::save_theme_setting(&self.config_path, &name)).await,
        }
    }

    /// Converts a new profile to a [`ConfiguredProfile`], so that the dashboard can switch to it.
    pub fn configured_profile(&self, profile: &NewProfile) -> ConfiguredProfile {
        ConfiguredProfile {
            name: CleanText::line(&profile.name),
            scope: Some(profile.scope()),
            key: Ok(KeySource::from_input(&profile.key, &self.config_path)),
            ca_file: profile.ca_file.as_deref().map(|file| resolve_path(&self.config_path, file)),
        }
    }

    /// Reads the API key of a new profile.
    ///
    /// # Errors
    /// Fails if the key can't be read, or if no source is set.
    pub async fn read_key(&self, key: &KeySourceInput) -> Result<ApiKey, Failure> {
        let source = self.key_source(key).ok_or_else(|| Failure::local("No key source is set."))?;
        Ok(source.read().await?)
    }

    /// Tests the profile with one GET request. Returns a sentence about what the response shows.
    ///
    /// # Errors
    /// Fails if the service can't be reached or refuses the key.
    pub async fn test_profile(&self, profile: &NewProfile, key: ApiKey) -> Result<CleanText, Failure> {
        let options = self.configured_profile(profile).client_options()?;
        test_key(&Client::new(profile.scope(), key, options)?).await
    }

    /// Saves the profile in the configuration.
    async fn write_new_profile(
        self,
        attempt: u64,
        profile: Box<NewProfile>,
        allowed: ConfigWritePermission,
    ) -> ProfilesMsg {
        let saved = tokio::task::spawn_blocking(move || write_profile(&self.config_path, &profile, allowed)).await;
        let result = match saved {
            Ok(Ok(())) => Ok(()),
            Ok(Err(WriteError::AlreadyExists { needs, .. })) => Err(ConfigWriteError::NeedsConfirmation(needs)),
            Ok(Err(error)) => Err(ConfigWriteError::Failed(error.into())),
            Err(_) => Err(ConfigWriteError::Failed(Failure::local("docdeck is shutting down; nothing was saved."))),
        };
        ProfilesMsg::ConfigWritten { attempt, result }
    }
}

/// Runs a function that writes to the configuration, on a thread for blocking calls.
async fn save_setting(write: impl FnOnce() -> Result<(), WriteError> + Send + 'static) -> Result<(), Failure> {
    let written = tokio::task::spawn_blocking(write).await;
    let written = written.map_err(|_| Failure::local("docdeck is shutting down; nothing was saved."))?;
    Ok(written?)
}
