//! The changed cells of a frame as few bytes: over SSH each one counts. The pen is changed only by what differs and only
//! where a glyph shows it, small gaps are stepped over, long blanks are erased, and a line of two alternating styles is
//! drawn style by style where that is shorter. What is seen is the same.

use super::cell_key::CellKey;
use super::sgr::{SgrState, keep_shorter, push_number};
use ratatui::buffer::{Buffer, Cell, CellDiffOption};
use ratatui::style::{Color, Modifier};
use std::collections::BTreeMap;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A cell with its column and row.
pub(super) type CellUpdate<'a> = (u16, u16, &'a Cell);

/// What shows on a blank cell beside its ground.
pub(super) const SEEN_ON_BLANK: Modifier = Modifier::UNDERLINED.union(Modifier::REVERSED).union(Modifier::CROSSED_OUT);
/// So many blanks side by side are erased instead of written.
const ERASED_FROM: usize = 8;
/// Cells that are written anew rather than stepped over; a step takes three bytes or four.
const GAP: u16 = 3;
/// Bytes of the shortest emoji that are joined.
const JOINED: usize = 7;

/// Makes a blank be like any other that looks alike, so that it is not sent again for a colour that nobody sees.
pub(super) fn settle_blank(cell: &mut Cell) {
    if is_plain_blank(cell) {
        cell.fg = Color::Reset;
        cell.modifier = Modifier::empty();
    }
}

/// The bytes that draw these cells of a frame with the pen that every frame begins and ends with. `placed` is in the order
/// of rows and columns. On a blank screen they come as soon as can be: a fifth less of them would take twice the time, while
/// nothing is to be seen.
pub(super) fn cells(placed: &[CellUpdate<'_>], whole: &Buffer, on_blank: bool) -> String {
    let mut frame =
        Encoder { whole, out: String::with_capacity(1024), pen: SgrState::default(), at: CursorPos::Unknown };
    let begun = (frame.pen, frame.at);
    let mut rows = Vec::new();
    for row in placed.chunk_by(|one, other| one.1 == other.1) {
        let row = with_neighbours(row, whole);
        let (begin, before) = (frame.out.len(), (frame.pen, frame.at));
        frame.draw(&row);
        if !on_blank {
            frame.draw_shorter(begin, before, std::slice::from_ref(&row));
            rows.push(row);
        }
    }
    if rows.len() > 1 {
        frame.draw_shorter(0, begun, &rows);
    }
    if frame.pen != SgrState::default() {
        frame.out.push_str("\x1b[m");
    }
    frame.out
}

/// The cells of a row, and those beside them that are better drawn as well: blanks between blanks, which make one long
/// blank, and what joined emoji draw over in a terminal that doesn't join them but shows one glyph after the other.
fn with_neighbours<'a>(row: &[CellUpdate<'a>], whole: &'a Buffer) -> Vec<CellUpdate<'a>> {
    let mut cells = Vec::with_capacity(row.len());
    let mut before: Option<CellUpdate<'a>> = None;
    for placed in row {
        let (x, y, cell) = *placed;
        if let Some((from, _, left)) = before
            && x.saturating_sub(from) <= GAP + 1
            && [left, cell].iter().all(|cell| is_erasable(cell))
        {
            let gap: Vec<_> = (from + 1..x).filter_map(|x| Some((x, y, whole.cell((x, y))?))).collect();
            if gap.iter().all(|(_, _, cell)| is_erasable(cell)) {
                cells.extend(gap);
            }
        }
        before = Some(*placed);
        cells.push(*placed);
    }
    if row.iter().all(|(_, _, cell)| cell.symbol().len() < JOINED) {
        return cells;
    }
    let mut all = BTreeMap::new();
    for (x, y, cell) in row {
        overdrawn(*x, *y, cell, whole, &mut all);
    }
    all.extend(cells.into_iter().map(|placed| (placed.0, placed)));
    all.into_values().collect()
}

/// Adds the cells behind joined emoji, as far as their parts would reach side by side.
fn overdrawn<'a>(x: u16, y: u16, cell: &Cell, whole: &'a Buffer, cells: &mut BTreeMap<u16, CellUpdate<'a>>) {
    let symbol = cell.symbol();
    if symbol.len() < JOINED || cell.diff_option != CellDiffOption::None {
        return;
    }
    let apart: usize = symbol.chars().map(|c| c.width().unwrap_or(0)).sum();
    let Some(end) = u16::try_from(apart).ok().filter(|_| apart > symbol.width()) else { return };
    let mut covered = 0;
    for column in x..x.saturating_add(end) {
        let Some(cell) = whole.cell((column, y)) else { return };
        if covered == 0 {
            covered = cell.symbol().width();
            cells.insert(column, (column, y, cell));
        }
        covered = covered.saturating_sub(1);
    }
}

/// The same cells, those of one style together, each blank with what stands before it in its row. None where they stand
/// like that already.
fn grouped<'a>(rows: &[Vec<CellUpdate<'a>>]) -> Option<Vec<CellUpdate<'a>>> {
    let mut pens: Vec<SgrState> = Vec::new();
    let mut runs: Vec<(usize, &[CellUpdate<'a>])> = Vec::new();
    for row in rows {
        let (mut rest, mut current) = (row.as_slice(), None);
        while let Some((_, _, cell)) = rest.first() {
            let pen = current.filter(|_| is_plain_blank(cell)).unwrap_or_else(|| SgrState::of(cell));
            let belongs = |placed: &&CellUpdate<'a>| is_plain_blank(placed.2) || SgrState::of(placed.2) == pen;
            let length = 1 + rest.iter().skip(1).take_while(belongs).count();
            let (run, behind) = rest.split_at_checked(length).unwrap_or((rest, &[]));
            let place = pens.iter().position(|known| *known == pen).unwrap_or_else(|| {
                pens.push(pen);
                pens.len() - 1
            });
            runs.push((place, run));
            (rest, current) = (behind, Some(pen));
        }
    }
    if runs.is_sorted_by_key(|(place, _)| *place) {
        return None;
    }
    runs.sort_by_key(|(place, _)| *place);
    Some(runs.into_iter().flat_map(|(_, run)| run).copied().collect())
}

/// A space that shows nothing but its ground.
fn is_plain_blank(cell: &Cell) -> bool {
    matches!(cell.symbol().as_bytes(), [b' ']) && !cell.modifier.intersects(SEEN_ON_BLANK)
}

/// Where the terminal's cursor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CursorPos {
    Unknown,
    /// In this row: a wide glyph was drawn, on whose width terminals don't agree.
    Row(u16),
    /// Here, unless the terminal draws a glyph before it wider than most do; right for what follows at once.
    About(u16, u16),
    Exactly(u16, u16),
}

#[derive(Debug)]
struct Encoder<'a> {
    /// All cells, those that need no drawing as well.
    whole: &'a Buffer,
    out: String,
    pen: SgrState,
    at: CursorPos,
}

impl Encoder<'_> {
    /// Draws these rows style by style in place of what was drawn since `begin`, where that takes fewer bytes; `before` is
    /// how it stood then.
    fn draw_shorter(&mut self, begin: usize, before: (SgrState, CursorPos), rows: &[Vec<CellUpdate<'_>>]) {
        let Some(by_style) = grouped(rows) else { return };
        let after = (self.pen, self.at);
        (self.pen, self.at) = before;
        let end = self.out.len();
        self.draw(&by_style);
        if self.out.len() - end < end - begin {
            self.out.drain(begin..end);
        } else {
            self.out.truncate(end);
            (self.pen, self.at) = after;
        }
    }

    fn draw(&mut self, cells: &[CellUpdate<'_>]) {
        let mut rest = cells;
        while let Some(((x, y, cell), after)) = rest.split_first() {
            let blanks = erasable(rest);
            self.go(*x, *y);
            if let Some(count) = blanks {
                self.take_pen(cell);
                self.sequence(u32::try_from(count).unwrap_or(u32::MAX), 'X');
                rest = rest.get(count..).unwrap_or_default();
                continue;
            }
            self.take_pen(cell);
            self.out.push_str(cell.symbol());
            self.at = after_glyph(self.at, *x, *y, cell);
            rest = self.draw_letters(after);
        }
    }

    /// Draws the letters that follow at once with the pen as it is, which most do; gives the cells after them.
    fn draw_letters<'a, 'b>(&mut self, cells: &'b [CellUpdate<'a>]) -> &'b [CellUpdate<'a>] {
        let (CursorPos::Exactly(x, y), pen) = (self.at, CellKey::of_pen(self.pen)) else { return cells };
        let follow = (x..).zip(cells).take_while(|(x, cell)| (*x, y) == (cell.0, cell.1));
        let letters = follow.map_while(|(_, cell)| CellKey::of(cell.2).letter(pen));
        let begin = self.out.len();
        self.out.extend(letters);
        // A letter is a byte.
        let count = self.out.len() - begin;
        self.at = CursorPos::Exactly(x.saturating_add(u16::try_from(count).unwrap_or(u16::MAX)), y);
        cells.get(count..).unwrap_or_default()
    }

    /// By the shortest way that is sure to end there.
    fn go(&mut self, x: u16, y: u16) {
        let is_there = matches!(self.at, CursorPos::Exactly(a, b) | CursorPos::About(a, b) if (a, b) == (x, y));
        if is_there {
            return;
        }
        let column = u32::from(x) + 1;
        let at = self.at;
        match at {
            CursorPos::Exactly(from, row) | CursorPos::About(from, row) if row == y && self.writes_on(from, x, y) => {}
            CursorPos::Exactly(from, row) if row == y && from < x => match x - from {
                1 => self.out.push_str("\x1b[C"),
                cells => self.sequence(u32::from(cells), 'C'),
            },
            CursorPos::Exactly(_, row) | CursorPos::About(_, row) | CursorPos::Row(row) if row == y => {
                self.sequence(column, 'G');
            }
            // The column is said, so it does not matter where the terminal puts a new line's begin.
            CursorPos::Exactly(_, row) | CursorPos::About(_, row) | CursorPos::Row(row)
                if row.checked_add(1) == Some(y) =>
            {
                self.out.push('\n');
                self.sequence(column, 'G');
            }
            _ => {
                self.out.push_str("\x1b[");
                push_number(&mut self.out, u32::from(y) + 1);
                self.out.push(';');
                push_number(&mut self.out, column);
                self.out.push('H');
            }
        }
        self.at = CursorPos::Exactly(x, y);
    }

    fn sequence(&mut self, parameter: u32, end: char) {
        self.out.push_str("\x1b[");
        push_number(&mut self.out, parameter);
        self.out.push(end);
    }

    /// Writes what stands in a gap anew where that is shorter than a step over it, and the pen is the one for it.
    fn writes_on(&mut self, from: u16, x: u16, y: u16) -> bool {
        if x <= from || x - from > GAP {
            return false;
        }
        // The second half of a wide glyph is no cell of its own.
        let before = from.checked_sub(1).and_then(|x| self.whole.cell((x, y)));
        if !before.is_some_and(is_one_cell) {
            return false;
        }
        let begin = self.out.len();
        for column in from..x {
            let glyph = self.whole.cell((column, y)).filter(|cell| self.draws(cell)).map(Cell::symbol);
            let Some(glyph) = glyph else {
                self.out.truncate(begin);
                return false;
            };
            self.out.push_str(glyph);
        }
        true
    }

    /// Whether a cell is one byte for the pen as it is.
    fn draws(&self, cell: &Cell) -> bool {
        let is_simple = cell.diff_option == CellDiffOption::None && cell.symbol().len() == 1;
        let pen = if is_plain_blank(cell) { SgrState { bg: cell.bg, ..self.pen } } else { SgrState::of(cell) };
        is_simple && pen == self.pen && !pen.modifier.intersects(SEEN_ON_BLANK)
    }

    /// Changes the pen as far as this cell shows it.
    fn take_pen(&mut self, cell: &Cell) {
        let (from, begin) = (self.pen, self.out.len());
        if !is_plain_blank(cell) {
            self.pen = SgrState::of(cell);
            from.change(self.pen, &mut self.out);
            return;
        }
        self.pen = SgrState { bg: cell.bg, modifier: from.modifier.difference(SEEN_ON_BLANK), ..from };
        if self.pen != from {
            from.change(self.pen, &mut self.out);
            let bare = SgrState { bg: cell.bg, ..SgrState::default() };
            if keep_shorter(&mut self.out, begin, |out| from.change(bare, out)) {
                self.pen = bare;
            }
        }
    }
}

/// How many blanks from here on are better erased.
fn erasable(rest: &[CellUpdate<'_>]) -> Option<usize> {
    let (first, row, _) = rest.first()?;
    let blanks = (*first..).zip(rest).take_while(|(column, (x, y, cell))| x == column && y == row && is_erasable(cell));
    Some(blanks.count()).filter(|count| *count >= ERASED_FROM)
}

/// A blank on the terminal's own ground: not every terminal erases in another.
fn is_erasable(cell: &Cell) -> bool {
    cell.bg == Color::Reset && is_plain_blank(cell) && cell.diff_option == CellDiffOption::None
}

fn is_one_cell(cell: &Cell) -> bool {
    match cell.diff_option {
        CellDiffOption::ForcedWidth(cells) => cells.get() == 1,
        // A byte is one cell, and most are one.
        _ => cell.symbol().len() == 1 || cell.symbol().width() == 1,
    }
}

fn after_glyph(before: CursorPos, x: u16, y: u16, cell: &Cell) -> CursorPos {
    if !is_one_cell(cell) {
        return CursorPos::Row(y);
    }
    let next = x.saturating_add(1);
    let is_sure = cell.symbol().is_ascii() && matches!(before, CursorPos::Exactly(..));
    if is_sure { CursorPos::Exactly(next, y) } else { CursorPos::About(next, y) }
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;
