//! Deletes jobs that are finished and viewed, and have not changed for a long time. Never deletes a job that has an
//! undelivered prompt or a draft.

use super::error::StoreResult;
use super::prune::PruneOutcome;
use super::query::Query as _;
use super::scopes::{self, ScopeFilter};
use super::{Store, diffs, drafts, job_rows, jobs, kv, prompts, unsent_reviews};
use crate::model::Time;
use crate::model::job::{Job, JobGroup, JobKey};
use crate::model::prompt::{DeliveryKind, DraftTarget};
use rusqlite::{Connection, Transaction};
use std::collections::HashSet;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobPruneFilter {
    /// Only jobs that have not changed since this moment are deleted.
    pub before: Time,
    /// Only jobs of these projects and services are deleted.
    pub scopes: ScopeFilter,
}

/// Counts of the jobs that were deleted and skipped, and of deleted prompts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PrunedJobCounts {
    pub jobs: u64,
    /// Prompts of the deleted jobs.
    pub prompts: u64,
    /// Jobs that are old enough but are not deleted, since they are unfinished or not viewed, or have an undelivered
    /// prompt or a draft.
    pub skipped: u64,
}

impl Store {
    /// Counts what [`Store::prune_jobs`] would delete. Changes nothing.
    pub async fn plan_prune_jobs(&self, filter: JobPruneFilter) -> StoreResult<PruneOutcome<PrunedJobCounts>> {
        self.read(move |db| PruneOutcome::from_counts(db, jobs_to_delete(db, &filter)?.1)).await
    }

    /// Deletes the selected jobs with their threads in one transaction, then returns their space to the disk. Also
    /// deletes what is stored about pull requests to which no job links any longer. Other instances notice the deletion
    /// because [`Store::prune_count`] changes.
    pub async fn prune_jobs(&self, filter: JobPruneFilter) -> StoreResult<PruneOutcome<PrunedJobCounts>> {
        let delete = self.write(move |tx| {
            let (keys, counts) = jobs_to_delete(tx, &filter)?;
            let pruned = PruneOutcome::from_counts(tx, counts)?;
            if !keys.is_empty() {
                delete_jobs(tx, &keys)?;
                kv::increment_number(tx, jobs::PRUNE_COUNT_KEY)?;
            }
            Ok(pruned)
        });
        let pruned = delete.await?;
        self.run_without_transaction(move |db| pruned.shrink_file(db, pruned.counts.jobs > 0)).await
    }
}

/// Returns the keys of the jobs to delete, and the counts of what is deleted and skipped.
fn jobs_to_delete(db: &Connection, filter: &JobPruneFilter) -> StoreResult<(Vec<JobKey>, PrunedJobCounts)> {
    let (mut keys, mut pruned) = (Vec::new(), PrunedJobCounts::default());
    for (scope, _) in scopes::read_scopes(db)?.into_iter().filter(|(_, scope)| filter.scopes.includes(scope)) {
        let mut jobs_with_draft = HashSet::new();
        let mut prompts_with_draft = HashSet::new();
        for draft in drafts::list_drafts(db, scope)? {
            match draft.slot {
                DraftTarget::FollowUp(key) => drop(jobs_with_draft.insert(key)),
                DraftTarget::Prompt(id) => drop(prompts_with_draft.insert(id)),
                DraftTarget::NewJob | DraftTarget::AboutPages | DraftTarget::Batch => {}
            }
        }
        for row in job_rows::load_jobs(db, scope)?.into_iter().filter(|row| last_change(row) < filter.before) {
            let thread = prompts::read_thread(db, row.key)?;
            let has_draft = jobs_with_draft.contains(&row.key)
                || thread.prompts.iter().any(|prompt| prompts_with_draft.contains(&prompt.id));
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

/// Returns the time at which the job, its prompts or its delivery state last changed.
fn last_change(row: &Job) -> Time {
    [
        Some(row.created_at),
        Some(row.last_accepted_at()),
        Some(row.local.changed_at),
        row.local.finished_at,
        row.remote.archived_at,
        row.local.undelivered_at,
    ]
    .into_iter()
    .flatten()
    .fold(Time::MIN_UTC, Time::max)
}

/// Whether the job needs nothing more: the agent has finished, no prompt is undelivered, and the user has seen the
/// result. A job that was never created because its first prompt was discarded counts as done, too.
fn is_done(row: &Job) -> bool {
    match row.local.undelivered {
        Some(undelivered) => undelivered == DeliveryKind::Discarded,
        None if row.id.is_none() => row.local.dismissed,
        None => {
            let is_finished = row.local.gone || row.remote.is_finished();
            is_finished && !row.is_unseen() && row.group() != JobGroup::NeedsYou
        }
    }
}

fn delete_jobs(tx: &Transaction<'_>, keys: &[JobKey]) -> StoreResult<()> {
    // For a row that was merged into a job, only the row itself is deleted: its prompts, events and pages already
    // belong to the job.
    for sql in [
        "DELETE FROM event WHERE job = ?1",
        "DELETE FROM job_page WHERE job = ?1",
        "DELETE FROM job_signals WHERE job = ?1",
        "DELETE FROM prompt WHERE job = ?1",
        "DELETE FROM job WHERE merged_into = ?1",
        "DELETE FROM job WHERE key = ?1",
    ] {
        for key in keys {
            tx.change(sql, [key])?;
        }
    }
    diffs::delete_unlinked_pull_request_data(tx)?;
    unsent_reviews::delete_unlinked_unsent_reviews(tx)
}
