//! What is typed and not sent yet: on disk in time, back after a restart.

use crate::dashboard_fixture::{DashboardFixture, folder, sim};
use crossterm::event::KeyCode;
use docdeck::app::Effect;
use docdeck::model::log::Operation;
use docdeck::model::prompt::DraftSlot;

async fn draft(desk: &DashboardFixture) -> Option<String> {
    let drafts = desk.store.drafts(&desk.scope).await.expect("drafts");
    drafts.into_iter().find(|draft| draft.slot == DraftSlot::NewJob).map(|draft| draft.text)
}

#[tokio::test]
async fn a_draft_is_on_disk_a_second_after_the_last_key_and_survives_a_crash() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.keys("nHalf a thou");
    desk.assert_shows("draft not on disk yet");
    let typed = chrono::Utc::now();
    desk.until_shown("draft on disk since").await;
    assert!(chrono::Utc::now() - typed < chrono::TimeDelta::seconds(3));
    assert_eq!(draft(&desk).await.as_deref(), Some("Half a thou"));
    desk.crash().await;
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.keys("n");
    desk.assert_shows("Half a thou");
    desk.assert_shows("Your draft is back.");
    desk.keys("ght");
    desk.ctrl('s');
    desk.until("the prompt", |_| !sim.prompts().is_empty()).await;
    assert_eq!(sim.prompts().first().map(|(_, text)| text.clone()), Some("Half a thought".to_owned()));
    desk.until("the editor closed", |desk| desk.app.dialogs.is_empty()).await;
    assert_eq!(draft(&desk).await, None, "what was sent is a draft no more");
}

#[tokio::test]
async fn esc_keeps_the_draft_and_it_is_there_after_a_restart() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.keys("nNot yet");
    desk.key(KeyCode::Esc);
    desk.assert_shows("Draft kept; n opens it again.");
    assert_eq!(desk.asked.last(), Some(&Effect::SaveDraft(DraftSlot::NewJob, "Not yet".to_owned())));
    desk.terminate().await;
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    assert_eq!(desk.app.draft(DraftSlot::NewJob), Some("Not yet"));
    desk.keys("n");
    desk.assert_shows("Not yet");
    assert_eq!(sim.requests(Operation::Create), 0);
}

#[tokio::test]
async fn what_is_being_typed_when_docdeck_is_ended_is_kept() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.keys("nCut off here");
    desk.terminate().await;
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.keys("n");
    desk.assert_shows("Cut off here");
}

async fn batch_draft(desk: &DashboardFixture) -> Option<String> {
    let drafts = desk.store.drafts(&desk.scope).await.expect("drafts");
    drafts.into_iter().find(|draft| draft.slot == DraftSlot::Batch).map(|draft| draft.text)
}

#[tokio::test]
async fn a_batch_that_was_not_queued_survives_a_crash_is_listed_and_is_a_draft_until_it_is_queued() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.keys("b");
    desk.paste("One [sim:seconds=6000]\n\nTwo [sim:seconds=6000]");
    desk.assert_shows("draft not on disk yet");
    desk.until_shown("draft on disk since").await;
    desk.crash().await;
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.keys("D");
    desk.assert_shows("Many new jobs");
    desk.key(KeyCode::Enter);
    desk.assert_shows("Your prompts are back.");
    desk.assert_shows("Two [sim:seconds=6000]");
    desk.key(KeyCode::End);
    desk.keys(".");
    desk.key(KeyCode::Esc);
    desk.assert_shows("Draft kept; b opens it again.");
    let text = "One [sim:seconds=6000]\n\nTwo [sim:seconds=6000].";
    desk.terminate().await;
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    assert_eq!(batch_draft(&desk).await.as_deref(), Some(text));
    desk.keys("b");
    desk.ctrl('s');
    desk.keys("y");
    desk.until("both", |_| sim.prompts().len() == 2).await;
    desk.until("the layer closed", |desk| desk.app.dialogs.is_empty()).await;
    assert_eq!((batch_draft(&desk).await, desk.app.draft(DraftSlot::Batch)), (None, None));
}

#[tokio::test]
async fn a_blank_prompt_is_not_sent_and_says_so_in_the_editor() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.keys("n  ");
    desk.key(KeyCode::Enter);
    desk.ctrl('s');
    desk.assert_shows("Nothing to send: the prompt is empty.");
    assert!(!desk.asked.iter().any(|effect| matches!(effect, Effect::SubmitNewJob(_))));
    // The editor is still open with what was typed.
    desk.keys("words");
    desk.ctrl('s');
    desk.until("the prompt", |_| !sim.prompts().is_empty()).await;
    assert_eq!(sim.prompts().first().map(|(_, text)| text.clone()), Some("  \nwords".to_owned()));
    assert_eq!(sim.requests(Operation::Create), 1);
}

#[tokio::test]
async fn where_nothing_can_be_written_sending_is_refused_the_text_can_be_copied_and_views_load() {
    let (sim, folder) = (sim(&[]).await, folder());
    let file = folder.path().join("a-file");
    std::fs::write(&file, "not a folder").expect("written");
    let mut desk = DashboardFixture::begin(&sim, &file.join("data")).await;
    desk.send_new("Nowhere to keep it");
    desk.assert_shows("Not sent: the data folder can't be written");
    desk.assert_shows("Nowhere to keep it");
    desk.ctrl('y');
    let copied =
        desk.asked.iter().any(|effect| matches!(effect, Effect::Copy { text, .. } if text == "Nowhere to keep it"));
    assert!(copied);
    desk.key(KeyCode::Esc);
    desk.keys("2");
    desk.until_shown("page 1, rows 1–50").await;
    assert_eq!((sim.requests(Operation::Create), sim.requests(Operation::Views)), (0, 1));
}

#[tokio::test]
async fn a_prompt_that_can_not_be_saved_is_not_sent_and_is_back_in_its_editor() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.keys("nKeep me");
    desk.store.clone().close().await;
    desk.ctrl('s');
    assert!(desk.app.dialogs.is_empty(), "it closes at once");
    desk.until_shown("The text stays here; Ctrl-Y copies it.").await;
    desk.assert_shows("Keep me");
    desk.keys(" typed on");
    desk.assert_shows("Keep me typed on");
    assert_eq!(sim.requests(Operation::Create), 0);
}
