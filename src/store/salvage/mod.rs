//! Recovers what can be read of a damaged database into a new database.
//!
//! No recovered prompt is sent automatically, since the damaged file may contain an outdated delivery state. Queued
//! prompts are paused, and prompts that were being sent become unconfirmed.

mod database_pages;
mod repair;

use super::error::StoreResult;
use super::open_outcome::RecoveryCounts;
use super::query::Query as _;
use super::{job_rows, schema};
use crate::model::Time;
use crate::model::job::JobKey;
use database_pages::{PageKind, RawPages, RawRecord};
use repair::{RowRepair, SalvagedRow};
use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior, params_from_iter};
use std::collections::HashMap;
use std::path::Path;

/// Whether rows of this table are recovered. Returns `false` for the sizes of job groups, which are computed again, for
/// unfinished loads of page views, which can be started again, and for everything that is not in
/// [`schema::tables_except_team`], such as indexes and the tables about the team.
fn should_recover(table: &str) -> bool {
    schema::tables_except_team().any(|name| name == table)
        && !matches!(table, "job_count" | "views_loading" | "views_part")
}

/// The stored order of columns, for each table whose definition has another order. In a table without rowids, SQLite
/// stores the columns of the primary key first.
const STORED_COLUMN_ORDER: [(&str, &[&str]); 1] = [("job_page", &["job", "path", "position"])];
/// The old and new names of tables that a migration renamed. (Columns need no such list, since they are found by their
/// position.)
const RENAMED_TABLES: [(&str, &str); 1] = [("memory", "key_value")];
/// The index of jobs by the service's id. If a job's own row is lost, its scope, id and key are still in this index.
const JOB_ID_INDEX: &str = "job_by_id";
/// The index of jobs by revision. If a job's own row is lost, its scope is still in this index.
const JOB_REVISION_INDEX: &str = "job_by_revision";
/// The index of scopes. If a scope's own row is lost, all its columns are still in this index.
const SCOPE_INDEX: &str = "sqlite_autoindex_scope_1";
/// The table in which SQLite stores the last key that was assigned in each table.
const SEQUENCE_TABLE: &str = "sqlite_sequence";

/// The rows that were found in a damaged file, by the name of their table or index.
#[derive(Debug, Default)]
pub(super) struct SalvagedTables(HashMap<String, Vec<RawRecord>>);

impl SalvagedTables {
    fn records_of(&self, name: &str) -> &[RawRecord] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    fn add_records(&mut self, name: &str, records: Vec<RawRecord>) {
        self.0.entry(name.to_owned()).or_default().extend(records);
    }
}

pub(super) fn salvage_tables(file: &Path) -> StoreResult<SalvagedTables> {
    let mut pages = RawPages::new(std::fs::read(file)?);
    let mut found = SalvagedTables::default();
    pages.mark_free_pages_as_read();
    let mut trees: Vec<(String, usize)> = pages.read_tree(1).iter().filter_map(name_and_root_page).collect();
    // Each page is read only once. Tables are read first: if both a table and an index lead to the same page because of
    // the damage, the rows of this page count as rows of the table.
    trees.sort_by_key(|(name, _)| !should_recover(name));
    for (name, root) in trees {
        let records = pages.read_tree(root);
        found.add_records(&name, records);
    }
    // A page that no tree contains may be an old copy of another page. Its rows are inserted last, so that they replace
    // no other rows.
    for kind in [PageKind::TableLeaf, PageKind::IndexLeaf] {
        let mut unreachable_rows: HashMap<&str, Vec<RawRecord>> = HashMap::new();
        for records in pages.read_unreachable_pages(kind) {
            if let Some(name) = records.iter().find_map(|record| repair::guess_table(record, kind)) {
                unreachable_rows.entry(name).or_default().extend(records);
            }
        }
        for (name, mut records) in unreachable_rows {
            if name == "prompt" {
                records.sort_by_key(repair::delivery_rank);
            }
            found.add_records(name, records);
        }
    }
    Ok(found)
}

/// Returns the name and the root page of a table or an index, from its row in SQLite's schema table.
fn name_and_root_page(row: &RawRecord) -> Option<(String, usize)> {
    match (row.values.get(1)?.as_ref()?, row.values.get(3)?.as_ref()?) {
        (Value::Text(name), Value::Integer(root)) => {
            let name = RENAMED_TABLES.iter().find(|(old, _)| old == name).map_or(name.as_str(), |(_, new)| new);
            Some((name.to_owned(), usize::try_from(*root).ok()?))
        }
        _ => None,
    }
}

/// Writes the recovered rows into an empty store in one transaction, and returns their counts.
pub(super) fn write_recovered_rows(
    connection: &mut Connection,
    found: &SalvagedTables,
    now: Time,
) -> StoreResult<RecoveryCounts> {
    connection.execute_batch("PRAGMA foreign_keys = OFF")?;
    schema::set_cache_size(connection, schema::CacheSize::Bulk)?;
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    tx.execute("DELETE FROM revision", [])?;
    let mut repair = RowRepair::new(found, now);
    for name in schema::tables_except_team().filter(|name| should_recover(name)) {
        let columns = stored_columns(&tx, name)?;
        for record in found.records_of(name) {
            insert_salvaged_row(&tx, name, repair.repair_row(name, &columns, record))?;
        }
    }
    repair.repair_references(&tx)?;
    derive_prompt_columns_of_jobs(&tx)?;
    let recovered = count_recovered(&tx, repair.paused_count)?;
    tx.commit()?;
    connection.execute_batch("PRAGMA foreign_keys = ON")?;
    schema::set_cache_size(connection, schema::CacheSize::Normal)?;
    Ok(recovered)
}

/// Returns the columns of a table in the order in which they are stored, without generated columns.
fn stored_columns(connection: &Connection, table: &str) -> StoreResult<Vec<String>> {
    if let Some((_, columns)) = STORED_COLUMN_ORDER.iter().find(|(name, _)| *name == table) {
        return Ok(columns.iter().map(|column| (*column).to_owned()).collect());
    }
    let all = connection.prepare(&format!("SELECT * FROM {table} LIMIT 0"))?;
    let all: Vec<String> = all.column_names().map(str::to_owned).collect();
    // A generated column is recognized by SQLite's refusal to update it.
    let is_stored = |column: &String| connection.prepare(&format!("UPDATE {table} SET {column} = {column}")).is_ok();
    Ok(all.into_iter().filter(is_stored).collect())
}

/// Inserts the row. Skips it if a row with its key already exists, or if it violates a constraint.
fn insert_salvaged_row(tx: &Transaction<'_>, table: &str, row: SalvagedRow<'_>) -> StoreResult<()> {
    let (columns, values): (Vec<&str>, Vec<Option<Value>>) = row.into_iter().unzip();
    let parameters = vec!["?"; columns.len()].join(", ");
    let sql = format!("INSERT OR IGNORE INTO {table} ({}) VALUES ({parameters})", columns.join(", "));
    match tx.prepare_cached(&sql)?.execute(params_from_iter(values)) {
        Err(error) if is_invalid_row(&error) => Ok(()),
        done => done.map(|_| ()).map_err(Into::into),
    }
}

/// Whether the row itself caused the error, and not, for example, the disk.
fn is_invalid_row(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch | ErrorCode::TooBig)
    )
}

/// Updates the columns that depend on prompts, for each job that has an undelivered prompt or had one according to its
/// row.
fn derive_prompt_columns_of_jobs(tx: &Transaction<'_>) -> StoreResult<()> {
    let keys: Vec<JobKey> = tx.query_all(
        "SELECT job FROM prompt WHERE state NOT IN ('accepted', 'dismissed')
         UNION SELECT key FROM job WHERE undelivered IS NOT NULL OR queue_position IS NOT NULL",
        [],
        |row| row.get(0),
    )?;
    keys.into_iter().try_for_each(|key| job_rows::bump_revision_and_derive_columns(tx, key).map(|_| ()))
}

fn count_recovered(tx: &Transaction<'_>, paused: u64) -> StoreResult<RecoveryCounts> {
    let count = |sql: &str| tx.query_value::<i64>(sql, []).map(i64::unsigned_abs);
    Ok(RecoveryCounts {
        jobs: count("SELECT count(*) FROM job WHERE merged_into IS NULL")?,
        prompts: count("SELECT count(*) FROM prompt")?,
        drafts: count("SELECT count(*) FROM draft")?,
        unconfirmed: count("SELECT count(*) FROM prompt WHERE state = 'unconfirmed'")?,
        paused,
    })
}
