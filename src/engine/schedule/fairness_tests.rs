//! Tests that poll a thousand jobs several times on a simulated clock. They check how many requests the service
//! gets, and that no job waits longer for a check than its fair share (see [`super`]).

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

/// Whether the job is one of the initial jobs that started recently (one in ten). If the budget permits, such a job
/// is checked twice a minute.
fn is_young(key: JobKey) -> bool {
    key.0 % 10 == 3
}

fn mean_response_time(response_time: fn(&mut Jitter) -> TimeDelta) -> f64 {
    let mut rng = Jitter::new(5);
    (0..10_000).map(|_| seconds(response_time(&mut rng))).sum::<f64>() / 10_000.0
}

fn seconds(span: TimeDelta) -> f64 {
    span.num_milliseconds() as f64 / 1000.0
}

/// The service's answer to a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum SimulatedAnswer {
    /// The answer contains the job.
    Job,
    /// The answer is unreadable.
    Unreadable,
    /// The answer is a 429 with a `Retry-After` header.
    Limited,
    /// The answer is a 503.
    Failing,
}

/// The settings and events of one simulation. Times are counted from its start.
struct SimulationPlan {
    per_minute: usize,
    end: TimeDelta,
    /// How long the service takes to answer.
    response_time: fn(&mut Jitter) -> TimeDelta,
    /// When the jobs on screen change, and which jobs are on screen from then on.
    screens: Vec<(TimeDelta, Vec<i64>)>,
    /// When jobs are replaced, and how many. For each replacement, a job that was never checked is added, and one of
    /// the oldest jobs will be finished at its next check.
    turnover: Vec<(TimeDelta, i64)>,
    /// When the service starts to answer 429, each time for one second.
    limited: Vec<TimeDelta>,
    /// When the service starts to fail, each time for 20 seconds.
    failing: Vec<TimeDelta>,
}

/// The polling mode, a simple version of the poller's `PollerMode`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Running,
    Resting(Time),
    Down { failures: u32, next_try: Time, probe: Option<JobKey> },
}

#[derive(Debug, Clone, Copy)]
struct SimulatedCheck {
    sent: Time,
    arrived: Time,
    key: JobKey,
    answer: SimulatedAnswer,
}

/// The numbers of jobs and of reserved requests. They are valid from `from` until the next snapshot.
#[derive(Debug, Clone, Copy)]
struct Snapshot {
    from: Time,
    /// The number of jobs that are not on screen.
    others: usize,
    /// The most requests per minute that are reserved for the jobs on screen.
    reserved: usize,
}

struct Simulation {
    plan: SimulationPlan,
    scheduler: Scheduler,
    rng: Jitter,
    now: Time,
    /// The unfinished jobs, as they were at their last checks.
    rows: BTreeMap<JobKey, Job>,
    shown: BTreeSet<JobKey>,
    /// The jobs that will be finished at their next check.
    finishing: BTreeSet<JobKey>,
    /// When each job was added, including jobs that are finished by now.
    created: BTreeMap<JobKey, Time>,
    mode: Mode,
    /// The requests in flight, ordered by the time when they end.
    in_flight: BTreeSet<(Time, JobKey, SimulatedAnswer)>,
    checks: Vec<SimulatedCheck>,
    history: Vec<Snapshot>,
    screens: Vec<(Time, BTreeSet<JobKey>)>,
    mean_response: f64,
    /// The times without polling, from start to end.
    pauses: Vec<(Time, Time)>,
}

impl Simulation {
    /// Runs a simulation. It begins with a thousand jobs that were last checked between one and fifteen minutes ago,
    /// in mixed order. One in ten started recently, and one in a hundred was never checked.
    fn run(plan: SimulationPlan) -> Self {
        let mut run = Self {
            scheduler: Scheduler::new(u32::try_from(plan.per_minute).expect("small"), IN_FLIGHT, 11),
            rng: Jitter::new(5),
            now: start(),
            rows: BTreeMap::new(),
            shown: BTreeSet::new(),
            finishing: BTreeSet::new(),
            created: BTreeMap::new(),
            mode: Mode::Running,
            in_flight: BTreeSet::new(),
            checks: Vec::new(),
            history: Vec::new(),
            screens: Vec::new(),
            mean_response: mean_response_time(plan.response_time),
            pauses: Vec::new(),
            plan,
        };
        for key in 0..JOBS {
            let age = if is_young(JobKey(key)) { TimeDelta::minutes(30) } else { TimeDelta::hours(5) };
            let row = Job {
                id: JobId::new(&format!("job-{key}")),
                status: Some(Status::Active),
                checked_at: (key % 100 != 7).then(|| start() - MINUTE - TimeDelta::seconds(key * 377 % 840)),
                ..Job::new(JobKey(key), CleanText::line("t"), start() - age)
            };
            run.add_job(row);
        }
        while run.now < start() + run.plan.end {
            run.step();
        }
        run
    }

    fn add_job(&mut self, row: Job) {
        self.created.insert(row.key, self.now);
        self.scheduler.update(&row, self.now, self.now);
        self.rows.insert(row.key, row);
    }

    fn elapsed(&self) -> TimeDelta {
        self.now - start()
    }

    fn step(&mut self) {
        self.apply_events();
        if let Mode::Resting(until) = self.mode
            && until <= self.now
        {
            self.run_again();
        }
        let to_check = match self.mode {
            Mode::Running => self.scheduler.take_due(self.now),
            Mode::Down { failures, next_try, probe: None } if next_try <= self.now => {
                let probe = self.scheduler.take_probe(self.now);
                self.mode = Mode::Down { failures, next_try, probe };
                probe.into_iter().collect()
            }
            _ => Vec::new(),
        };
        for key in to_check {
            self.request(key);
        }
        let event = |at: &TimeDelta| Some(start() + *at).filter(|at| *at > self.now);
        let plan = &self.plan;
        let events = plan.screens.iter().map(|(at, _)| at).chain(plan.turnover.iter().map(|(at, _)| at));
        let events = events.filter_map(event).min();
        let wake = match self.mode {
            Mode::Running => self.scheduler.next_wake(self.now),
            Mode::Resting(until) => Some(until),
            Mode::Down { next_try, probe: None, .. } => Some(next_try),
            Mode::Down { .. } => None,
        };
        // A timer fires up to three milliseconds late.
        let wake = wake.map(|at| at + self.rng.random_up_to(TimeDelta::milliseconds(3)));
        let answer = self.in_flight.first().map(|(at, ..)| *at);
        let next = [events, wake, answer].into_iter().flatten().min().expect("something happens next");
        assert!(next > self.now || wake != Some(next), "everything due now was started");
        self.now = next;
        while let Some(&(_, key, answer)) = self.in_flight.first().filter(|(at, ..)| *at <= self.now) {
            self.in_flight.pop_first();
            self.finish(key, answer);
        }
    }

    fn apply_events(&mut self) {
        let since = self.elapsed();
        let screens = self.plan.screens.extract_if(.., |(at, _)| *at <= since).last();
        if let Some((_, keys)) = screens {
            self.shown = keys.into_iter().map(JobKey).collect();
            self.scheduler.set_on_screen(self.shown.iter().copied());
            self.screens.push((self.now, self.shown.clone()));
        }
        let turnover: Vec<_> = self.plan.turnover.extract_if(.., |(at, _)| *at <= since).collect();
        for (_, count) in turnover {
            let oldest = self.rows.keys().filter(|key| !self.finishing.contains(key) && !self.shown.contains(key));
            let oldest: Vec<JobKey> = oldest.copied().take(usize::try_from(count).expect("small")).collect();
            self.finishing.extend(oldest);
            for _ in 0..count {
                let key = JobKey(self.created.last_key_value().expect("some").0.0 + 1);
                let id = JobId::new(&format!("job-{}", key.0));
                self.add_job(Job { id, ..Job::new(key, CleanText::line("t"), self.now) });
            }
        }
        let shown = self.rows.values().filter(|row| self.shown.contains(&row.key));
        let (shown, young) = shown.fold((0, 0), |(all, young), row| (all + 1, young + usize::from(is_young(row.key))));
        // A job on screen is checked once a minute, or twice if it started recently. One more check is reserved because
        // the pauses vary at random.
        let wanted = if shown > 0 { shown + young + 1 } else { 0 };
        let (others, reserved) = (self.rows.len() - shown, wanted.min(self.plan.per_minute / 4));
        if self.history.last().is_none_or(|last| (last.others, last.reserved) != (others, reserved)) {
            self.history.push(Snapshot { from: self.now, others, reserved });
        }
    }

    fn request(&mut self, key: JobKey) {
        let response_time = (self.plan.response_time)(&mut self.rng);
        let arrived = self.now + self.rng.random_up_to(response_time);
        let during = |starts: &[TimeDelta], duration: i64| {
            starts.iter().any(|at| (*at..*at + TimeDelta::seconds(duration)).contains(&(arrived - start())))
        };
        let answer = match () {
            () if during(&self.plan.limited, 1) => SimulatedAnswer::Limited,
            () if during(&self.plan.failing, 20) => SimulatedAnswer::Failing,
            () if self.checks.len() % 97 == 96 => SimulatedAnswer::Unreadable,
            () => SimulatedAnswer::Job,
        };
        self.in_flight.insert((self.now + response_time, key, answer));
        self.checks.push(SimulatedCheck { sent: self.now, arrived, key, answer });
    }

    /// Handles the answer about a job as the poller does.
    fn finish(&mut self, key: JobKey, answer: SimulatedAnswer) {
        let now = self.now;
        let is_probe = matches!(self.mode, Mode::Down { probe, .. } if probe == Some(key));
        match answer {
            SimulatedAnswer::Job | SimulatedAnswer::Unreadable if is_probe => self.run_again(),
            SimulatedAnswer::Job | SimulatedAnswer::Unreadable => {}
            SimulatedAnswer::Limited => {
                let since = match self.mode {
                    Mode::Running => now,
                    _ => self.pauses.pop().expect("begun").0,
                };
                self.mode = Mode::Resting(now + TimeDelta::seconds(20));
                self.pauses.push((since, now + TimeDelta::seconds(20)));
            }
            SimulatedAnswer::Failing => {
                let failures = match self.mode {
                    Mode::Running => {
                        self.pauses.push((now, now));
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
            if self.finishing.contains(&key) {
                (row.status, row.finished_at) = (Some(Status::Failed), Some(now));
            }
            self.scheduler.update(row, now, now);
            if self.finishing.contains(&key) {
                self.rows.remove(&key);
            }
        }
        let request_end = match answer {
            SimulatedAnswer::Job | SimulatedAnswer::Unreadable => RequestEnd::Answered,
            SimulatedAnswer::Limited => RequestEnd::Postponed,
            SimulatedAnswer::Failing => RequestEnd::Failed,
        };
        self.scheduler.finish_request(key, request_end, now);
    }

    fn run_again(&mut self) {
        self.pauses.last_mut().expect("begun").1 = self.now;
        self.scheduler.resume(self.now);
        self.mode = Mode::Running;
    }

    /// Returns the highest number of requests that reached the service in any rolling minute.
    fn max_requests_in_a_minute(&self) -> usize {
        let mut arrived: Vec<Time> = self.checks.iter().map(|check| check.arrived).collect();
        arrived.sort_unstable();
        let within = |(i, from): (usize, &Time)| arrived[i..].partition_point(|at| *at < *from + MINUTE);
        arrived.iter().enumerate().map(within).max().unwrap_or(0)
    }

    /// Returns the time from `from` to `to` minus the times without polling.
    fn polling_time_between(&self, from: Time, to: Time) -> TimeDelta {
        let pause_within = |&(begin, end): &(Time, Time)| (end.min(to) - begin.max(from)).max(TimeDelta::zero());
        self.pauses.iter().map(pause_within).fold(to - from, |remaining, pause| remaining - pause)
    }

    /// Returns every wait for a check, with its job, start and end. A job waits from its creation to its first check,
    /// and from each check to the next one. An unfinished job also waits from its last check to the end of the
    /// simulation.
    fn waits(&self) -> Vec<(JobKey, Time, Time)> {
        let mut moments: BTreeMap<JobKey, Vec<Time>> = self.created.iter().map(|(key, at)| (*key, vec![*at])).collect();
        for check in self
            .checks
            .iter()
            .filter(|check| matches!(check.answer, SimulatedAnswer::Job | SimulatedAnswer::Unreadable))
        {
            moments.get_mut(&check.key).expect("known").push(check.sent);
        }
        for key in self.rows.keys() {
            moments.get_mut(key).expect("known").push(self.now);
        }
        let pairs =
            |(key, at): (JobKey, Vec<Time>)| at.windows(2).map(|pair| (key, pair[0], pair[1])).collect::<Vec<_>>();
        moments.into_iter().flat_map(pairs).collect()
    }

    /// Returns the longest time that a job was on screen without a check, with the job and the start of that time.
    fn longest_wait_on_screen(&self) -> Option<(TimeDelta, JobKey, TimeDelta)> {
        let longest = |(screen, (from, keys)): (usize, &(Time, BTreeSet<JobKey>))| {
            let to = self.screens.get(screen + 1).map_or(self.now, |next| next.0);
            let waits = self.waits().into_iter().filter(|(key, ..)| keys.contains(key));
            let within = waits.map(|(key, a, b)| (a.max(*from), b.min(to), key)).filter(|(a, b, _)| a < b);
            within.map(|(a, b, key)| (self.polling_time_between(a, b), key, a - start())).max()
        };
        self.screens.iter().enumerate().filter_map(longest).max()
    }

    /// Returns how many seconds a job that is not on screen may have to wait for a check between `from` and `to`. A
    /// failed request adds to the wait, because it uses up a request but checks no job.
    fn fair_share(&self, from: Time, to: Time) -> f64 {
        let between = |from: Time| {
            let first = self.history.partition_point(|snapshot| snapshot.from <= from).saturating_sub(1);
            self.history[first..].iter().take_while(move |snapshot| snapshot.from < to)
        };
        let others = between(from).map(|snapshot| snapshot.others).max().unwrap_or(0);
        // Checks of jobs on screen in the minute before `from` still count toward the budget.
        let reserved = between(from - MINUTE).map(|snapshot| snapshot.reserved).max().unwrap_or(0);
        let sent = self.checks.partition_point(|check| check.sent < from);
        let checks = self.checks[sent..].iter().take_while(|check| check.sent < to);
        let failed =
            checks.filter(|check| matches!(check.answer, SimulatedAnswer::Limited | SimulatedAnswer::Failing)).count();
        self.seconds_to_check(others + failed, self.plan.per_minute - reserved)
    }

    /// Returns how many seconds it takes to check `jobs` jobs with `slots` requests per minute.
    fn seconds_to_check(&self, jobs: usize, slots: usize) -> f64 {
        let by_budget = (60.0 + self.mean_response) / slots as f64;
        jobs as f64 * by_budget.max(self.mean_response / IN_FLIGHT as f64)
    }

    /// Returns the longest wait as a multiple of the job's fair share, with the job and the start of the wait.
    fn longest_wait(&self) -> (f64, JobKey, TimeDelta) {
        let part = |&(key, from, to): &(JobKey, Time, Time)| {
            (seconds(self.polling_time_between(from, to)) / self.fair_share(from, to), key, from - start())
        };
        self.waits().iter().map(part).max_by(|a, b| a.0.total_cmp(&b.0)).expect("some")
    }
}

/// Returns a response time of up to 0.4 s, or of up to 3 s in one case out of twenty.
fn quick_response_time(rng: &mut Jitter) -> TimeDelta {
    let slowest = if rng.random_up_to(TimeDelta::seconds(1)) < TimeDelta::milliseconds(50) { 2950 } else { 350 };
    TimeDelta::milliseconds(50) + rng.random_up_to(TimeDelta::milliseconds(slowest))
}

/// Returns a response time of up to 3 s.
fn slow_response_time(rng: &mut Jitter) -> TimeDelta {
    TimeDelta::milliseconds(50) + rng.random_up_to(TimeDelta::milliseconds(2950))
}

/// Runs a simulation without events, for the shortest time in which 4500 requests fit.
fn simulate_without_events(per_minute: usize, response_time: fn(&mut Jitter) -> TimeDelta) -> Simulation {
    let end = time_for_1000_requests(per_minute, 450);
    Simulation::run(SimulationPlan {
        per_minute,
        end,
        response_time,
        screens: vec![],
        turnover: vec![],
        limited: vec![],
        failing: vec![],
    })
}

/// Returns the shortest time in which a thousand requests fit, multiplied by `hundredths` / 100.
fn time_for_1000_requests(per_minute: usize, hundredths: i64) -> TimeDelta {
    MINUTE * 1000 / i32::try_from(per_minute).expect("small") / 100 * i32::try_from(hundredths).expect("small")
}

/// Runs a simulation with events, for the shortest time in which 4500 requests fit. The jobs on screen change, jobs
/// come and go, and the service answers 429 at two times and fails at another.
fn simulate_with_events(per_minute: usize) -> Simulation {
    let at = |hundredths| time_for_1000_requests(per_minute, hundredths);
    Simulation::run(SimulationPlan {
        per_minute,
        end: at(450),
        response_time: quick_response_time,
        screens: vec![(at(0), (990..1000).collect()), (at(150), (900..942).collect()), (at(250), vec![])],
        turnover: vec![(at(30), 5), (at(60), 7), (at(200), 100), (at(300), 3)],
        limited: vec![at(90), at(210)],
        failing: vec![at(130)],
    })
}

/// The longest permitted wait, as a multiple of a job's fair share. More than 1, because response times differ and a
/// request counts until a minute after its answer.
const MAX_FAIR_SHARES: f64 = 1.025;

/// Asserts that the service never gets more requests than the budget, and that no job waits longer than its fair share.
fn assert_fair(run: &Simulation) {
    let per_minute = run.plan.per_minute;
    assert!(run.max_requests_in_a_minute() <= per_minute, "{} of {per_minute}", run.max_requests_in_a_minute());
    let longest = run.longest_wait();
    assert!(longest.0 <= MAX_FAIR_SHARES, "at {per_minute} a minute: {longest:?}");
}

#[test]
fn the_longest_wait_of_a_thousand_jobs_is_a_fair_share_of_the_budget() {
    for (per_minute, response_time) in [
        (60, quick_response_time as fn(&mut Jitter) -> TimeDelta),
        (600, quick_response_time),
        (60, slow_response_time),
    ] {
        let run = simulate_without_events(per_minute, response_time);
        assert_fair(&run);
        let (used, minutes) = (run.checks.len() as f64, seconds(run.now - start()) / (60.0 + run.mean_response));
        assert!(used >= 0.99 * minutes * per_minute as f64, "at {per_minute} a minute: {used} in {minutes}");
    }
}

#[test]
fn jobs_get_a_fair_share_if_slow_answers_make_the_requests_in_flight_the_limit() {
    let run = simulate_without_events(600, slow_response_time);
    let budget_time = seconds(time_for_1000_requests(600, 150));
    assert!(run.seconds_to_check(1000, 600) > budget_time, "the slots in flight are the limit");
    assert_fair(&run);
}

#[test]
fn no_job_gets_a_second_check_before_every_job_had_one() {
    for per_minute in [60, 600] {
        let run = simulate_without_events(per_minute, quick_response_time);
        let mut turns: BTreeMap<JobKey, Vec<usize>> = BTreeMap::new();
        run.checks.iter().enumerate().for_each(|(turn, check)| turns.entry(check.key).or_default().push(turn));
        assert_eq!(turns.len(), 1000);
        // Two checks of a job are 1000 requests apart, or a few more or fewer. Up to `IN_FLIGHT` requests may start at
        // the same moment, and these have no fixed order.
        let is_apart = |pair: &[usize]| (pair[1] - pair[0]).abs_diff(1000) < IN_FLIGHT;
        let is_in_turn = |turns: &[usize]| turns.len() >= 4 && turns[0] < 1000 && turns.windows(2).all(is_apart);
        let wrong = turns.iter().find(|(_, turns)| !is_in_turn(turns));
        assert_eq!(wrong, None, "at {per_minute} a minute");
    }
}

#[test]
fn every_job_gets_a_fair_share_despite_changing_jobs_and_screens_and_failures() {
    for per_minute in [60, 600] {
        let run = simulate_with_events(per_minute);
        assert_fair(&run);
        let (longest, ..) = run.longest_wait_on_screen().expect("some were on screen");
        // A job on screen is checked once a minute, or up to a tenth later at random. While 42 jobs are on screen, a
        // quarter of the budget may be too little for that. Each job then waits until all 42 had their turn.
        let share = run.seconds_to_check(42, per_minute / 4).max(66.0);
        assert!(seconds(longest) <= share * 1.05, "at {per_minute} a minute: {longest} of {share}");
        assert!(
            run.pauses.len() == 3
                && run.checks.iter().filter(|check| check.answer == SimulatedAnswer::Failing).count() > 2
        );
    }
}
