//! Whom to look at next, as a pure structure with time as an argument (design.md: polling): due times with jitter, the
//! rolling minute's budget, and a quarter of it for what is on screen. Requests are the poller's business.

use crate::model::Time;
use crate::model::job::Status;
use crate::model::poll::{SLOW, next_poll};
use crate::model::row::{JobKey, JobRow};
use chrono::TimeDelta;
use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};

/// The span over which requests are counted.
const MINUTE: TimeDelta = TimeDelta::minutes(1);
/// A pace is counted by the hour, since the slowest is one request a minute or less.
const PACE_MINUTES: i64 = 60;
/// Over how long overdue jobs are spread when polling resumes.
const RESUME_OVER: TimeDelta = TimeDelta::seconds(3);

/// Small seeded generator for jitter (xorshift64*); nothing secret depends on it.
#[derive(Debug)]
pub(super) struct Jitter(u64);

impl Jitter {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    fn next(&mut self) -> u32 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        u32::try_from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32).unwrap_or(0)
    }

    /// Evenly spread over 0 … `span`.
    fn within(&mut self, span: TimeDelta) -> TimeDelta {
        let millis = span.num_milliseconds().clamp(0, i64::from(u32::MAX));
        TimeDelta::milliseconds(millis * i64::from(self.next()) / i64::from(u32::MAX))
    }

    /// A pause, a tenth longer or shorter.
    fn around(&mut self, pause: TimeDelta) -> TimeDelta {
        let tenth = pause / 10;
        pause - tenth + self.within(tenth * 2)
    }
}

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

/// What a request is paid from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Common,
    /// Kept free for what is on screen.
    Quarter,
}

/// Requests of one part: those under way, and those whose answer came in the last minute, oldest first. When a request
/// reached the service lies between its beginning and its end, so it counts until a minute after its end.
#[derive(Debug, Default)]
struct Spent {
    under_way: usize,
    ended: VecDeque<Time>,
}

impl Spent {
    fn count(&self) -> usize {
        self.under_way + self.ended.len()
    }

    fn end(&mut self, now: Time) {
        self.under_way = self.under_way.saturating_sub(1);
        self.ended.push_back(now);
    }

    fn forget_old(&mut self, now: Time) {
        while self.ended.front().is_some_and(|at| *at + MINUTE <= now) {
            self.ended.pop_front();
        }
    }
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

/// Requests in an hour with this pause between them.
fn pace(pause: TimeDelta) -> i64 {
    PACE_MINUTES * MINUTE.num_milliseconds() / pause.num_milliseconds().max(1)
}

/// When there is a place for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Frees {
    Now,
    At(Time),
    /// With an answer to a request under way, or when what limits it changes.
    Unknown,
}

impl Frees {
    /// The first such moment that is not before `due`; none when only something else can tell.
    fn after(self, due: Time) -> Option<Time> {
        match self {
            Self::Now => Some(due),
            Self::At(at) => Some(at.max(due)),
            Self::Unknown => None,
        }
    }
}

/// When fewer than `limit` of these requests count.
fn frees_at(spent: &[&Spent], limit: usize) -> Frees {
    let count: usize = spent.iter().map(|spent| spent.count()).sum();
    let Some(too_many) = count.checked_sub(limit) else { return Frees::Now };
    let ends = match spent {
        [one] => one.ended.get(too_many).copied(),
        // The oldest of all leaves first; looking again then is soon enough.
        many => many.iter().filter_map(|spent| spent.ended.front()).min().copied(),
    };
    ends.map_or(Frees::Unknown, |at| Frees::At(at + MINUTE))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::job::JobId;
    use crate::model::text::CleanText;
    use proptest::prelude::*;

    fn at(millis: i64) -> Time {
        Time::from_timestamp_millis(1_800_000_000_000 + millis).expect("in range")
    }

    fn active(key: i64, checked: Time) -> JobRow {
        JobRow {
            id: JobId::new(&format!("job-{key}")),
            status: Some(Status::Active),
            checked_at: Some(checked),
            ..JobRow::new(JobKey(key), CleanText::line("t"), at(0))
        }
    }

    fn keys(given: &[JobKey]) -> Vec<i64> {
        given.iter().map(|key| key.0).collect()
    }

    /// Runs `jobs` active jobs for `minutes`, each answer 0.4 to 1.6 s after its request; gives every request, with when it
    /// reached the service.
    fn run_with_arrivals(jobs: i64, shown: &[i64], minutes: i64) -> Vec<(Time, JobKey, Time)> {
        let mut scheduler = Scheduler::new(60, 8, 7);
        scheduler.set_on_screen(shown.iter().copied().map(JobKey));
        for key in 0..jobs {
            scheduler.update(&active(key, at(-60_000)), at(0), at(0));
        }
        let mut luck = Jitter::new(3);
        let mut now = at(0);
        let mut asked: BTreeSet<(Time, JobKey)> = BTreeSet::new();
        let mut all = Vec::new();
        while now < at(minutes * 60_000) {
            for key in scheduler.due(now) {
                let took = TimeDelta::milliseconds(400) + luck.within(TimeDelta::milliseconds(1200));
                asked.insert((now + took, key));
                all.push((now, key, now + luck.within(took)));
            }
            let wake = scheduler.next_wake(now);
            assert!(wake.is_none_or(|wake| wake > now), "nothing is left to give out now");
            let answer = asked.first().map(|(at, _)| *at);
            now = [wake, answer].into_iter().flatten().min().expect("something happens next");
            while let Some(&(_, key)) = asked.first().filter(|(at, _)| *at <= now) {
                asked.pop_first();
                scheduler.update(&active(key.0, now), now, now);
                scheduler.answered(key, Ended::Answered, now);
            }
        }
        all
    }

    fn run(jobs: i64, shown: &[i64], minutes: i64) -> Vec<(Time, JobKey)> {
        run_with_arrivals(jobs, shown, minutes).into_iter().map(|(at, key, _)| (at, key)).collect()
    }

    fn longest_wait(all: &[(Time, JobKey)], key: JobKey, end: Time) -> TimeDelta {
        let mut last = at(0);
        let mut longest = TimeDelta::zero();
        for moment in all.iter().filter(|(_, k)| *k == key).map(|(moment, _)| *moment).chain([end]) {
            longest = longest.max(moment - last);
            last = moment;
        }
        longest
    }

    fn most_in_a_minute(all: &[(Time, JobKey)]) -> usize {
        let within = |start: Time| all.iter().filter(|(at, _)| *at >= start && *at < start + MINUTE).count();
        all.iter().map(|(start, _)| within(*start)).max().unwrap_or(0)
    }

    /// The longest wait of any of these jobs in the first hour.
    fn worst(all: &[(Time, JobKey)], jobs: std::ops::Range<i64>) -> TimeDelta {
        jobs.map(|key| longest_wait(all, JobKey(key), at(3_600_000))).max().expect("some")
    }

    #[test]
    fn a_thousand_jobs_stay_within_the_budget_and_each_gets_its_turn() {
        let all = run(1000, &[], 90);
        assert!((59..=60).contains(&most_in_a_minute(&all)));
        // A fair share of 60 a minute among 1,000 is one look every 16 min 40 s; a place is free again a minute after the
        // answer, 62 s after the request at most. The first minute's requests go out at once.
        let fair = TimeDelta::seconds(1000 * 62 / 60);
        let first = worst(&all, 0..1000);
        assert!(first <= fair + MINUTE, "{first}");
        let settled: Vec<(Time, JobKey)> = all.into_iter().filter(|(moment, _)| *moment >= at(2 * 1_080_000)).collect();
        let gaps = (0..1000).filter_map(|key| {
            let looks: Vec<Time> = settled.iter().filter(|(_, k)| k.0 == key).map(|(moment, _)| *moment).collect();
            looks.windows(2).map(|pair| pair[1] - pair[0]).max()
        });
        let later = gaps.max().expect("looked at twice");
        assert!(later <= fair, "{later}");
    }

    #[test]
    fn more_than_the_budget_go_out_evenly_and_fewer_at_once() {
        let at_once = |jobs: i64| {
            let mut scheduler = Scheduler::new(60, 100, 7);
            (0..jobs).for_each(|key| scheduler.update(&active(key, at(-90_000)), at(0), at(0)));
            let mut now = at(0);
            let mut asked = Vec::new();
            while now < at(90_000) {
                for key in scheduler.due(now) {
                    asked.push(now);
                    scheduler.answered(key, Ended::Postponed, now);
                    scheduler.remove(key, now);
                }
                now = scheduler.next_wake(now).unwrap_or(at(90_000));
            }
            asked.iter().filter(|moment| **moment >= at(60_000) && **moment < at(61_000)).count()
        };
        assert_eq!((at_once(60), at_once(200)), (0, 1));
    }

    #[test]
    fn no_minute_of_the_service_has_more_requests_than_the_budget_however_long_they_are_on_their_way() {
        let all = run_with_arrivals(1000, &[1, 2, 3], 30);
        let mut arrivals: Vec<(Time, JobKey)> = all.into_iter().map(|(_, key, arrived)| (arrived, key)).collect();
        arrivals.sort_unstable();
        assert!((55..=60).contains(&most_in_a_minute(&arrivals)), "{}", most_in_a_minute(&arrivals));
    }

    #[test]
    fn jobs_on_screen_get_a_quarter_first_and_the_rest_still_get_theirs() {
        let screenful: Vec<i64> = (950..1000).collect();
        let all = run(1000, &screenful, 60);
        assert!(most_in_a_minute(&all) <= 60);
        // Their quarter is 15 a minute, 45 are left; a place is free again a minute after the answer.
        let (seen, others) = (worst(&all, 950..1000), worst(&all, 0..950));
        assert!(seen <= TimeDelta::seconds(50 * 62 / 15 + 62), "{seen}");
        assert!(others <= TimeDelta::seconds(950 * 62 / 45 + 62), "{others}");
        assert!(all.len() >= 60 * 58, "{}", all.len());
    }

    #[test]
    fn what_the_screen_has_no_use_for_goes_to_the_others() {
        let all = run(1000, &[997, 998], 60);
        assert!(most_in_a_minute(&all) <= 60);
        let (seen, others) = (worst(&all, 997..999), worst(&all, 0..997));
        assert!(seen <= TimeDelta::seconds(40), "{seen}");
        // Two jobs that are looked at every 30 s leave 55 of 60; until they are that slow they use more.
        assert!(others <= TimeDelta::seconds(997 * 62 / 55 + 62), "{others}");
        assert!(all.len() >= 60 * 57, "{}", all.len());
    }

    #[test]
    fn the_whole_budget_is_used_when_nothing_is_on_screen() {
        let mut scheduler = Scheduler::new(4, 100, 1);
        (0..10).for_each(|key| scheduler.update(&active(key, at(-90_000)), at(0), at(0)));
        let asked = scheduler.due(at(0));
        assert_eq!((asked.len(), scheduler.next_wake(at(0))), (4, None), "an answer has to come first");
        asked.into_iter().for_each(|key| scheduler.answered(key, Ended::Answered, at(700)));
        assert_eq!(
            scheduler.next_wake(at(700)),
            Some(at(60_700)),
            "it may have reached the service just before its end"
        );
    }

    #[test]
    fn who_has_waited_longest_comes_first() {
        let mut scheduler = Scheduler::new(60, 2, 1);
        for (key, checked) in [(1, -70_000), (2, -90_000), (3, -80_000)] {
            scheduler.update(&active(key, at(checked)), at(0), at(0));
        }
        assert_eq!(keys(&scheduler.due(at(0))), [2, 3]);
        assert_eq!(scheduler.next_wake(at(0)), None, "both places are taken");
    }

    #[test]
    fn pauses_are_jittered_by_a_tenth() {
        let mut scheduler = Scheduler::new(1000, 1000, 3);
        for key in 0..200 {
            let mut row = active(key, at(0));
            row.started_at = at(-7_200_000);
            scheduler.update(&row, at(0), at(0));
        }
        assert!(scheduler.due(at(53_999)).is_empty());
        let early = scheduler.due(at(60_000)).len();
        assert!((50..150).contains(&early), "{early}");
        assert_eq!(early + scheduler.due(at(66_000)).len(), 200);
    }

    #[test]
    fn a_wall_clock_set_back_does_not_stop_polling() {
        let mut scheduler = Scheduler::new(60, 8, 1);
        // Checked at a moment that now seems an hour ahead.
        scheduler.update(&active(1, at(3_600_000)), at(0), at(0));
        assert_eq!(keys(&scheduler.due(at(66_000))), [1]);
    }

    #[test]
    fn a_row_that_changes_nothing_about_its_poll_keeps_its_place() {
        let mut scheduler = Scheduler::new(60, 8, 1);
        let mut row = active(1, at(0));
        scheduler.update(&row, at(0), at(0));
        let before = scheduler.next_wake(at(0));
        row.looked_at = Some(at(500));
        scheduler.update(&row, at(500), at(500));
        assert_eq!(scheduler.next_wake(at(500)), before);
    }

    #[test]
    fn a_job_whose_answer_was_of_no_use_is_asked_for_again_a_slow_pause_later() {
        let mut scheduler = Scheduler::new(60, 8, 1);
        scheduler.update(&active(1, at(-60_000)), at(0), at(0));
        assert_eq!(keys(&scheduler.due(at(0))), [1]);
        scheduler.answered(JobKey(1), Ended::Answered, at(1000));
        let next = scheduler.next_wake(at(1000)).expect("again");
        assert!((at(55_000)..=at(67_000)).contains(&next));
    }

    #[test]
    fn a_job_that_fails_alone_steps_back_so_that_the_next_probe_is_another_one() {
        let mut scheduler = Scheduler::new(60, 1, 1);
        scheduler.update(&active(1, at(-90_000)), at(0), at(0));
        scheduler.update(&active(2, at(-60_000)), at(0), at(0));
        assert_eq!(keys(&scheduler.due(at(0))), [1]);
        scheduler.answered(JobKey(1), Ended::Failed, at(100));
        assert_eq!(scheduler.probe(at(2000)), Some(JobKey(1)));
        scheduler.answered(JobKey(1), Ended::Failed, at(2100));
        assert_eq!(scheduler.probe(at(6000)), Some(JobKey(2)));
    }

    #[test]
    fn a_rest_of_the_whole_service_costs_a_job_no_place() {
        let mut scheduler = Scheduler::new(60, 1, 1);
        scheduler.update(&active(1, at(-60_000)), at(0), at(0));
        assert_eq!(keys(&scheduler.due(at(0))), [1]);
        scheduler.answered(JobKey(1), Ended::Postponed, at(100));
        assert_eq!(keys(&scheduler.due(at(100))), [1]);
    }

    #[test]
    fn a_finished_job_is_let_go() {
        let mut scheduler = Scheduler::new(60, 8, 1);
        let mut row = active(1, at(-60_000));
        scheduler.update(&row, at(0), at(0));
        (row.status, row.finished_at) = (Some(Status::Failed), Some(at(0)));
        scheduler.update(&row, at(0), at(0));
        assert!(scheduler.is_empty());
        assert_eq!((scheduler.due(at(0)), scheduler.next_wake(at(0))), (vec![], None));
    }

    #[test]
    fn after_a_rest_the_overdue_come_back_spread_and_in_their_order() {
        let mut scheduler = Scheduler::new(60, 60, 1);
        (0..30).for_each(|key| scheduler.update(&active(key, at(-100_000 - key)), at(0), at(0)));
        scheduler.resume(at(0));
        assert!(scheduler.due(at(0)).len() < 3);
        let mut order = Vec::new();
        (1..=30).for_each(|step| order.extend(keys(&scheduler.due(at(step * 100)))));
        assert!(order.is_sorted_by(|a, b| a > b) && order.len() >= 27, "{order:?}");
    }

    #[derive(Debug, Clone)]
    enum Step {
        Pass(i64),
        Row(i64, i64),
        Finish(i64),
        Answer(Ended),
        Screen(Vec<i64>),
        Refresh,
        Resume,
        Probe,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![
            4 => (0_i64..20_000).prop_map(Step::Pass),
            4 => (0_i64..40, 0_i64..90_000).prop_map(|(key, age)| Step::Row(key, age)),
            1 => (0_i64..40).prop_map(Step::Finish),
            4 => prop::sample::select(vec![Ended::Answered, Ended::Postponed, Ended::Failed]).prop_map(Step::Answer),
            1 => prop::collection::vec(0_i64..40, 0..6).prop_map(Step::Screen),
            1 => Just(Step::Refresh),
            1 => Just(Step::Resume),
            1 => Just(Step::Probe),
        ];
        prop::collection::vec(step, 1..200)
    }

    proptest! {
        #[test]
        fn the_budget_and_the_places_hold_and_every_wake_up_is_worth_it(
            steps in steps(), per_minute in 1_u32..20, places in 1_usize..6,
        ) {
            let mut scheduler = Scheduler::new(per_minute, places, 11);
            let mut now = at(0);
            let mut asked: VecDeque<JobKey> = VecDeque::new();
            let mut by_schedule: Vec<Time> = Vec::new();
            for step in steps {
                match step {
                    Step::Pass(millis) => now += TimeDelta::milliseconds(millis),
                    Step::Row(key, age) => scheduler.update(&active(key, now - TimeDelta::milliseconds(age)), now, now),
                    Step::Finish(key) => {
                        scheduler.remove(JobKey(key), now);
                        asked.retain(|asked| asked.0 != key);
                    }
                    Step::Answer(how) => {
                        if let Some(key) = asked.pop_front() {
                            scheduler.answered(key, how, now);
                        }
                    }
                    Step::Screen(jobs) => scheduler.set_on_screen(jobs.into_iter().map(JobKey)),
                    Step::Refresh => scheduler.spend(now),
                    Step::Resume => scheduler.resume(now),
                    Step::Probe => asked.extend(scheduler.probe(now)),
                }
                let before = asked.len();
                let given = scheduler.due(now);
                prop_assert!(given.is_empty() || before + given.len() <= places);
                for key in given {
                    prop_assert!(!asked.contains(&key));
                    asked.push_back(key);
                    by_schedule.push(now);
                }
                let minute = by_schedule.iter().filter(|at| **at + MINUTE > now).count();
                prop_assert!(minute <= per_minute as usize);
                let wake = scheduler.next_wake(now);
                prop_assert!(wake.is_none_or(|wake| wake > now), "a wake-up that gives nothing: {wake:?}");
                // With one under way, its answer may be what is waited for.
                if asked.is_empty() && !scheduler.others.is_empty() {
                    prop_assert!(wake.is_some());
                }
            }
            asked.into_iter().for_each(|key| scheduler.answered(key, Ended::Answered, now));
            // Whatever happened: left alone, the next wake-ups lead to a request.
            if let Some(mut wake) = scheduler.next_wake(now) {
                let mut given = 0;
                for _ in 0..100 {
                    given = scheduler.due(wake).len();
                    if given > 0 {
                        break;
                    }
                    wake = scheduler.next_wake(wake).expect("still something to wait for");
                }
                prop_assert!(given > 0);
            }
        }
    }
}
