//! Tests of a pull request from its job to its merge: the details, the changes and the actions of the dashboard.

use crate::support::dashboard::DashboardFixture;
use crate::support::{create_folder, start_sim};
use crossterm::event::KeyCode;
use docdeck::model::log::Operation;
use docdeck::model::pull_request::PullRequestState;
use docdeck::sim::Sim;

/// Starts a dashboard whose only job has a pull request of which the state is known.
async fn start_with_pull_request(folder: &tempfile::TempDir) -> (Sim, DashboardFixture) {
    let sim = start_sim(&[]).await;
    let mut dashboard = DashboardFixture::start_with_hosts(&sim, folder.path()).await;
    dashboard.send_accepted_job("Fix it [sim:seconds=0.1]").await;
    dashboard.wait_until("the state", |dashboard| dashboard.selected_job().pull_request.is_some()).await;
    (sim, dashboard)
}

#[tokio::test]
async fn changed_pages_have_their_views_from_the_cache_and_cost_no_request_for_views() {
    let folder = create_folder();
    let (sim, mut dashboard) = start_with_pull_request(&folder).await;
    dashboard.press_chars("O");
    dashboard.wait_until_shown("Files").await;
    assert!(!dashboard.shows(" human · ") && sim.requests(Operation::Views) == 0);
    dashboard.press_key(KeyCode::Esc);
    dashboard.press_chars("2");
    dashboard.wait_until_shown("1 of 50").await;
    dashboard.terminate().await;
    // After a restart, the views are read from the store.
    let mut dashboard = DashboardFixture::start_with_hosts(&sim, folder.path()).await;
    for (key, shown) in [("1O", "in the last 7 days"), ("c", " AI views in the last 7 days")] {
        dashboard.press_chars(key);
        dashboard.wait_until_shown(shown).await;
    }
    assert_eq!(sim.requests(Operation::Views), 1);
}

#[tokio::test]
async fn the_text_of_a_review_survives_a_crash_and_a_restart_until_it_is_sent() {
    let folder = create_folder();
    let (sim, mut dashboard) = start_with_pull_request(&folder).await;
    let has_text = async |dashboard: &DashboardFixture| {
        let texts = dashboard.store.unsent_reviews().await.expect("read");
        texts.into_values().next()
    };
    dashboard.press_chars("O");
    dashboard.wait_until_shown("Files").await;
    dashboard.press_chars("xHalf a");
    dashboard.assert_shows("draft not saved yet");
    dashboard.wait_until_shown("draft saved").await;
    assert_eq!(has_text(&dashboard).await.as_deref(), Some("Half a"));
    dashboard.crash().await;
    let mut dashboard = DashboardFixture::start_with_hosts(&sim, folder.path()).await;
    dashboard.press_chars("O");
    dashboard.wait_until_shown("Files").await;
    dashboard.press_chars("x");
    dashboard.assert_shows("Half a");
    dashboard.press_chars(" thought");
    dashboard.terminate().await;
    let mut dashboard = DashboardFixture::start_with_hosts(&sim, folder.path()).await;
    assert_eq!(has_text(&dashboard).await.as_deref(), Some("Half a thought"));
    dashboard.press_chars("O");
    dashboard.wait_until_shown("Files").await;
    dashboard.press_chars("x");
    dashboard.press_ctrl('s');
    dashboard.assert_shows("Half a thought");
    dashboard.press_chars("y");
    dashboard.wait_until_shown("Half a thought").await;
    for _ in 0..500 {
        if has_text(&dashboard).await.is_none() {
            break;
        }
        dashboard.run_for(std::time::Duration::from_millis(20)).await;
    }
    assert_eq!(has_text(&dashboard).await, None, "a sent text is no longer a draft");
}

#[tokio::test]
async fn a_pull_request_is_merged_after_a_confirmation_that_names_its_head() {
    let folder = create_folder();
    let (_sim, mut dashboard) = start_with_pull_request(&folder).await;
    let state = dashboard.selected_job().pull_request.clone().expect("a state");
    dashboard.press_chars("O");
    dashboard.wait_until_shown("Files").await;
    dashboard.press_chars("m");
    let head: String = state.head.as_str().chars().take(7).collect();
    dashboard.assert_shows(&format!("at commit {head}"));
    dashboard.press_chars("n");
    assert_eq!(dashboard.selected_job().pull_request.as_ref().map(|state| state.state), Some(state.state));
    dashboard.press_chars("my");
    dashboard
        .wait_until("the merge", |dashboard| {
            dashboard.selected_job().pull_request.as_ref().is_some_and(|state| state.state == PullRequestState::Merged)
        })
        .await;
}
