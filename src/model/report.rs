//! Reports of page views in a date range. A report is merged from several responses, each with as many rows as the
//! service allows. This module also estimates how many requests a report needs, and describes the progress of loading.

use super::Time;
use super::analytics::AnalyticsKind;
use super::failure::Failure;
use super::load::Timed;
use super::period::DateRange;
use super::text::CleanText;
use super::views::{Count, Counts, DecimalCount, MAX_PAGE_SIZE, PageRow, ViewsResponse, as_f64};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// The page views of a date range, all or only those loaded so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub range: DateRange,
    /// The site's totals, from the last response.
    pub totals: Counts,
    /// The loaded pages, each path once, in the service's order.
    pub rows: Vec<PageRow>,
    /// The number of received rows whose path was already in the report, for example because the data changed between
    /// two requests. Such a row replaces the counts of the earlier row.
    pub duplicates: u32,
    /// The number of responses that were merged.
    pub responses: u32,
    /// Whether the service reported that there are no more rows.
    pub complete: bool,
    /// When the oldest merged response was received.
    pub as_of: Time,
}

impl Report {
    /// Creates a report from the first response.
    pub fn from_first_response(range: DateRange, response: ViewsResponse, complete: bool, as_of: Time) -> Self {
        let mut report = Self {
            range,
            totals: Counts::default(),
            rows: Vec::with_capacity(response.rows.len()),
            duplicates: 0,
            responses: 0,
            complete: false,
            as_of,
        };
        report.add_response(response, complete, as_of);
        report
    }

    /// Merges the next response. Use a [`ReportMerge`] to merge many responses, because it is faster.
    pub fn add_response(&mut self, response: ViewsResponse, complete: bool, as_of: Time) {
        ReportIndex::new(&self.rows).add_response_to(self, response, complete, as_of);
    }

    /// Adds up the human, AI and total views of all rows. Values that aren't valid counts are ignored.
    pub fn sums(&self) -> ViewSums {
        self.rows.iter().fold(ViewSums::default(), |sums, row| sums.plus(&row.counts))
    }

    /// Returns the share of the site's total views that the loaded rows have, 0 to 1. Returns `None` if the site's
    /// total is 0 or not a valid count.
    pub fn loaded_share(&self) -> Option<f64> {
        self.share(self.sums().total)
    }

    fn share(&self, loaded: DecimalCount) -> Option<f64> {
        let total = self.totals.total.value().filter(|total| !total.is_zero())?;
        Some(loaded.ratio_to(total).min(1.0))
    }
}

/// A report with an index of its rows. The time for merging a response depends only on the size of the response.
#[derive(Debug, Clone)]
pub struct ReportMerge {
    report: Report,
    index: ReportIndex,
}

impl ReportMerge {
    /// Creates the index of an existing report, so that more responses can be merged into it.
    pub fn new(report: Report) -> Self {
        Self { index: ReportIndex::new(&report.rows), report }
    }

    /// Merges `response` into `so_far`, or starts a report with it if `so_far` is `None`.
    #[must_use]
    pub fn add_or_start(
        so_far: Option<Self>,
        range: DateRange,
        response: ViewsResponse,
        complete: bool,
        as_of: Time,
    ) -> Self {
        match so_far {
            Some(mut merge) => {
                merge.add_response(response, complete, as_of);
                merge
            }
            None => Self::new(Report::from_first_response(range, response, complete, as_of)),
        }
    }

    pub fn report(&self) -> &Report {
        &self.report
    }

    pub fn into_report(self) -> Report {
        self.report
    }

    /// Whether the report contains this path.
    pub fn contains(&self, path: &CleanText) -> bool {
        self.index.row_indices.contains_key(path)
    }

    /// Merges the next response. See [`Report::add_response`].
    pub fn add_response(&mut self, response: ViewsResponse, complete: bool, as_of: Time) {
        self.index.add_response_to(&mut self.report, response, complete, as_of);
    }

    /// Returns the share of views that are loaded. See [`Report::loaded_share`].
    pub fn loaded_share(&self) -> Option<f64> {
        self.report.share(self.index.total)
    }
}

/// An index of a report's rows by path, and the sum of their total views.
#[derive(Debug, Clone)]
struct ReportIndex {
    /// The position of each path in the report's rows.
    row_indices: HashMap<CleanText, usize>,
    /// The sum of the total views of all rows.
    total: DecimalCount,
}

impl ReportIndex {
    fn new(rows: &[PageRow]) -> Self {
        let row_indices = rows.iter().enumerate().map(|(position, row)| (row.path.clone(), position)).collect();
        Self { row_indices, total: rows.iter().map(|row| total_views(&row.counts)).sum() }
    }

    fn add_response_to(&mut self, report: &mut Report, response: ViewsResponse, complete: bool, as_of: Time) {
        for row in response.rows {
            self.total = self.total + total_views(&row.counts);
            match self.row_indices.entry(row.path.clone()) {
                Entry::Occupied(entry) => {
                    let Some(known) = report.rows.get_mut(*entry.get()) else { continue };
                    self.total = self.total - total_views(&known.counts);
                    known.counts = row.counts;
                    report.duplicates = report.duplicates.saturating_add(1);
                }
                Entry::Vacant(entry) => {
                    entry.insert(report.rows.len());
                    report.rows.push(row);
                }
            }
        }
        report.totals = response.totals;
        report.responses = report.responses.saturating_add(1);
        report.complete = complete;
        report.as_of = report.as_of.min(as_of);
    }
}

fn total_views(counts: &Counts) -> DecimalCount {
    counts.total.value().unwrap_or_default()
}

/// The sums of the human, AI and total views of several pages. They saturate instead of overflowing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ViewSums {
    pub human: DecimalCount,
    pub ai: DecimalCount,
    pub total: DecimalCount,
}

impl ViewSums {
    /// Returns these sums plus the given counts.
    #[must_use]
    pub fn plus(self, counts: &Counts) -> Self {
        let add = |sum: DecimalCount, count: &Count| sum + count.value().unwrap_or_default();
        Self {
            human: add(self.human, &counts.human),
            ai: add(self.ai, &counts.ai),
            total: add(self.total, &counts.total),
        }
    }
}

/// The data about a date range that is stored on this computer. Reading it uses no requests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoredReport {
    /// The complete report, or the rows of an interrupted load if there is no complete report.
    pub report: Option<Arc<Report>>,
    /// The number of responses that an interrupted load had received; `None` if there is no load to continue.
    pub responses_before_interruption: Option<u32>,
    /// The site's totals, from the last response about this range.
    pub totals: Option<Timed<Counts>>,
    /// The number of requests that loading the stored complete report took; `None` if there is no complete report.
    pub last_load_requests: Option<u32>,
    /// Another fully loaded range, the one most similar to this range in length; `None` if this range has a complete
    /// report itself, or if no other range has one.
    pub range_of_similar_length: Option<SimilarRange>,
}

/// A fully loaded range from which the size of another range is estimated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimilarRange {
    pub range: DateRange,
    pub rows: u32,
}

/// An estimate of how many requests are needed in total to load all pages of a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadEstimate {
    pub requests: u32,
    pub basis: EstimateBasis,
}

/// What an estimate is based on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EstimateBasis {
    /// The number of requests that the previous load of the same range took.
    PreviousLoad,
    Similar(SimilarRange),
    /// The number of loaded rows and their share of the site's views, 0 to 1.
    FirstRows {
        rows: u64,
        share: f64,
    },
}

impl StoredReport {
    /// Estimates from stored data how many requests are needed to load all pages. Returns `None` if the data is not
    /// sufficient.
    pub fn estimate_load(&self) -> Option<LoadEstimate> {
        if let Some(requests) = self.last_load_requests {
            return Some(LoadEstimate { requests, basis: EstimateBasis::PreviousLoad });
        }
        if let Some(similar) = self.range_of_similar_length {
            return Some(LoadEstimate {
                requests: requests_for(similar.rows.into()),
                basis: EstimateBasis::Similar(similar),
            });
        }
        let part = self.report.as_ref().filter(|report| !report.complete)?;
        LoadEstimate::from_first_rows(&part.rows, &part.totals)
    }
}

impl LoadEstimate {
    /// Estimates the requests from the first rows of a range and the site's totals. Returns `None` if these are not
    /// sufficient.
    pub fn from_first_rows(first: &[PageRow], totals: &Counts) -> Option<Self> {
        let all = totals.total.value()?.as_f64();
        let counted: Vec<f64> = first.iter().map(|row| total_views(&row.counts).as_f64()).collect();
        let (rows, loaded) = (as_f64(u64::try_from(counted.len()).ok()?), counted.iter().sum::<f64>());
        let rest = all - loaded;
        // If the loaded rows have all views, pages that aren't loaded have none, so their number can't be estimated.
        if counted.len() < MIN_ROWS_FOR_ESTIMATE || loaded <= 0.0 || rest <= 0.0 {
            return None;
        }
        let last = counted.last().copied().unwrap_or_default();
        let more = match counted.is_sorted_by(|one, next| one >= next) {
            // Assumes a long tail: after the last loaded row, the views of pages fall evenly on a log scale down to 1.
            true if last > 1.0 => rest * last.ln() / (last - 1.0),
            true if last > 0.0 => rest / last,
            _ => rest * rows / loaded,
        };
        let count = Count::from_f64((rows + more.min(MAX_ESTIMATED_ROWS)).round())?.value()?;
        let requests = requests_for(u64::try_from(count.rounded()).ok()?);
        let basis = EstimateBasis::FirstRows { rows: u64::try_from(counted.len()).ok()?, share: loaded / all };
        Some(Self { requests, basis })
    }
}

/// The minimum number of loaded rows for an estimate.
const MIN_ROWS_FOR_ESTIMATE: usize = 10;
/// The maximum number of rows that an estimate adds to the loaded rows. Loading this many takes 1,000 requests, which
/// is ten hours at the hourly limit.
const MAX_ESTIMATED_ROWS: f64 = 250_000.0;

/// Returns how many requests are needed for this many rows at the largest page size, at least one.
pub fn requests_for(rows: u64) -> u32 {
    u32::try_from(rows.div_ceil(u64::from(MAX_PAGE_SIZE))).unwrap_or(u32::MAX).max(1)
}

/// How to load all pages of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadPlan {
    pub range: DateRange,
    /// Whether to start again instead of continuing an interrupted load.
    pub from_start: bool,
    /// The number of requests after which docdeck stops and asks the user.
    pub max_requests: u32,
    /// The percentage of all views at which docdeck stops; `None` to load all pages.
    pub stop_at_percent: Option<u8>,
}

/// The progress of loading, reported after each response.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadProgress {
    pub range: DateRange,
    /// The number of loaded rows, each path counted once.
    pub rows: usize,
    /// The number of merged responses, including responses from before an interruption.
    pub responses: u32,
    /// The number of requests that this load has used so far.
    pub requests: u32,
    /// The share of the site's total views that the loaded rows have, 0 to 1; `None` if unknown.
    pub share: Option<f64>,
    /// Whether all pages of the range are loaded.
    pub is_complete: bool,
}

/// Why a load ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadEndReason {
    /// All pages are loaded.
    Complete,
    /// The load was stopped on request.
    Stopped,
    /// The load made the maximum number of requests, [`LoadPlan::max_requests`].
    RequestLimit,
    /// [`LoadPlan::stop_at_percent`] was reached before the last page.
    TargetReached,
    Failed(Failure),
}

/// The result of loading all pages of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadOutcome {
    /// The report that is stored now: a complete one (possibly from an earlier load), otherwise the rows loaded so far.
    /// `None` if nothing was loaded.
    pub report: Option<Arc<Report>>,
    pub end_reason: LoadEndReason,
    /// The number of requests that this load used.
    pub requests: u32,
}

/// A date range of which something is cached on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedRange {
    pub range: DateRange,
    /// The time at which the page views were loaded. If no page views are cached, the time at which the oldest of the
    /// other reports was loaded.
    pub as_of: Time,
    /// The page views, if they are cached.
    pub views: Option<CachedPages>,
    /// The kinds of the cached reports other than page views.
    pub reports: Vec<AnalyticsKind>,
}

/// The cached page views of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CachedPages {
    pub rows: u32,
    pub complete: bool,
    pub totals: Counts,
}

/// The date ranges whose reports are cached, and their size on disk.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CacheOverview {
    /// The cached ranges, sorted by last day, latest first.
    pub ranges: Vec<CachedRange>,
    /// The approximate size on disk, in bytes.
    pub bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(path: &str, human: i64, ai: i64) -> PageRow {
        let counts = Counts::new(Count::Known(human), Count::Known(ai), Count::Known(human + ai));
        PageRow { path: CleanText::line(path), counts }
    }

    fn response(rows: Vec<PageRow>, total: i64) -> ViewsResponse {
        let totals = Counts::new(Count::Known(total), Count::Known(0), Count::Known(total));
        ViewsResponse { totals, rows, has_more: None }
    }

    fn range() -> DateRange {
        DateRange::last_days(7, chrono::NaiveDate::default())
    }

    #[test]
    fn a_duplicate_row_counts_once_with_its_last_numbers() {
        let at = Time::default();
        let mut report =
            Report::from_first_response(range(), response(vec![row("/a", 9, 1), row("/b", 5, 0)], 20), false, at);
        assert_eq!(report.loaded_share(), Some(0.75));
        report.add_response(response(vec![row("/b", 6, 0), row("/c", 4, 0)], 20), true, at);
        assert_eq!(report.rows, [row("/a", 9, 1), row("/b", 6, 0), row("/c", 4, 0)]);
        assert_eq!((report.duplicates, report.responses, report.complete), (1, 2, true));
        assert_eq!(report.sums(), ViewSums { human: 19.into(), ai: 1.into(), total: 20.into() });
    }

    #[test]
    fn continuing_a_merge_gives_the_same_report_as_merging_from_the_start() {
        let at = Time::default();
        let odd = Counts { total: Count::Missing, ..Counts::default() };
        let again = PageRow { path: CleanText::line("/a"), counts: odd };
        let responses = [
            response(vec![row("/a", 9, 1), row("/b", 5, 0)], 40),
            response(vec![row("/b", 6, 0), row("/c", 4, 0), row("/c", 5, 0)], 41),
            response(vec![again, row("/d", 1, 1)], 42),
        ];
        for broken_off in 1..responses.len() {
            let mut report: Option<Report> = None;
            let mut merge: Option<ReportMerge> = None;
            for (number, response) in responses.iter().enumerate() {
                match &mut report {
                    Some(report) => report.add_response(response.clone(), number == 2, at),
                    None => report = Some(Report::from_first_response(range(), response.clone(), false, at)),
                }
                if number + 1 == broken_off {
                    merge = report.clone().map(ReportMerge::new);
                } else if let Some(merge) = &mut merge {
                    assert!(merge.contains(&CleanText::line("/a")) && !merge.contains(&CleanText::line("/e")));
                    merge.add_response(response.clone(), number == 2, at);
                    assert_eq!(Some(merge.report()), report.as_ref());
                    assert_eq!(merge.loaded_share(), merge.report().loaded_share());
                }
            }
            assert_eq!(merge.map(ReportMerge::into_report), report);
        }
    }

    #[test]
    fn the_number_of_requests_is_estimated_from_the_first_rows() {
        // A long tail of 1,200 pages, the most viewed first.
        let views = |n: i64| (200_000 / (n * n + 20 * n + 100)).max(1);
        let all: Vec<PageRow> = (1..=1_200).map(|n| row(&format!("/{n}"), views(n), 0)).collect();
        let total = (1..=1_200).map(views).sum();
        let totals = Counts::new(Count::Known(total), Count::Known(0), Count::Known(total));
        let estimate =
            |rows: &[PageRow]| LoadEstimate::from_first_rows(rows, &totals).map(|expected| expected.requests);
        for first in [50, 100, 250, 500] {
            let requests = estimate(&all[..first]).expect("an estimate");
            assert!((2..=8).contains(&requests), "{requests} from {first} rows, it takes 5");
        }
        assert_eq!(estimate(&all[..5]), None, "too little");
        assert_eq!(estimate(&all), None, "everything is loaded");
        // These rows are not sorted by views, so every page is assumed to have the mean number of views.
        let mixed: Vec<PageRow> = (0..100).map(|n| row(&format!("/{n}"), 5 + n * 7 % 11, 0)).collect();
        let views_of = |rows: &[PageRow]| rows.iter().map(total_of).sum::<i64>();
        let site = Count::Known(10 * views_of(&mixed));
        let totals = Counts { total: site, ..Counts::default() };
        let expected = LoadEstimate::from_first_rows(&mixed, &totals).expect("an estimate");
        assert_eq!((expected.requests, expected.basis), (4, EstimateBasis::FirstRows { rows: 100, share: 0.1 }));
    }

    fn total_of(row: &PageRow) -> i64 {
        match row.counts.total {
            Count::Known(total) => total,
            _ => 0,
        }
    }

    #[test]
    fn the_cost_of_the_last_load_takes_precedence_over_an_estimate() {
        let similar = SimilarRange { range: range(), rows: 1_099 };
        let part = Report::from_first_response(
            range(),
            response((0..50).map(|n| row(&format!("/{n}"), 1, 0)).collect(), 900),
            false,
            Time::default(),
        );
        let known = StoredReport {
            last_load_requests: Some(7),
            range_of_similar_length: Some(similar),
            report: Some(Arc::new(part)),
            ..StoredReport::default()
        };
        let expected = |known: &StoredReport| known.estimate_load().map(|expected| (expected.requests, expected.basis));
        assert_eq!(expected(&known), Some((7, EstimateBasis::PreviousLoad)));
        let known = StoredReport { last_load_requests: None, ..known };
        assert_eq!(expected(&known), Some((5, EstimateBasis::Similar(similar))));
        let known = StoredReport { range_of_similar_length: None, ..known };
        assert!(matches!(expected(&known), Some((4, EstimateBasis::FirstRows { rows: 50, .. }))));
        assert_eq!(expected(&StoredReport::default()), None);
    }

    #[test]
    fn sums_ignore_values_that_are_not_counts_and_never_overflow() {
        let odd = Counts::new(Count::Known(-3), Count::Missing, Count::Known(i64::MAX));
        let rows = vec![PageRow { path: CleanText::line("/a"), counts: odd }; 1];
        let report = Report::from_first_response(
            range(),
            ViewsResponse { rows, ..ViewsResponse::default() },
            true,
            Time::default(),
        );
        assert_eq!(report.sums().human, DecimalCount::ZERO);
        assert_eq!(report.loaded_share(), None, "no totals, no share");
    }
}
