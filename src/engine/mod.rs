//! What dashboard and commands both do, once: submitting, polling, tracking, loading views, spending from the ledgers.
//!
//! Facts are written by the store before they are told as [`News`]. Three tasks share one `inner::Inner`: the
//! dispatcher sends prompts, the poller looks at jobs, the watcher takes leases and notices what other instances did.

mod cached;
pub mod check;
mod clock;
mod connection_sharing;
mod dispatch;
mod fetch;
mod hook;
mod instances;
mod lease;
mod ledger;
mod load_all;
mod poll;
mod reports;
mod schedule;
mod state;
mod submit;
mod views;
mod watch;

use crate::api::Client;
use crate::model::Time;
use crate::model::change::{Discarded, QueueChange};
use crate::model::endpoint::Scope;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::Failure;
use crate::model::job::JobId;
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::prompt::{Prompt, PromptId, Resolution};
use crate::model::report::{LoadOutcome, LoadPlan, Recalled};
use crate::model::row::{Job, JobKey};
use crate::model::text::CleanText;
use crate::model::views::{Counts, ViewsPage, ViewsQuery};
use crate::store::{Hold, Store};
pub use cached::KeptViews;
pub use instances::RunningInstances;
pub use lease::LeaseRoles;
use poll::PollerCommand;
use state::EngineState;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// Requests for polling, and how many at once (design.md: polling).
#[derive(Debug, Clone)]
pub struct PollOptions {
    /// GETs in any rolling minute.
    pub per_minute: u32,
    /// GETs at the same time.
    pub in_flight: usize,
}

impl Default for PollOptions {
    fn default() -> Self {
        Self { per_minute: 60, in_flight: 8 }
    }
}

/// What an engine is made of.
#[derive(Debug)]
pub struct EngineSetup {
    pub client: Client,
    pub store: Store,
    pub scope: Scope,
    pub poll: PollOptions,
    /// What it does for all instances on the computer; prompts handed over to it it sends in any case.
    pub duties: LeaseRoles,
    /// Where leases and instance locks lie; none for the demo (one instance, in memory).
    pub lock_folder: Option<PathBuf>,
    /// A program and its arguments, run for each change of a job with the job as JSON on its stdin (design.md).
    pub on_change: Option<Vec<String>>,
    /// Facts go out here; a full channel slows the engine, never loses.
    pub news: mpsc::Sender<EngineEvent>,
}

/// The engine of one scope. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Engine {
    inner: Arc<EngineState>,
    tasks: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Engine {
    /// Spawns poller and dispatcher on the current runtime; they end with [`Engine::stop`]. Budgets, and prompts that a
    /// dead instance left half sent, are told as news right after.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn start(setup: EngineSetup) -> Result<Self, Failure> {
        let poll = setup.poll.clone();
        let (inner, orders, beginning) = EngineState::begin(setup).await?;
        let inner = Arc::new(inner);
        inner.take_leases();
        let mut tasks = vec![
            tokio::spawn(dispatch::run(Arc::clone(&inner), beginning.trouble)),
            tokio::spawn(poll::run(Arc::clone(&inner), orders, poll)),
        ];
        if let Some(hook) = beginning.hook {
            tasks.push(tokio::spawn(hook.run(Arc::clone(&inner))));
        }
        if let Some(version) = beginning.data_version {
            tasks.push(tokio::spawn(watch::run(Arc::clone(&inner), version)));
        }
        Ok(Self { inner, tasks: Arc::new(Mutex::new(tasks)) })
    }

    /// Ends the tasks at once and gives leases and the instance lock back. A prompt that is on its way becomes
    /// unconfirmed; ask [`Engine::has_sending`] first to wait for it.
    pub async fn stop(&self) {
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for task in &tasks {
            task.abort();
        }
        for task in tasks {
            // Cancelled is what was asked for.
            let _ = task.await;
        }
        self.inner.abort_loading();
        self.inner.leases.release();
        self.inner.give_up_sending().await;
        self.inner.instance.end();
    }

    /// Whether a prompt is on its way to the service right now.
    pub fn has_sending(&self) -> bool {
        self.inner.is_sending()
    }

    /// Whether the outcome of a prompt is known, but could not be recorded so far; it is tried again and again.
    pub fn has_unrecorded(&self) -> bool {
        self.inner.has_unrecorded()
    }

    /// Whether the user's program for changes still has some to be told: it is ended with the engine.
    pub fn is_telling(&self) -> bool {
        self.inner.has_running_hooks()
    }

    /// Whether this instance is the one that sends what is queued.
    pub fn dispatches(&self) -> bool {
        self.inner.leases.holds(lease::LeaseRole::Dispatch)
    }

    /// Before a suspend: others on this computer poll and dispatch from now on, until [`Engine::resume`].
    pub fn release_leases(&self) {
        self.inner.leases.release();
        self.inner.order(PollerCommand::Lease);
    }

    /// After a suspend: takes what leases are free.
    pub fn resume(&self) {
        self.inner.leases.allow();
        self.inner.take_leases();
        self.inner.watch_wake.notify_one();
    }

    /// A new job: on disk when this returns, then sent in the background; news tells how it goes.
    ///
    /// # Errors
    /// Nothing was written (blank text, the store can't write): the text stays with the caller.
    pub async fn submit_new_job(&self, text: &str) -> Result<(PromptId, Job), Failure> {
        self.inner.submit_new_job(text).await
    }

    /// As [`Engine::submit_new_job`], for a job about these pages, which the record keeps with it.
    ///
    /// # Errors
    /// Nothing was written: text and pages stay with the caller.
    pub async fn submit_job_about(&self, text: &str, pages: &[CleanText]) -> Result<(PromptId, Job), Failure> {
        self.inner.submit_job_about(text, pages).await
    }

    /// A follow-up, sent after those before it; else as [`Engine::submit_new_job`].
    ///
    /// # Errors
    /// Nothing was written: the text stays with the caller.
    pub async fn submit_follow_up(&self, job: JobKey, text: &str) -> Result<(PromptId, Job), Failure> {
        self.inner.submit_follow_up(job, text).await
    }

    /// As [`Engine::submit_follow_up`], and discards the job's prompts that were rejected or not sent, which would block it.
    /// Returns the discarded ones as they were.
    ///
    /// # Errors
    /// Nothing was written: the text stays with the caller.
    pub async fn supersede_follow_ups(&self, job: JobKey, text: &str) -> Result<(PromptId, Job, Vec<Prompt>), Failure> {
        self.inner.supersede_follow_ups(job, text).await
    }

    /// Queues many new jobs on disk, in this order. The instance that holds the dispatch lease paces them to the ledger,
    /// now or after a restart; news tells how they go.
    ///
    /// # Errors
    /// Nothing was written: no prompt, a blank one among them, or the store can't write.
    pub async fn submit_batch(&self, prompts: &[String]) -> Result<Vec<Job>, Failure> {
        self.inner.submit_batch(prompts).await
    }

    /// Changes the queued prompts of these jobs (see [`Store::change_queue`]); the dispatcher goes on at once with what
    /// was released. Gives every row that changed.
    ///
    /// # Errors
    /// Nothing was written.
    pub async fn change_queue(&self, jobs: &[JobKey], change: QueueChange) -> Result<Vec<Job>, Failure> {
        self.inner.change_queue(jobs, change).await
    }

    /// Discards all that is queued of these jobs; none of it is sent. What is being sent already stays as it is.
    ///
    /// # Errors
    /// Nothing was written.
    pub async fn remove_from_queue(&self, jobs: &[JobKey]) -> Result<Discarded, Failure> {
        self.inner.remove_from_queue(jobs).await
    }

    /// Discards a prompt that was not delivered. The prompts behind it may go out then.
    ///
    /// # Errors
    /// Nothing was written, or the prompt is being sent, or was accepted.
    pub async fn discard(&self, prompt: PromptId) -> Result<Discarded, Failure> {
        self.inner.discard(prompt).await
    }

    /// Restores discarded prompts to the state that each had, all or none; one that was queued is queued again.
    ///
    /// # Errors
    /// Nothing was written: one of them was accepted after all, or a later prompt of its job was sent.
    pub async fn restore(&self, prompts: &[PromptId]) -> Result<Vec<Job>, Failure> {
        self.inner.restore(prompts).await
    }

    /// Pauses one prompt, so that nobody sends it until the user releases it. None when it is not queued any more; what
    /// became of it is told as news.
    ///
    /// # Errors
    /// The store can't write: the prompt goes out when its turn comes.
    pub async fn pause(&self, prompt: PromptId) -> Result<Option<Job>, Failure> {
        self.inner.pause(prompt).await
    }

    /// Whether nobody sends this prompt until the user releases it: it is paused, and not by a command that is running.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn is_held(&self, prompt: PromptId) -> Result<bool, Failure> {
        Ok(match self.inner.store.hold(prompt).await.map_err(|error| error.failure())? {
            Hold::None => false,
            Hold::User => true,
            Hold::Instance(name) => self.inner.instance.is_dead(&name),
        })
    }

    /// Carries out what the user decided about a prompt that docdeck will not send by itself. Linking costs one GET.
    ///
    /// # Errors
    /// Nothing changed: the store can't write, the prompt is not in a state for it, or the job to link can't be fetched.
    pub async fn resolve(&self, prompt: PromptId, resolution: Resolution) -> Result<Job, Failure> {
        self.inner.resolve(prompt, resolution).await
    }

    /// One GET now, and the poller (stopped by a 401, or offline) tries again. A job that the service no longer knows
    /// gives its row, marked as gone.
    ///
    /// # Errors
    /// The request failed, the answer could not be written down, or the job has no id yet.
    pub async fn refresh(&self, job: JobKey) -> Result<Job, Failure> {
        self.inner.refresh(job).await
    }

    /// Asks the service for a job made elsewhere and follows it.
    ///
    /// # Errors
    /// The request failed, the service knows no such job, or the store can't write.
    pub async fn track(&self, id: &JobId) -> Result<Job, Failure> {
        self.inner.track(id).await
    }

    /// From the cache when it is fresh (no request), else one request within the ledger; `force` asks in any case. The
    /// same query asked twice at once is one request.
    ///
    /// # Errors
    /// No answer to show. An older one may be cached: [`Engine::cached_views`].
    pub async fn load_views(&self, query: ViewsQuery, force: bool) -> Result<Timed<ViewsPage>, Failure> {
        self.inner.load_views(query, force).await.map(|loaded| self.in_local_time(loaded))
    }

    /// What the cache has, however old; costs nothing.
    pub async fn cached_views(&self, query: ViewsQuery) -> Option<Timed<ViewsPage>> {
        self.inner.cached_views(query).await.map(|cached| self.in_local_time(cached))
    }

    /// What is known of a range; costs nothing.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn recall(&self, range: DateRange) -> Result<Recalled, Failure> {
        self.inner.recall(range).await
    }

    /// Loads all pages of a range, one request for each answer that is not there already, within the ledger; progress is
    /// told as [`News::Loading`] after each. What was taken in stays on disk, so that the next load goes on from there,
    /// whatever ended this one. A whole report that is still fresh costs nothing, unless `afresh` asks for it. The same
    /// range asked for twice at once is one load, by the order of who came first.
    pub async fn load_all(&self, order: LoadPlan) -> LoadOutcome {
        self.inner.load_all(order).await
    }

    /// Stops loading all pages of this range once the answer under way is taken in.
    pub fn stop_loading(&self, range: DateRange) {
        self.inner.stop_loading(range);
    }

    /// Which of these ranges' totals are known, from whatever answer came about them; costs nothing.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn recall_totals(&self, ranges: &[DateRange]) -> Result<Vec<(DateRange, Timed<Counts>)>, Failure> {
        self.inner.recall_totals(ranges).await
    }

    /// Asks for the site's totals of each of these ranges, one small request each, in this order; each is told as
    /// [`News::Totals`]. One that is known and still fresh costs nothing.
    ///
    /// # Errors
    /// The first request that failed; those after it are not made.
    pub async fn load_totals(&self, ranges: &[DateRange]) -> Result<(), Failure> {
        self.inner.load_totals(ranges).await
    }

    fn in_local_time(&self, page: Timed<ViewsPage>) -> Timed<ViewsPage> {
        Timed { as_of: self.inner.clock.local_of(page.as_of), ..page }
    }

    /// A moment of the service's time, as the record has it for a prompt that waits, as local wall time. News and the
    /// answers of this engine are in local time already.
    pub fn local_of(&self, service: Time) -> Time {
        self.inner.clock.local_of(service)
    }

    /// Which jobs are on screen (a quarter of the polling budget is theirs).
    pub fn set_on_screen(&self, jobs: Vec<JobKey>) {
        self.inner.order(PollerCommand::OnScreen(jobs));
    }

    /// The service's time: local wall clock corrected by its Date header, and never moved by a jump of the local clock.
    pub fn service_now(&self) -> Time {
        self.inner.clock.now()
    }

    /// Sends the three budgets as news.
    pub async fn report_budgets(&self) {
        self.inner.report_budgets().await;
    }
}
