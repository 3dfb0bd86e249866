//! Decides which job the poller checks next. The scheduler makes no requests and gets the time as an
//! argument. It keeps the jobs' due times, which vary a little at random, and the polling budget (how many
//! requests may start in a rolling minute), up to a quarter of which is reserved for the jobs on screen.
//!
//! # The fair share
//!
//! The next job is the due job whose last check is longest ago. While the jobs need more checks than the
//! budget allows, requests are spaced evenly, and no job gets a second check before every job had one. No
//! check comes before the job's pause is over. Apart from that, and from small differences in response times,
//! a job waits for a check (also for its first one after the start) no longer than its fair share:
//!
//! ```text
//! jobs not on screen × (one minute + response time) ÷ (budget − reserved share)
//! ```
//!
//! The response time is included because it is unknown when a request reaches the service. A request
//! therefore counts toward the budget until a minute after its answer; otherwise the service could get more
//! requests in a minute than the budget. If answers are so slow that the number of requests in flight is
//! the limit, the wait is: jobs × response time ÷ requests in flight. The reserved share is the number of
//! checks per minute that the pauses of the jobs on screen require, plus one, but at most a quarter of the
//! budget. If the jobs on screen need more, they share the quarter in the same way.
//!
//! A failed request costs the other jobs one request of the budget. A time without polling (429, no
//! network) makes the wait longer, but no job loses its position.

mod budget;
#[cfg(test)]
mod fairness_tests;
mod pacing;
#[cfg(test)]
mod tests;
mod wait_queue;

use crate::model::Time;
use crate::model::job::Status;
use crate::model::poll::{SLOW_INTERVAL, next_poll};
use crate::model::row::{Job, JobKey};
use budget::{BudgetLimits, BudgetShare, BudgetUsage, NextSlot, next_slot};
use chrono::TimeDelta;
use pacing::{Jitter, MINUTE, Rate};
use std::collections::{HashMap, HashSet};
use wait_queue::WaitQueue;

/// When polling resumes, the checks of overdue jobs are spread over this time.
const RESUME_SPREAD: TimeDelta = TimeDelta::seconds(3);

/// How a request ended, reduced to what affects the job's position.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestEnd {
    /// The service answered. If the answer does not update the job, the job is checked again after
    /// `SLOW_INTERVAL`.
    Answered,
    /// The answer was a 429 or a refused key, or the store could not record it. The job keeps its position.
    Postponed,
    /// The service failed. The job keeps its position, but from its second failure on it waits for
    /// `SLOW_INTERVAL`, so that other jobs are tried. When the service answers again, and only this job has
    /// failed, the job counts as checked and does not delay the others. If several jobs have failed, the
    /// service was the cause, and none of them loses its position.
    Failed,
}

/// The scheduler's data about one job.
#[derive(Debug)]
struct ScheduledJob {
    /// When the job was last checked: the start of that request, or the time in the store. Before the first
    /// check, when the job's last prompt was accepted.
    checked_at: Time,
    /// The earliest time of the job's next check.
    due: Time,
    /// The due time in local wall time, without the random variation. An update that does not change it leaves
    /// the job's position unchanged.
    due_without_jitter: Time,
    /// While the job's request is in flight: the share of the budget it counts toward, and when it started.
    in_flight_since: Option<(BudgetShare, Time)>,
    /// How often the job has to be checked, computed from its current pause.
    rate: Rate,
    /// The number of failed requests since the job was last updated.
    failures: u32,
}

/// All jobs that are polled, and the use of the polling budget. To add, change or remove a job costs
/// O(log n).
#[derive(Debug)]
pub(super) struct Scheduler {
    /// The most requests in any rolling minute.
    max_per_minute: usize,
    /// The most requests in flight at the same time.
    max_in_flight: usize,
    entries: HashMap<JobKey, ScheduledJob>,
    /// The jobs that are not on screen and not in flight.
    others: WaitQueue,
    /// The jobs that are on screen and not in flight.
    shown: WaitQueue,
    /// All jobs on screen, including jobs that are not polled.
    on_screen: HashSet<JobKey>,
    /// The sum of the rates of all polled jobs, including jobs in flight.
    rate: Rate,
    /// The sum of the rates of the polled jobs on screen, including jobs in flight.
    shown_rate: Rate,
    common: BudgetUsage,
    reserved: BudgetUsage,
    /// The jobs whose requests have failed since the service last answered.
    failing: HashSet<JobKey>,
    jitter: Jitter,
}

impl Scheduler {
    /// Creates a scheduler that permits `per_minute` requests in any rolling minute, and `in_flight` at the
    /// same time. A limit of 0 counts as 1.
    pub(super) fn new(per_minute: u32, in_flight: usize, seed: u64) -> Self {
        Self {
            max_per_minute: usize::try_from(per_minute).unwrap_or(usize::MAX).max(1),
            max_in_flight: in_flight.max(1),
            entries: HashMap::new(),
            others: WaitQueue::default(),
            shown: WaitQueue::default(),
            on_screen: HashSet::new(),
            rate: Rate::default(),
            shown_rate: Rate::default(),
            common: BudgetUsage::default(),
            reserved: BudgetUsage::default(),
            failing: HashSet::new(),
            jitter: Jitter::new(seed),
        }
    }

    /// Adds or removes a job or changes its due time, depending on `row`. The times in `row` are local wall
    /// times; `wall` is the wall time now, and `now` is the steady time. From `row`, only the time left until the
    /// next check is used, which is limited to `SLOW_INTERVAL` while the job is not completed. So a jump of the
    /// wall clock can't stop polling.
    pub(super) fn update(&mut self, row: &Job, wall: Time, now: Time) {
        let Some(base) = next_poll(row) else {
            self.remove(row.key, now);
            return;
        };
        if self.entries.get(&row.key).is_some_and(|entry| entry.due_without_jitter == base) {
            return;
        }
        let pause = base - wall;
        let wait = if pause <= TimeDelta::zero() {
            pause
        } else if matches!(row.status, Some(Status::Completed)) {
            // A completed job that is checked too early has to be checked again, so the random variation only makes
            // this pause longer.
            pause + self.jitter.random_up_to(pause / 10)
        } else {
            self.jitter.with_jitter(pause.min(SLOW_INTERVAL))
        };
        let due = now.checked_add_signed(wait).unwrap_or(now);
        let in_flight_since = self.entries.get(&row.key).and_then(|entry| entry.in_flight_since);
        let last = row.checked_at.unwrap_or_else(|| row.last_accepted_at());
        let checked_at = now.checked_sub_signed((wall - last).max(TimeDelta::zero())).unwrap_or(now);
        let rate = Rate::for_pause(base - last);
        self.insert(
            row.key,
            ScheduledJob { checked_at, due, due_without_jitter: base, in_flight_since, rate, failures: 0 },
        );
    }

    pub(super) fn remove(&mut self, key: JobKey, now: Time) {
        self.failing.remove(&key);
        if let Some(entry) = self.take_entry(key) {
            self.record_request_end(entry.in_flight_since, now);
        }
    }

    /// Removes all jobs. Their requests still count toward the budget.
    pub(super) fn clear(&mut self, now: Time) {
        let in_flight_since: Vec<Option<(BudgetShare, Time)>> =
            self.entries.drain().map(|(_, entry)| entry.in_flight_since).collect();
        in_flight_since.into_iter().for_each(|in_flight_since| self.record_request_end(in_flight_since, now));
        self.others.clear();
        self.shown.clear();
        self.failing.clear();
        (self.rate, self.shown_rate) = (Rate::default(), Rate::default());
    }

    /// Sets which jobs are on screen.
    pub(super) fn set_on_screen(&mut self, jobs: impl IntoIterator<Item = JobKey>) {
        let jobs: HashSet<JobKey> = jobs.into_iter().collect();
        let changed: Vec<JobKey> = self.on_screen.symmetric_difference(&jobs).copied().collect();
        let moved: Vec<(JobKey, ScheduledJob)> =
            changed.into_iter().filter_map(|key| Some((key, self.take_entry(key)?))).collect();
        self.on_screen = jobs;
        moved.into_iter().for_each(|(key, entry)| self.insert(key, entry));
    }

    /// Returns the jobs to check now, in the order in which to check them. Each counts as in flight until
    /// [`Scheduler::finish_request`].
    pub(super) fn take_due(&mut self, now: Time) -> Vec<JobKey> {
        self.advance_to(now);
        let mut out = Vec::new();
        while self.requests_in_flight() < self.max_in_flight {
            let free_slot = self.spent() < self.max_per_minute;
            let (reserved, common) = (self.reserved_limits(), self.common_limits());
            let (shown, other) = (self.shown.first(), self.others.first());
            if shown.is_none() {
                self.reserved.stop_even_spacing();
            }
            let Some((_, oldest)) = [shown, other].into_iter().flatten().min() else {
                self.common.stop_even_spacing();
                break;
            };
            let (key, share) = match shown {
                Some((checked_at, key))
                    if free_slot && self.reserved.admits(reserved, now) && self.is_overdue(checked_at, now) =>
                {
                    (key, BudgetShare::Reserved)
                }
                _ if self.common.admits(common, now) && free_slot => (oldest, BudgetShare::Common),
                _ => break,
            };
            self.start_request(key, share, now);
            out.push(key);
        }
        out
    }

    /// Returns the job to check while the service is failing: the due job whose last check is longest ago. If
    /// no job is due, returns the job that becomes due first. Returns `None` if no job waits.
    pub(super) fn take_probe(&mut self, now: Time) -> Option<JobKey> {
        self.advance_to(now);
        let of_both = |first: fn(&WaitQueue) -> Option<(Time, JobKey)>| {
            [first(&self.shown), first(&self.others)].into_iter().flatten().min()
        };
        let (_, key) = of_both(WaitQueue::first).or_else(|| of_both(WaitQueue::first_not_due))?;
        self.start_request(key, BudgetShare::Common, now);
        Some(key)
    }

    /// Returns when the budget permits the next request, at `now` or later. Returns `now` if that depends on
    /// requests in flight.
    pub(super) fn next_free(&mut self, now: Time) -> Time {
        self.advance_to(now);
        next_slot(&[&self.common, &self.reserved], self.max_per_minute).after(now).unwrap_or(now)
    }

    /// Counts a request outside the schedule toward the budget.
    pub(super) fn count_unscheduled(&mut self, now: Time) {
        self.advance_to(now);
        self.common.add_unscheduled(now);
    }

    /// Records the end of this job's request. If the answer changed the job, [`Scheduler::update`] is called
    /// too, before or after this.
    pub(super) fn finish_request(&mut self, key: JobKey, end: RequestEnd, now: Time) {
        let Some(mut entry) = self.take_entry(key) else { return };
        if let Some((_, since)) = entry.in_flight_since {
            self.record_request_end(entry.in_flight_since.take(), now);
            match end {
                RequestEnd::Answered => {
                    // The time of the check is when its request started, so that jobs keep their order however long
                    // the answers took.
                    entry.checked_at = since;
                    self.resolve_failures(key, now);
                }
                RequestEnd::Failed => {
                    entry.failures = entry.failures.saturating_add(1);
                    self.failing.insert(key);
                }
                RequestEnd::Postponed => {}
            }
            if entry.due <= now && (end == RequestEnd::Answered || entry.failures > 1) {
                entry.due = now + self.jitter.with_jitter(SLOW_INTERVAL);
            }
        }
        self.insert(key, entry);
    }

    /// Settles the failures since the service last answered, now that it has answered about the job `answered`.
    /// If only one job failed, that job was the cause, and it counts as checked if it failed more than once. If
    /// several jobs failed, the service was the cause, and they are due again.
    fn resolve_failures(&mut self, answered: JobKey, now: Time) {
        let failing = std::mem::take(&mut self.failing);
        let alone = failing.len() == 1;
        for key in failing.into_iter().filter(|key| *key != answered) {
            let Some(mut entry) = self.take_entry(key) else { continue };
            if !alone {
                entry.due = entry.due.min(now);
            } else if entry.failures > 1 {
                entry.checked_at = now;
            }
            self.insert(key, entry);
        }
    }

    /// Resumes polling after a time without it. The checks of overdue jobs are spread over a few seconds, in
    /// the order of the jobs' last checks.
    pub(super) fn resume(&mut self, now: Time) {
        self.advance_to(now);
        let mut overdue: Vec<(Time, JobKey)> = self.shown.due_jobs().chain(self.others.due_jobs()).collect();
        overdue.sort_unstable();
        let slot = RESUME_SPREAD / i32::try_from(overdue.len().max(1)).unwrap_or(i32::MAX);
        let mut start = now;
        for (_, key) in overdue {
            let due = start + self.jitter.random_up_to(slot);
            start += slot;
            if let Some(entry) = self.take_entry(key) {
                self.insert(key, ScheduledJob { due, ..entry });
            }
        }
    }

    /// Returns when [`Scheduler::take_due`] will return a job again; `None` if that depends on an answer or on a
    /// changed job.
    pub(super) fn next_wake(&mut self, now: Time) -> Option<Time> {
        self.advance_to(now);
        if self.requests_in_flight() >= self.max_in_flight {
            return None;
        }
        let any = next_slot(&[&self.common, &self.reserved], self.max_per_minute);
        let common = self.common.next_start(self.common_limits());
        let overdue = self.shown.first().map_or(NextSlot::Now, |(checked_at, _)| {
            next_slot(&[&self.reserved], self.shown_rate.slots()).min(NextSlot::At(checked_at + MINUTE))
        });
        // Jobs on screen may use both shares, so the earlier of the two times counts for them.
        let either = self.reserved.next_start(self.reserved_limits()).max(overdue).min(common);
        let after =
            |queue: &WaitQueue, next_slot: NextSlot| queue.next_due(now).and_then(|due| next_slot.max(any).after(due));
        [after(&self.shown, either), after(&self.others, common)].into_iter().flatten().min()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the limits of the share for the jobs on screen: a quarter of the budget.
    fn reserved_limits(&self) -> BudgetLimits {
        BudgetLimits::new(self.max_per_minute / 4, self.shown_rate)
    }

    /// Whether a job on screen may be checked before all other jobs. In a minute, the jobs on screen get as
    /// many checks as their pauses require; with more, they would take requests from the common share. A job
    /// that was not checked for a minute is late or new on screen, so it may always be checked.
    fn is_overdue(&self, checked_at: Time, now: Time) -> bool {
        self.reserved.count() < self.shown_rate.slots() || checked_at + MINUTE <= now
    }

    /// Returns the limits of the common share: the budget minus the requests that are reserved for the jobs on
    /// screen. As many are reserved as these jobs can use, but at most a quarter of the budget.
    fn common_limits(&self) -> BudgetLimits {
        let reserved = self.shown_rate.slots().min(self.max_per_minute / 4);
        BudgetLimits::new(self.max_per_minute - reserved, self.rate - self.shown_rate.min(Rate::per_minute(reserved)))
    }

    fn requests_in_flight(&self) -> usize {
        self.common.in_flight() + self.reserved.in_flight()
    }

    fn spent(&self) -> usize {
        self.common.count() + self.reserved.count()
    }

    /// Updates the queues with the jobs that have become due, and drops expired requests from the budget.
    fn advance_to(&mut self, now: Time) {
        self.common.drop_expired(now);
        self.reserved.drop_expired(now);
        let checked_at = |key: JobKey| self.entries.get(&key).map(|entry| entry.checked_at);
        self.shown.move_due(now, checked_at);
        self.others.move_due(now, checked_at);
    }

    fn start_request(&mut self, key: JobKey, share: BudgetShare, now: Time) {
        match share {
            BudgetShare::Common => self.common.begin(self.common_limits(), now),
            BudgetShare::Reserved => self.reserved.begin(self.reserved_limits(), now),
        }
        if let Some(entry) = self.take_entry(key) {
            self.insert(key, ScheduledJob { in_flight_since: Some((share, now)), ..entry });
        }
    }

    /// Records the end of a job's request; does nothing if the job has no request in flight.
    fn record_request_end(&mut self, in_flight_since: Option<(BudgetShare, Time)>, now: Time) {
        match in_flight_since {
            Some((BudgetShare::Common, _)) => self.common.end(now),
            Some((BudgetShare::Reserved, _)) => self.reserved.end(now),
            None => {}
        }
    }

    /// Inserts a job, replacing its previous entry.
    fn insert(&mut self, key: JobKey, entry: ScheduledJob) {
        self.take_entry(key);
        self.rate += entry.rate;
        let shown = self.on_screen.contains(&key);
        if shown {
            self.shown_rate += entry.rate;
        }
        if entry.in_flight_since.is_none() {
            let queue = if shown { &mut self.shown } else { &mut self.others };
            queue.insert(key, entry.due);
        }
        self.entries.insert(key, entry);
    }

    /// Removes a job from the entries, the queues and the rates.
    fn take_entry(&mut self, key: JobKey) -> Option<ScheduledJob> {
        let entry = self.entries.remove(&key)?;
        self.rate -= entry.rate;
        let shown = self.on_screen.contains(&key);
        if shown {
            self.shown_rate -= entry.rate;
        }
        if entry.in_flight_since.is_none() {
            let queue = if shown { &mut self.shown } else { &mut self.others };
            queue.remove(key, entry.due, entry.checked_at);
        }
        Some(entry)
    }
}
