//! The jobs that wait for their next check. Jobs that are not due yet are ordered by due time. Due jobs are
//! ordered by the time of their last check.

use crate::model::Time;
use crate::model::row::JobKey;
use std::collections::BTreeSet;

/// A queue of jobs that wait for their next check. To add or remove a job costs O(log n).
#[derive(Debug, Default)]
pub(super) struct WaitQueue {
    /// The jobs that are not due yet, with their due times.
    not_due: BTreeSet<(Time, JobKey)>,
    /// The jobs that are due, with the times of their last checks. They are not ordered by due time, because
    /// a job with a longer pause would then come after jobs whose last check is more recent.
    due: BTreeSet<(Time, JobKey)>,
}

impl WaitQueue {
    /// Adds a job that becomes due at `due`.
    pub(super) fn insert(&mut self, key: JobKey, due: Time) {
        self.not_due.insert((due, key));
    }

    /// Removes a job, given its due time and the time of its last check.
    pub(super) fn remove(&mut self, key: JobKey, due: Time, checked_at: Time) {
        if !self.not_due.remove(&(due, key)) {
            self.due.remove(&(checked_at, key));
        }
    }

    /// Moves the jobs that have become due from `not_due` to `due`. `checked_at` returns the time of a job's
    /// last check.
    pub(super) fn move_due(&mut self, now: Time, checked_at: impl Fn(JobKey) -> Option<Time>) {
        while let Some(&(due, key)) = self.not_due.first().filter(|(due, _)| *due <= now) {
            self.not_due.pop_first();
            self.due.insert((checked_at(key).unwrap_or(due), key));
        }
    }

    /// Returns the due job whose last check is longest ago, and the time of that check.
    pub(super) fn first(&self) -> Option<(Time, JobKey)> {
        self.due.first().copied()
    }

    /// Returns the job that will become due next, and its due time.
    pub(super) fn first_not_due(&self) -> Option<(Time, JobKey)> {
        self.not_due.first().copied()
    }

    /// Returns the due jobs with the times of their last checks, oldest check first.
    pub(super) fn due_jobs(&self) -> impl Iterator<Item = (Time, JobKey)> {
        self.due.iter().copied()
    }

    /// Returns when the next job is due: `now` if a job is due already, `None` if the queue is empty.
    pub(super) fn next_due(&self, now: Time) -> Option<Time> {
        if self.due.is_empty() { self.not_due.first().map(|(due, _)| (*due).max(now)) } else { Some(now) }
    }

    pub(super) fn clear(&mut self) {
        self.not_due.clear();
        self.due.clear();
    }
}
