//! Reports of all pages of a range, merged from answers at the largest page size; estimates of their size and cost;
//! progress of loading.

use super::Time;
use super::failure::Failure;
use super::load::Timed;
use super::period::DateRange;
use super::text::CleanText;
use super::views::{Count, Counts, LIMIT_MAX, PageRow, ViewCount, ViewsPage, as_f64};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// The pages of a range that have been loaded so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub range: DateRange,
    /// Site-wide, from the last answer.
    pub totals: Counts,
    /// Each path once, in the service's order.
    pub rows: Vec<PageRow>,
    /// Rows that were merged because their path had come before: in an earlier answer, if the data changed between two
    /// requests, or in the same one. The last numbers count.
    pub duplicates: u32,
    /// Answers merged, each of at most [`super::views::LIMIT_MAX`] rows.
    pub answers: u32,
    /// Whether the service reported that there are no more rows.
    pub complete: bool,
    /// When the oldest of the answers was received.
    pub as_of: Time,
}

impl Report {
    /// A report of the first answer.
    pub fn from_first_answer(range: DateRange, answer: ViewsPage, complete: bool, as_of: Time) -> Self {
        let mut report = Self {
            range,
            totals: Counts::default(),
            rows: Vec::with_capacity(answer.rows.len()),
            duplicates: 0,
            answers: 0,
            complete: false,
            as_of,
        };
        report.add_answer(answer, complete, as_of);
        report
    }

    /// Merges the next answer. To merge many answers, use a [`ReportMerge`].
    pub fn add_answer(&mut self, answer: ViewsPage, complete: bool, as_of: Time) {
        ReportIndex::of(&self.rows).absorb(self, answer, complete, as_of);
    }

    /// Human, AI and total views of all rows. Values that aren't counts are ignored.
    pub fn sums(&self) -> Sums {
        self.rows.iter().fold(Sums::default(), |sums, row| sums.with(&row.counts))
    }

    /// The share of the site's views in the rows, 0 to 1: the progress of loading. `None` if the totals aren't counts.
    pub fn loaded_share(&self) -> Option<f64> {
        self.share(self.sums().total)
    }

    fn share(&self, loaded: ViewCount) -> Option<f64> {
        let total = self.totals.total.value().filter(|total| !total.is_zero())?;
        Some(loaded.ratio_to(total).min(1.0))
    }
}

/// A report with an index of its rows. Merging an answer takes time proportional to its own rows only.
#[derive(Debug, Clone)]
pub struct ReportMerge {
    report: Report,
    index: ReportIndex,
}

impl ReportMerge {
    /// Continues an existing report.
    pub fn of(report: Report) -> Self {
        Self { index: ReportIndex::of(&report.rows), report }
    }

    /// Merges the next answer into `so_far`, or starts with it.
    #[must_use]
    pub fn with(so_far: Option<Self>, range: DateRange, answer: ViewsPage, complete: bool, as_of: Time) -> Self {
        match so_far {
            Some(mut merge) => {
                merge.absorb(answer, complete, as_of);
                merge
            }
            None => Self::of(Report::from_first_answer(range, answer, complete, as_of)),
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
        self.index.positions.contains_key(path)
    }

    /// See [`Report::add_answer`].
    pub fn absorb(&mut self, answer: ViewsPage, complete: bool, as_of: Time) {
        self.index.absorb(&mut self.report, answer, complete, as_of);
    }

    /// See [`Report::loaded_share`].
    pub fn loaded_share(&self) -> Option<f64> {
        self.report.share(self.index.total)
    }
}

/// An index of a report's rows, and their sum.
#[derive(Debug, Clone)]
struct ReportIndex {
    /// The row of each path.
    positions: HashMap<CleanText, usize>,
    /// Total views of all rows.
    total: ViewCount,
}

impl ReportIndex {
    fn of(rows: &[PageRow]) -> Self {
        let places = rows.iter().enumerate().map(|(place, row)| (row.path.clone(), place)).collect();
        Self { positions: places, total: rows.iter().map(|row| total(&row.counts)).sum() }
    }

    fn absorb(&mut self, report: &mut Report, answer: ViewsPage, complete: bool, as_of: Time) {
        for row in answer.rows {
            self.total = self.total + total(&row.counts);
            match self.positions.entry(row.path.clone()) {
                Entry::Occupied(place) => {
                    let Some(known) = report.rows.get_mut(*place.get()) else { continue };
                    self.total = self.total - total(&known.counts);
                    known.counts = row.counts;
                    report.duplicates = report.duplicates.saturating_add(1);
                }
                Entry::Vacant(place) => {
                    place.insert(report.rows.len());
                    report.rows.push(row);
                }
            }
        }
        report.totals = answer.totals;
        report.answers = report.answers.saturating_add(1);
        report.complete = complete;
        report.as_of = report.as_of.min(as_of);
    }
}

fn total(counts: &Counts) -> ViewCount {
    counts.total.value().unwrap_or_default()
}

/// Sums of views over rows; they can't overflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sums {
    pub human: ViewCount,
    pub ai: ViewCount,
    pub total: ViewCount,
}

impl Sums {
    /// The sums plus these counts.
    #[must_use]
    pub fn with(self, counts: &Counts) -> Self {
        let add = |sum: ViewCount, count: &Count| sum + count.value().unwrap_or_default();
        Self {
            human: add(self.human, &counts.human),
            ai: add(self.ai, &counts.ai),
            total: add(self.total, &counts.total),
        }
    }
}

/// What is stored on this computer about a range. Reading it uses no requests.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StoredReport {
    /// The complete report, otherwise the rows of an interrupted load.
    pub report: Option<Arc<Report>>,
    /// The number of answers of an interrupted load, which can be continued.
    pub interrupted_after: Option<u32>,
    /// Site-wide, from the last answer of any kind.
    pub totals: Option<Timed<Counts>>,
    /// Requests that the complete report of this range took.
    pub last_time: Option<u32>,
    /// If there is no complete report: the complete report of the range with the most similar length.
    pub similar: Option<SimilarRange>,
}

/// Another, fully loaded range to estimate from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimilarRange {
    pub range: DateRange,
    pub rows: u32,
}

/// How many requests a load of all pages probably takes in total.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadEstimate {
    pub requests: u32,
    pub basis: EstimateBasis,
}

/// What an estimate is based on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum EstimateBasis {
    /// The number of requests that the same range took last time.
    LastTime,
    Similar(SimilarRange),
    /// The number of loaded rows and their share of all views, 0 to 1.
    FirstRows {
        rows: u64,
        share: f64,
    },
}

impl StoredReport {
    /// The expected cost of loading all pages, from stored data. `None` if there is none.
    pub fn expected(&self) -> Option<LoadEstimate> {
        if let Some(requests) = self.last_time {
            return Some(LoadEstimate { requests, basis: EstimateBasis::LastTime });
        }
        if let Some(similar) = self.similar {
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
    /// Estimates from the first rows of a range and the site's totals. `None` if they are not sufficient.
    pub fn from_first_rows(first: &[PageRow], totals: &Counts) -> Option<Self> {
        let all = totals.total.value()?.as_f64();
        let counted: Vec<f64> = first.iter().map(|row| total(&row.counts).as_f64()).collect();
        let (rows, loaded) = (as_f64(u64::try_from(counted.len()).ok()?), counted.iter().sum::<f64>());
        let rest = all - loaded;
        // If all views are loaded, the remaining pages have none, so views can't estimate their number.
        if counted.len() < FEWEST_ROWS || loaded <= 0.0 || rest <= 0.0 {
            return None;
        }
        let last = counted.last().copied().unwrap_or_default();
        let more = match counted.is_sorted_by(|one, next| one >= next) {
            // Assumes a long tail: from the last row on, views fall evenly on a log scale down to 1.
            true if last > 1.0 => rest * last.ln() / (last - 1.0),
            true if last > 0.0 => rest / last,
            _ => rest * rows / loaded,
        };
        let count = Count::from_f64((rows + more.min(MOST_ROWS)).round())?.value()?;
        let requests = requests_for(u64::try_from(count.rounded()).ok()?);
        let basis = EstimateBasis::FirstRows { rows: u64::try_from(counted.len()).ok()?, share: loaded / all };
        Some(Self { requests, basis })
    }
}

/// With fewer rows than this there is no estimate.
const FEWEST_ROWS: usize = 10;
/// Upper bound of an estimate: 1,000 requests are ten hours of the limit.
const MOST_ROWS: f64 = 250_000.0;

/// Requests at the largest page size for this many rows, at least one.
pub fn requests_for(rows: u64) -> u32 {
    u32::try_from(rows.div_ceil(u64::from(LIMIT_MAX))).unwrap_or(u32::MAX).max(1)
}

/// How to load all pages of a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadPlan {
    pub range: DateRange,
    /// Whether to start again instead of continuing an interrupted load.
    pub from_start: bool,
    /// Stop and ask the user after this many requests.
    pub max_requests: u32,
    /// Stop when this percentage of all views is loaded.
    pub stop_at_percent: Option<u8>,
}

/// The progress of loading, reported after each answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadProgress {
    pub range: DateRange,
    /// Rows so far, each path once.
    pub rows: usize,
    /// Answers so far, including those before an interruption.
    pub answers: u32,
    /// Requests that this load has used so far.
    pub requests: u32,
    /// The rows' share of the site's total views, 0 to 1.
    pub share: Option<f64>,
    /// Whether the load is finished.
    pub is_complete: bool,
}

/// Why a load ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadEndReason {
    /// All pages are loaded.
    Complete,
    Stopped,
    /// [`LoadPlan::max_requests`] requests were made.
    RequestLimit,
    /// [`LoadPlan::stop_at_percent`] was reached before the last page.
    TargetReached,
    Failed(Failure),
}

/// The result of loading all pages of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadOutcome {
    /// The report that is stored now: a complete one (possibly an earlier one that the new load did not replace yet),
    /// otherwise the rows loaded so far. `None` if nothing was loaded.
    pub report: Option<Arc<Report>>,
    pub ended: LoadEndReason,
    /// Requests that this load has used.
    pub requests: u32,
}

/// A range that is cached on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownRange {
    pub range: DateRange,
    pub rows: u32,
    pub complete: bool,
    pub as_of: Time,
    pub totals: Counts,
}

/// All cached page views and their size.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CachedViews {
    /// Newest range first.
    pub ranges: Vec<KnownRange>,
    /// Approximate size on disk.
    pub bytes: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(path: &str, human: i64, ai: i64) -> PageRow {
        let counts = Counts { human: Count::Known(human), ai: Count::Known(ai), total: Count::Known(human + ai) };
        PageRow { path: CleanText::line(path), counts }
    }

    fn answer(rows: Vec<PageRow>, total: i64) -> ViewsPage {
        let totals = Counts { human: Count::Known(total), ai: Count::Known(0), total: Count::Known(total) };
        ViewsPage { totals, rows, has_more: None }
    }

    fn range() -> DateRange {
        DateRange::last_days(7, chrono::NaiveDate::default())
    }

    #[test]
    fn a_duplicate_row_counts_once_with_its_last_numbers() {
        let at = Time::default();
        let mut report =
            Report::from_first_answer(range(), answer(vec![row("/a", 9, 1), row("/b", 5, 0)], 20), false, at);
        assert_eq!(report.loaded_share(), Some(0.75));
        report.add_answer(answer(vec![row("/b", 6, 0), row("/c", 4, 0)], 20), true, at);
        assert_eq!(report.rows, [row("/a", 9, 1), row("/b", 6, 0), row("/c", 4, 0)]);
        assert_eq!((report.duplicates, report.answers, report.complete), (1, 2, true));
        assert_eq!(report.sums(), Sums { human: 19.into(), ai: 1.into(), total: 20.into() });
    }

    #[test]
    fn continuing_a_merge_gives_the_same_report_as_merging_from_the_start() {
        let at = Time::default();
        let odd = Counts { total: Count::Missing, ..Counts::default() };
        let again = PageRow { path: CleanText::line("/a"), counts: odd };
        let answers = [
            answer(vec![row("/a", 9, 1), row("/b", 5, 0)], 40),
            answer(vec![row("/b", 6, 0), row("/c", 4, 0), row("/c", 5, 0)], 41),
            answer(vec![again, row("/d", 1, 1)], 42),
        ];
        for broken_off in 1..answers.len() {
            let mut report: Option<Report> = None;
            let mut merge: Option<ReportMerge> = None;
            for (number, answer) in answers.iter().enumerate() {
                match &mut report {
                    Some(report) => report.add_answer(answer.clone(), number == 2, at),
                    None => report = Some(Report::from_first_answer(range(), answer.clone(), false, at)),
                }
                if number + 1 == broken_off {
                    merge = report.clone().map(ReportMerge::of);
                } else if let Some(merge) = &mut merge {
                    assert!(merge.contains(&CleanText::line("/a")) && !merge.contains(&CleanText::line("/e")));
                    merge.absorb(answer.clone(), number == 2, at);
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
        let totals = Counts { human: Count::Known(total), ai: Count::Known(0), total: Count::Known(total) };
        let estimate =
            |rows: &[PageRow]| LoadEstimate::from_first_rows(rows, &totals).map(|expected| expected.requests);
        for first in [50, 100, 250, 500] {
            let requests = estimate(&all[..first]).expect("an estimate");
            assert!((2..=8).contains(&requests), "{requests} from {first} rows, it takes 5");
        }
        assert_eq!(estimate(&all[..5]), None, "too little");
        assert_eq!(estimate(&all), None, "everything is loaded");
        // In the service's order, which is not by views, all pages weigh the same.
        let mixed: Vec<PageRow> = (0..100).map(|n| row(&format!("/{n}"), 5 + n * 7 % 11, 0)).collect();
        let of = |rows: &[PageRow]| rows.iter().map(total_of).sum::<i64>();
        let site = Count::Known(10 * of(&mixed));
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
        let part = Report::from_first_answer(
            range(),
            answer((0..50).map(|n| row(&format!("/{n}"), 1, 0)).collect(), 900),
            false,
            Time::default(),
        );
        let known = StoredReport {
            last_time: Some(7),
            similar: Some(similar),
            report: Some(Arc::new(part)),
            ..StoredReport::default()
        };
        let expected = |known: &StoredReport| known.expected().map(|expected| (expected.requests, expected.basis));
        assert_eq!(expected(&known), Some((7, EstimateBasis::LastTime)));
        let known = StoredReport { last_time: None, ..known };
        assert_eq!(expected(&known), Some((5, EstimateBasis::Similar(similar))));
        let known = StoredReport { similar: None, ..known };
        assert!(matches!(expected(&known), Some((4, EstimateBasis::FirstRows { rows: 50, .. }))));
        assert_eq!(expected(&StoredReport::default()), None);
    }

    #[test]
    fn sums_ignore_values_that_are_not_counts_and_never_overflow() {
        let odd = Counts { human: Count::Known(-3), ai: Count::Missing, total: Count::Known(i64::MAX) };
        let rows = vec![PageRow { path: CleanText::line("/a"), counts: odd }; 1];
        let report =
            Report::from_first_answer(range(), ViewsPage { rows, ..ViewsPage::default() }, true, Time::default());
        assert_eq!(report.sums().human, ViewCount::ZERO);
        assert_eq!(report.loaded_share(), None, "no totals, no share");
    }
}
