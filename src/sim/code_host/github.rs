//! The simulated GitHub: the part of its GraphQL and REST APIs that docdeck uses. As strict as GitHub.

use super::diffs;
use super::host_fault::{HostFault, HostOperation};
use super::host_world::{HostReply, HostWorld};
use super::pull_request::{
    CheckRunState, HostCheck, HostPullRequest, HostPullRequestState, HostReviewEntry, ReviewEntryKind, UserActions,
};
use super::rate_limit::{HostCost, RateLimit, query_points};

use crate::model::pull_request::HostKind;
use crate::model::time_format::json_time;
use crate::sim::jobs::pull_request_url;
use crate::sim::reply::Reply;
use axum::http::{Method, StatusCode, header};
use serde_json::{Map, Value, json};

/// A REST request that acts on a pull request.
pub(in crate::sim) struct ActionRequest<'a> {
    pub(in crate::sim) method: &'a Method,
    /// The rest of the path after the number: `reviews` or `merge`.
    pub(in crate::sim) path: &'a str,
    pub(in crate::sim) body: &'a [u8],
}

/// Returns GraphQL's name for a review; `None` for comments.
fn review_state(kind: ReviewEntryKind) -> Option<&'static str> {
    match kind {
        ReviewEntryKind::Approval => Some("APPROVED"),
        ReviewEntryKind::ChangeRequest => Some("CHANGES_REQUESTED"),
        ReviewEntryKind::CommentReview => Some("COMMENTED"),
        ReviewEntryKind::Comment => None,
    }
}

/// Returns the GraphQL node of an author. The author `mintlify` is a bot, all others are users.
fn author(login: &str) -> Value {
    json!({ "__typename": if login == "mintlify" { "Bot" } else { "User" }, "login": login })
}

impl HostPullRequest {
    fn state_node(&self) -> Value {
        let [additions, deletions, files] = diffs::count_lines_and_files(&self.files);
        let state = match self.state {
            HostPullRequestState::Open => "OPEN",
            HostPullRequestState::Closed => "CLOSED",
            HostPullRequestState::Merged(_) => "MERGED",
        };
        let mergeable = match self.has_conflicts {
            Some(true) => "CONFLICTING",
            Some(false) => "MERGEABLE",
            None => "UNKNOWN",
        };
        json!({
            "number": self.number, "url": self.url,
            "title": self.title, "state": state,
            "isDraft": self.is_draft, "merged": self.merged_at().is_some(), "mergedAt": self.merged_at().map(json_time),
            "headRefOid": self.head_commit, "headRefName": self.branch, "additions": additions, "deletions": deletions,
            "changedFiles": files, "mergeable": mergeable, "mergeStateStatus": self.merge_state(),
            "reviewDecision": self.decision().and_then(review_state), "isInMergeQueue": self.is_in_merge_queue(),
        })
    }

    /// Returns GitHub's field `mergeStateStatus`: why the pull request can't be merged, or that it can.
    fn merge_state(&self) -> &'static str {
        match (self.state, self.has_conflicts) {
            (HostPullRequestState::Open, Some(true)) => "DIRTY",
            (HostPullRequestState::Open, Some(false)) if self.is_draft => "DRAFT",
            (HostPullRequestState::Open, Some(false)) if self.is_behind() => "BEHIND",
            (HostPullRequestState::Open, Some(false))
                if self.checks.iter().any(|check| check.state != CheckRunState::Passed) =>
            {
                "UNSTABLE"
            }
            (HostPullRequestState::Open, Some(false)) => "CLEAN",
            _ => "UNKNOWN",
        }
    }

    fn id_node(&self) -> Value {
        json!({ "number": self.number, "url": self.url, "id": format!("PR_{}", self.number) })
    }

    fn checks_node(&self) -> Value {
        let state = match (self.has_check(CheckRunState::Failed), self.has_check(CheckRunState::Running)) {
            (true, _) => "FAILURE",
            (_, true) => "PENDING",
            _ => "SUCCESS",
        };
        let node = |check: &HostCheck| {
            let (status, conclusion) = match check.state {
                CheckRunState::Running => ("IN_PROGRESS", None),
                CheckRunState::Passed => ("COMPLETED", Some("SUCCESS")),
                CheckRunState::Failed => ("COMPLETED", Some("FAILURE")),
            };
            json!({ "__typename": "CheckRun", "name": check.name, "status": status, "conclusion": conclusion,
                    "detailsUrl": format!("{}/checks", self.url) })
        };
        let contexts: Vec<Value> = self.checks.iter().map(node).collect();
        json!({
            "number": self.number, "url": self.url, "headRefOid": self.head_commit,
            "commits": { "nodes": [{ "commit": {
                "oid": self.head_commit,
                "statusCheckRollup": { "state": state, "contexts": { "totalCount": contexts.len(), "nodes": contexts } },
                "checkSuites": { "nodes": [] },
            } }] },
        })
    }

    fn details_node(&self) -> Value {
        let review = |entry: &HostReviewEntry| {
            let state = review_state(entry.kind)?;
            Some(json!({ "author": author(entry.author), "state": state, "body": entry.text,
                         "submittedAt": json_time(entry.at) }))
        };
        let comment = |entry: &HostReviewEntry| json!({ "author": author(entry.author), "body": entry.text, "createdAt": json_time(entry.at) });
        let reviews: Vec<Value> = self.entries.iter().filter_map(review).collect();
        let comments = self.entries.iter().filter(|entry| entry.kind == ReviewEntryKind::Comment);
        let comments: Vec<Value> = comments.map(comment).collect();
        let commit = json!({ "commit": {
            "abbreviatedOid": self.head_commit.get(..7), "messageHeadline": self.title,
            "committedDate": json_time(self.pushed_at),
        } });
        json!({
            "number": self.number, "url": self.url, "baseRefName": "main",
            "author": { "login": "mintlify" }, "reviews": { "nodes": reviews }, "comments": { "nodes": comments },
            "commits": { "totalCount": 1, "nodes": [commit] }, "files": { "nodes": diffs::file_nodes(&self.files) },
            "baseRepository": { "mergeCommitAllowed": true, "squashMergeAllowed": true, "rebaseMergeAllowed": false,
                                "viewerDefaultMergeMethod": "SQUASH" },
        })
    }

    /// Returns the address of the pull request in the REST API, followed by `path`.
    fn rest_url(&self, path: &str) -> String {
        let rest =
            self.url.replace("https://github.com/", "https://api.github.com/repos/").replace("/pull/", "/pulls/");
        format!("{rest}{path}")
    }

    fn preview_node(&self) -> Value {
        let deployment = |url: String| {
            let status = json!({ "state": "SUCCESS", "environmentUrl": url });
            json!({ "environment": "staging", "latestStatus": status })
        };
        let deployments: Vec<Value> = self.preview_url().map(deployment).into_iter().collect();
        json!({
            "number": self.number, "url": self.url,
            "commits": { "nodes": [{ "commit": { "deployments": { "nodes": deployments } } }] },
        })
    }
}

/// Returns what a GraphQL request is for, and what it costs.
pub(in crate::sim) fn classify_graphql_request(body: &[u8]) -> (HostOperation, HostCost) {
    let request: Value = serde_json::from_slice(body).unwrap_or_default();
    let query = request.get("query").and_then(Value::as_str).unwrap_or_default();
    let operation = match () {
        () if query.starts_with("mutation") => HostOperation::Edit,
        () if is_checks_query(query) => HostOperation::Checks,
        () if is_details_query(query) || is_preview_query(query) => HostOperation::Details,
        () => HostOperation::State,
    };
    (operation, HostCost::GraphQl(query_points(query)))
}

fn is_checks_query(query: &str) -> bool {
    query.contains("statusCheckRollup")
}

fn is_details_query(query: &str) -> bool {
    query.contains("reviews(")
}

fn is_preview_query(query: &str) -> bool {
    query.contains("deployments(")
}

/// Returns the response if GitHub refuses the request because of a fault, or because the limit of the token is reached;
/// otherwise `None`.
pub(super) fn refusal(world: &HostWorld<'_>) -> Option<Reply> {
    let fault_reply = world.fault.and_then(fault_refusal);
    fault_reply.or_else(|| world.rate_limit.filter(|limit| limit.is_exceeded).map(|limit| limit_exceeded_reply(&limit)))
}

/// Returns the response to a request if nothing is left of the limit.
fn limit_exceeded_reply(limit: &RateLimit) -> Reply {
    let text = "API rate limit exceeded for user ID 1.";
    match limit.is_graphql() {
        true => Reply::json(StatusCode::OK, &json!({ "errors": [{ "type": "RATE_LIMITED", "message": text }] })),
        false => error_reply(StatusCode::FORBIDDEN, text),
    }
}

fn fault_refusal(fault: HostFault) -> Option<Reply> {
    match fault {
        HostFault::ExpiredToken => Some(error_reply(StatusCode::UNAUTHORIZED, "Bad credentials")),
        HostFault::BadGateway => Some(error_reply(StatusCode::BAD_GATEWAY, "Something went wrong")),
        HostFault::LimitInStatus => {
            let limited = error_reply(StatusCode::FORBIDDEN, "You have exceeded a secondary rate limit");
            Some(Reply { headers: vec![(header::RETRY_AFTER, "60".to_owned())], ..limited })
        }
        HostFault::SecondaryLimit => Some(error_reply(
            StatusCode::FORBIDDEN,
            "You have exceeded a secondary rate limit. Please wait a few minutes",
        )),
        _ => None,
    }
}

impl HostWorld<'_> {
    /// Responds to a GraphQL request. Does not parse GraphQL: recognizes the queries and mutations of docdeck by parts
    /// of their text.
    pub(in crate::sim) fn graphql_reply(&self, body: &[u8]) -> HostReply {
        let Ok(request) = serde_json::from_slice::<Value>(body) else {
            return (error_reply(StatusCode::BAD_REQUEST, "Problems parsing JSON"), None);
        };
        if self.fault == Some(HostFault::LimitInBody) {
            let error = json!({ "type": "RATE_LIMITED", "message": "API rate limit exceeded" });
            return (Reply::json(StatusCode::OK, &json!({ "errors": [error] })), None);
        }
        if classify_graphql_request(body).0 == HostOperation::Edit {
            return self.mutation_reply(&request);
        }
        (self.query_reply(&request), None)
    }

    fn query_reply(&self, request: &Value) -> Reply {
        let query = request.get("query").and_then(Value::as_str).unwrap_or_default();
        let is_id_query = query.contains("number url id }");
        if query == "query { rateLimit { cost remaining resetAt } }" {
            return Reply::json(StatusCode::OK, &json!({ "data": { "rateLimit": self.rate_limit_node() } }));
        }
        if !query.contains("fragment Part on PullRequest") || !query.contains("rateLimit") {
            let error = json!({ "message": "Expected the fragment Part on PullRequest" });
            return Reply::json(StatusCode::OK, &json!({ "errors": [error] }));
        }
        let (mut data, mut errors) = (Map::new(), Vec::new());
        let mut n = 0;
        while let Some(url) = request.pointer(&format!("/variables/u{n}")).and_then(Value::as_str) {
            let alias = format!("p{n}");
            let missing = self.fault == Some(HostFault::HalfMissing) && n % 2 == 1;
            match self.find(url).filter(|_| !missing) {
                Some(found) => {
                    let mut node = match () {
                        () if is_checks_query(query) => found.checks_node(),
                        () if is_details_query(query) => found.details_node(),
                        () if is_preview_query(query) => found.preview_node(),
                        () if is_id_query => found.id_node(),
                        () => found.state_node(),
                    };
                    let may_be_forbidden = is_checks_query(query) || is_preview_query(query);
                    self.damage_node(&mut node, may_be_forbidden, &alias, &mut errors);
                    data.insert(alias, node);
                }
                None => {
                    errors.push(json!({ "type": "NOT_FOUND", "path": [alias],
                                        "message": "Could not resolve to a node" }));
                    data.insert(alias, Value::Null);
                }
            }
            n += 1;
        }
        data.insert("rateLimit".to_owned(), self.rate_limit_node());
        let response =
            if errors.is_empty() { json!({ "data": data }) } else { json!({ "data": data, "errors": errors }) };
        Reply::json(StatusCode::OK, &response)
    }

    fn rate_limit_node(&self) -> Value {
        self.rate_limit.map_or(
            Value::Null,
            |limit| json!({ "cost": limit.cost, "remaining": limit.remaining, "resetAt": json_time(limit.resets_at) }),
        )
    }

    fn damage_node(&self, node: &mut Value, is_checks_query: bool, alias: &str, errors: &mut Vec<Value>) {
        let Value::Object(fields) = node else { return };
        match self.fault {
            Some(HostFault::ForbiddenChecks) if is_checks_query => {
                let Some(Value::Object(commit)) = fields.get_mut("commits").and_then(first_commit) else { return };
                for field in ["statusCheckRollup", "checkSuites", "deployments"] {
                    if let Some(value) = commit.get_mut(field) {
                        *value = Value::Null;
                        errors.push(
                            json!({ "type": "FORBIDDEN", "path": [alias, "commits", "nodes", 0, "commit", field],
                                            "message": "Resource not accessible by personal access token" }),
                        );
                    }
                }
            }
            Some(HostFault::OtherRepository) => {
                fields.insert("url".to_owned(), "https://github.com/other/secrets/pull/1".into());
            }
            _ => {}
        }
    }

    /// Responds to a REST request for the pull request with this link: for its diff, or for a page of its files.
    pub(in crate::sim) fn changes_reply(&self, url: &str, page: Option<(usize, usize)>) -> Reply {
        let Some(found) = self.find(url) else { return error_reply(StatusCode::NOT_FOUND, "Not Found") };
        match page {
            Some((page, per_page)) => Reply::json(StatusCode::OK, &diffs::paginate_files(&found.files, page, per_page)),
            None if found.files.len() > diffs::MAX_DIFF_FILES => {
                error_reply(StatusCode::NOT_ACCEPTABLE, "Sorry, the diff exceeded the maximum number of files (300).")
            }
            None => {
                Reply { status: StatusCode::OK, body: diffs::unified_diff(&found.files).into(), headers: Vec::new() }
            }
        }
    }

    /// Responds to a request that acts on the pull request with this link.
    pub(in crate::sim) fn perform_action(&self, url: &str, request: &ActionRequest<'_>) -> HostReply {
        let Some(found) = self.find(url) else { return (error_reply(StatusCode::NOT_FOUND, "Not Found"), None) };
        match self.carry_out(&found, request) {
            Ok((reply, actions)) => (reply, Some((found.number, actions))),
            Err((status, text)) => (error_reply(status, text), None),
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
        let mut actions = self.actions_on(found);
        let reply = match (request.method.as_str(), request.path) {
            ("POST", "reviews") if allows(&["commit_id", "event", "body"]) => {
                let kind = match text("event") {
                    Some("APPROVE") => ReviewEntryKind::Approval,
                    Some("REQUEST_CHANGES") => ReviewEntryKind::ChangeRequest,
                    Some("COMMENT") => ReviewEntryKind::CommentReview,
                    _ => return Err(invalid),
                };
                let written = text("body").unwrap_or_default();
                // Only an approval needs no text.
                if text("commit_id") != Some(&found.head_commit)
                    || (kind != ReviewEntryKind::Approval && written.is_empty())
                {
                    return Err(invalid);
                }
                actions.add_entry(kind, written, self.now);
                let id = actions.entries.len();
                let (api, html) = (found.rest_url(""), format!("{}#pullrequestreview-{id}", found.url));
                json!({
                    "id": id, "node_id": format!("PRR_{id}"), "user": null, "body": written,
                    "state": review_state(kind), "commit_id": found.head_commit, "submitted_at": json_time(self.now),
                    "html_url": html, "pull_request_url": api, "author_association": "MEMBER",
                    "_links": { "html": { "href": html }, "pull_request": { "href": api } },
                })
            }
            ("PUT", "merge") if allows(&["sha", "merge_method"]) => {
                let is_allowed = matches!(text("merge_method"), Some("merge" | "squash"));
                let is_blocked = found.is_behind() || found.is_in_merge_queue();
                let is_in_order = !found.is_draft && found.has_conflicts == Some(false);
                let is_mergeable = found.state == HostPullRequestState::Open && is_in_order && !is_blocked;
                if !is_mergeable || !is_allowed {
                    return Err((StatusCode::METHOD_NOT_ALLOWED, "Pull Request is not mergeable"));
                }
                let head_changed = (StatusCode::CONFLICT, "Head branch was modified. Review and try the merge again.");
                if text("sha") != Some(&found.head_commit) {
                    return Err(head_changed);
                }
                if self.fault == Some(HostFault::MovedBeforeMerge) {
                    actions.push_count += 1;
                    return Ok((error_reply(head_changed.0, head_changed.1), actions));
                }
                actions.merged_at = Some(self.now);
                json!({ "sha": found.head_commit, "merged": true, "message": "Pull Request successfully merged" })
            }
            _ => return Err(invalid),
        };
        Ok((Reply::json(StatusCode::OK, &reply), actions))
    }

    /// Responds to a mutation, which marks a draft as ready for review or closes a pull request.
    fn mutation_reply(&self, request: &Value) -> HostReply {
        let text = |pointer: &str| request.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
        let is_closing = text("/query").contains("closePullRequest(");
        let number = text("/variables/id").strip_prefix("PR_").and_then(|number| number.parse().ok());
        let found = number.and_then(|number| self.find(&pull_request_url(HostKind::GitHub, number)));
        let can_change = |found: &HostPullRequest| {
            if is_closing { found.state == HostPullRequestState::Open } else { found.is_draft }
        };
        match found.filter(can_change) {
            Some(found) if is_closing => {
                let actions = UserActions { closed_at: Some(self.now), ..self.actions_on(&found) };
                let data = json!({ "closePullRequest": { "pullRequest": { "state": "CLOSED" } } });
                (Reply::json(StatusCode::OK, &json!({ "data": data })), Some((found.number, actions)))
            }
            Some(found) => {
                let actions = UserActions { is_marked_ready: true, ..self.actions_on(&found) };
                let data = json!({ "markPullRequestReadyForReview": { "pullRequest": { "isDraft": false } } });
                (Reply::json(StatusCode::OK, &json!({ "data": data })), Some((found.number, actions)))
            }
            None => {
                let error = json!({ "type": "UNPROCESSABLE", "message": "Pull request can't be changed in this way" });
                (Reply::json(StatusCode::OK, &json!({ "data": null, "errors": [error] })), None)
            }
        }
    }
}

/// Returns the first commit of a list of commits.
fn first_commit(commits: &mut Value) -> Option<&mut Value> {
    commits.pointer_mut("/nodes/0/commit")
}

/// Returns a response in the form of GitHub's errors.
fn error_reply(status: StatusCode, text: &str) -> Reply {
    let documentation = "https://docs.github.com/rest";
    Reply::json(status, &json!({ "message": text, "documentation_url": documentation, "status": status.as_str() }))
}
