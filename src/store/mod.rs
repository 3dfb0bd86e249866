//! The durable record: SQLite on a thread of its own, reached through a handle that is cheap to clone.
//!
//! Every call is one transaction, carried out in the order of the calls and whole even when its caller stops waiting.
//! Several processes may use one file. What is sent, when to ask and what is fresh is decided elsewhere; that no prompt
//! gets lost and none is handed out twice is decided here.

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

pub use backup::{ExportFilter, Exported, ImportError, Imported, LINE_MAX, check as check_import};
pub use check::{Health, check};
pub use error::StoreError;
pub use examine::{Content, Examined, examine};
pub use open::FILE;
pub use prune::{Prune, Pruned};
pub use prune_jobs::{PruneJobs, PrunedJobs};
pub use recent_prompts::KnownPrompt;
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
use crate::model::row::{FirstRows, Job, JobKey, RemainingJobs};
use crate::model::text::CleanText;
use crate::model::views::{ViewsPage, ViewsQuery};
use handle::Handle;
use open::Writing;
use prompts::Sender;
use std::collections::BTreeSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The store. A clone is another handle to the same thread; the last one to go ends it.
#[derive(Debug, Clone)]
pub struct Store {
    handle: Handle,
}

/// What opening found.
#[derive(Debug, Default)]
pub struct Opened {
    /// The file was damaged: it is kept here, and what could be read of it is in a new one.
    pub moved_aside: Option<PathBuf>,
    /// What that was.
    pub recovered: Recovered,
    /// Indexes were damaged, and rebuilt.
    pub rebuilt: bool,
    /// The folder can't be written: reading works, every write is refused.
    pub read_only: bool,
}

/// A store that is being opened.
#[derive(Debug)]
pub struct PendingOpen(handle::OpenReceiver);

impl PendingOpen {
    /// What was found.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub async fn opened(self) -> R<Opened> {
        // An answer that never comes is a panic, which has ended the program but in a test.
        self.0.await.unwrap_or(Err(StoreError::Closed))
    }
}

/// What keeps a queued prompt from being sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hold {
    /// Nothing: it is not paused.
    None,
    /// The user paused it.
    User,
    /// Only this instance may send it.
    Instance(String),
}

/// Answer to "may this prompt go out now?".
#[derive(Debug, PartialEq, Eq)]
pub enum SendPermit {
    /// Yes: it is in `Sending` and its ledger entry is written, both on disk, in one transaction.
    Go { kind: PromptKind, text: String, job: JobKey, id: Option<JobId> },
    /// The ledger is full (or a 429's rest lasts); the prompt is on disk as queued until then, in the service's time.
    Wait { until: Time },
    /// A prompt before it in the thread, a missing job id or the user's pause holds it back; it is queued.
    Behind,
    /// Another instance sends it, or it is settled already.
    Taken,
}

/// How sending ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SendOutcome {
    /// The service answered with the job.
    Accepted(RemoteJob),
    /// It never reached the service.
    NotSent(CleanText),
    /// The service refused it.
    Rejected(CleanText),
    /// Nobody knows.
    Unconfirmed(CleanText),
    /// 429, learned at `at`: queued again, and the ledger is marked full. All in the service's time.
    Limited { wait: Wait, at: Time },
}

/// What a GET said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    Job(RemoteJob),
    /// 404.
    NotFound,
}

/// The merge of what the service said into the record.
#[derive(Debug)]
pub struct MergeResult {
    /// The row as it is now.
    pub row: Job,
    /// What changed, empty when nothing did.
    pub events: Vec<JobEvent>,
    /// Title of the job that an earlier prompt had created, if the service gave this prompt's job the same id.
    pub shares_id_with: Option<CleanText>,
}

/// A queued prompt that may go out, as far as its own thread is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueuedPrompt {
    pub prompt: PromptId,
    pub job: JobKey,
    pub kind: PromptKind,
    /// Not before then, in the service's time.
    pub until: Option<Time>,
}

/// What changed after a revision.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Rows as they are now, oldest change first.
    pub rows: Vec<Job>,
    /// Rows that are no more, each with the one that it was merged into.
    pub merged: Vec<(JobKey, JobKey)>,
    /// The revision up to which this tells of changes.
    pub revision: i64,
    /// How often jobs were let go of in all; see [`Store::left`].
    pub prunes: i64,
}

/// A text not sent yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    pub slot: DraftSlot,
    pub text: String,
    /// What a new job about pages is about; empty for any other draft.
    pub pages: Vec<CleanText>,
    pub saved_at: Time,
}

type R<T> = Result<T, StoreError>;

fn data_version(db: &rusqlite::Connection) -> R<i64> {
    Ok(db.pragma_query_value(None, "data_version", |row| row.get(0))?)
}

/// Opening and closing.
impl Store {
    /// Opens or makes [`FILE`] in `folder` (made 0700, the file 0600). Of a damaged file, what can be read is recovered
    /// into a new one, and the damaged one is kept under a name dated `now`. Without a way to write, what is there can be read; where nothing is there, the store is empty.
    ///
    /// # Errors
    /// [`StoreError::Newer`], [`StoreError::Older`] (it can't be written) and [`StoreError::Foreign`] leave the file
    /// untouched; [`StoreError::Busy`] when another process holds it for 5 s.
    pub fn open(folder: &Path, now: Time) -> R<(Self, Opened)> {
        let (connection, opened) = open::open(folder, now, Writing::Tried)?;
        let handle = Handle::start(connection, opened.read_only, Some(open::damage_note(folder)))?;
        Ok((Self { handle }, opened))
    }

    /// As [`Store::open`], on the store's own thread: what is asked of the store meanwhile waits for the opening, and fails
    /// where that does. Whether writes get through is not tried; [`Store::try_writing`] does.
    ///
    /// # Errors
    /// The system gives no thread.
    pub fn begin(folder: &Path, now: Time) -> R<(Self, PendingOpen)> {
        let (note, folder) = (open::damage_note(folder), folder.to_owned());
        let (handle, opening) = Handle::begin(move || open::open(&folder, now, Writing::Untried), Some(note))?;
        Ok((Self { handle }, PendingOpen(opening)))
    }

    /// Tries whether a write would get through; where none would, every write is refused from now on. Gives whether it
    /// would.
    pub async fn try_writing(&self) -> R<bool> {
        self.handle.try_writing().await
    }

    /// Checks every page of the file in `folder` and repairs it if it is damaged, as an opening does that finds damage.
    ///
    /// # Errors
    /// As [`Store::open`], or the folder can't be written.
    pub async fn repair(folder: &Path, now: Time) -> R<Opened> {
        std::fs::File::create(open::damage_note(folder))?;
        let (store, opened) = Self::open(folder, now)?;
        store.close().await;
        Ok(opened)
    }

    /// Opens what is there to look into it: nothing is made, mended, moved or brought to the known schema, and another
    /// process's lock is not waited for.
    ///
    /// # Errors
    /// There is no store, or one that has to be opened properly first.
    pub fn peek(folder: &Path) -> R<Self> {
        Ok(Self { handle: Handle::start(open::peek(folder)?, true, None)? })
    }

    /// Whether there is a store in `folder`, sound or not. Makes nothing.
    pub fn is_there(folder: &Path) -> bool {
        open::is_there(folder)
    }

    /// As [`Store::is_there`], told apart from a folder that can't be looked into.
    ///
    /// # Errors
    /// It is no folder, or not for this user to look into.
    pub fn look_for(folder: &Path) -> std::io::Result<bool> {
        open::look_for(folder)
    }

    /// Whether a call met a damaged page and left word for the next opening.
    pub fn is_noted_damaged(folder: &Path) -> bool {
        open::damage_note(folder).exists()
    }

    /// How the jobs of a scope stand, read at once on this thread: for a prompt or a status line, which can't wait. None
    /// where there is no store, or nothing of this scope in it; makes nothing and changes nothing.
    ///
    /// # Errors
    /// As [`Store::open`]; a damaged file stays where it is.
    pub fn glance(folder: &Path, scope: &Scope) -> R<Option<StatusSummary>> {
        status_summary::glance(folder, scope)
    }

    /// In memory, for the demo ("keeps nothing").
    pub fn in_memory() -> R<Self> {
        Ok(Self { handle: Handle::start(open::in_memory()?, false, None)? })
    }

    /// Waits for all calls made so far, then closes the file. Calls through other handles then give
    /// [`StoreError::Closed`].
    pub async fn close(self) {
        self.handle.close().await;
    }

    /// SQLite's `data_version`: changes when another process wrote.
    pub async fn data_version(&self) -> R<i64> {
        self.handle.bare(|db| data_version(db)).await
    }

    /// Has the store's own thread look at [`Store::data_version`] at once and then `every` so often, until `seen` breaks off:
    /// nobody but that thread wakes up while nothing changes. `seen` runs on it, so it must not wait for the store.
    ///
    /// # Errors
    /// The store is closed.
    pub fn watch(&self, every: Duration, seen: impl FnMut(R<i64>) -> ControlFlow<()> + Send + 'static) -> R<()> {
        self.handle.repeat(every, data_version, seen)
    }
}

/// Jobs.
impl Store {
    /// All jobs of the scope, oldest first, with those that the user put away.
    pub async fn jobs(&self, scope: &Scope) -> R<Vec<Job>> {
        let scope = scope.clone();
        self.handle.read(move |db| jobs::list(db, &scope)).await
    }

    /// How many jobs, those that were put away apart, are of none of these scopes.
    pub async fn count_elsewhere(&self, scopes: Vec<Scope>) -> R<usize> {
        self.handle.read(move |db| jobs::count_elsewhere(db, &scopes)).await
    }

    /// What a screen can show of the list by need before all of it is read.
    pub async fn first_jobs(&self, scope: &Scope, limit: u32) -> R<FirstRows> {
        let scope = scope.clone();
        self.handle.read(move |db| jobs::first(db, &scope, limit)).await
    }

    /// The jobs of the scope that may have to be looked at again, oldest first.
    pub async fn jobs_under_way(&self, scope: &Scope) -> R<Vec<Job>> {
        let scope = scope.clone();
        self.handle.read(move |db| jobs::under_way(db, &scope)).await
    }

    /// The largest revision of the scope's rows; 0 without any.
    pub async fn revision(&self, scope: &Scope) -> R<i64> {
        let scope = scope.clone();
        self.handle.read(move |db| jobs::revision(db, &scope)).await
    }

    /// The row of this key. One that was merged into another row has no id any more and is dismissed.
    pub async fn job(&self, key: JobKey) -> R<Option<Job>> {
        self.handle.read(move |db| jobs::find(db, key)).await
    }

    /// The row with the service's id. If the index doesn't have it, the table is searched, and the indexes are rebuilt if
    /// they are wrong.
    pub async fn job_by_id(&self, scope: &Scope, id: &JobId) -> R<Option<Job>> {
        let (indexed, wanted) = (id.clone(), id.clone());
        if let Some(row) = self.handle.read_of(scope, move |db, scope| jobs::find_by_id(db, scope, &indexed)).await? {
            return Ok(Some(row));
        }
        let row = self.handle.read_of(scope, move |db, scope| jobs::search_id(db, scope, &wanted)).await?;
        if row.is_some() {
            self.mend_indexes().await;
        }
        Ok(row)
    }

    /// Rebuilds the indexes if they are all that is wrong with the file; otherwise the next opening repairs it.
    async fn mend_indexes(&self) {
        let read_only = self.handle.is_read_only();
        // The error leaves a note for the next opening.
        let _ = self
            .handle
            .bare(move |db| if read_only { Err(StoreError::ReadOnly) } else { schema::rebuild_indexes(db) })
            .await;
    }

    /// Rebuilds these indexes.
    pub async fn rebuild_indexes(&self, names: BTreeSet<String>) -> R<()> {
        self.handle
            .write(move |tx| {
                names
                    .iter()
                    .try_for_each(|name| Ok(tx.execute_batch(&format!("REINDEX \"{}\"", name.replace('"', "")))?))
            })
            .await
    }

    /// What changed after `revision`.
    pub async fn jobs_changed_since(&self, scope: &Scope, revision: i64) -> R<Changes> {
        let scope = scope.clone();
        self.handle.read(move |db| jobs::changed_since(db, &scope, revision)).await
    }

    /// How often jobs were let go of since the store was made.
    pub async fn prunes(&self) -> R<i64> {
        self.handle.read(|db| kv::counted(db, prune_jobs::COUNT)).await
    }

    /// The rows of the scope that are left, once some were let go of.
    pub async fn left(&self, scope: &Scope) -> R<RemainingJobs> {
        let scope = scope.clone();
        self.handle.read(move |db| jobs::left(db, &scope)).await
    }

    /// Keys of rows that turned out to be this job and were merged into its row.
    pub async fn merged_into(&self, job: JobKey) -> R<Vec<JobKey>> {
        self.handle.read(move |db| jobs::merged_into(db, job)).await
    }

    /// Jobs that were started about this page, the newest first.
    pub async fn jobs_about(&self, scope: &Scope, path: &CleanText) -> R<Vec<Job>> {
        let (scope, path) = (scope.clone(), path.clone());
        self.handle.read(move |db| pages::jobs_about(db, &scope, path.as_str())).await
    }

    /// Prompts and transitions of a job, each oldest first. If an index has nothing of the job, the tables are searched, and
    /// the indexes are rebuilt if they are wrong.
    pub async fn thread(&self, job: JobKey) -> R<Thread> {
        let thread = self.threads(&[job], None).await?.pop().map(|(_, thread)| thread);
        match thread {
            Some(thread) if !(thread.prompts.is_empty() && thread.events.is_empty()) => return Ok(thread),
            _ => {}
        }
        let found = self.handle.read(move |db| prompts::search_thread(db, job)).await?;
        if found.as_ref() != thread.as_ref() {
            self.mend_indexes().await;
        }
        found.ok_or(StoreError::NoSuchJob)
    }

    /// As [`Store::thread`] of each of these jobs, all in one snapshot. Left out are jobs that are not there, and threads that
    /// take more than about `most` bytes, which are not even read.
    pub async fn threads(&self, jobs: &[JobKey], most: Option<usize>) -> R<Vec<(JobKey, Thread)>> {
        let jobs = jobs.to_vec();
        self.handle.read(move |db| prompts::threads(db, &jobs, most)).await
    }

    /// Merges what a GET said. A field that the answer leaves out keeps what was known.
    pub async fn apply_fetched(&self, job: JobKey, what: Fetched, now: Time) -> R<MergeResult> {
        self.handle.write(move |tx| jobs::apply(tx, job, &what, now)).await
    }

    /// Takes in a job that was made elsewhere; a known id gives the known row, with the answer merged.
    pub async fn track(&self, scope: &Scope, job: RemoteJob, now: Time) -> R<Job> {
        let scope = scope.clone();
        self.handle.write(move |tx| jobs::track(tx, scopes::ensure(tx, &scope)?, &job, now)).await
    }

    /// Changes the local side of jobs, all or none; the rows come in the order of `jobs`.
    pub async fn change_jobs(&self, jobs: &[JobKey], change: LocalChange, now: Time) -> R<Vec<Job>> {
        let jobs = jobs.to_vec();
        self.handle.write(move |tx| labels::change(tx, &jobs, &change, now)).await
    }

    /// The last `n` transitions as log lines, oldest first.
    pub async fn recent_events(&self, scope: &Scope, n: u32) -> R<Vec<LogEntry>> {
        let scope = scope.clone();
        self.handle.read(move |db| jobs::recent_events(db, &scope, n)).await
    }
}

/// Prompts (design.md: submitting).
impl Store {
    /// A new job row with its prompt, queued. Also deletes the new-job draft in the same transaction.
    pub async fn add_new_job(&self, scope: &Scope, text: &str, now: Time) -> R<(PromptId, Job)> {
        let (scope, text) = (scope.clone(), text.to_owned());
        self.handle.write(move |tx| prompts::add_new_job(tx, &scope, &text, Sender::Any, now)).await
    }

    /// As [`Store::add_new_job`], for this instance alone to send: for all others, and once this one is gone, the prompt is
    /// paused.
    pub async fn reserve_new_job(&self, scope: &Scope, text: &str, instance: &str, now: Time) -> R<(PromptId, Job)> {
        let (scope, text, instance) = (scope.clone(), text.to_owned(), instance.to_owned());
        self.handle.write(move |tx| prompts::add_new_job(tx, &scope, &text, Sender::Only(&instance), now)).await
    }

    /// As [`Store::add_new_job`], for a job about these pages, which it keeps; in place of the draft about pages.
    pub async fn add_job_about(&self, scope: &Scope, text: &str, pages: &[CleanText], now: Time) -> R<(PromptId, Job)> {
        let (scope, text, pages) = (scope.clone(), text.to_owned(), pages.to_vec());
        self.handle.write(move |tx| prompts::add_job_about(tx, &scope, &text, &pages, now)).await
    }

    /// A follow-up, queued behind those before it. Deletes that job's draft in the same transaction.
    pub async fn add_follow_up(&self, job: JobKey, text: &str, now: Time) -> R<(PromptId, Job)> {
        let text = text.to_owned();
        self.handle.write(move |tx| prompts::add_follow_up(tx, job, &text, Sender::Any, now)).await
    }

    /// As [`Store::add_follow_up`], for this instance alone to send (see [`Store::reserve_new_job`]).
    pub async fn reserve_follow_up(&self, job: JobKey, text: &str, instance: &str, now: Time) -> R<(PromptId, Job)> {
        let (text, instance) = (text.to_owned(), instance.to_owned());
        self.handle.write(move |tx| prompts::add_follow_up(tx, job, &text, Sender::Only(&instance), now)).await
    }

    /// As [`Store::add_follow_up`], and discards the job's prompts that were rejected or not sent, which would block it.
    /// Returns the discarded ones as they were. If an instance is named, it alone may send the new one.
    pub async fn supersede_follow_ups(
        &self,
        job: JobKey,
        text: &str,
        instance: Option<&str>,
        now: Time,
    ) -> R<(PromptId, Job, Vec<Prompt>)> {
        let (text, instance) = (text.to_owned(), instance.map(str::to_owned));
        self.handle
            .write(move |tx| {
                let sender = instance.as_deref().map_or(Sender::Any, Sender::Only);
                prompts::supersede(tx, job, &text, sender, now)
            })
            .await
    }

    /// Asks for the prompt's turn. `instance` names this process (see [`Store::abandon`]); `service_now` is for the
    /// ledger, the local `now` for the record.
    pub async fn take_turn(&self, prompt: PromptId, instance: &str, now: Time, service_now: Time) -> R<SendPermit> {
        let instance = instance.to_owned();
        self.handle.write(move |tx| sending::take_turn(tx, prompt, &instance, now, service_now)).await
    }

    /// Writes down how sending ended, and gives what the answer changed; [`Settled::NotSent`] gives the place in the ledger back. An acceptance that comes late still counts; another end of a prompt that has
    /// moved on meanwhile changes nothing.
    pub async fn settle(&self, prompt: PromptId, how: SendOutcome, now: Time) -> R<MergeResult> {
        self.handle.write(move |tx| sending::settle(tx, prompt, how, now)).await
    }

    /// Queues many new jobs in one transaction, in this order; a blank one refuses all. Also deletes the draft of many
    /// new jobs if it says just these.
    pub async fn add_batch(&self, scope: &Scope, prompts: &[String], now: Time) -> R<Vec<Job>> {
        let (scope, texts) = (scope.clone(), prompts.to_vec());
        self.handle.write(move |tx| prompts::add_batch(tx, &scope, &texts, now)).await
    }

    /// Queued prompts of the scope that are first in their thread and not paused, in the order in which they may go out.
    pub async fn queued(&self, scope: &Scope) -> R<Vec<QueuedPrompt>> {
        let scope = scope.clone();
        self.handle.read(move |db| queue::waiting(db, &scope, None)).await
    }

    /// As [`Store::queued`], with the prompts that this instance alone may send.
    pub async fn queued_for(&self, scope: &Scope, instance: &str) -> R<Vec<QueuedPrompt>> {
        let (scope, instance) = (scope.clone(), instance.to_owned());
        self.handle.read(move |db| queue::waiting(db, &scope, Some(&instance))).await
    }

    /// What keeps this prompt from being sent.
    pub async fn hold(&self, prompt: PromptId) -> R<Hold> {
        let known = self.handle.read(move |db| prompts::get(db, prompt)).await?;
        Ok(match (known.state, known.instance) {
            (DeliveryKind::Paused, Some(instance)) => Hold::Instance(instance),
            (DeliveryKind::Paused, None) => Hold::User,
            _ => Hold::None,
        })
    }

    /// Changes queued prompts by their jobs, all or none. `Pause` and `Release` take all that are queued of a job, `Up` and `Down` swap new jobs with their neighbours in the line. Jobs without a queued prompt stay as they
    /// are; gives every row that changed.
    pub async fn change_queue(&self, jobs: &[JobKey], change: QueueChange, now: Time) -> R<Vec<Job>> {
        let jobs = jobs.to_vec();
        self.handle.write(move |tx| queue::change(tx, &jobs, change, now)).await
    }

    /// Discards all that is queued of these jobs. Prompts that are already being sent stay as they are.
    pub async fn remove_from_queue(&self, jobs: &[JobKey], now: Time) -> R<Discarded> {
        let jobs = jobs.to_vec();
        self.handle.write(move |tx| queue::remove(tx, &jobs, now)).await
    }

    /// Pauses one prompt; none when it is not queued any more.
    pub async fn pause_prompt(&self, prompt: PromptId, now: Time) -> R<Option<Job>> {
        self.handle.write(move |tx| queue::pause_one(tx, prompt, now)).await
    }

    /// Jobs in whose prompts the text stands, whatever the case.
    pub async fn find_prompts(&self, scope: &Scope, text: &str) -> R<Vec<JobKey>> {
        let (scope, text) = (scope.clone(), text.to_owned());
        self.handle.read(move |db| labels::find_prompts(db, &scope, &text)).await
    }

    /// Prompts for new jobs that wait, and those that went out, or should have, since then; oldest first.
    pub async fn known_prompts(&self, scope: &Scope, since: Time) -> R<Vec<KnownPrompt>> {
        let scope = scope.clone();
        self.handle.read(move |db| recent_prompts::since(db, &scope, since)).await
    }

    /// Prompts that went out before, the newest first, each once; at most 1,000, and 16 MiB in all.
    pub async fn sent_prompts(&self, scope: &Scope) -> R<Vec<String>> {
        let scope = scope.clone();
        self.handle.read(move |db| labels::sent_prompts(db, &scope)).await
    }

    /// Instances that hold a prompt in `Sending`.
    pub async fn senders(&self, scope: &Scope) -> R<Vec<String>> {
        let scope = scope.clone();
        self.handle.read(move |db| sending::senders(db, &scope)).await
    }

    /// Everything that a dead instance left in `Sending` becomes unconfirmed.
    pub async fn abandon(&self, scope: &Scope, instance: &str, now: Time) -> R<Vec<Job>> {
        let (scope, instance) = (scope.clone(), instance.to_owned());
        self.handle.write(move |tx| sending::abandon(tx, &scope, &instance, now)).await
    }

    /// Queues a prompt again that did not get through, with another text if it can't have been carried out; then
    /// [`Store::take_turn`].
    pub async fn requeue(&self, prompt: PromptId, edited: Option<&str>, now: Time) -> R<Job> {
        let edited = edited.map(str::to_owned);
        self.handle.write(move |tx| prompts::requeue(tx, prompt, edited.as_deref(), now)).await
    }

    /// The unconfirmed new job is this one; a row that has this id already is taken into it.
    pub async fn link(&self, prompt: PromptId, job: RemoteJob, now: Time) -> R<Job> {
        self.handle.write(move |tx| sending::link(tx, prompt, &job, now)).await
    }

    /// Discards a prompt; one that is being sent or was accepted is left as it is.
    pub async fn discard_prompt(&self, prompt: PromptId, now: Time) -> R<Discarded> {
        self.handle.write(move |tx| prompts::discard(tx, prompt, now)).await
    }

    /// Restores discarded prompts to the state that each had, all or none; gives the rows of their jobs.
    ///
    /// # Errors
    /// [`StoreError::MovedOn`] if one of them was accepted after all, or a later prompt of its job was sent.
    pub async fn restore_prompts(&self, prompts: &[PromptId]) -> R<Vec<Job>> {
        let prompts = prompts.to_vec();
        self.handle.write(move |tx| prompts::restore(tx, &prompts)).await
    }
}

/// Drafts, ledgers, views, small facts.
impl Store {
    /// Replaces the draft of the slot; an empty text deletes it.
    pub async fn save_draft(&self, scope: &Scope, slot: DraftSlot, text: &str, now: Time) -> R<()> {
        let (scope, text) = (scope.clone(), text.to_owned());
        self.handle.write(move |tx| drafts::save(tx, &scope, slot, &text, &[], now)).await
    }

    /// Replaces the draft of a new job about pages, with these; an empty text deletes it.
    pub async fn save_draft_about(&self, scope: &Scope, text: &str, pages: &[CleanText], now: Time) -> R<()> {
        let (scope, text, pages) = (scope.clone(), text.to_owned(), pages.to_vec());
        self.handle.write(move |tx| drafts::save(tx, &scope, DraftSlot::AboutPages, &text, &pages, now)).await
    }

    /// All drafts of the scope.
    pub async fn drafts(&self, scope: &Scope) -> R<Vec<Draft>> {
        let scope = scope.clone();
        self.handle.read(move |db| drafts::list(db, &scope)).await
    }

    /// Deletes the draft of the slot, if there is one.
    pub async fn delete_draft(&self, scope: &Scope, slot: DraftSlot) -> R<()> {
        let scope = scope.clone();
        self.handle.write(move |tx| drafts::delete(tx, &scope, slot)).await
    }

    /// What the ledger says at that moment of the service's time. If something in it is ahead of that moment, the moment is
    /// written down.
    pub async fn budget(&self, scope: &Scope, limited: RateLimited, service_now: Time) -> R<Budget> {
        let reader = scope.clone();
        let (budget, is_unmarked) =
            self.handle.read(move |db| ledgers::budget(db, &reader, limited, service_now)).await?;
        if is_unmarked {
            let scope = scope.clone();
            // Lost in a store that can't be written: the next reading counts as the first one.
            let _ = self.handle.write(move |tx| ledgers::mark_ahead(tx, &scope, limited, service_now)).await;
        }
        Ok(budget)
    }

    /// Writes one use down if a request is left; `Err` inside `Ok` is how long to wait for one.
    pub async fn spend(&self, scope: &Scope, limited: RateLimited, service_now: Time) -> R<Result<Budget, Wait>> {
        let scope = scope.clone();
        self.handle.write(move |tx| ledgers::spend(tx, &scope, limited, service_now)).await
    }

    /// Takes back the use that was written down for `at`, the `service_now` of [`Store::spend`]: its request never
    /// reached the service.
    pub async fn refund(&self, scope: &Scope, limited: RateLimited, at: Time) -> R<()> {
        let scope = scope.clone();
        self.handle.write(move |tx| ledgers::refund(tx, &scope, limited, at)).await
    }

    /// A 429: nothing goes out before the wait is over.
    pub async fn mark_full(&self, scope: &Scope, limited: RateLimited, wait: Wait, service_now: Time) -> R<()> {
        let scope = scope.clone();
        self.handle.write(move |tx| ledgers::mark_full(tx, &scope, limited, wait, service_now)).await
    }

    /// The last answer to this question, with its time.
    pub async fn cached_views(&self, scope: &Scope, query: ViewsQuery) -> R<Option<Timed<ViewsPage>>> {
        let scope = scope.clone();
        self.handle.read(move |db| views::find(db, &scope, query)).await
    }

    /// The newest kept answer that holds all pages of the range by itself, whatever its size.
    pub async fn whole_views(&self, scope: &Scope, range: DateRange) -> R<Option<Timed<ViewsPage>>> {
        let scope = scope.clone();
        self.handle.read(move |db| views::find_whole(db, &scope, range)).await
    }

    /// Keeps the answer, in place of the one before, and the totals that came with it.
    pub async fn save_views(&self, scope: &Scope, query: ViewsQuery, page: &ViewsPage, as_of: Time) -> R<()> {
        let (scope, page) = (scope.clone(), page.clone());
        self.handle
            .write(move |tx| {
                let scope = scopes::ensure(tx, &scope)?;
                views::save(tx, scope, query, &page, &json_column::text_of(&page)?, as_of)
            })
            .await
    }

    /// Keeps a small fact (last service time seen, layout) under its key.
    pub async fn remember(&self, key: &str, value: &str) -> R<()> {
        let (key, value) = (key.to_owned(), value.to_owned());
        self.handle.write(move |tx| kv::set(tx, &key, &value)).await
    }

    /// The fact under this key.
    pub async fn recall(&self, key: &str) -> R<Option<String>> {
        let key = key.to_owned();
        self.handle.read(move |db| kv::get(db, &key)).await
    }
}
