//! Writes a complete report with thousands of rows, each of which contains the id of its path. The rows are written in
//! the order of their paths. The index of paths has the same order, and so do most of the path ids. SQLite therefore
//! visits hardly any page of the file twice.

use super::columns::UnixMillis;
use super::error::StoreResult;
use super::json_column::encode_counts;
use super::query::Query as _;
use super::views::date_columns;
use crate::model::report::Report;
use crate::model::views::{Count, Counts, PageRow};
use rusqlite::{OptionalExtension as _, Transaction, params};

/// Stores a complete report. If there already is a complete report of the same range, the caller must delete it first.
pub(super) fn insert_report(tx: &Transaction<'_>, scope: i64, report: &Report) -> StoreResult<()> {
    let (from, to) = date_columns(report.range);
    let rows = u32::try_from(report.rows.len()).unwrap_or(u32::MAX);
    let id = tx.insert(
        "INSERT INTO views_report (scope, date_from, date_to, complete, answers, moved, row_count, as_of, totals)
         VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, ?7, ?8)",
        params![
            scope,
            from,
            to,
            report.responses,
            report.duplicates,
            rows,
            UnixMillis(report.as_of),
            encode_counts(&report.totals)?
        ],
    )?;
    let mut by_path: Vec<(u32, &PageRow)> = (0..).zip(&report.rows).collect();
    by_path.sort_unstable_by_key(|(_, row)| row.path.as_str());
    let mut find_path = tx.prepare_cached(FIND_PATH_ID_SQL)?;
    let mut add_path = tx.prepare_cached("INSERT INTO views_path (path) VALUES (?1)")?;
    let mut add_row = tx.prepare_cached(
        "INSERT INTO views_row (report, path, position, human, ai, total, raw_counts)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for (position, row) in by_path {
        let path_id: i64 = match find_path.query_row([&row.path], |found| found.get(0)).optional()? {
            Some(path_id) => path_id,
            None => add_path.insert([&row.path])?,
        };
        let ([human, ai, total], raw_counts) = counts_to_columns(&row.counts)?;
        add_row.execute(params![id, path_id, position, human, ai, total, raw_counts])?;
    }
    Ok(())
}

/// The query for the id of a path.
pub(super) const FIND_PATH_ID_SQL: &str = "SELECT id FROM views_path WHERE path = ?1";

/// Returns the values of a row's columns: the three counts if all of them are integers, otherwise the JSON of the
/// counts as received.
fn counts_to_columns(counts: &Counts) -> StoreResult<([Option<i64>; 3], Option<String>)> {
    match [&counts.human, &counts.ai, &counts.total] {
        [Count::Known(human), Count::Known(ai), Count::Known(total)] => {
            Ok(([Some(*human), Some(*ai), Some(*total)], None))
        }
        _ => Ok(([None; 3], Some(encode_counts(counts)?))),
    }
}
