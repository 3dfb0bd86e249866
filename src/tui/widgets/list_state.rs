//! The selection and the scroll position of a list whose rows have one line each.

use super::scroll::{FirstLine, Scroll};
use crate::tui::format::position_text;
use ratatui::layout::{Position, Rect};

/// Whether the clicked row was already selected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClickedRow {
    /// The clicked row was not selected before.
    NewlySelected,
    AlreadySelected,
}

/// Returns the index of the line at a cell of a list. `None` if the cell is outside the list.
pub(in crate::tui) fn line_at(list: Rect, at: Position) -> Option<usize> {
    list.contains(at).then(|| usize::from(at.y - list.y))
}

/// The selected and the first visible row of a list. Stores the length of the list, but not its rows.
#[derive(Debug, Default, Clone, Copy)]
pub struct ListState {
    len: usize,
    selected: usize,
    top: FirstLine,
}

impl ListState {
    /// Creates the state of a list with `len` rows, with row `selected` selected.
    pub(in crate::tui) fn new(len: usize, selected: usize) -> Self {
        let mut state = Self { len, ..Self::default() };
        state.select(selected);
        state
    }

    /// Adapts to a list that has `len` rows now. The selection keeps its index if possible.
    pub(in crate::tui) fn set_len(&mut self, len: usize) {
        self.len = len;
        self.select(self.selected);
    }

    /// Returns the index of the selected row; 0 if the list is empty.
    pub fn selected(self) -> usize {
        self.selected
    }

    /// Returns the index of the row on visible line `line`; `None` if the list has no row there.
    pub(in crate::tui) fn row_at(self, line: usize) -> Option<usize> {
        self.top.get().checked_add(line).filter(|row| *row < self.len)
    }

    /// Selects a row, or the last row if the list is shorter. Doesn't scroll.
    pub(in crate::tui) fn select(&mut self, row: usize) {
        self.selected = row.min(self.len.saturating_sub(1));
    }

    /// Moves the selection to the row that `to` returns, given the selected row and the length of the list. Then
    /// scrolls a view of `rows` lines until the selection is visible.
    pub(in crate::tui) fn move_to(&mut self, to: impl FnOnce(usize, usize) -> usize, rows: usize) {
        self.selected = to(self.selected, self.len);
        self.keep_selected_visible(rows);
    }

    /// Moves the selection in a view of `rows` lines.
    pub(in crate::tui) fn scroll(&mut self, by: Scroll, rows: usize) {
        self.move_to(|at, total| by.apply(at, rows, total), rows);
    }

    /// Selects the row at a cell of the area in which the list is drawn. `None` if there is no row.
    pub(in crate::tui) fn click(&mut self, area: Rect, at: Position) -> Option<ClickedRow> {
        if !area.contains(at) {
            return None;
        }
        let row = self.row_at(usize::from(at.y - area.y))?;
        let clicked = if row == self.selected { ClickedRow::AlreadySelected } else { ClickedRow::NewlySelected };
        self.move_to(|_, _| row, area.height.into());
        Some(clicked)
    }

    /// Scrolls a view of `rows` lines as little as possible to show the selected row.
    pub(in crate::tui) fn keep_selected_visible(&mut self, rows: usize) {
        self.top.show(self.selected, rows, self.len);
    }

    /// Returns the visible rows, each with whether it is selected. `items` are the rows of the whole list, and
    /// `rows` is the number of lines on screen.
    pub fn visible<T>(self, items: impl Iterator<Item = T>, rows: usize) -> impl Iterator<Item = (T, bool)> {
        items.enumerate().skip(self.top.get()).take(rows).map(move |(at, item)| (item, at == self.selected))
    }

    /// Returns the position in a view of `rows` lines, such as `2 of 44, 28 more ↓`; empty if the list is empty.
    pub(in crate::tui) fn position_text(self, rows: usize) -> String {
        if self.len == 0 { String::new() } else { position_text(self.selected, self.len, self.hidden_below(rows)) }
    }

    /// Returns the number of rows below the visible ones.
    pub fn hidden_below(self, rows: usize) -> usize {
        self.len.saturating_sub(self.top.get() + rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visible(list: ListState, rows: usize) -> Vec<(usize, bool)> {
        list.visible(0..list.len, rows).collect()
    }

    #[test]
    fn the_view_follows_the_selection() {
        let mut list = ListState::new(5, 0);
        list.move_to(|at, len| (at + 2).min(len - 1), 2);
        assert_eq!(visible(list, 2), [(1, false), (2, true)]);
        assert_eq!((list.row_at(1), list.row_at(4), list.hidden_below(2)), (Some(2), None, 2));
    }

    #[test]
    fn a_shorter_list_keeps_a_valid_selection() {
        let mut list = ListState::new(5, 4);
        list.set_len(2);
        list.keep_selected_visible(3);
        assert_eq!(visible(list, 3), [(0, false), (1, true)]);
        list.set_len(0);
        assert_eq!((list.selected(), list.row_at(0)), (0, None));
    }
}
