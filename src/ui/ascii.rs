//! The finished frame in ASCII: every sign that docdeck draws has a stand-in, a character of a text that has none is `?`.

use crate::model::ascii::stand_in;
use ratatui::buffer::Buffer;
use unicode_width::UnicodeWidthStr;

/// Replaces what isn't ASCII, cell by cell, so that columns stay where they are.
pub(super) fn translate(buffer: &mut Buffer) {
    let mut covered = 0;
    for cell in &mut buffer.content {
        if covered > 0 {
            // The second half of a wide character.
            covered -= 1;
            cell.set_symbol("?");
            continue;
        }
        let symbol = cell.symbol();
        if symbol.is_ascii() {
            continue;
        }
        covered = symbol.width().saturating_sub(1);
        let stand_in = stand_in(symbol);
        cell.set_symbol(stand_in);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    #[test]
    fn weekends_partial_days_and_both_look_like_nothing_else_in_a_chart() {
        let signs = ["█", "▒", "═", "┄", "┅", "─", "━", "▲"].map(stand_in);
        for sign in ["═", "┄", "┅"].map(stand_in) {
            assert_eq!(signs.iter().filter(|other| **other == sign).count(), 1, "{sign}");
        }
    }

    #[test]
    fn columns_stay_where_they_are_when_wide_characters_go() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 12, 1));
        buffer.set_string(0, 0, "│日本 é✓│ab", Style::new());
        translate(&mut buffer);
        let line: String = buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        assert_eq!(line, "|???? ?+|ab ");
    }
}
