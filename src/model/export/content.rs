//! The page views of an export, the same for all formats.

use crate::model::Time;
use crate::model::comparison::{ComparedRanges, Comparison};
use crate::model::number_format::plural;
use crate::model::period::DateRange;
use crate::model::report::Report;
use crate::model::views::{Count, Counts, DecimalCount, PageRow, ViewsResponse};
use std::collections::{HashMap, HashSet};

/// The views of a page in the previous range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreviousViews<'a> {
    /// There is no comparison, or the previous range is only partly loaded and the page is not among its loaded pages.
    Unknown,
    /// The previous range is fully loaded and doesn't list the page.
    New,
    Counts(&'a Counts),
}

/// One page of an export with its views.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportedPage<'a> {
    pub path: &'a str,
    /// The views in the exported range; `None` if only a compared range lists the page.
    pub counts: Option<&'a Counts>,
    /// The views in the compared days of the exported range; `None` if the page isn't listed for these days.
    pub compared_days_counts: Option<&'a Counts>,
    /// The views in the previous range.
    pub previous: PreviousViews<'a>,
}

/// The compared ranges and the site's totals in each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportedComparison<'a> {
    pub ranges: ComparedRanges,
    pub current: &'a Counts,
    pub previous: &'a Counts,
    /// Whether all pages of the previous range are loaded.
    pub is_previous_complete: bool,
}

/// The data of an export.
#[derive(Debug, Clone)]
pub struct ExportContent<'a> {
    pub range: DateRange,
    /// The site's totals of the range, which don't depend on the exported pages.
    pub totals: &'a Counts,
    pub pages: Vec<ExportedPage<'a>>,
    /// Whether all pages of the range are loaded.
    pub is_fully_loaded: bool,
    /// The number of loaded pages that a filter or folding excludes from the export.
    pub excluded_count: usize,
    /// When the oldest response about `range` was received. The responses about compared ranges don't count.
    pub as_of: Time,
    pub comparison: Option<ExportedComparison<'a>>,
}

impl<'a> ExportContent<'a> {
    /// Creates the export of one response. `has_all_pages` is true if the response contains all pages of the range.
    pub fn from_response(range: DateRange, response: &'a ViewsResponse, has_all_pages: bool, as_of: Time) -> Self {
        Self {
            range,
            totals: &response.totals,
            pages: response.rows.iter().map(uncompared_page).collect(),
            is_fully_loaded: has_all_pages,
            excluded_count: 0,
            as_of,
            comparison: None,
        }
    }

    /// Creates the export of all pages of a report, in the report's order, followed by the pages that only the
    /// comparison's reports contain.
    pub fn from_report(report: &'a Report, comparison: Option<&'a Comparison>) -> Self {
        // If the report is partial, no pages are added, because the report's range may have these pages, although they
        // aren't loaded yet.
        let others =
            comparison.filter(|_| report.complete).map(|comparison| [&comparison.current, &comparison.previous]);
        let mut known: HashSet<&str> = match others {
            None => HashSet::new(),
            Some(_) => report.rows.iter().map(|row| row.path.as_str()).collect(),
        };
        let others = others.into_iter().flatten().flat_map(|other| &other.rows);
        let absent: Vec<&PageRow> = others.filter(|row| known.insert(row.path.as_str())).collect();
        Self::from_pages(report, comparison, report.rows.iter().chain(absent))
    }

    /// Creates the export of the given pages in the given order. With a comparison, only their paths are used: the
    /// counts of a page come from the report and from the two reports of the comparison.
    pub fn from_pages(
        report: &'a Report,
        comparison: Option<&'a Comparison>,
        pages: impl Iterator<Item = &'a PageRow>,
    ) -> Self {
        let pages: Vec<ExportedPage<'a>> = match comparison {
            None => pages.map(uncompared_page).collect(),
            Some(comparison) => {
                let [listed, current, previous] =
                    [report, &*comparison.current, &*comparison.previous].map(counts_by_path);
                let missing = if comparison.previous.complete { PreviousViews::New } else { PreviousViews::Unknown };
                let compared = |row: &'a PageRow| {
                    let path = row.path.as_str();
                    let previous = previous.get(path).map_or(missing, |counts| PreviousViews::Counts(counts));
                    ExportedPage {
                        path,
                        counts: listed.get(path).copied(),
                        compared_days_counts: current.get(path).copied(),
                        previous,
                    }
                };
                pages.map(compared).collect()
            }
        };
        let shown = pages.iter().filter(|page| page.counts.is_some()).count();
        Self {
            range: report.range,
            totals: &report.totals,
            excluded_count: report.rows.len().saturating_sub(shown),
            pages,
            is_fully_loaded: report.complete,
            as_of: report.as_of,
            comparison: comparison.map(|comparison| ExportedComparison {
                ranges: comparison.ranges(),
                current: &comparison.current.totals,
                previous: &comparison.previous.totals,
                is_previous_complete: comparison.previous.complete,
            }),
        }
    }

    /// Returns the comparison if it leaves out days of the exported range, because the range includes today and only
    /// complete days are compared.
    pub(super) fn complete_days_comparison(&self) -> Option<ExportedComparison<'a>> {
        self.comparison.filter(|compared| compared.ranges.current != self.range)
    }

    /// Replaces the pages of the export with the given ones. The pages that this removes count as excluded.
    #[must_use]
    pub fn with_pages(mut self, pages: impl Iterator<Item = &'a PageRow>) -> Self {
        let before = self.pages.len();
        self.pages = pages.map(uncompared_page).collect();
        self.excluded_count = before.saturating_sub(self.pages.len());
        self
    }

    /// Whether the visitors of any page are known. Only then are visitors exported.
    pub(super) fn has_visitors(&self) -> bool {
        self.pages.iter().filter_map(|page| page.counts).any(|counts| counts.visitors.is_some())
    }

    /// Whether the export contains all pages of the range.
    pub fn is_complete(&self) -> bool {
        self.is_fully_loaded && self.excluded_count == 0
    }

    /// Returns sentences about what is missing from the export; none if it is complete.
    pub fn notes_on_missing_pages(&self) -> Vec<String> {
        let left_out = (self.excluded_count > 0)
            .then(|| format!("Left out: {}.", plural(self.excluded_count, "more loaded page")));
        let partial = (!self.is_fully_loaded).then(|| "Partial: not all pages are loaded.".to_owned());
        partial.into_iter().chain(left_out).collect()
    }
}

/// Converts a row to an exported page without a comparison.
fn uncompared_page(row: &PageRow) -> ExportedPage<'_> {
    ExportedPage {
        path: row.path.as_str(),
        counts: Some(&row.counts),
        compared_days_counts: Some(&row.counts),
        previous: PreviousViews::Unknown,
    }
}

fn counts_by_path(report: &Report) -> HashMap<&str, &Counts> {
    report.rows.iter().map(|row| (row.path.as_str(), &row.counts)).collect()
}

/// Returns the count as received, or an empty text if it is missing.
pub fn format_as_received(count: &Count) -> String {
    match count {
        Count::Known(n) => n.to_string(),
        Count::NonInteger(n) => n.to_string(),
        Count::Other(text) => text.as_str().to_owned(),
        Count::Missing => String::new(),
    }
}

/// Marks a page that only one of the two compared ranges lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PagePresence {
    New,
    Gone,
}

impl PagePresence {
    /// Returns the word that exports contain as the status of the page.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Gone => "gone",
        }
    }
}

/// Returns whether a page is new or gone, or `None` if both ranges list it or if this is unknown.
pub(super) fn page_presence(page: &ExportedPage<'_>) -> Option<PagePresence> {
    match (page.compared_days_counts, page.previous) {
        (Some(_), PreviousViews::New) => Some(PagePresence::New),
        (None, PreviousViews::Counts(_)) => Some(PagePresence::Gone),
        _ => None,
    }
}

/// Returns the change of a page's total views, per day if the ranges differ in length. A new page counts as 0 in the
/// previous range, and a page that is gone as 0 in the current range. Returns `None` if the current or the previous
/// total is unknown.
pub(super) fn change_in_total(page: &ExportedPage<'_>, ranges: ComparedRanges) -> Option<DecimalCount> {
    let current =
        page.compared_days_counts.map(|counts| counts.total.value().map(|views| ranges.comparable_current(views)));
    let previous = |counts: &Counts| counts.total.value().map(|views| ranges.comparable_previous(views));
    match (current, page.previous) {
        (Some(current), PreviousViews::New) => current,
        (Some(current), PreviousViews::Counts(counts)) => Some(current? - previous(counts)?),
        (None, PreviousViews::Counts(counts)) => previous(counts).map(|previous| DecimalCount::ZERO - previous),
        (_, PreviousViews::Unknown) | (None, PreviousViews::New) => None,
    }
}

/// Formats the AI share (AI views divided by human + AI views, 0 to 1) with four decimals; empty if it is unknown.
pub(super) fn ai_share_text(counts: &Counts) -> String {
    counts.ai_share().map(|share| format!("{share:.4}")).unwrap_or_default()
}
