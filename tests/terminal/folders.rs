//! Tests how the dashboard handles a data folder that can't be used, and a damaged index.

use crate::support::pty::{Pty, Setup};
use rustix::process::Signal;

#[cfg(target_os = "linux")]
#[test]
fn the_dashboard_reports_only_that_the_data_folder_cannot_be_created() {
    let setup = Setup::dashboard().with("DOCDECK_BASE_URL", "http://127.0.0.1:1").with("DOCDECK_PROJECT_ID", "p");
    let setup = setup.with("DOCDECK_API_KEY", "mint_a").with("DOCDECK_DATA_DIR", "/proc/docdeck");
    let mut pty = Pty::spawn_at(120, 40, setup);
    pty.wait_for_text("The data folder /proc/docdeck doesn't exist and can't be created in /proc");
    pty.send("n");
    pty.wait_for_text("New job");
    pty.send("words");
    pty.wait_for_text("words");
    pty.send("\x13");
    pty.wait_for_text("Not sent: the data folder can't be written");
    let screen = pty.screen().contents();
    assert!(screen.contains("can't be created in /proc") && !screen.contains("lock"), "{screen}");
    pty.signal(Signal::TERM);
    pty.wait_for_end();
    pty.assert_restored();
}

#[test]
fn the_dashboard_rebuilds_a_damaged_index_and_logs_it() {
    let home = tempfile::tempdir().expect("a folder");
    let data = home.path().display().to_string();
    let setup = || {
        let setup = Setup::dashboard().with("DOCDECK_BASE_URL", "http://127.0.0.1:1").with("DOCDECK_PROJECT_ID", "p");
        setup.with("DOCDECK_API_KEY", "mint_a").with("DOCDECK_DATA_DIR", &data)
    };
    let mut pty = Pty::spawn_at(120, 40, setup());
    pty.wait_for_text("No jobs yet.");
    pty.quit();
    let open = || rusqlite::Connection::open(home.path().join("docdeck.db")).expect("a database");
    let row = "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema WHERE name = 'job_by_id'";
    let index: (String, String, String, i64, String) = open()
        .query_row(row, [], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))
        .expect("an index");
    open()
        .execute_batch("PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = 'job_by_id'")
        .expect("hidden");
    open()
        .execute_batch(
            // The job has failed, so that no check of the job writes while the database is checked.
            "INSERT INTO scope (base_url, project) VALUES ('http://127.0.0.1:1', 'p');
             INSERT INTO job (scope, id, title, status, created_at, started_at, changed_at, checked_at, finished_at, revision)
             SELECT id, 'x1', 'Without an index', 'failed', 0, 0, 0, 0, 0, 1 FROM scope LIMIT 1;",
        )
        .expect("written");
    let db = open();
    db.execute_batch("PRAGMA writable_schema = ON").expect("set");
    db.execute("INSERT INTO sqlite_schema VALUES (?1, ?2, ?3, ?4, ?5)", index).expect("shown again");
    drop(db);
    let mut pty = Pty::spawn_at(120, 40, setup());
    pty.wait_for_text("Without an index");
    // The first check finds the database locked, two seconds after the start, and the next one does not.
    let lock = open();
    lock.execute_batch("BEGIN EXCLUSIVE").expect("locked");
    std::thread::sleep(std::time::Duration::from_millis(2500));
    drop(lock);
    pty.wait_for_text("An index of the database was damaged and has been rebuilt.");
    pty.quit();
    let log = std::fs::read_to_string(home.path().join("docdeck.log")).expect("a log");
    assert!(log.contains("INFO note: rebuilt damaged indexes of the database: {\"job_by_id\"}"), "{log}");
}
