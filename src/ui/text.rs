//! Fitting text into cells: cut at a cell's edge with `…`, padded, composed into rows.

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// The text in at most `width` cells; where something was cut the last cell is `…`.
pub(super) fn fit(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut cells = 0;
    for grapheme in text.graphemes(true) {
        let next = cells + grapheme.width();
        if next >= width {
            break;
        }
        out.push_str(grapheme);
        cells = next;
    }
    if width > 0 {
        out.push('…');
    }
    out
}

/// A path in at most `width` cells, cut in front: its end tells pages apart.
pub(super) fn fit_end(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_owned();
    }
    let mut kept: Vec<&str> = Vec::new();
    let mut cells = 1;
    for grapheme in text.graphemes(true).rev() {
        cells += grapheme.width();
        if cells > width {
            break;
        }
        kept.push(grapheme);
    }
    let tail: String = kept.into_iter().rev().collect();
    if width > 0 { format!("…{tail}") } else { String::new() }
}

/// Exactly `width` cells, the text at the left.
pub(super) fn left(text: &str, width: usize) -> String {
    let mut out = fit(text, width);
    let missing = width.saturating_sub(out.width());
    out.extend(std::iter::repeat_n(' ', missing));
    out
}

/// Exactly `width` cells, the text at the right.
pub(super) fn right(text: &str, width: usize) -> String {
    let text = fit(text, width);
    let missing = width.saturating_sub(text.width());
    format!("{}{text}", " ".repeat(missing))
}

/// A row of cells, filled from the left; what doesn't fit is cut.
#[derive(Debug)]
pub(super) struct Row<'a> {
    width: usize,
    used: usize,
    spans: Vec<Span<'a>>,
}

impl<'a> Row<'a> {
    /// An empty row of so many cells.
    pub(super) fn new(width: usize) -> Self {
        Self { width, used: 0, spans: Vec::new() }
    }

    /// Cells that are left.
    pub(super) fn room(&self) -> usize {
        self.width.saturating_sub(self.used)
    }

    /// Adds text, cut to what is left.
    pub(super) fn push(&mut self, text: impl AsRef<str>, style: Style) -> &mut Self {
        let text = fit(text.as_ref(), self.room());
        self.used += text.width();
        self.spans.push(Span::styled(text, style));
        self
    }

    /// Adds blanks up to this cell.
    pub(super) fn to(&mut self, cell: usize) -> &mut Self {
        let gap = cell.min(self.width).saturating_sub(self.used);
        self.push(" ".repeat(gap), Style::new())
    }

    /// The row as a line.
    pub(super) fn line(self) -> Line<'a> {
        Line::from(self.spans)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_cut_says_so() {
        assert_eq!(fit("abcdef", 4), "abc…");
        assert_eq!(fit("abcd", 4), "abcd");
        assert_eq!(fit("日本語", 4), "日…");
        assert_eq!(fit("abc", 0), "");
        assert_eq!(fit_end("/guides/deploy/aws", 8), "…loy/aws");
    }

    #[test]
    fn columns_are_as_wide_as_asked_whatever_stands_in_them() {
        for text in ["", "a", "日本語 text", "e\u{301}x", "a very long text indeed"] {
            assert_eq!(left(text, 8).width(), 8, "{text}");
            assert_eq!(right(text, 8).width(), 8, "{text}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_wider_than_asked(text in "\\PC{0,40}", width in 0_usize..30) {
            prop_assert!(fit(&text, width).width() <= width);
            prop_assert!(fit_end(&text, width).width() <= width);
        }
    }
}
