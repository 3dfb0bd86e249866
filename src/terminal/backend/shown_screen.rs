//! What the terminal shows. Finds the cells that a frame changes, leaves out changes that nobody can see, and adds the
//! halves of wide glyphs that terminals leave behind.

use super::encode::{VISIBLE_ON_BLANK, encode_cells, normalize_blank};
use ratatui::buffer::{Buffer, Cell, CellDiffOption, CellWidth as _};
use ratatui::layout::{Position, Rect, Size};

/// The content of a cell that is covered by a wider glyph, or by a link, to its left.
const COVERED: Cell = Cell::new("");

/// Whether a glyph is known to be one cell wide without measuring it: ASCII, and the lines and blocks that borders and
/// bars consist of (U+2500 to U+25BF).
#[inline]
fn is_narrow(cell: &Cell) -> bool {
    matches!(cell.symbol().as_bytes(), [_] | [0xe2, 0x94..=0x96, _]) && cell.diff_option == CellDiffOption::None
}

/// Whether a cell of a frame looks like what the terminal shows. Most symbols are a single byte, and most are blanks,
/// whose foreground is invisible.
#[inline]
fn looks_like(cell: &Cell, shown: &Cell) -> bool {
    let has_same_symbol = match (cell.symbol().as_bytes(), shown.symbol().as_bytes()) {
        ([b' '], [b' ']) if !cell.modifier.intersects(VISIBLE_ON_BLANK) => {
            return cell.bg == shown.bg && shown.modifier.is_empty();
        }
        ([one], [other]) => one == other,
        (one, other) => one == other,
    };
    let has_same_width = cell.diff_option == shown.diff_option;
    has_same_symbol && has_same_width && cell.modifier == shown.modifier && cell.fg == shown.fg && cell.bg == shown.bg
}

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

    /// Shows a frame of the size of the screen.
    pub(super) fn show(&mut self, frame: &Buffer) {
        let width = usize::from(frame.area.width).max(1);
        let mut different: Vec<(u16, u16)> = Vec::new();
        let shown_rows = self.cells.content.chunks(width);
        for (y, (row, shown_row)) in (0..).zip(frame.content.chunks(width).zip(shown_rows)) {
            let mut covered_until = 0;
            for (x, (cell, shown)) in (0..).zip(row.iter().zip(shown_row)) {
                if x < covered_until || cell.diff_option == CellDiffOption::Skip {
                    continue;
                }
                if !looks_like(cell, shown) {
                    different.push((x, y));
                }
                if !is_narrow(cell) {
                    covered_until = x.saturating_add(cell.cell_width().max(1));
                }
            }
        }
        for (x, y) in different {
            if let Some(cell) = frame.cell((x, y)) {
                self.put(x, y, cell);
            }
        }
    }

    /// Replaces a cell, and the cells that a wide glyph in it covers.
    fn put(&mut self, x: u16, y: u16, cell: &Cell) {
        let mut cell = cell.clone();
        normalize_blank(&mut cell);
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
