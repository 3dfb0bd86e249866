//! Checks a store beside its use: on a connection of its own, in short steps between which others can write.

use super::error::StoreError;
use super::{open, schema};
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::path::Path;

type R<T> = Result<T, StoreError>;

/// A larger file has the rows of its indexes counted only: to look each one up would keep writers waiting too long.
const COUNTED_FROM: u64 = 16 << 20;
/// Faults that are read of one table.
const FAULTS: usize = 100;

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Health {
    Sound,
    /// These indexes don't fit their tables.
    Indexes(BTreeSet<String>),
    /// Pages make no sense. The next opening recovers what can be read.
    Damaged,
}

/// Checks the store in `folder`, if it is there and of the known schema. Blocks for as long as that takes.
///
/// # Errors
/// It can't be opened, or another process has it locked.
pub fn check(folder: &Path) -> R<Health> {
    if !open::is_there(folder) {
        return Ok(Health::Sound);
    }
    let size = std::fs::metadata(folder.join(open::FILE))?.len();
    let found = open::peek(folder).and_then(|connection| {
        if size < COUNTED_FROM { look_up(&connection) } else { count(&connection, &indexes(&connection)?) }
    });
    let health = match found {
        Ok(wrong) if wrong.is_empty() => Health::Sound,
        Ok(wrong) => Health::Indexes(wrong),
        Err(StoreError::Damaged) => Health::Damaged,
        Err(error) => return Err(error),
    };
    if health == Health::Damaged {
        // Without the note, the next opening looks less closely.
        let _ = std::fs::File::create(open::damage_note(folder));
    }
    Ok(health)
}

/// Indexes that lack a row of their table or have one too many; looks up every row of every index.
fn look_up(connection: &Connection) -> R<BTreeSet<String>> {
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
    /// Of an index that has some rows only, which.
    condition: String,
}

fn indexes(connection: &Connection) -> R<Vec<IndexDefinition>> {
    let mut ask =
        connection.prepare("SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'index' AND sql IS NOT NULL")?;
    let indexes = ask.query_map([], |row| {
        let sql: String = row.get(2)?;
        let condition = sql.split_once(" WHERE ").map_or("1", |(_, condition)| condition).to_owned();
        Ok(IndexDefinition { name: row.get(0)?, table: row.get(1)?, condition })
    })?;
    Ok(indexes.collect::<rusqlite::Result<_>>()?)
}

/// Indexes that have another number of rows than their table.
fn count(connection: &Connection, indexes: &[IndexDefinition]) -> R<BTreeSet<String>> {
    let mut wrong = BTreeSet::new();
    for IndexDefinition { name, table, condition } in indexes {
        let all = connection.prepare(&format!("SELECT * FROM {table} LIMIT 0"))?;
        let all = all.column_names().collect::<Vec<_>>().join(", ");
        // SQLite counts rows by whatever index is the smallest, unless it needs columns that no index has.
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
pub(super) fn counted(connection: &Connection) -> R<BTreeSet<String>> {
    count(connection, &indexes(connection)?)
}
