//! The client of the service. Each call makes one request and never retries it: a lost response is an error, and the
//! caller decides what to do.

use super::ApiResponse;
use super::address::Address;
use super::connect_error::ConnectError;
use super::error::ApiError;
use super::response::{self, BodyReader};
use super::roots::ExtraRoots;
use super::transport::{self, ConnectionReuse};
use crate::model::endpoint::{ApiKey, Scope};
use crate::model::failure::Failure;
use crate::model::log::Operation;
use crate::model::remote_job::{JobId, RemoteJob};
use crate::model::text::CleanText;
use crate::model::views::{ViewsQuery, ViewsResponse};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_TYPE, HeaderValue};
use reqwest::{Method, Response, Url};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::OnceCell;
use zeroize::Zeroizing;

/// The slowest upload that doesn't time out: the timeout of a prompt is extended by one second per 64 KiB.
const MIN_UPLOAD_BYTES_PER_SECOND: usize = 64 * 1024;

/// The timeouts and the trusted certificates of the client.
#[derive(Debug, Clone)]
pub struct ClientOptions {
    /// The timeout for name lookup, connection and TLS together.
    pub connect_timeout: Duration,
    /// The timeout from the call to the last byte of the response; requests with long prompts get more time.
    pub total_timeout: Duration,
    /// Certificate authorities that are trusted in addition to those of the system.
    pub roots: Option<ExtraRoots>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self { connect_timeout: Duration::from_secs(10), total_timeout: Duration::from_secs(60), roots: None }
    }
}

/// The client for one project and API key. Cheap to clone; connects and reads certificates only at the first request.
#[derive(Debug, Clone)]
pub struct Client(Arc<ClientState>);

#[derive(Debug)]
struct ClientState {
    scope: Scope,
    address: Address,
    key: ApiKey,
    options: ClientOptions,
    /// The HTTP client for requests that only read; keeps connections for the next request ([`ConnectionReuse::Keep`]).
    read_only_client: OnceCell<reqwest::Client>,
    /// The HTTP client for prompts and other requests that change something; never reuses a connection
    /// ([`ConnectionReuse::Never`]).
    prompt_client: OnceCell<reqwest::Client>,
}

/// A request to the service: a POST if it has a body, otherwise a GET.
pub(super) struct OutgoingRequest {
    pub(super) operation: Operation,
    pub(super) url: Url,
    pub(super) body: Option<String>,
}

impl Client {
    /// Creates a client. Fails with a message for the user if the project id or the base URL is invalid, or if the base
    /// URL starts with `http://` and its host is another computer.
    pub fn new(scope: Scope, key: ApiKey, options: ClientOptions) -> Result<Self, Failure> {
        let address = Address::new(&scope).map_err(|error| Failure::local(&error.to_string()))?;
        let (read_only_client, prompt_client) = (OnceCell::new(), OnceCell::new());
        let inner = ClientState { scope, address, key, options, read_only_client, prompt_client };
        Ok(Self(Arc::new(inner)))
    }

    /// Returns the service and project of this client.
    pub fn scope(&self) -> &Scope {
        &self.0.scope
    }

    /// Creates a job. Counts toward the project's hourly limit of new jobs.
    pub async fn create_job(&self, prompt: &str) -> ApiResponse<RemoteJob> {
        let Some(url) = self.0.address.jobs_url() else {
            return self.url_failure();
        };
        self.request(
            OutgoingRequest { operation: Operation::Create, url, body: Some(prompt_body(prompt)) },
            response::decode_redacted_job,
        )
        .await
    }

    pub async fn get_job(&self, id: &JobId) -> ApiResponse<RemoteJob> {
        let Some(url) = self.0.address.job_url(id) else {
            return unusable_id_failure(id.to_clean_text());
        };
        let response = self
            .request(OutgoingRequest { operation: Operation::GetJob, url, body: None }, response::decode_redacted_job)
            .await;
        require_same_job(id, Operation::GetJob, response)
    }

    /// Sends a follow-up to a job. Counts toward the project's hourly limit of follow-ups.
    pub async fn send_follow_up(&self, id: &JobId, prompt: &str) -> ApiResponse<RemoteJob> {
        let Some(url) = self.0.address.follow_up_url(id) else {
            return unusable_id_failure(id.to_clean_text());
        };
        let outgoing = OutgoingRequest { operation: Operation::FollowUp, url, body: Some(prompt_body(prompt)) };
        require_same_job(id, Operation::FollowUp, self.request(outgoing, response::decode_redacted_job).await)
    }

    /// Fetches page views, at most as many rows as the query asks for. Counts toward the hourly limit of analytics
    /// requests.
    pub async fn get_views(&self, query: &ViewsQuery) -> ApiResponse<ViewsResponse> {
        let Some(url) = self.0.address.views_url(query) else {
            return self.url_failure();
        };
        self.request(OutgoingRequest { operation: Operation::Views, url, body: None }, response::decode_redacted_views)
            .await
    }

    pub(super) fn address(&self) -> &Address {
        &self.0.address
    }

    /// Sends a request and decodes its response with `decode`.
    pub(super) async fn request<T>(
        &self,
        outgoing: OutgoingRequest,
        decode: response::DecodeBody<T>,
    ) -> ApiResponse<T> {
        let started = Instant::now();
        let upload_seconds = outgoing.body.as_ref().map_or(0, |body| body.len() / MIN_UPLOAD_BYTES_PER_SECOND);
        let timeout = self.0.options.total_timeout + Duration::from_secs(u64::try_from(upload_seconds).unwrap_or(0));
        let reader = BodyReader { operation: outgoing.operation, timeout, key: &self.0.key };
        match self.send(outgoing, &reader).await {
            Ok(response) => {
                let (status, date) = (Some(response.status().as_u16()), response::date_header(response.headers()));
                let result = reader.read(response, decode).await;
                ApiResponse { result, status, took: started.elapsed(), date }
            }
            Err(error) => ApiResponse { result: Err(error), status: None, took: started.elapsed(), date: None },
        }
    }

    async fn send(&self, outgoing: OutgoingRequest, reader: &BodyReader<'_>) -> Result<Response, ApiError> {
        let not_reached = |cause| ApiError::NotReached { host: self.0.address.base().host().clone(), cause };
        let http = self
            .http_client(if outgoing.body.is_some() { ConnectionReuse::Never } else { ConnectionReuse::Keep })
            .await
            .map_err(not_reached)?;
        let mut bearer = HeaderValue::try_from(Zeroizing::new(format!("Bearer {}", self.0.key.expose())).as_str())
            .map_err(|_| {
                not_reached(ConnectError::Other(CleanText::line(
                    "the key contains characters that are not allowed in a header",
                )))
            })?;
        bearer.set_sensitive(true);
        let method = if outgoing.body.is_some() { Method::POST } else { Method::GET };
        let mut request =
            http.request(method, outgoing.url).header(AUTHORIZATION, bearer).header(ACCEPT, "application/json");
        if let Some(body) = outgoing.body {
            request = request.header(CONTENT_TYPE, "application/json").body(body);
        }
        request.timeout(reader.timeout).send().await.map_err(|error| match ConnectError::from_reqwest(&error) {
            Some(cause) => not_reached(cause),
            None => reader.transfer_error(&error),
        })
    }

    /// Returns the underlying HTTP client, which is built at its first use.
    async fn http_client(&self, reuse: ConnectionReuse) -> Result<&reqwest::Client, ConnectError> {
        let cell = match reuse {
            ConnectionReuse::Keep => &self.0.read_only_client,
            ConnectionReuse::Never => &self.0.prompt_client,
        };
        transport::get_or_build_client(cell, self.0.address.base(), &self.0.options, reuse).await
    }

    /// Returns the error for the theoretical case that a valid base URL becomes invalid when a path is appended.
    pub(super) fn url_failure<T>(&self) -> ApiResponse<T> {
        let cause = ConnectError::Other(CleanText::line("the base URL can't be extended"));
        unsent_failure(ApiError::NotReached { host: self.0.address.base().host().clone(), cause })
    }
}

fn prompt_body(prompt: &str) -> String {
    serde_json::json!({ "prompt": prompt }).to_string()
}

pub(super) fn unusable_id_failure<T>(id: CleanText) -> ApiResponse<T> {
    unsent_failure(ApiError::UnusableId { id })
}

fn unsent_failure<T>(error: ApiError) -> ApiResponse<T> {
    ApiResponse { result: Err(error), status: None, took: Duration::ZERO, date: None }
}

/// Rejects a response about a job other than the requested one, because it would overwrite the data of the requested
/// job.
fn require_same_job(id: &JobId, operation: Operation, mut response: ApiResponse<RemoteJob>) -> ApiResponse<RemoteJob> {
    response.result = response.result.and_then(|job| match job.id == *id {
        true => Ok(job),
        false => Err(ApiError::OtherJob { operation, got: job.id.to_clean_text() }),
    });
    response
}
