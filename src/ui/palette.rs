//! The palette: what is typed, and the actions that fit it with their keys.
//!
//! ```text
//! ┌ What to do: 3 of 62 ─────────────────────────────────────┐
//! │ rena▏                                                    │
//! │▌rename: a title of your own                  jobs      R │
//! ```

use super::text::{Row, fit};
use super::{View, boxed, cursor, more_below, put};
use crate::app::format::count;
use crate::app::palette::Palette;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr;

/// Cells of the keys, and of the place before them where there is room.
const KEYS: usize = 16;
const PLACE: usize = 16;

pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, palette: &Palette, area: Rect) {
    let theme = view.theme;
    let (all, left) = palette.counts();
    let counts = if all == left { count(all) } else { format!("{} of {}", count(left), count(all)) };
    let inner = boxed(frame, area, Line::styled(format!(" What to do: {counts} "), theme.title), theme.focus);
    let text = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
    if palette.input.is_blank() {
        put(frame, text, 0, Line::styled("Type what it does; Enter does it.", theme.muted));
    } else {
        frame.render_widget(palette.input.area(), Rect { height: text.height.min(1), ..text });
    }
    let width = usize::from(inner.width);
    let most = if width < 60 { KEYS / 2 } else { KEYS };
    let place = if width < 60 { 0 } else { PLACE };
    let g = view.app.geometry();
    let (lines, rows) = (g.palette_lines(), g.palette_rows());
    for (n, (entry, chosen)) in palette.visible(rows).enumerate() {
        let mut row = Row::new(width);
        let style = if chosen { theme.selected } else { theme.text };
        row.push(if chosen { "▌" } else { " " }, theme.mark);
        let first = entry.keys.split("  ").take(2).collect::<Vec<_>>().join("  ");
        let shown = if first.width() <= most { first } else { entry.keys.split("  ").next().unwrap_or("").to_owned() };
        // A long text takes what keys and place leave of their columns; a place gives way to it.
        let room = width.saturating_sub(shown.width() + 2);
        let place_cells = entry.place.width().min(place);
        let end = entry.text.as_str().width() + 3;
        let column = end.max(width.saturating_sub(most + place + 2));
        let has_place = place > 0 && column + place_cells <= room;
        row.push(fit(entry.text.as_str(), room.saturating_sub(1)), style);
        if has_place {
            row.to(column).push(fit(entry.place, place), theme.muted);
        }
        let room = room + 1;
        row.to(room).push(shown, theme.key);
        put(frame, lines, n, row.line());
    }
    if left == 0 {
        put(frame, text, 1, Line::styled("Nothing does that here.", theme.muted));
    }
    more_below(frame, view, area, left.saturating_sub(rows));
    // What is typed has the cursor, also while nothing is typed yet.
    let field = Rect { height: text.height.min(1), ..text };
    cursor::enter(frame, field);
    if !palette.input.is_blank() {
        cursor::type_at(frame, view, field);
    }
}
