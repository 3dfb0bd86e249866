//! What the setup form asks for: a profile is checked, its key read, tried with one request, and written. Filters and
//! themes are saved here as well.

use super::event_loop::Dashboard;
use super::foreground_child::ForegroundChild;
use crate::api::Client;
use crate::app::welcome::NotWritten;
use crate::app::{Effect, Msg, SavedFilter};
use crate::config::check;
use crate::config::key::{KeySource, beside};
use crate::config::profiles::KnownProfile;
use crate::config::write::{self, WriteError, save};
use crate::engine::check::check as asked;
use crate::model::endpoint::ApiKey;
use crate::model::failure::{Failure, FailureKind};
use crate::model::redaction::redacted_setting;
use crate::model::setup::{KeySourceInput, NewProfile, SetupProblem, WritePermission};
use crate::model::text::CleanText;
use std::io::Write;
use std::path::PathBuf;

/// What the page needs of this computer.
#[derive(Debug, Clone, Default)]
pub struct FirstRun {
    /// Where the configuration is to lie.
    pub config: PathBuf,
    /// The source of the key that is set already.
    pub source: Option<KeySource>,
}

impl FirstRun {
    fn source(&self, key: &KeySourceInput) -> Option<KeySource> {
        KeySource::of_new(key, &self.config).or_else(|| self.source.clone())
    }

    /// Checks a new profile by the rules of the next start. Reads files, runs nothing.
    pub(super) async fn check(self, attempt: u64, profile: Box<NewProfile>) -> Msg {
        let checked = tokio::task::spawn_blocking(move || check::profile(&self.config, &profile)).await;
        let ending = || Err(SetupProblem::new(None, "docdeck is about to end; nothing was written."));
        Msg::ProfileChecked { attempt, result: checked.unwrap_or_else(|_| ending()) }
    }

    /// Saves a filter.
    pub(super) async fn save_filter(self, filter: SavedFilter, replace: bool) -> Msg {
        let saved = filter.clone();
        let write = move || write::save_filter(&self.config, saved.name.as_str(), &saved.text, replace);
        Msg::FilterSaved { filter, result: written(write).await }
    }

    /// Saves the theme to begin with.
    pub(super) async fn save_theme(self, name: String) -> Msg {
        let what = CleanText::line(&format!("Theme {name}, saved in {}.", self.config.display()));
        Msg::ActionFinished { what, result: written(move || write::save_theme(&self.config, &name)).await }
    }

    /// What it takes to switch to a profile that was written.
    pub fn known(&self, profile: &NewProfile) -> KnownProfile {
        KnownProfile {
            name: CleanText::line(&profile.name),
            scope: Some(profile.scope()),
            key: Ok(KeySource::of_new(&profile.key, &self.config)),
            ca_file: profile.ca_file.as_deref().map(|file| beside(&self.config, file)),
        }
    }

    /// Reads the key.
    pub(super) async fn read(&self, attempt: u64, key: &KeySourceInput) -> Msg {
        let result = match self.source(key) {
            Some(source) => source.read().await.map_err(|error| local(&redacted_setting(&error.to_string()))),
            None => Err(local("No source of the key is set, so there is none to read.")),
        };
        Msg::KeyRead { attempt, result }
    }

    /// One GET.
    pub(super) async fn try_out(&self, attempt: u64, profile: &NewProfile, key: ApiKey) -> Msg {
        let tried = async {
            let options =
                self.known(profile).client_options().map_err(|error| local(&redacted_setting(&error.to_string())))?;
            asked(&Client::new(profile.scope(), key, options)?).await
        };
        Msg::ProfileTried { attempt, result: tried.await }
    }

    /// Writes the profile into the configuration.
    pub(super) async fn write(self, attempt: u64, profile: Box<NewProfile>, allowed: WritePermission) -> Msg {
        let saved = tokio::task::spawn_blocking(move || save(&self.config, &profile, allowed)).await;
        let result = match saved {
            Ok(Ok(())) => Ok(()),
            Ok(Err(WriteError::There { needs, .. })) => Err(NotWritten::There(needs)),
            Ok(Err(error)) => Err(NotWritten::Failed(local(&redacted_setting(&error.to_string())))),
            Err(_) => Err(NotWritten::Failed(local("docdeck is about to end; nothing was written."))),
        };
        Msg::ConfigWritten { attempt, result }
    }
}

impl Dashboard {
    /// Reads the key. A program has the terminal meanwhile: it may ask for a password in it.
    pub(super) fn read_key(&mut self, attempt: u64, key: KeySourceInput) -> Option<Msg> {
        let first_run = self.effects.first_run().clone();
        let Some(KeySource::Command(words)) = first_run.source(&key) else {
            self.effects.carry(Effect::ReadKey { attempt, key });
            return None;
        };
        if self.session.is_away() {
            let result = Err(local("The terminal is lent already; the key was not read."));
            return Some(Msg::KeyRead { attempt, result });
        }
        self.session.hand_over();
        let program = CleanText::line(words.first().map_or("", String::as_str));
        let mut out = std::io::stdout().lock();
        // The terminal may be gone, which the event loop finds out by itself.
        let _ = writeln!(out, "docdeck runs {program} for the key; it has 10 s.").and_then(|()| out.flush());
        self.loan = Some(ForegroundChild::to_ourselves(async move { first_run.read(attempt, &key).await }));
        None
    }
}

/// Writes a setting.
async fn written(write: impl FnOnce() -> Result<(), WriteError> + Send + 'static) -> Result<(), Failure> {
    let written = tokio::task::spawn_blocking(write).await;
    let written = written.map_err(|_| local("docdeck is about to end; nothing was written."))?;
    written.map_err(|error| local(&redacted_setting(&error.to_string())))
}

fn local(sentence: &str) -> Failure {
    Failure::new(FailureKind::Local, sentence)
}
