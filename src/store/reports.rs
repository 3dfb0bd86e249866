//! Reports of all pages of a range. A range may have a complete report and, at the same time, an unfinished one that is
//! being loaded response by response.
//!
//! Responses are stored as received. The last response completes the report, by the rules of [`Report::add_response`].
//! Each response is stored in one transaction, so that an interrupted load can always be continued. Times are on
//! the service's clock, as everywhere in the cache.

use super::columns::read_time;
use super::error::StoreResult;
use super::json_column::{decode_counts, encode_response};
use super::loading::{ReportResponse, UnfinishedLoad};
use super::query::Query as _;
use super::views::{self, date_columns, read_range};
use super::{Store, loading, report_writer, scopes};
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::period::DateRange;
use crate::model::report::{Report, ReportMerge, SimilarRange, StoredReport};
use crate::model::text::CleanText;
use crate::model::views::{Count, Counts, MAX_PAGE_SIZE, PageRow, ViewsQuery};
use rusqlite::{Connection, Row, Transaction, params};
use std::sync::Arc;

/// A report that is being loaded, or whose load was interrupted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfinishedReport {
    pub report: Report,
    /// When the user restarted the load: responses that were loaded earlier must not be used. `None` if the load was
    /// not restarted.
    pub restarted_at: Option<Time>,
}

impl Store {
    /// Adds the next response to the report that is being loaded. The last response completes the report, which then
    /// replaces the previous complete report, unless a member of the team has loaded a newer one meanwhile. Returns
    /// `false` and changes nothing if `next` doesn't continue the report: another instance may have added this
    /// response, restarted the load or deleted the report, or a stored response can't be read.
    pub async fn add_report_response(&self, scope: &Scope, next: ReportResponse) -> StoreResult<bool> {
        self.write_in_scope(scope, move |tx, scope| {
            let text = encode_response(&next.response)?;
            add_to_report(tx, scope, next, None, &text)
        })
        .await
    }

    /// Combines [`Store::save_views`] and [`Store::add_report_response`] in one transaction. `next` is a response with
    /// the largest page size. If the transaction fails, `next` is neither in the cache nor in the report. If `next`
    /// doesn't continue the report, it is only cached, and the result is `false`. `report_so_far` is the report before
    /// `next`, if the caller has it in memory.
    pub async fn cache_and_add_report_response(
        &self,
        scope: &Scope,
        next: ReportResponse,
        report_so_far: Option<Arc<ReportMerge>>,
    ) -> StoreResult<bool> {
        self.write_in_scope(scope, move |tx, scope| {
            let query = ViewsQuery { range: next.range, limit: MAX_PAGE_SIZE, page: next.number };
            let text = encode_response(&next.response)?;
            views::replace_views_response(tx, scope, query, &next.response, &text, next.as_of)?;
            add_to_report(tx, scope, next, report_so_far, &text)
        })
        .await
    }

    /// Returns what is cached for a range. The field `report` of the result is the complete report or, if there is
    /// none, the unfinished one.
    pub async fn cached_report(&self, scope: &Scope, range: DateRange) -> StoreResult<StoredReport> {
        self.read_in_scope(scope, move |db, scope| find_cached_report(db, scope, range)).await
    }

    /// Returns a cached report for each single day of the range, from the first day to the last. If a day has no
    /// complete report, its report is partial, with the pages of the cached responses. Leaves out days without cached
    /// responses.
    pub async fn daily_reports(&self, scope: &Scope, range: DateRange) -> StoreResult<Vec<Report>> {
        self.read_in_scope(scope, move |db, scope| {
            let mut reports = Vec::new();
            for day in range.single_days() {
                match find_complete_report(db, scope, day)? {
                    Some((id, report)) => reports.push(Report { rows: read_rows(db, id)?, ..report }),
                    None => reports.extend(merge_responses(db, scope, day)?),
                }
            }
            Ok(reports)
        })
        .await
    }

    /// Returns the unfinished report of the range with the responses received so far, if there is one. Returns `None`
    /// if another member of the team has loaded a newer complete report, or if a stored response can't be read.
    pub async fn unfinished_report(&self, scope: &Scope, range: DateRange) -> StoreResult<Option<UnfinishedReport>> {
        self.read_in_scope(scope, move |db, scope| {
            let complete_as_of = find_complete_report(db, scope, range)?.map(|(_, complete)| complete.as_of);
            let loading = loading::find_unfinished_load(db, scope, range)?;
            let Some(loading) = loading.filter(|loading| !loading.is_superseded(complete_as_of)) else {
                return Ok(None);
            };
            let restarted_at = loading.restarted_at;
            Ok(loading::merge_stored_responses(db, range, &loading)?
                .map(|report| UnfinishedReport { report, restarted_at }))
        })
        .await
    }

    /// Deletes the unfinished report of the range; a complete report stays.
    pub async fn delete_unfinished_report(&self, scope: &Scope, range: DateRange) -> StoreResult<()> {
        let scope = scope.clone();
        self.write(move |tx| {
            let Some(scope) = scopes::find_scope(tx, &scope)? else { return Ok(()) };
            loading::find_unfinished_load(tx, scope, range)?
                .map_or(Ok(()), |loading| loading::delete_unfinished_load(tx, loading.id))
        })
        .await
    }
}

/// Returns the complete report of the range without its rows, and its id.
pub(super) fn find_complete_report(
    db: &Connection,
    scope: i64,
    range: DateRange,
) -> StoreResult<Option<(i64, Report)>> {
    let sql = "SELECT id, answers, moved, as_of, totals FROM views_report
         WHERE scope = ?1 AND date_from = ?2 AND date_to = ?3 AND complete = 1";
    let (from, to) = date_columns(range);
    db.query_first(sql, params![scope, from, to], |row| {
        let report = Report {
            range,
            totals: decode_counts(row.get_ref("totals")?.as_str()?),
            rows: Vec::new(),
            duplicates: row.get("moved")?,
            responses: row.get("answers")?,
            complete: true,
            as_of: read_time(row, "as_of")?,
        };
        Ok((row.get("id")?, report))
    })
}

/// Returns a partial report with the rows of all cached responses for the range, the newest response first. A page may
/// have several rows. `None` if there are no responses.
fn merge_responses(db: &Connection, scope: i64, range: DateRange) -> StoreResult<Option<Report>> {
    let sql = "SELECT answer, as_of FROM views_answer
         WHERE scope = ?1 AND date_from = ?2 AND date_to = ?3 ORDER BY as_of DESC";
    let (from, to) = date_columns(range);
    let mut responses = db.query_all(sql, params![scope, from, to], views::read_response)?.into_iter().flatten();
    let Some(newest) = responses.next() else { return Ok(None) };
    let mut report = Report::from_first_response(range, newest.value, false, newest.as_of);
    report.rows.extend(responses.flat_map(|older| older.value.rows));
    Ok(Some(report))
}

/// Adds the response to the report; `response_json` is the same response as JSON. See
/// [`Store::cache_and_add_report_response`].
fn add_to_report(
    tx: &Transaction<'_>,
    scope: i64,
    next: ReportResponse,
    report_so_far: Option<Arc<ReportMerge>>,
    response_json: &str,
) -> StoreResult<bool> {
    let loading = find_or_discard_unfinished_report(tx, scope, &next)?;
    let responses = loading.as_ref().map_or(0, |loading| loading.responses);
    let is_other_load = loading.as_ref().is_some_and(|loading| !is_same_load(loading.restarted_at, next.restarted_at));
    if next.number.checked_sub(1) != Some(responses) || is_other_load {
        return Ok(false);
    }
    if !next.is_last {
        loading::append_response(tx, scope, loading, &next, response_json)?;
        return Ok(true);
    }
    let ReportResponse { range, number, response, as_of, .. } = next;
    let report_so_far =
        report_so_far.filter(|report_so_far| report_so_far.report().responses == responses).map(Arc::unwrap_or_clone);
    let report_so_far = match &loading {
        Some(loading) if report_so_far.is_none() => {
            let Some(report) = loading::merge_stored_responses(tx, range, loading)? else { return Ok(false) };
            Some(ReportMerge::new(report))
        }
        _ => report_so_far,
    };
    if let Some(loading) = loading {
        loading::delete_unfinished_load(tx, loading.id)?;
    }
    let complete = ReportMerge::add_or_start(report_so_far, range, response, true, as_of).into_report();
    // A member of the team may have loaded a newer report meanwhile.
    if find_complete_report(tx, scope, range)?.is_none_or(|(_, previous)| previous.as_of <= complete.as_of) {
        replace_complete_report(tx, scope, &Report { responses: number, ..complete })?;
    }
    Ok(true)
}

/// Replaces the complete report of the range.
pub(super) fn replace_complete_report(tx: &Transaction<'_>, scope: i64, report: &Report) -> StoreResult<()> {
    if let Some((previous, _)) = find_complete_report(tx, scope, report.range)? {
        delete_report(tx, previous)?;
    }
    report_writer::insert_report(tx, scope, report)
}

/// Returns the unfinished report of the range of `next`. If `next` is the first response of a load, deletes a stored
/// unfinished report that can't be read or need not be continued, and returns `None`.
fn find_or_discard_unfinished_report(
    tx: &Transaction<'_>,
    scope: i64,
    next: &ReportResponse,
) -> StoreResult<Option<UnfinishedLoad>> {
    let Some(loading) = loading::find_unfinished_load(tx, scope, next.range)? else { return Ok(None) };
    if next.number > 1 {
        return Ok(Some(loading));
    }
    let complete_as_of = find_complete_report(tx, scope, next.range)?.map(|(_, complete)| complete.as_of);
    if loading.is_superseded(complete_as_of) || loading::merge_stored_responses(tx, next.range, &loading)?.is_none() {
        loading::delete_unfinished_load(tx, loading.id)?;
        return Ok(None);
    }
    Ok(Some(loading))
}

/// Whether both times belong to the same load: they are the same moment, or both `None`. They differ if another
/// instance has restarted the load in the meantime.
fn is_same_load(restarted_at: Option<Time>, other_restarted_at: Option<Time>) -> bool {
    let millis = |time: Option<Time>| time.map(|time| time.timestamp_millis());
    millis(restarted_at) == millis(other_restarted_at)
}

/// Returns the id of a path; `None` if the path is in no report.
pub(super) fn find_path_id(db: &Connection, path: &CleanText) -> StoreResult<Option<i64>> {
    db.query_first(report_writer::FIND_PATH_ID_SQL, [path], |row| row.get(0))
}

/// Reads the counts from the columns `human`, `ai`, `total` and `raw_counts`, which must be the first four columns of
/// the query, in this order.
pub(super) fn read_counts(row: &Row<'_>) -> rusqlite::Result<Counts> {
    if let Some(raw_counts) = row.get_ref(3)?.as_str_or_null()? {
        return Ok(decode_counts(raw_counts));
    }
    let count = |index: usize| row.get(index).map(|value: Option<i64>| value.map_or(Count::Missing, Count::Known));
    Ok(Counts::new(count(0)?, count(1)?, count(2)?))
}

fn find_cached_report(db: &Connection, scope: i64, range: DateRange) -> StoreResult<StoredReport> {
    let complete = find_complete_report(db, scope, range)?;
    let complete_as_of = complete.as_ref().map(|(_, report)| report.as_of);
    let loading =
        loading::find_unfinished_load(db, scope, range)?.filter(|loading| !loading.is_superseded(complete_as_of));
    let responses_before_interruption = loading.as_ref().map(|loading| loading.responses);
    let last_load_requests = complete.as_ref().map(|(_, report)| report.responses);
    let range_of_similar_length = if complete.is_some() { None } else { similar_range(db, scope, range)? };
    let report = match (complete, loading) {
        (Some((id, report)), _) => Some(Report { rows: read_rows(db, id)?, ..report }),
        (None, Some(loading)) => loading::merge_stored_responses(db, range, &loading)?,
        (None, None) => None,
    };
    Ok(StoredReport {
        report: report.map(Arc::new),
        responses_before_interruption,
        totals: views::find_totals(db, scope, range)?,
        last_load_requests,
        range_of_similar_length,
    })
}

/// Finds the complete report whose number of days is closest to that of `range`, and returns its range and its row
/// count. If several are equally close, chooses the newest.
fn similar_range(db: &Connection, scope: i64, range: DateRange) -> StoreResult<Option<SimilarRange>> {
    let newest_first = "SELECT date_from, date_to, row_count FROM views_report WHERE scope = ?1 AND complete = 1
         ORDER BY as_of DESC, id DESC";
    let candidates = db.query_all(newest_first, [scope], |row| {
        let rows = row.get("row_count")?;
        Ok(read_range(row)?.map(|range| SimilarRange { range, rows }))
    })?;
    Ok(candidates.into_iter().flatten().min_by_key(|similar| similar.range.days().abs_diff(range.days())))
}

pub(super) fn read_rows(db: &Connection, report: i64) -> StoreResult<Vec<PageRow>> {
    let mut statement = db.prepare_cached(
        "SELECT human, ai, total, raw_counts, views_path.path, position FROM views_row
         CROSS JOIN views_path ON views_path.id = views_row.path WHERE report = ?1",
    )?;
    let mut found = statement.query([report])?;
    let mut read: Vec<(usize, PageRow)> = Vec::new();
    while let Some(row) = found.next()? {
        let (path, position): (CleanText, i64) = (row.get(4)?, row.get(5)?);
        read.push((usize::try_from(position).unwrap_or(usize::MAX), PageRow { path, counts: read_counts(row)? }));
    }
    // The rows are sorted by position here and not by SQLite, which would copy their texts.
    let mut slots: Vec<Option<PageRow>> = read.iter().map(|_| None).collect();
    for (position, row) in read {
        match slots.get_mut(position) {
            Some(slot) if slot.is_none() => *slot = Some(row),
            _ => slots.push(Some(row)),
        }
    }
    Ok(slots.into_iter().flatten().collect())
}

/// Deletes a report with its rows. Paths that are in no other report stay until the cache is pruned.
pub(super) fn delete_report(tx: &Transaction<'_>, report: i64) -> StoreResult<()> {
    tx.change("DELETE FROM views_row WHERE report = ?1", [report])?;
    tx.change("DELETE FROM views_report WHERE id = ?1", [report])?;
    Ok(())
}
