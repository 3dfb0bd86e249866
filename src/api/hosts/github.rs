//! GitHub's GraphQL queries for pull requests and their checks, and how their responses are read.

use super::error::{HostError, HostErrorKind};
use super::{HeadChecks, HostClient, PullRequestResult, json};
use crate::api::excerpt;
use crate::model::Time;
use crate::model::pull_request::{
    Checks, ChecksState, FailedCheck, PullRequest, PullRequestLink, PullRequestState, ReviewDecision,
};
use crate::model::pull_request_details::{PassedAndPendingChecks, PendingCheck};
use crate::model::text::CleanText;
use serde::Deserialize;
use serde_json::{Map, Value, json};

const STATE_FRAGMENT: &str = "fragment Part on PullRequest { number url title state isDraft merged mergedAt headRefOid \
    headRefName additions deletions changedFiles mergeable mergeStateStatus reviewDecision isInMergeQueue }";

/// Includes the check suites, because a workflow that waits for an approval has no checks yet.
const CHECKS_FRAGMENT: &str = "fragment Part on PullRequest { number url headRefOid commits(last: 1) { nodes { commit { \
    oid statusCheckRollup { state contexts(first: 100) { totalCount nodes { __typename \
    ... on CheckRun { name status conclusion detailsUrl } ... on StatusContext { context state targetUrl } } } } \
    checkSuites(last: 20) { nodes { status conclusion } } } } } }";

pub(super) fn state_query(links: &[PullRequestLink]) -> Value {
    fragment_query(STATE_FRAGMENT, links)
}

pub(super) fn checks_query(links: &[PullRequestLink]) -> Value {
    fragment_query(CHECKS_FRAGMENT, links)
}

/// Returns the body of a query for the host's limit of requests. Every token is allowed to send this query.
pub(super) fn rate_limit_query() -> Value {
    json!({ "query": "query { rateLimit { cost remaining resetAt } }" })
}

/// Returns how many points a query cost; `None` if the response doesn't contain this number.
pub(super) fn query_cost(body: &[u8]) -> Option<u64> {
    #[derive(Deserialize)]
    struct ResponseWithCost {
        data: DataWithCost,
    }
    #[derive(Deserialize)]
    struct DataWithCost {
        #[serde(rename = "rateLimit")]
        rate_limit: QueryCost,
    }
    #[derive(Deserialize)]
    struct QueryCost {
        cost: u64,
    }
    serde_json::from_slice::<ResponseWithCost>(body).ok().map(|response| response.data.rate_limit.cost)
}

/// Returns an error if the response has no data.
pub(super) fn ensure_response_has_data(client: &HostClient, body: &[u8]) -> Result<(), HostError> {
    GraphqlResponse::parse(client, body).map(|_| ())
}

/// Returns the body of a query that contains the fragment once per link, under the aliases `p0`, `p1`, ….
pub(super) fn fragment_query(fragment: &str, links: &[PullRequestLink]) -> Value {
    let mut variables = Map::new();
    let (mut declared, mut fields) = (Vec::new(), Vec::new());
    for (n, link) in links.iter().enumerate() {
        variables.insert(format!("u{n}"), link.url().into());
        declared.push(format!("$u{n}: URI!"));
        fields.push(format!("p{n}: resource(url: $u{n}) {{ ...Part }}"));
    }
    let (declared, fields) = (declared.join(", "), fields.join(" "));
    let query = format!("query({declared}) {{ {fields} rateLimit {{ cost remaining resetAt }} }} {fragment}");
    json!({ "query": query, "variables": variables })
}

/// Returns the state of each pull request. If the response contains both data and errors, only the pull requests
/// without data are lost.
pub(super) fn decode_states(
    client: &HostClient,
    body: &[u8],
    links: &[PullRequestLink],
    now: Time,
) -> Result<Vec<PullRequestResult<PullRequest>>, HostError> {
    decode_nodes(client, body, links, |node, _| Ok(parse_pull_request(node, now)))
}

/// Decodes the node of each link. The second argument of `decode` is true if the response reports an error in the node.
pub(super) fn decode_nodes<T>(
    client: &HostClient,
    body: &[u8],
    links: &[PullRequestLink],
    decode: impl Fn(&Value, bool) -> Result<T, HostErrorKind>,
) -> Result<Vec<PullRequestResult<T>>, HostError> {
    Ok(GraphqlResponse::parse(client, body)?.decode_each(links, decode))
}

pub(super) fn decode_checks(
    client: &HostClient,
    body: &[u8],
    links: &[PullRequestLink],
) -> Result<Vec<PullRequestResult<HeadChecks>>, HostError> {
    decode_nodes(client, body, links, |node, has_error| {
        let commit = node.pointer("/commits/nodes/0/commit").filter(|commit| commit.is_object());
        let checks = match commit {
            Some(commit) if !has_error => parse_checks(commit),
            // If the token can't read the checks, they are unavailable, so that the commit doesn't look as if it had no
            // checks.
            _ => Checks::default(),
        };
        let head = commit.map(|commit| json::display_text_field(commit, "oid")).filter(|oid| !oid.is_empty());
        Ok(HeadChecks { head: head.unwrap_or_else(|| json::display_text_field(node, "headRefOid")), checks })
    })
}

/// A GraphQL response that has data.
struct GraphqlResponse<'a> {
    client: &'a HostClient,
    data: Map<String, Value>,
    errors: Vec<Value>,
}

impl<'a> GraphqlResponse<'a> {
    fn parse(client: &'a HostClient, body: &[u8]) -> Result<Self, HostError> {
        let unreadable = || client.unreadable(body);
        let Some(Value::Object(mut response)) = client.parse_json(body) else { return Err(unreadable()) };
        let errors = match response.remove("errors") {
            Some(Value::Array(errors)) => errors,
            _ => Vec::new(),
        };
        match response.remove("data") {
            Some(Value::Object(data)) => Ok(Self { client, data, errors }),
            _ => Err(errors.first().map_or_else(unreadable, |error| client.error(error_kind(client, error)))),
        }
    }

    /// Decodes the node of each link. The second argument of `decode` is true if the response reports an error in the
    /// node.
    fn decode_each<T>(
        &self,
        links: &[PullRequestLink],
        decode: impl Fn(&Value, bool) -> Result<T, HostErrorKind>,
    ) -> Vec<PullRequestResult<T>> {
        let result = |(n, link): (usize, &PullRequestLink)| {
            let alias = format!("p{n}");
            let error = self
                .errors
                .iter()
                .find(|error| error.pointer("/path/0").and_then(Value::as_str) == Some(alias.as_str()));
            let node = self.data.get(&alias).filter(|node| node.is_object());
            let decoded = match node {
                Some(node) if is_requested_pull_request(node, link) => decode(node, error.is_some()),
                Some(_) => Err(HostErrorKind::OtherPullRequest),
                None => Err(error.map_or(HostErrorKind::NotFound, |error| error_kind(self.client, error))),
            };
            (link.clone(), decoded.map_err(|kind| self.client.error(kind)))
        };
        links.iter().enumerate().map(result).collect()
    }
}

/// Whether the node is the requested pull request, and not one of another repository.
fn is_requested_pull_request(node: &Value, link: &PullRequestLink) -> bool {
    let reported = json::str_field(node, "url").and_then(PullRequestLink::parse);
    reported.is_some_and(|reported| {
        reported.number == link.number
            && json::u64_field(node, "number") == Some(link.number)
            && reported.host == link.host
            && reported.repository.eq_ignore_ascii_case(&link.repository)
    })
}

fn error_kind(client: &HostClient, error: &Value) -> HostErrorKind {
    let message = excerpt::excerpt(json::str_field(error, "message").unwrap_or_default().as_bytes(), &client.0.token);
    match json::str_field(error, "type") {
        Some("RATE_LIMITED" | "RATE_LIMIT") => HostErrorKind::Limited,
        Some("NOT_FOUND") => HostErrorKind::NotFound,
        Some("FORBIDDEN" | "INSUFFICIENT_SCOPES") => HostErrorKind::Forbidden(message),
        _ => HostErrorKind::Unreadable(message),
    }
}

fn parse_pull_request(node: &Value, now: Time) -> PullRequest {
    let state = match json::str_field(node, "state") {
        Some("MERGED") => PullRequestState::Merged,
        Some("CLOSED") => PullRequestState::Closed,
        _ if json::bool_field(node, "merged") => PullRequestState::Merged,
        _ if json::bool_field(node, "isInMergeQueue") => PullRequestState::Queued,
        _ if json::bool_field(node, "isDraft") => PullRequestState::Draft,
        _ => PullRequestState::Open,
    };
    PullRequest {
        title: json::display_text_field(node, "title"),
        state,
        checks: Checks::default(),
        review: match json::str_field(node, "reviewDecision") {
            Some("APPROVED") => Some(ReviewDecision::Approved),
            Some("CHANGES_REQUESTED") => Some(ReviewDecision::ChangesRequested),
            Some("REVIEW_REQUIRED") => Some(ReviewDecision::Required),
            _ => Some(ReviewDecision::None),
        },
        // UNKNOWN means that GitHub is still checking whether there is a conflict.
        conflict: match json::str_field(node, "mergeable") {
            Some("MERGEABLE") => Some(false),
            Some("CONFLICTING") => Some(true),
            _ => None,
        },
        behind: json::str_field(node, "mergeStateStatus") == Some("BEHIND"),
        head: json::display_text_field(node, "headRefOid"),
        branch: json::display_text_field(node, "headRefName"),
        additions: json::u64_field(node, "additions"),
        deletions: json::u64_field(node, "deletions"),
        files: json::u64_field(node, "changedFiles"),
        merged_at: json::time_field(node, "mergedAt"),
        as_of: now,
        checks_as_of: None,
        changed_at: now,
    }
}

/// The result of a check.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CheckConclusion {
    Passed,
    Failed,
    Pending,
}

fn parse_checks(commit: &Value) -> Checks {
    let Some(rollup) = commit.get("statusCheckRollup") else { return Checks::default() };
    // Every installed app queues a check suite, even if the app never runs a check. So only a suite that waits for an
    // approval shows that checks will follow.
    let awaits_approval = json::list_at(commit, "/checkSuites/nodes").iter().any(|suite| {
        json::str_field(suite, "conclusion") == Some("ACTION_REQUIRED")
            || json::str_field(suite, "status") == Some("WAITING")
    });
    if rollup.is_null() {
        let state = if awaits_approval { ChecksState::Pending } else { ChecksState::None };
        return Checks { state, ..Checks::default() };
    }
    let contexts = json::list_at(rollup, "/contexts/nodes");
    let results: Vec<CheckConclusion> = contexts.iter().map(parse_conclusion).collect();
    let count = |wanted| results.iter().filter(|result| **result == wanted).count();
    let total = rollup.pointer("/contexts/totalCount").and_then(Value::as_u64);
    let state = match json::str_field(rollup, "state") {
        _ if count(CheckConclusion::Failed) > 0 => ChecksState::Failing,
        Some("FAILURE" | "ERROR") => ChecksState::Failing,
        _ if count(CheckConclusion::Pending) > 0 || awaits_approval => ChecksState::Pending,
        Some("SUCCESS") => ChecksState::Passing,
        Some("PENDING" | "EXPECTED") => ChecksState::Pending,
        _ => return Checks::default(),
    };
    let read = u32::try_from(results.len()).unwrap_or(u32::MAX);
    let total = total.and_then(|total| u32::try_from(total).ok()).unwrap_or(read);
    // GitHub lists a limited number of checks. If the state is `SUCCESS`, the unlisted checks have passed, too.
    let unlisted = if state == ChecksState::Passing { total.saturating_sub(read) } else { 0 };
    let failed = contexts.iter().zip(&results).filter(|(_, result)| **result == CheckConclusion::Failed);
    Checks {
        state,
        passed: u32::try_from(count(CheckConclusion::Passed)).unwrap_or(u32::MAX).saturating_add(unlisted),
        total,
        failed: failed
            .take(Checks::MAX_FAILED_CHECKS)
            .map(|(context, _)| {
                let (name, url) = parse_check_name_and_url(context);
                FailedCheck { name, url }
            })
            .collect(),
    }
}

fn parse_conclusion(context: &Value) -> CheckConclusion {
    match json::str_field(context, "state") {
        Some("SUCCESS") => return CheckConclusion::Passed,
        Some("FAILURE" | "ERROR") => return CheckConclusion::Failed,
        Some(_) => return CheckConclusion::Pending,
        None => {}
    }
    match (json::str_field(context, "status"), json::str_field(context, "conclusion")) {
        (Some("COMPLETED"), Some("SUCCESS" | "NEUTRAL" | "SKIPPED")) => CheckConclusion::Passed,
        (Some("COMPLETED"), Some("FAILURE" | "CANCELLED" | "TIMED_OUT" | "ACTION_REQUIRED")) => CheckConclusion::Failed,
        _ => CheckConclusion::Pending,
    }
}

/// Returns the passed and the pending checks of the head commit. Returns `None` if there are no checks, or if the token
/// can't read them.
pub(super) fn passed_and_pending_checks(node: &Value) -> Option<PassedAndPendingChecks> {
    let commit = node.pointer("/commits/nodes/0/commit")?;
    let rollup = commit.get("statusCheckRollup").filter(|rollup| !rollup.is_null())?;
    let mut checks =
        PassedAndPendingChecks { head: json::display_text_field(commit, "oid"), ..PassedAndPendingChecks::default() };
    for context in json::list_at(rollup, "/contexts/nodes") {
        let (name, url) = parse_check_name_and_url(context);
        match parse_conclusion(context) {
            CheckConclusion::Passed => checks.passed.push(name),
            CheckConclusion::Pending => checks.pending.push(PendingCheck { name, url }),
            CheckConclusion::Failed => {}
        }
    }
    Some(checks)
}

fn parse_check_name_and_url(context: &Value) -> (CleanText, Option<CleanText>) {
    let name =
        ["name", "context"].into_iter().find_map(|field| json::str_field(context, field)).unwrap_or("unnamed check");
    let url = ["detailsUrl", "targetUrl"].into_iter().find_map(|field| json::str_field(context, field));
    (CleanText::title(name, 100), url.map(CleanText::line))
}
