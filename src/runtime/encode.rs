//! The changed cells of a frame as few bytes: over SSH each one counts. The pen is changed only by what differs and only
//! where a glyph shows it, small gaps are stepped over, long blanks are erased, and a line of two alternating styles is
//! drawn style by style where that is shorter. What is seen is the same.

use ratatui::buffer::{Buffer, Cell, CellDiffOption};
use ratatui::style::{Color, Modifier};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// A cell with its column and row.
pub(super) type Placed<'a> = (u16, u16, &'a Cell);

/// What shows on a blank cell beside its ground.
const SEEN_ON_BLANK: Modifier = Modifier::UNDERLINED.union(Modifier::REVERSED).union(Modifier::CROSSED_OUT);
/// So many blanks side by side are erased instead of written.
const ERASED_FROM: usize = 8;
/// Cells that are written anew rather than stepped over; a step takes three bytes or four.
const GAP: u16 = 3;
/// Bytes of the shortest emoji that are joined.
const JOINED: usize = 7;

/// Modifiers with the codes that switch them on and off.
const CODES: [(Modifier, u8, u8); 9] = [
    (Modifier::BOLD, 1, 22),
    (Modifier::DIM, 2, 22),
    (Modifier::ITALIC, 3, 23),
    (Modifier::UNDERLINED, 4, 24),
    (Modifier::SLOW_BLINK, 5, 25),
    (Modifier::RAPID_BLINK, 6, 25),
    (Modifier::REVERSED, 7, 27),
    (Modifier::HIDDEN, 8, 28),
    (Modifier::CROSSED_OUT, 9, 29),
];

/// Makes a blank be like any other that looks alike, so that it is not sent again for a colour that nobody sees.
pub(super) fn settle_blank(cell: &mut Cell) {
    if is_plain_blank(cell) {
        cell.fg = Color::Reset;
        cell.modifier = Modifier::empty();
    }
}

/// The bytes that draw these cells of a frame with the pen that every frame begins and ends with. `placed` is in the order
/// of rows and columns.
pub(super) fn cells(placed: &[Placed<'_>], whole: &Buffer) -> String {
    let rows: Vec<_> = placed.chunk_by(|one, other| one.1 == other.1).map(|row| with_neighbours(row, whole)).collect();
    let begun = Encoder { whole, out: String::new(), pen: Pen::default(), at: At::Unknown };
    let mut by_row = begun.after(&[]);
    for row in &rows {
        let (as_it_stands, by_style) = (by_row.after(row), by_row.after(&grouped(std::slice::from_ref(row))));
        let shorter = if by_style.out.len() < as_it_stands.out.len() { by_style } else { as_it_stands };
        by_row.out.push_str(&shorter.out);
        (by_row.pen, by_row.at) = (shorter.pen, shorter.at);
    }
    let by_style = begun.after(&grouped(&rows));
    let mut frame = if by_style.out.len() < by_row.out.len() { by_style } else { by_row };
    if frame.pen != Pen::default() {
        frame.out.push_str("\x1b[m");
    }
    frame.out
}

/// The cells of a row, and those beside them that are better drawn as well: blanks between blanks, which make one long
/// blank, and what joined emoji draw over in a terminal that doesn't join them but shows one glyph after the other.
fn with_neighbours<'a>(row: &[Placed<'a>], whole: &'a Buffer) -> Vec<Placed<'a>> {
    let mut cells = Vec::with_capacity(row.len());
    let mut before: Option<Placed<'a>> = None;
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
fn overdrawn<'a>(x: u16, y: u16, cell: &Cell, whole: &'a Buffer, cells: &mut BTreeMap<u16, Placed<'a>>) {
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

/// The same cells, those of one style together, each blank with what stands before it in its row.
fn grouped<'a>(rows: &[Vec<Placed<'a>>]) -> Vec<Placed<'a>> {
    let mut groups: Vec<(Pen, Vec<Placed<'a>>)> = Vec::new();
    for row in rows {
        let mut current = None;
        for placed in row {
            if current.is_none() || !is_plain_blank(placed.2) {
                let pen = Pen::of(placed.2);
                let known = groups.iter().position(|(known, _)| *known == pen);
                current = Some(known.unwrap_or_else(|| {
                    groups.push((pen, Vec::new()));
                    groups.len() - 1
                }));
            }
            if let Some((_, cells)) = current.and_then(|current| groups.get_mut(current)) {
                cells.push(*placed);
            }
        }
    }
    groups.into_iter().flat_map(|(_, cells)| cells).collect()
}

/// A space that shows nothing but its ground.
fn is_plain_blank(cell: &Cell) -> bool {
    cell.symbol() == " " && !cell.modifier.intersects(SEEN_ON_BLANK)
}

/// What the next glyph is drawn with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Pen {
    fg: Color,
    bg: Color,
    modifier: Modifier,
}

impl Pen {
    fn of(cell: &Cell) -> Self {
        Self { fg: cell.fg, bg: cell.bg, modifier: cell.modifier }
    }
}

/// Where the terminal's cursor is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum At {
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
    pen: Pen,
    at: At,
}

impl Encoder<'_> {
    /// What draws these cells from here on, and where that ends.
    fn after(&self, cells: &[Placed<'_>]) -> Self {
        let mut drawn = Self { out: String::new(), ..*self };
        drawn.draw(cells);
        drawn
    }

    fn draw(&mut self, cells: &[Placed<'_>]) {
        let mut rest = cells;
        while let Some(((x, y, cell), after)) = rest.split_first() {
            let blanks = erasable(rest);
            self.go(*x, *y);
            if let Some(count) = blanks {
                self.take_pen(cell);
                push(&mut self.out, format_args!("\x1b[{count}X"));
                rest = rest.get(count..).unwrap_or_default();
                continue;
            }
            self.take_pen(cell);
            self.out.push_str(cell.symbol());
            self.at = after_glyph(self.at, *x, *y, cell);
            rest = after;
        }
    }

    /// By the shortest way that is sure to end there.
    fn go(&mut self, x: u16, y: u16) {
        let is_there = matches!(self.at, At::Exactly(a, b) | At::About(a, b) if (a, b) == (x, y));
        if is_there {
            return;
        }
        let column = u32::from(x) + 1;
        let at = self.at;
        match at {
            At::Exactly(from, row) | At::About(from, row) if row == y && self.writes_on(from, x, y) => {}
            At::Exactly(from, row) if row == y && from < x => match x - from {
                1 => self.out.push_str("\x1b[C"),
                cells => push(&mut self.out, format_args!("\x1b[{cells}C")),
            },
            At::Exactly(_, row) | At::About(_, row) | At::Row(row) if row == y => {
                push(&mut self.out, format_args!("\x1b[{column}G"));
            }
            // The column is said, so it does not matter where the terminal puts a new line's begin.
            At::Exactly(_, row) | At::About(_, row) | At::Row(row) if row.checked_add(1) == Some(y) => {
                push(&mut self.out, format_args!("\n\x1b[{column}G"));
            }
            _ => push(&mut self.out, format_args!("\x1b[{};{column}H", u32::from(y) + 1)),
        }
        self.at = At::Exactly(x, y);
    }

    /// Writes what stands in a gap anew where that is shorter than a step over it, and the pen is the one for it.
    fn writes_on(&mut self, from: u16, x: u16, y: u16) -> bool {
        if x <= from || x - from > GAP {
            return false;
        }
        let Some(before) = from.checked_sub(1).and_then(|x| self.whole.cell((x, y))) else { return false };
        let mut glyphs = String::new();
        for column in from..x {
            let Some(cell) = self.whole.cell((column, y)) else { return false };
            let is_simple = cell.diff_option == CellDiffOption::None && cell.symbol().len() == 1;
            let pen = if is_plain_blank(cell) { Pen { bg: cell.bg, ..self.pen } } else { Pen::of(cell) };
            if !is_simple || pen != self.pen || pen.modifier.intersects(SEEN_ON_BLANK) {
                return false;
            }
            glyphs.push_str(cell.symbol());
        }
        // The second half of a wide glyph is no cell of its own.
        let is_free = is_one_cell(before);
        if is_free {
            self.out.push_str(&glyphs);
        }
        is_free
    }

    /// Changes the pen as far as this cell shows it.
    fn take_pen(&mut self, cell: &Cell) {
        let wanted = if is_plain_blank(cell) {
            let shows = Pen { bg: cell.bg, modifier: self.pen.modifier.difference(SEEN_ON_BLANK), ..self.pen };
            let bare = Pen { bg: cell.bg, ..Pen::default() };
            if change(self.pen, bare).len() < change(self.pen, shows).len() { bare } else { shows }
        } else {
            Pen::of(cell)
        };
        self.out.push_str(&change(self.pen, wanted));
        self.pen = wanted;
    }
}

/// How many blanks from here on are better erased.
fn erasable(rest: &[Placed<'_>]) -> Option<usize> {
    let (first, row, _) = rest.first()?;
    let blanks = (*first..).zip(rest).take_while(|(column, (x, y, cell))| x == column && y == row && is_erasable(cell));
    Some(blanks.count()).filter(|count| *count >= ERASED_FROM)
}

/// A blank on the terminal's own ground: not every terminal erases in another.
fn is_erasable(cell: &Cell) -> bool {
    cell.bg == Color::Reset && is_plain_blank(cell) && cell.diff_option == CellDiffOption::None
}

fn is_one_cell(cell: &Cell) -> bool {
    matches!(cell.diff_option, CellDiffOption::ForcedWidth(cells) if cells.get() == 1)
        || (!matches!(cell.diff_option, CellDiffOption::ForcedWidth(_)) && cell.symbol().width() == 1)
}

fn after_glyph(before: At, x: u16, y: u16, cell: &Cell) -> At {
    if !is_one_cell(cell) {
        return At::Row(y);
    }
    let next = x.saturating_add(1);
    let is_sure = cell.symbol().is_ascii() && matches!(before, At::Exactly(..));
    if is_sure { At::Exactly(next, y) } else { At::About(next, y) }
}

/// The shortest sequence that makes one pen the other; empty where they are alike.
fn change(from: Pen, to: Pen) -> String {
    if from == to {
        return String::new();
    }
    if to == Pen::default() {
        return "\x1b[m".to_owned();
    }
    let (mut step, mut anew) = (String::new(), "0".to_owned());
    let removed = from.modifier.difference(to.modifier);
    let mut kept = from.modifier.intersection(to.modifier);
    let mut switched_off = 0;
    for (modifier, _, off) in CODES {
        if removed.contains(modifier) && switched_off != off {
            add(&mut step, off);
            switched_off = off;
        }
    }
    if removed.intersects(Modifier::BOLD | Modifier::DIM) {
        // One code ends both.
        kept.remove(Modifier::BOLD | Modifier::DIM);
    }
    for (modifier, on, _) in CODES {
        if to.modifier.contains(modifier) {
            add(&mut anew, on);
            if !kept.contains(modifier) {
                add(&mut step, on);
            }
        }
    }
    for (was, is, base) in [(from.fg, to.fg, 30), (from.bg, to.bg, 40)] {
        if is != Color::Reset {
            add_color(&mut anew, is, base);
        }
        if was != is {
            add_color(&mut step, is, base);
        }
    }
    format!("\x1b[{}m", if anew.len() < step.len() { anew } else { step })
}

fn add(codes: &mut String, code: u8) {
    push(codes, format_args!("{}{code}", if codes.is_empty() { "" } else { ";" }));
}

/// The colour's code; `base` is 30 for letters and 40 for their ground.
fn add_color(codes: &mut String, color: Color, base: u8) {
    let many = base + 8;
    match color {
        Color::Reset => add(codes, base + 9),
        Color::Indexed(n) => {
            add(codes, many);
            push(codes, format_args!(";5;{n}"));
        }
        Color::Rgb(r, g, b) => {
            add(codes, many);
            match numbered(r, g, b) {
                Some(n) => push(codes, format_args!(";5;{n}")),
                None => push(codes, format_args!(";2;{r};{g};{b}")),
            }
        }
        Color::Black => add(codes, base),
        Color::Red => add(codes, base + 1),
        Color::Green => add(codes, base + 2),
        Color::Yellow => add(codes, base + 3),
        Color::Blue => add(codes, base + 4),
        Color::Magenta => add(codes, base + 5),
        Color::Cyan => add(codes, base + 6),
        Color::Gray => add(codes, base + 7),
        Color::DarkGray => add(codes, base + 60),
        Color::LightRed => add(codes, base + 61),
        Color::LightGreen => add(codes, base + 62),
        Color::LightYellow => add(codes, base + 63),
        Color::LightBlue => add(codes, base + 64),
        Color::LightMagenta => add(codes, base + 65),
        Color::LightCyan => add(codes, base + 66),
        Color::White => add(codes, base + 67),
    }
}

/// The number that the colour itself has among the 256, which takes half the bytes. Not one of the first of the cube, which
/// some people's shells give other colours.
fn numbered(r: u8, g: u8, b: u8) -> Option<u8> {
    let level = |value: u8| match value {
        0 => Some(0),
        95..=255 if (value - 55).is_multiple_of(40) => Some((value - 55) / 40),
        _ => None,
    };
    let cube = || Some(16 + 36 * level(r)? + 6 * level(g)? + level(b)?);
    let is_grey = r == g && g == b && (8..=238).contains(&r) && (r - 8).is_multiple_of(10);
    let grey = is_grey.then(|| 232 + (r.wrapping_sub(8)) / 10);
    cube().or(grey).filter(|n| *n > 21)
}

fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    // Writing to a string can't fail.
    let _: std::fmt::Result = out.write_fmt(text);
}

#[cfg(test)]
#[path = "encode_tests.rs"]
mod tests;
