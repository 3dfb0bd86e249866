//! The client for code hosts: GitHub, GitHub Enterprise and GitLab. A request is never retried.
//!
//! The queries are written by hand, and responses are read tolerantly: if a field is missing or unexpected, only its
//! value is unknown. A host's token is sent only to this host, and is redacted from everything that the host returns.

mod actions;
mod details;
mod diff;
mod error;
mod github;
mod gitlab;
mod json;
mod limit;

pub use diff::ReportedDiff;
pub use error::{HostError, HostErrorKind};
pub use limit::HostRequestStats;

use super::address::{AddressError, BaseUrl};
use super::client::ClientOptions;
use super::connect_error::{ConnectError, innermost_cause};
use super::excerpt;
use super::response::{BodyReadOutcome, read_body_up_to};
use super::transport::{self, ConnectionReuse};
use crate::model::Time;
use crate::model::endpoint::ApiKey;
use crate::model::pull_request::{Checks, HostKind, PullRequest, PullRequestLink};
use crate::model::redaction::Redactor;
use crate::model::text::{CleanText, clean_source_code};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Method, Response, Url};
use serde_json::Value;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::OnceCell;
use zeroize::Zeroizing;

/// The maximum number of pull requests in one request to GitHub.
pub const MAX_PULL_REQUESTS_PER_REQUEST: usize = 25;
/// The maximum decompressed size of a successful response other than a diff, in MiB.
const MAX_RESPONSE_MIB: usize = 8;
/// The maximum number of bytes that are read from the body of an error response.
const MAX_ERROR_BODY_BYTES: usize = 64 * 1024;
/// The version of GitHub's REST API that the requests are written for.
const GITHUB_API_VERSION: &str = "2022-11-28";

/// The addresses of a code host's API.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostAddress {
    /// The host name, as in the links to pull requests, with the port if there is one.
    pub host: String,
    pub kind: HostKind,
    /// The base URL of the REST API.
    pub rest_url: String,
    /// The URL of the GraphQL API. GitLab's is not used.
    pub graphql_url: String,
}

impl HostAddress {
    /// Returns the usual address of the API of a host.
    pub fn default_for(host: &str, kind: HostKind) -> Self {
        let (rest_url, graphql_url) = match kind {
            HostKind::GitLab => (format!("https://{host}/api/v4"), format!("https://{host}/api/graphql")),
            HostKind::GitHub if host == "github.com" => {
                ("https://api.github.com".to_owned(), "https://api.github.com/graphql".to_owned())
            }
            HostKind::GitHub if host.ends_with(".ghe.com") => {
                (format!("https://api.{host}"), format!("https://api.{host}/graphql"))
            }
            HostKind::GitHub => (format!("https://{host}/api/v3"), format!("https://{host}/api/graphql")),
        };
        Self { host: host.to_owned(), kind, rest_url, graphql_url }
    }
}

/// The result of a call to a code host, which may make several requests.
#[derive(Debug)]
pub struct HostResponse<T> {
    pub result: Result<T, HostError>,
    /// What the host reported about its limit of requests.
    pub budget: HostRequestStats,
}

impl<T> HostResponse<T> {
    fn map<U>(self, decode: impl FnOnce(T) -> Result<U, HostError>) -> HostResponse<U> {
        HostResponse { result: self.result.and_then(decode), budget: self.budget }
    }
}

/// What a code host reported about one pull request.
pub type PullRequestResult<T> = (PullRequestLink, Result<T, HostError>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadChecks {
    pub head: CleanText,
    pub checks: Checks,
}

/// The client for one code host. Cheap to clone; connects and reads certificates only at the first request.
#[derive(Debug, Clone)]
pub struct HostClient(Arc<HostClientState>);

#[derive(Debug)]
struct HostClientState {
    kind: HostKind,
    /// The host name, as in the links to pull requests, for messages.
    host_name: CleanText,
    rest_url: BaseUrl,
    graphql_url: BaseUrl,
    token: ApiKey,
    options: ClientOptions,
    /// The HTTP client for requests that only read; keeps connections for the next request ([`ConnectionReuse::Keep`]).
    read_only_client: OnceCell<reqwest::Client>,
    /// The HTTP client for actions; never reuses a connection ([`ConnectionReuse::Never`]).
    action_client: OnceCell<reqwest::Client>,
}

impl HostClient {
    /// Creates a client. Fails with a message for the user if an address is invalid, or starts with `http://` and its
    /// host is another computer.
    pub fn new(address: &HostAddress, token: ApiKey, options: ClientOptions) -> Result<Self, HostError> {
        let host_name = CleanText::line(&address.host);
        let parse = |url: &str| {
            BaseUrl::parse(url).map_err(|_| HostError { host: host_name.clone(), kind: HostErrorKind::InvalidAddress })
        };
        let (rest_url, graphql_url) = (parse(&address.rest_url)?, parse(&address.graphql_url)?);
        let (read_only_client, action_client) = (OnceCell::new(), OnceCell::new());
        let kind = address.kind;
        let state =
            HostClientState { kind, host_name, rest_url, graphql_url, token, options, read_only_client, action_client };
        Ok(Self(Arc::new(state)))
    }

    pub fn kind(&self) -> HostKind {
        self.0.kind
    }

    /// Requests the state of pull requests of this host: at most [`MAX_PULL_REQUESTS_PER_REQUEST`] of GitHub, or one of
    /// GitLab. On GitHub, the checks are unavailable until [`Self::checks`] has requested them.
    pub async fn pull_requests(
        &self,
        links: &[PullRequestLink],
        now: Time,
    ) -> HostResponse<Vec<PullRequestResult<PullRequest>>> {
        match self.0.kind {
            HostKind::GitHub => {
                let response = self.send_query(github::state_query(links)).await;
                response.map(|body| github::decode_states(self, &body, links, now))
            }
            HostKind::GitLab => {
                let Some(link) = links.first() else {
                    return self.failure(HostErrorKind::InvalidAddress);
                };
                let Some(url) = gitlab::merge_request_url(&self.0.rest_url, link) else {
                    return self.failure(HostErrorKind::InvalidAddress);
                };
                let response = self.send(HostRequest::get(url), MAX_RESPONSE_MIB).await;
                response.map(|body| Ok(vec![(link.clone(), gitlab::decode_state(self, &body, link, now))]))
            }
        }
    }

    /// Requests the checks of pull requests on GitHub. They are requested separately: a fine-grained token may lack the
    /// permission to read them, and then everything else in the same response would be lost.
    pub async fn checks(&self, links: &[PullRequestLink]) -> HostResponse<Vec<PullRequestResult<HeadChecks>>> {
        let response = self.send_query(github::checks_query(links)).await;
        response.map(|body| github::decode_checks(self, &body, links))
    }

    /// Checks that the host accepts the token, with a cheap request.
    pub async fn check_token(&self) -> HostResponse<()> {
        match self.0.kind {
            HostKind::GitHub => {
                let response = self.send_query(github::rate_limit_query()).await;
                response.map(|body| github::ensure_response_has_data(self, &body))
            }
            HostKind::GitLab => {
                let url = Url::parse(&format!("{}/user", self.0.rest_url.as_str())).ok();
                let response = self.send(HostRequest { url, ..HostRequest::get_without_url() }, MAX_RESPONSE_MIB).await;
                // The status alone doesn't show that the token is accepted: a proxy may respond with 200 and its own
                // page.
                let is_user = |body: &[u8]| {
                    self.parse_json(body).is_some_and(|user| json::str_field(&user, "username").is_some())
                };
                response.map(|body| if is_user(&body) { Ok(()) } else { Err(self.unreadable(&body)) })
            }
        }
    }

    fn graphql_request(&self, body: serde_json::Value) -> HostRequest {
        let url = Url::parse(self.0.graphql_url.as_str()).ok();
        HostRequest::with_body(Method::POST, url, &body)
    }

    /// Sends a GraphQL query and returns the body of the response, with the points that the query cost.
    async fn send_query(&self, body: Value) -> HostResponse<Vec<u8>> {
        let mut response = self.send(self.graphql_request(body), MAX_RESPONSE_MIB).await;
        response.budget.cost = response.result.as_ref().ok().and_then(|body| github::query_cost(body));
        response
    }

    fn error(&self, kind: HostErrorKind) -> HostError {
        HostError { host: self.0.host_name.clone(), kind }
    }

    fn failure<T>(&self, kind: HostErrorKind) -> HostResponse<T> {
        HostResponse { result: Err(self.error(kind)), budget: HostRequestStats::default() }
    }

    /// Parses a response, and cleans its texts before any of them is cut. Removes hidden characters first, because
    /// they could split the token, which is removed next.
    fn parse_json(&self, body: &[u8]) -> Option<Value> {
        let mut response = serde_json::from_slice(body).ok()?;
        clean_texts(&mut response, &self.redactor());
        Some(response)
    }

    fn unreadable(&self, body: &[u8]) -> HostError {
        self.error(HostErrorKind::Unreadable(excerpt::excerpt(body, &self.0.token)))
    }

    fn redactor(&self) -> Redactor {
        Redactor::new(&self.0.token)
    }

    /// Sends a request and returns the body of a successful response.
    async fn send(&self, request: HostRequest, limit_mib: usize) -> HostResponse<Vec<u8>> {
        self.send_with_body_limit(request, limit_mib * 1024 * 1024).await.map(|body| match body.is_truncated {
            true => Err(self.error(HostErrorKind::TooLarge { limit_mib })),
            false => Ok(body.bytes),
        })
    }

    /// Sends a request. Returns at most `max_body_bytes` bytes of the body of a successful response.
    async fn send_with_body_limit(&self, request: HostRequest, max_body_bytes: usize) -> HostResponse<ResponseBody> {
        let started = Instant::now();
        let mut limited_response = match self.send_request(request).await {
            Ok(mut response) => {
                let headers = HostRequestStats::from_headers(response.headers());
                let budget = HostRequestStats { status: Some(response.status().as_u16()), ..headers };
                let result = self.read_body(&mut response, &budget, max_body_bytes).await;
                HostResponse { result: result.map_err(|kind| self.error(kind)), budget }
            }
            Err(kind) => self.failure(kind),
        };
        limited_response.budget.duration_millis = u32::try_from(started.elapsed().as_millis()).unwrap_or(u32::MAX);
        limited_response
    }

    async fn send_request(&self, request: HostRequest) -> Result<Response, HostErrorKind> {
        let http = self.http_client(request.reuse).await.map_err(HostErrorKind::NotReached)?;
        let mut bearer = HeaderValue::try_from(Zeroizing::new(format!("Bearer {}", self.0.token.expose())).as_str())
            .map_err(|_| HostErrorKind::Unauthorized)?;
        bearer.set_sensitive(true);
        let url = request.url.ok_or(HostErrorKind::InvalidAddress)?;
        let mut builder =
            http.request(request.method, url).header(AUTHORIZATION, bearer).header(ACCEPT, request.accept);
        if self.0.kind == HostKind::GitHub {
            builder = builder.header("X-GitHub-Api-Version", GITHUB_API_VERSION);
        }
        if let Some(body) = request.body {
            builder = builder.header(CONTENT_TYPE, "application/json").body(body);
        }
        builder.send().await.map_err(|error| match ConnectError::from_reqwest(&error) {
            Some(cause) => HostErrorKind::NotReached(cause),
            None => self.transfer_error(&error),
        })
    }

    async fn read_body(
        &self,
        response: &mut Response,
        budget: &HostRequestStats,
        max_body_bytes: usize,
    ) -> Result<ResponseBody, HostErrorKind> {
        let status = response.status();
        if status.is_success() {
            let has_next_page = response.headers().get("x-next-page").map(|page| !page.is_empty());
            return match read_body_up_to(response, max_body_bytes).await {
                (_, BodyReadOutcome::Broken(error)) => Err(self.transfer_error(&error)),
                (bytes, end) => {
                    Ok(ResponseBody { bytes, is_truncated: matches!(end, BodyReadOutcome::TooLarge), has_next_page })
                }
            };
        }
        let is_limited = budget.is_limited(status.as_u16());
        let (body, _) = read_body_up_to(response, MAX_ERROR_BODY_BYTES).await;
        let text = excerpt::error_text(&body, &self.0.token).text;
        Err(match status.as_u16() {
            _ if is_limited => HostErrorKind::Limited,
            403 if limit::is_secondary_limit(&text) => HostErrorKind::Limited,
            401 => HostErrorKind::Unauthorized,
            403 => HostErrorKind::Forbidden(text),
            404 => HostErrorKind::NotFound,
            status => HostErrorKind::Failed { status, text },
        })
    }

    fn transfer_error(&self, error: &reqwest::Error) -> HostErrorKind {
        match error.is_timeout() {
            true => HostErrorKind::TimedOut(self.0.options.total_timeout),
            false => HostErrorKind::Lost(innermost_cause(error)),
        }
    }

    async fn http_client(&self, reuse: ConnectionReuse) -> Result<&reqwest::Client, ConnectError> {
        let cell = match reuse {
            ConnectionReuse::Keep => &self.0.read_only_client,
            ConnectionReuse::Never => &self.0.action_client,
        };
        transport::get_or_build_client(cell, &self.0.rest_url, &self.0.options, reuse).await
    }
}

/// Returns why this text can't be the URL of a host's API, or `None` if it can.
pub fn api_url_problem(url: &str) -> Option<&'static str> {
    match BaseUrl::parse(url) {
        Ok(_) => None,
        Err(AddressError::Unencrypted(_)) => Some("must start with https://; only localhost may use http://"),
        Err(_) => Some("must be a web address like https://ghe.example.com/api/v3"),
    }
}

/// Returns the default options for code hosts. The timeout is short, since GitHub itself gives up after 10 s.
pub fn host_client_options() -> ClientOptions {
    ClientOptions { connect_timeout: Duration::from_secs(10), total_timeout: Duration::from_secs(20), roots: None }
}

fn clean_texts(value: &mut Value, redactor: &Redactor) {
    match value {
        Value::String(text) => {
            let clean = clean_source_code(text);
            let clean = redactor.redacted(&clean);
            if clean != text.as_str() {
                *text = clean.into_owned();
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|value| clean_texts(value, redactor)),
        Value::Object(fields) => fields.values_mut().for_each(|value| clean_texts(value, redactor)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// The body of a successful response.
struct ResponseBody {
    bytes: Vec<u8>,
    /// Whether the end of the body is missing, because the body exceeds the size limit.
    is_truncated: bool,
    /// Whether another page of the list follows, according to GitLab's header; `None` without this header.
    has_next_page: Option<bool>,
}

struct HostRequest {
    method: Method,
    /// `None` if the base URL and the path form no valid URL.
    url: Option<Url>,
    body: Option<String>,
    accept: &'static str,
    reuse: ConnectionReuse,
}

impl HostRequest {
    fn get(url: Url) -> Self {
        Self { url: Some(url), ..Self::get_without_url() }
    }

    /// Returns a GET request without a URL, which the caller adds.
    fn get_without_url() -> Self {
        Self { method: Method::GET, url: None, body: None, accept: "application/json", reuse: ConnectionReuse::Keep }
    }

    fn with_body(method: Method, url: Option<Url>, body: &serde_json::Value) -> Self {
        Self { method, url, body: Some(body.to_string()), ..Self::get_without_url() }
    }
}
