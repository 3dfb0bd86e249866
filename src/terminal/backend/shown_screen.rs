//! What the terminal shows. Finds the cells that a frame changes, leaves out changes that nobody can see, and adds the
//! halves of wide glyphs that terminals leave behind.

use super::encode::{encode_cells, normalize_blank};
use ratatui::buffer::{Buffer, Cell, CellDiffOption, CellWidth as _};
use ratatui::layout::{Position, Rect, Size};

/// The content of a cell that is covered by a wider glyph, or by a link, to its left.
const COVERED: Cell = Cell::new("");

/// What the terminal shows, and which cells have to be sent for that.
#[derive(Debug)]
pub(super) struct ShownScreen {
    cells: Buffer,
    /// The changed cells (row, column) that were not sent yet.
    changed: Vec<(u16, u16)>,
}

impl ShownScreen {
    /// Creates a screen that shows nothing.
    pub(super) fn blank(size: Size) -> Self {
        Self { cells: Buffer::empty(Rect::from((Position::ORIGIN, size))), changed: Vec::new() }
    }

    /// Shows a frame. Rows that are the same as in the `last` frame are already shown.
    pub(super) fn show(&mut self, frame: &Buffer, last: &Buffer) {
        let width = usize::from(frame.area.width).max(1);
        let last_cells = if frame.area == last.area { last.content.as_slice() } else { &[] };
        let mut last_rows = last_cells.chunks(width);
        for (y, row) in (0..).zip(frame.content.chunks(width)) {
            if last_rows.next() != Some(row) {
                self.show_row(y, row);
            }
        }
    }

    fn show_row(&mut self, y: u16, row: &[Cell]) {
        let mut covered_until = 0_u16;
        for (x, cell) in (0..).zip(row) {
            if x >= covered_until && cell.diff_option != CellDiffOption::Skip {
                covered_until = x.saturating_add(cell.cell_width().max(1));
                self.put(x, y, cell);
            }
        }
    }

    /// Replaces a cell, and the cells that a wide glyph in it covers.
    fn put(&mut self, x: u16, y: u16, cell: &Cell) {
        let mut cell = cell.clone();
        normalize_blank(&mut cell);
        if self.cells.cell((x, y)).is_none_or(|shown| *shown == cell) {
            return;
        }
        let end = x.saturating_add(cell.cell_width().max(1));
        for column in x..end {
            self.cut_glyph(column, y, end);
            if let Some(covered) = self.cells.cell_mut((column, y)) {
                *covered = COVERED;
            }
        }
        if let Some(shown) = self.cells.cell_mut((x, y)) {
            *shown = cell;
        }
        self.changed.push((y, x));
    }

    /// Blanks the cells from `end` on that are covered by the glyph at this position, which is about to be overwritten.
    /// Some terminals (such as tmux) keep the second half of a wide glyph if only its first half is overwritten.
    fn cut_glyph(&mut self, x: u16, y: u16, end: u16) {
        let Some(cell) = self.cells.cell((x, y)) else { return };
        let behind = end..x.saturating_add(cell.cell_width());
        if behind.is_empty() {
            return;
        }
        let mut blank = cell.clone();
        blank.set_symbol(" ").set_diff_option(CellDiffOption::None);
        normalize_blank(&mut blank);
        for column in behind {
            if let Some(covered) = self.cells.cell_mut((column, y)) {
                covered.clone_from(&blank);
                self.changed.push((y, column));
            }
        }
    }

    /// Encodes the changes since the last call.
    pub(super) fn encode_changes(&mut self) -> String {
        let mut changed = std::mem::take(&mut self.changed);
        changed.sort_unstable();
        changed.dedup();
        let updates: Vec<_> = changed
            .into_iter()
            .filter_map(|(y, x)| Some((x, y, self.cells.cell((x, y)).filter(|cell| **cell != COVERED)?)))
            .collect();
        encode_cells(&updates, &self.cells)
    }
}
