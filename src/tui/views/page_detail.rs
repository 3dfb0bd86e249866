//! The page details dialog: a page's numbers now and before, its rank, the jobs about it, and its numbers in other
//! cached ranges.

use super::super::dialog::Dialog;
use super::super::scroll::{self, Scroll};
use super::super::{App, Effect, Pane, Screen, Severity};
use crate::model::Time;
use crate::model::comparison::ComparedRanges;
use crate::model::failure::Failure;
use crate::model::impact::{PageHistory, PageImpact, PageViewsState};
use crate::model::load::{Load, Timed};
use crate::model::period::DateRange;
use crate::model::report::Report;
use crate::model::row::JobKey;
use crate::model::text::CleanText;
use crate::model::views::{Count, Counts};

/// Minimum width at which the views before and after a job are shown on the same line.
const MIN_ONE_LINE_WIDTH: usize = 112;
/// Below this width, the AI share and the number of ranked pages have their own lines.
pub const MIN_WIDE_WIDTH: usize = 60;

#[derive(Debug)]
pub struct PageDetail {
    pub path: CleanText,
    /// The page's numbers, computed when the dialog opened or when the history arrived.
    pub numbers: DetailNumbers,
    pub history: Load<PageHistory>,
    /// Index of the selected job in the list of jobs about the page.
    pub selected: usize,
    /// Index of the first visible line.
    pub scroll: usize,
}

/// The page's numbers in the listed range and in the compared days.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetailNumbers {
    pub range: DateRange,
    pub now: PageViewsState,
    /// The page's numbers in the compared ranges; without a comparison, in the days that would be compared with the
    /// previous period. `None` if no days can be compared.
    pub compared: Option<ComparedViews>,
    /// `None` until all pages of the range are loaded.
    pub rank: Option<PageRank>,
}

/// A page's numbers in two compared ranges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedViews {
    pub ranges: ComparedRanges,
    pub now: PageViewsState,
    pub before: PageViewsState,
}

/// A page's ranks among all pages of the range, from 1. `None` for a number that is not a valid count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageRank {
    pub human: Option<usize>,
    pub ai: Option<usize>,
    pub total: Option<usize>,
    /// The number of pages of the range.
    pub page_count: usize,
}

/// A line of the page details.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageDetailLine {
    Gap,
    /// The range, and when its numbers were loaded.
    Range,
    /// The range that the numbers are compared with.
    RangeBefore,
    Heads,
    Now,
    /// The page's numbers in the complete days, if the range includes today.
    CompleteDays,
    Before,
    Change,
    Rank,
    /// The number of pages of the range, if there is no space for this number beside the rank.
    RankOf,
    /// The AI share, if there is no space for a column of shares.
    Share,
    /// The heading over the jobs.
    Jobs,
    /// A job about the page, by its index in the list of jobs.
    Job(usize),
    /// The page's views before and after a job, on one line.
    JobViews(usize),
    JobBefore(usize),
    JobAfter(usize),
    /// The heading over the other cached ranges.
    Periods,
    /// The column headings over the other ranges, with the scale.
    Scale,
    Period(usize),
}

impl PageDetail {
    /// Returns all lines of the dialog for a width of `columns`.
    pub fn lines(&self, columns: usize) -> Vec<PageDetailLine> {
        use PageDetailLine as L;
        let (jobs, periods) =
            self.history.shown().map_or((0, 0), |known| (known.value.jobs.len(), known.value.periods.len()));
        let mut lines = vec![L::Range, L::RangeBefore, L::Gap, L::Heads, L::Now];
        lines.extend(self.numbers.is_partly_compared().then_some(L::CompleteDays));
        lines.extend([L::Before, L::Change, L::Rank]);
        if columns < MIN_WIDE_WIDTH {
            lines.extend(self.numbers.rank.is_some().then_some(L::RankOf));
            lines.push(L::Share);
        }
        lines.extend([L::Gap, L::Jobs]);
        for place in 0..jobs {
            lines.push(L::Job(place));
            if columns >= MIN_ONE_LINE_WIDTH {
                lines.push(L::JobViews(place));
            } else {
                lines.extend([L::JobBefore(place), L::JobAfter(place)]);
            }
        }
        lines.extend([L::Gap, L::Periods]);
        if periods > 0 {
            lines.push(L::Scale);
            lines.extend((0..periods).map(L::Period));
        }
        lines
    }

    pub fn selected_job(&self) -> Option<JobKey> {
        self.history.shown()?.value.jobs.get(self.selected).map(|(job, ..)| *job)
    }

    /// Selects the next or previous job and scrolls to it. If there is no such job, or if `by` is a page of lines or
    /// leads to the first or last line, scrolls through the lines.
    fn move_by(&mut self, by: Scroll, columns: usize, rows: usize) {
        let lines = self.lines(columns);
        let jobs = self.history.shown().map_or(0, |known| known.value.jobs.len());
        let last = (lines.len() + 1).saturating_sub(rows);
        let next = match by {
            Scroll::By(n) => scroll::move_within(self.selected, n, jobs),
            Scroll::Page(_) => self.selected,
            Scroll::Top => 0,
            Scroll::Bottom => jobs.saturating_sub(1),
        };
        let moves = matches!(by, Scroll::By(_)) && next != self.selected;
        self.selected = next;
        if moves {
            self.show_selected(&lines, rows);
        } else {
            self.scroll = by.apply(self.scroll, rows, last);
        }
    }

    /// Scrolls through the lines without changing the selection.
    pub(in crate::tui) fn scroll_lines(&mut self, by: isize, columns: usize, rows: usize) {
        let last = self.lines(columns).len().saturating_sub(rows);
        self.scroll = scroll::move_within(self.scroll, by, last + 1);
    }

    /// Scrolls so that the selected job is visible, with the page's views before and after the job.
    fn show_selected(&mut self, lines: &[PageDetailLine], rows: usize) {
        let Some(at) = lines.iter().position(|line| *line == PageDetailLine::Job(self.selected)) else { return };
        let views = |line: &&PageDetailLine| {
            matches!(line, PageDetailLine::JobViews(_) | PageDetailLine::JobBefore(_) | PageDetailLine::JobAfter(_))
        };
        let with = lines.iter().skip(at + 1).take_while(views).count();
        self.scroll = scroll::scroll_to_show(self.scroll, at + with, rows, lines.len());
        self.scroll = scroll::scroll_to_show(self.scroll, at, rows, lines.len());
    }
}

impl DetailNumbers {
    /// Whether only some days of the range are compared, because the range includes today.
    pub fn is_partly_compared(&self) -> bool {
        self.compared.as_ref().is_some_and(|compared| compared.ranges.now != self.range)
    }
}

impl PageRank {
    fn of(report: &Report, counts: &Counts) -> Self {
        let rank = |count: fn(&Counts) -> &Count| {
            let own = count(counts).value()?;
            let above = report.rows.iter().filter(|row| count(&row.counts).value().is_some_and(|other| other > own));
            Some(above.count() + 1)
        };
        Self {
            human: rank(|counts| &counts.human),
            ai: rank(|counts| &counts.ai),
            total: rank(|counts| &counts.total),
            page_count: report.rows.len(),
        }
    }
}

fn views_in(report: &Report, path: &CleanText) -> PageViewsState {
    match report.rows.iter().find(|row| row.path == *path) {
        Some(row) => PageViewsState::Known(Timed { value: row.counts.clone(), as_of: report.as_of }),
        None if report.complete => PageViewsState::NotListed(report.as_of),
        None => PageViewsState::Unknown,
    }
}

impl App {
    /// Opens the page details of the selected page.
    pub(in crate::tui) fn open_selected_page(&mut self, now: Time, effects: &mut Vec<Effect>) {
        if let Some(path) = self.views.selected_row().map(|row| row.path.clone()) {
            self.open_page_detail(path, now, effects);
        }
    }

    /// Opens the page details of any page, listed or not.
    pub(in crate::tui) fn open_page_detail(&mut self, path: CleanText, now: Time, effects: &mut Vec<Effect>) {
        let Some(numbers) = self.detail_numbers(&path, None, now) else { return };
        let mut history = Load::Idle;
        history.start();
        effects.push(Effect::LoadCachedPage(path.clone()));
        self.dialogs.push(Dialog::PageDetail(Box::new(PageDetail { path, numbers, history, selected: 0, scroll: 0 })));
    }

    fn page_detail(&self) -> Option<&PageDetail> {
        self.dialogs.iter().find_map(|dialog| match dialog {
            Dialog::PageDetail(detail) => Some(detail.as_ref()),
            _ => None,
        })
    }

    fn page_detail_mut(&mut self) -> Option<&mut PageDetail> {
        self.dialogs.iter_mut().find_map(|dialog| match dialog {
            Dialog::PageDetail(detail) => Some(detail.as_mut()),
            _ => None,
        })
    }

    /// Returns the job that is selected in the page details. Enter opens this job.
    pub(in crate::tui) fn selected_page_job(&self) -> Option<JobKey> {
        self.page_detail().and_then(PageDetail::selected_job)
    }

    /// Returns the selected job of the page details, with the page's views before and after the job.
    pub(in crate::tui) fn selected_job_impact(&self) -> Option<(JobKey, PageImpact)> {
        let detail = self.page_detail()?;
        let (job, before, after) = detail.history.shown()?.value.jobs.get(detail.selected)?.clone();
        Some((job, PageImpact { path: detail.path.clone(), before, after }))
    }

    /// Returns a page's numbers in the listed range and the numbers that they are compared with: from the compared
    /// reports, otherwise from `history`. `None` if nothing is listed.
    fn detail_numbers(&self, path: &CleanText, history: Option<&PageHistory>, at: Time) -> Option<DetailNumbers> {
        let table = &self.views.table;
        let range = self.listed_range()?;
        let (now, rank) = match table.report() {
            Some(report) => {
                let now = views_in(report, path);
                let rank = now.counts().filter(|_| report.complete).map(|counts| PageRank::of(report, counts));
                (now, rank)
            }
            None => {
                let as_of = self.views.load().shown()?.as_of;
                let row = table.rows().iter().find(|row| row.path == *path);
                let now = row.map(|row| PageViewsState::Known(Timed { value: row.counts.clone(), as_of }));
                (now.unwrap_or(PageViewsState::Unknown), None)
            }
        };
        let compared = match table.comparison() {
            Some(comparison) => Some(ComparedViews {
                ranges: comparison.ranges(),
                now: views_in(&comparison.now, path),
                before: views_in(&comparison.before, path),
            }),
            None => self.views.days_to_compare_with_previous(at.date_naive()).map(|ranges| {
                let cached = |range: DateRange| {
                    let known = history.and_then(|history| history.periods.iter().find(|period| period.range == range));
                    known.map_or(PageViewsState::Unknown, |period| PageViewsState::Known(period.views.clone()))
                };
                let compared = if ranges.now == range { now.clone() } else { cached(ranges.now) };
                ComparedViews { ranges, now: compared, before: cached(ranges.before) }
            }),
        };
        Some(DetailNumbers { range, now, compared, rank })
    }

    pub(in crate::tui) fn page_history_loaded(
        &mut self,
        path: &CleanText,
        result: Result<PageHistory, Failure>,
        now: Time,
    ) {
        let numbers = self.detail_numbers(path, result.as_ref().ok(), now);
        let Some(detail) = self.page_detail_mut().filter(|detail| detail.path == *path) else { return };
        detail.history.finish(result.map(|value| Timed { value, as_of: now }), now);
        if let Some(numbers) = numbers {
            detail.numbers = numbers;
        }
        let jobs = detail.history.shown().map_or(0, |known| known.value.jobs.len());
        detail.selected = detail.selected.min(jobs.saturating_sub(1));
        self.dirty = true;
    }

    /// Reloads the history of the page whose details are open.
    pub(in crate::tui) fn reload_page_detail(&mut self) -> Option<Effect> {
        let detail = self.page_detail_mut()?;
        detail.history.start();
        Some(Effect::LoadCachedPage(detail.path.clone()))
    }

    /// Switches to the jobs screen and shows the job there that is selected in the page details.
    pub(in crate::tui) fn open_selected_page_job(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some(job) = self.selected_page_job() else { return };
        let Some(dismissed) = self.jobs.get(job).map(|row| row.dismissed) else {
            self.notify(Severity::Info, "This job is not in the list yet.", now);
            return;
        };
        self.switch_screen(Screen::Jobs, now, effects);
        self.jobs.select(job);
        if self.screen == Screen::Jobs {
            self.pane = Pane::Detail;
            self.mark_seen(&[job], effects);
        }
        if dismissed {
            self.notify(Severity::Info, "This job is dismissed; z hides dismissed jobs again.", now);
        }
    }

    pub(in crate::tui) fn scroll_page_detail(&mut self, by: Scroll) {
        let g = self.geometry();
        if let Some(detail) = self.page_detail_mut() {
            detail.move_by(by, g.full_dialog_columns(), g.full_dialog_rows());
        }
    }

    /// Limits the scroll position after the terminal size or the data changed.
    pub(in crate::tui) fn limit_page_detail_scroll(&mut self) {
        let g = self.geometry();
        if let Some(detail) = self.page_detail_mut() {
            let total = detail.lines(g.full_dialog_columns()).len();
            detail.scroll = detail.scroll.min(total.saturating_sub(g.full_dialog_rows()));
        }
    }
}

#[cfg(test)]
#[path = "page_detail_tests.rs"]
mod tests;
