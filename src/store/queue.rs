//! The queue of prompts that wait to be sent: their order, and the user's changes to it.
//!
//! A prompt's position is its id until the user moves it, so that a new prompt is always last.

use super::columns::{self, UnixMillis, read_optional_time};
use super::error::StoreResult;
use super::{QueuedPrompt, jobs, prompts, scopes};
use crate::model::Time;
use crate::model::change::{DiscardedPrompts, QueueChange};
use crate::model::endpoint::Scope;
use crate::model::prompt::PromptId;
use crate::model::row::{Job, JobKey};
use rusqlite::{Connection, Transaction, params};
use std::collections::BTreeSet;

/// The query for the prompts that may be sent. `CROSS JOIN` makes SQLite start with the queued prompts: otherwise it
/// might scan all jobs.
pub(super) const SENDABLE_PROMPTS_SQL: &str = "SELECT prompt.id, prompt.job, prompt.kind, prompt.until
     FROM prompt CROSS JOIN job ON job.key = prompt.job
     WHERE prompt.state = 'queued' AND (prompt.paused = 0 OR prompt.instance = ?2) AND job.scope = ?1
       AND (prompt.kind = 'create' OR job.id IS NOT NULL)
       AND NOT EXISTS (SELECT 1 FROM prompt AS earlier WHERE earlier.job = prompt.job AND earlier.id < prompt.id
                       AND earlier.state NOT IN ('accepted', 'dismissed'))
     ORDER BY coalesce(prompt.queue_position, prompt.id)";

/// Returns, in the order of the queue, the queued prompts that are neither blocked by an earlier prompt of their thread
/// nor paused for `instance`, and whose job has an id (except for prompts of new jobs).
pub(super) fn sendable_prompts(
    connection: &Connection,
    scope: &Scope,
    instance: Option<&str>,
) -> StoreResult<Vec<QueuedPrompt>> {
    let Some(scope) = scopes::find_scope(connection, scope)? else { return Ok(Vec::new()) };
    let mut statement = connection.prepare_cached(SENDABLE_PROMPTS_SQL)?;
    let prompts = statement.query_map(params![scope, instance], |row| {
        Ok(QueuedPrompt {
            prompt: PromptId(row.get(0)?),
            job: JobKey(row.get(1)?),
            kind: columns::read_prompt_kind(row, 2)?,
            not_before: read_optional_time(row, 3)?,
        })
    })?;
    Ok(prompts.collect::<rusqlite::Result<_>>()?)
}

/// Changes the queued prompts of these jobs. Returns every changed row, including the rows of other jobs that only
/// changed places with them.
pub(super) fn apply_queue_change(
    tx: &Transaction<'_>,
    jobs: &[JobKey],
    change: QueueChange,
    now: Time,
) -> StoreResult<Vec<Job>> {
    let keys = current_keys(tx, jobs)?;
    let changed = match change {
        QueueChange::Pause => set_paused(tx, &keys, true, now)?,
        QueueChange::Resume => set_paused(tx, &keys, false, now)?,
        QueueChange::Up | QueueChange::Down => move_new_jobs(tx, &keys, change == QueueChange::Up)?,
    };
    changed.into_iter().map(|key| jobs::touch(tx, key)).collect()
}

/// Returns the keys of these jobs. For a row that was merged into another row, returns the key of the other row.
fn current_keys(tx: &Transaction<'_>, jobs: &[JobKey]) -> StoreResult<BTreeSet<JobKey>> {
    jobs.iter().map(|key| jobs::current_key(tx, *key)).collect()
}

fn set_paused(tx: &Transaction<'_>, keys: &BTreeSet<JobKey>, pause: bool, now: Time) -> StoreResult<BTreeSet<JobKey>> {
    let mut write = tx.prepare_cached(
        "UPDATE prompt SET paused = ?2, state_at = ?3, instance = NULL
         WHERE job = ?1 AND state = 'queued' AND (paused <> ?2 OR instance IS NOT NULL)",
    )?;
    let mut changed = BTreeSet::new();
    for key in keys {
        if write.execute(params![key.0, pause, UnixMillis(now)])? > 0 {
            changed.insert(*key);
        }
    }
    Ok(changed)
}

/// Pauses only this prompt. Returns the row of its job, or `None` if the prompt is not queued.
pub(super) fn pause_one(tx: &Transaction<'_>, prompt: PromptId, now: Time) -> StoreResult<Option<Job>> {
    let job = prompts::read_stored_prompt(tx, prompt)?.job;
    let changed_rows = tx
        .prepare_cached(
            "UPDATE prompt SET paused = 1, state_at = ?2, instance = NULL WHERE id = ?1 AND state = 'queued'",
        )?
        .execute(params![prompt.0, UnixMillis(now)])?;
    if changed_rows == 0 { Ok(None) } else { jobs::touch(tx, job).map(Some) }
}

/// Discards all queued prompts of these jobs.
pub(super) fn discard_queued_prompts(
    tx: &Transaction<'_>,
    jobs: &[JobKey],
    now: Time,
) -> StoreResult<DiscardedPrompts> {
    let keys = current_keys(tx, jobs)?;
    let mut statement = tx.prepare_cached("SELECT id FROM prompt WHERE job = ?1 AND state = 'queued' ORDER BY id")?;
    let mut removed = DiscardedPrompts::default();
    for key in &keys {
        let queued: Vec<PromptId> =
            statement.query_map([key.0], |row| row.get(0).map(PromptId))?.collect::<rusqlite::Result<_>>()?;
        for id in &queued {
            prompts::set_discarded(tx, *id, now)?;
        }
        if !queued.is_empty() {
            removed.rows.push(jobs::touch(tx, *key)?);
        }
        removed.prompts.extend(queued);
    }
    Ok(removed)
}

/// A queued prompt of a new job.
struct QueuedJob {
    prompt: i64,
    job: JobKey,
    position: i64,
}

/// Moves the new jobs with these keys by one position, towards the front or the back of the queue. They keep their
/// order among each other. Jobs that are already in front (or at the back) stay there.
fn move_new_jobs(tx: &Transaction<'_>, keys: &BTreeSet<JobKey>, towards_front: bool) -> StoreResult<BTreeSet<JobKey>> {
    let Some(first) = keys.first() else { return Ok(BTreeSet::new()) };
    let mut queue = read_queued_new_jobs(tx, jobs::job_scope_id(tx, *first)?)?;
    let positions: Vec<i64> = queue.iter().map(|queued| queued.position).collect();
    if !towards_front {
        queue.reverse();
    }
    for at in 1..queue.len() {
        let is_moved = |at: usize| queue.get(at).is_some_and(|queued| keys.contains(&queued.job));
        if is_moved(at) && !is_moved(at - 1) {
            queue.swap(at - 1, at);
        }
    }
    if !towards_front {
        queue.reverse();
    }
    let mut write = tx.prepare_cached("UPDATE prompt SET queue_position = ?2 WHERE id = ?1")?;
    let mut changed = BTreeSet::new();
    for (queued, position) in queue.iter().zip(positions) {
        if queued.position != position {
            write.execute([queued.prompt, position])?;
            changed.insert(queued.job);
        }
    }
    Ok(changed)
}

fn read_queued_new_jobs(tx: &Transaction<'_>, scope: i64) -> StoreResult<Vec<QueuedJob>> {
    let mut statement = tx.prepare_cached(
        "SELECT prompt.id, prompt.job, coalesce(prompt.queue_position, prompt.id) AS position
         FROM prompt CROSS JOIN job ON job.key = prompt.job
         WHERE prompt.state = 'queued' AND prompt.kind = 'create' AND job.scope = ?1 ORDER BY position",
    )?;
    let queue = statement.query_map([scope], |row| {
        Ok(QueuedJob { prompt: row.get(0)?, job: JobKey(row.get(1)?), position: row.get(2)? })
    })?;
    Ok(queue.collect::<rusqlite::Result<_>>()?)
}
