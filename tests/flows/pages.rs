//! From a page to a job about it and back: the job keeps its pages, drafts about pages survive, and what a page was
//! viewed before and after a job is shown from what is known, or asked for at a price.

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

/// A dashboard whose first page of rows is loaded.
async fn looking(sim: &Sim, folder: &Path) -> DashboardFixture {
    let mut desk = DashboardFixture::begin(sim, folder).await;
    desk.keys("2");
    desk.until_shown("page 1, rows 1–50").await;
    desk
}

/// A job about the page, written into the record as if docdeck had seen it finish so many days ago.
async fn lived_through(sim: &Sim, folder: &Path, page: &str, days_ago: i64) -> JobKey {
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
    store.settle(prompt, SendOutcome::Accepted(job(Status::Active)), at).await.expect("settled");
    store.apply_fetched(row.key, Fetched::Job(job(Status::Archived)), at + TimeDelta::minutes(9)).await.expect("seen");
    store.close().await;
    row.key
}

/// Until nothing is loaded any more, and what came of it is read.
async fn at_rest(desk: &mut DashboardFixture) {
    let is_read = |desk: &DashboardFixture| matches!(desk.app.detail.about.known(), Load::Ready(_));
    desk.until("rest", is_read).await;
}

#[tokio::test]
async fn a_key_on_a_page_leads_over_a_template_to_a_job_that_keeps_its_page_over_a_restart() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = looking(&sim, folder.path()).await;
    let views = sim.requests(Operation::Views);
    desk.keys("n");
    desk.until_shown("Templates: ").await;
    desk.assert_shows("Make /quickstart clearer for the assistants that read it");
    desk.key(KeyCode::Enter);
    desk.assert_shows("New job about /quickstart");
    desk.ctrl('s');
    desk.until("the prompt", |_| !sim.prompts().is_empty()).await;
    let (_, text) = sim.prompts().first().cloned().expect("a prompt");
    assert!(text.starts_with("Make /quickstart clearer") && !text.contains("{{"), "{text}");
    desk.until("the editor closed", |desk| desk.app.dialogs.is_empty()).await;
    assert_eq!(desk.app.draft(DraftSlot::AboutPages), None);
    desk.keys("1");
    assert_eq!(desk.selected().pages, paths(&["/quickstart"]));
    desk.until_shown("not known here").await;
    desk.until_shown("while it works").await;
    desk.terminate().await;
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    assert_eq!(desk.selected().pages, paths(&["/quickstart"]));
    assert!(desk.store.drafts(&desk.scope).await.expect("drafts").is_empty());
    desk.until_shown("not known here").await;
    assert_eq!(sim.requests(Operation::Views), views, "looking costs nothing");
}

#[tokio::test]
async fn a_draft_about_a_page_survives_a_crash_is_listed_with_its_page_and_is_sent_about_it() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = looking(&sim, folder.path()).await;
    desk.keys("n");
    desk.until_shown("Templates: ").await;
    desk.key(KeyCode::Esc);
    desk.keys("mend step four");
    desk.until_shown("draft on disk since").await;
    desk.crash().await;
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    assert_eq!(desk.app.draft_pages(), paths(&["/quickstart"]));
    desk.keys("D");
    desk.assert_shows("New job about /quickstart");
    desk.key(KeyCode::Enter);
    desk.assert_shows("/quickstart: mend step four");
    desk.key(KeyCode::Esc);
    // On another page the kept draft is not lost.
    desk.keys("2");
    desk.until_shown("page 1, rows 1–50").await;
    desk.keys("jn");
    desk.assert_shows("Your draft about /quickstart is not sent yet.");
    desk.key(KeyCode::Esc);
    desk.keys("kn");
    desk.assert_shows("Your draft is back.");
    desk.ctrl('s');
    desk.until("the prompt", |_| !sim.prompts().is_empty()).await;
    desk.until("the editor closed", |desk| desk.app.dialogs.is_empty()).await;
    assert_eq!(sim.prompts().first().map(|(_, text)| text.as_str()), Some("/quickstart: mend step four"));
    let rows = desk.store.jobs_about(&desk.scope, &CleanText::line("/quickstart")).await.expect("rows");
    assert_eq!(rows.len(), 1);
    assert!(desk.store.drafts(&desk.scope).await.expect("drafts").is_empty());
}

#[tokio::test]
async fn what_is_typed_about_a_page_when_docdeck_is_ended_is_kept_with_its_page() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = looking(&sim, folder.path()).await;
    desk.keys("n");
    desk.until_shown("Templates: ").await;
    desk.key(KeyCode::Esc);
    desk.keys("cut off");
    desk.terminate().await;
    let desk = DashboardFixture::begin(&sim, folder.path()).await;
    assert_eq!(desk.app.draft(DraftSlot::AboutPages), Some("/quickstart: cut off"));
    assert_eq!(desk.app.draft_pages(), paths(&["/quickstart"]));
}

#[tokio::test]
async fn a_prompt_about_a_page_that_the_store_does_not_take_stays_with_its_page() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = looking(&sim, folder.path()).await;
    desk.keys("n");
    desk.until_shown("Templates: ").await;
    desk.key(KeyCode::Esc);
    desk.keys("keep me");
    desk.store.clone().close().await;
    desk.ctrl('s');
    desk.until_shown("The text stays here; Ctrl-Y copies it.").await;
    desk.assert_shows("New job about /quickstart");
    desk.assert_shows("keep me");
    assert_eq!(sim.requests(Operation::Create), 0);
}

#[tokio::test]
async fn the_job_of_a_rejected_prompt_keeps_its_page() {
    let (sim, folder) = (sim(&["create=400"]).await, folder());
    let mut desk = looking(&sim, folder.path()).await;
    desk.keys("n");
    desk.until_shown("Templates: ").await;
    desk.key(KeyCode::Esc);
    desk.keys("too vague");
    desk.ctrl('s');
    desk.until_shown("Rejected: /quickstart: too vague.").await;
    crate::dashboard_fixture::faults(&sim, &[]);
    desk.keys("1");
    desk.until_shown("! rejected: ! edits and sends it again").await;
    desk.keys("!e");
    desk.assert_shows("/quickstart: too vague");
    desk.keys(", now with step four");
    desk.ctrl('s');
    desk.until("the prompt", |_| !sim.prompts().is_empty()).await;
    desk.until("the editor closed", |desk| desk.app.dialogs.is_empty()).await;
    desk.keys("1");
    assert_eq!(desk.selected().pages, paths(&["/quickstart"]));
    assert_eq!(desk.store.jobs(&desk.scope).await.expect("rows").len(), 1, "the same prompt, sent again");
}

#[tokio::test]
async fn before_and_after_a_job_are_asked_for_at_a_price_and_shown_when_they_are_there() {
    let (sim, folder) = (sim(&[]).await, folder());
    lived_through(&sim, folder.path(), "/quickstart", 30).await;
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.until_shown("before  not known here").await;
    desk.assert_shows("after   not known here");
    assert_eq!(sim.requests(Operation::Views), 0);
    desk.keys("a");
    desk.until("a question", |desk| matches!(desk.app.dialogs.last(), Some(Dialog::Question(_)))).await;
    desk.assert_shows("request");
    assert_eq!(sim.requests(Operation::Views), 0, "nothing before yes");
    desk.keys("y");
    desk.until("both weeks", |desk| !desk.shows("not known here") && desk.screen().contains(" human · ")).await;
    let screen = desk.screen();
    assert!(screen.contains('▲') || screen.contains('▼') || screen.contains("same"), "{screen}");
    // 120 pages fit into one answer.
    assert_eq!(sim.requests(Operation::Views), 2);
    at_rest(&mut desk).await;
    desk.keys("a");
    desk.assert_shows("Nothing to ask for: both weeks are known.");
    desk.terminate().await;
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.until("both weeks again", |desk| desk.screen().contains(" human · ")).await;
    assert_eq!(sim.requests(Operation::Views), 2, "known days cost nothing");
}

#[tokio::test]
async fn what_is_not_over_is_not_asked_for() {
    let (sim, folder) = (sim(&[]).await, folder());
    lived_through(&sim, folder.path(), "/quickstart", 2).await;
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.until_shown("before  not known here").await;
    desk.assert_shows("after   not over before ");
    desk.keys("a");
    let is_asked = |desk: &DashboardFixture| matches!(desk.app.dialogs.last(), Some(Dialog::Question(_)));
    desk.until("a question", is_asked).await;
    desk.keys("y");
    desk.until("the week before", |desk| desk.screen().contains(" human · ")).await;
    desk.assert_shows("after   not over before ");
    at_rest(&mut desk).await;
    assert_eq!(sim.requests(Operation::Views), 1);
    desk.keys("a");
    desk.assert_shows("Nothing to ask for yet: the days after it end on");
}

#[tokio::test]
async fn a_card_shows_the_jobs_about_its_page_and_leads_to_them() {
    let (sim, folder) = (sim(&[]).await, folder());
    let key = lived_through(&sim, folder.path(), "/quickstart", 30).await;
    let mut desk = looking(&sim, folder.path()).await;
    desk.key(KeyCode::Enter);
    assert!(desk.asked.contains(&Effect::RecallPage(CleanText::line("/quickstart"))));
    desk.until_shown("JOBS ABOUT IT 1").await;
    desk.assert_shows("Shorten it");
    desk.assert_shows("PR 77");
    desk.assert_shows("not known until all pages are loaded: a");
    desk.assert_shows("PERIODS KNOWN HERE 1");
    desk.key(KeyCode::Enter);
    assert_eq!(desk.selected().key, key);
    desk.assert_shows("/quickstart");
    assert_eq!(sim.requests(Operation::Views), 1, "the card costs nothing");
}
