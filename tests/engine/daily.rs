//! Recording the page views of each day.

use crate::support::{open_store, scope_of, start_sim};
use docdeck::api::{Client, ClientOptions};
use docdeck::engine::{Engine, EngineSetup, LeaseRoles, PollOptions};
use docdeck::model::analytics::AnalyticsSettings;
use docdeck::model::endpoint::ApiKey;
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::log::Operation;
use docdeck::model::period::DateRange;
use docdeck::sim::Sim;
use docdeck::store::Store;
use std::time::Duration;
use tokio::sync::mpsc;

async fn start(sim: &Sim, store: Store, records_days: bool) -> (Engine, mpsc::Receiver<EngineEvent>) {
    let (sender, events) = mpsc::channel(4096);
    let key = ApiKey::new(sim.api_key()).expect("a key");
    let setup = EngineSetup {
        client: Client::new(scope_of(sim), key, ClientOptions::default()).expect("a client"),
        store,
        scope: scope_of(sim),
        poll: PollOptions::default(),
        analytics: AnalyticsSettings { records_days, ..AnalyticsSettings::default() },
        roles: LeaseRoles::All,
        lock_folder: None,
        on_change: None,
        hosts: None,
        events: sender,
    };
    (Engine::start(setup).await.expect("an engine"), events)
}

#[tokio::test]
async fn yesterday_is_recorded_with_one_request_and_not_again_after_a_restart() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let store = open_store(folder.path());
    let (engine, mut events) = start(&sim, store.clone(), true).await;
    let recorded = async {
        loop {
            match events.recv().await {
                Some(EngineEvent::Totals { range, .. }) => return range,
                Some(_) => {}
                None => panic!("the engine ended"),
            }
        }
    };
    let range = tokio::time::timeout(Duration::from_secs(60), recorded).await.expect("in time");
    let day = (sim.now() - chrono::TimeDelta::hours(2)).date_naive().pred_opt().expect("a day");
    assert_eq!((range, sim.requests(Operation::Views)), (DateRange::day(day), 1));
    engine.stop().await;
    let (engine, events) = start(&sim, store.clone(), true).await;
    // The recorder checks at the start, before this later request.
    engine.load_totals(&[DateRange::day(day)]).await.expect("cached");
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(sim.requests(Operation::Views), 1, "it is cached");
    engine.stop().await;
    drop(events);
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
