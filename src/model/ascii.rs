//! ASCII replacements for every symbol that docdeck draws, for terminals without Unicode and for users who prefer
//! ASCII.

use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// Returns the ASCII character that replaces a symbol of docdeck, or `None` if there is no replacement.
pub fn ascii_symbol(symbol: &str) -> Option<&'static str> {
    let ascii = match symbol {
        "┌" | "┐" | "└" | "┘" => "+",
        "─" | "–" | "−" => "-",
        "▪" => "#",
        "‖" => "|",
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
        "…" | "⋯" => "~",
        "·" => ".",
        "≠" => "&",
        "±" => "r",
        "◌" => "%",
        "»" => "q",
        "□" => "d",
        "⬢" => "m",
        "⊘" => "/",
        "“" | "”" => "\"",
        "’" => "'",
        "×" => "x",
        _ => return None,
    };
    Some(ascii)
}

/// Replaces docdeck's symbols with ASCII characters. Other characters outside ASCII are kept if `keeps_unicode_text` is
/// true. Otherwise they are replaced with `?`, once for each terminal cell that they fill.
pub fn to_ascii(text: &str, keeps_unicode_text: bool) -> String {
    let mut out = String::with_capacity(text.len());
    for symbol in text.graphemes(true) {
        match ascii_symbol(symbol) {
            Some(ascii) => out.push_str(ascii),
            None if keeps_unicode_text || symbol.is_ascii() => out.push_str(symbol),
            None => out.extend((0..symbol.width().max(1)).map(|_| '?')),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_symbols_of_jobs_and_pull_requests_are_distinct_in_ascii() {
        use crate::model::job_state::JobState;
        use crate::model::pull_request::PullRequestFact;
        let jobs: BTreeSet<_> = JobState::ALL.iter().map(|state| state.symbol()).collect();
        let facts: BTreeSet<_> = PullRequestFact::ALL.iter().map(|fact| fact.symbol()).collect();
        // Some symbols are in both sets. This is fine, because they have the same meaning there.
        let symbols: BTreeSet<_> = jobs.union(&facts).copied().collect();
        let in_ascii: BTreeSet<_> = symbols.iter().map(|symbol| ascii_symbol(symbol).unwrap_or(symbol)).collect();
        assert_eq!(symbols.len(), in_ascii.len(), "{symbols:?} {in_ascii:?}");
    }

    #[test]
    fn a_finished_job_that_was_not_opened_does_not_look_marked() {
        assert_ne!(ascii_symbol(crate::model::job_state::UNSEEN_SYMBOL), Some("*"));
    }

    #[test]
    fn a_line_keeps_its_width_in_cells() {
        assert_eq!(to_ascii("✓ 2 need you · a…", false), "+ 2 need you . a~");
        assert_eq!(to_ascii("é 世界 e\u{301}", false), "? ???? ?");
        assert_eq!(to_ascii("世界", false).len(), "世界".width());
        assert_eq!(to_ascii("✓ é 世界", true), "+ é 世界");
    }
}
