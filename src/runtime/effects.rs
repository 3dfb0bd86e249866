//! Runs the effects of the state machine, each as a task that reports its result or failure in a message. Effects that
//! write data run one after the other, so that older text never overwrites newer text. The event loop itself runs the
//! effects that need the terminal (copying, opening, suspending, quitting).

use super::draining_session::{DrainingSession, PENDING_WRITES_TIMEOUT, RESPONSE_CHECK_INTERVAL, RESPONSE_TIMEOUT};
use super::effect_runner::{EffectRunner, EngineStartup, store_failure};
use super::profile_effects::ProfileEffectRunner;
use crate::api::Client;
use crate::engine::{Engine, EngineSetup, HostClients, LeaseRoles, PollOptions, TeamAccess};
use crate::model::analytics::AnalyticsSettings;
use crate::model::endpoint::Scope;
use crate::model::engine_event::EngineEvent;
use crate::model::job::FirstJobs;
use crate::model::log::{LogEntry, LogKind};
use crate::model::prompt::PromptResolution;
use crate::model::text::CleanText;
use crate::model::unrecorded::UnrecordedOutcomes;
use crate::store::{Store, StoreError, StoreHealth, check_store};
use crate::terminal::signals::SignalStream;
use crate::tui::{Effect, JobsEffect, JobsMsg, Msg, ProfilesEffect, PromptsEffect};
use chrono::Utc;
use std::io::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

/// Maximum number of engine events that are buffered before the engine has to wait.
pub(super) const EVENT_CAPACITY: usize = 256;
/// How long the engine may take to stop when docdeck ends. The next start recovers whatever is unfinished.
const ENGINE_STOP_TIMEOUT_AT_EXIT: Duration = Duration::from_millis(80);
/// How long to wait before the next attempt to start the engine, after the store could not be read.
const ENGINE_START_RETRY_DELAY: Duration = Duration::from_secs(2);

/// How long after the start the database is checked, and how long after a check that found it locked. An earlier check
/// would slow down the first frame and the first requests, which also read from the disk.
const DATABASE_CHECK_DELAY: Duration = Duration::from_secs(2);

/// The configuration of the engine, which starts after the first frame.
#[derive(Debug)]
pub struct EngineConfig {
    pub client: Client,
    pub poll: PollOptions,
    pub analytics: AnalyticsSettings,
    /// The folder of the lease files; `None` for the demo.
    pub lock_folder: Option<PathBuf>,
    /// A program, with its arguments, that runs each time a job changes; empty for none.
    pub on_change: Vec<String>,
    /// Finds the clients for code hosts; `None` if the state of pull requests is not requested.
    pub hosts: Option<Arc<dyn HostClients>>,
    /// The team's database; `None` if no team is configured.
    pub team: Option<TeamAccess>,
}

/// Runs effects as tasks, and receives the messages that they return.
#[derive(Debug)]
pub struct EffectTasks {
    runner: EffectRunner,
    /// Passes the started engine to the tasks that wait for it.
    engine_startup: watch::Sender<EngineStartup>,
    /// Whether the terminal has the focus.
    is_focused: watch::Sender<bool>,
    tasks: JoinSet<Option<Msg>>,
    /// Resolves when the last task that has to run in order (see [`must_run_in_order`]) has ended.
    ordered_tasks_done: Option<oneshot::Receiver<()>>,
    /// The sessions of previous profiles, which end in the background.
    draining_sessions: JoinSet<()>,
    /// The first rows of the jobs list if they were read before the dashboard started; `None` after their use.
    first_jobs: Option<FirstJobs>,
    /// The latest prefetch, which waits until nothing is left to draw. The state machine requests one prefetch at a
    /// time.
    deferred_prefetch: Option<Effect>,
}

impl EffectTasks {
    /// Starts no task yet. Effects that need the engine wait for [`Self::start_engine`].
    pub fn new(store: Store, scope: Scope, templates_folder: Option<PathBuf>) -> Self {
        let (started, engine) = watch::channel(None);
        Self {
            runner: EffectRunner {
                store,
                scope,
                templates_folder,
                export_folder: None,
                profile_effects: ProfileEffectRunner::default(),
                engine,
            },
            engine_startup: started,
            is_focused: watch::Sender::new(true),
            tasks: JoinSet::new(),
            ordered_tasks_done: None,
            draining_sessions: JoinSet::new(),
            first_jobs: None,
            deferred_prefetch: None,
        }
    }

    /// Sets the first rows for the next [`JobsEffect::LoadFirstRows`]; with `None`, they are read.
    pub(super) fn set_first_jobs(&mut self, rows: Option<FirstJobs>) {
        self.first_jobs = rows;
    }

    /// Sets the folder for exports. Without this call, exports are written to the current folder.
    pub fn set_export_folder(&mut self, folder: PathBuf) {
        self.runner.export_folder = Some(folder);
    }

    /// Sets the runner for the effects of profiles and of the setup form.
    pub fn set_profile_effects(&mut self, profile_effects: ProfileEffectRunner) {
        self.runner.profile_effects = profile_effects;
    }

    /// Returns the runner for the effects of profiles and of the setup form.
    pub fn profile_effects(&self) -> &ProfileEffectRunner {
        &self.runner.profile_effects
    }

    /// Starts the engine in the background. If the store can't be read, for example because another process keeps it
    /// locked, reports this once and tries again until it succeeds. The engine's events are sent to `event_sender`.
    pub fn start_engine(&mut self, config: EngineConfig, event_sender: mpsc::Sender<EngineEvent>) {
        let setup = EngineSetup {
            client: config.client,
            store: self.runner.store.clone(),
            scope: self.runner.scope.clone(),
            poll: config.poll,
            analytics: config.analytics,
            roles: LeaseRoles::All,
            lock_folder: config.lock_folder,
            on_change: (!config.on_change.is_empty()).then_some(config.on_change),
            hosts: config.hosts,
            team: config.team,
            events: event_sender,
        };
        let asks_hosts = setup.hosts.is_some();
        let (started, focus) = (self.engine_startup.clone(), self.is_focused.subscribe());
        self.tasks.spawn(async move {
            let mut is_reported = false;
            let engine = loop {
                let failure = match Engine::start(setup.clone()).await {
                    Ok(engine) => break engine,
                    Err(failure) => failure,
                };
                // Effects that need the engine fail until it runs. If they waited instead, the effects that write data
                // would wait behind them, and could be lost at the end of the program.
                started.send_replace(Some(Err(failure.clone())));
                if !std::mem::replace(&mut is_reported, true) {
                    // Sending fails only while the dashboard ends.
                    let _ = setup.events.send(EngineEvent::InternalFailure(failure)).await;
                }
                tokio::time::sleep(ENGINE_START_RETRY_DELAY).await;
            };
            started.send_replace(Some(Ok(engine.clone())));
            // The focus may have changed before the engine could be informed.
            engine.set_focused(*focus.borrow());
            engine.emit_budgets().await;
            if !asks_hosts {
                engine.forget_open_pull_requests().await;
            }
            None
        });
    }

    /// Switches to another service or project with the same store. The previous session ends in the background, after
    /// its pending writes and the prompt that it is sending. From now on, `engine_events` receives the events of the
    /// new engine.
    pub fn switch_project(&mut self, config: EngineConfig, engine_events: &mut mpsc::Receiver<EngineEvent>) {
        let scope = config.client.scope().clone();
        let old = &self.runner.scope;
        let is_project_unchanged = (&scope.base_url, &scope.project) == (&old.base_url, &old.project);
        let (sender, receiver) = mpsc::channel(EVENT_CAPACITY);
        let (started, engine) = watch::channel(None);
        if let Some(engine) = self.engine() {
            // Releases the leases of the previous engine, because the new engine may need them.
            engine.release_leases();
        }
        let draining = DrainingSession {
            engine: self.runner.engine.clone(),
            tasks: std::mem::take(&mut self.tasks),
            ordered_tasks_done: self.ordered_tasks_done.take(),
            events: std::mem::replace(engine_events, receiver),
            forward_to: sender.clone(),
            is_project_unchanged,
        };
        self.deferred_prefetch = None;
        self.runner = EffectRunner { scope, engine, ..self.runner.clone() };
        // Tasks that still wait for the previous engine are not affected: they have the receiver of the old channel.
        self.engine_startup = started;
        self.draining_sessions.spawn(draining.end());
        self.start_engine(config, sender);
    }

    /// Runs an effect as a task, after the earlier ones if it must run in order. Defers a prefetch until
    /// [`Self::run_deferred_prefetch`]. Effects that the event loop has to run are ignored.
    pub fn run(&mut self, effect: Effect) {
        if let Effect::Jobs(JobsEffect::PrefetchThreads(_)) = effect {
            self.deferred_prefetch = Some(effect);
            return;
        }
        if let Effect::Jobs(JobsEffect::ReportFocus(is_focused)) = effect {
            self.is_focused.send_replace(is_focused);
            self.engine().inspect(|engine| engine.set_focused(is_focused));
            return;
        }
        if let Effect::Jobs(JobsEffect::LoadFirstRows(_)) = effect
            && let Some(rows) = self.first_jobs.take()
        {
            self.spawn(async { Msg::Jobs(JobsMsg::FirstRowsLoaded(Ok(rows))) });
            return;
        }
        if !must_run_in_order(&effect) {
            self.start(effect);
            return;
        }
        let runner = self.runner.clone();
        let (ended, last) = oneshot::channel::<()>();
        let before = self.ordered_tasks_done.replace(last);
        self.tasks.spawn(async move {
            if let Some(before) = before {
                // Nothing is ever sent: the wait ends with an error as soon as the previous task drops its sender.
                let _ = before.await;
            }
            let msg = runner.run(effect).await;
            drop(ended);
            msg
        });
    }

    /// Runs the deferred prefetch, if any. The event loop calls this when nothing is left to draw, so that the prefetch
    /// doesn't delay the frame after a key press.
    pub fn run_deferred_prefetch(&mut self) {
        if let Some(effect) = self.deferred_prefetch.take() {
            self.start(effect);
        }
    }

    fn start(&mut self, effect: Effect) {
        self.tasks.spawn(self.runner.clone().run(effect));
    }

    /// Checks in the background whether the store can be written, and reports a store that can't be written.
    pub(super) fn check_writable(&mut self) {
        let store = self.runner.store.clone();
        self.tasks.spawn(async move {
            match store.check_writable().await {
                Ok(is_writable) => (!is_writable).then_some(Msg::StoreReadOnly),
                Err(error) => Some(Msg::Engine(EngineEvent::InternalFailure(store_failure(error)))),
            }
        });
    }

    /// Checks the database in `folder` some time after the start, on a separate connection, and rebuilds damaged
    /// indexes. Sends a notice if something is damaged, and a log entry to `events`.
    pub(super) fn check_database(&mut self, folder: PathBuf, events: mpsc::Sender<EngineEvent>) {
        let store = self.runner.store.clone();
        self.tasks.spawn(async move {
            let health = loop {
                tokio::time::sleep(DATABASE_CHECK_DELAY).await;
                let folder = folder.clone();
                match tokio::task::spawn_blocking(move || check_store(&folder)).await.ok()? {
                    // Something is being written, so the check begins again later.
                    Err(StoreError::Busy) => {}
                    health => break health,
                }
            };
            let (note, sentence) = match health {
                Ok(StoreHealth::WrongIndexes(names)) if store.rebuild_indexes(names.clone()).await.is_ok() => (
                    format!("rebuilt damaged indexes of the database: {names:?}"),
                    "An index of the database was damaged and has been rebuilt.".to_owned(),
                ),
                Ok(StoreHealth::WrongIndexes(_) | StoreHealth::Damaged) => {
                    ("the database is damaged".to_owned(), StoreError::Damaged.failure().message.to_string())
                }
                // An error means that the database is unreadable. Other calls report that.
                Ok(StoreHealth::Sound) | Err(_) => return None,
            };
            let (at, subject) = (Utc::now(), CleanText::line("database"));
            let kind = LogKind::Note(CleanText::line(&note));
            // Sending fails only while the dashboard ends.
            let _ = events.send(EngineEvent::Logged(LogEntry { at, subject, kind })).await;
            Some(Msg::Engine(EngineEvent::Notice(CleanText::line(&sentence))))
        });
    }

    /// Runs a task for the event loop.
    pub fn spawn(&mut self, task: impl Future<Output = Msg> + Send + 'static) {
        self.tasks.spawn(async move { Some(task.await) });
    }

    /// Waits for the next message of a task, or forever if no task is running.
    pub async fn next(&mut self) -> Msg {
        loop {
            match self.tasks.join_next().await {
                Some(Ok(Some(msg))) => return msg,
                Some(_) => {}
                None => return std::future::pending().await,
            }
        }
    }

    /// Returns a message that is already available, if any.
    pub fn try_next(&mut self) -> Option<Msg> {
        while let Some(ended) = self.tasks.try_join_next() {
            if let Ok(Some(msg)) = ended {
                return Some(msg);
            }
        }
        None
    }

    /// Returns the engine, or `None` if it has not started.
    pub fn engine(&self) -> Option<Engine> {
        self.engine_startup.borrow().as_ref().and_then(|started| started.as_ref().ok()).cloned()
    }

    /// Waits until the service has responded to a prompt that is being sent, and until its outcome is recorded. Without
    /// this wait, the prompt would become `Unconfirmed`. Also waits for the sessions of previous profiles. A signal or
    /// a timeout ends the wait. The terminal must already be restored. Receives events from `engine_events` in the
    /// meantime, because the engine would block otherwise.
    pub(super) async fn await_responses(
        &mut self,
        engine_events: &mut mpsc::Receiver<EngineEvent>,
        unrecorded: &mut UnrecordedOutcomes,
    ) {
        while self.draining_sessions.try_join_next().is_some() {}
        let engine = self.engine();
        if let Some(engine) = &engine {
            // The rest of the queue is sent after the next start.
            engine.stop_dispatching();
        }
        let is_sending = || engine.as_ref().is_some_and(Engine::is_sending);
        if !is_sending() && self.draining_sessions.is_empty() {
            return;
        }
        print_to_stderr(if unrecorded.is_empty() {
            "A prompt is being sent; waiting for the answer. Ctrl-C leaves it unconfirmed."
        } else {
            "Still trying to record the outcome. Press Ctrl-C to stop."
        });
        let Ok(mut signals) = SignalStream::listen() else { return };
        let timeout = tokio::time::sleep(RESPONSE_TIMEOUT);
        tokio::pin!(timeout);
        while is_sending() || !self.draining_sessions.is_empty() {
            tokio::select! {
                Some(event) = engine_events.recv() => if let Some(sentence) = unrecorded.apply(&event) {
                    print_to_stderr(sentence.as_str());
                },
                Some(_) = self.draining_sessions.join_next() => {}
                () = tokio::time::sleep(RESPONSE_CHECK_INTERVAL) => {}
                _ = signals.next() => return,
                () = &mut timeout => return,
            }
        }
    }

    /// Waits for pending writes, stops the engine, closes the store, and aborts all other tasks.
    pub async fn end(mut self) {
        if let Some(last) = self.ordered_tasks_done.take() {
            let _ = tokio::time::timeout(PENDING_WRITES_TIMEOUT, last).await;
        }
        if let Some(engine) = self.engine() {
            let _ = tokio::time::timeout(ENGINE_STOP_TIMEOUT_AT_EXIT, engine.stop()).await;
        }
        self.tasks.abort_all();
        let _ = tokio::time::timeout(PENDING_WRITES_TIMEOUT, self.runner.store.close()).await;
    }
}

/// Writes a line to stderr, if possible.
pub(super) fn print_to_stderr(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Whether an effect has to run after all earlier ordered effects have ended. This applies to effects that write data
/// or read data that an ordered effect may have written. When docdeck ends, it waits for all ordered effects.
fn must_run_in_order(effect: &Effect) -> bool {
    match effect {
        Effect::Jobs(effect) => matches!(
            effect,
            JobsEffect::ChangeLocalData(..) | JobsEffect::ChangeQueue(..) | JobsEffect::SaveUnsentReview { .. }
        ),
        Effect::Prompts(effect) => match effect {
            PromptsEffect::Resolve(_, resolution) => matches!(resolution, PromptResolution::SendEdited(_)),
            PromptsEffect::LoadHistory | PromptsEffect::LoadTemplates | PromptsEffect::ReadPrompts(_) => false,
            // An earlier effect may have written the draft that `ReadDraft` reads.
            _ => true,
        },
        Effect::Views(_) => false,
        Effect::Profiles(effect) => matches!(effect, ProfilesEffect::WriteConfig { .. }),
        Effect::WriteFile { .. } | Effect::SaveFilter { .. } | Effect::SaveSeenTips(_) | Effect::SaveLayout { .. } => {
            true
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::ClientOptions;
    use crate::model::endpoint::ApiKey;
    use crate::model::failure::FailureKind;
    use crate::store::DATABASE_FILE;

    #[tokio::test]
    async fn the_engine_starts_once_the_database_is_no_longer_locked() {
        let folder = tempfile::tempdir().expect("a folder");
        let (store, _) = Store::open(folder.path(), Utc::now()).expect("a store");
        let scope = Scope { base_url: "http://127.0.0.1:1".into(), project: "p".into(), organization: None };
        let key = ApiKey::new("mint_secret").expect("a key");
        let client = Client::new(scope.clone(), key, ClientOptions::default()).expect("a client");
        let other = rusqlite::Connection::open(folder.path().join(DATABASE_FILE)).expect("opened");
        other.execute_batch("BEGIN EXCLUSIVE").expect("locked");
        let mut effects = EffectTasks::new(store, scope, None);
        let (sender, mut events) = mpsc::channel(EVENT_CAPACITY);
        let config = EngineConfig {
            client,
            poll: PollOptions::default(),
            analytics: AnalyticsSettings::default(),
            lock_folder: None,
            on_change: Vec::new(),
            hosts: None,
            team: None,
        };
        effects.start_engine(config, sender);
        // An effect that needs the engine fails meanwhile, and the reason is also reported.
        let failure = effects.runner.engine().await.expect_err("a failure");
        assert_eq!(failure.kind, FailureKind::Store);
        assert_eq!(events.recv().await, Some(EngineEvent::InternalFailure(failure)));
        other.execute_batch("ROLLBACK").expect("freed");
        let engine = effects.runner.running_engine().await.expect("an engine");
        assert!(effects.runner.engine().await.is_ok());
        engine.stop().await;
    }
}
