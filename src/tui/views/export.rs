//! The export dialog: writes the listed pages or all loaded pages as CSV, JSON or Markdown, to a file or to the
//! clipboard. The text is written in `model::export`; nothing is requested from the service.

use super::super::dialog::{ConfirmAction, ConfirmDialog, Dialog};
use super::super::geometry::centered;
use super::super::keymap::{Action, Context};
use super::super::scroll::Scroll;
use super::super::{App, Effect, NewFile, Overwrite, Screen, Severity, format};
use crate::model::Time;
use crate::model::comparison::ComparedRanges;
use crate::model::export::{ExportContent, ExportFormat, MAX_COPY_BYTES};
use crate::model::period::DateRange;
use crate::model::text::CleanText;
use ratatui::layout::{Position, Rect};

/// Width of the dialog.
const WIDTH: u16 = 76;
/// Rows between the borders of the dialog.
pub const ROWS: u16 = 9;
/// Columns before the choices of a line: the selection mark and the label.
pub const LABEL_WIDTH: usize = 7;

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
    /// The name of the file. It describes the contents, so the user can't change it.
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

impl ExportDialog {
    /// Returns the area of the dialog.
    pub fn area(&self, body: Rect) -> Rect {
        centered(body, WIDTH, ROWS + 2)
    }

    /// Returns the choices of a line. The `bool` says whether the choice is the current one.
    pub fn choices(&self, part: ExportLine) -> Vec<(&'static str, bool)> {
        match part {
            ExportLine::Rows => {
                let all = if self.is_complete { "all pages" } else { "all loaded so far" };
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
        let area = self.area(body);
        let part = ExportLine::ALL.get(usize::from(cell.y.checked_sub(area.y + 1)?)).copied()?;
        let mut end = usize::from(area.x) + 1 + LABEL_WIDTH;
        let index = self.choices(part).iter().position(|(name, _)| {
            let start = end;
            end += name.len() + 2;
            (start..end).contains(&usize::from(cell.x))
        });
        Some((part, index.filter(|_| area.contains(cell))?))
    }

    /// Selects the line above or below, wrapping around, or the first or last line.
    pub(in crate::tui) fn scroll(&mut self, by: Scroll) {
        let at = ExportLine::ALL.iter().position(|part| *part == self.line).unwrap_or(0);
        let to = match by {
            Scroll::By(n) if n < 0 => at + ExportLine::ALL.len() - 1,
            Scroll::By(_) => at + 1,
            Scroll::Page(n) if n < 0 => 0,
            Scroll::Top => 0,
            Scroll::Page(_) | Scroll::Bottom => ExportLine::ALL.len() - 1,
        };
        self.line = ExportLine::ALL.get(to % ExportLine::ALL.len()).copied().unwrap_or(ExportLine::Rows);
    }

    fn next_choice(&mut self, forward: bool) {
        self.problem = None;
        match self.line {
            ExportLine::Rows => {
                self.rows = if self.rows == ExportRows::Shown { ExportRows::Loaded } else { ExportRows::Shown }
            }
            ExportLine::Target => {
                self.target =
                    if self.target == ExportTarget::File { ExportTarget::Clipboard } else { ExportTarget::File };
            }
            ExportLine::Format => {
                let all = ExportFormat::ALL;
                let at = all.iter().position(|format| *format == self.format).unwrap_or(0);
                let to = (at + if forward { 1 } else { all.len() - 1 }) % all.len();
                self.format = all.get(to).copied().unwrap_or(ExportFormat::Csv);
            }
        }
    }

    fn update_summary(&mut self, content: &ExportContent<'_>) {
        self.file_name = content.file_name(self.format);
        self.ranges = (content.range, content.comparison.map(|compared| compared.ranges));
        self.is_complete = content.is_fully_loaded;
        self.page_count = content.lines.len();
        self.notes = content.missing_notes();
    }
}

impl App {
    /// Opens the export dialog, or reports that nothing is loaded.
    pub(in crate::tui) fn open_export(&mut self, now: Time) {
        let Some(content) = self.export_content(ExportRows::Shown) else {
            return self.notify(Severity::Info, "Nothing to export: no page views are loaded.", now);
        };
        let mut open = ExportDialog {
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
        self.dialogs.push(Dialog::Export(open));
    }

    /// Selects a line of the dialog, and switches this line to its choice at `index`.
    pub(in crate::tui) fn choose_export(&mut self, part: ExportLine, index: usize) {
        let Some(Dialog::Export(open)) = self.dialogs.last_mut() else { return };
        open.line = part;
        for _ in 0..open.choices(part).len() {
            let Some(Dialog::Export(open)) = self.dialogs.last() else { return };
            if open.choices(part).get(index).is_none_or(|(_, chosen)| *chosen) {
                return;
            }
            self.change_export(true);
        }
    }

    /// Switches the selected line to its next or previous choice.
    pub(in crate::tui) fn change_export(&mut self, forward: bool) {
        let Some(Dialog::Export(mut open)) = self.dialogs.pop_if(|top| matches!(top, Dialog::Export(_))) else {
            return;
        };
        open.next_choice(forward);
        if let Some(content) = self.export_content(open.rows) {
            open.update_summary(&content);
        }
        self.dialogs.push(Dialog::Export(open));
    }

    /// Writes the export to a file or copies it to the clipboard, and closes the dialog.
    pub(in crate::tui) fn export_views(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some(Dialog::Export(open)) = self.dialogs.last() else { return };
        let (format, target) = (open.format, open.target);
        // The list may have changed since the dialog was opened: the export uses the current rows.
        let Some(content) = self.export_content(open.rows) else { return };
        let (name, pages) = (content.file_name(format), content.lines.len());
        let text = match format.write(&content) {
            Ok(text) => text,
            Err(error) => return self.notify(Severity::Problem, &error.to_string(), now),
        };
        if target == ExportTarget::Clipboard && text.len() > MAX_COPY_BYTES && !self.config.can_copy_long_texts {
            let too_long = format!(
                "Not copied: {} bytes exceed the terminal's limit of {}. Choose a file.",
                format::format_count(text.len()),
                format::format_count(MAX_COPY_BYTES)
            );
            if let Some(Dialog::Export(open)) = self.dialogs.last_mut() {
                open.problem = Some(too_long);
            }
            return;
        }
        self.dialogs.pop();
        let what = format!("{} as {}", format::plural(pages, "page"), format.name());
        effects.push(match target {
            ExportTarget::File => {
                Effect::WriteFile(NewFile { name, text, what: CleanText::line(&what) }, Overwrite::Ask)
            }
            ExportTarget::Clipboard => Effect::copy(&what, text),
        });
    }

    /// Asks whether to overwrite a file that already exists. The file has not been changed yet. If another screen or
    /// dialog has the focus, shows a notice instead, so that keys meant for it don't answer the question.
    pub(in crate::tui) fn ask_to_overwrite(&mut self, file: NewFile, now: Time) {
        self.dirty = true;
        if self.dialogs.is_empty() && self.screen == Screen::Views {
            let shown = CleanText::line(&file.name);
            let question = format!("{shown} already exists in the current folder. Overwrite it?");
            self.dialogs
                .push(Dialog::Confirm(ConfirmDialog { text: question, on_yes: ConfirmAction::Overwrite(file) }));
        } else {
            let again = self.key_label(Context::Views, Action::Export);
            let text =
                format!("{} already exists and was not changed; {again} on the views screen exports again.", file.name);
            self.notify(Severity::Problem, &text, now);
        }
    }

    /// Returns the pages to export, with their range and comparison; `None` if nothing is loaded.
    fn export_content(&self, what: ExportRows) -> Option<ExportContent<'_>> {
        let table = &self.views.table;
        if let Some(report) = table.report() {
            let comparison = table.comparison();
            return Some(match what {
                ExportRows::Loaded => ExportContent::of_report(report, comparison),
                ExportRows::Shown => ExportContent::of_pages(report, comparison, table.shown_pages()),
            });
        }
        let shown = self.views.load().shown()?;
        let (query, page) = (shown.value.query, &shown.value.page);
        let all = query.page == 1 && !query.has_next(page);
        let content = ExportContent::of_answer(query.range, page, all, shown.as_of);
        Some(match what {
            ExportRows::Loaded => content,
            ExportRows::Shown => content.with_pages(table.shown_pages()),
        })
    }
}
