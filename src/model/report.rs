//! All pages of a range: answers at the largest page size, taken in one after the other. What is known of their number
//! and price, and how far loading is (design.md: views).

use super::Time;
use super::failure::Failure;
use super::load::Timed;
use super::period::DateRange;
use super::text::CleanText;
use super::views::{Count, Counts, LIMIT_MAX, PageRow, ViewCount, ViewsPage, as_f64};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;

/// All pages of a range, as far as they were loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub range: DateRange,
    /// Site-wide, as the last answer said.
    pub totals: Counts,
    /// Each path once, in the service's order.
    pub rows: Vec<PageRow>,
    /// Rows that were merged because their path had come before: in an earlier answer, if the data moved between two requests,
    /// or twice in the same one. Their last numbers count.
    pub moved: u32,
    /// Answers taken in, each of at most [`super::views::LIMIT_MAX`] rows.
    pub answers: u32,
    /// Whether the service said that there is no more.
    pub complete: bool,
    /// The oldest of its answers.
    pub as_of: Time,
}

impl Report {
    /// A report of one answer, the first.
    pub fn begin(range: DateRange, answer: ViewsPage, complete: bool, as_of: Time) -> Self {
        let mut report = Self {
            range,
            totals: Counts::default(),
            rows: Vec::with_capacity(answer.rows.len()),
            moved: 0,
            answers: 0,
            complete: false,
            as_of,
        };
        report.absorb(answer, complete, as_of);
        report
    }

    /// Takes the next answer in. Who takes in one after the other keeps a [`Merge`].
    pub fn absorb(&mut self, answer: ViewsPage, complete: bool, as_of: Time) {
        ReportIndex::of(&self.rows).absorb(self, answer, complete, as_of);
    }

    /// Human, AI and total views of all rows; what is no count adds nothing.
    pub fn sums(&self) -> Sums {
        self.rows.iter().fold(Sums::default(), |sums, row| sums.with(&row.counts))
    }

    /// Share of the site's views that the rows hold, 0 to 1: the progress of loading. None where the totals are no counts.
    pub fn loaded_share(&self) -> Option<f64> {
        self.share(self.sums().total)
    }

    fn share(&self, loaded: ViewCount) -> Option<f64> {
        let total = self.totals.total.value().filter(|total| !total.is_zero())?;
        Some(loaded.ratio_to(total).min(1.0))
    }
}

/// A report with what finds its rows, for one answer after the other: each costs its own rows, however many came before.
#[derive(Debug, Clone)]
pub struct Merge {
    report: Report,
    index: ReportIndex,
}

impl Merge {
    /// Goes on with this report.
    pub fn of(report: Report) -> Self {
        Self { index: ReportIndex::of(&report.rows), report }
    }

    /// Takes the next answer into what came before it, or begins with it.
    #[must_use]
    pub fn with(so_far: Option<Self>, range: DateRange, answer: ViewsPage, complete: bool, as_of: Time) -> Self {
        match so_far {
            Some(mut merge) => {
                merge.absorb(answer, complete, as_of);
                merge
            }
            None => Self::of(Report::begin(range, answer, complete, as_of)),
        }
    }

    /// The report as far as it is.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// The report, once no more is taken in.
    pub fn into_report(self) -> Report {
        self.report
    }

    /// Whether this path is in the report.
    pub fn has(&self, path: &CleanText) -> bool {
        self.index.places.contains_key(path)
    }

    /// As [`Report::absorb`].
    pub fn absorb(&mut self, answer: ViewsPage, complete: bool, as_of: Time) {
        self.index.absorb(&mut self.report, answer, complete, as_of);
    }

    /// As [`Report::loaded_share`].
    pub fn loaded_share(&self) -> Option<f64> {
        self.report.share(self.index.total)
    }
}

/// What is known of a report's rows without looking at each.
#[derive(Debug, Clone)]
struct ReportIndex {
    /// Where each path is.
    places: HashMap<CleanText, usize>,
    /// Total views of all.
    total: ViewCount,
}

impl ReportIndex {
    fn of(rows: &[PageRow]) -> Self {
        let places = rows.iter().enumerate().map(|(place, row)| (row.path.clone(), place)).collect();
        Self { places, total: rows.iter().map(|row| total(&row.counts)).sum() }
    }

    fn absorb(&mut self, report: &mut Report, answer: ViewsPage, complete: bool, as_of: Time) {
        for row in answer.rows {
            self.total = self.total + total(&row.counts);
            match self.places.entry(row.path.clone()) {
                Entry::Occupied(place) => {
                    let Some(known) = report.rows.get_mut(*place.get()) else { continue };
                    self.total = self.total - total(&known.counts);
                    known.counts = row.counts;
                    report.moved = report.moved.saturating_add(1);
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

/// Sums over rows; they can't overflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sums {
    pub human: ViewCount,
    pub ai: ViewCount,
    pub total: ViewCount,
}

impl Sums {
    /// With these counts added.
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

/// What is known of a range on this computer, at no cost.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Recalled {
    /// The whole report, else what a load that was broken off had taken in.
    pub report: Option<Arc<Report>>,
    /// A load of it that was broken off: how many answers it had taken in. It can go on from there.
    pub broken_off: Option<u32>,
    /// Site-wide, from whatever answer came last.
    pub totals: Option<Timed<Counts>>,
    /// Requests that the complete report of this range took.
    pub last_time: Option<u32>,
    /// Without one: the complete report of the range whose length is most like this one's.
    pub similar: Option<SimilarRange>,
}

/// Another range of which all pages are loaded, to estimate from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SimilarRange {
    pub range: DateRange,
    pub rows: u32,
}

/// How many requests all pages of a range probably take, from the first one on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    pub requests: u32,
    pub basis: Basis,
}

/// What an expected number of requests comes from.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Basis {
    /// The same range took as many the last time: no estimate.
    LastTime,
    Similar(SimilarRange),
    /// So many rows with this share of all views, 0 to 1.
    FirstRows {
        rows: u64,
        share: f64,
    },
}

impl Recalled {
    /// What to expect of loading all pages, from what is stored. `None` if nothing is.
    pub fn expected(&self) -> Option<Expected> {
        if let Some(requests) = self.last_time {
            return Some(Expected { requests, basis: Basis::LastTime });
        }
        if let Some(similar) = self.similar {
            return Some(Expected { requests: requests_for(similar.rows.into()), basis: Basis::Similar(similar) });
        }
        let part = self.report.as_ref().filter(|report| !report.complete)?;
        Expected::from_first_rows(&part.rows, &part.totals)
    }
}

impl Expected {
    /// An estimate from the first rows of a range and the site's totals. `None` if they say too little.
    pub fn from_first_rows(first: &[PageRow], totals: &Counts) -> Option<Self> {
        let all = totals.total.value()?.as_f64();
        let counted: Vec<f64> = first.iter().map(|row| total(&row.counts).as_f64()).collect();
        let (rows, loaded) = (as_f64(u64::try_from(counted.len()).ok()?), counted.iter().sum::<f64>());
        let rest = all - loaded;
        // All the views are there already: the pages behind them can't be estimated from views.
        if counted.len() < FEWEST_ROWS || loaded <= 0.0 || rest <= 0.0 {
            return None;
        }
        let last = counted.last().copied().unwrap_or_default();
        let more = match counted.is_sorted_by(|one, next| one >= next) {
            // From the last row on, views fall evenly on a log scale down to a single one: a long tail.
            true if last > 1.0 => rest * last.ln() / (last - 1.0),
            true if last > 0.0 => rest / last,
            _ => rest * rows / loaded,
        };
        let count = Count::from_f64((rows + more.min(MOST_ROWS)).round())?.value()?;
        let requests = requests_for(u64::try_from(count.rounded()).ok()?);
        let basis = Basis::FirstRows { rows: u64::try_from(counted.len()).ok()?, share: loaded / all };
        Some(Self { requests, basis })
    }
}

/// Fewer rows than this say nothing about the rest.
const FEWEST_ROWS: usize = 10;
/// More rows are never estimated: 1,000 requests are ten hours of the limit.
const MOST_ROWS: f64 = 250_000.0;

/// Requests at the largest page size for so many rows; no rows take one as well.
pub fn requests_for(rows: u64) -> u32 {
    u32::try_from(rows.div_ceil(u64::from(LIMIT_MAX))).unwrap_or(u32::MAX).max(1)
}

/// How all pages of a range are to be loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadPlan {
    pub range: DateRange,
    /// Whether to begin anew instead of going on where a load was broken off.
    pub afresh: bool,
    /// Requests after which it stops and asks.
    pub at_most: u32,
    /// Percent of all views that are enough.
    pub until: Option<u8>,
}

/// How far loading is; told after each answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LoadProgress {
    pub range: DateRange,
    /// Rows so far, each path once.
    pub rows: usize,
    /// Answers so far, those before a break included.
    pub answers: u32,
    /// Requests that this load has cost so far.
    pub requests: u32,
    /// Share of the site's total views that the rows hold, 0 to 1.
    pub share: Option<f64>,
    /// Whether this was the last answer.
    pub is_complete: bool,
}

/// Why loading ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoadEnded {
    /// The service has no more.
    Complete,
    /// The user stopped it.
    Stopped,
    /// [`LoadOrder::at_most`] requests were made.
    AtMost,
    /// [`LoadOrder::until`] was reached before the last page.
    Enough,
    Failed(Failure),
}

/// What came of loading all pages of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadOutcome {
    /// What is there now: the whole report, be it one from before that a new load could not replace yet, else what was
    /// taken in. None when nothing was loaded.
    pub report: Option<Arc<Report>>,
    pub ended: LoadEnded,
    /// Requests that this load has cost.
    pub requests: u32,
}

/// A range of which something is kept on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownRange {
    pub range: DateRange,
    pub rows: u32,
    pub complete: bool,
    pub as_of: Time,
    pub totals: Counts,
}

/// All that is kept of page views, and how much room it takes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CachedViews {
    /// The newest range first.
    pub ranges: Vec<KnownRange>,
    /// Bytes on disk, as near as the store can tell.
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
    fn a_row_that_moved_counts_once_with_its_last_numbers() {
        let at = Time::default();
        let mut report = Report::begin(range(), answer(vec![row("/a", 9, 1), row("/b", 5, 0)], 20), false, at);
        assert_eq!(report.loaded_share(), Some(0.75));
        report.absorb(answer(vec![row("/b", 6, 0), row("/c", 4, 0)], 20), true, at);
        assert_eq!(report.rows, [row("/a", 9, 1), row("/b", 6, 0), row("/c", 4, 0)]);
        assert_eq!((report.moved, report.answers, report.complete), (1, 2, true));
        assert_eq!(report.sums(), Sums { human: 19.into(), ai: 1.into(), total: 20.into() });
    }

    #[test]
    fn a_merge_that_goes_on_with_a_report_is_what_one_from_its_beginning_would_be() {
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
            let mut merge: Option<Merge> = None;
            for (number, answer) in answers.iter().enumerate() {
                match &mut report {
                    Some(report) => report.absorb(answer.clone(), number == 2, at),
                    None => report = Some(Report::begin(range(), answer.clone(), false, at)),
                }
                if number + 1 == broken_off {
                    merge = report.clone().map(Merge::of);
                } else if let Some(merge) = &mut merge {
                    assert!(merge.has(&CleanText::line("/a")) && !merge.has(&CleanText::line("/e")));
                    merge.absorb(answer.clone(), number == 2, at);
                    assert_eq!(Some(merge.report()), report.as_ref());
                    assert_eq!(merge.loaded_share(), merge.report().loaded_share());
                }
            }
            assert_eq!(merge.map(Merge::into_report), report);
        }
    }

    #[test]
    fn the_number_of_requests_is_estimated_from_the_first_rows() {
        // A long tail of 1,200 pages, the most viewed first.
        let views = |n: i64| (200_000 / (n * n + 20 * n + 100)).max(1);
        let all: Vec<PageRow> = (1..=1_200).map(|n| row(&format!("/{n}"), views(n), 0)).collect();
        let total = (1..=1_200).map(views).sum();
        let totals = Counts { human: Count::Known(total), ai: Count::Known(0), total: Count::Known(total) };
        let estimate = |rows: &[PageRow]| Expected::from_first_rows(rows, &totals).map(|expected| expected.requests);
        for first in [50, 100, 250, 500] {
            let requests = estimate(&all[..first]).expect("an estimate");
            assert!((2..=8).contains(&requests), "{requests} from {first} rows, it takes 5");
        }
        assert_eq!(estimate(&all[..5]), None, "too little");
        assert_eq!(estimate(&all), None, "nothing is missing");
        // In an order of the service's own, each page counts alike.
        let mixed: Vec<PageRow> = (0..100).map(|n| row(&format!("/{n}"), 5 + n * 7 % 11, 0)).collect();
        let of = |rows: &[PageRow]| rows.iter().map(total_of).sum::<i64>();
        let site = Count::Known(10 * of(&mixed));
        let totals = Counts { total: site, ..Counts::default() };
        let expected = Expected::from_first_rows(&mixed, &totals).expect("an estimate");
        assert_eq!((expected.requests, expected.basis), (4, Basis::FirstRows { rows: 100, share: 0.1 }));
    }

    fn total_of(row: &PageRow) -> i64 {
        match row.counts.total {
            Count::Known(total) => total,
            _ => 0,
        }
    }

    #[test]
    fn what_the_range_took_the_last_time_counts_more_than_an_estimate() {
        let similar = SimilarRange { range: range(), rows: 1_099 };
        let part = Report::begin(
            range(),
            answer((0..50).map(|n| row(&format!("/{n}"), 1, 0)).collect(), 900),
            false,
            Time::default(),
        );
        let known = Recalled {
            last_time: Some(7),
            similar: Some(similar),
            report: Some(Arc::new(part)),
            ..Recalled::default()
        };
        let expected = |known: &Recalled| known.expected().map(|expected| (expected.requests, expected.basis));
        assert_eq!(expected(&known), Some((7, Basis::LastTime)));
        let known = Recalled { last_time: None, ..known };
        assert_eq!(expected(&known), Some((5, Basis::Similar(similar))));
        let known = Recalled { similar: None, ..known };
        assert!(matches!(expected(&known), Some((4, Basis::FirstRows { rows: 50, .. }))));
        assert_eq!(expected(&Recalled::default()), None);
    }

    #[test]
    fn sums_of_what_is_no_count_are_left_out_and_nothing_overflows() {
        let odd = Counts { human: Count::Known(-3), ai: Count::Missing, total: Count::Known(i64::MAX) };
        let rows = vec![PageRow { path: CleanText::line("/a"), counts: odd }; 1];
        let report = Report::begin(range(), ViewsPage { rows, ..ViewsPage::default() }, true, Time::default());
        assert_eq!(report.sums().human, ViewCount::ZERO);
        assert_eq!(report.loaded_share(), None, "no totals, no share");
    }
}
