//! Applies scroll keys to the topmost dialog or, if none is open, to the current screen.

use super::component::{Component, Cx, Flow};
use super::dialog::Dialog;
use super::jobs::JobList;
use super::scroll::{Scroll, page_step};
use super::{App, Effect, Pane, Screen};
use crate::model::Time;

impl App {
    /// Scrolls the pane or dialog that has the focus.
    pub(super) fn scroll(&mut self, by: Scroll, now: Time, effects: &mut Vec<Effect>) {
        let scroll = |dialog: &mut dyn Component, cx: &mut Cx<'_>| {
            dialog.scroll(by, cx);
            Flow::Handled
        };
        if self.dispatch(now, effects, scroll) != Flow::Pass {
            return;
        }
        let g = self.geometry();
        // A filter input doesn't cover the list that it filters, so the list is scrolled.
        if matches!(self.dialogs.last(), Some(Dialog::Filter(_)))
            && let Some(open) = self.all_jobs_mut()
        {
            return scroll_list(&mut open.list, by, g.all_jobs_rows());
        }
        if !matches!(self.dialogs.last(), None | Some(Dialog::Filter(_))) {
            self.scroll_dialog(by);
            return;
        }
        match (self.screen, self.pane) {
            (Screen::Jobs, Pane::List) => scroll_list(&mut self.jobs, by, g.list_rows()),
            (Screen::Jobs, Pane::Detail) => {
                let total = self.detail.lines().len() + self.detail_head_lines() + 1;
                let last = total.saturating_sub(g.detail_rows());
                self.detail.scroll = by.apply(self.detail.scroll, g.detail_rows(), last + 1);
            }
            (Screen::Views | Screen::Log, _) => {
                self.dispatch_to_screen(now, effects, scroll);
            }
            (Screen::Welcome, _) => {}
        }
    }

    fn scroll_dialog(&mut self, by: Scroll) {
        let g = self.geometry();
        if let Some(Dialog::AllJobs(open)) = self.dialogs.last_mut() {
            scroll_list(&mut open.list, by, g.all_jobs_rows());
        }
    }

    /// Scrolls the topmost dialog so that its selection is visible after its size or content changed.
    pub(super) fn keep_dialog_selection_visible(&mut self) {
        self.refresh_dialogs();
        let g = self.geometry();
        if let Some(open) = self.all_jobs_mut() {
            open.list.keep_selected_visible(g.all_jobs_rows());
        }
    }
}

/// Moves the selection of a jobs list with `rows` visible lines.
fn scroll_list(list: &mut JobList, by: Scroll, rows: usize) {
    match by {
        Scroll::By(n) => list.move_by(n),
        Scroll::Page(n) => list.move_by(n.saturating_mul(page_step(rows))),
        Scroll::Top => list.move_to_end(false),
        Scroll::Bottom => list.move_to_end(true),
    }
}
