//! One page across what is kept: in whole reports, else in answers about the range, else in a report that is being
//! loaded. A whole report also knows that a page is not among them.

use super::columns::time;
use super::error::StoreError;
use super::json_column::answer_of;
use super::reports::{counts, find_path, head};
use super::views::{days, range_of};
use super::{Store, loading, scopes};
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::impact::{PagePeriod, PageViews};
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::text::CleanText;
use crate::model::views::{Counts, ViewsPage};
use rusqlite::{Connection, OptionalExtension as _, Row, params};
use std::cmp::Reverse;
use std::collections::HashMap;

type R<T> = Result<T, StoreError>;

/// One page.
impl Store {
    /// What is known of the page in each of these ranges, in this order; times are the service's.
    pub async fn page_views(&self, scope: &Scope, path: &CleanText, ranges: &[DateRange]) -> R<Vec<PageViews>> {
        let (scope, path, ranges) = (scope.clone(), path.clone(), ranges.to_vec());
        self.handle
            .read(move |db| {
                let scope = scopes::find(db, &scope)?;
                let of_range = |range| scope.map_or(Ok(PageViews::Unknown), |scope| in_range(db, scope, &path, range));
                ranges.into_iter().map(of_range).collect()
            })
            .await
    }

    /// The page's numbers in every range in which it is known, by first day, the newest first; times are the service's.
    pub async fn page_periods(&self, scope: &Scope, path: &CleanText) -> R<Vec<PagePeriod>> {
        let path = path.clone();
        self.handle.read_of(scope, move |db, scope| periods(db, scope, &path)).await
    }
}

fn in_range(connection: &Connection, scope: i64, path: &CleanText, range: DateRange) -> R<PageViews> {
    let id = find_path(connection, path)?;
    if let Some(whole) = head(connection, scope, range)? {
        let found = match id {
            Some(id) => row(connection, whole.id, id)?,
            None => None,
        };
        let known = |value| PageViews::Known(Timed { value, as_of: whole.as_of });
        return Ok(found.map_or(PageViews::NotListed(whole.as_of), known));
    }
    if let Some(known) = in_answers(connection, scope, path, range)? {
        return Ok(PageViews::Known(known));
    }
    let parts = loading::answers_with(connection, scope, Some(range), &written(path))?;
    let found = parts.into_iter().find_map(|(_, part)| listed(part, path));
    Ok(found.map_or(PageViews::Unknown, PageViews::Known))
}

fn row(connection: &Connection, report: i64, path: i64) -> R<Option<Counts>> {
    let mut ask =
        connection.prepare_cached("SELECT human, ai, total, odd FROM views_row WHERE report = ?1 AND path = ?2")?;
    Ok(ask.query_row([report, path], |row| counts(row, 0)).optional()?)
}

/// From the newest answer about just this range that lists the page.
fn in_answers(connection: &Connection, scope: i64, path: &CleanText, range: DateRange) -> R<Option<Timed<Counts>>> {
    let mut ask = connection.prepare_cached(
        "SELECT answer, as_of FROM views_answer
         WHERE scope = ?1 AND date_from = ?2 AND date_to = ?3 AND instr(answer, ?4) > 0 ORDER BY as_of DESC",
    )?;
    let (from, to) = days(range);
    let mut rows = ask.query(params![scope, from, to, written(path)])?;
    while let Some(row) = rows.next()? {
        let (answer, as_of): (String, Time) = (row.get(0)?, time(row, 1)?);
        let answer = answer_of(&answer).map(|value| Timed { value, as_of });
        if let Some(known) = answer.and_then(|answer| listed(answer, path)) {
            return Ok(Some(known));
        }
    }
    Ok(None)
}

fn periods(connection: &Connection, scope: i64, path: &CleanText) -> R<Vec<PagePeriod>> {
    let mut known: HashMap<DateRange, Timed<Counts>> = HashMap::new();
    // Each source outranks the one after it.
    if let Some(id) = find_path(connection, path)? {
        in_reports(connection, scope, id, &mut known)?;
    }
    in_other_answers(connection, scope, path, &mut known)?;
    for (range, part) in loading::answers_with(connection, scope, None, &written(path))? {
        if let Some(views) = listed(part, path) {
            known.entry(range).or_insert(views);
        }
    }
    let mut periods: Vec<PagePeriod> = known.into_iter().map(|(range, views)| PagePeriod { range, views }).collect();
    periods.sort_by_key(|period| Reverse(period.range));
    Ok(periods)
}

/// Whole reports that list the page.
fn in_reports(connection: &Connection, scope: i64, path: i64, known: &mut HashMap<DateRange, Timed<Counts>>) -> R<()> {
    let mut ask = connection.prepare_cached(
        "SELECT human, ai, total, odd, date_from, date_to, as_of FROM views_report
         CROSS JOIN views_row ON views_row.report = views_report.id AND views_row.path = ?2
         WHERE scope = ?1 AND complete = 1",
    )?;
    let of_row = |row: &Row<'_>| Ok((range_of(row, 4)?, Timed { value: counts(row, 0)?, as_of: time(row, 6)? }));
    for found in ask.query_map(params![scope, path], of_row)? {
        if let (Some(range), views) = found? {
            known.entry(range).or_insert(views);
        }
    }
    Ok(())
}

/// Answers that list the page, about ranges of which there is no whole report; the newest of each range counts.
fn in_other_answers(
    connection: &Connection,
    scope: i64,
    path: &CleanText,
    known: &mut HashMap<DateRange, Timed<Counts>>,
) -> R<()> {
    let mut ask = connection.prepare_cached(
        // The index alone says which ranges these are, so that no other answer is read.
        "WITH without AS MATERIALIZED (
             SELECT date_from, date_to FROM views_answer WHERE scope = ?1
             EXCEPT SELECT date_from, date_to FROM views_report WHERE scope = ?1 AND complete = 1)
         SELECT date_from, date_to, as_of, answer FROM without CROSS JOIN views_answer USING (date_from, date_to)
         WHERE scope = ?1 AND instr(answer, ?2) > 0
         ORDER BY as_of DESC",
    )?;
    let mut rows = ask.query(params![scope, written(path)])?;
    while let Some(row) = rows.next()? {
        let answer: String = row.get(3)?;
        let as_of = time(row, 2)?;
        let answer = answer_of(&answer).map(|value| Timed { value, as_of });
        if let (Some(range), Some(views)) = (range_of(row, 0)?, answer.and_then(|answer| listed(answer, path))) {
            known.entry(range).or_insert(views);
        }
    }
    Ok(())
}

/// The path as it stands in an answer on disk: most answers without it need not be read further.
fn written(path: &CleanText) -> String {
    serde_json::Value::from(path.as_str()).to_string()
}

/// What the answer says of the page; the last of its rows counts.
fn listed(answer: Timed<ViewsPage>, path: &CleanText) -> Option<Timed<Counts>> {
    let row = answer.value.rows.into_iter().rfind(|row| row.path == *path)?;
    Some(Timed { value: row.counts, as_of: answer.as_of })
}
