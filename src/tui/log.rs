//! The log screen: the latest requests and state changes of jobs, the newest at the bottom. New entries scroll the
//! screen unless the user has scrolled up.
//!
//! ```text
//!  time        kind     message                                                     ms
//!  14:02:11    request  get       200  Fix broken links in /api                     28
//!  14:02:13  • change   Fix broken links in /api · working → completed
//! ```

use super::format::{format_count, grouped_number, position_text, truncate_title};
use super::geometry::{row_capacity, without_top_rows};
use super::log_entries::{LogLine, MAX_LOG_ENTRIES};
use super::widgets::table::{Column, ListCell, ListRow, Table, TableCell};
use crate::model::log::{LogEntry, LogKind, Operation};
use crate::model::pull_request::PullRequestLink;
use crate::model::text::CleanText;
use crate::tui::component::prelude::*;
use crate::tui::draw::Theme;
use crate::tui::draw::boxes::draw_line;
use crate::tui::draw::cursor;
use crate::tui::draw::rules::draw_rule;
use crate::tui::draw::text::align_left;
use crate::tui::widgets::scroll::page_step;
use ratatui::style::Style;
use ratatui::text::Span;
use std::borrow::Cow;
use unicode_width::UnicodeWidthStr as _;

/// The log screen. Its entries are in [`App::log`], because they arrive while other screens are shown.
#[derive(Debug)]
pub struct LogScreen;

impl App {
    /// Returns the number of visible rows of the log. Rows that a message covers don't count, so the newest lines are
    /// shown above the message.
    pub fn visible_log_rows(&self) -> usize {
        self.rows_not_covered_by_message(without_top_rows(self.geometry().content, 1))
    }
}

impl Component for LogScreen {
    fn contexts(&self) -> &'static [Context] {
        &[Context::Lists, Context::Everywhere]
    }

    fn footer_label(&self, action: Action, _app: &App) -> Option<FooterLabel> {
        FooterLabel::default_if(action != Action::Close)
    }

    fn close(&mut self, _cx: &mut Cx<'_>) -> Flow {
        Flow::Unhandled
    }

    fn scroll(&mut self, by: Scroll, cx: &mut Cx<'_>) {
        let rows = cx.app.visible_log_rows();
        let lines = match by {
            Scroll::By(n) => n,
            Scroll::Page(n) => n.saturating_mul(page_step(rows)),
            Scroll::Top => isize::MIN / 2,
            Scroll::Bottom => isize::MAX / 2,
        };
        cx.app.log.scroll_by(lines, rows);
    }

    /// Returns the position of the last visible entry.
    fn position_text(&self, app: &App) -> String {
        // Also counts the rows that a message covers, because the space for the message depends on this text.
        let lines = log_lines(app, row_capacity(without_top_rows(app.geometry().content, 1)));
        let last = lines.iter().rev().find_map(|line| match line {
            LogLine::Entry(n, _) => Some(*n),
            LogLine::Day(_) => None,
        });
        last.map_or_else(String::new, |last| position_text(last, app.log.len(), app.log.len() - last - 1))
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let View { app, theme, .. } = view;
        let g = app.geometry();
        let area = g.content;
        let is_full = app.log.len() >= MAX_LOG_ENTRIES;
        let limit = if is_full { format!("newest {} entries", format_count(MAX_LOG_ENTRIES)) } else { String::new() };
        draw_rule(frame, view, g.upper_rule(), Line::styled("Log", theme.focus), Line::styled(limit, theme.muted));
        draw_rule(frame, view, g.lower_rule(), Line::default(), Line::styled(self.position_text(app), theme.muted));
        cursor::place_cursor_in_corner(frame, area);
        if app.log.is_empty() {
            draw_line(frame, area, 1, Line::styled("  No requests yet.", theme.muted));
            return;
        }
        let table = log_table(usize::from(area.width));
        draw_line(frame, area, 0, table.headings(theme.muted));
        for (n, line) in log_lines(app, app.visible_log_rows()).into_iter().enumerate() {
            let line = match line {
                LogLine::Day(day) => Line::styled(day.format(" %A, %-d %B").to_string(), theme.title),
                LogLine::Entry(_, entry) => table.row(view, entry, false),
            };
            draw_line(frame, area, n + 1, line);
        }
    }
}

fn log_lines(app: &App, rows: usize) -> Vec<LogLine<'_>> {
    let offset = app.config.offset;
    app.log.lines(rows, offset, app.updated_at.with_timezone(&offset).date_naive())
}

/// How important an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LogLevel {
    /// A request that failed.
    Error,
    /// A request with a success status whose response has a problem.
    Warning,
    /// A change of a job.
    Change,
    Note,
    Request,
}

impl LogLevel {
    fn of(entry: &LogEntry) -> Self {
        match &entry.kind {
            LogKind::Request { status, reason, .. } | LogKind::HostRequest { status, reason, .. } => {
                match (status, reason) {
                    (Some(200..300 | 304), None) => Self::Request,
                    (Some(200..300 | 304), Some(_)) => Self::Warning,
                    _ => Self::Error,
                }
            }
            LogKind::Transition(_) => Self::Change,
            LogKind::Note(_) => Self::Note,
        }
    }

    fn symbol_and_word(self) -> (&'static str, &'static str) {
        match self {
            Self::Error => ("✗", "error"),
            Self::Warning => ("!", "warning"),
            Self::Change => ("→", "change"),
            Self::Note => ("·", "note"),
            Self::Request => (" ", "request"),
        }
    }

    fn style(self, theme: &Theme) -> Style {
        match self {
            Self::Error => theme.bad,
            Self::Warning => theme.warning,
            Self::Change => theme.working,
            Self::Note | Self::Request => theme.muted,
        }
    }
}

/// Minimum width at which the log shows the kinds in words and the durations of requests.
const MIN_WIDTH_WITH_DURATION: usize = 60;
/// Maximum width of the messages, so that the durations are close to them.
const MAX_MESSAGE_CELLS: usize = 96;
/// The start of the text of a change that added a pull request. The link follows.
const PULL_REQUEST_PREFIX: &str = "pull request ";
/// Width of the column with the kind in words.
const KIND_CELLS: usize = 9;
/// Minimum width of the message column at which the job titles are aligned.
const MIN_ALIGNED_MESSAGE_CELLS: usize = 36;
/// Width of the name of the operation. It is fixed, so that the job titles are aligned.
const OPERATION_CELLS: usize = 9;

type LogRow<'a> = ListRow<'a, LogEntry>;

fn log_table(width: usize) -> Table<ListCell<LogEntry>> {
    type C = Column<ListCell<LogEntry>>;
    let is_narrow = width < MIN_WIDTH_WITH_DURATION;
    let duration = (!is_narrow).then(|| {
        C::right_aligned("ms", 7, |row, _| match &row.item.kind {
            LogKind::Request { millis, .. } | LogKind::HostRequest { millis, .. } => {
                row.muted_cell(grouped_number(*millis))
            }
            _ => row.muted_cell(""),
        })
        .with_gap_before(2)
    });
    let columns = [
        C::left_aligned(" time", if is_narrow { 6 } else { 9 }, |row, width| {
            let format = if width < 9 { " %H:%M" } else { " %H:%M:%S" };
            row.muted_cell(row.item.at.with_timezone(&row.view.app.config.offset).format(format).to_string())
        }),
        if is_narrow { C::left_aligned("", 1, level_cell) } else { C::left_aligned("  kind", KIND_CELLS, level_cell) }
            .with_gap_before(2),
        C::flexible("message", 8, message_cell).with_gap_before(2).with_max_width(MAX_MESSAGE_CELLS),
    ];
    // One cell at the right stays blank.
    Table::new(columns.into_iter().chain(duration), width.saturating_sub(1))
}

fn level_cell<'a>(row: &LogRow<'a>, width: usize) -> TableCell<'a> {
    let level = LogLevel::of(row.item);
    let (symbol, word) = level.symbol_and_word();
    let text = if width < KIND_CELLS { symbol.to_owned() } else { format!("{symbol} {word}") };
    TableCell::new(text, level.style(row.view.theme))
}

/// Returns the message of an entry. For a request: the operation, the HTTP status, the subject, and the reason of a
/// failure. For other entries: the subject and the text.
fn message_cell<'a>(row: &LogRow<'a>, width: usize) -> TableCell<'a> {
    let (theme, level) = (row.view.theme, LogLevel::of(row.item));
    let subject = row.item.subject.as_str();
    let request = |operation: &str, status: &Option<u16>, reason: &'a Option<CleanText>| {
        let status = align_left(&status.map_or_else(|| "–".to_owned(), |status| status.to_string()), 3);
        let reason = reason.as_ref().map(CleanText::as_str).unwrap_or_default();
        let style = if level == LogLevel::Request { theme.muted } else { theme.text };
        let dot = if reason.is_empty() { "" } else { " · " };
        let (cells, gap) =
            if width < MIN_ALIGNED_MESSAGE_CELLS { (operation.width(), " ") } else { (OPERATION_CELLS, "  ") };
        TableCell::Spans(vec![
            Span::styled(align_left(operation, cells), style),
            Span::styled(format!("{gap}{status}"), level.style(theme)),
            Span::styled(format!("{gap}{subject}"), style),
            Span::styled(dot, theme.muted),
            Span::styled(reason, level.style(theme)),
        ])
    };
    match &row.item.kind {
        // A follow-up has another name in the log file: `message`, the last part of the URL.
        LogKind::Request { operation: Operation::FollowUp, status, reason, .. } => request("follow-up", status, reason),
        LogKind::Request { operation, status, reason, .. } => request(operation.name(), status, reason),
        LogKind::HostRequest { status, reason, .. } => request("host", status, reason),
        LogKind::Transition(text) | LogKind::Note(text) => {
            let text = shortened_change_text(text.as_str());
            // If space is short, the title is cut, not the text about the change.
            let subject = truncate_title(subject, width.saturating_sub(3 + text.width().min(width / 2)));
            let style = if level == LogLevel::Change { theme.text } else { theme.muted };
            let dot = if subject.is_empty() || text.is_empty() { "" } else { " · " };
            TableCell::Spans(vec![
                Span::styled(subject, style),
                Span::styled(dot, theme.muted),
                Span::styled(text, level.style(theme)),
            ])
        }
    }
}

/// Returns the text of a change. Replaces the link of a pull request by its number, because a long link would be cut
/// off. If the link has no number, removes its `https://`.
fn shortened_change_text(text: &str) -> Cow<'_, str> {
    let Some(link) = text.strip_prefix(PULL_REQUEST_PREFIX) else { return text.into() };
    match PullRequestLink::parse(link) {
        Some(parsed) => format!("{PULL_REQUEST_PREFIX}#{}", parsed.number).into(),
        None => format!("{PULL_REQUEST_PREFIX}{}", link.strip_prefix("https://").unwrap_or(link)).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_one_operation_has_a_name_that_is_cut() {
        let cut: Vec<&str> =
            Operation::ALL.map(Operation::name).into_iter().filter(|n| n.len() > OPERATION_CELLS).collect();
        assert_eq!(cut, ["feedback-by-page"]);
    }

    #[test]
    fn a_pull_request_is_named_by_its_number_if_its_link_is_known() {
        for (text, shown) in [
            ("pull request https://github.com/acme/docs/pull/7", "pull request #7"),
            ("pull request https://git.corp/web/docs/-/merge_requests/8", "pull request #8"),
            ("pull request https://bitbucket.org/acme/docs/9", "pull request bitbucket.org/acme/docs/9"),
            ("working → completed", "working → completed"),
        ] {
            assert_eq!(shortened_change_text(text), shown);
        }
    }
}
