//! Recovers what can be read of a damaged database into a new one.
//!
//! Nothing that was recovered is sent by itself: what the damaged file says about a delivery may be old, so queued prompts are
//! paused, and a prompt of which it is not certain whether it was sent is unconfirmed.

mod mend;
mod pages;

use super::error::StoreError;
use super::{jobs, schema};
use crate::model::Time;
use crate::model::row::JobKey;
use mend::Mender;
use pages::{PageKind, RawPages, Record};
use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior, params_from_iter};
use std::collections::HashMap;
use std::path::Path;

type R<T> = Result<T, StoreError>;

/// What was recovered of a damaged database.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Recovered {
    pub jobs: u64,
    pub prompts: u64,
    pub drafts: u64,
    /// Of the prompts, those that may or may not have been sent.
    pub unconfirmed: u64,
    /// Of the prompts, those that were queued.
    pub paused: u64,
}

impl Recovered {
    /// What the user needs to know, as a sentence or two.
    #[must_use]
    pub fn sentence(&self) -> String {
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
                count(m, "queued one"),
                are(m)
            )),
        }
        sentence
    }
}

/// The tables that are recovered, those first that others refer to. A load that was under way is not: it can be started again.
const TABLES: [&str; 15] = [
    "scope",
    "revision",
    "memory",
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
/// The order of columns in tables that are stored by their primary key, if it is not that of their definition.
const STORED: [(&str, &[&str]); 1] = [("job_page", &["job", "path", "place"])];
/// Indexes that have what is needed of a row whose own page is lost.
const JOB_BY_ID: &str = "job_by_id";
const JOB_BY_REVISION: &str = "job_by_revision";
const SCOPE_INDEX: &str = "sqlite_autoindex_scope_1";
/// Where SQLite keeps the last key that was given out.
const SEQUENCE: &str = "sqlite_sequence";

/// What a damaged file has, by the name of the table or index.
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

/// Reads all rows of the file that make sense.
pub(super) fn read(file: &Path) -> R<SalvagedTables> {
    let mut pages = RawPages::new(std::fs::read(file)?);
    let mut found = SalvagedTables::default();
    pages.skip_free();
    let mut trees: Vec<(String, usize)> = pages.tree(1).iter().filter_map(tree_of).collect();
    // A row that two trees lead to belongs to the table, which was read first.
    trees.sort_by_key(|(name, _)| !TABLES.contains(&name.as_str()));
    for (name, root) in trees {
        let records = pages.tree(root);
        found.add(&name, records);
    }
    // An unreached page may be an old copy of another one, so these rows come last.
    for kind in [PageKind::TableLeaf, PageKind::IndexLeaf] {
        let mut unreached: HashMap<&str, Vec<Record>> = HashMap::new();
        for records in pages.unreached(kind) {
            if let Some(name) = records.iter().find_map(|record| mend::table_of(record, kind)) {
                unreached.entry(name).or_default().extend(records);
            }
        }
        for (name, mut records) in unreached {
            if name == "prompt" {
                records.sort_by_key(mend::how_settled);
            }
            found.add(name, records);
        }
    }
    Ok(found)
}

/// Name and root page of a table or an index, by its row in the schema.
fn tree_of(row: &Record) -> Option<(String, usize)> {
    match (row.values.get(1)?.as_ref()?, row.values.get(3)?.as_ref()?) {
        (Value::Text(name), Value::Integer(root)) => Some((name.clone(), usize::try_from(*root).ok()?)),
        _ => None,
    }
}

/// Writes what was found into an empty store, in one transaction.
pub(super) fn write(connection: &mut Connection, found: &SalvagedTables, now: Time) -> R<Recovered> {
    connection.execute_batch("PRAGMA foreign_keys = OFF")?;
    schema::set_cache(connection, schema::Cache::Bulk)?;
    let tx = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    tx.execute("DELETE FROM revision", [])?;
    let mut mender = Mender::new(found, now);
    for name in TABLES {
        let columns = stored_columns(&tx, name)?;
        for record in found.of(name) {
            let mut values = mender.values(name, &columns, record);
            values.truncate(columns.len());
            insert(&tx, name, &columns, &values)?;
        }
    }
    mender.join_up(&tx)?;
    touch(&tx)?;
    let recovered = count(&tx, mender.paused)?;
    tx.commit()?;
    connection.execute_batch("PRAGMA foreign_keys = ON")?;
    schema::set_cache(connection, schema::Cache::Usual)?;
    Ok(recovered)
}

/// The columns of a table as its rows are stored: without those that are computed.
fn stored_columns(connection: &Connection, table: &str) -> R<Vec<String>> {
    if let Some((_, columns)) = STORED.iter().find(|(name, _)| *name == table) {
        return Ok(columns.iter().map(|column| (*column).to_owned()).collect());
    }
    let all = connection.prepare(&format!("SELECT * FROM {table} LIMIT 0"))?;
    let all: Vec<String> = all.column_names().map(str::to_owned).collect();
    // SQLite refuses to set a computed one.
    let is_stored = |column: &String| connection.prepare(&format!("UPDATE {table} SET {column} = {column}")).is_ok();
    Ok(all.into_iter().filter(is_stored).collect())
}

/// Inserts a row, unless it is there already or the table can't have it.
fn insert(tx: &Transaction<'_>, table: &str, columns: &[String], values: &[Option<Value>]) -> R<()> {
    let named: Vec<&str> = columns.iter().take(values.len()).map(String::as_str).collect();
    let places = vec!["?"; named.len()].join(", ");
    let sql = format!("INSERT OR IGNORE INTO {table} ({}) VALUES ({places})", named.join(", "));
    let values = values.iter().map(|value| value.clone().unwrap_or(Value::Null));
    match tx.prepare_cached(&sql)?.execute(params_from_iter(values)) {
        Err(error) if is_refused(&error) => Ok(()),
        done => done.map(|_| ()).map_err(Into::into),
    }
}

/// Whether the row is at fault, not the disk.
fn is_refused(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_error_code(),
        Some(ErrorCode::ConstraintViolation | ErrorCode::TypeMismatch | ErrorCode::TooBig)
    )
}

/// Works out anew what each job shows of its prompts.
fn touch(tx: &Transaction<'_>) -> R<()> {
    let keys: Vec<i64> = tx
        .prepare(
            "SELECT job FROM prompt WHERE state NOT IN ('accepted', 'dismissed')
             UNION SELECT key FROM job WHERE undelivered IS NOT NULL OR place IS NOT NULL",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    keys.into_iter().try_for_each(|key| jobs::touch(tx, JobKey(key)).map(|_| ()))
}

fn count(tx: &Transaction<'_>, paused: u64) -> R<Recovered> {
    let count = |sql: &str| -> R<u64> { Ok(tx.query_row(sql, [], |row| row.get::<_, i64>(0))?.unsigned_abs()) };
    Ok(Recovered {
        jobs: count("SELECT count(*) FROM job WHERE merged_into IS NULL")?,
        prompts: count("SELECT count(*) FROM prompt")?,
        drafts: count("SELECT count(*) FROM draft")?,
        unconfirmed: count("SELECT count(*) FROM prompt WHERE state = 'unconfirmed'")?,
        paused,
    })
}
