//! What is listed on the views screen: one answer's rows in the service's order, or all pages of a range in an order of
//! the user's, filtered and folded into folders.
//!
//! Lines, widths, scale, ranks and sums are worked out when something changes, never while drawing: drawing visits the
//! visible lines only. An answer is one page of rows of which there are more, so it is neither sorted nor filtered.

mod comparison;
mod filter;
mod marks;
mod measure;
mod metric;
mod order;
mod pages;
mod selection;
mod shape;
#[cfg(test)]
mod tests;
mod tree;
mod tree_navigation;
mod viewport;

pub use comparison::{ComparisonBaseline, PageMetrics};
pub use measure::Measures;
pub use metric::{Metric, Scale};
pub use order::{PageColumn, PageSorting};
pub use shape::Shape;
pub use tree::Folder;

use super::super::scroll;
use crate::model::comparison::Comparison;
use crate::model::report::{Report, Sums};
use crate::model::views::PageRow;
use filter::PageFilter;
use pages::{PageData, short};
use selection::SelectionAnchor;
use std::collections::HashSet;
use std::sync::Arc;
use tree::{PathTree, TreeItem, TreeLine};

/// Where the rows come from.
#[derive(Debug, Clone, Default)]
pub enum RowSource {
    /// Nothing is loaded.
    #[default]
    Nothing,
    /// One answer; its order is the service's, and how many rows there are besides is not known.
    Answer(Vec<PageRow>),
    /// All pages of a range as far as they are loaded, and the reports that are compared.
    Report { shown: Arc<Report>, comparison: Option<Comparison> },
}

/// What a visible line shows.
#[derive(Debug, Clone, Copy)]
pub struct VisibleRow<'a> {
    /// Place of the line in the list.
    pub at: usize,
    /// Folders around it.
    pub depth: usize,
    /// What its name is: the path, or the rest of it that the folder around doesn't say.
    pub name: &'a str,
    pub figures: PageMetrics<'a>,
    /// Whether its numbers are counts that add up.
    pub adds_up: bool,
    /// Whether it is marked, for a folder all pages in it.
    pub marked: bool,
    pub kind: RowKind<'a>,
}

/// Page or folder.
#[derive(Debug, Clone, Copy)]
pub enum RowKind<'a> {
    Page {
        /// Place in the service's order, from 0; none for a page that is gone.
        order: Option<usize>,
        /// Place by the metric among all pages, from 1, the same for equal ones; none where it is not known.
        rank: Option<u32>,
    },
    Folder(&'a Folder),
}

/// The list and the selection in it.
#[derive(Debug, Default)]
pub struct PageTable {
    pages: PageData,
    /// Bars and rank.
    metric: Metric,
    log: bool,
    sorting: PageSorting,
    typed: String,
    filter: PageFilter,
    /// Whether pages are folded into folders.
    folded: bool,
    /// Paths of the open folders.
    open: HashSet<Box<str>>,
    marks: marks::MarkedPages,
    /// All entries in the present order.
    order: Vec<u32>,
    /// Whether a page passes the filter, by entry.
    passing: Vec<bool>,
    lines: Vec<TreeLine>,
    folders: Vec<Folder>,
    /// Place by the metric, by entry; 0 where there is none.
    ranks: Vec<u32>,
    measures: Measures,
    selected: usize,
    anchor: SelectionAnchor,
    top: usize,
}

impl PageTable {
    /// Lists one answer. The selection stays on its page where that is listed, else at its place.
    pub fn show_answer(&mut self, rows: &[PageRow]) {
        self.show(RowSource::Answer(rows.to_vec()));
    }

    /// Lists all pages of a range, compared with those of another or not. The selection stays on its page.
    pub fn show_report(&mut self, shown: Arc<Report>, before: Option<Arc<Report>>) {
        let comparison = before.map(|before| Comparison { now: Arc::clone(&shown), before });
        self.show_compared(shown, comparison);
    }

    /// Lists all pages of a range with a comparison of some of its days. The selection stays on its page.
    pub fn show_compared(&mut self, shown: Arc<Report>, comparison: Option<Comparison>) {
        self.show(RowSource::Report { shown, comparison });
    }

    /// Lists nothing, from the top. Order, filter, metric and marks are kept for what comes.
    pub fn clear(&mut self) {
        self.show(RowSource::Nothing);
        (self.selected, self.top, self.anchor) = (0, 0, SelectionAnchor::default());
    }

    /// The report that is listed, if it is one.
    pub fn report(&self) -> Option<&Arc<Report>> {
        self.pages.report()
    }

    /// The reports that are compared.
    pub fn comparison(&self) -> Option<&Comparison> {
        self.pages.comparison()
    }

    /// All rows, whatever is filtered or folded away, in the service's order. Pages that are gone are not among them.
    pub fn rows(&self) -> &[PageRow] {
        self.pages.rows()
    }

    /// The pages that pass the filter, in the present order, those in closed folders included. A page that is gone has
    /// no counts.
    pub fn shown_pages(&self) -> impl Iterator<Item = &PageRow> {
        self.passing_entries().filter_map(|entry| self.pages.row(entry))
    }

    /// How many pages pass the filter, pages that are gone included.
    pub fn passing(&self) -> usize {
        self.measures.passing
    }

    /// How many pages only a compared report has, whatever the filter says.
    pub fn absent(&self) -> usize {
        self.pages.absent()
    }

    /// The numbers of a page now and before; none when it is not listed, filtered away or not.
    pub fn figures(&self, path: &str) -> Option<PageMetrics<'_>> {
        self.pages.figures(self.pages.find(path)?)
    }

    /// Place of a page by the metric among all pages, from 1, the same for equal ones; none unless all pages are loaded.
    pub fn rank(&self, path: &str) -> Option<u32> {
        self.rank_of(self.pages.find(path)?)
    }

    /// The pages that an action is about: the marked ones that pass the filter, else the selected one. A page that is gone
    /// has no counts.
    pub fn chosen(&self) -> Vec<&PageRow> {
        if self.marked() == 0 {
            return self.selected_row().into_iter().collect();
        }
        let marked = self.passing_entries().filter(|entry| self.marks.has(*entry));
        marked.filter_map(|entry| self.pages.row(entry)).collect()
    }

    /// The selected page; none on a folder.
    pub fn selected_row(&self) -> Option<&PageRow> {
        match self.lines.get(self.selected)?.what {
            TreeItem::Page(entry) => self.pages.row(entry),
            TreeItem::Folder(_) => None,
        }
    }

    /// The selected folder; none on a page.
    pub fn selected_folder(&self) -> Option<&Folder> {
        match self.lines.get(self.selected)?.what {
            TreeItem::Page(_) => None,
            TreeItem::Folder(at) => self.folders.get(at as usize),
        }
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
        self.lines.len()
    }

    /// Whether there is no line.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The lines in sight, of so many rows.
    pub fn visible(&self, rows: usize) -> impl Iterator<Item = VisibleRow<'_>> {
        let lines = self.lines.iter().enumerate().skip(self.top).take(rows);
        lines.filter_map(|(at, line)| self.shown(at, line))
    }

    /// Moves the selection by so many lines.
    pub fn move_by(&mut self, by: isize) {
        self.select(scroll::moved(self.selected, by, self.len()));
    }

    /// To the first or last line.
    pub fn move_to_end(&mut self, last: bool) {
        self.select(if last { self.len().saturating_sub(1) } else { 0 });
    }

    /// Whether a report is listed, so that pages can be sorted, filtered and folded.
    pub fn is_report(&self) -> bool {
        self.pages.report().is_some()
    }

    /// The order in force.
    pub fn sorting(&self) -> PageSorting {
        match self.sorting.by {
            PageColumn::Change(_) if self.comparison().is_none() => PageSorting::default(),
            _ => self.sorting,
        }
    }

    /// Sorts a report and selects its first line; an answer stays in the service's order.
    pub fn sort(&mut self, sorting: PageSorting) {
        self.sorting = sorting;
        if self.is_report() {
            self.put_in_order();
            self.list();
            self.move_to_end(false);
        }
    }

    /// The text of the filter; it holds for reports.
    pub fn filter_text(&self) -> &str {
        &self.typed
    }

    /// Whether a filter narrows what is listed.
    pub fn is_filtered(&self) -> bool {
        self.is_report() && !self.typed.trim().is_empty()
    }

    /// What of the filter can't be read, and what would be right.
    pub fn filter_problem(&self) -> Option<&str> {
        self.filter.problem().filter(|_| self.is_report())
    }

    /// Narrows a report.
    pub fn set_filter(&mut self, typed: &str) {
        typed.clone_into(&mut self.typed);
        self.narrow();
        self.list();
    }

    /// The metric of bars and rank.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// Shows another metric, and sorts by it unless the pages are sorted by path.
    pub fn set_metric(&mut self, metric: Metric) {
        self.show_metric(metric);
        let by = match self.sorting.by {
            PageColumn::Path => return,
            PageColumn::Now(_) => PageColumn::Now(metric),
            PageColumn::Change(_) => PageColumn::Change(metric),
        };
        self.sort(PageSorting { by, ..self.sorting });
    }

    fn show_metric(&mut self, metric: Metric) {
        self.metric = metric;
        self.rank_all();
        self.measure();
    }

    /// Whether the bars are logarithmic; those of a share never are.
    pub fn is_log(&self) -> bool {
        self.log && self.metric != Metric::Share
    }

    /// Logarithmic bars or linear ones.
    pub fn toggle_log(&mut self) {
        self.log = !self.log;
        self.measure();
    }

    /// The scale of the bars, over all lines.
    pub fn scale(&self) -> Scale {
        self.measures.scale
    }

    /// Widths, scale and counts over all lines.
    pub fn measures(&self) -> &Measures {
        &self.measures
    }

    /// Sums over all rows, filtered away or not.
    pub fn sums(&self) -> Sums {
        self.pages.sums()
    }

    /// How many rows have no total that could be summed.
    pub fn unread(&self) -> usize {
        self.pages.unread()
    }

    fn show(&mut self, source: RowSource) {
        self.settle_anchor();
        let path = self.anchor_path();
        self.marks.part(&self.pages);
        self.pages.replace(source);
        self.marks.find(&self.pages);
        self.narrow();
        self.put_in_order();
        self.rank_all();
        self.anchor = path.map_or(SelectionAnchor::Nowhere, |path| self.anchor_at(path));
        self.list();
    }

    /// Works out the order of all entries.
    fn put_in_order(&mut self) {
        if !self.is_report() {
            self.order = (0..short(self.pages.len())).collect();
            return;
        }
        let sorting = self.sorting();
        if sorting == PageSorting::by(PageColumn::Path) {
            self.order = self.pages.by_path().to_vec();
            return;
        }
        let number = |entry: u32| self.pages.figures(entry).and_then(|figures| sorting.by.key(&figures));
        let by_path = self.pages.by_path().iter().enumerate();
        let mut keys: Vec<(u128, u32)> =
            by_path.map(|(place, entry)| (sorting.sort_key(number(*entry), short(place)), *entry)).collect();
        keys.sort_unstable();
        self.order = keys.into_iter().map(|(_, entry)| entry).collect();
    }

    /// Reads the filter, and works out who passes.
    fn narrow(&mut self) {
        self.filter = PageFilter::parse(&self.typed, self.comparison().is_some());
        let all = !self.is_filtered();
        let passes = |entry: u32| {
            all || self.pages.figures(entry).is_some_and(|figures| self.filter.passes(self.pages.path(entry), &figures))
        };
        self.passing = (0..short(self.pages.len())).map(passes).collect();
    }

    /// Works out the lines, and finds the selection among them.
    fn list(&mut self) {
        if self.is_tree() {
            let passing = |entry: &u32| self.passing.get(*entry as usize).copied().unwrap_or(false);
            let entries: Vec<u32> = self.pages.by_path().iter().copied().filter(passing).collect();
            let (sorting, marked) = (self.sorting(), self.marks.by_entry());
            (self.lines, self.folders) =
                PathTree { pages: &self.pages, sorting, open: &self.open, marked }.lines(&entries);
        } else {
            self.lines = self
                .passing_entries()
                .map(|entry| TreeLine { what: TreeItem::Page(entry), depth: 0, said: 0 })
                .collect();
            self.folders.clear();
        }
        self.measure();
        self.find_selection();
    }

    /// The entries that pass the filter, in the present order.
    fn passing_entries(&self) -> impl Iterator<Item = u32> {
        let passing = |entry: &u32| self.passing.get(*entry as usize).copied().unwrap_or(false);
        self.order.iter().copied().filter(passing)
    }

    fn shown(&self, at: usize, line: &TreeLine) -> Option<VisibleRow<'_>> {
        let depth = usize::from(line.depth);
        match line.what {
            TreeItem::Page(entry) => {
                let figures = self.pages.figures(entry)?;
                let place = entry as usize;
                let order = (place < self.rows().len()).then_some(place);
                Some(VisibleRow {
                    at,
                    depth,
                    name: line.name(self.pages.path(entry)),
                    adds_up: figures.counts_shown().add_up(),
                    figures,
                    marked: self.marks.has(entry),
                    kind: RowKind::Page { order, rank: self.rank_of(entry) },
                })
            }
            TreeItem::Folder(place) => {
                let folder = self.folders.get(place as usize)?;
                Some(VisibleRow {
                    at,
                    depth,
                    name: line.name(folder.path(&self.pages)),
                    figures: folder.figures(),
                    adds_up: folder.adds_up,
                    marked: folder.marked == folder.pages,
                    kind: RowKind::Folder(folder),
                })
            }
        }
    }

    fn rank_of(&self, entry: u32) -> Option<u32> {
        self.ranks.get(entry as usize).copied().filter(|rank| *rank > 0)
    }
}
