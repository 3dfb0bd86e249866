//! The numbered migrations of `assets/schema`, the settings of a connection, and whether a file is docdeck's and sound.
//!
//! `PRAGMA user_version` is the number of the last migration that was carried out.

use super::error::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, TransactionBehavior};
use std::path::Path;
use std::time::Duration;

/// What gives each job its group, as the column `need`.
const JOB_STATES: &str = include_str!("../../assets/schema/0009_job_states.sql");

/// All migrations, oldest first: the first one makes schema 1.
pub(super) const MIGRATIONS: [&str; 10] = [
    include_str!("../../assets/schema/0001_begin.sql"),
    include_str!("../../assets/schema/0002_own_words.sql"),
    include_str!("../../assets/schema/0003_batch_draft.sql"),
    include_str!("../../assets/schema/0004_reports.sql"),
    include_str!("../../assets/schema/0005_first_rows.sql"),
    include_str!("../../assets/schema/0006_counts.sql"),
    include_str!("../../assets/schema/0007_loading.sql"),
    include_str!("../../assets/schema/0008_whole_order.sql"),
    JOB_STATES,
    include_str!("../../assets/schema/0010_clock_ahead.sql"),
];

/// What a sound file of the known schema has.
pub(super) const TABLES: [&str; 18] = [
    "scope",
    "revision",
    "job",
    "prompt",
    "event",
    "draft",
    "ledger",
    "ledger_use",
    "views_answer",
    "memory",
    "views_loading",
    "views_part",
    "views_report",
    "views_path",
    "views_row",
    "views_total",
    "job_page",
    "job_count",
];

/// How long a call waits for another process's lock.
const BUSY: Duration = Duration::from_secs(5);
/// The same once a call has waited so long in vain, until a write gets through: what waits behind it is told soon.
const BUSY_STILL: Duration = Duration::from_millis(500);

/// The schema that this docdeck reads and writes.
pub(super) fn known() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// The schema of the file; 0 for an empty one.
pub(super) fn version(connection: &Connection) -> Result<i64, StoreError> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// Refuses a file that is newer than this docdeck or belongs to another program. Reads only.
pub(super) fn check_owner(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let found = version(connection)?;
    if found == known() {
        // Nothing to tell apart, and a look less at every start.
        return Ok(found);
    }
    if found > known() {
        return Err(StoreError::Newer { path: path.to_owned(), found, known: known() });
    }
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    // Asked again: another docdeck may have made its tables between the two looks.
    if found < 0 || (found == 0 && tables > 0 && version(connection)? == 0) {
        return Err(StoreError::Foreign(path.to_owned()));
    }
    Ok(found)
}

/// Gives a connection that only reads an older file what schema 9 keeps there, worked out anew for each question: the group
/// of each job, and how many jobs each group has. Lives in memory; the file stays as it is.
pub(super) fn stand_in(connection: &Connection, found: i64) -> Result<(), StoreError> {
    if found >= 9 {
        return Ok(());
    }
    let rule =
        JOB_STATES.split_once("need INTEGER GENERATED ALWAYS AS").and_then(|(_, rest)| rest.split_once("VIRTUAL"));
    let (rule, _) = rule.ok_or_else(|| StoreError::Unusable(format!("its schema is {found}")))?;
    connection.execute_batch(&format!(
        "PRAGMA temp_store = MEMORY;
         CREATE TEMP VIEW job AS
         SELECT scope, merged_into, undelivered, checked_at, started_at, {rule} AS need FROM (
             SELECT scope, merged_into, id, status, pr_link, gone, dismissed, changed_at, checked_at, started_at,
                 looked_at AS handled_at, iif(undelivered IS NULL AND id IS NULL AND EXISTS (
                     SELECT 1 FROM main.prompt
                     WHERE prompt.job = job.key AND prompt.kind = 'create' AND prompt.state = 'dismissed'),
                 'discarded', undelivered) AS undelivered
             FROM main.job);
         CREATE TEMP VIEW job_count AS
         SELECT scope, need, count(*) AS jobs FROM job WHERE merged_into IS NULL GROUP BY scope, need;"
    ))?;
    Ok(())
}

/// What a connection needs before its first statement. `EXTRA` waits until the journal's end is on disk as well, in whatever
/// mode: one that came back after a power failure would undo a transaction that is over, and have a prompt sent that was
/// sent already.
pub(super) fn prepare(connection: &Connection) -> Result<(), StoreError> {
    connection.busy_timeout(BUSY)?;
    // All statements of the room stay prepared.
    connection.set_prepared_statement_cache_capacity(64);
    // Else each new value of a parameter has its statement planned anew, which takes longer than most of them run.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.execute_batch(
        "PRAGMA foreign_keys = ON;
         PRAGMA synchronous = EXTRA;
         PRAGMA fullfsync = ON;
         PRAGMA temp_store = MEMORY;
         PRAGMA cell_size_check = ON;
         PRAGMA trusted_schema = OFF;",
    )?;
    set_cache(connection, Cache::Usual)
}

/// How many pages a connection keeps in memory.
#[derive(Debug, Clone, Copy)]
pub(super) enum Cache {
    Usual,
    /// One transaction writes most of the file: with the usual cache, each row would wait for pages of the indexes that were
    /// written out and read again.
    Bulk,
}

/// Sets the size of the page cache, and when pages that a transaction changed are written before its end. Pages that were
/// read are kept by the system as well, so few of them are kept twice.
pub(super) fn set_cache(connection: &Connection, cache: Cache) -> Result<(), StoreError> {
    let (read_kb, changed_pages) = match cache {
        Cache::Usual => (512, 512),
        Cache::Bulk => (96 << 10, 24 << 10),
    };
    connection.execute_batch(&format!("PRAGMA cache_size = -{read_kb}; PRAGMA cache_spill = {changed_pages};"))?;
    Ok(())
}

/// How long the next calls wait for another process's lock: less where one was just waited for in vain.
pub(super) fn wait_for_locks(connection: &Connection, in_vain: bool) -> Result<(), StoreError> {
    Ok(connection.busy_timeout(if in_vain { BUSY_STILL } else { BUSY })?)
}

/// Rollback journal: write-ahead logs need shared memory, which home folders on a network do not have. Between two
/// transactions it is emptied, not deleted: making and deleting a file has to reach the disk as well, a quarter of what a
/// transaction waits for.
pub(super) fn use_rollback_journal(connection: &Connection) -> Result<(), StoreError> {
    let mode: rusqlite::Result<String> =
        connection.pragma_update_and_check(None, "journal_mode", "TRUNCATE", |row| row.get(0));
    match mode.map_err(StoreError::from) {
        // A file that another program put into another mode and still holds: it works as it is.
        Ok(_) | Err(StoreError::Busy) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Brings the file to the known schema. Safe when several processes do it at once: whoever gets the lock second finds
/// nothing left to do.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let done = version(&transaction)?;
    for (number, sql) in (1..).zip(MIGRATIONS) {
        if number > done {
            transaction.execute_batch(sql)?;
            transaction.pragma_update(None, "user_version", number)?;
        }
    }
    transaction.commit()?;
    Ok(())
}

/// Looks whether the tables can be read: their first rows, or every page when there is reason to doubt.
pub(super) fn check_sound(connection: &Connection, every_page: bool) -> Result<(), StoreError> {
    if every_page {
        let word: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        if word != "ok" {
            return Err(StoreError::Damaged);
        }
    }
    // In one statement: each one locks the file and unlocks it again.
    let firsts = TABLES.map(|table| format!("(SELECT 1 FROM {table} LIMIT 1)"));
    match connection.query_row(&format!("SELECT {}", firsts.join(", ")), [], |_| Ok(())) {
        Ok(()) => Ok(()),
        // The version says that the table is there: a file without it has lost pages.
        Err(error) if error.to_string().contains("no such table") => Err(StoreError::Damaged),
        Err(error) => Err(error.into()),
    }
}

/// Rebuilds the indexes if they are all that is wrong with the file. Whether that was necessary.
///
/// # Errors
/// [`StoreError::Damaged`]: more is wrong.
pub(super) fn rebuild_indexes(connection: &mut Connection) -> Result<bool, StoreError> {
    let faults = faults(connection)?;
    if faults.is_empty() {
        return Ok(false);
    }
    // A row that an index lacks or has in vain; everything else is about pages.
    if !faults.iter().all(|fault| fault.contains(" index ")) {
        return Err(StoreError::Damaged);
    }
    connection.execute_batch("REINDEX")?;
    if self::faults(connection)?.is_empty() { Ok(true) } else { Err(StoreError::Damaged) }
}

/// What SQLite finds wrong with the file, in its words.
fn faults(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let mut check = connection.prepare("PRAGMA integrity_check(100)")?;
    let lines = check.query_map([], |row| row.get::<_, String>(0))?;
    let lines: Vec<String> = lines.collect::<rusqlite::Result<_>>()?;
    Ok(lines.into_iter().filter(|line| line != "ok").collect())
}

/// Whether a write would get through, tried out and taken back: SQLite makes the journal for it, nothing is synced.
/// (It has to change something: SQLite does not write what is there already.)
pub(super) fn is_writable(connection: &mut Connection) -> Result<bool, StoreError> {
    if connection.is_readonly(rusqlite::MAIN_DB)? {
        return Ok(false);
    }
    let tried = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .and_then(|trial| trial.execute("UPDATE revision SET value = value + 1", []).and_then(|_| trial.rollback()));
    match tried.map_err(StoreError::from) {
        // Busy: somebody writes, so it can be written. Full: the writes will say so themselves, and space may come.
        Ok(()) | Err(StoreError::Busy | StoreError::Full | StoreError::Refused) => Ok(true),
        Err(StoreError::ReadOnly) => Ok(false),
        Err(error) => Err(error),
    }
}
