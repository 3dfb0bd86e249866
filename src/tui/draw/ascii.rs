//! Translates the finished frame to ASCII: every symbol of docdeck has a replacement; other characters become `?`.

use crate::model::ascii::ascii_symbol;
use ratatui::buffer::Buffer;
use unicode_width::UnicodeWidthStr;

/// Replaces non-ASCII characters cell by cell, so that columns stay aligned.
pub(in crate::tui) fn translate(buffer: &mut Buffer) {
    let mut covered = 0;
    for cell in &mut buffer.content {
        if covered > 0 {
            // This cell is the second half of a wide character.
            covered -= 1;
            cell.set_symbol("?");
            continue;
        }
        let symbol = cell.symbol();
        if symbol.is_ascii() {
            continue;
        }
        covered = symbol.width().saturating_sub(1);
        let ascii = ascii_symbol(symbol);
        cell.set_symbol(ascii);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    #[test]
    fn the_ascii_signs_of_a_chart_differ() {
        let mut signs = ["█", "▒", "╱", "╲", "░", "═", "─", "┈", "▲", "?", "≠"].map(ascii_symbol);
        signs.sort_unstable();
        assert!(signs.windows(2).all(|pair| pair[0] != pair[1]), "{signs:?}");
    }

    #[test]
    fn replacing_wide_characters_does_not_move_the_columns() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 12, 1));
        buffer.set_string(0, 0, "│日本 é✓│ab", Style::new());
        translate(&mut buffer);
        let line: String = buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect();
        assert_eq!(line, "|???? ?+|ab ");
    }
}
