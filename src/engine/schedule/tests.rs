//! Tests of the scheduler: single steps, simulations with more jobs than the budget permits, and random steps.

use super::*;
use crate::model::remote_job::{JobId, Status};
use crate::model::text::CleanText;
use proptest::prelude::*;
use std::collections::BTreeMap;

fn at(millis: i64) -> Time {
    Time::from_timestamp_millis(1_800_000_000_000 + millis).expect("in range")
}

fn active_job(key: i64, checked: Time) -> Job {
    let mut job = Job::new(JobKey(key), CleanText::line("t"), at(0));
    job.id = JobId::new(&format!("job-{key}"));
    job.remote.status = Some(Status::Active);
    job.local.checked_at = Some(checked);
    job
}

/// Returns a job that is old enough to be checked only once a minute.
fn old_job(key: i64, checked: Time) -> Job {
    let mut job = active_job(key, checked);
    job.local.started_at = checked - TimeDelta::hours(2);
    job
}

/// Returns a scheduler with these jobs, which were last checked at the given times (in ms) and are old.
fn scheduler_with(per_minute: u32, in_flight: usize, jobs: &[(i64, i64)]) -> Scheduler {
    let mut scheduler = Scheduler::new(per_minute, in_flight);
    jobs.iter().for_each(|&(key, checked)| scheduler.update(&old_job(key, at(checked)), at(0), at(0)));
    scheduler
}

fn keys(jobs: &[JobKey]) -> Vec<i64> {
    jobs.iter().map(|key| key.0).collect()
}

#[test]
fn the_complete_budget_is_used_if_no_job_is_on_screen() {
    let mut scheduler = Scheduler::new(4, 100);
    (0..4).for_each(|key| scheduler.update(&old_job(key, at(-90_000)), at(0), at(0)));
    let in_flight = scheduler.take_due_jobs(at(0));
    (4..10).for_each(|key| scheduler.update(&old_job(key, at(-90_000)), at(0), at(0)));
    assert_eq!((in_flight.len(), scheduler.next_wake(at(0))), (4, None), "an answer has to come first");
    in_flight.into_iter().for_each(|key| scheduler.finish_request(key, RequestEnd::Responded, at(700)));
    assert_eq!(
        scheduler.next_wake(at(700)),
        Some(at(60_700)),
        "it may have reached the service just before its answer"
    );
}

#[test]
fn pauses_vary_by_up_to_a_tenth() {
    let mut scheduler = Scheduler::new(1000, 1000);
    for key in 0..200 {
        let mut row = active_job(key, at(0));
        row.local.started_at = at(-7_200_000);
        scheduler.update(&row, at(0), at(0));
    }
    assert!(scheduler.take_due_jobs(at(59_999)).is_empty());
    let early = scheduler.take_due_jobs(at(63_000)).len();
    assert!((50..150).contains(&early), "{early}");
    assert_eq!(early + scheduler.take_due_jobs(at(66_000)).len(), 200);
}

#[test]
fn a_wall_clock_set_back_does_not_stop_polling() {
    let mut scheduler = Scheduler::new(60, 8);
    // According to the wall clock, the job's last check is in the future.
    scheduler.update(&active_job(1, at(3_600_000)), at(0), at(0));
    assert_eq!(keys(&scheduler.take_due_jobs(at(66_000))), [1]);
}

#[test]
fn an_update_that_does_not_change_the_due_time_keeps_the_position() {
    let mut scheduler = Scheduler::new(60, 8);
    let mut row = active_job(1, at(0));
    scheduler.update(&row, at(0), at(0));
    let before = scheduler.next_wake(at(0));
    row.local.viewed_at = Some(at(500));
    scheduler.update(&row, at(500), at(500));
    assert_eq!(scheduler.next_wake(at(500)), before);
}

#[test]
fn a_job_with_an_unusable_response_is_checked_again_after_a_slow_pause() {
    let mut scheduler = Scheduler::new(60, 8);
    scheduler.update(&active_job(1, at(-60_000)), at(0), at(0));
    assert_eq!(keys(&scheduler.take_due_jobs(at(0))), [1]);
    scheduler.finish_request(JobKey(1), RequestEnd::Responded, at(1000));
    let next = scheduler.next_wake(at(1000)).expect("again");
    assert!((at(55_000)..=at(67_000)).contains(&next));
}

#[test]
fn the_probe_after_two_failures_of_a_job_is_another_job() {
    let mut scheduler = Scheduler::new(60, 1);
    scheduler.update(&active_job(1, at(-90_000)), at(0), at(0));
    scheduler.update(&active_job(2, at(-60_000)), at(0), at(0));
    assert_eq!(keys(&scheduler.take_due_jobs(at(0))), [1]);
    scheduler.finish_request(JobKey(1), RequestEnd::Failed, at(100));
    assert_eq!(scheduler.take_probe(), Some(JobKey(1)));
    scheduler.finish_request(JobKey(1), RequestEnd::Failed, at(2100));
    assert_eq!(scheduler.take_probe(), Some(JobKey(2)));
}

#[test]
fn a_probe_waits_until_the_budget_permits_a_request() {
    let mut scheduler = Scheduler::new(2, 2);
    (1..=2).for_each(|key| scheduler.update(&old_job(key, at(-90_000)), at(0), at(0)));
    assert_eq!(scheduler.next_probe(at(0)), at(0));
    scheduler
        .take_due_jobs(at(0))
        .into_iter()
        .for_each(|key| scheduler.finish_request(key, RequestEnd::Failed, at(100)));
    assert_eq!(scheduler.next_probe(at(100)), at(60_100));
}

#[test]
fn a_postponed_request_costs_no_job_its_position() {
    let mut scheduler = Scheduler::new(60, 1);
    scheduler.update(&active_job(1, at(-60_000)), at(0), at(0));
    assert_eq!(keys(&scheduler.take_due_jobs(at(0))), [1]);
    scheduler.finish_request(JobKey(1), RequestEnd::Postponed, at(100));
    assert_eq!(keys(&scheduler.take_due_jobs(at(100))), [1]);
}

#[test]
fn a_finished_job_is_removed() {
    let mut scheduler = Scheduler::new(60, 8);
    let mut row = active_job(1, at(-60_000));
    scheduler.update(&row, at(0), at(0));
    (row.remote.status, row.local.finished_at) = (Some(Status::Failed), Some(at(0)));
    scheduler.update(&row, at(0), at(0));
    assert!(scheduler.is_empty());
    assert_eq!((scheduler.take_due_jobs(at(0)), scheduler.next_wake(at(0))), (vec![], None));
}

#[test]
fn overdue_jobs_are_spread_in_their_order_when_polling_resumes() {
    let mut scheduler = Scheduler::new(1000, 1000);
    (0..1000).for_each(|key| scheduler.update(&old_job(key, at(-100_000 - key)), at(0), at(0)));
    scheduler.resume(at(0));
    let mut order = keys(&scheduler.take_due_jobs(at(0)));
    assert!(order.len() <= 1, "{order:?}");
    for tenth in 1..=30 {
        let due = keys(&scheduler.take_due_jobs(at(tenth * 100)));
        assert!(due.len() <= 35, "{}", due.len());
        order.extend(due);
    }
    assert!(order.iter().copied().eq((0..1000).rev()), "{order:?}");
}

#[test]
fn the_job_that_has_been_due_for_longest_is_next() {
    let mut scheduler = scheduler_with(60, 2, &[(1, -70_000), (2, -90_000), (3, -80_000)]);
    assert_eq!(keys(&scheduler.take_due_jobs(at(0))), [2, 3]);
    assert_eq!(scheduler.next_wake(at(0)), None, "both slots are taken");
}

#[test]
fn a_job_on_screen_comes_before_jobs_that_have_been_due_for_longer() {
    let mut scheduler = scheduler_with(60, 1, &[(1, -90_000), (2, -80_000), (3, -70_000)]);
    scheduler.set_on_screen([JobKey(3)]);
    assert_eq!(keys(&scheduler.take_due_jobs(at(0))), [3]);
}

#[test]
fn a_quarter_of_the_budget_is_only_for_the_jobs_on_screen() {
    let jobs: Vec<(i64, i64)> = (0..200).map(|key| (key, -90_000 - key)).collect();
    let mut scheduler = scheduler_with(60, 1000, &jobs);
    scheduler.set_on_screen([JobKey(500)]);
    assert_eq!(scheduler.take_due_jobs(at(0)).len(), 45);
    scheduler.update(&old_job(500, at(-70_000)), at(1), at(1));
    assert_eq!(keys(&scheduler.take_due_jobs(at(1))), [500]);
    // The other three quarters go to the jobs that have been due for longer, on screen or not.
    scheduler.set_on_screen((500..600).map(JobKey));
    (501..600).for_each(|key| scheduler.update(&old_job(key, at(-70_000)), at(2), at(2)));
    assert_eq!(scheduler.take_due_jobs(at(2)).len(), 14);
}

#[test]
fn a_job_that_fails_alone_waits_for_the_others() {
    let mut scheduler = scheduler_with(60, 1, &[(1, -90_000), (2, -80_000)]);
    for now in [0, 2000] {
        assert_eq!(scheduler.take_probe(), Some(JobKey(1)));
        scheduler.finish_request(JobKey(1), RequestEnd::Failed, at(now));
    }
    assert_eq!(scheduler.take_probe(), Some(JobKey(2)));
    scheduler.finish_request(JobKey(2), RequestEnd::Responded, at(6000));
    scheduler.resume(at(6000));
    assert_eq!(scheduler.take_due_jobs(at(50_000)), []);
    // The other job may be due as well by then, in random order.
    let mut due = keys(&scheduler.take_due_jobs(at(68_000)));
    due.iter().for_each(|key| scheduler.finish_request(JobKey(*key), RequestEnd::Responded, at(69_000)));
    due.extend(keys(&scheduler.take_due_jobs(at(75_000))));
    assert!(due.contains(&1), "{due:?}");
}

#[test]
fn after_an_outage_all_jobs_that_failed_are_checked_soon() {
    let mut scheduler = scheduler_with(60, 1, &[(1, -90_000), (2, -80_000), (3, -70_000)]);
    for (job, now) in [(1, 0), (1, 2000), (2, 6000), (2, 14_000)] {
        assert_eq!(scheduler.take_probe(), Some(JobKey(job)));
        scheduler.finish_request(JobKey(job), RequestEnd::Failed, at(now));
    }
    assert_eq!(scheduler.take_probe(), Some(JobKey(3)));
    scheduler.finish_request(JobKey(3), RequestEnd::Responded, at(30_000));
    scheduler.resume(at(30_000));
    let first = keys(&scheduler.take_due_jobs(at(33_000)));
    first.iter().for_each(|key| scheduler.finish_request(JobKey(*key), RequestEnd::Responded, at(33_000)));
    let mut checked = [first, keys(&scheduler.take_due_jobs(at(33_000)))].concat();
    checked.sort_unstable();
    assert_eq!(checked, [1, 2]);
}

#[test]
fn a_job_outside_the_schedule_can_be_the_probe() {
    let mut scheduler = Scheduler::new(60, 8);
    scheduler.add_due_job(JobKey(1), at(0));
    assert_eq!(scheduler.take_probe(), Some(JobKey(1)));
    assert_eq!(scheduler.next_wake(at(0)), None, "it is in flight");
}

/// A check in a simulation.
#[derive(Debug, Clone, Copy)]
struct StatusCheck {
    key: i64,
    /// When the job became due.
    due: Time,
    start: Time,
    response: Time,
}

/// Polls `jobs` active jobs for ten minutes, of which the first `jobs_on_screen` are on screen. A response takes
/// 0.1 to 1.1 s.
fn simulate(jobs: i64, jobs_on_screen: i64, per_minute: u32, in_flight: usize) -> Vec<StatusCheck> {
    let mut scheduler = Scheduler::new(per_minute, in_flight);
    scheduler.set_on_screen((0..jobs_on_screen).map(JobKey));
    (0..jobs).for_each(|key| scheduler.update(&active_job(key, at(-60_000)), at(0), at(0)));
    let mut now = at(0);
    let mut in_flight: BTreeMap<(Time, i64), StatusCheck> = BTreeMap::new();
    let mut checks = Vec::new();
    while now < at(600_000) {
        let due: HashMap<JobKey, Time> = scheduler.jobs.iter().map(|(key, job)| (*key, job.due)).collect();
        for key in scheduler.take_due_jobs(now) {
            let response = now + TimeDelta::milliseconds(100) + random_below(TimeDelta::seconds(1));
            let check = StatusCheck { key: key.0, due: due[&key], start: now, response };
            in_flight.insert((response, key.0), check);
            checks.push(check);
        }
        let wake = scheduler.next_wake(now);
        assert!(wake.is_none_or(|wake| wake > now), "everything due now was started");
        let response = in_flight.first_key_value().map(|((at, _), _)| *at);
        now = wake.into_iter().chain(response).min().expect("something happens next");
        while let Some(finished) = in_flight.first_entry().filter(|entry| entry.key().0 <= now) {
            let key = finished.remove().key;
            scheduler.update(&active_job(key, now), now, now);
            scheduler.finish_request(JobKey(key), RequestEnd::Responded, now);
        }
    }
    checks
}

#[derive(Debug, Clone)]
enum Step {
    Advance(i64),
    UpdateJob(i64, i64),
    Finish(i64),
    Response(RequestEnd),
    SetOnScreen(Vec<i64>),
    Refresh,
    Resume,
    Probe,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let ends = vec![RequestEnd::Responded, RequestEnd::Postponed, RequestEnd::Failed];
    let step = prop_oneof![
        4 => (0_i64..20_000).prop_map(Step::Advance),
        4 => (0_i64..40, 0_i64..90_000).prop_map(|(key, age)| Step::UpdateJob(key, age)),
        1 => (0_i64..40).prop_map(Step::Finish),
        4 => prop::sample::select(ends).prop_map(Step::Response),
        1 => prop::collection::vec(0_i64..40, 0..6).prop_map(Step::SetOnScreen),
        1 => Just(Step::Refresh),
        1 => Just(Step::Resume),
        1 => Just(Step::Probe),
    ];
    prop::collection::vec(step, 1..200)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10, ..ProptestConfig::default() })]

    /// A request reaches the service at some time between its start and its response. Whichever time that is, the
    /// service gets no more requests in a minute than the budget.
    #[test]
    fn the_budget_is_never_exceeded(
        jobs in 1_i64..200, jobs_on_screen in 0_i64..60, per_minute in 1_u32..80, slots in 1_usize..9,
    ) {
        let checks = simulate(jobs, jobs_on_screen, per_minute, slots);
        for check in &checks {
            let started_by_then = checks.iter().filter(|other| other.start <= check.start);
            let is_open = |other: &&StatusCheck| other.response + TOKEN_RETURN_DELAY > check.start;
            let in_last_minute = started_by_then.filter(is_open).count();
            prop_assert!(in_last_minute <= per_minute as usize, "{in_last_minute} of {per_minute}");
        }
    }

    /// Each other job is checked at most once before a job that is due, however many jobs are on screen.
    #[test]
    fn no_job_starves(jobs in 1_i64..200, jobs_on_screen in 0_i64..200, per_minute in 4_u32..80, slots in 1_usize..9) {
        let checks = simulate(jobs, jobs_on_screen, per_minute, slots);
        let common = i64::from(per_minute - per_minute / 4);
        let minutes = (jobs + common - 1) / common;
        // A token returns a minute after a response, which takes up to 1.1 s.
        let longest = TimeDelta::milliseconds(61_100) * i32::try_from(minutes).expect("small")
            + TimeDelta::milliseconds(1100) * i32::try_from(jobs).expect("small") / i32::try_from(slots).expect("small");
        for key in 0..jobs {
            let times = checks.iter().filter(|check| check.key == key);
            for check in times.clone() {
                prop_assert!(check.start - check.due <= longest, "{check:?} waited for more than {longest}");
            }
            let last = times.map(|check| check.start).max().unwrap_or(at(0));
            let end = at(600_000) - longest - SLOW_INTERVAL * 2;
            prop_assert!(last >= end, "job {key} was last checked at {last}");
        }
    }

    /// If a quarter of the budget is enough for the jobs on screen, they wait for nothing but a free slot.
    #[test]
    fn jobs_on_screen_come_first(jobs in 1_i64..300, jobs_on_screen in 1_i64..6) {
        // At first, a job on screen is checked up to six times a minute.
        for check in simulate(jobs, jobs_on_screen, 160, 8).iter().filter(|check| check.key < jobs_on_screen) {
            let waited = check.start - check.due.max(at(0));
            prop_assert!(waited <= TimeDelta::milliseconds(1100), "{check:?} waited for {waited}");
        }
    }
}

proptest! {
    #[test]
    fn the_limits_hold_and_every_wake_up_has_a_purpose(
        steps in steps(), per_minute in 1_u32..20, slots in 1_usize..6,
    ) {
        let mut scheduler = Scheduler::new(per_minute, slots);
        let mut now = at(0);
        let mut in_flight: Vec<JobKey> = Vec::new();
        // When the requests of the last minute ended, whether they were scheduled or not.
        let mut ends: Vec<Time> = Vec::new();
        for step in steps {
            match step {
                Step::Advance(millis) => now += TimeDelta::milliseconds(millis),
                Step::UpdateJob(key, age) => scheduler.update(&active_job(key, now - TimeDelta::milliseconds(age)), now, now),
                Step::Finish(key) => {
                    scheduler.remove(JobKey(key), now);
                    ends.extend(in_flight.extract_if(.., |other| other.0 == key).map(|_| now));
                }
                Step::Response(end) => {
                    if !in_flight.is_empty() {
                        scheduler.finish_request(in_flight.remove(0), end, now);
                        ends.push(now);
                    }
                }
                Step::SetOnScreen(jobs) => scheduler.set_on_screen(jobs.into_iter().map(JobKey)),
                Step::Refresh => {
                    scheduler.count_unscheduled_request(now);
                    ends.push(now);
                }
                Step::Resume => scheduler.resume(now),
                Step::Probe => in_flight.extend(scheduler.take_probe()),
            }
            let due_jobs = scheduler.take_due_jobs(now);
            prop_assert!(due_jobs.iter().all(|key| !in_flight.contains(key)));
            in_flight.extend(&due_jobs);
            let in_minute = in_flight.len() + ends.iter().filter(|at| **at + TOKEN_RETURN_DELAY > now).count();
            prop_assert!(due_jobs.is_empty() || (in_flight.len() <= slots && in_minute <= per_minute as usize));
            let wake = scheduler.next_wake(now);
            prop_assert!(wake.is_none_or(|wake| wake > now), "a wake-up without a request: {wake:?}");
            // With a request in flight, the scheduler may wait for its response. Otherwise it needs a wake-up.
            prop_assert!(wake.is_some() || !in_flight.is_empty() || scheduler.is_empty());
        }
        in_flight.into_iter().for_each(|key| scheduler.finish_request(key, RequestEnd::Responded, now));
        if let Some(wake) = scheduler.next_wake(now) {
            prop_assert!(!scheduler.take_due_jobs(wake).is_empty());
        }
    }
}
