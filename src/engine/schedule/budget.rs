//! The polling budget of a rolling minute: its shares, what each has spent, and when it has a free
//! slot.

use super::pacing::{MINUTE, Rate};
use crate::model::Time;
use chrono::TimeDelta;
use std::collections::VecDeque;

/// A late request is compensated by sending the next ones sooner, by up to this much: late timers
/// and slow answers cost no slot, and the requests after a rest are not sent all at once.
const MAX_CATCH_UP: TimeDelta = TimeDelta::seconds(2);

/// The share of the budget from which a request is paid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BudgetShare {
    Common,
    /// Reserved for the jobs on screen.
    Reserved,
}

/// One share of the budget. A request reaches the service some time between its start and its end,
/// so it counts until a minute after its end.
#[derive(Debug, Default)]
pub(super) struct BudgetUsage {
    under_way: usize,
    /// The ends of requests that still count, oldest first.
    request_ends: VecDeque<Time>,
    /// More was due than there were slots: requests are spaced evenly until everything due had its
    /// turn.
    spaces_evenly: bool,
    /// When the next request may start, if requests are spaced evenly.
    next: Option<Time>,
}

impl BudgetUsage {
    /// The number of requests that count.
    pub(super) fn count(&self) -> usize {
        self.under_way + self.request_ends.len()
    }

    pub(super) fn under_way(&self) -> usize {
        self.under_way
    }

    /// Records the start of a request.
    pub(super) fn begin(&mut self, limits: BudgetLimits, now: Time) {
        self.under_way += 1;
        let gap = MINUTE / i32::try_from(limits.slots.max(1)).unwrap_or(i32::MAX);
        let from = if self.is_even(limits) { self.next.unwrap_or(now).max(now - MAX_CATCH_UP).min(now) } else { now };
        self.next = from.checked_add_signed(gap);
    }

    /// Records the end of a request of this share.
    pub(super) fn end(&mut self, now: Time) {
        self.under_way = self.under_way.saturating_sub(1);
        self.request_ends.push_back(now);
    }

    /// Records a request outside the schedule.
    pub(super) fn add(&mut self, now: Time) {
        self.request_ends.push_back(now);
    }

    pub(super) fn drop_old(&mut self, now: Time) {
        while self.request_ends.front().is_some_and(|at| *at + MINUTE <= now) {
            self.request_ends.pop_front();
        }
    }

    /// Nothing else is due that could be paid from this share.
    pub(super) fn clear_short(&mut self) {
        self.spaces_evenly = false;
    }

    /// Whether a request may start now. If one is due and no slot is free, the share is marked as
    /// short.
    pub(super) fn admits(&mut self, limits: BudgetLimits, now: Time) -> bool {
        if self.count() >= limits.slots {
            self.spaces_evenly = true;
            return false;
        }
        !self.is_even(limits) || self.next.is_none_or(|next| next <= now)
    }

    /// When the next request may start.
    pub(super) fn opens(&self, limits: BudgetLimits) -> NextSlot {
        let even = self.next.filter(|_| self.is_even(limits)).map_or(NextSlot::Now, NextSlot::At);
        next_slot(&[self], limits.slots).max(even)
    }

    fn is_even(&self, limits: BudgetLimits) -> bool {
        self.spaces_evenly || limits.is_overbooked
    }
}

/// The current limits of one share.
#[derive(Debug, Clone, Copy)]
pub(super) struct BudgetLimits {
    /// Requests in any rolling minute.
    pub(super) slots: usize,
    /// More requests are wanted than the share has: they are spaced evenly, because after a burst each
    /// of its jobs would wait a minute longer than its fair share.
    pub(super) is_overbooked: bool,
}

impl BudgetLimits {
    pub(super) fn new(slots: usize, wanted: Rate) -> Self {
        Self { slots, is_overbooked: wanted > Rate::of(slots) }
    }
}

/// When a slot is free.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NextSlot {
    Now,
    At(Time),
    /// When a request in flight is answered, or when another limit changes.
    Unknown,
}

impl NextSlot {
    /// The first such time that is not before `due`; `None` if it depends on something else.
    pub(super) fn after(self, due: Time) -> Option<Time> {
        match self {
            Self::Now => Some(due),
            Self::At(at) => Some(at.max(due)),
            Self::Unknown => None,
        }
    }
}

/// When fewer than `slots` of these requests count.
pub(super) fn next_slot(spent: &[&BudgetUsage], slots: usize) -> NextSlot {
    let count: usize = spent.iter().map(|spent| spent.count()).sum();
    let Some(too_many) = count.checked_sub(slots) else { return NextSlot::Now };
    let ends = match spent {
        [one] => one.request_ends.get(too_many).copied(),
        // The oldest of all expires first; checking again then is soon enough.
        many => many.iter().filter_map(|spent| spent.request_ends.front()).min().copied(),
    };
    ends.map_or(NextSlot::Unknown, |at| NextSlot::At(at + MINUTE))
}
