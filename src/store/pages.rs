//! The pages that a job was started about, and their numbers in reports. They are stored with the job, and move with
//! it if its row is merged into another row.

use super::error::StoreResult;
use super::json_column::json;
use super::query::Query as _;
use super::views::{date_columns, read_range};
use super::{Store, job_rows};
use crate::model::analytics::signal_snapshot::SignalSnapshot;
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
    copy_snapshots(tx, from, to)?;
    tx.change("DELETE FROM job_signals WHERE job = ?1", [from])?;
    Ok(())
}

/// Stores the numbers of a job's pages.
pub(super) fn add_snapshots(tx: &Transaction<'_>, key: JobKey, snapshots: &[SignalSnapshot]) -> StoreResult<()> {
    for page in snapshots {
        let ((from, to), signals) = (date_columns(page.range), json(&page.signals)?);
        tx.change(
            "INSERT OR IGNORE INTO job_signals (job, path, date_from, date_to, signals) VALUES (?1, ?2, ?3, ?4, ?5)",
            params![key, page.path, from, to, signals],
        )?;
    }
    Ok(())
}

/// Copies the numbers of the pages of the job `from` to the job `to`, except for pages whose numbers `to` already has.
pub(super) fn copy_snapshots(tx: &Transaction<'_>, from: JobKey, to: JobKey) -> StoreResult<()> {
    tx.change(
        "INSERT OR IGNORE INTO job_signals (job, path, date_from, date_to, signals)
         SELECT ?2, path, date_from, date_to, signals FROM job_signals WHERE job = ?1",
        [from, to],
    )?;
    Ok(())
}

impl Store {
    /// Returns the numbers of a job's pages when it was started. Skips numbers that can't be read, for example because
    /// the file was edited by hand.
    pub async fn signal_snapshots(&self, job: JobKey) -> StoreResult<Vec<SignalSnapshot>> {
        self.read(move |db| read_snapshots(db, job_rows::current_key(db, job)?)).await
    }
}

/// Reads the numbers of a job's pages.
pub(super) fn read_snapshots(db: &Connection, job: JobKey) -> StoreResult<Vec<SignalSnapshot>> {
    let mut statement =
        db.prepare_cached("SELECT path, date_from, date_to, signals FROM job_signals WHERE job = ?1")?;
    let mut rows = statement.query([job])?;
    let mut found = Vec::new();
    while let Some(row) = rows.next()? {
        let signals = serde_json::from_str(&row.get::<_, String>("signals")?).ok();
        if let Some((range, signals)) = read_range(row)?.zip(signals) {
            found.push(SignalSnapshot { path: row.get("path")?, range, signals });
        }
    }
    Ok(found)
}
