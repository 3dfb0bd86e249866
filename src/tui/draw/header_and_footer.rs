//! Draws the header (tabs, connection, limits) and the footer (keyboard shortcuts), with messages above the footer.

use super::rules::draw_rule;
use super::text::TextRow;
use crate::model::connection::ConnectionState;
use crate::model::job_state::NEEDS_YOU_SYMBOL;
use crate::model::team::TeamStatus;
use crate::tui::view::View;
use crate::tui::{Screen, Severity};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::Clear;
use unicode_width::UnicodeWidthStr;

pub(in crate::tui) fn draw_header(frame: &mut Frame<'_>, view: View<'_>, area: Rect) {
    let View { app, theme, now, .. } = view;
    let width = usize::from(area.width);
    let mut row = TextRow::new(width);
    let header = app.header(width, now);
    row.push(header.program_name, theme.title);
    if app.screen == Screen::Welcome {
        super::text::paint(frame.buffer_mut(), area, &row.line());
        return;
    }
    if let Some(name) = &header.profile {
        row.push(if header.program_name.is_empty() { " " } else { "  " }, theme.text).push(name, theme.muted);
    }
    for tab in &header.tabs {
        let current = tab.screen == app.screen;
        let style = if current { theme.mark.add_modifier(Modifier::UNDERLINED) } else { theme.muted };
        let (name, count) = tab.text.split_at(tab.text.find(NEEDS_YOU_SYMBOL).unwrap_or(tab.text.len()));
        let count_style = if current { theme.warning.add_modifier(Modifier::UNDERLINED) } else { theme.warning };
        row.pad_to(tab.start).push(name, style).push(count, count_style);
    }
    let budget = app.budget(app.quota_closest_to_limit());
    let parts = [
        Some((header.connection, connection_style(view))),
        header.team.map(|text| {
            (text, if matches!(app.team, TeamStatus::Offline { .. }) { theme.warning } else { theme.muted })
        }),
        header.limit.map(|text| (text, if budget.requests_left() == 0 { theme.warning } else { theme.muted })),
    ];
    let parts: Vec<(String, Style)> = parts.into_iter().flatten().filter(|(text, _)| !text.is_empty()).collect();
    let needed = parts.iter().map(|(text, _)| text.width() + 2).sum::<usize>();
    row.pad_to((width + 1).saturating_sub(needed));
    for (n, (text, style)) in parts.into_iter().enumerate() {
        row.push(if n == 0 { "" } else { "  " }, theme.text).push(text, style);
    }
    super::text::paint(frame.buffer_mut(), area, &row.line());
}

fn connection_style(view: View<'_>) -> Style {
    let theme = view.theme;
    match view.app.shown_connection(view.now) {
        ConnectionState::Unknown | ConnectionState::Connecting => theme.muted,
        ConnectionState::Ready => theme.good,
        ConnectionState::Offline { .. } | ConnectionState::KeyRefused { .. } => theme.bad,
        ConnectionState::Unusable { .. } | ConnectionState::Limited(_) => theme.warning,
    }
}

pub(in crate::tui) fn draw_footer(frame: &mut Frame<'_>, view: View<'_>, area: Rect) {
    let View { app, theme, .. } = view;
    let width = usize::from(area.width);
    let mut row = TextRow::new(width);
    if let Some(label) = app.marked_count_label() {
        row.push(label, theme.mark);
    }
    for hint in app.footer(width) {
        row.pad_to(hint.start).push(" ", theme.text);
        row.push(&hint.key, theme.key);
        row.push(format!(" {} ", hint.label), theme.muted);
    }
    super::text::paint(frame.buffer_mut(), area, &row.line());
    draw_messages(frame, view, width);
}

/// Draws messages over the last lines of the body, or inside its lower border.
fn draw_messages(frame: &mut Frame<'_>, view: View<'_>, width: usize) {
    let View { app, theme, .. } = view;
    let lines = app.message_lines(width);
    if lines.is_empty() {
        return;
    }
    let area = app.message_area(&lines);
    let style = match app.message().map(|message| message.severity) {
        Some(Severity::Info) => theme.title,
        Some(Severity::Success) => theme.good,
        Some(Severity::Warning) => theme.warning,
        Some(Severity::Error) => theme.bad,
        Some(Severity::Tip) | None => theme.muted,
    };
    if let [line] = lines.as_slice()
        && area.y == app.geometry().lower_rule().y
    {
        // The lower border of a tall dialog is in the same row as the lower rule. In that case, the message leaves the
        // corners of the border visible.
        let is_box = frame.buffer_mut().cell(area.as_position()).is_some_and(|cell| cell.symbol() == "└");
        let area = if is_box { Rect { x: area.x + 1, width: area.width.saturating_sub(2), ..area } } else { area };
        draw_rule(frame, view, area, Line::styled(line.trim_start(), style), Line::default());
        return;
    }
    view.kept_cells.mark_covered();
    frame.render_widget(Clear, area);
    for (rect, text) in area.rows().zip(lines) {
        let mut row = TextRow::new(width);
        row.push(text, style);
        super::text::paint(frame.buffer_mut(), rect, &row.line());
    }
}
