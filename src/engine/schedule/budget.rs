//! What was spent of the budget in the last minute, and when there is a place for one more request.

use crate::model::Time;
use chrono::TimeDelta;
use std::collections::VecDeque;

/// The span over which requests are counted.
pub(super) const MINUTE: TimeDelta = TimeDelta::minutes(1);

/// What a request is paid from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Common,
    /// Kept free for what is on screen.
    Quarter,
}

/// Requests of one part: those under way, and those whose answer came in the last minute, oldest first. When a request
/// reached the service lies between its beginning and its end, so it counts until a minute after its end.
#[derive(Debug, Default)]
pub(super) struct Spent {
    pub(super) under_way: usize,
    pub(super) ended: VecDeque<Time>,
}

impl Spent {
    pub(super) fn count(&self) -> usize {
        self.under_way + self.ended.len()
    }

    pub(super) fn end(&mut self, now: Time) {
        self.under_way = self.under_way.saturating_sub(1);
        self.ended.push_back(now);
    }

    pub(super) fn forget_old(&mut self, now: Time) {
        while self.ended.front().is_some_and(|at| *at + MINUTE <= now) {
            self.ended.pop_front();
        }
    }
}

/// When there is a place for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Frees {
    Now,
    At(Time),
    /// With an answer to a request under way, or when what limits it changes.
    Unknown,
}

impl Frees {
    /// The first such moment that is not before `due`; none when only something else can tell.
    pub(super) fn after(self, due: Time) -> Option<Time> {
        match self {
            Self::Now => Some(due),
            Self::At(at) => Some(at.max(due)),
            Self::Unknown => None,
        }
    }
}

/// When fewer than `limit` of these requests count.
pub(super) fn frees_at(spent: &[&Spent], limit: usize) -> Frees {
    let count: usize = spent.iter().map(|spent| spent.count()).sum();
    let Some(too_many) = count.checked_sub(limit) else { return Frees::Now };
    let ends = match spent {
        [one] => one.ended.get(too_many).copied(),
        // The oldest of all leaves first; looking again then is soon enough.
        many => many.iter().filter_map(|spent| spent.ended.front()).min().copied(),
    };
    ends.map_or(Frees::Unknown, |at| Frees::At(at + MINUTE))
}
