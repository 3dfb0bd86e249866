//! The impact of jobs on pages: which pages a job was started for, and the views of these pages before and after the
//! job.

use super::Time;
use super::analytics::AnalyticsKind;
use super::analytics::page_reports::PageReports;
use super::analytics::signal_snapshot::SignalSnapshot;
use super::job::{Job, JobKey};
use super::load::Timed;
use super::period::DateRange;
use super::text::CleanText;
use super::views::Counts;
use chrono::{Days, NaiveDate};

/// The length of each of the two ranges whose views are compared.
const WEEK: Days = Days::new(7);

/// What is known about the views of a page in a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageViewsState {
    /// No data about the page and the range is stored on this computer.
    Unknown,
    /// At this time, all pages of the range had been loaded, and this page was not among them.
    NotListed(Time),
    Known(Timed<Counts>),
}

/// The seven days before a job and the seven days after it, in which the views of the job's pages are compared. The
/// days on which the job started and finished belong to neither. If the job's pull request is merged, the job counts as
/// started and finished on the day of the merge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImpactWeeks {
    /// The days before the day on which the job started.
    pub before: DateRange,
    /// The days after the day on which the job finished; `None` if the job has not finished or the day is unknown.
    pub after: Option<DateRange>,
}

/// Returns the weeks before and after a job that started and finished on these days. Returns `None` if a date can't
/// be represented.
pub fn weeks_before_and_after_days(started: NaiveDate, finished: Option<NaiveDate>) -> Option<ImpactWeeks> {
    let before = DateRange::new(started.checked_sub_days(WEEK)?, started.pred_opt()?)?;
    let after = match finished {
        Some(day) => Some(DateRange::new(day.succ_opt()?, day.checked_add_days(WEEK)?)?),
        None => None,
    };
    Some(ImpactWeeks { before, after })
}

/// The state of the week after a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeekAfterState {
    /// The service has not created the job: its prompt is undelivered or was discarded.
    NotSent,
    Working,
    /// The job has finished, but the day on which it finished is unknown.
    FinishUnknown,
    /// The week is not over yet. Its views can be loaded from this day (UTC) on, the day after its last day.
    LoadableFrom(NaiveDate),
    /// The week is over; the range has its days.
    Complete(DateRange),
}

/// Returns the weeks before and after a job, from the UTC days on which the job was created and last finished. If its
/// pull request is merged, the weeks are before and after the day of the merge, because readers saw the changes from
/// that day on. Returns `None` if a date can't be represented.
pub fn weeks_before_and_after(job: &Job) -> Option<ImpactWeeks> {
    if let Some(merged) = job.pull_request.as_ref().and_then(|state| state.merged_at) {
        return weeks_before_and_after_days(merged.date_naive(), Some(merged.date_naive()));
    }
    weeks_before_and_after_days(job.created_at.date_naive(), job.local.finished_at.map(|at| at.date_naive()))
}

/// Returns the state of the week after a job on the day `today` (UTC).
pub fn week_after(job: &Job, today: NaiveDate) -> WeekAfterState {
    match weeks_before_and_after(job).and_then(|weeks| weeks.after) {
        _ if job.id.is_none() => WeekAfterState::NotSent,
        Some(range) if range.to() < today => WeekAfterState::Complete(range),
        Some(range) => WeekAfterState::LoadableFrom(range.to().succ_opt().unwrap_or(range.to())),
        None if job.is_working() => WeekAfterState::Working,
        None => WeekAfterState::FinishUnknown,
    }
}

impl PageViewsState {
    /// Whether the numbers for `range` are final, because they were loaded after its last day (UTC).
    pub fn is_complete(&self, range: DateRange) -> bool {
        match self {
            Self::Unknown => false,
            Self::NotListed(as_of) | Self::Known(Timed { as_of, .. }) => range.to() < as_of.date_naive(),
        }
    }

    /// Returns when the data about the page was loaded; `None` if there is no data.
    pub fn as_of(&self) -> Option<Time> {
        match self {
            Self::Unknown => None,
            Self::NotListed(as_of) | Self::Known(Timed { as_of, .. }) => Some(*as_of),
        }
    }

    pub fn counts(&self) -> Option<&Counts> {
        match self {
            Self::Known(known) => Some(&known.value),
            Self::Unknown | Self::NotListed(_) => None,
        }
    }
}

/// Of the weeks before and after a job, returns those that are over but not fully loaded, the earlier one first.
/// `pages` has the stored data.
pub fn unloaded_weeks(job: &Job, pages: &[PageImpact], today: NaiveDate) -> Vec<DateRange> {
    let Some(ImpactWeeks { before, .. }) = weeks_before_and_after(job) else { return Vec::new() };
    let lacks = |range: DateRange, views: fn(&PageImpact) -> &PageViewsState| {
        range.to() < today && pages.iter().any(|page| !views(page).is_complete(range))
    };
    let mut ranges = Vec::new();
    if lacks(before, |page| &page.before) {
        ranges.push(before);
    }
    if let WeekAfterState::Complete(range) = week_after(job, today)
        && lacks(range, |page| &page.after)
    {
        ranges.push(range);
    }
    ranges
}

/// Returns the week after a job, and the reports of this week that must be loaded to compare the job's pages before and
/// after the job. Returns `None` if the week is not over, or if there is nothing to load.
pub fn missing_reports(job: &Job, pages: &[PageImpact], today: NaiveDate) -> Option<(DateRange, Vec<AnalyticsKind>)> {
    let WeekAfterState::Complete(range) = week_after(job, today) else { return None };
    let missing = pages.iter().find_map(|page| page.signals.as_ref()).map(|signals| signals.missing.clone());
    missing.filter(|missing| !missing.is_empty()).map(|missing| (range, missing))
}

/// A page that a job was started for, with its views before and after the job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageImpact {
    pub path: CleanText,
    pub before: PageViewsState,
    pub after: PageViewsState,
    /// The reports' numbers about the page; `None` if none were stored when the job was started.
    pub signals: Option<SignalImpact>,
}

/// The reports' numbers about a page when a job was started, and in the days after the job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignalImpact {
    pub before: SignalSnapshot,
    /// The numbers after the job; `None` if no report of the days after the job is loaded.
    pub after: Option<SignalSnapshot>,
    /// The kinds of reports that are not loaded for the days after the job.
    pub missing: Vec<AnalyticsKind>,
}

/// A page's views in one range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageViewsInRange {
    pub range: DateRange,
    pub views: Timed<Counts>,
}

/// All stored data about one page.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageHistory {
    /// The views in all stored ranges, sorted by first day, newest first.
    pub periods: Vec<PageViewsInRange>,
    /// The requested days on which the page had no views: all pages of such a day are stored, and this page is not
    /// among them.
    pub days_without_views: Vec<Timed<DateRange>>,
    /// What the stored reports of the requested range contain about the page.
    pub reports: PageReports,
    /// Jobs that were started for the page, newest first, with the views of the page before and after each job.
    pub jobs: Vec<(JobKey, PageViewsState, PageViewsState)>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::remote_job::Status;

    fn day(text: &str) -> NaiveDate {
        text.parse().expect("a date")
    }

    #[test]
    fn the_weeks_exclude_the_days_on_which_the_job_started_and_finished() {
        let weeks = weeks_before_and_after_days(day("2026-11-10"), Some(day("2026-11-11"))).expect("in range");
        assert_eq!(weeks.before.to_string(), "2026-11-03 … 2026-11-09");
        assert_eq!(weeks.after.map(|range| range.to_string()).as_deref(), Some("2026-11-12 … 2026-11-18"));
        assert_eq!((weeks.before.days(), weeks.after.map(|range| range.days())), (7, Some(7)));
    }

    fn finished_on(started: &str, finished: Option<&str>) -> Job {
        let noon = |day: &str| format!("{day}T12:00:00Z").parse().expect("a time");
        let mut job = Job::new(JobKey(1), CleanText::line("Job"), noon(started));
        job.id = super::super::remote_job::JobId::new("j1");
        job.local.finished_at = finished.map(noon);
        job.remote.status = Some(if finished.is_some() { Status::Completed } else { Status::Active });
        job
    }

    #[test]
    fn the_weeks_of_a_merged_pull_request_are_around_the_day_of_the_merge() {
        let mut job = finished_on("2026-11-02", Some("2026-11-02"));
        let merged_at: Time = "2026-11-10T23:00:00Z".parse().expect("a time");
        let open = crate::model::pull_request::tests::open_pull_request(merged_at);
        job.pull_request = Some(Box::new(open.clone()));
        assert_eq!(
            weeks_before_and_after(&job).map(|weeks| weeks.before.to().to_string()).as_deref(),
            Some("2026-11-01")
        );
        let merged = crate::model::pull_request::PullRequest { merged_at: Some(merged_at), ..open };
        job.pull_request = Some(Box::new(merged));
        let weeks = weeks_before_and_after(&job).expect("in range");
        assert_eq!(weeks.before.to_string(), "2026-11-03 … 2026-11-09");
        assert_eq!(weeks.after.map(|range| range.to_string()).as_deref(), Some("2026-11-11 … 2026-11-17"));
    }

    fn page(before: PageViewsState, after: PageViewsState) -> PageImpact {
        PageImpact { path: CleanText::line("/a"), before, after, signals: None }
    }

    fn known(as_of: &str) -> PageViewsState {
        let as_of = format!("{as_of}T00:00:00Z").parse().expect("a time");
        PageViewsState::Known(Timed { value: Counts::default(), as_of })
    }

    #[test]
    fn the_week_after_a_job_is_open_until_its_last_day_is_over() {
        let job = finished_on("2026-11-10", Some("2026-11-11"));
        assert_eq!(week_after(&job, day("2026-11-18")), WeekAfterState::LoadableFrom(day("2026-11-19")));
        assert!(
            matches!(week_after(&job, day("2026-11-19")), WeekAfterState::Complete(range) if range.to() == day("2026-11-18"))
        );
        assert_eq!(week_after(&finished_on("2026-11-10", None), day("2026-11-19")), WeekAfterState::Working);
        let mut archived = finished_on("2026-11-10", None);
        archived.remote.status = Some(Status::Archived);
        assert_eq!(week_after(&archived, day("2026-11-19")), WeekAfterState::FinishUnknown);
        archived.id = None;
        assert_eq!(week_after(&archived, day("2026-11-19")), WeekAfterState::NotSent);
    }

    #[test]
    fn only_weeks_that_are_over_and_not_fully_loaded_are_missing() {
        let job = finished_on("2026-11-10", Some("2026-11-11"));
        let ranges = |pages: &[PageImpact], today: &str| unloaded_weeks(&job, pages, day(today)).len();
        let unknown = page(PageViewsState::Unknown, PageViewsState::Unknown);
        assert_eq!(ranges(std::slice::from_ref(&unknown), "2026-11-19"), 2);
        assert_eq!(ranges(std::slice::from_ref(&unknown), "2026-11-18"), 1, "the week after is not over");
        let before_known = page(known("2026-11-10"), PageViewsState::Unknown);
        assert_eq!(ranges(std::slice::from_ref(&before_known), "2026-11-18"), 0);
        assert_eq!(ranges(&[before_known, unknown], "2026-11-18"), 1, "one page is not loaded");
        let partial = page(known("2026-11-09"), PageViewsState::Unknown);
        assert_eq!(ranges(&[partial], "2026-11-18"), 1, "its last day was not over when it was loaded");
    }

    #[test]
    fn the_week_after_a_job_is_missing_while_the_job_is_working() {
        assert_eq!(weeks_before_and_after_days(day("2026-11-10"), None).map(|weeks| weeks.after), Some(None));
    }
}
