//! Whom to look at next, as a pure structure with time as an argument (design.md: polling): due times with jitter, the
//! rolling minute's budget, and a quarter of it for what is on screen. Requests are the poller's business.
//!
//! # The fair share
//!
//! Of those that are due, whoever has waited longest since its last look is next, and while more looks are wanted than the
//! budget has, requests go out evenly, from the first one on: nobody gets a second turn before everybody had one. So no
//! wait, the one for the first look after the start included, is longer than this (nor shorter than a job's own pause), but
//! for the few hundredths by which answers differ:
//!
//! ```text
//! jobs not on screen × (a minute + the time of an answer) ÷ (budget − what is kept for the jobs on screen)
//! ```
//!
//! The time of an answer is in it since nobody knows when a request reached the service: at the latest with its answer, so
//! its place is free again a minute after that, or a rolling minute of the service could have more requests than the budget.
//! Where answers are so slow that the requests under way are what limits, it is jobs × the time of an answer ÷ requests
//! under way. Kept for the jobs on screen are the looks a minute that they want by their pauses and one more, at most a
//! quarter of the budget; if they want more than that, they share it among themselves in the same way.
//!
//! A request that fails costs the others one place. A rest (429, no network) comes on top, and costs no job its place.

mod budget;
#[cfg(test)]
mod fairness_tests;
mod pacing;
#[cfg(test)]
mod tests;
mod wait_queue;

use crate::model::Time;
use crate::model::job::Status;
use crate::model::poll::{SLOW, next_poll};
use crate::model::row::{Job, JobKey};
use budget::{BudgetLimits, BudgetShare, Opens, Spent, opens};
use chrono::TimeDelta;
use pacing::{Jitter, MINUTE, Rate};
use std::collections::{HashMap, HashSet};
use wait_queue::WaitQueue;

/// Over how long overdue jobs are spread when polling resumes.
const RESUME_OVER: TimeDelta = TimeDelta::seconds(3);

/// How a request ended, as far as the schedule cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequestEnd {
    /// With an answer. Without a new row it is asked for again after a slow pause.
    Answered,
    /// The whole service rests or refuses: the job keeps its place.
    Postponed,
    /// The service failed. The job keeps its place; after the second time it is not asked for again within a slow pause, so
    /// that others are tried. If it was the only one that failed, it has had its turn, so that it does not keep the others
    /// waiting; if others failed too, it was the service, and costs no place.
    Failed,
}

/// What the scheduler knows of one job.
#[derive(Debug)]
struct ScheduledJob {
    /// When it was last looked at: when that request went out, or when the record says so; before any, its start.
    looked: Time,
    /// The first moment of its next look.
    due: Time,
    /// The unjittered moment that `due` was made of: a row that changed nothing about it keeps its place.
    base: Time,
    /// Its request is under way, since then and at the cost of this part.
    asked: Option<(BudgetShare, Time)>,
    /// How often it wants a look, by its last pause.
    pace: Rate,
    /// Failures of the service since the last new row.
    failures: u32,
}

/// All jobs that are looked at. One job costs O(log n) per change, a tick costs what it gives out.
#[derive(Debug)]
pub(super) struct Scheduler {
    per_minute: usize,
    in_flight: usize,
    entries: HashMap<JobKey, ScheduledJob>,
    /// Waiting jobs that are not on screen, and those that are.
    others: WaitQueue,
    shown: WaitQueue,
    on_screen: HashSet<JobKey>,
    /// What all entries want, asked ones included, and those of them that are on screen.
    pace: Rate,
    shown_pace: Rate,
    common: Spent,
    kept: Spent,
    /// Whose requests failed since one was answered.
    failing: HashSet<JobKey>,
    jitter: Jitter,
}

impl Scheduler {
    /// `per_minute` requests in any rolling minute, `in_flight` at once; each at least one.
    pub(super) fn new(per_minute: u32, in_flight: usize, seed: u64) -> Self {
        Self {
            per_minute: usize::try_from(per_minute).unwrap_or(usize::MAX).max(1),
            in_flight: in_flight.max(1),
            entries: HashMap::new(),
            others: WaitQueue::default(),
            shown: WaitQueue::default(),
            on_screen: HashSet::new(),
            pace: Rate::default(),
            shown_pace: Rate::default(),
            common: Spent::default(),
            kept: Spent::default(),
            failing: HashSet::new(),
            jitter: Jitter::new(seed),
        }
    }

    /// Takes a job in, moves it or lets it go, by what its row says. `wall` is the clock that the row's times come from,
    /// `now` the scheduler's: only the pause between goes over, at most one slow pause, so a jump of the wall clock
    /// neither floods nor stops polling.
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
            // A late look that comes early would only be repeated.
            pause + self.jitter.within(pause / 10)
        } else {
            self.jitter.around(pause.min(SLOW))
        };
        let due = now.checked_add_signed(wait).unwrap_or(now);
        let asked = self.entries.get(&row.key).and_then(|entry| entry.asked);
        let last = row.checked_at.unwrap_or_else(|| row.last_accepted_at());
        let looked = now.checked_sub_signed((wall - last).max(TimeDelta::zero())).unwrap_or(now);
        let pace = Rate::with(base - last);
        self.place(row.key, ScheduledJob { looked, due, base, asked, pace, failures: 0 });
    }

    /// Forgets a job.
    pub(super) fn remove(&mut self, key: JobKey, now: Time) {
        self.failing.remove(&key);
        if let Some(entry) = self.take(key) {
            self.end(entry.asked, now);
        }
    }

    /// Forgets all jobs; what was spent still counts.
    pub(super) fn clear(&mut self, now: Time) {
        let asked: Vec<Option<(BudgetShare, Time)>> = self.entries.drain().map(|(_, entry)| entry.asked).collect();
        asked.into_iter().for_each(|asked| self.end(asked, now));
        self.others.clear();
        self.shown.clear();
        self.failing.clear();
        (self.pace, self.shown_pace) = (Rate::default(), Rate::default());
    }

    /// Which jobs the user sees.
    pub(super) fn set_on_screen(&mut self, jobs: impl IntoIterator<Item = JobKey>) {
        let jobs: HashSet<JobKey> = jobs.into_iter().collect();
        let changed: Vec<JobKey> = self.on_screen.symmetric_difference(&jobs).copied().collect();
        let moved: Vec<(JobKey, ScheduledJob)> =
            changed.into_iter().filter_map(|key| Some((key, self.take(key)?))).collect();
        self.on_screen = jobs;
        moved.into_iter().for_each(|(key, entry)| self.place(key, entry));
    }

    /// The jobs to ask for now, longest waiting first; each counts as asked and spent until [`Scheduler::answered`].
    pub(super) fn due(&mut self, now: Time) -> Vec<JobKey> {
        self.turn_to(now);
        let mut out = Vec::new();
        while self.under_way() < self.in_flight {
            let has_place = self.spent() < self.per_minute;
            let (kept, common) = (self.kept_limits(), self.common_limits());
            let (shown, other) = (self.shown.first(), self.others.first());
            if shown.is_none() {
                self.kept.suffices();
            }
            let Some((_, oldest)) = [shown, other].into_iter().flatten().min() else {
                self.common.suffices();
                break;
            };
            let (key, part) = match shown {
                Some((looked, key)) if has_place && self.kept.admits(kept, now) && self.is_owed(looked, now) => {
                    (key, BudgetShare::Kept)
                }
                _ if self.common.admits(common, now) && has_place => (oldest, BudgetShare::Common),
                _ => break,
            };
            self.ask(key, part, now);
            out.push(key);
        }
        out
    }

    /// The one job to try while the service is unwell: who has waited longest, also if none is due.
    pub(super) fn probe(&mut self, now: Time) -> Option<JobKey> {
        self.turn_to(now);
        let of_both = |first: fn(&WaitQueue) -> Option<(Time, JobKey)>| {
            [first(&self.shown), first(&self.others)].into_iter().flatten().min()
        };
        let (_, key) = of_both(WaitQueue::first).or_else(|| of_both(WaitQueue::first_early))?;
        self.ask(key, BudgetShare::Common, now);
        Some(key)
    }

    /// When the budget has a place again, from `now` on, as far as no answer is needed to tell.
    pub(super) fn has_place_at(&mut self, now: Time) -> Time {
        self.turn_to(now);
        opens(&[&self.common, &self.kept], self.per_minute).after(now).unwrap_or(now)
    }

    /// A request outside the schedule counts as well.
    pub(super) fn spend(&mut self, now: Time) {
        self.turn_to(now);
        self.common.add(now);
    }

    /// The request of this job ended. A new row comes by [`Scheduler::update`], before or after.
    pub(super) fn answered(&mut self, key: JobKey, how: RequestEnd, now: Time) {
        let Some(mut entry) = self.take(key) else { return };
        if let Some((_, since)) = entry.asked {
            self.end(entry.asked.take(), now);
            match how {
                RequestEnd::Answered => {
                    // By when it went out: who was asked first is first again, however long each answer took.
                    entry.looked = since;
                    self.blame(key, now);
                }
                RequestEnd::Failed => {
                    entry.failures = entry.failures.saturating_add(1);
                    self.failing.insert(key);
                }
                RequestEnd::Postponed => {}
            }
            if entry.due <= now && (how == RequestEnd::Answered || entry.failures > 1) {
                entry.due = now + self.jitter.around(SLOW);
            }
        }
        self.place(key, entry);
    }

    /// One was answered: was it one job that failed until then, or the service?
    fn blame(&mut self, answered: JobKey, now: Time) {
        let failing = std::mem::take(&mut self.failing);
        let alone = failing.len() == 1;
        for key in failing.into_iter().filter(|key| *key != answered) {
            let Some(mut entry) = self.take(key) else { continue };
            if !alone {
                entry.due = entry.due.min(now);
            } else if entry.failures > 1 {
                entry.looked = now;
            }
            self.place(key, entry);
        }
    }

    /// Polling goes on after a rest: what is overdue is spread over a few seconds, in the order in which it waited.
    pub(super) fn resume(&mut self, now: Time) {
        self.turn_to(now);
        let mut overdue: Vec<(Time, JobKey)> = self.shown.all_due().chain(self.others.all_due()).collect();
        overdue.sort_unstable();
        let slot = RESUME_OVER / i32::try_from(overdue.len().max(1)).unwrap_or(i32::MAX);
        let mut start = now;
        for (_, key) in overdue {
            let due = start + self.jitter.within(slot);
            start += slot;
            if let Some(entry) = self.take(key) {
                self.place(key, ScheduledJob { due, ..entry });
            }
        }
    }

    /// When [`Scheduler::due`] gives something again; none when only an answer or a new row can change that.
    pub(super) fn next_wake(&mut self, now: Time) -> Option<Time> {
        self.turn_to(now);
        if self.under_way() >= self.in_flight {
            return None;
        }
        let any = opens(&[&self.common, &self.kept], self.per_minute);
        let common = self.common.opens(self.common_limits());
        let owed = self.shown.first().map_or(Opens::Now, |(looked, _)| {
            opens(&[&self.kept], self.shown_pace.slots()).min(Opens::At(looked + MINUTE))
        });
        // From whichever part has a place first.
        let either = self.kept.opens(self.kept_limits()).max(owed).min(common);
        let after = |line: &WaitQueue, opens: Opens| line.next_due(now).and_then(|due| opens.max(any).after(due));
        [after(&self.shown, either), after(&self.others, common)].into_iter().flatten().min()
    }

    /// Whether there is any job to look at.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// What the jobs on screen may take before all others: a quarter of the budget.
    fn kept_limits(&self) -> BudgetLimits {
        BudgetLimits::new(self.per_minute / 4, self.shown_pace)
    }

    /// Whether the jobs on screen may have one more look before all others. Within a minute they may have what they want on
    /// average: after a heap of them, those whose jittered pause is short would take places that the others count on. One
    /// that was not looked at for a minute has just come on screen, or is late.
    fn is_owed(&self, looked: Time, now: Time) -> bool {
        self.kept.count() < self.shown_pace.slots() || looked + MINUTE <= now
    }

    /// The rest of the budget, for all: without the quarter, or without what the jobs on screen can make use of, if that is
    /// less.
    fn common_limits(&self) -> BudgetLimits {
        let kept = self.shown_pace.slots().min(self.per_minute / 4);
        BudgetLimits::new(self.per_minute - kept, self.pace - self.shown_pace.min(Rate::of(kept)))
    }

    fn under_way(&self) -> usize {
        self.common.under_way() + self.kept.under_way()
    }

    fn spent(&self) -> usize {
        self.common.count() + self.kept.count()
    }

    /// What is due by now lines up, what is over by now does not count any more.
    fn turn_to(&mut self, now: Time) {
        self.common.forget_old(now);
        self.kept.forget_old(now);
        let looked = |key: JobKey| self.entries.get(&key).map(|entry| entry.looked);
        self.shown.move_due(now, looked);
        self.others.move_due(now, looked);
    }

    fn ask(&mut self, key: JobKey, part: BudgetShare, now: Time) {
        match part {
            BudgetShare::Common => self.common.begin(self.common_limits(), now),
            BudgetShare::Kept => self.kept.begin(self.kept_limits(), now),
        }
        if let Some(entry) = self.take(key) {
            self.place(key, ScheduledJob { asked: Some((part, now)), ..entry });
        }
    }

    /// The request that a job had under way, if any, is over.
    fn end(&mut self, asked: Option<(BudgetShare, Time)>, now: Time) {
        match asked {
            Some((BudgetShare::Common, _)) => self.common.end(now),
            Some((BudgetShare::Kept, _)) => self.kept.end(now),
            None => {}
        }
    }

    /// Puts a job where it belongs, in place of what was known of it.
    fn place(&mut self, key: JobKey, entry: ScheduledJob) {
        self.take(key);
        self.pace += entry.pace;
        let shown = self.on_screen.contains(&key);
        if shown {
            self.shown_pace += entry.pace;
        }
        if entry.asked.is_none() {
            let line = if shown { &mut self.shown } else { &mut self.others };
            line.insert(key, entry.due);
        }
        self.entries.insert(key, entry);
    }

    /// Takes a job out of wherever it is.
    fn take(&mut self, key: JobKey) -> Option<ScheduledJob> {
        let entry = self.entries.remove(&key)?;
        self.pace -= entry.pace;
        let shown = self.on_screen.contains(&key);
        if shown {
            self.shown_pace -= entry.pace;
        }
        if entry.asked.is_none() {
            let line = if shown { &mut self.shown } else { &mut self.others };
            line.remove(key, entry.due, entry.looked);
        }
        Some(entry)
    }
}
