//! Tests of how the dashboard shows problems of the service: offline, a rejected API key, a job that is gone.

use crate::support::dashboard::DashboardFixture;
use crate::support::{create_folder, set_faults, start_sim};
use docdeck::model::log::Operation;
use std::time::Duration;

#[tokio::test]
async fn a_failing_service_is_shown_as_offline_with_the_next_retry_and_recovers_automatically() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.send_accepted_job("One [sim:seconds=6000]").await;
    set_faults(&sim, &["get=500"]);
    dashboard.press_chars("r");
    dashboard.wait_until_shown("✗ offline, retrying in").await;
    dashboard.assert_shows("One");
    dashboard.assert_shows("Working 1");
    let asked = sim.requests(Operation::GetJob);
    set_faults(&sim, &[]);
    dashboard.wait_until_shown(" ready").await;
    assert_eq!(sim.requests(Operation::GetJob), asked + 1, "one successful check was enough");
}

#[tokio::test]
async fn a_rejected_api_key_stops_polling_until_the_r_key_is_pressed() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.send_accepted_job("One [sim:seconds=6000]").await;
    set_faults(&sim, &["get=401"]);
    dashboard.press_chars("r");
    dashboard.wait_until_shown("✗ key refused, r to retry").await;
    set_faults(&sim, &[]);
    dashboard.run_for(Duration::from_millis(2500)).await;
    assert_eq!(sim.requests(Operation::GetJob), 1, "though its first look was due");
    dashboard.assert_shows("✗ key refused, r to retry");
    dashboard.press_chars("r");
    dashboard.wait_until_shown(" ready").await;
    assert!(sim.requests(Operation::GetJob) >= 2);
}

#[tokio::test]
async fn a_job_that_the_service_no_longer_has_is_marked_as_gone_and_stays_in_the_list() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    let key = dashboard.send_accepted_job("Lost in space [sim:seconds=6000]").await;
    set_faults(&sim, &["get=404"]);
    dashboard.press_chars("r");
    dashboard.wait_until_shown("no longer on the service").await;
    dashboard.press_chars("f");
    dashboard.assert_shows("Can't follow up: the service no longer has this job");
    assert!(dashboard.app.dialogs.is_empty());
    dashboard.terminate().await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.wait_until("the row", |dashboard| dashboard.app.jobs.get(key).is_some_and(|row| row.local.gone)).await;
    dashboard.assert_shows("Lost in space");
    dashboard.assert_shows("no longer on the service");
}

#[tokio::test]
async fn unusable_responses_are_reported_at_once_after_a_start_but_only_if_repeated_after_a_success() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.send_accepted_job("One [sim:seconds=6000]").await;
    dashboard.terminate().await;
    set_faults(&sim, &["get=html"]);
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.wait_until_shown("! unreadable answers").await;
    dashboard.assert_shows("Working 1");
    set_faults(&sim, &[]);
    dashboard.press_chars("r");
    dashboard.wait_until_shown(" ready").await;
    // After a success, the first two unusable responses do not change the state.
    set_faults(&sim, &["get=malformed"]);
    for _ in 0..2 {
        dashboard.press_chars("r");
        dashboard.wait_until_shown("a JSON object").await;
        dashboard.assert_shows(" ready");
        dashboard.press_chars("Esc");
    }
    dashboard.press_chars("r");
    dashboard.wait_until_shown("! unreadable answers").await;
}
