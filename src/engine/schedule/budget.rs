//! What may be spent in a rolling minute: the parts of the budget, what each has spent, and when it has a place for one more.

use super::pacing::{MINUTE, Rate};
use crate::model::Time;
use chrono::TimeDelta;
use std::collections::VecDeque;

/// A late request is made up for by sending the next ones sooner, as far as it was late by no more than this: a timer that
/// fires late and slow answers cost no place, and what comes after a rest is not one heap.
const MADE_UP: TimeDelta = TimeDelta::seconds(2);

/// Which part of the budget a request is paid from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BudgetShare {
    Common,
    /// Kept free for what is on screen.
    Kept,
}

/// One part of the budget. When a request reached the service lies between its beginning and its end, so it counts until a
/// minute after its end.
#[derive(Debug, Default)]
pub(super) struct Spent {
    under_way: usize,
    /// When those ended that still count, oldest first.
    ended: VecDeque<Time>,
    /// More was due than there were places: evenly from then on, until all that is due had its turn.
    short: bool,
    /// When the next request may go out, if they go out evenly.
    next: Option<Time>,
}

impl Spent {
    /// Requests that count.
    pub(super) fn count(&self) -> usize {
        self.under_way + self.ended.len()
    }

    pub(super) fn under_way(&self) -> usize {
        self.under_way
    }

    /// A request goes out.
    pub(super) fn begin(&mut self, limits: BudgetLimits, now: Time) {
        self.under_way += 1;
        let gap = MINUTE / i32::try_from(limits.places.max(1)).unwrap_or(i32::MAX);
        let from = if self.is_even(limits) { self.next.unwrap_or(now).max(now - MADE_UP).min(now) } else { now };
        self.next = from.checked_add_signed(gap);
    }

    /// A request of this part is over.
    pub(super) fn end(&mut self, now: Time) {
        self.under_way = self.under_way.saturating_sub(1);
        self.ended.push_back(now);
    }

    /// A request that was not asked for by schedule is over.
    pub(super) fn add(&mut self, now: Time) {
        self.ended.push_back(now);
    }

    pub(super) fn forget_old(&mut self, now: Time) {
        while self.ended.front().is_some_and(|at| *at + MINUTE <= now) {
            self.ended.pop_front();
        }
    }

    /// Nothing more is due that could be paid from this part.
    pub(super) fn suffices(&mut self) {
        self.short = false;
    }

    /// Whether one more may go out now. If one is due and there is no place for it, the part is short.
    pub(super) fn admits(&mut self, limits: BudgetLimits, now: Time) -> bool {
        if self.count() >= limits.places {
            self.short = true;
            return false;
        }
        !self.is_even(limits) || self.next.is_none_or(|next| next <= now)
    }

    /// When one more may go out.
    pub(super) fn opens(&self, limits: BudgetLimits) -> Opens {
        let even = self.next.filter(|_| self.is_even(limits)).map_or(Opens::Now, Opens::At);
        opens(&[self], limits.places).max(even)
    }

    fn is_even(&self, limits: BudgetLimits) -> bool {
        self.short || limits.is_wanted
    }
}

/// What one part of the budget is at the moment.
#[derive(Debug, Clone, Copy)]
pub(super) struct BudgetLimits {
    /// Requests in any rolling minute.
    pub(super) places: usize,
    /// All of them are wanted, and more: they go out evenly, since after a heap each job of it would wait a minute longer
    /// than its fair share.
    pub(super) is_wanted: bool,
}

impl BudgetLimits {
    pub(super) fn new(places: usize, wanted: Rate) -> Self {
        Self { places, is_wanted: wanted > Rate::of(places) }
    }
}

/// When there is a place for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Opens {
    Now,
    At(Time),
    /// With an answer to a request under way, or when what limits it changes.
    Unknown,
}

impl Opens {
    /// The first such moment that is not before `due`; none when only something else can tell.
    pub(super) fn after(self, due: Time) -> Option<Time> {
        match self {
            Self::Now => Some(due),
            Self::At(at) => Some(at.max(due)),
            Self::Unknown => None,
        }
    }
}

/// When fewer than `places` of these requests count.
pub(super) fn opens(spent: &[&Spent], places: usize) -> Opens {
    let count: usize = spent.iter().map(|spent| spent.count()).sum();
    let Some(too_many) = count.checked_sub(places) else { return Opens::Now };
    let ends = match spent {
        [one] => one.ended.get(too_many).copied(),
        // The oldest of all leaves first; looking again then is soon enough.
        many => many.iter().filter_map(|spent| spent.ended.front()).min().copied(),
    };
    ends.map_or(Opens::Unknown, |at| Opens::At(at + MINUTE))
}
