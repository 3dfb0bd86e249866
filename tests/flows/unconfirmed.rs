//! Tests of a prompt whose response is lost: it is unconfirmed, never resent automatically, and resolved by the user.

use crate::support::dashboard::DashboardFixture;
use crate::support::{create_folder, set_faults, start_sim};
use crossterm::event::KeyCode;
use docdeck::model::job::JobGroup;
use docdeck::model::log::Operation;
use docdeck::model::prompt::{Delivery, DeliveryKind};
use docdeck::sim::Sim;

/// Starts a dashboard with an unconfirmed prompt, whose job the service has in fact created.
async fn start_with_unconfirmed(folder: &tempfile::TempDir) -> (Sim, DashboardFixture) {
    let sim = start_sim(&["create=lost"]).await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.send_new("Translate [sim:seconds=6000]");
    dashboard.wait_until_shown("        ! unconfirmed").await;
    // The list may be updated later than the thread.
    dashboard.wait_until_shown("Needs you 1").await;
    assert_eq!((sim.requests(Operation::Create), sim.received_prompts().len()), (1, 1));
    assert_eq!(dashboard.only_prompt().await.delivery.kind(), DeliveryKind::Unconfirmed);
    set_faults(&sim, &[]);
    (sim, dashboard)
}

#[tokio::test]
async fn an_unconfirmed_prompt_can_be_linked_to_its_job_by_id() {
    let folder = create_folder();
    let (sim, mut dashboard) = start_with_unconfirmed(&folder).await;
    let (id, _) = sim.received_prompts().first().cloned().expect("carried out");
    dashboard.press_chars("!");
    dashboard.assert_shows("The service may or may not have started this job.");
    dashboard.press_chars("l");
    dashboard.press_chars(&id);
    dashboard.press_key(KeyCode::Enter);
    dashboard.wait_until_shown("Working 1").await;
    let row = dashboard.selected_job();
    assert_eq!((row.id.as_ref().map(|id| id.as_str()), row.local.undelivered), (Some(id.as_str()), None));
    assert_eq!(dashboard.only_prompt().await.delivery, Delivery::Accepted);
    assert_eq!((sim.requests(Operation::Create), sim.requests(Operation::GetJob)), (1, 1));
}

#[tokio::test]
async fn after_a_wrong_id_the_dialog_stays_open_with_the_typed_id_and_the_error() {
    let folder = create_folder();
    let (sim, mut dashboard) = start_with_unconfirmed(&folder).await;
    let (id, _) = sim.received_prompts().first().cloned().expect("carried out");
    dashboard.press_chars("!l");
    dashboard.press_chars(&format!("{id}x"));
    dashboard.press_key(KeyCode::Enter);
    dashboard.assert_shows("Checking with the service…");
    dashboard.wait_until_shown("not found").await;
    dashboard.assert_shows("Link to an existing job");
    dashboard.assert_shows(&format!("{id}x"));
    assert_eq!(dashboard.app.dialogs.len(), 2, "both dialogs stay open");
    dashboard.press_key(KeyCode::Backspace);
    assert!(!dashboard.shows("not found"), "the error about the previous id is gone");
    dashboard.press_key(KeyCode::Enter);
    dashboard.wait_until("the dialogs to close", |dashboard| dashboard.app.dialogs.is_empty()).await;
    dashboard.wait_until_shown("Working 1").await;
    assert_eq!(dashboard.only_prompt().await.delivery, Delivery::Accepted);
    assert_eq!((sim.requests(Operation::Create), sim.requests(Operation::GetJob)), (1, 2));
}

#[tokio::test]
async fn an_unconfirmed_prompt_is_resent_only_after_confirmation() {
    let folder = create_folder();
    let (sim, mut dashboard) = start_with_unconfirmed(&folder).await;
    dashboard.press_chars("!s");
    dashboard.assert_shows("Send it again?");
    dashboard.press_chars("x");
    dashboard.assert_shows("Only if the job isn't on your Mintlify dashboard");
    dashboard.press_key(KeyCode::Esc);
    dashboard.run_for(std::time::Duration::from_millis(100)).await;
    assert_eq!(sim.requests(Operation::Create), 1);
    dashboard.press_chars("!sy");
    dashboard.wait_until_shown("◐ started").await;
    assert_eq!((sim.requests(Operation::Create), sim.received_prompts().len()), (2, 2));
    assert_eq!(dashboard.only_prompt().await.delivery, Delivery::Accepted);
}

#[tokio::test]
async fn a_discarded_unconfirmed_prompt_is_not_sent_and_can_be_restored() {
    let folder = create_folder();
    let (sim, mut dashboard) = start_with_unconfirmed(&folder).await;
    dashboard.press_chars("!d");
    dashboard.wait_until_shown("Discarded. The service may still have started it. Press u to undo.").await;
    let prompt = dashboard.only_prompt().await;
    let from = Some(DeliveryKind::Unconfirmed);
    assert_eq!(
        (&prompt.delivery, prompt.text.as_str()),
        (&Delivery::Discarded { from }, "Translate [sim:seconds=6000]")
    );
    assert_eq!((dashboard.app.jobs.working_count(), dashboard.selected_job().group()), (0, JobGroup::Done));
    dashboard.wait_until("its thread", |dashboard| dashboard.app.detail.discard_explanation().is_some()).await;
    dashboard.press_chars("!");
    dashboard.assert_shows("Discarded. The service may still have started it.");
    dashboard.press_chars("u");
    dashboard.wait_until_shown("Undone: the prompt is unconfirmed again.").await;
    assert!(matches!(dashboard.only_prompt().await.delivery, Delivery::Unconfirmed(reason) if !reason.is_empty()));
    dashboard.press_chars("!d");
    dashboard.wait_until_shown("Discarded. The service").await;
    dashboard.send_accepted_job("Another [sim:seconds=6000]").await;
    assert_eq!(sim.requests(Operation::Create), 2, "only the other prompt was sent");
}
