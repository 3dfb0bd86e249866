//! Jobs that `docdeck prune --jobs` removed in another process. They are removed from the list, and dialogs about them
//! are closed unless they contain typed text.

use super::dialog::{ConfirmAction, ConfirmDialog, Dialog, InputDialog, InputField};
use super::{App, Effect, Pane, Severity, format};
use crate::model::Time;
use crate::model::prompt::DraftSlot;
use crate::model::row::RemainingJobs;
use crate::model::text::CleanText;

impl App {
    /// Removes the jobs that no longer exist.
    pub(super) fn remove_pruned_jobs(&mut self, left: &RemainingJobs, now: Time, effects: &mut Vec<Effect>) {
        if self.queue_remaining(left) {
            return;
        }
        self.prune_among_all(left);
        let had = self.jobs.selected().map(|row| row.key);
        let removed = self.jobs.retain(|key| left.contains(key));
        if removed == 0 {
            return;
        }
        if had.is_some_and(|key| !left.contains(key)) {
            // The detail of another job in its place would be mistaken for it.
            self.pane = Pane::List;
        }
        self.undo.retain_mut(|undo| undo.retain_jobs(left));
        self.drafts.retain(|slot, _| !matches!(slot, DraftSlot::FollowUp(key) if !left.contains(*key)));
        self.dialogs.retain_mut(|dialog| stays_open(dialog, left));
        effects.extend(self.reload_page_detail());
        self.dirty = true;
        let (jobs, verb) = (format::plural(removed, "finished job"), if removed == 1 { "was" } else { "were" });
        self.notify(Severity::Info, &format!("{jobs} {verb} removed by `docdeck prune`."), now);
    }
}

/// Whether a dialog stays open. Drops removed jobs from it.
fn stays_open(dialog: &mut Dialog, left: &RemainingJobs) -> bool {
    match dialog {
        Dialog::Input(ask) => {
            let InputDialog { field: wanted, .. } = ask.as_mut();
            match wanted {
                InputField::Title(key) | InputField::Note(key) => left.contains(*key),
                InputField::Tags(keys) => {
                    keys.retain(|key| left.contains(*key));
                    !keys.is_empty()
                }
                _ => true,
            }
        }
        // The question names the jobs. The user can ask again for the remaining ones.
        Dialog::Confirm(ConfirmDialog { yes: ConfirmAction::Bulk(_, targets), .. }) => {
            targets.keys.iter().all(|key| left.contains(*key))
        }
        Dialog::Editor(editor) => {
            editor.targets.retain(|key| left.contains(*key));
            let DraftSlot::FollowUp(key) = editor.slot else { return true };
            if left.contains(key) {
                return true;
            }
            if let Some(first) = editor.targets.first() {
                editor.slot = DraftSlot::FollowUp(*first);
                return true;
            }
            editor.message = Some(CleanText::line(
                "The job was removed by `docdeck prune`: nothing can be sent to it. Ctrl-Y copies the text.",
            ));
            !editor.is_unedited()
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

    /// Five failed jobs, listed newest first: 5, 4, 3, 2, 1.
    fn rows() -> Vec<crate::model::row::Job> {
        (1..=5).map(|key| row(key, Status::Failed)).collect()
    }

    fn left(keys: &[i64]) -> Msg {
        let keys = keys.iter().copied().map(JobKey).collect();
        Msg::Engine(EngineEvent::JobsRemoved(RemainingJobs { keys, up_to: JobKey(5) }))
    }

    fn selected(app: &App) -> Option<i64> {
        app.jobs.selected().map(|row| row.key.0)
    }

    #[test]
    fn pruned_jobs_leave_the_list_and_the_selection_keeps_its_position() {
        let mut app = loaded();
        press(&mut app, "jj");
        assert_eq!(selected(&app), Some(3));
        app.update(left(&[1, 2, 4, 5]), at(1001));
        assert_eq!((app.jobs.len(), selected(&app)), (4, Some(2)));
        app.update(left(&[1, 2, 5]), at(1002));
        assert_eq!((app.jobs.len(), selected(&app)), (3, Some(2)), "another one was removed");
        app.update(left(&[]), at(1003));
        assert_eq!((app.jobs.len(), selected(&app)), (0, None));
    }

    #[test]
    fn a_job_added_after_the_pruning_was_read_stays() {
        let mut app = loaded();
        app.update(Msg::Engine(EngineEvent::Job(Box::new(row(6, Status::Active)))), at(1000));
        app.update(left(&[]), at(1001));
        assert_eq!((app.jobs.len(), selected(&app)), (1, Some(6)));
    }

    #[test]
    fn pruned_jobs_are_unmarked_and_a_question_about_them_closes() {
        let mut app = loaded();
        press(&mut app, "vvvd");
        assert!(matches!(app.dialogs.last(), Some(Dialog::Confirm(_))));
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
    fn an_editor_with_text_for_a_pruned_job_stays_open_and_a_blank_one_closes() {
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
    fn nothing_is_undone_for_a_pruned_job() {
        let mut app = loaded();
        press(&mut app, "d");
        app.update(left(&[1, 2, 3, 4]), at(1001));
        assert_eq!(press(&mut app, "u"), []);
    }

    #[test]
    fn pruning_reported_before_the_store_is_read_is_applied_afterwards() {
        let mut app = started();
        app.update(left(&[1, 2]), at(0));
        app.update(Msg::Loaded(Ok(Box::new(InitialData { jobs: rows(), ..InitialData::default() }))), at(0));
        assert_eq!((app.jobs.len(), selected(&app)), (2, Some(2)));
    }
}
