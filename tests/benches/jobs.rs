//! How long a key on the jobs screen takes and how long a frame of 160×48, with 10,000 and 100,000 jobs: both are to be the
//! same for any number of them. It measures and fails on nothing; 0.3 ms for a key with its frame are what is aimed at.
//!
//! `cargo bench --bench jobs`

#![expect(clippy::expect_used, reason = "a bench that can't build its world should fail")]

use chrono::{FixedOffset, TimeDelta};
use criterion::{BatchSize, BenchmarkId, Criterion};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use docdeck::app::{App, Known, Msg, Start};
use docdeck::model::Time;
use docdeck::model::endpoint::Scope;
use docdeck::model::job::{JobId, Status};
use docdeck::model::row::{JobKey, JobRow};
use docdeck::model::text::CleanText;
use docdeck::ui::{Depth, Theme, draw};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::sync::Arc;
use std::time::Duration;

const SIZE: (u16, u16) = (160, 48);
const MANY: [i64; 2] = [10_000, 100_000];

fn main() {
    let mut criterion = Criterion::default()
        .warm_up_time(Duration::from_millis(500))
        .measurement_time(Duration::from_secs(2))
        .sample_size(50)
        .without_plots()
        .configure_from_args();
    for measure in [key, change, frame, key_and_frame, all_rows] {
        measure(&mut criterion);
    }
    criterion.final_summary();
}

fn now() -> Time {
    "2026-11-20T14:02:30Z".parse().unwrap_or_default()
}

/// Rows as the store gives them: what they have in common is there once.
fn rows(jobs: i64) -> Vec<JobRow> {
    let repository = Arc::new(CleanText::line("https://github.com/acme/docs"));
    let model = Arc::new(CleanText::line("sonnet"));
    let row = |key: i64| {
        let begun = now() - TimeDelta::minutes(3 * (jobs - key) + 60);
        JobRow {
            id: JobId::new(&format!("agent_{key:08}")),
            status: Some(if key % 10 == 0 { Status::Failed } else { Status::Completed }),
            repository: Some(Arc::clone(&repository)),
            git_ref: Some(CleanText::line(&format!("agent/branch-{key}"))),
            model: Some(Arc::clone(&model)),
            pr_link: (key % 10 != 0).then(|| CleanText::line(&format!("https://github.com/acme/docs/pull/{key}"))),
            finished_at: Some(begun + TimeDelta::minutes(6)),
            checked_at: Some(now()),
            looked_at: (key % 7 == 0).then(now),
            revision: key,
            ..JobRow::new(JobKey(key), CleanText::line(&format!("Rewrite the guide about topic {key}")), begun)
        }
    };
    (1..=jobs).map(row).collect()
}

fn empty() -> App {
    let scope =
        Scope { base_url: "https://api.example.com".to_owned(), project: "acme".to_owned(), organization: None };
    let utc = FixedOffset::east_opt(0).expect("UTC");
    App::new(Start { profile: CleanText::line("acme-docs"), size: SIZE, ..Start::new(scope, utc) }, now()).0
}

fn take_in(app: &mut App, jobs: Vec<JobRow>) {
    drop(app.update(Msg::Loaded(Ok(Box::new(Known { jobs, ..Known::default() }))), now()));
}

fn app_of(jobs: i64) -> App {
    let mut app = empty();
    take_in(&mut app, rows(jobs));
    app
}

fn press(app: &mut App, code: KeyCode) {
    drop(app.update(Msg::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))), now()));
}

fn terminal() -> Terminal<TestBackend> {
    Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).expect("a test terminal")
}

/// Down, the key that is pressed most.
fn key(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("key");
    for jobs in MANY {
        let mut app = app_of(jobs);
        group.bench_function(BenchmarkId::from_parameter(jobs), |bencher| {
            bencher.iter(|| press(&mut app, KeyCode::Down));
        });
    }
}

/// One job of them all has changed.
fn change(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("change of a job");
    for jobs in MANY {
        let mut app = app_of(jobs);
        let mut changed = rows(10).pop().expect("a row");
        group.bench_function(BenchmarkId::from_parameter(jobs), |bencher| {
            bencher.iter(|| {
                changed.revision += jobs;
                changed.gone = !changed.gone;
                drop(app.update(Msg::JobsChanged(vec![changed.clone()]), now()));
            });
        });
    }
}

fn frame(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("frame");
    for jobs in MANY {
        let app = app_of(jobs);
        let (mut terminal, theme) = (terminal(), Theme::new(Depth::Many));
        group.bench_function(BenchmarkId::from_parameter(jobs), |bencher| {
            bencher.iter(|| terminal.draw(|frame| draw(frame, &app, &theme, now())).map(|_| ()));
        });
    }
}

/// What stands against the goal: a key and its frame.
fn key_and_frame(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("key and frame");
    for jobs in MANY {
        let mut app = app_of(jobs);
        let (mut terminal, theme) = (terminal(), Theme::new(Depth::Many));
        group.bench_function(BenchmarkId::from_parameter(jobs), |bencher| {
            bencher.iter(|| {
                press(&mut app, KeyCode::Down);
                terminal.draw(|frame| draw(frame, &app, &theme, now())).map(|_| ())
            });
        });
    }
}

/// All rows come: they are filtered, sorted and counted.
fn all_rows(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("all rows");
    group.sample_size(10);
    for jobs in MANY {
        group.bench_function(BenchmarkId::from_parameter(jobs), |bencher| {
            let inputs = || (empty(), rows(jobs));
            let taken = |(mut app, rows): (App, Vec<JobRow>)| {
                take_in(&mut app, rows);
                app
            };
            bencher.iter_batched(inputs, taken, BatchSize::PerIteration);
        });
    }
}
