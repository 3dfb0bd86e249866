//! Tests of two instances on one store: only one of them polls, both get the changes, and no prompt is sent twice.

use crate::support::engine::EngineFixture;
use crate::support::{open_store, scope_of, start_sim};
use docdeck::model::change::LocalChange;
use docdeck::model::connection::ConnectionState;
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::ledger::Quota;
use docdeck::model::log::Operation;
use docdeck::model::prompt::Delivery;
use docdeck::sim::Sim;
use docdeck::store::{JobPruneFilter, ScopeFilter, Store};
use std::time::Duration;

#[tokio::test]
async fn one_of_two_instances_polls_and_the_other_gets_every_change() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut one = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let mut two = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let (_, row) = one.submit_accepted_job("Shared [sim:seconds=60] [sim:pr]").await;
    two.wait_for_job(row.key, "the new job", |_| true).await;
    two.wait_for_job(row.key, "the end of the job", |row| row.remote.pr_link.is_some()).await;
    assert_eq!(two.request_count_of(Operation::GetJob), 0);
    // The first instance also polls a job that the second one submitted.
    let (_, theirs) = two.submit_accepted_job("From the other [sim:seconds=6000]").await;
    let accepted = theirs.local.checked_at;
    one.wait_for_job(theirs.key, "a look at the other's job", |row| row.local.checked_at > accepted).await;
    assert_eq!((two.request_count_of(Operation::Create), two.request_count_of(Operation::GetJob)), (1, 0));
}

#[tokio::test]
async fn the_budget_after_a_request_of_one_instance_is_emitted_by_the_other_instance() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut one = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let mut two = EngineFixture::start_on_folder(&sim, folder.path()).await;
    one.submit_accepted_job("Spent by one [sim:seconds=6000]").await;
    let spent = |event: &EngineEvent| match event {
        EngineEvent::Budget(Quota::Create, budget) if budget.used == 1 => Some(()),
        _ => None,
    };
    two.wait_for_event("the ledger as the other left it", spent).await;
    assert_eq!(two.request_count_of(Operation::Create), 0);
}

#[tokio::test]
async fn with_two_instances_that_submit_prompts_none_is_sent_twice() {
    let (sim, folder) = (start_sim(&["create=latency-100"]).await, tempfile::tempdir().expect("a folder"));
    let mut one = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let two = EngineFixture::start_on_folder(&sim, folder.path()).await;
    for n in 0..4 {
        one.engine.submit_new_job(&format!("one {n}")).await.expect("on disk");
        two.engine.submit_new_job(&format!("two {n}")).await.expect("on disk");
    }
    // Waits until each prompt is accepted, whichever instance sends it.
    loop {
        let rows = one.store.jobs(&one.scope).await.expect("rows");
        if rows.iter().all(|row| row.id.is_some()) {
            break;
        }
        one.wait_for_event("a step", |event| {
            matches!(event, EngineEvent::Job(_) | EngineEvent::Prompt { .. }).then_some(())
        })
        .await;
    }
    assert_eq!(two.store.sendable_prompts(&two.scope).await.expect("a queue"), []);
    let mut sent: Vec<String> = sim.received_prompts().into_iter().map(|(_, text)| text).collect();
    sent.sort();
    assert_eq!(sent, ["one 0", "one 1", "one 2", "one 3", "two 0", "two 1", "two 2", "two 3"]);
}

#[tokio::test]
async fn when_the_polling_instance_ends_the_other_one_starts_to_poll() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut one = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let mut two = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let (_, row) = one.submit_accepted_job("Shared [sim:seconds=6000]").await;
    one.engine.stop().await;
    assert_eq!(two.request_count_of(Operation::GetJob), 0);
    two.wait_for_check().await;
    two.wait_for_job(row.key, "what the look said", |_| true).await;
}

#[tokio::test]
async fn a_prompt_queued_by_an_instance_without_the_lease_is_sent_after_that_instance_has_ended() {
    let (sim, folder) = (start_sim(&["create=429-3"]).await, tempfile::tempdir().expect("a folder"));
    let mut one = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let left = {
        let mut two = EngineFixture::start_on_folder(&sim, folder.path()).await;
        let (prompt, row) = two.engine.submit_new_job("Mine").await.expect("on disk");
        assert!(matches!(two.wait_for_delivery(prompt).await.0, Delivery::Queued { until: Some(_) }));
        two.engine.stop().await;
        row
    };
    sim.set_faults(Vec::new());
    one.wait_for_event("the other's prompt accepted", |event| match event {
        EngineEvent::Prompt { delivery: Delivery::Accepted, job, .. } if job.key == left.key => Some(()),
        _ => None,
    })
    .await;
    assert_eq!(sim.received_prompts().len(), 1);
}

#[tokio::test]
async fn after_another_process_prunes_jobs_an_event_lists_the_remaining_jobs() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let (_, kept) = fixture.submit_accepted_job("Stays [sim:seconds=6000]").await;
    let (_, over) = fixture.submit_accepted_job("Over [sim:seconds=0] [sim:no-pr]").await;
    fixture.engine.refresh(over.key).await.expect("a row");
    let other = open_store(folder.path());
    let what =
        JobPruneFilter { before: chrono::Utc::now() + chrono::TimeDelta::days(1), scopes: ScopeFilter::default() };
    other.change_jobs(&[over.key], LocalChange::Viewed, chrono::Utc::now()).await.expect("written");
    assert_eq!(other.prune_jobs(what).await.expect("pruned").counts.jobs, 1);
    let removed_jobs = |event: &EngineEvent| match event {
        EngineEvent::JobsRemoved(left) => Some(left.clone()),
        _ => None,
    };
    let left = fixture.wait_for_event("what is left", removed_jobs).await;
    assert!(left.contains(kept.key) && !left.contains(over.key));
    let (_, later) = other.add_new_job(&scope_of(&sim), "Later", chrono::Utc::now()).await.expect("written");
    assert!(left.contains(later.key), "a job added after the removal is not in the list of remaining jobs");
}

fn connection_problem(event: &EngineEvent) -> Option<ConnectionState> {
    match event {
        EngineEvent::ConnectionState(connection) => {
            let is_problem = connection.is_outage() || matches!(connection, ConnectionState::KeyRefused { .. });
            is_problem.then(|| connection.clone())
        }
        _ => None,
    }
}

fn set_faults(sim: &Sim, faults: &[&str]) {
    sim.set_faults(faults.iter().map(|fault| fault.parse().expect("a fault")).collect());
}

#[tokio::test]
async fn an_instance_that_does_not_poll_emits_the_connection_state_of_the_one_that_polls() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut one = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let (_, row) = one.submit_accepted_job("One [sim:seconds=6000]").await;
    let mut two = EngineFixture::start_on_folder(&sim, folder.path()).await;
    set_faults(&sim, &["get=503"]);
    one.engine.refresh(row.key).await.expect_err("down");
    let state = two.wait_for_event("word of it", connection_problem).await;
    assert!(matches!(state, ConnectionState::Offline { next_try: Some(_), .. }), "{state:?}");
    // An instance that starts later also gets the shared connection state.
    let mut three = EngineFixture::start_on_folder(&sim, folder.path()).await;
    assert!(matches!(three.wait_for_event("word of it", connection_problem).await, ConnectionState::Offline { .. }));
    set_faults(&sim, &[]);
    for fixture in [&mut two, &mut three] {
        let live =
            |event: &EngineEvent| matches!(event, EngineEvent::ConnectionState(ConnectionState::Ready)).then_some(());
        fixture.wait_for_event("the service is back", live).await;
        assert_eq!(fixture.request_count_of(Operation::GetJob), 0);
    }
}

#[tokio::test]
async fn the_next_polling_instance_replaces_the_shared_connection_state() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut one = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let (_, row) = one.submit_accepted_job("One [sim:seconds=6000]").await;
    set_faults(&sim, &["get=503"]);
    one.engine.refresh(row.key).await.expect_err("down");
    one.wait_for_event("offline", connection_problem).await;
    one.engine.stop().await;
    let (store, key) = (open_store(folder.path()), scope_of(&sim).connection_state_store_key());
    assert!(store.value(&key).await.expect("read").is_some_and(|words| words.starts_with("offline ")));
    // The second poller never receives a response, so the state that it shares is "unknown".
    set_faults(&sim, &["get=latency-9000"]);
    let _polls = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let replaced = async {
        while store.value(&key).await.expect("read").as_deref() != Some("unknown") {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), replaced).await.expect("the stale state is replaced");
}

#[tokio::test]
async fn an_instance_with_a_rejected_api_key_leaves_polling_to_an_instance_with_another_key() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    {
        let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
        fixture.submit_accepted_job("One [sim:seconds=6000]").await;
        fixture.engine.stop().await;
    }
    let mut refused = EngineFixture::start_with_scope(scope_of(&sim), "mint_wrong", folder.path()).await;
    let state = refused.wait_for_event("refused", connection_problem).await;
    assert!(matches!(state, ConnectionState::KeyRefused { .. }), "{state:?}");
    let mut same = EngineFixture::start_with_scope(scope_of(&sim), "mint_wrong", folder.path()).await;
    let state = same.wait_for_event("found out by itself", connection_problem).await;
    assert!(matches!(state, ConnectionState::KeyRefused { .. }), "{state:?}");
    let mut good = EngineFixture::start_on_folder(&sim, folder.path()).await;
    good.wait_for_check().await;
    good.wait_for_check().await;
    let seen =
        |event: &EngineEvent| matches!(event, EngineEvent::ConnectionState(ConnectionState::Ready)).then_some(());
    refused.wait_for_event("the other one's answers", seen).await;
    assert_eq!((refused.request_count_of(Operation::GetJob), same.request_count_of(Operation::GetJob)), (1, 1));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn an_engine_without_file_locks_reports_them_only_if_it_can_send_prompts() {
    // No user, not even root, can create a file in this folder.
    let (sim, folder) = (start_sim(&[]).await, std::path::Path::new("/proc/docdeck"));
    for (store, is_reported) in [(Store::in_memory().expect("a store"), true), (open_store(folder), false)] {
        let mut fixture = EngineFixture::start_on_store(store, scope_of(&sim), sim.api_key(), Some(folder)).await;
        let first = fixture.wait_for_event("an event", |event| match event {
            EngineEvent::InternalFailure(failure) => Some(failure.message.to_string()),
            EngineEvent::Budget(..) => Some(String::new()),
            _ => None,
        });
        assert_eq!(first.await.contains("File locks don't work"), is_reported);
        fixture.engine.stop().await;
    }
}
