//! The mouse on the real dashboard: a job is written, sent, found and opened, and the page views are loaded and sorted,
//! all by clicks on what the screen shows.

use crate::dashboard_fixture::{DashboardFixture, folder, sim};
use crossterm::event::{Event, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use docdeck::app::dialog::Dialog;
use docdeck::app::{Pane, Screen};
use docdeck::model::log::Operation;

/// Clicks on the first place where the screen shows this text.
fn click_on(desk: &mut DashboardFixture, text: &str) {
    if desk.app.tip().is_some() {
        // A tip stands where the keys are; any click takes it away.
        click(desk, 0, 1);
    }
    let screen = desk.screen();
    let found = screen.lines().enumerate().find_map(|(row, line)| {
        let before = line.split_once(text)?.0;
        Some((u16::try_from(before.chars().count()).ok()?, u16::try_from(row).ok()?))
    });
    let (column, row) = found.unwrap_or_else(|| panic!("no {text:?} on the screen:\n{screen}"));
    click(desk, column, row);
}

fn click(desk: &mut DashboardFixture, column: u16, row: u16) {
    for kind in [MouseEventKind::Down(MouseButton::Left), MouseEventKind::Up(MouseButton::Left)] {
        desk.input(Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }));
    }
}

#[tokio::test]
async fn a_job_is_written_sent_and_opened_by_clicks() {
    let (folder, sim) = (folder(), sim(&[]).await);
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    click_on(&mut desk, "n new");
    desk.keys("Fix the links");
    click_on(&mut desk, "send");
    desk.pause();
    desk.until("the job", |desk| desk.app.jobs.selected().is_some_and(|row| row.id.is_some())).await;
    assert_eq!(sim.requests(Operation::Create), 1);
    desk.accepted("Another one").await;
    click_on(&mut desk, "Fix the links");
    assert_eq!((desk.selected().title.as_str(), desk.app.pane), ("Fix the links", Pane::List));
    click_on(&mut desk, "Fix the links");
    assert_eq!(desk.app.pane, Pane::Detail);
}

#[tokio::test]
async fn all_pages_are_loaded_after_a_question_and_sorted_by_clicks() {
    let (folder, sim) = (folder(), sim(&[]).await);
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    click_on(&mut desk, "2 Views");
    assert_eq!(desk.app.screen, Screen::Views);
    desk.until("the views", |desk| desk.app.views.is_current()).await;
    click_on(&mut desk, "load all");
    assert!(matches!(desk.app.dialogs.last(), Some(Dialog::Question(_))), "the price is said first");
    let asked = sim.requests(Operation::Views);
    click_on(&mut desk, "cancel");
    assert!(desk.app.dialogs.is_empty());
    assert_eq!(sim.requests(Operation::Views), asked);
    click_on(&mut desk, "load all");
    click_on(&mut desk, "y load all");
    desk.until("all pages", |desk| desk.app.views.table.report().is_some_and(|report| report.complete)).await;
    let first = |desk: &DashboardFixture| desk.app.views.table.shown_pages().next().expect("a page").path.to_string();
    let by_total = first(&desk);
    click_on(&mut desk, "path");
    let by_path = first(&desk);
    assert_ne!(by_total, by_path);
    click_on(&mut desk, "path ↑");
    assert_ne!(first(&desk), by_path);
    click_on(&mut desk, "total");
}
