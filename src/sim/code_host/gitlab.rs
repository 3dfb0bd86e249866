//! The simulated GitLab: the part of its REST API that docdeck uses. As strict as GitLab. The project requires that
//! pipelines succeed. Merge requests whose number is a multiple of three also need an approval.

use super::diffs::ChangedFile;
use super::host_fault::{HostFault, HostOperation};
use super::host_world::{HostReply, HostWorld};
use super::pull_request::{
    CheckRunState, HostPullRequest, HostPullRequestState, HostReviewEntry, ReviewEntryKind, UserActions,
};

use crate::model::pull_request::HostKind;
use crate::model::time_format::json_time;
use crate::sim::jobs::repository_url;
use crate::sim::reply::Reply;
use axum::http::{HeaderName, Method, StatusCode, header};
use chrono::TimeDelta;
use serde_json::{Value, json};
use std::collections::HashMap;

/// The maximum number of requests per minute with a token.
const MAX_REQUESTS_PER_MINUTE: u64 = 2000;
/// The maximum number of entries on a page.
const MAX_PER_PAGE: usize = 100;
/// The maximum number of files on a page of a diff, even if the request asks for more.
const MAX_FILES_PER_PAGE: usize = 30;
/// The prefixes by which a title marks a draft, in any letter case.
const DRAFT_PREFIXES: [&str; 3] = ["draft:", "[draft]", "(draft)"];

type Error = (StatusCode, String);

/// A request for a merge request, or for a part of it.
#[derive(Debug)]
pub(in crate::sim) struct GitLabRequest<'a> {
    pub(in crate::sim) method: &'a Method,
    /// The path of the project, decoded.
    pub(in crate::sim) project: &'a str,
    pub(in crate::sim) iid: &'a str,
    /// The rest of the path, like `notes`; empty for the merge request itself.
    pub(in crate::sim) subpath: &'a str,
    pub(in crate::sim) query: &'a HashMap<String, String>,
    pub(in crate::sim) body: &'a [u8],
}

impl GitLabRequest<'_> {
    /// Returns what the request is for.
    pub(in crate::sim) fn operation(&self) -> HostOperation {
        match (self.method.as_str(), self.subpath) {
            ("GET", "") => HostOperation::State,
            ("GET", "diffs") => HostOperation::Diff,
            ("GET", _) => HostOperation::Details,
            (_, "merge") => HostOperation::Merge,
            (_, "") => HostOperation::Edit,
            _ => HostOperation::Review,
        }
    }

    /// Returns a page of a list with GitLab's paging headers.
    fn page_reply(&self, entries: &[Value], max_per_page: usize) -> Result<Reply, Error> {
        let number = |name: &str, default: usize| match self.query.get(name) {
            Some(text) => text.parse().ok().filter(|number| *number > 0).ok_or_else(|| bad_request(name, "is invalid")),
            None => Ok(default),
        };
        let (page, per_page) = (number("page", 1)?, number("per_page", 20)?.min(max_per_page));
        let pages = entries.len().div_ceil(per_page).max(1);
        let shown: Vec<&Value> = entries.iter().skip((page - 1).saturating_mul(per_page)).take(per_page).collect();
        let next = if page < pages { (page + 1).to_string() } else { String::new() };
        let headers = [
            ("x-page", page.to_string()),
            ("x-per-page", per_page.to_string()),
            ("x-next-page", next),
            ("x-total", entries.len().to_string()),
            ("x-total-pages", pages.to_string()),
        ];
        let headers = headers.map(|(name, value)| (HeaderName::from_static(name), value));
        Ok(Reply { headers: headers.to_vec(), ..Reply::json(StatusCode::OK, &shown) })
    }

    fn check_query(&self, allowed: &[&str]) -> Result<(), Error> {
        let unknown = self.query.keys().find(|name| !allowed.contains(&name.as_str()));
        unknown.map_or(Ok(()), |name| Err(bad_request(name, "is invalid")))
    }

    /// Returns the fields of the body, or an error if a field is not allowed.
    fn fields(&self, allowed: &[&str]) -> Result<serde_json::Map<String, Value>, Error> {
        let fields: serde_json::Map<String, Value> =
            serde_json::from_slice(self.body).map_err(|_| bad_request("body", "is invalid"))?;
        let unknown = fields.keys().find(|name| !allowed.contains(&name.as_str()));
        unknown.map_or(Ok(()), |name| Err(bad_request(name, "is invalid")))?;
        Ok(fields)
    }
}

impl HostPullRequest {
    /// Returns the title, with a prefix if the merge request is a draft.
    fn gitlab_title(&self) -> String {
        let prefix = match (self.is_draft, self.number % 3) {
            (false, _) => "",
            (true, 0) => "Draft: ",
            (true, 1) => "[Draft] ",
            (true, _) => "draft: ",
        };
        format!("{prefix}{}", self.title)
    }

    /// Returns GitLab's field `detailed_merge_status`: why the merge request can't be merged, or that it can.
    fn merge_status(&self) -> &'static str {
        match (self.state, self.has_conflicts) {
            (HostPullRequestState::Closed | HostPullRequestState::Merged(_), _) => "not_open",
            (HostPullRequestState::Open, None) => "checking",
            _ if self.is_draft => "draft_status",
            (HostPullRequestState::Open, Some(true)) => "conflict",
            _ if self.decision() == Some(ReviewEntryKind::ChangeRequest) => "requested_changes",
            _ if self.has_check(CheckRunState::Running) => "ci_still_running",
            _ if self.has_check(CheckRunState::Failed) => "ci_must_pass",
            _ if self.needs_approval() && self.approvals().next().is_none() => "not_approved",
            _ if self.is_behind() => "need_rebase",
            _ => "mergeable",
        }
    }

    fn needs_approval(&self) -> bool {
        self.number.is_multiple_of(3)
    }

    fn approvals(&self) -> impl Iterator<Item = &HostReviewEntry> {
        self.entries.iter().filter(|entry| entry.kind == ReviewEntryKind::Approval)
    }

    fn merge_request_json(&self, fault: Option<HostFault>) -> Value {
        let state = match self.state {
            HostPullRequestState::Open => "opened",
            HostPullRequestState::Closed => "closed",
            HostPullRequestState::Merged(_) => "merged",
        };
        let pipeline = match (self.has_check(CheckRunState::Running), self.has_check(CheckRunState::Failed)) {
            (true, _) => "running",
            (_, true) => "failed",
            _ => "success",
        };
        let web_url = match fault {
            Some(HostFault::OtherRepository) => "https://gitlab.com/other/secrets/-/merge_requests/1",
            _ => &self.url,
        };
        let mut node = json!({
            "id": 7_000_000 + self.number, "iid": self.number, "web_url": web_url, "title": self.gitlab_title(),
            "state": state, "draft": self.is_draft, "sha": self.head_commit, "source_branch": self.branch,
            "target_branch": "main", "author": { "username": "mintlify" }, "merged_at": self.merged_at().map(json_time),
            "detailed_merge_status": self.merge_status(), "has_conflicts": self.has_conflicts == Some(true),
            "changes_count": self.files.len().to_string(),
        });
        // GitLab leaves out the field `head_pipeline` if the token may not read pipelines.
        if let Some(fields) = node.as_object_mut().filter(|_| fault != Some(HostFault::ForbiddenChecks)) {
            let web_url = format!("{}/-/pipelines/{}", repository_url(HostKind::GitLab), self.number);
            let pipeline =
                json!({ "id": self.number, "status": pipeline, "sha": self.head_commit, "web_url": web_url });
            fields.insert("head_pipeline".to_owned(), pipeline);
        }
        node
    }

    /// Returns the notes, newest first. GitLab reports an approval as a note of the system.
    fn notes(&self) -> Vec<Value> {
        let mut entries: Vec<&HostReviewEntry> = self.entries.iter().collect();
        entries.sort_by_key(|entry| std::cmp::Reverse(entry.at));
        let note = |(id, entry): (usize, &HostReviewEntry)| {
            let (is_system, text) = match entry.kind {
                ReviewEntryKind::Approval => (true, "approved this merge request"),
                _ => (false, entry.text.as_str()),
            };
            json!({ "id": id, "body": text, "system": is_system, "author": { "username": entry.author },
                    "created_at": json_time(entry.at) })
        };
        entries.into_iter().enumerate().map(note).collect()
    }

    fn commit_json(&self) -> Value {
        json!({ "id": self.head_commit, "short_id": self.head_commit.get(..8), "title": self.title,
                "created_at": json_time(self.pushed_at) })
    }

    fn approval_state_json(&self) -> Value {
        let approved_by: Vec<Value> =
            self.approvals().map(|entry| json!({ "user": { "username": entry.author } })).collect();
        json!({ "approvals_required": u8::from(self.needs_approval()), "approved_by": approved_by })
    }
}

fn file_json(file: &ChangedFile) -> Value {
    json!({ "old_path": file.path, "new_path": file.path, "a_mode": "100644", "b_mode": "100644", "diff": file.hunks,
            "new_file": file.status == "added", "renamed_file": false, "deleted_file": false, "collapsed": false,
            "too_large": false })
}

/// Returns the response if GitLab refuses the request because of a fault; otherwise `None`.
pub(super) fn refusal(world: &HostWorld<'_>) -> Option<Reply> {
    let limited = |reset: TimeDelta, more: Option<(HeaderName, String)>| {
        let text = Reply { status: StatusCode::TOO_MANY_REQUESTS, body: "Retry later\n".into(), headers: Vec::new() };
        let mut reply = with_limit(text, 0, (world.now + reset).timestamp());
        reply.headers.push((header::CONTENT_TYPE, "text/plain".to_owned()));
        reply.headers.extend(more);
        reply
    };
    match world.fault? {
        HostFault::ExpiredToken => {
            let error = json!({ "error": "invalid_token", "error_description": "Token is expired." });
            Some(Reply::json(StatusCode::UNAUTHORIZED, &error))
        }
        HostFault::BadGateway => {
            let body = "<html><head><title>GitLab is not responding (502)</title></head></html>".into();
            let headers = vec![(header::CONTENT_TYPE, "text/html".to_owned())];
            Some(Reply { status: StatusCode::BAD_GATEWAY, body, headers })
        }
        HostFault::LimitInBody | HostFault::SecondaryLimit => Some(limited(TimeDelta::minutes(40), None)),
        HostFault::LimitInStatus => Some(limited(TimeDelta::minutes(1), Some((header::RETRY_AFTER, "60".to_owned())))),
        _ => None,
    }
}

/// Adds the headers that report how many requests are left.
fn with_limit(mut reply: Reply, remaining: u64, resets_at: i64) -> Reply {
    reply.headers.extend([
        (HeaderName::from_static("ratelimit-limit"), MAX_REQUESTS_PER_MINUTE.to_string()),
        (HeaderName::from_static("ratelimit-remaining"), remaining.to_string()),
        (HeaderName::from_static("ratelimit-reset"), resets_at.to_string()),
    ]);
    reply
}

impl HostWorld<'_> {
    /// Responds to the request that asks to which user the token belongs.
    pub(in crate::sim) fn user_reply(&self) -> Reply {
        Reply::json(StatusCode::OK, &json!({ "id": 1, "username": "you" }))
    }

    /// Responds to a request that reads a merge request or acts on it.
    pub(in crate::sim) fn gitlab_reply(&self, request: &GitLabRequest<'_>) -> HostReply {
        let (reply, done) = self.merge_request_reply(request).unwrap_or_else(|error| (error_reply(error), None));
        (with_limit(reply, MAX_REQUESTS_PER_MINUTE - 1, (self.now + TimeDelta::minutes(1)).timestamp()), done)
    }

    fn merge_request_reply(&self, request: &GitLabRequest<'_>) -> Result<HostReply, Error> {
        let url = format!("https://gitlab.com/{}/-/merge_requests/{}", request.project, request.iid);
        let is_missing = |found: &HostPullRequest| self.fault == Some(HostFault::HalfMissing) && found.number % 2 == 1;
        let found = self.find(&url).filter(|found| !is_missing(found));
        let found = found.ok_or_else(|| (StatusCode::NOT_FOUND, "404 Not found".to_owned()))?;
        let pages: &[&str] = match request.subpath {
            "notes" => &["page", "per_page", "sort", "order_by"],
            "diffs" | "commits" => &["page", "per_page"],
            _ => &[],
        };
        request.check_query(pages)?;
        let reply = match (request.method.as_str(), request.subpath) {
            ("GET", "") => Reply::json(StatusCode::OK, &found.merge_request_json(self.fault)),
            ("GET", "diffs") => {
                request.page_reply(&found.files.iter().map(file_json).collect::<Vec<_>>(), MAX_FILES_PER_PAGE)?
            }
            ("GET", "approvals") => Reply::json(StatusCode::OK, &found.approval_state_json()),
            ("GET", "commits") => request.page_reply(&[found.commit_json()], MAX_PER_PAGE)?,
            ("GET", "notes") => request.page_reply(&found.notes(), MAX_PER_PAGE)?,
            ("POST", "approve" | "notes") | ("PUT", "" | "merge") => {
                let actions = self.gitlab_actions_after(&found, request)?;
                let number = found.number;
                // The response contains the merge request as it is after the action.
                let changed = self.find_after(&url, Some(&actions)).unwrap_or(found);
                let reply = match request.subpath {
                    "approve" => Reply::json(StatusCode::CREATED, &changed.approval_state_json()),
                    "notes" => Reply::json(StatusCode::CREATED, &changed.notes().first()),
                    "merge" if actions.merged_at.is_none() => error_reply(head_changed_error(&changed)),
                    _ => Reply::json(StatusCode::OK, &changed.merge_request_json(self.fault)),
                };
                return Ok((reply, Some((number, actions))));
            }
            _ => return Err((StatusCode::METHOD_NOT_ALLOWED, "405 Method Not Allowed".to_owned())),
        };
        Ok((reply, None))
    }

    /// Returns the user's actions on the merge request, including the requested action. If GitLab refuses the requested
    /// action, returns GitLab's error.
    fn gitlab_actions_after(&self, found: &HostPullRequest, request: &GitLabRequest<'_>) -> Result<UserActions, Error> {
        let mut actions = self.actions_on(found);
        let check_sha = |fields: &serde_json::Map<String, Value>| {
            let sha = fields.get("sha").and_then(Value::as_str).ok_or_else(|| bad_request("sha", "is missing"))?;
            if sha == found.head_commit { Ok(()) } else { Err(head_changed_error(found)) }
        };
        match request.subpath {
            "approve" => {
                check_sha(&request.fields(&["sha"])?)?;
                // GitLab also responds with 401 if the token is valid but the user may not approve.
                if found.state != HostPullRequestState::Open
                    || found.approvals().any(|approval| approval.author == "you")
                {
                    return Err((StatusCode::UNAUTHORIZED, "401 Unauthorized".to_owned()));
                }
                actions.add_entry(ReviewEntryKind::Approval, "", self.now);
            }
            "notes" => {
                let fields = request.fields(&["body"])?;
                let text = fields.get("body").and_then(Value::as_str).filter(|text| !text.trim().is_empty());
                actions.add_entry(
                    ReviewEntryKind::Comment,
                    text.ok_or_else(|| bad_request("body", "is empty"))?,
                    self.now,
                );
            }
            "merge" => {
                let fields = request.fields(&["sha", "squash"])?;
                if found.merge_status() != "mergeable" {
                    return Err((StatusCode::METHOD_NOT_ALLOWED, "405 Method Not Allowed".to_owned()));
                }
                check_sha(&fields)?;
                if self.fault == Some(HostFault::MovedBeforeMerge) {
                    actions.push_count += 1;
                } else {
                    actions.merged_at = Some(self.now);
                }
            }
            _ => {
                let fields = request.fields(&["state_event", "title"])?;
                let text = |name: &str| fields.get(name).and_then(Value::as_str);
                match (text("state_event"), text("title")) {
                    // GitLab ignores the event if the merge request is merged or closed.
                    (Some("close"), None) if found.state == HostPullRequestState::Open => {
                        actions.closed_at = Some(self.now);
                    }
                    (Some("close"), None) => {}
                    (None, Some(title)) if !title.trim().is_empty() => {
                        let lower = title.to_ascii_lowercase();
                        let prefix = DRAFT_PREFIXES.into_iter().find(|prefix| lower.starts_with(prefix));
                        actions.is_marked_ready |= prefix.is_none();
                        let rest = title.get(prefix.map_or(0, str::len)..).unwrap_or_default();
                        actions.new_title = Some(rest.trim().to_owned());
                    }
                    _ => return Err(bad_request("state_event, title", "are invalid")),
                }
            }
        }
        Ok(actions)
    }
}

fn error_reply((status, text): Error) -> Reply {
    let name = if status == StatusCode::BAD_REQUEST { "error" } else { "message" };
    Reply::json(status, &json!({ name: text }))
}

fn head_changed_error(found: &HostPullRequest) -> Error {
    (StatusCode::CONFLICT, format!("SHA does not match HEAD of source branch: {}", found.head_commit))
}

fn bad_request(name: &str, what: &str) -> Error {
    (StatusCode::BAD_REQUEST, format!("{name} {what}"))
}
