//! Jobs that another process let go of (`docdeck prune --jobs`) while the dashboard runs: they leave the list, and what is
//! open about them is closed, unless something is typed in it.

use super::dialog::{ConfirmAction, ConfirmDialog, Dialog, InputDialog, InputField};
use super::{App, Effect, Pane, Severity, format};
use crate::model::Time;
use crate::model::prompt::DraftSlot;
use crate::model::row::RemainingJobs;
use crate::model::text::CleanText;

impl App {
    /// Word of what is left came.
    pub(super) fn pruned(&mut self, left: &RemainingJobs, now: Time, effects: &mut Vec<Effect>) {
        if self.left_ahead(left) {
            return;
        }
        self.prune_among_all(left);
        let had = self.jobs.selected().map(|row| row.key);
        let went = self.jobs.retain(|key| left.has(key));
        if went == 0 {
            return;
        }
        if had.is_some_and(|key| !left.has(key)) {
            // Another job's detail in its place would be taken for its own.
            self.pane = Pane::List;
        }
        self.undo.retain_mut(|undo| undo.keep_only(left));
        self.drafts.retain(|slot, _| !matches!(slot, DraftSlot::FollowUp(key) if !left.has(*key)));
        self.dialogs.retain_mut(|overlay| still_holds(overlay, left));
        effects.extend(self.recall_card());
        self.dirty = true;
        let (jobs, verb) = (format::plural(went, "job"), if went == 1 { "is" } else { "are" });
        self.notify(
            Severity::Info,
            &format!("{jobs} {verb} no longer listed: `docdeck prune` let go of what is over."),
            now,
        );
    }
}

/// Whether a layer goes on; what it says of jobs is brought up to date.
fn still_holds(overlay: &mut Dialog, left: &RemainingJobs) -> bool {
    match overlay {
        Dialog::Ask(ask) => {
            let InputDialog { wanted, .. } = ask.as_mut();
            match wanted {
                InputField::Title(key) | InputField::Note(key) => left.has(*key),
                InputField::Tags(keys) => {
                    keys.retain(|key| left.has(*key));
                    !keys.is_empty()
                }
                _ => true,
            }
        }
        // It names the jobs that it is about: it is asked again with the right ones.
        Dialog::Question(ConfirmDialog { yes: ConfirmAction::Bulk(_, targets), .. }) => {
            targets.keys.iter().all(|key| left.has(*key))
        }
        Dialog::Editor(editor) => {
            editor.targets.retain(|key| left.has(*key));
            let DraftSlot::FollowUp(key) = editor.slot else { return true };
            if left.has(key) {
                return true;
            }
            if let Some(first) = editor.targets.first() {
                editor.slot = DraftSlot::FollowUp(*first);
                return true;
            }
            editor.message = Some(CleanText::line(
                "Its job was let go of by `docdeck prune`, so nothing can be sent to it. Ctrl-Y copies the text.",
            ));
            !editor.is_untyped()
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::jobs::tests::{at, row};
    use crate::app::{AppConfig, InitialData, Msg};
    use crate::model::endpoint::Scope;
    use crate::model::engine_event::EngineEvent;
    use crate::model::job::Status;
    use crate::model::row::JobKey;
    use chrono::FixedOffset;
    use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

    fn press(app: &mut App, keys: &str) -> Vec<Effect> {
        let key = |c: char| {
            let code = if c == '\n' { KeyCode::Enter } else { KeyCode::Char(c) };
            Event::Key(KeyEvent::new(code, KeyModifiers::NONE))
        };
        keys.chars().flat_map(|c| app.update(Msg::Input(key(c)), at(1000))).collect()
    }

    fn started() -> App {
        let scope = Scope { base_url: "https://api.example.com".into(), project: "a".into(), organization: None };
        let start = AppConfig { size: (80, 24), ..AppConfig::new(scope, FixedOffset::east_opt(0).expect("UTC")) };
        App::new(start, at(0)).0
    }

    fn loaded() -> App {
        let mut app = started();
        app.update(Msg::Loaded(Ok(Box::new(InitialData { jobs: rows(), ..InitialData::default() }))), at(0));
        app
    }

    /// Five failed jobs, the newest first in the list: 5, 4, 3, 2, 1.
    fn rows() -> Vec<crate::model::row::Job> {
        (1..=5).map(|key| row(key, Status::Failed)).collect()
    }

    fn left(keys: &[i64]) -> Msg {
        let keys = keys.iter().copied().map(JobKey).collect();
        Msg::News(EngineEvent::Left(RemainingJobs { keys, up_to: JobKey(5) }))
    }

    fn selected(app: &App) -> Option<i64> {
        app.jobs.selected().map(|row| row.key.0)
    }

    #[test]
    fn jobs_that_were_let_go_of_leave_the_list_and_the_selection_stays_in_its_place() {
        let mut app = loaded();
        press(&mut app, "jj");
        assert_eq!(selected(&app), Some(3));
        app.update(left(&[1, 2, 4, 5]), at(1001));
        assert_eq!((app.jobs.len(), selected(&app)), (4, Some(2)));
        app.update(left(&[1, 2, 5]), at(1002));
        assert_eq!((app.jobs.len(), selected(&app)), (3, Some(2)), "another one went");
        app.update(left(&[]), at(1003));
        assert_eq!((app.jobs.len(), selected(&app)), (0, None));
    }

    #[test]
    fn a_job_that_came_after_the_record_was_read_for_it_stays() {
        let mut app = loaded();
        app.update(Msg::News(EngineEvent::Job(Box::new(row(6, Status::Active)))), at(1000));
        app.update(left(&[]), at(1001));
        assert_eq!((app.jobs.len(), selected(&app)), (1, Some(6)));
    }

    #[test]
    fn marks_go_with_their_jobs_and_a_question_about_them_is_not_answered_for_fewer() {
        let mut app = loaded();
        press(&mut app, "vvvd");
        assert!(matches!(app.dialogs.last(), Some(Dialog::Question(_))));
        app.update(left(&[1, 2, 3, 4]), at(1001));
        assert!(app.dialogs.is_empty());
        assert_eq!(app.jobs.marked_keys(), [JobKey(4), JobKey(3)]);
    }

    #[test]
    fn an_open_detail_closes_instead_of_showing_another_job() {
        let mut app = loaded();
        press(&mut app, "\n");
        assert_eq!(app.pane, Pane::Detail);
        app.update(left(&[1, 2, 3, 4]), at(1001));
        assert_eq!((app.pane, selected(&app)), (Pane::List, Some(4)));
    }

    #[test]
    fn what_is_typed_for_one_of_them_stays_on_the_screen_and_a_blank_editor_closes() {
        let mut app = loaded();
        press(&mut app, "f");
        app.update(left(&[1, 2, 3, 4]), at(1001));
        assert!(app.dialogs.is_empty());
        press(&mut app, "fMore");
        app.update(left(&[1, 2, 3]), at(1002));
        let editor = app.dialogs.last().and_then(Dialog::as_editor).expect("an editor");
        assert_eq!(editor.input.text(), "More");
        assert!(editor.message.as_ref().is_some_and(|text| text.as_str().contains("Ctrl-Y copies")));
    }

    #[test]
    fn nothing_is_taken_back_for_a_job_that_is_no_more() {
        let mut app = loaded();
        press(&mut app, "d");
        app.update(left(&[1, 2, 3, 4]), at(1001));
        assert_eq!(press(&mut app, "u"), []);
    }

    #[test]
    fn word_that_comes_before_the_record_is_read_holds_for_it() {
        let mut app = started();
        app.update(left(&[1, 2]), at(0));
        app.update(Msg::Loaded(Ok(Box::new(InitialData { jobs: rows(), ..InitialData::default() }))), at(0));
        assert_eq!((app.jobs.len(), selected(&app)), (2, Some(2)));
    }
}
