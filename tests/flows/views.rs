//! Tests of the views screen: the number of requests, changing pages and ranges, and the rows that stay after a
//! failure.

use crate::support::dashboard::DashboardFixture;
use crate::support::{create_folder, set_faults, start_sim};
use crossterm::event::KeyCode;
use docdeck::model::log::Operation;
use docdeck::sim::Sim;

/// Starts a dashboard, opens the views screen, and waits until the first page of rows is loaded.
async fn start_on_views_screen(folder: &tempfile::TempDir) -> (Sim, DashboardFixture) {
    let sim = start_sim(&[]).await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.press_chars("2");
    dashboard.wait_until_shown("1 of 50").await;
    (sim, dashboard)
}

/// Replaces the value in an input dialog, and confirms it.
fn type_value(dashboard: &mut DashboardFixture, text: &str) {
    dashboard.press_ctrl('a');
    dashboard.press_ctrl('w');
    for _ in 0..40 {
        dashboard.press_key(KeyCode::Delete);
    }
    dashboard.press_chars(text);
    dashboard.press_key(KeyCode::Enter);
}

#[tokio::test]
async fn the_views_screen_sends_one_request_at_the_first_visit_and_none_later() {
    let folder = create_folder();
    let (sim, mut dashboard) = start_on_views_screen(&folder).await;
    dashboard.wait_until_shown("analytics requests: 99 of 100 left").await;
    for shown in ["UTC, 7 days incl. today", "[7d]", "as of"] {
        dashboard.assert_shows(shown);
    }
    dashboard.press_chars("12");
    dashboard.assert_shows("rows 1–50");
    dashboard.terminate().await;
    // After a restart, the cached rows are shown without a request.
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.press_chars("2");
    dashboard.wait_until_shown("1 of 50").await;
    assert_eq!(sim.requests(Operation::Views), 1);
    dashboard.press_chars("r");
    dashboard.wait_until("a second request", |_| sim.requests(Operation::Views) == 2).await;
}

#[tokio::test]
async fn a_shortcut_changes_the_range_and_a_cached_range_costs_no_request() {
    let folder = create_folder();
    let (sim, mut dashboard) = start_on_views_screen(&folder).await;
    for (range, days) in [("[30d]", "UTC, 30 days"), ("[90d]", "UTC, 90 days")] {
        dashboard.press_chars("d");
        dashboard
            .wait_until(range, |dashboard| {
                dashboard.shows(range) && dashboard.shows(days) && dashboard.app.views.lists_current_query()
            })
            .await;
    }
    dashboard.press_chars("D7d");
    dashboard.press_key(KeyCode::Enter);
    dashboard
        .wait_until("7d", |dashboard| {
            dashboard.shows("[7d]") && dashboard.shows("UTC, 7 days") && dashboard.app.views.lists_current_query()
        })
        .await;
    assert_eq!(sim.requests(Operation::Views), 3, "the range 7d was cached");
    dashboard.press_chars("[");
    dashboard
        .wait_until("the previous period", |dashboard| {
            dashboard.shows("[custom]") && dashboard.app.views.lists_current_query()
        })
        .await;
    assert!(!dashboard.shows("UTC, 7 days incl. today"));
    assert_eq!(sim.requests(Operation::Views), 4);
}

#[tokio::test]
async fn arrow_keys_turn_pages_up_to_the_last_page() {
    let folder = create_folder();
    let (sim, mut dashboard) = start_on_views_screen(&folder).await;
    dashboard.press_key(KeyCode::Right);
    dashboard.wait_until_shown("rows 51–100").await;
    dashboard.press_key(KeyCode::Right);
    dashboard.wait_until_shown("rows 101–").await;
    dashboard.press_key(KeyCode::Right);
    dashboard.wait_until("rest", |dashboard| !dashboard.app.views.load().is_loading()).await;
    dashboard.assert_shows("rows 101–");
    assert_eq!(sim.requests(Operation::Views), 3);
    dashboard.press_key(KeyCode::Left);
    dashboard.wait_until_shown("rows 51–100").await;
    assert_eq!(sim.requests(Operation::Views), 3, "page 2 was cached");
}

#[tokio::test]
async fn a_failure_keeps_the_old_rows_with_their_age() {
    let folder = create_folder();
    let (sim, mut dashboard) = start_on_views_screen(&folder).await;
    let rows = dashboard.app.views.rows().to_vec();
    set_faults(&sim, &["views=500"]);
    dashboard.press_chars("r");
    dashboard.wait_until("the failure", |dashboard| dashboard.app.views.load().failure().is_some()).await;
    assert_eq!(dashboard.app.views.rows(), rows);
    dashboard.assert_shows("as of");
    dashboard.assert_shows("1 of 50");
    set_faults(&sim, &[]);
    dashboard.press_chars("r");
    dashboard
        .wait_until("an answer", |dashboard| {
            dashboard.app.views.load().failure().is_none() && dashboard.app.views.lists_current_query()
        })
        .await;
}

#[tokio::test]
async fn a_custom_range_can_be_typed_and_a_range_without_views_is_reported() {
    let folder = create_folder();
    let (sim, mut dashboard) = start_on_views_screen(&folder).await;
    let today = sim.now().date_naive();
    let day = today - chrono::TimeDelta::days(3);
    dashboard.press_chars(&format!("D{day}"));
    dashboard.press_key(KeyCode::Enter);
    let words = day.format("%-d %b %Y").to_string();
    let is_shown = |dashboard: &DashboardFixture| {
        dashboard.shows(&format!("  {words} UTC")) && dashboard.app.views.lists_current_query()
    };
    dashboard.wait_until("one day", is_shown).await;
    dashboard.assert_shows("[custom]");
    dashboard.assert_shows(&words);
    let (from, to) = (today - chrono::TimeDelta::days(900), today - chrono::TimeDelta::days(890));
    dashboard.press_chars(&format!("D{from} {to}"));
    dashboard.press_key(KeyCode::Enter);
    dashboard.wait_until_shown("No page was viewed in this range.").await;
    assert_eq!(sim.requests(Operation::Views), 3);
}

#[tokio::test]
async fn the_user_can_jump_to_a_page_and_choose_the_number_of_rows() {
    let folder = create_folder();
    let (sim, mut dashboard) = start_on_views_screen(&folder).await;
    dashboard.press_chars("p");
    type_value(&mut dashboard, "2");
    dashboard.wait_until_shown("rows 51–100").await;
    dashboard.press_chars("L");
    type_value(&mut dashboard, "25");
    dashboard.wait_until_shown("rows 51–75").await;
    dashboard.press_chars("p");
    type_value(&mut dashboard, "99");
    dashboard.wait_until_shown("No rows here: ← goes back.").await;
    assert_eq!(sim.requests(Operation::Views), 4);
}

#[tokio::test]
async fn after_a_429_the_retry_time_is_shown_and_no_request_is_sent_before_it() {
    let (sim, folder) = (start_sim(&["views=429-600"]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.press_chars("2");
    dashboard.wait_until_shown("Not loaded.").await;
    dashboard.wait_until_shown("analytics: limit reached, next request in").await;
    dashboard.assert_shows("Try again after");
    set_faults(&sim, &[]);
    dashboard.press_chars("r");
    dashboard.wait_until("the second failure", |dashboard| !dashboard.app.views.load().is_loading()).await;
    dashboard.assert_shows("so no request was made. Try again after");
    assert_eq!(sim.requests(Operation::Views), 1);
}
