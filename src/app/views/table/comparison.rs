//! How a page or folder changed since the compared range. New pages and pages that are gone differ from those with zero
//! views and from unknown ones.

use super::metric::{Metric, float_key};
use crate::model::comparison::{Change, ComparedRanges};
use crate::model::views::{Counts, ViewCount};

/// The numbers of a page in the previous range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComparisonBaseline<'a> {
    /// Nothing is compared.
    Uncompared,
    Counts(&'a Counts),
    /// Not among all pages of the previous range.
    New,
    /// Only among the pages of the previous range, with these numbers.
    Gone(&'a Counts),
    /// On none of the compared days: the page was first viewed today.
    Neither,
    /// Not among the loaded pages; there may be more.
    Unknown,
}

/// The numbers of a page or of a folder, now and before.
#[derive(Debug, Clone, Copy)]
pub struct PageMetrics<'a> {
    /// In the range on screen.
    pub counts: &'a Counts,
    /// Whether the range on screen has the page.
    pub is_listed: bool,
    /// In the compared days. They differ from `counts` if the range includes today.
    pub compared: &'a Counts,
    pub baseline: ComparisonBaseline<'a>,
    /// The compared ranges; `None` means two ranges of equal length.
    pub ranges: Option<ComparedRanges>,
}

impl<'a> PageMetrics<'a> {
    /// The numbers of a range that doesn't include today.
    pub fn of(counts: &'a Counts, then: ComparisonBaseline<'a>) -> Self {
        let is_listed = !matches!(then, ComparisonBaseline::Gone(_));
        Self { counts, is_listed, compared: counts, baseline: then, ranges: None }
    }
}

impl PageMetrics<'_> {
    /// The numbers to show: those of the previous range, marked as such, if the page is not listed now.
    pub fn counts_shown(&self) -> &Counts {
        match self.baseline {
            ComparisonBaseline::Gone(before) if !self.is_listed => before,
            _ => self.counts,
        }
    }

    /// How human, AI or total views changed; unknown for the share.
    pub fn change(&self, metric: Metric) -> Change {
        let value = |counts: &Counts| metric.count(counts).and_then(|count| count.value());
        let now = || value(self.compared).map(|views| self.ranges.map_or(views, |ranges| ranges.of_now(views)));
        let then =
            |counts: &Counts| value(counts).map(|views| self.ranges.map_or(views, |ranges| ranges.of_before(views)));
        let change = match self.baseline {
            ComparisonBaseline::Counts(before) => {
                now().zip(then(before)).map(|(now, before)| Change::Of { now, before })
            }
            ComparisonBaseline::New => now().map(Change::New),
            ComparisonBaseline::Gone(before) => then(before).map(Change::Gone),
            ComparisonBaseline::Uncompared | ComparisonBaseline::Neither | ComparisonBaseline::Unknown => None,
        };
        change.unwrap_or(Change::Unknown)
    }

    /// The change of the AI share in percentage points; `None` unless it is known in both ranges.
    pub fn share_change(&self) -> Option<f64> {
        match self.baseline {
            ComparisonBaseline::Counts(before) => Some((self.compared.ai_share()? - before.ai_share()?) * 100.0),
            ComparisonBaseline::Uncompared
            | ComparisonBaseline::New
            | ComparisonBaseline::Gone(_)
            | ComparisonBaseline::Neither
            | ComparisonBaseline::Unknown => None,
        }
    }

    /// The change as a sort key.
    pub(super) fn change_key(&self, metric: Metric) -> Option<i128> {
        match metric {
            Metric::Share => self.share_change().map(float_key).map(i128::from),
            Metric::Human | Metric::Ai | Metric::Total => self.change(metric).difference().map(ViewCount::millionths),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::views::Count;

    fn counts(human: i64, ai: i64) -> Counts {
        Counts { human: Count::Known(human), ai: Count::Known(ai), total: Count::Known(human + ai) }
    }

    #[test]
    fn new_and_gone_pages_differ_from_pages_with_zero_views() {
        let (some, none, ten) = (counts(10, 30), counts(0, 0), ViewCount::from(10));
        let change = |counts, then| PageMetrics::of(counts, then).change(Metric::Human);
        assert_eq!(change(&some, ComparisonBaseline::New), Change::New(ten));
        assert_eq!(change(&some, ComparisonBaseline::Counts(&none)), Change::Of { now: ten, before: ViewCount::ZERO });
        let missing = Counts::default();
        assert_eq!(change(&missing, ComparisonBaseline::Gone(&some)), Change::Gone(ten));
        assert_eq!(change(&some, ComparisonBaseline::Unknown), Change::Unknown);
        let differences = [Change::New(ten), Change::Gone(ten)].map(Change::difference);
        assert_eq!(differences, [Some(ten), Some(ViewCount::ZERO - ten)]);
        assert_eq!([Change::New(ten), Change::Gone(ten)].map(Change::percent), [None, Some(-100.0)]);
    }

    #[test]
    fn a_range_with_today_is_compared_by_its_complete_days() {
        let day = |text: &str| text.parse().expect("a day");
        let range = |from: &str, to: &str| crate::model::period::DateRange::new(day(from), day(to)).expect("a range");
        let ranges =
            ComparedRanges { now: range("2026-10-01", "2026-10-10"), before: range("2026-09-01", "2026-09-05") };
        let (shown, complete, before) = (counts(90, 10), counts(70, 10), counts(25, 0));
        let figures = PageMetrics {
            compared: &complete,
            ranges: Some(ranges),
            ..PageMetrics::of(&shown, ComparisonBaseline::Counts(&before))
        };
        let change = figures.change(Metric::Human);
        assert_eq!(change, Change::Of { now: 7.into(), before: 5.into() });
        assert_eq!(figures.share_change(), Some(12.5), "of the complete days, too");
        assert_eq!(
            PageMetrics { baseline: ComparisonBaseline::Neither, ..figures }.change(Metric::Human),
            Change::Unknown
        );
    }

    #[test]
    fn the_share_changes_in_points_if_both_are_known() {
        let (now, before, nothing) = (counts(50, 50), counts(75, 25), counts(0, 0));
        assert_eq!(PageMetrics::of(&now, ComparisonBaseline::Counts(&before)).share_change(), Some(25.0));
        assert_eq!(PageMetrics::of(&now, ComparisonBaseline::Counts(&nothing)).share_change(), None);
        assert_eq!(PageMetrics::of(&now, ComparisonBaseline::New).share_change(), None);
    }
}
