//! Whole rounds over a thousand jobs, on a made-up clock: what the service is asked for, and whether the longest wait is a
//! fair share (see [`super`]).

use super::*;
use crate::model::job::JobId;
use crate::model::poll::backoff;
use crate::model::text::CleanText;
use std::collections::{BTreeMap, BTreeSet};

const IN_FLIGHT: usize = 8;
const JOBS: i64 = 1000;

fn start() -> Time {
    Time::from_timestamp_millis(1_800_000_000_000).expect("in range")
}

/// One in ten of the jobs that are there from the start: looked at twice a minute while nothing else is.
fn is_young(key: JobKey) -> bool {
    key.0 % 10 == 3
}

fn mean(took: fn(&mut Jitter) -> TimeDelta) -> f64 {
    let mut luck = Jitter::new(5);
    (0..10_000).map(|_| seconds(took(&mut luck))).sum::<f64>() / 10_000.0
}

fn seconds(span: TimeDelta) -> f64 {
    span.num_milliseconds() as f64 / 1000.0
}

/// What the service makes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SimulatedAnswer {
    /// The job as it is.
    Job,
    /// Something that can't be read.
    Odd,
    /// 429, with a `Retry-After`.
    Limited,
    /// 503.
    Unwell,
}

/// What happens in one run, in the time since its start.
struct SchedulerFixture {
    per_minute: usize,
    end: TimeDelta,
    /// How long the service takes.
    took: fn(&mut Jitter) -> TimeDelta,
    /// From then on these are on screen.
    screens: Vec<(TimeDelta, Vec<i64>)>,
    /// Then so many jobs more are there, never looked at, and so many of the oldest will be over with their next look.
    turnover: Vec<(TimeDelta, i64)>,
    /// When the service says 429 for a second, and when it is unwell for twenty.
    limited: Vec<TimeDelta>,
    unwell: Vec<TimeDelta>,
}

/// How polling goes, as the poller has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Running,
    Resting(Time),
    Down { failures: u32, next_try: Time, probe: Option<JobKey> },
}

#[derive(Debug, Clone, Copy)]
struct SimulatedCheck {
    out: Time,
    arrived: Time,
    key: JobKey,
    answer: SimulatedAnswer,
}

/// What there was at a moment, until the next of these.
#[derive(Debug, Clone, Copy)]
struct Then {
    from: Time,
    /// Jobs that are not on screen.
    others: usize,
    /// Places that are kept free for those that are, at most.
    kept: usize,
}

struct Run {
    world: SchedulerFixture,
    scheduler: Scheduler,
    luck: Jitter,
    now: Time,
    /// The jobs as they were last seen, until they were seen to be over.
    rows: BTreeMap<JobKey, Job>,
    shown: BTreeSet<JobKey>,
    /// What the next look will find to be over.
    over: BTreeSet<JobKey>,
    /// When each job was first known, also of those that are over.
    taken_in: BTreeMap<JobKey, Time>,
    mode: Mode,
    /// What is under way, by when it ends.
    asked: BTreeSet<(Time, JobKey, SimulatedAnswer)>,
    looks: Vec<SimulatedCheck>,
    history: Vec<Then>,
    screens: Vec<(Time, BTreeSet<JobKey>)>,
    mean_took: f64,
    /// When polling rested.
    rests: Vec<(Time, Time)>,
}

impl Run {
    /// A thousand jobs that were last looked at in some order, between one and fifteen minutes ago; one in ten is young
    /// and one in a hundred was never looked at.
    fn of(world: SchedulerFixture) -> Self {
        let mut run = Self {
            scheduler: Scheduler::new(u32::try_from(world.per_minute).expect("small"), IN_FLIGHT, 11),
            luck: Jitter::new(5),
            now: start(),
            rows: BTreeMap::new(),
            shown: BTreeSet::new(),
            over: BTreeSet::new(),
            taken_in: BTreeMap::new(),
            mode: Mode::Running,
            asked: BTreeSet::new(),
            looks: Vec::new(),
            history: Vec::new(),
            screens: Vec::new(),
            mean_took: mean(world.took),
            rests: Vec::new(),
            world,
        };
        for key in 0..JOBS {
            let age = if is_young(JobKey(key)) { TimeDelta::minutes(30) } else { TimeDelta::hours(5) };
            let row = Job {
                id: JobId::new(&format!("job-{key}")),
                status: Some(Status::Active),
                checked_at: (key % 100 != 7).then(|| start() - MINUTE - TimeDelta::seconds(key * 377 % 840)),
                ..Job::new(JobKey(key), CleanText::line("t"), start() - age)
            };
            run.take_in(row);
        }
        while run.now < start() + run.world.end {
            run.step();
        }
        run
    }

    fn take_in(&mut self, row: Job) {
        self.taken_in.insert(row.key, self.now);
        self.scheduler.update(&row, self.now, self.now);
        self.rows.insert(row.key, row);
    }

    fn since(&self) -> TimeDelta {
        self.now - start()
    }

    fn step(&mut self) {
        self.turn_events();
        if let Mode::Resting(until) = self.mode
            && until <= self.now
        {
            self.run_again();
        }
        let given = match self.mode {
            Mode::Running => self.scheduler.due(self.now),
            Mode::Down { failures, next_try, probe: None } if next_try <= self.now => {
                let probe = self.scheduler.probe(self.now);
                self.mode = Mode::Down { failures, next_try, probe };
                probe.into_iter().collect()
            }
            _ => Vec::new(),
        };
        for key in given {
            self.ask(key);
        }
        let event = |at: &TimeDelta| Some(start() + *at).filter(|at| *at > self.now);
        let world = &self.world;
        let events = world.screens.iter().map(|(at, _)| at).chain(world.turnover.iter().map(|(at, _)| at));
        let events = events.filter_map(event).min();
        let wake = match self.mode {
            Mode::Running => self.scheduler.next_wake(self.now),
            Mode::Resting(until) => Some(until),
            Mode::Down { next_try, probe: None, .. } => Some(next_try),
            Mode::Down { .. } => None,
        };
        // A timer fires late, by up to three milliseconds.
        let wake = wake.map(|at| at + self.luck.within(TimeDelta::milliseconds(3)));
        let answer = self.asked.first().map(|(at, ..)| *at);
        let next = [events, wake, answer].into_iter().flatten().min().expect("something happens next");
        assert!(next > self.now || wake != Some(next), "nothing is left to give out now");
        self.now = next;
        while let Some(&(_, key, answer)) = self.asked.first().filter(|(at, ..)| *at <= self.now) {
            self.asked.pop_first();
            self.hear(key, answer);
        }
    }

    fn turn_events(&mut self) {
        let since = self.since();
        let screens = self.world.screens.extract_if(.., |(at, _)| *at <= since).last();
        if let Some((_, keys)) = screens {
            self.shown = keys.into_iter().map(JobKey).collect();
            self.scheduler.set_on_screen(self.shown.iter().copied());
            self.screens.push((self.now, self.shown.clone()));
        }
        let turnover: Vec<_> = self.world.turnover.extract_if(.., |(at, _)| *at <= since).collect();
        for (_, count) in turnover {
            let oldest = self.rows.keys().filter(|key| !self.over.contains(key) && !self.shown.contains(key));
            let oldest: Vec<JobKey> = oldest.copied().take(usize::try_from(count).expect("small")).collect();
            self.over.extend(oldest);
            for _ in 0..count {
                let key = JobKey(self.taken_in.last_key_value().expect("some").0.0 + 1);
                let id = JobId::new(&format!("job-{}", key.0));
                self.take_in(Job { id, ..Job::new(key, CleanText::line("t"), self.now) });
            }
        }
        let shown = self.rows.values().filter(|row| self.shown.contains(&row.key));
        let (shown, young) = shown.fold((0, 0), |(all, young), row| (all + 1, young + usize::from(is_young(row.key))));
        // Once a minute each, the young ones twice, and one more for the jitter.
        let wanted = if shown > 0 { shown + young + 1 } else { 0 };
        let (others, kept) = (self.rows.len() - shown, wanted.min(self.world.per_minute / 4));
        if self.history.last().is_none_or(|last| (last.others, last.kept) != (others, kept)) {
            self.history.push(Then { from: self.now, others, kept });
        }
    }

    fn ask(&mut self, key: JobKey) {
        let took = (self.world.took)(&mut self.luck);
        let arrived = self.now + self.luck.within(took);
        let during = |moments: &[TimeDelta], long: i64| {
            moments.iter().any(|at| (*at..*at + TimeDelta::seconds(long)).contains(&(arrived - start())))
        };
        let answer = match () {
            () if during(&self.world.limited, 1) => SimulatedAnswer::Limited,
            () if during(&self.world.unwell, 20) => SimulatedAnswer::Unwell,
            () if self.looks.len() % 97 == 96 => SimulatedAnswer::Odd,
            () => SimulatedAnswer::Job,
        };
        self.asked.insert((self.now + took, key, answer));
        self.looks.push(SimulatedCheck { out: self.now, arrived, key, answer });
    }

    /// As the poller takes it.
    fn hear(&mut self, key: JobKey, answer: SimulatedAnswer) {
        let now = self.now;
        let is_probe = matches!(self.mode, Mode::Down { probe, .. } if probe == Some(key));
        match answer {
            SimulatedAnswer::Job | SimulatedAnswer::Odd if is_probe => self.run_again(),
            SimulatedAnswer::Job | SimulatedAnswer::Odd => {}
            SimulatedAnswer::Limited => {
                let since = match self.mode {
                    Mode::Running => now,
                    _ => self.rests.pop().expect("begun").0,
                };
                self.mode = Mode::Resting(now + TimeDelta::seconds(20));
                self.rests.push((since, now + TimeDelta::seconds(20)));
            }
            SimulatedAnswer::Unwell => {
                let failures = match self.mode {
                    Mode::Running => {
                        self.rests.push((now, now));
                        1
                    }
                    Mode::Down { failures, .. } if is_probe => failures + 1,
                    _ => 0,
                };
                if failures > 0 {
                    self.mode = Mode::Down { failures, next_try: now + backoff(failures), probe: None };
                }
            }
        }
        if answer == SimulatedAnswer::Job {
            let row = self.rows.get_mut(&key).expect("known");
            row.checked_at = Some(now);
            row.status = Some(Status::Active);
            if self.over.contains(&key) {
                (row.status, row.finished_at) = (Some(Status::Failed), Some(now));
            }
            self.scheduler.update(row, now, now);
            if self.over.contains(&key) {
                self.rows.remove(&key);
            }
        }
        let how = match answer {
            SimulatedAnswer::Job | SimulatedAnswer::Odd => RequestEnd::Answered,
            SimulatedAnswer::Limited => RequestEnd::Postponed,
            SimulatedAnswer::Unwell => RequestEnd::Failed,
        };
        self.scheduler.answered(key, how, now);
    }

    fn run_again(&mut self) {
        self.rests.last_mut().expect("begun").1 = self.now;
        self.scheduler.resume(self.now);
        self.mode = Mode::Running;
    }

    /// The most requests that reached the service in any rolling minute.
    fn most_in_a_minute(&self) -> usize {
        let mut arrived: Vec<Time> = self.looks.iter().map(|look| look.arrived).collect();
        arrived.sort_unstable();
        let within = |(i, from): (usize, &Time)| arrived[i..].partition_point(|at| *at < *from + MINUTE);
        arrived.iter().enumerate().map(within).max().unwrap_or(0)
    }

    /// Without the time in which polling rested.
    fn working(&self, from: Time, to: Time) -> TimeDelta {
        let rested = |&(begin, end): &(Time, Time)| (end.min(to) - begin.max(from)).max(TimeDelta::zero());
        self.rests.iter().map(rested).fold(to - from, |left, rest| left - rest)
    }

    /// For each job the moments between which it waited: taken in, each look, and the end of the run or its own.
    fn waits(&self) -> Vec<(JobKey, Time, Time)> {
        let mut moments: BTreeMap<JobKey, Vec<Time>> =
            self.taken_in.iter().map(|(key, at)| (*key, vec![*at])).collect();
        for look in self.looks.iter().filter(|look| matches!(look.answer, SimulatedAnswer::Job | SimulatedAnswer::Odd))
        {
            moments.get_mut(&look.key).expect("known").push(look.out);
        }
        for key in self.rows.keys() {
            moments.get_mut(key).expect("known").push(self.now);
        }
        let pairs =
            |(key, at): (JobKey, Vec<Time>)| at.windows(2).map(|pair| (key, pair[0], pair[1])).collect::<Vec<_>>();
        moments.into_iter().flat_map(pairs).collect()
    }

    /// The longest time that a job was on screen without a look, with whose and when it began.
    fn longest_wait_on_screen(&self) -> Option<(TimeDelta, JobKey, TimeDelta)> {
        let longest = |(screen, (from, keys)): (usize, &(Time, BTreeSet<JobKey>))| {
            let to = self.screens.get(screen + 1).map_or(self.now, |next| next.0);
            let waits = self.waits().into_iter().filter(|(key, ..)| keys.contains(key));
            let within = waits.map(|(key, a, b)| (a.max(*from), b.min(to), key)).filter(|(a, b, _)| a < b);
            within.map(|(a, b, key)| (self.working(a, b), key, a - start())).max()
        };
        self.screens.iter().enumerate().filter_map(longest).max()
    }

    /// The fair share of a job that nobody sees between these moments, in seconds. What was answered with a failure has
    /// cost a place, and was no look.
    fn fair_share(&self, from: Time, to: Time) -> f64 {
        let between = |from: Time| {
            let there = self.history.partition_point(|then| then.from <= from).saturating_sub(1);
            self.history[there..].iter().take_while(move |then| then.from < to)
        };
        let others = between(from).map(|then| then.others).max().unwrap_or(0);
        // What went to those on screen in the minute before is spent.
        let kept = between(from - MINUTE).map(|then| then.kept).max().unwrap_or(0);
        let out = self.looks.partition_point(|look| look.out < from);
        let looks = self.looks[out..].iter().take_while(|look| look.out < to);
        let lost =
            looks.filter(|look| matches!(look.answer, SimulatedAnswer::Limited | SimulatedAnswer::Unwell)).count();
        self.share(others + lost, self.world.per_minute - kept)
    }

    /// How long so many jobs take in so many places.
    fn share(&self, jobs: usize, places: usize) -> f64 {
        let by_budget = (60.0 + self.mean_took) / places as f64;
        jobs as f64 * by_budget.max(self.mean_took / IN_FLIGHT as f64)
    }

    /// The longest wait as a part of the fair share, with whose and when it began.
    fn longest_wait(&self) -> (f64, JobKey, TimeDelta) {
        let part = |&(key, from, to): &(JobKey, Time, Time)| {
            (seconds(self.working(from, to)) / self.fair_share(from, to), key, from - start())
        };
        self.waits().iter().map(part).max_by(|a, b| a.0.total_cmp(&b.0)).expect("some")
    }
}

/// Most within 0.4 s, one in twenty up to 3 s.
fn quick(luck: &mut Jitter) -> TimeDelta {
    let slowest = if luck.within(TimeDelta::seconds(1)) < TimeDelta::milliseconds(50) { 2950 } else { 350 };
    TimeDelta::milliseconds(50) + luck.within(TimeDelta::milliseconds(slowest))
}

/// Anything up to 3 s.
fn slow(luck: &mut Jitter) -> TimeDelta {
    TimeDelta::milliseconds(50) + luck.within(TimeDelta::milliseconds(2950))
}

/// Four and a half rounds in which nothing else happens.
fn quiet(per_minute: usize, took: fn(&mut Jitter) -> TimeDelta) -> Run {
    let end = round(per_minute, 450);
    Run::of(SchedulerFixture {
        per_minute,
        end,
        took,
        screens: vec![],
        turnover: vec![],
        limited: vec![],
        unwell: vec![],
    })
}

/// So many hundredths of the time that a thousand requests take at least.
fn round(per_minute: usize, hundredths: i64) -> TimeDelta {
    MINUTE * 1000 / i32::try_from(per_minute).expect("small") / 100 * i32::try_from(hundredths).expect("small")
}

/// Four and a half rounds in which the user looks at some jobs and then at others, jobs come and go, the service says 429
/// twice and is unwell once.
fn eventful(per_minute: usize) -> Run {
    let at = |hundredths| round(per_minute, hundredths);
    Run::of(SchedulerFixture {
        per_minute,
        end: at(450),
        took: quick,
        screens: vec![(at(0), (990..1000).collect()), (at(150), (900..942).collect()), (at(250), vec![])],
        turnover: vec![(at(30), 5), (at(60), 7), (at(200), 100), (at(300), 3)],
        limited: vec![at(90), at(210)],
        unwell: vec![at(130)],
    })
}

/// The longest wait in fair shares: no two answers take the same time, and a place is free only once its own has come.
const WITHIN: f64 = 1.025;

/// The service never gets more than the budget, and nobody waits longer than a fair share.
fn assert_fair(run: &Run) {
    let per_minute = run.world.per_minute;
    assert!(run.most_in_a_minute() <= per_minute, "{} of {per_minute}", run.most_in_a_minute());
    let longest = run.longest_wait();
    assert!(longest.0 <= WITHIN, "at {per_minute} a minute: {longest:?}");
}

#[test]
fn the_longest_wait_of_a_thousand_jobs_is_their_fair_share_of_the_whole_budget() {
    for (per_minute, took) in [(60, quick as fn(&mut Jitter) -> TimeDelta), (600, quick), (60, slow)] {
        let run = quiet(per_minute, took);
        assert_fair(&run);
        let (used, minutes) = (run.looks.len() as f64, seconds(run.now - start()) / (60.0 + run.mean_took));
        assert!(used >= 0.99 * minutes * per_minute as f64, "at {per_minute} a minute: {used} in {minutes}");
    }
}

#[test]
fn when_answers_are_slow_the_places_in_flight_are_shared_as_fairly() {
    let run = quiet(600, slow);
    assert!(run.share(1000, 600) > seconds(round(600, 150)), "they are what limits");
    assert_fair(&run);
}

#[test]
fn nobody_gets_a_second_turn_before_everybody_had_one() {
    for per_minute in [60, 600] {
        let run = quiet(per_minute, quick);
        let mut turns: BTreeMap<JobKey, Vec<usize>> = BTreeMap::new();
        run.looks.iter().enumerate().for_each(|(turn, look)| turns.entry(look.key).or_default().push(turn));
        assert_eq!(turns.len(), 1000);
        // Those that went out in the same moment are one turn; there are never more of them than places in flight.
        let is_apart = |pair: &[usize]| (pair[1] - pair[0]).abs_diff(1000) < IN_FLIGHT;
        let is_in_turn = |turns: &[usize]| turns.len() >= 4 && turns[0] < 1000 && turns.windows(2).all(is_apart);
        let wrong = turns.iter().find(|(_, turns)| !is_in_turn(turns));
        assert_eq!(wrong, None, "at {per_minute} a minute");
    }
}

#[test]
fn screens_and_rests_and_jobs_that_come_and_go_leave_everybody_a_fair_share() {
    for per_minute in [60, 600] {
        let run = eventful(per_minute);
        assert_fair(&run);
        let (longest, ..) = run.longest_wait_on_screen().expect("some were on screen");
        // A look a minute, a tenth later by jitter; or what a quarter of the budget gives 42 of them.
        let share = run.share(42, per_minute / 4).max(66.0);
        assert!(seconds(longest) <= share * 1.05, "at {per_minute} a minute: {longest} of {share}");
        assert!(
            run.rests.len() == 3 && run.looks.iter().filter(|look| look.answer == SimulatedAnswer::Unwell).count() > 2
        );
    }
}
