//! What the welcome page asks for: a key is read, a profile is tried with one request, and written.

use super::event_loop::Dashboard;
use super::lend::Loan;
use crate::api::{Client, ClientOptions};
use crate::app::welcome::NotWritten;
use crate::app::{Effect, Msg};
use crate::config::key::KeySource;
use crate::config::write::{WriteError, save};
use crate::engine::check::check;
use crate::model::endpoint::{ApiKey, Scope};
use crate::model::failure::{Failure, FailureKind};
use crate::model::setup::{Allowed, KeyFrom, NewProfile};
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
    fn source(&self, key: &KeyFrom) -> Option<KeySource> {
        KeySource::of_new(key, &self.config).or_else(|| self.source.clone())
    }

    /// Reads the key.
    pub(super) async fn read(&self, attempt: u64, key: &KeyFrom) -> Msg {
        let result = match self.source(key) {
            Some(source) => source.read().await.map_err(|error| local(&error.to_string())),
            None => Err(local("No source of the key is set, so there is none to read.")),
        };
        Msg::KeyRead { attempt, result }
    }

    /// Writes the profile into the configuration.
    pub(super) async fn write(self, attempt: u64, profile: Box<NewProfile>, allowed: Allowed) -> Msg {
        let saved = tokio::task::spawn_blocking(move || save(&self.config, &profile, allowed)).await;
        let result = match saved {
            Ok(Ok(())) => Ok(()),
            Ok(Err(WriteError::There { needs, .. })) => Err(NotWritten::There(needs)),
            Ok(Err(error)) => Err(NotWritten::Failed(local(&error.to_string()))),
            Err(_) => Err(NotWritten::Failed(local("docdeck is about to end; nothing was written."))),
        };
        Msg::ConfigWritten { attempt, result }
    }
}

impl Dashboard {
    /// Reads the key. A program has the terminal meanwhile: it may ask for a password in it.
    pub(super) fn read_key(&mut self, attempt: u64, key: KeyFrom) -> Option<Msg> {
        let first_run = self.effects.first_run().clone();
        let Some(KeySource::Command(words)) = first_run.source(&key) else {
            self.effects.carry(Effect::ReadKey { attempt, key });
            return None;
        };
        if self.stage.is_away() {
            let result = Err(local("The terminal is lent already; the key was not read."));
            return Some(Msg::KeyRead { attempt, result });
        }
        self.stage.hand_over();
        let program = CleanText::line(words.first().map_or("", String::as_str));
        let mut out = std::io::stdout().lock();
        // The terminal may be gone, which the event loop finds out by itself.
        let _ = writeln!(out, "docdeck runs {program} for the key; it has 10 s.").and_then(|()| out.flush());
        self.loan = Some(Loan::to_ourselves(async move { first_run.read(attempt, &key).await }));
        None
    }
}

/// One GET.
pub(super) async fn tried(attempt: u64, scope: Scope, key: ApiKey) -> Msg {
    let result = match Client::new(scope, key, ClientOptions::default()) {
        Ok(client) => check(&client).await,
        Err(failure) => Err(failure),
    };
    Msg::ProfileTried { attempt, result }
}

fn local(sentence: &str) -> Failure {
    Failure::new(FailureKind::Local, sentence)
}
