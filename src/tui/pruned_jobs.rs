//! Handles jobs that `docdeck prune --jobs` has removed in another process. Such jobs disappear from the list, and
//! dialogs about them are closed unless the user has typed text.

use super::{App, Pane, Severity, format};
use crate::model::Time;
use crate::model::job::JobsLeftAfterPrune;
use crate::model::prompt::DraftTarget;

impl App {
    /// Removes all jobs that are not in `remaining`, the jobs that remain after the pruning. If the jobs are not loaded
    /// yet, they are removed once they have been loaded.
    pub(super) fn remove_pruned_jobs(&mut self, remaining: &JobsLeftAfterPrune, now: Time) {
        if self.queue_remaining(remaining) {
            return;
        }
        self.remove_pruned_from_all_jobs(remaining);
        let had = self.jobs.selected().map(|row| row.key);
        let removed = self.jobs.retain(|key| remaining.contains(key));
        if removed == 0 {
            return;
        }
        if had.is_some_and(|key| !remaining.contains(key)) {
            // The details close, because they would now show another job, which the user could mistake for the removed
            // job.
            self.pane = Pane::List;
        }
        self.undo_stack.retain_mut(|undo| undo.retain_jobs(remaining));
        self.drafts
            .retain(|draft_target, _| !matches!(draft_target, DraftTarget::FollowUp(key) if !remaining.contains(*key)));
        self.dialogs.retain_mut(|dialog| dialog.retain_jobs(remaining, &self.config.keymap));
        self.is_dirty = true;
        let (jobs, verb) = (format::plural(removed, "finished job"), if removed == 1 { "was" } else { "were" });
        self.notify(Severity::Info, &format!("{jobs} {verb} deleted by `docdeck prune`."), now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::endpoint::Scope;
    use crate::model::engine_event::EngineEvent;
    use crate::model::job::JobKey;
    use crate::model::remote_job::Status;
    use crate::tui::chord::ctrl;
    use crate::tui::compose::editor::Editor;
    use crate::tui::confirm::ConfirmDialog;
    use crate::tui::jobs::tests::{at, row};
    use crate::tui::keymap::Context;
    use crate::tui::{AppConfig, Effect, InitialData, JobsMsg, Msg};
    use chrono::FixedOffset;
    use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

    fn press(app: &mut App, keys: &str) -> Vec<Effect> {
        let key = |c: char| {
            let code = if c == '\n' { KeyCode::Enter } else { KeyCode::Char(c) };
            Event::Key(KeyEvent::new(code, KeyModifiers::NONE))
        };
        keys.chars().flat_map(|c| app.update(Msg::Input(key(c)), at(1000))).collect()
    }

    fn started_app() -> App {
        let scope = Scope { base_url: "https://api.example.com".into(), project: "a".into(), organization: None };
        let start = AppConfig { size: (80, 24), ..AppConfig::new(scope, FixedOffset::east_opt(0).expect("UTC")) };
        App::new(start, at(0)).0
    }

    fn loaded_app() -> App {
        let mut app = started_app();
        app.update(
            Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(InitialData { jobs: rows(), ..InitialData::default() })))),
            at(0),
        );
        app
    }

    /// Returns five failed jobs, which are listed newest first: 5, 4, 3, 2, 1.
    fn rows() -> Vec<crate::model::job::Job> {
        (1..=5).map(|key| row(key, Status::Failed)).collect()
    }

    fn jobs_after_pruning(keys: &[i64]) -> Msg {
        let keys = keys.iter().copied().map(JobKey).collect();
        Msg::Engine(EngineEvent::JobsRemoved(JobsLeftAfterPrune { keys, largest_key: JobKey(5) }))
    }

    fn selected(app: &App) -> Option<i64> {
        app.jobs.selected().map(|row| row.key.0)
    }

    #[test]
    fn pruned_jobs_leave_the_list_and_the_selection_keeps_its_position() {
        let mut app = loaded_app();
        press(&mut app, "jj");
        assert_eq!(selected(&app), Some(3));
        app.update(jobs_after_pruning(&[1, 2, 4, 5]), at(1001));
        assert_eq!((app.jobs.len(), selected(&app)), (4, Some(2)));
        app.update(jobs_after_pruning(&[1, 2, 5]), at(1002));
        assert_eq!((app.jobs.len(), selected(&app)), (3, Some(2)), "another one was removed");
        app.update(jobs_after_pruning(&[]), at(1003));
        assert_eq!((app.jobs.len(), selected(&app)), (0, None));
    }

    #[test]
    fn a_job_that_is_newer_than_the_pruning_stays() {
        let mut app = loaded_app();
        app.update(Msg::Engine(EngineEvent::Job(Box::new(row(6, Status::Active)))), at(1000));
        app.update(jobs_after_pruning(&[]), at(1001));
        assert_eq!((app.jobs.len(), selected(&app)), (1, Some(6)));
    }

    #[test]
    fn pruned_jobs_are_unmarked_and_a_confirmation_about_them_closes() {
        let mut app = loaded_app();
        press(&mut app, "vvvd");
        assert!(app.top::<ConfirmDialog>().is_some());
        app.update(jobs_after_pruning(&[1, 2, 3, 4]), at(1001));
        assert!(app.dialogs.is_empty());
        assert_eq!(app.jobs.marked_keys(), [JobKey(4), JobKey(3)]);
    }

    #[test]
    fn the_details_of_a_pruned_job_close_instead_of_showing_another_job() {
        let mut app = loaded_app();
        press(&mut app, "\n");
        assert_eq!(app.pane, Pane::Detail);
        app.update(jobs_after_pruning(&[1, 2, 3, 4]), at(1001));
        assert_eq!((app.pane, selected(&app)), (Pane::List, Some(4)));
    }

    #[test]
    fn an_editor_with_text_for_a_pruned_job_stays_open_and_a_blank_one_closes() {
        let mut app = loaded_app();
        press(&mut app, "f");
        app.update(jobs_after_pruning(&[1, 2, 3, 4]), at(1001));
        assert!(app.dialogs.is_empty());
        press(&mut app, "fMore");
        app.config.keymap.set_keys(Context::Editor, "copy-main", vec![ctrl('o')]);
        app.update(jobs_after_pruning(&[1, 2, 3]), at(1002));
        let editor = app.top::<Editor>().expect("an editor");
        assert_eq!(editor.input.text(), "More");
        assert!(editor.message.as_ref().is_some_and(|text| text.as_str().contains("Ctrl-O copies")));
    }

    #[test]
    fn a_change_to_a_pruned_job_can_not_be_undone() {
        let mut app = loaded_app();
        press(&mut app, "d");
        app.update(jobs_after_pruning(&[1, 2, 3, 4]), at(1001));
        assert_eq!(press(&mut app, "u"), []);
    }

    #[test]
    fn pruning_that_is_reported_before_the_store_is_read_is_applied_afterwards() {
        let mut app = started_app();
        app.update(jobs_after_pruning(&[1, 2]), at(0));
        app.update(
            Msg::Jobs(JobsMsg::InitialDataLoaded(Ok(Box::new(InitialData { jobs: rows(), ..InitialData::default() })))),
            at(0),
        );
        assert_eq!((app.jobs.len(), selected(&app)), (2, Some(2)));
    }
}
