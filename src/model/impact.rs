//! Jobs about pages: which pages a job was started about, and their views before and after it.

use super::Time;
use super::load::Timed;
use super::period::DateRange;
use super::row::{Job, JobKey};
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
    Known(Timed<Counts>),
}

/// The two ranges that a job's pages are compared over, today not included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImpactWindows {
    /// The days before the day it was started.
    pub before: DateRange,
    /// The days after the day it had finished; none while it works.
    pub after: Option<DateRange>,
}

/// The windows of a job that was started and, if so, finished on these days. None beyond the calendar.
pub fn windows(started: NaiveDate, finished: Option<NaiveDate>) -> Option<ImpactWindows> {
    let length = Days::new(u64::from(WINDOW));
    let before = DateRange::new(started.checked_sub_days(length)?, started.pred_opt()?)?;
    let after = match finished {
        Some(day) => Some(DateRange::new(day.succ_opt()?, day.checked_add_days(length)?)?),
        None => None,
    };
    Some(ImpactWindows { before, after })
}

/// Where a job stands on the way to its window after.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterWindow {
    /// It was never accepted by the service.
    NotSent,
    /// The agent is at it.
    Working,
    /// It has finished; when is not known.
    NoDay,
    /// The window's last day is not over.
    Until(NaiveDate),
    /// The window is over.
    Over(DateRange),
}

/// The windows of a job by what is known of it: before it was first started, after it last finished, days in UTC. None
/// beyond the calendar.
pub fn windows_of(job: &Job) -> Option<ImpactWindows> {
    windows(job.created_at.date_naive(), job.finished_at.map(|at| at.date_naive()))
}

/// Where a job stands today (UTC).
pub fn after(job: &Job, today: NaiveDate) -> AfterWindow {
    match windows_of(job).and_then(|windows| windows.after) {
        _ if job.id.is_none() => AfterWindow::NotSent,
        Some(range) if range.to() < today => AfterWindow::Over(range),
        Some(range) => AfterWindow::Until(range.to()),
        None if job.is_working() => AfterWindow::Working,
        None => AfterWindow::NoDay,
    }
}

impl PageViews {
    /// Whether these are all views of the range: something is known, from after its last day (UTC).
    pub fn is_whole(&self, range: DateRange) -> bool {
        match self {
            Self::Unknown => false,
            Self::NotListed(as_of) | Self::Known(Timed { as_of, .. }) => range.to() < as_of.date_naive(),
        }
    }

    /// The numbers, if there are any.
    pub fn counts(&self) -> Option<&Counts> {
        match self {
            Self::Known(known) => Some(&known.value),
            Self::Unknown | Self::NotListed(_) => None,
        }
    }
}

/// The windows of a job of which something is not known although they are over, the earlier one first: what asking for
/// them would add. `pages` is what is known now.
pub fn missing(job: &Job, pages: &[PageImpact], today: NaiveDate) -> Vec<DateRange> {
    let Some(ImpactWindows { before, .. }) = windows_of(job) else { return Vec::new() };
    let lacks = |range: DateRange, views: fn(&PageImpact) -> &PageViews| {
        range.to() < today && pages.iter().any(|page| !views(page).is_whole(range))
    };
    let mut ranges = Vec::new();
    if lacks(before, |page| &page.before) {
        ranges.push(before);
    }
    if let AfterWindow::Over(range) = after(job, today)
        && lacks(range, |page| &page.after)
    {
        ranges.push(range);
    }
    ranges
}

/// A page that a job was started about, with what is known of it before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageImpact {
    pub path: CleanText,
    pub before: PageViews,
    pub after: PageViews,
}

/// A page's numbers in one range that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PagePeriod {
    pub range: DateRange,
    pub views: Timed<Counts>,
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
    use crate::model::job::Status;

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

    fn finished_on(started: &str, finished: Option<&str>) -> Job {
        let noon = |day: &str| format!("{day}T12:00:00Z").parse().expect("a time");
        let mut job = Job::new(JobKey(1), CleanText::line("Job"), noon(started));
        job.id = super::super::job::JobId::new("j1");
        job.finished_at = finished.map(noon);
        job.status = Some(if finished.is_some() { Status::Completed } else { Status::Active });
        job
    }

    fn page(before: PageViews, after: PageViews) -> PageImpact {
        PageImpact { path: CleanText::line("/a"), before, after }
    }

    fn known(as_of: &str) -> PageViews {
        let as_of = format!("{as_of}T00:00:00Z").parse().expect("a time");
        PageViews::Known(Timed { value: Counts::default(), as_of })
    }

    #[test]
    fn the_window_after_stands_open_until_its_last_day_is_over() {
        let job = finished_on("2026-11-10", Some("2026-11-11"));
        assert_eq!(after(&job, day("2026-11-18")), AfterWindow::Until(day("2026-11-18")));
        assert!(matches!(after(&job, day("2026-11-19")), AfterWindow::Over(range) if range.to() == day("2026-11-18")));
        assert_eq!(after(&finished_on("2026-11-10", None), day("2026-11-19")), AfterWindow::Working);
        let mut archived = finished_on("2026-11-10", None);
        archived.status = Some(Status::Archived);
        assert_eq!(after(&archived, day("2026-11-19")), AfterWindow::NoDay);
        archived.id = None;
        assert_eq!(after(&archived, day("2026-11-19")), AfterWindow::NotSent);
    }

    #[test]
    fn only_what_is_over_and_not_wholly_known_is_missing() {
        let job = finished_on("2026-11-10", Some("2026-11-11"));
        let ranges = |pages: &[PageImpact], today: &str| missing(&job, pages, day(today)).len();
        let unknown = page(PageViews::Unknown, PageViews::Unknown);
        assert_eq!(ranges(std::slice::from_ref(&unknown), "2026-11-19"), 2);
        assert_eq!(ranges(std::slice::from_ref(&unknown), "2026-11-18"), 1, "the window after is not over");
        let before_known = page(known("2026-11-10"), PageViews::Unknown);
        assert_eq!(ranges(std::slice::from_ref(&before_known), "2026-11-18"), 0);
        assert_eq!(ranges(&[before_known, unknown], "2026-11-18"), 1, "of one page it is not known");
        let partial = page(known("2026-11-09"), PageViews::Unknown);
        assert_eq!(ranges(&[partial], "2026-11-18"), 1, "its last day was not over when it was loaded");
    }

    #[test]
    fn a_job_that_works_has_no_after() {
        assert_eq!(super::windows(day("2026-11-10"), None).map(|windows| windows.after), Some(None));
    }
}
