//! Where the terminal's own cursor stands, so that a screen reader and a magnifier follow: on the selected row of what is
//! on top, or where text is typed. Whether it can be seen is the runtime's to say.

use super::View;
use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Modifier;
use ratatui::text::{Line, Span};
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// The sign before what is selected.
const SELECTED: char = '▌';

/// In the corner of a box, unless something in it is selected or typed.
pub(super) fn enter(frame: &mut Frame<'_>, inner: Rect) {
    if !inner.is_empty() {
        frame.set_cursor_position(inner.as_position());
    }
}

/// On a row that is about to be drawn here, if it is the selected one: at its first letter or digit, or its path; or if
/// what is chosen is in it, like a day of a calendar, which is drawn reversed.
pub(super) fn follow(frame: &mut Frame<'_>, row: Rect, line: &Line<'_>) {
    let mut chars = line.spans.iter().flat_map(|span| span.content.chars());
    if row.is_empty() {
        return;
    }
    if chars.next() != Some(SELECTED) {
        follow_chosen(frame, row, line);
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

fn follow_chosen(frame: &mut Frame<'_>, row: Rect, line: &Line<'_>) {
    let is_chosen = |span: &Span<'_>| span.style.add_modifier.contains(Modifier::REVERSED);
    if let Some(place) = line.spans.iter().position(is_chosen) {
        let before: usize = line.spans.iter().take(place).map(Span::width).sum();
        let x = u16::try_from(before).map_or(row.x, |cells| row.x.saturating_add(cells));
        frame.set_cursor_position(Position { x: x.min(row.right().saturating_sub(1)), y: row.y });
    }
}

/// Where text is typed in this area: the cell that is drawn reversed there, the last one if text is selected. It looks as any other where the terminal's
/// own cursor is seen, or the two would cancel out.
pub(super) fn type_at(frame: &mut Frame<'_>, view: View<'_>, area: Rect) {
    let buffer = frame.buffer_mut();
    let reversed = |spot: &Position| buffer.cell(*spot).is_some_and(|cell| cell.modifier.contains(Modifier::REVERSED));
    let area = area.intersection(buffer.area);
    let found = area.positions().find(reversed).map(|spot| {
        let row = (spot.x..area.right()).map(|x| Position { x, ..spot });
        let end = row.take_while(reversed).last().unwrap_or(spot);
        let width = buffer.cell(spot).and_then(|cell| u16::try_from(cell.symbol().width()).ok()).unwrap_or(1);
        if end.x - spot.x < width.max(1) { spot } else { end }
    });
    if let (Some(spot), true) = (found, view.theme.terminal_cursor)
        && let Some(cell) = buffer.cell_mut(spot)
    {
        // A wide character is one cell with a blank behind it, reversed as well.
        let width = u16::try_from(cell.symbol().width()).unwrap_or(1).max(1);
        for x in spot.x..spot.x.saturating_add(width) {
            if let Some(cell) = buffer.cell_mut((x, spot.y)) {
                cell.modifier.remove(Modifier::REVERSED);
            }
        }
    }
    if let Some(spot) = found {
        frame.set_cursor_position(spot);
    }
}
