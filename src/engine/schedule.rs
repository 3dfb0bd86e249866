//! Decides which job the poller checks next. The scheduler makes no requests and gets the time as an
//! argument.
//!
//! The next job is the one that has been due for longest. It is checked as soon as the polling budget has a token for
//! it. A quarter of the tokens is reserved for the jobs on screen, so that they don't wait for the other jobs. All jobs
//! share the other tokens. While a due job waits for a shared token, each other job gets at most one shared token.

#[cfg(test)]
mod tests;

use crate::model::Time;
use crate::model::job::{Job, JobKey};
use crate::model::poll::{SLOW_INTERVAL, next_poll};
use chrono::TimeDelta;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

/// A token returns to the budget this long after the response to the request that took the token.
const TOKEN_RETURN_DELAY: TimeDelta = TimeDelta::minutes(1);
/// When polling resumes, the checks of overdue jobs are spread over this time.
const RESUME_SPREAD: TimeDelta = TimeDelta::seconds(3);

/// How a request ended, reduced to what affects the job's next check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestEnd {
    /// The service responded. If the response does not update the job, the job is checked again after
    /// `SLOW_INTERVAL`.
    Responded,
    /// The response was a 429 or a refused key, or the store could not record it. The job stays due.
    Postponed,
    /// The service failed. The job stays due, but from its second failure on it waits for `SLOW_INTERVAL`, so
    /// that other jobs are tried.
    Failed,
}

/// The part of the budget from which a request takes its token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum TokenPool {
    /// For all jobs.
    Shared,
    /// Only for the jobs on screen.
    OnScreen,
}

#[derive(Debug, Clone, Copy)]
struct ScheduledJob {
    /// The earliest time of the job's next check, in steady time.
    due: Time,
    /// The due time in local wall time, without the random variation. An update that does not change it leaves
    /// `due` unchanged.
    due_without_jitter: Time,
    /// The number of failed requests since the service last responded about this job.
    failures: u32,
}

/// All jobs that are polled, and the polling budget.
///
/// The budget has one token for each request that may be sent in a minute. A request reaches the service at an unknown
/// time between its start and its response, so its token returns a minute after the response. The service therefore
/// never gets more requests in a rolling minute than there are tokens.
#[derive(Debug)]
pub(super) struct Scheduler {
    total_tokens: usize,
    max_in_flight: usize,
    jobs: HashMap<JobKey, ScheduledJob>,
    /// The jobs that are not in flight, by due time.
    queue: BTreeSet<(Time, JobKey)>,
    in_flight: HashMap<JobKey, TokenPool>,
    /// When the tokens of finished requests return, in order.
    returning_tokens: VecDeque<(Time, TokenPool)>,
    /// All jobs on screen, including jobs that are not polled.
    on_screen: HashSet<JobKey>,
}

impl Scheduler {
    /// Creates a scheduler that permits `per_minute` requests in any rolling minute, and `in_flight` at the
    /// same time. A limit of 0 counts as 1.
    pub(super) fn new(per_minute: u32, in_flight: usize) -> Self {
        Self {
            total_tokens: usize::try_from(per_minute).unwrap_or(usize::MAX).max(1),
            max_in_flight: in_flight.max(1),
            jobs: HashMap::new(),
            queue: BTreeSet::new(),
            in_flight: HashMap::new(),
            returning_tokens: VecDeque::new(),
            on_screen: HashSet::new(),
        }
    }

    /// Adds or removes a job or changes its due time, depending on `row`. The times in `row` are local wall
    /// times; `wall` is the wall time now, and `now` is the steady time. From `row`, only the time left until the
    /// next check is used, which is limited to `SLOW_INTERVAL`. So a jump of the wall clock can't stop polling.
    pub(super) fn update(&mut self, row: &Job, wall: Time, now: Time) {
        let Some(base) = next_poll(row) else {
            return self.remove(row.key, now);
        };
        if self.jobs.get(&row.key).is_some_and(|job| job.due_without_jitter == base) {
            return;
        }
        let pause = base - wall;
        let wait = if pause > TimeDelta::zero() { with_jitter(pause.min(SLOW_INTERVAL)) } else { pause };
        let due = now.checked_add_signed(wait).unwrap_or(now);
        self.insert(row.key, ScheduledJob { due, due_without_jitter: base, failures: 0 });
    }

    /// Adds a job that is due now, unless it is already in the schedule.
    pub(super) fn add_due_job(&mut self, key: JobKey, now: Time) {
        if !self.jobs.contains_key(&key) {
            self.insert(key, ScheduledJob { due: now, due_without_jitter: now, failures: 0 });
        }
    }

    pub(super) fn remove(&mut self, key: JobKey, now: Time) {
        self.remove_in_flight(key, now);
        if let Some(job) = self.jobs.remove(&key) {
            self.queue.remove(&(job.due, key));
        }
    }

    /// Sets which jobs are on screen.
    pub(super) fn set_on_screen(&mut self, jobs: impl IntoIterator<Item = JobKey>) {
        self.on_screen = jobs.into_iter().collect();
    }

    /// Returns the jobs to check now, in the order in which to check them. Each counts as in flight until
    /// [`Scheduler::finish_request`].
    pub(super) fn take_due_jobs(&mut self, now: Time) -> Vec<JobKey> {
        let mut due_jobs = Vec::new();
        while let Some((start, job, pool)) = self.next_start(now)
            && start <= now
        {
            due_jobs.push(self.mark_in_flight(job, pool));
        }
        due_jobs
    }

    /// Returns the job to check while the service is failing: the one that has been due for longest or becomes
    /// due first. Returns `None` if no job waits.
    pub(super) fn take_probe(&mut self) -> Option<JobKey> {
        let first = *self.queue.first()?;
        Some(self.mark_in_flight(first, TokenPool::Shared))
    }

    /// Returns the time at which the budget permits a probe, at `now` or later. Returns `now` if the time depends on
    /// requests in flight.
    pub(super) fn next_probe(&self, now: Time) -> Time {
        self.next_token(TokenPool::Shared, now).unwrap_or(now)
    }

    /// Counts an unscheduled request toward the budget.
    pub(super) fn count_unscheduled_request(&mut self, now: Time) {
        self.returning_tokens.push_back((now + TOKEN_RETURN_DELAY, TokenPool::Shared));
    }

    /// Records the end of this job's request. If the response changed the job, [`Scheduler::update`] is called too,
    /// before or after this call.
    pub(super) fn finish_request(&mut self, key: JobKey, end: RequestEnd, now: Time) {
        if !self.remove_in_flight(key, now) {
            return;
        }
        let Some(&job) = self.jobs.get(&key) else { return };
        let (failures, waits) = match end {
            RequestEnd::Responded => (0, true),
            RequestEnd::Postponed => (job.failures, false),
            RequestEnd::Failed => (job.failures.saturating_add(1), job.failures > 0),
        };
        let due = if waits && job.due <= now { now + with_jitter(SLOW_INTERVAL) } else { job.due };
        self.insert(key, ScheduledJob { due, failures, ..job });
    }

    /// Resumes polling after an interruption. Spreads the checks of overdue jobs over a few seconds. If the requests
    /// for several jobs have failed, the service was the cause, so these jobs don't wait any longer.
    pub(super) fn resume(&mut self, now: Time) {
        let failed: Vec<JobKey> = self.jobs.iter().filter(|(_, job)| job.failures > 0).map(|(key, _)| *key).collect();
        if failed.len() > 1 {
            failed.into_iter().for_each(|key| self.set_due(key, now));
        }
        let overdue: Vec<JobKey> = self.queue.iter().take_while(|(due, _)| *due <= now).map(|(_, key)| *key).collect();
        let slot = RESUME_SPREAD / i32::try_from(overdue.len().max(1)).unwrap_or(i32::MAX);
        let mut start = now;
        for key in overdue {
            self.set_due(key, start + random_below(slot));
            start += slot;
        }
    }

    /// Returns the time at which [`Scheduler::take_due_jobs`] will return a job again; `None` if the time depends on a
    /// response or on a changed job.
    pub(super) fn next_wake(&self, now: Time) -> Option<Time> {
        self.next_start(now).map(|(start, ..)| start)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Returns the time, the entry in the queue and the pool of the next request; `None` if the time depends on a
    /// response or on a changed job.
    fn next_start(&self, now: Time) -> Option<(Time, (Time, JobKey), TokenPool)> {
        if self.in_flight.len() >= self.max_in_flight {
            return None;
        }
        let start = |job: Option<&(Time, JobKey)>, pool| {
            let job = *job?;
            Some((self.next_token(pool, now)?.max(job.0), job, pool))
        };
        let on_screen = start(self.queue.iter().find(|(_, key)| self.on_screen.contains(key)), TokenPool::OnScreen);
        let any = start(self.queue.first(), TokenPool::Shared);
        // If both may start at the same time, this returns the job on screen.
        on_screen.into_iter().chain(any).min_by_key(|(at, ..)| *at)
    }

    /// Returns the time at which the budget has a token of this pool, at `now` or later. Returns `None` if the time
    /// depends on requests in flight.
    fn next_token(&self, pool: TokenPool, now: Time) -> Option<Time> {
        let reserved = if self.on_screen.is_empty() { 0 } else { self.total_tokens / 4 };
        let limit = match pool {
            TokenPool::Shared => self.total_tokens - reserved,
            TokenPool::OnScreen => reserved,
        };
        let taken = self.in_flight.values().chain(self.returning_tokens.iter().map(|(_, pool)| pool));
        let mut taken_of_pool = taken.filter(|taken| **taken == pool).count();
        let mut taken = self.in_flight.len() + self.returning_tokens.len();
        let mut at = now;
        for (returns_at, returned) in &self.returning_tokens {
            if taken_of_pool < limit && taken < self.total_tokens {
                break;
            }
            taken_of_pool -= usize::from(*returned == pool);
            taken -= 1;
            at = now.max(*returns_at);
        }
        (taken_of_pool < limit && taken < self.total_tokens).then_some(at)
    }

    /// Takes an entry off the queue, because its request is sent now. Returns its job.
    fn mark_in_flight(&mut self, entry: (Time, JobKey), pool: TokenPool) -> JobKey {
        self.queue.remove(&entry);
        self.in_flight.insert(entry.1, pool);
        entry.1
    }

    /// Removes the job's request from those in flight; its token returns in a minute. Returns whether there was such a
    /// request.
    fn remove_in_flight(&mut self, key: JobKey, now: Time) -> bool {
        let Some(pool) = self.in_flight.remove(&key) else { return false };
        self.returning_tokens.retain(|(at, _)| *at > now);
        self.returning_tokens.push_back((now + TOKEN_RETURN_DELAY, pool));
        true
    }

    fn set_due(&mut self, key: JobKey, due: Time) {
        if let Some(&job) = self.jobs.get(&key) {
            self.insert(key, ScheduledJob { due, ..job });
        }
    }

    /// Adds or replaces a job.
    fn insert(&mut self, key: JobKey, job: ScheduledJob) {
        if let Some(previous) = self.jobs.insert(key, job) {
            self.queue.remove(&(previous.due, key));
        }
        if !self.in_flight.contains_key(&key) {
            self.queue.insert((job.due, key));
        }
    }
}

/// Returns a random time of at least 0 and less than `span`.
fn random_below(span: TimeDelta) -> TimeDelta {
    TimeDelta::nanoseconds(fastrand::i64(0..span.num_nanoseconds().unwrap_or(i64::MAX).max(1)))
}

/// Returns the pause, made up to a tenth longer at random. It is never shorter: a completed job is checked for a late
/// pull request at fixed times, and a check before such a time would have to be repeated.
fn with_jitter(pause: TimeDelta) -> TimeDelta {
    pause + random_below(pause / 10)
}
