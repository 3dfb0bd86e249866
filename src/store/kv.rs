//! Key-value pairs that are kept when docdeck ends, for example the layout.

use super::Store;
use super::error::StoreResult;
use super::query::Query as _;
use crate::model::endpoint::Scope;
use chrono::TimeDelta;
use rusqlite::{Connection, Transaction};

impl Store {
    /// Stores a value (for example the layout) under a key.
    pub async fn set_value(&self, key: &str, value: &str) -> StoreResult<()> {
        let (key, value) = (key.to_owned(), value.to_owned());
        self.write(move |tx| set(tx, &key, &value)).await
    }

    /// Returns the value stored under this key.
    pub async fn value(&self, key: &str) -> StoreResult<Option<String>> {
        let key = key.to_owned();
        self.read(move |db| get(db, &key)).await
    }

    /// Returns how far the service's clock was ahead of the local clock when an instance last saved this offset; `None`
    /// if none was saved.
    pub async fn service_clock_offset(&self, scope: &Scope) -> StoreResult<Option<TimeDelta>> {
        let saved = self.value(&scope.clock_offset_store_key()).await?;
        Ok(saved.and_then(|millis| millis.parse().ok()).and_then(TimeDelta::try_milliseconds))
    }
}

pub(super) fn set(tx: &Transaction<'_>, key: &str, value: &str) -> StoreResult<()> {
    tx.change(
        "INSERT INTO key_value (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = ?2",
        [key, value],
    )?;
    Ok(())
}

pub(super) fn delete(tx: &Transaction<'_>, key: &str) -> StoreResult<()> {
    tx.change("DELETE FROM key_value WHERE key = ?1", [key])?;
    Ok(())
}

pub(super) fn get(db: &Connection, key: &str) -> StoreResult<Option<String>> {
    db.query_first("SELECT value FROM key_value WHERE key = ?1", [key], |row| row.get(0))
}

/// Returns the number stored under a key; 0 if there is none.
pub(super) fn get_number(db: &Connection, key: &str) -> StoreResult<i64> {
    Ok(get(db, key)?.and_then(|value| value.parse().ok()).unwrap_or(0))
}

/// Increments the number stored under a key.
pub(super) fn increment_number(tx: &Transaction<'_>, key: &str) -> StoreResult<()> {
    set(tx, key, &get_number(tx, key)?.saturating_add(1).to_string())
}
