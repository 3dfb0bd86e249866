//! The engine submits prompts, polls and tracks jobs, loads page views, and keeps requests within the
//! hourly limits. The dashboard and the commands both use it.
//!
//! The store records every fact before the engine emits it as an [`EngineEvent`]. Three tasks share
//! one `state::EngineState`: the dispatcher sends prompts, the poller checks jobs, and the watcher
//! takes leases and notices what other docdeck instances on this computer changed.

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
use crate::model::change::{DiscardedPrompts, QueueChange};
use crate::model::endpoint::Scope;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::Failure;
use crate::model::job::JobId;
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::prompt::{Prompt, PromptId, Resolution};
use crate::model::report::{LoadOutcome, LoadPlan, StoredReport};
use crate::model::row::{Job, JobKey};
use crate::model::text::CleanText;
use crate::model::views::{Counts, ViewsPage, ViewsQuery};
use crate::store::{PausedBy, Store};
pub use cached::StoredViews;
pub use clock::sleep_until;
pub use instances::RunningInstances;
pub use lease::LeaseRoles;
use poll::PollerCommand;
use state::EngineState;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// The limits of polling: how many requests per minute, and how many at once.
#[derive(Debug, Clone)]
pub struct PollOptions {
    /// Most GETs in any rolling minute.
    pub per_minute: u32,
    /// Most GETs in flight at the same time.
    pub in_flight: usize,
}

impl Default for PollOptions {
    fn default() -> Self {
        Self { per_minute: 60, in_flight: 8 }
    }
}

/// Everything that an engine needs to start.
#[derive(Debug)]
pub struct EngineSetup {
    pub client: Client,
    pub store: Store,
    pub scope: Scope,
    pub poll: PollOptions,
    /// The leases that this instance may take. It sends the prompts submitted to it even without a lease.
    pub roles: LeaseRoles,
    /// The folder for the lock files of leases and instances; `None` in the demo, which has only one
    /// instance and no files.
    pub lock_folder: Option<PathBuf>,
    /// A program and its arguments, run for each change of a job with the job as JSON on its stdin.
    pub on_change: Option<Vec<String>>,
    /// Receives all events. A full channel slows the engine down; no event is lost.
    pub events: mpsc::Sender<EngineEvent>,
}

/// The engine for one scope (an API address and a project). Clones share the same tasks.
#[derive(Debug, Clone)]
pub struct Engine {
    inner: Arc<EngineState>,
    tasks: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

impl Engine {
    /// Spawns the engine's tasks on the current runtime; they run until [`Engine::stop`]. Right after the
    /// start, the engine emits the budgets and marks as `Unconfirmed` the prompts that an instance was sending
    /// when it died.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn start(setup: EngineSetup) -> Result<Self, Failure> {
        let poll = setup.poll.clone();
        let (inner, commands, start) = EngineState::new(setup).await?;
        let inner = Arc::new(inner);
        inner.take_leases();
        let mut tasks = vec![
            tokio::spawn(dispatch::run_dispatcher(Arc::clone(&inner), start.trouble)),
            tokio::spawn(poll::run_poller(Arc::clone(&inner), commands, poll)),
        ];
        if let Some(hook) = start.hook {
            tasks.push(tokio::spawn(hook.run(Arc::clone(&inner))));
        }
        if let Some(version) = start.data_version {
            tasks.push(tokio::spawn(watch::run_watcher(Arc::clone(&inner), version)));
        }
        Ok(Self { inner, tasks: Arc::new(Mutex::new(tasks)) })
    }

    /// Aborts the tasks and releases the leases and the instance lock. A prompt that is being sent becomes
    /// `Unconfirmed`; to avoid that, wait until [`Engine::has_sending`] returns false before the call.
    pub async fn stop(&self) {
        let tasks = std::mem::take(&mut *self.tasks.lock().unwrap_or_else(PoisonError::into_inner));
        for task in &tasks {
            task.abort();
        }
        for task in tasks {
            // The task was aborted above, so an error is expected.
            let _ = task.await;
        }
        self.inner.abort_loading();
        self.inner.leases.release();
        self.inner.abandon_own_sends().await;
        self.inner.instance.end();
    }

    /// Whether a prompt is being sent right now.
    pub fn has_sending(&self) -> bool {
        self.inner.is_sending()
    }

    /// Whether the outcome of a prompt is known but not recorded in the store yet. The engine keeps trying to
    /// record it.
    pub fn has_unrecorded(&self) -> bool {
        self.inner.has_unrecorded()
    }

    /// Whether the user's `on_change` program is running or waiting to run. Stopping the engine kills the
    /// program.
    pub fn has_running_hooks(&self) -> bool {
        self.inner.has_running_hooks()
    }

    /// Whether this instance sends the queued prompts, including those that other instances queued.
    pub fn is_dispatcher(&self) -> bool {
        self.inner.leases.holds(lease::LeaseRole::Dispatch)
    }

    /// Releases all leases before a suspend, so that other instances poll and dispatch until
    /// [`Engine::resume`].
    pub fn release_leases(&self) {
        self.inner.leases.release();
        self.inner.send_to_poller(PollerCommand::Lease);
    }

    /// Takes the free leases again after a suspend.
    pub fn resume(&self) {
        self.inner.leases.allow_taking();
        self.inner.take_leases();
        self.inner.watch_wake.notify_one();
    }

    /// Submits a new job. When this returns, the prompt is on disk. It is sent in the background, and
    /// events show the progress.
    ///
    /// # Errors
    /// Nothing was written (the text is blank, or the store can't write), so the caller must keep the text.
    pub async fn submit_new_job(&self, text: &str) -> Result<(PromptId, Job), Failure> {
        self.inner.submit_new_job(text).await
    }

    /// Like [`Engine::submit_new_job`], for a job about these pages, which are stored with it.
    ///
    /// # Errors
    /// Nothing was written, so the caller must keep the text and the pages.
    pub async fn submit_job_about(&self, text: &str, pages: &[CleanText]) -> Result<(PromptId, Job), Failure> {
        self.inner.submit_job_about(text, pages).await
    }

    /// Submits a follow-up like [`Engine::submit_new_job`]. It is sent after the earlier prompts of its job.
    ///
    /// # Errors
    /// Nothing was written, so the caller must keep the text.
    pub async fn submit_follow_up(&self, job: JobKey, text: &str) -> Result<(PromptId, Job), Failure> {
        self.inner.submit_follow_up(job, text).await
    }

    /// Like [`Engine::submit_follow_up`], but first discards the job's `Rejected` and `NotSent` prompts, which
    /// would block the follow-up. Returns the discarded prompts in their previous state.
    ///
    /// # Errors
    /// Nothing was written, so the caller must keep the text.
    pub async fn supersede_follow_ups(&self, job: JobKey, text: &str) -> Result<(PromptId, Job, Vec<Prompt>), Failure> {
        self.inner.supersede_follow_ups(job, text).await
    }

    /// Queues new jobs on disk in the order of `prompts`. The instance with the dispatch lease sends them as
    /// fast as the hourly limit allows, now or after a restart; events show the progress.
    ///
    /// # Errors
    /// Nothing was written: the batch is empty, a prompt is blank, or the store can't write.
    pub async fn submit_batch(&self, prompts: &[String]) -> Result<Vec<Job>, Failure> {
        self.inner.submit_batch(prompts).await
    }

    /// Changes the queued prompts of these jobs (see [`Store::change_queue`]). The dispatcher sends resumed
    /// prompts at once. Returns every job that changed.
    ///
    /// # Errors
    /// Nothing was written.
    pub async fn change_queue(&self, jobs: &[JobKey], change: QueueChange) -> Result<Vec<Job>, Failure> {
        self.inner.change_queue(jobs, change).await
    }

    /// Discards all queued prompts of these jobs. Prompts that are being sent are not affected.
    ///
    /// # Errors
    /// Nothing was written.
    pub async fn remove_from_queue(&self, jobs: &[JobKey]) -> Result<DiscardedPrompts, Failure> {
        self.inner.remove_from_queue(jobs).await
    }

    /// Discards a prompt that was not delivered. Later prompts of the job may then be sent.
    ///
    /// # Errors
    /// Nothing was written: the prompt is being sent or was accepted, or the store can't write.
    pub async fn discard(&self, prompt: PromptId) -> Result<DiscardedPrompts, Failure> {
        self.inner.discard(prompt).await
    }

    /// Restores all these discarded prompts to their states before the discard, or none of them. A prompt
    /// that was queued is queued again.
    ///
    /// # Errors
    /// Nothing was written: the service had accepted one of the prompts after all, or a later prompt of the
    /// same job was sent.
    pub async fn restore(&self, prompts: &[PromptId]) -> Result<Vec<Job>, Failure> {
        self.inner.restore(prompts).await
    }

    /// Pauses a queued prompt until the user resumes it. Returns `None` if the prompt is no longer queued;
    /// an event shows what happened to it.
    ///
    /// # Errors
    /// The store can't write, so the prompt is still queued and will be sent.
    pub async fn pause(&self, prompt: PromptId) -> Result<Option<Job>, Failure> {
        self.inner.pause(prompt).await
    }

    /// Whether this prompt is sent only after the user has resumed it. False for a prompt that a running
    /// command has reserved for itself; true once that command has died.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn is_paused(&self, prompt: PromptId) -> Result<bool, Failure> {
        Ok(match self.inner.store.paused_by(prompt).await.map_err(|error| error.failure())? {
            PausedBy::None => false,
            PausedBy::User => true,
            PausedBy::Instance(name) => self.inner.instance.is_dead(&name),
        })
    }

    /// Applies the user's decision about an undelivered prompt (an `Unconfirmed` prompt, for example). Linking
    /// the prompt to an existing job costs one GET.
    ///
    /// # Errors
    /// Nothing changed: the store can't write, the prompt's state does not allow this decision, or the job
    /// to link can't be fetched.
    pub async fn resolve(&self, prompt: PromptId, resolution: Resolution) -> Result<Job, Failure> {
        self.inner.resolve(prompt, resolution).await
    }

    /// Fetches the job now, and makes the poller try again if it had stopped because of a refused key or a lost
    /// connection. Returns the job, marked as gone if the service no longer has it.
    ///
    /// # Errors
    /// The request failed, the answer could not be stored, or the job has no id yet.
    pub async fn refresh(&self, job: JobKey) -> Result<Job, Failure> {
        self.inner.refresh(job).await
    }

    /// Fetches a job that was not created on this computer, and tracks it.
    ///
    /// # Errors
    /// The request failed, the service has no such job, or the store can't write.
    pub async fn track(&self, id: &JobId) -> Result<Job, Failure> {
        self.inner.track(id).await
    }

    /// Returns cached page views if they are fresh and `force` is false. Otherwise makes one request within the
    /// hourly limit. Concurrent calls with the same query share one request.
    ///
    /// # Errors
    /// The request failed or no request is left. [`Engine::cached_views`] may return older page views.
    pub async fn load_views(&self, query: ViewsQuery, force: bool) -> Result<Timed<ViewsPage>, Failure> {
        self.inner.load_views(query, force).await.map(|loaded| self.in_local_time(loaded))
    }

    /// Returns cached page views of any age, without a request.
    pub async fn cached_views(&self, query: ViewsQuery) -> Option<Timed<ViewsPage>> {
        self.inner.cached_views(query).await.map(|cached| self.in_local_time(cached))
    }

    /// Returns the cached report and totals of a range, without a request.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn cached_report(&self, range: DateRange) -> Result<StoredReport, Failure> {
        self.inner.load_cached_report(range).await
    }

    /// Loads all pages of a range within the hourly limit, with one request for each answer that is not
    /// cached. Emits [`EngineEvent::Loading`] after each answer. However a load ends, its answers stay on disk,
    /// and the next load of the range continues after them. A complete report that is fresh costs no request,
    /// unless `plan.from_start` is set. If a load of the same range is running, waits for that load and ignores
    /// `plan`.
    pub async fn load_all(&self, plan: LoadPlan) -> LoadOutcome {
        self.inner.load_all(plan).await
    }

    /// Stops loading all pages of this range as soon as the request in flight is answered.
    pub fn stop_loading(&self, range: DateRange) {
        self.inner.stop_loading(range);
    }

    /// Returns the cached totals of these ranges, without a request.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn cached_totals(&self, ranges: &[DateRange]) -> Result<Vec<(DateRange, Timed<Counts>)>, Failure> {
        self.inner.load_cached_totals(ranges).await
    }

    /// Loads the site's totals of each range in the order of `ranges`, with one small request per range, and
    /// emits them as [`EngineEvent::Totals`]. Cached totals that are fresh cost no request.
    ///
    /// # Errors
    /// A request failed. The ranges after it are not requested.
    pub async fn load_totals(&self, ranges: &[DateRange]) -> Result<(), Failure> {
        self.inner.load_totals(ranges).await
    }

    fn in_local_time(&self, page: Timed<ViewsPage>) -> Timed<ViewsPage> {
        Timed { as_of: self.inner.clock.service_to_local(page.as_of), ..page }
    }

    /// Converts a service time from the store to local wall time. Times in the engine's events and return
    /// values need no conversion.
    pub fn to_local_time(&self, service: Time) -> Time {
        self.inner.clock.service_to_local(service)
    }

    /// Sets which jobs are on screen. Up to a quarter of the polling requests is reserved for them.
    pub fn set_on_screen(&self, jobs: Vec<JobKey>) {
        self.inner.send_to_poller(PollerCommand::OnScreen(jobs));
    }

    /// Returns the service's time: the local clock corrected by the Date headers of the service's answers.
    /// Jumps of the local clock do not affect it.
    pub fn service_now(&self) -> Time {
        self.inner.clock.now()
    }

    /// Emits the budgets of the three hourly limits.
    pub async fn emit_budgets(&self) {
        self.inner.emit_budgets().await;
    }
}
