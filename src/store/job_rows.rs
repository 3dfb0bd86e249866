//! The rows of the table of jobs: reads, adds and writes them, and adds the events of a job.
//!
//! Every change of a row ends with [`update_job`] or [`bump_revision_and_derive_columns`], which give the row its next
//! revision in the same transaction.

use super::columns::{self, STATE_SQL, SharedTexts, UnixMillis};
use super::error::{StoreError, StoreResult};
use super::pages;
use super::query::Query as _;
use crate::model::Time;
use crate::model::job::{Job, JobKey};
use crate::model::prompt::JobEvent;
use crate::model::remote_job::JobId;
use crate::model::text::CleanText;
use rusqlite::types::ToSqlOutput;
use rusqlite::{Connection, Params, Transaction, params, params_from_iter};

pub(super) fn load_jobs(db: &Connection, scope: i64) -> StoreResult<Vec<Job>> {
    // `NOT INDEXED` reads the rows in their stored order, by key: if SQLite used an index by scope, it would have to
    // sort them.
    let all =
        columns::select_jobs_without_pages_sql("NOT INDEXED WHERE scope = ?1 AND merged_into IS NULL ORDER BY key");
    let mut shared = SharedTexts::default();
    let mut rows = db.query_all(&all, [scope], |row| columns::read_job(row, &mut shared))?;
    pages::read_pages_into(db, &mut rows)?;
    Ok(rows)
}

/// Returns the selected jobs; `conditions` is the part of the query after `FROM job`.
pub(super) fn query_jobs(db: &Connection, conditions: &str, params: impl Params) -> StoreResult<Vec<Job>> {
    let mut shared = SharedTexts::default();
    db.query_all(&columns::select_jobs_sql(conditions), params, |row| columns::read_job(row, &mut shared))
}

/// Returns the row with this key, even if it was merged into another row.
pub(super) fn find_job(db: &Connection, key: JobKey) -> StoreResult<Option<Job>> {
    Ok(query_jobs(db, "WHERE key = ?1", [key])?.pop())
}

/// Returns the row of the job with this id at the service.
pub(super) fn find_by_id(db: &Connection, scope: i64, id: &JobId) -> StoreResult<Option<Job>> {
    Ok(query_jobs(db, "WHERE scope = ?1 AND id = ?2", params![scope, id])?.pop())
}

/// Returns the row with this key; if it was merged into another row, returns that row instead.
pub(super) fn read_job_or_merge_target(db: &Connection, key: JobKey) -> StoreResult<Job> {
    let key = resolve_merged_key(db, key)?;
    find_job(db, key)?.ok_or(StoreError::NoSuchJob)
}

/// Returns `key` itself; if its row was merged into another row, returns the key of that row instead.
pub(super) fn resolve_merged_key(db: &Connection, key: JobKey) -> StoreResult<JobKey> {
    let current = "SELECT coalesce(merged_into, key) FROM job WHERE key = ?1";
    db.query_first(current, [key], |row| row.get(0))?.ok_or(StoreError::NoSuchJob)
}

/// Returns the id of the scope to which the job belongs.
pub(super) fn job_scope_id(db: &Connection, key: JobKey) -> StoreResult<i64> {
    let scope = db.query_first("SELECT scope FROM job WHERE key = ?1", [key], |row| row.get(0))?;
    scope.ok_or(StoreError::NoSuchJob)
}

/// Adds a row for a job of which only the title is known yet.
pub(super) fn insert_job(tx: &Transaction<'_>, scope: i64, title: &CleanText, now: Time) -> StoreResult<JobKey> {
    let key = tx.insert(
        "INSERT INTO job (scope, title, created_at, started_at, changed_at, revision) VALUES (?1, ?2, ?3, ?3, ?3, 0)",
        params![scope, title, UnixMillis(now)],
    )?;
    Ok(JobKey(key))
}

/// Sets the title that a job has until the user gives it another one.
pub(super) fn set_default_title(tx: &Transaction<'_>, key: JobKey, title: &CleanText) -> StoreResult<()> {
    tx.change("UPDATE job SET title = ?2 WHERE key = ?1", params![key, title])?;
    Ok(())
}

/// Writes the row, except for its title, tags and note (see `labels`) and its pages (see `pages`). Returns the row as
/// it is stored afterwards.
pub(super) fn update_job(tx: &Transaction<'_>, row: &Job) -> StoreResult<Job> {
    write_columns(tx, row.key, columns::written_columns(row))?;
    bump_revision_and_derive_columns(tx, row.key)
}

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

/// Adds a row with all data of the job except its pages, in one statement. `default_title` is the title that the job
/// has without a title from the user. The columns that [`bump_revision_and_derive_columns`] derives from prompts stay
/// empty: if a prompt affects one of them, the caller must call [`bump_revision_and_derive_columns`] after storing the
/// prompts.
pub(super) fn insert_full_job(
    tx: &Transaction<'_>,
    scope: i64,
    default_title: &CleanText,
    row: &Job,
) -> StoreResult<JobKey> {
    let fixed =
        [("scope", scope.into()), ("title", default_title.as_str().into()), ("revision", next_revision(tx)?.into())];
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
/// undelivered prompt, the job's position in the queue, and the authors of prompts. A discarded prompt counts as
/// undelivered only if it would have created the job and the job has no id. Prompts of other computers count neither as
/// undelivered nor as queued, since the user can't do anything about them.
pub(super) fn bump_revision_and_derive_columns(tx: &Transaction<'_>, key: JobKey) -> StoreResult<Job> {
    let revision = next_revision(tx)?;
    let sql = format!(
        "UPDATE job SET revision = ?2, (undelivered, undelivered_at) = (
             SELECT CASE state WHEN 'dismissed' THEN 'discarded' ELSE {STATE_SQL} END, iif(state = 'dismissed', discarded_at, state_at) FROM prompt
             WHERE prompt.job = ?1 AND state <> 'accepted' AND author IS NULL
                 AND (state <> 'dismissed' OR (prompt.kind = 'create' AND job.id IS NULL))
             ORDER BY CASE state WHEN 'unconfirmed' THEN 1 WHEN 'rejected' THEN 2 WHEN 'not sent' THEN 3
                                 WHEN 'sending' THEN 4 WHEN 'dismissed' THEN 5 ELSE 6 + paused END
             LIMIT 1),
             queue_position = (SELECT min(coalesce(prompt.queue_position, prompt.id)) FROM prompt
                               WHERE job = ?1 AND state = 'queued' AND author IS NULL),
             author = (SELECT prompt.author FROM prompt WHERE job = ?1 AND kind = 'create' ORDER BY id LIMIT 1),
             followed_up_by = (SELECT prompt.author FROM prompt
                               WHERE job = ?1 AND kind = 'follow-up' AND state = 'accepted'
                               ORDER BY sent_at DESC, id DESC LIMIT 1)
         WHERE key = ?1"
    );
    tx.change(&sql, params![key, revision])?;
    find_job(tx, key)?.ok_or(StoreError::NoSuchJob)
}

pub(super) fn insert_events(tx: &Transaction<'_>, key: JobKey, events: &[JobEvent]) -> StoreResult<()> {
    for event in events {
        let (kind, before, after) = event.kind.parts();
        tx.change(
            "INSERT INTO event (job, at, kind, before, after) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![key, UnixMillis(event.at), kind, before, after],
        )?;
    }
    Ok(())
}
