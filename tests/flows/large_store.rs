//! Tests the dashboard with ten thousand jobs.

use crate::backup::backup_with_pull_requests;
use crate::support::dashboard::DashboardFixture;
use crate::support::{create_folder, scope_of, start_sim};
use crossterm::event::KeyCode;
use docdeck::model::change::QueueChange;
use docdeck::model::endpoint::Scope;
use docdeck::model::log::Operation;
use docdeck::model::pull_request::PullRequestFact;
use docdeck::store::{ScopeFilter, Store};

#[tokio::test]
async fn with_ten_thousand_jobs_opening_moving_and_filtering_are_correct() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let (store, _) = Store::open(folder.path(), sim.now()).expect("a store");
    let texts: Vec<String> = (0..10_000).map(|n| format!("Page {n:04}")).collect();
    let rows = store.add_batch(&scope_of(&sim), &texts, sim.now()).await.expect("written");
    let keys: Vec<_> = rows.iter().map(|row| row.key).collect();
    store.change_queue(&keys, QueueChange::Pause, sim.now()).await.expect("paused");
    store.close().await;

    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.wait_until_shown(" of 10,000").await;
    dashboard.assert_shows("Queued 10,000");
    let drawn = |dashboard: &DashboardFixture| dashboard.screen().lines().filter(|line| line.contains("Page ")).count();
    assert!((20..40).contains(&drawn(&dashboard)), "one screenful:\n{}", dashboard.screen());
    assert_eq!(dashboard.selected_job().local.title.as_str(), "Page 0000");
    for _ in 0..500 {
        dashboard.press_key(KeyCode::Down);
    }
    assert_eq!(dashboard.selected_job().local.title.as_str(), "Page 0500");
    dashboard.assert_shows("Page 0500");
    assert!(!dashboard.shows("Page 0000"));
    dashboard.press_chars("G");
    assert_eq!(dashboard.selected_job().local.title.as_str(), "Page 9999");
    dashboard.assert_shows("Page 9999");
    dashboard.assert_shows("Page 9990");
    dashboard.press_chars("g");
    dashboard.assert_shows("Page 0000");

    dashboard.press_chars("/7777");
    dashboard.press_key(KeyCode::Enter);
    dashboard.wait_until("the filtered list", |dashboard| dashboard.app.jobs.listed_count() == 1).await;
    assert_eq!(dashboard.selected_job().local.title.as_str(), "Page 7777");
    assert!(dashboard.shows("Page 7777") && !dashboard.shows("Page 0000"));
    dashboard.press_key(KeyCode::Esc);
    dashboard.wait_until("all of them", |dashboard| dashboard.app.jobs.listed_count() == 10_000).await;
    assert_eq!(sim.requests(Operation::Create), 0, "what is paused is not sent");
}

#[tokio::test]
async fn with_ten_thousand_jobs_with_pull_requests_opening_moving_and_filtering_are_correct() {
    let folder = create_folder();
    let now = chrono::Utc::now();
    let (store, _) = Store::open(folder.path(), now).expect("a store");
    let lines = std::io::Cursor::new(backup_with_pull_requests(10_000));
    store.import(lines, ScopeFilter::default(), false, now).await.expect("imported");
    store.close().await;

    // The jobs are finished, so nothing is requested at this address, where nothing responds.
    let scope = Scope { base_url: "http://127.0.0.1:9".to_owned(), project: "acme".to_owned(), organization: None };
    let mut dashboard = DashboardFixture::start_without_tokens(scope, "mint_of_nobody", folder.path()).await;
    dashboard.wait_until_shown(" of 10,000").await;
    // The 4,000 open pull requests, and 200 of the jobs whose pull request has no known state: those not viewed yet.
    dashboard.wait_until("all jobs", |dashboard| dashboard.shows("Needs you 4,200")).await;
    for _ in 0..500 {
        dashboard.press_key(KeyCode::Down);
    }
    assert!(dashboard.selected_job().pull_request.is_some());
    dashboard.press_chars("G");
    dashboard.press_chars("g");
    dashboard.press_chars("/pr:failing");
    dashboard.press_key(KeyCode::Enter);
    dashboard.wait_until("the filtered list", |dashboard| dashboard.app.jobs.listed_count() == 1000).await;
    let selected = dashboard.selected_job().pull_request.as_ref().map(|state| state.main_fact());
    assert_eq!(selected, Some(PullRequestFact::Failing));
    dashboard.press_key(KeyCode::Esc);
    dashboard.wait_until("all of them", |dashboard| dashboard.app.jobs.listed_count() == 10_000).await;
}
