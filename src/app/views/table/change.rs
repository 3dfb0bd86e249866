//! What changed on a page, or in a folder, since the range that is compared with. A new page and one that is gone are
//! told apart from zero, and from those of which nothing is known.

use super::metric::{Metric, float_key};
use crate::model::views::{Counts, ViewCount};

/// What is known of the range before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then<'a> {
    /// Nothing is compared.
    Uncompared,
    Counts(&'a Counts),
    /// Not among all pages of the range before.
    New,
    /// Not among all pages of the present range; its numbers of the range before.
    Gone(&'a Counts),
    /// Not among those pages that are loaded; there may be more.
    Unknown,
}

/// The numbers of a page or of a folder, now and before.
#[derive(Debug, Clone, Copy)]
pub struct Figures<'a> {
    pub counts: &'a Counts,
    pub then: Then<'a>,
}

/// How one number changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    Of {
        now: ViewCount,
        before: ViewCount,
    },
    /// A new page, with so many views.
    New(ViewCount),
    /// A page that is gone, with so many views before.
    Gone(ViewCount),
    Unknown,
}

impl Change {
    /// Views more, or less when negative. What is new had none before, what is gone has none now.
    pub fn difference(self) -> Option<ViewCount> {
        match self {
            Self::Of { now, before } => Some(now - before),
            Self::New(now) => Some(now),
            Self::Gone(before) => Some(ViewCount::ZERO - before),
            Self::Unknown => None,
        }
    }

    /// Percent more, or less when negative; none where there was nothing before. What is gone is down by 100.
    pub fn percent(self) -> Option<f64> {
        match self {
            Self::Of { now, before } if !before.is_zero() => Some((now.ratio_to(before) - 1.0) * 100.0),
            Self::Gone(before) if !before.is_zero() => Some(-100.0),
            Self::Of { .. } | Self::New(_) | Self::Gone(_) | Self::Unknown => None,
        }
    }
}

impl Figures<'_> {
    /// The numbers to show: those of the range before for a page that is gone, which have to be marked as such.
    pub fn counts_shown(&self) -> &Counts {
        match self.then {
            Then::Gone(before) => before,
            _ => self.counts,
        }
    }

    /// How human, AI or total views changed; unknown for the share.
    pub fn change(&self, metric: Metric) -> Change {
        let value = |counts: &Counts| metric.count(counts).and_then(|count| count.value());
        let change = match self.then {
            Then::Counts(before) => {
                value(self.counts).zip(value(before)).map(|(now, before)| Change::Of { now, before })
            }
            Then::New => value(self.counts).map(Change::New),
            Then::Gone(before) => value(before).map(Change::Gone),
            Then::Uncompared | Then::Unknown => None,
        };
        change.unwrap_or(Change::Unknown)
    }

    /// Percentage points by which the share of AI grew, or shrank when negative; none unless it is known in both ranges.
    pub fn share_change(&self) -> Option<f64> {
        match self.then {
            Then::Counts(before) => Some((self.counts.ai_share()? - before.ai_share()?) * 100.0),
            Then::Uncompared | Then::New | Then::Gone(_) | Then::Unknown => None,
        }
    }

    /// The change as a number to sort by.
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
    fn new_and_gone_pages_are_no_pages_with_zero_views() {
        let (some, none, ten) = (counts(10, 30), counts(0, 0), ViewCount::from(10));
        let change = |counts, then| Figures { counts, then }.change(Metric::Human);
        assert_eq!(change(&some, Then::New), Change::New(ten));
        assert_eq!(change(&some, Then::Counts(&none)), Change::Of { now: ten, before: ViewCount::ZERO });
        let missing = Counts::default();
        assert_eq!(change(&missing, Then::Gone(&some)), Change::Gone(ten));
        assert_eq!(change(&some, Then::Unknown), Change::Unknown);
        let differences = [Change::New(ten), Change::Gone(ten)].map(Change::difference);
        assert_eq!(differences, [Some(ten), Some(ViewCount::ZERO - ten)]);
        assert_eq!([Change::New(ten), Change::Gone(ten)].map(Change::percent), [None, Some(-100.0)]);
    }

    #[test]
    fn what_was_nothing_before_has_no_percentage() {
        let of = |now: u64, before: u64| Change::Of { now: now.into(), before: before.into() };
        assert_eq!(of(5, 0).percent(), None);
        assert_eq!(of(5, 4).percent(), Some(25.0));
        assert_eq!(of(u64::MAX, 0).difference(), Some(u64::MAX.into()));
    }

    #[test]
    fn fractions_change_exactly() {
        let [now, before, more] = ["1.3", "1.2", "0.1"].map(|text| ViewCount::parse(text).expect("a number"));
        let change = Change::Of { now, before };
        assert_eq!(change.difference(), Some(more));
    }

    #[test]
    fn the_share_changes_in_points_and_only_where_it_is_known_twice() {
        let (now, before, nothing) = (counts(50, 50), counts(75, 25), counts(0, 0));
        assert_eq!(Figures { counts: &now, then: Then::Counts(&before) }.share_change(), Some(25.0));
        assert_eq!(Figures { counts: &now, then: Then::Counts(&nothing) }.share_change(), None);
        assert_eq!(Figures { counts: &now, then: Then::New }.share_change(), None);
    }
}
