//! The keys of the moment at which help was asked for, from the one table.

use super::text::{Row, fit, left};
use super::{View, boxed, more_below, put};
use crate::app::help::{HelpLine, key_columns};
use crate::app::overlay::Help;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, help: &Help, area: Rect) {
    let theme = view.theme;
    let inner = boxed(frame, area, Line::styled(" Keys of this moment ", theme.title), theme.focus);
    let width = usize::from(inner.width);
    let rows = usize::from(inner.height);
    let lines = view.app.help_lines(&help.contexts, width);
    for (n, text) in lines.iter().skip(help.scroll).take(rows).enumerate() {
        put(frame, inner, n, line(view, text, width));
    }
    more_below(frame, view, area, lines.len().saturating_sub(help.scroll + rows));
}

fn line<'a>(view: View<'_>, line: &HelpLine, width: usize) -> Line<'a> {
    let theme = view.theme;
    match line {
        HelpLine::Gap => Line::default(),
        HelpLine::Heading(text) => Line::styled(fit(&format!(" {text}"), width), theme.muted),
        HelpLine::Key(keys, text) => {
            let mut row = Row::new(width);
            row.push("  ", theme.text).push(left(keys, key_columns(width)), theme.key);
            row.push(" ", theme.text).push(text.as_str(), theme.text);
            row.line()
        }
    }
}
