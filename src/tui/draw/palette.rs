//! Draws the command palette: a search field and the matching commands with their keyboard shortcuts.
//!
//! ```text
//! ┌ Commands: 3 of 62 ───────────────────────────────────────┐
//! │ rena▏                                                    │
//! │▌rename: a title of your own                  jobs      R │
//! ```

use super::text::{TextRow, fit};
use super::{View, cursor, draw_box, draw_line, draw_more_below};
use crate::tui::format::format_count;
use crate::tui::keymap::{Action, Context};
use crate::tui::palette::CommandPalette;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr;

/// Maximum width of the keyboard shortcuts of a command.
const MAX_KEYS_CELLS: usize = 14;
/// Maximum width of the category, which is shown before the keyboard shortcuts if there is space.
const MAX_CATEGORY_CELLS: usize = 10;

pub(in crate::tui) fn draw(frame: &mut Frame<'_>, view: View<'_>, palette: &CommandPalette, area: Rect) {
    let theme = view.theme;
    let (all, left) = palette.counts();
    let counts =
        if all == left { format_count(all) } else { format!("{} of {}", format_count(left), format_count(all)) };
    let inner = draw_box(frame, area, Line::styled(format!(" Commands: {counts} "), theme.title), theme.focus);
    let text = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
    if palette.input.is_blank() {
        let run = view.app.key_label(Context::Palette, Action::Confirm);
        draw_line(frame, text, 0, Line::styled(format!("Type to search, {run} to run."), theme.muted));
    } else {
        frame.render_widget(palette.input.area(), Rect { height: text.height.min(1), ..text });
    }
    let width = usize::from(inner.width);
    let most = if width < 60 { MAX_KEYS_CELLS / 2 } else { MAX_KEYS_CELLS };
    let category = if width < 60 { 0 } else { MAX_CATEGORY_CELLS };
    let g = view.app.geometry();
    let (lines, rows) = (g.palette_lines(), g.palette_rows());
    for (n, (entry, chosen)) in palette.visible(rows).enumerate() {
        let mut row = TextRow::new(width);
        let style = if chosen { theme.selected } else { theme.text };
        row.push(if chosen { "▌" } else { " " }, theme.mark);
        let first = entry.keys.split("  ").take(2).collect::<Vec<_>>().join("  ");
        let shown = if first.width() <= most { first } else { entry.keys.split("  ").next().unwrap_or("").to_owned() };
        // If there is space, the categories are aligned in one column, and the texts are cut before that column.
        let keys_at = width.saturating_sub(shown.width() + 1);
        let column = width.saturating_sub(most + category + 2);
        let end = if category > 0 { column } else { keys_at };
        row.push(fit(entry.text.as_str(), end.saturating_sub(2)), style);
        if category > 0 {
            row.pad_to(column).push(fit(entry.category, category), theme.muted);
        }
        row.pad_to(keys_at).push(shown, theme.key);
        draw_line(frame, lines, n, row.line());
    }
    if left == 0 {
        draw_line(frame, text, 1, Line::styled("No matching command.", theme.muted));
    }
    draw_more_below(frame, view, area, palette.list.hidden_below(rows));
    // The search field has the cursor, even before something is typed.
    let field = Rect { height: text.height.min(1), ..text };
    cursor::place_in_corner(frame, field);
    if !palette.input.is_blank() {
        cursor::place_in_input(frame, view, field);
    }
}
