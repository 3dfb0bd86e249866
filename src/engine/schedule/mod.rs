//! Decides which job to check next, as a pure data structure with time as an argument: due times
//! with jitter, the budget of a rolling minute, and a quarter of it for the jobs on screen. The
//! poller makes the requests.
//!
//! # The fair share
//!
//! Of the due jobs, the one whose last check is longest ago is next. While more checks are wanted
//! than the budget allows, requests are spaced evenly from the first one on: no job gets a second
//! check before every job had one. So no wait, including the one for the first check after the
//! start, is longer than the following (nor shorter than the job's pause), except for the small
//! differences between the times of answers:
//!
//! ```text
//! jobs not on screen × (a minute + the time of an answer) ÷ (budget − the reserved share)
//! ```
//!
//! It includes the time of an answer because the request reached the service at an unknown moment,
//! at the latest with its answer: its slot is free again a minute after that. Otherwise a rolling
//! minute of the service could contain more requests than the budget. If answers are so slow that
//! the requests in flight are the limit, the wait is jobs × the time of an answer ÷ requests in
//! flight. The share reserved for jobs on screen is the number of checks per minute that their
//! pauses require plus one, at most a quarter of the budget; if they want more, they share it among
//! themselves in the same way.
//!
//! A failed request costs the other jobs one slot. A rest (429, no network) is added to the wait,
//! but no job loses its position.

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

/// The time over which overdue jobs are spread when polling resumes.
const RESUME_OVER: TimeDelta = TimeDelta::seconds(3);

/// How a request ended, for the scheduler.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestEnd {
    /// The service answered. If no new row follows, the job is checked again after the slow pause.
    Answered,
    /// The service can't be asked now (a pause, a 429, a refused key): the job keeps its position.
    Postponed,
    /// The service failed. The job keeps its position; after the second failure it waits for a slow
    /// pause, so that other jobs are tried. If it was the only job that failed, it counts as checked,
    /// so that it does not delay the others; if others failed too, the service was the cause, and no
    /// job loses its position.
    Failed,
}

/// The scheduler's data about one job.
#[derive(Debug)]
struct ScheduledJob {
    /// When it was last checked: the start of that request, or the time in the store; before the first
    /// check, the start of the job.
    checked_at: Time,
    /// The earliest time of its next check.
    due: Time,
    /// The time without jitter from which `due` was computed: a row that does not change it keeps its
    /// position.
    base: Time,
    /// Set while its request is in flight: the share it counts towards, and its start.
    in_flight_since: Option<(BudgetShare, Time)>,
    /// How often it has to be checked, by its last pause.
    rate: Rate,
    /// Failures of the service since the last new row.
    failures: u32,
}

/// All polled jobs. A change of one job costs O(log n); a tick costs as much as it returns.
#[derive(Debug)]
pub(super) struct Scheduler {
    per_minute: usize,
    in_flight: usize,
    entries: HashMap<JobKey, ScheduledJob>,
    /// Waiting jobs that are not on screen, and those that are.
    others: WaitQueue,
    shown: WaitQueue,
    on_screen: HashSet<JobKey>,
    /// The total rate of all entries, including those in flight, and of the entries on screen.
    rate: Rate,
    shown_rate: Rate,
    common: BudgetUsage,
    reserved: BudgetUsage,
    /// Jobs whose requests failed since the last answer.
    failing: HashSet<JobKey>,
    jitter: Jitter,
}

impl Scheduler {
    /// `per_minute` requests in any rolling minute, `in_flight` at once; each is at least one.
    pub(super) fn new(per_minute: u32, in_flight: usize, seed: u64) -> Self {
        Self {
            per_minute: usize::try_from(per_minute).unwrap_or(usize::MAX).max(1),
            in_flight: in_flight.max(1),
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

    /// Adds, moves or removes a job, depending on its row. `wall` is the clock of the row's times,
    /// `now` the scheduler's: only the pause is converted, limited to one slow pause, so a jump of the
    /// wall clock neither floods nor stops polling.
    pub(super) fn update(&mut self, row: &Job, wall: Time, now: Time) {
        let Some(base) = next_poll(row) else {
            self.remove(row.key, now);
            return;
        };
        if self.entries.get(&row.key).is_some_and(|entry| entry.base == base) {
            return;
        }
        let pause = base - wall;
        let wait = if pause <= TimeDelta::zero() {
            pause
        } else if matches!(row.status, Some(Status::Completed)) {
            // A check of a completed job that comes too early would have to be repeated.
            pause + self.jitter.within(pause / 10)
        } else {
            self.jitter.with_jitter(pause.min(SLOW_INTERVAL))
        };
        let due = now.checked_add_signed(wait).unwrap_or(now);
        let in_flight_since = self.entries.get(&row.key).and_then(|entry| entry.in_flight_since);
        let last = row.checked_at.unwrap_or_else(|| row.last_accepted_at());
        let checked_at = now.checked_sub_signed((wall - last).max(TimeDelta::zero())).unwrap_or(now);
        let rate = Rate::with(base - last);
        self.insert(row.key, ScheduledJob { checked_at, due, base, in_flight_since, rate, failures: 0 });
    }

    pub(super) fn remove(&mut self, key: JobKey, now: Time) {
        self.failing.remove(&key);
        if let Some(entry) = self.take_entry(key) {
            self.end(entry.in_flight_since, now);
        }
    }

    /// Removes all jobs; requests that were spent still count.
    pub(super) fn clear(&mut self, now: Time) {
        let in_flight_since: Vec<Option<(BudgetShare, Time)>> =
            self.entries.drain().map(|(_, entry)| entry.in_flight_since).collect();
        in_flight_since.into_iter().for_each(|in_flight_since| self.end(in_flight_since, now));
        self.others.clear();
        self.shown.clear();
        self.failing.clear();
        (self.rate, self.shown_rate) = (Rate::default(), Rate::default());
    }

    /// Sets the jobs that the user sees.
    pub(super) fn set_on_screen(&mut self, jobs: impl IntoIterator<Item = JobKey>) {
        let jobs: HashSet<JobKey> = jobs.into_iter().collect();
        let changed: Vec<JobKey> = self.on_screen.symmetric_difference(&jobs).copied().collect();
        let moved: Vec<(JobKey, ScheduledJob)> =
            changed.into_iter().filter_map(|key| Some((key, self.take_entry(key)?))).collect();
        self.on_screen = jobs;
        moved.into_iter().for_each(|(key, entry)| self.insert(key, entry));
    }

    /// Returns the jobs to check now, longest waiting first; each counts as in flight and spent until
    /// [`Scheduler::finished`].
    pub(super) fn due(&mut self, now: Time) -> Vec<JobKey> {
        self.advance_to(now);
        let mut out = Vec::new();
        while self.under_way() < self.in_flight {
            let free_slot = self.spent() < self.per_minute;
            let (reserved, common) = (self.reserved_limits(), self.common_limits());
            let (shown, other) = (self.shown.first(), self.others.first());
            if shown.is_none() {
                self.reserved.clear_short();
            }
            let Some((_, oldest)) = [shown, other].into_iter().flatten().min() else {
                self.common.clear_short();
                break;
            };
            let (key, part) = match shown {
                Some((checked_at, key))
                    if free_slot && self.reserved.admits(reserved, now) && self.is_overdue(checked_at, now) =>
                {
                    (key, BudgetShare::Reserved)
                }
                _ if self.common.admits(common, now) && free_slot => (oldest, BudgetShare::Common),
                _ => break,
            };
            self.start_request(key, part, now);
            out.push(key);
        }
        out
    }

    /// Returns the job to try while the service is failing: the one that has waited longest, even if
    /// none is due.
    pub(super) fn probe(&mut self, now: Time) -> Option<JobKey> {
        self.advance_to(now);
        let of_both = |first: fn(&WaitQueue) -> Option<(Time, JobKey)>| {
            [first(&self.shown), first(&self.others)].into_iter().flatten().min()
        };
        let (_, key) = of_both(WaitQueue::first).or_else(|| of_both(WaitQueue::first_early))?;
        self.start_request(key, BudgetShare::Common, now);
        Some(key)
    }

    /// Returns when the budget has a free slot, at `now` or later. Answers that are still awaited may free one earlier.
    pub(super) fn next_free(&mut self, now: Time) -> Time {
        self.advance_to(now);
        next_slot(&[&self.common, &self.reserved], self.per_minute).after(now).unwrap_or(now)
    }

    /// Counts a request outside the schedule.
    pub(super) fn spend(&mut self, now: Time) {
        self.advance_to(now);
        self.common.add(now);
    }

    /// Records the end of this job's request. A new row comes by [`Scheduler::update`], before or after
    /// this.
    pub(super) fn finished(&mut self, key: JobKey, how: RequestEnd, now: Time) {
        let Some(mut entry) = self.take_entry(key) else { return };
        if let Some((_, since)) = entry.in_flight_since {
            self.end(entry.in_flight_since.take(), now);
            match how {
                RequestEnd::Answered => {
                    // By the start of the request: the job that was checked first is first again, however long each
                    // answer took.
                    entry.checked_at = since;
                    self.resolve_failures(key, now);
                }
                RequestEnd::Failed => {
                    entry.failures = entry.failures.saturating_add(1);
                    self.failing.insert(key);
                }
                RequestEnd::Postponed => {}
            }
            if entry.due <= now && (how == RequestEnd::Answered || entry.failures > 1) {
                entry.due = now + self.jitter.with_jitter(SLOW_INTERVAL);
            }
        }
        self.insert(key, entry);
    }

    /// After an answer: finds out whether a single job or the service was the cause of the failures
    /// before it.
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

    /// Resumes polling after a rest: overdue jobs are spread over a few seconds, in the order in which
    /// they waited.
    pub(super) fn resume(&mut self, now: Time) {
        self.advance_to(now);
        let mut overdue: Vec<(Time, JobKey)> = self.shown.due_jobs().chain(self.others.due_jobs()).collect();
        overdue.sort_unstable();
        let slot = RESUME_OVER / i32::try_from(overdue.len().max(1)).unwrap_or(i32::MAX);
        let mut start = now;
        for (_, key) in overdue {
            let due = start + self.jitter.within(slot);
            start += slot;
            if let Some(entry) = self.take_entry(key) {
                self.insert(key, ScheduledJob { due, ..entry });
            }
        }
    }

    /// When [`Scheduler::due`] returns a job again; `None` if only an answer or a new row can change
    /// that.
    pub(super) fn next_wake(&mut self, now: Time) -> Option<Time> {
        self.advance_to(now);
        if self.under_way() >= self.in_flight {
            return None;
        }
        let any = next_slot(&[&self.common, &self.reserved], self.per_minute);
        let common = self.common.opens(self.common_limits());
        let owed = self.shown.first().map_or(NextSlot::Now, |(checked_at, _)| {
            next_slot(&[&self.reserved], self.shown_rate.slots()).min(NextSlot::At(checked_at + MINUTE))
        });
        // From the share that has a free slot first.
        let either = self.reserved.opens(self.reserved_limits()).max(owed).min(common);
        let after =
            |queue: &WaitQueue, next_slot: NextSlot| queue.next_due(now).and_then(|due| next_slot.max(any).after(due));
        [after(&self.shown, either), after(&self.others, common)].into_iter().flatten().min()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The limits of the share for the jobs on screen: a quarter of the budget.
    fn reserved_limits(&self) -> BudgetLimits {
        BudgetLimits::new(self.per_minute / 4, self.shown_rate)
    }

    /// Whether a job on screen may be checked before all others. Within a minute the jobs on screen get
    /// what they need on average: after a burst, those with a short jittered pause would take slots
    /// that the others count on. A job that was not checked for a minute has just come on screen, or is
    /// late.
    fn is_overdue(&self, checked_at: Time, now: Time) -> bool {
        self.reserved.count() < self.shown_rate.slots() || checked_at + MINUTE <= now
    }

    /// The limits of the common share: the budget without the quarter, or without what the jobs on
    /// screen can use, if that is less.
    fn common_limits(&self) -> BudgetLimits {
        let reserved = self.shown_rate.slots().min(self.per_minute / 4);
        BudgetLimits::new(self.per_minute - reserved, self.rate - self.shown_rate.min(Rate::of(reserved)))
    }

    fn under_way(&self) -> usize {
        self.common.under_way() + self.reserved.under_way()
    }

    fn spent(&self) -> usize {
        self.common.count() + self.reserved.count()
    }

    /// Moves jobs that are due by now to the due queues, and drops expired requests from the budget.
    fn advance_to(&mut self, now: Time) {
        self.common.drop_old(now);
        self.reserved.drop_old(now);
        let checked_at = |key: JobKey| self.entries.get(&key).map(|entry| entry.checked_at);
        self.shown.move_due(now, checked_at);
        self.others.move_due(now, checked_at);
    }

    fn start_request(&mut self, key: JobKey, part: BudgetShare, now: Time) {
        match part {
            BudgetShare::Common => self.common.begin(self.common_limits(), now),
            BudgetShare::Reserved => self.reserved.begin(self.reserved_limits(), now),
        }
        if let Some(entry) = self.take_entry(key) {
            self.insert(key, ScheduledJob { in_flight_since: Some((part, now)), ..entry });
        }
    }

    /// Records the end of a job's request, if it had one in flight.
    fn end(&mut self, in_flight_since: Option<(BudgetShare, Time)>, now: Time) {
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

    /// Removes a job from all queues.
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
