//! Waits until one saved prompt is sent and has a response, and prints the result. A prompt that can't be sent now is
//! paused, so that it is not sent later unless the user resumes it.

use super::error::CliError;
use super::exit_code::Code;
use super::job_format::{id_text, write_job_table};
use super::out::Out;
use super::session::{STILL_RECORDING, Session, WaitEnd};
use super::waiting::{JobWait, Timer, connection_problem, limit_end_text, log_progress, wait_command};
use crate::engine::LeaseRoles;
use crate::model::Time;
use crate::model::connection::ConnectionState;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::FailureKind;
use crate::model::job::Job;
use crate::model::json;
use crate::model::ledger::Wait;
use crate::model::prompt::{Delivery, Prompt, PromptId, PromptKind};
use crate::model::text::CleanText;
use crate::model::unrecorded::UnrecordedOutcome;
use crate::store::StoreError;
use chrono::Utc;
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;

/// How long to wait, after a signal, for the response to a prompt that is being sent.
const RESPONSE_TIMEOUT_AFTER_SIGNAL: Duration = Duration::from_secs(5);
/// The maximum time to wait until a queued prompt is sent if `--wait` is not used.
const QUEUE_TIMEOUT: Duration = Duration::from_secs(15);
/// How long to wait if the store can't be written. The engine retries within this time.
const STORE_RETRY_TIMEOUT: Duration = Duration::from_secs(6);

/// A prompt that was submitted to the engine.
#[derive(Debug)]
pub(super) struct SubmittedPrompt {
    pub(super) prompt: PromptId,
    pub(super) kind: PromptKind,
    pub(super) job: Job,
    delivery: Delivery,
    /// Whether the end of the hourly limit is only docdeck's estimate.
    is_limit_end_estimated: bool,
    /// The store error that prevents sending.
    store_error: Option<CleanText>,
    /// The prompts that this prompt replaces: earlier prompts of the same job, in the state that they had before they
    /// were discarded.
    discarded: Vec<Prompt>,
}

/// How long to wait for a prompt, and how to print the result.
#[derive(Debug, Clone, Copy)]
pub(super) struct SendOptions {
    /// Whether to wait until the hourly limit allows sending, and then until the job is finished.
    pub(super) should_wait: bool,
    pub(super) timer: Timer,
    pub(super) as_json: bool,
}

impl SendOptions {
    /// Returns the leases that the command needs: to wait for the job, it must poll.
    pub(super) fn required_leases(self) -> LeaseRoles {
        if self.should_wait { LeaseRoles::Poll } else { LeaseRoles::None }
    }
}

/// Why the wait for a prompt's outcome ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SendWaitEnd {
    /// The outcome of the prompt is known, although perhaps not recorded.
    Finished,
    /// The hourly limit is reached, and the options don't ask to wait until it ends.
    Limited,
    TimedOut,
    Interrupted,
}

impl SubmittedPrompt {
    pub(super) fn new(prompt: PromptId, kind: PromptKind, job: Job) -> Self {
        let delivery = Delivery::Queued { until: None };
        Self { prompt, kind, job, delivery, is_limit_end_estimated: false, store_error: None, discarded: Vec::new() }
    }

    /// Sets the earlier prompts that this prompt replaces.
    pub(super) fn with_discarded(self, discarded: Vec<Prompt>) -> Self {
        Self { discarded, ..self }
    }

    /// Waits for the outcome of the prompt and, if the options ask for it, for the end of the job. Prints the result.
    ///
    /// # Errors
    /// Fails if the prompt was not accepted or is unconfirmed, the wait ended early, or the store can't be read.
    pub(super) async fn wait_and_print_result(
        mut self,
        session: &mut Session,
        options: SendOptions,
        out: &mut Out,
    ) -> Result<Code, CliError> {
        let mut previous_end = None;
        let result = loop {
            let wait_end = self.wait_for_outcome(session, options, previous_end, out).await;
            if !matches!(self.delivery, Delivery::Queued { .. }) {
                break self.check_outcome(session, wait_end, options, out);
            }
            if let Some(error) = self.pause_and_get_error(session, wait_end, options.timer).await {
                break Err(error);
            }
            // The prompt is no longer queued, so it could not be paused. For example, this or another docdeck has
            // already started to send it.
            self.reload(session).await?;
            previous_end = Some(wait_end);
        };
        if let Err(error) = result {
            return Err(if options.as_json { error.with_json_fields(self.as_json(session).await?) } else { error });
        }
        if !options.should_wait {
            self.write(session, options.as_json, out).await?;
            return Ok(Code::Done);
        }
        let mut waiting = JobWait::new(vec![self.job.clone()], options.timer);
        let end = waiting.wait(session, out).await?;
        let code = waiting.code();
        let error = waiting.error(end, &wait_command(&waiting.jobs));
        self.job = waiting.jobs.into_iter().next().unwrap_or(self.job);
        match error {
            Some(error) if options.as_json => Err(error.with_json_fields(self.as_json(session).await?)),
            error => {
                self.write(session, options.as_json, out).await?;
                error.map_or(Ok(code), Err)
            }
        }
    }

    /// Waits for the outcome of the prompt. `previous_end` is the reason why the previous wait for it ended, or `None`
    /// the first time.
    async fn wait_for_outcome(
        &mut self,
        session: &mut Session,
        options: SendOptions,
        previous_end: Option<SendWaitEnd>,
        out: &mut Out,
    ) -> SendWaitEnd {
        let soon = |pause| Some(Instant::now() + pause);
        let mut end = match previous_end {
            Some(SendWaitEnd::Interrupted) => soon(RESPONSE_TIMEOUT_AFTER_SIGNAL),
            Some(_) => None,
            None if options.should_wait => options.timer.end(),
            None => soon(QUEUE_TIMEOUT).min(options.timer.end().or(soon(QUEUE_TIMEOUT))),
        };
        let mut wait_end = previous_end.unwrap_or(SendWaitEnd::TimedOut);
        if !matches!(self.delivery, Delivery::Queued { .. } | Delivery::Sending) {
            return wait_end;
        }
        loop {
            let words = if session.unrecorded.get(self.prompt).is_some() {
                "trying to record the outcome".to_owned()
            } else {
                self.state_text()
            };
            out.show_live_line(&format!("{words} · {}", options.timer.elapsed_text()));
            match session.next_event_or_tick(end).await {
                // A second signal ends the wait for the response.
                WaitEnd::Interrupted if wait_end == SendWaitEnd::Interrupted => return wait_end,
                // If the outcome is known but not recorded, any signal except Ctrl-C ends the wait at once: such a
                // signal comes from another program, which can't follow the hint to press Ctrl-C again.
                WaitEnd::Interrupted
                    if session.unrecorded.get(self.prompt).is_some() && !session.was_last_signal_ctrl_c() =>
                {
                    return SendWaitEnd::Interrupted;
                }
                WaitEnd::Interrupted if session.unrecorded.get(self.prompt).is_some() => {
                    wait_end = SendWaitEnd::Interrupted;
                    out.note(STILL_RECORDING);
                }
                WaitEnd::Interrupted => {
                    wait_end = SendWaitEnd::Interrupted;
                    if !self.is_being_sent() {
                        return wait_end;
                    }
                    out.note(
                        "The prompt is being sent; waiting a few seconds for the answer. Ctrl-C leaves it unconfirmed.",
                    );
                    end = soon(RESPONSE_TIMEOUT_AFTER_SIGNAL);
                }
                // The time is up. If the prompt is being sent, docdeck still waits for the response, because the
                // request has its own timeout.
                WaitEnd::TimedOut if end.is_some_and(|end| end <= Instant::now()) => {
                    let has_response = session.unrecorded.get(self.prompt).is_some();
                    if wait_end == SendWaitEnd::Interrupted || has_response || !self.is_being_sent() {
                        return wait_end;
                    }
                    end = None;
                }
                WaitEnd::TimedOut => {}
                WaitEnd::Event(event) => {
                    // The outcome is known but not recorded yet. Only the user's timeout limits how long docdeck tries
                    // to record it.
                    if matches!(&*event, EngineEvent::Unrecorded(_)) && wait_end != SendWaitEnd::Interrupted {
                        end = options.timer.end();
                    }
                    if let Some(end) = self.handle_event(*event, options.should_wait, out) {
                        return if wait_end == SendWaitEnd::Interrupted { wait_end } else { end };
                    }
                    if self.store_error.is_some() && !options.should_wait && end > soon(STORE_RETRY_TIMEOUT) {
                        end = soon(STORE_RETRY_TIMEOUT);
                    }
                }
            }
        }
    }

    /// Handles an event. Returns why the wait ends, or `None` if it continues.
    fn handle_event(&mut self, event: EngineEvent, wait_for_limit: bool, out: &mut Out) -> Option<SendWaitEnd> {
        match event {
            EngineEvent::Prompt { prompt, delivery, job } if prompt == self.prompt => {
                self.job = *job;
                if self.delivery == delivery {
                    return None;
                }
                self.delivery = delivery;
                self.store_error = None;
            }
            EngineEvent::Budget(limited, budget) if limited == self.kind.quota() => {
                self.is_limit_end_estimated = budget.wait().is_some_and(|wait| wait.is_estimate);
                return None;
            }
            EngineEvent::Merged { gone, into } if gone == self.job.key => {
                self.job.key = into;
                return None;
            }
            EngineEvent::ConnectionState(connection @ ConnectionState::Offline { .. }) => {
                if let Some(words) = connection_problem(&connection) {
                    log_progress(words.as_str(), out);
                }
                return None;
            }
            EngineEvent::InternalFailure(failure) => {
                log_progress(failure.message.as_str(), out);
                if failure.kind == FailureKind::Store && matches!(self.delivery, Delivery::Queued { .. }) {
                    self.store_error = Some(failure.message);
                }
                return None;
            }
            EngineEvent::Unrecorded(unrecorded) if unrecorded.prompt == self.prompt => {
                out.note(unrecorded.sentence().as_str());
                return (!unrecorded.is_retried).then_some(SendWaitEnd::Finished);
            }
            EngineEvent::Recorded(prompt) if prompt == self.prompt => {
                log_progress("the outcome is recorded now", out);
                return None;
            }
            EngineEvent::Notice(text) => {
                out.note(text.as_str());
                return None;
            }
            _ => return None,
        }
        match &self.delivery {
            Delivery::Queued { until: None } | Delivery::Sending => None,
            Delivery::Queued { until: Some(until) } if wait_for_limit => {
                log_progress(&format!("hourly limit reached; sending {}", self.format_limit_end(*until)), out);
                None
            }
            Delivery::Queued { .. } => Some(SendWaitEnd::Limited),
            _ => Some(SendWaitEnd::Finished),
        }
    }

    /// Checks that the prompt was accepted and the wait was not interrupted. Otherwise returns an error that explains
    /// what happened and what to do.
    fn check_outcome(
        &self,
        session: &Session,
        wait_end: SendWaitEnd,
        options: SendOptions,
        out: &mut Out,
    ) -> Result<(), CliError> {
        if let Some(unrecorded) = session.unrecorded.get(self.prompt) {
            return Err(unrecorded_error(unrecorded, session));
        }
        let what = self.kind_noun();
        let reason = self.delivery.reason().cloned().unwrap_or_default();
        let error = match (&self.delivery, wait_end) {
            (Delivery::Accepted, SendWaitEnd::Interrupted) => {
                let accepted =
                    format!("Interrupted. The {what} was accepted, and job {} keeps running.", id_text(&self.job));
                return Err(CliError::new(Code::Interrupted, accepted));
            }
            (Delivery::Accepted, _) => {
                if options.should_wait || out.stdout_is_terminal() {
                    log_progress(&format!("accepted: {} (job {})", self.job.local.title, id_text(&self.job)), out);
                }
                return Ok(());
            }
            (Delivery::Sending, _) => CliError::new(Code::Interrupted, self.interrupted_message()),
            (Delivery::Unconfirmed(_), _) => {
                CliError::new(Code::Unconfirmed, format!("{reason} {}", self.unconfirmed_advice()))
            }
            (Delivery::NotSent(_), _) => CliError::new(
                Code::Service,
                format!("{reason} The {what} is saved as not sent: press `!` on it in the dashboard to send it again."),
            ),
            (Delivery::Rejected(_), _) => {
                let code = if session.was_key_refused() { Code::KeyRefused } else { Code::Service };
                let hint =
                    format!("The {what} is saved as rejected: press `!` on it in the dashboard to edit or discard it.");
                CliError::new(code, format!("{reason} {hint}"))
            }
            (Delivery::Paused | Delivery::Discarded { .. } | Delivery::Queued { .. }, _) => {
                let text = format!("The {what} was {} by another docdeck before it was sent.", self.state_text());
                let is_paused = self.delivery == Delivery::Paused;
                let hint = if is_paused { " Press `p` on it in the dashboard to resume it." } else { "" };
                CliError::new(Code::Limited, format!("{text}{hint}"))
            }
        };
        Err(error)
    }

    /// Reads the state of the prompt and of its job from the store.
    async fn reload(&mut self, session: &Session) -> Result<(), StoreError> {
        let thread = session.store.thread(self.job.key).await?;
        if let Some(prompt) = thread.prompts.into_iter().find(|prompt| prompt.id == self.prompt) {
            self.delivery = match prompt.delivery {
                Delivery::Queued { until } => {
                    Delivery::Queued { until: until.map(|until| session.engine.to_local_time(until)) }
                }
                other => other,
            };
        }
        if let Some(job) = session.store.job(self.job.key).await? {
            self.job = job;
        }
        Ok(())
    }

    /// Pauses the prompt in the queue. Returns the error with which the command ends, or `None` if the prompt is no
    /// longer queued.
    async fn pause_and_get_error(
        &mut self,
        session: &mut Session,
        wait_end: SendWaitEnd,
        timer: Timer,
    ) -> Option<CliError> {
        let engine = session.engine.clone();
        let paused = session.run_uninterrupted(engine.pause(self.prompt)).await;
        let (what, limit) = (
            self.kind_noun(),
            match &self.delivery {
                Delivery::Queued { until: Some(until) } => {
                    format!("Hourly limit reached; the next request is possible {}.", self.format_limit_end(*until))
                }
                _ if self.store_error.is_some() => {
                    format!(
                        "The {} could not be sent, because the send could not be recorded on disk first.",
                        self.kind_noun()
                    )
                }
                _ => format!("The {} was still waiting to be sent.", self.kind_noun()),
            },
        );
        let (code, begin) = match wait_end {
            SendWaitEnd::Interrupted => (Code::Interrupted, "Interrupted. "),
            SendWaitEnd::TimedOut if timer.has_expired() => (Code::TimedOut, "Timed out. "),
            SendWaitEnd::TimedOut if self.store_error.is_some() => (Code::Unusable, ""),
            SendWaitEnd::TimedOut | SendWaitEnd::Limited | SendWaitEnd::Finished => (Code::Limited, ""),
        };
        let kept = match paused {
            Ok(Some(job)) => {
                self.job = job;
                format!(
                    "Nothing was sent. The {what} is paused in the queue: in the dashboard, press `p` on it to resume \
                     it or `x` to remove it."
                )
            }
            Ok(None) => return None,
            Err(failure) => {
                format!("The {what} is still queued; a running dashboard will send it. {}", failure.message)
            }
        };
        let hint = if wait_end == SendWaitEnd::Limited {
            " There is no need to repeat the command. Next time, --wait waits for the limit."
        } else {
            ""
        };
        Some(CliError::new(code, format!("{begin}{limit} {kept}{hint}")))
    }

    /// Returns what the user should do about an unconfirmed prompt, as sentences that follow the reason.
    fn unconfirmed_advice(&self) -> &'static str {
        match self.kind {
            PromptKind::Create => {
                "Scripts must not send the prompt again either. If the job exists, press `!` on the prompt in docdeck \
                 to link the job by its id; otherwise, press `!` to send the prompt again or discard it."
            }
            PromptKind::FollowUp => {
                "Scripts must not send it again either. Press `!` on the follow-up in docdeck to check the job, send \
                 the follow-up again or discard it; later follow-ups wait for that."
            }
        }
    }

    /// Returns the message for a prompt that was being sent when the command was interrupted.
    fn interrupted_message(&self) -> String {
        let (risk, check) = match self.kind {
            PromptKind::Create => ("the job may have been started", "look for the job on your Mintlify dashboard"),
            PromptKind::FollowUp => ("the follow-up may have arrived", "check the job"),
        };
        let what = self.kind_noun();
        format!(
            "Interrupted before the answer came: the {what} is unconfirmed. Because {risk}, docdeck does not resend \
             the {what}: {check}. {}",
            self.unconfirmed_advice()
        )
    }

    fn format_limit_end(&self, until: Time) -> String {
        limit_end_text(Wait { until, is_estimate: self.is_limit_end_estimated })
    }

    fn kind_noun(&self) -> &'static str {
        match self.kind {
            PromptKind::Create => "prompt",
            PromptKind::FollowUp => "follow-up",
        }
    }

    fn state_text(&self) -> String {
        match &self.delivery {
            Delivery::Queued { until: None } => "waiting to be sent".to_owned(),
            Delivery::Queued { until: Some(until) } => {
                format!("hourly limit reached, sending {}", self.format_limit_end(*until))
            }
            delivery => delivery.kind().word().to_owned(),
        }
    }

    /// Whether the service returned the same job id for this prompt and for `other`, another prompt of the thread. If
    /// both prompts created a job, they are in one thread only because the job ids are equal.
    fn shares_job_id_with(&self, other: &Prompt) -> bool {
        let is_accepted = self.delivery == Delivery::Accepted && other.delivery == Delivery::Accepted;
        let both_create = self.kind == PromptKind::Create && other.kind == PromptKind::Create;
        is_accepted && both_create && other.id != self.prompt
    }

    fn is_being_sent(&self) -> bool {
        self.delivery == Delivery::Sending
    }

    /// Writes the result: a table row on a terminal, the job's id in a pipe, or JSON.
    ///
    /// # Errors
    /// Fails if the store can't be read, or the result can't be written. In the second case the error states that the
    /// prompt was accepted.
    async fn write(&self, session: &Session, as_json: bool, out: &mut Out) -> Result<(), CliError> {
        if as_json {
            out.print_json(&self.as_json(session).await?);
        } else if out.stdout_is_terminal() {
            write_job_table([&self.job], Utc::now(), out);
        } else {
            out.print_line(&id_text(&self.job));
        }
        match out.output_error() {
            Some(_) => Err(CliError::new(
                Code::Unconfirmed,
                format!(
                    "The {} was accepted: {} (job {}), but the result could not be written. Don't send it again.",
                    self.kind_noun(),
                    self.job.local.title,
                    id_text(&self.job)
                ),
            )),
            None => Ok(()),
        }
    }

    /// Returns the job as JSON. Adds the prompt if it is a follow-up, the prompts that it replaces, and the other
    /// prompts for which the service returned the same job id.
    async fn as_json(&self, session: &Session) -> Result<Value, StoreError> {
        let thread = session.store.thread(self.job.key).await?;
        let job = session.store.job(self.job.key).await?;
        let mut job = json::job_object(job.as_ref().unwrap_or(&self.job), thread.creation_prompt());
        let prompt = thread.prompts.iter().find(|prompt| prompt.id == self.prompt);
        let Value::Object(fields) = &mut job else { return Ok(job) };
        if let Some(unrecorded) = session.unrecorded.get(self.prompt) {
            fields.insert("id".to_owned(), unrecorded.id.as_ref().map(|id| id.as_str()).into());
            fields.insert("delivery".to_owned(), unrecorded.outcome.kind().word().into());
            fields.insert("recorded".to_owned(), false.into());
        }
        if let (PromptKind::FollowUp, Some(prompt)) = (self.kind, prompt) {
            let follow_up = serde_json::json!({ "prompt": prompt.text, "delivery": prompt.delivery.kind().word() });
            fields.insert("followUp".to_owned(), follow_up);
        }
        if !self.discarded.is_empty() {
            let discarded = self.discarded.iter();
            let discarded =
                discarded.map(|old| serde_json::json!({ "prompt": old.text, "delivery": old.delivery.kind().word() }));
            fields.insert("discarded".to_owned(), discarded.collect());
        }
        let others = thread.prompts.iter().filter(|prompt| self.shares_job_id_with(prompt));
        let others: Vec<&str> = others.map(|prompt| prompt.text.as_str()).collect();
        if !others.is_empty() {
            fields.insert("sharesIdWith".to_owned(), serde_json::json!(others));
        }
        Ok(job)
    }
}

/// Returns the error for a command that ends before the outcome is recorded. The error states the outcome and what the
/// dashboard will show.
fn unrecorded_error(unrecorded: &UnrecordedOutcome, session: &Session) -> CliError {
    let code = match &unrecorded.outcome {
        Delivery::Rejected(_) if session.was_key_refused() => Code::KeyRefused,
        Delivery::Rejected(_) | Delivery::NotSent(_) => Code::Service,
        Delivery::Queued { .. } => Code::Limited,
        _ => Code::Unconfirmed,
    };
    let id = unrecorded.id.as_ref().map(|id| id.to_clean_text()).unwrap_or_default();
    let next = match (&unrecorded.outcome, unrecorded.kind) {
        (Delivery::Accepted, PromptKind::Create) => format!("press `!` on it and link it to job {id}"),
        (Delivery::Accepted, PromptKind::FollowUp) => "press `!` on it and discard it, since it has arrived".to_owned(),
        (Delivery::Unconfirmed(_), _) => "press `!` on it to choose what to do".to_owned(),
        _ => "press `!` on it to send it again".to_owned(),
    };
    let sentence = unrecorded.sentence();
    CliError::new(code, format!("{sentence} The dashboard will show the prompt as unconfirmed: {next}."))
}
