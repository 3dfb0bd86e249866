//! The steps of sending a prompt. Only this module puts a prompt of this computer into `Sending`. Only this module and
//! the repair of a damaged file (`salvage`) take such a prompt out of `Sending`.
//!
//! Each step is one transaction that checks the prompt's current state, so that two instances never send the same
//! prompt.

use super::columns::UnixMillis;
use super::error::{StoreError, StoreResult};
use super::prompts::{self, StoredPrompt};
use super::query::Query as _;
use super::{JobMergeResult, Store, job_rows, jobs, ledgers, scopes};
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::job::{Job, JobKey};
use crate::model::ledger::Wait;
use crate::model::merge;
use crate::model::prompt::{Delivery, DeliveryKind, PromptId, PromptKind};
use crate::model::remote_job::{JobId, RemoteJob, Status};
use crate::model::team::TeamRequestPermission;
use crate::model::text::CleanText;
use rusqlite::{Connection, Transaction, params};

/// The reason that is stored with a prompt that becomes unconfirmed because docdeck ended while sending it.
pub(super) const ABANDONED_REASON: &str =
    "docdeck ended before the answer arrived: the service may or may not have received this prompt";

/// The answer to the request for a permit to send a prompt.
#[derive(Debug, PartialEq, Eq)]
pub enum SendPermit {
    /// The prompt may be sent: it is now `Sending` and its ledger entry is written, both in one transaction that is on
    /// disk.
    Granted { kind: PromptKind, text: String, job: JobKey, id: Option<JobId> },
    /// The hourly limit is used up, or a 429 blocks the request. The prompt stays queued until `until`, a time on the
    /// service's clock.
    Wait { until: Time },
    /// The prompt stays queued, because an earlier prompt of the thread is undelivered, the prompt itself is paused,
    /// or the job of a follow-up has no id yet.
    Blocked,
    /// The prompt is already being sent, its delivery has ended, or it was written on another computer.
    NotQueued,
}

impl Store {
    /// If the prompt may be sent now, marks it as `Sending` and records the request in the ledger
    /// ([`SendPermit::Granted`]). `instance` is the name of this process (see [`Store::abandon_sends`]), `service_time`
    /// is the service's time for the ledger, and `now` is the local time for the prompt.
    pub async fn request_permit(
        &self,
        prompt: PromptId,
        instance: &str,
        now: Time,
        service_time: Time,
    ) -> StoreResult<SendPermit> {
        self.request_permit_with_team_permission(prompt, instance, now, service_time, TeamRequestPermission::NotShared)
            .await
    }

    /// Like [`Self::request_permit`], for a project that is shared with a team. `permission` is the answer of the
    /// team's ledger.
    pub async fn request_permit_with_team_permission(
        &self,
        prompt: PromptId,
        instance: &str,
        now: Time,
        service_time: Time,
        permission: TeamRequestPermission,
    ) -> StoreResult<SendPermit> {
        let instance = instance.to_owned();
        self.write(move |tx| request_permit(tx, prompt, &instance, now, service_time, &permission)).await
    }

    /// Stores that the service accepted the prompt and responded with this job, and returns what changed. Does so even
    /// if another instance has marked the prompt as abandoned in the meantime.
    pub async fn record_accepted_send(
        &self,
        prompt: PromptId,
        job: RemoteJob,
        now: Time,
    ) -> StoreResult<JobMergeResult> {
        self.write(move |tx| record_acceptance(tx, &prompts::read_stored_prompt(tx, prompt)?, &job, now)).await
    }

    /// Stores the outcome of a send that the service did not accept, and returns the job as it is now. Changes nothing
    /// unless the prompt is still `Sending` or `Unconfirmed`. [`Delivery::NotSent`] also refunds the request in the
    /// ledger. After a 429, the caller passes `Queued` as `delivery`, and as `rate_limit` the wait that the service
    /// demands and the time of the response, both in the service's time. No prompt of this kind is sent before this
    /// wait is over.
    pub async fn record_unaccepted_send(
        &self,
        prompt: PromptId,
        delivery: Delivery,
        rate_limit: Option<(Wait, Time)>,
        now: Time,
    ) -> StoreResult<JobMergeResult> {
        self.write(move |tx| {
            let prompt = prompts::read_stored_prompt(tx, prompt)?;
            let unchanged = |job| JobMergeResult { job, events: Vec::new(), title_of_job_with_same_id: None };
            if !matches!(prompt.state, DeliveryKind::Sending | DeliveryKind::Unconfirmed) {
                return job_rows::read_job_or_merge_target(tx, prompt.job).map(unchanged);
            }
            if matches!(delivery, Delivery::NotSent(_)) {
                refund_attempt(tx, &prompt)?;
            }
            if let Some((wait, at)) = rate_limit {
                ledgers::record_rate_limit(tx, &job_scope(tx, prompt.job)?, prompt.kind.quota(), wait, at)?;
            }
            prompts::set_state(tx, prompt.id, &delivery, now)?;
            job_rows::bump_revision_and_derive_columns(tx, prompt.job).map(unchanged)
        })
        .await
    }

    /// Returns the names of the instances that have a prompt in `Sending`.
    pub async fn sending_instances(&self, scope: &Scope) -> StoreResult<Vec<String>> {
        self.read_in_scope(scope, |db, scope| {
            let sql = "SELECT DISTINCT prompt.instance FROM prompt CROSS JOIN job ON job.key = prompt.job
                 WHERE prompt.state = 'sending' AND job.scope = ?1 AND prompt.instance IS NOT NULL
                 ORDER BY prompt.instance";
            db.query_all(sql, [scope], |row| row.get(0))
        })
        .await
    }

    /// Marks as `Unconfirmed` the prompts that `instance` left in `Sending` when it ended. Returns the rows of their
    /// jobs.
    pub async fn abandon_sends(&self, scope: &Scope, instance: &str, now: Time) -> StoreResult<Vec<Job>> {
        let (scope, instance) = (scope.clone(), instance.to_owned());
        self.write(move |tx| {
            let Some(scope) = scopes::find_scope(tx, &scope)? else { return Ok(Vec::new()) };
            let abandoned: Vec<(PromptId, JobKey)> = tx.query_all(
                "SELECT prompt.id, prompt.job FROM prompt CROSS JOIN job ON job.key = prompt.job
                 WHERE prompt.state = 'sending' AND job.scope = ?1 AND prompt.instance = ?2 ORDER BY prompt.id",
                params![scope, instance],
                |row| row.try_into(),
            )?;
            let abandon = |(id, job)| {
                prompts::set_state(tx, id, &Delivery::Unconfirmed(CleanText::line(ABANDONED_REASON)), now)?;
                job_rows::bump_revision_and_derive_columns(tx, job)
            };
            abandoned.into_iter().map(abandon).collect()
        })
        .await
    }

    /// Links a new job, whose prompt is undelivered (usually `Unconfirmed`), to the service's job `job`. If another row
    /// already has the id of `job`, merges that row into the row of the new job.
    pub async fn link_job(&self, prompt: PromptId, job: RemoteJob, now: Time) -> StoreResult<Job> {
        self.write(move |tx| {
            let prompt = prompts::read_local_prompt(tx, prompt)?;
            let mut row = job_rows::read_job_or_merge_target(tx, prompt.job)?;
            if prompt.kind != PromptKind::Create || !prompt.state.needs_user() || row.id.is_some() {
                return Err(StoreError::StateChanged);
            }
            prompts::set_state(tx, prompt.id, &Delivery::Accepted, now)?;
            jobs::assign_id(tx, &mut row, &job.id)?;
            let had_response = row.remote.status.is_some();
            let events = merge::merge_response(&mut row, &job, now);
            if !had_response {
                row.local.started_at = job.created_at.or(prompt.sent_at).unwrap_or(row.local.started_at);
                // The job may have finished a while ago. The response doesn't contain its finish time, so this time is
                // unknown.
                row.local.finished_at = None;
            }
            row.local.dismissed = false;
            job_rows::insert_events(tx, row.key, &events)?;
            job_rows::update_job(tx, &row)
        })
        .await
    }
}

fn request_permit(
    tx: &Transaction<'_>,
    id: PromptId,
    instance: &str,
    now: Time,
    service_time: Time,
    permission: &TeamRequestPermission,
) -> StoreResult<SendPermit> {
    let prompt = prompts::read_stored_prompt(tx, id)?;
    match prompt.state {
        _ if prompt.is_from_other_computer => return Ok(SendPermit::NotQueued),
        DeliveryKind::Queued => {}
        DeliveryKind::Paused if prompt.instance.as_deref() == Some(instance) => {}
        DeliveryKind::Paused => return Ok(SendPermit::Blocked),
        _ => return Ok(SendPermit::NotQueued),
    }
    let row = job_rows::read_job_or_merge_target(tx, prompt.job)?;
    let has_no_target = prompt.kind == PromptKind::FollowUp && row.id.is_none();
    if has_no_target || prompts::has_earlier_undelivered_prompt(tx, &prompt)? {
        return Ok(SendPermit::Blocked);
    }
    // This scope has no organization. None is needed, because the hourly limits of prompts apply per project.
    let scope = job_scope(tx, row.key)?;
    if let Err(Wait { until, .. }) = ledgers::spend(tx, &scope, prompt.kind.quota(), service_time, permission)? {
        // The end of the wait is also stored with the prompt, so that the screen can show it.
        if prompt.wait_until != Some(until) {
            prompts::set_wait_until(tx, id, until)?;
            job_rows::bump_revision_and_derive_columns(tx, row.key)?;
        }
        return Ok(SendPermit::Wait { until });
    }
    let text = tx.query_value(
        "UPDATE prompt SET state = 'sending', until = NULL, reason = NULL, instance = ?2, sent_at = ?3, state_at = ?3,
             paid_at = ?4
         WHERE id = ?1 RETURNING text",
        params![id, instance, UnixMillis(now), UnixMillis(service_time)],
    )?;
    job_rows::bump_revision_and_derive_columns(tx, row.key)?;
    Ok(SendPermit::Granted { kind: prompt.kind, text, job: row.key, id: row.id })
}

/// Deletes the ledger entry of the last attempt to send the prompt.
fn refund_attempt(tx: &Transaction<'_>, prompt: &StoredPrompt) -> StoreResult<()> {
    let paid_at: Option<UnixMillis> = tx.query_value("SELECT paid_at FROM prompt WHERE id = ?1", [prompt.id])?;
    let Some(UnixMillis(paid_at)) = paid_at else { return Ok(()) };
    ledgers::refund_use(tx, &job_scope(tx, prompt.job)?, prompt.kind.quota(), paid_at)?;
    tx.change("UPDATE prompt SET paid_at = NULL WHERE id = ?1", [prompt.id])?;
    Ok(())
}

fn record_acceptance(
    tx: &Transaction<'_>,
    prompt: &StoredPrompt,
    job: &RemoteJob,
    now: Time,
) -> StoreResult<JobMergeResult> {
    let mut events = Vec::new();
    let mut title_of_job_with_same_id = None;
    prompts::set_state(tx, prompt.id, &Delivery::Accepted, now)?;
    let mut row = job_rows::read_job_or_merge_target(tx, prompt.job)?;
    let was_finished = row.remote.is_finished();
    let is_this_job = match prompt.kind {
        PromptKind::Create if row.id.is_none() => {
            title_of_job_with_same_id = title_of_earlier_job(tx, prompt.job, &job.id)?;
            jobs::assign_id(tx, &mut row, &job.id)?;
            true
        }
        _ => row.id.as_ref() == Some(&job.id),
    };
    if is_this_job {
        events = merge::merge_response(&mut row, job, now);
        job_rows::insert_events(tx, row.key, &events)?;
        row.local.dismissed = false;
    } else {
        // The response is about another job than this row: the user decided to send the prompt a second time, or the
        // service responded with an unexpected job. Both jobs must be listed.
        jobs::track_job(tx, job_rows::job_scope_id(tx, row.key)?, job, now)?;
    }
    if prompt.state != DeliveryKind::Accepted && (is_this_job || prompt.kind == PromptKind::FollowUp) {
        if prompt.kind == PromptKind::Create || was_finished {
            row.local.started_at = now;
        }
        if prompt.kind == PromptKind::FollowUp {
            row.local.followed_up_at = Some(now);
            row.local.handled_at = row.local.handled_at.max(Some(now.max(row.local.changed_at)));
            row.local.finished_at = None;
            if row.remote.status != Some(Status::Active) {
                // The service may need a moment to wake the job, so this response may still show its old state. The job
                // therefore counts as not checked yet.
                row.local.checked_at = None;
            }
        }
    }
    Ok(JobMergeResult { job: job_rows::update_job(tx, &row)?, events, title_of_job_with_same_id })
}

/// Returns the title of the other row with this id, if that row's job was created by a prompt from this store.
fn title_of_earlier_job(tx: &Transaction<'_>, key: JobKey, id: &JobId) -> StoreResult<Option<CleanText>> {
    let other = job_rows::find_by_id(tx, job_rows::job_scope_id(tx, key)?, id)?;
    let Some(other) = other.filter(|other| other.key != key) else { return Ok(None) };
    let was_created_by_prompt: bool = tx.query_value(
        "SELECT EXISTS (SELECT 1 FROM prompt WHERE job = ?1 AND kind = 'create' AND state = 'accepted')",
        [other.key],
    )?;
    Ok(was_created_by_prompt.then_some(other.local.title))
}

fn job_scope(db: &Connection, key: JobKey) -> StoreResult<Scope> {
    let sql = "SELECT base_url, project FROM scope JOIN job ON job.scope = scope.id WHERE job.key = ?1";
    let scope = db
        .query_first(sql, [key], |row| Ok(Scope { base_url: row.get(0)?, project: row.get(1)?, organization: None }))?;
    scope.ok_or(StoreError::NoSuchJob)
}
