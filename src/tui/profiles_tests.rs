//! Tests of switching to another profile.

use super::*;
use crate::model::endpoint::Scope;
use crate::model::failure::FailureKind;
use crate::model::prompt::DraftTarget;
use crate::model::remote_job::Status;
use crate::tui::jobs::tests::{at, row};
use crate::tui::{InitialData, JobsEffect, JobsMsg, Msg, ProfilesEffect, ProfilesMsg, PromptsEffect, StoreState};
use chrono::FixedOffset;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

fn scope(project: &str) -> Scope {
    Scope { base_url: "https://api.example.com".into(), project: project.into(), organization: None }
}

fn profile(name: &str, problem: Option<&str>) -> ProfileEntry {
    ProfileEntry { name: CleanText::line(name), scope: Some(scope(name)), problem: problem.map(CleanText::line) }
}

fn app() -> App {
    let profiles = vec![profile("a", None), profile("b", None), profile("c", Some("No API key."))];
    let start = AppConfig {
        size: (120, 40),
        profile: CleanText::line("a"),
        profiles,
        ..AppConfig::new(scope("a"), FixedOffset::east_opt(0).expect("UTC"))
    };
    let (mut app, _) = App::new(start, at(0));
    let known = InitialData { jobs: vec![row(1, Status::Active)], ..InitialData::default() };
    app.update(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(known)))), at(0));
    app
}

fn press(app: &mut App, code: KeyCode) -> Vec<Effect> {
    app.update(Msg::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))), at(1))
}

fn type_keys(app: &mut App, keys: &str) -> Vec<Effect> {
    keys.chars().flat_map(|c| press(app, KeyCode::Char(c))).collect()
}

fn api_key() -> ApiKey {
    ApiKey::new("mint_b").expect("a key")
}

fn key_refused_failure() -> Failure {
    Failure::new(FailureKind::KeyRefused, "The service refused the key.")
}

/// Returns a dashboard with profile `a` while it switches to profile `b`.
fn app_switching_to_b() -> App {
    let mut app = app();
    type_keys(&mut app, "Pj");
    assert_eq!(press(&mut app, KeyCode::Enter), [Effect::Profiles(ProfilesEffect::ReadProfileKey(1))]);
    app
}

fn message(app: &App) -> &str {
    let dialog = app.top::<ProfilesDialog>().expect("the profiles");
    dialog.message.as_ref().expect("a message").as_str()
}

#[test]
fn a_valid_api_key_restarts_the_dashboard_with_the_other_profile() {
    let mut app = app_switching_to_b();
    assert_eq!(
        app.update(Msg::Profiles(ProfilesMsg::ProfileKeyRead(1, Ok(api_key()))), at(2)),
        [Effect::Profiles(ProfilesEffect::TestProfileKey(1, api_key()))]
    );
    let effects = app.update(Msg::Profiles(ProfilesMsg::ProfileKeyTested(1, Ok((api_key(), None)))), at(3));
    assert_eq!(
        effects[..2],
        [
            Effect::Profiles(ProfilesEffect::SwitchProfile(1, api_key())),
            Effect::Jobs(JobsEffect::LoadFirstRows(app.size.1.into()))
        ]
    );
    assert_eq!(
        (app.config.profile.as_str(), app.config.scope.project.as_str(), app.config.current_profile),
        ("b", "b", 1)
    );
    assert!(app.jobs.is_empty() && app.store == StoreState::Reading && app.dialogs.is_empty());
    assert_eq!(
        app.notice.as_ref().map(|notice| notice.text.as_str()),
        Some("Switched to b: project b at api.example.com.")
    );
    // The new profile is now selected in the list, so `k` selects the first one again.
    type_keys(&mut app, "Pk");
    assert_eq!(press(&mut app, KeyCode::Enter), [Effect::Profiles(ProfilesEffect::ReadProfileKey(0))]);
}

#[test]
fn if_an_api_key_is_refused_or_unreadable_the_current_profile_stays() {
    let mut app = app_switching_to_b();
    app.update(Msg::Profiles(ProfilesMsg::ProfileKeyRead(1, Err(key_refused_failure()))), at(2));
    assert_eq!(message(&app), "Still on a: b can't be used. The service refused the key.");
    assert_eq!(
        press(&mut app, KeyCode::Enter),
        [Effect::Profiles(ProfilesEffect::ReadProfileKey(1))],
        "and can be tried again"
    );
    app.update(Msg::Profiles(ProfilesMsg::ProfileKeyRead(1, Ok(api_key()))), at(2));
    assert_eq!(app.update(Msg::Profiles(ProfilesMsg::ProfileKeyTested(1, Err(key_refused_failure()))), at(3)), []);
    assert!(message(&app).starts_with("Still on a"));
    assert_eq!((app.config.profile.as_str(), app.jobs.len()), ("a", 1));
}

#[test]
fn closing_the_list_cancels_the_switch() {
    let mut app = app_switching_to_b();
    press(&mut app, KeyCode::Esc);
    assert_eq!(app.update(Msg::Profiles(ProfilesMsg::ProfileKeyRead(1, Ok(api_key()))), at(2)), []);
    let mut app = app_switching_to_b();
    app.update(Msg::Profiles(ProfilesMsg::ProfileKeyRead(1, Ok(api_key()))), at(2));
    press(&mut app, KeyCode::Esc);
    assert_eq!(app.update(Msg::Profiles(ProfilesMsg::ProfileKeyTested(1, Ok((api_key(), None)))), at(3)), []);
    assert_eq!(app.config.profile.as_str(), "a");
}

#[test]
fn choosing_an_incomplete_profile_shows_its_problem_and_choosing_the_current_profile_closes_the_list() {
    let mut app = app();
    type_keys(&mut app, "PG");
    assert_eq!(press(&mut app, KeyCode::Enter), []);
    assert_eq!(message(&app), "Can't switch to c. No API key.");
    type_keys(&mut app, "g");
    press(&mut app, KeyCode::Enter);
    assert!(app.dialogs.is_empty());
}

#[test]
fn no_other_profile_can_be_selected_during_a_switch() {
    let mut app = app_switching_to_b();
    type_keys(&mut app, "kkn");
    assert_eq!(press(&mut app, KeyCode::Enter), []);
    assert!(app.top::<ProfilesDialog>().is_some_and(|dialog| dialog.list.selected() == 1));
}

#[test]
fn typed_text_is_saved_before_the_switch() {
    let mut app = app();
    let mut effects = type_keys(&mut app, "b");
    effects.extend(type_keys(&mut app, "One prompt"));
    effects.extend(app.update(Msg::Input(Event::Key(KeyEvent::new(KeyCode::Char('s'), KeyModifiers::CONTROL))), at(0)));
    effects.extend(type_keys(&mut app, "Pj"));
    effects.extend(press(&mut app, KeyCode::Enter));
    let place = |wanted: &Effect| effects.iter().position(|effect| effect == wanted);
    let saved = place(&Effect::Prompts(PromptsEffect::SaveDraft(DraftTarget::Batch, "One prompt".into())));
    assert!(saved.is_some() && saved < place(&Effect::Profiles(ProfilesEffect::ReadProfileKey(1))), "{effects:?}");
}

#[test]
fn a_profile_can_be_added_from_the_list_except_in_the_demo() {
    let mut app = app();
    app.config.profiles.truncate(1);
    app.config.config_path = Some(CleanText::line("/c/config.toml"));
    type_keys(&mut app, "Pn");
    assert!(app.dialogs.len() == 2 && app.top::<Welcome>().is_some());
    type_keys(&mut app, "q1");
    press(&mut app, KeyCode::Esc);
    assert_eq!(app.dialogs.len(), 1, "letters are typed, Esc goes back to the list");
    press(&mut app, KeyCode::Esc);
    (app.config.config_path, app.config.profiles) = (None, Vec::new());
    type_keys(&mut app, "P");
    assert!(app.dialogs.is_empty());
    assert_eq!(app.notice.as_ref().map(|notice| notice.text.as_str()), Some("The demo has only one profile."));
}

#[test]
fn an_answer_to_a_closed_setup_dialog_is_ignored_by_a_new_one() {
    let mut app = app();
    app.config.config_path = Some(CleanText::line("/c/config.toml"));
    let attempt = |app: &mut App| {
        type_keys(app, "Pn");
        type_keys(app, "mint_k");
        press(app, KeyCode::Enter);
        type_keys(app, "docs");
        press(app, KeyCode::Enter);
        type_keys(app, "new");
        assert_eq!(press(app, KeyCode::Enter), [], "to the button");
        match press(app, KeyCode::Enter).as_slice() {
            [Effect::Profiles(ProfilesEffect::CheckProfile { attempt, .. })] => *attempt,
            other => panic!("no attempt: {other:?}"),
        }
    };
    let first = attempt(&mut app);
    for _ in ["the attempt", "the form", "the list"] {
        press(&mut app, KeyCode::Esc);
    }
    let second = attempt(&mut app);
    assert_ne!(first, second);
    assert_eq!(app.update(Msg::Profiles(ProfilesMsg::ProfileChecked { attempt: first, result: Ok(()) }), at(2)), []);
    let asked = app.update(Msg::Profiles(ProfilesMsg::ProfileChecked { attempt: second, result: Ok(()) }), at(2));
    assert!(
        matches!(asked.as_slice(), [Effect::Profiles(ProfilesEffect::ReadNewProfileKey { attempt, .. })] if *attempt == second),
        "{asked:?}"
    );
}

#[test]
fn after_a_switch_the_layout_is_that_of_the_new_profile_and_the_mouse_setting_stays() {
    use crate::model::layout::Layout;
    let data = || InitialData { jobs: vec![row(1, Status::Failed)], ..InitialData::default() };
    let mut app = app();
    app.update(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(data())))), at(0));
    app.config.layout = Some(Layout::default());
    app.restore_layout(at(0), &mut Vec::new());
    type_keys(&mut app, "Msi");
    type_keys(&mut app, "Pj");
    press(&mut app, KeyCode::Enter);
    app.update(Msg::Profiles(ProfilesMsg::ProfileKeyRead(1, Ok(api_key()))), at(1));
    let effects = app.update(Msg::Profiles(ProfilesMsg::ProfileKeyTested(1, Ok((api_key(), None)))), at(1));
    let saved = effects.iter().find_map(|effect| match effect {
        Effect::SaveLayout { key, text } => Some((key.clone(), Layout::parse(text))),
        _ => None,
    });
    let (old, layout) = saved.expect("the old layout is saved first");
    assert!(layout.details_hidden && layout.jobs.sort.is_some());
    assert!(!app.is_mouse_enabled() && !app.geometry().shows_both_panes(), "the current layout stays for now");
    let new = app.config.layout_store_key();
    assert!(old != new && effects.contains(&Effect::LoadLayout(new.clone())));
    app.update(Msg::LayoutLoaded(old, Some(layout)), at(1));
    assert_eq!(app.jobs.sorting().by.name(), "group", "a late answer about the old profile is ignored");
    let saved_layout = Layout::parse("{\"jobs\":{\"sort\":{\"by\":\"status\",\"reversed\":false}}}");
    app.update(Msg::LayoutLoaded(new, Some(saved_layout)), at(1));
    assert_eq!((app.jobs.sorting().by.name(), app.geometry().shows_both_panes()), ("status", true));
    assert_eq!(app.connection, ConnectionState::Ready, "the service took the key");
    for later in [ConnectionState::Connecting, ConnectionState::Unknown] {
        app.update(Msg::Engine(crate::model::engine_event::EngineEvent::ConnectionState(later)), at(1));
        assert_eq!(app.connection, ConnectionState::Ready, "and that still counts");
    }
    app.update(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(data())))), at(1));
    type_keys(&mut app, "i");
    assert!(app.update(Msg::Terminate, at(2)).iter().any(|effect| matches!(effect, Effect::SaveLayout { .. })));
}

#[test]
fn after_a_switch_an_unreachable_service_is_shown_as_offline() {
    let mut app = app_switching_to_b();
    app.update(Msg::Profiles(ProfilesMsg::ProfileKeyRead(1, Ok(api_key()))), at(2));
    let unreachable = Failure::new(FailureKind::Offline, "The service can't be reached: connection refused.");
    app.update(Msg::Profiles(ProfilesMsg::ProfileKeyTested(1, Ok((api_key(), Some(unreachable))))), at(3));
    assert!(matches!(app.connection, ConnectionState::Offline { next_try: None, .. }));
    let message = app.notice.as_ref().map(|notice| notice.text.to_string()).unwrap_or_default();
    assert!(
        message.starts_with("Switched to ") && message.contains("showing stored jobs. The service can't be reached"),
        "{message}"
    );
}
