//! Turning to another profile: its key is read, with the terminal lent to a program that prints it, and tried with one
//! request, while everything goes on as it was. Only then the effects and the engine are the other profile's.

use super::effects::EngineConfig;
use super::event_loop::Dashboard;
use super::foreground_child::ForegroundChild;
use crate::api::Client;
use crate::app::Msg;
use crate::app::profiles::ProfileEntry;
use crate::config::key::KeySource;
use crate::config::profiles::KnownProfile;
use crate::engine::PollOptions;
use crate::model::endpoint::ApiKey;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::{Failure, FailureKind};
use crate::model::job::JobId;
use crate::model::redaction::redacted_setting;
use crate::model::text::CleanText;
use chrono::Utc;
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;

/// A job that nobody has: a look at it is the one request that no limit counts (api.md: limits).
const NOBODYS: &str = "docdeck-asks-whether-the-key-works";
/// How long the service may take to say whether it takes a key. One that is not there can be turned to all the same.
const PATIENCE: Duration = Duration::from_secs(8);

/// The profiles, and what is the same for all of them.
#[derive(Debug, Default)]
pub struct ProfileSwitcher {
    /// In the order in which the state machine has them.
    pub known: Vec<KnownProfile>,
    pub poll: PollOptions,
    pub lock_folder: Option<PathBuf>,
    pub on_change: Vec<String>,
}

impl ProfileSwitcher {
    fn client(&self, at: usize, key: ApiKey) -> Result<Client, Failure> {
        let profile = self.known.get(at).ok_or_else(gone)?;
        let options = profile.client_options().map_err(|error| local(&redacted_setting(&error.to_string())))?;
        Client::new(profile.scope.clone().ok_or_else(gone)?, key, options)
    }

    fn source(&self, at: usize) -> Result<KeySource, Failure> {
        match self.known.get(at).map(|profile| &profile.key) {
            Some(Ok(Some(source))) => Ok(source.clone()),
            Some(Err(error)) => Err(local(&redacted_setting(&error.to_string()))),
            Some(Ok(None)) | None => Err(gone()),
        }
    }

    /// The program that prints the key of the profile at this place, where one does.
    fn program(&self, at: usize) -> Option<CleanText> {
        match self.source(at) {
            Ok(KeySource::Command(words)) => words.first().map(|program| CleanText::line(program)),
            _ => None,
        }
    }

    /// Reads the key of the profile at this place.
    pub fn read_key(&self, at: usize) -> impl Future<Output = Msg> + Send + 'static {
        let source = self.source(at);
        async move {
            let read = async { source?.read().await.map_err(|error| local(&redacted_setting(&error.to_string()))) };
            Msg::ProfileKey(at, read.await)
        }
    }

    /// Asks the service whether it takes that key.
    pub fn try_key(&self, at: usize, key: ApiKey) -> impl Future<Output = Msg> + Send + 'static {
        let client = self.client(at, key.clone());
        async move {
            let tried = async { is_taken(&client?).await.map(|away| (key, away)) };
            Msg::KeyTried(at, tried.await)
        }
    }

    /// Takes in a profile that was written; it can be switched to from now on.
    pub fn add(&mut self, known: KnownProfile, key: Option<ApiKey>) -> Msg {
        let profile = ProfileEntry { name: known.name.clone(), scope: known.scope.clone(), lacks: known.lacks() };
        self.known.push(known);
        Msg::ProfileAdded { profile, key }
    }

    /// What the engine of the profile at this place is made of.
    ///
    /// # Errors
    /// There is no such profile, or its file of certificates has gone.
    pub fn connection(&self, at: usize, key: ApiKey) -> Result<EngineConfig, Failure> {
        let Self { poll, lock_folder, on_change, .. } = self;
        let (poll, lock_folder, on_change) = (poll.clone(), lock_folder.clone(), on_change.clone());
        Ok(EngineConfig { client: self.client(at, key)?, poll, lock_folder, on_change })
    }
}

fn gone() -> Failure {
    local("It has no project or no key.")
}

fn local(sentence: &str) -> Failure {
    Failure::new(FailureKind::Local, sentence)
}

impl Dashboard {
    /// Reads the key of a profile. A program has the terminal meanwhile: it may ask for a password in it.
    pub(super) fn read_profile_key(&mut self, at: usize) -> Option<Msg> {
        let read = self.profiles.read_key(at);
        let Some(program) = self.profiles.program(at) else {
            self.effects.spawn(read);
            return None;
        };
        if self.session.is_away() {
            let failure = local("The terminal is lent already; the key was not read.");
            return Some(Msg::ProfileKey(at, Err(failure)));
        }
        self.session.hand_over();
        let mut out = std::io::stdout().lock();
        // A terminal that is gone tells so when it is taken back.
        let _ = writeln!(out, "docdeck runs {program} for the key; it has 10 s.").and_then(|()| out.flush());
        self.loan = Some(ForegroundChild::to_ourselves(read));
        None
    }

    /// From here on all effects are about this profile.
    pub(super) fn turn_to_profile(&mut self, at: usize, key: ApiKey) -> Option<Msg> {
        match self.profiles.connection(at, key) {
            Ok(connection) => {
                self.effects.switch(connection, &mut self.news);
                None
            }
            // It was one a moment ago: only its file of certificates can have gone.
            Err(failure) => Some(Msg::News(EngineEvent::Trouble(failure))),
        }
    }
}

/// One GET. Only a refused key and an unusable address are reasons to stay with the present profile: without the service
/// there is still the store. Returns why the check did not succeed, if it did not.
async fn is_taken(client: &Client) -> Result<Option<Failure>, Failure> {
    let Some(id) = JobId::new(NOBODYS) else { return Ok(None) };
    let Ok(answer) = tokio::time::timeout(PATIENCE, client.get_job(&id)).await else {
        let sentence = format!("The service gave no answer within {} s.", PATIENCE.as_secs());
        return Ok(Some(Failure::new(FailureKind::Offline, &sentence)));
    };
    let failure = match answer.result {
        Ok(_) => return Ok(None),
        Err(error) => error.failure(answer.date.unwrap_or_else(Utc::now)),
    };
    match failure.kind {
        FailureKind::KeyRefused => Err(failure),
        FailureKind::NotFound => Ok(None),
        _ => Ok(Some(failure)),
    }
}
