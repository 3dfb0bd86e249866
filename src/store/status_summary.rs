//! Counts the jobs in each state quickly. Opens the file for reading only, skips slow checks, and uses the stored sizes
//! of the job groups if the file has them.

use super::columns::UnixMillis;
use super::error::{StoreError, StoreResult};
use super::jobs::{GroupCounts, WORKING_DISMISSED_GROUP, WORKING_GROUP};
use super::query::Query as _;
use super::{Store, jobs, open, schema, scopes};
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::job::PullRequestCounts;
use rusqlite::Connection;
use std::path::Path;
use std::time::Duration;

/// How long to wait for another process's lock. The wait is short, since a status line must not be late.
const SUMMARY_LOCK_TIMEOUT: Duration = Duration::from_millis(250);

/// The value of the column `list_group` for queued jobs.
const QUEUED_GROUP: i64 = 2;

/// The number of jobs of a scope in each state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct StatusSummary {
    /// All tracked jobs except for dismissed ones.
    pub tracked: usize,
    /// Jobs that wait for the user's decision.
    pub needs_you: usize,
    /// How many of the jobs in `needs_you` have a pull request that needs the user.
    pub pull_requests: PullRequestCounts,
    /// Jobs that the agent works on, including dismissed ones.
    pub active: usize,
    /// Queued jobs that are not paused.
    pub queued: usize,
    /// Queued jobs that are paused: by the user, or because their prompt is reserved for one instance.
    pub paused: usize,
    /// When the active jobs were last checked: the earliest of these times. `None` if no job is active.
    pub as_of: Option<Time>,
}

impl Store {
    /// Counts the jobs in each state immediately, on the calling thread, for callers that can't wait (a shell prompt, a
    /// status line). Returns `None` if there is no store, or if nothing was ever stored for `scope`. Creates no store
    /// and migrates nothing.
    ///
    /// # Errors
    /// The errors of [`Store::open`]; a damaged file is left in place.
    pub fn status_summary(folder: &Path, scope: &Scope) -> StoreResult<Option<StatusSummary>> {
        read_immediately(folder, |db| summarize_scope(db, scope))
    }
}

/// Reads from the file in this folder, on the calling thread. Returns `None` if there is no store.
///
/// # Errors
/// The errors of [`Store::open`]; a damaged file is left in place.
pub(super) fn read_immediately<T>(
    folder: &Path,
    read: impl Fn(&Connection) -> StoreResult<Option<T>>,
) -> StoreResult<Option<T>> {
    if !Store::exists(folder) {
        return Ok(None);
    }
    match connect_and_read(folder, &read, false) {
        // A killed process left a journal. SQLite can read the file only after it has rolled the interrupted
        // transaction back, which writes to the file.
        Err(StoreError::ReadOnly) => connect_and_read(folder, &read, true),
        result => result,
    }
}

fn connect_and_read<T>(
    folder: &Path,
    read: impl Fn(&Connection) -> StoreResult<Option<T>>,
    may_roll_back: bool,
) -> StoreResult<Option<T>> {
    let db = open::connect_for_reading(folder, may_roll_back)?;
    db.busy_timeout(SUMMARY_LOCK_TIMEOUT)?;
    match schema::check_version(&db, folder)? {
        // Another process is still creating the file.
        0 => Ok(None),
        version => {
            // An older file is not migrated: a status line must also work during an update of docdeck, and must not
            // make other processes wait for a migration.
            schema::add_temporary_views(&db, version)?;
            read(&db)
        }
    }
}

/// Computes the summary from the stored sizes of the groups. The number of paused jobs and the time of the last check
/// come from queries with the generated column `list_group`, which has an index.
fn summarize_scope(db: &Connection, scope: &Scope) -> StoreResult<Option<StatusSummary>> {
    let Some(scope) = scopes::find_scope(db, scope)? else { return Ok(None) };
    let GroupCounts { group_counts, working_count: active, pull_requests } = jobs::read_group_counts(db, scope)?;
    let [needs_you, working, queued, done, _] = group_counts;
    let mut summary = StatusSummary {
        tracked: needs_you + working + queued + done,
        needs_you,
        pull_requests,
        active,
        queued,
        ..StatusSummary::default()
    };
    if summary.queued > 0 {
        let paused: i64 = db.query_value(
            "SELECT count(*) FROM job
             WHERE scope = ?1 AND merged_into IS NULL AND list_group = ?2 AND undelivered = 'paused'",
            [scope, QUEUED_GROUP],
        )?;
        summary.paused = usize::try_from(paused).unwrap_or_default();
        summary.queued = summary.queued.saturating_sub(summary.paused);
    }
    if summary.active > 0 {
        // If a job was never checked, its start time is used instead.
        let oldest: Option<UnixMillis> = db.query_value(
            "SELECT min(coalesce(checked_at, started_at)) FROM job
             WHERE scope = ?1 AND merged_into IS NULL AND list_group IN (?2, ?3)",
            [scope, WORKING_GROUP, WORKING_DISMISSED_GROUP],
        )?;
        summary.as_of = oldest.map(|UnixMillis(at)| at);
    }
    Ok(Some(summary))
}
