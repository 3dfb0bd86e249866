//! The ledgers of operations with an hourly limit. A ledger contains each use of the operation by this computer, and
//! the time until which a 429 blocks further requests.
//!
//! The counting rules are in `model::ledger`. The service counts new jobs and follow-ups per project, and requests for
//! views per organization.

use super::columns::{UnixMillis, read_optional_time, read_time};
use super::error::StoreResult;
use super::query::Query as _;
use super::{Store, unreported_requests};
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::ledger::{self, Budget, LedgerEntry, MAX_RATE_LIMIT_WAIT, Quota, RateLimitBlock, Wait};
use crate::model::team::TeamRequestPermission;
use rusqlite::{Connection, Transaction, params};

/// Maximum number of uses that a ledger stores. If there are more, the oldest are deleted. A use is never deleted just
/// because it is old, since the clock may be wrong. The maximum is twice the hourly limit, so that deleted uses can't
/// affect any count, even if the clock is changed.
const MAX_STORED_USES: u32 = 200;

impl Store {
    /// Returns what is left of the hourly limit at `service_time`. If ledger entries are later than `service_time`, the
    /// clock was ahead when they were stored. In that case, stores `service_time` with them, so that they can expire.
    pub async fn budget(&self, scope: &Scope, quota: Quota, service_time: Time) -> StoreResult<Budget> {
        let reader = scope.clone();
        let (budget, needs_update) = self.read(move |db| read_budget(db, &reader, quota, service_time)).await?;
        if needs_update {
            let scope = scope.clone();
            // If the store can't be written, `service_time` is not stored; the next call tries again.
            let _ = self.write(move |tx| mark_entries_ahead_of_clock(tx, &scope, quota, service_time)).await;
        }
        Ok(budget)
    }

    /// Records one use if a request is left. Otherwise records nothing and returns how long to wait for a request, as
    /// `Ok(Err(wait))`.
    pub async fn spend(&self, scope: &Scope, quota: Quota, service_time: Time) -> StoreResult<Result<Budget, Wait>> {
        self.spend_with_team_permission(scope, quota, service_time, TeamRequestPermission::NotShared).await
    }

    /// Like [`Self::spend`], for a project that is shared with a team. `permission` is the answer of the team's ledger.
    pub async fn spend_with_team_permission(
        &self,
        scope: &Scope,
        quota: Quota,
        service_time: Time,
        permission: TeamRequestPermission,
    ) -> StoreResult<Result<Budget, Wait>> {
        let scope = scope.clone();
        self.write(move |tx| spend(tx, &scope, quota, service_time, &permission)).await
    }

    /// Deletes the use that [`Store::spend`] recorded with `at` as `service_time`. For a request that never reached the
    /// service.
    pub async fn refund(&self, scope: &Scope, quota: Quota, at: Time) -> StoreResult<()> {
        let scope = scope.clone();
        self.write(move |tx| refund_use(tx, &scope, quota, at)).await
    }

    /// Stores that the service responded with 429. No request of this kind is allowed before the wait is over.
    pub async fn record_rate_limit(
        &self,
        scope: &Scope,
        quota: Quota,
        wait: Wait,
        service_time: Time,
    ) -> StoreResult<()> {
        let scope = scope.clone();
        self.write(move |tx| record_rate_limit(tx, &scope, quota, wait, service_time)).await
    }
}

/// Returns the budget at `now` (service time), and whether [`mark_entries_ahead_of_clock`] has anything to change.
pub(super) fn read_budget(db: &Connection, scope: &Scope, quota: Quota, now: Time) -> StoreResult<(Budget, bool)> {
    let Some((id, block)) = find_ledger(db, scope, quota)? else {
        return Ok((Budget::unused(quota), false));
    };
    let entries = read_ledger_entries(db, id)?;
    let needs_update = block.is_some_and(|block| block.must_set_seen_ahead_at(now) || block.must_be_deleted(now))
        || entries.iter().any(|entry| entry.must_set_seen_ahead_at(now) || entry.must_be_deleted(quota, now));
    Ok((ledger::compute_budget(quota, &entries, block, now), needs_update))
}

/// Handles entries of the ledger that are later than `now`, because the clock was set back. Stores `now` as the
/// `seen_ahead_at` of each such entry, unless the entry already has an earlier `seen_ahead_at`. Deletes such an entry
/// when the window of the quota has passed since its `seen_ahead_at`. A 429 whose stored time is later than `now` gets
/// a `seen_ahead_at`, too, but is deleted when its wait is over.
fn mark_entries_ahead_of_clock(tx: &Transaction<'_>, scope: &Scope, quota: Quota, now: Time) -> StoreResult<()> {
    let Some((id, block)) = find_ledger(tx, scope, quota)? else { return Ok(()) };
    tx.change(
        "DELETE FROM ledger_use WHERE ledger = ?1 AND at > ?2 AND seen_ahead_at <= ?3",
        params![id, UnixMillis(now), UnixMillis(now - quota.window())],
    )?;
    tx.change(
        "UPDATE ledger_use SET seen_ahead_at = ?2
         WHERE ledger = ?1 AND at > ?2 AND coalesce(seen_ahead_at, at) > ?2",
        params![id, UnixMillis(now)],
    )?;
    if block.is_some_and(|block| block.must_be_deleted(now)) {
        tx.change(
            "UPDATE ledger SET blocked_until = NULL, blocked_at = NULL, block_seen_ahead_at = NULL WHERE id = ?1",
            [id],
        )?;
    } else if block.is_some_and(|block| block.must_set_seen_ahead_at(now)) {
        tx.change("UPDATE ledger SET block_seen_ahead_at = ?2 WHERE id = ?1", params![id, UnixMillis(now)])?;
    }
    Ok(())
}

/// Like [`read_budget`], but also calls [`mark_entries_ahead_of_clock`] if that has anything to change.
fn mark_and_read_budget(tx: &Transaction<'_>, scope: &Scope, quota: Quota, now: Time) -> StoreResult<Budget> {
    let (budget, needs_update) = read_budget(tx, scope, quota, now)?;
    if needs_update {
        mark_entries_ahead_of_clock(tx, scope, quota, now)?;
    }
    Ok(budget)
}

/// Records one use and returns the remaining budget. If no request is left for this computer or the team, records
/// nothing and returns how long to wait for one.
pub(super) fn spend(
    tx: &Transaction<'_>,
    scope: &Scope,
    quota: Quota,
    now: Time,
    permission: &TeamRequestPermission,
) -> StoreResult<Result<Budget, Wait>> {
    if let TeamRequestPermission::LimitReached { until } = *permission {
        return Ok(Err(Wait { until, is_estimate: false }));
    }
    if let Some(wait) = mark_and_read_budget(tx, scope, quota, now)?.wait() {
        return Ok(Err(wait));
    }
    let id = ensure_ledger(tx, scope, quota)?;
    tx.change("INSERT INTO ledger_use (ledger, at) VALUES (?1, ?2)", params![id, UnixMillis(now)])?;
    if let TeamRequestPermission::Unreachable { booking_id } = permission {
        unreported_requests::add_unreported_request(tx, id, booking_id, now)?;
    }
    tx.change(
        "DELETE FROM ledger_use WHERE ledger = ?1
         AND at < (SELECT at FROM ledger_use WHERE ledger = ?1 ORDER BY at DESC LIMIT 1 OFFSET ?2)",
        params![id, MAX_STORED_USES - 1],
    )?;
    read_budget(tx, scope, quota, now).map(|(after, _)| Ok(after))
}

/// Deletes one of the uses that were recorded with the time `at`, because its request never reached the service.
pub(super) fn refund_use(tx: &Transaction<'_>, scope: &Scope, quota: Quota, at: Time) -> StoreResult<()> {
    let Some((id, _)) = find_ledger(tx, scope, quota)? else { return Ok(()) };
    tx.change(
        "DELETE FROM ledger_use
         WHERE rowid = (SELECT rowid FROM ledger_use WHERE ledger = ?1 AND at = ?2 LIMIT 1)",
        params![id, UnixMillis(at)],
    )?;
    unreported_requests::remove_unreported_request(tx, id, at)
}

/// Stores that a 429 was received: no request is allowed before `wait` is over. If a stored wait ends later, its end is
/// kept. A wait is limited to [`MAX_RATE_LIMIT_WAIT`].
pub(super) fn record_rate_limit(
    tx: &Transaction<'_>,
    scope: &Scope,
    quota: Quota,
    wait: Wait,
    now: Time,
) -> StoreResult<()> {
    let id = ensure_ledger(tx, scope, quota)?;
    let earlier = find_ledger(tx, scope, quota)?.and_then(|(_, block)| block?.wait(now));
    let wait = earlier.filter(|earlier| earlier.until > wait.until).unwrap_or(wait);
    let until = wait.until.min(now + MAX_RATE_LIMIT_WAIT);
    tx.change(
        "UPDATE ledger SET blocked_until = ?2, blocked_at = ?3, block_seen_ahead_at = NULL, is_estimate = ?4
         WHERE id = ?1",
        params![id, UnixMillis(until), UnixMillis(now), wait.is_estimate],
    )?;
    Ok(())
}

/// Returns the id of a ledger; `None` if nothing was ever counted in it.
pub(super) fn find_ledger_id(db: &Connection, scope: &Scope, quota: Quota) -> StoreResult<Option<i64>> {
    Ok(find_ledger(db, scope, quota)?.map(|(id, _)| id))
}

fn find_ledger(db: &Connection, scope: &Scope, quota: Quota) -> StoreResult<Option<(i64, Option<RateLimitBlock>)>> {
    let sql = "SELECT id, blocked_until, blocked_at, block_seen_ahead_at, is_estimate FROM ledger
         WHERE base_url = ?1 AND owner = ?2 AND operation = ?3";
    let names = [scope.base_url.as_str(), quota.limit_owner_id(scope), quota.store_name()];
    db.query_first(sql, names, |row| {
        let received_at = read_optional_time(row, "blocked_at")?;
        let seen_ahead_at = read_optional_time(row, "block_seen_ahead_at")?;
        let is_estimate = row.get("is_estimate")?;
        let until = read_optional_time(row, "blocked_until")?;
        let block = until.map(|until| RateLimitBlock { until, is_estimate, received_at, seen_ahead_at });
        Ok((row.get("id")?, block))
    })
}

fn ensure_ledger(tx: &Transaction<'_>, scope: &Scope, quota: Quota) -> StoreResult<i64> {
    if let Some((id, _)) = find_ledger(tx, scope, quota)? {
        return Ok(id);
    }
    tx.insert(
        "INSERT INTO ledger (base_url, owner, operation) VALUES (?1, ?2, ?3)",
        [scope.base_url.as_str(), quota.limit_owner_id(scope), quota.store_name()],
    )
}

fn read_ledger_entries(db: &Connection, ledger: i64) -> StoreResult<Vec<LedgerEntry>> {
    db.query_all("SELECT at, seen_ahead_at FROM ledger_use WHERE ledger = ?1", [ledger], |row| {
        Ok(LedgerEntry { at: read_time(row, "at")?, seen_ahead_at: read_optional_time(row, "seen_ahead_at")? })
    })
}
