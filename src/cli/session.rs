//! What commands work with: the record alone, or the record with an engine on it. Opened from the settings, closed in
//! order: prompts under way are waited for, then engine, store and log end.

use super::data_folder::{can_be_known, is_there, open_store, opened};
use super::error::CliError;
use super::exit_code::Code;
use super::out::Out;
use crate::api::Client;
use crate::config::environment::Environment;
use crate::config::{Flags, SetupState, data_folder, resolve};
use crate::engine::{Engine, EngineSetup, LeaseRoles, PollOptions};
use crate::model::endpoint::Scope;
use crate::model::engine_event::EngineEvent;
use crate::model::log::{LogKind, Operation};
use crate::model::unrecorded::UnrecordedPrompts;
use crate::runtime::crash;
use crate::runtime::logfile::LogGuard;
use crate::runtime::signals::{Signal, SignalStream, stop_group};
use crate::store::Store;
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// Facts of the engine that wait before it has to.
const NEWS_WAITING: usize = 256;
/// How long an answer to a prompt under way is waited for at the end.
const LAST_ANSWER: Duration = Duration::from_secs(15);
/// The same after somebody asked to end.
const LAST_ANSWER_IN_HASTE: Duration = Duration::from_secs(5);
/// After the first Ctrl-C while an outcome can't be recorded.
pub(super) const STILL_RECORDING: &str = "Still trying to record it. Press Ctrl-C again to stop.";
const LOOK_AGAIN: Duration = Duration::from_millis(20);
/// How long engine and store are waited for; what they leave is found at the next start.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// What is known on this computer of one service and project, without a way to the service.
#[derive(Debug)]
pub(super) struct StoreSession {
    pub(super) store: Store,
    pub(super) scope: Scope,
}

impl StoreSession {
    /// Opens it; needs a project and no key. Where there is no store yet none is made, and nothing is known.
    ///
    /// # Errors
    /// The configuration, or a store that can't be used.
    pub(super) fn open(flags: &Flags, environment: &Environment, out: &mut Out) -> Result<Self, CliError> {
        Self::open_for(flags, environment, false, out)
    }

    /// As [`Record::open`]; to be written to, a store is made where there is none.
    ///
    /// # Errors
    /// The configuration, or a store that can't be used.
    pub(super) fn open_for(
        flags: &Flags,
        environment: &Environment,
        writing: bool,
        out: &mut Out,
    ) -> Result<Self, CliError> {
        let (scope, look) = match resolve(flags, environment)? {
            SetupState::Ready(settings) => (settings.scope, settings.look),
            SetupState::Missing(missing) => match missing.scope.clone() {
                Some(scope) => (scope, missing.look),
                None => return Err(CliError::unusable(missing.how_to_read())),
            },
        };
        out.dress(&look, environment, flags);
        let folder = data_folder(flags, environment)?;
        can_be_known(&scope, &folder)?;
        let store = if writing || Store::is_there(&folder) {
            open_store(&folder, writing, out)?
        } else {
            Store::in_memory().map_err(CliError::unusable)?
        };
        Ok(Self { store, scope })
    }

    /// Opens it as [`Record::open`] does, does something with it, and closes it.
    ///
    /// # Errors
    /// Those of opening and of the work.
    pub(super) async fn with<T>(
        flags: &Flags,
        environment: &Environment,
        out: &mut Out,
        work: impl AsyncFnOnce(&Self, &mut Out) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        let record = Self::open(flags, environment, out)?;
        let done = work(&record, out).await;
        record.close().await;
        done
    }

    /// Closes the file.
    pub(super) async fn close(self) {
        self.store.close().await;
    }
}

/// The record with an engine on it, and what happens around.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) engine: Engine,
    pub(super) store: Store,
    pub(super) scope: Scope,
    news: mpsc::Receiver<EngineEvent>,
    /// Taken in while something else was waited for.
    waiting: VecDeque<EngineEvent>,
    signals: SignalStream,
    log: Option<LogGuard>,
    /// The service did not accept the key for the last prompt.
    key_refused: bool,
    /// Somebody asked to end.
    hasty: bool,
    /// The last signal that asked to end was Ctrl-C.
    is_ctrl_c: bool,
    /// Outcomes of prompts that are not on disk.
    pub(super) unrecorded: UnrecordedPrompts,
}

/// What ended a wait.
#[derive(Debug)]
pub(super) enum WaitEnd {
    News(Box<EngineEvent>),
    /// Ctrl-C, or another signal that asks to end.
    Interrupted,
    /// The moment that was waited for has come.
    Late,
}

/// Ctrl-C, or another signal that asks to end, came first.
#[derive(Debug)]
pub(super) struct Interrupted;

impl Session {
    /// Opens settings, key, store, log and engine. The engine takes the duties that are free.
    ///
    /// # Errors
    /// The configuration, the key, or a store that can't be used or written: nothing that is learned or sent could be
    /// kept.
    pub(super) async fn open(
        flags: &Flags,
        environment: &Environment,
        duties: LeaseRoles,
        out: &mut Out,
    ) -> Result<Self, CliError> {
        let settings = match resolve(flags, environment)? {
            SetupState::Ready(settings) => *settings,
            SetupState::Missing(missing) => return Err(CliError::unusable(missing.how_to())),
        };
        out.dress(&settings.look, environment, flags);
        // A key command may ask for a password: before signals are taken over, Ctrl-C ends it with all the rest.
        let key = settings.key.read().await?;
        out.protect(&key);
        let client = Client::new(settings.scope.clone(), key, settings.client_options()?)
            .map_err(|failure| CliError::unusable(failure.sentence))?;
        is_there(&settings.data_folder)?;
        let (store, opened) = opened(&settings.data_folder, out)?;
        if opened.read_only {
            let folder = settings.data_folder.display();
            return Err(CliError::unusable(format!(
                "The data folder {folder} can't be written, so nothing could be kept and no request was made: make it \
                 writable, or choose another one with --data-dir."
            )));
        }
        // A folder without room for a log has room for nothing else either, which the store says.
        let log = LogGuard::open(&settings.data_folder).ok();
        crash::install_plain(log.as_ref().map(|log| log.path().to_path_buf()));
        let signals = SignalStream::listen()
            .map_err(|error| CliError::unusable(format!("No signal can be waited for: {error}.")))?;
        let (sender, news) = mpsc::channel(NEWS_WAITING);
        let setup = EngineSetup {
            client,
            store: store.clone(),
            scope: settings.scope.clone(),
            poll: PollOptions { per_minute: settings.per_minute, ..PollOptions::default() },
            duties,
            lock_folder: Some(settings.data_folder),
            on_change: (!settings.own.on_change.is_empty()).then_some(settings.own.on_change),
            news: sender,
        };
        let engine = Engine::start(setup).await?;
        let waiting = VecDeque::new();
        let scope = settings.scope;
        let unrecorded = UnrecordedPrompts::default();
        Ok(Self {
            engine,
            store,
            scope,
            news,
            waiting,
            signals,
            log,
            key_refused: false,
            hasty: false,
            is_ctrl_c: false,
            unrecorded,
        })
    }

    /// Opens it as [`Desk::open`] does, does something with it, and closes it.
    ///
    /// # Errors
    /// Those of opening and of the work.
    pub(super) async fn with(
        flags: &Flags,
        environment: &Environment,
        duties: LeaseRoles,
        out: &mut Out,
        work: impl AsyncFnOnce(&mut Self, &mut Out) -> Result<Code, CliError>,
    ) -> Result<Code, CliError> {
        let mut desk = Self::open(flags, environment, duties, out).await?;
        let done = work(&mut desk, out).await;
        desk.close(out).await;
        done
    }

    /// The next fact, in order; or what came first. `until` is the moment up to which it is waited for.
    pub(super) async fn next(&mut self, until: Option<Instant>) -> WaitEnd {
        loop {
            if let Some(news) = self.waiting.pop_front() {
                return WaitEnd::News(Box::new(news));
            }
            tokio::select! {
                biased;
                signal = self.signals.next() => if self.obey(signal) { return WaitEnd::Interrupted },
                Some(news) = self.news.recv() => self.take(news),
                () = sleep_until(until), if until.is_some() => return WaitEnd::Late,
            }
        }
    }

    /// Carries out `work` of the engine. What it tells meanwhile is kept for [`Desk::next`]: an engine whose news nobody
    /// takes stands still.
    ///
    /// # Errors
    /// A signal came first. What was handed to the store is on disk all the same.
    pub(super) async fn drive<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Interrupted> {
        tokio::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return Ok(done),
                signal = self.signals.next() => if self.obey(signal) { return Err(Interrupted) },
                Some(news) = self.news.recv() => self.take(news),
            }
        }
    }

    /// As [`Desk::drive`], for work on the disk that is never left half done: a signal is told by the next wait.
    pub(super) async fn undisturbed<T>(&mut self, work: impl Future<Output = T>) -> T {
        tokio::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                Some(news) = self.news.recv() => self.take(news),
            }
        }
    }

    /// Whether the last prompt that the service refused was refused for its key (401, 403).
    pub(super) fn is_key_refused(&self) -> bool {
        self.key_refused
    }

    /// Whether the last signal that asked to end was Ctrl-C, and not one that a program sends.
    pub(super) fn is_ctrl_c(&self) -> bool {
        self.is_ctrl_c
    }

    /// Waits for a prompt that is on its way, stops the engine, closes store and log.
    pub(super) async fn close(mut self, out: &mut Out) {
        // Whoever waited for an outcome to be recorded has given up.
        if self.unrecorded.is_empty() {
            self.await_answers(out).await;
        }
        self.await_program().await;
        // Nobody listens any more: the engine must not wait for room.
        self.news.close();
        let _ = tokio::time::timeout(LAST_WORDS, self.engine.stop()).await;
        let _ = tokio::time::timeout(LAST_WORDS, self.store.close()).await;
        drop(self.log);
    }

    /// The answer of a prompt that is on its way would else be unknown for good. A signal ends the wait.
    pub(super) async fn await_answers(&mut self, out: &mut Out) {
        if !self.engine.has_sending() {
            return;
        }
        out.note(if self.unrecorded.is_empty() {
            "A prompt is on its way; waiting for the service's answer. Ctrl-C leaves it unconfirmed."
        } else {
            STILL_RECORDING
        });
        let end = Instant::now() + if self.hasty { LAST_ANSWER_IN_HASTE } else { LAST_ANSWER };
        while self.engine.has_sending() && Instant::now() < end {
            tokio::select! {
                signal = self.signals.next() => if self.obey(signal) { return },
                Some(news) = self.news.recv() => self.take(news),
                () = tokio::time::sleep(LOOK_AGAIN) => {}
            }
        }
    }

    /// The user's program for changes is run to its end; it has its own limit of time. A signal ends the wait.
    async fn await_program(&mut self) {
        while self.engine.is_telling() {
            tokio::select! {
                signal = self.signals.next() => if self.obey(signal) { return },
                Some(news) = self.news.recv() => self.take(news),
                () = tokio::time::sleep(LOOK_AGAIN) => {}
            }
        }
    }

    /// Takes a fact in: requests and changes go into the log file, as those of the dashboard do.
    fn take(&mut self, news: EngineEvent) {
        if let EngineEvent::Logged(entry) = &news {
            if let Some(log) = &self.log {
                log.record(entry);
            }
            if let LogKind::Request { operation: Operation::Create | Operation::FollowUp, status, .. } = entry.what {
                self.key_refused = matches!(status, Some(401 | 403));
            }
        }
        self.unrecorded.apply(&news);
        self.waiting.push_back(news);
    }

    /// Whether a signal asks to end. One that asks to stop for a while is obeyed here: others on this computer poll and
    /// send meanwhile.
    fn obey(&mut self, signal: Signal) -> bool {
        match signal {
            Signal::Interrupt | Signal::Quit | Signal::Terminate | Signal::Hangup => {
                self.hasty = true;
                self.is_ctrl_c = signal == Signal::Interrupt;
                true
            }
            Signal::Stop => {
                self.engine.release_leases();
                stop_group();
                self.engine.resume();
                false
            }
            Signal::Continue => false,
        }
    }
}

async fn sleep_until(moment: Option<Instant>) {
    match moment {
        Some(moment) => tokio::time::sleep_until(moment).await,
        None => std::future::pending().await,
    }
}
