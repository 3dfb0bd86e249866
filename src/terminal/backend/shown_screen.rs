//! What the terminal shows. Finds the cells that a frame changes, and leaves out invisible changes. Also blanks the
//! halves of wide glyphs that some terminals would leave on the screen.

use super::encode::{VISIBLE_ON_BLANK, encode_cells, normalize_blank};
use ratatui::buffer::{Buffer, Cell, CellDiffOption, CellWidth as _};
use std::borrow::Cow;

/// The content of a cell that is covered by a wider glyph, or by a link, to its left.
const COVERED_CELL: Cell = Cell::new("");

/// Whether a glyph is known to be one cell wide without measuring it: ASCII, and the lines and blocks that borders and
/// bars consist of (U+2500 to U+25BF).
#[inline]
fn is_surely_narrow(cell: &Cell) -> bool {
    matches!(cell.symbol().as_bytes(), [_] | [0xe2, 0x94..=0x96, _]) && cell.diff_option == CellDiffOption::None
}

/// Whether a cell of a frame is surely the same as what the terminal shows. A fast check of only the most common
/// symbols, which are known to be one cell wide; returns false for all others. The foreground colour of a blank is
/// ignored.
#[inline]
fn is_surely_identical(cell: &Cell, shown: &Cell) -> bool {
    let has_same_style = || cell.fg == shown.fg && cell.modifier == shown.modifier;
    let is_same = match (cell.symbol().as_bytes(), shown.symbol().as_bytes()) {
        ([b' '], [b' ']) => (cell.modifier | shown.modifier).is_empty() || has_same_style(),
        ([one], [other]) => one == other && has_same_style(),
        ([0xe2, block @ 0x94..=0x96, one], [0xe2, other_block, other]) => {
            (block, one) == (other_block, other) && has_same_style()
        }
        _ => false,
    };
    is_same
        && cell.bg == shown.bg
        && (cell.diff_option, shown.diff_option) == (CellDiffOption::None, CellDiffOption::None)
}

/// Returns the number of cells at the start of a row that are surely the same as what the terminal shows. This is a
/// function of its own so that the loop over all cells of a frame is small enough for the processor's registers.
#[inline(never)]
fn count_identical_at_start(row: &[Cell], shown: &[Cell]) -> usize {
    row.iter().zip(shown).take_while(|(cell, shown)| is_surely_identical(cell, shown)).count()
}

/// Whether a cell of a frame looks like what the terminal shows.
fn looks_like(cell: &Cell, shown: &Cell) -> bool {
    if cell.symbol() == " " && shown.symbol() == " " && !cell.modifier.intersects(VISIBLE_ON_BLANK) {
        return cell.bg == shown.bg && shown.modifier.is_empty();
    }
    cell == shown
}

/// Removes the characters that must not reach the terminal. A cell that contains nothing else shows `\u{fffd}`. The
/// cell of a link is returned unchanged, because it contains the escape sequences of the link.
fn without_hidden_chars(cell: &Cell, is_hidden_char: fn(char) -> bool) -> Cow<'_, Cell> {
    let is_link = matches!(cell.diff_option, CellDiffOption::ForcedWidth(_));
    if is_link || !cell.symbol().contains(is_hidden_char) {
        return Cow::Borrowed(cell);
    }
    let seen: String = cell.symbol().chars().filter(|c| !is_hidden_char(*c)).collect();
    let mut cell = cell.clone();
    cell.set_symbol(if seen.is_empty() { "\u{fffd}" } else { &seen });
    Cow::Owned(cell)
}

/// The content that the terminal shows once all changed cells are sent.
#[derive(Debug)]
pub(super) struct ShownScreen {
    /// All cells; empty while the screen is blank.
    cells: Buffer,
    /// The changed cells (row, column) that were not sent yet.
    changed_cells: Vec<(u16, u16)>,
    /// The cells (column, row) of a frame that may affect their neighbours, because they or the cells they replace may
    /// be wide. Empty between two frames; the list is stored here only so that its memory is reused.
    wide_changes: Vec<(u16, u16, Cell)>,
    /// Whether a character must not reach the terminal.
    is_hidden_char: fn(char) -> bool,
}

impl ShownScreen {
    /// Creates a blank screen. Characters for which `is_hidden_char` is true will not be shown.
    pub(super) fn blank(is_hidden_char: fn(char) -> bool) -> Self {
        Self { cells: Buffer::default(), changed_cells: Vec::new(), wide_changes: Vec::new(), is_hidden_char }
    }

    /// Removes everything from the screen.
    pub(super) fn clear(&mut self) {
        *self = Self::blank(self.is_hidden_char);
    }

    /// Shows a frame. The frame must have the same size as the previous one, unless the screen was cleared since then.
    /// If the screen is blank, moves the cells out of `frame`, which is empty afterwards; [`Self::cells`] returns them.
    pub(super) fn show(&mut self, frame: &mut Buffer) {
        if self.cells.area.is_empty() {
            self.cells = std::mem::take(frame);
            self.mark_first_changes();
        } else {
            self.change_to(frame);
        }
    }

    /// The cells of the screen, as they are shown.
    pub(super) fn cells(&self) -> &Buffer {
        &self.cells
    }

    /// Prepares the cells of a frame that appears on a blank screen, and marks those that are not blank. This needs no
    /// second buffer: allocating one would take a large part of the time until the first frame appears.
    fn mark_first_changes(&mut self) {
        let width = usize::from(self.cells.area.width).max(1);
        for (y, row) in (0..).zip(self.cells.content.chunks_mut(width)) {
            let mut covered_until = 0_u16;
            for (x, cell) in (0..).zip(row) {
                if x < covered_until {
                    *cell = COVERED_CELL;
                    continue;
                }
                if cell.diff_option == CellDiffOption::Skip {
                    *cell = Cell::EMPTY;
                    continue;
                }
                // Most cells are blank.
                if is_surely_identical(cell, &Cell::EMPTY) {
                    normalize_blank(cell);
                    continue;
                }
                if let Cow::Owned(visible) = without_hidden_chars(cell, self.is_hidden_char) {
                    *cell = visible;
                }
                if !is_surely_narrow(cell) {
                    covered_until = x.saturating_add(cell.cell_width().max(1));
                }
                if !looks_like(cell, &Cell::EMPTY) {
                    self.changed_cells.push((y, x));
                }
                normalize_blank(cell);
            }
        }
    }

    /// Shows a frame on a screen that is not blank.
    fn change_to(&mut self, frame: &Buffer) {
        let width = usize::from(frame.area.width).max(1);
        let mut wide_changes = std::mem::take(&mut self.wide_changes);
        let shown_rows = self.cells.content.chunks_mut(width);
        for (y, (row, shown_row)) in (0..).zip(frame.content.chunks(width).zip(shown_rows)) {
            let (mut x, mut covered_until) = (0, 0);
            loop {
                x += count_identical_at_start(row.get(x..).unwrap_or_default(), shown_row.get(x..).unwrap_or_default());
                let (Some(cell), Some(shown)) = (row.get(x), shown_row.get_mut(x)) else { break };
                let Ok(column) = u16::try_from(x) else { break };
                x += 1;
                if column < covered_until || cell.diff_option == CellDiffOption::Skip {
                    continue;
                }
                let cell = without_hidden_chars(cell, self.is_hidden_char);
                if !is_surely_narrow(&cell) {
                    covered_until = column.saturating_add(cell.cell_width().max(1));
                }
                if looks_like(&cell, shown) {
                    continue;
                }
                // A narrow glyph that replaces another one affects no other cell.
                if is_surely_narrow(&cell) && is_surely_narrow(shown) {
                    shown.clone_from(&cell);
                    normalize_blank(shown);
                    self.changed_cells.push((y, column));
                } else {
                    wide_changes.push((column, y, cell.into_owned()));
                }
            }
        }
        for (x, y, cell) in wide_changes.drain(..) {
            self.replace_cell(x, y, cell);
        }
        self.wide_changes = wide_changes;
    }

    /// Replaces a cell, and the cells that a wide glyph in it covers.
    fn replace_cell(&mut self, x: u16, y: u16, mut cell: Cell) {
        normalize_blank(&mut cell);
        let end = x.saturating_add(cell.cell_width().max(1));
        for column in x..end {
            self.cut_glyph(column, y, end);
            if let Some(covered) = self.cells.cell_mut((column, y)) {
                *covered = COVERED_CELL;
            }
        }
        if let Some(shown) = self.cells.cell_mut((x, y)) {
            *shown = cell;
        }
        self.changed_cells.push((y, x));
    }

    /// Prepares for overwriting the glyph at this position: blanks the cells that the glyph covers from the column
    /// `end` on. Some terminals (such as tmux) keep the second half of a wide glyph if only its first half is
    /// overwritten.
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
                self.changed_cells.push((y, column));
            }
        }
    }

    /// Encodes the changes since the last call.
    pub(super) fn encode_changes(&mut self) -> String {
        // A stable sort, because it is faster for cells that are nearly in order.
        self.changed_cells.sort();
        self.changed_cells.dedup();
        let width = usize::from(self.cells.area.width);
        let content = |(y, x): (u16, u16)| {
            let cell = self.cells.content.get(usize::from(y) * width + usize::from(x))?;
            (!cell.symbol().is_empty()).then_some((x, y, cell))
        };
        let mut updates = Vec::with_capacity(self.changed_cells.len());
        updates.extend(self.changed_cells.drain(..).filter_map(content));
        encode_cells(updates, &self.cells)
    }
}
