//! One exchange with the team's database: receives the changes of other members, then sends those of this computer. Before
//! that, it sends the batch of an earlier exchange again if the database has not confirmed it. Every step is one transaction in one of the two databases
//! and can be repeated, so an exchange can end anywhere.

use super::connection::{NOW_SQL, TeamConnection, parse_millis};
use super::error::TeamError;
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::prompt::MAX_AUTHOR_CHARS;
use crate::model::team::{IncomingChange, OutgoingChange, PromptUid, SharedJob, SharedPrompt, TeamBatch, TeamClock};
use crate::model::text::CleanText;
use crate::store::{Store, TeamMembership};
use std::collections::HashMap;
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;

/// How many changes are received at once.
const PAGE_SIZE: i64 = 1000;

/// What an exchange did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ExchangeReport {
    /// Changed jobs that were sent, including those of which only prompts changed.
    pub sent: usize,
    /// Received changes of jobs and prompts that were new to this computer.
    pub received: usize,
    /// Received changes that can't be shown, because a newer docdeck made them.
    pub unreadable: usize,
    /// Whether the database was restored from an older copy, so that everything was exchanged again.
    pub restarted: bool,
}

/// A member of the team.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TeamMember {
    pub name: CleanText,
    /// When the member last exchanged changes, on this computer's clock.
    pub last_seen: Time,
    /// Whether it is this computer.
    pub is_own: bool,
}

/// Returns the organizations that the login belongs to.
///
/// # Errors
/// The connection is lost.
pub async fn organizations(connection: &TeamConnection) -> Result<Vec<String>, TeamError> {
    let sql = "SELECT name FROM docdeck.organization WHERE pg_has_role(to_regrole(role)::oid, 'MEMBER') ORDER BY name";
    let rows = connection.step(connection.client.query(sql, &[])).await?;
    rows.iter().map(|row| text(row, 0)).collect()
}

/// Returns the members with which the project is shared, the one that was seen last first.
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
            name: CleanText::title(&text(row, 1)?, MAX_AUTHOR_CHARS),
            last_seen: clock.to_local(parse_millis(number(row, 2)?)?),
            is_own: text(row, 0)? == team.member,
        })
    };
    let project: [&(dyn ToSql + Sync); 3] = [&team.organization, &scope.base_url, &scope.project];
    connection.step(connection.client.query(sql, &project)).await?.iter().map(member).collect()
}

/// Exchanges all changes of the project. `name` is the name of this member, `now` the local time.
///
/// # Errors
/// The connection is lost, the login is no longer a member, or the store can't be written. What was exchanged before
/// stays.
pub async fn exchange(
    connection: &TeamConnection,
    store: &Store,
    scope: &Scope,
    name: &str,
    now: Time,
) -> Result<ExchangeReport, TeamError> {
    let mut report = ExchangeReport::default();
    let Some(mut team) = store.team(scope).await? else { return Ok(report) };
    let clock = connection.clock().await?;
    let project = register(connection, scope, &team, name).await?;
    if !knows_cursor(connection, project, &team).await? {
        store.restart_team(scope).await?;
        report.restarted = true;
        team = store.team(scope).await?.unwrap_or(team);
    }
    let exchange = Exchange { connection, store, scope, project, member: &team.member, clock, now };
    if let Some(batch) = store.unconfirmed_team_batch(scope).await? {
        report.sent += exchange.send(&batch).await?;
    }
    exchange.receive(team.cursor, &mut report).await?;
    let before = report.sent;
    while let Some(batch) = store.next_team_batch(scope, name, clock).await? {
        report.sent += exchange.send(&batch).await?;
    }
    if report.sent > before {
        // The team's state now contains what was sent.
        let cursor = store.team(scope).await?.map_or(0, |team| team.cursor);
        exchange.receive(cursor, &mut report).await?;
    }
    store.record_team_exchange(scope, now).await?;
    Ok(report)
}

/// Adds the project and the member if they are new, and returns the id of the project.
async fn register(
    connection: &TeamConnection,
    scope: &Scope,
    team: &TeamMembership,
    name: &str,
) -> Result<i64, TeamError> {
    let client = &connection.client;
    let known: [&(dyn ToSql + Sync); 3] = [&team.organization, &scope.base_url, &scope.project];
    let find = "SELECT id FROM docdeck.project WHERE organization = $1 AND base_url = $2 AND project = $3";
    let not_a_member = || TeamError::NotAMember { name: CleanText::line(&team.organization) };
    let is_visible = "SELECT 1 FROM docdeck.organization WHERE name = $1";
    if connection.step(client.query_opt(is_visible, &[&team.organization])).await?.is_none() {
        return Err(not_a_member());
    }
    let mut found = connection.step(client.query_opt(find, &known)).await?;
    if found.is_none() {
        let add = "INSERT INTO docdeck.project (organization, base_url, project) VALUES ($1, $2, $3)
             ON CONFLICT (organization, base_url, project) DO NOTHING";
        connection.step(client.execute(add, &known)).await?;
        found = connection.step(client.query_opt(find, &known)).await?;
    }
    let project = number(&found.ok_or_else(not_a_member)?, 0)?;
    let see = "INSERT INTO docdeck.member (project, id, name) VALUES ($1, $2, $3)
         ON CONFLICT (project, id) DO UPDATE SET name = EXCLUDED.name, last_seen = now()";
    connection.step(client.execute(see, &[&project, &team.member, &name])).await?;
    Ok(project)
}

/// Whether the database still has the change up to which this computer has received everything.
async fn knows_cursor(connection: &TeamConnection, project: i64, team: &TeamMembership) -> Result<bool, TeamError> {
    if team.cursor == 0 {
        return Ok(true);
    }
    let sql = "SELECT EXISTS (SELECT 1 FROM docdeck.batch WHERE project = $1 AND id = $2 AND last_change = $3)";
    let batch = team.cursor_batch.as_deref().unwrap_or_default();
    let row = connection.step(connection.client.query_one(sql, &[&project, &batch, &team.cursor])).await?;
    row.try_get(0).map_err(|_| malformed())
}

struct Exchange<'a> {
    connection: &'a TeamConnection,
    store: &'a Store,
    scope: &'a Scope,
    /// The id of the project in the database.
    project: i64,
    member: &'a str,
    clock: TeamClock,
    now: Time,
}

impl Exchange<'_> {
    /// Receives all changes after `cursor`.
    async fn receive(&self, mut cursor: i64, report: &mut ExchangeReport) -> Result<(), TeamError> {
        // A job that changes meanwhile moves behind the cursor, so it arrives at the latest with the next page.
        let sql = "SELECT * FROM (
                 (SELECT change, id, state, false FROM docdeck.job WHERE project = $1 AND change > $2
                  ORDER BY change LIMIT $3)
                 UNION ALL
                 (SELECT change, job, prompt, true FROM docdeck.prompt WHERE project = $1 AND change > $2
                  ORDER BY change LIMIT $3)
             ) AS changes ORDER BY change LIMIT $3";
        loop {
            let page: [&(dyn ToSql + Sync); 3] = [&self.project, &cursor, &PAGE_SIZE];
            let rows = self.connection.step(self.connection.client.query(sql, &page)).await?;
            let Some(last) = rows.last() else { return Ok(()) };
            let last = number(last, 0)?;
            let mut changes = Vec::with_capacity(rows.len());
            for row in &rows {
                let (job, json) = (text(row, 1)?, text(row, 2)?);
                let change = match row.try_get(3).map_err(|_| malformed())? {
                    true => {
                        serde_json::from_str(&json).ok().map(|prompt| IncomingChange::Prompt(job, Box::new(prompt)))
                    }
                    false => serde_json::from_str(&json).ok().map(|state| IncomingChange::Job(job, Box::new(state))),
                };
                match change {
                    Some(change) => changes.push(change),
                    None => report.unreadable += 1,
                }
            }
            let is_last = rows.len() < usize::try_from(PAGE_SIZE).unwrap_or(usize::MAX);
            let (next, batch) = self.end_of_batch(cursor, last).await?;
            let cursor_batch = (next, batch);
            report.received +=
                self.store.merge_team_changes(self.scope, changes, cursor_batch, self.clock, self.now).await?;
            cursor = next;
            if is_last {
                return Ok(());
            }
        }
    }

    /// Returns the last change up to `last` that ends a batch, with the batch. A cursor is always the end of a batch, so
    /// that it is noticed if the database loses this batch. The rest of an incomplete batch is received again.
    async fn end_of_batch(&self, cursor: i64, last: i64) -> Result<(i64, Option<String>), TeamError> {
        let sql = "SELECT last_change, id FROM docdeck.batch WHERE project = $1 AND last_change <= $2
             ORDER BY last_change DESC LIMIT 1";
        match self.connection.step(self.connection.client.query_opt(sql, &[&self.project, &last])).await? {
            Some(row) if number(&row, 0)? > cursor => Ok((number(&row, 0)?, Some(text(&row, 1)?))),
            _ => Ok((last, None)),
        }
    }

    /// Stores a batch in one transaction, then removes it from the outbox. Writes nothing if the database has stored it
    /// before. Returns the number of its jobs.
    async fn send(&self, batch: &TeamBatch) -> Result<usize, TeamError> {
        let connection = self.connection;
        connection.step(connection.client.batch_execute("BEGIN")).await?;
        // If this fails, the connection is given up, which rolls the transaction back.
        let stamp = self.store_batch(batch).await?;
        connection.step(connection.client.batch_execute("COMMIT")).await?;
        self.store.finish_team_batch(self.scope, batch, parse_millis(stamp)?).await?;
        Ok(batch.changes.len())
    }

    /// Writes the batch, and returns the time of its writes.
    async fn store_batch(&self, batch: &TeamBatch) -> Result<i64, TeamError> {
        let (connection, client) = (self.connection, &self.connection.client);
        // From here on, no other member writes to this project.
        let lock = "SELECT last_change, last_stamp FROM docdeck.project WHERE id = $1 FOR UPDATE";
        let project = connection.step(client.query_one(lock, &[&self.project])).await?;
        let (mut change, last_stamp) = (number(&project, 0)?, number(&project, 1)?);
        let known = "SELECT stamp FROM docdeck.batch WHERE project = $1 AND id = $2";
        if let Some(stored) = connection.step(client.query_opt(known, &[&self.project, &batch.id])).await? {
            return number(&stored, 0);
        }
        let now = number(&connection.step(client.query_one(NOW_SQL, &[])).await?, 0)?;
        let stamp = now.max(last_stamp.saturating_add(1));
        let jobs = self.merged_jobs(batch, parse_millis(stamp)?).await?;
        let prompts = self.merged_prompts(batch).await?;
        let mut next = || {
            change += 1;
            change
        };
        let (mut ids, mut states, mut numbers) = (Vec::new(), Vec::new(), Vec::new());
        for (id, state) in &jobs {
            ids.push(id.as_str());
            states.push(to_json(state)?);
            numbers.push(next());
        }
        let write = "INSERT INTO docdeck.job (project, id, state, change)
             SELECT $1, id, state, change FROM unnest($2::text[], $3::text[], $4::bigint[]) AS row (id, state, change)
             ON CONFLICT (project, id) DO UPDATE SET state = EXCLUDED.state, change = EXCLUDED.change";
        connection.step(client.execute(write, &[&self.project, &ids, &states, &numbers])).await?;
        let (mut uids, mut of_jobs, mut texts, mut numbers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (job, prompt) in &prompts {
            uids.push(prompt.uid.0.as_str());
            of_jobs.push(job.as_str());
            texts.push(to_json(prompt)?);
            numbers.push(next());
        }
        let write = "INSERT INTO docdeck.prompt (project, uid, job, prompt, change)
             SELECT $1, uid, job, prompt, change
             FROM unnest($2::text[], $3::text[], $4::text[], $5::bigint[]) AS row (uid, job, prompt, change)
             ON CONFLICT (project, uid) DO UPDATE SET prompt = EXCLUDED.prompt, change = EXCLUDED.change";
        connection.step(client.execute(write, &[&self.project, &uids, &of_jobs, &texts, &numbers])).await?;
        let advance = "UPDATE docdeck.project SET last_change = $2, last_stamp = $3 WHERE id = $1";
        connection.step(client.execute(advance, &[&self.project, &change, &stamp])).await?;
        let add = "INSERT INTO docdeck.batch (project, id, last_change, stamp, member) VALUES ($1, $2, $3, $4, $5)";
        connection.step(client.execute(add, &[&self.project, &batch.id, &change, &stamp, &self.member])).await?;
        Ok(stamp)
    }

    /// Returns the jobs of the batch, merged with what the database has. There is always at least one, so each batch has a
    /// number of its own.
    async fn merged_jobs(&self, batch: &TeamBatch, stamp: Time) -> Result<Vec<(String, SharedJob)>, TeamError> {
        let ids: Vec<&str> = batch.changes.iter().map(|change| change.job.as_str()).collect();
        let sql = "SELECT id, state FROM docdeck.job WHERE project = $1 AND id = ANY($2)";
        let rows = self.connection.step(self.connection.client.query(sql, &[&self.project, &ids])).await?;
        let mut stored: HashMap<String, SharedJob> = HashMap::new();
        for row in &rows {
            let state = serde_json::from_str(&text(row, 1)?)
                .map_err(|_| TeamError::Malformed { what: "a job that a newer docdeck changed" })?;
            stored.insert(text(row, 0)?, state);
        }
        let merge = |change: &OutgoingChange| {
            let mut state = stored.remove(&change.job).unwrap_or_default();
            state.merge(&change.known);
            state.merge(&change.change.stamped(stamp));
            (change.job.clone(), state)
        };
        Ok(batch.changes.iter().map(merge).collect())
    }

    /// Returns the prompts of the batch, without those that the database has in the same or a later version.
    async fn merged_prompts(&self, batch: &TeamBatch) -> Result<Vec<(String, SharedPrompt)>, TeamError> {
        let all: Vec<(&str, &SharedPrompt)> = batch
            .changes
            .iter()
            .flat_map(|change| change.prompts.iter().map(|prompt| (change.job.as_str(), prompt)))
            .collect();
        let uids: Vec<&str> = all.iter().map(|(_, prompt)| prompt.uid.0.as_str()).collect();
        let sql = "SELECT prompt FROM docdeck.prompt WHERE project = $1 AND uid = ANY($2)";
        let rows = self.connection.step(self.connection.client.query(sql, &[&self.project, &uids])).await?;
        let mut stored: HashMap<PromptUid, SharedPrompt> = HashMap::new();
        for row in &rows {
            if let Ok(prompt) = serde_json::from_str::<SharedPrompt>(&text(row, 0)?) {
                stored.insert(prompt.uid.clone(), prompt);
            }
        }
        let newer = all.into_iter().filter_map(|(job, prompt)| {
            let Some(known) = stored.remove(&prompt.uid) else { return Some((job.to_owned(), prompt.clone())) };
            let mut merged = known.clone();
            merged.merge(prompt);
            (merged != known).then(|| (job.to_owned(), merged))
        });
        Ok(newer.collect())
    }
}

fn to_json(value: &impl serde::Serialize) -> Result<String, TeamError> {
    serde_json::to_string(value).map_err(|_| malformed())
}

fn malformed() -> TeamError {
    TeamError::Malformed { what: "a row of another type" }
}

fn number(row: &Row, column: usize) -> Result<i64, TeamError> {
    row.try_get(column).map_err(|_| malformed())
}

fn text(row: &Row, column: usize) -> Result<String, TeamError> {
    row.try_get(column).map_err(|_| malformed())
}
