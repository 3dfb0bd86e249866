//! `docdeck watch` and `docdeck status`.

use crate::command_fixture::CommandFixture;
use docdeck::model::log::Operation;
use rustix::process::Signal;
use serde_json::Value;

#[test]
fn each_change_is_a_line_until_ctrl_c() {
    let fixture = CommandFixture::new(&[]);
    fixture.run(&["new", "Known [sim:seconds=60000]"]).ends(0);
    let running = fixture.start(&["watch"]);
    let first = running.out_line("watching");
    assert!(first.ends_with("watching 1 job: 1 working, 0 need you"), "{first}");
    fixture.run(&["new", "Fresh [sim:seconds=100] [sim:pr]"]).ends(0);
    let accepted = running.out_line("Fresh");
    assert!(accepted.contains("Fresh"), "{accepted}");
    let done = running.out_line("completed, pull request http");
    assert!(done.get(..20).is_some_and(|time| time.ends_with('Z')), "{done}");
    running.signal(Signal::INT);
    let ran = running.end().ends(130);
    assert!(ran.err.contains("The jobs keep running"), "{}", ran.err);
    assert!(!ran.out.contains('\x1b') && !ran.err.contains('\x1b'));
}

#[test]
fn as_json_each_change_is_an_object() {
    let fixture = CommandFixture::new(&[]);
    let running = fixture.start(&["watch", "--json"]);
    running.err_line("watching 0 jobs: 0 working");
    fixture.run(&["new", "Fresh [sim:seconds=100] [sim:fail]"]).ends(0);
    let line = running.out_line("\"failed\"");
    let change: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(
        (change["status"].as_str(), change["title"].as_str()),
        (Some("failed"), Some("Fresh [sim:seconds=100] [sim:fail]"))
    );
    assert_eq!(change["changes"], serde_json::json!(["status"]));
    assert!(change["at"].as_str().is_some_and(|at| at.ends_with('Z')), "{change}");
    running.signal(Signal::TERM);
    assert_eq!(running.end().ends(130).out, "");
}

#[test]
fn a_second_watch_prints_the_same_changes() {
    let fixture = CommandFixture::new(&[]);
    let (one, two) = (fixture.start(&["watch"]), fixture.start(&["watch"]));
    one.out_line("watching");
    two.out_line("watching");
    fixture.run(&["new", "Shared [sim:seconds=100] [sim:pr]"]).ends(0);
    one.out_line("completed");
    two.out_line("completed");
    for running in [one, two] {
        running.signal(Signal::INT);
        running.end().ends(130);
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
        .envs(fixture.variables())
        .arg("watch")
        .stdin(std::process::Stdio::null())
        .stdout(writer)
        .output()
        .expect("it ends");
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

#[test]
fn a_rejected_key_ends_the_watch_with_3() {
    let fixture = CommandFixture::new(&[]);
    fixture.run(&["new", "Known [sim:seconds=60000]"]).ends(0);
    fixture.faults(&["get=401"]);
    let ran = fixture.run(&["watch", "--json"]).ends(3);
    assert_eq!(ran.json()["exitCode"], 3);
}

#[test]
fn the_status_counts_jobs_without_a_request() {
    let fixture = CommandFixture::new(&[]);
    let status =
        |words: &[&str]| fixture.run_with(&[&["status"], words].concat(), &[("DOCDECK_API_KEY", "")], "").ends(0);
    assert_eq!(status(&[]).out, "no jobs\n");
    assert!(!fixture.data().exists(), "nothing is made");
    fixture.run(&["new", "Works [sim:seconds=60000]"]).ends(0);
    fixture.run(&["new", "Fails [sim:seconds=60] [sim:fail]", "--wait"]).ends(1);
    let asked = fixture.sim.requests(Operation::Get);
    assert_eq!(status(&[]).out, "1 needs you · 1 working\n");
    let json = status(&["--json"]).json();
    assert_eq!(
        (json["needYou"].as_i64(), json["active"].as_i64(), json["queued"].as_i64()),
        (Some(1), Some(1), Some(0))
    );
    assert!(json["asOf"].is_string(), "{json}");
    assert_eq!(fixture.sim.requests(Operation::Get), asked);
    assert_eq!(status(&["--ascii"]).out, "1 needs you . 1 working\n");
}

#[test]
fn status_without_a_project_is_no_error() {
    let fixture = CommandFixture::new(&[]);
    let ran = fixture.run_with(&["status"], &[("DOCDECK_PROJECT_ID", "")], "").ends(0);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("not set up\n", ""));
    let json = fixture.run_with(&["status", "--json"], &[("DOCDECK_PROJECT_ID", "")], "").ends(0).json();
    assert_eq!(json["needYou"], Value::Null);
}

#[test]
fn status_does_not_change_a_newer_or_damaged_store() {
    let fixture = CommandFixture::new(&[]);
    fixture.run(&["new", "Known [sim:seconds=60000]"]).ends(0);
    let file = fixture.data().join("docdeck.db");
    let db = rusqlite::Connection::open(&file).expect("a file");
    db.pragma_update(None, "user_version", 99).expect("written");
    drop(db);
    let ran = fixture.run(&["status"]).ends(2);
    assert!(ran.err.contains("newer docdeck"), "{}", ran.err);
    std::fs::write(&file, "no database at all, but long enough to be looked at").expect("written");
    fixture.run(&["status"]).ends(2);
    assert!(std::fs::read_to_string(&file).is_ok_and(|text| text.starts_with("no database")));
}
