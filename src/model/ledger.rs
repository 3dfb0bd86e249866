//! The rolling hour: how many requests of a limited operation were used, when the next one is free, and what a clock that
//! was set makes of that.

use super::Time;
use chrono::TimeDelta;

/// Operations with a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RateLimited {
    Create,
    FollowUp,
    Views,
}

impl RateLimited {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Create, Self::FollowUp, Self::Views];

    /// Requests allowed in any rolling hour.
    pub fn limit(self) -> u32 {
        100
    }

    /// The word in the store.
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

    /// What its requests are called on the screen.
    pub fn label(self) -> &'static str {
        match self {
            Self::Create => "new jobs",
            Self::FollowUp => "follow-ups",
            Self::Views => "view requests",
        }
    }
}

/// The window over which the service counts.
pub const WINDOW: TimeDelta = TimeDelta::hours(1);

/// No limit lasts longer: a longer wait comes from a wrong clock or a broken header.
pub const LONGEST_WAIT: TimeDelta = TimeDelta::hours(24);

/// Until when no request may go out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    pub until: Time,
    /// The service named no time (a 429 without `Retry-After`), so `until` is docdeck's guess.
    pub is_estimate: bool,
}

impl Wait {
    /// The same wait for another clock.
    pub fn with(self, until: Time) -> Self {
        Self { until, ..self }
    }

    /// The wait in words: `22m`, or `about a minute` if it is an estimate.
    pub fn words(self, now: Time) -> String {
        let left = self.until - now;
        match self.is_estimate {
            true if left > TimeDelta::seconds(30) => "about a minute".to_owned(),
            true => "under a minute".to_owned(),
            false => until(left.max(TimeDelta::seconds(1))),
        }
    }

    /// When [`Wait::words`] changes, or the wait is over.
    pub fn changes(self, now: Time) -> Time {
        let half = self.until - TimeDelta::seconds(30);
        match self.is_estimate {
            true if half > now => half,
            true => self.until.max(now + TimeDelta::seconds(1)),
            false => until_changes(self.until, now),
        }
    }
}

/// When [`until`] changes its text.
pub fn until_changes(end: Time, now: Time) -> Time {
    let left = (end - now).num_seconds();
    if left <= 60 { now + TimeDelta::seconds(1) } else { end - TimeDelta::seconds((left - 1) / 60 * 60) }
}

/// Minutes until something, rounded up: `22m`; seconds in the last minute, hours beyond two.
pub fn until(delta: TimeDelta) -> String {
    let s = delta.min(LONGEST_WAIT).num_seconds().max(0);
    match s {
        0..60 => format!("{s}s"),
        60..=7_200 => format!("{}m", (s + 59) / 60),
        _ => format!("{}h", (s + 3_599) / 3_600),
    }
}

/// A use of a limited operation, as it is on disk. Clocks can be set back, and then `at` is ahead of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LedgerEntry {
    pub at: Time,
    /// The earliest reading of a clock that was before `at`; none if there was no such reading.
    pub seen_ahead: Option<Time>,
}

impl LedgerEntry {
    /// From when the entry counts for an hour. While `at` is ahead of the clock, that is the reading at which this was
    /// first noticed. Once the clock has reached `at` it is `at` again: the clock that was behind may have been the wrong
    /// one, and an entry must not leave the ledger early.
    fn counts_from(&self, now: Time) -> Time {
        if self.at <= now { self.at } else { first_seen(self.seen_ahead, now) }
    }

    /// Whether the reading `now` must be written down with the entry.
    pub fn needs_mark(&self, now: Time) -> bool {
        self.at > now && self.seen_ahead.is_none_or(|seen| seen > now)
    }

    /// Whether it counts no longer although `at` is ahead: it would come back when the clock reaches `at`.
    pub fn is_spent(&self, now: Time) -> bool {
        self.at > now && self.counts_from(now) + WINDOW <= now
    }
}

/// The last 429 of a ledger, as it is on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    pub until: Time,
    pub is_estimate: bool,
    /// When the 429 came; unknown in a ledger written by an earlier version.
    pub learned_at: Option<Time>,
    /// As for [`LedgerEntry::seen_ahead`].
    pub seen_ahead: Option<Time>,
}

impl Block {
    /// Whether it comes from a clock that was ahead of `now`.
    fn is_ahead(&self, now: Time) -> bool {
        self.learned_at.is_some_and(|at| at > now) || self.until - now > LONGEST_WAIT
    }

    /// Whether the reading `now` must be written down with the block.
    pub fn needs_mark(&self, now: Time) -> bool {
        self.is_ahead(now) && self.seen_ahead.is_none_or(|seen| seen > now)
    }

    /// What is left of it. If it comes from a clock that was ahead, it lasts as long as the service asked for, counted
    /// from the reading at which this was first noticed.
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

/// What one ledger says at one moment of the service's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Requests made from this computer in the last hour.
    pub used: u32,
    pub limit: u32,
    /// When the next request is free: the oldest use leaves the hour, or a 429's wait ends. None when nothing is used.
    pub resets_at: Option<Time>,
    /// The service answered 429: nothing may go out before this, whatever the count is.
    pub blocked: Option<Wait>,
}

impl Budget {
    /// An unused budget.
    pub fn unused(limited: RateLimited) -> Self {
        Self { used: 0, limit: limited.limit(), resets_at: None, blocked: None }
    }

    /// Requests left, as far as this computer knows.
    pub fn left(&self) -> u32 {
        if self.blocked.is_some() { 0 } else { self.limit.saturating_sub(self.used) }
    }

    /// Until when no request may go out; none when one may go out now.
    pub fn wait(&self) -> Option<Wait> {
        let until = self.resets_at.filter(|_| self.left() == 0)?;
        Some(Wait { until, is_estimate: self.blocked.is_some_and(|wait| wait.is_estimate) })
    }

    /// Whether less of this limit is left than of the other one, as shares.
    pub fn is_closer_to_limit(&self, other: &Self) -> bool {
        let share = |one: &Self, of: &Self| u64::from(one.left()) * u64::from(of.limit);
        share(self, other) < share(other, self)
    }
}

/// Reads a ledger: `entries` in any order, their times in the service's time. No entry is ignored because its time is ahead
/// of `now`, so that a clock that was set back frees nothing early.
pub fn budget(limited: RateLimited, entries: &[LedgerEntry], block: Option<Block>, now: Time) -> Budget {
    let mut inside: Vec<Time> =
        entries.iter().map(|entry| entry.counts_from(now)).filter(|&at| at + WINDOW > now).collect();
    inside.sort_unstable();
    let blocked = block.and_then(|block| block.wait(now));
    let used = u32::try_from(inside.len()).unwrap_or(u32::MAX);
    // With more uses than the limit (another limit once, or several computers' stores joined) one request is free only
    // when enough of them have left.
    let oldest_in_the_way = inside.len().saturating_sub(limited.limit() as usize);
    let frees = inside.get(oldest_in_the_way).map(|&at| at + WINDOW);
    Budget { used, limit: limited.limit(), resets_at: blocked.map(|wait| wait.until).or(frees), blocked }
}

#[cfg(test)]
#[path = "ledger_tests.rs"]
mod tests;
