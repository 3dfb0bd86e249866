//! The cache of page views: one answer per query. If a query is sent again, the new answer replaces the old one.
//!
//! Each answer is stored with its time, by which the caller decides whether the answer is still fresh.

use super::columns::{UnixMillis, read_time};
use super::error::StoreResult;
use super::json_column::decode_answer;
use super::{scopes, totals};
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::views::{ViewsPage, ViewsQuery};
use rusqlite::{Connection, OptionalExtension as _, Row, Transaction, params};

/// Replaces the cached answer to this query, and the totals of its range. `text` is the same answer as JSON.
pub(super) fn replace_views_answer(
    tx: &Transaction<'_>,
    scope: i64,
    query: ViewsQuery,
    page: &ViewsPage,
    text: &str,
    as_of: Time,
) -> StoreResult<()> {
    let (from, to) = date_columns(query.range);
    let row_count = u32::try_from(page.rows.len()).unwrap_or(u32::MAX);
    tx.prepare_cached(
        "INSERT OR REPLACE INTO views_answer (scope, date_from, date_to, row_limit, page, as_of, answer, row_count)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    )?
    .execute(params![scope, from, to, query.limit, query.page, UnixMillis(as_of), text, row_count])?;
    totals::replace_totals(tx, scope, query.range, &page.totals, as_of)
}

/// Returns the cached answer to this query. Returns `None` if there is none or if it can't be read, since it can then
/// be loaded again.
pub(super) fn find_views_answer(
    connection: &Connection,
    scope: &Scope,
    query: ViewsQuery,
) -> StoreResult<Option<Timed<ViewsPage>>> {
    let Some(scope) = scopes::find_scope(connection, scope)? else { return Ok(None) };
    let mut statement = connection.prepare_cached(
        "SELECT answer, as_of FROM views_answer
         WHERE scope = ?1 AND date_from = ?2 AND date_to = ?3 AND row_limit = ?4 AND page = ?5",
    )?;
    let (from, to) = date_columns(query.range);
    let found: Option<(String, Time)> = statement
        .query_row(params![scope, from, to, query.limit, query.page], |row| Ok((row.get(0)?, read_time(row, 1)?)))
        .optional()?;
    let Some((answer, as_of)) = found else { return Ok(None) };
    Ok(decode_answer(&answer).map(|value| Timed { value, as_of }))
}

/// Returns the newest answer to a query for the first page of results, of any page size, that already contains all
/// documentation pages of the range.
pub(super) fn find_complete_answer(
    connection: &Connection,
    scope: &Scope,
    range: DateRange,
) -> StoreResult<Option<Timed<ViewsPage>>> {
    let Some(scope) = scopes::find_scope(connection, scope)? else { return Ok(None) };
    let mut statement = connection.prepare_cached(
        "SELECT answer, as_of, row_limit FROM views_answer
         WHERE scope = ?1 AND date_from = ?2 AND date_to = ?3 AND page = 1 ORDER BY as_of DESC",
    )?;
    let (from, to) = date_columns(range);
    let found = statement.query_map(params![scope, from, to], |row| {
        Ok((row.get::<_, String>(0)?, read_time(row, 1)?, row.get::<_, u32>(2)?))
    })?;
    for found in found {
        let (answer, as_of, limit) = found?;
        let query = ViewsQuery { range, limit, page: 1 };
        if let Some(value) = decode_answer(&answer).filter(|answer| !query.has_next(answer)) {
            return Ok(Some(Timed { value, as_of }));
        }
    }
    Ok(None)
}

/// Converts a range to its columns: first day and last day.
pub(super) fn date_columns(range: DateRange) -> (String, String) {
    (range.from().to_string(), range.to().to_string())
}

/// Reads a range from two columns, starting at `index`. Returns `None` if they don't contain a valid range: others may
/// have edited the file.
pub(super) fn read_range(row: &Row<'_>, index: usize) -> rusqlite::Result<Option<DateRange>> {
    let (from, to): (String, String) = (row.get(index)?, row.get(index + 1)?);
    Ok(from.parse().ok().zip(to.parse().ok()).and_then(|(from, to)| DateRange::new(from, to)))
}
