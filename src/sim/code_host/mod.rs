//! The simulated GitHub and GitLab. The pull requests are those of the simulated jobs: checks run, reviews arrive, and
//! older pull requests are merged. `pull_request` has their state, `host_world` finds them, `host_fault` has the
//! faults, `rate_limit` has GitHub's limits, and `github` and `gitlab` respond to requests. Does not read the clock.

mod diffs;
mod github;
mod gitlab;
mod host_fault;
mod host_world;
mod pull_request;
mod rate_limit;

pub(super) use diffs::ChangedFile;
pub(super) use github::{ActionRequest, classify_graphql_request};
pub(super) use gitlab::GitLabRequest;
pub use host_fault::{HostFault, HostOperation};
pub(super) use host_world::{HostReply, HostWorld};
pub(super) use pull_request::UserActions;
pub(super) use rate_limit::{GitHubLimits, HostCost, RateLimit};

use super::reply::Reply;
use crate::model::pull_request::HostKind;
use axum::http::StatusCode;
use serde_json::json;

/// Returns the response if the host refuses the request because of a fault or a reached limit; otherwise `None`.
pub(super) fn refusal(kind: HostKind, world: &HostWorld<'_>) -> Option<Reply> {
    match kind {
        HostKind::GitHub => github::refusal(world),
        HostKind::GitLab => gitlab::refusal(world),
    }
}

/// Returns the response to a request with a wrong token, or without one.
pub(super) fn unauthorized(kind: HostKind) -> Reply {
    let text = match kind {
        HostKind::GitHub => "Bad credentials",
        HostKind::GitLab => "401 Unauthorized",
    };
    Reply::json(StatusCode::UNAUTHORIZED, &json!({ "message": text }))
}
