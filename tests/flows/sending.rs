//! The usual path of a prompt: written, sent, accepted, finished, viewed, followed up.

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
async fn a_prompt_becomes_a_job_with_a_pull_request_that_needs_the_user_and_works_again_after_a_follow_up() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.accepted("Another one [sim:seconds=6000]").await;
    let text = "Fix the links [sim:seconds=50] [sim:pr]";
    let key = dashboard.accepted(text).await;
    assert_eq!((sim.requests(Operation::Create), sim.carried_out(Operation::Create)), (2, 2));
    assert_eq!(sim.prompts().last().map(|(_, sent)| sent.as_str()), Some(text));
    dashboard.until_shown("new jobs 2/100").await;
    dashboard.assert_shows("WORKING 2");

    dashboard
        .until("the pull request", |dashboard| dashboard.app.jobs.get(key).is_some_and(|row| row.pr_link.is_some()))
        .await;
    dashboard.until_shown("agent  completed").await;
    for shown in ["NEEDS YOU 1", "● ✓ Fix the links", "PR 14", " ready", "1 active", "you    Fix the links"] {
        dashboard.assert_shows(shown);
    }
    dashboard.keys("3");
    for shown in ["create   201", "active → completed"] {
        dashboard.assert_shows(shown);
    }
    dashboard.keys("1");

    // It stays in the group, even after the user has looked at it, until the user has acted and selected another job.
    dashboard.key(KeyCode::Enter);
    assert!(dashboard.requested_effects.contains(&Effect::Change(vec![key], LocalChange::Viewed)));
    dashboard.until("the saved layout", |dashboard| !dashboard.selected().is_unseen()).await;
    dashboard.key(KeyCode::Esc);
    dashboard.keys("j");
    dashboard.assert_shows("NEEDS YOU 1");
    dashboard.keys("km");
    dashboard.until("the change on disk", |dashboard| dashboard.selected().is_handled()).await;
    dashboard.assert_shows("NEEDS YOU 1");
    dashboard.keys("j");
    dashboard.assert_shows("DONE 1");
    assert!(!dashboard.shows("NEEDS YOU"));

    dashboard.keys("G");
    assert_eq!(dashboard.selected().key, key);
    dashboard.keys("f");
    dashboard.keys("Redirects too [sim:seconds=50]");
    dashboard.ctrl('s');
    dashboard.until("the follow-up at work", |dashboard| dashboard.status(key) == Some(Status::Active)).await;
    assert_eq!(sim.carried_out(Operation::FollowUp), 1);
    dashboard.assert_shows("WORKING 2");
    dashboard
        .until("the second end", |dashboard| {
            dashboard.app.jobs.get(key).is_some_and(|row| row.group() == JobGroup::NeedsYou)
        })
        .await;
    dashboard.until_shown("you    Redirects too").await;
    let thread = dashboard.thread(key).await;
    assert!(thread.prompts.iter().all(|prompt| prompt.delivery == Delivery::Accepted));
    assert_eq!((thread.prompts.len(), sim.requests(Operation::Create)), (2, 2));
}

#[tokio::test]
async fn a_prompt_is_on_disk_while_the_service_delays_its_answer() {
    let (sim, folder) = (sim(&["create=latency-60000"]).await, folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.send_new("Translate the guide");
    dashboard.until("the request", |_| sim.requests(Operation::Create) == 1).await;
    let prompt = dashboard.only_prompt().await;
    assert_eq!((prompt.text.as_str(), prompt.delivery), ("Translate the guide", Delivery::Sending));
    assert_eq!(sim.carried_out(Operation::Create), 0);
    dashboard.until_shown("Saved, sending now: Translate the guide").await;
    assert!(dashboard.app.dialogs.is_empty(), "the editor does not wait for the service");
}

#[tokio::test]
async fn a_pasted_mebibyte_is_sent_completely() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    let line = "Ein Absatz über die Schnittstelle, mit „Zeichen“ jeder Länge: 😀\n";
    let text: String = std::iter::repeat_n(line, (1 << 20) / line.len() + 1).collect();
    assert!(text.len() >= 1 << 20);
    dashboard.keys("n");
    dashboard.paste(&text);
    dashboard.ctrl('s');
    dashboard.until("the prompt", |_| !sim.prompts().is_empty()).await;
    let prompts = sim.prompts();
    let (_, received) = prompts.first().expect("a prompt");
    assert!(*received == text, "{} bytes came of {}", received.len(), text.len());
}

#[tokio::test]
async fn follow_ups_to_one_job_are_sent_in_order() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    let key = dashboard.accepted("First [sim:seconds=6000]").await;
    faults(&sim, &["message=latency-300"]);
    for text in ["Second", "Third"] {
        dashboard.keys("f");
        dashboard.keys(text);
        dashboard.ctrl('s');
        dashboard.until("the prompt on disk", |dashboard| dashboard.shows("Saved")).await;
    }
    dashboard.until("both", |_| sim.carried_out(Operation::FollowUp) == 2).await;
    let texts: Vec<String> = sim.prompts().into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["First [sim:seconds=6000]", "Second", "Third"]);
    dashboard
        .until("all accepted", |dashboard| dashboard.app.jobs.get(key).is_some_and(|row| row.undelivered.is_none()))
        .await;
    assert_eq!(sim.requests(Operation::FollowUp), 2);
}

#[tokio::test]
async fn an_undelivered_follow_up_blocks_the_next_one() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    let key = dashboard.accepted("First [sim:seconds=6000]").await;
    faults(&sim, &["message=lost"]);
    dashboard.keys("fSecond");
    dashboard.ctrl('s');
    dashboard.until_shown("NEEDS YOU 1").await;
    faults(&sim, &[]);
    dashboard.keys("fThird");
    dashboard.ctrl('s');
    dashboard.until_shown("It is sent after you decide about the earlier prompt").await;
    // Another prompt is accepted meanwhile, so the dispatcher has had its turn.
    dashboard.accepted("Elsewhere [sim:seconds=6000]").await;
    assert_eq!(sim.requests(Operation::FollowUp), 1);
    let kinds = |thread: docdeck::model::prompt::Thread| -> Vec<DeliveryKind> {
        thread.prompts.iter().map(|prompt| prompt.delivery.kind()).collect()
    };
    let expected = [DeliveryKind::Accepted, DeliveryKind::Unconfirmed, DeliveryKind::Queued];
    assert_eq!(kinds(dashboard.thread(key).await), expected);
    // Once the first one is discarded, the next one is sent.
    dashboard.keys("g");
    assert_eq!(dashboard.selected().key, key);
    dashboard.until_shown("! unconfirmed: press !").await;
    dashboard.keys("!d");
    dashboard.until("the third", |_| sim.carried_out(Operation::FollowUp) == 2).await;
    assert_eq!(sim.prompts().last().map(|(_, text)| text.clone()), Some("Third".to_owned()));
}

#[tokio::test]
async fn the_hundred_and_first_create_of_an_hour_waits_and_is_not_sent() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    for _ in 0..99 {
        dashboard
            .store
            .spend(&dashboard.scope, RateLimited::Create, sim.now())
            .await
            .expect("written")
            .expect("a place");
    }
    dashboard.accepted("The hundredth [sim:seconds=6000]").await;
    dashboard.until_shown("new jobs 100/100").await;
    dashboard.send_new("One too many");
    dashboard.until_shown("QUEUED 1").await;
    dashboard.until_shown("… queued, will send at").await;
    dashboard.run_for(std::time::Duration::from_millis(100)).await;
    assert_eq!((sim.requests(Operation::Create), sim.prompts().len()), (1, 1));
}
