//! The local side of sharing jobs with a team: which projects are shared, the team's state of the jobs, and the outbox.
//! The rules for merging are in `model::team` and `model::backup::merge_rules`, the exchange with the database is in
//! `team`.
//!
//! The rest of the store needs no code for the team: an exchange finds changed jobs by their revisions, and compares
//! them with the state that the team has.

use super::columns::{UnixMillis, read_optional_time};
use super::error::StoreResult;
use super::query::Query as _;
use super::{Store, job_rows, kv, labels, prompts, team_reports, unreported_requests};
use crate::model::Time;
use crate::model::backup::PromptRecord;
use crate::model::backup::merge_rules::{PromptMerge, decide_merge, delivery_after_import};
use crate::model::endpoint::Scope;
use crate::model::hash::stable_hash;
use crate::model::job::{Job, JobKey};
use crate::model::prompt::{Delivery, DeliveryKind, Prompt, PromptId, PromptKind, prompt_title};
use crate::model::remote_job::JobId;
use crate::model::team::{
    IncomingChange, OutgoingChange, PromptUid, SharedJob, SharedPrompt, TeamBatch, TeamClock, apply_shared_job,
    job_change,
};
use chrono::TimeDelta;
use rusqlite::{Connection, Transaction, params};
use std::collections::HashMap;

/// Once a batch has this many jobs and prompts in total, no further jobs are added to it.
const BATCH_SIZE: usize = 200;
/// How many changed jobs are read and compared at a time.
const JOBS_PER_COMPARISON: i64 = 500;
/// When a computer first receives a job that has not changed for this time, the job counts as handled. Otherwise, a new
/// member would find all old pull requests of the team under "needs you".
const HANDLED_IF_UNCHANGED_FOR: TimeDelta = TimeDelta::days(7);
/// The key under which the random id of this computer is stored. The id is kept when the computer leaves the team, so
/// that joining again doesn't share each prompt a second time.
const MEMBER_KEY: &str = "team-member";
/// Stored instead of the hash of a job's prompts if the job must be sent again, because the database may have lost it.
const RESEND_MARKER: i64 = -1;

/// How a project is shared with a team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamMembership {
    /// The organization in the team's database, not that of a [`Scope`].
    pub organization: String,
    /// The random id of this computer.
    pub member_id: String,
    /// The number of the last change that was received.
    pub cursor: i64,
    /// The batch to which the last received change belongs.
    pub cursor_batch: Option<String>,
    /// The number of the change up to which all reports were received.
    pub report_cursor: i64,
    /// The batch to which the change with the number `report_cursor` belongs.
    pub report_cursor_batch: Option<String>,
    /// When the last exchange ended.
    pub exchanged_at: Option<Time>,
}

impl Store {
    /// Whether any project is shared.
    pub async fn shares_projects(&self) -> StoreResult<bool> {
        self.read(|db| db.query_value("SELECT EXISTS (SELECT 1 FROM team)", [])).await
    }

    /// Returns how the project is shared; `None` if it is not shared.
    pub async fn team_membership(&self, scope: &Scope) -> StoreResult<Option<TeamMembership>> {
        self.read_in_scope(scope, read_membership).await
    }

    /// Shares the project with this organization, and stops sharing it with any other organization. Changes nothing if
    /// the project is already shared with this organization.
    pub async fn join_team(&self, scope: &Scope, organization: &str) -> StoreResult<TeamMembership> {
        let organization = organization.to_owned();
        let full_scope = scope.clone();
        self.write_in_scope(scope, move |tx, scope| {
            let known = read_membership(tx, scope)?;
            if let Some(known) = known.filter(|known| known.organization == organization) {
                return Ok(known);
            }
            delete_membership(tx, scope)?;
            let member_id = match kv::get(tx, MEMBER_KEY)? {
                Some(member_id) => member_id,
                None => {
                    let member_id = random_id();
                    kv::set(tx, MEMBER_KEY, &member_id)?;
                    member_id
                }
            };
            tx.change(
                "INSERT INTO team (scope, organization, member) VALUES (?1, ?2, ?3)",
                params![scope, organization, member_id],
            )?;
            unreported_requests::mark_all_unreported(tx, &full_scope)?;
            let (cursor_batch, report_cursor_batch, exchanged_at) = (None, None, None);
            Ok(TeamMembership {
                organization,
                member_id,
                cursor: 0,
                cursor_batch,
                report_cursor: 0,
                report_cursor_batch,
                exchanged_at,
            })
        })
        .await
    }

    /// Stops sharing the project. All jobs and prompts stay on this computer.
    pub async fn leave_team(&self, scope: &Scope) -> StoreResult<()> {
        self.write_in_scope(scope, delete_membership).await
    }

    /// Returns the batch of an earlier exchange that the database has not confirmed. It must be sent before anything is
    /// received: otherwise its changes would seem to be later than the received ones.
    pub async fn unconfirmed_team_batch(&self, scope: &Scope) -> StoreResult<Option<TeamBatch>> {
        self.read_in_scope(scope, read_outbox).await
    }

    /// Whether jobs have changed since they were last compared with the team's state, or a batch is not confirmed.
    pub async fn has_unsent_team_changes(&self, scope: &Scope) -> StoreResult<bool> {
        self.read_in_scope(scope, has_unsent_team_changes).await
    }

    /// Compares the changed jobs with the team's state, stores the differences as a batch in the outbox, and returns
    /// this batch. If the outbox already has a batch, returns that one. Returns `None` if nothing changed.
    pub async fn next_outgoing_team_batch(
        &self,
        scope: &Scope,
        author: &str,
        clock: TeamClock,
    ) -> StoreResult<Option<TeamBatch>> {
        if !self.has_unsent_team_changes(scope).await? {
            return Ok(None);
        }
        let author = author.to_owned();
        self.write_in_scope(scope, move |tx, scope| {
            if let Some(batch) = read_outbox(tx, scope)? {
                return Ok(Some(batch));
            }
            let Some(team) = read_membership(tx, scope)? else { return Ok(None) };
            loop {
                let compared = compare_jobs(tx, scope, &team.member_id, &author, clock)?;
                if compared.changes.is_empty() {
                    set_compared_revision(tx, scope, compared.revision)?;
                    if compared.is_complete {
                        return Ok(None);
                    }
                    continue;
                }
                let batch = TeamBatch { id: random_id(), revision: compared.revision, changes: compared.changes };
                let text = serde_json::to_string(&batch).unwrap_or_default();
                let sql = "UPDATE team SET batch = ?2, changes = ?3 WHERE scope = ?1";
                tx.change(sql, params![scope, batch.id, text])?;
                return Ok(Some(batch));
            }
        })
        .await
    }

    /// Returns how many jobs have changes that were not sent yet. Counts only the jobs that fit into one batch, at most
    /// 200.
    pub async fn count_unsent_team_jobs(&self, scope: &Scope) -> StoreResult<usize> {
        self.read_in_scope(scope, |db, scope| {
            let Some(team) = read_membership(db, scope)? else { return Ok(0) };
            Ok(compare_jobs(db, scope, &team.member_id, "", TeamClock::default())?.changes.len())
        })
        .await
    }

    /// Removes a batch from the outbox after the database has stored it. `stamp` is the time of the write, on the clock
    /// of the database. Adds the changes to the team's state, so that they are not sent again, even if another member
    /// changes the same fields before this computer receives anything.
    pub async fn confirm_team_batch(&self, scope: &Scope, batch: &TeamBatch, stamp: Time) -> StoreResult<()> {
        let batch = batch.clone();
        self.write_in_scope(scope, move |tx, scope| {
            for change in &batch.changes {
                let Some(id) = JobId::new(&change.job) else { continue };
                let Some(job) = job_rows::find_by_id(tx, scope, &id)? else { continue };
                let (mut known, _) = read_team_state(tx, job.key)?.unwrap_or_default();
                known.merge(&change.change.to_shared_job(stamp));
                write_team_state(tx, job.key, &known, change.prompts_hash)?;
            }
            set_compared_revision(tx, scope, batch.revision)?;
            let sql = "UPDATE team SET batch = NULL, changes = NULL WHERE scope = ?1 AND batch = ?2";
            tx.change(sql, params![scope, batch.id])?;
            Ok(())
        })
        .await
    }

    /// Merges received changes and stores the new cursor, in one transaction. Returns how many of the changes were new.
    /// Merging the same changes again changes nothing.
    pub async fn merge_team_changes(
        &self,
        scope: &Scope,
        changes: Vec<IncomingChange>,
        cursor: (i64, Option<String>),
        clock: TeamClock,
        now: Time,
    ) -> StoreResult<usize> {
        self.write_in_scope(scope, move |tx, scope| {
            let Some(team) = read_membership(tx, scope)? else { return Ok(0) };
            let mut new_count = 0;
            let mut has_unsent_changes = has_unsent_team_changes(tx, scope)?;
            let merge = TeamMerge { tx, scope, member_id: &team.member_id, clock, now };
            for change in &changes {
                let (is_new, has_unsent_rest) = match change {
                    IncomingChange::Job(id, state) => merge.merge_job(id, state)?,
                    IncomingChange::Prompt(id, prompt) => {
                        (merge.merge_prompt(id, prompt)?, prompt.uid.is_by(&team.member_id))
                    }
                };
                new_count += usize::from(is_new);
                has_unsent_changes |= has_unsent_rest;
            }
            if !has_unsent_changes {
                // All jobs up to the last revision count as compared: earlier changes were compared before, and the
                // changes that were just merged come from the team, so the team has them.
                let revision = "SELECT coalesce(max(revision), 0) FROM job WHERE scope = ?1";
                set_compared_revision(tx, scope, tx.query_value(revision, [scope])?)?;
            }
            let (number, batch) = cursor;
            let sql = "UPDATE team SET cursor = ?2, cursor_batch = ?3 WHERE scope = ?1";
            tx.change(sql, params![scope, number, batch])?;
            Ok(new_count)
        })
        .await
    }

    /// Resets the cursors and the outbox, for use when the team's database was restored from an older copy: the next
    /// exchange receives everything again, and sends all jobs and reports of this computer.
    pub async fn reset_team_exchange(&self, scope: &Scope) -> StoreResult<()> {
        let full_scope = scope.clone();
        self.write_in_scope(scope, move |tx, scope| {
            unreported_requests::mark_all_unreported(tx, &full_scope)?;
            // Also clears the outbox, since its batch was computed from a state that the database no longer has.
            tx.change(
                "UPDATE team SET cursor = 0, cursor_batch = NULL, pushed_revision = 0, batch = NULL, changes = NULL,
                     report_cursor = 0, report_batch = NULL
                 WHERE scope = ?1",
                [scope],
            )?;
            team_reports::mark_reports_unsent(tx, scope)?;
            let sql = "UPDATE team_job SET prompts = ?2 WHERE job IN (SELECT key FROM job WHERE scope = ?1)";
            tx.change(sql, [scope, RESEND_MARKER])?;
            Ok(())
        })
        .await
    }

    /// Stores when an exchange ended.
    pub async fn record_team_exchange(&self, scope: &Scope, now: Time) -> StoreResult<()> {
        self.write_in_scope(scope, move |tx, scope| {
            tx.change("UPDATE team SET exchanged_at = ?2 WHERE scope = ?1", params![scope, UnixMillis(now)])?;
            Ok(())
        })
        .await
    }
}

fn random_id() -> String {
    format!("{:032x}", fastrand::u128(..))
}

fn read_membership(db: &Connection, scope: i64) -> StoreResult<Option<TeamMembership>> {
    let sql = "SELECT organization, member, cursor, cursor_batch, report_cursor, report_batch, exchanged_at
         FROM team WHERE scope = ?1";
    db.query_first(sql, [scope], |row| {
        Ok(TeamMembership {
            organization: row.get(0)?,
            member_id: row.get(1)?,
            cursor: row.get(2)?,
            cursor_batch: row.get(3)?,
            report_cursor: row.get(4)?,
            report_cursor_batch: row.get(5)?,
            exchanged_at: read_optional_time(row, 6)?,
        })
    })
}

fn read_outbox(db: &Connection, scope: i64) -> StoreResult<Option<TeamBatch>> {
    let stored = "SELECT changes FROM team WHERE scope = ?1 AND batch IS NOT NULL";
    let stored: Option<String> = db.query_first(stored, [scope], |row| row.get(0))?;
    // The file may have been edited by hand. An unreadable batch is created again, with another id.
    Ok(stored.and_then(|stored| serde_json::from_str(&stored).ok()))
}

fn has_unsent_team_changes(db: &Connection, scope: i64) -> StoreResult<bool> {
    let sql = "SELECT batch IS NOT NULL OR EXISTS (
             SELECT 1 FROM job WHERE job.scope = team.scope AND job.revision > team.pushed_revision)
         FROM team WHERE scope = ?1";
    Ok(db.query_first(sql, [scope], |row| row.get(0))?.unwrap_or_default())
}

fn delete_membership(tx: &Transaction<'_>, scope: i64) -> StoreResult<()> {
    tx.change("DELETE FROM team_job WHERE job IN (SELECT key FROM job WHERE scope = ?1)", [scope])?;
    team_reports::forget_team_versions(tx, scope)?;
    tx.change("DELETE FROM team WHERE scope = ?1", [scope])?;
    Ok(())
}

/// Stores the revision up to which all jobs were compared with the team's state.
fn set_compared_revision(tx: &Transaction<'_>, scope: i64, revision: i64) -> StoreResult<()> {
    tx.change("UPDATE team SET pushed_revision = ?2 WHERE scope = ?1", [scope, revision])?;
    Ok(())
}

/// The result of comparing jobs with the team's state.
#[derive(Debug, Default)]
struct ComparedJobs {
    changes: Vec<OutgoingChange>,
    /// The revision up to which jobs were compared.
    revision: i64,
    /// Whether all changed jobs were compared.
    is_complete: bool,
}

/// Returns the job's state as the team has it, and the hash of the prompts that were last sent, or [`RESEND_MARKER`].
fn read_team_state(db: &Connection, key: JobKey) -> StoreResult<Option<(SharedJob, i64)>> {
    let known: Option<(String, i64)> =
        db.query_first("SELECT state, prompts FROM team_job WHERE job = ?1", [key], |row| row.try_into())?;
    // The file may have been edited by hand. An unreadable state counts as empty.
    Ok(known.map(|(state, prompts)| (serde_json::from_str(&state).unwrap_or_default(), prompts)))
}

fn write_team_state(tx: &Transaction<'_>, key: JobKey, state: &SharedJob, prompts_hash: i64) -> StoreResult<()> {
    let text = serde_json::to_string(state).unwrap_or_default();
    tx.change(
        "INSERT INTO team_job (job, state, prompts) VALUES (?1, ?2, ?3)
         ON CONFLICT (job) DO UPDATE SET state = ?2, prompts = ?3",
        params![key, text, prompts_hash],
    )?;
    Ok(())
}

/// Compares the next changed jobs, in the order of their revisions. Changes nothing.
fn compare_jobs(
    db: &Connection,
    scope: i64,
    member: &str,
    author: &str,
    clock: TeamClock,
) -> StoreResult<ComparedJobs> {
    let start: i64 = db.query_value("SELECT pushed_revision FROM team WHERE scope = ?1", [scope])?;
    let mut compared = ComparedJobs { revision: start, ..ComparedJobs::default() };
    let next = "WHERE scope = ?1 AND revision > ?2 ORDER BY revision LIMIT ?3";
    let jobs = job_rows::query_jobs(db, next, [scope, start, JOBS_PER_COMPARISON])?;
    compared.is_complete = jobs.len() < usize::try_from(JOBS_PER_COMPARISON).unwrap_or(usize::MAX);
    let mut size = 0;
    for job in jobs {
        compared.revision = job.revision;
        // A row without an id is not shared yet, or was merged into another row.
        let Some(id) = job.id.clone() else { continue };
        let known = read_team_state(db, job.key)?;
        let must_resend = known.as_ref().is_none_or(|(_, hash)| *hash == RESEND_MARKER);
        let (known, hash) = known.unwrap_or_default();
        let mut change = job_change(&known, &job, clock);
        change.add_member_name(&job, &known, author);
        let prompts = shared_local_prompts(db, &job, member, author, clock)?;
        let prompts_hash = hash_prompts(&prompts);
        if change.is_empty() && prompts_hash == hash && !must_resend {
            continue;
        }
        let prompts = if prompts_hash == hash { Vec::new() } else { prompts };
        size += 1 + prompts.len();
        compared.changes.push(OutgoingChange { job: id.as_str().to_owned(), known, change, prompts, prompts_hash });
        if size >= BATCH_SIZE {
            compared.is_complete = false;
            break;
        }
    }
    Ok(compared)
}

/// Returns those prompts of the job that this computer shares with the team, not the ones that another member shares.
fn shared_local_prompts(
    db: &Connection,
    job: &Job,
    member: &str,
    author: &str,
    clock: TeamClock,
) -> StoreResult<Vec<SharedPrompt>> {
    let uids = read_uids(db, job.key)?;
    let mut shared = Vec::new();
    for prompt in prompts::read_thread(db, job.key)?.prompts {
        let Some(mut shared_prompt) = SharedPrompt::from_prompt(&prompt, member, author, job.revision) else {
            continue;
        };
        match uids.get(&prompt.id) {
            Some(uid) if uid.is_by(member) => shared_prompt.uid = uid.clone(),
            // Another member shares this prompt.
            Some(_) => continue,
            None => {}
        }
        convert_times(&mut shared_prompt, |time| clock.to_team_time(time));
        shared.push(shared_prompt);
    }
    Ok(shared)
}

fn read_uids(db: &Connection, key: JobKey) -> StoreResult<HashMap<PromptId, PromptUid>> {
    let sql = "SELECT id, uid FROM prompt WHERE job = ?1 AND uid IS NOT NULL";
    let uids = db.query_all(sql, [key], |row| Ok((row.get(0)?, PromptUid(row.get(1)?))))?;
    Ok(uids.into_iter().collect())
}

fn hash_prompts(prompts: &[SharedPrompt]) -> i64 {
    if prompts.is_empty() {
        return 0;
    }
    let mut text = String::new();
    for prompt in prompts {
        // Leaves out the version, which changes with every change of the job. Also leaves out the times, because their
        // conversion depends on the last comparison of the clocks. The hash only contains whether `sent_at` is set.
        let SharedPrompt { uid: PromptUid(uid), delivery, reason, sent_at, text: prompt, .. } = prompt;
        text.push_str(&format!("{uid} {delivery} {} {reason}\n{prompt}\n", sent_at.is_some()));
    }
    // Drops one bit, so that no hash equals `RESEND_MARKER`.
    i64::try_from(stable_hash(text.bytes()) >> 1).unwrap_or_default()
}

fn convert_times(prompt: &mut SharedPrompt, convert: impl Fn(Time) -> Time) {
    prompt.written_at = convert(prompt.written_at);
    for time in [&mut prompt.sent_at, &mut prompt.state_at].into_iter().flatten() {
        *time = convert(*time);
    }
}

/// What a received prompt and a stored prompt have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MatchedBy {
    Uid,
    Text,
}

/// Whether the prompt was imported from a backup of another computer. That computer may have sent the prompt after the
/// backup.
fn is_imported_copy(prompt: &Prompt) -> bool {
    matches!(prompt.delivery, Delivery::Unconfirmed(_)) && prompt.sent_at.is_none()
}

/// Merges received changes into the store.
struct TeamMerge<'a> {
    tx: &'a Transaction<'a>,
    scope: i64,
    /// The id of this computer.
    member_id: &'a str,
    clock: TeamClock,
    now: Time,
}

impl TeamMerge<'_> {
    /// Merges the received state of a job. Returns whether the state contained anything new, and whether this computer
    /// has changes of the job that must be sent.
    fn merge_job(&self, id: &str, state: &SharedJob) -> StoreResult<(bool, bool)> {
        let Some(id) = JobId::new(id) else { return Ok((false, false)) };
        match job_rows::find_by_id(self.tx, self.scope, &id)? {
            Some(job) => self.update_job(job, state),
            None => self.add_job(&id, state).map(|_| (true, false)),
        }
    }

    fn update_job(&self, mut job: Job, state: &SharedJob) -> StoreResult<(bool, bool)> {
        let (known, hash) = read_team_state(self.tx, job.key)?.unwrap_or_default();
        let mut merged = known.clone();
        merged.merge(state);
        let before = job.clone();
        let events = apply_shared_job(&mut job, &known, &merged, self.clock);
        if before.local.checked_at == Some(Time::UNIX_EPOCH) {
            self.mark_old_job_handled(&mut job);
        }
        if job.local != before.local {
            labels::write_labels(self.tx, &job)?;
        }
        if job != before {
            job_rows::insert_events(self.tx, job.key, &events)?;
            job_rows::update_job(self.tx, &job)?;
        }
        let is_new = merged != known;
        if is_new || hash == RESEND_MARKER {
            write_team_state(self.tx, job.key, &merged, hash)?;
        }
        Ok((is_new, !job_change(&merged, &job, self.clock).is_empty()))
    }

    /// Adds a received job that this computer doesn't have yet.
    fn add_job(&self, id: &JobId, state: &SharedJob) -> StoreResult<JobKey> {
        let mut job = Job::new(JobKey(0), id.to_clean_text(), self.now);
        job.id = Some(id.clone());
        // The epoch is earlier than every response, so the received state always counts as newer.
        job.local.checked_at = Some(Time::UNIX_EPOCH);
        let default_title = job.local.title.clone();
        let events = apply_shared_job(&mut job, &SharedJob::default(), state, self.clock);
        self.mark_old_job_handled(&mut job);
        let key = job_rows::insert_full_job(self.tx, self.scope, &default_title, &job)?;
        job_rows::insert_events(self.tx, key, &events)?;
        write_team_state(self.tx, key, state, 0)?;
        Ok(key)
    }

    /// Marks the job as handled if it has not changed for [`HANDLED_IF_UNCHANGED_FOR`].
    fn mark_old_job_handled(&self, job: &mut Job) {
        if job.local.changed_at < self.now - HANDLED_IF_UNCHANGED_FOR {
            job.local.viewed_at = Some(job.local.changed_at);
            job.local.handled_at = Some(job.local.changed_at);
        }
    }

    /// Returns the job with this id of the service. Adds it if it is new. Returns `None` if the id is blank.
    fn find_or_add_job(&self, id: &str) -> StoreResult<Option<Job>> {
        let Some(id) = JobId::new(id) else { return Ok(None) };
        match job_rows::find_by_id(self.tx, self.scope, &id)? {
            Some(job) => Ok(Some(job)),
            None => Ok(Some(job_rows::read_job_or_merge_target(self.tx, self.add_job(&id, &SharedJob::default())?)?)),
        }
    }

    /// Merges a received prompt. Returns whether it contained anything new.
    fn merge_prompt(&self, job: &str, shared: &SharedPrompt) -> StoreResult<bool> {
        let Some(job) = self.find_or_add_job(job)? else { return Ok(false) };
        let mut shared = shared.clone();
        convert_times(&mut shared, |time| self.clock.to_local_time(time));
        let Some(record) = shared.to_record() else { return Ok(false) };
        let is_local = shared.uid.is_by(self.member_id);
        if is_local {
            // Raises the revision to the received version, so that later changes of this computer get higher versions,
            // even if its database was restored. The limit keeps a malformed version from causing an overflow.
            let version = shared.version.min(i64::MAX / 2);
            self.tx.change("UPDATE revision SET value = ?1 WHERE value < ?1", [version])?;
        }
        match self.find_prompt(&job, &shared.uid, &record, is_local)? {
            None => self.add_prompt(&job, &shared, record, is_local)?,
            Some((known, MatchedBy::Text)) if !known.is_from_this_computer() => return Ok(false),
            // The stored prompt is a copy from a backup. It becomes a prompt of the member who wrote the original.
            Some((known, MatchedBy::Text)) if is_imported_copy(&known) && !is_local => {
                self.store_remote_prompt(known.id, &shared, &record)?
            }
            Some((known, MatchedBy::Uid)) if !known.is_from_this_computer() => {
                if (&known.delivery, &known.text, known.sent_at, &known.author)
                    == (&record.delivery, &record.text, record.sent_at, &record.author)
                {
                    return Ok(false);
                }
                self.store_remote_prompt(known.id, &shared, &record)?;
            }
            // The prompt was written on this computer, so the team can have a later state of it only if this computer's
            // database was restored from a backup.
            Some((known, _)) => match decide_merge(&known, &record) {
                PromptMerge::Becomes(delivery) => {
                    prompts::update_imported_prompt(self.tx, known.id, &delivery, &record)?
                }
                PromptMerge::OtherPrompt | PromptMerge::Unchanged => return Ok(false),
            },
        }
        job_rows::bump_revision_and_derive_columns(self.tx, job.key)?;
        Ok(true)
    }

    /// Updates a stored prompt that another member wrote.
    fn store_remote_prompt(&self, id: PromptId, shared: &SharedPrompt, record: &PromptRecord) -> StoreResult<()> {
        prompts::update_imported_prompt(self.tx, id, &record.delivery, record)?;
        let sql = "UPDATE prompt SET author = ?2, uid = ?3 WHERE id = ?1";
        self.tx.change(sql, params![id, record.author, shared.uid.0])?;
        Ok(())
    }

    /// Finds the stored prompt by its id in the team. If there is none, finds it by its text and the time at which it
    /// was written, since it may have been imported from a backup, or shared by two members. `is_local` is true if the
    /// id in the team is an id of this computer.
    fn find_prompt(
        &self,
        job: &Job,
        uid: &PromptUid,
        record: &PromptRecord,
        is_local: bool,
    ) -> StoreResult<Option<(Prompt, MatchedBy)>> {
        let uids = read_uids(self.tx, job.key)?;
        let thread = prompts::read_thread(self.tx, job.key)?.prompts;
        let has_uid = |prompt: &&Prompt| match uids.get(&prompt.id) {
            Some(known) => known == uid,
            None => is_local && prompt.is_from_this_computer() && PromptUid::new(self.member_id, prompt) == *uid,
        };
        let has_text = |prompt: &&Prompt| {
            (prompt.kind, prompt.written_at, &prompt.text) == (record.kind, record.written_at, &record.text)
        };
        let by_uid = thread.iter().find(has_uid).map(|prompt| (prompt, MatchedBy::Uid));
        let found = by_uid.or_else(|| thread.iter().find(has_text).map(|prompt| (prompt, MatchedBy::Text)));
        Ok(found.map(|(prompt, matched_by)| (prompt.clone(), matched_by)))
    }

    fn add_prompt(&self, job: &Job, shared: &SharedPrompt, record: PromptRecord, is_local: bool) -> StoreResult<()> {
        let record = if is_local {
            // This computer has lost the prompt, but the team has it. It must not be sent automatically.
            PromptRecord { author: None, delivery: delivery_after_import(&record.delivery), ..record }
        } else {
            record
        };
        let id = prompts::insert_imported_prompt(self.tx, job.key, &record)?;
        self.tx.change("UPDATE prompt SET uid = ?2 WHERE id = ?1", params![id, shared.uid.0])?;
        if record.kind == PromptKind::Create && record.delivery.kind() == DeliveryKind::Accepted {
            job_rows::set_default_title(self.tx, job.key, &prompt_title(&record.text))?;
        }
        Ok(())
    }
}
