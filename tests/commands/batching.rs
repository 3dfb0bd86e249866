//! `new --batch`: the price first, all of it on disk, sent at the ledger's pace, and never twice unasked.

use crate::command_fixture::CommandFixture;
use docdeck::model::ledger::RateLimited;
use docdeck::model::log::Operation;
use docdeck::model::prompt::DeliveryKind;
use docdeck::model::row::Job;
use rustix::process::Signal;
use serde_json::{Value, json};

fn batch(world: &CommandFixture, prompts: &[&str]) -> String {
    let file = world.home.path().join("prompts.txt");
    std::fs::write(&file, prompts.join("\n\n")).expect("written");
    file.display().to_string()
}

fn rows(world: &CommandFixture) -> Vec<Job> {
    world.store(async |store, scope| store.jobs(scope).await.expect("rows"))
}

fn undelivered(world: &CommandFixture) -> Vec<Option<DeliveryKind>> {
    rows(world).iter().map(|row| row.undelivered).collect()
}

/// Uses up all places of the hour but so many.
fn leave(world: &CommandFixture, places: u32) {
    world.store(async |store, scope| {
        let now = chrono::Utc::now();
        for _ in places..100 {
            store.spend(scope, RateLimited::Create, now).await.expect("written").expect("a place");
        }
    });
}

#[test]
fn the_price_is_said_without_a_key_a_request_or_a_store() {
    let world = CommandFixture::new(&[]);
    let file = batch(&world, &["one", "two", "three"]);
    let dry = |words: &[&str]| {
        world
            .run_with(&[&["new", "--batch", &file, "--dry-run"], words].concat(), &[("DOCDECK_API_KEY", "")], "")
            .ends(0)
    };
    assert_eq!(dry(&[]).out, "3 jobs: all now. New jobs 0/100 this hour on this computer.\n");
    assert!(!world.data().exists());
    leave(&world, 1);
    let json = dry(&["--json"]).json();
    assert_eq!((json["prompts"].as_i64(), json["now"].as_i64(), json["later"].as_i64()), (Some(3), Some(1), Some(2)));
    assert!(json["laterFrom"].is_string() && json["lastNotBefore"] == json["laterFrom"], "{json}");
    assert!(dry(&[]).out.starts_with("3 jobs: 1 now, 2 from "), "{:?}", dry(&[]));
    assert_eq!(world.sim.requests(Operation::Create), 0);
}

#[test]
fn all_prompts_are_sent_in_order_and_their_ids_written() {
    let world = CommandFixture::new(&[]);
    let file = batch(&world, &["one [sim:seconds=6000]", "two [sim:seconds=6000]", "three [sim:seconds=6000]"]);
    let ran = world.run(&["new", "--batch", &file]).ends(0);
    let mut received: Vec<String> = world.sim.prompts().into_iter().map(|(id, _)| id).collect();
    let mut written: Vec<&str> = ran.out.lines().collect();
    received.sort();
    written.sort_unstable();
    assert_eq!(written, received);
    assert!(ran.err.contains("3 jobs: all now") && ran.err.contains("all accepted: 3 jobs"), "{}", ran.err);
}

#[test]
fn as_json_from_stdin_and_with_wait_the_exit_code_is_that_of_the_jobs() {
    let world = CommandFixture::new(&[]);
    let lines = "{\"prompt\":\"one [sim:seconds=60] [sim:pr]\"}\n\"two [sim:seconds=60] [sim:fail]\"\n";
    let ran = world.run_with(&["new", "--batch", "-", "--wait", "--json"], &[], lines).ends(1);
    let json = ran.json();
    let statuses: Vec<&str> =
        json["jobs"].as_array().expect("jobs").iter().filter_map(|job| job["status"].as_str()).collect();
    assert_eq!(statuses, ["completed", "failed"]);
}

#[test]
fn the_same_file_again_is_refused_until_it_is_said_what_is_meant() {
    let world = CommandFixture::new(&[]);
    let file = batch(&world, &["one [sim:seconds=6000]", "two [sim:seconds=6000]"]);
    world.run(&["new", "--batch", &file]).ends(0);
    let ran = world.run(&["new", "--batch", &file]).ends(2);
    assert!(
        ran.err.contains("2 of 2 prompts are known already: 2 went out within the last 24 hours. Nothing"),
        "{ran:?}"
    );
    assert!(ran.err.contains("--rest") && ran.err.contains("--again"), "{}", ran.err);
    assert_eq!(world.sim.requests(Operation::Create), 2);
    world.run(&["new", "--batch", &file, "--rest"]).ends(0);
    assert_eq!(world.sim.requests(Operation::Create), 2, "nothing is left to send");
    let left = "Nothing of this file is left to send: all 2 prompts went out within the last 24 hours.";
    for more in [&["--rest"][..], &["--rest", "--queue"]] {
        let ran = world.run(&[&["new", "--batch", &file], more].concat()).ends(0);
        assert!(ran.err.starts_with(left) && ran.out.is_empty(), "{ran:?}");
        let ran = world.run(&[&["new", "--batch", &file, "--json"], more].concat()).ends(0);
        assert!(ran.err.starts_with(left) && ran.json() == json!({ "jobs": [] }), "{ran:?}");
    }
    assert!(world.run(&["new", "--batch", &file, "--dry-run"]).ends(0).out.starts_with(left));
    world.run(&["new", "--batch", &file, "--again"]).ends(0);
    assert_eq!(world.sim.requests(Operation::Create), 4);
}

#[test]
fn broken_off_by_a_signal_the_rest_is_paused_and_goes_on_when_asked_for() {
    let world = CommandFixture::new(&[]);
    leave(&world, 1);
    let file = batch(&world, &["one [sim:seconds=6000]", "two [sim:seconds=6000]", "three [sim:seconds=6000]"]);
    let running = world.start(&["new", "--batch", &file]);
    running.err_line("accepted: one");
    running.signal(Signal::INT);
    let ran = running.end().ends(130);
    assert!(ran.err.contains("Interrupted: 1 of 3 prompts accepted, 2 paused"), "{}", ran.err);
    let paused = Some(DeliveryKind::Paused);
    assert_eq!(undelivered(&world), [None, paused, paused]);
    let dry = world.run(&["new", "--batch", &file, "--rest", "--dry-run"]).ends(0);
    assert!(
        dry.out.starts_with("2 jobs: none now, 2 from ") || dry.out.starts_with("2 jobs: 0 now, 2 from "),
        "{dry:?}"
    );
    assert!(dry.err.contains("2 of these wait here already.") && dry.err.contains("1 prompt of this file went out"));
    let dry = world.run(&["new", "--batch", &file, "--dry-run", "--json"]).ends(0).json();
    assert_eq!(["prompts", "known", "ahead"].map(|name| dry[name].as_i64()), [Some(2), Some(1), Some(0)], "{dry}");
    let ran = world.run(&["new", "--batch", &file, "--rest", "--timeout", "1"]).ends(124);
    assert!(ran.err.contains("2 jobs: ") && !ran.err.contains("0 jobs: "), "{}", ran.err);
    assert!(ran.err.contains("1 prompt went out before and left alone"), "{}", ran.err);
    assert!(ran.err.contains("Timed out: 0 of 2 prompts accepted, 2 paused"), "{}", ran.err);
    assert_eq!((rows(&world).len(), world.sim.requests(Operation::Create)), (3, 1));
}

#[test]
fn killed_in_the_middle_everything_is_on_disk_and_nothing_goes_out_twice() {
    let world = CommandFixture::new(&[]);
    leave(&world, 1);
    let file = batch(&world, &["one [sim:seconds=6000]", "two [sim:seconds=6000]"]);
    let running = world.start(&["new", "--batch", &file]);
    running.err_line("accepted: one");
    running.signal(Signal::KILL);
    running.end();
    assert_eq!(undelivered(&world), [None, Some(DeliveryKind::Queued)]);
    world.run(&["new", "--batch", &file]).ends(2);
    assert_eq!((rows(&world).len(), world.sim.requests(Operation::Create)), (2, 1));
}

#[test]
fn beside_another_docdeck_that_sends_it_says_so_and_hears_of_its_own() {
    let world = CommandFixture::new(&[]);
    leave(&world, 1);
    let file = batch(&world, &["one [sim:seconds=6000]", "two"]);
    let first = world.start(&["new", "--batch", &file]);
    first.err_line("hourly limit reached; sending the next at");
    let other = world.home.path().join("other.txt");
    std::fs::write(&other, "three").expect("written");
    let second = world.start(&["new", "--batch", "other.txt"]);
    second.err_line("another docdeck on this computer sends what is queued");
    second.signal(Signal::INT);
    assert!(second.end().ends(130).err.contains("0 of 1 prompt accepted, 1 paused"));
    first.signal(Signal::TERM);
    assert!(first.end().ends(130).err.contains("1 of 2 prompts accepted, 1 paused"));
    let paused = Some(DeliveryKind::Paused);
    assert_eq!(undelivered(&world), [None, paused, paused]);
}

#[test]
fn left_to_a_dashboard_they_are_queued_without_a_key_and_nothing_is_sent() {
    let world = CommandFixture::new(&[]);
    let file = batch(&world, &["one", "two"]);
    let ran = world.run_with(&["new", "--batch", &file, "--queue", "--json"], &[("DOCDECK_API_KEY", "")], "").ends(0);
    assert_eq!(ran.json()["jobs"].as_array().map(Vec::len), Some(2));
    assert!(ran.err.contains("2 jobs queued. They are sent only while a dashboard is running"), "{}", ran.err);
    assert_eq!(undelivered(&world), [Some(DeliveryKind::Queued); 2]);
    assert_eq!(world.sim.requests(Operation::Create), 0);
}

#[test]
fn a_refused_key_stops_the_batch_with_3_and_pauses_the_rest() {
    let world = CommandFixture::new(&["create=401"]);
    let texts: Vec<String> = (0..30).map(|n| format!("prompt {n}")).collect();
    let file = batch(&world, &texts.iter().map(String::as_str).collect::<Vec<_>>());
    let ran = world.run(&["new", "--batch", &file, "--json"]).ends(3);
    let sent = world.sim.requests(Operation::Create);
    assert!(sent < 30, "{sent}");
    let jobs = ran.json()["jobs"].as_array().cloned().unwrap_or_default();
    let of = |word: &str| jobs.iter().filter(|job: &&Value| job["delivery"] == word).count();
    assert!(of("paused") > 0 && of("paused") + of("rejected") == 30, "{}", ran.err);
}

#[test]
fn a_lost_answer_ends_the_batch_with_6_and_the_others_are_sent() {
    let world = CommandFixture::new(&["create=lost"]);
    let file = batch(&world, &["one [sim:seconds=6000]", "two [sim:seconds=6000]"]);
    let ran = world.run(&["new", "--batch", &file]).ends(6);
    assert!(ran.err.contains("0 of 2 prompts accepted, 2 unconfirmed"), "{}", ran.err);
    assert_eq!(world.sim.requests(Operation::Create), 2);
}

#[test]
fn a_file_that_gives_no_prompts_says_why() {
    let world = CommandFixture::new(&[]);
    let file = batch(&world, &["", " "]);
    let ran = world.run(&["new", "--batch", &file]).ends(2);
    assert!(ran.err.contains("prompts.txt: There is no prompt in it"), "{}", ran.err);
    let ran = world.run(&["new", "--batch", "none.csv"]).ends(2);
    assert!(ran.err.contains("There is no file none.csv"), "{}", ran.err);
    world.run(&["new", "--dry-run", "x"]).ends(2);
}
