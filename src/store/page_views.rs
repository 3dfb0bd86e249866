//! Finds the views of one page in the cache: in complete reports, otherwise in responses for the range, otherwise in an
//! unfinished report. Only a complete report proves that the service didn't list a page.

use super::columns::read_time;
use super::error::StoreResult;
use super::query::Query as _;
use super::reports::{find_complete_report, find_path_id, read_counts};
use super::views::{read_range, read_response};
use super::{Store, loading, scopes};
use crate::model::endpoint::Scope;
use crate::model::impact::{PageViewsInRange, PageViewsState};
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::text::CleanText;
use crate::model::views::{Counts, ViewsResponse};
use rusqlite::{Connection, params};
use std::cmp::Reverse;
use std::collections::HashMap;

impl Store {
    /// Returns the cached views of the page in each of these ranges, in the order of `ranges`. Times are on the
    /// service's clock.
    pub async fn page_views(
        &self,
        scope: &Scope,
        path: &CleanText,
        ranges: &[DateRange],
    ) -> StoreResult<Vec<PageViewsState>> {
        let (scope, path, ranges) = (scope.clone(), path.clone(), ranges.to_vec());
        self.read(move |db| {
            let Some(scope) = scopes::find_scope(db, &scope)? else {
                return Ok(vec![PageViewsState::Unknown; ranges.len()]);
            };
            let PageViews { in_reports, in_responses } = read_page_views(db, scope, &path)?;
            let find = |range| {
                let found = match (in_reports.get(&range), find_complete_report(db, scope, range)?) {
                    (None, Some((_, report))) => return Ok(PageViewsState::NotListed(report.as_of)),
                    (found, _) => found.or_else(|| in_responses.get(&range)),
                };
                Ok(found.cloned().map_or(PageViewsState::Unknown, PageViewsState::Known))
            };
            ranges.into_iter().map(find).collect()
        })
        .await
    }

    /// Returns the page's counts in every cached range that lists the page. A range with a later first day comes first.
    /// Times are on the service's clock.
    pub async fn page_views_by_range(&self, scope: &Scope, path: &CleanText) -> StoreResult<Vec<PageViewsInRange>> {
        let path = path.clone();
        self.read_in_scope(scope, move |db, scope| {
            let PageViews { in_reports, mut in_responses } = read_page_views(db, scope, &path)?;
            in_responses.extend(in_reports);
            let mut periods: Vec<PageViewsInRange> =
                in_responses.into_iter().map(|(range, views)| PageViewsInRange { range, views }).collect();
            periods.sort_by_key(|period| Reverse(period.range));
            Ok(periods)
        })
        .await
    }
}

/// A page's counts in the cached ranges that list it.
struct PageViews {
    /// The counts from complete reports, which take precedence.
    in_reports: HashMap<DateRange, Timed<Counts>>,
    /// The counts from single responses, including those of unfinished reports.
    in_responses: HashMap<DateRange, Timed<Counts>>,
}

fn read_page_views(db: &Connection, scope: i64, path: &CleanText) -> StoreResult<PageViews> {
    let (mut in_reports, mut in_responses) = (HashMap::new(), HashMap::new());
    if let Some(id) = find_path_id(db, path)? {
        let reports = "SELECT human, ai, total, raw_counts, date_from, date_to, as_of FROM views_report
             CROSS JOIN views_row ON views_row.report = views_report.id AND views_row.path = ?2
             WHERE scope = ?1 AND complete = 1";
        let found = db.query_all(reports, params![scope, id], |row| {
            let views = Timed { value: read_counts(row)?, as_of: read_time(row, "as_of")? };
            Ok(read_range(row)?.map(|range| (range, views)))
        })?;
        in_reports.extend(found.into_iter().flatten());
    }
    // The ranges without a complete report are found with indexes only, so that SQLite doesn't read the responses for
    // ranges with a complete report.
    let responses = "WITH incomplete AS MATERIALIZED (
             SELECT date_from, date_to FROM views_answer WHERE scope = ?1
             EXCEPT SELECT date_from, date_to FROM views_report WHERE scope = ?1 AND complete = 1)
         SELECT date_from, date_to, as_of, answer FROM incomplete CROSS JOIN views_answer USING (date_from, date_to)
         WHERE scope = ?1 AND instr(answer, ?2) > 0
         ORDER BY as_of DESC";
    // The path as it is written in the JSON of a stored response. A response without this text need not be parsed.
    let text = serde_json::Value::from(path.as_str()).to_string();
    let responses = db.query_all(responses, params![scope, text], |row| {
        let views = read_response(row)?.and_then(|response| find_page_counts(response, path));
        Ok(read_range(row)?.zip(views))
    })?;
    let parts = loading::responses_containing(db, scope, &text)?.into_iter();
    let parts = parts.filter_map(|(range, part)| Some((range, find_page_counts(part, path)?)));
    // The first counts of a range are kept: responses come before unfinished reports, and newer responses before older
    // ones.
    for (range, views) in responses.into_iter().flatten().chain(parts) {
        in_responses.entry(range).or_insert(views);
    }
    Ok(PageViews { in_reports, in_responses })
}

/// Returns the page's counts in the response. If several rows have the path, returns the counts of the last row.
fn find_page_counts(response: Timed<ViewsResponse>, path: &CleanText) -> Option<Timed<Counts>> {
    let row = response.value.rows.into_iter().rfind(|row| row.path == *path)?;
    Some(Timed { value: row.counts, as_of: response.as_of })
}
