//! The state of a report with rows of one kind: what is loaded, and which rows are shown in which order.

use super::messages::{AnalyticsEffect, RowsMsg};
use crate::model::Time;
use crate::model::analytics::fields::{Field, FieldValue, FieldedRow, sort_rows};
use crate::model::analytics::filter::RowFilter;
use crate::model::analytics::{AnalyticsRow, RowsPlan, RowsProgress, RowsReport};
use crate::model::comparison::ViewsChange;
use crate::model::failure::Failure;
use crate::model::load::{Load, Timed};
use crate::model::period::DateRange;
use crate::model::report::LoadEndReason;
use crate::model::text::CleanText;
use crate::model::views::Count;
use crate::tui::msg::Effect;
use crate::tui::widgets::list_state::ListState;
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
    /// The indices of the shown rows, in their order.
    shown: Vec<usize>,
    pub(in crate::tui) list: ListState,
    /// The index of the field by which the rows are sorted.
    sort: usize,
    is_ascending: bool,
    filter_text: String,
    filter: RowFilter<R>,
    marks: HashSet<CleanText>,
    comparison: Option<RowsComparison<R>>,
    /// The numbers above the table.
    pub(in crate::tui) summary: String,
    /// The number that the longest bar stands for.
    pub(in crate::tui) full_bar: f64,
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
            shown: Vec::new(),
            list: ListState::default(),
            sort: R::FIELDS.iter().position(|field| field.name == R::DEFAULT_SORT).unwrap_or(0),
            is_ascending: false,
            filter_text: String::new(),
            filter: RowFilter::default(),
            marks: HashSet::new(),
            comparison: None,
            summary: String::new(),
            full_bar: 0.0,
        }
    }
}

/// The rows of a report, followed by those that only the previous period has.
#[derive(Debug)]
struct AllRows<'a, R> {
    listed: &'a [R],
    gone: &'a [R],
}

impl<'a, R> AllRows<'a, R> {
    fn iter(&self) -> impl Iterator<Item = &'a R> + use<'a, R> {
        self.listed.iter().chain(self.gone)
    }

    fn get(&self, at: usize) -> Option<&'a R> {
        self.listed.get(at).or_else(|| self.gone.get(at.checked_sub(self.listed.len())?))
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
        if self.comparison.take().is_some() {
            self.arrange();
            return None;
        }
        let range = self.range?.step(-1)?;
        self.comparison =
            Some(RowsComparison { range, before: None, positions: HashMap::new(), gone: Vec::new(), new_count: 0 });
        Some(Effect::Analytics(AnalyticsEffect::LoadCached(R::KIND, range)))
    }

    fn show_before(&mut self, before: Arc<RowsReport<R>>) {
        let Some(comparison) = &mut self.comparison else { return };
        comparison.positions = before.rows.iter().enumerate().map(|(at, row)| (row.key().clone(), at)).collect();
        comparison.before = Some(before);
        self.find_gone_rows();
        self.arrange();
    }

    /// Finds the rows that only the previous period has. While the current period is partial, they may still come.
    fn find_gone_rows(&mut self) {
        let now = self.report.shown().map(|report| Arc::clone(&report.value)).filter(|now| now.is_complete());
        let Some(comparison) = &mut self.comparison else { return };
        comparison.gone.clear();
        let (Some(now), Some(before)) = (now, &comparison.before) else { return };
        let known: HashSet<&CleanText> = now.rows.iter().map(AnalyticsRow::key).collect();
        let gone = before.rows.iter().filter(|row| !known.contains(row.key()));
        comparison.gone = gone.filter_map(FieldedRow::gone).collect();
        let is_new = |row: &&R| before.is_complete() && !comparison.positions.contains_key(row.key());
        comparison.new_count = now.rows.iter().filter(is_new).count();
    }

    /// Returns the compared range; `None` if nothing is compared.
    pub(in crate::tui) fn compared_range(&self) -> Option<DateRange> {
        self.comparison.as_ref().map(|comparison| comparison.range)
    }

    /// Returns the numbers of rows that only this and only the previous period has.
    pub(in crate::tui) fn new_and_gone_counts(&self) -> (usize, usize) {
        self.comparison.as_ref().map_or((0, 0), |comparison| (comparison.new_count, comparison.gone.len()))
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
        let as_of = report.as_of;
        self.report.finish(Ok(Timed { value: report, as_of }), now);
        self.find_gone_rows();
        self.arrange();
    }

    /// Filters and sorts the rows. The selection stays on its row if that is still shown.
    fn arrange(&mut self) {
        let selected = self.selected().map(|row| row.key().clone());
        let report = self.report.shown().map(|report| Arc::clone(&report.value));
        let gone = self.comparison.as_ref().map_or(&[][..], |comparison| comparison.gone.as_slice());
        let rows = AllRows { listed: report.as_ref().map_or(&[], |report| report.rows.as_slice()), gone };
        let mut order: Vec<(usize, &R)> = rows.iter().enumerate().filter(|(_, row)| self.filter.passes(row)).collect();
        if let Some(field) = self.sort_field() {
            order = sort_rows(order, |(_, row)| row, field, self.is_ascending);
        }
        self.shown = order.into_iter().map(|(at, _)| at).collect();
        self.list.set_len(self.shown.len());
        let at = selected.and_then(|key| self.rows().position(|row| *row.key() == key));
        self.list.select(at.unwrap_or(0));
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

    fn all_rows(&self) -> AllRows<'_, R> {
        AllRows {
            listed: self.report.shown().map_or(&[], |report| report.value.rows.as_slice()),
            gone: self.comparison.as_ref().map_or(&[], |comparison| comparison.gone.as_slice()),
        }
    }

    /// Returns the rows that are visible in `rows` lines, each with whether it is selected.
    pub(in crate::tui) fn visible(&self, rows: usize) -> impl Iterator<Item = (&R, bool)> {
        let all = self.all_rows();
        let visible = self.list.visible(self.shown.iter(), rows);
        visible.filter_map(move |(at, is_selected)| Some((all.get(*at)?, is_selected)))
    }

    pub(in crate::tui) fn is_empty(&self) -> bool {
        self.shown.is_empty()
    }

    /// Returns the shown rows, in their order.
    pub fn rows(&self) -> impl Iterator<Item = &R> {
        let rows = self.all_rows();
        self.shown.iter().filter_map(move |at| rows.get(*at))
    }

    pub(in crate::tui) fn selected(&self) -> Option<&R> {
        self.all_rows().get(*self.shown.get(self.list.selected())?)
    }

    /// Returns the marked rows that are shown, otherwise the selected one.
    pub(in crate::tui) fn chosen(&self) -> Vec<&R> {
        let marked: Vec<&R> = self.rows().filter(|row| self.marks.contains(row.key())).collect();
        if marked.is_empty() { self.selected().into_iter().collect() } else { marked }
    }

    pub(in crate::tui) fn is_marked(&self, row: &R) -> bool {
        self.marks.contains(row.key())
    }

    pub(in crate::tui) fn marked_count(&self) -> usize {
        self.marks.len()
    }

    /// Marks or unmarks the selected row.
    pub(in crate::tui) fn toggle_mark(&mut self) {
        let Some(key) = self.selected().map(|row| row.key().clone()) else { return };
        if !self.marks.remove(&key) {
            self.marks.insert(key);
        }
    }

    pub(in crate::tui) fn clear_marks(&mut self) {
        self.marks.clear();
    }

    pub(in crate::tui) fn filter_text(&self) -> &str {
        &self.filter_text
    }

    pub(in crate::tui) fn filter_problem(&self) -> Option<&str> {
        self.filter.problem()
    }

    pub(in crate::tui) fn set_filter(&mut self, text: &str) {
        text.clone_into(&mut self.filter_text);
        self.filter = RowFilter::parse(text);
        self.arrange();
    }

    fn sort_field(&self) -> Option<&'static Field<R>> {
        R::FIELDS.get(self.sort)
    }

    /// Returns the name of the field by which the rows are sorted, and whether the lowest value comes first.
    pub(in crate::tui) fn sort(&self) -> (&'static str, bool) {
        (self.sort_field().map_or("", |field| field.name), self.is_ascending)
    }

    /// Sorts by the next field that `is_column` names.
    pub(in crate::tui) fn sort_by_next(&mut self, is_column: impl Fn(&str) -> bool) {
        let next = (1..R::FIELDS.len()).map(|step| (self.sort + step) % R::FIELDS.len());
        let next = next.filter_map(|at| R::FIELDS.get(at)).find(|field| is_column(field.name));
        if let Some(next) = next {
            self.sort_by(next.name);
        }
    }

    /// Sorts by a field, texts in alphabetical order, other values from the highest. Reverses the order if the rows are
    /// already sorted by it.
    pub(in crate::tui) fn sort_by(&mut self, name: &str) {
        let Some(at) = R::FIELDS.iter().position(|field| field.name == name) else { return };
        let is_text =
            R::FIELDS.get(at).is_some_and(|field| matches!((field.value)(&R::default()), FieldValue::Text(_)));
        self.is_ascending = if at == self.sort { !self.is_ascending } else { is_text };
        self.sort = at;
        self.arrange();
        self.list.select(0);
    }

    pub(in crate::tui) fn reverse(&mut self) {
        self.is_ascending = !self.is_ascending;
        self.arrange();
    }
}
