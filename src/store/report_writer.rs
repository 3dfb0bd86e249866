//! Writes a whole report down: thousands of rows, each under the number of its path. They come in the order of their paths,
//! which is that of the index and, as far as they got their numbers together, that of the rows: each page is met once.

use super::columns::UnixMillis;
use super::error::StoreError;
use super::json_column::counts_text;
use super::views::days;
use crate::model::report::Report;
use crate::model::views::{Count, Counts, PageRow};
use rusqlite::{OptionalExtension as _, Transaction, params};

type R<T> = Result<T, StoreError>;

/// Writes it down as the whole report of its range, of which there must be none.
pub(super) fn file(tx: &Transaction<'_>, scope: i64, report: &Report) -> R<()> {
    let (from, to) = days(report.range);
    let rows = u32::try_from(report.rows.len()).unwrap_or(u32::MAX);
    let id = tx
        .prepare_cached(
            "INSERT INTO views_report (scope, date_from, date_to, complete, answers, moved, row_count, as_of, totals)
             VALUES (?1, ?2, ?3, 1, ?4, ?5, ?6, ?7, ?8)",
        )?
        .insert(params![
            scope,
            from,
            to,
            report.answers,
            report.moved,
            rows,
            UnixMillis(report.as_of),
            counts_text(&report.totals)?
        ])?;
    let mut by_path: Vec<(u32, &PageRow)> = (0..).zip(&report.rows).collect();
    by_path.sort_unstable_by_key(|(_, row)| row.path.as_str());
    let mut find = tx.prepare_cached(FIND_PATH)?;
    let mut name = tx.prepare_cached("INSERT INTO views_path (path) VALUES (?1)")?;
    let mut add = tx.prepare_cached(
        "INSERT INTO views_row (report, path, place, human, ai, total, odd) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?;
    for (place, row) in by_path {
        let path = row.path.as_str();
        let number: i64 = match find.query_row([path], |found| found.get(0)).optional()? {
            Some(number) => number,
            None => name.insert([path])?,
        };
        let CountColumns { human, ai, total, odd } = columns(&row.counts)?;
        add.execute(params![id, number, place, human, ai, total, odd])?;
    }
    Ok(())
}

/// The number of a path.
pub(super) const FIND_PATH: &str = "SELECT id FROM views_path WHERE path = ?1";

/// Three counts as they lie in a row.
struct CountColumns {
    human: Option<i64>,
    ai: Option<i64>,
    total: Option<i64>,
    /// All three as received, if one of them isn't a whole number: the columns hold integers only.
    odd: Option<String>,
}

fn columns(counts: &Counts) -> R<CountColumns> {
    if let (Count::Known(human), Count::Known(ai), Count::Known(total)) = (&counts.human, &counts.ai, &counts.total) {
        return Ok(CountColumns { human: Some(*human), ai: Some(*ai), total: Some(*total), odd: None });
    }
    Ok(CountColumns { human: None, ai: None, total: None, odd: Some(counts_text(counts)?) })
}
