//! A lost answer: shown as unconfirmed, never resent automatically, resolved by the user.

use crate::dashboard_fixture::{DashboardFixture, faults, folder, sim};
use crossterm::event::KeyCode;
use docdeck::model::log::Operation;
use docdeck::model::prompt::{Delivery, DeliveryKind};
use docdeck::model::row::JobGroup;
use docdeck::sim::Sim;

/// A dashboard with one unconfirmed new job that the service did carry out.
async fn unconfirmed(folder: &tempfile::TempDir) -> (Sim, DashboardFixture) {
    let sim = sim(&["create=lost"]).await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.send_new("Translate [sim:seconds=6000]");
    dashboard.until_shown("! unconfirmed: press !").await;
    // The row may be updated only after the thread was read.
    dashboard.until_shown("NEEDS YOU 1").await;
    assert_eq!((sim.requests(Operation::Create), sim.prompts().len()), (1, 1));
    assert_eq!(dashboard.only_prompt().await.delivery.kind(), DeliveryKind::Unconfirmed);
    faults(&sim, &[]);
    (sim, dashboard)
}

#[tokio::test]
async fn an_unconfirmed_prompt_is_linked_by_id_to_its_job() {
    let folder = folder();
    let (sim, mut dashboard) = unconfirmed(&folder).await;
    let (id, _) = sim.prompts().first().cloned().expect("carried out");
    dashboard.keys("!");
    dashboard.assert_shows("The answer was lost: the service may or may not have started this job.");
    dashboard.keys("l");
    dashboard.keys(&id);
    dashboard.key(KeyCode::Enter);
    dashboard.until_shown("WORKING 1").await;
    let row = dashboard.selected();
    assert_eq!((row.id.as_ref().map(|id| id.as_str()), row.undelivered), (Some(id.as_str()), None));
    assert_eq!(dashboard.only_prompt().await.delivery, Delivery::Accepted);
    assert_eq!((sim.requests(Operation::Create), sim.requests(Operation::Get)), (1, 1));
}

#[tokio::test]
async fn a_wrong_id_keeps_the_dialog_and_the_text_and_shows_why() {
    let folder = folder();
    let (sim, mut dashboard) = unconfirmed(&folder).await;
    let (id, _) = sim.prompts().first().cloned().expect("carried out");
    dashboard.keys("!l");
    dashboard.keys(&format!("{id}x"));
    dashboard.key(KeyCode::Enter);
    dashboard.assert_shows("Checking with the service…");
    dashboard.until_shown("not found").await;
    dashboard.assert_shows("Link to an existing job");
    dashboard.assert_shows(&format!("{id}x"));
    assert_eq!(dashboard.app.dialogs.len(), 2, "nothing closed");
    dashboard.key(KeyCode::Backspace);
    assert!(!dashboard.shows("not found"), "what was said of another id is gone");
    dashboard.key(KeyCode::Enter);
    dashboard.until("the dialogs to close", |dashboard| dashboard.app.dialogs.is_empty()).await;
    dashboard.until_shown("WORKING 1").await;
    assert_eq!(dashboard.only_prompt().await.delivery, Delivery::Accepted);
    assert_eq!((sim.requests(Operation::Create), sim.requests(Operation::Get)), (1, 2));
}

#[tokio::test]
async fn an_unconfirmed_prompt_is_resent_only_after_yes() {
    let folder = folder();
    let (sim, mut dashboard) = unconfirmed(&folder).await;
    dashboard.keys("!s");
    dashboard.assert_shows("Send again?");
    dashboard.keys("x");
    dashboard.assert_shows("Choose this if the job is not on the service's dashboard");
    dashboard.key(KeyCode::Esc);
    dashboard.run_for(std::time::Duration::from_millis(100)).await;
    assert_eq!(sim.requests(Operation::Create), 1);
    dashboard.keys("!sy");
    dashboard.until_shown("agent  active").await;
    assert_eq!((sim.requests(Operation::Create), sim.prompts().len()), (2, 2));
    assert_eq!(dashboard.only_prompt().await.delivery, Delivery::Accepted);
}

#[tokio::test]
async fn a_discarded_unconfirmed_prompt_is_not_sent_and_can_be_restored() {
    let folder = folder();
    let (sim, mut dashboard) = unconfirmed(&folder).await;
    dashboard.keys("!d");
    dashboard.until_shown("Discarded. The service may still have started it. u undoes this.").await;
    let prompt = dashboard.only_prompt().await;
    let from = Some(DeliveryKind::Unconfirmed);
    assert_eq!(
        (&prompt.delivery, prompt.text.as_str()),
        (&Delivery::Discarded { from }, "Translate [sim:seconds=6000]")
    );
    assert_eq!((dashboard.app.jobs.working_count(), dashboard.selected().group()), (0, JobGroup::Done));
    dashboard.until("its thread", |dashboard| dashboard.app.detail.discarded().is_some()).await;
    dashboard.keys("!");
    dashboard.assert_shows("Discarded. The service may still have started it.");
    dashboard.keys("u");
    dashboard.until_shown("Undone: the prompt is unconfirmed again.").await;
    assert!(matches!(dashboard.only_prompt().await.delivery, Delivery::Unconfirmed(reason) if !reason.is_empty()));
    dashboard.keys("!d");
    dashboard.until_shown("Discarded. The service").await;
    dashboard.accepted("Another [sim:seconds=6000]").await;
    assert_eq!(sim.requests(Operation::Create), 2, "the other one alone was sent");
}
