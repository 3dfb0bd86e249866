//! Tests of batches: stored at once, sent as the hourly limit allows, each prompt once, whatever happens in between.

use crate::engine_fixture::{EngineFixture, open, scope_of, sim};
use docdeck::model::change::QueueChange;
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::log::Operation;
use docdeck::model::prompt::{Delivery, DeliveryKind};
use docdeck::model::row::Job;
use docdeck::sim::Sim;
use std::collections::HashMap;

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("Prompt {n:02} [sim:seconds=6000]")).collect()
}

/// The prompts that the service received, in order.
fn sent(sim: &Sim) -> Vec<String> {
    sim.prompts().into_iter().map(|(_, text)| text).collect()
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}

/// Waits until every job in the store is `wanted`.
async fn until_all(fixture: &mut EngineFixture, what: &str, wanted: impl Fn(&Job) -> bool) {
    loop {
        let rows = fixture.store.jobs(&fixture.scope).await.expect("rows");
        if rows.iter().all(&wanted) {
            return;
        }
        fixture
            .until(what, |news| matches!(news, EngineEvent::Job(_) | EngineEvent::Prompt { .. }).then_some(()))
            .await;
    }
}

#[tokio::test]
async fn a_batch_is_stored_at_once_and_sent_in_order() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    let rows = fixture.engine.submit_batch(&texts(12)).await.expect("on disk");
    assert_eq!(rows.len(), 12);
    until_all(&mut fixture, "the batch", |row| row.id.is_some()).await;
    assert_eq!(sorted(sent(&sim)), texts(12));
    let mut times = Vec::new();
    for row in rows {
        times.push(fixture.store.thread(row.key).await.expect("a thread").prompts[0].sent_at.expect("sent"));
    }
    assert!(times.is_sorted(), "{times:?}");
}

#[tokio::test]
async fn an_empty_batch_and_one_with_a_blank_prompt_are_rejected() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::begin(&sim, folder.path()).await;
    assert!(fixture.engine.submit_batch(&[]).await.is_err());
    assert!(fixture.engine.submit_batch(&["a".to_owned(), " \n".to_owned()]).await.is_err());
    assert!(fixture.store.jobs(&fixture.scope).await.expect("rows").is_empty());
}

#[tokio::test]
async fn a_429_pauses_a_batch_and_nothing_is_sent_twice() {
    let (sim, folder) = (sim(&["create=latency-20"]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    fixture.engine.submit_batch(&texts(16)).await.expect("on disk");
    fixture
        .until("the first one accepted", |news| {
            matches!(news, EngineEvent::Prompt { delivery: Delivery::Accepted, .. }).then_some(())
        })
        .await;
    sim.set_faults(vec!["create=429-1".parse().expect("a fault")]);
    fixture
        .until("a refusal", |news| {
            matches!(news, EngineEvent::Prompt { delivery: Delivery::Queued { until: Some(_) }, .. }).then_some(())
        })
        .await;
    let before = sim.prompts().len();
    assert!((1..16).contains(&before), "{before}");
    sim.set_faults(Vec::new());
    until_all(&mut fixture, "the rest of the batch", |row| row.id.is_some()).await;
    assert_eq!(sorted(sent(&sim)), texts(16));
    assert!(sim.requests(Operation::Create) <= 16 + 4, "only those under way were refused");
}

#[tokio::test]
async fn a_full_ledger_delays_the_rest_of_a_batch_without_a_request() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    let now = fixture.engine.service_now();
    for _ in 0..97 {
        let limited = docdeck::model::ledger::RateLimited::Create;
        fixture.store.spend(&fixture.scope, limited, now).await.expect("written").expect("a place");
    }
    let rows = fixture.engine.submit_batch(&texts(6)).await.expect("on disk");
    // The first prompt without a request left is reported; the later ones were not tried.
    fixture.row(rows[3].key, "the one that waits", |row| row.undelivered == Some(DeliveryKind::Queued)).await;
    let is_through = |row: &Job| row.id.is_some() || row.undelivered == Some(DeliveryKind::Queued);
    until_all(&mut fixture, "the first three", is_through).await;
    assert_eq!(sorted(sent(&sim)), texts(3));
    let waiting = fixture.store.queued(&fixture.scope).await.expect("a queue");
    assert_eq!(waiting.iter().map(|waiting| waiting.job).collect::<Vec<_>>(), [rows[3].key, rows[4].key, rows[5].key]);
    let until = waiting[0].not_before.expect("a time");
    assert!((until - now - chrono::TimeDelta::hours(1)).abs() < chrono::TimeDelta::seconds(1), "{until}");
    assert_eq!((waiting[1].not_before, waiting[2].not_before), (None, None));
}

#[tokio::test]
async fn setting_the_local_clock_back_frees_nothing_and_blocks_for_at_most_an_hour() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let (store, scope) = (open(folder.path()), scope_of(&sim));
    let hour = chrono::TimeDelta::hours(1);
    let ahead = chrono::Utc::now() + chrono::TimeDelta::days(10);
    for _ in 0..100 {
        let limited = docdeck::model::ledger::RateLimited::Create;
        store.spend(&scope, limited, ahead).await.expect("written").expect("a place");
    }
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    let (prompt, _) = fixture.engine.submit_new_job("Too early").await.expect("on disk");
    let Delivery::Queued { until: Some(until) } = fixture.outcome(prompt).await.0 else { panic!("it went out") };
    assert!((until - chrono::Utc::now() - hour).abs() < chrono::TimeDelta::seconds(30), "{until}");
    assert_eq!(sim.requests(Operation::Create), 0);
}

#[tokio::test]
async fn a_paused_prompt_is_not_sent_and_a_resumed_one_is_sent_at_once() {
    let (sim, folder) = (sim(&["create=429-1"]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    let rows = fixture.engine.submit_batch(&texts(8)).await.expect("on disk");
    let last: Vec<_> = rows[6..].iter().map(|row| row.key).collect();
    let paused = fixture.engine.change_queue(&last, QueueChange::Pause).await.expect("paused");
    assert_eq!(paused.len(), 2);
    sim.set_faults(Vec::new());
    let is_held = |row: &Job| row.id.is_some() || row.undelivered == Some(DeliveryKind::Paused);
    until_all(&mut fixture, "the others", is_held).await;
    fixture.accepted("One more, so that the dispatcher had its turn").await;
    assert_eq!(sim.prompts().len(), 7);
    fixture.engine.change_queue(&last[1..], QueueChange::Release).await.expect("released");
    fixture
        .until("the released one", |news| match news {
            EngineEvent::Prompt { delivery: Delivery::Accepted, job, .. } if job.key == last[1] => Some(()),
            _ => None,
        })
        .await;
    fixture.engine.remove_from_queue(&last[..1]).await.expect("removed");
    fixture.accepted("And another").await;
    assert!(!sent(&sim).contains(&texts(8)[6]), "what was removed is not sent");
}

#[tokio::test]
async fn two_instances_send_each_entry_of_a_batch_once() {
    let (sim, folder) = (sim(&["create=latency-10"]).await, tempfile::tempdir().expect("a folder"));
    let mut one = EngineFixture::begin(&sim, folder.path()).await;
    let two = EngineFixture::begin(&sim, folder.path()).await;
    // Submitted by the instance without the lease.
    two.engine.submit_batch(&texts(20)).await.expect("on disk");
    one.until("the batch", |news| matches!(news, EngineEvent::Job(_)).then_some(())).await;
    until_all(&mut one, "the batch", |row| row.id.is_some()).await;
    assert_eq!(sorted(sent(&sim)), texts(20));
    assert_eq!(sim.requests(Operation::Create), 20);
}

#[tokio::test]
async fn a_batch_continues_after_its_docdeck_was_killed_and_no_prompt_is_sent_twice() {
    let (sim, folder) = (sim(&["create=latency-15"]).await, tempfile::tempdir().expect("a folder"));
    let (scope, key, path) = (scope_of(&sim), sim.api_key().to_owned(), folder.path().to_owned());
    // Dropping the runtime kills all tasks in the middle of their work.
    let killed = tokio::task::spawn_blocking(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let mut fixture = EngineFixture::begin_with(scope, &key, &path).await;
            fixture.engine.submit_batch(&texts(20)).await.expect("on disk");
            for _ in 0..3 {
                fixture
                    .until("some of it", |news| {
                        matches!(news, EngineEvent::Prompt { delivery: Delivery::Accepted, .. }).then_some(())
                    })
                    .await;
            }
        });
    });
    killed.await.expect("dropped");
    let mut next = EngineFixture::begin(&sim, folder.path()).await;
    let settled = |row: &Job| row.id.is_some() || row.undelivered == Some(DeliveryKind::Unconfirmed);
    until_all(&mut next, "the rest of the batch", settled).await;
    let mut times: HashMap<String, u32> = HashMap::new();
    for text in sent(&sim) {
        *times.entry(text).or_default() += 1;
    }
    assert!(times.values().all(|times| *times == 1), "{times:?}");
    // A prompt that did not reach the service was interrupted, and is marked so.
    for row in next.store.jobs(&next.scope).await.expect("rows") {
        let text = next.store.thread(row.key).await.expect("a thread").prompts[0].text.clone();
        assert!(times.contains_key(&text) || row.undelivered == Some(DeliveryKind::Unconfirmed), "{text}");
    }
    assert!(times.len() >= 20 - 4, "only what was on its way can be missing: {times:?}");
}

#[tokio::test]
async fn ten_thousand_stored_jobs_do_not_delay_a_prompt() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let (store, scope, now) = (open(folder.path()), scope_of(&sim), chrono::Utc::now());
    let many: Vec<String> = (0..10_000).map(|n| format!("Old {n}")).collect();
    let rows = store.add_batch(&scope, &many, now).await.expect("written");
    let keys: Vec<_> = rows.iter().map(|row| row.key).collect();
    store.change_queue(&keys, QueueChange::Pause, now).await.expect("paused");
    let started = std::time::Instant::now();
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    fixture.accepted("New").await;
    // Far more than it takes unoptimized on a busy machine.
    assert!(started.elapsed() < std::time::Duration::from_secs(5), "{:?}", started.elapsed());
}
