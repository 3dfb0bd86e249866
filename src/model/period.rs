//! Ranges of days: inclusive for people, exclusive at the end on the wire, always UTC (api.md: dateTo is exclusive).

use super::Time;
use chrono::{Days, NaiveDate, TimeDelta};
use std::fmt;

/// Days from `from` to `to`, both included, UTC. `from` is never after `to`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateRange {
    from: NaiveDate,
    to: NaiveDate,
}

impl DateRange {
    /// None when it is the wrong way round.
    pub fn new(from: NaiveDate, to: NaiveDate) -> Option<Self> {
        (from <= to).then_some(Self { from, to })
    }

    /// Today (partial) and the days before it, `days` in all, at least one.
    pub fn last_days(days: u32, today: NaiveDate) -> Self {
        let back = Days::new(u64::from(days.max(1) - 1));
        Self { from: today.checked_sub_days(back).unwrap_or(NaiveDate::MIN), to: today }
    }

    /// First day.
    pub fn from(&self) -> NaiveDate {
        self.from
    }

    /// Last day, included.
    pub fn to(&self) -> NaiveDate {
        self.to
    }

    /// The exclusive end that goes on the wire.
    pub fn wire_to(&self) -> NaiveDate {
        self.to.succ_opt().unwrap_or(self.to)
    }

    /// How many days, at least 1.
    pub fn days(&self) -> u32 {
        u32::try_from((self.to - self.from).num_days()).unwrap_or(0).saturating_add(1)
    }

    /// Whether the day is one of them.
    pub fn contains(&self, day: NaiveDate) -> bool {
        (self.from..=self.to).contains(&day)
    }

    /// The range of the same length right before (`-1`) or after (`1`) this one, by `steps` lengths. None beyond the
    /// calendar.
    pub fn step(&self, steps: i32) -> Option<Self> {
        let shift = TimeDelta::days(i64::from(self.days()) * i64::from(steps));
        Some(Self { from: self.from.checked_add_signed(shift)?, to: self.to.checked_add_signed(shift)? })
    }

    /// Whether numbers that were loaded at `as_of` may still be shown without asking again: for good when the range
    /// had ended before yesterday by then, for an hour when it ended yesterday, for five minutes otherwise.
    pub fn is_fresh(&self, as_of: Time, now: Time) -> bool {
        let age = now - as_of;
        let ended = (as_of.date_naive() - self.to).num_days();
        match ended {
            2.. => true,
            1 => age < TimeDelta::hours(1),
            _ => age < TimeDelta::minutes(5),
        }
    }
}

impl fmt::Display for DateRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} … {}", self.from, self.to)
    }
}

/// The ranges that one key goes through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Preset {
    Week,
    Month,
    Quarter,
}

impl Preset {
    /// In the order in which the key goes through them.
    pub const ALL: [Self; 3] = [Self::Week, Self::Month, Self::Quarter];

    /// Days, today included.
    pub fn days(self) -> u32 {
        match self {
            Self::Week => 7,
            Self::Month => 30,
            Self::Quarter => 90,
        }
    }

    /// The name on the screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::Week => "7d",
            Self::Month => "30d",
            Self::Quarter => "90d",
        }
    }

    /// The range that it means today.
    pub fn range(self, today: NaiveDate) -> DateRange {
        DateRange::last_days(self.days(), today)
    }
}

/// What is wrong with a typed range; the text is shown while typing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    #[error("two dates, like 2026-11-01 2026-11-20")]
    Incomplete,
    #[error("the first date is no day of the calendar: write YYYY-MM-DD")]
    From,
    #[error("the second date is no day of the calendar: write YYYY-MM-DD")]
    To,
    #[error("the first date comes after the second")]
    Reversed,
}

/// Reads a typed range: two dates, or one for a single day, separated by spaces, `..`, `…` or `to`.
pub fn parse_range(typed: &str) -> Result<DateRange, RangeError> {
    let spaced = typed.replace("..", " ").replace(['…', ',', '/'], " ");
    let mut words = spaced.split_whitespace().filter(|word| *word != "to" && *word != "-");
    let from = words.next().ok_or(RangeError::Incomplete)?;
    let to = words.next();
    if words.next().is_some() {
        return Err(RangeError::Incomplete);
    }
    let from: NaiveDate = from.parse().map_err(|_| RangeError::From)?;
    let to: NaiveDate = to.map_or(Ok(from), str::parse).map_err(|_| RangeError::To)?;
    DateRange::new(from, to).ok_or(RangeError::Reversed)
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
    fn seven_days_are_today_and_the_six_before_it() {
        let range = DateRange::last_days(7, day("2026-11-20"));
        assert_eq!(range.to_string(), "2026-11-14 … 2026-11-20");
        assert_eq!((range.days(), range.wire_to()), (7, day("2026-11-21")));
    }

    #[test]
    fn the_period_before_has_the_same_length_and_touches() {
        let range = DateRange::last_days(7, day("2026-11-20"));
        let before = range.step(-1).expect("in range");
        assert_eq!(before.to_string(), "2026-11-07 … 2026-11-13");
        assert_eq!(before.step(1), Some(range));
    }

    #[test]
    fn how_long_numbers_stay_fresh_depends_on_when_the_range_had_ended() {
        let range = DateRange::last_days(7, day("2026-11-20"));
        let fresh = |as_of: &str, now: &str| range.is_fresh(moment(as_of), moment(now));
        assert!(fresh("2026-11-20T12:00:00Z", "2026-11-20T12:04:59Z"));
        assert!(!fresh("2026-11-20T12:00:00Z", "2026-11-20T12:05:00Z"));
        assert!(fresh("2026-11-21T12:00:00Z", "2026-11-21T12:59:59Z"));
        assert!(!fresh("2026-11-21T12:00:00Z", "2026-11-21T13:00:00Z"));
        assert!(fresh("2026-11-22T00:00:00Z", "2027-11-22T00:00:00Z"));
        // Loaded while it was still running, it does not become final by waiting.
        assert!(!fresh("2026-11-20T12:00:00Z", "2026-11-25T12:00:00Z"));
    }

    #[test]
    fn a_typed_range_is_read_or_refused_with_a_reason() {
        assert_eq!(parse_range("2026-11-01 2026-11-20").map(|r| r.days()), Ok(20));
        assert_eq!(parse_range("2026-11-01..2026-11-02").map(|r| r.days()), Ok(2));
        assert_eq!(parse_range("2026-11-05").map(|r| r.days()), Ok(1));
        assert_eq!(parse_range("2026-02-30 2026-03-01"), Err(RangeError::From));
        assert_eq!(parse_range("2026-02-20 2026-13-01"), Err(RangeError::To));
        assert_eq!(parse_range("2026-03-01 2026-02-01"), Err(RangeError::Reversed));
        assert_eq!(parse_range(""), Err(RangeError::Incomplete));
    }
}
