//! What a key and a frame allocate, beside the ceilings in `ceilings.toml`. Counts do not vary from machine to machine,
//! times do: those are measured by the benches and fail on nothing.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use chrono::{FixedOffset, TimeDelta};
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

const SIZE: (u16, u16) = (160, 48);
const JOBS: i64 = 10_000;
/// Steps that are counted, after some that are not: what is made once and kept is no cost of a step.
const STEPS: u64 = 50;

fn now() -> Time {
    "2026-11-20T14:02:30Z".parse().expect("a time")
}

fn row(key: i64) -> JobRow {
    let begun = now() - TimeDelta::minutes(3 * (JOBS - key) + 60);
    JobRow {
        id: JobId::new(&format!("agent_{key:08}")),
        status: Some(if key % 10 == 0 { Status::Failed } else { Status::Completed }),
        repository: Some(CleanText::line("https://github.com/acme/docs").into()),
        git_ref: Some(CleanText::line(&format!("agent/branch-{key}"))),
        model: Some(CleanText::line("sonnet").into()),
        pr_link: (key % 10 != 0).then(|| CleanText::line(&format!("https://github.com/acme/docs/pull/{key}"))),
        finished_at: Some(begun + TimeDelta::minutes(6)),
        checked_at: Some(now()),
        looked_at: (key % 7 == 0).then(now),
        revision: key,
        ..JobRow::new(JobKey(key), CleanText::line(&format!("Rewrite the guide about topic {key}")), begun)
    }
}

fn app() -> App {
    let scope =
        Scope { base_url: "https://api.example.com".to_owned(), project: "acme".to_owned(), organization: None };
    let utc = FixedOffset::east_opt(0).expect("UTC");
    let start = Start { profile: CleanText::line("acme-docs"), size: SIZE, ..Start::new(scope, utc) };
    let (mut app, _) = App::new(start, now());
    let known = Known { jobs: (1..=JOBS).map(row).collect(), ..Known::default() };
    drop(app.update(Msg::Loaded(Ok(Box::new(known))), now()));
    app
}

fn press(app: &mut App, code: KeyCode) {
    drop(app.update(Msg::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))), now()));
}

/// Down and up in turn, as many as asked for; gives the allocations of keys and of frames.
fn walk(app: &mut App, terminal: &mut Terminal<TestBackend>, theme: &Theme, steps: u64) -> (u64, u64) {
    let (mut keys, mut frames) = (0, 0);
    for step in 0..steps {
        let code = if step.is_multiple_of(2) { KeyCode::Down } else { KeyCode::Up };
        keys += allocation_counter::measure(|| press(app, code)).count_total;
        let drawing = || {
            terminal.draw(|frame| draw(frame, app, theme, now())).expect("drawn");
        };
        frames += allocation_counter::measure(drawing).count_total;
    }
    (keys, frames)
}

fn ceiling(name: &str) -> u64 {
    let all: toml::Table = include_str!("ceilings.toml").parse().expect("TOML");
    let value = all.get("allocations").and_then(|table| table.get(name)).and_then(toml::Value::as_integer);
    value.and_then(|value| u64::try_from(value).ok()).expect("a ceiling")
}

#[test]
fn a_key_and_a_frame_allocate_no_more_than_they_may() {
    let (mut app, theme) = (app(), Theme::new(Depth::Many));
    let mut terminal = Terminal::new(TestBackend::new(SIZE.0, SIZE.1)).expect("a test terminal");
    walk(&mut app, &mut terminal, &theme, 10);
    let (keys, frames) = walk(&mut app, &mut terminal, &theme, STEPS);
    for (name, counted) in [("key", keys.div_ceil(STEPS)), ("frame", frames.div_ceil(STEPS))] {
        println!("allocations of a {name}: {counted}, at most {}", ceiling(name));
        assert!(counted <= ceiling(name), "{counted} allocations a {name}; tests/guard/ceilings.toml allows fewer");
    }
}
