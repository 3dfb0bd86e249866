//! Tests of `docdeck prune` as a built program: what it removes, what it prints, and that it needs only the database.

use crate::support::pty;
use docdeck::model::Time;
use docdeck::model::analytics::{Question, RowsResponse};
use docdeck::model::endpoint::Scope;
use docdeck::model::period::DateRange;
use docdeck::model::views::{Count, Counts, PageRow, ViewsQuery, ViewsResponse};
use docdeck::store::{ReportResponse, ResponsePosition, Store};
use std::path::Path;

/// Runs `docdeck prune` and expects this exit code; returns stdout and stderr.
fn prune(folder: &Path, arguments: &[&str], code: i32) -> (String, String) {
    let mut command = assert_cmd::Command::new(pty::program());
    command.env_clear().envs(pty::environment(folder)).arg("prune").arg("--data-dir").arg(folder.join("data"));
    let output = command.args(arguments).assert().code(code).get_output().clone();
    let text = |bytes| String::from_utf8(bytes).expect("text").trim_end().to_owned();
    (text(output.stdout), text(output.stderr))
}

/// Runs `docdeck prune --json` and returns its output.
fn prune_json(folder: &Path, arguments: &[&str]) -> serde_json::Value {
    let (out, _) = prune(folder, &[arguments, &["--json"]].concat(), 0);
    serde_json::from_str(&out).expect("JSON")
}

fn scope(project: &str) -> Scope {
    Scope { base_url: "http://127.0.0.1:1".to_owned(), project: project.to_owned(), organization: None }
}

/// Adds a job to a store and, for each age in days, the page views of a range: a response and a complete report.
async fn fill(folder: &Path, project: &str, ages: &[i64]) {
    let now: Time = chrono::Utc::now();
    let (store, _) = Store::open(&folder.join("data"), now).expect("a store");
    let counts = Counts::new(Count::Known(1), Count::Known(1), Count::Known(2));
    for age in ages {
        let row =
            |n| PageRow { path: docdeck::model::text::CleanText::line(&format!("/{age}/{n}")), counts: counts.clone() };
        let response =
            ViewsResponse { totals: counts.clone(), rows: (0..2000).map(row).collect(), has_more: Some(false) };
        let as_of = now - chrono::TimeDelta::days(*age);
        let first = as_of.date_naive();
        let range = DateRange::new(first, first).expect("a range");
        let query = ViewsQuery { range, limit: 250, page: 1 };
        store.save_views(&scope(project), query, &response, as_of).await.expect("kept");
        let next = ReportResponse { range, number: 1, response, is_last: true, as_of, restarted_at: None };
        assert!(store.add_report_response(&scope(project), next).await.expect("kept"));
    }
    store.add_new_job(&scope(project), "Fix the links", now).await.expect("kept");
    store.close().await;
}

/// Returns the number of cached ranges and the number of jobs.
async fn remaining(folder: &Path, project: &str) -> (usize, usize) {
    let (store, _) = Store::open(&folder.join("data"), chrono::Utc::now()).expect("a store");
    let kept = store.cached_ranges(&scope(project)).await.expect("read");
    let jobs = store.jobs(&scope(project)).await.expect("read");
    store.close().await;
    (kept.ranges.len(), jobs.len())
}

#[test]
fn without_a_store_prune_reports_that_and_creates_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let (out, err) = prune(folder.path(), &["--all"], 0);
    assert_eq!(out, format!("Nothing to delete: {} contains no database.", folder.path().join("data").display()));
    assert_eq!((err.as_str(), folder.path().join("data").exists()), ("", false));
    assert_eq!(prune_json(folder.path(), &[])["ranges"], 0);
}

#[tokio::test]
async fn without_a_key_old_page_views_are_removed_and_jobs_stay() {
    let folder = tempfile::tempdir().expect("a folder");
    fill(folder.path(), "docs", &[1, 30, 401, 500]).await;
    let file = folder.path().join("data/docdeck.db");
    let size = || std::fs::metadata(&file).expect("a store").len();
    let before = size();
    let dry_run = prune_json(folder.path(), &["--dry-run"]);
    let counted = (&dry_run["dryRun"], &dry_run["ranges"], &dry_run["bytesBefore"]);
    assert_eq!(counted, (&true.into(), &2.into(), &before.into()));
    assert_eq!(remaining(folder.path(), "docs").await, (4, 1), "a dry run removes nothing");
    let (out, _) = prune(folder.path(), &[], 0);
    assert!(
        out.starts_with("Deleted page views of 2 date ranges: 2 lists of pages, 2 single responses, 2 site totals.\n"),
        "{out}"
    );
    assert!(out.contains("The database used ") && size() < before, "{out}");
    assert_eq!(remaining(folder.path(), "docs").await, (2, 1));
    assert!(prune(folder.path(), &[], 0).0.starts_with("No page views to delete.\nThe database uses "));
}

#[tokio::test]
async fn texts_of_readers_are_removed_after_the_configured_number_of_days() {
    let folder = tempfile::tempdir().expect("a folder");
    let now: Time = chrono::Utc::now();
    let as_of = now - chrono::TimeDelta::days(8);
    let (store, _) = Store::open(&folder.path().join("data"), now).expect("a store");
    let response = RowsResponse {
        rows: vec![Question::default()],
        totals: Counts::default(),
        next: None,
        has_unavailable_rows: false,
    };
    let range = DateRange::day(as_of.date_naive());
    let position = ResponsePosition { range, number: 1, as_of, started_at: as_of, should_replace_unfinished: false };
    assert!(store.save_rows_response(&scope("docs"), &response, position).await.expect("kept"));
    store.close().await;
    assert_eq!(prune_json(folder.path(), &[])["otherReports"], 0);
    let config = folder.path().join("settings.toml");
    std::fs::write(&config, "[privacy]\nreader_text_days = 7\n").expect("written");
    let (out, _) = prune(folder.path(), &["--config", config.to_str().expect("a path")], 0);
    let expected = "No page views to delete.\nDeleted 1 report of visitors, searches, feedback and questions.\n";
    assert!(out.starts_with(expected), "{out}");
    assert_eq!(prune_json(folder.path(), &["--all"])["otherReports"], 0);
}

#[tokio::test]
async fn keeping_n_ranges_applies_to_each_project_or_only_to_the_named_one() {
    let folder = tempfile::tempdir().expect("a folder");
    fill(folder.path(), "docs", &[1, 2, 3]).await;
    fill(folder.path(), "blog", &[1, 2, 3]).await;
    assert_eq!(prune_json(folder.path(), &["--keep", "2", "--project", "blog"])["ranges"], 1);
    assert_eq!((remaining(folder.path(), "docs").await.0, remaining(folder.path(), "blog").await.0), (3, 2));
    assert_eq!(prune_json(folder.path(), &["--keep", "1"])["ranges"], 3);
    assert_eq!(prune_json(folder.path(), &["--all"])["ranges"], 2);
    assert_eq!((remaining(folder.path(), "docs").await, remaining(folder.path(), "blog").await), ((0, 1), (0, 1)));
}

#[tokio::test]
async fn a_store_that_cannot_be_written_keeps_its_data_and_prune_exits_with_2() {
    let folder = tempfile::tempdir().expect("a folder");
    fill(folder.path(), "docs", &[500]).await;
    // SQLite can't create the journal, as in a read-only folder. Unlike a read-only folder, this also stops root.
    let journal = folder.path().join("data/docdeck.db-journal");
    std::fs::remove_file(&journal).expect("the empty journal of the last transaction");
    std::os::unix::fs::symlink("/nonexistent/journal", &journal).expect("a link");
    let (out, err) = prune(folder.path(), &[], 2);
    assert!(out.is_empty() && err.contains("can't be written, so nothing was changed: make it writable"), "{err}");
    assert_eq!(prune_json(folder.path(), &["--dry-run"])["ranges"], 1);
    std::fs::remove_file(journal).expect("removed");
    assert_eq!(remaining(folder.path(), "docs").await, (1, 1));
}

#[test]
fn a_database_of_another_program_is_left_unchanged_and_prune_exits_with_2() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("data")).expect("a folder");
    let db = rusqlite::Connection::open(folder.path().join("data/docdeck.db")).expect("a file");
    db.execute_batch("CREATE TABLE theirs (x)").expect("a table");
    drop(db);
    let (out, err) = prune(folder.path(), &["--all"], 2);
    assert!(out.is_empty() && err.contains("the database of another program and was not changed"), "{err}");
}

#[test]
fn the_help_states_what_is_never_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let (out, _) = prune(folder.path(), &["--help"], 0);
    let out = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(out.contains("Jobs and their prompts can't be loaded again; they are deleted only with --jobs."), "{out}");
    assert!(out.contains("[default: 400; no default with --keep, --all or --jobs]"), "{out}");
}
