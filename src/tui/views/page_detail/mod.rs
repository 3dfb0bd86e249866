//! The page details dialog: a page's numbers with their change, its rank, its trend, its numbers in other cached
//! ranges, what the reports say about it, and the jobs about it. Nothing is requested before the user has confirmed the
//! cost.

mod draw;
mod trend;

use super::range_totals::RangeTotals;
use crate::model::analytics::page_reports::PageReports;
use crate::model::comparison::ComparedRanges;
use crate::model::engine_event::EngineEvent;
use crate::model::impact::{PageHistory, PageImpact, PageViewsState, unloaded_weeks};
use crate::model::job::JobKey;
use crate::model::load::{Load, Timed};
use crate::model::period::DateRange;
use crate::model::report::Report;
use crate::model::text::CleanText;
use crate::model::views::{Count, Counts};
use crate::tui::component::prelude::*;
use crate::tui::format::{plural, position_text};
use crate::tui::widgets::scroll::{self, Scroll};
use crate::tui::{Pane, PromptsMsg, Screen, StoreState, ViewsEffect, ViewsMsg};

/// Minimum width at which two texts share a line: the views before and after a job, or the range and the range that it
/// is compared with.
const MIN_ONE_LINE_WIDTH: usize = 112;
/// Below this width, texts have shorter forms and dates are left out.
pub const MIN_WIDE_WIDTH: usize = 60;
/// The maximum number of cached ranges that are listed, until the user chooses to list all.
const MAX_LISTED_PERIODS: usize = 3;

#[derive(Debug)]
pub struct PageDetail {
    pub path: CleanText,
    /// The page's numbers, computed when the dialog opened or when the history arrived.
    pub numbers: DetailNumbers,
    pub history: Load<PageHistory>,
    /// The page's views in all cached ranges, for the trend.
    totals: RangeTotals,
    /// What the loaded or stored reports of the range say about the page.
    pub reports: PageReports,
    /// Whether all cached ranges are listed.
    lists_all_periods: bool,
    /// Index of the selected job in the list of jobs about the page.
    pub selected_job_index: usize,
    /// Index of the first visible line.
    pub scroll: usize,
}

/// The page's numbers in the listed range and in the compared days.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetailNumbers {
    pub range: DateRange,
    pub current: PageViewsState,
    /// The page's numbers in the two compared ranges. If nothing is compared, the two ranges are those that a
    /// comparison with the previous period would use. `None` if there are no such ranges.
    pub compared: Option<ComparedViews>,
    /// `None` until all pages of the range are loaded, or if the page is not listed.
    pub rank: Option<PageRank>,
    /// `None` unless the visitors of the page are loaded.
    pub visitors: Option<Count>,
}

/// A page's numbers in two compared ranges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ComparedViews {
    pub ranges: ComparedRanges,
    pub current: PageViewsState,
    pub previous: PageViewsState,
}

/// A page's ranks among all pages of the range, from 1. A rank is `None` if the service reported no valid count.
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
    /// The page's numbers with their change.
    Numbers,
    /// The range, and when its numbers were loaded.
    Range,
    /// The range that the numbers are compared with.
    Compared,
    Rank,
    /// A row of the trend or of its axis, from the top.
    Trend(usize),
    /// Which days of the trend are not loaded, and what they cost.
    TrendCost,
    /// The heading over the reports.
    Reports,
    Report(PageReport),
    /// The heading over the jobs.
    Jobs,
    /// A job about the page, by its index in the list of jobs.
    Job(usize),
    /// The page's views before and after a job, on one line.
    JobViews(usize),
    JobBefore(usize),
    JobAfter(usize),
    /// The heading over the cached ranges.
    Periods,
    /// The column headings over the cached ranges, with the scale.
    Scale,
    Period(usize),
    /// How many cached ranges are not listed.
    MorePeriods,
}

/// A report with a line in the page details. The line about feedback combines the reports of votes and of comments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageReport {
    Feedback,
    Questions,
    Searches,
}

impl PageReport {
    const ALL: [Self; 3] = [Self::Feedback, Self::Questions, Self::Searches];
}

impl PageDetail {
    /// Returns all lines of the dialog for an area of `columns` and `rows`.
    pub fn lines(&self, columns: usize, rows: usize) -> Vec<PageDetailLine> {
        use PageDetailLine as L;
        let jobs = self.job_count();
        let mut lines = vec![L::Numbers, L::Range];
        lines.extend((columns < MIN_ONE_LINE_WIDTH).then_some(L::Compared));
        lines.extend([L::Rank, L::Gap]);
        if self.has_trend() {
            let chart = if self.has_known_bars() { trend::chart_rows(rows) } else { 0 };
            lines.extend((0..chart).map(L::Trend));
            lines.extend([L::TrendCost, L::Gap]);
        }
        lines.push(L::Reports);
        lines.extend(PageReport::ALL.map(L::Report));
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
        let periods = self.listed_period_indexes();
        if !periods.is_empty() {
            lines.push(L::Scale);
            let has_more = periods.len() < self.period_count();
            lines.extend(periods.into_iter().map(L::Period));
            lines.extend(has_more.then_some(L::MorePeriods));
        }
        lines
    }

    fn job_count(&self) -> usize {
        self.history.shown().map_or(0, |known| known.value.jobs.len())
    }

    fn period_count(&self) -> usize {
        self.history.shown().map_or(0, |known| known.value.periods.len())
    }

    /// Returns the indexes of the cached ranges that are listed: all if the user wants that, otherwise the range on
    /// screen, the range that it is compared with, and the latest others. The others include single days only if every
    /// cached range is a single day, because the trend already shows the days.
    fn listed_period_indexes(&self) -> Vec<usize> {
        let periods = self.history.shown().map_or(&[][..], |known| known.value.periods.as_slice());
        if self.lists_all_periods {
            return (0..periods.len()).collect();
        }
        let compared = self.numbers.compared.as_ref().map(|compared| compared.ranges.previous);
        let is_named = |range: DateRange| range == self.numbers.range || Some(range) == compared;
        let has_longer = periods.iter().any(|period| period.range.days() > 1);
        let wanted = periods
            .iter()
            .enumerate()
            .filter(|(_, period)| is_named(period.range) || !has_longer || period.range.days() > 1);
        let (named, others): (Vec<_>, Vec<_>) = wanted.partition(|(_, period)| is_named(period.range));
        let mut listed: Vec<usize> =
            named.into_iter().chain(others).map(|(index, _)| index).take(MAX_LISTED_PERIODS).collect();
        listed.sort_unstable();
        listed
    }

    pub fn selected_job(&self) -> Option<JobKey> {
        self.history.shown()?.value.jobs.get(self.selected_job_index).map(|(job, ..)| *job)
    }

    /// Scrolls through the lines. While the selected job is visible, a step selects the next or previous job instead,
    /// if there is one. A jump to the first or last line also selects the first or last job.
    fn move_by(&mut self, by: Scroll, (columns, rows): (usize, usize)) {
        let lines = self.lines(columns, rows);
        let jobs = self.job_count();
        let last = (lines.len() + 1).saturating_sub(rows);
        let next = match by {
            Scroll::By(n) if self.is_selected_job_visible(&lines, rows) => {
                scroll::move_within(self.selected_job_index, n, jobs)
            }
            Scroll::By(_) | Scroll::Page(_) => self.selected_job_index,
            Scroll::Top => 0,
            Scroll::Bottom => jobs.saturating_sub(1),
        };
        let moves = matches!(by, Scroll::By(_)) && next != self.selected_job_index;
        self.selected_job_index = next;
        if moves {
            self.scroll_to_selected_job(&lines, rows);
        } else {
            self.scroll = by.apply(self.scroll, rows, last);
        }
    }

    fn is_selected_job_visible(&self, lines: &[PageDetailLine], rows: usize) -> bool {
        lines.iter().skip(self.scroll).take(rows).any(|line| *line == PageDetailLine::Job(self.selected_job_index))
    }

    /// Scrolls so that the selected job is visible, with the page's views before and after the job.
    fn scroll_to_selected_job(&mut self, lines: &[PageDetailLine], rows: usize) {
        let Some(at) = lines.iter().position(|line| *line == PageDetailLine::Job(self.selected_job_index)) else {
            return;
        };
        let views = |line: &&PageDetailLine| {
            matches!(line, PageDetailLine::JobViews(_) | PageDetailLine::JobBefore(_) | PageDetailLine::JobAfter(_))
        };
        let with = lines.iter().skip(at + 1).take_while(views).count();
        self.scroll = scroll::scroll_to_show(self.scroll, at + with, rows, lines.len());
        self.scroll = scroll::scroll_to_show(self.scroll, at, rows, lines.len());
    }
}

impl PageRank {
    fn of(report: &Report, counts: &Counts) -> Self {
        let rank = |count: fn(&Counts) -> &Count| {
            let views = count(counts).value()?;
            let above = report.rows.iter().filter(|row| count(&row.counts).value().is_some_and(|other| other > views));
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

/// Returns a page's numbers in the listed range and the numbers that they are compared with: from the compared
/// reports, otherwise from what is cached about the page. `None` if nothing is listed.
fn detail_numbers(app: &App, path: &CleanText, totals: &RangeTotals, at: Time) -> Option<DetailNumbers> {
    let table = &app.views.table;
    let range = app.listed_range()?;
    let (current, rank) = match table.report() {
        Some(report) => {
            let current = views_in(report, path);
            let rank = current.counts().filter(|_| report.complete).map(|counts| PageRank::of(report, counts));
            (current, rank)
        }
        None => {
            let as_of = app.views.load().shown()?.as_of;
            let row = table.rows().iter().find(|row| row.path == *path);
            let current = row.map(|row| PageViewsState::Known(Timed { value: row.counts.clone(), as_of }));
            (current.unwrap_or(PageViewsState::Unknown), None)
        }
    };
    let compared = match table.comparison() {
        Some(comparison) => Some(ComparedViews {
            ranges: comparison.ranges(),
            current: views_in(&comparison.current, path),
            previous: views_in(&comparison.previous, path),
        }),
        None => app.views.days_to_compare_with_previous(at.date_naive()).map(|ranges| {
            let cached = |range| totals.newest_totals(range).map_or(PageViewsState::Unknown, PageViewsState::Known);
            let compared = if ranges.current == range { current.clone() } else { cached(ranges.current) };
            ComparedViews { ranges, current: compared, previous: cached(ranges.previous) }
        }),
    };
    let visitors = app.views.visitors.report(range).and_then(|report| {
        let row = report.rows.iter().find(|row| row.path == *path);
        row.map(|row| row.counts.total.clone())
    });
    Some(DetailNumbers { range, current, compared, rank, visitors })
}

impl PageDetail {
    /// Opens the details of any page, listed or not. Does nothing until page views are listed.
    pub fn open(path: CleanText, cx: &mut Cx<'_>) {
        let totals = RangeTotals::default();
        let Some(numbers) = detail_numbers(cx.app, &path, &totals, cx.now) else { return };
        let mut open = Self {
            path,
            numbers,
            history: Load::Idle,
            totals,
            reports: PageReports::default(),
            lists_all_periods: false,
            selected_job_index: 0,
            scroll: 0,
        };
        open.reload(cx);
        cx.open(open);
    }

    fn reload(&mut self, cx: &mut Cx<'_>) {
        self.history.start();
        let (path, range) = (self.path.clone(), self.numbers.range);
        cx.run(Effect::Views(ViewsEffect::LoadPageHistory { path, range, days: trend::days_to_read(range) }));
    }

    /// Returns the selected job, and the page's views before and after it.
    fn selected_impact(&self) -> Option<(JobKey, PageImpact)> {
        let (job, before, after) = self.history.shown()?.value.jobs.get(self.selected_job_index)?.clone();
        Some((job, PageImpact { path: self.path.clone(), before, after, signals: None }))
    }

    /// Whether views before or after the selected job are missing and can be loaded.
    fn lacks_impact(&self, app: &App) -> bool {
        self.selected_impact().is_some_and(|(job, page)| {
            app.jobs.get(job).is_some_and(|job| !unloaded_weeks(job, &[page], app.updated_at.date_naive()).is_empty())
        })
    }

    /// Asks whether to fetch the missing views before and after the selected job.
    fn ask_to_load_impact(&self, cx: &mut Cx<'_>) {
        let Some((job, page)) = self.selected_impact() else { return };
        match cx.app.jobs.get(job).cloned() {
            Some(row) => cx.app.ask_to_load_views_around_job(&row, &[page], cx.now, cx.effects),
            None => cx.notify(Severity::Info, "This job is not in the jobs list yet."),
        }
    }

    /// Shows the selected job on the jobs screen, or a notice if the jobs list lacks it.
    fn show_job(&self, cx: &mut Cx<'_>) -> Flow {
        let Some(job) = self.selected_job() else { return Flow::Handled };
        let Some(is_dismissed) = cx.app.jobs.get(job).map(|row| row.local.dismissed) else {
            cx.notify(Severity::Info, "This job is not in the list yet.");
            return Flow::Handled;
        };
        cx.app.switch_screen(Screen::Jobs, cx.now, cx.effects);
        cx.app.jobs.select(job);
        if cx.app.screen == Screen::Jobs {
            cx.app.pane = Pane::Detail;
            cx.app.mark_seen(&[job], cx.effects);
        }
        if is_dismissed {
            cx.notify(Severity::Info, "This job is dismissed; z hides dismissed jobs again.");
        }
        Flow::Close
    }
}

impl Component for PageDetail {
    fn contexts(&self) -> &'static [Context] {
        &[Context::PageDetail, Context::Lists, Context::Everywhere]
    }

    fn fills_screen(&self) -> bool {
        true
    }

    fn footer_label(&self, action: Action, app: &App) -> Option<FooterLabel> {
        FooterLabel::default_if(match action {
            Action::LoadAll if app.views.all_pages.active.is_some() => return Some(app.load_all_label().into()),
            Action::Open => self.selected_job().is_some(),
            Action::BeforeAfter => self.lacks_impact(app),
            Action::NewJob => app.store == StoreState::Loaded,
            Action::LoadAll => {
                app.view_requests_left() > 0 && app.views.all_pages.complete_report(app.views.query().range).is_none()
            }
            Action::Trend => self.has_trend() && app.view_requests_left() > 0 && self.has_missing_days(app.updated_at),
            Action::Fold if self.lists_all_periods => return Some("fewer ranges".into()),
            Action::Fold => self.listed_period_indexes().len() < self.period_count(),
            _ => true,
        })
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        match action {
            Action::Open => return self.show_job(cx),
            Action::NewJob => cx.app.open_new_job_about(vec![self.path.clone()], cx.now, cx.effects),
            Action::BeforeAfter => self.ask_to_load_impact(cx),
            Action::LoadAll => cx.app.load_all_or_stop(cx.now, cx.effects),
            Action::Trend => self.ask_to_load_missing_days(cx),
            Action::Fold => self.lists_all_periods = !self.lists_all_periods,
            Action::Copy => cx.run(Effect::copy(&format!("the path {}", self.path), self.path.to_string())),
            _ => return Flow::Unhandled,
        }
        Flow::Handled
    }

    fn scroll(&mut self, by: Scroll, cx: &mut Cx<'_>) {
        let g = cx.app.geometry();
        self.move_by(by, (g.dialog_columns(), g.dialog_rows()));
    }

    /// Selects the clicked job, or shows it if it was already selected.
    fn click(&mut self, at: Position, cx: &mut Cx<'_>) -> Flow {
        let g = cx.app.geometry();
        let area = g.content;
        if !area.contains(at) {
            return Flow::Handled;
        }
        let line = self.scroll.saturating_add(usize::from(at.y - area.y));
        match self.lines(g.dialog_columns(), g.dialog_rows()).get(line) {
            Some(PageDetailLine::Job(job)) if *job == self.selected_job_index => return self.show_job(cx),
            Some(PageDetailLine::Job(job)) => self.selected_job_index = *job,
            _ => {}
        }
        Flow::Handled
    }

    /// Scrolls through the lines without changing the selection.
    fn scroll_with_wheel(&mut self, _at: Position, by: isize, cx: &mut Cx<'_>) {
        let g = cx.app.geometry();
        let last = self.lines(g.dialog_columns(), g.dialog_rows()).len().saturating_sub(g.dialog_rows());
        self.scroll = scroll::move_within(self.scroll, by, last + 1);
    }

    fn receive(&mut self, msg: Msg, cx: &mut Cx<'_>) -> Result<Flow, Msg> {
        match msg {
            Msg::Views(ViewsMsg::PageHistoryLoaded { path, result }) if path == self.path => {
                if let Ok(history) = &result {
                    self.totals = trend::totals_of(history);
                    let loaded = PageReports::of_page(&path, cx.app.analytics.reports_of(self.numbers.range));
                    self.reports = loaded.or(history.reports.clone());
                }
                let numbers = detail_numbers(cx.app, &path, &self.totals, cx.now);
                self.history.finish(result.map(|value| Timed { value, as_of: cx.now }), cx.now);
                self.numbers = numbers.unwrap_or_else(|| self.numbers.clone());
                self.selected_job_index = self.selected_job_index.min(self.job_count().saturating_sub(1));
                Ok(Flow::Handled)
            }
            // Reads the history again if the message means that the page's jobs or views have changed. Passes every
            // message on, because other components need it, too.
            msg => {
                if matches!(
                    msg,
                    Msg::Prompts(PromptsMsg::Submitted { result: Ok(_), .. })
                        | Msg::Views(ViewsMsg::LoadEnded { .. } | ViewsMsg::TotalsLoadEnded(_))
                        | Msg::Engine(EngineEvent::JobsRemoved(_))
                ) {
                    self.reload(cx);
                }
                Err(msg)
            }
        }
    }

    /// Scrolls back if there are fewer lines than before.
    fn refresh(&mut self, app: &App) {
        let g = app.geometry();
        let total = self.lines(g.dialog_columns(), g.dialog_rows()).len();
        self.scroll = self.scroll.min(total.saturating_sub(g.dialog_rows()));
    }

    fn position_text(&self, app: &App) -> String {
        let g = app.geometry();
        let jobs = self.job_count();
        let below = self.lines(g.dialog_columns(), g.dialog_rows()).len().saturating_sub(self.scroll + g.dialog_rows());
        let job = (jobs > 0).then(|| format!("job {}", position_text(self.selected_job_index, jobs, 0)));
        let lines = (below > 0).then(|| format!("{} ↓", plural(below, "more line")));
        job.into_iter().chain(lines).collect::<Vec<_>>().join(" · ")
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        draw::draw(frame, view, self);
    }
}

#[cfg(test)]
mod tests;
