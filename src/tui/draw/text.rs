//! Fits text into cells: padding, rows of columns, and drawing into a buffer.

use super::glyphs::{fill_cells, write_ascii};
use super::theme::Theme;
use crate::tui::format::is_single_cell_char;
pub(in crate::tui) use crate::tui::format::{display_width, truncate, truncate_path};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::Widget as _;
use std::borrow::Cow;
use unicode_width::UnicodeWidthChar as _;

/// Enough blanks for most gaps. A gap is a slice of this text, so that no new text has to be allocated.
const BLANKS: &str = "                                                                                                ";

/// The modifiers that are invisible on a blank.
const INVISIBLE_ON_BLANK: Modifier = Modifier::BOLD.union(Modifier::DIM).union(Modifier::ITALIC);

/// Returns `width` blanks.
pub(in crate::tui) fn blanks(width: usize) -> Cow<'static, str> {
    BLANKS.get(..width).map_or_else(|| " ".repeat(width).into(), Cow::Borrowed)
}

/// Pads or cuts a text to exactly `width` cells. Aligns it to the left.
pub(in crate::tui) fn align_left(text: &str, width: usize) -> String {
    let mut out = truncate(text, width);
    let missing = width.saturating_sub(display_width(&out));
    out.push_str(&blanks(missing));
    out
}

/// Pads or cuts a text to exactly `width` cells. Aligns it to the right.
pub(in crate::tui) fn align_right(text: &str, width: usize) -> String {
    let text = truncate(text, width);
    let missing = width.saturating_sub(display_width(&text));
    [&blanks(missing), text.as_str()].concat()
}

/// Draws a line from the left of a row and cuts what doesn't fit. ASCII text, the most common case, is written directly
/// into the cells, without being split into graphemes.
pub(in crate::tui) fn paint(buffer: &mut Buffer, row: Rect, line: &Line<'_>) {
    paint_over(buffer, row, line, PreviousContent::Anything);
}

/// Like [`paint`], for a row on which nothing was drawn yet. The blanks of the line, which make up half of a frame,
/// are already on the screen and are not drawn again.
pub(in crate::tui) fn paint_on_blank(buffer: &mut Buffer, row: Rect, line: &Line<'_>) {
    let is_blank = |cell: &Cell| cell.symbol() == " " && INVISIBLE_ON_BLANK.contains(cell.modifier);
    debug_assert!(row.intersection(buffer.area).positions().all(|at| buffer.cell(at).is_some_and(is_blank)));
    paint_over(buffer, row, line, PreviousContent::Blanks);
}

/// What a row contains before a line is drawn on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PreviousContent {
    Blanks,
    Anything,
}

fn paint_over(buffer: &mut Buffer, row: Rect, line: &Line<'_>, content: PreviousContent) {
    if line.alignment.is_some() {
        return line.render(row, buffer);
    }
    let row = Rect { height: 1, ..row }.intersection(buffer.area);
    if row.is_empty() || line.spans.iter().all(|span| display_width(&span.content) == 0) {
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
        let drawn = paint_ascii(buffer, rest, &span.content, style, content);
        let width = match drawn.or_else(|| paint_single_cell_chars(buffer, rest, &span.content, style)) {
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

/// Draws a border around an area that is still blank.
pub(in crate::tui) fn border(buffer: &mut Buffer, area: Rect, style: Style) {
    let area = area.intersection(buffer.area);
    if area.width < 2 || area.height < 2 {
        return;
    }
    let last = area.bottom() - 1;
    for y in area.top()..area.bottom() {
        let Some(row) = row_cells(buffer, Rect { y, height: 1, ..area }) else { return };
        let (left, right) = match y {
            y if y == area.y => ("┌", "┐"),
            y if y == last => ("└", "┘"),
            _ => ("│", "│"),
        };
        if let [first, between @ .., end] = row {
            first.set_symbol(left).set_style(style);
            end.set_symbol(right).set_style(style);
            if y == area.y || y == last {
                between.iter_mut().for_each(|cell| {
                    cell.set_symbol("─").set_style(style);
                });
            }
        }
    }
}

/// Returns the cells of an area of one row. The area must be within the buffer.
pub(super) fn row_cells(buffer: &mut Buffer, row: Rect) -> Option<&mut [Cell]> {
    let (down, right) = (row.y.checked_sub(buffer.area.y)?, row.x.checked_sub(buffer.area.x)?);
    let begin = usize::from(down) * usize::from(buffer.area.width) + usize::from(right);
    buffer.content.get_mut(begin..begin + usize::from(row.width))
}

/// Draws the part of an ASCII text that fits, and returns the number of cells. Returns `None` if that part contains
/// anything other than printable ASCII characters; then the caller must draw the text in another way.
fn paint_ascii(buffer: &mut Buffer, row: Rect, text: &str, style: Style, content: PreviousContent) -> Option<u16> {
    let is_invisible = style.bg.is_none() && INVISIBLE_ON_BLANK.contains(style.add_modifier | style.sub_modifier);
    if is_invisible && content == PreviousContent::Blanks && BLANKS.get(..text.len()) == Some(text) {
        return u16::try_from(text.len()).ok();
    }
    // Check first that the text that fits is ASCII. Also check one more byte, because a combining character could
    // follow the last letter that fits.
    let checked_len = text.len().min(usize::from(row.width) + 1);
    if !text.as_bytes().get(..checked_len)?.is_ascii() {
        return None;
    }
    let cells = row_cells(buffer, row)?;
    let shown = text.as_bytes().get(..text.len().min(cells.len()))?;
    if !shown.iter().all(|byte| byte.is_ascii_graphic() || *byte == b' ') {
        return None;
    }
    write_ascii(cells, shown, style);
    u16::try_from(shown.len()).ok()
}

/// Draws a single character of one cell, or several characters that [`is_single_cell_char`] accepts. Returns the number
/// of cells, or `None` for any other text.
fn paint_single_cell_chars(buffer: &mut Buffer, row: Rect, text: &str, style: Style) -> Option<u16> {
    let mut chars = text.chars();
    let is_single = chars.next().is_some_and(|sign| sign.width() == Some(1)) && chars.next().is_none();
    if !is_single && !text.chars().all(is_single_cell_char) {
        return None;
    }
    let mut cells = row_cells(buffer, row)?;
    let width = cells.len();
    let mut rest = text;
    // Rules and bars repeat a character, so each run of equal characters is written at once.
    while let Some(sign) = rest.chars().next().filter(|_| !cells.is_empty()) {
        let after = rest.trim_start_matches(sign);
        let count = (rest.len() - after.len()) / sign.len_utf8();
        let (run, others) = cells.split_at_mut(count.min(cells.len()));
        fill_cells(run, sign, style);
        (cells, rest) = (others, after);
    }
    u16::try_from(width - cells.len()).ok()
}

/// The number of spans for which a row reserves memory. Most rows don't have more, and glibc allocates up to 1 KB fast.
const TYPICAL_SPANS: usize = 24;

/// A row of cells that is filled from the left; what doesn't fit is cut.
#[derive(Debug)]
pub(in crate::tui) struct TextRow<'a> {
    width: usize,
    used_cells: usize,
    spans: Vec<Span<'a>>,
}

impl<'a> TextRow<'a> {
    /// Creates an empty row of `width` cells.
    pub(in crate::tui) fn new(width: usize) -> Self {
        Self { width, used_cells: 0, spans: Vec::with_capacity(TYPICAL_SPANS) }
    }

    pub(in crate::tui) fn used_cells(&self) -> usize {
        self.used_cells
    }

    /// Returns the number of unused cells.
    pub(in crate::tui) fn remaining_cells(&self) -> usize {
        self.width.saturating_sub(self.used_cells)
    }

    /// Adds text, cut to the unused cells.
    pub(in crate::tui) fn push(&mut self, text: impl Into<String>, style: Style) -> &mut Self {
        self.push_cow(text.into(), style)
    }

    /// Like [`Self::push`], without a copy of the text.
    pub(in crate::tui) fn push_cow(&mut self, text: impl Into<Cow<'a, str>>, style: Style) -> &mut Self {
        self.push_up_to(self.width, text, style)
    }

    /// Adds a one-cell sign `count` times, cut to the unused cells. Adjacent signs of the same style are in one span.
    pub(in crate::tui) fn push_repeated(&mut self, sign: &str, count: usize, style: Style) -> &mut Self {
        let count = count.min(self.remaining_cells());
        self.used_cells += count;
        match self.spans.last_mut() {
            Some(Span { content: Cow::Owned(text), style: last }) if *last == style => {
                text.extend(std::iter::repeat_n(sign, count));
            }
            _ if count > 0 => self.spans.push(Span::styled(sign.repeat(count), style)),
            _ => {}
        }
        self
    }

    /// Adds text, cut so that at most `end` cells of the row are used, including those used before.
    pub(in crate::tui) fn push_up_to(&mut self, end: usize, text: impl Into<Cow<'a, str>>, style: Style) -> &mut Self {
        let mut text = text.into();
        let mut taken = display_width(&text);
        let space = end.min(self.width).saturating_sub(self.used_cells);
        if taken > space {
            text = truncate(&text, space).into();
            taken = display_width(&text);
        }
        self.push_fitting(text, taken, style)
    }

    /// Adds a column of `width` cells, with the text aligned to the left.
    pub(in crate::tui) fn push_left_aligned(
        &mut self,
        text: impl Into<Cow<'a, str>>,
        width: usize,
        style: Style,
    ) -> &mut Self {
        let text = text.into();
        let missing = width.checked_sub(display_width(&text));
        match missing.filter(|_| width <= self.remaining_cells()) {
            Some(missing) => self.push_fitting(text, width - missing, style).push_blanks(missing, style),
            None => self.push_cow(align_left(&text, width), style),
        }
    }

    /// Adds a column of `width` cells, with the text aligned to the right.
    pub(in crate::tui) fn push_right_aligned(
        &mut self,
        text: impl Into<Cow<'a, str>>,
        width: usize,
        style: Style,
    ) -> &mut Self {
        let text = text.into();
        let missing = width.checked_sub(display_width(&text));
        match missing.filter(|_| width <= self.remaining_cells()) {
            Some(missing) => self.push_blanks(missing, style).push_fitting(text, width - missing, style),
            None => self.push_cow(align_right(&text, width), style),
        }
    }

    /// Adds blanks until `cell` cells are used.
    pub(in crate::tui) fn pad_to(&mut self, cell: usize) -> &mut Self {
        let gap = cell.min(self.width).saturating_sub(self.used_cells);
        self.push_blanks(gap, Style::new())
    }

    /// Adds blanks, for which there must be space.
    fn push_blanks(&mut self, count: usize, style: Style) -> &mut Self {
        self.push_fitting(blanks(count), count, style)
    }

    /// Adds a text of this many cells, for which there must be space.
    fn push_fitting(&mut self, text: Cow<'a, str>, cells: usize, style: Style) -> &mut Self {
        self.used_cells += cells;
        if !text.is_empty() {
            self.spans.push(Span::styled(text, style));
        }
        self
    }

    pub(in crate::tui) fn line(self) -> Line<'a> {
        Line::from(self.spans)
    }

    /// Returns the line of a row of a list. A selected row is filled across its full width.
    pub(in crate::tui) fn list_line(self, is_selected: bool, theme: &Theme) -> Line<'a> {
        if is_selected { selected_line(self.line(), theme) } else { self.line() }
    }
}

/// Fills the row of a line with the style of the selected row. Symbols, bars and changes keep their colours if these
/// are readable in the selected row; all other texts get the colours of the row. If the row is shown in reverse video,
/// bars and the blanks after them are not reversed, because a reversed blank would look like a part of the bar.
pub(in crate::tui) fn selected_line<'a>(mut line: Line<'a>, theme: &Theme) -> Line<'a> {
    let is_reversed = theme.selected.add_modifier.contains(Modifier::REVERSED);
    let mut is_beside_bar = false;
    for (n, span) in line.spans.iter_mut().enumerate() {
        // The mark of the selected row, which comes first, is not a bar.
        is_beside_bar = n > 0 && is_bar(span) || is_beside_bar && span.content.trim().is_empty();
        if is_reversed && is_beside_bar {
            span.style = span.style.remove_modifier(Modifier::REVERSED);
            continue;
        }
        // Parts of bars may have a background, which is then their main colour. Other spans have none.
        let color = span.style.bg.or(span.style.fg);
        let keeps_color = match (is_symbol(span), span.content.contains(|c: char| c.is_alphanumeric())) {
            (false, _) => false,
            (true, false) => color.is_some_and(|color| theme.symbol_colors_kept_on_selected.contains(&color)),
            (true, true) => color.is_some_and(|color| theme.text_colors_kept_on_selected.contains(&color)),
        };
        let kept = |color: Option<Color>| color.filter(|_| keeps_color);
        span.style = Style { fg: kept(span.style.fg), bg: kept(span.style.bg), ..span.style };
        if is_reversed {
            span.style = span.style.add_modifier(Modifier::REVERSED);
        }
    }
    let ends_in_bar = is_reversed && is_beside_bar;
    line.style(if ends_in_bar { theme.selected.remove_modifier(Modifier::REVERSED) } else { theme.selected })
}

/// Whether a span contains a part of a bar or of a sparkline.
fn is_bar(span: &Span<'_>) -> bool {
    matches!(span.content.chars().next(), Some('▁'..='▏' | '▒' | '■'))
}

/// Whether a span contains a single symbol, a part of a bar, or a change such as `▲ 5%`.
fn is_symbol(span: &Span<'_>) -> bool {
    let mut chars = span.content.trim().chars();
    match (chars.next(), chars.next()) {
        (Some('█' | '▉'..='▏' | '▒' | '■' | '▲' | '▼'), _) => true,
        (Some(symbol), None) => !symbol.is_alphanumeric(),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use ratatui::style::Color;
    use ratatui::widgets::Block;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn columns_have_the_given_width_for_any_text() {
        for text in ["", "a", "日本語 text", "e\u{301}x", "a very long text indeed"] {
            assert_eq!(align_left(text, 8).width(), 8, "{text}");
            assert_eq!(align_right(text, 8).width(), 8, "{text}");
        }
    }

    #[test]
    fn a_bar_in_a_reversed_row_is_not_reversed() {
        let theme = Theme { selected: Style::new().reversed(), ..Theme::new(super::super::ColorDepth::None) };
        let line = Line::from_iter(["▌/a", "  ", "██", "▒", "   ", "1h"].map(Span::raw));
        let mut buffer = Buffer::empty(Rect::new(0, 0, 13, 1));
        buffer.set_line(0, 0, &selected_line(line, &theme), 13);
        let shown =
            buffer.content.iter().map(|cell| if cell.modifier.contains(Modifier::REVERSED) { 'r' } else { '.' });
        assert_eq!(shown.collect::<String>(), "rrrrr......rr");
    }

    /// Removes the invisible part of the style of a blank.
    fn remove_invisible_style(cell: &mut Cell) {
        if cell.symbol() == " " {
            cell.modifier.remove(INVISIBLE_ON_BLANK);
            cell.fg = if cell.modifier.is_empty() { Color::Reset } else { cell.fg };
        }
    }

    proptest! {
        #[test]
        fn a_column_of_a_row_contains_the_same_as_the_padded_text(
            text in prop_oneof!["[ -~]{0,12}", "\\PC{0,6}", "[ -~日é]{0,9}"],
            (width, space) in (0_usize..14, 0_usize..20),
        ) {
            let shown = |row: TextRow<'_>| row.spans.iter().map(|span| span.content.to_string()).collect::<String>();
            let fitted = |text: String| {
                let mut row = TextRow::new(space);
                row.push(text, Style::new());
                shown(row)
            };
            let (mut at_left, mut at_right) = (TextRow::new(space), TextRow::new(space));
            at_left.push_left_aligned(text.as_str(), width, Style::new());
            at_right.push_right_aligned(text.as_str(), width, Style::new());
            prop_assert!(width > space || (at_left.used_cells, at_right.used_cells) == (width, width));
            prop_assert_eq!(shown(at_left), fitted(align_left(&text, width)));
            prop_assert_eq!(shown(at_right), fitted(align_right(&text, width)));
        }

        #[test]
        fn a_line_is_drawn_as_ratatui_draws_it(
            texts in proptest::collection::vec(
                prop_oneof!["[ -~]{0,12}", " {1,9}", "\\PC{0,6}", "[ -~日é]{0,9}", "█{1,30}|─{1,9}|[─▒\u{25fd}]{2}|🇦{1,4}|[▁▅ –…a▶]{1,9}|▶\u{fe0f}"],
                0..5,
            ),
            (x, width) in (0_u16..12, 0_u16..30),
            (styled, over) in (proptest::bool::ANY, proptest::bool::ANY),
        ) {
            let styles = [
                Style::new().fg(Color::Red),
                Style::new(),
                Style::new().add_modifier(Modifier::UNDERLINED),
                Style::new().add_modifier(Modifier::BOLD),
                Style::new().remove_modifier(Modifier::UNDERLINED).bg(Color::Green),
            ];
            let spans = texts.iter().zip(styles.iter().cycle()).map(|(text, style)| Span::styled(text.clone(), *style));
            let line = Line::from(spans.collect::<Vec<_>>());
            let line = if styled { line.style(Style::new().bg(Color::Blue)) } else { line };
            let area = Rect::new(0, 0, 24, 2);
            let row = Rect::new(x, 1, width, 1);
            let mut ours = Buffer::empty(area);
            if over {
                ours.set_string(0, 1, "Some   thing  stands    ", Style::new().add_modifier(Modifier::UNDERLINED));
            }
            let mut theirs = ours.clone();
            let paint = if over { paint } else { paint_on_blank };
            paint(&mut ours, row, &line);
            line.render(row, &mut theirs);
            ours.content.iter_mut().chain(&mut theirs.content).for_each(remove_invisible_style);
            prop_assert_eq!(ours, theirs);
        }
    }

    #[test]
    fn a_border_looks_like_that_of_a_ratatui_block() {
        let area = Rect::new(2, 1, 20, 6);
        for size in [(0, 0), (1, 5), (2, 2), (3, 3), (9, 4), (18, 5), (40, 40)] {
            let rect = Rect::new(4, 2, size.0, size.1);
            let (mut ours, mut theirs) = (Buffer::empty(area), Buffer::empty(area));
            let style = Style::new().fg(Color::Red).add_modifier(Modifier::BOLD);
            border(&mut ours, rect, style);
            let seen = rect.intersection(area);
            if seen.width > 1 && seen.height > 1 {
                Block::bordered().border_style(style).render(seen, &mut theirs);
            }
            assert_eq!(ours, theirs, "{size:?}");
        }
    }
}
