//! The queue of prompts that wait to be sent: their order, and the user's changes to it.
//!
//! A prompt's position is its id until the user moves it, so that a new prompt is always last.

use super::columns::{UnixMillis, read_optional_time};
use super::error::StoreResult;
use super::query::Query as _;
use super::{Store, job_rows, prompts};
use crate::model::Time;
use crate::model::change::{DiscardedPrompts, QueueChange};
use crate::model::endpoint::Scope;
use crate::model::job::{Job, JobKey};
use crate::model::prompt::{DeliveryKind, PromptId, PromptKind};
use rusqlite::{Connection, Transaction, params};
use std::collections::BTreeSet;

/// What paused a prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PausedBy {
    /// The prompt is not paused.
    None,
    /// The user paused the prompt.
    User,
    /// The prompt is reserved for the instance with this name. For all other instances, it is paused.
    Instance(String),
}

/// A queued prompt that is neither blocked by an earlier prompt of its thread nor paused for the instance that asked
/// for sendable prompts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SendablePrompt {
    pub prompt: PromptId,
    pub job: JobKey,
    pub kind: PromptKind,
    /// The earliest time to send the prompt, in the service's time; `None` if it needn't wait.
    pub not_before: Option<Time>,
}

impl Store {
    /// Returns the queued prompts of the scope that are neither paused nor blocked by an earlier prompt of their
    /// thread, and whose job has an id (except for prompts of new jobs), in the order in which they may be sent.
    pub async fn sendable_prompts(&self, scope: &Scope) -> StoreResult<Vec<SendablePrompt>> {
        self.read_in_scope(scope, |db, scope| sendable_prompts(db, scope, None)).await
    }

    /// Like [`Store::sendable_prompts`], but also returns the prompts that are reserved for the instance with this name
    /// (see [`Store::add_new_job_for_instance`]).
    pub async fn sendable_prompts_for(&self, scope: &Scope, instance: &str) -> StoreResult<Vec<SendablePrompt>> {
        let instance = instance.to_owned();
        self.read_in_scope(scope, move |db, scope| sendable_prompts(db, scope, Some(&instance))).await
    }

    /// Returns what paused this prompt.
    pub async fn paused_by(&self, prompt: PromptId) -> StoreResult<PausedBy> {
        self.read(move |db| {
            let stored = prompts::read_stored_prompt(db, prompt)?;
            Ok(match (stored.state, stored.instance) {
                (DeliveryKind::Paused, Some(instance)) => PausedBy::Instance(instance),
                (DeliveryKind::Paused, None) => PausedBy::User,
                _ => PausedBy::None,
            })
        })
        .await
    }

    /// Changes the queued prompts of all these jobs, or of none if one of the jobs is unknown. `Pause` and `Resume`
    /// change all queued prompts of a job; `Up` and `Down` swap new jobs with their neighbours in the queue. Skips jobs
    /// without a queued prompt. Returns every changed row, including the rows of the neighbours.
    pub async fn change_queue(&self, jobs: &[JobKey], change: QueueChange, now: Time) -> StoreResult<Vec<Job>> {
        let jobs = jobs.to_vec();
        self.write(move |tx| {
            let keys = resolve_merged_keys(tx, &jobs)?;
            let changed = match change {
                QueueChange::Pause => set_paused(tx, &keys, true, now)?,
                QueueChange::Resume => set_paused(tx, &keys, false, now)?,
                QueueChange::Up | QueueChange::Down => move_new_jobs(tx, &keys, change == QueueChange::Up)?,
            };
            changed.into_iter().map(|key| job_rows::bump_revision_and_derive_columns(tx, key)).collect()
        })
        .await
    }

    /// Discards all queued prompts of these jobs. Prompts that are already being sent are not discarded.
    pub async fn remove_from_queue(&self, jobs: &[JobKey], now: Time) -> StoreResult<DiscardedPrompts> {
        let jobs = jobs.to_vec();
        self.write(move |tx| {
            let mut removed = DiscardedPrompts::default();
            for key in resolve_merged_keys(tx, &jobs)? {
                let queued: Vec<PromptId> = tx.query_all(
                    "SELECT id FROM prompt WHERE job = ?1 AND state = 'queued' AND author IS NULL ORDER BY id",
                    [key],
                    |row| row.get(0),
                )?;
                for id in &queued {
                    prompts::set_discarded(tx, *id, now)?;
                }
                if !queued.is_empty() {
                    removed.jobs.push(job_rows::bump_revision_and_derive_columns(tx, key)?);
                }
                removed.prompts.extend(queued);
            }
            Ok(removed)
        })
        .await
    }

    /// Pauses one prompt and returns the row of its job; returns `None` if the prompt is not queued.
    pub async fn pause_prompt(&self, prompt: PromptId, now: Time) -> StoreResult<Option<Job>> {
        self.write(move |tx| {
            let job = prompts::read_local_prompt(tx, prompt)?.job;
            let changed_rows = tx.change(
                "UPDATE prompt SET paused = 1, state_at = ?2, instance = NULL WHERE id = ?1 AND state = 'queued'",
                params![prompt, UnixMillis(now)],
            )?;
            if changed_rows == 0 { Ok(None) } else { job_rows::bump_revision_and_derive_columns(tx, job).map(Some) }
        })
        .await
    }
}

/// The query for the prompts that may be sent. `CROSS JOIN` makes SQLite start with the queued prompts: otherwise it
/// might scan all jobs.
pub(super) const SENDABLE_PROMPTS_SQL: &str = "SELECT prompt.id, prompt.job, prompt.kind, prompt.until
     FROM prompt CROSS JOIN job ON job.key = prompt.job
     WHERE prompt.state = 'queued' AND (prompt.paused = 0 OR prompt.instance = ?2) AND job.scope = ?1
       AND prompt.author IS NULL AND (prompt.kind = 'create' OR job.id IS NOT NULL)
       AND NOT EXISTS (SELECT 1 FROM prompt AS earlier WHERE earlier.job = prompt.job AND earlier.id < prompt.id
                       AND earlier.state NOT IN ('accepted', 'dismissed') AND earlier.author IS NULL)
     ORDER BY coalesce(prompt.queue_position, prompt.id)";

fn sendable_prompts(db: &Connection, scope: i64, instance: Option<&str>) -> StoreResult<Vec<SendablePrompt>> {
    db.query_all(SENDABLE_PROMPTS_SQL, params![scope, instance], |row| {
        let not_before = read_optional_time(row, 3)?;
        Ok(SendablePrompt { prompt: row.get(0)?, job: row.get(1)?, kind: row.get(2)?, not_before })
    })
}

/// Returns the keys of these jobs. For a row that was merged into another row, returns the key of the other row.
fn resolve_merged_keys(tx: &Transaction<'_>, jobs: &[JobKey]) -> StoreResult<BTreeSet<JobKey>> {
    jobs.iter().map(|key| job_rows::resolve_merged_key(tx, *key)).collect()
}

fn set_paused(tx: &Transaction<'_>, keys: &BTreeSet<JobKey>, pause: bool, now: Time) -> StoreResult<BTreeSet<JobKey>> {
    let mut changed = BTreeSet::new();
    for key in keys {
        let changed_rows = tx.change(
            "UPDATE prompt SET paused = ?2, state_at = ?3, instance = NULL
             WHERE job = ?1 AND state = 'queued' AND (paused <> ?2 OR instance IS NOT NULL) AND author IS NULL",
            params![key, pause, UnixMillis(now)],
        )?;
        if changed_rows > 0 {
            changed.insert(*key);
        }
    }
    Ok(changed)
}

/// Moves the new jobs with these keys by one position, toward the front or the back of the queue. Their relative
/// order is kept. Jobs that are already in front (or at the back) stay there.
fn move_new_jobs(tx: &Transaction<'_>, keys: &BTreeSet<JobKey>, toward_front: bool) -> StoreResult<BTreeSet<JobKey>> {
    let Some(first) = keys.first() else { return Ok(BTreeSet::new()) };
    // The queued prompts of new jobs: prompt, job and position.
    let mut queue: Vec<(PromptId, JobKey, i64)> = tx.query_all(
        "SELECT prompt.id, prompt.job, coalesce(prompt.queue_position, prompt.id) AS position
         FROM prompt CROSS JOIN job ON job.key = prompt.job
         WHERE prompt.state = 'queued' AND prompt.kind = 'create' AND job.scope = ?1 AND prompt.author IS NULL
         ORDER BY position",
        [job_rows::job_scope_id(tx, *first)?],
        |row| row.try_into(),
    )?;
    let positions: Vec<i64> = queue.iter().map(|(_, _, position)| *position).collect();
    if !toward_front {
        queue.reverse();
    }
    for at in 1..queue.len() {
        let is_moved = |at: usize| queue.get(at).is_some_and(|(_, job, _)| keys.contains(job));
        if is_moved(at) && !is_moved(at - 1) {
            queue.swap(at - 1, at);
        }
    }
    if !toward_front {
        queue.reverse();
    }
    let mut changed = BTreeSet::new();
    for ((prompt, job, old), position) in queue.into_iter().zip(positions) {
        if old != position {
            tx.change("UPDATE prompt SET queue_position = ?2 WHERE id = ?1", params![prompt, position])?;
            changed.insert(job);
        }
    }
    Ok(changed)
}
