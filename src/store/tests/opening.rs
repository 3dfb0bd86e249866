use super::*;
use crate::store::{OpenStore, schema};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn folder() -> TempDir {
    tempdir().expect("a folder")
}

fn file(folder: &Path) -> PathBuf {
    folder.join("docdeck.db")
}

fn open_raw(folder: &Path) -> Connection {
    Connection::open(file(folder)).expect("a database")
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).expect("is there").permissions().mode() & 0o777
}

#[cfg(unix)]
fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("changed");
}

#[cfg(unix)]
#[tokio::test]
async fn only_their_owner_can_access_the_folder_and_the_file() {
    let outer = folder();
    let inner = outer.path().join("a").join("docdeck");
    open(&inner).close().await;
    assert_eq!((mode(&inner), mode(&file(&inner))), (0o700, 0o600));
}

#[cfg(unix)]
#[tokio::test]
async fn permissions_that_are_too_wide_are_narrowed() {
    let outer = folder();
    let inner = outer.path().join("docdeck");
    open(&inner).close().await;
    set_mode(&inner, 0o755);
    set_mode(&file(&inner), 0o644);
    open(&inner).close().await;
    assert_eq!((mode(&inner), mode(&file(&inner))), (0o700, 0o600));
}

#[cfg(unix)]
#[tokio::test]
async fn a_folder_with_other_files_keeps_its_permissions() {
    let outer = folder();
    set_mode(outer.path(), 0o755);
    fs::write(outer.path().join("thesis.txt"), "x").expect("written");
    open(outer.path()).close().await;
    assert_eq!((mode(outer.path()), mode(&file(outer.path()))), (0o755, 0o600));
}

#[tokio::test]
async fn reopening_finds_the_written_data_and_changes_nothing() {
    let folder = folder();
    let store = open(folder.path());
    let (prompt, row) = store.new_job("Fix the links\nall of them", at(1)).await;
    store.close().await;
    let before = fs::read(file(folder.path())).expect("bytes");
    let store = open(folder.path());
    assert_eq!(store.jobs(&scope()).await.expect("rows"), vec![row.clone()]);
    let thread = store.thread_of(row.key).await;
    assert_eq!((thread.prompts[0].id, thread.prompts[0].text.as_str()), (prompt, "Fix the links\nall of them"));
    store.close().await;
    assert_eq!(fs::read(file(folder.path())).expect("bytes"), before);
}

#[tokio::test]
async fn a_connection_has_the_settings_for_durability() {
    let folder = folder();
    let store = open(folder.path());
    let read = |name: &'static str| {
        let store = store.clone();
        async move {
            store
                .with_connection(move |db| {
                    db.query_row(&format!("PRAGMA {name}"), [], |row| row.get::<_, rusqlite::types::Value>(0))
                })
                .await
                .expect("a value")
        }
    };
    use rusqlite::types::Value;
    assert_eq!(read("journal_mode").await, Value::Text("truncate".to_owned()));
    assert_eq!(read("synchronous").await, Value::Integer(3));
    assert_eq!(read("foreign_keys").await, Value::Integer(1));
    assert_eq!(read("busy_timeout").await, Value::Integer(5000));
    assert_eq!(read("user_version").await, Value::Integer(schema::supported_version()));
}

#[tokio::test]
async fn the_journal_is_truncated_after_each_transaction_and_created_again_if_deleted() {
    let folder = folder();
    let (store, other) = (open(folder.path()), open(folder.path()));
    let journal = folder.path().join("docdeck.db-journal");
    for text in ["One", "Two"] {
        for store in [&store, &other] {
            store.new_job(text, at(1)).await;
            assert_eq!(fs::metadata(&journal).expect("a file").len(), 0);
        }
        // Older versions of docdeck deleted the journal after each transaction.
        fs::remove_file(&journal).expect("removed");
    }
    assert_eq!(store.jobs(&scope()).await.expect("rows").len(), 4);
}

#[tokio::test]
async fn a_write_ahead_log_is_converted_to_a_rollback_journal() {
    let folder = folder();
    open(folder.path()).close().await;
    let other = open_raw(folder.path());
    other.execute_batch("PRAGMA journal_mode = WAL; DELETE FROM key_value;").expect("done");
    drop(other);
    let store = open(folder.path());
    let mode: String =
        store.with_connection(|db| db.query_row("PRAGMA journal_mode", [], |row| row.get(0)).expect("a mode")).await;
    assert_eq!(mode, "truncate");
}

#[tokio::test]
async fn opening_a_new_folder_several_times_at_once_creates_one_store() {
    let outer = folder();
    let inner = outer.path().join("docdeck");
    let threads: Vec<_> = (0..8)
        .map(|_| {
            let inner = inner.clone();
            std::thread::spawn(move || Store::open(&inner, at(0)))
        })
        .collect();
    let mut stores = Vec::new();
    for thread in threads {
        let (store, opened) = thread.join().expect("no panic").expect("opened");
        assert!(opened.damaged_file.is_none() && !opened.is_read_only);
        stores.push(store);
    }
    stores[0].set_value("k", "v").await.expect("written");
    for store in &stores {
        assert_eq!(store.value("k").await.expect("read").as_deref(), Some("v"));
    }
}

#[test]
fn migrating_again_does_not_change_the_schema() {
    let mut db = Connection::open_in_memory().expect("a database");
    schema::migrate(&mut db).expect("migrated");
    schema::migrate(&mut db).expect("nothing to do");
    assert_eq!(schema::version(&db).expect("a version"), schema::supported_version());
    schema::check_readable(&db, true).expect("sound");
}

#[tokio::test]
async fn a_newer_store_is_refused_and_left_untouched() {
    let folder = folder();
    open(folder.path()).close().await;
    open_raw(folder.path()).execute_batch("PRAGMA user_version = 99; DROP TABLE key_value;").expect("done");
    #[cfg(unix)]
    set_mode(&file(folder.path()), 0o640);
    let before = fs::read(file(folder.path())).expect("bytes");
    let error = Store::open(folder.path(), at(0)).expect_err("refused");
    assert!(matches!(error, StoreError::NewerSchema { found: 99, .. }), "{error}");
    assert!(error.to_string().contains("update docdeck"), "{error}");
    assert_eq!(fs::read(file(folder.path())).expect("bytes"), before);
    #[cfg(unix)]
    assert_eq!(mode(&file(folder.path())), 0o640);
}

#[tokio::test]
async fn the_database_of_another_program_is_refused_and_left_untouched() {
    let folder = folder();
    open_raw(folder.path()).execute_batch("CREATE TABLE bookmarks (url TEXT)").expect("done");
    let before = fs::read(file(folder.path())).expect("bytes");
    let error = Store::open(folder.path(), at(0)).expect_err("refused");
    assert!(matches!(error, StoreError::ForeignDatabase(_)), "{error}");
    assert_eq!(fs::read(file(folder.path())).expect("bytes"), before);
}

/// Opens a store with a damaged file, and returns the new path of this file.
async fn open_damaged(folder: &Path) -> PathBuf {
    let (store, opened) = Store::open(folder, at(0)).expect("a new one");
    assert!(!opened.is_read_only);
    store.set_value("k", "v").await.expect("can be written");
    store.close().await;
    opened.damaged_file.expect("moved aside")
}

#[tokio::test]
async fn an_unreadable_file_is_moved_aside_under_a_dated_name_with_its_journal() {
    let folder = folder();
    let garbage = b"this is no database at all, not even a little one\n".repeat(100);
    fs::write(file(folder.path()), &garbage).expect("written");
    fs::write(folder.path().join("docdeck.db-journal"), [0; 512]).expect("written");
    let damaged_file = open_damaged(folder.path()).await;
    assert_eq!(damaged_file, folder.path().join("docdeck-corrupt-20270115-080000.db"));
    assert_eq!(fs::read(&damaged_file).expect("bytes"), garbage);
    assert!(folder.path().join("docdeck-corrupt-20270115-080000.db-journal").exists());
    #[cfg(unix)]
    for entry in std::fs::read_dir(folder.path()).expect("a folder").map(|entry| entry.expect("an entry")) {
        use std::os::unix::fs::PermissionsExt as _;
        let name = entry.file_name().to_string_lossy().into_owned();
        let mode = entry.metadata().expect("its mode").permissions().mode() & 0o777;
        assert!(mode == 0o600 || name.ends_with("-journal"), "{name}: {mode:o}");
    }
    let (_, opened) = Store::open(folder.path(), at(0)).expect("opened");
    assert!(opened.damaged_file.is_none());
}

#[tokio::test]
async fn a_damaged_file_does_not_replace_another_one_that_was_moved_in_the_same_second() {
    let folder = folder();
    let mut names = Vec::new();
    for content in ["first garbage", "second garbage"] {
        fs::write(file(folder.path()), content).expect("written");
        let damaged_file = open_damaged(folder.path()).await;
        assert_eq!(fs::read_to_string(&damaged_file).expect("text"), content);
        names.push(damaged_file);
    }
    assert_ne!(names[0], names[1]);
    assert_eq!(fs::read_to_string(&names[0]).expect("text"), "first garbage");
}

#[tokio::test]
async fn a_truncated_file_is_moved_aside() {
    let folder = folder();
    let store = open(folder.path());
    for n in 0..100 {
        store.new_job(&format!("Prompt {n} {}", "x".repeat(500)), at(n)).await;
    }
    store.close().await;
    let bytes = fs::read(file(folder.path())).expect("bytes");
    let left = bytes.len() * 4 / 5;
    fs::write(file(folder.path()), &bytes[..left]).expect("written");
    let damaged_file = open_damaged(folder.path()).await;
    assert_eq!(fs::read(damaged_file).expect("bytes").len(), left);
    let jobs = open(folder.path()).jobs(&scope()).await.expect("rows").len();
    assert!((1..100).contains(&jobs), "{jobs} jobs were recovered");
}

#[tokio::test]
async fn damage_found_in_use_is_reported_and_the_next_opening_moves_the_file_aside() {
    let folder = folder();
    let store = open(folder.path());
    for n in 0..200 {
        store.new_job(&format!("Prompt {n} {}", "x".repeat(500)), at(n)).await;
    }
    let page: i64 = store
        .with_connection(|db| {
            // Chooses a page with rows of prompts: opening doesn't read such a page.
            let root: i64 = db
                .query_row("SELECT rootpage FROM sqlite_schema WHERE name = 'prompt'", [], |row| row.get(0))
                .expect("a root");
            let pages: i64 = db.query_row("PRAGMA page_count", [], |row| row.get(0)).expect("a count");
            assert!(pages > root + 20);
            pages - 10
        })
        .await;
    store.close().await;
    let mut bytes = fs::read(file(folder.path())).expect("bytes");
    let first = usize::try_from(page - 1).expect("positive") * 4096;
    bytes[first..first + 5 * 4096].fill(0xee);
    fs::write(file(folder.path()), &bytes).expect("written");

    let (store, opened) = Store::open(folder.path(), at(0)).expect("opened");
    assert!(opened.damaged_file.is_none(), "opening does not read the damaged page");
    let mut failure = None;
    for row in 1..=200 {
        if let Err(error) = store.thread(JobKey(row)).await {
            failure = Some(error);
            break;
        }
    }
    assert!(matches!(failure, Some(StoreError::Damaged)), "{failure:?}");
    store.close().await;
    assert_eq!(fs::read(open_damaged(folder.path()).await).expect("bytes"), bytes);
}

#[tokio::test]
async fn if_the_folder_cannot_be_created_the_store_is_empty_and_refuses_writes() {
    let outer = folder();
    let blocker = outer.path().join("file");
    fs::write(&blocker, "x").expect("written");
    for place in [blocker.join("docdeck"), blocker] {
        let (store, opened) = Store::open(&place, at(0)).expect("a store to read");
        assert!(opened.is_read_only);
        assert_eq!(store.jobs(&scope()).await.expect("rows"), []);
        let refused = store.add_new_job(&scope(), "Fix it", at(0)).await;
        assert!(matches!(refused, Err(StoreError::ReadOnly)));
        assert_eq!(store.jobs(&scope()).await.expect("rows"), []);
    }
}

/// Prevents SQLite from creating the journal, as in a read-only folder. This works even for root.
#[cfg(unix)]
fn block_the_journal(folder: &Path) {
    let journal = folder.join("docdeck.db-journal");
    // This is the truncated journal of the last transaction.
    fs::remove_file(&journal).expect("removed");
    std::os::unix::fs::symlink("/nonexistent/journal", journal).expect("a link");
}

#[cfg(unix)]
#[tokio::test]
async fn a_store_that_cannot_be_written_is_readable_and_refuses_writes() {
    let folder = folder();
    let store = open(folder.path());
    let (prompt, row) = store.new_job("Fix it", at(1)).await;
    store.close().await;
    block_the_journal(folder.path());
    let (store, opened) = Store::open(folder.path(), at(0)).expect("a store to read");
    assert!(opened.is_read_only);
    assert_eq!(store.jobs(&scope()).await.expect("rows"), vec![row]);
    assert!(matches!(store.request_permit(prompt, "i", at(2), at(2)).await, Err(StoreError::ReadOnly)));
}

#[tokio::test]
async fn an_open_store_reads_the_first_rows_and_a_value_before_its_thread_starts() {
    let folder = folder();
    let store = open(folder.path());
    let (_, row) = store.new_job("Fix it", at(1)).await;
    store.set_value("key", "value").await.expect("written");
    store.close().await;
    let mut opened = OpenStore::open(folder.path(), at(0)).expect("opened");
    let first = opened.first_jobs(&scope(), 10).expect("jobs");
    assert_eq!((&first.jobs, first.thread.as_ref().map(|thread| thread.prompts.len())), (&vec![row], Some(1)));
    assert_eq!(opened.value("key").expect("read").as_deref(), Some("value"));
    let (store, outcome) = opened.start().expect("a thread");
    assert!(outcome.damaged_file.is_none() && !outcome.is_read_only);
    assert_eq!(store.first_jobs(&scope(), 10).await.expect("jobs").jobs, first.jobs);
    assert!(store.check_writable().await.expect("checked"));
}

#[cfg(unix)]
#[tokio::test]
async fn after_a_failed_write_check_all_writes_are_refused() {
    let folder = folder();
    open(folder.path()).close().await;
    let (store, opened) = OpenStore::open(folder.path(), at(0)).and_then(OpenStore::start).expect("opened");
    assert!(!opened.is_read_only, "not tried");
    block_the_journal(folder.path());
    assert!(!store.check_writable().await.expect("checked"));
    fs::remove_file(folder.path().join("docdeck.db-journal")).expect("unblocked");
    assert!(matches!(store.add_new_job(&scope(), "Another", at(2)).await, Err(StoreError::ReadOnly)));
}

#[cfg(unix)]
#[tokio::test]
async fn if_the_folder_becomes_unwritable_a_write_fails_and_the_data_stays() {
    let folder = folder();
    let store = open(folder.path());
    let (_, row) = store.new_job("Fix it", at(1)).await;
    block_the_journal(folder.path());
    assert!(matches!(store.add_new_job(&scope(), "Another", at(2)).await, Err(StoreError::ReadOnly)));
    assert_eq!(store.jobs(&scope()).await.expect("rows"), vec![row]);
}

#[tokio::test]
async fn on_a_full_disk_writes_fail_and_reading_works() {
    let folder = folder();
    let store = open(folder.path());
    let (_, row) = store.new_job("Fix it", at(1)).await;
    store
        .with_connection(|db| db.pragma_update_and_check(None, "max_page_count", 1, |_| Ok(())).expect("limited"))
        .await;
    let error = store.add_new_job(&scope(), &"x".repeat(1 << 20), at(2)).await.expect_err("no space");
    assert!(matches!(error, StoreError::DiskFull), "{error}");
    assert_eq!(store.jobs(&scope()).await.expect("rows"), vec![row]);
}

#[tokio::test]
async fn a_lock_of_another_process_times_out_with_an_error() {
    let folder = folder();
    let store = open(folder.path());
    store.with_connection(|db| db.busy_timeout(std::time::Duration::ZERO).expect("set")).await;
    let other = open_raw(folder.path());
    other.execute_batch("BEGIN IMMEDIATE").expect("locked");
    assert!(matches!(store.set_value("k", "v").await, Err(StoreError::Busy)));
    other.execute_batch("ROLLBACK").expect("freed");
    store.set_value("k", "v").await.expect("written");
}

#[tokio::test]
async fn a_panic_rolls_back_only_its_own_call() {
    let store = memory_store();
    let outcome = store
        .write::<()>(|tx| {
            tx.execute("INSERT INTO key_value VALUES ('k', 'v')", [])?;
            panic!("deliberate, in a test");
        })
        .await;
    assert!(matches!(outcome, Err(StoreError::Unusable(_))));
    assert_eq!(store.value("k").await.expect("alive"), None);
}

#[tokio::test]
async fn a_call_runs_to_its_end_even_if_its_caller_stops_waiting() {
    let store = memory_store();
    // Polling the future once submits the call; then the future is dropped.
    let _ = futures_util::FutureExt::now_or_never(store.set_value("k", "v"));
    assert_eq!(store.value("k").await.expect("read").as_deref(), Some("v"));
}

#[tokio::test]
async fn a_closed_store_returns_an_error_and_has_released_its_file() {
    let folder = folder();
    let store = open(folder.path());
    let other = store.clone();
    store.close().await;
    assert!(matches!(other.value("k").await, Err(StoreError::Closed)));
    open_raw(folder.path()).execute_batch("BEGIN EXCLUSIVE; COMMIT").expect("free");
}

#[tokio::test]
async fn only_writes_of_other_connections_change_the_data_version() {
    let folder = folder();
    let (one, two) = (open(folder.path()), open(folder.path()));
    let before = one.data_version().await.expect("a number");
    one.set_value("k", "mine").await.expect("written");
    assert_eq!(one.data_version().await.expect("a number"), before);
    two.set_value("k", "theirs").await.expect("written");
    assert_ne!(one.data_version().await.expect("a number"), before);
}

/// Starts to watch the store, and returns a receiver of the versions that the store's thread reports.
fn watch_versions(store: &Store) -> std::sync::mpsc::Receiver<i64> {
    let (sender, seen) = std::sync::mpsc::channel();
    let report = move |version: Result<i64, StoreError>| match sender.send(version.expect("a number")) {
        Ok(()) => std::ops::ControlFlow::Continue(()),
        Err(_) => std::ops::ControlFlow::Break(()),
    };
    store.watch_data_version(std::time::Duration::from_millis(1), report).expect("open");
    seen
}

/// Waits for the first reported version that matches, and returns it.
fn first_matching_version(receiver: &std::sync::mpsc::Receiver<i64>, wanted: impl Fn(i64) -> bool) -> i64 {
    let versions = std::iter::from_fn(|| receiver.recv_timeout(std::time::Duration::from_secs(20)).ok());
    versions.into_iter().find(|version| wanted(*version)).expect("seen in time")
}

#[tokio::test]
async fn watching_reports_only_writes_of_other_connections() {
    let folder = folder();
    let (one, two) = (open(folder.path()), open(folder.path()));
    let seen = watch_versions(&one);
    let before = first_matching_version(&seen, |_| true);
    one.set_value("k", "mine").await.expect("written");
    assert_eq!(
        seen.try_iter().chain([first_matching_version(&seen, |_| true)]).find(|version| *version != before),
        None
    );
    two.set_value("k", "theirs").await.expect("written");
    let after = first_matching_version(&seen, |version| version != before);
    assert_eq!(after, one.data_version().await.expect("a number"));
    assert_eq!(one.value("k").await.expect("read").as_deref(), Some("theirs"), "calls go on between the looks");
}

#[tokio::test]
async fn watching_ends_when_the_callback_breaks_or_the_store_is_closed() {
    let folder = folder();
    let store = open(folder.path());
    let (ended, seen) = (watch_versions(&store), watch_versions(&store));
    drop(ended);
    first_matching_version(&seen, |_| true);
    store.close().await;
    assert!(seen.iter().take(10_000).count() < 10_000, "a closed store reports nothing");
}
