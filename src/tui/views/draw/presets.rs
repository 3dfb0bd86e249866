//! Draws the line with the range and the names of the presets beside it.

use crate::tui::draw::text::TextRow;
use crate::tui::view::View;
use ratatui::text::Line;

pub(in crate::tui) fn presets_line<'a>(view: View<'_>, width: usize) -> Line<'a> {
    let View { app, theme, now } = view;
    let mut row = TextRow::new(width);
    let (range, names) = app.range_line(width, now);
    row.push(range, theme.title);
    for name in names {
        let gap = name.start_column.saturating_sub(width - row.remaining());
        row.push(" ".repeat(gap), theme.muted);
        row.push(name.text, if name.is_current { theme.mark } else { theme.muted });
    }
    row.line()
}
