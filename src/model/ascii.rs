//! ASCII replacements for every symbol that docdeck draws, for terminals without Unicode and for users who prefer
//! ASCII.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// Returns the ASCII character that replaces a symbol of docdeck, or `None` if there is no replacement.
pub fn ascii_symbol(symbol: &str) -> Option<&'static str> {
    let ascii = match symbol {
        "┌" | "┐" | "└" | "┘" => "+",
        "─" | "–" => "-",
        "▪" => "#",
        "‖" => "\"",
        "∅" => "0",
        "│" => "|",
        "┤" | "┴" | "┬" => "+",
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
        "≠" => "&",
        "±" => "c",
        "◌" => "o",
        "»" => ">",
        "□" => "d",
        "⬢" => "m",
        "⊘" => "-",
        "“" | "”" => "\"",
        "’" => "'",
        "×" => "x",
        _ => return None,
    };
    Some(ascii)
}

/// Replaces docdeck's symbols by ASCII characters. Other characters outside ASCII are kept if `keeps_text`; otherwise
/// each of their cells becomes `?`.
pub fn to_ascii(text: &str, keeps_text: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for symbol in text.graphemes(true) {
        match ascii_symbol(symbol) {
            Some(ascii) => out.push_str(ascii),
            None if keeps_text || symbol.is_ascii() => out.push_str(symbol),
            None => out.extend((0..symbol.width().max(1)).map(|_| '?')),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_keeps_its_width_in_cells() {
        assert_eq!(to_ascii("✓ 2 need you · a…", false), "+ 2 need you . a~");
        assert_eq!(to_ascii("é 世界 e\u{301}", false), "? ???? ?");
        assert_eq!(to_ascii("世界", false).len(), "世界".width());
        assert_eq!(to_ascii("✓ é 世界", true), "+ é 世界");
    }
}
