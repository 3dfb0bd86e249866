//! The range of the commands about analytics: parses `--from`, `--to` and `--last` by the rules of the dashboard's
//! range field.

use crate::cli::blank_check::parse_non_blank;
use crate::cli::completion_candidates;
use crate::cli::error::CliError;
use crate::cli::out::Out;
use crate::model::period::{DateRange, Period, parse_period};
use chrono::NaiveDate;
use clap::Args;

const DEFAULT_SPAN: &str = "7d";

/// The options that select the range: whole UTC days, both ends inclusive.
#[derive(Debug, Args)]
pub(in crate::cli) struct RangeOptions {
    /// start with this day (YYYY-MM-DD, UTC), week (2026-w47), month (2026-10) or quarter (2026-q3)
    #[arg(long, value_name = "D", value_parser = parse_non_blank)]
    from: Option<String>,
    /// end with this day, week, month or quarter [default: today, or the end of the week, month or quarter in --from]
    #[arg(long, value_name = "D", value_parser = parse_non_blank, requires = "from")]
    to: Option<String>,
    /// Nd (the last N days including today), yesterday, week, month or quarter (the last complete one), or "this week",
    /// "this month" or "this quarter" (up to today) [default: 7d]
    #[arg(long, value_name = "SPAN", value_parser = parse_non_blank, conflicts_with_all = ["from", "to"],
          add = completion_candidates::range_names())]
    last: Option<String>,
}

/// A parsed range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::cli) struct ParsedRange {
    /// The days of the period up to today.
    pub(in crate::cli) range: DateRange,
    pub(in crate::cli) period: Period,
    /// The requested last day, if it is in the future. The range then ends today instead.
    pub(in crate::cli) future_end: Option<NaiveDate>,
}

impl ParsedRange {
    /// Prints a note if the range ends earlier than requested.
    pub(in crate::cli) fn note_future_end(self, out: &mut Out) {
        if let Some(last) = self.future_end {
            out.note(&format!("docdeck: {last} is in the future, so the range ends today, {} UTC.", self.range.to()));
        }
    }
}

impl RangeOptions {
    /// Parses the range, relative to `today`.
    ///
    /// # Errors
    /// Fails if an option is wrong (exit code 2).
    pub(in crate::cli) fn parse(&self, today: NaiveDate) -> Result<ParsedRange, CliError> {
        let last = self.last.as_deref().map(|last| last.trim().to_lowercase());
        let last = last.as_deref();
        if let Some(days) = last.filter(|last| is_only_digits(last)) {
            return Err(range_error("--last", &format!("write {days}d for {days} days")));
        }
        let (option, typed) = match (&self.from, &self.to, last) {
            (Some(from), Some(to), _) => ("--from, --to", format!("{from} {to}")),
            (Some(from), None, _) => {
                let single = parse_period(from, today).map_err(|what| range_error("--from", &what))?;
                // A single day starts a range that ends today; a week, month or quarter is the whole range.
                let is_day = single.period.all_days().days() == 1;
                ("--from", if is_day { format!("{from} today") } else { from.clone() })
            }
            // `week`, `month` and `quarter` mean the last complete one, as `yesterday` means the last complete day.
            (None, _, Some(unit @ ("week" | "month" | "quarter"))) => ("--last", format!("last {unit}")),
            (None, _, last) => ("--last", last.unwrap_or(DEFAULT_SPAN).to_owned()),
        };
        match parse_period(&typed, today) {
            Ok(read) => Ok(ParsedRange {
                range: read.range,
                period: read.period,
                future_end: read.future_end.filter(|_| self.from.is_some()),
            }),
            Err(what) => Err(range_error(option, &what)),
        }
    }
}

fn is_only_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn range_error(option: &str, what: &impl std::fmt::Display) -> CliError {
    CliError::local_error(format!("{option}: {what}. Nothing was loaded."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(from: Option<&str>, to: Option<&str>, last: Option<&str>) -> Result<String, String> {
        let days =
            RangeOptions { from: from.map(str::to_owned), to: to.map(str::to_owned), last: last.map(str::to_owned) };
        let today = "2026-11-20".parse().expect("a day");
        days.parse(today).map(|asked| asked.range.to_string()).map_err(|error| error.sentence)
    }

    #[test]
    fn the_days_are_inclusive_and_the_default_is_seven_days() {
        assert_eq!(read(None, None, None).as_deref(), Ok("2026-11-14 … 2026-11-20"));
        assert_eq!(read(None, None, Some("30d")).as_deref(), Ok("2026-10-22 … 2026-11-20"));
        assert_eq!(read(None, None, Some("last month")).as_deref(), Ok("2026-10-01 … 2026-10-31"));
        assert_eq!(read(Some("2026-11-01"), Some("2026-11-03"), None).as_deref(), Ok("2026-11-01 … 2026-11-03"));
        assert_eq!(read(Some("2026-11-01"), None, None).as_deref(), Ok("2026-11-01 … 2026-11-20"));
        assert_eq!(read(Some("2026-09"), Some("2026-10"), None).as_deref(), Ok("2026-09-01 … 2026-10-31"));
        assert_eq!(read(Some("2026-11-05"), None, None).as_deref(), Ok("2026-11-05 … 2026-11-20"));
        assert_eq!(read(Some("2026-11-01"), Some("2026-12-24"), None).as_deref(), Ok("2026-11-01 … 2026-11-20"));
    }

    #[test]
    fn from_with_a_week_month_or_quarter_covers_all_of_it_up_to_today() {
        let single = |from: &str| read(Some(from), None, None).expect("a range");
        assert_eq!(single("2026-q3"), "2026-07-01 … 2026-09-30");
        assert_eq!(single("2026-Q3"), "2026-07-01 … 2026-09-30");
        assert_eq!(single("2026-09"), "2026-09-01 … 2026-09-30");
        assert_eq!(single("2026-w46"), "2026-11-09 … 2026-11-15");
        assert_eq!(single("2026-q4"), "2026-10-01 … 2026-11-20", "it has not ended");
        assert_eq!(single("last week"), "2026-11-09 … 2026-11-15");
    }

    #[test]
    fn the_last_week_month_or_quarter_is_complete() {
        let last = |span: &str| read(None, None, Some(span)).expect("a range");
        assert_eq!(last("yesterday"), "2026-11-19 … 2026-11-19");
        assert_eq!(last("week"), "2026-11-09 … 2026-11-15");
        assert_eq!(last("last week"), "2026-11-09 … 2026-11-15");
        assert_eq!(last("month"), "2026-10-01 … 2026-10-31");
        assert_eq!(last("quarter"), "2026-07-01 … 2026-09-30");
        assert_eq!(last("this week"), "2026-11-16 … 2026-11-20");
        assert_eq!(last("this month"), "2026-11-01 … 2026-11-20");
    }

    #[test]
    fn the_previous_period_of_a_month_is_the_month_before() {
        let days = RangeOptions { from: None, to: None, last: Some("this month".to_owned()) };
        let days = days.parse("2026-11-20".parse().expect("a day")).expect("a range");
        let previous = days.period.step(-1).expect("a month").all_days();
        assert_eq!(previous.to_string(), "2026-10-01 … 2026-10-31");
    }

    #[test]
    fn an_invalid_range_is_refused_with_the_reason() {
        let wrong = |from, to, last| read(from, to, last).expect_err("wrong");
        assert_eq!(wrong(None, None, Some("0d")), "--last: a range has 1 to 3660 days. Nothing was loaded.");
        assert_eq!(wrong(None, None, Some("7")), "--last: write 7d for 7 days. Nothing was loaded.");
        assert_eq!(
            wrong(Some("2027-01-01"), None, None),
            "--from: 2027-01-01 is in the future: today is 2026-11-20 UTC. Nothing was loaded."
        );
        assert!(wrong(Some("2026-11-05"), Some("2026-11-01"), None).contains("comes after 2026-11-01"));
        assert!(wrong(Some("2026-02-30"), None, None).contains("February 2026 has 28 days"));
        assert!(wrong(Some("2027-01-01"), Some("2027-01-02"), None).contains("is in the future"));
    }
}
