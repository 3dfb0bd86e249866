//! Ranges picked on the calendar and typed, months that step, exports to a file and to the clipboard, and what is kept.

use crate::dashboard_fixture::{DashboardFixture, exports_in, folder, sim};
use chrono::{Datelike as _, NaiveDate, TimeDelta};
use crossterm::event::KeyCode;
use docdeck::app::Effect;
use docdeck::app::dialog::Dialog;
use docdeck::model::log::Operation;
use docdeck::sim::Sim;
use std::path::PathBuf;
use tempfile::TempDir;

/// A dashboard whose first page of rows is loaded.
async fn looking(folder: &TempDir) -> (Sim, DashboardFixture) {
    let sim = sim(&[]).await;
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.keys("2");
    desk.until_shown("page 1, rows 1–50, more →").await;
    (sim, desk)
}

async fn shown(desk: &mut DashboardFixture, from: NaiveDate, to: NaiveDate) {
    let range = format!("{from} … {to}");
    desk.until(&range, |desk| desk.shows(&range) && desk.app.views.is_current()).await;
}

#[tokio::test]
async fn a_range_is_picked_on_the_calendar_by_keys_in_either_order() {
    let folder = folder();
    let (sim, mut desk) = looking(&folder).await;
    let today = sim.now().date_naive();
    desk.keys("D");
    desk.assert_shows("A range to show");
    // From today ten days back: the later day is picked first.
    desk.key(KeyCode::Enter);
    desk.keys("khhh");
    desk.assert_shows("11 days: Enter takes it");
    desk.keys(" ");
    assert!(desk.app.dialogs.is_empty());
    shown(&mut desk, today - TimeDelta::days(10), today).await;
    desk.assert_shows("11 days UTC, today partial");
    desk.assert_shows("[custom]");
    assert_eq!(sim.requests(Operation::Views), 2);
}

#[tokio::test]
async fn a_month_is_typed_stepped_back_and_comes_forward_to_today() {
    let folder = folder();
    let (sim, mut desk) = looking(&folder).await;
    let today = sim.now().date_naive();
    let first = today.with_day(1).expect("a day");
    desk.keys(&format!("D{}", today.format("%Y-%m")));
    desk.assert_shows("type:");
    desk.key(KeyCode::Enter);
    shown(&mut desk, first, today).await;
    let before = first.pred_opt().expect("a day");
    desk.keys("[");
    shown(&mut desk, before.with_day(1).expect("a day"), before).await;
    desk.assert_shows("[last month]");
    let two_before = before.with_day(1).and_then(|day| day.pred_opt()).expect("a day");
    desk.keys("[");
    shown(&mut desk, two_before.with_day(1).expect("a day"), two_before).await;
    desk.assert_shows(&format!("[{}]", two_before.format("%Y-%m")));
    desk.keys("]]");
    shown(&mut desk, first, today).await;
    desk.assert_shows("[month]");
    let asked = sim.requests(Operation::Views);
    desk.keys("]");
    desk.assert_shows("Nothing is known of the days after today.");
    assert_eq!(sim.requests(Operation::Views), asked);
}

#[tokio::test]
async fn a_wrong_range_is_said_while_typing_and_asks_for_nothing() {
    let folder = folder();
    let (sim, mut desk) = looking(&folder).await;
    let tomorrow = sim.now().date_naive() + TimeDelta::days(1);
    for (typed, said) in [
        ("2026-1", "2026-1 is not a whole date yet".to_owned()),
        ("2026-02-30", "February 2026 has 28 days, so there is no 30".to_owned()),
        ("2026-03-02 2026-03-01", "2026-03-02 comes after 2026-03-01".to_owned()),
        (&tomorrow.to_string(), format!("{tomorrow} has not come yet")),
    ] {
        desk.keys(&format!("D{typed}"));
        desk.assert_shows(&said);
        desk.key(KeyCode::Enter);
        assert_eq!(desk.app.dialogs.len(), 1, "it stays open");
        desk.key(KeyCode::Esc);
        assert_eq!(desk.app.dialogs.len(), 1, "the text went first");
        desk.key(KeyCode::Esc);
        assert!(desk.app.dialogs.is_empty());
    }
    assert_eq!(sim.requests(Operation::Views), 1);
}

#[tokio::test]
async fn a_range_that_goes_on_after_today_is_cut_and_that_is_said() {
    let folder = folder();
    let (sim, mut desk) = looking(&folder).await;
    let today = sim.now().date_naive();
    let (from, to) = (today - TimeDelta::days(2), today + TimeDelta::days(9));
    desk.keys(&format!("D{from}..{to}"));
    desk.assert_shows("3 days, cut at today");
    desk.key(KeyCode::Enter);
    desk.assert_shows("Cut at today");
    shown(&mut desk, from, today).await;
}

fn exported(folder: &TempDir) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(exports_in(folder.path())).expect("a folder");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

#[tokio::test]
async fn what_is_shown_is_written_to_the_file_that_was_named_before() {
    let folder = folder();
    let (sim, mut desk) = looking(&folder).await;
    let range = desk.app.views.query().range;
    let name = format!("docdeck-views-{}_{}-partial.csv", range.from(), range.to());
    desk.keys("e");
    desk.assert_shows(&name);
    desk.assert_shows("50 pages, into the current folder.");
    desk.assert_shows("Partial: more pages were not loaded.");
    desk.key(KeyCode::Enter);
    desk.until_shown("written to").await;
    let path = exports_in(folder.path()).join(&name);
    assert_eq!(exported(&folder), [path.as_path()]);
    let text = std::fs::read_to_string(&path).expect("written");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let paths: Vec<String> =
        reader.records().map(|row| row.expect("a row").get(0).expect("a path").to_owned()).collect();
    let listed: Vec<String> = desk.app.views.rows().iter().map(|row| row.path.to_string()).collect();
    assert_eq!(paths, listed);
    assert_eq!(sim.requests(Operation::Views), 1, "an export asks for nothing");
}

#[tokio::test]
async fn a_file_that_is_there_is_written_over_after_a_yes_alone() {
    let folder = folder();
    let (_sim, mut desk) = looking(&folder).await;
    let range = desk.app.views.query().range;
    let name = format!("docdeck-views-{}_{}-partial.csv", range.from(), range.to());
    let path = exports_in(folder.path()).join(&name);
    std::fs::write(&path, "mine").expect("written");
    for answer in [KeyCode::Char('n'), KeyCode::Char('x'), KeyCode::Esc, KeyCode::Enter] {
        desk.keys("e");
        desk.key(KeyCode::Enter);
        desk.until_shown("Write over it?").await;
        desk.key(answer);
        assert!(desk.app.dialogs.is_empty());
        assert_eq!(std::fs::read_to_string(&path).expect("there"), "mine", "after {answer:?}");
    }
    desk.keys("e");
    desk.key(KeyCode::Enter);
    desk.until_shown("Write over it?").await;
    desk.keys("y");
    desk.until_shown("written to").await;
    assert!(std::fs::read_to_string(&path).expect("there").starts_with("path,human,ai,total,ai_share\r\n"));
    assert_eq!(exported(&folder), [path]);
}

#[tokio::test]
async fn a_question_about_a_file_does_not_come_up_under_the_fingers_of_someone_who_types() {
    let folder = folder();
    let (_sim, mut desk) = looking(&folder).await;
    let range = desk.app.views.query().range;
    let path = exports_in(folder.path()).join(format!("docdeck-views-{}_{}-partial.csv", range.from(), range.to()));
    std::fs::write(&path, "mine").expect("written");
    desk.keys("e");
    desk.key(KeyCode::Enter);
    desk.keys("D2026-1");
    desk.until_shown("is there already and was left as it is").await;
    assert!(matches!(desk.app.dialogs.as_slice(), [Dialog::Calendar(_)]));
    assert_eq!(std::fs::read_to_string(&path).expect("there"), "mine");
}

#[tokio::test]
async fn json_goes_to_the_clipboard_in_the_promised_shape() {
    let folder = folder();
    let (_sim, mut desk) = looking(&folder).await;
    desk.keys("ejl");
    desk.assert_shows("[JSON]");
    desk.keys("jl");
    desk.assert_shows("50 pages, to your terminal's clipboard.");
    desk.key(KeyCode::Enter);
    let Some(Effect::Copy { what, text }) = desk.asked.last() else { panic!("{:?}", desk.asked.last()) };
    assert_eq!(what.as_str(), "Copied 50 pages as JSON.");
    let read: serde_json::Value = serde_json::from_str(text).expect("JSON");
    let range = desk.app.views.query().range;
    let field = |pointer: &str| read.pointer(pointer).and_then(|value| value.as_str()).map(str::to_owned);
    assert_eq!(field("/range/from"), Some(range.from().to_string()));
    assert_eq!(field("/range/to"), Some(range.to().to_string()));
    assert_eq!(field("/views/0/path"), desk.app.views.rows().first().map(|row| row.path.to_string()));
    assert_eq!(read.get("complete"), Some(&serde_json::Value::Bool(false)));
    assert!(exported(&folder).is_empty());
}

#[tokio::test]
async fn what_is_kept_is_listed_at_no_cost() {
    let folder = folder();
    let (sim, mut desk) = looking(&folder).await;
    desk.keys("H");
    assert!(matches!(desk.asked.last(), Some(Effect::ListKept)));
    let listed = |desk: &DashboardFixture| match desk.app.dialogs.as_slice() {
        [Dialog::Kept(open)] => open.kept.shown().is_some() || open.kept.failure().is_some(),
        _ => false,
    };
    desk.until("an answer", listed).await;
    desk.key(KeyCode::Esc);
    assert!(desk.app.dialogs.is_empty());
    assert_eq!(sim.requests(Operation::Views), 1);
}
