//! Recording the page views of each day.

use crate::support::{open_store, scope_of, start_sim};
use chrono::TimeDelta;
use docdeck::api::{Client, ClientOptions};
use docdeck::engine::{Engine, EngineSetup, LeaseRoles, PollOptions};
use docdeck::model::analytics::AnalyticsSettings;
use docdeck::model::endpoint::ApiKey;
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::log::Operation;
use docdeck::model::period::DateRange;
use docdeck::model::views::{MAX_PAGE_SIZE, ViewsQuery, ViewsResponse};
use docdeck::sim::Sim;
use docdeck::store::Store;
use std::time::Duration;
use tokio::sync::mpsc;

async fn start(sim: &Sim, store: Store, records_daily_views: bool) -> (Engine, mpsc::Receiver<EngineEvent>) {
    let (sender, events) = mpsc::channel(4096);
    let key = ApiKey::new(sim.api_key()).expect("a key");
    let setup = EngineSetup {
        client: Client::new(scope_of(sim), key, ClientOptions::default()).expect("a client"),
        store,
        scope: scope_of(sim),
        poll: PollOptions::default(),
        analytics: AnalyticsSettings { records_daily_views, ..AnalyticsSettings::default() },
        roles: LeaseRoles::All,
        lock_folder: None,
        on_change: None,
        hosts: None,
        team: None,
        events: sender,
    };
    (Engine::start(setup).await.expect("an engine"), events)
}

/// Waits until the engine has loaded the views of a range, and returns it.
async fn next_loaded_range(events: &mut mpsc::Receiver<EngineEvent>) -> DateRange {
    let loaded = async {
        loop {
            match events.recv().await {
                Some(EngineEvent::Totals { range, .. }) => return range,
                Some(_) => {}
                None => panic!("the engine ended"),
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(60), loaded).await.expect("in time")
}

/// Returns the last day whose views have settled.
fn last_settled_day(sim: &Sim) -> DateRange {
    DateRange::day((sim.now() - TimeDelta::hours(2)).date_naive().pred_opt().expect("a day"))
}

#[tokio::test]
async fn yesterday_is_recorded_with_one_request_and_not_again_after_a_restart() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let store = open_store(folder.path());
    let (engine, mut events) = start(&sim, store.clone(), true).await;
    let range = next_loaded_range(&mut events).await;
    assert_eq!((range, sim.requests(Operation::Views)), (last_settled_day(&sim), 1));
    engine.stop().await;
    let (engine, events) = start(&sim, store.clone(), true).await;
    // The recorder checks at the start, before this later request.
    engine.load_totals(&[range]).await.expect("cached");
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(sim.requests(Operation::Views), 1, "it is cached");
    engine.stop().await;
    drop(events);
}

#[tokio::test]
async fn views_loaded_before_they_settled_are_requested_once_more() {
    let sim = start_sim(&[]).await;
    for (minutes_after_midnight, requests) in [(119, 1), (121, 0)] {
        let folder = tempfile::tempdir().expect("a folder");
        let (store, range, before) =
            (open_store(folder.path()), last_settled_day(&sim), sim.requests(Operation::Views));
        let midnight = range.exclusive_end().and_hms_opt(0, 0, 0).expect("midnight").and_utc();
        let as_of = midnight + TimeDelta::minutes(minutes_after_midnight);
        let query = ViewsQuery { range, limit: MAX_PAGE_SIZE, page: 1 };
        store.save_views(&scope_of(&sim), query, &ViewsResponse::default(), as_of).await.expect("saved");
        let (engine, mut events) = start(&sim, store, true).await;
        if requests > 0 {
            assert_eq!(next_loaded_range(&mut events).await, range);
        } else {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        engine.stop().await;
        assert_eq!(sim.requests(Operation::Views) - before, requests, "{minutes_after_midnight}");
    }
}

#[tokio::test]
async fn nothing_is_recorded_by_default() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let (engine, events) = start(&sim, open_store(folder.path()), false).await;
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(sim.requests(Operation::Views), 0);
    engine.stop().await;
    drop(events);
}
