//! `docdeck watch` prints changes of jobs as they happen, and `docdeck status` prints how many jobs there are.

use crate::support::command::CommandFixture;
use docdeck::model::log::Operation;
use rustix::process::Signal;
use serde_json::Value;

#[test]
fn watch_prints_a_line_for_each_change_until_ctrl_c() {
    let fixture = CommandFixture::new(&[]);
    fixture.run(&["new", "Known [sim:seconds=60000]"]).expect_exit_code(0);
    let running = fixture.start(&["watch"]);
    let first = running.wait_for_stdout_line("watching");
    assert!(first.ends_with("watching 1 job: 1 working, 0 need you"), "{first}");
    fixture.run(&["new", "Fresh [sim:seconds=100] [sim:pr]"]).expect_exit_code(0);
    let accepted = running.wait_for_stdout_line("Fresh");
    assert!(accepted.contains("Fresh"), "{accepted}");
    let done = running.wait_for_stdout_line("completed, pull request http");
    assert!(done.get(..20).is_some_and(|time| time.ends_with('Z')), "{done}");
    running.send_signal(Signal::INT);
    let ran = running.wait_for_exit().expect_exit_code(130);
    assert!(ran.err.contains("The jobs keep running"), "{}", ran.err);
    assert!(!ran.out.contains('\x1b') && !ran.err.contains('\x1b'));
}

#[test]
fn watch_with_json_prints_an_object_for_each_change() {
    let fixture = CommandFixture::new(&[]);
    let running = fixture.start(&["watch", "--json"]);
    running.wait_for_stderr_line("watching 0 jobs: 0 working");
    fixture.run(&["new", "Fresh [sim:seconds=100] [sim:fail]"]).expect_exit_code(0);
    let line = running.wait_for_stdout_line("\"failed\"");
    let change: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(
        (change["status"].as_str(), change["title"].as_str()),
        (Some("failed"), Some("Fresh [sim:seconds=100] [sim:fail]"))
    );
    assert_eq!(change["changes"], serde_json::json!(["status"]));
    assert!(change["at"].as_str().is_some_and(|at| at.ends_with('Z')), "{change}");
    running.send_signal(Signal::TERM);
    assert_eq!(running.wait_for_exit().expect_exit_code(130).out, "");
}

#[test]
fn a_second_watch_prints_the_same_changes() {
    let fixture = CommandFixture::new(&[]);
    let (one, two) = (fixture.start(&["watch"]), fixture.start(&["watch"]));
    one.wait_for_stdout_line("watching");
    two.wait_for_stdout_line("watching");
    fixture.run(&["new", "Shared [sim:seconds=100] [sim:pr]"]).expect_exit_code(0);
    one.wait_for_stdout_line("completed");
    two.wait_for_stdout_line("completed");
    for running in [one, two] {
        running.send_signal(Signal::INT);
        running.wait_for_exit().expect_exit_code(130);
    }
}

#[test]
fn a_closed_pipe_ends_the_watch_quietly() {
    let fixture = CommandFixture::new(&[]);
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_docdeck"));
    let output = command
        .env_clear()
        .envs(fixture.environment_variables())
        .arg("watch")
        .stdin(std::process::Stdio::null())
        .stdout(writer)
        .output()
        .expect("it ends");
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

#[test]
fn a_rejected_api_key_ends_the_watch_with_3() {
    let fixture = CommandFixture::new(&[]);
    fixture.run(&["new", "Known [sim:seconds=60000]"]).expect_exit_code(0);
    fixture.set_faults(&["get=401"]);
    let ran = fixture.run(&["watch", "--json"]).expect_exit_code(3);
    assert_eq!(ran.json()["exitCode"], 3);
}

#[test]
fn status_counts_jobs_without_a_request() {
    let fixture = CommandFixture::new(&[]);
    let status = |words: &[&str]| {
        fixture.run_with(&[&["status"], words].concat(), &[("DOCDECK_API_KEY", "")], "").expect_exit_code(0)
    };
    assert_eq!(status(&[]).out, "no jobs\n");
    assert!(!fixture.data_folder().exists(), "nothing is made");
    fixture.run(&["new", "Works [sim:seconds=60000]"]).expect_exit_code(0);
    fixture.run(&["new", "Fails [sim:seconds=60] [sim:fail]", "--wait"]).expect_exit_code(1);
    let asked = fixture.sim.requests(Operation::GetJob);
    assert_eq!(status(&[]).out, "1 needs you · 1 working\n");
    let json = status(&["--json"]).json();
    assert_eq!(
        (json["needsYou"].as_i64(), json["active"].as_i64(), json["queued"].as_i64()),
        (Some(1), Some(1), Some(0))
    );
    assert!(json["asOf"].is_string(), "{json}");
    assert_eq!(fixture.sim.requests(Operation::GetJob), asked);
    assert_eq!(status(&["--ascii"]).out, "1 needs you . 1 working\n");
}

#[test]
fn status_without_a_project_is_no_error() {
    let fixture = CommandFixture::new(&[]);
    let ran = fixture.run_with(&["status"], &[("DOCDECK_PROJECT_ID", "")], "").expect_exit_code(0);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("not set up\n", ""));
    let json = fixture.run_with(&["status", "--json"], &[("DOCDECK_PROJECT_ID", "")], "").expect_exit_code(0).json();
    assert_eq!(json["needsYou"], Value::Null);
}

#[test]
fn status_does_not_change_a_newer_or_damaged_store() {
    let fixture = CommandFixture::new(&[]);
    fixture.run(&["new", "Known [sim:seconds=60000]"]).expect_exit_code(0);
    let file = fixture.data_folder().join("docdeck.db");
    let db = rusqlite::Connection::open(&file).expect("a file");
    db.pragma_update(None, "user_version", 99).expect("written");
    drop(db);
    let ran = fixture.run(&["status"]).expect_exit_code(2);
    assert!(ran.err.contains("newer docdeck"), "{}", ran.err);
    std::fs::write(&file, "no database at all, but long enough to be looked at").expect("written");
    fixture.run(&["status"]).expect_exit_code(2);
    assert!(std::fs::read_to_string(&file).is_ok_and(|text| text.starts_with("no database")));
}
