//! Finds the prompts of new jobs that are queued or were sent recently. If a batch is submitted again, these prompts
//! must not be sent twice.

use super::columns::{self, STATE_SQL, UnixMillis};
use super::error::StoreError;
use super::scopes;
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::prompt::{DeliveryKind, PromptId};
use crate::model::row::JobKey;
use rusqlite::{Connection, params};

/// A prompt that created a job, or will create one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecentPrompt {
    pub id: PromptId,
    pub job: JobKey,
    pub text: String,
    pub state: DeliveryKind,
}

/// Returns prompts of new jobs, oldest first: those that are queued or being sent, and those in `Accepted`,
/// `Unconfirmed` or `NotSent` that were sent at `since` or later. If a prompt was never sent, the time at which it was
/// written counts instead.
pub(super) fn find_recent_prompts(
    connection: &Connection,
    scope: &Scope,
    since: Time,
) -> Result<Vec<RecentPrompt>, StoreError> {
    let Some(scope) = scopes::find_scope(connection, scope)? else { return Ok(Vec::new()) };
    let mut statement = connection.prepare_cached(&format!(
        "SELECT prompt.id, prompt.job, prompt.text, {STATE_SQL} FROM prompt JOIN job ON job.key = prompt.job
         WHERE job.scope = ?1 AND kind = 'create'
           AND (state IN ('queued', 'sending')
                OR (state IN ('accepted', 'unconfirmed', 'not sent') AND coalesce(sent_at, written_at) >= ?2))
         ORDER BY prompt.id"
    ))?;
    let prompts = statement.query_map(params![scope, UnixMillis(since)], |row| {
        Ok(RecentPrompt {
            id: PromptId(row.get(0)?),
            job: JobKey(row.get(1)?),
            text: row.get(2)?,
            state: columns::read_delivery_kind(row, 3)?,
        })
    })?;
    Ok(prompts.collect::<rusqlite::Result<_>>()?)
}
