//! `docdeck wait`: waits until every job is finished, or ends early because of a timeout, a signal or an error.

use crate::support::command::CommandFixture;
use docdeck::model::change::LocalChange;
use rustix::process::Signal;

/// Creates a job on the service with these simulator directives, and tracks it. Returns the job's id.
fn create_tracked_job(fixture: &CommandFixture, directives: &str) -> String {
    let id = fixture.create_untracked_job(&format!("Do it {directives}"));
    fixture.run(&["track", &id]).expect_exit_code(0);
    id
}

#[test]
fn wait_ends_when_every_job_is_finished_and_prints_each_change_on_stderr() {
    let fixture = CommandFixture::new(&[]);
    let (one, two) = (
        create_tracked_job(&fixture, "[sim:seconds=60] [sim:pr]"),
        create_tracked_job(&fixture, "[sim:seconds=150] [sim:pr]"),
    );
    let ran = fixture.run(&["wait", &one, &two, "--json"]).expect_exit_code(0);
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
    let id = create_tracked_job(&fixture, "[sim:seconds=100] [sim:fail]");
    let ran = fixture.run(&["wait", &id]).expect_exit_code(1);
    assert!(ran.out.starts_with(&format!("{id}\tfailed\t")), "{ran:?}");
}

#[test]
fn an_archived_job_counts_as_done() {
    let fixture = CommandFixture::new(&[]);
    let id = create_tracked_job(&fixture, "[sim:seconds=100] [sim:archive]");
    let ran = fixture.run(&["wait", &id, "--json"]).expect_exit_code(0);
    assert_eq!(ran.json()["jobs"][0]["status"], "archived");
}

#[test]
fn a_timeout_reports_the_jobs_and_exits_with_124() {
    let fixture = CommandFixture::new(&[]);
    let id = create_tracked_job(&fixture, "[sim:seconds=60000]");
    let ran = fixture.run(&["wait", &id, "--timeout", "1", "--json"]).expect_exit_code(124);
    assert!(ran.err.contains("Timed out after 1s: the job is not finished and keeps running"), "{}", ran.err);
    assert!(ran.err.contains(&format!("`docdeck wait {id}` to wait again")), "{}", ran.err);
    let json = ran.json();
    assert_eq!((json["exitCode"].as_i64(), json["jobs"][0]["status"].as_str()), (Some(124), Some("active")));
}

#[test]
fn a_signal_leaves_the_jobs_running() {
    let interrupt_wait = |signal: Signal| {
        let fixture = CommandFixture::new(&["get=503"]);
        fixture.set_faults(&[]);
        let id = create_tracked_job(&fixture, "[sim:seconds=60000]");
        fixture.set_faults(&["get=503"]);
        let running = fixture.start(&["wait", &id]);
        // The program prints this line while it waits after a failed check.
        running.wait_for_stderr_line("offline, next try");
        running.send_signal(signal);
        let ran = running.wait_for_exit().expect_exit_code(130);
        assert!(
            ran.err.contains("Interrupted after") && ran.err.contains("keeps running on the service"),
            "{}",
            ran.err
        );
        assert!(ran.out.starts_with(&format!("{id}\tactive\t")), "{ran:?}");
    };
    let others = [Signal::QUIT, Signal::USR1, Signal::USR2, Signal::ALARM, Signal::ABORT];
    // The checks wait most of the time, so they run at the same time.
    std::thread::scope(|scope| {
        for signal in [Signal::INT, Signal::TERM, Signal::HUP].into_iter().chain(others) {
            scope.spawn(move || interrupt_wait(signal));
        }
    });
}

#[test]
fn an_untracked_id_exits_with_4_before_any_request() {
    let fixture = CommandFixture::new(&[]);
    let ran = fixture.run(&["wait", "nope"]).expect_exit_code(4);
    assert!(ran.err.contains("`docdeck track nope`"), "{}", ran.err);
    assert_eq!(fixture.sim.requests(docdeck::model::log::Operation::GetJob), 0);
}

#[test]
fn a_job_that_is_gone_from_the_service_exits_with_4() {
    let fixture = CommandFixture::new(&[]);
    let id = create_tracked_job(&fixture, "[sim:seconds=60000]");
    fixture.set_faults(&["get=404"]);
    let ran = fixture.run(&["wait", &id]).expect_exit_code(4);
    assert!(ran.err.contains(&format!("docdeck: The job {id} is gone from the service.")), "{}", ran.err);
    let json = fixture.run(&["wait", &id, "--json"]).expect_exit_code(4).json();
    assert_eq!((&json["exitCode"], &json["jobs"][0]["id"]), (&4.into(), &id.as_str().into()));
    assert_eq!(json["error"], format!("The job {id} is gone from the service."));
}

#[test]
fn an_api_key_that_is_rejected_during_the_wait_exits_with_3() {
    let fixture = CommandFixture::new(&[]);
    let id = create_tracked_job(&fixture, "[sim:seconds=60000]");
    fixture.set_faults(&["get=401"]);
    let ran = fixture.run(&["wait", &id]).expect_exit_code(3);
    assert!(ran.err.contains("refused the key"), "{}", ran.err);
}

#[test]
fn a_finished_job_is_not_requested() {
    let fixture = CommandFixture::new(&[]);
    let id = create_tracked_job(&fixture, "[sim:seconds=100] [sim:fail]");
    fixture.run(&["wait", &id]).expect_exit_code(1);
    let asked = fixture.sim.requests(docdeck::model::log::Operation::GetJob);
    fixture.run(&["wait", &id]).expect_exit_code(1);
    assert_eq!(fixture.sim.requests(docdeck::model::log::Operation::GetJob), asked);
}

#[test]
fn a_second_wait_reports_the_connection_errors_of_the_first_which_polls() {
    let fixture = CommandFixture::new(&["get=503"]);
    fixture.set_faults(&[]);
    let id = create_tracked_job(&fixture, "[sim:seconds=60000]");
    fixture.set_faults(&["get=503"]);
    let polling = fixture.start(&["wait", &id]);
    polling.wait_for_stderr_line("offline, next try");
    let waiting = fixture.start(&["wait", &id]);
    waiting.wait_for_stderr_line("offline, next try");
    fixture.set_faults(&["get=401"]);
    let (polling, waiting) = (polling.wait_for_exit().expect_exit_code(3), waiting.wait_for_exit().expect_exit_code(3));
    assert!(polling.err.contains("401") && waiting.err.contains("401"), "{polling:?} {waiting:?}");
}

#[test]
fn a_job_that_is_pruned_during_the_wait_is_not_in_the_result() {
    let fixture = CommandFixture::new(&["get=503"]);
    fixture.set_faults(&[]);
    let finished = create_tracked_job(&fixture, "[sim:seconds=60]");
    fixture.run(&["wait", &finished]).expect_exit_code(0);
    fixture.with_store(async |store, scope| {
        let keys: Vec<_> = store.jobs(scope).await.expect("jobs").iter().map(|job| job.key).collect();
        store.change_jobs(&keys, LocalChange::Handled, chrono::Utc::now()).await.expect("kept");
    });
    let running = create_tracked_job(&fixture, "[sim:seconds=60000]");
    fixture.set_faults(&["get=503"]);
    let waiting = fixture.start(&["wait", &finished, &running, "--timeout", "8", "--json"]);
    waiting.wait_for_stderr_line("offline, next try");
    let pruned = fixture.run(&["prune", "--jobs", "--older-than", "0", "--json"]).expect_exit_code(0);
    assert_eq!(pruned.json()["jobs"], 1);
    let ran = waiting.wait_for_exit().expect_exit_code(124);
    let json = ran.json();
    let jobs = json["jobs"].as_array().expect("jobs");
    assert_eq!(jobs.iter().map(|job| job["id"].as_str()).collect::<Vec<_>>(), [Some(running.as_str())]);
}
