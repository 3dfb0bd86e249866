//! Jobs that wait for their next check: those not due yet, by due time, and those that are due, by
//! the time of their last check.

use crate::model::Time;
use crate::model::row::JobKey;
use std::collections::BTreeSet;

/// The waiting jobs of one kind. A change of one job costs O(log n).
#[derive(Debug, Default)]
pub(super) struct WaitQueue {
    /// Ordered by due time.
    early: BTreeSet<(Time, JobKey)>,
    /// Ordered by the last check. Not by due time: pauses differ and are jittered, so a job with a
    /// longer pause would come after jobs that were checked later.
    due: BTreeSet<(Time, JobKey)>,
}

impl WaitQueue {
    /// Adds a job that becomes due at `due`.
    pub(super) fn insert(&mut self, key: JobKey, due: Time) {
        self.early.insert((due, key));
    }

    /// Removes a job, given its due time and the time of its last check.
    pub(super) fn remove(&mut self, key: JobKey, due: Time, checked_at: Time) {
        if !self.early.remove(&(due, key)) {
            self.due.remove(&(checked_at, key));
        }
    }

    /// Moves jobs that have become due, with the time of their last check from `checked_at`.
    pub(super) fn move_due(&mut self, now: Time, checked_at: impl Fn(JobKey) -> Option<Time>) {
        while let Some(&(due, key)) = self.early.first().filter(|(due, _)| *due <= now) {
            self.early.pop_first();
            self.due.insert((checked_at(key).unwrap_or(due), key));
        }
    }

    /// The due job that has waited longest, and since when.
    pub(super) fn first(&self) -> Option<(Time, JobKey)> {
        self.due.first().copied()
    }

    /// The first job that will become due, and when.
    pub(super) fn first_early(&self) -> Option<(Time, JobKey)> {
        self.early.first().copied()
    }

    /// The due jobs, longest waiting first.
    pub(super) fn due_jobs(&self) -> impl Iterator<Item = (Time, JobKey)> {
        self.due.iter().copied()
    }

    /// When a job is due, from `now` on.
    pub(super) fn next_due(&self, now: Time) -> Option<Time> {
        if self.due.is_empty() { self.early.first().map(|(due, _)| (*due).max(now)) } else { Some(now) }
    }

    pub(super) fn clear(&mut self) {
        self.early.clear();
        self.due.clear();
    }
}
