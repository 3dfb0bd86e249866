//! How often one may ask: the documented limits per rolling hour, and the answer to who asks more often (api.md: limits).
//!
//! Pure: the moment is an argument. A request that is refused for the limit does not count; every other one does,
//! also one that turns out to be wrong.

use crate::model::Time;
use crate::model::ledger::{RateLimited, WINDOW};
use std::collections::VecDeque;
use std::time::SystemTime;

/// Every so many refusals say `Retry-After` as a date; the others say seconds. Both forms occur in the field.
const DATE_EVERY: u32 = 3;

/// The three windows of one simulated organization with its one project.
#[derive(Debug, Default)]
pub(super) struct SimLimits {
    windows: [Window; 3],
    refusals: u32,
}

#[derive(Debug, Default)]
struct Window(VecDeque<Time>);

impl SimLimits {
    /// Counts a request, or gives the value of the refusal's `Retry-After`.
    pub(super) fn take(&mut self, limited: RateLimited, now: Time) -> Result<(), String> {
        let [creates, follow_ups, views] = &mut self.windows;
        let window = match limited {
            RateLimited::Create => creates,
            RateLimited::FollowUp => follow_ups,
            RateLimited::Views => views,
        };
        let Err(until) = window.take(limited.limit(), now) else { return Ok(()) };
        self.refusals = self.refusals.wrapping_add(1);
        let is_date = self.refusals.is_multiple_of(DATE_EVERY);
        Err(if is_date { as_date(until) } else { as_seconds(until, now) })
    }
}

impl Window {
    fn take(&mut self, limit: u32, now: Time) -> Result<(), Time> {
        while self.0.front().is_some_and(|&at| at + WINDOW <= now) {
            self.0.pop_front();
        }
        match self.0.front() {
            Some(&oldest) if self.0.len() >= usize::try_from(limit).unwrap_or(usize::MAX) => Err(oldest + WINDOW),
            _ => {
                self.0.push_back(now);
                Ok(())
            }
        }
    }
}

/// Whole seconds, rounded up: who waits that long is not refused again.
fn as_seconds(until: Time, now: Time) -> String {
    let millis = (until - now).num_milliseconds().max(0);
    ((millis + 999) / 1000).max(1).to_string()
}

/// An HTTP date, rounded up to its second.
pub(super) fn as_date(until: Time) -> String {
    let second = (until.timestamp_millis() + 999).div_euclid(1000);
    let whole = Time::from_timestamp(second, 0).unwrap_or(until);
    httpdate::fmt_http_date(SystemTime::from(whole))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono::TimeDelta;

    fn at(millis: i64) -> Time {
        Time::from_timestamp_millis(1_795_000_000_000 + millis).expect("in range")
    }

    #[test]
    fn the_hundred_and_first_in_an_hour_is_refused_until_the_first_has_left() {
        let mut limits = SimLimits::default();
        for n in 0..100 {
            assert_eq!(limits.take(RateLimited::Views, at(n * 1000)), Ok(()));
        }
        assert_eq!(limits.take(RateLimited::Views, at(100_500)), Err("3500".to_owned()));
        assert_eq!(limits.take(RateLimited::Create, at(100_500)), Ok(()), "another limit");
        assert_eq!(limits.take(RateLimited::Views, at(3_600_000)), Ok(()));
        assert!(limits.take(RateLimited::Views, at(3_600_001)).is_err());
    }

    #[test]
    fn every_third_refusal_says_a_date_that_is_late_enough() {
        let mut limits = SimLimits::default();
        for _ in 0..100 {
            limits.take(RateLimited::FollowUp, at(1)).expect("free");
        }
        let said: Vec<String> = (0..3).filter_map(|_| limits.take(RateLimited::FollowUp, at(500)).err()).collect();
        assert_eq!(said[..2], ["3600", "3600"]);
        let date = Time::from(httpdate::parse_http_date(&said[2]).expect("a date"));
        assert_eq!(date, at(3_601_000));
    }

    #[test]
    fn a_refusal_does_not_make_the_wait_longer() {
        let mut limits = SimLimits::default();
        for _ in 0..100 {
            limits.take(RateLimited::Create, at(0)).expect("free");
        }
        for n in 0..500 {
            assert!(limits.take(RateLimited::Create, at(n)).is_err());
        }
        assert_eq!(limits.take(RateLimited::Create, at(0) + TimeDelta::hours(1)), Ok(()));
    }
}
