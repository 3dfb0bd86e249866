//! The pages to list, joined with the pages of the compared reports. Joined again only when the source of the rows
//! changes.

use super::comparison::{ComparisonBaseline, PageMetrics};
use super::order::compare_paths;
use crate::model::analytics::RowsReport;
use crate::model::comparison::Comparison;
use crate::model::period::DateRange;
use crate::model::report::{Report, ViewSums};
use crate::model::views::{Count, Counts, PageRow};
use crate::tui::format::display_width;
use std::collections::HashMap;
use std::sync::Arc;

/// The data whose rows are listed.
#[derive(Debug, Clone, Default)]
pub enum RowSource {
    /// Nothing is loaded.
    #[default]
    Nothing,
    /// One response of a range, in the service's order; the total number of rows is unknown.
    Response(DateRange, Vec<PageRow>),
    /// All loaded pages of a range, and the compared reports.
    Report { shown: Arc<Report>, comparison: Option<Comparison> },
}

/// The visitors of the pages in several ranges.
pub type VisitorReports = HashMap<DateRange, Arc<RowsReport<PageRow>>>;

impl RowSource {
    /// Returns a copy of the source with the visitors of its pages, if they are loaded.
    pub(super) fn with_visitors(&self, visitors: &VisitorReports) -> Self {
        match self {
            Self::Nothing => Self::Nothing,
            Self::Response(range, rows) => {
                let mut rows = rows.clone();
                if let Some(visitors) = visitors.get(range) {
                    add_visitors(&mut rows, visitors);
                }
                Self::Response(*range, rows)
            }
            Self::Report { shown, comparison } => {
                let joined = report_with_visitors(shown, visitors);
                let of_comparison = |report: &Arc<Report>| {
                    // If the listed report is also part of the comparison, both keep sharing one `Arc`.
                    if Arc::ptr_eq(report, shown) {
                        Arc::clone(&joined)
                    } else {
                        report_with_visitors(report, visitors)
                    }
                };
                let comparison = comparison.as_ref().map(|comparison| Comparison {
                    current: of_comparison(&comparison.current),
                    previous: of_comparison(&comparison.previous),
                });
                Self::Report { shown: joined, comparison }
            }
        }
    }
}

/// Returns the report with the visitors of its pages and of the site, if the visitors of its range are known.
fn report_with_visitors(report: &Arc<Report>, visitors: &VisitorReports) -> Arc<Report> {
    let Some(visitors) = visitors.get(&report.range) else { return Arc::clone(report) };
    let mut joined = Report::clone(report);
    joined.totals.visitors = Some(Box::new(visitors.totals.clone()));
    add_visitors(&mut joined.rows, visitors);
    Arc::new(joined)
}

/// Adds the visitors of the pages. A page that a complete report of visitors doesn't list had no visitors.
fn add_visitors(rows: &mut [PageRow], visitors: &RowsReport<PageRow>) {
    let by_path: HashMap<&str, &Counts> = visitors.rows.iter().map(|row| (row.path.as_str(), &row.counts)).collect();
    let unlisted = visitors.is_complete().then(|| Counts::new(Count::Known(0), Count::Known(0), Count::Known(0)));
    for row in rows {
        let found = by_path.get(row.path.as_str()).copied().or(unlisted.as_ref());
        row.counts.visitors = found.cloned().map(Box::new);
    }
}

/// Takes the place of a page's index if a report doesn't have the page.
const NO_INDEX: u32 = u32::MAX;

/// Row indexes of a page in the two compared reports, or [`NO_INDEX`].
#[derive(Debug, Clone, Copy)]
struct PageIndexes {
    current_index: u32,
    previous_index: u32,
}

/// All pages. An entry is the index of a page: first come the rows of the source, then the pages that only a compared
/// report has.
#[derive(Debug, Default)]
pub(super) struct PageData {
    source: RowSource,
    /// The pages that a compared report has but the source lacks. Their rows have no counts.
    absent: Vec<PageRow>,
    /// The row indexes of each entry in the compared reports; empty if nothing is compared.
    indexes: Vec<PageIndexes>,
    /// All entries in the order of their paths.
    by_path: Vec<u32>,
    /// For each entry, its index in `by_path`.
    path_positions: Vec<u32>,
    sums: ViewSums,
    /// Number of rows without a valid total.
    rows_without_total: usize,
    /// Width of the longest path in cells.
    longest_path_width: usize,
}

/// Converts an index to 32 bits, which saves memory; there are never 2³² rows.
pub(super) fn to_u32(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl PageData {
    /// Returns the rows of the source, in the order of the source.
    pub(super) fn rows(&self) -> &[PageRow] {
        match &self.source {
            RowSource::Nothing => &[],
            RowSource::Response(_, rows) => rows,
            RowSource::Report { shown, .. } => &shown.rows,
        }
    }

    /// Replaces the source of the rows, and recomputes everything that depends on it.
    pub(super) fn replace(&mut self, source: RowSource) {
        let same = match (&self.source, &source) {
            (RowSource::Report { shown: old, .. }, RowSource::Report { shown: new, .. }) => Arc::ptr_eq(old, new),
            _ => false,
        };
        self.source = source;
        let rows = self.rows().len();
        if same {
            // Only the comparison changes. The rows of the source stay in `by_path`, because sorting paths is
            // expensive. The pages that only the old comparison contained are removed.
            self.by_path.retain(|entry| (*entry as usize) < rows);
        } else {
            let mut by_path: Vec<(&str, u32)> =
                self.rows().iter().enumerate().map(|(n, row)| (row.path.as_str(), to_u32(n))).collect();
            by_path.sort_unstable_by(|a, b| compare_paths(a.0, b.0).then(a.1.cmp(&b.1)));
            self.by_path = by_path.into_iter().map(|(_, entry)| entry).collect();
            self.sums = self.rows().iter().fold(ViewSums::default(), |sums, row| sums.plus(&row.counts));
            self.rows_without_total = self.rows().iter().filter(|row| row.counts.total.value().is_none()).count();
        }
        (self.indexes, self.absent) = match &self.source {
            RowSource::Report { shown, comparison: Some(comparison) } => join_reports(shown, comparison),
            _ => Default::default(),
        };
        self.merge_absent_pages(rows);
        self.longest_path_width =
            self.rows().iter().chain(&self.absent).map(|row| display_width(row.path.as_str())).max().unwrap_or(0);
        self.path_positions = vec![0; self.by_path.len()];
        for (place, entry) in self.by_path.iter().enumerate() {
            if let Some(position) = self.path_positions.get_mut(*entry as usize) {
                *position = to_u32(place);
            }
        }
    }

    /// Inserts into `by_path` the pages that only a compared report has.
    fn merge_absent_pages(&mut self, rows: usize) {
        let mut absent: Vec<u32> = (0..self.absent.len()).map(|n| to_u32(rows + n)).collect();
        if absent.is_empty() {
            return;
        }
        absent.sort_unstable_by(|a, b| compare_paths(self.path(*a), self.path(*b)));
        let mut merged = Vec::with_capacity(self.by_path.len() + absent.len());
        let mut absent = absent.into_iter().peekable();
        for entry in &self.by_path {
            while let Some(other) = absent.next_if(|other| compare_paths(self.path(*other), self.path(*entry)).is_lt())
            {
                merged.push(other);
            }
            merged.push(*entry);
        }
        merged.extend(absent);
        self.by_path = merged;
    }

    /// Returns the number of entries, including pages that only a compared report has.
    pub(super) fn len(&self) -> usize {
        self.by_path.len()
    }

    /// Returns the number of pages that only a compared report has.
    pub(super) fn compared_only_count(&self) -> usize {
        self.absent.len()
    }

    /// Returns the page of an entry.
    pub(super) fn row(&self, entry: u32) -> Option<&PageRow> {
        let at = entry as usize;
        let rows = self.rows();
        rows.get(at).or_else(|| self.absent.get(at.checked_sub(rows.len())?))
    }

    pub(super) fn path(&self, entry: u32) -> &str {
        self.row(entry).map_or("", |row| row.path.as_str())
    }

    pub(super) fn metrics(&self, entry: u32) -> Option<PageMetrics<'_>> {
        let counts = &self.row(entry)?.counts;
        let is_listed = (entry as usize) < self.rows().len();
        let (Some(comparison), Some(indexes)) = (self.comparison(), self.indexes.get(entry as usize)) else {
            return Some(PageMetrics::of(counts, ComparisonBaseline::Uncompared));
        };
        let (current, previous) = (&comparison.current, &comparison.previous);
        let of_current = current.rows.get(indexes.current_index as usize).map(|row| &row.counts);
        let of_previous = previous.rows.get(indexes.previous_index as usize).map(|row| &row.counts);
        let then = match (of_current, of_previous) {
            (Some(_), Some(previous)) => ComparisonBaseline::Counts(previous),
            (Some(_), None) if previous.complete => ComparisonBaseline::New,
            (None, Some(previous)) if current.complete => ComparisonBaseline::Gone(previous),
            (None, None) if current.complete && previous.complete => ComparisonBaseline::Neither,
            _ => ComparisonBaseline::Unknown,
        };
        let ranges = Some(comparison.ranges());
        Some(PageMetrics { counts, is_listed, compared_counts: of_current.unwrap_or(counts), baseline: then, ranges })
    }

    /// Returns the entry of the page with this path.
    pub(super) fn find(&self, path: &str) -> Option<u32> {
        let at = self.by_path.binary_search_by(|entry| compare_paths(self.path(*entry), path)).ok()?;
        self.by_path.get(at).copied()
    }

    /// Returns all entries in the order of their paths.
    pub(super) fn by_path(&self) -> &[u32] {
        &self.by_path
    }

    /// Returns the position of an entry in the order of the paths.
    pub(super) fn path_position(&self, entry: u32) -> u32 {
        self.path_positions.get(entry as usize).copied().unwrap_or(u32::MAX)
    }

    /// Returns the listed report; `None` if a response or nothing is listed.
    pub(super) fn report(&self) -> Option<&Arc<Report>> {
        match &self.source {
            RowSource::Report { shown, .. } => Some(shown),
            RowSource::Nothing | RowSource::Response(..) => None,
        }
    }

    /// Returns the compared reports; `None` if nothing is compared.
    pub(super) fn comparison(&self) -> Option<&Comparison> {
        match &self.source {
            RowSource::Report { comparison, .. } => comparison.as_ref(),
            RowSource::Nothing | RowSource::Response(..) => None,
        }
    }

    /// Returns the sums over all rows.
    pub(super) fn sums(&self) -> ViewSums {
        self.sums
    }

    /// Returns the width of the longest path in cells.
    pub(super) fn longest_path_width(&self) -> usize {
        self.longest_path_width
    }

    /// Returns the number of rows without a valid total.
    pub(super) fn rows_without_total(&self) -> usize {
        self.rows_without_total
    }
}

/// Joins the listed report with the compared reports. Returns the row indexes of each entry in the compared reports,
/// and the pages that only a compared report has.
fn join_reports(shown: &Arc<Report>, comparison: &Comparison) -> (Vec<PageIndexes>, Vec<PageRow>) {
    let missing = PageIndexes { current_index: NO_INDEX, previous_index: NO_INDEX };
    let mut indexes = vec![missing; shown.rows.len()];
    let mut absent = Vec::new();
    let mut entries: HashMap<&str, usize> =
        shown.rows.iter().enumerate().map(|(entry, row)| (row.path.as_str(), entry)).collect();
    for (report, is_current) in [(&comparison.current, true), (&comparison.previous, false)] {
        for (index, row) in report.rows.iter().enumerate() {
            let is_same = Arc::ptr_eq(report, shown);
            let known = if is_same { Some(index) } else { entries.get(row.path.as_str()).copied() };
            let entry = match known {
                Some(entry) => entry,
                // `shown` is not loaded completely, so this page may be in the part that is missing.
                None if !shown.complete => continue,
                None => {
                    absent.push(PageRow { path: row.path.clone(), counts: Counts::default() });
                    indexes.push(missing);
                    entries.insert(row.path.as_str(), indexes.len() - 1);
                    indexes.len() - 1
                }
            };
            if let Some(of_entry) = indexes.get_mut(entry) {
                *(if is_current { &mut of_entry.current_index } else { &mut of_entry.previous_index }) = to_u32(index);
            }
        }
    }
    (indexes, absent)
}
