//! The site's totals by range, and the bars and the mean of the trend, which are computed from them.

use super::all_pages::is_final;
use crate::model::Time;
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::report::ViewSums;
use crate::model::views::{Count, Counts, DecimalCount};
use chrono::{Datelike, NaiveDate, Weekday};
use std::collections::HashMap;

/// Ranges of at least this many days have one bar per week instead of per day.
pub const MIN_DAYS_FOR_WEEKLY_BARS: u32 = 60;

/// The cached totals of the site or, in the page details, of one page, by range.
#[derive(Debug, Default)]
pub struct RangeTotals {
    pub(super) by_range: HashMap<DateRange, Timed<Counts>>,
    /// Ranges whose totals were requested and have not arrived yet.
    pub(super) pending_ranges: Vec<DateRange>,
    /// Whether the totals count visitors. The visitors of several days can't be added up, because a visitor may be
    /// counted on each of them.
    pub(super) holds_visitors: bool,
}

impl RangeTotals {
    /// Returns the totals of this range.
    pub fn get(&self, range: DateRange) -> Option<&Timed<Counts>> {
        self.by_range.get(&range)
    }

    /// Returns the number of ranges whose totals were requested and have not arrived yet.
    pub fn pending_count(&self) -> usize {
        self.pending_ranges.len()
    }

    /// Returns the totals of a range: the response for the whole range or the sum of its days, whichever is newer. The
    /// sum is available only if every day is known.
    pub(super) fn newest_totals(&self, range: DateRange) -> Option<Timed<Counts>> {
        let received = self.get(range).cloned();
        let summed = if range.days() > 1 && !self.holds_visitors { self.sum_of_days(range) } else { None };
        match (received, summed) {
            (Some(received), Some(summed)) => Some(if summed.as_of > received.as_of { summed } else { received }),
            (received, summed) => received.or(summed),
        }
    }

    /// Adds up the totals of all days of a range; `None` if the totals of any day are unknown. The sum may count as
    /// final only if every day is final. So the load time of each day is moved forward by the number of days until the
    /// end of the range, and the sum gets the earliest of the resulting times.
    fn sum_of_days(&self, range: DateRange) -> Option<Timed<Counts>> {
        let add = |sum: &Count, more: &Count| Some(Count::from(sum.value()? + more.value()?));
        let of = |day: DateRange| {
            let known = self.get(day)?;
            let as_of = known.as_of.checked_add_signed(range.to() - day.to()).unwrap_or(known.as_of);
            Some(Timed { value: known.value.clone(), as_of })
        };
        let mut days = range.single_days();
        let mut sum = of(days.next()?)?;
        for day in days {
            let day = of(day)?;
            sum.value = Counts::new(
                add(&sum.value.human, &day.value.human)?,
                add(&sum.value.ai, &day.value.ai)?,
                add(&sum.value.total, &day.value.total)?,
            );
            sum.as_of = sum.as_of.min(day.as_of);
        }
        Some(sum)
    }

    /// Returns the totals of a range if they can't change any more. The response for the whole range counts if it was
    /// loaded after the range was over. Otherwise, the sum of all days counts if each day was loaded after that day was
    /// over.
    pub(super) fn final_totals(&self, range: DateRange) -> Option<Counts> {
        let settled = |range: DateRange| self.get(range).filter(|known| is_final(range, known.as_of));
        if let Some(known) = settled(range) {
            return Some(known.value.clone());
        }
        let mut sums = ViewSums::default();
        for day in range.single_days() {
            let counts = &settled(day)?.value;
            if [&counts.human, &counts.ai, &counts.total].iter().any(|count| count.value().is_none()) {
                return None;
            }
            sums = sums.plus(counts);
        }
        Some(Counts::new(sums.human.into(), sums.ai.into(), sums.total.into()))
    }
}

/// Returns human plus AI views, the height of a stacked bar. `None` if either number is not a valid count.
pub fn bar_height(counts: &Counts) -> Option<DecimalCount> {
    Some(counts.human.value()? + counts.ai.value()?)
}

/// Splits a range into weeks that start on Monday. The first and the last week are cut at the ends of the range.
pub(super) fn weeks(range: DateRange) -> Vec<DateRange> {
    let mut weeks = Vec::new();
    let mut from = range.from();
    while from <= range.to() {
        let sunday = from.week(Weekday::Mon).last_day().min(range.to());
        weeks.extend(DateRange::new(from, sunday));
        let Some(next) = sunday.succ_opt() else { break };
        from = next;
    }
    weeks
}

/// Returns the ranges of the bars of a trend: weeks in a long range, otherwise days.
pub(super) fn trend_bar_ranges(range: DateRange) -> Vec<DateRange> {
    if range.days() >= MIN_DAYS_FOR_WEEKLY_BARS { weeks(range) } else { range.single_days().collect() }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrendBar {
    pub range: DateRange,
    /// The totals of the site, or of one page, in the range of the bar; `None` if they are unknown.
    pub totals: Option<Timed<Counts>>,
}

impl TrendBar {
    /// Whether the totals were loaded before the last day of the bar was over. If they are unknown: whether the bar
    /// includes today.
    pub fn is_incomplete(&self, now: Time) -> bool {
        match &self.totals {
            Some(known) => !is_final(self.range, known.as_of),
            None => self.range.contains(now.date_naive()),
        }
    }

    /// Whether the totals have to be loaded, because they are unknown or outdated.
    pub fn needs_loading(&self, now: Time) -> bool {
        !self.totals.as_ref().is_some_and(|known| self.range.is_fresh(known.as_of, now))
    }

    pub fn is_weekend(&self) -> bool {
        self.range.days() == 1 && matches!(self.range.from().weekday(), Weekday::Sat | Weekday::Sun)
    }
}

/// The mean of views per day over all complete days that are known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CompleteDaysMean {
    pub mean: DecimalCount,
    /// Number of complete days with known views. The mean is taken over these days.
    pub known_days: u32,
    /// Number of days of the range that are over, including days with unknown views.
    pub complete_days: u32,
}

/// Counts the days of a range that are before `day`.
pub(super) fn count_days_before(range: DateRange, day: NaiveDate) -> u32 {
    let last = day.pred_opt().unwrap_or(day).min(range.to());
    DateRange::new(range.from(), last).map_or(0, |over| over.days())
}
