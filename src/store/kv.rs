//! Key-value pairs that are kept when docdeck ends, for example the layout.

use super::error::StoreError;
use rusqlite::{Connection, OptionalExtension as _, Transaction};

pub(super) fn set(tx: &Transaction<'_>, key: &str, value: &str) -> Result<(), StoreError> {
    tx.prepare_cached("INSERT INTO key_value (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2")?
        .execute([key, value])?;
    Ok(())
}

/// Returns the number stored under a key; 0 if there is none.
pub(super) fn get_number(connection: &Connection, key: &str) -> Result<i64, StoreError> {
    Ok(get(connection, key)?.and_then(|value| value.parse().ok()).unwrap_or(0))
}

/// Increments the number stored under a key.
pub(super) fn increment_number(tx: &Transaction<'_>, key: &str) -> Result<(), StoreError> {
    set(tx, key, &get_number(tx, key)?.saturating_add(1).to_string())
}

pub(super) fn get(connection: &Connection, key: &str) -> Result<Option<String>, StoreError> {
    let mut statement = connection.prepare_cached("SELECT value FROM key_value WHERE key = ?1")?;
    Ok(statement.query_row([key], |row| row.get(0)).optional()?)
}
