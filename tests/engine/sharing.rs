//! Tests of two instances on one store: one polls, both get the changes, nothing is sent twice.

use crate::engine_fixture::{EngineFixture, open, scope_of, sim};
use docdeck::model::change::LocalChange;
use docdeck::model::connection::Connection;
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::ledger::RateLimited;
use docdeck::model::log::Operation;
use docdeck::model::prompt::Delivery;
use docdeck::sim::Sim;
use docdeck::store::{ExportFilter, PruneJobs, Store};
use std::time::Duration;

#[tokio::test]
async fn one_of_two_instances_polls_and_the_other_gets_every_change() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut one = EngineFixture::begin(&sim, folder.path()).await;
    let mut two = EngineFixture::begin(&sim, folder.path()).await;
    let (_, row) = one.accepted("Shared [sim:seconds=60] [sim:pr]").await;
    two.row(row.key, "the new job", |_| true).await;
    two.row(row.key, "the end of the job", |row| row.pr_link.is_some()).await;
    assert_eq!(two.requests_of(Operation::Get), 0);
    // A job submitted by the other instance is polled here.
    let (_, theirs) = two.accepted("From the other [sim:seconds=6000]").await;
    let accepted = theirs.checked_at;
    one.row(theirs.key, "a look at the other's job", |row| row.checked_at > accepted).await;
    assert_eq!((two.requests_of(Operation::Create), two.requests_of(Operation::Get)), (1, 0));
}

#[tokio::test]
async fn requests_of_one_instance_are_reported_by_the_other() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut one = EngineFixture::begin(&sim, folder.path()).await;
    let mut two = EngineFixture::begin(&sim, folder.path()).await;
    one.accepted("Spent by one [sim:seconds=6000]").await;
    let spent = |news: &EngineEvent| match news {
        EngineEvent::Budget(RateLimited::Create, budget) if budget.used == 1 => Some(()),
        _ => None,
    };
    two.until("the ledger as the other left it", spent).await;
    assert_eq!(two.requests_of(Operation::Create), 0);
}

#[tokio::test]
async fn no_prompt_is_sent_twice_whichever_instance_submits_it() {
    let (sim, folder) = (sim(&["create=latency-100"]).await, tempfile::tempdir().expect("a folder"));
    let mut one = EngineFixture::begin(&sim, folder.path()).await;
    let two = EngineFixture::begin(&sim, folder.path()).await;
    for n in 0..4 {
        one.engine.submit_new_job(&format!("one {n}")).await.expect("on disk");
        two.engine.submit_new_job(&format!("two {n}")).await.expect("on disk");
    }
    // Whichever instance sends them, each prompt is accepted in the end.
    loop {
        let rows = one.store.jobs(&one.scope).await.expect("rows");
        if rows.iter().all(|row| row.id.is_some()) {
            break;
        }
        one.until("a step", |news| matches!(news, EngineEvent::Job(_) | EngineEvent::Prompt { .. }).then_some(()))
            .await;
    }
    assert_eq!(two.store.queued(&two.scope).await.expect("a queue"), []);
    let mut sent: Vec<String> = sim.prompts().into_iter().map(|(_, text)| text).collect();
    sent.sort();
    assert_eq!(sent, ["one 0", "one 1", "one 2", "one 3", "two 0", "two 1", "two 2", "two 3"]);
}

#[tokio::test]
async fn the_other_instance_takes_over_when_the_one_that_polls_ends() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut one = EngineFixture::begin(&sim, folder.path()).await;
    let mut two = EngineFixture::begin(&sim, folder.path()).await;
    let (_, row) = one.accepted("Shared [sim:seconds=6000]").await;
    one.engine.stop().await;
    assert_eq!(two.requests_of(Operation::Get), 0);
    two.look().await;
    two.row(row.key, "what the look said", |_| true).await;
}

#[tokio::test]
async fn prompts_queued_without_the_lease_are_sent_after_the_instance_ended() {
    let (sim, folder) = (sim(&["create=429-3"]).await, tempfile::tempdir().expect("a folder"));
    let mut one = EngineFixture::begin(&sim, folder.path()).await;
    let left = {
        let mut two = EngineFixture::begin(&sim, folder.path()).await;
        let (prompt, row) = two.engine.submit_new_job("Mine").await.expect("on disk");
        assert!(matches!(two.outcome(prompt).await.0, Delivery::Queued { until: Some(_) }));
        two.engine.stop().await;
        row
    };
    sim.set_faults(Vec::new());
    one.until("the other's prompt accepted", |news| match news {
        EngineEvent::Prompt { delivery: Delivery::Accepted, job, .. } if job.key == left.key => Some(()),
        _ => None,
    })
    .await;
    assert_eq!(sim.prompts().len(), 1);
}

#[tokio::test]
async fn jobs_pruned_by_another_process_are_reported_as_the_remaining_ones() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    let (_, kept) = fixture.accepted("Stays [sim:seconds=6000]").await;
    let (_, over) = fixture.accepted("Over [sim:seconds=0] [sim:no-pr]").await;
    fixture.engine.refresh(over.key).await.expect("a row");
    let other = open(folder.path());
    let what = PruneJobs { before: chrono::Utc::now() + chrono::TimeDelta::days(1), only: ExportFilter::default() };
    other.change_jobs(&[over.key], LocalChange::Viewed, chrono::Utc::now()).await.expect("written");
    assert_eq!(other.prune_jobs(what).await.expect("pruned").jobs, 1);
    let removed_jobs = |news: &EngineEvent| match news {
        EngineEvent::JobsRemoved(left) => Some(left.clone()),
        _ => None,
    };
    let left = fixture.until("what is left", removed_jobs).await;
    assert!(left.contains(kept.key) && !left.contains(over.key));
    let (_, later) = other.add_new_job(&scope_of(&sim), "Later", chrono::Utc::now()).await.expect("written");
    assert!(left.contains(later.key), "a job added after the removal is not in the list of remaining jobs");
}

fn trouble(news: &EngineEvent) -> Option<Connection> {
    match news {
        EngineEvent::Connection(connection) => {
            let is_trouble = connection.is_outage() || matches!(connection, Connection::Refused { .. });
            is_trouble.then(|| connection.clone())
        }
        _ => None,
    }
}

fn faults(sim: &Sim, faults: &[&str]) {
    sim.set_faults(faults.iter().map(|fault| fault.parse().expect("a fault")).collect());
}

#[tokio::test]
async fn an_instance_that_does_not_poll_reports_when_the_service_is_down_and_back() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut one = EngineFixture::begin(&sim, folder.path()).await;
    let (_, row) = one.accepted("One [sim:seconds=6000]").await;
    let mut two = EngineFixture::begin(&sim, folder.path()).await;
    faults(&sim, &["get=503"]);
    one.engine.refresh(row.key).await.expect_err("down");
    let state = two.until("word of it", trouble).await;
    assert!(matches!(state, Connection::Offline { next_try: Some(_), .. }), "{state:?}");
    // An instance that starts later gets it too.
    let mut three = EngineFixture::begin(&sim, folder.path()).await;
    assert!(matches!(three.until("word of it", trouble).await, Connection::Offline { .. }));
    faults(&sim, &[]);
    for fixture in [&mut two, &mut three] {
        let live = |news: &EngineEvent| matches!(news, EngineEvent::Connection(Connection::Ready)).then_some(());
        fixture.until("the service is back", live).await;
        assert_eq!(fixture.requests_of(Operation::Get), 0);
    }
}

#[tokio::test]
async fn the_next_poller_replaces_the_shared_connection_state() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut one = EngineFixture::begin(&sim, folder.path()).await;
    let (_, row) = one.accepted("One [sim:seconds=6000]").await;
    faults(&sim, &["get=503"]);
    one.engine.refresh(row.key).await.expect_err("down");
    one.until("offline", trouble).await;
    one.engine.stop().await;
    let (store, key) = (open(folder.path()), scope_of(&sim).connection_key());
    assert!(store.value(&key).await.expect("read").is_some_and(|words| words.starts_with("offline ")));
    // It has received no answer yet.
    faults(&sim, &["get=latency-9000"]);
    let _polls = EngineFixture::begin(&sim, folder.path()).await;
    let taken_back = async {
        while store.value(&key).await.expect("read").as_deref() != Some("unknown") {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), taken_back).await.expect("what it left is not true any more");
}

#[tokio::test]
async fn an_instance_with_a_refused_key_leaves_polling_to_one_with_another_key() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    {
        let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
        fixture.accepted("One [sim:seconds=6000]").await;
        fixture.engine.stop().await;
    }
    let mut refused = EngineFixture::begin_with(scope_of(&sim), "mint_wrong", folder.path()).await;
    let state = refused.until("refused", trouble).await;
    assert!(matches!(state, Connection::Refused { .. }), "{state:?}");
    let mut same = EngineFixture::begin_with(scope_of(&sim), "mint_wrong", folder.path()).await;
    let state = same.until("found out by itself", trouble).await;
    assert!(matches!(state, Connection::Refused { .. }), "{state:?}");
    let mut good = EngineFixture::begin(&sim, folder.path()).await;
    good.look().await;
    good.look().await;
    let seen = |news: &EngineEvent| matches!(news, EngineEvent::Connection(Connection::Ready)).then_some(());
    refused.until("the other one's answers", seen).await;
    assert_eq!((refused.requests_of(Operation::Get), same.requests_of(Operation::Get)), (1, 1));
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn missing_locks_are_reported_only_if_something_can_be_sent() {
    // Whichever user runs it, nothing can be created there.
    let (sim, folder) = (sim(&[]).await, std::path::Path::new("/proc/docdeck"));
    for (store, is_told) in [(Store::in_memory().expect("a store"), true), (open(folder), false)] {
        let mut fixture = EngineFixture::on(store, scope_of(&sim), sim.api_key(), Some(folder)).await;
        let first = fixture.until("news", |news| match news {
            EngineEvent::InternalFailure(failure) => Some(failure.message.to_string()),
            EngineEvent::Budget(..) => Some(String::new()),
            _ => None,
        });
        assert_eq!(first.await.contains("File locks don't work"), is_told);
        fixture.engine.stop().await;
    }
}
