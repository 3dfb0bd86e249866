//! Draws the rules above and below the content of a screen, with texts in them.
//!
//! ```text
//! ─ Jobs ─────────────────────────────────────┬─ Fix the links ──────────────
//! ─ a notice ────────── 2 of 44, 28 more ↓ ───┴──────────────────────────────
//! ```

use super::text::{TextRow, paint, row_cells};
use crate::tui::geometry::title_area;
use crate::tui::view::View;
use ratatui::Frame;
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::Line;

/// Draws a rule with a text at its left and a text at its right. Without enough cells, the left text is cut.
pub(in crate::tui) fn draw_rule(frame: &mut Frame<'_>, view: View<'_>, row: Rect, left: Line<'_>, right: Line<'_>) {
    let buffer = frame.buffer_mut();
    draw_line(buffer, row, view.theme.border);
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

fn draw_line(buffer: &mut Buffer, row: Rect, style: Style) {
    let row = row.intersection(buffer.area);
    let mut sign = Cell::new("─");
    sign.set_style(style);
    if let Some(cells) = row_cells(buffer, row).filter(|_| row.height > 0) {
        cells.fill(sign);
    }
}

/// Draws a text with a blank at each side, cut to the area.
fn draw_text(buffer: &mut Buffer, area: Rect, text: Line<'_>) {
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
