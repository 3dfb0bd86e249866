//! Fetches one job: makes the GET, determines from the response whether the service works, and merges the response into
//! the store. Used by the poller, and to refresh, track and link jobs.

use super::Engine;
use super::clock::local_now;
use super::hosts::RefreshCommand;
use super::poller_message::{FetchOutcome, PollerMessage, ServiceHealth};
use super::state::EngineState;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::{Failure, FailureKind};
use crate::model::job::{Job, JobKey};
use crate::model::log::{LogKind, Operation};
use crate::model::prompt::{EventKind, JobEvent};
use crate::model::remote_job::{JobId, RemoteJob};
use crate::store::{JobResponse, StoreError};

impl Engine {
    /// Fetches the job now. A successful request resumes polling if polling had stopped because of a refused key or a
    /// lost connection. Returns the job, marked as gone if the service no longer has it.
    ///
    /// # Errors
    /// The request failed, the response could not be stored, or the job is not tracked or has no id yet.
    pub async fn refresh(&self, job: JobKey) -> Result<Job, Failure> {
        let _in_flight = self.inner.in_flight_guard();
        let (result, outcome) = self.inner.fetch_job(job).await;
        self.inner.send_to_poller(PollerMessage::Outcome(outcome));
        result
    }

    /// Fetches a job that was not created on this computer, and tracks it.
    ///
    /// # Errors
    /// The request failed, the service has no such job, or the store can't write.
    pub async fn track(&self, id: &JobId) -> Result<Job, Failure> {
        let inner = &self.inner;
        let job = inner.fetch_by_id(id).await?;
        let row = inner.store.track(&inner.scope, job, local_now()).await.map_err(|error| error.failure())?;
        inner.emit(EngineEvent::Job(Box::new(row.clone()))).await;
        inner.emit(EngineEvent::Thread(row.key)).await;
        inner.send_to_poller(PollerMessage::JobsChanged { rows: vec![row.clone()], maybe_changed_by_others: false });
        Ok(row)
    }
}

impl EngineState {
    /// Fetches a job, stores the response, and emits what changed. Returns the job for the caller and the
    /// outcome for the poller.
    pub(super) async fn fetch_job(&self, key: JobKey) -> (Result<Job, Failure>, FetchOutcome) {
        let outcome = |health, was_job_requested| FetchOutcome { key: Some(key), health, was_job_requested };
        let store_error_result = |error: &StoreError, was_job_requested| {
            let failure = error.failure();
            (Err(failure.clone()), outcome(ServiceHealth::NotStored(failure), was_job_requested))
        };
        let job = match self.store.job(key).await {
            Ok(Some(row)) => row,
            Ok(None) => return (Err(untracked_job_failure()), outcome(ServiceHealth::NotRequested, false)),
            Err(error) => return store_error_result(&error, false),
        };
        let Some(id) = job.id.clone() else {
            let failure =
                Failure::local("This job has no id yet: the service has not accepted its prompt. Try again later.");
            return (Err(failure), outcome(ServiceHealth::NotRequested, false));
        };
        let (result, health) = self.request_job(&id).await;
        let fetched = match result {
            Ok(job) => JobResponse::Job(job),
            Err(failure) if failure.kind == FailureKind::NotFound => JobResponse::NotFound,
            Err(failure) => return (Err(failure), outcome(health, true)),
        };
        let _hook_guard = self.running_hooks.guard();
        match self.store.apply_job_response(&job, fetched, local_now()).await {
            Ok(applied) => {
                self.emit_fetched_job(&applied.job, &applied.events).await;
                (Ok(applied.job), outcome(health, true))
            }
            Err(error) => store_error_result(&error, true),
        }
    }

    /// Makes one GET outside the polling schedule and passes the outcome to the poller. The semaphore `fetch_slots`
    /// limits how many of these GETs run at the same time, for example if the user tracks many ids at once.
    pub(super) async fn fetch_by_id(&self, id: &JobId) -> Result<RemoteJob, Failure> {
        // The result is never an error, because the semaphore is never closed.
        let _permit = self.fetch_slots.acquire().await;
        let _in_flight = self.in_flight_guard();
        let (result, health) = self.request_job(id).await;
        let outcome = FetchOutcome { key: None, health, was_job_requested: true };
        self.send_to_poller(PollerMessage::Outcome(outcome));
        result
    }

    async fn request_job(&self, id: &JobId) -> (Result<RemoteJob, Failure>, ServiceHealth) {
        let response = self.client.get_job(id).await;
        match self.record_response(Operation::GetJob, id.to_clean_text(), response).await {
            Ok(job) => (Ok(job), ServiceHealth::Good),
            Err(error) => {
                let failure = error.failure(self.clock.now());
                let health = service_health(&failure);
                (Err(failure), health)
            }
        }
    }

    async fn emit_fetched_job(&self, row: &Job, events: &[JobEvent]) {
        self.send_to_poller(PollerMessage::JobsChanged { rows: vec![row.clone()], maybe_changed_by_others: false });
        self.emit(EngineEvent::Job(Box::new(row.clone()))).await;
        self.log_transitions(row, events).await;
        if events.iter().any(|event| matches!(event.kind, EventKind::PullRequest(_))) {
            self.send_to_refresher(RefreshCommand::NewPullRequest);
        }
        if !events.is_empty() {
            self.emit(EngineEvent::Thread(row.key)).await;
            self.queue_hook(row).await;
        }
    }

    /// Logs the changes in the response to a prompt, and queues the `on_change` program for them. The start of a new
    /// job does not count as a change.
    pub(super) async fn log_changes_and_queue_hook(&self, row: &Job, events: &[JobEvent]) {
        let is_start = |event: &JobEvent| match &event.kind {
            EventKind::Status { from: None, to } => !to.is_finished(),
            _ => false,
        };
        let changes: Vec<JobEvent> = events.iter().filter(|event| !is_start(event)).cloned().collect();
        if !changes.is_empty() {
            self.log_transitions(row, &changes).await;
            self.queue_hook(row).await;
        }
    }

    async fn log_transitions(&self, row: &Job, events: &[JobEvent]) {
        for event in events {
            self.log(row.local.title.clone(), LogKind::Transition(event.kind.log_text())).await;
        }
    }
}

fn untracked_job_failure() -> Failure {
    Failure::local("This job is no longer tracked on this computer.")
}

fn service_health(failure: &Failure) -> ServiceHealth {
    let sentence = || failure.message.clone();
    match failure.kind {
        FailureKind::Limited(wait) => ServiceHealth::Limited(wait),
        FailureKind::KeyRefused => ServiceHealth::Refused(sentence()),
        FailureKind::NotFound => ServiceHealth::Good,
        FailureKind::Offline => ServiceHealth::Down(sentence()),
        FailureKind::Service | FailureKind::Store | FailureKind::Local => ServiceHealth::Unusable(sentence()),
    }
}
