//! Unfinished reports: their load is in progress or was interrupted. Each response is stored as received, as a row of
//! the table `views_part`.

use super::columns::{UnixMillis, read_optional_time};
use super::error::StoreResult;
use super::query::Query as _;
use super::views::{date_columns, read_range, read_response};
use crate::model::Time;
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::report::{Report, ReportMerge};
use crate::model::views::ViewsResponse;
use rusqlite::{Connection, Transaction, params};

/// A response for a report that is being loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportResponse {
    pub range: DateRange,
    /// The number of the response within the report, starting at 1.
    pub number: u32,
    pub response: ViewsResponse,
    /// Whether this is the last response: the service reported that there are no more rows.
    pub is_last: bool,
    pub as_of: Time,
    /// When the user restarted the load: responses that were loaded earlier are not used. `None` if the load was not
    /// restarted. Stored with the first response of the load.
    pub restarted_at: Option<Time>,
}

/// A row of the table `views_loading`.
#[derive(Debug)]
pub(super) struct UnfinishedLoad {
    pub(super) id: i64,
    /// The number of responses received so far.
    pub(super) responses: u32,
    /// When the user restarted the load; `None` if it was not restarted.
    pub(super) restarted_at: Option<Time>,
    /// The time of the oldest response.
    as_of: Option<Time>,
    /// The number of duplicate rows in the responses that a migration combined into the first stored part.
    duplicates: u32,
}

impl UnfinishedLoad {
    /// Whether the load need not be continued, because a member of the team has loaded a newer complete report.
    pub(super) fn is_superseded(&self, complete_as_of: Option<Time>) -> bool {
        self.as_of.zip(complete_as_of).is_some_and(|(as_of, complete_as_of)| as_of < complete_as_of)
    }
}

/// Returns the unfinished report of the range, if there is one.
pub(super) fn find_unfinished_load(
    db: &Connection,
    scope: i64,
    range: DateRange,
) -> StoreResult<Option<UnfinishedLoad>> {
    Ok(find_unfinished_loads(db, scope, Some(range))?.pop().map(|(_, row)| row))
}

/// Returns the unfinished reports of the scope, each with its range. If `range` is given, returns only the report of
/// this range.
pub(super) fn find_unfinished_loads(
    db: &Connection,
    scope: i64,
    range: Option<DateRange>,
) -> StoreResult<Vec<(DateRange, UnfinishedLoad)>> {
    let (from, to) = range.map(date_columns).unzip();
    let sql =
        "SELECT id, restarted_at, (SELECT coalesce(max(number), 0) FROM views_part WHERE loading = id) AS answers,
             (SELECT min(as_of) FROM views_part WHERE loading = id) AS as_of, moved, date_from, date_to
         FROM views_loading WHERE scope = ?1 AND (?2 IS NULL OR date_from = ?2 AND date_to = ?3)";
    let found = db.query_all(sql, params![scope, from, to], |row| {
        let loading = UnfinishedLoad {
            id: row.get("id")?,
            restarted_at: read_optional_time(row, "restarted_at")?,
            responses: row.get("answers")?,
            as_of: read_optional_time(row, "as_of")?,
            duplicates: row.get("moved")?,
        };
        Ok(read_range(row)?.map(|range| (range, loading)))
    })?;
    Ok(found.into_iter().flatten().collect())
}

/// Adds the next response to the unfinished report, or starts a report with it. `response_json` is the same response as
/// JSON.
pub(super) fn append_response(
    tx: &Transaction<'_>,
    scope: i64,
    loading: Option<UnfinishedLoad>,
    next: &ReportResponse,
    response_json: &str,
) -> StoreResult<()> {
    let id = match loading {
        Some(loading) => loading.id,
        None => {
            let (from, to) = date_columns(next.range);
            tx.insert(
                "INSERT INTO views_loading (scope, date_from, date_to, restarted_at) VALUES (?1, ?2, ?3, ?4)",
                params![scope, from, to, next.restarted_at.map(UnixMillis)],
            )?
        }
    };
    tx.change(
        "INSERT INTO views_part (loading, number, as_of, answer) VALUES (?1, ?2, ?3, ?4)",
        params![id, next.number, UnixMillis(next.as_of), response_json],
    )?;
    Ok(())
}

/// Merges the stored responses into one report. Returns `None` if there are none, or if one can't be read (the file may
/// have been edited by hand). The caller then has to load the report again, since a report without some of its rows
/// would be wrong.
pub(super) fn merge_stored_responses(
    db: &Connection,
    range: DateRange,
    loading: &UnfinishedLoad,
) -> StoreResult<Option<Report>> {
    let mut statement = db.prepare_cached("SELECT answer, as_of FROM views_part WHERE loading = ?1 ORDER BY number")?;
    let mut parts = statement.query([loading.id])?;
    let mut merge: Option<ReportMerge> = None;
    while let Some(part) = parts.next()? {
        let Some(Timed { value, as_of }) = read_response(part)? else { return Ok(None) };
        merge = Some(ReportMerge::add_or_start(merge, range, value, false, as_of));
    }
    // There may be more responses than stored parts, since a migration may have combined several responses into one
    // part.
    Ok(merge.map(ReportMerge::into_report).map(|report| Report {
        responses: loading.responses,
        duplicates: report.duplicates.saturating_add(loading.duplicates),
        ..report
    }))
}

/// Searches the stored responses of unfinished reports. Returns each response that contains `text` in its JSON, with
/// its range. Of each range, the newest response comes first.
pub(super) fn responses_containing(
    db: &Connection,
    scope: i64,
    text: &str,
) -> StoreResult<Vec<(DateRange, Timed<ViewsResponse>)>> {
    let sql = "SELECT date_from, date_to, answer, as_of FROM views_loading JOIN views_part ON loading = id
         WHERE scope = ?1 AND instr(answer, ?2) > 0 ORDER BY number DESC";
    let found = db.query_all(sql, params![scope, text], |row| Ok(read_range(row)?.zip(read_response(row)?)))?;
    Ok(found.into_iter().flatten().collect())
}

pub(super) fn delete_unfinished_load(tx: &Transaction<'_>, id: i64) -> StoreResult<()> {
    tx.change("DELETE FROM views_part WHERE loading = ?1", [id])?;
    tx.change("DELETE FROM views_loading WHERE id = ?1", [id])?;
    Ok(())
}
