//! The palette: what is typed, and the actions that fit it with their keys.
//!
//! ```text
//! ┌ What to do: 3 of 62 ─────────────────────────────────────┐
//! │ rena▏                                                    │
//! │▌rename: a title of your own                  jobs      R │
//! ```

use super::text::{TextRow, fit};
use super::{View, boxed, cursor, more_below, put};
use crate::app::format::count;
use crate::app::keymap::{Action, Context};
use crate::app::palette::CommandPalette;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr;

/// Cells of the keys, and of the place before them where there is room.
const KEYS: usize = 14;
const PLACE: usize = 10;

pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, palette: &CommandPalette, area: Rect) {
    let theme = view.theme;
    let (all, left) = palette.counts();
    let counts = if all == left { count(all) } else { format!("{} of {}", count(left), count(all)) };
    let inner = boxed(frame, area, Line::styled(format!(" What to do: {counts} "), theme.title), theme.focus);
    let text = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
    if palette.input.is_blank() {
        let does = view.app.key_label(Context::Palette, Action::Confirm);
        put(frame, text, 0, Line::styled(format!("Type what it does; {does} does it."), theme.muted));
    } else {
        frame.render_widget(palette.input.area(), Rect { height: text.height.min(1), ..text });
    }
    let width = usize::from(inner.width);
    let most = if width < 60 { KEYS / 2 } else { KEYS };
    let place = if width < 60 { 0 } else { PLACE };
    let g = view.app.geometry();
    let (lines, rows) = (g.palette_lines(), g.palette_rows());
    for (n, (entry, chosen)) in palette.visible(rows).enumerate() {
        let mut row = TextRow::new(width);
        let style = if chosen { theme.selected } else { theme.text };
        row.push(if chosen { "▌" } else { " " }, theme.mark);
        let first = entry.keys.split("  ").take(2).collect::<Vec<_>>().join("  ");
        let shown = if first.width() <= most { first } else { entry.keys.split("  ").next().unwrap_or("").to_owned() };
        // Every place stands in one column; what has no room before it is cut, unless there is no such column.
        let keys_at = width.saturating_sub(shown.width() + 1);
        let column = width.saturating_sub(most + place + 2);
        let end = if place > 0 { column } else { keys_at };
        row.push(fit(entry.text.as_str(), end.saturating_sub(2)), style);
        if place > 0 {
            row.to(column).push(fit(entry.place, place), theme.muted);
        }
        row.to(keys_at).push(shown, theme.key);
        put(frame, lines, n, row.line());
    }
    if left == 0 {
        put(frame, text, 1, Line::styled("Nothing does that here.", theme.muted));
    }
    more_below(frame, view, area, palette.hidden_below(rows));
    // What is typed has the cursor, also while nothing is typed yet.
    let field = Rect { height: text.height.min(1), ..text };
    cursor::enter(frame, field);
    if !palette.input.is_blank() {
        cursor::type_at(frame, view, field);
    }
}
