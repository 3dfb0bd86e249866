//! Tests of the jobs list: which effects its keys request and what it shows.

use super::compose::editor::Editor;
use super::confirm::{ConfirmDialog, ConfirmLine};
use super::input_dialog::InputDialog;
use super::jobs::detail::Fact;
use super::jobs::tests::{at, row, thread_of_prompt};
use super::{App, AppConfig, Effect, InitialData, Msg, NewFile, Severity, SubmitError};
use crate::model::change::{DiscardedPrompts, LocalChange};
use crate::model::endpoint::Scope;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::{Failure, FailureKind};
use crate::model::job::{FirstJobs, Job, JobGroup, JobKey, PullRequestCounts};
use crate::model::prompt::{DeliveryKind, DraftTarget, PromptId, Thread};
use crate::model::pull_request::tests::open_pull_request;
use crate::model::pull_request::{Checks, ChecksState, PullRequest, PullRequestState};
use crate::model::remote_job::{JobId, Status};
use crate::model::text::CleanText;
use crate::tui::{JobsEffect, JobsMsg, Pane, PromptsEffect, PromptsMsg};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

fn app() -> App {
    let scope = Scope { base_url: "http://127.0.0.1:1".to_owned(), project: "p".to_owned(), organization: None };
    let utc = chrono::FixedOffset::east_opt(0).expect("UTC");
    let start = AppConfig { size: (80, 24), ..AppConfig::new(scope, utc) };
    let (mut app, _) = App::new(start, at(0));
    let jobs = (1..=5)
        .map(|key| {
            let mut job = row(key, Status::Completed);
            job.remote.pr_link = Some(CleanText::line(&format!("https://example.com/a/pull/{key}")));
            (job.local.viewed_at, job.local.handled_at) = (Some(at(100)), Some(at(100)));
            job
        })
        .collect();
    app.update(
        Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(InitialData { jobs, ..InitialData::default() })))),
        at(0),
    );
    app
}

fn press_key(app: &mut App, code: KeyCode, mods: KeyModifiers) -> Vec<Effect> {
    let effects = app.update(Msg::Input(Event::Key(KeyEvent::new(code, mods))), at(0));
    let reads = |effect: &Effect| {
        matches!(
            effect,
            Effect::Jobs(JobsEffect::LoadThread(_))
                | Effect::Jobs(JobsEffect::PrefetchThreads(_))
                | Effect::Jobs(JobsEffect::ReportVisibleJobs(_))
        )
    };
    effects.into_iter().filter(|effect| !reads(effect)).collect()
}

fn press(app: &mut App, keys: &str) -> Vec<Effect> {
    keys.chars().flat_map(|c| press_key(app, KeyCode::Char(c), KeyModifiers::NONE)).collect()
}

fn enter(app: &mut App) -> Vec<Effect> {
    press_key(app, KeyCode::Enter, KeyModifiers::NONE)
}

fn jobs(keys: &[i64]) -> Vec<JobKey> {
    keys.iter().copied().map(JobKey).collect()
}

#[test]
fn marked_jobs_are_changed_only_after_the_answer_yes() {
    let mut app = app();
    for no in [KeyCode::Enter, KeyCode::Esc, KeyCode::Char('n'), KeyCode::Char('d')] {
        press(&mut app, "gv");
        assert_eq!(press(&mut app, "vd"), []);
        assert!(app.top::<ConfirmDialog>().is_some());
        assert_eq!(press_key(&mut app, no, KeyModifiers::NONE), []);
        assert!(app.dialogs.is_empty());
        app.jobs.clear_marks();
    }
}

#[test]
fn yes_dismisses_the_marked_jobs_and_a_single_undo_restores_them() {
    let mut app = app();
    let effects = press(&mut app, "gvvdy");
    assert_eq!(effects, [Effect::Jobs(JobsEffect::ChangeLocalData(jobs(&[5, 4]), LocalChange::Dismissed(true)))]);
    assert_eq!(
        press(&mut app, "u"),
        [Effect::Jobs(JobsEffect::ChangeLocalData(jobs(&[5, 4]), LocalChange::Dismissed(false)))]
    );
    assert_eq!(press(&mut app, "u"), [], "nothing is left to undo");
}

#[test]
fn fifty_changes_are_undone_in_reverse_order() {
    let mut app = app();
    for n in 0..50 {
        press(&mut app, "gR");
        app.update(Msg::Input(Event::Paste(format!("{n}"))), at(0));
        let effects = enter(&mut app);
        let title = CleanText::line(&format!("Job 5{}", (0..=n).map(|n| n.to_string()).collect::<String>()));
        assert_eq!(
            effects,
            [Effect::Jobs(JobsEffect::ChangeLocalData(jobs(&[5]), LocalChange::Title(Some(title.clone()))))]
        );
        let mut renamed = app.jobs.selected().cloned().expect("a job");
        (renamed.local.title, renamed.local.has_custom_title, renamed.revision) = (title, true, 100 + n);
        app.update(Msg::Jobs(JobsMsg::LocalDataChanged(Ok(vec![renamed]))), at(0));
    }
    let last: Vec<Effect> = (0..50).flat_map(|_| press(&mut app, "u")).collect();
    assert_eq!(last.len(), 50);
    assert_eq!(
        last.last(),
        Some(&Effect::Jobs(JobsEffect::ChangeLocalData(jobs(&[5]), LocalChange::Title(None)))),
        "back to the prompt's line"
    );
}

#[test]
fn marked_jobs_that_the_filter_hides_are_not_changed() {
    let mut app = app();
    press(&mut app, "gvvvvv");
    press(&mut app, "/#2");
    enter(&mut app);
    assert_eq!(press(&mut app, "d"), [], "the question names the remaining job");
    assert_eq!(
        press(&mut app, "y"),
        [Effect::Jobs(JobsEffect::ChangeLocalData(jobs(&[2]), LocalChange::Dismissed(true)))]
    );
    press(&mut app, "/9");
    enter(&mut app);
    assert_eq!(press(&mut app, "doyeT"), [], "no job is listed, so none is changed");
}

#[test]
fn escape_clears_the_marks_then_the_filter() {
    let mut app = app();
    press(&mut app, "/#2");
    enter(&mut app);
    press(&mut app, "v");
    assert_eq!((app.jobs.marked_count(), app.jobs.listed_count()), (1, 1));
    press_key(&mut app, KeyCode::Esc, KeyModifiers::NONE);
    assert_eq!((app.jobs.marked_count(), app.jobs.listed_count()), (0, 1));
    press_key(&mut app, KeyCode::Esc, KeyModifiers::NONE);
    assert_eq!((app.filter_text(), app.jobs.listed_count()), ("", 5));
}

#[test]
fn links_are_copied_one_per_line_and_opened_one_by_one() {
    let mut app = app();
    let effects = press(&mut app, "gvvyy");
    let text = "https://example.com/a/pull/5\nhttps://example.com/a/pull/4".to_owned();
    assert_eq!(effects, [Effect::copy("2 links", text)]);
    let link = |n: i64| Effect::OpenUrl(CleanText::line(&format!("https://example.com/a/pull/{n}")));
    assert_eq!(press(&mut app, "oy"), [link(5), link(4)]);
}

#[test]
fn copied_text_has_no_control_characters_whatever_the_id_contains() {
    let mut app = app();
    let mut odd = row(9, Status::Active);
    odd.id = JobId::new("job\x1b]52;c;AAAA\x07\u{9b}2J\nrm -rf ~\r");
    app.update(Msg::Engine(EngineEvent::Job(Box::new(odd))), at(1000));
    app.jobs.select(JobKey(9));
    for keys in ["y", "Y"] {
        let effects = press(&mut app, keys);
        let copied = effects.iter().find_map(|effect| match effect {
            Effect::Copy { text, .. } => Some(text.as_str()),
            _ => None,
        });
        let text = copied.expect("a copy");
        assert!(text.starts_with("job") && !text.contains(char::is_control), "{text:?}");
    }
    let prompt = "two\nlines\tand\x1b[201~ more\u{85}".to_owned();
    assert!(matches!(Effect::copy("it", prompt), Effect::Copy { text, .. } if text == "two\nlines\tand[201~ more"));
}

#[test]
fn an_export_has_the_field_names_of_the_service_and_the_local_data() {
    let mut app = app();
    let effects = press(&mut app, "gvvey");
    let [Effect::WriteFile(NewFile { name, text, description: what }, _)] = effects.as_slice() else {
        panic!("{effects:?}")
    };
    assert_eq!(what.as_str(), "2 jobs");
    assert!(name.starts_with("docdeck-jobs-20270115-") && name.ends_with(".json"), "{name}");
    let jobs: serde_json::Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(jobs.as_array().map(Vec::len), Some(2));
    assert_eq!((&jobs[0]["id"], &jobs[0]["status"]), (&"job-5".into(), &"completed".into()));
    assert_eq!(
        (&jobs[0]["delivery"], &jobs[0]["prLink"]),
        (&"accepted".into(), &"https://example.com/a/pull/5".into())
    );
}

#[test]
fn tags_are_added_to_and_removed_from_all_marked_jobs() {
    let mut app = app();
    press(&mut app, "gvvT");
    app.update(Msg::Input(Event::Paste("+docs -old".to_owned())), at(0));
    assert_eq!(enter(&mut app), []);
    let tags = |tag: &str| vec![CleanText::line(tag)];
    let wanted = [
        Effect::Jobs(JobsEffect::ChangeLocalData(jobs(&[5, 4]), LocalChange::AddTags(tags("docs")))),
        Effect::Jobs(JobsEffect::ChangeLocalData(jobs(&[5, 4]), LocalChange::RemoveTags(tags("old")))),
    ];
    assert_eq!(press(&mut app, "y"), wanted);
}

fn report_submitted(app: &mut App, job: i64, is_saved: bool) -> Vec<Effect> {
    let failure = Failure::new(FailureKind::Store, "The disk is full.");
    let error = SubmitError { failure, text: "Again".to_owned(), pages: Vec::new() };
    let result = if is_saved { Ok((PromptId(job), row(job, Status::Completed))) } else { Err(error) };
    app.update(Msg::Prompts(PromptsMsg::Submitted { draft_target: DraftTarget::FollowUp(JobKey(job)), result }), at(1))
}

#[test]
fn a_follow_up_to_several_jobs_is_confirmed_and_sends_one_prompt_to_each() {
    let mut app = app();
    press(&mut app, "gvvf");
    app.update(Msg::Input(Event::Paste("Again".to_owned())), at(0));
    assert_eq!(press_key(&mut app, KeyCode::Char('s'), KeyModifiers::CONTROL), []);
    let effects = press(&mut app, "y");
    let draft_target = DraftTarget::FollowUp(JobKey(5));
    let [draft, prompts @ ..] = effects.as_slice() else { panic!("nothing is asked for") };
    assert_eq!(
        *draft,
        Effect::Prompts(PromptsEffect::SaveDraft(draft_target, "Again".to_owned())),
        "a crash before the first prompt is saved"
    );
    assert_eq!(
        prompts,
        [5, 4].map(|job| Effect::Prompts(PromptsEffect::SubmitFollowUp(JobKey(job), "Again".to_owned())))
    );
    assert!(app.dialogs.is_empty() && app.jobs.marked_count() == 0);
    report_submitted(&mut app, 5, true);
    report_submitted(&mut app, 4, true);
    assert_eq!(app.draft(draft_target), None);
    let notice = app.notice.as_ref().map_or("", |notice| notice.text.as_str());
    assert_eq!(notice, "2 follow-ups saved; watch the list for progress.");
}

#[test]
fn the_editor_reopens_for_the_jobs_whose_follow_up_could_not_be_saved() {
    let mut app = app();
    press(&mut app, "gvvf");
    app.update(Msg::Input(Event::Paste("Again".to_owned())), at(0));
    press_key(&mut app, KeyCode::Char('s'), KeyModifiers::CONTROL);
    press(&mut app, "y");
    report_submitted(&mut app, 5, true);
    report_submitted(&mut app, 4, false);
    let Some(editor) = app.top::<Editor>() else { panic!("the editor is open") };
    assert_eq!(
        (editor.targets.as_slice(), editor.draft_target),
        (jobs(&[4]).as_slice(), DraftTarget::FollowUp(JobKey(4)))
    );
    assert!(!editor.is_in_external_editor && editor.draft_state.is_unsaved());
    press_key(&mut app, KeyCode::Char('s'), KeyModifiers::CONTROL);
    let again = press(&mut app, "y");
    assert_eq!(again.last(), Some(&Effect::Prompts(PromptsEffect::SubmitFollowUp(JobKey(4), "Again".to_owned()))));
}

#[test]
fn a_follow_up_to_several_jobs_keeps_an_existing_draft_for_one_job() {
    let mut app = app();
    press(&mut app, "gjf");
    app.update(Msg::Input(Event::Paste("My own".to_owned())), at(0));
    press_key(&mut app, KeyCode::Esc, KeyModifiers::NONE);
    press(&mut app, "gvvf");
    app.update(Msg::Input(Event::Paste("To all".to_owned())), at(0));
    press_key(&mut app, KeyCode::Char('s'), KeyModifiers::CONTROL);
    press(&mut app, "y");
    let draft_target = DraftTarget::FollowUp(JobKey(4));
    assert!(
        report_submitted(&mut app, 4, true)
            .contains(&Effect::Prompts(PromptsEffect::SaveDraft(draft_target, "My own".to_owned())))
    );
    report_submitted(&mut app, 5, true);
    assert_eq!(app.draft(draft_target), Some("My own"));
}

#[test]
fn a_list_of_ids_is_tracked_one_by_one_with_a_single_notice() {
    let mut app = app();
    press(&mut app, "+");
    app.update(Msg::Input(Event::Paste("a1, b2\nc3 a1".to_owned())), at(0));
    let id = |id: &str| JobId::new(id).expect("an id");
    assert_eq!(enter(&mut app), ["a1", "b2", "c3"].map(|raw| Effect::Jobs(JobsEffect::Track(id(raw)))));
    for (n, raw) in ["a1", "b2", "c3"].into_iter().enumerate() {
        let missing = Failure::new(FailureKind::NotFound, "No such job.");
        let result =
            if raw == "b2" { Err(missing) } else { Ok(row(20 + i64::try_from(n).expect("small"), Status::Active)) };
        app.update(Msg::Jobs(JobsMsg::Tracked { id: CleanText::line(raw), result }), at(1));
    }
    assert_eq!(app.notice.map(|notice| notice.text.to_string()), Some("2 tracked; not found: b2.".to_owned()));
}

#[test]
fn only_one_prompt_search_runs_at_a_time_and_answers_for_an_older_text_are_dropped() {
    let mut app = app();
    let found = |app: &mut App, text: &str, keys: &[i64]| {
        app.update(Msg::Jobs(JobsMsg::JobsFoundByPrompt { text: text.to_owned(), jobs: Ok(jobs(keys)) }), at(0))
    };
    assert_eq!(press(&mut app, "/zebra"), [Effect::Jobs(JobsEffect::FindJobsByPrompt("ze".to_owned()))]);
    assert_eq!(app.jobs.listed_count(), 0);
    assert_eq!(found(&mut app, "ze", &[1, 2]), [Effect::Jobs(JobsEffect::FindJobsByPrompt("zebra".to_owned()))]);
    assert_eq!(app.jobs.listed_count(), 0, "an answer to an older text is dropped");
    found(&mut app, "zebra", &[2]);
    assert_eq!(app.jobs.selected().map(|row| row.key), Some(JobKey(2)));
    assert_eq!(app.jobs.listed_count(), 1);
}

#[test]
fn prompts_are_searched_again_when_a_thread_has_changed() {
    let mut app = app();
    let search = Effect::Jobs(JobsEffect::FindJobsByPrompt("walrus".to_owned()));
    press(&mut app, "/walrus");
    app.update(Msg::Jobs(JobsMsg::JobsFoundByPrompt { text: "wa".to_owned(), jobs: Ok(Vec::new()) }), at(0));
    app.update(Msg::Jobs(JobsMsg::JobsFoundByPrompt { text: "walrus".to_owned(), jobs: Ok(Vec::new()) }), at(0));
    assert_eq!(app.jobs.listed_count(), 0);
    assert!(app.update(Msg::Engine(EngineEvent::Thread(JobKey(2))), at(1)).contains(&search));
    app.update(Msg::Jobs(JobsMsg::JobsFoundByPrompt { text: "walrus".to_owned(), jobs: Ok(jobs(&[2])) }), at(1));
    assert_eq!(app.jobs.listed_count(), 1);
}

#[test]
fn a_job_that_no_longer_passes_the_filter_stays_listed_while_it_is_selected() {
    let mut app = app();
    press(&mut app, "/s:done");
    enter(&mut app);
    press(&mut app, "g");
    let mut active = row(5, Status::Active);
    active.revision = 50;
    app.update(Msg::Engine(EngineEvent::Job(Box::new(active))), at(0));
    assert_eq!(app.jobs.selected().map(|row| row.key), Some(JobKey(5)), "a key pressed now still applies to it");
    press(&mut app, "G");
    assert_eq!(app.jobs.listed_count(), 4);
}

#[test]
fn a_new_job_that_the_filter_hides_is_listed_while_it_is_selected() {
    let mut app = app();
    press(&mut app, "/#2");
    enter(&mut app);
    let tracked = row(30, Status::Active);
    app.update(Msg::Jobs(JobsMsg::Tracked { id: CleanText::line("job-30"), result: Ok(tracked) }), at(0));
    assert_eq!(app.jobs.selected().map(|row| row.key), Some(JobKey(30)));
    press(&mut app, "G");
    assert_eq!(app.jobs.listed_count(), 1);
}

fn footer(app: &App) -> Vec<String> {
    app.hints().map(|(chord, _, label)| format!("{chord} {label}")).collect()
}

#[test]
fn the_footer_shows_what_a_key_does_to_the_selected_job() {
    let mut app = app();
    let mut plain = row(9, Status::Failed);
    plain.local.dismissed = false;
    plain.local.undelivered = Some(DeliveryKind::Paused);
    app.update(
        Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(InitialData {
            jobs: vec![plain.clone()],
            ..InitialData::default()
        })))),
        at(0),
    );
    let shows = |app: &App, hint: &str| footer(app).iter().any(|found| found == hint);
    assert!(shows(&app, "y copy") && shows(&app, "p resume"), "{:?}", footer(&app));
    plain.local.undelivered = Some(DeliveryKind::Unconfirmed);
    plain.id = None;
    plain.revision += 1;
    app.update(
        Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(InitialData {
            jobs: vec![plain],
            ..InitialData::default()
        })))),
        at(0),
    );
    let found = footer(&app);
    assert!(shows(&app, "! resolve"), "{found:?}");
    assert!(!found.iter().any(|hint| hint.starts_with("y ") || hint.starts_with("d ")), "{found:?}");
}

#[test]
fn the_footer_shows_what_escape_clears() {
    let mut app = app();
    let esc = |app: &App| footer(app).into_iter().find_map(|hint| hint.strip_prefix("Esc ").map(str::to_owned));
    assert_eq!(esc(&app), None, "nothing at the root");
    press(&mut app, "/a");
    enter(&mut app);
    assert_eq!(esc(&app).as_deref(), Some("clear filter"));
    press_key(&mut app, KeyCode::Esc, KeyModifiers::NONE);
    press(&mut app, "v");
    assert_eq!(esc(&app).as_deref(), Some("unmark"));
    press(&mut app, "?");
    assert_eq!(footer(&app), ["/ find", "Esc close"]);
    press(&mut app, "/quit");
    enter(&mut app);
    assert_eq!(esc(&app).as_deref(), Some("show all"));
}

#[test]
fn only_the_editor_of_a_new_job_mentions_the_title() {
    let invitation = |app: &App| app.top::<Editor>().expect("an editor").placeholder();
    let mut app = app();
    press(&mut app, "n");
    assert!(invitation(&app).contains("title"));
    press_key(&mut app, KeyCode::Esc, KeyModifiers::NONE);
    press(&mut app, "f");
    assert!(!invitation(&app).contains("title"));
}

#[test]
fn opening_a_dialog_clears_an_information_notice_but_not_a_problem() {
    let mut app = app();
    press(&mut app, "d");
    assert!(app.notice.is_some(), "the dismissal is reported");
    press(&mut app, "n");
    assert_eq!(app.notice, None);
    press_key(&mut app, KeyCode::Esc, KeyModifiers::NONE);
    app.notify_failure(&Failure { kind: FailureKind::Store, message: CleanText::line("The disk is full.") }, at(0));
    press(&mut app, "n");
    assert!(app.notice.is_some());
}

/// Creates a dashboard whose store has eight done jobs. Job 8 is the newest. Only the jobs with a key in `rows` are
/// loaded. Returns the dashboard and the rows of all eight jobs.
fn app_with_partial_list(rows: std::ops::Range<i64>) -> (App, Vec<Job>) {
    let scope = Scope { base_url: "http://127.0.0.1:1".to_owned(), project: "p".to_owned(), organization: None };
    let utc = chrono::FixedOffset::east_opt(0).expect("UTC");
    let (mut app, effects) = App::new(AppConfig { size: (80, 24), ..AppConfig::new(scope, utc) }, at(0));
    assert_eq!(effects, [Effect::Jobs(JobsEffect::LoadFirstRows(24))]);
    let done = |key: i64| {
        let mut job = row(key, Status::Failed);
        (job.local.finished_at, job.local.viewed_at, job.local.handled_at) =
            (Some(at(key)), Some(at(100)), Some(at(100)));
        job
    };
    let head = rows.rev().map(done).collect();
    let first = FirstJobs { jobs: head, group_counts: [0, 0, 0, 8, 0], ..FirstJobs::default() };
    let effects = app.update(Msg::Jobs(JobsMsg::FirstRowsLoaded(Ok(first))), at(0));
    assert_eq!(
        effects.last(),
        Some(&Effect::Jobs(JobsEffect::LoadInitialData)),
        "the rest is loaded after what the first rows need"
    );
    (app, (1..=8).map(done).collect())
}

fn shown_jobs(app: &App) -> Vec<JobKey> {
    app.jobs.shown_rows().map(|row| row.key).collect()
}

#[test]
fn the_first_rows_are_shown_with_the_group_sizes_of_the_complete_list() {
    let (mut app, all) = app_with_partial_list(6..9);
    assert_eq!(shown_jobs(&app), jobs(&[8, 7, 6]));
    assert_eq!((app.jobs.count_of(JobGroup::Done), app.jobs.line_count()), (8, 9));
    press(&mut app, "j");
    app.update(
        Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(InitialData { jobs: all, ..InitialData::default() })))),
        at(0),
    );
    assert_eq!(shown_jobs(&app), jobs(&[8, 7, 6, 5, 4, 3, 2, 1]));
    assert_eq!(app.jobs.selected().map(|row| row.key), Some(JobKey(7)), "the selection stays");
    assert_eq!((app.jobs.count_of(JobGroup::Done), app.jobs.line_count()), (8, 9));
}

#[test]
fn the_window_title_counts_pull_requests_before_and_after_all_rows_are_loaded() {
    let open = open_pull_request(at(0));
    let failing = Checks { state: ChecksState::Failing, ..Checks::default() };
    let job = |key: i64, state: PullRequest| Job { pull_request: Some(Box::new(state)), ..row(key, Status::Failed) };
    let jobs = vec![
        job(1, open.clone()),
        job(2, open.clone()),
        job(3, PullRequest { checks: failing, ..open }),
        row(4, Status::Failed),
    ];
    let (mut app, _) = app_with_partial_list(1..1);
    assert_eq!(app.terminal_title(), "docdeck");
    let first = FirstJobs {
        jobs: jobs[..1].to_vec(),
        group_counts: [4, 0, 0, 0, 0],
        pull_requests: PullRequestCounts { to_review: 2, failing: 1 },
        ..FirstJobs::default()
    };
    app.jobs.show_first_rows(first);
    let title = "4 need you · 2 to review · 1 failing · docdeck";
    assert_eq!(app.terminal_title(), title);
    let all = InitialData { jobs: jobs.clone(), ..InitialData::default() };
    app.update(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(all)))), at(0));
    assert_eq!(app.terminal_title(), title);
    let merged = PullRequest { state: PullRequestState::Merged, ..open_pull_request(at(1)) };
    app.jobs.upsert(Job { revision: 9, ..job(1, merged) });
    assert!(app.terminal_title().contains("· 1 to review · 1 failing"), "{}", app.terminal_title());
}

#[test]
fn a_thread_that_arrives_with_the_first_rows_is_not_loaded_again() {
    let scope = Scope { base_url: "http://127.0.0.1:1".to_owned(), project: "p".to_owned(), organization: None };
    let utc = chrono::FixedOffset::east_opt(0).expect("UTC");
    let (mut app, _) = App::new(AppConfig { size: (160, 48), ..AppConfig::new(scope, utc) }, at(0));
    assert!(app.is_reading_store());
    let first = FirstJobs { jobs: vec![row(3, Status::Active), row(2, Status::Active)], ..FirstJobs::default() };
    let without = app.update(Msg::Jobs(JobsMsg::FirstRowsLoaded(Ok(first.clone()))), at(0));
    assert!(without.contains(&Effect::Jobs(JobsEffect::LoadThread(JobKey(3)))) && app.is_reading_store());
    app.update(Msg::Jobs(JobsMsg::ThreadLoaded { job: JobKey(3), result: Ok(Thread::default()) }), at(0));
    let (mut app, _) = App::new(app.config, at(0));
    let first = FirstJobs { thread: Some(Thread::default()), ..first };
    let effects = app.update(Msg::Jobs(JobsMsg::FirstRowsLoaded(Ok(first))), at(0));
    assert!(!effects.iter().any(|effect| matches!(effect, Effect::Jobs(JobsEffect::LoadThread(_)))), "{effects:?}");
    assert!(!app.is_reading_store(), "everything on screen is loaded");
}

#[test]
fn no_prompt_is_sent_if_the_store_is_read_only() {
    let mut app = app();
    app.update(Msg::StoreReadOnly, at(0));
    let notice = app.notice.as_ref().map(|notice| notice.text.to_string()).unwrap_or_default();
    assert!(notice.starts_with("The data folder can't be written") && notice.contains("--data-dir"), "{notice}");
    let (opened, _) = App::new(AppConfig { read_only: true, ..app.config.clone() }, at(0));
    assert_eq!(opened.notice, app.notice, "the same notice as when the store was opened read-only");
    let why = CleanText::line("Why.");
    let (mut known, _) =
        App::new(AppConfig { read_only: true, notice: Some(why.clone()), ..app.config.clone() }, at(0));
    known.update(Msg::StoreReadOnly, at(0));
    assert_eq!(known.notice.map(|notice| notice.text), Some(why), "the notice with the cause stays");
    press(&mut app, "n");
    app.update(Msg::Input(Event::Paste("words".to_owned())), at(0));
    let effects = press_key(&mut app, KeyCode::Char('s'), KeyModifiers::CONTROL);
    assert!(
        !effects.iter().any(|effect| matches!(effect, Effect::Prompts(PromptsEffect::SubmitNewJob(_)))),
        "{effects:?}"
    );
    assert!(app.top::<Editor>().is_some_and(|editor| editor.message.is_some()));
}

#[test]
fn the_end_key_waits_until_all_jobs_are_loaded() {
    let (mut app, all) = app_with_partial_list(6..9);
    press(&mut app, "G");
    app.update(
        Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(InitialData { jobs: all, ..InitialData::default() })))),
        at(0),
    );
    assert_eq!(app.jobs.selected().map(|row| row.key), Some(JobKey(1)));
}

#[test]
fn keys_pressed_before_all_jobs_are_loaded_run_afterwards_in_order() {
    let (mut app, all) = app_with_partial_list(6..9);
    press(&mut app, "sn");
    app.update(Msg::Input(Event::Paste("words".to_owned())), at(0));
    assert!(app.dialogs.is_empty() && shown_jobs(&app) == jobs(&[8, 7, 6]), "nothing is applied to a partial list");
    app.update(
        Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(InitialData { jobs: all, ..InitialData::default() })))),
        at(0),
    );
    assert_eq!(app.jobs.sorting().by.name(), "age");
    assert!(app.top::<Editor>().is_some_and(|editor| editor.input.text() == "words"));
}

#[test]
fn a_click_before_all_jobs_are_loaded_focuses_the_detail_but_selects_nothing() {
    let (mut app, _) = app_with_partial_list(6..9);
    app.update(Msg::Input(Event::Resize(160, 40)), at(0));
    let click = |app: &mut App, column, row| {
        let kind = MouseEventKind::Down(MouseButton::Left);
        app.update(Msg::Input(Event::Mouse(MouseEvent { kind, column, row, modifiers: KeyModifiers::NONE })), at(0));
    };
    let before = app.jobs.selected().map(|row| row.key);
    let lines = app.geometry().list_lines();
    for row in lines.y..lines.y + 5 {
        click(&mut app, 5, row);
        assert_eq!((app.pane, app.jobs.selected().map(|row| row.key)), (Pane::List, before));
    }
    click(&mut app, 150, 10);
    assert_eq!((app.pane, app.jobs.selected().map(|row| row.key)), (Pane::Detail, before));
}

#[test]
fn keys_that_quit_do_not_wait_for_the_disk() {
    let (mut app, _) = app_with_partial_list(6..9);
    press(&mut app, "s");
    assert_eq!(press_key(&mut app, KeyCode::Char('c'), KeyModifiers::CONTROL), [Effect::Quit]);
    let (mut app, _) = app_with_partial_list(6..9);
    assert_eq!(press(&mut app, "q"), [Effect::Quit]);
}

#[test]
fn events_that_arrive_during_loading_override_the_loaded_rows() {
    let (mut app, all) = app_with_partial_list(6..9);
    let send_event = |app: &mut App, key, revision| {
        let row = Job { revision, ..row(key, Status::Active) };
        app.update(Msg::Engine(EngineEvent::Job(Box::new(row))), at(0));
    };
    send_event(&mut app, 2, 9);
    send_event(&mut app, 8, 10);
    app.update(Msg::Engine(EngineEvent::Merged { gone: JobKey(3), into: JobKey(4) }), at(0));
    assert_eq!(shown_jobs(&app), jobs(&[8, 7, 6]), "a row that is not loaded yet comes with the rest");
    app.update(
        Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(InitialData { jobs: all, ..InitialData::default() })))),
        at(0),
    );
    assert_eq!(shown_jobs(&app), jobs(&[8, 2, 7, 6, 5, 4, 1]));
    assert_eq!(app.jobs.count_of(JobGroup::Working), 2);
}

#[test]
fn the_next_key_that_acts_clears_an_information_notice_but_not_a_problem() {
    let notice = |app: &App| app.notice.as_ref().map(|notice| notice.text.to_string());
    let mut app = app();
    for keys in ["j", "2", "?"] {
        app.notify(Severity::Info, "Accepted: Fix the links", at(0));
        press(&mut app, "=");
        assert!(notice(&app).is_some(), "a key that does nothing");
        press(&mut app, keys);
        assert_eq!(notice(&app), None, "{keys}");
    }
    app.notify(Severity::Info, "Accepted: Fix the links", at(0));
    press_key(&mut app, KeyCode::Esc, KeyModifiers::NONE);
    assert_eq!((notice(&app), app.dialogs.len()), (None, 0), "Esc closed the help");
    app.notify(Severity::Error, "Not sent: no answer.", at(0));
    press(&mut app, "1j");
    assert_eq!(notice(&app).as_deref(), Some("Not sent: no answer."));
}

/// Returns the text of the open confirmation dialog, and its lines that name jobs.
fn open_confirmation(app: &App) -> (String, Vec<ConfirmLine>) {
    let question = app.top::<ConfirmDialog>().expect("a question");
    (question.text.clone(), question.job_lines(70, 12))
}

fn target(title: &str) -> ConfirmLine {
    ConfirmLine::Target(format!("• {title}"))
}

#[test]
fn keys_on_marked_jobs_ask_first_and_name_the_jobs_even_if_only_one_is_marked() {
    for (keys, text) in [
        ("d", "Dismiss 1 job?"),
        ("o", "Open 1 pull request?"),
        ("m", "Move 1 job back to “Needs you”?"),
        ("y", "Copy the links or ids of 1 job?"),
        ("e", "Export 1 job as JSON to the current folder?"),
    ] {
        let mut app = app();
        press(&mut app, "gv");
        assert_eq!(app.jobs.selected().map(|row| row.key), Some(JobKey(4)), "another job is selected");
        assert_eq!(press(&mut app, keys), [], "{keys}");
        assert_eq!(open_confirmation(&app), (text.to_owned(), vec![target("Job 5")]), "{keys}");
        assert!(!press(&mut app, "y").is_empty(), "{keys}");
    }
}

#[test]
fn title_and_note_dialogs_name_the_selected_job_even_if_another_job_is_marked() {
    for (keys, title) in [("R", "Rename job: Job 4"), ("N", "Note: Job 4")] {
        let mut app = app();
        press(&mut app, "gv");
        press(&mut app, keys);
        let dialog = app.top::<InputDialog>().expect("a dialog");
        assert_eq!(dialog.title(), title);
    }
}

#[test]
fn a_follow_up_to_marked_jobs_names_its_targets_and_the_skipped_jobs() {
    let mut app = app();
    let mut bare = row(6, Status::Active);
    bare.id = None;
    bare.local.undelivered = Some(DeliveryKind::Queued);
    bare.revision = 9;
    let mut gone = row(7, Status::Active);
    gone.local.gone = true;
    gone.revision = 9;
    for row in [bare, gone] {
        app.update(Msg::Engine(EngineEvent::Job(Box::new(row))), at(0));
    }
    for key in [6, 7, 2] {
        app.jobs.select(JobKey(key));
        press(&mut app, "v");
    }
    press(&mut app, "gf");
    let Some(editor) = app.top::<Editor>() else { panic!("no editor: {:?}", app.notice) };
    assert_eq!(editor.targets, jobs(&[2]));
    assert_eq!(editor.title.as_str(), "Follow-up to 1 marked job (2 skipped): Job 2");
    app.update(Msg::Input(Event::Paste("Again".to_owned())), at(0));
    assert_eq!(press_key(&mut app, KeyCode::Char('s'), KeyModifiers::CONTROL), [], "nothing is sent without an answer");
    let (text, lines) = open_confirmation(&app);
    assert!(text.starts_with("Send this to 1 job?"), "{text}");
    let skipped = |text: &str| ConfirmLine::Skipped(text.to_owned());
    assert_eq!(lines, [target("Job 2"), skipped("Skipped: Job 6 (no id yet)"), skipped("Skipped: Job 7 (gone)")]);
    let sent = press(&mut app, "y");
    assert_eq!(sent.last(), Some(&Effect::Prompts(PromptsEffect::SubmitFollowUp(JobKey(2), "Again".to_owned()))));
    assert!(
        !sent.iter().any(|effect| matches!(effect, Effect::Prompts(PromptsEffect::SubmitFollowUp(JobKey(6 | 7), _)))),
        "{sent:?}"
    );
}

#[test]
fn jobs_that_do_not_fit_in_the_confirmation_are_counted() {
    let mut app = app();
    press(&mut app, "gvvvvvd");
    let question = app.top::<ConfirmDialog>().expect("a question");
    let lines = |max| question.job_lines(40, max);
    let more = |text: &str| ConfirmLine::Target(text.to_owned());
    assert_eq!(lines(5).len(), 5);
    assert_eq!(lines(3), [target("Job 5"), target("Job 4"), more("and 3 more")]);
    assert_eq!(lines(1), [more("5 more")]);
    assert_eq!(lines(0), []);
}

#[test]
fn the_footer_shows_that_keys_act_on_marked_jobs() {
    let mut app = app();
    assert_eq!(app.marked_count_label(), None);
    press(&mut app, "gvv");
    assert_eq!(app.marked_count_label().as_deref(), Some(" 2 marked:"));
    let first = app.footer(80).into_iter().next().expect("a key");
    assert!(first.start >= " 2 marked:".len() && first.label == "follow up", "{first:?}");
    enter(&mut app);
    assert_eq!((app.marked_count_label(), app.acts_on_marks()), (None, false), "the detail shows a single job");
    assert_eq!(press(&mut app, "o").last(), Some(&Effect::OpenUrl(CleanText::line("https://example.com/a/pull/3"))));
}

#[test]
fn queue_keys_act_on_marked_jobs_after_a_confirmation() {
    let mut app = app();
    for key in [6, 7] {
        let mut queued = row(key, Status::Active);
        queued.local.undelivered = Some(DeliveryKind::Queued);
        queued.revision = 9;
        app.update(Msg::Engine(EngineEvent::Job(Box::new(queued))), at(0));
        app.jobs.select(JobKey(key));
        press(&mut app, "v");
    }
    app.jobs.select(JobKey(5));
    press(&mut app, "vx");
    let (text, lines) = open_confirmation(&app);
    assert_eq!(text, "Remove the prompts of 2 jobs from the queue without sending?");
    assert_eq!(lines.last(), Some(&ConfirmLine::Skipped("Skipped: Job 5 (not queued)".to_owned())));
    let effects = press(&mut app, "y");
    assert!(
        matches!(&effects[..], [Effect::Prompts(PromptsEffect::RemoveFromQueue(keys))] if keys.len() == 2),
        "{effects:?}"
    );
    assert_eq!(app.jobs.marked_count(), 0);
}

#[test]
fn the_footer_offers_to_resume_marked_prompts_if_all_of_them_are_paused() {
    let mut app = app();
    for (key, state) in [(6, DeliveryKind::Paused), (7, DeliveryKind::Paused), (8, DeliveryKind::Queued)] {
        let mut queued = row(key, Status::Active);
        (queued.local.undelivered, queued.revision) = (Some(state), 9);
        app.update(Msg::Engine(EngineEvent::Job(Box::new(queued))), at(0));
    }
    let offers = |app: &App, label: &str| app.footer(300).iter().any(|hint| hint.label == label);
    for key in [6, 7] {
        app.jobs.select(JobKey(key));
        press(&mut app, "v");
    }
    assert!(offers(&app, "resume") && !offers(&app, "pause"));
    app.jobs.select(JobKey(8));
    press(&mut app, "v");
    assert!(offers(&app, "pause") && !offers(&app, "resume"), "the key pauses all of them");
}

#[test]
fn the_notice_about_copied_texts_says_whether_they_are_links_or_ids() {
    let mut app = app();
    for key in [6, 7] {
        app.update(Msg::Engine(EngineEvent::Job(Box::new(row(key, Status::Active)))), at(0));
    }
    let mut copy_notice = |keys: &[i64]| {
        app.jobs.clear_marks();
        for key in keys {
            app.jobs.select(JobKey(*key));
            press(&mut app, "v");
        }
        let effects = press(&mut app, "yy");
        effects.iter().find_map(|effect| match effect {
            Effect::Copy { success_notice, .. } => Some(success_notice.to_string()),
            _ => None,
        })
    };
    assert_eq!(copy_notice(&[2, 3]).as_deref(), Some("Copied 2 links."));
    assert_eq!(copy_notice(&[6, 7]).as_deref(), Some("Copied 2 job ids."));
    assert_eq!(copy_notice(&[3, 6]).as_deref(), Some("Copied 2 links or ids."));
}

#[test]
fn the_notice_about_an_unresolved_prompt_names_the_configured_key() {
    let mut app = app();
    let mut unconfirmed = row(6, Status::Active);
    (unconfirmed.local.undelivered, unconfirmed.revision) = (Some(DeliveryKind::Unconfirmed), 9);
    app.update(Msg::Engine(EngineEvent::Job(Box::new(unconfirmed))), at(0));
    app.jobs.select(JobKey(6));
    app.config.keymap.set_keys(
        crate::tui::keymap::Context::Jobs,
        "resolve",
        vec![crate::tui::chord::plain_key(KeyCode::F(6))],
    );
    press(&mut app, "m");
    let notice = app.notice.as_ref().expect("a notice").text.to_string();
    assert_eq!(notice, "This job has an unresolved prompt: press F6 to resolve it first.");
}

#[test]
fn the_notice_about_a_dismissed_job_says_that_its_queued_prompt_is_still_sent() {
    let mut app = app();
    for (key, state) in [(6, DeliveryKind::Queued), (7, DeliveryKind::Paused)] {
        let mut queued = row(key, Status::Active);
        (queued.local.undelivered, queued.revision) = (Some(state), 9);
        app.update(Msg::Engine(EngineEvent::Job(Box::new(queued))), at(0));
    }
    for (key, expected) in [
        (6, "Dismissed. Its queued prompt is still sent. Press u to undo, then x to remove the prompt."),
        (7, "Dismissed. Press u to undo."),
        (5, "Dismissed. Press u to undo."),
    ] {
        app.jobs.select(JobKey(key));
        press(&mut app, "d");
        assert_eq!(app.notice.as_ref().expect("a notice").text.as_str(), expected);
    }
    for key in [6, 5] {
        app.jobs.select(JobKey(key));
        press(&mut app, "v");
    }
    press(&mut app, "dy");
    assert_eq!(
        app.notice.as_ref().expect("a notice").text.as_str(),
        "2 jobs dismissed. Queued prompts are still sent. Press u to undo, then x to remove a prompt."
    );
}

/// Creates the dashboard of [`app`], but with unhandled jobs, which are in the group `NeedsYou`.
fn app_with_unhandled_jobs() -> App {
    let mut app = app();
    for n in 1..=5 {
        let mut row = app.jobs.get(JobKey(n)).expect("a job").clone();
        row.local.handled_at = None;
        row.revision = 20;
        app.update(Msg::Engine(EngineEvent::Job(Box::new(row))), at(0));
    }
    assert_eq!(app.jobs.count_of(JobGroup::NeedsYou), 5);
    app
}

#[test]
fn w_goes_through_the_jobs_that_need_the_user_and_starts_again_at_the_top() {
    let mut app = app_with_unhandled_jobs();
    let needing: Vec<JobKey> = shown_jobs(&app).into_iter().take(5).collect();
    press(&mut app, "G");
    let visited: Vec<JobKey> = (0..6)
        .map(|_| {
            press(&mut app, "w");
            app.jobs.selected().expect("a job").key
        })
        .collect();
    assert_eq!(visited, [needing.as_slice(), &needing[..1]].concat());
}

#[test]
fn the_next_and_the_previous_job_can_be_opened_from_the_details() {
    let mut app = app_with_unhandled_jobs();
    let listed = shown_jobs(&app);
    press(&mut app, "g");
    enter(&mut app);
    let effects = press(&mut app, "J");
    assert_eq!((app.jobs.selected().map(|job| job.key), app.pane), (listed.get(1).copied(), crate::tui::Pane::Detail));
    let viewed = Effect::Jobs(JobsEffect::ChangeLocalData(vec![listed[1]], LocalChange::Viewed));
    assert!(effects.contains(&viewed) || !app.jobs.selected().expect("a job").is_unseen(), "{effects:?}");
    press(&mut app, "K");
    assert_eq!((app.jobs.selected().map(|job| job.key), app.pane), (listed.first().copied(), crate::tui::Pane::Detail));
}

#[test]
fn only_acting_on_a_job_moves_it_out_of_needs_you() {
    let mut app = app_with_unhandled_jobs();
    press(&mut app, "g");
    for harmless in ["\r", " ", "y", "Y", "jk"] {
        let effects = if harmless == "\r" { enter(&mut app) } else { press(&mut app, harmless) };
        let acts = |effect: &Effect| {
            matches!(
                effect,
                Effect::Jobs(JobsEffect::ChangeLocalData(_, LocalChange::Handled | LocalChange::RestoreHandledAt(_)))
            )
        };
        assert!(!effects.iter().any(acts), "{harmless}: {effects:?}");
        press_key(&mut app, KeyCode::Esc, KeyModifiers::NONE);
    }
    assert_eq!(press(&mut app, "m"), [Effect::Jobs(JobsEffect::ChangeLocalData(jobs(&[5]), LocalChange::Handled))]);
    assert_eq!(
        press(&mut app, "u"),
        [Effect::Jobs(JobsEffect::ChangeLocalData(jobs(&[5]), LocalChange::RestoreHandledAt(None)))]
    );
    assert_eq!(press(&mut app, "o")[0], Effect::Jobs(JobsEffect::ChangeLocalData(jobs(&[5]), LocalChange::Handled)));
}

#[test]
fn a_handled_job_stays_in_its_group_while_it_is_selected() {
    let mut app = app_with_unhandled_jobs();
    press(&mut app, "gm");
    let mut handled = app.jobs.get(JobKey(5)).expect("a job").clone();
    handled.local.handled_at = Some(at(200));
    handled.revision = 30;
    app.update(Msg::Jobs(JobsMsg::LocalDataChanged(Ok(vec![handled.clone()]))), at(0));
    assert_eq!((app.jobs.count_of(JobGroup::NeedsYou), handled.group()), (4, JobGroup::Done));
    press(&mut app, "j");
    assert_eq!((app.jobs.count_of(JobGroup::NeedsYou), app.jobs.selected().map(|row| row.key)), (4, Some(JobKey(4))));
    app.jobs.select(JobKey(5));
    assert_eq!(
        press(&mut app, "m"),
        [Effect::Jobs(JobsEffect::ChangeLocalData(jobs(&[5]), LocalChange::RestoreHandledAt(None)))],
        "it is moved back"
    );
}

#[test]
fn discarded_and_removed_prompts_are_reported_and_restored_by_undo() {
    let mut app = app();
    let notice = |app: &App| app.notice.as_ref().map(|notice| notice.text.to_string()).unwrap_or_default();
    let discarded = |prompts: &[i64]| {
        let mut row = row(3, Status::Active);
        row.local.undelivered = Some(DeliveryKind::Discarded);
        row.id = None;
        row.revision = 50;
        DiscardedPrompts { prompts: prompts.iter().copied().map(PromptId).collect(), jobs: vec![row] }
    };
    let sentence = CleanText::line("Discarded. The service may still have started it.");
    app.update(Msg::Prompts(PromptsMsg::Discarded { sentence, result: Ok(discarded(&[7])) }), at(0));
    assert_eq!(notice(&app), "Discarded. The service may still have started it. Press u to undo.");
    assert_eq!(app.jobs.get(JobKey(3)).map(Job::group), Some(JobGroup::Done));
    app.update(Msg::Prompts(PromptsMsg::RemovedFromQueue(Ok(discarded(&[8, 9])))), at(0));
    assert_eq!(notice(&app), "2 prompts removed from the queue, not sent. Press u to undo.");
    app.update(Msg::Prompts(PromptsMsg::RemovedFromQueue(Ok(DiscardedPrompts::default()))), at(0));
    assert!(notice(&app).starts_with("Nothing was removed"), "this can't be undone");
    assert_eq!(press(&mut app, "u"), [Effect::Prompts(PromptsEffect::RestorePrompts(vec![PromptId(8), PromptId(9)]))]);
    assert_eq!(press(&mut app, "u"), [Effect::Prompts(PromptsEffect::RestorePrompts(vec![PromptId(7)]))]);
    let refused = Failure::new(FailureKind::Store, "The prompt was sent.");
    app.update(Msg::Prompts(PromptsMsg::PromptsRestored(Err(refused))), at(0));
    assert_eq!(notice(&app), "Not undone. The prompt was sent.");
}

#[test]
fn a_dismissed_active_job_still_counts_as_working() {
    let mut app = app();
    let working = row(6, Status::Active);
    app.update(Msg::Engine(EngineEvent::Job(Box::new(working.clone()))), at(0));
    assert_eq!(app.jobs.working_count(), 1);
    let mut dismissed = working;
    dismissed.local.dismissed = true;
    dismissed.revision = 60;
    assert!(dismissed.is_working() && crate::model::poll::next_poll(&dismissed).is_some());
    app.update(Msg::Engine(EngineEvent::Job(Box::new(dismissed))), at(0));
    assert_eq!((app.jobs.working_count(), app.jobs.count_of(JobGroup::Working)), (1, 0));
}

#[test]
fn beside_the_list_the_details_repeat_only_a_title_that_the_timeline_lacks() {
    let has_title =
        |app: &App, job: &Job| app.facts_about(job, (40, 30)).iter().any(|fact| matches!(fact, Fact::Title(_)));
    let mut app = app();
    let job = app.jobs.selected().expect("a job").clone();
    let mut renamed = job.clone();
    renamed.local.has_custom_title = true;
    assert!(has_title(&app, &job), "the list is hidden");
    app.update(Msg::Input(Event::Resize(120, 40)), at(0));
    assert!(!has_title(&app, &job), "its thread is not read yet");
    assert!(has_title(&app, &renamed));
    let read = |thread| Msg::Jobs(JobsMsg::ThreadLoaded { job: job.key, result: Ok(thread) });
    app.update(read(thread_of_prompt("Fix it")), at(0));
    assert!(!has_title(&app, &job));
    app.detail.mark_stale(job.key);
    app.update(read(Thread::default()), at(0));
    assert!(has_title(&app, &job), "the job was created elsewhere");
}
