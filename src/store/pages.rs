//! The pages that a job is about, and the signals of these pages in reports (such as votes and searches). Both belong
//! to the job, and move with it if its row is merged into another row.

use super::error::StoreResult;
use super::json_column::to_json;
use super::query::Query as _;
use super::views::{date_columns, read_range};
use super::{Store, job_rows};
use crate::model::analytics::signal_snapshot::{JobSnapshots, SignalSnapshot};
use crate::model::job::{Job, JobKey};
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

/// Appends the pages of the job `from` to the pages of the job `to`, when their rows are merged, and moves the
/// snapshots of the pages' signals. Skips pages and snapshots that `to` already has.
pub(super) fn move_pages(tx: &Transaction<'_>, from: JobKey, to: JobKey) -> StoreResult<()> {
    tx.change(
        "INSERT OR IGNORE INTO job_page (job, position, path)
         SELECT ?2, position + (SELECT coalesce(max(position) + 1, 0) FROM job_page WHERE job = ?2), path
         FROM job_page WHERE job = ?1",
        [from, to],
    )?;
    tx.change("DELETE FROM job_page WHERE job = ?1", [from])?;
    tx.change("UPDATE OR IGNORE job_signals SET job = ?2 WHERE job = ?1", [from, to])?;
    tx.change("DELETE FROM job_signals WHERE job = ?1", [from])?;
    Ok(())
}

/// Stores snapshots of the signals of a job's pages. Each page has at most one snapshot from before the job and one
/// from after it. Skips a snapshot if the page already has one of this kind.
pub(super) fn add_signal_snapshots(tx: &Transaction<'_>, key: JobKey, snapshots: &JobSnapshots) -> StoreResult<()> {
    let (before, after) = (snapshots.before.iter(), snapshots.after.iter());
    for (page, is_after) in before.map(|page| (page, false)).chain(after.map(|page| (page, true))) {
        let ((from, to), signals) = (date_columns(page.range), to_json(&page.signals)?);
        tx.change(
            "INSERT OR IGNORE INTO job_signals (job, path, is_after, date_from, date_to, signals)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
            params![key, page.path, is_after, from, to, signals],
        )?;
    }
    Ok(())
}

/// Gives the job `to` a copy of the snapshots that were taken when the job `from` was started.
pub(super) fn copy_signal_snapshots(tx: &Transaction<'_>, from: JobKey, to: JobKey) -> StoreResult<()> {
    tx.change(
        "INSERT INTO job_signals (job, path, is_after, date_from, date_to, signals)
         SELECT ?2, path, is_after, date_from, date_to, signals FROM job_signals WHERE job = ?1 AND NOT is_after",
        [from, to],
    )?;
    Ok(())
}

impl Store {
    /// Returns the snapshots of the signals of a job's pages. Skips unreadable ones: the file may have been edited by
    /// hand.
    pub async fn signal_snapshots_of_job(&self, job: JobKey) -> StoreResult<JobSnapshots> {
        self.read(move |db| read_signal_snapshots(db, job_rows::resolve_merged_key(db, job)?)).await
    }

    /// Replaces those snapshots of the signals of a job's pages that were taken after the job had finished.
    pub async fn replace_snapshots_after_job(&self, job: JobKey, after: Vec<SignalSnapshot>) -> StoreResult<()> {
        self.write(move |tx| {
            let key = job_rows::resolve_merged_key(tx, job)?;
            tx.change("DELETE FROM job_signals WHERE job = ?1 AND is_after", [key])?;
            add_signal_snapshots(tx, key, &JobSnapshots { before: Vec::new(), after })
        })
        .await
    }
}

/// Reads the snapshots of the signals of a job's pages.
pub(super) fn read_signal_snapshots(db: &Connection, job: JobKey) -> StoreResult<JobSnapshots> {
    let mut statement =
        db.prepare_cached("SELECT path, is_after, date_from, date_to, signals FROM job_signals WHERE job = ?1")?;
    let mut rows = statement.query([job])?;
    let mut found = JobSnapshots::default();
    while let Some(row) = rows.next()? {
        let signals = serde_json::from_str(&row.get::<_, String>("signals")?).ok();
        if let Some((range, signals)) = read_range(row)?.zip(signals) {
            let pages = if row.get("is_after")? { &mut found.after } else { &mut found.before };
            pages.push(SignalSnapshot { path: row.get("path")?, range, signals });
        }
    }
    Ok(found)
}
