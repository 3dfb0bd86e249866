//! Quitting. Queued prompts are sent only while docdeck is running. If no other instance would send them, docdeck asks
//! the user before it quits.

use super::confirm::{ConfirmAction, ConfirmDialog};
use super::format::{format_count, truncate_title};
use super::{App, Effect};
use crate::model::job::Job;
use crate::model::prompt::DeliveryKind;

/// How many jobs the question names; the others are counted.
const MAX_NAMED_JOBS: usize = 3;
/// The maximum width of a job's title in the question, in cells.
const MAX_TITLE_CELLS: usize = 40;

/// Whether this job has a queued prompt that docdeck will send without asking the user.
fn has_prompt_to_send(row: &Job) -> bool {
    match row.local.undelivered {
        Some(DeliveryKind::Queued) => true,
        // While a prompt is being sent, a queue position means that another prompt of the job is queued behind it.
        Some(DeliveryKind::Sending) => row.local.queue_position.is_some(),
        _ => false,
    }
}

impl App {
    /// Quits or, if this instance has prompts to send, asks the user first. Quits at once if the question is open.
    pub(super) fn quit(&mut self, effects: &mut Vec<Effect>) {
        let queued: Vec<&Job> = match self.sends_queued_prompts {
            true => self.jobs.rows().filter(|row| has_prompt_to_send(row)).collect(),
            false => Vec::new(),
        };
        if queued.is_empty() || self.is_asking_to_quit() {
            self.save_and_quit(effects);
            return;
        }
        let text = question_text(&queued);
        self.open(ConfirmDialog { text, on_yes: ConfirmAction::Quit });
    }

    pub(super) fn is_asking_to_quit(&self) -> bool {
        self.top::<ConfirmDialog>().is_some_and(|dialog| dialog.on_yes == ConfirmAction::Quit)
    }
}

fn question_text(queued: &[&Job]) -> String {
    let named = queued.iter().take(MAX_NAMED_JOBS);
    let mut titles: Vec<String> = named.map(|row| truncate_title(row.local.title.as_str(), MAX_TITLE_CELLS)).collect();
    if queued.len() > MAX_NAMED_JOBS {
        titles.push(format!("and {} more", format_count(queued.len() - MAX_NAMED_JOBS)));
    }
    let titles = titles.join(", ");
    match queued.len() {
        1 => format!("1 job has a queued prompt ({titles}). It is sent only while docdeck is running. Quit anyway?"),
        n => format!(
            "{} jobs have queued prompts ({titles}). They are sent only while docdeck is running. Quit anyway?",
            format_count(n)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Time;
    use crate::model::endpoint::Scope;
    use crate::model::engine_event::EngineEvent;
    use crate::model::job::JobKey;
    use crate::model::text::CleanText;
    use crate::tui::{AppConfig, JobsMsg, Msg};
    use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

    fn at(seconds: i64) -> Time {
        Time::from_timestamp(1_800_000_000 + seconds, 0).expect("in range")
    }

    /// Creates a dashboard with one job per delivery state.
    fn app(states: &[Option<DeliveryKind>]) -> App {
        let scope = Scope { base_url: "https://a.example".into(), project: "p".into(), organization: None };
        let start = AppConfig::new(scope, chrono::FixedOffset::east_opt(0).expect("UTC"));
        let (mut app, _) = App::new(AppConfig { size: (80, 24), ..start }, at(0));
        let row = |(n, state): (usize, &Option<DeliveryKind>)| {
            let title = CleanText::line(&format!("Prompt {n}"));
            let key = JobKey(i64::try_from(n).expect("small"));
            let mut job = Job::new(key, title, at(0));
            job.local.undelivered = *state;
            job.revision = 1;
            job
        };
        let jobs = states.iter().enumerate().map(row).collect();
        app.update(
            Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(crate::tui::InitialData { jobs, ..Default::default() })))),
            at(0),
        );
        app
    }

    /// Presses a key. Returns whether docdeck exits.
    fn press(app: &mut App, code: KeyCode, modifiers: KeyModifiers) -> bool {
        app.update(Msg::Input(Event::Key(KeyEvent::new(code, modifiers))), at(1)).contains(&Effect::Quit)
    }

    fn press_q(app: &mut App) -> bool {
        press(app, KeyCode::Char('q'), KeyModifiers::NONE)
    }

    fn press_ctrl_c(app: &mut App) -> bool {
        press(app, KeyCode::Char('c'), KeyModifiers::CONTROL)
    }

    fn open_question(app: &App) -> &str {
        app.top::<ConfirmDialog>().map_or("", |dialog| dialog.text.as_str())
    }

    const QUEUED: Option<DeliveryKind> = Some(DeliveryKind::Queued);

    #[test]
    fn the_quit_confirmation_names_three_jobs_with_queued_prompts_and_counts_the_others() {
        let mut one = app(&[QUEUED, Some(DeliveryKind::Paused), None]);
        assert!(!press_q(&mut one));
        let text = "1 job has a queued prompt (Prompt 0). It is sent only while docdeck is running. Quit anyway?";
        assert_eq!(open_question(&one), text);
        let mut many = app(&[QUEUED; 5]);
        assert!(!press_ctrl_c(&mut many));
        assert!(open_question(&many).starts_with("5 jobs have queued prompts (Prompt 0, "), "{}", open_question(&many));
        assert!(
            open_question(&many).contains("Prompt 1, Prompt 2, and 2 more). They are sent only while"),
            "{}",
            open_question(&many)
        );
        assert!(press(&mut many, KeyCode::Char('y'), KeyModifiers::NONE));
    }

    #[test]
    fn quitting_from_the_palette_asks_about_queued_prompts() {
        let mut app = app(&[QUEUED]);
        for c in ":quit".chars() {
            assert!(!press(&mut app, KeyCode::Char(c), KeyModifiers::NONE));
        }
        assert!(!press(&mut app, KeyCode::Enter, KeyModifiers::NONE));
        assert!(open_question(&app).starts_with("1 job has a queued prompt"), "{}", open_question(&app));
        assert!(press(&mut app, KeyCode::Char('y'), KeyModifiers::NONE));
    }

    #[test]
    fn quitting_asks_about_a_prompt_that_is_queued_behind_a_prompt_being_sent() {
        let mut app = app(&[Some(DeliveryKind::Sending)]);
        assert!(press_q(&mut app), "quitting waits for a prompt that is being sent");
        let mut row = app.jobs.get(JobKey(0)).expect("the job").clone();
        (row.local.queue_position, row.revision) = (Some(9), 2);
        app.update(Msg::Engine(EngineEvent::Job(Box::new(row))), at(1));
        assert!(!press_q(&mut app));
    }

    #[test]
    fn any_key_other_than_y_cancels_quitting_and_the_next_q_asks_again() {
        for code in [KeyCode::Char('n'), KeyCode::Esc, KeyCode::Char('x'), KeyCode::Char('q')] {
            let mut app = app(&[QUEUED]);
            assert!(!press_q(&mut app));
            assert!(!press(&mut app, code, KeyModifiers::NONE));
            assert_eq!(open_question(&app), "", "{code:?}");
            assert!(!press_q(&mut app));
            assert!(!open_question(&app).is_empty());
        }
    }

    #[test]
    fn a_second_ctrl_c_quits_without_an_answer() {
        let mut app = app(&[QUEUED]);
        assert!(!press_ctrl_c(&mut app));
        assert!(press_ctrl_c(&mut app));
    }

    #[test]
    fn quitting_asks_nothing_without_queued_prompts_on_a_signal_or_if_another_instance_sends_the_queue() {
        assert!(press_q(&mut app(&[Some(DeliveryKind::Paused), Some(DeliveryKind::Unconfirmed), None])));
        let ended = app(&[QUEUED]).update(Msg::Terminate, at(1));
        assert!(ended.contains(&Effect::Quit));
        let mut second = app(&[QUEUED]);
        second.update(Msg::Engine(EngineEvent::QueueOwnership(false)), at(1));
        assert!(press_q(&mut second));
        let mut alone = app(&[QUEUED]);
        alone.update(Msg::Engine(EngineEvent::QueueOwnership(false)), at(1));
        alone.update(Msg::Engine(EngineEvent::QueueOwnership(true)), at(1));
        assert!(!press_q(&mut alone));
    }
}
