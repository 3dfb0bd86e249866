//! Fetches one job: a GET, its effect on the connection state, and the merge into the store. Used
//! by the poller (which decides when), by refresh, track and link.

use super::clock::local_now;
use super::poll::PollerCommand;
use super::state::EngineState;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::{Failure, FailureKind};
use crate::model::job::{JobId, RemoteJob};
use crate::model::ledger::Wait;
use crate::model::link;
use crate::model::log::{LogKind, Operation};
use crate::model::prompt::{EventKind, JobEvent};
use crate::model::row::{Job, JobKey};
use crate::model::text::CleanText;
use crate::store::{Fetched, StoreError};

/// What a request shows about the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ServiceHealth {
    Good,
    /// The answer says nothing about other requests: it is unreadable, or a 4xx for this request alone.
    Unusable(CleanText),
    /// No network, or the service fails.
    Down(CleanText),
    /// 429; the time is service time.
    Limited(Wait),
    /// 401 or 403.
    Refused(CleanText),
    /// The store could not record the answer.
    Unwritten(Failure),
}

/// The result for the job itself.
#[derive(Debug)]
pub(super) enum JobCheck {
    Row(Box<Job>),
    /// Nothing new about the job.
    Nothing,
    /// The store no longer has the job (it was merged into another).
    Removed,
}

/// The outcome of a fetch, for the poller.
#[derive(Debug)]
pub(super) struct FetchOutcome {
    pub(super) key: Option<JobKey>,
    pub(super) seen: JobCheck,
    pub(super) health: ServiceHealth,
    /// Whether a request was made, which counts towards the polling budget.
    pub(super) requested: bool,
}

impl FetchOutcome {
    /// A request unrelated to polling was answered.
    pub(super) fn good() -> Self {
        Self { key: None, seen: JobCheck::Nothing, health: ServiceHealth::Good, requested: false }
    }

    /// A request unrelated to polling got an unusable answer.
    pub(super) fn unusable(reason: CleanText) -> Self {
        Self { health: ServiceHealth::Unusable(reason), ..Self::good() }
    }

    /// A request unrelated to polling did not reach the service.
    pub(super) fn unreachable(reason: CleanText) -> Self {
        Self { health: ServiceHealth::Down(reason), ..Self::good() }
    }
}

impl EngineState {
    /// Fetches a job and emits what changed.
    pub(super) async fn fetch_job(&self, key: JobKey) -> (Result<Job, Failure>, FetchOutcome) {
        let outcome = |seen, health, requested| FetchOutcome { key: Some(key), seen, health, requested };
        let unwritten = |error: &StoreError, requested| {
            let failure = error.failure();
            (Err(failure.clone()), outcome(JobCheck::Nothing, ServiceHealth::Unwritten(failure), requested))
        };
        let before = match self.store.job(key).await {
            Ok(Some(row)) => row,
            Ok(None) => return (Err(unknown_job()), outcome(JobCheck::Removed, ServiceHealth::Good, false)),
            Err(error) => return unwritten(&error, false),
        };
        let Some(id) = before.id.clone() else {
            let failure =
                Failure::local("This job has no id yet: the service has not accepted its prompt. Try again later.");
            return (Err(failure), outcome(JobCheck::Removed, ServiceHealth::Good, false));
        };
        let (result, health) = self.get(&id).await;
        let fetched = match result {
            Ok(job) => Fetched::Job(job),
            Err(failure) if failure.kind == FailureKind::NotFound => Fetched::NotFound,
            Err(failure) => return (Err(failure), outcome(JobCheck::Nothing, health, true)),
        };
        // If a prompt was accepted while the request was in flight, the answer is older than the store: a
        // stale `completed` would end the polling of a job that has just started again.
        match self.store.job(key).await {
            Ok(Some(row)) if row.last_accepted_at() != before.last_accepted_at() || row.id != before.id => {
                return (Ok(row.clone()), outcome(JobCheck::Row(Box::new(row)), health, true));
            }
            Ok(_) => {}
            Err(error) => return unwritten(&error, true),
        }
        let _hook_guard = self.hook_guard();
        match self.store.apply_fetched(key, fetched, local_now()).await {
            Ok(applied) => {
                self.emit_seen(&applied.row, &applied.events).await;
                (Ok(applied.row.clone()), outcome(JobCheck::Row(Box::new(applied.row)), health, true))
            }
            Err(error) => unwritten(&error, true),
        }
    }

    /// Fetches a job for the user; the poller gets the outcome.
    pub(super) async fn refresh(&self, key: JobKey) -> Result<Job, Failure> {
        let _in_flight = self.in_flight();
        let (result, outcome) = self.fetch_job(key).await;
        if !outcome.requested {
            self.order(PollerCommand::Retry);
        }
        self.order(PollerCommand::Outcome(outcome));
        result
    }

    /// Fetches a job that was created elsewhere and tracks it.
    pub(super) async fn track(&self, id: &JobId) -> Result<Job, Failure> {
        let job = self.fetch(id).await?;
        let row = self.store.track(&self.scope, job, local_now()).await.map_err(|error| error.failure())?;
        self.emit(EngineEvent::Job(Box::new(row.clone()))).await;
        self.emit(EngineEvent::Thread(row.key)).await;
        self.order(PollerCommand::Rows { rows: vec![row.clone()], by_others: false });
        Ok(row)
    }

    /// Makes one GET outside the schedule; the poller gets the outcome. The semaphore limits
    /// concurrency for long lists of ids.
    pub(super) async fn fetch(&self, id: &JobId) -> Result<RemoteJob, Failure> {
        // The semaphore is never closed.
        let _permit = self.fetch_slots.acquire().await;
        let _in_flight = self.in_flight();
        let (result, health) = self.get(id).await;
        let outcome = FetchOutcome { key: None, seen: JobCheck::Nothing, health, requested: true };
        self.order(PollerCommand::Outcome(outcome));
        result
    }

    async fn get(&self, id: &JobId) -> (Result<RemoteJob, Failure>, ServiceHealth) {
        let answer = self.client.get_job(id).await;
        match self.record_answer(Operation::Get, id.clean(), answer).await {
            Ok(job) => (Ok(job), ServiceHealth::Good),
            Err(error) => {
                let failure = error.failure(self.clock.now());
                let health = health(&failure);
                (Err(failure), health)
            }
        }
    }

    async fn emit_seen(&self, row: &Job, events: &[JobEvent]) {
        self.emit(EngineEvent::Job(Box::new(row.clone()))).await;
        self.log_transitions(row, events).await;
        if !events.is_empty() {
            self.emit(EngineEvent::Thread(row.key)).await;
            self.run_hook(row).await;
        }
    }

    /// Emits what the answer to a prompt changed. The start of a new job is not a change.
    pub(super) async fn emit_changes(&self, row: &Job, events: &[JobEvent]) {
        let is_start = |event: &JobEvent| match &event.kind {
            EventKind::Status { from: None, to } => !to.is_finished(),
            _ => false,
        };
        let changes: Vec<JobEvent> = events.iter().filter(|event| !is_start(event)).cloned().collect();
        if !changes.is_empty() {
            self.log_transitions(row, &changes).await;
            self.run_hook(row).await;
        }
    }

    async fn log_transitions(&self, row: &Job, events: &[JobEvent]) {
        let subject = row.id.as_ref().map(JobId::clean).unwrap_or_default();
        for event in events {
            self.log(subject.clone(), LogKind::Transition(transition_text(&event.kind))).await;
        }
    }
}

fn unknown_job() -> Failure {
    Failure::local("This job is no longer tracked on this computer.")
}

fn health(failure: &Failure) -> ServiceHealth {
    let sentence = || failure.message.clone();
    match failure.kind {
        FailureKind::Limited(wait) => ServiceHealth::Limited(wait),
        FailureKind::KeyRefused => ServiceHealth::Refused(sentence()),
        FailureKind::NotFound => ServiceHealth::Good,
        FailureKind::Offline => ServiceHealth::Down(sentence()),
        FailureKind::Service | FailureKind::Store | FailureKind::Local => ServiceHealth::Unusable(sentence()),
    }
}

/// The log text of a change.
fn transition_text(kind: &EventKind) -> CleanText {
    let text = match kind {
        EventKind::Status { from: Some(from), to } => format!("{from} → {to}"),
        EventKind::Status { from: None, to } => to.to_string(),
        EventKind::PullRequest(link) => format!("pull request {}", link::display_url(link)),
        EventKind::Gone => "no longer on the service".to_owned(),
        EventKind::Back => "on the service again".to_owned(),
    };
    CleanText::line(&text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::job::Status;

    #[test]
    fn a_transition_reads_as_what_changed() {
        let kind = EventKind::Status { from: Some(Status::Active), to: Status::Completed };
        assert_eq!(transition_text(&kind).as_str(), "active → completed");
        let first = EventKind::Status { from: None, to: Status::parse("odd one") };
        assert_eq!(transition_text(&first).as_str(), "odd one");
    }
}
