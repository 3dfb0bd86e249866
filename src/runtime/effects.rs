//! Carries out what the state machine asks for, each effect as a task that ends in a message, also when it failed.
//! Effects that change the record go one after the other, so that an older text never lands on a newer one. What
//! needs the terminal (copying, opening, suspending, quitting) is the event loop's.

use super::about::About;
use super::new_file;
use super::signals::Signals;
use super::texts;
use crate::api::Client;
use crate::app::{Effect, Known, Msg};
use crate::engine::{Engine, PollOptions, Setup};
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::failure::{Failure, FailureKind};
use crate::model::news::News;
use crate::model::prompt::{Delivery, DraftSlot, Thread};
use crate::model::report::{Kept, LoadEnd, LoadEnded};
use crate::model::views::ViewsQuery;
use crate::store::{Store, StoreError};
use chrono::Utc;
use std::path::PathBuf;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::task::JoinSet;

/// Log lines that are read at the start.
const LOG_LINES: u32 = 500;
/// How long what is being written is waited for at the end: nothing typed is lost.
const LAST_WRITES: Duration = Duration::from_secs(2);
/// How long an answer is waited for at the end, and how often it is looked for.
const LAST_ANSWER: Duration = Duration::from_secs(15);
const LOOK_AGAIN: Duration = Duration::from_millis(50);
/// How long the engine is waited for at the end; what it leaves is found at the next start.
const LAST_WORDS: Duration = Duration::from_millis(80);

/// What the engine is made of, once the first frame is drawn.
#[derive(Debug)]
pub struct Connection {
    pub client: Client,
    pub poll: PollOptions,
    /// Where leases lie; none for the demo.
    pub lock_folder: Option<PathBuf>,
    /// A program and its arguments, run for each change of a job; empty for none.
    pub on_change: Vec<String>,
}

type Started = Option<Result<Engine, Failure>>;

/// What every task needs.
#[derive(Debug, Clone)]
struct Hands {
    store: Store,
    scope: Scope,
    /// Templates of the user's own.
    templates: Option<PathBuf>,
    /// Where exports are written; none for the current folder.
    exports: Option<PathBuf>,
    engine: watch::Receiver<Started>,
}

/// The tasks under way.
#[derive(Debug)]
pub struct Effects {
    hands: Hands,
    started: watch::Sender<Started>,
    tasks: JoinSet<Option<Msg>>,
    /// Resolves when the last ordered task has ended.
    last_ordered: Option<oneshot::Receiver<()>>,
}

impl Effects {
    /// Nothing under way; effects that need the engine wait for [`Self::start_engine`].
    pub fn new(store: Store, scope: Scope, templates: Option<PathBuf>) -> Self {
        let (started, engine) = watch::channel(None);
        Self {
            hands: Hands { store, scope, templates, exports: None, engine },
            started,
            tasks: JoinSet::new(),
            last_ordered: None,
        }
    }

    /// Exports are written into this folder instead of the current one.
    pub fn export_into(&mut self, folder: PathBuf) {
        self.hands.exports = Some(folder);
    }

    /// Starts the engine in the background; `news` is where it tells of what happens.
    pub fn start_engine(&mut self, connection: Connection, news: mpsc::Sender<News>) {
        let setup = Setup {
            client: connection.client,
            store: self.hands.store.clone(),
            scope: self.hands.scope.clone(),
            poll: connection.poll,
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
            failure.map(|failure| Msg::News(News::Trouble(failure)))
        });
    }

    /// Carries an effect out. Those of the event loop end in nothing here.
    pub fn carry(&mut self, effect: Effect) {
        let hands = self.hands.clone();
        if !writes(&effect) {
            self.tasks.spawn(hands.carry(effect));
            return;
        }
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

    /// Waits for an answer to a prompt that is on its way, which would else be left unconfirmed; a signal ends the wait.
    /// The terminal has to be given back before. `news` is taken in meanwhile, so that the engine can go on.
    pub async fn await_answers(&self, news: &mut mpsc::Receiver<News>) {
        let Some(engine) = self.engine().filter(Engine::has_sending) else { return };
        eprintln!("A prompt is on its way; waiting for the service's answer. Ctrl-C leaves it unconfirmed.");
        let Ok(mut signals) = Signals::listen() else { return };
        let patience = tokio::time::sleep(LAST_ANSWER);
        tokio::pin!(patience);
        while engine.has_sending() {
            tokio::select! {
                _ = news.recv() => {}
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
            | E::SubmitBatch(_)
            | E::Change(..)
            | E::ChangeQueue(..)
            | E::WriteFile { .. }
    )
}

fn now() -> Time {
    Utc::now()
}

fn failure(error: &StoreError) -> Failure {
    error.failure()
}

fn draft_saved(slot: DraftSlot, at: Time, result: Result<(), StoreError>) -> Msg {
    Msg::DraftSaved { slot, result: result.map(|()| at).map_err(|error| failure(&error)) }
}

impl Hands {
    async fn carry(self, effect: Effect) -> Option<Msg> {
        Some(match effect {
            Effect::LoadKnown => Msg::Loaded(self.known().await.map(Box::new)),
            Effect::LoadThread(job) => {
                let result = self.store.thread(job).await.map(|thread| self.in_local_time(thread));
                Msg::Thread { job, result: result.map_err(|error| failure(&error)) }
            }
            Effect::SubmitNewJob(text) => {
                let result = match self.engine().await {
                    Ok(engine) => engine.submit_new_job(&text).await,
                    Err(failure) => Err(failure),
                };
                Msg::Submitted { slot: DraftSlot::NewJob, result }
            }
            Effect::SubmitJobAbout(text, pages) => {
                let result = match self.engine().await {
                    Ok(engine) => engine.submit_job_about(&text, &pages).await,
                    Err(failure) => Err(failure),
                };
                Msg::Submitted { slot: DraftSlot::AboutPages, result }
            }
            Effect::SubmitFollowUp(job, text) => {
                let result = match self.engine().await {
                    Ok(engine) => engine.submit_follow_up(job, &text).await,
                    Err(failure) => Err(failure),
                };
                Msg::Submitted { slot: DraftSlot::FollowUp(job), result }
            }
            Effect::Resolve(prompt, resolution) => {
                let result = match self.engine().await {
                    Ok(engine) => engine.resolve(prompt, resolution).await,
                    Err(failure) => Err(failure),
                };
                Msg::Resolved { prompt, result }
            }
            Effect::Refresh(job) => {
                let result = match self.engine().await {
                    Ok(engine) => engine.refresh(job).await,
                    Err(failure) => Err(failure),
                };
                Msg::Refreshed { job, result }
            }
            Effect::Track(job) => {
                let result = match self.engine().await {
                    Ok(engine) => engine.track(&job).await,
                    Err(failure) => Err(failure),
                };
                Msg::Tracked { id: job.clean(), result }
            }
            Effect::Change(jobs, change) => {
                Msg::Changed(self.store.change_jobs(&jobs, change, now()).await.map_err(|error| failure(&error)))
            }
            Effect::ChangeQueue(jobs, change) => {
                let result = match self.engine().await {
                    Ok(engine) => engine.change_queue(&jobs, change).await,
                    Err(failure) => Err(failure),
                };
                Msg::Changed(result)
            }
            Effect::FindPrompts(text) => {
                let jobs = self.store.find_prompts(&self.scope, &text).await.map_err(|error| failure(&error));
                Msg::PromptsFound { text, jobs }
            }
            Effect::LoadHistory => {
                Msg::History(self.store.sent_prompts(&self.scope).await.map_err(|error| failure(&error)))
            }
            Effect::SubmitBatch(prompts) => {
                let result = match self.engine().await {
                    Ok(engine) => engine.submit_batch(&prompts).await,
                    Err(failure) => Err(failure),
                };
                Msg::BatchAdded(result)
            }
            Effect::LoadTemplates => {
                let folder = self.templates.clone();
                Msg::Templates(tokio::task::spawn_blocking(move || texts::templates(folder.as_deref())).await.ok()?)
            }
            Effect::ReadPrompts(file) => {
                let name = file.clone();
                let result = tokio::task::spawn_blocking(move || texts::prompts(&name)).await.ok()?;
                Msg::PromptsRead { file, result }
            }
            Effect::WriteFile { name, text, overwrite } => {
                new_file::written(self.exports.clone(), name, text, overwrite).await
            }
            Effect::UseTheme(_) | Effect::EditOutside(_) | Effect::RunCommand(_) | Effect::Notify(_) => return None,
            Effect::SaveDraft(slot, text) => {
                let at = now();
                draft_saved(slot, at, self.store.save_draft(&self.scope, slot, &text, at).await)
            }
            Effect::SaveDraftAbout(text, pages) => {
                let at = now();
                let result = self.store.save_draft_about(&self.scope, &text, &pages, at).await;
                draft_saved(DraftSlot::AboutPages, at, result)
            }
            Effect::ReadDraft(slot) => {
                // An unreadable record is said elsewhere; the text known here stays.
                let drafts = self.store.drafts(&self.scope).await.unwrap_or_default();
                let found = drafts.into_iter().find(|draft| draft.slot == slot);
                let (text, pages) = found.map(|draft| (draft.text, draft.pages)).unzip();
                Msg::DraftRead { slot, text, pages: pages.unwrap_or_default() }
            }
            Effect::DeleteDraft(slot) => draft_saved(slot, now(), self.store.delete_draft(&self.scope, slot).await),
            Effect::LoadViews { query, force } => self.load_views(query, force).await,
            Effect::Recall(range) => {
                let result = match self.engine().await {
                    Ok(engine) => engine.recall(range).await,
                    Err(failure) => Err(failure),
                };
                Msg::Recalled { range, recalled: result }
            }
            Effect::LoadAll(order) => {
                let end = match self.engine().await {
                    Ok(engine) => engine.load_all(order).await,
                    Err(failure) => LoadEnd { report: None, ended: LoadEnded::Failed(failure), requests: 0 },
                };
                Msg::LoadEnded { range: order.range, end }
            }
            Effect::StopLoading(range) => {
                self.engine().await.ok()?.stop_loading(range);
                return None;
            }
            Effect::RecallTotals(ranges) => {
                let result = match self.engine().await {
                    Ok(engine) => engine.recall_totals(&ranges).await,
                    Err(failure) => Err(failure),
                };
                Msg::TotalsRecalled(result)
            }
            Effect::LoadTotals(ranges) => {
                let result = match self.engine().await {
                    Ok(engine) => engine.load_totals(&ranges).await,
                    Err(failure) => Err(failure),
                };
                Msg::TotalsLoaded(result)
            }
            Effect::RecallPage(path) => {
                let result = self.about().history(&path).await.map_err(|error| failure(&error));
                Msg::PageHistory { path, result }
            }
            Effect::RecallAbout(job) => {
                let result = self.about().pages_of(job).await.map_err(|error| failure(&error));
                Msg::About { job, result }
            }
            Effect::ListKept => {
                let kept = self.store.kept_views(&self.scope).await.map(|kept| self.kept_in_local_time(kept));
                Msg::Kept(kept.map_err(|error| failure(&error)))
            }
            Effect::OnScreen(jobs) => {
                self.engine().await.ok()?.set_on_screen(jobs);
                return None;
            }
            Effect::ReportBudgets => {
                self.engine().await.ok()?.report_budgets().await;
                return None;
            }
            Effect::OpenUrl(_) | Effect::Copy { .. } | Effect::Repaint | Effect::Suspend | Effect::Quit => return None,
        })
    }

    /// The engine, once it has started or failed to.
    async fn engine(&self) -> Result<Engine, Failure> {
        let mut engine = self.engine.clone();
        let ended = || Failure::new(FailureKind::Local, "docdeck is about to end; nothing was sent.");
        let started = engine.wait_for(Option::is_some).await.map_err(|_| ended())?;
        started.clone().unwrap_or_else(|| Err(ended()))
    }

    fn about(&self) -> About<'_> {
        let engine = self.engine.borrow().clone().and_then(Result::ok);
        About { store: &self.store, scope: &self.scope, engine }
    }

    /// When a waiting prompt goes out is kept in the service's time; before the engine runs, the clocks count as one.
    fn in_local_time(&self, mut thread: Thread) -> Thread {
        let Some(Ok(engine)) = self.engine.borrow().clone() else { return thread };
        for prompt in &mut thread.prompts {
            if let Delivery::Queued { until: Some(until) } = &mut prompt.delivery {
                *until = engine.local_of(*until);
            }
        }
        thread
    }

    /// As with threads.
    fn kept_in_local_time(&self, mut kept: Kept) -> Kept {
        let Some(Ok(engine)) = self.engine.borrow().clone() else { return kept };
        for known in &mut kept.ranges {
            known.as_of = engine.local_of(known.as_of);
        }
        kept
    }

    async fn known(&self) -> Result<Known, Failure> {
        let read = async {
            let jobs = self.store.jobs(&self.scope).await?;
            let drafts = self.store.drafts(&self.scope).await?;
            let log = self.store.recent_events(&self.scope, LOG_LINES).await?;
            let about = drafts.iter().find(|draft| draft.slot == DraftSlot::AboutPages);
            let draft_pages = about.map(|draft| draft.pages.clone()).unwrap_or_default();
            let drafts = drafts.into_iter().map(|draft| (draft.slot, draft.text)).collect();
            Ok(Known { jobs, drafts, draft_pages, log })
        };
        read.await.map_err(|error: StoreError| failure(&error))
    }

    async fn load_views(&self, query: ViewsQuery, force: bool) -> Msg {
        let engine = match self.engine().await {
            Ok(engine) => engine,
            Err(failure) => return Msg::Views { query, result: Err(failure), old: None },
        };
        let result = engine.load_views(query, force).await;
        let old = if result.is_err() { engine.cached_views(query).await } else { None };
        Msg::Views { query, result, old }
    }
}
