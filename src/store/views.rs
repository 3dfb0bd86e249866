//! The cache of page views: one response per query, and the site-wide totals of every range for which a response was
//! stored. If a query is sent again, the new response replaces the old one.
//!
//! Each response is stored with its time, from which the caller determines whether it is still fresh.

use super::Store;
use super::columns::{UnixMillis, read_time};
use super::error::StoreResult;
use super::json_column::{decode_counts, decode_response, encode_counts, encode_response};
use super::query::Query as _;
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::views::{Counts, ViewsQuery, ViewsResponse};
use rusqlite::{Connection, Row, Transaction, params};

impl Store {
    /// Replaces the cached response to this query, and the totals of its range.
    pub async fn save_views(
        &self,
        scope: &Scope,
        query: ViewsQuery,
        response: &ViewsResponse,
        as_of: Time,
    ) -> StoreResult<()> {
        let response = response.clone();
        self.write_in_scope(scope, move |tx, scope| {
            replace_views_response(tx, scope, query, &response, &encode_response(&response)?, as_of)
        })
        .await
    }

    /// Returns the last response to this query, with the time at which it was loaded. Returns `None` if there is none,
    /// or if it can't be read; the caller can load it again.
    pub async fn cached_views(&self, scope: &Scope, query: ViewsQuery) -> StoreResult<Option<Timed<ViewsResponse>>> {
        self.read_in_scope(scope, move |db, scope| {
            let sql = "SELECT answer, as_of FROM views_answer
                 WHERE scope = ?1 AND date_from = ?2 AND date_to = ?3 AND row_limit = ?4 AND page = ?5";
            let (from, to) = date_columns(query.range);
            let response = db.query_first(sql, params![scope, from, to, query.limit, query.page], read_response)?;
            Ok(response.flatten())
        })
        .await
    }

    /// Returns the rows that this query selects, once for each cached response that contains all of them; the newest
    /// response comes first. Considers the response to the query itself, and responses to queries for the first page of
    /// results, of any page size.
    pub async fn cached_views_covering(
        &self,
        scope: &Scope,
        query: ViewsQuery,
    ) -> StoreResult<Vec<Timed<ViewsResponse>>> {
        self.read_in_scope(scope, move |db, scope| {
            let sql = "SELECT answer, as_of, row_limit, page FROM views_answer
                 WHERE scope = ?1 AND date_from = ?2 AND date_to = ?3 AND (page = 1 OR row_limit = ?4 AND page = ?5)
                 ORDER BY as_of DESC";
            let (from, to) = date_columns(query.range);
            let found = db.query_all(sql, params![scope, from, to, query.limit, query.page], |row| {
                let sent = ViewsQuery { limit: row.get("row_limit")?, page: row.get("page")?, ..query };
                let Some(Timed { value: response, as_of }) = read_response(row)? else { return Ok(None) };
                let has_more = sent.has_next(&response);
                let rows = if sent == query { Some(response) } else { query.select_from(response, has_more) };
                Ok(rows.map(|value| Timed { value, as_of }))
            })?;
            Ok(found.into_iter().flatten().collect())
        })
        .await
    }

    /// Returns the newest stored response that contains all documentation pages of the range. Considers only
    /// responses to queries for the first page of results, of any page size.
    pub async fn cached_complete_views(
        &self,
        scope: &Scope,
        range: DateRange,
    ) -> StoreResult<Option<Timed<ViewsResponse>>> {
        self.read_in_scope(scope, move |db, scope| {
            let mut statement = db.prepare_cached(
                "SELECT answer, as_of, row_limit FROM views_answer
                 WHERE scope = ?1 AND date_from = ?2 AND date_to = ?3 AND page = 1 ORDER BY as_of DESC",
            )?;
            let (from, to) = date_columns(range);
            let mut rows = statement.query(params![scope, from, to])?;
            while let Some(row) = rows.next()? {
                let query = ViewsQuery { range, limit: row.get("row_limit")?, page: 1 };
                if let Some(response) = read_response(row)?.filter(|response| !query.has_next(&response.value)) {
                    return Ok(Some(response));
                }
            }
            Ok(None)
        })
        .await
    }

    /// Returns the cached totals of these ranges, in the order of `ranges`, as they were in the last response for each
    /// range. Leaves out ranges without cached totals. Times are on the service's clock.
    pub async fn views_totals(
        &self,
        scope: &Scope,
        ranges: &[DateRange],
    ) -> StoreResult<Vec<(DateRange, Timed<Counts>)>> {
        let ranges = ranges.to_vec();
        self.read_in_scope(scope, move |db, scope| {
            let find = |range| Ok(find_totals(db, scope, range)?.map(|totals| (range, totals)));
            ranges.into_iter().map(find).filter_map(Result::transpose).collect()
        })
        .await
    }
}

/// Replaces the cached response to this query, and the totals of its range. `response_json` is the same response as
/// JSON.
pub(super) fn replace_views_response(
    tx: &Transaction<'_>,
    scope: i64,
    query: ViewsQuery,
    response: &ViewsResponse,
    response_json: &str,
    as_of: Time,
) -> StoreResult<()> {
    let (from, to) = date_columns(query.range);
    let row_count = u32::try_from(response.rows.len()).unwrap_or(u32::MAX);
    tx.change(
        "INSERT OR REPLACE INTO views_answer (scope, date_from, date_to, row_limit, page, as_of, answer, row_count)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
        params![scope, from, to, query.limit, query.page, UnixMillis(as_of), response_json, row_count],
    )?;
    replace_totals(tx, scope, query.range, &response.totals, as_of)
}

/// Replaces the cached totals of the range, even if the stored totals are newer.
pub(super) fn replace_totals(
    tx: &Transaction<'_>,
    scope: i64,
    range: DateRange,
    totals: &Counts,
    as_of: Time,
) -> StoreResult<()> {
    let (from, to) = date_columns(range);
    tx.change(
        "INSERT INTO views_total (scope, date_from, date_to, as_of, totals) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT DO UPDATE SET as_of = excluded.as_of, totals = excluded.totals",
        params![scope, from, to, UnixMillis(as_of), encode_counts(totals)?],
    )?;
    Ok(())
}

/// Returns the cached totals of the range, if a response for it was stored.
pub(super) fn find_totals(db: &Connection, scope: i64, range: DateRange) -> StoreResult<Option<Timed<Counts>>> {
    let sql = "SELECT totals, as_of FROM views_total WHERE scope = ?1 AND date_from = ?2 AND date_to = ?3";
    let (from, to) = date_columns(range);
    db.query_first(sql, params![scope, from, to], |row| {
        Ok(Timed { value: decode_counts(row.get_ref(0)?.as_str()?), as_of: read_time(row, 1)? })
    })
}

/// Reads a response from the columns `answer` and `as_of`. Returns `None` if it can't be read: the file may have been
/// edited by hand.
pub(super) fn read_response(row: &Row<'_>) -> rusqlite::Result<Option<Timed<ViewsResponse>>> {
    let response = row.get_ref("answer")?.as_str().ok().and_then(decode_response);
    let as_of = read_time(row, "as_of")?;
    Ok(response.map(|value| Timed { value, as_of }))
}

/// Converts a range to its columns: first day and last day.
pub(super) fn date_columns(range: DateRange) -> (String, String) {
    (range.from().to_string(), range.to().to_string())
}

/// Reads a range from the columns `date_from` and `date_to`. Returns `None` if they don't contain a valid range: the
/// file may have been edited by hand.
pub(super) fn read_range(row: &Row<'_>) -> rusqlite::Result<Option<DateRange>> {
    let (from, to): (String, String) = (row.get("date_from")?, row.get("date_to")?);
    Ok(from.parse().ok().zip(to.parse().ok()).and_then(|(from, to)| DateRange::new(from, to)))
}
