//! Tests of the commands for pull requests against the simulated GitLab.

use crate::pull_requests::write_config;
use crate::support::command::{CommandFixture, CommandResult};
use docdeck::model::pull_request::HostKind;
use docdeck::sim::HostFault;

/// Returns a fixture whose configuration has the simulated GitLab in place of gitlab.com, with a merge request that can
/// be merged once it is approved. Also returns the id of its job and its head commit.
fn fixture_to_merge() -> (CommandFixture, String, String) {
    for _ in 0..8 {
        let fixture = CommandFixture::new(&[]);
        let rest_url = fixture.sim.host_address(HostKind::GitLab).rest_url;
        let hosts = format!("[hosts.\"gitlab.com\"]\nrest_url = \"{rest_url}\"\ntoken_env = \"LAB_TOKEN\"\n");
        write_config(&fixture, &hosts);
        // Among three successive numbers is one that needs an approval.
        for _ in 0..3 {
            fixture.run(&["new", "Fix the links [sim:seconds=1][sim:gitlab]", "--wait"]).expect_exit_code(0);
        }
        fixture.sim.advance(chrono::TimeDelta::minutes(10));
        let answer = with_token(&fixture, &["pr", "--json"]).json();
        let jobs = answer.get("jobs").and_then(|jobs| jobs.as_array()).expect("jobs");
        let found = jobs.iter().find(|job| {
            let has =
                |field: &str, value: serde_json::Value| job.pointer(&format!("/pullRequest/{field}")) == Some(&value);
            has("review", "required".into()) && has("state", "open".into()) && has("conflict", false.into())
        });
        if let Some(job) = found {
            let text = |path: &str| job.pointer(path).and_then(|text| text.as_str()).expect("a text").to_owned();
            let (id, head) = (text("/id"), text("/pullRequest/head"));
            return (fixture, id, head);
        }
    }
    panic!("no merge request can be merged");
}

fn with_token(fixture: &CommandFixture, arguments: &[&str]) -> CommandResult {
    fixture.run_with(arguments, &[("LAB_TOKEN", fixture.sim.host_token(HostKind::GitLab))], "")
}

#[test]
fn approve_and_merge_act_at_the_given_commit_only() {
    let (fixture, id, head) = fixture_to_merge();
    let merge = ["merge", &id, "--head", &head, "--yes"];
    let refused = with_token(&fixture, &merge).expect_exit_code(4);
    let reason = "gitlab.com: refused (405); an approval may be missing, or the pipeline may be running.";
    assert!(refused.err.contains(reason), "{}", refused.err);
    with_token(&fixture, &["approve", &id, "--head", "0000000"]).expect_exit_code(4);
    let approved = with_token(&fixture, &["approve", &id, "--head", &head, "--json"]).expect_exit_code(0);
    assert_eq!(approved.json()["jobs"][0]["pullRequest"]["review"], "approved", "by the user, at this commit");
    fixture.sim.set_host_fault(Some(HostFault::MovedBeforeMerge));
    let moved = with_token(&fixture, &merge).expect_exit_code(4);
    assert!(moved.err.contains("was not merged: it has new commits"), "{}", moved.err);
    fixture.sim.set_host_fault(Some(HostFault::LostActionResponse));
    let answer = with_token(&fixture, &["pr", &id, "--json"]).json();
    let head = answer["jobs"][0]["pullRequest"]["head"].as_str().expect("the pushed commit");
    let lost = with_token(&fixture, &["merge", &id, "--head", head, "--yes"]).expect_exit_code(6);
    assert!(lost.err.contains("may have been merged") && lost.out.contains("\tmerged\t"), "{} {}", lost.out, lost.err);
    fixture.sim.set_host_fault(None);
    let listed = with_token(&fixture, &["pr", &id]).expect_exit_code(0);
    assert!(listed.out.contains("https://gitlab.com/acme/platform/docs/-/merge_requests/"), "{}", listed.out);
    assert!(listed.out.contains("\tmerged\t") && !listed.err.contains(fixture.sim.host_token(HostKind::GitLab)));
}

#[test]
fn merging_prints_the_new_state() {
    let (fixture, id, head) = fixture_to_merge();
    with_token(&fixture, &["approve", &id, "--head", &head]).expect_exit_code(0);
    let merged = with_token(&fixture, &["merge", &id, "--head", &head, "--yes", "--method", "squash"]);
    let merged = merged.expect_exit_code(0);
    assert!(merged.out.contains("\tmerged\t") && merged.err.contains("was merged."), "{} {}", merged.out, merged.err);
}

#[test]
fn diff_reads_every_page_and_keeps_the_last_known_changes() {
    let (fixture, id, _) = fixture_to_merge();
    fixture.sim.set_host_fault(Some(HostFault::ManyFiles));
    let stat = with_token(&fixture, &["diff", &id, "--stat"]).expect_exit_code(0);
    assert!(stat.out.lines().count() > 300, "{}", stat.out.lines().count());
    fixture.sim.set_host_fault(Some(HostFault::BadGateway));
    let failed = with_token(&fixture, &["diff", &id, "--stat"]).expect_exit_code(4);
    assert!(failed.out == stat.out && failed.err.contains("gitlab.com: answered 502"), "{}", failed.err);
}

#[test]
fn a_refused_token_and_a_reached_limit_are_reported() {
    let (fixture, _, _) = fixture_to_merge();
    for (fault, expected) in [
        (HostFault::ExpiredToken, "gitlab.com: the token was refused (401)"),
        (HostFault::LimitInStatus, "gitlab.com: rate limit reached"),
        (HostFault::OtherRepository, "the answer is about another pull request"),
    ] {
        fixture.sim.set_host_fault(Some(fault));
        let result = with_token(&fixture, &["pr"]).expect_exit_code(4);
        assert!(result.err.contains(expected), "{}", result.err);
    }
}
