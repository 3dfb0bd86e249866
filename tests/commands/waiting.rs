//! `docdeck wait`: waits until every job is finished, or ends early for each reason.

use crate::command_fixture::CommandFixture;
use rustix::process::Signal;

/// Tracks a job that was created elsewhere and follows these directives of the simulator.
fn tracked(fixture: &CommandFixture, words: &str) -> String {
    let id = fixture.created_elsewhere(&format!("Do it {words}"));
    fixture.run(&["track", &id]).ends(0);
    id
}

#[test]
fn wait_ends_when_every_job_is_finished_and_prints_each_change_on_stderr() {
    let fixture = CommandFixture::new(&[]);
    let (one, two) = (tracked(&fixture, "[sim:seconds=60] [sim:pr]"), tracked(&fixture, "[sim:seconds=150] [sim:pr]"));
    let ran = fixture.run(&["wait", &one, &two, "--json"]).ends(0);
    let json = ran.json();
    let jobs = json["jobs"].as_array().expect("jobs");
    assert_eq!(jobs.iter().map(|job| job["status"].as_str()).collect::<Vec<_>>(), [Some("completed"); 2]);
    assert!(jobs.iter().all(|job| job["prLink"].is_string()), "{json}");
    assert_eq!(ran.err.matches("completed, pull request http").count(), 2, "{}", ran.err);
    assert!(!ran.err.contains('\x1b') && !ran.err.contains('\r'), "{:?}", ran.err);
}

#[test]
fn a_failed_job_exits_with_1() {
    let fixture = CommandFixture::new(&[]);
    let id = tracked(&fixture, "[sim:seconds=100] [sim:fail]");
    let ran = fixture.run(&["wait", &id]).ends(1);
    assert!(ran.out.starts_with(&format!("{id}\tfailed\t")), "{ran:?}");
}

#[test]
fn an_archived_job_counts_as_done() {
    let fixture = CommandFixture::new(&[]);
    let id = tracked(&fixture, "[sim:seconds=100] [sim:archive]");
    let ran = fixture.run(&["wait", &id, "--json"]).ends(0);
    assert_eq!(ran.json()["jobs"][0]["status"], "archived");
}

#[test]
fn a_timeout_reports_the_jobs_and_exits_with_124() {
    let fixture = CommandFixture::new(&[]);
    let id = tracked(&fixture, "[sim:seconds=60000]");
    let ran = fixture.run(&["wait", &id, "--timeout", "1", "--json"]).ends(124);
    assert!(ran.err.contains("Timed out after 1s: the job is not finished and keeps running"), "{}", ran.err);
    assert!(ran.err.contains(&format!("`docdeck wait {id}` to wait again")), "{}", ran.err);
    let json = ran.json();
    assert_eq!((json["exitCode"].as_i64(), json["jobs"][0]["status"].as_str()), (Some(124), Some("active")));
}

#[test]
fn a_signal_leaves_the_jobs_running() {
    let others = [Signal::QUIT, Signal::USR1, Signal::USR2, Signal::ALARM, Signal::ABORT];
    for signal in [Signal::INT, Signal::TERM, Signal::HUP].into_iter().chain(others) {
        let fixture = CommandFixture::new(&["get=503"]);
        fixture.faults(&[]);
        let id = tracked(&fixture, "[sim:seconds=60000]");
        fixture.faults(&["get=503"]);
        let running = fixture.start(&["wait", &id]);
        // It waits after a failed check.
        running.err_line("offline, next try");
        running.signal(signal);
        let ran = running.end().ends(130);
        assert!(
            ran.err.contains("Interrupted after") && ran.err.contains("keeps running on the service"),
            "{}",
            ran.err
        );
        assert!(ran.out.starts_with(&format!("{id}\tactive\t")), "{ran:?}");
    }
}

#[test]
fn an_untracked_id_exits_with_4_before_any_request() {
    let fixture = CommandFixture::new(&[]);
    let ran = fixture.run(&["wait", "nope"]).ends(4);
    assert!(ran.err.contains("`docdeck track nope`"), "{}", ran.err);
    assert_eq!(fixture.sim.requests(docdeck::model::log::Operation::Get), 0);
}

#[test]
fn a_job_that_is_gone_from_the_service_exits_with_4() {
    let fixture = CommandFixture::new(&[]);
    let id = tracked(&fixture, "[sim:seconds=60000]");
    fixture.faults(&["get=404"]);
    let ran = fixture.run(&["wait", &id]).ends(4);
    assert!(ran.err.contains("gone from the service"), "{}", ran.err);
}

#[test]
fn a_key_that_is_refused_during_the_wait_exits_with_3() {
    let fixture = CommandFixture::new(&[]);
    let id = tracked(&fixture, "[sim:seconds=60000]");
    fixture.faults(&["get=401"]);
    let ran = fixture.run(&["wait", &id]).ends(3);
    assert!(ran.err.contains("does not accept the key"), "{}", ran.err);
}

#[test]
fn a_finished_job_is_not_requested() {
    let fixture = CommandFixture::new(&[]);
    let id = tracked(&fixture, "[sim:seconds=100] [sim:fail]");
    fixture.run(&["wait", &id]).ends(1);
    let asked = fixture.sim.requests(docdeck::model::log::Operation::Get);
    fixture.run(&["wait", &id]).ends(1);
    assert_eq!(fixture.sim.requests(docdeck::model::log::Operation::Get), asked);
}

#[test]
fn a_second_wait_reports_the_connection_of_the_one_that_polls() {
    let fixture = CommandFixture::new(&["get=503"]);
    fixture.faults(&[]);
    let id = tracked(&fixture, "[sim:seconds=60000]");
    fixture.faults(&["get=503"]);
    let polling = fixture.start(&["wait", &id]);
    polling.err_line("offline, next try");
    let waiting = fixture.start(&["wait", &id]);
    waiting.err_line("offline, next try");
    fixture.faults(&["get=401"]);
    let (polling, waiting) = (polling.end().ends(3), waiting.end().ends(3));
    assert!(polling.err.contains("401") && waiting.err.contains("401"), "{polling:?} {waiting:?}");
}
