//! All pages of a range: answers at the largest page size, taken in one after the other. What is known of their number
//! and price, and how far loading is (design.md: views).

use super::Time;
use super::failure::Failure;
use super::load::Stamped;
use super::period::DateRange;
use super::text::CleanText;
use super::views::{Count, Counts, PageRow, ViewsPage, as_f64};
use std::collections::HashMap;
use std::sync::Arc;

/// All pages of a range, as far as they were loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    pub range: DateRange,
    /// Site-wide, as the last answer said.
    pub totals: Counts,
    /// Each path once, in the service's order.
    pub rows: Vec<PageRow>,
    /// Rows that came in more than one answer, since the data moved between two requests; their last numbers count.
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

    /// Takes the next answer in.
    pub fn absorb(&mut self, answer: ViewsPage, complete: bool, as_of: Time) {
        let mut places: HashMap<CleanText, usize> =
            self.rows.iter().enumerate().map(|(place, row)| (row.path.clone(), place)).collect();
        for row in answer.rows {
            match places.get(&row.path).and_then(|place| self.rows.get_mut(*place)) {
                Some(known) => {
                    known.counts = row.counts;
                    self.moved = self.moved.saturating_add(1);
                }
                None => {
                    places.insert(row.path.clone(), self.rows.len());
                    self.rows.push(row);
                }
            }
        }
        self.totals = answer.totals;
        self.answers = self.answers.saturating_add(1);
        self.complete = complete;
        self.as_of = self.as_of.min(as_of);
    }

    /// Human, AI and total views of all rows; what is no count adds nothing.
    pub fn sums(&self) -> Sums {
        self.rows.iter().fold(Sums::default(), |sums, row| sums.with(&row.counts))
    }

    /// Share of the site's views that the rows hold, 0 to 1: the progress of loading. None where the totals are no counts.
    pub fn loaded_share(&self) -> Option<f64> {
        let total = self.totals.total.value()?;
        let loaded = self.sums().total;
        (total > 0).then(|| (as_f64(u64::try_from(loaded).unwrap_or(u64::MAX)) / as_f64(total)).min(1.0))
    }
}

/// Sums over rows; they can't overflow.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Sums {
    pub human: u128,
    pub ai: u128,
    pub total: u128,
}

impl Sums {
    /// With these counts added.
    #[must_use]
    pub fn with(self, counts: &Counts) -> Self {
        let add = |sum: u128, count: &Count| sum.saturating_add(u128::from(count.value().unwrap_or(0)));
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
    pub totals: Option<Stamped<Counts>>,
    /// Requests that the last whole report took, of this range or else of any other.
    pub last_time: Option<u32>,
}

/// How all pages of a range are to be loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoadOrder {
    pub range: DateRange,
    /// Whether to begin anew instead of going on where a load was broken off.
    pub afresh: bool,
    /// Requests after which it stops and asks.
    pub at_most: u32,
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
    Failed(Failure),
}

/// What came of loading all pages of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoadEnd {
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
pub struct Kept {
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
        assert_eq!(report.sums(), Sums { human: 19, ai: 1, total: 20 });
    }

    #[test]
    fn sums_of_what_is_no_count_are_left_out_and_nothing_overflows() {
        let odd = Counts { human: Count::Known(-3), ai: Count::Missing, total: Count::Known(i64::MAX) };
        let rows = vec![PageRow { path: CleanText::line("/a"), counts: odd }; 1];
        let report = Report::begin(range(), ViewsPage { rows, ..ViewsPage::default() }, true, Time::default());
        assert_eq!(report.sums().human, 0);
        assert_eq!(report.loaded_share(), None, "no totals, no share");
    }
}
