//! Unsent text: it is on disk in time and restored after a restart.

use crate::dashboard_fixture::{DashboardFixture, folder, sim};
use crossterm::event::KeyCode;
use docdeck::app::Effect;
use docdeck::model::log::Operation;
use docdeck::model::prompt::DraftSlot;

async fn draft(dashboard: &DashboardFixture) -> Option<String> {
    let drafts = dashboard.store.drafts(&dashboard.scope).await.expect("drafts");
    drafts.into_iter().find(|draft| draft.slot == DraftSlot::NewJob).map(|draft| draft.text)
}

#[tokio::test]
async fn a_draft_is_on_disk_a_second_after_the_last_key_and_survives_a_crash() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.keys("nHalf a thou");
    dashboard.assert_shows("draft not saved yet");
    let typed = chrono::Utc::now();
    dashboard.until_shown("draft saved at").await;
    assert!(chrono::Utc::now() - typed < chrono::TimeDelta::seconds(3));
    assert_eq!(draft(&dashboard).await.as_deref(), Some("Half a thou"));
    dashboard.crash().await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.keys("n");
    dashboard.assert_shows("Half a thou");
    dashboard.assert_shows("Draft restored.");
    dashboard.keys("ght");
    dashboard.ctrl('s');
    dashboard.until("the prompt", |_| !sim.prompts().is_empty()).await;
    assert_eq!(sim.prompts().first().map(|(_, text)| text.clone()), Some("Half a thought".to_owned()));
    dashboard.until("the editor closed", |dashboard| dashboard.app.dialogs.is_empty()).await;
    assert_eq!(draft(&dashboard).await, None, "what was sent is a draft no more");
}

#[tokio::test]
async fn esc_saves_the_draft_and_it_is_there_after_a_restart() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.keys("nNot yet");
    dashboard.key(KeyCode::Esc);
    dashboard.assert_shows("Draft saved; n opens it again.");
    assert_eq!(dashboard.requested_effects.last(), Some(&Effect::SaveDraft(DraftSlot::NewJob, "Not yet".to_owned())));
    dashboard.terminate().await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    assert_eq!(dashboard.app.draft(DraftSlot::NewJob), Some("Not yet"));
    dashboard.keys("n");
    dashboard.assert_shows("Not yet");
    assert_eq!(sim.requests(Operation::Create), 0);
}

#[tokio::test]
async fn text_being_typed_when_docdeck_is_terminated_is_saved() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.keys("nCut off here");
    dashboard.terminate().await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.keys("n");
    dashboard.assert_shows("Cut off here");
}

async fn batch_draft(dashboard: &DashboardFixture) -> Option<String> {
    let drafts = dashboard.store.drafts(&dashboard.scope).await.expect("drafts");
    drafts.into_iter().find(|draft| draft.slot == DraftSlot::Batch).map(|draft| draft.text)
}

#[tokio::test]
async fn an_unqueued_batch_survives_a_crash_is_listed_and_stays_a_draft_until_it_is_queued() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.keys("b");
    dashboard.paste("One [sim:seconds=6000]\n\nTwo [sim:seconds=6000]");
    dashboard.assert_shows("draft not saved yet");
    dashboard.until_shown("draft saved at").await;
    dashboard.crash().await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.keys("D");
    dashboard.assert_shows("New jobs from a list");
    dashboard.key(KeyCode::Enter);
    dashboard.assert_shows("Draft restored.");
    dashboard.assert_shows("Two [sim:seconds=6000]");
    dashboard.key(KeyCode::End);
    dashboard.keys(".");
    dashboard.key(KeyCode::Esc);
    dashboard.assert_shows("Draft saved; b opens it again.");
    let text = "One [sim:seconds=6000]\n\nTwo [sim:seconds=6000].";
    dashboard.terminate().await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    assert_eq!(batch_draft(&dashboard).await.as_deref(), Some(text));
    dashboard.keys("b");
    dashboard.ctrl('s');
    dashboard.keys("y");
    dashboard.until("both", |_| sim.prompts().len() == 2).await;
    dashboard.until("the layer closed", |dashboard| dashboard.app.dialogs.is_empty()).await;
    assert_eq!((batch_draft(&dashboard).await, dashboard.app.draft(DraftSlot::Batch)), (None, None));
}

#[tokio::test]
async fn a_blank_prompt_is_not_sent_and_the_editor_shows_why() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.keys("n  ");
    dashboard.key(KeyCode::Enter);
    dashboard.ctrl('s');
    dashboard.assert_shows("Nothing to send: the prompt is empty.");
    assert!(!dashboard.requested_effects.iter().any(|effect| matches!(effect, Effect::SubmitNewJob(_))));
    // The editor is still open with the typed text.
    dashboard.keys("words");
    dashboard.ctrl('s');
    dashboard.until("the prompt", |_| !sim.prompts().is_empty()).await;
    assert_eq!(sim.prompts().first().map(|(_, text)| text.clone()), Some("  \nwords".to_owned()));
    assert_eq!(sim.requests(Operation::Create), 1);
}

#[tokio::test]
async fn with_a_read_only_store_sending_is_refused_the_text_can_be_copied_and_views_load() {
    let (sim, folder) = (sim(&[]).await, folder());
    let file = folder.path().join("a-file");
    std::fs::write(&file, "not a folder").expect("written");
    let mut dashboard = DashboardFixture::start(&sim, &file.join("data")).await;
    dashboard.send_new("Nowhere to keep it");
    dashboard.assert_shows("Not sent: the data folder can't be written");
    dashboard.assert_shows("Nowhere to keep it");
    dashboard.ctrl('y');
    let copied = dashboard
        .requested_effects
        .iter()
        .any(|effect| matches!(effect, Effect::Copy { text, .. } if text == "Nowhere to keep it"));
    assert!(copied);
    dashboard.key(KeyCode::Esc);
    dashboard.keys("2");
    dashboard.until_shown("page 1, rows 1–50").await;
    assert_eq!((sim.requests(Operation::Create), sim.requests(Operation::Views)), (0, 1));
}

#[tokio::test]
async fn a_prompt_that_cannot_be_saved_is_not_sent_and_is_back_in_its_editor() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.keys("nKeep me");
    dashboard.store.clone().close().await;
    dashboard.ctrl('s');
    assert!(dashboard.app.dialogs.is_empty(), "it closes at once");
    dashboard.until_shown("The text stays here; Ctrl-Y copies it.").await;
    dashboard.assert_shows("Keep me");
    dashboard.keys(" typed on");
    dashboard.assert_shows("Keep me typed on");
    assert_eq!(sim.requests(Operation::Create), 0);
}
