//! Prompts for new jobs that are on their way or went out lately: what a batch that is given again must not send again.

use super::columns::{self, STATE, UnixMillis};
use super::error::StoreError;
use super::scopes;
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::prompt::{DeliveryKind, PromptId};
use crate::model::row::JobKey;
use rusqlite::{Connection, params};

/// A prompt that made a job, or is to make one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownPrompt {
    pub id: PromptId,
    pub job: JobKey,
    pub text: String,
    pub state: DeliveryKind,
}

/// Those that wait, whatever their age, and those that were written or sent since then, oldest first. What was refused or
/// let go is not among them.
pub(super) fn since(connection: &Connection, scope: &Scope, since: Time) -> Result<Vec<KnownPrompt>, StoreError> {
    let Some(scope) = scopes::find(connection, scope)? else { return Ok(Vec::new()) };
    let mut ask = connection.prepare_cached(&format!(
        "SELECT prompt.id, prompt.job, prompt.text, {STATE} FROM prompt JOIN job ON job.key = prompt.job
         WHERE job.scope = ?1 AND kind = 'create'
           AND (state IN ('queued', 'sending')
                OR (state IN ('accepted', 'unconfirmed', 'not sent') AND coalesce(sent_at, written_at) >= ?2))
         ORDER BY prompt.id"
    ))?;
    let known = ask.query_map(params![scope, UnixMillis(since)], |row| {
        Ok(KnownPrompt {
            id: PromptId(row.get(0)?),
            job: JobKey(row.get(1)?),
            text: row.get(2)?,
            state: columns::state(row, 3)?,
        })
    })?;
    Ok(known.collect::<rusqlite::Result<_>>()?)
}
