//! `docdeck track`: adds jobs that were not created on this computer, with one request for each job.

use crate::support::command::CommandFixture;
use docdeck::model::log::Operation;

/// Creates a job on the service that this computer doesn't track. Returns the job's id.
fn create_untracked_job(fixture: &CommandFixture) -> String {
    fixture.create_untracked_job("From elsewhere [sim:seconds=6000]")
}

#[test]
fn a_job_created_elsewhere_can_be_tracked() {
    let fixture = CommandFixture::new(&[]);
    let id = create_untracked_job(&fixture);
    let json = fixture.run(&["track", &id, &id, "--json"]).expect_exit_code(0).json();
    assert_eq!(json["jobs"][0]["id"], id.as_str());
    assert_eq!(json["jobs"][0]["status"], "active");
    assert_eq!((json["jobs"].as_array().map(Vec::len), &json["failures"]), (Some(1), &serde_json::json!([])));
    assert_eq!(fixture.sim.requests(Operation::GetJob), 1, "the same id twice is one request");
    let listed = fixture.run(&["jobs"]).expect_exit_code(0);
    assert!(listed.out.starts_with(&format!("{id}\tactive\t")), "{listed:?}");
}

#[test]
fn track_exits_with_4_for_an_unknown_id_and_tracks_the_other_jobs() {
    let fixture = CommandFixture::new(&[]);
    let id = create_untracked_job(&fixture);
    let ran = fixture.run(&["track", "nope", &id, "--json"]).expect_exit_code(4);
    let json = ran.json();
    assert_eq!(json["jobs"][0]["id"], id.as_str());
    assert_eq!((json["failures"][0]["id"].as_str(), json["failures"][0]["exitCode"].as_i64()), (Some("nope"), Some(4)));
    assert!(ran.err.contains("docdeck: nope: "), "{}", ran.err);
    assert_eq!(json["exitCode"], 4);
    assert!(json["error"].as_str().is_some_and(|error| error.starts_with("nope: ")), "{json}");
}

#[test]
fn a_rejected_api_key_exits_with_3_after_the_first_request() {
    let fixture = CommandFixture::new(&[]);
    let ran = fixture.run_with(&["track", "a", "b", "c"], &[("DOCDECK_API_KEY", "mint_wrong")], "").expect_exit_code(3);
    assert_eq!(fixture.sim.requests(Operation::GetJob), 1);
    assert!(
        ran.err.contains("refused the key") && ran.err.contains("2 jobs not requested because of that error"),
        "{}",
        ran.err
    );
    assert!(!ran.err.contains("mint_wrong"));
}

#[test]
fn a_reached_limit_exits_with_5_and_a_missing_api_key_with_2() {
    let fixture = CommandFixture::new(&["get=429-30"]);
    let ran = fixture.run(&["track", "a"]).expect_exit_code(5);
    assert!(ran.err.contains("Limit reached (429"), "{}", ran.err);
    let ran = fixture.run_with(&["track", "a"], &[("DOCDECK_API_KEY", "")], "").expect_exit_code(2);
    assert!(ran.err.contains("The API key is not set yet."), "{}", ran.err);
}

#[test]
fn requests_are_in_the_log_file_without_the_api_key() {
    let fixture = CommandFixture::new(&[]);
    let id = create_untracked_job(&fixture);
    fixture.run(&["track", &id]).expect_exit_code(0);
    let log = std::fs::read_to_string(fixture.data_folder().join("docdeck.log")).expect("a log");
    assert!(log.contains("get 200"), "{log}");
    assert!(!log.contains(fixture.sim.api_key()));
}
