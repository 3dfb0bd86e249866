//! Tests of drafts: unsent text is saved soon after it was typed, and restored after a restart.

use crate::support::dashboard::DashboardFixture;
use crate::support::{create_folder, start_sim};
use crossterm::event::KeyCode;
use docdeck::model::log::Operation;
use docdeck::model::prompt::DraftTarget;
use docdeck::tui::{Effect, PromptsEffect};

async fn new_job_draft(dashboard: &DashboardFixture) -> Option<String> {
    let drafts = dashboard.store.drafts(&dashboard.scope).await.expect("drafts");
    drafts.into_iter().find(|draft| draft.slot == DraftTarget::NewJob).map(|draft| draft.text)
}

#[tokio::test]
async fn a_draft_is_on_disk_a_second_after_the_last_key_and_survives_a_crash() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.press_chars("nHalf a thou");
    dashboard.assert_shows("draft not saved yet");
    let typed = chrono::Utc::now();
    dashboard.wait_until_shown("draft saved").await;
    assert!(chrono::Utc::now() - typed < chrono::TimeDelta::seconds(3));
    assert_eq!(new_job_draft(&dashboard).await.as_deref(), Some("Half a thou"));
    dashboard.crash().await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.press_chars("n");
    dashboard.assert_shows("Half a thou");
    dashboard.assert_shows("Draft restored.");
    dashboard.press_chars("ght");
    dashboard.press_ctrl('s');
    dashboard.wait_until("the prompt", |_| !sim.received_prompts().is_empty()).await;
    assert_eq!(sim.received_prompts().first().map(|(_, text)| text.clone()), Some("Half a thought".to_owned()));
    dashboard.wait_until("the editor closed", |dashboard| dashboard.app.dialogs.is_empty()).await;
    assert_eq!(new_job_draft(&dashboard).await, None, "a sent text is no longer a draft");
}

#[tokio::test]
async fn esc_saves_the_draft_which_is_restored_after_a_restart() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.press_chars("nNot yet");
    dashboard.press_key(KeyCode::Esc);
    dashboard.assert_shows("Draft saved. Press n to continue.");
    assert_eq!(
        dashboard.requested_effects.last(),
        Some(&Effect::Prompts(PromptsEffect::SaveDraft(DraftTarget::NewJob, "Not yet".to_owned())))
    );
    dashboard.terminate().await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    assert_eq!(dashboard.app.draft(DraftTarget::NewJob), Some("Not yet"));
    dashboard.press_chars("n");
    dashboard.assert_shows("Not yet");
    assert_eq!(sim.requests(Operation::Create), 0);
}

#[tokio::test]
async fn text_being_typed_when_docdeck_is_terminated_is_saved() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.press_chars("nCut off here");
    dashboard.terminate().await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.press_chars("n");
    dashboard.assert_shows("Cut off here");
}

async fn batch_draft(dashboard: &DashboardFixture) -> Option<String> {
    let drafts = dashboard.store.drafts(&dashboard.scope).await.expect("drafts");
    drafts.into_iter().find(|draft| draft.slot == DraftTarget::Batch).map(|draft| draft.text)
}

#[tokio::test]
async fn a_batch_stays_a_draft_across_a_crash_and_a_restart_until_it_is_queued() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.press_chars("b");
    dashboard.paste("One [sim:seconds=6000]\n\nTwo [sim:seconds=6000]");
    dashboard.assert_shows("draft not saved yet");
    dashboard.wait_until_shown("draft saved").await;
    dashboard.crash().await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.press_chars("D");
    dashboard.assert_shows("New jobs from a list");
    dashboard.press_key(KeyCode::Enter);
    dashboard.assert_shows("Draft restored.");
    dashboard.assert_shows("Two [sim:seconds=6000]");
    dashboard.press_key(KeyCode::End);
    dashboard.press_chars(".");
    dashboard.press_key(KeyCode::Esc);
    dashboard.assert_shows("Draft saved. Press b to continue.");
    let text = "One [sim:seconds=6000]\n\nTwo [sim:seconds=6000].";
    dashboard.terminate().await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    assert_eq!(batch_draft(&dashboard).await.as_deref(), Some(text));
    dashboard.press_chars("b");
    dashboard.press_ctrl('s');
    dashboard.press_chars("y");
    dashboard.wait_until("both", |_| sim.received_prompts().len() == 2).await;
    dashboard.wait_until("the layer closed", |dashboard| dashboard.app.dialogs.is_empty()).await;
    assert_eq!((batch_draft(&dashboard).await, dashboard.app.draft(DraftTarget::Batch)), (None, None));
}

#[tokio::test]
async fn a_blank_prompt_is_not_sent_and_the_editor_shows_why() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.press_chars("n  ");
    dashboard.press_key(KeyCode::Enter);
    dashboard.press_ctrl('s');
    dashboard.assert_shows("Nothing to send: the prompt is empty.");
    assert!(
        !dashboard
            .requested_effects
            .iter()
            .any(|effect| matches!(effect, Effect::Prompts(PromptsEffect::SubmitNewJob(_))))
    );
    // The editor is still open with the typed text.
    dashboard.press_chars("words");
    dashboard.press_ctrl('s');
    dashboard.wait_until("the prompt", |_| !sim.received_prompts().is_empty()).await;
    assert_eq!(sim.received_prompts().first().map(|(_, text)| text.clone()), Some("  \nwords".to_owned()));
    assert_eq!(sim.requests(Operation::Create), 1);
}

#[tokio::test]
async fn with_a_read_only_store_a_prompt_cannot_be_sent_but_copied_and_page_views_load() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let file = folder.path().join("a-file");
    std::fs::write(&file, "not a folder").expect("written");
    let mut dashboard = DashboardFixture::start(&sim, &file.join("data")).await;
    dashboard.send_new("Nowhere to keep it");
    dashboard.assert_shows("Not sent: the data folder can't be written");
    dashboard.assert_shows("Nowhere to keep it");
    dashboard.press_ctrl('y');
    let copied = dashboard
        .requested_effects
        .iter()
        .any(|effect| matches!(effect, Effect::Copy { text, .. } if text == "Nowhere to keep it"));
    assert!(copied);
    dashboard.press_key(KeyCode::Esc);
    dashboard.press_chars("2");
    dashboard.wait_until_shown("/quickstart").await;
    assert_eq!((sim.requests(Operation::Create), sim.requests(Operation::Views)), (0, 1));
}

#[tokio::test]
async fn a_prompt_that_cannot_be_saved_is_not_sent_and_reappears_in_the_editor() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.press_chars("nKeep me");
    dashboard.store.clone().close().await;
    dashboard.press_ctrl('s');
    assert!(dashboard.app.dialogs.is_empty(), "the editor closes at once");
    dashboard.wait_until_shown("The text stays here; Ctrl-Y copies it.").await;
    dashboard.assert_shows("Keep me");
    dashboard.press_chars(" typed on");
    dashboard.assert_shows("Keep me typed on");
    assert_eq!(sim.requests(Operation::Create), 0);
}
