//! The impact of the selected job: the views of its pages in the week before and the week after the job. Missing views
//! can be fetched, after a confirmation that shows the cost.

use crate::model::Time;
use crate::model::analytics::needs_work::ProblemSignal;
use crate::model::analytics::signal_snapshot::{SNAPSHOT_SIGNALS, SignalSnapshot};
use crate::model::failure::Failure;
use crate::model::impact::{ImpactWeeks, PageImpact, PageViewsState, SignalImpact, weeks_before_and_after};
use crate::model::job::{Job, JobKey};
use crate::model::load::{Load, Timed};
use crate::tui::format::{count_text, display_width, format_views};
use crate::tui::jobs::job_facts::LABEL_WIDTH;
use crate::tui::wrap::wrap;

/// The maximum number of pages listed for a job.
pub const MAX_LISTED_PAGES: usize = 40;
/// The minimum number of columns at which the views before and after the job are on one line.
const MIN_ONE_LINE_COLUMNS: usize = 84;
/// The width in cells of everything but the numbers in `  human 7,245 · AI 2,681`, including the gap at its start.
const VIEWS_TEXT_FIXED_WIDTH: usize = 14;
/// The indentation in cells of the signals of a page, such as its thumbs down. They are below the path of the page.
pub const SIGNALS_INDENT: usize = 10;

/// The values that determine which page views are shown for a job. If one of the values changes, the views are read
/// again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ImpactInputs {
    job: JobKey,
    page_count: usize,
    weeks: Option<ImpactWeeks>,
}

/// The pages that the selected job was started for, with their views. The pages of at most one job are read at a time,
/// however fast the selection moves.
#[derive(Debug, Default)]
pub struct JobTargetPages {
    inputs: Option<ImpactInputs>,
    pages: Load<Vec<PageImpact>>,
    is_reading: bool,
    /// Whether the pages have to be read again, because they were requested while a read was in progress.
    must_reread: bool,
}

impl JobTargetPages {
    /// Shows the pages of a job. Returns the job whose pages have to be read now, if any.
    pub(super) fn show(&mut self, row: Option<&Job>) -> Option<JobKey> {
        let with_pages = row.filter(|row| !row.local.pages.is_empty());
        let inputs = with_pages.map(|row| ImpactInputs {
            job: row.key,
            page_count: row.local.pages.len(),
            weeks: weeks_before_and_after(row),
        });
        if self.inputs == inputs {
            return None;
        }
        // The views that belong to the previous inputs must no longer be shown.
        self.pages = Load::Idle;
        self.inputs = inputs;
        self.request_read()
    }

    /// Requests the pages again, because more of their views may be available. Returns the job whose pages have to
    /// be read now, if any.
    pub(super) fn request_read(&mut self) -> Option<JobKey> {
        let job = self.inputs?.job;
        self.pages.start();
        if self.is_reading {
            self.must_reread = true;
            return None;
        }
        (self.is_reading, self.must_reread) = (true, false);
        Some(job)
    }

    /// Applies the result of reading the pages of a job. Returns the job whose pages have to be read next, if any.
    pub(super) fn finish_read(
        &mut self,
        job: JobKey,
        result: Result<Vec<PageImpact>, Failure>,
        now: Time,
    ) -> Option<JobKey> {
        self.is_reading = false;
        if self.inputs.is_some_and(|inputs| inputs.job == job) {
            self.pages.finish(result.map(|value| Timed { value, as_of: now }), now);
            return if self.must_reread { self.request_read() } else { None };
        }
        if self.pages.is_loading() { self.request_read() } else { None }
    }

    /// Returns the pages with their views.
    pub fn pages(&self) -> &Load<Vec<PageImpact>> {
        &self.pages
    }

    /// Whether the pages are loaded, but no views are stored for any of them, neither before nor after the job.
    pub fn lacks_views(&self) -> bool {
        let is_unknown =
            |page: &PageImpact| [&page.before, &page.after].iter().all(|views| **views == PageViewsState::Unknown);
        self.pages.shown().is_some_and(|pages| pages.value.iter().all(is_unknown))
    }

    /// Returns the page at this index, if the pages are loaded.
    pub fn page(&self, index: usize) -> Option<&PageImpact> {
        self.pages.shown()?.value.get(index)
    }
}

/// A line about the pages of a job. Unless stated otherwise, the number in a variant is the index of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PagesLine {
    /// The days before and after the job in which views are counted, or why there are no views.
    Days,
    /// The path of the page, and its views before and after the job.
    Page(usize),
    /// The path of the page.
    Path(usize),
    /// The views before and after the job.
    Views(usize),
    /// A line with the signals of a page: their numbers when the job was started, and their numbers after the job.
    Signals(String),
    /// The number of pages that are not listed.
    More(usize),
}

/// Returns the lines about the pages of a job, for a pane with this many columns; empty if the job was not started for
/// pages. `pages` has the loaded data about the pages.
pub fn pages_lines(row: &Job, pages: &JobTargetPages, columns: usize) -> Vec<PagesLine> {
    if row.local.pages.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![PagesLine::Days];
    for index in 0..row.local.pages.len().min(MAX_LISTED_PAGES) {
        let page = pages.page(index);
        // In a narrow pane, the views get a line of their own if there are views after the job, because the text is
        // then longer. In any pane, the views get a line of their own if they don't fit beside the path of the page.
        let has_after = page.is_some_and(|page| page.after.counts().is_some());
        let before = page.and_then(|page| page.before.counts()).map_or(0, |counts| {
            [&counts.human, &counts.ai].iter().map(|count| display_width(&count_text(count))).sum::<usize>()
        });
        let path = row.local.pages.get(index).map_or(0, |path| display_width(path.as_str()));
        let is_long = before > 0 && path + before + VIEWS_TEXT_FIXED_WIDTH > columns.saturating_sub(LABEL_WIDTH);
        match is_long || has_after && columns < MIN_ONE_LINE_COLUMNS {
            true => lines.extend([PagesLine::Path(index), PagesLine::Views(index)]),
            false => lines.push(PagesLine::Page(index)),
        }
        let signals = page.and_then(|page| page.signals.as_ref()).map(signals_text).unwrap_or_default();
        let (signals, _) = wrap(&signals, columns.saturating_sub(SIGNALS_INDENT).max(8), SNAPSHOT_SIGNALS.len());
        lines.extend(signals.into_iter().map(PagesLine::Signals));
    }
    let more = row.local.pages.len().saturating_sub(MAX_LISTED_PAGES);
    lines.extend((more > 0).then_some(PagesLine::More(more)));
    lines
}

/// Returns the numbers of the signals when the job was started, and after the job: `thumbs down 12 → 3 in 19–25 Nov`.
/// Empty if all are 0 or unknown.
fn signals_text(signals: &SignalImpact) -> String {
    let number = |snapshot: &SignalSnapshot, signal| snapshot.value(signal).map(format_views);
    let text = |signal: ProblemSignal| {
        let values = [Some(&signals.before), signals.after.as_ref()].map(|snapshot| snapshot?.value(signal));
        values.into_iter().flatten().find(|value| !value.is_zero())?;
        let before = number(&signals.before, signal).unwrap_or_else(|| "unknown".to_owned());
        let after = match signals.after.as_ref().and_then(|after| number(after, signal)) {
            Some(after) => format!(" → {after}"),
            None if signals.missing.is_empty() => String::new(),
            None => " → not loaded".to_owned(),
        };
        Some(format!("{} {before}{after}", signal.label()))
    };
    let texts: Vec<String> = SNAPSHOT_SIGNALS.into_iter().filter_map(text).collect();
    if texts.is_empty() {
        return String::new();
    }
    let range = signals.before.range;
    let other_length = signals.after.as_ref().map(|after| after.range.days()).filter(|days| *days != range.days());
    let note = other_length.map(|days| format!(" (after the job: {days} instead of {} days)", range.days()));
    format!("{} in {}{}", texts.join(" · "), range.format_dates(false), note.unwrap_or_default())
}

#[cfg(test)]
#[path = "impact_tests.rs"]
mod tests;
