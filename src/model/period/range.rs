//! Date ranges in UTC. Both ends are inclusive; the service's `dateTo` is exclusive.

use crate::model::Time;
use chrono::{Datelike as _, Days, Months, NaiveDate, NaiveTime, TimeDelta, Weekday};
use std::fmt;

const SECONDS_PER_DAY: u32 = 86_400;
/// How long after the end of a day the service may still be counting its views.
pub const COUNTING_DELAY: TimeDelta = TimeDelta::hours(2);

/// The days from `from` to `to`, both included, in UTC. `from` is never after `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateRange {
    from: NaiveDate,
    to: NaiveDate,
}

impl DateRange {
    /// Returns `None` if `from` is after `to`.
    pub fn new(from: NaiveDate, to: NaiveDate) -> Option<Self> {
        (from <= to).then_some(Self { from, to })
    }

    /// Returns the range of only this day.
    pub fn day(day: NaiveDate) -> Self {
        Self { from: day, to: day }
    }

    /// Returns each day of the range as a range of one day.
    pub fn single_days(self) -> impl Iterator<Item = Self> {
        self.from.iter_days().take_while(move |day| *day <= self.to).map(Self::day)
    }

    /// Returns the last `days` days, at least one. The last of them is today, which is not over yet.
    pub fn last_days(days: u32, today: NaiveDate) -> Self {
        let back = Days::new(u64::from(days.max(1) - 1));
        Self { from: today.checked_sub_days(back).unwrap_or(NaiveDate::MIN), to: today }
    }

    pub fn from(&self) -> NaiveDate {
        self.from
    }

    /// Returns the last day, which belongs to the range.
    pub fn to(&self) -> NaiveDate {
        self.to
    }

    /// Returns the day after the last day, which the service expects as the exclusive end.
    pub fn exclusive_end(&self) -> NaiveDate {
        self.to.succ_opt().unwrap_or(self.to)
    }

    /// Returns the number of days, at least 1.
    pub fn days(&self) -> u32 {
        u32::try_from((self.to - self.from).num_days()).unwrap_or(0).saturating_add(1)
    }

    /// Formats the range in words: `22 Nov`, `16–21 Nov`, `28 Oct – 3 Nov`, each with the year if `with_year` is set.
    pub fn format_dates(&self, with_year: bool) -> String {
        let whole = if with_year { "%-d %b %Y" } else { "%-d %b" };
        if self.from == self.to {
            self.to.format(whole).to_string()
        } else if (self.from.year(), self.from.month()) == (self.to.year(), self.to.month()) {
            format!("{}–{}", self.from.format("%-d"), self.to.format(whole))
        } else {
            let first = if self.from.year() == self.to.year() { "%-d %b" } else { whole };
            format!("{} – {}", self.from.format(first), self.to.format(whole))
        }
    }

    /// Returns how many seconds of the range had passed at the time `as_of`, at least the seconds of one day.
    pub fn elapsed_seconds(&self, as_of: Time) -> u32 {
        let since = (as_of.naive_utc() - self.from.and_time(NaiveTime::MIN)).num_seconds();
        let day = i64::from(SECONDS_PER_DAY);
        let all = i64::from(self.days()).saturating_mul(day);
        u32::try_from(since.clamp(day, all)).unwrap_or(u32::MAX)
    }

    /// Returns how many days of the range had passed at the time `as_of`, with the current day as a fraction; at least
    /// 1.
    pub fn elapsed_days(&self, as_of: Time) -> f64 {
        f64::from(self.elapsed_seconds(as_of)) / f64::from(SECONDS_PER_DAY)
    }

    pub fn contains(&self, day: NaiveDate) -> bool {
        (self.from..=self.to).contains(&day)
    }

    /// Returns the days up to and including `last`, or `None` if the range starts after `last`.
    pub fn days_up_to(&self, last: NaiveDate) -> Option<Self> {
        Self::new(self.from, self.to.min(last))
    }

    /// Returns the first `days` days (at least one), or all days if the range has fewer.
    pub fn first_days(&self, days: u32) -> Self {
        let last = self.from.checked_add_days(Days::new(u64::from(days.max(1) - 1)));
        Self { from: self.from, to: last.unwrap_or(self.to).min(self.to) }
    }

    /// Returns the ISO week that contains the day, from Monday to Sunday.
    pub fn week_of(day: NaiveDate) -> Self {
        let week = day.week(Weekday::Mon);
        Self {
            from: week.checked_first_day().unwrap_or(NaiveDate::MIN),
            to: week.checked_last_day().unwrap_or(NaiveDate::MAX),
        }
    }

    /// Returns the month that contains the day.
    pub fn month_of(day: NaiveDate) -> Self {
        Self::months_from(day.with_day(1).unwrap_or(day), 1)
    }

    /// Returns the quarter that contains the day.
    pub fn quarter_of(day: NaiveDate) -> Self {
        let first = day.month0() / 3 * 3 + 1;
        let from = NaiveDate::from_ymd_opt(day.year(), first, 1).unwrap_or(day);
        Self::months_from(from, 3)
    }

    /// Returns the range of `months` complete months that starts at `from`, which must be the first day of a month.
    fn months_from(from: NaiveDate, months: u32) -> Self {
        let after = from.checked_add_months(Months::new(months));
        let to = after.and_then(|after| after.pred_opt()).unwrap_or(NaiveDate::MAX);
        Self { from, to }
    }

    /// Returns the same dates this many months earlier. A day that the earlier month doesn't have becomes the last day
    /// of that month. Returns `None` if a date can't be represented.
    pub fn months_before(&self, months: u32) -> Option<Self> {
        let months = Months::new(months);
        Self::new(self.from.checked_sub_months(months)?, self.to.checked_sub_months(months)?)
    }

    /// Returns the range of the same length that is directly before (`-1`) or after (`1`) this one, or several steps
    /// away. Returns `None` if a date can't be represented.
    pub fn step(&self, steps: i32) -> Option<Self> {
        let shift = TimeDelta::days(i64::from(self.days()) * i64::from(steps));
        Some(Self { from: self.from.checked_add_signed(shift)?, to: self.to.checked_add_signed(shift)? })
    }

    /// Whether numbers loaded at `as_of` can be shown without loading them again. Numbers that no longer change
    /// ([`Self::is_final`]) are always fresh. Other numbers are fresh for an hour if they were loaded after the end of
    /// the range, otherwise for five minutes.
    pub fn is_fresh(&self, as_of: Time, now: Time) -> bool {
        let age = now - as_of;
        self.is_final(as_of) || age < TimeDelta::minutes(5) || as_of.date_naive() > self.to && age < TimeDelta::hours(1)
    }

    /// Whether numbers loaded at `as_of` no longer change, because the range had ended and its last day was counted.
    pub fn is_final(&self, as_of: Time) -> bool {
        as_of.checked_sub_signed(COUNTING_DELAY).is_some_and(|counted| counted.date_naive() > self.to)
    }
}

impl fmt::Display for DateRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} … {}", self.from, self.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().expect("a date")
    }

    fn moment(text: &str) -> Time {
        text.parse().expect("a time")
    }

    #[test]
    fn the_current_day_counts_as_a_fraction() {
        let at = |time: &str| time.parse::<Time>().expect("a time");
        let day = |day: &str| day.parse::<NaiveDate>().expect("a day");
        let week = DateRange::new(day("2026-11-16"), day("2026-11-22")).expect("a week");
        assert_eq!(week.elapsed_days(at("2026-11-20T12:00:00Z")), 4.5);
        assert_eq!(week.elapsed_days(at("2026-11-16T00:10:00Z")), 1.0, "at least a day");
        assert_eq!(week.elapsed_days(at("2026-11-23T00:00:00Z")), 7.0);
        assert_eq!(week.elapsed_days(at("2026-12-23T00:00:00Z")), 7.0);
        assert_eq!(week.elapsed_days(at("2026-11-01T00:00:00Z")), 1.0);
    }

    #[test]
    fn seven_days_are_today_and_the_six_before_it() {
        let range = DateRange::last_days(7, day("2026-11-20"));
        assert_eq!(range.to_string(), "2026-11-14 … 2026-11-20");
        assert_eq!((range.days(), range.exclusive_end()), (7, day("2026-11-21")));
    }

    #[test]
    fn the_previous_range_is_adjacent_and_has_the_same_length() {
        let range = DateRange::last_days(7, day("2026-11-20"));
        let before = range.step(-1).expect("in range");
        assert_eq!(before.to_string(), "2026-11-07 … 2026-11-13");
        assert_eq!(before.step(1), Some(range));
    }

    #[test]
    fn how_long_numbers_stay_fresh_depends_on_when_the_range_ended() {
        let range = DateRange::last_days(7, day("2026-11-20"));
        let fresh = |as_of: &str, now: &str| range.is_fresh(moment(as_of), moment(now));
        assert!(fresh("2026-11-20T12:00:00Z", "2026-11-20T12:04:59Z"));
        assert!(!fresh("2026-11-20T12:00:00Z", "2026-11-20T12:05:00Z"));
        assert!(fresh("2026-11-21T01:59:59Z", "2026-11-21T02:59:58Z"));
        assert!(!fresh("2026-11-21T01:59:59Z", "2026-11-21T02:59:59Z"));
        assert!(fresh("2026-11-21T02:00:00Z", "2027-11-21T02:00:00Z"));
        // Numbers loaded before the range ended don't become final with time.
        assert!(!fresh("2026-11-20T12:00:00Z", "2026-11-25T12:00:00Z"));
    }

    #[test]
    fn months_and_quarters_end_on_their_last_calendar_day() {
        let month = |text: &str| DateRange::month_of(day(text)).to_string();
        assert_eq!(month("2028-02-10"), "2028-02-01 … 2028-02-29", "a leap year");
        assert_eq!(month("2100-02-28"), "2100-02-01 … 2100-02-28", "no leap year");
        assert_eq!(month("2026-12-31"), "2026-12-01 … 2026-12-31");
        let quarter = |text: &str| DateRange::quarter_of(day(text)).to_string();
        assert_eq!(quarter("2026-11-20"), "2026-10-01 … 2026-12-31");
        assert_eq!(quarter("2026-03-31"), "2026-01-01 … 2026-03-31");
    }

    #[test]
    fn a_year_before_a_leap_day_is_the_28th() {
        let leap = DateRange::new(day("2028-02-28"), day("2028-02-29")).expect("a range");
        assert_eq!(leap.months_before(12).map(|before| before.to_string()).as_deref(), Some("2027-02-28 … 2027-02-28"));
    }
}
