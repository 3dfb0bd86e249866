//! Measures the jobs screen with 10,000 and 100,000 jobs at 160×48 with the details on the right: the time of a key
//! press and the frame after it, without a real terminal. The 10,000 jobs are measured twice: without and with the
//! states of their pull requests. Goals: 0.3 ms to move the selection, whatever the number of jobs; 10 ms to filter or
//! sort all rows. Also measures a change of one job, a search in prompts, and loading all rows. Takes about a minute.
//!
//! `cargo bench --bench jobs`

#![expect(clippy::expect_used, reason = "a benchmark that can't be set up should fail")]

mod app_fixture;
mod timing;

use app_fixture::{AppFixture, finished_jobs, key_press, now, with_pull_requests};
use chrono::TimeDelta;
use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, BenchmarkId, Criterion};
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::job::{Job, JobKey};
use docdeck::model::prompt::{Delivery, EventKind, JobEvent, Prompt, PromptId, PromptKind, Thread};
use docdeck::model::remote_job::Status;
use docdeck::tui::{JobsMsg, Msg};
use std::fmt;
use std::time::Instant;
use timing::{bench_group, bench_timed, short_criterion};

/// The jobs to measure.
#[derive(Clone, Copy)]
struct JobSet {
    count: i64,
    has_pull_requests: bool,
}

impl JobSet {
    const ALL: [Self; 3] = [
        Self { count: 10_000, has_pull_requests: false },
        Self { count: 10_000, has_pull_requests: true },
        Self { count: 100_000, has_pull_requests: false },
    ];

    fn rows(self) -> Vec<Job> {
        let jobs = finished_jobs(self.count);
        if self.has_pull_requests { with_pull_requests(jobs) } else { jobs }
    }
}

impl fmt::Display for JobSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.count, if self.has_pull_requests { " with pull requests" } else { "" })
    }
}

/// A key press to measure: its description, the keys pressed before it, the measured key, and the keys pressed after it
/// to restore the state.
type Step = (&'static str, &'static str, &'static str, &'static str);

const STEPS: [Step; 20] = [
    ("down", "", "Down", ""),
    ("up", "G", "Up", ""),
    ("page down", "g", "PgDn", ""),
    ("page up", "G", "PgUp", ""),
    ("to the first", "G", "g", ""),
    ("to the last", "g", "G", ""),
    ("filter, 1st letter, all pass", "/", "g", "Esc"),
    ("filter, 3rd letter, all pass", "/ g u", "i", "Esc"),
    ("filter, 4th letter, few pass", "/ 9 9 9", "9", "Esc"),
    ("filter, 1st letter, none pass", "/", "q", "Esc"),
    ("filter, 2nd word", "/ g u i d e Space", "7", "Esc"),
    ("filter, a letter deleted", "/ g u i", "Backspace", "Esc"),
    ("filter cleared", "/ g u", "Esc", ""),
    ("sort by age", "", "s", "s s s"),
    ("sort by last change", "s", "s", "s s"),
    ("sort by status", "s s", "s", "s"),
    ("reverse", "", "S", "S"),
    ("mark", "g", "v", "Esc"),
    // The first Esc doesn't clear several marks; the second one does.
    ("mark all", "g v G", "V", "Esc Esc"),
    ("down, all marked", "g v G V g", "Down", "Esc Esc"),
];

fn main() {
    let mut criterion = short_criterion();
    for jobs in JobSet::ALL {
        let mut fixture = AppFixture::with_jobs(jobs.rows());
        print_allocations(jobs, &mut fixture);
        bench_keys(&mut criterion, jobs, &mut fixture);
        bench_unchanged_frame(&mut criterion, jobs, &mut fixture);
        bench_job_change(&mut criterion, jobs, &mut fixture);
        bench_prompt_search(&mut criterion, jobs, &mut fixture);
        fixture.thread = Some(long_thread());
        let mut group = bench_group(&mut criterion, "key and frame with a thread");
        bench_step(&mut group, jobs, &mut fixture, ("down", "", "Down", ""));
        drop(group);
        bench_load(&mut criterion, jobs);
    }
    criterion.final_summary();
}

/// Prints the allocations of a key press that moves the selection, and of the frame after it.
fn print_allocations(jobs: JobSet, fixture: &mut AppFixture) {
    fixture.press("g Down Down");
    let key = key_press("Down");
    let key = allocation_counter::measure(|| fixture.send(key)).count_total;
    let frame = allocation_counter::measure(|| fixture.draw()).count_total;
    println!("{jobs} jobs: {key} allocations per key press, {frame} per frame");
}

fn bench_keys(criterion: &mut Criterion, jobs: JobSet, fixture: &mut AppFixture) {
    let mut group = bench_group(criterion, "key and frame");
    for step in STEPS {
        fixture.press("g");
        bench_step(&mut group, jobs, fixture, step);
    }
}

fn bench_step(group: &mut BenchmarkGroup<'_, WallTime>, jobs: JobSet, fixture: &mut AppFixture, step: Step) {
    let (what, before, key, after) = step;
    bench_timed(group, BenchmarkId::new(what, jobs), || {
        let elapsed = fixture.time_key(before, key);
        fixture.press(after);
        elapsed
    });
}

/// Measures drawing a frame when nothing has changed.
fn bench_unchanged_frame(criterion: &mut Criterion, jobs: JobSet, fixture: &mut AppFixture) {
    let mut group = bench_group(criterion, "frame");
    bench_timed(&mut group, BenchmarkId::from_parameter(jobs), || {
        let started = Instant::now();
        fixture.draw();
        started.elapsed()
    });
}

/// Measures a change that moves a job far down in the list to another group, and the frame after it.
fn bench_job_change(criterion: &mut Criterion, jobs: JobSet, fixture: &mut AppFixture) {
    let mut group = bench_group(criterion, "change of a job and frame");
    let mut changed = finished_jobs(10).pop().expect("a row");
    bench_timed(&mut group, BenchmarkId::from_parameter(jobs), || {
        changed.revision += jobs.count;
        changed.local.gone = !changed.local.gone;
        let msg = Msg::Engine(EngineEvent::Job(Box::new(changed.clone())));
        let started = Instant::now();
        fixture.send(msg);
        fixture.draw();
        started.elapsed()
    });
}

/// Measures a filter word that occurs in the prompts of half of the jobs, but in no row of the list.
fn bench_prompt_search(criterion: &mut Criterion, jobs: JobSet, fixture: &mut AppFixture) {
    let mut group = bench_group(criterion, "word found in prompts and frame");
    bench_timed(&mut group, BenchmarkId::from_parameter(jobs), || {
        fixture.press("/ q q");
        let msg = Msg::Jobs(JobsMsg::JobsFoundByPrompt {
            text: "qq".to_owned(),
            jobs: Ok((1..=jobs.count / 2).map(JobKey).collect()),
        });
        fixture.draw();
        let started = Instant::now();
        fixture.send(msg);
        fixture.draw();
        let elapsed = started.elapsed();
        assert!(fixture.app.jobs.matching_count() > 0, "the filter matches them");
        fixture.press("Esc");
        elapsed
    });
}

/// Measures loading, sorting and counting all rows.
fn bench_load(criterion: &mut Criterion, jobs: JobSet) {
    let mut group = bench_group(criterion, "all rows");
    bench_timed(&mut group, BenchmarkId::from_parameter(jobs), || {
        let rows = jobs.rows();
        let started = Instant::now();
        let fixture = AppFixture::with_jobs(rows);
        let elapsed = started.elapsed();
        drop(fixture);
        elapsed
    });
}

/// Returns a thread with a long prompt, a follow-up, and status changes.
fn long_thread() -> Thread {
    let at = |minutes: i64| now() - TimeDelta::minutes(minutes);
    let prompt = |id: i64, kind: PromptKind, text: String, minutes: i64| Prompt {
        id: PromptId(id),
        kind,
        text,
        delivery: Delivery::Accepted,
        written_at: at(minutes),
        sent_at: Some(at(minutes)),
        state_at: Some(at(minutes)),
        author: None,
    };
    let long = "Go through every page under /api, follow each link, and fix or remove the ones that lead nowhere.\n";
    let done = EventKind::Status { from: Some(Status::Active), to: Status::Completed };
    Thread {
        prompts: vec![
            prompt(1, PromptKind::Create, long.repeat(20), 60),
            prompt(2, PromptKind::FollowUp, "Also check the redirects".to_owned(), 20),
        ],
        events: vec![JobEvent { at: at(54), kind: done.clone() }, JobEvent { at: at(14), kind: done }],
    }
}
