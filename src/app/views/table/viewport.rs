//! Which lines of the list of pages are in sight, and which of them is selected.

use super::super::super::scroll;
use super::PageTable;

impl PageTable {
    /// Selects the line in sight so many lines under the first one; false where there is none, and where it was selected
    /// already.
    pub(in crate::app) fn select_visible(&mut self, line: usize) -> bool {
        let at = self.top.saturating_add(line);
        let moves = at < self.len() && at != self.selected;
        if moves {
            self.select(at);
        }
        moves
    }

    /// Whether the line in sight so many lines under the first one is the selected one.
    pub(in crate::app) fn is_selected_visible(&self, line: usize) -> bool {
        !self.is_empty() && self.top.saturating_add(line) == self.selected
    }

    /// Moves what is in sight by so many lines, `rows` of them visible; the selection goes along where it would be lost
    /// from sight.
    pub(in crate::app) fn scroll_by(&mut self, by: isize, rows: usize) {
        let top = self.top.saturating_add_signed(by).min(self.len().saturating_sub(rows));
        if top == self.top {
            return;
        }
        self.top = top;
        let last = top.saturating_add(rows.max(1)) - 1;
        if !(top..=last).contains(&self.selected) {
            self.select(self.selected.clamp(top, last));
        }
    }

    /// Keeps the selection in sight.
    pub fn keep_in_sight(&mut self, rows: usize) {
        self.top = scroll::follow(self.top, self.selected, rows, self.len());
    }
}
