//! The list of pages on the views screen: one answer's rows in the service's order, or all pages of a range,
//! sorted, filtered and folded into folders.
//!
//! Lines, widths, scale, ranks and sums are computed when something changes, never while drawing: drawing only visits
//! the visible lines. An answer is one page of an unknown number of rows, so it is neither sorted nor filtered.

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
pub use metric::{BarScale, Metric};
pub use order::{PageColumn, PageSorting};
pub use shape::TableSettings;
pub use tree::Folder;

use super::super::scroll;
use crate::model::comparison::Comparison;
use crate::model::report::{Report, Sums};
use crate::model::views::PageRow;
use filter::PageFilter;
use pages::{PageData, to_u32};
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
    /// One answer, in the service's order; the total number of rows is unknown.
    Answer(Vec<PageRow>),
    /// All loaded pages of a range, and the compared reports.
    Report { shown: Arc<Report>, comparison: Option<Comparison> },
}

#[derive(Debug, Clone, Copy)]
pub struct VisibleRow<'a> {
    /// Index of the line in the list.
    pub index: usize,
    /// Number of folders around it.
    pub depth: usize,
    /// The path, without the part that the folder above shows already.
    pub name: &'a str,
    pub metrics: PageMetrics<'a>,
    /// Whether its numbers are valid counts that add up.
    pub adds_up: bool,
    /// Whether it is marked; for a folder, whether all pages in it are.
    pub marked: bool,
    pub kind: RowKind<'a>,
}

#[derive(Debug, Clone, Copy)]
pub enum RowKind<'a> {
    Page {
        /// Index in the service's order; `None` for a page that is gone.
        order: Option<usize>,
        /// Rank by the metric among all pages, from 1, shared by equal ones; `None` if it is unknown.
        rank: Option<u32>,
    },
    Folder(&'a Folder),
}

/// The list and its selection.
#[derive(Debug, Default)]
pub struct PageTable {
    pages: PageData,
    /// The metric of bars and rank.
    metric: Metric,
    log: bool,
    sorting: PageSorting,
    filter_text: String,
    filter: PageFilter,
    /// Whether pages are folded into folders.
    folded: bool,
    /// Paths of the open folders.
    open: HashSet<Box<str>>,
    marks: marks::MarkedPages,
    /// All entries in the current order.
    order: Vec<u32>,
    /// Whether a page passes the filter, by entry.
    passing: Vec<bool>,
    lines: Vec<TreeLine>,
    folders: Vec<Folder>,
    /// Rank by the metric, by entry; 0 if there is none.
    ranks: Vec<u32>,
    measures: Measures,
    selected: usize,
    anchor: SelectionAnchor,
    top: usize,
}

impl PageTable {
    /// Lists one answer. The selection stays on its page if that is listed, otherwise at its index.
    pub fn show_answer(&mut self, rows: &[PageRow]) {
        self.set_source(RowSource::Answer(rows.to_vec()));
    }

    /// Lists all pages of a range, optionally compared with another one. The selection stays on its page.
    pub fn show_report(&mut self, shown: Arc<Report>, before: Option<Arc<Report>>) {
        let comparison = before.map(|before| Comparison { now: Arc::clone(&shown), before });
        self.show_compared(shown, comparison);
    }

    /// Lists all pages of a range, optionally with a comparison of some of its days. The selection stays on its page.
    pub fn show_compared(&mut self, shown: Arc<Report>, comparison: Option<Comparison>) {
        self.set_source(RowSource::Report { shown, comparison });
    }

    /// Lists nothing and resets the selection. Order, filter, metric and marks stay for the next rows.
    pub fn clear(&mut self) {
        self.set_source(RowSource::Nothing);
        (self.selected, self.top, self.anchor) = (0, 0, SelectionAnchor::default());
    }

    /// The listed report; `None` if an answer is listed.
    pub fn report(&self) -> Option<&Arc<Report>> {
        self.pages.report()
    }

    /// The compared reports.
    pub fn comparison(&self) -> Option<&Comparison> {
        self.pages.comparison()
    }

    /// All rows in the service's order, also filtered or folded ones. Pages that are gone are not included.
    pub fn rows(&self) -> &[PageRow] {
        self.pages.rows()
    }

    /// The pages that pass the filter, in the current order, also those in closed folders. A page that is gone has no
    /// counts.
    pub fn shown_pages(&self) -> impl Iterator<Item = &PageRow> {
        self.passing_entries().filter_map(|entry| self.pages.row(entry))
    }

    /// The number of pages that pass the filter, including pages that are gone.
    pub fn passing(&self) -> usize {
        self.measures.passing
    }

    /// The number of pages that only a compared report has, regardless of the filter.
    pub fn absent(&self) -> usize {
        self.pages.absent()
    }

    /// The numbers of a page now and before, also if it is filtered out; `None` if it is not listed.
    pub fn metrics(&self, path: &str) -> Option<PageMetrics<'_>> {
        self.pages.metrics(self.pages.find(path)?)
    }

    /// Rank of a page by the metric among all pages, from 1, shared by equal ones; `None` unless all pages are loaded.
    pub fn rank(&self, path: &str) -> Option<u32> {
        self.rank_of(self.pages.find(path)?)
    }

    /// The pages that an action applies to: the marked ones that pass the filter, otherwise the selected one. A page
    /// that is gone has no counts.
    pub fn chosen(&self) -> Vec<&PageRow> {
        if self.marked_count() == 0 {
            return self.selected_row().into_iter().collect();
        }
        let marked = self.passing_entries().filter(|entry| self.marks.has(*entry));
        marked.filter_map(|entry| self.pages.row(entry)).collect()
    }

    /// The selected page; `None` on a folder.
    pub fn selected_row(&self) -> Option<&PageRow> {
        match self.lines.get(self.selected)?.item {
            TreeItem::Page(entry) => self.pages.row(entry),
            TreeItem::Folder(_) => None,
        }
    }

    /// The selected folder; `None` on a page.
    pub fn selected_folder(&self) -> Option<&Folder> {
        match self.lines.get(self.selected)?.item {
            TreeItem::Page(_) => None,
            TreeItem::Folder(at) => self.folders.get(at as usize),
        }
    }

    /// Index of the selected line.
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// First visible line.
    pub fn top(&self) -> usize {
        self.top
    }

    pub fn len(&self) -> usize {
        self.lines.len()
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The visible lines.
    pub fn visible(&self, rows: usize) -> impl Iterator<Item = VisibleRow<'_>> {
        let lines = self.lines.iter().enumerate().skip(self.top).take(rows);
        lines.filter_map(|(at, line)| self.visible_row(at, line))
    }

    /// Moves the selection by this many lines.
    pub fn move_by(&mut self, by: isize) {
        self.select(scroll::move_within(self.selected, by, self.len()));
    }

    /// Selects the first or last line.
    pub fn move_to_end(&mut self, last: bool) {
        self.select(if last { self.len().saturating_sub(1) } else { 0 });
    }

    /// Whether a report is listed, so that pages can be sorted, filtered and folded.
    pub fn is_report(&self) -> bool {
        self.pages.report().is_some()
    }

    /// The effective order.
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
            self.sort_entries();
            self.rebuild_lines();
            self.move_to_end(false);
        }
    }

    /// The text of the filter; it applies to reports.
    pub fn filter_text(&self) -> &str {
        &self.filter_text
    }

    /// Whether a filter is active.
    pub fn is_filtered(&self) -> bool {
        self.is_report() && !self.filter_text.trim().is_empty()
    }

    /// The part of the filter that is invalid, and how to correct it.
    pub fn filter_problem(&self) -> Option<&str> {
        self.filter.problem().filter(|_| self.is_report())
    }

    /// Filters a report.
    pub fn set_filter(&mut self, typed: &str) {
        typed.clone_into(&mut self.filter_text);
        self.apply_filter();
        self.rebuild_lines();
    }

    /// The metric of bars and rank.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// Sets the metric, and sorts by it unless the pages are sorted by path.
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

    /// Switches between logarithmic and linear bars.
    pub fn toggle_log(&mut self) {
        self.log = !self.log;
        self.measure();
    }

    /// The scale of the bars, over all lines.
    pub fn scale(&self) -> BarScale {
        self.measures.scale
    }

    /// Widths, scale and counts over all lines.
    pub fn measures(&self) -> &Measures {
        &self.measures
    }

    /// Sums over all rows, also filtered ones.
    pub fn sums(&self) -> Sums {
        self.pages.sums()
    }

    /// The number of rows without a valid total.
    pub fn rows_without_total(&self) -> usize {
        self.pages.rows_without_total()
    }

    fn set_source(&mut self, source: RowSource) {
        self.anchor_if_any();
        let path = self.anchor_path();
        self.marks.save_paths(&self.pages);
        self.pages.replace(source);
        self.marks.restore(&self.pages);
        self.apply_filter();
        self.sort_entries();
        self.rank_all();
        self.anchor = path.map_or(SelectionAnchor::None, |path| self.anchor_for_path(path));
        self.rebuild_lines();
    }

    /// Sorts all entries.
    fn sort_entries(&mut self) {
        if !self.is_report() {
            self.order = (0..to_u32(self.pages.len())).collect();
            return;
        }
        let sorting = self.sorting();
        if sorting == PageSorting::by(PageColumn::Path) {
            self.order = self.pages.by_path().to_vec();
            return;
        }
        let number = |entry: u32| self.pages.metrics(entry).and_then(|figures| sorting.by.key(&figures));
        let by_path = self.pages.by_path().iter().enumerate();
        let mut keys: Vec<(u128, u32)> =
            by_path.map(|(place, entry)| (sorting.sort_key(number(*entry), to_u32(place)), *entry)).collect();
        keys.sort_unstable();
        self.order = keys.into_iter().map(|(_, entry)| entry).collect();
    }

    /// Parses the filter, and finds the entries that pass.
    fn apply_filter(&mut self) {
        self.filter = PageFilter::parse(&self.filter_text, self.comparison().is_some());
        let all = !self.is_filtered();
        let passes = |entry: u32| {
            all || self.pages.metrics(entry).is_some_and(|figures| self.filter.passes(self.pages.path(entry), &figures))
        };
        self.passing = (0..to_u32(self.pages.len())).map(passes).collect();
    }

    /// Rebuilds the lines, and finds the selection among them.
    fn rebuild_lines(&mut self) {
        if self.is_tree() {
            let passing = |entry: &u32| self.passing.get(*entry as usize).copied().unwrap_or(false);
            let entries: Vec<u32> = self.pages.by_path().iter().copied().filter(passing).collect();
            let (sorting, marked) = (self.sorting(), self.marks.by_entry());
            (self.lines, self.folders) =
                PathTree { pages: &self.pages, sorting, open: &self.open, marked }.lines(&entries);
        } else {
            self.lines = self
                .passing_entries()
                .map(|entry| TreeLine { item: TreeItem::Page(entry), depth: 0, prefix_len: 0 })
                .collect();
            self.folders.clear();
        }
        self.measure();
        self.find_selection();
    }

    /// The entries that pass the filter, in the current order.
    fn passing_entries(&self) -> impl Iterator<Item = u32> {
        let passing = |entry: &u32| self.passing.get(*entry as usize).copied().unwrap_or(false);
        self.order.iter().copied().filter(passing)
    }

    fn visible_row(&self, at: usize, line: &TreeLine) -> Option<VisibleRow<'_>> {
        let depth = usize::from(line.depth);
        match line.item {
            TreeItem::Page(entry) => {
                let figures = self.pages.metrics(entry)?;
                let place = entry as usize;
                let order = (place < self.rows().len()).then_some(place);
                Some(VisibleRow {
                    index: at,
                    depth,
                    name: line.name(self.pages.path(entry)),
                    adds_up: figures.counts_shown().add_up(),
                    metrics: figures,
                    marked: self.marks.has(entry),
                    kind: RowKind::Page { order, rank: self.rank_of(entry) },
                })
            }
            TreeItem::Folder(place) => {
                let folder = self.folders.get(place as usize)?;
                Some(VisibleRow {
                    index: at,
                    depth,
                    name: line.name(folder.path(&self.pages)),
                    metrics: folder.metrics(),
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
