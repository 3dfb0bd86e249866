//! Prompts on their way: accepted, lost, limited, never sent; nothing twice.

use crate::engine_fixture::{EngineFixture, open, scope_of, sim};
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::failure::FailureKind;
use docdeck::model::job::Status;
use docdeck::model::ledger::RateLimited;
use docdeck::model::log::{LogKind, Operation};
use docdeck::model::prompt::{Delivery, DeliveryKind, Resolution};
use docdeck::store::SendPermit;
use std::time::Duration;

#[tokio::test]
async fn a_new_job_is_sent_accepted_and_followed_until_it_is_finished() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut desk = EngineFixture::begin(&sim, folder.path()).await;
    let (_, row) = desk.accepted("Fix the links [sim:seconds=60] [sim:pr]").await;
    assert!(row.id.is_some());
    let done =
        desk.row(row.key, "the end of the job", |row| row.status.as_ref().is_some_and(|s| s.is_finished())).await;
    assert!(done.pr_link.is_some() && done.checked_at.is_some());
    let line = desk.until("the transition in the log", |news| match news {
        EngineEvent::Logged(entry) => match &entry.what {
            LogKind::Transition(text) => Some(text.as_str().to_owned()),
            _ => None,
        },
        _ => None,
    });
    assert_eq!(line.await, "active → completed");
    assert_eq!((sim.requests(Operation::Create), desk.requests_of(Operation::Create)), (1, 1));
}

#[tokio::test]
async fn alone_and_in_memory_everything_goes_on_as_well() {
    let sim = sim(&[]).await;
    let mut desk = EngineFixture::begin_alone(&sim).await;
    let (_, row) = desk.accepted("Fix the links [sim:seconds=60] [sim:fail]").await;
    desk.row(row.key, "the end of the job", |row| row.status == Some(Status::Failed)).await;
    desk.engine.stop().await;
}

#[tokio::test]
async fn the_log_names_a_new_job_without_its_text() {
    let (sim, folder) = (sim(&["create=400"]).await, tempfile::tempdir().expect("a folder"));
    let mut desk = EngineFixture::begin(&sim, folder.path()).await;
    let (prompt, _) = desk.engine.submit_new_job("a secret plan").await.expect("on disk");
    let (delivery, _) = desk.outcome(prompt).await;
    assert_eq!(delivery.kind(), DeliveryKind::Rejected);
    assert_eq!(desk.requests.len(), 1);
    let line = format!("{:?}", desk.requests);
    assert!(line.contains("new job") && !line.contains("secret"), "{line}");
}

#[tokio::test]
async fn a_lost_answer_leaves_the_prompt_unconfirmed_and_sends_it_once() {
    let (sim, folder) = (sim(&["create=lost"]).await, tempfile::tempdir().expect("a folder"));
    let mut desk = EngineFixture::begin(&sim, folder.path()).await;
    let (prompt, _) = desk.engine.submit_new_job("Translate").await.expect("on disk");
    let (delivery, row) = desk.outcome(prompt).await;
    assert_eq!(delivery.kind(), DeliveryKind::Unconfirmed);
    assert_eq!(row.undelivered, Some(DeliveryKind::Unconfirmed));
    assert_eq!((sim.requests(Operation::Create), sim.prompts().len()), (1, 1));
    // Another prompt goes through meanwhile, this one stays where it is.
    sim.set_faults(Vec::new());
    desk.accepted("Another").await;
    assert_eq!(sim.requests(Operation::Create), 2);
    // Only the user sends it again.
    desk.engine.resolve(prompt, Resolution::SendAgain).await.expect("queued");
    assert_eq!(desk.outcome(prompt).await.0, Delivery::Accepted);
    assert_eq!(sim.requests(Operation::Create), 3);
}

#[tokio::test]
async fn an_unconfirmed_new_job_is_linked_to_the_job_that_came_of_it() {
    let (sim, folder) = (sim(&["create=lost"]).await, tempfile::tempdir().expect("a folder"));
    let mut desk = EngineFixture::begin(&sim, folder.path()).await;
    let (prompt, row) = desk.engine.submit_new_job("Translate [sim:seconds=6000]").await.expect("on disk");
    desk.outcome(prompt).await;
    let (id, _) = sim.prompts().first().cloned().expect("carried out");
    let id = docdeck::model::job::JobId::new(&id).expect("an id");
    let linked = desk.engine.resolve(prompt, Resolution::Link(id.clone())).await.expect("linked");
    assert_eq!((linked.key, linked.id, linked.undelivered), (row.key, Some(id), None));
    let no_such = docdeck::model::job::JobId::new("no-such").expect("an id");
    let (other, _) = desk.engine.submit_new_job("Lost too").await.expect("on disk");
    desk.outcome(other).await;
    let failure = desk.engine.resolve(other, Resolution::Link(no_such)).await.expect_err("no such job");
    assert_eq!(failure.kind, FailureKind::NotFound);
}

#[tokio::test]
async fn a_429_is_the_one_answer_after_which_a_prompt_goes_out_again_by_itself() {
    let (sim, folder) = (sim(&["create=429-1"]).await, tempfile::tempdir().expect("a folder"));
    let mut desk = EngineFixture::begin(&sim, folder.path()).await;
    let (prompt, _) = desk.engine.submit_new_job("Wait for me").await.expect("on disk");
    // The ledger comes first: whoever hears that the prompt waits knows then whether the wait is an estimate.
    let blocked = desk.until("the ledger marked full", |news| match news {
        EngineEvent::Budget(RateLimited::Create, budget) => budget.blocked,
        EngineEvent::Prompt { delivery: Delivery::Queued { until: Some(_) }, .. } => panic!("too early"),
        _ => None,
    });
    assert!(!blocked.await.is_estimate, "the service named a time");
    let (delivery, row) = desk.outcome(prompt).await;
    assert!(matches!(delivery, Delivery::Queued { until: Some(_) }), "{delivery:?}");
    assert_eq!(row.undelivered, Some(DeliveryKind::Queued));
    sim.set_faults(Vec::new());
    assert_eq!(desk.outcome(prompt).await.0, Delivery::Accepted);
    assert_eq!((sim.requests(Operation::Create), sim.prompts().len()), (2, 1));
}

#[tokio::test]
async fn what_never_reached_the_service_is_not_sent_and_can_be_edited() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    // Port 9 of this computer: nobody listens.
    let scope = docdeck::model::endpoint::Scope { base_url: "http://127.0.0.1:9".to_owned(), ..scope_of(&sim) };
    let mut desk = EngineFixture::begin_with(scope, "mint_x", folder.path()).await;
    let (prompt, row) = desk.engine.submit_new_job("Offline").await.expect("on disk");
    assert_eq!(desk.outcome(prompt).await.0.kind(), DeliveryKind::NotSent);
    assert!(!desk.engine.has_sending());
    desk.engine.resolve(prompt, Resolution::SendEdited("Still offline".to_owned())).await.expect("queued");
    assert_eq!(desk.outcome(prompt).await.0.kind(), DeliveryKind::NotSent);
    let budget =
        desk.store.budget(&desk.scope, RateLimited::Create, desk.engine.service_now()).await.expect("a budget");
    assert_eq!(budget.used, 0, "nothing was used at the service");
    let thread = desk.store.thread(row.key).await.expect("a thread");
    assert_eq!(thread.prompts.iter().map(|prompt| prompt.text.as_str()).collect::<Vec<_>>(), ["Still offline"]);
    let discarded = desk.engine.discard(prompt).await.expect("discarded");
    assert_eq!(discarded.rows[0].undelivered, Some(DeliveryKind::Discarded));
}

#[tokio::test]
async fn a_blank_prompt_is_refused_before_anything_is_written() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let desk = EngineFixture::begin(&sim, folder.path()).await;
    assert!(desk.engine.submit_new_job(" \n\t ").await.is_err());
    assert!(desk.store.jobs(&desk.scope).await.expect("rows").is_empty());
}

#[tokio::test]
async fn follow_ups_go_out_in_their_order_and_a_rejected_one_holds_the_rest() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut desk = EngineFixture::begin(&sim, folder.path()).await;
    let (_, row) = desk.accepted("First [sim:seconds=6000]").await;
    sim.set_faults(vec!["message=400".parse().expect("a fault")]);
    let (second, _) = desk.engine.submit_follow_up(row.key, "Second").await.expect("on disk");
    let (third, _) = desk.engine.submit_follow_up(row.key, "Third").await.expect("on disk");
    assert_eq!(desk.outcome(second).await.0.kind(), DeliveryKind::Rejected);
    sim.set_faults(Vec::new());
    desk.accepted("Something else, so that the dispatcher had its turn").await;
    assert_eq!(sim.requests(Operation::FollowUp), 1);
    desk.engine.discard(second).await.expect("discarded");
    assert_eq!(desk.outcome(third).await.0, Delivery::Accepted);
    let sent: Vec<String> = sim.prompts().into_iter().map(|(_, text)| text).collect();
    assert_eq!(sent.last().map(String::as_str), Some("Third"));
}

#[tokio::test]
async fn what_a_killed_docdeck_left_half_sent_is_unconfirmed_at_the_next_start() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let (store, scope, now) = (open(folder.path()), scope_of(&sim), chrono::Utc::now());
    let (prompt, row) = store.add_new_job(&scope, "Half sent", now).await.expect("written");
    let turn = store.take_turn(prompt, "4242-dead", now, now).await.expect("a turn");
    assert!(matches!(turn, SendPermit::Go { .. }));
    let mut desk = EngineFixture::begin(&sim, folder.path()).await;
    let row = desk.row(row.key, "the abandoned prompt", |_| true).await;
    assert_eq!(row.undelivered, Some(DeliveryKind::Unconfirmed));
    desk.accepted("Something else").await;
    assert_eq!(sim.prompts().len(), 1);
}

#[tokio::test]
async fn what_was_queued_when_docdeck_ended_is_sent_by_the_next_one() {
    let (sim, folder) = (sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let (prompt, _) =
        open(folder.path()).add_new_job(&scope_of(&sim), "Later", chrono::Utc::now()).await.expect("written");
    let mut desk = EngineFixture::begin(&sim, folder.path()).await;
    assert_eq!(desk.outcome(prompt).await.0, Delivery::Accepted);
}

#[tokio::test]
async fn stopping_is_quick_while_a_prompt_is_on_its_way_and_the_record_says_that_it_is_unconfirmed() {
    let (sim, folder) = (sim(&["create=latency-60000"]).await, tempfile::tempdir().expect("a folder"));
    let mut desk = EngineFixture::begin(&sim, folder.path()).await;
    let (prompt, row) = desk.engine.submit_new_job("Slow").await.expect("on disk");
    desk.until("sending", |news| matches!(news, EngineEvent::Prompt { delivery: Delivery::Sending, .. }).then_some(()))
        .await;
    assert!(desk.engine.has_sending());
    tokio::time::timeout(Duration::from_secs(1), desk.engine.stop()).await.expect("stopped");
    let left = std::fs::read_dir(folder.path()).expect("a folder").flatten();
    assert!(!left.into_iter().any(|entry| entry.file_name().to_string_lossy().starts_with("instance-")));
    let left = desk.store.job(row.key).await.expect("read").expect("there");
    assert_eq!(left.undelivered, Some(DeliveryKind::Unconfirmed));
    let thread = desk.store.thread(row.key).await.expect("a thread");
    assert_eq!(thread.prompts.first().map(|p| (p.id, p.delivery.kind())), Some((prompt, DeliveryKind::Unconfirmed)));
    sim.set_faults(Vec::new());
    let mut next = EngineFixture::begin(&sim, folder.path()).await;
    next.accepted("Another").await;
    assert_eq!(next.requests_of(Operation::Create), 1, "the one that was cut off is not sent again");
}
