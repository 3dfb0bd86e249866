//! Tests of date ranges (picked on the calendar, typed, or reached month by month), of exports to a file and to the
//! clipboard, and of the list of cached ranges.

use crate::support::dashboard::{DashboardFixture, export_folder_in};
use crate::support::{create_folder, start_sim};
use chrono::{Datelike as _, NaiveDate, TimeDelta};
use crossterm::event::KeyCode;
use docdeck::model::log::Operation;
use docdeck::model::period::DateRange;
use docdeck::sim::Sim;
use docdeck::tui::views::cached_ranges::CachedRanges;
use docdeck::tui::views::calendar::Calendar;
use docdeck::tui::{Effect, ViewsEffect};
use std::path::PathBuf;
use tempfile::TempDir;

/// Starts a dashboard, opens the views screen, and waits until the first page of rows is loaded.
async fn start_on_views_screen(folder: &TempDir) -> (Sim, DashboardFixture) {
    let sim = start_sim(&[]).await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.press_chars("2");
    dashboard.wait_until_shown("1 of 50").await;
    (sim, dashboard)
}

async fn until_range(dashboard: &mut DashboardFixture, from: NaiveDate, to: NaiveDate) {
    let range = DateRange::new(from, to).expect("a range").format_dates(true);
    dashboard
        .wait_until(&range, |dashboard| dashboard.shows(&range) && dashboard.app.views.lists_current_query())
        .await;
}

#[tokio::test]
async fn the_later_day_of_a_range_can_be_picked_first_on_the_calendar() {
    let folder = create_folder();
    let (sim, mut dashboard) = start_on_views_screen(&folder).await;
    let today = sim.now().date_naive();
    dashboard.press_chars("D");
    dashboard.assert_shows("Date range");
    // Picks today, and then the day ten days before it.
    dashboard.press_key(KeyCode::Enter);
    dashboard.press_chars("khhh");
    dashboard.assert_shows("11 days: Enter shows this range");
    dashboard.press_chars(" ");
    assert!(dashboard.app.dialogs.is_empty());
    until_range(&mut dashboard, today - TimeDelta::days(10), today).await;
    dashboard.assert_shows("UTC, 11 days incl. today");
    dashboard.assert_shows("[custom]");
    assert_eq!(sim.requests(Operation::Views), 2);
}

#[tokio::test]
async fn a_month_can_be_typed_stepped_back_and_stepped_forward_to_today() {
    let folder = create_folder();
    let (sim, mut dashboard) = start_on_views_screen(&folder).await;
    let today = sim.now().date_naive();
    let first = today.with_day(1).expect("a day");
    dashboard.press_chars(&format!("D{}", today.format("%Y-%m")));
    dashboard.assert_shows("type:");
    dashboard.press_key(KeyCode::Enter);
    until_range(&mut dashboard, first, today).await;
    let before = first.pred_opt().expect("a day");
    dashboard.press_chars("[");
    until_range(&mut dashboard, before.with_day(1).expect("a day"), before).await;
    dashboard.assert_shows("[last month]");
    let two_before = before.with_day(1).and_then(|day| day.pred_opt()).expect("a day");
    dashboard.press_chars("[");
    until_range(&mut dashboard, two_before.with_day(1).expect("a day"), two_before).await;
    dashboard.assert_shows(&format!("[{}]", two_before.format("%Y-%m")));
    dashboard.press_chars("]]");
    until_range(&mut dashboard, first, today).await;
    dashboard.assert_shows("[month]");
    let requests = sim.requests(Operation::Views);
    dashboard.press_chars("]");
    dashboard.assert_shows("There are no page views after today.");
    assert_eq!(sim.requests(Operation::Views), requests);
}

#[tokio::test]
async fn an_invalid_range_is_reported_while_typing_and_requests_nothing() {
    let folder = create_folder();
    let (sim, mut dashboard) = start_on_views_screen(&folder).await;
    let tomorrow = sim.now().date_naive() + TimeDelta::days(1);
    for (typed, message) in [
        ("2026-1", "2026-1 is not a complete date".to_owned()),
        ("2026-02-30", "February 2026 has 28 days, so there is no 30".to_owned()),
        ("2026-03-02 2026-03-01", "2026-03-02 comes after 2026-03-01".to_owned()),
        (&tomorrow.to_string(), format!("{tomorrow} is in the future")),
    ] {
        dashboard.press_chars(&format!("D{typed}"));
        dashboard.assert_shows(&message);
        dashboard.press_key(KeyCode::Enter);
        assert_eq!(dashboard.app.dialogs.len(), 1, "the dialog stays open");
        dashboard.press_key(KeyCode::Esc);
        assert_eq!(dashboard.app.dialogs.len(), 1, "the first Esc only clears the text");
        dashboard.press_key(KeyCode::Esc);
        assert!(dashboard.app.dialogs.is_empty());
    }
    assert_eq!(sim.requests(Operation::Views), 1);
}

#[tokio::test]
async fn a_range_that_ends_after_today_is_cut_at_today_with_a_notice() {
    let folder = create_folder();
    let (sim, mut dashboard) = start_on_views_screen(&folder).await;
    let today = sim.now().date_naive();
    let (from, to) = (today - TimeDelta::days(2), today + TimeDelta::days(9));
    dashboard.press_chars(&format!("D{from}..{to}"));
    dashboard.assert_shows("3 days, cut at today");
    dashboard.press_key(KeyCode::Enter);
    dashboard.assert_shows("Cut at today");
    until_range(&mut dashboard, from, today).await;
}

fn exported_files(folder: &TempDir) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(export_folder_in(folder.path())).expect("a folder");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

#[tokio::test]
async fn an_export_writes_the_visible_rows_to_the_file_that_the_dialog_showed() {
    let folder = create_folder();
    let (sim, mut dashboard) = start_on_views_screen(&folder).await;
    let range = dashboard.app.views.query().range;
    let name = format!("docdeck-views-{}_{}-partial.csv", range.from(), range.to());
    dashboard.press_chars("e");
    dashboard.assert_shows(&name);
    dashboard.assert_shows("Writes the views of 50 pages to the current folder.");
    dashboard.assert_shows("Partial: not all pages are loaded.");
    dashboard.press_key(KeyCode::Enter);
    dashboard.wait_until_shown("written to").await;
    let path = export_folder_in(folder.path()).join(&name);
    assert_eq!(exported_files(&folder), [path.as_path()]);
    let text = std::fs::read_to_string(&path).expect("written");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let paths: Vec<String> =
        reader.records().map(|row| row.expect("a row").get(0).expect("a path").to_owned()).collect();
    let listed: Vec<String> = dashboard.app.views.rows().iter().map(|row| row.path.to_string()).collect();
    assert_eq!(paths, listed);
    assert_eq!(sim.requests(Operation::Views), 1, "an export sends no request");
}

#[tokio::test]
async fn an_existing_file_is_only_overwritten_after_a_yes() {
    let folder = create_folder();
    let (_sim, mut dashboard) = start_on_views_screen(&folder).await;
    let range = dashboard.app.views.query().range;
    let name = format!("docdeck-views-{}_{}-partial.csv", range.from(), range.to());
    let path = export_folder_in(folder.path()).join(&name);
    std::fs::write(&path, "mine").expect("written");
    for answer in [KeyCode::Char('n'), KeyCode::Char('x'), KeyCode::Esc, KeyCode::Enter] {
        dashboard.press_chars("e");
        dashboard.press_key(KeyCode::Enter);
        dashboard.wait_until_shown("Overwrite it?").await;
        dashboard.press_key(answer);
        assert!(dashboard.app.dialogs.is_empty());
        assert_eq!(std::fs::read_to_string(&path).expect("there"), "mine", "after {answer:?}");
    }
    dashboard.press_chars("e");
    dashboard.press_key(KeyCode::Enter);
    dashboard.wait_until_shown("Overwrite it?").await;
    dashboard.press_chars("y");
    dashboard.wait_until_shown("written to").await;
    assert!(std::fs::read_to_string(&path).expect("there").starts_with("path,human,ai,total,ai_share\r\n"));
    assert_eq!(exported_files(&folder), [path]);
}

#[tokio::test]
async fn the_overwrite_question_does_not_interrupt_typing_in_another_dialog() {
    let folder = create_folder();
    let (_sim, mut dashboard) = start_on_views_screen(&folder).await;
    let range = dashboard.app.views.query().range;
    let path =
        export_folder_in(folder.path()).join(format!("docdeck-views-{}_{}-partial.csv", range.from(), range.to()));
    std::fs::write(&path, "mine").expect("written");
    dashboard.press_chars("e");
    dashboard.press_key(KeyCode::Enter);
    dashboard.press_chars("D2026-1");
    dashboard.wait_until_shown("already exists and was not changed").await;
    assert!(dashboard.app.top::<Calendar>().is_some());
    assert_eq!(std::fs::read_to_string(&path).expect("there"), "mine");
}

#[tokio::test]
async fn json_is_copied_to_the_clipboard_in_the_documented_format() {
    let folder = create_folder();
    let (_sim, mut dashboard) = start_on_views_screen(&folder).await;
    dashboard.press_chars("ejl");
    dashboard.assert_shows("[JSON]");
    dashboard.press_chars("jl");
    dashboard.assert_shows("Copies the views of 50 pages to the clipboard.");
    dashboard.press_key(KeyCode::Enter);
    let Some(Effect::Copy { success_notice: what, text }) = dashboard.requested_effects.last() else {
        panic!("{:?}", dashboard.requested_effects.last())
    };
    assert_eq!(what.as_str(), "Copied 50 pages as JSON.");
    let read: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let range = dashboard.app.views.query().range;
    let field = |pointer: &str| read.pointer(pointer).and_then(|value| value.as_str()).map(str::to_owned);
    assert_eq!(field("/range/from"), Some(range.from().to_string()));
    assert_eq!(field("/range/to"), Some(range.to().to_string()));
    assert_eq!(field("/views/0/path"), dashboard.app.views.rows().first().map(|row| row.path.to_string()));
    assert_eq!(read.get("complete"), Some(&serde_json::Value::Bool(false)));
    assert!(exported_files(&folder).is_empty());
}

#[tokio::test]
async fn cached_ranges_are_listed_without_a_request() {
    let folder = create_folder();
    let (sim, mut dashboard) = start_on_views_screen(&folder).await;
    dashboard.press_chars("H");
    assert!(matches!(dashboard.requested_effects.last(), Some(Effect::Views(ViewsEffect::ListCachedRanges))));
    let listed = |dashboard: &DashboardFixture| {
        let cached = dashboard.app.top::<CachedRanges>().map(|open| &open.overview);
        cached.is_some_and(|cached| cached.shown().is_some() || cached.failure().is_some())
    };
    dashboard.wait_until("an answer", listed).await;
    dashboard.press_key(KeyCode::Esc);
    assert!(dashboard.app.dialogs.is_empty());
    assert_eq!(sim.requests(Operation::Views), 1);
}
