//! `watch` and `status`.

use crate::command_fixture::CommandFixture;
use docdeck::model::log::Operation;
use rustix::process::Signal;
use serde_json::Value;

#[test]
fn changes_are_told_a_line_each_until_ctrl_c() {
    let world = CommandFixture::new(&[]);
    world.run(&["new", "Known [sim:seconds=60000]"]).ends(0);
    let running = world.start(&["watch"]);
    let first = running.out_line("watching");
    assert!(first.ends_with("watching 1 job known here: 1 working, 0 need you"), "{first}");
    world.run(&["new", "Fresh [sim:seconds=100] [sim:pr]"]).ends(0);
    let accepted = running.out_line("Fresh");
    assert!(accepted.contains("Fresh"), "{accepted}");
    let done = running.out_line("completed, pull request http");
    assert!(done.get(..20).is_some_and(|time| time.ends_with('Z')), "{done}");
    running.signal(Signal::INT);
    let ran = running.end().ends(130);
    assert!(ran.err.contains("The jobs go on"), "{}", ran.err);
    assert!(!ran.out.contains('\x1b') && !ran.err.contains('\x1b'));
}

#[test]
fn as_json_it_is_one_object_a_change() {
    let world = CommandFixture::new(&[]);
    let running = world.start(&["watch", "--json"]);
    running.err_line("watching 0 jobs known here");
    world.run(&["new", "Fresh [sim:seconds=100] [sim:fail]"]).ends(0);
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
fn beside_another_one_that_polls_it_hears_the_same() {
    let world = CommandFixture::new(&[]);
    let (one, two) = (world.start(&["watch"]), world.start(&["watch"]));
    one.out_line("watching");
    two.out_line("watching");
    world.run(&["new", "Shared [sim:seconds=100] [sim:pr]"]).ends(0);
    one.out_line("completed");
    two.out_line("completed");
    for running in [one, two] {
        running.signal(Signal::INT);
        running.end().ends(130);
    }
}

#[test]
fn nobody_reading_ends_it_quietly() {
    let world = CommandFixture::new(&[]);
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_docdeck"));
    let output = command
        .env_clear()
        .envs(world.variables())
        .arg("watch")
        .stdin(std::process::Stdio::null())
        .stdout(writer)
        .output()
        .expect("it ends");
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

#[test]
fn a_refused_key_ends_the_watch_with_3() {
    let world = CommandFixture::new(&[]);
    world.run(&["new", "Known [sim:seconds=60000]"]).ends(0);
    world.faults(&["get=401"]);
    let ran = world.run(&["watch", "--json"]).ends(3);
    assert_eq!(ran.json()["exitCode"], 3);
}

#[test]
fn the_status_counts_what_needs_the_user_and_what_works_without_a_request() {
    let world = CommandFixture::new(&[]);
    let status =
        |words: &[&str]| world.run_with(&[&["status"], words].concat(), &[("DOCDECK_API_KEY", "")], "").ends(0);
    assert_eq!(status(&[]).out, "no jobs known here\n");
    assert!(!world.data().exists(), "nothing is made");
    world.run(&["new", "Works [sim:seconds=60000]"]).ends(0);
    world.run(&["new", "Fails [sim:seconds=60] [sim:fail]", "--wait"]).ends(1);
    let asked = world.sim.requests(Operation::Get);
    assert_eq!(status(&[]).out, "1 needs you · 1 working\n");
    let json = status(&["--json"]).json();
    assert_eq!(
        (json["needYou"].as_i64(), json["active"].as_i64(), json["queued"].as_i64()),
        (Some(1), Some(1), Some(0))
    );
    assert!(json["asOf"].is_string(), "{json}");
    assert_eq!(world.sim.requests(Operation::Get), asked);
    assert_eq!(status(&["--ascii"]).out, "1 needs you . 1 working\n");
}

#[test]
fn a_status_without_a_project_is_quiet() {
    let world = CommandFixture::new(&[]);
    let ran = world.run_with(&["status"], &[("DOCDECK_PROJECT_ID", "")], "").ends(0);
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("not set up\n", ""));
    let json = world.run_with(&["status", "--json"], &[("DOCDECK_PROJECT_ID", "")], "").ends(0).json();
    assert_eq!(json["needYou"], Value::Null);
}

#[test]
fn a_status_leaves_a_store_that_is_newer_or_damaged_as_it_is() {
    let world = CommandFixture::new(&[]);
    world.run(&["new", "Known [sim:seconds=60000]"]).ends(0);
    let file = world.data().join("docdeck.db");
    let db = rusqlite::Connection::open(&file).expect("a file");
    db.pragma_update(None, "user_version", 99).expect("written");
    drop(db);
    let ran = world.run(&["status"]).ends(2);
    assert!(ran.err.contains("newer docdeck"), "{}", ran.err);
    std::fs::write(&file, "no database at all, but long enough to be looked at").expect("written");
    world.run(&["status"]).ends(2);
    assert!(std::fs::read_to_string(&file).is_ok_and(|text| text.starts_with("no database")));
}
