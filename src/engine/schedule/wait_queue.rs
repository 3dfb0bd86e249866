//! Jobs that wait for their next look: those whose time has not come, by when it comes, and those that are due, by how long
//! they have not been looked at.

use crate::model::Time;
use crate::model::row::JobKey;
use std::collections::BTreeSet;

/// The waiting jobs of one kind. One job costs O(log n) per change.
#[derive(Debug, Default)]
pub(super) struct WaitQueue {
    /// By when they become due.
    early: BTreeSet<(Time, JobKey)>,
    /// By when they were last looked at. Not by when they became due: pauses differ and are jittered, and whoever had the
    /// longer one would come after jobs that were looked at later.
    due: BTreeSet<(Time, JobKey)>,
}

impl WaitQueue {
    /// Puts a job in that becomes due then.
    pub(super) fn insert(&mut self, key: JobKey, due: Time) {
        self.early.insert((due, key));
    }

    /// Takes a job out, by when it becomes due and when it was last looked at.
    pub(super) fn remove(&mut self, key: JobKey, due: Time, looked: Time) {
        if !self.early.remove(&(due, key)) {
            self.due.remove(&(looked, key));
        }
    }

    /// Lines up those whose time has come, by when they were last `looked` at.
    pub(super) fn move_due(&mut self, now: Time, looked: impl Fn(JobKey) -> Option<Time>) {
        while let Some(&(due, key)) = self.early.first().filter(|(due, _)| *due <= now) {
            self.early.pop_first();
            self.due.insert((looked(key).unwrap_or(due), key));
        }
    }

    /// Of those that are due, who has waited longest, and since when.
    pub(super) fn first(&self) -> Option<(Time, JobKey)> {
        self.due.first().copied()
    }

    /// Of those that are not due, who will be first, and when.
    pub(super) fn first_early(&self) -> Option<(Time, JobKey)> {
        self.early.first().copied()
    }

    /// Those that are due, longest waiting first.
    pub(super) fn all_due(&self) -> impl Iterator<Item = (Time, JobKey)> {
        self.due.iter().copied()
    }

    /// When someone is due, from `now` on.
    pub(super) fn next_due(&self, now: Time) -> Option<Time> {
        if self.due.is_empty() { self.early.first().map(|(due, _)| (*due).max(now)) } else { Some(now) }
    }

    pub(super) fn clear(&mut self) {
        self.early.clear();
        self.due.clear();
    }
}
