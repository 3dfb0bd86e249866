//! Runs the effects of the state machine, each as a task that ends with a message, even on failure. Effects that
//! write to the store run one after the other, so that older text never overwrites newer text. Effects that need the
//! terminal (copying, opening, suspending, quitting) are up to the event loop.

use super::draining_session::DrainingSession;
use super::effect_runner::{EffectRunner, StartedEngine, save_failure};
use super::first_run::FirstRun;
use super::preload::PendingRead;
use super::signals::SignalStream;
use crate::api::Client;
use crate::app::{Effect, Msg};
use crate::engine::{Engine, EngineSetup, LeaseRoles, PollOptions};
use crate::model::endpoint::Scope;
use crate::model::engine_event::EngineEvent;
use crate::model::prompt::Resolution;
use crate::model::row::InitialRows;
use crate::model::text::CleanText;
use crate::model::unrecorded::UnrecordedPrompts;
use crate::store::{Health, Store, StoreError, check_store};
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

/// How long pending writes are awaited at the end, so that nothing typed is lost.
pub(super) const WRITE_TIMEOUT: Duration = Duration::from_secs(2);
/// How long an answer is awaited at the end, and how often it is checked for.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(15);
pub(super) const CHECK_INTERVAL: Duration = Duration::from_millis(50);
/// Number of engine events that are buffered before the engine has to wait.
pub(super) const EVENT_CAPACITY: usize = 256;
/// How long the engine may take to stop. The next start recovers whatever is unfinished.
const STOP_TIMEOUT: Duration = Duration::from_millis(80);

/// When the database is checked: later than the first frame, keys and requests, which then don't compete for the
/// disk.
const CHECK_AFTER: Duration = Duration::from_secs(2);

/// What the engine is created from, after the first frame.
#[derive(Debug)]
pub struct EngineConfig {
    pub client: Client,
    pub poll: PollOptions,
    /// Folder for leases; `None` for the demo.
    pub lock_folder: Option<PathBuf>,
    /// A program with its arguments that runs on each change of a job; empty for none.
    pub on_change: Vec<String>,
}

/// The running tasks.
#[derive(Debug)]
pub struct Effects {
    runner: EffectRunner,
    started: watch::Sender<StartedEngine>,
    tasks: JoinSet<Option<Msg>>,
    /// Resolves when the last ordered task has ended.
    last_ordered: Option<oneshot::Receiver<()>>,
    /// Sessions of profiles that the user switched away from.
    draining: JoinSet<()>,
    first_rows: FirstRead,
    /// The latest read of something that may be shown later; the state machine requests one at a time.
    deferred: Option<Effect>,
}

/// The read of the first rows of the list, if it has already begun.
#[derive(Default)]
struct FirstRead(Option<PendingRead<InitialRows>>);

impl std::fmt::Debug for FirstRead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "FirstRead" } else { "FirstRead (taken)" })
    }
}

impl Effects {
    /// No running tasks. Effects that need the engine wait for [`Self::start_engine`].
    pub fn new(store: Store, scope: Scope, templates: Option<PathBuf>) -> Self {
        let (started, engine) = watch::channel(None);
        Self {
            runner: EffectRunner { store, scope, templates, exports: None, first_run: FirstRun::default(), engine },
            started,
            tasks: JoinSet::new(),
            last_ordered: None,
            draining: JoinSet::new(),
            first_rows: FirstRead::default(),
            deferred: None,
        }
    }

    /// Sets the running read of the first rows; the next effect that loads them uses it.
    pub(super) fn set_first_rows(&mut self, rows: PendingRead<InitialRows>) {
        self.first_rows = FirstRead(Some(rows));
    }

    /// Exports are written to this folder instead of the current one.
    pub fn set_export_folder(&mut self, folder: PathBuf) {
        self.runner.exports = Some(folder);
    }

    /// Sets what the setup form needs.
    pub fn set_first_run(&mut self, first_run: FirstRun) {
        self.runner.first_run = first_run;
    }

    /// What the setup form needs.
    pub fn first_run(&self) -> &FirstRun {
        &self.runner.first_run
    }

    /// Starts the engine in the background; its events go to `news`.
    pub fn start_engine(&mut self, connection: EngineConfig, news: mpsc::Sender<EngineEvent>) {
        let setup = EngineSetup {
            client: connection.client,
            store: self.runner.store.clone(),
            scope: self.runner.scope.clone(),
            poll: connection.poll,
            roles: LeaseRoles::All,
            lock_folder: connection.lock_folder,
            on_change: (!connection.on_change.is_empty()).then_some(connection.on_change),
            events: news,
        };
        let started = self.started.clone();
        self.tasks.spawn(async move {
            let result = Engine::start(setup).await;
            let failure = result.as_ref().err().cloned();
            started.send_replace(Some(result.clone()));
            if let Ok(engine) = result {
                engine.report_budgets().await;
            }
            failure.map(|failure| Msg::Engine(EngineEvent::InternalFailure(failure)))
        });
    }

    /// Switches to another service or project with the same store. The session of the previous one ends in the
    /// background, after pending writes and a prompt that is being sent. From now on, `news` receives the events of
    /// the new engine.
    pub fn switch(&mut self, connection: EngineConfig, news: &mut mpsc::Receiver<EngineEvent>) {
        let scope = connection.client.scope().clone();
        let old = &self.runner.scope;
        let is_same_project = (&scope.base_url, &scope.project) == (&old.base_url, &old.project);
        let (sender, receiver) = mpsc::channel(EVENT_CAPACITY);
        let (started, engine) = watch::channel(None);
        if let Some(engine) = self.engine() {
            // The new engine may need them.
            engine.release_leases();
        }
        let draining = DrainingSession {
            engine: self.runner.engine.clone(),
            tasks: std::mem::take(&mut self.tasks),
            last_ordered: self.last_ordered.take(),
            events: std::mem::replace(news, receiver),
            successor: sender.clone(),
            is_same_project,
        };
        self.deferred = None;
        self.runner = EffectRunner { scope, engine, ..self.runner.clone() };
        // The tasks that still wait for the previous engine have their own channel.
        self.started = started;
        self.draining.spawn(draining.end());
        self.start_engine(connection, sender);
    }

    /// Runs an effect. Effects of the event loop have no result here; effects that can wait are deferred.
    pub fn run(&mut self, effect: Effect) {
        if let Effect::PrefetchThreads(_) = effect {
            self.deferred = Some(effect);
            return;
        }
        if let Effect::LoadFirstRows(_) = effect
            && let Some(rows) = self.first_rows.0.take()
        {
            self.tasks.spawn(async move { Some(Msg::FirstRows(rows.await.map_err(save_failure))) });
            return;
        }
        if !is_ordered(&effect) {
            self.start(effect);
            return;
        }
        let runner = self.runner.clone();
        let (ended, last) = oneshot::channel::<()>();
        let before = self.last_ordered.replace(last);
        self.tasks.spawn(async move {
            if let Some(before) = before {
                // An error only means that the previous task has ended, which is enough.
                let _ = before.await;
            }
            let msg = runner.run(effect).await;
            drop(ended);
            msg
        });
    }

    /// Runs the deferred effect once nothing is left to draw, so that it doesn't slow down the frame for a key.
    pub fn run_deferred(&mut self) {
        if let Some(effect) = self.deferred.take() {
            self.start(effect);
        }
    }

    fn start(&mut self, effect: Effect) {
        self.tasks.spawn(self.runner.clone().run(effect));
    }

    /// Checks that the store can be written, which may wait until a frame is visible.
    pub(super) fn check_writable(&mut self) {
        let store = self.runner.store.clone();
        self.tasks.spawn(async move {
            match store.check_writable().await {
                Ok(is_writable) => (!is_writable).then_some(Msg::ReadOnly),
                Err(error) => Some(Msg::Engine(EngineEvent::InternalFailure(save_failure(error)))),
            }
        });
    }

    /// Checks the database in `folder` after the start, on a separate connection, and repairs its indexes.
    pub(super) fn check_database(&mut self, folder: PathBuf) {
        let store = self.runner.store.clone();
        self.tasks.spawn(async move {
            tokio::time::sleep(CHECK_AFTER).await;
            let health = tokio::task::spawn_blocking(move || check_store(&folder)).await.ok()?;
            let sentence = match health {
                Ok(Health::WrongIndexes(names)) if store.rebuild_indexes(names.clone()).await.is_ok() => {
                    tracing::warn!("note: rebuilt damaged indexes: {names:?}");
                    "An index of the database was damaged and has been rebuilt.".to_owned()
                }
                Ok(Health::WrongIndexes(_) | Health::Damaged) => {
                    tracing::warn!("note: the database is damaged");
                    StoreError::Damaged.failure().message.to_string()
                }
                // Locked by another docdeck, or unreadable, which every other call reports too.
                Ok(Health::Sound) | Err(_) => return None,
            };
            Some(Msg::Engine(EngineEvent::Notice(CleanText::line(&sentence))))
        });
    }

    /// Runs a task of the event loop.
    pub fn spawn(&mut self, task: impl Future<Output = Msg> + Send + 'static) {
        self.tasks.spawn(async move { Some(task.await) });
    }

    /// The message of the next task that ends with one; waits forever if none is running.
    pub async fn next(&mut self) -> Msg {
        loop {
            match self.tasks.join_next().await {
                Some(Ok(Some(msg))) => return msg,
                Some(_) => {}
                None => return std::future::pending().await,
            }
        }
    }

    /// A message that is already available.
    pub fn try_next(&mut self) -> Option<Msg> {
        while let Some(ended) = self.tasks.try_join_next() {
            if let Ok(Some(msg)) = ended {
                return Some(msg);
            }
        }
        None
    }

    /// The running engine.
    pub fn engine(&self) -> Option<Engine> {
        self.started.borrow().as_ref().and_then(|started| started.as_ref().ok()).cloned()
    }

    /// Waits for the answer to a prompt that is being sent, which would be unconfirmed otherwise, and until an
    /// outcome is recorded; a signal ends the wait. The terminal must be restored before. Events from `news` are
    /// received in the meantime, so that the engine can continue.
    pub(super) async fn await_answers(
        &mut self,
        news: &mut mpsc::Receiver<EngineEvent>,
        unrecorded: &mut UnrecordedPrompts,
    ) {
        while self.draining.try_join_next().is_some() {}
        let engine = self.engine();
        let is_sending = || engine.as_ref().is_some_and(Engine::has_sending);
        if !is_sending() && self.draining.is_empty() {
            return;
        }
        print_note(if unrecorded.is_empty() {
            "A prompt is being sent; waiting for the answer. Ctrl-C leaves it unconfirmed."
        } else {
            "Still trying to record the outcome. Press Ctrl-C to stop."
        });
        let Ok(mut signals) = SignalStream::listen() else { return };
        let patience = tokio::time::sleep(ANSWER_TIMEOUT);
        tokio::pin!(patience);
        while is_sending() || !self.draining.is_empty() {
            tokio::select! {
                Some(event) = news.recv() => if let Some(sentence) = unrecorded.apply(&event) {
                    print_note(sentence.as_str());
                },
                Some(_) = self.draining.join_next() => {}
                () = tokio::time::sleep(CHECK_INTERVAL) => {}
                _ = signals.next() => return,
                () = &mut patience => return,
            }
        }
    }

    /// Waits for pending writes, stops the engine, and drops everything else.
    pub async fn end(mut self) {
        if let Some(last) = self.last_ordered.take() {
            let _ = tokio::time::timeout(WRITE_TIMEOUT, last).await;
        }
        if let Some(engine) = self.engine() {
            let _ = tokio::time::timeout(STOP_TIMEOUT, engine.stop()).await;
        }
        self.tasks.abort_all();
        let _ = tokio::time::timeout(WRITE_TIMEOUT, self.runner.store.close()).await;
    }
}

/// Writes a line to stderr, if possible.
pub(super) fn print_note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Whether an effect writes to the store: such effects run in order and are awaited at the end.
fn is_ordered(effect: &Effect) -> bool {
    use Effect as E;
    matches!(
        effect,
        E::SaveDraft(..)
            | E::SaveDraftAbout(..)
            | E::DeleteDraft(_)
            // Reads what earlier effects wrote.
            | E::ReadDraft(_)
            | E::SubmitNewJob(_)
            | E::SubmitJobAbout(..)
            | E::SubmitFollowUp(..)
            | E::SubmitBatch { .. }
            | E::Resolve(_, Resolution::SendEdited(_))
            | E::Change(..)
            | E::ChangeQueue(..)
            | E::Discard(..)
            | E::RemoveFromQueue(_)
            | E::RestorePrompts(_)
            | E::WriteFile { .. }
            | E::WriteConfig { .. }
            | E::SaveFilter { .. }
            | E::SaveSeenTips(_)
            | E::SaveLayout { .. }
    )
}
