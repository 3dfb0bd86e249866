//! Clicks on dialogs. A click selects an entry or a day, and another click on it confirms. A click outside the dialog
//! does nothing.

use super::super::batch::BatchStep;
use super::super::component::Flow;
use super::super::dialog::Dialog;
use super::super::geometry::Geometry;
use super::super::keymap::Action;
use super::super::text_input::TextInput;
use super::super::{App, Effect};
use super::line_at;
use crate::model::Time;
use ratatui::layout::{Position, Rect};

/// Moves the cursor of a text input to the clicked cell.
fn place_cursor(input: &mut TextInput, text: Rect, at: Position) {
    if text.contains(at) {
        input.move_cursor_to_cell(at.y - text.y, at.x - text.x);
    }
}

/// The result of a click on a dialog.
enum ClickResult {
    /// The action is to be run, because the click confirmed the selection.
    Run(Action),
    /// No action is to be run: the click only changed the dialog, closed it, or did nothing.
    NoAction,
}

impl App {
    pub(super) fn click_dialog(&mut self, at: Position, now: Time, effects: &mut Vec<Effect>) {
        if self.dispatch(now, effects, |dialog, cx| dialog.click(at, cx)) != Flow::Pass {
            return;
        }
        let g = self.geometry();
        if let ClickResult::Run(action) = self.handle_dialog_click(g, at) {
            self.run_action(action, now, effects);
        }
    }

    fn handle_dialog_click(&mut self, g: Geometry, at: Position) -> ClickResult {
        let title = g.all_jobs_title();
        if let Some((list, area, rows)) = self.dialog_list() {
            let before = list.selected();
            let Some(row) = line_at(area, at).filter(|line| *line < rows).and_then(|line| list.row_at(line)) else {
                return ClickResult::NoAction;
            };
            list.move_to(|_, _| row, rows);
            // Confirming a batch would queue all its prompts, so a click only selects a prompt.
            let is_batch = matches!(self.dialogs.last(), Some(Dialog::Batch(_)));
            return if row == before && !is_batch { ClickResult::Run(Action::Confirm) } else { ClickResult::NoAction };
        }
        match self.dialogs.last_mut() {
            Some(Dialog::AllJobs(_)) if title.contains(at) => {
                let tab = self.tab_at(usize::from(at.x - title.x), usize::from(title.width));
                tab.into_iter().for_each(|tab| self.select_tab(tab));
                return ClickResult::NoAction;
            }
            Some(Dialog::AllJobs(open)) => {
                let list = &mut open.list;
                let Some(line) = line_at(g.all_jobs_lines(), at) else { return ClickResult::NoAction };
                if list.is_dismissed_heading(line) {
                    list.toggle_dismissed();
                }
                let Some(key) = list.visible_job(line) else { return ClickResult::NoAction };
                if list.selected().is_some_and(|row| row.key == key) {
                    return ClickResult::Run(Action::Open);
                }
                list.select(key);
                return ClickResult::NoAction;
            }
            Some(Dialog::Editor(open)) => place_cursor(&mut open.input, g.editor_text(), at),
            Some(Dialog::Batch(open)) if matches!(open.step, BatchStep::Writing) => {
                place_cursor(&mut open.input, g.batch_text(), at);
            }
            _ => {}
        }
        ClickResult::NoAction
    }
}
