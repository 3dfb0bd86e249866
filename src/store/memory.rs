//! Small facts to keep from one start to the next, each under a key.

use super::error::StoreError;
use rusqlite::{Connection, OptionalExtension as _, Transaction};

pub(super) fn remember(tx: &Transaction<'_>, key: &str, value: &str) -> Result<(), StoreError> {
    tx.prepare_cached("INSERT INTO memory (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2")?
        .execute([key, value])?;
    Ok(())
}

pub(super) fn recall(connection: &Connection, key: &str) -> Result<Option<String>, StoreError> {
    let mut ask = connection.prepare_cached("SELECT value FROM memory WHERE key = ?1")?;
    Ok(ask.query_row([key], |row| row.get(0)).optional()?)
}
