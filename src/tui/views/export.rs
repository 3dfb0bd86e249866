//! The export dialog: writes the listed pages or all loaded pages as CSV, JSON or Markdown, to a file or to the
//! clipboard. The text is written in `model::export`; nothing is requested from the service.
//!
//! ```text
//! ┌ Export page views, 14–20 Nov 2026 ──────────────────┐
//! │▌rows   [as shown] all pages                         │
//! │ format [CSV] JSON  Markdown                         │
//! │ to     [a file] the clipboard                       │
//! │                                                     │
//! │ docdeck-views-2026-11-14_2026-11-20.csv             │
//! │ Writes the views of 50 pages to the current folder. │
//! ```

use crate::model::comparison::ComparedRanges;
use crate::model::export::{ExportContent, ExportFormat, MAX_TERMINAL_COPY_BYTES};
use crate::model::period::DateRange;
use crate::model::text::CleanText;
use crate::tui::component::prelude::*;
use crate::tui::confirm::{ConfirmAction, ConfirmDialog};
use crate::tui::draw::boxes::{draw_box, draw_line};
use crate::tui::draw::text::{TextRow, align_left, truncate};
use crate::tui::format::plural;
use crate::tui::geometry::centered;
use crate::tui::views::ViewsState;
use crate::tui::widgets::scroll::cyclic_neighbour;
use crate::tui::{NewFile, Overwrite, Screen, format};
use ratatui::text::Span;
use ratatui::widgets::{Paragraph, Wrap};
use unicode_width::UnicodeWidthStr;

const EXPORT_DIALOG_WIDTH: u16 = 76;
/// Number of rows between the borders of a wide dialog, and of a narrow dialog, in which the texts wrap.
const WIDE_AND_NARROW_DIALOG_ROWS: (u16, u16) = (7, 9);
/// Width of the part of a line before its choices: the selection mark and the label.
const LABEL_WIDTH: usize = 8;

/// Which pages are exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportRows {
    /// The pages that pass the filter, in the order of the list.
    Shown,
    /// All loaded pages, in the service's order.
    Loaded,
}

/// Where the export goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportTarget {
    /// A file in the current folder.
    File,
    Clipboard,
}

/// A line of the dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportLine {
    Rows,
    Format,
    Target,
}

impl ExportLine {
    /// All lines, from top to bottom.
    pub const ALL: [Self; 3] = [Self::Rows, Self::Format, Self::Target];
}

#[derive(Debug)]
pub struct ExportDialog {
    /// The selected line, whose choice the keys change.
    pub line: ExportLine,
    pub rows: ExportRows,
    pub format: ExportFormat,
    pub target: ExportTarget,
    /// The name of the file. It is derived from the contents, and the user can't change it.
    pub file_name: String,
    /// The range of the pages, and the compared ranges if there are any.
    pub ranges: (DateRange, Option<ComparedRanges>),
    /// Whether all pages of the range are loaded.
    pub is_complete: bool,
    /// The number of pages to export.
    pub page_count: usize,
    /// Notes about the contents, such as what is missing.
    pub notes: Vec<String>,
    /// Why the export failed.
    pub problem: Option<String>,
}

fn dialog_area(body: Rect) -> Rect {
    centered(body, EXPORT_DIALOG_WIDTH, dialog_rows(body.width) + 2)
}

fn dialog_rows(width: u16) -> u16 {
    if width < EXPORT_DIALOG_WIDTH { WIDE_AND_NARROW_DIALOG_ROWS.1 } else { WIDE_AND_NARROW_DIALOG_ROWS.0 }
}

impl ExportDialog {
    /// Returns the choices of a line. The `bool` is true for the current choice.
    pub fn choices(&self, part: ExportLine) -> Vec<(&'static str, bool)> {
        match part {
            ExportLine::Rows => {
                let all = if self.is_complete { "all pages" } else { "all loaded rows" };
                vec![("as shown", self.rows == ExportRows::Shown), (all, self.rows == ExportRows::Loaded)]
            }
            ExportLine::Format => {
                ExportFormat::ALL.into_iter().map(|format| (format.name(), format == self.format)).collect()
            }
            ExportLine::Target => {
                vec![
                    ("a file", self.target == ExportTarget::File),
                    ("the clipboard", self.target == ExportTarget::Clipboard),
                ]
            }
        }
    }

    /// Returns the choice at a screen position: its line, and its index among the choices of that line.
    pub(in crate::tui) fn choice_at(&self, body: Rect, cell: Position) -> Option<(ExportLine, usize)> {
        let area = dialog_area(body);
        let part = ExportLine::ALL.get(usize::from(cell.y.checked_sub(area.y + 1)?)).copied()?;
        let mut end = usize::from(area.x) + 1 + LABEL_WIDTH;
        let index = self.choices(part).iter().position(|(name, _)| {
            let start = end;
            end += name.len() + 2;
            (start..end).contains(&usize::from(cell.x))
        });
        Some((part, index.filter(|_| area.contains(cell))?))
    }

    fn step_choice(&mut self, is_forward: bool) {
        self.problem = None;
        match self.line {
            ExportLine::Rows => {
                self.rows = if self.rows == ExportRows::Shown { ExportRows::Loaded } else { ExportRows::Shown }
            }
            ExportLine::Target => {
                self.target =
                    if self.target == ExportTarget::File { ExportTarget::Clipboard } else { ExportTarget::File };
            }
            ExportLine::Format => self.format = cyclic_neighbour(&ExportFormat::ALL, self.format, is_forward),
        }
    }

    fn update_summary(&mut self, content: &ExportContent<'_>) {
        self.file_name = content.file_name(self.format);
        self.ranges = (content.range, content.comparison.map(|compared| compared.ranges));
        self.is_complete = content.is_fully_loaded;
        self.page_count = content.pages.len();
        self.notes = content.notes_on_missing_pages();
    }
}

impl ExportDialog {
    /// Opens the dialog, or reports that nothing is loaded.
    pub fn open(cx: &mut Cx<'_>) {
        let Some(content) = export_content(&cx.app.views, ExportRows::Shown) else {
            return cx.notify(Severity::Info, "Nothing to export: no page views are loaded.");
        };
        let mut open = Self {
            line: ExportLine::Rows,
            rows: ExportRows::Shown,
            format: ExportFormat::Csv,
            target: ExportTarget::File,
            file_name: String::new(),
            ranges: (content.range, None),
            is_complete: false,
            page_count: 0,
            notes: Vec::new(),
            problem: None,
        };
        open.update_summary(&content);
        cx.open(open);
    }

    /// Switches the selected line to its next or previous choice.
    fn change_choice(&mut self, is_forward: bool, views: &ViewsState) {
        self.step_choice(is_forward);
        if let Some(content) = export_content(views, self.rows) {
            self.update_summary(&content);
        }
    }

    /// Writes the export to a file or copies it to the clipboard, and closes the dialog. The dialog stays open if there
    /// is nothing to export, if creating the text fails, or if the text is too long for the clipboard.
    fn export(&mut self, cx: &mut Cx<'_>) -> Flow {
        // The list may have changed since the dialog was opened: the export uses the current rows.
        let Some(content) = export_content(&cx.app.views, self.rows) else { return Flow::Handled };
        let (name, pages) = (content.file_name(self.format), content.pages.len());
        let text = match self.format.write(&content) {
            Ok(text) => text,
            Err(error) => {
                cx.notify(Severity::Error, &error.to_string());
                return Flow::Handled;
            }
        };
        if self.target == ExportTarget::Clipboard
            && text.len() > MAX_TERMINAL_COPY_BYTES
            && !cx.app.config.can_copy_long_texts
        {
            self.problem = Some(format!(
                "Not copied: {} bytes exceed the terminal's limit of {}. Choose a file.",
                format::format_count(text.len()),
                format::format_count(MAX_TERMINAL_COPY_BYTES)
            ));
            return Flow::Handled;
        }
        let what = format!("{} as {}", plural(pages, "page"), self.format.name());
        cx.run(match self.target {
            ExportTarget::File => {
                Effect::WriteFile(NewFile { name, text, description: CleanText::line(&what) }, Overwrite::Ask)
            }
            ExportTarget::Clipboard => Effect::copy(&what, text),
        });
        Flow::Close
    }
}

impl Component for ExportDialog {
    fn contexts(&self) -> &'static [Context] {
        &[Context::Export, Context::Lists, Context::Everywhere]
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        match action {
            Action::Confirm => return self.export(cx),
            Action::NextChoice => self.change_choice(true, &cx.app.views),
            Action::PreviousChoice => self.change_choice(false, &cx.app.views),
            _ => return Flow::Unhandled,
        }
        Flow::Handled
    }

    /// Selects the line above or below, wrapping around, or the first or last line.
    fn scroll(&mut self, by: Scroll, _cx: &mut Cx<'_>) {
        self.line = match by {
            Scroll::By(n) => cyclic_neighbour(&ExportLine::ALL, self.line, n >= 0),
            Scroll::Page(..0) | Scroll::Top => ExportLine::Rows,
            Scroll::Page(_) | Scroll::Bottom => ExportLine::Target,
        };
    }

    /// Selects the clicked choice and its line.
    fn click(&mut self, at: Position, cx: &mut Cx<'_>) -> Flow {
        let Some((line, index)) = self.choice_at(cx.app.geometry().body, at) else { return Flow::Handled };
        self.line = line;
        let choices = self.choices(line).len();
        let is_chosen = |open: &Self| open.choices(line).get(index).is_none_or(|(_, is_chosen)| *is_chosen);
        for _ in 0..choices {
            if !is_chosen(self) {
                self.change_choice(true, &cx.app.views);
            }
        }
        Flow::Handled
    }

    fn area(&self, app: &App) -> Rect {
        dialog_area(app.geometry().body)
    }

    fn scroll_with_wheel(&mut self, _at: Position, by: isize, cx: &mut Cx<'_>) {
        self.scroll(Scroll::By(by.signum()), cx);
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let theme = view.theme;
        let inner = self.area(view.app);
        let title = export_title(self, usize::from(inner.width).saturating_sub(2));
        let inner = draw_box(frame, inner, Line::styled(title, theme.title), theme.focus);
        for (n, part) in ExportLine::ALL.into_iter().enumerate() {
            draw_line(frame, inner, n, choice_line(view, self, part, usize::from(inner.width)));
        }
        let head = inner.height.min(if inner.height < dialog_rows(view.app.size.0) { 3 } else { 4 });
        let below = Rect {
            x: inner.x + 1,
            y: inner.y + head,
            width: inner.width.saturating_sub(2),
            height: inner.height - head,
        };
        if let Some(refused) = &self.problem {
            frame.render_widget(Paragraph::new(Line::styled(refused, theme.warning)).wrap(Wrap { trim: true }), below);
            return;
        }
        let (verb, to) = match self.target {
            ExportTarget::File => ("Writes", "the current folder"),
            ExportTarget::Clipboard => ("Copies", "the clipboard"),
        };
        let width = usize::from(below.width);
        let pages = plural(self.page_count, "page");
        let long = format!("{verb} the views of {pages} to {to}.");
        let what = if long.width() <= width { long } else { format!("{pages} to {to}.") };
        let (what, notes) = (Span::styled(what, theme.text), Span::styled(self.notes.join(" "), theme.warning));
        let name = Line::styled(self.file_name.clone(), theme.title);
        let name = (self.target == ExportTarget::File).then_some(name);
        // The notes are on the same line as the number of pages if they fit.
        let what: Vec<Line<'_>> = if what.width() + 1 + notes.width() <= width {
            vec![Line::from_iter([what, Span::raw(" "), notes])]
        } else {
            vec![what.into(), notes.into()]
        };
        let lines: Vec<Line<'_>> = name.into_iter().chain(what).collect();
        frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: true }), below);
    }
}

/// Returns the title, in the longest form that fits. Every form contains the range.
fn export_title(open: &ExportDialog, width: usize) -> String {
    let (range, compared) = (open.ranges.0.format_dates(true), open.ranges.1);
    let labelled = compared.map(|ranges| format!(" Export {range}: {} ", ranges.label(open.ranges.0)));
    let dated = compared.map(|ranges| format!(" Export {range}: {} ", ranges.dates_text()));
    let forms = [labelled, dated, Some(format!(" Export page views, {range} ")), Some(format!(" Export {range} "))];
    forms.into_iter().flatten().find(|form| form.width() <= width).unwrap_or(range)
}

/// Returns the line of one choice, with the chosen value in brackets.
fn choice_line<'a>(view: View<'_>, open: &ExportDialog, part: ExportLine, width: usize) -> Line<'a> {
    let theme = view.theme;
    let label = match part {
        ExportLine::Rows => "rows",
        ExportLine::Format => "format",
        ExportLine::Target => "to",
    };
    let is_selected = part == open.line;
    let mut row = TextRow::new(width);
    row.push(if is_selected { "▌" } else { " " }, theme.mark);
    row.push(align_left(label, LABEL_WIDTH - 1), if is_selected { theme.title } else { theme.muted });
    for (name, chosen) in open.choices(part) {
        let (text, style) = if chosen { (format!("[{name}]"), theme.mark) } else { (format!(" {name} "), theme.muted) };
        let space = row.remaining_cells();
        row.push(truncate(&text, space), style);
    }
    row.line()
}

/// Returns the pages to export, with their range and comparison; `None` if nothing is loaded.
fn export_content(views: &ViewsState, what: ExportRows) -> Option<ExportContent<'_>> {
    let table = &views.table;
    if let Some(report) = table.report() {
        let comparison = table.comparison();
        return Some(match what {
            ExportRows::Loaded => ExportContent::from_report(report, comparison),
            ExportRows::Shown => ExportContent::from_pages(report, comparison, table.shown_pages()),
        });
    }
    let shown = views.load().shown()?;
    let (query, page) = (shown.value.query, &shown.value.page);
    let all = query.page == 1 && !query.has_next(page);
    let content = ExportContent::from_response(query.range, page, all, shown.as_of);
    Some(match what {
        ExportRows::Loaded => content,
        ExportRows::Shown => content.with_pages(table.shown_pages()),
    })
}

impl App {
    /// Asks whether to overwrite a file that already exists. The file has not been changed yet. If another screen or
    /// dialog has the focus, shows a notice instead, so that keys meant for it don't answer the question.
    pub(in crate::tui) fn ask_to_overwrite(&mut self, file: NewFile, now: Time) {
        self.is_dirty = true;
        if self.dialogs.is_empty() && self.screen == Screen::Analytics {
            let shown = CleanText::line(&file.name);
            let question = format!("{shown} already exists in the current folder. Overwrite it?");
            self.open(ConfirmDialog { text: question, on_yes: ConfirmAction::Overwrite(file) });
        } else {
            let again = self.key_label(Context::Views, Action::Export);
            let text = format!(
                "{} already exists and was not changed; press {again} on the Pages tab to export again.",
                file.name
            );
            self.notify_until_done(Action::Export, Severity::Warning, &text, now);
        }
    }
}
