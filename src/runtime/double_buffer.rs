//! What the terminal shows and what is being drawn, and the cells in which the two differ.
//!
//! ratatui looks up the width of every cell of a frame, drawn anew or not; most rows are as they were, and are passed by
//! here. What it gives for the others is the same, but for the second half of a wide glyph that is gone: a test compares
//! the two.

use super::cell_key::CellKey;
use super::encode::{CellUpdate, settle_blank};
use ratatui::buffer::{Buffer, Cell, CellDiffOption, CellWidth as _};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

/// What shows on a blank cell that a wide glyph left behind.
const SEEN_ON_BLANK: Modifier = Modifier::REVERSED
    .union(Modifier::UNDERLINED)
    .union(Modifier::SLOW_BLINK)
    .union(Modifier::RAPID_BLINK)
    .union(Modifier::CROSSED_OUT);
/// Asks a terminal to draw a glyph as an emoji; not every one clears the second cell of it.
const AS_EMOJI: char = '\u{fe0f}';

/// The two frames. Cells that nothing was drawn on yet take no memory: a start has one frame to draw, and touches that alone.
#[derive(Debug, Default)]
pub(super) struct DoubleBuffer {
    /// Without cells while the terminal shows none.
    shown: Buffer,
    /// What its cells show; empty until a frame is compared with them.
    looks: Vec<CellKey>,
    next: Buffer,
}

impl DoubleBuffer {
    /// Whether the terminal shows a frame, and one of another size.
    pub(super) fn is_of_another_size(&self, area: Rect) -> bool {
        !self.shown.content.is_empty() && self.shown.area != area
    }

    /// The next frame, blank, to be drawn and given back to [`Frames::put`].
    pub(super) fn take(&mut self, area: Rect) -> Buffer {
        if self.shown.area != area {
            self.shown.area = area;
            self.blank();
        }
        let mut next = std::mem::take(&mut self.next);
        if next.area == area && !next.content.is_empty() {
            next.reset();
            next
        } else {
            Buffer::empty(area)
        }
    }

    /// The next frame as it was drawn.
    pub(super) fn put(&mut self, next: Buffer) {
        self.next = next;
    }

    /// The terminal was cleared.
    pub(super) fn blank(&mut self) {
        self.shown.content.clear();
        self.looks.clear();
    }

    /// What `encoded` makes of the cells that the terminal has to be sent, which may show none yet; they count as shown from
    /// then on.
    pub(super) fn show(&mut self, encoded: impl FnOnce(&[CellUpdate<'_>], &Buffer, bool) -> String) -> String {
        let width = usize::from(self.next.area.width).max(1);
        if self.looks.len() != self.shown.content.len() {
            self.looks = self.shown.content.iter().map(CellKey::of).collect();
        }
        // In place of rows that show nothing.
        let blank = vec![Cell::EMPTY; if self.shown.content.is_empty() { width } else { 0 }];
        let mut rows: Vec<(u16, usize, Differing)> = Vec::new();
        let begins = (0..).step_by(width);
        for ((row, begin), next) in (self.next.area.y..).zip(begins).zip(self.next.content.chunks_mut(width)) {
            let shown = self.shown.content.get(begin..begin + width);
            let differs = match (shown, self.looks.get_mut(begin..begin + width)) {
                (Some(shown), Some(looks)) => differing(looks, shown, next),
                _ => differing(&mut vec![CellKey::EMPTY; width], &blank, next),
            };
            if differs.count > 0 {
                rows.push((row, begin, differs));
            }
        }
        let on_blank = !blank.is_empty();
        let mut placed = Vec::with_capacity(rows.iter().map(|row| row.2.count).sum());
        for (row, begin, differs) in &rows {
            let shown = self.shown.content.get(*begin..begin + width).unwrap_or(&blank);
            if let Some(next) = self.next.content.get(*begin..begin + width) {
                let (begin, at, cells) = (placed.len(), (self.next.area.x, *row), &differs.cells);
                if differs.is_simple {
                    let all = (at.0..).zip(next).zip(cells).filter(|(_, differs)| **differs);
                    placed.extend(all.map(|((column, cell), _)| (column, at.1, cell)));
                    continue;
                }
                changes(at, shown, next, cells, &mut placed);
                if !on_blank {
                    add_halves(at, shown, next, cells, begin, &mut placed);
                }
            }
        }
        let out = if placed.is_empty() { String::new() } else { encoded(&placed, &self.next, on_blank) };
        std::mem::swap(&mut self.shown, &mut self.next);
        out
    }
}

/// What differs in a row.
#[derive(Debug, Default)]
struct Differing {
    /// Which cells have to be drawn again; empty where none has.
    cells: Vec<bool>,
    count: usize,
    /// Each glyph of the row takes one cell, and so did those that are gone: nothing but these cells has to be looked at.
    is_simple: bool,
}

impl Differing {
    /// Takes a cell in that looks another way than before, or may. Apart from the comparison, which has the more room for
    /// what it needs for each of thousands of cells.
    #[inline(never)]
    fn note(&mut self, at: usize, (was, is): (CellKey, CellKey), shown: &[Cell], cell: &mut Cell) {
        let before = shown.get(at);
        if was == is && before.is_some_and(|before| before.symbol() == cell.symbol()) {
            return;
        }
        settle_blank(cell);
        if self.count == 0 {
            self.cells.resize(shown.len(), false);
            self.is_simple = true;
        }
        if let Some(differs) = self.cells.get_mut(at) {
            *differs = true;
            self.count += 1;
        }
        self.is_simple &= was.is_letter() || before.is_some_and(|before| width(before) == 1);
    }
}

/// Compares a row with what is shown. `looks` is what its cells look like, and then what the next ones do.
fn differing(looks: &mut [CellKey], shown: &[Cell], next: &mut [Cell]) -> Differing {
    let mut all = Differing::default();
    for (at, (look, cell)) in looks.iter_mut().zip(next.iter_mut()).enumerate() {
        let is = CellKey::of(cell);
        if is != *look || is.is_long() {
            all.note(at, (std::mem::replace(look, is), is), shown, cell);
        }
    }
    if all.is_simple {
        all.is_simple = looks.iter().zip(next.iter()).all(|(look, cell)| look.is_letter() || width(cell) == 1);
    }
    all
}

/// Adds the cells of a row that have to be drawn. Its first one is at `(x, y)`.
fn changes<'a>(
    (x, y): (u16, u16),
    shown: &[Cell],
    next: &'a [Cell],
    differs: &[bool],
    placed: &mut Vec<CellUpdate<'a>>,
) {
    let mut behind = WideGlyphTail::default();
    let mut covered = 0;
    let cells = shown.iter().zip(next).zip(differs).enumerate();
    for (column, (at, ((was, is), differs))) in (x..).zip(cells) {
        if at < covered {
            if (behind.from..behind.end).contains(&at) {
                // Behind a wide glyph: the terminal may not clear what was there.
                behind.from = at + width(is).max(1);
                behind.end = behind.end.max(behind.from);
                covered = covered.max(behind.end);
                if behind.all || was.symbol() != is.symbol() {
                    placed.push((column, y, is));
                }
            }
            continue;
        }
        let width = width(is);
        covered = at + width.max(1);
        if !differs {
            continue;
        }
        placed.push((column, y, is));
        if matches!(is.diff_option, CellDiffOption::ForcedWidth(_)) {
            continue;
        }
        if width > 1 && is.symbol().contains(AS_EMOJI) {
            behind = WideGlyphTail { from: at + 1, end: at + width, all: false };
        } else if width <= 1 && self::width(was) > width && shows_when_blank(was) {
            let end = at + self::width(was);
            behind = WideGlyphTail { from: at + 1, end, all: true };
            covered = end;
        }
    }
}

/// Adds the second halves of wide glyphs that are gone to the cells of a row, which begin at `begin`: where only the first
/// half of one is erased, a terminal may keep the other (tmux does).
fn add_halves<'a>(
    (x, y): (u16, u16),
    shown: &[Cell],
    next: &'a [Cell],
    differs: &[bool],
    begin: usize,
    placed: &mut Vec<CellUpdate<'a>>,
) {
    // Of a link the cells behind its head are compared by themselves.
    let width = |cell: &Cell| width(cell).max(1);
    let is_link = |cell: &Cell| matches!(cell.diff_option, CellDiffOption::ForcedWidth(_));
    if !shown.iter().zip(differs).any(|(was, differs)| *differs && !is_link(was) && width(was) > 1) {
        return;
    }
    let mut covered = 0;
    let mut halves = Vec::new();
    for (at, ((was, is), differs)) in shown.iter().zip(next).zip(differs).enumerate() {
        if at >= covered {
            covered = at + width(is);
        }
        if *differs && !is_link(was) {
            halves.extend((at + 1..at + width(was)).filter(|half| *half >= covered));
        }
    }
    halves.dedup();
    let before = placed.len();
    for half in halves {
        let column = x.saturating_add(u16::try_from(half).unwrap_or(u16::MAX));
        let known = placed.get(begin..before).unwrap_or_default();
        if let (Err(_), Some(cell)) = (known.binary_search_by_key(&column, |placed| placed.0), next.get(half)) {
            placed.push((column, y, cell));
        }
    }
    if let Some(row) = placed.get_mut(begin..)
        && row.len() > before - begin
    {
        row.sort_by_key(|placed| placed.0);
    }
}

/// Cells behind a wide glyph that may have to be drawn as well.
#[derive(Debug, Default)]
struct WideGlyphTail {
    from: usize,
    end: usize,
    /// Whether they all have to, or those alone that hold something else.
    all: bool,
}

/// Cells that a glyph takes.
fn width(cell: &Cell) -> usize {
    // A byte is one cell, and most are one.
    let is_letter = cell.symbol().len() == 1 && cell.diff_option == CellDiffOption::None;
    if is_letter { 1 } else { usize::from(cell.cell_width()) }
}

fn shows_when_blank(cell: &Cell) -> bool {
    cell.bg != Color::Reset || cell.modifier.intersects(SEEN_ON_BLANK)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ratatui::style::Style;
    use std::num::NonZeroU16;

    const AREA: Rect = Rect { x: 0, y: 0, width: 14, height: 3 };

    /// Frames of all kinds of glyphs, styles and links.
    fn frame() -> impl Strategy<Value = Buffer> {
        let text = prop_oneof!["[ -~]{0,9}", "[ab日本é✓❤\u{fe0f}🧑‍🌾 ]{0,9}", Just("❤\u{fe0f}x ".to_owned())];
        let styles = [
            Style::new(),
            Style::new().fg(Color::Red),
            Style::new().fg(Color::Rgb(0, 0, 1)),
            Style::new().fg(Color::Indexed(1)),
            Style::new().bg(Color::Blue),
            Style::new().add_modifier(Modifier::REVERSED),
        ];
        let part = (text, 0_u16..14, 0_u16..3, proptest::sample::select(styles.to_vec()), 0_u16..9);
        proptest::collection::vec(part, 0..6).prop_map(|parts| {
            let mut buffer = Buffer::empty(AREA);
            for (text, x, y, style, link) in parts {
                buffer.set_string(x, y, text, style);
                if let Some(width) =
                    NonZeroU16::new(link).filter(|width| width.get() < 3 && x + width.get() <= AREA.width)
                {
                    buffer[(x, y)].set_diff_option(CellDiffOption::ForcedWidth(width));
                }
            }
            buffer
        })
    }

    /// Positions and glyphs of what is sent after these frames.
    fn sent(frames: &mut DoubleBuffer, next: Buffer) -> Vec<(u16, u16, String)> {
        let blank = frames.take(AREA);
        assert!(blank.content.iter().all(|cell| *cell == Cell::EMPTY), "drawn from nothing");
        frames.put(next);
        let mut sent = Vec::new();
        frames.show(|placed, _, _| {
            sent.extend(placed.iter().map(|(x, y, cell)| (*x, *y, cell.symbol().to_owned())));
            String::new()
        });
        sent
    }

    proptest! {
        #[test]
        fn what_differs_is_what_ratatui_finds_different(mut drawn in proptest::collection::vec(frame(), 1..4)) {
            let mut frames = DoubleBuffer::default();
            let mut shown = Buffer::empty(AREA);
            for next in &mut drawn {
                next.content.iter_mut().for_each(settle_blank);
                let theirs: Vec<_> =
                    shown.diff(next).into_iter().map(|(x, y, cell)| (x, y, cell.symbol().to_owned())).collect();
                let ours = sent(&mut frames, next.clone());
                prop_assert!(ours.is_sorted_by_key(|(x, y, _)| (*y, *x)), "{:?}", ours);
                prop_assert!(theirs.iter().all(|cell| ours.contains(cell)), "{:?} {:?}", ours, theirs);
                for cell in ours.iter().filter(|cell| !theirs.contains(cell)) {
                    prop_assert!((0..cell.0).any(|x| x + shown[(x, cell.1)].cell_width() > cell.0), "{:?}", cell);
                }
                shown.clone_from(next);
            }
        }
    }

    #[test]
    fn nothing_of_a_wide_glyph_that_is_gone_is_left() {
        let mut frames = DoubleBuffer::default();
        let mut wide = Buffer::empty(AREA);
        wide.set_string(1, 0, "日本x", Style::new());
        sent(&mut frames, wide);
        let blanks = sent(&mut frames, Buffer::empty(AREA));
        assert_eq!(blanks.iter().map(|(x, _, _)| *x).collect::<Vec<_>>(), [1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_frame_that_is_drawn_again_sends_nothing_until_the_terminal_is_cleared() {
        let mut frames = DoubleBuffer::default();
        let mut frame = Buffer::empty(AREA);
        frame.set_string(1, 1, "ab", Style::new());
        assert_eq!(sent(&mut frames, frame.clone()).len(), 2);
        assert_eq!(sent(&mut frames, frame.clone()), []);
        frames.blank();
        assert_eq!(sent(&mut frames, frame).len(), 2);
    }
}
