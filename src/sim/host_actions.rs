//! What the user of the simulated code host did with its pull requests: reviews, comments, merging, closing. As strict as
//! GitHub's REST API.

use super::code_host::{HostFault, HostPullRequest, HostWorld, message};
use super::reply::Reply;
use crate::model::Time;
use crate::model::time_format::json_time;
use axum::http::{Method, StatusCode};
use serde_json::{Value, json};

/// What the user did with one pull request.
#[derive(Debug, Clone, Default)]
pub(super) struct UserActions {
    reviews: Vec<UserReview>,
    merged_at: Option<Time>,
    is_closed: bool,
    is_ready: bool,
}

#[derive(Debug, Clone)]
struct UserReview {
    /// As in GraphQL: `APPROVED`, `CHANGES_REQUESTED` or `COMMENTED`.
    state: &'static str,
    text: String,
    at: Time,
}

impl UserActions {
    /// Changes a pull request as the user did.
    pub(super) fn apply(&self, to: &mut HostPullRequest) {
        if let Some(at) = self.merged_at {
            (to.state, to.merged_at) = ("MERGED", Some(at));
        } else if self.is_closed {
            to.state = "CLOSED";
        }
        to.is_draft &= !self.is_ready;
        let decision = self.reviews.iter().rev().find(|review| review.state != "COMMENTED");
        to.review = decision.map(|review| review.state).or(to.review);
    }

    /// Returns the reviews as in a GraphQL answer.
    pub(super) fn review_nodes(&self) -> impl Iterator<Item = Value> {
        self.reviews.iter().map(|review| {
            json!({ "author": { "login": "you" }, "state": review.state, "body": review.text,
                    "submittedAt": json_time(review.at) })
        })
    }
}

/// A REST request that acts on a pull request.
pub(super) struct ActionRequest<'a> {
    pub(super) method: &'a Method,
    /// The rest of the path after the number: empty, `reviews` or `merge`.
    pub(super) path: &'a str,
    pub(super) body: &'a [u8],
}

impl HostWorld<'_> {
    /// Answers a request that acts on the pull request with this link. Also returns the number of the pull request and
    /// what the user has done with it afterwards, if the request is carried out.
    pub(super) fn act(&self, url: &str, request: &ActionRequest<'_>) -> (Reply, Option<(u32, UserActions)>) {
        if let Some(reply) = self.refusal() {
            return (reply, None);
        }
        let Some(found) = self.find(url) else { return (message(StatusCode::NOT_FOUND, "Not Found"), None) };
        match self.carry_out(&found, request) {
            Ok((reply, actions)) => (reply, Some((found.number, actions))),
            Err((status, text)) => (message(status, text), None),
        }
    }

    fn carry_out(
        &self,
        found: &HostPullRequest,
        request: &ActionRequest<'_>,
    ) -> Result<(Reply, UserActions), (StatusCode, &'static str)> {
        let invalid = (StatusCode::UNPROCESSABLE_ENTITY, "Validation Failed");
        let body: Value = serde_json::from_slice(request.body).map_err(|_| invalid)?;
        let fields = body.as_object().ok_or(invalid)?;
        let text = |name: &str| fields.get(name).and_then(Value::as_str);
        let allows = |names: &[&str]| fields.keys().all(|field| names.contains(&field.as_str()));
        let mut actions = self.actions.get(&found.number).cloned().unwrap_or_default();
        let reply = match (request.method.as_str(), request.path) {
            ("POST", "reviews") if allows(&["commit_id", "event", "body"]) => {
                let state = match text("event") {
                    Some("APPROVE") => "APPROVED",
                    Some("REQUEST_CHANGES") => "CHANGES_REQUESTED",
                    Some("COMMENT") => "COMMENTED",
                    _ => return Err(invalid),
                };
                let written = text("body").unwrap_or_default().to_owned();
                // Only an approval needs no text.
                if text("commit_id") != Some(&found.head) || (state != "APPROVED" && written.is_empty()) {
                    return Err(invalid);
                }
                actions.reviews.push(UserReview { state, text: written, at: self.now });
                json!({ "id": actions.reviews.len(), "state": state })
            }
            ("PUT", "merge") if allows(&["sha", "merge_method"]) => {
                let is_allowed = matches!(text("merge_method"), Some("merge" | "squash"));
                if found.state != "OPEN" || found.is_draft || found.mergeable != "MERGEABLE" || !is_allowed {
                    return Err((StatusCode::METHOD_NOT_ALLOWED, "Pull Request is not mergeable"));
                }
                if text("sha") != Some(&found.head) || self.fault == Some(HostFault::MovedBeforeMerge) {
                    let moved = "Head branch was modified. Review and try the merge again.";
                    return Err((StatusCode::CONFLICT, moved));
                }
                actions.merged_at = Some(self.now);
                json!({ "sha": found.head, "merged": true, "message": "Pull Request successfully merged" })
            }
            ("PATCH", "") if allows(&["state"]) && text("state") == Some("closed") && found.state == "OPEN" => {
                actions.is_closed = true;
                json!({ "number": found.number, "state": "closed" })
            }
            _ => return Err(invalid),
        };
        Ok((Reply::json(StatusCode::OK, &reply), actions))
    }

    /// Answers the mutation that marks a draft as ready for review. `id` is the id of a pull request.
    pub(super) fn mark_ready(&self, id: &str) -> (Reply, Option<(u32, UserActions)>) {
        let found =
            id.strip_prefix("PR_").and_then(|number| self.find(&super::jobs::pull_request_url(number.parse().ok()?)));
        match found.filter(|found| found.is_draft) {
            Some(found) => {
                let mut actions = self.actions.get(&found.number).cloned().unwrap_or_default();
                actions.is_ready = true;
                let data = json!({ "markPullRequestReadyForReview": { "pullRequest": { "isDraft": false } } });
                (Reply::json(StatusCode::OK, &json!({ "data": data })), Some((found.number, actions)))
            }
            None => {
                let error = json!({ "type": "UNPROCESSABLE", "message": "Pull request is not in draft state" });
                (Reply::json(StatusCode::OK, &json!({ "data": null, "errors": [error] })), None)
            }
        }
    }
}
