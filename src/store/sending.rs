//! The steps of sending (design.md: submitting): the one place where a prompt becomes `Sending`, and every way out.
//!
//! Each step is one transaction that looks at the prompt as it is now, so that no two instances send the same one.

use super::columns::UnixMillis;
use super::error::StoreError;
use super::prompts::{self, StoredPrompt};
use super::{MergeResult, SendOutcome, SendPermit, jobs, ledgers, merge, scopes};
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::job::{JobId, RemoteJob, Status};
use crate::model::ledger::{RateLimited, Wait};
use crate::model::prompt::{Delivery, DeliveryKind, PromptId, PromptKind};
use crate::model::row::{Job, JobKey};
use crate::model::text::CleanText;
use rusqlite::{Connection, Transaction, params};

type R<T> = Result<T, StoreError>;

/// Why a prompt is unconfirmed that a process left behind.
pub(super) const ABANDONED: &str =
    "docdeck ended before the answer came, so the service may or may not have carried it out";

/// Which ledger a prompt is paid from.
fn limited(kind: PromptKind) -> RateLimited {
    match kind {
        PromptKind::Create => RateLimited::Create,
        PromptKind::FollowUp => RateLimited::FollowUp,
    }
}

/// Whether the prompt may go out now; with [`Turn::Go`] its place in the ledger is taken and it is `Sending`.
pub(super) fn take_turn(
    tx: &Transaction<'_>,
    id: PromptId,
    instance: &str,
    now: Time,
    service_now: Time,
) -> R<SendPermit> {
    let prompt = prompts::get(tx, id)?;
    match prompt.state {
        DeliveryKind::Queued => {}
        DeliveryKind::Paused if prompt.instance.as_deref() == Some(instance) => {}
        DeliveryKind::Paused => return Ok(SendPermit::Behind),
        _ => return Ok(SendPermit::Taken),
    }
    let row = jobs::get(tx, prompt.job)?;
    let has_nowhere_to_go = prompt.kind == PromptKind::FollowUp && row.id.is_none();
    if has_nowhere_to_go || prompts::is_behind(tx, &prompt)? {
        return Ok(SendPermit::Behind);
    }
    // Projects alone own the ledgers of prompts; the organization plays no part.
    let scope = scope_of(tx, row.key)?;
    if let Err(Wait { until, .. }) = ledgers::spend(tx, &scope, limited(prompt.kind), service_now)? {
        // The prompt repeats what the ledger says, for the screen.
        if prompt.until != Some(until) {
            prompts::wait_until(tx, id, until)?;
            jobs::touch(tx, row.key)?;
        }
        return Ok(SendPermit::Wait { until });
    }
    let text = tx
        .prepare_cached(
            "UPDATE prompt SET state = 'sending', until = NULL, reason = NULL, instance = ?2, sent_at = ?3, state_at = ?3,
                 paid_at = ?4
             WHERE id = ?1 RETURNING text",
        )?
        .query_row(params![id.0, instance, UnixMillis(now), UnixMillis(service_now)], |row| row.get(0))?;
    jobs::touch(tx, row.key)?;
    Ok(SendPermit::Go { kind: prompt.kind, text, job: row.key, id: row.id })
}

/// Writes down how sending ended.
///
/// An acceptance always counts, also when another instance had given the sender up meanwhile; any other end counts only
/// while the prompt is still where the sender left it. What never reached the service is not counted as used.
pub(super) fn settle(tx: &Transaction<'_>, id: PromptId, how: SendOutcome, now: Time) -> R<MergeResult> {
    let prompt = prompts::get(tx, id)?;
    let unchanged = |row| MergeResult { row, events: Vec::new(), shares_id_with: None };
    let to = match how {
        SendOutcome::Accepted(job) => return accept(tx, &prompt, &job, now),
        _ if !matches!(prompt.state, DeliveryKind::Sending | DeliveryKind::Unconfirmed) => {
            return jobs::get(tx, prompt.job).map(unchanged);
        }
        SendOutcome::NotSent(reason) => {
            refund(tx, &prompt)?;
            Delivery::NotSent(reason)
        }
        SendOutcome::Rejected(reason) => Delivery::Rejected(reason),
        SendOutcome::Unconfirmed(reason) => Delivery::Unconfirmed(reason),
        SendOutcome::Limited { wait, at } => {
            ledgers::mark_full(tx, &scope_of(tx, prompt.job)?, limited(prompt.kind), wait, at)?;
            Delivery::Queued { until: Some(wait.until) }
        }
    };
    prompts::set(tx, id, &to, now)?;
    jobs::touch(tx, prompt.job).map(unchanged)
}

/// Gives back the place in the ledger that the last sending took.
fn refund(tx: &Transaction<'_>, prompt: &StoredPrompt) -> R<()> {
    let paid_at: Option<UnixMillis> =
        tx.prepare_cached("SELECT paid_at FROM prompt WHERE id = ?1")?.query_row([prompt.id.0], |row| row.get(0))?;
    let Some(UnixMillis(paid_at)) = paid_at else { return Ok(()) };
    ledgers::refund(tx, &scope_of(tx, prompt.job)?, limited(prompt.kind), paid_at)?;
    tx.prepare_cached("UPDATE prompt SET paid_at = NULL WHERE id = ?1")?.execute([prompt.id.0])?;
    Ok(())
}

fn accept(tx: &Transaction<'_>, prompt: &StoredPrompt, job: &RemoteJob, now: Time) -> R<MergeResult> {
    let mut events = Vec::new();
    let mut shares_id_with = None;
    prompts::set(tx, prompt.id, &Delivery::Accepted, now)?;
    let mut row = jobs::get(tx, prompt.job)?;
    let was_finished = row.status.as_ref().is_some_and(Status::is_finished);
    let is_about_this_job = match prompt.kind {
        PromptKind::Create if row.id.is_none() => {
            shares_id_with = created_before(tx, prompt.job, &job.id)?;
            jobs::join_id(tx, &mut row, &job.id)?;
            true
        }
        _ => row.id.as_ref() == Some(&job.id),
    };
    if is_about_this_job {
        events = merge::take_in(&mut row, job, now);
        jobs::record(tx, row.key, &events)?;
        row.dismissed = false;
    } else {
        // Sent twice with the user's consent, or a service that answers with another job: neither may get lost.
        jobs::track(tx, jobs::scope_of(tx, row.key)?, job, now)?;
    }
    if prompt.state != DeliveryKind::Accepted && (is_about_this_job || prompt.kind == PromptKind::FollowUp) {
        if prompt.kind == PromptKind::Create || was_finished {
            row.started_at = now;
        }
        if prompt.kind == PromptKind::FollowUp {
            row.followed_up_at = Some(now);
            row.handled_at = row.handled_at.max(Some(now.max(row.changed_at)));
            row.finished_at = None;
            if row.status != Some(Status::Active) {
                // The service may need a moment to wake the job: no look has been taken since the follow-up.
                row.checked_at = None;
            }
        }
    }
    Ok(MergeResult { row: jobs::put(tx, &row)?, events, shares_id_with })
}

/// The title of another row with this id whose own prompt created it.
fn created_before(tx: &Transaction<'_>, key: JobKey, id: &JobId) -> R<Option<CleanText>> {
    let other = jobs::find_by_id(tx, jobs::scope_of(tx, key)?, id)?;
    let Some(other) = other.filter(|other| other.key != key) else { return Ok(None) };
    let mut ask = tx.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM prompt WHERE job = ?1 AND kind = 'create' AND state = 'accepted')",
    )?;
    let was_created_here: bool = ask.query_row([other.key.0], |row| row.get(0))?;
    Ok(was_created_here.then_some(other.title))
}

/// The unconfirmed new job is this one.
pub(super) fn link(tx: &Transaction<'_>, id: PromptId, job: &RemoteJob, now: Time) -> R<Job> {
    let prompt = prompts::get(tx, id)?;
    let mut row = jobs::get(tx, prompt.job)?;
    if prompt.kind != PromptKind::Create || !prompt.state.needs_user() || row.id.is_some() {
        return Err(StoreError::MovedOn);
    }
    prompts::set(tx, id, &Delivery::Accepted, now)?;
    jobs::join_id(tx, &mut row, &job.id)?;
    let was_known = row.status.is_some();
    let events = merge::take_in(&mut row, job, now);
    if !was_known {
        row.started_at = job.created_at.or(prompt.sent_at).unwrap_or(row.started_at);
        // It may have been finished for a while: when is not known.
        row.finished_at = None;
    }
    row.dismissed = false;
    jobs::record(tx, row.key, &events)?;
    jobs::put(tx, &row)
}

/// Instances that hold a prompt in `Sending`.
pub(super) fn senders(connection: &Connection, scope: &Scope) -> R<Vec<String>> {
    let Some(scope) = scopes::find(connection, scope)? else { return Ok(Vec::new()) };
    let mut ask = connection.prepare_cached(
        "SELECT DISTINCT prompt.instance FROM prompt CROSS JOIN job ON job.key = prompt.job
         WHERE prompt.state = 'sending' AND job.scope = ?1 AND prompt.instance IS NOT NULL ORDER BY prompt.instance",
    )?;
    let instances = ask.query_map([scope], |row| row.get(0))?;
    Ok(instances.collect::<rusqlite::Result<_>>()?)
}

/// What a dead instance left in `Sending` becomes unconfirmed; the rows that this changed.
pub(super) fn abandon(tx: &Transaction<'_>, scope: &Scope, instance: &str, now: Time) -> R<Vec<Job>> {
    let Some(scope) = scopes::find(tx, scope)? else { return Ok(Vec::new()) };
    let left: Vec<(PromptId, JobKey)> = tx
        .prepare_cached(
            "SELECT prompt.id, prompt.job FROM prompt CROSS JOIN job ON job.key = prompt.job
             WHERE prompt.state = 'sending' AND job.scope = ?1 AND prompt.instance = ?2 ORDER BY prompt.id",
        )?
        .query_map(params![scope, instance], |row| Ok((PromptId(row.get(0)?), JobKey(row.get(1)?))))?
        .collect::<rusqlite::Result<_>>()?;
    left.into_iter()
        .map(|(id, job)| {
            prompts::set(tx, id, &Delivery::Unconfirmed(CleanText::line(ABANDONED)), now)?;
            jobs::touch(tx, job)
        })
        .collect()
}

fn scope_of(connection: &Connection, key: JobKey) -> R<Scope> {
    let mut ask = connection
        .prepare_cached("SELECT base_url, project FROM scope JOIN job ON job.scope = scope.id WHERE job.key = ?1")?;
    Ok(ask.query_row([key.0], |row| Ok(Scope { base_url: row.get(0)?, project: row.get(1)?, organization: None }))?)
}
