use super::*;
use crate::app::AppConfig;
use crate::app::InitialData;
use crate::app::Msg;
use crate::app::SubmitError;
use crate::app::dialog::InputCheck;
use crate::app::jobs::tests::{at, row};
use crate::model::change::QueueChange;
use crate::model::endpoint::Scope;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::FailureKind;
use crate::model::job::Status;
use crate::model::prompt::{Delivery, DeliveryKind, Prompt, PromptId, Thread};
use crate::model::row::JobKey;
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

struct Play {
    app: App,
    asked: Vec<Effect>,
    now: Time,
}

impl Play {
    fn new(drafts: Vec<(DraftSlot, String)>) -> Self {
        let scope = Scope { base_url: "http://127.0.0.1:1".to_owned(), project: "p".to_owned(), organization: None };
        let utc = chrono::FixedOffset::east_opt(0).expect("UTC");
        let start = AppConfig { size: (80, 24), calm: true, ..AppConfig::new(scope, utc) };
        let (app, _) = App::new(start, at(0));
        let mut play = Self { app, asked: Vec::new(), now: at(0) };
        let jobs = vec![row(1, Status::Active)];
        play.tell(Msg::Loaded(Ok(Box::new(InitialData { jobs, drafts, ..InitialData::default() }))));
        play
    }

    fn tell(&mut self, msg: Msg) {
        self.asked = self.app.update(msg, self.now);
    }

    /// Lets the time pass in which letters are not shortcuts after a text was sent.
    fn pause(&mut self) {
        self.now += chrono::TimeDelta::milliseconds(500);
    }

    fn key(&mut self, code: KeyCode) {
        self.tell(Msg::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE))));
    }

    fn held(&mut self, c: char) {
        self.tell(Msg::Input(Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL))));
    }

    fn typed(&mut self, text: &str) {
        text.chars().for_each(|c| self.key(KeyCode::Char(c)));
    }

    fn paste(&mut self, text: &str) {
        self.tell(Msg::Input(Event::Paste(text.to_owned())));
    }

    fn text(&self) -> String {
        self.app.dialogs.iter().find_map(Dialog::as_editor).map(|editor| editor.input.text()).expect("an editor")
    }

    fn history(&mut self, prompts: &[&str]) {
        self.held('r');
        assert_eq!(self.asked, [Effect::LoadHistory]);
        self.tell(Msg::History(Ok(prompts.iter().map(|text| (*text).to_owned()).collect())));
    }
}

#[test]
fn a_recalled_prompt_takes_the_place_of_an_empty_text_and_undo_takes_it_away() {
    let mut play = Play::new(Vec::new());
    play.typed("n");
    play.history(&["Fix /a\nall of it", "Translate /b"]);
    play.typed("trans");
    play.key(KeyCode::Enter);
    assert_eq!(play.text(), "Translate /b");
    play.held('_');
    assert_eq!(play.text(), "");
}

#[test]
fn a_recalled_prompt_goes_in_at_the_cursor_of_a_text_that_is_there() {
    let mut play = Play::new(Vec::new());
    play.typed("n");
    play.paste("Before  after");
    (0..6).for_each(|_| play.key(KeyCode::Left));
    play.history(&["one\ntwo"]);
    play.key(KeyCode::Enter);
    assert_eq!(play.text(), "Before one\ntwo after");
    play.held('_');
    assert_eq!(play.text(), "Before  after");
}

#[test]
fn history_that_comes_after_its_list_was_closed_opens_nothing() {
    let mut play = Play::new(Vec::new());
    play.typed("n");
    play.held('r');
    play.key(KeyCode::Esc);
    play.tell(Msg::History(Ok(vec!["late".to_owned()])));
    assert_eq!(play.app.dialogs.len(), 1);
    play.key(KeyCode::Enter);
    assert_eq!(play.text(), "\n", "Enter is a new line again");
}

#[test]
fn a_draft_goes_to_disk_in_time_also_under_a_list() {
    let mut play = Play::new(Vec::new());
    play.typed("n");
    play.paste("typed");
    play.held('r');
    let due = play.app.next_timer(at(0)).expect("a draft is due");
    assert_eq!(due, at(1));
    assert!(play.app.update(Msg::Wake, due).contains(&Effect::SaveDraft(DraftSlot::NewJob, "typed".to_owned())));
}

#[test]
fn a_template_is_filled_with_the_job_and_tab_visits_what_is_left() {
    let mut play = Play::new(Vec::new());
    play.typed("f");
    play.held('t');
    assert_eq!(play.asked, [Effect::LoadTemplates]);
    let text = "After {{job}}: {{what}} and {{why}}".to_owned();
    play.tell(Msg::Templates(vec![Template { name: CleanText::line("t"), text }]));
    play.key(KeyCode::Enter);
    assert_eq!(play.text(), "After \"Job 1\" (job-1): {{what}} and {{why}}");
    play.key(KeyCode::Tab);
    play.typed("x");
    play.key(KeyCode::Tab);
    play.typed("y");
    assert_eq!(play.text(), "After \"Job 1\" (job-1): x and y");
    play.key(KeyCode::Tab);
    assert!(play.text().starts_with("After \"Job 1\" (job-1): x and y "), "a tab where no blank is left");
}

#[test]
fn a_draft_is_opened_from_the_list_or_deleted_after_a_question() {
    let follow_up = DraftSlot::FollowUp(JobKey(1));
    let mut play = Play::new(vec![(DraftSlot::NewJob, "new".to_owned()), (follow_up, "more".to_owned())]);
    assert_eq!(play.app.draft_count(), 2);
    play.typed("Dx");
    assert_eq!(play.app.draft_count(), 2, "asked first");
    play.typed("n");
    assert_eq!((play.app.draft_count(), play.asked.len()), (2, 0), "no is no");
    play.typed("xy");
    assert_eq!(play.asked, [Effect::DeleteDraft(DraftSlot::NewJob)]);
    play.key(KeyCode::Enter);
    assert_eq!(play.text(), "more");
    assert_eq!(play.app.dialogs.len(), 1, "the list is gone");
}

#[test]
fn a_prompt_that_came_back_goes_on_as_itself() {
    let slot = DraftSlot::Prompt(crate::model::prompt::PromptId(7));
    let mut play = Play::new(vec![(slot, "changed".to_owned())]);
    play.typed("D");
    play.key(KeyCode::Enter);
    play.held('s');
    assert!(play.app.dialogs.is_empty());
    let resolution = crate::model::prompt::Resolution::SendEdited("changed".to_owned());
    assert_eq!(play.asked, [Effect::Resolve(crate::model::prompt::PromptId(7), resolution)]);
}

#[test]
fn what_is_handed_to_the_users_editor_is_on_disk_first_and_can_be_undone() {
    let mut play = Play::new(Vec::new());
    play.typed("n");
    play.paste("old");
    play.held('g');
    let saved = Effect::SaveDraft(DraftSlot::NewJob, "old".to_owned());
    assert_eq!(play.asked, [saved, Effect::EditOutside("old".to_owned())]);
    play.typed("x");
    play.key(KeyCode::Esc);
    assert_eq!(play.text(), "old", "keys typed ahead change and close nothing");
    play.tell(Msg::EditedOutside(Ok("new\ntext\n".to_owned())));
    assert_eq!(play.text(), "new\ntext");
    play.held('_');
    assert_eq!(play.text(), "old");
}

#[test]
fn an_editor_that_failed_leaves_the_text_and_says_why() {
    let mut play = Play::new(Vec::new());
    play.typed("n");
    play.paste("old");
    play.held('g');
    play.tell(Msg::EditedOutside(Err(Failure::new(FailureKind::Local, "vi: not installed here."))));
    let editor = play.app.dialogs.iter().find_map(Dialog::as_editor).expect("an editor");
    assert!(editor.message.as_ref().is_some_and(|said| said.as_str().starts_with("vi: not installed")));
    assert!(!editor.is_lent);
    assert_eq!(play.text(), "old");
}

#[test]
fn a_batch_is_asked_about_once_and_queued_once() {
    let text = "one\n\ntwo\nlines";
    let prompts = vec!["one".to_owned(), "two\nlines".to_owned()];
    let submit = Effect::SubmitBatch { prompts, typed: text.to_owned() };
    let mut play = Play::new(Vec::new());
    play.typed("b");
    play.paste(text);
    play.held('s');
    assert_eq!(play.asked, [Effect::SaveDraft(DraftSlot::Batch, text.to_owned())]);
    play.typed("y");
    play.key(KeyCode::Enter);
    play.held('s');
    assert_eq!((play.asked.len(), play.app.dialogs.len()), (0, 1), "typed into the text that has just closed");
    play.pause();
    play.typed("n");
    assert_eq!(play.app.contexts()[0], Context::BatchText, "back to the text");
    play.held('s');
    play.pause();
    play.typed("y");
    assert_eq!(play.asked, std::slice::from_ref(&submit));
    assert!(play.app.dialogs.is_empty() && play.app.draft(DraftSlot::Batch).is_none());
    let failure = Failure::new(FailureKind::Store, "The disk is full.");
    play.tell(Msg::BatchAdded(Err(SubmitError { failure, text: text.to_owned(), pages: Vec::new() })));
    let Some(Dialog::Batch(batch)) = play.app.dialogs.last() else { panic!("it is open again") };
    assert_eq!(batch.input.text(), text);
    assert_eq!(batch.message.as_ref().map(CleanText::as_str), Some("Not queued: The disk is full."));
    play.held('s');
    play.pause();
    play.key(KeyCode::Enter);
    assert_eq!(play.asked.last(), Some(&submit), "it can be tried again");
    let mut queued = row(9, Status::Active);
    queued.undelivered = Some(DeliveryKind::Queued);
    play.tell(Msg::BatchAdded(Ok(vec![queued])));
    assert!(play.app.dialogs.is_empty());
    assert_eq!(play.app.jobs.selected().map(|row| row.key), Some(JobKey(9)));
}

#[test]
fn the_text_of_a_batch_survives_closing_and_a_wrong_file() {
    let mut play = Play::new(Vec::new());
    play.typed("b");
    play.paste("one");
    play.held('f');
    play.typed("p.csv");
    play.key(KeyCode::Enter);
    assert_eq!(play.asked, [Effect::ReadPrompts("p.csv".to_owned())]);
    play.tell(Msg::PromptsRead { file: "other".to_owned(), result: Ok(vec!["late".to_owned()]) });
    play.tell(Msg::PromptsRead { file: "p.csv".to_owned(), result: Err(Failure::new(FailureKind::Local, "No.")) });
    play.key(KeyCode::Esc);
    play.typed("b");
    play.held('s');
    play.pause();
    play.typed("y");
    assert_eq!(play.asked, [Effect::SubmitBatch { prompts: vec!["one".to_owned()], typed: "one".to_owned() }]);
}

#[test]
fn the_text_of_a_batch_is_written_a_second_after_a_key_on_closing_and_on_leaving() {
    let saved = |text: &str| Effect::SaveDraft(DraftSlot::Batch, text.to_owned());
    let mut play = Play::new(Vec::new());
    play.typed("bone");
    let due = play.app.next_timer(at(0)).expect("a draft to write");
    assert_eq!(due, at(0) + crate::app::editor::SAVE_AFTER);
    assert_eq!(play.app.update(Msg::Wake, due), [saved("one")]);
    play.tell(Msg::DraftSaved { slot: DraftSlot::Batch, result: Ok(at(1)) });
    play.key(KeyCode::Esc);
    assert!(play.asked.is_empty(), "it is on disk already");
    play.typed("b");
    play.typed("s");
    play.tell(Msg::Terminate);
    assert_eq!(play.asked, [saved("ones"), Effect::Quit]);
    play.key(KeyCode::Esc);
    play.typed("D");
    play.key(KeyCode::Enter);
    play.typed("!");
    play.key(KeyCode::Esc);
    assert_eq!(play.asked, [saved("ones!")], "the list of drafts opens it");
}

#[test]
fn what_is_typed_beside_a_file_of_prompts_stays_a_draft_when_the_file_is_queued() {
    let mut play = Play::new(Vec::new());
    play.typed("bmine");
    play.held('f');
    play.typed("p.csv");
    play.key(KeyCode::Enter);
    play.tell(Msg::PromptsRead { file: "p.csv".to_owned(), result: Ok(vec!["theirs".to_owned()]) });
    play.held('s');
    let mine = Effect::SaveDraft(DraftSlot::Batch, "mine".to_owned());
    let theirs = Effect::SubmitBatch { prompts: vec!["theirs".to_owned()], typed: String::new() };
    assert_eq!(play.asked, [mine, theirs]);
    play.tell(Msg::BatchAdded(Ok(vec![row(9, Status::Active)])));
    assert_eq!(play.app.draft(DraftSlot::Batch), Some("mine"));
}

#[test]
fn the_keys_of_the_queue_are_for_jobs_that_wait() {
    let mut play = Play::new(Vec::new());
    for key in ['p', '<', '>', 'x'] {
        play.typed(&key.to_string());
        assert!(play.asked.is_empty(), "{key}: it does not wait");
    }
    let mut waiting = row(1, Status::Active);
    (waiting.undelivered, waiting.revision) = (Some(DeliveryKind::Queued), 2);
    play.tell(Msg::Changed(Ok(vec![waiting.clone()])));
    let asked = |change| [Effect::ChangeQueue(vec![JobKey(1)], change)];
    for (key, change) in [("p", QueueChange::Pause), ("<", QueueChange::Up), (">", QueueChange::Down)] {
        play.typed(key);
        assert_eq!(play.asked, asked(change));
    }
    play.typed("xn");
    assert!(play.asked.is_empty());
    play.typed("xy");
    assert_eq!(play.asked, [Effect::RemoveFromQueue(vec![JobKey(1)])]);
    (waiting.undelivered, waiting.revision) = (Some(DeliveryKind::Paused), 3);
    play.tell(Msg::Changed(Ok(vec![waiting])));
    play.typed("p");
    assert_eq!(play.asked, asked(QueueChange::Release));
}

#[test]
fn a_draft_that_another_instance_left_is_not_written_over() {
    let slot = DraftSlot::NewJob;
    let read = |text: &str| Msg::DraftRead { slot, text: Some(text.to_owned()), pages: Vec::new() };
    let mut play = Play::new(Vec::new());
    play.key(KeyCode::Char('n'));
    assert!(play.asked.contains(&Effect::ReadDraft(slot)), "{:?}", play.asked);
    play.tell(read("Typed elsewhere"));
    play.typed(", and here");
    play.key(KeyCode::Esc);
    assert!(play.asked.contains(&Effect::SaveDraft(slot, "Typed elsewhere, and here".to_owned())), "{:?}", play.asked);
    // Both have gone on: both are kept. What was typed meanwhile is left alone.
    play.key(KeyCode::Char('n'));
    play.tell(read("Something else"));
    assert_eq!(play.app.draft(slot), Some("Something else\n\nTyped elsewhere, and here"));
    play.typed("!");
    play.tell(read("Too late"));
    assert_eq!(play.app.draft(slot), Some("Something else\n\nTyped elsewhere, and here"));
}

#[test]
fn a_demo_does_not_say_that_drafts_are_on_disk() {
    assert!(Picking::Drafts.invitation(false).contains("disk"));
    assert!(!Picking::Drafts.invitation(true).contains("disk"));
}

#[test]
fn a_blank_that_is_left_is_said_once_before_the_text_goes_out_with_it() {
    let mut play = Play::new(Vec::new());
    play.typed("n");
    play.paste("Translate /a into {{language}}");
    play.held('s');
    assert_eq!(play.asked, [], "said first");
    let message = play.app.dialogs.iter().find_map(Dialog::as_editor).and_then(|editor| editor.message.clone());
    assert!(message.is_some_and(|text| text.as_str().contains("{{blank}} is left")));
    play.typed("!");
    play.held('s');
    assert_eq!(play.asked, [], "the text changed, so it is said again");
    play.held('s');
    assert_eq!(play.asked.last(), Some(&Effect::SubmitNewJob("Translate /a into {{language}}!".to_owned())));
}

#[test]
fn a_sentence_typed_on_after_sending_runs_no_shortcuts() {
    let mut play = Play::new(Vec::new());
    play.typed("nFix the links");
    play.held('s');
    let draft = Effect::SaveDraft(DraftSlot::NewJob, "Fix the links".to_owned());
    assert_eq!(play.asked, [draft, Effect::SubmitNewJob("Fix the links".to_owned())], "the draft first");
    assert!(play.app.dialogs.is_empty(), "the editor does not wait");
    for key in " and stop: dxpquery! Vy".chars() {
        play.typed(&key.to_string());
        assert_eq!(play.asked, [], "{key:?}");
    }
    for key in [KeyCode::Enter, KeyCode::Tab, KeyCode::Backspace] {
        play.key(key);
    }
    assert!(play.app.dialogs.is_empty() && play.app.pane == crate::app::Pane::List && play.app.screen == Screen::Jobs);
    play.held('p');
    assert_eq!(play.app.dialogs.len(), 1, "keys held with Ctrl work");
    play.key(KeyCode::Esc);
    play.pause();
    play.typed("n");
    assert_eq!(play.text(), "", "and after half a second all do");
}

#[test]
fn a_clock_that_is_set_back_does_not_turn_the_shortcuts_off() {
    let mut play = Play::new(Vec::new());
    play.typed("nFix it");
    play.held('s');
    play.now = at(-3600);
    play.typed("n");
    assert_eq!(play.app.dialogs.len(), 1);
}

#[test]
fn a_prompt_that_can_not_be_saved_is_put_above_what_was_typed_since() {
    let slot = DraftSlot::NewJob;
    let failure = Failure::new(FailureKind::Store, "The disk is full.");
    let error = || SubmitError { failure: failure.clone(), text: "First".to_owned(), pages: Vec::new() };
    let mut play = Play::new(Vec::new());
    play.typed("nFirst");
    play.held('s');
    play.pause();
    play.typed("nSecond");
    play.tell(Msg::Submitted { slot, result: Err(error()) });
    assert_eq!(play.text(), "First\n\nSecond");
    let message = play.app.dialogs.iter().find_map(Dialog::as_editor).and_then(|editor| editor.message.clone());
    assert_eq!(
        message.as_ref().map(CleanText::as_str),
        Some("Not sent: The disk is full. The text stays here; Ctrl-Y copies it.")
    );
    // Closed with another text since then, and something else is open.
    play.held('s');
    play.pause();
    play.typed("nThird");
    play.key(KeyCode::Esc);
    play.typed("?");
    play.tell(Msg::Submitted { slot, result: Err(error()) });
    assert_eq!(play.app.draft(slot), Some("First\n\nThird"));
    assert!(play.asked.contains(&Effect::SaveDraft(slot, "First\n\nThird".to_owned())));
}

#[test]
fn an_outcome_that_comes_before_the_word_that_the_prompt_is_on_disk_stays() {
    let mut play = Play::new(Vec::new());
    play.typed("nFix it");
    play.held('s');
    let mut job = row(7, Status::Active);
    (job.revision, job.undelivered) = (9, Some(DeliveryKind::Rejected));
    let (prompt, delivery) = (PromptId(3), Delivery::Rejected(CleanText::line("Too long.")));
    play.tell(Msg::News(EngineEvent::Prompt { prompt, delivery, job: Box::new(job.clone()) }));
    (job.revision, job.undelivered) = (8, Some(DeliveryKind::Sending));
    play.tell(Msg::Submitted { slot: DraftSlot::NewJob, result: Ok((prompt, job)) });
    assert_eq!(play.app.jobs.get(JobKey(7)).and_then(|row| row.undelivered), Some(DeliveryKind::Rejected));
    let notice = play.app.notice.as_ref().map_or("", |notice| notice.text.as_str());
    assert_eq!(notice, "Rejected: Job 7. Too long.");
}

#[test]
fn a_prompt_that_is_saved_says_what_it_waits_for() {
    // How the job stands once prompt 5 is written down, and the place of its first that is queued.
    let kinds = [
        (DeliveryKind::Rejected, Some(5), "Saved. It is sent after you decide about the earlier prompt"),
        (DeliveryKind::Unconfirmed, Some(5), "Saved. It is sent after you decide about the earlier prompt"),
        (DeliveryKind::Paused, Some(4), "Saved. It is sent after the prompt before it."),
        (DeliveryKind::Queued, Some(4), "Saved. It is sent after the prompt before it."),
        (DeliveryKind::Sending, Some(4), "Saved. It is sent after the prompt before it."),
        (DeliveryKind::Sending, Some(5), "Saved, sending now: Job 1"),
        (DeliveryKind::Queued, Some(5), "Saved, sending now: Job 1"),
        (DeliveryKind::Queued, Some(9), "Saved, sending now: Job 1"),
    ];
    for (state, place, said) in kinds {
        let mut play = Play::new(Vec::new());
        play.tell(Msg::JobsChanged(vec![row(1, Status::Active)]));
        play.typed("fmore");
        play.held('s');
        assert_eq!(play.asked.last(), Some(&Effect::SubmitFollowUp(JobKey(1), "more".to_owned())));
        let mut job = row(1, Status::Active);
        (job.undelivered, job.queue_position, job.revision) = (Some(state), place, 8);
        let (prompt, delivery) = (PromptId(5), Delivery::Queued { until: None });
        play.tell(Msg::News(EngineEvent::Prompt { prompt, delivery, job: Box::new(job.clone()) }));
        play.tell(Msg::Submitted { slot: DraftSlot::FollowUp(JobKey(1)), result: Ok((prompt, job)) });
        let notice = play.app.notice.as_ref().map_or("", |notice| notice.text.as_str());
        assert!(notice.starts_with(said), "{state:?}: {notice}");
    }
}

#[test]
fn q_closes_the_topmost_dialog_and_quits_if_none_is_open() {
    let mut play = Play::new(vec![(DraftSlot::Batch, "more".to_owned())]);
    play.typed("D?");
    assert_eq!(play.app.dialogs.len(), 2);
    for left in [1, 0] {
        play.typed("q");
        assert_eq!((play.app.dialogs.len(), play.asked.len()), (left, 0));
    }
    play.key(KeyCode::Enter);
    play.typed("q");
    assert!(play.app.pane == crate::app::Pane::List && play.asked.is_empty(), "back from the detail");
    play.typed("nq");
    assert_eq!(play.text(), "q", "typed where text is typed");
    play.held('s');
    play.pause();
    play.typed("vq");
    assert!(play.asked.contains(&Effect::Quit), "marks are no dialog");
}

#[test]
fn a_wrong_id_is_told_in_the_dialog_that_links_and_the_text_stays() {
    let mut prompt_row = row(1, Status::Active);
    (prompt_row.id, prompt_row.status) = (None, None);
    (prompt_row.undelivered, prompt_row.revision) = (Some(DeliveryKind::Unconfirmed), 2);
    let prompt = Prompt {
        id: PromptId(7),
        kind: PromptKind::Create,
        text: "Fix it".to_owned(),
        delivery: Delivery::Unconfirmed(CleanText::line("No answer.")),
        written_at: at(0),
        sent_at: Some(at(0)),
        state_at: None,
    };
    let mut play = Play::new(Vec::new());
    play.tell(Msg::JobsChanged(vec![prompt_row.clone()]));
    let thread = Thread { prompts: vec![prompt], events: Vec::new() };
    play.tell(Msg::Thread { job: JobKey(1), result: Ok(thread) });
    play.typed("!ljob-x");
    play.key(KeyCode::Enter);
    assert!(matches!(play.asked.as_slice(), [Effect::Resolve(PromptId(7), _)]), "{:?}", play.asked);
    play.key(KeyCode::Enter);
    assert!(play.asked.is_empty(), "one request");
    let failure = Failure::new(FailureKind::NotFound, "The service knows no job job-x.");
    play.tell(Msg::Resolved { prompt: PromptId(7), result: Err(failure) });
    let Some(Dialog::Ask(ask)) = play.app.dialogs.last() else { panic!("it is open") };
    assert_eq!(ask.check, InputCheck::Failed(CleanText::line("The service knows no job job-x.")));
    assert_eq!(ask.input.text(), "job-x");
    play.typed("y");
    play.key(KeyCode::Enter);
    assert_eq!(play.asked.len(), 1);
    (prompt_row.undelivered, prompt_row.revision) = (None, 3);
    play.tell(Msg::Resolved { prompt: PromptId(7), result: Ok(prompt_row) });
    assert!(play.app.dialogs.is_empty(), "it closes by itself");
    play.typed("n");
    assert!(play.app.dialogs.is_empty(), "what is typed on is no shortcut");
    play.pause();
    play.typed("n");
    assert_eq!(play.app.dialogs.len(), 1);
}
