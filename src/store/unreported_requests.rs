//! Stores those requests of shared projects that the team's ledger doesn't have yet, because the team's database could
//! not be reached when the requests were sent.

use super::columns::{UnixMillis, read_time};
use super::error::StoreResult;
use super::query::Query as _;
use super::{Store, ledgers};
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::ledger::{Quota, RATE_LIMIT_WINDOW};
use crate::model::team::UnreportedRequest;
use rusqlite::{Connection, Transaction, params};

impl Store {
    /// Returns the requests since `since` (service time) that the team's ledger doesn't have yet.
    pub async fn unreported_requests(&self, scope: &Scope, since: Time) -> StoreResult<Vec<UnreportedRequest>> {
        let scope = scope.clone();
        self.read(move |db| read_requests(db, &scope, since)).await
    }

    /// Deletes these requests, since the team's ledger now has them.
    pub async fn delete_reported_requests(&self, requests: &[UnreportedRequest]) -> StoreResult<()> {
        let booking_ids: Vec<String> = requests.iter().map(|request| request.booking_id.clone()).collect();
        self.write(move |tx| {
            for booking_id in booking_ids {
                tx.change("DELETE FROM team_use WHERE booking = ?1", [booking_id])?;
            }
            Ok(())
        })
        .await
    }
}

fn read_requests(db: &Connection, scope: &Scope, since: Time) -> StoreResult<Vec<UnreportedRequest>> {
    let mut requests = Vec::new();
    for quota in Quota::HOURLY {
        let Some(ledger) = ledgers::find_ledger_id(db, scope, quota)? else { continue };
        let sql = "SELECT booking, at FROM team_use WHERE ledger = ?1 AND at >= ?2 ORDER BY at";
        requests.extend(db.query_all(sql, params![ledger, UnixMillis(since)], |row| {
            Ok(UnreportedRequest { quota, booking_id: row.get("booking")?, at: read_time(row, "at")? })
        })?);
    }
    Ok(requests)
}

/// Records a request of the local ledger that the team's ledger doesn't have yet. Deletes requests that no longer count
/// toward the hourly limit.
pub(super) fn add_unreported_request(tx: &Transaction<'_>, ledger: i64, booking_id: &str, at: Time) -> StoreResult<()> {
    let old = UnixMillis(at - RATE_LIMIT_WINDOW);
    tx.change("DELETE FROM team_use WHERE ledger = ?1 AND at < ?2", params![ledger, old])?;
    let sql = "INSERT INTO team_use (booking, ledger, at) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING";
    tx.change(sql, params![booking_id, ledger, UnixMillis(at)])?;
    Ok(())
}

/// Deletes a request that was not sent.
pub(super) fn remove_unreported_request(tx: &Transaction<'_>, ledger: i64, at: Time) -> StoreResult<()> {
    let sql =
        "DELETE FROM team_use WHERE booking = (SELECT booking FROM team_use WHERE ledger = ?1 AND at = ?2 LIMIT 1)";
    tx.change(sql, params![ledger, UnixMillis(at)])?;
    Ok(())
}

/// Marks all stored requests of the project as unreported, because the team's ledger may not have them. Requests that
/// it does have are counted twice for an hour.
pub(super) fn mark_all_unreported(tx: &Transaction<'_>, scope: &Scope) -> StoreResult<()> {
    for quota in Quota::HOURLY {
        let Some(ledger) = ledgers::find_ledger_id(tx, scope, quota)? else { continue };
        tx.change("DELETE FROM team_use WHERE ledger = ?1", [ledger])?;
        tx.change(
            "INSERT INTO team_use (booking, ledger, at)
             SELECT lower(hex(randomblob(16))), ledger, at FROM ledger_use WHERE ledger = ?1",
            [ledger],
        )?;
    }
    Ok(())
}
