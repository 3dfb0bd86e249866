//! The site-wide totals of every range for which an answer was stored. The totals of a single day are shown as a bar of
//! the trend.

use super::Store;
use super::columns::{UnixMillis, read_time};
use super::error::StoreResult;
use super::json_column::{decode_counts, encode_counts};
use super::query::Query as _;
use super::views::date_columns;
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::views::Counts;
use rusqlite::{Connection, Transaction, params};

impl Store {
    /// Returns the cached totals of these ranges, in the order of `ranges`. The totals of a range are those of the
    /// answer that was stored last for it, as received. Times are the service's. Leaves out ranges without cached
    /// totals.
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

/// Replaces the cached totals of the range.
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

/// Returns the cached totals of the range, if an answer for it was stored.
pub(super) fn find_totals(connection: &Connection, scope: i64, range: DateRange) -> StoreResult<Option<Timed<Counts>>> {
    let sql = "SELECT totals, as_of FROM views_total WHERE scope = ?1 AND date_from = ?2 AND date_to = ?3";
    let (from, to) = date_columns(range);
    connection.query_first(sql, params![scope, from, to], |row| {
        Ok(Timed { value: decode_counts(row.get_ref(0)?.as_str()?), as_of: read_time(row, 1)? })
    })
}
