//! Builds the URLs of the service's operations: validates the base URL, and encodes the project id and job ids as path
//! segments. Makes no requests.

use crate::model::analytics::{AnalyticsKind, Cursor};
use crate::model::endpoint::Scope;
use crate::model::period::DateRange;
use crate::model::remote_job::JobId;
use crate::model::text::CleanText;
use crate::model::views::ViewsQuery;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use reqwest::Url;
use std::net::IpAddr;

/// The characters that are percent-encoded in a path segment: all except the unreserved characters of RFC 3986, so that
/// no id can add a segment, a query or a fragment.
const SEGMENT_ENCODE_SET: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// Why a base URL or a project can't be used. No message repeats the URL, because the user may have pasted the API key
/// into the URL field, and the key must not appear on the screen.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum AddressError {
    #[error("The base URL is not a web address. Write it in full, like https://api.mintlify.com.")]
    NotAnAddress,
    #[error("The base URL does not start with https:// or http://. Write it in full, like https://api.mintlify.com.")]
    NotHttp,
    #[error("Use https: plain http would send the key unencrypted to {0}; it is allowed for localhost only.")]
    Unencrypted(CleanText),
    #[error(
        "The base URL contains a user name or password. Remove everything before the @; the key is a separate setting."
    )]
    HasUserInfo,
    #[error("The base URL contains a ? or #. End it with the host or a path.")]
    HasQueryOrFragment,
    #[error("The project id is missing or invalid. Copy it from the API keys page of your Mintlify dashboard.")]
    InvalidProject,
}

/// A base URL that has been checked.
#[derive(Debug, Clone)]
pub(super) struct BaseUrl {
    /// The base URL without a trailing slash, query, fragment or user info.
    text: String,
    /// The host for display, with its port if one is given.
    host: CleanText,
    /// How the base URL refers to this computer; `None` if it doesn't.
    loopback: Option<Loopback>,
    is_encrypted: bool,
}

/// A base URL and a project id that have been checked.
#[derive(Debug, Clone)]
pub(super) struct Address {
    base: BaseUrl,
    /// The project id, percent-encoded as one path segment.
    project: String,
}

/// How the base URL refers to this computer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Loopback {
    /// An IP address in 127.0.0.0/8, or ::1.
    IpAddress,
    /// The name `localhost`.
    Name,
}

impl BaseUrl {
    pub(super) fn parse(text: &str) -> Result<Self, AddressError> {
        let url = Url::parse(text.trim()).map_err(|_| AddressError::NotAnAddress)?;
        let is_encrypted = match url.scheme() {
            "https" => true,
            "http" => false,
            _ => return Err(AddressError::NotHttp),
        };
        let host = display_host(&url).ok_or(AddressError::NotAnAddress)?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(AddressError::HasUserInfo);
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(AddressError::HasQueryOrFragment);
        }
        let loopback = loopback(url.host_str().unwrap_or_default());
        if !is_encrypted && loopback.is_none() {
            return Err(AddressError::Unencrypted(host));
        }
        Ok(Self { text: url.as_str().trim_end_matches('/').to_owned(), host, loopback, is_encrypted })
    }

    /// Returns the base URL, without a trailing slash.
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Returns the host, for messages.
    pub(super) fn host(&self) -> &CleanText {
        &self.host
    }

    /// Returns how the base URL refers to this computer, or `None` if it doesn't.
    pub(super) fn loopback(&self) -> Option<Loopback> {
        self.loopback
    }

    /// Whether requests are encrypted with TLS.
    pub(super) fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }
}

impl Address {
    pub(super) fn new(scope: &Scope) -> Result<Self, AddressError> {
        let base = BaseUrl::parse(&scope.base_url)?;
        let project = encode_segment(scope.project.trim()).ok_or(AddressError::InvalidProject)?;
        Ok(Self { base, project })
    }

    pub(super) fn base(&self) -> &BaseUrl {
        &self.base
    }

    /// Returns the URL for creating jobs.
    pub(super) fn jobs_url(&self) -> Option<Url> {
        Url::parse(&format!("{}/v2/agent/{}/job", self.base.as_str(), self.project)).ok()
    }

    /// Returns the URL of one job, or `None` if the id can't be a path segment.
    pub(super) fn job_url(&self, id: &JobId) -> Option<Url> {
        Url::parse(&format!("{}/v2/agent/{}/job/{}", self.base.as_str(), self.project, encode_segment(id.as_str())?))
            .ok()
    }

    /// Returns the URL for follow-ups to a job, or `None` if the id can't be a path segment.
    pub(super) fn follow_up_url(&self, id: &JobId) -> Option<Url> {
        let id = encode_segment(id.as_str())?;
        Url::parse(&format!("{}/v2/agent/{}/job/{id}/message", self.base.as_str(), self.project)).ok()
    }

    /// Returns the URL for building previews.
    pub(super) fn previews_url(&self) -> Option<Url> {
        Url::parse(&format!("{}/v1/project/preview/{}", self.base.as_str(), self.project)).ok()
    }

    /// Returns the URL of the state of a build, or `None` if the id can't be a path segment.
    pub(super) fn build_state_url(&self, id: &str) -> Option<Url> {
        Url::parse(&format!("{}/v1/project/update-status/{}", self.base.as_str(), encode_segment(id)?)).ok()
    }

    /// Returns the URL of page views. Its parameter `dateTo` is exclusive: it is the day after the last day of the
    /// range.
    pub(super) fn views_url(&self, query: &ViewsQuery) -> Option<Url> {
        let (from, to) = (query.range.from(), query.range.exclusive_end());
        let (limit, offset) = (query.limit, query.offset());
        let parameters = format!("dateFrom={from}&dateTo={to}&limit={limit}&offset={offset}");
        Url::parse(&format!("{}/v1/analytics/{}/views?{parameters}", self.base.as_str(), self.project)).ok()
    }

    /// Returns the URL of a request for rows of a report, which start at `cursor` or, without a cursor, at the first
    /// row. The request asks for the maximum number of rows per response.
    pub(super) fn analytics_url(&self, kind: AnalyticsKind, range: DateRange, cursor: Option<&Cursor>) -> Option<Url> {
        let (report, parameter) = match kind {
            AnalyticsKind::Visitors => ("visitors", "offset"),
            AnalyticsKind::Searches => ("searches", "cursor"),
            AnalyticsKind::Feedback => ("feedback", "cursor"),
            AnalyticsKind::FeedbackByPage => ("feedback/by-page", "cursor"),
            AnalyticsKind::Questions => ("assistant", "cursor"),
        };
        let (from, to, limit) = (range.from(), range.exclusive_end(), kind.max_rows());
        let next = cursor.map_or_else(String::new, |cursor| {
            format!("&{parameter}={}", utf8_percent_encode(cursor.as_str(), SEGMENT_ENCODE_SET))
        });
        let parameters = format!("dateFrom={from}&dateTo={to}&limit={limit}{next}");
        Url::parse(&format!("{}/v1/analytics/{}/{report}?{parameters}", self.base.as_str(), self.project)).ok()
    }

    /// Returns the URL of a conversation with the assistant, or `None` if the id can't be a path segment.
    pub(super) fn thread_url(&self, id: &str) -> Option<Url> {
        let id = encode_segment(id)?;
        Url::parse(&format!("{}/v1/analytics/{}/assistant/threads/{id}", self.base.as_str(), self.project)).ok()
    }
}

/// Returns the host of a URL, with the port if the URL has one, but without user info, path or query. Returns `None` if
/// the URL has no host.
pub(super) fn display_host(url: &Url) -> Option<CleanText> {
    let host = url.host_str().filter(|host| !host.is_empty())?;
    Some(match url.port() {
        Some(port) => CleanText::line(&format!("{host}:{port}")),
        None => CleanText::line(host),
    })
}

/// Percent-encodes one path segment. Returns `None` for an empty text. Also returns `None` for `.` and `..`, because
/// URL parsers treat them as path steps, even if they are encoded.
pub(super) fn encode_segment(raw: &str) -> Option<String> {
    (!matches!(raw, "" | "." | "..")).then(|| utf8_percent_encode(raw, SEGMENT_ENCODE_SET).to_string())
}

fn loopback(host: &str) -> Option<Loopback> {
    if host == "localhost" {
        return Some(Loopback::Name);
    }
    let address: IpAddr = host.trim_start_matches('[').trim_end_matches(']').parse().ok()?;
    address.to_canonical().is_loopback().then_some(Loopback::IpAddress)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope(base_url: &str, project: &str) -> Scope {
        Scope { base_url: base_url.to_owned(), project: project.to_owned(), organization: None }
    }

    fn address(base_url: &str) -> Result<Address, AddressError> {
        Address::new(&scope(base_url, "proj"))
    }

    fn job_path(id: &str) -> Option<String> {
        let address = address("https://api.example.com").expect("an address");
        Some(address.job_url(&JobId::new(id).expect("an id"))?.path().to_owned())
    }

    #[test]
    fn plain_http_is_only_accepted_for_this_computer() {
        for base in
            ["http://127.0.0.1:1", "http://127.9.8.7", "http://[::1]:3000", "http://localhost:8", "http://LOCALHOST"]
        {
            assert!(address(base).expect(base).base().loopback().is_some());
        }
        for base in ["http://api.example.com", "http://10.0.0.1", "http://localhost.example.com", "http://0.0.0.0"] {
            assert!(matches!(address(base), Err(AddressError::Unencrypted(_))), "{base}");
        }
        assert_eq!(address("https://localhost").expect("an address").base().loopback(), Some(Loopback::Name));
    }

    #[test]
    fn an_invalid_base_url_is_rejected_without_repeating_it() {
        let refused = |base: &str| address(base).expect_err(base);
        assert_eq!(refused("mint_secret"), AddressError::NotAnAddress);
        assert_eq!(refused(""), AddressError::NotAnAddress);
        assert_eq!(refused("https://"), AddressError::NotAnAddress);
        assert_eq!(refused("localhost:8080"), AddressError::NotHttp);
        assert_eq!(refused("ftp://example.com"), AddressError::NotHttp);
        assert_eq!(refused("https://api.example.com/?key=mint_secret"), AddressError::HasQueryOrFragment);
        let user_info = refused("https://user:hunter2@api.example.com");
        assert_eq!(user_info, AddressError::HasUserInfo);
        assert!(!user_info.to_string().contains("hunter2"));
        assert!(!refused("http://user:hunter2@api.example.com").to_string().contains("hunter2"));
    }

    #[test]
    fn a_base_url_may_have_a_path_and_a_trailing_slash() {
        for base in
            ["https://example.com/docs/api", "https://example.com/docs/api/", " https://example.com/docs/api// "]
        {
            let jobs = address(base).expect(base).jobs_url().expect("a url");
            assert_eq!(jobs.as_str(), "https://example.com/docs/api/v2/agent/proj/job");
        }
    }

    #[test]
    fn a_job_id_is_always_exactly_one_segment() {
        assert_eq!(job_path("a/b?c#d%2F é").as_deref(), Some("/v2/agent/proj/job/a%2Fb%3Fc%23d%252F%20%C3%A9"));
        assert_eq!(job_path("...").as_deref(), Some("/v2/agent/proj/job/..."));
        assert_eq!(job_path("%2e%2e").as_deref(), Some("/v2/agent/proj/job/%252e%252e"));
        assert_eq!(job_path("\\..\\").as_deref(), Some("/v2/agent/proj/job/%5C..%5C"));
        assert_eq!(job_path(".."), None);
        assert_eq!(job_path("."), None);
    }

    #[test]
    fn a_project_id_is_always_exactly_one_segment() {
        let odd = Address::new(&scope("https://example.com", "a/../b c")).expect("an address");
        assert_eq!(odd.jobs_url().expect("a url").path(), "/v2/agent/a%2F..%2Fb%20c/job");
        for none in ["", "  ", ".."] {
            assert_eq!(
                Address::new(&scope("https://example.com", none)).expect_err("no project"),
                AddressError::InvalidProject
            );
        }
    }

    #[test]
    fn views_are_requested_with_both_dates_and_an_exclusive_end() {
        let range = DateRange::last_days(7, "2026-11-20".parse().expect("a date"));
        let url =
            address("https://example.com").expect("an address").views_url(&ViewsQuery { range, limit: 50, page: 3 });
        let wanted =
            "https://example.com/v1/analytics/proj/views?dateFrom=2026-11-14&dateTo=2026-11-21&limit=50&offset=100";
        assert_eq!(url.expect("a url").as_str(), wanted);
    }

    #[test]
    fn a_cursor_is_one_percent_encoded_value_and_visitors_have_an_offset() {
        let range = DateRange::last_days(7, "2026-11-20".parse().expect("a date"));
        let url = |kind, cursor: Option<&str>| {
            let cursor = cursor.and_then(Cursor::new);
            let url = address("https://example.com").expect("an address").analytics_url(kind, range, cursor.as_ref());
            let url = url.expect("a url");
            url.as_str().strip_prefix("https://example.com/v1/analytics/proj/").expect("a report").to_owned()
        };
        let dates = "dateFrom=2026-11-14&dateTo=2026-11-21";
        assert_eq!(url(AnalyticsKind::Visitors, Some("250")), format!("visitors?{dates}&limit=250&offset=250"));
        assert_eq!(url(AnalyticsKind::Searches, None), format!("searches?{dates}&limit=100"));
        assert_eq!(url(AnalyticsKind::FeedbackByPage, None), format!("feedback/by-page?{dates}&limit=100"));
        let hostile = url(AnalyticsKind::Questions, Some("a&limit=1#é+ ="));
        assert_eq!(hostile, format!("assistant?{dates}&limit=1000&cursor=a%26limit%3D1%23%C3%A9%2B%20%3D"));
        let thread = |id| address("https://example.com").expect("an address").thread_url(id);
        assert_eq!(thread("a/b").expect("a url").path(), "/v1/analytics/proj/assistant/threads/a%2Fb");
        assert_eq!(thread(".."), None);
    }
}
