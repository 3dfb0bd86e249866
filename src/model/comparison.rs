//! Decides which days of two date ranges are compared, and how a number of views changed. Only complete days are
//! compared. If one range has more complete days, numbers are compared per day.
//!
//! If the shown range includes today, the other range is shortened to the number of complete days in the shown range.
//! For example, on a Sunday, Monday to Saturday of this week is compared with Monday to Saturday of the previous week.
//! A range that the user chose for the comparison is shortened only if it is as long as the shown range.

use super::period::{DateRange, Period};
use super::report::Report;
use super::views::{Count, DecimalCount};
use chrono::{Datelike as _, NaiveDate};
use std::sync::Arc;

/// The complete days of two date ranges whose numbers are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ComparedRanges {
    pub current: DateRange,
    pub previous: DateRange,
}

/// Why two ranges can't be compared, as a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NotComparable {
    #[error("Only complete days can be compared, and today isn't over. Choose a range with earlier days.")]
    OnlyToday,
    #[error("Only complete days can be compared, and no day of {0} is over.")]
    OtherIsNotOver(DateRange),
    #[error("Choose a different range to compare with.")]
    SameDays,
    #[error("This range has no previous period.")]
    NoPreviousPeriod,
}

impl ComparedRanges {
    /// Returns the complete days to compare. If `is_aligned` is set or both ranges have the same length, the first day
    /// of `other` is compared with the first day of `shown`, and so on. In this case, when `shown` is shortened to its
    /// complete days, `other` is shortened as well.
    ///
    /// # Errors
    /// Fails if one of the ranges has no complete day, or if both have the same complete days.
    pub fn new(shown: DateRange, other: DateRange, is_aligned: bool, today: NaiveDate) -> Result<Self, NotComparable> {
        let yesterday = today.pred_opt().unwrap_or(today);
        let current = shown.days_up_to(yesterday).ok_or(NotComparable::OnlyToday)?;
        let mut previous = other.days_up_to(yesterday).ok_or(NotComparable::OtherIsNotOver(other))?;
        if current != shown && (is_aligned || other.days() == shown.days()) {
            previous = previous.first_days(current.days());
        }
        if current == previous { Err(NotComparable::SameDays) } else { Ok(Self { current, previous }) }
    }

    /// Returns the complete days of `shown`, which are the days of `period` up to today, and the days of the previous
    /// period to compare them with.
    ///
    /// # Errors
    /// Fails if the range has no complete day, or if the dates of the previous period can't be represented.
    pub fn with_previous(shown: DateRange, period: Period, today: NaiveDate) -> Result<Self, NotComparable> {
        let previous = period.step(-1).ok_or(NotComparable::NoPreviousPeriod)?;
        Self::new(shown, previous.all_days(), true, today)
    }

    /// Whether numbers are compared per day, because one range has more days.
    pub fn is_per_day(self) -> bool {
        self.current.days() != self.previous.days()
    }

    /// Returns a text such as `31 vs 30 days`, or `None` if both ranges have the same number of days.
    pub fn day_counts_text(self) -> Option<String> {
        self.is_per_day().then(|| format!("{} vs {} days", self.current.days(), self.previous.days()))
    }

    /// Returns a text such as `views per day, 31 vs 30 days`, or `None` if both ranges have the same number of days.
    pub fn per_day_text(self) -> Option<String> {
        self.day_counts_text().map(|days| format!("views per day, {days}"))
    }

    /// Returns a text such as `16–21 Nov vs 9–14 Nov`, with years if they differ.
    pub fn dates_text(self) -> String {
        let days = [self.current.from(), self.previous.from(), self.previous.to()];
        let with_year = days.iter().any(|day| day.year() != self.current.to().year());
        format!("{} vs {}", self.current.format_dates(with_year), self.previous.format_dates(with_year))
    }

    /// Returns the full label, such as `complete days, 16–21 Nov vs 9–14 Nov`. It contains `complete days` only if not
    /// all days of `shown` are compared, and the text of [`Self::per_day_text`] if the ranges differ in length.
    pub fn label(self, shown: DateRange) -> String {
        let complete = (self.current != shown).then(|| "complete days".to_owned());
        let parts = [complete, self.per_day_text(), Some(self.dates_text())];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// Returns the short label. If the ranges differ in length, it is like `views per day, 31 vs 30 days`. Otherwise it
    /// has the dates: `16–21 Nov vs 9–14 Nov`, or only `vs 9–15 Nov` if all days of the range on screen are compared.
    pub fn short_label(self, shown: DateRange) -> String {
        let years = [self.current.to(), self.previous.from(), self.previous.to()].map(|day| day.year());
        let with_year = years.iter().any(|year| *year != self.current.to().year());
        let current =
            if self.current == shown { String::new() } else { format!("{} ", self.current.format_dates(with_year)) };
        self.per_day_text().unwrap_or_else(|| format!("{current}vs {}", self.previous.format_dates(with_year)))
    }

    /// Returns the number to compare for `views` in the current range: the mean per day if the ranges differ in length,
    /// otherwise `views`.
    pub fn comparable_current(self, views: DecimalCount) -> DecimalCount {
        self.scaled(views, self.current)
    }

    /// Does the same as [`Self::comparable_current`], but for `views` in the previous range.
    pub fn comparable_previous(self, views: DecimalCount) -> DecimalCount {
        self.scaled(views, self.previous)
    }

    fn scaled(self, views: DecimalCount, range: DateRange) -> DecimalCount {
        if self.is_per_day() { views.scaled(1, u64::from(range.days())) } else { views }
    }

    /// Returns how a count changed, or `None` if `current` or `previous` is not a valid count.
    pub fn change(self, current: &Count, previous: &Count) -> Option<ViewsChange> {
        let (current, previous) =
            (self.comparable_current(current.value()?), self.comparable_previous(previous.value()?));
        Some(ViewsChange::InBoth { current, previous })
    }
}

/// How a number of views changed. The numbers are per day if the ranges differ in length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ViewsChange {
    InBoth {
        current: DecimalCount,
        previous: DecimalCount,
    },
    /// The page isn't listed in the previous range.
    New(DecimalCount),
    /// The page is listed only in the previous range.
    Gone(DecimalCount),
    #[default]
    Unknown,
}

impl ViewsChange {
    /// Returns the views gained, negative if views were lost; `None` if unknown. A new page counts as 0 in the previous
    /// range, and a page that is gone as 0 in the current range.
    pub fn difference(self) -> Option<DecimalCount> {
        match self {
            Self::InBoth { current, previous } => Some(current - previous),
            Self::New(current) => Some(current),
            Self::Gone(previous) => Some(DecimalCount::ZERO - previous),
            Self::Unknown => None,
        }
    }

    /// Returns the views gained in percent, negative if views were lost, and -100 for a page that is gone. Returns
    /// `None` if there were no views in the previous range or the change is unknown.
    pub fn percent(self) -> Option<f64> {
        match self {
            Self::InBoth { current, previous } if !previous.is_zero() => {
                Some((current.ratio_to(previous) - 1.0) * 100.0)
            }
            Self::Gone(previous) if !previous.is_zero() => Some(-100.0),
            Self::InBoth { .. } | Self::New(_) | Self::Gone(_) | Self::Unknown => None,
        }
    }
}

/// The reports of two date ranges whose pages are compared.
#[derive(Debug, Clone)]
pub struct Comparison {
    pub current: Arc<Report>,
    pub previous: Arc<Report>,
}

impl Comparison {
    pub fn ranges(&self) -> ComparedRanges {
        ComparedRanges { current: self.current.range, previous: self.previous.range }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(text: &str) -> DateRange {
        let mut days = text.split(' ').map(|day| day.parse().expect("a date"));
        let from = days.next().expect("a day");
        DateRange::new(from, days.next().unwrap_or(from)).expect("a range")
    }

    fn today() -> NaiveDate {
        "2026-11-22".parse().expect("a date")
    }

    fn compared(shown: &str, other: &str, is_aligned: bool) -> Result<String, NotComparable> {
        let ranges = ComparedRanges::new(range(shown), range(other), is_aligned, today())?;
        Ok([Some(ranges.dates_text()), ranges.per_day_text()].into_iter().flatten().collect::<Vec<_>>().join(", "))
    }

    #[test]
    fn a_range_that_includes_today_is_compared_by_its_complete_days() {
        let week = compared("2026-11-16 2026-11-22", "2026-11-09 2026-11-15", true);
        assert_eq!(week.as_deref(), Ok("16–21 Nov vs 9–14 Nov"));
        let month = compared("2026-11-01 2026-11-22", "2026-10-01 2026-10-31", true);
        assert_eq!(month.as_deref(), Ok("1–21 Nov vs 1–21 Oct"));
        let year_ago = compared("2026-11-16 2026-11-22", "2025-11-16 2025-11-22", false);
        assert_eq!(year_ago.as_deref(), Ok("16–21 Nov 2026 vs 16–21 Nov 2025"));
        let other = compared("2026-11-16 2026-11-22", "2026-09-01 2026-09-30", false);
        assert_eq!(other.as_deref(), Ok("16–21 Nov vs 1–30 Sep, views per day, 6 vs 30 days"));
        let both = compared("2026-11-16 2026-11-22", "2026-10-24 2026-11-22", false);
        assert_eq!(both.as_deref(), Ok("16–21 Nov vs 24 Oct – 21 Nov, views per day, 6 vs 29 days"));
    }

    #[test]
    fn complete_ranges_are_compared_with_all_their_days() {
        let months = compared("2026-10-01 2026-10-31", "2026-09-01 2026-09-30", true);
        assert_eq!(months.as_deref(), Ok("1–31 Oct vs 1–30 Sep, views per day, 31 vs 30 days"));
        let days = compared("2026-11-20", "2026-11-19", true);
        assert_eq!(days.as_deref(), Ok("20 Nov vs 19 Nov"));
        let years = compared("2025-12-30 2026-01-02", "2025-12-26 2025-12-29", true);
        assert_eq!(years.as_deref(), Ok("30 Dec 2025 – 2 Jan 2026 vs 26–29 Dec 2025"));
    }

    #[test]
    fn a_month_longer_than_the_previous_one_counts_with_all_its_complete_days() {
        let today = "2026-03-31".parse().expect("a date");
        let (march, february) = (range("2026-03-01 2026-03-31"), range("2026-02-01 2026-02-28"));
        let ranges = ComparedRanges::new(march, february, true, today).expect("comparable");
        assert_eq!((ranges.current.days(), ranges.previous.days()), (30, 28));
    }

    #[test]
    fn the_days_of_this_month_are_compared_with_those_of_the_month_before() {
        let today = "2026-11-28".parse().expect("a date");
        let (november, days) = (Period::month(today), range("2026-11-01 2026-11-28"));
        let ranges = ComparedRanges::with_previous(days, november, today).expect("comparable");
        assert_eq!(ranges.dates_text(), "1–27 Nov vs 1–27 Oct");
        let as_days = ComparedRanges::with_previous(days, Period::from_range(days), today).expect("comparable");
        assert_eq!(as_days.dates_text(), "1–27 Nov vs 4–30 Oct");
    }

    #[test]
    fn days_that_are_not_over_are_not_compared() {
        let today = "2026-11-22 2026-11-22";
        assert_eq!(compared(today, "2026-11-21", true), Err(NotComparable::OnlyToday));
        let not_over = NotComparable::OtherIsNotOver(range(today));
        assert_eq!(compared("2026-11-01 2026-11-05", today, false), Err(not_over));
        let same = compared("2026-11-16 2026-11-22", "2026-11-16 2026-11-21", false);
        assert_eq!(same, Err(NotComparable::SameDays));
    }

    #[test]
    fn ranges_of_different_length_are_compared_per_day() {
        let months =
            ComparedRanges { current: range("2026-10-01 2026-10-31"), previous: range("2026-09-01 2026-09-30") };
        let change = months.change(&Count::Known(62), &Count::Known(60)).expect("counts");
        assert_eq!((change.difference(), change.percent()), (Some(DecimalCount::ZERO), Some(0.0)));
        assert_eq!(months.comparable_current(DecimalCount::from(100)).to_string(), "3.225806");
        let weeks =
            ComparedRanges { current: range("2026-10-08 2026-10-14"), previous: range("2026-10-01 2026-10-07") };
        let change = weeks.change(&Count::Known(62), &Count::Known(60)).expect("counts");
        assert_eq!(change.difference(), Some(DecimalCount::from(2)), "not per day");
        assert_eq!(weeks.change(&Count::Known(62), &Count::Missing), None);
    }

    #[test]
    fn a_comparison_is_labelled_with_its_days() {
        let (shown, other) = (range("2026-11-16 2026-11-22"), range("2026-11-09 2026-11-15"));
        let ranges = ComparedRanges::new(shown, other, true, today()).expect("comparable");
        assert_eq!(ranges.label(shown), "complete days, 16–21 Nov vs 9–14 Nov");
        assert_eq!(ranges.short_label(shown), "16–21 Nov vs 9–14 Nov");
        let (shown, other) = (range("2026-10-01 2026-10-31"), range("2026-09-01 2026-09-30"));
        let ranges = ComparedRanges::new(shown, other, true, today()).expect("comparable");
        assert_eq!(ranges.label(shown), "views per day, 31 vs 30 days, 1–31 Oct vs 1–30 Sep");
    }

    #[test]
    fn a_page_without_previous_views_has_no_percentage() {
        let in_both =
            |current: u64, previous: u64| ViewsChange::InBoth { current: current.into(), previous: previous.into() };
        assert_eq!(in_both(5, 0).percent(), None);
        assert_eq!(in_both(5, 4).percent(), Some(25.0));
        let (new, gone) = (ViewsChange::New(10.into()), ViewsChange::Gone(10.into()));
        assert_eq!([new, gone].map(ViewsChange::percent), [None, Some(-100.0)]);
        assert_eq!(new.difference(), Some(DecimalCount::from(10)));
    }

    #[test]
    fn changes_of_fractions_are_exact() {
        let [current, previous, more] = ["1.3", "1.2", "0.1"].map(|text| DecimalCount::parse(text).expect("a number"));
        assert_eq!(ViewsChange::InBoth { current, previous }.difference(), Some(more));
    }
}
