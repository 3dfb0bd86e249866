//! Tests of the scheduler: single steps, an hour with jobs on screen, and random steps. `fairness_tests` checks how
//! long a thousand jobs wait.

use super::*;
use crate::model::job::JobId;
use crate::model::text::CleanText;
use proptest::prelude::*;
use std::collections::{BTreeSet, VecDeque};

fn at(millis: i64) -> Time {
    Time::from_timestamp_millis(1_800_000_000_000 + millis).expect("in range")
}

fn active_job(key: i64, checked: Time) -> Job {
    Job {
        id: JobId::new(&format!("job-{key}")),
        status: Some(Status::Active),
        checked_at: Some(checked),
        ..Job::new(JobKey(key), CleanText::line("t"), at(0))
    }
}

/// Returns a job that is old enough to be checked only once a minute.
fn old_job(key: i64, checked: Time) -> Job {
    Job { started_at: checked - TimeDelta::hours(2), ..active_job(key, checked) }
}

fn keys(jobs: &[JobKey]) -> Vec<i64> {
    jobs.iter().map(|key| key.0).collect()
}

/// Polls `jobs` active jobs for `minutes` minutes; each answer comes 0.4 to 1.6 s after its request. Returns for
/// every request when it started, its job, and when it reached the service.
fn run_with_arrivals(jobs: i64, shown: &[i64], minutes: i64) -> Vec<(Time, JobKey, Time)> {
    let mut scheduler = Scheduler::new(60, 8, 7);
    scheduler.set_on_screen(shown.iter().copied().map(JobKey));
    for key in 0..jobs {
        scheduler.update(&active_job(key, at(-60_000)), at(0), at(0));
    }
    let mut rng = Jitter::new(3);
    let mut now = at(0);
    let mut in_flight: BTreeSet<(Time, JobKey)> = BTreeSet::new();
    let mut all = Vec::new();
    while now < at(minutes * 60_000) {
        for key in scheduler.take_due(now) {
            let took = TimeDelta::milliseconds(400) + rng.random_up_to(TimeDelta::milliseconds(1200));
            in_flight.insert((now + took, key));
            all.push((now, key, now + rng.random_up_to(took)));
        }
        let wake = scheduler.next_wake(now);
        assert!(wake.is_none_or(|wake| wake > now), "everything due now was started");
        let answer = in_flight.first().map(|(at, _)| *at);
        now = [wake, answer].into_iter().flatten().min().expect("something happens next");
        while let Some(&(_, key)) = in_flight.first().filter(|(at, _)| *at <= now) {
            in_flight.pop_first();
            scheduler.update(&active_job(key.0, now), now, now);
            scheduler.finish_request(key, RequestEnd::Answered, now);
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

fn max_requests_in_a_minute(all: &[(Time, JobKey)]) -> usize {
    let within = |start: Time| all.iter().filter(|(at, _)| *at >= start && *at < start + MINUTE).count();
    all.iter().map(|(start, _)| within(*start)).max().unwrap_or(0)
}

/// Returns the longest time between two checks of any of these jobs in the first hour.
fn longest_wait_in_first_hour(all: &[(Time, JobKey)], jobs: std::ops::Range<i64>) -> TimeDelta {
    jobs.map(|key| longest_wait(all, JobKey(key), at(3_600_000))).max().expect("some")
}

#[test]
fn requests_start_at_once_within_the_budget_and_are_spaced_evenly_beyond_it() {
    let at_once = |jobs: i64| {
        let mut scheduler = Scheduler::new(60, 100, 7);
        (0..jobs).for_each(|key| scheduler.update(&old_job(key, at(-90_000)), at(0), at(0)));
        (scheduler.take_due(at(0)).len(), scheduler.take_due(at(999)).len(), scheduler.take_due(at(1000)).len())
    };
    assert_eq!((at_once(60), at_once(61)), ((60, 0, 0), (1, 0, 1)));
}

#[test]
fn requests_that_waited_for_the_budget_are_spaced_evenly() {
    let mut scheduler = Scheduler::new(60, 100, 7);
    (0..59).for_each(|_| scheduler.count_unscheduled(at(0)));
    (0..40).for_each(|key| scheduler.update(&old_job(key, at(-90_000)), at(0), at(0)));
    let due_counts = [0, 30_000, 60_000, 60_999, 61_000].map(|moment| scheduler.take_due(at(moment)).len());
    // One request a second, and after a minute two more that were late.
    assert_eq!(due_counts, [1, 0, 1 + 2, 0, 1]);
}

#[test]
fn the_service_gets_no_more_requests_a_minute_than_the_budget_however_long_they_take() {
    let all = run_with_arrivals(1000, &[1, 2, 3], 30);
    let mut arrivals: Vec<(Time, JobKey)> = all.into_iter().map(|(_, key, arrived)| (arrived, key)).collect();
    arrivals.sort_unstable();
    assert!((55..=60).contains(&max_requests_in_a_minute(&arrivals)), "{}", max_requests_in_a_minute(&arrivals));
}

#[test]
fn jobs_on_screen_get_a_quarter_and_the_others_get_the_rest() {
    let screenful: Vec<i64> = (950..1000).collect();
    let all = run(1000, &screenful, 60);
    assert!(max_requests_in_a_minute(&all) <= 60);
    // The jobs on screen get 15 requests a minute, the others 45. A request counts until a minute after its answer.
    let (seen, others) = (longest_wait_in_first_hour(&all, 950..1000), longest_wait_in_first_hour(&all, 0..950));
    assert!(seen <= TimeDelta::seconds(50 * 62 / 15 + 62), "{seen}");
    assert!(others <= TimeDelta::seconds(950 * 62 / 45 + 62), "{others}");
    assert!(all.len() >= 60 * 58, "{}", all.len());
}

#[test]
fn jobs_not_on_screen_get_the_requests_that_the_jobs_on_screen_do_not_need() {
    let all = run(1000, &[997, 998], 60);
    assert!(max_requests_in_a_minute(&all) <= 60);
    let (seen, others) = (longest_wait_in_first_hour(&all, 997..999), longest_wait_in_first_hour(&all, 0..997));
    // The pause is 30 s. The wait is longer at first, because the earlier checks, which had shorter pauses, still count
    // toward the budget.
    assert!(seen <= TimeDelta::seconds(45), "{seen}");
    // Two jobs that are checked every 30 s leave 55 of the 60 requests. At first they are checked more often.
    assert!(others <= TimeDelta::seconds(997 * 62 / 55 + 62), "{others}");
    assert!(all.len() >= 60 * 57, "{}", all.len());
}

#[test]
fn the_complete_budget_is_used_if_no_job_is_on_screen() {
    let mut scheduler = Scheduler::new(4, 100, 1);
    (0..4).for_each(|key| scheduler.update(&old_job(key, at(-90_000)), at(0), at(0)));
    let in_flight = scheduler.take_due(at(0));
    (4..10).for_each(|key| scheduler.update(&old_job(key, at(-90_000)), at(0), at(0)));
    assert_eq!((in_flight.len(), scheduler.next_wake(at(0))), (4, None), "an answer has to come first");
    in_flight.into_iter().for_each(|key| scheduler.finish_request(key, RequestEnd::Answered, at(700)));
    assert_eq!(
        scheduler.next_wake(at(700)),
        Some(at(60_700)),
        "it may have reached the service just before its answer"
    );
}

#[test]
fn the_job_whose_last_check_is_longest_ago_is_next() {
    let mut scheduler = Scheduler::new(60, 2, 1);
    for (key, checked) in [(1, -70_000), (2, -90_000), (3, -80_000)] {
        scheduler.update(&active_job(key, at(checked)), at(0), at(0));
    }
    assert_eq!(keys(&scheduler.take_due(at(0))), [2, 3]);
    assert_eq!(scheduler.next_wake(at(0)), None, "both slots are taken");
}

#[test]
fn the_pause_of_a_job_does_not_change_which_job_is_next() {
    let mut scheduler = Scheduler::new(60, 1, 1);
    scheduler.set_on_screen([JobKey(3)]);
    // Job 1 was checked 70 s ago and is due every minute. Job 2 was checked 50 s ago and is due every half minute, so
    // it has been due for longer.
    scheduler.update(&old_job(1, at(-70_000)), at(0), at(0));
    let young = Job { started_at: at(-600_000), ..active_job(2, at(-50_000)) };
    scheduler.update(&young, at(0), at(0));
    assert_eq!(keys(&scheduler.take_due(at(0))), [1]);
}

#[test]
fn checks_within_the_budget_start_when_they_are_due() {
    let at_once = |jobs: i64| {
        let mut scheduler = Scheduler::new(60, 100, 7);
        let new = |key| Job { checked_at: None, ..active_job(key, at(0)) };
        (0..jobs).for_each(|key| scheduler.update(&new(key), at(0), at(0)));
        scheduler.take_due(at(2200)).len()
    };
    // Each job needs six checks in its first minute.
    assert_eq!((at_once(10), at_once(11)), (10, 1));
}

#[test]
fn pauses_vary_by_up_to_a_tenth() {
    let mut scheduler = Scheduler::new(1000, 1000, 3);
    for key in 0..200 {
        let mut row = active_job(key, at(0));
        row.started_at = at(-7_200_000);
        scheduler.update(&row, at(0), at(0));
    }
    assert!(scheduler.take_due(at(53_999)).is_empty());
    let early = scheduler.take_due(at(60_000)).len();
    assert!((50..150).contains(&early), "{early}");
    assert_eq!(early + scheduler.take_due(at(66_000)).len(), 200);
}

#[test]
fn a_wall_clock_set_back_does_not_stop_polling() {
    let mut scheduler = Scheduler::new(60, 8, 1);
    // According to the wall clock, the job's last check is in the future.
    scheduler.update(&active_job(1, at(3_600_000)), at(0), at(0));
    assert_eq!(keys(&scheduler.take_due(at(66_000))), [1]);
}

#[test]
fn an_update_that_does_not_change_the_due_time_keeps_the_position() {
    let mut scheduler = Scheduler::new(60, 8, 1);
    let mut row = active_job(1, at(0));
    scheduler.update(&row, at(0), at(0));
    let before = scheduler.next_wake(at(0));
    row.viewed_at = Some(at(500));
    scheduler.update(&row, at(500), at(500));
    assert_eq!(scheduler.next_wake(at(500)), before);
}

#[test]
fn a_job_with_an_unusable_answer_is_checked_again_after_a_slow_pause() {
    let mut scheduler = Scheduler::new(60, 8, 1);
    scheduler.update(&active_job(1, at(-60_000)), at(0), at(0));
    assert_eq!(keys(&scheduler.take_due(at(0))), [1]);
    scheduler.finish_request(JobKey(1), RequestEnd::Answered, at(1000));
    let next = scheduler.next_wake(at(1000)).expect("again");
    assert!((at(55_000)..=at(67_000)).contains(&next));
}

#[test]
fn the_probe_after_two_failures_of_a_job_is_another_job() {
    let mut scheduler = Scheduler::new(60, 1, 1);
    scheduler.update(&active_job(1, at(-90_000)), at(0), at(0));
    scheduler.update(&active_job(2, at(-60_000)), at(0), at(0));
    assert_eq!(keys(&scheduler.take_due(at(0))), [1]);
    scheduler.finish_request(JobKey(1), RequestEnd::Failed, at(100));
    assert_eq!(scheduler.take_probe(at(2000)), Some(JobKey(1)));
    scheduler.finish_request(JobKey(1), RequestEnd::Failed, at(2100));
    assert_eq!(scheduler.take_probe(at(6000)), Some(JobKey(2)));
}

#[test]
fn a_job_that_fails_alone_counts_as_checked() {
    let mut scheduler = Scheduler::new(60, 1, 1);
    (1..=3).for_each(|key| scheduler.update(&old_job(key, at(-90_000 + key)), at(0), at(0)));
    assert_eq!(keys(&scheduler.take_due(at(0))), [1]);
    scheduler.finish_request(JobKey(1), RequestEnd::Failed, at(100));
    assert_eq!(scheduler.take_probe(at(2000)), Some(JobKey(1)));
    scheduler.finish_request(JobKey(1), RequestEnd::Failed, at(2100));
    assert_eq!(scheduler.take_probe(at(6000)), Some(JobKey(2)));
    scheduler.finish_request(JobKey(2), RequestEnd::Answered, at(6100));
    // All three jobs are due. Job 3 comes first, because it was not checked yet. Job 2 counts as checked at 6.0 s, when
    // its request started. Job 1, which failed alone, counts as checked at 6.1 s, when the service answered again.
    let order: Vec<i64> = (0..3)
        .flat_map(|step| {
            let due_jobs = scheduler.take_due(at(100_000 + step * 10_000));
            due_jobs.iter().for_each(|key| scheduler.remove(*key, at(100_000 + step * 10_000)));
            keys(&due_jobs)
        })
        .collect();
    assert_eq!(order, [3, 2, 1]);
}

#[test]
fn a_failure_of_the_service_costs_no_job_its_position() {
    let mut scheduler = Scheduler::new(60, 1, 1);
    (1..=3).for_each(|key| scheduler.update(&old_job(key, at(-90_000 + key)), at(0), at(0)));
    assert_eq!(keys(&scheduler.take_due(at(0))), [1]);
    for (job, now) in [(1, 100), (1, 2100), (2, 6100), (2, 14_100)] {
        scheduler.finish_request(JobKey(job), RequestEnd::Failed, at(now));
        scheduler.take_probe(at(now + 1000));
    }
    scheduler.finish_request(JobKey(3), RequestEnd::Answered, at(30_000));
    let order: Vec<i64> = (0..2)
        .flat_map(|step| {
            let due_jobs = scheduler.take_due(at(30_000 + step));
            due_jobs.iter().for_each(|key| scheduler.remove(*key, at(30_000 + step)));
            keys(&due_jobs)
        })
        .collect();
    assert_eq!(order, [1, 2]);
}

#[test]
fn a_probe_waits_until_the_budget_permits_a_request() {
    let mut scheduler = Scheduler::new(2, 2, 1);
    (1..=2).for_each(|key| scheduler.update(&old_job(key, at(-90_000)), at(0), at(0)));
    assert_eq!(scheduler.next_free(at(0)), at(0));
    scheduler.take_due(at(0)).into_iter().for_each(|key| scheduler.finish_request(key, RequestEnd::Failed, at(100)));
    assert_eq!(scheduler.next_free(at(100)), at(60_100));
}

#[test]
fn a_postponed_request_costs_no_job_its_position() {
    let mut scheduler = Scheduler::new(60, 1, 1);
    scheduler.update(&active_job(1, at(-60_000)), at(0), at(0));
    assert_eq!(keys(&scheduler.take_due(at(0))), [1]);
    scheduler.finish_request(JobKey(1), RequestEnd::Postponed, at(100));
    assert_eq!(keys(&scheduler.take_due(at(100))), [1]);
}

#[test]
fn a_finished_job_is_removed() {
    let mut scheduler = Scheduler::new(60, 8, 1);
    let mut row = active_job(1, at(-60_000));
    scheduler.update(&row, at(0), at(0));
    (row.status, row.finished_at) = (Some(Status::Failed), Some(at(0)));
    scheduler.update(&row, at(0), at(0));
    assert!(scheduler.is_empty());
    assert_eq!((scheduler.take_due(at(0)), scheduler.next_wake(at(0))), (vec![], None));
}

#[test]
fn overdue_jobs_are_spread_in_their_order_when_polling_resumes() {
    let mut scheduler = Scheduler::new(60, 60, 1);
    (0..30).for_each(|key| scheduler.update(&old_job(key, at(-100_000 - key)), at(0), at(0)));
    scheduler.resume(at(0));
    assert!(scheduler.take_due(at(0)).len() < 3);
    let mut order = Vec::new();
    (1..=30).for_each(|step| order.extend(keys(&scheduler.take_due(at(step * 100)))));
    assert!(order.is_sorted_by(|a, b| a > b) && order.len() >= 27, "{order:?}");
}

#[derive(Debug, Clone)]
enum Step {
    Pass(i64),
    Row(i64, i64),
    Finish(i64),
    Answer(RequestEnd),
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
        4 => prop::sample::select(vec![RequestEnd::Answered, RequestEnd::Postponed, RequestEnd::Failed]).prop_map(Step::Answer),
        1 => prop::collection::vec(0_i64..40, 0..6).prop_map(Step::Screen),
        1 => Just(Step::Refresh),
        1 => Just(Step::Resume),
        1 => Just(Step::Probe),
    ];
    prop::collection::vec(step, 1..200)
}

proptest! {
    #[test]
    fn the_limits_hold_and_every_wake_up_has_a_purpose(
        steps in steps(), per_minute in 1_u32..20, slots in 1_usize..6,
    ) {
        let mut scheduler = Scheduler::new(per_minute, slots, 11);
        let mut now = at(0);
        let mut in_flight: VecDeque<JobKey> = VecDeque::new();
        let mut by_schedule: Vec<Time> = Vec::new();
        for step in steps {
            match step {
                Step::Pass(millis) => now += TimeDelta::milliseconds(millis),
                Step::Row(key, age) => scheduler.update(&active_job(key, now - TimeDelta::milliseconds(age)), now, now),
                Step::Finish(key) => {
                    scheduler.remove(JobKey(key), now);
                    in_flight.retain(|in_flight| in_flight.0 != key);
                }
                Step::Answer(how) => {
                    if let Some(key) = in_flight.pop_front() {
                        scheduler.finish_request(key, how, now);
                    }
                }
                Step::Screen(jobs) => scheduler.set_on_screen(jobs.into_iter().map(JobKey)),
                Step::Refresh => scheduler.count_unscheduled(now),
                Step::Resume => scheduler.resume(now),
                Step::Probe => in_flight.extend(scheduler.take_probe(now)),
            }
            let before = in_flight.len();
            let due_jobs = scheduler.take_due(now);
            prop_assert!(due_jobs.is_empty() || before + due_jobs.len() <= slots);
            for key in due_jobs {
                prop_assert!(!in_flight.contains(&key));
                in_flight.push_back(key);
                by_schedule.push(now);
            }
            let minute = by_schedule.iter().filter(|at| **at + MINUTE > now).count();
            prop_assert!(minute <= per_minute as usize);
            let wake = scheduler.next_wake(now);
            prop_assert!(wake.is_none_or(|wake| wake > now), "a wake-up without a request: {wake:?}");
            // With a request in flight, the scheduler may wait for its answer. Otherwise it needs a wake-up.
            if in_flight.is_empty() && !scheduler.is_empty() {
                prop_assert!(wake.is_some());
            }
        }
        in_flight.into_iter().for_each(|key| scheduler.finish_request(key, RequestEnd::Answered, now));
        // After any sequence of steps, one of the next wake-ups leads to a request.
        if let Some(mut wake) = scheduler.next_wake(now) {
            let mut due_count = 0;
            for _ in 0..100 {
                due_count = scheduler.take_due(wake).len();
                if due_count > 0 {
                    break;
                }
                wake = scheduler.next_wake(wake).expect("still something to wait for");
            }
            prop_assert!(due_count > 0);
        }
    }
}
