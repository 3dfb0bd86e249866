//! Which days: `--from`, `--to`, `--last`, read by the rules of the dashboard's own field.

use crate::cli::live;
use crate::cli::out::Out;
use crate::cli::refusal::Refusal;
use crate::model::period::{DateRange, parse_period};
use chrono::NaiveDate;
use clap::Args;

/// What is meant when nothing is said.
const LAST: &str = "7d";

/// The days, inclusive, UTC.
#[derive(Debug, Args)]
pub(super) struct Days {
    /// First day, YYYY-MM-DD in UTC; a month (2026-10) or a quarter (2026-q3) begins with its first
    #[arg(long, value_name = "D")]
    from: Option<String>,
    /// Last day, included; today when left out
    #[arg(long, value_name = "D", requires = "from")]
    to: Option<String>,
    /// Days up to today (30d), or month, quarter, "last month", "last quarter", yesterday [default: 7d]
    #[arg(long, value_name = "SPAN", conflicts_with_all = ["from", "to"], add = live::spans())]
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
    pub(super) fn range(&self, today: NaiveDate) -> Result<Asked, Refusal> {
        if let Some(from) = self.from.as_deref().filter(|_| self.to.is_none()) {
            // Alone it is refused for itself, and not for an end that nobody wrote.
            parse_period(from, today).map_err(|what| refused("--from", &what))?;
        }
        if let Some(days) = self.last.as_deref().map(str::trim).filter(|last| is_number(last)) {
            return Err(refused("--last", &format!("write {days}d for {days} days")));
        }
        let (option, typed) = match (&self.from, &self.to, &self.last) {
            // One date alone would be one day.
            (Some(from), to, _) => ("--from, --to", format!("{from} {}", to.as_deref().unwrap_or("today"))),
            (None, _, Some(last)) => ("--last", last.clone()),
            (None, _, None) => ("--last", LAST.to_owned()),
        };
        match parse_period(&typed, today) {
            Ok(read) => Ok(Asked { range: read.range, cut: read.cut.filter(|_| self.to.is_some()) }),
            Err(what) => Err(refused(option, &what)),
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn refused(option: &str, what: &impl std::fmt::Display) -> Refusal {
    Refusal::unusable(format!("{option}: {what}. Nothing was asked."))
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
        assert_eq!(read(Some("2026-11-01"), Some("2026-12-24"), None).as_deref(), Ok("2026-11-01 … 2026-11-20"));
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
