//! From a page to a job about it and back: the job stores its pages, drafts about pages survive, and the views of a
//! page before and after a job are shown if known and fetched on request.

use crate::dashboard_fixture::{DashboardFixture, folder, scope_of, sim};
use chrono::{TimeDelta, Utc};
use crossterm::event::KeyCode;
use docdeck::app::Effect;
use docdeck::app::dialog::Dialog;
use docdeck::model::job::{JobId, RemoteJob, Status};
use docdeck::model::load::Load;
use docdeck::model::log::Operation;
use docdeck::model::prompt::DraftSlot;
use docdeck::model::row::JobKey;
use docdeck::model::text::CleanText;
use docdeck::sim::Sim;
use docdeck::store::{Fetched, SendOutcome, Store};
use std::path::Path;

fn paths(paths: &[&str]) -> Vec<CleanText> {
    paths.iter().map(|path| CleanText::line(path)).collect()
}

/// A dashboard on the views screen after the first page of rows is loaded.
async fn on_views_screen(sim: &Sim, folder: &Path) -> DashboardFixture {
    let mut dashboard = DashboardFixture::start(sim, folder).await;
    dashboard.keys("2");
    dashboard.until_shown("page 1, rows 1–50").await;
    dashboard
}

/// Stores a job about the page as if docdeck had seen it finish this many days ago.
async fn finished_job(sim: &Sim, folder: &Path, page: &str, days_ago: i64) -> JobKey {
    let (store, _) = Store::open(folder, Utc::now()).expect("a store");
    let scope = scope_of(sim);
    let at = Utc::now() - TimeDelta::days(days_ago);
    let job = |status: Status| RemoteJob {
        id: JobId::new("old-job").expect("an id"),
        status,
        repository: None,
        git_ref: None,
        model: None,
        pr_link: Some(CleanText::line("https://github.com/acme/docs/pull/77")),
        created_at: Some(at),
        archived_at: None,
    };
    let (prompt, row) = store.add_job_about(&scope, "Shorten it", &paths(&[page]), at).await.expect("on disk");
    store.take_turn(prompt, "past", at, at).await.expect("a turn");
    store.finish_send(prompt, SendOutcome::Accepted(job(Status::Active)), at).await.expect("settled");
    store.apply_fetched(row.key, Fetched::Job(job(Status::Archived)), at + TimeDelta::minutes(9)).await.expect("seen");
    store.close().await;
    row.key
}

/// Runs until nothing is loading and the results are read.
async fn until_idle(dashboard: &mut DashboardFixture) {
    let is_read = |dashboard: &DashboardFixture| matches!(dashboard.app.detail.job_pages.pages(), Load::Ready(_));
    dashboard.until("rest", is_read).await;
}

#[tokio::test]
async fn a_shortcut_on_a_page_opens_a_template_for_a_job_that_keeps_its_page_after_a_restart() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = on_views_screen(&sim, folder.path()).await;
    let views = sim.requests(Operation::Views);
    dashboard.keys("n");
    dashboard.until_shown("Templates: ").await;
    dashboard.assert_shows("Make /quickstart clearer for the assistants that read it");
    dashboard.key(KeyCode::Enter);
    dashboard.assert_shows("New job about /quickstart");
    dashboard.ctrl('s');
    dashboard.until("the prompt", |_| !sim.prompts().is_empty()).await;
    let (_, text) = sim.prompts().first().cloned().expect("a prompt");
    assert!(text.starts_with("Make /quickstart clearer") && !text.contains("{{"), "{text}");
    dashboard.until("the editor closed", |dashboard| dashboard.app.dialogs.is_empty()).await;
    assert_eq!(dashboard.app.draft(DraftSlot::AboutPages), None);
    dashboard.keys("1");
    assert_eq!(dashboard.selected().pages, paths(&["/quickstart"]));
    dashboard.until_shown("not loaded").await;
    dashboard.until_shown("still working").await;
    dashboard.terminate().await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    assert_eq!(dashboard.selected().pages, paths(&["/quickstart"]));
    assert!(dashboard.store.drafts(&dashboard.scope).await.expect("drafts").is_empty());
    dashboard.until_shown("not loaded").await;
    assert_eq!(sim.requests(Operation::Views), views, "looking costs nothing");
}

#[tokio::test]
async fn a_draft_about_a_page_survives_a_crash_is_listed_with_its_page_and_is_sent_about_it() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = on_views_screen(&sim, folder.path()).await;
    dashboard.keys("n");
    dashboard.until_shown("Templates: ").await;
    dashboard.key(KeyCode::Esc);
    dashboard.keys("mend step four");
    dashboard.until_shown("draft saved at").await;
    dashboard.crash().await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    assert_eq!(dashboard.app.draft_pages(), paths(&["/quickstart"]));
    dashboard.keys("D");
    dashboard.assert_shows("New job about /quickstart");
    dashboard.key(KeyCode::Enter);
    dashboard.assert_shows("/quickstart: mend step four");
    dashboard.key(KeyCode::Esc);
    // Starting a prompt about another page does not lose the saved draft.
    dashboard.keys("2");
    dashboard.until_shown("page 1, rows 1–50").await;
    dashboard.keys("jn");
    dashboard.assert_shows("You have an unsent draft about /quickstart.");
    dashboard.key(KeyCode::Esc);
    dashboard.keys("kn");
    dashboard.assert_shows("Draft restored.");
    dashboard.ctrl('s');
    dashboard.until("the prompt", |_| !sim.prompts().is_empty()).await;
    dashboard.until("the editor closed", |dashboard| dashboard.app.dialogs.is_empty()).await;
    assert_eq!(sim.prompts().first().map(|(_, text)| text.as_str()), Some("/quickstart: mend step four"));
    let rows = dashboard.store.jobs_about(&dashboard.scope, &CleanText::line("/quickstart")).await.expect("rows");
    assert_eq!(rows.len(), 1);
    assert!(dashboard.store.drafts(&dashboard.scope).await.expect("drafts").is_empty());
}

#[tokio::test]
async fn text_typed_about_a_page_when_docdeck_is_terminated_is_saved_with_its_page() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = on_views_screen(&sim, folder.path()).await;
    dashboard.keys("n");
    dashboard.until_shown("Templates: ").await;
    dashboard.key(KeyCode::Esc);
    dashboard.keys("cut off");
    dashboard.terminate().await;
    let dashboard = DashboardFixture::start(&sim, folder.path()).await;
    assert_eq!(dashboard.app.draft(DraftSlot::AboutPages), Some("/quickstart: cut off"));
    assert_eq!(dashboard.app.draft_pages(), paths(&["/quickstart"]));
}

#[tokio::test]
async fn a_prompt_about_a_page_that_the_store_rejects_stays_with_its_page() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = on_views_screen(&sim, folder.path()).await;
    dashboard.keys("n");
    dashboard.until_shown("Templates: ").await;
    dashboard.key(KeyCode::Esc);
    dashboard.keys("keep me");
    dashboard.store.clone().close().await;
    dashboard.ctrl('s');
    dashboard.until_shown("The text stays here; Ctrl-Y copies it.").await;
    dashboard.assert_shows("New job about /quickstart");
    dashboard.assert_shows("keep me");
    assert_eq!(sim.requests(Operation::Create), 0);
}

#[tokio::test]
async fn the_job_of_a_rejected_prompt_keeps_its_page() {
    let (sim, folder) = (sim(&["create=400"]).await, folder());
    let mut dashboard = on_views_screen(&sim, folder.path()).await;
    dashboard.keys("n");
    dashboard.until_shown("Templates: ").await;
    dashboard.key(KeyCode::Esc);
    dashboard.keys("too vague");
    dashboard.ctrl('s');
    dashboard.until_shown("Rejected: /quickstart: too vague.").await;
    crate::dashboard_fixture::faults(&sim, &[]);
    dashboard.keys("1");
    dashboard.until_shown("! rejected: ! to edit and send again").await;
    dashboard.keys("!e");
    dashboard.assert_shows("/quickstart: too vague");
    dashboard.keys(", now with step four");
    dashboard.ctrl('s');
    dashboard.until("the prompt", |_| !sim.prompts().is_empty()).await;
    dashboard.until("the editor closed", |dashboard| dashboard.app.dialogs.is_empty()).await;
    dashboard.keys("1");
    assert_eq!(dashboard.selected().pages, paths(&["/quickstart"]));
    assert_eq!(dashboard.store.jobs(&dashboard.scope).await.expect("rows").len(), 1, "the same prompt, sent again");
}

#[tokio::test]
async fn views_before_and_after_a_job_are_fetched_after_a_question_and_then_shown() {
    let (sim, folder) = (sim(&[]).await, folder());
    finished_job(&sim, folder.path(), "/quickstart", 30).await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.until_shown("before  not loaded").await;
    dashboard.assert_shows("after   not loaded");
    assert_eq!(sim.requests(Operation::Views), 0);
    dashboard.keys("a");
    dashboard.until("a question", |dashboard| matches!(dashboard.app.dialogs.last(), Some(Dialog::Confirm(_)))).await;
    dashboard.assert_shows("request");
    assert_eq!(sim.requests(Operation::Views), 0, "nothing before yes");
    dashboard.keys("y");
    dashboard
        .until("both weeks", |dashboard| !dashboard.shows("not loaded") && dashboard.screen().contains(" human · "))
        .await;
    let screen = dashboard.screen();
    assert!(screen.contains('▲') || screen.contains('▼') || screen.contains("same"), "{screen}");
    // 120 pages fit into one answer.
    assert_eq!(sim.requests(Operation::Views), 2);
    until_idle(&mut dashboard).await;
    dashboard.keys("a");
    dashboard.assert_shows("Nothing to fetch: both weeks are loaded.");
    dashboard.terminate().await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.until("both weeks again", |dashboard| dashboard.screen().contains(" human · ")).await;
    assert_eq!(sim.requests(Operation::Views), 2, "known days cost nothing");
}

#[tokio::test]
async fn a_period_that_is_not_over_is_not_requested() {
    let (sim, folder) = (sim(&[]).await, folder());
    finished_job(&sim, folder.path(), "/quickstart", 2).await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.until_shown("before  not loaded").await;
    dashboard.assert_shows("after   complete on ");
    dashboard.keys("a");
    let is_asked = |dashboard: &DashboardFixture| matches!(dashboard.app.dialogs.last(), Some(Dialog::Confirm(_)));
    dashboard.until("a question", is_asked).await;
    dashboard.keys("y");
    dashboard.until("the week before", |dashboard| dashboard.screen().contains(" human · ")).await;
    dashboard.assert_shows("after   complete on ");
    until_idle(&mut dashboard).await;
    assert_eq!(sim.requests(Operation::Views), 1);
    dashboard.keys("a");
    dashboard.assert_shows("Nothing to fetch yet: the week after it is complete on");
}

#[tokio::test]
async fn page_details_show_the_jobs_about_the_page_and_lead_to_them() {
    let (sim, folder) = (sim(&[]).await, folder());
    let key = finished_job(&sim, folder.path(), "/quickstart", 30).await;
    let mut dashboard = on_views_screen(&sim, folder.path()).await;
    dashboard.key(KeyCode::Enter);
    assert!(dashboard.requested_effects.contains(&Effect::LoadCachedPage(CleanText::line("/quickstart"))));
    dashboard.until_shown("JOBS 1").await;
    dashboard.assert_shows("Shorten it");
    dashboard.assert_shows("PR 77");
    dashboard.assert_shows("unknown until all pages are loaded (a load all)");
    dashboard.assert_shows("CACHED RANGES 1");
    dashboard.key(KeyCode::Enter);
    assert_eq!(dashboard.selected().key, key);
    dashboard.assert_shows("/quickstart");
    assert_eq!(sim.requests(Operation::Views), 1, "the card costs nothing");
}
