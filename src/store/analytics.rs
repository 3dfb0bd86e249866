//! Reports of visitors, searches, feedback and questions. A range may have a complete report and, at the same time, an
//! unfinished one that is being loaded response by response.
//!
//! Responses are stored as received, each in one transaction, so that an interrupted load can always be continued. The
//! file may have been edited by hand: a report that can't be read counts as not stored. Times are on the service's
//! clock.

use super::Store;
use super::columns::{UnixMillis, read_time};
use super::error::{StoreError, StoreResult};
use super::json_column::{decode_counts, encode_counts};
use super::query::Query as _;
use super::views::date_columns;
use crate::model::Time;
use crate::model::analytics::{
    AnalyticsKind, AnalyticsRow, Cursor, ReaderTextRetention, RowsMerge, RowsReport, RowsResponse, StoredRows,
};
use crate::model::endpoint::Scope;
use crate::model::period::DateRange;
use crate::model::views::Counts;
use chrono::TimeDelta;
use rusqlite::{Connection, Row, Transaction, params};
use std::sync::Arc;

/// The report to which a response belongs, and its position in the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResponsePosition {
    pub range: DateRange,
    /// The number of the response within its report, starting at 1.
    pub number: u32,
    /// When this response was received.
    pub as_of: Time,
    /// When the first response of the report was received. Distinguishes two loads of the same range.
    pub started_at: Time,
    /// Only for a first response: whether to replace an unfinished report. If `false` and there is an unfinished
    /// report, the response is not stored.
    pub should_replace_unfinished: bool,
}

/// A report that is being loaded, or whose load was interrupted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnfinishedRows<R> {
    pub report: RowsReport<R>,
    /// See [`ResponsePosition::started_at`].
    pub started_at: Time,
}

impl Store {
    /// Adds the next response to the report that is being loaded. The last response completes the report, which then
    /// replaces the previous complete report, unless a member of the team has loaded a newer one meanwhile. Returns
    /// `false` and changes nothing if the response doesn't continue the report: another instance may already have added
    /// the response, restarted the load or deleted the report.
    pub async fn save_rows_response<R: AnalyticsRow>(
        &self,
        scope: &Scope,
        response: &RowsResponse<R>,
        position: ResponsePosition,
    ) -> StoreResult<bool> {
        let encoded = EncodedRows::from_response(response)?;
        self.write_in_scope(scope, move |tx, scope| {
            let Some(id) = find_or_add_unfinished_report::<R>(tx, scope, position)? else { return Ok(false) };
            append_response(tx, id, &encoded, position)?;
            if encoded.next_cursor.is_some() {
                return Ok(true);
            }
            let key = RowsReportKey { scope, kind: R::KIND, range: position.range, is_complete: true };
            if let Some(previous) = find_report(tx, key)? {
                let UnixMillis(as_of) = tx.query_value("SELECT as_of FROM analytics_report WHERE id = ?1", [id])?;
                // A member of the team may have loaded a newer report meanwhile.
                if previous.header.is_some_and(|previous| previous.as_of > as_of) {
                    delete_report(tx, id)?;
                    return Ok(true);
                }
                delete_report(tx, previous.id)?;
            }
            tx.change("UPDATE analytics_report SET complete = 1 WHERE id = ?1", [id])?;
            Ok(true)
        })
        .await
    }

    /// Returns the stored reports of a range. The field `report` of the result is the complete report or, if there is
    /// none, the unfinished one.
    pub async fn rows_report<R: AnalyticsRow>(&self, scope: &Scope, range: DateRange) -> StoreResult<StoredRows<R>> {
        self.read_in_scope(scope, move |db, scope| {
            let complete = read_report::<R>(db, scope, range, true)?.map(|(report, _)| report);
            let unfinished = read_unfinished::<R>(db, scope, range)?.map(|(report, _)| report);
            Ok(StoredRows {
                responses_before_interruption: unfinished.as_ref().map(|report| report.responses),
                last_load_requests: complete.as_ref().map(|report| report.responses),
                report: complete.or(unfinished).map(Arc::new),
            })
        })
        .await
    }

    /// Returns the unfinished report of the range with the responses received so far. Returns `None` if there is none,
    /// if it can't be read, or if a member of the team has loaded a newer complete report.
    pub async fn unfinished_rows<R: AnalyticsRow>(
        &self,
        scope: &Scope,
        range: DateRange,
    ) -> StoreResult<Option<UnfinishedRows<R>>> {
        self.read_in_scope(scope, move |db, scope| {
            let found = read_unfinished(db, scope, range)?;
            Ok(found.map(|(report, started_at)| UnfinishedRows { report, started_at }))
        })
        .await
    }

    /// Deletes expired reports with texts of readers, in all projects: reports that were loaded longer ago than `days`,
    /// and reports that another member of a team has loaded and that have expired. Overwrites the texts in the file.
    /// Returns the number of deleted reports. `now` is the service's time, or a close estimate of it.
    pub async fn delete_expired_reader_texts(&self, days: ReaderTextRetention, now: Time) -> StoreResult<usize> {
        // A report from more than a day in the future was stored with a wrong clock. Its age is unknown, so it is
        // deleted.
        let (before, after) = (days.cutoff(now), now.checked_add_signed(TimeDelta::days(1)).unwrap_or(now));
        let sql = format!(
            "SELECT id FROM analytics_report WHERE kind IN ({}) AND (as_of < ?1 OR as_of > ?2 OR expires_at <= ?3)",
            reader_text_kinds_sql()
        );
        let limits = [UnixMillis(before), UnixMillis(after), UnixMillis(now)];
        let find = move |db: &Connection| db.query_all(&sql, limits, |row| row.get(0));
        // Usually there is nothing to delete. Checking this needs no write lock.
        if self.read(find.clone()).await?.is_empty() {
            return Ok(0);
        }
        self.write(move |tx| {
            let expired: Vec<i64> = find(tx)?;
            expired.iter().try_for_each(|id| delete_report(tx, *id))?;
            Ok(expired.len())
        })
        .await
    }
}

/// Returns the kinds of reports with texts of readers, as a list in SQL.
pub(super) fn reader_text_kinds_sql() -> String {
    let kinds = AnalyticsKind::ALL.into_iter().filter(|kind| kind.has_reader_text());
    kinds.map(|kind| format!("'{}'", kind.name())).collect::<Vec<_>>().join(", ")
}

/// A response in the form in which it is written to disk.
struct EncodedRows {
    rows: String,
    row_count: u32,
    totals: String,
    next_cursor: Option<String>,
    has_unavailable_rows: bool,
}

impl EncodedRows {
    fn from_response<R: AnalyticsRow>(response: &RowsResponse<R>) -> StoreResult<Self> {
        let rows = serde_json::to_string(&response.rows).map_err(|error| StoreError::Unusable(error.to_string()))?;
        Ok(Self {
            rows,
            row_count: u32::try_from(response.rows.len()).unwrap_or(u32::MAX),
            totals: encode_counts(&response.totals)?,
            next_cursor: response.next.as_ref().map(|cursor| cursor.as_str().to_owned()),
            has_unavailable_rows: response.has_unavailable_rows,
        })
    }
}

/// The values that identify a report.
#[derive(Clone, Copy)]
struct RowsReportKey {
    scope: i64,
    kind: AnalyticsKind,
    range: DateRange,
    is_complete: bool,
}

/// A row of the table `analytics_report`.
struct ReportHeaderRow {
    id: i64,
    /// `None` if the row can't be read.
    header: Option<RowsReportHeader>,
}

struct RowsReportHeader {
    response_count: u32,
    row_count: u32,
    started_at: Time,
    as_of: Time,
    totals: Counts,
    next: Option<Cursor>,
    has_unavailable_rows: bool,
}

fn find_report(db: &Connection, key: RowsReportKey) -> StoreResult<Option<ReportHeaderRow>> {
    let sql = "SELECT id, complete, answers, row_count, started_at, as_of, totals, next_cursor, is_cut
         FROM analytics_report WHERE scope = ?1 AND kind = ?2 AND date_from = ?3 AND date_to = ?4 AND complete = ?5";
    let (from, to) = date_columns(key.range);
    db.query_first(sql, params![key.scope, key.kind.name(), from, to, key.is_complete], |row| {
        // A row with values of the wrong type or out of range is unreadable, but this is no failure of the store.
        Ok(ReportHeaderRow { id: row.get("id")?, header: read_header(row).ok().flatten() })
    })
}

fn read_header(row: &Row<'_>) -> rusqlite::Result<Option<RowsReportHeader>> {
    let next = row.get::<_, Option<String>>("next_cursor")?;
    let (is_complete, has_next) = (row.get::<_, bool>("complete")?, next.is_some());
    let next = next.and_then(Cursor::new);
    if is_complete == has_next || next.is_some() != has_next {
        return Ok(None);
    }
    Ok(Some(RowsReportHeader {
        response_count: row.get("answers")?,
        row_count: row.get("row_count")?,
        started_at: read_time(row, "started_at")?,
        as_of: read_time(row, "as_of")?,
        totals: decode_counts(row.get_ref("totals")?.as_str()?),
        next,
        has_unavailable_rows: row.get("is_cut")?,
    }))
}

/// Returns a report and the time at which its load was started; `None` if there is none or if it can't be read.
pub(super) fn read_report<R: AnalyticsRow>(
    db: &Connection,
    scope: i64,
    range: DateRange,
    is_complete: bool,
) -> StoreResult<Option<(RowsReport<R>, Time)>> {
    let Some(ReportHeaderRow { id, header: Some(header) }) =
        find_report(db, RowsReportKey { scope, kind: R::KIND, range, is_complete })?
    else {
        return Ok(None);
    };
    let started_at = header.started_at;
    Ok(merge_responses(db, range, id, header)?.map(|report| (report, started_at)))
}

/// Like [`read_report`], for the unfinished report. Also returns `None` if a member of the team has loaded a newer
/// complete report, because then the load need not be continued.
fn read_unfinished<R: AnalyticsRow>(
    db: &Connection,
    scope: i64,
    range: DateRange,
) -> StoreResult<Option<(RowsReport<R>, Time)>> {
    let complete = find_report(db, RowsReportKey { scope, kind: R::KIND, range, is_complete: true })?;
    let complete_as_of = complete.and_then(|complete| complete.header).map(|header| header.as_of);
    let unfinished = read_report::<R>(db, scope, range, false)?;
    Ok(unfinished.filter(|(report, _)| complete_as_of.is_none_or(|complete_as_of| report.as_of >= complete_as_of)))
}

/// Merges the stored responses of a report. Returns `None` if one of them is missing or can't be read, since the report
/// would be wrong without some of its rows.
fn merge_responses<R: AnalyticsRow>(
    db: &Connection,
    range: DateRange,
    id: i64,
    header: RowsReportHeader,
) -> StoreResult<Option<RowsReport<R>>> {
    let RowsReportHeader { response_count, row_count, as_of, totals, next, has_unavailable_rows, .. } = header;
    let mut statement =
        db.prepare_cached("SELECT number, rows FROM analytics_answer WHERE report = ?1 ORDER BY number")?;
    let mut found = statement.query([id])?;
    let mut merge: Option<RowsMerge<R>> = None;
    let (mut read_responses, mut read_rows) = (0_u32, 0_u32);
    while let Some(row) = found.next()? {
        read_responses = read_responses.saturating_add(1);
        let is_next = row.get_ref("number")?.as_i64() == Ok(i64::from(read_responses));
        let rows = row.get_ref("rows")?.as_str().ok().and_then(|text| serde_json::from_str::<Vec<R>>(text).ok());
        let Some(rows) = rows.filter(|_| is_next) else { return Ok(None) };
        read_rows = read_rows.saturating_add(u32::try_from(rows.len()).unwrap_or(u32::MAX));
        let response = RowsResponse { rows, totals: Counts::default(), next: None, has_unavailable_rows };
        match &mut merge {
            Some(merge) => drop(merge.add_response(response, as_of)),
            None => merge = Some(RowsMerge::start(range, response, as_of)),
        }
    }
    let merge = merge.filter(|_| (read_responses, read_rows) == (response_count, row_count));
    Ok(merge.map(|merge| RowsReport { totals, next, has_unavailable_rows, ..merge.into_report() }))
}

/// Returns the id of the unfinished report to which the response at this position belongs. For a first response, adds
/// the report. Returns `None` if the response doesn't continue the stored report, or if it is a first response and must
/// not replace the stored report.
fn find_or_add_unfinished_report<R: AnalyticsRow>(
    tx: &Transaction<'_>,
    scope: i64,
    position: ResponsePosition,
) -> StoreResult<Option<i64>> {
    let ResponsePosition { range, number, as_of, started_at, should_replace_unfinished } = position;
    let stored = find_report(tx, RowsReportKey { scope, kind: R::KIND, range, is_complete: false })?;
    if number > 1 {
        let continues = |header: &RowsReportHeader| {
            header.response_count.checked_add(1) == Some(number)
                && header.started_at.timestamp_millis() == started_at.timestamp_millis()
        };
        return Ok(stored.filter(|stored| stored.header.as_ref().is_some_and(continues)).map(|stored| stored.id));
    }
    if let Some(stored) = stored {
        if !should_replace_unfinished && read_unfinished::<R>(tx, scope, range)?.is_some() {
            return Ok(None);
        }
        delete_report(tx, stored.id)?;
    }
    let (from, to) = date_columns(range);
    let id = tx.insert(
        "INSERT INTO analytics_report
             (scope, kind, date_from, date_to, complete, answers, row_count, started_at, as_of, totals, is_cut)
         VALUES (?1, ?2, ?3, ?4, 0, 0, 0, ?5, ?6, '', 0)",
        params![scope, R::KIND.name(), from, to, UnixMillis(started_at), UnixMillis(as_of)],
    )?;
    Ok(Some(id))
}

fn append_response(
    tx: &Transaction<'_>,
    id: i64,
    encoded: &EncodedRows,
    position: ResponsePosition,
) -> StoreResult<()> {
    tx.change(
        "INSERT INTO analytics_answer (report, number, rows) VALUES (?1, ?2, ?3)",
        params![id, position.number, encoded.rows],
    )?;
    tx.change(
        "UPDATE analytics_report SET answers = ?2, row_count = row_count + ?3, as_of = min(as_of, ?4), totals = ?5,
             next_cursor = ?6, is_cut = ?7 WHERE id = ?1",
        params![
            id,
            position.number,
            encoded.row_count,
            UnixMillis(position.as_of),
            encoded.totals,
            encoded.next_cursor,
            encoded.has_unavailable_rows
        ],
    )?;
    Ok(())
}

/// Replaces the complete report of the range with one that another computer has loaded and that expires at
/// `expires_at`. Keeps an unfinished report.
pub(super) fn replace_report<R: AnalyticsRow>(
    tx: &Transaction<'_>,
    scope: i64,
    report: &RowsReport<R>,
    expires_at: Option<Time>,
) -> StoreResult<()> {
    let RowsReport { range, rows, totals, has_unavailable_rows, responses, as_of, .. } = report;
    if let Some(previous) = find_report(tx, RowsReportKey { scope, kind: R::KIND, range: *range, is_complete: true })? {
        delete_report(tx, previous.id)?;
    }
    let (from, to) = date_columns(*range);
    let id = tx.insert(
        "INSERT INTO analytics_report
             (scope, kind, date_from, date_to, complete, answers, row_count, started_at, as_of, totals, is_cut, expires_at)
         VALUES (?1, ?2, ?3, ?4, 1, 0, 0, ?5, ?5, '', ?6, ?7)",
        params![scope, R::KIND.name(), from, to, UnixMillis(*as_of), has_unavailable_rows, expires_at.map(UnixMillis)],
    )?;
    // Splits the rows into as many responses as the report had, since this number predicts how many requests the next
    // load of the report takes.
    let count = usize::try_from(*responses).unwrap_or(usize::MAX).clamp(1, rows.len().max(1));
    let mut remaining = rows.as_slice();
    for number in 1..=count {
        let (first, later) = remaining.split_at(remaining.len().div_ceil(count + 1 - number));
        remaining = later;
        let (rows, totals) = (first.to_vec(), totals.clone());
        let encoded = EncodedRows::from_response(&RowsResponse {
            rows,
            totals,
            next: None,
            has_unavailable_rows: *has_unavailable_rows,
        })?;
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let position = ResponsePosition {
            range: *range,
            number,
            as_of: *as_of,
            started_at: *as_of,
            should_replace_unfinished: false,
        };
        append_response(tx, id, &encoded, position)?;
    }
    Ok(())
}

/// Deletes a report with its responses. SQLite overwrites them in the file, see
/// [`enable_secure_delete`](super::schema::enable_secure_delete).
pub(super) fn delete_report(tx: &Transaction<'_>, id: i64) -> StoreResult<()> {
    tx.change("DELETE FROM analytics_answer WHERE report = ?1", [id])?;
    tx.change("DELETE FROM analytics_report WHERE id = ?1", [id])?;
    Ok(())
}
