//! The simulated code host: the part of GitHub's GraphQL API that docdeck uses. The pull requests are those of the
//! simulated jobs: checks run, reviews arrive, and older pull requests are merged. Does not read the clock.

use super::diffs::{self, ChangedFile, changed_files};
use super::host_actions::UserActions;
use super::jobs::{SimJob, pull_request_url};
use super::reply::Reply;
use super::rng::{SeededRng, mix};
use super::world::scaled;
use crate::model::Time;
use crate::model::pull_request::PullRequestLink;
use crate::model::time_format::json_time;
use axum::http::StatusCode;
use chrono::TimeDelta;
use serde_json::{Map, Value, json};
use std::collections::HashMap;

/// Added to the number of a pull request to get its random stream.
const PULL_REQUEST_STREAM: u64 = 11 << 32;
/// The points per hour that a token has.
pub(super) const POINTS_PER_HOUR: u64 = 5000;

/// A way in which the code host misbehaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HostFault {
    /// The token may read pull requests, but not their checks.
    ForbiddenChecks,
    /// The limit is reached, reported with status 200 and an error.
    LimitInAnswer,
    /// The limit is reached, reported with status 403 and `Retry-After`.
    LimitInStatus,
    /// The token has expired.
    ExpiredToken,
    /// Status 502 after GitHub's time limit.
    BadGateway,
    /// Every node is about another repository than the requested one.
    OtherRepository,
    /// Every second pull request is not found; the others are answered.
    HalfMissing,
    /// GitHub has not computed yet whether there are conflicts.
    UnknownConflicts,
    /// Every pull request changes more files than a diff may have.
    ManyFiles,
    /// A commit is pushed before every request.
    MovingHead,
    /// A commit is pushed right before a pull request is merged.
    MovedBeforeMerge,
    /// Actions are carried out, but the connection ends before the answer.
    LostActionAnswer,
    /// The connection ends before actions are carried out.
    LostAction,
}

/// A pull request as it is at one time.
#[derive(Debug)]
pub(super) struct HostPullRequest {
    pub(super) number: u32,
    title: String,
    branch: String,
    pub(super) state: &'static str,
    pub(super) is_draft: bool,
    pub(super) merged_at: Option<Time>,
    /// When its only commit was pushed.
    pushed_at: Time,
    pub(super) head: String,
    pub(super) mergeable: &'static str,
    pub(super) review: Option<&'static str>,
    files: Vec<ChangedFile>,
    checks: Vec<(&'static str, &'static str, &'static str)>,
}

/// The names of the checks of the simulated repository.
const CHECK_NAMES: [&str; 12] = [
    "build",
    "broken links",
    "spelling",
    "style guide",
    "code samples",
    "OpenAPI",
    "redirects",
    "images",
    "accessibility",
    "front matter",
    "preview",
    "license",
];

impl HostPullRequest {
    /// Returns the pull request of a job, or `None` if the job has none yet.
    fn of(job: &SimJob, seed: u64, speed: f64, now: Time) -> Option<Self> {
        let link = job.link.filter(|link| link.visible_from <= now)?;
        let mut rng = SeededRng::new(seed, PULL_REQUEST_STREAM + u64::from(link.number));
        let pushed_at = job.run.ends_at.max(link.visible_from).min(now);
        let age = now - pushed_at;
        let scaled = |seconds: u32| scaled(TimeDelta::seconds(i64::from(seconds)), speed);
        let is_older_than = |age_limit: TimeDelta| age > age_limit;
        let total = usize::try_from(rng.between(3, 12)).unwrap_or(3);
        let (fails, conflicts, wants_changes) = (rng.chance(150), rng.chance(60), rng.chance(120));
        let (is_draft, is_abandoned, is_merged) = (rng.chance(80), rng.chance(40), rng.chance(850));
        let failing = usize::try_from(rng.between(0, 11)).unwrap_or(0) % total;
        let checks = (0..total).filter_map(|n| {
            let name = CHECK_NAMES.get(n)?;
            let is_done = is_older_than(scaled(15 + 8 * u32::try_from(n).unwrap_or(0)));
            Some(match (is_done, fails && n == failing) {
                (false, _) => (*name, "IN_PROGRESS", ""),
                (true, true) => (*name, "COMPLETED", "FAILURE"),
                (true, false) => (*name, "COMPLETED", "SUCCESS"),
            })
        });
        let is_over = is_older_than(TimeDelta::hours(6)) && !fails && !conflicts;
        let merged_at = (is_over && is_merged && !is_abandoned).then(|| pushed_at + TimeDelta::hours(5));
        let has_review = is_older_than(scaled(180));
        Some(Self {
            number: link.number,
            title: job.title.clone(),
            branch: job.git_ref.clone(),
            state: match (is_over && is_abandoned, merged_at) {
                (true, _) => "CLOSED",
                (false, Some(_)) => "MERGED",
                (false, None) => "OPEN",
            },
            is_draft: is_draft && merged_at.is_none(),
            merged_at,
            pushed_at,
            head: format!("{:016x}{:016x}{:08x}", mix(u64::from(link.number)), rng.next(), mix(seed) >> 32),
            mergeable: if conflicts { "CONFLICTING" } else { "MERGEABLE" },
            review: match has_review && wants_changes {
                true => Some("CHANGES_REQUESTED"),
                false if merged_at.is_some() => Some("APPROVED"),
                false => None,
            },
            files: changed_files(seed, link.number, false),
            checks: checks.collect(),
        })
    }

    fn state_node(&self) -> Value {
        let [additions, deletions, files] = diffs::totals(&self.files);
        json!({
            "number": self.number, "url": pull_request_url(self.number), "id": format!("PR_{}", self.number),
            "title": self.title, "state": self.state,
            "isDraft": self.is_draft, "merged": self.merged_at.is_some(), "mergedAt": self.merged_at.map(json_time),
            "headRefOid": self.head, "headRefName": self.branch, "additions": additions, "deletions": deletions,
            "changedFiles": files, "mergeable": self.mergeable, "mergeStateStatus": "UNKNOWN",
            "reviewDecision": self.review, "isInMergeQueue": false,
        })
    }

    fn checks_node(&self) -> Value {
        let has = |wanted: &str| self.checks.iter().any(|(_, _, conclusion)| *conclusion == wanted);
        let state = match (has("FAILURE"), has("")) {
            (true, _) => "FAILURE",
            (_, true) => "PENDING",
            _ => "SUCCESS",
        };
        let node = |(name, status, conclusion): &(&str, &str, &str)| {
            let conclusion = Some(*conclusion).filter(|conclusion| !conclusion.is_empty());
            json!({ "__typename": "CheckRun", "name": name, "status": status, "conclusion": conclusion,
                    "detailsUrl": format!("{}/checks", pull_request_url(self.number)) })
        };
        let contexts: Vec<Value> = self.checks.iter().map(node).collect();
        json!({
            "number": self.number, "url": pull_request_url(self.number), "headRefOid": self.head,
            "commits": { "nodes": [{ "commit": {
                "oid": self.head,
                "statusCheckRollup": { "state": state, "contexts": { "totalCount": contexts.len(), "nodes": contexts } },
                "checkSuites": { "nodes": [] },
            } }] },
        })
    }
}

/// What reviewers of the simulated repository write.
const REVIEWS: [&str; 4] = [
    "The steps are right, but the screenshot still shows the old settings page. Can you replace it?",
    "Please keep the anchor `#before-you-begin`: the product links to it.",
    "Nice. One question: does this also apply to the free plan?",
    "The second example doesn't run: `client.views` needs the project id.",
];

impl HostPullRequest {
    fn details_node(&self, now: Time, actions: Option<&UserActions>) -> Value {
        let at = |minutes: i64| json_time(self.pushed_at + TimeDelta::minutes(minutes));
        let text = |n: u64| REVIEWS.get(usize::try_from(mix(u64::from(self.number) + n) % 4).unwrap_or(0));
        let review = |state: &str, body: &str| json!({ "author": { "login": "maya" }, "state": state, "body": body, "submittedAt": at(3) });
        let mut reviews: Vec<Value> = match self.review {
            Some("CHANGES_REQUESTED") => vec![review("CHANGES_REQUESTED", text(0).copied().unwrap_or_default())],
            Some(_) => vec![review("APPROVED", "")],
            None => Vec::new(),
        };
        if let Some(actions) = actions {
            reviews = actions.review_nodes().collect();
        }
        let bot = format!(
            "Preview deployment for your docs.\n\n| Project | Status | Preview |\n|---|---|---|\n| acme | Ready | \
             [View Preview]({}) |",
            self.preview_url()
        );
        let mut comments = vec![json!({ "author": { "login": "mintlify" }, "body": bot, "createdAt": at(1) })];
        if self.number.is_multiple_of(3) && now - self.pushed_at > TimeDelta::minutes(9) {
            let body = text(1).copied().unwrap_or_default();
            comments.push(json!({ "author": { "login": "jonas" }, "body": body, "createdAt": at(9) }));
        }
        let commit = json!({ "commit": {
            "abbreviatedOid": self.head.get(..7), "messageHeadline": self.title, "committedDate": at(0),
        } });
        json!({
            "number": self.number, "url": pull_request_url(self.number), "baseRefName": "main",
            "author": { "login": "mintlify" }, "reviews": { "nodes": reviews }, "comments": { "nodes": comments },
            "commits": { "totalCount": 1, "nodes": [commit] }, "files": { "nodes": diffs::sizes(&self.files) },
            "baseRepository": { "mergeCommitAllowed": true, "squashMergeAllowed": true, "rebaseMergeAllowed": false,
                                "viewerDefaultMergeMethod": "SQUASH" },
        })
    }

    fn preview_node(&self) -> Value {
        let status = json!({ "state": "SUCCESS", "environmentUrl": self.preview_url() });
        let deployment = json!({ "environment": "staging", "latestStatus": status });
        json!({
            "number": self.number, "url": pull_request_url(self.number),
            "commits": { "nodes": [{ "commit": { "deployments": { "nodes": [deployment] } } }] },
        })
    }

    fn preview_url(&self) -> String {
        format!("https://acme-{:06x}.mintlify.site/", mix(u64::from(self.number)) >> 40)
    }
}

/// What the host knows when it answers.
pub(super) struct HostWorld<'a> {
    pub(super) jobs: &'a [SimJob],
    pub(super) seed: u64,
    pub(super) speed: f64,
    pub(super) now: Time,
    pub(super) fault: Option<HostFault>,
    /// What the user did, by the number of the pull request.
    pub(super) actions: &'a HashMap<u32, UserActions>,
}

impl HostWorld<'_> {
    /// Answers a GraphQL request. Accepts only the fragments that docdeck asks for.
    pub(super) fn answer(&self, body: &[u8]) -> Reply {
        if let Some(reply) = self.refusal() {
            return reply;
        }
        if self.fault == Some(HostFault::LimitInAnswer) {
            let error = json!({ "type": "RATE_LIMITED", "message": "API rate limit exceeded" });
            return Reply::json(StatusCode::OK, &json!({ "errors": [error] }));
        }
        let Ok(request) = serde_json::from_slice::<Value>(body) else {
            return message(StatusCode::BAD_REQUEST, "Problems parsing JSON");
        };
        let query = request.get("query").and_then(Value::as_str).unwrap_or_default();
        let asks_for_checks = query.contains("statusCheckRollup");
        let (asks_for_details, asks_for_preview) = (query.contains("reviews("), query.contains("deployments("));
        if query == "query { rateLimit { cost remaining resetAt } }" {
            return Reply::json(StatusCode::OK, &json!({ "data": { "rateLimit": self.rate_limit() } }));
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
                        () if asks_for_checks => found.checks_node(),
                        () if asks_for_details => found.details_node(self.now, self.actions.get(&found.number)),
                        () if asks_for_preview => found.preview_node(),
                        () => found.state_node(),
                    };
                    self.damage(&mut node, asks_for_checks || asks_for_preview, &alias, &mut errors);
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
        data.insert("rateLimit".to_owned(), self.rate_limit());
        let answer =
            if errors.is_empty() { json!({ "data": data }) } else { json!({ "data": data, "errors": errors }) };
        Reply::json(StatusCode::OK, &answer)
    }

    fn rate_limit(&self) -> Value {
        let reset_at = json_time(self.now + TimeDelta::minutes(40));
        json!({ "cost": 1, "remaining": POINTS_PER_HOUR - 1, "resetAt": reset_at })
    }

    /// Returns the answer to every request if the host refuses them all.
    pub(super) fn refusal(&self) -> Option<Reply> {
        match self.fault? {
            HostFault::ExpiredToken => Some(message(StatusCode::UNAUTHORIZED, "Bad credentials")),
            HostFault::BadGateway => Some(message(StatusCode::BAD_GATEWAY, "Something went wrong")),
            HostFault::LimitInStatus => {
                let limited = message(StatusCode::FORBIDDEN, "You have exceeded a secondary rate limit");
                Some(Reply { retry_after: Some("60".to_owned()), ..limited })
            }
            _ => None,
        }
    }

    /// Answers a REST request for the pull request with this link: for its diff, or for a page of its files.
    pub(super) fn answer_changes(&self, url: &str, page: Option<(usize, usize)>) -> Reply {
        if let Some(reply) = self.refusal() {
            return reply;
        }
        let Some(found) = self.find(url) else { return message(StatusCode::NOT_FOUND, "Not Found") };
        let files = changed_files(self.seed, found.number, self.fault == Some(HostFault::ManyFiles));
        match page {
            Some((page, per_page)) => Reply::json(StatusCode::OK, &diffs::page_of_files(&files, page, per_page)),
            None if files.len() > diffs::MAX_DIFF_FILES => {
                message(StatusCode::NOT_ACCEPTABLE, "Sorry, the diff exceeded the maximum number of files (300).")
            }
            None => Reply { status: StatusCode::OK, body: diffs::unified_diff(&files).into(), retry_after: None },
        }
    }

    pub(super) fn find(&self, url: &str) -> Option<HostPullRequest> {
        let number = PullRequestLink::parse(url)?.number;
        let is_searched = |job: &SimJob| job.link.is_some_and(|link| u64::from(link.number) == number);
        let job = self.jobs.iter().find(|job| is_searched(job))?;
        let mut found = HostPullRequest::of(job, self.seed, self.speed, self.now)?;
        if let Some(actions) = self.actions.get(&found.number) {
            actions.apply(&mut found);
        }
        (pull_request_url(found.number) == url).then_some(found)
    }

    fn damage(&self, node: &mut Value, asks_for_checks: bool, alias: &str, errors: &mut Vec<Value>) {
        let Value::Object(fields) = node else { return };
        match self.fault {
            Some(HostFault::ForbiddenChecks) if asks_for_checks => {
                fields.insert("commits".to_owned(), Value::Null);
                errors.push(json!({ "type": "FORBIDDEN", "path": [alias, "commits"],
                                    "message": "Resource not accessible by personal access token" }));
            }
            Some(HostFault::OtherRepository) => {
                fields.insert("url".to_owned(), "https://github.com/other/secrets/pull/1".into());
            }
            Some(HostFault::MovingHead) if !asks_for_checks => {
                fields.insert("headRefOid".to_owned(), format!("{:040x}", self.now.timestamp_micros()).into());
            }
            Some(HostFault::UnknownConflicts) if !asks_for_checks => {
                fields.insert("mergeable".to_owned(), "UNKNOWN".into());
            }
            _ => {}
        }
    }
}

/// Returns an answer in the form of GitHub's errors.
pub(super) fn message(status: StatusCode, text: &str) -> Reply {
    Reply::json(status, &json!({ "message": text }))
}
