//! The ids of scopes, and a filter for scopes. Rows of jobs, drafts and cached page views contain the id of their
//! scope.

use super::error::StoreResult;
use super::query::Query as _;
use crate::model::endpoint::Scope;
use rusqlite::Connection;

/// Selects the projects and services whose data is exported, imported or pruned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ScopeFilter {
    /// Only this project, whichever service it is on; `None` for all projects.
    pub project: Option<String>,
    /// Only the service with this address; `None` for all services.
    pub base_url: Option<String>,
}

impl ScopeFilter {
    pub(super) fn includes(&self, scope: &Scope) -> bool {
        let matches_field = |wanted: &Option<String>, is: &str| wanted.as_ref().is_none_or(|wanted| wanted == is);
        matches_field(&self.project, &scope.project) && matches_field(&self.base_url, &scope.base_url)
    }
}

/// Returns the scope's id; `None` if nothing was ever stored for the scope.
pub(super) fn find_scope(db: &Connection, scope: &Scope) -> StoreResult<Option<i64>> {
    let sql = "SELECT id FROM scope WHERE base_url = ?1 AND project = ?2";
    db.query_first(sql, [&scope.base_url, &scope.project], |row| row.get(0))
}

/// Returns the scope's id; adds the scope if it is new.
pub(super) fn ensure_scope(db: &Connection, scope: &Scope) -> StoreResult<i64> {
    if let Some(id) = find_scope(db, scope)? {
        return Ok(id);
    }
    db.insert("INSERT INTO scope (base_url, project) VALUES (?1, ?2)", [&scope.base_url, &scope.project])
}

/// Returns all scopes for which something was ever stored, with their ids.
pub(super) fn read_scopes(db: &Connection) -> StoreResult<Vec<(i64, Scope)>> {
    db.query_all("SELECT id, base_url, project FROM scope ORDER BY base_url, project", [], |row| {
        Ok((row.get(0)?, Scope { base_url: row.get(1)?, project: row.get(2)?, organization: None }))
    })
}
