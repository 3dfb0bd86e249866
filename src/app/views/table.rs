//! What is listed on the views screen: one answer's rows in the service's order, or all pages of a range.

use super::super::scroll;
use crate::model::report::Report;
use crate::model::views::PageRow;
use std::sync::Arc;

/// Where the rows come from.
#[derive(Debug, Clone, Default)]
pub enum Source {
    /// Nothing is loaded.
    #[default]
    Nothing,
    /// One answer; its order is the service's, and how many rows there are besides is not known.
    Answer(Vec<PageRow>),
    /// All pages of a range as far as they are loaded, and those of the range that it is compared with.
    Report { now: Arc<Report>, before: Option<Arc<Report>> },
}

/// The list and the selection in it.
#[derive(Debug, Default)]
pub struct Table {
    source: Source,
    selected: usize,
    top: usize,
}

impl Table {
    /// Lists one answer. The selection stays at its place.
    pub fn show_answer(&mut self, rows: &[PageRow]) {
        self.source = Source::Answer(rows.to_vec());
        self.clamp();
    }

    /// Lists all pages of a range, compared with those of another or not. The selection stays on its page.
    pub fn show_report(&mut self, now: Arc<Report>, before: Option<Arc<Report>>) {
        self.source = Source::Report { now, before };
        self.clamp();
    }

    /// Lists nothing, from the top.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// The report that is listed, if it is one.
    pub fn report(&self) -> Option<&Arc<Report>> {
        match &self.source {
            Source::Report { now, .. } => Some(now),
            Source::Nothing | Source::Answer(_) => None,
        }
    }

    /// The report that the listed one is compared with.
    pub fn before(&self) -> Option<&Arc<Report>> {
        match &self.source {
            Source::Report { before, .. } => before.as_ref(),
            Source::Nothing | Source::Answer(_) => None,
        }
    }

    /// All rows, whatever is filtered or folded away, in the service's order.
    pub fn rows(&self) -> &[PageRow] {
        match &self.source {
            Source::Nothing => &[],
            Source::Answer(rows) => rows,
            Source::Report { now, .. } => &now.rows,
        }
    }

    /// The pages that are shown, in the order in which they are.
    pub fn shown_pages(&self) -> impl Iterator<Item = &PageRow> {
        self.rows().iter()
    }

    /// The pages that an action is about: the marked ones, else the selected one.
    pub fn chosen(&self) -> Vec<&PageRow> {
        self.selected_row().into_iter().collect()
    }

    /// The selected page; none on a folder.
    pub fn selected_row(&self) -> Option<&PageRow> {
        self.rows().get(self.selected)
    }

    /// Place of the selected line.
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// First visible line.
    pub fn top(&self) -> usize {
        self.top
    }

    /// Number of lines.
    pub fn len(&self) -> usize {
        self.rows().len()
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Moves the selection by so many lines.
    pub fn move_by(&mut self, by: isize) {
        self.selected = scroll::moved(self.selected, by, self.len());
    }

    /// To the first or last line.
    pub fn move_to_end(&mut self, last: bool) {
        self.selected = if last { self.len().saturating_sub(1) } else { 0 };
    }

    /// Keeps the selection in sight.
    pub fn keep_in_sight(&mut self, rows: usize) {
        self.top = scroll::follow(self.top, self.selected, rows, self.len());
    }

    fn clamp(&mut self) {
        self.selected = self.selected.min(self.len().saturating_sub(1));
    }
}
