//! Clicks on dialogs. A click selects an entry or a day, and another click on it confirms. A click outside the dialog
//! does nothing.

use super::super::component::Flow;
use super::super::dialog::Dialog;
use super::super::geometry::Geometry;
use super::super::keymap::Action;
use super::super::{App, Effect};
use super::line_at;
use crate::model::Time;
use ratatui::layout::Position;

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
            _ => {}
        }
        ClickResult::NoAction
    }
}
