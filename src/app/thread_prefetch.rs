//! Threads of the jobs around the selected one, read before they are shown: many in one read, so that a step of the
//! selection has its whole detail in its first frame and most steps ask the record for nothing.
//!
//! What is kept here is never shown instead of something newer. Every change of a thread gives its job's row another
//! revision, so a thread counts for as long as the row has the revision that it had when the thread was asked for; a
//! thread whose change is told before its row is let go of by name.

use super::{App, Effect};
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::load::Timed;
use crate::model::prompt::{Delivery, Thread};
use crate::model::row::JobKey;

/// Jobs that are looked at in the direction of the last step, and in the other one.
const AHEAD: isize = 20;
const BEHIND: isize = 4;
/// The next read is asked for when one of so many jobs in the direction of the step is not known.
const NEAR: isize = 4;
/// What is kept at most: jobs, and bytes of all their threads.
const MOST_JOBS: usize = 64;
const MOST_BYTES: usize = 256 * 1024;
/// A larger thread, in bytes, is read when it is shown: it would keep the record busy for jobs that may never be shown.
pub const MOST_OF_ONE: usize = 16 * 1024;

/// A job as its row stood: its key and the row's revision.
pub(super) type JobRevision = (JobKey, i64);

/// What is known of a job around the selected one.
#[derive(Debug)]
struct CachedThread {
    job: JobRevision,
    /// None where the thread is read when it is shown.
    thread: Option<Timed<Thread>>,
    bytes: usize,
}

/// The threads, the one that was kept first in front.
#[derive(Debug, Default)]
pub(super) struct ThreadPrefetch {
    kept: Vec<CachedThread>,
    bytes: usize,
    /// A read is under way; at most one at a time.
    reading: bool,
    /// What it was asked for and still counts.
    asked: Vec<JobRevision>,
    /// The last read was carried out, which takes an engine that tells of every change, also by other instances.
    is_told: bool,
    /// The job that was selected last, and its position.
    stood: Option<(JobKey, usize)>,
}

impl ThreadPrefetch {
    fn knows(&self, job: JobRevision) -> bool {
        self.kept.iter().any(|kept| kept.job == job)
    }

    /// Whether every change of a thread that is read now is told.
    pub(super) fn is_told(&self) -> bool {
        self.is_told
    }

    /// Takes out the thread of a job whose row stands like this, if it is here.
    pub(super) fn take(&mut self, job: JobRevision) -> Option<Timed<Thread>> {
        let at = self.kept.iter().position(|kept| kept.job == job && kept.thread.is_some())?;
        self.take_out(at).thread
    }

    fn take_out(&mut self, at: usize) -> CachedThread {
        let kept = self.kept.remove(at);
        self.bytes -= kept.bytes;
        kept
    }

    /// Keeps a thread, asked for when the row stood like this: one that was shown, for the way back.
    pub(super) fn keep(&mut self, job: JobRevision, thread: Timed<Thread>) {
        self.put(job, Some(thread));
    }

    fn put(&mut self, job: JobRevision, thread: Option<Timed<Thread>>) {
        self.forget_kept(job.0);
        let bytes = thread.as_ref().map_or(0, |thread| size(&thread.value));
        let thread = thread.filter(|thread| bytes <= MOST_OF_ONE && !is_timed(&thread.value));
        let bytes = if thread.is_some() { bytes } else { 0 };
        self.bytes += bytes;
        self.kept.push(CachedThread { job, thread, bytes });
        while self.kept.len() > MOST_JOBS || self.bytes > MOST_BYTES {
            self.take_out(0);
        }
    }

    /// The thread of a job changed: what is known of it, and what is being read, is the thread before.
    pub(super) fn forget(&mut self, job: JobKey) {
        self.forget_kept(job);
        self.asked.retain(|(asked, _)| *asked != job);
    }

    fn forget_kept(&mut self, job: JobKey) {
        if let Some(at) = self.kept.iter().position(|kept| kept.job.0 == job) {
            self.take_out(at);
        }
    }

    /// Changes may have passed unheard.
    pub(super) fn forget_all(&mut self) {
        self.kept.clear();
        self.asked.clear();
        self.bytes = 0;
    }

    /// The jobs to read now, of those around the selected one: `job` gives the one so many places on in the direction of
    /// the step. None while a read is under way or the next ones are known.
    fn ask(&mut self, job: &dyn Fn(isize) -> Option<JobRevision>) -> Option<Vec<JobKey>> {
        if self.reading || (1..=NEAR).filter_map(job).all(|job| self.knows(job)) {
            return None;
        }
        self.reading = true;
        for places in -BEHIND..=AHEAD {
            if let Some(job) = job(places).filter(|job| places != 0 && !self.knows(*job)) {
                self.asked.push(job);
            }
        }
        Some(self.asked.iter().map(|(job, _)| *job).collect())
    }

    /// Takes the answer: a job that is not in it is read when it is shown. What could not be read is not asked for again
    /// at once, and says why when it is shown.
    pub(super) fn answer(&mut self, result: Result<Vec<(JobKey, Thread)>, Failure>, as_of: Time) {
        self.reading = false;
        self.is_told = result.is_ok();
        let asked = std::mem::take(&mut self.asked);
        if !self.is_told {
            self.forget_all();
        }
        let mut threads = result.unwrap_or_default();
        // The farthest first: where there is no room for all, they go.
        for job in asked.into_iter().rev() {
            let at = threads.iter().position(|(read, _)| *read == job.0);
            self.put(job, at.map(|at| Timed { value: threads.swap_remove(at).1, as_of }));
        }
    }
}

/// Whether a prompt waits for a moment: that is reckoned when it is read, and the clocks may move.
fn is_timed(thread: &Thread) -> bool {
    thread.prompts.iter().any(|prompt| matches!(prompt.delivery, Delivery::Queued { until: Some(_) }))
}

/// About how many bytes a thread takes.
fn size(thread: &Thread) -> usize {
    let prompts = size_of_val(thread.prompts.as_slice()) + size_of_val(thread.events.as_slice());
    let text = |delivery: &Delivery| delivery.reason().map_or(0, |reason| reason.as_str().len());
    prompts + thread.prompts.iter().map(|prompt| prompt.text.len() + text(&prompt.delivery)).sum::<usize>()
}

impl App {
    /// What to read now so that the next steps of the selection find their threads. Asked for after a step alone: a leap
    /// leads anywhere.
    pub(super) fn read_ahead(&mut self) -> Option<Effect> {
        let (jobs, ahead) = (&self.jobs, &mut self.detail.ahead);
        let job = jobs.selected()?.key;
        if ahead.stood.is_some_and(|(stood, _)| stood == job) {
            return None;
        }
        let at = jobs.position(job)?;
        let (_, from) = ahead.stood.replace((job, at))?;
        let down = at == from + 1;
        if !down && at + 1 != from {
            return None;
        }
        let read = ahead.ask(&|places| {
            let position = at.checked_add_signed(if down { places } else { -places })?;
            jobs.at(position).filter(|_| position < jobs.shown()).map(|row| (row.key, row.revision))
        });
        read.map(Effect::ReadAhead)
    }
}

#[cfg(test)]
#[path = "read_ahead_tests.rs"]
mod tests;
