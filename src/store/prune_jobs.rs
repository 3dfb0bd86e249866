//! Deletes old jobs: finished, viewed and unchanged for a long time. Never deletes jobs that are unsent, unfinished or
//! unviewed, or have a draft.

use super::backup::ExportFilter;
use super::error::StoreResult;
use super::prune::file_bytes;
use super::{Store, drafts, jobs, kv, prompts, scopes};
use crate::model::Time;
use crate::model::job::Status;
use crate::model::prompt::{DeliveryKind, DraftSlot};
use crate::model::row::{Job, JobGroup, JobKey};
use rusqlite::{Connection, Transaction};
use std::collections::HashSet;

/// The key under which the number of prunes is stored, so that other instances notice them.
pub(super) const COUNT: &str = "prunes";

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PruneJobs {
    /// Jobs that have not changed since this moment.
    pub before: Time,
    pub only: ExportFilter,
}

/// What was deleted, or would be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PrunedJobs {
    pub jobs: u64,
    /// Prompts of these jobs.
    pub prompts: u64,
    /// Jobs as old as these that stay: working, unsent, not viewed, or with a draft.
    pub skipped: u64,
    /// Bytes of the whole file before and after; equal if nothing was deleted.
    pub bytes_before: u64,
    pub bytes_after: u64,
    /// Whether the file could not be made smaller; docdeck uses the free space in it again.
    pub still_large: bool,
}

impl Store {
    /// What [`Store::prune_jobs`] would delete. Changes nothing.
    pub async fn plan_prune_jobs(&self, what: PruneJobs) -> StoreResult<PrunedJobs> {
        let work = move |db: &Connection| {
            let bytes = file_bytes(db)?;
            Ok(PrunedJobs { bytes_before: bytes, bytes_after: bytes, ..jobs_to_delete(db, &what)?.1 })
        };
        self.handle.read(work).await
    }

    /// Deletes the jobs with their threads in one transaction, then returns the space to the disk. Other instances
    /// notice by [`Store::prunes`].
    pub async fn prune_jobs(&self, what: PruneJobs) -> StoreResult<PrunedJobs> {
        let work = move |tx: &Transaction<'_>| {
            let bytes_before = file_bytes(tx)?;
            let (keys, pruned) = jobs_to_delete(tx, &what)?;
            if !keys.is_empty() {
                delete_jobs(tx, &keys)?;
                kv::count_up(tx, COUNT)?;
            }
            Ok(PrunedJobs { bytes_before, ..pruned })
        };
        let pruned = self.handle.write(work).await?;
        let vacuum = move |db: &mut Connection| {
            let still_large = pruned.jobs > 0 && db.execute_batch("VACUUM").is_err();
            Ok(PrunedJobs { bytes_after: file_bytes(db)?, still_large, ..pruned })
        };
        self.handle.run(vacuum).await
    }
}

/// The keys of the jobs to delete, and the counts.
fn jobs_to_delete(connection: &Connection, what: &PruneJobs) -> StoreResult<(Vec<JobKey>, PrunedJobs)> {
    let (mut keys, mut pruned) = (Vec::new(), PrunedJobs::default());
    for scope in scopes::read_scopes(connection)?.into_iter().filter(|scope| what.only.includes(scope)) {
        let mut with_draft = HashSet::new();
        let mut drafts_of_prompts = HashSet::new();
        for draft in drafts::list_drafts(connection, &scope)? {
            match draft.slot {
                DraftSlot::FollowUp(key) => drop(with_draft.insert(key)),
                DraftSlot::Prompt(id) => drop(drafts_of_prompts.insert(id)),
                DraftSlot::NewJob | DraftSlot::AboutPages | DraftSlot::Batch => {}
            }
        }
        for row in jobs::load_jobs(connection, &scope)?.into_iter().filter(|row| last_change(row) < what.before) {
            let thread = prompts::read_thread(connection, row.key)?;
            let has_draft = with_draft.contains(&row.key)
                || thread.prompts.iter().any(|prompt| drafts_of_prompts.contains(&prompt.id));
            if !is_done(&row) || has_draft {
                pruned.skipped += 1;
                continue;
            }
            pruned.jobs += 1;
            pruned.prompts += u64::try_from(thread.prompts.len()).unwrap_or(u64::MAX);
            keys.push(row.key);
        }
    }
    Ok((keys, pruned))
}

/// When the job, or something about it, last changed.
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

/// Whether the job is done: neither the user nor a prompt waits for it.
fn is_done(row: &Job) -> bool {
    match row.undelivered {
        Some(undelivered) => undelivered == DeliveryKind::Discarded,
        None if row.id.is_none() => row.dismissed,
        None => {
            let is_finished = row.gone || row.status.as_ref().is_some_and(Status::is_finished);
            is_finished && !row.is_unseen() && row.group() != JobGroup::NeedsYou
        }
    }
}

fn delete_jobs(tx: &Transaction<'_>, keys: &[JobKey]) -> StoreResult<()> {
    // Rows that were merged into a job have no prompts, events or pages any more.
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
