//! Draws the log screen: requests and transitions, the newest at the bottom.

use super::text::{TextRow, fit, left, right};
use super::{View, draw_line, draw_more_below, draw_pane};
use crate::model::log::{LogEntry, LogKind};
use crate::tui::format::{format_count, grouped_number};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;

pub(in crate::tui) fn draw(frame: &mut Frame<'_>, view: View<'_>, area: Rect) {
    let View { app, theme, .. } = view;
    let entries = if app.log.len() == 1 { "entry" } else { "entries" };
    let title = format!(" Log: {} {entries} (max {}) ", format_count(app.log.len()), crate::tui::log::MAX_LOG_ENTRIES);
    let title = Line::styled(title, theme.title);
    let inner = draw_pane(frame, area, &title, theme.focus);
    let width = usize::from(inner.width);
    if app.log.is_empty() {
        draw_line(frame, inner, 1, Line::styled("  No requests yet.", theme.muted));
        return;
    }
    let columns = LogColumns::fitting(width);
    draw_line(frame, inner, 0, columns.heads(view));
    let rows = app.log_rows();
    for (n, entry) in app.log.visible(rows).enumerate() {
        draw_line(frame, inner, n + 1, columns.entry(view, entry));
    }
    draw_more_below(frame, view, area, app.log.len().saturating_sub(app.log.first_visible(rows) + rows));
}

#[derive(Debug, Clone, Copy)]
struct LogColumns {
    width: usize,
    /// Width of the milliseconds column; 0 in a narrow terminal.
    millis: usize,
    /// Width of the subject column; 0 if subject and result share one column.
    subject: usize,
}

const TIME_CELLS: usize = 10;
const OPERATION_CELLS: usize = 9;
const STATUS_CELLS: usize = 6;
const MILLIS_CELLS: usize = 9;
/// Minimum width at which all columns are shown.
const MIN_WIDTH_ALL_COLUMNS: usize = 60;

impl LogColumns {
    fn fitting(width: usize) -> Self {
        let millis = if width < MIN_WIDTH_ALL_COLUMNS { 0 } else { MILLIS_CELLS };
        let space = width.saturating_sub(TIME_CELLS + OPERATION_CELLS + STATUS_CELLS + millis + 3);
        Self { width, millis, subject: if width < MIN_WIDTH_ALL_COLUMNS { 0 } else { (space / 2).min(40) } }
    }

    fn heads<'a>(&self, view: View<'_>) -> Line<'a> {
        let muted = view.theme.muted;
        let mut row = TextRow::new(self.width);
        row.push(left(" time", TIME_CELLS), muted).push(left("what", OPERATION_CELLS), muted);
        row.push(left("status", STATUS_CELLS), muted);
        row.push(right(if self.millis > 0 { "ms" } else { "" }, self.millis), muted).push("  ", muted);
        if self.subject > 0 {
            row.push(left("about", self.subject), muted).push("result", muted);
        } else {
            row.push("details", muted);
        }
        row.line()
    }

    fn entry<'a>(&self, view: View<'_>, entry: &LogEntry) -> Line<'a> {
        let theme = view.theme;
        let at = entry.at.with_timezone(&view.app.config.offset).format(" %H:%M:%S");
        let mut row = TextRow::new(self.width);
        row.push(left(&at.to_string(), TIME_CELLS), theme.muted);
        // An entry without a result uses the full width for its subject.
        let push_result = |row: &mut TextRow<'a>, result: &str, style: Style| {
            row.push("  ", theme.text);
            match (self.subject, result) {
                (_, "") => row.push(fit(entry.subject.as_str(), row.remaining()), theme.text),
                (0, _) => row.push(fit(result, row.remaining()), style),
                (cells, _) => row.push(left(entry.subject.as_str(), cells - 1), theme.text).push(" ", theme.text),
            };
            if self.subject > 0 && !result.is_empty() {
                row.push(result, style);
            }
        };
        match &entry.kind {
            LogKind::Request { operation, status, millis, reason } => {
                let code = status.map_or_else(|| "–".to_owned(), |status| status.to_string());
                let style = match status {
                    Some(200..300) => theme.good,
                    _ => theme.bad,
                };
                row.push(left(operation.name(), OPERATION_CELLS), theme.text).push(left(&code, STATUS_CELLS), style);
                row.push(
                    if self.millis > 0 { right(&grouped_number(*millis), self.millis) } else { String::new() },
                    theme.muted,
                );
                let reason = reason.as_ref().map(|reason| reason.as_str()).unwrap_or_default();
                push_result(&mut row, reason, theme.warning);
            }
            LogKind::Transition(text) => {
                row.push(left("change", OPERATION_CELLS), theme.working);
                row.push(left("", STATUS_CELLS + self.millis), theme.text);
                push_result(&mut row, text.as_str(), theme.text);
            }
            LogKind::Note(text) => {
                row.push(left("note", OPERATION_CELLS), theme.muted);
                row.push(left("", STATUS_CELLS + self.millis), theme.text);
                push_result(&mut row, text.as_str(), theme.muted);
            }
        }
        row.line()
    }
}
