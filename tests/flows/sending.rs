//! A prompt's usual way: written, sent, accepted, finished, looked at, followed up.

use crate::dashboard_fixture::{DashboardFixture, faults, folder, sim};
use crossterm::event::KeyCode;
use docdeck::app::Effect;
use docdeck::model::change::LocalChange;
use docdeck::model::job::Status;
use docdeck::model::ledger::RateLimited;
use docdeck::model::log::Operation;
use docdeck::model::prompt::{Delivery, DeliveryKind};
use docdeck::model::row::JobGroup;

#[tokio::test]
async fn a_prompt_becomes_a_job_with_a_pull_request_that_needs_a_look_and_wakes_on_a_follow_up() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.accepted("Another one [sim:seconds=6000]").await;
    let text = "Fix the links [sim:seconds=50] [sim:pr]";
    let key = desk.accepted(text).await;
    assert_eq!((sim.requests(Operation::Create), sim.carried_out(Operation::Create)), (2, 2));
    assert_eq!(sim.prompts().last().map(|(_, sent)| sent.as_str()), Some(text));
    desk.until_shown("new jobs 2/100").await;
    desk.assert_shows("WORKING 2");

    desk.until("the pull request", |desk| desk.app.jobs.get(key).is_some_and(|row| row.pr_link.is_some())).await;
    desk.until_shown("agent  completed").await;
    for shown in ["NEEDS YOU 1", "● ✓ Fix the links", "PR 14", " ready", "1 active", "you    Fix the links"] {
        desk.assert_shows(shown);
    }
    desk.keys("3");
    for shown in ["create   201", "active → completed"] {
        desk.assert_shows(shown);
    }
    desk.keys("1");

    // It stays in the group, also after it was looked at, until the user has acted on it and the selection has left it.
    desk.key(KeyCode::Enter);
    assert!(desk.asked.contains(&Effect::Change(vec![key], LocalChange::Looked)));
    desk.until("the look on disk", |desk| !desk.selected().is_unseen()).await;
    desk.key(KeyCode::Esc);
    desk.keys("j");
    desk.assert_shows("NEEDS YOU 1");
    desk.keys("km");
    desk.until("the change on disk", |desk| desk.selected().is_handled()).await;
    desk.assert_shows("NEEDS YOU 1");
    desk.keys("j");
    desk.assert_shows("DONE 1");
    assert!(!desk.shows("NEEDS YOU"));

    desk.keys("G");
    assert_eq!(desk.selected().key, key);
    desk.keys("f");
    desk.keys("Redirects too [sim:seconds=50]");
    desk.ctrl('s');
    desk.until("the follow-up at work", |desk| desk.status(key) == Some(Status::Active)).await;
    assert_eq!(sim.carried_out(Operation::FollowUp), 1);
    desk.assert_shows("WORKING 2");
    desk.until("the second end", |desk| desk.app.jobs.get(key).is_some_and(|row| row.group() == JobGroup::NeedsYou))
        .await;
    desk.until_shown("you    Redirects too").await;
    let thread = desk.thread(key).await;
    assert!(thread.prompts.iter().all(|prompt| prompt.delivery == Delivery::Accepted));
    assert_eq!((thread.prompts.len(), sim.requests(Operation::Create)), (2, 2));
}

#[tokio::test]
async fn a_prompt_is_on_disk_while_the_service_keeps_its_answer_back() {
    let (sim, folder) = (sim(&["create=latency-60000"]).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.send_new("Translate the guide");
    desk.until("the request", |_| sim.requests(Operation::Create) == 1).await;
    let prompt = desk.only_prompt().await;
    assert_eq!((prompt.text.as_str(), prompt.delivery), ("Translate the guide", Delivery::Sending));
    assert_eq!(sim.carried_out(Operation::Create), 0);
    desk.until_shown("Saved, sending now: Translate the guide").await;
    assert!(desk.app.dialogs.is_empty(), "the editor does not wait for the service");
}

#[tokio::test]
async fn a_mebibyte_that_is_pasted_is_sent_whole() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    let line = "Ein Absatz über die Schnittstelle, mit „Zeichen“ jeder Länge: 😀\n";
    let text: String = std::iter::repeat_n(line, (1 << 20) / line.len() + 1).collect();
    assert!(text.len() >= 1 << 20);
    desk.keys("n");
    desk.paste(&text);
    desk.ctrl('s');
    desk.until("the prompt", |_| !sim.prompts().is_empty()).await;
    let prompts = sim.prompts();
    let (_, received) = prompts.first().expect("a prompt");
    assert!(*received == text, "{} bytes came of {}", received.len(), text.len());
}

#[tokio::test]
async fn follow_ups_to_one_job_go_out_in_their_order() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    let key = desk.accepted("First [sim:seconds=6000]").await;
    faults(&sim, &["message=latency-300"]);
    for text in ["Second", "Third"] {
        desk.keys("f");
        desk.keys(text);
        desk.ctrl('s');
        desk.until("the prompt on disk", |desk| desk.shows("Saved")).await;
    }
    desk.until("both", |_| sim.carried_out(Operation::FollowUp) == 2).await;
    let texts: Vec<String> = sim.prompts().into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["First [sim:seconds=6000]", "Second", "Third"]);
    desk.until("all accepted", |desk| desk.app.jobs.get(key).is_some_and(|row| row.undelivered.is_none())).await;
    assert_eq!(sim.requests(Operation::FollowUp), 2);
}

#[tokio::test]
async fn a_follow_up_that_was_not_delivered_holds_the_next_one() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    let key = desk.accepted("First [sim:seconds=6000]").await;
    faults(&sim, &["message=lost"]);
    desk.keys("fSecond");
    desk.ctrl('s');
    desk.until_shown("NEEDS YOU 1").await;
    faults(&sim, &[]);
    desk.keys("fThird");
    desk.ctrl('s');
    desk.until_shown("It is sent after you decide about the earlier prompt").await;
    // Another prompt goes through meanwhile, so the dispatcher had its turn.
    desk.accepted("Elsewhere [sim:seconds=6000]").await;
    assert_eq!(sim.requests(Operation::FollowUp), 1);
    let kinds = |thread: docdeck::model::prompt::Thread| -> Vec<DeliveryKind> {
        thread.prompts.iter().map(|prompt| prompt.delivery.kind()).collect()
    };
    let expected = [DeliveryKind::Accepted, DeliveryKind::Unconfirmed, DeliveryKind::Queued];
    assert_eq!(kinds(desk.thread(key).await), expected);
    // Once the first is let go, the next one goes out.
    desk.keys("g");
    assert_eq!(desk.selected().key, key);
    desk.until_shown("! unconfirmed: ! decides").await;
    desk.keys("!d");
    desk.until("the third", |_| sim.carried_out(Operation::FollowUp) == 2).await;
    assert_eq!(sim.prompts().last().map(|(_, text)| text.clone()), Some("Third".to_owned()));
}

#[tokio::test]
async fn the_hundred_and_first_create_of_an_hour_waits_and_is_not_sent() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    for _ in 0..99 {
        desk.store.spend(&desk.scope, RateLimited::Create, sim.now()).await.expect("written").expect("a place");
    }
    desk.accepted("The hundredth [sim:seconds=6000]").await;
    desk.until_shown("new jobs 100/100").await;
    desk.send_new("One too many");
    desk.until_shown("QUEUED 1").await;
    desk.until_shown("… queued, will send at").await;
    desk.go_on_for(std::time::Duration::from_millis(100)).await;
    assert_eq!((sim.requests(Operation::Create), sim.prompts().len()), (1, 1));
}
