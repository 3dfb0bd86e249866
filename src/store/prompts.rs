//! Prompts on disk: written down before anything is sent, and what the user decides about one that docdeck will not
//! send by itself. The line in which they wait is `queue`'s, sending and its outcomes are `sending`'s.

use super::columns::{self, STATE, UnixMillis, kind_word, ms, opt_time, prompt_columns, text};
use super::error::StoreError;
use super::{drafts, jobs, pages, scopes};
use crate::model::Time;
use crate::model::backup::PromptRecord;
use crate::model::change::Discarded;
use crate::model::endpoint::Scope;
use crate::model::prompt::{Delivery, DeliveryKind, Prompt, PromptId, PromptKind, Thread};
use crate::model::row::{Job, JobKey};
use crate::model::text::CleanText;
use rusqlite::{Connection, OptionalExtension as _, Transaction, params};
use std::collections::BTreeSet;

type R<T> = Result<T, StoreError>;

/// Characters of a title, cut with `…`.
pub(super) const TITLE: usize = 200;

/// What deciding about a prompt needs to know of it.
#[derive(Debug)]
pub(super) struct StoredPrompt {
    pub(super) id: PromptId,
    pub(super) job: JobKey,
    pub(super) kind: PromptKind,
    pub(super) state: DeliveryKind,
    /// The instance that sends it, or that alone may.
    pub(super) instance: Option<String>,
    pub(super) until: Option<Time>,
    pub(super) sent_at: Option<Time>,
}

/// The prompt as it stands.
pub(super) fn get(connection: &Connection, id: PromptId) -> R<StoredPrompt> {
    let mut ask = connection
        .prepare_cached(&format!("SELECT job, kind, {STATE}, until, sent_at, instance FROM prompt WHERE id = ?1"))?;
    let known = ask.query_row([id.0], |row| {
        Ok(StoredPrompt {
            id,
            job: JobKey(row.get(0)?),
            kind: columns::prompt_kind(row, 1)?,
            state: columns::state(row, 2)?,
            until: opt_time(row, 3)?,
            sent_at: opt_time(row, 4)?,
            instance: row.get(5)?,
        })
    });
    known.optional()?.ok_or(StoreError::NoSuchPrompt)
}

/// Prompts and transitions of a job.
pub(super) fn thread(connection: &Connection, key: JobKey) -> R<Thread> {
    thread_of_current(connection, jobs::current(connection, key)?)
}

/// As [`thread`], of a row that stands for itself.
pub(super) fn thread_of_current(connection: &Connection, key: JobKey) -> R<Thread> {
    let mut ask =
        connection.prepare_cached(&format!("SELECT {} FROM prompt WHERE job = ?1 ORDER BY id", prompt_columns()))?;
    let prompts: Vec<Prompt> = ask.query_map([key.0], columns::prompt)?.collect::<rusqlite::Result<_>>()?;
    Ok(Thread { prompts, events: jobs::events(connection, key)? })
}

/// As [`thread`], without any index and without trust in the order of the rows; none if there is no such job.
pub(super) fn search_thread(connection: &Connection, key: JobKey) -> R<Option<Thread>> {
    // A plus sign keeps SQLite from looking the key up in the tree.
    let current = "SELECT coalesce(merged_into, key) FROM job NOT INDEXED WHERE +key = ?1";
    let Some(key) = connection.query_row(current, [key.0], |row| row.get::<_, i64>(0)).optional()? else {
        return Ok(None);
    };
    let mut ask = connection
        .prepare(&format!("SELECT {} FROM prompt NOT INDEXED WHERE job = ?1 ORDER BY +id", prompt_columns()))?;
    let prompts: Vec<Prompt> = ask.query_map([key], columns::prompt)?.collect::<rusqlite::Result<_>>()?;
    let mut ask =
        connection.prepare("SELECT at, kind, before, after FROM event NOT INDEXED WHERE job = ?1 ORDER BY at, +id")?;
    let events = ask.query_map([key], columns::event)?.collect::<rusqlite::Result<_>>()?;
    Ok(Some(Thread { prompts, events }))
}

/// As [`thread`] of each job that is there and whose thread takes no more than about `most` bytes.
pub(super) fn threads(connection: &Connection, keys: &[JobKey], most: Option<usize>) -> R<Vec<(JobKey, Thread)>> {
    let mut threads = Vec::with_capacity(keys.len());
    for key in keys {
        let current = match jobs::current(connection, *key) {
            Err(StoreError::NoSuchJob) => continue,
            current => current?,
        };
        if most.map_or(Ok(false), |most| takes_more_than(connection, current, most))? {
            continue;
        }
        threads.push((*key, thread_of_current(connection, current)?));
    }
    Ok(threads)
}

/// Told by the rows' headers: a long text lies in pages of its own, which stay where they are.
fn takes_more_than(connection: &Connection, key: JobKey, most: usize) -> R<bool> {
    let mut weigh = connection.prepare_cached(
        "SELECT (SELECT coalesce(sum(octet_length(text)), 0) FROM prompt WHERE job = ?1)
             + (SELECT 64 * count(*) FROM event WHERE job = ?1)",
    )?;
    let bytes: i64 = weigh.query_row([key.0], |row| row.get(0))?;
    Ok(usize::try_from(bytes).map_or(true, |bytes| bytes > most))
}

/// A new job with its prompt, in place of the draft.
pub(super) fn add_new_job(
    tx: &Transaction<'_>,
    scope: &Scope,
    text: &str,
    sender: Sender<'_>,
    now: Time,
) -> R<(PromptId, Job)> {
    let scope = scopes::ensure(tx, scope)?;
    let added = add(tx, scope, text, sender, now)?;
    drafts::delete_new_job(tx, scope)?;
    Ok(added)
}

/// A new job about these pages with its prompt, in place of the draft about pages.
pub(super) fn add_job_about(
    tx: &Transaction<'_>,
    scope: &Scope,
    text: &str,
    about: &[CleanText],
    now: Time,
) -> R<(PromptId, Job)> {
    let scope = scopes::ensure(tx, scope)?;
    let (prompt, row) = add(tx, scope, text, Sender::Any, now)?;
    pages::write(tx, row.key, about)?;
    drafts::delete_about_pages(tx, scope)?;
    Ok((prompt, jobs::get(tx, row.key)?))
}

/// Many new jobs, in this order and in place of the draft that says them; a blank one refuses all.
pub(super) fn add_batch(tx: &Transaction<'_>, scope: &Scope, texts: &[String], now: Time) -> R<Vec<Job>> {
    let scope = scopes::ensure(tx, scope)?;
    let rows = texts.iter().map(|text| add(tx, scope, text, Sender::Any, now).map(|(_, row)| row)).collect::<R<_>>()?;
    drafts::delete_batch_of(tx, scope, texts)?;
    Ok(rows)
}

fn add(tx: &Transaction<'_>, scope: i64, text: &str, sender: Sender<'_>, now: Time) -> R<(PromptId, Job)> {
    let title = title(text)?;
    let key = jobs::insert(tx, scope, &title, now)?;
    let prompt = insert(tx, key, PromptKind::Create, text, sender, now)?;
    Ok((prompt, jobs::touch(tx, key)?))
}

/// A follow-up at the end of the job's line, in place of the draft.
pub(super) fn add_follow_up(
    tx: &Transaction<'_>,
    key: JobKey,
    text: &str,
    sender: Sender<'_>,
    now: Time,
) -> R<(PromptId, Job)> {
    title(text)?;
    let key = jobs::current(tx, key)?;
    let prompt = insert(tx, key, PromptKind::FollowUp, text, sender, now)?;
    drafts::delete_follow_up(tx, key)?;
    Ok((prompt, jobs::touch(tx, key)?))
}

/// As [`add_follow_up`], in place of the job's prompts that are known not to have been carried out: those that were rejected
/// or not sent are discarded, so that they don't block the new one. Returns the discarded ones as they were.
pub(super) fn supersede(
    tx: &Transaction<'_>,
    key: JobKey,
    text: &str,
    sender: Sender<'_>,
    now: Time,
) -> R<(PromptId, Job, Vec<Prompt>)> {
    let mut discarded = thread(tx, key)?.prompts;
    discarded.retain(|prompt| prompt.delivery.kind().was_not_carried_out());
    for prompt in &discarded {
        set_discarded(tx, prompt.id, now)?;
    }
    let (id, row) = add_follow_up(tx, key, text, sender, now)?;
    Ok((id, row, discarded))
}

/// Which instance may send a new prompt.
#[derive(Debug, Clone, Copy)]
pub(super) enum Sender<'a> {
    Any,
    /// This one. For all others, and once this one is gone, the prompt is paused.
    Only(&'a str),
}

fn insert(
    tx: &Transaction<'_>,
    key: JobKey,
    kind: PromptKind,
    text: &str,
    sender: Sender<'_>,
    now: Time,
) -> R<PromptId> {
    let only = match sender {
        Sender::Any => None,
        Sender::Only(instance) => Some(instance),
    };
    tx.prepare_cached(
        "INSERT INTO prompt (job, kind, text, state, held, instance, written_at, state_at)
         VALUES (?1, ?2, ?3, 'queued', ?4 IS NOT NULL, ?4, ?5, ?5)",
    )?
    .execute(params![key.0, kind_word(kind), text, only, UnixMillis(now)])?;
    Ok(PromptId(tx.last_insert_rowid()))
}

/// Writes down a prompt as it stood elsewhere. What may be sent by itself is decided before (`model::backup::join`).
pub(super) fn take_in(tx: &Transaction<'_>, key: JobKey, told: &PromptRecord) -> R<PromptId> {
    let (state, held, until) = columns_of(&told.delivery);
    let (state_at, from) = (state_at(told), discarded_from(&told.delivery));
    tx.prepare_cached(
        "INSERT INTO prompt (job, kind, text, state, held, until, reason, written_at, sent_at, state_at, discarded_at,
             discarded_from)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, iif(?4 = 'dismissed', ?10, NULL), ?11)",
    )?
    .execute(params![
        key.0,
        kind_word(told.kind),
        told.text,
        state,
        held,
        until,
        text(told.delivery.reason()),
        UnixMillis(told.written_at),
        ms(told.sent_at),
        UnixMillis(state_at),
        from,
    ])?;
    Ok(PromptId(tx.last_insert_rowid()))
}

/// What a file tells of a prompt takes the place of what was known; it stands at `delivery`.
pub(super) fn becomes(tx: &Transaction<'_>, id: PromptId, delivery: &Delivery, told: &PromptRecord) -> R<()> {
    set(tx, id, delivery, state_at(told))?;
    tx.prepare_cached(
        "UPDATE prompt SET text = ?2, sent_at = coalesce(?3, sent_at), discarded_from = ?4 WHERE id = ?1",
    )?
    .execute(params![id.0, told.text, ms(told.sent_at), discarded_from(delivery)])?;
    Ok(())
}

/// When the state of a prompt in a file began, or the last time before that which the file has.
fn state_at(told: &PromptRecord) -> Time {
    told.state_at.or(told.sent_at).unwrap_or(told.written_at)
}

/// The state that a discarded prompt had before.
fn discarded_from(delivery: &Delivery) -> Option<&'static str> {
    match delivery {
        Delivery::Discarded { from } => from.map(DeliveryKind::word),
        _ => None,
    }
}

/// The first line that shows anything; a text without one is blank, whatever invisible characters it has.
fn title(text: &str) -> R<CleanText> {
    text.lines().map(|line| CleanText::title(line, TITLE)).find(|line| !line.is_empty()).ok_or(StoreError::Blank)
}

/// Puts the prompt into a state, which begins `now`. Only `Sending` has an instance, which `sending` writes.
pub(super) fn set(tx: &Transaction<'_>, id: PromptId, to: &Delivery, now: Time) -> R<()> {
    let (state, held, until) = columns_of(to);
    if matches!(to, Delivery::Queued { .. }) {
        // Whoever alone may send it still may, and for all others it stays paused.
        tx.prepare_cached(
            "UPDATE prompt SET state = ?2, until = ?3, reason = NULL, state_at = ?4, instance = iif(held, instance, NULL),
                 discarded_from = NULL, discarded_at = NULL
             WHERE id = ?1",
        )?
        .execute(params![id.0, state, until, UnixMillis(now)])?;
        return Ok(());
    }
    tx.prepare_cached(
        "UPDATE prompt SET state = ?2, held = ?3, until = ?4, reason = ?5, state_at = ?6, instance = NULL,
             discarded_from = NULL, discarded_at = iif(?2 = 'dismissed', ?6, NULL)
         WHERE id = ?1",
    )?
    .execute(params![id.0, state, held, until, text(to.reason()), UnixMillis(now)])?;
    Ok(())
}

/// A queued prompt has to wait for the limit until then; it has been queued since before.
pub(super) fn wait_until(tx: &Transaction<'_>, id: PromptId, until: Time) -> R<()> {
    tx.prepare_cached("UPDATE prompt SET until = ?2 WHERE id = ?1")?.execute(params![id.0, UnixMillis(until)])?;
    Ok(())
}

/// A delivery as it lies in the columns state, held and until: a paused prompt is a queued one that is held.
fn columns_of(delivery: &Delivery) -> (&'static str, bool, Option<UnixMillis>) {
    let until = match delivery {
        Delivery::Queued { until } => *until,
        _ => None,
    };
    match delivery.kind() {
        DeliveryKind::Paused => (DeliveryKind::Queued.word(), true, None),
        other => (other.stored_word(), false, ms(until)),
    }
}

/// Whether a prompt before this one in the thread is not through.
pub(super) fn is_behind(connection: &Connection, prompt: &StoredPrompt) -> R<bool> {
    let mut ask = connection.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM prompt WHERE job = ?1 AND id < ?2 AND state NOT IN ('accepted', 'dismissed'))",
    )?;
    Ok(ask.query_row([prompt.job.0, prompt.id.0], |row| row.get(0))?)
}

/// Queues the prompt again, at once and not paused any more, with another text if one is given.
pub(super) fn requeue(tx: &Transaction<'_>, id: PromptId, edited: Option<&str>, now: Time) -> R<Job> {
    let prompt = get(tx, id)?;
    if !(prompt.state.needs_user() || matches!(prompt.state, DeliveryKind::Queued | DeliveryKind::Paused)) {
        return Err(StoreError::MovedOn);
    }
    if let Some(text) = edited {
        if prompt.state == DeliveryKind::Unconfirmed {
            return Err(StoreError::NotEditable);
        }
        let title = title(text)?;
        tx.prepare_cached("UPDATE prompt SET text = ?2 WHERE id = ?1")?.execute(params![id.0, text])?;
        if prompt.kind == PromptKind::Create {
            jobs::set_first_line(tx, prompt.job, &title)?;
        }
        drafts::delete_of_prompt(tx, id)?;
    }
    tx.prepare_cached("UPDATE prompt SET held = 0 WHERE id = ?1")?.execute([id.0])?;
    set(tx, id, &Delivery::Queued { until: None }, now)?;
    let mut row = jobs::get(tx, prompt.job)?;
    row.dismissed = false;
    jobs::put(tx, &row)
}

/// Discards one prompt. One that may be on its way right now can't be called back.
pub(super) fn discard(tx: &Transaction<'_>, id: PromptId, now: Time) -> R<Discarded> {
    let prompt = get(tx, id)?;
    if matches!(prompt.state, DeliveryKind::Sending | DeliveryKind::Accepted | DeliveryKind::Discarded) {
        return Err(StoreError::MovedOn);
    }
    set_discarded(tx, id, now)?;
    Ok(Discarded { prompts: vec![id], rows: vec![jobs::touch(tx, prompt.job)?] })
}

/// Discards a prompt and keeps all that [`restore`] needs: its state, until when it waits, why, and its place.
pub(super) fn set_discarded(tx: &Transaction<'_>, id: PromptId, now: Time) -> R<()> {
    tx.prepare_cached(&format!(
        "UPDATE prompt SET discarded_from = {STATE}, discarded_at = ?2, state = 'dismissed', instance = NULL
         WHERE id = ?1"
    ))?
    .execute(params![id.0, UnixMillis(now)])?;
    Ok(())
}

/// Puts discarded prompts back into the state that each had, all or none; gives the rows of their jobs. Refused if one
/// was accepted after all, or if it would be sent after a follow-up that was written later.
pub(super) fn restore(tx: &Transaction<'_>, ids: &[PromptId]) -> R<Vec<Job>> {
    let mut changed = BTreeSet::new();
    for id in ids {
        let prompt = get(tx, *id)?;
        let from: Option<String> = tx
            .prepare_cached("SELECT discarded_from FROM prompt WHERE id = ?1 AND state = 'dismissed'")?
            .query_row([id.0], |row| row.get(0))
            .optional()?
            .flatten();
        let from = from.as_deref().and_then(DeliveryKind::parse).ok_or(StoreError::MovedOn)?;
        let waits = matches!(from, DeliveryKind::Queued | DeliveryKind::Paused);
        if waits && is_overtaken(tx, &prompt)? {
            return Err(StoreError::MovedOn);
        }
        tx.prepare_cached(
            "UPDATE prompt SET state = ?2, held = ?3, discarded_from = NULL, discarded_at = NULL WHERE id = ?1",
        )?
        .execute(params![
            id.0,
            if waits { DeliveryKind::Queued } else { from }.stored_word(),
            from == DeliveryKind::Paused
        ])?;
        changed.insert(prompt.job);
    }
    changed.into_iter().map(|job| jobs::touch(tx, job)).collect()
}

/// Whether a later prompt of the thread has been sent, or is being sent.
fn is_overtaken(connection: &Connection, prompt: &StoredPrompt) -> R<bool> {
    let mut ask = connection.prepare_cached(
        "SELECT EXISTS (SELECT 1 FROM prompt WHERE job = ?1 AND id > ?2
                        AND state IN ('sending', 'accepted', 'unconfirmed'))",
    )?;
    Ok(ask.query_row([prompt.job.0, prompt.id.0], |row| row.get(0))?)
}
