//! GitLab's REST API for merge requests, and how its responses are read.

use super::error::{HostError, HostErrorKind};
use super::{HostClient, json};
use crate::api::address::{BaseUrl, encode_segment};
use crate::model::Time;
use crate::model::pull_request::{
    Checks, ChecksState, FailedCheck, PullRequest, PullRequestLink, PullRequestState, ReviewDecision,
};
use crate::model::pull_request_details::{PassedAndPendingChecks, PendingCheck};
use crate::model::text::CleanText;
use reqwest::Url;
use serde_json::Value;

/// The name of the only check that GitLab reports with a merge request.
const PIPELINE_CHECK_NAME: &str = "pipeline";

/// Returns the URL of one merge request.
pub(super) fn merge_request_url(rest: &BaseUrl, link: &PullRequestLink) -> Option<Url> {
    let project = encode_segment(&link.repository)?;
    Url::parse(&format!("{}/projects/{project}/merge_requests/{}", rest.as_str(), link.number)).ok()
}

pub(super) fn decode_state(
    client: &HostClient,
    body: &[u8],
    link: &PullRequestLink,
    now: Time,
) -> Result<PullRequest, HostError> {
    let node = client.parse_json(body).ok_or_else(|| client.unreadable(body))?;
    if !is_requested_merge_request(&node, link) {
        return Err(client.error(HostErrorKind::OtherPullRequest));
    }
    Ok(parse_merge_request(&node, now))
}

/// Whether the response is the requested merge request, and not another one.
pub(super) fn is_requested_merge_request(node: &Value, link: &PullRequestLink) -> bool {
    let reported = json::str_field(node, "web_url").and_then(PullRequestLink::parse);
    json::u64_field(node, "iid") == Some(link.number)
        && reported.is_some_and(|reported| {
            reported.number == link.number && reported.repository.eq_ignore_ascii_case(&link.repository)
        })
}

fn parse_merge_request(node: &Value, now: Time) -> PullRequest {
    let merge_status = json::str_field(node, "detailed_merge_status").unwrap_or_default();
    let state = match json::str_field(node, "state") {
        Some("merged") => PullRequestState::Merged,
        Some("closed") => PullRequestState::Closed,
        _ if json::bool_field(node, "draft") => PullRequestState::Draft,
        _ => PullRequestState::Open,
    };
    let is_computing = matches!(merge_status, "checking" | "unchecked" | "preparing" | "");
    PullRequest {
        title: json::display_text_field(node, "title"),
        state,
        checks: pipeline_checks(node.get("head_pipeline")),
        review: match merge_status {
            "not_approved" => Some(ReviewDecision::Required),
            "requested_changes" => Some(ReviewDecision::ChangesRequested),
            // This endpoint doesn't report approvals.
            _ => None,
        },
        conflict: match json::bool_field(node, "has_conflicts") || merge_status == "conflict" {
            true => Some(true),
            false => (!is_computing).then_some(false),
        },
        behind: merge_status == "need_rebase",
        head: json::display_text_field(node, "sha"),
        branch: json::display_text_field(node, "source_branch"),
        additions: None,
        deletions: None,
        // If there are more files than GitLab counts, it writes "1000+". Then the number of files is unknown.
        files: json::str_field(node, "changes_count").and_then(|count| count.parse().ok()),
        merged_at: json::time_field(node, "merged_at"),
        as_of: now,
        checks_as_of: Some(now),
        changed_at: now,
    }
}

/// Returns the head commit's pipeline as a check that has passed or is pending. A failed pipeline is left out. Returns
/// `None` if there is no pipeline.
pub(super) fn passed_and_pending_checks(node: &Value) -> Option<PassedAndPendingChecks> {
    let found = node.get("head_pipeline").filter(|pipeline| !pipeline.is_null())?;
    let mut checks =
        PassedAndPendingChecks { head: json::display_text_field(node, "sha"), ..PassedAndPendingChecks::default() };
    let name = CleanText::line(PIPELINE_CHECK_NAME);
    match pipeline_checks(Some(found)).state {
        ChecksState::Passing => checks.passed.push(name),
        ChecksState::Pending => {
            let url = json::str_field(found, "web_url").map(CleanText::line);
            checks.pending.push(PendingCheck { name, url });
        }
        ChecksState::Failing | ChecksState::None | ChecksState::Unavailable => {}
    }
    Some(checks)
}

/// Returns the state of the head commit's pipeline as checks. GitLab doesn't report how many jobs the pipeline has, so
/// the numbers of checks are 0.
fn pipeline_checks(pipeline: Option<&Value>) -> Checks {
    let Some(pipeline) = pipeline else { return Checks::default() };
    let state = match json::str_field(pipeline, "status") {
        _ if pipeline.is_null() => ChecksState::None,
        Some("success" | "skipped") => ChecksState::Passing,
        Some("failed" | "canceled") => ChecksState::Failing,
        Some(_) => ChecksState::Pending,
        None => ChecksState::Unavailable,
    };
    let failed = (state == ChecksState::Failing).then(|| FailedCheck {
        name: CleanText::line(PIPELINE_CHECK_NAME),
        url: json::str_field(pipeline, "web_url").map(CleanText::line),
    });
    Checks { state, failed: failed.into_iter().collect(), ..Checks::default() }
}
