//! Tests of batches: a batch is stored as a whole, its prompts are sent as the hourly limit allows, and no prompt is
//! sent twice, whatever happens in between.

use crate::support::engine::EngineFixture;
use crate::support::{open_store, scope_of, start_sim};
use docdeck::model::change::QueueChange;
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::job::Job;
use docdeck::model::log::Operation;
use docdeck::model::prompt::{Delivery, DeliveryKind};
use docdeck::sim::Sim;
use std::collections::HashMap;

fn batch_prompts(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("Prompt {n:02} [sim:seconds=6000]")).collect()
}

/// Returns the prompts that the service received, in the order in which they arrived.
fn received_prompts(sim: &Sim) -> Vec<String> {
    sim.received_prompts().into_iter().map(|(_, text)| text).collect()
}

fn sorted(mut texts: Vec<String>) -> Vec<String> {
    texts.sort();
    texts
}

/// Waits until `is_wanted` holds for every job in the store.
async fn wait_for_all_jobs(fixture: &mut EngineFixture, what: &str, is_wanted: impl Fn(&Job) -> bool) {
    loop {
        let rows = fixture.store.jobs(&fixture.scope).await.expect("rows");
        if rows.iter().all(&is_wanted) {
            return;
        }
        fixture
            .wait_for_event(what, |event| {
                matches!(event, EngineEvent::Job(_) | EngineEvent::Prompt { .. }).then_some(())
            })
            .await;
    }
}

#[tokio::test]
async fn a_batch_is_stored_at_once_and_sent_in_order() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let rows = fixture.engine.submit_batch(&batch_prompts(12)).await.expect("on disk");
    assert_eq!(rows.len(), 12);
    wait_for_all_jobs(&mut fixture, "the batch", |row| row.id.is_some()).await;
    assert_eq!(sorted(received_prompts(&sim)), batch_prompts(12));
    let mut times = Vec::new();
    for row in rows {
        times.push(fixture.store.thread(row.key).await.expect("a thread").prompts[0].sent_at.expect("sent"));
    }
    assert!(times.is_sorted(), "{times:?}");
}

#[tokio::test]
async fn an_empty_batch_and_one_with_a_blank_prompt_are_rejected() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    assert!(fixture.engine.submit_batch(&[]).await.is_err());
    assert!(fixture.engine.submit_batch(&["a".to_owned(), " \n".to_owned()]).await.is_err());
    assert!(fixture.store.jobs(&fixture.scope).await.expect("rows").is_empty());
}

#[tokio::test]
async fn a_429_pauses_a_batch_and_nothing_is_sent_twice() {
    let (sim, folder) = (start_sim(&["create=latency-100"]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    fixture.engine.submit_batch(&batch_prompts(16)).await.expect("on disk");
    fixture
        .wait_for_event("the first one accepted", |event| {
            matches!(event, EngineEvent::Prompt { delivery: Delivery::Accepted, .. }).then_some(())
        })
        .await;
    sim.set_faults(vec!["create=429-2".parse().expect("a fault")]);
    fixture
        .wait_for_event("a refusal", |event| {
            matches!(event, EngineEvent::Prompt { delivery: Delivery::Queued { until: Some(_) }, .. }).then_some(())
        })
        .await;
    let before = sim.received_prompts().len();
    assert!((1..16).contains(&before), "{before}");
    sim.set_faults(Vec::new());
    wait_for_all_jobs(&mut fixture, "the rest of the batch", |row| row.id.is_some()).await;
    assert_eq!(sorted(received_prompts(&sim)), batch_prompts(16));
    assert!(sim.requests(Operation::Create) <= 16 + 4, "only prompts that were being sent got a 429");
}

#[tokio::test]
async fn at_the_hourly_limit_the_rest_of_a_batch_waits_without_a_request() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let now = fixture.engine.service_time();
    for _ in 0..97 {
        let quota = docdeck::model::ledger::Quota::Create;
        fixture.store.spend(&fixture.scope, quota, now).await.expect("written").expect("a place");
    }
    let rows = fixture.engine.submit_batch(&batch_prompts(6)).await.expect("on disk");
    // The engine emits an event only for the first prompt that finds the limit reached; it doesn't try the later ones.
    fixture
        .wait_for_job(rows[3].key, "the one that waits", |row| row.local.undelivered == Some(DeliveryKind::Queued))
        .await;
    let is_sent_or_queued = |row: &Job| row.id.is_some() || row.local.undelivered == Some(DeliveryKind::Queued);
    wait_for_all_jobs(&mut fixture, "the first three", is_sent_or_queued).await;
    assert_eq!(sorted(received_prompts(&sim)), batch_prompts(3));
    let waiting = fixture.store.sendable_prompts(&fixture.scope).await.expect("a queue");
    assert_eq!(waiting.iter().map(|waiting| waiting.job).collect::<Vec<_>>(), [rows[3].key, rows[4].key, rows[5].key]);
    let until = waiting[0].not_before.expect("a time");
    assert!((until - now - chrono::TimeDelta::hours(1)).abs() < chrono::TimeDelta::seconds(1), "{until}");
    assert_eq!((waiting[1].not_before, waiting[2].not_before), (None, None));
}

#[tokio::test]
async fn after_the_local_clock_is_set_back_the_limit_blocks_for_at_most_an_hour() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let (store, scope) = (open_store(folder.path()), scope_of(&sim));
    let hour = chrono::TimeDelta::hours(1);
    let ahead = chrono::Utc::now() + chrono::TimeDelta::days(10);
    for _ in 0..100 {
        let quota = docdeck::model::ledger::Quota::Create;
        store.spend(&scope, quota, ahead).await.expect("written").expect("a place");
    }
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let (prompt, _) = fixture.engine.submit_new_job("Too early").await.expect("on disk");
    let Delivery::Queued { until: Some(until) } = fixture.wait_for_delivery(prompt).await.0 else {
        panic!("it went out")
    };
    assert!((until - chrono::Utc::now() - hour).abs() < chrono::TimeDelta::seconds(30), "{until}");
    assert_eq!(sim.requests(Operation::Create), 0);
}

#[tokio::test]
async fn a_paused_prompt_is_not_sent_and_a_resumed_one_is_sent_at_once() {
    let (sim, folder) = (start_sim(&["create=429-2"]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let rows = fixture.engine.submit_batch(&batch_prompts(8)).await.expect("on disk");
    let last: Vec<_> = rows[6..].iter().map(|row| row.key).collect();
    let paused = fixture.engine.change_queue(&last, QueueChange::Pause).await.expect("paused");
    assert_eq!(paused.len(), 2);
    sim.set_faults(Vec::new());
    let is_sent_or_paused = |row: &Job| row.id.is_some() || row.local.undelivered == Some(DeliveryKind::Paused);
    wait_for_all_jobs(&mut fixture, "the others", is_sent_or_paused).await;
    fixture.submit_accepted_job("One more, so that the dispatcher had its turn").await;
    assert_eq!(sim.received_prompts().len(), 7);
    fixture.engine.change_queue(&last[1..], QueueChange::Resume).await.expect("released");
    fixture
        .wait_for_event("the released one", |event| match event {
            EngineEvent::Prompt { delivery: Delivery::Accepted, job, .. } if job.key == last[1] => Some(()),
            _ => None,
        })
        .await;
    fixture.engine.remove_from_queue(&last[..1]).await.expect("removed");
    fixture.submit_accepted_job("And another").await;
    assert!(!received_prompts(&sim).contains(&batch_prompts(8)[6]), "what was removed is not sent");
}

#[tokio::test]
async fn after_dispatching_has_stopped_no_prompt_is_sent_and_none_becomes_unconfirmed() {
    let (sim, folder) = (start_sim(&["create=latency-100"]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    fixture.engine.submit_batch(&batch_prompts(40)).await.expect("on disk");
    fixture
        .wait_for_event("the first one accepted", |event| {
            matches!(event, EngineEvent::Prompt { delivery: Delivery::Accepted, .. }).then_some(())
        })
        .await;
    fixture.engine.stop_dispatching();
    while fixture.engine.is_sending() {
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    fixture.engine.stop().await;
    let rows = fixture.store.jobs(&fixture.scope).await.expect("rows");
    assert!(rows.iter().all(|row| row.id.is_some() || row.local.undelivered == Some(DeliveryKind::Queued)), "{rows:?}");
    assert!(rows.iter().any(|row| row.id.is_none()), "the rest of the queue stays");
    assert_eq!(sim.received_prompts().len(), rows.iter().filter(|row| row.id.is_some()).count());
}

#[tokio::test]
async fn with_two_instances_each_prompt_of_a_batch_is_sent_once() {
    let (sim, folder) = (start_sim(&["create=latency-10"]).await, tempfile::tempdir().expect("a folder"));
    let mut one = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let two = EngineFixture::start_on_folder(&sim, folder.path()).await;
    // The second instance, which doesn't hold the lease for sending, submits the batch.
    two.engine.submit_batch(&batch_prompts(20)).await.expect("on disk");
    one.wait_for_event("the batch", |event| matches!(event, EngineEvent::Job(_)).then_some(())).await;
    wait_for_all_jobs(&mut one, "the batch", |row| row.id.is_some()).await;
    assert_eq!(sorted(received_prompts(&sim)), batch_prompts(20));
    assert_eq!(sim.requests(Operation::Create), 20);
}

#[tokio::test]
async fn the_next_start_continues_the_batch_of_a_killed_docdeck_without_sending_a_prompt_twice() {
    let (sim, folder) = (start_sim(&["create=latency-15"]).await, tempfile::tempdir().expect("a folder"));
    let (scope, key, path) = (scope_of(&sim), sim.api_key().to_owned(), folder.path().to_owned());
    // When the runtime is dropped, all tasks end in the middle of their work, as after a kill.
    let killed = tokio::task::spawn_blocking(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let mut fixture = EngineFixture::start_with_scope(scope, &key, &path).await;
            fixture.engine.submit_batch(&batch_prompts(20)).await.expect("on disk");
            for _ in 0..3 {
                fixture
                    .wait_for_event("some of it", |event| {
                        matches!(event, EngineEvent::Prompt { delivery: Delivery::Accepted, .. }).then_some(())
                    })
                    .await;
            }
        });
    });
    killed.await.expect("dropped");
    let mut next = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let is_sent_or_unconfirmed =
        |row: &Job| row.id.is_some() || row.local.undelivered == Some(DeliveryKind::Unconfirmed);
    wait_for_all_jobs(&mut next, "the rest of the batch", is_sent_or_unconfirmed).await;
    let mut times: HashMap<String, u32> = HashMap::new();
    for text in received_prompts(&sim) {
        *times.entry(text).or_default() += 1;
    }
    assert!(times.values().all(|times| *times == 1), "{times:?}");
    // A prompt that did not reach the service was interrupted by the kill and is unconfirmed.
    for row in next.store.jobs(&next.scope).await.expect("rows") {
        let text = next.store.thread(row.key).await.expect("a thread").prompts[0].text.clone();
        assert!(times.contains_key(&text) || row.local.undelivered == Some(DeliveryKind::Unconfirmed), "{text}");
    }
    assert!(times.len() >= 20 - 4, "only prompts that were being sent can be missing: {times:?}");
}

#[tokio::test]
async fn ten_thousand_stored_jobs_do_not_delay_a_prompt() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let (store, scope, now) = (open_store(folder.path()), scope_of(&sim), chrono::Utc::now());
    let many: Vec<String> = (0..10_000).map(|n| format!("Old {n}")).collect();
    let rows = store.add_batch(&scope, &many, now).await.expect("written");
    let keys: Vec<_> = rows.iter().map(|row| row.key).collect();
    store.change_queue(&keys, QueueChange::Pause, now).await.expect("paused");
    let started = std::time::Instant::now();
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    fixture.submit_accepted_job("New").await;
    // This limit is generous even for an unoptimized build on a busy machine.
    assert!(started.elapsed() < std::time::Duration::from_secs(5), "{:?}", started.elapsed());
}
