//! Tests of the keys in the calendar, the list of cached ranges and the export dialog.

use super::super::{App, AppConfig, Effect, Msg, Overwrite};
use super::cached_ranges::CachedRanges;
use super::calendar::Calendar;
use super::export::ExportDialog;
use super::range_line::unfinished_state;
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::export::MAX_TERMINAL_COPY_BYTES;
use crate::model::failure::{Failure, FailureKind};
use crate::model::period::{DateRange, Preset};
use crate::model::report::{CacheOverview, CachedPages, CachedRange, Report};
use crate::model::text::CleanText;
use crate::model::views::{Count, Counts, PageRow, ViewsResponse};
use crate::tui::{ViewsEffect, ViewsMsg};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use std::sync::Arc;

fn now() -> Time {
    "2026-11-20T12:00:00Z".parse().expect("a time")
}

fn app() -> App {
    let start = AppConfig {
        size: (80, 24),
        ..AppConfig::new(
            Scope { base_url: "http://127.0.0.1:1".to_owned(), project: "p".to_owned(), organization: None },
            chrono::FixedOffset::east_opt(0).expect("UTC"),
        )
    };
    let (mut app, _) = App::new(start, now());
    press(&mut app, "2");
    app
}

fn press_key(app: &mut App, code: KeyCode) -> Vec<Effect> {
    app.update(Msg::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))), now())
}

fn press(app: &mut App, keys: &str) -> Vec<Effect> {
    keys.chars().flat_map(|c| press_key(app, KeyCode::Char(c))).collect()
}

fn counts(human: i64, ai: i64) -> Counts {
    Counts::new(Count::Known(human), Count::Known(ai), Count::Known(human + ai))
}

fn report(range: DateRange, paths: &[String], complete: bool) -> Arc<Report> {
    let rows = paths.iter().map(|path| PageRow { path: CleanText::line(path), counts: counts(3, 1) }).collect();
    Arc::new(Report::from_first_response(
        range,
        ViewsResponse { totals: counts(30, 10), rows, has_more: None },
        complete,
        now(),
    ))
}

fn paths(paths: &[&str]) -> Vec<String> {
    paths.iter().map(|path| (*path).to_owned()).collect()
}

fn written_file(effects: &[Effect]) -> (&str, &str) {
    match effects {
        [Effect::WriteFile(file, Overwrite::Ask)] => (&file.name, &file.text),
        other => panic!("no file: {other:?}"),
    }
}

#[test]
fn without_page_views_there_is_nothing_to_export() {
    let mut app = app();
    assert_eq!(press(&mut app, "e"), []);
    assert!(app.dialogs.is_empty());
    assert!(app.notice.is_some_and(|notice| notice.text.as_str().starts_with("Nothing to export")));
}

#[test]
fn a_complete_report_is_exported_with_its_comparison() {
    let mut app = app();
    let range = Preset::SevenDays.range(now().date_naive());
    let previous_range = range.step(-1).expect("a range");
    let previous = report(previous_range, &paths(&["/a", "/old"]), true);
    app.views.table.show_report(report(range, &paths(&["/a", "/new"]), true), Some(previous));
    press(&mut app, "el");
    let effects = press_key(&mut app, KeyCode::Enter);
    let (name, text) = written_file(&effects);
    assert_eq!(name, "docdeck-views-2026-11-14_2026-11-20-vs-2026-11-07_2026-11-13.csv");
    let lines: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(lines, ["/a,3,1,4,0.2500,3,1,4,0,", "/new,3,1,4,0.2500,,,,4,new", "/old,,,,,3,1,4,-4,gone"]);
    assert!(app.dialogs.is_empty());
}

#[test]
fn in_the_export_dialog_tab_cycles_through_the_lines_and_arrows_through_the_choices() {
    let mut app = app();
    let range = Preset::SevenDays.range(now().date_naive());
    app.views.table.show_report(report(range, &paths(&["/a"]), true), None);
    press(&mut app, "e");
    for code in [KeyCode::Tab, KeyCode::Left, KeyCode::Tab, KeyCode::Tab, KeyCode::BackTab, KeyCode::Up] {
        assert_eq!(press_key(&mut app, code), []);
    }
    let effects = press_key(&mut app, KeyCode::Enter);
    let (name, text) = written_file(&effects);
    assert_eq!(name, "docdeck-views-2026-11-14_2026-11-20.md");
    assert!(text.starts_with("**Page views 2026-11-14 … 2026-11-20 (UTC)**"), "{text}");
}

#[test]
fn an_export_that_is_too_long_for_the_clipboard_is_refused() {
    let mut app = app();
    let range = Preset::SevenDays.range(now().date_naive());
    let many: Vec<String> = (0..MAX_TERMINAL_COPY_BYTES / 20).map(|n| format!("/a/rather/long/path/{n}")).collect();
    app.views.table.show_report(report(range, &many, true), None);
    press(&mut app, "ekl");
    assert_eq!(press_key(&mut app, KeyCode::Enter), []);
    let refused = |app: &App| app.top::<ExportDialog>().expect("the export").problem.clone();
    assert!(refused(&app).is_some_and(|text| text.contains("74,994") && text.ends_with("Choose a file.")));
    press(&mut app, "l");
    assert_eq!(refused(&app), None);
    assert_eq!(written_file(&press_key(&mut app, KeyCode::Enter)).1.lines().count(), many.len() + 1);
    app.config.can_copy_long_texts = true;
    press(&mut app, "ekl");
    let effects = press_key(&mut app, KeyCode::Enter);
    assert!(
        matches!(&effects[..], [Effect::Copy { text, .. }] if text.len() > MAX_TERMINAL_COPY_BYTES),
        "a program has no limit"
    );
}

fn open_cached_ranges(app: &mut App, ranges: Vec<DateRange>) {
    assert_eq!(press(app, "H"), [Effect::Views(ViewsEffect::ListCachedRanges)]);
    let known = |range| CachedRange {
        range,
        as_of: now(),
        views: Some(CachedPages { rows: 2, complete: true, totals: counts(1, 1) }),
        reports: Vec::new(),
    };
    let cached = CacheOverview { ranges: ranges.into_iter().map(known).collect(), bytes: 100 };
    app.update(Msg::Views(ViewsMsg::CachedRangesListed(Ok(cached))), now());
}

#[test]
fn enter_shows_a_cached_range() {
    let mut app = app();
    let range = app.views.query().range;
    let past = range.step(-3).expect("a range");
    open_cached_ranges(&mut app, vec![range, past]);
    press(&mut app, "j");
    press_key(&mut app, KeyCode::Enter);
    assert_eq!(app.views.query().range, past);
    assert!(app.dialogs.is_empty());
}

#[test]
fn the_shown_range_cannot_be_compared_with_itself() {
    let mut app = app();
    let range = app.views.query().range;
    open_cached_ranges(&mut app, vec![range]);
    assert_eq!(press(&mut app, "c"), []);
    assert!(app.top::<CachedRanges>().is_some(), "it stays open");
    assert!(app.notice.is_some());
}

#[test]
fn no_cached_range_can_be_chosen_if_the_list_is_empty_or_not_loaded() {
    let mut app = app();
    let range = app.views.query().range;
    press(&mut app, "H");
    assert_eq!(press_key(&mut app, KeyCode::Enter), [], "not loaded yet");
    app.update(Msg::Views(ViewsMsg::CachedRangesListed(Err(Failure::new(FailureKind::Store, "No.")))), now());
    assert_eq!(press_key(&mut app, KeyCode::Enter), []);
    assert_eq!(press(&mut app, "jc"), []);
    assert!(app.top::<CachedRanges>().is_some() && app.dialogs.len() == 1);
    assert_eq!(app.views.query().range, range);
}

#[test]
fn keys_of_quick_choices_type_text_if_the_calendar_chooses_a_range_to_show() {
    let mut app = app();
    press(&mut app, "Dyesterday");
    press_key(&mut app, KeyCode::Enter);
    assert_eq!(app.views.query().range.to_string(), "2026-11-19 … 2026-11-19");
    press(&mut app, "C");
    press(&mut app, "m");
    assert!(app.top::<Calendar>().is_none(), "chosen at once");
}

#[test]
fn tab_switches_between_typing_and_picking_days() {
    let mut app = app();
    press(&mut app, "D");
    press_key(&mut app, KeyCode::Tab);
    press(&mut app, "last month");
    press_key(&mut app, KeyCode::Enter);
    assert_eq!(app.views.preset(), Some(Preset::LastMonth));
    press(&mut app, "D");
    press_key(&mut app, KeyCode::Tab);
    press_key(&mut app, KeyCode::Tab);
    press(&mut app, " l ");
    assert_eq!(app.views.query().range.to_string(), "2026-10-31 … 2026-11-01");
}

#[test]
fn a_range_that_was_loaded_before_its_end_is_ongoing_and_later_outdated() {
    let (range, tomorrow) = (DateRange::last_days(7, now().date_naive()), now() + chrono::TimeDelta::days(1));
    assert_eq!(unfinished_state(range, now(), now()), Some("ongoing"));
    assert_eq!(unfinished_state(range, now(), tomorrow), Some("outdated"));
    assert_eq!(unfinished_state(range, tomorrow, tomorrow), None);
}
