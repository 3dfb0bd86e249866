//! Service problems in the header: offline, a rejected key, a job that is gone.

use crate::dashboard_fixture::{DashboardFixture, faults, folder, sim};
use docdeck::model::log::Operation;
use std::time::Duration;

#[tokio::test]
async fn a_failing_service_is_offline_with_its_next_retry_and_recovers_by_itself() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.accepted("One [sim:seconds=6000]").await;
    faults(&sim, &["get=500"]);
    dashboard.keys("r");
    dashboard.until_shown("✗ offline, retrying in").await;
    dashboard.assert_shows("One");
    dashboard.assert_shows("WORKING 1");
    let asked = sim.requests(Operation::Get);
    faults(&sim, &[]);
    dashboard.until_shown(" ready").await;
    assert_eq!(sim.requests(Operation::Get), asked + 1, "one probe was enough");
}

#[tokio::test]
async fn a_rejected_key_stops_polling_and_r_retries() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.accepted("One [sim:seconds=6000]").await;
    faults(&sim, &["get=401"]);
    dashboard.keys("r");
    dashboard.until_shown("✗ key refused, r to retry").await;
    faults(&sim, &[]);
    dashboard.run_for(Duration::from_millis(2500)).await;
    assert_eq!(sim.requests(Operation::Get), 1, "though its first look was due");
    dashboard.assert_shows("✗ key refused, r to retry");
    dashboard.keys("r");
    dashboard.until_shown(" ready").await;
    assert!(sim.requests(Operation::Get) >= 2);
}

#[tokio::test]
async fn a_job_that_the_service_no_longer_has_is_gone_and_stays_in_the_list() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    let key = dashboard.accepted("Lost in space [sim:seconds=6000]").await;
    faults(&sim, &["get=404"]);
    dashboard.keys("r");
    dashboard.until_shown("gone: the service no longer has this job").await;
    dashboard.keys("f");
    dashboard.assert_shows("Can't follow up: the service no longer has this job");
    assert!(dashboard.app.dialogs.is_empty());
    dashboard.terminate().await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.until("the row", |dashboard| dashboard.app.jobs.get(key).is_some_and(|row| row.gone)).await;
    dashboard.assert_shows("Lost in space");
    dashboard.assert_shows("gone: the service no longer has this job");
}

#[tokio::test]
async fn unusable_answers_are_reported_at_once_after_a_start_but_only_if_repeated_after_a_success() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.accepted("One [sim:seconds=6000]").await;
    dashboard.terminate().await;
    faults(&sim, &["get=html"]);
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.until_shown("! unreadable answers").await;
    dashboard.assert_shows("WORKING 1");
    faults(&sim, &[]);
    dashboard.keys("r");
    dashboard.until_shown(" ready").await;
    // After a success, the first two unusable answers do not change the state.
    faults(&sim, &["get=malformed"]);
    for _ in 0..2 {
        dashboard.keys("r");
        dashboard.until_shown("a JSON object").await;
        dashboard.assert_shows(" ready");
        dashboard.keys("Esc");
    }
    dashboard.keys("r");
    dashboard.until_shown("! unreadable answers").await;
}
