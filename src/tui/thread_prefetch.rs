//! Prefetches the threads of the jobs around the selected one. One read fetches many threads, so that the first frame
//! after a key shows complete details and most key presses need no read from the store.
//!
//! A prefetched thread is never shown instead of a newer one. Every change of a thread gives its job's row a new
//! revision. A cached thread is therefore valid only while the row has the same revision as when the thread was
//! requested. An event about a changed thread may arrive before the new row. In this case the cached thread is dropped
//! at once.

use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::job::JobKey;
use crate::model::load::Timed;
use crate::model::prompt::{Delivery, Thread};

/// The number of jobs that are prefetched in the direction of the selection's last move.
const PREFETCH_AHEAD: isize = 20;
/// The number of jobs that are prefetched in the opposite direction.
const PREFETCH_BEHIND: isize = 4;
/// How many of the next jobs, in the direction of the last move, must be in the cache. If one of them is missing, a
/// prefetch starts.
const REFILL_DISTANCE: isize = 4;
/// The maximum number of jobs in the cache.
const MAX_CACHED_JOBS: usize = 64;
/// The maximum size of all cached threads, in bytes.
const MAX_CACHE_BYTES: usize = 256 * 1024;
/// The maximum size of a prefetched thread, in bytes. Reading larger threads would keep the store busy for jobs that
/// the user may never select.
pub const MAX_PREFETCHED_THREAD_BYTES: usize = 16 * 1024;

/// A job's key and the revision of its row.
pub(super) type JobRevision = (JobKey, i64);

/// A job in the cache, with or without its thread.
#[derive(Debug)]
struct CachedThread {
    job: JobRevision,
    /// `None` if the thread could not be read or must not be cached. It is then read when it is shown.
    thread: Option<Timed<Thread>>,
    /// The approximate size of the cached thread.
    bytes: usize,
}

/// The cache of prefetched threads.
#[derive(Debug, Default)]
pub(super) struct ThreadPrefetch {
    /// The cached jobs, in the order in which they were added.
    entries: Vec<CachedThread>,
    /// The size of all cached threads.
    bytes: usize,
    /// Whether a prefetch is in progress.
    is_reading: bool,
    /// The jobs of the prefetch in progress, except for jobs whose thread has changed since the request.
    requested_jobs: Vec<JobRevision>,
    /// Whether the engine reports all changes of threads, including changes by other instances. True after a successful
    /// prefetch, because prefetches fail until the engine runs.
    engine_reports_changes: bool,
    /// The job that was last selected, and its position in the list.
    pub(super) last_selected: Option<(JobKey, usize)>,
}

impl ThreadPrefetch {
    /// Whether the cache has an entry for this revision of a job. The entry may have no thread.
    fn contains(&self, job: JobRevision) -> bool {
        self.entries.iter().any(|cached| cached.job == job)
    }

    /// Whether the engine reports all changes of threads, so that a thread that is read now may be cached.
    pub(super) fn is_engine_reporting(&self) -> bool {
        self.engine_reports_changes
    }

    /// Removes and returns the thread of the job with this revision. `None` if the thread is not cached.
    pub(super) fn take(&mut self, job: JobRevision) -> Option<Timed<Thread>> {
        let at = self.entries.iter().position(|cached| cached.job == job && cached.thread.is_some())?;
        self.remove(at).thread
    }

    fn remove(&mut self, at: usize) -> CachedThread {
        let cached = self.entries.remove(at);
        self.bytes -= cached.bytes;
        cached
    }

    /// Caches a thread that was shown, because the user may return to its job. `job` has the revision of the row when
    /// the thread was requested.
    pub(super) fn cache_thread(&mut self, job: JobRevision, thread: Timed<Thread>) {
        self.insert(job, Some(thread));
    }

    fn insert(&mut self, job: JobRevision, thread: Option<Timed<Thread>>) {
        self.drop_cached(job.0);
        let bytes = thread.as_ref().map_or(0, |thread| byte_size(&thread.value));
        let thread = thread.filter(|thread| bytes <= MAX_PREFETCHED_THREAD_BYTES && !has_timed_prompt(&thread.value));
        let bytes = if thread.is_some() { bytes } else { 0 };
        self.bytes += bytes;
        self.entries.push(CachedThread { job, thread, bytes });
        while self.entries.len() > MAX_CACHED_JOBS || self.bytes > MAX_CACHE_BYTES {
            self.remove(0);
        }
    }

    /// Drops the cached thread of a changed job. If a prefetch of the thread is in progress, its result will be
    /// ignored.
    pub(super) fn invalidate(&mut self, job: JobKey) {
        self.drop_cached(job);
        self.requested_jobs.retain(|(requested, _)| *requested != job);
    }

    fn drop_cached(&mut self, job: JobKey) {
        if let Some(at) = self.entries.iter().position(|cached| cached.job.0 == job) {
            self.remove(at);
        }
    }

    /// Drops all cached threads and ignores a prefetch in progress, because the engine may not have reported all
    /// changes.
    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.requested_jobs.clear();
        self.bytes = 0;
    }

    /// Starts a prefetch and returns its jobs. `None` while a prefetch is in progress, or if the next jobs are cached.
    /// `job` returns the job at a distance from the selected one; a positive distance is in the direction of the
    /// selection's last move.
    pub(super) fn start_next_prefetch(&mut self, job: &dyn Fn(isize) -> Option<JobRevision>) -> Option<Vec<JobKey>> {
        if self.is_reading || (1..=REFILL_DISTANCE).filter_map(job).all(|job| self.contains(job)) {
            return None;
        }
        self.is_reading = true;
        for offset in -PREFETCH_BEHIND..=PREFETCH_AHEAD {
            if let Some(job) = job(offset).filter(|job| offset != 0 && !self.contains(*job)) {
                self.requested_jobs.push(job);
            }
        }
        Some(self.requested_jobs.iter().map(|(job, _)| *job).collect())
    }

    /// Caches the threads of a finished prefetch. A thread that is missing from the result is read when it is shown.
    /// If the prefetch failed, drops all cached threads. The failure itself is not shown. If a thread can't be read
    /// when it has to be shown, that failure is shown.
    pub(super) fn apply_result(&mut self, result: Result<Vec<(JobKey, Thread)>, Failure>, as_of: Time) {
        self.is_reading = false;
        self.engine_reports_changes = result.is_ok();
        let requested = std::mem::take(&mut self.requested_jobs);
        if !self.engine_reports_changes {
            self.clear();
        }
        let mut threads = result.unwrap_or_default();
        // Starts with the jobs farthest ahead, because a full cache drops the entries that were added first.
        for job in requested.into_iter().rev() {
            let at = threads.iter().position(|(read, _)| *read == job.0);
            self.insert(job, at.map(|at| Timed { value: threads.swap_remove(at).1, as_of }));
        }
    }
}

/// Whether the thread has a prompt that is queued until a certain time. Such a thread is not cached: the time is
/// computed when the thread is read, and may be different later.
fn has_timed_prompt(thread: &Thread) -> bool {
    thread.prompts.iter().any(|prompt| matches!(prompt.delivery, Delivery::Queued { until: Some(_) }))
}

/// Returns the approximate size of a thread in bytes.
fn byte_size(thread: &Thread) -> usize {
    let prompts = size_of_val(thread.prompts.as_slice()) + size_of_val(thread.events.as_slice());
    let text = |delivery: &Delivery| delivery.reason().map_or(0, |reason| reason.as_str().len());
    prompts + thread.prompts.iter().map(|prompt| prompt.text.len() + text(&prompt.delivery)).sum::<usize>()
}

#[cfg(test)]
#[path = "thread_prefetch_tests.rs"]
mod tests;
