//! Tests of checking jobs: automatically, on request, and when the service fails.

use crate::support::engine::EngineFixture;
use crate::support::{open_store, scope_of, start_sim};
use docdeck::model::connection::ConnectionState;
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::failure::FailureKind;
use docdeck::model::log::Operation;
use docdeck::model::remote_job::{JobId, RemoteJob, Status};
use docdeck::sim::Sim;
use std::time::Duration;

fn settled_connection(event: &EngineEvent) -> Option<ConnectionState> {
    match event {
        EngineEvent::ConnectionState(connection) => {
            Some(connection.clone()).filter(|state| *state != ConnectionState::Connecting)
        }
        _ => None,
    }
}

fn set_faults(sim: &Sim, faults: &[&str]) {
    sim.set_faults(faults.iter().map(|fault| fault.parse().expect("a fault")).collect());
}

#[tokio::test]
async fn after_a_failure_the_state_is_offline_until_a_single_check_succeeds() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let mut last = None;
    for text in ["One", "Two", "Three"] {
        last = Some(fixture.submit_accepted_job(&format!("{text} [sim:seconds=6000]")).await.1.key);
    }
    set_faults(&sim, &["get=503"]);
    let failure = fixture.engine.refresh(last.expect("a job")).await.expect_err("down");
    assert_eq!(failure.kind, FailureKind::Offline);
    let state = fixture
        .wait_for_event("offline", |event| settled_connection(event).filter(|c| *c != ConnectionState::Ready))
        .await;
    assert!(matches!(state, ConnectionState::Offline { .. }), "{state:?}");
    let asked = sim.requests(Operation::GetJob);
    set_faults(&sim, &[]);
    assert_eq!(fixture.wait_for_event("live again", settled_connection).await, ConnectionState::Ready);
    assert_eq!(sim.requests(Operation::GetJob), asked + 1);
    // After the service has recovered, the engine also checks the other jobs.
    fixture.wait_for_check().await;
    fixture.wait_for_check().await;
}

#[tokio::test]
async fn the_state_is_connecting_only_while_the_first_request_is_in_flight() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let any = |event: &EngineEvent| match event {
        EngineEvent::ConnectionState(connection) => Some(connection.clone()),
        _ => None,
    };
    assert_eq!(fixture.wait_for_event_within(Duration::from_millis(200), any).await, None, "nothing was asked");
    set_faults(&sim, &["create=400"]);
    fixture.engine.submit_new_job("One").await.expect("written");
    assert_eq!(fixture.wait_for_event("a request", any).await, ConnectionState::Connecting);
    assert_eq!(fixture.wait_for_event("its end", any).await, ConnectionState::Unknown, "a refusal says nothing");
    set_faults(&sim, &[]);
    fixture.engine.submit_new_job("Two [sim:seconds=6000]").await.expect("written");
    assert_eq!(fixture.wait_for_event("a request", any).await, ConnectionState::Connecting);
    assert_eq!(fixture.wait_for_event("its end", any).await, ConnectionState::Ready);
    fixture.wait_for_check().await;
    assert_eq!(fixture.wait_for_event_within(Duration::from_millis(200), any).await, None, "it stays ready");
}

#[tokio::test]
async fn a_job_that_is_overdue_at_the_start_is_checked_once() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let row = {
        let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
        let (_, row) = fixture.submit_accepted_job("One [sim:seconds=6000]").await;
        fixture.engine.stop().await;
        row
    };
    let id = row.id.clone().expect("an id");
    // The store now has a last check that is a day old.
    let store = open_store(folder.path());
    let job = store.job(row.key).await.expect("read").expect("known");
    let seen = RemoteJob { id, created_at: None, state: job.remote.clone() };
    let long_ago = chrono::Utc::now() - chrono::TimeDelta::days(1);
    store.apply_job_response(&job, docdeck::store::JobResponse::Job(seen), long_ago).await.expect("written");
    store.close().await;
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    fixture.wait_for_check().await;
    assert!(fixture.wait_for_event_within(Duration::from_millis(400), |_| None::<()>).await.is_none());
    assert_eq!(sim.requests(Operation::GetJob), 1);
}

#[tokio::test]
async fn each_consecutive_failure_doubles_the_pause_before_the_next_try() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let (_, row) = fixture.submit_accepted_job("One [sim:seconds=6000]").await;
    set_faults(&sim, &["get=503"]);
    let mut pauses = Vec::new();
    for _ in 0..3 {
        fixture.engine.refresh(row.key).await.expect_err("down");
        let state = fixture
            .wait_for_event("offline", |event| settled_connection(event).filter(|c| *c != ConnectionState::Ready))
            .await;
        let ConnectionState::Offline { next_try: Some(next_try), .. } = state else { panic!("{state:?}") };
        pauses.push((next_try - chrono::Utc::now()).as_seconds_f64().round());
    }
    assert_eq!(pauses, [2.0, 4.0, 8.0]);
}

#[tokio::test]
async fn a_rejected_api_key_stops_polling_until_the_user_refreshes_a_job() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let (_, row) = fixture.submit_accepted_job("One [sim:seconds=6000]").await;
    set_faults(&sim, &["get=401"]);
    assert_eq!(fixture.engine.refresh(row.key).await.expect_err("refused").kind, FailureKind::KeyRefused);
    let state = fixture
        .wait_for_event("refused", |event| settled_connection(event).filter(|c| *c != ConnectionState::Ready))
        .await;
    assert!(matches!(state, ConnectionState::KeyRefused { .. }), "{state:?}");
    set_faults(&sim, &[]);
    assert_eq!(fixture.wait_for_event_within(Duration::from_millis(2500), settled_connection).await, None);
    assert_eq!(sim.requests(Operation::GetJob), 1, "though its first look was due");
    fixture.engine.refresh(row.key).await.expect("a row");
    assert_eq!(fixture.wait_for_event("live again", settled_connection).await, ConnectionState::Ready);
}

#[tokio::test]
async fn a_429_stops_polling_until_the_given_time() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let (_, row) = fixture.submit_accepted_job("One [sim:seconds=6000]").await;
    set_faults(&sim, &["get=429-3"]);
    fixture.engine.refresh(row.key).await.expect_err("limited");
    let state = fixture
        .wait_for_event("rest", |event| settled_connection(event).filter(|c| *c != ConnectionState::Ready))
        .await;
    assert!(matches!(state, ConnectionState::Limited(_)), "{state:?}");
    set_faults(&sim, &[]);
    assert_eq!(fixture.wait_for_event_within(Duration::from_millis(2400), settled_connection).await, None);
    assert_eq!(sim.requests(Operation::GetJob), 1, "though its first look was due");
    assert_eq!(fixture.wait_for_event("live again", settled_connection).await, ConnectionState::Ready);
}

#[tokio::test]
async fn a_job_that_the_service_no_longer_has_is_marked_as_gone() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let (_, row) = fixture.submit_accepted_job("One [sim:seconds=6000]").await;
    set_faults(&sim, &["get=404"]);
    assert!(fixture.engine.refresh(row.key).await.expect("a row").local.gone);
    set_faults(&sim, &[]);
    assert!(!fixture.engine.refresh(row.key).await.expect("a row").local.gone);
}

#[tokio::test]
async fn a_job_created_elsewhere_can_be_tracked_by_its_id() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let elsewhere = tempfile::tempdir().expect("a folder");
    let (_, made) = EngineFixture::start_on_folder(&sim, elsewhere.path())
        .await
        .submit_accepted_job("Elsewhere [sim:seconds=6000]")
        .await;
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let id = made.id.expect("an id");
    let row = fixture.engine.track(&id).await.expect("a row");
    assert_eq!((row.id, row.remote.status), (Some(id), Some(Status::Active)));
    fixture.wait_for_check().await;
    fixture.wait_for_check().await;
    let unknown = JobId::new("no-such-job").expect("an id");
    assert_eq!(fixture.engine.track(&unknown).await.expect_err("unknown").kind, FailureKind::NotFound);
}

#[tokio::test]
async fn a_job_without_an_id_cannot_be_checked_and_costs_no_request() {
    let (sim, folder) = (start_sim(&["create=400"]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let (prompt, row) = fixture.engine.submit_new_job("Refused").await.expect("on disk");
    fixture.wait_for_delivery(prompt).await;
    assert_eq!(fixture.engine.refresh(row.key).await.expect_err("no id").kind, FailureKind::Local);
    assert_eq!(sim.requests(Operation::GetJob), 0);
}

#[tokio::test]
async fn the_difference_to_the_clock_of_the_service_is_saved_for_the_next_start() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    sim.advance(chrono::TimeDelta::hours(5));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    fixture.submit_accepted_job("One [sim:seconds=6000]").await;
    assert!((fixture.engine.service_time() - sim.now()).abs() < chrono::TimeDelta::seconds(3));
    fixture.engine.stop().await;
    let next = EngineFixture::start_on_folder(&sim, folder.path()).await;
    assert!((next.engine.service_time() - sim.now()).abs() < chrono::TimeDelta::seconds(3));
}

#[tokio::test]
async fn after_releasing_its_leases_an_engine_makes_no_request_until_it_resumes() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    fixture.submit_accepted_job("One [sim:seconds=6000]").await;
    fixture.engine.release_leases();
    let seen = fixture
        .wait_for_event_within(Duration::from_millis(2500), |event| matches!(event, EngineEvent::Job(_)).then_some(()))
        .await;
    assert_eq!((seen, sim.requests(Operation::GetJob)), (None, 0));
    fixture.engine.resume();
    fixture.wait_for_check().await;
}

#[tokio::test]
async fn a_check_that_began_before_a_follow_up_does_not_mark_the_job_as_completed() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let (_, row) = fixture.submit_accepted_job("One [sim:seconds=0] [sim:no-pr]").await;
    let first = fixture.engine.refresh(row.key).await.expect("a row");
    assert_eq!(first.remote.status, Some(Status::Completed));
    // While a check is in flight, a follow-up is recorded as accepted in the store.
    set_faults(&sim, &["get=latency-700"]);
    let (engine, key) = (fixture.engine.clone(), row.key);
    let asked = sim.requests(Operation::GetJob);
    let check = tokio::spawn(async move { engine.refresh(key).await });
    while sim.requests(Operation::GetJob) == asked {
        tokio::task::yield_now().await;
    }
    let (store, scope, now) = (open_store(folder.path()), scope_of(&sim), chrono::Utc::now());
    let (prompt, _) = store.add_follow_up(key, "Again", now).await.expect("written");
    store.request_permit(prompt, "another", now, now).await.expect("a turn");
    let job = RemoteJob::new(row.id.clone().expect("an id"), Status::Active);
    store.record_accepted_send(prompt, job, chrono::Utc::now()).await.expect("written");
    let row = check.await.expect("no panic").expect("a row");
    assert_eq!(row.remote.status, Some(Status::Active), "the old answer said completed");
    assert_eq!(
        store.jobs(&scope).await.expect("rows").first().and_then(|row| row.remote.status.clone()),
        Some(Status::Active)
    );
}
