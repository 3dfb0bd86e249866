//! Sends actions on pull requests: reviews, merging, closing. Each is sent once and never repeated.

use super::diff::github_url;
use super::error::{HostError, HostErrorKind};
use super::{HostAnswer, HostClient, HostRequest, MAX_STATE_MIB, github, gitlab, json};
use crate::model::pull_request::{HostKind, PullRequestLink};
use crate::model::pull_request_action::{ActionOutcome, MergeMethod, PullRequestAction};
use crate::model::text::CleanText;
use reqwest::{Method, Url};
use serde_json::{Value, json};

const NODE_FRAGMENT: &str = "fragment Part on PullRequest { number url id }";
const READY_MUTATION: &str = "mutation($id: ID!) { \
    markPullRequestReadyForReview(input: { pullRequestId: $id }) { pullRequest { isDraft } } }";
/// How GitLab marks a draft: at the start of its title.
const DRAFT_PREFIXES: [&str; 4] = ["Draft:", "[Draft]", "(Draft)", "WIP:"];

impl HostClient {
    /// Sends an action on a pull request. Reviews and merging apply to this head commit.
    pub async fn act(&self, link: &PullRequestLink, head: &CleanText, action: &PullRequestAction) -> HostAnswer<()> {
        let request = match self.0.kind {
            HostKind::GitHub => self.github_action(link, head, action).await,
            HostKind::GitLab => self.gitlab_action(link, head, action).await,
        };
        match request {
            Ok(request) => {
                let is_graphql = request.url.as_ref().is_some_and(|url| url.as_str() == self.0.graphql.as_str());
                let answer = self.send(request, MAX_STATE_MIB).await;
                // GraphQL answers 200 to a mutation that it refuses.
                answer.map(|body| if is_graphql { self.check_mutation(&body) } else { Ok(()) })
            }
            Err(error) => HostAnswer { result: Err(error), budget: super::RequestBudget::default() },
        }
    }

    async fn github_action(
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
            PullRequestAction::Merge(merge_method) => {
                (Method::PUT, "/merge", json!({ "sha": head.as_str(), "merge_method": merge_method.name() }))
            }
            PullRequestAction::Close => (Method::PATCH, "", json!({ "state": "closed" })),
            PullRequestAction::MarkReady => {
                let id = self.node_id(link).await?;
                return Ok(self.graphql_request(json!({ "query": READY_MUTATION, "variables": { "id": id } })));
            }
        };
        Ok(HostRequest::with_body(method, github_url(&self.0.rest, link, path), &body))
    }

    /// Returns the id of a pull request on GitHub, which mutations need.
    async fn node_id(&self, link: &PullRequestLink) -> Result<String, HostError> {
        let links = std::slice::from_ref(link);
        let request = self.graphql_request(github::query(NODE_FRAGMENT, links));
        let body = self.send(request, MAX_STATE_MIB).await.result?;
        let found = github::decode_parts(self, &body, links, |node, _| {
            json::text(node, "id").map(str::to_owned).ok_or(HostErrorKind::NotFound)
        })?;
        found.into_iter().next().map_or_else(|| Err(self.error(HostErrorKind::NotFound)), |(_, id)| id)
    }

    /// Returns an error if the answer to a mutation contains one.
    fn check_mutation(&self, body: &[u8]) -> Result<(), HostError> {
        let answer: Value = serde_json::from_slice(body).unwrap_or_default();
        match json::list(&answer, "/errors").first() {
            Some(error) => {
                let text = CleanText::title(json::text(error, "message").unwrap_or("refused"), 200);
                let mut text = text;
                self.redactor().clean(&mut text);
                Err(self.error(HostErrorKind::Failed { status: 422, text }))
            }
            None => Ok(()),
        }
    }

    async fn gitlab_action(
        &self,
        link: &PullRequestLink,
        head: &CleanText,
        action: &PullRequestAction,
    ) -> Result<HostRequest, HostError> {
        let url = |path: &str| {
            let url = gitlab::merge_request_url(&self.0.rest, link)?;
            Url::parse(&format!("{url}{path}")).ok()
        };
        let unsupported = |what: &str| {
            let text = CleanText::line(&format!("GitLab has no operation to {what}"));
            Err(self.error(HostErrorKind::Unsupported(text)))
        };
        let (method, path, body) = match action {
            PullRequestAction::Approve => (Method::POST, "/approve", json!({ "sha": head.as_str() })),
            PullRequestAction::Comment(text) => (Method::POST, "/notes", json!({ "body": text })),
            PullRequestAction::Merge(MergeMethod::Rebase) => return unsupported("merge by rebasing"),
            PullRequestAction::Merge(method) => {
                let squash = *method == MergeMethod::Squash;
                (Method::PUT, "/merge", json!({ "sha": head.as_str(), "squash": squash }))
            }
            PullRequestAction::Close => (Method::PUT, "", json!({ "state_event": "close" })),
            PullRequestAction::RequestChanges(_) => return unsupported("request changes"),
            PullRequestAction::MarkReady => {
                let answer = self.send(HostRequest { url: url(""), ..HostRequest::empty() }, MAX_STATE_MIB).await;
                let node: Value = serde_json::from_slice(&answer.result?).unwrap_or_default();
                let title = json::text(&node, "title").unwrap_or_default();
                let ready = DRAFT_PREFIXES.iter().find_map(|prefix| title.strip_prefix(prefix)).unwrap_or(title);
                (Method::PUT, "", json!({ "title": ready.trim() }))
            }
        };
        Ok(HostRequest::with_body(method, url(path), &body))
    }
}

impl HostError {
    /// Returns what became of an action whose request failed in this way.
    pub fn outcome(&self) -> ActionOutcome {
        let why = CleanText::line(&self.to_string());
        match &self.kind {
            HostErrorKind::Failed { status: 409, .. } => ActionOutcome::Moved,
            HostErrorKind::Failed { status: 400..=499, .. } => ActionOutcome::NotDone(why),
            HostErrorKind::InvalidAddress
            | HostErrorKind::NotReached(_)
            | HostErrorKind::Unauthorized
            | HostErrorKind::Forbidden(_)
            | HostErrorKind::NotFound
            | HostErrorKind::Limited
            | HostErrorKind::Unsupported(_)
            | HostErrorKind::OtherPullRequest => ActionOutcome::NotDone(why),
            HostErrorKind::TimedOut(_)
            | HostErrorKind::Lost(_)
            | HostErrorKind::Failed { .. }
            | HostErrorKind::Unreadable(_)
            | HostErrorKind::TooLarge { .. } => ActionOutcome::Unconfirmed(why),
        }
    }
}
