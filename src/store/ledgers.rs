//! The ledgers of limited operations: every request from this computer, and until when a 429 blocks further requests.
//!
//! The counting rules are in `model::ledger`. The service counts new jobs and follow-ups per project, and requests for
//! views per organization.

use super::columns::{UnixMillis, opt_time, read_time};
use super::error::StoreResult;
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::ledger::{self, Block, Budget, LONGEST_WAIT, LedgerEntry, RateLimited, Wait};
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

/// Uses that a ledger stores, twice the limit: more can't affect any count, whatever the clock does. Old uses are
/// dropped by number, never by age.
const USES_MAX: u32 = 200;

/// What the service counts by: the project, or for views the organization.
pub(super) fn owner(scope: &Scope, limited: RateLimited) -> &str {
    match limited {
        RateLimited::Create | RateLimited::FollowUp => &scope.project,
        RateLimited::Views => scope.analytics_owner(),
    }
}

/// The budget at this moment of the service's time, and whether [`mark_ahead`] has to store anything.
pub(super) fn read_budget(
    connection: &Connection,
    scope: &Scope,
    limited: RateLimited,
    now: Time,
) -> StoreResult<(Budget, bool)> {
    let Some((id, block)) = find_ledger(connection, scope, limited)? else {
        return Ok((Budget::unused(limited), false));
    };
    let entries = entries(connection, id)?;
    let is_unmarked = block.is_some_and(|block| block.needs_mark(now))
        || entries.iter().any(|entry| entry.needs_mark(now) || entry.is_spent(now));
    Ok((ledger::compute_budget(limited, &entries, block, now), is_unmarked))
}

/// Stores that the clock reads `now` while entries of the ledger are ahead of it, so that they can expire; deletes
/// those that have expired that way.
pub(super) fn mark_ahead(tx: &Transaction<'_>, scope: &Scope, limited: RateLimited, now: Time) -> StoreResult<()> {
    let Some((id, block)) = find_ledger(tx, scope, limited)? else { return Ok(()) };
    tx.prepare_cached("DELETE FROM ledger_use WHERE ledger = ?1 AND at > ?2 AND seen_ahead_at <= ?3")?
        .execute(params![id, UnixMillis(now), UnixMillis(now - ledger::WINDOW)])?;
    tx.prepare_cached(
        "UPDATE ledger_use SET seen_ahead_at = ?2
         WHERE ledger = ?1 AND at > ?2 AND coalesce(seen_ahead_at, at) > ?2",
    )?
    .execute(params![id, UnixMillis(now)])?;
    if block.is_some_and(|block| block.needs_mark(now)) {
        tx.prepare_cached("UPDATE ledger SET block_seen_ahead_at = ?2 WHERE id = ?1")?
            .execute(params![id, UnixMillis(now)])?;
    }
    Ok(())
}

/// Like [`read_budget`], after marking everything that is ahead of the clock.
fn marked_budget(tx: &Transaction<'_>, scope: &Scope, limited: RateLimited, now: Time) -> StoreResult<Budget> {
    let (found, is_unmarked) = read_budget(tx, scope, limited, now)?;
    if is_unmarked {
        mark_ahead(tx, scope, limited, now)?;
    }
    Ok(found)
}

/// Records one use and returns the budget after it; or how long to wait until a request may be left.
pub(super) fn spend(
    tx: &Transaction<'_>,
    scope: &Scope,
    limited: RateLimited,
    now: Time,
) -> StoreResult<Result<Budget, Wait>> {
    if let Some(wait) = marked_budget(tx, scope, limited, now)?.wait() {
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

/// Takes back one use of that moment: its request never reached the service.
pub(super) fn refund_use(tx: &Transaction<'_>, scope: &Scope, limited: RateLimited, at: Time) -> StoreResult<()> {
    let Some((id, _)) = find_ledger(tx, scope, limited)? else { return Ok(()) };
    tx.prepare_cached(
        "DELETE FROM ledger_use
         WHERE rowid = (SELECT rowid FROM ledger_use WHERE ledger = ?1 AND at = ?2 LIMIT 1)",
    )?
    .execute(params![id, UnixMillis(at)])?;
    Ok(())
}

/// Stores a 429: no request is sent before the wait is over, or before the end of a longer wait that is already stored.
pub(super) fn mark_full(
    tx: &Transaction<'_>,
    scope: &Scope,
    limited: RateLimited,
    wait: Wait,
    now: Time,
) -> StoreResult<()> {
    let id = ensure_ledger(tx, scope, limited)?;
    let earlier = find_ledger(tx, scope, limited)?.and_then(|(_, block)| block?.wait(now));
    let wait = earlier.filter(|earlier| earlier.until > wait.until).unwrap_or(wait);
    let until = wait.until.min(now + LONGEST_WAIT);
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
) -> StoreResult<Option<(i64, Option<Block>)>> {
    let mut statement = connection.prepare_cached(
        "SELECT id, blocked_until, blocked_at, block_seen_ahead_at, is_estimate FROM ledger
         WHERE base_url = ?1 AND owner = ?2 AND operation = ?3",
    )?;
    let names = [scope.base_url.as_str(), owner(scope, limited), limited.word()];
    let found = statement.query_row(names, |row| {
        let (learned_at, seen_ahead, is_estimate) = (opt_time(row, 2)?, opt_time(row, 3)?, row.get(4)?);
        let block = opt_time(row, 1)?.map(|until| Block { until, is_estimate, learned_at, seen_ahead });
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
        owner(scope, limited),
        limited.word(),
    ])?;
    Ok(tx.last_insert_rowid())
}

fn entries(connection: &Connection, ledger: i64) -> StoreResult<Vec<LedgerEntry>> {
    let mut statement = connection.prepare_cached("SELECT at, seen_ahead_at FROM ledger_use WHERE ledger = ?1")?;
    let entries = statement
        .query_map([ledger], |row| Ok(LedgerEntry { at: read_time(row, 0)?, seen_ahead: opt_time(row, 1)? }))?;
    Ok(entries.collect::<rusqlite::Result<_>>()?)
}
