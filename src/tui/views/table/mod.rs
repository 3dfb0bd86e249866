//! The list of pages on the views screen: one response's rows in the service's order, or all pages of a range,
//! sorted, filtered and folded into folders.
//!
//! Lines, widths, scale, ranks and sums are computed when something changes, never while drawing: drawing only visits
//! the visible lines. A response is only one page of rows, and the total number of rows is unknown, so a response is
//! neither sorted nor filtered. In this module, an entry is the index of a page in `PageData`.

mod comparison;
mod filter;
mod marks;
mod measure;
mod metric;
mod order;
mod pages;
mod selection;
mod settings;
#[cfg(test)]
mod tests;
mod tree;
mod tree_navigation;
mod viewport;

pub use comparison::{ComparisonBaseline, PageMetrics};
pub use measure::Measures;
pub use metric::{BarScale, Metric};
pub use order::{PageColumn, PageSorting};
pub use settings::TableSettings;
pub use tree::Folder;

use crate::model::comparison::Comparison;
use crate::model::period::DateRange;
use crate::model::report::{Report, ViewSums};
use crate::model::views::PageRow;
use crate::tui::widgets::scroll;
use crate::tui::widgets::scroll::FirstLine;
pub use filter::FilterableData;
use filter::PageFilter;
use pages::{PageData, to_u32};
pub use pages::{RowSource, VisitorReports};
use std::collections::HashSet;
use std::sync::Arc;
use tree::{PathTree, TreeItem, TreeLine};

/// The page or folder that the user selected. If a filter or a closed folder hides it, the anchor stays, and the page
/// or folder is selected again once it is visible.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
enum SelectionAnchor {
    #[default]
    None,
    /// A page, by its entry.
    Page(u32),
    /// A folder, by its path with a trailing slash.
    Folder(Box<str>),
}

/// Width of the number of pages after the name of a folder: ` 9,999 pages`.
const FOLDER_COUNT_CELLS: usize = 12;

#[derive(Debug, Clone, Copy)]
pub struct VisibleRow<'a> {
    /// Index of the line in the list.
    pub index: usize,
    /// Number of folders that contain the row.
    pub depth: usize,
    /// The path without the part that the folder above shows.
    pub name: &'a str,
    pub metrics: PageMetrics<'a>,
    /// Whether the numbers are valid counts and the total is human plus AI views.
    pub adds_up: bool,
    /// Whether the page is marked; for a folder, whether all pages in it are marked.
    pub is_marked: bool,
    pub kind: RowKind<'a>,
}

#[derive(Debug, Clone, Copy)]
pub enum RowKind<'a> {
    Page {
        /// Index in the service's order; `None` for a page that only a compared report has.
        service_index: Option<usize>,
        /// Rank by the metric among all pages, from 1; pages with equal numbers share a rank. `None` if the rank is
        /// unknown.
        rank: Option<u32>,
    },
    Folder(&'a Folder),
}

/// The list of pages, with its settings, marks and selection.
#[derive(Debug, Default)]
pub struct PageTable {
    pages: PageData,
    /// The listed rows without visitors.
    source: RowSource,
    /// The visitors of the pages; `None` if they are not shown.
    visitors: Option<VisitorReports>,
    /// The chosen metric.
    metric: Metric,
    is_log_scale: bool,
    sorting: PageSorting,
    filter_text: String,
    filter: PageFilter,
    /// Whether a report is shown as a tree of folders.
    groups_by_folder: bool,
    /// Paths of the open folders.
    open_folders: HashSet<Box<str>>,
    marks: marks::MarkedPages,
    /// All entries in the current sort order, including entries that the filter hides.
    order: Vec<u32>,
    /// Whether each entry passes the filter.
    passes_filter: Vec<bool>,
    lines: Vec<TreeLine>,
    folders: Vec<Folder>,
    /// Rank of each entry by the metric, from 1; 0 for an entry without a rank.
    ranks: Vec<u32>,
    measures: Measures,
    selected: usize,
    anchor: SelectionAnchor,
    top: FirstLine,
}

impl PageTable {
    /// Lists one response about a range. The selected page stays selected if the response contains it, otherwise the
    /// line at the same index is selected.
    pub fn show_response(&mut self, range: DateRange, rows: &[PageRow]) {
        self.set_source(RowSource::Response(range, rows.to_vec()));
    }

    /// Lists the pages of a report, optionally compared with the report `previous`. The selected page stays selected.
    pub fn show_report(&mut self, shown: Arc<Report>, previous: Option<Arc<Report>>) {
        let comparison = previous.map(|previous| Comparison { current: Arc::clone(&shown), previous });
        self.show_compared(shown, comparison);
    }

    /// Lists the pages of a report, optionally with a comparison of some of the days in its range. The selected page
    /// stays selected.
    pub fn show_compared(&mut self, shown: Arc<Report>, comparison: Option<Comparison>) {
        self.set_source(RowSource::Report { shown, comparison });
    }

    /// Lists nothing and resets the selection. Sort order, filter, metric and marks stay for the next rows.
    pub fn clear(&mut self) {
        self.set_source(RowSource::Nothing);
        (self.selected, self.top, self.anchor) = (0, FirstLine::default(), SelectionAnchor::default());
    }

    /// Returns the listed report; `None` if a response or nothing is listed.
    pub fn report(&self) -> Option<&Arc<Report>> {
        self.pages.report()
    }

    /// Returns the compared reports; `None` if nothing is compared.
    pub fn comparison(&self) -> Option<&Comparison> {
        self.pages.comparison()
    }

    /// Returns all rows in the service's order, including rows that the filter or a closed folder hides. Pages that are
    /// gone are not included.
    pub fn rows(&self) -> &[PageRow] {
        self.pages.rows()
    }

    /// Returns the pages that pass the filter, in the current sort order, including pages in closed folders and pages
    /// that are gone. A page that is gone has no counts.
    pub fn shown_pages(&self) -> impl Iterator<Item = &PageRow> {
        self.passing_entries().filter_map(|entry| self.pages.row(entry))
    }

    /// Returns the number of pages that pass the filter, including pages that are gone.
    pub fn passing_count(&self) -> usize {
        self.measures.passing_count
    }

    /// Returns the number of pages that only a compared report has, including pages that the filter hides.
    pub fn compared_only_count(&self) -> usize {
        self.pages.compared_only_count()
    }

    /// Returns the numbers of a page in the current and in the previous range, even if the filter hides the page.
    /// `None` if neither the list nor a compared report contains the page.
    pub fn metrics(&self, path: &str) -> Option<PageMetrics<'_>> {
        self.pages.metrics(self.pages.find(path)?)
    }

    /// Returns the rank of a page by the metric among all pages, from 1; pages with equal numbers share a rank. `None`
    /// if not all pages are loaded, or if the page is not listed or its number is unknown.
    pub fn rank(&self, path: &str) -> Option<u32> {
        self.rank_of(self.pages.find(path)?)
    }

    /// Returns the pages that an action applies to: the marked pages that pass the filter, or the selected page if
    /// there are none. A page that is gone has no counts.
    pub fn chosen_pages(&self) -> Vec<&PageRow> {
        if self.marked_count() == 0 {
            return self.selected_row().into_iter().collect();
        }
        let marked = self.passing_entries().filter(|entry| self.marks.is_marked(*entry));
        marked.filter_map(|entry| self.pages.row(entry)).collect()
    }

    /// Returns the selected page; `None` on a folder.
    pub fn selected_row(&self) -> Option<&PageRow> {
        match self.lines.get(self.selected)?.item {
            TreeItem::Page(entry) => self.pages.row(entry),
            TreeItem::Folder(_) => None,
        }
    }

    /// Returns the selected folder; `None` on a page.
    pub fn selected_folder(&self) -> Option<&Folder> {
        match self.lines.get(self.selected)?.item {
            TreeItem::Page(_) => None,
            TreeItem::Folder(at) => self.folders.get(at as usize),
        }
    }

    /// Returns the index of the selected line.
    pub fn selected(&self) -> usize {
        self.selected
    }

    /// Returns the index of the first visible line.
    pub fn top(&self) -> usize {
        self.top.get()
    }

    pub fn len(&self) -> usize {
        self.lines.len()
    }

    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Returns the lines that are visible in `rows` rows.
    pub fn visible(&self, rows: usize) -> impl Iterator<Item = VisibleRow<'_>> {
        let lines = self.lines.iter().enumerate().skip(self.top()).take(rows);
        lines.filter_map(|(at, line)| self.visible_row(at, line))
    }

    /// Moves the selection down by this many lines, or up if negative.
    pub fn move_by(&mut self, by: isize) {
        self.select(scroll::move_within(self.selected, by, self.len()));
    }

    /// Selects the last line if `is_last` is set, otherwise the first line.
    pub fn select_first_or_last_line(&mut self, is_last: bool) {
        self.select(if is_last { self.len().saturating_sub(1) } else { 0 });
    }

    /// Whether a report is listed rather than one response of the service. Only a report can be sorted, filtered and
    /// folded.
    pub fn lists_report(&self) -> bool {
        self.pages.report().is_some()
    }

    /// Returns the sort order in effect: the chosen order, or the default order if the table doesn't have the chosen
    /// column now.
    pub fn sorting(&self) -> PageSorting {
        let is_available = self.sorting.by.is_available(self.comparison().is_some(), self.has_visitors());
        if is_available { self.sorting } else { PageSorting::default() }
    }

    /// Sets the sort order. Sorts a report and selects the first line; a response stays in the service's order.
    pub fn sort(&mut self, sorting: PageSorting) {
        self.sorting = sorting;
        if self.lists_report() {
            self.sort_entries();
            self.rebuild_lines();
            self.select_first_or_last_line(false);
        }
    }

    /// Returns the typed filter, which applies only to reports.
    pub fn filter_text(&self) -> &str {
        &self.filter_text
    }

    /// Whether a report is listed and filtered.
    pub fn is_filtered(&self) -> bool {
        self.lists_report() && !self.filter_text.trim().is_empty()
    }

    /// Returns which part of the filter is invalid and how to correct it; `None` if the filter is valid or doesn't
    /// apply.
    pub fn filter_problem(&self) -> Option<&str> {
        self.filter.problem().filter(|_| self.lists_report())
    }

    /// Returns what is wrong with a filter; `None` if it is valid for a table that shows this data.
    pub fn problem_of_filter(typed: &str, shown: FilterableData) -> Option<String> {
        PageFilter::parse(typed, shown).problem().map(str::to_owned)
    }

    /// Sets the text of the filter and applies it.
    pub fn set_filter(&mut self, typed: &str) {
        typed.clone_into(&mut self.filter_text);
        self.apply_filter();
        self.rebuild_lines();
    }

    /// Returns the metric that the bars and the ranks show: the chosen one, or the total if the table doesn't have it
    /// now.
    pub fn metric(&self) -> Metric {
        if self.metric.counts_visitors() && !self.has_visitors() { Metric::default() } else { self.metric }
    }

    /// Sets the metric, and sorts by it unless the pages are sorted by path.
    pub fn set_metric(&mut self, metric: Metric) {
        self.show_metric(metric);
        let by = match self.sorting.by {
            PageColumn::Path => return,
            PageColumn::Value(_) => PageColumn::Value(metric),
            PageColumn::Change(_) => PageColumn::Change(metric),
        };
        self.sort(PageSorting { by, ..self.sorting });
    }

    fn show_metric(&mut self, metric: Metric) {
        self.metric = metric;
        self.rank_all();
        self.measure();
    }

    /// Whether the bars are logarithmic. Bars of a share never are.
    pub fn has_log_scale(&self) -> bool {
        self.is_log_scale && self.metric() != Metric::Share
    }

    /// Switches between logarithmic and linear bars.
    pub fn toggle_log_scale(&mut self) {
        self.is_log_scale = !self.is_log_scale;
        self.measure();
    }

    /// Returns the scale of the bars, which all lines share.
    pub fn scale(&self) -> BarScale {
        self.measures.scale
    }

    /// Returns the widths, scale and counts that are computed over all lines.
    pub fn measures(&self) -> &Measures {
        &self.measures
    }

    /// Returns the sums over all rows, including rows that the filter hides.
    pub fn sums(&self) -> ViewSums {
        self.pages.sums()
    }

    /// Returns the width of the longest path in cells; in a tree, with space for the number of pages in a folder.
    pub fn longest_path_width(&self) -> usize {
        self.pages.longest_path_width() + if self.is_tree() { FOLDER_COUNT_CELLS } else { 0 }
    }

    /// Returns the number of rows without a valid total.
    pub fn rows_without_total(&self) -> usize {
        self.pages.rows_without_total()
    }

    fn set_source(&mut self, source: RowSource) {
        self.source = source;
        self.apply_source();
    }

    /// Shows the visitors of the pages, or hides them.
    pub fn set_visitors(&mut self, visitors: Option<VisitorReports>) {
        self.visitors = visitors;
        self.apply_source();
    }

    /// Whether the visitors of the pages are shown, even if they are still being loaded.
    pub fn has_visitors(&self) -> bool {
        self.visitors.is_some()
    }

    /// Returns which data the listed pages can be filtered by.
    fn filterable_data(&self) -> FilterableData {
        FilterableData { is_compared: self.comparison().is_some(), has_visitors: self.has_visitors() }
    }

    fn apply_source(&mut self) {
        self.anchor_unless_empty();
        let path = self.anchor_path();
        self.marks.save_paths(&self.pages);
        let source = match &self.visitors {
            None => self.source.clone(),
            Some(visitors) => self.source.with_visitors(visitors),
        };
        self.pages.replace(source);
        self.marks.restore(&self.pages);
        self.apply_filter();
        self.sort_entries();
        self.rank_all();
        self.anchor = path.map_or(SelectionAnchor::None, |path| self.anchor_for_path(path));
        self.rebuild_lines();
    }

    /// Sorts all entries; the entries of a response stay in the service's order.
    fn sort_entries(&mut self) {
        if !self.lists_report() {
            self.order = (0..to_u32(self.pages.len())).collect();
            return;
        }
        let sorting = self.sorting();
        if sorting == PageSorting::by(PageColumn::Path) {
            self.order = self.pages.by_path().to_vec();
            return;
        }
        let number = |entry: u32| self.pages.metrics(entry).and_then(|figures| sorting.by.sort_number(&figures));
        let by_path = self.pages.by_path().iter().enumerate();
        let mut keys: Vec<(u128, u32)> =
            by_path.map(|(place, entry)| (sorting.sort_key(number(*entry), to_u32(place)), *entry)).collect();
        keys.sort_unstable();
        self.order = keys.into_iter().map(|(_, entry)| entry).collect();
    }

    /// Parses the filter, and finds the entries that pass.
    fn apply_filter(&mut self) {
        self.filter = PageFilter::parse(&self.filter_text, self.filterable_data());
        let all = !self.is_filtered();
        let passes = |entry: u32| {
            all || self.pages.metrics(entry).is_some_and(|figures| self.filter.passes(self.pages.path(entry), &figures))
        };
        self.passes_filter = (0..to_u32(self.pages.len())).map(passes).collect();
    }

    /// Rebuilds the lines from the entries that pass the filter, and finds the selected page or folder among them.
    fn rebuild_lines(&mut self) {
        if self.is_tree() {
            let passing = |entry: &u32| self.passes_filter.get(*entry as usize).copied().unwrap_or(false);
            let entries: Vec<u32> = self.pages.by_path().iter().copied().filter(passing).collect();
            let (sorting, marked) = (self.sorting(), self.marks.marks_by_entry());
            (self.lines, self.folders) =
                PathTree { pages: &self.pages, sorting, open_folders: &self.open_folders, marked }.lines(&entries);
        } else {
            self.lines = self
                .passing_entries()
                .map(|entry| TreeLine { item: TreeItem::Page(entry), depth: 0, prefix_len: 0 })
                .collect();
            self.folders.clear();
        }
        self.measure();
        self.restore_selection();
    }

    /// Returns the entries that pass the filter, in the current order.
    fn passing_entries(&self) -> impl Iterator<Item = u32> {
        let passing = |entry: &u32| self.passes_filter.get(*entry as usize).copied().unwrap_or(false);
        self.order.iter().copied().filter(passing)
    }

    fn visible_row(&self, at: usize, line: &TreeLine) -> Option<VisibleRow<'_>> {
        let depth = usize::from(line.depth);
        match line.item {
            TreeItem::Page(entry) => {
                let figures = self.pages.metrics(entry)?;
                let place = entry as usize;
                let service_index = (place < self.rows().len()).then_some(place);
                Some(VisibleRow {
                    index: at,
                    depth,
                    name: line.name(self.pages.path(entry)),
                    adds_up: figures.counts_shown().adds_up(),
                    metrics: figures,
                    is_marked: self.marks.is_marked(entry),
                    kind: RowKind::Page { service_index, rank: self.rank_of(entry) },
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
                    is_marked: folder.marked_count == folder.page_count,
                    kind: RowKind::Folder(folder),
                })
            }
        }
    }

    fn rank_of(&self, entry: u32) -> Option<u32> {
        self.ranks.get(entry as usize).copied().filter(|rank| *rank > 0)
    }
}
