//! The store: an SQLite database on its own thread, used through a handle that is cheap to clone.
//!
//! Every call is one transaction. Calls run in the order in which they were made, and run to the end even if the caller
//! stops waiting. Several processes may use the same file. The store guarantees that no prompt is lost and that only
//! one process at a time may send a prompt. The engine decides when to send, poll or reload.

mod backup;
mod cached_ranges;
mod check;
mod columns;
mod drafts;
mod error;
mod examine;
mod handle;
mod jobs;
mod json_column;
mod kv;
mod labels;
mod ledgers;
mod loading;
mod merge;
mod open;
mod page_views;
mod pages;
mod periodic;
mod prompts;
mod prune;
mod prune_jobs;
mod queue;
mod recent_prompts;
mod report_writer;
mod reports;
mod salvage;
mod schema;
mod scopes;
mod sending;
mod status_summary;
mod totals;
mod views;

#[cfg(test)]
mod tests;

pub use backup::{ExportCounts, ImportCounts, ImportError, LINE_BYTES_MAX, ScopeFilter, check_backup};
pub use check::{StoreHealth, check_store};
pub use error::StoreError;
use error::StoreResult;
pub use examine::{StoreContent, StoreExamination, examine};
pub use open::DATABASE_FILE;
pub use prune::{PrunedViews, ViewsPruneFilter};
pub use prune_jobs::{JobPruneFilter, PrunedJobs};
pub use recent_prompts::RecentPrompt;
pub use reports::{ReportAnswer, UnfinishedReport};
pub use salvage::RecoveryCounts;
pub use status_summary::StatusSummary;

use crate::model::Time;
use crate::model::change::{DiscardedPrompts, LocalChange, QueueChange};
use crate::model::endpoint::Scope;
use crate::model::job::{JobId, RemoteJob};
use crate::model::ledger::{Budget, RateLimited, Wait};
use crate::model::load::Timed;
use crate::model::log::LogEntry;
use crate::model::period::DateRange;
use crate::model::prompt::{DeliveryKind, DraftTarget, JobEvent, Prompt, PromptId, PromptKind, Thread};
use crate::model::row::{InitialRows, Job, JobKey, RemainingJobs};
use crate::model::text::CleanText;
use crate::model::views::{ViewsPage, ViewsQuery};
use handle::Handle;
use open::WriteCheck;
use prompts::SendingInstance;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The store. A clone is another handle to the same thread; the thread ends when the last handle is dropped.
#[derive(Debug, Clone)]
pub struct Store {
    handle: Handle,
}

/// The result of opening the store.
#[derive(Debug, Default)]
pub struct OpenOutcome {
    /// The path to which the damaged file was moved after its readable data had been recovered into a new file; `None`
    /// if no file was moved.
    pub damaged_file: Option<PathBuf>,
    /// Counts of what was recovered from the damaged file; all 0 if no file was moved.
    pub recovered: RecoveryCounts,
    /// Whether indexes were damaged and have been rebuilt.
    pub has_rebuilt_indexes: bool,
    /// Whether the store can't be written: reading works, every write is refused.
    pub read_only: bool,
}

/// The pending result of [`Store::open_in_background`].
#[derive(Debug)]
pub struct PendingOpen(handle::OpenReceiver);

impl PendingOpen {
    /// Waits until the store is open.
    ///
    /// # Errors
    /// The errors of [`Store::open`].
    pub async fn wait(self) -> StoreResult<OpenOutcome> {
        // The sender is dropped only if the store's thread panicked, which ends the program except in tests.
        self.0.await.unwrap_or(Err(StoreError::Closed))
    }
}

/// What paused a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PausedBy {
    /// The prompt is not paused.
    None,
    /// The user paused the prompt.
    User,
    /// The prompt is reserved for the instance with this name. For all other instances, it is paused.
    Instance(String),
}

/// The answer to the question whether a prompt may be sent now.
#[derive(Debug, PartialEq, Eq)]
pub enum SendPermit {
    /// Yes: the prompt is now `Sending` and its ledger entry is written, both in one transaction that is on disk.
    Go { kind: PromptKind, text: String, job: JobKey, id: Option<JobId> },
    /// No: the hourly limit is used up, or a 429 blocks the request. The prompt stays queued until `until`, which is a
    /// moment of the service's time.
    Wait { until: Time },
    /// No: the prompt stays queued, since an earlier prompt of the thread is undelivered, the prompt itself is paused,
    /// or the job of a follow-up has no id yet.
    Blocked,
    /// No: the prompt is neither queued nor paused. It is already being sent, or its delivery has ended.
    NotQueued,
}

/// How sending a prompt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendOutcome {
    /// The service accepted the prompt and answered with this job.
    Accepted(RemoteJob),
    /// The prompt never reached the service, for this reason.
    NotSent(CleanText),
    /// The service refused the prompt, for this reason.
    Rejected(CleanText),
    /// The answer was lost, for this reason: the prompt may have arrived.
    Unconfirmed(CleanText),
    /// The service answered with 429 at `at`: the prompt is queued again, and no prompt of its kind is sent before
    /// `wait` is over. All times are the service's.
    Limited { wait: Wait, at: Time },
}

/// The service's answer to a GET request for a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobAnswer {
    Job(RemoteJob),
    /// The service answered with 404.
    NotFound,
}

/// The result of merging the service's answer into a stored job.
#[derive(Debug)]
pub struct MergeResult {
    /// The job's row after the merge.
    pub row: Job,
    /// The changes of the job; empty if nothing changed.
    pub events: Vec<JobEvent>,
    /// The title of an earlier job to which the service gave the same id, if a prompt from this store created that job;
    /// otherwise `None`.
    pub shares_id_with: Option<CleanText>,
}

/// A queued prompt that is neither paused nor blocked by an earlier prompt of its thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueuedPrompt {
    pub prompt: PromptId,
    pub job: JobKey,
    pub kind: PromptKind,
    /// The earliest time to send the prompt, in the service's time; `None` if it needn't wait.
    pub not_before: Option<Time>,
}

/// The changes to the jobs of a scope after a revision.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct JobChanges {
    /// The changed jobs with their current data, in the order in which they changed.
    pub rows: Vec<Job>,
    /// Rows that were merged into another row: pairs of the merged row and the row that it was merged into.
    pub merged: Vec<(JobKey, JobKey)>,
    /// The last revision whose changes are included.
    pub revision: i64,
    /// How many times jobs have been pruned since the store was created. If this changed, jobs may be missing; see
    /// [`Store::remaining_jobs`].
    pub prune_count: i64,
}

/// A typed text that is not sent yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    pub slot: DraftTarget,
    pub text: String,
    /// The pages that the new job is about; empty in every slot except `AboutPages`.
    pub pages: Vec<CleanText>,
    pub saved_at: Time,
}

fn data_version(db: &rusqlite::Connection) -> StoreResult<i64> {
    Ok(db.pragma_query_value(None, "data_version", |row| row.get(0))?)
}

/// Calls that open, check and close the store.
impl Store {
    /// Opens [`DATABASE_FILE`] in `folder`, and creates both if they are missing (folder mode 0700, file mode 0600). If
    /// the file is damaged, recovers what can be read into a new file, and keeps the damaged file under a name that
    /// contains the date `now`. If the folder can't be written, existing data can still be read; without a file, the
    /// store is empty.
    ///
    /// # Errors
    /// [`StoreError::Newer`], [`StoreError::Older`] (the file needs a migration, but can't be written) and
    /// [`StoreError::Foreign`] leave the file untouched; [`StoreError::Busy`] if another process locks the file for
    /// longer than 5 s.
    pub fn open(folder: &Path, now: Time) -> StoreResult<(Self, OpenOutcome)> {
        let (connection, opened) = open::open_or_create(folder, now, WriteCheck::Now)?;
        let handle = Handle::start(connection, opened.read_only, Some(open::damage_note(folder)))?;
        Ok((Self { handle }, opened))
    }

    /// Like [`Store::open`], but opens the file on the store's own thread. Calls made before the file is open wait
    /// until it is, and fail if it can't be opened. Doesn't check whether writing works: call [`Store::check_writable`]
    /// afterwards.
    ///
    /// # Errors
    /// The thread can't be started.
    pub fn open_in_background(folder: &Path, now: Time) -> StoreResult<(Self, PendingOpen)> {
        let (note, folder) = (open::damage_note(folder), folder.to_owned());
        let (handle, opening) =
            Handle::start_and_open(move || open::open_or_create(&folder, now, WriteCheck::Later), Some(note))?;
        Ok((Self { handle }, PendingOpen(opening)))
    }

    /// Returns whether writing works. If it doesn't, every later write is refused.
    pub async fn check_writable(&self) -> StoreResult<bool> {
        self.handle.try_writing().await
    }

    /// Checks every page of the file in `folder`. If the file is damaged, repairs it in the same way as
    /// [`Store::open`].
    ///
    /// # Errors
    /// The errors of [`Store::open`]; or the folder can't be written.
    pub async fn repair(folder: &Path, now: Time) -> StoreResult<OpenOutcome> {
        std::fs::File::create(open::damage_note(folder))?;
        let (store, opened) = Self::open(folder, now)?;
        store.close().await;
        Ok(opened)
    }

    /// Opens an existing store for reading only: creates, repairs, moves and migrates nothing, and doesn't wait for
    /// another process's lock.
    ///
    /// # Errors
    /// There is no store, or its schema is not the current one: [`Store::open`] has to migrate it first.
    pub fn open_for_reading(folder: &Path) -> StoreResult<Self> {
        Ok(Self { handle: Handle::start(open::open_for_reading(folder)?, true, None)? })
    }

    /// Whether there is a store in `folder`, damaged or not. Creates nothing.
    pub fn exists(folder: &Path) -> bool {
        open::exists(folder)
    }

    /// Like [`Store::exists`], but fails if the folder can't be read.
    ///
    /// # Errors
    /// `folder` is not a folder, or this user may not read it.
    pub fn try_exists(folder: &Path) -> std::io::Result<bool> {
        open::try_exists(folder)
    }

    /// Whether a call found a damaged page and left a note, so that the next opening checks every page.
    pub fn is_marked_damaged(folder: &Path) -> bool {
        open::damage_note(folder).exists()
    }

    /// Counts the jobs in each state immediately, on the calling thread, for callers that can't wait (a shell prompt, a
    /// status line). Returns `None` if there is no store, or if nothing was ever stored for `scope`. Creates no store
    /// and migrates nothing.
    ///
    /// # Errors
    /// The errors of [`Store::open`]; a damaged file is left in place.
    pub fn status_summary(folder: &Path, scope: &Scope) -> StoreResult<Option<StatusSummary>> {
        status_summary::read_summary(folder, scope)
    }

    /// Creates an empty store in memory, for the demo.
    pub fn in_memory() -> StoreResult<Self> {
        Ok(Self { handle: Handle::start(open::in_memory()?, false, None)? })
    }

    /// Waits for all calls made so far, then closes the file. Later calls through other handles return
    /// [`StoreError::Closed`].
    pub async fn close(self) {
        self.handle.close().await;
    }

    /// Returns SQLite's `data_version`, which changes when another connection (usually of another process) has written.
    pub async fn data_version(&self) -> StoreResult<i64> {
        self.handle.run(|db| data_version(db)).await
    }

    /// Reads [`Store::data_version`] immediately and then once per `interval`, and passes it to `on_version` until
    /// `on_version` returns `Break`. Both happen on the store's own thread. No other thread wakes up while nothing
    /// changes, and `on_version` must not wait for the store.
    ///
    /// # Errors
    /// The store is closed.
    pub fn watch(
        &self,
        interval: Duration,
        on_version: impl FnMut(StoreResult<i64>) -> ControlFlow<()> + Send + 'static,
    ) -> StoreResult<()> {
        self.handle.repeat(interval, data_version, on_version)
    }
}

/// Calls about jobs.
impl Store {
    /// Returns all jobs of the scope, including dismissed ones, oldest first.
    pub async fn jobs(&self, scope: &Scope) -> StoreResult<Vec<Job>> {
        let scope = scope.clone();
        self.handle.read(move |db| jobs::load_jobs(db, &scope)).await
    }

    /// Counts the jobs that belong to none of these scopes. Dismissed jobs don't count.
    pub async fn count_in_other_scopes(&self, scopes: Vec<Scope>) -> StoreResult<usize> {
        self.handle.read(move |db| jobs::count_in_other_scopes(db, &scopes)).await
    }

    /// Returns the first `limit` rows of the jobs list, which a screen can show before all jobs are read.
    pub async fn first_jobs(&self, scope: &Scope, limit: u32) -> StoreResult<InitialRows> {
        let scope = scope.clone();
        self.handle.read(move |db| jobs::read_first_rows(db, &scope, limit)).await
    }

    /// Returns the jobs of the scope that may have to be checked again at the service, oldest first.
    pub async fn jobs_to_check(&self, scope: &Scope) -> StoreResult<Vec<Job>> {
        let scope = scope.clone();
        self.handle.read(move |db| jobs::read_jobs_to_check(db, &scope)).await
    }

    /// Returns the largest revision of the scope's rows; 0 if there are none.
    pub async fn revision(&self, scope: &Scope) -> StoreResult<i64> {
        let scope = scope.clone();
        self.handle.read(move |db| jobs::revision(db, &scope)).await
    }

    /// Returns the row with this key; `None` if there is none. A row that was merged into another row has no id and is
    /// dismissed.
    pub async fn job(&self, key: JobKey) -> StoreResult<Option<Job>> {
        self.handle.read(move |db| jobs::find_job(db, key)).await
    }

    /// Returns the row with this id of the service. If the table contains the id but its index doesn't, rebuilds the
    /// indexes.
    pub async fn job_by_id(&self, scope: &Scope, id: &JobId) -> StoreResult<Option<Job>> {
        let (indexed, wanted) = (id.clone(), id.clone());
        if let Some(row) =
            self.handle.read_in_scope(scope, move |db, scope| jobs::find_by_id(db, scope, &indexed)).await?
        {
            return Ok(Some(row));
        }
        let row = self
            .handle
            .read_in_scope(scope, move |db, scope| jobs::find_by_id_without_index(db, scope, &wanted))
            .await?;
        if row.is_some() {
            self.repair_indexes().await;
        }
        Ok(row)
    }

    /// Rebuilds the indexes if nothing else is wrong with the file; otherwise leaves the repair to the next opening.
    async fn repair_indexes(&self) {
        let read_only = self.handle.is_read_only();
        // If more than the indexes is damaged, `run` leaves a note for the next opening.
        let _ = self
            .handle
            .run(move |db| if read_only { Err(StoreError::ReadOnly) } else { schema::rebuild_indexes(db) })
            .await;
    }

    pub async fn rebuild_indexes(&self, names: BTreeSet<String>) -> StoreResult<()> {
        self.handle
            .write(move |tx| {
                names
                    .iter()
                    .try_for_each(|name| Ok(tx.execute_batch(&format!("REINDEX \"{}\"", name.replace('"', "")))?))
            })
            .await
    }

    /// Returns the changes to the jobs of the scope after `revision`.
    pub async fn jobs_changed_since(&self, scope: &Scope, revision: i64) -> StoreResult<JobChanges> {
        let scope = scope.clone();
        self.handle.read(move |db| jobs::changed_since(db, &scope, revision)).await
    }

    /// Returns how many times jobs have been pruned since the store was created.
    pub async fn prune_count(&self) -> StoreResult<i64> {
        self.handle.read(|db| kv::get_number(db, prune_jobs::PRUNE_COUNT_KEY)).await
    }

    /// Returns the keys of all rows that the scope has now. The caller can then forget jobs that were pruned.
    pub async fn remaining_jobs(&self, scope: &Scope) -> StoreResult<RemainingJobs> {
        let scope = scope.clone();
        self.handle.read(move |db| jobs::read_remaining_jobs(db, &scope)).await
    }

    /// Returns the keys of rows that turned out to be this job and were merged into it.
    pub async fn merged_into(&self, job: JobKey) -> StoreResult<Vec<JobKey>> {
        self.handle.read(move |db| jobs::merged_into(db, job)).await
    }

    /// Returns the jobs that were started about this page, newest first.
    pub async fn jobs_about(&self, scope: &Scope, path: &CleanText) -> StoreResult<Vec<Job>> {
        let (scope, path) = (scope.clone(), path.clone());
        self.handle.read(move |db| pages::jobs_about(db, &scope, path.as_str())).await
    }

    /// Returns the prompts and the events of a job, each oldest first. If the tables contain rows of the job but their
    /// indexes don't, rebuilds the indexes.
    pub async fn thread(&self, job: JobKey) -> StoreResult<Thread> {
        let thread = self.threads(&[job], None).await?.pop().map(|(_, thread)| thread);
        match thread {
            Some(thread) if !(thread.prompts.is_empty() && thread.events.is_empty()) => return Ok(thread),
            _ => {}
        }
        let found = self.handle.read(move |db| prompts::read_thread_without_index(db, job)).await?;
        if found.as_ref() != thread.as_ref() {
            self.repair_indexes().await;
        }
        found.ok_or(StoreError::NoSuchJob)
    }

    /// Reads the threads of several jobs in one snapshot (see [`Store::thread`]). Skips unknown jobs and, without
    /// reading them, threads larger than about `max_bytes`.
    pub async fn threads(&self, jobs: &[JobKey], max_bytes: Option<usize>) -> StoreResult<Vec<(JobKey, Thread)>> {
        let jobs = jobs.to_vec();
        self.handle.read(move |db| prompts::threads(db, &jobs, max_bytes)).await
    }

    /// Merges the service's answer to a GET request into the job. Fields that the answer leaves out keep their values.
    pub async fn apply_fetched(&self, job: JobKey, answer: JobAnswer, now: Time) -> StoreResult<MergeResult> {
        self.handle.write(move |tx| jobs::merge_fetched(tx, job, &answer, now)).await
    }

    /// Starts to track a job that was created elsewhere. If a row already has the id of `job`, merges `job` into that
    /// row.
    pub async fn track(&self, scope: &Scope, job: RemoteJob, now: Time) -> StoreResult<Job> {
        let scope = scope.clone();
        self.handle.write(move |tx| jobs::track_job(tx, scopes::ensure_scope(tx, &scope)?, &job, now)).await
    }

    /// Changes what the user can set (title, tags, note, viewed, handled, dismissed) for all these jobs, or for none if
    /// one of them is unknown. Returns the rows in the order of `jobs`.
    pub async fn change_jobs(&self, jobs: &[JobKey], change: LocalChange, now: Time) -> StoreResult<Vec<Job>> {
        let jobs = jobs.to_vec();
        self.handle.write(move |tx| labels::change_labels(tx, &jobs, &change, now)).await
    }

    /// Returns the last `n` events as log entries, oldest first.
    pub async fn recent_events(&self, scope: &Scope, n: u32) -> StoreResult<Vec<LogEntry>> {
        let scope = scope.clone();
        self.handle.read(move |db| jobs::recent_events(db, &scope, n)).await
    }
}

/// Calls about prompts.
impl Store {
    /// Adds a job with its queued prompt, and deletes the new-job draft, in one transaction.
    pub async fn add_new_job(&self, scope: &Scope, text: &str, now: Time) -> StoreResult<(PromptId, Job)> {
        let (scope, text) = (scope.clone(), text.to_owned());
        self.handle.write(move |tx| prompts::add_new_job(tx, &scope, &text, SendingInstance::Any, now)).await
    }

    /// Like [`Store::add_new_job`], but only the instance with this name may send the prompt. For other instances, and
    /// after that instance has ended, the prompt is paused.
    pub async fn reserve_new_job(
        &self,
        scope: &Scope,
        text: &str,
        instance: &str,
        now: Time,
    ) -> StoreResult<(PromptId, Job)> {
        let (scope, text, instance) = (scope.clone(), text.to_owned(), instance.to_owned());
        self.handle
            .write(move |tx| prompts::add_new_job(tx, &scope, &text, SendingInstance::Only(&instance), now))
            .await
    }

    /// Like [`Store::add_new_job`], but stores these pages with the job as the pages that it is about. Deletes the
    /// draft in [`DraftTarget::AboutPages`] instead of the new-job draft.
    pub async fn add_job_about(
        &self,
        scope: &Scope,
        text: &str,
        pages: &[CleanText],
        now: Time,
    ) -> StoreResult<(PromptId, Job)> {
        let (scope, text, pages) = (scope.clone(), text.to_owned(), pages.to_vec());
        self.handle.write(move |tx| prompts::add_job_about(tx, &scope, &text, &pages, now)).await
    }

    /// Queues a follow-up behind the earlier prompts of the job, and deletes the job's draft, in one transaction.
    pub async fn add_follow_up(&self, job: JobKey, text: &str, now: Time) -> StoreResult<(PromptId, Job)> {
        let text = text.to_owned();
        self.handle.write(move |tx| prompts::add_follow_up(tx, job, &text, SendingInstance::Any, now)).await
    }

    /// Like [`Store::add_follow_up`], but only the instance with this name may send the follow-up (see
    /// [`Store::reserve_new_job`]).
    pub async fn reserve_follow_up(
        &self,
        job: JobKey,
        text: &str,
        instance: &str,
        now: Time,
    ) -> StoreResult<(PromptId, Job)> {
        let (text, instance) = (text.to_owned(), instance.to_owned());
        self.handle.write(move |tx| prompts::add_follow_up(tx, job, &text, SendingInstance::Only(&instance), now)).await
    }

    /// Like [`Store::add_follow_up`], but first discards the job's prompts that are `Rejected` or `NotSent`, since they
    /// would block the new prompt. Returns the discarded prompts as they were before. If `instance` is given, only the
    /// instance with that name may send the new prompt.
    pub async fn supersede_follow_ups(
        &self,
        job: JobKey,
        text: &str,
        instance: Option<&str>,
        now: Time,
    ) -> StoreResult<(PromptId, Job, Vec<Prompt>)> {
        let (text, instance) = (text.to_owned(), instance.map(str::to_owned));
        self.handle
            .write(move |tx| {
                let sender = instance.as_deref().map_or(SendingInstance::Any, SendingInstance::Only);
                prompts::supersede(tx, job, &text, sender, now)
            })
            .await
    }

    /// Marks the prompt as `Sending` if it may be sent now. `instance` is the name of this process (see
    /// [`Store::abandon_sends`]), `service_now` is the service's time for the ledger, and `now` is the local time for
    /// the prompt.
    pub async fn request_permit(
        &self,
        prompt: PromptId,
        instance: &str,
        now: Time,
        service_now: Time,
    ) -> StoreResult<SendPermit> {
        let instance = instance.to_owned();
        self.handle.write(move |tx| sending::request_permit(tx, prompt, &instance, now, service_now)).await
    }

    /// Stores how sending the prompt ended, and returns what changed. [`SendOutcome::Accepted`] is always stored, even
    /// if it arrives late. Any other outcome is ignored unless the prompt is still `Sending` or `Unconfirmed`.
    /// [`SendOutcome::NotSent`] also refunds the request in the ledger.
    pub async fn finish_send(&self, prompt: PromptId, how: SendOutcome, now: Time) -> StoreResult<MergeResult> {
        self.handle.write(move |tx| sending::record_send_outcome(tx, prompt, how, now)).await
    }

    /// Queues many new jobs in this order, in one transaction; if one prompt is blank, adds none of them. Also deletes
    /// the batch draft if it contains exactly these prompts.
    pub async fn add_batch(&self, scope: &Scope, prompts: &[String], now: Time) -> StoreResult<Vec<Job>> {
        let (scope, texts) = (scope.clone(), prompts.to_vec());
        self.handle.write(move |tx| prompts::add_batch(tx, &scope, &texts, now)).await
    }

    /// Returns the queued prompts of the scope that are neither paused nor blocked by an earlier prompt of their
    /// thread, in the order in which they may be sent.
    pub async fn sendable_prompts(&self, scope: &Scope) -> StoreResult<Vec<QueuedPrompt>> {
        let scope = scope.clone();
        self.handle.read(move |db| queue::sendable_prompts(db, &scope, None)).await
    }

    /// Like [`Store::sendable_prompts`], but also returns the prompts that are reserved for the instance with this name
    /// (see [`Store::reserve_new_job`]).
    pub async fn sendable_prompts_for(&self, scope: &Scope, instance: &str) -> StoreResult<Vec<QueuedPrompt>> {
        let (scope, instance) = (scope.clone(), instance.to_owned());
        self.handle.read(move |db| queue::sendable_prompts(db, &scope, Some(&instance))).await
    }

    /// Returns what paused this prompt.
    pub async fn paused_by(&self, prompt: PromptId) -> StoreResult<PausedBy> {
        let stored = self.handle.read(move |db| prompts::read_stored_prompt(db, prompt)).await?;
        Ok(match (stored.state, stored.instance) {
            (DeliveryKind::Paused, Some(instance)) => PausedBy::Instance(instance),
            (DeliveryKind::Paused, None) => PausedBy::User,
            _ => PausedBy::None,
        })
    }

    /// Changes the queued prompts of all these jobs, or of none if one of the jobs is unknown. `Pause` and `Resume`
    /// change all queued prompts of a job; `Up` and `Down` swap new jobs with their neighbours in the queue. Skips jobs
    /// without a queued prompt. Returns every row that changed.
    pub async fn change_queue(&self, jobs: &[JobKey], change: QueueChange, now: Time) -> StoreResult<Vec<Job>> {
        let jobs = jobs.to_vec();
        self.handle.write(move |tx| queue::apply_queue_change(tx, &jobs, change, now)).await
    }

    /// Discards all queued prompts of these jobs. Prompts that are already being sent are not discarded.
    pub async fn remove_from_queue(&self, jobs: &[JobKey], now: Time) -> StoreResult<DiscardedPrompts> {
        let jobs = jobs.to_vec();
        self.handle.write(move |tx| queue::discard_queued_prompts(tx, &jobs, now)).await
    }

    /// Pauses one prompt and returns the row of its job; returns `None` if the prompt is not queued.
    pub async fn pause_prompt(&self, prompt: PromptId, now: Time) -> StoreResult<Option<Job>> {
        self.handle.write(move |tx| queue::pause_one(tx, prompt, now)).await
    }

    /// Returns the jobs with a prompt that contains `text`, ignoring case.
    pub async fn find_jobs_by_prompt(&self, scope: &Scope, text: &str) -> StoreResult<Vec<JobKey>> {
        let (scope, text) = (scope.clone(), text.to_owned());
        self.handle.read(move |db| labels::find_jobs_by_prompt(db, &scope, &text)).await
    }

    /// Returns prompts of new jobs, oldest first: those that are queued or being sent, and those in `Accepted`,
    /// `Unconfirmed` or `NotSent` that were sent at `since` or later. If a prompt was never sent, the time at which it
    /// was written counts instead.
    pub async fn recent_prompts(&self, scope: &Scope, since: Time) -> StoreResult<Vec<RecentPrompt>> {
        let scope = scope.clone();
        self.handle.read(move |db| recent_prompts::find_recent_prompts(db, &scope, since)).await
    }

    /// Returns the texts of sent prompts, newest first and without duplicates; at most 1,000 texts and 16 MiB in total.
    pub async fn sent_prompts(&self, scope: &Scope) -> StoreResult<Vec<String>> {
        let scope = scope.clone();
        self.handle.read(move |db| labels::sent_prompts(db, &scope)).await
    }

    /// Returns the names of the instances that have a prompt in `Sending`.
    pub async fn sending_instances(&self, scope: &Scope) -> StoreResult<Vec<String>> {
        let scope = scope.clone();
        self.handle.read(move |db| sending::sending_instances(db, &scope)).await
    }

    /// Call this when `instance` has ended: its prompts in `Sending` become `Unconfirmed`. Returns the rows of their
    /// jobs.
    pub async fn abandon_sends(&self, scope: &Scope, instance: &str, now: Time) -> StoreResult<Vec<Job>> {
        let (scope, instance) = (scope.clone(), instance.to_owned());
        self.handle.write(move |tx| sending::mark_unconfirmed(tx, &scope, &instance, now)).await
    }

    /// Queues an undelivered prompt again, with the text `edited` if it is given. Fails if an unconfirmed prompt is
    /// edited, since it may have been carried out. The caller then sends the prompt with [`Store::request_permit`].
    pub async fn requeue(&self, prompt: PromptId, edited: Option<&str>, now: Time) -> StoreResult<Job> {
        let edited = edited.map(str::to_owned);
        self.handle.write(move |tx| prompts::requeue_prompt(tx, prompt, edited.as_deref(), now)).await
    }

    /// Links a new job, whose prompt is undelivered (usually `Unconfirmed`), to the service's job `job`. If another row
    /// already has the id of `job`, merges that row into the row of the new job.
    pub async fn link_job(&self, prompt: PromptId, job: RemoteJob, now: Time) -> StoreResult<Job> {
        self.handle.write(move |tx| sending::link_to_job(tx, prompt, &job, now)).await
    }

    /// Discards a prompt. A prompt that is being sent or was accepted can't be discarded.
    pub async fn discard_prompt(&self, prompt: PromptId, now: Time) -> StoreResult<DiscardedPrompts> {
        self.handle.write(move |tx| prompts::discard(tx, prompt, now)).await
    }

    /// Restores all these discarded prompts to their previous states, or none if one can't be restored. Returns the
    /// rows of their jobs.
    ///
    /// # Errors
    /// [`StoreError::StateChanged`] if one of the prompts is no longer discarded (it may have been accepted late), or
    /// if one of them would be queued again although a later prompt of its job has been sent.
    pub async fn restore_prompts(&self, prompts: &[PromptId]) -> StoreResult<Vec<Job>> {
        let prompts = prompts.to_vec();
        self.handle.write(move |tx| prompts::restore(tx, &prompts)).await
    }
}

/// Calls about drafts, ledgers, page views and key-value pairs.
impl Store {
    /// Replaces the draft in the slot; an empty text deletes the draft.
    pub async fn save_draft(&self, scope: &Scope, slot: DraftTarget, text: &str, now: Time) -> StoreResult<()> {
        let (scope, text) = (scope.clone(), text.to_owned());
        self.handle.write(move |tx| drafts::replace_draft(tx, &scope, slot, &text, &[], now)).await
    }

    /// Replaces the draft of a new job about these pages; an empty text deletes the draft.
    pub async fn save_draft_about(&self, scope: &Scope, text: &str, pages: &[CleanText], now: Time) -> StoreResult<()> {
        let (scope, text, pages) = (scope.clone(), text.to_owned(), pages.to_vec());
        self.handle
            .write(move |tx| drafts::replace_draft(tx, &scope, DraftTarget::AboutPages, &text, &pages, now))
            .await
    }

    pub async fn drafts(&self, scope: &Scope) -> StoreResult<Vec<Draft>> {
        let scope = scope.clone();
        self.handle.read(move |db| drafts::list_drafts(db, &scope)).await
    }

    /// Deletes the draft in the slot, if there is one.
    pub async fn delete_draft(&self, scope: &Scope, slot: DraftTarget) -> StoreResult<()> {
        let scope = scope.clone();
        self.handle.write(move |tx| drafts::delete_from_slot(tx, &scope, slot)).await
    }

    /// Returns what is left of the hourly limit at `service_now`. If ledger entries are later than `service_now`, the
    /// clock was ahead when they were stored. In that case, stores `service_now` with them, so that they can expire.
    pub async fn budget(&self, scope: &Scope, limited: RateLimited, service_now: Time) -> StoreResult<Budget> {
        let reader = scope.clone();
        let (budget, needs_update) =
            self.handle.read(move |db| ledgers::read_budget(db, &reader, limited, service_now)).await?;
        if needs_update {
            let scope = scope.clone();
            // If the store can't be written, `service_now` is not stored; the next call tries again.
            let _ = self.handle.write(move |tx| ledgers::mark_ahead_of_clock(tx, &scope, limited, service_now)).await;
        }
        Ok(budget)
    }

    /// Records one use if a request is left. Otherwise records nothing and returns how long to wait for a request, as
    /// `Ok(Err(wait))`.
    pub async fn spend(
        &self,
        scope: &Scope,
        limited: RateLimited,
        service_now: Time,
    ) -> StoreResult<Result<Budget, Wait>> {
        let scope = scope.clone();
        self.handle.write(move |tx| ledgers::spend(tx, &scope, limited, service_now)).await
    }

    /// Deletes the use that [`Store::spend`] recorded with `at` as `service_now`. For a request that never reached the
    /// service.
    pub async fn refund(&self, scope: &Scope, limited: RateLimited, at: Time) -> StoreResult<()> {
        let scope = scope.clone();
        self.handle.write(move |tx| ledgers::refund_use(tx, &scope, limited, at)).await
    }

    /// Stores that the service answered with 429. No request of this kind is allowed before the wait is over.
    pub async fn record_rate_limit(
        &self,
        scope: &Scope,
        limited: RateLimited,
        wait: Wait,
        service_now: Time,
    ) -> StoreResult<()> {
        let scope = scope.clone();
        self.handle.write(move |tx| ledgers::record_rate_limit(tx, &scope, limited, wait, service_now)).await
    }

    /// Returns the last answer to this query, with the time at which it was loaded.
    pub async fn cached_views(&self, scope: &Scope, query: ViewsQuery) -> StoreResult<Option<Timed<ViewsPage>>> {
        let scope = scope.clone();
        self.handle.read(move |db| views::find_views_answer(db, &scope, query)).await
    }

    /// Returns the newest cached answer that alone lists every documentation page of the range, whatever the page size
    /// of its query.
    pub async fn complete_views(&self, scope: &Scope, range: DateRange) -> StoreResult<Option<Timed<ViewsPage>>> {
        let scope = scope.clone();
        self.handle.read(move |db| views::find_complete_answer(db, &scope, range)).await
    }

    /// Replaces the cached answer to this query, and the totals of its range.
    pub async fn save_views(&self, scope: &Scope, query: ViewsQuery, page: &ViewsPage, as_of: Time) -> StoreResult<()> {
        let (scope, page) = (scope.clone(), page.clone());
        self.handle
            .write(move |tx| {
                let scope = scopes::ensure_scope(tx, &scope)?;
                views::replace_views_answer(tx, scope, query, &page, &json_column::encode_answer(&page)?, as_of)
            })
            .await
    }

    /// Stores a value (for example the layout) under a key.
    pub async fn set_value(&self, key: &str, value: &str) -> StoreResult<()> {
        let (key, value) = (key.to_owned(), value.to_owned());
        self.handle.write(move |tx| kv::set(tx, &key, &value)).await
    }

    /// Returns the value stored under this key.
    pub async fn value(&self, key: &str) -> StoreResult<Option<String>> {
        let key = key.to_owned();
        self.handle.read(move |db| kv::get(db, &key)).await
    }
}
