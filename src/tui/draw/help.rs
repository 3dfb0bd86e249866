//! Draws the help: the keyboard shortcuts of the contexts that were active when the help was opened, then the symbols
//! of the jobs list.

use super::text::{TextRow, fit, left};
use super::{View, cursor, draw_box, draw_line, draw_more_below};
use crate::tui::help::{Help, HelpLine};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;

pub(in crate::tui) fn draw(frame: &mut Frame<'_>, view: View<'_>, help: &Help, area: Rect) {
    let theme = view.theme;
    let inner = draw_box(frame, area, Line::styled(" Keyboard shortcuts ", theme.title), theme.focus);
    let width = usize::from(inner.width);
    let body = draw_help_search(frame, view, help, inner);
    let rows = usize::from(body.height);
    let lines = view.app.help_lines(help, width);
    let keys = view.app.help_key_column_width(help, width);
    for (n, text) in lines.iter().skip(help.scroll).take(rows).enumerate() {
        draw_line(frame, body, n, help_line(view, text, (keys, width)));
    }
    if lines.is_empty() {
        draw_line(frame, body, 1, Line::styled(fit("  No match.", width), theme.muted));
    }
    draw_more_below(frame, view, area, lines.len().saturating_sub(help.scroll + rows));
}

/// Draws the search line if there is a search, and returns the area below it.
fn draw_help_search(frame: &mut Frame<'_>, view: View<'_>, help: &Help, inner: Rect) -> Rect {
    let theme = view.theme;
    let Some(query) = help.query().filter(|_| inner.width > 3 && inner.height > 1) else { return inner };
    draw_line(frame, inner, 0, Line::styled(" /", theme.key));
    let field = Rect { x: inner.x + 2, width: inner.width - 3, height: 1, ..inner };
    if help.is_typing() {
        frame.render_widget(query.area(), field);
        cursor::place_in_input(frame, view, field);
    } else {
        frame.render_widget(Line::styled(fit(&query.text(), usize::from(field.width)), theme.text), field);
    }
    Rect { y: inner.y + 1, height: inner.height - 1, ..inner }
}

fn help_line<'a>(view: View<'_>, line: &HelpLine, (key_columns, width): (usize, usize)) -> Line<'a> {
    let theme = view.theme;
    match line {
        HelpLine::Gap => Line::default(),
        HelpLine::Heading(text) => Line::styled(fit(&format!(" {text}"), width), theme.muted),
        HelpLine::Key(keys, text) => {
            let mut row = TextRow::new(width);
            row.push("  ", theme.text).push(left(keys, key_columns), theme.key);
            row.push(" ", theme.text).push(text.as_str(), theme.text);
            row.line()
        }
    }
}
