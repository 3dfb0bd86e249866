//! Tests of the mouse: clicks on the screen send and open a job, and load and sort the page views.

use crate::support::dashboard::DashboardFixture;
use crate::support::{create_folder, start_sim};
use crossterm::event::{Event, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use docdeck::model::log::Operation;
use docdeck::tui::confirm::ConfirmDialog;
use docdeck::tui::{Pane, Screen};

/// Clicks on the first occurrence of this text on the screen.
fn click_on(dashboard: &mut DashboardFixture, text: &str) {
    if dashboard.app.tip().is_some() {
        // A tip covers the shortcuts in the footer. Any click hides the tip.
        click(dashboard, 0, 1);
    }
    let screen = dashboard.screen();
    let found = screen.lines().enumerate().find_map(|(row, line)| {
        let before = line.split_once(text)?.0;
        Some((u16::try_from(before.chars().count()).ok()?, u16::try_from(row).ok()?))
    });
    let (column, row) = found.unwrap_or_else(|| panic!("no {text:?} on the screen:\n{screen}"));
    click(dashboard, column, row);
}

fn click(dashboard: &mut DashboardFixture, column: u16, row: u16) {
    for kind in [MouseEventKind::Down(MouseButton::Left), MouseEventKind::Up(MouseButton::Left)] {
        dashboard.input(Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE }));
    }
}

#[tokio::test]
async fn a_job_can_be_sent_selected_and_opened_by_clicks() {
    let (folder, sim) = (create_folder(), start_sim(&[]).await);
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    click_on(&mut dashboard, "n new");
    dashboard.press_chars("Fix the links");
    click_on(&mut dashboard, "send");
    dashboard.skip_letter_delay();
    dashboard
        .wait_until("the job", |dashboard| dashboard.app.jobs.selected().is_some_and(|row| row.id.is_some()))
        .await;
    assert_eq!(sim.requests(Operation::Create), 1);
    dashboard.send_accepted_job("Another one").await;
    click_on(&mut dashboard, "Fix the links");
    assert_eq!((dashboard.selected_job().local.title.as_str(), dashboard.app.pane), ("Fix the links", Pane::List));
    click_on(&mut dashboard, "Fix the links");
    assert_eq!(dashboard.app.pane, Pane::Detail);
}

#[tokio::test]
async fn all_pages_can_be_loaded_after_a_confirmation_and_sorted_by_clicks() {
    let (folder, sim) = (create_folder(), start_sim(&[]).await);
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    click_on(&mut dashboard, "2 Analytics");
    assert_eq!(dashboard.app.screen, Screen::Analytics);
    dashboard.wait_until("the views", |dashboard| dashboard.app.views.lists_current_query()).await;
    click_on(&mut dashboard, "load all");
    assert!(dashboard.app.top::<ConfirmDialog>().is_some(), "the cost is shown first");
    let requests = sim.requests(Operation::Views);
    click_on(&mut dashboard, "cancel");
    assert!(dashboard.app.dialogs.is_empty());
    assert_eq!(sim.requests(Operation::Views), requests);
    click_on(&mut dashboard, "load all");
    click_on(&mut dashboard, "y load all");
    dashboard
        .wait_until("all pages", |dashboard| dashboard.app.views.table.report().is_some_and(|report| report.complete))
        .await;
    let first =
        |dashboard: &DashboardFixture| dashboard.app.views.table.shown_pages().next().expect("a page").path.to_string();
    let by_total = first(&dashboard);
    click_on(&mut dashboard, "page      ");
    let by_path = first(&dashboard);
    assert_ne!(by_total, by_path);
    click_on(&mut dashboard, "page ↑");
    assert_ne!(first(&dashboard), by_path);
    click_on(&mut dashboard, "total");
}
