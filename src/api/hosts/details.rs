//! Requests the details of a pull request: reviews, comments, commits, files, checks and preview.

use super::error::{HostError, HostErrorKind};
use super::{HostClient, HostRequest, HostRequestStats, HostResponse, MAX_RESPONSE_MIB, github, gitlab, json};
use crate::model::link::WebLink;
use crate::model::pull_request::{HostKind, PullRequestLink};
use crate::model::pull_request_action::MergeMethod;
use crate::model::pull_request_details::{Commit, FileDiffStat, PullRequestDetails, ReviewEntry, ReviewKind};
use crate::model::text::CleanText;
use reqwest::Url;
use serde_json::Value;

const DETAILS_FRAGMENT: &str = "fragment Part on PullRequest { number url baseRefName author { login } \
    reviews(last: 30) { nodes { author { __typename login } state body submittedAt } } \
    comments(last: 30) { nodes { author { __typename login } body createdAt } } \
    commits(last: 20) { totalCount nodes { commit { abbreviatedOid messageHeadline committedDate } } } \
    files(first: 100) { nodes { path additions deletions } } \
    baseRepository { mergeCommitAllowed squashMergeAllowed rebaseMergeAllowed viewerDefaultMergeMethod } }";

/// The preview is requested separately: a fine-grained token may lack the permission to read deployments, and then
/// everything else in the same response would be lost.
const PREVIEW_FRAGMENT: &str = "fragment Part on PullRequest { number url commits(last: 1) { nodes { commit { \
    deployments(last: 5) { nodes { environment latestStatus { state environmentUrl } } } } } } }";

/// A function that adds the data in a response of GitLab to the details.
type DetailsUpdater = fn(&mut PullRequestDetails, &Value);

impl HostClient {
    /// Requests the details of a pull request, with at most three requests to GitHub or five to GitLab. The details
    /// don't contain the head commit.
    pub async fn details(&self, link: &PullRequestLink) -> HostResponse<PullRequestDetails> {
        let mut response = match self.0.kind {
            HostKind::GitHub => self.github_details(link).await,
            HostKind::GitLab => self.gitlab_details(link).await,
        };
        if let Ok(details) = &mut response.result {
            let time = |entry: &ReviewEntry| entry.at;
            details.entries.sort_by_key(time);
            details.preview = details.preview.take().or_else(|| details.preview_in_comments());
        }
        response
    }

    async fn github_details(&self, link: &PullRequestLink) -> HostResponse<PullRequestDetails> {
        let links = std::slice::from_ref(link);
        let response = self.send_query(github::fragment_query(DETAILS_FRAGMENT, links)).await;
        let mut response = response.map(|body| self.decode_node(&body, links, parse_github_details));
        if let Ok(details) = &mut response.result {
            let found = self.send_query(github::fragment_query(PREVIEW_FRAGMENT, links)).await;
            let preview = found.map(|body| self.decode_node(&body, links, newest_preview_url));
            let is_limited = matches!(&preview.result, Err(error) if error.kind == HostErrorKind::Limited);
            // An error is ignored: if the token lacks the permission to read deployments, a comment may still contain
            // the preview.
            details.preview = preview.result.ok().flatten();
            response.budget = response.budget.plus(preview.budget);
            if is_limited {
                return response;
            }
            // Checks are requested separately, because a fine-grained token may lack the permission to read them.
            // Failed checks are left out of the details, because the state of the pull request contains them.
            let checks = self.send_query(github::checks_query(links)).await;
            let checks = checks.map(|body| self.decode_node(&body, links, github::passed_and_pending_checks));
            details.checks = checks.result.ok().flatten();
            response.budget = response.budget.plus(checks.budget);
        }
        response
    }

    /// Decodes the response to a query for a single link.
    fn decode_node<T>(
        &self,
        body: &[u8],
        links: &[PullRequestLink],
        decode: impl Fn(&Value) -> T,
    ) -> Result<T, HostError> {
        let parts = github::decode_nodes(self, body, links, |node, _| Ok(decode(node)))?;
        parts.into_iter().next().map_or_else(|| Err(self.error(HostErrorKind::NotFound)), |(_, part)| part)
    }

    async fn gitlab_details(&self, link: &PullRequestLink) -> HostResponse<PullRequestDetails> {
        let mut details = PullRequestDetails::default();
        let mut budget = HostRequestStats::NONE;
        let parts: [(&str, DetailsUpdater); 4] = [
            ("", add_gitlab_merge_request),
            ("/notes?sort=desc&order_by=created_at&per_page=50", add_gitlab_notes),
            ("/commits?per_page=20", add_gitlab_commits),
            ("/approvals", add_gitlab_approvals),
        ];
        for (n, (path, add_to)) in (1..).zip(parts) {
            let url = gitlab::merge_request_url(&self.0.rest_url, link);
            let Some(url) = url.and_then(|url| Url::parse(&format!("{url}{path}")).ok()) else {
                return self.failure(HostErrorKind::InvalidAddress);
            };
            let response = self.send(HostRequest::get(url), MAX_RESPONSE_MIB).await;
            budget = budget.plus(response.budget);
            match response.result.map(|body| (self.parse_json(&body), body)) {
                Ok((Some(value), _)) if n > 1 || gitlab::is_requested_merge_request(&value, link) => {
                    add_to(&mut details, &value)
                }
                Ok((Some(_), _)) => {
                    return HostResponse { result: Err(self.error(HostErrorKind::OtherPullRequest)), budget };
                }
                Ok((None, body)) => return HostResponse { result: Err(self.unreadable(&body)), budget },
                Err(error) => return HostResponse { result: Err(error), budget },
            }
        }
        // If the response is too large or the request fails, the details contain no files.
        if let Some(url) = gitlab::merge_request_url(&self.0.rest_url, link)
            && let Ok(url) = Url::parse(&format!("{url}/diffs?per_page=100"))
        {
            let response = self.send(HostRequest::get(url), MAX_RESPONSE_MIB).await;
            budget = budget.plus(response.budget);
            let files = response.result.ok().and_then(|body| self.parse_json(&body));
            details.files = files.as_ref().map(gitlab_files).unwrap_or_default();
        }
        HostResponse { result: Ok(details), budget }
    }
}

fn login_name(node: &Value, pointer: &str) -> CleanText {
    // If the author's account was deleted, the author is missing. GitHub shows such an author as `ghost`.
    CleanText::title(node.pointer(pointer).and_then(Value::as_str).unwrap_or("ghost"), 60)
}

/// Whether the author of a GitHub node, such as a review, is a program.
fn is_bot(node: &Value) -> bool {
    node.pointer("/author/__typename").and_then(Value::as_str) == Some("Bot")
}

fn multiline_text_field(node: &Value, field: &str) -> String {
    CleanText::block(json::str_field(node, field).unwrap_or_default()).as_str().trim().to_owned()
}

fn parse_github_details(node: &Value) -> PullRequestDetails {
    let reviews = json::list_at(node, "/reviews/nodes").iter().filter_map(|review| {
        let kind = match json::str_field(review, "state") {
            Some("APPROVED") => ReviewKind::Approval,
            Some("CHANGES_REQUESTED") => ReviewKind::ChangeRequest,
            Some("DISMISSED") => ReviewKind::Dismissed,
            Some("COMMENTED") => ReviewKind::Comment,
            // A pending review is left out, because it is not submitted yet.
            _ => return None,
        };
        let (author, text) = (login_name(review, "/author/login"), multiline_text_field(review, "body"));
        // Comments on single lines are not requested, so a comment review without a text has no content.
        let has_content = kind != ReviewKind::Comment || !text.trim().is_empty();
        has_content.then(|| ReviewEntry {
            author,
            is_bot: is_bot(review),
            kind,
            text,
            at: json::time_field(review, "submittedAt"),
        })
    });
    let comments = json::list_at(node, "/comments/nodes").iter().map(|comment| ReviewEntry {
        author: login_name(comment, "/author/login"),
        is_bot: is_bot(comment),
        kind: ReviewKind::Comment,
        text: multiline_text_field(comment, "body"),
        at: json::time_field(comment, "createdAt"),
    });
    let commits =
        json::list_at(node, "/commits/nodes").iter().filter_map(|node| node.get("commit")).map(|commit| Commit {
            id: json::display_text_field(commit, "abbreviatedOid"),
            title: json::display_text_field(commit, "messageHeadline"),
            at: json::time_field(commit, "committedDate"),
        });
    let commits: Vec<Commit> = commits.collect();
    let files = json::list_at(node, "/files/nodes").iter().map(|file| FileDiffStat {
        path: json::display_text_field(file, "path"),
        additions: json::u64_field(file, "additions").unwrap_or(0),
        deletions: json::u64_field(file, "deletions").unwrap_or(0),
    });
    PullRequestDetails {
        head: CleanText::default(),
        author: login_name(node, "/author/login"),
        base: json::display_text_field(node, "baseRefName"),
        entries: reviews.chain(comments).collect(),
        commit_count: node.pointer("/commits/totalCount").and_then(Value::as_u64).unwrap_or(commits.len() as u64),
        commits,
        files: files.collect(),
        checks: None,
        merge_methods: node.get("baseRepository").map(merge_methods).unwrap_or_default(),
        preview: None,
    }
}

/// Returns the merge methods that the repository allows. The user's default method comes first.
fn merge_methods(repository: &Value) -> Vec<MergeMethod> {
    let default = json::str_field(repository, "viewerDefaultMergeMethod").map(str::to_ascii_lowercase);
    let allowed = [
        ("mergeCommitAllowed", MergeMethod::Merge),
        ("squashMergeAllowed", MergeMethod::Squash),
        ("rebaseMergeAllowed", MergeMethod::Rebase),
    ];
    let mut methods: Vec<MergeMethod> = allowed
        .into_iter()
        .filter(|(field, _)| json::bool_field(repository, field))
        .map(|(_, method)| method)
        .collect();
    methods.sort_by_key(|method| Some(method.name()) != default.as_deref());
    methods
}

/// Returns the address of the newest deployment that succeeded.
fn newest_preview_url(node: &Value) -> Option<CleanText> {
    let deployments = json::list_at(node, "/commits/nodes/0/commit/deployments/nodes").iter().rev();
    let addresses = deployments.filter_map(|deployment| {
        let status = deployment.get("latestStatus")?;
        let is_ready = json::str_field(status, "state") == Some("SUCCESS");
        WebLink::parse(json::str_field(status, "environmentUrl").filter(|_| is_ready)?)
    });
    addresses.map(|link| CleanText::line(link.as_str())).next()
}

fn add_gitlab_merge_request(details: &mut PullRequestDetails, node: &Value) {
    details.author = login_name(node, "/author/username");
    details.base = json::display_text_field(node, "target_branch");
    details.checks = gitlab::passed_and_pending_checks(node);
}

fn add_gitlab_notes(details: &mut PullRequestDetails, notes: &Value) {
    let notes = json::list_at(notes, "").iter().filter(|note| !json::bool_field(note, "system"));
    // GitLab doesn't report which accounts belong to programs. docdeck knows only one of them: the account that opened
    // the merge request, because the service opens it.
    let opened_by = details.author.clone();
    details.entries.extend(notes.map(|note| ReviewEntry {
        author: login_name(note, "/author/username"),
        is_bot: login_name(note, "/author/username") == opened_by,
        kind: ReviewKind::Comment,
        text: multiline_text_field(note, "body"),
        at: json::time_field(note, "created_at"),
    }));
}

fn add_gitlab_commits(details: &mut PullRequestDetails, commits: &Value) {
    // GitLab lists the newest commit first.
    details.commits = json::list_at(commits, "")
        .iter()
        .rev()
        .map(|commit| Commit {
            id: json::display_text_field(commit, "short_id"),
            title: json::display_text_field(commit, "title"),
            at: json::time_field(commit, "created_at"),
        })
        .collect();
    details.commit_count = details.commits.len() as u64;
}

/// Returns the changed files. GitLab reports only their diffs, so the added and deleted lines are counted here.
fn gitlab_files(diffs: &Value) -> Vec<FileDiffStat> {
    let count =
        |diff: &str, sign| u64::try_from(diff.lines().filter(|line| line.starts_with(sign)).count()).unwrap_or(0);
    let size = |file: &Value| {
        let diff = json::str_field(file, "diff").unwrap_or_default();
        FileDiffStat {
            path: json::display_text_field(file, "new_path"),
            additions: count(diff, '+'),
            deletions: count(diff, '-'),
        }
    };
    json::list_at(diffs, "").iter().map(size).collect()
}

/// Adds the approvals. GitLab reports no time for them.
fn add_gitlab_approvals(details: &mut PullRequestDetails, response: &Value) {
    let approvals = json::list_at(response, "/approved_by").iter().map(|approval| ReviewEntry {
        author: login_name(approval, "/user/username"),
        is_bot: false,
        kind: ReviewKind::Approval,
        text: String::new(),
        at: None,
    });
    details.entries.extend(approvals);
}
