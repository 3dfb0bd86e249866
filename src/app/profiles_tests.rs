//! Choosing a profile, and what becomes of the state.

use super::*;
use crate::app::jobs::tests::{at, row};
use crate::app::{InitialData, Msg, StoreState};
use crate::model::failure::FailureKind;
use crate::model::job::Status;
use crate::model::prompt::DraftSlot;
use chrono::FixedOffset;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

fn scope(project: &str) -> Scope {
    Scope { base_url: "https://api.example.com".into(), project: project.into(), organization: None }
}

fn profile(name: &str, lacks: Option<&str>) -> ProfileEntry {
    ProfileEntry { name: CleanText::line(name), scope: Some(scope(name)), lacks: lacks.map(CleanText::line) }
}

fn app() -> App {
    let profiles = vec![profile("a", None), profile("b", None), profile("c", Some("It has no key of its own."))];
    let start = AppConfig {
        size: (120, 40),
        profile: CleanText::line("a"),
        profiles,
        ..AppConfig::new(scope("a"), FixedOffset::east_opt(0).expect("UTC"))
    };
    let (mut app, _) = App::new(start, at(0));
    let known = InitialData { jobs: vec![row(1, Status::Active)], ..InitialData::default() };
    app.update(Msg::Loaded(Ok(Box::new(known))), at(0));
    app
}

fn press(app: &mut App, code: KeyCode) -> Vec<Effect> {
    app.update(Msg::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))), at(1))
}

fn keys(app: &mut App, keys: &str) -> Vec<Effect> {
    keys.chars().flat_map(|c| press(app, KeyCode::Char(c))).collect()
}

fn key() -> ApiKey {
    ApiKey::new("mint_b").expect("a key")
}

fn refused() -> Failure {
    Failure::new(FailureKind::KeyRefused, "The service does not accept the key.")
}

/// `b` is chosen.
fn chosen() -> App {
    let mut app = app();
    keys(&mut app, "Pj");
    assert_eq!(press(&mut app, KeyCode::Enter), [Effect::ReadProfileKey(1)]);
    app
}

fn said(app: &App) -> &str {
    match app.dialogs.last() {
        Some(Dialog::Profiles(open)) => open.said.as_ref().expect("said").as_str(),
        other => panic!("no profiles: {other:?}"),
    }
}

#[test]
fn a_good_key_begins_everything_anew_on_the_other_profile() {
    let mut app = chosen();
    assert_eq!(app.update(Msg::ProfileKey(1, Ok(key())), at(2)), [Effect::TryProfileKey(1, key())]);
    let effects = app.update(Msg::KeyTried(1, Ok((key(), None))), at(3));
    assert_eq!(effects[..2], [Effect::SwitchProfile(1, key()), Effect::LoadFirstRows(app.size.1.into())]);
    assert_eq!((app.config.profile.as_str(), app.config.scope.project.as_str(), app.config.current), ("b", "b", 1));
    assert!(app.jobs.is_empty() && app.store == StoreState::Reading && app.dialogs.is_empty());
    assert_eq!(app.notice.as_ref().map(|notice| notice.text.as_str()), Some("Now on b: b at api.example.com."));
    // What it says from now on is about itself.
    keys(&mut app, "Pk");
    assert_eq!(press(&mut app, KeyCode::Enter), [Effect::ReadProfileKey(0)]);
}

#[test]
fn a_key_that_is_refused_or_can_not_be_read_leaves_the_old_profile_as_it_is() {
    let mut app = chosen();
    app.update(Msg::ProfileKey(1, Err(refused())), at(2));
    assert_eq!(said(&app), "Still on a: b can't be used. The service does not accept the key.");
    assert_eq!(press(&mut app, KeyCode::Enter), [Effect::ReadProfileKey(1)], "and can be tried again");
    app.update(Msg::ProfileKey(1, Ok(key())), at(2));
    assert_eq!(app.update(Msg::KeyTried(1, Err(refused())), at(3)), []);
    assert!(said(&app).starts_with("Still on a"));
    assert_eq!((app.config.profile.as_str(), app.jobs.len()), ("a", 1));
}

#[test]
fn who_closes_the_list_meanwhile_stays_where_they_are() {
    let mut app = chosen();
    press(&mut app, KeyCode::Esc);
    assert_eq!(app.update(Msg::ProfileKey(1, Ok(key())), at(2)), []);
    let mut app = chosen();
    app.update(Msg::ProfileKey(1, Ok(key())), at(2));
    press(&mut app, KeyCode::Esc);
    assert_eq!(app.update(Msg::KeyTried(1, Ok((key(), None))), at(3)), []);
    assert_eq!(app.config.profile.as_str(), "a");
}

#[test]
fn a_profile_that_lacks_something_says_so_and_the_present_one_closes_the_list() {
    let mut app = app();
    keys(&mut app, "PG");
    assert_eq!(press(&mut app, KeyCode::Enter), []);
    assert_eq!(said(&app), "c can't be turned to. It has no key of its own.");
    keys(&mut app, "g");
    press(&mut app, KeyCode::Enter);
    assert!(app.dialogs.is_empty());
}

#[test]
fn while_one_is_opened_nothing_else_is_chosen() {
    let mut app = chosen();
    keys(&mut app, "kkn");
    assert_eq!(press(&mut app, KeyCode::Enter), []);
    assert!(matches!(app.dialogs.as_slice(), [Dialog::Profiles(open)] if open.selected() == 1));
}

#[test]
fn what_is_typed_is_saved_where_it_belongs_before_anything_turns() {
    let mut app = app();
    let mut effects = keys(&mut app, "b");
    effects.extend(keys(&mut app, "One prompt"));
    effects.extend(app.update(Msg::Input(Event::Key(KeyEvent::new(KeyCode::Char('s'), KeyModifiers::CONTROL))), at(0)));
    effects.extend(keys(&mut app, "Pj"));
    effects.extend(press(&mut app, KeyCode::Enter));
    let place = |wanted: &Effect| effects.iter().position(|effect| effect == wanted);
    let saved = place(&Effect::SaveDraft(DraftSlot::Batch, "One prompt".into()));
    assert!(saved.is_some() && saved < place(&Effect::ReadProfileKey(1)), "{effects:?}");
}

#[test]
fn without_another_profile_the_list_offers_to_add_one_and_the_demo_says_why_not() {
    let mut app = app();
    app.config.profiles.truncate(1);
    app.config.config = Some(CleanText::line("/c/config.toml"));
    keys(&mut app, "Pn");
    assert!(matches!(app.dialogs.as_slice(), [Dialog::Profiles(_), Dialog::Setup(_)]));
    keys(&mut app, "q1");
    press(&mut app, KeyCode::Esc);
    assert_eq!(app.dialogs.len(), 1, "letters are typed, Esc goes back to the list");
    press(&mut app, KeyCode::Esc);
    (app.config.config, app.config.profiles) = (None, Vec::new());
    keys(&mut app, "P");
    assert!(app.dialogs.is_empty());
    assert_eq!(app.notice.as_ref().map(|notice| notice.text.as_str()), Some("The demo saves no settings."));
}

#[test]
fn an_answer_to_a_form_that_was_closed_belongs_to_no_later_one() {
    let mut app = app();
    app.config.config = Some(CleanText::line("/c/config.toml"));
    let attempt = |app: &mut App| {
        keys(app, "Pn");
        keys(app, "mint_k");
        press(app, KeyCode::Enter);
        keys(app, "docs");
        press(app, KeyCode::Enter);
        keys(app, "new");
        match press(app, KeyCode::Enter).as_slice() {
            [Effect::CheckProfile { attempt, .. }] => *attempt,
            other => panic!("no attempt: {other:?}"),
        }
    };
    let first = attempt(&mut app);
    for _ in ["the attempt", "the form", "the list"] {
        press(&mut app, KeyCode::Esc);
    }
    let second = attempt(&mut app);
    assert_ne!(first, second);
    assert_eq!(app.update(Msg::ProfileChecked { attempt: first, result: Ok(()) }, at(2)), []);
    let asked = app.update(Msg::ProfileChecked { attempt: second, result: Ok(()) }, at(2));
    assert!(matches!(asked.as_slice(), [Effect::ReadKey { attempt, .. }] if *attempt == second), "{asked:?}");
}

#[test]
fn each_profile_goes_on_as_it_was_left_and_the_mouse_stays_as_the_terminal_has_it() {
    use crate::model::layout::Layout;
    let mut app = app();
    app.config.layout = Some(Layout::default());
    app.restore_layout(at(0), &mut Vec::new());
    keys(&mut app, "Msi");
    keys(&mut app, "Pj");
    press(&mut app, KeyCode::Enter);
    app.update(Msg::ProfileKey(1, Ok(key())), at(1));
    let effects = app.update(Msg::KeyTried(1, Ok((key(), None))), at(1));
    let written = effects.iter().find_map(|effect| match effect {
        Effect::RememberLayout { key, text } => Some((key.clone(), Layout::parse(text))),
        _ => None,
    });
    let (old, layout) = written.expect("the old one is written before");
    assert!(layout.hidden && layout.jobs.sort.is_some());
    assert!(!app.has_mouse() && !app.geometry().shows_both(), "as the screen was");
    let new = app.config.layout_key();
    assert!(old != new && effects.contains(&Effect::RecallLayout(new.clone())));
    app.update(Msg::Layout(old, Some(layout)), at(1));
    assert_eq!(app.jobs.sorting().by.name(), "need", "an answer about the old one is late");
    let left = Layout::parse("{\"jobs\":{\"sort\":{\"by\":\"status\",\"reversed\":false}}}");
    app.update(Msg::Layout(new, Some(left)), at(1));
    assert_eq!((app.jobs.sorting().by.name(), app.geometry().shows_both()), ("status", true));
    assert_eq!(app.connection, Connection::Ready, "the service took the key");
    for later in [Connection::Connecting, Connection::Unknown] {
        app.update(Msg::News(crate::model::engine_event::EngineEvent::Connection(later)), at(1));
        assert_eq!(app.connection, Connection::Ready, "and that still holds");
    }
    app.update(Msg::Loaded(Ok(Box::default())), at(1));
    keys(&mut app, "i");
    assert!(app.update(Msg::Terminate, at(2)).iter().any(|effect| matches!(effect, Effect::RememberLayout { .. })));
}

#[test]
fn a_service_that_could_not_be_asked_is_said_to_be_away_from_the_start() {
    let mut app = chosen();
    app.update(Msg::ProfileKey(1, Ok(key())), at(2));
    let away = Failure::new(FailureKind::Offline, "The service can't be reached: connection refused.");
    app.update(Msg::KeyTried(1, Ok((key(), Some(away)))), at(3));
    assert!(matches!(app.connection, Connection::Offline { next_try: None, .. }));
    let said = app.notice.as_ref().map(|notice| notice.text.to_string()).unwrap_or_default();
    assert!(
        said.starts_with("Now on ") && said.contains("showing stored jobs. The service can't be reached"),
        "{said}"
    );
}
