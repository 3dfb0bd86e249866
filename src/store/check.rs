//! Checks the store while it is in use, on a separate connection. The check consists of short steps, and other
//! processes can write between them.

use super::error::{StoreError, StoreResult};
use super::{Store, open, schema};
use rusqlite::Connection;
use std::collections::BTreeSet;
use std::path::Path;

/// In a file of less than this many bytes, each row of each index is looked up. In a larger file, the rows are only
/// counted: looking them up would block writers for too long.
const FULL_INDEX_CHECK_BELOW_BYTES: u64 = 16 << 20;
/// Maximum number of faults that are read per table.
const MAX_FAULTS_PER_TABLE: usize = 100;

/// The result of [`check_store`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreHealth {
    Sound,
    /// These indexes don't match their tables.
    WrongIndexes(BTreeSet<String>),
    /// Pages of the file can't be read correctly. The next opening recovers what it can.
    Damaged,
}

/// Checks the store in `folder`, and returns `Sound` if there is none. If the file is damaged, also creates the marker
/// file that makes the next opening check every page. Blocks until the check is done.
///
/// # Errors
/// The store can't be opened or has another schema, or another process has locked it.
pub fn check_store(folder: &Path) -> StoreResult<StoreHealth> {
    if !Store::exists(folder) {
        return Ok(StoreHealth::Sound);
    }
    let size = std::fs::metadata(folder.join(open::DATABASE_FILE))?.len();
    let found = open::open_for_reading(folder).and_then(|connection| {
        if size < FULL_INDEX_CHECK_BELOW_BYTES {
            find_wrong_indexes(&connection)
        } else {
            find_indexes_with_wrong_count(&connection, &indexes(&connection)?)
        }
    });
    let health = match found {
        Ok(wrong) if wrong.is_empty() => StoreHealth::Sound,
        Ok(wrong) => StoreHealth::WrongIndexes(wrong),
        Err(StoreError::Damaged) => StoreHealth::Damaged,
        Err(error) => return Err(error),
    };
    if health == StoreHealth::Damaged {
        // If the marker can't be created, the next opening does not check every page.
        let _ = std::fs::File::create(open::damage_marker(folder));
    }
    Ok(health)
}

/// Looks up every row of every index. Returns the indexes with missing or superfluous rows.
fn find_wrong_indexes(connection: &Connection) -> StoreResult<BTreeSet<String>> {
    let mut wrong = BTreeSet::new();
    for table in schema::tables_except_team() {
        let mut check = connection.prepare(&format!("PRAGMA integrity_check({table})"))?;
        let lines = check.query_map([], |row| row.get::<_, String>(0))?;
        for line in lines.take(MAX_FAULTS_PER_TABLE) {
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
    /// The condition of a partial index; `1` for any other index.
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

/// Returns the indexes that don't have as many rows as their table has. For a partial index, only the table's rows that
/// meet its condition are counted.
fn find_indexes_with_wrong_count(
    connection: &Connection,
    indexes: &[IndexDefinition],
) -> StoreResult<BTreeSet<String>> {
    let mut wrong = BTreeSet::new();
    for IndexDefinition { name, table, condition } in indexes {
        let all = connection.prepare(&format!("SELECT * FROM {table} LIMIT 0"))?;
        let all = all.column_names().collect::<Vec<_>>().join(", ");
        // SQLite may count the rows of a table by reading only one of its indexes. No index contains all columns. The
        // second count in this query uses all columns, so that SQLite has to read the table itself.
        let has_same_count = format!(
            "SELECT (SELECT total(1) FROM {table} INDEXED BY {name} WHERE {condition})
                 = (SELECT total(coalesce({all}, 1) IS NOT NULL) FROM {table} NOT INDEXED WHERE {condition})"
        );
        if !connection.query_row(&has_same_count, [], |row| row.get::<_, bool>(0))? {
            wrong.insert(name.clone());
        }
    }
    Ok(wrong)
}

#[cfg(test)]
pub(super) fn indexes_with_wrong_row_count(connection: &Connection) -> StoreResult<BTreeSet<String>> {
    find_indexes_with_wrong_count(connection, &indexes(connection)?)
}
