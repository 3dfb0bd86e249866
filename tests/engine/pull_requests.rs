//! Tests of the requests to code hosts: when they are sent, what they change, and when they stop.

use crate::support::engine::EngineFixture;
use crate::support::start_sim;
use chrono::TimeDelta;
use docdeck::api::hosts::{HostClient, host_client_options};
use docdeck::engine::{HostAccess, HostDirectory};
use docdeck::model::endpoint::ApiKey;
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::pull_request::{ChecksState, HostKind};
use docdeck::model::row::JobGroup;
use docdeck::sim::{HostFault, Sim, SimOptions};
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

/// A directory with the simulated code host only.
#[derive(Debug)]
struct SimHosts(HostClient);

impl HostDirectory for SimHosts {
    fn access<'a>(&'a self, host: &'a str, kind: HostKind) -> Pin<Box<dyn Future<Output = HostAccess> + Send + 'a>> {
        assert_eq!((host, kind), ("github.com", HostKind::GitHub));
        Box::pin(async { HostAccess::Client(self.0.clone()) })
    }
}

async fn start_with_hosts(sim: &Sim) -> EngineFixture {
    let token = ApiKey::new(sim.host_token()).expect("a token");
    let client = HostClient::new(&sim.host_address(), token, host_client_options()).expect("a client");
    EngineFixture::start_with_hosts(sim, Arc::new(SimHosts(client))).await
}

#[tokio::test]
async fn a_new_pull_request_is_read_with_its_checks_and_the_job_works_until_they_have_finished() {
    // At the usual speed, the checks take longer than the test.
    let sim = Sim::start(SimOptions { jobs: 0, ..SimOptions::default() }).await.expect("a simulator");
    let mut fixture = start_with_hosts(&sim).await;
    let (_, row) = fixture.submit_accepted_job("Fix it [sim:seconds=1]").await;
    let row = fixture.wait_for_job(row.key, "its state", |row| row.pull_request.is_some()).await;
    let state = row.pull_request.as_ref().expect("a state");
    assert_eq!(state.checks.state, ChecksState::Pending);
    assert_eq!(row.group(), JobGroup::Working);
    assert_eq!(sim.host_requests(), 2, "one for the state, one for the checks");
    sim.advance(TimeDelta::minutes(10));
    fixture.engine.refresh_pull_requests(None);
    let row = fixture
        .wait_for_job(row.key, "finished checks", |row| {
            row.pull_request.as_ref().is_some_and(|state| state.checks.state != ChecksState::Pending)
        })
        .await;
    assert_eq!((row.group(), sim.host_requests()), (JobGroup::NeedsYou, 4));
    fixture.engine.stop().await;
}

#[tokio::test]
async fn a_refused_token_is_reported_once_and_not_used_again_until_the_user_asks() {
    let sim = start_sim(&[]).await;
    sim.set_host_fault(Some(HostFault::ExpiredToken));
    let mut fixture = start_with_hosts(&sim).await;
    let (_, row) = fixture.submit_accepted_job("Fix it [sim:seconds=1]").await;
    let notice = fixture
        .wait_for_event("a notice", |event| match event {
            EngineEvent::Notice(text) => Some(text.to_string()),
            _ => None,
        })
        .await;
    assert!(notice.contains("github.com") && notice.contains("refused") && !notice.contains(sim.host_token()));
    fixture.engine.set_focused(false);
    fixture.engine.set_focused(true);
    let (_, other) = fixture.submit_accepted_job("Fix that too [sim:seconds=1]").await;
    fixture.wait_for_job(other.key, "its link", |row| row.remote.pr_link.is_some()).await;
    assert_eq!(sim.host_requests(), 1);
    sim.set_host_fault(None);
    fixture.engine.refresh_pull_requests(Some(vec![row.key]));
    fixture.wait_for_job(row.key, "its state", |row| row.pull_request.is_some()).await;
    fixture.engine.stop().await;
}

#[tokio::test]
async fn without_the_focus_nothing_is_requested() {
    let sim = start_sim(&[]).await;
    let mut fixture = start_with_hosts(&sim).await;
    fixture.engine.set_focused(false);
    let (_, row) = fixture.submit_accepted_job("Fix it [sim:seconds=1]").await;
    fixture.wait_for_job(row.key, "its link", |row| row.remote.pr_link.is_some()).await;
    let (_, other) = fixture.submit_accepted_job("Fix that too [sim:seconds=1]").await;
    fixture.wait_for_job(other.key, "its link", |row| row.remote.pr_link.is_some()).await;
    assert_eq!(sim.host_requests(), 0);
    fixture.engine.set_focused(true);
    fixture.wait_for_job(row.key, "its state", |row| row.pull_request.is_some()).await;
    fixture.engine.stop().await;
}
