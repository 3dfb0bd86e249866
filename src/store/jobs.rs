//! The table of jobs: reads the list, merges the service's answers and the user's changes, and merges two rows that
//! turn out to be the same job.
//!
//! Every change of a row ends with [`update_job`] or [`touch`], which give the row its next revision in the same
//! transaction.

use super::columns::{
    self, JOB_COLUMNS, JOB_WITHOUT_PAGES, STATE_AT_SQL, STATE_SQL, SharedTexts, UnixMillis, stored_status, text_param,
};
use super::error::{StoreError, StoreResult};
use super::{JobAnswer, JobChanges, MergeResult, drafts, kv, labels, merge, pages, prompts, prune_jobs, scopes};
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::job::{JobId, RemoteJob};
use crate::model::log::{LogEntry, LogKind};
use crate::model::prompt::{EventKind, JobEvent};
use crate::model::row::{InitialRows, Job, JobGroup, JobKey, RemainingJobs};
use crate::model::text::CleanText;
use rusqlite::types::{ToSqlOutput, Value};
use rusqlite::{Connection, OptionalExtension as _, Params, Transaction, params, params_from_iter};
use std::sync::LazyLock;

pub(super) fn load_jobs(connection: &Connection, scope: &Scope) -> StoreResult<Vec<Job>> {
    let Some(scope) = scopes::find_scope(connection, scope)? else { return Ok(Vec::new()) };
    // `NOT INDEXED` reads the rows in their stored order, by key: if SQLite used an index by scope, it would have to
    // sort them.
    let sql = format!(
        "SELECT {JOB_WITHOUT_PAGES} FROM job NOT INDEXED WHERE scope = ?1 AND merged_into IS NULL ORDER BY key"
    );
    let mut rows = query_jobs(connection, &sql, [scope])?;
    pages::read_pages_into(connection, &mut rows)?;
    Ok(rows)
}

/// Counts the jobs that belong to none of these scopes. Dismissed jobs don't count.
pub(super) fn count_in_other_scopes(connection: &Connection, scopes: &[Scope]) -> StoreResult<usize> {
    let mut total = 0;
    for other in scopes::read_scopes(connection)? {
        let is_listed = scopes.iter().any(|one| (&one.base_url, &one.project) == (&other.base_url, &other.project));
        if !is_listed && let Some(id) = scopes::find_scope(connection, &other)? {
            let [needs_you, working, queued, done, _] = read_group_sizes(connection, id)?.sizes;
            total += needs_you + working + queued + done;
        }
    }
    Ok(total)
}

/// Returns the first `limit` rows of the jobs list, the size of each group, and the thread of the first row.
pub(super) fn read_first_rows(connection: &Connection, scope: &Scope, limit: u32) -> StoreResult<InitialRows> {
    let mut first = InitialRows::default();
    let Some(scope) = scopes::find_scope(connection, scope)? else { return Ok(first) };
    let GroupSizes { sizes, working } = read_group_sizes(connection, scope)?;
    (first.sizes, first.working) = (sizes, working);
    first.rows = query_jobs(connection, &first_rows_sql(), [scope, i64::from(limit)])?;
    first.thread = first.rows.first().map(|row| prompts::thread_of_current(connection, row.key)).transpose()?;
    Ok(first)
}

/// Returns the query for the first rows of the jobs list. In each group, the newest job comes first, except that queued
/// jobs are in the order of the queue. The index contains the complete sort key, so that SQLite reads only the returned
/// rows.
pub(super) fn first_rows_sql() -> String {
    format!(
        "SELECT {JOB_COLUMNS} FROM job INDEXED BY job_by_list_order WHERE scope = ?1 AND merged_into IS NULL
         ORDER BY list_group, list_order, CASE list_group WHEN 2 THEN key ELSE -key END LIMIT ?2"
    )
}

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
pub(super) fn read_group_sizes(connection: &Connection, scope: i64) -> StoreResult<GroupSizes> {
    let mut counted = GroupSizes::default();
    let mut statement = connection.prepare_cached("SELECT list_group, jobs FROM job_count WHERE scope = ?1")?;
    let mut groups = statement.query([scope])?;
    while let Some(group) = groups.next()? {
        let (group_number, size): (i64, i64) = (group.get(0)?, group.get(1)?);
        let (Ok(index), Ok(size)) = (usize::try_from(group_number), usize::try_from(size)) else { continue };
        if let Some(slot) = counted.sizes.get_mut(index.min(JobGroup::ALL.len() - 1)) {
            *slot += size;
        }
        if matches!(group_number, WORKING_GROUP | WORKING_DISMISSED_GROUP) {
            counted.working += size;
        }
    }
    Ok(counted)
}

/// Returns the rows of the scope that may have to be checked again at the service, oldest first. These are all rows for
/// which [`next_poll`](crate::model::poll::next_poll) returns a time, and a few more.
pub(super) fn read_jobs_to_check(connection: &Connection, scope: &Scope) -> StoreResult<Vec<Job>> {
    let Some(scope) = scopes::find_scope(connection, scope)? else { return Ok(Vec::new()) };
    let sql = format!(
        "SELECT {JOB_COLUMNS} FROM job NOT INDEXED
         WHERE scope = ?1 AND merged_into IS NULL AND gone = 0 AND id IS NOT NULL
             AND (status IS NULL OR status NOT IN ('completed', 'archived', 'failed')
                 OR checked_at IS NULL OR finished_at IS NULL OR (status = 'completed' AND pr_link IS NULL))
         ORDER BY key"
    );
    query_jobs(connection, &sql, [scope])
}

pub(super) fn revision(connection: &Connection, scope: &Scope) -> StoreResult<i64> {
    let Some(scope) = scopes::find_scope(connection, scope)? else { return Ok(0) };
    let mut statement = connection.prepare_cached("SELECT coalesce(max(revision), 0) FROM job WHERE scope = ?1")?;
    Ok(statement.query_row([scope], |row| row.get(0))?)
}

/// Returns the rows that changed after `revision`, in the order of their revisions. Also returns which rows were merged
/// into another row after `revision`.
pub(super) fn changed_since(connection: &Connection, scope: &Scope, revision: i64) -> StoreResult<JobChanges> {
    let prunes = kv::get_number(connection, prune_jobs::PRUNE_COUNT_KEY)?;
    let nothing = JobChanges { revision, prune_count: prunes, ..JobChanges::default() };
    let Some(scope) = scopes::find_scope(connection, scope)? else { return Ok(nothing) };
    let sql = format!(
        "SELECT {JOB_COLUMNS} FROM job WHERE scope = ?1 AND revision > ?2 AND merged_into IS NULL ORDER BY revision"
    );
    let rows = query_jobs(connection, &sql, [scope, revision])?;
    let mut statement = connection.prepare_cached(
        "SELECT key, merged_into, revision FROM job WHERE scope = ?1 AND revision > ?2 AND merged_into IS NOT NULL",
    )?;
    let merged: Vec<(JobKey, JobKey, i64)> = statement
        .query_map([scope, revision], |row| Ok((JobKey(row.get(0)?), JobKey(row.get(1)?), row.get(2)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let revision =
        rows.iter().map(|row| row.revision).chain(merged.iter().map(|merged| merged.2)).fold(revision, i64::max);
    let merged = merged.into_iter().map(|(gone, into, _)| (gone, into)).collect();
    Ok(JobChanges { rows, merged, revision, prune_count: prunes })
}

/// Returns the keys of all rows of the scope, including merged rows, and the highest key that was ever assigned.
pub(super) fn read_remaining_jobs(connection: &Connection, scope: &Scope) -> StoreResult<RemainingJobs> {
    let largest_key = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'job'";
    let largest_key = JobKey(connection.prepare_cached(largest_key)?.query_row([], |row| row.get(0))?);
    let Some(scope) = scopes::find_scope(connection, scope)? else {
        return Ok(RemainingJobs { keys: Vec::new(), largest_key });
    };
    let mut statement = connection.prepare_cached("SELECT key FROM job NOT INDEXED WHERE scope = ?1 ORDER BY key")?;
    let keys = statement.query_map([scope], |row| row.get(0).map(JobKey))?.collect::<rusqlite::Result<_>>()?;
    Ok(RemainingJobs { keys, largest_key })
}

/// Returns the keys of the rows that were merged into this row.
pub(super) fn merged_into(connection: &Connection, key: JobKey) -> StoreResult<Vec<JobKey>> {
    let mut statement = connection.prepare_cached("SELECT key FROM job WHERE merged_into = ?1 ORDER BY key")?;
    let keys = statement.query_map([key.0], |row| row.get(0).map(JobKey))?;
    Ok(keys.collect::<rusqlite::Result<_>>()?)
}

fn query_jobs(connection: &Connection, sql: &str, params: impl Params) -> StoreResult<Vec<Job>> {
    let mut statement = connection.prepare_cached(sql)?;
    let mut shared = SharedTexts::default();
    let rows = statement.query_map(params, |row| columns::read_job_row_sharing(row, &mut shared))?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Returns the row with this key, even if it was merged into another row.
pub(super) fn find_job(connection: &Connection, key: JobKey) -> StoreResult<Option<Job>> {
    let mut statement = connection.prepare_cached(&format!("SELECT {JOB_COLUMNS} FROM job WHERE key = ?1"))?;
    Ok(statement.query_row([key.0], columns::read_job_row).optional()?)
}

/// Returns the row with this id of the service.
pub(super) fn find_by_id(connection: &Connection, scope: i64, id: &JobId) -> StoreResult<Option<Job>> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {JOB_COLUMNS} FROM job WHERE scope = ?1 AND id = ?2"))?;
    Ok(statement.query_row(params![scope, id.as_str()], columns::read_job_row).optional()?)
}

/// Like [`find_by_id`], but without using the index.
pub(super) fn find_by_id_without_index(connection: &Connection, scope: i64, id: &JobId) -> StoreResult<Option<Job>> {
    let sql = format!("SELECT {JOB_COLUMNS} FROM job NOT INDEXED WHERE scope = ?1 AND id = ?2");
    Ok(connection.query_row(&sql, params![scope, id.as_str()], columns::read_job_row).optional()?)
}

/// Returns the row with this key; if it was merged into another row, returns that row instead.
pub(super) fn read_current_job(connection: &Connection, key: JobKey) -> StoreResult<Job> {
    let key = current_key(connection, key)?;
    find_job(connection, key)?.ok_or(StoreError::NoSuchJob)
}

/// Returns `key` itself; if its row was merged into another row, returns the key of that row instead.
pub(super) fn current_key(connection: &Connection, key: JobKey) -> StoreResult<JobKey> {
    let mut statement = connection.prepare_cached("SELECT coalesce(merged_into, key) FROM job WHERE key = ?1")?;
    statement.query_row([key.0], |row| row.get(0)).optional()?.map(JobKey).ok_or(StoreError::NoSuchJob)
}

/// Returns the id of the scope to which the job belongs.
pub(super) fn job_scope_id(connection: &Connection, key: JobKey) -> StoreResult<i64> {
    let mut statement = connection.prepare_cached("SELECT scope FROM job WHERE key = ?1")?;
    statement.query_row([key.0], |row| row.get(0)).optional()?.ok_or(StoreError::NoSuchJob)
}

/// Adds a row for a job of which nothing but the title is known yet.
pub(super) fn insert_job(tx: &Transaction<'_>, scope: i64, title: &CleanText, now: Time) -> StoreResult<JobKey> {
    tx.prepare_cached(
        "INSERT INTO job (scope, title, created_at, started_at, changed_at, revision) VALUES (?1, ?2, ?3, ?3, ?3, 0)",
    )?
    .execute(params![scope, title.as_str(), UnixMillis(now)])?;
    Ok(JobKey(tx.last_insert_rowid()))
}

/// Sets the title that a job has as long as the user gives it no other title.
pub(super) fn set_default_title(tx: &Transaction<'_>, key: JobKey, title: &CleanText) -> StoreResult<()> {
    tx.prepare_cached("UPDATE job SET title = ?2 WHERE key = ?1")?.execute(params![key.0, title.as_str()])?;
    Ok(())
}

/// The columns that [`update_job`] writes, in the order of [`model_values`]. The user's title, tags and note are
/// written by `labels` instead.
const MODEL_COLUMNS: [&str; 18] = [
    "id",
    "status",
    "repository",
    "git_ref",
    "model",
    "pr_link",
    "created_at",
    "archived_at",
    "started_at",
    "finished_at",
    "changed_at",
    "checked_at",
    "viewed_at",
    "gone",
    "dismissed",
    "handled_at",
    "followed_up_at",
    "gone_at",
];

/// Returns the row's values of [`MODEL_COLUMNS`].
fn model_values(row: &Job) -> [ToSqlOutput<'_>; MODEL_COLUMNS.len()] {
    let time = |time: Option<Time>| time.map_or(NULL, |time| time.timestamp_millis().into());
    [
        text_or_null(row.id.as_ref().map(JobId::as_str)),
        text_or_null(row.status.as_ref().map(stored_status)),
        text_or_null(text_param(row.repository.as_deref())),
        text_or_null(text_param(row.git_ref.as_ref())),
        text_or_null(text_param(row.model.as_deref())),
        text_or_null(text_param(row.pr_link.as_ref())),
        time(Some(row.created_at)),
        time(row.archived_at),
        time(Some(row.started_at)),
        time(row.finished_at),
        time(Some(row.changed_at)),
        time(row.checked_at),
        time(row.viewed_at),
        row.gone.into(),
        row.dismissed.into(),
        time(row.handled_at),
        time(row.followed_up_at),
        time(row.gone_at),
    ]
}

const NULL: ToSqlOutput<'static> = ToSqlOutput::Owned(Value::Null);

fn text_or_null(text: Option<&str>) -> ToSqlOutput<'_> {
    text.map_or(NULL, Into::into)
}

/// Writes the row, except for its title, tags and note (see `labels`). Returns the row as it is stored afterwards.
pub(super) fn update_job(tx: &Transaction<'_>, row: &Job) -> StoreResult<Job> {
    static UPDATE: LazyLock<String> = LazyLock::new(|| {
        let columns: Vec<String> =
            MODEL_COLUMNS.iter().zip(2..).map(|(column, at)| format!("{column} = ?{at}")).collect();
        format!("UPDATE job SET {} WHERE key = ?1", columns.join(", "))
    });
    let key = [row.key.0.into()].into_iter();
    tx.prepare_cached(&UPDATE)?.execute(params_from_iter(key.chain(model_values(row))))?;
    touch(tx, row.key)
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
    static INSERT: LazyLock<String> = LazyLock::new(|| {
        let parameters: Vec<String> = (7..7 + MODEL_COLUMNS.len()).map(|at| format!("?{at}")).collect();
        format!(
            "INSERT INTO job (scope, title, own_title, tags, note, revision, {}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, {})",
            MODEL_COLUMNS.join(", "),
            parameters.join(", ")
        )
    });
    let own_values: [ToSqlOutput<'_>; 6] = [
        scope.into(),
        name.as_str().into(),
        text_or_null(row.has_custom_title.then_some(row.title.as_str())),
        columns::join_tags(&row.tags).map_or(NULL, |tags| ToSqlOutput::Owned(Value::Text(tags))),
        text_or_null(text_param(row.note.as_ref())),
        next_revision(tx)?.into(),
    ];
    tx.prepare_cached(&INSERT)?.execute(params_from_iter(own_values.into_iter().chain(model_values(row))))?;
    Ok(JobKey(tx.last_insert_rowid()))
}

fn next_revision(tx: &Transaction<'_>) -> StoreResult<i64> {
    let mut next = tx.prepare_cached("UPDATE revision SET value = value + 1 RETURNING value")?;
    Ok(next.query_row([], |row| row.get(0))?)
}

/// Gives the row its next revision, and updates the columns that depend on its prompts: the state of the most urgent
/// undelivered prompt, and the job's position in the queue. A discarded prompt counts here only if it would have
/// created the job and the job has no id.
pub(super) fn touch(tx: &Transaction<'_>, key: JobKey) -> StoreResult<Job> {
    let revision = next_revision(tx)?;
    tx.prepare_cached(&format!(
        "UPDATE job SET revision = ?2, (undelivered, undelivered_at) = (
             SELECT CASE state WHEN 'dismissed' THEN 'discarded' ELSE {STATE_SQL} END, {STATE_AT_SQL} FROM prompt
             WHERE prompt.job = ?1 AND state <> 'accepted'
                 AND (state <> 'dismissed' OR (prompt.kind = 'create' AND job.id IS NULL))
             ORDER BY CASE state WHEN 'unconfirmed' THEN 1 WHEN 'rejected' THEN 2 WHEN 'not sent' THEN 3
                                 WHEN 'sending' THEN 4 WHEN 'dismissed' THEN 5 ELSE 6 + paused END
             LIMIT 1),
             queue_position = (SELECT min(coalesce(prompt.queue_position, prompt.id)) FROM prompt
                               WHERE job = ?1 AND state = 'queued')
         WHERE key = ?1"
    ))?
    .execute(params![key.0, revision])?;
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
            tx.execute(sql, [from.0, to.0])?;
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
    let mut write =
        tx.prepare_cached("INSERT INTO event (job, at, kind, before, after) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for event in events {
        let (kind, before, after) = columns::event_columns(&event.kind);
        write.execute(params![key.0, UnixMillis(event.at), kind, before, after])?;
    }
    Ok(())
}

/// Returns the events of a job, oldest first.
pub(super) fn read_job_events(connection: &Connection, key: JobKey) -> StoreResult<Vec<JobEvent>> {
    let mut statement =
        connection.prepare_cached("SELECT at, kind, before, after FROM event WHERE job = ?1 ORDER BY at, id")?;
    let events = statement.query_map([key.0], columns::read_event)?;
    Ok(events.collect::<rusqlite::Result<_>>()?)
}

/// Returns the last `n` events of the scope as log entries, oldest first.
pub(super) fn recent_events(connection: &Connection, scope: &Scope, n: u32) -> StoreResult<Vec<LogEntry>> {
    let Some(scope) = scopes::find_scope(connection, scope)? else { return Ok(Vec::new()) };
    let mut statement = connection.prepare_cached(
        "SELECT event.at, event.kind, event.before, event.after, job.title
         FROM event CROSS JOIN job ON job.key = event.job WHERE job.scope = ?1 ORDER BY event.id DESC LIMIT ?2",
    )?;
    let entries = statement.query_map([scope, i64::from(n)], |row| {
        let event = columns::read_event(row)?;
        let subject = columns::read_clean_line(row, 4)?.unwrap_or_default();
        Ok(LogEntry { at: event.at, subject, kind: LogKind::Transition(event_log_text(&event.kind)) })
    })?;
    let mut entries: Vec<LogEntry> = entries.collect::<rusqlite::Result<_>>()?;
    entries.reverse();
    Ok(entries)
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
