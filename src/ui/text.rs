//! Fitting text into cells: padded, composed into rows, put into the cells of a frame.

pub(super) use crate::app::format::{cells, fit, fit_end};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget as _;
use std::borrow::Cow;
use unicode_width::UnicodeWidthChar as _;

/// As many as most gaps have.
const BLANKS: &str = "                                                                                                ";

/// So many blanks.
fn blanks(width: usize) -> Cow<'static, str> {
    BLANKS.get(..width).map_or_else(|| " ".repeat(width).into(), Cow::Borrowed)
}

/// Exactly `width` cells, the text at the left.
pub(super) fn left(text: &str, width: usize) -> String {
    let mut out = fit(text, width);
    let missing = width.saturating_sub(cells(&out));
    out.push_str(&blanks(missing));
    out
}

/// Exactly `width` cells, the text at the right.
pub(super) fn right(text: &str, width: usize) -> String {
    let text = fit(text, width);
    let missing = width.saturating_sub(cells(&text));
    [&blanks(missing), text.as_str()].concat()
}

/// Draws a line from the left of a row; what has no room is cut. ASCII, which is most of what there is, goes into its
/// cells as it stands: it has not to be parted into graphemes.
pub(super) fn paint(buffer: &mut Buffer, row: Rect, line: &Line<'_>) {
    if line.alignment.is_some() {
        return line.render(row, buffer);
    }
    let row = Rect { height: 1, ..row }.intersection(buffer.area);
    if row.is_empty() || line.spans.iter().all(|span| cells(&span.content) == 0) {
        return;
    }
    let is_styled = line.style != Style::new();
    if is_styled {
        buffer.set_style(row, line.style);
    }
    let mut x = row.x;
    for span in &line.spans {
        let rest = Rect { x, width: row.right().saturating_sub(x), ..row };
        if rest.is_empty() {
            return;
        }
        let style = if is_styled { line.style.patch(span.style) } else { span.style };
        let drawn = paint_ascii(buffer, rest, &span.content, style);
        let width = match drawn.or_else(|| paint_sign(buffer, rest, &span.content, style)) {
            Some(width) => width,
            None if span.width() == 0 => 0,
            None => {
                span.render(rest, buffer);
                u16::try_from(span.width()).unwrap_or(u16::MAX)
            }
        };
        x = x.saturating_add(width);
    }
}

/// Draws a border around an area.
pub(super) fn border(buffer: &mut Buffer, area: Rect, style: Style) {
    let area = area.intersection(buffer.area);
    if area.width < 2 || area.height < 2 {
        return;
    }
    let (right, bottom) = (area.right() - 1, area.bottom() - 1);
    let mut draw = |at: (u16, u16), sign: char| {
        if let Some(cell) = buffer.cell_mut(at) {
            cell.set_char(sign).set_style(style);
        }
    };
    for x in area.x + 1..right {
        draw((x, area.y), '─');
        draw((x, bottom), '─');
    }
    for y in area.y + 1..bottom {
        draw((area.x, y), '│');
        draw((right, y), '│');
    }
    let corners = [((area.x, area.y), '┌'), ((right, area.y), '┐'), ((area.x, bottom), '└'), ((right, bottom), '┘')];
    for (at, sign) in corners {
        draw(at, sign);
    }
}

/// Gives the cells that were drawn; none, and nothing drawn, where a character of it is no cell by itself.
fn paint_ascii(buffer: &mut Buffer, row: Rect, text: &str, style: Style) -> Option<u16> {
    if !text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return None;
    }
    let begin =
        usize::from(row.y - buffer.area.y) * usize::from(buffer.area.width) + usize::from(row.x - buffer.area.x);
    let cells = buffer.content.get_mut(begin..begin + usize::from(row.width))?;
    let mut drawn = 0;
    for (cell, byte) in cells.iter_mut().zip(text.bytes()) {
        // Half of it is blank, and so are the cells.
        if byte != b' ' || !matches!(cell.symbol().as_bytes(), [b' ']) {
            cell.set_char(char::from(byte));
        }
        cell.set_style(style);
        drawn += 1;
    }
    Some(drawn)
}

/// The same for a single sign of one cell.
fn paint_sign(buffer: &mut Buffer, row: Rect, text: &str, style: Style) -> Option<u16> {
    let mut chars = text.chars();
    let sign = chars.next().filter(|sign| chars.next().is_none() && sign.width() == Some(1))?;
    buffer.cell_mut(row.as_position())?.set_char(sign).set_style(style);
    Some(1)
}

/// Parts that most rows have at most.
const SPANS: usize = 16;

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
        Self { width, used: 0, spans: Vec::with_capacity(SPANS) }
    }

    /// Cells that are left.
    pub(super) fn room(&self) -> usize {
        self.width.saturating_sub(self.used)
    }

    /// Adds text, cut to what is left.
    pub(super) fn push(&mut self, text: impl AsRef<str>, style: Style) -> &mut Self {
        self.add(text.as_ref().to_owned(), style)
    }

    /// The same for text that has not to be copied.
    pub(super) fn add(&mut self, text: impl Into<Cow<'a, str>>, style: Style) -> &mut Self {
        let mut text = text.into();
        let mut taken = cells(&text);
        if taken > self.room() {
            text = fit(&text, self.room()).into();
            taken = cells(&text);
        }
        self.used += taken;
        if !text.is_empty() {
            self.spans.push(Span::styled(text, style));
        }
        self
    }

    /// Adds a column of so many cells, the text at its left.
    pub(super) fn left(&mut self, text: impl Into<Cow<'a, str>>, width: usize, style: Style) -> &mut Self {
        let text = text.into();
        let missing = width.checked_sub(cells(&text));
        match missing.filter(|_| width <= self.room()) {
            Some(missing) => self.add(text, style).add(blanks(missing), style),
            None => self.add(left(&text, width), style),
        }
    }

    /// Adds a column of so many cells, the text at its right.
    pub(super) fn right(&mut self, text: impl Into<Cow<'a, str>>, width: usize, style: Style) -> &mut Self {
        let text = text.into();
        let missing = width.checked_sub(cells(&text));
        match missing.filter(|_| width <= self.room()) {
            Some(missing) => self.add(blanks(missing), style).add(text, style),
            None => self.add(right(&text, width), style),
        }
    }

    /// Adds blanks up to this cell.
    pub(super) fn to(&mut self, cell: usize) -> &mut Self {
        let gap = cell.min(self.width).saturating_sub(self.used);
        self.add(blanks(gap), Style::new())
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
    use ratatui::style::{Color, Modifier};
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn columns_are_as_wide_as_asked_whatever_stands_in_them() {
        for text in ["", "a", "日本語 text", "e\u{301}x", "a very long text indeed"] {
            assert_eq!(left(text, 8).width(), 8, "{text}");
            assert_eq!(right(text, 8).width(), 8, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_column_of_a_row_is_the_same_as_its_text_made_to_fit(
            text in prop_oneof!["[ -~]{0,12}", "\\PC{0,6}", "[ -~日é]{0,9}"],
            (width, room) in (0_usize..14, 0_usize..20),
        ) {
            let shown = |row: Row<'_>| row.spans.iter().map(|span| span.content.to_string()).collect::<String>();
            let fitted = |text: String| {
                let mut row = Row::new(room);
                row.push(text, Style::new());
                shown(row)
            };
            let (mut at_left, mut at_right) = (Row::new(room), Row::new(room));
            at_left.left(text.as_str(), width, Style::new());
            at_right.right(text.as_str(), width, Style::new());
            prop_assert!(width > room || (at_left.used, at_right.used) == (width, width));
            prop_assert_eq!(shown(at_left), fitted(left(&text, width)));
            prop_assert_eq!(shown(at_right), fitted(right(&text, width)));
        }

        #[test]
        fn a_line_is_drawn_as_ratatui_draws_it(
            texts in proptest::collection::vec(prop_oneof!["[ -~]{0,12}", "\\PC{0,6}", "[ -~日é]{0,9}"], 0..5),
            (x, width) in (0_u16..12, 0_u16..30),
            styled in proptest::bool::ANY,
        ) {
            let styles = [Style::new().fg(Color::Red), Style::new(), Style::new().add_modifier(Modifier::UNDERLINED)];
            let spans = texts.iter().zip(styles.iter().cycle()).map(|(text, style)| Span::styled(text.clone(), *style));
            let line = Line::from(spans.collect::<Vec<_>>());
            let line = if styled { line.style(Style::new().bg(Color::Blue)) } else { line };
            let area = Rect::new(0, 0, 24, 2);
            let row = Rect::new(x, 1, width, 1);
            let (mut ours, mut theirs) = (Buffer::empty(area), Buffer::empty(area));
            paint(&mut ours, row, &line);
            line.render(row, &mut theirs);
            prop_assert_eq!(ours, theirs);
        }
    }
}
