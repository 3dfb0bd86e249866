//! `docdeck new --batch`: a file of prompts becomes many jobs. All of them are on disk before the first is sent; the
//! ledger paces them; what does not get through, or is broken off, is said and kept.

use super::batch_plan::{BatchPlan, is_waiting, nothing_left, plan, read, waiting};
use super::cost::Cost;
use super::error::CliError;
use super::exit_code::Code;
use super::job_line::id;
use super::jobs::as_json;
use super::new::Options;
use super::out::Out;
use super::session::{Session, StoreSession, WaitEnd};
use super::wait::again;
use super::waiting::{JobWait, Timer, connection_words, tell, when};
use crate::app::format::plural;
use crate::config::Flags;
use crate::config::environment::Environment;
use crate::engine::LeaseRoles;
use crate::model::change::QueueChange;
use crate::model::connection::Connection;
use crate::model::engine_event::EngineEvent;
use crate::model::ledger::{RateLimited, Wait};
use crate::model::prompt::{DeliveryKind, Resolution};
use crate::model::row::{Job, JobKey};
use crate::store::KnownPrompt;
use chrono::Utc;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;
use tokio::time::Instant;

/// How often the live line is drawn.
const TICK: Duration = Duration::from_secs(1);

/// Does what the options say with the file.
pub(super) async fn run(
    flags: &Flags,
    environment: &Environment,
    file: &Path,
    options: &Options,
    out: &mut Out,
) -> Result<Code, CliError> {
    let prompts = read(file)?;
    if options.dry_run || options.queue {
        let record = StoreSession::open_for(flags, environment, options.queue, out)?;
        let result = without_sending(&record, prompts, options, out).await;
        record.close().await;
        return result.map(|()| Code::Done);
    }
    let timer = options.patience.start();
    let work = async |desk: &mut Session, out: &mut Out| send(desk, prompts, options, timer, out).await;
    Session::with(flags, environment, LeaseRoles::All, out, work).await
}

async fn without_sending(
    record: &StoreSession,
    prompts: Vec<String>,
    options: &Options,
    out: &mut Out,
) -> Result<(), CliError> {
    let (store, scope) = (&record.store, &record.scope);
    let count = prompts.len();
    let BatchPlan { fresh, known } = plan(store, scope, prompts, options).await?;
    let waiting = waiting(&known);
    if options.dry_run {
        let cost = Cost::of(store, scope, fresh.len(), &waiting).await?;
        let sent = (count - fresh.len()).saturating_sub(waiting.len());
        if options.json {
            out.json(&cost.as_json(sent));
        } else if fresh.is_empty() && waiting.is_empty() {
            out.line(&nothing_left(count));
            return Ok(());
        } else {
            out.line(&cost.sentence());
        }
        if !waiting.is_empty() {
            let verb = if waiting.len() == 1 { "waits" } else { "wait" };
            let rest = if options.rest { "" } else { ": --rest sends them with what is new" };
            out.note(&format!("{} of these {verb} here already{rest}.", waiting.len()));
        }
        if sent > 0 {
            let more = plural(sent, "prompt");
            let (are, them) = if sent == 1 { ("is", "it") } else { ("are", "them") };
            out.note(&format!(
                "{more} of this file went out within 24 hours, and {are} not counted: --rest leaves {them} out."
            ));
        }
        return Ok(());
    }
    if fresh.is_empty() {
        if options.json {
            out.json(&json!({ "jobs": [] }));
        }
        // What waits here already stays as it is, queued or paused.
        out.note(&match waiting.len() {
            0 => nothing_left(count),
            1 => "Nothing new to queue: 1 prompt of this file waits here already.".to_owned(),
            n => format!("Nothing new to queue: {n} prompts of this file wait here already."),
        });
        return Ok(());
    }
    let cost = Cost::of(store, scope, fresh.len(), &[]).await?;
    out.note(&cost.sentence());
    let rows = store.add_batch(scope, &fresh, Utc::now()).await?;
    if options.json {
        out.json(&json!({ "jobs": as_json(store, &rows).await? }));
    }
    out.note(&format!(
        "{} queued. They are sent only while a dashboard is running on this computer: start `docdeck`.",
        plural(rows.len(), "job")
    ));
    Ok(())
}

async fn send(
    desk: &mut Session,
    prompts: Vec<String>,
    options: &Options,
    timer: Timer,
    out: &mut Out,
) -> Result<Code, CliError> {
    let count = prompts.len();
    let BatchPlan { fresh, known } = plan(&desk.store, &desk.scope, prompts, options).await?;
    if fresh.is_empty() && waiting(&known).is_empty() {
        if options.json {
            out.json(&json!({ "jobs": [] }));
        }
        out.note(&nothing_left(count));
        return Ok(Code::Done);
    }
    tell(&Cost::of(&desk.store, &desk.scope, fresh.len(), &waiting(&known)).await?.sentence(), out);
    if !desk.engine.dispatches() {
        tell("another docdeck on this computer sends what is queued; this one waits beside it", out);
    }
    let mut rows = take_up(desk, &known, out).await?;
    let engine = desk.engine.clone();
    if !fresh.is_empty() {
        rows.extend(desk.undisturbed(engine.submit_batch(&fresh)).await?);
    }
    let mut batch =
        BatchWait { order: rows.iter().map(|row| row.key).collect(), rows: BTreeMap::new(), timer, limit: None };
    batch.rows.extend(rows.into_iter().map(|row| (row.key, row)));
    let end = batch.wait(desk, options.json, out).await?;
    batch.answer(desk, end, options, out).await
}

/// Goes on with those that have not gone out: the paused are released, those that never reached the service are sent
/// again. What went out, or may have, is left alone.
async fn take_up(desk: &mut Session, known: &[KnownPrompt], out: &mut Out) -> Result<Vec<Job>, CliError> {
    let mut rows = Vec::new();
    let engine = desk.engine.clone();
    for one in known.iter().filter(|known| is_waiting(known)) {
        match one.state {
            DeliveryKind::NotSent => {
                desk.undisturbed(engine.resolve(one.id, Resolution::SendAgain)).await?;
            }
            DeliveryKind::Paused => {
                desk.undisturbed(engine.change_queue(&[one.job], QueueChange::Release)).await?;
            }
            _ => {}
        }
        rows.extend(desk.store.job(one.job).await?);
    }
    let sent = known.len() - rows.len();
    if sent > 0 {
        tell(&format!("{} went out before and left alone", plural(sent, "prompt")), out);
    }
    Ok(rows)
}

/// Jobs whose prompts are waited for.
#[derive(Debug)]
struct BatchWait {
    /// As in the file.
    order: Vec<JobKey>,
    rows: BTreeMap<JobKey, Job>,
    timer: Timer,
    /// Until when the limit lets none out.
    limit: Option<Wait>,
}

/// Why the wait for the prompts ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BatchEnd {
    Settled,
    /// One was refused, or did not reach the service, and the others would fare the same.
    Broken,
    Late,
    Interrupted,
}

/// Whether docdeck still brings it further by itself.
fn is_open(row: &Job) -> bool {
    matches!(row.undelivered, Some(DeliveryKind::Queued | DeliveryKind::Sending))
}

impl BatchWait {
    async fn wait(&mut self, desk: &mut Session, in_json: bool, out: &mut Out) -> Result<BatchEnd, CliError> {
        self.read_again(desk, in_json, out).await?;
        loop {
            if !self.rows.values().any(is_open) {
                return Ok(BatchEnd::Settled);
            }
            if self.is_broken(desk) {
                return Ok(BatchEnd::Broken);
            }
            out.live(&self.live_line());
            let tick = Instant::now() + TICK;
            match desk.next(Some(self.timer.end().map_or(tick, |end| end.min(tick)))).await {
                WaitEnd::Interrupted => return Ok(BatchEnd::Interrupted),
                WaitEnd::Late if self.timer.is_over() => return Ok(BatchEnd::Late),
                WaitEnd::Late => {}
                WaitEnd::News(news) => self.hear(*news, desk, in_json, out).await?,
            }
        }
    }

    async fn read_again(&mut self, desk: &Session, in_json: bool, out: &mut Out) -> Result<(), CliError> {
        for key in self.order.clone() {
            if let Some(row) = desk.store.job(key).await? {
                self.put(row, in_json, out);
            }
        }
        Ok(())
    }

    async fn hear(&mut self, news: EngineEvent, desk: &Session, in_json: bool, out: &mut Out) -> Result<(), CliError> {
        match news {
            EngineEvent::Job(row) => self.put(*row, in_json, out),
            EngineEvent::Prompt { job, .. } => self.put(*job, in_json, out),
            EngineEvent::Merged { gone, into } if self.rows.remove(&gone).is_some() => {
                if let Some(place) = self.order.iter_mut().find(|key| **key == gone) {
                    *place = into;
                }
                self.rows.extend(desk.store.job(into).await?.map(|row| (into, row)));
            }
            EngineEvent::Budget(RateLimited::Create, budget) => {
                let limit = budget.wait();
                let waits = self.rows.values().any(|row| row.undelivered == Some(DeliveryKind::Queued));
                if let Some(wait) = limit.filter(|_| self.limit.is_none() && waits) {
                    tell(&format!("hourly limit reached; sending the next {}", when(wait)), out);
                }
                self.limit = limit;
            }
            EngineEvent::Connection(connection @ Connection::Offline { .. }) => {
                connection_words(&connection).iter().for_each(|words| tell(words.as_str(), out));
            }
            EngineEvent::Trouble(failure) => tell(failure.sentence.as_str(), out),
            EngineEvent::Notice(text) => tell(text.as_str(), out),
            EngineEvent::Unrecorded(unrecorded) => tell(unrecorded.sentence().as_str(), out),
            _ => {}
        }
        Ok(())
    }

    fn put(&mut self, new: Job, in_json: bool, out: &mut Out) {
        let Some(old) = self.rows.get(&new.key) else { return };
        if old.revision > new.revision {
            return;
        }
        if old.id.is_none() && new.id.is_some() {
            tell(&format!("accepted: {} (job {})", new.title, id(&new)), out);
            if !in_json && !out.is_terminal() {
                out.line(&id(&new));
            }
        } else if let Some(kind) = new.undelivered.filter(|kind| kind.needs_user() && old.undelivered != Some(*kind)) {
            tell(&format!("{}: {}", kind.word(), new.title), out);
        }
        self.rows.insert(new.key, new);
    }

    /// A refused key or a service out of reach: the rest is not sent after it.
    fn is_broken(&self, desk: &Session) -> bool {
        desk.is_key_refused() || self.rows.values().any(|row| row.undelivered == Some(DeliveryKind::NotSent))
    }

    fn live_line(&self) -> String {
        let open = self.rows.values().filter(|row| is_open(row)).count();
        let waits = self.limit.map(|wait| format!(" · hourly limit reached, next {}", when(wait))).unwrap_or_default();
        format!(
            "{} of {} sent · {}{waits}",
            self.rows.len() - open,
            plural(self.rows.len(), "prompt"),
            self.timer.waited()
        )
    }

    async fn answer(
        mut self,
        desk: &mut Session,
        end: BatchEnd,
        options: &Options,
        out: &mut Out,
    ) -> Result<Code, CliError> {
        let mut paused = 0;
        if end != BatchEnd::Settled {
            paused = self.pause(desk).await?;
            desk.await_answers(out).await;
            self.read_again(desk, options.json, out).await?;
        }
        let rows: Vec<Job> = self.order.iter().filter_map(|key| self.rows.get(key)).cloned().collect();
        let refusal = self.refusal(desk, end, paused);
        let wait = options.wait && refusal.is_none() && !rows.is_empty();
        let mut waiting = JobWait::new(rows, self.timer);
        let (code, refusal) = if wait {
            let end = waiting.wait(desk, out).await?;
            (waiting.code(), waiting.refusal(end, &again(&waiting.rows)))
        } else {
            (Code::Done, refusal)
        };
        let known =
            if options.json { json!({ "jobs": as_json(&desk.store, &waiting.rows).await? }) } else { Value::Null };
        match refusal {
            Some(refusal) => return Err(refusal.with(known)),
            None if options.json => out.json(&known),
            None => tell(&format!("all accepted: {}", plural(waiting.rows.len(), "job")), out),
        }
        match out.failed() {
            Some(_) => Err(CliError::new(
                Code::Unconfirmed,
                "All prompts were accepted and must not be sent again; only the answer could not be written. Their ids \
                 stand above, and `docdeck jobs` lists them.",
            )),
            None => Ok(code),
        }
    }

    /// What has not gone out stays on disk and goes nowhere by itself.
    async fn pause(&mut self, desk: &mut Session) -> Result<usize, CliError> {
        let queued: Vec<JobKey> = self
            .order
            .iter()
            .filter(|key| self.rows.get(key).is_some_and(|row| row.undelivered == Some(DeliveryKind::Queued)))
            .copied()
            .collect();
        let engine = desk.engine.clone();
        let paused = desk.undisturbed(engine.change_queue(&queued, QueueChange::Pause)).await?;
        let count = paused.len();
        self.rows.extend(paused.into_iter().map(|row| (row.key, row)));
        Ok(count)
    }

    fn refusal(&self, desk: &Session, end: BatchEnd, paused: usize) -> Option<CliError> {
        let count = |kind| self.rows.values().filter(|row| row.undelivered == Some(kind)).count();
        let all = plural(self.rows.len(), "prompt");
        let accepted = self.rows.values().filter(|row| row.id.is_some() && row.undelivered.is_none()).count();
        let mut stand = format!("{accepted} of {all} accepted");
        let kinds = [DeliveryKind::Unconfirmed, DeliveryKind::Rejected, DeliveryKind::NotSent, DeliveryKind::Sending];
        for kind in kinds.into_iter().chain([DeliveryKind::Paused]) {
            if count(kind) > 0 {
                stand.push_str(&format!(", {} {}", count(kind), kind.word()));
            }
        }
        let (code, begin) = match end {
            BatchEnd::Interrupted => (Code::Interrupted, "Interrupted: "),
            BatchEnd::Late => (Code::TimedOut, "Timed out: "),
            _ if count(DeliveryKind::Unconfirmed) > 0 => (Code::Unconfirmed, ""),
            _ if desk.is_key_refused() => (Code::KeyRefused, "The service does not accept the key: "),
            _ if count(DeliveryKind::Rejected) + count(DeliveryKind::NotSent) > 0 => (Code::Service, ""),
            _ if count(DeliveryKind::Paused) > 0 => (Code::Limited, ""),
            BatchEnd::Settled | BatchEnd::Broken if accepted == self.rows.len() => return None,
            BatchEnd::Settled | BatchEnd::Broken => (Code::Service, "Some were discarded elsewhere: "),
        };
        let mut hints = String::new();
        if paused > 0 {
            hints.push_str(" What is paused is kept in the queue: the same command with --rest goes on with it.");
        }
        if count(DeliveryKind::Unconfirmed) + count(DeliveryKind::Rejected) > 0 {
            hints.push_str(
                " `!` in the dashboard decides about what is unconfirmed or rejected; an unconfirmed prompt may have been \
                 carried out, so it must not simply be sent again.",
            );
        }
        let mut code = code;
        for unrecorded in desk.unrecorded.iter() {
            hints.push_str(&format!(" {}", unrecorded.sentence()));
            if unrecorded.may_be_carried_out() {
                code = Code::Unconfirmed;
            }
        }
        Some(CliError::new(code, format!("{begin}{stand}.{hints}")))
    }
}
