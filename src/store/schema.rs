//! The numbered migrations of `assets/schema`, the settings of a connection, and checks that a file is docdeck's and
//! sound.
//!
//! `PRAGMA user_version` is the number of the last applied migration.

use super::error::StoreError;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, TransactionBehavior};
use std::path::Path;
use std::time::Duration;

/// Defines the group of each job, as a generated column.
const JOB_STATES: &str = include_str!("../../assets/schema/0009_job_states.sql");

/// The first schema with the columns `job.need` and `job_count.need`.
const STORED_GROUPS: i64 = 9;
/// The first schema in which they are called `list_group`.
const PLAIN_COLUMNS: i64 = 11;

/// All migrations, oldest first: the first one creates schema 1.
pub(super) const MIGRATIONS: [&str; 11] = [
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
    include_str!("../../assets/schema/0011_plain_columns.sql"),
];

/// The tables of a sound file with the current schema.
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
    "key_value",
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
/// The same after a call has timed out, until a write succeeds, so that the calls behind it fail early.
const BUSY_STILL: Duration = Duration::from_millis(500);

/// The schema version that this docdeck reads and writes.
pub(super) fn supported() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// The schema version of the file; 0 for an empty one.
pub(super) fn version(connection: &Connection) -> Result<i64, StoreError> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// Refuses a file that is newer than this docdeck or belongs to another program. Only reads.
pub(super) fn check_owner(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let found = version(connection)?;
    if found == supported() {
        // No further check is necessary, which saves a query at every start.
        return Ok(found);
    }
    if found > supported() {
        return Err(StoreError::Newer { path: path.to_owned(), found, known: supported() });
    }
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    // Checked again: another docdeck may have created its tables between the two queries.
    if found < 0 || (found == 0 && tables > 0 && version(connection)? == 0) {
        return Err(StoreError::Foreign(path.to_owned()));
    }
    Ok(found)
}

/// Lets a connection read the job groups and their sizes in an older file, under their current names: temporary views
/// compute what the file doesn't store. The file is not changed.
pub(super) fn add_temporary_views(connection: &Connection, found: i64) -> Result<(), StoreError> {
    if found >= PLAIN_COLUMNS {
        return Ok(());
    }
    if found >= STORED_GROUPS {
        connection.execute_batch(
            "PRAGMA temp_store = MEMORY;
             CREATE TEMP VIEW job AS
             SELECT scope, merged_into, undelivered, checked_at, started_at, need AS list_group FROM main.job;
             CREATE TEMP VIEW job_count AS SELECT scope, need AS list_group, jobs FROM main.job_count;",
        )?;
        return Ok(());
    }
    let rule =
        JOB_STATES.split_once("need INTEGER GENERATED ALWAYS AS").and_then(|(_, rest)| rest.split_once("VIRTUAL"));
    let (rule, _) = rule.ok_or_else(|| StoreError::Unusable(format!("its schema is {found}")))?;
    connection.execute_batch(&format!(
        "PRAGMA temp_store = MEMORY;
         CREATE TEMP VIEW job AS
         SELECT scope, merged_into, undelivered, checked_at, started_at, {rule} AS list_group FROM (
             SELECT scope, merged_into, id, status, pr_link, gone, dismissed, changed_at, checked_at, started_at,
                 looked_at AS handled_at, iif(undelivered IS NULL AND id IS NULL AND EXISTS (
                     SELECT 1 FROM main.prompt
                     WHERE prompt.job = job.key AND prompt.kind = 'create' AND prompt.state = 'dismissed'),
                 'discarded', undelivered) AS undelivered
             FROM main.job);
         CREATE TEMP VIEW job_count AS
         SELECT scope, list_group, count(*) AS jobs FROM job WHERE merged_into IS NULL GROUP BY scope, list_group;"
    ))?;
    Ok(())
}

/// Settings that a connection needs before its first statement. `EXTRA` also waits until the end of the journal is on
/// disk: a journal that reappears after a power failure would undo a finished transaction, and a prompt would be sent
/// twice.
pub(super) fn prepare(connection: &Connection) -> Result<(), StoreError> {
    connection.busy_timeout(BUSY)?;
    // All statements of this module stay prepared.
    connection.set_prepared_statement_cache_capacity(64);
    // Without this, SQLite plans a statement again for each new value of a parameter, which takes longer than most of
    // them run.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.execute_batch(
        "PRAGMA foreign_keys = ON;
         PRAGMA synchronous = EXTRA;
         PRAGMA fullfsync = ON;
         PRAGMA temp_store = MEMORY;
         PRAGMA cell_size_check = ON;
         PRAGMA trusted_schema = OFF;",
    )?;
    set_cache(connection, PageCache::Normal)
}

#[derive(Debug, Clone, Copy)]
pub(super) enum PageCache {
    Normal,
    /// For a transaction that writes most of the file: with the normal cache, each row would wait for index pages that
    /// were written out and have to be read again.
    Bulk,
}

/// Sets the size of the page cache, and when changed pages are written before the end of a transaction. The system
/// caches pages that were read as well, so the cache is small.
pub(super) fn set_cache(connection: &Connection, cache: PageCache) -> Result<(), StoreError> {
    let (read_kb, changed_pages) = match cache {
        PageCache::Normal => (512, 512),
        PageCache::Bulk => (96 << 10, 24 << 10),
    };
    connection.execute_batch(&format!("PRAGMA cache_size = -{read_kb}; PRAGMA cache_spill = {changed_pages};"))?;
    Ok(())
}

/// Sets how long the next calls wait for another process's lock: shorter if a call has just timed out.
pub(super) fn wait_for_locks(connection: &Connection, in_vain: bool) -> Result<(), StoreError> {
    Ok(connection.busy_timeout(if in_vain { BUSY_STILL } else { BUSY })?)
}

/// Uses a rollback journal: write-ahead logs need shared memory, which home folders on a network do not have. After a
/// transaction the journal is truncated, not deleted: creating and deleting a file has to reach the disk as well, which
/// takes a quarter of the time of a transaction.
pub(super) fn use_rollback_journal(connection: &Connection) -> Result<(), StoreError> {
    let mode: rusqlite::Result<String> =
        connection.pragma_update_and_check(None, "journal_mode", "TRUNCATE", |row| row.get(0));
    match mode.map_err(StoreError::from) {
        // Another program uses the file in another journal mode: that works as well.
        Ok(_) | Err(StoreError::Busy) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Migrates the file to the current schema. Safe if several processes do it at once: the second one to get the lock
/// finds nothing left to do.
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

/// Checks that the tables can be read: their first rows, or every page.
pub(super) fn check_sound(connection: &Connection, every_page: bool) -> Result<(), StoreError> {
    if every_page {
        let word: String = connection.query_row("PRAGMA integrity_check(1)", [], |row| row.get(0))?;
        if word != "ok" {
            return Err(StoreError::Damaged);
        }
    }
    // One statement, since each one locks and unlocks the file.
    let firsts = TABLES.map(|table| format!("(SELECT 1 FROM {table} LIMIT 1)"));
    match connection.query_row(&format!("SELECT {}", firsts.join(", ")), [], |_| Ok(())) {
        Ok(()) => Ok(()),
        // By its version the file has this table, so pages are lost.
        Err(error) if error.to_string().contains("no such table") => Err(StoreError::Damaged),
        Err(error) => Err(error.into()),
    }
}

/// Rebuilds the indexes if nothing else is wrong with the file. Returns whether that was necessary.
///
/// # Errors
/// [`StoreError::Damaged`]: more is wrong.
pub(super) fn rebuild_indexes(connection: &mut Connection) -> Result<bool, StoreError> {
    let faults = integrity_errors(connection)?;
    if faults.is_empty() {
        return Ok(false);
    }
    // An index with a missing or superfluous row; all other messages are about pages.
    if !faults.iter().all(|fault| fault.contains(" index ")) {
        return Err(StoreError::Damaged);
    }
    connection.execute_batch("REINDEX")?;
    if self::integrity_errors(connection)?.is_empty() { Ok(true) } else { Err(StoreError::Damaged) }
}

/// What SQLite finds wrong with the file, in its words.
fn integrity_errors(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let mut check = connection.prepare("PRAGMA integrity_check(100)")?;
    let lines = check.query_map([], |row| row.get::<_, String>(0))?;
    let lines: Vec<String> = lines.collect::<rusqlite::Result<_>>()?;
    Ok(lines.into_iter().filter(|line| line != "ok").collect())
}

/// Whether writing works: makes a change and rolls it back. SQLite creates the journal for it, but syncs nothing. (The
/// change must be real: SQLite skips writing an equal value.)
pub(super) fn is_store_writable(connection: &mut Connection) -> Result<bool, StoreError> {
    if connection.is_readonly(rusqlite::MAIN_DB)? {
        return Ok(false);
    }
    let tried = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .and_then(|trial| trial.execute("UPDATE revision SET value = value + 1", []).and_then(|_| trial.rollback()));
    match tried.map_err(StoreError::from) {
        // Busy: another process is writing, so writing works. Full: later writes report it, and space may be freed.
        Ok(()) | Err(StoreError::Busy | StoreError::Full | StoreError::WriteRefused) => Ok(true),
        Err(StoreError::ReadOnly) => Ok(false),
        Err(error) => Err(error),
    }
}
