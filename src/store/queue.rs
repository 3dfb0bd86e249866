//! The line of prompts that wait to be sent: in which order they may go out, and what the user does to it.
//!
//! A prompt's place is its id until the user moves it, so that a new one is always last.

use super::columns::{self, UnixMillis, opt_time};
use super::error::StoreError;
use super::{QueuedPrompt, jobs, prompts, scopes};
use crate::model::Time;
use crate::model::change::{Discarded, QueueChange};
use crate::model::endpoint::Scope;
use crate::model::prompt::PromptId;
use crate::model::row::{Job, JobKey};
use rusqlite::{Connection, Transaction, params};
use std::collections::BTreeSet;

type R<T> = Result<T, StoreError>;

/// Only what waits is read, however long the record has become: CROSS JOIN keeps SQLite from going through all jobs.
pub(super) const QUEUED: &str = "SELECT prompt.id, prompt.job, prompt.kind, prompt.until
     FROM prompt CROSS JOIN job ON job.key = prompt.job
     WHERE prompt.state = 'queued' AND (prompt.held = 0 OR prompt.instance = ?2) AND job.scope = ?1
       AND (prompt.kind = 'create' OR job.id IS NOT NULL)
       AND NOT EXISTS (SELECT 1 FROM prompt AS earlier WHERE earlier.job = prompt.job AND earlier.id < prompt.id
                       AND earlier.state NOT IN ('accepted', 'dismissed'))
     ORDER BY coalesce(prompt.place, prompt.id)";

/// Prompts that are first in their job's line, have where to go and are not paused for this instance, in order.
pub(super) fn waiting(connection: &Connection, scope: &Scope, instance: Option<&str>) -> R<Vec<QueuedPrompt>> {
    let Some(scope) = scopes::find(connection, scope)? else { return Ok(Vec::new()) };
    let mut ask = connection.prepare_cached(QUEUED)?;
    let prompts = ask.query_map(params![scope, instance], |row| {
        Ok(QueuedPrompt {
            prompt: PromptId(row.get(0)?),
            job: JobKey(row.get(1)?),
            kind: columns::prompt_kind(row, 2)?,
            until: opt_time(row, 3)?,
        })
    })?;
    Ok(prompts.collect::<rusqlite::Result<_>>()?)
}

/// Changes the queued prompts of these jobs; gives every row that this changed, also those that others moved past.
pub(super) fn change(tx: &Transaction<'_>, jobs: &[JobKey], change: QueueChange, now: Time) -> R<Vec<Job>> {
    let keys = current(tx, jobs)?;
    let changed = match change {
        QueueChange::Pause => hold(tx, &keys, true, now)?,
        QueueChange::Release => hold(tx, &keys, false, now)?,
        QueueChange::Up | QueueChange::Down => shift(tx, &keys, change == QueueChange::Up)?,
    };
    changed.into_iter().map(|key| jobs::touch(tx, key)).collect()
}

/// The rows that stand for these jobs now.
fn current(tx: &Transaction<'_>, jobs: &[JobKey]) -> R<BTreeSet<JobKey>> {
    jobs.iter().map(|key| jobs::current(tx, *key)).collect()
}

fn hold(tx: &Transaction<'_>, keys: &BTreeSet<JobKey>, held: bool, now: Time) -> R<BTreeSet<JobKey>> {
    let mut write = tx.prepare_cached(
        "UPDATE prompt SET held = ?2, state_at = ?3, instance = NULL
         WHERE job = ?1 AND state = 'queued' AND (held <> ?2 OR instance IS NOT NULL)",
    )?;
    let mut changed = BTreeSet::new();
    for key in keys {
        if write.execute(params![key.0, held, UnixMillis(now)])? > 0 {
            changed.insert(*key);
        }
    }
    Ok(changed)
}

/// Pauses this prompt alone, unless it is not queued any more; its row if it was.
pub(super) fn pause_one(tx: &Transaction<'_>, prompt: PromptId, now: Time) -> R<Option<Job>> {
    let job = prompts::get(tx, prompt)?.job;
    let paused = tx
        .prepare_cached(
            "UPDATE prompt SET held = 1, state_at = ?2, instance = NULL WHERE id = ?1 AND state = 'queued'",
        )?
        .execute(params![prompt.0, UnixMillis(now)])?;
    if paused == 0 { Ok(None) } else { jobs::touch(tx, job).map(Some) }
}

/// Discards all that is queued of these jobs; nothing of it is sent any more.
pub(super) fn remove(tx: &Transaction<'_>, jobs: &[JobKey], now: Time) -> R<Discarded> {
    let keys = current(tx, jobs)?;
    let mut ask = tx.prepare_cached("SELECT id FROM prompt WHERE job = ?1 AND state = 'queued' ORDER BY id")?;
    let mut removed = Discarded::default();
    for key in &keys {
        let queued: Vec<PromptId> =
            ask.query_map([key.0], |row| row.get(0).map(PromptId))?.collect::<rusqlite::Result<_>>()?;
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

/// A new job that waits, where it stands in the line.
struct InLine {
    prompt: i64,
    job: JobKey,
    place: i64,
}

/// Moves the new jobs of these rows one place on; several keep their order, and stop together at the end of the line.
fn shift(tx: &Transaction<'_>, keys: &BTreeSet<JobKey>, towards_front: bool) -> R<BTreeSet<JobKey>> {
    let Some(first) = keys.first() else { return Ok(BTreeSet::new()) };
    let mut line = line(tx, jobs::scope_of(tx, *first)?)?;
    let places: Vec<i64> = line.iter().map(|waiting| waiting.place).collect();
    if !towards_front {
        line.reverse();
    }
    for at in 1..line.len() {
        let moves = |at: usize| line.get(at).is_some_and(|waiting| keys.contains(&waiting.job));
        if moves(at) && !moves(at - 1) {
            line.swap(at - 1, at);
        }
    }
    if !towards_front {
        line.reverse();
    }
    let mut write = tx.prepare_cached("UPDATE prompt SET place = ?2 WHERE id = ?1")?;
    let mut changed = BTreeSet::new();
    for (waiting, place) in line.iter().zip(places) {
        if waiting.place != place {
            write.execute([waiting.prompt, place])?;
            changed.insert(waiting.job);
        }
    }
    Ok(changed)
}

fn line(tx: &Transaction<'_>, scope: i64) -> R<Vec<InLine>> {
    let mut ask = tx.prepare_cached(
        "SELECT prompt.id, prompt.job, coalesce(prompt.place, prompt.id) AS place
         FROM prompt CROSS JOIN job ON job.key = prompt.job
         WHERE prompt.state = 'queued' AND prompt.kind = 'create' AND job.scope = ?1 ORDER BY place",
    )?;
    let line =
        ask.query_map([scope], |row| Ok(InLine { prompt: row.get(0)?, job: JobKey(row.get(1)?), place: row.get(2)? }))?;
    Ok(line.collect::<rusqlite::Result<_>>()?)
}
