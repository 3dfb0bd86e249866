//! `wait`: until every job is finished, and every way in which it ends before.

use crate::command_fixture::CommandFixture;
use rustix::process::Signal;

/// A job that does what the words in brackets say (see the simulator's directives), made elsewhere and known here.
fn tracked(world: &CommandFixture, words: &str) -> String {
    let id = world.made_elsewhere(&format!("Do it {words}"));
    world.run(&["track", &id]).ends(0);
    id
}

#[test]
fn it_waits_until_every_job_is_finished_and_tells_each_change_on_stderr() {
    let world = CommandFixture::new(&[]);
    let (one, two) = (tracked(&world, "[sim:seconds=60] [sim:pr]"), tracked(&world, "[sim:seconds=150] [sim:pr]"));
    let ran = world.run(&["wait", &one, &two, "--json"]).ends(0);
    let json = ran.json();
    let jobs = json["jobs"].as_array().expect("jobs");
    assert_eq!(jobs.iter().map(|job| job["status"].as_str()).collect::<Vec<_>>(), [Some("completed"); 2]);
    assert!(jobs.iter().all(|job| job["prLink"].is_string()), "{json}");
    assert_eq!(ran.err.matches("completed, pull request http").count(), 2, "{}", ran.err);
    assert!(!ran.err.contains('\x1b') && !ran.err.contains('\r'), "{:?}", ran.err);
}

#[test]
fn a_failed_job_ends_it_with_1() {
    let world = CommandFixture::new(&[]);
    let id = tracked(&world, "[sim:seconds=100] [sim:fail]");
    let ran = world.run(&["wait", &id]).ends(1);
    assert!(ran.out.starts_with(&format!("{id}\tfailed\t")), "{ran:?}");
}

#[test]
fn an_archived_job_counts_as_done() {
    let world = CommandFixture::new(&[]);
    let id = tracked(&world, "[sim:seconds=100] [sim:archive]");
    let ran = world.run(&["wait", &id, "--json"]).ends(0);
    assert_eq!(ran.json()["jobs"][0]["status"], "archived");
}

#[test]
fn when_the_time_is_up_it_says_where_the_jobs_stand_and_ends_with_124() {
    let world = CommandFixture::new(&[]);
    let id = tracked(&world, "[sim:seconds=60000]");
    let ran = world.run(&["wait", &id, "--timeout", "1", "--json"]).ends(124);
    assert!(ran.err.contains("Timed out after 1s: the job is not finished and goes on"), "{}", ran.err);
    assert!(ran.err.contains(&format!("`docdeck wait {id}` waits again")), "{}", ran.err);
    let json = ran.json();
    assert_eq!((json["exitCode"].as_i64(), json["jobs"][0]["status"].as_str()), (Some(124), Some("active")));
}

#[test]
fn a_signal_leaves_the_jobs_alone_and_says_so() {
    let others = [Signal::QUIT, Signal::USR1, Signal::USR2, Signal::ALARM, Signal::ABORT];
    for signal in [Signal::INT, Signal::TERM, Signal::HUP].into_iter().chain(others) {
        let world = CommandFixture::new(&["get=503"]);
        world.faults(&[]);
        let id = tracked(&world, "[sim:seconds=60000]");
        world.faults(&["get=503"]);
        let running = world.start(&["wait", &id]);
        // It waits: a look was made, and came to nothing.
        running.err_line("offline, next try");
        running.signal(signal);
        let ran = running.end().ends(130);
        assert!(ran.err.contains("Interrupted after") && ran.err.contains("goes on at the service"), "{}", ran.err);
        assert!(ran.out.starts_with(&format!("{id}\tactive\t")), "{ran:?}");
    }
}

#[test]
fn an_id_that_is_not_known_here_ends_it_with_4_before_any_request() {
    let world = CommandFixture::new(&[]);
    let ran = world.run(&["wait", "nope"]).ends(4);
    assert!(ran.err.contains("`docdeck track nope`"), "{}", ran.err);
    assert_eq!(world.sim.requests(docdeck::model::log::Operation::Get), 0);
}

#[test]
fn a_job_that_the_service_no_longer_knows_ends_it_with_4() {
    let world = CommandFixture::new(&[]);
    let id = tracked(&world, "[sim:seconds=60000]");
    world.faults(&["get=404"]);
    let ran = world.run(&["wait", &id]).ends(4);
    assert!(ran.err.contains("gone, the service no longer knows it"), "{}", ran.err);
}

#[test]
fn a_key_that_is_refused_meanwhile_ends_it_with_3() {
    let world = CommandFixture::new(&[]);
    let id = tracked(&world, "[sim:seconds=60000]");
    world.faults(&["get=401"]);
    let ran = world.run(&["wait", &id]).ends(3);
    assert!(ran.err.contains("does not accept the key"), "{}", ran.err);
}

#[test]
fn a_finished_job_is_not_asked_for() {
    let world = CommandFixture::new(&[]);
    let id = tracked(&world, "[sim:seconds=100] [sim:fail]");
    world.run(&["wait", &id]).ends(1);
    let asked = world.sim.requests(docdeck::model::log::Operation::Get);
    world.run(&["wait", &id]).ends(1);
    assert_eq!(world.sim.requests(docdeck::model::log::Operation::Get), asked);
}

#[test]
fn behind_one_that_looks_it_hears_that_the_service_is_away_and_that_a_key_is_refused() {
    let world = CommandFixture::new(&["get=503"]);
    world.faults(&[]);
    let id = tracked(&world, "[sim:seconds=60000]");
    world.faults(&["get=503"]);
    let looks = world.start(&["wait", &id]);
    looks.err_line("offline, next try");
    let hears = world.start(&["wait", &id]);
    hears.err_line("offline, next try");
    world.faults(&["get=401"]);
    let (looks, hears) = (looks.end().ends(3), hears.end().ends(3));
    assert!(looks.err.contains("401") && hears.err.contains("401"), "{looks:?} {hears:?}");
}
