//! The first run: from the welcome page to a written configuration with one request, whatever its result.

use crate::dashboard_fixture::{DashboardFixture, faults, folder, scope_of, sim};
use crossterm::event::KeyCode;
use docdeck::app::Effect;
use docdeck::app::dialog::Dialog;
use docdeck::app::welcome::RelaunchTarget;
use docdeck::config::environment::Environment;
use docdeck::config::key::KeySource;
use docdeck::config::{Flags, Settings, SetupState, resolve};
use docdeck::model::log::Operation;
use docdeck::model::setup::{AlreadySet, KeyPresence};
use docdeck::sim::Sim;
use docdeck::store::Store;
use std::path::Path;
use std::time::Duration;

/// Types key and project, and the base URL below *more*.
fn fill(dashboard: &mut DashboardFixture, key: &str, project: &str, url: &str) {
    dashboard.paste(key);
    dashboard.key(KeyCode::Enter);
    dashboard.keys(project);
    service(dashboard, url);
}

/// Moves from the project to the base URL, which is in the collapsed part, and types it.
fn service(dashboard: &mut DashboardFixture, url: &str) {
    dashboard.key(KeyCode::Tab);
    dashboard.key(KeyCode::Enter);
    dashboard.paste(url);
}

fn page(folder: &Path) -> DashboardFixture {
    DashboardFixture::welcome(folder, &AlreadySet::default(), None)
}

fn filled(folder: &Path, sim: &Sim) -> DashboardFixture {
    let mut dashboard = page(folder);
    fill(&mut dashboard, sim.api_key(), sim.project(), &sim.base_url());
    dashboard
}

/// The settings as the next start reads them.
fn written(folder: &Path) -> Settings {
    let flags =
        Flags { config: Some(folder.join("config.toml")), data_dir: Some(folder.to_owned()), ..Flags::default() };
    match resolve(&flags, &Environment::default()) {
        Ok(SetupState::Ready(settings)) => *settings,
        other => panic!("not ready: {other:?}"),
    }
}

fn is_written(folder: &Path) -> bool {
    folder.join("config.toml").exists()
}

/// Waits for the question of the welcome page and returns it.
async fn until_question(dashboard: &mut DashboardFixture) -> String {
    dashboard.until("a question", |dashboard| matches!(dashboard.app.dialogs.last(), Some(Dialog::Confirm(_)))).await;
    match dashboard.app.dialogs.last() {
        Some(Dialog::Confirm(question)) => question.text.clone(),
        other => panic!("no question: {other:?}"),
    }
}

fn has_started(dashboard: &DashboardFixture) -> bool {
    dashboard.requested_effects.last() == Some(&Effect::Relaunch(RelaunchTarget::Dashboard))
}

#[tokio::test]
async fn a_valid_key_is_checked_once_saved_and_used() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = filled(folder.path(), &sim);
    for _ in ["organization", "certificates", "name"] {
        dashboard.key(KeyCode::Enter);
    }
    dashboard.keys("work");
    dashboard.key(KeyCode::Enter);
    dashboard.until("the dashboard", has_started).await;
    assert_eq!(sim.requests(Operation::Get), 1);
    assert_eq!(sim.requests(Operation::Views) + sim.requests(Operation::Create), 0, "nothing that is limited");
    let settings = written(folder.path());
    assert_eq!((settings.profile.as_str(), settings.scope.base_url.as_str()), ("work", sim.base_url().as_str()));
    assert!(matches!(settings.key, KeySource::Given(key) if key.expose() == sim.api_key()));
    let ready = dashboard.app.welcome.as_ref().and_then(|page| page.ready()).expect("what follows");
    assert_eq!((ready.key.expose(), ready.profile.scope()), (sim.api_key(), settings.scope));
    assert!(ready.greeting.as_str().contains("The key works"), "{}", ready.greeting);
    assert!(
        !format!("{:?} {ready:?}", dashboard.requested_effects).contains(sim.api_key()),
        "the key is printed nowhere"
    );
}

#[tokio::test]
async fn a_rejected_key_leads_to_a_question_and_the_typed_values_stay() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = page(folder.path());
    fill(&mut dashboard, "mint_wrong", sim.project(), &sim.base_url());
    dashboard.ctrl('s');
    let asked = until_question(&mut dashboard).await;
    assert!(asked.contains("does not accept the key") && asked.ends_with("Save it anyway?"), "{asked}");
    dashboard.keys("n");
    dashboard.assert_shows("does not accept the key");
    dashboard.assert_shows(sim.project());
    dashboard.assert_shows("••••••••••");
    assert!(!is_written(folder.path()));
    // Back up to the key, which is cleared at once.
    for _ in ["more", "project", "key"] {
        dashboard.key(KeyCode::Up);
    }
    dashboard.ctrl('u');
    dashboard.paste(sim.api_key());
    dashboard.ctrl('s');
    dashboard.until("the dashboard", has_started).await;
    assert_eq!(sim.requests(Operation::Get), 2);
}

#[tokio::test]
async fn a_project_mismatch_leads_to_a_question_and_is_saved_after_a_yes() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = page(folder.path());
    fill(&mut dashboard, sim.api_key(), "other-docs", &sim.base_url());
    dashboard.ctrl('s');
    let asked = until_question(&mut dashboard).await;
    assert!(asked.contains("the project was not found") && asked.ends_with("Save it anyway?"), "{asked}");
    dashboard.keys("y");
    dashboard.until("the dashboard", has_started).await;
    assert_eq!(written(folder.path()).scope.project, "other-docs");
}

#[tokio::test]
async fn an_unavailable_service_does_not_prevent_saving() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = filled(folder.path(), &sim);
    sim.stop().await;
    dashboard.ctrl('s');
    let asked = until_question(&mut dashboard).await;
    assert!(asked.contains("Could not reach 127.0.0.1") && asked.ends_with("Save it anyway?"), "{asked}");
    dashboard.keys("y");
    dashboard.until("the dashboard", has_started).await;
    assert!(is_written(folder.path()));
}

#[tokio::test]
async fn a_test_alone_writes_nothing() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = filled(folder.path(), &sim);
    dashboard.ctrl('t');
    dashboard.until_shown("✓ The key works").await;
    faults(&sim, &["get=503"]);
    dashboard.ctrl('t');
    dashboard.until_shown("! The service failed (503").await;
    assert!(!is_written(folder.path()) && dashboard.app.dialogs.is_empty());
}

#[tokio::test]
async fn a_cancelled_attempt_writes_nothing_when_its_answer_arrives() {
    let (sim, folder) = (sim(&["get=latency-150"]).await, folder());
    let mut dashboard = filled(folder.path(), &sim);
    dashboard.ctrl('s');
    dashboard.until_shown("Testing the key, one request…").await;
    dashboard.key(KeyCode::Esc);
    dashboard.assert_shows("Canceled. Nothing was saved.");
    dashboard.until("the request at the service", |_| sim.requests(Operation::Get) == 1).await;
    dashboard.run_for(Duration::from_millis(400)).await;
    assert!(!is_written(folder.path()) && !has_started(&dashboard));
    dashboard.assert_shows("Canceled. Nothing was saved.");
}

#[tokio::test]
async fn an_existing_file_is_extended_after_a_question() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mine = "# mine\n[ui]\nascii = true # really\n";
    std::fs::write(folder.path().join("config.toml"), mine).expect("written");
    let mut dashboard = filled(folder.path(), &sim);
    dashboard.ctrl('s');
    assert!(until_question(&mut dashboard).await.contains("Add the profile default?"));
    dashboard.keys("n");
    assert_eq!(std::fs::read_to_string(folder.path().join("config.toml")).expect("there"), mine);
    dashboard.ctrl('s');
    assert!(until_question(&mut dashboard).await.contains("Add the profile default?"));
    dashboard.keys("y");
    dashboard.until("the dashboard", has_started).await;
    let text = std::fs::read_to_string(folder.path().join("config.toml")).expect("there");
    assert!(text.starts_with("# mine\n[ui]\nascii = true # really\n"), "{text}");
    assert_eq!(written(folder.path()).scope.project, sim.project());
}

#[tokio::test]
async fn a_profile_without_a_project_keeps_its_key_source() {
    let (sim, folder) = (sim(&[]).await, folder());
    let key = folder.path().join("key");
    std::fs::write(&key, sim.api_key()).expect("written");
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("mode");
    std::fs::write(folder.path().join("config.toml"), "[profiles.docs]\napi_key_file = \"key\" # mine\n")
        .expect("written");
    let set = AlreadySet { profile: "docs".to_owned(), key: KeyPresence::File, ..AlreadySet::default() };
    let mut dashboard = DashboardFixture::welcome(folder.path(), &set, Some(KeySource::File(key)));
    dashboard.assert_shows("[unchanged]");
    dashboard.keys(sim.project());
    service(&mut dashboard, &sim.base_url());
    dashboard.ctrl('s');
    assert!(until_question(&mut dashboard).await.contains("already has a profile docs. Update it?"));
    dashboard.keys("y");
    dashboard.until("the dashboard", has_started).await;
    let text = std::fs::read_to_string(folder.path().join("config.toml")).expect("there");
    assert!(text.contains("api_key_file = \"key\" # mine"), "{text}");
    assert_eq!(written(folder.path()).scope.project, sim.project());
}

#[tokio::test]
async fn a_failing_program_can_be_saved_and_the_page_stays_open() {
    let folder = folder();
    let mut dashboard = page(folder.path());
    dashboard.key(KeyCode::Up);
    dashboard.key(KeyCode::Left);
    dashboard.key(KeyCode::Left);
    dashboard.keys("false");
    dashboard.key(KeyCode::Enter);
    dashboard.keys("my-docs");
    dashboard.ctrl('s');
    let asked = until_question(&mut dashboard).await;
    assert!(
        asked.contains("The API key command false failed with code 1") && asked.ends_with("Save it anyway?"),
        "{asked}"
    );
    dashboard.keys("y");
    dashboard.until_shown("The dashboard starts once the key can be read").await;
    assert!(matches!(written(folder.path()).key, KeySource::Command(words) if words == ["false"]));
    assert!(!has_started(&dashboard));
}

#[tokio::test]
async fn an_unset_variable_sends_no_request() {
    let folder = folder();
    let mut dashboard = page(folder.path());
    dashboard.key(KeyCode::Up);
    dashboard.key(KeyCode::Right);
    dashboard.assert_shows("[environment]");
    dashboard.key(KeyCode::Enter);
    dashboard.keys("my-docs");
    dashboard.ctrl('t');
    dashboard.until_shown("DOCDECK_API_KEY is not set in this shell, so").await;
    dashboard.ctrl('s');
    dashboard.until_shown("Set DOCDECK_API_KEY in your shell").await;
    assert!(is_written(folder.path()) && !has_started(&dashboard));
}

#[tokio::test]
async fn a_missing_value_is_reported_at_its_field_and_no_request_is_sent() {
    let folder = folder();
    let mut dashboard = page(folder.path());
    dashboard.ctrl('s');
    dashboard.assert_shows("Type or paste the key.");
    dashboard.keys("mint_k");
    dashboard.ctrl('s');
    dashboard.assert_shows("Enter the project id.");
    dashboard.keys("demo quits not");
    assert!(dashboard.requested_effects.is_empty(), "letters are text: {:?}", dashboard.requested_effects);
    dashboard.ctrl('d');
    assert_eq!(dashboard.requested_effects, [Effect::Relaunch(RelaunchTarget::Demo)]);
}

#[tokio::test]
async fn letters_and_pastes_on_a_choice_go_to_its_input_field() {
    let folder = folder();
    let mut dashboard = page(folder.path());
    dashboard.key(KeyCode::Up);
    dashboard.keys("hjkldq");
    dashboard.assert_shows("••••••");
    assert!(dashboard.requested_effects.is_empty(), "no letter is a key: {:?}", dashboard.requested_effects);
    dashboard.key(KeyCode::Up);
    dashboard.key(KeyCode::Right);
    dashboard.assert_shows("[environment]");
    dashboard.paste("mint_k");
    dashboard.assert_shows("[typed here]");
    dashboard.assert_shows("••••••••••••");
    dashboard.key(KeyCode::Up);
    dashboard.key(KeyCode::Left);
    dashboard.paste("~/key");
    dashboard.assert_shows("file         ~/key");
}

#[tokio::test]
async fn values_that_docdeck_rejects_cannot_be_saved() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = page(folder.path());
    fill(&mut dashboard, sim.api_key(), sim.project(), "http://docs.example.com");
    dashboard.ctrl('s');
    dashboard.until_shown("would send the key unencrypted to docs.example.com").await;
    assert!(dashboard.app.dialogs.is_empty() && !is_written(folder.path()));
    let key = folder.path().join("key");
    std::fs::write(&key, sim.api_key()).expect("written");
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o644)).expect("mode");
    let mut dashboard = page(folder.path());
    dashboard.key(KeyCode::Up);
    dashboard.key(KeyCode::Left);
    dashboard.paste("key");
    dashboard.key(KeyCode::Enter);
    dashboard.keys(sim.project());
    dashboard.ctrl('s');
    dashboard.until_shown("Other users can read").await;
    assert!(dashboard.app.dialogs.is_empty() && !is_written(folder.path()));
    assert_eq!(sim.requests(Operation::Get), 0);
    // The field has the focus, so typing corrects it.
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("mode");
    dashboard.ctrl('s');
    assert!(until_question(&mut dashboard).await.ends_with("Save it anyway?"), "the usual service is not there");
}

#[tokio::test]
async fn the_first_empty_field_has_the_focus() {
    let folder = folder();
    let mut dashboard = page(folder.path());
    dashboard.keys("k");
    dashboard.assert_shows("key          •");
    let set = AlreadySet { key: KeyPresence::Environment, ..AlreadySet::default() };
    let mut dashboard = DashboardFixture::welcome(folder.path(), &set, None);
    dashboard.keys("docs");
    dashboard.assert_shows("project id   docs");
}

#[tokio::test]
async fn a_tip_appears_once_per_computer() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.assert_shows("Tip: ? lists the keyboard shortcuts");
    dashboard.keys("2");
    dashboard.assert_shows("Tip: a loads all pages");
    dashboard.keys("1");
    assert!(!dashboard.shows("Tip:"), "the jobs' was given");
    dashboard.terminate().await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    assert!(!dashboard.shows("Tip:"));
    dashboard.keys("3");
    dashboard.assert_shows("Tip: every request");
}

#[tokio::test]
async fn tips_also_appear_if_the_command_line_created_the_database() {
    let (sim, folder) = (sim(&[]).await, folder());
    let (store, _) = Store::open(folder.path(), chrono::Utc::now()).expect("a store");
    store.add_new_job(&scope_of(&sim), "Fix the links", chrono::Utc::now()).await.expect("kept");
    store.close().await;
    let dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.assert_shows("Fix the links");
    dashboard.assert_shows("Tip: ? lists the keyboard shortcuts");
}

#[tokio::test]
async fn the_welcome_page_lists_no_shortcuts_of_unavailable_screens() {
    let folder = folder();
    let mut dashboard = page(folder.path());
    dashboard.key(KeyCode::F(1));
    dashboard.assert_shows("redraw the screen");
    assert!(
        !dashboard.shows("refresh from the service") && !dashboard.shows("switch to another profile"),
        "{}",
        dashboard.screen()
    );
    dashboard.key(KeyCode::Esc);
    dashboard.key(KeyCode::F(2));
    dashboard.keys("profiles switch to another");
    dashboard.assert_shows("No matching command.");
}
