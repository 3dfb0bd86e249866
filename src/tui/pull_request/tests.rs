use super::*;
use crate::model::endpoint::Scope;
use crate::model::failure::Failure;
use crate::model::job::{JobId, Status};
use crate::model::pull_request::tests::open_pull_request;
use crate::model::pull_request::{Checks, ChecksState, FailedCheck, PullRequest};
use crate::model::pull_request_details::{Commit, FileSize, ReviewEntry, ReviewKind};
use crate::tui::jobs::tests::{at, row};
use crate::tui::{AppConfig, InitialData};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

fn app() -> App {
    let scope = Scope { base_url: "http://127.0.0.1:1".to_owned(), project: "p".to_owned(), organization: None };
    let utc = chrono::FixedOffset::east_opt(0).expect("UTC");
    let (mut app, _) = App::new(AppConfig { size: (80, 24), ..AppConfig::new(scope, utc) }, at(0));
    let mut job = row(1, Status::Completed);
    job.id = JobId::new("j1");
    job.remote.pr_link = Some(CleanText::line("https://github.com/acme/docs/pull/7"));
    let failed = FailedCheck {
        name: CleanText::line("links"),
        url: Some(CleanText::line("https://github.com/acme/docs/runs/1")),
    };
    let checks = Checks { state: ChecksState::Failing, passed: 1, total: 2, failed: vec![failed] };
    job.pull_request = Some(Box::new(PullRequest { checks, ..open_pull_request(at(0)) }));
    let data = InitialData { jobs: vec![job], ..InitialData::default() };
    app.update(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(data)))), at(0));
    app
}

fn details() -> PullRequestDetails {
    let entry = |kind, text: &str| ReviewEntry {
        author: CleanText::line("maya"),
        kind,
        text: text.to_owned(),
        at: Some(at(0)),
    };
    PullRequestDetails {
        author: CleanText::line("mintlify"),
        base: CleanText::line("main"),
        entries: vec![
            entry(ReviewKind::Comment, "| [View Preview](https://acme-1.mintlify.site/) |"),
            entry(ReviewKind::ChangeRequest, "Two lines,\nplease."),
        ],
        commits: vec![Commit { id: CleanText::line("7d40698"), title: CleanText::line("Fix it"), at: Some(at(0)) }],
        commit_count: 1,
        files: vec![FileSize { path: CleanText::line("a.mdx"), additions: 4, deletions: 1 }],
        preview: Some(CleanText::line("https://acme-1.mintlify.site/")),
    }
}

fn press(app: &mut App, keys: &str) -> Vec<Effect> {
    let code = |key: &str| match key {
        "Enter" => KeyCode::Enter,
        "Tab" => KeyCode::Tab,
        "Esc" => KeyCode::Esc,
        key => KeyCode::Char(key.chars().next().expect("a key")),
    };
    let mut effects = Vec::new();
    for key in keys.split(' ') {
        effects.extend(app.update(Msg::Input(Event::Key(KeyEvent::new(code(key), KeyModifiers::NONE))), at(1)));
    }
    effects
}

fn answer(app: &mut App, result: Result<Option<Timed<PullRequestDetails>>, Failure>) -> Vec<Effect> {
    app.update(Msg::Jobs(JobsMsg::PullRequestDetailsLoaded { job: JobKey(1), result }), at(100))
}

fn request(is_cached: bool) -> Effect {
    Effect::Jobs(JobsEffect::LoadPullRequestDetails { job: JobKey(1), is_cached })
}

fn opened() -> App {
    let mut app = app();
    assert!(press(&mut app, "O").contains(&request(true)));
    answer(&mut app, Ok(Some(Timed { value: details(), as_of: at(99) })));
    app
}

fn texts(app: &App) -> Vec<String> {
    let open = app.find::<PullRequestDialog>().expect("it is open");
    open.lines.iter().map(|line| line.pieces.iter().map(|(text, _)| text.as_str()).collect()).collect()
}

/// Selects the line with this text.
fn select(app: &mut App, text: &str) {
    let row = texts(app).iter().position(|line| line.contains(text)).expect("the line");
    press(app, "g");
    for _ in 0..row {
        press(app, "j");
    }
}

#[test]
fn stored_details_are_requested_again_only_if_they_are_old() {
    let mut app = app();
    press(&mut app, "O");
    assert!(answer(&mut app, Ok(None)).contains(&request(false)));
    let old = Timed { value: details(), as_of: at(30) };
    assert!(answer(&mut app, Ok(Some(old.clone()))).contains(&request(false)));
    let new = Timed { as_of: at(99), ..old };
    assert!(!answer(&mut app, Ok(Some(new))).contains(&request(false)));
    assert!(press(&mut app, "r").contains(&request(false)));
    answer(&mut app, Err(Failure::local("No network.")));
    assert!(texts(&app).iter().any(|line| line == "No network."));
    assert!(texts(&app).iter().any(|line| line.contains("Two lines,")), "the older details stay");
}

#[test]
fn the_state_is_a_sentence_and_everything_has_its_lines() {
    let shown = texts(&opened()).join("\n");
    for part in [
        "Checks are failing: 1 of 2 checks passed.",
        "agent/links → main by mintlify · head 7d40698 · +48 −12 in 3 files",
        "preview  https://acme-1.mintlify.site/",
        "✗ links  github.com/acme/docs/runs/1",
        "Reviews and comments 1",
        "maya requested changes\n        Two lines,\n        please.",
        "7d40698  Fix it",
        "a.mdx  +4 −1",
    ] {
        assert!(shown.contains(part), "{part:?} in\n{shown}");
    }
}

#[test]
fn enter_opens_links_and_the_changes_of_a_file() {
    let mut app = opened();
    select(&mut app, "✗ links");
    assert_eq!(press(&mut app, "Enter"), [Effect::OpenUrl(CleanText::line("https://github.com/acme/docs/runs/1"))]);
    assert_eq!(press(&mut app, "p"), [Effect::OpenUrl(CleanText::line("https://acme-1.mintlify.site/"))]);
    select(&mut app, "a.mdx");
    assert!(press(&mut app, "Enter").contains(&Effect::Jobs(JobsEffect::LoadDiff { job: JobKey(1), again: false })));
    assert!(app.top::<Changes>().is_some());
    press(&mut app, "Tab");
    assert!(app.top::<PullRequestDialog>().is_some() && app.dialogs.len() == 1);
    press(&mut app, "Tab Tab Esc");
    assert!(app.dialogs.is_empty());
}

#[test]
fn a_follow_up_quotes_the_selected_comment() {
    let mut app = opened();
    select(&mut app, "please.");
    press(&mut app, "f");
    let text = app.top::<Editor>().expect("an editor").input.text();
    assert_eq!(text, "> maya requested changes:\n> Two lines,\n> please.\n\n");
    press(&mut app, "Esc");
    select(&mut app, "a.mdx");
    press(&mut app, "f");
    assert_eq!(app.top::<Editor>().expect("an editor").input.text(), text, "nothing else is quoted");
}
