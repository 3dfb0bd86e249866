//! What a cell shows, in two words: all cells of a frame are compared with those before it, and they are thousands.
//! ratatui's own comparison takes twice as long, calls for the bytes of each glyph, and knows nothing of blanks.

use super::encode::SEEN_ON_BLANK;
use super::sgr::SgrState;
use ratatui::buffer::{Cell, CellDiffOption};
use ratatui::style::Color;

/// What a cell shows: alike for two cells if and only if nothing has to be sent to make one the other, but for a glyph of
/// many bytes, of which it tells nothing but that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CellKey {
    /// Glyph, width, modifiers.
    glyph: u64,
    /// Letters and ground.
    colors: u64,
}

/// In place of a glyph of more bytes than there is room for. No character has these bytes.
const LONG: u64 = u32::MAX as u64;

impl CellKey {
    /// Of a cell on which nothing was drawn.
    pub(super) const EMPTY: Self = Self { glyph: b' ' as u64, colors: 0 };

    /// Of any cell. What nobody sees of a blank is left out. Inlined, as what it calls is: the build is made for size, and a
    /// call for each of thousands of cells takes longer than what is worked out in it.
    #[inline(always)]
    pub(super) fn of(cell: &Cell) -> Self {
        let glyph = match cell.symbol().as_bytes() {
            [byte] => u64::from(*byte),
            bytes => several(bytes),
        };
        let ground = number(cell.bg) << 32;
        if glyph == u64::from(b' ') && !cell.modifier.intersects(SEEN_ON_BLANK) {
            return Self { glyph: glyph | width(cell), colors: ground };
        }
        let modifier = u64::from(cell.modifier.bits()) << 32;
        Self { glyph: glyph | modifier | width(cell), colors: number(cell.fg) | ground }
    }

    /// What glyphs have in common that are drawn with this pen, but for blanks.
    pub(super) fn of_pen(pen: SgrState) -> Self {
        let colors = number(pen.fg) | number(pen.bg) << 32;
        Self { glyph: u64::from(pen.modifier.bits()) << 32, colors }
    }

    /// The letter that it is, if it is one byte, no blank, and drawn with this pen.
    pub(super) fn letter(self, pen: Self) -> Option<char> {
        let byte = u8::try_from(self.glyph ^ pen.glyph).ok().filter(|_| self.colors == pen.colors)?;
        Some(char::from(byte)).filter(char::is_ascii_graphic)
    }

    /// Whether it is a glyph of one byte, and no link: that takes one cell.
    pub(super) fn is_letter(self) -> bool {
        self.glyph & (0xffff << 48 | LONG) < 0x80
    }

    /// Whether the glyph is too long to be told apart from others.
    pub(super) fn is_long(self) -> bool {
        self.glyph & LONG == LONG
    }
}

fn several(bytes: &[u8]) -> u64 {
    if bytes.len() > 4 { LONG } else { bytes.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)) }
}

/// What a cell says of its width, by which a link is told from the same glyphs without one; above what is known of its glyph.
#[inline(always)]
fn width(cell: &Cell) -> u64 {
    match cell.diff_option {
        CellDiffOption::ForcedWidth(cells) => u64::from(cells.get()) << 48,
        _ => 0,
    }
}

/// In 32 bits. A colour's kind is told by its place in ratatui's list, so that nothing has to be looked up for it.
#[inline(always)]
fn number(color: Color) -> u64 {
    if matches!(color, Color::Reset) {
        // Nearly every ground.
        return 0;
    }
    let kind = match color {
        Color::Reset => 0,
        Color::Black => 1,
        Color::Red => 2,
        Color::Green => 3,
        Color::Yellow => 4,
        Color::Blue => 5,
        Color::Magenta => 6,
        Color::Cyan => 7,
        Color::Gray => 8,
        Color::DarkGray => 9,
        Color::LightRed => 10,
        Color::LightGreen => 11,
        Color::LightYellow => 12,
        Color::LightBlue => 13,
        Color::LightMagenta => 14,
        Color::LightCyan => 15,
        Color::White => 16,
        Color::Rgb(..) => 17,
        Color::Indexed(_) => 18,
    };
    let levels = match color {
        Color::Rgb(r, g, b) => [kind, r, g, b],
        Color::Indexed(n) => [kind, n, 0, 0],
        _ => [kind, 0, 0, 0],
    };
    u64::from(u32::from_le_bytes(levels))
}

#[cfg(test)]
mod tests {
    use super::super::encode::settle_blank;
    use super::*;
    use ratatui::style::{Modifier, Style};
    use std::num::NonZeroU16;

    /// Cells of all kinds of glyphs, colours, modifiers and widths.
    fn cells() -> Vec<Cell> {
        let glyphs = [" ", "a", "b", "│", "日", "e\u{301}", "\u{e9}", "👍", "👍\u{1f3fd}", "\u{1b}]8;;x\u{1b}\\a"];
        let rgb = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)].map(|(r, g, b)| Color::Rgb(r, g, b));
        let named = [Color::Reset, Color::Black, Color::White, Color::Indexed(0), Color::Indexed(1)];
        let colors: Vec<Color> = named.into_iter().chain(rgb).collect();
        let modifiers = [Modifier::empty(), Modifier::BOLD, Modifier::REVERSED, Modifier::UNDERLINED];
        let widths = [0, 1, 2].map(NonZeroU16::new);
        let mut all = Vec::new();
        for glyph in glyphs {
            for fg in colors.iter().copied() {
                for bg in colors.iter().copied() {
                    for (modifier, width) in modifiers.into_iter().flat_map(|one| widths.map(|width| (one, width))) {
                        let mut cell = Cell::EMPTY;
                        cell.set_symbol(glyph).set_style(Style::new().fg(fg).bg(bg).add_modifier(modifier));
                        cell.set_diff_option(width.map_or(CellDiffOption::None, CellDiffOption::ForcedWidth));
                        all.push(cell);
                    }
                }
            }
        }
        all
    }

    #[test]
    fn cells_look_alike_when_they_are_but_for_what_nobody_sees_of_a_blank() {
        let cells = cells();
        let settled: Vec<Cell> = cells.iter().cloned().map(|mut cell| (settle_blank(&mut cell), cell).1).collect();
        let looks: Vec<CellKey> = cells.iter().map(CellKey::of).collect();
        for one in (0..cells.len()).step_by(61) {
            for other in 0..cells.len() {
                let is_same_glyph = !looks[one].is_long() || cells[one].symbol() == cells[other].symbol();
                let is_alike = looks[one] == looks[other] && is_same_glyph;
                assert_eq!(is_alike, settled[one] == settled[other], "{:?} {:?}", cells[one], cells[other]);
            }
        }
    }

    #[test]
    fn a_cell_on_which_nothing_was_drawn_looks_empty() {
        assert_eq!(CellKey::of(&Cell::EMPTY), CellKey::EMPTY);
    }
}
