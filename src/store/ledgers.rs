//! The ledgers of operations with an hourly limit. A ledger contains every use by this computer, and the time until
//! which a 429 blocks further requests.
//!
//! The counting rules are in `model::ledger`. The service counts new jobs and follow-ups per project, and requests for
//! views per organization.

use super::columns::{UnixMillis, read_optional_time, read_time};
use super::error::StoreResult;
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::ledger::{self, Budget, LedgerEntry, MAX_WAIT, RateLimitBlock, RateLimited, Wait};
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

/// Maximum number of uses that a ledger stores: twice the hourly limit. Uses beyond this number can't affect any count,
/// even if the clock is changed. When a use is recorded, old uses are deleted only by this number and not by their age,
/// since the clock may be wrong.
const USES_MAX: u32 = 200;

/// Returns the id by which the service counts this operation: the project, or for views the organization.
pub(super) fn limit_owner(scope: &Scope, limited: RateLimited) -> &str {
    match limited {
        RateLimited::Create | RateLimited::FollowUp => &scope.project,
        RateLimited::Views => scope.analytics_owner(),
    }
}

/// Returns the budget at `now` in the service's time, and whether [`mark_ahead_of_clock`] has anything to change.
pub(super) fn read_budget(
    connection: &Connection,
    scope: &Scope,
    limited: RateLimited,
    now: Time,
) -> StoreResult<(Budget, bool)> {
    let Some((id, block)) = find_ledger(connection, scope, limited)? else {
        return Ok((Budget::unused(limited), false));
    };
    let entries = read_ledger_entries(connection, id)?;
    let needs_update = block.is_some_and(|block| block.must_set_seen_ahead(now))
        || entries.iter().any(|entry| entry.must_set_seen_ahead(now) || entry.must_be_deleted(now));
    Ok((ledger::compute_budget(limited, &entries, block, now), needs_update))
}

/// Stores `now` as `seen_ahead_at` with each entry of the ledger that is later than `now`, unless an earlier
/// `seen_ahead_at` is stored. Deletes the entries that are still later than `now` although their `seen_ahead_at` is an
/// hour ago: they have expired. Also stores `now` with a 429 that was received later than `now`.
pub(super) fn mark_ahead_of_clock(
    tx: &Transaction<'_>,
    scope: &Scope,
    limited: RateLimited,
    now: Time,
) -> StoreResult<()> {
    let Some((id, block)) = find_ledger(tx, scope, limited)? else { return Ok(()) };
    tx.prepare_cached("DELETE FROM ledger_use WHERE ledger = ?1 AND at > ?2 AND seen_ahead_at <= ?3")?
        .execute(params![id, UnixMillis(now), UnixMillis(now - ledger::RATE_LIMIT_WINDOW)])?;
    tx.prepare_cached(
        "UPDATE ledger_use SET seen_ahead_at = ?2
         WHERE ledger = ?1 AND at > ?2 AND coalesce(seen_ahead_at, at) > ?2",
    )?
    .execute(params![id, UnixMillis(now)])?;
    if block.is_some_and(|block| block.must_set_seen_ahead(now)) {
        tx.prepare_cached("UPDATE ledger SET block_seen_ahead_at = ?2 WHERE id = ?1")?
            .execute(params![id, UnixMillis(now)])?;
    }
    Ok(())
}

/// Like [`read_budget`], but also calls [`mark_ahead_of_clock`] if that has anything to change.
fn mark_and_read_budget(tx: &Transaction<'_>, scope: &Scope, limited: RateLimited, now: Time) -> StoreResult<Budget> {
    let (budget, needs_update) = read_budget(tx, scope, limited, now)?;
    if needs_update {
        mark_ahead_of_clock(tx, scope, limited, now)?;
    }
    Ok(budget)
}

/// Records one use and returns the remaining budget. If no request is left, records nothing and returns how long to
/// wait for one.
pub(super) fn spend(
    tx: &Transaction<'_>,
    scope: &Scope,
    limited: RateLimited,
    now: Time,
) -> StoreResult<Result<Budget, Wait>> {
    if let Some(wait) = mark_and_read_budget(tx, scope, limited, now)?.wait() {
        return Ok(Err(wait));
    }
    let id = ensure_ledger(tx, scope, limited)?;
    tx.prepare_cached("INSERT INTO ledger_use (ledger, at) VALUES (?1, ?2)")?.execute(params![id, UnixMillis(now)])?;
    tx.prepare_cached(
        "DELETE FROM ledger_use WHERE ledger = ?1
         AND at < (SELECT at FROM ledger_use WHERE ledger = ?1 ORDER BY at DESC LIMIT 1 OFFSET ?2)",
    )?
    .execute(params![id, USES_MAX - 1])?;
    read_budget(tx, scope, limited, now).map(|(after, _)| Ok(after))
}

/// Deletes one use that was recorded with the time `at`. For a request that never reached the service.
pub(super) fn refund_use(tx: &Transaction<'_>, scope: &Scope, limited: RateLimited, at: Time) -> StoreResult<()> {
    let Some((id, _)) = find_ledger(tx, scope, limited)? else { return Ok(()) };
    tx.prepare_cached(
        "DELETE FROM ledger_use
         WHERE rowid = (SELECT rowid FROM ledger_use WHERE ledger = ?1 AND at = ?2 LIMIT 1)",
    )?
    .execute(params![id, UnixMillis(at)])?;
    Ok(())
}

/// Stores that a 429 was received: no request is allowed before `wait` is over. If a stored wait ends later, its end is
/// kept.
pub(super) fn record_rate_limit(
    tx: &Transaction<'_>,
    scope: &Scope,
    limited: RateLimited,
    wait: Wait,
    now: Time,
) -> StoreResult<()> {
    let id = ensure_ledger(tx, scope, limited)?;
    let earlier = find_ledger(tx, scope, limited)?.and_then(|(_, block)| block?.wait(now));
    let wait = earlier.filter(|earlier| earlier.until > wait.until).unwrap_or(wait);
    let until = wait.until.min(now + MAX_WAIT);
    tx.prepare_cached(
        "UPDATE ledger SET blocked_until = ?2, blocked_at = ?3, block_seen_ahead_at = NULL, is_estimate = ?4
         WHERE id = ?1",
    )?
    .execute(params![id, UnixMillis(until), UnixMillis(now), wait.is_estimate])?;
    Ok(())
}

fn find_ledger(
    connection: &Connection,
    scope: &Scope,
    limited: RateLimited,
) -> StoreResult<Option<(i64, Option<RateLimitBlock>)>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, blocked_until, blocked_at, block_seen_ahead_at, is_estimate FROM ledger
         WHERE base_url = ?1 AND owner = ?2 AND operation = ?3",
    )?;
    let names = [scope.base_url.as_str(), limit_owner(scope, limited), limited.store_name()];
    let found = statement.query_row(names, |row| {
        let (learned_at, seen_ahead, is_estimate) =
            (read_optional_time(row, 2)?, read_optional_time(row, 3)?, row.get(4)?);
        let block = read_optional_time(row, 1)?.map(|until| RateLimitBlock {
            until,
            is_estimate,
            received_at: learned_at,
            seen_ahead_at: seen_ahead,
        });
        Ok((row.get(0)?, block))
    });
    Ok(found.optional()?)
}

fn ensure_ledger(tx: &Transaction<'_>, scope: &Scope, limited: RateLimited) -> StoreResult<i64> {
    if let Some((id, _)) = find_ledger(tx, scope, limited)? {
        return Ok(id);
    }
    tx.prepare_cached("INSERT INTO ledger (base_url, owner, operation) VALUES (?1, ?2, ?3)")?.execute([
        scope.base_url.as_str(),
        limit_owner(scope, limited),
        limited.store_name(),
    ])?;
    Ok(tx.last_insert_rowid())
}

fn read_ledger_entries(connection: &Connection, ledger: i64) -> StoreResult<Vec<LedgerEntry>> {
    let mut statement = connection.prepare_cached("SELECT at, seen_ahead_at FROM ledger_use WHERE ledger = ?1")?;
    let entries = statement.query_map([ledger], |row| {
        Ok(LedgerEntry { at: read_time(row, 0)?, seen_ahead_at: read_optional_time(row, 1)? })
    })?;
    Ok(entries.collect::<rusqlite::Result<_>>()?)
}
