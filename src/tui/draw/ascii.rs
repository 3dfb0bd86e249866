//! Translates the finished frame to ASCII: every symbol of docdeck has a replacement. Other characters come from
//! texts of users or of the service. They are kept if the terminal can show them; otherwise they become `?`.

use crate::model::ascii::ascii_symbol;
use crate::model::text::is_hidden;
use ratatui::buffer::Buffer;
use unicode_width::UnicodeWidthStr;

/// Replaces non-ASCII characters cell by cell, so that columns stay aligned.
pub(in crate::tui) fn translate(buffer: &mut Buffer, keeps_unicode_text: bool) {
    let mut covered = 0;
    for cell in &mut buffer.content {
        if covered > 0 {
            // This cell is the second half of a wide character.
            covered -= 1;
            cell.set_symbol("?");
            continue;
        }
        if cell.symbol().is_ascii() {
            continue;
        }
        if cell.symbol().contains(is_hidden) {
            let seen = cell.symbol().replace(is_hidden, "");
            cell.set_symbol(&seen);
        }
        let symbol = cell.symbol();
        match ascii_symbol(symbol) {
            Some(ascii) => cell.set_symbol(ascii),
            None if keeps_unicode_text => continue,
            None => {
                covered = symbol.width().saturating_sub(1);
                cell.set_symbol("?")
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    #[test]
    fn the_ascii_signs_of_a_chart_differ() {
        let mut signs = ["█", "▒", "╱", "╲", "░", "═", "─", "┈", "▲", "≠"].map(ascii_symbol);
        signs.sort_unstable();
        assert!(signs.windows(2).all(|pair| pair[0] != pair[1]), "{signs:?}");
    }

    #[test]
    fn texts_are_kept_or_replaced_without_moving_the_columns() {
        for (keeps_unicode_text, expected) in [(false, "|???? ?+|ab "), (true, "|日 本  é+|ab ")] {
            let mut buffer = Buffer::empty(Rect::new(0, 0, 12, 1));
            buffer.set_string(0, 0, "│日本 é✓│ab", Style::new());
            translate(&mut buffer, keeps_unicode_text);
            let line: String = buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect();
            assert_eq!(line, expected);
        }
    }
}
