//! The polling budget: how many GETs may start in a rolling minute. It has two shares. This module tracks
//! the requests of each share and determines when the share permits the next one.

use super::pacing::{MINUTE, Rate};
use crate::model::Time;
use chrono::TimeDelta;
use std::collections::VecDeque;

/// If requests are spaced evenly and one of them starts late, the next requests start sooner, by at most
/// this much. So no request of the budget is lost to late timers and slow answers. The limit prevents a burst
/// of requests after a long pause.
const MAX_CATCH_UP: TimeDelta = TimeDelta::seconds(2);

/// The share of the polling budget that a request counts toward.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BudgetShare {
    /// For all jobs.
    Common,
    /// For the jobs on screen only.
    Reserved,
}

/// The requests that count toward one share of the budget. A request reaches the service at an unknown time
/// between its start and its end, so it counts until a minute after its end.
#[derive(Debug, Default)]
pub(super) struct BudgetUsage {
    /// The number of requests in flight.
    in_flight: usize,
    /// When the requests of the last minute ended, oldest first.
    request_ends: VecDeque<Time>,
    /// Whether requests are spaced evenly. Set when the share is used up while a job is due. Reset when no
    /// due job is left that may use the share.
    spaces_evenly: bool,
    /// When the next request may start if requests are spaced evenly.
    next_start: Option<Time>,
}

impl BudgetUsage {
    /// Returns the number of requests that count toward the share now.
    pub(super) fn count(&self) -> usize {
        self.in_flight + self.request_ends.len()
    }

    pub(super) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Records the start of a request.
    pub(super) fn begin(&mut self, limits: BudgetLimits, now: Time) {
        self.in_flight += 1;
        let gap = MINUTE / i32::try_from(limits.slots.max(1)).unwrap_or(i32::MAX);
        let from = if self.is_evenly_spaced(limits) {
            self.next_start.unwrap_or(now).max(now - MAX_CATCH_UP).min(now)
        } else {
            now
        };
        self.next_start = from.checked_add_signed(gap);
    }

    /// Records the end of a request of this share.
    pub(super) fn end(&mut self, now: Time) {
        self.in_flight = self.in_flight.saturating_sub(1);
        self.request_ends.push_back(now);
    }

    /// Records a request outside the schedule that has ended.
    pub(super) fn add_unscheduled(&mut self, now: Time) {
        self.request_ends.push_back(now);
    }

    pub(super) fn drop_expired(&mut self, now: Time) {
        while self.request_ends.front().is_some_and(|at| *at + MINUTE <= now) {
            self.request_ends.pop_front();
        }
    }

    /// Ends the even spacing of requests, because no due job is left that may use this share.
    pub(super) fn stop_even_spacing(&mut self) {
        self.spaces_evenly = false;
    }

    /// Whether a request for a due job may start now. If the share is used up, requests are spaced evenly
    /// from now on.
    pub(super) fn admits(&mut self, limits: BudgetLimits, now: Time) -> bool {
        if self.count() >= limits.slots {
            self.spaces_evenly = true;
            return false;
        }
        !self.is_evenly_spaced(limits) || self.next_start.is_none_or(|next| next <= now)
    }

    /// Returns when the next request may start.
    pub(super) fn next_start(&self, limits: BudgetLimits) -> NextSlot {
        let even = self.next_start.filter(|_| self.is_evenly_spaced(limits)).map_or(NextSlot::Now, NextSlot::At);
        next_slot(&[self], limits.slots).max(even)
    }

    fn is_evenly_spaced(&self, limits: BudgetLimits) -> bool {
        self.spaces_evenly || limits.is_overbooked
    }
}

/// The current limits of one share.
#[derive(Debug, Clone, Copy)]
pub(super) struct BudgetLimits {
    /// The most requests in any rolling minute.
    pub(super) slots: usize,
    /// Whether the jobs need more requests than the share allows. Requests are then spaced evenly. After a
    /// burst of requests, the share would be used up, and the next checks would be up to a minute late.
    pub(super) is_overbooked: bool,
}

impl BudgetLimits {
    pub(super) fn new(slots: usize, wanted: Rate) -> Self {
        Self { slots, is_overbooked: wanted > Rate::per_minute(slots) }
    }
}

/// When the next request may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NextSlot {
    Now,
    At(Time),
    /// Unknown until a request in flight ends or another limit changes.
    Unknown,
}

impl NextSlot {
    /// Returns when a request that is due at `due` may start; `None` if that time is unknown.
    pub(super) fn after(self, due: Time) -> Option<Time> {
        match self {
            Self::Now => Some(due),
            Self::At(at) => Some(at.max(due)),
            Self::Unknown => None,
        }
    }
}

/// Returns when the next request may start if all these usages together must not exceed `slots` requests.
pub(super) fn next_slot(spent: &[&BudgetUsage], slots: usize) -> NextSlot {
    let count: usize = spent.iter().map(|spent| spent.count()).sum();
    let Some(too_many) = count.checked_sub(slots) else { return NextSlot::Now };
    let ends = match spent {
        [usage] => usage.request_ends.get(too_many).copied(),
        // Wait only until the oldest request expires. If `slots` is still exceeded, this is called again.
        usages => usages.iter().filter_map(|spent| spent.request_ends.front()).min().copied(),
    };
    ends.map_or(NextSlot::Unknown, |at| NextSlot::At(at + MINUTE))
}
