//! Methods that run one SQL statement each. The prepared statement is cached for the next call.

use super::error::StoreResult;
use rusqlite::types::FromSql;
use rusqlite::{Connection, OptionalExtension as _, Params, Result, Row};

/// Runs single SQL statements on a connection.
pub(super) trait Query {
    fn connection(&self) -> &Connection;

    fn query_all<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnMut(&Row<'_>) -> Result<T>,
    ) -> StoreResult<Vec<T>> {
        let mut statement = self.connection().prepare_cached(sql)?;
        Ok(statement.query_map(params, read)?.collect::<Result<_>>()?)
    }

    /// Returns the first row; `None` if there is none.
    fn query_first<T>(
        &self,
        sql: &str,
        params: impl Params,
        read: impl FnOnce(&Row<'_>) -> Result<T>,
    ) -> StoreResult<Option<T>> {
        Ok(self.connection().prepare_cached(sql)?.query_row(params, read).optional()?)
    }

    /// Returns the first column of the first row. Fails if there is no row.
    fn query_value<T: FromSql>(&self, sql: &str, params: impl Params) -> StoreResult<T> {
        Ok(self.connection().prepare_cached(sql)?.query_row(params, |row| row.get(0))?)
    }

    /// Returns the number of rows that were inserted, updated or deleted.
    fn change(&self, sql: &str, params: impl Params) -> StoreResult<usize> {
        Ok(self.connection().prepare_cached(sql)?.execute(params)?)
    }

    /// Returns the rowid of the inserted row.
    fn insert(&self, sql: &str, params: impl Params) -> StoreResult<i64> {
        Ok(self.connection().prepare_cached(sql)?.insert(params)?)
    }
}

impl Query for Connection {
    fn connection(&self) -> &Connection {
        self
    }
}
