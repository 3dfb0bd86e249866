//! Tests of `docdeck pr` against the simulated code host.

use crate::support::command::{CommandFixture, CommandResult};
use docdeck::model::pull_request::HostKind;
use docdeck::sim::HostFault;

pub(crate) fn write_config(fixture: &CommandFixture, text: &str) {
    let folder = fixture.home.path().join(".config/docdeck");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("config.toml"), text).expect("written");
}

/// Returns a fixture whose configuration has the simulated code host in place of github.com, and a job that has a pull
/// request.
fn fixture_with_pull_request() -> CommandFixture {
    let fixture = CommandFixture::new(&[]);
    let address = fixture.sim.host_address(HostKind::GitHub);
    let hosts = format!(
        "[hosts.\"github.com\"]\nrest_url = \"{}\"\ngraphql_url = \"{}\"\ntoken_env = \"HOST_TOKEN\"\n",
        address.rest_url, address.graphql_url
    );
    write_config(&fixture, &hosts);
    fixture.run(&["new", "Fix the links [sim:seconds=1]", "--wait"]).expect_exit_code(0);
    fixture
}

fn with_token(fixture: &CommandFixture, arguments: &[&str]) -> CommandResult {
    fixture.run_with(arguments, &[("HOST_TOKEN", fixture.sim.host_token(HostKind::GitHub))], "")
}

#[test]
fn pr_reads_stores_and_prints_the_state() {
    let fixture = fixture_with_pull_request();
    fixture.sim.advance(chrono::TimeDelta::minutes(10));
    let listed = with_token(&fixture, &["pr"]).expect_exit_code(0);
    let fields: Vec<&str> = listed.out.trim_end().split('\t').collect();
    assert_eq!(fields.len(), 7, "{}", listed.out);
    assert!(fields[1].starts_with("https://github.com/acme/docs/pull/") && fields[6] == "Fix the links");
    let json = with_token(&fixture, &["pr", "--json"]).json();
    let state = &json["jobs"][0]["pullRequest"];
    assert!(state["number"].is_u64() && state["checks"]["total"].as_u64() > Some(0), "{json}");
    let stored = fixture.run(&["jobs", "--json"]).json();
    assert_eq!(stored["jobs"][0]["pullRequest"]["head"], state["head"], "other commands use what pr has stored");
}

#[test]
fn pr_prints_each_given_job_once_in_the_given_order_and_always_lists_failed_checks() {
    let fixture = fixture_with_pull_request();
    fixture.run(&["new", "Fix the images [sim:seconds=1]", "--wait"]).expect_exit_code(0);
    let id = |title: &str| {
        let listed = fixture.run(&["jobs"]).out;
        let line = listed.lines().find(|line| line.contains(title)).expect("a job");
        line.split('\t').next().expect("an id").to_owned()
    };
    let (links, images) = (id("Fix the links"), id("Fix the images"));
    for [first, second] in [[&links, &images], [&images, &links]] {
        let listed = with_token(&fixture, &["pr", first, second, first]).expect_exit_code(0).out;
        let listed: Vec<&str> = listed.lines().filter_map(|line| line.split('\t').next()).collect();
        assert_eq!(listed, [first, second]);
    }
    let json = with_token(&fixture, &["pr", "--json"]).expect_exit_code(0).json();
    let jobs = json["jobs"].as_array().expect("jobs");
    assert!(jobs.len() == 2 && jobs.iter().all(|job| job["pullRequest"]["checks"]["failed"].is_array()), "{json}");
}

#[test]
fn without_a_token_pr_says_how_to_get_one_and_prints_what_is_known() {
    let fixture = fixture_with_pull_request();
    let result = fixture.run(&["pr"]).expect_exit_code(4);
    assert!(
        result.err.contains("No token for github.com. Run `gh auth login --hostname github.com`"),
        "{}",
        result.err
    );
    assert!(result.out.contains("\tunknown\t"), "{}", result.out);
    assert_eq!(fixture.sim.host_request_count(), 0);
}

#[test]
fn gh_and_glab_are_run_without_the_tokens_of_other_hosts() {
    let fixture = CommandFixture::new(&[]);
    let bin = fixture.home.path().join("bin");
    std::fs::create_dir(&bin).expect("a folder");
    for program in ["gh", "glab"] {
        let script = "#!/bin/sh\necho \"$GH_ENTERPRISE_TOKEN$GITLAB_TOKEN$OAUTH_TOKEN\"\n";
        std::fs::write(bin.join(program), script).expect("written");
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(bin.join(program), mode).expect("executable");
    }
    let mut hosts = String::new();
    for (name, kind, text) in [("ghe.corp", HostKind::GitHub, "github"), ("git.corp", HostKind::GitLab, "gitlab")] {
        let address = fixture.sim.host_address(kind);
        let (rest, graphql) = (address.rest_url, address.graphql_url);
        hosts.push_str(&format!(
            "[hosts.\"{name}\"]\nkind = \"{text}\"\nrest_url = \"{rest}\"\ngraphql_url = \"{graphql}\"\n"
        ));
    }
    write_config(&fixture, &hosts);
    let path = format!("{}:/usr/bin:/bin", bin.display());
    let [hub, lab] = [HostKind::GitHub, HostKind::GitLab].map(|kind| fixture.sim.host_token(kind));
    let variables =
        [("PATH", path.as_str()), ("GH_ENTERPRISE_TOKEN", hub), ("GITLAB_TOKEN", lab), ("OAUTH_TOKEN", lab)];
    let (_, found) = doctor(&fixture, &[], &variables);
    let [[_, hub_text, _], [_, lab_text, _]] = found.as_slice() else { panic!("{found:?}") };
    assert!([hub_text, lab_text].iter().all(|text| text.contains("no token in")), "{found:?}");
    assert_eq!(fixture.sim.host_request_count(), 0);
}

#[test]
fn a_refused_token_and_a_reached_limit_are_reported_without_the_token() {
    let fixture = fixture_with_pull_request();
    for (fault, expected) in [
        (HostFault::ExpiredToken, "github.com: the token was refused (401)"),
        (HostFault::LimitInBody, "github.com: rate limit reached"),
        (HostFault::OtherRepository, "the answer is about another pull request"),
    ] {
        fixture.sim.set_host_fault(Some(fault));
        let result = with_token(&fixture, &["pr"]).expect_exit_code(4);
        assert!(result.err.contains(expected), "{}", result.err);
        assert!(
            !result.err.contains(fixture.sim.host_token(HostKind::GitHub))
                && !result.out.contains(fixture.sim.host_token(HostKind::GitHub))
        );
    }
}

#[test]
fn wait_pr_ends_when_the_pull_request_has_the_state() {
    let fixture = fixture_with_pull_request();
    let id = fixture.run(&["jobs", "--json"]).json()["jobs"][0]["id"].as_str().expect("an id").to_owned();
    fixture.sim.advance(chrono::TimeDelta::minutes(10));
    let ready = with_token(&fixture, &["wait", &id, "--pr", "ready", "--timeout", "20", "--json"]).expect_exit_code(0);
    assert!(ready.json()["jobs"][0]["pullRequest"]["head"].is_string(), "{}", ready.out);
    let asked = fixture.sim.host_request_count();
    with_token(&fixture, &["wait", &id, "--pr", "ready", "--timeout", "20"]).expect_exit_code(0);
    assert_eq!(fixture.sim.host_request_count(), asked, "a state that was read lately is not requested again");
    let merged = with_token(&fixture, &["wait", &id, "--pr", "merged", "--timeout", "1"]).expect_exit_code(124);
    assert!(merged.err.contains("1 pull request is not merged yet. Run `docdeck wait"), "{}", merged.err);
    assert!(merged.err.contains("--pr merged` to wait again"), "{}", merged.err);
}

#[test]
fn wait_pr_says_why_a_state_cannot_come() {
    let fixture = fixture_with_pull_request();
    let id = fixture.run(&["jobs", "--json"]).json()["jobs"][0]["id"].as_str().expect("an id").to_owned();
    let result = fixture.run(&["wait", &id, "--pr", "ready", "--timeout", "20"]).expect_exit_code(4);
    assert!(result.err.contains("No token for github.com"), "{}", result.err);
    fixture.sim.set_host_fault(Some(HostFault::LimitInBody));
    let limited = with_token(&fixture, &["wait", &id, "--pr", "ready", "--timeout", "2"]).expect_exit_code(124);
    assert!(limited.err.contains("rate limit reached"), "{}", limited.err);
    for fault in [HostFault::ExpiredToken, HostFault::OtherRepository] {
        fixture.sim.set_host_fault(Some(fault));
        let unreadable = with_token(&fixture, &["wait", &id, "--pr", "ready", "--timeout", "20", "--json"]);
        assert_json_error(unreadable, 4, Some(1));
    }
}

#[test]
fn pr_can_be_turned_off() {
    let fixture = CommandFixture::new(&[]);
    write_config(&fixture, "[pull_requests]\nenabled = false\n");
    let result = fixture.run(&["pr"]).expect_exit_code(2);
    assert!(result.err.contains("[pull_requests]"), "{}", result.err);
}

#[test]
fn diff_prints_the_changes_once_read_and_the_last_known_ones_if_the_host_fails() {
    let fixture = fixture_with_pull_request();
    let id = fixture.run(&["jobs", "--json"]).json()["jobs"][0]["id"].as_str().expect("an id").to_owned();
    let without = fixture.run(&["diff", &id]).expect_exit_code(4);
    assert!(without.err.contains("No token for github.com") && without.out.is_empty(), "{}", without.err);
    let first = with_token(&fixture, &["diff", &id]).expect_exit_code(0);
    assert!(first.out.starts_with("diff --git a/") && first.out.contains("\n@@ -"), "{}", first.out);
    let asked = fixture.sim.host_request_count();
    let again = with_token(&fixture, &["diff", &id]).expect_exit_code(0);
    assert_eq!(
        (again.out, fixture.sim.host_request_count() - asked),
        (first.out.clone(), 2),
        "only the state is read again"
    );
    let stat = with_token(&fixture, &["diff", &id, "--stat"]).expect_exit_code(0);
    let rows: Vec<Vec<&str>> = stat.out.lines().map(|line| line.split('\t').collect()).collect();
    let state = fixture.run(&["jobs", "--json"]).json()["jobs"][0]["pullRequest"].clone();
    let sum = |column: usize| rows.iter().map(|row| row[column].parse::<u64>().expect("a number")).sum::<u64>();
    assert_eq!(
        (Some(rows.len() as u64), Some(sum(2)), Some(sum(3))),
        (state["files"].as_u64(), state["additions"].as_u64(), state["deletions"].as_u64())
    );
    fixture.sim.set_host_fault(Some(HostFault::BadGateway));
    let failed = with_token(&fixture, &["diff", &id]).expect_exit_code(4);
    assert!(failed.out == first.out && failed.err.contains("github.com: answered 502"), "{}", failed.err);
}

#[test]
fn diff_gives_up_if_commits_are_pushed_all_the_time() {
    let fixture = fixture_with_pull_request();
    let id = fixture.run(&["jobs", "--json"]).json()["jobs"][0]["id"].as_str().expect("an id").to_owned();
    fixture.sim.set_host_fault(Some(HostFault::MovingHead));
    let moving = with_token(&fixture, &["diff", &id]).expect_exit_code(4);
    assert!(moving.out.is_empty() && moving.err.contains("got new commits"), "{}", moving.err);
}

/// Returns a fixture with a pull request that can be merged, the id of its job and its head commit.
fn fixture_to_merge() -> (CommandFixture, String, String) {
    for _ in 0..8 {
        let fixture = fixture_with_pull_request();
        fixture.sim.advance(chrono::TimeDelta::minutes(10));
        let answer = with_token(&fixture, &["pr", "--json"]).json();
        let of_job = |path: &str| answer.pointer(&format!("/jobs/0/{path}")).expect("a field").clone();
        if of_job("pullRequest/state") == "open" && of_job("pullRequest/conflict") == false {
            let text = |path: &str| of_job(path).as_str().expect("a text").to_owned();
            let (id, head) = (text("id"), text("pullRequest/head"));
            return (fixture, id, head);
        }
    }
    panic!("no pull request can be merged");
}

#[test]
fn approve_and_merge_act_at_the_given_commit_only() {
    let (fixture, id, head) = fixture_to_merge();
    let other = with_token(&fixture, &["approve", &id, "--head", "0000000"]).expect_exit_code(4);
    assert!(other.err.contains("was not approved: it has new commits"), "{}", other.err);
    assert_eq!(fixture.sim.host_action_count(), 0);
    let approved =
        with_token(&fixture, &["approve", &id, "--head", head.get(..7).expect("digits"), "--json"]).expect_exit_code(0);
    assert_eq!(approved.json()["jobs"][0]["pullRequest"]["review"], "approved");
    let asks = with_token(&fixture, &["merge", &id, "--head", &head]).expect_exit_code(2);
    assert!(asks.err.contains("Add --yes to merge without asking."), "{}", asks.err);
    let moved = {
        fixture.sim.set_host_fault(Some(HostFault::MovedBeforeMerge));
        with_token(&fixture, &["merge", &id, "--head", &head, "--yes"]).expect_exit_code(4)
    };
    assert!(moved.err.contains("was not merged: it has new commits"), "{}", moved.err);
    fixture.sim.set_host_fault(None);
    with_token(&fixture, &["merge", &id, "--head", &head, "--yes"]).expect_exit_code(4);
    let answer = with_token(&fixture, &["pr", "--json"]).json();
    let head = answer["jobs"][0]["pullRequest"]["head"].as_str().expect("the pushed commit");
    let refused = with_token(&fixture, &["merge", &id, "--head", head, "--yes", "--method", "rebase"]);
    assert!(refused.expect_exit_code(4).err.contains("not mergeable"));
    let merged = with_token(&fixture, &["merge", &id, "--head", head, "--yes"]).expect_exit_code(0);
    assert!(merged.out.contains("\tmerged\t") && merged.err.contains("was merged."), "{} {}", merged.out, merged.err);
}

/// Asserts that the output is one JSON object with the message and the exit code, and with `job_count` jobs if it is
/// given.
fn assert_json_error(result: CommandResult, code: i32, job_count: Option<usize>) {
    let result = result.expect_exit_code(code);
    let json = result.json();
    let error = json.get("error").and_then(serde_json::Value::as_str).expect("an error");
    assert!(result.err.ends_with(&format!("docdeck: {error}\n")), "{json} {}", result.err);
    assert_eq!(json.get("exitCode").and_then(serde_json::Value::as_i64), Some(code.into()));
    let jobs = json.get("jobs").and_then(serde_json::Value::as_array);
    assert_eq!(jobs.map(Vec::len), job_count, "{json}");
}

#[test]
fn a_failure_with_json_has_the_error_and_the_exit_code() {
    let (fixture, id, head) = fixture_to_merge();
    let approve = ["approve", &id, "--head", &head, "--json"];
    let merge = ["merge", &id, "--head", &head, "--yes", "--json"];
    for command in [&approve[..], &merge] {
        assert_json_error(fixture.run(command), 4, None);
    }
    assert_json_error(fixture.run(&["pr", &id, "--json"]), 4, Some(1));
    assert_json_error(with_token(&fixture, &["approve", &id, "--head", "0000000", "--json"]), 4, Some(1));
    fixture.sim.set_host_fault(Some(HostFault::LostActionResponse));
    assert_json_error(with_token(&fixture, &merge), 6, Some(1));
    fixture.sim.set_host_fault(None);
    assert_json_error(with_token(&fixture, &merge), 4, Some(1));
    let running = fixture.create_untracked_job("Do it [sim:seconds=60000]");
    fixture.run(&["track", &running]).expect_exit_code(0);
    assert_json_error(with_token(&fixture, &["merge", &running, "--head", &head, "--yes", "--json"]), 4, None);
}

#[test]
fn nothing_is_sent_to_a_merged_pull_request() {
    let (fixture, id, head) = fixture_to_merge();
    with_token(&fixture, &["merge", &id, "--head", &head, "--yes"]).expect_exit_code(0);
    let sent = fixture.sim.host_action_count();
    for (command, participle) in [(&["approve"][..], "approved"), (&["merge", "--yes"], "merged")] {
        let refused = with_token(&fixture, &[command, &[&id, "--head", &head]].concat()).expect_exit_code(4);
        assert!(refused.err.contains(&format!("was not {participle}: it is already merged.")), "{}", refused.err);
    }
    assert_eq!(fixture.sim.host_action_count(), sent);
}

#[test]
fn watch_reports_an_approval() {
    let (fixture, id, head) = fixture_to_merge();
    let running = fixture.start(&["watch", "--json"]);
    running.wait_for_stderr_line("watching 1 job");
    with_token(&fixture, &["approve", &id, "--head", &head]).expect_exit_code(0);
    let line = running.wait_for_stdout_line("\"approved\"");
    let change: serde_json::Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(change["changes"], serde_json::json!(["pullRequestState"]));
    running.send_signal(rustix::process::Signal::INT);
    running.wait_for_exit().expect_exit_code(130);
}

#[test]
fn a_merge_whose_response_is_lost_is_unconfirmed_and_sent_once() {
    let (fixture, id, head) = fixture_to_merge();
    fixture.sim.set_host_fault(Some(HostFault::LostActionResponse));
    let lost =
        with_token(&fixture, &["merge", &id, "--head", &head, "--yes", "--method", "squash"]).expect_exit_code(6);
    assert!(lost.err.contains("may have been merged") && lost.out.contains("\tmerged\t"), "{} {}", lost.out, lost.err);
    assert_eq!(fixture.sim.host_action_count(), 1);
    assert!(!lost.err.contains(fixture.sim.host_token(HostKind::GitHub)));
}

#[test]
fn actions_can_be_turned_off_and_need_a_token() {
    let (fixture, id, head) = fixture_to_merge();
    let without = fixture.run(&["approve", &id, "--head", &head]).expect_exit_code(4);
    assert!(without.err.contains("No token for github.com."), "{}", without.err);
    let short = with_token(&fixture, &["approve", &id, "--head", "abc"]).expect_exit_code(2);
    assert!(short.err.contains("a commit has 7 or more hex digits"), "{}", short.err);
    write_config(&fixture, "[pull_requests]\nactions = false\n");
    let off = with_token(&fixture, &["approve", &id, "--head", &head]).expect_exit_code(2);
    assert!(off.err.contains("Approving and merging are turned off: set actions = true"), "{}", off.err);
    assert_eq!(fixture.sim.host_action_count(), 0);
}

/// Runs `docdeck doctor --json` with these arguments and variables. Returns the whole output, and the state, text and
/// remedy of each check of code hosts.
fn doctor(fixture: &CommandFixture, more: &[&str], variables: &[(&str, &str)]) -> (String, Vec<[String; 3]>) {
    let result = fixture.run_with(&[&["doctor", "--json"], more].concat(), variables, "");
    let report: serde_json::Value = serde_json::from_str(&result.out).expect("JSON");
    let text = |check: &serde_json::Value, field| {
        check.get(field).and_then(serde_json::Value::as_str).unwrap_or_default().to_owned()
    };
    let checks = report.get("checks").and_then(serde_json::Value::as_array).expect("checks").iter();
    let checks = checks.filter(|check| text(check, "section") == "Code hosts");
    let found = checks.map(|check| ["state", "message", "remedy"].map(|field| text(check, field))).collect();
    (result.out, found)
}

#[test]
fn doctor_shows_for_each_code_host_the_source_of_the_token_and_what_it_can_read() {
    let fixture = fixture_with_pull_request();
    let token = fixture.sim.host_token(HostKind::GitHub).to_owned();
    let variables = [("HOST_TOKEN", token.as_str())];
    let from = "github.com: token from HOST_TOKEN";
    for (fault, state, says) in [
        (None, "ok", "it reads pull requests and their checks"),
        (Some(HostFault::ForbiddenChecks), "warning", "it reads pull requests, but not their checks"),
        (Some(HostFault::ExpiredToken), "problem", "the token was refused (401); it is wrong, expired or revoked"),
        (Some(HostFault::LimitInBody), "warning", "rate limit reached"),
        (Some(HostFault::BadGateway), "problem", "answered 502: Something went wrong"),
        (Some(HostFault::OtherRepository), "problem", "the answer is about another pull request"),
    ] {
        fixture.sim.set_host_fault(fault);
        let (all, found) = doctor(&fixture, &[], &variables);
        let [[found_state, found_says, remedy]] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((found_state.as_str(), found_says.clone()), (state, format!("{from}; {says}")));
        assert_eq!(remedy.contains("gh auth login"), fault == Some(HostFault::ExpiredToken), "{remedy}");
        assert!(!all.contains(&token) && !all.contains("acme/docs"), "{all}");
    }
    fixture.sim.set_host_fault(None);
    let asked = fixture.sim.host_request_count();
    doctor(&fixture, &[], &variables);
    assert_eq!(fixture.sim.host_request_count(), asked + 2, "the state and the checks of one pull request");
    let (_, offline) = doctor(&fixture, &["--offline"], &variables);
    assert_eq!(offline[0][..2], ["skipped".to_owned(), format!("{from}; not tested because of --offline")]);
    write_config(&fixture, "[pull_requests]\nenabled = false\n");
    let (_, off) = doctor(&fixture, &[], &variables);
    assert_eq!(off, [["skipped", "turned off: enabled = false in [pull_requests]", ""].map(str::to_owned)]);
    assert_eq!(fixture.sim.host_request_count(), asked + 2);
}

#[test]
fn doctor_shows_what_a_missing_token_would_add_and_tests_a_host_without_pull_requests() {
    let fixture = fixture_with_pull_request();
    let (_, missing) = doctor(&fixture, &[], &[]);
    let [[state, says, remedy]] = missing.as_slice() else { panic!("{missing:?}") };
    assert_eq!(state, "skipped");
    assert!(
        says.starts_with("github.com: no token in HOST_TOKEN; with one, docdeck shows the state, checks"),
        "{says}"
    );
    assert!(remedy.starts_with("run `gh auth login --hostname github.com`, or add a section"), "{remedy}");
    let other = CommandFixture::new(&[]);
    let address = other.sim.host_address(HostKind::GitHub);
    let file = other.home.path().join("token");
    write_config(
        &other,
        &format!(
            "[hosts.\"ghe.corp\"]\nkind = \"github\"\nrest_url = \"{}\"\ngraphql_url = \"{}\"\ntoken_file = \"{}\"\n\
             [hosts.\"git.corp\"]\nkind = \"gitlab\"\ntoken_command = [\"docdeck-no-such-program\", \"--hidden\"]\n\
             [hosts.\"github.com\"]\ntoken_env = \"ghp_pasted\"\n",
            address.rest_url,
            address.graphql_url,
            file.display()
        ),
    );
    std::fs::write(&file, other.sim.host_token(HostKind::GitHub)).expect("written");
    std::fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("private");
    let (all, found) = doctor(&other, &[], &[]);
    let [[enterprise, says, _], [lab, why, _], [hub, nothing, _]] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!([enterprise, lab, hub], ["ok", "problem", "skipped"], "{found:?}");
    assert!(
        says.starts_with("ghe.corp: token from token_file ~/token;") && says.contains("the host accepts it"),
        "{says}"
    );
    assert!(why.starts_with("git.corp: ") && why.contains("docdeck-no-such-program"), "{why}");
    assert!(nothing.starts_with("github.com: no token in the variable of token_env;"), "{nothing}");
    for private in ["--hidden", "ghp_pasted", other.sim.host_token(HostKind::GitHub)] {
        assert!(!all.contains(private), "{all}");
    }
    other.sim.set_host_fault(Some(HostFault::ExpiredToken));
    assert_eq!(doctor(&other, &[], &[]).1[0][0], "problem");
}
