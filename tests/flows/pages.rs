//! Tests of jobs about pages: a job keeps its pages, drafts about pages survive, and the views of a page before and
//! after a job are shown if they are cached and loaded on request.

use crate::support::dashboard::DashboardFixture;
use crate::support::{create_folder, scope_of, start_sim};
use chrono::{TimeDelta, Utc};
use crossterm::event::KeyCode;
use docdeck::model::analytics::AnalyticsKind;
use docdeck::model::analytics::signal_snapshot::SignalSnapshot;
use docdeck::model::job::JobKey;
use docdeck::model::load::Load;
use docdeck::model::log::Operation;
use docdeck::model::period::DateRange;
use docdeck::model::prompt::DraftTarget;
use docdeck::model::remote_job::{JobId, RemoteJob, Status};
use docdeck::model::text::CleanText;
use docdeck::model::views::Count;
use docdeck::sim::Sim;
use docdeck::store::{JobResponse, Store};
use docdeck::tui::confirm::ConfirmDialog;
use docdeck::tui::{Effect, ViewsEffect};
use std::path::Path;

fn paths(paths: &[&str]) -> Vec<CleanText> {
    paths.iter().map(|path| CleanText::line(path)).collect()
}

/// Starts a dashboard, opens the views screen, and waits until the first page of rows is loaded.
async fn start_on_views_screen(sim: &Sim, folder: &Path) -> DashboardFixture {
    let mut dashboard = DashboardFixture::start(sim, folder).await;
    dashboard.press_chars("2");
    dashboard.wait_until_shown("1 of 50").await;
    dashboard
}

/// Stores a job about the page, as if docdeck had found it finished `days_ago` days ago. Returns the job's row key.
async fn store_finished_job(sim: &Sim, folder: &Path, page: &str, days_ago: i64) -> JobKey {
    store_finished_job_with(sim, folder, page, &[], days_ago).await
}

/// Like [`store_finished_job`], but the job remembers this evidence.
async fn store_finished_job_with(
    sim: &Sim,
    folder: &Path,
    page: &str,
    evidence: &[SignalSnapshot],
    days_ago: i64,
) -> JobKey {
    let (store, _) = Store::open(folder, Utc::now()).expect("a store");
    let scope = scope_of(sim);
    let at = Utc::now() - TimeDelta::days(days_ago);
    let job = |status: Status| {
        let mut job = RemoteJob::new(JobId::new("old-job").expect("an id"), status);
        job.state.pr_link = Some(CleanText::line("https://github.com/acme/docs/pull/77"));
        job.created_at = Some(at);
        job
    };
    let (prompt, _) =
        store.add_job_about_pages(&scope, "Shorten it", &paths(&[page]), evidence, at).await.expect("on disk");
    store.request_permit(prompt, "past", at, at).await.expect("a turn");
    let row = store.record_accepted_send(prompt, job(Status::Active), at).await.expect("settled").job;
    let archived = JobResponse::Job(job(Status::Archived));
    store.apply_job_response(&row, archived, at + TimeDelta::minutes(9)).await.expect("seen");
    store.close().await;
    row.key
}

/// Waits until the views of the job's pages are loaded.
async fn until_job_pages_loaded(dashboard: &mut DashboardFixture) {
    let is_read = |dashboard: &DashboardFixture| matches!(dashboard.app.detail.job_pages.pages(), Load::Ready(_));
    dashboard.wait_until("rest", is_read).await;
}

#[tokio::test]
async fn n_on_a_page_opens_a_template_and_the_job_keeps_the_page_after_a_restart() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = start_on_views_screen(&sim, folder.path()).await;
    let views = sim.requests(Operation::Views);
    dashboard.press_chars("n");
    dashboard.wait_until_shown("improve-page-for-ai").await;
    dashboard.assert_shows("Make /quickstart clearer for the assistants that read it");
    dashboard.press_key(KeyCode::Enter);
    dashboard.assert_shows("New job about /quickstart");
    dashboard.press_ctrl('s');
    dashboard.wait_until("the prompt", |_| !sim.received_prompts().is_empty()).await;
    let (_, text) = sim.received_prompts().first().cloned().expect("a prompt");
    assert!(text.starts_with("Make /quickstart clearer") && !text.contains("{{"), "{text}");
    dashboard.wait_until("the editor closed", |dashboard| dashboard.app.dialogs.is_empty()).await;
    assert_eq!(dashboard.app.draft(DraftTarget::AboutPages), None);
    dashboard.press_chars("1");
    assert_eq!(dashboard.selected_job().local.pages, paths(&["/quickstart"]));
    dashboard.wait_until_shown("not loaded").await;
    dashboard.terminate().await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    assert_eq!(dashboard.selected_job().local.pages, paths(&["/quickstart"]));
    assert!(dashboard.store.drafts(&dashboard.scope).await.expect("drafts").is_empty());
    dashboard.wait_until_shown("not loaded").await;
    assert_eq!(sim.requests(Operation::Views), views, "showing the job sends no request");
}

#[tokio::test]
async fn a_draft_about_a_page_survives_a_crash_and_keeps_its_page() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = start_on_views_screen(&sim, folder.path()).await;
    dashboard.press_chars("n");
    dashboard.wait_until_shown("improve-page-for-ai").await;
    dashboard.press_key(KeyCode::Esc);
    dashboard.press_chars("mend step four");
    dashboard.wait_until_shown("draft saved").await;
    dashboard.crash().await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    assert_eq!(dashboard.app.draft_pages(), paths(&["/quickstart"]));
    dashboard.press_chars("D");
    dashboard.assert_shows("New job about /quickstart");
    dashboard.press_key(KeyCode::Enter);
    dashboard.assert_shows("/quickstart: mend step four");
    dashboard.press_key(KeyCode::Esc);
    // A prompt about another page can't replace the saved draft unnoticed.
    dashboard.press_chars("2");
    dashboard.wait_until_shown("1 of 50").await;
    dashboard.press_chars("jn");
    dashboard.assert_shows("You have an unsent draft about /quickstart.");
    dashboard.press_key(KeyCode::Esc);
    dashboard.press_chars("kn");
    dashboard.assert_shows("Draft restored.");
    dashboard.press_ctrl('s');
    dashboard.wait_until("the prompt", |_| !sim.received_prompts().is_empty()).await;
    dashboard.wait_until("the editor closed", |dashboard| dashboard.app.dialogs.is_empty()).await;
    assert_eq!(sim.received_prompts().first().map(|(_, text)| text.as_str()), Some("/quickstart: mend step four"));
    let rows = dashboard.store.jobs_about_page(&dashboard.scope, &CleanText::line("/quickstart")).await.expect("rows");
    assert_eq!(rows.len(), 1);
    assert!(dashboard.store.drafts(&dashboard.scope).await.expect("drafts").is_empty());
}

#[tokio::test]
async fn text_typed_about_a_page_when_docdeck_is_terminated_is_saved_with_its_page() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = start_on_views_screen(&sim, folder.path()).await;
    dashboard.press_chars("n");
    dashboard.wait_until_shown("improve-page-for-ai").await;
    dashboard.press_key(KeyCode::Esc);
    dashboard.press_chars("cut off");
    dashboard.terminate().await;
    let dashboard = DashboardFixture::start(&sim, folder.path()).await;
    assert_eq!(dashboard.app.draft(DraftTarget::AboutPages), Some("/quickstart: cut off"));
    assert_eq!(dashboard.app.draft_pages(), paths(&["/quickstart"]));
}

#[tokio::test]
async fn a_prompt_about_a_page_that_cannot_be_saved_keeps_its_page() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = start_on_views_screen(&sim, folder.path()).await;
    dashboard.press_chars("n");
    dashboard.wait_until_shown("improve-page-for-ai").await;
    dashboard.press_key(KeyCode::Esc);
    dashboard.press_chars("keep me");
    dashboard.store.clone().close().await;
    dashboard.press_ctrl('s');
    dashboard.wait_until_shown("The text stays here; Ctrl-Y copies it.").await;
    dashboard.assert_shows("New job about /quickstart");
    dashboard.assert_shows("keep me");
    assert_eq!(sim.requests(Operation::Create), 0);
}

#[tokio::test]
async fn the_job_of_a_rejected_prompt_keeps_its_page() {
    let (sim, folder) = (start_sim(&["create=400"]).await, create_folder());
    let mut dashboard = start_on_views_screen(&sim, folder.path()).await;
    dashboard.press_chars("n");
    dashboard.wait_until_shown("improve-page-for-ai").await;
    dashboard.press_key(KeyCode::Esc);
    dashboard.press_chars("too vague");
    dashboard.press_ctrl('s');
    dashboard.wait_until_shown("Rejected: “/quickstart: too vague”.").await;
    crate::support::set_faults(&sim, &[]);
    dashboard.press_chars("1");
    dashboard.wait_until_shown("        ! rejected").await;
    dashboard.wait_until_shown("Needs you 1").await;
    dashboard.press_chars("!e");
    dashboard.assert_shows("/quickstart: too vague");
    dashboard.press_chars(", now with step four");
    dashboard.press_ctrl('s');
    dashboard.wait_until("the prompt", |_| !sim.received_prompts().is_empty()).await;
    dashboard.wait_until("the editor closed", |dashboard| dashboard.app.dialogs.is_empty()).await;
    dashboard.press_chars("1");
    assert_eq!(dashboard.selected_job().local.pages, paths(&["/quickstart"]));
    assert_eq!(dashboard.store.jobs(&dashboard.scope).await.expect("rows").len(), 1, "the same prompt, sent again");
}

#[tokio::test]
async fn views_before_and_after_a_job_are_loaded_after_a_confirmation() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    store_finished_job(&sim, folder.path(), "/quickstart", 30).await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.wait_until_shown("not loaded (a loads them)").await;
    assert_eq!(sim.requests(Operation::Views), 0);
    dashboard.press_chars("a");
    dashboard.wait_until("a question", |dashboard| dashboard.app.top::<ConfirmDialog>().is_some()).await;
    dashboard.assert_shows("request");
    assert_eq!(sim.requests(Operation::Views), 0, "no request before the confirmation");
    dashboard.press_chars("y");
    dashboard
        .wait_until("both weeks", |dashboard| !dashboard.shows("not loaded") && dashboard.screen().contains(" · AI "))
        .await;
    let screen = dashboard.screen();
    assert!(screen.contains('▲') || screen.contains('▼') || screen.contains("same"), "{screen}");
    // Each of the two weeks takes one request, because the 120 pages fit into one response.
    assert_eq!(sim.requests(Operation::Views), 2);
    until_job_pages_loaded(&mut dashboard).await;
    dashboard.press_chars("a");
    dashboard.assert_shows("Nothing to load: both weeks are loaded.");
    dashboard.terminate().await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.wait_until("both weeks again", |dashboard| dashboard.screen().contains(" AI")).await;
    assert_eq!(sim.requests(Operation::Views), 2, "cached days are not requested");
}

#[tokio::test]
async fn what_reports_said_when_a_job_was_started_is_compared_with_the_week_after_it() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let range = DateRange::last_days(7, (Utc::now() - TimeDelta::days(31)).date_naive());
    let signals = [("thumbsDown".to_owned(), Count::Known(4_321)), ("openComments".to_owned(), Count::Known(0))].into();
    let evidence = SignalSnapshot { path: CleanText::line("/quickstart"), range, signals };
    store_finished_job_with(&sim, folder.path(), "/quickstart", &[evidence], 30).await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.wait_until_shown("thumbs down 4,321 → not loaded").await;
    // The views come first, then the reports. Each load shows its cost before.
    dashboard.press_chars("a");
    dashboard.wait_until("a question", |dashboard| dashboard.app.top::<ConfirmDialog>().is_some()).await;
    dashboard.press_chars("y");
    let is_loaded = |dashboard: &DashboardFixture| dashboard.shows(" · AI ");
    dashboard.wait_until("both weeks", is_loaded).await;
    until_job_pages_loaded(&mut dashboard).await;
    dashboard.press_chars("a");
    dashboard.wait_until_shown("Load feedback by page").await;
    dashboard.assert_shows("2 analytics requests");
    let reports = || AnalyticsKind::ALL.into_iter().map(|kind| sim.requests(Operation::Analytics(kind))).sum::<u64>();
    assert_eq!(reports(), 0, "no request before the confirmation");
    dashboard.press_chars("y");
    dashboard.wait_until("the reports", |dashboard| reports() == 2 && !dashboard.shows("→ not loaded")).await;
    assert_eq!(reports(), 2, "only the reports that the job has numbers of");
    dashboard.terminate().await;
    // Reports with texts of readers expire.
    let db = rusqlite::Connection::open(folder.path().join("docdeck.db")).expect("opened");
    db.execute_batch("DELETE FROM analytics_answer; DELETE FROM analytics_report").expect("deleted");
    drop(db);
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.wait_until_shown("thumbs down 4,321 → ").await;
    dashboard.assert_shows("→ ");
    assert!(!dashboard.shows("→ not loaded"), "the job keeps the numbers: {}", dashboard.screen());
}

#[tokio::test]
async fn the_views_after_a_job_are_not_requested_before_that_week_is_complete() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    store_finished_job(&sim, folder.path(), "/quickstart", 2).await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.wait_until_shown("not loaded (a loads them)").await;
    dashboard.press_chars("a");
    let is_confirmation_open = |dashboard: &DashboardFixture| dashboard.app.top::<ConfirmDialog>().is_some();
    dashboard.wait_until("a question", is_confirmation_open).await;
    dashboard.press_chars("y");
    dashboard.wait_until("the week before", |dashboard| dashboard.screen().contains(" AI")).await;
    dashboard.assert_shows(", week after from ");
    until_job_pages_loaded(&mut dashboard).await;
    assert_eq!(sim.requests(Operation::Views), 1);
    dashboard.press_chars("a");
    dashboard.assert_shows("Nothing to load yet: the week after the job is available from");
}

#[tokio::test]
async fn page_details_list_the_jobs_about_the_page_and_enter_opens_one() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let key = store_finished_job(&sim, folder.path(), "/quickstart", 30).await;
    let mut dashboard = start_on_views_screen(&sim, folder.path()).await;
    dashboard.press_key(KeyCode::Enter);
    assert!(
        dashboard
            .requested_effects
            .iter()
            .any(|effect| matches!(effect, Effect::Views(ViewsEffect::LoadPageHistory { path, .. }) if path.as_str() == "/quickstart"))
    );
    dashboard.wait_until_shown("Jobs about this page 1").await;
    dashboard.assert_shows("Shorten it");
    dashboard.assert_shows("#77");
    dashboard.assert_shows("unknown until all pages are loaded (press a)");
    dashboard.assert_shows("Cached ranges 1");
    dashboard.press_key(KeyCode::Enter);
    assert_eq!(dashboard.selected_job().key, key);
    dashboard.assert_shows("/quickstart");
    assert_eq!(sim.requests(Operation::Views), 1, "the page details send no request");
}
