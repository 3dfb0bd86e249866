//! Exports all jobs and drafts as lines of text, and imports such lines. The format and the rules for merging are in
//! `model::backup`.

mod export_lines;
mod import;
mod lines;

pub use lines::{ImportError, LINE_BYTES_MAX, check_backup};

use super::error::{StoreError, StoreResult};
use super::thread::Worker;
use super::{Store, schema};
use crate::model::Time;
use crate::model::backup::BackupTotals;
use crate::model::endpoint::Scope;
use rusqlite::TransactionBehavior;
use std::io::{BufRead, Write};

/// Selects the jobs and drafts to export, import or prune: those of one project or service, or all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScopeFilter {
    /// Only this project, whichever service it is on; `None` for all projects.
    pub project: Option<String>,
    /// Only the service with this address; `None` for all services.
    pub base_url: Option<String>,
}

impl ScopeFilter {
    pub(in crate::store) fn includes(&self, scope: &Scope) -> bool {
        let fits = |wanted: &Option<String>, is: &str| wanted.as_ref().is_none_or(|wanted| wanted == is);
        fits(&self.project, &scope.project) && fits(&self.base_url, &scope.base_url)
    }
}

/// Counts of what an export wrote.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExportCounts {
    pub totals: BackupTotals,
    /// Prompts that this computer still has to send or is sending. A computer that imports them marks its copies as
    /// unconfirmed.
    pub in_flight: u64,
}

/// Counts of what an import did, or would do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ImportCounts {
    pub jobs_added: u64,
    /// Known jobs that got new data.
    pub jobs_changed: u64,
    /// Known jobs that got no new data.
    pub jobs_unchanged: u64,
    pub prompts_added: u64,
    /// Added prompts that are unconfirmed on this computer: the computer that wrote the backup had not sent them yet,
    /// or had received no answer.
    pub in_flight: u64,
    pub drafts_added: u64,
    /// Drafts that were skipped, since their slot already contains another text.
    pub drafts_skipped: u64,
    /// Jobs whose imported title or note was skipped, since the user has set another one on this computer.
    pub labels_skipped: u64,
    /// Whether the backup contains the line that marks its end. Without that line, something may have been cut off.
    pub has_end: bool,
}

/// Calls that export and import.
impl Store {
    /// Writes the selected jobs and drafts as lines to `out`, all from one snapshot, and returns their counts. No
    /// process can write to the store in the meantime, so `out` must not block: it should be a file.
    ///
    /// # Errors
    /// The store can't be read, or `out` can't be written.
    pub async fn export<W: Write + Send + 'static>(
        &self,
        out: W,
        only: ScopeFilter,
        program: &str,
        now: Time,
    ) -> StoreResult<ExportCounts> {
        let program = program.to_owned();
        self.read(move |db| export_lines::export(db, out, &only, &program, now)).await
    }

    /// Imports all lines of a backup or none of them. With `dry_run`, changes nothing and returns the counts of what an
    /// import would do. Reading from `lines` must not block (see [`Store::export`]). The caller should first check the
    /// backup with [`check_backup`].
    ///
    /// # Errors
    /// A line can't be imported, or the store can't be written. Then nothing is changed.
    pub async fn import<B: BufRead + Send + 'static>(
        &self,
        lines: B,
        only: ScopeFilter,
        dry_run: bool,
        now: Time,
    ) -> Result<ImportCounts, ImportError> {
        self.call(move |Worker { connection: db, read_only, .. }| {
            if *read_only && !dry_run {
                return Err(StoreError::ReadOnly);
            }
            schema::set_cache(db, schema::PageCache::Bulk)?;
            let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let imported = import::import_backup(&tx, lines, &only, now);
            if imported.is_ok() && !dry_run {
                tx.commit()?;
            } else {
                // Dropping the transaction rolls it back. An explicit rollback could fail and hide the cause, since on
                // a full disk SQLite has already rolled back.
                drop(tx);
            }
            // If this fails, the larger cache stays, which does no harm.
            let _ = schema::set_cache(db, schema::PageCache::Normal);
            Ok(imported)
        })
        .await?
    }
}
