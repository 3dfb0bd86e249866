//! Finds the prompts of new jobs that are queued or were sent recently. If a batch is submitted again, these prompts
//! must not be sent twice.

use super::Store;
use super::columns::{UnixMillis, read_delivery_kind};
use super::error::StoreResult;
use super::query::Query as _;
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::prompt::{DeliveryKind, PromptId};
use crate::model::row::JobKey;
use rusqlite::params;

/// A prompt that created a job, or will create one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecentPrompt {
    pub id: PromptId,
    pub job: JobKey,
    pub text: String,
    pub state: DeliveryKind,
}

impl Store {
    /// Returns prompts of new jobs, oldest first: those that are queued or being sent, and those in `Accepted`,
    /// `Unconfirmed` or `NotSent` that were sent at `since` or later. If a prompt was never sent, the time at which it
    /// was written counts instead.
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
}
