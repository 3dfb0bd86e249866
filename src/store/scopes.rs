//! The ids of scopes. Rows of jobs, drafts and cached page views contain the id of their scope.

use super::error::StoreError;
use crate::model::endpoint::Scope;
use rusqlite::{Connection, OptionalExtension as _};

/// Returns the scope's id; `None` if nothing was ever stored for the scope.
pub(super) fn find_scope(connection: &Connection, scope: &Scope) -> Result<Option<i64>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT id FROM scope WHERE base_url = ?1 AND project = ?2")?;
    Ok(statement.query_row([&scope.base_url, &scope.project], |row| row.get(0)).optional()?)
}

/// Returns the scope's id; adds the scope if it is new.
pub(super) fn ensure_scope(connection: &Connection, scope: &Scope) -> Result<i64, StoreError> {
    if let Some(id) = find_scope(connection, scope)? {
        return Ok(id);
    }
    connection.execute("INSERT INTO scope (base_url, project) VALUES (?1, ?2)", [&scope.base_url, &scope.project])?;
    Ok(connection.last_insert_rowid())
}

/// Returns all scopes for which something was ever stored.
pub(super) fn read_scopes(connection: &Connection) -> Result<Vec<Scope>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT base_url, project FROM scope ORDER BY base_url, project")?;
    let scopes =
        statement.query_map([], |row| Ok(Scope { base_url: row.get(0)?, project: row.get(1)?, organization: None }))?;
    Ok(scopes.collect::<rusqlite::Result<_>>()?)
}
