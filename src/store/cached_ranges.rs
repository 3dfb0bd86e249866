//! Lists the ranges with cached page views or other reports, and computes the disk space that the cache uses.

use super::columns::read_time;
use super::error::StoreResult;
use super::json_column::decode_counts;
use super::query::Query as _;
use super::views::read_range;
use super::{Store, loading, scopes};
use crate::model::analytics::AnalyticsKind;
use crate::model::endpoint::Scope;
use crate::model::period::DateRange;
use crate::model::report::{CacheOverview, CachedPages, CachedRange, Report};
use rusqlite::Connection;
use std::cmp::Reverse;
use std::collections::HashMap;

impl Store {
    /// Lists the ranges with cached rows; a range with a later last day comes first. Leaves out ranges with nothing but
    /// cached totals (such as the days of the trend) or visitors. A range without a report may have responses to
    /// requests with different limits (maximum numbers of rows). Then `rows` counts only the responses for the limit
    /// with the most cached rows. `bytes` is the space that the reports of all projects use in the file. Times are on
    /// the service's clock.
    pub async fn cached_ranges(&self, scope: &Scope) -> StoreResult<CacheOverview> {
        let scope = scope.clone();
        self.read(move |db| {
            let ranges =
                scopes::find_scope(db, &scope)?.map_or(Ok(Vec::new()), |scope| read_cached_ranges(db, scope))?;
            // The bytes of the database pages that belong to the tables of reports and to their indexes.
            let bytes: i64 = db.query_value(
                "SELECT coalesce(sum(pgsize), 0) FROM dbstat WHERE aggregate = 1 AND name IN
                 (SELECT name FROM sqlite_schema WHERE tbl_name IN
                  ('views_answer', 'views_loading', 'views_part', 'views_report', 'views_path', 'views_row',
                   'views_total', 'analytics_report', 'analytics_answer'))",
                [],
            )?;
            Ok(CacheOverview { ranges, bytes: u64::try_from(bytes).unwrap_or(0) })
        })
        .await
    }
}

fn read_cached_ranges(db: &Connection, scope: i64) -> StoreResult<Vec<CachedRange>> {
    let mut by_range: HashMap<DateRange, CachedRange> = HashMap::new();
    // What was already added for a range is never replaced. So a complete report takes precedence over an unfinished
    // report, and an unfinished report over single responses.
    add_ranges(
        db,
        "SELECT date_from, date_to, row_count, complete, as_of, totals FROM views_report WHERE scope = ?1 AND complete = 1",
        scope,
        &mut by_range,
    )?;
    for (range, loading) in loading::find_unfinished_loads(db, scope, None)? {
        if by_range.contains_key(&range) {
            continue;
        }
        if let Some(Report { rows, as_of, totals, .. }) = loading::merge_stored_responses(db, range, &loading)? {
            let rows = u32::try_from(rows.len()).unwrap_or(u32::MAX);
            let views = Some(CachedPages { rows, complete: false, totals });
            by_range.insert(range, CachedRange { range, as_of, views, reports: Vec::new() });
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
    add_reports(db, scope, &mut by_range)?;
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
        let views = Some(CachedPages { rows: row.get("row_count")?, complete: row.get("complete")?, totals });
        Ok(Some(CachedRange { range, as_of: read_time(row, "as_of")?, views, reports: Vec::new() }))
    })?;
    for found in found.into_iter().flatten() {
        by_range.entry(found.range).or_insert(found);
    }
    Ok(())
}

/// Adds the reports other than page views and visitors. Visitors are left out because they belong to the page views.
fn add_reports(db: &Connection, scope: i64, by_range: &mut HashMap<DateRange, CachedRange>) -> StoreResult<()> {
    let sql = "SELECT date_from, date_to, kind, min(as_of) AS as_of FROM analytics_report WHERE scope = ?1
               GROUP BY date_from, date_to, kind ORDER BY as_of";
    let found = db.query_all(sql, [scope], |row| {
        let name: String = row.get("kind")?;
        let kind = AnalyticsKind::ALL.into_iter().find(|kind| kind.name() == name);
        Ok(read_range(row)?.zip(kind).zip(Some(read_time(row, "as_of")?)))
    })?;
    for ((range, kind), as_of) in found.into_iter().flatten() {
        if kind != AnalyticsKind::Visitors {
            let without_views = || CachedRange { range, as_of, views: None, reports: Vec::new() };
            by_range.entry(range).or_insert_with(without_views).reports.push(kind);
        }
    }
    by_range.values_mut().for_each(|known| known.reports.sort_unstable());
    Ok(())
}
