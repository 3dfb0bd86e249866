//! Examines the store for `docdeck doctor` without changing anything: no file is created, moved or migrated.

use super::error::{StoreError, StoreResult};
use super::query::Query as _;
use super::{kv, ledgers, open, schema, scopes};
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::ledger::{Budget, Quota};
use crate::model::pull_request::PullRequestLink;
use crate::model::remote_job::JobId;
use crate::model::text::CleanText;
use chrono::TimeDelta;
use rusqlite::{Connection, OpenFlags};
use std::collections::BTreeMap;
use std::path::Path;

/// Maximum number of faults that are reported.
const MAX_REPORTED_FAULTS: usize = 5;

/// What [`examine`] finds in a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreExamination {
    pub file_bytes: u64,
    /// The schema version of the file.
    pub schema: i64,
    /// The schema version that this docdeck supports.
    pub supported_schema: i64,
    /// SQLite's messages about what is wrong with the file, at most five; empty if the file is sound.
    pub faults: Vec<CleanText>,
    /// The content of the file; `None` if its schema is older than the supported one.
    pub content: Option<StoreContent>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreContent {
    /// Jobs of all projects.
    pub jobs: i64,
    /// Jobs of the current project.
    pub jobs_in_project: i64,
    /// Prompts that wait for the user's decision: those that are `Rejected`, `NotSent` or `Unconfirmed`.
    pub undelivered: i64,
    /// Queued prompts that are not paused.
    pub queued_prompts: i64,
    /// Queued prompts that are paused.
    pub paused_prompts: i64,
    pub drafts: i64,
    /// The service's id of the project's newest job that has an id and still exists at the service.
    pub example_job: Option<JobId>,
    /// For each code host, the pull request of the project's newest job that links to this host; sorted by host.
    pub newest_pull_requests: Vec<PullRequestLink>,
    /// The budget of each limited operation at the current service time. If the difference between the service's clock
    /// and the local clock is unknown, the local time is used instead.
    pub budgets: Vec<(Quota, Budget)>,
}

/// Examines the store in `folder`; returns `None` if there is none. `now` is the local time. Blocks until the whole
/// file has been read.
///
/// # Errors
/// The file can't be read, is too damaged to be queried, was written by a newer docdeck, or belongs to another program.
pub fn examine(folder: &Path, scope: Option<&Scope>, now: Time) -> StoreResult<Option<StoreExamination>> {
    let path = folder.join(open::DATABASE_FILE);
    let file_bytes = match std::fs::metadata(&path) {
        Ok(found) => found.len(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::Unusable(error.to_string())),
    };
    // SQLite's error doesn't state why a file can't be opened, so the file is first opened without SQLite.
    std::fs::File::open(&path).map_err(|error| StoreError::Unusable(error.to_string()))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(&path, flags)?;
    schema::configure_connection(&connection, schema::LOCK_TIMEOUT)?;
    let found = schema::check_version(&connection, &path)?;
    let faults = schema::integrity_errors(&connection)?;
    let faults = faults.iter().take(MAX_REPORTED_FAULTS).map(|line| CleanText::title(line, 120)).collect();
    let content =
        if found == schema::supported_version() { Some(read_content(&connection, scope, now)?) } else { None };
    Ok(Some(StoreExamination {
        file_bytes,
        schema: found,
        supported_schema: schema::supported_version(),
        faults,
        content,
    }))
}

fn read_content(connection: &Connection, scope: Option<&Scope>, now: Time) -> StoreResult<StoreContent> {
    let count = |sql: &str| connection.query_value(sql, []);
    let (mut jobs_in_project, mut example_job, mut newest_pull_requests) = (0, None, Vec::new());
    if let Some(scope) = scope.map(|scope| scopes::find_scope(connection, scope)).transpose()?.flatten() {
        let in_project = "SELECT count(*) FROM job WHERE scope = ?1 AND merged_into IS NULL";
        jobs_in_project = connection.query_value(in_project, [scope])?;
        let newest = "SELECT id FROM job WHERE scope = ?1 AND id IS NOT NULL AND gone = 0 ORDER BY key DESC LIMIT 1";
        let id: Option<String> = connection.query_first(newest, [scope], |row| row.get(0))?;
        example_job = id.as_deref().and_then(JobId::new);
        newest_pull_requests = read_newest_pull_request_per_host(connection, scope)?;
    }
    Ok(StoreContent {
        jobs: count("SELECT count(*) FROM job WHERE merged_into IS NULL")?,
        jobs_in_project,
        undelivered: count(
            "SELECT count(*) FROM prompt WHERE state IN ('not sent', 'rejected', 'unconfirmed') AND author IS NULL",
        )?,
        queued_prompts: count("SELECT count(*) FROM prompt WHERE state = 'queued' AND paused = 0 AND author IS NULL")?,
        paused_prompts: count("SELECT count(*) FROM prompt WHERE state = 'queued' AND paused = 1 AND author IS NULL")?,
        drafts: count("SELECT count(*) FROM draft")?,
        example_job,
        newest_pull_requests,
        budgets: scope.map(|scope| read_budgets(connection, scope, now)).transpose()?.unwrap_or_default(),
    })
}

fn read_newest_pull_request_per_host(connection: &Connection, scope: i64) -> StoreResult<Vec<PullRequestLink>> {
    let links = "SELECT pr_link FROM job
         WHERE scope = ?1 AND merged_into IS NULL AND gone = 0 AND pr_link IS NOT NULL ORDER BY key";
    let links: Vec<String> = connection.query_all(links, [scope], |row| row.get(0))?;
    let links = links.iter().filter_map(|text| PullRequestLink::parse(text));
    let newest: BTreeMap<_, _> = links.map(|link| ((link.host.clone(), link.kind), link)).collect();
    Ok(newest.into_values().collect())
}

fn read_budgets(connection: &Connection, scope: &Scope, now: Time) -> StoreResult<Vec<(Quota, Budget)>> {
    let stored_offset = kv::get(connection, &scope.clock_offset_store_key())?;
    let offset = stored_offset.and_then(|millis| millis.parse().ok()).and_then(TimeDelta::try_milliseconds);
    let service_time = offset.and_then(|offset| now.checked_add_signed(offset)).unwrap_or(now);
    let all = Quota::HOURLY.into_iter();
    all.map(|quota| Ok((quota, ledgers::read_budget(connection, scope, quota, service_time)?.0))).collect()
}
