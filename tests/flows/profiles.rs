//! Tests of switching profiles: what happens to the running work of the old profile, and what the new profile shows.

use crate::support::dashboard::DashboardFixture;
use crate::support::{create_folder, scope_of, set_faults, start_sim};
use crossterm::event::KeyCode;
use docdeck::model::endpoint::Scope;
use docdeck::model::ledger::Quota;
use docdeck::model::log::Operation;
use docdeck::model::prompt::DeliveryKind;
use docdeck::model::text::CleanText;
use docdeck::sim::{Sim, SimOptions};
use docdeck::tui::StoreState;
use tempfile::TempDir;

/// Starts a dashboard with the profile acme on the service `one`. There is also a profile beta on the service `two`.
async fn start_with_acme_and_beta(one: &Sim, two: &Sim, folder: &TempDir) -> DashboardFixture {
    let mut dashboard = DashboardFixture::start(one, folder.path()).await;
    dashboard.set_profiles(&[("acme", scope_of(one), one.api_key()), ("beta", scope_of(two), two.api_key())]);
    dashboard
}

/// Switches to the profile that is `below` rows below the first one in the list.
fn switch_to_profile(dashboard: &mut DashboardFixture, below: usize) {
    dashboard.press_chars("Pg");
    dashboard.press_chars(&"j".repeat(below));
    dashboard.press_key(KeyCode::Enter);
}

async fn until_profile(dashboard: &mut DashboardFixture, name: &str) {
    let name = CleanText::line(name);
    dashboard
        .wait_until("the other profile", |dashboard| {
            dashboard.app.config.profile == name && dashboard.app.store == StoreState::Loaded && dashboard.has_engine()
        })
        .await;
}

fn beta_scope(of: &Scope) -> Scope {
    Scope { base_url: of.base_url.clone(), project: "beta-docs".to_owned(), organization: None }
}

#[tokio::test]
async fn each_profile_shows_only_its_own_jobs() {
    let (one, two, folder) = (start_sim(&[]).await, start_sim(&[]).await, create_folder());
    let mut dashboard = start_with_acme_and_beta(&one, &two, &folder).await;
    dashboard.send_accepted_job("Work for acme [sim:seconds=900000]").await;
    switch_to_profile(&mut dashboard, 1);
    until_profile(&mut dashboard, "beta").await;
    dashboard.wait_until_shown("No jobs yet.").await;
    dashboard.assert_shows("Switched to beta");
    dashboard.send_accepted_job("Work for beta [sim:seconds=900000]").await;
    assert_eq!((one.requests(Operation::Create), two.requests(Operation::Create)), (1, 1));
    switch_to_profile(&mut dashboard, 0);
    until_profile(&mut dashboard, "acme").await;
    dashboard.wait_until_shown("Work for acme").await;
    assert!(!dashboard.shows("Work for beta"), "{}", dashboard.screen());
    dashboard.terminate().await;
}

#[tokio::test]
async fn a_response_that_arrives_after_a_switch_is_recorded_for_the_profile_that_sent_the_prompt() {
    let (one, two, folder) = (start_sim(&["create=latency-700"]).await, start_sim(&[]).await, create_folder());
    let mut dashboard = start_with_acme_and_beta(&one, &two, &folder).await;
    let store = dashboard.store.clone();
    dashboard.send_new("Slow to be taken");
    dashboard
        .wait_until("a prompt on its way", |dashboard| {
            dashboard.app.jobs.selected().is_some_and(|row| row.local.undelivered == Some(DeliveryKind::Sending))
        })
        .await;
    dashboard.press_key(KeyCode::Esc);
    switch_to_profile(&mut dashboard, 1);
    until_profile(&mut dashboard, "beta").await;
    assert!(dashboard.app.jobs.is_empty(), "{}", dashboard.screen());
    // The response arrives while the dashboard shows beta, and is recorded for acme.
    for _ in 0..100 {
        dashboard.run_for(std::time::Duration::from_millis(50)).await;
        let rows = store.jobs(&scope_of(&one)).await.expect("rows");
        if rows.iter().all(|row| row.id.is_some()) {
            break;
        }
    }
    let rows = store.jobs(&scope_of(&one)).await.expect("rows");
    assert!(matches!(rows.as_slice(), [row] if row.id.is_some() && row.local.undelivered.is_none()), "{rows:?}");
    assert_eq!(one.requests(Operation::Create), 1);
    assert!(dashboard.app.jobs.is_empty(), "{}", dashboard.screen());
    dashboard.terminate().await;
}

#[tokio::test]
async fn if_the_key_of_the_new_profile_is_rejected_the_old_profile_stays() {
    let (one, two, folder) = (start_sim(&[]).await, start_sim(&[]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&one, folder.path()).await;
    dashboard.set_profiles(&[("acme", scope_of(&one), one.api_key()), ("beta", scope_of(&two), "mint_wr0ng")]);
    switch_to_profile(&mut dashboard, 1);
    dashboard.wait_until_shown("Still on acme-docs: beta can't be used.").await;
    dashboard.assert_shows("401");
    assert!(!dashboard.shows("wr0ng"));
    dashboard.press_key(KeyCode::Esc);
    dashboard.send_accepted_job("Goes on").await;
    assert_eq!((one.requests(Operation::Create), two.requests(Operation::GetJob)), (1, 1));
    dashboard.terminate().await;
}

#[tokio::test]
async fn a_profile_with_an_unreachable_service_can_be_switched_to_and_shows_stored_data() {
    let (one, two, folder) = (start_sim(&[]).await, start_sim(&[]).await, create_folder());
    let mut dashboard = start_with_acme_and_beta(&one, &two, &folder).await;
    switch_to_profile(&mut dashboard, 1);
    until_profile(&mut dashboard, "beta").await;
    dashboard.send_accepted_job("Known here [sim:seconds=900000]").await;
    switch_to_profile(&mut dashboard, 0);
    until_profile(&mut dashboard, "acme").await;
    set_faults(&two, &["all=refuse"]);
    switch_to_profile(&mut dashboard, 1);
    until_profile(&mut dashboard, "beta").await;
    dashboard.wait_until_shown("Known here").await;
    dashboard.terminate().await;
}

#[tokio::test]
async fn two_profiles_of_one_project_share_jobs_limits_and_leases() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.set_profiles(&[("acme", scope_of(&sim), sim.api_key()), ("same", scope_of(&sim), sim.api_key())]);
    dashboard.send_accepted_job("Work for both [sim:seconds=900000]").await;
    dashboard.wait_until_shown("new jobs: 99 of 100 left").await;
    switch_to_profile(&mut dashboard, 1);
    until_profile(&mut dashboard, "same").await;
    dashboard.wait_until_shown("new jobs: 99 of 100 left").await;
    dashboard.assert_shows("Work for both");
    dashboard.send_accepted_job("A second one [sim:seconds=50] [sim:pr]").await;
    dashboard.wait_until_shown("new jobs: 98 of 100 left").await;
    // The job of the new engine is polled, so the engine has got the lease from the old one.
    dashboard.wait_until_shown("Needs you 1").await;
    assert_eq!(dashboard.app.budget(Quota::Create).used, 2);
    dashboard.terminate().await;
}

#[tokio::test]
async fn a_job_in_the_list_of_all_profiles_opens_its_profile() {
    let (one, two, folder) = (start_sim(&[]).await, start_sim(&[]).await, create_folder());
    let mut dashboard = start_with_acme_and_beta(&one, &two, &folder).await;
    dashboard.send_accepted_job("Work for acme [sim:seconds=900000]").await;
    switch_to_profile(&mut dashboard, 1);
    until_profile(&mut dashboard, "beta").await;
    dashboard.send_accepted_job("Work for beta [sim:seconds=900000]").await;
    dashboard.press_chars("A");
    dashboard.wait_until_shown("All profiles").await;
    dashboard.wait_until_shown("Work for acme").await;
    // The list is sorted by age, newest first, so the job of acme is the second one.
    dashboard.press_chars("j");
    dashboard.assert_shows("not updating, Enter switches to acme");
    dashboard.press_key(KeyCode::Enter);
    until_profile(&mut dashboard, "acme").await;
    assert!(dashboard.selected_job().local.title.as_str().starts_with("Work for acme"));
    dashboard.terminate().await;
}

#[tokio::test]
async fn a_draft_stays_with_the_profile_in_which_it_was_typed() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    let (acme, beta) = (scope_of(&sim), beta_scope(&scope_of(&sim)));
    dashboard.set_profiles(&[("acme", acme.clone(), sim.api_key()), ("beta", beta.clone(), sim.api_key())]);
    dashboard.press_chars("nHalf a thought");
    dashboard.press_key(KeyCode::Esc);
    switch_to_profile(&mut dashboard, 1);
    until_profile(&mut dashboard, "beta").await;
    dashboard.press_chars("n");
    dashboard.run_for(std::time::Duration::from_millis(200)).await;
    assert!(!dashboard.shows("Half a thought"), "{}", dashboard.screen());
    let drafts = |scope| dashboard.store.drafts(scope);
    assert_eq!(drafts(&acme).await.expect("drafts").len(), 1);
    assert_eq!(drafts(&beta).await.expect("drafts").len(), 0);
    dashboard.terminate().await;
}

#[tokio::test]
async fn switching_profiles_by_the_palette_while_typing_saves_the_text() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    let (acme, beta) = (scope_of(&sim), beta_scope(&scope_of(&sim)));
    dashboard.set_profiles(&[("acme", acme.clone(), sim.api_key()), ("beta", beta.clone(), sim.api_key())]);
    dashboard.press_chars("nHalf a thought");
    dashboard.press_key(KeyCode::F(2));
    dashboard.press_chars("profiles");
    dashboard.press_key(KeyCode::Enter);
    dashboard.wait_until_shown("Profiles: 2").await;
    dashboard.press_chars("j");
    dashboard.press_key(KeyCode::Enter);
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
    let (one, two, folder) = (Sim::start(many).await.expect("a simulator"), start_sim(&[]).await, create_folder());
    let mut dashboard = start_with_acme_and_beta(&one, &two, &folder).await;
    dashboard.press_chars("2");
    dashboard.wait_until_shown("1 of ").await;
    dashboard.press_chars("a");
    dashboard.wait_until_shown("Load all pages").await;
    dashboard.press_chars("y");
    let requests = one.requests(Operation::Views);
    dashboard.wait_until("a request of it", |_| one.requests(Operation::Views) > requests).await;
    dashboard.press_chars("1");
    switch_to_profile(&mut dashboard, 1);
    until_profile(&mut dashboard, "beta").await;
    let before_switch = one.requests(Operation::Views);
    dashboard.run_for(std::time::Duration::from_millis(700)).await;
    assert!(one.requests(Operation::Views) <= before_switch + 1, "the old profile continues to load");
    // The pages of acme are neither shown nor counted in beta.
    dashboard.press_chars("2");
    dashboard.wait_until_shown("1 of ").await;
    assert_eq!(dashboard.app.budget(Quota::Views).used, 1);
    assert!(!dashboard.shows("loading all"), "{}", dashboard.screen());
    switch_to_profile(&mut dashboard, 0);
    until_profile(&mut dashboard, "acme").await;
    dashboard.press_chars("2");
    // The response that was in flight during the switch was saved, too.
    dashboard.wait_until_shown("! partial: ").await;
    dashboard.wait_until_shown("press a to resume").await;
    dashboard.terminate().await;
}

#[tokio::test]
async fn a_profile_can_be_added_in_the_running_dashboard_which_then_switches_to_it() {
    let (one, two, folder) = (start_sim(&[]).await, start_sim(&[]).await, create_folder());
    let config = folder.path().join("config.toml");
    let mine = "# mine\n[profiles.acme] # first\nproject_id = \"acme-docs\"\napi_key = \"mint_k\"\n";
    std::fs::write(&config, mine).expect("written");
    let mut dashboard = DashboardFixture::start(&one, folder.path()).await;
    dashboard.set_profiles(&[("acme", scope_of(&one), one.api_key())]);
    dashboard.send_accepted_job("Work for acme [sim:seconds=900000]").await;
    dashboard.press_chars("Pn");
    dashboard.assert_shows("New profile");
    dashboard.press_key(KeyCode::Esc);
    dashboard.assert_shows("Profiles: 1");
    dashboard.press_key(KeyCode::Esc);
    dashboard.assert_shows("Work for acme");
    assert_eq!(std::fs::read_to_string(&config).expect("there"), mine, "cancel writes nothing");
    dashboard.press_chars("Pn");
    // The API key field has the focus. The project and the name follow it.
    dashboard.press_ctrl('s');
    dashboard.assert_shows("Type or paste the key.");
    dashboard.paste(two.api_key());
    dashboard.press_key(KeyCode::Enter);
    dashboard.press_chars(two.project());
    dashboard.press_key(KeyCode::Enter);
    dashboard.press_chars("acme");
    // Below the button and "more": the source of the key, then the base URL.
    dashboard.press_key(KeyCode::Tab);
    dashboard.press_key(KeyCode::Tab);
    dashboard.press_key(KeyCode::Enter);
    dashboard.press_key(KeyCode::Tab);
    dashboard.paste(&two.base_url());
    dashboard.press_ctrl('s');
    dashboard.assert_shows("The profile acme already exists. Choose another name.");
    dashboard.press_chars("-two");
    dashboard.press_ctrl('s');
    until_profile(&mut dashboard, "acme-two").await;
    dashboard.assert_shows("Switched to acme-two");
    // The state is ready because the request that tested the API key has succeeded.
    dashboard.assert_shows("◆ ready");
    // For a moment after the form has closed, letter keys have no effect.
    dashboard.press_chars("q");
    dashboard.run_for(std::time::Duration::from_millis(600)).await;
    dashboard.send_accepted_job("Work for the new one").await;
    assert_eq!((one.requests(Operation::Create), two.requests(Operation::Create)), (1, 1));
    let text = std::fs::read_to_string(&config).expect("there");
    assert!(text.starts_with(mine) && text.contains("[profiles.acme-two]"), "{text}");
    switch_to_profile(&mut dashboard, 0);
    until_profile(&mut dashboard, "acme").await;
    dashboard.wait_until_shown("Work for acme").await;
    dashboard.terminate().await;
}

#[tokio::test]
async fn a_filter_can_be_saved_as_a_tab_while_it_is_typed() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let config = folder.path().join("config.toml");
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.send_accepted_job("Some work [sim:seconds=900000]").await;
    dashboard.press_chars("/s:active");
    dashboard.press_ctrl('s');
    dashboard.assert_shows("Save this filter");
    dashboard.press_chars("Busy");
    dashboard.press_key(KeyCode::Enter);
    dashboard.wait_until_shown("Filter Busy saved as a tab.").await;
    dashboard.assert_shows(" All  [Busy]");
    assert!(dashboard.app.dialogs.is_empty() && dashboard.app.filter_text().is_empty());
    let text = || std::fs::read_to_string(&config).expect("written");
    assert!(text().contains("[[filters]]\nname = \"Busy\"\nfilter = \"s:active\""), "{}", text());
    // A filter with the same name replaces the saved one after a confirmation.
    dashboard.press_chars("/some");
    dashboard.press_key(KeyCode::Enter);
    dashboard.press_ctrl('s');
    dashboard.press_chars("Busy");
    dashboard.press_key(KeyCode::Enter);
    dashboard.assert_shows("Replace the saved filter Busy (s:active)?");
    dashboard.press_chars("y");
    dashboard.wait_until("the other filter", |dashboard| dashboard.app.config.filters[0].text == "s:active some").await;
    assert!(text().contains("filter = \"s:active some\""), "{}", text());
    std::fs::write(&config, "nonsense\n").expect("written");
    dashboard.press_chars("/work");
    dashboard.press_ctrl('s');
    dashboard.press_chars("Other");
    dashboard.press_key(KeyCode::Enter);
    dashboard.wait_until_shown("The filter was not saved.").await;
    dashboard.assert_shows("config.toml:1:");
    assert_eq!((dashboard.app.filter_text(), text()), ("work", "nonsense\n".to_owned()));
    dashboard.terminate().await;
}
