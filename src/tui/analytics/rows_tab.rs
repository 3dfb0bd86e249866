//! The state of a report with rows of one kind: what is loaded and shown, and the comparison with the previous period.

use super::messages::{AnalyticsEffect, RowsMsg};
use super::row_list::{ListTab, RowList, Rows};
use crate::model::Time;
use crate::model::analytics::fields::FieldedRow;
use crate::model::analytics::{AnalyticsRow, RowsPlan, RowsProgress, RowsReport};
use crate::model::comparison::ViewsChange;
use crate::model::failure::Failure;
use crate::model::load::{Load, Timed};
use crate::model::period::DateRange;
use crate::model::report::LoadEndReason;
use crate::model::text::CleanText;
use crate::model::views::{Count, ViewCount};
use crate::tui::msg::Effect;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The state of a report.
#[derive(Debug)]
pub struct RowsTab<R: FieldedRow> {
    /// The range that is shown or being read; `None` until the tab is opened.
    range: Option<DateRange>,
    report: Load<Arc<RowsReport<R>>>,
    /// The progress of a running load.
    progress: Option<RowsProgress>,
    list: RowList<R>,
    comparison: Option<RowsComparison<R>>,
    /// The numbers above the table.
    pub(in crate::tui) summary: Vec<SummaryNumber>,
    /// The number that the longest bar stands for.
    pub(in crate::tui) full_bar: f64,
}

/// A number of the report, and of the previous period if both are loaded completely and compared.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::tui) struct SummaryNumber {
    pub name: &'static str,
    pub now: ViewCount,
    pub before: Option<ViewCount>,
}

/// A comparison with the previous period.
#[derive(Debug)]
struct RowsComparison<R> {
    range: DateRange,
    /// The report of the previous period; `None` until it is loaded.
    before: Option<Arc<RowsReport<R>>>,
    /// The positions of the rows in that report.
    positions: HashMap<CleanText, usize>,
    /// The rows that only the previous period has.
    gone: Vec<R>,
    /// The number of rows that the previous period doesn't have.
    new_count: usize,
}

impl<R: FieldedRow> Default for RowsTab<R> {
    fn default() -> Self {
        Self {
            range: None,
            report: Load::Idle,
            progress: None,
            list: RowList::default(),
            comparison: None,
            summary: Vec::new(),
            full_bar: 0.0,
        }
    }
}

impl<R: FieldedRow> RowsTab<R> {
    /// Shows this range. Returns the effect that reads it from the cache, or `None` if it is already shown.
    pub(in crate::tui) fn show_range(&mut self, range: DateRange) -> Option<Effect> {
        if self.range == Some(range) {
            return None;
        }
        self.range = Some(range);
        // The rows of another range would be wrong under the new heading.
        self.report = Load::Loading { before: None };
        self.progress = None;
        self.comparison = None;
        self.list.set_only(None);
        self.arrange();
        Some(Effect::Analytics(AnalyticsEffect::LoadCached(R::KIND, range)))
    }

    /// Requests the report again from its start, or continues it.
    pub(in crate::tui) fn load(&mut self, max_requests: u32, from_start: bool) -> Option<Effect> {
        let range = self.range?;
        self.report.start();
        Some(Effect::Analytics(AnalyticsEffect::Load(R::KIND, RowsPlan { range, max_requests, from_start })))
    }

    /// Stops a running load. Returns `None` if none is running.
    pub(in crate::tui) fn stop(&self) -> Option<Effect> {
        let range = self.range.filter(|_| self.report.is_loading() && self.progress.is_some())?;
        Some(Effect::Analytics(AnalyticsEffect::Stop(R::KIND, range)))
    }

    /// Applies a message. Returns the effect that follows: a report that is not cached or not fresh is requested, with
    /// a single request.
    pub(in crate::tui) fn receive(&mut self, msg: RowsMsg<R>, now: Time) -> Option<Effect> {
        match msg {
            RowsMsg::Cached { range, report, is_fresh } if self.range == Some(range) => {
                let is_shown = report.is_some() && is_fresh;
                if let Some(report) = report {
                    self.show(report, now);
                } else {
                    self.report = Load::Idle;
                }
                if is_shown { None } else { self.load(1, false) }
            }
            RowsMsg::Ended { range, outcome } if self.range == Some(range) => {
                self.progress = None;
                if let Some(report) = outcome.report {
                    self.show(report, now);
                }
                if let LoadEndReason::Failed(failure) = outcome.end_reason {
                    self.report.start();
                    self.report.finish(Err(failure), now);
                } else if self.report.is_loading() {
                    self.stop_waiting();
                }
                None
            }
            RowsMsg::Cached { range, report, .. } if self.is_compared_range(range) => match report {
                Some(report) => {
                    self.show_before(report);
                    None
                }
                None => {
                    let plan = RowsPlan { range, max_requests: 1, from_start: false };
                    Some(Effect::Analytics(AnalyticsEffect::Load(R::KIND, plan)))
                }
            },
            RowsMsg::Ended { range, outcome } if self.is_compared_range(range) => {
                match outcome.report {
                    Some(report) => self.show_before(report),
                    None => self.comparison = None,
                }
                None
            }
            RowsMsg::Cached { .. } | RowsMsg::Ended { .. } => None,
        }
    }

    fn is_compared_range(&self, range: DateRange) -> bool {
        self.comparison.as_ref().is_some_and(|comparison| comparison.range == range)
    }

    /// Compares with the previous period, or stops comparing. Returns the effect that reads that period from the cache.
    /// If it is not cached, its first rows take one request.
    pub(in crate::tui) fn toggle_comparison(&mut self) -> Option<Effect> {
        let selected = self.selected_identity();
        if self.comparison.take().is_some() {
            self.arrange_around(selected.as_deref());
            return None;
        }
        let range = self.range?.step(-1)?;
        self.comparison =
            Some(RowsComparison { range, before: None, positions: HashMap::new(), gone: Vec::new(), new_count: 0 });
        Some(Effect::Analytics(AnalyticsEffect::LoadCached(R::KIND, range)))
    }

    fn show_before(&mut self, before: Arc<RowsReport<R>>) {
        let selected = self.selected_identity();
        let Some(comparison) = &mut self.comparison else { return };
        comparison.positions = before.rows.iter().enumerate().map(|(at, row)| (row.key().clone(), at)).collect();
        comparison.before = Some(before);
        self.find_gone_rows();
        self.arrange_around(selected.as_deref());
    }

    /// Finds the rows that only the previous period has. While the current period is partial, they may still come.
    fn find_gone_rows(&mut self) {
        let now = self.report.shown().map(|report| Arc::clone(&report.value)).filter(|now| now.is_complete());
        let Some(comparison) = &mut self.comparison else { return };
        comparison.gone.clear();
        comparison.new_count = 0;
        let (Some(now), Some(before)) = (now, &comparison.before) else { return };
        let known: HashSet<&CleanText> = now.rows.iter().map(AnalyticsRow::key).collect();
        let gone = before.rows.iter().filter(|row| !known.contains(row.key()));
        comparison.gone = gone.filter_map(FieldedRow::gone).collect();
        comparison.new_count = now.rows.iter().filter(|row| comparison.is_new(row)).count();
    }

    /// Returns the compared range; `None` if nothing is compared.
    pub(in crate::tui) fn compared_range(&self) -> Option<DateRange> {
        self.comparison.as_ref().map(|comparison| comparison.range)
    }

    /// Computes the numbers above the table with a function that returns those of a report.
    pub(in crate::tui) fn update_summary(&mut self, numbers: fn(&RowsReport<R>) -> Vec<(&'static str, ViewCount)>) {
        let Some(report) = self.report() else { return };
        let is_complete = self.is_compared() && report.is_complete();
        let before = self.comparison.as_ref().and_then(|comparison| comparison.before.as_ref());
        let before = before.filter(|_| is_complete).map(|before| numbers(before)).unwrap_or_default();
        let of_before = |name| before.iter().find(|(known, _)| *known == name).map(|(_, count)| *count);
        let number = |(name, now)| SummaryNumber { name, now, before: of_before(name) };
        self.summary = numbers(report).into_iter().map(number).collect();
    }

    /// Whether all rows of the previous period are loaded, so that new rows are known.
    pub(in crate::tui) fn is_compared(&self) -> bool {
        let before = self.comparison.as_ref().and_then(|comparison| comparison.before.as_ref());
        before.is_some_and(|before| before.is_complete())
    }

    /// Whether only some rows of the previous period are loaded, so that its numbers can't be compared.
    pub(in crate::tui) fn is_compared_in_part(&self) -> bool {
        let before = self.comparison.as_ref().and_then(|comparison| comparison.before.as_ref());
        before.is_some_and(|before| !before.is_complete())
    }

    /// Returns the numbers of rows that only this and only the previous period has. `None` unless both are loaded
    /// completely.
    pub(in crate::tui) fn new_and_gone_counts(&self) -> Option<(usize, usize)> {
        let is_complete = self.is_compared() && self.report().is_some_and(|report| report.is_complete());
        self.comparison.as_ref().filter(|_| is_complete).map(|comparison| (comparison.new_count, comparison.gone.len()))
    }

    /// Returns how the compared number of a row has changed; `None` if nothing is compared. If one of the reports is
    /// partial or has no number, the change is unknown.
    pub(in crate::tui) fn change(&self, row: &R) -> Option<ViewsChange> {
        let comparison = self.comparison.as_ref()?;
        let report = comparison.before.as_ref()?;
        let number = |row: &R| row.compared().and_then(Count::value);
        let before = comparison.positions.get(row.key()).and_then(|at| report.rows.get(*at));
        Some(match (number(row), before.map(number)) {
            (Some(now), None) if report.is_complete() => ViewsChange::New(now),
            (Some(now), Some(Some(before))) if now.is_zero() => ViewsChange::Gone(before),
            (Some(now), Some(Some(before))) => ViewsChange::InBoth { now, before },
            _ => ViewsChange::Unknown,
        })
    }

    /// Stops waiting for an answer, because none was requested.
    pub(in crate::tui) fn stop_waiting(&mut self) {
        self.report = self.report.shown().cloned().map_or(Load::Idle, Load::Ready);
    }

    /// Shows the progress of a load. It may arrive after the end of the load, and is then ignored.
    pub(in crate::tui) fn progressed(&mut self, progress: RowsProgress) {
        if self.range == Some(progress.range) && self.report.is_loading() {
            self.progress = Some(progress).filter(|progress| !progress.is_complete);
        }
    }

    fn show(&mut self, report: Arc<RowsReport<R>>, now: Time) {
        let (selected, as_of) = (self.selected_identity(), report.as_of);
        self.report.finish(Ok(Timed { value: report, as_of }), now);
        self.find_gone_rows();
        self.arrange_around(selected.as_deref());
    }

    fn selected_identity(&self) -> Option<String> {
        self.selected().map(|row| row.identity().to_owned())
    }

    /// Filters and sorts the rows, and selects the row with this identity.
    fn arrange_around(&mut self, selected: Option<&str>) {
        let report = self.report.shown().map(|report| Arc::clone(&report.value));
        let comparison = self.comparison.as_ref();
        let gone = comparison.map_or(&[][..], |comparison| comparison.gone.as_slice());
        let rows = Rows { loaded: report.as_ref().map_or(&[], |report| report.rows.as_slice()), gone };
        self.list.arrange(&rows, selected, |row| comparison.is_some_and(|comparison| comparison.is_new(row)));
    }

    pub(in crate::tui) fn report(&self) -> Option<&Arc<RowsReport<R>>> {
        self.report.shown().map(|report| &report.value)
    }

    pub(in crate::tui) fn is_loading(&self) -> bool {
        self.report.is_loading()
    }

    pub(in crate::tui) fn progress(&self) -> Option<RowsProgress> {
        self.progress
    }

    pub(in crate::tui) fn failure(&self) -> Option<&Failure> {
        self.report.failure()
    }

    pub(in crate::tui) fn range(&self) -> Option<DateRange> {
        self.range
    }
}

impl<R: FieldedRow> ListTab for RowsTab<R> {
    type Row = R;

    fn list(&self) -> &RowList<R> {
        &self.list
    }

    fn list_mut(&mut self) -> &mut RowList<R> {
        &mut self.list
    }

    fn all_rows(&self) -> Rows<'_, R> {
        Rows {
            loaded: self.report.shown().map_or(&[], |report| report.value.rows.as_slice()),
            gone: self.comparison.as_ref().map_or(&[], |comparison| comparison.gone.as_slice()),
        }
    }

    fn arrange(&mut self) {
        let selected = self.selected_identity();
        self.arrange_around(selected.as_deref());
    }
}

impl<R: FieldedRow> RowsComparison<R> {
    /// Whether the previous period doesn't have this row. Unknown, and so false, unless all of its rows are loaded.
    fn is_new(&self, row: &R) -> bool {
        self.before.as_ref().is_some_and(|before| before.is_complete()) && !self.positions.contains_key(row.key())
    }
}
