//! Tests of the sources of an editor's text, of drafts, batches and the queue, and of sending prompts.

use super::batch::BatchDialog;
use super::editor::Editor;
use super::picker::PickerKind;
use crate::model::Time;
use crate::model::change::QueueChange;
use crate::model::endpoint::Scope;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::{Failure, FailureKind};
use crate::model::job::JobKey;
use crate::model::prompt::{Delivery, DeliveryKind, DraftTarget, Prompt, PromptId, PromptKind, Thread};
use crate::model::remote_job::Status;
use crate::model::text::CleanText;
use crate::tui::chord::ctrl;
use crate::tui::component::Component as _;
use crate::tui::input_dialog::{InputCheck, InputDialog};
use crate::tui::jobs::tests::{at, row};
use crate::tui::keymap::Context;
use crate::tui::{
    App, AppConfig, Effect, InitialData, JobsEffect, JobsMsg, Msg, PromptsEffect, PromptsMsg, Screen, SubmitError,
    Template,
};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers, MouseButton, MouseEvent, MouseEventKind};

struct Fixture {
    app: App,
    effects: Vec<Effect>,
    now: Time,
}

impl Fixture {
    fn new(drafts: Vec<(DraftTarget, String)>) -> Self {
        let scope = Scope { base_url: "http://127.0.0.1:1".to_owned(), project: "p".to_owned(), organization: None };
        let utc = chrono::FixedOffset::east_opt(0).expect("UTC");
        let start = AppConfig { size: (80, 24), reduced_motion: true, ..AppConfig::new(scope, utc) };
        let (app, _) = App::new(start, at(0));
        let mut fixture = Self { app, effects: Vec::new(), now: at(0) };
        let jobs = vec![row(1, Status::Active)];
        fixture.send(Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(InitialData {
            jobs,
            drafts,
            ..InitialData::default()
        })))));
        fixture
    }

    fn send(&mut self, msg: Msg) {
        self.effects = self.app.update(msg, self.now);
    }

    /// Advances the clock until letters are shortcuts again after a text was sent.
    fn wait_for_shortcuts(&mut self) {
        self.now += chrono::TimeDelta::milliseconds(500);
    }

    fn press(&mut self, code: KeyCode) {
        self.send(Msg::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))));
    }

    fn press_ctrl(&mut self, c: char) {
        self.send(Msg::Input(Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL))));
    }

    fn type_text(&mut self, text: &str) {
        text.chars().for_each(|c| self.press(KeyCode::Char(c)));
    }

    fn paste(&mut self, text: &str) {
        self.send(Msg::Input(Event::Paste(text.to_owned())));
    }

    fn text(&self) -> String {
        self.app.find::<Editor>().map(|editor| editor.input.text()).expect("an editor")
    }

    fn open_history(&mut self, prompts: &[&str]) {
        self.press_ctrl('r');
        assert_eq!(self.effects, [Effect::Prompts(PromptsEffect::LoadHistory)]);
        self.send(Msg::Prompts(PromptsMsg::HistoryLoaded(Ok(prompts.iter().map(|text| (*text).to_owned()).collect()))));
    }
}

#[test]
fn inserting_an_earlier_prompt_into_an_empty_editor_can_be_undone() {
    let mut fixture = Fixture::new(Vec::new());
    fixture.type_text("n");
    fixture.open_history(&["Fix /a\nall of it", "Translate /b"]);
    fixture.type_text("trans");
    fixture.press(KeyCode::Enter);
    assert_eq!(fixture.text(), "Translate /b");
    fixture.press_ctrl('_');
    assert_eq!(fixture.text(), "");
}

#[test]
fn an_earlier_prompt_is_inserted_at_the_cursor() {
    let mut fixture = Fixture::new(Vec::new());
    fixture.type_text("n");
    fixture.paste("Before  after");
    (0..6).for_each(|_| fixture.press(KeyCode::Left));
    fixture.open_history(&["one\ntwo"]);
    fixture.press(KeyCode::Enter);
    assert_eq!(fixture.text(), "Before one\ntwo after");
    fixture.press_ctrl('_');
    assert_eq!(fixture.text(), "Before  after");
}

#[test]
fn earlier_prompts_that_arrive_after_their_list_was_closed_are_ignored() {
    let mut fixture = Fixture::new(Vec::new());
    fixture.type_text("n");
    fixture.press_ctrl('r');
    fixture.press(KeyCode::Esc);
    fixture.send(Msg::Prompts(PromptsMsg::HistoryLoaded(Ok(vec!["late".to_owned()]))));
    assert_eq!(fixture.app.dialogs.len(), 1);
    fixture.press(KeyCode::Enter);
    assert_eq!(fixture.text(), "\n", "Enter is a new line again");
}

#[test]
fn a_draft_is_saved_on_time_even_while_a_picker_covers_its_editor() {
    let mut fixture = Fixture::new(Vec::new());
    fixture.type_text("n");
    fixture.paste("typed");
    fixture.press_ctrl('r');
    let due = fixture.app.next_timer(at(0)).expect("a draft is due");
    assert_eq!(due, at(1));
    assert!(
        fixture
            .app
            .update(Msg::Timer, due)
            .contains(&Effect::Prompts(PromptsEffect::SaveDraft(DraftTarget::NewJob, "typed".to_owned())))
    );
}

#[test]
fn the_job_blank_of_a_template_is_filled_in_the_next_one_is_selected_and_tab_goes_to_the_others() {
    let mut fixture = Fixture::new(Vec::new());
    fixture.type_text("f");
    fixture.press_ctrl('t');
    assert_eq!(fixture.effects, [Effect::Prompts(PromptsEffect::LoadTemplates)]);
    let text = "After {{job}}: {{what}} and {{why}}".to_owned();
    fixture.send(Msg::Prompts(PromptsMsg::TemplatesLoaded(vec![Template { name: CleanText::line("t"), text }])));
    fixture.press(KeyCode::Enter);
    assert_eq!(fixture.text(), "After \"Job 1\" (job-1): {{what}} and {{why}}");
    fixture.type_text("x");
    fixture.press(KeyCode::Tab);
    fixture.type_text("y");
    assert_eq!(fixture.text(), "After \"Job 1\" (job-1): x and y");
    fixture.press(KeyCode::Tab);
    assert!(fixture.text().starts_with("After \"Job 1\" (job-1): x and y "), "a tab is inserted if no blank is left");
}

#[test]
fn a_template_is_inserted_below_typed_text_and_esc_in_the_list_changes_nothing() {
    let mut fixture = Fixture::new(Vec::new());
    let template = || Template { name: CleanText::line("fix"), text: "Fix {{path}}\n".to_owned() };
    fixture.type_text("nMine");
    fixture.press_ctrl('t');
    fixture.send(Msg::Prompts(PromptsMsg::TemplatesLoaded(vec![template()])));
    let labels = fixture.app.footer(80).into_iter().map(|hint| hint.label).collect::<Vec<_>>();
    assert!(labels.contains(&"continue without template".into()), "{labels:?}");
    fixture.press(KeyCode::Esc);
    assert_eq!(fixture.text(), "Mine");
    fixture.press_ctrl('t');
    fixture.send(Msg::Prompts(PromptsMsg::TemplatesLoaded(vec![template()])));
    fixture.press(KeyCode::Enter);
    assert_eq!(fixture.text(), "Mine\n\nFix {{path}}");
    fixture.press_ctrl('s');
    assert!(
        fixture.app.find::<Editor>().is_some_and(|editor| editor.is_warned_about_template_blank),
        "the blank is still there"
    );
    fixture.type_text("/a");
    assert_eq!(fixture.text(), "Mine\n\nFix /a");
}

#[test]
fn a_draft_can_be_opened_from_the_list_or_deleted_after_a_confirmation() {
    let follow_up = DraftTarget::FollowUp(JobKey(1));
    let mut fixture = Fixture::new(vec![(DraftTarget::NewJob, "new".to_owned()), (follow_up, "more".to_owned())]);
    assert_eq!(fixture.app.draft_count(), 2);
    fixture.type_text("Dx");
    assert_eq!(fixture.app.draft_count(), 2, "a question first");
    fixture.type_text("n");
    assert_eq!((fixture.app.draft_count(), fixture.effects.len()), (2, 0), "no keeps the draft");
    fixture.type_text("xy");
    assert_eq!(fixture.effects, [Effect::Prompts(PromptsEffect::DeleteDraft(DraftTarget::NewJob))]);
    fixture.press(KeyCode::Enter);
    assert_eq!(fixture.text(), "more");
    assert_eq!(fixture.app.dialogs.len(), 1, "the list is closed");
}

#[test]
fn sending_the_draft_of_an_undelivered_prompt_does_not_create_another_prompt() {
    let draft_target = DraftTarget::Prompt(crate::model::prompt::PromptId(7));
    let mut fixture = Fixture::new(vec![(draft_target, "changed".to_owned())]);
    fixture.type_text("D");
    fixture.press(KeyCode::Enter);
    fixture.press_ctrl('s');
    assert!(fixture.app.dialogs.is_empty());
    let resolution = crate::model::prompt::PromptResolution::SendEdited("changed".to_owned());
    assert_eq!(
        fixture.effects,
        [Effect::Prompts(PromptsEffect::Resolve(crate::model::prompt::PromptId(7), resolution))]
    );
}

#[test]
fn a_text_is_saved_before_the_external_editor_opens_and_external_edits_can_be_undone() {
    let mut fixture = Fixture::new(Vec::new());
    fixture.type_text("n");
    fixture.paste("old");
    fixture.press_ctrl('g');
    let saved = Effect::Prompts(PromptsEffect::SaveDraft(DraftTarget::NewJob, "old".to_owned()));
    assert_eq!(fixture.effects, [saved, Effect::OpenExternalEditor("old".to_owned())]);
    fixture.type_text("x");
    fixture.press(KeyCode::Esc);
    assert_eq!(fixture.text(), "old", "keys pressed meanwhile change and close nothing");
    fixture.send(Msg::Prompts(PromptsMsg::EditedExternally(Ok("new\ntext\n".to_owned()))));
    assert_eq!(fixture.text(), "new\ntext");
    fixture.press_ctrl('_');
    assert_eq!(fixture.text(), "old");
}

#[test]
fn if_the_external_editor_fails_the_text_stays_and_the_reason_is_shown() {
    let mut fixture = Fixture::new(Vec::new());
    fixture.type_text("n");
    fixture.paste("old");
    fixture.press_ctrl('g');
    fixture.send(Msg::Prompts(PromptsMsg::EditedExternally(Err(Failure::local("vi: not installed here.")))));
    let editor = fixture.app.find::<Editor>().expect("an editor");
    assert!(editor.message.as_ref().is_some_and(|text| text.as_str().starts_with("vi: not installed")));
    assert!(!editor.is_in_external_editor);
    assert_eq!(fixture.text(), "old");
}

#[test]
fn a_batch_is_queued_only_once_after_a_confirmation() {
    let text = "one\n\ntwo\nlines";
    let prompts = vec!["one".to_owned(), "two\nlines".to_owned()];
    let submit = Effect::Prompts(PromptsEffect::SubmitBatch { prompts, typed_text: text.to_owned() });
    let mut fixture = Fixture::new(Vec::new());
    fixture.type_text("b");
    fixture.paste(text);
    fixture.press_ctrl('s');
    assert_eq!(fixture.effects, [Effect::Prompts(PromptsEffect::SaveDraft(DraftTarget::Batch, text.to_owned()))]);
    fixture.type_text("y");
    fixture.press(KeyCode::Enter);
    fixture.press_ctrl('s');
    let ignored = "keys just after a text has closed are ignored";
    assert_eq!((fixture.effects.len(), fixture.app.dialogs.len()), (0, 1), "{ignored}");
    fixture.wait_for_shortcuts();
    fixture.type_text("n");
    assert_eq!(fixture.app.contexts()[0], Context::BatchText, "back to the text");
    fixture.press_ctrl('s');
    fixture.wait_for_shortcuts();
    fixture.type_text("y");
    assert_eq!(fixture.effects, std::slice::from_ref(&submit));
    assert!(fixture.app.dialogs.is_empty() && fixture.app.draft(DraftTarget::Batch).is_none());
    let failure = Failure::new(FailureKind::Store, "The disk is full.");
    fixture.send(Msg::Prompts(PromptsMsg::BatchAdded(Err(SubmitError {
        failure,
        text: text.to_owned(),
        pages: Vec::new(),
    }))));
    let Some(batch) = fixture.app.top::<BatchDialog>() else { panic!("it is open again") };
    assert_eq!(batch.input.text(), text);
    assert_eq!(batch.message.as_ref().map(CleanText::as_str), Some("Not queued: The disk is full."));
    fixture.press_ctrl('s');
    fixture.wait_for_shortcuts();
    fixture.press(KeyCode::Enter);
    assert_eq!(fixture.effects.last(), Some(&submit), "it can be tried again");
    let mut queued = row(9, Status::Active);
    queued.local.undelivered = Some(DeliveryKind::Queued);
    fixture.send(Msg::Prompts(PromptsMsg::BatchAdded(Ok(vec![queued]))));
    assert!(fixture.app.dialogs.is_empty());
    assert_eq!(fixture.app.jobs.selected().map(|row| row.key), Some(JobKey(9)));
}

#[test]
fn the_text_of_a_batch_stays_after_closing_and_after_a_file_that_can_not_be_read() {
    let mut fixture = Fixture::new(Vec::new());
    fixture.type_text("b");
    fixture.paste("one");
    fixture.press_ctrl('f');
    fixture.type_text("p.csv");
    fixture.press(KeyCode::Enter);
    assert_eq!(fixture.effects, [Effect::Prompts(PromptsEffect::ReadPrompts("p.csv".to_owned()))]);
    fixture
        .send(Msg::Prompts(PromptsMsg::PromptsRead { file: "other".to_owned(), result: Ok(vec!["late".to_owned()]) }));
    fixture
        .send(Msg::Prompts(PromptsMsg::PromptsRead { file: "p.csv".to_owned(), result: Err(Failure::local("No.")) }));
    fixture.press(KeyCode::Esc);
    fixture.type_text("b");
    fixture.press_ctrl('s');
    fixture.wait_for_shortcuts();
    fixture.type_text("y");
    assert_eq!(
        fixture.effects,
        [Effect::Prompts(PromptsEffect::SubmitBatch { prompts: vec!["one".to_owned()], typed_text: "one".to_owned() })]
    );
}

#[test]
fn the_text_of_a_batch_is_saved_one_second_after_typing_on_closing_and_on_quitting() {
    let saved = |text: &str| Effect::Prompts(PromptsEffect::SaveDraft(DraftTarget::Batch, text.to_owned()));
    let mut fixture = Fixture::new(Vec::new());
    fixture.type_text("bone");
    let due = fixture.app.next_timer(at(0)).expect("a draft to write");
    assert_eq!(due, at(0) + super::draft_state::DRAFT_SAVE_DELAY);
    assert_eq!(fixture.app.update(Msg::Timer, due), [saved("one")]);
    fixture.send(Msg::Prompts(PromptsMsg::DraftSaved { draft_target: DraftTarget::Batch, result: Ok(at(1)) }));
    fixture.press(KeyCode::Esc);
    assert!(fixture.effects.is_empty(), "it is on disk already");
    fixture.type_text("b");
    fixture.type_text("s");
    fixture.send(Msg::Terminate);
    assert_eq!(fixture.effects, [saved("ones"), Effect::Quit]);
    fixture.press(KeyCode::Esc);
    fixture.type_text("D");
    fixture.press(KeyCode::Enter);
    fixture.type_text("!");
    fixture.press(KeyCode::Esc);
    assert_eq!(fixture.effects, [saved("ones!")], "the list of drafts opens it");
}

#[test]
fn typed_text_stays_a_draft_when_a_file_of_prompts_is_queued() {
    let mut fixture = Fixture::new(Vec::new());
    fixture.type_text("bmine");
    fixture.press_ctrl('f');
    fixture.type_text("p.csv");
    fixture.press(KeyCode::Enter);
    fixture.send(Msg::Prompts(PromptsMsg::PromptsRead {
        file: "p.csv".to_owned(),
        result: Ok(vec!["from_file".to_owned()]),
    }));
    fixture.press_ctrl('s');
    let mine = Effect::Prompts(PromptsEffect::SaveDraft(DraftTarget::Batch, "mine".to_owned()));
    let from_file = Effect::Prompts(PromptsEffect::SubmitBatch {
        prompts: vec!["from_file".to_owned()],
        typed_text: String::new(),
    });
    assert_eq!(fixture.effects, [mine, from_file]);
    fixture.send(Msg::Prompts(PromptsMsg::BatchAdded(Ok(vec![row(9, Status::Active)]))));
    assert_eq!(fixture.app.draft(DraftTarget::Batch), Some("mine"));
}

#[test]
fn a_path_that_could_not_be_read_can_be_corrected() {
    let mut fixture = Fixture::new(Vec::new());
    let path = |fixture: &Fixture| fixture.app.top::<InputDialog>().expect("a dialog").input.text();
    fixture.type_text("b");
    for (typed, expected) in [("p.cvs", "p.cvs"), ("!", "p.cvs!")] {
        fixture.press_ctrl('f');
        fixture.type_text(typed);
        assert_eq!(path(&fixture), expected);
        fixture.press(KeyCode::Enter);
        let result = Err(Failure::local("File not found."));
        fixture.send(Msg::Prompts(PromptsMsg::PromptsRead { file: expected.to_owned(), result }));
    }
    fixture.press_ctrl('f');
    fixture.press(KeyCode::Enter);
    let result = Ok(vec!["one".to_owned()]);
    fixture.send(Msg::Prompts(PromptsMsg::PromptsRead { file: "p.cvs!".to_owned(), result }));
    fixture.press(KeyCode::Esc);
    fixture.press_ctrl('f');
    assert_eq!(path(&fixture), "");
}

#[test]
fn queue_keys_act_only_on_jobs_with_a_queued_prompt() {
    let mut fixture = Fixture::new(Vec::new());
    for key in ['p', '<', '>', 'x'] {
        fixture.type_text(&key.to_string());
        assert!(fixture.effects.is_empty(), "{key}: it does not wait");
    }
    let mut waiting = row(1, Status::Active);
    (waiting.local.undelivered, waiting.revision) = (Some(DeliveryKind::Queued), 2);
    fixture.send(Msg::Jobs(JobsMsg::LocalDataChanged(Ok(vec![waiting.clone()]))));
    let effects = |change| [Effect::Jobs(JobsEffect::ChangeQueue(vec![JobKey(1)], change))];
    fixture.type_text("p");
    assert_eq!(fixture.effects, effects(QueueChange::Pause));
    fixture.type_text("xn");
    assert!(fixture.effects.is_empty());
    fixture.type_text("xy");
    assert_eq!(fixture.effects, [Effect::Prompts(PromptsEffect::RemoveFromQueue(vec![JobKey(1)]))]);
    (waiting.local.undelivered, waiting.revision) = (Some(DeliveryKind::Paused), 3);
    fixture.send(Msg::Jobs(JobsMsg::LocalDataChanged(Ok(vec![waiting]))));
    fixture.type_text("p");
    assert_eq!(fixture.effects, effects(QueueChange::Resume));
}

#[test]
fn only_queued_new_jobs_are_moved_and_only_up_to_the_ends_of_the_queue() {
    let mut fixture = Fixture::new(Vec::new());
    for (key, place) in [(3, 11), (4, 12), (5, 13)] {
        let mut queued = row(key, Status::Active);
        (queued.local.undelivered, queued.local.queue_position) = (Some(DeliveryKind::Queued), Some(place));
        (queued.revision, queued.id) = (9, if key == 5 { queued.id } else { None });
        fixture.send(Msg::Engine(EngineEvent::Job(Box::new(queued))));
    }
    let offers_moves = |fixture: &Fixture| {
        let labels: Vec<_> = fixture.app.footer(300).into_iter().map(|hint| hint.label).collect();
        labels.contains(&"earlier".into()) && labels.contains(&"later".into())
    };
    let moved = |key, change| vec![Effect::Jobs(JobsEffect::ChangeQueue(vec![JobKey(key)], change))];
    let moves = |fixture: &Fixture| {
        let is_move = |effect: &&Effect| matches!(effect, Effect::Jobs(JobsEffect::ChangeQueue(..)));
        fixture.effects.iter().filter(is_move).cloned().collect::<Vec<_>>()
    };
    let notice = |fixture: &Fixture| fixture.app.notice.as_ref().expect("a notice").text.to_string();
    fixture.app.jobs.select(JobKey(3));
    assert!(offers_moves(&fixture));
    fixture.type_text("<");
    assert_eq!((notice(&fixture).as_str(), moves(&fixture).len()), ("Already first in the queue.", 0));
    fixture.type_text(">");
    assert_eq!(moves(&fixture), moved(3, QueueChange::Down));
    fixture.app.jobs.select(JobKey(4));
    fixture.type_text(">");
    let refused = (notice(&fixture), moves(&fixture).len());
    assert_eq!(refused, ("Already last in the queue.".to_owned(), 0), "the follow-up after it doesn't count");
    fixture.type_text("<");
    assert_eq!(moves(&fixture), moved(4, QueueChange::Up));
    fixture.app.jobs.select(JobKey(5));
    assert!(!offers_moves(&fixture));
    fixture.type_text("<");
    assert_eq!((notice(&fixture).as_str(), moves(&fixture).len()), ("Only queued new jobs can be moved.", 0));
}

#[test]
fn a_draft_of_another_instance_is_not_overwritten() {
    let draft_target = DraftTarget::NewJob;
    let read = |text: &str| {
        Msg::Prompts(PromptsMsg::DraftRead { draft_target, text: Some(text.to_owned()), pages: Vec::new() })
    };
    let mut fixture = Fixture::new(Vec::new());
    fixture.press(KeyCode::Char('n'));
    assert!(
        fixture.effects.contains(&Effect::Prompts(PromptsEffect::ReadDraft(draft_target))),
        "{:?}",
        fixture.effects
    );
    fixture.send(read("Typed elsewhere"));
    fixture.type_text(", and here");
    fixture.press(KeyCode::Esc);
    let joined = Effect::Prompts(PromptsEffect::SaveDraft(draft_target, "Typed elsewhere, and here".to_owned()));
    assert!(fixture.effects.contains(&joined), "{:?}", fixture.effects);
    // If both instances changed the draft, their texts are joined. A saved draft that arrives after the user has typed
    // is ignored.
    fixture.press(KeyCode::Char('n'));
    fixture.send(read("Something else"));
    assert_eq!(fixture.app.draft(draft_target), Some("Something else\n\nTyped elsewhere, and here"));
    fixture.type_text("!");
    fixture.send(read("Too late"));
    assert_eq!(fixture.app.draft(draft_target), Some("Something else\n\nTyped elsewhere, and here"));
}

#[test]
fn the_hint_of_the_drafts_mentions_the_disk_except_in_the_demo() {
    assert!(PickerKind::Drafts.hint(false).contains("disk"));
    assert!(!PickerKind::Drafts.hint(true).contains("disk"));
}

#[test]
fn sending_a_text_with_an_unfilled_blank_shows_a_warning_once() {
    let mut fixture = Fixture::new(Vec::new());
    fixture.type_text("n");
    fixture.paste("Translate /a into {{language}}");
    fixture.press_ctrl('s');
    assert_eq!(fixture.effects, [], "a warning first");
    let message = fixture.app.find::<Editor>().and_then(|editor| editor.message.clone());
    assert!(message.is_some_and(|text| text.as_str().contains("{{language}} is not filled in")));
    fixture.type_text("!");
    fixture.press_ctrl('s');
    assert_eq!(fixture.effects, [], "the text changed, so it warns again");
    fixture.press_ctrl('s');
    assert_eq!(
        fixture.effects.last(),
        Some(&Effect::Prompts(PromptsEffect::SubmitNewJob("Translate /a into {{language}}!".to_owned())))
    );
}

#[test]
fn keys_typed_right_after_sending_run_no_shortcuts() {
    let mut fixture = Fixture::new(Vec::new());
    fixture.type_text("nFix the links");
    fixture.press_ctrl('s');
    let draft = Effect::Prompts(PromptsEffect::SaveDraft(DraftTarget::NewJob, "Fix the links".to_owned()));
    assert_eq!(
        fixture.effects,
        [draft, Effect::Prompts(PromptsEffect::SubmitNewJob("Fix the links".to_owned()))],
        "the draft is saved first"
    );
    assert!(fixture.app.dialogs.is_empty(), "the editor does not wait");
    for key in " and stop: dxpquery! Vy".chars() {
        fixture.type_text(&key.to_string());
        assert_eq!(fixture.effects, [], "{key:?}");
    }
    for key in [KeyCode::Enter, KeyCode::Tab, KeyCode::Backspace] {
        fixture.press(key);
    }
    assert!(fixture.app.dialogs.is_empty() && fixture.app.pane == crate::tui::Pane::List);
    assert_eq!(fixture.app.screen, Screen::Jobs);
    fixture.press_ctrl('p');
    assert_eq!(fixture.app.dialogs.len(), 1, "keys with Ctrl work");
    fixture.press(KeyCode::Esc);
    fixture.wait_for_shortcuts();
    fixture.type_text("n");
    assert_eq!(fixture.text(), "", "and after half a second all keys do");
}

#[test]
fn setting_back_the_clock_does_not_disable_shortcuts() {
    let mut fixture = Fixture::new(Vec::new());
    fixture.type_text("nFix it");
    fixture.press_ctrl('s');
    fixture.now = at(-3600);
    fixture.type_text("n");
    assert_eq!(fixture.app.dialogs.len(), 1);
}

#[test]
fn a_prompt_that_can_not_be_saved_is_inserted_above_newer_text() {
    let draft_target = DraftTarget::NewJob;
    let failure = Failure::new(FailureKind::Store, "The disk is full.");
    let error = || SubmitError { failure: failure.clone(), text: "First".to_owned(), pages: Vec::new() };
    let mut fixture = Fixture::new(Vec::new());
    fixture.type_text("nFirst");
    fixture.press_ctrl('s');
    fixture.wait_for_shortcuts();
    fixture.type_text("nSecond");
    fixture.send(Msg::Prompts(PromptsMsg::Submitted { draft_target, result: Err(error()) }));
    assert_eq!(fixture.text(), "First\n\nSecond");
    let message = fixture.app.find::<Editor>().and_then(|editor| editor.message.clone());
    assert_eq!(
        message.as_ref().map(CleanText::as_str),
        Some("Not sent: The disk is full. The text stays here; Ctrl-Y copies it.")
    );
    // The same failure arrives again while the help is open, after an editor with another text was closed.
    fixture.press_ctrl('s');
    fixture.wait_for_shortcuts();
    fixture.type_text("nThird");
    fixture.press(KeyCode::Esc);
    fixture.type_text("?");
    fixture.send(Msg::Prompts(PromptsMsg::Submitted { draft_target, result: Err(error()) }));
    assert_eq!(fixture.app.draft(draft_target), Some("First\n\nThird"));
    assert!(
        fixture.effects.contains(&Effect::Prompts(PromptsEffect::SaveDraft(draft_target, "First\n\nThird".to_owned())))
    );
}

#[test]
fn messages_name_custom_keys() {
    let mut fixture = Fixture::new(Vec::new());
    let keymap = &mut fixture.app.config.keymap;
    assert!(keymap.set_keys(Context::Jobs, "resolve", vec![ctrl('o')]));
    assert!(keymap.set_keys(Context::Filter, "save-filter", vec![ctrl('g')]));
    fixture.type_text("nFix it");
    fixture.press_ctrl('s');
    let job = row(7, Status::Active);
    fixture.send(Msg::Prompts(PromptsMsg::Submitted {
        draft_target: DraftTarget::NewJob,
        result: Ok((PromptId(3), job.clone())),
    }));
    let delivery = Delivery::Unconfirmed(CleanText::line("No answer."));
    fixture.send(Msg::Engine(EngineEvent::Prompt { prompt: PromptId(3), delivery, job: Box::new(job) }));
    let notice = |app: &App| app.notice.as_ref().map(|notice| notice.text.to_string()).unwrap_or_default();
    assert!(notice(&fixture.app).contains("Press Ctrl-O to resolve it."), "{}", notice(&fixture.app));
    fixture.app.switch_filter_tab(true, at(0));
    assert!(notice(&fixture.app).ends_with("save it with Ctrl-G."), "{}", notice(&fixture.app));
}

#[test]
fn an_outcome_that_arrives_before_the_message_about_saving_is_kept() {
    let mut fixture = Fixture::new(Vec::new());
    fixture.type_text("nFix it");
    fixture.press_ctrl('s');
    let mut job = row(7, Status::Active);
    (job.revision, job.local.undelivered) = (9, Some(DeliveryKind::Rejected));
    let (prompt, delivery) = (PromptId(3), Delivery::Rejected(CleanText::line("Too long.")));
    fixture.send(Msg::Engine(EngineEvent::Prompt { prompt, delivery, job: Box::new(job.clone()) }));
    (job.revision, job.local.undelivered) = (8, Some(DeliveryKind::Sending));
    fixture.send(Msg::Prompts(PromptsMsg::Submitted { draft_target: DraftTarget::NewJob, result: Ok((prompt, job)) }));
    assert_eq!(fixture.app.jobs.get(JobKey(7)).and_then(|row| row.local.undelivered), Some(DeliveryKind::Rejected));
    let notice = fixture.app.notice.as_ref().map_or("", |notice| notice.text.as_str());
    assert_eq!(notice, "Rejected: “Job 7”. Too long. Press ! to resolve it.");
}

#[test]
fn the_notice_of_a_saved_prompt_states_what_it_waits_for() {
    // Each case has the delivery state of the job after prompt 5 was saved, the queue position of the job's first
    // queued prompt, and the start of the notice.
    let kinds = [
        (DeliveryKind::Rejected, Some(5), "Saved. It will be sent after you resolve the earlier prompt"),
        (DeliveryKind::Unconfirmed, Some(5), "Saved. It will be sent after you resolve the earlier prompt"),
        (DeliveryKind::Paused, Some(4), "Saved. It will be sent after the earlier prompt."),
        (DeliveryKind::Queued, Some(4), "Saved. It will be sent after the earlier prompt."),
        (DeliveryKind::Sending, Some(4), "Saved. It will be sent after the earlier prompt."),
        (DeliveryKind::Sending, Some(5), "Saved, sending now: Job 1"),
        (DeliveryKind::Queued, Some(5), "Saved, sending now: Job 1"),
        (DeliveryKind::Queued, Some(9), "Saved, sending now: Job 1"),
    ];
    for (state, place, expected) in kinds {
        let mut fixture = Fixture::new(Vec::new());
        fixture.send(Msg::Engine(EngineEvent::Job(Box::new(row(1, Status::Active)))));
        fixture.type_text("fmore");
        fixture.press_ctrl('s');
        assert_eq!(
            fixture.effects.last(),
            Some(&Effect::Prompts(PromptsEffect::SubmitFollowUp(JobKey(1), "more".to_owned())))
        );
        let mut job = row(1, Status::Active);
        (job.local.undelivered, job.local.queue_position, job.revision) = (Some(state), place, 8);
        let (prompt, delivery) = (PromptId(5), Delivery::Queued { until: None });
        fixture.send(Msg::Engine(EngineEvent::Prompt { prompt, delivery, job: Box::new(job.clone()) }));
        fixture.send(Msg::Prompts(PromptsMsg::Submitted {
            draft_target: DraftTarget::FollowUp(JobKey(1)),
            result: Ok((prompt, job)),
        }));
        let notice = fixture.app.notice.as_ref().map_or("", |notice| notice.text.as_str());
        assert!(notice.starts_with(expected), "{state:?}: {notice}");
    }
}

#[test]
fn q_closes_the_topmost_dialog_and_quits_if_none_is_open() {
    let mut fixture = Fixture::new(vec![(DraftTarget::Batch, "more".to_owned())]);
    fixture.type_text("D?");
    assert_eq!(fixture.app.dialogs.len(), 2);
    for left in [1, 0] {
        fixture.type_text("q");
        assert_eq!((fixture.app.dialogs.len(), fixture.effects.len()), (left, 0));
    }
    fixture.press(KeyCode::Enter);
    fixture.type_text("q");
    assert!(fixture.app.pane == crate::tui::Pane::List && fixture.effects.is_empty(), "back from the detail");
    fixture.type_text("nq");
    assert_eq!(fixture.text(), "q", "typed as text");
    fixture.press_ctrl('s');
    fixture.wait_for_shortcuts();
    fixture.type_text("vq");
    assert!(fixture.effects.contains(&Effect::Quit), "marks are not a dialog");
}

#[test]
fn a_wrong_id_is_reported_in_the_link_dialog_and_its_text_stays() {
    let mut prompt_row = row(1, Status::Active);
    (prompt_row.id, prompt_row.remote.status) = (None, None);
    (prompt_row.local.undelivered, prompt_row.revision) = (Some(DeliveryKind::Unconfirmed), 2);
    let prompt = Prompt {
        id: PromptId(7),
        kind: PromptKind::Create,
        text: "Fix it".to_owned(),
        delivery: Delivery::Unconfirmed(CleanText::line("No answer.")),
        written_at: at(0),
        sent_at: Some(at(0)),
        state_at: None,
        author: None,
    };
    let mut fixture = Fixture::new(Vec::new());
    fixture.send(Msg::Engine(EngineEvent::Job(Box::new(prompt_row.clone()))));
    let thread = Thread { prompts: vec![prompt], events: Vec::new() };
    fixture.send(Msg::Jobs(JobsMsg::ThreadLoaded { job: JobKey(1), result: Ok(thread) }));
    fixture.type_text("!ljob-x");
    fixture.press(KeyCode::Enter);
    assert!(
        matches!(fixture.effects.as_slice(), [Effect::Prompts(PromptsEffect::Resolve(PromptId(7), _))]),
        "{:?}",
        fixture.effects
    );
    fixture.press(KeyCode::Enter);
    assert!(fixture.effects.is_empty(), "one request");
    let failure = Failure::new(FailureKind::NotFound, "The service knows no job job-x.");
    fixture.send(Msg::Prompts(PromptsMsg::Resolved { prompt: PromptId(7), result: Err(failure) }));
    let ask = fixture.app.top::<InputDialog>().expect("it is open");
    assert_eq!(ask.check, InputCheck::Failed(CleanText::line("The service knows no job job-x.")));
    assert_eq!(ask.input.text(), "job-x");
    fixture.type_text("y");
    fixture.press(KeyCode::Enter);
    assert_eq!(fixture.effects.len(), 1);
    (prompt_row.local.undelivered, prompt_row.revision) = (None, 3);
    fixture.send(Msg::Prompts(PromptsMsg::Resolved { prompt: PromptId(7), result: Ok(prompt_row) }));
    assert!(fixture.app.dialogs.is_empty(), "it is closed");
    fixture.type_text("n");
    assert!(fixture.app.dialogs.is_empty(), "further typing runs no shortcut");
    fixture.wait_for_shortcuts();
    fixture.type_text("n");
    assert_eq!(fixture.app.dialogs.len(), 1);
}

fn height(fixture: &Fixture) -> u16 {
    fixture.app.find::<Editor>().map(|editor| editor.area(&fixture.app).height).expect("an editor")
}

#[test]
fn a_follow_up_takes_the_lower_half_and_keeps_the_focus() {
    let mut fixture = Fixture::new(Vec::new());
    fixture.press(KeyCode::Char('f'));
    assert_eq!((height(&fixture), fixture.app.geometry().detail.bottom() <= 13), (11, true));
    assert!(fixture.app.detail_is_visible(), "the thread is above the editor");
    for at in [(10, 3), (70, 5)] {
        let kind = MouseEventKind::Down(MouseButton::Left);
        fixture.send(Msg::Input(Event::Mouse(MouseEvent {
            kind,
            column: at.0,
            row: at.1,
            modifiers: KeyModifiers::NONE,
        })));
    }
    fixture.press(KeyCode::Tab);
    fixture.type_text("x");
    assert_eq!(fixture.text().trim(), "x");
    fixture.send(Msg::Input(Event::Resize(80, 48)));
    assert_eq!(height(&fixture), 23);
    fixture.press(KeyCode::Esc);
    assert!(fixture.app.dialogs.is_empty());
}

#[test]
fn an_inline_follow_up_has_one_line_and_grows_with_its_text_up_to_half_of_the_screen() {
    for (size, half) in [((80, 24), 11), ((40, 12), 5)] {
        let mut fixture = Fixture::new(Vec::new());
        fixture.send(Msg::Input(Event::Resize(size.0, size.1)));
        fixture.press(KeyCode::Enter);
        fixture.press(KeyCode::Char('f'));
        assert_eq!(height(&fixture), 3);
        fixture.paste("日本".repeat(usize::from(size.0) / 3).as_str());
        assert_eq!(height(&fixture), 4, "wide characters are wrapped");
        fixture.paste(&"\nline".repeat(30));
        assert_eq!(height(&fixture), half);
        fixture.press_ctrl('s');
        assert!(fixture.app.dialogs.is_empty());
    }
}

#[test]
fn the_message_of_an_inline_follow_up_is_below_its_text() {
    let mut fixture = Fixture::new(Vec::new());
    fixture.press(KeyCode::Enter);
    fixture.press(KeyCode::Char('f'));
    fixture.press_ctrl('s');
    let message = fixture.app.find::<Editor>().and_then(|editor| editor.message.clone()).expect("a message");
    assert!(message.as_str().starts_with("Nothing to send"));
    assert_eq!(height(&fixture), 4);
}

#[test]
fn esc_in_the_list_of_templates_goes_back_to_the_typed_text() {
    let mut fixture = Fixture::new(Vec::new());
    fixture.press(KeyCode::Char('n'));
    fixture.type_text("my own text");
    fixture.press_ctrl('t');
    fixture.type_text("fix");
    fixture.press(KeyCode::Esc);
    fixture.type_text("!");
    assert_eq!(fixture.text(), "my own text!");
}
