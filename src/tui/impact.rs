//! The impact of the selected job: the views of its pages in the week before and the week after the job. Missing views
//! can be fetched, after a confirmation that shows the cost.

use super::{App, Effect, Severity};
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::impact::{AfterWindow, ImpactWindows, PageImpact, after_window, job_windows, missing_ranges};
use crate::model::load::{Load, Timed};
use crate::model::row::{Job, JobKey};

/// The maximum number of pages listed for a job.
pub const MAX_LISTED_PAGES: usize = 40;
/// The minimum number of columns at which the views before and after the job are on one line.
const MIN_ONE_LINE_COLUMNS: usize = 96;

/// What the views on screen depend on. When any of this changes, the views are read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Subject {
    job: JobKey,
    page_count: usize,
    windows: Option<ImpactWindows>,
}

/// The pages of the selected job, with their views. The pages of at most one job are read at a time, however fast the
/// selection moves.
#[derive(Debug, Default)]
pub struct JobPages {
    subject: Option<Subject>,
    pages: Load<Vec<PageImpact>>,
    is_reading: bool,
    /// Whether the pages have to be read again, because they were requested while a read was in progress.
    must_reread: bool,
}

impl JobPages {
    /// Shows the pages of a job. Returns the job whose pages have to be read now, if any.
    pub(super) fn show(&mut self, row: Option<&Job>) -> Option<JobKey> {
        let with_pages = row.filter(|row| !row.pages.is_empty());
        let subject =
            with_pages.map(|row| Subject { job: row.key, page_count: row.pages.len(), windows: job_windows(row) });
        if self.subject == subject {
            return None;
        }
        // The views of the previous subject must not be shown for this one.
        self.pages = Load::Idle;
        self.subject = subject;
        self.request_read()
    }

    /// Requests the pages again, because more of their views may be available. Returns the job whose pages have to
    /// be read now, if any.
    pub(super) fn request_read(&mut self) -> Option<JobKey> {
        let job = self.subject?.job;
        self.pages.start();
        if self.is_reading {
            self.must_reread = true;
            return None;
        }
        (self.is_reading, self.must_reread) = (true, false);
        Some(job)
    }

    /// Applies the result of reading the pages of a job. Returns the job whose pages have to be read next, if any.
    fn apply(&mut self, job: JobKey, result: Result<Vec<PageImpact>, Failure>, now: Time) -> Option<JobKey> {
        self.is_reading = false;
        if self.subject.is_some_and(|subject| subject.job == job) {
            self.pages.finish(result.map(|value| Timed { value, as_of: now }), now);
            return if self.must_reread { self.request_read() } else { None };
        }
        if self.pages.is_loading() { self.request_read() } else { None }
    }

    /// Returns the pages with their views.
    pub fn pages(&self) -> &Load<Vec<PageImpact>> {
        &self.pages
    }

    /// Returns the page at this index, if the pages are loaded.
    pub fn page(&self, index: usize) -> Option<&PageImpact> {
        self.pages.shown()?.value.get(index)
    }
}

/// A line about the pages of a job. Unless stated otherwise, the number in a variant is the index of a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PagesLine {
    /// The range of days before the job.
    DaysBefore,
    /// The range of days after the job, or why there is none.
    DaysAfter,
    /// The path of the page.
    Path(usize),
    /// The views before and after the job, on one line.
    Views(usize),
    /// The views before the job.
    Before(usize),
    /// The views after the job.
    After(usize),
    /// The number of pages that are not listed.
    More(usize),
}

/// Returns the lines about the pages of a job at this width; empty if the job was not started for pages.
pub fn pages_lines(row: &Job, columns: usize) -> Vec<PagesLine> {
    if row.pages.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![PagesLine::DaysBefore, PagesLine::DaysAfter];
    for index in 0..row.pages.len().min(MAX_LISTED_PAGES) {
        lines.push(PagesLine::Path(index));
        if columns >= MIN_ONE_LINE_COLUMNS {
            lines.push(PagesLine::Views(index));
        } else {
            lines.extend([PagesLine::Before(index), PagesLine::After(index)]);
        }
    }
    let more = row.pages.len().saturating_sub(MAX_LISTED_PAGES);
    lines.extend((more > 0).then_some(PagesLine::More(more)));
    lines
}

impl App {
    /// Applies the result of reading the pages of a job.
    pub(super) fn apply_impact(
        &mut self,
        job: JobKey,
        result: Result<Vec<PageImpact>, Failure>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        effects.extend(self.detail.job_pages.apply(job, result, now).map(Effect::LoadJobImpact));
        self.dirty |= self.detail_is_visible();
    }

    /// Reads the views of the pages on screen again, because more views may be available.
    pub(super) fn reread_pages(&mut self, effects: &mut Vec<Effect>) {
        effects.extend(self.detail.job_pages.request_read().map(Effect::LoadJobImpact));
    }

    /// Asks whether to fetch the missing views of the selected job's pages before and after the job.
    pub(super) fn confirm_impact_load(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some(row) = self.jobs.selected() else { return };
        if row.pages.is_empty() {
            let text = "This job was not started for a page. To start such a job, press n on a page of the views.";
            self.notify(Severity::Info, text, now);
            return;
        }
        let Load::Ready(known) = self.detail.job_pages.pages() else {
            self.notify(Severity::Info, "The views of its pages are still loading. Try again in a moment.", now);
            return;
        };
        let (row, pages) = (row.clone(), known.value.clone());
        self.confirm_windows_load(&row, &pages, now, effects);
    }

    pub(super) fn confirm_windows_load(
        &mut self,
        row: &Job,
        pages: &[PageImpact],
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        let ranges = missing_ranges(row, pages, now.date_naive());
        if !ranges.is_empty() {
            self.ask_to_load(ranges, now, effects);
            return;
        }
        let text = match after_window(row, now.date_naive()) {
            AfterWindow::Complete(_) => "Nothing to fetch: both weeks are loaded.".to_owned(),
            AfterWindow::Open(day) => format!("Nothing to fetch yet: the week after it is complete on {day} (UTC)."),
            AfterWindow::Working => "Nothing to fetch yet: the week after starts when it has finished.".to_owned(),
            AfterWindow::NotSent => "Nothing to fetch yet: the job was not sent.".to_owned(),
            AfterWindow::FinishUnknown => "Nothing to fetch: its finish time is unknown.".to_owned(),
        };
        self.notify(Severity::Info, &text, now);
    }
}

#[cfg(test)]
#[path = "impact_tests.rs"]
mod tests;
