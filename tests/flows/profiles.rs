//! Turning to another profile: what becomes of the work for the one before, and what the new one knows.

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

/// At work for `one` as the profile acme; beta is known and belongs to `two`.
async fn acme_and_beta(one: &Sim, two: &Sim, folder: &TempDir) -> DashboardFixture {
    let mut desk = DashboardFixture::begin(one, folder.path()).await;
    desk.know(&[("acme", scope_of(one), one.api_key()), ("beta", scope_of(two), two.api_key())]);
    desk
}

/// Chooses the profile so many places below the first one.
fn choose(desk: &mut DashboardFixture, below: usize) {
    desk.keys("Pg");
    desk.keys(&"j".repeat(below));
    desk.key(KeyCode::Enter);
}

async fn turned_to(desk: &mut DashboardFixture, name: &str) {
    let name = CleanText::line(name);
    desk.until("the other profile", |desk| {
        desk.app.config.profile == name && desk.app.store == StoreState::Read && desk.has_engine()
    })
    .await;
}

fn other(of: &Scope) -> Scope {
    Scope { base_url: of.base_url.clone(), project: "beta-docs".to_owned(), organization: None }
}

#[tokio::test]
async fn the_other_profile_shows_its_own_jobs_and_the_first_ones_are_there_again_after_the_way_back() {
    let (one, two, folder) = (sim(&[]).await, sim(&[]).await, folder());
    let mut desk = acme_and_beta(&one, &two, &folder).await;
    desk.accepted("Work for acme [sim:seconds=900000]").await;
    choose(&mut desk, 1);
    turned_to(&mut desk, "beta").await;
    desk.until_shown("No jobs are known on this computer yet.").await;
    desk.assert_shows("Now on beta");
    desk.accepted("Work for beta [sim:seconds=900000]").await;
    assert_eq!((one.requests(Operation::Create), two.requests(Operation::Create)), (1, 1));
    choose(&mut desk, 0);
    turned_to(&mut desk, "acme").await;
    desk.until_shown("Work for acme").await;
    assert!(!desk.shows("Work for beta"), "{}", desk.screen());
    desk.terminate().await;
}

#[tokio::test]
async fn a_prompt_on_its_way_is_waited_for_and_recorded_for_the_profile_that_sent_it() {
    let (one, two, folder) = (sim(&["create=latency-700"]).await, sim(&[]).await, folder());
    let mut desk = acme_and_beta(&one, &two, &folder).await;
    let store = desk.store.clone();
    desk.send_new("Slow to be taken");
    desk.until("a prompt on its way", |desk| {
        desk.app.jobs.selected().is_some_and(|row| row.undelivered == Some(DeliveryKind::Sending))
    })
    .await;
    desk.key(KeyCode::Esc);
    choose(&mut desk, 1);
    turned_to(&mut desk, "beta").await;
    assert!(desk.app.jobs.is_empty(), "{}", desk.screen());
    // Its answer comes while the other one is shown, and goes to where it belongs.
    for _ in 0..100 {
        desk.go_on_for(std::time::Duration::from_millis(50)).await;
        let rows = store.jobs(&scope_of(&one)).await.expect("rows");
        if rows.iter().all(|row| row.id.is_some()) {
            break;
        }
    }
    let rows = store.jobs(&scope_of(&one)).await.expect("rows");
    assert!(matches!(rows.as_slice(), [row] if row.id.is_some() && row.undelivered.is_none()), "{rows:?}");
    assert_eq!(one.requests(Operation::Create), 1);
    assert!(desk.app.jobs.is_empty(), "{}", desk.screen());
    desk.terminate().await;
}

#[tokio::test]
async fn a_refused_key_leaves_the_old_profile_at_work() {
    let (one, two, folder) = (sim(&[]).await, sim(&[]).await, folder());
    let mut desk = DashboardFixture::begin(&one, folder.path()).await;
    desk.know(&[("acme", scope_of(&one), one.api_key()), ("beta", scope_of(&two), "mint_wr0ng")]);
    choose(&mut desk, 1);
    desk.until_shown("Still on acme-docs: beta can't be used.").await;
    desk.assert_shows("401");
    assert!(!desk.shows("wr0ng"));
    desk.key(KeyCode::Esc);
    desk.accepted("Goes on").await;
    assert_eq!((one.requests(Operation::Create), two.requests(Operation::Get)), (1, 1));
    desk.terminate().await;
}

#[tokio::test]
async fn a_service_that_is_not_there_can_be_turned_to_and_shows_what_is_known() {
    let (one, two, folder) = (sim(&[]).await, sim(&[]).await, folder());
    let mut desk = acme_and_beta(&one, &two, &folder).await;
    choose(&mut desk, 1);
    turned_to(&mut desk, "beta").await;
    desk.accepted("Known here [sim:seconds=900000]").await;
    choose(&mut desk, 0);
    turned_to(&mut desk, "acme").await;
    faults(&two, &["all=refuse"]);
    choose(&mut desk, 1);
    turned_to(&mut desk, "beta").await;
    desk.until_shown("Known here").await;
    desk.terminate().await;
}

#[tokio::test]
async fn two_profiles_of_one_project_share_rows_ledger_and_lease() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.know(&[("acme", scope_of(&sim), sim.api_key()), ("same", scope_of(&sim), sim.api_key())]);
    desk.accepted("Work for both [sim:seconds=900000]").await;
    desk.until_shown("new jobs 1/100").await;
    choose(&mut desk, 1);
    turned_to(&mut desk, "same").await;
    desk.until_shown("new jobs 1/100").await;
    desk.assert_shows("Work for both");
    desk.accepted("A second one [sim:seconds=50] [sim:pr]").await;
    desk.until_shown("new jobs 2/100").await;
    // The lease was given over: somebody polls.
    desk.until_shown("NEEDS YOU 1").await;
    assert_eq!(desk.app.budget(RateLimited::Create).used, 2);
    desk.terminate().await;
}

#[tokio::test]
async fn the_jobs_of_all_profiles_lead_to_each_on_its_own() {
    let (one, two, folder) = (sim(&[]).await, sim(&[]).await, folder());
    let mut desk = acme_and_beta(&one, &two, &folder).await;
    desk.accepted("Work for acme [sim:seconds=900000]").await;
    choose(&mut desk, 1);
    turned_to(&mut desk, "beta").await;
    desk.accepted("Work for beta [sim:seconds=900000]").await;
    desk.keys("A");
    desk.until_shown("Jobs of all profiles: 2").await;
    desk.assert_shows("Work for acme");
    // The newest first: the other one stands below.
    desk.keys("j");
    desk.assert_shows("not being watched: Enter turns to acme");
    desk.key(KeyCode::Enter);
    turned_to(&mut desk, "acme").await;
    assert!(desk.selected().title.as_str().starts_with("Work for acme"));
    desk.terminate().await;
}

#[tokio::test]
async fn a_draft_stays_with_the_profile_that_it_was_typed_for() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    let (acme, beta) = (scope_of(&sim), other(&scope_of(&sim)));
    desk.know(&[("acme", acme.clone(), sim.api_key()), ("beta", beta.clone(), sim.api_key())]);
    desk.keys("nHalf a thought");
    desk.key(KeyCode::Esc);
    choose(&mut desk, 1);
    turned_to(&mut desk, "beta").await;
    desk.keys("n");
    desk.go_on_for(std::time::Duration::from_millis(200)).await;
    assert!(!desk.shows("Half a thought"), "{}", desk.screen());
    let drafts = |scope| desk.store.drafts(scope);
    assert_eq!(drafts(&acme).await.expect("drafts").len(), 1);
    assert_eq!(drafts(&beta).await.expect("drafts").len(), 0);
    desk.terminate().await;
}

#[tokio::test]
async fn with_a_text_open_the_palette_leads_to_another_profile_and_the_text_is_kept() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    let (acme, beta) = (scope_of(&sim), other(&scope_of(&sim)));
    desk.know(&[("acme", acme.clone(), sim.api_key()), ("beta", beta.clone(), sim.api_key())]);
    desk.keys("nHalf a thought");
    desk.key(KeyCode::F(2));
    desk.keys("profiles");
    desk.key(KeyCode::Enter);
    desk.until_shown("Profiles: 2").await;
    desk.keys("j");
    desk.key(KeyCode::Enter);
    turned_to(&mut desk, "beta").await;
    assert!(!desk.shows("Half a thought"), "{}", desk.screen());
    let drafts = |scope| desk.store.drafts(scope);
    assert_eq!(drafts(&beta).await.expect("drafts").len(), 0);
    let kept = drafts(&acme).await.expect("drafts");
    assert!(kept.iter().any(|draft| draft.text == "Half a thought"), "{kept:?}");
    desk.terminate().await;
}

#[tokio::test]
async fn turning_while_all_pages_load_ends_that_and_what_came_is_gone_on_with_after_the_way_back() {
    let slow = vec!["views=latency-150".parse().expect("a fault")];
    let many = SimOptions { jobs: 0, pages: 1_200, faults: slow, ..SimOptions::default() };
    let (one, two, folder) = (Sim::start(many).await.expect("a simulator"), sim(&[]).await, folder());
    let mut desk = acme_and_beta(&one, &two, &folder).await;
    desk.keys("2");
    desk.until_shown("page 1, rows").await;
    desk.keys("a");
    desk.until_shown("Load all pages").await;
    desk.keys("y");
    let asked = one.requests(Operation::Views);
    desk.until("a request of it", |_| one.requests(Operation::Views) > asked).await;
    desk.keys("1");
    choose(&mut desk, 1);
    turned_to(&mut desk, "beta").await;
    let at_turning = one.requests(Operation::Views);
    desk.go_on_for(std::time::Duration::from_millis(700)).await;
    assert!(one.requests(Operation::Views) <= at_turning + 1, "it goes on behind the back of the other profile");
    // Nothing of the first profile's pages is shown or counted here.
    desk.keys("2");
    desk.until_shown("page 1, rows").await;
    assert_eq!(desk.app.budget(RateLimited::Views).used, 1);
    assert!(!desk.shows("loading all"), "{}", desk.screen());
    choose(&mut desk, 0);
    turned_to(&mut desk, "acme").await;
    desk.keys("2");
    // The answer that was under way is in the report.
    desk.until_shown("not all pages: 250 rows").await;
    desk.until_shown("a goes on").await;
    desk.terminate().await;
}

#[tokio::test]
async fn a_profile_is_added_over_the_running_dashboard_and_switched_to() {
    let (one, two, folder) = (sim(&[]).await, sim(&[]).await, folder());
    let config = folder.path().join("config.toml");
    let mine = "# mine\n[profiles.acme] # first\nproject_id = \"acme-docs\"\napi_key = \"mint_k\"\n";
    std::fs::write(&config, mine).expect("written");
    let mut desk = DashboardFixture::begin(&one, folder.path()).await;
    desk.know(&[("acme", scope_of(&one), one.api_key())]);
    desk.accepted("Work for acme [sim:seconds=900000]").await;
    desk.keys("Pn");
    desk.assert_shows("New profile");
    desk.key(KeyCode::Esc);
    desk.assert_shows("Profiles: 1");
    desk.key(KeyCode::Esc);
    desk.assert_shows("Work for acme");
    assert_eq!(std::fs::read_to_string(&config).expect("there"), mine, "cancel writes nothing");
    desk.keys("Pn");
    // The key has the focus, then come the project and the name.
    desk.ctrl('s');
    desk.assert_shows("Type or paste the key.");
    desk.paste(two.api_key());
    desk.key(KeyCode::Enter);
    desk.keys(two.project());
    desk.key(KeyCode::Enter);
    desk.keys("acme");
    desk.key(KeyCode::Tab);
    desk.key(KeyCode::Enter);
    desk.paste(&two.base_url());
    desk.ctrl('s');
    desk.assert_shows("There is already a profile acme. Choose another name.");
    desk.keys("-two");
    desk.ctrl('s');
    turned_to(&mut desk, "acme-two").await;
    desk.assert_shows("Now on acme-two");
    // The request that tested the key has succeeded.
    desk.assert_shows("◆ ready");
    // Keys that were meant for the form do nothing.
    desk.keys("q");
    desk.go_on_for(std::time::Duration::from_millis(600)).await;
    desk.accepted("Work for the new one").await;
    assert_eq!((one.requests(Operation::Create), two.requests(Operation::Create)), (1, 1));
    let text = std::fs::read_to_string(&config).expect("there");
    assert!(text.starts_with(mine) && text.contains("[profiles.acme-two]"), "{text}");
    choose(&mut desk, 0);
    turned_to(&mut desk, "acme").await;
    desk.until_shown("Work for acme").await;
    desk.terminate().await;
}

#[tokio::test]
async fn a_filter_is_saved_as_a_tab_while_it_is_typed() {
    let (sim, folder) = (sim(&[]).await, folder());
    let config = folder.path().join("config.toml");
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.accepted("Some work [sim:seconds=900000]").await;
    desk.keys("/s:active");
    desk.ctrl('s');
    desk.assert_shows("Save this filter");
    desk.keys("Busy");
    desk.key(KeyCode::Enter);
    desk.until_shown("Saved the filter Busy as a tab.").await;
    desk.assert_shows(" All  [Busy]");
    assert!(desk.app.dialogs.is_empty() && desk.app.filter_text().is_empty());
    let text = || std::fs::read_to_string(&config).expect("written");
    assert!(text().contains("[[filters]]\nname = \"Busy\"\nfilter = \"s:active\""), "{}", text());
    // Narrower, under the same name: replaced after a question.
    desk.keys("/some");
    desk.key(KeyCode::Enter);
    desk.ctrl('s');
    desk.keys("Busy");
    desk.key(KeyCode::Enter);
    desk.assert_shows("Replace the saved filter Busy (s:active)?");
    desk.keys("y");
    desk.until("the other filter", |desk| desk.app.config.filters[0].text == "s:active some").await;
    assert!(text().contains("filter = \"s:active some\""), "{}", text());
    std::fs::write(&config, "nonsense\n").expect("written");
    desk.keys("/work");
    desk.ctrl('s');
    desk.keys("Other");
    desk.key(KeyCode::Enter);
    desk.until_shown("The filter was not saved.").await;
    desk.assert_shows("config.toml:1:");
    assert_eq!((desk.app.filter_text(), text()), ("work", "nonsense\n".to_owned()));
    desk.terminate().await;
}
