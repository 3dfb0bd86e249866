//! One quick look at the jobs of a scope: the file is opened for reading only, nothing is checked that takes long, and
//! nothing is counted that the file keeps the number of.

use super::columns::UnixMillis;
use super::error::StoreError;
use super::jobs::{GroupSizes, WORKING, WORKING_DISMISSED};
use super::{jobs, open, schema, scopes};
use crate::model::Time;
use crate::model::endpoint::Scope;
use rusqlite::Connection;
use std::path::Path;
use std::time::Duration;

type R<T> = Result<T, StoreError>;

/// How long another process's lock is waited for: a status line that comes late is of no use.
const BUSY: Duration = Duration::from_millis(250);

/// The value of the column `need` for queued jobs.
const QUEUED: i64 = 2;

/// How the jobs of a scope stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatusSummary {
    /// All that are known and not put away.
    pub known: usize,
    pub needs_you: usize,
    /// Jobs that the agent works on, dismissed ones included.
    pub active: usize,
    pub queued: usize,
    /// Held until the user lets them go out.
    pub paused: usize,
    /// The oldest last look at a job that is active; none when none was looked at, or none is active.
    pub as_of: Option<Time>,
}

/// Looks.
pub(super) fn glance(folder: &Path, scope: &Scope) -> R<Option<StatusSummary>> {
    if !open::is_there(folder) {
        return Ok(None);
    }
    match look(folder, scope, false) {
        Err(StoreError::ReadOnly) => look(folder, scope, true),
        looked => looked,
    }
}

fn look(folder: &Path, scope: &Scope, may_roll_back: bool) -> R<Option<StatusSummary>> {
    let connection = open::to_read(folder, may_roll_back)?;
    connection.busy_timeout(BUSY)?;
    match schema::check_owner(&connection, folder)? {
        // Being made at this moment.
        0 => Ok(None),
        version => {
            // An older file is read as it is: a status line goes on over an update, and nobody else is made to wait for one.
            schema::stand_in(&connection, version)?;
            count(&connection, scope)
        }
    }
}

/// What is not kept as a number is found by the virtual column `need`, which has an index.
fn count(connection: &Connection, scope: &Scope) -> R<Option<StatusSummary>> {
    let Some(scope) = scopes::find(connection, scope)? else { return Ok(None) };
    let GroupSizes { sizes, working: active } = jobs::sizes(connection, scope)?;
    let [needs_you, working, queued, done, _] = sizes;
    let mut glance = StatusSummary {
        known: needs_you + working + queued + done,
        needs_you,
        active,
        queued,
        ..StatusSummary::default()
    };
    if glance.queued > 0 {
        let paused: i64 = connection.query_row(
            "SELECT count(*) FROM job
             WHERE scope = ?1 AND merged_into IS NULL AND need = ?2 AND undelivered = 'paused'",
            [scope, QUEUED],
            |row| row.get(0),
        )?;
        glance.paused = usize::try_from(paused).unwrap_or_default();
        glance.queued = glance.queued.saturating_sub(glance.paused);
    }
    if glance.active > 0 {
        // One that nobody has looked at yet is as old as its beginning.
        let oldest: Option<UnixMillis> = connection.query_row(
            "SELECT min(coalesce(checked_at, started_at)) FROM job
             WHERE scope = ?1 AND merged_into IS NULL AND need IN (?2, ?3)",
            [scope, WORKING, WORKING_DISMISSED],
            |row| row.get(0),
        )?;
        glance.as_of = oldest.map(|UnixMillis(at)| at);
    }
    Ok(Some(glance))
}
