//! One exchange with the team's database: sends the batch of an earlier exchange again if the database has not
//! confirmed it, then receives the changes of other members, then sends those of this computer. Every step is one
//! transaction in the local or the team's database and can be repeated, so an exchange can stop after any step.

use super::connection::{Param, TeamConnection, malformed_row, read_number, read_text, time_from_millis};
use super::error::TeamError;
use super::forget::REMOVED_JOB_STATE;
use super::lease::{self, LeaseAttempt, PollLease};
use super::ledger::{TeamLedgerUsage, TeamLimit};
use super::reports::ReportProgress;
use super::signals::{changes_payload, channel};
use crate::model::Time;
use crate::model::analytics::ReaderTextRetention;
use crate::model::endpoint::Scope;
use crate::model::ledger::Quota;
use crate::model::prompt::MAX_AUTHOR_CHARS;
use crate::model::team::{IncomingChange, OutgoingChange, PromptUid, SharedJob, SharedPrompt, TeamBatch, TeamClock};
use crate::model::text::CleanText;
use crate::store::{Store, TeamMembership};
use chrono::Utc;
use std::collections::{HashMap, HashSet};
use std::time::Duration;
use tokio_postgres::Row;
use tokio_postgres::types::Type;

/// How many changes one query receives.
const CHANGES_PER_QUERY: i64 = 1000;

/// Counts of what an exchange sent and received.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExchangeSummary {
    /// Changed jobs that were sent, including those of which only prompts changed.
    pub sent: usize,
    /// Received changes of jobs and prompts that were new to this computer.
    pub received: usize,
    /// Analytics reports that were sent.
    pub sent_reports: usize,
    /// Received analytics reports that were new to this computer.
    pub received_reports: usize,
    /// Received changes and reports that this docdeck can't read: a newer docdeck wrote them, or they are malformed.
    pub unreadable: usize,
    /// Whether the database was restored from an older copy, so that everything was exchanged again.
    pub was_database_restored: bool,
}

/// A member of the team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamMember {
    pub name: CleanText,
    /// When the member last contacted the database, on this computer's clock.
    pub last_seen: Time,
    /// Whether the member is this computer.
    pub is_this_computer: bool,
}

/// Returns the organizations that the login belongs to.
///
/// # Errors
/// The connection is lost.
pub async fn organizations(connection: &TeamConnection) -> Result<Vec<String>, TeamError> {
    let sql = "SELECT name FROM docdeck.organization WHERE pg_has_role(to_regrole(role)::oid, 'MEMBER') ORDER BY name";
    connection.query(sql, &[]).await?.iter().map(|row| read_text(row, 0)).collect()
}

/// Returns the members with which the project is shared, the most recently seen first.
///
/// # Errors
/// The connection is lost.
pub async fn members(
    connection: &TeamConnection,
    scope: &Scope,
    team: &TeamMembership,
) -> Result<Vec<TeamMember>, TeamError> {
    let clock = connection.clock().await?;
    let sql = "SELECT member.id, member.name, floor(extract(epoch FROM member.last_seen) * 1000)::bigint
         FROM docdeck.member JOIN docdeck.project ON project.id = member.project
         WHERE project.organization = $1 AND project.base_url = $2 AND project.project = $3
         ORDER BY member.last_seen DESC, member.id";
    let member = |row: &Row| {
        Ok(TeamMember {
            name: CleanText::title(&read_text(row, 1)?, MAX_AUTHOR_CHARS),
            last_seen: clock.to_local_time(time_from_millis(read_number(row, 2)?)?),
            is_this_computer: read_text(row, 0)? == team.member_id,
        })
    };
    let project: [Param<'_>; 3] =
        [(&team.organization, Type::TEXT), (&scope.base_url, Type::TEXT), (&scope.project, Type::TEXT)];
    connection.query(sql, &project).await?.iter().map(member).collect()
}

/// The settings of this member.
#[derive(Debug, Clone, Copy)]
pub struct MemberSettings<'a> {
    pub name: &'a str,
    /// For how many days texts of readers stay stored.
    pub reader_text_days: ReaderTextRetention,
}

/// Exchanges all changes and analytics reports of the project, if it is shared. `now` is the local time.
///
/// # Errors
/// The connection is lost, the login is no longer a member, or the store can't be written. Changes that were
/// exchanged before the error are kept.
pub async fn exchange(
    connection: &TeamConnection,
    store: &Store,
    scope: &Scope,
    member: MemberSettings<'_>,
    now: Time,
) -> Result<ExchangeSummary, TeamError> {
    exchange_with_progress(connection, store, scope, member, now, |_| {}).await
}

/// Like [`exchange`], but after each page of received changes except the last, calls `on_progress` with the number of
/// changes received so far that were new to this computer.
///
/// # Errors
/// The errors of [`exchange`].
pub async fn exchange_with_progress(
    connection: &TeamConnection,
    store: &Store,
    scope: &Scope,
    member: MemberSettings<'_>,
    now: Time,
    mut on_progress: impl FnMut(usize),
) -> Result<ExchangeSummary, TeamError> {
    let Some(mut exchange) = Exchange::start(connection, store, scope, member).await? else {
        return Ok(ExchangeSummary::default());
    };
    while exchange.receive_next_changes(now).await? == ExchangeStep::HasMore {
        on_progress(exchange.summary.received);
    }
    let sent_before = exchange.summary.sent;
    while exchange.send_next_batch().await? {}
    if exchange.summary.sent > sent_before {
        // Receives the changes that were just sent, as the database has merged them, to move the cursor past them.
        while exchange.receive_next_changes(now).await? == ExchangeStep::HasMore {}
    }
    store.record_team_exchange(scope, now).await?;
    // An open dashboard deletes expired texts of readers regularly. Without a dashboard, they are deleted here.
    store.delete_expired_reader_texts(member.reader_text_days, exchange.clock.to_team_time(now)).await?;
    exchange.exchange_all_reports(now).await?;
    Ok(exchange.summary)
}

/// Whether a step of an exchange was the last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExchangeStep {
    HasMore,
    Last,
}

/// Whether the database has something that this computer has not received.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UnreceivedData {
    pub has_changes: bool,
    pub has_reports: bool,
}

/// The exchange of a project over one connection.
#[derive(Debug)]
pub struct Exchange<'a> {
    pub(super) connection: &'a TeamConnection,
    pub(super) store: &'a Store,
    pub(super) scope: &'a Scope,
    pub(super) member: MemberSettings<'a>,
    pub(super) team: TeamMembership,
    /// The row id of the project in the database.
    pub(super) project_id: i64,
    pub(super) clock: TeamClock,
    /// The lease under which this computer polls; `None` if it has no lease.
    lease: Option<PollLease>,
    /// The progress of receiving analytics reports.
    pub(super) reports: ReportProgress,
    /// What the exchange has sent and received so far.
    pub summary: ExchangeSummary,
}

impl<'a> Exchange<'a> {
    /// Adds the project and the member to the database if they are new. Restarts from the beginning if the database was
    /// restored from an older copy. Then sends the unconfirmed batch of an earlier exchange, if there is one. Returns
    /// `None` if the project is not shared.
    ///
    /// # Errors
    /// The errors of [`exchange`].
    pub async fn start(
        connection: &'a TeamConnection,
        store: &'a Store,
        scope: &'a Scope,
        member: MemberSettings<'a>,
    ) -> Result<Option<Self>, TeamError> {
        let Some(team) = store.team_membership(scope).await? else { return Ok(None) };
        let project_id = ensure_project(connection, scope, &team).await?;
        let (clock, summary) = (TeamClock::default(), ExchangeSummary::default());
        let reports = ReportProgress::default();
        let mut exchange =
            Self { connection, store, scope, member, team, project_id, clock, lease: None, reports, summary };
        exchange.record_presence_and_check_for_data().await?;
        if let Some(batch) = store.unconfirmed_team_batch(scope).await? {
            exchange.send_batch(&batch).await?;
        }
        Ok(Some(exchange))
    }

    /// Subscribes the connection to notifications about changes by other members.
    ///
    /// # Errors
    /// The connection is lost.
    pub async fn listen(&self) -> Result<(), TeamError> {
        let connection = self.connection;
        let process: i32 =
            connection.query_one("SELECT pg_backend_pid()", &[]).await?.try_get(0).map_err(|_| malformed_row())?;
        connection.notification_receiver.subscribe(self.project_id, process);
        match connection.run_statements(&format!("LISTEN {}", channel(&self.team.organization))).await {
            // Some servers speak the protocol but have no notifications. Then the regular queries find the changes.
            Err(TeamError::Refused { .. }) => Ok(()),
            result => result,
        }
    }

    /// Records in the database that this member is active, compares the clocks, and returns whether there are changes
    /// and reports to receive. Deletes expired texts of readers from the database. If the database no longer has the
    /// last change that this computer has received, resets the cursors, so that all changes are received again.
    ///
    /// # Errors
    /// The connection is lost.
    pub async fn record_presence_and_check_for_data(&mut self) -> Result<UnreceivedData, TeamError> {
        let requested_at = Utc::now();
        // A row that another member is deleting or replacing is skipped, so that no member waits for another one.
        let sql = "WITH expired_reports AS (
                 DELETE FROM docdeck.report WHERE ctid = ANY(ARRAY(
                     SELECT ctid FROM docdeck.report
                     WHERE project = $1 AND expires_at <= floor(extract(epoch FROM now()) * 1000)::bigint
                     FOR UPDATE SKIP LOCKED))
             ), expired_parts AS (
                 DELETE FROM docdeck.report_part WHERE ctid = ANY(ARRAY(
                     SELECT ctid FROM docdeck.report_part
                     WHERE project = $1 AND expires_at <= floor(extract(epoch FROM now()) * 1000)::bigint
                     FOR UPDATE SKIP LOCKED))
             )
             INSERT INTO docdeck.member (project, id, name) VALUES ($1, $2, $3)
             ON CONFLICT (project, id) DO UPDATE SET name = EXCLUDED.name, last_seen = now()
             RETURNING floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint, ($4 = 0 OR EXISTS (
                 SELECT 1 FROM docdeck.batch WHERE batch.project = $1 AND batch.id = $5 AND last_change = $4)
             ) AND ($6 = 0 OR EXISTS (
                 SELECT 1 FROM docdeck.batch WHERE batch.project = $1 AND batch.id = $7 AND last_change = $6)
             ), EXISTS (
                 SELECT 1 FROM docdeck.job WHERE job.project = $1 AND change > $4 AND state <> $8
             ) OR EXISTS (
                 SELECT 1 FROM docdeck.prompt WHERE prompt.project = $1 AND change > $4
             ), EXISTS (SELECT 1 FROM docdeck.report WHERE report.project = $1 AND change > $6)";
        let batch = self.team.cursor_batch.as_deref().unwrap_or_default();
        let report_cursor_batch = self.team.report_cursor_batch.as_deref().unwrap_or_default();
        let params: [Param<'_>; 8] = [
            (&self.project_id, Type::INT8),
            (&self.team.member_id, Type::TEXT),
            (&self.member.name, Type::TEXT),
            (&self.team.cursor, Type::INT8),
            (&batch, Type::TEXT),
            (&self.team.report_cursor, Type::INT8),
            (&report_cursor_batch, Type::TEXT),
            (&REMOVED_JOB_STATE, Type::TEXT),
        ];
        let row = self.connection.query_one(sql, &params).await?;
        let flag = |column: usize| row.try_get::<_, bool>(column).map_err(|_| malformed_row());
        let local_time = requested_at + (Utc::now() - requested_at) / 2;
        self.clock = TeamClock::new(time_from_millis(read_number(&row, 0)?)?, local_time);
        if !flag(1)? {
            self.store.reset_team_exchange(self.scope).await?;
            self.summary.was_database_restored = true;
            (self.team.cursor, self.team.cursor_batch) = (0, None);
            (self.team.report_cursor, self.team.report_cursor_batch) = (0, None);
            self.reports = ReportProgress::default();
            return Ok(UnreceivedData { has_changes: true, has_reports: true });
        }
        Ok(UnreceivedData { has_changes: flag(2)?, has_reports: flag(3)? })
    }

    /// Takes or renews the polling lease. Returns `None` if this process now has it, otherwise how long the lease of
    /// another member still lasts.
    ///
    /// # Errors
    /// The connection is lost.
    pub async fn take_lease_or_get_wait(&mut self, holder: &str) -> Result<Option<Duration>, TeamError> {
        let attempt = lease::take_lease(self.connection, self.project_id, holder).await?;
        Ok(match attempt {
            LeaseAttempt::Held(lease) => {
                self.lease = Some(lease);
                None
            }
            LeaseAttempt::HeldByOther(time) => {
                self.lease = None;
                Some(time)
            }
        })
    }

    /// Whether this process had the lease when it last queried the database.
    pub fn has_lease(&self) -> bool {
        self.lease.is_some()
    }

    /// Releases the lease, if this process has it.
    ///
    /// # Errors
    /// The connection is lost.
    pub async fn release_poll_lease(&mut self) -> Result<(), TeamError> {
        match self.lease.take() {
            Some(lease) => {
                lease::release_lease(self.connection, &self.team.organization, self.project_id, &lease).await
            }
            None => Ok(()),
        }
    }

    /// Adds requests that were sent without a booking to the team's ledger. Each item contains the quota, the booking
    /// id and the local time at which the request was sent.
    ///
    /// # Errors
    /// The connection is lost.
    pub async fn add_unbooked_requests(&self, requests: &[(Quota, String, Time)]) -> Result<(), TeamError> {
        for (quota, booking_id, at) in requests {
            let limit = TeamLimit { organization: &self.team.organization, scope: self.scope, quota: *quota };
            self.connection.add_unbooked_request(limit, booking_id, self.clock.to_team_time(*at)).await?;
        }
        Ok(())
    }

    /// Returns how much of the hourly limits the team has used. Times are on the local clock.
    ///
    /// # Errors
    /// The connection is lost.
    pub async fn ledger_usage(&self) -> Result<Vec<TeamLedgerUsage>, TeamError> {
        let counts = self.connection.ledger_usage(&self.team.organization, self.scope).await?;
        Ok(counts.into_iter().map(|count| count.with_local_time(self.clock)).collect())
    }

    /// The organization with which the project is shared.
    pub fn organization(&self) -> &str {
        &self.team.organization
    }

    /// Receives the next page of changes after the cursor.
    ///
    /// # Errors
    /// The connection is lost, or the store can't be written.
    pub async fn receive_next_changes(&mut self, now: Time) -> Result<ExchangeStep, TeamError> {
        // A job that changes during the exchange gets a number after the cursor, so a later page contains it. The last
        // row of the result is not a change: it names the last batch that this page contains completely. The cursor
        // moves to the end of that batch, so that a later exchange notices if the database has lost the batch. The
        // changes of an incomplete batch are received again.
        let sql = "WITH changes AS (
                 SELECT * FROM (
                     (SELECT change, id, state, false AS is_prompt FROM docdeck.job
                      WHERE project = $1 AND change > $2 AND state <> $4 ORDER BY change LIMIT $3)
                     UNION ALL
                     (SELECT change, job, prompt, true FROM docdeck.prompt
                      WHERE project = $1 AND change > $2 ORDER BY change LIMIT $3)
                 ) AS newer ORDER BY change LIMIT $3
             )
             (SELECT change, id, state, is_prompt FROM changes ORDER BY change)
             UNION ALL
             (SELECT last_change, id, NULL, NULL FROM docdeck.batch
              WHERE project = $1 AND last_change <= (SELECT max(change) FROM changes)
              ORDER BY last_change DESC LIMIT 1)";
        let page: [Param<'_>; 4] = [
            (&self.project_id, Type::INT8),
            (&self.team.cursor, Type::INT8),
            (&CHANGES_PER_QUERY, Type::INT8),
            (&REMOVED_JOB_STATE, Type::TEXT),
        ];
        let rows = self.connection.query(sql, &page).await?;
        let mut changes = Vec::with_capacity(rows.len());
        let (mut cursor, mut batch) = (self.team.cursor, None);
        for row in &rows {
            let (change_number, id) = (read_number(row, 0)?, read_text(row, 1)?);
            let json: Option<String> = row.try_get(2).map_err(|_| malformed_row())?;
            let Some(json) = json else {
                if change_number > self.team.cursor {
                    (cursor, batch) = (change_number, Some(id));
                }
                continue;
            };
            cursor = change_number;
            let change = match row.try_get(3).map_err(|_| malformed_row())? {
                Some(true) => {
                    serde_json::from_str(&json).ok().map(|prompt| IncomingChange::Prompt(id, Box::new(prompt)))
                }
                _ => serde_json::from_str(&json).ok().map(|state| IncomingChange::Job(id, Box::new(state))),
            };
            match change {
                Some(change) => changes.push(change),
                None => self.summary.unreadable += 1,
            }
        }
        if cursor == self.team.cursor {
            return Ok(ExchangeStep::Last);
        }
        let is_full = i64::try_from(rows.len()).is_ok_and(|rows| rows >= CHANGES_PER_QUERY);
        self.summary.received +=
            self.store.merge_team_changes(self.scope, changes, (cursor, batch.clone()), self.clock, now).await?;
        (self.team.cursor, self.team.cursor_batch) = (cursor, batch);
        Ok(if is_full { ExchangeStep::HasMore } else { ExchangeStep::Last })
    }

    /// Sends the next changes of this computer. Returns `false` if there are none.
    ///
    /// # Errors
    /// The connection is lost, or the store can't be written.
    pub async fn send_next_batch(&mut self) -> Result<bool, TeamError> {
        let Some(batch) = self.store.next_outgoing_team_batch(self.scope, self.member.name, self.clock).await? else {
            return Ok(false);
        };
        self.send_batch(&batch).await?;
        Ok(true)
    }

    /// Writes a batch to the database in one transaction, then removes it from the outbox. Writes nothing if the
    /// database already has the batch.
    async fn send_batch(&mut self, batch: &TeamBatch) -> Result<(), TeamError> {
        self.connection.run_statements("BEGIN").await?;
        // If a statement fails, the caller drops the connection, which rolls the transaction back.
        if let Some(lease) = &self.lease
            && batch.changes.iter().any(|change| change.change.observation.is_some())
            && !lease::is_lease_current(self.connection, self.project_id, lease).await?
        {
            // Another member polls now. The responses that this computer has received are still sent: they are valid,
            // since each has its time.
            self.lease = None;
        }
        let stamp = self.write_batch(batch).await?;
        self.connection.run_statements("COMMIT").await?;
        self.store.confirm_team_batch(self.scope, batch, time_from_millis(stamp)?).await?;
        self.summary.sent += batch.changes.len();
        Ok(())
    }

    /// Writes the batch in the current transaction, and returns the time of the writes, on the clock of the database.
    async fn write_batch(&self, batch: &TeamBatch) -> Result<i64, TeamError> {
        // This locks the project: no other member writes to it until the transaction ends.
        let lock = "SELECT last_change, last_stamp FROM docdeck.project WHERE id = $1 FOR UPDATE";
        let project = self.connection.query_one(lock, &[(&self.project_id, Type::INT8)]).await?;
        let (mut change, last_stamp) = (read_number(&project, 0)?, read_number(&project, 1)?);
        // This must be a separate query: it sees what other members committed before this member got the lock.
        let stored = self.read_stored_state(batch).await?;
        if let Some(stamp) = stored.batch_stamp {
            return Ok(stamp);
        }
        let stamp = stored.now_millis.max(last_stamp.saturating_add(1));
        let jobs = merged_jobs(batch, stored.jobs, time_from_millis(stamp)?);
        let prompts = merged_prompts(batch, &jobs, &stored.prompts);
        let mut next_change = || {
            change += 1;
            change
        };
        let (mut ids, mut states, mut job_changes) = (Vec::new(), Vec::new(), Vec::new());
        for (id, state) in &jobs {
            ids.push(id.as_str());
            states.push(to_json(state)?);
            job_changes.push(next_change());
        }
        let (mut uids, mut prompt_jobs, mut texts, mut prompt_changes) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (job, prompt) in &prompts {
            uids.push(prompt.uid.0.as_str());
            prompt_jobs.push(job.as_str());
            texts.push(to_json(prompt)?);
            prompt_changes.push(next_change());
        }
        if jobs.is_empty() {
            // Even a batch that changes nothing takes a number, so that no two batches end with the same number.
            next_change();
        }
        let write = "WITH jobs AS (
                 INSERT INTO docdeck.job (project, id, state, change)
                 SELECT $1, id, state, change FROM unnest($2::text[], $3::text[], $4::bigint[]) AS row (id, state, change)
                 ON CONFLICT (project, id) DO UPDATE SET state = EXCLUDED.state, change = EXCLUDED.change
             ), prompts AS (
                 INSERT INTO docdeck.prompt (project, uid, job, prompt, change)
                 SELECT $1, uid, job, prompt, change
                 FROM unnest($5::text[], $6::text[], $7::text[], $8::bigint[]) AS row (uid, job, prompt, change)
                 ON CONFLICT (project, uid) DO UPDATE SET prompt = EXCLUDED.prompt, change = EXCLUDED.change
             ), advanced AS (
                 UPDATE docdeck.project SET last_change = $9, last_stamp = $10 WHERE id = $1
             ), added AS (
                 INSERT INTO docdeck.batch (project, id, last_change, stamp, member) VALUES ($1, $11, $9, $10, $12)
                 RETURNING project
             )
             SELECT pg_notify($13, $14) FROM added";
        let channel = channel(&self.team.organization);
        let payload = changes_payload(self.project_id);
        let params: [Param<'_>; 14] = [
            (&self.project_id, Type::INT8),
            (&ids, Type::TEXT_ARRAY),
            (&states, Type::TEXT_ARRAY),
            (&job_changes, Type::INT8_ARRAY),
            (&uids, Type::TEXT_ARRAY),
            (&prompt_jobs, Type::TEXT_ARRAY),
            (&texts, Type::TEXT_ARRAY),
            (&prompt_changes, Type::INT8_ARRAY),
            (&change, Type::INT8),
            (&stamp, Type::INT8),
            (&batch.id, Type::TEXT),
            (&self.team.member_id, Type::TEXT),
            (&channel, Type::TEXT),
            (&payload, Type::TEXT),
        ];
        self.connection.query(write, &params).await?;
        Ok(stamp)
    }

    /// Reads the jobs and prompts of the batch as the database has them.
    async fn read_stored_state(&self, batch: &TeamBatch) -> Result<StoredState, TeamError> {
        let sql = "SELECT 'now', '', floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint::text
             UNION ALL SELECT 'batch', id, stamp::text FROM docdeck.batch WHERE project = $1 AND id = $2
             UNION ALL SELECT 'job', id, state FROM docdeck.job WHERE project = $1 AND id = ANY($3)
             UNION ALL SELECT 'prompt', uid, prompt FROM docdeck.prompt WHERE project = $1 AND uid = ANY($4)";
        let ids: Vec<&str> = batch.changes.iter().map(|change| change.job.as_str()).collect();
        let prompts = batch.changes.iter().flat_map(|change| &change.prompts);
        let uids: Vec<&str> = prompts.map(|prompt| prompt.uid.0.as_str()).collect();
        let params: [Param<'_>; 4] = [
            (&self.project_id, Type::INT8),
            (&batch.id, Type::TEXT),
            (&ids, Type::TEXT_ARRAY),
            (&uids, Type::TEXT_ARRAY),
        ];
        let mut stored = StoredState::default();
        for row in &self.connection.query(sql, &params).await? {
            let (kind, key, value) = (read_text(row, 0)?, read_text(row, 1)?, read_text(row, 2)?);
            match kind.as_str() {
                "now" => stored.now_millis = value.parse().map_err(|_| malformed_row())?,
                "batch" => stored.batch_stamp = Some(value.parse().map_err(|_| malformed_row())?),
                "job" => {
                    let state = serde_json::from_str(&value)
                        .map_err(|_| TeamError::Malformed { what: "a job that a newer docdeck changed" })?;
                    stored.jobs.insert(key, state);
                }
                _ => {
                    if let Ok(prompt) = serde_json::from_str::<SharedPrompt>(&value) {
                        stored.prompts.insert(prompt.uid.clone(), prompt);
                    }
                }
            }
        }
        Ok(stored)
    }
}

/// Returns the id of the project in the database. Adds the project if it is new.
async fn ensure_project(connection: &TeamConnection, scope: &Scope, team: &TeamMembership) -> Result<i64, TeamError> {
    let known: [Param<'_>; 3] =
        [(&team.organization, Type::TEXT), (&scope.base_url, Type::TEXT), (&scope.project, Type::TEXT)];
    let find = "SELECT project.id FROM docdeck.organization LEFT JOIN docdeck.project
             ON project.organization = organization.name AND project.base_url = $2 AND project.project = $3
         WHERE organization.name = $1";
    let not_a_member = || TeamError::NotAMember { name: CleanText::line(&team.organization) };
    let found = async || {
        let row = connection.query(find, &known).await?.pop().ok_or_else(not_a_member)?;
        row.try_get::<_, Option<i64>>(0).map_err(|_| malformed_row())
    };
    if let Some(project) = found().await? {
        return Ok(project);
    }
    let add = "INSERT INTO docdeck.project (organization, base_url, project) VALUES ($1, $2, $3)
         ON CONFLICT (organization, base_url, project) DO NOTHING";
    connection.query(add, &known).await?;
    found().await?.ok_or_else(not_a_member)
}

/// The jobs and prompts of a batch as the database has them.
#[derive(Debug, Default)]
struct StoredState {
    /// The time on the clock of the database.
    now_millis: i64,
    /// The time of the batch, if it was stored before.
    batch_stamp: Option<i64>,
    jobs: HashMap<String, SharedJob>,
    prompts: HashMap<PromptUid, SharedPrompt>,
}

/// Returns the jobs of the batch, merged with their state in the database. Leaves out jobs that were removed from the
/// database, unless this computer has changed them since it exchanged them.
fn merged_jobs(batch: &TeamBatch, mut stored: HashMap<String, SharedJob>, stamp: Time) -> Vec<(String, SharedJob)> {
    let merge = |change: &OutgoingChange| {
        let stored = stored.remove(&change.job);
        let is_removed = stored.as_ref().is_some_and(|stored| *stored == SharedJob::default());
        if is_removed && (change.known == SharedJob::default() || change.change.is_empty()) {
            return None;
        }
        let mut state = stored.unwrap_or_default();
        state.merge(&change.known);
        state.merge(&change.change.to_shared_job(stamp));
        Some((change.job.clone(), state))
    };
    batch.changes.iter().filter_map(merge).collect()
}

/// Returns the batch's prompts about `jobs`, merged with their state in the database. Leaves out prompts that the
/// database has in the same or a later version.
fn merged_prompts(
    batch: &TeamBatch,
    jobs: &[(String, SharedJob)],
    stored: &HashMap<PromptUid, SharedPrompt>,
) -> Vec<(String, SharedPrompt)> {
    let jobs: HashSet<&str> = jobs.iter().map(|(id, _)| id.as_str()).collect();
    let changes = batch.changes.iter().filter(|change| jobs.contains(change.job.as_str()));
    let all = changes.flat_map(|change| change.prompts.iter().map(|prompt| (&change.job, prompt)));
    let newer = all.filter_map(|(job, prompt)| {
        let Some(known) = stored.get(&prompt.uid) else { return Some((job.clone(), prompt.clone())) };
        let mut merged = known.clone();
        merged.merge(prompt);
        (merged != *known).then(|| (job.clone(), merged))
    });
    newer.collect()
}

fn to_json(value: &impl serde::Serialize) -> Result<String, TeamError> {
    serde_json::to_string(value).map_err(|_| malformed_row())
}
