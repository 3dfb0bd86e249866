//! What a code host reports about its limit of requests, in the headers of a response or in a GraphQL response.

use crate::model::Time;
use crate::model::text::CleanText;
use chrono::{TimeDelta, Utc};
use reqwest::header::{HeaderMap, RETRY_AFTER};

/// How long to wait if a host reports that the limit is reached, but doesn't report how long to wait.
const DEFAULT_PAUSE: TimeDelta = TimeDelta::minutes(1);
/// The maximum wait. If a response asks for a longer wait, docdeck waits only this long.
const MAX_PAUSE: TimeDelta = TimeDelta::hours(2);

/// What a request cost, and what is left of the host's limit. Also contains the status and the duration of the request,
/// for the log. An optional field is `None` if the response doesn't contain it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct HostRequestStats {
    /// The number of requests, or of points on GitHub, that are left.
    pub remaining: Option<u64>,
    /// When the next period of the limit starts.
    pub resets_at: Option<Time>,
    /// How long to wait before the next request, according to the response.
    pub retry_after: Option<TimeDelta>,
    /// How many points the request cost. Only GraphQL responses contain this number. `None` counts as one point.
    pub cost: Option<u64>,
    /// The HTTP status; `None` if there was no response.
    pub status: Option<u16>,
    /// How long the request took, in milliseconds.
    pub duration_millis: u32,
}

/// Whether the text of a response with status 403 means that GitHub's secondary limit is reached. GitHub doesn't always
/// report this limit in a header.
pub(super) fn is_secondary_limit(text: &CleanText) -> bool {
    let text = text.as_str().to_lowercase();
    text.contains("rate limit") || text.contains("abuse detection")
}

impl HostRequestStats {
    /// The budget of no request, as the initial value for [`Self::plus`].
    pub(super) const NONE: Self =
        Self { remaining: None, resets_at: None, retry_after: None, cost: Some(0), status: None, duration_millis: 0 };

    /// Returns the total cost of this request and the next one, and what is left after both.
    pub(super) fn plus(self, next: Self) -> Self {
        let cost = Some(self.cost.unwrap_or(1).saturating_add(next.cost.unwrap_or(1)));
        Self { cost, duration_millis: self.duration_millis.saturating_add(next.duration_millis), ..next }
    }

    /// Reads `Retry-After`, `x-ratelimit-…` (GitHub) and `RateLimit-…` (GitLab).
    pub(super) fn from_headers(headers: &HeaderMap) -> Self {
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
        let number = |names: [&str; 2]| names.into_iter().find_map(|name| text(name)?.parse::<u64>().ok());
        let resets_at = number(["x-ratelimit-reset", "ratelimit-reset"]);
        let retry_after = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok()).map(str::trim);
        Self {
            remaining: number(["x-ratelimit-remaining", "ratelimit-remaining"]),
            resets_at: resets_at.and_then(|at| Time::from_timestamp(i64::try_from(at).ok()?, 0)),
            retry_after: retry_after.and_then(|wait| match wait.parse::<u32>() {
                Ok(seconds) => Some(TimeDelta::seconds(i64::from(seconds))),
                Err(_) => Some(chrono::DateTime::<Utc>::from(httpdate::parse_http_date(wait).ok()?) - Utc::now()),
            }),
            ..Self::default()
        }
    }

    /// Whether an error status means that the limit is reached. GitHub also responds with 403 to a forbidden request,
    /// but then without `Retry-After` and with requests left.
    pub(super) fn is_limited(&self, status: u16) -> bool {
        status == 429 || status == 403 && (self.retry_after.is_some() || self.remaining == Some(0))
    }

    /// Returns the time until which no request may be sent after the limit was reached.
    pub fn blocked_until(&self, now: Time) -> Time {
        let reset = self.resets_at.map(|at| at - now).filter(|_| self.remaining == Some(0));
        let pause = self.retry_after.or(reset).unwrap_or(DEFAULT_PAUSE);
        now + pause.clamp(TimeDelta::seconds(1), MAX_PAUSE)
    }
}
