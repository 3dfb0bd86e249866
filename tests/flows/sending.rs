//! Tests of the usual path of a prompt: it is typed, sent and accepted, its job finishes, and a follow-up is sent.

use crate::support::dashboard::DashboardFixture;
use crate::support::{create_folder, set_faults, start_sim};
use crossterm::event::KeyCode;
use docdeck::model::change::LocalChange;
use docdeck::model::job::JobGroup;
use docdeck::model::ledger::Quota;
use docdeck::model::log::Operation;
use docdeck::model::prompt::{Delivery, DeliveryKind, DraftTarget};
use docdeck::model::remote_job::Status;
use docdeck::tui::{Effect, JobsEffect};

#[tokio::test]
async fn a_job_with_a_pull_request_needs_the_user_and_is_active_again_after_a_follow_up() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.send_accepted_job("Another one [sim:seconds=6000]").await;
    let text = "Fix the links [sim:seconds=50] [sim:pr]";
    let key = dashboard.send_accepted_job(text).await;
    assert_eq!((sim.requests(Operation::Create), sim.carried_out_count(Operation::Create)), (2, 2));
    assert_eq!(sim.received_prompts().last().map(|(_, sent)| sent.as_str()), Some(text));
    dashboard.wait_until_shown("new jobs: 98 of 100 left").await;
    dashboard.assert_shows("Working 2");

    dashboard
        .wait_until("the pull request", |dashboard| {
            dashboard.app.jobs.get(key).is_some_and(|row| row.remote.pr_link.is_some())
        })
        .await;
    dashboard.wait_until_shown("finished after").await;
    for shown in ["Needs you 1", "✓ completed    Fix the links", "#14", " ready", "› Fix the links"] {
        dashboard.assert_shows(shown);
    }
    dashboard.press_chars("3");
    for shown in ["create     201", "working → completed"] {
        dashboard.assert_shows(shown);
    }
    dashboard.press_chars("1");

    // The job stays in the group Needs you after the user has viewed it. It leaves the group when the user has marked
    // it as handled and selected another job.
    dashboard.press_key(KeyCode::Enter);
    assert!(
        dashboard
            .requested_effects
            .contains(&Effect::Jobs(JobsEffect::ChangeLocalData(vec![key], LocalChange::Viewed)))
    );
    dashboard.wait_until("the saved layout", |dashboard| !dashboard.selected_job().is_unseen()).await;
    dashboard.press_key(KeyCode::Esc);
    dashboard.press_chars("j");
    dashboard.wait_until_shown("Needs you 1").await;
    dashboard.press_chars("km");
    dashboard.wait_until("the change on disk", |dashboard| dashboard.selected_job().is_handled()).await;
    dashboard.wait_until_shown("Needs you 0").await;
    dashboard.press_chars("j");
    dashboard.assert_shows("Done 1");
    assert!(!dashboard.shows("Needs you"));

    dashboard.press_chars("G");
    assert_eq!(dashboard.selected_job().key, key);
    dashboard.press_chars("f");
    dashboard.press_chars("Redirects too [sim:seconds=50]");
    dashboard.press_ctrl('s');
    dashboard.wait_until("the follow-up at work", |dashboard| dashboard.status(key) == Some(Status::Active)).await;
    assert_eq!(sim.carried_out_count(Operation::FollowUp), 1);
    dashboard.assert_shows("Working 2");
    dashboard
        .wait_until("the second end", |dashboard| {
            dashboard.app.jobs.get(key).is_some_and(|row| row.group() == JobGroup::NeedsYou)
        })
        .await;
    dashboard.wait_until_shown("› Redirects too").await;
    let thread = dashboard.thread(key).await;
    assert!(thread.prompts.iter().all(|prompt| prompt.delivery == Delivery::Accepted));
    assert_eq!((thread.prompts.len(), sim.requests(Operation::Create)), (2, 2));
}

#[tokio::test]
async fn a_prompt_is_stored_as_sending_while_the_service_delays_its_response() {
    let (sim, folder) = (start_sim(&["create=latency-60000"]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.send_new("Translate the guide");
    dashboard.wait_until("the request", |_| sim.requests(Operation::Create) == 1).await;
    let prompt = dashboard.only_prompt().await;
    assert_eq!((prompt.text.as_str(), prompt.delivery), ("Translate the guide", Delivery::Sending));
    assert_eq!(sim.carried_out_count(Operation::Create), 0);
    dashboard.wait_until_shown("Saved, sending now: Translate the guide").await;
    assert!(dashboard.app.dialogs.is_empty(), "the editor does not wait for the service");
}

#[tokio::test]
async fn a_pasted_mebibyte_is_sent_completely() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    let line = "Ein Absatz über die Schnittstelle, mit „Zeichen“ jeder Länge: 😀\n";
    let text: String = std::iter::repeat_n(line, (1 << 20) / line.len() + 1).collect();
    assert!(text.len() >= 1 << 20);
    dashboard.press_chars("n");
    dashboard.paste(&text);
    dashboard.press_ctrl('s');
    dashboard.wait_until("the prompt", |_| !sim.received_prompts().is_empty()).await;
    let prompts = sim.received_prompts();
    let (_, received) = prompts.first().expect("a prompt");
    assert!(*received == text, "{} bytes came of {}", received.len(), text.len());
}

#[tokio::test]
async fn follow_ups_to_one_job_are_sent_in_order() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    let key = dashboard.send_accepted_job("First [sim:seconds=6000]").await;
    set_faults(&sim, &["message=latency-300"]);
    for text in ["Second", "Third"] {
        dashboard.press_chars("f");
        dashboard.press_chars(text);
        dashboard.press_ctrl('s');
        dashboard.wait_until("the prompt on disk", |dashboard| dashboard.shows("Saved")).await;
    }
    dashboard.wait_until("both", |_| sim.carried_out_count(Operation::FollowUp) == 2).await;
    let texts: Vec<String> = sim.received_prompts().into_iter().map(|(_, text)| text).collect();
    assert_eq!(texts, ["First [sim:seconds=6000]", "Second", "Third"]);
    dashboard
        .wait_until("all accepted", |dashboard| {
            dashboard.app.jobs.get(key).is_some_and(|row| row.local.undelivered.is_none())
        })
        .await;
    assert_eq!(sim.requests(Operation::FollowUp), 2);
}

#[tokio::test]
async fn an_undelivered_follow_up_blocks_the_next_one() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    let key = dashboard.send_accepted_job("First [sim:seconds=6000]").await;
    set_faults(&sim, &["message=lost"]);
    dashboard.press_chars("fSecond");
    dashboard.press_ctrl('s');
    dashboard.wait_until_shown("Needs you 1").await;
    set_faults(&sim, &[]);
    dashboard.press_chars("fThird");
    dashboard.press_ctrl('s');
    dashboard.wait_until_shown("It will be sent after you resolve the earlier prompt").await;
    // When another prompt is accepted, the engine has handled the whole queue.
    dashboard.send_accepted_job("Elsewhere [sim:seconds=6000]").await;
    assert_eq!(sim.requests(Operation::FollowUp), 1);
    let kinds = |thread: docdeck::model::prompt::Thread| -> Vec<DeliveryKind> {
        thread.prompts.iter().map(|prompt| prompt.delivery.kind()).collect()
    };
    let expected = [DeliveryKind::Accepted, DeliveryKind::Unconfirmed, DeliveryKind::Queued];
    assert_eq!(kinds(dashboard.thread(key).await), expected);
    // After "Second" is discarded, "Third" is sent.
    dashboard.press_chars("g");
    assert_eq!(dashboard.selected_job().key, key);
    dashboard.wait_until_shown("        ! unconfirmed").await;
    dashboard.press_chars("!d");
    dashboard.wait_until("the third", |_| sim.carried_out_count(Operation::FollowUp) == 2).await;
    assert_eq!(sim.received_prompts().last().map(|(_, text)| text.clone()), Some("Third".to_owned()));
}

#[tokio::test]
async fn the_hundred_and_first_new_job_of_an_hour_is_queued_and_not_sent() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    for _ in 0..99 {
        dashboard.store.spend(&dashboard.scope, Quota::Create, sim.now()).await.expect("written").expect("a place");
    }
    dashboard.send_accepted_job("The hundredth [sim:seconds=6000]").await;
    dashboard.wait_until_shown("new jobs: 0 of 100 left").await;
    dashboard.send_new("One too many");
    dashboard.wait_until_shown("Queued 1").await;
    dashboard.wait_until_shown("Queued, will be sent after").await;
    dashboard.run_for(std::time::Duration::from_millis(100)).await;
    assert_eq!((sim.requests(Operation::Create), sim.received_prompts().len()), (1, 1));
}

#[tokio::test]
async fn retrying_a_failed_job_starts_it_once_more_however_often_the_key_is_pressed() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    let text = "Shorten the introduction [sim:seconds=50] [sim:fail]";
    let key = dashboard.send_accepted_job(text).await;
    dashboard.wait_until("the failure", |dashboard| dashboard.status(key) == Some(Status::Failed)).await;
    dashboard.press_chars("n");
    dashboard.press_chars("An unsent draft");
    dashboard.press_key(KeyCode::Esc);
    dashboard.assert_shows("Press t to retry");
    dashboard.press_chars("tt");
    dashboard.wait_until("the second job", |_| sim.requests(Operation::Create) == 2).await;
    dashboard.wait_until("the selection of the new job", |dashboard| dashboard.selected_job().key != key).await;
    let new = dashboard.selected_job().key;
    dashboard.press_chars("t");
    dashboard
        .wait_until("the job that is done", |dashboard| {
            dashboard.app.jobs.get(key).is_some_and(|row| row.group() == JobGroup::Done)
        })
        .await;
    dashboard.wait_until("the second failure", |dashboard| dashboard.status(new) == Some(Status::Failed)).await;
    assert_eq!((sim.requests(Operation::Create), sim.carried_out_count(Operation::Create)), (2, 2));
    assert_eq!(sim.received_prompts().last().map(|(_, sent)| sent.as_str()), Some(text));
    assert_eq!(dashboard.app.draft(DraftTarget::NewJob), Some("An unsent draft"));
}
