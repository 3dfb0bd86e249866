//! The documented limits per rolling hour or minute, and the `Retry-After` header for requests beyond these limits. A
//! request that is rejected because of a limit does not count. Any other request to a limited operation counts if its
//! key and project are valid, even if its parameters or its body are invalid.

use crate::model::Time;
use crate::model::ledger::Quota;
use std::collections::VecDeque;
use std::time::SystemTime;

/// Every third rejection has a date in its `Retry-After` header, the others have seconds, because real services send
/// either form.
const REJECTIONS_PER_RETRY_AFTER_DATE: u32 = 3;

/// The requests of the last hour or minute that count toward each of the limits.
#[derive(Debug, Default)]
pub(super) struct SimLimits {
    windows: [RequestWindow; 4],
    rejection_count: u32,
}

#[derive(Debug, Default)]
struct RequestWindow(VecDeque<Time>);

impl SimLimits {
    /// Counts a request. If the limit is reached, returns the value for the `Retry-After` header instead.
    pub(super) fn count_request(&mut self, quota: Quota, now: Time) -> Result<(), String> {
        let [creates, follow_ups, views, previews] = &mut self.windows;
        let window = match quota {
            Quota::Create => creates,
            Quota::FollowUp => follow_ups,
            Quota::Views => views,
            Quota::Previews => previews,
        };
        let Err(until) = window.count_request(quota, now) else { return Ok(()) };
        self.rejection_count = self.rejection_count.wrapping_add(1);
        let is_date = self.rejection_count.is_multiple_of(REJECTIONS_PER_RETRY_AFTER_DATE);
        Err(if is_date { retry_after_date(until) } else { retry_after_seconds(until, now) })
    }
}

impl RequestWindow {
    fn count_request(&mut self, quota: Quota, now: Time) -> Result<(), Time> {
        while self.0.front().is_some_and(|&at| at + quota.window() <= now) {
            self.0.pop_front();
        }
        match self.0.front() {
            Some(&oldest) if self.0.len() >= usize::try_from(quota.limit()).unwrap_or(usize::MAX) => {
                Err(oldest + quota.window())
            }
            _ => {
                self.0.push_back(now);
                Ok(())
            }
        }
    }
}

/// Returns the wait in whole seconds, rounded up, so that a request after the wait is accepted.
fn retry_after_seconds(until: Time, now: Time) -> String {
    let millis = (until - now).num_milliseconds().max(0);
    ((millis + 999) / 1000).max(1).to_string()
}

/// Returns an HTTP date, rounded up to the second.
pub(super) fn retry_after_date(until: Time) -> String {
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
    fn the_101st_request_in_an_hour_is_rejected_until_the_first_request_is_an_hour_old() {
        let mut limits = SimLimits::default();
        for n in 0..100 {
            assert_eq!(limits.count_request(Quota::Views, at(n * 1000)), Ok(()));
        }
        assert_eq!(limits.count_request(Quota::Views, at(100_500)), Err("3500".to_owned()));
        assert_eq!(limits.count_request(Quota::Create, at(100_500)), Ok(()), "another limit");
        assert_eq!(limits.count_request(Quota::Views, at(3_600_000)), Ok(()));
        assert!(limits.count_request(Quota::Views, at(3_600_001)).is_err());
    }

    #[test]
    fn every_third_rejection_states_a_date_at_which_requests_are_accepted_again() {
        let mut limits = SimLimits::default();
        for _ in 0..100 {
            limits.count_request(Quota::FollowUp, at(1)).expect("free");
        }
        let headers: Vec<String> =
            (0..3).filter_map(|_| limits.count_request(Quota::FollowUp, at(500)).err()).collect();
        assert_eq!(headers[..2], ["3600", "3600"]);
        let date = Time::from(httpdate::parse_http_date(&headers[2]).expect("a date"));
        assert_eq!(date, at(3_601_000));
    }

    #[test]
    fn a_rejection_does_not_extend_the_wait() {
        let mut limits = SimLimits::default();
        for _ in 0..100 {
            limits.count_request(Quota::Create, at(0)).expect("free");
        }
        for n in 0..500 {
            assert!(limits.count_request(Quota::Create, at(n)).is_err());
        }
        assert_eq!(limits.count_request(Quota::Create, at(0) + TimeDelta::hours(1)), Ok(()));
    }
}
