//! Prefetches the threads of the jobs around the selected one: many in one read, so that the first frame after a key
//! shows the complete detail and most key presses read nothing from the store.
//!
//! A prefetched thread is never shown instead of a newer one. Every change of a thread gives its job's row a new
//! revision, so a thread is valid while the row has the revision that it had when the thread was requested. If a change
//! is reported before its row, the thread is dropped by its job's key.

use super::{App, Effect};
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::load::Timed;
use crate::model::prompt::{Delivery, Thread};
use crate::model::row::JobKey;

/// How many jobs are prefetched in the direction of the last step, and in the other direction.
const AHEAD: isize = 20;
const BEHIND: isize = 4;
/// The next read starts when one of this many jobs in the direction of the step is not cached.
const REFILL_DISTANCE: isize = 4;
/// The maximal size of the cache: jobs, and bytes of all their threads.
const MAX_JOBS: usize = 64;
const MAX_BYTES: usize = 256 * 1024;
/// A larger thread, in bytes, is read only when it is shown: it would keep the store busy for jobs that may never be
/// shown.
pub const MAX_THREAD_BYTES: usize = 16 * 1024;

/// A job's key and the revision of its row.
pub(super) type JobRevision = (JobKey, i64);

/// The cached state of a job.
#[derive(Debug)]
struct CachedThread {
    job: JobRevision,
    /// `None` if the thread is read when it is shown.
    thread: Option<Timed<Thread>>,
    bytes: usize,
}

/// The prefetched threads, oldest first.
#[derive(Debug, Default)]
pub(super) struct ThreadPrefetch {
    cached: Vec<CachedThread>,
    bytes: usize,
    is_reading: bool,
    /// The jobs of the current read whose threads have not changed since.
    requested: Vec<JobRevision>,
    /// Whether the last read succeeded, which requires an engine that reports every change, also of other instances.
    reports_changes: bool,
    /// The job that was selected last, and its position.
    last_selected: Option<(JobKey, usize)>,
}

impl ThreadPrefetch {
    fn has(&self, job: JobRevision) -> bool {
        self.cached.iter().any(|cached| cached.job == job)
    }

    /// Whether every change of a thread that is read now will be reported.
    pub(super) fn has_change_reports(&self) -> bool {
        self.reports_changes
    }

    /// Takes the thread of a job with this revision, if it is cached.
    pub(super) fn take(&mut self, job: JobRevision) -> Option<Timed<Thread>> {
        let at = self.cached.iter().position(|cached| cached.job == job && cached.thread.is_some())?;
        self.remove(at).thread
    }

    fn remove(&mut self, at: usize) -> CachedThread {
        let cached = self.cached.remove(at);
        self.bytes -= cached.bytes;
        cached
    }

    /// Caches a thread that was shown, for the way back. It was requested when the row had this revision.
    pub(super) fn cache_thread(&mut self, job: JobRevision, thread: Timed<Thread>) {
        self.put(job, Some(thread));
    }

    fn put(&mut self, job: JobRevision, thread: Option<Timed<Thread>>) {
        self.drop_cached(job.0);
        let bytes = thread.as_ref().map_or(0, |thread| byte_size(&thread.value));
        let thread = thread.filter(|thread| bytes <= MAX_THREAD_BYTES && !is_timed(&thread.value));
        let bytes = if thread.is_some() { bytes } else { 0 };
        self.bytes += bytes;
        self.cached.push(CachedThread { job, thread, bytes });
        while self.cached.len() > MAX_JOBS || self.bytes > MAX_BYTES {
            self.remove(0);
        }
    }

    /// Drops the thread of a job that changed, and ignores the one that is being read.
    pub(super) fn invalidate(&mut self, job: JobKey) {
        self.drop_cached(job);
        self.requested.retain(|(requested, _)| *requested != job);
    }

    fn drop_cached(&mut self, job: JobKey) {
        if let Some(at) = self.cached.iter().position(|cached| cached.job.0 == job) {
            self.remove(at);
        }
    }

    /// Drops everything, because changes may have gone unreported.
    pub(super) fn clear(&mut self) {
        self.cached.clear();
        self.requested.clear();
        self.bytes = 0;
    }

    /// The jobs to read now. `job` returns the job that is this many positions further in the direction of the step.
    /// `None` while a read is in progress or if the next jobs are cached.
    fn next_request(&mut self, job: &dyn Fn(isize) -> Option<JobRevision>) -> Option<Vec<JobKey>> {
        if self.is_reading || (1..=REFILL_DISTANCE).filter_map(job).all(|job| self.has(job)) {
            return None;
        }
        self.is_reading = true;
        for offset in -BEHIND..=AHEAD {
            if let Some(job) = job(offset).filter(|job| offset != 0 && !self.has(*job)) {
                self.requested.push(job);
            }
        }
        Some(self.requested.iter().map(|(job, _)| *job).collect())
    }

    /// Takes the threads of a read. A job without a thread is read when it is shown, which also shows why it could not
    /// be read.
    pub(super) fn apply_result(&mut self, result: Result<Vec<(JobKey, Thread)>, Failure>, as_of: Time) {
        self.is_reading = false;
        self.reports_changes = result.is_ok();
        let requested = std::mem::take(&mut self.requested);
        if !self.reports_changes {
            self.clear();
        }
        let mut threads = result.unwrap_or_default();
        // The farthest jobs first, because the oldest entries are dropped if the cache is full.
        for job in requested.into_iter().rev() {
            let at = threads.iter().position(|(read, _)| *read == job.0);
            self.put(job, at.map(|at| Timed { value: threads.swap_remove(at).1, as_of }));
        }
    }
}

/// Whether a prompt waits for a time, which is computed when the thread is read and may change with the clock.
fn is_timed(thread: &Thread) -> bool {
    thread.prompts.iter().any(|prompt| matches!(prompt.delivery, Delivery::Queued { until: Some(_) }))
}

/// The approximate size of a thread in bytes.
fn byte_size(thread: &Thread) -> usize {
    let prompts = size_of_val(thread.prompts.as_slice()) + size_of_val(thread.events.as_slice());
    let text = |delivery: &Delivery| delivery.reason().map_or(0, |reason| reason.as_str().len());
    prompts + thread.prompts.iter().map(|prompt| prompt.text.len() + text(&prompt.delivery)).sum::<usize>()
}

impl App {
    /// Prefetches threads after the selection has moved by a single step. After a longer jump the next step can't be
    /// predicted.
    pub(super) fn prefetch_threads(&mut self) -> Option<Effect> {
        let (jobs, prefetch) = (&self.jobs, &mut self.detail.prefetched);
        let job = jobs.selected()?.key;
        if prefetch.last_selected.is_some_and(|(last_selected, _)| last_selected == job) {
            return None;
        }
        let at = jobs.position(job)?;
        let (_, from) = prefetch.last_selected.replace((job, at))?;
        let down = at == from + 1;
        if !down && at + 1 != from {
            return None;
        }
        let read = prefetch.next_request(&|offset| {
            let position = at.checked_add_signed(if down { offset } else { -offset })?;
            jobs.at(position).filter(|_| position < jobs.listed_count()).map(|row| (row.key, row.revision))
        });
        read.map(Effect::PrefetchThreads)
    }
}

#[cfg(test)]
#[path = "thread_prefetch_tests.rs"]
mod tests;
