//! Reads one HTTP answer: head, body up to its cap, and what a status other than 2xx means.

use super::address::shown_host;
use super::connect_error::innermost;
use super::decode;
use super::error::{ApiError, Unreadable};
use super::excerpt::{excerpt, is_page, words};
use super::retry_after::RetryAfterHeader;
use crate::model::Time;
use crate::model::endpoint::ApiKey;
use crate::model::job::RemoteJob;
use crate::model::log::Operation;
use crate::model::redaction::Redactor;
use crate::model::text::CleanText;
use crate::model::views::ViewsPage;
use chrono::Utc;
use reqwest::header::{DATE, HeaderMap, HeaderName, LOCATION, RETRY_AFTER};
use reqwest::{Response, Url};
use std::time::Duration;

/// As much of an error's body as is read, in bytes.
const ERROR_CAP: usize = 64 * 1024;
const MIB: usize = 1024 * 1024;

/// What is needed to read the answer to a request. An answer that is there already, in a file or out of a generator of bad
/// ones, is read without a connection, by the same rules.
#[derive(Debug, Clone, Copy)]
pub struct BodyReader<'a> {
    pub operation: Operation,
    /// Time that the request had in all, for the sentence.
    pub within: Duration,
    /// Struck out of whatever the service says.
    pub key: &'a ApiKey,
}

/// How the body of a good answer is read.
pub(super) type Decode<T> = fn(&[u8], &ApiKey) -> Result<T, Unreadable>;

/// A job, whose texts don't repeat the key. An id can't be changed: one that repeats it is refused.
pub(super) fn job(body: &[u8], key: &ApiKey) -> Result<RemoteJob, Unreadable> {
    let redactor = Redactor::new(key);
    let mut job = decode::job(body)?;
    if redactor.finds(job.id.as_str()) {
        return Err(Unreadable::NoId);
    }
    job.redact(&redactor);
    Ok(job)
}

/// Page views, whose texts don't repeat the key.
pub(super) fn views(body: &[u8], key: &ApiKey) -> Result<ViewsPage, Unreadable> {
    let redactor = Redactor::new(key);
    let mut page = decode::views(body)?;
    page.rows.iter_mut().for_each(|row| redactor.clean(&mut row.path));
    Ok(page)
}

impl BodyReader<'_> {
    /// The job in an answer that came whole.
    ///
    /// # Errors
    /// What a status other than 2xx means, with the value of `Retry-After` where there was one; or a body that is no job.
    pub fn job(&self, status: u16, retry_after: Option<&str>, body: &[u8]) -> Result<RemoteJob, ApiError> {
        self.whole(status, retry_after, body, job)
    }

    /// The page views in an answer that came whole.
    ///
    /// # Errors
    /// As for [`Reading::job`]; or a body that holds no page views.
    pub fn views(&self, status: u16, retry_after: Option<&str>, body: &[u8]) -> Result<ViewsPage, ApiError> {
        self.whole(status, retry_after, body, views)
    }

    fn whole<T>(&self, status: u16, retry_after: Option<&str>, body: &[u8], decode: Decode<T>) -> Result<T, ApiError> {
        match status {
            200..300 => decode(body, self.key).map_err(|why| self.unreadable(status, why, body)),
            300..400 => Err(ApiError::Redirected { operation: self.operation, status, host: None }),
            _ => Err(self.refusal(status, retry_after, body)),
        }
    }

    /// Largest good answer, counted after decompression, in MiB.
    fn cap_mib(&self) -> usize {
        match self.operation {
            Operation::Create | Operation::Get | Operation::FollowUp => 4,
            Operation::Views => 16,
        }
    }

    /// The decoded answer, or what the status, the body or the way it ended means.
    pub(super) async fn read<T>(&self, mut response: Response, decode: Decode<T>) -> Result<T, ApiError> {
        let status = response.status();
        if status.is_redirection() {
            let host = redirect_host(response.url(), response.headers());
            return Err(ApiError::Redirected { operation: self.operation, status: status.as_u16(), host });
        }
        let body = match status.is_success() {
            true => self.body(&mut response).await?,
            // However the body ends, the status stands.
            false => chunks(&mut response, ERROR_CAP).await.0,
        };
        self.whole(status.as_u16(), header(response.headers(), &RETRY_AFTER), &body, decode)
    }

    /// The whole body of a good answer.
    async fn body(&self, response: &mut Response) -> Result<Vec<u8>, ApiError> {
        let operation = self.operation;
        match chunks(response, self.cap_mib() * MIB).await {
            (body, BodyEnd::Whole) => Ok(body),
            (_, BodyEnd::TooLarge) => Err(ApiError::TooLarge { operation, limit_mib: self.cap_mib() }),
            (_, BodyEnd::Broken(error)) => Err(self.broken(&error)),
        }
    }

    /// A failure after the connection stood.
    pub(super) fn broken(&self, error: &reqwest::Error) -> ApiError {
        let operation = self.operation;
        if error.is_timeout() {
            ApiError::TimedOut { operation, after: self.within }
        } else {
            ApiError::Lost { operation, detail: innermost(error) }
        }
    }

    fn unreadable(&self, status: u16, why: Unreadable, body: &[u8]) -> ApiError {
        let why = if why == Unreadable::NotJson && is_page(body) { Unreadable::Page } else { why };
        ApiError::Unreadable { operation: self.operation, status, why, excerpt: excerpt(body, self.key) }
    }

    fn refusal(&self, status: u16, retry_after: Option<&str>, body: &[u8]) -> ApiError {
        let operation = self.operation;
        let said = words(body, self.key);
        let words = said.text;
        match status {
            400 => ApiError::BadRequest { operation, words },
            401 => ApiError::Unauthorized { words },
            403 => ApiError::Forbidden { operation, words },
            404 => ApiError::NotFound { operation, words, is_page: said.is_page },
            408 | 499 => ApiError::GaveUp { operation, status, words },
            429 => ApiError::Limited { retry: RetryAfterHeader::parse(retry_after), words },
            402..=498 => ApiError::Rejected { operation, status, words },
            _ => ApiError::Failed { operation, status, words },
        }
    }
}

/// The service's Date header.
pub(super) fn date(headers: &HeaderMap) -> Option<Time> {
    let date = httpdate::parse_http_date(header(headers, &DATE)?).ok()?;
    Some(chrono::DateTime::<Utc>::from(date))
}

fn header<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok()
}

/// Where a redirect points, without path and query: these may carry what must not be shown.
fn redirect_host(from: &Url, headers: &HeaderMap) -> Option<CleanText> {
    shown_host(&from.join(header(headers, &LOCATION)?).ok()?)
}

/// How a body ended.
enum BodyEnd {
    Whole,
    TooLarge,
    Broken(reqwest::Error),
}

/// The body, decompressed, up to `cap` bytes. Never holds more than one chunk beyond that.
async fn chunks(response: &mut Response, cap: usize) -> (Vec<u8>, BodyEnd) {
    let mut body = Vec::new();
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if chunk.len() <= cap.saturating_sub(body.len()) => body.extend_from_slice(&chunk),
            Ok(Some(chunk)) => {
                body.extend(chunk.iter().take(cap.saturating_sub(body.len())));
                return (body, BodyEnd::TooLarge);
            }
            Ok(None) => return (body, BodyEnd::Whole),
            Err(error) => return (body, BodyEnd::Broken(error)),
        }
    }
}
