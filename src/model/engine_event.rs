//! What the engine tells whoever listens (the dashboard, a waiting command): facts that already hold in the store.

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

/// One fact.
#[derive(Debug, Clone, PartialEq)]
pub enum EngineEvent {
    /// A job is new or changed; the row is as the store has it now.
    Job(Box<Job>),
    /// Two rows turned out to be one job: `gone` is no more, everything of it is in `into`.
    Merged { gone: JobKey, into: JobKey },
    /// Jobs were let go of by another process: what is left.
    Left(RemainingJobs),
    /// Another process wrote something, which may be about another project.
    OthersWrote,
    /// A prompt went a step further; the job's row comes in the same breath.
    Prompt { prompt: PromptId, delivery: Delivery, job: Box<Job> },
    /// The thread of this job has more in it than before.
    Thread(JobKey),
    /// All pages of a range are being loaded: how far it is.
    Loading(LoadProgress),
    /// The site's totals of a range, learned from an answer about it.
    Totals { range: DateRange, totals: Timed<Counts> },
    /// How the talk with the service goes.
    Connection(Connection),
    /// A ledger moved.
    Budget(RateLimited, Budget),
    /// Whether this instance is the one that sends what is queued.
    SendsQueue(bool),
    /// A request was made or a change seen.
    Logged(LogEntry),
    /// Something went wrong beside any request: the store can't write, the poller can't read.
    Trouble(Failure),
    /// The outcome of a prompt can't be recorded: told when that is found, and again when the reason changes.
    Unrecorded(Box<Unrecorded>),
    /// What was told by [`News::Unrecorded`] is on disk now.
    Recorded(PromptId),
    /// Something the user should hear of once: a store moved aside.
    Notice(CleanText),
}
