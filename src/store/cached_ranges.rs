//! The ranges whose page views are cached, and the disk space they use.

use super::columns::read_time;
use super::error::StoreResult;
use super::json_column::decode_counts;
use super::query::Query as _;
use super::views::read_range;
use super::{Store, loading, scopes};
use crate::model::endpoint::Scope;
use crate::model::period::DateRange;
use crate::model::report::{CachedRange, CachedViews, Report};
use rusqlite::Connection;
use std::cmp::Reverse;
use std::collections::HashMap;

impl Store {
    /// Lists the ranges with cached rows; a range with a later last day comes first. For a range without a report,
    /// `rows` counts only the cached rows of one page size: the one with the most cached rows. Leaves out ranges of
    /// which only totals are cached (the days of the trend). `bytes` is the space that the page views of all projects
    /// use in the file. Times are the service's.
    pub async fn cached_ranges(&self, scope: &Scope) -> StoreResult<CachedViews> {
        let scope = scope.clone();
        self.read(move |db| {
            let ranges =
                scopes::find_scope(db, &scope)?.map_or(Ok(Vec::new()), |scope| read_known_ranges(db, scope))?;
            // The bytes of the database pages that belong to the tables of page views and to their indexes.
            let bytes: i64 = db.query_value(
                "SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE aggregate = 1 AND name IN
                 (SELECT name FROM sqlite_schema WHERE tbl_name IN
                  ('views_answer', 'views_loading', 'views_part', 'views_report', 'views_path', 'views_row',
                   'views_total'))",
                [],
            )?;
            Ok(CachedViews { ranges, bytes: u64::try_from(bytes).unwrap_or(0) })
        })
        .await
    }
}

fn read_known_ranges(db: &Connection, scope: i64) -> StoreResult<Vec<CachedRange>> {
    let mut by_range: HashMap<DateRange, CachedRange> = HashMap::new();
    // A range that was already added is never replaced. So a complete report takes precedence over an unfinished
    // report, and an unfinished report over single answers.
    add_ranges(
        db,
        "SELECT date_from, date_to, row_count, complete, as_of, totals FROM views_report WHERE scope = ?1 AND complete = 1",
        scope,
        &mut by_range,
    )?;
    for (range, loading) in loading::find_loadings(db, scope, None)? {
        if by_range.contains_key(&range) {
            continue;
        }
        if let Some(Report { rows, as_of, totals, .. }) = loading::merge_parts(db, range, &loading)? {
            let rows = u32::try_from(rows.len()).unwrap_or(u32::MAX);
            by_range.insert(range, CachedRange { range, rows, complete: false, as_of, totals });
        }
    }
    add_ranges(
        db,
        "SELECT date_from, date_to, row_count, 0 AS complete, size.as_of AS as_of, coalesce(totals, '') AS totals
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
    db: &Connection,
    sql: &str,
    scope: i64,
    by_range: &mut HashMap<DateRange, CachedRange>,
) -> StoreResult<()> {
    let found = db.query_all(sql, [scope], |row| {
        let Some(range) = read_range(row)? else { return Ok(None) };
        let totals = decode_counts(row.get_ref("totals")?.as_str()?);
        let (rows, complete, as_of) = (row.get("row_count")?, row.get("complete")?, read_time(row, "as_of")?);
        Ok(Some(CachedRange { range, rows, complete, as_of, totals }))
    })?;
    for found in found.into_iter().flatten() {
        by_range.entry(found.range).or_insert(found);
    }
    Ok(())
}
