//! Unfinished reports: their load is in progress or was interrupted. Their answers are stored as received, one after
//! the other.

use super::columns::{UnixMillis, read_optional_time, read_time};
use super::error::StoreResult;
use super::json_column::decode_answer;
use super::reports::ReportAnswer;
use super::views::{date_columns, read_range};
use crate::model::Time;
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::report::{Report, ReportMerge};
use crate::model::views::ViewsPage;
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};

/// A row of the table `views_loading`.
#[derive(Debug)]
pub(super) struct LoadingRow {
    pub(super) id: i64,
    /// The number of answers received so far.
    pub(super) answers: u32,
    /// When the user restarted the load; `None` if it was not restarted.
    pub(super) restarted_at: Option<Time>,
    /// The number of duplicate rows in the answers that a migration combined into the first stored part.
    duplicates: u32,
}

/// Returns the unfinished report of the range, if there is one.
pub(super) fn find_loading(connection: &Connection, scope: i64, range: DateRange) -> StoreResult<Option<LoadingRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, restarted_at, (SELECT coalesce(max(number), 0) FROM views_part WHERE loading = id), moved
         FROM views_loading WHERE scope = ?1 AND date_from = ?2 AND date_to = ?3",
    )?;
    let (from, to) = date_columns(range);
    Ok(statement.query_row(params![scope, from, to], read_loading_row).optional()?)
}

/// Returns all unfinished reports of the scope, each with its range.
pub(super) fn find_loadings(connection: &Connection, scope: i64) -> StoreResult<Vec<(DateRange, LoadingRow)>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, restarted_at, (SELECT coalesce(max(number), 0) FROM views_part WHERE loading = id), moved,
             date_from, date_to
         FROM views_loading WHERE scope = ?1",
    )?;
    let found = statement.query_map([scope], |row| Ok(read_range(row, 4)?.zip(Some(read_loading_row(row)?))))?;
    Ok(found.filter_map(Result::transpose).collect::<rusqlite::Result<_>>()?)
}

fn read_loading_row(row: &Row<'_>) -> rusqlite::Result<LoadingRow> {
    Ok(LoadingRow {
        id: row.get(0)?,
        restarted_at: read_optional_time(row, 1)?,
        answers: row.get(2)?,
        duplicates: row.get(3)?,
    })
}

/// Adds the next answer to the unfinished report, or starts a report with it. `text` is the same answer as JSON.
pub(super) fn append_answer(
    tx: &Transaction<'_>,
    scope: i64,
    to: Option<LoadingRow>,
    next: &ReportAnswer,
    text: &str,
) -> StoreResult<()> {
    let id = match to {
        Some(loading) => loading.id,
        None => {
            let (from, to) = date_columns(next.range);
            tx.prepare_cached(
                "INSERT INTO views_loading (scope, date_from, date_to, restarted_at) VALUES (?1, ?2, ?3, ?4)",
            )?
            .insert(params![scope, from, to, next.restarted_at.map(UnixMillis)])?
        }
    };
    tx.prepare_cached("INSERT INTO views_part (loading, number, as_of, answer) VALUES (?1, ?2, ?3, ?4)")?
        .execute(params![id, next.number, UnixMillis(next.as_of), text])?;
    Ok(())
}

/// Merges the stored answers into one report. Returns `None` if an answer can't be read (others may have edited the
/// file). The caller then has to load the report again, since it would be wrong without some of its rows.
pub(super) fn merge_parts(
    connection: &Connection,
    range: DateRange,
    loading: &LoadingRow,
) -> StoreResult<Option<Report>> {
    let mut statement =
        connection.prepare_cached("SELECT answer, as_of FROM views_part WHERE loading = ?1 ORDER BY number")?;
    let mut parts = statement.query([loading.id])?;
    let mut merge: Option<ReportMerge> = None;
    while let Some(part) = parts.next()? {
        let as_of = read_time(part, 1)?;
        let Some(answer) = part.get_ref(0)?.as_str().ok().and_then(decode_answer) else { return Ok(None) };
        merge = Some(ReportMerge::with(merge, range, answer, false, as_of));
    }
    // The number of answers is not that of the parts, since a migration may have combined several answers into one
    // part.
    Ok(merge.map(ReportMerge::into_report).map(|report| Report {
        answers: loading.answers,
        duplicates: report.duplicates.saturating_add(loading.duplicates),
        ..report
    }))
}

/// Returns those answers of unfinished reports that contain `text`, the newest first within each range. If `range` is
/// given, returns only the answers of this range.
pub(super) fn answers_containing(
    connection: &Connection,
    scope: i64,
    range: Option<DateRange>,
    text: &str,
) -> StoreResult<Vec<(DateRange, Timed<ViewsPage>)>> {
    let mut statement = connection.prepare_cached(
        "SELECT date_from, date_to, answer, as_of FROM views_loading JOIN views_part ON loading = id
         WHERE scope = ?1 AND (?2 IS NULL OR date_from = ?2 AND date_to = ?3) AND instr(answer, ?4) > 0
         ORDER BY number DESC",
    )?;
    let (from, to) = range.map(date_columns).unzip();
    let mut rows = statement.query(params![scope, from, to, text])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let answer = row.get_ref(2)?.as_str().ok().and_then(decode_answer);
        if let (Some(range), Some(value)) = (read_range(row, 0)?, answer) {
            found.push((range, Timed { value, as_of: read_time(row, 3)? }));
        }
    }
    Ok(found)
}

pub(super) fn delete_loading(tx: &Transaction<'_>, id: i64) -> StoreResult<()> {
    tx.prepare_cached("DELETE FROM views_part WHERE loading = ?1")?.execute([id])?;
    tx.prepare_cached("DELETE FROM views_loading WHERE id = ?1")?.execute([id])?;
    Ok(())
}
