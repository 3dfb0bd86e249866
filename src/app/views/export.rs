//! Export of what is shown or of all that is loaded: CSV, JSON or Markdown, to a file or to the clipboard. Its text is
//! made in the model; nothing is asked of the service.

use super::super::dialog::{ConfirmAction, ConfirmDialog, Dialog};
use super::super::geometry::centered;
use super::super::keymap::{Action, Context};
use super::super::scroll::Scroll;
use super::super::{App, Effect, NewFile, Overwrite, Screen, Severity, format};
use crate::model::Time;
use crate::model::comparison::ComparedRanges;
use crate::model::export::{COPY_LIMIT, ExportContent, ExportFormat};
use crate::model::period::DateRange;
use crate::model::text::CleanText;
use ratatui::layout::{Position, Rect};

/// Columns of the layer, and rows between its borders.
const WIDTH: u16 = 76;
pub const ROWS: u16 = 9;
/// Cells before the choices: the mark, and what they are about.
pub const LABEL: usize = 7;

/// Which pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportRows {
    /// Those that are shown, in the order shown.
    Shown,
    /// All that are loaded, in the service's order.
    Loaded,
}

/// Where to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportTarget {
    /// A file in the current folder.
    File,
    Clipboard,
}

/// A line of the layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportLine {
    What,
    Format,
    Target,
}

impl ExportLine {
    /// From the top.
    pub const ALL: [Self; 3] = [Self::What, Self::Format, Self::Target];
}

/// The layer.
#[derive(Debug)]
pub struct ExportDialog {
    /// The line that the keys change.
    pub part: ExportLine,
    pub what: ExportRows,
    pub format: ExportFormat,
    pub target: ExportTarget,
    /// The file's name; it stands for what is in it, so it can't be changed.
    pub name: String,
    /// The range, and what is compared.
    pub ranges: (DateRange, Option<ComparedRanges>),
    /// Whether all pages of the range are loaded.
    pub is_complete: bool,
    /// How many pages it would hold.
    pub pages: usize,
    /// What there is to know about it.
    pub notes: Vec<String>,
    /// Why it was not done.
    pub refused: Option<String>,
}

impl ExportDialog {
    /// The layer in this part of the screen.
    pub fn area(&self, body: Rect) -> Rect {
        centered(body, WIDTH, ROWS + 2)
    }

    /// What can be chosen in a line, each with whether it is.
    pub fn choices(&self, part: ExportLine) -> Vec<(&'static str, bool)> {
        match part {
            ExportLine::What => {
                let all = if self.is_complete { "all pages" } else { "all loaded so far" };
                vec![("as shown", self.what == ExportRows::Shown), (all, self.what == ExportRows::Loaded)]
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

    /// The choice that stands in a cell of the screen, by its place in its line.
    pub(in crate::app) fn choice_at(&self, body: Rect, cell: Position) -> Option<(ExportLine, usize)> {
        let area = self.area(body);
        let part = ExportLine::ALL.get(usize::from(cell.y.checked_sub(area.y + 1)?)).copied()?;
        let mut end = usize::from(area.x) + 1 + LABEL;
        let place = self.choices(part).iter().position(|(name, _)| {
            let start = end;
            end += name.len() + 2;
            (start..end).contains(&usize::from(cell.x))
        });
        Some((part, place.filter(|_| area.contains(cell))?))
    }

    /// To the line above or below, round and round.
    pub(in crate::app) fn scroll(&mut self, by: Scroll) {
        let at = ExportLine::ALL.iter().position(|part| *part == self.part).unwrap_or(0);
        let to = match by {
            Scroll::By(n) if n < 0 => at + ExportLine::ALL.len() - 1,
            Scroll::By(_) => at + 1,
            Scroll::Page(n) if n < 0 => 0,
            Scroll::Top => 0,
            Scroll::Page(_) | Scroll::Bottom => ExportLine::ALL.len() - 1,
        };
        self.part = ExportLine::ALL.get(to % ExportLine::ALL.len()).copied().unwrap_or(ExportLine::What);
    }

    fn change(&mut self, forward: bool) {
        self.refused = None;
        match self.part {
            ExportLine::What => {
                self.what = if self.what == ExportRows::Shown { ExportRows::Loaded } else { ExportRows::Shown }
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

    fn describe(&mut self, extract: &ExportContent<'_>) {
        self.name = extract.file_name(self.format);
        self.ranges = (extract.range, extract.compared.map(|compared| compared.ranges));
        self.is_complete = extract.loaded;
        self.pages = extract.lines.len();
        self.notes = extract.missing();
    }
}

impl App {
    /// The key that exports.
    pub(in crate::app) fn open_export(&mut self, now: Time) {
        let Some(extract) = self.extract(ExportRows::Shown) else {
            return self.notify(Severity::Info, "No page views are loaded, so there is nothing to export.", now);
        };
        let mut open = ExportDialog {
            part: ExportLine::What,
            what: ExportRows::Shown,
            format: ExportFormat::Csv,
            target: ExportTarget::File,
            name: String::new(),
            ranges: (extract.range, None),
            is_complete: false,
            pages: 0,
            notes: Vec::new(),
            refused: None,
        };
        open.describe(&extract);
        self.dialogs.push(Dialog::Export(open));
    }

    /// The choice at this place of a line, which has the keys from then on.
    pub(in crate::app) fn choose_export(&mut self, part: ExportLine, place: usize) {
        let Some(Dialog::Export(open)) = self.dialogs.last_mut() else { return };
        open.part = part;
        for _ in 0..open.choices(part).len() {
            let Some(Dialog::Export(open)) = self.dialogs.last() else { return };
            if open.choices(part).get(place).is_none_or(|(_, chosen)| *chosen) {
                return;
            }
            self.change_export(true);
        }
    }

    /// The next choice of the line that has the keys, or the one before.
    pub(in crate::app) fn change_export(&mut self, forward: bool) {
        let Some(Dialog::Export(mut open)) = self.dialogs.pop_if(|top| matches!(top, Dialog::Export(_))) else {
            return;
        };
        open.change(forward);
        if let Some(extract) = self.extract(open.what) {
            open.describe(&extract);
        }
        self.dialogs.push(Dialog::Export(open));
    }

    /// Writes or copies what is chosen.
    pub(in crate::app) fn export_views(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some(Dialog::Export(open)) = self.dialogs.last() else { return };
        let (format, target) = (open.format, open.target);
        // What is listed may have changed since the layer was opened: all is taken from what is there now.
        let Some(extract) = self.extract(open.what) else { return };
        let (name, pages) = (extract.file_name(format), extract.lines.len());
        let text = match format.write(&extract) {
            Ok(text) => text,
            Err(error) => return self.notify(Severity::Problem, &error.to_string(), now),
        };
        if target == ExportTarget::Clipboard && text.len() > COPY_LIMIT && !self.config.long_copies {
            let long = format!(
                "Not copied: {} bytes are too many for a terminal, which takes {}. Choose a file.",
                format::count(text.len()),
                format::count(COPY_LIMIT)
            );
            if let Some(Dialog::Export(open)) = self.dialogs.last_mut() {
                open.refused = Some(long);
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

    /// A file of that name is there already, and was left as it is: the user is asked, unless something else has the keys
    /// by now, whose letters must not be taken for an answer.
    pub(in crate::app) fn file_exists(&mut self, file: NewFile, now: Time) {
        self.dirty = true;
        if self.dialogs.is_empty() && self.screen == Screen::Views {
            let shown = CleanText::line(&file.name);
            let question = format!("{shown} is in the current folder already. Write over it?");
            self.dialogs.push(Dialog::Question(ConfirmDialog { text: question, yes: ConfirmAction::Overwrite(file) }));
        } else {
            let again = self.key_label(Context::Views, Action::Export);
            let said =
                format!("{} is there already and was left as it is; {again} on the views asks again.", file.name);
            self.notify(Severity::Problem, &said, now);
        }
    }

    /// What is listed, to be exported; none when nothing is loaded.
    fn extract(&self, what: ExportRows) -> Option<ExportContent<'_>> {
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
        let extract = ExportContent::of_answer(query.range, page, all, shown.as_of);
        Some(match what {
            ExportRows::Loaded => extract,
            ExportRows::Shown => extract.with_pages(table.shown_pages()),
        })
    }
}
