//! Asks code hosts with every fault. Reading fails with a reason that contains no token. An action is sent at most once,
//! and is reported as not done only if the host certainly did not carry it out.

use crate::case::{CaseError, check, client_options};
use crate::list::{API_KEY, ExpectedOutcome, Fault, faults};
use crate::support::server::{ConnectionEnd, Server, ServerBehavior};
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

/// A request to a code host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HostCall {
    State,
    Checks,
    Details,
    Diff,
    Approve,
    Merge,
}

impl HostCall {
    const ALL: [Self; 6] = [Self::State, Self::Checks, Self::Details, Self::Diff, Self::Approve, Self::Merge];

    fn is_action(self) -> bool {
        matches!(self, Self::Approve | Self::Merge)
    }

    /// Returns the text of a diff, otherwise a description of what was read.
    async fn run(self, client: &HostClient, link: &PullRequestLink) -> Result<String, HostError> {
        let (links, head) = (std::slice::from_ref(link), CleanText::line("7d40698"));
        match self {
            Self::State => only_part(client.pull_requests(links, chrono::Utc::now()).await.result),
            Self::Checks => only_part(client.checks(links).await.result),
            Self::Details => client.details(link).await.result.map(|details| format!("{details:?}")),
            Self::Diff => client.diff(link).await.result.map(|diff| diff.text),
            Self::Approve => {
                client.act(link, &head, &PullRequestAction::Approve).await.result.map(|()| "done".to_owned())
            }
            Self::Merge => {
                let merge = PullRequestAction::Merge(Some(MergeMethod::Squash));
                client.act(link, &head, &merge).await.result.map(|()| "done".to_owned())
            }
        }
    }
}

/// Returns what was read about the only pull request, or why it could not be read.
fn only_part<T: Debug>(result: Result<Vec<PullRequestResult<T>>, HostError>) -> Result<String, HostError> {
    let (_, part) = result?.pop().expect("a part for each link");
    part.map(|part| format!("{part:?}"))
}

/// Whether an outcome of an action is right for a fault, given that of a follow-up, which is sent once as well. No fault
/// answers what a code host answers to an action that it has carried out.
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
        _ => matches!(outcome, ActionOutcome::NotDone(_) | ActionOutcome::Moved),
    }
}

async fn run(fault: &Fault, kind: HostKind, call: HostCall) -> Result<(), CaseError> {
    let server = Server::start(fault.job.clone()).await;
    let (host, url) = match kind {
        HostKind::GitHub => ("github.com", "https://github.com/acme/docs/pull/7"),
        HostKind::GitLab => ("gitlab.com", "https://gitlab.com/acme/docs/-/merge_requests/7"),
    };
    let address = HostAddress {
        host: host.to_owned(),
        kind,
        rest_url: format!("{}/api/v4", server.base_url()),
        graphql_url: format!("{}/api/graphql", server.base_url()),
    };
    let token = ApiKey::new(API_KEY).expect("a token");
    let client = HostClient::new(&address, token, client_options(fault.short_timeout)).expect("a client");
    let link = PullRequestLink::parse(url).expect("a link");
    let result = call.run(&client, &link).await;
    let requests = server.requests();
    if let Err(error) = &result {
        let text = error.to_string();
        let is_plain = !text.chars().any(|c| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}'));
        check(is_plain && text.starts_with(host) && !text.contains(API_KEY), || format!("the message is {text:?}"))?;
    }
    // An empty diff is that of a pull request without changes.
    check(result.as_ref().map_or(true, |read| call == HostCall::Diff && read.is_empty()), || {
        format!("it succeeded with {result:?}")
    })?;
    if call.is_action() {
        check(requests.len() == usize::from(fault.job.reads_requests()), || format!("requests were {requests:?}"))?;
        let outcome = result.as_ref().err().map_or(ActionOutcome::Done, HostError::outcome);
        let [_, follow_up, ..] = &fault.expected;
        check(is_right(&outcome, fault), || format!("{outcome:?} where a follow-up is {follow_up}"))?;
    } else {
        let is_read = |line: &str| line.starts_with("GET ") || line.starts_with("POST /api/graphql ");
        check(requests.iter().all(|request| is_read(request.line())), || format!("requests were {requests:?}"))?;
    }
    Ok(())
}

/// Runs a sample, and all faults with `DOCDECK_SLOW_TESTS`.
#[tokio::test]
async fn code_hosts_are_asked_with_every_fault() {
    let target = Server::start(ServerBehavior::Answer(
        b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"[..].into(),
        ConnectionEnd::Keep,
    ))
    .await;
    let faults = sample(faults(target.port()), 8);
    let calls = HostCall::ALL.into_iter().flat_map(|call| [(HostKind::GitHub, call), (HostKind::GitLab, call)]);
    let cases = calls.flat_map(|(kind, call)| faults.iter().map(move |fault| (fault, kind, call)));
    let results = futures_util::stream::iter(cases).map(async |(fault, kind, call)| {
        let result = run(fault, kind, call).await;
        result.map_err(|wrong| format!("{kind:?} {call:?} {}: {wrong}", fault.name))
    });
    let results: Vec<Result<(), String>> = results.buffer_unordered(CONCURRENT_FAULTS).collect().await;
    let wrong: Vec<String> = results.iter().filter_map(|result| result.clone().err()).collect();
    println!("{} cases, {} wrong", results.len(), wrong.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), results.len(), wrong.join("\n"));
    assert_eq!(target.connection_count(), 0, "no redirect is followed, so the token stays with its host");
}
