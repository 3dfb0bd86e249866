//! The calendar, the names of ranges, the export dialog and the list of cached ranges.

use crate::screen_fixture::{ScreenFixture, now};
use crate::{LARGE, SIZES, SMALL, render, render_with_theme, snapshots, style_of, text};
use chrono::{NaiveDate, TimeDelta};
use crossterm::event::{Event, KeyCode};
use docdeck::config::themes;
use docdeck::model::analytics::AnalyticsKind;
use docdeck::model::colors::Background;
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::failure::{Failure, FailureKind};
use docdeck::model::load::Timed;
use docdeck::model::period::DateRange;
use docdeck::model::report::{CacheOverview, CachedPages, CachedRange};
use docdeck::model::text::CleanText;
use docdeck::model::views::{Count, Counts};
use docdeck::tui::draw::{ColorDepth, Theme, draw};
use docdeck::tui::{Msg, NewFile, ViewsMsg};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::style::Modifier;

fn counts(human: i64, ai: i64) -> Counts {
    Counts::new(Count::Known(human), Count::Known(ai), Count::Known(human + ai))
}

fn press_key(fixture: &mut ScreenFixture, code: KeyCode) {
    fixture.handle(Msg::Input(Event::Key(code.into())));
}

fn open_views_screen(fixture: &mut ScreenFixture) {
    fixture.load_jobs();
    fixture.load_views(50, true);
}

fn day(text: &str) -> NaiveDate {
    text.parse().expect("a date")
}

#[test]
fn the_calendar_before_a_day_is_picked() {
    snapshots("calendar", &[SMALL], &["12· 13 [14", "Fri 20 Nov 2026,"], |fixture| {
        open_views_screen(fixture);
        for (known, human) in [("2026-11-12", 9000), ("2026-11-18", 18_000)] {
            let range = DateRange::last_days(1, day(known));
            let totals = Timed { value: counts(human, 5), as_of: now() };
            fixture.handle(Msg::Engine(EngineEvent::Totals { range, totals }));
        }
        fixture.press_keys("D");
    });
}

#[test]
fn the_calendar_after_the_first_day_is_picked() {
    snapshots("calendar_picked", &[], &["type: 2026-11-01 2026-11-20 ·", "November 2026", "Enter select"], |fixture| {
        open_views_screen(fixture);
        fixture.press_keys("D Enter k k l l");
    });
}

#[test]
fn a_typed_range_that_ends_before_it_starts() {
    snapshots("calendar_invalid", &[], &["2026-11-20 comes after 2026-11-01;"], |fixture| {
        open_views_screen(fixture);
        fixture.press_keys("D");
        fixture.paste("2026-11-20 2026-11-01");
    });
}

#[test]
fn the_calendar_shows_the_month_that_is_typed() {
    snapshots("calendar_typed", &[], &["type: 2026-08", "Tab calendar", "August 2026"], |fixture| {
        open_views_screen(fixture);
        fixture.press_keys("D 2 0 2 6 - 0 8");
    });
}

#[test]
fn the_calendar_of_a_comparison() {
    snapshots("calendar_compare", &[], &["Compare with", "12 >13<[14"], |fixture| {
        open_views_screen(fixture);
        fixture.press_keys("C");
    });
}

#[test]
fn the_calendar_of_a_month_with_six_weeks() {
    snapshots(
        "calendar_six_weeks",
        &[],
        &["August 2026", "type: 2026-11-01 2026-11-20 ·", "Enter select"],
        |fixture| {
            open_views_screen(fixture);
            fixture.press_keys("D");
            for _ in 0..3 {
                press_key(fixture, KeyCode::PageUp);
            }
            press_key(fixture, KeyCode::End);
        },
    );
}

#[test]
fn the_export_of_the_visible_rows() {
    snapshots("export", &[SMALL], &["Partial: not all pages are loaded."], |fixture| {
        open_views_screen(fixture);
        fixture.press_keys("e");
    });
}

#[test]
fn the_export_with_other_choices() {
    snapshots("export_chosen", &[], &["50 pages to the clipboard."], |fixture| {
        fixture.load_jobs();
        fixture.load_views(50, false);
        fixture.press_keys("e l j l l j l");
    });
}

#[test]
fn the_question_before_overwriting_a_file() {
    snapshots("confirm_overwrite", &[], &["current folder. Overwrite it?", "y overwrite · n cancel"], |fixture| {
        open_views_screen(fixture);
        fixture.press_keys("e Enter");
        let name = "docdeck-views-2026-11-14_2026-11-20-partial.csv".to_owned();
        let what = CleanText::line("12 pages as CSV");
        fixture.handle(Msg::FileExists(NewFile { name, text: "path".to_owned(), description: what }));
    });
}

fn cached_views(ranges: i64) -> CacheOverview {
    let known = |n: i64| CachedRange {
        range: DateRange::last_days(7, now().date_naive() - TimeDelta::days(7 * n)),
        as_of: now() - TimeDelta::hours(17 * n) - TimeDelta::minutes(3),
        views: (n != 4).then(|| CachedPages {
            rows: 1200,
            complete: n % 4 != 1,
            totals: if n == 2 { Counts::default() } else { counts(128_402 - 1400 * n, 61_220 - 700 * n) },
        }),
        reports: if n % 4 == 0 { vec![AnalyticsKind::Searches, AnalyticsKind::Questions] } else { Vec::new() },
    };
    CacheOverview { ranges: (0..ranges).map(known).collect(), bytes: if ranges == 0 { 0 } else { 3_149_000 } }
}

#[test]
fn cached_ranges_before_the_store_has_answered() {
    snapshots("cached_ranges_loading", &[], &["Cached ranges"], |fixture| {
        open_views_screen(fixture);
        fixture.press_keys("H");
    });
}

#[test]
fn cached_ranges_when_there_are_none() {
    snapshots(
        "cached_ranges_empty",
        &[],
        &["No cached ranges yet. Load all rows of a range (a on an analytics tab) to"],
        |fixture| {
            open_views_screen(fixture);
            fixture.press_keys("H");
            fixture.handle(Msg::Views(ViewsMsg::CachedRangesListed(Ok(cached_views(0)))));
        },
    );
}

#[test]
fn all_cached_ranges() {
    snapshots("cached_ranges", &[SMALL, LARGE], &["Cached ranges", "3.1", "ongoing", "Enter show"], |fixture| {
        open_views_screen(fixture);
        fixture.press_keys("H");
        fixture.handle(Msg::Views(ViewsMsg::CachedRangesListed(Ok(cached_views(60)))));
        fixture.press_keys("j j");
    });
}

#[test]
fn cached_ranges_when_they_cannot_be_read() {
    snapshots(
        "cached_ranges_failed",
        &[],
        &["The database can't be used (disk I/O error): check the data folder, then"],
        |fixture| {
            open_views_screen(fixture);
            fixture.press_keys("H");
            let failure = Failure::new(
                FailureKind::Store,
                "The database can't be used (disk I/O error): check the data folder, then restart docdeck.",
            );
            fixture.handle(Msg::Views(ViewsMsg::CachedRangesListed(Err(failure))));
        },
    );
}

#[test]
fn every_range_shows_its_days_and_its_name() {
    snapshots("range_stepped", &[], &["of 50"], |fixture| {
        open_views_screen(fixture);
        fixture.press_keys("d d d [ [");
    });
}

#[test]
fn every_preset_and_step_shows_its_complete_range_at_every_size() {
    for size in SIZES {
        let mut fixture = ScreenFixture::new(size);
        open_views_screen(&mut fixture);
        for keys in ["", "d", "d", "d", "[", "]", "d", "[", "[", "]", "]", "d", "d", "[", "]", "d", "d", "d", "[", "["]
        {
            fixture.press_keys(keys);
            let range = fixture.app.views.query().range;
            let shown = text(&render(&fixture.app, ColorDepth::None));
            let line = shown.lines().nth(1).expect("the range's line");
            let dates = if range.days() == 1 { range.from().to_string() } else { range.to_string() };
            let words = range.format_dates(false);
            let today = format!("{} – today", range.from().format("%-d %b"));
            let is_shown = [&dates, &words, &today].into_iter().any(|form| line.contains(form));
            assert!(is_shown && line.contains("UTC"), "{line}");
            assert_eq!(
                ["incl. today", "today so far", "– today"].into_iter().any(|form| line.contains(form)),
                range.contains(now().date_naive()),
                "{line}"
            );
            let name = fixture.app.views.range_name(now().date_naive()).unwrap_or_else(|| "custom".to_owned());
            assert!(
                size.0 < 100 || line.contains(&format!("[{name}]")) || line.contains(&format!("‹ {name} ›")),
                "{line}"
            );
        }
    }
}

#[test]
fn the_cursor_of_the_calendar_is_marked_by_more_than_colour() {
    let mut fixture = ScreenFixture::new((80, 24));
    open_views_screen(&mut fixture);
    fixture.press_keys("D");
    let buffer = render(&fixture.app, ColorDepth::None);
    let shown = text(&buffer);
    assert!(shown.contains(">20<") && shown.contains("[14  15 "), "{shown}");
    let reversed = buffer.content.iter().filter(|cell| cell.modifier.contains(Modifier::REVERSED));
    // The selected page behind the dialog is reversed too.
    assert!(reversed.map(|cell| cell.symbol()).collect::<String>().ends_with("20"));
}

#[test]
fn the_days_of_the_highlighted_range_have_the_background_of_a_selected_row() {
    let mut fixture = ScreenFixture::new((80, 24));
    open_views_screen(&mut fixture);
    fixture.press_keys("D");
    let palette = themes::default_theme();
    let theme = Theme::from_palette(palette.for_background(Background::Dark), ColorDepth::TrueColor);
    let buffer = render_with_theme(&fixture.app, &theme);
    assert!(theme.selected.bg.is_some());
    assert_eq!(style_of(&buffer, "14  15   │").bg, theme.selected.bg);
    assert_ne!(style_of(&buffer, "13 [14").bg, theme.selected.bg);
}

#[test]
fn the_cursor_is_on_the_selected_day() {
    for size in SIZES {
        let mut fixture = ScreenFixture::new(size);
        fixture.load_jobs();
        fixture.load_views(50, true);
        fixture.press_keys("D h");
        let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).expect("a test terminal");
        let theme = Theme::new(ColorDepth::None);
        terminal.draw(|frame| draw(frame, &fixture.app, &theme, now())).expect("a frame");
        let at = terminal.backend().cursor_position();
        let cell = |x| terminal.backend().buffer().cell((x, at.y)).expect("inside").symbol();
        assert_eq!([cell(at.x - 1), cell(at.x), cell(at.x + 1), cell(at.x + 2)].concat(), ">19<", "{size:?}");
    }
}
