//! One look at one job: a GET, what it means for the connection, and its merge into the record. When to look is the
//! poller's business; this is what it, a refresh, tracking and linking have in common.

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

/// What a request said about the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ServiceHealth {
    /// The service answered as it should.
    Good,
    /// It answered something that says nothing about other requests: unreadable, or a 4xx of this request alone.
    Odd(CleanText),
    /// No network, or the service is unwell.
    Down(CleanText),
    /// 429; in the service's time.
    Limited(Wait),
    /// 401 or 403.
    Refused(CleanText),
    /// The store could not take the answer in.
    Unwritten(Failure),
}

/// What became of the job.
#[derive(Debug)]
pub(super) enum JobCheck {
    Row(Box<Job>),
    /// No news of it.
    Nothing,
    /// The record has no such job any more (joined with another).
    Vanished,
}

/// The outcome of a look, for the poller.
#[derive(Debug)]
pub(super) struct FetchOutcome {
    pub(super) key: Option<JobKey>,
    pub(super) seen: JobCheck,
    pub(super) health: ServiceHealth,
    /// Whether a request was made, that counts.
    pub(super) asked: bool,
}

impl FetchOutcome {
    /// A request that has nothing to do with polling went well.
    pub(super) fn well() -> Self {
        Self { key: None, seen: JobCheck::Nothing, health: ServiceHealth::Good, asked: false }
    }

    /// A request that has nothing to do with polling got an answer of no use.
    pub(super) fn odd(reason: CleanText) -> Self {
        Self { health: ServiceHealth::Odd(reason), ..Self::well() }
    }

    /// A request that has nothing to do with polling did not reach the service.
    pub(super) fn unreachable(reason: CleanText) -> Self {
        Self { health: ServiceHealth::Down(reason), ..Self::well() }
    }
}

impl EngineState {
    /// Looks at a job and tells what changed.
    pub(super) async fn fetch_job(&self, key: JobKey) -> (Result<Job, Failure>, FetchOutcome) {
        let heard = |seen, health, asked| FetchOutcome { key: Some(key), seen, health, asked };
        let unwritten = |error: &StoreError, asked| {
            let failure = error.failure();
            (Err(failure.clone()), heard(JobCheck::Nothing, ServiceHealth::Unwritten(failure), asked))
        };
        let before = match self.store.job(key).await {
            Ok(Some(row)) => row,
            Ok(None) => return (Err(unknown_job()), heard(JobCheck::Vanished, ServiceHealth::Good, false)),
            Err(error) => return unwritten(&error, false),
        };
        let Some(id) = before.id.clone() else {
            let failure = Failure::new(
                FailureKind::Local,
                "This job has no id yet: the service has not answered to its prompt, so there is nothing to ask it for.",
            );
            return (Err(failure), heard(JobCheck::Vanished, ServiceHealth::Good, false));
        };
        let (result, health) = self.get(&id).await;
        let fetched = match result {
            Ok(job) => Fetched::Job(job),
            Err(failure) if failure.kind == FailureKind::NotFound => Fetched::NotFound,
            Err(failure) => return (Err(failure), heard(JobCheck::Nothing, health, true)),
        };
        // A prompt that was accepted while the request was under way makes its answer older than the record: a
        // `completed` from before would end the polling of a job that has just been set to work again.
        match self.store.job(key).await {
            Ok(Some(row)) if row.last_accepted_at() != before.last_accepted_at() || row.id != before.id => {
                return (Ok(row.clone()), heard(JobCheck::Row(Box::new(row)), health, true));
            }
            Ok(_) => {}
            Err(error) => return unwritten(&error, true),
        }
        let _telling = self.hook_guard();
        match self.store.apply_fetched(key, fetched, local_now()).await {
            Ok(applied) => {
                self.emit_seen(&applied.row, &applied.events).await;
                (Ok(applied.row.clone()), heard(JobCheck::Row(Box::new(applied.row)), health, true))
            }
            Err(error) => unwritten(&error, true),
        }
    }

    /// A look that the user asked for; the poller hears of it.
    pub(super) async fn refresh(&self, key: JobKey) -> Result<Job, Failure> {
        let _in_flight = self.in_flight();
        let (result, heard) = self.fetch_job(key).await;
        if !heard.asked {
            self.order(PollerCommand::Retry);
        }
        self.order(PollerCommand::Heard(heard));
        result
    }

    /// Fetches a job made elsewhere and follows it from then on.
    pub(super) async fn track(&self, id: &JobId) -> Result<Job, Failure> {
        let job = self.fetch(id).await?;
        let row = self.store.track(&self.scope, job, local_now()).await.map_err(|error| error.failure())?;
        self.emit(EngineEvent::Job(Box::new(row.clone()))).await;
        self.emit(EngineEvent::Thread(row.key)).await;
        self.order(PollerCommand::Rows { rows: vec![row.clone()], by_others: false });
        Ok(row)
    }

    /// One GET outside the schedule; the poller hears how it went. Of a long list of ids not all are asked for at once.
    pub(super) async fn fetch(&self, id: &JobId) -> Result<RemoteJob, Failure> {
        // Never closed.
        let _place = self.asking.acquire().await;
        let _in_flight = self.in_flight();
        let (result, health) = self.get(id).await;
        self.order(PollerCommand::Heard(FetchOutcome { key: None, seen: JobCheck::Nothing, health, asked: true }));
        result
    }

    async fn get(&self, id: &JobId) -> (Result<RemoteJob, Failure>, ServiceHealth) {
        let answer = self.client.get_job(id).await;
        match self.account(Operation::Get, id.clean(), answer).await {
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

    /// What the answer to a prompt changed. That a new job is at work is no change of it.
    pub(super) async fn emit_changes(&self, row: &Job, events: &[JobEvent]) {
        let begins = |event: &JobEvent| match &event.kind {
            EventKind::Status { from: None, to } => !to.is_finished(),
            _ => false,
        };
        let changes: Vec<JobEvent> = events.iter().filter(|event| !begins(event)).cloned().collect();
        if !changes.is_empty() {
            self.log_transitions(row, &changes).await;
            self.run_hook(row).await;
        }
    }

    async fn log_transitions(&self, row: &Job, events: &[JobEvent]) {
        let subject = row.id.as_ref().map(JobId::clean).unwrap_or_default();
        for event in events {
            self.log(subject.clone(), LogKind::Transition(transition(&event.kind))).await;
        }
    }
}

fn unknown_job() -> Failure {
    Failure::new(FailureKind::Local, "This job is no longer in the list on this computer; look at the list again.")
}

fn health(failure: &Failure) -> ServiceHealth {
    let sentence = || failure.sentence.clone();
    match failure.kind {
        FailureKind::Limited(wait) => ServiceHealth::Limited(wait),
        FailureKind::KeyRefused => ServiceHealth::Refused(sentence()),
        FailureKind::NotFound => ServiceHealth::Good,
        FailureKind::Offline => ServiceHealth::Down(sentence()),
        FailureKind::Service | FailureKind::Store | FailureKind::Local => ServiceHealth::Odd(sentence()),
    }
}

/// A change as the log says it.
fn transition(kind: &EventKind) -> CleanText {
    let text = match kind {
        EventKind::Status { from: Some(from), to } => format!("{from} → {to}"),
        EventKind::Status { from: None, to } => to.to_string(),
        EventKind::PullRequest(link) => format!("pull request {}", link::shown(link)),
        EventKind::Gone => "the service no longer knows it".to_owned(),
        EventKind::Back => "the service knows it again".to_owned(),
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
        assert_eq!(transition(&kind).as_str(), "active → completed");
        let first = EventKind::Status { from: None, to: Status::parse("odd one") };
        assert_eq!(transition(&first).as_str(), "odd one");
    }
}
