//! Fitting text into cells: padded, composed into rows.

pub(super) use crate::app::format::{fit, fit_end};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

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

    #[test]
    fn columns_are_as_wide_as_asked_whatever_stands_in_them() {
        for text in ["", "a", "日本語 text", "e\u{301}x", "a very long text indeed"] {
            assert_eq!(left(text, 8).width(), 8, "{text}");
            assert_eq!(right(text, 8).width(), 8, "{text}");
        }
    }
}
