//! A record of ten thousand jobs.

use crate::dashboard_fixture::{DashboardFixture, folder, scope_of, sim};
use crossterm::event::KeyCode;
use docdeck::model::change::QueueChange;
use docdeck::model::log::Operation;
use docdeck::store::Store;
use std::time::{Duration, Instant};

/// Far above what it takes unoptimized on a busy machine, far below what a walk through all jobs a key would take.
const SOON: Duration = Duration::from_secs(5);

#[tokio::test]
async fn with_ten_thousand_jobs_the_dashboard_opens_and_its_keys_and_filter_show_the_right_rows() {
    let (sim, folder) = (sim(&[]).await, folder());
    let (store, _) = Store::open(folder.path(), sim.now()).expect("a store");
    let texts: Vec<String> = (0..10_000).map(|n| format!("Page {n:04}")).collect();
    let rows = store.add_batch(&scope_of(&sim), &texts, sim.now()).await.expect("written");
    let keys: Vec<_> = rows.iter().map(|row| row.key).collect();
    store.change_queue(&keys, QueueChange::Pause, sim.now()).await.expect("paused");
    store.close().await;

    let begun = Instant::now();
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.until_shown("10,000 known here").await;
    desk.assert_shows("QUEUED 10,000");
    let drawn = |desk: &DashboardFixture| desk.screen().lines().filter(|line| line.contains("Page ")).count();
    assert!((20..40).contains(&drawn(&desk)), "one screenful:\n{}", desk.screen());
    assert_eq!(desk.selected().title.as_str(), "Page 0000");
    for _ in 0..500 {
        desk.key(KeyCode::Down);
    }
    assert_eq!(desk.selected().title.as_str(), "Page 0500");
    desk.assert_shows("Page 0500");
    assert!(!desk.shows("Page 0000"));
    desk.keys("G");
    assert_eq!(desk.selected().title.as_str(), "Page 9999");
    desk.assert_shows("Page 9999");
    desk.assert_shows("Page 9990");
    desk.keys("g");
    desk.assert_shows("Page 0000");

    desk.keys("/7777");
    desk.key(KeyCode::Enter);
    desk.until("the filtered list", |desk| desk.app.jobs.shown() == 1).await;
    assert_eq!(desk.selected().title.as_str(), "Page 7777");
    assert!(desk.shows("Page 7777") && !desk.shows("Page 0000"));
    desk.key(KeyCode::Esc);
    desk.until("all of them", |desk| desk.app.jobs.shown() == 10_000).await;
    assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    assert_eq!(sim.requests(Operation::Create), 0, "what is paused is not sent");
}
