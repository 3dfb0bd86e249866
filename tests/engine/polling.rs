//! Tests of checking jobs: automatically, on request, and when the service fails.

use crate::engine_fixture::{EngineFixture, open, scope_of, sim};
use docdeck::model::connection::Connection;
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::failure::FailureKind;
use docdeck::model::job::{JobId, Status};
use docdeck::model::log::Operation;
use docdeck::sim::Sim;
use std::time::Duration;

fn connection(news: &EngineEvent) -> Option<Connection> {
    match news {
        EngineEvent::Connection(connection) => {
            Some(connection.clone()).filter(|state| *state != Connection::Connecting)
        }
        _ => None,
    }
}

fn faults(sim: &Sim, faults: &[&str]) {
    sim.set_faults(faults.iter().map(|fault| fault.parse().expect("a fault")).collect());
}

#[tokio::test]
async fn a_service_that_fails_is_offline_until_one_probe_succeeds() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    let mut last = None;
    for text in ["One", "Two", "Three"] {
        last = Some(fixture.accepted(&format!("{text} [sim:seconds=6000]")).await.1.key);
    }
    faults(&sim, &["get=503"]);
    let failure = fixture.engine.refresh(last.expect("a job")).await.expect_err("down");
    assert_eq!(failure.kind, FailureKind::Offline);
    let state = fixture.until("offline", |news| connection(news).filter(|c| *c != Connection::Ready)).await;
    assert!(matches!(state, Connection::Offline { .. }), "{state:?}");
    let asked = sim.requests(Operation::Get);
    faults(&sim, &[]);
    assert_eq!(fixture.until("live again", connection).await, Connection::Ready);
    assert_eq!(sim.requests(Operation::Get), asked + 1);
    // Once the service recovers, the other jobs are checked too.
    fixture.look().await;
    fixture.look().await;
}

#[tokio::test]
async fn the_state_is_connecting_only_while_the_first_request_is_in_flight() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    let any = |news: &EngineEvent| match news {
        EngineEvent::Connection(connection) => Some(connection.clone()),
        _ => None,
    };
    assert_eq!(fixture.within(Duration::from_millis(200), any).await, None, "nothing was asked");
    faults(&sim, &["create=400"]);
    fixture.engine.submit_new_job("One").await.expect("written");
    assert_eq!(fixture.until("a request", any).await, Connection::Connecting);
    assert_eq!(fixture.until("its end", any).await, Connection::Unknown, "a refusal says nothing");
    faults(&sim, &[]);
    fixture.engine.submit_new_job("Two [sim:seconds=6000]").await.expect("written");
    assert_eq!(fixture.until("a request", any).await, Connection::Connecting);
    assert_eq!(fixture.until("its end", any).await, Connection::Ready);
    fixture.look().await;
    assert_eq!(fixture.within(Duration::from_millis(200), any).await, None, "it stays ready");
}

#[tokio::test]
async fn a_job_that_is_overdue_at_the_start_is_checked_once() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let row = {
        let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
        let (_, row) = fixture.accepted("One [sim:seconds=6000]").await;
        fixture.engine.stop().await;
        row
    };
    let id = row.id.clone().expect("an id");
    // As if the last check were a day old.
    let store = open(folder.path());
    let job = store.job(row.key).await.expect("read").expect("known");
    let seen = docdeck::model::job::RemoteJob {
        id,
        status: Status::Active,
        repository: job.repository.as_deref().cloned(),
        git_ref: job.git_ref,
        model: job.model.as_deref().cloned(),
        pr_link: None,
        created_at: None,
        archived_at: None,
    };
    let long_ago = chrono::Utc::now() - chrono::TimeDelta::days(1);
    store.apply_fetched(row.key, docdeck::store::Fetched::Job(seen), long_ago).await.expect("written");
    store.close().await;
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    fixture.look().await;
    assert!(fixture.within(Duration::from_millis(400), |_| None::<()>).await.is_none());
    assert_eq!(sim.requests(Operation::Get), 1);
}

#[tokio::test]
async fn each_failure_in_a_row_doubles_the_pause_before_the_next_try() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    let (_, row) = fixture.accepted("One [sim:seconds=6000]").await;
    faults(&sim, &["get=503"]);
    let mut pauses = Vec::new();
    for _ in 0..3 {
        fixture.engine.refresh(row.key).await.expect_err("down");
        let state = fixture.until("offline", |news| connection(news).filter(|c| *c != Connection::Ready)).await;
        let Connection::Offline { next_try: Some(next_try), .. } = state else { panic!("{state:?}") };
        pauses.push((next_try - chrono::Utc::now()).as_seconds_f64().round());
    }
    assert_eq!(pauses, [2.0, 4.0, 8.0]);
}

#[tokio::test]
async fn a_refused_key_stops_polling_until_the_user_asks_again() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    let (_, row) = fixture.accepted("One [sim:seconds=6000]").await;
    faults(&sim, &["get=401"]);
    assert_eq!(fixture.engine.refresh(row.key).await.expect_err("refused").kind, FailureKind::KeyRefused);
    let state = fixture.until("refused", |news| connection(news).filter(|c| *c != Connection::Ready)).await;
    assert!(matches!(state, Connection::Refused { .. }), "{state:?}");
    faults(&sim, &[]);
    assert_eq!(fixture.within(Duration::from_millis(2500), connection).await, None);
    assert_eq!(sim.requests(Operation::Get), 1, "though its first look was due");
    fixture.engine.refresh(row.key).await.expect("a row");
    assert_eq!(fixture.until("live again", connection).await, Connection::Ready);
}

#[tokio::test]
async fn a_429_stops_polling_until_the_given_time() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    let (_, row) = fixture.accepted("One [sim:seconds=6000]").await;
    faults(&sim, &["get=429-3"]);
    fixture.engine.refresh(row.key).await.expect_err("limited");
    let state = fixture.until("rest", |news| connection(news).filter(|c| *c != Connection::Ready)).await;
    assert!(matches!(state, Connection::Limited(_)), "{state:?}");
    faults(&sim, &[]);
    assert_eq!(fixture.within(Duration::from_millis(2400), connection).await, None);
    assert_eq!(sim.requests(Operation::Get), 1, "though its first look was due");
    assert_eq!(fixture.until("live again", connection).await, Connection::Ready);
}

#[tokio::test]
async fn a_job_that_the_service_no_longer_has_is_marked_as_gone() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    let (_, row) = fixture.accepted("One [sim:seconds=6000]").await;
    faults(&sim, &["get=404"]);
    assert!(fixture.engine.refresh(row.key).await.expect("a row").gone);
    faults(&sim, &[]);
    assert!(!fixture.engine.refresh(row.key).await.expect("a row").gone);
}

#[tokio::test]
async fn a_job_created_elsewhere_is_tracked_by_its_id() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let elsewhere = tempfile::tempdir().expect("a folder");
    let (_, made) = EngineFixture::begin(&sim, elsewhere.path()).await.accepted("Elsewhere [sim:seconds=6000]").await;
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    let id = made.id.expect("an id");
    let row = fixture.engine.track(&id).await.expect("a row");
    assert_eq!((row.id, row.status), (Some(id), Some(Status::Active)));
    fixture.look().await;
    fixture.look().await;
    let unknown = JobId::new("no-such-job").expect("an id");
    assert_eq!(fixture.engine.track(&unknown).await.expect_err("unknown").kind, FailureKind::NotFound);
}

#[tokio::test]
async fn a_job_without_an_id_cannot_be_checked_and_costs_no_request() {
    let (sim, folder) = (sim(&["create=400"]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    let (prompt, row) = fixture.engine.submit_new_job("Refused").await.expect("on disk");
    fixture.outcome(prompt).await;
    assert_eq!(fixture.engine.refresh(row.key).await.expect_err("no id").kind, FailureKind::Local);
    assert_eq!(sim.requests(Operation::Get), 0);
}

#[tokio::test]
async fn the_services_clock_is_saved_for_the_next_start() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    sim.advance(chrono::TimeDelta::hours(5));
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    fixture.accepted("One [sim:seconds=6000]").await;
    assert!((fixture.engine.service_now() - sim.now()).abs() < chrono::TimeDelta::seconds(3));
    fixture.engine.stop().await;
    let next = EngineFixture::begin(&sim, folder.path()).await;
    assert!((next.engine.service_now() - sim.now()).abs() < chrono::TimeDelta::seconds(3));
}

#[tokio::test]
async fn after_releasing_its_leases_an_engine_makes_no_request_until_it_resumes() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    fixture.accepted("One [sim:seconds=6000]").await;
    fixture.engine.release_leases();
    let seen =
        fixture.within(Duration::from_millis(2500), |news| matches!(news, EngineEvent::Job(_)).then_some(())).await;
    assert_eq!((seen, sim.requests(Operation::Get)), (None, 0));
    fixture.engine.resume();
    fixture.look().await;
}

#[tokio::test]
async fn an_answer_from_before_a_follow_up_does_not_end_the_polling_of_its_job() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    let (_, row) = fixture.accepted("One [sim:seconds=0] [sim:no-pr]").await;
    let first = fixture.engine.refresh(row.key).await.expect("a row");
    assert_eq!(first.status, Some(Status::Completed));
    // In the store, a follow-up is accepted while a check is in flight.
    faults(&sim, &["get=latency-700"]);
    let (engine, key) = (fixture.engine.clone(), row.key);
    let asked = sim.requests(Operation::Get);
    let looking = tokio::spawn(async move { engine.refresh(key).await });
    while sim.requests(Operation::Get) == asked {
        tokio::task::yield_now().await;
    }
    let (store, scope, now) = (open(folder.path()), scope_of(&sim), chrono::Utc::now());
    let (prompt, _) = store.add_follow_up(key, "Again", now).await.expect("written");
    store.take_turn(prompt, "another", now, now).await.expect("a turn");
    let job = docdeck::model::job::RemoteJob {
        id: row.id.clone().expect("an id"),
        status: Status::Active,
        repository: None,
        git_ref: None,
        model: None,
        pr_link: None,
        created_at: None,
        archived_at: None,
    };
    store.finish_send(prompt, docdeck::store::SendOutcome::Accepted(job), chrono::Utc::now()).await.expect("written");
    let row = looking.await.expect("no panic").expect("a row");
    assert_eq!(row.status, Some(Status::Active), "the old answer said completed");
    assert_eq!(
        store.jobs(&scope).await.expect("rows").first().and_then(|row| row.status.clone()),
        Some(Status::Active)
    );
}
