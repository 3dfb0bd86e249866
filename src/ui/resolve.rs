//! The page about an undelivered prompt.

use super::text::TextRow;
use super::{View, boxed, put};
use crate::app::detail::kind_text;
use crate::app::dialog::UndeliveredDialog;
use crate::app::resolve::{INDENT, ResolveLine};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, resolve: &UndeliveredDialog, area: Rect) {
    let theme = view.theme;
    let title = format!(" {}: {} ", kind_text(resolve.prompt.kind), resolve.prompt.delivery.kind().word());
    let inner = boxed(frame, area, Line::styled(title, theme.title), theme.focus);
    let text = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
    let width = usize::from(text.width);
    let lines = view.app.resolve_lines(resolve, width);
    let rows = usize::from(text.height);
    for (n, line) in lines.iter().skip(resolve.scroll).take(rows).enumerate() {
        let mut row = TextRow::new(width);
        match line {
            ResolveLine::Heading(text) => row.push(text, theme.title),
            ResolveLine::Text(text) => row.push(text, theme.text),
            ResolveLine::Warning(text) => row.push(text, theme.warning),
            ResolveLine::Muted(text) => row.push(text, theme.muted),
            ResolveLine::Choice(key, name) => row.push(key, theme.key).to(INDENT).push(name, theme.text),
            ResolveLine::Meaning(text) => row.to(INDENT).push(text, theme.muted),
        };
        put(frame, text, n, row.line());
    }
    super::more_below(frame, view, area, lines.len().saturating_sub(resolve.scroll + rows));
}
