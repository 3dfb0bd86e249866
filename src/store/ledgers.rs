//! The ledgers of limited operations: every request from this computer, and until when a 429 lets nothing out.
//!
//! Counting is `model::ledger`'s; here is who counts together, and what is on disk (api.md: limits).

use super::columns::{Ms, opt_time, time};
use super::error::StoreError;
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::ledger::{self, Budget, Limited};
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

type R<T> = Result<T, StoreError>;

/// Uses that a ledger keeps. Twice the limit: those beyond can't matter to any count, whatever the clock does, so
/// old ones are dropped by number and never by time.
const KEPT: u32 = 200;

/// For whom the service counts: the project, or for views the organization.
pub(super) fn owner(scope: &Scope, limited: Limited) -> &str {
    match limited {
        Limited::Create | Limited::FollowUp => &scope.project,
        Limited::Views => scope.analytics_owner(),
    }
}

/// What the ledger says at that moment of the service's time.
pub(super) fn budget(connection: &Connection, scope: &Scope, limited: Limited, now: Time) -> R<Budget> {
    match find(connection, scope, limited)? {
        Some((id, blocked_until)) => Ok(ledger::budget(limited, &uses(connection, id)?, blocked_until, now)),
        None => Ok(Budget::unused(limited)),
    }
}

/// Writes one use down and gives the budget after it; or the moment at which there may be a place.
pub(super) fn spend(tx: &Transaction<'_>, scope: &Scope, limited: Limited, now: Time) -> R<Result<Budget, Time>> {
    if let Some(until) = budget(tx, scope, limited, now)?.wait_until() {
        return Ok(Err(until));
    }
    let id = ensure(tx, scope, limited)?;
    tx.prepare_cached("INSERT INTO ledger_use (ledger, at) VALUES (?1, ?2)")?.execute(params![id, Ms(now)])?;
    tx.prepare_cached(
        "DELETE FROM ledger_use WHERE ledger = ?1
         AND at < (SELECT at FROM ledger_use WHERE ledger = ?1 ORDER BY at DESC LIMIT 1 OFFSET ?2)",
    )?
    .execute(params![id, KEPT - 1])?;
    budget(tx, scope, limited, now).map(Ok)
}

/// Takes one use of that moment back: its request never reached the service, so nothing was used.
pub(super) fn refund(tx: &Transaction<'_>, scope: &Scope, limited: Limited, at: Time) -> R<()> {
    let Some((id, _)) = find(tx, scope, limited)? else { return Ok(()) };
    tx.prepare_cached(
        "DELETE FROM ledger_use
         WHERE rowid = (SELECT rowid FROM ledger_use WHERE ledger = ?1 AND at = ?2 LIMIT 1)",
    )?
    .execute(params![id, Ms(at)])?;
    Ok(())
}

/// A 429: nothing goes out before `until`, nor before a later moment that was said already.
pub(super) fn mark_full(tx: &Transaction<'_>, scope: &Scope, limited: Limited, until: Time) -> R<()> {
    let id = ensure(tx, scope, limited)?;
    tx.prepare_cached("UPDATE ledger SET blocked_until = max(coalesce(blocked_until, ?2), ?2) WHERE id = ?1")?
        .execute(params![id, Ms(until)])?;
    Ok(())
}

fn find(connection: &Connection, scope: &Scope, limited: Limited) -> R<Option<(i64, Option<Time>)>> {
    let mut ask = connection
        .prepare_cached("SELECT id, blocked_until FROM ledger WHERE base_url = ?1 AND owner = ?2 AND operation = ?3")?;
    let names = [scope.base_url.as_str(), owner(scope, limited), limited.word()];
    Ok(ask.query_row(names, |row| Ok((row.get(0)?, opt_time(row, 1)?))).optional()?)
}

fn ensure(tx: &Transaction<'_>, scope: &Scope, limited: Limited) -> R<i64> {
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

fn uses(connection: &Connection, ledger: i64) -> R<Vec<Time>> {
    let mut ask = connection.prepare_cached("SELECT at FROM ledger_use WHERE ledger = ?1")?;
    let uses = ask.query_map([ledger], |row| time(row, 0))?;
    Ok(uses.collect::<rusqlite::Result<_>>()?)
}
