//! The permission of the team's ledger for a request with an hourly limit, and how many of these requests the team has
//! used.

use crate::model::Time;
use crate::model::ledger::{Budget, CountedBy, Quota, RATE_LIMIT_WINDOW};
use chrono::TimeDelta;

/// A booked request counts for one hour plus this margin, because it may be sent a while after it was booked. Must be
/// longer than [`MAX_SEND_DELAY_AFTER_BOOKING`], because sending takes a moment, too.
const BOOKING_MARGIN: TimeDelta = TimeDelta::seconds(30);

/// A booked request must be sent within this time after its booking.
pub const MAX_SEND_DELAY_AFTER_BOOKING: TimeDelta = TimeDelta::seconds(10);

/// Returns how long a booked request counts. After this time, its row of the ledger can be used for another request.
/// Thanks to the margin, the old and the new request are sent more than an hour apart.
pub fn booking_window() -> TimeDelta {
    RATE_LIMIT_WINDOW + BOOKING_MARGIN
}

/// What came of booking a request in the team's ledger before it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TeamRequestPermission {
    /// The project is not shared: only this computer's ledger counts.
    NotShared,
    /// The team's ledger counts the request.
    Booked { booking_id: String },
    /// The database did not respond. This computer's ledger decides, and the request is reported to the team later.
    Unreachable { booking_id: String },
    /// The team has used up the limit. The next request is possible at this time, by the service's clock.
    LimitReached { until: Time },
}

/// A request that the team's ledger doesn't have yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnreportedRequest {
    pub quota: Quota,
    /// The random id of the request.
    pub booking_id: String,
    /// The service time at which it was sent.
    pub at: Time,
}

/// How many requests of an hourly limit all members together have used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TeamUsage {
    pub used: u32,
    /// When the oldest counted request stops counting, in service time; `None` if no request counts.
    pub resets_at: Option<Time>,
    /// When the requests were counted, by this computer's clock.
    pub as_of: Time,
}

impl TeamUsage {
    /// Returns the budget of the team. `local` is the budget of this computer; `unreported` is the number of its
    /// requests that the count of the team doesn't contain yet. `is_current` is false while the requests of other
    /// members don't reach this process. In that case, a count that is at least an hour old is obsolete, and the result
    /// is `local`.
    pub fn budget(&self, local: Budget, unreported: u32, is_current: bool, now: Time) -> Budget {
        if !is_current && now - self.as_of >= RATE_LIMIT_WINDOW {
            return local;
        }
        let used = local.used.max(self.used.saturating_add(unreported));
        let is_local_limit = local.used >= local.limit || self.resets_at.is_none();
        let resets_at = if local.blocked.is_some() || is_local_limit { local.resets_at } else { self.resets_at };
        let counted_by = CountedBy::Team { as_of: (!is_current).then_some(self.as_of) };
        Budget { used, resets_at, counted_by, ..local }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_count_of_the_team_includes_unreported_requests() {
        let now = Time::UNIX_EPOCH;
        let (early, late) = (Some(now + TimeDelta::minutes(5)), Some(now + TimeDelta::minutes(50)));
        let local = Budget { used: 3, resets_at: late, ..Budget::unused(Quota::Create) };
        let team = TeamUsage { used: 40, resets_at: early, as_of: now };
        let budget = team.budget(local, 2, true, now);
        assert_eq!((budget.used, budget.resets_at), (42, early));
        assert_eq!(budget.counted_by, CountedBy::Team { as_of: None });
        assert_eq!(team.budget(local, 0, false, now).counted_by, CountedBy::Team { as_of: Some(now) });
        assert_eq!(
            team.budget(local, 0, false, now + RATE_LIMIT_WINDOW),
            local,
            "none of the requests counts any more"
        );
        let full = Budget { used: 100, ..local };
        let budget = team.budget(full, 0, true, now);
        assert_eq!((budget.requests_left(), budget.resets_at), (0, late));
    }
}
