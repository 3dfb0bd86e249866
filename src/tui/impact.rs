//! The impact of the selected job: the views of its pages in the week before and the week after the job. Missing views
//! can be fetched, after a confirmation that shows the cost.

use crate::model::Time;
use crate::model::analytics::needs_work::Signal;
use crate::model::analytics::signal_snapshot::SNAPSHOT_SIGNALS;
use crate::model::failure::Failure;
use crate::model::impact::{ImpactWindows, PageImpact, job_windows};
use crate::model::load::{Load, Timed};
use crate::model::row::{Job, JobKey};

/// The maximum number of pages listed for a job.
pub const MAX_LISTED_PAGES: usize = 40;
/// The minimum number of columns at which the views before and after the job are on one line.
const MIN_ONE_LINE_COLUMNS: usize = 96;

/// What the views on screen depend on. When any of this changes, the views are read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ImpactInputs {
    job: JobKey,
    page_count: usize,
    windows: Option<ImpactWindows>,
}

/// The pages of the selected job, with their views. The pages of at most one job are read at a time, however fast the
/// selection moves.
#[derive(Debug, Default)]
pub struct JobPages {
    subject: Option<ImpactInputs>,
    pages: Load<Vec<PageImpact>>,
    is_reading: bool,
    /// Whether the pages have to be read again, because they were requested while a read was in progress.
    must_reread: bool,
}

impl JobPages {
    /// Shows the pages of a job. Returns the job whose pages have to be read now, if any.
    pub(super) fn show(&mut self, row: Option<&Job>) -> Option<JobKey> {
        let with_pages = row.filter(|row| !row.local.pages.is_empty());
        let subject = with_pages.map(|row| ImpactInputs {
            job: row.key,
            page_count: row.local.pages.len(),
            windows: job_windows(row),
        });
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
    pub(super) fn apply(&mut self, job: JobKey, result: Result<Vec<PageImpact>, Failure>, now: Time) -> Option<JobKey> {
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
    /// A signal of the page when the job was started, and after it.
    Signal(usize, Signal),
    /// The number of pages that are not listed.
    More(usize),
}

/// Returns the lines about the pages of a job at this width; empty if the job was not started for pages. `pages` has
/// the loaded data about them.
pub fn pages_lines(row: &Job, pages: &JobPages, columns: usize) -> Vec<PagesLine> {
    if row.local.pages.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![PagesLine::DaysBefore, PagesLine::DaysAfter];
    for index in 0..row.local.pages.len().min(MAX_LISTED_PAGES) {
        lines.push(PagesLine::Path(index));
        if columns >= MIN_ONE_LINE_COLUMNS {
            lines.push(PagesLine::Views(index));
        } else {
            lines.extend([PagesLine::Before(index), PagesLine::After(index)]);
        }
        if let Some(signals) = pages.page(index).and_then(|page| page.signals.as_ref()) {
            let has_value = |signal: &Signal| {
                let values = [Some(&signals.before), signals.after.as_ref()].map(|snapshot| snapshot?.value(*signal));
                values.into_iter().flatten().any(|value| !value.is_zero())
            };
            lines.extend(SNAPSHOT_SIGNALS.into_iter().filter(has_value).map(|signal| PagesLine::Signal(index, signal)));
        }
    }
    let more = row.local.pages.len().saturating_sub(MAX_LISTED_PAGES);
    lines.extend((more > 0).then_some(PagesLine::More(more)));
    lines
}

#[cfg(test)]
#[path = "impact_tests.rs"]
mod tests;
