//! Switching to another profile: what happens to running work of the old profile, and what the new one shows.

use crate::dashboard_fixture::{DashboardFixture, faults, folder, scope_of, sim};
use crossterm::event::KeyCode;
use docdeck::app::StoreState;
use docdeck::model::endpoint::Scope;
use docdeck::model::ledger::RateLimited;
use docdeck::model::log::Operation;
use docdeck::model::prompt::DeliveryKind;
use docdeck::model::text::CleanText;
use docdeck::sim::{Sim, SimOptions};
use tempfile::TempDir;

/// A dashboard on `one` with the profile acme; the profile beta belongs to `two`.
async fn acme_and_beta(one: &Sim, two: &Sim, folder: &TempDir) -> DashboardFixture {
    let mut dashboard = DashboardFixture::start(one, folder.path()).await;
    dashboard.set_profiles(&[("acme", scope_of(one), one.api_key()), ("beta", scope_of(two), two.api_key())]);
    dashboard
}

/// Chooses the profile this many rows below the first one.
fn choose(dashboard: &mut DashboardFixture, below: usize) {
    dashboard.keys("Pg");
    dashboard.keys(&"j".repeat(below));
    dashboard.key(KeyCode::Enter);
}

async fn until_profile(dashboard: &mut DashboardFixture, name: &str) {
    let name = CleanText::line(name);
    dashboard
        .until("the other profile", |dashboard| {
            dashboard.app.config.profile == name && dashboard.app.store == StoreState::Read && dashboard.has_engine()
        })
        .await;
}

fn other(of: &Scope) -> Scope {
    Scope { base_url: of.base_url.clone(), project: "beta-docs".to_owned(), organization: None }
}

#[tokio::test]
async fn the_other_profile_shows_its_own_jobs_and_the_first_ones_return_after_switching_back() {
    let (one, two, folder) = (sim(&[]).await, sim(&[]).await, folder());
    let mut dashboard = acme_and_beta(&one, &two, &folder).await;
    dashboard.accepted("Work for acme [sim:seconds=900000]").await;
    choose(&mut dashboard, 1);
    until_profile(&mut dashboard, "beta").await;
    dashboard.until_shown("No jobs yet.").await;
    dashboard.assert_shows("Switched to beta");
    dashboard.accepted("Work for beta [sim:seconds=900000]").await;
    assert_eq!((one.requests(Operation::Create), two.requests(Operation::Create)), (1, 1));
    choose(&mut dashboard, 0);
    until_profile(&mut dashboard, "acme").await;
    dashboard.until_shown("Work for acme").await;
    assert!(!dashboard.shows("Work for beta"), "{}", dashboard.screen());
    dashboard.terminate().await;
}

#[tokio::test]
async fn a_prompt_being_sent_is_waited_for_and_recorded_for_the_profile_that_sent_it() {
    let (one, two, folder) = (sim(&["create=latency-700"]).await, sim(&[]).await, folder());
    let mut dashboard = acme_and_beta(&one, &two, &folder).await;
    let store = dashboard.store.clone();
    dashboard.send_new("Slow to be taken");
    dashboard
        .until("a prompt on its way", |dashboard| {
            dashboard.app.jobs.selected().is_some_and(|row| row.undelivered == Some(DeliveryKind::Sending))
        })
        .await;
    dashboard.key(KeyCode::Esc);
    choose(&mut dashboard, 1);
    until_profile(&mut dashboard, "beta").await;
    assert!(dashboard.app.jobs.is_empty(), "{}", dashboard.screen());
    // Its answer arrives while the other profile is shown, and is recorded for the right one.
    for _ in 0..100 {
        dashboard.run_for(std::time::Duration::from_millis(50)).await;
        let rows = store.jobs(&scope_of(&one)).await.expect("rows");
        if rows.iter().all(|row| row.id.is_some()) {
            break;
        }
    }
    let rows = store.jobs(&scope_of(&one)).await.expect("rows");
    assert!(matches!(rows.as_slice(), [row] if row.id.is_some() && row.undelivered.is_none()), "{rows:?}");
    assert_eq!(one.requests(Operation::Create), 1);
    assert!(dashboard.app.jobs.is_empty(), "{}", dashboard.screen());
    dashboard.terminate().await;
}

#[tokio::test]
async fn a_rejected_key_keeps_the_old_profile_running() {
    let (one, two, folder) = (sim(&[]).await, sim(&[]).await, folder());
    let mut dashboard = DashboardFixture::start(&one, folder.path()).await;
    dashboard.set_profiles(&[("acme", scope_of(&one), one.api_key()), ("beta", scope_of(&two), "mint_wr0ng")]);
    choose(&mut dashboard, 1);
    dashboard.until_shown("Still on acme-docs: beta can't be used.").await;
    dashboard.assert_shows("401");
    assert!(!dashboard.shows("wr0ng"));
    dashboard.key(KeyCode::Esc);
    dashboard.accepted("Goes on").await;
    assert_eq!((one.requests(Operation::Create), two.requests(Operation::Get)), (1, 1));
    dashboard.terminate().await;
}

#[tokio::test]
async fn a_profile_with_an_unreachable_service_can_be_switched_to_and_shows_stored_data() {
    let (one, two, folder) = (sim(&[]).await, sim(&[]).await, folder());
    let mut dashboard = acme_and_beta(&one, &two, &folder).await;
    choose(&mut dashboard, 1);
    until_profile(&mut dashboard, "beta").await;
    dashboard.accepted("Known here [sim:seconds=900000]").await;
    choose(&mut dashboard, 0);
    until_profile(&mut dashboard, "acme").await;
    faults(&two, &["all=refuse"]);
    choose(&mut dashboard, 1);
    until_profile(&mut dashboard, "beta").await;
    dashboard.until_shown("Known here").await;
    dashboard.terminate().await;
}

#[tokio::test]
async fn two_profiles_of_one_project_share_rows_ledger_and_lease() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.set_profiles(&[("acme", scope_of(&sim), sim.api_key()), ("same", scope_of(&sim), sim.api_key())]);
    dashboard.accepted("Work for both [sim:seconds=900000]").await;
    dashboard.until_shown("new jobs 1/100").await;
    choose(&mut dashboard, 1);
    until_profile(&mut dashboard, "same").await;
    dashboard.until_shown("new jobs 1/100").await;
    dashboard.assert_shows("Work for both");
    dashboard.accepted("A second one [sim:seconds=50] [sim:pr]").await;
    dashboard.until_shown("new jobs 2/100").await;
    // The lease was handed over: an instance polls.
    dashboard.until_shown("NEEDS YOU 1").await;
    assert_eq!(dashboard.app.budget(RateLimited::Create).used, 2);
    dashboard.terminate().await;
}

#[tokio::test]
async fn the_jobs_of_all_profiles_each_lead_to_their_profile() {
    let (one, two, folder) = (sim(&[]).await, sim(&[]).await, folder());
    let mut dashboard = acme_and_beta(&one, &two, &folder).await;
    dashboard.accepted("Work for acme [sim:seconds=900000]").await;
    choose(&mut dashboard, 1);
    until_profile(&mut dashboard, "beta").await;
    dashboard.accepted("Work for beta [sim:seconds=900000]").await;
    dashboard.keys("A");
    dashboard.until_shown("Jobs of all profiles: 2").await;
    dashboard.assert_shows("Work for acme");
    // The newest is first, so the job of the other profile is below it.
    dashboard.keys("j");
    dashboard.assert_shows("not watched: Enter switches to acme");
    dashboard.key(KeyCode::Enter);
    until_profile(&mut dashboard, "acme").await;
    assert!(dashboard.selected().title.as_str().starts_with("Work for acme"));
    dashboard.terminate().await;
}

#[tokio::test]
async fn a_draft_stays_with_the_profile_in_which_it_was_typed() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    let (acme, beta) = (scope_of(&sim), other(&scope_of(&sim)));
    dashboard.set_profiles(&[("acme", acme.clone(), sim.api_key()), ("beta", beta.clone(), sim.api_key())]);
    dashboard.keys("nHalf a thought");
    dashboard.key(KeyCode::Esc);
    choose(&mut dashboard, 1);
    until_profile(&mut dashboard, "beta").await;
    dashboard.keys("n");
    dashboard.run_for(std::time::Duration::from_millis(200)).await;
    assert!(!dashboard.shows("Half a thought"), "{}", dashboard.screen());
    let drafts = |scope| dashboard.store.drafts(scope);
    assert_eq!(drafts(&acme).await.expect("drafts").len(), 1);
    assert_eq!(drafts(&beta).await.expect("drafts").len(), 0);
    dashboard.terminate().await;
}

#[tokio::test]
async fn with_a_text_open_the_palette_switches_profiles_and_the_text_is_saved() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    let (acme, beta) = (scope_of(&sim), other(&scope_of(&sim)));
    dashboard.set_profiles(&[("acme", acme.clone(), sim.api_key()), ("beta", beta.clone(), sim.api_key())]);
    dashboard.keys("nHalf a thought");
    dashboard.key(KeyCode::F(2));
    dashboard.keys("profiles");
    dashboard.key(KeyCode::Enter);
    dashboard.until_shown("Profiles: 2").await;
    dashboard.keys("j");
    dashboard.key(KeyCode::Enter);
    until_profile(&mut dashboard, "beta").await;
    assert!(!dashboard.shows("Half a thought"), "{}", dashboard.screen());
    let drafts = |scope| dashboard.store.drafts(scope);
    assert_eq!(drafts(&beta).await.expect("drafts").len(), 0);
    let kept = drafts(&acme).await.expect("drafts");
    assert!(kept.iter().any(|draft| draft.text == "Half a thought"), "{kept:?}");
    dashboard.terminate().await;
}

#[tokio::test]
async fn switching_profiles_stops_loading_all_pages_and_the_load_can_continue_after_switching_back() {
    let slow = vec!["views=latency-150".parse().expect("a fault")];
    let many = SimOptions { jobs: 0, pages: 1_200, faults: slow, ..SimOptions::default() };
    let (one, two, folder) = (Sim::start(many).await.expect("a simulator"), sim(&[]).await, folder());
    let mut dashboard = acme_and_beta(&one, &two, &folder).await;
    dashboard.keys("2");
    dashboard.until_shown("page 1, rows").await;
    dashboard.keys("a");
    dashboard.until_shown("Load all pages").await;
    dashboard.keys("y");
    let asked = one.requests(Operation::Views);
    dashboard.until("a request of it", |_| one.requests(Operation::Views) > asked).await;
    dashboard.keys("1");
    choose(&mut dashboard, 1);
    until_profile(&mut dashboard, "beta").await;
    let at_turning = one.requests(Operation::Views);
    dashboard.run_for(std::time::Duration::from_millis(700)).await;
    assert!(one.requests(Operation::Views) <= at_turning + 1, "it goes on behind the back of the other profile");
    // No pages of the first profile are shown or counted here.
    dashboard.keys("2");
    dashboard.until_shown("page 1, rows").await;
    assert_eq!(dashboard.app.budget(RateLimited::Views).used, 1);
    assert!(!dashboard.shows("loading all"), "{}", dashboard.screen());
    choose(&mut dashboard, 0);
    until_profile(&mut dashboard, "acme").await;
    dashboard.keys("2");
    // The answer that was in flight is in the report.
    dashboard.until_shown("! partial: 250 rows").await;
    dashboard.until_shown("a resumes").await;
    dashboard.terminate().await;
}

#[tokio::test]
async fn a_profile_is_added_over_the_running_dashboard_and_switched_to() {
    let (one, two, folder) = (sim(&[]).await, sim(&[]).await, folder());
    let config = folder.path().join("config.toml");
    let mine = "# mine\n[profiles.acme] # first\nproject_id = \"acme-docs\"\napi_key = \"mint_k\"\n";
    std::fs::write(&config, mine).expect("written");
    let mut dashboard = DashboardFixture::start(&one, folder.path()).await;
    dashboard.set_profiles(&[("acme", scope_of(&one), one.api_key())]);
    dashboard.accepted("Work for acme [sim:seconds=900000]").await;
    dashboard.keys("Pn");
    dashboard.assert_shows("New profile");
    dashboard.key(KeyCode::Esc);
    dashboard.assert_shows("Profiles: 1");
    dashboard.key(KeyCode::Esc);
    dashboard.assert_shows("Work for acme");
    assert_eq!(std::fs::read_to_string(&config).expect("there"), mine, "cancel writes nothing");
    dashboard.keys("Pn");
    // The key has the focus, then come the project and the name.
    dashboard.ctrl('s');
    dashboard.assert_shows("Type or paste the key.");
    dashboard.paste(two.api_key());
    dashboard.key(KeyCode::Enter);
    dashboard.keys(two.project());
    dashboard.key(KeyCode::Enter);
    dashboard.keys("acme");
    dashboard.key(KeyCode::Tab);
    dashboard.key(KeyCode::Enter);
    dashboard.paste(&two.base_url());
    dashboard.ctrl('s');
    dashboard.assert_shows("The profile acme already exists. Choose another name.");
    dashboard.keys("-two");
    dashboard.ctrl('s');
    until_profile(&mut dashboard, "acme-two").await;
    dashboard.assert_shows("Switched to acme-two");
    // The request that tested the key has succeeded.
    dashboard.assert_shows("◆ ready");
    // Keys that were meant for the form do nothing.
    dashboard.keys("q");
    dashboard.run_for(std::time::Duration::from_millis(600)).await;
    dashboard.accepted("Work for the new one").await;
    assert_eq!((one.requests(Operation::Create), two.requests(Operation::Create)), (1, 1));
    let text = std::fs::read_to_string(&config).expect("there");
    assert!(text.starts_with(mine) && text.contains("[profiles.acme-two]"), "{text}");
    choose(&mut dashboard, 0);
    until_profile(&mut dashboard, "acme").await;
    dashboard.until_shown("Work for acme").await;
    dashboard.terminate().await;
}

#[tokio::test]
async fn a_filter_is_saved_as_a_tab_while_it_is_typed() {
    let (sim, folder) = (sim(&[]).await, folder());
    let config = folder.path().join("config.toml");
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.accepted("Some work [sim:seconds=900000]").await;
    dashboard.keys("/s:active");
    dashboard.ctrl('s');
    dashboard.assert_shows("Save this filter");
    dashboard.keys("Busy");
    dashboard.key(KeyCode::Enter);
    dashboard.until_shown("Filter Busy saved as a tab.").await;
    dashboard.assert_shows(" All  [Busy]");
    assert!(dashboard.app.dialogs.is_empty() && dashboard.app.filter_text().is_empty());
    let text = || std::fs::read_to_string(&config).expect("written");
    assert!(text().contains("[[filters]]\nname = \"Busy\"\nfilter = \"s:active\""), "{}", text());
    // A narrower filter with the same name replaces the old one after a question.
    dashboard.keys("/some");
    dashboard.key(KeyCode::Enter);
    dashboard.ctrl('s');
    dashboard.keys("Busy");
    dashboard.key(KeyCode::Enter);
    dashboard.assert_shows("Replace the saved filter Busy (s:active)?");
    dashboard.keys("y");
    dashboard.until("the other filter", |dashboard| dashboard.app.config.filters[0].text == "s:active some").await;
    assert!(text().contains("filter = \"s:active some\""), "{}", text());
    std::fs::write(&config, "nonsense\n").expect("written");
    dashboard.keys("/work");
    dashboard.ctrl('s');
    dashboard.keys("Other");
    dashboard.key(KeyCode::Enter);
    dashboard.until_shown("The filter was not saved.").await;
    dashboard.assert_shows("config.toml:1:");
    assert_eq!((dashboard.app.filter_text(), text()), ("work", "nonsense\n".to_owned()));
    dashboard.terminate().await;
}
