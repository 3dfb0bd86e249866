//! The calendar, the names of ranges, the export and the list of what is kept.

use crate::screen_fixture::{ScreenFixture, now};
use crate::{SIZES, render, snapshots, text};
use chrono::{NaiveDate, TimeDelta};
use crossterm::event::{Event, KeyCode};
use docdeck::app::{Msg, NewFile};
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::failure::{Failure, FailureKind};
use docdeck::model::load::Timed;
use docdeck::model::period::DateRange;
use docdeck::model::report::{CachedViews, KnownRange};
use docdeck::model::text::CleanText;
use docdeck::model::views::{Count, Counts};
use docdeck::ui::{Depth, Theme, draw};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Modifier;

fn counts(human: i64, ai: i64) -> Counts {
    Counts { human: Count::Known(human), ai: Count::Known(ai), total: Count::Known(human + ai) }
}

fn key(world: &mut ScreenFixture, code: KeyCode) {
    world.tell(Msg::Input(Event::Key(code.into())));
}

fn looking(world: &mut ScreenFixture) {
    world.jobs();
    world.views(50, true);
}

fn day(text: &str) -> NaiveDate {
    text.parse().expect("a date")
}

#[test]
fn the_calendar_before_anything_is_picked() {
    snapshots("calendar", |world| {
        looking(world);
        for (known, human) in [("2026-11-12", 9000), ("2026-11-18", 18_000)] {
            let range = DateRange::last_days(1, day(known));
            let totals = Timed { value: counts(human, 5), as_of: now() };
            world.tell(Msg::News(EngineEvent::Totals { range, totals }));
        }
        world.keys("D");
    });
}

#[test]
fn the_calendar_between_the_two_picked_days() {
    snapshots("calendar_picked", |world| {
        looking(world);
        world.keys("D Enter k k l l");
    });
}

#[test]
fn a_range_that_is_typed_the_wrong_way_round() {
    snapshots("calendar_wrong", |world| {
        looking(world);
        world.keys("D");
        world.paste("2026-11-20 2026-11-01");
    });
}

#[test]
fn a_month_that_is_typed_is_in_sight() {
    snapshots("calendar_typed", |world| {
        looking(world);
        world.keys("D 2 0 2 6 - 0 8");
    });
}

#[test]
fn the_calendar_of_a_comparison() {
    snapshots("calendar_compare", |world| {
        looking(world);
        world.keys("C");
    });
}

#[test]
fn the_calendar_of_a_month_with_days_in_six_weeks() {
    snapshots("calendar_six_weeks", |world| {
        looking(world);
        world.keys("D");
        for _ in 0..3 {
            key(world, KeyCode::PageUp);
        }
        key(world, KeyCode::End);
    });
}

#[test]
fn the_export_of_what_is_shown() {
    snapshots("export", |world| {
        looking(world);
        world.keys("e");
    });
}

#[test]
fn the_export_with_other_choices() {
    snapshots("export_chosen", |world| {
        world.jobs();
        world.views(50, false);
        world.keys("e l j l l j l");
    });
}

#[test]
fn the_question_before_a_file_is_written_over() {
    snapshots("export_question", |world| {
        looking(world);
        world.keys("e Enter");
        let name = "docdeck-views-2026-11-14_2026-11-20-partial.csv".to_owned();
        let what = CleanText::line("12 pages as CSV");
        world.tell(Msg::FileExists(NewFile { name, text: "path".to_owned(), what }));
    });
}

fn kept(ranges: i64) -> CachedViews {
    let known = |n: i64| KnownRange {
        range: DateRange::last_days(7, now().date_naive() - TimeDelta::days(7 * n)),
        rows: 1200,
        complete: n % 4 != 1,
        as_of: now() - TimeDelta::hours(17 * n) - TimeDelta::minutes(3),
        totals: if n == 2 { Counts::default() } else { counts(128_402 - 1400 * n, 61_220 - 700 * n) },
    };
    CachedViews { ranges: (0..ranges).map(known).collect(), bytes: if ranges == 0 { 0 } else { 3_149_000 } }
}

#[test]
fn what_is_kept_before_the_store_has_answered() {
    snapshots("kept_reading", |world| {
        looking(world);
        world.keys("H");
    });
}

#[test]
fn what_is_kept_when_nothing_is() {
    snapshots("kept_empty", |world| {
        looking(world);
        world.keys("H");
        world.tell(Msg::Kept(Ok(kept(0))));
    });
}

#[test]
fn what_is_kept_in_full() {
    snapshots("kept_full", |world| {
        looking(world);
        world.keys("H");
        world.tell(Msg::Kept(Ok(kept(60))));
        world.keys("j j");
    });
}

#[test]
fn what_is_kept_when_it_cannot_be_read() {
    snapshots("kept_failed", |world| {
        looking(world);
        world.keys("H");
        let failure = Failure::new(FailureKind::Store, "The record can't be read: disk I/O error. Run docdeck again.");
        world.tell(Msg::Kept(Err(failure)));
    });
}

#[test]
fn every_range_says_its_days_and_its_name() {
    snapshots("range_stepped", |world| {
        looking(world);
        world.keys("d d d [ [");
    });
}

#[test]
fn every_preset_and_step_prints_its_range_whole_at_every_size() {
    for size in SIZES {
        let mut world = ScreenFixture::new(size);
        looking(&mut world);
        for keys in ["", "d", "d", "d", "[", "]", "d", "[", "[", "]", "]", "d", "d", "[", "]", "d", "d", "d", "[", "["]
        {
            world.keys(keys);
            let range = world.app.views.query().range;
            let shown = text(&render(&world.app, Depth::None));
            let line = shown.lines().nth(1).expect("the range's line");
            assert!(line.contains(&format!("{} … {}", range.from(), range.to())) && line.contains("UTC"), "{line}");
            assert_eq!(line.contains("partial"), range.contains(now().date_naive()), "{line}");
            let name = world.app.views.range_name(now().date_naive()).unwrap_or_else(|| "custom".to_owned());
            assert!(
                size.0 < 80 || line.contains(&format!("[{name}]")) || line.contains(&format!("‹ {name} ›")),
                "{line}"
            );
        }
    }
}

#[test]
fn the_cursor_of_the_calendar_is_marked_by_more_than_colour() {
    let mut world = ScreenFixture::new((80, 24));
    looking(&mut world);
    world.keys("D");
    let buffer = render(&world.app, Depth::None);
    let shown = text(&buffer);
    assert!(shown.contains(">20<") && shown.contains("[14──15─"), "{shown}");
    let reversed = buffer.content.iter().filter(|cell| cell.modifier.contains(Modifier::REVERSED));
    assert_eq!(reversed.map(|cell| cell.symbol()).collect::<String>(), "20");
}

#[test]
fn the_cursor_stands_on_the_day_that_is_chosen() {
    for size in SIZES {
        let mut world = ScreenFixture::new(size);
        world.jobs();
        world.views(50, true);
        world.keys("D h");
        let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).expect("a test terminal");
        let theme = Theme::new(Depth::None);
        terminal.draw(|frame| draw(frame, &world.app, &theme, now())).expect("a frame");
        let at = terminal.backend().cursor_position();
        let cell = |x| terminal.backend().buffer().cell((x, at.y)).expect("inside").symbol();
        assert_eq!([cell(at.x - 1), cell(at.x), cell(at.x + 1), cell(at.x + 2)].concat(), ">19<", "{size:?}");
    }
}
