//! Asks code hosts with every fault. Reading fails with a reason that contains no token. An action is sent at most
//! once, is reported as not done only if the host certainly did not carry it out, and is not sent if the request before
//! it fails.

use crate::case::{CaseError, check, client_options};
use crate::list::{API_KEY, ExpectedOutcome, Fault, faults};
use crate::support::server::{ConnectionEnd, Request, Server, ServerBehavior, http_response};
use crate::support::slow::sample;
use docdeck::api::hosts::{HostAddress, HostClient, HostError, PullRequestResult};
use docdeck::model::endpoint::ApiKey;
use docdeck::model::pull_request::{HostKind, PullRequestLink};
use docdeck::model::pull_request_action::{ActionOutcome, MergeMethod, PullRequestAction};
use docdeck::model::text::CleanText;
use futures_util::StreamExt as _;
use std::fmt::Debug;

/// The number of faults that are tried at the same time.
const CONCURRENT_FAULTS: usize = 16;
const GITHUB_URL: &str = "https://github.com/acme/docs/pull/7";
const GITLAB_URL: &str = "https://gitlab.com/acme/docs/-/merge_requests/7";

/// A request to a code host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HostCall {
    State,
    Checks,
    Details,
    Diff,
    /// The request with which `docdeck doctor` checks a token.
    Token,
    Approve,
    RequestChanges,
    Comment,
    MarkReady,
    Merge,
    Close,
}

impl HostCall {
    const ALL: [Self; 11] = [
        Self::State,
        Self::Checks,
        Self::Details,
        Self::Diff,
        Self::Token,
        Self::Approve,
        Self::RequestChanges,
        Self::Comment,
        Self::MarkReady,
        Self::Merge,
        Self::Close,
    ];

    fn action(self) -> Option<PullRequestAction> {
        let text = || "Shorten \"it\";\n\u{1f980}".to_owned();
        match self {
            Self::State | Self::Checks | Self::Details | Self::Diff | Self::Token => None,
            Self::Approve => Some(PullRequestAction::Approve),
            Self::RequestChanges => Some(PullRequestAction::RequestChanges(text())),
            Self::Comment => Some(PullRequestAction::Comment(text())),
            Self::MarkReady => Some(PullRequestAction::MarkReady),
            Self::Merge => Some(PullRequestAction::Merge(Some(MergeMethod::Squash))),
            Self::Close => Some(PullRequestAction::Close),
        }
    }

    /// Whether the action needs another request before it: for the id of the pull request, or for its title.
    fn reads_first(self, kind: HostKind) -> bool {
        matches!((self, kind), (Self::MarkReady, _) | (Self::Close, HostKind::GitHub))
    }

    fn is_supported(self, kind: HostKind) -> bool {
        (self, kind) != (Self::RequestChanges, HostKind::GitLab)
    }

    /// Returns the text of a diff, otherwise a description of what was read.
    async fn run(self, client: &HostClient, link: &PullRequestLink) -> Result<String, HostError> {
        let done = |()| "done".to_owned();
        if let Some(action) = self.action() {
            return client.perform_action(link, &CleanText::line("7d40698"), &action).await.result.map(done);
        }
        let links = std::slice::from_ref(link);
        match self {
            Self::Checks => only_part(client.checks(links).await.result),
            Self::Details => client.details(link).await.result.map(|details| format!("{details:?}")),
            Self::Diff => client.diff(link).await.result.map(|diff| diff.text),
            Self::Token => client.check_token().await.result.map(done),
            _ => only_part(client.pull_requests(links, chrono::Utc::now()).await.result),
        }
    }
}

/// Which request of a call fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FailingRequest {
    /// Every request, so that an action which needs another request before it is never sent.
    First,
    /// The action, after the response to the request before it.
    Action,
}

/// Returns the response to the request that precedes an action.
fn response_before_action(kind: HostKind) -> Vec<u8> {
    let body = match kind {
        HostKind::GitHub => format!(r#"{{"data":{{"p0":{{"number":7,"url":"{GITHUB_URL}","id":"PR_kwDO7"}}}}}}"#),
        HostKind::GitLab => format!(r#"{{"iid":7,"web_url":"{GITLAB_URL}","title":"Draft: Fix it","draft":true}}"#),
    };
    http_response(200, "content-type: application/json\r\n", body.as_bytes())
}

/// Returns what was read about the only pull request, or why it could not be read.
fn only_part<T: Debug>(result: Result<Vec<PullRequestResult<T>>, HostError>) -> Result<String, HostError> {
    let (_, part) = result?.pop().expect("a part for each link");
    part.map(|part| format!("{part:?}"))
}

/// Whether an outcome of an action is right for a fault, given that of a follow-up, which is sent once as well. No
/// fault responds as a code host does to an action that it has carried out.
fn is_right(outcome: &ActionOutcome, fault: &Fault) -> bool {
    let [_, follow_up, ..] = &fault.expected;
    match follow_up {
        // On a busy computer, the timeout of the request may be noticed before that of the connection.
        ExpectedOutcome::NotSent if fault.short_timeout => !matches!(outcome, ActionOutcome::Done),
        // The reset may arrive before the connection is used.
        _ if fault.job.may_refuse() => !matches!(outcome, ActionOutcome::Done),
        ExpectedOutcome::NotSent => matches!(outcome, ActionOutcome::NotDone(_)),
        ExpectedOutcome::Unconfirmed | ExpectedOutcome::Accepted(..) => {
            matches!(outcome, ActionOutcome::Unconfirmed { .. })
        }
        _ => matches!(outcome, ActionOutcome::NotDone(_) | ActionOutcome::HeadChanged),
    }
}

/// Whether a request changes nothing on the host.
fn is_read(request: &Request) -> bool {
    let body = String::from_utf8_lossy(&request.body);
    request.line().starts_with("GET ")
        || request.line().starts_with("POST /api/graphql ") && body.starts_with("{\"query\":\"query")
}

/// Returns the client for a code host at this server, and the link of a pull request there.
fn client_for(server: &Server, kind: HostKind, short_timeout: bool) -> (HostClient, PullRequestLink) {
    let (host, url) = match kind {
        HostKind::GitHub => ("github.com", GITHUB_URL),
        HostKind::GitLab => ("gitlab.com", GITLAB_URL),
    };
    let address = HostAddress {
        host: host.to_owned(),
        kind,
        rest_url: format!("{}/api/v4", server.base_url()),
        graphql_url: format!("{}/api/graphql", server.base_url()),
    };
    let token = ApiKey::new(API_KEY).expect("a token");
    let client = HostClient::new(&address, token, client_options(short_timeout)).expect("a client");
    (client, PullRequestLink::parse(url).expect("a link"))
}

async fn run(fault: &Fault, kind: HostKind, call: HostCall, failing: FailingRequest) -> Result<(), CaseError> {
    let server = match failing {
        FailingRequest::First => Server::start(fault.job.clone()).await,
        FailingRequest::Action => Server::start_after(response_before_action(kind), fault.job.clone()).await,
    };
    let (client, link) = client_for(&server, kind, fault.short_timeout);
    let result = call.run(&client, &link).await;
    let requests = server.requests();
    if let Err(error) = &result {
        let text = error.to_string();
        let is_plain = !text.chars().any(|c| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}'));
        let is_about_host = text.starts_with(&format!("{}: ", link.host));
        check(is_plain && is_about_host && !text.contains(API_KEY), || format!("the message is {text:?}"))?;
    }
    let may_succeed = match call {
        // An empty diff is that of a pull request without changes.
        HostCall::Diff => result.as_ref().is_ok_and(String::is_empty),
        _ => false,
    };
    check(result.is_err() || may_succeed, || format!("it succeeded with {result:?}"))?;
    let reads = requests.iter().filter(|request| is_read(request)).count();
    let outcome = result.as_ref().err().map_or(ActionOutcome::Done, HostError::outcome);
    if call.action().is_none() {
        check(reads == requests.len(), || format!("requests were {requests:?}"))
    } else if !call.is_supported(kind) {
        check(requests.is_empty() && matches!(outcome, ActionOutcome::NotDone(_)), || {
            format!("{outcome:?} {requests:?}")
        })
    } else if failing == FailingRequest::First && call.reads_first(kind) {
        check(reads == requests.len() && reads <= 1, || format!("requests were {requests:?}"))?;
        check(matches!(outcome, ActionOutcome::NotDone(_)), || format!("{outcome:?}, but nothing was sent"))
    } else {
        let expected_reads = usize::from(failing == FailingRequest::Action);
        let actions = requests.len() - reads;
        let expected_actions = usize::from(fault.job.reads_requests());
        let is_sent_once = (reads, actions) == (expected_reads, expected_actions);
        check(is_sent_once, || format!("requests were {requests:?}"))?;
        let [_, follow_up, ..] = &fault.expected;
        check(is_right(&outcome, fault), || format!("{outcome:?} where a follow-up is {follow_up}"))
    }
}

/// Runs a sample, and all faults with `DOCDECK_SLOW_TESTS`.
#[tokio::test]
async fn code_hosts_are_asked_with_every_fault() {
    let target = Server::start(ServerBehavior::Response(
        b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"[..].into(),
        ConnectionEnd::Keep,
    ))
    .await;
    let faults = sample(faults(target.port()), 12);
    let calls = HostCall::ALL.into_iter().flat_map(|call| [(HostKind::GitHub, call), (HostKind::GitLab, call)]);
    let cases = calls.flat_map(|(kind, call)| {
        faults.iter().flat_map(move |fault| {
            // The action goes to the same address, so a server that can't be reached fails the request before it.
            let is_reached = fault.job.reads_requests() || fault.job.reads_nothing();
            let fails_later = (call.reads_first(kind) && is_reached).then_some(FailingRequest::Action);
            [Some(FailingRequest::First), fails_later].into_iter().flatten().map(move |at| (fault, kind, call, at))
        })
    });
    let results = futures_util::stream::iter(cases).map(async |(fault, kind, call, failing)| {
        let result = run(fault, kind, call, failing).await;
        result.map_err(|wrong| format!("{kind:?} {call:?} {failing:?} {}: {wrong}", fault.name))
    });
    let results: Vec<Result<(), String>> = results.buffer_unordered(CONCURRENT_FAULTS).collect().await;
    let wrong: Vec<String> = results.iter().filter_map(|result| result.clone().err()).collect();
    println!("{} cases, {} wrong", results.len(), wrong.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), results.len(), wrong.join("\n"));
    assert_eq!(target.connection_count(), 0, "no redirect is followed, so the token stays with its host");
}

/// Responses of GraphQL to a mutation that was not carried out, or of which that is unknown.
const MUTATION_RESPONSES: [(&str, &str, bool); 9] = [
    ("refused", r#"{"data":{"m":null},"errors":[{"type":"UNPROCESSABLE","message":"It is merged"}]}"#, true),
    ("not allowed", r#"{"data":null,"errors":[{"type":"FORBIDDEN","message":"Must have write access"}]}"#, true),
    ("limited", r#"{"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}"#, true),
    ("without a result", r#"{"data":{"m":null}}"#, false),
    ("without data", r#"{"data":null}"#, false),
    ("of a proxy", r#"{"status":"ok"}"#, false),
    ("of a timeout", r#"{"data":{"m":null},"errors":[{"message":"Something went wrong"}]}"#, false),
    ("with a result and an error", r#"{"data":{"m":{"id":1}},"errors":[{"type":"FORBIDDEN","message":"No"}]}"#, false),
    ("of an error without a text", r#"{"data":null,"errors":[{}]}"#, false),
];

#[tokio::test]
async fn a_mutation_is_done_only_if_the_response_has_its_result() {
    for call in [HostCall::MarkReady, HostCall::Close] {
        for (name, body, is_refused) in MUTATION_RESPONSES {
            let wire = ServerBehavior::json(200, body);
            let server = Server::start_after(response_before_action(HostKind::GitHub), wire).await;
            let (client, link) = client_for(&server, HostKind::GitHub, false);
            let outcome = call.run(&client, &link).await.expect_err(name).outcome();
            assert_ne!(outcome, ActionOutcome::Done, "{call:?} {name}");
            assert_eq!(is_refused, matches!(outcome, ActionOutcome::NotDone(_)), "{call:?} {name}: {outcome:?}");
            let [before, mutation] = server.requests().try_into().expect("two requests");
            assert!(is_read(&before) && !is_read(&mutation), "{call:?} {name}");
            assert!(String::from_utf8_lossy(&mutation.body).contains("PR_kwDO7"), "the id of the answer is sent");
        }
    }
}

#[tokio::test]
async fn no_mutation_is_sent_if_the_id_is_unknown_or_that_of_another_pull_request() {
    let other = GITHUB_URL.replace("docs", "secrets");
    for body in [
        r#"{"data":{"p0":null},"errors":[{"type":"NOT_FOUND","path":["p0"],"message":"Could not resolve"}]}"#
            .to_owned(),
        r#"{"data":null,"errors":[{"type":"RATE_LIMITED","message":"API rate limit exceeded"}]}"#.to_owned(),
        format!(r#"{{"data":{{"p0":{{"number":7,"url":"{other}","id":"PR_kwDO7"}}}}}}"#),
        format!(r#"{{"data":{{"p0":{{"number":8,"url":"{GITHUB_URL}","id":"PR_kwDO7"}}}}}}"#),
        format!(r#"{{"data":{{"p0":{{"number":7,"url":"{GITHUB_URL}"}}}}}}"#),
    ] {
        for call in [HostCall::MarkReady, HostCall::Close] {
            let server = Server::start(ServerBehavior::json(200, &body)).await;
            let (client, link) = client_for(&server, HostKind::GitHub, false);
            let outcome = call.run(&client, &link).await.expect_err(&body).outcome();
            assert!(matches!(outcome, ActionOutcome::NotDone(_)), "{call:?} {body}: {outcome:?}");
            assert!(is_read(&server.only_request()), "{call:?} {body}");
        }
    }
}
