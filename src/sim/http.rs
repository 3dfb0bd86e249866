//! The HTTP server: accepts connections, parses requests and injects faults. If a fault demands that a response is
//! lost, the server closes the connection without sending a byte. `service` responds to the requests.

use super::bad_bodies::{CloseConnectionMarker, damage_response, fault_response};
use super::faults::FaultKind;
use super::host_routes::{self, ServiceState};
use super::reply::error_response;
use super::service::{Service, SimRequest};
use super::views::Parameters;
use crate::model::analytics::AnalyticsKind;
use crate::model::log::Operation;
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{FromRequestParts, Path, Query, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use axum::routing::{MethodRouter, get, post};
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

/// Serves one connection. To close it without a response, hyper needs a service that fails. axum's services never fail,
/// so a response marked with `CloseConnectionMarker` is turned into a failure here.
async fn serve_connection(stream: TcpStream, router: Router) {
    // Send each response at once: responses are small, and the client waits for them.
    let _ = stream.set_nodelay(true);
    let routes = TowerToHyperService::new(router);
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        let response = routes.call(request.map(Body::new));
        async move {
            match response.await {
                Ok(response) if response.extensions().get::<CloseConnectionMarker>().is_some() => Err(NoResponse),
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
struct NoResponse;

fn router(service: Arc<Service>) -> Router {
    Router::new()
        .route("/v2/agent/{project}/job", post_route(Operation::Create))
        .route("/v2/agent/{project}/job/{id}", get_route(Operation::GetJob))
        .route("/v2/agent/{project}/job/{id}/message", post_route(Operation::FollowUp))
        .route("/v1/analytics/{project}/views", get_route(Operation::Views))
        .route("/v1/analytics/{project}/visitors", get_route(Operation::Analytics(AnalyticsKind::Visitors)))
        .route("/v1/analytics/{project}/searches", get_route(Operation::Analytics(AnalyticsKind::Searches)))
        .route("/v1/analytics/{project}/feedback", get_route(Operation::Analytics(AnalyticsKind::Feedback)))
        .route(
            "/v1/analytics/{project}/feedback/by-page",
            get_route(Operation::Analytics(AnalyticsKind::FeedbackByPage)),
        )
        .route("/v1/analytics/{project}/assistant", get_route(Operation::Analytics(AnalyticsKind::Questions)))
        .route("/v1/analytics/{project}/assistant/threads/{id}", get_route(Operation::Conversation))
        .route("/v1/project/preview/{project}", post_route(Operation::Preview))
        .route("/v1/project/update-status/{id}", get_route(Operation::Build))
        .merge(host_routes::routes())
        .fallback(async || error_response(StatusCode::NOT_FOUND, "Not found"))
        .method_not_allowed_fallback(async || error_response(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed"))
        .layer(axum::middleware::map_response_with_state(Arc::clone(&service), add_date_header))
        .with_state(service)
}

/// Adds a Date header with the service's time to every response.
async fn add_date_header(State(service): ServiceState, mut response: Response) -> Response {
    let text = httpdate::fmt_http_date(SystemTime::from(service.now()));
    if let Ok(value) = HeaderValue::from_str(&text) {
        response.headers_mut().insert(header::DATE, value);
    }
    response
}

/// Returns the route of an operation that is a POST.
fn post_route(operation: Operation) -> MethodRouter<Arc<Service>> {
    post(async move |State(service): ServiceState, request: Request| handle_request(&service, operation, request).await)
}

/// Returns the route of an operation that is a GET. Refuses HEAD requests, which axum would accept, because the service
/// doesn't document them.
fn get_route(operation: Operation) -> MethodRouter<Arc<Service>> {
    get(async move |State(service): ServiceState, request: Request| {
        if request.method() != Method::GET {
            return error_response(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed");
        }
        handle_request(&service, operation, request).await
    })
}

async fn handle_request(service: &Service, operation: Operation, request: Request) -> Response {
    let (mut parts, body) = request.into_parts();
    let body = to_bytes(body, MAX_BODY_BYTES).await;
    let injected = service.register_request(operation);
    if !injected.wait.is_zero() {
        tokio::time::sleep(injected.wait).await;
    }
    if let Some(response) = injected.kind.and_then(|kind| fault_response(kind, service.now())) {
        return response;
    }
    let Ok(body) = body else { return error_response(StatusCode::PAYLOAD_TOO_LARGE, "The body is too large") };
    let mut sim_request = match extract_request(&mut parts, operation, body).await {
        Ok(sim_request) => sim_request,
        Err(response) => return response,
    };
    if let (Some(FaultKind::StuckCursor), Some(parameters)) = (injected.kind, &mut sim_request.parameters) {
        (parameters.offset, parameters.cursor) = (None, None);
    }
    sim_request.should_claim_more_rows = matches!(injected.kind, Some(FaultKind::StuckCursor | FaultKind::EndlessRows));
    let reply = service.respond(&sim_request);
    match injected.kind {
        Some(kind) => damage_response(kind, reply),
        None => reply.into_response(),
    }
}

async fn extract_request(parts: &mut Parts, operation: Operation, body: Bytes) -> Result<SimRequest, Response> {
    let bad_path = |_| error_response(StatusCode::BAD_REQUEST, "The path is not valid UTF-8");
    let (project, id) = match operation {
        Operation::Create | Operation::Views | Operation::Preview | Operation::Analytics(_) => {
            let Path(project) = Path::<String>::from_request_parts(parts, &()).await.map_err(bad_path)?;
            (project, String::new())
        }
        Operation::Build => {
            let Path(id) = Path::<String>::from_request_parts(parts, &()).await.map_err(bad_path)?;
            (String::new(), id)
        }
        Operation::GetJob | Operation::FollowUp | Operation::Conversation => {
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
        resource_id: id,
        parameters: Query::<Parameters>::try_from_uri(&parts.uri).ok().map(|Query(parameters)| parameters),
        should_claim_more_rows: false,
        body,
    })
}
