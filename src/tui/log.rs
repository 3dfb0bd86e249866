//! The log screen: the latest requests and state changes of jobs, the newest at the bottom. New entries scroll the
//! screen unless the user has scrolled up.

use super::format::{format_count, grouped_number, position_text};
use super::geometry::{below, row_capacity};
use super::log_entries::MAX_LOG_ENTRIES;
use super::widgets::table::{Column, ListCell, ListRow, Table, TableCell};
use crate::model::log::{LogEntry, LogKind};
use crate::tui::component::prelude::*;
use crate::tui::draw::boxes::draw_line;
use crate::tui::draw::cursor;
use crate::tui::draw::rules::draw_rule;
use crate::tui::widgets::scroll::page_step;

/// The log screen. Its entries are in [`App::log`], because they arrive while other screens are shown.
#[derive(Debug)]
pub struct LogComponent;

impl App {
    /// Returns the number of visible rows of the log. Rows that a message covers don't count, so the newest lines are
    /// shown above the message.
    pub fn log_rows(&self) -> usize {
        self.uncovered_rows(below(self.geometry().content, 1))
    }
}

impl Component for LogComponent {
    fn contexts(&self) -> &'static [Context] {
        &[Context::Lists, Context::Everywhere]
    }

    fn footer_label(&self, action: Action, _app: &App) -> Option<Label> {
        Label::default_if(action != Action::Close)
    }

    fn close(&mut self, _cx: &mut Cx<'_>) -> Flow {
        Flow::Pass
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

    /// Returns the position of the last visible entry.
    fn position_text(&self, app: &App) -> String {
        // A message may cover some of the rows.
        let (rows, total) = (row_capacity(below(app.geometry().content, 1)), app.log.len());
        let shown = (app.log.first_visible(rows) + rows).min(total);
        if total == 0 { String::new() } else { position_text(shown.saturating_sub(1), total, total - shown) }
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let View { app, theme, .. } = view;
        let g = app.geometry();
        let area = g.content;
        let limit = format!("newest {} entries", format_count(MAX_LOG_ENTRIES));
        draw_rule(frame, view, g.upper_rule(), Line::styled("Log", theme.focus), Line::styled(limit, theme.muted));
        draw_rule(frame, view, g.lower_rule(), Line::default(), Line::styled(self.position_text(app), theme.muted));
        cursor::place_in_corner(frame, area);
        if app.log.is_empty() {
            draw_line(frame, area, 1, Line::styled("  No requests yet.", theme.muted));
            return;
        }
        let table = log_table(usize::from(area.width));
        draw_line(frame, area, 0, table.headings(theme.muted));
        for (n, entry) in app.log.visible(app.log_rows()).enumerate() {
            draw_line(frame, area, n + 1, table.row(view, entry, false));
        }
    }
}

/// Minimum width at which all columns are shown. In a narrower table, the subject and the result share a column.
const MIN_WIDTH_ALL_COLUMNS: usize = 60;

type LogRow<'a> = ListRow<'a, LogEntry>;

fn log_table(width: usize) -> Table<ListCell<LogEntry>> {
    type C = Column<ListCell<LogEntry>>;
    let mut columns = vec![
        C::left(" time", 10, |row, _| {
            row.muted(row.item.at.with_timezone(&row.view.app.config.offset).format(" %H:%M:%S").to_string())
        }),
        C::left("what", 10, operation_cell),
        C::left("status", 6, status_cell),
    ];
    if width < MIN_WIDTH_ALL_COLUMNS {
        columns.push(
            C::flexible("details", 0, |row, _| result_cell(row).unwrap_or_else(|| subject_cell(row))).after_gap(2),
        );
    } else {
        let subject = ((width - 37) * 2 / 5).min(40);
        columns.extend([
            C::right("ms", 9, |row, _| match &row.item.kind {
                LogKind::Request { millis, .. } | LogKind::HostRequest { millis, .. } => {
                    row.muted(grouped_number(*millis))
                }
                _ => row.muted(""),
            }),
            // An entry without a result uses the full width for its subject.
            C::left("about", subject - 1, |row, _| match result_cell(row) {
                Some(_) => subject_cell(row),
                None => TableCell::Overflowing(row.item.subject.as_str().into(), row.view.theme.text),
            })
            .after_gap(2),
            C::flexible("result", 0, |row, _| result_cell(row).unwrap_or_else(|| row.muted(""))).after_gap(1),
        ]);
    }
    Table::new(columns, width)
}

fn operation_cell<'a>(row: &LogRow<'a>, _width: usize) -> TableCell<'a> {
    match &row.item.kind {
        LogKind::Request { operation, .. } => row.cell(operation.name()),
        LogKind::HostRequest { .. } => row.cell("host"),
        LogKind::Transition(_) => TableCell::new("change", row.view.theme.working),
        LogKind::Note(_) => row.muted("note"),
    }
}

fn status_cell<'a>(row: &LogRow<'a>, _width: usize) -> TableCell<'a> {
    let theme = row.view.theme;
    let status = match &row.item.kind {
        LogKind::Request { status, .. } | LogKind::HostRequest { status, .. } => status,
        LogKind::Transition(_) | LogKind::Note(_) => return row.muted(""),
    };
    match status {
        Some(status @ 200..300) => TableCell::new(status.to_string(), theme.good),
        Some(status) => TableCell::new(status.to_string(), theme.bad),
        None => TableCell::new("–", theme.bad),
    }
}

fn subject_cell<'a>(row: &LogRow<'a>) -> TableCell<'a> {
    row.cell(row.item.subject.as_str())
}

fn result_cell<'a>(row: &LogRow<'a>) -> Option<TableCell<'a>> {
    let theme = row.view.theme;
    let (text, style) = match &row.item.kind {
        LogKind::Request { reason, .. } | LogKind::HostRequest { reason, .. } => (reason.as_ref()?, theme.warning),
        LogKind::Transition(text) => (text, theme.text),
        LogKind::Note(text) => (text, theme.muted),
    };
    (!text.as_str().is_empty()).then(|| TableCell::new(text.as_str(), style))
}
