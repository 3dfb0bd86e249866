//! How the dashboard was left comes back at the next start, for each profile its own.

use crate::dashboard_fixture::{DashboardFixture, folder, sim};
use chrono::Utc;
use docdeck::app::Screen;
use docdeck::model::layout::Layout;
use docdeck::model::log::Operation;
use docdeck::store::Store;

#[tokio::test]
async fn screen_range_order_and_filter_are_there_after_a_restart() {
    let (folder, sim) = (folder(), sim(&[]).await);
    let mut desk = DashboardFixture::go_on_as("docs", &sim, folder.path()).await;
    desk.accepted("Fix the broken links").await;
    desk.accepted("Rewrite the guide").await;
    desk.keys("si/broken");
    desk.key(crossterm::event::KeyCode::Enter);
    desk.keys("2");
    desk.until("7 days", |desk| desk.app.views.is_current()).await;
    desk.keys("d");
    desk.until("30 days", |desk| desk.shows("[30d]") && desk.app.views.is_current()).await;
    desk.terminate().await;
    let asked = sim.requests(Operation::Views);
    let mut desk = DashboardFixture::go_on_as("docs", &sim, folder.path()).await;
    assert_eq!(desk.app.screen, Screen::Views);
    desk.until("the views again", |desk| desk.shows("[30d]") && desk.app.views.is_current()).await;
    assert_eq!(sim.requests(Operation::Views), asked, "what is known is not asked for again");
    desk.keys("1");
    desk.assert_shows("1 of 2 · /broken · by age");
    assert!(!desk.shows("Rewrite the guide"), "the filter holds, and is said");
    assert!(!desk.app.geometry().shows_both(), "the detail is hidden still");
}

#[tokio::test]
async fn two_profiles_that_lead_to_the_same_place_are_left_apart() {
    let (folder, sim) = (folder(), sim(&[]).await);
    let mut one = DashboardFixture::go_on_as("one", &sim, folder.path()).await;
    one.keys("3");
    one.terminate().await;
    let mut other = DashboardFixture::go_on_as("other", &sim, folder.path()).await;
    assert_eq!(other.app.screen, Screen::Jobs);
    other.keys("i");
    other.terminate().await;
    let one = DashboardFixture::go_on_as("one", &sim, folder.path()).await;
    assert_eq!((one.app.screen, one.app.geometry().shows_both()), (Screen::Log, true));
}

#[tokio::test]
async fn a_change_is_on_disk_a_moment_later_whatever_happens_then() {
    let (folder, sim) = (folder(), sim(&[]).await);
    let mut desk = DashboardFixture::go_on_as("docs", &sim, folder.path()).await;
    desk.keys("3");
    let key = desk.app.config.layout_key();
    let end = tokio::time::Instant::now() + std::time::Duration::from_secs(20);
    let text = loop {
        desk.go_on_for(std::time::Duration::from_millis(100)).await;
        match desk.store.recall(&key).await.expect("the record") {
            Some(text) => break text,
            None => assert!(tokio::time::Instant::now() < end, "waited in vain for the layout"),
        }
    };
    assert_eq!(Layout::parse(&text).text(), text);
    desk.crash().await;
    let desk = DashboardFixture::go_on_as("docs", &sim, folder.path()).await;
    assert_eq!(desk.app.screen, Screen::Log);
}

#[tokio::test]
async fn what_can_not_be_read_is_passed_over_quietly() {
    let (folder, sim) = (folder(), sim(&[]).await);
    let desk = DashboardFixture::go_on_as("docs", &sim, folder.path()).await;
    let key = desk.app.config.layout_key();
    desk.terminate().await;
    let (store, _) = Store::open(folder.path(), Utc::now()).expect("a store");
    store.remember(&key, "{\"place\":\"moon\",\"columns\":").await.expect("written");
    store.close().await;
    let desk = DashboardFixture::go_on_as("docs", &sim, folder.path()).await;
    assert_eq!(desk.app.screen, Screen::Jobs);
    assert!(desk.app.notice.is_none());
}
