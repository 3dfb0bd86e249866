//! The keys of the moment at which help was asked for, from the one table.

use super::text::{Row, left};
use super::{View, boxed, put};
use crate::app::keymap::{self, Binding};
use crate::app::overlay::Help;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

const KEYS: usize = 24;

pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, help: &Help, area: Rect) {
    let theme = view.theme;
    let inner = boxed(frame, area, Line::styled(" Keys of this moment ", theme.title), theme.focus);
    let width = usize::from(inner.width);
    let rows = usize::from(inner.height);
    let lines = lines(view, help, width);
    let total = lines.len();
    for (n, line) in lines.into_iter().skip(help.scroll).take(rows).enumerate() {
        put(frame, inner, n, line);
    }
    let hidden = total.saturating_sub(help.scroll + rows);
    if hidden > 0 && area.height > 0 {
        let text = format!(" {hidden} more ↓ ");
        let cells = u16::try_from(text.chars().count()).unwrap_or(0);
        let spot = Rect::new(area.right().saturating_sub(cells + 2), area.bottom() - 1, cells, 1).intersection(area);
        frame.render_widget(Line::styled(text, theme.muted), spot);
    }
}

fn lines<'a>(view: View<'_>, help: &Help, width: usize) -> Vec<Line<'a>> {
    let theme = view.theme;
    let mut lines = Vec::new();
    for &context in &help.contexts {
        let rows: Vec<&Binding> = keymap::rows(&help.contexts).filter(|row| row.context == context).collect();
        if rows.is_empty() {
            continue;
        }
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        lines.push(Line::styled(format!(" {}", context.name().to_uppercase()), theme.muted));
        for binding in rows {
            let keys: Vec<String> = binding.keys.iter().map(ToString::to_string).collect();
            let mut row = Row::new(width);
            row.push("  ", theme.text).push(left(&keys.join("  "), KEYS), theme.key);
            row.push(" ", theme.text).push(binding.help, theme.text);
            lines.push(row.line());
        }
    }
    let own: Vec<_> = view.app.own_commands(&help.contexts).collect();
    if !own.is_empty() {
        lines.push(Line::default());
        lines.push(Line::styled(" YOUR COMMANDS", theme.muted));
    }
    for command in own {
        let mut row = Row::new(width);
        row.push("  ", theme.text).push(left(&command.key.to_string(), KEYS), theme.key);
        row.push(" ", theme.text).push(command.name.as_str(), theme.text);
        lines.push(row.line());
    }
    lines
}
