//! Tests of the first run: the welcome page tests the API key with one request and writes the configuration file, even
//! if the test fails and the user confirms.

use crate::support::dashboard::DashboardFixture;
use crate::support::{create_folder, scope_of, set_faults, start_sim};
use crossterm::event::KeyCode;
use docdeck::config::environment::Environment;
use docdeck::config::key::KeySource;
use docdeck::config::{GlobalOptions, Settings, SetupState, resolve};
use docdeck::model::log::Operation;
use docdeck::model::setup::{ExistingSettings, KeyPresence, KeySourceChoice};
use docdeck::sim::Sim;
use docdeck::store::Store;
use docdeck::tui::Effect;
use docdeck::tui::RelaunchTarget;
use docdeck::tui::confirm::ConfirmDialog;
use docdeck::tui::welcome::Welcome;
use std::path::Path;
use std::time::Duration;

/// Types the API key and the project, and the base URL below "more".
fn fill_form(dashboard: &mut DashboardFixture, key: &str, project: &str, url: &str) {
    dashboard.paste(key);
    dashboard.press_key(KeyCode::Enter);
    dashboard.press_chars(project);
    type_base_url(dashboard, url);
}

/// Moves from the project field to the base URL field, which is below "more", and types the URL.
fn type_base_url(dashboard: &mut DashboardFixture, url: &str) {
    open_key_source(dashboard);
    dashboard.press_key(KeyCode::Tab);
    dashboard.paste(url);
}

/// Moves from the project field to the choice of the key source, the first line below "more".
fn open_key_source(dashboard: &mut DashboardFixture) {
    for key in [KeyCode::Tab, KeyCode::Tab, KeyCode::Enter] {
        dashboard.press_key(key);
    }
}

/// Opens the form and selects a key source.
fn open_with_key_source(folder: &Path, source: KeySourceChoice) -> DashboardFixture {
    let mut dashboard = open_welcome(folder);
    dashboard.press_key(KeyCode::Tab);
    open_key_source(&mut dashboard);
    while !dashboard.shows(&format!("[{}]", source.name())) {
        dashboard.press_key(KeyCode::Right);
    }
    dashboard
}

fn open_welcome(folder: &Path) -> DashboardFixture {
    DashboardFixture::start_welcome(folder, &ExistingSettings::default(), None)
}

fn open_filled_welcome(folder: &Path, sim: &Sim) -> DashboardFixture {
    let mut dashboard = open_welcome(folder);
    fill_form(&mut dashboard, sim.api_key(), sim.project(), &sim.base_url());
    dashboard
}

/// Reads the settings from the written configuration file, as the next start does.
fn written_settings(folder: &Path) -> Settings {
    let global_options = GlobalOptions {
        config: Some(folder.join("config.toml")),
        data_dir: Some(folder.to_owned()),
        ..GlobalOptions::default()
    };
    match resolve(&global_options, &Environment::default()) {
        Ok(SetupState::Ready(settings)) => *settings,
        other => panic!("not ready: {other:?}"),
    }
}

fn has_config_file(folder: &Path) -> bool {
    folder.join("config.toml").exists()
}

/// Waits until the welcome page asks for confirmation, and returns its question.
async fn until_confirmation(dashboard: &mut DashboardFixture) -> String {
    dashboard.wait_until("a question", |dashboard| dashboard.app.top::<ConfirmDialog>().is_some()).await;
    dashboard.app.top::<ConfirmDialog>().expect("a question").text.clone()
}

fn has_started(dashboard: &DashboardFixture) -> bool {
    dashboard.requested_effects.last() == Some(&Effect::Relaunch(RelaunchTarget::Dashboard))
}

#[tokio::test]
async fn a_valid_api_key_is_tested_with_one_request_saved_and_used() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = open_filled_welcome(folder.path(), &sim);
    for _ in ["organization", "certificates", "name"] {
        dashboard.press_key(KeyCode::Enter);
    }
    dashboard.press_chars("work");
    for _ in ["to the button", "save"] {
        dashboard.press_key(KeyCode::Enter);
    }
    dashboard.wait_until("the dashboard", has_started).await;
    assert_eq!(sim.requests(Operation::GetJob), 1);
    assert_eq!(
        sim.requests(Operation::Views) + sim.requests(Operation::Create),
        0,
        "no request counts against an hourly limit"
    );
    let settings = written_settings(folder.path());
    assert_eq!((settings.profile.as_str(), settings.scope.base_url.as_str()), ("work", sim.base_url().as_str()));
    assert!(matches!(settings.key, KeySource::Literal(key) if key.expose() == sim.api_key()));
    let ready = dashboard.app.find::<Welcome>().and_then(Welcome::profile_to_start).expect("what follows");
    assert_eq!((ready.key.expose(), ready.profile.scope()), (sim.api_key(), settings.scope));
    assert!(ready.greeting.as_str().contains("The key works"), "{}", ready.greeting);
    assert!(
        !format!("{:?} {ready:?}", dashboard.requested_effects).contains(sim.api_key()),
        "no debug output contains the key"
    );
}

#[tokio::test]
async fn after_a_rejected_api_key_the_user_is_asked_and_the_typed_values_stay() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = open_welcome(folder.path());
    fill_form(&mut dashboard, "mint_wrong", sim.project(), &sim.base_url());
    dashboard.press_ctrl('s');
    let question = until_confirmation(&mut dashboard).await;
    assert!(question.contains("refused the key") && question.ends_with("Save the profile anyway?"), "{question}");
    dashboard.press_chars("n");
    dashboard.assert_shows("refused the key");
    dashboard.assert_shows(sim.project());
    dashboard.assert_shows("••••••••••");
    assert!(!has_config_file(folder.path()));
    // Moves back up to the API key field, and clears it.
    for _ in ["key source", "more", "button", "project", "key"] {
        dashboard.press_key(KeyCode::Up);
    }
    dashboard.press_ctrl('u');
    dashboard.paste(sim.api_key());
    dashboard.press_ctrl('s');
    dashboard.wait_until("the dashboard", has_started).await;
    assert_eq!(sim.requests(Operation::GetJob), 2);
}

#[tokio::test]
async fn an_unknown_project_is_saved_after_confirmation() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = open_welcome(folder.path());
    fill_form(&mut dashboard, sim.api_key(), "other-docs", &sim.base_url());
    dashboard.press_ctrl('s');
    let question = until_confirmation(&mut dashboard).await;
    assert!(
        question.contains("the project was not found") && question.ends_with("Save the profile anyway?"),
        "{question}"
    );
    dashboard.press_chars("y");
    dashboard.wait_until("the dashboard", has_started).await;
    assert_eq!(written_settings(folder.path()).scope.project, "other-docs");
}

#[tokio::test]
async fn if_the_service_is_unreachable_the_settings_can_still_be_saved() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = open_filled_welcome(folder.path(), &sim);
    sim.stop().await;
    dashboard.press_ctrl('s');
    let question = until_confirmation(&mut dashboard).await;
    assert!(
        question.contains("Could not reach 127.0.0.1") && question.ends_with("Save the profile anyway?"),
        "{question}"
    );
    dashboard.press_chars("y");
    dashboard.wait_until("the dashboard", has_started).await;
    assert!(has_config_file(folder.path()));
}

#[tokio::test]
async fn testing_the_api_key_writes_no_configuration_file() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = open_filled_welcome(folder.path(), &sim);
    dashboard.press_ctrl('t');
    dashboard.wait_until_shown("✓ The key works").await;
    set_faults(&sim, &["get=503"]);
    dashboard.press_ctrl('t');
    dashboard.wait_until_shown("! The service failed (503").await;
    assert!(!has_config_file(folder.path()) && dashboard.app.top::<Welcome>().is_some());
}

#[tokio::test]
async fn after_the_key_test_is_cancelled_its_response_causes_no_configuration_file() {
    let (sim, folder) = (start_sim(&["get=latency-150"]).await, create_folder());
    let mut dashboard = open_filled_welcome(folder.path(), &sim);
    dashboard.press_ctrl('s');
    dashboard.wait_until_shown("Testing the key (one request)…").await;
    dashboard.press_key(KeyCode::Esc);
    dashboard.assert_shows("Cancelled. Nothing was saved.");
    dashboard.wait_until("the request at the service", |_| sim.requests(Operation::GetJob) == 1).await;
    dashboard.run_for(Duration::from_millis(400)).await;
    assert!(!has_config_file(folder.path()) && !has_started(&dashboard));
    dashboard.assert_shows("Cancelled. Nothing was saved.");
}

#[tokio::test]
async fn a_profile_is_added_to_an_existing_configuration_file_after_confirmation() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mine = "# mine\n[ui]\nascii = true # really\n";
    std::fs::write(folder.path().join("config.toml"), mine).expect("written");
    let mut dashboard = open_filled_welcome(folder.path(), &sim);
    dashboard.press_ctrl('s');
    assert!(until_confirmation(&mut dashboard).await.contains("Add the profile default?"));
    dashboard.press_chars("n");
    assert_eq!(std::fs::read_to_string(folder.path().join("config.toml")).expect("there"), mine);
    dashboard.press_ctrl('s');
    assert!(until_confirmation(&mut dashboard).await.contains("Add the profile default?"));
    dashboard.press_chars("y");
    dashboard.wait_until("the dashboard", has_started).await;
    let text = std::fs::read_to_string(folder.path().join("config.toml")).expect("there");
    assert!(text.starts_with("# mine\n[ui]\nascii = true # really\n"), "{text}");
    assert_eq!(written_settings(folder.path()).scope.project, sim.project());
}

#[tokio::test]
async fn adding_a_project_to_a_profile_keeps_its_api_key_source() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let key = folder.path().join("key");
    std::fs::write(&key, sim.api_key()).expect("written");
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("mode");
    std::fs::write(folder.path().join("config.toml"), "[profiles.docs]\napi_key_file = \"key\" # mine\n")
        .expect("written");
    let set = ExistingSettings { profile: "docs".to_owned(), key: KeyPresence::File, ..ExistingSettings::default() };
    let mut dashboard = DashboardFixture::start_welcome(folder.path(), &set, Some(KeySource::File(key)));
    dashboard.assert_shows("API key       unchanged");
    dashboard.press_chars(sim.project());
    type_base_url(&mut dashboard, &sim.base_url());
    dashboard.press_ctrl('s');
    assert!(until_confirmation(&mut dashboard).await.contains("already has a profile docs. Update it?"));
    dashboard.press_chars("y");
    dashboard.wait_until("the dashboard", has_started).await;
    let text = std::fs::read_to_string(folder.path().join("config.toml")).expect("there");
    assert!(text.contains("api_key_file = \"key\" # mine"), "{text}");
    assert_eq!(written_settings(folder.path()).scope.project, sim.project());
}

#[tokio::test]
async fn a_failing_api_key_command_can_be_saved_and_the_welcome_page_stays_open() {
    let folder = create_folder();
    let mut dashboard = open_with_key_source(folder.path(), KeySourceChoice::Command);
    dashboard.press_chars("false");
    dashboard.press_key(KeyCode::Enter);
    dashboard.press_chars("my-docs");
    dashboard.press_ctrl('s');
    let question = until_confirmation(&mut dashboard).await;
    assert!(
        question.contains("The API key command false failed with code 1")
            && question.ends_with("Save the profile anyway?"),
        "{question}"
    );
    dashboard.press_chars("y");
    dashboard.wait_until_shown("The key can't be read yet: correct it here").await;
    assert!(matches!(written_settings(folder.path()).key, KeySource::Command(words) if words == ["false"]));
    assert!(!has_started(&dashboard));
}

#[tokio::test]
async fn if_the_environment_variable_of_the_key_is_unset_no_request_is_sent() {
    let folder = create_folder();
    let mut dashboard = open_with_key_source(folder.path(), KeySourceChoice::Variable);
    for _ in ["more", "button", "project"] {
        dashboard.press_key(KeyCode::Up);
    }
    dashboard.press_chars("my-docs");
    dashboard.press_ctrl('t');
    dashboard.wait_until_shown("DOCDECK_API_KEY is not set in this shell, so").await;
    dashboard.press_ctrl('s');
    dashboard.wait_until_shown("Set DOCDECK_API_KEY in your shell").await;
    assert!(has_config_file(folder.path()) && !has_started(&dashboard));
}

#[tokio::test]
async fn a_missing_value_is_reported_at_its_field_and_no_request_is_sent() {
    let folder = create_folder();
    let mut dashboard = open_welcome(folder.path());
    dashboard.press_ctrl('s');
    dashboard.assert_shows("Type or paste the key.");
    dashboard.press_chars("mint_k");
    dashboard.press_ctrl('s');
    dashboard.assert_shows("Enter the project id.");
    dashboard.press_chars("demo quits not");
    assert!(dashboard.requested_effects.is_empty(), "letters are text: {:?}", dashboard.requested_effects);
    dashboard.press_ctrl('d');
    assert_eq!(dashboard.requested_effects, [Effect::Relaunch(RelaunchTarget::Demo)]);
}

#[tokio::test]
async fn text_typed_or_pasted_on_the_key_source_goes_to_its_input_field() {
    let folder = create_folder();
    let mut dashboard = open_with_key_source(folder.path(), KeySourceChoice::Typed);
    dashboard.press_chars("hjkldq");
    dashboard.assert_shows("API key       ••••••");
    assert!(dashboard.requested_effects.is_empty(), "no letter is a key: {:?}", dashboard.requested_effects);
    let mut dashboard = open_with_key_source(folder.path(), KeySourceChoice::File);
    dashboard.paste("~/key");
    dashboard.assert_shows("file          ~/key");
}

#[tokio::test]
async fn a_key_from_the_environment_needs_no_typing_and_can_be_replaced_by_a_typed_one() {
    let folder = create_folder();
    let set = ExistingSettings { key: KeyPresence::Environment, ..ExistingSettings::default() };
    let mut dashboard = DashboardFixture::start_welcome(folder.path(), &set, None);
    dashboard.assert_shows("API key       from DOCDECK_API_KEY");
    dashboard.press_key(KeyCode::Up);
    dashboard.paste("mint_k");
    dashboard.assert_shows("API key       ••••••");
    dashboard.assert_shows("DOCDECK_API_KEY is set in this shell");
}

#[tokio::test]
async fn values_that_docdeck_rejects_cannot_be_saved() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = open_welcome(folder.path());
    fill_form(&mut dashboard, sim.api_key(), sim.project(), "http://docs.example.com");
    dashboard.press_ctrl('s');
    dashboard.wait_until_shown("would send the key unencrypted to docs.example.com").await;
    assert!(dashboard.app.top::<Welcome>().is_some() && !has_config_file(folder.path()));
    let key = folder.path().join("key");
    std::fs::write(&key, sim.api_key()).expect("written");
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o644)).expect("mode");
    let mut dashboard = open_with_key_source(folder.path(), KeySourceChoice::File);
    dashboard.paste("key");
    dashboard.press_key(KeyCode::Enter);
    dashboard.press_chars(sim.project());
    dashboard.press_ctrl('s');
    dashboard.wait_until_shown("Other users can read").await;
    assert!(dashboard.app.top::<Welcome>().is_some() && !has_config_file(folder.path()));
    assert_eq!(sim.requests(Operation::GetJob), 0);
    // The file is now private, so another attempt can read the key.
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("mode");
    dashboard.press_ctrl('s');
    assert!(
        until_confirmation(&mut dashboard).await.ends_with("Save the profile anyway?"),
        "the default service can't be reached"
    );
}

#[tokio::test]
async fn the_first_empty_field_has_the_focus() {
    let folder = create_folder();
    let mut dashboard = open_welcome(folder.path());
    dashboard.press_chars("k");
    dashboard.assert_shows("API key       •");
    let set = ExistingSettings { key: KeyPresence::Environment, ..ExistingSettings::default() };
    let mut dashboard = DashboardFixture::start_welcome(folder.path(), &set, None);
    dashboard.press_chars("docs");
    dashboard.assert_shows("project id    docs");
}

#[tokio::test]
async fn a_tip_appears_once_per_computer() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.assert_shows("Tip: press ? for the shortcuts");
    dashboard.press_chars("2");
    dashboard.assert_shows("Tip: press a to load all pages");
    dashboard.press_chars("1");
    assert!(!dashboard.shows("Tip:"), "the tip for the jobs screen was shown before");
    dashboard.terminate().await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    assert!(!dashboard.shows("Tip:"));
    dashboard.press_chars("3");
    dashboard.assert_shows("Tip: every request");
}

#[tokio::test]
async fn tips_also_appear_if_the_command_line_created_the_database() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let (store, _) = Store::open(folder.path(), chrono::Utc::now()).expect("a store");
    store.add_new_job(&scope_of(&sim), "Fix the links", chrono::Utc::now()).await.expect("kept");
    store.close().await;
    let dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.assert_shows("Fix the links");
    dashboard.assert_shows("Tip: press ? for the shortcuts");
}

#[tokio::test]
async fn the_welcome_page_lists_no_shortcuts_of_unavailable_screens() {
    let folder = create_folder();
    let mut dashboard = open_welcome(folder.path());
    dashboard.press_key(KeyCode::F(1));
    dashboard.assert_shows("redraw the screen");
    assert!(
        !dashboard.shows("refresh from the service") && !dashboard.shows("switch to another profile"),
        "{}",
        dashboard.screen()
    );
    dashboard.press_key(KeyCode::Esc);
    dashboard.press_key(KeyCode::F(2));
    dashboard.press_chars("profiles switch to another");
    dashboard.assert_shows("No command matches “profiles switch to another”.");
}
