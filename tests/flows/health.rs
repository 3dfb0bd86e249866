//! The service's bad days as the header tells them: offline, refused, a job that is gone.

use crate::dashboard_fixture::{DashboardFixture, faults, folder, sim};
use docdeck::model::log::Operation;
use std::time::Duration;

#[tokio::test]
async fn a_service_that_fails_is_offline_with_its_next_try_and_recovers_by_itself() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.accepted("One [sim:seconds=6000]").await;
    faults(&sim, &["get=500"]);
    desk.keys("r");
    desk.until_shown("✗ offline, retrying in").await;
    desk.assert_shows("One");
    desk.assert_shows("WORKING 1");
    let asked = sim.requests(Operation::Get);
    faults(&sim, &[]);
    desk.until_shown(" ready").await;
    assert_eq!(sim.requests(Operation::Get), asked + 1, "one probe was enough");
}

#[tokio::test]
async fn a_refused_key_stops_polling_and_r_tries_again() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.accepted("One [sim:seconds=6000]").await;
    faults(&sim, &["get=401"]);
    desk.keys("r");
    desk.until_shown("✗ key refused, r to retry").await;
    faults(&sim, &[]);
    desk.go_on_for(Duration::from_millis(2500)).await;
    assert_eq!(sim.requests(Operation::Get), 1, "though its first look was due");
    desk.assert_shows("✗ key refused, r to retry");
    desk.keys("r");
    desk.until_shown(" ready").await;
    assert!(sim.requests(Operation::Get) >= 2);
}

#[tokio::test]
async fn a_job_that_the_service_no_longer_knows_is_gone_and_stays_in_the_list() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    let key = desk.accepted("Lost in space [sim:seconds=6000]").await;
    faults(&sim, &["get=404"]);
    desk.keys("r");
    desk.until_shown("gone: the service no longer knows this job").await;
    desk.keys("f");
    desk.assert_shows("so it takes no follow-up");
    assert!(desk.app.dialogs.is_empty());
    desk.terminate().await;
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.until("the row", |desk| desk.app.jobs.get(key).is_some_and(|row| row.gone)).await;
    desk.assert_shows("Lost in space");
    desk.assert_shows("gone: the service no longer knows this job");
}

#[tokio::test]
async fn answers_of_no_use_are_no_answers_not_yet_there_and_one_that_can_be_read_ends_that() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.accepted("One [sim:seconds=6000]").await;
    desk.terminate().await;
    faults(&sim, &["get=html"]);
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.until_shown("! unreadable answers").await;
    desk.assert_shows("WORKING 1");
    faults(&sim, &[]);
    desk.keys("r");
    desk.until_shown(" ready").await;
    // A service that answered well before is not judged by one answer.
    faults(&sim, &["get=malformed"]);
    for _ in 0..2 {
        desk.keys("r");
        desk.until_shown("not a JSON object").await;
        desk.assert_shows(" ready");
        desk.keys("Esc");
    }
    desk.keys("r");
    desk.until_shown("! unreadable answers").await;
}
