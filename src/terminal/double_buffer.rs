//! Holds the frame that the terminal shows and the next frame, and finds the cells in which they differ.
//!
//! ratatui computes the width of every cell of a frame, changed or not. This module skips unchanged rows, which are
//! most of a frame. For changed rows it finds the same cells as ratatui, and also the second halves of removed wide
//! glyphs. A test compares both results.

use super::cell_key::CellKey;
use super::encode::{CellUpdate, normalize_blank};
use ratatui::buffer::{Buffer, Cell, CellDiffOption, CellWidth as _};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier};

/// The modifiers that remain visible on the blank cells that a wide glyph covered.
const VISIBLE_BEHIND_WIDE_GLYPH: Modifier = Modifier::REVERSED
    .union(Modifier::UNDERLINED)
    .union(Modifier::SLOW_BLINK)
    .union(Modifier::RAPID_BLINK)
    .union(Modifier::CROSSED_OUT);
/// Makes the character before it an emoji, which is two cells wide. Some terminals don't clear the second cell when
/// they draw such an emoji.
const EMOJI_SELECTOR: char = '\u{fe0f}';

/// The frame that the terminal shows and the next frame. Before the first frame, the terminal shows nothing, so only
/// the next frame is allocated.
#[derive(Debug, Default)]
pub(super) struct DoubleBuffer {
    /// The frame that the terminal shows; without cells while the terminal is blank.
    shown: Buffer,
    /// The keys of the cells in `shown`; empty until the first comparison.
    keys: Vec<CellKey>,
    next: Buffer,
}

impl DoubleBuffer {
    /// Whether the terminal shows a frame of another size.
    pub(super) fn has_other_size(&self, area: Rect) -> bool {
        !self.shown.content.is_empty() && self.shown.area != area
    }

    /// Takes the next frame out, as a blank buffer. After drawing, the caller gives it back with [`Self::put`].
    pub(super) fn take(&mut self, area: Rect) -> Buffer {
        if self.shown.area != area {
            self.shown.area = area;
            self.mark_cleared();
        }
        let mut next = std::mem::take(&mut self.next);
        if next.area == area && !next.content.is_empty() {
            next.reset();
            next
        } else {
            Buffer::empty(area)
        }
    }

    /// Stores the next frame, after it was drawn.
    pub(super) fn put(&mut self, next: Buffer) {
        self.next = next;
    }

    /// Records that the terminal was cleared.
    pub(super) fn mark_cleared(&mut self) {
        self.shown.content.clear();
        self.keys.clear();
    }

    /// Passes the changed cells to `encode`, and returns its result. The next frame becomes the frame that the
    /// terminal shows.
    pub(super) fn encode_changes(&mut self, encode: impl FnOnce(&[CellUpdate<'_>], &Buffer, bool) -> String) -> String {
        let width = usize::from(self.next.area.width).max(1);
        if self.keys.len() != self.shown.content.len() {
            self.keys = self.shown.content.iter().map(CellKey::of).collect();
        }
        // If `shown` has no cells, each row of the next frame is compared with this blank row.
        let blank = vec![Cell::EMPTY; if self.shown.content.is_empty() { width } else { 0 }];
        let mut rows: Vec<(u16, usize, RowChanges)> = Vec::new();
        let starts = (0..).step_by(width);
        for ((row, begin), next) in (self.next.area.y..).zip(starts).zip(self.next.content.chunks_mut(width)) {
            let shown = self.shown.content.get(begin..begin + width);
            let differs = match (shown, self.keys.get_mut(begin..begin + width)) {
                (Some(shown), Some(keys)) => compare_row(keys, shown, next),
                _ => compare_row(&mut vec![CellKey::EMPTY; width], &blank, next),
            };
            if differs.count > 0 {
                rows.push((row, begin, differs));
            }
        }
        let on_blank = !blank.is_empty();
        let mut updates = Vec::with_capacity(rows.iter().map(|row| row.2.count).sum());
        for (row, begin, differs) in &rows {
            let shown = self.shown.content.get(*begin..begin + width).unwrap_or(&blank);
            if let Some(next) = self.next.content.get(*begin..begin + width) {
                let (begin, at, cells) = (updates.len(), (self.next.area.x, *row), &differs.cells);
                if differs.is_simple {
                    let all = (at.0..).zip(next).zip(cells).filter(|(_, differs)| **differs);
                    updates.extend(all.map(|((column, cell), _)| (column, at.1, cell)));
                    continue;
                }
                add_changes(at, shown, next, cells, &mut updates);
                if !on_blank {
                    add_second_halves(at, shown, next, cells, begin, &mut updates);
                }
            }
        }
        let out = if updates.is_empty() { String::new() } else { encode(&updates, &self.next, on_blank) };
        std::mem::swap(&mut self.shown, &mut self.next);
        out
    }
}

/// The changed cells of one row.
#[derive(Debug, Default)]
struct RowChanges {
    /// For each cell of the row, whether it has to be drawn. Empty if no cell has to be drawn.
    cells: Vec<bool>,
    count: usize,
    /// Whether each glyph of the row, and each glyph that it replaces, is one cell wide. If so, only the cells that are
    /// set in `cells` have to be drawn.
    is_simple: bool,
}

impl RowChanges {
    /// Adds a cell whose key has changed. If the key can't show whether the cell has changed, compares the glyphs
    /// first. Not inlined, so that the calling loop over thousands of cells has more registers.
    #[inline(never)]
    fn add(&mut self, at: usize, (was, is): (CellKey, CellKey), shown: &[Cell], cell: &mut Cell) {
        let before = shown.get(at);
        if was == is && before.is_some_and(|before| before.symbol() == cell.symbol()) {
            return;
        }
        normalize_blank(cell);
        if self.count == 0 {
            self.cells.resize(shown.len(), false);
            self.is_simple = true;
        }
        if let Some(differs) = self.cells.get_mut(at) {
            *differs = true;
            self.count += 1;
        }
        self.is_simple &= was.is_ascii_without_link() || before.is_some_and(|before| glyph_width(before) == 1);
    }
}

/// Compares a row of the next frame with the row that the terminal shows. `keys` contains the keys of the shown row,
/// and is overwritten with the keys of the next frame's row.
fn compare_row(keys: &mut [CellKey], shown: &[Cell], next: &mut [Cell]) -> RowChanges {
    let mut changes = RowChanges::default();
    for (at, (key, cell)) in keys.iter_mut().zip(next.iter_mut()).enumerate() {
        let is = CellKey::of(cell);
        if is != *key || is.is_long() {
            changes.add(at, (std::mem::replace(key, is), is), shown, cell);
        }
    }
    if changes.is_simple {
        changes.is_simple =
            keys.iter().zip(next.iter()).all(|(key, cell)| key.is_ascii_without_link() || glyph_width(cell) == 1);
    }
    changes
}

/// Adds to `updates` the cells of a row that have to be drawn. `(x, y)` is the position of the row's first cell.
fn add_changes<'a>(
    (x, y): (u16, u16),
    shown: &[Cell],
    next: &'a [Cell],
    differs: &[bool],
    updates: &mut Vec<CellUpdate<'a>>,
) {
    let mut behind = WideGlyphTail::default();
    let mut covered = 0;
    let cells = shown.iter().zip(next).zip(differs).enumerate();
    for (column, (at, ((was, is), differs))) in (x..).zip(cells) {
        if at < covered {
            if (behind.from..behind.end).contains(&at) {
                // The terminal may not have cleared this cell behind a wide glyph.
                behind.from = at + glyph_width(is).max(1);
                behind.end = behind.end.max(behind.from);
                covered = covered.max(behind.end);
                if behind.must_draw_all || was.symbol() != is.symbol() {
                    updates.push((column, y, is));
                }
            }
            continue;
        }
        let width = glyph_width(is);
        covered = at + width.max(1);
        if !differs {
            continue;
        }
        updates.push((column, y, is));
        if matches!(is.diff_option, CellDiffOption::ForcedWidth(_)) {
            continue;
        }
        if width > 1 && is.symbol().contains(EMOJI_SELECTOR) {
            behind = WideGlyphTail { from: at + 1, end: at + width, must_draw_all: false };
        } else if width <= 1 && self::glyph_width(was) > width && shows_when_blank(was) {
            let end = at + self::glyph_width(was);
            behind = WideGlyphTail { from: at + 1, end, must_draw_all: true };
            covered = end;
        }
    }
}

/// Adds the second halves of removed wide glyphs to `updates`. If only the first half of a glyph is erased, some
/// terminals (such as tmux) keep the second half. In `updates`, the cells of this row start at index `begin`.
fn add_second_halves<'a>(
    (x, y): (u16, u16),
    shown: &[Cell],
    next: &'a [Cell],
    differs: &[bool],
    begin: usize,
    updates: &mut Vec<CellUpdate<'a>>,
) {
    // Links are left out: the cells behind the first cell of a link are compared separately.
    let width = |cell: &Cell| glyph_width(cell).max(1);
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
    let before = updates.len();
    for half in halves {
        let column = x.saturating_add(u16::try_from(half).unwrap_or(u16::MAX));
        let known = updates.get(begin..before).unwrap_or_default();
        if let (Err(_), Some(cell)) = (known.binary_search_by_key(&column, |update| update.0), next.get(half)) {
            updates.push((column, y, cell));
        }
    }
    if let Some(row) = updates.get_mut(begin..)
        && row.len() > before - begin
    {
        row.sort_by_key(|update| update.0);
    }
}

/// The cells (`from..end`) behind the first cell of a wide glyph, which may have to be drawn too.
#[derive(Debug, Default)]
struct WideGlyphTail {
    from: usize,
    end: usize,
    /// Whether all these cells have to be drawn; if false, only the changed cells.
    must_draw_all: bool,
}

/// Returns the width of the cell's glyph, in cells.
fn glyph_width(cell: &Cell) -> usize {
    // A single byte is one cell wide, and most glyphs are a single byte.
    let is_letter = cell.symbol().len() == 1 && cell.diff_option == CellDiffOption::None;
    if is_letter { 1 } else { usize::from(cell.cell_width()) }
}

fn shows_when_blank(cell: &Cell) -> bool {
    cell.bg != Color::Reset || cell.modifier.intersects(VISIBLE_BEHIND_WIDE_GLYPH)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ratatui::style::Style;
    use std::num::NonZeroU16;

    const AREA: Rect = Rect { x: 0, y: 0, width: 14, height: 3 };

    /// Generates frames with all kinds of glyphs, styles and links.
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

    /// Shows the next frame, and returns the positions and glyphs that were sent.
    fn sent(frames: &mut DoubleBuffer, next: Buffer) -> Vec<(u16, u16, String)> {
        let blank = frames.take(AREA);
        assert!(blank.content.iter().all(|cell| *cell == Cell::EMPTY), "drawn from nothing");
        frames.put(next);
        let mut sent = Vec::new();
        frames.encode_changes(|updates, _, _| {
            sent.extend(updates.iter().map(|(x, y, cell)| (*x, *y, cell.symbol().to_owned())));
            String::new()
        });
        sent
    }

    proptest! {
        #[test]
        fn the_changed_cells_include_those_that_ratatui_finds(mut drawn in proptest::collection::vec(frame(), 1..4)) {
            let mut frames = DoubleBuffer::default();
            let mut shown = Buffer::empty(AREA);
            for next in &mut drawn {
                next.content.iter_mut().for_each(normalize_blank);
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
    fn a_removed_wide_glyph_leaves_nothing_behind() {
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
        frames.mark_cleared();
        assert_eq!(sent(&mut frames, frame).len(), 2);
    }
}
