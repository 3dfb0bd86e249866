//! The `Retry-After` header of a 429, which states in seconds or as a date how long to wait.

use crate::model::Time;
use crate::model::ledger::{MAX_RATE_LIMIT_WAIT, Wait};
use chrono::{TimeDelta, Utc};
use std::fmt;

/// The pause after a 429 without a usable `Retry-After` header.
const DEFAULT_PAUSE: TimeDelta = TimeDelta::minutes(1);
/// The minimum pause after a 429, because `Retry-After: 0` or a date in the past must not cause a flood of requests.
const MIN_PAUSE: TimeDelta = TimeDelta::seconds(1);

/// The content of the `Retry-After` header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryAfterHeader {
    /// A number of whole seconds, at most a day.
    Seconds(u32),
    /// A time on the service's clock.
    At(Time),
    /// The header is missing or unreadable.
    Missing,
}

impl RetryAfterHeader {
    /// Parses the header's value: a whole number of seconds or an HTTP date. Anything else counts as missing.
    pub fn parse(value: Option<&str>) -> Self {
        let Some(value) = value.map(str::trim).filter(|value| !value.is_empty()) else {
            return Self::Missing;
        };
        if value.bytes().all(|b| b.is_ascii_digit()) {
            let day = u32::try_from(MAX_RATE_LIMIT_WAIT.num_seconds()).unwrap_or(u32::MAX);
            // A number that doesn't fit in 32 bits is more than a day.
            return Self::Seconds(value.parse().unwrap_or(day).min(day));
        }
        match httpdate::parse_http_date(value) {
            Ok(at) => Self::At(chrono::DateTime::<Utc>::from(at)),
            Err(_) => Self::Missing,
        }
    }

    /// Returns the time until which no request may be sent. `now` is the service's time.
    pub fn wait(self, now: Time) -> Wait {
        let pause = match self {
            Self::Seconds(seconds) => TimeDelta::seconds(i64::from(seconds)),
            Self::At(at) => at - now,
            Self::Missing => DEFAULT_PAUSE,
        };
        Wait { until: now + pause.clamp(MIN_PAUSE, MAX_RATE_LIMIT_WAIT), is_estimate: self == Self::Missing }
    }
}

impl fmt::Display for RetryAfterHeader {
    /// Formats the time as a phrase that follows "try again".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Seconds(seconds @ 0..120) => write!(f, "in {seconds} s"),
            Self::Seconds(seconds) => write!(f, "in {} min", seconds.div_ceil(60)),
            Self::At(at) => write!(f, "at {} UTC", at.format("%H:%M:%S")),
            Self::Missing => f.write_str("in about a minute (an estimate: the service gave no time)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> Time {
        text.parse().expect("a time")
    }

    fn pause(value: Option<&str>) -> i64 {
        let now = moment("2026-11-20T12:00:00Z");
        (RetryAfterHeader::parse(value).wait(now).until - now).num_seconds()
    }

    #[test]
    fn seconds_and_dates_are_parsed() {
        assert_eq!(pause(Some("120")), 120);
        assert_eq!(pause(Some(" 7 ")), 7);
        assert_eq!(pause(Some("Fri, 20 Nov 2026 12:10:00 GMT")), 600);
        assert_eq!(pause(Some("Friday, 20-Nov-26 12:10:00 GMT")), 600);
    }

    #[test]
    fn a_missing_or_invalid_header_means_one_minute() {
        for value in [None, Some(""), Some("-5"), Some("soon"), Some("1.5"), Some("Fri, 99 Foo 2026")] {
            assert_eq!(pause(value), 60, "{value:?}");
            assert!(RetryAfterHeader::parse(value).wait(Time::UNIX_EPOCH).is_estimate, "{value:?}");
        }
        assert!(!RetryAfterHeader::Seconds(60).wait(Time::UNIX_EPOCH).is_estimate);
    }

    #[test]
    fn the_pause_stays_between_a_second_and_a_day() {
        assert_eq!(pause(Some("0")), 1);
        assert_eq!(pause(Some("Fri, 20 Nov 2026 11:00:00 GMT")), 1);
        assert_eq!(pause(Some("999999")), 86_400);
        assert_eq!(pause(Some("99999999999999999999999")), 86_400);
        assert_eq!(pause(Some("Fri, 20 Nov 2099 12:00:00 GMT")), 86_400);
    }
}
