//! The table of prompts: every prompt is stored here before it is sent. This module also carries out the user's
//! decisions about undelivered prompts. The order of queued prompts is in `queue`, sending is in `sending`.

use super::columns::{
    self, EVENT_COLUMNS, PROMPT_COLUMNS, STATE_SQL, UnixMillis, read_delivery_kind, read_optional_time,
};
use super::error::{StoreError, StoreResult};
use super::query::Query as _;
use super::{Store, drafts, job_rows, pages};
use crate::model::Time;
use crate::model::analytics::signal_snapshot::{JobSnapshots, SignalSnapshot};
use crate::model::backup::PromptRecord;
use crate::model::change::DiscardedPrompts;
use crate::model::endpoint::Scope;
use crate::model::job::{Job, JobKey};
use crate::model::prompt::{Delivery, DeliveryKind, DraftTarget, Prompt, PromptId, PromptKind, Thread, prompt_title};
use crate::model::text::CleanText;
use rusqlite::{Connection, Transaction, params};
use std::collections::BTreeSet;

/// A prompt that created a job, or will create one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecentPrompt {
    pub id: PromptId,
    pub job: JobKey,
    pub text: String,
    pub state: DeliveryKind,
}

impl Store {
    /// Returns the prompts and the events of a job, each oldest first. If the tables contain rows of the job but their
    /// indexes don't, rebuilds the indexes.
    pub async fn thread(&self, job: JobKey) -> StoreResult<Thread> {
        let thread = self.threads(&[job], None).await?.pop().map(|(_, thread)| thread);
        match thread {
            Some(thread) if !(thread.prompts.is_empty() && thread.events.is_empty()) => return Ok(thread),
            _ => {}
        }
        let found = self.read(move |db| read_thread_without_index(db, job)).await?;
        if found.as_ref() != thread.as_ref() {
            self.repair_indexes().await;
        }
        found.ok_or(StoreError::NoSuchJob)
    }

    /// Reads the threads of several jobs in one snapshot (see [`Store::thread`]). Skips unknown jobs and, without
    /// reading them, threads larger than about `max_bytes`.
    pub async fn threads(&self, jobs: &[JobKey], max_bytes: Option<usize>) -> StoreResult<Vec<(JobKey, Thread)>> {
        let jobs = jobs.to_vec();
        self.read(move |db| {
            let mut threads = Vec::with_capacity(jobs.len());
            for key in jobs {
                let current = match job_rows::resolve_merged_key(db, key) {
                    Err(StoreError::NoSuchJob) => continue,
                    current => current?,
                };
                if max_bytes.map_or(Ok(false), |max_bytes| is_thread_larger_than(db, current, max_bytes))? {
                    continue;
                }
                threads.push((key, read_thread_of_resolved_key(db, current)?));
            }
            Ok(threads)
        })
        .await
    }

    /// Adds a job with its queued prompt, and deletes the new-job draft, in one transaction.
    pub async fn add_new_job(&self, scope: &Scope, text: &str, now: Time) -> StoreResult<(PromptId, Job)> {
        self.add_new_job_for_instance(scope, text, None, now).await
    }

    /// Like [`Store::add_new_job`], but if `instance` is given, only the instance with that name may send the prompt.
    /// For other instances, and after that instance has ended, the prompt is paused.
    pub async fn add_new_job_for_instance(
        &self,
        scope: &Scope,
        text: &str,
        instance: Option<&str>,
        now: Time,
    ) -> StoreResult<(PromptId, Job)> {
        let (text, instance) = (text.to_owned(), instance.map(str::to_owned));
        self.write_in_scope(scope, move |tx, scope| {
            drafts::delete_draft(tx, scope, DraftTarget::NewJob)?;
            insert_new_job(tx, scope, &text, instance.as_deref(), now)
        })
        .await
    }

    /// Like [`Store::add_new_job`], but also stores the pages that the job is about, and snapshots of their signals.
    /// Deletes the draft in [`DraftTarget::AboutPages`] instead of the new-job draft.
    pub async fn add_job_about_pages(
        &self,
        scope: &Scope,
        text: &str,
        pages: &[CleanText],
        snapshots: &[SignalSnapshot],
        now: Time,
    ) -> StoreResult<(PromptId, Job)> {
        let (text, about) = (text.to_owned(), pages.to_vec());
        let snapshots = JobSnapshots { before: snapshots.to_vec(), after: Vec::new() };
        self.write_in_scope(scope, move |tx, scope| {
            let (prompt, row) = insert_new_job(tx, scope, &text, None, now)?;
            pages::add_pages(tx, row.key, &about)?;
            pages::add_signal_snapshots(tx, row.key, &snapshots)?;
            drafts::delete_draft(tx, scope, DraftTarget::AboutPages)?;
            Ok((prompt, job_rows::read_job_or_merge_target(tx, row.key)?))
        })
        .await
    }

    /// Queues many new jobs in this order, in one transaction; if one prompt is blank, adds none of them. Also deletes
    /// the batch draft if it contains exactly these prompts.
    pub async fn add_batch(&self, scope: &Scope, prompts: &[String], now: Time) -> StoreResult<Vec<Job>> {
        let texts = prompts.to_vec();
        self.write_in_scope(scope, move |tx, scope| {
            let add = |text: &String| insert_new_job(tx, scope, text, None, now).map(|(_, row)| row);
            let rows = texts.iter().map(add).collect::<StoreResult<_>>()?;
            drafts::delete_matching_batch_draft(tx, scope, &texts)?;
            Ok(rows)
        })
        .await
    }

    /// Queues the last accepted prompt of a failed job again. If this prompt started the job, it is queued as a new job
    /// about the same pages; if it was a follow-up, it is queued as a follow-up to the same job. Keeps all drafts.
    pub async fn retry(&self, job: JobKey, now: Time) -> StoreResult<(PromptId, Job)> {
        self.write(move |tx| {
            let key = job_rows::resolve_merged_key(tx, job)?;
            let row = job_rows::read_job_or_merge_target(tx, key)?;
            if !row.can_retry() {
                return Err(StoreError::StateChanged);
            }
            let is_accepted = |prompt: &Prompt| prompt.delivery == Delivery::Accepted;
            let last = read_thread_of_resolved_key(tx, key)?
                .prompts
                .into_iter()
                .rfind(is_accepted)
                .ok_or(StoreError::NoSuchPrompt)?;
            if last.kind == PromptKind::FollowUp {
                let prompt = insert_prompt(tx, key, PromptKind::FollowUp, &last.text, None, now)?;
                return Ok((prompt, job_rows::bump_revision_and_derive_columns(tx, key)?));
            }
            let scope = job_rows::job_scope_id(tx, key)?;
            let (prompt, new) = insert_new_job(tx, scope, &last.text, None, now)?;
            pages::add_pages(tx, new.key, &row.local.pages)?;
            pages::copy_signal_snapshots(tx, key, new.key)?;
            Ok((prompt, job_rows::read_job_or_merge_target(tx, new.key)?))
        })
        .await
    }

    /// Queues a follow-up behind the earlier prompts of the job, and deletes the job's draft, in one transaction.
    pub async fn add_follow_up(&self, job: JobKey, text: &str, now: Time) -> StoreResult<(PromptId, Job)> {
        self.add_follow_up_for_instance(job, text, None, now).await
    }

    /// Like [`Store::add_follow_up`], but if `instance` is given, only the instance with that name may send the
    /// follow-up (see [`Store::add_new_job_for_instance`]).
    pub async fn add_follow_up_for_instance(
        &self,
        job: JobKey,
        text: &str,
        instance: Option<&str>,
        now: Time,
    ) -> StoreResult<(PromptId, Job)> {
        let (text, instance) = (text.to_owned(), instance.map(str::to_owned));
        self.write(move |tx| add_follow_up(tx, job, &text, instance.as_deref(), now)).await
    }

    /// Like [`Store::add_follow_up`], but first discards the job's prompts that are `Rejected` or `NotSent`, since they
    /// would block the new prompt. Returns the discarded prompts as they were before. If `instance` is given, only the
    /// instance with that name may send the new prompt.
    pub async fn add_follow_up_discarding_undelivered(
        &self,
        job: JobKey,
        text: &str,
        instance: Option<&str>,
        now: Time,
    ) -> StoreResult<(PromptId, Job, Vec<Prompt>)> {
        let (text, instance) = (text.to_owned(), instance.map(str::to_owned));
        self.write(move |tx| {
            let mut discarded = read_thread(tx, job)?.prompts;
            discarded.retain(|prompt| prompt.author.is_none() && prompt.delivery.kind().certainly_had_no_effect());
            for prompt in &discarded {
                set_discarded(tx, prompt.id, now)?;
            }
            let (id, row) = add_follow_up(tx, job, &text, instance.as_deref(), now)?;
            Ok((id, row, discarded))
        })
        .await
    }

    /// Returns prompts of new jobs, oldest first: all that are queued or being sent, and the `Accepted`, `Unconfirmed`
    /// and `NotSent` ones that were sent at `since` or later. If a prompt was never sent, the time at which it was
    /// written counts instead.
    pub async fn recent_prompts(&self, scope: &Scope, since: Time) -> StoreResult<Vec<RecentPrompt>> {
        self.read_in_scope(scope, move |db, scope| {
            let sql =
                "SELECT prompt.id, prompt.job, prompt.text, state, paused FROM prompt JOIN job ON key = prompt.job
                 WHERE job.scope = ?1 AND kind = 'create'
                   AND (state IN ('queued', 'sending')
                        OR (state IN ('accepted', 'unconfirmed', 'not sent') AND coalesce(sent_at, written_at) >= ?2))
                 ORDER BY prompt.id";
            db.query_all(sql, params![scope, UnixMillis(since)], |row| {
                let state = read_delivery_kind(row)?;
                Ok(RecentPrompt { id: row.get(0)?, job: row.get(1)?, text: row.get(2)?, state })
            })
        })
        .await
    }

    /// Queues an undelivered prompt again, with the text `new_text` if it is given. The prompt is no longer paused and
    /// no longer waits for the hourly limit, and its job is no longer dismissed. Fails if `new_text` is given for an
    /// unconfirmed prompt, since the agent may have carried out the original text. To send the prompt, the caller then
    /// needs a permit from [`Store::request_permit_with_team_permission`].
    pub async fn requeue(&self, prompt: PromptId, new_text: Option<&str>, now: Time) -> StoreResult<Job> {
        let new_text = new_text.map(str::to_owned);
        self.write(move |tx| {
            let prompt = read_local_prompt(tx, prompt)?;
            if !(prompt.state.needs_user() || matches!(prompt.state, DeliveryKind::Queued | DeliveryKind::Paused)) {
                return Err(StoreError::StateChanged);
            }
            if let Some(text) = new_text {
                if prompt.state == DeliveryKind::Unconfirmed {
                    return Err(StoreError::NotEditable);
                }
                let title = title_of_prompt_text(&text)?;
                tx.change("UPDATE prompt SET text = ?2 WHERE id = ?1", params![prompt.id, text])?;
                if prompt.kind == PromptKind::Create {
                    job_rows::set_default_title(tx, prompt.job, &title)?;
                }
                drafts::delete_draft(tx, job_rows::job_scope_id(tx, prompt.job)?, DraftTarget::Prompt(prompt.id))?;
            }
            tx.change("UPDATE prompt SET paused = 0 WHERE id = ?1", [prompt.id])?;
            set_state(tx, prompt.id, &Delivery::Queued { until: None }, now)?;
            let mut row = job_rows::read_job_or_merge_target(tx, prompt.job)?;
            row.local.dismissed = false;
            job_rows::update_job(tx, &row)
        })
        .await
    }

    /// Discards a prompt. Fails if the prompt is being sent, was accepted, or is already discarded.
    pub async fn discard_prompt(&self, prompt: PromptId, now: Time) -> StoreResult<DiscardedPrompts> {
        self.write(move |tx| {
            let prompt = read_local_prompt(tx, prompt)?;
            if matches!(prompt.state, DeliveryKind::Sending | DeliveryKind::Accepted | DeliveryKind::Discarded) {
                return Err(StoreError::StateChanged);
            }
            set_discarded(tx, prompt.id, now)?;
            Ok(DiscardedPrompts {
                prompts: vec![prompt.id],
                jobs: vec![job_rows::bump_revision_and_derive_columns(tx, prompt.job)?],
            })
        })
        .await
    }

    /// Restores these discarded prompts to their previous states. Restores none if one of them can't be restored.
    /// Returns the rows of their jobs.
    ///
    /// # Errors
    /// [`StoreError::StateChanged`] if one of the prompts is no longer discarded (it may have been accepted late), or
    /// if one of them would be queued again although a later prompt of its job has been sent.
    pub async fn restore_prompts(&self, prompts: &[PromptId]) -> StoreResult<Vec<Job>> {
        let prompts = prompts.to_vec();
        self.write(move |tx| {
            let mut changed = BTreeSet::new();
            for id in prompts {
                changed.insert(restore_prompt(tx, id)?);
            }
            changed.into_iter().map(|job| job_rows::bump_revision_and_derive_columns(tx, job)).collect()
        })
        .await
    }
}

/// The columns of a prompt that determine which actions are allowed.
#[derive(Debug)]
pub(super) struct StoredPrompt {
    pub(super) id: PromptId,
    pub(super) job: JobKey,
    pub(super) kind: PromptKind,
    pub(super) state: DeliveryKind,
    /// The instance that is sending the prompt, or the only instance that may send it; otherwise `None`.
    pub(super) instance: Option<String>,
    /// Until when a queued prompt waits for the hourly limit.
    pub(super) wait_until: Option<Time>,
    pub(super) sent_at: Option<Time>,
    /// Whether the prompt was written on another computer (see [`Prompt::author`]).
    pub(super) is_from_other_computer: bool,
}

pub(super) fn read_stored_prompt(db: &Connection, id: PromptId) -> StoreResult<StoredPrompt> {
    let sql = "SELECT job, kind, state, paused, until, sent_at, instance, author IS NOT NULL AS is_from_other_computer
         FROM prompt WHERE id = ?1";
    let prompt = db.query_first(sql, [id], |row| {
        Ok(StoredPrompt {
            id,
            job: row.get("job")?,
            kind: row.get("kind")?,
            state: read_delivery_kind(row)?,
            wait_until: read_optional_time(row, "until")?,
            sent_at: read_optional_time(row, "sent_at")?,
            instance: row.get("instance")?,
            is_from_other_computer: row.get("is_from_other_computer")?,
        })
    })?;
    prompt.ok_or(StoreError::NoSuchPrompt)
}

/// Like [`read_stored_prompt`], but fails if the prompt was written on another computer: only that computer may change
/// it.
pub(super) fn read_local_prompt(db: &Connection, id: PromptId) -> StoreResult<StoredPrompt> {
    let prompt = read_stored_prompt(db, id)?;
    if prompt.is_from_other_computer { Err(StoreError::WrittenElsewhere) } else { Ok(prompt) }
}

/// Reads the prompts and events of a job. If the job's row was merged into another row, reads those of the other row.
pub(super) fn read_thread(db: &Connection, key: JobKey) -> StoreResult<Thread> {
    read_thread_of_resolved_key(db, job_rows::resolve_merged_key(db, key)?)
}

/// Like [`read_thread`], for a row that must not have been merged into another row.
pub(super) fn read_thread_of_resolved_key(db: &Connection, key: JobKey) -> StoreResult<Thread> {
    select_thread(db, key, "", "id")
}

/// Like [`read_thread`], but works even if the indexes or the order of the rows are damaged: it relies on neither.
/// Returns `None` if there is no such job.
fn read_thread_without_index(db: &Connection, key: JobKey) -> StoreResult<Option<Thread>> {
    // The plus sign keeps SQLite from looking up the key in the tree of the table.
    let current = "SELECT coalesce(merged_into, key) FROM job NOT INDEXED WHERE +key = ?1";
    let Some(key) = db.query_first(current, [key], |row| row.get(0))? else { return Ok(None) };
    select_thread(db, key, "NOT INDEXED", "+id").map(Some)
}

fn select_thread(db: &Connection, key: JobKey, index_hint: &str, id_order: &str) -> StoreResult<Thread> {
    let prompts = format!("SELECT {PROMPT_COLUMNS} FROM prompt {index_hint} WHERE job = ?1 ORDER BY {id_order}");
    let events = format!("SELECT {EVENT_COLUMNS} FROM event {index_hint} WHERE job = ?1 ORDER BY at, {id_order}");
    Ok(Thread {
        prompts: db.query_all(&prompts, [key], columns::read_prompt)?,
        events: db.query_all(&events, [key], columns::read_event)?,
    })
}

/// Whether the thread is larger than about `max_bytes`. Reads only the headers of its rows, not the pages that contain
/// the rest of a long text.
fn is_thread_larger_than(db: &Connection, key: JobKey, max_bytes: usize) -> StoreResult<bool> {
    let bytes: i64 = db.query_value(
        "SELECT (SELECT coalesce(sum(octet_length(text)), 0) FROM prompt WHERE job = ?1)
             + (SELECT 64 * count(*) FROM event WHERE job = ?1)",
        [key],
    )?;
    Ok(usize::try_from(bytes).map_or(true, |bytes| bytes > max_bytes))
}

/// Adds a job with its queued prompt. If `instance` is given, only the instance with that name may send the prompt.
fn insert_new_job(
    tx: &Transaction<'_>,
    scope: i64,
    text: &str,
    instance: Option<&str>,
    now: Time,
) -> StoreResult<(PromptId, Job)> {
    let key = job_rows::insert_job(tx, scope, &title_of_prompt_text(text)?, now)?;
    let prompt = insert_prompt(tx, key, PromptKind::Create, text, instance, now)?;
    Ok((prompt, job_rows::bump_revision_and_derive_columns(tx, key)?))
}

/// Adds a follow-up at the end of the job's queue, and deletes the job's draft. If `instance` is given, only the
/// instance with that name may send the prompt.
fn add_follow_up(
    tx: &Transaction<'_>,
    key: JobKey,
    text: &str,
    instance: Option<&str>,
    now: Time,
) -> StoreResult<(PromptId, Job)> {
    title_of_prompt_text(text)?;
    let key = job_rows::resolve_merged_key(tx, key)?;
    let prompt = insert_prompt(tx, key, PromptKind::FollowUp, text, instance, now)?;
    drafts::delete_draft(tx, job_rows::job_scope_id(tx, key)?, DraftTarget::FollowUp(key))?;
    Ok((prompt, job_rows::bump_revision_and_derive_columns(tx, key)?))
}

fn insert_prompt(
    tx: &Transaction<'_>,
    key: JobKey,
    kind: PromptKind,
    text: &str,
    instance: Option<&str>,
    now: Time,
) -> StoreResult<PromptId> {
    // If `instance` is given, the prompt is paused for all other instances.
    let id = tx.insert(
        "INSERT INTO prompt (job, kind, text, state, paused, instance, written_at, state_at)
         VALUES (?1, ?2, ?3, 'queued', ?4 IS NOT NULL, ?4, ?5, ?5)",
        params![key, kind, text, instance, UnixMillis(now)],
    )?;
    Ok(PromptId(id))
}

/// Adds a prompt from a backup or from the team to a job, with the delivery in `record`. The caller must make sure that
/// this computer doesn't send a prompt that another computer may send (see `model::backup::merge_rules`).
pub(super) fn insert_imported_prompt(
    tx: &Transaction<'_>,
    key: JobKey,
    record: &PromptRecord,
) -> StoreResult<PromptId> {
    let (state, paused, until) = delivery_columns(&record.delivery);
    let (state_at, from) = (state_entered_at(record), state_before_discard(&record.delivery));
    let id = tx.insert(
        "INSERT INTO prompt (job, kind, text, state, paused, until, reason, written_at, sent_at, state_at, discarded_at,
             discarded_from, author)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, iif(?4 = 'dismissed', ?10, NULL), ?11, ?12)",
        params![
            key,
            record.kind,
            record.text,
            state,
            paused,
            until,
            record.delivery.reason(),
            UnixMillis(record.written_at),
            record.sent_at.map(UnixMillis),
            UnixMillis(state_at),
            from,
            record.author,
        ],
    )?;
    Ok(PromptId(id))
}

/// Sets the state of a stored prompt to `delivery`. `record` is a copy of the prompt from a backup or from the team:
/// the text, the time of sending and the start of the state are taken from it.
pub(super) fn update_imported_prompt(
    tx: &Transaction<'_>,
    id: PromptId,
    delivery: &Delivery,
    record: &PromptRecord,
) -> StoreResult<()> {
    set_state(tx, id, delivery, state_entered_at(record))?;
    tx.change(
        "UPDATE prompt SET text = ?2, sent_at = coalesce(?3, sent_at), discarded_from = ?4 WHERE id = ?1",
        params![id, record.text, record.sent_at.map(UnixMillis), state_before_discard(delivery)],
    )?;
    Ok(())
}

/// Returns the time at which an imported prompt entered its state. If `record` doesn't contain this time, returns the
/// time at which the prompt was sent or, if it was never sent, the time at which it was written.
fn state_entered_at(record: &PromptRecord) -> Time {
    record.state_at.or(record.sent_at).unwrap_or(record.written_at)
}

/// Returns the name of the state that a discarded prompt had before; `None` if that state is unknown, or if the prompt
/// is not discarded.
fn state_before_discard(delivery: &Delivery) -> Option<&'static str> {
    match delivery {
        Delivery::Discarded { from } => from.map(DeliveryKind::word),
        _ => None,
    }
}

/// Returns the first line with a visible character, as the title. Fails if the text is blank.
pub(super) fn title_of_prompt_text(text: &str) -> StoreResult<CleanText> {
    Some(prompt_title(text)).filter(|title| !title.is_empty()).ok_or(StoreError::BlankPrompt)
}

/// Puts the prompt into the state `to`, which begins at `now`. Clears the prompt's instance, unless the prompt is
/// reserved for that instance and `to` is `Queued`. Must not be called with `Sending`:
/// [`Store::request_permit_with_team_permission`] sets that state together with the instance.
pub(super) fn set_state(tx: &Transaction<'_>, id: PromptId, to: &Delivery, now: Time) -> StoreResult<()> {
    let (state, paused, until) = delivery_columns(to);
    if matches!(to, Delivery::Queued { .. }) {
        // `paused` keeps its value. A paused prompt also keeps its instance, because it is reserved for that instance.
        tx.change(
            "UPDATE prompt SET state = ?2, until = ?3, reason = NULL, state_at = ?4,
                 instance = iif(paused, instance, NULL), discarded_from = NULL, discarded_at = NULL
             WHERE id = ?1",
            params![id, state, until, UnixMillis(now)],
        )?;
        return Ok(());
    }
    tx.change(
        "UPDATE prompt SET state = ?2, paused = ?3, until = ?4, reason = ?5, state_at = ?6, instance = NULL,
             discarded_from = NULL, discarded_at = iif(?2 = 'dismissed', ?6, NULL)
         WHERE id = ?1",
        params![id, state, paused, until, to.reason(), UnixMillis(now)],
    )?;
    Ok(())
}

/// Stores until when a queued prompt has to wait for the hourly limit. The start of its state stays the same.
pub(super) fn set_wait_until(tx: &Transaction<'_>, id: PromptId, until: Time) -> StoreResult<()> {
    tx.change("UPDATE prompt SET until = ?2 WHERE id = ?1", params![id, UnixMillis(until)])?;
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
        other => (other.stored_word(), false, until.map(UnixMillis)),
    }
}

/// Whether an earlier prompt of the thread is neither accepted nor discarded: such a prompt blocks this one, even if it
/// is only queued. Prompts of other computers don't block this one.
pub(super) fn has_earlier_undelivered_prompt(db: &Connection, prompt: &StoredPrompt) -> StoreResult<bool> {
    db.query_value(
        "SELECT EXISTS (SELECT 1 FROM prompt WHERE job = ?1 AND id < ?2 AND state NOT IN ('accepted', 'dismissed')
                        AND author IS NULL)",
        params![prompt.job, prompt.id],
    )
}

/// Discards a prompt. Stores its previous state, and keeps its wait, reason and position in the queue, so that
/// [`Store::restore_prompts`] can bring them back.
pub(super) fn set_discarded(tx: &Transaction<'_>, id: PromptId, now: Time) -> StoreResult<()> {
    let sql = format!(
        "UPDATE prompt SET discarded_from = {STATE_SQL}, discarded_at = ?2, state = 'dismissed', instance = NULL
         WHERE id = ?1"
    );
    tx.change(&sql, params![id, UnixMillis(now)])?;
    Ok(())
}

/// Restores a discarded prompt, and returns its job. The caller must then call
/// [`job_rows::bump_revision_and_derive_columns`].
fn restore_prompt(tx: &Transaction<'_>, id: PromptId) -> StoreResult<JobKey> {
    let prompt = read_local_prompt(tx, id)?;
    let from = "SELECT coalesce(discarded_from, '') FROM prompt WHERE id = ?1 AND state = 'dismissed'";
    let from: Option<String> = tx.query_first(from, [id], |row| row.get(0))?;
    let from = from.as_deref().and_then(DeliveryKind::parse).ok_or(StoreError::StateChanged)?;
    let was_queued = matches!(from, DeliveryKind::Queued | DeliveryKind::Paused);
    if was_queued && has_later_sent_prompt(tx, &prompt)? {
        return Err(StoreError::StateChanged);
    }
    let state = if was_queued { DeliveryKind::Queued } else { from };
    tx.change(
        "UPDATE prompt SET state = ?2, paused = ?3, discarded_from = NULL, discarded_at = NULL WHERE id = ?1",
        params![id, state, from == DeliveryKind::Paused],
    )?;
    Ok(prompt.job)
}

/// Whether a later prompt of the thread was sent or is being sent.
fn has_later_sent_prompt(db: &Connection, prompt: &StoredPrompt) -> StoreResult<bool> {
    db.query_value(
        "SELECT EXISTS (SELECT 1 FROM prompt WHERE job = ?1 AND id > ?2
                        AND state IN ('sending', 'accepted', 'unconfirmed'))",
        params![prompt.job, prompt.id],
    )
}
