//! Encodes the changed cells of a frame in few bytes, because every byte counts over SSH. Only visible style
//! differences are sent. A short gap of unchanged cells between changed cells is written again, because that takes no
//! more bytes than moving the cursor; a longer gap is skipped. Many blanks in a row are erased with one sequence. The
//! cells are sent style by style if that is estimated to be shorter than row by row. The screen looks the same as if
//! every cell were sent.

use super::sgr::{SgrState, push_number, replace_if_shorter};
use ratatui::buffer::{Buffer, Cell, CellDiffOption};
use ratatui::style::{Color, Modifier};
use std::collections::BTreeMap;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The column, the row and the new content of a cell.
pub(super) type CellUpdate<'a> = (u16, u16, &'a Cell);

/// The modifiers that are visible on a blank cell.
pub(super) const VISIBLE_ON_BLANK: Modifier =
    Modifier::UNDERLINED.union(Modifier::REVERSED).union(Modifier::CROSSED_OUT);
/// Minimum number of adjacent blanks that are erased instead of written.
const MIN_ERASED_BLANKS: usize = 8;
/// Maximum number of unchanged cells in a gap that is written again. Skipping a gap takes three or four bytes.
const MAX_REWRITTEN_GAP: u16 = 3;
/// Number of bytes that are reserved for the output of a frame. Most frames need no more.
const RESERVED_FRAME_BYTES: usize = 2048;
/// Average length in bytes of a sequence that moves the cursor.
const AVERAGE_CURSOR_MOVE_BYTES: usize = 5;
/// Length in bytes of the shortest emoji that is joined from several characters.
const MIN_JOINED_EMOJI_BYTES: usize = 7;

/// Removes the invisible part of a blank's style, so that a change of only that part doesn't send the blank again.
pub(super) fn normalize_blank(cell: &mut Cell) {
    if is_plain_blank(cell) {
        cell.fg = Color::Reset;
        cell.modifier = Modifier::empty();
    }
}

/// Encodes the changed cells of a frame. `updates` must be sorted by row and column, and `buffer` contains all cells of
/// the frame. The terminal has the default style before and after the output.
pub(super) fn encode_cells(updates: Vec<CellUpdate<'_>>, buffer: &Buffer) -> String {
    let mut cells = Vec::with_capacity(updates.len());
    for row in updates.chunk_by(|one, other| one.1 == other.1) {
        add_with_neighbours(row, buffer, &mut cells);
    }
    // The groups reuse this memory. In the first frame, new memory would take longer than the grouping.
    drop(updates);
    let mut frame = Encoder {
        buffer,
        out: String::with_capacity(RESERVED_FRAME_BYTES),
        style: SgrState::default(),
        at: CursorPos::Unknown,
    };
    frame.draw(&group_by_style_if_shorter(&cells).unwrap_or(cells));
    if frame.style != SgrState::default() {
        frame.out.push_str("\x1b[m");
    }
    frame.out
}

/// Adds the changed cells of a row to `cells`, plus two kinds of unchanged cells: blanks between changed blanks, so
/// that all of them can be erased at once; and the cells that a joined emoji covers if the terminal draws the parts of
/// the emoji side by side.
fn add_with_neighbours<'a>(row: &[CellUpdate<'a>], buffer: &'a Buffer, cells: &mut Vec<CellUpdate<'a>>) {
    let start = cells.len();
    let mut before: Option<CellUpdate<'a>> = None;
    for update in row {
        let (x, y, cell) = *update;
        if let Some((from, _, left)) = before
            && x.saturating_sub(from) <= MAX_REWRITTEN_GAP + 1
            && [left, cell].iter().all(|cell| is_erasable(cell))
        {
            let gap: Vec<_> = (from + 1..x).filter_map(|x| Some((x, y, buffer.cell((x, y))?))).collect();
            if gap.iter().all(|(_, _, cell)| is_erasable(cell)) {
                cells.extend(gap);
            }
        }
        before = Some(*update);
        cells.push(*update);
    }
    if !row.iter().any(|(_, _, cell)| may_be_joined_emoji(cell)) {
        return;
    }
    let mut all = BTreeMap::new();
    for (x, y, cell) in row {
        add_cells_under_emoji(*x, *y, cell, buffer, &mut all);
    }
    all.extend(cells.drain(start..).map(|update| (update.0, update)));
    cells.extend(all.into_values());
}

/// Whether the cell contains enough bytes for a joined emoji. Cells of links are excluded, because the escape sequences
/// in the first cell of a link also have that many bytes.
fn may_be_joined_emoji(cell: &Cell) -> bool {
    cell.symbol().len() >= MIN_JOINED_EMOJI_BYTES && cell.diff_option == CellDiffOption::None
}

/// Adds the cells that a joined emoji covers in a terminal that draws the parts of the emoji side by side.
fn add_cells_under_emoji<'a>(
    x: u16,
    y: u16,
    cell: &Cell,
    buffer: &'a Buffer,
    cells: &mut BTreeMap<u16, CellUpdate<'a>>,
) {
    let symbol = cell.symbol();
    if !may_be_joined_emoji(cell) {
        return;
    }
    let unjoined_width: usize = symbol.chars().map(|c| c.width().unwrap_or(0)).sum();
    let Some(end) = u16::try_from(unjoined_width).ok().filter(|_| unjoined_width > symbol.width()) else { return };
    let mut covered = 0;
    for column in x..x.saturating_add(end) {
        let Some(cell) = buffer.cell((column, y)) else { return };
        if covered == 0 {
            covered = cell.symbol().width();
            cells.insert(column, (column, y, cell));
        }
        covered = covered.saturating_sub(1);
    }
}

/// Returns the cells grouped by style if that is likely to take fewer bytes than drawing them in order. A blank stays
/// with the glyph before it.
fn group_by_style_if_shorter<'a>(cells: &[CellUpdate<'a>]) -> Option<Vec<CellUpdate<'a>>> {
    let mut styles: Vec<(SgrState, usize)> = Vec::new();
    let mut runs: Vec<(usize, &[CellUpdate<'a>])> = Vec::new();
    let mut rest = cells;
    while let Some((_, row, cell)) = rest.first() {
        let style = SgrState::of(cell);
        let belongs =
            |(_, y, cell): &&CellUpdate<'a>| y == row && (is_plain_blank(cell) || SgrState::of(cell) == style);
        let (run, after) = rest.split_at(1 + rest.iter().skip(1).take_while(belongs).count());
        let group = styles.iter().position(|(known, _)| *known == style).unwrap_or_else(|| {
            styles.push((style, style.sequence_length()));
            styles.len() - 1
        });
        runs.push((group, run));
        rest = after;
    }
    let in_order = estimated_overhead(&styles, &runs);
    runs.sort_by_key(|(group, _)| *group);
    if estimated_overhead(&styles, &runs) >= in_order {
        return None;
    }
    let mut grouped = Vec::with_capacity(cells.len());
    runs.into_iter().for_each(|(_, run)| grouped.extend_from_slice(run));
    Some(grouped)
}

/// Estimates the number of bytes for the styles and the cursor positions of these runs of cells. Each run has the index
/// of its style in `styles`, which contains each style with the length of its sequence.
fn estimated_overhead(styles: &[(SgrState, usize)], runs: &[(usize, &[CellUpdate<'_>])]) -> usize {
    let (mut bytes, mut style, mut next) = (0, None, None);
    for (group, run) in runs {
        if style != Some(*group) {
            bytes += styles.get(*group).map_or(0, |(_, length)| *length);
        }
        style = Some(*group);
        if next != run.first().map(|(x, y, _)| (*x, *y)) {
            bytes += AVERAGE_CURSOR_MOVE_BYTES;
        }
        next = run.last().map(|(x, y, _)| (x.saturating_add(1), *y));
    }
    bytes
}

/// Whether the cell is a space of which only the background is visible.
fn is_plain_blank(cell: &Cell) -> bool {
    matches!(cell.symbol().as_bytes(), [b' ']) && !cell.modifier.intersects(VISIBLE_ON_BLANK)
}

/// What is known about the position of the terminal's cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CursorPos {
    Unknown,
    /// Somewhere in this row: a wide glyph was drawn, and terminals don't agree on its width.
    Row(u16),
    /// At this column and row, unless the terminal draws an earlier glyph wider than most terminals do. Precise enough
    /// to draw the next glyph.
    Approximate(u16, u16),
    /// At this column and row.
    Exact(u16, u16),
}

#[derive(Debug)]
struct Encoder<'a> {
    /// All cells of the frame, including unchanged ones.
    buffer: &'a Buffer,
    out: String,
    style: SgrState,
    at: CursorPos,
}

impl Encoder<'_> {
    fn draw(&mut self, cells: &[CellUpdate<'_>]) {
        let mut rest = cells;
        while let Some(((x, y, cell), after)) = rest.split_first() {
            // Most cells take this shortcut: the cursor is already at the cell, and the style doesn't change.
            if self.at == CursorPos::Exact(*x, *y) && cell.symbol() != " " && self.is_one_byte(cell) {
                self.out.push_str(cell.symbol());
                self.at = CursorPos::Exact(x.saturating_add(1), *y);
                rest = after;
                continue;
            }
            let blanks = count_erasable_blanks(rest);
            self.move_to(*x, *y);
            if let Some(count) = blanks {
                self.set_style(cell);
                self.push_sequence(u32::try_from(count).unwrap_or(u32::MAX), 'X');
                rest = rest.get(count..).unwrap_or_default();
                continue;
            }
            self.set_style(cell);
            self.out.push_str(cell.symbol());
            self.at = position_after_glyph(self.at, *x, *y, cell);
            rest = after;
        }
    }

    /// Moves the cursor by the shortest reliable sequence.
    fn move_to(&mut self, x: u16, y: u16) {
        let is_there = matches!(self.at, CursorPos::Exact(a, b) | CursorPos::Approximate(a, b) if (a, b) == (x, y));
        if is_there {
            return;
        }
        let column = u32::from(x) + 1;
        let at = self.at;
        match at {
            CursorPos::Exact(from, row) | CursorPos::Approximate(from, row)
                if row == y && self.try_rewrite_gap(from, x, y) => {}
            CursorPos::Exact(from, row) if row == y && from < x => match x - from {
                1 => self.out.push_str("\x1b[C"),
                cells => self.push_sequence(u32::from(cells), 'C'),
            },
            CursorPos::Exact(_, row) | CursorPos::Approximate(_, row) | CursorPos::Row(row) if row == y => {
                self.push_sequence(column, 'G');
            }
            // The column is sent explicitly, so it doesn't matter whether a line feed also moves the cursor to the
            // start of the line.
            CursorPos::Exact(_, row) | CursorPos::Approximate(_, row) | CursorPos::Row(row)
                if row.checked_add(1) == Some(y) =>
            {
                self.out.push('\n');
                self.push_sequence(column, 'G');
            }
            _ => {
                self.out.push_str("\x1b[");
                push_number(&mut self.out, u32::from(y) + 1);
                self.out.push(';');
                push_number(&mut self.out, column);
                self.out.push('H');
            }
        }
        self.at = CursorPos::Exact(x, y);
    }

    fn push_sequence(&mut self, parameter: u32, end: char) {
        self.out.push_str("\x1b[");
        push_number(&mut self.out, parameter);
        self.out.push(end);
    }

    /// Rewrites the unchanged cells from column `from` to the column before `x`, if that is shorter than skipping them
    /// and needs no change of style. Returns whether the cells were written.
    fn try_rewrite_gap(&mut self, from: u16, x: u16, y: u16) -> bool {
        if x <= from || x - from > MAX_REWRITTEN_GAP {
            return false;
        }
        // After a wide glyph, `from` may be the second half of that glyph, which can't be written on its own.
        let before = from.checked_sub(1).and_then(|x| self.buffer.cell((x, y)));
        if !before.is_some_and(is_one_cell_wide) {
            return false;
        }
        let begin = self.out.len();
        for column in from..x {
            let glyph = self.buffer.cell((column, y)).filter(|cell| self.is_one_byte(cell)).map(Cell::symbol);
            let Some(glyph) = glyph else {
                self.out.truncate(begin);
                return false;
            };
            self.out.push_str(glyph);
        }
        true
    }

    /// Whether drawing the cell takes a single byte: an ASCII character in the current style.
    fn is_one_byte(&self, cell: &Cell) -> bool {
        let is_simple = cell.diff_option == CellDiffOption::None && cell.symbol().len() == 1;
        let style = if is_plain_blank(cell) { SgrState { bg: cell.bg, ..self.style } } else { SgrState::of(cell) };
        is_simple && style == self.style && !style.modifier.intersects(VISIBLE_ON_BLANK)
    }

    /// Changes the current style to that of the cell. For a blank, only the visible part of the style matters.
    fn set_style(&mut self, cell: &Cell) {
        let (from, begin) = (self.style, self.out.len());
        if !is_plain_blank(cell) {
            self.style = SgrState::of(cell);
            from.append_change(self.style, &mut self.out);
            return;
        }
        self.style = SgrState { bg: cell.bg, modifier: from.modifier.difference(VISIBLE_ON_BLANK), ..from };
        if self.style != from {
            from.append_change(self.style, &mut self.out);
            let bare = SgrState { bg: cell.bg, ..SgrState::default() };
            if replace_if_shorter(&mut self.out, begin, |out| from.append_change(bare, out)) {
                self.style = bare;
            }
        }
    }
}

/// Counts the adjacent blanks at the start of `rest`. Returns `None` if they are too few to be erased.
fn count_erasable_blanks(rest: &[CellUpdate<'_>]) -> Option<usize> {
    let (first, row, _) = rest.first()?;
    let blanks = (*first..).zip(rest).take_while(|(column, (x, y, cell))| x == column && y == row && is_erasable(cell));
    Some(blanks.count()).filter(|count| *count >= MIN_ERASED_BLANKS)
}

/// Whether the cell is a blank with the terminal's default background. Not every terminal can erase with another
/// background.
fn is_erasable(cell: &Cell) -> bool {
    cell.bg == Color::Reset && is_plain_blank(cell) && cell.diff_option == CellDiffOption::None
}

fn is_one_cell_wide(cell: &Cell) -> bool {
    match cell.diff_option {
        CellDiffOption::ForcedWidth(cells) => cells.get() == 1,
        // A single byte is one cell wide. Most glyphs are a single byte, so their width is not computed.
        _ => cell.symbol().len() == 1 || cell.symbol().width() == 1,
    }
}

fn position_after_glyph(before: CursorPos, x: u16, y: u16, cell: &Cell) -> CursorPos {
    if !is_one_cell_wide(cell) {
        return CursorPos::Row(y);
    }
    let next = x.saturating_add(1);
    let is_sure = cell.symbol().is_ascii() && matches!(before, CursorPos::Exact(..));
    if is_sure { CursorPos::Exact(next, y) } else { CursorPos::Approximate(next, y) }
}
