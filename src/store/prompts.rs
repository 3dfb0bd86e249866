//! The table of prompts: every prompt is stored here before it is sent. This module also carries out the user's
//! decisions about undelivered prompts. The order of queued prompts is in `queue`, sending is in `sending`.

use super::columns::{
    self, STATE_SQL, UnixMillis, millis_param, prompt_columns, read_optional_time, stored_kind, text_param,
};
use super::error::{StoreError, StoreResult};
use super::{drafts, jobs, pages, scopes};
use crate::model::Time;
use crate::model::backup::PromptRecord;
use crate::model::change::DiscardedPrompts;
use crate::model::endpoint::Scope;
use crate::model::prompt::{Delivery, DeliveryKind, Prompt, PromptId, PromptKind, Thread};
use crate::model::row::{Job, JobKey};
use crate::model::text::CleanText;
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use std::collections::BTreeSet;

/// Maximum length of a title in characters; a longer title is cut and ends with `…`.
pub(super) const TITLE_CHARS_MAX: usize = 200;

/// Those columns of a prompt that decide what may be done with the prompt.
#[derive(Debug)]
pub(super) struct StoredPrompt {
    pub(super) id: PromptId,
    pub(super) job: JobKey,
    pub(super) kind: PromptKind,
    pub(super) state: DeliveryKind,
    /// The instance that is sending the prompt, or the only instance that may send it; otherwise `None`.
    pub(super) instance: Option<String>,
    pub(super) until: Option<Time>,
    pub(super) sent_at: Option<Time>,
}

pub(super) fn read_stored_prompt(connection: &Connection, id: PromptId) -> StoreResult<StoredPrompt> {
    let mut statement = connection.prepare_cached(&format!(
        "SELECT job, kind, {STATE_SQL}, until, sent_at, instance FROM prompt WHERE id = ?1"
    ))?;
    let prompt = statement.query_row([id.0], |row| {
        Ok(StoredPrompt {
            id,
            job: JobKey(row.get(0)?),
            kind: columns::read_prompt_kind(row, 1)?,
            state: columns::read_delivery_kind(row, 2)?,
            until: read_optional_time(row, 3)?,
            sent_at: read_optional_time(row, 4)?,
            instance: row.get(5)?,
        })
    });
    prompt.optional()?.ok_or(StoreError::NoSuchPrompt)
}

/// Reads the prompts and events of a job. If the job's row was merged into another row, reads those of the other row.
pub(super) fn read_thread(connection: &Connection, key: JobKey) -> StoreResult<Thread> {
    thread_of_current(connection, jobs::current_key(connection, key)?)
}

/// Like [`read_thread`], for a row that must not have been merged into another row.
pub(super) fn thread_of_current(connection: &Connection, key: JobKey) -> StoreResult<Thread> {
    let mut statement =
        connection.prepare_cached(&format!("SELECT {} FROM prompt WHERE job = ?1 ORDER BY id", prompt_columns()))?;
    let prompts: Vec<Prompt> =
        statement.query_map([key.0], columns::read_prompt_row)?.collect::<rusqlite::Result<_>>()?;
    Ok(Thread { prompts, events: jobs::read_job_events(connection, key)? })
}

/// Like [`read_thread`], but works even if the indexes or the order of the rows are damaged: it relies on neither.
/// Returns `None` if there is no such job.
pub(super) fn read_thread_without_index(connection: &Connection, key: JobKey) -> StoreResult<Option<Thread>> {
    // The plus sign keeps SQLite from looking up the key in the tree of the table.
    let current = "SELECT coalesce(merged_into, key) FROM job NOT INDEXED WHERE +key = ?1";
    let Some(key) = connection.query_row(current, [key.0], |row| row.get::<_, i64>(0)).optional()? else {
        return Ok(None);
    };
    let mut statement = connection
        .prepare(&format!("SELECT {} FROM prompt NOT INDEXED WHERE job = ?1 ORDER BY +id", prompt_columns()))?;
    let prompts: Vec<Prompt> =
        statement.query_map([key], columns::read_prompt_row)?.collect::<rusqlite::Result<_>>()?;
    let mut statement =
        connection.prepare("SELECT at, kind, before, after FROM event NOT INDEXED WHERE job = ?1 ORDER BY at, +id")?;
    let events = statement.query_map([key], columns::read_event)?.collect::<rusqlite::Result<_>>()?;
    Ok(Some(Thread { prompts, events }))
}

/// Reads the thread of each job that exists and whose thread is no larger than about `max_bytes` (see [`read_thread`]).
pub(super) fn threads(
    connection: &Connection,
    keys: &[JobKey],
    max_bytes: Option<usize>,
) -> StoreResult<Vec<(JobKey, Thread)>> {
    let mut threads = Vec::with_capacity(keys.len());
    for key in keys {
        let current = match jobs::current_key(connection, *key) {
            Err(StoreError::NoSuchJob) => continue,
            current => current?,
        };
        if max_bytes.map_or(Ok(false), |max_bytes| is_larger_than(connection, current, max_bytes))? {
            continue;
        }
        threads.push((*key, thread_of_current(connection, current)?));
    }
    Ok(threads)
}

/// Whether the thread is larger than about `max_bytes`. Reads only the headers of its rows, not the pages that contain
/// the rest of a long text.
fn is_larger_than(connection: &Connection, key: JobKey, max_bytes: usize) -> StoreResult<bool> {
    let mut size = connection.prepare_cached(
        "SELECT (SELECT coalesce(sum(octet_length(text)), 0) FROM prompt WHERE job = ?1)
             + (SELECT 64 * count(*) FROM event WHERE job = ?1)",
    )?;
    let bytes: i64 = size.query_row([key.0], |row| row.get(0))?;
    Ok(usize::try_from(bytes).map_or(true, |bytes| bytes > max_bytes))
}

/// Adds a job with its queued prompt, and deletes the new-job draft.
pub(super) fn add_new_job(
    tx: &Transaction<'_>,
    scope: &Scope,
    text: &str,
    sender: SendingInstance<'_>,
    now: Time,
) -> StoreResult<(PromptId, Job)> {
    let scope = scopes::ensure_scope(tx, scope)?;
    let added = insert_new_job(tx, scope, text, sender, now)?;
    drafts::delete_new_job_draft(tx, scope)?;
    Ok(added)
}

/// Adds a job about these pages with its queued prompt, and deletes the draft about pages.
pub(super) fn add_job_about(
    tx: &Transaction<'_>,
    scope: &Scope,
    text: &str,
    about: &[CleanText],
    now: Time,
) -> StoreResult<(PromptId, Job)> {
    let scope = scopes::ensure_scope(tx, scope)?;
    let (prompt, row) = insert_new_job(tx, scope, text, SendingInstance::Any, now)?;
    pages::write_job_pages(tx, row.key, about)?;
    drafts::delete_draft_about_pages(tx, scope)?;
    Ok((prompt, jobs::read_current_job(tx, row.key)?))
}

/// Adds many jobs in this order, and deletes the batch draft if it contains exactly these texts. If one text is blank,
/// adds no job.
pub(super) fn add_batch(tx: &Transaction<'_>, scope: &Scope, texts: &[String], now: Time) -> StoreResult<Vec<Job>> {
    let scope = scopes::ensure_scope(tx, scope)?;
    let rows = texts
        .iter()
        .map(|text| insert_new_job(tx, scope, text, SendingInstance::Any, now).map(|(_, row)| row))
        .collect::<StoreResult<_>>()?;
    drafts::delete_batch_draft_of(tx, scope, texts)?;
    Ok(rows)
}

fn insert_new_job(
    tx: &Transaction<'_>,
    scope: i64,
    text: &str,
    sender: SendingInstance<'_>,
    now: Time,
) -> StoreResult<(PromptId, Job)> {
    let title = prompt_title(text)?;
    let key = jobs::insert_job(tx, scope, &title, now)?;
    let prompt = insert_prompt(tx, key, PromptKind::Create, text, sender, now)?;
    Ok((prompt, jobs::touch(tx, key)?))
}

/// Adds a follow-up at the end of the job's queue, and deletes the job's draft.
pub(super) fn add_follow_up(
    tx: &Transaction<'_>,
    key: JobKey,
    text: &str,
    sender: SendingInstance<'_>,
    now: Time,
) -> StoreResult<(PromptId, Job)> {
    prompt_title(text)?;
    let key = jobs::current_key(tx, key)?;
    let prompt = insert_prompt(tx, key, PromptKind::FollowUp, text, sender, now)?;
    drafts::delete_follow_up_draft(tx, key)?;
    Ok((prompt, jobs::touch(tx, key)?))
}

/// Like [`add_follow_up`], but first discards the job's prompts that are `Rejected` or `NotSent`, so that they don't
/// block the new prompt. Returns the discarded prompts as they were before.
pub(super) fn supersede(
    tx: &Transaction<'_>,
    key: JobKey,
    text: &str,
    sender: SendingInstance<'_>,
    now: Time,
) -> StoreResult<(PromptId, Job, Vec<Prompt>)> {
    let mut discarded = read_thread(tx, key)?.prompts;
    discarded.retain(|prompt| prompt.delivery.kind().had_no_effect());
    for prompt in &discarded {
        set_discarded(tx, prompt.id, now)?;
    }
    let (id, row) = add_follow_up(tx, key, text, sender, now)?;
    Ok((id, row, discarded))
}

/// Which instance may send a new prompt.
#[derive(Debug, Clone, Copy)]
pub(super) enum SendingInstance<'a> {
    Any,
    /// Only the instance with this name. For other instances, and after that instance has ended, the prompt is paused.
    Only(&'a str),
}

fn insert_prompt(
    tx: &Transaction<'_>,
    key: JobKey,
    kind: PromptKind,
    text: &str,
    sender: SendingInstance<'_>,
    now: Time,
) -> StoreResult<PromptId> {
    let only = match sender {
        SendingInstance::Any => None,
        SendingInstance::Only(instance) => Some(instance),
    };
    tx.prepare_cached(
        "INSERT INTO prompt (job, kind, text, state, paused, instance, written_at, state_at)
         VALUES (?1, ?2, ?3, 'queued', ?4 IS NOT NULL, ?4, ?5, ?5)",
    )?
    .execute(params![key.0, stored_kind(kind), text, only, UnixMillis(now)])?;
    Ok(PromptId(tx.last_insert_rowid()))
}

/// Adds a prompt from a backup to a job, with the delivery in `record`. The caller has already adapted this delivery,
/// so that this computer doesn't send what another computer may send (see `model::backup::merge_rules`).
pub(super) fn insert_imported(tx: &Transaction<'_>, key: JobKey, record: &PromptRecord) -> StoreResult<PromptId> {
    let (state, paused, until) = delivery_columns(&record.delivery);
    let (state_at, from) = (state_at(record), discarded_from(&record.delivery));
    tx.prepare_cached(
        "INSERT INTO prompt (job, kind, text, state, paused, until, reason, written_at, sent_at, state_at, discarded_at,
             discarded_from)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, iif(?4 = 'dismissed', ?10, NULL), ?11)",
    )?
    .execute(params![
        key.0,
        stored_kind(record.kind),
        record.text,
        state,
        paused,
        until,
        text_param(record.delivery.reason()),
        UnixMillis(record.written_at),
        millis_param(record.sent_at),
        UnixMillis(state_at),
        from,
    ])?;
    Ok(PromptId(tx.last_insert_rowid()))
}

/// Sets the state of a known prompt to `delivery`. Replaces its text, its sending time and the start of its state with
/// those of its copy in a backup.
pub(super) fn update_imported(
    tx: &Transaction<'_>,
    id: PromptId,
    delivery: &Delivery,
    record: &PromptRecord,
) -> StoreResult<()> {
    set_state(tx, id, delivery, state_at(record))?;
    tx.prepare_cached(
        "UPDATE prompt SET text = ?2, sent_at = coalesce(?3, sent_at), discarded_from = ?4 WHERE id = ?1",
    )?
    .execute(params![id.0, record.text, millis_param(record.sent_at), discarded_from(delivery)])?;
    Ok(())
}

/// Returns when the prompt in a backup entered its state. If the backup doesn't contain that time, returns the time at
/// which the prompt was sent or, if it was never sent, the time at which it was written.
fn state_at(record: &PromptRecord) -> Time {
    record.state_at.or(record.sent_at).unwrap_or(record.written_at)
}

/// Returns the name of the state from which a prompt was discarded, if it is known.
fn discarded_from(delivery: &Delivery) -> Option<&'static str> {
    match delivery {
        Delivery::Discarded { from } => from.map(DeliveryKind::word),
        _ => None,
    }
}

/// Returns the first line with a visible character, as the title. Fails if the text is blank.
fn prompt_title(text: &str) -> StoreResult<CleanText> {
    text.lines()
        .map(|line| CleanText::title(line, TITLE_CHARS_MAX))
        .find(|line| !line.is_empty())
        .ok_or(StoreError::BlankPrompt)
}

/// Puts the prompt into a new state, which begins at `now`. For every state but `Queued`, clears the stored instance.
/// Don't use it for `Sending`: [`take_turn`](super::sending::request_permit) sets that state together with the instance.
pub(super) fn set_state(tx: &Transaction<'_>, id: PromptId, to: &Delivery, now: Time) -> StoreResult<()> {
    let (state, paused, until) = delivery_columns(to);
    if matches!(to, Delivery::Queued { .. }) {
        // If only one instance may send the prompt, `paused` and `instance` keep their values.
        tx.prepare_cached(
            "UPDATE prompt SET state = ?2, until = ?3, reason = NULL, state_at = ?4,
                 instance = iif(paused, instance, NULL), discarded_from = NULL, discarded_at = NULL
             WHERE id = ?1",
        )?
        .execute(params![id.0, state, until, UnixMillis(now)])?;
        return Ok(());
    }
    tx.prepare_cached(
        "UPDATE prompt SET state = ?2, paused = ?3, until = ?4, reason = ?5, state_at = ?6, instance = NULL,
             discarded_from = NULL, discarded_at = iif(?2 = 'dismissed', ?6, NULL)
         WHERE id = ?1",
    )?
    .execute(params![id.0, state, paused, until, text_param(to.reason()), UnixMillis(now)])?;
    Ok(())
}

/// Stores until when a queued prompt has to wait for the hourly limit. The start of its state stays the same.
pub(super) fn set_wait_until(tx: &Transaction<'_>, id: PromptId, until: Time) -> StoreResult<()> {
    tx.prepare_cached("UPDATE prompt SET until = ?2 WHERE id = ?1")?.execute(params![id.0, UnixMillis(until)])?;
    Ok(())
}

/// Converts a delivery to the columns state, paused and until. A paused prompt is stored as `queued`, with `paused`
/// set.
fn delivery_columns(delivery: &Delivery) -> (&'static str, bool, Option<UnixMillis>) {
    let until = match delivery {
        Delivery::Queued { until } => *until,
        _ => None,
    };
    match delivery.kind() {
        DeliveryKind::Paused => (DeliveryKind::Queued.word(), true, None),
        other => (other.stored_word(), false, millis_param(until)),
    }
}

/// Whether an earlier prompt of the thread is undelivered, which blocks this prompt.
pub(super) fn has_undelivered_before(connection: &Connection, prompt: &StoredPrompt) -> StoreResult<bool> {
    let mut statement = connection.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM prompt WHERE job = ?1 AND id < ?2 AND state NOT IN ('accepted', 'dismissed'))",
    )?;
    Ok(statement.query_row([prompt.job.0, prompt.id.0], |row| row.get(0))?)
}

/// Queues the prompt again, neither paused nor waiting for the hourly limit. If `edited` is given, it becomes the
/// prompt's text.
pub(super) fn requeue_prompt(tx: &Transaction<'_>, id: PromptId, edited: Option<&str>, now: Time) -> StoreResult<Job> {
    let prompt = read_stored_prompt(tx, id)?;
    if !(prompt.state.needs_user() || matches!(prompt.state, DeliveryKind::Queued | DeliveryKind::Paused)) {
        return Err(StoreError::StateChanged);
    }
    if let Some(text) = edited {
        if prompt.state == DeliveryKind::Unconfirmed {
            return Err(StoreError::NotEditable);
        }
        let title = prompt_title(text)?;
        tx.prepare_cached("UPDATE prompt SET text = ?2 WHERE id = ?1")?.execute(params![id.0, text])?;
        if prompt.kind == PromptKind::Create {
            jobs::set_default_title(tx, prompt.job, &title)?;
        }
        drafts::delete_draft_of_prompt(tx, id)?;
    }
    tx.prepare_cached("UPDATE prompt SET paused = 0 WHERE id = ?1")?.execute([id.0])?;
    set_state(tx, id, &Delivery::Queued { until: None }, now)?;
    let mut row = jobs::read_current_job(tx, prompt.job)?;
    row.dismissed = false;
    jobs::update_job(tx, &row)
}

/// Discards one prompt. A prompt that is being sent or was accepted can't be discarded.
pub(super) fn discard(tx: &Transaction<'_>, id: PromptId, now: Time) -> StoreResult<DiscardedPrompts> {
    let prompt = read_stored_prompt(tx, id)?;
    if matches!(prompt.state, DeliveryKind::Sending | DeliveryKind::Accepted | DeliveryKind::Discarded) {
        return Err(StoreError::StateChanged);
    }
    set_discarded(tx, id, now)?;
    Ok(DiscardedPrompts { prompts: vec![id], rows: vec![jobs::touch(tx, prompt.job)?] })
}

/// Discards a prompt. Stores its previous state, and keeps its wait, reason and position in the queue, so that
/// [`restore`] can bring them back.
pub(super) fn set_discarded(tx: &Transaction<'_>, id: PromptId, now: Time) -> StoreResult<()> {
    tx.prepare_cached(&format!(
        "UPDATE prompt SET discarded_from = {STATE_SQL}, discarded_at = ?2, state = 'dismissed', instance = NULL
         WHERE id = ?1"
    ))?
    .execute(params![id.0, UnixMillis(now)])?;
    Ok(())
}

/// Restores all these discarded prompts to their previous states, or none. Returns the rows of their jobs. Fails if one
/// of the prompts is no longer discarded, or if one of them was queued before and a later follow-up has been sent
/// since.
pub(super) fn restore(tx: &Transaction<'_>, ids: &[PromptId]) -> StoreResult<Vec<Job>> {
    let mut changed = BTreeSet::new();
    for id in ids {
        let prompt = read_stored_prompt(tx, *id)?;
        let from: Option<String> = tx
            .prepare_cached("SELECT discarded_from FROM prompt WHERE id = ?1 AND state = 'dismissed'")?
            .query_row([id.0], |row| row.get(0))
            .optional()?
            .flatten();
        let from = from.as_deref().and_then(DeliveryKind::parse).ok_or(StoreError::StateChanged)?;
        let was_queued = matches!(from, DeliveryKind::Queued | DeliveryKind::Paused);
        if was_queued && has_later_sent(tx, &prompt)? {
            return Err(StoreError::StateChanged);
        }
        tx.prepare_cached(
            "UPDATE prompt SET state = ?2, paused = ?3, discarded_from = NULL, discarded_at = NULL WHERE id = ?1",
        )?
        .execute(params![
            id.0,
            if was_queued { DeliveryKind::Queued } else { from }.stored_word(),
            from == DeliveryKind::Paused
        ])?;
        changed.insert(prompt.job);
    }
    changed.into_iter().map(|job| jobs::touch(tx, job)).collect()
}

/// Whether a later prompt of the thread was sent or is being sent.
fn has_later_sent(connection: &Connection, prompt: &StoredPrompt) -> StoreResult<bool> {
    let mut statement = connection.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM prompt WHERE job = ?1 AND id > ?2
                        AND state IN ('sending', 'accepted', 'unconfirmed'))",
    )?;
    Ok(statement.query_row([prompt.job.0, prompt.id.0], |row| row.get(0))?)
}
