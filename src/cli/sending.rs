//! One prompt on its way: from the record to the service's answer, and where it stands when the answer does not come. A
//! prompt that can't go out now is paused, so that it never goes out later behind the back of whoever ran the command.

use super::error::CliError;
use super::exit_code::Code;
use super::job_line::{id, write_table};
use super::jobs::created_by;
use super::out::Out;
use super::session::{STILL_RECORDING, Session, WaitEnd};
use super::wait::again;
use super::waiting::{JobWait, Timer, connection_words, tell, when};
use crate::model::Time;
use crate::model::connection::Connection;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::FailureKind;
use crate::model::json;
use crate::model::ledger::{RateLimited, Wait};
use crate::model::prompt::{Delivery, Prompt, PromptId, PromptKind};
use crate::model::row::Job;
use crate::model::text::CleanText;
use crate::model::unrecorded::Unrecorded;
use crate::store::StoreError;
use chrono::Utc;
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;

/// How often the live line is drawn.
const TICK: Duration = Duration::from_secs(1);
/// How long an answer that is under way is waited for after a signal.
const LAST_ANSWER: Duration = Duration::from_secs(5);
/// How long a prompt that is behind another one is given when nobody said how long to wait.
const IN_LINE: Duration = Duration::from_secs(15);
/// The same once the record could not be written: longer than the engine takes to try that again.
const WRITTEN_AGAIN: Duration = Duration::from_secs(6);

/// A prompt that was handed over.
#[derive(Debug)]
pub(super) struct SentPrompt {
    pub(super) prompt: PromptId,
    pub(super) kind: PromptKind,
    pub(super) row: Job,
    delivery: Delivery,
    /// Whether the wait for the limit is docdeck's guess.
    is_estimate: bool,
    /// What the record can't do, so that it does not go out.
    unwritten: Option<CleanText>,
    /// Earlier prompts of the job that were discarded for this one, as they were.
    discarded: Vec<Prompt>,
}

/// What the caller wants to wait for.
#[derive(Debug, Clone, Copy)]
pub(super) struct SendOptions {
    /// Until the job is finished, and for the limit when it is used up.
    pub(super) wait: bool,
    pub(super) timer: Timer,
    pub(super) json: bool,
}

/// Why nothing more is heard of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// It is through, or it came back.
    Settled,
    /// The limit is used up, and it is not to be waited for.
    Limited,
    Late,
    Interrupted,
}

impl SentPrompt {
    /// On disk, and nothing heard of it yet.
    pub(super) fn new(prompt: PromptId, kind: PromptKind, row: Job) -> Self {
        let delivery = Delivery::Queued { until: None };
        Self { prompt, kind, row, delivery, is_estimate: false, unwritten: None, discarded: Vec::new() }
    }

    /// In place of these earlier prompts of its job.
    pub(super) fn in_place_of(self, discarded: Vec<Prompt>) -> Self {
        Self { discarded, ..self }
    }

    /// Follows it to its end, and its job to its end where that is wished; writes the result.
    ///
    /// # Errors
    /// It did not get through or nobody knows, the wait ended early, or the record can't be read.
    pub(super) async fn see_off(
        mut self,
        desk: &mut Session,
        wish: SendOptions,
        out: &mut Out,
    ) -> Result<Code, CliError> {
        let mut before = None;
        let stood = loop {
            let stop = self.follow(desk, wish, before, out).await;
            if !matches!(self.delivery, Delivery::Queued { .. }) {
                break self.end(desk, stop, wish, out);
            }
            if let Some(refusal) = self.pause(desk, stop, wish.timer).await {
                break Err(refusal);
            }
            // It went on in the same moment, here or in another docdeck.
            self.look(desk).await?;
            before = Some(stop);
        };
        if let Err(refusal) = stood {
            return Err(if wish.json { refusal.with(self.as_json(desk).await?) } else { refusal });
        }
        if !wish.wait {
            self.write(desk, wish.json, out).await?;
            return Ok(Code::Done);
        }
        let mut waiting = JobWait::new(vec![self.row.clone()], wish.timer);
        let end = waiting.wait(desk, out).await?;
        let code = waiting.code();
        let refusal = waiting.refusal(end, &again(&waiting.rows));
        self.row = waiting.rows.into_iter().next().unwrap_or(self.row);
        match refusal {
            Some(refusal) if wish.json => Err(refusal.with(self.as_json(desk).await?)),
            refusal => {
                self.write(desk, wish.json, out).await?;
                refusal.map_or(Ok(code), Err)
            }
        }
    }

    /// Hears how it goes; `before` is why that was to end already.
    async fn follow(&mut self, desk: &mut Session, wish: SendOptions, before: Option<Stop>, out: &mut Out) -> Stop {
        let soon = |pause| Some(Instant::now() + pause);
        let mut end = match before {
            Some(Stop::Interrupted) => soon(LAST_ANSWER),
            Some(_) => None,
            None if wish.wait => wish.timer.end(),
            None => soon(IN_LINE).min(wish.timer.end().or(soon(IN_LINE))),
        };
        let mut stop = before.unwrap_or(Stop::Late);
        if !matches!(self.delivery, Delivery::Queued { .. } | Delivery::Sending) {
            return stop;
        }
        loop {
            let words = if desk.unrecorded.get(self.prompt).is_some() {
                "trying to record it".to_owned()
            } else {
                self.words()
            };
            out.live(&format!("{words} · {}", wish.timer.waited()));
            let tick = Instant::now() + TICK;
            match desk.next(Some(end.map_or(tick, |end| end.min(tick)))).await {
                // Once more while its answer is waited for: it is left as it is.
                WaitEnd::Interrupted if stop == Stop::Interrupted => return stop,
                // Only Ctrl-C comes with a user who reads that a second one ends it.
                WaitEnd::Interrupted if desk.unrecorded.get(self.prompt).is_some() && !desk.is_ctrl_c() => {
                    return Stop::Interrupted;
                }
                WaitEnd::Interrupted if desk.unrecorded.get(self.prompt).is_some() => {
                    stop = Stop::Interrupted;
                    out.note(STILL_RECORDING);
                }
                WaitEnd::Interrupted => {
                    stop = Stop::Interrupted;
                    if !self.is_on_its_way() {
                        return stop;
                    }
                    out.note(
                        "The prompt is on its way; its answer is waited for a moment. Ctrl-C leaves it unconfirmed.",
                    );
                    end = soon(LAST_ANSWER);
                }
                // An answer that is under way has its own limit of time, and is not given up for this one.
                WaitEnd::Late if end.is_some_and(|end| end <= Instant::now()) => {
                    let is_answered = desk.unrecorded.get(self.prompt).is_some();
                    if stop == Stop::Interrupted || is_answered || !self.is_on_its_way() {
                        return stop;
                    }
                    end = None;
                }
                WaitEnd::Late => {}
                WaitEnd::News(news) => {
                    // The answer is there; how long it may take to record it is the user's to say.
                    if matches!(&*news, EngineEvent::Unrecorded(_)) && stop != Stop::Interrupted {
                        end = wish.timer.end();
                    }
                    if let Some(heard) = self.hear(*news, wish.wait, out) {
                        return if stop == Stop::Interrupted { stop } else { heard };
                    }
                    if self.unwritten.is_some() && !wish.wait && end > soon(WRITTEN_AGAIN) {
                        end = soon(WRITTEN_AGAIN);
                    }
                }
            }
        }
    }

    fn hear(&mut self, news: EngineEvent, is_patient: bool, out: &mut Out) -> Option<Stop> {
        match news {
            EngineEvent::Prompt { prompt, delivery, job } if prompt == self.prompt => {
                self.row = *job;
                if self.delivery == delivery {
                    return None;
                }
                self.delivery = delivery;
                self.unwritten = None;
            }
            EngineEvent::Budget(limited, budget) if limited == self.limited() => {
                self.is_estimate = budget.wait().is_some_and(|wait| wait.is_estimate);
                return None;
            }
            EngineEvent::Merged { gone, into } if gone == self.row.key => {
                self.row.key = into;
                return None;
            }
            EngineEvent::Connection(connection @ Connection::Offline { .. }) => {
                if let Some(words) = connection_words(&connection) {
                    tell(words.as_str(), out);
                }
                return None;
            }
            EngineEvent::Trouble(failure) => {
                tell(failure.sentence.as_str(), out);
                if failure.kind == FailureKind::Store && matches!(self.delivery, Delivery::Queued { .. }) {
                    self.unwritten = Some(failure.sentence);
                }
                return None;
            }
            EngineEvent::Unrecorded(unrecorded) if unrecorded.prompt == self.prompt => {
                out.note(unrecorded.sentence().as_str());
                return (!unrecorded.is_retried).then_some(Stop::Settled);
            }
            EngineEvent::Recorded(prompt) if prompt == self.prompt => {
                tell("recorded now", out);
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
            Delivery::Queued { until: Some(until) } if is_patient => {
                tell(&format!("hourly limit reached; sending {}", self.when(*until)), out);
                None
            }
            Delivery::Queued { .. } => Some(Stop::Limited),
            _ => Some(Stop::Settled),
        }
    }

    /// Whether it was accepted; else why not, and where it stands from now on.
    fn end(&self, desk: &Session, stop: Stop, wish: SendOptions, out: &mut Out) -> Result<(), CliError> {
        if let Some(unrecorded) = desk.unrecorded.get(self.prompt) {
            return Err(given_up(unrecorded, desk));
        }
        let what = self.what();
        let reason = self.delivery.reason().cloned().unwrap_or_default();
        let refusal = match (&self.delivery, stop) {
            (Delivery::Accepted, Stop::Interrupted) => {
                let accepted = format!("Interrupted. The {what} was accepted, and job {} goes on.", id(&self.row));
                return Err(CliError::new(Code::Interrupted, accepted));
            }
            (Delivery::Accepted, _) => {
                if wish.wait || out.is_terminal() {
                    tell(&format!("accepted: {} (job {})", self.row.title, id(&self.row)), out);
                }
                return Ok(());
            }
            (Delivery::Sending, _) => CliError::new(Code::Interrupted, self.interrupted()),
            (Delivery::Unconfirmed(_), _) => {
                CliError::new(Code::Unconfirmed, format!("{reason} {}", self.unconfirmed()))
            }
            (Delivery::NotSent(_), _) => CliError::new(
                Code::Service,
                format!("{reason} The {what} is kept as not sent: `!` on it in the dashboard sends it again."),
            ),
            (Delivery::Rejected(_), _) => {
                let code = if desk.is_key_refused() { Code::KeyRefused } else { Code::Service };
                let kept =
                    format!("The {what} is kept as rejected: `!` on it in the dashboard edits it or discards it.");
                CliError::new(code, format!("{reason} {kept}"))
            }
            (Delivery::Paused | Delivery::Discarded { .. } | Delivery::Queued { .. }, _) => {
                CliError::new(Code::Limited, format!("The {what} was {} elsewhere before it went out.", self.words()))
            }
        };
        Err(refusal)
    }

    /// Where it stands by the record.
    async fn look(&mut self, desk: &Session) -> Result<(), StoreError> {
        let thread = desk.store.thread(self.row.key).await?;
        if let Some(own) = thread.prompts.into_iter().find(|prompt| prompt.id == self.prompt) {
            self.delivery = match own.delivery {
                Delivery::Queued { until } => {
                    Delivery::Queued { until: until.map(|until| desk.engine.local_of(until)) }
                }
                other => other,
            };
        }
        if let Some(row) = desk.store.job(self.row.key).await? {
            self.row = row;
        }
        Ok(())
    }

    /// It stays where it is until somebody says so: on disk, in the queue, paused. None when it is not queued any more.
    async fn pause(&mut self, desk: &mut Session, stop: Stop, timer: Timer) -> Option<CliError> {
        let engine = desk.engine.clone();
        let paused = desk.undisturbed(engine.pause(self.prompt)).await;
        let (what, limit) = (
            self.what(),
            match &self.delivery {
                Delivery::Queued { until: Some(until) } => {
                    format!("Hourly limit reached; the next request is free {}.", self.when(*until))
                }
                _ if self.unwritten.is_some() => {
                    format!(
                        "The {what} can't go out: before that it has to be written down as being sent.",
                        what = self.what()
                    )
                }
                _ => format!("The {} was still waiting for its turn.", self.what()),
            },
        );
        let (code, begin) = match stop {
            Stop::Interrupted => (Code::Interrupted, "Interrupted. "),
            Stop::Late if timer.is_over() => (Code::TimedOut, "Timed out. "),
            Stop::Late if self.unwritten.is_some() => (Code::Unusable, ""),
            Stop::Late | Stop::Limited | Stop::Settled => (Code::Limited, ""),
        };
        let kept = match paused {
            Ok(Some(row)) => {
                self.row = row;
                format!(
                    "Nothing was sent. The {what} is kept in the queue, paused: `p` on it in the dashboard resumes it, `x` \
                     removes it."
                )
            }
            Ok(None) => return None,
            Err(failure) => {
                format!(
                    "The {what} is still queued and is sent in its turn if a dashboard is running. {}",
                    failure.sentence
                )
            }
        };
        let hint = if stop == Stop::Limited { " With --wait docdeck waits for the limit." } else { "" };
        Some(CliError::new(code, format!("{begin}{limit} {kept}{hint}")))
    }

    /// What to do, after the sentence that says why nobody knows.
    fn unconfirmed(&self) -> &'static str {
        match self.kind {
            PromptKind::Create => {
                "A script must not either. Once you have looked, `!` on the prompt in docdeck links the job by its id, sends \
                 it again, or discards it."
            }
            PromptKind::FollowUp => {
                "A script must not either. `!` on it in docdeck looks at the job, sends it again, or discards it; follow-ups \
                 behind it wait for that."
            }
        }
    }

    /// The same where no answer says why.
    fn interrupted(&self) -> String {
        let (made, look) = match self.kind {
            PromptKind::Create => ("the job may have been started", "look for it on the service's dashboard"),
            PromptKind::FollowUp => ("the follow-up may have arrived", "look at the job"),
        };
        let what = self.what();
        format!(
            "Interrupted before the answer came: the {what} is unconfirmed. As {made} all the same, docdeck does not send it \
             again by itself: {look}. {}",
            self.unconfirmed()
        )
    }

    fn limited(&self) -> RateLimited {
        match self.kind {
            PromptKind::Create => RateLimited::Create,
            PromptKind::FollowUp => RateLimited::FollowUp,
        }
    }

    fn when(&self, until: Time) -> String {
        when(Wait { until, is_estimate: self.is_estimate })
    }

    fn what(&self) -> &'static str {
        match self.kind {
            PromptKind::Create => "prompt",
            PromptKind::FollowUp => "follow-up",
        }
    }

    fn words(&self) -> String {
        match &self.delivery {
            Delivery::Queued { until: None } => "waiting for its turn".to_owned(),
            Delivery::Queued { until: Some(until) } => {
                format!("hourly limit reached, sending {}", self.when(*until))
            }
            delivery => delivery.kind().word().to_owned(),
        }
    }

    /// Whether the service gave the job that this other prompt had created the same id as the one of this prompt.
    fn shares_its_id_with(&self, other: &Prompt) -> bool {
        let is_accepted = self.delivery == Delivery::Accepted && other.delivery == Delivery::Accepted;
        let both_create = self.kind == PromptKind::Create && other.kind == PromptKind::Create;
        is_accepted && both_create && other.id != self.prompt
    }

    fn is_on_its_way(&self) -> bool {
        self.delivery == Delivery::Sending
    }

    /// The result: a row on a terminal, the bare id when piped.
    ///
    /// # Errors
    /// The record can't be read; or nobody got the result, and must hear all the same that it was accepted.
    async fn write(&self, desk: &Session, in_json: bool, out: &mut Out) -> Result<(), CliError> {
        if in_json {
            out.json(&self.as_json(desk).await?);
        } else if out.is_terminal() {
            write_table([&self.row], Utc::now(), out);
        } else {
            out.line(&id(&self.row));
        }
        match out.failed() {
            Some(_) => Err(CliError::new(
                Code::Unconfirmed,
                format!(
                    "The {} was accepted: {} (job {}). It must not be sent again; only the answer could not be written.",
                    self.what(),
                    self.row.title,
                    id(&self.row)
                ),
            )),
            None => Ok(()),
        }
    }

    /// The job; for a follow-up with the follow-up itself.
    async fn as_json(&self, desk: &Session) -> Result<Value, StoreError> {
        let thread = desk.store.thread(self.row.key).await?;
        let row = desk.store.job(self.row.key).await?;
        let mut job = json::job(row.as_ref().unwrap_or(&self.row), created_by(&thread));
        let own = thread.prompts.iter().find(|prompt| prompt.id == self.prompt);
        let Value::Object(fields) = &mut job else { return Ok(job) };
        if let Some(unrecorded) = desk.unrecorded.get(self.prompt) {
            fields.insert("id".to_owned(), unrecorded.id.as_ref().map(|id| id.as_str()).into());
            fields.insert("delivery".to_owned(), unrecorded.outcome.kind().word().into());
            fields.insert("recorded".to_owned(), false.into());
        }
        if let (PromptKind::FollowUp, Some(own)) = (self.kind, own) {
            let follow_up = serde_json::json!({ "prompt": own.text, "delivery": own.delivery.kind().word() });
            fields.insert("followUp".to_owned(), follow_up);
        }
        if !self.discarded.is_empty() {
            let discarded = self.discarded.iter();
            let discarded =
                discarded.map(|one| serde_json::json!({ "prompt": one.text, "delivery": one.delivery.kind().word() }));
            fields.insert("discarded".to_owned(), discarded.collect());
        }
        let others = thread.prompts.iter().filter(|prompt| self.shares_its_id_with(prompt));
        let others: Vec<&str> = others.map(|prompt| prompt.text.as_str()).collect();
        if !others.is_empty() {
            fields.insert("sharesIdWith".to_owned(), serde_json::json!(others));
        }
        Ok(job)
    }
}

/// Why the command ends although the outcome of its prompt is not on disk, and what the next docdeck will make of it.
fn given_up(unrecorded: &Unrecorded, desk: &Session) -> CliError {
    let code = match &unrecorded.outcome {
        Delivery::Rejected(_) if desk.is_key_refused() => Code::KeyRefused,
        Delivery::Rejected(_) | Delivery::NotSent(_) => Code::Service,
        Delivery::Queued { .. } => Code::Limited,
        _ => Code::Unconfirmed,
    };
    let id = unrecorded.id.as_ref().map(|id| id.clean()).unwrap_or_default();
    let next = match (&unrecorded.outcome, unrecorded.kind) {
        (Delivery::Accepted, PromptKind::Create) => format!("press `!` on it and link it to {id}"),
        (Delivery::Accepted, PromptKind::FollowUp) => "press `!` on it and discard it, since it has arrived".to_owned(),
        (Delivery::Unconfirmed(_), _) => "press `!` on it to decide".to_owned(),
        _ => "press `!` on it to send it again".to_owned(),
    };
    let sentence = unrecorded.sentence();
    CliError::new(code, format!("{sentence} The dashboard will show it as unconfirmed: {next}."))
}
