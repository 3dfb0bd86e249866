//! The messages to the poller, and the outcomes of requests from which the poller determines whether the service is
//! reachable.

use crate::model::connection::ConnectionState;
use crate::model::failure::Failure;
use crate::model::job::{Job, JobKey};
use crate::model::ledger::Wait;
use crate::model::text::CleanText;

/// A message to the poller.
#[derive(Debug)]
pub(super) enum PollerMessage {
    /// Jobs are new or changed.
    JobsChanged {
        rows: Vec<Job>,
        /// Whether other instances may have changed these jobs.
        maybe_changed_by_others: bool,
    },
    /// The jobs that are on screen now.
    OnScreen(Vec<JobKey>),
    /// A request that the poller did not start has begun.
    RequestStarted,
    /// A request that the poller did not start has ended. If its outcome affects the connection state, `Outcome` was
    /// sent before this message.
    RequestEnded,
    /// The outcome of a request that the poller did not start. If the user wanted a job to be checked, but no request
    /// was possible ([`ServiceHealth::NotRequested`]), a poller that has paused because of a refused key or an outage
    /// tries again.
    Outcome(FetchOutcome),
    /// This instance has taken or released the poll lease, or has got or lost the permission to poll for the team.
    LeaseChanged,
    /// The connection state that the polling instance has written to the store.
    SharedConnection(ConnectionState),
}

/// The outcome of a request, as passed to the poller.
#[derive(Debug)]
pub(super) struct FetchOutcome {
    /// The tracked job that was fetched; `None` if the request was not for a tracked job.
    pub(super) key: Option<JobKey>,
    pub(super) health: ServiceHealth,
    /// Whether a GET for a job was made, which counts toward the polling limits. False for any other request.
    pub(super) was_job_requested: bool,
}

impl FetchOutcome {
    /// Returns the outcome of a check that panicked. Polling pauses as if the store had failed.
    pub(super) fn crashed(key: JobKey) -> Self {
        let sentence = "Checking a job failed because of a bug in docdeck; polling continues in a few seconds.";
        let health = ServiceHealth::NotStored(Failure::local(sentence));
        Self { key: Some(key), health, was_job_requested: true }
    }

    /// Returns the outcome of another task's request to which the service responded as expected.
    pub(super) fn service_responded() -> Self {
        Self { key: None, health: ServiceHealth::Good, was_job_requested: false }
    }

    /// Returns the outcome of another task's request with an unusable response.
    pub(super) fn unusable_response(reason: CleanText) -> Self {
        Self { health: ServiceHealth::Unusable(reason), ..Self::service_responded() }
    }

    /// Returns the outcome of another task's request that did not reach the service.
    pub(super) fn service_unreachable(reason: CleanText) -> Self {
        Self { health: ServiceHealth::Down(reason), ..Self::service_responded() }
    }
}

/// What the outcome of a request shows about the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ServiceHealth {
    /// No request was made: the job is no longer in the store (merged into another job, for example), or has no
    /// id.
    NotRequested,
    Good,
    /// The response is unreadable, or a 4xx that concerns only this request. Other requests may succeed.
    Unusable(CleanText),
    /// The service can't be reached or fails.
    Down(CleanText),
    /// The service responded with 429 (too many requests). The wait ends at a time of the service's clock.
    Limited(Wait),
    /// The service responded with 401 or 403.
    Refused(CleanText),
    /// The store could not record the response.
    NotStored(Failure),
}
