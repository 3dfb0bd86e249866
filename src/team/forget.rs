//! Removes the data of old jobs and old reports of analytics from the team's database. Each removed job leaves an empty
//! row, so that an exchange recognizes the removal: no member receives the job again, and a member who joins again or
//! restores an older database doesn't add it again. Only a later change of the job adds it again.

use super::connection::{Param, TeamConnection, malformed_row, read_number};
use super::error::TeamError;
use crate::model::Time;
use crate::model::endpoint::Scope;
use tokio_postgres::types::Type;

/// The state of a job whose data was removed. No other job has it.
pub(super) const REMOVED_JOB_STATE: &str = "{}";

/// Counts of what was removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ForgetSummary {
    pub jobs: i64,
    pub prompts: i64,
    pub reports: i64,
}

/// Removes the data of all jobs of the project for which no member has sent a change since `before`, on the database's
/// clock: their state, titles, tags, notes and prompts. Also removes the reports that were loaded before then, and all
/// parts of reports that no header refers to: those of older versions and of interrupted uploads. If `is_dry_run` is
/// true, only counts what would be removed. Returns `None` if the database doesn't have the project.
///
/// # Errors
/// The login is not the administrator's, or the connection is lost.
pub async fn forget(
    connection: &TeamConnection,
    scope: &Scope,
    organization: &str,
    before: Time,
    is_dry_run: bool,
) -> Result<Option<ForgetSummary>, TeamError> {
    let may_delete = "SELECT has_table_privilege('docdeck.prompt', 'DELETE')";
    if !connection.query_one(may_delete, &[]).await?.try_get(0).map_err(|_| malformed_row())? {
        return Err(TeamError::NotAdministrator);
    }
    connection.run_statements("BEGIN").await?;
    // This locks the project: no member writes to it until the transaction ends.
    let lock = "SELECT id FROM docdeck.project WHERE organization = $1 AND base_url = $2 AND project = $3 FOR UPDATE";
    let project: [Param<'_>; 3] =
        [(&organization, Type::TEXT), (&scope.base_url, Type::TEXT), (&scope.project, Type::TEXT)];
    let found = connection.query(lock, &project).await?;
    let Some(found) = found.first() else {
        connection.run_statements("ROLLBACK").await?;
        return Ok(None);
    };
    let project = read_number(found, 0)?;
    let sql = "WITH old AS (
             SELECT coalesce(max(last_change), 0) AS change FROM docdeck.batch WHERE project = $1 AND stamp < $2
         ), quiet AS (
             SELECT id FROM docdeck.job WHERE project = $1 AND change <= (SELECT change FROM old) AND state <> $3
             EXCEPT
             SELECT job FROM docdeck.prompt WHERE project = $1 AND change > (SELECT change FROM old)
         ), emptied AS (
             UPDATE docdeck.job SET state = $3 WHERE project = $1 AND id IN (SELECT id FROM quiet) RETURNING 1
         ), removed AS (
             DELETE FROM docdeck.prompt WHERE project = $1 AND job IN (SELECT id FROM quiet) RETURNING 1
         ), removed_reports AS (
             DELETE FROM docdeck.report WHERE project = $1 AND as_of < $2 RETURNING kind, date_from, date_to
         ), removed_parts AS (
             DELETE FROM docdeck.report_part AS part WHERE project = $1 AND NOT EXISTS (
                 SELECT 1 FROM docdeck.report WHERE report.project = $1 AND report.as_of >= $2
                     AND (report.kind, report.date_from, report.date_to, report.version)
                         = (part.kind, part.date_from, part.date_to, part.version))
         )
         SELECT (SELECT count(*) FROM emptied), (SELECT count(*) FROM removed),
             (SELECT count(*) FROM removed_reports)";
    let before = before.timestamp_millis();
    let params: [Param<'_>; 3] = [(&project, Type::INT8), (&before, Type::INT8), (&REMOVED_JOB_STATE, Type::TEXT)];
    let counts = connection.query_one(sql, &params).await?;
    connection.run_statements(if is_dry_run { "ROLLBACK" } else { "COMMIT" }).await?;
    Ok(Some(ForgetSummary {
        jobs: read_number(&counts, 0)?,
        prompts: read_number(&counts, 1)?,
        reports: read_number(&counts, 2)?,
    }))
}
