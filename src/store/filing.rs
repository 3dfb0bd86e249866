//! Writes a whole report down: thousands of rows, each under the number of its path.
//!
//! Both trees are written in the order of their keys, so that each of their pages is met once, and many rows go into one
//! statement: of a small one, beginning and ending take most of the time.

use super::columns::Ms;
use super::error::StoreError;
use super::stored::counts_text;
use super::views::days;
use crate::model::report::Report;
use crate::model::views::{Count, Counts, PageRow};
use rusqlite::types::Value;
use rusqlite::{Transaction, params, params_from_iter};

type R<T> = Result<T, StoreError>;

/// Paths that are looked up by one statement.
const PATHS: usize = 1_000;
/// Rows that one statement writes.
const ROWS: usize = 50;

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
            Ms(report.as_of),
            counts_text(&report.totals)?
        ])?;
    let mut by_path: Vec<(u32, &PageRow)> = (0..).zip(&report.rows).collect();
    by_path.sort_unstable_by_key(|(_, row)| row.path.as_str());
    let mut numbered = Vec::with_capacity(by_path.len());
    for rows in by_path.chunks(PATHS) {
        let paths: Vec<&str> = rows.iter().map(|(_, row)| row.path.as_str()).collect();
        numbered.extend(numbers(tx, &paths)?.into_iter().zip(rows.iter().copied()));
    }
    numbered.sort_unstable_by_key(|(path, _)| *path);
    for rows in numbered.chunks(ROWS) {
        add(tx, id, rows)?;
    }
    Ok(())
}

/// The numbers of these paths, in this order; those that have none yet get one.
fn numbers(tx: &Transaction<'_>, paths: &[&str]) -> R<Vec<i64>> {
    let mut numbers = vec![None; paths.len()];
    let mut ask = tx.prepare_cached(
        "SELECT key, views_path.id FROM json_each(?1) CROSS JOIN views_path ON views_path.path = value",
    )?;
    let mut known = ask.query([json(paths)?])?;
    while let Some(row) = known.next()? {
        let place = usize::try_from(row.get::<_, u32>(0)?).ok();
        if let Some(number) = place.and_then(|place| numbers.get_mut(place)) {
            *number = Some(row.get(1)?);
        }
    }
    let new: Vec<&str> =
        numbers.iter().zip(paths).filter(|(number, _)| number.is_none()).map(|(_, path)| *path).collect();
    let mut next: i64 = 0;
    if !new.is_empty() {
        next = tx.prepare_cached("SELECT coalesce(max(id), 0) + 1 FROM views_path")?.query_row([], |row| row.get(0))?;
        tx.prepare_cached("INSERT INTO views_path (id, path) SELECT ?2 + key, value FROM json_each(?1)")?
            .execute(params![json(&new)?, next])?;
    }
    let counted = numbers.into_iter().map(|known| {
        known.unwrap_or_else(|| {
            let number = next;
            next = next.saturating_add(1);
            number
        })
    });
    Ok(counted.collect())
}

fn json(paths: &[&str]) -> R<String> {
    serde_json::to_string(paths).map_err(|error| StoreError::Unusable(error.to_string()))
}

/// Writes these rows of the report, each with the number of its path and with its place.
fn add(tx: &Transaction<'_>, report: i64, rows: &[(i64, (u32, &PageRow))]) -> R<()> {
    let mut sql = "INSERT INTO views_row (report, path, place, human, ai, total, odd) VALUES ".to_owned();
    let mut values = Vec::with_capacity(rows.len().saturating_mul(6).saturating_add(1));
    values.push(Value::Integer(report));
    for (number, (path, (place, row))) in rows.iter().enumerate() {
        sql.push_str(if number == 0 { "(?1,?,?,?,?,?,?)" } else { ",(?1,?,?,?,?,?,?)" });
        values.push(Value::Integer(*path));
        values.push(Value::Integer(i64::from(*place)));
        values.extend(columns(&row.counts)?);
    }
    tx.prepare_cached(&sql)?.execute(params_from_iter(values))?;
    Ok(())
}

/// Human, AI, total, odd: all three as received where one of them is no number.
fn columns(counts: &Counts) -> R<[Value; 4]> {
    if let (Count::Known(human), Count::Known(ai), Count::Known(total)) = (&counts.human, &counts.ai, &counts.total) {
        return Ok([Value::Integer(*human), Value::Integer(*ai), Value::Integer(*total), Value::Null]);
    }
    Ok([Value::Null, Value::Null, Value::Null, Value::Text(counts_text(counts)?)])
}
