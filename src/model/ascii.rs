//! ASCII replacements for every symbol that docdeck draws, for terminals without Unicode and for users who prefer
//! ASCII.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// Returns the ASCII character that replaces a symbol, or `?` if there is no replacement.
pub fn ascii_symbol(symbol: &str) -> &'static str {
    match symbol {
        "┌" | "┐" | "└" | "┘" => "+",
        "─" | "–" => "-",
        "▪" => "#",
        "‖" => "\"",
        "∅" => "0",
        "│" => "|",
        "┤" | "┴" => "+",
        "╱" => "/",
        "╲" => "\\",
        "█" => "#",
        "▒" => "=",
        "■" => "%",
        "▸" => "+",
        "▾" => "-",
        "Δ" => "d",
        "═" => "_",
        "━" => "-",
        "┈" => ".",
        "░" => ":",
        "▌" | "→" | "›" => ">",
        "←" | "‹" => "<",
        "↑" | "▲" => "^",
        "↓" | "▼" => "v",
        "●" => "@",
        "•" => ":",
        "◐" => "o",
        "◆" => "=",
        "◇" => "-",
        "✓" => "+",
        "✗" => "x",
        "…" => "~",
        "·" => ".",
        "↺" => "@",
        "≠" => "!",
        "±" => "c",
        "◌" => "o",
        "»" => ">",
        "□" => "d",
        "⬢" => "m",
        "⊘" => "-",
        _ => "?",
    }
}

/// Converts a line to ASCII without changing its width in cells.
pub fn to_ascii(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for symbol in text.graphemes(true) {
        if symbol.is_ascii() {
            out.push_str(symbol);
        } else {
            out.push_str(ascii_symbol(symbol));
            // Fills the second cell of a wide character.
            out.extend((1..symbol.width()).map(|_| '?'));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_keeps_its_width_in_cells() {
        assert_eq!(to_ascii("✓ 2 need you · a…"), "+ 2 need you . a~");
        assert_eq!(to_ascii("é 世界 e\u{301}"), "? ???? ?");
        assert_eq!(to_ascii("世界").len(), "世界".width());
    }
}
