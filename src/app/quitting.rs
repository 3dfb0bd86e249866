//! Quitting. Queued prompts are sent only while docdeck is running, so the user is asked first if no other instance can
//! send them.

use super::dialog::{ConfirmAction, ConfirmDialog, Dialog};
use super::format::{fit, format_count};
use super::{App, Effect};
use crate::model::prompt::DeliveryKind;
use crate::model::row::Job;

/// How many titles are named, and the cells that each may take.
const MAX_NAMED: usize = 3;
const TITLE_CELLS: usize = 40;

/// Whether docdeck will send a prompt of this job without the user.
fn is_queued(row: &Job) -> bool {
    match row.undelivered {
        Some(DeliveryKind::Queued) => true,
        // One is queued behind the prompt that is being sent.
        Some(DeliveryKind::Sending) => row.queue_position.is_some(),
        _ => false,
    }
}

impl App {
    /// Quits, or asks first.
    pub(super) fn quit(&mut self, effects: &mut Vec<Effect>) {
        let queued: Vec<&Job> = match self.sends_queue {
            true => self.jobs.rows().filter(|row| is_queued(row)).collect(),
            false => Vec::new(),
        };
        if queued.is_empty() || self.is_asking_to_quit() {
            self.save_and_quit(effects);
            return;
        }
        let text = question_text(&queued);
        self.dialogs.push(Dialog::Confirm(ConfirmDialog { text, yes: ConfirmAction::Quit }));
    }

    pub(super) fn is_asking_to_quit(&self) -> bool {
        matches!(self.dialogs.last(), Some(Dialog::Confirm(ConfirmDialog { yes: ConfirmAction::Quit, .. })))
    }
}

fn question_text(queued: &[&Job]) -> String {
    let named = queued.iter().take(MAX_NAMED);
    let mut titles: Vec<String> = named.map(|row| fit(row.title.as_str(), TITLE_CELLS)).collect();
    if queued.len() > MAX_NAMED {
        titles.push(format!("and {} more", format_count(queued.len() - MAX_NAMED)));
    }
    let subject = match queued.len() {
        1 => "1 job has a queued prompt, which is".to_owned(),
        n => format!("{} jobs have queued prompts, which are", format_count(n)),
    };
    format!("{subject} sent only while docdeck is running: {}.", titles.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::{AppConfig, Msg};
    use crate::model::Time;
    use crate::model::endpoint::Scope;
    use crate::model::engine_event::EngineEvent;
    use crate::model::row::JobKey;
    use crate::model::text::CleanText;
    use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

    fn at(seconds: i64) -> Time {
        Time::from_timestamp(1_800_000_000 + seconds, 0).expect("in range")
    }

    /// Jobs with these states.
    fn app(states: &[Option<DeliveryKind>]) -> App {
        let scope = Scope { base_url: "https://a.example".into(), project: "p".into(), organization: None };
        let start = AppConfig::new(scope, chrono::FixedOffset::east_opt(0).expect("UTC"));
        let (mut app, _) = App::new(AppConfig { size: (80, 24), ..start }, at(0));
        let row = |(n, state): (usize, &Option<DeliveryKind>)| {
            let title = CleanText::line(&format!("Prompt {n}"));
            let key = JobKey(i64::try_from(n).expect("small"));
            Job { undelivered: *state, revision: 1, ..Job::new(key, title, at(0)) }
        };
        let jobs = states.iter().enumerate().map(row).collect();
        app.update(Msg::Loaded(Ok(Box::new(crate::app::InitialData { jobs, ..Default::default() }))), at(0));
        app
    }

    /// Presses a key. Returns whether the program exits.
    fn press(app: &mut App, code: KeyCode, modifiers: KeyModifiers) -> bool {
        app.update(Msg::Input(Event::Key(KeyEvent::new(code, modifiers))), at(1)).contains(&Effect::Quit)
    }

    fn q(app: &mut App) -> bool {
        press(app, KeyCode::Char('q'), KeyModifiers::NONE)
    }

    fn ctrl_c(app: &mut App) -> bool {
        press(app, KeyCode::Char('c'), KeyModifiers::CONTROL)
    }

    fn asked(app: &App) -> &str {
        match app.dialogs.last() {
            Some(Dialog::Confirm(question)) => &question.text,
            _ => "",
        }
    }

    const QUEUED: Option<DeliveryKind> = Some(DeliveryKind::Queued);

    #[test]
    fn queued_prompts_are_named_with_an_exact_count_before_docdeck_quits() {
        let mut one = app(&[QUEUED, Some(DeliveryKind::Paused), None]);
        assert!(!q(&mut one));
        let text = "1 job has a queued prompt, which is sent only while docdeck is running: Prompt 0.";
        assert_eq!(asked(&one), text);
        let mut many = app(&[QUEUED; 5]);
        assert!(!ctrl_c(&mut many));
        assert!(asked(&many).starts_with("5 jobs have queued prompts"), "{}", asked(&many));
        assert!(asked(&many).ends_with(": Prompt 0, Prompt 1, Prompt 2, and 2 more."), "{}", asked(&many));
        assert!(press(&mut many, KeyCode::Char('y'), KeyModifiers::NONE));
    }

    #[test]
    fn quitting_from_the_palette_asks_as_well() {
        let mut app = app(&[QUEUED]);
        for c in ":quit".chars() {
            assert!(!press(&mut app, KeyCode::Char(c), KeyModifiers::NONE));
        }
        assert!(!press(&mut app, KeyCode::Enter, KeyModifiers::NONE));
        assert!(asked(&app).starts_with("1 job has a queued prompt"), "{}", asked(&app));
        assert!(press(&mut app, KeyCode::Char('y'), KeyModifiers::NONE));
    }

    #[test]
    fn a_prompt_queued_behind_the_one_being_sent_counts() {
        let mut app = app(&[Some(DeliveryKind::Sending)]);
        assert!(q(&mut app), "quitting waits for a prompt that is being sent");
        let mut row = app.jobs.get(JobKey(0)).expect("the job").clone();
        (row.queue_position, row.revision) = (Some(9), 2);
        app.update(Msg::Engine(EngineEvent::Job(Box::new(row))), at(1));
        assert!(!q(&mut app));
    }

    #[test]
    fn any_key_but_yes_cancels_and_the_next_q_asks_again() {
        for code in [KeyCode::Char('n'), KeyCode::Esc, KeyCode::Char('x'), KeyCode::Char('q')] {
            let mut app = app(&[QUEUED]);
            assert!(!q(&mut app));
            assert!(!press(&mut app, code, KeyModifiers::NONE));
            assert_eq!(asked(&app), "", "{code:?}");
            assert!(!q(&mut app));
            assert!(!asked(&app).is_empty());
        }
    }

    #[test]
    fn a_second_ctrl_c_quits() {
        let mut app = app(&[QUEUED]);
        assert!(!ctrl_c(&mut app));
        assert!(ctrl_c(&mut app));
    }

    #[test]
    fn nothing_is_asked_without_queued_prompts_by_a_signal_or_if_another_instance_sends_them() {
        assert!(q(&mut app(&[Some(DeliveryKind::Paused), Some(DeliveryKind::Unconfirmed), None])));
        let ended = app(&[QUEUED]).update(Msg::Terminate, at(1));
        assert!(ended.contains(&Effect::Quit));
        let mut second = app(&[QUEUED]);
        second.update(Msg::Engine(EngineEvent::QueueOwnership(false)), at(1));
        assert!(q(&mut second));
        let mut alone = app(&[QUEUED]);
        alone.update(Msg::Engine(EngineEvent::QueueOwnership(false)), at(1));
        alone.update(Msg::Engine(EngineEvent::QueueOwnership(true)), at(1));
        assert!(!q(&mut alone));
    }
}
