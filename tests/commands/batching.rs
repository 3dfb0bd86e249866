//! `docdeck new --batch`: prints the cost, saves all prompts, sends them within the hourly limit, and never resends a
//! prompt on its own.

use crate::support::command::CommandFixture;
use docdeck::model::job::Job;
use docdeck::model::ledger::Quota;
use docdeck::model::log::Operation;
use docdeck::model::prompt::DeliveryKind;
use rustix::process::Signal;
use serde_json::{Value, json};

fn write_batch_file(fixture: &CommandFixture, prompts: &[&str]) -> String {
    let file = fixture.home.path().join("prompts.txt");
    std::fs::write(&file, prompts.join("\n\n")).expect("written");
    file.display().to_string()
}

fn stored_jobs(fixture: &CommandFixture) -> Vec<Job> {
    fixture.with_store(async |store, scope| store.jobs(scope).await.expect("rows"))
}

fn undelivered_kinds(fixture: &CommandFixture) -> Vec<Option<DeliveryKind>> {
    stored_jobs(fixture).iter().map(|row| row.local.undelivered).collect()
}

/// Uses up the hourly limit of new jobs, except for `remaining` requests.
fn leave_requests(fixture: &CommandFixture, remaining: u32) {
    fixture.with_store(async |store, scope| {
        let now = chrono::Utc::now();
        for _ in remaining..100 {
            store.spend(scope, Quota::Create, now).await.expect("written").expect("a place");
        }
    });
}

#[test]
fn a_dry_run_prints_the_cost_without_an_api_key_a_request_or_a_store() {
    let fixture = CommandFixture::new(&[]);
    let file = write_batch_file(&fixture, &["one", "two", "three"]);
    let dry = |words: &[&str]| {
        fixture
            .run_with(&[&["new", "--batch", &file, "--dry-run"], words].concat(), &[("DOCDECK_API_KEY", "")], "")
            .expect_exit_code(0)
    };
    assert_eq!(dry(&[]).out, "3 jobs, all can start now. New jobs 0/100 this hour on this computer.\n");
    assert!(!fixture.data_folder().exists());
    leave_requests(&fixture, 1);
    let json = dry(&["--json"]).json();
    assert_eq!((json["prompts"].as_i64(), json["now"].as_i64(), json["later"].as_i64()), (Some(3), Some(1), Some(2)));
    assert!(json["laterFrom"].is_string() && json["lastNotBefore"] == json["laterFrom"], "{json}");
    assert!(dry(&[]).out.starts_with("3 jobs: 1 now, 2 from "), "{:?}", dry(&[]));
    assert_eq!(fixture.sim.requests(Operation::Create), 0);
}

#[test]
fn all_prompts_are_sent_and_their_ids_printed() {
    let fixture = CommandFixture::new(&[]);
    let file =
        write_batch_file(&fixture, &["one [sim:seconds=6000]", "two [sim:seconds=6000]", "three [sim:seconds=6000]"]);
    let ran = fixture.run(&["new", "--batch", &file]).expect_exit_code(0);
    let mut received: Vec<String> = fixture.sim.received_prompts().into_iter().map(|(id, _)| id).collect();
    let mut written: Vec<&str> = ran.out.lines().collect();
    received.sort();
    written.sort_unstable();
    assert_eq!(written, received);
    assert!(ran.err.contains("3 jobs, all can start now") && ran.err.contains("all accepted: 3 jobs"), "{}", ran.err);
}

#[test]
fn with_wait_a_json_batch_from_stdin_exits_with_1_if_a_job_fails() {
    let fixture = CommandFixture::new(&[]);
    let lines = "{\"prompt\":\"one [sim:seconds=60] [sim:pr]\"}\n\"two [sim:seconds=60] [sim:fail]\"\n";
    let ran = fixture.run_with(&["new", "--batch", "-", "--wait", "--json"], &[], lines).expect_exit_code(1);
    let json = ran.json();
    let statuses: Vec<&str> =
        json["jobs"].as_array().expect("jobs").iter().filter_map(|job| job["status"].as_str()).collect();
    assert_eq!(statuses, ["completed", "failed"]);
}

#[test]
fn a_file_that_was_sent_before_is_refused_without_rest_or_again() {
    let fixture = CommandFixture::new(&[]);
    let file = write_batch_file(&fixture, &["one [sim:seconds=6000]", "two [sim:seconds=6000]"]);
    fixture.run(&["new", "--batch", &file]).expect_exit_code(0);
    let ran = fixture.run(&["new", "--batch", &file]).expect_exit_code(2);
    assert!(ran.err.contains("2 of 2 prompts are not new: 2 sent in the last 24 hours. Nothing"), "{ran:?}");
    assert!(ran.err.contains("--rest") && ran.err.contains("--again"), "{}", ran.err);
    assert_eq!(fixture.sim.requests(Operation::Create), 2);
    fixture.run(&["new", "--batch", &file, "--rest"]).expect_exit_code(0);
    assert_eq!(fixture.sim.requests(Operation::Create), 2, "nothing is left to send");
    let left = "Nothing left to send: all 2 prompts were sent in the last 24 hours.";
    for more in [&["--rest"][..], &["--rest", "--queue"]] {
        let ran = fixture.run(&[&["new", "--batch", &file], more].concat()).expect_exit_code(0);
        assert!(ran.err.starts_with(left) && ran.out.is_empty(), "{ran:?}");
        let ran = fixture.run(&[&["new", "--batch", &file, "--json"], more].concat()).expect_exit_code(0);
        assert!(ran.err.starts_with(left) && ran.json() == json!({ "jobs": [] }), "{ran:?}");
    }
    assert!(fixture.run(&["new", "--batch", &file, "--dry-run"]).expect_exit_code(0).out.starts_with(left));
    fixture.run(&["new", "--batch", &file, "--again"]).expect_exit_code(0);
    assert_eq!(fixture.sim.requests(Operation::Create), 4);
}

#[test]
fn a_signal_pauses_the_unsent_prompts_and_rest_sends_them() {
    let fixture = CommandFixture::new(&[]);
    leave_requests(&fixture, 1);
    let file =
        write_batch_file(&fixture, &["one [sim:seconds=6000]", "two [sim:seconds=6000]", "three [sim:seconds=6000]"]);
    let running = fixture.start(&["new", "--batch", &file]);
    running.wait_for_stderr_line("accepted: one");
    running.send_signal(Signal::INT);
    let ran = running.wait_for_exit().expect_exit_code(130);
    assert!(ran.err.contains("Interrupted: 1 of 3 prompts accepted, 2 paused"), "{}", ran.err);
    let paused = Some(DeliveryKind::Paused);
    assert_eq!(undelivered_kinds(&fixture), [None, paused, paused]);
    let dry = fixture.run(&["new", "--batch", &file, "--rest", "--dry-run"]).expect_exit_code(0);
    assert!(
        dry.out.starts_with("2 jobs: none now, 2 from ") || dry.out.starts_with("2 jobs: 0 now, 2 from "),
        "{dry:?}"
    );
    assert!(dry.err.contains("2 of these are already queued.") && dry.err.contains("1 prompt in this file was sent"));
    let dry = fixture.run(&["new", "--batch", &file, "--dry-run", "--json"]).expect_exit_code(0).json();
    assert_eq!(["prompts", "known", "ahead"].map(|name| dry[name].as_i64()), [Some(2), Some(1), Some(0)], "{dry}");
    let ran = fixture.run(&["new", "--batch", &file, "--rest", "--timeout", "1"]).expect_exit_code(124);
    assert!(ran.err.contains("2 jobs: ") && !ran.err.contains("0 jobs: "), "{}", ran.err);
    assert!(ran.err.contains("1 prompt sent before, skipped"), "{}", ran.err);
    assert!(ran.err.contains("Timed out: 0 of 2 prompts accepted, 2 paused"), "{}", ran.err);
    assert_eq!((stored_jobs(&fixture).len(), fixture.sim.requests(Operation::Create)), (3, 1));
}

#[test]
fn the_prompts_of_a_killed_batch_stay_saved_and_none_is_sent_twice() {
    let fixture = CommandFixture::new(&[]);
    leave_requests(&fixture, 1);
    let file = write_batch_file(&fixture, &["one [sim:seconds=6000]", "two [sim:seconds=6000]"]);
    let running = fixture.start(&["new", "--batch", &file]);
    running.wait_for_stderr_line("accepted: one");
    running.send_signal(Signal::KILL);
    running.wait_for_exit();
    assert_eq!(undelivered_kinds(&fixture), [None, Some(DeliveryKind::Queued)]);
    fixture.run(&["new", "--batch", &file]).expect_exit_code(2);
    assert_eq!((stored_jobs(&fixture).len(), fixture.sim.requests(Operation::Create)), (2, 1));
}

#[test]
fn two_concurrent_batches_each_report_their_own_prompts() {
    let fixture = CommandFixture::new(&[]);
    leave_requests(&fixture, 1);
    let file = write_batch_file(&fixture, &["one [sim:seconds=6000]", "two"]);
    let first = fixture.start(&["new", "--batch", &file]);
    first.wait_for_stderr_line("hourly limit reached; sending the next at");
    let other = fixture.home.path().join("other.txt");
    std::fs::write(&other, "three").expect("written");
    let second = fixture.start(&["new", "--batch", "other.txt"]);
    second.wait_for_stderr_line("another docdeck on this computer sends the queue");
    second.send_signal(Signal::INT);
    assert!(second.wait_for_exit().expect_exit_code(130).err.contains("0 of 1 prompt accepted, 1 paused"));
    first.send_signal(Signal::TERM);
    assert!(first.wait_for_exit().expect_exit_code(130).err.contains("1 of 2 prompts accepted, 1 paused"));
    let paused = Some(DeliveryKind::Paused);
    assert_eq!(undelivered_kinds(&fixture), [None, paused, paused]);
}

#[test]
fn a_batch_whose_last_answers_come_after_the_timeout_succeeds() {
    let fixture = CommandFixture::new(&["create=latency-6000"]);
    let file = write_batch_file(&fixture, &["one [sim:seconds=6000]", "two [sim:seconds=6000]"]);
    let ran = fixture.run(&["new", "--batch", &file, "--timeout", "3"]).expect_exit_code(0);
    assert!(ran.err.contains("all accepted: 2 jobs") && !ran.err.contains("Timed out"), "{}", ran.err);
    assert_eq!(ran.out.lines().count(), 2, "{}", ran.out);
}

#[test]
fn with_queue_the_prompts_are_saved_without_an_api_key_and_not_sent() {
    let fixture = CommandFixture::new(&[]);
    let file = write_batch_file(&fixture, &["one", "two"]);
    let ran = fixture
        .run_with(&["new", "--batch", &file, "--queue", "--json"], &[("DOCDECK_API_KEY", "")], "")
        .expect_exit_code(0);
    assert_eq!(ran.json()["jobs"].as_array().map(Vec::len), Some(2));
    assert!(
        ran.err.contains("2 jobs queued. They are sent only while a dashboard or another batch is running"),
        "{}",
        ran.err
    );
    assert_eq!(undelivered_kinds(&fixture), [Some(DeliveryKind::Queued); 2]);
    assert_eq!(fixture.sim.requests(Operation::Create), 0);
}

#[test]
fn a_rejected_api_key_ends_the_batch_with_exit_code_3_and_pauses_the_unsent_prompts() {
    let fixture = CommandFixture::new(&["create=401"]);
    let texts: Vec<String> = (0..30).map(|n| format!("prompt {n}")).collect();
    let file = write_batch_file(&fixture, &texts.iter().map(String::as_str).collect::<Vec<_>>());
    let ran = fixture.run(&["new", "--batch", &file, "--json"]).expect_exit_code(3);
    let sent = fixture.sim.requests(Operation::Create);
    assert!(sent < 30, "{sent}");
    let jobs = ran.json()["jobs"].as_array().cloned().unwrap_or_default();
    let of = |word: &str| jobs.iter().filter(|job: &&Value| job["delivery"] == word).count();
    assert!(of("paused") > 0 && of("paused") + of("rejected") == 30, "{}", ran.err);
}

#[test]
fn after_a_lost_response_the_batch_sends_the_other_prompts_and_ends_with_exit_code_6() {
    let fixture = CommandFixture::new(&["create=lost"]);
    let file = write_batch_file(&fixture, &["one [sim:seconds=6000]", "two [sim:seconds=6000]"]);
    let ran = fixture.run(&["new", "--batch", &file]).expect_exit_code(6);
    assert!(ran.err.contains("0 of 2 prompts accepted, 2 unconfirmed"), "{}", ran.err);
    assert_eq!(fixture.sim.requests(Operation::Create), 2);
}

#[test]
fn a_file_without_prompts_is_refused_with_the_reason() {
    let fixture = CommandFixture::new(&[]);
    let file = write_batch_file(&fixture, &["", " "]);
    let ran = fixture.run(&["new", "--batch", &file]).expect_exit_code(2);
    assert!(ran.err.contains("prompts.txt: No prompts found"), "{}", ran.err);
    let ran = fixture.run(&["new", "--batch", "none.csv"]).expect_exit_code(2);
    assert!(ran.err.contains("File none.csv not found"), "{}", ran.err);
    fixture.run(&["new", "--dry-run", "x"]).expect_exit_code(2);
}
