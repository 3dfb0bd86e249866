//! Draws the rules above and below the content of a screen, with texts in them.
//!
//! ```text
//! ─ Jobs ─────────────────────────────────────┬─ Fix the links ──────────────
//! ─ a notice ────────── 2 of 44, 28 more ↓ ───┴──────────────────────────────
//! ```

use super::cursor;
use super::glyphs::fill_cells;
use super::text::{TextRow, paint, row_cells};
use crate::tui::component::Component;
use crate::tui::geometry::{between_rules, inside_margin, title_area};
use crate::tui::job_tabs::JobTab;
use crate::tui::view::View;
use ratatui::Frame;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Clear;
use std::borrow::Cow;

/// Draws a rule with a text at its left and a text at its right. If space is short, the left text is cut. The right
/// text is shown in full or not at all.
pub(in crate::tui) fn draw_rule(frame: &mut Frame<'_>, view: View<'_>, row: Rect, left: Line<'_>, right: Line<'_>) {
    draw_pane_rule(frame, view, row, false, left, right);
}

/// Draws the rule above a pane. A heavy rule marks the pane that has the focus, if there are several panes, so that the
/// focus is also visible without colours.
pub(in crate::tui) fn draw_pane_rule(
    frame: &mut Frame<'_>,
    view: View<'_>,
    row: Rect,
    is_heavy: bool,
    left: Line<'_>,
    right: Line<'_>,
) {
    let buffer = frame.buffer_mut();
    let (sign, style) = match (is_heavy, view.theme.ascii) {
        (false, _) => ('─', view.theme.border),
        (true, false) => ('━', view.theme.focus),
        // `ascii::translate` replaces heavy and light lines with the same character, so the heavy line is drawn with a
        // different ASCII character from the start.
        (true, true) => ('=', view.theme.focus),
    };
    draw_line(buffer, row, sign, style);
    let right_width = u16::try_from(right.width()).unwrap_or(u16::MAX);
    let taken = if right_width > 0 { right_width.saturating_add(3) } else { 0 };
    if right_width > 0 && taken < row.width {
        draw_text(buffer, Rect { x: row.right() - taken, width: right_width + 2, ..row }, right);
    }
    if left.width() > 0 {
        let space = title_area(row).width.saturating_sub(taken);
        let width = u16::try_from(left.width()).unwrap_or(u16::MAX).min(space);
        if width > 0 {
            draw_text(buffer, Rect { x: row.x + 1, width: width + 2, ..row }, left);
        }
    }
}

/// The frame of a dialog that is as wide as the screen: an upper and a lower rule with texts in them. The text at the
/// right of the lower rule is the position in the dialog.
#[derive(Debug, Default)]
pub(in crate::tui) struct DialogFrame<'a> {
    pub title: Line<'a>,
    pub upper_right: Line<'a>,
    pub lower_left: Line<'a>,
    /// Whether the upper rule is heavy. This shows that the dialog, and not one of the panes above it, has the focus.
    pub is_heavy: bool,
}

impl<'a> DialogFrame<'a> {
    pub(in crate::tui) fn new(view: View<'_>, title: impl Into<Cow<'a, str>>) -> Self {
        Self { title: Line::styled(title, view.theme.focus), ..Self::default() }
    }

    /// Creates the frame of a tab of a job, with the names of the tabs before the title.
    pub(in crate::tui) fn with_tabs(view: View<'_>, tab: JobTab, title: String) -> Self {
        let mut line = Line::from(tab.names(view, view.app.geometry().body, true));
        line.push_span(Span::styled(title, view.theme.focus));
        Self { title: line, ..Self::default() }
    }

    /// Clears the area of the dialog, draws the rules and returns the area between them.
    pub(in crate::tui) fn draw(self, frame: &mut Frame<'_>, view: View<'_>, dialog: &dyn Component) -> Rect {
        let area = dialog.area(view.app);
        frame.render_widget(Clear, area);
        draw_pane_rule(frame, view, Rect { height: 1, ..area }, self.is_heavy, self.title, self.upper_right);
        let lower = Rect { y: area.bottom().saturating_sub(1), height: 1, ..area };
        let position = Line::styled(dialog.position_text(view.app), view.theme.muted);
        draw_rule(frame, view, lower, self.lower_left, position);
        let content = between_rules(area);
        cursor::place_cursor_in_corner(frame, inside_margin(content));
        content
    }
}

/// Draws the line between two panes that are side by side, and the signs at which it meets the rules.
pub(in crate::tui) fn draw_separator(frame: &mut Frame<'_>, view: View<'_>, area: Rect) {
    let rows = (area.y.saturating_sub(1)..=area.bottom()).map(|y| Position { x: area.x, y });
    for at in rows {
        let sign = match at.y {
            y if y < area.y => "┬",
            y if y == area.bottom() => "┴",
            _ => "│",
        };
        if let Some(cell) = frame.buffer_mut().cell_mut(at) {
            cell.set_symbol(sign).set_style(view.theme.border);
        }
    }
}

fn draw_line(buffer: &mut Buffer, row: Rect, sign: char, style: Style) {
    let row = row.intersection(buffer.area);
    if let Some(cells) = row_cells(buffer, row).filter(|_| row.height > 0) {
        cells.iter_mut().for_each(Cell::reset);
        fill_cells(cells, sign, style);
    }
}

/// Draws a text with a blank on each side, cut to the area. A text without a colour gets the text colour of the
/// terminal, not the colour of the rule.
fn draw_text(buffer: &mut Buffer, area: Rect, text: Line<'_>) {
    if let Some(cells) = row_cells(buffer, area.intersection(buffer.area)) {
        cells.fill(Cell::EMPTY);
    }
    let mut row = TextRow::new(usize::from(area.width.saturating_sub(1)));
    row.push_cow(" ", Style::new());
    for span in text.spans {
        row.push_cow(span.content, text.style.patch(span.style));
    }
    row.push_cow("", Style::new());
    let mut line = row.line();
    line.push_span(" ");
    paint(buffer, area, &line);
}
