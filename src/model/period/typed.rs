//! Parses typed date ranges, with errors that can be shown while the user is typing.

use super::{DateRange, Period, Preset};
use crate::model::text::CleanText;
use chrono::{Datelike as _, NaiveDate, Weekday};

/// The maximum number of days in input like `30d`: ten years.
const MAX_DAYS: u32 = 3660;
/// The maximum number of characters of a word that an error quotes.
const MAX_QUOTED_CHARS: usize = 16;

/// A typed date range after parsing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EnteredPeriod {
    pub period: Period,
    /// The preset, if the user typed its name instead of dates.
    pub preset: Option<Preset>,
    /// The days of the period up to today.
    pub range: DateRange,
    /// The last day of the typed period if it is in the future, so that `range` ends today; otherwise `None`.
    pub future_end: Option<NaiveDate>,
}

/// Why a typed range is invalid. The message is shown while the user is typing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    #[error("two dates, like 2026-11-01 2026-11-20")]
    Empty,
    #[error("{0} is not a complete date: write YYYY-MM-DD")]
    Unfinished(CleanText),
    #[error("{0} is not a date: write 2026-11-20, 2026-10, 2026-q3, 2026-w47, 7d or last week")]
    Unknown(CleanText),
    #[error("there is no month {0:02}")]
    NoMonth(u32),
    #[error("{month} has {days} days, so there is no {day:02}")]
    NoDay { month: String, days: u32, day: u32 },
    #[error("there is no quarter {0}: q1 to q4")]
    NoQuarter(u32),
    #[error("{year} has no week {week}")]
    NoWeek { year: i32, week: u32 },
    #[error("{0} is one too many: a range has a first and a last day")]
    TooManyWords(CleanText),
    #[error("a range has 1 to {MAX_DAYS} days")]
    DayCount,
    #[error("{from} comes after {to}; put the earlier date first")]
    Reversed { from: NaiveDate, to: NaiveDate },
    #[error("{from} is in the future: today is {today} UTC")]
    Future { from: NaiveDate, today: NaiveDate },
}

/// Parses a typed range. A range that ends after today is cut at today. The user can type:
///
/// - one date, or two dates separated by spaces, `..`, `…`, `/`, `,`, `–` or `to`
/// - a month (`2026-10`), a quarter (`2026-q3`) or an ISO week (`2026-w47`), alone or in place of a date
/// - `7d`, `yesterday`, `last week` and so on
///
/// # Errors
/// Returns an error whose message for the user is a phrase, not a sentence.
pub fn parse_range(typed: &str, today: NaiveDate) -> Result<DateRange, RangeError> {
    parse_period(typed, today).map(|typed| typed.range)
}

/// Like [`parse_range`], but also returns the kind of period, so that going back from a typed month leads to the
/// previous month.
///
/// # Errors
/// Returns an error whose message for the user is a phrase, not a sentence.
pub fn parse_period(typed: &str, today: NaiveDate) -> Result<EnteredPeriod, RangeError> {
    let lower = typed.to_lowercase().replace("..", " ").replace(['…', ',', '/', '–'], " ");
    let words: Vec<&str> = lower.split_whitespace().filter(|word| *word != "to" && *word != "-").collect();
    if let Some(preset) = preset(&words) {
        return Ok(EnteredPeriod { preset: Some(preset), ..cut_future(preset.period(today), today)? });
    }
    let period = match words.as_slice() {
        [] => return Err(RangeError::Empty),
        [word] => match parse_days(word)? {
            Some(days) => {
                let period = Period::last_days(days, today);
                return Ok(EnteredPeriod { preset: period.preset(today), ..cut_future(period, today)? });
            }
            None => parse_date_word(word, today)?,
        },
        [from, to] => {
            let (from, to) =
                (parse_date_word(from, today)?.all_days().from(), parse_date_word(to, today)?.all_days().to());
            Period::from_range(DateRange::new(from, to).ok_or(RangeError::Reversed { from, to })?)
        }
        [_, _, more, ..] => return Err(RangeError::TooManyWords(shorten_word(more))),
    };
    cut_future(period, today)
}

/// Removes the days after today from a period. A week, month or quarter keeps its unit, so that its previous period is
/// the whole previous week, month or quarter.
fn cut_future(period: Period, today: NaiveDate) -> Result<EnteredPeriod, RangeError> {
    let whole = period.all_days();
    let range = period.range(today).ok_or(RangeError::Future { from: whole.from(), today })?;
    let cut = (whole.to() > today).then_some(whole.to());
    let period = if cut.is_some() && period.name().is_none() { Period::from_range(range) } else { period };
    Ok(EnteredPeriod { period, preset: None, range, future_end: cut })
}

fn preset(words: &[&str]) -> Option<Preset> {
    match words {
        ["yesterday"] => Some(Preset::Yesterday),
        ["week"] | ["this", "week"] => Some(Preset::ThisWeek),
        ["last", "week"] => Some(Preset::LastWeek),
        ["month"] | ["this", "month"] => Some(Preset::ThisMonth),
        ["last", "month"] => Some(Preset::LastMonth),
        ["quarter"] | ["this", "quarter"] => Some(Preset::ThisQuarter),
        ["last", "quarter"] => Some(Preset::LastQuarter),
        _ => None,
    }
}

/// Parses a word such as `7d` and returns the number of days. Returns `None` if the word has another form.
fn parse_days(word: &str) -> Result<Option<u32>, RangeError> {
    let Some(digits) = word.strip_suffix('d').filter(|digits| is_digits(digits)) else { return Ok(None) };
    let days = digits.parse().ok().filter(|days| (1..=MAX_DAYS).contains(days));
    days.map(Some).ok_or(RangeError::DayCount)
}

/// Parses a complete range in one word, or one end of a range: a day, week, month or quarter.
fn parse_date_word(word: &str, today: NaiveDate) -> Result<Period, RangeError> {
    let parts: Vec<&str> = word.split('-').collect();
    match parts.as_slice() {
        ["today"] => Ok(one_day(today)),
        ["yesterday"] => Ok(one_day(today.pred_opt().unwrap_or(today))),
        [year, quarter] if is_year(year) && quarter.starts_with('q') => {
            let Some(n) = quarter.strip_prefix('q').filter(|n| is_digits(n)) else {
                return Err(unfinished_word_error(word));
            };
            let n: u32 = n.parse().map_err(|_| unknown_word_error(word))?;
            let month = (1..=4).contains(&n).then(|| n * 3).ok_or(RangeError::NoQuarter(n))?;
            Ok(Period::quarter(first_of_month(year, month).ok_or_else(|| unknown_word_error(word))?))
        }
        [year, week] if is_year(year) && week.starts_with('w') => {
            let Some(week) = week.strip_prefix('w').filter(|week| is_digits(week)) else {
                return Err(unfinished_word_error(word));
            };
            let (Ok(year), Ok(week)) = (year.parse(), week.parse()) else { return Err(unknown_word_error(word)) };
            let monday = NaiveDate::from_isoywd_opt(year, week, Weekday::Mon).filter(|day| day.year() > 0);
            Ok(Period::week(monday.ok_or(RangeError::NoWeek { year, week })?))
        }
        [year, month] if is_year(year) && is_two_digits(month) => {
            let first = first_of_month(year, checked_month(month)?).ok_or_else(|| unknown_word_error(word))?;
            Ok(Period::month(first))
        }
        [year, month, day] if is_year(year) && is_two_digits(month) && is_two_digits(day) => {
            let first = first_of_month(year, checked_month(month)?).ok_or_else(|| unknown_word_error(word))?;
            let day: u32 = day.parse().map_err(|_| unknown_word_error(word))?;
            let no_day = || RangeError::NoDay {
                month: first.format("%B %Y").to_string(),
                days: DateRange::month_of(first).days(),
                day,
            };
            first.with_day(day).map(one_day).ok_or_else(no_day)
        }
        // While the user is still typing, an incomplete date is reported as such, not as a mistake.
        _ if word.len() < 10 && word.chars().all(|c| c.is_ascii_digit() || c == '-') => {
            Err(unfinished_word_error(word))
        }
        _ => Err(unknown_word_error(word)),
    }
}

fn one_day(day: NaiveDate) -> Period {
    Period::last_days(1, day)
}

fn checked_month(text: &str) -> Result<u32, RangeError> {
    let month: u32 = text.parse().map_err(|_| unknown_word_error(text))?;
    if (1..=12).contains(&month) { Ok(month) } else { Err(RangeError::NoMonth(month)) }
}

fn first_of_month(year: &str, month: u32) -> Option<NaiveDate> {
    NaiveDate::from_ymd_opt(year.parse().ok()?, month, 1).filter(|day| day.year() > 0)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

fn is_year(text: &str) -> bool {
    text.len() == 4 && is_digits(text)
}

fn is_two_digits(text: &str) -> bool {
    text.len() == 2 && is_digits(text)
}

fn shorten_word(word: &str) -> CleanText {
    CleanText::title(word, MAX_QUOTED_CHARS)
}

fn unknown_word_error(word: &str) -> RangeError {
    RangeError::Unknown(shorten_word(word))
}

fn unfinished_word_error(word: &str) -> RangeError {
    RangeError::Unfinished(shorten_word(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn today() -> NaiveDate {
        "2026-11-20".parse().expect("a date")
    }

    fn read(typed: &str) -> String {
        parse_range(typed, today()).map_or_else(|error| error.to_string(), |range| range.to_string())
    }

    #[test]
    fn two_dates_can_be_separated_in_several_ways() {
        for typed in [
            "2026-11-01 2026-11-05",
            "2026-11-01..2026-11-05",
            "2026-11-01 … 2026-11-05",
            " 2026-11-01 to 2026-11-05 ",
            "2026-11-01 - 2026-11-05",
            "2026-11-01/2026-11-05",
        ] {
            assert_eq!(read(typed), "2026-11-01 … 2026-11-05", "{typed}");
        }
        assert_eq!(read("2026-11-05"), "2026-11-05 … 2026-11-05");
    }

    #[test]
    fn short_forms_are_parsed() {
        for (typed, range) in [
            ("7d", "2026-11-14 … 2026-11-20"),
            ("30D", "2026-10-22 … 2026-11-20"),
            ("last month", "2026-10-01 … 2026-10-31"),
            ("this month", "2026-11-01 … 2026-11-20"),
            ("last  quarter", "2026-07-01 … 2026-09-30"),
            ("quarter", "2026-10-01 … 2026-11-20"),
            ("2026-10", "2026-10-01 … 2026-10-31"),
            ("2026-11", "2026-11-01 … 2026-11-20"),
            ("2026-q3", "2026-07-01 … 2026-09-30"),
            ("2026-Q4", "2026-10-01 … 2026-11-20"),
            ("yesterday", "2026-11-19 … 2026-11-19"),
            ("this week", "2026-11-16 … 2026-11-20"),
            ("last week", "2026-11-09 … 2026-11-15"),
            ("2026-w46", "2026-11-09 … 2026-11-15"),
            ("2026-W47", "2026-11-16 … 2026-11-20"),
            ("2026-w01 2026-w02", "2025-12-29 … 2026-01-11"),
            ("2026-09 to 2026-10", "2026-09-01 … 2026-10-31"),
            ("2026-11-18 today", "2026-11-18 … 2026-11-20"),
            ("2028-02-29", "2028-02-29 is in the future: today is 2026-11-20 UTC"),
            ("2024-02-29", "2024-02-29 … 2024-02-29"),
        ] {
            assert_eq!(read(typed), range, "{typed}");
        }
    }

    #[test]
    fn every_mistake_has_a_precise_message() {
        for (typed, expected) in [
            ("", "two dates, like 2026-11-01 2026-11-20"),
            ("2026-1", "2026-1 is not a complete date: write YYYY-MM-DD"),
            ("2026-11-01 2026-11-", "2026-11- is not a complete date: write YYYY-MM-DD"),
            ("2026-13-01", "there is no month 13"),
            ("2026-02-30 2026-03-01", "February 2026 has 28 days, so there is no 30"),
            ("2026-11-00", "November 2026 has 30 days, so there is no 00"),
            ("2026-q5", "there is no quarter 5: q1 to q4"),
            ("2026-w54", "2026 has no week 54"),
            ("2025-w53", "2025 has no week 53"),
            ("2026-w", "2026-w is not a complete date: write YYYY-MM-DD"),
            ("0d", "a range has 1 to 3660 days"),
            ("99999999999d", "a range has 1 to 3660 days"),
            ("2026-03-01 2026-02-01", "2026-03-01 comes after 2026-02-01; put the earlier date first"),
            ("2026-12-01 2026-12-03", "2026-12-01 is in the future: today is 2026-11-20 UTC"),
            ("2026-11-01 2026-11-02 x", "x is one too many: a range has a first and a last day"),
            ("soon", "soon is not a date: write 2026-11-20, 2026-10, 2026-q3, 2026-w47, 7d or last week"),
        ] {
            assert_eq!(read(typed), expected, "{typed}");
        }
    }

    #[test]
    fn days_after_today_are_cut_and_the_cut_is_reported() {
        let typed = parse_period("2026-11-10 2026-12-05", today()).expect("read");
        assert_eq!(typed.range.to_string(), "2026-11-10 … 2026-11-20");
        assert_eq!(typed.future_end.map(|day| day.to_string()).as_deref(), Some("2026-12-05"));
        let month = parse_period("2026-11", today()).expect("read");
        assert_eq!(month.period, Preset::ThisMonth.period(today()), "the current month steps as a month");
        assert!(parse_period("2026-10", today()).is_ok_and(|typed| typed.future_end.is_none()));
    }

    proptest! {
        #[test]
        fn any_input_gives_a_range_up_to_today_or_an_error(typed in "[0-9a-zA-Z .…/,-]{0,30}|\\PC{0,20}") {
            match parse_period(&typed, today()) {
                Ok(typed) => {
                    prop_assert!(typed.range.from() <= typed.range.to() && typed.range.to() <= today());
                    prop_assert_eq!(typed.period.range(today()), Some(typed.range));
                }
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }

        #[test]
        fn a_formatted_range_is_parsed_back(back in 0_u64..4000, days in 0_u64..400) {
            let to = today() - chrono::Days::new(back);
            let range = DateRange::new(to - chrono::Days::new(days), to).expect("a range");
            prop_assert_eq!(parse_range(&range.to_string(), today()), Ok(range));
        }
    }
}
