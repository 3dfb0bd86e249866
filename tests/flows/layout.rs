//! Tests that the layout is restored at the next start, separately for each profile.

use crate::support::dashboard::DashboardFixture;
use crate::support::{create_folder, start_sim};
use chrono::Utc;
use docdeck::model::layout::Layout;
use docdeck::model::log::Operation;
use docdeck::store::Store;
use docdeck::tui::Screen;

#[tokio::test]
async fn screen_range_order_and_filter_are_restored_after_a_restart() {
    let (folder, sim) = (create_folder(), start_sim(&[]).await);
    let mut dashboard = DashboardFixture::start_with_saved_layout("docs", &sim, folder.path()).await;
    dashboard.send_accepted_job("Fix the broken links").await;
    dashboard.send_accepted_job("Rewrite the guide").await;
    dashboard.press_chars("si/broken");
    dashboard.press_key(crossterm::event::KeyCode::Enter);
    dashboard.press_chars("2");
    dashboard.wait_until("7 days", |dashboard| dashboard.app.views.lists_current_query()).await;
    dashboard.press_chars("d");
    dashboard
        .wait_until("30 days", |dashboard| dashboard.shows("[30d]") && dashboard.app.views.lists_current_query())
        .await;
    dashboard.terminate().await;
    let requests = sim.requests(Operation::Views);
    let mut dashboard = DashboardFixture::start_with_saved_layout("docs", &sim, folder.path()).await;
    assert_eq!(dashboard.app.screen, Screen::Analytics);
    dashboard
        .wait_until("the views again", |dashboard| {
            dashboard.shows("[30d]") && dashboard.app.views.lists_current_query()
        })
        .await;
    assert_eq!(sim.requests(Operation::Views), requests, "cached views are not requested again");
    dashboard.press_chars("1");
    dashboard.assert_shows("/broken  1 of 2  by time in state");
    assert!(!dashboard.shows("Rewrite the guide"), "the filter is restored and shown");
    assert!(!dashboard.app.geometry().shows_both_panes(), "the detail pane is still hidden");
}

#[tokio::test]
async fn two_profiles_of_the_same_project_have_separate_layouts() {
    let (folder, sim) = (create_folder(), start_sim(&[]).await);
    let mut one = DashboardFixture::start_with_saved_layout("one", &sim, folder.path()).await;
    // Without a job, no details are shown.
    one.send_accepted_job("Rewrite the guide").await;
    one.press_chars("3");
    one.terminate().await;
    let mut other = DashboardFixture::start_with_saved_layout("other", &sim, folder.path()).await;
    assert_eq!(other.app.screen, Screen::Jobs);
    other.press_chars("i");
    other.terminate().await;
    let one = DashboardFixture::start_with_saved_layout("one", &sim, folder.path()).await;
    assert_eq!((one.app.screen, one.app.geometry().shows_both_panes()), (Screen::Log, true));
}

#[tokio::test]
async fn a_layout_change_is_saved_soon_and_survives_a_crash() {
    let (folder, sim) = (create_folder(), start_sim(&[]).await);
    let mut dashboard = DashboardFixture::start_with_saved_layout("docs", &sim, folder.path()).await;
    dashboard.press_chars("3");
    let key = dashboard.app.config.layout_store_key();
    let end = tokio::time::Instant::now() + std::time::Duration::from_secs(20);
    let text = loop {
        dashboard.run_for(std::time::Duration::from_millis(100)).await;
        match dashboard.store.value(&key).await.expect("the store") {
            Some(text) => break text,
            None => assert!(tokio::time::Instant::now() < end, "timed out waiting for the layout"),
        }
    };
    assert_eq!(Layout::parse(&text).to_json(), text);
    dashboard.crash().await;
    let dashboard = DashboardFixture::start_with_saved_layout("docs", &sim, folder.path()).await;
    assert_eq!(dashboard.app.screen, Screen::Log);
}

#[tokio::test]
async fn an_unreadable_layout_is_ignored_silently() {
    let (folder, sim) = (create_folder(), start_sim(&[]).await);
    let dashboard = DashboardFixture::start_with_saved_layout("docs", &sim, folder.path()).await;
    let key = dashboard.app.config.layout_store_key();
    dashboard.terminate().await;
    let (store, _) = Store::open(folder.path(), Utc::now()).expect("a store");
    store.set_value(&key, "{\"place\":\"moon\",\"columns\":").await.expect("written");
    store.close().await;
    let dashboard = DashboardFixture::start_with_saved_layout("docs", &sim, folder.path()).await;
    assert_eq!(dashboard.app.screen, Screen::Jobs);
    assert!(dashboard.app.notice.is_none());
}
