//! Page views: what a look costs, how pages and ranges turn, and what stays when asking fails.

use crate::dashboard_fixture::{DashboardFixture, faults, folder, sim};
use crossterm::event::KeyCode;
use docdeck::model::log::Operation;
use docdeck::sim::Sim;

/// A dashboard whose first page of rows is loaded.
async fn looking(folder: &tempfile::TempDir) -> (Sim, DashboardFixture) {
    let sim = sim(&[]).await;
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.keys("2");
    desk.until_shown("page 1, rows 1–50, more →").await;
    (sim, desk)
}

/// Types a value where one is asked for.
fn answer(desk: &mut DashboardFixture, text: &str) {
    desk.ctrl('a');
    desk.ctrl('w');
    for _ in 0..40 {
        desk.key(KeyCode::Delete);
    }
    desk.keys(text);
    desk.key(KeyCode::Enter);
}

#[tokio::test]
async fn the_first_look_at_views_costs_one_request_and_coming_back_none() {
    let folder = folder();
    let (sim, mut desk) = looking(&folder).await;
    desk.until_shown("view requests 1/100").await;
    for shown in ["7 days UTC, today partial", "[7d]", "as of"] {
        desk.assert_shows(shown);
    }
    desk.keys("12");
    desk.assert_shows("page 1, rows 1–50");
    desk.terminate().await;
    // The cache outlives the program.
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.keys("2");
    desk.until_shown("page 1, rows 1–50").await;
    assert_eq!(sim.requests(Operation::Views), 1);
    desk.keys("r");
    desk.until("a second request", |_| sim.requests(Operation::Views) == 2).await;
}

#[tokio::test]
async fn ranges_change_by_key_and_a_range_that_was_there_before_costs_nothing() {
    let folder = folder();
    let (sim, mut desk) = looking(&folder).await;
    for (range, days) in [("[30d]", "30 days UTC"), ("[90d]", "90 days UTC")] {
        desk.keys("d");
        desk.until(range, |desk| desk.shows(range) && desk.shows(days) && desk.app.views.is_current()).await;
    }
    desk.keys("D7d");
    desk.key(KeyCode::Enter);
    desk.until("7d", |desk| desk.shows("[7d]") && desk.shows("7 days UTC") && desk.app.views.is_current()).await;
    assert_eq!(sim.requests(Operation::Views), 3, "7d was in the cache");
    desk.keys("[");
    desk.until("the period before", |desk| desk.shows("[custom]") && desk.app.views.is_current()).await;
    assert!(!desk.shows("today partial"));
    assert_eq!(sim.requests(Operation::Views), 4);
}

#[tokio::test]
async fn pages_turn_to_the_last_one_and_not_beyond() {
    let folder = folder();
    let (sim, mut desk) = looking(&folder).await;
    desk.key(KeyCode::Right);
    desk.until_shown("page 2, rows 51–100, more →").await;
    desk.key(KeyCode::Right);
    desk.until_shown("page 3, rows 101–").await;
    desk.assert_shows("the last page");
    desk.key(KeyCode::Right);
    desk.until("rest", |desk| !desk.app.views.load().is_loading()).await;
    desk.assert_shows("page 3, rows 101–");
    assert_eq!(sim.requests(Operation::Views), 3);
    desk.key(KeyCode::Left);
    desk.until_shown("page 2, rows 51–100").await;
    assert_eq!(sim.requests(Operation::Views), 3, "it was in the cache");
}

#[tokio::test]
async fn a_failure_keeps_the_old_rows_with_their_age() {
    let folder = folder();
    let (sim, mut desk) = looking(&folder).await;
    let rows = desk.app.views.rows().to_vec();
    faults(&sim, &["views=500"]);
    desk.keys("r");
    desk.until("the failure", |desk| desk.app.views.load().failure().is_some()).await;
    assert_eq!(desk.app.views.rows(), rows);
    desk.assert_shows("as of");
    desk.assert_shows("page 1, rows 1–50");
    faults(&sim, &[]);
    desk.keys("r");
    desk.until("an answer", |desk| desk.app.views.load().failure().is_none() && desk.app.views.is_current()).await;
}

#[tokio::test]
async fn a_range_of_ones_own_is_typed_and_one_without_views_says_so() {
    let folder = folder();
    let (sim, mut desk) = looking(&folder).await;
    let today = sim.now().date_naive();
    let day = today - chrono::TimeDelta::days(3);
    desk.keys(&format!("D{day}"));
    desk.key(KeyCode::Enter);
    desk.until("one day", |desk| desk.shows("1 day UTC") && desk.app.views.is_current()).await;
    desk.assert_shows("[custom]");
    desk.assert_shows(&day.to_string());
    let (from, to) = (today - chrono::TimeDelta::days(900), today - chrono::TimeDelta::days(890));
    desk.keys(&format!("D{from} {to}"));
    desk.key(KeyCode::Enter);
    desk.until_shown("No page was viewed in this range.").await;
    assert_eq!(sim.requests(Operation::Views), 3);
}

#[tokio::test]
async fn one_jumps_to_a_page_and_chooses_how_many_rows_it_has() {
    let folder = folder();
    let (sim, mut desk) = looking(&folder).await;
    desk.keys("p");
    answer(&mut desk, "2");
    desk.until_shown("page 2, rows 51–100").await;
    desk.keys("L");
    answer(&mut desk, "25");
    desk.until_shown("page 3, rows 51–75").await;
    desk.assert_shows("25 per page");
    desk.keys("p");
    answer(&mut desk, "99");
    desk.until_shown("No rows on this page: ← goes back.").await;
    assert_eq!(sim.requests(Operation::Views), 4);
}

#[tokio::test]
async fn a_429_says_when_to_come_back_and_nothing_is_asked_before() {
    let (sim, folder) = (sim(&["views=429-600"]).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.keys("2");
    desk.until_shown("Not loaded.").await;
    desk.until_shown("view requests: limit reached, next in").await;
    desk.assert_shows("Try again in 10 min.");
    faults(&sim, &[]);
    desk.keys("r");
    desk.until("the second failure", |desk| !desk.app.views.load().is_loading()).await;
    desk.assert_shows("so no request was made. Try again in 10m, at");
    assert_eq!(sim.requests(Operation::Views), 1);
}
