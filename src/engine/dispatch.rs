//! The dispatcher: the task that sends prompts, in the order and at the rate that the store permits. Each prompt is
//! sent only once, unless the service responds with 429, which guarantees that the prompt was not carried out.

use super::clock::{local_now, sleep_until};
use super::lease::LeaseRole;
use super::lock::lock;
use super::poller_message::{FetchOutcome, PollerMessage};
use super::state::{CountedGuard, EngineState};
use super::team::BookingResult;
use crate::api::{ApiError, RequestEffect};
use crate::model::Time;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::Failure;
use crate::model::job::{Job, JobKey};
use crate::model::ledger::{Quota, Wait};
use crate::model::log::{LogKind, Operation};
use crate::model::prompt::{Delivery, PromptId, PromptKind};
use crate::model::remote_job::{JobId, RemoteJob};
use crate::model::text::CleanText;
use crate::model::unrecorded::UnrecordedOutcome;
use crate::store::{JobMergeResult, SendPermit, SendablePrompt, StoreError};
use chrono::TimeDelta;
use futures_util::FutureExt as _;
use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// How many prompts may be sent at the same time, each for a different job.
const MAX_CONCURRENT_SENDS: usize = 4;
/// How long to wait before the next attempt after the store could not be read or written.
const STORE_RETRY_DELAY: Duration = Duration::from_secs(5);
/// How long to wait before the next attempt to record an outcome. Short, because the user waits for the outcome.
const RECORD_OUTCOME_RETRY_DELAY: Duration = Duration::from_secs(1);

struct Dispatcher {
    inner: Arc<EngineState>,
    sends: JoinSet<PromptId>,
    /// The last emitted [`EngineEvent::QueueOwnership`], that is, whether this instance held the dispatch
    /// lease; `None` before the first such event.
    last_emitted_queue_ownership: Option<bool>,
}

/// How a send ended.
struct SendOutcome {
    delivery: Delivery,
    /// The job in the service's response, if it accepted the prompt.
    job: Option<RemoteJob>,
    /// The wait that a 429 demands, and the service time at which the response arrived.
    rate_limit: Option<(Wait, Time)>,
}

/// A prompt that may be sent now, with the data for its request.
struct OutgoingPrompt {
    prompt: PromptId,
    kind: PromptKind,
    text: String,
    job: JobKey,
    /// The service's id of the job; `None` if the job has no id yet.
    id: Option<JobId>,
    booking: BookingResult,
    /// Counts this send until its outcome is recorded.
    sending: CountedGuard,
}

/// Sends prompts until it is aborted. First emits `startup_problem`, which occurred before the engine could emit
/// events.
pub(super) async fn run_dispatcher(inner: Arc<EngineState>, startup_problem: Option<Failure>) {
    if let Some(startup_problem) = startup_problem {
        inner.emit_problem(startup_problem).await;
    }
    if let Err(error) = inner.recover_abandoned_sends().await {
        inner.emit_problem(error.failure()).await;
    }
    inner.emit_budgets().await;
    let mut dispatcher = Dispatcher { inner, sends: JoinSet::new(), last_emitted_queue_ownership: None };
    loop {
        let wake = dispatcher.start_allowed_sends().await;
        let Dispatcher { inner, sends, .. } = &mut dispatcher;
        tokio::select! {
            () = inner.dispatch_wake.notified() => {}
            Some(Ok(prompt)) = sends.join_next() => { lock(&inner.prompts_being_sent).remove(&prompt); }
            () = sleep_until(wake), if wake.is_some() => {}
        }
    }
}

impl Dispatcher {
    /// Starts every send that is allowed now. Returns the time by which this method must be called again; `None` if
    /// another send can be permitted only after `dispatch_wake` was notified or a send has ended.
    async fn start_allowed_sends(&mut self) -> Option<Instant> {
        let has_lease = self.inner.leases.holds(LeaseRole::Dispatch);
        if self.last_emitted_queue_ownership.replace(has_lease) != Some(has_lease) {
            self.inner.emit(EngineEvent::QueueOwnership(has_lease)).await;
        }
        let submitted: HashMap<PromptId, JobKey> = lock(&self.inner.submitted_prompts).clone();
        if !has_lease && submitted.is_empty() {
            return None;
        }
        match self.start_sends(has_lease, &submitted).await {
            Ok(wake) => wake.map(|until| self.inner.clock.service_to_instant(until)),
            Err(error) => {
                self.inner.emit_problem(error.failure()).await;
                Instant::now().checked_add(STORE_RETRY_DELAY)
            }
        }
    }

    /// Starts to send the prompts for which the store permits it, up to [`MAX_CONCURRENT_SENDS`] at the same time.
    /// Without the dispatch lease, sends only prompts in `submitted`. Returns the service time at which the first
    /// waiting prompt may be sent; `None` if no prompt waits for a limit.
    async fn start_sends(
        &mut self,
        has_lease: bool,
        submitted: &HashMap<PromptId, JobKey>,
    ) -> Result<Option<Time>, StoreError> {
        let queued = self.inner.store.sendable_prompts_for(&self.inner.scope, self.inner.instance.name()).await?;
        let mut wake: Option<Time> = None;
        let mut are_others_waiting = false;
        // The kinds of prompt whose hourly limit is reached. Later prompts of such a kind have to wait too, so
        // the store is not asked about them.
        let mut used_up_kinds: Vec<PromptKind> = Vec::new();
        for SendablePrompt { prompt, kind, not_before: until, .. } in queued {
            let (is_busy, free_slots) = {
                let busy = lock(&self.inner.prompts_being_sent);
                (busy.contains(&prompt), MAX_CONCURRENT_SENDS.saturating_sub(busy.len()))
            };
            let is_submitted_here = submitted.contains_key(&prompt);
            if is_busy || !(has_lease || is_submitted_here) {
                continue;
            }
            if free_slots == 0 {
                break;
            }
            let now = self.inner.clock.now();
            // If the limit was reached when docdeck last tried to send this prompt, `until` is the end of the wait.
            // Skip the prompt if this end is in the future and the ledger still returns the same end.
            if until.is_some_and(|until| until > now)
                && let Some(wait) = self.inner.store.budget(&self.inner.scope, kind.quota(), now).await?.wait()
                && until == Some(wait.until)
            {
                wake = Some(wake.map_or(wait.until, |wake| wake.min(wait.until)));
                used_up_kinds.push(kind);
                continue;
            }
            // If the limit is reached, skip the prompts of other instances. A prompt of this instance is still tried,
            // because the code that waits for its outcome must learn when the prompt may be sent.
            if !is_submitted_here && used_up_kinds.contains(&kind) {
                continue;
            }
            let Some(sending) = self.inner.begin_send() else { break };
            // The lease may have been released since the queue was read.
            if !is_submitted_here && !self.inner.leases.holds(LeaseRole::Dispatch) {
                continue;
            }
            let booking = self.inner.book_request(kind.quota()).await;
            let now = self.inner.clock.now();
            let (permission, instance) = (booking.permission.clone(), self.inner.instance.name());
            let permit = self
                .inner
                .store
                .request_permit_with_team_permission(prompt, instance, local_now(), now, permission)
                .await;
            if !matches!(permit, Ok(SendPermit::Granted { .. })) {
                self.inner.cancel_booking(&booking).await;
            }
            match permit? {
                SendPermit::Granted { kind, text, job, id } => {
                    self.spawn_send(OutgoingPrompt { prompt, kind, text, job, id, booking, sending });
                }
                SendPermit::Wait { until } => {
                    // Wait at least a second, even if the store returns an earlier time.
                    let until = until.max(now + TimeDelta::seconds(1));
                    wake = Some(wake.map_or(until, |wake| wake.min(until)));
                    used_up_kinds.push(kind);
                    match submitted.get(&prompt) {
                        Some(job) => self.emit_waiting(prompt, kind, *job, until).await?,
                        None => are_others_waiting = true,
                    }
                }
                SendPermit::Blocked | SendPermit::NotQueued => {}
            }
        }
        if are_others_waiting {
            self.inner.emit_changed_jobs().await?;
        }
        Ok(wake)
    }

    async fn emit_waiting(
        &self,
        prompt: PromptId,
        kind: PromptKind,
        job: JobKey,
        until: Time,
    ) -> Result<(), StoreError> {
        // Emit the budget before the delivery state, because the budget shows whether the wait is an estimate.
        self.inner.emit_budget(kind.quota()).await;
        if let Some(row) = self.inner.store.job(job).await? {
            self.inner.emit_delivery(prompt, Delivery::Queued { until: Some(until) }, row).await;
        }
        Ok(())
    }

    fn spawn_send(&mut self, outgoing: OutgoingPrompt) {
        lock(&self.inner.prompts_being_sent).insert(outgoing.prompt);
        let inner = Arc::clone(&self.inner);
        self.sends.spawn(run_send(outgoing.prompt, async move { inner.deliver(outgoing).await }));
    }
}

/// Runs `send`, and returns the prompt even if sending panics, so that the caller can remove the prompt from
/// `prompts_being_sent`. After a panic, the prompt stays `Sending` in the store, because the service may have received
/// it.
async fn run_send(prompt: PromptId, send: impl Future<Output = ()>) -> PromptId {
    // The error is ignored: the panic hook has already reported it.
    let _ = AssertUnwindSafe(send).catch_unwind().await;
    prompt
}

impl EngineState {
    /// Sends a prompt with one request and records its outcome. Before this call, the store has permitted the send and
    /// recorded the prompt as `Sending`.
    async fn deliver(self: &Arc<Self>, outgoing: OutgoingPrompt) {
        let OutgoingPrompt { prompt, kind, text, job, id, booking, sending } = outgoing;
        let quota = kind.quota();
        let _in_flight = self.in_flight_guard();
        if let Ok(Some(row)) = self.store.job(job).await {
            self.emit_delivery(prompt, Delivery::Sending, row).await;
        }
        self.emit_budget(quota).await;
        let outcome = match (kind, &id) {
            _ if booking.is_expired() => {
                let reason = CleanText::line("Not sent: docdeck was interrupted before the request. Send it again.");
                SendOutcome { delivery: Delivery::NotSent(reason), job: None, rate_limit: None }
            }
            (PromptKind::Create, _) => {
                let response = self.client.create_job(&text).await;
                // The log entry names the new job by its id, as the entries of other requests do. A failed request
                // gives no id.
                let subject =
                    response.result.as_ref().map_or_else(|_| CleanText::line("new job"), |job| job.id.to_clean_text());
                let result = self.record_response(Operation::Create, subject, response).await;
                self.classify_send_result(result)
            }
            (PromptKind::FollowUp, Some(id)) => {
                let response = self.client.send_follow_up(id, &text).await;
                let result = self.record_response(Operation::FollowUp, id.to_clean_text(), response).await;
                self.classify_send_result(result)
            }
            (PromptKind::FollowUp, None) => {
                let reason = CleanText::line("Not sent: the job has no id yet. Send it again later.");
                SendOutcome { delivery: Delivery::NotSent(reason), job: None, rate_limit: None }
            }
        };
        let applied = self.record_outcome(prompt, kind, id, &outcome).await;
        let rate_limit = outcome.rate_limit;
        let is_request_unused = matches!(outcome.delivery, Delivery::NotSent(_));
        let _hook_guard = self.running_hooks.guard();
        drop(sending);
        if let Some(JobMergeResult { job: row, events, title_of_job_with_same_id }) = applied {
            if let Some(other) = title_of_job_with_same_id {
                self.emit_shared_id_notice(&row, &other).await;
            }
            self.emit_outcome(prompt, outcome.delivery, row.clone(), quota).await;
            self.log_changes_and_queue_hook(&row, &events).await;
        }
        if let Some((wait, _)) = rate_limit {
            self.share_wait_with_team(quota, wait).await;
        }
        if is_request_unused {
            self.cancel_booking(&booking).await;
        }
    }

    /// Emits a notice that the service returned the same id for two new jobs, which are now shown as one job. `other`
    /// is the title of the other job.
    async fn emit_shared_id_notice(&self, row: &Job, other: &CleanText) {
        let id = row.id.as_ref().map(|id| id.to_clean_text()).unwrap_or_default();
        let note = format!("the service returned the id {id} for two new jobs, which are shown as one");
        self.log(id.clone(), LogKind::Note(CleanText::line(&note))).await;
        let notice = format!(
            "The service returned the same id for two new jobs, {id}. They are shown as one job, with both prompts: “{}” \
             and “{other}”.",
            row.local.title
        );
        self.emit(EngineEvent::Notice(CleanText::line(&notice))).await;
    }

    fn classify_send_result(&self, result: Result<RemoteJob, ApiError>) -> SendOutcome {
        let error = match result {
            Ok(job) => return SendOutcome { delivery: Delivery::Accepted, job: Some(job), rate_limit: None },
            Err(error) => error,
        };
        let now = self.clock.now();
        let wait = error.wait(now);
        let sentence = error.failure(now).message;
        let delivery = match (wait, error.request_effect()) {
            (Some(wait), _) => Delivery::Queued { until: Some(wait.until) },
            (None, RequestEffect::NotReached) => Delivery::NotSent(sentence),
            (None, RequestEffect::Refused) => Delivery::Rejected(sentence),
            (None, RequestEffect::Unknown) => Delivery::Unconfirmed(sentence),
        };
        SendOutcome { delivery, job: None, rate_limit: wait.map(|wait| (wait, now)) }
    }

    /// Records the outcome of a send. Retries as long as the error is temporary, such as a full disk, because a prompt
    /// without a recorded outcome becomes `Unconfirmed` after a restart. Returns `None` after an error that is not
    /// temporary.
    async fn record_outcome(
        self: &Arc<Self>,
        prompt: PromptId,
        kind: PromptKind,
        id: Option<JobId>,
        SendOutcome { delivery, job, rate_limit }: &SendOutcome,
    ) -> Option<JobMergeResult> {
        let mut reported: Option<(UnrecordedOutcome, CountedGuard)> = None;
        loop {
            let recorded = match job {
                Some(job) => self.store.record_accepted_send(prompt, job.clone(), local_now()).await,
                None => self.store.record_unaccepted_send(prompt, delivery.clone(), *rate_limit, local_now()).await,
            };
            let error = match recorded {
                Ok(applied) => {
                    if reported.is_some() {
                        self.emit(EngineEvent::Recorded(prompt)).await;
                    }
                    return Some(applied);
                }
                Err(error) => error,
            };
            let (outcome, problem) = (delivery.clone(), error.write_problem());
            let id = job.as_ref().map(|job| job.id.clone()).or_else(|| id.clone());
            let unrecorded = UnrecordedOutcome { prompt, kind, id, outcome, problem, is_retried: is_temporary(&error) };
            if reported.as_ref().is_none_or(|(reported, _)| *reported != unrecorded) {
                self.emit(EngineEvent::Unrecorded(Box::new(unrecorded.clone()))).await;
            }
            if !unrecorded.is_retried {
                lock(&self.submitted_prompts).remove(&prompt);
                return None;
            }
            reported = Some((unrecorded, self.unrecorded_outcomes.guard()));
            tokio::time::sleep(RECORD_OUTCOME_RETRY_DELAY).await;
        }
    }

    async fn emit_outcome(&self, prompt: PromptId, delivery: Delivery, row: Job, quota: Quota) {
        let accepted = delivery == Delivery::Accepted;
        let waits = matches!(delivery, Delivery::Queued { .. });
        if let Delivery::NotSent(reason) = &delivery {
            self.send_to_poller(PollerMessage::Outcome(FetchOutcome::service_unreachable(reason.clone())));
        }
        if !waits {
            lock(&self.submitted_prompts).remove(&prompt);
        }
        self.send_to_poller(PollerMessage::JobsChanged { rows: vec![row.clone()], maybe_changed_by_others: false });
        if accepted {
            self.send_to_poller(PollerMessage::Outcome(FetchOutcome::service_responded()));
        }
        let key = row.key;
        if waits {
            // Emit the budget before the delivery state, because the budget shows whether the wait is an estimate.
            self.emit_budget(quota).await;
        }
        self.emit_delivery(prompt, delivery, row).await;
        if accepted && quota == Quota::Create {
            self.emit_merged_jobs(key).await;
        }
        if !waits {
            self.emit_budget(quota).await;
        }
    }
}

/// Whether a write that failed with this error may succeed later.
fn is_temporary(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::ReadOnly
            | StoreError::DiskFull
            | StoreError::WriteRefused
            | StoreError::Busy
            | StoreError::Unusable(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_send_that_panics_is_no_longer_counted_but_the_others_still_are() {
        let mut sends = JoinSet::new();
        sends.spawn(run_send(PromptId(1), std::future::pending()));
        sends.spawn(run_send(PromptId(2), async { panic!("a bug") }));
        assert_eq!(sends.join_next().await.map(Result::ok), Some(Some(PromptId(2))));
        assert_eq!(sends.len(), 1);
    }
}
