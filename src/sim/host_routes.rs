//! The routes of the simulated code hosts. `code_host` responds to the requests.

use super::bad_bodies::connection_closing_response;
use super::code_host::{
    ActionRequest, GitLabRequest, HostCost, HostOperation, HostReply, HostWorld, classify_graphql_request,
};
use super::reply::error_response;
use super::service::Service;
use crate::model::pull_request::HostKind;
use axum::Router;
use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, Path, Query, State};
use axum::http::{HeaderMap, HeaderName, Method, StatusCode, header};
use axum::response::Response;
use axum::routing::{any, get, post, put};
use std::collections::HashMap;
use std::sync::Arc;

/// The maximum size of a request body in bytes. Comments have the largest bodies.
const MAX_BODY_BYTES: usize = 2 * 1024 * 1024;

/// The argument with which axum passes the service to a handler.
pub(super) type ServiceState = State<Arc<Service>>;

/// The path of a pull request in GitHub's REST API: owner, repository and number.
type PullRequestPath = Path<(String, String, String)>;

pub(super) fn routes() -> Router<Arc<Service>> {
    const PULL_REQUEST: &str = "/github/api/v3/repos/{owner}/{name}/pulls/{number}";
    const MERGE_REQUEST: &str = "/gitlab/api/v4/projects/{project}/merge_requests/{iid}";
    Router::new()
        .route("/github/api/graphql", post(graphql))
        .route(PULL_REQUEST, get(get_diff))
        .route(&format!("{PULL_REQUEST}/files"), get(get_files))
        .route(&format!("{PULL_REQUEST}/reviews"), post(review))
        .route(&format!("{PULL_REQUEST}/merge"), put(merge))
        .route("/gitlab/api/v4/user", get(gitlab_user))
        .route(MERGE_REQUEST, any(merge_request))
        .route(&format!("{MERGE_REQUEST}/{{subpath}}"), any(merge_request))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
}

/// Responds to a request, or closes the connection without a response.
fn respond(
    service: &Service,
    kind: HostKind,
    headers: &HeaderMap,
    operation: HostOperation,
    cost: HostCost,
    make_reply: impl FnOnce(&HostWorld<'_>) -> HostReply,
) -> Response {
    match service.respond_as_host(kind, header_text(headers, header::AUTHORIZATION), operation, cost, make_reply) {
        Some(reply) => reply.into_response(),
        None => connection_closing_response(),
    }
}

fn header_text(headers: &HeaderMap, name: HeaderName) -> Option<&str> {
    headers.get(name).and_then(|value| value.to_str().ok())
}

async fn graphql(State(service): ServiceState, headers: HeaderMap, body: Bytes) -> Response {
    let (operation, cost) = classify_graphql_request(&body);
    respond(&service, HostKind::GitHub, &headers, operation, cost, |host| host.graphql_reply(&body))
}

fn pull_request_url(Path((owner, name, number)): PullRequestPath) -> String {
    format!("https://github.com/{owner}/{name}/pull/{number}")
}

async fn get_diff(State(service): ServiceState, path: PullRequestPath, headers: HeaderMap) -> Response {
    if header_text(&headers, header::ACCEPT) != Some("application/vnd.github.diff") {
        return error_response(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Only diffs are simulated");
    }
    respond(&service, HostKind::GitHub, &headers, HostOperation::Diff, HostCost::Rest, |host| {
        (host.changes_reply(&pull_request_url(path), None), None)
    })
}

/// The query parameters of a list of files.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct FilesParameters {
    page: usize,
    per_page: usize,
}

async fn get_files(
    State(service): ServiceState,
    path: PullRequestPath,
    Query(parameters): Query<FilesParameters>,
    headers: HeaderMap,
) -> Response {
    let page = Some((parameters.page, parameters.per_page.min(100)));
    respond(&service, HostKind::GitHub, &headers, HostOperation::Diff, HostCost::Rest, |host| {
        (host.changes_reply(&pull_request_url(path), page), None)
    })
}

async fn review(state: ServiceState, path: PullRequestPath, headers: HeaderMap, body: Bytes) -> Response {
    respond_to_action(state, path, headers, &ActionRequest { method: &Method::POST, path: "reviews", body: &body })
}

async fn merge(state: ServiceState, path: PullRequestPath, headers: HeaderMap, body: Bytes) -> Response {
    respond_to_action(state, path, headers, &ActionRequest { method: &Method::PUT, path: "merge", body: &body })
}

fn respond_to_action(
    State(service): ServiceState,
    path: PullRequestPath,
    headers: HeaderMap,
    request: &ActionRequest<'_>,
) -> Response {
    let operation = if request.path == "merge" { HostOperation::Merge } else { HostOperation::Review };
    respond(&service, HostKind::GitHub, &headers, operation, HostCost::Rest, |host| {
        host.perform_action(&pull_request_url(path), request)
    })
}

async fn gitlab_user(State(service): ServiceState, headers: HeaderMap) -> Response {
    respond(&service, HostKind::GitLab, &headers, HostOperation::State, HostCost::Free, |host| {
        (host.user_reply(), None)
    })
}

/// Responds to every request about a merge request. The path contains the percent-encoded project, and may end with a
/// part of the merge request, such as `notes`.
async fn merge_request(
    State(service): ServiceState,
    Path(path): Path<HashMap<String, String>>,
    Query(query): Query<HashMap<String, String>>,
    method: Method,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let parameter = |name: &str| path.get(name).map(String::as_str).unwrap_or_default();
    let request = GitLabRequest {
        method: &method,
        project: parameter("project"),
        iid: parameter("iid"),
        subpath: parameter("subpath"),
        query: &query,
        body: &body,
    };
    respond(&service, HostKind::GitLab, &headers, request.operation(), HostCost::Free, |host| {
        host.gitlab_reply(&request)
    })
}
