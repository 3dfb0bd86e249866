//! Draws the export dialog: which pages to export, in which format and to where, and what the result will be.
//!
//! ```text
//! ┌ Export page views, 2026-11-14 … 2026-11-20 ┐
//! │▌what  [as shown]  all pages                │
//! │ as    [CSV]  JSON  Markdown                │
//! │ to    [a file]  the clipboard              │
//! │                                            │
//! │ docdeck-views-2026-11-14_2026-11-20.csv    │
//! │ 50 pages, in the current folder.           │
//! ```

use crate::tui::draw::text::{TextRow, fit, left};
use crate::tui::draw::{View, draw_box, draw_line};
use crate::tui::format::plural;
use crate::tui::views::export::{ExportDialog, ExportLine, ExportTarget, LABEL_WIDTH, ROWS};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Wrap};
use unicode_width::UnicodeWidthStr;

pub(in crate::tui::draw) fn draw(frame: &mut Frame<'_>, view: View<'_>, open: &ExportDialog, area: Rect) {
    let theme = view.theme;
    let inner = open.area(area);
    let title = export_title(open, usize::from(inner.width).saturating_sub(2));
    let inner = draw_box(frame, inner, Line::styled(title, theme.title), theme.focus);
    for (n, part) in ExportLine::ALL.into_iter().enumerate() {
        draw_line(frame, inner, n, choice_line(view, open, part, usize::from(inner.width)));
    }
    let head = inner.height.min(if inner.height < ROWS { 3 } else { 4 });
    let below =
        Rect { x: inner.x + 1, y: inner.y + head, width: inner.width.saturating_sub(2), height: inner.height - head };
    if let Some(refused) = &open.problem {
        frame.render_widget(Paragraph::new(Line::styled(refused, theme.warning)).wrap(Wrap { trim: true }), below);
        return;
    }
    let pages = plural(open.page_count, "page");
    let mut lines = match open.target {
        ExportTarget::File => vec![
            Line::styled(open.file_name.clone(), theme.title),
            Line::styled(format!("{pages} to the current folder."), theme.text),
        ],
        ExportTarget::Clipboard => vec![Line::styled(format!("{pages} to your terminal's clipboard."), theme.text)],
    };
    lines.extend(open.notes.iter().map(|note| Line::styled(note.clone(), theme.warning)));
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: true }), below);
}

/// Returns the title, in the longest form that fits. Every form contains the range.
fn export_title(open: &ExportDialog, width: usize) -> String {
    let (range, compared) = open.ranges;
    let labelled = compared.map(|ranges| format!(" Export {range}: {} ", ranges.label(range)));
    let dated = compared.map(|ranges| format!(" Export {range}: {} ", ranges.dates()));
    let forms = [labelled, dated, Some(format!(" Export page views, {range} ")), Some(format!(" Export {range} "))];
    forms.into_iter().flatten().find(|form| form.width() <= width).unwrap_or_else(|| range.to_string())
}

/// Returns the line of one choice, with the chosen value in brackets.
fn choice_line<'a>(view: View<'_>, open: &ExportDialog, part: ExportLine, width: usize) -> Line<'a> {
    let theme = view.theme;
    let label = match part {
        ExportLine::Rows => "what",
        ExportLine::Format => "as",
        ExportLine::Target => "to",
    };
    let is_selected = part == open.line;
    let mut row = TextRow::new(width);
    row.push(if is_selected { "▌" } else { " " }, theme.mark);
    row.push(left(label, LABEL_WIDTH - 1), if is_selected { theme.selected } else { theme.muted });
    for (name, chosen) in open.choices(part) {
        let (text, style) = if chosen { (format!("[{name}]"), theme.mark) } else { (format!(" {name} "), theme.muted) };
        let space = row.remaining();
        row.push(fit(&text, space), style);
    }
    row.line()
}
