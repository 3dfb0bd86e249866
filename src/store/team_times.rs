//! When this computer exchanged changes with the team. The times can be read without opening a store, since commands
//! check at each start whether an exchange is due.

use super::columns::read_optional_time;
use super::error::StoreResult;
use super::query::Query as _;
use super::status_summary::read_immediately;
use super::{Store, kv, scopes};
use crate::model::Time;
use crate::model::endpoint::Scope;
use rusqlite::Connection;
use std::path::Path;

/// The key under which the time of the last failed exchange is stored.
const FAILED_AT_KEY: &str = "team-failed-at";

/// When this computer last exchanged changes of a project, on the local clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TeamExchangeTimes {
    /// When the last exchange ended; `None` if there was none.
    pub exchanged_at: Option<Time>,
    /// When an exchange of any project last failed; `None` if none has failed.
    pub failed_at: Option<Time>,
}

impl Store {
    /// Reads the times immediately, on the calling thread, and writes nothing. Returns `None` if there is no store, or
    /// if the project is not shared.
    ///
    /// # Errors
    /// The errors of [`Store::open`]; a damaged file is left in place.
    pub fn team_exchange_times(folder: &Path, scope: &Scope) -> StoreResult<Option<TeamExchangeTimes>> {
        read_immediately(folder, |db| read_times(db, scope))
    }

    /// Stores when an exchange failed.
    pub async fn record_failed_team_exchange(&self, now: Time) -> StoreResult<()> {
        self.set_value(FAILED_AT_KEY, &now.to_rfc3339()).await
    }
}

fn read_times(db: &Connection, scope: &Scope) -> StoreResult<Option<TeamExchangeTimes>> {
    // In a file that an older docdeck wrote, no project is shared.
    if !db.query_value("SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'team')", [])? {
        return Ok(None);
    }
    let Some(scope) = scopes::find_scope(db, scope)? else { return Ok(None) };
    let shared =
        db.query_first("SELECT exchanged_at FROM team WHERE scope = ?1", [scope], |row| read_optional_time(row, 0))?;
    let Some(exchanged_at) = shared else { return Ok(None) };
    let failed_at = kv::get(db, FAILED_AT_KEY)?.and_then(|at| at.parse().ok());
    Ok(Some(TeamExchangeTimes { exchanged_at, failed_at }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_times_are_those_of_a_shared_project() {
        let folder = tempfile::tempdir().expect("a folder");
        let scope = Scope { base_url: "https://docs.example".to_owned(), project: "p".to_owned(), organization: None };
        let times = || Store::team_exchange_times(folder.path(), &scope).expect("read");
        assert_eq!(times(), None, "there is no store");
        let now: Time = "2026-11-20T12:00:00Z".parse().expect("a time");
        let (store, _) = Store::open(folder.path(), now).expect("a store");
        assert_eq!(times(), None, "not shared");
        store.join_team(&scope, "docs").await.expect("joined");
        assert_eq!(times(), Some(TeamExchangeTimes::default()));
        store.record_team_exchange(&scope, now).await.expect("stored");
        store.record_failed_team_exchange(now).await.expect("stored");
        assert_eq!(times(), Some(TeamExchangeTimes { exchanged_at: Some(now), failed_at: Some(now) }));
        store.leave_team(&scope).await.expect("left");
        assert_eq!(times(), None);
        store.close().await;
    }
}
