//! All that the store knows as lines of text, and taking such lines in (design.md: `export`, `import`). The shape of a line
//! and the rules of joining are the model's.

mod import;
mod lines;
mod read;
mod write;

pub use lines::{ImportError, LINE_MAX, check};

use super::error::StoreError;
use super::{R, Store, schema};
use crate::model::Time;
use crate::model::backup::BackupTotals;
use crate::model::endpoint::Scope;
use rusqlite::TransactionBehavior;
use std::io::{BufRead, Write};

/// Of which jobs and drafts: of all, or of one project or service.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExportFilter {
    /// At whatever service.
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
    /// Prompts that wait to be sent from here, or are on their way: they arrive elsewhere as unconfirmed.
    pub in_flight: u64,
}

/// What an import did, or would do.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Imported {
    /// Jobs that were not known here.
    pub jobs_added: u64,
    /// Jobs that were, and got something new.
    pub jobs_changed: u64,
    /// Jobs of which nothing was new.
    pub jobs_unchanged: u64,
    /// Prompts that were not known here.
    pub prompts_added: u64,
    /// Of these, those that are unconfirmed here, since the other computer had not sent them or had no answer yet.
    pub in_flight: u64,
    pub drafts_added: u64,
    /// Drafts that were left out, since another text is in their place.
    pub drafts_left_out: u64,
    /// Jobs of which a title or a note was left out, since there is another one here.
    pub words_left_out: u64,
    /// Whether the file has its end: without it something may have been cut off.
    pub has_end: bool,
}

/// Export and import.
impl Store {
    /// Writes all that is known as lines into `out`, in one snapshot, and gives how much that was. Others can't write to
    /// the store meanwhile: `out` must not wait for anybody, so it is a file.
    ///
    /// # Errors
    /// The store can't be read, or `out` not be written.
    pub async fn export<W: Write + Send + 'static>(
        &self,
        out: W,
        only: ExportFilter,
        program: &str,
        now: Time,
    ) -> R<Exported> {
        let program = program.to_owned();
        self.handle.read(move |db| read::export(db, out, &only, &program, now)).await
    }

    /// Takes in the lines of an export, all or none; with `dry_run` only says what that would do. `lines` must not wait
    /// for anybody (see [`Store::export`]) and should have been looked over with [`check`].
    ///
    /// # Errors
    /// A line that can't be taken in, or the store can't write; nothing is changed then.
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
            schema::set_cache(db, schema::Cache::Bulk)?;
            let tx = db.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let imported = import::import(&tx, lines, &only, now);
            if imported.is_ok() && !dry_run {
                tx.commit()?;
            } else {
                // Not asked for: on a full disk SQLite has taken it back already, and why is what matters.
                drop(tx);
            }
            // It is on disk: a larger cache than usual does no harm.
            let _ = schema::set_cache(db, schema::Cache::Usual);
            Ok(imported)
        };
        self.handle.bare(work).await?
    }
}
