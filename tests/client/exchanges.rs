//! Records every kind of exchange between docdeck's client and the simulated GitHub. `.ci/schemas` checks the recorded
//! requests and responses against the schemas that GitHub publishes.

use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::response::Response;
use docdeck::api::hosts::{HostAddress, HostClient, host_client_options};
use docdeck::model::endpoint::ApiKey;
use docdeck::model::pull_request::{HostKind, PullRequestLink};
use docdeck::model::pull_request_action::{MergeMethod, PullRequestAction};
use docdeck::model::text::CleanText;
use docdeck::sim::{HostFault, Sim, SimOptions};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// The environment variable with the file to which the exchanges are written, one JSON object per line.
const FILE_VARIABLE: &str = "DOCDECK_EXCHANGES";

/// The faults that change responses. The others end connections or concern only actions.
const RESPONSE_FAULTS: [HostFault; 11] = [
    HostFault::ForbiddenChecks,
    HostFault::LimitInBody,
    HostFault::LimitInStatus,
    HostFault::ExpiredToken,
    HostFault::BadGateway,
    HostFault::OtherRepository,
    HostFault::HalfMissing,
    HostFault::UnknownConflicts,
    HostFault::ManyFiles,
    HostFault::MovingHead,
    HostFault::HostileText,
];

/// A proxy that records what passes through it.
#[derive(Clone)]
struct Recorder {
    target: String,
    http: reqwest::Client,
    exchanges: Arc<Mutex<Vec<Value>>>,
}

impl Recorder {
    /// Starts the proxy. Returns it with its base URL.
    async fn start(target: String) -> (Self, String) {
        // An error means that another test of this process has installed a crypto provider.
        let _ = rustls::crypto::ring::default_provider().install_default();
        // No proxy and no certificates: only the simulator on this computer is requested.
        let http = reqwest::Client::builder().no_proxy().tls_certs_only([]).build().expect("a client");
        let recorder = Self { target, http, exchanges: Arc::default() };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = listener.local_addr().expect("an address");
        let router = axum::Router::new().fallback(forward).with_state(recorder.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        (recorder, format!("http://{address}"))
    }

    fn recorded(&self) -> Vec<Value> {
        self.exchanges.lock().expect("not poisoned").clone()
    }
}

async fn forward(State(recorder): State<Recorder>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let sent = to_bytes(body, 1 << 24).await.expect("a body");
    let target = format!("{}{}", recorder.target, parts.uri);
    let mut headers = parts.headers.clone();
    headers.remove("host");
    let forwarded = recorder.http.request(parts.method.clone(), target).headers(headers).body(sent.clone());
    let response = forwarded.send().await.expect("an answer");
    let (status, headers) = (response.status(), response.headers().clone());
    let received = response.bytes().await.expect("a body");
    let is_json = headers.get("content-type").is_some_and(|kind| kind.as_bytes().starts_with(b"application/json"));
    let parsed = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).ok();
    recorder.exchanges.lock().expect("not poisoned").push(json!({
        "method": parts.method.as_str(), "path": parts.uri.path(), "query": parts.uri.query(),
        "request": parsed(&sent),
        "status": status.as_u16(), "answer": if is_json { parsed(&received) } else { None },
    }));
    let mut response = Response::new(Body::from(received));
    (*response.status_mut(), *response.headers_mut()) = (status, headers);
    response
}

#[tokio::test]
async fn every_exchange_with_github_can_be_recorded() {
    let sim = Sim::start(SimOptions { jobs: 200, ..SimOptions::default() }).await.expect("it starts");
    let (recorder, base_url) = Recorder::start(sim.base_url()).await;
    let address = sim.host_address(HostKind::GitHub);
    let through = |url: &str| url.replace(&sim.base_url(), &base_url);
    let address =
        HostAddress { rest_url: through(&address.rest_url), graphql_url: through(&address.graphql_url), ..address };
    let token = ApiKey::new(sim.host_token(HostKind::GitHub)).expect("a token");
    let client = HostClient::new(&address, token, host_client_options()).expect("a client");
    let links = sim.initial_jobs().into_iter().filter_map(|job| job.body.state.pr_link);
    let links: Vec<_> = links.filter_map(|link| PullRequestLink::parse(link.as_str())).collect();
    let links: Vec<_> = links.into_iter().filter(|link| link.kind == HostKind::GitHub).collect();

    client.check_token().await.result.expect("accepted");
    let mut states = Vec::new();
    for links in links.chunks(25) {
        states.extend(client.pull_requests(links, sim.now()).await.result.expect("an answer"));
        client.checks(links).await.result.expect("an answer");
    }
    for link in links.iter().take(6) {
        client.details(link).await.result.expect("details");
        client.diff(link).await.result.expect("a diff");
    }
    let moved = CleanText::line("0000000000000000000000000000000000000000");
    let merge = PullRequestAction::Merge(Some(MergeMethod::Squash));
    let missing = PullRequestLink::parse("https://github.com/acme/docs/pull/999999").expect("a link");
    for fault in RESPONSE_FAULTS {
        sim.set_host_fault(Some(fault));
        // Whether these succeed depends on the fault. The responses have to fit the schema in any case.
        let _ = client.pull_requests(&links[..25], sim.now()).await;
        let _ = client.checks(&links[..25]).await;
        for link in [&links[0], &missing] {
            let _ = client.details(link).await;
            let _ = client.diff(link).await;
            let _ = client.perform_action(link, &moved, &PullRequestAction::Approve).await;
            let _ = client.perform_action(link, &moved, &merge).await;
            let _ = client.check_token().await;
        }
    }
    sim.set_host_fault(None);
    let text = "The screenshot is old.".to_owned();
    for (link, state) in states {
        let head = state.expect("a state").head;
        for action in [
            PullRequestAction::Comment(text.clone()),
            PullRequestAction::RequestChanges(text.clone()),
            PullRequestAction::Approve,
            PullRequestAction::MarkReady,
        ] {
            let _ = client.perform_action(&link, &head, &action).await;
        }
        let _ = client.perform_action(&link, &moved, &merge).await;
        let last = if link.number.is_multiple_of(2) { merge.clone() } else { PullRequestAction::Close };
        let _ = client.perform_action(&link, &head, &last).await;
    }

    let recorded = recorder.recorded();
    let has = |path: &str, status: u16| {
        recorded.iter().any(|exchange| {
            exchange["path"].as_str().is_some_and(|found| found.ends_with(path)) && exchange["status"] == status
        })
    };
    for (path, status) in [
        ("/graphql", 200),
        ("/graphql", 401),
        ("/graphql", 403),
        ("/graphql", 502),
        ("/files", 200),
        ("/reviews", 200),
        ("/reviews", 404),
        ("/reviews", 422),
        ("/merge", 200),
        ("/merge", 404),
        ("/merge", 405),
        ("/merge", 409),
    ] {
        assert!(has(path, status), "no exchange of {path} with status {status}");
    }
    for mutation in ["markPullRequestReadyForReview", "closePullRequest"] {
        let is_done = |exchange: &Value| exchange["answer"]["data"][mutation].is_object();
        assert!(recorded.iter().any(is_done), "{mutation} was never carried out");
    }
    if let Some(file) = std::env::var_os(FILE_VARIABLE) {
        let lines: String = recorded.iter().map(|exchange| format!("{exchange}\n")).collect();
        std::fs::write(file, lines).expect("written");
    }
}
