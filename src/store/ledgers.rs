//! The ledgers of limited operations: every request from this computer, and until when a 429 lets nothing out.
//!
//! Counting is `model::ledger`'s; here is who counts together, and what is on disk (api.md: limits).

use super::columns::{UnixMillis, opt_time, time};
use super::error::StoreError;
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::ledger::{self, Block, Budget, LONGEST_WAIT, LedgerEntry, RateLimited, Wait};
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

type R<T> = Result<T, StoreError>;

/// Uses that a ledger keeps. Twice the limit: those beyond can't matter to any count, whatever the clock does, so
/// old ones are dropped by number and never by time.
const KEPT: u32 = 200;

/// For whom the service counts: the project, or for views the organization.
pub(super) fn owner(scope: &Scope, limited: RateLimited) -> &str {
    match limited {
        RateLimited::Create | RateLimited::FollowUp => &scope.project,
        RateLimited::Views => scope.analytics_owner(),
    }
}

/// What the ledger says at that moment of the service's time; and whether [`mark_ahead`] has something to write down.
pub(super) fn budget(connection: &Connection, scope: &Scope, limited: RateLimited, now: Time) -> R<(Budget, bool)> {
    let Some((id, block)) = find(connection, scope, limited)? else { return Ok((Budget::unused(limited), false)) };
    let entries = entries(connection, id)?;
    let is_unmarked = block.is_some_and(|block| block.needs_mark(now))
        || entries.iter().any(|entry| entry.needs_mark(now) || entry.is_spent(now));
    Ok((ledger::budget(limited, &entries, block, now), is_unmarked))
}

/// Writes down that the clock reads `now` while something in the ledger is ahead of it, so that it can run out; and drops
/// what ran out that way.
pub(super) fn mark_ahead(tx: &Transaction<'_>, scope: &Scope, limited: RateLimited, now: Time) -> R<()> {
    let Some((id, block)) = find(tx, scope, limited)? else { return Ok(()) };
    tx.prepare_cached("DELETE FROM ledger_use WHERE ledger = ?1 AND at > ?2 AND seen <= ?3")?.execute(params![
        id,
        UnixMillis(now),
        UnixMillis(now - ledger::WINDOW)
    ])?;
    tx.prepare_cached("UPDATE ledger_use SET seen = ?2 WHERE ledger = ?1 AND at > ?2 AND coalesce(seen, at) > ?2")?
        .execute(params![id, UnixMillis(now)])?;
    if block.is_some_and(|block| block.needs_mark(now)) {
        tx.prepare_cached("UPDATE ledger SET blocked_seen = ?2 WHERE id = ?1")?
            .execute(params![id, UnixMillis(now)])?;
    }
    Ok(())
}

/// As [`budget`], with everything ahead of the clock marked.
fn marked_budget(tx: &Transaction<'_>, scope: &Scope, limited: RateLimited, now: Time) -> R<Budget> {
    let (found, is_unmarked) = budget(tx, scope, limited, now)?;
    if is_unmarked {
        mark_ahead(tx, scope, limited, now)?;
    }
    Ok(found)
}

/// Writes one use down and gives the budget after it; or how long to wait before there may be a request left.
pub(super) fn spend(tx: &Transaction<'_>, scope: &Scope, limited: RateLimited, now: Time) -> R<Result<Budget, Wait>> {
    if let Some(wait) = marked_budget(tx, scope, limited, now)?.wait() {
        return Ok(Err(wait));
    }
    let id = ensure(tx, scope, limited)?;
    tx.prepare_cached("INSERT INTO ledger_use (ledger, at) VALUES (?1, ?2)")?.execute(params![id, UnixMillis(now)])?;
    tx.prepare_cached(
        "DELETE FROM ledger_use WHERE ledger = ?1
         AND at < (SELECT at FROM ledger_use WHERE ledger = ?1 ORDER BY at DESC LIMIT 1 OFFSET ?2)",
    )?
    .execute(params![id, KEPT - 1])?;
    budget(tx, scope, limited, now).map(|(after, _)| Ok(after))
}

/// Takes one use of that moment back: its request never reached the service, so nothing was used.
pub(super) fn refund(tx: &Transaction<'_>, scope: &Scope, limited: RateLimited, at: Time) -> R<()> {
    let Some((id, _)) = find(tx, scope, limited)? else { return Ok(()) };
    tx.prepare_cached(
        "DELETE FROM ledger_use
         WHERE rowid = (SELECT rowid FROM ledger_use WHERE ledger = ?1 AND at = ?2 LIMIT 1)",
    )?
    .execute(params![id, UnixMillis(at)])?;
    Ok(())
}

/// A 429: nothing goes out before the wait is over, nor before the end of a longer one that is known already.
pub(super) fn mark_full(tx: &Transaction<'_>, scope: &Scope, limited: RateLimited, wait: Wait, now: Time) -> R<()> {
    let id = ensure(tx, scope, limited)?;
    let known = find(tx, scope, limited)?.and_then(|(_, block)| block?.wait(now));
    let wait = known.filter(|known| known.until > wait.until).unwrap_or(wait);
    let until = wait.until.min(now + LONGEST_WAIT);
    tx.prepare_cached(
        "UPDATE ledger SET blocked_until = ?2, blocked_at = ?3, blocked_seen = NULL, is_estimate = ?4 WHERE id = ?1",
    )?
    .execute(params![id, UnixMillis(until), UnixMillis(now), wait.is_estimate])?;
    Ok(())
}

fn find(connection: &Connection, scope: &Scope, limited: RateLimited) -> R<Option<(i64, Option<Block>)>> {
    let mut ask = connection.prepare_cached(
        "SELECT id, blocked_until, blocked_at, blocked_seen, is_estimate FROM ledger
         WHERE base_url = ?1 AND owner = ?2 AND operation = ?3",
    )?;
    let names = [scope.base_url.as_str(), owner(scope, limited), limited.word()];
    let found = ask.query_row(names, |row| {
        let (learned_at, seen_ahead, is_estimate) = (opt_time(row, 2)?, opt_time(row, 3)?, row.get(4)?);
        let block = opt_time(row, 1)?.map(|until| Block { until, is_estimate, learned_at, seen_ahead });
        Ok((row.get(0)?, block))
    });
    Ok(found.optional()?)
}

fn ensure(tx: &Transaction<'_>, scope: &Scope, limited: RateLimited) -> R<i64> {
    if let Some((id, _)) = find(tx, scope, limited)? {
        return Ok(id);
    }
    tx.prepare_cached("INSERT INTO ledger (base_url, owner, operation) VALUES (?1, ?2, ?3)")?.execute([
        scope.base_url.as_str(),
        owner(scope, limited),
        limited.word(),
    ])?;
    Ok(tx.last_insert_rowid())
}

fn entries(connection: &Connection, ledger: i64) -> R<Vec<LedgerEntry>> {
    let mut ask = connection.prepare_cached("SELECT at, seen FROM ledger_use WHERE ledger = ?1")?;
    let entries =
        ask.query_map([ledger], |row| Ok(LedgerEntry { at: time(row, 0)?, seen_ahead: opt_time(row, 1)? }))?;
    Ok(entries.collect::<rusqlite::Result<_>>()?)
}
