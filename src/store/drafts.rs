//! Drafts: typed texts that are not sent yet. There is one slot for a new job, one for a new job about pages, one for a
//! batch, one per job for a follow-up, and one per undelivered prompt for its edited text.

use super::columns::{UnixMillis, read_time};
use super::error::StoreResult;
use super::{Draft, jobs, pages, scopes};
use crate::model::Time;
use crate::model::batch;
use crate::model::endpoint::Scope;
use crate::model::prompt::{DraftTarget, PromptId};
use crate::model::row::JobKey;
use crate::model::text::CleanText;
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};

/// Replaces the draft in the slot; an empty text deletes the draft.
pub(super) fn replace_draft(
    tx: &Transaction<'_>,
    scope: &Scope,
    slot: DraftTarget,
    text: &str,
    about: &[CleanText],
    now: Time,
) -> StoreResult<()> {
    delete_from_slot(tx, scope, slot)?;
    if text.is_empty() {
        return Ok(());
    }
    let slot = match slot {
        DraftTarget::FollowUp(key) => DraftTarget::FollowUp(jobs::current_key(tx, key)?),
        other => other,
    };
    let scope = scopes::ensure_scope(tx, scope)?;
    insert_draft(tx, scope, slot, text, about, now)
}

/// Adds a draft to a free slot.
pub(super) fn insert_draft(
    tx: &Transaction<'_>,
    scope: i64,
    slot: DraftTarget,
    text: &str,
    about: &[CleanText],
    at: Time,
) -> StoreResult<()> {
    let (job, prompt) = match slot {
        DraftTarget::NewJob | DraftTarget::AboutPages | DraftTarget::Batch => (None, None),
        DraftTarget::FollowUp(key) => (Some(key.0), None),
        DraftTarget::Prompt(id) => (None, Some(id.0)),
    };
    let about = (slot == DraftTarget::AboutPages).then(|| pages::join_paths(about));
    tx.prepare_cached(
        "INSERT INTO draft (scope, job, prompt, batch, pages, text, saved_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
    )?
    .execute(params![scope, job, prompt, slot == DraftTarget::Batch, about, text, UnixMillis(at)])?;
    Ok(())
}

/// Returns the text of the draft in the slot, if there is one.
pub(super) fn read_draft_text(connection: &Connection, scope: i64, slot: DraftTarget) -> StoreResult<Option<String>> {
    match slot {
        DraftTarget::NewJob | DraftTarget::AboutPages | DraftTarget::Batch => {
            let mut statement = connection.prepare_cached(
                "SELECT text FROM draft
                 WHERE scope = ?1 AND job IS NULL AND prompt IS NULL AND batch = ?2 AND (pages IS NOT NULL) = ?3",
            )?;
            let slot = params![scope, slot == DraftTarget::Batch, slot == DraftTarget::AboutPages];
            Ok(statement.query_row(slot, |row| row.get(0)).optional()?)
        }
        DraftTarget::FollowUp(key) => Ok(find_draft(connection, key)?.map(|(text, _)| text)),
        DraftTarget::Prompt(id) => {
            let mut statement = connection.prepare_cached("SELECT text FROM draft WHERE prompt = ?1")?;
            Ok(statement.query_row([id.0], |row| row.get(0)).optional()?)
        }
    }
}

pub(super) fn list_drafts(connection: &Connection, scope: &Scope) -> StoreResult<Vec<Draft>> {
    let Some(scope) = scopes::find_scope(connection, scope)? else { return Ok(Vec::new()) };
    let mut statement = connection.prepare_cached(
        "SELECT job, prompt, batch, pages, text, saved_at FROM draft WHERE scope = ?1 ORDER BY saved_at",
    )?;
    let drafts = statement.query_map([scope], |row| {
        let about: Option<String> = row.get(3)?;
        let slot = match (row.get(0)?, row.get(1)?, row.get(2)?, &about) {
            (Some(key), ..) => DraftTarget::FollowUp(JobKey(key)),
            (None, Some(id), ..) => DraftTarget::Prompt(PromptId(id)),
            (None, None, true, _) => DraftTarget::Batch,
            (None, None, false, Some(_)) => DraftTarget::AboutPages,
            (None, None, false, None) => DraftTarget::NewJob,
        };
        let pages = about.as_deref().map(pages::split_joined_paths).unwrap_or_default();
        Ok(Draft { slot, text: row.get(4)?, pages, saved_at: read_time(row, 5)? })
    })?;
    Ok(drafts.collect::<rusqlite::Result<_>>()?)
}

pub(super) fn delete_from_slot(tx: &Transaction<'_>, scope: &Scope, slot: DraftTarget) -> StoreResult<()> {
    match slot {
        DraftTarget::NewJob | DraftTarget::AboutPages | DraftTarget::Batch => {
            if let Some(scope) = scopes::find_scope(tx, scope)? {
                delete_without_job(tx, scope, slot)?;
            }
        }
        DraftTarget::FollowUp(key) => delete_follow_up_draft(tx, jobs::current_key(tx, key)?)?,
        DraftTarget::Prompt(id) => delete_draft_of_prompt(tx, id)?,
    }
    Ok(())
}

pub(super) fn delete_new_job_draft(tx: &Transaction<'_>, scope: i64) -> StoreResult<()> {
    delete_without_job(tx, scope, DraftTarget::NewJob)
}

pub(super) fn delete_draft_about_pages(tx: &Transaction<'_>, scope: i64) -> StoreResult<()> {
    delete_without_job(tx, scope, DraftTarget::AboutPages)
}

/// Deletes the batch draft if it contains exactly these prompts. So a batch that was read from a file doesn't delete
/// what the user has typed.
pub(super) fn delete_batch_draft_of(tx: &Transaction<'_>, scope: i64, prompts: &[String]) -> StoreResult<()> {
    let draft: Option<String> = tx
        .prepare_cached("SELECT text FROM draft WHERE scope = ?1 AND job IS NULL AND prompt IS NULL AND batch = 1")?
        .query_row([scope], |row| row.get(0))
        .optional()?;
    if draft.is_some_and(|text| batch::parse_prompts(None, &text).is_ok_and(|parsed| parsed == prompts)) {
        delete_without_job(tx, scope, DraftTarget::Batch)?;
    }
    Ok(())
}

fn delete_without_job(tx: &Transaction<'_>, scope: i64, slot: DraftTarget) -> StoreResult<()> {
    tx.prepare_cached(
        "DELETE FROM draft
         WHERE scope = ?1 AND job IS NULL AND prompt IS NULL AND batch = ?2 AND (pages IS NOT NULL) = ?3",
    )?
    .execute(params![scope, slot == DraftTarget::Batch, slot == DraftTarget::AboutPages])?;
    Ok(())
}

pub(super) fn delete_follow_up_draft(tx: &Transaction<'_>, key: JobKey) -> StoreResult<()> {
    tx.prepare_cached("DELETE FROM draft WHERE job = ?1")?.execute([key.0])?;
    Ok(())
}

pub(super) fn delete_draft_of_prompt(tx: &Transaction<'_>, id: PromptId) -> StoreResult<()> {
    tx.prepare_cached("DELETE FROM draft WHERE prompt = ?1")?.execute([id.0])?;
    Ok(())
}

/// Moves the follow-up draft of the job `from` to the job `to`, when their rows are merged. If both jobs have a draft,
/// appends the text from `from` to that of `to`, so that no typed text is lost.
pub(super) fn move_draft(tx: &Transaction<'_>, from: JobKey, to: JobKey) -> StoreResult<()> {
    let Some((moved, at)) = find_draft(tx, from)? else { return Ok(()) };
    let (text, at) = match find_draft(tx, to)? {
        Some((existing, existing_at)) => (format!("{existing}\n\n{moved}"), at.max(existing_at)),
        None => (moved, at),
    };
    delete_follow_up_draft(tx, from)?;
    delete_follow_up_draft(tx, to)?;
    insert_draft(tx, jobs::job_scope_id(tx, to)?, DraftTarget::FollowUp(to), &text, &[], at)
}

fn find_draft(connection: &Connection, key: JobKey) -> StoreResult<Option<(String, Time)>> {
    let mut statement = connection.prepare_cached("SELECT text, saved_at FROM draft WHERE job = ?1")?;
    Ok(statement.query_row([key.0], |row| Ok((row.get(0)?, read_time(row, 1)?))).optional()?)
}
