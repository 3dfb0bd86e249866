//! One quick look at the jobs of a scope: the file is opened for reading only, nothing is checked that takes long, and
//! rows that can only be done are not read.

use super::error::StoreError;
use super::{columns, open, schema, scopes};
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::row::{Group, JobRow};
use rusqlite::Connection;
use std::path::Path;
use std::time::Duration;

type R<T> = Result<T, StoreError>;

/// How long another process's lock is waited for: a status line that comes late is of no use.
const BUSY: Duration = Duration::from_millis(250);

/// How the jobs of a scope stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Glance {
    /// All that are known and not put away.
    pub known: usize,
    pub needs_you: usize,
    pub active: usize,
    pub queued: usize,
    /// The oldest last look at a job that is active; none when none was looked at, or none is active.
    pub as_of: Option<Time>,
}

/// Looks.
pub(super) fn glance(folder: &Path, scope: &Scope) -> R<Option<Glance>> {
    if !open::is_there(folder) {
        return Ok(None);
    }
    match look(folder, scope, false) {
        Err(StoreError::ReadOnly) => look(folder, scope, true),
        looked => looked,
    }
}

fn look(folder: &Path, scope: &Scope, may_roll_back: bool) -> R<Option<Glance>> {
    let connection = open::to_read(folder, may_roll_back)?;
    connection.busy_timeout(BUSY)?;
    match schema::check_owner(&connection, folder)? {
        // Being made at this moment.
        0 => Ok(None),
        version if version < schema::known() => Err(StoreError::Unusable(format!(
            "its schema is {version}, this docdeck knows {}: any other command brings it up to date",
            schema::known()
        ))),
        _ => count(&connection, scope),
    }
}

fn count(connection: &Connection, scope: &Scope) -> R<Option<Glance>> {
    let Some(scope) = scopes::find(connection, scope)? else { return Ok(None) };
    let known: i64 = connection.query_row(
        "SELECT count(*) FROM job WHERE scope = ?1 AND merged_into IS NULL AND dismissed = 0",
        [scope],
        |row| row.get(0),
    )?;
    let mut ask = connection.prepare(&format!(
        "SELECT {} FROM job WHERE scope = ?1 AND merged_into IS NULL
         AND NOT (undelivered IS NULL AND (dismissed = 1 OR gone = 1 OR (
             status IN ('completed', 'archived', 'failed') AND coalesce(looked_at >= changed_at, 0))))",
        columns::JOB
    ))?;
    let mut glance = Glance { known: usize::try_from(known).unwrap_or_default(), ..Glance::default() };
    let rows = ask.query_map([scope], columns::job_row)?;
    for row in rows {
        glance.add(&row?);
    }
    Ok(Some(glance))
}

impl Glance {
    fn add(&mut self, row: &JobRow) {
        match row.group() {
            Group::NeedsYou => self.needs_you += 1,
            Group::Queued => self.queued += 1,
            Group::Working => {
                self.active += 1;
                // One that nobody has looked at yet is as old as its beginning.
                let looked = row.checked_at.unwrap_or(row.started_at);
                self.as_of = Some(self.as_of.map_or(looked, |oldest| oldest.min(looked)));
            }
            Group::Done | Group::Dismissed => {}
        }
    }
}
