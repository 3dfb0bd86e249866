//! `docdeck new --batch`: prints the cost, saves all prompts, paces them by the ledger, and sends none twice by itself.

use crate::command_fixture::CommandFixture;
use docdeck::model::ledger::RateLimited;
use docdeck::model::log::Operation;
use docdeck::model::prompt::DeliveryKind;
use docdeck::model::row::Job;
use rustix::process::Signal;
use serde_json::{Value, json};

fn batch(fixture: &CommandFixture, prompts: &[&str]) -> String {
    let file = fixture.home.path().join("prompts.txt");
    std::fs::write(&file, prompts.join("\n\n")).expect("written");
    file.display().to_string()
}

fn rows(fixture: &CommandFixture) -> Vec<Job> {
    fixture.store(async |store, scope| store.jobs(scope).await.expect("rows"))
}

fn undelivered(fixture: &CommandFixture) -> Vec<Option<DeliveryKind>> {
    rows(fixture).iter().map(|row| row.undelivered).collect()
}

/// Uses the hourly limit except for `slots` requests.
fn leave(fixture: &CommandFixture, slots: u32) {
    fixture.store(async |store, scope| {
        let now = chrono::Utc::now();
        for _ in slots..100 {
            store.spend(scope, RateLimited::Create, now).await.expect("written").expect("a place");
        }
    });
}

#[test]
fn dry_run_prints_the_cost_without_a_key_a_request_or_a_store() {
    let fixture = CommandFixture::new(&[]);
    let file = batch(&fixture, &["one", "two", "three"]);
    let dry = |words: &[&str]| {
        fixture
            .run_with(&[&["new", "--batch", &file, "--dry-run"], words].concat(), &[("DOCDECK_API_KEY", "")], "")
            .ends(0)
    };
    assert_eq!(dry(&[]).out, "3 jobs, all start now. New jobs 0/100 this hour on this computer.\n");
    assert!(!fixture.data().exists());
    leave(&fixture, 1);
    let json = dry(&["--json"]).json();
    assert_eq!((json["prompts"].as_i64(), json["now"].as_i64(), json["later"].as_i64()), (Some(3), Some(1), Some(2)));
    assert!(json["laterFrom"].is_string() && json["lastNotBefore"] == json["laterFrom"], "{json}");
    assert!(dry(&[]).out.starts_with("3 jobs: 1 now, 2 from "), "{:?}", dry(&[]));
    assert_eq!(fixture.sim.requests(Operation::Create), 0);
}

#[test]
fn all_prompts_are_sent_and_their_ids_printed() {
    let fixture = CommandFixture::new(&[]);
    let file = batch(&fixture, &["one [sim:seconds=6000]", "two [sim:seconds=6000]", "three [sim:seconds=6000]"]);
    let ran = fixture.run(&["new", "--batch", &file]).ends(0);
    let mut received: Vec<String> = fixture.sim.prompts().into_iter().map(|(id, _)| id).collect();
    let mut written: Vec<&str> = ran.out.lines().collect();
    received.sort();
    written.sort_unstable();
    assert_eq!(written, received);
    assert!(ran.err.contains("3 jobs, all start now") && ran.err.contains("all accepted: 3 jobs"), "{}", ran.err);
}

#[test]
fn a_json_batch_from_stdin_with_wait_exits_with_the_code_of_the_jobs() {
    let fixture = CommandFixture::new(&[]);
    let lines = "{\"prompt\":\"one [sim:seconds=60] [sim:pr]\"}\n\"two [sim:seconds=60] [sim:fail]\"\n";
    let ran = fixture.run_with(&["new", "--batch", "-", "--wait", "--json"], &[], lines).ends(1);
    let json = ran.json();
    let statuses: Vec<&str> =
        json["jobs"].as_array().expect("jobs").iter().filter_map(|job| job["status"].as_str()).collect();
    assert_eq!(statuses, ["completed", "failed"]);
}

#[test]
fn the_same_file_is_refused_without_rest_or_again() {
    let fixture = CommandFixture::new(&[]);
    let file = batch(&fixture, &["one [sim:seconds=6000]", "two [sim:seconds=6000]"]);
    fixture.run(&["new", "--batch", &file]).ends(0);
    let ran = fixture.run(&["new", "--batch", &file]).ends(2);
    assert!(ran.err.contains("2 of 2 prompts are not new: 2 sent in the last 24 hours. Nothing"), "{ran:?}");
    assert!(ran.err.contains("--rest") && ran.err.contains("--again"), "{}", ran.err);
    assert_eq!(fixture.sim.requests(Operation::Create), 2);
    fixture.run(&["new", "--batch", &file, "--rest"]).ends(0);
    assert_eq!(fixture.sim.requests(Operation::Create), 2, "nothing is left to send");
    let left = "Nothing left to send: all 2 prompts were sent in the last 24 hours.";
    for more in [&["--rest"][..], &["--rest", "--queue"]] {
        let ran = fixture.run(&[&["new", "--batch", &file], more].concat()).ends(0);
        assert!(ran.err.starts_with(left) && ran.out.is_empty(), "{ran:?}");
        let ran = fixture.run(&[&["new", "--batch", &file, "--json"], more].concat()).ends(0);
        assert!(ran.err.starts_with(left) && ran.json() == json!({ "jobs": [] }), "{ran:?}");
    }
    assert!(fixture.run(&["new", "--batch", &file, "--dry-run"]).ends(0).out.starts_with(left));
    fixture.run(&["new", "--batch", &file, "--again"]).ends(0);
    assert_eq!(fixture.sim.requests(Operation::Create), 4);
}

#[test]
fn a_signal_pauses_the_unsent_prompts_and_rest_sends_them() {
    let fixture = CommandFixture::new(&[]);
    leave(&fixture, 1);
    let file = batch(&fixture, &["one [sim:seconds=6000]", "two [sim:seconds=6000]", "three [sim:seconds=6000]"]);
    let running = fixture.start(&["new", "--batch", &file]);
    running.err_line("accepted: one");
    running.signal(Signal::INT);
    let ran = running.end().ends(130);
    assert!(ran.err.contains("Interrupted: 1 of 3 prompts accepted, 2 paused"), "{}", ran.err);
    let paused = Some(DeliveryKind::Paused);
    assert_eq!(undelivered(&fixture), [None, paused, paused]);
    let dry = fixture.run(&["new", "--batch", &file, "--rest", "--dry-run"]).ends(0);
    assert!(
        dry.out.starts_with("2 jobs: none now, 2 from ") || dry.out.starts_with("2 jobs: 0 now, 2 from "),
        "{dry:?}"
    );
    assert!(
        dry.err.contains("2 of these wait in the queue already.") && dry.err.contains("1 prompt of this file was sent")
    );
    let dry = fixture.run(&["new", "--batch", &file, "--dry-run", "--json"]).ends(0).json();
    assert_eq!(["prompts", "known", "ahead"].map(|name| dry[name].as_i64()), [Some(2), Some(1), Some(0)], "{dry}");
    let ran = fixture.run(&["new", "--batch", &file, "--rest", "--timeout", "1"]).ends(124);
    assert!(ran.err.contains("2 jobs: ") && !ran.err.contains("0 jobs: "), "{}", ran.err);
    assert!(ran.err.contains("1 prompt sent before, skipped"), "{}", ran.err);
    assert!(ran.err.contains("Timed out: 0 of 2 prompts accepted, 2 paused"), "{}", ran.err);
    assert_eq!((rows(&fixture).len(), fixture.sim.requests(Operation::Create)), (3, 1));
}

#[test]
fn a_killed_batch_is_saved_and_nothing_is_sent_twice() {
    let fixture = CommandFixture::new(&[]);
    leave(&fixture, 1);
    let file = batch(&fixture, &["one [sim:seconds=6000]", "two [sim:seconds=6000]"]);
    let running = fixture.start(&["new", "--batch", &file]);
    running.err_line("accepted: one");
    running.signal(Signal::KILL);
    running.end();
    assert_eq!(undelivered(&fixture), [None, Some(DeliveryKind::Queued)]);
    fixture.run(&["new", "--batch", &file]).ends(2);
    assert_eq!((rows(&fixture).len(), fixture.sim.requests(Operation::Create)), (2, 1));
}

#[test]
fn a_batch_beside_another_docdeck_reports_its_own_prompts() {
    let fixture = CommandFixture::new(&[]);
    leave(&fixture, 1);
    let file = batch(&fixture, &["one [sim:seconds=6000]", "two"]);
    let first = fixture.start(&["new", "--batch", &file]);
    first.err_line("hourly limit reached; sending the next at");
    let other = fixture.home.path().join("other.txt");
    std::fs::write(&other, "three").expect("written");
    let second = fixture.start(&["new", "--batch", "other.txt"]);
    second.err_line("another docdeck on this computer sends the queue");
    second.signal(Signal::INT);
    assert!(second.end().ends(130).err.contains("0 of 1 prompt accepted, 1 paused"));
    first.signal(Signal::TERM);
    assert!(first.end().ends(130).err.contains("1 of 2 prompts accepted, 1 paused"));
    let paused = Some(DeliveryKind::Paused);
    assert_eq!(undelivered(&fixture), [None, paused, paused]);
}

#[test]
fn queue_saves_the_prompts_without_a_key_and_sends_nothing() {
    let fixture = CommandFixture::new(&[]);
    let file = batch(&fixture, &["one", "two"]);
    let ran = fixture.run_with(&["new", "--batch", &file, "--queue", "--json"], &[("DOCDECK_API_KEY", "")], "").ends(0);
    assert_eq!(ran.json()["jobs"].as_array().map(Vec::len), Some(2));
    assert!(ran.err.contains("2 jobs queued. They are sent only while a dashboard is running"), "{}", ran.err);
    assert_eq!(undelivered(&fixture), [Some(DeliveryKind::Queued); 2]);
    assert_eq!(fixture.sim.requests(Operation::Create), 0);
}

#[test]
fn a_rejected_key_stops_the_batch_with_3_and_pauses_the_rest() {
    let fixture = CommandFixture::new(&["create=401"]);
    let texts: Vec<String> = (0..30).map(|n| format!("prompt {n}")).collect();
    let file = batch(&fixture, &texts.iter().map(String::as_str).collect::<Vec<_>>());
    let ran = fixture.run(&["new", "--batch", &file, "--json"]).ends(3);
    let sent = fixture.sim.requests(Operation::Create);
    assert!(sent < 30, "{sent}");
    let jobs = ran.json()["jobs"].as_array().cloned().unwrap_or_default();
    let of = |word: &str| jobs.iter().filter(|job: &&Value| job["delivery"] == word).count();
    assert!(of("paused") > 0 && of("paused") + of("rejected") == 30, "{}", ran.err);
}

#[test]
fn a_lost_answer_ends_the_batch_with_6_and_the_others_are_sent() {
    let fixture = CommandFixture::new(&["create=lost"]);
    let file = batch(&fixture, &["one [sim:seconds=6000]", "two [sim:seconds=6000]"]);
    let ran = fixture.run(&["new", "--batch", &file]).ends(6);
    assert!(ran.err.contains("0 of 2 prompts accepted, 2 unconfirmed"), "{}", ran.err);
    assert_eq!(fixture.sim.requests(Operation::Create), 2);
}

#[test]
fn a_file_without_prompts_is_refused_with_the_reason() {
    let fixture = CommandFixture::new(&[]);
    let file = batch(&fixture, &["", " "]);
    let ran = fixture.run(&["new", "--batch", &file]).ends(2);
    assert!(ran.err.contains("prompts.txt: No prompts found"), "{}", ran.err);
    let ran = fixture.run(&["new", "--batch", "none.csv"]).ends(2);
    assert!(ran.err.contains("File none.csv not found"), "{}", ran.err);
    fixture.run(&["new", "--dry-run", "x"]).ends(2);
}
