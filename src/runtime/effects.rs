//! Carries out what the state machine asks for, each effect as a task that ends in a message, also when it failed.
//! Effects that change the record go one after the other, so that an older text never lands on a newer one. What
//! needs the terminal (copying, opening, suspending, quitting) is the event loop's.

use super::draining_session::DrainingSession;
use super::effect_runner::{EffectRunner, Started, failure};
use super::first_run::FirstRun;
use super::preload::PendingRead;
use super::signals::SignalStream;
use crate::api::Client;
use crate::app::{Effect, Msg};
use crate::engine::{Engine, EngineSetup, LeaseRoles, PollOptions};
use crate::model::endpoint::Scope;
use crate::model::engine_event::EngineEvent;
use crate::model::prompt::Resolution;
use crate::model::row::FirstRows;
use crate::model::text::CleanText;
use crate::model::unrecorded::UnrecordedPrompts;
use crate::store::{Health, Store, StoreError, check};
use std::io::Write as _;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

/// How long what is being written is waited for at the end: nothing typed is lost.
pub(super) const LAST_WRITES: Duration = Duration::from_secs(2);
/// How long an answer is waited for at the end, and how often it is looked for.
pub(super) const LAST_ANSWER: Duration = Duration::from_secs(15);
pub(super) const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// Facts of the engine that wait before it has to.
pub(super) const NEWS_WAITING: usize = 256;
/// How long the engine is waited for at the end; what it leaves is found at the next start.
const LAST_WORDS: Duration = Duration::from_millis(80);

/// When the database is checked: the first frame, the first keys and the first requests have the disk for themselves.
const CHECK_AFTER: Duration = Duration::from_secs(2);

/// What the engine is made of, once the first frame is drawn.
#[derive(Debug)]
pub struct EngineConfig {
    pub client: Client,
    pub poll: PollOptions,
    /// Where leases lie; none for the demo.
    pub lock_folder: Option<PathBuf>,
    /// A program and its arguments, run for each change of a job; empty for none.
    pub on_change: Vec<String>,
}

/// The tasks under way.
#[derive(Debug)]
pub struct Effects {
    hands: EffectRunner,
    started: watch::Sender<Started>,
    tasks: JoinSet<Option<Msg>>,
    /// Resolves when the last ordered task has ended.
    last_ordered: Option<oneshot::Receiver<()>>,
    /// Profiles that were turned away from.
    retired: JoinSet<()>,
    first_rows: FirstRead,
    /// Reads of what may be shown later; the state machine asks for one at a time.
    can_wait: Option<Effect>,
}

/// The first rows of the list, which are being read already.
#[derive(Default)]
struct FirstRead(Option<PendingRead<FirstRows>>);

impl std::fmt::Debug for FirstRead {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.0.is_some() { "FirstRead" } else { "FirstRead (taken)" })
    }
}

impl Effects {
    /// Nothing under way; effects that need the engine wait for [`Self::start_engine`].
    pub fn new(store: Store, scope: Scope, templates: Option<PathBuf>) -> Self {
        let (started, engine) = watch::channel(None);
        Self {
            hands: EffectRunner { store, scope, templates, exports: None, first_run: FirstRun::default(), engine },
            started,
            tasks: JoinSet::new(),
            last_ordered: None,
            retired: JoinSet::new(),
            first_rows: FirstRead::default(),
            can_wait: None,
        }
    }

    /// The first rows of the list are being read: the next effect that asks for them gets these.
    pub(super) fn read_first(&mut self, rows: PendingRead<FirstRows>) {
        self.first_rows = FirstRead(Some(rows));
    }

    /// Exports are written into this folder instead of the current one.
    pub fn export_into(&mut self, folder: PathBuf) {
        self.hands.exports = Some(folder);
    }

    /// What the welcome page needs.
    pub fn set_up(&mut self, first_run: FirstRun) {
        self.hands.first_run = first_run;
    }

    /// What the setup form needs.
    pub fn first_run(&self) -> &FirstRun {
        &self.hands.first_run
    }

    /// Starts the engine in the background; `news` is where it tells of what happens.
    pub fn start_engine(&mut self, connection: EngineConfig, news: mpsc::Sender<EngineEvent>) {
        let setup = EngineSetup {
            client: connection.client,
            store: self.hands.store.clone(),
            scope: self.hands.scope.clone(),
            poll: connection.poll,
            duties: LeaseRoles::All,
            lock_folder: connection.lock_folder,
            on_change: (!connection.on_change.is_empty()).then_some(connection.on_change),
            news,
        };
        let started = self.started.clone();
        self.tasks.spawn(async move {
            let result = Engine::start(setup).await;
            let failure = result.as_ref().err().cloned();
            started.send_replace(Some(result.clone()));
            if let Ok(engine) = result {
                engine.report_budgets().await;
            }
            failure.map(|failure| Msg::News(EngineEvent::Trouble(failure)))
        });
    }

    /// Goes on with another service or project, on the same record. The work for the one before is ended in the background:
    /// what is being written and a prompt on its way are waited for. `news` is the new engine's from now on.
    pub fn switch(&mut self, connection: EngineConfig, news: &mut mpsc::Receiver<EngineEvent>) {
        let scope = connection.client.scope().clone();
        let is_same = (&scope.base_url, &scope.project) == (&self.hands.scope.base_url, &self.hands.scope.project);
        let (sender, receiver) = mpsc::channel(NEWS_WAITING);
        let (started, engine) = watch::channel(None);
        if let Some(engine) = self.engine() {
            // The new one may need them.
            engine.release_leases();
        }
        let retired = DrainingSession {
            engine: self.hands.engine.clone(),
            tasks: std::mem::take(&mut self.tasks),
            last_ordered: self.last_ordered.take(),
            news: std::mem::replace(news, receiver),
            successor: sender.clone(),
            is_same_project: is_same,
        };
        self.can_wait = None;
        self.hands = EffectRunner { scope, engine, ..self.hands.clone() };
        // The tasks that wait for the engine before have a sender of their own.
        self.started = started;
        self.retired.spawn(retired.end());
        self.start_engine(connection, sender);
    }

    /// Carries an effect out. Those of the event loop end in nothing here; what can wait does.
    pub fn carry(&mut self, effect: Effect) {
        if let Effect::ReadAhead(_) = effect {
            self.can_wait = Some(effect);
            return;
        }
        if let Effect::LoadFirstRows(_) = effect
            && let Some(rows) = self.first_rows.0.take()
        {
            self.tasks.spawn(async move { Some(Msg::FirstRows(rows.await.map_err(failure))) });
            return;
        }
        if !writes(&effect) {
            self.start(effect);
            return;
        }
        let hands = self.hands.clone();
        let (ended, last) = oneshot::channel::<()>();
        let before = self.last_ordered.replace(last);
        self.tasks.spawn(async move {
            if let Some(before) = before {
                // An error says that the task before has ended, which is all that is asked.
                let _ = before.await;
            }
            let msg = hands.carry(effect).await;
            drop(ended);
            msg
        });
    }

    /// Carries out what waits until nothing is left to draw: a key's frame has the machine for itself.
    pub fn carry_what_can_wait(&mut self) {
        if let Some(effect) = self.can_wait.take() {
            self.start(effect);
        }
    }

    fn start(&mut self, effect: Effect) {
        self.tasks.spawn(self.hands.clone().carry(effect));
    }

    /// Has the store try whether it can be written, which may wait until something is on the screen.
    pub(super) fn try_writing(&mut self) {
        let store = self.hands.store.clone();
        self.tasks.spawn(async move {
            match store.try_writing().await {
                Ok(is_writable) => (!is_writable).then_some(Msg::ReadOnly),
                Err(error) => Some(Msg::News(EngineEvent::Trouble(failure(error)))),
            }
        });
    }

    /// Checks the database in `folder` once the start is over, on a connection of its own, and repairs its indexes.
    pub(super) fn check_database(&mut self, folder: PathBuf) {
        let store = self.hands.store.clone();
        self.tasks.spawn(async move {
            tokio::time::sleep(CHECK_AFTER).await;
            let health = tokio::task::spawn_blocking(move || check(&folder)).await.ok()?;
            let sentence = match health {
                Ok(Health::Indexes(names)) if store.rebuild_indexes(names.clone()).await.is_ok() => {
                    tracing::warn!("note: rebuilt damaged indexes: {names:?}");
                    "An index of the database was damaged and has been rebuilt.".to_owned()
                }
                Ok(Health::Indexes(_) | Health::Damaged) => {
                    tracing::warn!("note: the database is damaged");
                    StoreError::Damaged.failure().sentence.to_string()
                }
                // Locked by another docdeck, or unreadable, which every other call reports as well.
                Ok(Health::Sound) | Err(_) => return None,
            };
            Some(Msg::News(EngineEvent::Notice(CleanText::line(&sentence))))
        });
    }

    /// Runs a task of the event loop's making.
    pub fn spawn(&mut self, task: impl Future<Output = Msg> + Send + 'static) {
        self.tasks.spawn(async move { Some(task.await) });
    }

    /// The message of the next task that ends with one; waits for ever when none is under way.
    pub async fn next(&mut self) -> Msg {
        loop {
            match self.tasks.join_next().await {
                Some(Ok(Some(msg))) => return msg,
                Some(_) => {}
                None => return std::future::pending().await,
            }
        }
    }

    /// A message that is there already.
    pub fn waiting(&mut self) -> Option<Msg> {
        while let Some(ended) = self.tasks.try_join_next() {
            if let Ok(Some(msg)) = ended {
                return Some(msg);
            }
        }
        None
    }

    /// The engine, when it runs.
    pub fn engine(&self) -> Option<Engine> {
        self.started.borrow().as_ref().and_then(|started| started.as_ref().ok()).cloned()
    }

    /// Waits for an answer to a prompt that is on its way, which would else be left unconfirmed, and for the record of one
    /// that has come; a signal ends the wait. The terminal has to be given back before. `news` is taken in meanwhile, so that
    /// the engine can go on.
    pub(super) async fn await_answers(
        &mut self,
        news: &mut mpsc::Receiver<EngineEvent>,
        unrecorded: &mut UnrecordedPrompts,
    ) {
        while self.retired.try_join_next().is_some() {}
        let engine = self.engine();
        let is_sending = || engine.as_ref().is_some_and(Engine::has_sending);
        if !is_sending() && self.retired.is_empty() {
            return;
        }
        note(if unrecorded.is_empty() {
            "A prompt is on its way; waiting for the service's answer. Ctrl-C leaves it unconfirmed."
        } else {
            "Still trying to record it. Press Ctrl-C to stop."
        });
        let Ok(mut signals) = SignalStream::listen() else { return };
        let patience = tokio::time::sleep(LAST_ANSWER);
        tokio::pin!(patience);
        while is_sending() || !self.retired.is_empty() {
            tokio::select! {
                Some(told) = news.recv() => if let Some(sentence) = unrecorded.apply(&told) {
                    note(sentence.as_str());
                },
                Some(_) = self.retired.join_next() => {}
                () = tokio::time::sleep(LOOK_AGAIN) => {}
                _ = signals.next() => return,
                () = &mut patience => return,
            }
        }
    }

    /// Waits for what is being written, stops the engine, drops all else.
    pub async fn end(mut self) {
        if let Some(last) = self.last_ordered.take() {
            let _ = tokio::time::timeout(LAST_WRITES, last).await;
        }
        if let Some(engine) = self.engine() {
            let _ = tokio::time::timeout(LAST_WORDS, engine.stop()).await;
        }
        self.tasks.abort_all();
        let _ = tokio::time::timeout(LAST_WRITES, self.hands.store.close()).await;
    }
}

/// A line for whoever reads stderr, if anybody does.
pub(super) fn note(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Whether an effect changes the record: such go in order, and are waited for at the end.
fn writes(effect: &Effect) -> bool {
    use Effect as E;
    matches!(
        effect,
        E::SaveDraft(..)
            | E::SaveDraftAbout(..)
            | E::DeleteDraft(_)
            // Reads what the ones before it wrote.
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
            | E::RememberTips(_)
            | E::RememberLayout { .. }
    )
}
