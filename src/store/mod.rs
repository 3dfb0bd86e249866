//! The store: an SQLite database on its own thread, used through a handle that is cheap to clone.
//!
//! Every call is one transaction. Calls run in the order in which they were made, and run to the end even if the caller
//! stops waiting. Several processes may use the same file. The store guarantees that no prompt is lost and that no
//! prompt is handed out twice; when to send, poll or reload is decided by the engine.

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

pub use backup::{ExportFilter, Exported, ImportError, Imported, LINE_MAX, check_backup};
pub use check::{Health, check_store};
pub use error::StoreError;
use error::StoreResult;
pub use examine::{Content, Examined, examine};
pub use open::FILE;
pub use prune::{Prune, Pruned};
pub use prune_jobs::{PruneJobs, PrunedJobs};
pub use recent_prompts::RecentPrompt;
pub use reports::{ReportAnswer, UnfinishedReport};
pub use salvage::Recovered;
pub use status_summary::StatusSummary;

use crate::model::Time;
use crate::model::change::{Discarded, LocalChange, QueueChange};
use crate::model::endpoint::Scope;
use crate::model::job::{JobId, RemoteJob};
use crate::model::ledger::{Budget, RateLimited, Wait};
use crate::model::load::Timed;
use crate::model::log::LogEntry;
use crate::model::period::DateRange;
use crate::model::prompt::{DeliveryKind, DraftSlot, JobEvent, Prompt, PromptId, PromptKind, Thread};
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
pub struct Opened {
    /// The file was damaged: it was moved here, and what could be read was recovered into a new file.
    pub moved_aside: Option<PathBuf>,
    /// What was recovered from it.
    pub recovered: Recovered,
    /// Indexes were damaged and have been rebuilt.
    pub rebuilt: bool,
    /// The folder can't be written: reading works, every write is refused.
    pub read_only: bool,
}

/// A store that is being opened.
#[derive(Debug)]
pub struct PendingOpen(handle::OpenReceiver);

impl PendingOpen {
    /// Waits until the store is open.
    ///
    /// # Errors
    /// See [`Store::open`].
    pub async fn wait(self) -> StoreResult<Opened> {
        // The sender is dropped only if the store's thread panicked, which ends the program except in tests.
        self.0.await.unwrap_or(Err(StoreError::Closed))
    }
}

/// What keeps a queued prompt from being sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PausedBy {
    /// Nothing: it is not paused.
    None,
    /// The user paused it.
    User,
    /// Only this instance may send it.
    Instance(String),
}

/// Answer to "may this prompt be sent now?".
#[derive(Debug, PartialEq, Eq)]
pub enum SendPermit {
    /// Yes: it is in `Sending` and its ledger entry is written, both in one transaction that is on disk.
    Go { kind: PromptKind, text: String, job: JobKey, id: Option<JobId> },
    /// The ledger is full, or a 429 blocks it. The prompt stays queued until then, in the service's time.
    Wait { until: Time },
    /// It stays queued behind an earlier prompt of its thread, a missing job id or the user's pause.
    Blocked,
    /// Another instance is sending it, or its delivery has already ended.
    Taken,
}

/// How sending a prompt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendOutcome {
    /// The service answered with the job.
    Accepted(RemoteJob),
    /// It never reached the service.
    NotSent(CleanText),
    /// The service refused it.
    Rejected(CleanText),
    /// It may have arrived: the answer was lost.
    Unconfirmed(CleanText),
    /// 429, received at `at`: the prompt is queued again and the ledger is marked as full. All times are the service's.
    Limited { wait: Wait, at: Time },
}

/// The answer to a GET request for a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    Job(RemoteJob),
    /// 404.
    NotFound,
}

/// The result of merging the service's answer into a stored job.
#[derive(Debug)]
pub struct MergeResult {
    /// The row after the merge.
    pub row: Job,
    /// What changed; empty if nothing did.
    pub events: Vec<JobEvent>,
    /// Title of the job that an earlier prompt had created, if the service gave this prompt's job the same id.
    pub shares_id_with: Option<CleanText>,
}

/// A queued prompt that nothing in its own thread keeps from being sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueuedPrompt {
    pub prompt: PromptId,
    pub job: JobKey,
    pub kind: PromptKind,
    /// Not before then, in the service's time.
    pub not_before: Option<Time>,
}

/// What changed after a revision.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// The rows as they are now, oldest change first.
    pub rows: Vec<Job>,
    /// Rows that no longer exist, each with the row that it was merged into.
    pub merged: Vec<(JobKey, JobKey)>,
    /// The last revision that is included.
    pub revision: i64,
    /// How often jobs have been pruned since the store was created; see [`Store::remaining_jobs`].
    pub prunes: i64,
}

/// A text that is not sent yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    pub slot: DraftSlot,
    pub text: String,
    /// The pages that a new job is about; empty for any other draft.
    pub pages: Vec<CleanText>,
    pub saved_at: Time,
}

fn data_version(db: &rusqlite::Connection) -> StoreResult<i64> {
    Ok(db.pragma_query_value(None, "data_version", |row| row.get(0))?)
}

/// Opening and closing.
impl Store {
    /// Opens [`FILE`] in `folder`, or creates it (folder 0700, file 0600). If the file is damaged, whatever can be read
    /// is recovered into a new file, and the damaged one is kept under a name with the date `now`. If the folder can't
    /// be written, existing data can be read; without a file, the store is empty.
    ///
    /// # Errors
    /// [`StoreError::Newer`], [`StoreError::Older`] (it can't be written) and [`StoreError::Foreign`] leave the file
    /// untouched; [`StoreError::Busy`] if another process locks it for longer than 5 s.
    pub fn open(folder: &Path, now: Time) -> StoreResult<(Self, Opened)> {
        let (connection, opened) = open::open_or_create(folder, now, WriteCheck::Now)?;
        let handle = Handle::start(connection, opened.read_only, Some(open::damage_note(folder)))?;
        Ok((Self { handle }, opened))
    }

    /// Like [`Store::open`], but opens the file on the store's own thread. Calls made meanwhile wait for it, and fail
    /// if opening fails. Doesn't check whether writing works; call [`Store::check_writable`] for that.
    ///
    /// # Errors
    /// The thread can't be started.
    pub fn open_in_background(folder: &Path, now: Time) -> StoreResult<(Self, PendingOpen)> {
        let (note, folder) = (open::damage_note(folder), folder.to_owned());
        let (handle, opening) =
            Handle::start_and_open(move || open::open_or_create(&folder, now, WriteCheck::Later), Some(note))?;
        Ok((Self { handle }, PendingOpen(opening)))
    }

    /// Returns whether writing works. If it doesn't, every write is refused from then on.
    pub async fn check_writable(&self) -> StoreResult<bool> {
        self.handle.try_writing().await
    }

    /// Checks every page of the file in `folder`, and repairs the file if it is damaged, like [`Store::open`].
    ///
    /// # Errors
    /// See [`Store::open`]; or the folder can't be written.
    pub async fn repair(folder: &Path, now: Time) -> StoreResult<Opened> {
        std::fs::File::create(open::damage_note(folder))?;
        let (store, opened) = Self::open(folder, now)?;
        store.close().await;
        Ok(opened)
    }

    /// Opens an existing store for reading only: creates, repairs, moves and migrates nothing, and doesn't wait for
    /// another process's lock.
    ///
    /// # Errors
    /// There is no store, or it has to be opened with [`Store::open`] first.
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
    /// It is not a folder, or this user may not read it.
    pub fn try_exists(folder: &Path) -> std::io::Result<bool> {
        open::try_exists(folder)
    }

    /// Whether a call found a damaged page and left a note for the next opening.
    pub fn is_marked_damaged(folder: &Path) -> bool {
        open::damage_note(folder).exists()
    }

    /// Reads the number of jobs in each state at once, on this thread: for a shell prompt or a status line, which can't
    /// wait. Returns `None` if there is no store, or nothing of this scope in it. Creates and changes nothing.
    ///
    /// # Errors
    /// See [`Store::open`]; a damaged file is left in place.
    pub fn status_summary(folder: &Path, scope: &Scope) -> StoreResult<Option<StatusSummary>> {
        status_summary::read_summary(folder, scope)
    }

    /// In memory only, for the demo.
    pub fn in_memory() -> StoreResult<Self> {
        Ok(Self { handle: Handle::start(open::in_memory()?, false, None)? })
    }

    /// Waits for all calls made so far, then closes the file. Calls through other handles then return
    /// [`StoreError::Closed`].
    pub async fn close(self) {
        self.handle.close().await;
    }

    /// SQLite's `data_version`: changes when another process has written.
    pub async fn data_version(&self) -> StoreResult<i64> {
        self.handle.run(|db| data_version(db)).await
    }

    /// Reads [`Store::data_version`] at once and then at every interval on the store's own thread, until `seen` returns
    /// `Break`. No other thread wakes up while nothing changes. `seen` runs on the store's thread, so it must not wait
    /// for the store.
    ///
    /// # Errors
    /// The store is closed.
    pub fn watch(
        &self,
        every: Duration,
        seen: impl FnMut(StoreResult<i64>) -> ControlFlow<()> + Send + 'static,
    ) -> StoreResult<()> {
        self.handle.repeat(every, data_version, seen)
    }
}

/// Jobs.
impl Store {
    /// All jobs of the scope, including dismissed ones, oldest first.
    pub async fn jobs(&self, scope: &Scope) -> StoreResult<Vec<Job>> {
        let scope = scope.clone();
        self.handle.read(move |db| jobs::load_jobs(db, &scope)).await
    }

    /// The number of jobs that belong to none of these scopes, without dismissed ones.
    pub async fn count_in_other_scopes(&self, scopes: Vec<Scope>) -> StoreResult<usize> {
        self.handle.read(move |db| jobs::count_in_other_scopes(db, &scopes)).await
    }

    /// The rows that a screen can show before the complete list is read.
    pub async fn first_jobs(&self, scope: &Scope, limit: u32) -> StoreResult<InitialRows> {
        let scope = scope.clone();
        self.handle.read(move |db| jobs::read_first_rows(db, &scope, limit)).await
    }

    /// The jobs of the scope that may have to be checked again, oldest first.
    pub async fn jobs_to_check(&self, scope: &Scope) -> StoreResult<Vec<Job>> {
        let scope = scope.clone();
        self.handle.read(move |db| jobs::to_check(db, &scope)).await
    }

    /// The largest revision of the scope's rows; 0 if there are none.
    pub async fn revision(&self, scope: &Scope) -> StoreResult<i64> {
        let scope = scope.clone();
        self.handle.read(move |db| jobs::revision(db, &scope)).await
    }

    /// The row of this key. A row that was merged into another one has no id any more and is dismissed.
    pub async fn job(&self, key: JobKey) -> StoreResult<Option<Job>> {
        self.handle.read(move |db| jobs::find_job(db, key)).await
    }

    /// The row with the service's id. If the index doesn't have it, the table is searched, and incorrect indexes are
    /// rebuilt.
    pub async fn job_by_id(&self, scope: &Scope, id: &JobId) -> StoreResult<Option<Job>> {
        let (indexed, wanted) = (id.clone(), id.clone());
        if let Some(row) = self.handle.read_of(scope, move |db, scope| jobs::find_by_id(db, scope, &indexed)).await? {
            return Ok(Some(row));
        }
        let row = self.handle.read_of(scope, move |db, scope| jobs::search_id(db, scope, &wanted)).await?;
        if row.is_some() {
            self.repair_indexes().await;
        }
        Ok(row)
    }

    /// Rebuilds the indexes if nothing else is wrong with the file; otherwise the next opening repairs it.
    async fn repair_indexes(&self) {
        let read_only = self.handle.is_read_only();
        // An error leaves a note for the next opening.
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

    /// What changed after `revision`.
    pub async fn jobs_changed_since(&self, scope: &Scope, revision: i64) -> StoreResult<Changes> {
        let scope = scope.clone();
        self.handle.read(move |db| jobs::changed_since(db, &scope, revision)).await
    }

    /// How often jobs have been pruned since the store was created.
    pub async fn prunes(&self) -> StoreResult<i64> {
        self.handle.read(|db| kv::get_number(db, prune_jobs::COUNT)).await
    }

    /// The remaining rows of the scope, after jobs were pruned.
    pub async fn remaining_jobs(&self, scope: &Scope) -> StoreResult<RemainingJobs> {
        let scope = scope.clone();
        self.handle.read(move |db| jobs::remaining(db, &scope)).await
    }

    /// Keys of rows that turned out to be this job and were merged into it.
    pub async fn merged_into(&self, job: JobKey) -> StoreResult<Vec<JobKey>> {
        self.handle.read(move |db| jobs::merged_into(db, job)).await
    }

    /// Jobs that were started about this page, newest first.
    pub async fn jobs_about(&self, scope: &Scope, path: &CleanText) -> StoreResult<Vec<Job>> {
        let (scope, path) = (scope.clone(), path.clone());
        self.handle.read(move |db| pages::jobs_about(db, &scope, path.as_str())).await
    }

    /// The prompts and events of a job, each oldest first. If the indexes have nothing of the job, the tables are
    /// searched, and incorrect indexes are rebuilt.
    pub async fn thread(&self, job: JobKey) -> StoreResult<Thread> {
        let thread = self.threads(&[job], None).await?.pop().map(|(_, thread)| thread);
        match thread {
            Some(thread) if !(thread.prompts.is_empty() && thread.events.is_empty()) => return Ok(thread),
            _ => {}
        }
        let found = self.handle.read(move |db| prompts::search_thread(db, job)).await?;
        if found.as_ref() != thread.as_ref() {
            self.repair_indexes().await;
        }
        found.ok_or(StoreError::NoSuchJob)
    }

    /// Like [`Store::thread`] for each of these jobs, in one snapshot. Leaves out unknown jobs, and threads larger than
    /// about `max_bytes`, which are not read at all.
    pub async fn threads(&self, jobs: &[JobKey], max_bytes: Option<usize>) -> StoreResult<Vec<(JobKey, Thread)>> {
        let jobs = jobs.to_vec();
        self.handle.read(move |db| prompts::threads(db, &jobs, max_bytes)).await
    }

    /// Merges the answer to a GET request. Fields that the answer leaves out keep their values.
    pub async fn apply_fetched(&self, job: JobKey, what: Fetched, now: Time) -> StoreResult<MergeResult> {
        self.handle.write(move |tx| jobs::merge_fetched(tx, job, &what, now)).await
    }

    /// Tracks a job that was created elsewhere. If the id is already tracked, merges the answer into that row.
    pub async fn track(&self, scope: &Scope, job: RemoteJob, now: Time) -> StoreResult<Job> {
        let scope = scope.clone();
        self.handle.write(move |tx| jobs::track_job(tx, scopes::ensure_scope(tx, &scope)?, &job, now)).await
    }

    /// Changes the local data of all these jobs or of none; returns the rows in the order of `jobs`.
    pub async fn change_jobs(&self, jobs: &[JobKey], change: LocalChange, now: Time) -> StoreResult<Vec<Job>> {
        let jobs = jobs.to_vec();
        self.handle.write(move |tx| labels::change_labels(tx, &jobs, &change, now)).await
    }

    /// The last `n` events as log lines, oldest first.
    pub async fn recent_events(&self, scope: &Scope, n: u32) -> StoreResult<Vec<LogEntry>> {
        let scope = scope.clone();
        self.handle.read(move |db| jobs::recent_events(db, &scope, n)).await
    }
}

/// Prompts.
impl Store {
    /// Adds a job with its prompt, queued, and deletes the new-job draft in the same transaction.
    pub async fn add_new_job(&self, scope: &Scope, text: &str, now: Time) -> StoreResult<(PromptId, Job)> {
        let (scope, text) = (scope.clone(), text.to_owned());
        self.handle.write(move |tx| prompts::add_new_job(tx, &scope, &text, SendingInstance::Any, now)).await
    }

    /// Like [`Store::add_new_job`], but only this instance may send the prompt. For other instances, and after this one
    /// has ended, the prompt is paused.
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

    /// Like [`Store::add_new_job`], for a job about these pages, which are stored with it. Deletes the draft about
    /// pages.
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

    /// Queues a follow-up behind the earlier prompts of the job, and deletes the job's draft in the same transaction.
    pub async fn add_follow_up(&self, job: JobKey, text: &str, now: Time) -> StoreResult<(PromptId, Job)> {
        let text = text.to_owned();
        self.handle.write(move |tx| prompts::add_follow_up(tx, job, &text, SendingInstance::Any, now)).await
    }

    /// Like [`Store::add_follow_up`], but only this instance may send it (see [`Store::reserve_new_job`]).
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

    /// Like [`Store::add_follow_up`], and discards the job's prompts that were rejected or not sent, which would block
    /// it. Returns the discarded ones as they were. If an instance is given, only that one may send the new prompt.
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

    /// Asks whether the prompt may be sent now. `instance` is the name of this process (see [`Store::abandon_sends`]),
    /// `service_now` is for the ledger, and `now` is the local time for the prompt.
    pub async fn take_turn(
        &self,
        prompt: PromptId,
        instance: &str,
        now: Time,
        service_now: Time,
    ) -> StoreResult<SendPermit> {
        let instance = instance.to_owned();
        self.handle.write(move |tx| sending::take_turn(tx, prompt, &instance, now, service_now)).await
    }

    /// Stores how sending ended and returns what changed. [`SendOutcome::NotSent`] refunds the request in the ledger. A
    /// late acceptance still counts; any other outcome is ignored if the prompt's state has changed meanwhile.
    pub async fn finish_send(&self, prompt: PromptId, how: SendOutcome, now: Time) -> StoreResult<MergeResult> {
        self.handle.write(move |tx| sending::settle(tx, prompt, how, now)).await
    }

    /// Queues many new jobs in one transaction, in this order; if one is blank, none is added. Also deletes the batch
    /// draft if it contains exactly these prompts.
    pub async fn add_batch(&self, scope: &Scope, prompts: &[String], now: Time) -> StoreResult<Vec<Job>> {
        let (scope, texts) = (scope.clone(), prompts.to_vec());
        self.handle.write(move |tx| prompts::add_batch(tx, &scope, &texts, now)).await
    }

    /// Queued prompts of the scope that are first in their thread and not paused, in the order in which they may be
    /// sent.
    pub async fn queued(&self, scope: &Scope) -> StoreResult<Vec<QueuedPrompt>> {
        let scope = scope.clone();
        self.handle.read(move |db| queue::sendable_prompts(db, &scope, None)).await
    }

    /// Like [`Store::queued`], including the prompts that only this instance may send.
    pub async fn queued_for(&self, scope: &Scope, instance: &str) -> StoreResult<Vec<QueuedPrompt>> {
        let (scope, instance) = (scope.clone(), instance.to_owned());
        self.handle.read(move |db| queue::sendable_prompts(db, &scope, Some(&instance))).await
    }

    /// What keeps this prompt from being sent.
    pub async fn paused_by(&self, prompt: PromptId) -> StoreResult<PausedBy> {
        let stored = self.handle.read(move |db| prompts::read_stored_prompt(db, prompt)).await?;
        Ok(match (stored.state, stored.instance) {
            (DeliveryKind::Paused, Some(instance)) => PausedBy::Instance(instance),
            (DeliveryKind::Paused, None) => PausedBy::User,
            _ => PausedBy::None,
        })
    }

    /// Changes the queued prompts of all these jobs or of none. `Pause` and `Release` change all queued prompts of a
    /// job; `Up` and `Down` swap new jobs with their neighbours in the queue. Jobs without a queued prompt stay as they
    /// are. Returns every row that changed.
    pub async fn change_queue(&self, jobs: &[JobKey], change: QueueChange, now: Time) -> StoreResult<Vec<Job>> {
        let jobs = jobs.to_vec();
        self.handle.write(move |tx| queue::apply_queue_change(tx, &jobs, change, now)).await
    }

    /// Discards all queued prompts of these jobs. Prompts that are already being sent stay as they are.
    pub async fn remove_from_queue(&self, jobs: &[JobKey], now: Time) -> StoreResult<Discarded> {
        let jobs = jobs.to_vec();
        self.handle.write(move |tx| queue::remove(tx, &jobs, now)).await
    }

    /// Pauses one prompt; returns `None` if it is no longer queued.
    pub async fn pause_prompt(&self, prompt: PromptId, now: Time) -> StoreResult<Option<Job>> {
        self.handle.write(move |tx| queue::pause_one(tx, prompt, now)).await
    }

    /// Jobs with a prompt that contains the text, ignoring case.
    pub async fn find_prompts(&self, scope: &Scope, text: &str) -> StoreResult<Vec<JobKey>> {
        let (scope, text) = (scope.clone(), text.to_owned());
        self.handle.read(move |db| labels::find_prompts(db, &scope, &text)).await
    }

    /// Prompts of new jobs that are queued, and those that were sent or should have been sent since then, oldest first.
    pub async fn recent_prompts(&self, scope: &Scope, since: Time) -> StoreResult<Vec<RecentPrompt>> {
        let scope = scope.clone();
        self.handle.read(move |db| recent_prompts::since(db, &scope, since)).await
    }

    /// The texts of sent prompts, newest first and without duplicates; at most 1,000, and 16 MiB in total.
    pub async fn sent_prompts(&self, scope: &Scope) -> StoreResult<Vec<String>> {
        let scope = scope.clone();
        self.handle.read(move |db| labels::sent_prompts(db, &scope)).await
    }

    /// Instances that have a prompt in `Sending`.
    pub async fn senders(&self, scope: &Scope) -> StoreResult<Vec<String>> {
        let scope = scope.clone();
        self.handle.read(move |db| sending::senders(db, &scope)).await
    }

    /// Marks every prompt that a dead instance left in `Sending` as unconfirmed.
    pub async fn abandon_sends(&self, scope: &Scope, instance: &str, now: Time) -> StoreResult<Vec<Job>> {
        let (scope, instance) = (scope.clone(), instance.to_owned());
        self.handle.write(move |tx| sending::mark_unconfirmed(tx, &scope, &instance, now)).await
    }

    /// Queues an undelivered prompt again, with a new text if it can't have been carried out; then call
    /// [`Store::take_turn`].
    pub async fn requeue(&self, prompt: PromptId, edited: Option<&str>, now: Time) -> StoreResult<Job> {
        let edited = edited.map(str::to_owned);
        self.handle.write(move |tx| prompts::requeue_prompt(tx, prompt, edited.as_deref(), now)).await
    }

    /// Links an unconfirmed new job to this job of the service. If another row has this id, it is merged into the
    /// linked one.
    pub async fn link_job(&self, prompt: PromptId, job: RemoteJob, now: Time) -> StoreResult<Job> {
        self.handle.write(move |tx| sending::link_to_job(tx, prompt, &job, now)).await
    }

    /// Discards a prompt. A prompt that is being sent or was accepted can't be discarded.
    pub async fn discard_prompt(&self, prompt: PromptId, now: Time) -> StoreResult<Discarded> {
        self.handle.write(move |tx| prompts::discard(tx, prompt, now)).await
    }

    /// Restores all these discarded prompts to their previous states, or none of them; returns the rows of their jobs.
    ///
    /// # Errors
    /// [`StoreError::StateChanged`] if one of them was accepted after all, or a later prompt of its job was sent.
    pub async fn restore_prompts(&self, prompts: &[PromptId]) -> StoreResult<Vec<Job>> {
        let prompts = prompts.to_vec();
        self.handle.write(move |tx| prompts::restore(tx, &prompts)).await
    }
}

/// Drafts, ledgers, views, key-value pairs.
impl Store {
    /// Replaces the draft of the slot; an empty text deletes it.
    pub async fn save_draft(&self, scope: &Scope, slot: DraftSlot, text: &str, now: Time) -> StoreResult<()> {
        let (scope, text) = (scope.clone(), text.to_owned());
        self.handle.write(move |tx| drafts::replace_draft(tx, &scope, slot, &text, &[], now)).await
    }

    /// Replaces the draft of a new job about these pages; an empty text deletes it.
    pub async fn save_draft_about(&self, scope: &Scope, text: &str, pages: &[CleanText], now: Time) -> StoreResult<()> {
        let (scope, text, pages) = (scope.clone(), text.to_owned(), pages.to_vec());
        self.handle.write(move |tx| drafts::replace_draft(tx, &scope, DraftSlot::AboutPages, &text, &pages, now)).await
    }

    pub async fn drafts(&self, scope: &Scope) -> StoreResult<Vec<Draft>> {
        let scope = scope.clone();
        self.handle.read(move |db| drafts::list_drafts(db, &scope)).await
    }

    /// Deletes the draft of the slot, if there is one.
    pub async fn delete_draft(&self, scope: &Scope, slot: DraftSlot) -> StoreResult<()> {
        let scope = scope.clone();
        self.handle.write(move |tx| drafts::delete_from_slot(tx, &scope, slot)).await
    }

    /// The budget at that moment of the service's time. If an entry of the ledger is later than that moment, the moment
    /// is stored.
    pub async fn budget(&self, scope: &Scope, limited: RateLimited, service_now: Time) -> StoreResult<Budget> {
        let reader = scope.clone();
        let (budget, is_unmarked) =
            self.handle.read(move |db| ledgers::read_budget(db, &reader, limited, service_now)).await?;
        if is_unmarked {
            let scope = scope.clone();
            // Lost if the store can't be written: then the next call counts as the first one.
            let _ = self.handle.write(move |tx| ledgers::mark_ahead(tx, &scope, limited, service_now)).await;
        }
        Ok(budget)
    }

    /// Records one use if a request is left; otherwise `Ok(Err(_))` contains the time to wait for one.
    pub async fn spend(
        &self,
        scope: &Scope,
        limited: RateLimited,
        service_now: Time,
    ) -> StoreResult<Result<Budget, Wait>> {
        let scope = scope.clone();
        self.handle.write(move |tx| ledgers::spend(tx, &scope, limited, service_now)).await
    }

    /// Takes back the use recorded for `at`, the `service_now` of [`Store::spend`]: its request never reached the
    /// service.
    pub async fn refund(&self, scope: &Scope, limited: RateLimited, at: Time) -> StoreResult<()> {
        let scope = scope.clone();
        self.handle.write(move |tx| ledgers::refund_use(tx, &scope, limited, at)).await
    }

    /// A 429: no request is sent before the wait is over.
    pub async fn mark_full(
        &self,
        scope: &Scope,
        limited: RateLimited,
        wait: Wait,
        service_now: Time,
    ) -> StoreResult<()> {
        let scope = scope.clone();
        self.handle.write(move |tx| ledgers::mark_full(tx, &scope, limited, wait, service_now)).await
    }

    /// The last answer to this query, with its time.
    pub async fn cached_views(&self, scope: &Scope, query: ViewsQuery) -> StoreResult<Option<Timed<ViewsPage>>> {
        let scope = scope.clone();
        self.handle.read(move |db| views::find_views_answer(db, &scope, query)).await
    }

    /// The newest cached answer that contains all pages of the range by itself, whatever its page size.
    pub async fn complete_views(&self, scope: &Scope, range: DateRange) -> StoreResult<Option<Timed<ViewsPage>>> {
        let scope = scope.clone();
        self.handle.read(move |db| views::find_complete_answer(db, &scope, range)).await
    }

    /// Replaces the cached answer, and the totals that came with it.
    pub async fn save_views(&self, scope: &Scope, query: ViewsQuery, page: &ViewsPage, as_of: Time) -> StoreResult<()> {
        let (scope, page) = (scope.clone(), page.clone());
        self.handle
            .write(move |tx| {
                let scope = scopes::ensure_scope(tx, &scope)?;
                views::replace_views_answer(tx, scope, query, &page, &json_column::encode_answer(&page)?, as_of)
            })
            .await
    }

    /// Stores a value (last known time of the service, layout) under a key.
    pub async fn set_value(&self, key: &str, value: &str) -> StoreResult<()> {
        let (key, value) = (key.to_owned(), value.to_owned());
        self.handle.write(move |tx| kv::set(tx, &key, &value)).await
    }

    /// The value under this key.
    pub async fn value(&self, key: &str) -> StoreResult<Option<String>> {
        let key = key.to_owned();
        self.handle.read(move |db| kv::get(db, &key)).await
    }
}
