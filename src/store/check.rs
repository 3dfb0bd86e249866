//! Checks the store while it is in use: on a separate connection, in short steps between which others can write.

use super::error::{StoreError, StoreResult};
use super::{open, schema};
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::path::Path;

/// In a larger file, the rows of the indexes are only counted: looking up each row would block writers for too long.
const COUNTED_FROM: u64 = 16 << 20;
/// Faults that are read per table.
const FAULTS: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    Sound,
    /// These indexes don't match their tables.
    WrongIndexes(BTreeSet<String>),
    /// Pages can't be read correctly. The next opening recovers what it can.
    Damaged,
}

/// Checks the store in `folder` if it exists and has the current schema. Blocks until the check is done.
///
/// # Errors
/// The store can't be opened, or another process has locked it.
pub fn check_store(folder: &Path) -> StoreResult<Health> {
    if !open::exists(folder) {
        return Ok(Health::Sound);
    }
    let size = std::fs::metadata(folder.join(open::FILE))?.len();
    let found = open::open_for_reading(folder).and_then(|connection| {
        if size < COUNTED_FROM { check_rows(&connection) } else { count_rows(&connection, &indexes(&connection)?) }
    });
    let health = match found {
        Ok(wrong) if wrong.is_empty() => Health::Sound,
        Ok(wrong) => Health::WrongIndexes(wrong),
        Err(StoreError::Damaged) => Health::Damaged,
        Err(error) => return Err(error),
    };
    if health == Health::Damaged {
        // Without the note, the next opening checks less thoroughly.
        let _ = std::fs::File::create(open::damage_note(folder));
    }
    Ok(health)
}

/// Finds indexes with missing or superfluous rows by looking up every row of every index.
fn check_rows(connection: &Connection) -> StoreResult<BTreeSet<String>> {
    let mut wrong = BTreeSet::new();
    for table in schema::TABLES {
        let mut check = connection.prepare(&format!("PRAGMA integrity_check({table})"))?;
        let lines = check.query_map([], |row| row.get::<_, String>(0))?;
        for line in lines.take(FAULTS) {
            let line = line?;
            match line.rsplit_once(" index ") {
                Some((_, index)) => drop(wrong.insert(index.to_owned())),
                None if line == "ok" => {}
                None => return Err(StoreError::Damaged),
            }
        }
    }
    Ok(wrong)
}

struct IndexDefinition {
    name: String,
    table: String,
    /// The condition of a partial index; otherwise `1`.
    condition: String,
}

fn indexes(connection: &Connection) -> StoreResult<Vec<IndexDefinition>> {
    let mut statement =
        connection.prepare("SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")?;
    let indexes = statement.query_map([], |row| {
        let sql: String = row.get(2)?;
        let condition = sql.split_once(" WHERE ").map_or("1", |(_, condition)| condition).to_owned();
        Ok(IndexDefinition { name: row.get(0)?, table: row.get(1)?, condition })
    })?;
    Ok(indexes.collect::<rusqlite::Result<_>>()?)
}

/// Finds indexes whose number of rows differs from their table's.
fn count_rows(connection: &Connection, indexes: &[IndexDefinition]) -> StoreResult<BTreeSet<String>> {
    let mut wrong = BTreeSet::new();
    for IndexDefinition { name, table, condition } in indexes {
        let all = connection.prepare(&format!("SELECT * FROM {table} LIMIT 0"))?;
        let all = all.column_names().collect::<Vec<_>>().join(", ");
        // SQLite counts rows in the smallest index, unless it needs columns that no index has.
        let same = format!(
            "SELECT (SELECT total(1) FROM {table} INDEXED BY {name} WHERE {condition})
                 = (SELECT total(coalesce({all}, 1) IS NOT NULL) FROM {table} NOT INDEXED WHERE {condition})"
        );
        if !connection.query_row(&same, [], |row| row.get::<_, bool>(0))? {
            wrong.insert(name.clone());
        }
    }
    Ok(wrong)
}

#[cfg(test)]
pub(super) fn counted(connection: &Connection) -> StoreResult<BTreeSet<String>> {
    count_rows(connection, &indexes(connection)?)
}
