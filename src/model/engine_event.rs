//! Events that the engine sends to the dashboard or to a waiting command. A change is in the store before its event is
//! sent, except for [`EngineEvent::Unrecorded`].

use super::analytics::RowsLoadProgress;
use super::connection::ConnectionState;
use super::failure::Failure;
use super::job::{Job, JobKey, JobsLeftAfterPrune};
use super::ledger::{Budget, Quota};
use super::load::Timed;
use super::log::LogEntry;
use super::period::DateRange;
use super::prompt::{Delivery, PromptId};
use super::pull_request::HostKind;
use super::report::LoadProgress;
use super::team::{ReportKey, TeamStatus};
use super::text::CleanText;
use super::unrecorded::UnrecordedOutcome;
use super::views::Counts;

#[derive(Debug, Clone, PartialEq)]
pub enum EngineEvent {
    /// A job was added or changed; this is its current state in the store.
    Job(Box<Job>),
    /// Two entries in the store turned out to be the same job. The entry `gone` was removed, and its data was moved to
    /// `into`.
    Merged { gone: JobKey, into: JobKey },
    /// Another process removed jobs; this is the list of jobs that remain.
    JobsRemoved(JobsLeftAfterPrune),
    /// Another process wrote to the store, possibly for another project.
    ExternalChange,
    /// The delivery state of a prompt changed, and thereby the thread of its job; `job` is the updated job. If this
    /// instance sent the prompt, no [`EngineEvent::Thread`] follows, so that the thread is not read twice.
    Prompt { prompt: PromptId, delivery: Delivery, job: Box<Job> },
    /// The thread of this job has changed, or may have changed because another instance wrote to the job.
    Thread(JobKey),
    /// Progress of loading all pages of a range.
    Loading(LoadProgress),
    /// Progress of loading a report other than page views.
    LoadingRows(RowsLoadProgress),
    /// A complete report has arrived from another member of the team, who had loaded it.
    ReportReceived(ReportKey),
    /// The site's totals of a range arrived, from the service or from another member of the team.
    Totals { range: DateRange, totals: Timed<Counts> },
    /// The state of the connection changed.
    ConnectionState(ConnectionState),
    /// The budget of a limited operation changed.
    Budget(Quota, Budget),
    /// The state of the exchange with the team's database changed.
    Team(TeamStatus),
    /// Whether this process is the one that sends queued prompts, because it holds the dispatch lease.
    QueueOwnership(bool),
    /// An entry was added to the log, because a request was made or a change was detected.
    Logged(LogEntry),
    /// A failure that doesn't belong to a request, for example because the store can't be written.
    InternalFailure(Failure),
    /// The outcome of sending a prompt can't be written to the store. This event is sent once, and again if the reason
    /// changes.
    Unrecorded(Box<UnrecordedOutcome>),
    /// The outcome of this prompt, for which [`EngineEvent::Unrecorded`] was sent before, is now in the store.
    Recorded(PromptId),
    /// Jobs have pull requests on this code host, for which there is no token.
    MissingToken { host: CleanText, kind: HostKind },
    /// A message to show to the user once, for example that a damaged store was replaced.
    Notice(CleanText),
}
