//! The pages of the job that the detail shows: what their views were before and after it, as far as that is known, and
//! asking for the rest at a price that is said first.

use super::{App, Effect, Severity};
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::impact::{AfterWindow, ImpactWindows, PageImpact, after, missing, windows_of};
use crate::model::load::{Load, Timed};
use crate::model::row::{Job, JobKey};

/// Pages of a job that are listed; the others are counted.
pub const PAGES_MAX: usize = 40;
/// Columns from which before and after stand in one line.
const ONE_LINE: usize = 96;

/// What the numbers depend on: another job, or other windows, and they are read again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Subject {
    job: JobKey,
    pages: usize,
    windows: Option<ImpactWindows>,
}

/// The state: at most one job's pages are read at a time, whatever the speed of the keys.
#[derive(Debug, Default)]
pub struct JobPages {
    subject: Option<Subject>,
    pages: Load<Vec<PageImpact>>,
    reading: bool,
    /// Something was asked for while pages were read.
    behind: bool,
}

impl JobPages {
    /// Turns to a job; the one whose pages are to be read now, if any.
    pub(super) fn show(&mut self, row: Option<&Job>) -> Option<JobKey> {
        let about = row.filter(|row| !row.pages.is_empty());
        let subject = about.map(|row| Subject { job: row.key, pages: row.pages.len(), windows: windows_of(row) });
        if self.subject == subject {
            return None;
        }
        // Numbers of other windows would stand under these.
        self.pages = Load::Idle;
        self.subject = subject;
        self.read()
    }

    /// More is known now; the job whose pages are to be read once more, if any.
    pub(super) fn read(&mut self) -> Option<JobKey> {
        let job = self.subject?.job;
        self.pages.start();
        if self.reading {
            self.behind = true;
            return None;
        }
        (self.reading, self.behind) = (true, false);
        Some(job)
    }

    /// Takes what is known; the job to read next, where the selection has moved on meanwhile.
    fn take(&mut self, job: JobKey, result: Result<Vec<PageImpact>, Failure>, now: Time) -> Option<JobKey> {
        self.reading = false;
        if self.subject.is_some_and(|subject| subject.job == job) {
            self.pages.finish(result.map(|value| Timed { value, as_of: now }), now);
            return if self.behind { self.read() } else { None };
        }
        if self.pages.is_loading() { self.read() } else { None }
    }

    /// What is known of the pages.
    pub fn known(&self) -> &Load<Vec<PageImpact>> {
        &self.pages
    }

    /// A page with what is known of it, by its place.
    pub fn page(&self, place: usize) -> Option<&PageImpact> {
        self.pages.shown()?.value.get(place)
    }
}

/// A line about the pages of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PagesLine {
    /// The days before.
    DaysBefore,
    /// The days after, or why there are none.
    DaysAfter,
    Path(usize),
    /// Before and after side by side.
    Views(usize),
    Before(usize),
    After(usize),
    /// So many pages are not listed.
    More(usize),
}

/// The lines about the pages of a job at this width; none for a job that was not started about pages.
pub fn pages_lines(row: &Job, columns: usize) -> Vec<PagesLine> {
    if row.pages.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![PagesLine::DaysBefore, PagesLine::DaysAfter];
    for place in 0..row.pages.len().min(PAGES_MAX) {
        lines.push(PagesLine::Path(place));
        if columns >= ONE_LINE {
            lines.push(PagesLine::Views(place));
        } else {
            lines.extend([PagesLine::Before(place), PagesLine::After(place)]);
        }
    }
    let more = row.pages.len().saturating_sub(PAGES_MAX);
    lines.extend((more > 0).then_some(PagesLine::More(more)));
    lines
}

impl App {
    /// What is known of the pages of a job has been read.
    pub(super) fn about_read(
        &mut self,
        job: JobKey,
        result: Result<Vec<PageImpact>, Failure>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        effects.extend(self.detail.about.take(job, result, now).map(Effect::RecallAbout));
        self.dirty |= self.detail_is_visible();
    }

    /// More may be known of pages than before: those on screen are read again.
    pub(super) fn recall_pages_again(&mut self, effects: &mut Vec<Effect>) {
        effects.extend(self.detail.about.read().map(Effect::RecallAbout));
        effects.extend(self.recall_card());
    }

    /// The key that asks for the views before and after the selected job that are not known here.
    pub(super) fn ask_for_before_and_after(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some(row) = self.jobs.selected() else { return };
        if row.pages.is_empty() {
            let text = "This job was not started about pages: on the views screen, n on a page starts one that is.";
            self.notify(Severity::Info, text, now);
            return;
        }
        let Load::Ready(known) = self.detail.about.known() else {
            self.notify(Severity::Info, "What is known of its pages is still being read; try again in a moment.", now);
            return;
        };
        let (row, pages) = (row.clone(), known.value.clone());
        self.ask_for_windows(&row, &pages, now, effects);
    }

    /// The same for the selected job of a page's card: what is missing of that page.
    pub(super) fn ask_for_card_job(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some((job, page)) = self.card_job_page() else { return };
        match self.jobs.get(job).cloned() {
            Some(row) => self.ask_for_windows(&row, &[page], now, effects),
            None => self.notify(Severity::Info, "This job is not in the list on this screen yet.", now),
        }
    }

    fn ask_for_windows(&mut self, row: &Job, pages: &[PageImpact], now: Time, effects: &mut Vec<Effect>) {
        let ranges = missing(row, pages, now.date_naive());
        if !ranges.is_empty() {
            self.ask_to_load(ranges, now, effects);
            return;
        }
        let text = match after(row, now.date_naive()) {
            AfterWindow::Over(_) => "Nothing to ask for: both weeks are known.".to_owned(),
            AfterWindow::Until(day) => format!("Nothing to ask for yet: the days after it end on {day} (UTC)."),
            AfterWindow::Working => "Nothing to ask for yet: the days after begin once it has finished.".to_owned(),
            AfterWindow::NotSent => "Nothing to ask for yet: it was not sent.".to_owned(),
            AfterWindow::NoDay => "Nothing to ask for: when it finished is not known here.".to_owned(),
        };
        self.notify(Severity::Info, &text, now);
    }
}

#[cfg(test)]
#[path = "about_tests.rs"]
mod tests;
