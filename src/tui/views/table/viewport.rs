//! The visible lines of the list of pages, and the selection among them.

use super::PageTable;

impl PageTable {
    /// Selects a line by its distance from the first visible line. Returns `false` if there is no such line, or if the
    /// line was already selected.
    pub(in crate::tui) fn select_visible(&mut self, line: usize) -> bool {
        let at = self.top().saturating_add(line);
        let moves = at < self.len() && at != self.selected;
        if moves {
            self.select(at);
        }
        moves
    }

    /// Whether the line at this distance from the first visible line is selected.
    pub(in crate::tui) fn is_visible_line_selected(&self, line: usize) -> bool {
        !self.is_empty() && self.top().saturating_add(line) == self.selected
    }

    /// Scrolls down by `by` lines, or up if negative. `rows` is the number of visible lines. If the selected line would
    /// become invisible, selects the nearest visible line.
    pub(in crate::tui) fn scroll_by(&mut self, by: isize, rows: usize) {
        let top = self.top().saturating_add_signed(by).min(self.len().saturating_sub(rows));
        if top == self.top() {
            return;
        }
        self.top.set(top);
        let last = top.saturating_add(rows.max(1)) - 1;
        if !(top..=last).contains(&self.selected) {
            self.select(self.selected.clamp(top, last));
        }
    }

    /// Scrolls so that the selection is visible.
    pub fn show_selection(&mut self, rows: usize) {
        let len = self.len();
        self.top.show(self.selected, rows, len);
    }
}
