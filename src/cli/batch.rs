//! `docdeck new --batch`: creates a job from each prompt of a file. All prompts are saved before the first one is sent,
//! and the ledger limits how fast they are sent. Prompts that could not be sent are reported and stay in the store.

use super::batch_plan::{BatchPlan, all_sent_message, is_unsent, plan_batch, read_prompts, unsent_jobs};
use super::cost::BatchCost;
use super::error::CliError;
use super::exit_code::Code;
use super::job_format::{id_text, jobs_json};
use super::new::Options;
use super::out::Out;
use super::session::{CommandContext, Session, StoreSession, WaitEnd};
use super::waiting::{JobWait, Timer, connection_problem, limit_end_text, log_progress, wait_command};
use crate::engine::LeaseRoles;
use crate::model::change::QueueChange;
use crate::model::connection::ConnectionState;
use crate::model::engine_event::EngineEvent;
use crate::model::job::{Job, JobKey};
use crate::model::ledger::{Quota, Wait};
use crate::model::prompt::{DeliveryKind, PromptResolution};
use crate::store::RecentPrompt;
use crate::tui::format::plural;
use chrono::Utc;
use serde_json::{Value, json};
use std::path::Path;

/// Runs `docdeck new --batch`.
pub(super) async fn run(cx: &mut CommandContext<'_>, file: &Path, options: &Options) -> Result<Code, CliError> {
    let prompts = read_prompts(file)?;
    if options.dry_run || options.queue {
        let session = cx.open_store(options.queue)?;
        let result = plan_or_queue_batch(&session, prompts, options, cx.out).await;
        session.close().await;
        return result.map(|()| Code::Done);
    }
    let timer = options.wait_timeout.start();
    let work = async |session: &mut Session, out: &mut Out| send_batch(session, prompts, options, timer, out).await;
    cx.with_session(LeaseRoles::All, work).await
}

async fn plan_or_queue_batch(
    session: &StoreSession,
    prompts: Vec<String>,
    options: &Options,
    out: &mut Out,
) -> Result<(), CliError> {
    let (store, scope) = (&session.store, &session.scope);
    let count = prompts.len();
    let BatchPlan { new_prompts, earlier_prompts } = plan_batch(store, scope, prompts, options).await?;
    let waiting = unsent_jobs(&earlier_prompts);
    if options.dry_run {
        let cost = BatchCost::estimate(store, scope, new_prompts.len(), &waiting).await?;
        let sent = (count - new_prompts.len()).saturating_sub(waiting.len());
        if options.json {
            out.print_json(&cost.as_json(sent));
        } else if new_prompts.is_empty() && waiting.is_empty() {
            out.print_line(&all_sent_message(count));
            return Ok(());
        } else {
            out.print_line(&cost.sentence());
        }
        if !waiting.is_empty() {
            let verb = if waiting.len() == 1 { "is" } else { "are" };
            let rest = if options.rest { "" } else { ": --rest sends them with the new ones" };
            out.note(&format!("{} of these {verb} already queued{rest}.", waiting.len()));
        }
        if sent > 0 {
            let more = plural(sent, "prompt");
            let (were, are, them) = if sent == 1 { ("was", "is", "it") } else { ("were", "are", "them") };
            out.note(&format!(
                "{more} in this file {were} sent in the last 24 hours and {are} not counted; --rest skips {them}."
            ));
        }
        return Ok(());
    }
    if new_prompts.is_empty() {
        if options.json {
            out.print_json(&json!({ "jobs": [] }));
        }
        // `--queue` only adds new prompts. Prompts that an earlier run left in the store keep their state, such as
        // `Queued` or `Paused`.
        out.note(&match waiting.len() {
            0 => all_sent_message(count),
            1 => "Nothing new to queue: 1 prompt in this file is already queued.".to_owned(),
            n => format!("Nothing new to queue: {n} prompts in this file are already queued."),
        });
        return Ok(());
    }
    let cost = BatchCost::estimate(store, scope, new_prompts.len(), &[]).await?;
    out.note(&cost.sentence());
    let rows = store.add_batch(scope, &new_prompts, Utc::now()).await?;
    if options.json {
        out.print_json(&json!({ "jobs": jobs_json(store, &rows).await? }));
    }
    out.note(&format!(
        "{} queued. They are sent only while a dashboard or another batch is running on this computer: start `docdeck`.",
        plural(rows.len(), "job")
    ));
    Ok(())
}

async fn send_batch(
    session: &mut Session,
    prompts: Vec<String>,
    options: &Options,
    timer: Timer,
    out: &mut Out,
) -> Result<Code, CliError> {
    let count = prompts.len();
    let BatchPlan { new_prompts, earlier_prompts } =
        plan_batch(&session.store, &session.scope, prompts, options).await?;
    if new_prompts.is_empty() && unsent_jobs(&earlier_prompts).is_empty() {
        if options.json {
            out.print_json(&json!({ "jobs": [] }));
        }
        out.note(&all_sent_message(count));
        return Ok(Code::Done);
    }
    log_progress(
        &BatchCost::estimate(&session.store, &session.scope, new_prompts.len(), &unsent_jobs(&earlier_prompts))
            .await?
            .sentence(),
        out,
    );
    if !session.engine.is_dispatcher() {
        log_progress("another docdeck on this computer sends the queue; waiting for it", out);
    }
    let mut jobs = requeue_unsent(session, &earlier_prompts, out).await?;
    let engine = session.engine.clone();
    if !new_prompts.is_empty() {
        jobs.extend(session.run_uninterrupted(engine.submit_batch(&new_prompts)).await?);
    }
    let mut batch = BatchWait { jobs, timer, limit_wait: None };
    let end = batch.wait(session, options.json, out).await?;
    batch.write_result(session, end, options, out).await
}

/// Queues the unsent prompts of an earlier run: resumes `Paused` prompts, queues `NotSent` prompts again, and leaves
/// `Queued` prompts unchanged. Skips prompts that were sent or may have been sent. Returns the jobs of all prompts that
/// are now queued.
async fn requeue_unsent(
    session: &mut Session,
    earlier_prompts: &[RecentPrompt],
    out: &mut Out,
) -> Result<Vec<Job>, CliError> {
    let mut rows = Vec::new();
    let engine = session.engine.clone();
    for prompt in earlier_prompts.iter().filter(|prompt| is_unsent(prompt)) {
        match prompt.state {
            DeliveryKind::NotSent => {
                session.run_uninterrupted(engine.resolve(prompt.id, PromptResolution::SendAgain)).await?;
            }
            DeliveryKind::Paused => {
                session.run_uninterrupted(engine.change_queue(&[prompt.job], QueueChange::Resume)).await?;
            }
            _ => {}
        }
        rows.extend(session.store.job(prompt.job).await?);
    }
    let sent = earlier_prompts.len() - rows.len();
    if sent > 0 {
        log_progress(&format!("{} sent before, skipped", plural(sent, "prompt")), out);
    }
    Ok(rows)
}

/// The state of the wait until all prompts of a batch are sent.
#[derive(Debug)]
struct BatchWait {
    /// The jobs of the prompts that this command sends: first those of an earlier run, then those of new prompts.
    jobs: Vec<Job>,
    timer: Timer,
    /// How long the hourly limit blocks new jobs; `None` if the limit is not reached.
    limit_wait: Option<Wait>,
}

/// Why the wait for the prompts of a batch ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BatchEnd {
    Finished,
    /// The service refused the key or could not be reached, so the remaining prompts would fail too.
    Failed,
    TimedOut,
    Interrupted,
}

/// Whether the job's prompt is `Queued` or `Sending`.
fn is_send_pending(row: &Job) -> bool {
    matches!(row.local.undelivered, Some(DeliveryKind::Queued | DeliveryKind::Sending))
}

impl BatchWait {
    async fn wait(&mut self, session: &mut Session, as_json: bool, out: &mut Out) -> Result<BatchEnd, CliError> {
        self.reload_jobs(session, as_json, out).await?;
        loop {
            if !self.jobs.iter().any(is_send_pending) {
                return Ok(BatchEnd::Finished);
            }
            if self.has_failed(session) {
                return Ok(BatchEnd::Failed);
            }
            out.show_live_line(&self.live_line());
            match session.next_event_or_tick(self.timer.end()).await {
                WaitEnd::Interrupted => return Ok(BatchEnd::Interrupted),
                WaitEnd::TimedOut if self.timer.has_expired() => return Ok(BatchEnd::TimedOut),
                WaitEnd::TimedOut => {}
                WaitEnd::Event(event) => self.handle_event(*event, session, as_json, out).await?,
            }
        }
    }

    async fn reload_jobs(&mut self, session: &Session, as_json: bool, out: &mut Out) -> Result<(), CliError> {
        for key in self.jobs.iter().map(|row| row.key).collect::<Vec<_>>() {
            if let Some(row) = session.store.job(key).await? {
                self.update(row, as_json, out);
            }
        }
        Ok(())
    }

    async fn handle_event(
        &mut self,
        event: EngineEvent,
        session: &Session,
        as_json: bool,
        out: &mut Out,
    ) -> Result<(), CliError> {
        match event {
            EngineEvent::Job(row) => self.update(*row, as_json, out),
            EngineEvent::Prompt { job, .. } => self.update(*job, as_json, out),
            EngineEvent::Merged { gone, into } => {
                if self.jobs.iter().any(|row| row.key == into) {
                    self.jobs.retain(|row| row.key != gone);
                } else if let Some(row) = self.jobs.iter_mut().find(|row| row.key == gone)
                    && let Some(merged) = session.store.job(into).await?
                {
                    *row = merged;
                }
            }
            EngineEvent::Budget(Quota::Create, budget) => {
                let limit = budget.wait();
                let waits = self.jobs.iter().any(|row| row.local.undelivered == Some(DeliveryKind::Queued));
                if let Some(wait) = limit.filter(|_| self.limit_wait.is_none() && waits) {
                    log_progress(&format!("hourly limit reached; sending the next {}", limit_end_text(wait)), out);
                }
                self.limit_wait = limit;
            }
            EngineEvent::ConnectionState(connection @ ConnectionState::Offline { .. }) => {
                connection_problem(&connection).iter().for_each(|words| log_progress(words.as_str(), out));
            }
            EngineEvent::InternalFailure(failure) => log_progress(failure.message.as_str(), out),
            EngineEvent::Notice(text) => log_progress(text.as_str(), out),
            EngineEvent::Unrecorded(unrecorded) => log_progress(unrecorded.sentence().as_str(), out),
            _ => {}
        }
        Ok(())
    }

    fn update(&mut self, new: Job, as_json: bool, out: &mut Out) {
        let Some(old) = self.jobs.iter_mut().find(|row| row.key == new.key && row.revision <= new.revision) else {
            return;
        };
        if old.id.is_none() && new.id.is_some() {
            log_progress(&format!("accepted: {} (job {})", new.local.title, id_text(&new)), out);
            if !as_json && !out.stdout_is_terminal() {
                out.print_line(&id_text(&new));
            }
        } else if let Some(kind) =
            new.local.undelivered.filter(|kind| kind.needs_user() && old.local.undelivered != Some(*kind))
        {
            log_progress(&format!("{}: {}", kind.word(), new.local.title), out);
        }
        *old = new;
    }

    /// Whether the service refused the key or could not be reached, so that the remaining prompts would fail too.
    fn has_failed(&self, session: &Session) -> bool {
        session.was_key_refused() || self.jobs.iter().any(|row| row.local.undelivered == Some(DeliveryKind::NotSent))
    }

    fn live_line(&self) -> String {
        let open = self.jobs.iter().filter(|row| is_send_pending(row)).count();
        let waits = self
            .limit_wait
            .map(|wait| format!(" · hourly limit reached, next {}", limit_end_text(wait)))
            .unwrap_or_default();
        format!(
            "{} of {} sent · {}{waits}",
            self.jobs.len() - open,
            plural(self.jobs.len(), "prompt"),
            self.timer.elapsed_text()
        )
    }

    async fn write_result(
        mut self,
        session: &mut Session,
        end: BatchEnd,
        options: &Options,
        out: &mut Out,
    ) -> Result<Code, CliError> {
        let mut paused = 0;
        if end != BatchEnd::Finished {
            paused = self.pause_queued_prompts(session).await?;
            session.await_responses(out).await;
            self.reload_jobs(session, options.json, out).await?;
        }
        let error = self.error(session, end, paused);
        let wait = options.wait && error.is_none() && !self.jobs.is_empty();
        let mut waiting = JobWait::new(self.jobs, self.timer);
        let (code, error) = if wait {
            let end = waiting.wait(session, out).await?;
            (waiting.code(), waiting.error(end, &wait_command(&waiting.jobs)))
        } else {
            (Code::Done, error)
        };
        let known =
            if options.json { json!({ "jobs": jobs_json(&session.store, &waiting.jobs).await? }) } else { Value::Null };
        match error {
            Some(error) => return Err(error.with_json_fields(known)),
            None if options.json => out.print_json(&known),
            None => log_progress(&format!("all accepted: {}", plural(waiting.jobs.len(), "job")), out),
        }
        match out.output_error() {
            Some(_) => Err(CliError::new(
                Code::Unconfirmed,
                "All prompts were accepted, but the result could not be written. Don't send them again: their ids are \
                 above, and `docdeck jobs` lists them.",
            )),
            None => Ok(code),
        }
    }

    /// Pauses all queued prompts of the batch, so that they are not sent later unless the user resumes them. Returns
    /// how many were paused.
    async fn pause_queued_prompts(&mut self, session: &mut Session) -> Result<usize, CliError> {
        let is_queued = |row: &&Job| row.local.undelivered == Some(DeliveryKind::Queued);
        let queued: Vec<JobKey> = self.jobs.iter().filter(is_queued).map(|row| row.key).collect();
        let engine = session.engine.clone();
        let paused = session.run_uninterrupted(engine.change_queue(&queued, QueueChange::Pause)).await?;
        let count = paused.len();
        for new in paused {
            self.jobs.iter_mut().filter(|row| row.key == new.key).for_each(|row| *row = new.clone());
        }
        Ok(count)
    }

    fn error(&self, session: &Session, end: BatchEnd, paused: usize) -> Option<CliError> {
        let count = |kind| self.jobs.iter().filter(|row| row.local.undelivered == Some(kind)).count();
        let all = plural(self.jobs.len(), "prompt");
        let accepted = self.jobs.iter().filter(|row| row.id.is_some() && row.local.undelivered.is_none()).count();
        let mut summary = format!("{accepted} of {all} accepted");
        let kinds = [DeliveryKind::Unconfirmed, DeliveryKind::Rejected, DeliveryKind::NotSent, DeliveryKind::Sending];
        for kind in kinds.into_iter().chain([DeliveryKind::Paused]) {
            if count(kind) > 0 {
                summary.push_str(&format!(", {} {}", count(kind), kind.word()));
            }
        }
        let (code, begin) = match end {
            BatchEnd::Interrupted => (Code::Interrupted, "Interrupted: "),
            // The last answers came after the timeout, while `write_result` waited for them.
            BatchEnd::TimedOut if accepted == self.jobs.len() => return None,
            BatchEnd::TimedOut => (Code::TimedOut, "Timed out: "),
            _ if count(DeliveryKind::Unconfirmed) > 0 => (Code::Unconfirmed, ""),
            _ if session.was_key_refused() => (Code::KeyRefused, "The service refused the key: "),
            _ if count(DeliveryKind::Rejected) + count(DeliveryKind::NotSent) > 0 => (Code::Service, ""),
            _ if count(DeliveryKind::Paused) > 0 => (Code::Limited, ""),
            BatchEnd::Finished | BatchEnd::Failed if accepted == self.jobs.len() => return None,
            BatchEnd::Finished | BatchEnd::Failed => {
                (Code::Service, "Some prompts were discarded by another docdeck: ")
            }
        };
        let mut hints = String::new();
        if paused > 0 {
            hints.push_str(" Paused prompts stay in the queue: repeat the command with --rest to send them.");
        }
        if count(DeliveryKind::Unconfirmed) + count(DeliveryKind::Rejected) > 0 {
            hints.push_str(
                " Press `!` in the dashboard to resolve unconfirmed and rejected prompts. Don't just send an \
                 unconfirmed prompt again: it may have arrived.",
            );
        }
        let mut code = code;
        for unrecorded in session.unrecorded.iter() {
            hints.push_str(&format!(" {}", unrecorded.sentence()));
            if unrecorded.may_have_taken_effect() {
                code = Code::Unconfirmed;
            }
        }
        Some(CliError::new(code, format!("{begin}{summary}.{hints}")))
    }
}
