//! Draws boxes and the lines in them.

use super::{cursor, text};
use crate::tui::format::more_below_text;
use crate::tui::geometry::inside_borders;
use crate::tui::view::View;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::Clear;

/// Returns the number of columns for the text of a title of a box that [`draw_box`] draws, with a blank on each side of
/// the text.
pub(in crate::tui) fn box_title_columns(area: Rect) -> usize {
    usize::from(area.width.saturating_sub(6))
}

/// Clears the area, draws a box with a title, and returns the inner area.
pub(in crate::tui) fn draw_box(frame: &mut Frame<'_>, area: Rect, title: Line<'_>, border: Style) -> Rect {
    frame.render_widget(Clear, area);
    text::border(frame.buffer_mut(), area, border);
    let width = u16::try_from(title.width()).unwrap_or(u16::MAX).min(area.width.saturating_sub(4));
    let rect = Rect { x: area.x.saturating_add(2), width, height: 1, ..area };
    text::paint(frame.buffer_mut(), rect, &title);
    let inner = inside_borders(area);
    cursor::place_cursor_in_corner(frame, inner);
    inner
}

/// Shows in the lower border how many lines follow below the visible ones.
pub(in crate::tui) fn draw_more_below(frame: &mut Frame<'_>, view: View<'_>, area: Rect, hidden: usize) {
    if hidden > 0 && area.width > 20 {
        let text = format!(" {} ", more_below_text(hidden));
        let width = u16::try_from(text.chars().count()).unwrap_or(0);
        let rect = Rect::new(area.right().saturating_sub(width + 2), area.bottom().saturating_sub(1), width, 1);
        frame.render_widget(Line::styled(text, view.theme.muted), rect);
    }
}

/// Draws a vertical line to the left of a text that the user writes. It shows how many rows there are for the text.
pub(in crate::tui) fn draw_text_margin(frame: &mut Frame<'_>, view: View<'_>, text: Rect) {
    for row in text.rows().filter(|row| row.x > 1) {
        frame.render_widget(Line::styled("│", view.theme.focus), Rect { x: row.x - 2, width: 1, ..row });
    }
}

/// Underlines the cells of a text field, so that it is visible where the user types.
pub(in crate::tui) fn underline_field(frame: &mut Frame<'_>, view: View<'_>, field: Rect) {
    let buffer = frame.buffer_mut();
    let field = field.intersection(buffer.area);
    buffer.set_style(field, Style::new().add_modifier(Modifier::UNDERLINED));
    for at in field.positions() {
        if let Some(cell) =
            buffer.cell_mut(at).filter(|cell| cell.symbol() == " " && !cell.modifier.contains(Modifier::REVERSED))
        {
            cell.set_style(view.theme.border);
        }
    }
}

/// Draws one line at the given row of an area that is still blank. Ignores rows beyond the area.
pub(in crate::tui) fn draw_line(frame: &mut Frame<'_>, area: Rect, row: usize, line: Line<'_>) {
    let Ok(row) = u16::try_from(row) else { return };
    if row < area.height {
        let rect = Rect { y: area.y + row, height: 1, ..area };
        cursor::place_cursor_on_selected(frame, rect, &line);
        text::paint_on_blank(frame.buffer_mut(), rect, &line);
    }
}
