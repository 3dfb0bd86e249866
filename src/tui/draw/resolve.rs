//! Draws the dialog about an undelivered prompt.

use super::text::TextRow;
use super::{View, draw_box, draw_line};
use crate::tui::detail::kind_text;
use crate::tui::dialog::UndeliveredDialog;
use crate::tui::resolve::{INDENT, UndeliveredLine};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

pub(in crate::tui) fn draw(frame: &mut Frame<'_>, view: View<'_>, resolve: &UndeliveredDialog, area: Rect) {
    let theme = view.theme;
    let title = format!(" {}: {} ", kind_text(resolve.prompt.kind), resolve.prompt.delivery.kind().word());
    let inner = draw_box(frame, area, Line::styled(title, theme.title), theme.focus);
    let text = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
    let width = usize::from(text.width);
    let lines = view.app.undelivered_lines(resolve, width);
    let rows = usize::from(text.height);
    for (n, line) in lines.iter().skip(resolve.scroll).take(rows).enumerate() {
        let mut row = TextRow::new(width);
        match line {
            UndeliveredLine::Heading(text) => row.push(text, theme.title),
            UndeliveredLine::Text(text) => row.push(text, theme.text),
            UndeliveredLine::Warning(text) => row.push(text, theme.warning),
            UndeliveredLine::Muted(text) => row.push(text, theme.muted),
            UndeliveredLine::Choice(key, name) => row.push(key, theme.key).pad_to(INDENT).push(name, theme.text),
            UndeliveredLine::Meaning(text) => row.pad_to(INDENT).push(text, theme.muted),
        };
        draw_line(frame, text, n, row.line());
    }
    super::draw_more_below(frame, view, area, lines.len().saturating_sub(resolve.scroll + rows));
}
