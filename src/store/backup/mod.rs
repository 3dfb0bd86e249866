//! Exports all jobs and drafts as lines of text, and imports such lines. The format and the rules for merging are in
//! `model::backup`.

mod export_lines;
mod import;
mod lines;

pub use export_lines::ExportCounts;
pub use import::ImportCounts;
pub use lines::{ImportError, MAX_LINE_BYTES, check_backup};

use super::error::{StoreError, StoreResult};
use super::scopes::ScopeFilter;
use super::store_thread::Worker;
use super::{Store, schema};
use crate::model::Time;
use crate::model::backup::JobRecord;
use rusqlite::TransactionBehavior;
use std::io::{BufRead, Write};

impl Store {
    /// Writes the selected jobs and drafts as lines to `out`, all from one snapshot, and returns their counts. No
    /// process can write to the store in the meantime, so `out` must not block: it should be a file.
    ///
    /// # Errors
    /// The store can't be read, or `out` can't be written.
    pub async fn export<W: Write + Send + 'static>(
        &self,
        out: W,
        filter: ScopeFilter,
        version: &str,
        now: Time,
    ) -> StoreResult<ExportCounts> {
        let version = version.to_owned();
        self.read(move |db| export_lines::export(db, out, &filter, &version, now)).await
    }

    /// Imports all lines of a backup or none of them. If `is_dry_run` is true, changes nothing and returns the counts
    /// of what an import would do. Reading from `lines` must not block (see [`Store::export`]). The caller should first
    /// check the backup with [`check_backup`].
    ///
    /// # Errors
    /// A line can't be imported, or the store can't be written. Then nothing is changed.
    pub async fn import<B: BufRead + Send + 'static>(
        &self,
        lines: B,
        filter: ScopeFilter,
        is_dry_run: bool,
        now: Time,
    ) -> Result<ImportCounts, ImportError> {
        self.call(move |Worker { connection: db, is_read_only, .. }| {
            if *is_read_only && !is_dry_run {
                return Err(StoreError::ReadOnly);
            }
            schema::set_cache_size(db, schema::CacheSize::Bulk)?;
            let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let imported = import::import_backup(&tx, lines, &filter, now);
            if imported.is_ok() && !is_dry_run {
                tx.commit()?;
            } else {
                // Dropping the transaction rolls it back. An explicit rollback would fail on a full disk, where SQLite
                // has already rolled back, and would hide the cause.
                drop(tx);
            }
            // If this fails, the larger cache stays, which does no harm.
            let _ = schema::set_cache_size(db, schema::CacheSize::Normal);
            Ok(imported)
        })
        .await?
    }

    /// Imports jobs that don't come from a file, all of them or none.
    ///
    /// # Errors
    /// The store can't be written.
    pub async fn import_jobs(
        &self,
        records: impl IntoIterator<Item = JobRecord> + Send + 'static,
        now: Time,
    ) -> StoreResult<()> {
        self.write(move |tx| import::import_jobs(tx, records, now)).await
    }
}
