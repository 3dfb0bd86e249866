//! How long a key on the jobs screen takes and how long a frame of 160×48, with 10,000 and 100,000 jobs: both are to be the
//! same for any number of them. It measures and fails on nothing; 0.3 ms for a key with its frame are what is aimed at.
//!
//! `cargo bench --bench jobs`

#![expect(clippy::expect_used, reason = "a bench that can't build its world should fail")]

use chrono::{FixedOffset, TimeDelta};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use divan::{AllocProfiler, Bencher};
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

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

const SIZE: (u16, u16) = (160, 48);
const MANY: [i64; 2] = [10_000, 100_000];

fn main() {
    divan::main();
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

/// Down, the key that is pressed most.
#[divan::bench(args = MANY)]
fn key(bencher: Bencher<'_, '_>, jobs: i64) {
    let mut app = app_of(jobs);
    bencher.bench_local(|| press(&mut app, KeyCode::Down));
}

/// One job of them all has changed.
#[divan::bench(args = MANY)]
fn change(bencher: Bencher<'_, '_>, jobs: i64) {
    let mut app = app_of(jobs);
    let mut changed = rows(10).pop().expect("a row");
    bencher.bench_local(|| {
        changed.revision += jobs;
        changed.gone = !changed.gone;
        drop(app.update(Msg::JobsChanged(vec![changed.clone()]), now()));
    });
}

#[divan::bench(args = MANY)]
fn frame(bencher: Bencher<'_, '_>, jobs: i64) {
    let app = app_of(jobs);
    let mut terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).expect("a test terminal");
    let theme = Theme::new(Depth::Many);
    bencher.bench_local(|| terminal.draw(|frame| draw(frame, &app, &theme, now())).map(|_| ()));
}

/// What stands against the goal: a key and its frame.
#[divan::bench(args = MANY)]
fn key_and_frame(bencher: Bencher<'_, '_>, jobs: i64) {
    let mut app = app_of(jobs);
    let mut terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).expect("a test terminal");
    let theme = Theme::new(Depth::Many);
    bencher.bench_local(|| {
        press(&mut app, KeyCode::Down);
        terminal.draw(|frame| draw(frame, &app, &theme, now())).map(|_| ())
    });
}

/// All rows come: they are filtered, sorted and counted.
#[divan::bench(args = MANY, sample_count = 10, sample_size = 1)]
fn all_rows(bencher: Bencher<'_, '_>, jobs: i64) {
    bencher.with_inputs(|| (empty(), rows(jobs))).bench_local_values(|(mut app, rows)| {
        take_in(&mut app, rows);
        app
    });
}
