//! A page's own card: its numbers now and before, its rank, the jobs about it, and what other ranges say of it.

use super::super::dialog::Dialog;
use super::super::scroll::{self, Scroll};
use super::super::{App, Effect, Pane, Screen, Severity};
use crate::model::Time;
use crate::model::comparison::ComparedRanges;
use crate::model::failure::Failure;
use crate::model::impact::{PageHistory, PageImpact, PageViews};
use crate::model::load::{Load, Timed};
use crate::model::period::DateRange;
use crate::model::report::Report;
use crate::model::row::JobKey;
use crate::model::text::CleanText;
use crate::model::views::{Count, Counts};

/// Columns from which before and after of a job stand in one line.
const ONE_LINE: usize = 112;
/// Columns below which share and number of pages have lines of their own.
pub const NARROW: usize = 60;

/// The layer.
#[derive(Debug)]
pub struct PageDetail {
    pub path: CleanText,
    /// As listed when they were last looked up.
    pub numbers: DetailNumbers,
    pub history: Load<PageHistory>,
    /// Place of the selected job among those about the page.
    pub selected: usize,
    /// First visible line.
    pub scroll: usize,
}

/// The page's numbers in the listed range and in another one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetailNumbers {
    pub range: DateRange,
    pub now: PageViews,
    /// The days that are compared, otherwise those of the previous period. `None` if there is nothing to compare.
    pub compared: Option<ComparedViews>,
    /// None until all pages of the range are loaded.
    pub rank: Option<Rank>,
}

/// A page's numbers in the days that are compared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedViews {
    pub ranges: ComparedRanges,
    pub now: PageViews,
    pub before: PageViews,
}

/// Places among all pages, from 1; none for what is no count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rank {
    pub human: Option<usize>,
    pub ai: Option<usize>,
    pub total: Option<usize>,
    /// How many pages there are.
    pub of: usize,
}

/// A line of the card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageDetailLine {
    Gap,
    /// The range, and when its numbers were loaded.
    Range,
    /// The range before.
    RangeBefore,
    Heads,
    Now,
    /// The complete days of a range that includes today.
    CompleteDays,
    Before,
    Change,
    Rank,
    /// How many pages there are, where that has no room beside the rank.
    RankOf,
    /// The share of AI, where it has no column.
    Share,
    /// The heading over the jobs.
    Jobs,
    /// A job about the page, by its place.
    Job(usize),
    /// Its views before and after, side by side.
    JobViews(usize),
    JobBefore(usize),
    JobAfter(usize),
    /// The heading over other ranges.
    Periods,
    /// The heads of their columns, with the scale.
    Scale,
    Period(usize),
}

impl PageDetail {
    /// All its lines, at this width.
    pub fn lines(&self, columns: usize) -> Vec<PageDetailLine> {
        use PageDetailLine as L;
        let (jobs, periods) =
            self.history.shown().map_or((0, 0), |known| (known.value.jobs.len(), known.value.periods.len()));
        let mut lines = vec![L::Range, L::RangeBefore, L::Gap, L::Heads, L::Now];
        lines.extend(self.numbers.is_cut().then_some(L::CompleteDays));
        lines.extend([L::Before, L::Change, L::Rank]);
        if columns < NARROW {
            lines.extend(self.numbers.rank.is_some().then_some(L::RankOf));
            lines.push(L::Share);
        }
        lines.extend([L::Gap, L::Jobs]);
        for place in 0..jobs {
            lines.push(L::Job(place));
            if columns >= ONE_LINE {
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

    /// The selected job.
    pub fn job(&self) -> Option<JobKey> {
        self.history.shown()?.value.jobs.get(self.selected).map(|(job, ..)| *job)
    }

    /// Moves to another job, and where there is none in that direction, through the lines.
    fn move_by(&mut self, by: Scroll, columns: usize, rows: usize) {
        let lines = self.lines(columns);
        let jobs = self.history.shown().map_or(0, |known| known.value.jobs.len());
        let last = (lines.len() + 1).saturating_sub(rows);
        let next = match by {
            Scroll::By(n) => scroll::moved(self.selected, n, jobs),
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

    /// Scrolls through the lines, whatever is selected.
    pub(in crate::app) fn scroll_lines(&mut self, by: isize, columns: usize, rows: usize) {
        let last = self.lines(columns).len().saturating_sub(rows);
        self.scroll = scroll::moved(self.scroll, by, last + 1);
    }

    /// Scrolls to the selected job with its numbers.
    fn show_selected(&mut self, lines: &[PageDetailLine], rows: usize) {
        let Some(at) = lines.iter().position(|line| *line == PageDetailLine::Job(self.selected)) else { return };
        let views = |line: &&PageDetailLine| {
            matches!(line, PageDetailLine::JobViews(_) | PageDetailLine::JobBefore(_) | PageDetailLine::JobAfter(_))
        };
        let with = lines.iter().skip(at + 1).take_while(views).count();
        self.scroll = scroll::follow(self.scroll, at + with, rows, lines.len());
        self.scroll = scroll::follow(self.scroll, at, rows, lines.len());
    }
}

impl DetailNumbers {
    /// Whether not all days of the range are compared.
    pub fn is_cut(&self) -> bool {
        self.compared.as_ref().is_some_and(|compared| compared.ranges.now != self.range)
    }
}

impl Rank {
    fn of(report: &Report, counts: &Counts) -> Self {
        let place = |count: fn(&Counts) -> &Count| {
            let own = count(counts).value()?;
            let above = report.rows.iter().filter(|row| count(&row.counts).value().is_some_and(|other| other > own));
            Some(above.count() + 1)
        };
        Self {
            human: place(|counts| &counts.human),
            ai: place(|counts| &counts.ai),
            total: place(|counts| &counts.total),
            of: report.rows.len(),
        }
    }
}

fn views_in(report: &Report, path: &CleanText) -> PageViews {
    match report.rows.iter().find(|row| row.path == *path) {
        Some(row) => PageViews::Known(Timed { value: row.counts.clone(), as_of: report.as_of }),
        None if report.complete => PageViews::NotListed(report.as_of),
        None => PageViews::Unknown,
    }
}

impl App {
    /// Enter on a page.
    pub(in crate::app) fn open_card(&mut self, now: Time, effects: &mut Vec<Effect>) {
        if let Some(path) = self.views.selected_row().map(|row| row.path.clone()) {
            self.open_card_of(path, now, effects);
        }
    }

    /// The card of any page, listed or not.
    pub(in crate::app) fn open_card_of(&mut self, path: CleanText, now: Time, effects: &mut Vec<Effect>) {
        let Some(numbers) = self.card_numbers(&path, None, now) else { return };
        let mut history = Load::Idle;
        history.start();
        effects.push(Effect::RecallPage(path.clone()));
        self.dialogs.push(Dialog::Card(Box::new(PageDetail { path, numbers, history, selected: 0, scroll: 0 })));
    }

    fn card(&self) -> Option<&PageDetail> {
        self.dialogs.iter().find_map(|overlay| match overlay {
            Dialog::Card(card) => Some(card.as_ref()),
            _ => None,
        })
    }

    fn card_mut(&mut self) -> Option<&mut PageDetail> {
        self.dialogs.iter_mut().find_map(|overlay| match overlay {
            Dialog::Card(card) => Some(card.as_mut()),
            _ => None,
        })
    }

    /// The job that Enter goes to.
    pub(in crate::app) fn card_job(&self) -> Option<JobKey> {
        self.card().and_then(PageDetail::job)
    }

    /// The selected job, and what is known of the page before and after it.
    pub(in crate::app) fn card_job_page(&self) -> Option<(JobKey, PageImpact)> {
        let card = self.card()?;
        let (job, before, after) = card.history.shown()?.value.jobs.get(card.selected)?.clone();
        Some((job, PageImpact { path: card.path.clone(), before, after }))
    }

    /// What is listed of a page, and what is compared: from the reports of a comparison, otherwise from its history.
    fn card_numbers(&self, path: &CleanText, history: Option<&PageHistory>, at: Time) -> Option<DetailNumbers> {
        let table = &self.views.table;
        let range = self.listed_range()?;
        let (now, rank) = match table.report() {
            Some(report) => {
                let now = views_in(report, path);
                let rank = now.counts().filter(|_| report.complete).map(|counts| Rank::of(report, counts));
                (now, rank)
            }
            None => {
                let as_of = self.views.load().shown()?.as_of;
                let row = table.rows().iter().find(|row| row.path == *path);
                let now = row.map(|row| PageViews::Known(Timed { value: row.counts.clone(), as_of }));
                (now.unwrap_or(PageViews::Unknown), None)
            }
        };
        let compared = match table.comparison() {
            Some(comparison) => Some(ComparedViews {
                ranges: comparison.ranges(),
                now: views_in(&comparison.now, path),
                before: views_in(&comparison.before, path),
            }),
            None => self.views.days_of_totals(at.date_naive()).map(|ranges| {
                let cached = |range: DateRange| {
                    let known = history.and_then(|history| history.periods.iter().find(|period| period.range == range));
                    known.map_or(PageViews::Unknown, |period| PageViews::Known(period.views.clone()))
                };
                let compared = if ranges.now == range { now.clone() } else { cached(ranges.now) };
                ComparedViews { ranges, now: compared, before: cached(ranges.before) }
            }),
        };
        Some(DetailNumbers { range, now, compared, rank })
    }

    pub(in crate::app) fn page_history(&mut self, path: &CleanText, result: Result<PageHistory, Failure>, now: Time) {
        let numbers = self.card_numbers(path, result.as_ref().ok(), now);
        let Some(card) = self.card_mut().filter(|card| card.path == *path) else { return };
        card.history.finish(result.map(|value| Timed { value, as_of: now }), now);
        if let Some(numbers) = numbers {
            card.numbers = numbers;
        }
        let jobs = card.history.shown().map_or(0, |known| known.value.jobs.len());
        card.selected = card.selected.min(jobs.saturating_sub(1));
        self.dirty = true;
    }

    /// Reads anew what is known of the page whose card is open.
    pub(in crate::app) fn recall_card(&mut self) -> Option<Effect> {
        let card = self.card_mut()?;
        card.history.start();
        Some(Effect::RecallPage(card.path.clone()))
    }

    /// Enter on a job of the card: its detail on the jobs screen.
    pub(in crate::app) fn go_to_card_job(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some(job) = self.card_job() else { return };
        let Some(dismissed) = self.jobs.get(job).map(|row| row.dismissed) else {
            self.notify(Severity::Info, "This job is not in the list on this screen yet.", now);
            return;
        };
        self.switch_screen(Screen::Jobs, now, effects);
        self.jobs.select(job);
        if self.screen == Screen::Jobs {
            self.pane = Pane::Detail;
            self.look_at(&[job], effects);
        }
        if dismissed {
            self.notify(Severity::Info, "This job is dismissed; z hides the dismissed ones again.", now);
        }
    }

    pub(in crate::app) fn scroll_card(&mut self, by: Scroll) {
        let g = self.geometry();
        if let Some(card) = self.card_mut() {
            card.move_by(by, g.layer_columns(), g.layer_rows());
        }
    }

    /// After a change of size or of what is known.
    pub(in crate::app) fn keep_card_in_sight(&mut self) {
        let g = self.geometry();
        if let Some(card) = self.card_mut() {
            let total = card.lines(g.layer_columns()).len();
            card.scroll = card.scroll.min(total.saturating_sub(g.layer_rows()));
        }
    }
}

#[cfg(test)]
#[path = "card_tests.rs"]
mod tests;
