//! Jobs about pages: which pages a job was started about, and their views before and after it.

use super::Time;
use super::load::Stamped;
use super::period::DateRange;
use super::row::JobKey;
use super::text::CleanText;
use super::views::Counts;
use chrono::{Days, NaiveDate};

/// Days before a job was started, and after it had finished, over which its pages are compared.
pub const WINDOW: u32 = 7;

/// What is known of a page in a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageViews {
    /// Nothing on this computer.
    Unknown,
    /// All pages of the range are known, and this one is not among them.
    NotListed(Time),
    Known(Stamped<Counts>),
}

/// The two ranges that a job's pages are compared over, today not included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windows {
    /// The days before the day it was started.
    pub before: DateRange,
    /// The days after the day it had finished; none while it works.
    pub after: Option<DateRange>,
}

/// The windows of a job that was started and, if so, finished on these days. None beyond the calendar.
pub fn windows(started: NaiveDate, finished: Option<NaiveDate>) -> Option<Windows> {
    let length = Days::new(u64::from(WINDOW));
    let before = DateRange::new(started.checked_sub_days(length)?, started.pred_opt()?)?;
    let after = match finished {
        Some(day) => Some(DateRange::new(day.succ_opt()?, day.checked_add_days(length)?)?),
        None => None,
    };
    Some(Windows { before, after })
}

/// A page that a job was started about, with what is known of it before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AboutPage {
    pub path: CleanText,
    pub before: PageViews,
    pub after: PageViews,
}

/// A page's numbers in one range that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PagePeriod {
    pub range: DateRange,
    pub views: Stamped<Counts>,
}

/// All that this computer knows of one page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageHistory {
    /// By first day, the newest first.
    pub periods: Vec<PagePeriod>,
    /// Jobs that were started about it, the newest first, with what is known before and after each.
    pub jobs: Vec<(JobKey, PageViews, PageViews)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> NaiveDate {
        text.parse().expect("a date")
    }

    #[test]
    fn the_windows_leave_out_the_days_of_the_work_itself() {
        let windows = windows(day("2026-11-10"), Some(day("2026-11-11"))).expect("in range");
        assert_eq!(windows.before.to_string(), "2026-11-03 … 2026-11-09");
        assert_eq!(windows.after.map(|range| range.to_string()).as_deref(), Some("2026-11-12 … 2026-11-18"));
        assert_eq!((windows.before.days(), windows.after.map(|range| range.days())), (WINDOW, Some(WINDOW)));
    }

    #[test]
    fn a_job_that_works_has_no_after() {
        assert_eq!(super::windows(day("2026-11-10"), None).map(|windows| windows.after), Some(None));
    }
}
