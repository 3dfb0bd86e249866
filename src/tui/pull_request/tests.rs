use super::*;
use crate::model::endpoint::Scope;
use crate::model::failure::Failure;
use crate::model::job::{JobId, Status};
use crate::model::pull_request::tests::open_pull_request;
use crate::model::pull_request::{Checks, ChecksState, FailedCheck, PullRequest, PullRequestState};
use crate::model::pull_request_action::{ActionOutcome, PullRequestAction};
use crate::model::pull_request_details::{Commit, FileSize, ReviewEntry, ReviewKind};
use crate::tui::confirm::ConfirmDialog;
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
        merge_methods: vec![MergeMethod::Squash, MergeMethod::Merge],
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

fn acted(outcome: ActionOutcome, action: PullRequestAction) -> Msg {
    Msg::Jobs(JobsMsg::PullRequestActed { job: JobKey(1), action, outcome })
}

fn act(action: PullRequestAction) -> Effect {
    Effect::Jobs(JobsEffect::ActOnPullRequest { job: JobKey(1), head: CleanText::line("7d40698"), action })
}

fn question(app: &App) -> &str {
    &app.top::<ConfirmDialog>().expect("a question").text
}

#[test]
fn an_action_is_sent_only_after_a_confirmation_that_names_what_it_changes() {
    let mut app = opened();
    assert_eq!(press(&mut app, "a"), []);
    for part in ["Approve #7 in acme/docs", "7d40698"] {
        assert!(question(&app).contains(part), "{}", question(&app));
    }
    assert_eq!(press(&mut app, "n"), [], "any other key cancels");
    assert_eq!(press(&mut app, "a y"), [act(PullRequestAction::Approve)]);
    assert_eq!(press(&mut app, "m y"), [act(PullRequestAction::Merge(MergeMethod::Squash))], "the preferred method");
    assert_eq!(press(&mut app, "X y"), [act(PullRequestAction::Close)]);
    press(&mut app, "x");
    assert_eq!(press(&mut app, "Enter"), [], "a review needs a text");
    assert_eq!(press(&mut app, "n o Enter"), []);
    assert!(question(&app).contains("“no”"), "{}", question(&app));
    assert_eq!(press(&mut app, "y"), [act(PullRequestAction::RequestChanges("no".to_owned()))]);
}

#[test]
fn after_an_action_the_details_are_read_again_and_a_notice_says_what_became_of_it() {
    let why = CleanText::line("github.com: the connection was lost before the reply arrived (reset)");
    for (outcome, text) in [
        (ActionOutcome::Done, "#7 was merged."),
        (ActionOutcome::Moved, "#7 was not merged: it has new commits."),
        (
            ActionOutcome::NotDone(CleanText::line("github.com: the token was refused")),
            "#7 was not merged: github.com: the",
        ),
        (ActionOutcome::Unconfirmed(why), "#7 may have been merged: github.com: the connection was lost"),
    ] {
        let mut app = opened();
        let effects = app.update(acted(outcome, PullRequestAction::Merge(MergeMethod::Merge)), at(2));
        assert_eq!(effects, [request(false)], "the action is not sent again");
        let notice = app.notice.as_ref().expect("a notice").text.to_string();
        assert!(notice.starts_with(text), "{notice}");
    }
}

#[test]
fn actions_that_make_no_sense_or_are_turned_off_are_not_offered() {
    let hints = |app: &App| app.footer(300).iter().map(|hint| hint.label.clone()).collect::<Vec<_>>();
    let mut app = opened();
    assert!(
        ["approve", "request changes", "comment", "merge"].iter().all(|label| hints(&app).contains(&(*label).into()))
    );
    assert!(!hints(&app).contains(&"ready".to_owned()), "it is no draft");
    let mut job = app.jobs.get(JobKey(1)).cloned().expect("the job");
    let state = PullRequest { state: PullRequestState::Draft, ..open_pull_request(at(0)) };
    job.pull_request = Some(Box::new(state.clone()));
    app.put_job(job.clone());
    assert!(hints(&app).contains(&"ready".to_owned()) && !hints(&app).contains(&"merge".to_owned()));
    job.pull_request = Some(Box::new(PullRequest { state: PullRequestState::Merged, ..state }));
    app.put_job(job);
    assert!(!hints(&app).contains(&"approve".to_owned()));
    press(&mut app, "m");
    assert!(app.top::<PullRequestDialog>().is_some());
    let mut app = opened();
    app.config.allows_pull_request_actions = false;
    assert!(!hints(&app).contains(&"merge".to_owned()));
    press(&mut app, "a");
    assert!(app.top::<PullRequestDialog>().is_some());
}
