//! Tests of the client for code hosts: against the simulated GitHub, and against a server that responds like GitLab.

use crate::support::http;
use crate::support::server::{Server, ServerBehavior};
use docdeck::api::hosts::{HostAddress, HostClient, HostErrorKind, host_client_options};
use docdeck::model::diff::Diff;
use docdeck::model::endpoint::{ApiKey, Scope};
use docdeck::model::pull_request::{
    ChecksState, HostKind, PullRequest, PullRequestFact, PullRequestLink, PullRequestState, ReviewDecision,
};
use docdeck::model::pull_request_action::{ActionOutcome, MergeMethod, PullRequestAction};
use docdeck::model::text::CleanText;
use docdeck::sim::{HostFault, Sim, SimOptions};

const TOKEN: &str = "glpat-5ecret-5ecret";

/// Returns the simulated service and the links of 25 pull requests, and a client for its code host.
async fn start_host() -> (Sim, Vec<PullRequestLink>, HostClient) {
    let (sim, mut links, client) = start_host_with_jobs(60).await;
    links.truncate(25);
    (sim, links, client)
}

async fn start_host_with_jobs(jobs: u32) -> (Sim, Vec<PullRequestLink>, HostClient) {
    let sim = Sim::start(SimOptions { jobs, ..SimOptions::default() }).await.expect("it starts");
    let links = sim.initial_jobs().into_iter().filter_map(|job| job.body.state.pr_link);
    let links = links.filter_map(|link| PullRequestLink::parse(link.as_str()));
    let links: Vec<PullRequestLink> = links.filter(|link| link.kind == HostKind::GitHub).collect();
    assert!(links.len() > 10);
    let token = ApiKey::new(sim.host_token(HostKind::GitHub)).expect("a token");
    let client = HostClient::new(&sim.host_address(HostKind::GitHub), token, host_client_options()).expect("a client");
    (sim, links, client)
}

#[tokio::test]
async fn one_request_reads_the_state_of_25_pull_requests_and_another_one_their_checks() {
    let (sim, links, client) = start_host().await;
    let states = client.pull_requests(&links, sim.now()).await.result.expect("an answer");
    let checks = client.checks(&links).await.result.expect("an answer");
    assert_eq!((states.len(), checks.len(), sim.host_request_count()), (links.len(), links.len(), 2));
    let mut facts = std::collections::BTreeSet::new();
    for ((link, state), (same_link, checks)) in states.into_iter().zip(checks) {
        assert_eq!(link, same_link);
        let (mut state, checks) = (state.expect("a state"), checks.expect("checks"));
        assert_eq!((state.checks.state, &state.head), (ChecksState::Unavailable, &checks.head));
        assert!(checks.checks.total >= 3 && checks.checks.passed <= checks.checks.total);
        assert_eq!(checks.checks.state == ChecksState::Failing, !checks.checks.failed.is_empty());
        state.checks = checks.checks;
        facts.insert(state.main_fact());
    }
    assert!(facts.contains(&PullRequestFact::Merged) && facts.len() >= 3, "{facts:?}");
}

#[tokio::test]
async fn checks_that_the_token_may_not_read_are_unavailable_and_not_none() {
    let (sim, links, client) = start_host().await;
    sim.set_host_fault(Some(HostFault::ForbiddenChecks));
    assert!(client.pull_requests(&links, sim.now()).await.result.expect("an answer").iter().all(|(_, r)| r.is_ok()));
    for (_, checks) in client.checks(&links).await.result.expect("an answer") {
        assert_eq!(checks.expect("no error").checks.state, ChecksState::Unavailable);
    }
}

#[tokio::test]
async fn every_fault_of_the_host_is_an_error_of_its_own() {
    let (sim, links, client) = start_host().await;
    let mut kinds = Vec::new();
    for fault in [HostFault::ExpiredToken, HostFault::BadGateway, HostFault::LimitInBody, HostFault::LimitInStatus] {
        sim.set_host_fault(Some(fault));
        let response = client.pull_requests(&links, sim.now()).await;
        let error = response.result.expect_err("a fault");
        kinds.push(error.kind);
        if fault == HostFault::LimitInStatus {
            let now = sim.now();
            assert_eq!(response.budget.blocked_until(now) - now, chrono::TimeDelta::seconds(60));
        }
    }
    sim.set_host_fault(Some(HostFault::SecondaryLimit));
    for error in [
        client.pull_requests(&links, sim.now()).await.result.expect_err("limited"),
        client.checks(&links).await.result.expect_err("not forbidden"),
    ] {
        assert_eq!(error.kind, HostErrorKind::Limited, "also without a header");
    }
    let [unauthorized, failed, limited, also_limited] = kinds.as_slice() else { panic!("{kinds:?}") };
    assert_eq!(*unauthorized, HostErrorKind::Unauthorized);
    assert!(matches!(failed, HostErrorKind::Failed { status: 502, .. }), "{failed:?}");
    assert_eq!([limited, also_limited], [&HostErrorKind::Limited; 2]);
    sim.set_host_fault(Some(HostFault::OtherRepository));
    for (_, state) in client.pull_requests(&links, sim.now()).await.result.expect("an answer") {
        assert_eq!(state.expect_err("not the requested one").kind, HostErrorKind::OtherPullRequest);
    }
    sim.set_host_fault(Some(HostFault::HalfMissing));
    let states = client.pull_requests(&links, sim.now()).await.result.expect("an answer");
    for (n, (_, state)) in states.into_iter().enumerate() {
        assert_eq!(state.is_ok(), n % 2 == 0, "data and errors in the same answer are both used");
    }
    sim.set_host_fault(Some(HostFault::UnknownConflicts));
    for (_, state) in client.pull_requests(&links, sim.now()).await.result.expect("an answer") {
        assert_eq!(state.expect("a state").conflict, None);
    }
}

/// Returns a server that responds like GitLab with this body, and a client for it.
async fn start_gitlab(body: &str) -> (Server, HostClient) {
    let server = Server::start(ServerBehavior::json(200, body)).await;
    let address = HostAddress {
        host: "git.corp.example".to_owned(),
        kind: HostKind::GitLab,
        rest_url: format!("{}/api/v4", server.base_url()),
        graphql_url: format!("{}/api/graphql", server.base_url()),
    };
    let token = ApiKey::new(TOKEN).expect("a token");
    let client = HostClient::new(&address, token, host_client_options()).expect("a client");
    (server, client)
}

#[tokio::test]
async fn a_token_is_checked_with_a_request_that_needs_no_pull_request() {
    let (server, client) = start_gitlab(r#"{"id":1,"username":"ana"}"#).await;
    client.check_token().await.result.expect("accepted");
    assert_eq!(server.only_request().line(), "GET /api/v4/user HTTP/1.1");
    let (sim, _, client) = start_host().await;
    client.check_token().await.result.expect("accepted");
    for fault in [HostFault::ExpiredToken, HostFault::LimitInBody] {
        sim.set_host_fault(Some(fault));
        client.check_token().await.result.expect_err("refused");
    }
}

/// Responds to a request for one merge request with this body; returns the result.
async fn merge_request(body: &str) -> Result<docdeck::model::pull_request::PullRequest, HostErrorKind> {
    let (server, client) = start_gitlab(body).await;
    let link = PullRequestLink::parse("https://git.corp.example/acme/web/docs/-/merge_requests/5").expect("a link");
    let response = client.pull_requests(&[link], chrono::Utc::now()).await;
    let request = server.only_request();
    assert_eq!(request.line(), "GET /api/v4/projects/acme%2Fweb%2Fdocs/merge_requests/5 HTTP/1.1");
    assert_eq!(request.header("authorization"), Some(format!("Bearer {TOKEN}").as_str()));
    let mut results = response.result.map_err(|error| error.kind)?;
    results.pop().expect("one result").1.map_err(|error| error.kind)
}

#[tokio::test]
async fn a_merge_request_of_gitlab_is_read_with_its_pipeline() {
    let body = r#"{"iid": 5, "web_url": "https://git.corp.example/acme/web/docs/-/merge_requests/5",
        "title": "Fix \u001b[2Jthe links, token glpat-5ecret-5ecret", "state": "opened", "draft": false,
        "sha": "8e51709", "source_branch": "agent/links", "detailed_merge_status": "requested_changes",
        "has_conflicts": false, "changes_count": "1000+", "merged_at": null,
        "head_pipeline": {"status": "failed", "web_url": "https://git.corp.example/p/1"}}"#;
    let state = merge_request(body).await.expect("a state");
    assert_eq!(state.title.as_str(), "Fix the links, token ***");
    assert_eq!(
        (state.state, state.review, state.conflict),
        (PullRequestState::Open, Some(ReviewDecision::ChangesRequested), Some(false))
    );
    assert_eq!((state.checks.state, state.files, state.additions), (ChecksState::Failing, None, None));
    assert_eq!(state.checks.failed.first().map(|check| check.name.as_str()), Some("pipeline"));
}

#[tokio::test]
async fn the_project_decides_whether_to_squash_if_the_user_does_not() {
    for (method, body) in [
        (None, r#"{"sha":"8e51709"}"#),
        (Some(MergeMethod::Merge), r#"{"sha":"8e51709","squash":false}"#),
        (Some(MergeMethod::Squash), r#"{"sha":"8e51709","squash":true}"#),
    ] {
        let url = "https://git.corp.example/acme/web/docs/-/merge_requests/5";
        let (server, client) = start_gitlab(&format!(r#"{{"iid":5,"web_url":"{url}"}}"#)).await;
        let link = PullRequestLink::parse(url).expect("a link");
        client
            .perform_action(&link, &CleanText::line("8e51709"), &PullRequestAction::Merge(method))
            .await
            .result
            .expect("sent");
        assert_eq!(String::from_utf8_lossy(&server.only_request().body), body);
    }
}

#[tokio::test]
async fn a_merge_request_of_another_project_is_rejected() {
    let body = r#"{"iid": 5, "web_url": "https://git.corp.example/other/docs/-/merge_requests/5", "state": "opened"}"#;
    assert_eq!(merge_request(body).await, Err(HostErrorKind::OtherPullRequest));
    assert!(matches!(merge_request("<html>").await, Err(HostErrorKind::Unreadable(_))));
}

#[tokio::test]
async fn a_diff_is_read_at_once_or_in_pages_of_files() {
    let (sim, links, client) = start_host().await;
    let states = client.pull_requests(&links, sim.now()).await.result.expect("an answer");
    let before = sim.host_request_count();
    for (link, state) in states.iter().take(5) {
        let (state, reported) = (state.as_ref().expect("a state"), client.diff(link).await.result.expect("a diff"));
        let diff = Diff::parse(reported.text);
        let counts = (state.additions.expect("a number"), state.deletions.expect("a number"));
        let file_count = Some(diff.files.len() as u64);
        assert_eq!((diff.added_and_removed_lines(), file_count, reported.is_truncated), (counts, state.files, false));
    }
    assert_eq!(sim.host_request_count() - before, 5);
    sim.set_host_fault(Some(HostFault::ManyFiles));
    let response = client.diff(&links[0]).await;
    let (cost, reported) = (response.budget.cost, response.result.expect("a diff"));
    assert_eq!((cost, sim.host_request_count() - before), (Some(4), 5 + 5), "a refused request and four pages");
    assert!(Diff::parse(reported.text).files.len() > 300);
    for (fault, kind) in
        [(HostFault::ExpiredToken, HostErrorKind::Unauthorized), (HostFault::LimitInStatus, HostErrorKind::Limited)]
    {
        sim.set_host_fault(Some(fault));
        assert_eq!(client.diff(&links[0]).await.result.expect_err("a fault").kind, kind);
    }
    sim.set_host_fault(None);
    let missing = PullRequestLink { number: 999_999, ..links[0].clone() };
    assert_eq!(client.diff(&missing).await.result.expect_err("not there").kind, HostErrorKind::NotFound);
}

#[tokio::test]
async fn a_large_diff_is_cut_after_a_complete_file_and_hides_the_token() {
    let file = |n: usize, lines: usize| {
        let text = format!("+{TOKEN} {}\n", "x".repeat(90)).repeat(lines);
        format!(
            "diff --git a/{n}.md b/{n}.md\nnew file mode 100644\n--- /dev/null\n+++ b/{n}.md\n@@ -0,0 +1,{lines} @@\n{text}"
        )
    };
    let body = file(1, 10) + &file(2, 120_000);
    let server = Server::start(ServerBehavior::http(200, "", body.as_bytes())).await;
    let address = HostAddress {
        host: "ghe.corp".to_owned(),
        kind: HostKind::GitHub,
        rest_url: server.base_url(),
        graphql_url: server.base_url(),
    };
    let client = HostClient::new(&address, ApiKey::new(TOKEN).expect("a token"), host_client_options()).expect("one");
    let link = PullRequestLink::parse("https://ghe.corp/acme/docs/pull/1").expect("a link");
    let reported = client.diff(&link).await.result.expect("a diff");
    let diff = Diff::parse(reported.text);
    assert!(reported.is_truncated && diff.files.len() == 1 && diff.added_and_removed_lines() == (10, 0));
    assert!(!diff.text().contains(TOKEN));
}

#[tokio::test]
async fn the_details_of_a_pull_request_need_no_permission_to_read_deployments_or_checks() {
    let (sim, links, client) = start_host().await;
    let checks = client.checks(&links[..1]).await.result.expect("an answer").remove(0).1.expect("checks");
    for fault in [None, Some(HostFault::ForbiddenChecks)] {
        sim.set_host_fault(fault);
        let before = sim.host_request_count();
        let response = client.details(&links[0]).await;
        let details = response.result.expect("details");
        assert_eq!((sim.host_request_count() - before, response.budget.cost), (3, Some(3)));
        assert_eq!((details.author.as_str(), details.base.as_str(), details.commit_count), ("mintlify", "main", 1));
        match fault {
            None => {
                let other = details.checks.as_ref().expect("checks");
                let listed = other.passed.len() + other.pending.len() + checks.checks.failed.len();
                assert_eq!((&other.head, listed), (&checks.head, usize::try_from(checks.checks.total).expect("few")));
                assert_eq!(other.passed.len(), usize::try_from(checks.checks.passed).expect("few"));
            }
            Some(_) => assert_eq!(details.checks, None, "unknown, which is not the same as no checks"),
        }
        assert!(!details.files.is_empty() && !details.entries.is_empty());
        let preview = details.preview.expect("a preview");
        assert!(preview.as_str().starts_with("https://acme-"), "{preview}");
    }
    sim.set_host_fault(Some(HostFault::OtherRepository));
    let error = client.details(&links[0]).await.result.expect_err("not the requested one");
    assert_eq!(error.kind, HostErrorKind::OtherPullRequest);
}

/// Returns the newest open pull request without conflicts, with its state.
async fn open_pull_request(client: &HostClient, links: &[PullRequestLink]) -> (PullRequestLink, PullRequest) {
    let states = client.pull_requests(links, chrono::Utc::now()).await.result.expect("an answer");
    let open = states.into_iter().filter_map(|(link, state)| Some((link, state.ok()?)));
    let mut open = open.filter(|(_, state)| state.state == PullRequestState::Open && state.conflict == Some(false));
    open.next().expect("an open pull request")
}

#[tokio::test]
async fn reviews_merging_and_closing_change_the_state_on_the_host() {
    let (sim, links, client) = start_host().await;
    let (link, state) = open_pull_request(&client, &links).await;
    let head = &state.head;
    let wants = PullRequestAction::RequestChanges("Please shorten it.".to_owned());
    client.perform_action(&link, head, &wants).await.result.expect("reviewed");
    assert_eq!(open_state(&client, &link).await.review, Some(ReviewDecision::ChangesRequested));
    client.perform_action(&link, head, &PullRequestAction::Approve).await.result.expect("approved");
    assert_eq!(open_state(&client, &link).await.review, Some(ReviewDecision::Approved));
    let comment = PullRequestAction::Comment("Thank you.".to_owned());
    client.perform_action(&link, head, &comment).await.result.expect("commented");
    let details = client.details(&link).await.result.expect("details");
    let texts: Vec<_> = details.entries.iter().map(|entry| entry.text.as_str()).collect();
    assert!(texts.contains(&"Please shorten it.") && texts.contains(&"Thank you."), "{texts:?}");
    assert_eq!(details.merge_methods, [MergeMethod::Squash, MergeMethod::Merge]);
    let rebase = client.perform_action(&link, head, &PullRequestAction::Merge(Some(MergeMethod::Rebase))).await.result;
    assert!(matches!(rebase.expect_err("not allowed").outcome(), ActionOutcome::NotDone(_)));
    let old = CleanText::line("0000000000000000000000000000000000000000");
    let moved = client.perform_action(&link, &old, &PullRequestAction::Merge(Some(MergeMethod::Squash))).await.result;
    assert_eq!(moved.expect_err("another head").outcome(), ActionOutcome::HeadChanged);
    client
        .perform_action(&link, head, &PullRequestAction::Merge(Some(MergeMethod::Squash)))
        .await
        .result
        .expect("merged");
    assert_eq!(open_state(&client, &link).await.state, PullRequestState::Merged);
    let closed = client.perform_action(&link, head, &PullRequestAction::Close).await.result;
    assert!(matches!(closed.expect_err("merged already").outcome(), ActionOutcome::NotDone(_)));
    assert_eq!(sim.host_action_count(), 7);
}

async fn open_state(client: &HostClient, link: &PullRequestLink) -> PullRequest {
    let mut states = client.pull_requests(std::slice::from_ref(link), chrono::Utc::now()).await.result.expect("states");
    states.pop().expect("one").1.expect("a state")
}

#[tokio::test]
async fn a_draft_becomes_ready_once() {
    let (_sim, links, client) = start_host_with_jobs(200).await;
    let mut states = Vec::new();
    for links in links.chunks(25) {
        states.extend(client.pull_requests(links, chrono::Utc::now()).await.result.expect("an answer"));
    }
    let is_draft = |state: &PullRequest| state.state == PullRequestState::Draft;
    let draft = states.into_iter().find_map(|(link, state)| state.ok().filter(is_draft).map(|state| (link, state)));
    let (link, state) = draft.expect("a draft");
    client.perform_action(&link, &state.head, &PullRequestAction::MarkReady).await.result.expect("marked");
    assert_eq!(open_state(&client, &link).await.state, PullRequestState::Open);
    let again =
        client.perform_action(&link, &state.head, &PullRequestAction::MarkReady).await.result.expect_err("no draft");
    let ActionOutcome::NotDone(why) = again.outcome() else { panic!("{again}") };
    assert!(why.as_str().contains("can't be changed in this way"), "{why}");
}

#[tokio::test]
async fn an_action_opens_its_own_connection_and_reads_share_one() {
    let (server, client) = start_gitlab(r#"{"username":"ana","approved_by":[]}"#).await;
    let link = PullRequestLink::parse("https://git.corp.example/acme/docs/-/merge_requests/5").expect("a link");
    for _ in 0..2 {
        client.check_token().await.result.expect("accepted");
    }
    assert_eq!(server.connection_count(), 1, "the connection is kept");
    client
        .perform_action(&link, &CleanText::line("8e51709"), &PullRequestAction::Approve)
        .await
        .result
        .expect("approved");
    assert_eq!(server.connection_count(), 2, "a kept connection may have been closed, so that the answer is lost");
}

#[tokio::test]
async fn an_action_without_a_response_is_unconfirmed_and_sent_once() {
    let (sim, links, client) = start_host().await;
    for (fault, is_merged) in [(HostFault::LostAction, false), (HostFault::LostActionResponse, true)] {
        let (link, state) = open_pull_request(&client, &links).await;
        let before = sim.host_action_count();
        sim.set_host_fault(Some(fault));
        let merge = PullRequestAction::Merge(Some(MergeMethod::Squash));
        let error = client.perform_action(&link, &state.head, &merge).await.result.expect_err("no answer");
        assert!(matches!(error.outcome(), ActionOutcome::Unconfirmed { .. }), "{error}");
        assert_eq!(sim.host_action_count() - before, 1);
        sim.set_host_fault(None);
        assert_eq!(open_state(&client, &link).await.state == PullRequestState::Merged, is_merged);
    }
    for (fault, wanted) in
        [(HostFault::ExpiredToken, "the token was refused (401)"), (HostFault::LimitInStatus, "rate limit reached")]
    {
        let (link, state) = open_pull_request(&client, &links).await;
        sim.set_host_fault(Some(fault));
        let error =
            client.perform_action(&link, &state.head, &PullRequestAction::Approve).await.result.expect_err("refused");
        let ActionOutcome::NotDone(why) = error.outcome() else { panic!("{error}") };
        assert!(why.as_str().contains(wanted), "{why}");
        sim.set_host_fault(None);
    }
}

/// A query that opens 252,525 lists, which cost 2,525 points.
fn costly_query() -> String {
    let fragment = "fragment Part on PullRequest { commits(last: 100) { nodes { commit { checkSuites(first: 100) { \
        nodes { checkRuns(first: 100) { nodes { name } } } } } } } }";
    let fields = "p: resource(url: $u) { ...Part } ".repeat(25);
    let query = format!("query($u: URI!) {{ {fields} rateLimit {{ cost remaining resetAt }} }} {fragment}");
    serde_json::json!({ "query": query, "variables": {} }).to_string()
}

#[tokio::test]
async fn the_limit_of_a_token_is_metered_and_starts_again_after_an_hour() {
    let (sim, links, client) = start_host().await;
    let now = sim.now();
    let first = client.pull_requests(&links, now).await.budget;
    let second = client.checks(&links).await.budget;
    assert_eq!((first.remaining, second.remaining), (Some(4999), Some(4998)));
    assert_eq!((first.cost, second.cost), (Some(1), Some(1)));
    let resets_at = first.resets_at.expect("a time");
    let minutes = (resets_at - now).num_minutes();
    assert!(
        second.resets_at == Some(resets_at) && (59..=60).contains(&minutes),
        "an hour, in whole seconds: {minutes}"
    );
    let (url, token) = (sim.host_address(HostKind::GitHub).graphql_url, sim.host_token(HostKind::GitHub).to_owned());
    let costly = tokio::task::spawn_blocking(move || [(); 2].map(|()| http::post(&url, &token, &costly_query())));
    let [third, fourth] = costly.await.expect("answers").map(|body| {
        let response: serde_json::Value = serde_json::from_str(&body).expect("JSON");
        response["data"]["rateLimit"].clone()
    });
    assert_eq!((&third["cost"], &third["remaining"]), (&2525.into(), &(4998 - 2525).into()));
    assert_eq!((&fourth["remaining"], &fourth["resetAt"]), (&0.into(), &third["resetAt"]));
    let response = client.pull_requests(&links, now).await;
    assert_eq!(response.result.expect_err("nothing is left").kind, HostErrorKind::Limited);
    assert_eq!((response.budget.status, response.budget.remaining), (Some(200), Some(0)));
    assert_eq!(response.budget.blocked_until(now), resets_at);
    assert_eq!(client.diff(&links[0]).await.budget.remaining, Some(4999), "REST has a limit of its own");
    sim.advance(chrono::TimeDelta::hours(1));
    let response = client.pull_requests(&links, sim.now()).await;
    assert!(response.result.is_ok() && response.budget.remaining == Some(4999));
}

/// Returns the state of each pull request of this service, with its checks on GitHub.
async fn all_states(sim: &Sim, links: impl IntoIterator<Item = PullRequestLink>) -> Vec<PullRequest> {
    let mut states = Vec::new();
    for link in links {
        let token = ApiKey::new(sim.host_token(link.kind)).expect("a token");
        let client = HostClient::new(&sim.host_address(link.kind), token, host_client_options()).expect("a client");
        let mut state = open_state(&client, &link).await;
        if link.kind == HostKind::GitHub {
            let mut checks = client.checks(std::slice::from_ref(&link)).await.result.expect("checks");
            state.checks = checks.pop().expect("one").1.expect("checks").checks;
        }
        states.push(state);
    }
    states
}

#[tokio::test]
async fn the_demo_has_a_pull_request_that_is_behind_and_one_in_the_merge_queue() {
    let sim = Sim::start(SimOptions::default()).await.expect("it starts");
    let links = sim.initial_jobs().into_iter().filter_map(|job| job.body.state.pr_link);
    let states = all_states(&sim, links.filter_map(|link| PullRequestLink::parse(link.as_str()))).await;
    let count = |is_wanted: fn(&PullRequest) -> bool| states.iter().filter(|state| is_wanted(state)).count();
    assert_eq!(count(|state| state.behind && state.main_fact() == PullRequestFact::Ready), 1);
    assert_eq!(count(|state| state.main_fact() == PullRequestFact::Queued), 1);
}

#[tokio::test]
async fn a_prompt_decides_that_its_pull_request_is_behind_or_queued_and_can_not_be_merged() {
    let sim = Sim::start(SimOptions { jobs: 0, speed: 1000.0, ..SimOptions::default() }).await.expect("it starts");
    let scope = Scope { base_url: sim.base_url(), project: sim.project().to_owned(), organization: None };
    let key = ApiKey::new(sim.api_key()).expect("a key");
    let service = docdeck::api::Client::new(scope, key, docdeck::api::ClientOptions::default()).expect("a client");
    let mut links = Vec::new();
    for prompt in ["Fix it [sim:behind]", "Fix it [sim:gitlab][sim:behind]", "Fix it [sim:queued]"] {
        let id = service.create_job(prompt).await.result.expect("a job").id;
        sim.advance(chrono::TimeDelta::minutes(10));
        let link = service.get_job(&id).await.result.expect("the job").state.pr_link.expect("a link");
        links.push(PullRequestLink::parse(link.as_str()).expect("a link"));
    }
    let states = all_states(&sim, links.clone()).await;
    let expected = [
        (PullRequestState::Open, true, PullRequestFact::Ready),
        (PullRequestState::Open, true, PullRequestFact::Ready),
        (PullRequestState::Queued, false, PullRequestFact::Queued),
    ];
    assert_eq!(states.iter().map(|state| (state.state, state.behind, state.main_fact())).collect::<Vec<_>>(), expected);
    for (link, state) in links.iter().zip(&states) {
        let token = ApiKey::new(sim.host_token(link.kind)).expect("a token");
        let client = HostClient::new(&sim.host_address(link.kind), token, host_client_options()).expect("a client");
        let merged =
            client.perform_action(link, &state.head, &PullRequestAction::Merge(Some(MergeMethod::Squash))).await.result;
        assert!(matches!(merged.expect_err("not yet").outcome(), ActionOutcome::NotDone(_)), "{link:?}");
    }
}

#[tokio::test]
async fn faults_of_the_options_apply_to_their_operation_of_the_host() {
    let faults = ["host-checks=forbidden-checks", "host-details=502", "host-review=lost", "host-edit=401"];
    let faults = faults.map(|text| text.parse().expect(text)).to_vec();
    let sim = Sim::start(SimOptions { jobs: 60, faults, ..SimOptions::default() }).await.expect("it starts");
    for kind in [HostKind::GitHub, HostKind::GitLab] {
        let token = ApiKey::new(sim.host_token(kind)).expect("a token");
        let client = HostClient::new(&sim.host_address(kind), token, host_client_options()).expect("a client");
        let links = sim.initial_jobs().into_iter().filter_map(|job| job.body.state.pr_link);
        let mut links = links.filter_map(|link| PullRequestLink::parse(link.as_str()));
        let link = links.find(|link| link.kind == kind).expect("a link");
        let state = open_state(&client, &link).await;
        if kind == HostKind::GitHub {
            let mut checks = client.checks(std::slice::from_ref(&link)).await.result.expect("an answer");
            let checks = checks.pop().expect("one").1.expect("no error");
            assert_eq!(checks.checks.state, ChecksState::Unavailable);
        }
        client.diff(&link).await.result.expect("no fault");
        // GitLab's first response about the details is the state.
        let error = client.details(&link).await.result.expect_err("a fault");
        assert!(matches!(error.kind, HostErrorKind::Failed { status: 502, .. }), "{error}");
        let comment = PullRequestAction::Comment("Thank you.".to_owned());
        let outcome =
            client.perform_action(&link, &state.head, &comment).await.result.expect_err("no answer").outcome();
        assert!(matches!(outcome, ActionOutcome::Unconfirmed { .. }), "{outcome:?}");
        let outcome = client
            .perform_action(&link, &state.head, &PullRequestAction::Close)
            .await
            .result
            .expect_err("401")
            .outcome();
        assert!(matches!(outcome, ActionOutcome::NotDone(_)), "{outcome:?}");
    }
    sim.set_faults(Vec::new());
    assert_eq!(sim.host_action_count(), 4);
}
