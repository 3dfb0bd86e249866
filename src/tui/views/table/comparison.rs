//! How the views of a page or folder changed since the compared range. New pages and pages that are gone are
//! distinguished from pages with zero views and from pages with unknown views.

use super::metric::{Metric, float_sort_key};
use crate::model::comparison::{ComparedRanges, ViewsChange};
use crate::model::views::{Counts, DecimalCount};

/// The numbers of a page in the previous range, or why the page has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonBaseline<'a> {
    /// Nothing is compared.
    Uncompared,
    Counts(&'a Counts),
    /// The page is new: all pages of the previous range are loaded, and the page is not among them.
    New,
    /// The page is gone: it has these numbers in the previous range, and is not among the pages of the current range.
    Gone(&'a Counts),
    /// The page has no views in either compared range, only on days that are not compared, such as today.
    Neither,
    /// One of the reports is partial, and the page may be among the pages that are not loaded.
    Unknown,
}

/// The numbers of a page or of a folder in the current and in the previous range.
#[derive(Debug, Clone, Copy)]
pub struct PageMetrics<'a> {
    /// The numbers in the range on screen.
    pub counts: &'a Counts,
    /// Whether the range on screen lists the page.
    pub is_listed: bool,
    /// The numbers in the compared days. They differ from `counts` if the range on screen includes today.
    pub compared_counts: &'a Counts,
    pub baseline: ComparisonBaseline<'a>,
    /// The compared ranges. If their lengths differ, changes are per day. If `None`, changes are not per day.
    pub ranges: Option<ComparedRanges>,
}

impl<'a> PageMetrics<'a> {
    /// Creates the numbers of a page if nothing is compared, or if all days of the range on screen are compared.
    pub fn of(counts: &'a Counts, baseline: ComparisonBaseline<'a>) -> Self {
        let is_listed = !matches!(baseline, ComparisonBaseline::Gone(_));
        Self { counts, is_listed, compared_counts: counts, baseline, ranges: None }
    }
}

impl PageMetrics<'_> {
    /// Returns the numbers to show. If the range on screen doesn't list the page, these are its numbers in the previous
    /// range.
    pub fn counts_shown(&self) -> &Counts {
        match self.baseline {
            ComparisonBaseline::Gone(previous) if !self.is_listed => previous,
            _ => self.counts,
        }
    }

    /// Returns how the number of views or visitors changed. Unknown for the share: see [`Self::share_change`].
    pub fn change(&self, metric: Metric) -> ViewsChange {
        // Visitors can't be compared per day: one who comes on several days counts once in the range.
        if metric.counts_visitors() && self.ranges.is_some_and(|ranges| ranges.is_per_day()) {
            return ViewsChange::Unknown;
        }
        let value = |counts: &Counts| metric.count(counts).and_then(|count| count.value());
        let scaled_current = || {
            value(self.compared_counts)
                .map(|views| self.ranges.map_or(views, |ranges| ranges.comparable_current(views)))
        };
        let scaled_previous = |counts: &Counts| {
            value(counts).map(|views| self.ranges.map_or(views, |ranges| ranges.comparable_previous(views)))
        };
        let change = match self.baseline {
            ComparisonBaseline::Counts(previous) => scaled_current()
                .zip(scaled_previous(previous))
                .map(|(current, previous)| ViewsChange::InBoth { current, previous }),
            ComparisonBaseline::New => scaled_current().map(ViewsChange::New),
            ComparisonBaseline::Gone(previous) => scaled_previous(previous).map(ViewsChange::Gone),
            ComparisonBaseline::Uncompared | ComparisonBaseline::Neither | ComparisonBaseline::Unknown => None,
        };
        change.unwrap_or(ViewsChange::Unknown)
    }

    /// Returns the change of the AI share in percentage points; `None` unless the share is known in both ranges.
    pub fn share_change(&self) -> Option<f64> {
        match self.baseline {
            ComparisonBaseline::Counts(previous) => {
                Some((self.compared_counts.ai_share()? - previous.ai_share()?) * 100.0)
            }
            ComparisonBaseline::Uncompared
            | ComparisonBaseline::New
            | ComparisonBaseline::Gone(_)
            | ComparisonBaseline::Neither
            | ComparisonBaseline::Unknown => None,
        }
    }

    /// Returns the change as a sort key; `None` if the change is unknown.
    pub(super) fn change_sort_key(&self, metric: Metric) -> Option<i128> {
        match metric {
            Metric::Share => self.share_change().map(float_sort_key).map(i128::from),
            _ => self.change(metric).difference().map(DecimalCount::millionths),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::views::Count;

    fn counts(human: i64, ai: i64) -> Counts {
        Counts::new(Count::Known(human), Count::Known(ai), Count::Known(human + ai))
    }

    #[test]
    fn new_and_gone_pages_differ_from_pages_with_zero_views() {
        let (some, none, ten) = (counts(10, 30), counts(0, 0), DecimalCount::from(10));
        let change = |counts, then| PageMetrics::of(counts, then).change(Metric::Human);
        assert_eq!(change(&some, ComparisonBaseline::New), ViewsChange::New(ten));
        assert_eq!(
            change(&some, ComparisonBaseline::Counts(&none)),
            ViewsChange::InBoth { current: ten, previous: DecimalCount::ZERO }
        );
        let missing = Counts::default();
        assert_eq!(change(&missing, ComparisonBaseline::Gone(&some)), ViewsChange::Gone(ten));
        assert_eq!(change(&some, ComparisonBaseline::Unknown), ViewsChange::Unknown);
        let differences = [ViewsChange::New(ten), ViewsChange::Gone(ten)].map(ViewsChange::difference);
        assert_eq!(differences, [Some(ten), Some(DecimalCount::ZERO - ten)]);
        assert_eq!([ViewsChange::New(ten), ViewsChange::Gone(ten)].map(ViewsChange::percent), [None, Some(-100.0)]);
    }

    #[test]
    fn a_range_with_today_is_compared_by_its_complete_days() {
        let day = |text: &str| text.parse().expect("a day");
        let range = |from: &str, to: &str| crate::model::period::DateRange::new(day(from), day(to)).expect("a range");
        let ranges =
            ComparedRanges { current: range("2026-10-01", "2026-10-10"), previous: range("2026-09-01", "2026-09-05") };
        let (shown, complete, previous) = (counts(90, 10), counts(70, 10), counts(25, 0));
        let figures = PageMetrics {
            compared_counts: &complete,
            ranges: Some(ranges),
            ..PageMetrics::of(&shown, ComparisonBaseline::Counts(&previous))
        };
        let change = figures.change(Metric::Human);
        assert_eq!(change, ViewsChange::InBoth { current: 7.into(), previous: 5.into() });
        assert_eq!(figures.share_change(), Some(12.5), "of the complete days, too");
        assert_eq!(
            PageMetrics { baseline: ComparisonBaseline::Neither, ..figures }.change(Metric::Human),
            ViewsChange::Unknown
        );
    }

    #[test]
    fn the_share_changes_in_percentage_points_if_both_shares_are_known() {
        let (current, previous, nothing) = (counts(50, 50), counts(75, 25), counts(0, 0));
        assert_eq!(PageMetrics::of(&current, ComparisonBaseline::Counts(&previous)).share_change(), Some(25.0));
        assert_eq!(PageMetrics::of(&current, ComparisonBaseline::Counts(&nothing)).share_change(), None);
        assert_eq!(PageMetrics::of(&current, ComparisonBaseline::New).share_change(), None);
    }
}
