//! The sessions in which commands run: [`StoreSession`] has only the store, [`Session`] has a store and an engine.
//! [`CommandContext`] opens them from the settings. Closing a session waits for prompts that are being sent, then stops
//! engine, store and log.

use super::data_folder::{check_service_and_folder, open_and_print_repairs, open_store, store_exists};
use super::error::CliError;
use super::exit_code::Code;
use super::out::Out;
use super::team::{TeamUrlReader, resolve_team_access};
use crate::api::Client;
use crate::config::environment::Environment;
use crate::config::{GlobalOptions, SetupState, data_folder, resolve};
use crate::engine::{Engine, EngineSetup, LeaseRoles, PollOptions, sleep_until};
use crate::model::endpoint::Scope;
use crate::model::engine_event::EngineEvent;
use crate::model::log::{LogKind, Operation};
use crate::model::unrecorded::UnrecordedOutcomes;
use crate::runtime::crash;
use crate::runtime::logfile::LogFile;
use crate::store::Store;
use crate::terminal::signals::{Signal, SignalStream, stop_process_group};
use std::collections::VecDeque;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;

/// How often a live line on stderr is redrawn.
const LIVE_LINE_INTERVAL: Duration = Duration::from_secs(1);
/// The capacity of the channel for engine events. The engine blocks when the channel is full.
const EVENT_CAPACITY: usize = 256;
/// How long to wait for the response to a prompt that is being sent when the command ends.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(15);
/// Like [`RESPONSE_TIMEOUT`], but after Ctrl-C or another signal.
const RESPONSE_TIMEOUT_AFTER_SIGNAL: Duration = Duration::from_secs(5);
/// Printed after the first Ctrl-C while docdeck still tries to record the outcome of a prompt.
pub(super) const STILL_RECORDING: &str = "Still trying to record the outcome. Press Ctrl-C again to stop.";
/// How often to check whether sends and `on_change` programs have finished, at the end of a command.
const SHUTDOWN_CHECK_INTERVAL: Duration = Duration::from_millis(20);
/// The maximum time to wait for the engine to stop, and then again for the store to close. After that, the command ends
/// anyway, and the next start recovers abandoned sends.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(2);

/// What a command runs with: the global options, the environment and the output.
#[derive(Debug)]
pub(super) struct CommandContext<'a> {
    pub(super) global_options: &'a GlobalOptions,
    pub(super) environment: &'a Environment,
    pub(super) out: &'a mut Out,
    pub(super) team_url: TeamUrlReader,
}

impl CommandContext<'_> {
    /// Opens the store. Needs a project but no API key. If there is no store yet, opens an empty one in memory, or
    /// creates it on disk if `for_writing` is true.
    ///
    /// # Errors
    /// Fails if the configuration is wrong, or the store can't be used.
    pub(super) fn open_store(&mut self, for_writing: bool) -> Result<StoreSession, CliError> {
        let (scope, display) = match resolve(self.global_options, self.environment)? {
            SetupState::Ready(settings) => (settings.scope, settings.display),
            SetupState::Missing(missing) => match missing.scope.clone() {
                Some(scope) => (scope, missing.display),
                None => return Err(CliError::local_error(missing.project_instructions())),
            },
        };
        self.out.configure(&display, self.environment, self.global_options);
        let folder = data_folder(self.global_options, self.environment)?;
        check_service_and_folder(&scope, &folder)?;
        let store = if for_writing || Store::exists(&folder) {
            open_store(&folder, for_writing, self.out)?
        } else {
            Store::in_memory().map_err(CliError::local_error)?
        };
        Ok(StoreSession { store, scope })
    }

    /// Opens the store with [`Self::open_store`], runs `work`, and closes the store.
    ///
    /// # Errors
    /// Fails if the store can't be opened, or `work` fails.
    pub(super) async fn with_store<T>(
        &mut self,
        work: impl AsyncFnOnce(&StoreSession, &mut Out) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        let session = self.open_store(false)?;
        let done = work(&session, self.out).await;
        session.close().await;
        done
    }

    /// Opens a session, runs `work`, and closes the session. The engine acquires the leases of `roles` that no other
    /// instance has.
    ///
    /// # Errors
    /// Fails if the session can't be opened, or `work` fails.
    pub(super) async fn with_session(
        &mut self,
        roles: LeaseRoles,
        work: impl AsyncFnOnce(&mut Session, &mut Out) -> Result<Code, CliError>,
    ) -> Result<Code, CliError> {
        let mut session = self.open_session(roles).await?;
        let done = work(&mut session, self.out).await;
        session.close(self.out).await;
        done
    }

    /// Reads the settings and the API key, opens the store and the log, and starts the engine.
    ///
    /// # Errors
    /// Fails if the configuration or the key is wrong, or if the store isn't writable.
    async fn open_session(&mut self, roles: LeaseRoles) -> Result<Session, CliError> {
        let settings = match resolve(self.global_options, self.environment)? {
            SetupState::Ready(settings) => *settings,
            SetupState::Missing(missing) => return Err(CliError::local_error(missing.setup_instructions())),
        };
        self.out.configure(&settings.display, self.environment, self.global_options);
        // Read the key before the signal handlers are installed. A key command may ask for a password, and Ctrl-C must
        // then end both the key command and docdeck.
        let key = settings.key.read().await?;
        self.out.hide_key(&key);
        let client = Client::new(settings.scope.clone(), key, settings.client_options()?)
            .map_err(|failure| CliError::local_error(failure.message))?;
        store_exists(&settings.data_folder)?;
        let (store, opened) = open_and_print_repairs(&settings.data_folder, self.out)?;
        if opened.is_read_only {
            let folder = settings.data_folder.display();
            return Err(CliError::local_error(format!(
                "The data folder {folder} can't be written, so no request was sent: make it writable, or choose \
                 another one with --data-dir."
            )));
        }
        // Without a log the command still works. If the disk is full, the store reports it.
        let log = LogFile::open(&settings.data_folder).ok();
        crash::install_panic_hook(log.as_ref().map(|log| log.path().to_path_buf()));
        let signals =
            SignalStream::listen().map_err(|error| CliError::local_error(format!("Can't handle signals: {error}.")))?;
        let team = match resolve_team_access(&settings.team, &store, &mut self.team_url).await {
            Ok(team) => team,
            Err(error) => {
                self.out.note(&format!(
                    "{} Until this is fixed, docdeck counts only this computer's requests toward the hourly limits.",
                    error.sentence
                ));
                None
            }
        };
        let (sender, events) = mpsc::channel(EVENT_CAPACITY);
        let setup = EngineSetup {
            client,
            store: store.clone(),
            scope: settings.scope.clone(),
            poll: PollOptions { per_minute: settings.polls_per_minute, ..PollOptions::default() },
            analytics: settings.analytics,
            roles,
            lock_folder: Some(settings.data_folder),
            on_change: (!settings.customization.on_change.is_empty()).then_some(settings.customization.on_change),
            hosts: None,
            team,
            events: sender,
        };
        let engine = Engine::start(setup).await?;
        Ok(Session {
            engine,
            store,
            scope: settings.scope,
            events,
            buffered_events: VecDeque::new(),
            signals,
            log,
            was_key_refused: false,
            is_end_requested: false,
            was_last_signal_ctrl_c: false,
            is_closing: false,
            unrecorded: UnrecordedOutcomes::default(),
        })
    }
}

/// The store, and the service and project whose jobs a command reads. Has no connection to the service.
#[derive(Debug)]
pub(super) struct StoreSession {
    pub(super) store: Store,
    pub(super) scope: Scope,
}

impl StoreSession {
    pub(super) async fn close(self) {
        self.store.close().await;
    }
}

/// A store with an engine, its events, and the signals of this process.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) engine: Engine,
    pub(super) store: Store,
    pub(super) scope: Scope,
    events: mpsc::Receiver<EngineEvent>,
    /// Events that were received but not yet returned by [`Session::next_event`].
    buffered_events: VecDeque<EngineEvent>,
    signals: SignalStream,
    log: Option<LogFile>,
    /// Whether the service refused the API key for the last prompt.
    was_key_refused: bool,
    /// Whether a signal asked the command to end.
    is_end_requested: bool,
    /// Whether the last signal that asked the command to end was Ctrl-C.
    was_last_signal_ctrl_c: bool,
    /// Whether [`Session::close`] was called.
    is_closing: bool,
    /// The prompts whose outcome is known but not recorded yet.
    pub(super) unrecorded: UnrecordedOutcomes,
}

/// What ended a wait for an event.
#[derive(Debug)]
pub(super) enum WaitEnd {
    Event(Box<EngineEvent>),
    /// Ctrl-C, or another signal that asks to end.
    Interrupted,
    /// The caller's end time has come. [`Session::next_event_or_tick`] also returns this when the live line has to be
    /// redrawn.
    TimedOut,
}

/// The error of a call that Ctrl-C or another signal ended.
#[derive(Debug)]
pub(super) struct Interrupted;

impl Session {
    /// Waits for an event until `end`, like [`Self::next_event`]. Also returns [`WaitEnd::TimedOut`] when the live
    /// line, which shows the progress, has to be redrawn. So the caller must check whether `end` has come.
    pub(super) async fn next_event_or_tick(&mut self, end: Option<Instant>) -> WaitEnd {
        let tick = Instant::now() + LIVE_LINE_INTERVAL;
        self.next_event(Some(end.map_or(tick, |end| end.min(tick)))).await
    }

    /// Waits for the next event. Returns earlier if a signal asks to end or the time `until` has come.
    pub(super) async fn next_event(&mut self, until: Option<Instant>) -> WaitEnd {
        loop {
            if let Some(event) = self.buffered_events.pop_front() {
                return WaitEnd::Event(Box::new(event));
            }
            tokio::select! {
                biased;
                signal = self.signals.next() => if self.handle_signal(signal) { return WaitEnd::Interrupted },
                Some(event) = self.events.recv() => self.buffer_event(event),
                () = sleep_until(until), if until.is_some() => return WaitEnd::TimedOut,
            }
        }
    }

    /// Runs `work`, a call to the engine. Meanwhile buffers the engine's events for [`Session::next_event`], because
    /// the engine blocks if nobody receives them.
    ///
    /// # Errors
    /// Fails if a signal asked to end before `work` was done. The store still saves what `work` has already sent to it.
    pub(super) async fn run_interruptible<T>(&mut self, work: impl Future<Output = T>) -> Result<T, Interrupted> {
        tokio::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return Ok(done),
                signal = self.signals.next() => if self.handle_signal(signal) { return Err(Interrupted) },
                Some(event) = self.events.recv() => self.buffer_event(event),
            }
        }
    }

    /// Runs `work` like [`Session::run_interruptible`], but doesn't end it after a signal. The next wait reports the
    /// signal.
    pub(super) async fn run_uninterrupted<T>(&mut self, work: impl Future<Output = T>) -> T {
        tokio::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                Some(event) = self.events.recv() => self.buffer_event(event),
            }
        }
    }

    /// Whether the service refused the last prompt because of the API key (401, 403).
    pub(super) fn was_key_refused(&self) -> bool {
        self.was_key_refused
    }

    /// Whether the last signal that asked to end was Ctrl-C rather than a signal from another program.
    pub(super) fn was_last_signal_ctrl_c(&self) -> bool {
        self.was_last_signal_ctrl_c
    }

    /// Waits for a prompt that is being sent and for running `on_change` programs, then stops the engine and closes
    /// store and log.
    pub(super) async fn close(mut self, out: &mut Out) {
        self.is_closing = true;
        // Prompts that other instances queued are left to them. Otherwise the engine could stop while one is being sent.
        self.engine.stop_dispatching();
        // If an outcome is still unrecorded, the command has given up recording it, so there is nothing to wait for.
        if self.unrecorded.is_empty() {
            self.await_responses(out).await;
        }
        self.await_on_change_programs().await;
        // Events are no longer received, so the channel is closed to keep the engine from blocking on a full one.
        self.events.close();
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, self.engine.stop()).await;
        let _ = tokio::time::timeout(CLOSE_TIMEOUT, self.store.close()).await;
        drop(self.log);
    }

    /// Waits for the response to a prompt that is being sent, because the prompt would be unconfirmed without it. A
    /// signal or a timeout ends the wait.
    pub(super) async fn await_responses(&mut self, out: &mut Out) {
        if !self.engine.is_sending() {
            return;
        }
        out.note(if self.unrecorded.is_empty() {
            "A prompt is being sent; waiting for the answer. Ctrl-C leaves it unconfirmed."
        } else {
            STILL_RECORDING
        });
        let end = Instant::now() + if self.is_end_requested { RESPONSE_TIMEOUT_AFTER_SIGNAL } else { RESPONSE_TIMEOUT };
        while self.engine.is_sending() && Instant::now() < end {
            tokio::select! {
                signal = self.signals.next() => if self.handle_signal(signal) { return },
                Some(event) = self.events.recv() => self.buffer_event(event),
                () = tokio::time::sleep(SHUTDOWN_CHECK_INTERVAL) => {}
            }
        }
    }

    /// Waits for running `on_change` programs, which have their own timeout. A signal ends the wait.
    async fn await_on_change_programs(&mut self) {
        while self.engine.has_running_hooks() {
            tokio::select! {
                signal = self.signals.next() => if self.handle_signal(signal) { return },
                Some(event) = self.events.recv() => self.buffer_event(event),
                () = tokio::time::sleep(SHUTDOWN_CHECK_INTERVAL) => {}
            }
        }
    }

    /// Buffers an event for [`Session::next_event`]. Writes requests and changes to the log file, as the dashboard
    /// does.
    fn buffer_event(&mut self, event: EngineEvent) {
        if let EngineEvent::Logged(entry) = &event {
            if let Some(log) = &self.log {
                log.record(entry);
            }
            if let LogKind::Request { operation: Operation::Create | Operation::FollowUp, status, .. } = entry.kind {
                self.was_key_refused = matches!(status, Some(401 | 403));
            }
        }
        self.unrecorded.apply(&event);
        self.buffered_events.push_back(event);
    }

    /// Handles a signal. Returns whether it asks the command to end. A stop signal suspends the process; meanwhile
    /// another docdeck on this computer may poll and send.
    fn handle_signal(&mut self, signal: Signal) -> bool {
        match signal {
            Signal::Interrupt | Signal::Quit | Signal::Terminate | Signal::Hangup => {
                self.is_end_requested = true;
                self.was_last_signal_ctrl_c = signal == Signal::Interrupt;
                true
            }
            Signal::Stop => {
                self.engine.release_leases();
                stop_process_group();
                if !self.is_closing {
                    self.engine.resume();
                }
                false
            }
            Signal::Continue => false,
        }
    }
}
