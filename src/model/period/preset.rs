//! Periods: date ranges with a unit (days, week, month or quarter), which decides the name of a period and which days
//! the previous and the next period have.

use super::DateRange;
use chrono::{Datelike as _, Days, NaiveDate};

/// The unit of a period. It decides which days the previous and the next period have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum PeriodUnit {
    /// Any number of days; the previous and the next period have the same number.
    Days,
    Week,
    /// A calendar month.
    Month,
    /// A calendar quarter.
    Quarter,
}

/// A range of days, and the unit that decides which days the previous and the next period have. Some days of the range
/// may be in the future; [`Period::range`] returns only the days up to today.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Period {
    full_range: DateRange,
    unit: PeriodUnit,
}

impl Period {
    /// Creates a period of the days in `range`. If they are a complete week, month or quarter, so are the days of the
    /// previous and of the next period.
    pub fn from_range(range: DateRange) -> Self {
        if range == DateRange::week_of(range.from()) {
            Self { full_range: range, unit: PeriodUnit::Week }
        } else if range == DateRange::month_of(range.from()) {
            Self { full_range: range, unit: PeriodUnit::Month }
        } else if range == DateRange::quarter_of(range.from()) {
            Self { full_range: range, unit: PeriodUnit::Quarter }
        } else {
            Self { full_range: range, unit: PeriodUnit::Days }
        }
    }

    /// Creates a period of the last `days` days up to today. The previous and the next period have the same number of
    /// days, even if the days happen to be a complete month.
    pub fn last_days(days: u32, today: NaiveDate) -> Self {
        Self { full_range: DateRange::last_days(days, today), unit: PeriodUnit::Days }
    }

    /// Creates the period of the ISO week that contains the day.
    pub fn week(day: NaiveDate) -> Self {
        Self { full_range: DateRange::week_of(day), unit: PeriodUnit::Week }
    }

    /// Creates the period of the month that contains the day.
    pub fn month(day: NaiveDate) -> Self {
        Self { full_range: DateRange::month_of(day), unit: PeriodUnit::Month }
    }

    /// Creates the period of the quarter that contains the day.
    pub fn quarter(day: NaiveDate) -> Self {
        Self { full_range: DateRange::quarter_of(day), unit: PeriodUnit::Quarter }
    }

    /// Returns all days, including those in the future.
    pub fn all_days(&self) -> DateRange {
        self.full_range
    }

    /// Returns the days up to and including today, or `None` if the period starts after today.
    pub fn range(&self, today: NaiveDate) -> Option<DateRange> {
        self.full_range.days_up_to(today)
    }

    /// Returns the period directly before (`-1`) or after (`1`) this one, or several steps away. Returns `None` if a
    /// date can't be represented.
    pub fn step(&self, steps: i32) -> Option<Self> {
        let months = match self.unit {
            PeriodUnit::Days | PeriodUnit::Week => {
                return self.full_range.step(steps).map(|full_range| Self { full_range, unit: self.unit });
            }
            PeriodUnit::Month => 1,
            PeriodUnit::Quarter => 3,
        };
        let by = chrono::Months::new(steps.unsigned_abs().checked_mul(months)?);
        let from = self.full_range.from();
        let from = if steps < 0 { from.checked_sub_months(by) } else { from.checked_add_months(by) }?;
        Some(if self.unit == PeriodUnit::Month { Self::month(from) } else { Self::quarter(from) })
    }

    /// Returns the preset that stands for this period today, if there is one.
    pub fn preset(&self, today: NaiveDate) -> Option<Preset> {
        Preset::ALL.into_iter().find(|preset| preset.period(today) == *self)
    }

    /// Returns the name of a week, month or quarter, such as `2026-W47`, `2026-09` or `2026-Q3`, or `None` for any
    /// other period.
    pub fn name(&self) -> Option<String> {
        let from = self.full_range.from();
        match self.unit {
            PeriodUnit::Days => None,
            PeriodUnit::Week => Some(format!("{}", from.format("%G-W%V"))),
            PeriodUnit::Month => Some(format!("{}", from.format("%Y-%m"))),
            PeriodUnit::Quarter => Some(format!("{:04}-Q{}", from.year(), from.month0() / 3 + 1)),
        }
    }
}

/// A named period that is relative to today. One keyboard key switches from each preset to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Preset {
    SevenDays,
    ThirtyDays,
    NinetyDays,
    Yesterday,
    /// From this week's Monday to today.
    ThisWeek,
    /// Last week, from Monday to Sunday.
    LastWeek,
    /// From the first of this month to today.
    ThisMonth,
    LastMonth,
    /// From the first day of this quarter to today.
    ThisQuarter,
    LastQuarter,
}

impl Preset {
    /// All presets, in the order in which the keyboard key switches through them.
    pub const ALL: [Self; 10] = [
        Self::SevenDays,
        Self::ThirtyDays,
        Self::NinetyDays,
        Self::Yesterday,
        Self::ThisWeek,
        Self::LastWeek,
        Self::ThisMonth,
        Self::LastMonth,
        Self::ThisQuarter,
        Self::LastQuarter,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::SevenDays => "7d",
            Self::ThirtyDays => "30d",
            Self::NinetyDays => "90d",
            Self::Yesterday => "yesterday",
            Self::ThisWeek => "week",
            Self::LastWeek => "last week",
            Self::ThisMonth => "month",
            Self::LastMonth => "last month",
            Self::ThisQuarter => "quarter",
            Self::LastQuarter => "last quarter",
        }
    }

    /// Returns the next preset, or the first one after the last.
    #[must_use]
    pub fn next(self) -> Self {
        let all = Self::ALL.into_iter();
        all.skip_while(|preset| *preset != self).nth(1).unwrap_or(Self::SevenDays)
    }

    /// Returns the period that the preset stands for today.
    pub fn period(self, today: NaiveDate) -> Period {
        let day_before = |range: DateRange| range.from().checked_sub_days(Days::new(1)).unwrap_or(today);
        match self {
            Self::SevenDays => Period::last_days(7, today),
            Self::ThirtyDays => Period::last_days(30, today),
            Self::NinetyDays => Period::last_days(90, today),
            Self::Yesterday => Period::last_days(1, today.pred_opt().unwrap_or(today)),
            Self::ThisWeek => Period::week(today),
            Self::LastWeek => Period::week(day_before(DateRange::week_of(today))),
            Self::ThisMonth => Period::month(today),
            Self::LastMonth => Period::month(day_before(DateRange::month_of(today))),
            Self::ThisQuarter => Period::quarter(today),
            Self::LastQuarter => Period::quarter(day_before(DateRange::quarter_of(today))),
        }
    }

    /// Returns the days of the preset up to today.
    pub fn range(self, today: NaiveDate) -> DateRange {
        // No preset starts after today.
        self.period(today).range(today).unwrap_or_else(|| DateRange::last_days(1, today))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().expect("a date")
    }

    fn ranges(today: &str) -> Vec<String> {
        Preset::ALL.iter().map(|preset| preset.range(day(today)).to_string()).collect()
    }

    #[test]
    fn current_presets_end_today_and_last_presets_are_complete() {
        assert_eq!(
            ranges("2026-11-20"),
            [
                "2026-11-14 … 2026-11-20",
                "2026-10-22 … 2026-11-20",
                "2026-08-23 … 2026-11-20",
                "2026-11-19 … 2026-11-19",
                "2026-11-16 … 2026-11-20",
                "2026-11-09 … 2026-11-15",
                "2026-11-01 … 2026-11-20",
                "2026-10-01 … 2026-10-31",
                "2026-10-01 … 2026-11-20",
                "2026-07-01 … 2026-09-30",
            ]
        );
    }

    #[test]
    fn on_the_first_of_january_the_last_periods_are_in_the_previous_year() {
        let range = |preset: Preset| preset.range(day("2027-01-01")).to_string();
        assert_eq!(range(Preset::Yesterday), "2026-12-31 … 2026-12-31");
        assert_eq!(range(Preset::ThisWeek), "2026-12-28 … 2027-01-01");
        assert_eq!(range(Preset::LastWeek), "2026-12-21 … 2026-12-27");
        assert_eq!(range(Preset::ThisMonth), "2027-01-01 … 2027-01-01");
        assert_eq!(range(Preset::LastMonth), "2026-12-01 … 2026-12-31");
        assert_eq!(range(Preset::ThisQuarter), "2027-01-01 … 2027-01-01");
        assert_eq!(range(Preset::LastQuarter), "2026-10-01 … 2026-12-31");
    }

    #[test]
    fn this_month_steps_to_complete_months_and_back_to_this_month() {
        let today = day("2026-11-20");
        let this = Preset::ThisMonth.period(today);
        let before = this.step(-1).expect("a month");
        assert_eq!(before.range(today).map(|range| range.to_string()).as_deref(), Some("2026-10-01 … 2026-10-31"));
        assert_eq!(before.preset(today), Some(Preset::LastMonth));
        let september = before.step(-1).expect("a month");
        assert_eq!((september.preset(today), september.name().as_deref()), (None, Some("2026-09")));
        let back = september.step(2).expect("a month");
        assert_eq!(back.range(today), Some(Preset::ThisMonth.range(today)));
        assert_eq!(back.step(1).expect("a month").range(today), None, "nothing after today");
    }

    #[test]
    fn weeks_run_from_monday_to_sunday_and_have_their_iso_number() {
        let today = day("2027-01-01");
        let week = Preset::ThisWeek.period(today);
        assert_eq!(week.name().as_deref(), Some("2026-W53"), "ISO years begin with a week");
        let before = week.step(-1).expect("a week");
        assert_eq!((before.preset(today), before.name().as_deref()), (Some(Preset::LastWeek), Some("2026-W52")));
        let monday = day("2026-11-16");
        assert_eq!(Preset::ThisWeek.range(monday).days(), 1, "a week begins with Monday");
        assert_eq!(Preset::LastWeek.range(day("2026-11-22")).to_string(), "2026-11-09 … 2026-11-15");
        let range = |from: &str, to: &str| DateRange::new(day(from), day(to)).expect("a range");
        assert_eq!(Period::from_range(range("2026-11-09", "2026-11-15")), Period::week(day("2026-11-11")));
        assert_eq!(Period::from_range(range("2026-11-10", "2026-11-16")).name(), None, "seven days, but no ISO week");
    }

    #[test]
    fn months_step_through_a_leap_february() {
        let today = day("2028-03-31");
        let names: Vec<_> =
            (0..4).filter_map(|n| Period::month(today).step(-n)?.range(today)).map(|r| r.days()).collect();
        assert_eq!(names, [31, 29, 31, 31]);
    }

    #[test]
    fn thirty_days_that_happen_to_be_a_month_step_by_thirty_days() {
        let today = day("2026-04-30");
        let thirty = Preset::ThirtyDays.period(today);
        assert_eq!(thirty.range(today), Some(Preset::ThisMonth.range(today)), "the same days");
        let before = thirty.step(-1).and_then(|before| before.range(today)).expect("a range");
        assert_eq!(before.to_string(), "2026-03-02 … 2026-03-31");
    }

    #[test]
    fn days_that_form_a_complete_month_or_quarter_step_by_that_unit() {
        let range = |from: &str, to: &str| DateRange::new(day(from), day(to)).expect("a range");
        let quarter = Period::from_range(range("2026-04-01", "2026-06-30"));
        assert_eq!(quarter.name().as_deref(), Some("2026-Q2"));
        assert_eq!(quarter.step(-1).and_then(|before| before.name()).as_deref(), Some("2026-Q1"));
        assert_eq!(quarter.step(-2).and_then(|before| before.name()).as_deref(), Some("2025-Q4"));
        assert_eq!(Period::from_range(range("2026-04-01", "2026-06-29")).name(), None);
    }

    fn any_day() -> impl Strategy<Value = NaiveDate> {
        // 1988 to 2120, with leap years and with 2100, which is not a leap year.
        (726_000_i32..774_000).prop_filter_map("a day", NaiveDate::from_num_days_from_ce_opt)
    }

    proptest! {
        #[test]
        fn steps_back_and_forth_cancel_out(today in any_day(), n in 0_usize..Preset::ALL.len(), steps in 1_i32..40) {
            let period = Preset::ALL[n].period(today);
            let back = period.step(-steps).expect("in the calendar");
            prop_assert_eq!(back.step(steps), Some(period));
            let mut one_by_one = period;
            for _ in 0..steps {
                let before = one_by_one.step(-1).expect("in the calendar");
                let (now, then) = (one_by_one.range(today).expect("has begun"), before.range(today).expect("has begun"));
                prop_assert_eq!(then.to().succ_opt(), Some(now.from()), "it touches");
                one_by_one = before;
            }
            prop_assert_eq!(one_by_one, back);
        }

        #[test]
        fn every_preset_ends_no_later_than_today(today in any_day()) {
            for preset in Preset::ALL {
                let range = preset.range(today);
                prop_assert!(range.from() <= range.to() && range.to() <= today);
                prop_assert_eq!(preset.period(today).range(today), Some(range));
                let is_past =
                    matches!(preset, Preset::Yesterday | Preset::LastWeek | Preset::LastMonth | Preset::LastQuarter);
                prop_assert_eq!(range.contains(today), !is_past);
            }
        }
    }
}
