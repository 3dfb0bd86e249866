//! The HTTP server: accepts connections, parses requests and injects faults. If a fault demands that an answer is lost,
//! the server closes the connection without sending a byte. `service` answers the requests.

use super::bad_bodies::{CloseUnanswered, closed_connection, damage, fault_response};
use super::faults::FaultKind;
use super::host_actions::ActionRequest;
use super::reply::refusal;
use super::service::{Service, SimRequest};
use super::views::Parameters;
use crate::model::log::Operation;
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{FromRequestParts, Path, Query, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use axum::routing::{get, post, put};
use hyper::body::Incoming;
use hyper::service::Service as _;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use std::sync::Arc;
use std::time::{Duration, SystemTime};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::oneshot;
use tokio::task::JoinSet;

/// The longest request body in bytes. A prompt of 1 MiB fits even if every character is escaped in JSON.
const MAX_BODY_BYTES: usize = 8 * 1024 * 1024;

type ServiceState = State<Arc<Service>>;

/// Serves on `listener` until the sender of `stop` sends or is dropped, then closes all connections.
pub(super) async fn serve(listener: TcpListener, service: Arc<Service>, mut stop: oneshot::Receiver<()>) {
    let router = router(service);
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            _ = &mut stop => break,
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(serve_connection(stream, router.clone()));
                }
                // The usual cause is too many open files, so wait until some may have been closed.
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            },
            Some(_) = connections.join_next(), if !connections.is_empty() => {}
        }
    }
    connections.shutdown().await;
}

/// Serves one connection. To close it without an answer, hyper needs a service that fails. axum's services never fail,
/// so a response marked with `CloseUnanswered` is turned into a failure here.
async fn serve_connection(stream: TcpStream, router: Router) {
    // Send each answer at once: answers are small, and the client waits for them.
    let _ = stream.set_nodelay(true);
    let routes = TowerToHyperService::new(router);
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let answer = routes.call(request.map(Body::new));
        async move {
            match answer.await {
                Ok(response) if response.extensions().get::<CloseUnanswered>().is_some() => Err(Unanswered),
                Ok(response) => Ok(response),
                Err(never) => match never {},
            }
        }
    });
    let connection = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    // An error means that the client disconnected, which is no failure of the service.
    let _ = connection.await;
}

#[derive(Debug, thiserror::Error)]
#[error("the connection is closed without an answer")]
struct Unanswered;

fn router(service: Arc<Service>) -> Router {
    Router::new()
        .route("/v2/agent/{project}/job", post(post_job))
        .route("/v2/agent/{project}/job/{id}", get(get_job))
        .route("/v2/agent/{project}/job/{id}/message", post(follow_up))
        .route("/v1/analytics/{project}/views", get(get_views))
        .route("/code-host/api/graphql", post(graphql))
        .route("/code-host/api/v3/repos/{owner}/{name}/pulls/{number}", get(get_diff).patch(close_pull_request))
        .route("/code-host/api/v3/repos/{owner}/{name}/pulls/{number}/files", get(get_files))
        .route("/code-host/api/v3/repos/{owner}/{name}/pulls/{number}/reviews", post(review))
        .route("/code-host/api/v3/repos/{owner}/{name}/pulls/{number}/merge", put(merge))
        .fallback(async || refusal(StatusCode::NOT_FOUND, "Not found"))
        .method_not_allowed_fallback(async || refusal(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed"))
        .layer(axum::middleware::map_response_with_state(Arc::clone(&service), add_date_header))
        .with_state(service)
}

/// Adds a Date header with the service's time to every answer.
async fn add_date_header(State(service): ServiceState, mut response: Response) -> Response {
    let text = httpdate::fmt_http_date(SystemTime::from(service.now()));
    if let Ok(value) = HeaderValue::from_str(&text) {
        response.headers_mut().insert(header::DATE, value);
    }
    response
}

async fn post_job(State(service): ServiceState, request: Request) -> Response {
    handle(&service, Operation::Create, request).await
}

async fn get_job(State(service): ServiceState, request: Request) -> Response {
    if request.method() != Method::GET {
        return refusal(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed");
    }
    handle(&service, Operation::Get, request).await
}

async fn follow_up(State(service): ServiceState, request: Request) -> Response {
    handle(&service, Operation::FollowUp, request).await
}

async fn get_views(State(service): ServiceState, request: Request) -> Response {
    if request.method() != Method::GET {
        return refusal(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed");
    }
    handle(&service, Operation::Views, request).await
}

/// Answers a GraphQL request to the code host.
async fn graphql(State(service): ServiceState, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MAX_BODY_BYTES).await else {
        return refusal(StatusCode::PAYLOAD_TOO_LARGE, "The body is too large");
    };
    let authorization = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    service.answer_host(authorization, &body).into_response()
}

/// The path of a pull request in the code host's REST API: owner, repository and number.
type PullRequestPath = Path<(String, String, String)>;

fn pull_request_url(Path((owner, name, number)): PullRequestPath) -> String {
    format!("https://github.com/{owner}/{name}/pull/{number}")
}

/// Answers a request for the diff of a pull request.
async fn get_diff(State(service): ServiceState, path: PullRequestPath, headers: HeaderMap) -> Response {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    if text(header::ACCEPT) != Some("application/vnd.github.diff") {
        return refusal(StatusCode::UNSUPPORTED_MEDIA_TYPE, "Only diffs are simulated");
    }
    service.answer_changes(text(header::AUTHORIZATION), &pull_request_url(path), None).into_response()
}

async fn close_pull_request(state: ServiceState, path: PullRequestPath, request: Request) -> Response {
    act_on_pull_request(state, path, "", request).await
}

async fn review(state: ServiceState, path: PullRequestPath, request: Request) -> Response {
    act_on_pull_request(state, path, "reviews", request).await
}

async fn merge(state: ServiceState, path: PullRequestPath, request: Request) -> Response {
    act_on_pull_request(state, path, "merge", request).await
}

async fn act_on_pull_request(
    State(service): ServiceState,
    at: PullRequestPath,
    path: &str,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let Ok(body) = to_bytes(body, MAX_BODY_BYTES).await else {
        return refusal(StatusCode::PAYLOAD_TOO_LARGE, "The body is too large");
    };
    let authorization = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let request = ActionRequest { method: &parts.method, path, body: &body };
    match service.act_on_host(authorization, &pull_request_url(at), &request) {
        Some(reply) => reply.into_response(),
        None => closed_connection(),
    }
}

/// The query parameters of a list of files.
#[derive(Debug, serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct FilesParameters {
    page: usize,
    per_page: usize,
}

/// Answers a request for one page of the files of a pull request.
async fn get_files(
    State(service): ServiceState,
    path: PullRequestPath,
    Query(parameters): Query<FilesParameters>,
    headers: HeaderMap,
) -> Response {
    let authorization = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let page = Some((parameters.page, parameters.per_page.min(100)));
    service.answer_changes(authorization, &pull_request_url(path), page).into_response()
}

async fn handle(service: &Service, operation: Operation, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let body = to_bytes(body, MAX_BODY_BYTES).await;
    let injected = service.receive(operation);
    if !injected.wait.is_zero() {
        tokio::time::sleep(injected.wait).await;
    }
    if let Some(response) = injected.kind.and_then(|kind| fault_response(kind, service.now())) {
        return response;
    }
    let Ok(body) = body else { return refusal(StatusCode::PAYLOAD_TOO_LARGE, "The body is too large") };
    let mut sim_request = match extract_request(&mut parts, operation, body).await {
        Ok(sim_request) => sim_request,
        Err(response) => return response,
    };
    if let (Some(FaultKind::Stuck), Some(parameters)) = (injected.kind, &mut sim_request.parameters) {
        parameters.offset = None;
    }
    let reply = service.answer(&sim_request);
    match injected.kind {
        Some(kind) => damage(kind, reply),
        None => reply.into_response(),
    }
}

async fn extract_request(parts: &mut Parts, operation: Operation, body: Bytes) -> Result<SimRequest, Response> {
    let bad_path = |_| refusal(StatusCode::BAD_REQUEST, "The path is not valid UTF-8");
    let (project, id) = match operation {
        Operation::Create | Operation::Views => {
            let Path(project) = Path::<String>::from_request_parts(parts, &()).await.map_err(bad_path)?;
            (project, String::new())
        }
        Operation::Get | Operation::FollowUp => {
            let Path(both) = Path::<(String, String)>::from_request_parts(parts, &()).await.map_err(bad_path)?;
            both
        }
    };
    let text = |name| parts.headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let media_type = text(header::CONTENT_TYPE).and_then(|value| value.split(';').next()).unwrap_or("").trim();
    Ok(SimRequest {
        operation,
        authorization: text(header::AUTHORIZATION).map(str::to_owned),
        is_json: media_type.eq_ignore_ascii_case("application/json"),
        project,
        job_id: id,
        parameters: Query::<Parameters>::try_from_uri(&parts.uri).ok().map(|Query(parameters)| parameters),
        body,
    })
}
