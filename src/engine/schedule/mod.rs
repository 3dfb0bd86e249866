//! Whom to look at next, as a pure structure with time as an argument (design.md: polling): due times with jitter, the
//! rolling minute's budget, and a quarter of it for what is on screen. Requests are the poller's business.

mod budget;
mod pacing;
#[cfg(test)]
mod tests;

use crate::model::Time;
use crate::model::job::Status;
use crate::model::poll::{SLOW, next_poll};
use crate::model::row::{JobKey, JobRow};
use budget::{Frees, MINUTE, Part, Spent, frees_at};
use chrono::TimeDelta;
use pacing::{Jitter, PACE_MINUTES, pace};
use std::collections::{BTreeSet, HashMap, HashSet};

/// Over how long overdue jobs are spread when polling resumes.
const RESUME_OVER: TimeDelta = TimeDelta::seconds(3);

/// How a request ended, as far as the schedule cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// With an answer. Without a new row it is asked for again after a slow pause.
    Answered,
    /// The whole service rests or refuses: the job keeps its place.
    Postponed,
    /// The service failed. The job keeps its place once, in case that all jobs fail; then it steps back, in case that
    /// only this one does, so that it does not keep the others waiting.
    Failed,
}

/// What the scheduler knows of one job.
#[derive(Debug)]
struct Entry {
    due: Time,
    /// The unjittered moment that `due` was made of: a row that changed nothing about it keeps its place.
    base: Time,
    /// Its request is under way, at the cost of this part.
    asked: Option<Part>,
    /// Requests in an hour at the pace of its last pause.
    pace: i64,
    /// Failures of the service since the last new row.
    failures: u32,
}

/// All jobs that are looked at, ordered by when. One job costs O(log n) per change, a tick costs what it gives out.
#[derive(Debug)]
pub(super) struct Scheduler {
    per_minute: usize,
    in_flight: usize,
    entries: HashMap<JobKey, Entry>,
    /// Waiting jobs that are not on screen, and those that are.
    others: BTreeSet<(Time, JobKey)>,
    shown: BTreeSet<(Time, JobKey)>,
    on_screen: HashSet<JobKey>,
    /// The pace of all on-screen jobs among the entries, asked ones included: more than that is not kept free for them.
    shown_pace: i64,
    common: Spent,
    quarter: Spent,
    /// More was due than the budget has: until all have had their turn, the common part goes out evenly, not as one heap a
    /// minute, for which a job would wait longer than its fair share.
    paced: bool,
    /// When the next request of the common part may go out, if it is paced.
    next_common: Option<Time>,
    jitter: Jitter,
}

impl Scheduler {
    /// `per_minute` requests in any rolling minute, `in_flight` at once; each at least one.
    pub(super) fn new(per_minute: u32, in_flight: usize, seed: u64) -> Self {
        Self {
            per_minute: usize::try_from(per_minute).unwrap_or(usize::MAX).max(1),
            in_flight: in_flight.max(1),
            entries: HashMap::new(),
            others: BTreeSet::new(),
            shown: BTreeSet::new(),
            on_screen: HashSet::new(),
            shown_pace: 0,
            common: Spent::default(),
            quarter: Spent::default(),
            paced: false,
            next_common: None,
            jitter: Jitter::new(seed),
        }
    }

    /// Takes a job in, moves it or lets it go, by what its row says. `wall` is the clock that the row's times come from,
    /// `now` the scheduler's: only the pause between goes over, at most one slow pause, so a jump of the wall clock
    /// neither floods nor stops polling.
    pub(super) fn update(&mut self, row: &JobRow, wall: Time, now: Time) {
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
        let pace = pace(base - row.checked_at.unwrap_or(row.started_at));
        self.place(row.key, Entry { due, base, asked, pace, failures: 0 });
    }

    /// Forgets a job.
    pub(super) fn remove(&mut self, key: JobKey, now: Time) {
        let Some(entry) = self.entries.remove(&key) else { return };
        self.unqueue(key, &entry);
        self.end(entry.asked, now);
        if self.on_screen.contains(&key) {
            self.shown_pace -= entry.pace;
        }
    }

    /// Forgets all jobs; what was spent still counts.
    pub(super) fn clear(&mut self, now: Time) {
        let asked: Vec<Option<Part>> = self.entries.drain().map(|(_, entry)| entry.asked).collect();
        asked.into_iter().for_each(|part| self.end(part, now));
        self.others.clear();
        self.shown.clear();
        self.shown_pace = 0;
    }

    /// Which jobs the user sees.
    pub(super) fn set_on_screen(&mut self, jobs: impl IntoIterator<Item = JobKey>) {
        let jobs: HashSet<JobKey> = jobs.into_iter().collect();
        let changed: Vec<JobKey> = self.on_screen.symmetric_difference(&jobs).copied().collect();
        for key in changed {
            let Some(entry) = self.entries.remove(&key) else { continue };
            self.unqueue(key, &entry);
            let now_shown = jobs.contains(&key);
            if entry.asked.is_none() {
                let queue = if now_shown { &mut self.shown } else { &mut self.others };
                queue.insert((entry.due, key));
            }
            self.entries.insert(key, entry);
        }
        self.on_screen = jobs;
        self.shown_pace = self.on_screen.iter().filter_map(|key| self.entries.get(key)).map(|entry| entry.pace).sum();
    }

    /// The jobs to ask for now, longest waiting first; each counts as asked and spent until [`Scheduler::answered`].
    pub(super) fn due(&mut self, now: Time) -> Vec<JobKey> {
        self.forget_old(now);
        let mut out = Vec::new();
        while self.under_way() < self.in_flight {
            let is_full = self.spent() >= self.per_minute;
            let shown = self.shown.first().copied().filter(|(due, _)| *due <= now);
            let other = self.others.first().copied().filter(|(due, _)| *due <= now);
            let (key, part) = match (shown, other) {
                (None, None) => {
                    self.paced = false;
                    break;
                }
                (Some((_, key)), _) if !is_full && self.quarter.count() < self.kept_free() => (key, Part::Quarter),
                _ if is_full || self.common.count() >= self.common_part() => {
                    self.paced = true;
                    break;
                }
                _ if self.pause_until().is_some_and(|until| until > now) => break,
                (Some(shown), Some(other)) => (shown.min(other).1, Part::Common),
                (Some((_, key)), None) | (None, Some((_, key))) => (key, Part::Common),
            };
            if part == Part::Common {
                let gap = MINUTE / i32::try_from(self.common_part().max(1)).unwrap_or(i32::MAX);
                self.next_common = now.checked_add_signed(gap);
            }
            self.ask(key, part);
            out.push(key);
        }
        out
    }

    /// The one job to try while the service is unwell: who has waited longest, due or not.
    pub(super) fn probe(&mut self, now: Time) -> Option<JobKey> {
        self.forget_old(now);
        let (_, key) = [self.shown.first(), self.others.first()].into_iter().flatten().min().copied()?;
        self.ask(key, Part::Common);
        Some(key)
    }

    /// A request outside the schedule counts as well.
    pub(super) fn spend(&mut self, now: Time) {
        self.forget_old(now);
        self.common.ended.push_back(now);
    }

    /// The request of this job ended. A new row comes by [`Scheduler::update`], before or after.
    pub(super) fn answered(&mut self, key: JobKey, how: Ended, now: Time) {
        let Some(mut entry) = self.entries.remove(&key) else { return };
        if let Some(part) = entry.asked.take() {
            self.end(Some(part), now);
            if how == Ended::Failed {
                entry.failures = entry.failures.saturating_add(1);
            }
            let steps_back = how == Ended::Answered || entry.failures > 1;
            if entry.due <= now && steps_back {
                entry.due = now + self.jitter.around(SLOW);
            }
            let queue = if self.on_screen.contains(&key) { &mut self.shown } else { &mut self.others };
            queue.insert((entry.due, key));
        }
        self.entries.insert(key, entry);
    }

    /// Polling goes on after a rest: what is overdue is spread over a few seconds, in the order in which it waited.
    pub(super) fn resume(&mut self, now: Time) {
        let mut overdue: Vec<(Time, JobKey)> = Vec::new();
        for queue in [&self.shown, &self.others] {
            overdue.extend(queue.iter().take_while(|(due, _)| *due <= now));
        }
        overdue.sort_unstable();
        let slot = RESUME_OVER / i32::try_from(overdue.len().max(1)).unwrap_or(i32::MAX);
        let mut start = now;
        for (_, key) in overdue {
            let due = start + self.jitter.within(slot);
            start += slot;
            let Some(entry) = self.entries.remove(&key) else { continue };
            self.unqueue(key, &entry);
            let queue = if self.on_screen.contains(&key) { &mut self.shown } else { &mut self.others };
            queue.insert((due, key));
            self.entries.insert(key, Entry { due, ..entry });
        }
    }

    /// When [`Scheduler::due`] gives something again; none when only an answer or a new row can change that.
    pub(super) fn next_wake(&mut self, now: Time) -> Option<Time> {
        self.forget_old(now);
        if self.under_way() >= self.in_flight {
            return None;
        }
        let shown = self.shown.first().map(|(due, _)| *due);
        let other = self.others.first().map(|(due, _)| *due);
        let any = frees_at(&[&self.common, &self.quarter], self.per_minute);
        let paced = self.pause_until().map_or(Frees::Now, Frees::At);
        let common = frees_at(&[&self.common], self.common_part()).max(paced);
        // From whichever part has a place first.
        let shown_frees = frees_at(&[&self.quarter], self.kept_free()).min(common);
        let after = |due: Option<Time>, frees: Frees| due.and_then(|due| frees.max(any).after(due.max(now)));
        [after(shown, shown_frees), after(other, common)].into_iter().flatten().min()
    }

    /// Whether there is any job to look at.
    pub(super) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// A quarter of the budget, or what the jobs on screen can make use of, if that is less.
    fn kept_free(&self) -> usize {
        // One more than on average: pauses are jittered.
        let useful = if self.shown_pace > 0 { self.shown_pace / PACE_MINUTES + 1 } else { 0 };
        usize::try_from(useful).unwrap_or(0).min(self.per_minute / 4)
    }

    fn pause_until(&self) -> Option<Time> {
        self.next_common.filter(|_| self.paced)
    }

    fn common_part(&self) -> usize {
        self.per_minute - self.kept_free()
    }

    fn under_way(&self) -> usize {
        self.common.under_way + self.quarter.under_way
    }

    fn spent(&self) -> usize {
        self.common.count() + self.quarter.count()
    }

    fn forget_old(&mut self, now: Time) {
        self.common.forget_old(now);
        self.quarter.forget_old(now);
    }

    fn part(&mut self, part: Part) -> &mut Spent {
        match part {
            Part::Common => &mut self.common,
            Part::Quarter => &mut self.quarter,
        }
    }

    fn ask(&mut self, key: JobKey, part: Part) {
        let Some(entry) = self.entries.remove(&key) else { return };
        self.unqueue(key, &entry);
        self.part(part).under_way += 1;
        self.entries.insert(key, Entry { asked: Some(part), ..entry });
    }

    /// The request that a job had under way, if any, is over.
    fn end(&mut self, asked: Option<Part>, now: Time) {
        if let Some(part) = asked {
            self.part(part).end(now);
        }
    }

    fn place(&mut self, key: JobKey, entry: Entry) {
        let shown = self.on_screen.contains(&key);
        if let Some(old) = self.entries.remove(&key) {
            self.unqueue(key, &old);
            if shown {
                self.shown_pace -= old.pace;
            }
        }
        if shown {
            self.shown_pace += entry.pace;
        }
        if entry.asked.is_none() {
            let queue = if shown { &mut self.shown } else { &mut self.others };
            queue.insert((entry.due, key));
        }
        self.entries.insert(key, entry);
    }

    fn unqueue(&mut self, key: JobKey, entry: &Entry) {
        self.others.remove(&(entry.due, key));
        self.shown.remove(&(entry.due, key));
    }
}
