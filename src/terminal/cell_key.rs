//! Represents the content of a cell as two integers. With them, the thousands of cells of a frame are quickly compared
//! with the cells of the previous frame. ratatui's own comparison takes twice as long: it calls a function for the
//! bytes of each glyph, and also compares the invisible styles of blanks.

use super::encode::VISIBLE_ON_BLANK;
use super::sgr::SgrState;
use ratatui::buffer::{Cell, CellDiffOption};
use ratatui::style::Color;

/// The content of a cell as two integers. Two cells have the same key if and only if they look the same in the
/// terminal, except that all long glyphs have the same glyph code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CellKey {
    /// Glyph, modifiers and forced width.
    glyph: u64,
    /// Foreground and background.
    colors: u64,
}

/// The code of every glyph that doesn't fit into 32 bits. No shorter glyph has these bytes.
const LONG_GLYPH: u64 = u32::MAX as u64;

impl CellKey {
    /// The key of a cell on which nothing was drawn.
    pub(super) const EMPTY: Self = Self { glyph: b' ' as u64, colors: 0 };

    /// Returns the key of a cell. The key of a blank leaves out the invisible part of its style. This function,
    /// `forced_width` and `color_code` are inlined: the build is optimized for size, and thousands of calls would take
    /// longer than the computation.
    #[inline(always)]
    pub(super) fn of(cell: &Cell) -> Self {
        let glyph = match cell.symbol().as_bytes() {
            [byte] => u64::from(*byte),
            bytes => multi_byte_glyph_code(bytes),
        };
        let background = color_code(cell.bg) << 32;
        if glyph == u64::from(b' ') && !cell.modifier.intersects(VISIBLE_ON_BLANK) {
            return Self { glyph: glyph | forced_width(cell), colors: background };
        }
        let modifier = u64::from(cell.modifier.bits()) << 32;
        Self { glyph: glyph | modifier | forced_width(cell), colors: color_code(cell.fg) | background }
    }

    /// Returns the part of the key that is the same for all glyphs with this style, except blanks.
    pub(super) fn of_style(style: SgrState) -> Self {
        let colors = color_code(style.fg) | color_code(style.bg) << 32;
        Self { glyph: u64::from(style.modifier.bits()) << 32, colors }
    }

    /// Returns the cell's character if it is a single byte, not a blank, and drawn with the style of the key `style`.
    pub(super) fn ascii_glyph(self, style: Self) -> Option<char> {
        let byte = u8::try_from(self.glyph ^ style.glyph).ok().filter(|_| self.colors == style.colors)?;
        Some(char::from(byte)).filter(char::is_ascii_graphic)
    }

    /// Whether the cell contains a glyph of one byte and no link. Such a glyph is one cell wide.
    pub(super) fn is_ascii_without_link(self) -> bool {
        self.glyph & (0xffff << 48 | LONG_GLYPH) < 0x80
    }

    /// Whether the glyph is too long for the key to distinguish it from other long glyphs.
    pub(super) fn is_long(self) -> bool {
        self.glyph & LONG_GLYPH == LONG_GLYPH
    }
}

fn multi_byte_glyph_code(bytes: &[u8]) -> u64 {
    if bytes.len() > 4 { LONG_GLYPH } else { bytes.iter().fold(0, |all, byte| all << 8 | u64::from(*byte)) }
}

/// Returns the forced width of a cell, shifted to the bits that the glyph and the modifiers don't use. It distinguishes
/// the cells of a link from the same glyphs without a link.
#[inline(always)]
fn forced_width(cell: &Cell) -> u64 {
    match cell.diff_option {
        CellDiffOption::ForcedWidth(cells) => u64::from(cells.get()) << 48,
        _ => 0,
    }
}

/// Returns a colour as 32 bits. Named colours are numbered in the order of ratatui's enum, so that no look-up table is
/// needed.
#[inline(always)]
fn color_code(color: Color) -> u64 {
    if matches!(color, Color::Reset) {
        // Return early, because nearly every background has this colour.
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
    use super::super::encode::normalize_blank;
    use super::*;
    use ratatui::style::{Modifier, Style};
    use std::num::NonZeroU16;

    /// Returns cells with all kinds of glyphs, colours, modifiers and widths.
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
    fn cells_have_equal_keys_if_and_only_if_they_look_the_same() {
        let cells = cells();
        let settled: Vec<Cell> = cells.iter().cloned().map(|mut cell| (normalize_blank(&mut cell), cell).1).collect();
        let keys: Vec<CellKey> = cells.iter().map(CellKey::of).collect();
        for one in (0..cells.len()).step_by(61) {
            for other in 0..cells.len() {
                let is_same_glyph = !keys[one].is_long() || cells[one].symbol() == cells[other].symbol();
                let is_alike = keys[one] == keys[other] && is_same_glyph;
                assert_eq!(is_alike, settled[one] == settled[other], "{:?} {:?}", cells[one], cells[other]);
            }
        }
    }

    #[test]
    fn a_cell_on_which_nothing_was_drawn_has_the_empty_key() {
        assert_eq!(CellKey::of(&Cell::EMPTY), CellKey::EMPTY);
    }
}
