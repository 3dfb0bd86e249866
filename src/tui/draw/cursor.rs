//! Places the terminal cursor on the selected row of the topmost layer, or where the user types, so that screen readers
//! and magnifiers follow. The runtime decides whether the cursor is visible.

use crate::tui::view::View;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The symbol before a selected row.
const SELECTED_ROW_SYMBOL: char = '▌';

/// Places the cursor in the corner of a box. If a selected row or an input is drawn later, the cursor moves there.
pub(in crate::tui) fn place_cursor_in_corner(frame: &mut Frame<'_>, inner: Rect) {
    if !inner.is_empty() {
        frame.set_cursor_position(inner.as_position());
    }
}

/// Places the cursor on a row that is about to be drawn, if something in it is selected. If the whole row is selected,
/// places the cursor at the first letter, digit or `/`. Otherwise places it on a reversed span, such as the selected
/// day of a calendar, if the row has one.
pub(in crate::tui) fn place_cursor_on_selected(frame: &mut Frame<'_>, row: Rect, line: &Line<'_>) {
    let mut chars = line.spans.iter().flat_map(|span| span.content.chars());
    if row.is_empty() {
        return;
    }
    if chars.next() != Some(SELECTED_ROW_SYMBOL) {
        move_cursor_to_reversed_span(frame, row, line);
        return;
    }
    let mut before = 1;
    let begins = chars.any(|c| {
        let begins = c.is_alphanumeric() || c == '/';
        before += if begins { 0 } else { c.width().unwrap_or(0) };
        begins
    });
    let before = if begins { before } else { 1 };
    let x = u16::try_from(before).map_or(row.x, |cells| row.x.saturating_add(cells));
    frame.set_cursor_position(Position { x: x.min(row.right().saturating_sub(1)), y: row.y });
}

fn move_cursor_to_reversed_span(frame: &mut Frame<'_>, row: Rect, line: &Line<'_>) {
    let is_reversed = |span: &Span<'_>| span.style.add_modifier.contains(Modifier::REVERSED);
    if let Some(place) = line.spans.iter().position(is_reversed) {
        let before: usize = line.spans.iter().take(place).map(Span::width).sum();
        let x = u16::try_from(before).map_or(row.x, |cells| row.x.saturating_add(cells));
        frame.set_cursor_position(Position { x: x.min(row.right().saturating_sub(1)), y: row.y });
    }
}

/// Places the cursor in a text field: at the reversed cell, or at the last reversed cell if text is selected. If the
/// terminal shows its own cursor, the cell is no longer reversed, because the two would cancel each other out.
pub(in crate::tui) fn place_cursor_in_input(frame: &mut Frame<'_>, view: View<'_>, area: Rect) {
    let buffer = frame.buffer_mut();
    let reversed =
        |position: &Position| buffer.cell(*position).is_some_and(|cell| cell.modifier.contains(Modifier::REVERSED));
    let area = area.intersection(buffer.area);
    let found = area.positions().find(reversed).map(|position| {
        let row = (position.x..area.right()).map(|x| Position { x, ..position });
        let end = row.take_while(reversed).last().unwrap_or(position);
        let width = buffer.cell(position).and_then(|cell| u16::try_from(cell.symbol().width()).ok()).unwrap_or(1);
        if end.x - position.x < width.max(1) { position } else { end }
    });
    if let (Some(position), true) = (found, view.theme.shows_terminal_cursor)
        && let Some(cell) = buffer.cell_mut(position)
    {
        // A wide character is one cell followed by a blank, which is reversed too.
        let width = u16::try_from(cell.symbol().width()).unwrap_or(1).max(1);
        for x in position.x..position.x.saturating_add(width) {
            if let Some(cell) = buffer.cell_mut((x, position.y)) {
                cell.modifier.remove(Modifier::REVERSED);
            }
        }
    }
    if let Some(position) = found {
        frame.set_cursor_position(position);
    }
}
