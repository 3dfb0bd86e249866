//! The range of `docdeck views`: `--from`, `--to` and `--last`, read by the rules of the dashboard's range field.

use crate::cli::completion_candidates;
use crate::cli::error::CliError;
use crate::cli::out::Out;
use crate::model::period::{DateRange, parse_period};
use chrono::NaiveDate;
use clap::Args;

/// What is meant when nothing is said.
const LAST: &str = "7d";

/// The days, inclusive, UTC.
#[derive(Debug, Args)]
pub(super) struct Days {
    /// First day, YYYY-MM-DD in UTC; a week (2026-w47), month (2026-10) or quarter (2026-q3) alone means all of it
    #[arg(long, value_name = "D")]
    from: Option<String>,
    /// Last day, included; today if left out after a single first day
    #[arg(long, value_name = "D", requires = "from")]
    to: Option<String>,
    /// Days up to today (30d), or yesterday, or the last complete week, month or quarter; "this week" and the like run up
    /// to today [default: 7d]
    #[arg(long, value_name = "SPAN", conflicts_with_all = ["from", "to"], add = completion_candidates::spans())]
    last: Option<String>,
}

/// The range that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Asked {
    pub(super) range: DateRange,
    /// Its last day as written, where that has not come yet.
    pub(super) cut: Option<NaiveDate>,
}

impl Asked {
    /// Says that the range is shorter than it was asked for.
    pub(super) fn say_cut(self, out: &mut Out) {
        if let Some(last) = self.cut {
            out.note(&format!("docdeck: {last} has not come yet: the range ends today, {} UTC.", self.range.to()));
        }
    }
}

impl Days {
    /// The range by this day.
    ///
    /// # Errors
    /// What is wrong with it (2).
    pub(super) fn range(&self, today: NaiveDate) -> Result<Asked, CliError> {
        let last = self.last.as_deref().map(|last| last.trim().to_lowercase());
        let last = last.as_deref();
        if let Some(days) = last.filter(|last| is_number(last)) {
            return Err(refused("--last", &format!("write {days}d for {days} days")));
        }
        let (option, typed) = match (&self.from, &self.to, last) {
            (Some(from), Some(to), _) => ("--from, --to", format!("{from} {to}")),
            (Some(from), None, _) => {
                let alone = parse_period(from, today).map_err(|what| refused("--from", &what))?;
                // A single day is a first day; a week, month or quarter is meant as a whole.
                let is_day = alone.period.whole().days() == 1;
                ("--from", if is_day { format!("{from} today") } else { from.clone() })
            }
            // The word means the last complete one, as `yesterday` does.
            (None, _, Some(unit @ ("week" | "month" | "quarter"))) => ("--last", format!("last {unit}")),
            (None, _, last) => ("--last", last.unwrap_or(LAST).to_owned()),
        };
        match parse_period(&typed, today) {
            Ok(read) => Ok(Asked { range: read.range, cut: read.cut.filter(|_| self.from.is_some()) }),
            Err(what) => Err(refused(option, &what)),
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn refused(option: &str, what: &impl std::fmt::Display) -> CliError {
    CliError::unusable(format!("{option}: {what}. Nothing was asked."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(from: Option<&str>, to: Option<&str>, last: Option<&str>) -> Result<String, String> {
        let days = Days { from: from.map(str::to_owned), to: to.map(str::to_owned), last: last.map(str::to_owned) };
        let today = "2026-11-20".parse().expect("a day");
        days.range(today).map(|asked| asked.range.to_string()).map_err(|refusal| refusal.sentence)
    }

    #[test]
    fn the_days_are_inclusive_and_seven_when_nothing_is_said() {
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
    fn a_week_month_or_quarter_alone_means_all_of_it_up_to_today() {
        let alone = |from: &str| read(Some(from), None, None).expect("a range");
        assert_eq!(alone("2026-q3"), "2026-07-01 … 2026-09-30");
        assert_eq!(alone("2026-Q3"), "2026-07-01 … 2026-09-30");
        assert_eq!(alone("2026-09"), "2026-09-01 … 2026-09-30");
        assert_eq!(alone("2026-w46"), "2026-11-09 … 2026-11-15");
        assert_eq!(alone("2026-q4"), "2026-10-01 … 2026-11-20", "it goes on");
        assert_eq!(alone("last week"), "2026-11-09 … 2026-11-15");
    }

    #[test]
    fn the_last_week_month_and_quarter_are_complete_ones() {
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
    fn a_range_that_is_none_says_what_is_wrong() {
        let wrong = |from, to, last| read(from, to, last).expect_err("wrong");
        assert_eq!(wrong(None, None, Some("0d")), "--last: from 1 to 3660 days. Nothing was asked.");
        assert_eq!(wrong(None, None, Some("7")), "--last: write 7d for 7 days. Nothing was asked.");
        assert_eq!(
            wrong(Some("2027-01-01"), None, None),
            "--from: 2027-01-01 has not come yet: today is 2026-11-20 UTC. Nothing was asked."
        );
        assert!(wrong(Some("2026-11-05"), Some("2026-11-01"), None).contains("comes after 2026-11-01"));
        assert!(wrong(Some("2026-02-30"), None, None).contains("February 2026 has 28 days"));
        assert!(wrong(Some("2027-01-01"), Some("2027-01-02"), None).contains("has not come yet"));
    }
}
