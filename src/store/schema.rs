//! The numbered migrations of `assets/schema`, the settings of a connection, and the checks that a file belongs to
//! docdeck and is sound.
//!
//! `PRAGMA user_version` is the number of the last applied migration.

use super::error::StoreError;
use super::query::Query as _;
use rusqlite::config::DbConfig;
use rusqlite::{Connection, TransactionBehavior};
use std::path::Path;
use std::time::Duration;

/// The migration that defines the group of each job, as the generated column `need`.
const JOB_STATES_MIGRATION: &str = include_str!("../../assets/schema/0009_job_states.sql");

/// The migration that defines what the pull request of each job needs, as the column `pr_need`.
const PULL_REQUEST_COUNTS_MIGRATION: &str = include_str!("../../assets/schema/0015_pull_request_counts.sql");

/// The first schema with the columns `job.need` and `job_count.need`.
const STORED_GROUPS_SINCE_VERSION: i64 = 9;
/// The first schema in which `job.need` and `job_count.need` are called `list_group`.
const LIST_GROUP_SINCE_VERSION: i64 = 11;
/// The first schema with the column `job.pull_request`.
const PULL_REQUESTS_SINCE_VERSION: i64 = 12;
/// The first schema with the column `job.pr_need`.
const PULL_REQUEST_COUNTS_SINCE_VERSION: i64 = 15;

/// All migrations, oldest first. The first one creates schema version 1.
pub(super) const MIGRATIONS: [&str; 24] = [
    include_str!("../../assets/schema/0001_begin.sql"),
    include_str!("../../assets/schema/0002_own_words.sql"),
    include_str!("../../assets/schema/0003_batch_draft.sql"),
    include_str!("../../assets/schema/0004_reports.sql"),
    include_str!("../../assets/schema/0005_first_rows.sql"),
    include_str!("../../assets/schema/0006_counts.sql"),
    include_str!("../../assets/schema/0007_loading.sql"),
    include_str!("../../assets/schema/0008_whole_order.sql"),
    JOB_STATES_MIGRATION,
    include_str!("../../assets/schema/0010_clock_ahead.sql"),
    include_str!("../../assets/schema/0011_plain_columns.sql"),
    include_str!("../../assets/schema/0012_pull_requests.sql"),
    include_str!("../../assets/schema/0013_diffs.sql"),
    include_str!("../../assets/schema/0014_pull_request_details.sql"),
    PULL_REQUEST_COUNTS_MIGRATION,
    include_str!("../../assets/schema/0016_previews.sql"),
    include_str!("../../assets/schema/0017_analytics.sql"),
    include_str!("../../assets/schema/0018_job_signals.sql"),
    include_str!("../../assets/schema/0019_job_signals_after.sql"),
    include_str!("../../assets/schema/0020_team.sql"),
    include_str!("../../assets/schema/0021_team_uses.sql"),
    include_str!("../../assets/schema/0022_authors.sql"),
    include_str!("../../assets/schema/0023_team_reports.sql"),
    include_str!("../../assets/schema/0024_reader_texts.sql"),
];

/// The statements that create the current schema in an empty file. They have the same result as all migrations, but are
/// 20 times as fast. They were generated from the migrations, and a test compares the results.
const CURRENT_SCHEMA: &str = include_str!("../../assets/schema/current.sql");

/// Returns the tables of the current schema, except for `team`, `team_job`, `team_use` and `team_report`. A table comes
/// before the tables that refer to it.
pub(super) fn tables_except_team() -> impl Iterator<Item = &'static str> {
    "scope revision key_value ledger ledger_use job job_count prompt event job_page job_signals draft views_answer views_total \
     views_loading views_part views_report views_path views_row pull_request_diff \
     pull_request_details preview analytics_report analytics_answer"
        .split(' ')
}

/// How long a call waits for another process's lock.
pub(super) const LOCK_TIMEOUT: Duration = Duration::from_secs(5);
/// The lock timeout that replaces [`LOCK_TIMEOUT`] after a call has timed out, until a write succeeds. So the calls
/// that are queued behind the failed call don't wait as long.
const LOCK_TIMEOUT_AFTER_BUSY: Duration = Duration::from_millis(500);

/// Returns the schema version that this docdeck reads and writes.
pub(super) fn supported_version() -> i64 {
    i64::try_from(MIGRATIONS.len()).unwrap_or(i64::MAX)
}

/// Returns the schema version of the file; 0 for an empty file.
pub(super) fn version(connection: &Connection) -> Result<i64, StoreError> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// Returns the schema version of the file. Fails if the file is newer than this docdeck or belongs to another program.
/// Writes nothing.
pub(super) fn check_version(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let found = version(connection)?;
    if found == supported_version() {
        // A file with this docdeck's schema needs no further checks. Skipping them saves one query at every start.
        return Ok(found);
    }
    if found > supported_version() {
        return Err(StoreError::NewerSchema { path: path.to_owned(), found, supported: supported_version() });
    }
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    // The version is read again, since another docdeck may have created its tables between the two queries.
    if found < 0 || (found == 0 && tables > 0 && version(connection)? == 0) {
        return Err(StoreError::ForeignDatabase(path.to_owned()));
    }
    Ok(found)
}

/// Makes queries about job groups and their sizes work on an older file, although they use the current names of tables
/// and columns. For this, creates temporary views that compute what the file doesn't store. `file_version` is the
/// schema version of the file. The file is not changed.
pub(super) fn add_temporary_views(connection: &Connection, file_version: i64) -> Result<(), StoreError> {
    if file_version >= PULL_REQUEST_COUNTS_SINCE_VERSION {
        return Ok(());
    }
    if file_version >= LIST_GROUP_SINCE_VERSION {
        let rule =
            PULL_REQUEST_COUNTS_MIGRATION.split_once("pr_need = (").and_then(|(_, rest)| rest.split_once(") WHERE"));
        let rule = rule.filter(|_| file_version >= PULL_REQUESTS_SINCE_VERSION).map_or("NULL", |(rule, _)| rule);
        connection.execute_batch(&format!(
            "PRAGMA temp_store = MEMORY;
             CREATE TEMP VIEW job AS
             SELECT scope, merged_into, undelivered, checked_at, started_at, list_group, {rule} AS pr_need
             FROM main.job;"
        ))?;
        return Ok(());
    }
    if file_version >= STORED_GROUPS_SINCE_VERSION {
        connection.execute_batch(
            "PRAGMA temp_store = MEMORY;
             CREATE TEMP VIEW job AS
             SELECT scope, merged_into, undelivered, checked_at, started_at, need AS list_group, NULL AS pr_need
             FROM main.job;
             CREATE TEMP VIEW job_count AS SELECT scope, need AS list_group, jobs FROM main.job_count;",
        )?;
        return Ok(());
    }
    let rule = JOB_STATES_MIGRATION
        .split_once("need INTEGER GENERATED ALWAYS AS")
        .and_then(|(_, rest)| rest.split_once("VIRTUAL"));
    let (rule, _) = rule.ok_or_else(|| StoreError::Unusable(format!("its schema is {file_version}")))?;
    connection.execute_batch(&format!(
        "PRAGMA temp_store = MEMORY;
         CREATE TEMP VIEW job AS
         SELECT scope, merged_into, undelivered, checked_at, started_at, {rule} AS list_group, NULL AS pr_need
         FROM (
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

/// Applies the settings that a connection needs before its first statement. With `synchronous = EXTRA`, a commit also
/// waits until the truncation or removal of the journal is on disk. If the journal reappeared after a power failure, it
/// would undo a finished transaction, and a prompt would be sent twice. Some of the settings read the file, which waits
/// at most `lock_timeout` if another process has locked it.
pub(super) fn configure_connection(connection: &Connection, lock_timeout: Duration) -> Result<(), StoreError> {
    connection.busy_timeout(lock_timeout)?;
    // The cache has space for all statements that run often, so that they are prepared only once.
    connection.set_prepared_statement_cache_capacity(64);
    // Without this setting, SQLite plans a statement again for each new value of a parameter, which takes longer than
    // running most of the statements.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.execute_batch(
        "PRAGMA foreign_keys = ON;
         PRAGMA synchronous = EXTRA;
         PRAGMA fullfsync = ON;
         PRAGMA temp_store = MEMORY;
         PRAGMA cell_size_check = ON;
         PRAGMA trusted_schema = OFF;",
    )?;
    set_cache_size(connection, CacheSize::Normal)
}

/// The size of SQLite's cache for pages of the file.
#[derive(Debug, Clone, Copy)]
pub(super) enum CacheSize {
    /// For every transaction that doesn't need [`Self::Bulk`].
    Normal,
    /// For a transaction that writes most of the file. With the normal cache, index pages would be written out and read
    /// again for each row.
    Bulk,
}

/// Sets the size of the page cache, and how many changed pages it may hold before SQLite writes some of them to the
/// file in the middle of a transaction. The normal cache is small, since the operating system caches the file, too.
pub(super) fn set_cache_size(connection: &Connection, cache: CacheSize) -> Result<(), StoreError> {
    let (read_kb, changed_pages) = match cache {
        CacheSize::Normal => (512, 512),
        CacheSize::Bulk => (96 << 10, 24 << 10),
    };
    connection.execute_batch(&format!("PRAGMA cache_size = -{read_kb}; PRAGMA cache_spill = {changed_pages};"))?;
    Ok(())
}

/// Sets how long the next calls wait for another process's lock: shorter if a call has just timed out.
pub(super) fn set_lock_timeout(connection: &Connection, has_timed_out: bool) -> Result<(), StoreError> {
    Ok(connection.busy_timeout(if has_timed_out { LOCK_TIMEOUT_AFTER_BUSY } else { LOCK_TIMEOUT })?)
}

/// Uses a rollback journal: a write-ahead log needs shared memory, which home folders on a network do not have. After a
/// transaction, the journal is truncated, not deleted. Creating and deleting it each time would require syncing the
/// folder to disk, which takes a quarter of a transaction's time.
pub(super) fn use_rollback_journal(connection: &Connection) -> Result<(), StoreError> {
    let mode: rusqlite::Result<String> =
        connection.pragma_update_and_check(None, "journal_mode", "TRUNCATE", |row| row.get(0));
    match mode.map_err(StoreError::from) {
        // If another process is using the file, the journal mode can't be changed. The current mode works as well.
        Ok(_) | Err(StoreError::Busy) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Makes SQLite overwrite deleted and moved data. Otherwise texts of readers, which responses may contain, would stay
/// in the unused space of the file.
pub(super) fn enable_secure_delete(connection: &Connection) -> Result<(), StoreError> {
    Ok(connection.pragma_update(None, "secure_delete", true)?)
}

/// Migrates the file to the current schema. Several processes may do this at the same time: the first one that gets the
/// lock migrates the file, the others change nothing.
pub(super) fn migrate(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let missing: &[&str] = match usize::try_from(version(&transaction)?) {
        Ok(0) => &[CURRENT_SCHEMA],
        Ok(done) => MIGRATIONS.get(done..).unwrap_or_default(),
        Err(_) => &[],
    };
    for sql in missing {
        transaction.execute_batch(sql)?;
    }
    if !missing.is_empty() {
        transaction.pragma_update(None, "user_version", supported_version())?;
    }
    transaction.commit()?;
    Ok(())
}

/// Checks that the tables can be read: every page of the file if `check_every_page` is set, otherwise only the first
/// row of each table.
pub(super) fn check_readable(connection: &Connection, check_every_page: bool) -> Result<(), StoreError> {
    if check_every_page && !integrity_errors(connection)?.is_empty() {
        return Err(StoreError::Damaged);
    }
    // All first rows are read with one statement, since each statement locks and unlocks the file.
    let first_rows: Vec<String> =
        tables_except_team().map(|table| format!("(SELECT 1 FROM {table} LIMIT 1)")).collect();
    match connection.query_row(&format!("SELECT {}", first_rows.join(", ")), [], |_| Ok(())) {
        Ok(()) => Ok(()),
        // The file has the current schema version, so it had this table: pages of the file are lost.
        Err(error) if error.to_string().contains("no such table") => Err(StoreError::Damaged),
        Err(error) => Err(error.into()),
    }
}

/// Rebuilds the indexes if nothing else is wrong with the file. Returns whether they had to be rebuilt.
///
/// # Errors
/// [`StoreError::Damaged`] if anything besides the indexes is wrong.
pub(super) fn rebuild_damaged_indexes(connection: &mut Connection) -> Result<bool, StoreError> {
    let faults = integrity_errors(connection)?;
    if faults.is_empty() {
        return Ok(false);
    }
    // A message that contains ` index ` is about an index with a missing or superfluous row. Any other message means
    // that pages are damaged.
    if !faults.iter().all(|fault| fault.contains(" index ")) {
        return Err(StoreError::Damaged);
    }
    connection.execute_batch("REINDEX")?;
    if integrity_errors(connection)?.is_empty() { Ok(true) } else { Err(StoreError::Damaged) }
}

/// Returns SQLite's messages about what is wrong with the file, at most 100; empty if the file is sound.
pub(super) fn integrity_errors(connection: &Connection) -> Result<Vec<String>, StoreError> {
    let lines = connection.query_all("PRAGMA integrity_check(100)", [], |row| row.get::<_, String>(0))?;
    Ok(lines.into_iter().filter(|line| line != "ok").collect())
}

/// Tests whether writing works: changes a value and rolls the change back. SQLite creates the journal for this, but
/// syncs nothing to disk. (The value must really change: SQLite doesn't write an equal value.)
pub(super) fn is_store_writable(connection: &mut Connection) -> Result<bool, StoreError> {
    if connection.is_readonly(rusqlite::MAIN_DB)? {
        return Ok(false);
    }
    let tried = connection
        .transaction_with_behavior(TransactionBehavior::Immediate)
        .and_then(|trial| trial.execute("UPDATE revision SET value = value + 1", []).and_then(|_| trial.rollback()));
    match tried.map_err(StoreError::from) {
        // If the file is locked, another process is writing, so writing works. If there is no space or the disk refuses
        // the write, later writes report that; by then, it may work again.
        Ok(()) | Err(StoreError::Busy | StoreError::DiskFull | StoreError::WriteRefused) => Ok(true),
        Err(StoreError::ReadOnly) => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the statements that create the tables, indexes and triggers of a database, in the order in which they
    /// were created.
    fn statements(db: &Connection) -> Vec<String> {
        let sql = "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name <> 'sqlite_sequence' ORDER BY rowid";
        db.query_all(sql, [], |row| row.get(0)).expect("the statements")
    }

    /// With `UPDATE_SCHEMA`, writes the current schema first.
    #[test]
    fn the_current_schema_is_what_all_migrations_create() {
        let migrated = Connection::open_in_memory().expect("a database");
        MIGRATIONS.iter().for_each(|sql| migrated.execute_batch(sql).expect("migrated"));
        let expected = statements(&migrated);
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            let head = "-- All tables of the current schema, generated from the migrations: see `store/schema.rs`.\n\n";
            let rows = "INSERT INTO revision (only, value) VALUES (1, 0);\n";
            let text = format!("{head}{};\n\n{rows}", expected.join(";\n\n"));
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/schema/current.sql");
            std::fs::write(path, text).expect("written");
            return;
        }
        let current = Connection::open_in_memory().expect("a database");
        current.execute_batch(CURRENT_SCHEMA).expect("created");
        assert_eq!(statements(&current), expected, "UPDATE_SCHEMA=1 cargo test --lib schema rewrites it");
        for table in tables_except_team() {
            let rows = |db: &Connection| {
                db.query_all(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, i64>(0)).expect("a count")
            };
            assert_eq!(rows(&current), rows(&migrated), "{table}");
        }
    }
}
