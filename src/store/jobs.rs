//! Job rows: reading the list, taking in what the service says, what the user does to a row, and two rows that turn
//! out to be one job.
//!
//! Every change goes through [`put`] or [`touch`], which give the row its next revision in the same transaction.

use super::columns::{self, JOB, Ms, ms, status_word, text};
use super::error::StoreError;
use super::{Applied, Fetched, drafts, merge, scopes};
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::job::{Job, JobId};
use crate::model::log::{LogEntry, LogKind};
use crate::model::prompt::{EventKind, JobEvent};
use crate::model::row::{JobKey, JobRow};
use crate::model::text::CleanText;
use rusqlite::{Connection, OptionalExtension as _, Params, Transaction, params};

type R<T> = Result<T, StoreError>;

/// All jobs of the scope, oldest first.
pub(super) fn list(connection: &Connection, scope: &Scope) -> R<Vec<JobRow>> {
    let Some(scope) = scopes::find(connection, scope)? else { return Ok(Vec::new()) };
    let sql = format!("SELECT {JOB} FROM job WHERE scope = ?1 AND merged_into IS NULL ORDER BY key");
    rows(connection, &sql, [scope])
}

/// Rows with a later revision, oldest change first; a row that was merged into another one comes as dismissed.
pub(super) fn changed_since(connection: &Connection, scope: &Scope, revision: i64) -> R<Vec<JobRow>> {
    let Some(scope) = scopes::find(connection, scope)? else { return Ok(Vec::new()) };
    let sql = format!("SELECT {JOB} FROM job WHERE scope = ?1 AND revision > ?2 ORDER BY revision");
    rows(connection, &sql, [scope, revision])
}

fn rows(connection: &Connection, sql: &str, params: impl Params) -> R<Vec<JobRow>> {
    let mut ask = connection.prepare_cached(sql)?;
    let rows = ask.query_map(params, columns::job_row)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// The row itself, also one that was merged into another.
pub(super) fn find(connection: &Connection, key: JobKey) -> R<Option<JobRow>> {
    let mut ask = connection.prepare_cached(&format!("SELECT {JOB} FROM job WHERE key = ?1"))?;
    Ok(ask.query_row([key.0], columns::job_row).optional()?)
}

/// The row with the service's id.
pub(super) fn find_by_id(connection: &Connection, scope: i64, id: &JobId) -> R<Option<JobRow>> {
    let mut ask = connection.prepare_cached(&format!("SELECT {JOB} FROM job WHERE scope = ?1 AND id = ?2"))?;
    Ok(ask.query_row(params![scope, id.as_str()], columns::job_row).optional()?)
}

/// The row that stands for `key` now: its own, or the one that it was merged into.
pub(super) fn get(connection: &Connection, key: JobKey) -> R<JobRow> {
    let key = current(connection, key)?;
    find(connection, key)?.ok_or(StoreError::NoSuchJob)
}

/// The key that stands for `key` now.
pub(super) fn current(connection: &Connection, key: JobKey) -> R<JobKey> {
    let mut ask = connection.prepare_cached("SELECT coalesce(merged_into, key) FROM job WHERE key = ?1")?;
    ask.query_row([key.0], |row| row.get(0)).optional()?.map(JobKey).ok_or(StoreError::NoSuchJob)
}

/// The number of the scope that the job belongs to.
pub(super) fn scope_of(connection: &Connection, key: JobKey) -> R<i64> {
    let mut ask = connection.prepare_cached("SELECT scope FROM job WHERE key = ?1")?;
    ask.query_row([key.0], |row| row.get(0)).optional()?.ok_or(StoreError::NoSuchJob)
}

/// A new row without an answer of the service.
pub(super) fn insert(tx: &Transaction<'_>, scope: i64, title: &CleanText, now: Time) -> R<JobKey> {
    tx.prepare_cached(
        "INSERT INTO job (scope, title, created_at, started_at, changed_at, revision) VALUES (?1, ?2, ?3, ?3, ?3, 0)",
    )?
    .execute(params![scope, title.as_str(), Ms(now)])?;
    Ok(JobKey(tx.last_insert_rowid()))
}

/// Writes the row as it is given, and gives it as it then stands.
pub(super) fn put(tx: &Transaction<'_>, row: &JobRow) -> R<JobRow> {
    tx.prepare_cached(
        "UPDATE job SET id = ?2, title = ?3, status = ?4, repository = ?5, git_ref = ?6, model = ?7, pr_link = ?8,
             created_at = ?9, archived_at = ?10, started_at = ?11, finished_at = ?12, changed_at = ?13,
             checked_at = ?14, looked_at = ?15, gone = ?16, dismissed = ?17
         WHERE key = ?1",
    )?
    .execute(params![
        row.key.0,
        row.id.as_ref().map(JobId::as_str),
        row.title.as_str(),
        row.status.as_ref().map(status_word),
        text(row.repository.as_ref()),
        text(row.git_ref.as_ref()),
        text(row.model.as_ref()),
        text(row.pr_link.as_ref()),
        Ms(row.created_at),
        ms(row.archived_at),
        Ms(row.started_at),
        ms(row.finished_at),
        Ms(row.changed_at),
        ms(row.checked_at),
        ms(row.looked_at),
        row.gone,
        row.dismissed,
    ])?;
    touch(tx, row.key)
}

/// Gives the row its next revision and the state of its most pressing prompt.
pub(super) fn touch(tx: &Transaction<'_>, key: JobKey) -> R<JobRow> {
    let revision: i64 =
        tx.prepare_cached("UPDATE revision SET value = value + 1 RETURNING value")?.query_row([], |row| row.get(0))?;
    tx.prepare_cached(
        "UPDATE job SET revision = ?2, undelivered = (
             SELECT state FROM prompt WHERE job = ?1 AND state NOT IN ('accepted', 'dismissed')
             ORDER BY CASE state WHEN 'unconfirmed' THEN 1 WHEN 'rejected' THEN 2 WHEN 'not sent' THEN 3
                                 WHEN 'sending' THEN 4 ELSE 5 END
             LIMIT 1)
         WHERE key = ?1",
    )?
    .execute(params![key.0, revision])?;
    find(tx, key)?.ok_or(StoreError::NoSuchJob)
}

/// Merges what a GET said.
pub(super) fn apply(tx: &Transaction<'_>, key: JobKey, what: &Fetched, now: Time) -> R<Applied> {
    let mut row = get(tx, key)?;
    let events = match what {
        Fetched::Job(job) => merge::take_in(&mut row, job, now),
        Fetched::NotFound => merge::lose(&mut row, now),
    };
    record(tx, row.key, &events)?;
    Ok(Applied { row: put(tx, &row)?, events })
}

/// Takes in a job that was made elsewhere; one that is known gets the answer, and is back on the list.
pub(super) fn track(tx: &Transaction<'_>, scope: i64, job: &Job, now: Time) -> R<JobRow> {
    if let Some(known) = find_by_id(tx, scope, &job.id)? {
        let mut row = apply(tx, known.key, &Fetched::Job(job.clone()), now)?.row;
        row.dismissed = false;
        return put(tx, &row);
    }
    let key = insert(tx, scope, &job.id.clean(), now)?;
    let mut row = get(tx, key)?;
    let events = merge::take_in(&mut row, job, now);
    row.id = Some(job.id.clone());
    row.started_at = row.created_at;
    // It may have been finished for long: when is not known.
    row.finished_at = None;
    record(tx, key, &events)?;
    put(tx, &row)
}

/// Gives the row the service's id. A row that already has this id is taken into it with its prompts, transitions and
/// draft, and stays behind without an id, dismissed.
pub(super) fn join_id(tx: &Transaction<'_>, row: &mut JobRow, id: &JobId) -> R<()> {
    let scope = scope_of(tx, row.key)?;
    if let Some(other) = find_by_id(tx, scope, id)?.filter(|other| other.key != row.key) {
        let (from, to) = (other.key, row.key);
        for sql in [
            "UPDATE prompt SET job = ?2 WHERE job = ?1",
            "UPDATE event SET job = ?2 WHERE job = ?1",
            "UPDATE job SET merged_into = ?2, id = NULL, dismissed = 1 WHERE key = ?1 OR merged_into = ?1",
        ] {
            tx.execute(sql, [from.0, to.0])?;
        }
        drafts::move_over(tx, from, to)?;
        touch(tx, from)?;
        *row = JobRow { key: to, title: row.title.clone(), ..other };
    }
    row.id = Some(id.clone());
    Ok(())
}

/// The user looked at it; also true when the clock was set back since the last change.
pub(super) fn mark_looked(tx: &Transaction<'_>, key: JobKey, now: Time) -> R<JobRow> {
    let mut row = get(tx, key)?;
    row.looked_at = Some(now.max(row.changed_at));
    put(tx, &row)
}

/// The user puts it away or takes it back.
pub(super) fn set_dismissed(tx: &Transaction<'_>, key: JobKey, dismissed: bool) -> R<JobRow> {
    let mut row = get(tx, key)?;
    row.dismissed = dismissed;
    put(tx, &row)
}

/// Writes transitions down.
pub(super) fn record(tx: &Transaction<'_>, key: JobKey, events: &[JobEvent]) -> R<()> {
    let mut write =
        tx.prepare_cached("INSERT INTO event (job, at, kind, before, after) VALUES (?1, ?2, ?3, ?4, ?5)")?;
    for event in events {
        let (kind, before, after) = columns::event_columns(&event.kind);
        write.execute(params![key.0, Ms(event.at), kind, before, after])?;
    }
    Ok(())
}

/// The transitions of a job, oldest first.
pub(super) fn events(connection: &Connection, key: JobKey) -> R<Vec<JobEvent>> {
    let mut ask =
        connection.prepare_cached("SELECT at, kind, before, after FROM event WHERE job = ?1 ORDER BY at, id")?;
    let events = ask.query_map([key.0], columns::event)?;
    Ok(events.collect::<rusqlite::Result<_>>()?)
}

/// The last `n` transitions of the scope as lines of the log, oldest first.
pub(super) fn recent_events(connection: &Connection, scope: &Scope, n: u32) -> R<Vec<LogEntry>> {
    let Some(scope) = scopes::find(connection, scope)? else { return Ok(Vec::new()) };
    let mut ask = connection.prepare_cached(
        "SELECT event.at, event.kind, event.before, event.after, job.title
         FROM event CROSS JOIN job ON job.key = event.job WHERE job.scope = ?1 ORDER BY event.id DESC LIMIT ?2",
    )?;
    let entries = ask.query_map([scope, i64::from(n)], |row| {
        let event = columns::event(row)?;
        let subject = columns::line(row, 4)?.unwrap_or_default();
        Ok(LogEntry { at: event.at, subject, what: LogKind::Transition(transition(&event.kind)) })
    })?;
    let mut entries: Vec<LogEntry> = entries.collect::<rusqlite::Result<_>>()?;
    entries.reverse();
    Ok(entries)
}

/// A transition in a few words, as the log says it.
fn transition(kind: &EventKind) -> CleanText {
    CleanText::line(&match kind {
        EventKind::Status { from: Some(from), to } => format!("{from} → {to}"),
        EventKind::Status { from: None, to } => to.to_string(),
        EventKind::PullRequest(link) => format!("pull request {link}"),
        EventKind::Gone => "gone: the service no longer knows it".to_owned(),
        EventKind::Back => "back: the service knows it again".to_owned(),
    })
}
