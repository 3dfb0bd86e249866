//! Reads the list of jobs, merges the service's responses, and merges two rows that turn out to be the same job.

use super::columns::{self, EVENT_COLUMNS};
use super::error::{StoreError, StoreResult};
use super::job_rows::{
    bump_revision_and_derive_columns, find_by_id, find_job, insert_events, insert_job, job_scope_id, load_jobs,
    query_jobs, read_job_or_merge_target, update_job,
};
use super::query::Query as _;
use super::{Store, drafts, kv, labels, pages, prompts, schema, scopes};
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::job::{FirstJobs, Job, JobGroup, JobKey, JobsLeftAfterPrune, LocalState, PullRequestCounts};
use crate::model::log::{LogEntry, LogKind};
use crate::model::merge;
use crate::model::prompt::JobEvent;
use crate::model::remote_job::{JobId, RemoteJob};
use crate::model::text::CleanText;
use rusqlite::{Connection, Transaction, params};
use std::collections::BTreeSet;

/// The key of the value that counts how often jobs were pruned. If the value has changed since an instance last read
/// it, jobs were deleted in the meantime.
pub(super) const PRUNE_COUNT_KEY: &str = "prunes";

/// The service's response to a GET request for a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobResponse {
    Job(RemoteJob),
    /// The service responded with 404.
    NotFound,
}

/// The result of merging the service's response into a stored job.
#[derive(Debug)]
pub struct JobMergeResult {
    /// The job after the merge.
    pub job: Job,
    /// The changes of the job; empty if nothing changed.
    pub events: Vec<JobEvent>,
    /// The title of an earlier job to which the service gave the same id, if a prompt from this store created that job;
    /// otherwise `None`.
    pub title_of_job_with_same_id: Option<CleanText>,
}

/// The changes to the jobs of a scope after a revision.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct JobChanges {
    /// The changed jobs with their current data, in the order in which they changed.
    pub jobs: Vec<Job>,
    /// Rows that were merged into another row: pairs of the merged row and the row that it was merged into.
    pub merged_job_keys: Vec<(JobKey, JobKey)>,
    /// The last revision whose changes are included.
    pub revision: i64,
    /// How many times jobs have been pruned since the store was created. If this changed, jobs may be missing; see
    /// [`Store::remaining_jobs`].
    pub prune_count: i64,
}

impl Store {
    /// Returns all jobs of the scope, including dismissed ones, oldest first.
    pub async fn jobs(&self, scope: &Scope) -> StoreResult<Vec<Job>> {
        self.read_in_scope(scope, load_jobs).await
    }

    /// Counts the jobs that belong to none of these scopes. Dismissed jobs don't count.
    pub async fn count_jobs_in_other_scopes(&self, scopes: Vec<Scope>) -> StoreResult<usize> {
        self.read(move |db| {
            let mut total = 0;
            for (id, other) in scopes::read_scopes(db)? {
                if !scopes.iter().any(|one| (&one.base_url, &one.project) == (&other.base_url, &other.project)) {
                    let [needs_you, working, queued, done, _] = read_group_counts(db, id)?.group_counts;
                    total += needs_you + working + queued + done;
                }
            }
            Ok(total)
        })
        .await
    }

    /// Returns the first `limit` rows of the jobs list, the size of each group, and the thread of the first row. A
    /// screen can show them before all jobs are read.
    pub async fn first_jobs(&self, scope: &Scope, limit: u32) -> StoreResult<FirstJobs> {
        self.read_in_scope(scope, move |db, scope| read_first_jobs(db, scope, limit)).await
    }

    /// Returns all jobs of the scope that have to be checked again at the service (those for which
    /// [`next_poll`](crate::model::poll::next_poll) returns a time), oldest first. A few of the returned jobs may not
    /// need a check.
    pub async fn jobs_to_check(&self, scope: &Scope) -> StoreResult<Vec<Job>> {
        self.read_in_scope(scope, |db, scope| {
            let unfinished = "NOT INDEXED WHERE scope = ?1 AND merged_into IS NULL AND gone = 0 AND id IS NOT NULL
                 AND (status IS NULL OR status NOT IN ('completed', 'archived', 'failed')
                     OR checked_at IS NULL OR finished_at IS NULL OR (status = 'completed' AND pr_link IS NULL))
                 ORDER BY key";
            query_jobs(db, unfinished, [scope])
        })
        .await
    }

    /// Returns the largest revision of the scope's rows; 0 if there are none.
    pub async fn latest_job_revision(&self, scope: &Scope) -> StoreResult<i64> {
        self.read_in_scope(scope, |db, scope| {
            db.query_value("SELECT coalesce(max(revision), 0) FROM job WHERE scope = ?1", [scope])
        })
        .await
    }

    /// Returns the row with this key; `None` if there is none. A row that was merged into another row has no id and is
    /// dismissed.
    pub async fn job(&self, key: JobKey) -> StoreResult<Option<Job>> {
        self.read(move |db| find_job(db, key)).await
    }

    /// Returns the row of the job with this id at the service. If the table contains the id but its index doesn't,
    /// rebuilds the indexes.
    pub async fn job_by_id(&self, scope: &Scope, id: &JobId) -> StoreResult<Option<Job>> {
        let wanted = id.clone();
        if let Some(row) = self.read_in_scope(scope, move |db, scope| find_by_id(db, scope, &wanted)).await? {
            return Ok(Some(row));
        }
        let wanted = id.clone();
        let unindexed = "NOT INDEXED WHERE scope = ?1 AND id = ?2";
        let found = self.read_in_scope(scope, move |db, scope| query_jobs(db, unindexed, params![scope, wanted]));
        let row = found.await?.pop();
        if row.is_some() {
            self.repair_indexes().await;
        }
        Ok(row)
    }

    /// Rebuilds the indexes if nothing else is wrong with the file; otherwise leaves the repair to the next opening.
    pub(super) async fn repair_indexes(&self) {
        // An error is ignored: if anything besides the indexes is damaged, `call` marks the store as damaged, and the
        // next opening repairs it.
        let _ = self
            .call(|worker| match worker.is_read_only {
                true => Err(StoreError::ReadOnly),
                false => schema::rebuild_damaged_indexes(&mut worker.connection),
            })
            .await;
    }

    /// Rebuilds the indexes with these names.
    pub async fn rebuild_indexes(&self, index_names: BTreeSet<String>) -> StoreResult<()> {
        self.write(move |tx| {
            index_names
                .iter()
                .try_for_each(|name| Ok(tx.execute_batch(&format!("REINDEX \"{}\"", name.replace('"', "")))?))
        })
        .await
    }

    /// Returns the changes to the jobs of the scope after `revision`.
    pub async fn jobs_changed_since(&self, scope: &Scope, revision: i64) -> StoreResult<JobChanges> {
        let scope = scope.clone();
        self.read(move |db| {
            let prune_count = kv::get_number(db, PRUNE_COUNT_KEY)?;
            let Some(scope) = scopes::find_scope(db, &scope)? else {
                return Ok(JobChanges { revision, prune_count, ..JobChanges::default() });
            };
            let changed = "WHERE scope = ?1 AND revision > ?2 AND merged_into IS NULL ORDER BY revision";
            let rows = query_jobs(db, changed, [scope, revision])?;
            let merged: Vec<(JobKey, JobKey, i64)> = db.query_all(
                "SELECT key, merged_into, revision FROM job
                 WHERE scope = ?1 AND revision > ?2 AND merged_into IS NOT NULL",
                [scope, revision],
                |row| row.try_into(),
            )?;
            let revisions = rows.iter().map(|row| row.revision).chain(merged.iter().map(|merged| merged.2));
            let revision = revisions.fold(revision, i64::max);
            let merged_job_keys = merged.into_iter().map(|(gone, into, _)| (gone, into)).collect();
            Ok(JobChanges { jobs: rows, merged_job_keys, revision, prune_count })
        })
        .await
    }

    /// Returns how many times jobs have been pruned since the store was created.
    pub async fn prune_count(&self) -> StoreResult<i64> {
        self.read(|db| kv::get_number(db, PRUNE_COUNT_KEY)).await
    }

    /// Returns the keys of all rows of the scope, including merged rows, and the highest key that was ever assigned.
    /// From these, the caller can determine which jobs were pruned.
    pub async fn remaining_jobs(&self, scope: &Scope) -> StoreResult<JobsLeftAfterPrune> {
        let scope = scope.clone();
        self.read(move |db| {
            let keys = match scopes::find_scope(db, &scope)? {
                Some(scope) => {
                    let all = "SELECT key FROM job NOT INDEXED WHERE scope = ?1 ORDER BY key";
                    db.query_all(all, [scope], |row| row.get(0))?
                }
                None => Vec::new(),
            };
            let largest_key = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'job'";
            Ok(JobsLeftAfterPrune { keys, largest_key: db.query_value(largest_key, [])? })
        })
        .await
    }

    /// Returns the keys of rows that turned out to be this job and were merged into it.
    pub async fn job_keys_merged_into(&self, job: JobKey) -> StoreResult<Vec<JobKey>> {
        self.read(move |db| {
            db.query_all("SELECT key FROM job WHERE merged_into = ?1 ORDER BY key", [job], |row| row.get(0))
        })
        .await
    }

    /// Returns the jobs that are about this page, newest first.
    pub async fn jobs_about_page(&self, scope: &Scope, path: &CleanText) -> StoreResult<Vec<Job>> {
        let path = path.clone();
        self.read_in_scope(scope, move |db, scope| {
            let about = "WHERE scope = ?1 AND merged_into IS NULL AND key IN (SELECT job FROM job_page WHERE path = ?2)
                 ORDER BY created_at DESC, key DESC";
            query_jobs(db, about, params![scope, path])
        })
        .await
    }

    /// Merges the service's response to a GET request into the job. Fields that the response leaves out keep their
    /// values.
    ///
    /// `job_before_request` is the job as it was before the request. If the job was given another id or a prompt was
    /// accepted since then, the response may be older than the stored job and changes nothing: an outdated `completed`
    /// would end the polling of a job that has just started again.
    pub async fn apply_job_response(
        &self,
        job_before_request: &Job,
        response: JobResponse,
        now: Time,
    ) -> StoreResult<JobMergeResult> {
        let job_before_request = job_before_request.clone();
        self.write(move |tx| merge_job_response(tx, &job_before_request, &response, now)).await
    }

    /// Starts to track a job that was created elsewhere. If a row already has the id of `job`, merges `job` into that
    /// row, and restores the row if it was dismissed.
    pub async fn track(&self, scope: &Scope, job: RemoteJob, now: Time) -> StoreResult<Job> {
        self.write_in_scope(scope, move |tx, scope| track_job(tx, scope, &job, now)).await
    }

    /// Returns the last `n` events as log entries, oldest first.
    pub async fn recent_events(&self, scope: &Scope, n: u32) -> StoreResult<Vec<LogEntry>> {
        self.read_in_scope(scope, move |db, scope| {
            let last = format!(
                "SELECT {EVENT_COLUMNS}, title FROM event CROSS JOIN job ON job.key = event.job
                 WHERE job.scope = ?1 ORDER BY event.id DESC LIMIT ?2"
            );
            let mut entries = db.query_all(&last, params![scope, n], |row| {
                let event = columns::read_event(row)?;
                let kind = LogKind::Transition(event.kind.log_text());
                Ok(LogEntry { at: event.at, subject: row.get("title")?, kind })
            })?;
            entries.reverse();
            Ok(entries)
        })
        .await
    }
}

/// The part after `FROM job` of the query for the first rows of the jobs list. In each group, the newest job comes
/// first, except that queued jobs are in the order of the queue. The index contains the complete sort key, so that
/// SQLite reads only the returned rows.
pub(super) const FIRST_JOBS_SQL: &str = "INDEXED BY job_by_list_order WHERE scope = ?1 AND merged_into IS NULL
     ORDER BY list_group, list_order, CASE list_group WHEN 2 THEN key ELSE -key END LIMIT ?2";

/// The query for [`PullRequestCounts`]. It reads only an index, not the table of jobs.
pub(super) const PULL_REQUEST_COUNTS_SQL: &str = "SELECT pr_need, count(*) FROM job
     WHERE scope = ?1 AND list_group = ?2 AND merged_into IS NULL AND pr_need IN ('review', 'fix') GROUP BY pr_need";

/// The number of jobs in each group of a scope. Rows that were merged into another row are not counted.
#[derive(Debug, Default)]
pub(super) struct GroupCounts {
    /// The number of jobs in each group, in the order of [`JobGroup`].
    pub(super) group_counts: [usize; JobGroup::ALL.len()],
    /// The number of jobs that the agent works on, including dismissed ones.
    pub(super) working_count: usize,
    pub(super) pull_requests: PullRequestCounts,
}

/// The value of the column `list_group` for jobs that need the user.
const NEEDS_YOU_GROUP: i64 = 0;
/// The value of the column `list_group` for jobs in the working group.
pub(super) const WORKING_GROUP: i64 = 1;
/// The value of the column `list_group` for dismissed jobs that the agent still works on.
pub(super) const WORKING_DISMISSED_GROUP: i64 = 4;

/// Reads what [`Store::first_jobs`] returns for the scope with this row id.
pub(super) fn read_first_jobs(db: &Connection, scope: i64, limit: u32) -> StoreResult<FirstJobs> {
    let GroupCounts { group_counts, working_count, pull_requests } = read_group_counts(db, scope)?;
    let jobs = query_jobs(db, FIRST_JOBS_SQL, params![scope, limit])?;
    let thread = jobs.first().map(|row| prompts::read_thread_of_resolved_key(db, row.key)).transpose()?;
    Ok(FirstJobs { jobs, group_counts, working_count, pull_requests, thread })
}

/// Reads the stored number of jobs in each group (triggers of the database keep it up to date), and counts pull
/// requests with an index.
pub(super) fn read_group_counts(db: &Connection, scope: i64) -> StoreResult<GroupCounts> {
    let groups: Vec<(i64, i64)> =
        db.query_all("SELECT list_group, jobs FROM job_count WHERE scope = ?1", [scope], |row| row.try_into())?;
    let mut counted = GroupCounts::default();
    for (group, size) in groups {
        let (Ok(index), Ok(size)) = (usize::try_from(group), usize::try_from(size)) else { continue };
        if let Some(slot) = counted.group_counts.get_mut(index.min(JobGroup::ALL.len() - 1)) {
            *slot += size;
        }
        if matches!(group, WORKING_GROUP | WORKING_DISMISSED_GROUP) {
            counted.working_count += size;
        }
    }
    let needs: Vec<(String, i64)> =
        db.query_all(PULL_REQUEST_COUNTS_SQL, [scope, NEEDS_YOU_GROUP], |row| row.try_into())?;
    for (need, jobs) in needs {
        let jobs = usize::try_from(jobs).unwrap_or_default();
        match need.as_str() {
            "review" => counted.pull_requests.to_review = jobs,
            _ => counted.pull_requests.failing = jobs,
        }
    }
    Ok(counted)
}

fn merge_job_response(
    tx: &Transaction<'_>,
    job_before_request: &Job,
    response: &JobResponse,
    now: Time,
) -> StoreResult<JobMergeResult> {
    let mut row = read_job_or_merge_target(tx, job_before_request.key)?;
    if row.id != job_before_request.id || row.last_accepted_at() != job_before_request.last_accepted_at() {
        return Ok(JobMergeResult { job: row, events: Vec::new(), title_of_job_with_same_id: None });
    }
    let events = match response {
        JobResponse::Job(job) => merge::merge_response(&mut row, job, now),
        JobResponse::NotFound => merge::mark_gone(&mut row, now),
    };
    insert_events(tx, row.key, &events)?;
    Ok(JobMergeResult { job: update_job(tx, &row)?, events, title_of_job_with_same_id: None })
}

/// Starts to track a job that was created elsewhere. If the job is already tracked, merges the response into its row
/// and restores the row if it was dismissed.
pub(super) fn track_job(tx: &Transaction<'_>, scope: i64, job: &RemoteJob, now: Time) -> StoreResult<Job> {
    if let Some(known) = find_by_id(tx, scope, &job.id)? {
        let mut row = merge_job_response(tx, &known, &JobResponse::Job(job.clone()), now)?.job;
        row.local.dismissed = false;
        return update_job(tx, &row);
    }
    let key = insert_job(tx, scope, &job.id.to_clean_text(), now)?;
    let mut row = read_job_or_merge_target(tx, key)?;
    let events = merge::merge_response(&mut row, job, now);
    row.id = Some(job.id.clone());
    row.local.started_at = row.created_at;
    // The job may have finished long ago; the response doesn't contain its finish time.
    row.local.finished_at = None;
    insert_events(tx, key, &events)?;
    update_job(tx, &row)
}

/// Gives `row` this id of the service; the caller must then write `row` with [`update_job`]. If another row already has
/// the id, merges the other row into `row`: moves its prompts, events, draft and pages to `row`, and replaces the data
/// of `row` with those of the other row. Only titles, tags and notes are combined (see [`labels::merge_labels`]). The
/// other row is kept, dismissed and without an id.
pub(super) fn assign_id(tx: &Transaction<'_>, row: &mut Job, id: &JobId) -> StoreResult<()> {
    let scope = job_scope_id(tx, row.key)?;
    if let Some(other) = find_by_id(tx, scope, id)?.filter(|other| other.key != row.key) {
        let (from, to) = (other.key, row.key);
        for sql in [
            "UPDATE prompt SET job = ?2 WHERE job = ?1",
            "UPDATE event SET job = ?2 WHERE job = ?1",
            "UPDATE OR REPLACE team_job SET job = ?2 WHERE job = ?1",
            "UPDATE job SET merged_into = ?2, id = NULL, dismissed = 1 WHERE key = ?1 OR merged_into = ?1",
        ] {
            tx.change(sql, [from, to])?;
        }
        drafts::move_draft(tx, from, to)?;
        pages::move_pages(tx, from, to)?;
        bump_revision_and_derive_columns(tx, from)?;
        let LocalState { title, has_custom_title, tags, note, .. } = row.local.clone();
        let local = LocalState { title, has_custom_title, tags, note, ..other.local.clone() };
        *row = Job { key: to, local, ..other.clone() };
        labels::merge_labels(tx, row, &other)?;
    }
    row.id = Some(id.clone());
    Ok(())
}
