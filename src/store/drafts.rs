//! Drafts: typed texts that are not sent yet. There is one slot for a new job, one for a new job about pages, one for a
//! batch, one per job for a follow-up, and one per undelivered prompt for its edited text.

use super::columns::{UnixMillis, join_lines, read_time, split_lines};
use super::error::StoreResult;
use super::query::Query as _;
use super::{Store, job_rows, scopes};
use crate::model::Time;
use crate::model::batch;
use crate::model::endpoint::Scope;
use crate::model::job::JobKey;
use crate::model::prompt::{DraftTarget, PromptId};
use crate::model::text::CleanText;
use rusqlite::{Connection, Transaction, params};

/// A typed text that is not sent yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    pub slot: DraftTarget,
    pub text: String,
    /// The pages that the new job is about; empty in every slot except `AboutPages`.
    pub pages: Vec<CleanText>,
    pub saved_at: Time,
}

impl Store {
    /// Replaces the draft in the slot; an empty text deletes the draft.
    pub async fn save_draft(&self, scope: &Scope, slot: DraftTarget, text: &str, now: Time) -> StoreResult<()> {
        self.replace_draft(scope, slot, text, &[], now).await
    }

    /// Replaces the draft of a new job about these pages; an empty text deletes the draft.
    pub async fn save_draft_about_pages(
        &self,
        scope: &Scope,
        text: &str,
        pages: &[CleanText],
        now: Time,
    ) -> StoreResult<()> {
        self.replace_draft(scope, DraftTarget::AboutPages, text, pages, now).await
    }

    async fn replace_draft(
        &self,
        scope: &Scope,
        slot: DraftTarget,
        text: &str,
        pages: &[CleanText],
        now: Time,
    ) -> StoreResult<()> {
        if text.is_empty() {
            return self.delete_draft(scope, slot).await;
        }
        let (text, pages) = (text.to_owned(), pages.to_vec());
        self.write_in_scope(scope, move |tx, scope| {
            let slot = resolve_merged_slot(tx, slot)?;
            delete_draft(tx, scope, slot)?;
            insert_draft(tx, scope, slot, &text, &pages, now)
        })
        .await
    }

    pub async fn drafts(&self, scope: &Scope) -> StoreResult<Vec<Draft>> {
        self.read_in_scope(scope, list_drafts).await
    }

    /// Deletes the draft in the slot, if there is one.
    pub async fn delete_draft(&self, scope: &Scope, slot: DraftTarget) -> StoreResult<()> {
        let scope = scope.clone();
        self.write(move |tx| {
            let slot = resolve_merged_slot(tx, slot)?;
            scopes::find_scope(tx, &scope)?.map_or(Ok(()), |scope| delete_draft(tx, scope, slot))
        })
        .await
    }
}

/// If the slot belongs to a job that was merged into another row, returns the slot of that row; otherwise `slot`.
fn resolve_merged_slot(db: &Connection, slot: DraftTarget) -> StoreResult<DraftTarget> {
    match slot {
        DraftTarget::FollowUp(key) => job_rows::resolve_merged_key(db, key).map(DraftTarget::FollowUp),
        other => Ok(other),
    }
}

/// The SQL condition that finds the draft in a slot; [`slot_params`] returns its parameters.
const SLOT_CONDITION: &str = "scope = ?1 AND job IS ?2 AND prompt IS ?3 AND batch = ?4 AND (pages IS NOT NULL) = ?5";

fn slot_params(scope: i64, slot: DraftTarget) -> (i64, Option<JobKey>, Option<PromptId>, bool, bool) {
    let (job, prompt) = match slot {
        DraftTarget::NewJob | DraftTarget::AboutPages | DraftTarget::Batch => (None, None),
        DraftTarget::FollowUp(key) => (Some(key), None),
        DraftTarget::Prompt(id) => (None, Some(id)),
    };
    (scope, job, prompt, slot == DraftTarget::Batch, slot == DraftTarget::AboutPages)
}

/// Adds a draft to a free slot.
pub(super) fn insert_draft(
    tx: &Transaction<'_>,
    scope: i64,
    slot: DraftTarget,
    text: &str,
    pages: &[CleanText],
    at: Time,
) -> StoreResult<()> {
    let (scope, job, prompt, is_batch, is_about_pages) = slot_params(scope, slot);
    let joined_pages = is_about_pages.then(|| join_lines(pages));
    tx.insert(
        "INSERT INTO draft (scope, job, prompt, batch, pages, text, saved_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        params![scope, job, prompt, is_batch, joined_pages, text, UnixMillis(at)],
    )?;
    Ok(())
}

/// Returns the draft in the slot, if there is one: its text and when it was saved.
pub(super) fn find_draft(db: &Connection, scope: i64, slot: DraftTarget) -> StoreResult<Option<(String, Time)>> {
    let sql = format!("SELECT text, saved_at FROM draft WHERE {SLOT_CONDITION}");
    db.query_first(&sql, slot_params(scope, slot), |row| Ok((row.get(0)?, read_time(row, 1)?)))
}

/// Deletes the draft in the slot, if there is one.
pub(super) fn delete_draft(tx: &Transaction<'_>, scope: i64, slot: DraftTarget) -> StoreResult<()> {
    tx.change(&format!("DELETE FROM draft WHERE {SLOT_CONDITION}"), slot_params(scope, slot))?;
    Ok(())
}

pub(super) fn list_drafts(db: &Connection, scope: i64) -> StoreResult<Vec<Draft>> {
    let sql = "SELECT job, prompt, batch, pages, text, saved_at FROM draft WHERE scope = ?1 ORDER BY saved_at";
    db.query_all(sql, [scope], |row| {
        let pages: Option<String> = row.get("pages")?;
        let slot = match (row.get("job")?, row.get("prompt")?, row.get("batch")?, pages) {
            (Some(key), ..) => DraftTarget::FollowUp(key),
            (None, Some(id), ..) => DraftTarget::Prompt(id),
            (None, None, true, _) => DraftTarget::Batch,
            (None, None, false, Some(_)) => DraftTarget::AboutPages,
            (None, None, false, None) => DraftTarget::NewJob,
        };
        let (text, pages) = (row.get("text")?, split_lines(row, "pages")?);
        Ok(Draft { slot, text, pages, saved_at: read_time(row, "saved_at")? })
    })
}

/// Deletes the batch draft if it contains exactly these prompts: submitting a batch from a file must not delete another
/// batch that the user has typed.
pub(super) fn delete_matching_batch_draft(tx: &Transaction<'_>, scope: i64, prompts: &[String]) -> StoreResult<()> {
    let draft = find_draft(tx, scope, DraftTarget::Batch)?;
    if draft.is_some_and(|(text, _)| batch::parse_prompts(None, &text).is_ok_and(|parsed| parsed == prompts)) {
        delete_draft(tx, scope, DraftTarget::Batch)?;
    }
    Ok(())
}

/// Moves the follow-up draft of the job `from` to the job `to`, when their rows are merged. If both jobs have a draft,
/// appends the draft of `from` to the draft of `to`, so that no typed text is lost.
pub(super) fn move_draft(tx: &Transaction<'_>, from: JobKey, to: JobKey) -> StoreResult<()> {
    let (scope, from, to) = (job_rows::job_scope_id(tx, to)?, DraftTarget::FollowUp(from), DraftTarget::FollowUp(to));
    let Some((moved, at)) = find_draft(tx, scope, from)? else { return Ok(()) };
    let (text, at) = match find_draft(tx, scope, to)? {
        Some((existing, existing_at)) => (format!("{existing}\n\n{moved}"), at.max(existing_at)),
        None => (moved, at),
    };
    delete_draft(tx, scope, from)?;
    delete_draft(tx, scope, to)?;
    insert_draft(tx, scope, to, &text, &[], at)
}
