//! Page views: the requests that they cost, changing pages and ranges, and what stays after a failure.

use crate::dashboard_fixture::{DashboardFixture, faults, folder, sim};
use crossterm::event::KeyCode;
use docdeck::model::log::Operation;
use docdeck::sim::Sim;

/// A dashboard on the views screen after the first page of rows is loaded.
async fn on_views_screen(folder: &tempfile::TempDir) -> (Sim, DashboardFixture) {
    let sim = sim(&[]).await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.keys("2");
    dashboard.until_shown("page 1, rows 1–50, more →").await;
    (sim, dashboard)
}

/// Types a value into an input dialog.
fn type_value(dashboard: &mut DashboardFixture, text: &str) {
    dashboard.ctrl('a');
    dashboard.ctrl('w');
    for _ in 0..40 {
        dashboard.key(KeyCode::Delete);
    }
    dashboard.keys(text);
    dashboard.key(KeyCode::Enter);
}

#[tokio::test]
async fn the_first_visit_to_views_costs_one_request_and_returning_costs_none() {
    let folder = folder();
    let (sim, mut dashboard) = on_views_screen(&folder).await;
    dashboard.until_shown("view requests 1/100").await;
    for shown in ["7 days UTC, today partial", "[7d]", "as of"] {
        dashboard.assert_shows(shown);
    }
    dashboard.keys("12");
    dashboard.assert_shows("page 1, rows 1–50");
    dashboard.terminate().await;
    // The cache is still there after a restart.
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.keys("2");
    dashboard.until_shown("page 1, rows 1–50").await;
    assert_eq!(sim.requests(Operation::Views), 1);
    dashboard.keys("r");
    dashboard.until("a second request", |_| sim.requests(Operation::Views) == 2).await;
}

#[tokio::test]
async fn a_shortcut_changes_the_range_and_a_cached_range_costs_nothing() {
    let folder = folder();
    let (sim, mut dashboard) = on_views_screen(&folder).await;
    for (range, days) in [("[30d]", "30 days UTC"), ("[90d]", "90 days UTC")] {
        dashboard.keys("d");
        dashboard
            .until(range, |dashboard| {
                dashboard.shows(range) && dashboard.shows(days) && dashboard.app.views.is_current()
            })
            .await;
    }
    dashboard.keys("D7d");
    dashboard.key(KeyCode::Enter);
    dashboard
        .until("7d", |dashboard| {
            dashboard.shows("[7d]") && dashboard.shows("7 days UTC") && dashboard.app.views.is_current()
        })
        .await;
    assert_eq!(sim.requests(Operation::Views), 3, "7d was in the cache");
    dashboard.keys("[");
    dashboard
        .until("the previous period", |dashboard| dashboard.shows("[custom]") && dashboard.app.views.is_current())
        .await;
    assert!(!dashboard.shows("today partial"));
    assert_eq!(sim.requests(Operation::Views), 4);
}

#[tokio::test]
async fn pages_can_be_turned_to_the_last_one_and_not_beyond() {
    let folder = folder();
    let (sim, mut dashboard) = on_views_screen(&folder).await;
    dashboard.key(KeyCode::Right);
    dashboard.until_shown("page 2, rows 51–100, more →").await;
    dashboard.key(KeyCode::Right);
    dashboard.until_shown("page 3, rows 101–").await;
    dashboard.assert_shows("last page");
    dashboard.key(KeyCode::Right);
    dashboard.until("rest", |dashboard| !dashboard.app.views.load().is_loading()).await;
    dashboard.assert_shows("page 3, rows 101–");
    assert_eq!(sim.requests(Operation::Views), 3);
    dashboard.key(KeyCode::Left);
    dashboard.until_shown("page 2, rows 51–100").await;
    assert_eq!(sim.requests(Operation::Views), 3, "it was in the cache");
}

#[tokio::test]
async fn a_failure_keeps_the_old_rows_with_their_age() {
    let folder = folder();
    let (sim, mut dashboard) = on_views_screen(&folder).await;
    let rows = dashboard.app.views.rows().to_vec();
    faults(&sim, &["views=500"]);
    dashboard.keys("r");
    dashboard.until("the failure", |dashboard| dashboard.app.views.load().failure().is_some()).await;
    assert_eq!(dashboard.app.views.rows(), rows);
    dashboard.assert_shows("as of");
    dashboard.assert_shows("page 1, rows 1–50");
    faults(&sim, &[]);
    dashboard.keys("r");
    dashboard
        .until("an answer", |dashboard| {
            dashboard.app.views.load().failure().is_none() && dashboard.app.views.is_current()
        })
        .await;
}

#[tokio::test]
async fn a_custom_range_can_be_typed_and_an_empty_one_is_reported() {
    let folder = folder();
    let (sim, mut dashboard) = on_views_screen(&folder).await;
    let today = sim.now().date_naive();
    let day = today - chrono::TimeDelta::days(3);
    dashboard.keys(&format!("D{day}"));
    dashboard.key(KeyCode::Enter);
    dashboard.until("one day", |dashboard| dashboard.shows("1 day UTC") && dashboard.app.views.is_current()).await;
    dashboard.assert_shows("[custom]");
    dashboard.assert_shows(&day.to_string());
    let (from, to) = (today - chrono::TimeDelta::days(900), today - chrono::TimeDelta::days(890));
    dashboard.keys(&format!("D{from} {to}"));
    dashboard.key(KeyCode::Enter);
    dashboard.until_shown("No page was viewed in this range.").await;
    assert_eq!(sim.requests(Operation::Views), 3);
}

#[tokio::test]
async fn the_user_can_jump_to_a_page_and_choose_the_number_of_rows() {
    let folder = folder();
    let (sim, mut dashboard) = on_views_screen(&folder).await;
    dashboard.keys("p");
    type_value(&mut dashboard, "2");
    dashboard.until_shown("page 2, rows 51–100").await;
    dashboard.keys("L");
    type_value(&mut dashboard, "25");
    dashboard.until_shown("page 3, rows 51–75").await;
    dashboard.assert_shows("25 per page");
    dashboard.keys("p");
    type_value(&mut dashboard, "99");
    dashboard.until_shown("No rows on this page: ← goes back.").await;
    assert_eq!(sim.requests(Operation::Views), 4);
}

#[tokio::test]
async fn a_429_shows_the_retry_time_and_no_request_is_sent_before_it() {
    let (sim, folder) = (sim(&["views=429-600"]).await, folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.keys("2");
    dashboard.until_shown("Not loaded.").await;
    dashboard.until_shown("view requests: limit reached, next in").await;
    dashboard.assert_shows("Try again in 10 min.");
    faults(&sim, &[]);
    dashboard.keys("r");
    dashboard.until("the second failure", |dashboard| !dashboard.app.views.load().is_loading()).await;
    dashboard.assert_shows("so no request was made. Try again in 10m, at");
    assert_eq!(sim.requests(Operation::Views), 1);
}
