//! Recovers what can be read of a damaged database into a new one.
//!
//! No recovered prompt is sent automatically: the damaged file may hold an old state of its delivery. Queued prompts are
//! paused, and a prompt that may have been sent is unconfirmed.

mod pages;
mod repair;

use super::error::StoreResult;
use super::{jobs, schema};
use crate::model::Time;
use crate::model::row::JobKey;
use pages::{PageKind, RawPages, Record};
use repair::RowRepair;
use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior, params_from_iter};
use std::collections::HashMap;
use std::path::Path;

/// What was recovered from a damaged database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Recovered {
    pub jobs: u64,
    pub prompts: u64,
    pub drafts: u64,
    /// Prompts that may have been sent.
    pub unconfirmed: u64,
    /// Prompts that were queued.
    pub paused: u64,
}

impl Recovered {
    /// One or two sentences for the user.
    #[must_use]
    pub fn message(&self) -> String {
        let Self { jobs, prompts, drafts, unconfirmed, paused } = *self;
        if (jobs, prompts, drafts) == (0, 0, 0) {
            return "No job, prompt or draft could be recovered from it.".to_owned();
        }
        let count = |n: u64, one: &str| format!("{n} {one}{}", if n == 1 { "" } else { "s" });
        let mut sentence = format!(
            "Recovered {}, {} and {}; some may be missing.",
            count(jobs, "job"),
            count(prompts, "prompt"),
            count(drafts, "draft")
        );
        let are = |n| if n == 1 { "is" } else { "are" };
        match (unconfirmed, paused) {
            (0, 0) => {}
            (0, n) => sentence.push_str(&format!(" {} {} paused.", count(n, "queued prompt"), are(n))),
            (n, 0) => sentence.push_str(&format!(" {} {} unconfirmed.", count(n, "prompt"), are(n))),
            (n, m) => sentence.push_str(&format!(
                " {} {} unconfirmed, {} {} paused.",
                count(n, "prompt"),
                are(n),
                count(m, "queued prompt"),
                are(m)
            )),
        }
        sentence
    }
}

/// The tables that are recovered; tables that others refer to come first. Unfinished loads are not recovered: they can
/// be started again.
const TABLES: [&str; 15] = [
    "scope",
    "revision",
    "key_value",
    "ledger",
    "ledger_use",
    "job",
    "prompt",
    "event",
    "job_page",
    "draft",
    "views_answer",
    "views_total",
    "views_report",
    "views_path",
    "views_row",
];
/// The stored order of columns, for tables that are stored by a primary key in another order than their definition.
const STORED: [(&str, &[&str]); 1] = [("job_page", &["job", "path", "position"])];
/// Tables that had another name in an older schema. (Columns are found by their position, whatever they were called.)
const RENAMED: [(&str, &str); 1] = [("memory", "key_value")];
/// Indexes that contain the essential columns of a row whose own page is lost.
const JOB_BY_ID: &str = "job_by_id";
const JOB_BY_REVISION: &str = "job_by_revision";
const SCOPE_INDEX: &str = "sqlite_autoindex_scope_1";
/// The table in which SQLite stores the last assigned key.
const SEQUENCE: &str = "sqlite_sequence";

/// The records of a damaged file by the name of their table or index.
#[derive(Debug, Default)]
pub(super) struct SalvagedTables(HashMap<String, Vec<Record>>);

impl SalvagedTables {
    fn of(&self, name: &str) -> &[Record] {
        self.0.get(name).map_or(&[], Vec::as_slice)
    }

    fn add(&mut self, name: &str, records: Vec<Record>) {
        self.0.entry(name.to_owned()).or_default().extend(records);
    }
}

pub(super) fn salvage_tables(file: &Path) -> StoreResult<SalvagedTables> {
    let mut pages = RawPages::new(std::fs::read(file)?);
    let mut found = SalvagedTables::default();
    pages.skip_free();
    let mut trees: Vec<(String, usize)> = pages.tree(1).iter().filter_map(tree_of).collect();
    // If two trees lead to a row, it belongs to the table, which is read first.
    trees.sort_by_key(|(name, _)| !TABLES.contains(&name.as_str()));
    for (name, root) in trees {
        let records = pages.tree(root);
        found.add(&name, records);
    }
    // An unreached page may be an old copy of another one, so these rows come last.
    for kind in [PageKind::TableLeaf, PageKind::IndexLeaf] {
        let mut unreached: HashMap<&str, Vec<Record>> = HashMap::new();
        for records in pages.unreached(kind) {
            if let Some(name) = records.iter().find_map(|record| repair::table_of(record, kind)) {
                unreached.entry(name).or_default().extend(records);
            }
        }
        for (name, mut records) in unreached {
            if name == "prompt" {
                records.sort_by_key(repair::delivery_rank);
            }
            found.add(name, records);
        }
    }
    Ok(found)
}

/// Name and root page of a table or an index, from its row in the schema.
fn tree_of(row: &Record) -> Option<(String, usize)> {
    match (row.values.get(1)?.as_ref()?, row.values.get(3)?.as_ref()?) {
        (Value::Text(name), Value::Integer(root)) => {
            let name = RENAMED.iter().find(|(old, _)| old == name).map_or(name.as_str(), |(_, new)| new);
            Some((name.to_owned(), usize::try_from(*root).ok()?))
        }
        _ => None,
    }
}

/// Writes the recovered rows into an empty store, in one transaction.
pub(super) fn write_recovered_rows(
    connection: &mut Connection,
    found: &SalvagedTables,
    now: Time,
) -> StoreResult<Recovered> {
    connection.execute_batch("PRAGMA foreign_keys = OFF")?;
    schema::set_cache(connection, schema::PageCache::Bulk)?;
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    tx.execute("DELETE FROM revision", [])?;
    let mut repair = RowRepair::new(found, now);
    for name in TABLES {
        let columns = stored_columns(&tx, name)?;
        for record in found.of(name) {
            let mut values = repair.values(name, &columns, record);
            values.truncate(columns.len());
            insert_salvaged(&tx, name, &columns, &values)?;
        }
    }
    repair.repair_references(&tx)?;
    touch_jobs(&tx)?;
    let recovered = count_recovered(&tx, repair.paused)?;
    tx.commit()?;
    connection.execute_batch("PRAGMA foreign_keys = ON")?;
    schema::set_cache(connection, schema::PageCache::Normal)?;
    Ok(recovered)
}

/// The columns of a table that are stored, without generated ones.
fn stored_columns(connection: &Connection, table: &str) -> StoreResult<Vec<String>> {
    if let Some((_, columns)) = STORED.iter().find(|(name, _)| *name == table) {
        return Ok(columns.iter().map(|column| (*column).to_owned()).collect());
    }
    let all = connection.prepare(&format!("SELECT * FROM {table} LIMIT 0"))?;
    let all: Vec<String> = all.column_names().map(str::to_owned).collect();
    // SQLite refuses to update a generated column.
    let is_stored = |column: &String| connection.prepare(&format!("UPDATE {table} SET {column} = {column}")).is_ok();
    Ok(all.into_iter().filter(is_stored).collect())
}

/// Inserts a row, unless it exists already or violates a constraint.
fn insert_salvaged(tx: &Transaction<'_>, table: &str, columns: &[String], values: &[Option<Value>]) -> StoreResult<()> {
    let named: Vec<&str> = columns.iter().take(values.len()).map(String::as_str).collect();
    let parameters = vec!["?"; named.len()].join(", ");
    let sql = format!("INSERT OR IGNORE INTO {table} ({}) VALUES ({parameters})", named.join(", "));
    let values = values.iter().map(|value| value.clone().unwrap_or(Value::Null));
    match tx.prepare_cached(&sql)?.execute(params_from_iter(values)) {
        Err(error) if is_invalid_row(&error) => Ok(()),
        done => done.map(|_| ()).map_err(Into::into),
    }
}

/// Whether the row caused the error, not the disk.
fn is_invalid_row(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch | ErrorCode::TooBig)
    )
}

/// Recomputes the columns of each job that depend on its prompts.
fn touch_jobs(tx: &Transaction<'_>) -> StoreResult<()> {
    let keys: Vec<i64> = tx
        .prepare(
            "SELECT job FROM prompt WHERE state NOT IN ('accepted', 'dismissed')
             UNION SELECT key FROM job WHERE undelivered IS NOT NULL OR queue_position IS NOT NULL",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    keys.into_iter().try_for_each(|key| jobs::touch(tx, JobKey(key)).map(|_| ()))
}

fn count_recovered(tx: &Transaction<'_>, paused: u64) -> StoreResult<Recovered> {
    let count =
        |sql: &str| -> StoreResult<u64> { Ok(tx.query_row(sql, [], |row| row.get::<_, i64>(0))?.unsigned_abs()) };
    Ok(Recovered {
        jobs: count("SELECT count(*) FROM job WHERE merged_into IS NULL")?,
        prompts: count("SELECT count(*) FROM prompt")?,
        drafts: count("SELECT count(*) FROM draft")?,
        unconfirmed: count("SELECT count(*) FROM prompt WHERE state = 'unconfirmed'")?,
        paused,
    })
}
