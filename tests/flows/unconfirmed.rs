//! An answer that was lost: shown as such, never sent again by itself, decided by the user.

use crate::dashboard_fixture::{DashboardFixture, faults, folder, sim};
use crossterm::event::KeyCode;
use docdeck::model::log::Operation;
use docdeck::model::prompt::{Delivery, DeliveryKind};
use docdeck::model::row::JobGroup;
use docdeck::sim::Sim;

/// A dashboard with one unconfirmed new job that the service did carry out.
async fn unconfirmed(folder: &tempfile::TempDir) -> (Sim, DashboardFixture) {
    let sim = sim(&["create=lost"]).await;
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.send_new("Translate [sim:seconds=6000]");
    desk.until_shown("! unconfirmed: ! decides").await;
    // The row hears of it after the thread may have been read.
    desk.until_shown("NEEDS YOU 1").await;
    assert_eq!((sim.requests(Operation::Create), sim.prompts().len()), (1, 1));
    assert_eq!(desk.only_prompt().await.delivery.kind(), DeliveryKind::Unconfirmed);
    faults(&sim, &[]);
    (sim, desk)
}

#[tokio::test]
async fn an_unconfirmed_prompt_is_linked_by_id_to_the_job_that_it_became() {
    let folder = folder();
    let (sim, mut desk) = unconfirmed(&folder).await;
    let (id, _) = sim.prompts().first().cloned().expect("carried out");
    desk.keys("!");
    desk.assert_shows("The answer was lost: the service may have made this job, or may not.");
    desk.keys("l");
    desk.keys(&id);
    desk.key(KeyCode::Enter);
    desk.until_shown("WORKING 1").await;
    let row = desk.selected();
    assert_eq!((row.id.as_ref().map(|id| id.as_str()), row.undelivered), (Some(id.as_str()), None));
    assert_eq!(desk.only_prompt().await.delivery, Delivery::Accepted);
    assert_eq!((sim.requests(Operation::Create), sim.requests(Operation::Get)), (1, 1));
}

#[tokio::test]
async fn a_wrong_id_keeps_the_dialog_and_the_text_and_says_why() {
    let folder = folder();
    let (sim, mut desk) = unconfirmed(&folder).await;
    let (id, _) = sim.prompts().first().cloned().expect("carried out");
    desk.keys("!l");
    desk.keys(&format!("{id}x"));
    desk.key(KeyCode::Enter);
    desk.assert_shows("Asking the service…");
    desk.until_shown("not found").await;
    desk.assert_shows("Link to the job that it became");
    desk.assert_shows(&format!("{id}x"));
    assert_eq!(desk.app.dialogs.len(), 2, "nothing closed");
    desk.key(KeyCode::Backspace);
    assert!(!desk.shows("not found"), "what was said of another id is gone");
    desk.key(KeyCode::Enter);
    desk.until("the dialogs to close", |desk| desk.app.dialogs.is_empty()).await;
    desk.until_shown("WORKING 1").await;
    assert_eq!(desk.only_prompt().await.delivery, Delivery::Accepted);
    assert_eq!((sim.requests(Operation::Create), sim.requests(Operation::Get)), (1, 2));
}

#[tokio::test]
async fn an_unconfirmed_prompt_is_sent_again_only_after_yes() {
    let folder = folder();
    let (sim, mut desk) = unconfirmed(&folder).await;
    desk.keys("!s");
    desk.assert_shows("Send it again?");
    desk.keys("x");
    desk.assert_shows("else there will be two");
    desk.key(KeyCode::Esc);
    desk.go_on_for(std::time::Duration::from_millis(100)).await;
    assert_eq!(sim.requests(Operation::Create), 1);
    desk.keys("!sy");
    desk.until_shown("agent  active").await;
    assert_eq!((sim.requests(Operation::Create), sim.prompts().len()), (2, 2));
    assert_eq!(desk.only_prompt().await.delivery, Delivery::Accepted);
}

#[tokio::test]
async fn a_discarded_unconfirmed_prompt_is_not_sent_and_can_be_restored() {
    let folder = folder();
    let (sim, mut desk) = unconfirmed(&folder).await;
    desk.keys("!d");
    desk.until_shown("Discarded. The service may still have started it. u undoes this.").await;
    let prompt = desk.only_prompt().await;
    let from = Some(DeliveryKind::Unconfirmed);
    assert_eq!(
        (&prompt.delivery, prompt.text.as_str()),
        (&Delivery::Discarded { from }, "Translate [sim:seconds=6000]")
    );
    assert_eq!((desk.app.jobs.active(), desk.selected().group()), (0, JobGroup::Done));
    desk.until("its thread", |desk| desk.app.detail.discarded().is_some()).await;
    desk.keys("!");
    desk.assert_shows("Discarded. The service may still have started it.");
    desk.keys("u");
    desk.until_shown("Undone: the prompt is unconfirmed again.").await;
    assert!(matches!(desk.only_prompt().await.delivery, Delivery::Unconfirmed(reason) if !reason.is_empty()));
    desk.keys("!d");
    desk.until_shown("Discarded. The service").await;
    desk.accepted("Another [sim:seconds=6000]").await;
    assert_eq!(sim.requests(Operation::Create), 2, "the other one alone was sent");
}
