//! The rolling hour: how many requests of a limited operation were used, and when the next one is free (api.md: limits).

use super::Time;
use chrono::TimeDelta;

/// Operations with a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Limited {
    Create,
    FollowUp,
    Views,
}

impl Limited {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Create, Self::FollowUp, Self::Views];

    /// Requests allowed in any rolling hour.
    pub fn limit(self) -> u32 {
        100
    }

    /// The word in the header and in the store.
    pub fn word(self) -> &'static str {
        match self {
            Self::Create => "creates",
            Self::FollowUp => "follow-ups",
            Self::Views => "views",
        }
    }
}

/// The window over which the service counts.
pub const WINDOW: TimeDelta = TimeDelta::hours(1);

/// What one ledger says at one moment of the service's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Requests made from this computer in the last hour.
    pub used: u32,
    pub limit: u32,
    /// When the next place is free: the oldest use leaves the hour, or a 429's rest ends. None when nothing is used.
    pub resets_at: Option<Time>,
    /// The service said 429: nothing may go out before this, whatever the count says.
    pub blocked_until: Option<Time>,
}

impl Budget {
    /// An unused budget.
    pub fn unused(limited: Limited) -> Self {
        Self { used: 0, limit: limited.limit(), resets_at: None, blocked_until: None }
    }

    /// Requests left, as far as this computer knows.
    pub fn left(&self) -> u32 {
        if self.blocked_until.is_some() { 0 } else { self.limit.saturating_sub(self.used) }
    }

    /// From which moment the next request may go out; none when one may go now.
    pub fn wait_until(&self) -> Option<Time> {
        if self.left() == 0 { self.resets_at } else { None }
    }
}

/// Reads a ledger: `uses` are the moments of requests in the service's time, in any order; those after `now` count as
/// well, so that a clock that was set back frees nothing.
pub fn budget(limited: Limited, uses: &[Time], blocked_until: Option<Time>, now: Time) -> Budget {
    let mut inside: Vec<Time> = uses.iter().copied().filter(|&at| at + WINDOW > now).collect();
    inside.sort_unstable();
    let blocked_until = blocked_until.filter(|&until| until > now);
    let used = u32::try_from(inside.len()).unwrap_or(u32::MAX);
    // With more uses than places (another limit once, or several computers' records joined) one place is free only
    // when enough of them have left.
    let oldest_in_the_way = inside.len().saturating_sub(limited.limit() as usize);
    let frees = inside.get(oldest_in_the_way).map(|&at| at + WINDOW);
    Budget { used, limit: limited.limit(), resets_at: blocked_until.or(frees), blocked_until }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(seconds: i64) -> Time {
        Time::from_timestamp(1_800_000_000 + seconds, 0).expect("in range")
    }

    #[test]
    fn a_place_is_free_again_one_hour_after_its_use() {
        let uses = [at(0), at(10)];
        assert_eq!(budget(Limited::Create, &uses, None, at(3599)).used, 2);
        let later = budget(Limited::Create, &uses, None, at(3600));
        assert_eq!((later.used, later.resets_at), (1, Some(at(3610))));
    }

    #[test]
    fn a_429_outranks_the_count() {
        let told = budget(Limited::Views, &[], Some(at(60)), at(0));
        assert_eq!((told.used, told.left(), told.wait_until()), (0, 0, Some(at(60))));
        assert_eq!(budget(Limited::Views, &[], Some(at(60)), at(60)).left(), 100);
    }

    #[test]
    fn a_clock_that_was_set_back_frees_nothing() {
        let uses: Vec<Time> = (0..100).map(at).collect();
        assert_eq!(budget(Limited::Create, &uses, None, at(-7200)).left(), 0);
    }

    proptest! {
        #[test]
        fn no_rolling_hour_ever_holds_more_than_the_limit(gaps in prop::collection::vec(0_i64..120, 1..600)) {
            let mut uses: Vec<Time> = Vec::new();
            let mut now = at(0);
            for gap in gaps {
                now += TimeDelta::seconds(gap);
                if budget(Limited::Create, &uses, None, now).wait_until().is_none() {
                    uses.push(now);
                }
            }
            for window in uses.windows(101) {
                let (first, last) = (window.first().expect("some"), window.last().expect("some"));
                prop_assert!(*last - *first >= WINDOW);
            }
        }
    }
}
