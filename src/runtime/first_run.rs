//! Runs the effects of the setup form: checks a profile, reads its API key, tests the key with one request, and saves
//! the profile. Also saves filters and themes.

use super::event_loop::Dashboard;
use super::foreground_child::ForegroundChild;
use crate::api::Client;
use crate::config::check;
use crate::config::key::{KeySource, resolve_path};
use crate::config::profiles::ConfiguredProfile;
use crate::config::write::{self, WriteError, write_profile};
use crate::engine::check::probe_key as test_key;
use crate::model::endpoint::ApiKey;
use crate::model::failure::Failure;
use crate::model::redaction::redacted_setting;
use crate::model::setup::{KeySourceInput, NewProfile, SetupProblem, WritePermission};
use crate::model::text::CleanText;
use crate::tui::welcome::ConfigWriteError;
use crate::tui::{Effect, Msg, SavedFilter};
use std::io::Write;
use std::path::PathBuf;

/// What the setup form needs from this computer.
#[derive(Debug, Clone, Default)]
pub struct FirstRun {
    /// The path of the configuration file.
    pub config: PathBuf,
    /// The source of the API key that is already configured, if any.
    pub source: Option<KeySource>,
}

impl FirstRun {
    fn key_source(&self, key: &KeySourceInput) -> Option<KeySource> {
        KeySource::from_input(key, &self.config).or_else(|| self.source.clone())
    }

    /// Checks a new profile by the rules that apply when docdeck starts. Reads files, but runs no program.
    pub(super) async fn check(self, attempt: u64, profile: Box<NewProfile>) -> Msg {
        let checked = tokio::task::spawn_blocking(move || check::check_profile(&self.config, &profile)).await;
        let ending = || Err(SetupProblem::new(None, "docdeck is shutting down; nothing was saved."));
        Msg::ProfileChecked { attempt, result: checked.unwrap_or_else(|_| ending()) }
    }

    pub(super) async fn save_filter(self, filter: SavedFilter, replace: bool) -> Msg {
        let saved = filter.clone();
        let write = move || write::save_filter(&self.config, saved.name.as_str(), &saved.text, replace);
        Msg::FilterSaved { filter, result: save_setting(write).await }
    }

    /// Saves the theme in the configuration, so that docdeck starts with it.
    pub(super) async fn save_theme(self, name: String) -> Msg {
        let what = CleanText::line(&format!("Theme {name} saved in {}.", self.config.display()));
        Msg::ActionFinished { what, result: save_setting(move || write::save_theme(&self.config, &name)).await }
    }

    /// Converts a new profile to a [`ConfiguredProfile`], so that the dashboard can switch to it.
    pub fn configured_profile(&self, profile: &NewProfile) -> ConfiguredProfile {
        ConfiguredProfile {
            name: CleanText::line(&profile.name),
            scope: Some(profile.scope()),
            key: Ok(KeySource::from_input(&profile.key, &self.config)),
            ca_file: profile.ca_file.as_deref().map(|file| resolve_path(&self.config, file)),
        }
    }

    pub(super) async fn read_api_key(&self, attempt: u64, key: &KeySourceInput) -> Msg {
        let result = match self.key_source(key) {
            Some(source) => source.read().await.map_err(|error| Failure::local(&redacted_setting(&error.to_string()))),
            None => Err(Failure::local("No key source is set.")),
        };
        Msg::KeyRead { attempt, result }
    }

    /// Tests the profile with one GET request.
    pub(super) async fn test_profile(&self, attempt: u64, profile: &NewProfile, key: ApiKey) -> Msg {
        let tried = async {
            let options = self
                .configured_profile(profile)
                .client_options()
                .map_err(|error| Failure::local(&redacted_setting(&error.to_string())))?;
            test_key(&Client::new(profile.scope(), key, options)?).await
        };
        Msg::ProfileTested { attempt, result: tried.await }
    }

    /// Saves the profile in the configuration.
    pub(super) async fn write_new_profile(
        self,
        attempt: u64,
        profile: Box<NewProfile>,
        allowed: WritePermission,
    ) -> Msg {
        let saved = tokio::task::spawn_blocking(move || write_profile(&self.config, &profile, allowed)).await;
        let result = match saved {
            Ok(Ok(())) => Ok(()),
            Ok(Err(WriteError::AlreadyExists { needs, .. })) => Err(ConfigWriteError::NeedsConfirmation(needs)),
            Ok(Err(error)) => Err(ConfigWriteError::Failed(Failure::local(&redacted_setting(&error.to_string())))),
            Err(_) => Err(ConfigWriteError::Failed(Failure::local("docdeck is shutting down; nothing was saved."))),
        };
        Msg::ConfigWritten { attempt, result }
    }
}

impl Dashboard {
    /// Reads the API key of a new profile. If a program prints the key, it gets the terminal, because it may ask for a
    /// password. Returns a message only if the terminal is not available.
    pub(super) fn read_key(&mut self, attempt: u64, key: KeySourceInput) -> Option<Msg> {
        let first_run = self.effects.first_run().clone();
        let Some(KeySource::Command(words)) = first_run.key_source(&key) else {
            self.effects.run(Effect::ReadKey { attempt, key });
            return None;
        };
        if self.session.is_away() {
            let result = Err(Failure::local("Another program is using the terminal; the key was not read."));
            return Some(Msg::KeyRead { attempt, result });
        }
        self.session.release();
        let program = CleanText::line(words.first().map_or("", String::as_str));
        let mut out = std::io::stdout().lock();
        // The error is ignored: if the terminal is gone, the event loop notices it.
        let _ = writeln!(out, "Running {program} for the key (timeout 10 s).").and_then(|()| out.flush());
        self.foreground = Some(ForegroundChild::from_task(async move { first_run.read_api_key(attempt, &key).await }));
        None
    }
}

/// Runs a function that writes to the configuration, on a thread for blocking calls.
async fn save_setting(write: impl FnOnce() -> Result<(), WriteError> + Send + 'static) -> Result<(), Failure> {
    let written = tokio::task::spawn_blocking(write).await;
    let written = written.map_err(|_| Failure::local("docdeck is shutting down; nothing was saved."))?;
    written.map_err(|error| Failure::local(&redacted_setting(&error.to_string())))
}
