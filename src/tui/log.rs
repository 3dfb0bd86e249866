//! The log screen: the latest requests and state changes of jobs, the newest at the bottom. New entries scroll the
//! screen unless the user has scrolled up.

use super::draw::text::{TextRow, fit, left, right};
use super::draw::{draw_line, draw_more_below, draw_pane};
use super::format::{format_count, grouped_number};
use super::scroll::{self, page_step};
use crate::model::log::{LogEntry, LogKind};
use crate::tui::component::prelude::*;
use ratatui::style::Style;
use std::collections::VecDeque;

const MAX_LOG_ENTRIES: usize = 500;

#[derive(Debug, Default)]
pub struct LogScreen {
    entries: VecDeque<LogEntry>,
    top: usize,
    /// Whether the user has scrolled up, so that new entries don't move the visible ones.
    is_pinned: bool,
}

impl LogScreen {
    /// Adds an entry. If the log is full, drops the oldest entry.
    pub fn push(&mut self, entry: LogEntry) {
        self.entries.push_back(entry);
        if self.entries.len() > MAX_LOG_ENTRIES {
            self.entries.pop_front();
            if self.is_pinned {
                self.top = self.top.saturating_sub(1);
            }
        }
    }

    /// Sorts the `older` entries by time and inserts them before the current entries. If not all of them fit, leaves
    /// out the oldest.
    pub fn prepend(&mut self, mut older: Vec<LogEntry>) {
        older.sort_by_key(|entry| entry.at);
        for entry in older.into_iter().rev().take(MAX_LOG_ENTRIES.saturating_sub(self.entries.len())) {
            self.entries.push_front(entry);
        }
    }

    pub fn len(&self) -> usize {
        self.entries.len()
    }

    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the entries that are visible on a screen with `rows` lines.
    pub fn visible(&self, rows: usize) -> impl Iterator<Item = &LogEntry> {
        self.entries.iter().skip(self.first_visible(rows)).take(rows)
    }

    /// Returns the index of the first visible entry on a screen with `rows` lines.
    pub fn first_visible(&self, rows: usize) -> usize {
        let end = self.entries.len().saturating_sub(rows);
        if self.is_pinned { self.top.min(end) } else { end }
    }

    pub fn scroll_by(&mut self, by: isize, rows: usize) {
        let end = self.entries.len().saturating_sub(rows);
        let top = scroll::move_within(self.first_visible(rows), by, end + 1);
        self.top = top;
        self.is_pinned = top < end;
    }
}

/// The log screen. Its entries are in [`App::log`], because they arrive while other screens are shown.
#[derive(Debug)]
pub struct LogComponent;

impl Component for LogComponent {
    fn context(&self) -> Context {
        Context::Lists
    }

    fn scroll(&mut self, by: Scroll, cx: &mut Cx<'_>) {
        let rows = cx.app.log_rows();
        let lines = match by {
            Scroll::By(n) => n,
            Scroll::Page(n) => n.saturating_mul(page_step(rows)),
            Scroll::Top => isize::MIN / 2,
            Scroll::Bottom => isize::MAX / 2,
        };
        cx.app.log.scroll_by(lines, rows);
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let View { app, theme, .. } = view;
        let area = app.geometry().body;
        let entries = if app.log.len() == 1 { "entry" } else { "entries" };
        let title = format!(" Log: {} {entries} (max {}) ", format_count(app.log.len()), MAX_LOG_ENTRIES);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::log::LogKind;
    use crate::model::text::CleanText;
    use crate::tui::jobs::tests::at;

    fn entry(n: i64) -> LogEntry {
        LogEntry { at: at(n), subject: CleanText::line("job"), kind: LogKind::Note(CleanText::line("x")) }
    }

    #[test]
    fn a_full_log_drops_its_oldest_entries() {
        let mut log = LogScreen::default();
        (0..600).for_each(|n| log.push(entry(n)));
        assert_eq!(log.len(), MAX_LOG_ENTRIES);
        assert_eq!(log.visible(600).next().map(|e| e.at), Some(at(100)));
    }

    #[test]
    fn new_entries_do_not_move_the_visible_ones_after_scrolling_up() {
        let mut log = LogScreen::default();
        (0..100).for_each(|n| log.push(entry(n)));
        log.scroll_by(-20, 10);
        let read = log.visible(10).next().map(|e| e.at);
        (100..120).for_each(|n| log.push(entry(n)));
        assert_eq!(log.visible(10).next().map(|e| e.at), read);
        log.scroll_by(isize::MAX, 10);
        log.push(entry(120));
        assert_eq!(log.visible(10).last().map(|e| e.at), Some(at(120)));
    }
}
