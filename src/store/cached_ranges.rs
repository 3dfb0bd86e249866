//! The ranges whose page views are cached, and the disk space they use.

use super::columns::read_time;
use super::error::StoreResult;
use super::json_column::decode_counts;
use super::views::read_range;
use super::{Store, loading, scopes};
use crate::model::endpoint::Scope;
use crate::model::period::DateRange;
use crate::model::report::{CachedRange, CachedViews, Report};
use rusqlite::{Connection, Row};
use std::cmp::Reverse;
use std::collections::HashMap;

impl Store {
    /// Lists the ranges with cached rows; a range with a later last day comes first. For a range without a report,
    /// `rows` counts only the cached rows of one page size: the one with the most cached rows. Leaves out ranges of
    /// which only totals are cached (the days of the trend). `bytes` is the space that the page views of all projects
    /// use in the file. Times are the service's.
    pub async fn cached_ranges(&self, scope: &Scope) -> StoreResult<CachedViews> {
        let scope = scope.clone();
        self.handle
            .read(move |db| {
                let ranges = match scopes::find_scope(db, &scope)? {
                    Some(scope) => read_known_ranges(db, scope)?,
                    None => Vec::new(),
                };
                Ok(CachedViews { ranges, bytes: cached_bytes(db)? })
            })
            .await
    }
}

fn read_known_ranges(connection: &Connection, scope: i64) -> StoreResult<Vec<CachedRange>> {
    let mut by_range: HashMap<DateRange, CachedRange> = HashMap::new();
    // A range that was already added is never replaced. So a complete report takes precedence over an unfinished
    // report, and an unfinished report over single answers.
    add_ranges(
        connection,
        "SELECT date_from, date_to, row_count, 1, as_of, totals FROM views_report WHERE scope = ?1 AND complete = 1",
        scope,
        &mut by_range,
    )?;
    for (range, loading) in loading::find_loadings(connection, scope)? {
        if by_range.contains_key(&range) {
            continue;
        }
        if let Some(Report { rows, as_of, totals, .. }) = loading::merge_parts(connection, range, &loading)? {
            let rows = u32::try_from(rows.len()).unwrap_or(u32::MAX);
            by_range.insert(range, CachedRange { range, rows, complete: false, as_of, totals });
        }
    }
    add_ranges(
        connection,
        "SELECT size.date_from, size.date_to, size.row_count, 0, size.as_of, coalesce(views_total.totals, '')
         FROM (SELECT scope, date_from, date_to, sum(row_count) AS row_count, min(as_of) AS as_of FROM views_answer
               WHERE scope = ?1 AND row_limit > 1 GROUP BY date_from, date_to, row_limit) AS size
         LEFT JOIN views_total USING (scope, date_from, date_to) ORDER BY size.row_count DESC",
        scope,
        &mut by_range,
    )?;
    let mut ranges: Vec<CachedRange> = by_range.into_values().collect();
    ranges.sort_by_key(|known| Reverse((known.range.to(), known.range.from())));
    Ok(ranges)
}

fn add_ranges(
    connection: &Connection,
    sql: &str,
    scope: i64,
    by_range: &mut HashMap<DateRange, CachedRange>,
) -> StoreResult<()> {
    let mut statement = connection.prepare_cached(sql)?;
    let read_range_row = |row: &Row<'_>| {
        let Some(range) = read_range(row, 0)? else { return Ok(None) };
        let totals: String = row.get(5)?;
        let (rows, complete, as_of) = (row.get(2)?, row.get(3)?, read_time(row, 4)?);
        Ok(Some(CachedRange { range, rows, complete, as_of, totals: decode_counts(&totals) }))
    };
    for found in statement.query_map([scope], read_range_row)? {
        if let Some(found) = found? {
            by_range.entry(found.range).or_insert(found);
        }
    }
    Ok(())
}

/// Returns the bytes of the database pages that belong to the tables of page views and to their indexes.
fn cached_bytes(connection: &Connection) -> StoreResult<u64> {
    let mut statement = connection.prepare_cached(
        "SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE aggregate = 1 AND name IN
         (SELECT name FROM sqlite_schema WHERE tbl_name IN
          ('views_answer', 'views_loading', 'views_part', 'views_report', 'views_path', 'views_row', 'views_total'))",
    )?;
    let bytes: i64 = statement.query_row([], |row| row.get(0))?;
    Ok(u64::try_from(bytes).unwrap_or(0))
}
