//! The pages that a job was started about. They are stored with the job, and move with it if its row is merged into
//! another row.

use super::error::StoreResult;
use super::query::Query as _;
use crate::model::row::{Job, JobKey};
use crate::model::text::CleanText;
use rusqlite::{Connection, Transaction, params};

/// Appends the pages that the job doesn't have yet. Returns whether any page was added.
pub(super) fn add_pages(tx: &Transaction<'_>, key: JobKey, pages: &[CleanText]) -> StoreResult<bool> {
    let mut added = false;
    for path in pages.iter().filter(|path| !path.is_empty()) {
        let new_rows = tx.change(
            "INSERT OR IGNORE INTO job_page (job, position, path)
             VALUES (?1, (SELECT coalesce(max(position) + 1, 0) FROM job_page WHERE job = ?1), ?2)",
            params![key, path],
        )?;
        added |= new_rows > 0;
    }
    Ok(added)
}

/// Reads the pages of these jobs and adds them to the rows. The rows must be sorted by key.
pub(super) fn read_pages_into(db: &Connection, rows: &mut [Job]) -> StoreResult<()> {
    let mut statement = db.prepare_cached("SELECT job, path FROM job_page ORDER BY job, position")?;
    let mut pages = statement.query([])?;
    while let Some(page) = pages.next()? {
        let key: JobKey = page.get(0)?;
        if let Ok(at) = rows.binary_search_by_key(&key, |row| row.key)
            && let Some(row) = rows.get_mut(at)
        {
            row.local.pages.push(page.get(1)?);
        }
    }
    Ok(())
}

/// Appends the pages of the job `from` to the pages of the job `to`, when their rows are merged. Pages that `to`
/// already has are not added again.
pub(super) fn move_pages(tx: &Transaction<'_>, from: JobKey, to: JobKey) -> StoreResult<()> {
    tx.change(
        "INSERT OR IGNORE INTO job_page (job, position, path)
         SELECT ?2, position + (SELECT coalesce(max(position) + 1, 0) FROM job_page WHERE job = ?2), path
         FROM job_page WHERE job = ?1",
        [from, to],
    )?;
    tx.change("DELETE FROM job_page WHERE job = ?1", [from])?;
    Ok(())
}
