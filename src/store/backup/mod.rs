//! Export of all jobs and drafts as lines of text, and import of such lines. The format and the merge rules are in
//! `model::backup`.

mod import;
mod lines;
mod read;
mod write;

pub use lines::{ImportError, LINE_MAX, check_backup};

use super::error::{StoreError, StoreResult};
use super::{Store, schema};
use crate::model::Time;
use crate::model::backup::BackupTotals;
use crate::model::endpoint::Scope;
use rusqlite::TransactionBehavior;
use std::io::{BufRead, Write};

/// Which jobs and drafts to export: all, or those of one project or service.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportFilter {
    /// At any service.
    pub project: Option<String>,
    pub base_url: Option<String>,
}

impl ExportFilter {
    pub(in crate::store) fn includes(&self, scope: &Scope) -> bool {
        let fits = |wanted: &Option<String>, is: &str| wanted.as_ref().is_none_or(|wanted| wanted == is);
        fits(&self.project, &scope.project) && fits(&self.base_url, &scope.base_url)
    }
}

/// What an export wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Exported {
    pub totals: BackupTotals,
    /// Prompts that this computer still has to send, or is sending: an import marks them as unconfirmed.
    pub in_flight: u64,
}

/// What an import did, or would do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Imported {
    pub jobs_added: u64,
    /// Known jobs with new data.
    pub jobs_changed: u64,
    /// Known jobs without new data.
    pub jobs_unchanged: u64,
    pub prompts_added: u64,
    /// New prompts that are unconfirmed here, since the other computer had not sent them or had no answer yet.
    pub in_flight: u64,
    pub drafts_added: u64,
    /// Drafts that were skipped, since their slot has another text.
    pub drafts_skipped: u64,
    /// Jobs whose title or note was skipped, since the job has another one.
    pub labels_skipped: u64,
    /// Whether the file has its last line: without it, something may have been cut off.
    pub has_end: bool,
}

/// Export and import.
impl Store {
    /// Writes all jobs and drafts as lines to `out`, in one snapshot, and returns how many. Other processes can't write
    /// to the store meanwhile, so `out` must not block: it is a file.
    ///
    /// # Errors
    /// The store can't be read, or `out` can't be written.
    pub async fn export<W: Write + Send + 'static>(
        &self,
        out: W,
        only: ExportFilter,
        program: &str,
        now: Time,
    ) -> StoreResult<Exported> {
        let program = program.to_owned();
        self.handle.read(move |db| read::export(db, out, &only, &program, now)).await
    }

    /// Imports all lines of an export or none; with `dry_run`, only returns what the import would do. `lines` must not
    /// block (see [`Store::export`]) and should have been checked with [`check_backup`].
    ///
    /// # Errors
    /// A line can't be imported, or the store can't be written; nothing is changed then.
    pub async fn import<B: BufRead + Send + 'static>(
        &self,
        lines: B,
        only: ExportFilter,
        dry_run: bool,
        now: Time,
    ) -> Result<Imported, ImportError> {
        if self.handle.is_read_only() && !dry_run {
            return Err(StoreError::ReadOnly.into());
        }
        let work = move |db: &mut rusqlite::Connection| {
            schema::set_cache(db, schema::PageCache::Bulk)?;
            let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let imported = import::import_backup(&tx, lines, &only, now);
            if imported.is_ok() && !dry_run {
                tx.commit()?;
            } else {
                // No explicit rollback: on a full disk SQLite has already rolled back, and a failed rollback would hide
                // the cause.
                drop(tx);
            }
            // The import is on disk: it does no harm if the larger cache stays.
            let _ = schema::set_cache(db, schema::PageCache::Normal);
            Ok(imported)
        };
        self.handle.run(work).await?
    }
}
