//! Tests of sending prompts: accepted, response lost, limit reached, service not reached. No prompt is sent twice.

use crate::support::engine::EngineFixture;
use crate::support::{open_store, scope_of, start_sim};
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::failure::FailureKind;
use docdeck::model::ledger::Quota;
use docdeck::model::log::{LogKind, Operation};
use docdeck::model::prompt::{Delivery, DeliveryKind, PromptResolution};
use docdeck::model::remote_job::Status;
use docdeck::store::SendPermit;
use std::time::Duration;

#[tokio::test]
async fn a_new_job_is_sent_accepted_and_polled_until_it_is_finished() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let (_, row) = fixture.submit_accepted_job("Fix the links [sim:seconds=60] [sim:pr]").await;
    assert!(row.id.is_some());
    let done = fixture
        .wait_for_job(row.key, "the end of the job", |row| row.remote.status.as_ref().is_some_and(|s| s.is_finished()))
        .await;
    assert!(done.remote.pr_link.is_some() && done.local.checked_at.is_some());
    let line = fixture.wait_for_event("the transition in the log", |event| match event {
        EngineEvent::Logged(entry) => match &entry.kind {
            LogKind::Transition(text) => Some(text.as_str().to_owned()),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(line.await, "working → completed");
    assert_eq!((sim.requests(Operation::Create), fixture.request_count_of(Operation::Create)), (1, 1));
}

#[tokio::test]
async fn an_engine_works_with_a_store_in_memory_and_without_locks() {
    let sim = start_sim(&[]).await;
    let mut fixture = EngineFixture::start_in_memory(&sim).await;
    let (_, row) = fixture.submit_accepted_job("Fix the links [sim:seconds=60] [sim:fail]").await;
    fixture.wait_for_job(row.key, "the end of the job", |row| row.remote.status == Some(Status::Failed)).await;
    fixture.engine.stop().await;
}

#[tokio::test]
async fn the_log_mentions_a_new_job_without_its_prompt() {
    let (sim, folder) = (start_sim(&["create=400"]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let (prompt, _) = fixture.engine.submit_new_job("a secret plan").await.expect("on disk");
    let (delivery, _) = fixture.wait_for_delivery(prompt).await;
    assert_eq!(delivery.kind(), DeliveryKind::Rejected);
    assert_eq!(fixture.requests.len(), 1);
    let line = format!("{:?}", fixture.requests);
    assert!(line.contains("new job") && !line.contains("secret"), "{line}");
}

#[tokio::test]
async fn a_lost_response_leaves_the_prompt_unconfirmed_and_sends_it_once() {
    let (sim, folder) = (start_sim(&["create=lost"]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let (prompt, _) = fixture.engine.submit_new_job("Translate").await.expect("on disk");
    let (delivery, row) = fixture.wait_for_delivery(prompt).await;
    assert_eq!(delivery.kind(), DeliveryKind::Unconfirmed);
    assert_eq!(row.local.undelivered, Some(DeliveryKind::Unconfirmed));
    assert_eq!((sim.requests(Operation::Create), sim.received_prompts().len()), (1, 1));
    // Another prompt is accepted. The unconfirmed prompt is not sent again.
    sim.set_faults(Vec::new());
    fixture.submit_accepted_job("Another").await;
    assert_eq!(sim.requests(Operation::Create), 2);
    // The unconfirmed prompt is sent again only if the user chooses to.
    fixture.engine.resolve(prompt, PromptResolution::SendAgain).await.expect("queued");
    assert_eq!(fixture.wait_for_delivery(prompt).await.0, Delivery::Accepted);
    assert_eq!(sim.requests(Operation::Create), 3);
}

#[tokio::test]
async fn an_unconfirmed_new_job_is_linked_to_the_job_that_it_created() {
    let (sim, folder) = (start_sim(&["create=lost"]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let (prompt, row) = fixture.engine.submit_new_job("Translate [sim:seconds=6000]").await.expect("on disk");
    fixture.wait_for_delivery(prompt).await;
    let (id, _) = sim.received_prompts().first().cloned().expect("carried out");
    let id = docdeck::model::remote_job::JobId::new(&id).expect("an id");
    let linked = fixture.engine.resolve(prompt, PromptResolution::Link(id.clone())).await.expect("linked");
    assert_eq!((linked.key, linked.id, linked.local.undelivered), (row.key, Some(id), None));
    let no_such = docdeck::model::remote_job::JobId::new("no-such").expect("an id");
    let (other, _) = fixture.engine.submit_new_job("Lost too").await.expect("on disk");
    fixture.wait_for_delivery(other).await;
    let failure = fixture.engine.resolve(other, PromptResolution::Link(no_such)).await.expect_err("no such job");
    assert_eq!(failure.kind, FailureKind::NotFound);
}

#[tokio::test]
async fn a_429_is_the_only_response_after_which_a_prompt_is_sent_again_automatically() {
    let (sim, folder) = (start_sim(&["create=429-1"]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let (prompt, _) = fixture.engine.submit_new_job("Wait for me").await.expect("on disk");
    // The budget event comes before the prompt event, so that the receiver of the prompt event knows whether the
    // wait is an estimate.
    let blocked = fixture.wait_for_event("the ledger marked full", |event| match event {
        EngineEvent::Budget(Quota::Create, budget) => budget.blocked,
        EngineEvent::Prompt { delivery: Delivery::Queued { until: Some(_) }, .. } => panic!("too early"),
        _ => None,
    });
    assert!(!blocked.await.is_estimate, "the service named a time");
    let (delivery, row) = fixture.wait_for_delivery(prompt).await;
    assert!(matches!(delivery, Delivery::Queued { until: Some(_) }), "{delivery:?}");
    assert_eq!(row.local.undelivered, Some(DeliveryKind::Queued));
    sim.set_faults(Vec::new());
    assert_eq!(fixture.wait_for_delivery(prompt).await.0, Delivery::Accepted);
    assert_eq!((sim.requests(Operation::Create), sim.received_prompts().len()), (2, 1));
}

#[tokio::test]
async fn a_prompt_that_cannot_reach_the_service_is_marked_as_not_sent_and_can_be_edited() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    // No server listens on port 9 of this computer.
    let scope = docdeck::model::endpoint::Scope { base_url: "http://127.0.0.1:9".to_owned(), ..scope_of(&sim) };
    let mut fixture = EngineFixture::start_with_scope(scope, "mint_x", folder.path()).await;
    let (prompt, row) = fixture.engine.submit_new_job("Offline").await.expect("on disk");
    assert_eq!(fixture.wait_for_delivery(prompt).await.0.kind(), DeliveryKind::NotSent);
    assert!(!fixture.engine.is_sending());
    fixture.engine.resolve(prompt, PromptResolution::SendEdited("Still offline".to_owned())).await.expect("queued");
    assert_eq!(fixture.wait_for_delivery(prompt).await.0.kind(), DeliveryKind::NotSent);
    let budget =
        fixture.store.budget(&fixture.scope, Quota::Create, fixture.engine.service_time()).await.expect("a budget");
    assert_eq!(budget.used, 0, "nothing was used at the service");
    let thread = fixture.store.thread(row.key).await.expect("a thread");
    assert_eq!(thread.prompts.iter().map(|prompt| prompt.text.as_str()).collect::<Vec<_>>(), ["Still offline"]);
    let discarded = fixture.engine.discard(prompt).await.expect("discarded");
    assert_eq!(discarded.jobs[0].local.undelivered, Some(DeliveryKind::Discarded));
}

#[tokio::test]
async fn a_blank_prompt_is_rejected_before_anything_is_written() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    assert!(fixture.engine.submit_new_job(" \n\t ").await.is_err());
    assert!(fixture.store.jobs(&fixture.scope).await.expect("rows").is_empty());
}

#[tokio::test]
async fn follow_ups_are_sent_in_order_and_a_rejected_one_blocks_the_rest() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let (_, row) = fixture.submit_accepted_job("First [sim:seconds=6000]").await;
    sim.set_faults(vec!["message=400".parse().expect("a fault")]);
    let (second, _) = fixture.engine.submit_follow_up(row.key, "Second").await.expect("on disk");
    let (third, _) = fixture.engine.submit_follow_up(row.key, "Third").await.expect("on disk");
    assert_eq!(fixture.wait_for_delivery(second).await.0.kind(), DeliveryKind::Rejected);
    sim.set_faults(Vec::new());
    fixture.submit_accepted_job("Something else, so that the dispatcher had its turn").await;
    assert_eq!(sim.requests(Operation::FollowUp), 1);
    fixture.engine.discard(second).await.expect("discarded");
    assert_eq!(fixture.wait_for_delivery(third).await.0, Delivery::Accepted);
    let sent: Vec<String> = sim.received_prompts().into_iter().map(|(_, text)| text).collect();
    assert_eq!(sent.last().map(String::as_str), Some("Third"));
}

#[tokio::test]
async fn a_prompt_interrupted_by_a_kill_is_unconfirmed_at_the_next_start() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let (store, scope, now) = (open_store(folder.path()), scope_of(&sim), chrono::Utc::now());
    let (prompt, row) = store.add_new_job(&scope, "Half sent", now).await.expect("written");
    let turn = store.request_permit(prompt, "4242-dead", now, now).await.expect("a turn");
    assert!(matches!(turn, SendPermit::Granted { .. }));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let row = fixture.wait_for_job(row.key, "the abandoned prompt", |_| true).await;
    assert_eq!(row.local.undelivered, Some(DeliveryKind::Unconfirmed));
    fixture.submit_accepted_job("Something else").await;
    assert_eq!(sim.received_prompts().len(), 1);
}

#[tokio::test]
async fn queued_prompts_are_sent_after_the_next_start() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let (prompt, _) =
        open_store(folder.path()).add_new_job(&scope_of(&sim), "Later", chrono::Utc::now()).await.expect("written");
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    assert_eq!(fixture.wait_for_delivery(prompt).await.0, Delivery::Accepted);
}

#[tokio::test]
async fn a_delivery_state_is_one_event_so_that_the_thread_is_read_once() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let (prompt, _) = fixture.engine.submit_new_job("Fix the links").await.expect("on disk");
    let (mut is_sending, mut reads) = (false, 0);
    fixture
        .wait_for_event("the outcome", |event| {
            is_sending |= matches!(event, EngineEvent::Prompt { delivery: Delivery::Sending, .. });
            reads += usize::from(is_sending && matches!(event, EngineEvent::Prompt { .. } | EngineEvent::Thread(_)));
            matches!(event, EngineEvent::Prompt { prompt: of, delivery: Delivery::Accepted, .. } if *of == prompt)
                .then_some(())
        })
        .await;
    assert_eq!(reads, 2, "one for each state: sending, accepted");
}

#[tokio::test]
async fn stopping_the_engine_during_a_send_is_quick_and_leaves_the_prompt_unconfirmed() {
    let (sim, folder) = (start_sim(&["create=latency-60000"]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let (prompt, row) = fixture.engine.submit_new_job("Slow").await.expect("on disk");
    fixture
        .wait_for_event("sending", |event| {
            matches!(event, EngineEvent::Prompt { delivery: Delivery::Sending, .. }).then_some(())
        })
        .await;
    assert!(fixture.engine.is_sending());
    tokio::time::timeout(Duration::from_secs(1), fixture.engine.stop()).await.expect("stopped");
    let files = std::fs::read_dir(folder.path()).expect("a folder").flatten();
    assert!(!files.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with("instance-")));
    let left = fixture.store.job(row.key).await.expect("read").expect("there");
    assert_eq!(left.local.undelivered, Some(DeliveryKind::Unconfirmed));
    let thread = fixture.store.thread(row.key).await.expect("a thread");
    assert_eq!(thread.prompts.first().map(|p| (p.id, p.delivery.kind())), Some((prompt, DeliveryKind::Unconfirmed)));
    sim.set_faults(Vec::new());
    let mut next = EngineFixture::start_on_folder(&sim, folder.path()).await;
    next.submit_accepted_job("Another").await;
    assert_eq!(next.request_count_of(Operation::Create), 1, "the interrupted prompt is not sent again");
}
