//! Reads one HTTP response: decodes its body up to a size limit, or converts a status other than 2xx to an error.

use super::address::display_host;
use super::connect_error::innermost_cause;
use super::decode;
use super::error::{ApiError, Unreadable};
use super::excerpt::{error_text, excerpt, is_html_page};
use super::retry_after::RetryAfterHeader;
use crate::model::Time;
use crate::model::endpoint::ApiKey;
use crate::model::log::Operation;
use crate::model::redaction::Redactor;
use crate::model::remote_job::RemoteJob;
use crate::model::text::CleanText;
use crate::model::views::{Count, ViewsResponse};
use chrono::Utc;
use reqwest::header::{DATE, HeaderMap, HeaderName, LOCATION, RETRY_AFTER};
use reqwest::{Response, Url};
use std::time::Duration;

/// The maximum number of bytes that are read from the body of an error response.
const MAX_ERROR_BODY_BYTES: usize = 64 * 1024;
const MIB: usize = 1024 * 1024;

/// Reads the response to one request. The error for an unusable response depends on the operation. The public methods
/// decode a complete response from memory by the same rules, for benchmarks and fuzz targets.
#[derive(Debug, Clone, Copy)]
pub struct BodyReader<'a> {
    pub operation: Operation,
    /// The total timeout of the request, for the error message.
    pub timeout: Duration,
    /// The API key, which is redacted from everything that the service returns.
    pub key: &'a ApiKey,
}

/// A function that decodes the body of a successful response.
pub(super) type DecodeBody<T> = fn(&[u8], &ApiKey) -> Result<T, Unreadable>;

/// Decodes a job and redacts the key from its texts. The id can't be redacted, so a response with an id that contains
/// the key is rejected.
pub(super) fn decode_redacted_job(body: &[u8], key: &ApiKey) -> Result<RemoteJob, Unreadable> {
    let redactor = Redactor::new(key);
    let mut job = decode::decode_job(body)?;
    if redactor.finds_key_in(job.id.as_str()) {
        return Err(Unreadable::NoId);
    }
    job.redact(&redactor);
    Ok(job)
}

/// Decodes page views and redacts the key from their texts.
pub(super) fn decode_redacted_views(body: &[u8], key: &ApiKey) -> Result<ViewsResponse, Unreadable> {
    let redactor = Redactor::new(key);
    let mut page = decode::decode_views(body)?;
    let rows = page.rows.iter_mut().map(|row| (Some(&mut row.path), &mut row.counts));
    for (path, counts) in rows.chain([(None, &mut page.totals)]) {
        path.into_iter().for_each(|path| redactor.redact_line(path));
        for count in [&mut counts.human, &mut counts.ai, &mut counts.total] {
            // A text that was received instead of a number is shown too, so it must not contain the key.
            if let Count::Other(text) = count {
                redactor.redact_line(text);
            }
        }
    }
    Ok(page)
}

impl BodyReader<'_> {
    /// Decodes the job in a complete response. `retry_after` is the value of the header `Retry-After`.
    ///
    /// # Errors
    /// Fails if the status is not 2xx, or if the body is not a job.
    pub fn job(&self, status: u16, retry_after: Option<&str>, body: &[u8]) -> Result<RemoteJob, ApiError> {
        self.decode_complete_response(status, retry_after, body, decode_redacted_job)
    }

    /// Decodes the page views in a complete response. `retry_after` is the value of the header `Retry-After`.
    ///
    /// # Errors
    /// Fails if the status is not 2xx, or if the body has no page views.
    pub fn views(&self, status: u16, retry_after: Option<&str>, body: &[u8]) -> Result<ViewsResponse, ApiError> {
        self.decode_complete_response(status, retry_after, body, decode_redacted_views)
    }

    pub(super) fn decode_complete_response<T>(
        &self,
        status: u16,
        retry_after: Option<&str>,
        body: &[u8],
        decode: DecodeBody<T>,
    ) -> Result<T, ApiError> {
        match status {
            200..300 => decode(body, self.key).map_err(|why| self.unreadable(status, why, body)),
            300..400 => Err(ApiError::Redirected { operation: self.operation, status, host: None }),
            _ => Err(self.status_error(status, retry_after, body)),
        }
    }

    /// Returns the size limit for the decompressed body of a successful response, in MiB.
    fn max_body_mib(&self) -> usize {
        match self.operation {
            Operation::Create | Operation::GetJob | Operation::FollowUp | Operation::Preview | Operation::Build => 4,
            Operation::Views | Operation::Analytics(_) | Operation::Conversation => 16,
        }
    }

    /// Returns the decoded response, or an error for the status, for the body or for a broken connection.
    pub(super) async fn read<T>(&self, mut response: Response, decode: DecodeBody<T>) -> Result<T, ApiError> {
        let status = response.status();
        if status.is_redirection() {
            let host = redirect_host(response.url(), response.headers());
            return Err(ApiError::Redirected { operation: self.operation, status: status.as_u16(), host });
        }
        let body = match status.is_success() {
            true => self.read_body(&mut response).await?,
            // The status alone decides the error, even if the body can't be read to its end.
            false => read_body_up_to(&mut response, MAX_ERROR_BODY_BYTES).await.0,
        };
        self.decode_complete_response(status.as_u16(), header_text(response.headers(), &RETRY_AFTER), &body, decode)
    }

    /// Reads the complete body of a successful response.
    async fn read_body(&self, response: &mut Response) -> Result<Vec<u8>, ApiError> {
        let operation = self.operation;
        match read_body_up_to(response, self.max_body_mib() * MIB).await {
            (body, BodyReadOutcome::Complete) => Ok(body),
            (_, BodyReadOutcome::TooLarge) => Err(ApiError::TooLarge { operation, limit_mib: self.max_body_mib() }),
            (_, BodyReadOutcome::Broken(error)) => Err(self.transfer_error(&error)),
        }
    }

    /// Returns the error for a failure after the connection was established.
    pub(super) fn transfer_error(&self, error: &reqwest::Error) -> ApiError {
        let operation = self.operation;
        if error.is_timeout() {
            ApiError::TimedOut { operation, after: self.timeout }
        } else {
            ApiError::Lost { operation, detail: innermost_cause(error) }
        }
    }

    fn unreadable(&self, status: u16, why: Unreadable, body: &[u8]) -> ApiError {
        let why = if why == Unreadable::NotJson && is_html_page(body) { Unreadable::HtmlPage } else { why };
        // A response with texts of readers is not quoted, because its beginning may contain a reader's contact address.
        let is_private = self.operation.has_reader_text() && why != Unreadable::HtmlPage;
        let excerpt = if is_private { CleanText::default() } else { excerpt(body, self.key) };
        ApiError::Unreadable { operation: self.operation, status, why, excerpt }
    }

    fn status_error(&self, status: u16, retry_after: Option<&str>, body: &[u8]) -> ApiError {
        let operation = self.operation;
        let error = error_text(body, self.key);
        let service_text = error.text;
        match status {
            400 => ApiError::BadRequest { operation, service_text },
            401 => ApiError::Unauthorized { service_text },
            403 => ApiError::Forbidden { operation, service_text },
            404 => ApiError::NotFound { operation, service_text, is_html_page: error.is_html_page },
            408 | 499 => ApiError::ServerTimeout { operation, status, service_text },
            429 => ApiError::Limited { retry: RetryAfterHeader::parse(retry_after), service_text },
            402..=498 => ApiError::Rejected { operation, status, service_text },
            _ => ApiError::Failed { operation, status, service_text },
        }
    }
}

/// Returns the time in the `Date` header, or `None` if the header is missing or invalid.
pub(super) fn date_header(headers: &HeaderMap) -> Option<Time> {
    let date = httpdate::parse_http_date(header_text(headers, &DATE)?).ok()?;
    Some(chrono::DateTime::<Utc>::from(date))
}

fn header_text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Returns the host that a redirect points to, without path and query, which may contain secrets.
fn redirect_host(from: &Url, headers: &HeaderMap) -> Option<CleanText> {
    display_host(&from.join(header_text(headers, &LOCATION)?).ok()?)
}

/// Whether a body was read completely, and if not, why.
pub(super) enum BodyReadOutcome {
    Complete,
    TooLarge,
    Broken(reqwest::Error),
}

/// Reads at most `cap` bytes of the decompressed body. At most one more chunk is in memory at the same time.
pub(super) async fn read_body_up_to(response: &mut Response, cap: usize) -> (Vec<u8>, BodyReadOutcome) {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if chunk.len() <= cap.saturating_sub(body.len()) => body.extend_from_slice(&chunk),
            Ok(Some(chunk)) => {
                body.extend(chunk.iter().take(cap.saturating_sub(body.len())));
                return (body, BodyReadOutcome::TooLarge);
            }
            Ok(None) => return (body, BodyReadOutcome::Complete),
            Err(error) => return (body, BodyReadOutcome::Broken(error)),
        }
    }
}
