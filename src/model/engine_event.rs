//! Events that the engine reports to its listener (the dashboard or a waiting command). Each is already recorded in the
//! store.

use super::connection::Connection;
use super::failure::Failure;
use super::ledger::{Budget, RateLimited};
use super::load::Timed;
use super::log::LogEntry;
use super::period::DateRange;
use super::prompt::{Delivery, PromptId};
use super::report::LoadProgress;
use super::row::{Job, JobKey, RemainingJobs};
use super::text::CleanText;
use super::unrecorded::Unrecorded;
use super::views::Counts;

#[derive(Debug, Clone, PartialEq)]
pub enum EngineEvent {
    /// A job was added or changed; the row is the store's current one.
    Job(Box<Job>),
    /// Two rows turned out to be the same job: `gone` was removed, its data is in `into`.
    Merged { gone: JobKey, into: JobKey },
    /// Another process removed jobs; these remain.
    JobsRemoved(RemainingJobs),
    /// Another process wrote to the store, possibly for another project.
    ExternalChange,
    /// The delivery state of a prompt changed; `job` is the updated row.
    Prompt { prompt: PromptId, delivery: Delivery, job: Box<Job> },
    /// An entry was added to the thread of this job.
    Thread(JobKey),
    /// Progress of loading all pages of a range.
    Loading(LoadProgress),
    /// The site's totals of a range, taken from an answer about it.
    Totals { range: DateRange, totals: Timed<Counts> },
    /// The state of the connection changed.
    Connection(Connection),
    /// The budget of a limited operation changed.
    Budget(RateLimited, Budget),
    /// Whether this instance is the one that sends queued prompts.
    QueueOwnership(bool),
    /// A request was made or a change was detected.
    Logged(LogEntry),
    /// A failure that belongs to no request: the store can't be written, or the poller can't read.
    InternalFailure(Failure),
    /// The outcome of a prompt can't be recorded. Reported once, and again if the reason changes.
    Unrecorded(Box<Unrecorded>),
    /// An outcome reported by [`EngineEvent::Unrecorded`] is now on disk.
    Recorded(PromptId),
    /// A message to show to the user once, for example that a damaged store was replaced.
    Notice(CleanText),
}
