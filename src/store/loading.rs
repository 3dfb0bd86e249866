//! Reports that are being loaded, or whose load was broken off: their answers as they came, one after the other.

use super::columns::{UnixMillis, opt_time, time};
use super::error::StoreError;
use super::json_column::answer_of;
use super::reports::ReportAnswer;
use super::views::{days, range_of};
use crate::model::Time;
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::report::{Merge, Report};
use crate::model::views::ViewsPage;
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};

type R<T> = Result<T, StoreError>;

/// A row of `views_loading`.
#[derive(Debug)]
pub(super) struct LoadingRow {
    pub(super) id: i64,
    /// Answers taken in.
    pub(super) answers: u32,
    pub(super) since: Option<Time>,
    /// Rows that had come again before the first part that is kept.
    moved: u32,
}

/// What is being loaded of the range.
pub(super) fn find(connection: &Connection, scope: i64, range: DateRange) -> R<Option<LoadingRow>> {
    let mut ask = connection.prepare_cached(
        "SELECT id, since, (SELECT coalesce(max(number), 0) FROM views_part WHERE loading = id), moved FROM views_loading
         WHERE scope = ?1 AND date_from = ?2 AND date_to = ?3",
    )?;
    let (from, to) = days(range);
    Ok(ask.query_row(params![scope, from, to], of_row).optional()?)
}

/// All that is being loaded.
pub(super) fn all(connection: &Connection, scope: i64) -> R<Vec<(DateRange, LoadingRow)>> {
    let mut ask = connection.prepare_cached(
        "SELECT id, since, (SELECT coalesce(max(number), 0) FROM views_part WHERE loading = id), moved, date_from,
             date_to
         FROM views_loading WHERE scope = ?1",
    )?;
    let found = ask.query_map([scope], |row| Ok(range_of(row, 4)?.zip(Some(of_row(row)?))))?;
    Ok(found.filter_map(Result::transpose).collect::<rusqlite::Result<_>>()?)
}

fn of_row(row: &Row<'_>) -> rusqlite::Result<LoadingRow> {
    Ok(LoadingRow { id: row.get(0)?, since: opt_time(row, 1)?, answers: row.get(2)?, moved: row.get(3)? })
}

/// Adds the next answer, which lies in `text`, to what is being loaded, or begins with it.
pub(super) fn add(tx: &Transaction<'_>, scope: i64, to: Option<LoadingRow>, next: &ReportAnswer, text: &str) -> R<()> {
    let id = match to {
        Some(loading) => loading.id,
        None => {
            let (from, to) = days(next.range);
            tx.prepare_cached("INSERT INTO views_loading (scope, date_from, date_to, since) VALUES (?1, ?2, ?3, ?4)")?
                .insert(params![scope, from, to, next.since.map(UnixMillis)])?
        }
    };
    tx.prepare_cached("INSERT INTO views_part (loading, number, as_of, answer) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![id, next.number, UnixMillis(next.as_of), text])?;
    Ok(())
}

/// What its answers make together. None where one can't be read, since the file was edited by others: rows that are missing
/// must not pass for a report, so it is loaded anew.
pub(super) fn merged(connection: &Connection, range: DateRange, loading: &LoadingRow) -> R<Option<Report>> {
    let mut ask =
        connection.prepare_cached("SELECT answer, as_of FROM views_part WHERE loading = ?1 ORDER BY number")?;
    let mut parts = ask.query([loading.id])?;
    let mut merge: Option<Merge> = None;
    while let Some(part) = parts.next()? {
        let as_of = time(part, 1)?;
        let Some(answer) = part.get_ref(0)?.as_str().ok().and_then(answer_of) else { return Ok(None) };
        merge = Some(Merge::with(merge, range, answer, false, as_of));
    }
    // One that a docdeck of before had taken in holds several in one.
    Ok(merge.map(Merge::into_report).map(|report| Report {
        answers: loading.answers,
        moved: report.moved.saturating_add(loading.moved),
        ..report
    }))
}

/// The answers that have this text in them, of one range or of all, the newest of a range first.
pub(super) fn answers_with(
    connection: &Connection,
    scope: i64,
    range: Option<DateRange>,
    text: &str,
) -> R<Vec<(DateRange, Timed<ViewsPage>)>> {
    let mut ask = connection.prepare_cached(
        "SELECT date_from, date_to, answer, as_of FROM views_loading JOIN views_part ON loading = id
         WHERE scope = ?1 AND (?2 IS NULL OR date_from = ?2 AND date_to = ?3) AND instr(answer, ?4) > 0
         ORDER BY number DESC",
    )?;
    let (from, to) = range.map(days).unzip();
    let mut rows = ask.query(params![scope, from, to, text])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let answer = row.get_ref(2)?.as_str().ok().and_then(answer_of);
        if let (Some(range), Some(value)) = (range_of(row, 0)?, answer) {
            found.push((range, Timed { value, as_of: time(row, 3)? }));
        }
    }
    Ok(found)
}

/// Forgets it.
pub(super) fn delete(tx: &Transaction<'_>, id: i64) -> R<()> {
    tx.prepare_cached("DELETE FROM views_part WHERE loading = ?1")?.execute([id])?;
    tx.prepare_cached("DELETE FROM views_loading WHERE id = ?1")?.execute([id])?;
    Ok(())
}
