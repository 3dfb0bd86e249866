use super::*;
use crate::model::endpoint::Scope;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::{Failure, FailureKind};
use crate::model::preview::{Build, BuildState, StartedBuild};
use crate::model::pull_request::tests::open_pull_request;
use crate::model::pull_request::{
    Checks, ChecksState, FailedCheck, HostKind, PullRequest, PullRequestState, ReviewDecision,
};
use crate::model::pull_request_action::{
    ActionOutcome, MergeMethod, PullRequestAction, SeenHeadCommit, UnsentReviewKind,
};
use crate::model::pull_request_details::{
    Commit, FileDiffStat, PassedAndPendingChecks, PendingCheck, ReviewEntry, ReviewKind,
};
use crate::model::remote_job::{JobId, Status};
use crate::tui::confirm::{ConfirmAction, ConfirmDialog};
use crate::tui::draw::{ColorDepth, Theme, draw};
use crate::tui::jobs::tests::{at, row};
use crate::tui::{AppConfig, InitialData};
use chrono::TimeDelta;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};
use ratatui::Terminal;
use ratatui::backend::TestBackend;

/// Returns the dashboard with one completed job, which has a pull request in this state.
pub(in crate::tui) fn app_with(state: Option<PullRequest>) -> App {
    let scope = Scope { base_url: "http://127.0.0.1:1".to_owned(), project: "p".to_owned(), organization: None };
    let utc = chrono::FixedOffset::east_opt(0).expect("UTC");
    let (mut app, _) = App::new(AppConfig { size: (80, 24), ..AppConfig::new(scope, utc) }, at(0));
    let mut job = row(1, Status::Completed);
    job.id = JobId::new("j1");
    job.remote.pr_link = Some(CleanText::line("https://github.com/acme/docs/pull/7"));
    job.pull_request = state.map(Box::new);
    let data = InitialData { jobs: vec![job], ..InitialData::default() };
    app.update(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(data)))), at(0));
    app
}

fn app() -> App {
    let failed = FailedCheck {
        name: CleanText::line("links"),
        url: Some(CleanText::line("https://github.com/acme/docs/runs/1")),
    };
    let checks = Checks { state: ChecksState::Failing, passed: 1, total: 2, failed: vec![failed] };
    app_with(Some(PullRequest { checks, ..open_pull_request(at(0)) }))
}

fn details() -> PullRequestDetails {
    let entry = |kind, text: &str| ReviewEntry {
        author: CleanText::line("maya"),
        is_bot: text.contains("[View Preview]"),
        kind,
        text: text.to_owned(),
        at: Some(at(0)),
    };
    PullRequestDetails {
        head: CleanText::line("7d40698"),
        author: CleanText::line("mintlify"),
        base: CleanText::line("main"),
        entries: vec![
            entry(ReviewKind::Comment, "| [View Preview](https://acme-1.mintlify.site/) |"),
            entry(ReviewKind::ChangeRequest, "Two lines,\nplease."),
        ],
        commits: vec![Commit { id: CleanText::line("7d40698"), title: CleanText::line("Fix it"), at: Some(at(0)) }],
        commit_count: 1,
        files: vec![FileDiffStat { path: CleanText::line("a.mdx"), additions: 4, deletions: 1 }],
        checks: None,
        merge_methods: vec![MergeMethod::Squash, MergeMethod::Merge],
        preview: Some(CleanText::line("https://acme-1.mintlify.site/")),
    }
}

fn unconfirmed_outcome(reason: CleanText, is_state_read: bool) -> ActionOutcome {
    ActionOutcome::Unconfirmed { reason, is_state_read }
}

pub(in crate::tui) fn press(app: &mut App, keys: &str) -> Vec<Effect> {
    let code = |key: &str| match key {
        "Enter" => KeyCode::Enter,
        "Tab" => KeyCode::Tab,
        "BackTab" => KeyCode::BackTab,
        "Esc" => KeyCode::Esc,
        key => KeyCode::Char(key.chars().next().expect("a key")),
    };
    let event = |key: &str| match key {
        "Ctrl-S" => KeyEvent::new(KeyCode::Char('s'), KeyModifiers::CONTROL),
        key => KeyEvent::new(code(key), KeyModifiers::NONE),
    };
    let mut effects = Vec::new();
    for key in keys.split(' ') {
        effects.extend(app.update(Msg::Input(Event::Key(event(key))), at(1)));
        // The next key is not pressed at once, so it isn't ignored as late typing.
        app.input_closed_at = None;
    }
    effects
}

fn answer_details(app: &mut App, result: Result<Option<Timed<PullRequestDetails>>, Failure>) -> Vec<Effect> {
    let site = SiteFacts { preview: details().preview, ..SiteFacts::default() };
    app.update(Msg::Jobs(JobsMsg::PullRequestDetailsLoaded { job: JobKey(1), result, site }), at(100))
}

fn load_details_effect(reads_stored: bool) -> Effect {
    Effect::Jobs(JobsEffect::LoadPullRequestDetails { job: JobKey(1), reads_stored })
}

pub(super) fn app_with_open_dialog() -> App {
    let mut app = app();
    assert!(press(&mut app, "O").contains(&load_details_effect(true)));
    answer_details(&mut app, Ok(Some(Timed { value: details(), as_of: at(99) })));
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
    assert!(answer_details(&mut app, Ok(None)).contains(&load_details_effect(false)));
    let old = Timed { value: details(), as_of: at(30) };
    assert!(answer_details(&mut app, Ok(Some(old.clone()))).contains(&load_details_effect(false)));
    let new = Timed { as_of: at(99), ..old };
    assert!(!answer_details(&mut app, Ok(Some(new))).contains(&load_details_effect(false)));
    assert!(press(&mut app, "r").contains(&load_details_effect(false)));
    answer_details(&mut app, Err(Failure::local("No network.")));
    assert!(texts(&app).iter().any(|line| line == "No network."));
    assert!(texts(&app).iter().any(|line| line.contains("Two lines,")), "the older details stay");
}

pub(in crate::tui) fn screen(app: &App, now: Time) -> String {
    let mut terminal = Terminal::new(TestBackend::new(app.size.0, app.size.1)).expect("a terminal");
    let theme = Theme::new(ColorDepth::None);
    terminal.draw(|frame| draw(frame, app, &theme, now)).expect("drawn");
    terminal.backend().to_string()
}

#[test]
fn a_stored_state_without_details_has_its_time() {
    let read_at = at(0) + TimeDelta::hours(2);
    let mut app = app_with(Some(PullRequest { conflict: Some(true), ..open_pull_request(read_at) }));
    press(&mut app, "O");
    answer_details(&mut app, Ok(None));
    answer_details(&mut app, Err(Failure::local("github.com: could not be reached.")));
    let time = |format: &str| format!("as of {}", read_at.format(format));
    let shown = screen(&app, read_at + TimeDelta::minutes(5));
    assert!(shown.contains("Has a merge conflict") && shown.contains(&time("%H:%M")), "{shown}");
    let shown = screen(&app, read_at + TimeDelta::days(3));
    assert!(shown.contains(&time("%-d %b %H:%M")), "{shown}");
}

#[test]
fn the_facts_are_labelled_and_everything_has_its_lines() {
    let shown = texts(&app_with_open_dialog()).join("\n");
    for part in [
        "✗ Checks are failing\nchecks   1 of 2 passed\nsize     +48 −12 in 3 files",
        "branch   agent/links → main\nhead     7d40698\nauthor   mintlify",
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
fn actions_are_not_offered_without_a_token_or_after_a_failed_request() {
    let offered = |app: &App| screen(app, at(100)).contains("n comment");
    let mut app = app_with_open_dialog();
    assert!(offered(&app));
    press(&mut app, "r");
    answer_details(&mut app, Err(Failure::local("No network.")));
    assert!(!offered(&app));
    press(&mut app, "r");
    answer_details(&mut app, Ok(Some(Timed { value: details(), as_of: at(99) })));
    assert!(offered(&app));
    for (host, kind) in [("github.com", HostKind::GitHub), ("gitlab.com", HostKind::GitLab)] {
        let missing = EngineEvent::MissingToken { host: CleanText::line(host), kind };
        app.update(Msg::Engine(missing), at(99));
    }
    assert!(!offered(&app));
    press(&mut app, "n");
    assert!(app.top::<PullRequestDialog>().is_some(), "nothing was opened");
    // The engine looks for the token again.
    press(&mut app, "Esc r O");
    answer_details(&mut app, Ok(Some(Timed { value: details(), as_of: at(99) })));
    assert!(offered(&app));
}

#[test]
fn the_size_is_the_sum_over_the_files_if_the_host_reports_it_only_by_file() {
    let state = PullRequest { additions: None, deletions: None, files: None, ..open_pull_request(at(0)) };
    let mut app = app_with(Some(state));
    press(&mut app, "O");
    answer_details(&mut app, Ok(Some(Timed { value: details(), as_of: at(99) })));
    let shown = texts(&app).join("\n");
    assert!(shown.contains("size     +4 −1 in 1 file\n"), "{shown}");
}

#[test]
fn enter_opens_links_and_the_changes_of_a_file() {
    let mut app = app_with_open_dialog();
    select(&mut app, "✗ links");
    assert_eq!(press(&mut app, "Enter"), [Effect::OpenUrl(CleanText::line("https://github.com/acme/docs/runs/1"))]);
    assert_eq!(press(&mut app, "p"), [Effect::OpenUrl(CleanText::line("https://acme-1.mintlify.site/"))]);
    select(&mut app, "a.mdx");
    assert!(
        press(&mut app, "Enter").contains(&Effect::Jobs(JobsEffect::LoadDiff { job: JobKey(1), is_reload: false }))
    );
    assert!(app.top::<Changes>().is_some());
}

#[test]
fn tab_goes_from_the_thread_to_the_pull_request_and_to_the_changes_and_back() {
    let mut app = app_with_open_dialog();
    select(&mut app, "a.mdx");
    press(&mut app, "Tab");
    assert!(app.top::<Changes>().is_some());
    press(&mut app, "BackTab");
    let open = app.top::<PullRequestDialog>().expect("it is open");
    assert_eq!(open.target(), &LineTarget::File(CleanText::line("a.mdx")), "it has kept its selection");
    press(&mut app, "Tab Tab");
    assert!(app.dialogs.is_empty() && app.pane == Pane::Detail, "the thread");
    press(&mut app, "Tab");
    assert!(app.top::<PullRequestDialog>().is_some());
    press(&mut app, "BackTab BackTab");
    assert!(app.top::<Changes>().is_some());
    press(&mut app, "BackTab Esc");
    assert!(app.dialogs.is_empty() && app.pane == Pane::Detail, "Esc goes back to where the tabs were opened");
    press(&mut app, "Esc O Tab Esc");
    assert!(app.dialogs.is_empty() && app.pane == Pane::List);
}

#[test]
fn next_to_the_list_tab_goes_from_the_details_to_the_pull_request_too() {
    let mut app = app_with_open_dialog();
    app.size = (120, 40);
    press(&mut app, "Esc Tab");
    assert!(app.dialogs.is_empty() && app.pane == Pane::Detail, "the focus is on the details");
    press(&mut app, "Tab");
    assert!(app.top::<PullRequestDialog>().is_some());
    press(&mut app, "Tab Tab");
    assert!(app.dialogs.is_empty() && app.pane == Pane::Detail, "the thread");
    press(&mut app, "Esc");
    assert_eq!(app.pane, Pane::List);
}

#[test]
fn a_click_on_the_name_of_a_tab_shows_it() {
    let mut app = app_with_open_dialog();
    let click = |app: &mut App, column: u16| {
        let kind = MouseEventKind::Down(MouseButton::Left);
        let event = MouseEvent { kind, column, row: 1, modifiers: KeyModifiers::NONE };
        app.update(Msg::Input(Event::Mouse(event)), at(1));
    };
    press(&mut app, "Esc Enter");
    for (column, text) in [(24, "changes"), (11, "pull request"), (2, "thread"), (24, "changes")] {
        click(&mut app, column);
        let found = match () {
            () if app.top::<Changes>().is_some() => "changes",
            () if app.top::<PullRequestDialog>().is_some() => "pull request",
            () => "thread",
        };
        assert_eq!(found, text);
    }
}

#[test]
fn a_follow_up_quotes_the_selected_comment() {
    let mut app = app_with_open_dialog();
    select(&mut app, "please.");
    press(&mut app, "f");
    let text = app.top::<Editor>().expect("an editor").input.text();
    assert_eq!(text, "> maya requested changes:\n> Two lines,\n> please.\n\n");
    press(&mut app, "Esc");
    select(&mut app, "a.mdx");
    press(&mut app, "f");
    assert_eq!(app.top::<Editor>().expect("an editor").input.text(), text, "nothing else is quoted");
}

pub(super) fn action_ended(outcome: ActionOutcome, action: PullRequestAction) -> Msg {
    Msg::Jobs(JobsMsg::PullRequestActionEnded { job: JobKey(1), action, outcome })
}

fn run_action_effect(action: PullRequestAction) -> Effect {
    let target = SeenHeadCommit { job: JobKey(1), head: CleanText::line("7d40698") };
    Effect::Jobs(JobsEffect::RunPullRequestAction { target, action })
}

fn question(app: &App) -> &str {
    &app.top::<ConfirmDialog>().expect("a question").text
}

#[test]
fn an_action_is_sent_only_after_a_confirmation_that_names_what_it_changes() {
    let mut app = app_with_open_dialog();
    assert_eq!(press(&mut app, "a"), []);
    for part in ["Approve #7 in acme/docs", "7d40698"] {
        assert!(question(&app).contains(part), "{}", question(&app));
    }
    assert_eq!(press(&mut app, "n"), [], "any other key cancels");
    assert_eq!(press(&mut app, "a y"), [run_action_effect(PullRequestAction::Approve)]);
    assert_eq!(
        press(&mut app, "m y"),
        [run_action_effect(PullRequestAction::Merge(Some(MergeMethod::Squash)))],
        "the preferred method"
    );
    assert_eq!(press(&mut app, "X y"), [run_action_effect(PullRequestAction::Close)]);
    press(&mut app, "x");
    assert_eq!(press(&mut app, "Ctrl-S"), [], "a review needs a text");
    let links = vec![CleanText::line("https://github.com/acme/docs/pull/7")];
    let kind = UnsentReviewKind::ChangeRequest;
    let saved = JobsEffect::SaveUnsentReview { links, kind, text: "no".to_owned() };
    assert_eq!(press(&mut app, "n o Ctrl-S"), [Effect::Jobs(saved)]);
    assert!(question(&app).contains("“no”"), "{}", question(&app));
    assert_eq!(press(&mut app, "y"), [run_action_effect(PullRequestAction::RequestChanges("no".to_owned()))]);
}

#[test]
fn the_confirmation_of_a_merge_shows_the_review() {
    let review = Some(ReviewDecision::ChangesRequested);
    let mut app = app_with(Some(PullRequest { review, ..open_pull_request(at(0)) }));
    press(&mut app, "O");
    answer_details(&mut app, Ok(Some(Timed { value: details(), as_of: at(99) })));
    press(&mut app, "m");
    let shown = screen(&app, at(1));
    let fact = shown.lines().find(|line| line.contains("• ") && line.contains("changes requested"));
    assert!(fact.is_some(), "{shown}");
}

#[test]
fn the_confirmation_of_a_review_shows_all_its_lines_or_an_ellipsis_in_the_quote() {
    for size in [(80, 24), (120, 40)] {
        let mut app = app_with_open_dialog();
        app.size = size;
        press(&mut app, "x O n e Enter Enter t w o Ctrl-S");
        let shown = screen(&app, at(1));
        for part in ["review: “One", "│ two”", "y request changes"] {
            assert!(shown.contains(part), "{part:?} in\n{shown}");
        }
        press(&mut app, "n x");
        let lines: Vec<String> = (1..=60).map(|n| format!("Line {n} of the review.")).collect();
        app.update(Msg::Input(Event::Paste(format!("\n{}", lines.join("\n")))), at(1));
        press(&mut app, "Ctrl-S");
        let shown = screen(&app, at(1));
        for part in ["Line 9 of the review.", "…”", "y request changes"] {
            assert!(shown.contains(part), "{part:?} in\n{shown}");
        }
        assert!(!shown.contains("Line 60 of"), "{shown}");
    }
    let mut app = app_with_marks();
    press(&mut app, "O n");
    app.update(Msg::Input(Event::Paste("One line.\n".repeat(60))), at(1));
    press(&mut app, "Ctrl-S");
    let shown = screen(&app, at(1));
    for part in ["One line.", "…”", "stops at the first failure.", "• #7", "• #8", "y comment"] {
        assert!(shown.contains(part), "{part:?} in\n{shown}");
    }
}

#[test]
fn after_an_action_the_details_are_requested_again_and_a_notice_shows_the_outcome() {
    let why = CleanText::line("github.com: the connection was lost before the answer arrived (reset)");
    for (outcome, text) in [
        (ActionOutcome::Done, "#7 was merged."),
        (ActionOutcome::HeadChanged, "#7 was not merged: it has new commits."),
        (
            ActionOutcome::NotDone(CleanText::line("github.com: the token was refused")),
            "#7 was not merged: github.com: the",
        ),
        (unconfirmed_outcome(why, true), "#7 may have been merged: github.com: the connection was lost"),
    ] {
        let mut app = app_with_open_dialog();
        let effects = app.update(action_ended(outcome, PullRequestAction::Merge(None)), at(2));
        assert_eq!(effects, [load_details_effect(false)], "the action is not sent again");
        let notice = app.notice.as_ref().expect("a notice").text.to_string();
        assert!(notice.starts_with(text), "{notice}");
    }
}

#[test]
fn after_a_lost_response_nothing_is_offered_until_the_state_was_read_again() {
    let why = CleanText::line("github.com: the connection was lost");
    let mut app = app_with_open_dialog();
    app.update(action_ended(unconfirmed_outcome(why, false), PullRequestAction::Approve), at(2));
    let notice = app.notice.as_ref().expect("a notice").text.to_string();
    assert!(notice.ends_with("refresh first: the state could not be loaded after the action."), "{notice}");
    press(&mut app, "a");
    assert!(app.top::<ConfirmDialog>().is_none(), "nothing is offered");
    let state = PullRequest { as_of: at(3), ..open_pull_request(at(0)) };
    let job = Job { pull_request: Some(Box::new(state)), ..app.jobs.get(JobKey(1)).expect("a job").clone() };
    app.update(Msg::Engine(EngineEvent::Job(Box::new(job))), at(3));
    press(&mut app, "a");
    assert!(app.top::<ConfirmDialog>().is_some());
}

/// Returns the lines about the checks.
fn check_texts(app: &App) -> Vec<String> {
    let lines = texts(app).into_iter().map(|line| line.trim_end().to_owned());
    let has_count = |line: &str, name| line.strip_prefix(name).is_some_and(|count| count.parse::<usize>().is_ok());
    let is_heading = |line: &str| has_count(line, "Checks ") || has_count(line, "Failed checks ");
    lines.skip_while(|line| !is_heading(line)).skip(1).take_while(|line| !line.is_empty()).collect()
}

#[test]
fn all_checks_are_listed_and_the_state_decides_which_have_failed_or_passed_since() {
    let line = CleanText::line;
    let pending = |name: &str| PendingCheck { name: line(name), url: Some(line("https://ci.example/1")) };
    let checks = PassedAndPendingChecks {
        head: line("7d40698"),
        pending: vec![pending("links"), pending("spelling")],
        passed: (1..=40).map(|n| line(&format!("build {n}"))).collect(),
    };
    let show = |app: &mut App, checks: PassedAndPendingChecks| {
        press(app, "O");
        let value = PullRequestDetails { checks: Some(checks), ..details() };
        answer_details(app, Ok(Some(Timed { value, as_of: at(99) })));
        check_texts(app)
    };
    let shown = show(&mut app(), checks.clone());
    assert_eq!(shown[..2], ["✗ links     github.com/acme/docs/runs/1", "◌ spelling  ci.example/1"]);
    assert!(shown[2].starts_with("✓ 40 passed: build 1, build 2, "), "{shown:?}");
    assert!(shown.len() == 5 && shown[4].starts_with("  ") && shown[4].ends_with('…'), "{shown:?}");
    let passing = Checks { state: ChecksState::Passing, passed: 42, total: 42, failed: Vec::new() };
    let mut app = app_with(Some(PullRequest { checks: passing, ..open_pull_request(at(0)) }));
    assert!(show(&mut app, checks.clone())[0].starts_with("✓ 42 passed: build 1, "));
    let other = PassedAndPendingChecks { head: line("8e51709"), ..checks };
    assert_eq!(show(&mut super::tests::app(), other), ["✗ links  github.com/acme/docs/runs/1"], "of another commit");
}

#[test]
fn actions_that_make_no_sense_or_are_turned_off_are_not_offered() {
    let hints = |app: &App| app.footer(300).iter().map(|hint| hint.label.clone()).collect::<Vec<_>>();
    let mut app = app_with_open_dialog();
    assert!(
        ["approve", "request changes", "comment", "merge"].iter().all(|label| hints(&app).contains(&(*label).into()))
    );
    assert!(!hints(&app).contains(&"ready".into()), "it is no draft");
    let mut job = app.jobs.get(JobKey(1)).cloned().expect("the job");
    let state = PullRequest { state: PullRequestState::Draft, ..open_pull_request(at(0)) };
    job.pull_request = Some(Box::new(state.clone()));
    app.put_job(job.clone());
    assert!(hints(&app).contains(&"ready".into()) && !hints(&app).contains(&"merge".into()));
    job.pull_request = Some(Box::new(PullRequest { state: PullRequestState::Merged, ..state }));
    app.put_job(job);
    assert!(!hints(&app).contains(&"approve".into()));
    press(&mut app, "m");
    assert!(app.top::<PullRequestDialog>().is_some());
    let mut app = app_with_open_dialog();
    app.config.pull_requests = PullRequestAccess::Read;
    assert!(!hints(&app).contains(&"merge".into()));
    press(&mut app, "a");
    assert!(app.top::<PullRequestDialog>().is_some());
}

#[test]
fn if_pull_requests_are_turned_off_only_their_links_are_offered() {
    // The engine has deleted the stored state.
    let mut app = app_with(None);
    app.config.pull_requests = PullRequestAccess::Off;
    app.pane = Pane::Detail;
    let shown = screen(&app, at(0));
    assert!(shown.contains("Press o to open the pull request, f to follow up."), "{shown}");
    assert!(shown.contains("Completed with a pull request") && !shown.contains("Ready for review"), "{shown}");
    assert!(!shown.contains("Changes"), "{shown}");
    for key in ["c", "O"] {
        press(&mut app, key);
        assert!(app.dialogs.is_empty(), "{key}");
        assert_eq!(app.notice.as_ref().expect("a notice").text.as_str(), PULL_REQUESTS_DISABLED);
    }
    assert!(app.hints().all(|(_, row, _)| row.action != Action::Changes));
    press(&mut app, "Tab");
    assert!(app.dialogs.is_empty() && app.pane == Pane::List);
    press(&mut app, "?");
    let help = screen(&app, at(0));
    assert!(!help.contains("show the pull request") && !help.contains("show the changes"), "{help}");
}

/// Returns the dashboard with four marked jobs: two open pull requests, a draft, and a job without a pull request.
fn app_with_marks() -> App {
    let mut app = app_with(Some(open_pull_request(at(0))));
    let first = app.jobs.get(JobKey(1)).cloned().expect("the job");
    for key in 2..=4 {
        let mut job = Job { key: JobKey(key), ..first.clone() };
        job.remote.pr_link = Some(CleanText::line(&format!("https://github.com/acme/docs/pull/{}", key + 6)));
        let state = if key == 3 { PullRequestState::Draft } else { PullRequestState::Open };
        job.pull_request = Some(Box::new(PullRequest { state, ..open_pull_request(at(0)) }));
        if key == 4 {
            (job.remote.pr_link, job.pull_request) = (None, None);
        }
        app.put_job(job);
    }
    press(&mut app, "g v v v v");
    app
}

#[test]
fn a_pull_request_of_two_marked_jobs_is_acted_on_once() {
    let mut app = app_with_marks();
    let twin = Job { key: JobKey(5), ..app.jobs.get(JobKey(1)).cloned().expect("the job") };
    app.put_job(twin);
    app.jobs.clear_marks();
    press(&mut app, "g v v v v v O a");
    let dialog = app.top::<ConfirmDialog>().expect("a confirmation");
    let ConfirmAction::RunPullRequestAction { targets, .. } = &dialog.on_yes else { panic!("{:?}", dialog.on_yes) };
    assert_eq!(targets.head_commits.len(), 3);
    assert!(
        targets.listed_targets.skipped.iter().any(|(_, why)| *why == "same pull request"),
        "{:?}",
        targets.listed_targets.skipped
    );
}

#[test]
fn the_help_of_the_menu_describes_what_its_keys_do_with_several_pull_requests() {
    let mut app = app_with_marks();
    press(&mut app, "O ?");
    let shown = screen(&app, at(0));
    assert!(shown.contains("choose the selected action") && shown.contains("merge the pull requests"), "{shown}");
    for absent in ["open the link", "show the thread", "displayed commit"] {
        assert!(!shown.contains(absent), "{absent} in {shown}");
    }
}

fn answer_action(app: &mut App, job: i64, outcome: ActionOutcome, action: &PullRequestAction) -> Vec<Effect> {
    app.update(Msg::Jobs(JobsMsg::PullRequestActionEnded { job: JobKey(job), action: action.clone(), outcome }), at(2))
}

fn sent_job(effects: &[Effect]) -> i64 {
    match effects {
        [Effect::Jobs(JobsEffect::RunPullRequestAction { target, .. })] => target.job.0,
        other => panic!("not one action: {other:?}"),
    }
}

#[test]
fn marked_pull_requests_are_acted_on_one_by_one_after_one_confirmation() {
    let mut app = app_with_marks();
    assert_eq!(press(&mut app, "O m"), []);
    let dialog = app.top::<ConfirmDialog>().expect("a question");
    assert!(dialog.text.starts_with("Merge 2 pull requests, each using"), "{}", dialog.text);
    let lines: Vec<String> = dialog.job_lines(70, 10).into_iter().map(|line| format!("{line:?}")).collect();
    for part in ["#7 acme/docs 7d40698", "#8 acme/docs 7d40698", "(draft)", "(no pull request)"] {
        assert!(lines.iter().any(|line| line.contains(part)), "{part} in {lines:?}");
    }
    let merge = PullRequestAction::Merge(None);
    let first = sent_job(&press(&mut app, "y"));
    assert_eq!(app.jobs.marked_count(), 0);
    let second = sent_job(&answer_action(&mut app, first, ActionOutcome::Done, &merge));
    assert_ne!(first, second);
    assert_eq!(answer_action(&mut app, second, ActionOutcome::Done, &merge), []);
    assert_eq!(app.notice.as_ref().expect("a notice").text.as_str(), "2 pull requests were merged.");
}

#[test]
fn an_action_on_marked_pull_requests_stops_at_the_first_that_is_not_done() {
    let why = CleanText::line("github.com: the connection was lost");
    for outcome in [ActionOutcome::HeadChanged, ActionOutcome::NotDone(why.clone()), unconfirmed_outcome(why, true)] {
        let mut app = app_with_marks();
        let first = sent_job(&press(&mut app, "O a y"));
        let effects = answer_action(&mut app, first, outcome, &PullRequestAction::Approve);
        assert_eq!(effects, [], "nothing more is sent");
        let notice = app.notice.as_ref().expect("a notice").text.to_string();
        assert!(notice.ends_with("0 succeeded before that, 2 not started."), "{notice}");
        assert_eq!(answer_action(&mut app, first, ActionOutcome::Done, &PullRequestAction::Approve), [], "it is over");
    }
}

#[test]
fn an_action_that_applies_to_none_of_the_marked_jobs_is_explained() {
    let mut app = app_with_marks();
    let draft = app.jobs.get(JobKey(3)).cloned().expect("the job");
    app.put_job(Job { pull_request: Some(Box::new(open_pull_request(at(0)))), ..draft });
    press(&mut app, "O d");
    assert!(app.top::<PullRequestActionMenu>().is_some());
    let notice = app.notice.as_ref().expect("a notice").text.to_string();
    assert_eq!(notice, "Not possible for any of the marked pull requests: not a draft.");
    press(&mut app, "Esc");
    app.config.pull_requests = PullRequestAccess::Read;
    press(&mut app, "O");
    assert!(app.top::<PullRequestActionMenu>().is_none());
}

fn build(state: BuildState) -> Build {
    Build { state, summary: CleanText::default(), log: Vec::new(), files: Vec::new() }
}

fn answer_build_check(app: &mut App, result: Result<Build, Failure>) -> Vec<Effect> {
    app.update(Msg::Jobs(JobsMsg::BuildChecked { job: JobKey(1), id: CleanText::line("b1"), result }), at(3))
}

/// Starts a build. Returns the dashboard, and the effect that requests its state.
fn app_with_running_build() -> (App, [Effect; 1]) {
    let mut app = app_with_open_dialog();
    assert_eq!(press(&mut app, "b"), [Effect::Jobs(JobsEffect::StartPreview(JobKey(1)))]);
    assert_eq!(press(&mut app, "b"), [], "it is being built");
    let url = Some(CleanText::line("https://acme-docs-1.mintlify.site/"));
    let started = StartedBuild { id: CleanText::line("b1"), url };
    let effects = app.update(Msg::Jobs(JobsMsg::PreviewStarted { job: JobKey(1), result: Ok(started.clone()) }), at(2));
    let check = [Effect::Jobs(JobsEffect::CheckBuild { job: JobKey(1), build: started })];
    assert_eq!(effects, check);
    (app, check)
}

#[test]
fn the_state_of_a_build_is_requested_until_it_ends_and_its_preview_opens_pages() {
    let (mut app, check) = app_with_running_build();
    for state in [BuildState::Queued, BuildState::InProgress, BuildState::Other(CleanText::line("paused"))] {
        assert_eq!(answer_build_check(&mut app, Ok(build(state))), check);
    }
    press(&mut app, "Esc");
    assert_eq!(answer_build_check(&mut app, Ok(build(BuildState::Success))), [], "it has ended");
    let notice = |app: &App| app.notice.as_ref().expect("a notice").text.to_string();
    assert_eq!(notice(&app), "The preview of #7 is ready: O, then p, opens it.");
    press(&mut app, "O");
    answer_details(&mut app, Ok(Some(Timed { value: details(), as_of: at(100) })));
    let open = |url: &str| Effect::OpenUrl(CleanText::line(url));
    assert_eq!(press(&mut app, "p"), [open("https://acme-docs-1.mintlify.site/")]);
    select(&mut app, "a.mdx");
    assert_eq!(press(&mut app, "o"), [open("https://acme-docs-1.mintlify.site/a")]);
    assert_eq!(press(&mut app, "b").len(), 1, "it can be built again");
}

#[test]
fn the_notice_of_a_built_preview_names_only_keys_that_open_it_from_there() {
    for (keys, expected) in [
        ("r", "The preview of #7 is ready: p opens it."),
        ("?", "The preview of #7 is ready."),
        ("Esc", "The preview of #7 is ready: O, then p, opens it."),
        ("Esc 3", "The preview of #7 is ready."),
        ("Esc v", "The preview of #7 is ready."),
    ] {
        let (mut app, _) = app_with_running_build();
        press(&mut app, keys);
        answer_build_check(&mut app, Ok(build(BuildState::Success)));
        assert_eq!(app.notice.as_ref().expect("a notice").text.as_str(), expected, "{keys}");
    }
}

#[test]
fn after_repeated_failures_the_state_of_a_build_is_not_requested_again_and_the_reason_is_shown() {
    let (mut app, check) = app_with_running_build();
    let offline = || Err(Failure::local("Could not reach api.example."));
    for _ in 0..4 {
        assert_eq!(answer_build_check(&mut app, offline()), check);
    }
    assert_eq!(answer_build_check(&mut app, Ok(build(BuildState::Queued))), check, "an answer starts the count again");
    for _ in 0..4 {
        answer_build_check(&mut app, offline());
    }
    assert_eq!(answer_build_check(&mut app, offline()), []);
    let shown: String = texts(&app).join("\n");
    assert!(
        shown.contains("result unknown") && shown.contains("can't be read. Could not reach api.example."),
        "{shown}"
    );
}

#[test]
fn a_build_whose_state_the_key_may_not_read_is_not_requested_again() {
    let (mut app, _) = app_with_running_build();
    let refused = Failure::new(FailureKind::KeyRefused, "The key isn't allowed to do this (403).");
    assert_eq!(answer_build_check(&mut app, Err(refused)), []);
    let shown: String = texts(&app).join("\n");
    assert!(shown.contains("result unknown") && !shown.contains("not built"), "{shown}");
    assert!(shown.contains("The state of the build can't be read. The key isn't allowed"), "{shown}");
}

#[test]
fn a_build_that_is_refused_shows_why_and_asks_for_nothing_more() {
    let mut app = app_with_open_dialog();
    press(&mut app, "b");
    let result =
        Err(Failure::local("The key isn't allowed to do this (403): the project's plan may not include previews."));
    assert_eq!(app.update(Msg::Jobs(JobsMsg::PreviewStarted { job: JobKey(1), result }), at(2)), []);
    let shown = texts(&app).join(" ").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(shown.contains("plan may not include previews"), "{shown}");
    assert_eq!(press(&mut app, "b").len(), 1, "it can be tried again");
}
