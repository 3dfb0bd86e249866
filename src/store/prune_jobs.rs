//! Letting go of jobs that are over: finished, looked at and quiet for long. What is unsent, unfinished or not looked at is
//! never touched, nor is a job with a text that was begun.

use super::backup::ExportFilter;
use super::error::StoreError;
use super::prune::file_bytes;
use super::{Store, drafts, jobs, kv, prompts, scopes};
use crate::model::Time;
use crate::model::job::Status;
use crate::model::prompt::{DeliveryKind, DraftSlot};
use crate::model::row::{Job, JobGroup, JobKey};
use rusqlite::{Connection, Transaction};
use std::collections::HashSet;

type R<T> = Result<T, StoreError>;

/// How often jobs were let go of, among the small facts: other instances see it change.
pub(super) const COUNT: &str = "prunes";

/// Which jobs go.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PruneJobs {
    /// Those to which nothing happened since this moment.
    pub before: Time,
    pub only: ExportFilter,
}

/// What went, or would go.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PrunedJobs {
    pub jobs: u64,
    /// Prompts of these.
    pub prompts: u64,
    /// Jobs as old that stay: at work, unsent, not looked at, or with a draft.
    pub spared: u64,
    /// Bytes of the whole file before and after. The same when nothing was done.
    pub bytes_before: u64,
    pub bytes_after: u64,
    /// Whether the room could not be given back to the disk; docdeck itself uses it again.
    pub still_large: bool,
}

/// Pruning of jobs.
impl Store {
    /// What [`Store::prune_jobs`] would delete. Changes nothing.
    pub async fn would_prune_jobs(&self, what: PruneJobs) -> R<PrunedJobs> {
        let work = move |db: &Connection| {
            let bytes = file_bytes(db)?;
            Ok(PrunedJobs { bytes_before: bytes, bytes_after: bytes, ..over(db, &what)?.1 })
        };
        self.handle.read(work).await
    }

    /// Deletes the jobs with their threads in one transaction, then gives the room back to the disk. Other instances find
    /// out by [`Store::prunes`].
    pub async fn prune_jobs(&self, what: PruneJobs) -> R<PrunedJobs> {
        let work = move |tx: &Transaction<'_>| {
            let bytes_before = file_bytes(tx)?;
            let (keys, pruned) = over(tx, &what)?;
            if !keys.is_empty() {
                delete(tx, &keys)?;
                kv::count_up(tx, COUNT)?;
            }
            Ok(PrunedJobs { bytes_before, ..pruned })
        };
        let pruned = self.handle.write(work).await?;
        let vacuum = move |db: &mut Connection| {
            let still_large = pruned.jobs > 0 && db.execute_batch("VACUUM").is_err();
            Ok(PrunedJobs { bytes_after: file_bytes(db)?, still_large, ..pruned })
        };
        self.handle.bare(vacuum).await
    }
}

/// The jobs that are over, and how many.
fn over(connection: &Connection, what: &PruneJobs) -> R<(Vec<JobKey>, PrunedJobs)> {
    let (mut keys, mut pruned) = (Vec::new(), PrunedJobs::default());
    for scope in scopes::all(connection)?.into_iter().filter(|scope| what.only.includes(scope)) {
        let mut with_draft = HashSet::new();
        let mut drafts_of_prompts = HashSet::new();
        for draft in drafts::list(connection, &scope)? {
            match draft.slot {
                DraftSlot::FollowUp(key) => drop(with_draft.insert(key)),
                DraftSlot::Prompt(id) => drop(drafts_of_prompts.insert(id)),
                DraftSlot::NewJob | DraftSlot::AboutPages | DraftSlot::Batch => {}
            }
        }
        for row in jobs::list(connection, &scope)?.into_iter().filter(|row| last_change(row) < what.before) {
            let thread = prompts::thread(connection, row.key)?;
            let has_draft = with_draft.contains(&row.key)
                || thread.prompts.iter().any(|prompt| drafts_of_prompts.contains(&prompt.id));
            if !is_over(&row) || has_draft {
                pruned.spared += 1;
                continue;
            }
            pruned.jobs += 1;
            pruned.prompts += u64::try_from(thread.prompts.len()).unwrap_or(u64::MAX);
            keys.push(row.key);
        }
    }
    Ok((keys, pruned))
}

/// When something last happened to the job or was done to it.
fn last_change(row: &Job) -> Time {
    [
        Some(row.created_at),
        Some(row.last_accepted_at()),
        Some(row.changed_at),
        row.finished_at,
        row.archived_at,
        row.undelivered_at,
    ]
    .into_iter()
    .flatten()
    .fold(Time::MIN_UTC, Time::max)
}

/// Whether nobody waits for it any more: neither the user nor a prompt.
fn is_over(row: &Job) -> bool {
    match row.undelivered {
        Some(undelivered) => undelivered == DeliveryKind::Discarded,
        None if row.id.is_none() => row.dismissed,
        None => {
            let is_finished = row.gone || row.status.as_ref().is_some_and(Status::is_finished);
            is_finished && !row.is_unseen() && row.group() != JobGroup::NeedsYou
        }
    }
}

fn delete(tx: &Transaction<'_>, keys: &[JobKey]) -> R<()> {
    // Rows that were merged into a job have nothing of their own any more.
    for sql in [
        "DELETE FROM event WHERE job = ?1",
        "DELETE FROM job_page WHERE job = ?1",
        "DELETE FROM prompt WHERE job = ?1",
        "DELETE FROM job WHERE merged_into = ?1",
        "DELETE FROM job WHERE key = ?1",
    ] {
        let mut statement = tx.prepare(sql)?;
        for key in keys {
            statement.execute([key.0])?;
        }
    }
    Ok(())
}
