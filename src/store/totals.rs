//! The site-wide totals of every range for which an answer was stored. The totals of a single day are shown as a bar of
//! the trend.

use super::Store;
use super::columns::{UnixMillis, read_time};
use super::error::StoreResult;
use super::json_column::{decode_counts, encode_counts};
use super::views::date_columns;
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::views::Counts;
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

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
        self.handle
            .read_in_scope(scope, move |db, scope| {
                let mut known = Vec::new();
                for range in ranges {
                    known.extend(find_totals(db, scope, range)?.map(|totals| (range, totals)));
                }
                Ok(known)
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
    tx.prepare_cached(
        "INSERT INTO views_total (scope, date_from, date_to, as_of, totals) VALUES (?1, ?2, ?3, ?4, ?5)
         ON CONFLICT DO UPDATE SET as_of = excluded.as_of, totals = excluded.totals",
    )?
    .execute(params![scope, from, to, UnixMillis(as_of), encode_counts(totals)?])?;
    Ok(())
}

/// Returns the cached totals of the range, if an answer for it was stored.
pub(super) fn find_totals(connection: &Connection, scope: i64, range: DateRange) -> StoreResult<Option<Timed<Counts>>> {
    let mut statement = connection
        .prepare_cached("SELECT totals, as_of FROM views_total WHERE scope = ?1 AND date_from = ?2 AND date_to = ?3")?;
    let (from, to) = date_columns(range);
    let found: Option<(String, Time)> =
        statement.query_row(params![scope, from, to], |row| Ok((row.get(0)?, read_time(row, 1)?))).optional()?;
    Ok(found.map(|(totals, as_of)| Timed { value: decode_counts(&totals), as_of }))
}
