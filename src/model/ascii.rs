//! Stand-ins in ASCII for every sign that docdeck draws, for terminals and people that want no more.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// The one character that stands for a sign; `?` for a character of a text, which has none.
pub fn stand_in(symbol: &str) -> &'static str {
    match symbol {
        "┌" | "┐" | "└" | "┘" => "+",
        "─" | "–" | "▪" => "-",
        "│" => "|",
        "█" => "#",
        "▒" | "‖" => "=",
        "■" => "%",
        "▸" => "+",
        "▾" => "-",
        "Δ" => "d",
        "═" => "_",
        "━" => "-",
        "┄" => ".",
        "┅" => ",",
        "░" => ":",
        "▌" | "→" | "›" => ">",
        "←" | "‹" => "<",
        "↑" | "▲" => "^",
        "↓" | "▼" => "v",
        "●" | "•" => "*",
        "○" | "◐" => "o",
        "◆" => "=",
        "◇" => "-",
        "✓" => "+",
        "✗" | "×" => "x",
        "…" => "~",
        "·" => ".",
        "↺" => "@",
        "≠" => "!",
        _ => "?",
    }
}

/// A line in ASCII that takes as many cells as before.
pub fn line(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for symbol in text.graphemes(true) {
        if symbol.is_ascii() {
            out.push_str(symbol);
        } else {
            out.push_str(stand_in(symbol));
            // The second half of a wide character.
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
        assert_eq!(line("✓ 2 need you · a…"), "+ 2 need you . a~");
        assert_eq!(line("é 世界 e\u{301}"), "? ???? ?");
        assert_eq!(line("世界").len(), "世界".width());
    }
}
