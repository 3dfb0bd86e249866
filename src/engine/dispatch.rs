//! The task that sends prompts, in the order and at the rate that the store permits. Each request
//! is made once; only a 429, which guarantees that nothing was done, leads to a retry.

use super::clock::local_now;
use super::fetch::FetchOutcome;
use super::lease::LeaseRole;
use super::poll::{PollerCommand, sleep_until};
use super::state::{EngineState, Recording, lock};
use crate::api::{ApiError, Reached};
use crate::model::Time;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::Failure;
use crate::model::job::{JobId, RemoteJob};
use crate::model::ledger::RateLimited;
use crate::model::log::{LogKind, Operation};
use crate::model::prompt::{Delivery, PromptId, PromptKind};
use crate::model::row::{Job, JobKey};
use crate::model::text::CleanText;
use crate::model::unrecorded::Unrecorded;
use crate::store::{MergeResult, QueuedPrompt, SendOutcome, SendPermit, StoreError};
use chrono::TimeDelta;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;
use tokio::time::Instant;

/// How many prompts are sent at the same time, each for a different job.
const MAX_SENDS: usize = 4;
/// The pause after the store could not be read or written.
const STORE_PAUSE: Duration = Duration::from_secs(5);
/// The pause before an outcome is recorded again; short, because the user waits for it.
const RECORD_PAUSE: Duration = Duration::from_secs(1);

struct Dispatcher {
    inner: Arc<EngineState>,
    sends: JoinSet<PromptId>,
    /// Whether this instance last reported that it sends the queue.
    reported_lead: Option<bool>,
}

/// A prompt that is sent now.
struct OutgoingPrompt {
    prompt: PromptId,
    kind: PromptKind,
    text: String,
    job: JobKey,
    id: Option<JobId>,
}

/// Sends prompts until it is aborted. `trouble` is a problem from the start, when nothing could
/// receive it yet.
pub(super) async fn run_dispatcher(inner: Arc<EngineState>, trouble: Option<Failure>) {
    if let Some(trouble) = trouble {
        inner.trouble(trouble).await;
    }
    if let Err(error) = inner.recover_abandoned_sends().await {
        inner.trouble(error.failure()).await;
    }
    inner.report_budgets().await;
    let mut dispatcher = Dispatcher { inner, sends: JoinSet::new(), reported_lead: None };
    loop {
        let wake = dispatcher.pass().await;
        let Dispatcher { inner, sends, .. } = &mut dispatcher;
        tokio::select! {
            () = inner.dispatch_wake.notified() => {}
            Some(done) = sends.join_next() => match done {
                Ok(prompt) => { lock(&inner.busy).remove(&prompt); }
                // A send that panicked leaves its prompt in `Sending`, its last known state. The other sends can't
                // start twice: the store grants each permit once.
                Err(_) => lock(&inner.busy).clear(),
            },
            () = sleep_until(wake), if wake.is_some() => {}
        }
    }
}

impl Dispatcher {
    /// Starts every send that is allowed now. Returns when to run again without a notification.
    async fn pass(&mut self) -> Option<Instant> {
        let leads = self.inner.leases.holds(LeaseRole::Dispatch);
        if self.reported_lead.replace(leads) != Some(leads) {
            self.inner.emit(EngineEvent::QueueOwnership(leads)).await;
        }
        let own: HashMap<PromptId, JobKey> = lock(&self.inner.own_prompts).clone();
        if !leads && own.is_empty() {
            return None;
        }
        match self.start_sends(leads, &own).await {
            Ok(wake) => wake.map(|until| self.inner.clock.instant_of_service(until)),
            Err(error) => {
                self.inner.trouble(error.failure()).await;
                Instant::now().checked_add(STORE_PAUSE)
            }
        }
    }

    /// Returns the earliest moment, in service time, until which a queued prompt waits.
    async fn start_sends(&mut self, leads: bool, own: &HashMap<PromptId, JobKey>) -> Result<Option<Time>, StoreError> {
        let queued = self.inner.store.queued_for(&self.inner.scope, self.inner.instance.name()).await?;
        let mut wake: Option<Time> = None;
        let mut others_wait = false;
        // Kinds whose limit is reached: later prompts of the kind keep their order without another store
        // query.
        let mut full: Vec<PromptKind> = Vec::new();
        for QueuedPrompt { prompt, kind, not_before: until, .. } in queued {
            let (is_busy, free) = {
                let busy = lock(&self.inner.busy);
                (busy.contains(&prompt), MAX_SENDS.saturating_sub(busy.len()))
            };
            let is_own = own.contains_key(&prompt);
            if is_busy || !(leads || is_own) {
                continue;
            }
            if free == 0 {
                break;
            }
            let now = self.inner.clock.now();
            // The ledger decides; the prompt only repeats the ledger's last answer.
            if until.is_some_and(|until| until > now)
                && let Some(wait) = self.inner.store.budget(&self.inner.scope, limited(kind), now).await?.wait()
                && until == Some(wait.until)
            {
                wake = Some(wake.map_or(wait.until, |wake| wake.min(wait.until)));
                full.push(kind);
                continue;
            }
            // A prompt submitted here is still tried, because its waiter needs to know until when it waits.
            if !is_own && full.contains(&kind) {
                continue;
            }
            match self.inner.store.take_turn(prompt, self.inner.instance.name(), local_now(), now).await? {
                SendPermit::Go { kind, text, job, id } => self.send(OutgoingPrompt { prompt, kind, text, job, id }),
                SendPermit::Wait { until } => {
                    // Never retry at once, whatever the store answers.
                    let until = until.max(now + TimeDelta::seconds(1));
                    wake = Some(wake.map_or(until, |wake| wake.min(until)));
                    full.push(kind);
                    match own.get(&prompt) {
                        Some(job) => self.emit_waiting(prompt, kind, *job, until).await?,
                        None => others_wait = true,
                    }
                }
                SendPermit::Blocked | SendPermit::Taken => {}
            }
        }
        if others_wait {
            self.inner.catch_up().await?;
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
        // Before the step: the budget shows whether the wait is an estimate.
        self.inner.report_budget(limited(kind)).await;
        if let Some(row) = self.inner.store.job(job).await? {
            self.inner.emit_step(prompt, Delivery::Queued { until: Some(until) }, row).await;
        }
        Ok(())
    }

    fn send(&mut self, outgoing: OutgoingPrompt) {
        lock(&self.inner.busy).insert(outgoing.prompt);
        let inner = Arc::clone(&self.inner);
        self.sends.spawn(async move {
            let prompt = outgoing.prompt;
            inner.deliver(outgoing).await;
            prompt
        });
    }
}

impl EngineState {
    /// Makes one request and records its outcome. The permit was taken, so on disk the prompt is in
    /// `Sending`.
    async fn deliver(self: &Arc<Self>, outgoing: OutgoingPrompt) {
        let OutgoingPrompt { prompt, kind, text, job, id } = outgoing;
        let limited = limited(kind);
        let _in_flight = self.in_flight();
        let sending = self.sending();
        if let Ok(Some(row)) = self.store.job(job).await {
            self.emit_step(prompt, Delivery::Sending, row).await;
        }
        self.report_budget(limited).await;
        let how = match (kind, &id) {
            (PromptKind::Create, _) => {
                let answer = self.client.create_job(&text).await;
                // The log contains no text of a prompt, so no title either.
                let subject = answer.result.as_ref().map_or_else(|_| CleanText::line("new job"), |job| job.id.clean());
                let result = self.record_answer(Operation::Create, subject, answer).await;
                self.send_outcome(result)
            }
            (PromptKind::FollowUp, Some(id)) => {
                let answer = self.client.send_follow_up(id, &text).await;
                let result = self.record_answer(Operation::FollowUp, id.clean(), answer).await;
                self.send_outcome(result)
            }
            (PromptKind::FollowUp, None) => {
                SendOutcome::NotSent(CleanText::line("Not sent: the job has no id yet. Send it again later."))
            }
        };
        let applied = self.record_outcome(prompt, kind, id, &how).await;
        let _hook_guard = self.hook_guard();
        drop(sending);
        if let Some(MergeResult { row, events, shares_id_with }) = applied {
            if let Some(other) = shares_id_with {
                self.report_shared_id(&row, &other).await;
            }
            self.emit_outcome(prompt, how, row.clone(), limited).await;
            self.emit_changes(&row, &events).await;
        }
    }

    /// Two prompts became one job: waiters for either must learn that there is no second job.
    async fn report_shared_id(&self, row: &Job, other: &CleanText) {
        let id = row.id.as_ref().map(|id| id.clean()).unwrap_or_default();
        let note = format!("the service returned the id {id} for two new jobs, which are shown as one");
        self.log(id.clone(), LogKind::Note(CleanText::line(&note))).await;
        let notice = format!(
            "The service returned the same id for two new jobs, {id}. They are shown as one job, with both prompts: “{}” \
             and “{other}”.",
            row.title
        );
        self.emit(EngineEvent::Notice(CleanText::line(&notice))).await;
    }

    fn send_outcome(&self, result: Result<RemoteJob, ApiError>) -> SendOutcome {
        let error = match result {
            Ok(job) => return SendOutcome::Accepted(job),
            Err(error) => error,
        };
        let now = self.clock.now();
        if let Some(wait) = error.wait(now) {
            return SendOutcome::Limited { wait, at: now };
        }
        let sentence = error.failure(now).message;
        match error.reached() {
            Reached::No => SendOutcome::NotSent(sentence),
            Reached::Refused => SendOutcome::Rejected(sentence),
            Reached::Maybe => SendOutcome::Unconfirmed(sentence),
        }
    }

    /// Records the outcome, retrying while the disk is full or the file is locked: an outcome that is
    /// not recorded is unconfirmed after a restart. Returns `None` if it can never be recorded.
    async fn record_outcome(
        self: &Arc<Self>,
        prompt: PromptId,
        kind: PromptKind,
        id: Option<JobId>,
        how: &SendOutcome,
    ) -> Option<MergeResult> {
        let mut reported: Option<(Unrecorded, Recording)> = None;
        loop {
            let error = match self.store.finish_send(prompt, how.clone(), local_now()).await {
                Ok(applied) => {
                    if reported.is_some() {
                        self.emit(EngineEvent::Recorded(prompt)).await;
                    }
                    return Some(applied);
                }
                Err(error) => error,
            };
            let (outcome, obstacle) = (delivery_after(how.clone()), error.obstacle());
            let id = match how {
                SendOutcome::Accepted(job) => Some(job.id.clone()),
                _ => id.clone(),
            };
            let now = Unrecorded { prompt, kind, id, outcome, obstacle, is_retried: is_temporary(&error) };
            if reported.as_ref().is_none_or(|(reported, _)| *reported != now) {
                self.emit(EngineEvent::Unrecorded(Box::new(now.clone()))).await;
            }
            if !now.is_retried {
                lock(&self.own_prompts).remove(&prompt);
                return None;
            }
            reported = Some((now, self.recording()));
            tokio::time::sleep(RECORD_PAUSE).await;
        }
    }

    async fn emit_outcome(&self, prompt: PromptId, how: SendOutcome, row: Job, limited: RateLimited) {
        let accepted = matches!(how, SendOutcome::Accepted(_));
        if let SendOutcome::NotSent(reason) = &how {
            self.order(PollerCommand::Outcome(FetchOutcome::unreachable(reason.clone())));
        }
        if !matches!(how, SendOutcome::Limited { .. }) {
            lock(&self.own_prompts).remove(&prompt);
        }
        let delivery = delivery_after(how);
        self.order(PollerCommand::Rows { rows: vec![row.clone()], by_others: false });
        if accepted {
            self.order(PollerCommand::Outcome(FetchOutcome::good()));
        }
        let key = row.key;
        let waits = matches!(delivery, Delivery::Queued { .. });
        if waits {
            // Before the step: the budget shows whether the wait is an estimate.
            self.report_budget(limited).await;
        }
        self.emit_step(prompt, delivery, row).await;
        if accepted && limited == RateLimited::Create {
            self.emit_merged(key).await;
        }
        if !waits {
            self.report_budget(limited).await;
        }
    }
}

fn delivery_after(how: SendOutcome) -> Delivery {
    match how {
        SendOutcome::Accepted(_) => Delivery::Accepted,
        SendOutcome::NotSent(reason) => Delivery::NotSent(reason),
        SendOutcome::Rejected(reason) => Delivery::Rejected(reason),
        SendOutcome::Unconfirmed(reason) => Delivery::Unconfirmed(reason),
        SendOutcome::Limited { wait, .. } => Delivery::Queued { until: Some(wait.until) },
    }
}

/// Whether the same write may succeed later.
fn is_temporary(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::ReadOnly | StoreError::Full | StoreError::WriteRefused | StoreError::Busy | StoreError::Unusable(_)
    )
}

fn limited(kind: PromptKind) -> RateLimited {
    match kind {
        PromptKind::Create => RateLimited::Create,
        PromptKind::FollowUp => RateLimited::FollowUp,
    }
}
