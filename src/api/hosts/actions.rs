//! Sends actions on pull requests: reviews, merging, closing. Each is sent once and never repeated.

use super::diff::github_url;
use super::error::{HostError, HostErrorKind};
use super::{HostClient, HostRequest, HostResponse, MAX_RESPONSE_MIB, github, gitlab, json};
use crate::api::transport::ConnectionReuse;
use crate::model::pull_request::{HostKind, PullRequestLink};
use crate::model::pull_request_action::{ActionOutcome, MergeMethod, PullRequestAction};
use crate::model::text::CleanText;
use reqwest::{Method, Url};
use serde_json::{Value, json};

const NODE_ID_FRAGMENT: &str = "fragment Part on PullRequest { number url id }";
const READY_MUTATION: &str = "mutation($id: ID!) { \
    markPullRequestReadyForReview(input: { pullRequestId: $id }) { pullRequest { isDraft } } }";
const CLOSE_MUTATION: &str =
    "mutation($id: ID!) { closePullRequest(input: { pullRequestId: $id }) { pullRequest { state } } }";
/// The prefixes of a title that mark a draft on GitLab, which ignores their case.
const DRAFT_PREFIXES: [&str; 4] = ["draft:", "[draft]", "(draft)", "wip:"];

impl HostClient {
    /// Sends an action on a pull request. The request contains the head commit `head` if the action is a merge, an
    /// approval, a request for changes, or a comment on GitHub. All other actions ignore `head`.
    pub async fn perform_action(
        &self,
        link: &PullRequestLink,
        head: &CleanText,
        action: &PullRequestAction,
    ) -> HostResponse<()> {
        let request = match self.0.kind {
            HostKind::GitHub => self.github_action_request(link, head, action).await,
            HostKind::GitLab => self.gitlab_action_request(link, head, action).await,
        };
        let request = match request {
            Ok(request) => request,
            Err(error) => return self.failure(HostErrorKind::NotSent(Box::new(error.kind))),
        };
        let is_graphql = request.url.as_ref().is_some_and(|url| url.as_str() == self.0.graphql_url.as_str());
        let request = HostRequest { reuse: ConnectionReuse::Never, ..request };
        let response = self.send(request, MAX_RESPONSE_MIB).await;
        match self.0.kind {
            // GitHub's GraphQL API responds with 200 even if it refuses a mutation.
            HostKind::GitHub if is_graphql => response.map(|body| self.check_mutation(&body)),
            HostKind::GitHub => response.map(|body| {
                let node = self.parse_json(&body).unwrap_or_default();
                if is_confirmed_by_github(action, &node) { Ok(()) } else { Err(self.unreadable(&body)) }
            }),
            HostKind::GitLab => self.check_gitlab_action(link, action, response),
        }
    }

    async fn github_action_request(
        &self,
        link: &PullRequestLink,
        head: &CleanText,
        action: &PullRequestAction,
    ) -> Result<HostRequest, HostError> {
        let review = |event: &str, text: &str| {
            let body = match text {
                "" => json!({ "commit_id": head.as_str(), "event": event }),
                text => json!({ "commit_id": head.as_str(), "event": event, "body": text }),
            };
            (Method::POST, "/reviews", body)
        };
        let (method, path, body) = match action {
            PullRequestAction::Approve => review("APPROVE", ""),
            PullRequestAction::RequestChanges(text) => review("REQUEST_CHANGES", text),
            PullRequestAction::Comment(text) => review("COMMENT", text),
            PullRequestAction::Merge(method) => {
                let method = method.unwrap_or(MergeMethod::Merge).name();
                (Method::PUT, "/merge", json!({ "sha": head.as_str(), "merge_method": method }))
            }
            PullRequestAction::MarkReady => return self.mutation_request(link, READY_MUTATION).await,
            PullRequestAction::Close => return self.mutation_request(link, CLOSE_MUTATION).await,
        };
        Ok(HostRequest::with_body(method, github_url(&self.0.rest_url, link, path), &body))
    }

    /// Returns the request for a mutation of a pull request. First requests the id of the pull request.
    async fn mutation_request(&self, link: &PullRequestLink, mutation: &str) -> Result<HostRequest, HostError> {
        let id = self.node_id(link).await?;
        Ok(self.graphql_request(json!({ "query": mutation, "variables": { "id": id } })))
    }

    /// Returns the id of a pull request on GitHub, which mutations need.
    async fn node_id(&self, link: &PullRequestLink) -> Result<String, HostError> {
        let links = std::slice::from_ref(link);
        let body = self.send_query(github::fragment_query(NODE_ID_FRAGMENT, links)).await.result?;
        let found = github::decode_nodes(self, &body, links, |node, _| {
            json::str_field(node, "id").map(str::to_owned).ok_or(HostErrorKind::NotFound)
        })?;
        found.into_iter().next().map_or_else(|| Err(self.error(HostErrorKind::NotFound)), |(_, id)| id)
    }

    /// Returns an error if the response to a mutation contains one, or doesn't confirm that the mutation was carried
    /// out.
    fn check_mutation(&self, body: &[u8]) -> Result<(), HostError> {
        let response = self.parse_json(body).unwrap_or_default();
        // The only field of `data` is named after the mutation. It is not null if GitHub carried out the mutation.
        let is_done =
            response.get("data").and_then(Value::as_object).is_some_and(|data| data.values().any(|v| !v.is_null()));
        let Some(error) = json::list_at(&response, "/errors").first() else {
            return if is_done { Ok(()) } else { Err(self.unreadable(body)) };
        };
        let text = CleanText::title(json::str_field(error, "message").unwrap_or("refused"), 200);
        Err(self.error(match json::str_field(error, "type") {
            Some("RATE_LIMITED" | "RATE_LIMIT") => HostErrorKind::Limited,
            Some(_) if !is_done => HostErrorKind::Failed { status: 422, text },
            // An error without a type is a failure of the host, such as a timeout: the mutation may have been carried
            // out.
            _ => HostErrorKind::Unreadable(text),
        }))
    }

    async fn gitlab_action_request(
        &self,
        link: &PullRequestLink,
        head: &CleanText,
        action: &PullRequestAction,
    ) -> Result<HostRequest, HostError> {
        let url = |path: &str| {
            let url = gitlab::merge_request_url(&self.0.rest_url, link)?;
            Url::parse(&format!("{url}{path}")).ok()
        };
        let unsupported = |what: &str| {
            let text = CleanText::line(&format!("GitLab has no operation to {what}"));
            Err(self.error(HostErrorKind::Unsupported(text)))
        };
        let (method, path, body) = match action {
            PullRequestAction::Approve => (Method::POST, "/approve", json!({ "sha": head.as_str() })),
            PullRequestAction::Comment(text) => (Method::POST, "/notes", json!({ "body": text })),
            PullRequestAction::Merge(Some(MergeMethod::Rebase)) => return unsupported("merge by rebasing"),
            // Without the field `squash`, the settings of the project decide whether the commits are squashed.
            PullRequestAction::Merge(None) => (Method::PUT, "/merge", json!({ "sha": head.as_str() })),
            PullRequestAction::Merge(Some(method)) => {
                let squash = *method == MergeMethod::Squash;
                (Method::PUT, "/merge", json!({ "sha": head.as_str(), "squash": squash }))
            }
            PullRequestAction::Close => (Method::PUT, "", json!({ "state_event": "close" })),
            PullRequestAction::RequestChanges(_) => return unsupported("request changes"),
            PullRequestAction::MarkReady => {
                let response =
                    self.send(HostRequest { url: url(""), ..HostRequest::get_without_url() }, MAX_RESPONSE_MIB).await;
                let node: Value = serde_json::from_slice(&response.result?).unwrap_or_default();
                if !gitlab::is_requested_merge_request(&node, link) {
                    return Err(self.error(HostErrorKind::OtherPullRequest));
                }
                let title = json::str_field(&node, "title").and_then(without_draft_prefix).ok_or_else(|| {
                    self.error(HostErrorKind::Unsupported(CleanText::line("the merge request is not a draft")))
                })?;
                (Method::PUT, "", json!({ "title": title }))
            }
        };
        Ok(HostRequest::with_body(method, url(path), &body))
    }

    /// Returns an error if the response to an action doesn't confirm that GitLab has performed it.
    fn check_gitlab_action(
        &self,
        link: &PullRequestLink,
        action: &PullRequestAction,
        response: HostResponse<Vec<u8>>,
    ) -> HostResponse<()> {
        let HostResponse { result, budget } = response;
        let result = match result {
            // GitLab also responds with 401 if the token is valid, but the user lacks the permission.
            Err(HostError { kind: HostErrorKind::Unauthorized, .. }) => Err(HostErrorKind::ActionRefused),
            Err(HostError { kind: HostErrorKind::Failed { status: 405, .. }, .. })
                if matches!(action, PullRequestAction::Merge(_)) =>
            {
                Err(HostErrorKind::MergeRefused)
            }
            Err(error) => Err(error.kind),
            Ok(body) => {
                // If GitLab ignores a change, it responds with 200 and the unchanged merge request.
                let node = self.parse_json(&body).unwrap_or_default();
                let is_ignored = match action {
                    PullRequestAction::Close => json::str_field(&node, "state").is_some_and(|state| state != "closed"),
                    PullRequestAction::MarkReady => json::bool_field(&node, "draft"),
                    _ => false,
                };
                match is_confirmed_by_gitlab(link, action, &node) {
                    true if is_ignored => Err(HostErrorKind::Unsupported(CleanText::line("the change was ignored"))),
                    true => Ok(()),
                    false => Err(self.unreadable(&body).kind),
                }
            }
        };
        HostResponse { result: result.map_err(|kind| self.error(kind)), budget }
    }
}

/// Whether a successful response of GitHub's REST API confirms this action. The status alone doesn't confirm it,
/// because a proxy may respond with 200 and a page of its own.
fn is_confirmed_by_github(action: &PullRequestAction, node: &Value) -> bool {
    match action {
        PullRequestAction::Merge(_) => json::bool_field(node, "merged"),
        _ => json::u64_field(node, "id").is_some(),
    }
}

/// Whether a successful response of GitLab confirms this action.
fn is_confirmed_by_gitlab(link: &PullRequestLink, action: &PullRequestAction, node: &Value) -> bool {
    match action {
        PullRequestAction::Approve => node.get("approved_by").is_some_and(Value::is_array),
        // A note has an id. If the comment consists of commands such as `/label`, GitLab runs them without creating a
        // note, and responds with `commands_changes`.
        PullRequestAction::Comment(_) => {
            json::u64_field(node, "id").is_some() || node.get("commands_changes").is_some_and(Value::is_object)
        }
        _ => gitlab::is_requested_merge_request(node, link),
    }
}

/// Returns the title without the prefixes of a draft; `None` if there are none.
fn without_draft_prefix(title: &str) -> Option<&str> {
    let mut rest = title.trim();
    while let Some(prefix) = DRAFT_PREFIXES
        .iter()
        .find(|prefix| rest.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix)))
    {
        rest = rest.get(prefix.len()..)?.trim_start();
    }
    (rest.len() < title.trim().len()).then_some(rest)
}

impl HostError {
    /// Returns the outcome of an action whose request failed with this error.
    pub fn outcome(&self) -> ActionOutcome {
        let why = CleanText::line(&self.to_string());
        let unconfirmed = |reason| ActionOutcome::Unconfirmed { reason, is_state_read: false };
        match &self.kind {
            HostErrorKind::Failed { status: 409, .. } => ActionOutcome::HeadChanged,
            // The action may have been carried out. 408 and 499: a proxy or the host gave up while the action was in
            // progress. 303: the action may be complete, with its result at another address.
            HostErrorKind::Failed { status: 303 | 408 | 499, .. } => unconfirmed(why),
            HostErrorKind::Failed { status: 300..=499, .. } => ActionOutcome::NotDone(why),
            HostErrorKind::InvalidAddress
            | HostErrorKind::NotReached(_)
            | HostErrorKind::NotSent(_)
            | HostErrorKind::Unauthorized
            | HostErrorKind::ActionRefused
            | HostErrorKind::MergeRefused
            | HostErrorKind::Forbidden(_)
            | HostErrorKind::NotFound
            | HostErrorKind::Limited
            | HostErrorKind::Unsupported(_)
            | HostErrorKind::OtherPullRequest => ActionOutcome::NotDone(why),
            HostErrorKind::TimedOut(_)
            | HostErrorKind::Lost(_)
            | HostErrorKind::Failed { .. }
            | HostErrorKind::Unreadable(_)
            | HostErrorKind::TooLarge { .. } => unconfirmed(why),
        }
    }
}
