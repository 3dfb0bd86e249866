//! The pages that a job was started about. They are stored with the job, and move with it if its row is merged into
//! another row.

use super::columns::{JOB_COLUMNS, read_clean_line, read_job_row};
use super::error::StoreResult;
use super::scopes;
use crate::model::endpoint::Scope;
use crate::model::row::{Job, JobKey};
use crate::model::text::CleanText;
use rusqlite::{Connection, Transaction, params};

/// Stores the pages of a new job, in this order; a duplicate page is stored once.
pub(super) fn write_job_pages(tx: &Transaction<'_>, key: JobKey, pages: &[CleanText]) -> StoreResult<()> {
    let mut write = tx.prepare_cached("INSERT OR IGNORE INTO job_page (job, position, path) VALUES (?1, ?2, ?3)")?;
    for (position, path) in (0_i64..).zip(pages.iter().filter(|path| !path.is_empty())) {
        write.execute(params![key.0, position, path.as_str()])?;
    }
    Ok(())
}

/// Appends the pages that the job doesn't have yet. Returns whether any page was added.
pub(super) fn add_pages(tx: &Transaction<'_>, key: JobKey, pages: &[CleanText]) -> StoreResult<bool> {
    let mut write = tx.prepare_cached(
        "INSERT OR IGNORE INTO job_page (job, position, path)
         VALUES (?1, (SELECT coalesce(max(position) + 1, 0) FROM job_page WHERE job = ?1), ?2)",
    )?;
    let mut added = false;
    for path in pages.iter().filter(|path| !path.is_empty()) {
        added |= write.execute(params![key.0, path.as_str()])? > 0;
    }
    Ok(added)
}

/// Returns the jobs of the scope that were started about this page, newest first.
pub(super) fn jobs_about(connection: &Connection, scope: &Scope, path: &str) -> StoreResult<Vec<Job>> {
    let Some(scope) = scopes::find_scope(connection, scope)? else { return Ok(Vec::new()) };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT {JOB_COLUMNS} FROM job WHERE scope = ?1 AND merged_into IS NULL
             AND key IN (SELECT job FROM job_page WHERE path = ?2)
         ORDER BY created_at DESC, key DESC"
    ))?;
    let rows = statement.query_map(params![scope, path], read_job_row)?;
    Ok(rows.collect::<rusqlite::Result<_>>()?)
}

/// Reads the pages of these jobs and adds them to the rows. The rows must be sorted by key.
pub(super) fn read_pages_into(connection: &Connection, rows: &mut [Job]) -> StoreResult<()> {
    let mut statement = connection.prepare_cached("SELECT job, path FROM job_page ORDER BY job, position")?;
    let mut pages = statement.query([])?;
    while let Some(page) = pages.next()? {
        let key = JobKey(page.get(0)?);
        if let Ok(at) = rows.binary_search_by_key(&key, |row| row.key)
            && let Some(row) = rows.get_mut(at)
            && let Some(path) = read_clean_line(page, 1)?
        {
            row.pages.push(path);
        }
    }
    Ok(())
}

/// Appends the pages of the job `from` to the pages of the job `to`, when their rows are merged. Pages that `to`
/// already has are not added again.
pub(super) fn move_pages(tx: &Transaction<'_>, from: JobKey, to: JobKey) -> StoreResult<()> {
    tx.execute(
        "INSERT OR IGNORE INTO job_page (job, position, path)
         SELECT ?2, position + (SELECT coalesce(max(position) + 1, 0) FROM job_page WHERE job = ?2), path
         FROM job_page WHERE job = ?1",
        [from.0, to.0],
    )?;
    tx.execute("DELETE FROM job_page WHERE job = ?1", [from.0])?;
    Ok(())
}

/// Joins the paths of a draft's pages for its column, one path per line.
pub(super) fn join_paths(pages: &[CleanText]) -> String {
    pages.iter().map(CleanText::as_str).collect::<Vec<_>>().join("\n")
}

/// Splits paths that were joined by [`join_paths`].
pub(super) fn split_joined_paths(joined: &str) -> Vec<CleanText> {
    joined.lines().map(CleanText::line).filter(|path| !path.is_empty()).collect()
}
