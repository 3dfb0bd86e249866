//! Tests of the client for code hosts against responses that are written from the public documentation of GitHub and
//! GitLab: every value of every field that docdeck reads.

use crate::support::server::{Server, ServerBehavior};
use docdeck::api::hosts::{HeadChecks, HostAddress, HostClient, HostErrorKind, host_client_options};
use docdeck::model::endpoint::ApiKey;
use docdeck::model::pull_request::{
    Checks, ChecksState, HostKind, PullRequest, PullRequestFact, PullRequestLink, PullRequestState, ReviewDecision,
};
use serde_json::Value;

const HEAD: &str = "7d40698c2f1e5a6b9d8c3e4f5a6b7c8d9e0f1a2b";

/// What a state must be: state, review, conflict, and whether it is behind.
type ExpectedState = (PullRequestState, Option<ReviewDecision>, Option<bool>, bool);

/// Returns a server that sends this body to every request, and a client for it.
async fn start(host: &str, kind: HostKind, body: &str) -> (Server, HostClient) {
    let server = Server::start(ServerBehavior::json(200, body)).await;
    let address = HostAddress {
        host: host.to_owned(),
        kind,
        rest_url: format!("{}/api/v4", server.base_url()),
        graphql_url: format!("{}/graphql", server.base_url()),
    };
    let token = ApiKey::new("5ecret-5ecret").expect("a token");
    let client = HostClient::new(&address, token, host_client_options()).expect("a client");
    (server, client)
}

/// Returns the links of as many pull requests as a response of GitHub contains: the numbers start at 1400.
fn github_links(count: u32) -> Vec<PullRequestLink> {
    let link = |n| PullRequestLink::parse(&format!("https://github.com/acme/docs/pull/{}", 1400 + n)).expect("a link");
    (0..count).map(link).collect()
}

/// Returns what the client reads from a response of GitHub about the state of pull requests.
async fn github_states(body: &str, count: u32) -> Result<Vec<Result<PullRequest, HostErrorKind>>, HostErrorKind> {
    let (server, client) = start("github.com", HostKind::GitHub, body).await;
    let response = client.pull_requests(&github_links(count), chrono::Utc::now()).await;
    assert_eq!(server.only_request().line(), "POST /graphql HTTP/1.1");
    let parts = response.result.map_err(|error| error.kind)?;
    Ok(parts.into_iter().map(|(_, part)| part.map_err(|error| error.kind)).collect())
}

/// Returns what the client reads from a response of GitHub about checks.
async fn github_checks(body: &str, count: u32) -> Result<Vec<HeadChecks>, HostErrorKind> {
    let (_server, client) = start("github.com", HostKind::GitHub, body).await;
    let parts = client.checks(&github_links(count)).await.result.map_err(|error| error.kind)?;
    parts.into_iter().map(|(_, part)| part.map_err(|error| error.kind)).collect()
}

fn expected_part(state: &PullRequest) -> ExpectedState {
    (state.state, state.review, state.conflict, state.behind)
}

#[tokio::test]
async fn every_documented_state_of_a_pull_request_is_read() {
    use PullRequestState::{Closed, Draft, Merged, Open, Queued};
    let expected: [ExpectedState; 10] = [
        (Open, Some(ReviewDecision::Approved), Some(false), false),
        (Open, Some(ReviewDecision::None), Some(false), true),
        (Draft, Some(ReviewDecision::Required), Some(false), false),
        (Open, Some(ReviewDecision::None), None, false),
        (Open, Some(ReviewDecision::ChangesRequested), Some(true), false),
        (Queued, Some(ReviewDecision::Approved), Some(false), false),
        (Merged, Some(ReviewDecision::Approved), None, false),
        (Closed, Some(ReviewDecision::None), Some(false), false),
        (Open, Some(ReviewDecision::Required), Some(false), false),
        (Open, Some(ReviewDecision::None), Some(false), false),
    ];
    let states = github_states(include_str!("fixtures/github_states.json"), 10).await.expect("an answer");
    let states: Vec<PullRequest> = states.into_iter().map(|state| state.expect("a state")).collect();
    assert_eq!(states.iter().map(expected_part).collect::<Vec<_>>(), expected);
    for state in &states {
        assert_eq!((state.title.as_str(), state.branch.as_str()), ("Fix broken links", "mintlify/fix-links"));
        assert_eq!((state.head.as_str(), state.checks.state), (HEAD, ChecksState::Unavailable));
        assert_eq!((state.additions, state.deletions, state.files), (Some(48), Some(12), Some(3)));
        assert_eq!(state.merged_at.is_some(), state.state == Merged);
    }
    assert_eq!(states[6].merged_at, "2026-11-20T13:58:09Z".parse().ok());
}

/// What the checks must be: their state, how many passed, how many there are, and the names of those that failed.
type ExpectedChecks<'a> = (ChecksState, u32, u32, &'a [&'a str]);

#[tokio::test]
async fn every_documented_status_and_conclusion_of_a_check_is_counted() {
    let failed = ["broken links", "spelling", "images", "publish"];
    let expected: [(&str, ExpectedChecks<'_>); 12] = [
        ("every conclusion and an unknown one", (ChecksState::Failing, 3, 10, &failed)),
        ("every status and an unknown one", (ChecksState::Pending, 1, 7, &[])),
        ("commit statuses that are missing", (ChecksState::Pending, 1, 3, &[])),
        ("every state of a commit status", (ChecksState::Failing, 1, 4, &["ci/build", "ci/links"])),
        ("all that count as passed", (ChecksState::Passing, 4, 4, &[])),
        ("stale ones, those that did not start, unknown ones", (ChecksState::Pending, 0, 3, &[])),
        ("no check, a suite waits for an approval", (ChecksState::Pending, 0, 0, &[])),
        ("no check, a suite of an app that never runs one", (ChecksState::None, 0, 0, &[])),
        ("no check and no suite", (ChecksState::None, 0, 0, &[])),
        ("all passed, another suite waits", (ChecksState::Pending, 2, 2, &[])),
        ("the failure is not among the first 100", (ChecksState::Failing, 2, 140, &[])),
        ("no commit", (ChecksState::Unavailable, 0, 0, &[])),
    ];
    let checks = github_checks(include_str!("fixtures/github_checks.json"), 12).await.expect("an answer");
    assert_eq!(checks.len(), expected.len());
    for (HeadChecks { head, checks }, (what, (state, passed, total, failed))) in checks.iter().zip(expected) {
        assert_eq!((checks.state, checks.passed, checks.total), (state, passed, total), "{what}");
        let names: Vec<&str> = checks.failed.iter().map(|check| check.name.as_str()).collect();
        assert_eq!((names.as_slice(), head.as_str()), (failed, HEAD), "{what}");
    }
    let urls = |n: usize| checks[n].checks.failed.iter().map(|check| check.url.as_ref().map(|url| url.as_str()));
    let pages = ["broken-links", "spelling", "images"].map(|page| format!("https://ci.example.com/{page}"));
    let expected: Vec<Option<&str>> = pages.iter().map(|page| Some(page.as_str())).chain([None]).collect();
    assert_eq!(urls(0).collect::<Vec<_>>(), expected);
    assert_eq!(urls(3).collect::<Vec<_>>(), [Some("https://ci.example.com/ci/build"), None]);
}

#[tokio::test]
async fn a_response_with_data_and_errors_loses_only_what_has_an_error() {
    let states = github_states(include_str!("fixtures/github_partial_states.json"), 4).await.expect("an answer");
    let [Ok(first), Err(HostErrorKind::NotFound), Err(HostErrorKind::Forbidden(why)), Ok(last)] = states.as_slice()
    else {
        panic!("{states:?}")
    };
    assert!(why.as_str().contains("SAML enforcement"), "{why}");
    assert_eq!((first.conflict, last.conflict), (Some(false), Some(false)));
    let checks = github_checks(include_str!("fixtures/github_partial_checks.json"), 2).await.expect("an answer");
    let states: Vec<ChecksState> = checks.iter().map(|part| part.checks.state).collect();
    assert_eq!(states, [ChecksState::Passing, ChecksState::Unavailable]);
    assert_eq!(checks[1].head.as_str(), HEAD);
}

#[tokio::test]
async fn a_response_without_data_is_the_error_that_it_contains() {
    let body = include_str!("fixtures/github_forbidden.json");
    let is_forbidden =
        |kind: &HostErrorKind| matches!(kind, HostErrorKind::Forbidden(why) if why.as_str().contains("not accessible"));
    let states = github_states(body, 1).await.expect_err("an error");
    let checks = github_checks(body, 1).await.expect_err("an error");
    assert!(is_forbidden(&states) && is_forbidden(&checks), "{states:?} {checks:?}");
}

/// Returns what the client reads from a merge request as GitLab documents it, with the fields of this variant.
async fn gitlab_state(variant: &Value) -> PullRequest {
    let mut body: Value = serde_json::from_str(include_str!("fixtures/gitlab_merge_request.json")).expect("JSON");
    let fields = variant.as_object().expect("fields");
    body.as_object_mut().expect("fields").extend(fields.clone());
    let (server, client) = start("git.corp.example", HostKind::GitLab, &body.to_string()).await;
    let link = PullRequestLink::parse("https://git.corp.example/acme/web/docs/-/merge_requests/5").expect("a link");
    let response = client.pull_requests(&[link], chrono::Utc::now()).await;
    assert_eq!(server.only_request().line(), "GET /api/v4/projects/acme%2Fweb%2Fdocs/merge_requests/5 HTTP/1.1");
    response.result.expect("an answer").pop().expect("one").1.expect("a state")
}

#[tokio::test]
async fn every_documented_state_of_a_merge_request_is_read() {
    use ChecksState::{Failing, Passing, Pending};
    use PullRequestState::{Closed, Draft, Merged, Open};
    let expected: [(&str, ExpectedState, ChecksState); 21] = [
        ("mergeable", (Open, None, Some(false), false), Passing),
        ("need_rebase", (Open, None, Some(false), true), Passing),
        ("ci_still_running", (Open, None, Some(false), false), Pending),
        ("ci_must_pass", (Open, None, Some(false), false), Failing),
        ("conflict", (Open, None, Some(true), false), Passing),
        ("not_approved", (Open, Some(ReviewDecision::Required), Some(false), false), Passing),
        ("requested_changes", (Open, Some(ReviewDecision::ChangesRequested), Some(false), false), Passing),
        ("draft_status", (Draft, None, Some(false), false), Passing),
        ("a draft with conflicts", (Draft, None, Some(true), false), Passing),
        ("discussions_not_resolved", (Open, None, Some(false), false), Passing),
        ("checking", (Open, None, None, false), Passing),
        ("unchecked", (Open, None, None, false), Passing),
        ("preparing", (Open, None, None, false), ChecksState::None),
        ("locked", (Open, None, Some(false), false), Passing),
        ("merged", (Merged, None, Some(false), false), Passing),
        ("closed", (Closed, None, Some(false), false), Passing),
        ("1000 files and more", (Open, None, Some(false), false), Passing),
        ("pipeline canceled", (Open, None, Some(false), false), Failing),
        ("pipeline skipped", (Open, None, Some(false), false), Passing),
        ("pipeline manual", (Open, None, Some(false), false), Pending),
        ("no pipeline", (Open, None, Some(false), false), ChecksState::None),
    ];
    let variants: Value = serde_json::from_str(include_str!("fixtures/gitlab_variants.json")).expect("JSON");
    assert_eq!(variants.as_object().map(serde_json::Map::len), Some(expected.len()));
    for (name, parts, checks) in expected {
        let state = gitlab_state(&variants[name]).await;
        assert_eq!((expected_part(&state), state.checks.state), (parts, checks), "{name}");
        let files = (!["1000 files and more", "preparing"].contains(&name)).then_some(3);
        assert_eq!((state.files, state.additions), (files, None), "{name}");
        assert_eq!(state.merged_at.is_some(), state.state == Merged, "{name}");
        // GitLab reports no numbers of jobs; the pipeline is the only check, with its page.
        let Checks { passed, total, failed, .. } = &state.checks;
        let pages: Vec<Option<&str>> = failed.iter().map(|check| check.url.as_ref().map(|url| url.as_str())).collect();
        let expected_pages = if checks == Failing { vec![Some("https://git.corp.example/p/7")] } else { Vec::new() };
        assert_eq!((*passed, *total, pages), (0, 0, expected_pages), "{name}");
    }
    let conflict = gitlab_state(&variants["a draft with conflicts"]).await;
    assert_eq!(conflict.main_fact(), PullRequestFact::Conflict);
}
