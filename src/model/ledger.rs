//! The rolling hour of a rate limit: how many requests were used, when the next one is available, and what happens when
//! the clock is changed.

use super::Time;
use chrono::TimeDelta;

/// Operations with an hourly limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RateLimited {
    Create,
    FollowUp,
    Views,
}

impl RateLimited {
    pub const ALL: [Self; 3] = [Self::Create, Self::FollowUp, Self::Views];

    /// Requests allowed in any rolling hour.
    pub fn limit(self) -> u32 {
        100
    }

    /// The name in the store.
    pub fn word(self) -> &'static str {
        match self {
            Self::Create => "creates",
            Self::FollowUp => "follow-ups",
            Self::Views => "views",
        }
    }

    /// The label for a narrow terminal.
    pub fn short_label(self) -> &'static str {
        match self {
            Self::Create => "new",
            Self::FollowUp => "follow",
            Self::Views => "views",
        }
    }

    /// The name on the screen.
    pub fn label(self) -> &'static str {
        match self {
            Self::Create => "new jobs",
            Self::FollowUp => "follow-ups",
            Self::Views => "view requests",
        }
    }
}

/// The rolling window that the service counts in.
pub const WINDOW: TimeDelta = TimeDelta::hours(1);

/// The longest possible wait; a longer one comes from a wrong clock or an invalid header.
pub const LONGEST_WAIT: TimeDelta = TimeDelta::hours(24);

/// A time until which no request may be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    pub until: Time,
    /// The service gave no time (a 429 without `Retry-After`), so `until` is docdeck's estimate.
    pub is_estimate: bool,
}

impl Wait {
    /// The same wait, ending at a different time.
    pub fn ending_at(self, until: Time) -> Self {
        Self { until, ..self }
    }

    /// The time left as text: `22m`, or `about a minute` if it is an estimate.
    pub fn remaining_text(self, now: Time) -> String {
        let left = self.until - now;
        match self.is_estimate {
            true if left > TimeDelta::seconds(30) => "about a minute".to_owned(),
            true => "under a minute".to_owned(),
            false => wait_text(left.max(TimeDelta::seconds(1))),
        }
    }

    /// When the result of [`Wait::remaining_text`] changes, or the wait ends.
    pub fn next_change(self, now: Time) -> Time {
        let half = self.until - TimeDelta::seconds(30);
        match self.is_estimate {
            true if half > now => half,
            true => self.until.max(now + TimeDelta::seconds(1)),
            false => until_changes(self.until, now),
        }
    }
}

/// When the result of [`wait_text`] changes.
pub fn until_changes(end: Time, now: Time) -> Time {
    let left = (end - now).num_seconds();
    if left <= 60 { now + TimeDelta::seconds(1) } else { end - TimeDelta::seconds((left - 1) / 60 * 60) }
}

/// A duration as text, rounded up: minutes (`22m`), seconds in the last minute, hours beyond two.
pub fn wait_text(delta: TimeDelta) -> String {
    let s = delta.min(LONGEST_WAIT).num_seconds().max(0);
    match s {
        0..60 => format!("{s}s"),
        60..=7_200 => format!("{}m", (s + 59) / 60),
        _ => format!("{}h", (s + 3_599) / 3_600),
    }
}

/// A recorded use of a limited operation. If the clock is set back, `at` can be in the future.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerEntry {
    pub at: Time,
    /// The earliest clock reading before `at`; `None` if there was none.
    pub seen_ahead: Option<Time>,
}

impl LedgerEntry {
    /// The start of the hour in which the entry counts. While `at` is in the future, this is the clock reading at which
    /// that was first noticed. Once the clock has reached `at`, it is `at` again: the slow clock may have been the
    /// wrong one, and an entry must not expire early.
    fn counts_from(&self, now: Time) -> Time {
        if self.at <= now { self.at } else { first_seen(self.seen_ahead, now) }
    }

    /// Whether the reading `now` must be stored with the entry.
    pub fn needs_mark(&self, now: Time) -> bool {
        self.at > now && self.seen_ahead.is_none_or(|seen| seen > now)
    }

    /// Whether the entry has expired although `at` is in the future. It must be deleted, or it would count again when
    /// the clock reaches `at`.
    pub fn is_spent(&self, now: Time) -> bool {
        self.at > now && self.counts_from(now) + WINDOW <= now
    }
}

/// The last 429 for a limited operation, as stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    pub until: Time,
    pub is_estimate: bool,
    /// When the 429 was received; `None` in a ledger written by an earlier version.
    pub learned_at: Option<Time>,
    /// See [`LedgerEntry::seen_ahead`].
    pub seen_ahead: Option<Time>,
}

impl Block {
    /// Whether the block was recorded by a clock that was ahead of `now`.
    fn is_ahead(&self, now: Time) -> bool {
        self.learned_at.is_some_and(|at| at > now) || self.until - now > LONGEST_WAIT
    }

    /// Whether the reading `now` must be stored with the block.
    pub fn needs_mark(&self, now: Time) -> bool {
        self.is_ahead(now) && self.seen_ahead.is_none_or(|seen| seen > now)
    }

    /// The rest of the wait. If the block was recorded by a clock that was ahead, it lasts as long as the service
    /// asked, counted from the reading at which this was first noticed.
    pub fn wait(&self, now: Time) -> Option<Wait> {
        let until = if self.is_ahead(now) {
            let length = self.learned_at.map_or(LONGEST_WAIT, |at| self.until - at);
            self.until.min(first_seen(self.seen_ahead, now) + length.clamp(TimeDelta::zero(), LONGEST_WAIT))
        } else {
            self.until
        };
        (until > now).then_some(Wait { until, is_estimate: self.is_estimate })
    }
}

fn first_seen(mark: Option<Time>, now: Time) -> Time {
    mark.map_or(now, |seen| seen.min(now))
}

/// The state of a limit at one moment, in the service's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Requests that this computer made in the last hour.
    pub used: u32,
    pub limit: u32,
    /// When the next request is available: the oldest use expires, or the wait after a 429 ends. `None` if nothing is
    /// used.
    pub resets_at: Option<Time>,
    /// The service answered 429: no request may be sent before this time, whatever the count is.
    pub blocked: Option<Wait>,
}

impl Budget {
    pub fn unused(limited: RateLimited) -> Self {
        Self { used: 0, limit: limited.limit(), resets_at: None, blocked: None }
    }

    /// Requests left. Requests from other computers are not counted.
    pub fn left(&self) -> u32 {
        if self.blocked.is_some() { 0 } else { self.limit.saturating_sub(self.used) }
    }

    /// How long to wait before the next request; `None` if one may be sent now.
    pub fn wait(&self) -> Option<Wait> {
        let until = self.resets_at.filter(|_| self.left() == 0)?;
        Some(Wait { until, is_estimate: self.blocked.is_some_and(|wait| wait.is_estimate) })
    }

    /// Whether a smaller share of this limit is left than of the other one.
    pub fn is_closer_to_limit(&self, other: &Self) -> bool {
        let share = |one: &Self, of: &Self| u64::from(one.left()) * u64::from(of.limit);
        share(self, other) < share(other, self)
    }
}

/// Calculates the budget from `entries` in any order, with times in the service's time. Entries in the future count
/// too, so that setting the clock back frees nothing early.
pub fn compute_budget(limited: RateLimited, entries: &[LedgerEntry], block: Option<Block>, now: Time) -> Budget {
    let mut inside: Vec<Time> =
        entries.iter().map(|entry| entry.counts_from(now)).filter(|&at| at + WINDOW > now).collect();
    inside.sort_unstable();
    let blocked = block.and_then(|block| block.wait(now));
    let used = u32::try_from(inside.len()).unwrap_or(u32::MAX);
    // With more uses than the limit (the limit was higher, or stores of several computers were merged), a request
    // becomes available only when enough of them have expired.
    let excess = inside.len().saturating_sub(limited.limit() as usize);
    let frees = inside.get(excess).map(|&at| at + WINDOW);
    Budget { used, limit: limited.limit(), resets_at: blocked.map(|wait| wait.until).or(frees), blocked }
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
