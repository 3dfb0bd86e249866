//! Small facts to keep from one start to the next, each under a key.

use super::error::StoreError;
use rusqlite::{Connection, OptionalExtension as _, Transaction};

pub(super) fn set(tx: &Transaction<'_>, key: &str, value: &str) -> Result<(), StoreError> {
    tx.prepare_cached("INSERT INTO memory (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2")?
        .execute([key, value])?;
    Ok(())
}

/// A number under a key; 0 where there is none.
pub(super) fn counted(connection: &Connection, key: &str) -> Result<i64, StoreError> {
    Ok(get(connection, key)?.and_then(|value| value.parse().ok()).unwrap_or(0))
}

/// Counts the number under a key up.
pub(super) fn count_up(tx: &Transaction<'_>, key: &str) -> Result<(), StoreError> {
    set(tx, key, &counted(tx, key)?.saturating_add(1).to_string())
}

pub(super) fn get(connection: &Connection, key: &str) -> Result<Option<String>, StoreError> {
    let mut ask = connection.prepare_cached("SELECT value FROM memory WHERE key = ?1")?;
    Ok(ask.query_row([key], |row| row.get(0)).optional()?)
}
