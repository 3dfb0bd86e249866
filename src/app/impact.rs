//! The impact of the selected job: the views of its pages before and after it, and fetching the missing ones after
//! showing the cost.

use super::{App, Effect, Severity};
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::impact::{AfterWindow, ImpactWindows, PageImpact, after_window, job_windows, missing_ranges};
use crate::model::load::{Load, Timed};
use crate::model::row::{Job, JobKey};

/// The maximum number of pages listed for a job.
pub const PAGES_MAX: usize = 40;
/// The minimum number of columns at which the views before and after are in one line.
const ONE_LINE: usize = 96;

/// What the numbers depend on. When it changes, they are read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Subject {
    job: JobKey,
    pages: usize,
    windows: Option<ImpactWindows>,
}

/// The pages of the selected job. At most one job is read at a time, however fast the selection moves.
#[derive(Debug, Default)]
pub struct JobPages {
    subject: Option<Subject>,
    pages: Load<Vec<PageImpact>>,
    reading: bool,
    /// Whether the pages have to be read again, because of a request while they were being read.
    must_reread: bool,
}

impl JobPages {
    /// Shows a job. Returns the job whose pages are to be read now, if any.
    pub(super) fn show(&mut self, row: Option<&Job>) -> Option<JobKey> {
        let with_pages = row.filter(|row| !row.pages.is_empty());
        let subject = with_pages.map(|row| Subject { job: row.key, pages: row.pages.len(), windows: job_windows(row) });
        if self.subject == subject {
            return None;
        }
        // Numbers of the previous subject must not be shown for this one.
        self.pages = Load::Idle;
        self.subject = subject;
        self.read()
    }

    /// Reads the pages again, because there may be more data. Returns the job to read now, if any.
    pub(super) fn read(&mut self) -> Option<JobKey> {
        let job = self.subject?.job;
        self.pages.start();
        if self.reading {
            self.must_reread = true;
            return None;
        }
        (self.reading, self.must_reread) = (true, false);
        Some(job)
    }

    /// Applies pages that were read. Returns the job to read next, if any.
    fn apply(&mut self, job: JobKey, result: Result<Vec<PageImpact>, Failure>, now: Time) -> Option<JobKey> {
        self.reading = false;
        if self.subject.is_some_and(|subject| subject.job == job) {
            self.pages.finish(result.map(|value| Timed { value, as_of: now }), now);
            return if self.must_reread { self.read() } else { None };
        }
        if self.pages.is_loading() { self.read() } else { None }
    }

    /// The pages with their views.
    pub fn pages(&self) -> &Load<Vec<PageImpact>> {
        &self.pages
    }

    /// The page at this index.
    pub fn page(&self, index: usize) -> Option<&PageImpact> {
        self.pages.shown()?.value.get(index)
    }
}

/// A line about the pages of a job. The numbers are indexes of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PagesLine {
    /// The range of days before the job.
    DaysBefore,
    /// The range of days after the job, or why there is none.
    DaysAfter,
    Path(usize),
    /// The views before and after in one line.
    Views(usize),
    Before(usize),
    After(usize),
    /// The number of pages that are not listed.
    More(usize),
}

/// The lines about the pages of a job at this width; empty for a job that was not started for pages.
pub fn pages_lines(row: &Job, columns: usize) -> Vec<PagesLine> {
    if row.pages.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![PagesLine::DaysBefore, PagesLine::DaysAfter];
    for index in 0..row.pages.len().min(PAGES_MAX) {
        lines.push(PagesLine::Path(index));
        if columns >= ONE_LINE {
            lines.push(PagesLine::Views(index));
        } else {
            lines.extend([PagesLine::Before(index), PagesLine::After(index)]);
        }
    }
    let more = row.pages.len().saturating_sub(PAGES_MAX);
    lines.extend((more > 0).then_some(PagesLine::More(more)));
    lines
}

impl App {
    /// Applies the pages of a job that were read.
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

    /// Reads the pages on screen again, because there may be more data.
    pub(super) fn reread_pages(&mut self, effects: &mut Vec<Effect>) {
        effects.extend(self.detail.job_pages.read().map(Effect::LoadJobImpact));
        effects.extend(self.reload_page_detail());
    }

    /// Asks whether to fetch the missing views before and after the selected job.
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

    /// The same for the selected job in the page details, for that page only.
    pub(super) fn confirm_impact_load_of_page(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some((job, page)) = self.selected_job_impact() else { return };
        match self.jobs.get(job).cloned() {
            Some(row) => self.confirm_windows_load(&row, &[page], now, effects),
            None => self.notify(Severity::Info, "This job is not in the jobs list yet.", now),
        }
    }

    fn confirm_windows_load(&mut self, row: &Job, pages: &[PageImpact], now: Time, effects: &mut Vec<Effect>) {
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
