//! Finds the views of one page in everything that is cached: in complete reports, otherwise in answers for the range,
//! otherwise in an unfinished report. Only a complete report shows that the service didn't list a page.

use super::columns::read_time;
use super::error::StoreResult;
use super::query::Query as _;
use super::reports::{find_complete, find_path, read_counts};
use super::views::{date_columns, read_answer, read_range};
use super::{Store, loading, scopes};
use crate::model::endpoint::Scope;
use crate::model::impact::{PagePeriod, PageViewsState};
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::text::CleanText;
use crate::model::views::{Counts, ViewsPage};
use rusqlite::{Connection, params};
use std::cmp::Reverse;
use std::collections::HashMap;

impl Store {
    /// Returns what is cached about the page in each of these ranges, in the order of `ranges`; times are the
    /// service's.
    pub async fn page_views(
        &self,
        scope: &Scope,
        path: &CleanText,
        ranges: &[DateRange],
    ) -> StoreResult<Vec<PageViewsState>> {
        let (scope, path, ranges) = (scope.clone(), path.clone(), ranges.to_vec());
        self.read(move |db| {
            let scope = scopes::find_scope(db, &scope)?;
            let find_views =
                |range| scope.map_or(Ok(PageViewsState::Unknown), |scope| find_in_range(db, scope, &path, range));
            ranges.into_iter().map(find_views).collect()
        })
        .await
    }

    /// Returns the page's counts in every cached range that lists the page. A range with a later first day comes first.
    /// Times are the service's.
    pub async fn page_periods(&self, scope: &Scope, path: &CleanText) -> StoreResult<Vec<PagePeriod>> {
        let path = path.clone();
        self.read_in_scope(scope, move |db, scope| periods(db, scope, &path)).await
    }
}

fn find_in_range(
    connection: &Connection,
    scope: i64,
    path: &CleanText,
    range: DateRange,
) -> StoreResult<PageViewsState> {
    let id = find_path(connection, path)?;
    if let Some(report) = find_complete(connection, scope, range)? {
        let counts = match id {
            Some(id) => find_counts(connection, report.id, id)?,
            None => None,
        };
        let listed = |value| PageViewsState::Known(Timed { value, as_of: report.as_of });
        return Ok(counts.map_or(PageViewsState::NotListed(report.as_of), listed));
    }
    if let Some(counts) = find_in_answers(connection, scope, path, range)? {
        return Ok(PageViewsState::Known(counts));
    }
    let parts = loading::answers_containing(connection, scope, Some(range), &path_literal(path))?;
    let found = parts.into_iter().find_map(|(_, part)| find_page(part, path));
    Ok(found.map_or(PageViewsState::Unknown, PageViewsState::Known))
}

fn find_counts(connection: &Connection, report: i64, path: i64) -> StoreResult<Option<Counts>> {
    let sql = "SELECT human, ai, total, raw_counts FROM views_row WHERE report = ?1 AND path = ?2";
    connection.query_first(sql, [report, path], |row| read_counts(row, 0))
}

/// Returns the page's counts in the newest answer for exactly this range that lists the page.
fn find_in_answers(
    connection: &Connection,
    scope: i64,
    path: &CleanText,
    range: DateRange,
) -> StoreResult<Option<Timed<Counts>>> {
    let mut statement = connection.prepare_cached(
        "SELECT answer, as_of FROM views_answer
         WHERE scope = ?1 AND date_from = ?2 AND date_to = ?3 AND instr(answer, ?4) > 0 ORDER BY as_of DESC",
    )?;
    let (from, to) = date_columns(range);
    let mut rows = statement.query(params![scope, from, to, path_literal(path)])?;
    while let Some(row) = rows.next()? {
        if let Some(counts) = read_answer(row)?.and_then(|answer| find_page(answer, path)) {
            return Ok(Some(counts));
        }
    }
    Ok(None)
}

fn periods(connection: &Connection, scope: i64, path: &CleanText) -> StoreResult<Vec<PagePeriod>> {
    let mut by_range: HashMap<DateRange, Timed<Counts>> = HashMap::new();
    // Reports take precedence over answers, and answers over unfinished reports.
    if let Some(id) = find_path(connection, path)? {
        add_from_reports(connection, scope, id, &mut by_range)?;
    }
    add_from_answers(connection, scope, path, &mut by_range)?;
    for (range, part) in loading::answers_containing(connection, scope, None, &path_literal(path))? {
        if let Some(views) = find_page(part, path) {
            by_range.entry(range).or_insert(views);
        }
    }
    let mut periods: Vec<PagePeriod> = by_range.into_iter().map(|(range, views)| PagePeriod { range, views }).collect();
    periods.sort_by_key(|period| Reverse(period.range));
    Ok(periods)
}

/// Adds the page's counts in complete reports.
fn add_from_reports(
    connection: &Connection,
    scope: i64,
    path: i64,
    by_range: &mut HashMap<DateRange, Timed<Counts>>,
) -> StoreResult<()> {
    let sql = "SELECT human, ai, total, raw_counts, date_from, date_to, as_of FROM views_report
         CROSS JOIN views_row ON views_row.report = views_report.id AND views_row.path = ?2
         WHERE scope = ?1 AND complete = 1";
    let found = connection.query_all(sql, params![scope, path], |row| {
        let views = Timed { value: read_counts(row, 0)?, as_of: read_time(row, "as_of")? };
        Ok(read_range(row)?.map(|range| (range, views)))
    })?;
    by_range.extend(found.into_iter().flatten());
    Ok(())
}

/// Adds the page's counts in single answers for ranges without a complete report. If several answers for a range list
/// the page, adds only the newest one.
fn add_from_answers(
    connection: &Connection,
    scope: i64,
    path: &CleanText,
    by_range: &mut HashMap<DateRange, Timed<Counts>>,
) -> StoreResult<()> {
    let mut statement = connection.prepare_cached(
        // SQLite finds the incomplete ranges in the index alone, so it reads no answers for complete ranges.
        "WITH incomplete AS MATERIALIZED (
             SELECT date_from, date_to FROM views_answer WHERE scope = ?1
             EXCEPT SELECT date_from, date_to FROM views_report WHERE scope = ?1 AND complete = 1)
         SELECT date_from, date_to, as_of, answer FROM incomplete CROSS JOIN views_answer USING (date_from, date_to)
         WHERE scope = ?1 AND instr(answer, ?2) > 0
         ORDER BY as_of DESC",
    )?;
    let mut rows = statement.query(params![scope, path_literal(path)])?;
    while let Some(row) = rows.next()? {
        let views = read_answer(row)?.and_then(|answer| find_page(answer, path));
        if let (Some(range), Some(views)) = (read_range(row)?, views) {
            by_range.entry(range).or_insert(views);
        }
    }
    Ok(())
}

/// Returns the path as it is written in the JSON of a stored answer. An answer without this text need not be parsed.
fn path_literal(path: &CleanText) -> String {
    serde_json::Value::from(path.as_str()).to_string()
}

/// Returns the page's counts in the answer. If several rows have the path, returns the counts of the last row.
fn find_page(answer: Timed<ViewsPage>, path: &CleanText) -> Option<Timed<Counts>> {
    let row = answer.value.rows.into_iter().rfind(|row| row.path == *path)?;
    Some(Timed { value: row.counts, as_of: answer.as_of })
}
