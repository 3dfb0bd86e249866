//! The table of jobs: reads the list, merges the service's answers, and merges two rows that turn out to be the same
//! job.
//!
//! Every change of a row ends with [`update_job`] or [`touch`], which give the row its next revision in the same
//! transaction.

use super::columns::{self, EVENT_COLUMNS, STATE_SQL, SharedTexts, UnixMillis};
use super::error::{StoreError, StoreResult};
use super::query::Query as _;
use super::{Store, drafts, kv, labels, merge, pages, prompts, prune_jobs, schema, scopes};
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::job::{JobId, RemoteJob};
use crate::model::log::{LogEntry, LogKind};
use crate::model::prompt::{EventKind, JobEvent};
use crate::model::row::{InitialRows, Job, JobGroup, JobKey, RemainingJobs};
use crate::model::text::CleanText;
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, Params, Transaction, params, params_from_iter};
use std::collections::BTreeSet;

/// The service's answer to a GET request for a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JobAnswer {
    Job(RemoteJob),
    /// The service answered with 404.
    NotFound,
}

/// The result of merging the service's answer into a stored job.
#[derive(Debug)]
pub struct MergeResult {
    /// The job's row after the merge.
    pub row: Job,
    /// The changes of the job; empty if nothing changed.
    pub events: Vec<JobEvent>,
    /// The title of an earlier job to which the service gave the same id, if a prompt from this store created that job;
    /// otherwise `None`.
    pub shares_id_with: Option<CleanText>,
}

/// The changes to the jobs of a scope after a revision.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct JobChanges {
    /// The changed jobs with their current data, in the order in which they changed.
    pub rows: Vec<Job>,
    /// Rows that were merged into another row: pairs of the merged row and the row that it was merged into.
    pub merged: Vec<(JobKey, JobKey)>,
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
    pub async fn count_in_other_scopes(&self, scopes: Vec<Scope>) -> StoreResult<usize> {
        self.read(move |db| {
            let mut total = 0;
            for (id, other) in scopes::read_scopes(db)? {
                if !scopes.iter().any(|one| (&one.base_url, &one.project) == (&other.base_url, &other.project)) {
                    let [needs_you, working, queued, done, _] = read_group_sizes(db, id)?.sizes;
                    total += needs_you + working + queued + done;
                }
            }
            Ok(total)
        })
        .await
    }

    /// Returns the first `limit` rows of the jobs list, which a screen can show before all jobs are read, the size of
    /// each group, and the thread of the first row.
    pub async fn first_jobs(&self, scope: &Scope, limit: u32) -> StoreResult<InitialRows> {
        self.read_in_scope(scope, move |db, scope| {
            let GroupSizes { sizes, working } = read_group_sizes(db, scope)?;
            let rows = query_jobs(db, FIRST_JOBS_SQL, params![scope, limit])?;
            let thread = rows.first().map(|row| prompts::thread_of_current(db, row.key)).transpose()?;
            Ok(InitialRows { rows, sizes, working, thread })
        })
        .await
    }

    /// Returns the jobs of the scope that may have to be checked again at the service, oldest first. These are all jobs
    /// for which [`next_poll`](crate::model::poll::next_poll) returns a time, and a few more.
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
    pub async fn revision(&self, scope: &Scope) -> StoreResult<i64> {
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

    /// Returns the row with this id of the service. If the table contains the id but its index doesn't, rebuilds the
    /// indexes.
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
        // If more than the indexes is damaged, `call` leaves a note for the next opening.
        let _ = self
            .call(|worker| match worker.read_only {
                true => Err(StoreError::ReadOnly),
                false => schema::rebuild_indexes(&mut worker.connection),
            })
            .await;
    }

    pub async fn rebuild_indexes(&self, names: BTreeSet<String>) -> StoreResult<()> {
        self.write(move |tx| {
            names.iter().try_for_each(|name| Ok(tx.execute_batch(&format!("REINDEX \"{}\"", name.replace('"', "")))?))
        })
        .await
    }

    /// Returns the changes to the jobs of the scope after `revision`.
    pub async fn jobs_changed_since(&self, scope: &Scope, revision: i64) -> StoreResult<JobChanges> {
        let scope = scope.clone();
        self.read(move |db| {
            let prune_count = kv::get_number(db, prune_jobs::PRUNE_COUNT_KEY)?;
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
            let merged = merged.into_iter().map(|(gone, into, _)| (gone, into)).collect();
            Ok(JobChanges { rows, merged, revision, prune_count })
        })
        .await
    }

    /// Returns how many times jobs have been pruned since the store was created.
    pub async fn prune_count(&self) -> StoreResult<i64> {
        self.read(|db| kv::get_number(db, prune_jobs::PRUNE_COUNT_KEY)).await
    }

    /// Returns the keys of all rows that the scope has now, including merged rows, and the highest key that was ever
    /// assigned. The caller can then forget jobs that were pruned.
    pub async fn remaining_jobs(&self, scope: &Scope) -> StoreResult<RemainingJobs> {
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
            Ok(RemainingJobs { keys, largest_key: db.query_value(largest_key, [])? })
        })
        .await
    }

    /// Returns the keys of rows that turned out to be this job and were merged into it.
    pub async fn merged_into(&self, job: JobKey) -> StoreResult<Vec<JobKey>> {
        self.read(move |db| {
            db.query_all("SELECT key FROM job WHERE merged_into = ?1 ORDER BY key", [job], |row| row.get(0))
        })
        .await
    }

    /// Returns the jobs that were started about this page, newest first.
    pub async fn jobs_about(&self, scope: &Scope, path: &CleanText) -> StoreResult<Vec<Job>> {
        let path = path.clone();
        self.read_in_scope(scope, move |db, scope| {
            let about = "WHERE scope = ?1 AND merged_into IS NULL AND key IN (SELECT job FROM job_page WHERE path = ?2)
                 ORDER BY created_at DESC, key DESC";
            query_jobs(db, about, params![scope, path])
        })
        .await
    }

    /// Merges the service's answer to a GET request into the job. Fields that the answer leaves out keep their values.
    pub async fn apply_fetched(&self, job: JobKey, answer: JobAnswer, now: Time) -> StoreResult<MergeResult> {
        self.write(move |tx| merge_fetched(tx, job, &answer, now)).await
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
                let kind = LogKind::Transition(event_log_text(&event.kind));
                Ok(LogEntry { at: event.at, subject: row.get("title")?, kind })
            })?;
            entries.reverse();
            Ok(entries)
        })
        .await
    }
}

pub(super) fn load_jobs(db: &Connection, scope: i64) -> StoreResult<Vec<Job>> {
    // `NOT INDEXED` reads the rows in their stored order, by key: if SQLite used an index by scope, it would have to
    // sort them.
    let all = columns::select_jobs_without_pages("NOT INDEXED WHERE scope = ?1 AND merged_into IS NULL ORDER BY key");
    let mut shared = SharedTexts::default();
    let mut rows = db.query_all(&all, [scope], |row| columns::read_job(row, &mut shared))?;
    pages::read_pages_into(db, &mut rows)?;
    Ok(rows)
}

/// The query for the first rows of the jobs list. In each group, the newest job comes first, except that queued jobs
/// are in the order of the queue. The index contains the complete sort key, so that SQLite reads only the returned
/// rows.
pub(super) const FIRST_JOBS_SQL: &str = "INDEXED BY job_by_list_order WHERE scope = ?1 AND merged_into IS NULL
     ORDER BY list_group, list_order, CASE list_group WHEN 2 THEN key ELSE -key END LIMIT ?2";

/// The number of jobs in each group of a scope. Rows that were merged into another row are not counted.
#[derive(Debug, Default)]
pub(super) struct GroupSizes {
    /// The size of each group, in the order of [`JobGroup`].
    pub(super) sizes: [usize; JobGroup::ALL.len()],
    /// The number of jobs that the agent works on, including dismissed ones.
    pub(super) working: usize,
}

/// The value of the column `list_group` for jobs in the working group.
pub(super) const WORKING_GROUP: i64 = 1;
/// The value of the column `list_group` for dismissed jobs that the agent still works on.
pub(super) const WORKING_DISMISSED_GROUP: i64 = 4;

/// Reads the sizes of the groups, which triggers keep up to date.
pub(super) fn read_group_sizes(db: &Connection, scope: i64) -> StoreResult<GroupSizes> {
    let groups: Vec<(i64, i64)> =
        db.query_all("SELECT list_group, jobs FROM job_count WHERE scope = ?1", [scope], |row| row.try_into())?;
    let mut counted = GroupSizes::default();
    for (group, size) in groups {
        let (Ok(index), Ok(size)) = (usize::try_from(group), usize::try_from(size)) else { continue };
        if let Some(slot) = counted.sizes.get_mut(index.min(JobGroup::ALL.len() - 1)) {
            *slot += size;
        }
        if matches!(group, WORKING_GROUP | WORKING_DISMISSED_GROUP) {
            counted.working += size;
        }
    }
    Ok(counted)
}

/// Returns the selected jobs; `rest` is what follows after `FROM job` in the query.
fn query_jobs(db: &Connection, rest: &str, params: impl Params) -> StoreResult<Vec<Job>> {
    let mut shared = SharedTexts::default();
    db.query_all(&columns::select_jobs(rest), params, |row| columns::read_job(row, &mut shared))
}

/// Returns the row with this key, even if it was merged into another row.
pub(super) fn find_job(db: &Connection, key: JobKey) -> StoreResult<Option<Job>> {
    Ok(query_jobs(db, "WHERE key = ?1", [key])?.pop())
}

/// Returns the row with this id of the service.
pub(super) fn find_by_id(db: &Connection, scope: i64, id: &JobId) -> StoreResult<Option<Job>> {
    Ok(query_jobs(db, "WHERE scope = ?1 AND id = ?2", params![scope, id])?.pop())
}

/// Returns the row with this key; if it was merged into another row, returns that row instead.
pub(super) fn read_current_job(db: &Connection, key: JobKey) -> StoreResult<Job> {
    let key = current_key(db, key)?;
    find_job(db, key)?.ok_or(StoreError::NoSuchJob)
}

/// Returns `key` itself; if its row was merged into another row, returns the key of that row instead.
pub(super) fn current_key(db: &Connection, key: JobKey) -> StoreResult<JobKey> {
    let current = "SELECT coalesce(merged_into, key) FROM job WHERE key = ?1";
    db.query_first(current, [key], |row| row.get(0))?.ok_or(StoreError::NoSuchJob)
}

/// Returns the id of the scope to which the job belongs.
pub(super) fn job_scope_id(db: &Connection, key: JobKey) -> StoreResult<i64> {
    let scope = db.query_first("SELECT scope FROM job WHERE key = ?1", [key], |row| row.get(0))?;
    scope.ok_or(StoreError::NoSuchJob)
}

/// Adds a row for a job of which nothing but the title is known yet.
pub(super) fn insert_job(tx: &Transaction<'_>, scope: i64, title: &CleanText, now: Time) -> StoreResult<JobKey> {
    let key = tx.insert(
        "INSERT INTO job (scope, title, created_at, started_at, changed_at, revision) VALUES (?1, ?2, ?3, ?3, ?3, 0)",
        params![scope, title, UnixMillis(now)],
    )?;
    Ok(JobKey(key))
}

/// Sets the title that a job has as long as the user gives it no other title.
pub(super) fn set_default_title(tx: &Transaction<'_>, key: JobKey, title: &CleanText) -> StoreResult<()> {
    tx.change("UPDATE job SET title = ?2 WHERE key = ?1", params![key, title])?;
    Ok(())
}

/// Writes the row, except for its title, tags and note (see `labels`). Returns the row as it is stored afterwards.
pub(super) fn update_job(tx: &Transaction<'_>, row: &Job) -> StoreResult<Job> {
    write_columns(tx, row.key, columns::written_columns(row))?;
    touch(tx, row.key)
}

/// Writes these columns of the row.
pub(super) fn write_columns<const N: usize>(
    tx: &Transaction<'_>,
    key: JobKey,
    columns: [(&str, ToSqlOutput<'_>); N],
) -> StoreResult<()> {
    let assignments: Vec<String> = columns.iter().zip(2..).map(|((name, _), at)| format!("{name} = ?{at}")).collect();
    let values = [key.0.into()].into_iter().chain(columns.into_iter().map(|(_, value)| value));
    tx.change(&format!("UPDATE job SET {} WHERE key = ?1", assignments.join(", ")), params_from_iter(values))?;
    Ok(())
}

/// Adds a row with all data of the job except its pages, in one statement. `name` is the job's default title (see
/// [`set_default_title`]). If a prompt of the job is undelivered, the caller must [`touch`] the row after storing that
/// prompt.
pub(super) fn insert_complete_job(
    tx: &Transaction<'_>,
    scope: i64,
    name: &CleanText,
    row: &Job,
) -> StoreResult<JobKey> {
    let fixed = [("scope", scope.into()), ("title", name.as_str().into()), ("revision", next_revision(tx)?.into())];
    let all = fixed.into_iter().chain(columns::label_columns(row)).chain(columns::written_columns(row));
    let (names, values): (Vec<&str>, Vec<ToSqlOutput<'_>>) = all.unzip();
    let parameters = vec!["?"; names.len()].join(", ");
    let sql = format!("INSERT INTO job ({}) VALUES ({parameters})", names.join(", "));
    tx.insert(&sql, params_from_iter(values)).map(JobKey)
}

fn next_revision(tx: &Transaction<'_>) -> StoreResult<i64> {
    tx.query_value("UPDATE revision SET value = value + 1 RETURNING value", [])
}

/// Gives the row its next revision, and updates the columns that depend on its prompts: the state of the most urgent
/// undelivered prompt, and the job's position in the queue. A discarded prompt counts here only if it would have
/// created the job and the job has no id.
pub(super) fn touch(tx: &Transaction<'_>, key: JobKey) -> StoreResult<Job> {
    let revision = next_revision(tx)?;
    let sql = format!(
        "UPDATE job SET revision = ?2, (undelivered, undelivered_at) = (
             SELECT CASE state WHEN 'dismissed' THEN 'discarded' ELSE {STATE_SQL} END, iif(state = 'dismissed', discarded_at, state_at) FROM prompt
             WHERE prompt.job = ?1 AND state <> 'accepted'
                 AND (state <> 'dismissed' OR (prompt.kind = 'create' AND job.id IS NULL))
             ORDER BY CASE state WHEN 'unconfirmed' THEN 1 WHEN 'rejected' THEN 2 WHEN 'not sent' THEN 3
                                 WHEN 'sending' THEN 4 WHEN 'dismissed' THEN 5 ELSE 6 + paused END
             LIMIT 1),
             queue_position = (SELECT min(coalesce(prompt.queue_position, prompt.id)) FROM prompt
                               WHERE job = ?1 AND state = 'queued')
         WHERE key = ?1"
    );
    tx.change(&sql, params![key, revision])?;
    find_job(tx, key)?.ok_or(StoreError::NoSuchJob)
}

/// Merges the answer to a GET request into the job.
pub(super) fn merge_fetched(
    tx: &Transaction<'_>,
    key: JobKey,
    answer: &JobAnswer,
    now: Time,
) -> StoreResult<MergeResult> {
    let mut row = read_current_job(tx, key)?;
    let events = match answer {
        JobAnswer::Job(job) => merge::merge_answer(&mut row, job, now),
        JobAnswer::NotFound => merge::mark_gone(&mut row, now),
    };
    insert_events(tx, row.key, &events)?;
    Ok(MergeResult { row: update_job(tx, &row)?, events, shares_id_with: None })
}

/// Starts to track a job that was created elsewhere. If the job is already tracked, merges the answer into its row and
/// restores the row if it was dismissed.
pub(super) fn track_job(tx: &Transaction<'_>, scope: i64, job: &RemoteJob, now: Time) -> StoreResult<Job> {
    if let Some(known) = find_by_id(tx, scope, &job.id)? {
        let mut row = merge_fetched(tx, known.key, &JobAnswer::Job(job.clone()), now)?.row;
        row.dismissed = false;
        return update_job(tx, &row);
    }
    let key = insert_job(tx, scope, &job.id.clean(), now)?;
    let mut row = read_current_job(tx, key)?;
    let events = merge::merge_answer(&mut row, job, now);
    row.id = Some(job.id.clone());
    row.started_at = row.created_at;
    // The job may have finished long ago; when it did so is not in the answer.
    row.finished_at = None;
    insert_events(tx, key, &events)?;
    update_job(tx, &row)
}

/// Gives `row` this id of the service. If another row already has the id, moves that row's prompts, events, draft and
/// pages to `row`. The other row is not deleted, but loses its id and is dismissed.
pub(super) fn assign_id(tx: &Transaction<'_>, row: &mut Job, id: &JobId) -> StoreResult<()> {
    let scope = job_scope_id(tx, row.key)?;
    if let Some(other) = find_by_id(tx, scope, id)?.filter(|other| other.key != row.key) {
        let (from, to) = (other.key, row.key);
        for sql in [
            "UPDATE prompt SET job = ?2 WHERE job = ?1",
            "UPDATE event SET job = ?2 WHERE job = ?1",
            "UPDATE job SET merged_into = ?2, id = NULL, dismissed = 1 WHERE key = ?1 OR merged_into = ?1",
        ] {
            tx.change(sql, [from, to])?;
        }
        drafts::move_draft(tx, from, to)?;
        pages::move_pages(tx, from, to)?;
        touch(tx, from)?;
        let Job { title, has_custom_title: has_own_title, tags, note, .. } = row.clone();
        *row = Job { key: to, title, has_custom_title: has_own_title, tags, note, ..other.clone() };
        labels::merge_labels(tx, row, &other)?;
    }
    row.id = Some(id.clone());
    Ok(())
}

/// Adds events to a job.
pub(super) fn insert_events(tx: &Transaction<'_>, key: JobKey, events: &[JobEvent]) -> StoreResult<()> {
    for event in events {
        let (kind, before, after) = columns::event_columns(&event.kind);
        tx.change(
            "INSERT INTO event (job, at, kind, before, after) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![key, UnixMillis(event.at), kind, before, after],
        )?;
    }
    Ok(())
}

/// Describes an event in a few words, for the log.
fn event_log_text(kind: &EventKind) -> CleanText {
    CleanText::line(&match kind {
        EventKind::Status { from: Some(from), to } => format!("{from} → {to}"),
        EventKind::Status { from: None, to } => to.to_string(),
        EventKind::PullRequest(link) => format!("pull request {link}"),
        EventKind::Gone => "gone: not found on the service".to_owned(),
        EventKind::Back => "back: found on the service again".to_owned(),
    })
}
