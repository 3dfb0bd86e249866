//! The first run: from the welcome page to a written configuration, with one request, whatever that request meets.

use crate::dashboard_fixture::{DashboardFixture, faults, folder, scope_of, sim};
use crossterm::event::KeyCode;
use docdeck::app::Effect;
use docdeck::app::dialog::Dialog;
use docdeck::app::welcome::Begin;
use docdeck::config::environment::Environment;
use docdeck::config::key::KeySource;
use docdeck::config::{Flags, Settings, SetupState, resolve};
use docdeck::model::log::Operation;
use docdeck::model::setup::{AlreadySet, KnownKey};
use docdeck::sim::Sim;
use docdeck::store::Store;
use std::path::Path;
use std::time::Duration;

/// Key and project are typed, and the service below *more*.
fn fill(desk: &mut DashboardFixture, key: &str, project: &str, url: &str) {
    desk.paste(key);
    desk.key(KeyCode::Enter);
    desk.keys(project);
    service(desk, url);
}

/// From the project to the base URL, which is folded.
fn service(desk: &mut DashboardFixture, url: &str) {
    desk.key(KeyCode::Tab);
    desk.key(KeyCode::Enter);
    desk.paste(url);
}

fn page(folder: &Path) -> DashboardFixture {
    DashboardFixture::welcome(folder, &AlreadySet::default(), None)
}

fn filled(folder: &Path, sim: &Sim) -> DashboardFixture {
    let mut desk = page(folder);
    fill(&mut desk, sim.api_key(), sim.project(), &sim.base_url());
    desk
}

/// As the next start reads it.
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

/// The question that is asked, once it is.
async fn question(desk: &mut DashboardFixture) -> String {
    desk.until("a question", |desk| matches!(desk.app.dialogs.last(), Some(Dialog::Question(_)))).await;
    match desk.app.dialogs.last() {
        Some(Dialog::Question(question)) => question.text.clone(),
        other => panic!("no question: {other:?}"),
    }
}

fn begins(desk: &DashboardFixture) -> bool {
    desk.asked.last() == Some(&Effect::Relaunch(Begin::Dashboard))
}

#[tokio::test]
async fn a_right_key_is_tried_once_written_and_gone_on_with() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = filled(folder.path(), &sim);
    for _ in ["organization", "certificates", "name"] {
        desk.key(KeyCode::Enter);
    }
    desk.keys("work");
    desk.key(KeyCode::Enter);
    desk.until("the dashboard", begins).await;
    assert_eq!(sim.requests(Operation::Get), 1);
    assert_eq!(sim.requests(Operation::Views) + sim.requests(Operation::Create), 0, "nothing that is limited");
    let settings = written(folder.path());
    assert_eq!((settings.profile.as_str(), settings.scope.base_url.as_str()), ("work", sim.base_url().as_str()));
    assert!(matches!(settings.key, KeySource::Given(key) if key.expose() == sim.api_key()));
    let ready = desk.app.welcome.as_ref().and_then(|page| page.ready()).expect("what follows");
    assert_eq!((ready.key.expose(), ready.profile.scope()), (sim.api_key(), settings.scope));
    assert!(ready.greeting.as_str().contains("did not refuse the key"), "{}", ready.greeting);
    assert!(!format!("{:?} {ready:?}", desk.asked).contains(sim.api_key()), "the key is printed nowhere");
}

#[tokio::test]
async fn a_wrong_key_is_asked_about_and_what_was_typed_stays() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = page(folder.path());
    fill(&mut desk, "mint_wrong", sim.project(), &sim.base_url());
    desk.ctrl('s');
    let asked = question(&mut desk).await;
    assert!(asked.contains("does not accept the key") && asked.ends_with("Save it anyway?"), "{asked}");
    desk.keys("n");
    desk.assert_shows("does not accept the key");
    desk.assert_shows(sim.project());
    desk.assert_shows("••••••••••");
    assert!(!is_written(folder.path()));
    // Up to the key, which is cleared at once.
    for _ in ["more", "project", "key"] {
        desk.key(KeyCode::Up);
    }
    desk.ctrl('u');
    desk.paste(sim.api_key());
    desk.ctrl('s');
    desk.until("the dashboard", begins).await;
    assert_eq!(sim.requests(Operation::Get), 2);
}

#[tokio::test]
async fn a_project_that_does_not_match_is_asked_about_and_saved_after_a_yes() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = page(folder.path());
    fill(&mut desk, sim.api_key(), "other-docs", &sim.base_url());
    desk.ctrl('s');
    let asked = question(&mut desk).await;
    assert!(asked.contains("does not seem to know the project") && asked.ends_with("Save it anyway?"), "{asked}");
    desk.keys("y");
    desk.until("the dashboard", begins).await;
    assert_eq!(written(folder.path()).scope.project, "other-docs");
}

#[tokio::test]
async fn a_service_that_is_down_stops_no_saving() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = filled(folder.path(), &sim);
    sim.stop().await;
    desk.ctrl('s');
    let asked = question(&mut desk).await;
    assert!(asked.contains("Nobody answers at 127.0.0.1") && asked.ends_with("Save it anyway?"), "{asked}");
    desk.keys("y");
    desk.until("the dashboard", begins).await;
    assert!(is_written(folder.path()));
}

#[tokio::test]
async fn a_test_alone_writes_nothing() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = filled(folder.path(), &sim);
    desk.ctrl('t');
    desk.until_shown("✓ The service did not refuse the key").await;
    faults(&sim, &["get=503"]);
    desk.ctrl('t');
    desk.until_shown("! The service failed (503").await;
    assert!(!is_written(folder.path()) && desk.app.dialogs.is_empty());
}

#[tokio::test]
async fn an_attempt_that_is_given_up_writes_nothing_when_its_answer_comes() {
    let (sim, folder) = (sim(&["get=latency-150"]).await, folder());
    let mut desk = filled(folder.path(), &sim);
    desk.ctrl('s');
    desk.until_shown("Asking the service, one request…").await;
    desk.key(KeyCode::Esc);
    desk.assert_shows("Canceled. Nothing was written.");
    desk.until("the request at the service", |_| sim.requests(Operation::Get) == 1).await;
    desk.go_on_for(Duration::from_millis(400)).await;
    assert!(!is_written(folder.path()) && !begins(&desk));
    desk.assert_shows("Canceled. Nothing was written.");
}

#[tokio::test]
async fn a_file_that_is_there_is_added_to_after_a_question() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mine = "# mine\n[ui]\nascii = true # really\n";
    std::fs::write(folder.path().join("config.toml"), mine).expect("written");
    let mut desk = filled(folder.path(), &sim);
    desk.ctrl('s');
    assert!(question(&mut desk).await.contains("Add the profile default to it?"));
    desk.keys("n");
    assert_eq!(std::fs::read_to_string(folder.path().join("config.toml")).expect("there"), mine);
    desk.ctrl('s');
    assert!(question(&mut desk).await.contains("Add the profile default to it?"));
    desk.keys("y");
    desk.until("the dashboard", begins).await;
    let text = std::fs::read_to_string(folder.path().join("config.toml")).expect("there");
    assert!(text.starts_with("# mine\n[ui]\nascii = true # really\n"), "{text}");
    assert_eq!(written(folder.path()).scope.project, sim.project());
}

#[tokio::test]
async fn a_profile_without_a_project_keeps_its_source_of_the_key() {
    let (sim, folder) = (sim(&[]).await, folder());
    let key = folder.path().join("key");
    std::fs::write(&key, sim.api_key()).expect("written");
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("mode");
    std::fs::write(folder.path().join("config.toml"), "[profiles.docs]\napi_key_file = \"key\" # mine\n")
        .expect("written");
    let set = AlreadySet { profile: "docs".to_owned(), key: KnownKey::File, ..AlreadySet::default() };
    let mut desk = DashboardFixture::welcome(folder.path(), &set, Some(KeySource::File(key)));
    desk.assert_shows("[as it is]");
    desk.keys(sim.project());
    service(&mut desk, &sim.base_url());
    desk.ctrl('s');
    assert!(question(&mut desk).await.contains("already has a profile docs. Change it?"));
    desk.keys("y");
    desk.until("the dashboard", begins).await;
    let text = std::fs::read_to_string(folder.path().join("config.toml")).expect("there");
    assert!(text.contains("api_key_file = \"key\" # mine"), "{text}");
    assert_eq!(written(folder.path()).scope.project, sim.project());
}

#[tokio::test]
async fn a_program_that_fails_can_be_saved_and_the_page_stays() {
    let folder = folder();
    let mut desk = page(folder.path());
    desk.key(KeyCode::Up);
    desk.key(KeyCode::Left);
    desk.key(KeyCode::Left);
    desk.keys("false");
    desk.key(KeyCode::Enter);
    desk.keys("my-docs");
    desk.ctrl('s');
    let asked = question(&mut desk).await;
    assert!(
        asked.contains("The API key command false ended with code 1") && asked.ends_with("Save it anyway?"),
        "{asked}"
    );
    desk.keys("y");
    desk.until_shown("docdeck begins here once the key can be read").await;
    assert!(matches!(written(folder.path()).key, KeySource::Command(words) if words == ["false"]));
    assert!(!begins(&desk));
}

#[tokio::test]
async fn a_variable_that_is_not_set_asks_nobody() {
    let folder = folder();
    let mut desk = page(folder.path());
    desk.key(KeyCode::Up);
    desk.key(KeyCode::Right);
    desk.assert_shows("[environment]");
    desk.key(KeyCode::Enter);
    desk.keys("my-docs");
    desk.ctrl('t');
    desk.until_shown("DOCDECK_API_KEY is not set in this shell, so").await;
    desk.ctrl('s');
    desk.until_shown("Set DOCDECK_API_KEY in your shell").await;
    assert!(is_written(folder.path()) && !begins(&desk));
}

#[tokio::test]
async fn what_is_missing_is_said_where_it_is_missing_and_asks_nobody() {
    let folder = folder();
    let mut desk = page(folder.path());
    desk.ctrl('s');
    desk.assert_shows("Type or paste the key.");
    desk.keys("mint_k");
    desk.ctrl('s');
    desk.assert_shows("The project id is missing.");
    desk.keys("demo quits not");
    assert!(desk.asked.is_empty(), "letters are text: {:?}", desk.asked);
    desk.ctrl('d');
    assert_eq!(desk.asked, [Effect::Relaunch(Begin::Demo)]);
}

#[tokio::test]
async fn letters_and_pastes_on_a_choice_go_to_its_input_field() {
    let folder = folder();
    let mut desk = page(folder.path());
    desk.key(KeyCode::Up);
    desk.keys("hjkldq");
    desk.assert_shows("••••••");
    assert!(desk.asked.is_empty(), "no letter is a key: {:?}", desk.asked);
    desk.key(KeyCode::Up);
    desk.key(KeyCode::Right);
    desk.assert_shows("[environment]");
    desk.paste("mint_k");
    desk.assert_shows("[typed here]");
    desk.assert_shows("••••••••••••");
    desk.key(KeyCode::Up);
    desk.key(KeyCode::Left);
    desk.paste("~/key");
    desk.assert_shows("file         ~/key");
}

#[tokio::test]
async fn what_docdeck_refuses_is_not_offered_to_be_saved() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = page(folder.path());
    fill(&mut desk, sim.api_key(), sim.project(), "http://docs.example.com");
    desk.ctrl('s');
    desk.until_shown("would send the key unencrypted to docs.example.com").await;
    assert!(desk.app.dialogs.is_empty() && !is_written(folder.path()));
    let key = folder.path().join("key");
    std::fs::write(&key, sim.api_key()).expect("written");
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o644)).expect("mode");
    let mut desk = page(folder.path());
    desk.key(KeyCode::Up);
    desk.key(KeyCode::Left);
    desk.paste("key");
    desk.key(KeyCode::Enter);
    desk.keys(sim.project());
    desk.ctrl('s');
    desk.until_shown("Others on this computer can read").await;
    assert!(desk.app.dialogs.is_empty() && !is_written(folder.path()));
    assert_eq!(sim.requests(Operation::Get), 0);
    // The field has the focus, and what is typed corrects it.
    std::fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600)).expect("mode");
    desk.ctrl('s');
    assert!(question(&mut desk).await.ends_with("Save it anyway?"), "the usual service is not there");
}

#[tokio::test]
async fn the_first_empty_field_has_the_focus() {
    let folder = folder();
    let mut desk = page(folder.path());
    desk.keys("k");
    desk.assert_shows("key          •");
    let set = AlreadySet { key: KnownKey::Environment, ..AlreadySet::default() };
    let mut desk = DashboardFixture::welcome(folder.path(), &set, None);
    desk.keys("docs");
    desk.assert_shows("project id   docs");
}

#[tokio::test]
async fn a_tip_comes_once_on_this_computer() {
    let (sim, folder) = (sim(&[]).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.assert_shows("Tip: ? lists the keys of the moment");
    desk.keys("2");
    desk.assert_shows("Tip: a loads all pages");
    desk.keys("1");
    assert!(!desk.shows("Tip:"), "the jobs' was given");
    desk.terminate().await;
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    assert!(!desk.shows("Tip:"));
    desk.keys("3");
    desk.assert_shows("Tip: every request");
}

#[tokio::test]
async fn a_record_that_the_command_line_began_is_given_tips_as_well() {
    let (sim, folder) = (sim(&[]).await, folder());
    let (store, _) = Store::open(folder.path(), chrono::Utc::now()).expect("a store");
    store.add_new_job(&scope_of(&sim), "Fix the links", chrono::Utc::now()).await.expect("kept");
    store.close().await;
    let desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.assert_shows("Fix the links");
    desk.assert_shows("Tip: ? lists the keys of the moment");
}

#[tokio::test]
async fn the_first_page_lists_no_keys_of_screens_that_are_not_there_yet() {
    let folder = folder();
    let mut desk = page(folder.path());
    desk.key(KeyCode::F(1));
    desk.assert_shows("repaint the screen");
    assert!(!desk.shows("ask the service again") && !desk.shows("profiles: turn"), "{}", desk.screen());
    desk.key(KeyCode::Esc);
    desk.key(KeyCode::F(2));
    desk.keys("profiles turn to another");
    desk.assert_shows("Nothing does that here.");
}
