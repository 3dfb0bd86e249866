//! Rate limits: how many requests were used in the last hour, when the next request is available, and how requests are
//! counted after the clock was changed.

use super::Time;
use super::endpoint::Scope;
use chrono::TimeDelta;

/// A limit of the service on the number of requests of one kind per hour or minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Quota {
    Create,
    FollowUp,
    /// Page views and all other reports of analytics.
    Views,
    /// Building previews of the site.
    Previews,
}

impl Quota {
    /// The limits per hour. `Previews` is a limit per minute.
    pub const HOURLY: [Self; 3] = [Self::Create, Self::FollowUp, Self::Views];

    /// Returns how many requests are allowed within any [`Self::window`].
    pub fn limit(self) -> u32 {
        if self == Self::Previews { 5 } else { 100 }
    }

    /// Returns the length of the rolling window in which the service counts requests.
    pub fn window(self) -> TimeDelta {
        if self == Self::Previews { TimeDelta::minutes(1) } else { RATE_LIMIT_WINDOW }
    }

    /// Returns the id of the owner of the limit. The service counts new jobs and follow-ups per project, and requests
    /// for analytics and previews per organization.
    pub fn limit_owner_id(self, scope: &Scope) -> &str {
        match self {
            Self::Create | Self::FollowUp => &scope.project,
            Self::Views | Self::Previews => scope.analytics_limit_owner_id(),
        }
    }

    /// Returns the name used in the store.
    pub fn store_name(self) -> &'static str {
        match self {
            Self::Create => "creates",
            Self::FollowUp => "follow-ups",
            Self::Views => "views",
            Self::Previews => "previews",
        }
    }

    /// Returns the name used on the screen.
    pub fn label(self) -> &'static str {
        match self {
            Self::Create => "new jobs",
            Self::FollowUp => "follow-ups",
            Self::Views => "analytics",
            Self::Previews => "previews",
        }
    }
}

/// The length of the rolling window of the hourly limits.
pub const RATE_LIMIT_WINDOW: TimeDelta = TimeDelta::hours(1);

/// The longest wait after a 429. A longer wait can only come from a wrong clock or an invalid header, and is shortened.
pub const MAX_RATE_LIMIT_WAIT: TimeDelta = TimeDelta::hours(24);

/// A wait, given as the time until which no request may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    pub until: Time,
    /// Whether `until` is docdeck's estimate, because the service gave no time (a 429 without `Retry-After`).
    pub is_estimate: bool,
}

impl Wait {
    /// Returns this wait with a different end.
    pub fn ending_at(self, until: Time) -> Self {
        Self { until, ..self }
    }

    /// Formats the time left until the end of the wait: `22m`, or `about a minute` or `under a minute` if the end is an
    /// estimate.
    pub fn time_left_text(self, now: Time) -> String {
        let left = self.until - now;
        match self.is_estimate {
            true if left > TimeDelta::seconds(30) => "about a minute".to_owned(),
            true => "under a minute".to_owned(),
            false => wait_text(left.max(TimeDelta::seconds(1))),
        }
    }

    /// Returns the next time at which the result of [`Self::time_left_text`] may change or the wait ends.
    pub fn next_text_change(self, now: Time) -> Time {
        let half = self.until - TimeDelta::seconds(30);
        match self.is_estimate {
            true if half > now => half,
            true => self.until.max(now + TimeDelta::seconds(1)),
            false => next_wait_text_change(self.until, now),
        }
    }
}

/// Returns the next time at which [`wait_text`] of the time left until `end` may change.
pub fn next_wait_text_change(end: Time, now: Time) -> Time {
    let left = (end - now).num_seconds();
    if left <= 60 { now + TimeDelta::seconds(1) } else { end - TimeDelta::seconds((left - 1) / 60 * 60) }
}

/// Formats a duration of at most [`MAX_RATE_LIMIT_WAIT`]: in seconds below a minute, in minutes (`22m`) up to two
/// hours, otherwise in hours. Minutes and hours are rounded up. A longer duration is shown as [`MAX_RATE_LIMIT_WAIT`].
pub fn wait_text(delta: TimeDelta) -> String {
    let s = delta.min(MAX_RATE_LIMIT_WAIT).num_seconds().max(0);
    match s {
        0..60 => format!("{s}s"),
        60..=7_200 => format!("{}m", (s + 59) / 60),
        _ => format!("{}h", (s + 3_599) / 3_600),
    }
}

/// A recorded request of a limited operation. If the clock was set back since then, `at` can be in the future.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerEntry {
    pub at: Time,
    /// What the clock showed when docdeck first noticed that `at` is in the future; `None` if it never noticed this.
    pub seen_ahead_at: Option<Time>,
}

impl LedgerEntry {
    /// Returns the start of the request's window, which is normally `at`. While `at` is in the future, because the
    /// clock was set back, the window starts at the time at which this was first noticed. Once the clock reaches `at`,
    /// the window starts at `at` again, so that a request never expires too early.
    fn window_start(&self, now: Time) -> Time {
        if self.at <= now { self.at } else { earlier_clock_reading(self.seen_ahead_at, now) }
    }

    /// Whether `seen_ahead_at` must be set to `now`: `at` is in the future, and `seen_ahead_at` is `None` or later
    /// than `now`.
    pub fn must_set_seen_ahead_at(&self, now: Time) -> bool {
        self.at > now && self.seen_ahead_at.is_none_or(|seen| seen > now)
    }

    /// Whether the request has expired although `at` is in the future. Such an entry must be deleted, or it would count
    /// again when the clock reaches `at`.
    pub fn must_be_deleted(&self, quota: Quota, now: Time) -> bool {
        self.at > now && self.window_start(now) + quota.window() <= now
    }
}

/// The wait that the last 429 for a limited operation requires, as stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateLimitBlock {
    pub until: Time,
    pub is_estimate: bool,
    /// When the 429 was received; `None` if an earlier version of docdeck stored it.
    pub received_at: Option<Time>,
    /// What the clock showed when docdeck first noticed that the clock had been set back since the 429 arrived; `None`
    /// if it never noticed this.
    pub seen_ahead_at: Option<Time>,
}

impl RateLimitBlock {
    /// Whether the clock that recorded the block was ahead of the current clock, which reads `now`.
    fn was_clock_ahead(&self, now: Time) -> bool {
        self.received_at.is_some_and(|at| at > now) || self.until - now > MAX_RATE_LIMIT_WAIT
    }

    /// Whether `seen_ahead_at` must be set to `now`: the block was recorded by a clock that was ahead, and
    /// `seen_ahead_at` is `None` or later than `now`.
    pub fn must_set_seen_ahead_at(&self, now: Time) -> bool {
        self.was_clock_ahead(now) && self.seen_ahead_at.is_none_or(|seen| seen > now)
    }

    /// Whether the block must be deleted: its wait is over, and the clock that recorded the block was ahead of the
    /// current clock. If this block stayed, its wait would apply again once the current clock reaches the time at which
    /// the block was recorded.
    pub fn must_be_deleted(&self, now: Time) -> bool {
        self.was_clock_ahead(now) && self.wait(now).is_none()
    }

    /// Returns the rest of the wait, or `None` if it is over. If the block was recorded by a clock that was ahead, the
    /// wait lasts as long as the service asked, counted from the clock reading at which this was first noticed.
    pub fn wait(&self, now: Time) -> Option<Wait> {
        let until = if self.was_clock_ahead(now) {
            let length = self.received_at.map_or(MAX_RATE_LIMIT_WAIT, |at| self.until - at);
            self.until.min(
                earlier_clock_reading(self.seen_ahead_at, now) + length.clamp(TimeDelta::zero(), MAX_RATE_LIMIT_WAIT),
            )
        } else {
            self.until
        };
        (until > now).then_some(Wait { until, is_estimate: self.is_estimate })
    }
}

/// Returns the stored clock reading or `now`, whichever is earlier.
fn earlier_clock_reading(stored: Option<Time>, now: Time) -> Time {
    stored.map_or(now, |seen| seen.min(now))
}

/// The state of a rate limit at one moment. All times are in the service's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The number of requests within [`Quota::window`]. `counted_by` states whose requests are counted.
    pub used: u32,
    pub limit: u32,
    /// When more requests become available: when the wait after a 429 ends, otherwise when the oldest counted request
    /// expires. If more requests are counted than the limit allows, this surplus must expire first. `None` if there is
    /// no wait and no request is counted.
    pub resets_at: Option<Time>,
    /// The wait after a 429, during which no request may be sent, whatever the count is; `None` if there is none.
    pub blocked: Option<Wait>,
    pub counted_by: CountedBy,
}

/// Whose requests a budget counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CountedBy {
    #[default]
    ThisComputer,
    /// All members of the team. `as_of` is the local time of the count if the count is old, because the team's database
    /// can't be reached; otherwise `None`.
    Team { as_of: Option<Time> },
}

impl Budget {
    pub fn unused(quota: Quota) -> Self {
        Self { used: 0, limit: quota.limit(), resets_at: None, blocked: None, counted_by: CountedBy::default() }
    }

    /// Returns the number of requests left. Requests that are not counted ([`CountedBy`]) may have used some of them.
    pub fn requests_left(&self) -> u32 {
        if self.blocked.is_some() { 0 } else { self.limit.saturating_sub(self.used) }
    }

    /// Returns how long to wait before the next request, or `None` if one may be sent now.
    pub fn wait(&self) -> Option<Wait> {
        let until = self.resets_at.filter(|_| self.requests_left() == 0)?;
        Some(Wait { until, is_estimate: self.blocked.is_some_and(|wait| wait.is_estimate) })
    }

    /// Whether this limit has a smaller share of its requests left than `other`.
    pub fn is_closer_to_limit(&self, other: &Self) -> bool {
        // Compares the fractions without dividing.
        let product = |one: &Self, another: &Self| u64::from(one.requests_left()) * u64::from(another.limit);
        product(self, other) < product(other, self)
    }
}

/// Calculates the budget at the time `now` from recorded requests in any order. All times are in the service's time.
/// Requests recorded at a future time count too, so that setting the clock back doesn't free any request early.
pub fn compute_budget(quota: Quota, entries: &[LedgerEntry], block: Option<RateLimitBlock>, now: Time) -> Budget {
    let mut inside: Vec<Time> =
        entries.iter().map(|entry| entry.window_start(now)).filter(|&at| at + quota.window() > now).collect();
    inside.sort_unstable();
    let blocked = block.and_then(|block| block.wait(now));
    let used = u32::try_from(inside.len()).unwrap_or(u32::MAX);
    // If more requests were used than the limit allows (because the limit was higher then, or stores of several
    // computers were merged), another request becomes available only after the surplus has expired.
    let excess = inside.len().saturating_sub(quota.limit() as usize);
    let freed_at = inside.get(excess).map(|&at| at + quota.window());
    let resets_at = blocked.map(|wait| wait.until).or(freed_at);
    Budget { used, limit: quota.limit(), resets_at, blocked, counted_by: CountedBy::ThisComputer }
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
