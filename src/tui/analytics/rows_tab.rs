//! The state of a report with rows of one kind: what is loaded and shown, and the comparison with the previous period.

use super::messages::{AnalyticsEffect, RowsMsg};
use super::row_list::{ListTab, RowList, Rows};
use crate::model::Time;
use crate::model::analytics::fields::FieldedRow;
use crate::model::analytics::{AnalyticsRow, RowsLoadPlan, RowsLoadProgress, RowsReport};
use crate::model::comparison::{ComparedRanges, ViewsChange};
use crate::model::failure::Failure;
use crate::model::load::{Load, Timed};
use crate::model::period::DateRange;
use crate::model::report::LoadEndReason;
use crate::model::text::CleanText;
use crate::model::views::{Count, DecimalCount};
use crate::tui::msg::Effect;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// The state of a report.
#[derive(Debug)]
pub struct RowsTab<R: FieldedRow> {
    /// The range that is shown or being read; `None` until the tab is opened.
    range: Option<DateRange>,
    report: Load<Arc<RowsReport<R>>>,
    /// Whether the report has to be requested once the tab is shown, because the cached one is missing or not fresh.
    is_load_postponed: bool,
    /// The progress of a running load.
    progress: Option<RowsLoadProgress>,
    list: RowList<R>,
    comparison: Option<RowsComparison<R>>,
    /// The numbers above the table.
    pub(in crate::tui) summary: Vec<SummaryNumber>,
    /// The number that a bar of full length stands for.
    pub(in crate::tui) bar_maximum: f64,
}

/// A number above the table.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::tui) struct SummaryNumber {
    pub name: &'static str,
    pub value: DecimalCount,
    /// How the number has changed; `None` unless both compared reports are complete.
    pub change: Option<ViewsChange>,
}

/// A comparison with the previous period.
#[derive(Debug)]
struct RowsComparison<R> {
    ranges: ComparedRanges,
    /// The report of the complete days of the shown range; `None` until it is loaded.
    current_report: Option<KeyedReport<R>>,
    /// The report of the previous period; `None` until it is loaded.
    previous_report: Option<KeyedReport<R>>,
    /// The rows that only the previous period has.
    gone_rows: Vec<R>,
    /// The number of rows that the previous period doesn't have.
    new_row_count: usize,
    /// The ranges whose reports are being read from the cache.
    ranges_being_read: Vec<DateRange>,
    /// The ranges whose reports are not cached or not fresh, and are requested only after a confirmation.
    ranges_to_confirm: Vec<DateRange>,
}

/// A report whose rows can be found by their keys.
#[derive(Debug)]
struct KeyedReport<R> {
    report: Arc<RowsReport<R>>,
    positions: HashMap<CleanText, usize>,
}

impl<R: FieldedRow> KeyedReport<R> {
    fn new(report: Arc<RowsReport<R>>) -> Self {
        let positions = report.rows.iter().enumerate().map(|(at, row)| (row.key().clone(), at)).collect();
        Self { report, positions }
    }

    fn is_complete(&self) -> bool {
        self.report.is_complete()
    }

    /// Returns the count to compare (see [`FieldedRow::compared_count`]) of the row with this key: 0 if a complete
    /// report doesn't have the row, and `None` if the count is unknown.
    fn compared_count_of_key(&self, key: &CleanText) -> Option<DecimalCount> {
        match self.positions.get(key).and_then(|at| self.report.rows.get(*at)) {
            Some(row) => row.compared_count().and_then(Count::value),
            None => self.is_complete().then_some(DecimalCount::ZERO),
        }
    }
}

impl<R: FieldedRow> Default for RowsTab<R> {
    fn default() -> Self {
        Self {
            range: None,
            report: Load::Idle,
            is_load_postponed: false,
            progress: None,
            list: RowList::default(),
            comparison: None,
            summary: Vec::new(),
            bar_maximum: 0.0,
        }
    }
}

impl<R: FieldedRow> RowsTab<R> {
    /// Shows this range. Returns the effect that reads its report from the cache, or `None` if the range is already
    /// shown.
    pub(in crate::tui) fn show_range(&mut self, range: DateRange) -> Option<Effect> {
        if self.range == Some(range) {
            return None;
        }
        self.range = Some(range);
        // Drops the rows of the previous range, because they would be wrong under the heading with the new range.
        self.report = Load::Loading { previous: None };
        self.is_load_postponed = false;
        self.progress = None;
        self.comparison = None;
        self.list.limit_to_group(None);
        self.filter_and_sort();
        Some(Effect::Analytics(AnalyticsEffect::LoadCached(R::KIND, range)))
    }

    /// Shows this range in the tab on screen. Returns the effect that reads its report from the cache or, if the cache
    /// was read while the tab was hidden, the effect that requests the report.
    pub(in crate::tui) fn show_range_on_screen(&mut self, range: DateRange) -> Option<Effect> {
        let is_load_due = self.range == Some(range) && self.is_load_postponed;
        if is_load_due { self.load(1, false) } else { self.show_range(range) }
    }

    /// Ends the loading state. The report is requested once the tab is shown.
    pub(in crate::tui) fn postpone_load(&mut self) {
        self.clear_loading_state();
        self.is_load_postponed = true;
    }

    /// Returns the effect that loads the report from its start, or continues a partial load.
    pub(in crate::tui) fn load(&mut self, max_requests: u32, from_start: bool) -> Option<Effect> {
        let range = self.range?;
        self.is_load_postponed = false;
        self.report.start();
        Some(Effect::Analytics(AnalyticsEffect::Load(R::KIND, RowsLoadPlan { range, max_requests, from_start })))
    }

    /// Returns the effect that stops the running load; `None` if no load is running or it has made no progress yet.
    pub(in crate::tui) fn stop(&self) -> Option<Effect> {
        let range = self.range.filter(|_| self.report.is_loading() && self.progress.is_some())?;
        Some(Effect::Analytics(AnalyticsEffect::Stop(R::KIND, range)))
    }

    /// Applies a message. If it shows that the report of the range on screen is not cached or not fresh, returns the
    /// effect that requests this report with a single request.
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
                self.is_load_postponed = false;
                self.progress = None;
                if let Some(report) = outcome.report {
                    self.show(report, now);
                }
                if let LoadEndReason::Failed(failure) = outcome.end_reason {
                    self.report.start();
                    self.report.finish(Err(failure), now);
                } else if self.report.is_loading() {
                    self.clear_loading_state();
                }
                None
            }
            RowsMsg::Cached { range, report, is_fresh } if self.compares(range) => {
                if let Some(comparison) = &mut self.comparison {
                    comparison.ranges_being_read.retain(|other| *other != range);
                    comparison.ranges_to_confirm.extend(Some(range).filter(|_| report.is_none() || !is_fresh));
                }
                if let Some(report) = report.filter(|_| is_fresh) {
                    self.show_compared(range, report);
                }
                None
            }
            RowsMsg::Ended { range, outcome } if self.compares(range) => {
                match outcome.report {
                    Some(report) => self.show_compared(range, report),
                    None => self.stop_comparing(),
                }
                None
            }
            RowsMsg::Cached { .. } | RowsMsg::Ended { .. } => None,
        }
    }

    /// Whether a newer report of this range should be shown. True if the range is on screen and not being loaded, or if
    /// it is compared.
    pub(in crate::tui) fn accepts_newer_report(&self, range: DateRange) -> bool {
        (self.range == Some(range) && !self.report.is_loading()) || self.compares(range)
    }

    fn compares(&self, range: DateRange) -> bool {
        let ranges = self.comparison.as_ref().map(|comparison| comparison.ranges);
        ranges.is_some_and(|ranges| [ranges.current, ranges.previous].contains(&range))
    }

    /// Whether the report of this range is being read from the cache for a comparison.
    pub(in crate::tui) fn is_reading_compared(&self, range: DateRange) -> bool {
        self.comparison.as_ref().is_some_and(|comparison| comparison.ranges_being_read.contains(&range))
    }

    /// Returns the ranges of a new comparison whose reports have to be requested, because they are not cached or not
    /// fresh. Empty until the cache was read.
    pub(in crate::tui) fn compared_ranges_to_confirm(&self) -> &[DateRange] {
        let comparison = self.comparison.as_ref().filter(|comparison| comparison.ranges_being_read.is_empty());
        comparison.map_or(&[], |comparison| &comparison.ranges_to_confirm)
    }

    /// Returns the compared ranges of which only some rows are loaded; none until both reports are loaded.
    pub(in crate::tui) fn partial_compared_ranges(&self) -> Vec<DateRange> {
        let comparison = self.comparison.as_ref().filter(|comparison| comparison.is_loaded());
        let reports =
            comparison.into_iter().flat_map(|comparison| [&comparison.current_report, &comparison.previous_report]);
        let reports = reports.flatten().map(|keyed| &keyed.report);
        reports.filter(|report| !report.is_complete()).map(|report| report.range).collect()
    }

    /// Requests the reports of a comparison that are not cached or not fresh. If there are none, requests the missing
    /// rows of the reports that are partial. Sends at most `max_requests` requests for each report. Returns the
    /// effects.
    pub(in crate::tui) fn load_compared(&mut self, max_requests: u32) -> Vec<Effect> {
        let unconfirmed = self.comparison.as_mut().map(|comparison| std::mem::take(&mut comparison.ranges_to_confirm));
        let unconfirmed = unconfirmed.filter(|ranges| !ranges.is_empty());
        let ranges = unconfirmed.unwrap_or_else(|| self.partial_compared_ranges());
        let plan = |range| RowsLoadPlan { range, max_requests, from_start: false };
        let load = |range| Effect::Analytics(AnalyticsEffect::Load(R::KIND, plan(range)));
        ranges.into_iter().map(load).collect()
    }

    /// Compares the complete days of the shown range with the previous period, or with a range that the user chose.
    /// Returns the effects that read from the cache those reports that are not on screen.
    pub(in crate::tui) fn compare(&mut self, ranges: ComparedRanges) -> Vec<Effect> {
        let not_shown = [ranges.current, ranges.previous].into_iter().filter(|range| self.range != Some(*range));
        let ranges_to_read: Vec<DateRange> = not_shown.collect();
        self.comparison = Some(RowsComparison {
            ranges,
            current_report: None,
            previous_report: None,
            gone_rows: Vec::new(),
            new_row_count: 0,
            ranges_being_read: ranges_to_read.clone(),
            ranges_to_confirm: Vec::new(),
        });
        if let Some(shown) = self.report().filter(|_| self.range == Some(ranges.current)).cloned() {
            self.show_compared(ranges.current, shown);
        }
        ranges_to_read.into_iter().map(|range| Effect::Analytics(AnalyticsEffect::LoadCached(R::KIND, range))).collect()
    }

    pub(in crate::tui) fn stop_comparing(&mut self) {
        let selected = self.selected_identity();
        self.comparison = None;
        self.filter_sort_and_select(selected.as_deref());
    }

    /// Adds the loaded report of one of the compared ranges to the comparison.
    fn show_compared(&mut self, range: DateRange, report: Arc<RowsReport<R>>) {
        let selected = self.selected_identity();
        let Some(comparison) = &mut self.comparison else { return };
        let place = if comparison.ranges.current == range {
            &mut comparison.current_report
        } else {
            &mut comparison.previous_report
        };
        *place = Some(KeyedReport::new(report));
        self.find_new_and_gone_rows();
        self.filter_sort_and_select(selected.as_deref());
    }

    /// Finds the rows that only the previous period has, and counts the rows that only the shown range has. Finds none
    /// while the report of the shown range is partial: a row that is not loaded yet would look as if only the previous
    /// period had it.
    fn find_new_and_gone_rows(&mut self) {
        let current = self.report.shown().map(|report| Arc::clone(&report.value)).filter(|report| report.is_complete());
        let Some(comparison) = &mut self.comparison else { return };
        comparison.gone_rows.clear();
        comparison.new_row_count = 0;
        if !comparison.is_loaded() {
            return;
        }
        let (Some(current), Some(previous)) = (current, &comparison.previous_report) else { return };
        let known: HashSet<&CleanText> = current.rows.iter().map(AnalyticsRow::key).collect();
        let gone = previous.report.rows.iter().filter(|row| !known.contains(row.key()));
        comparison.gone_rows = gone.filter_map(FieldedRow::with_zero_counts).collect();
        comparison.new_row_count = current.rows.iter().filter(|row| comparison.is_new(row)).count();
    }

    /// Returns the compared ranges; `None` if nothing is compared, or if the user has not confirmed the cost of the
    /// comparison.
    pub(in crate::tui) fn compared_ranges(&self) -> Option<ComparedRanges> {
        let comparison = self.comparison.as_ref().filter(|comparison| comparison.ranges_to_confirm.is_empty());
        comparison.map(|comparison| comparison.ranges)
    }

    /// Computes the numbers above the table. `numbers` returns the numbers of a report.
    pub(in crate::tui) fn update_summary(&mut self, numbers: fn(&RowsReport<R>) -> Vec<(&'static str, DecimalCount)>) {
        let Some(report) = self.report() else { return };
        let compared = self.comparison.as_ref().filter(|comparison| comparison.is_complete());
        let compared = compared.and_then(|comparison| {
            let of = |report: &KeyedReport<R>| numbers(&report.report);
            Some((comparison.ranges, of(comparison.current_report.as_ref()?), of(comparison.previous_report.as_ref()?)))
        });
        let change = |name| {
            let (ranges, current, previous) = compared.as_ref()?;
            let of = |numbers: &[(&str, DecimalCount)]| {
                numbers.iter().find(|(known, _)| *known == name).map(|found| found.1)
            };
            let (current, previous) =
                (ranges.comparable_current(of(current)?), ranges.comparable_previous(of(previous)?));
            Some(ViewsChange::InBoth { current, previous })
        };
        let number = |(name, value)| SummaryNumber { name, value, change: change(name) };
        self.summary = numbers(report).into_iter().map(number).collect();
    }

    /// Whether all rows of the compared reports are loaded, so that new rows are known.
    pub(in crate::tui) fn is_comparison_complete(&self) -> bool {
        self.comparison.as_ref().is_some_and(RowsComparison::is_complete)
    }

    /// Whether both compared reports are loaded, but rows are missing in at least one of them.
    pub(in crate::tui) fn is_comparison_partial(&self) -> bool {
        self.comparison.as_ref().is_some_and(|comparison| comparison.is_loaded() && !comparison.is_complete())
    }

    /// Returns the compared ranges with the reports of the current and the previous one; `None` until both are loaded.
    pub(super) fn compared_reports(&self) -> Option<(ComparedRanges, &RowsReport<R>, &RowsReport<R>)> {
        let comparison = self.comparison.as_ref()?;
        Some((
            comparison.ranges,
            &comparison.current_report.as_ref()?.report,
            &comparison.previous_report.as_ref()?.report,
        ))
    }

    /// Returns the number of rows that only the current period has, and the number of rows that only the previous
    /// period has. `None` unless the reports of both periods are complete.
    pub(in crate::tui) fn new_and_gone_counts(&self) -> Option<(usize, usize)> {
        let is_complete = self.is_comparison_complete() && self.report().is_some_and(|report| report.is_complete());
        self.comparison
            .as_ref()
            .filter(|_| is_complete)
            .map(|comparison| (comparison.new_row_count, comparison.gone_rows.len()))
    }

    /// Returns how the compared number of a row has changed; `None` if nothing is compared yet. The change is
    /// unknown if a partial report doesn't have the row, or if one of the reports has no number for it.
    pub(in crate::tui) fn change(&self, row: &R) -> Option<ViewsChange> {
        let RowsComparison { ranges, current_report: Some(current), previous_report: Some(previous), .. } =
            self.comparison.as_ref()?
        else {
            return None;
        };
        if previous.is_complete() && !previous.positions.contains_key(row.key()) {
            return Some(row.compared_count().and_then(Count::value).map_or(ViewsChange::Unknown, ViewsChange::New));
        }
        Some(match (current.compared_count_of_key(row.key()), previous.compared_count_of_key(row.key())) {
            (Some(current), Some(previous)) if current.is_zero() => ViewsChange::Gone(previous),
            (Some(current), Some(previous)) => ViewsChange::InBoth {
                current: ranges.comparable_current(current),
                previous: ranges.comparable_previous(previous),
            },
            _ => ViewsChange::Unknown,
        })
    }

    /// Ends the loading state without a new report. The previous report, if any, stays.
    pub(in crate::tui) fn clear_loading_state(&mut self) {
        self.report = self.report.shown().cloned().map_or(Load::Idle, Load::Ready);
    }

    /// Shows the progress of a load. Ignores progress that arrives after the end of the load.
    pub(in crate::tui) fn show_progress(&mut self, progress: RowsLoadProgress) {
        if self.range == Some(progress.range) && self.report.is_loading() {
            self.progress = Some(progress).filter(|progress| !progress.is_complete);
        }
    }

    fn show(&mut self, report: Arc<RowsReport<R>>, now: Time) {
        let (selected, as_of) = (self.selected_identity(), report.as_of);
        if let Some(comparison) = self.comparison.as_mut().filter(|of| Some(of.ranges.current) == self.range) {
            comparison.current_report = Some(KeyedReport::new(Arc::clone(&report)));
        }
        self.report.finish(Ok(Timed { value: report, as_of }), now);
        self.find_new_and_gone_rows();
        self.filter_sort_and_select(selected.as_deref());
    }

    fn selected_identity(&self) -> Option<String> {
        self.selected().map(|row| row.identity().to_owned())
    }

    /// Filters and sorts the rows, and selects the row with this identity.
    fn filter_sort_and_select(&mut self, selected: Option<&str>) {
        let report = self.report.shown().map(|report| Arc::clone(&report.value));
        let comparison = self.comparison.as_ref();
        let gone_rows = comparison.map_or(&[][..], |comparison| comparison.gone_rows.as_slice());
        let rows = Rows { loaded_rows: report.as_ref().map_or(&[], |report| report.rows.as_slice()), gone_rows };
        self.list.filter_and_sort(&rows, selected, |row| comparison.is_some_and(|comparison| comparison.is_new(row)));
    }

    pub(in crate::tui) fn report(&self) -> Option<&Arc<RowsReport<R>>> {
        self.report.shown().map(|report| &report.value)
    }

    pub(in crate::tui) fn is_loading(&self) -> bool {
        self.report.is_loading()
    }

    pub(in crate::tui) fn progress(&self) -> Option<RowsLoadProgress> {
        self.progress
    }

    /// Returns why the report could not be loaded. Ignores a rate limit whose waiting time is over.
    pub(in crate::tui) fn failure(&self, now: Time) -> Option<&Failure> {
        self.report.failure().filter(|failure| !failure.is_limit_over(now))
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
            loaded_rows: self.report.shown().map_or(&[], |report| report.value.rows.as_slice()),
            gone_rows: self.comparison.as_ref().map_or(&[], |comparison| comparison.gone_rows.as_slice()),
        }
    }

    fn filter_and_sort(&mut self) {
        let selected = self.selected_identity();
        self.filter_sort_and_select(selected.as_deref());
    }
}

impl<R: FieldedRow> RowsComparison<R> {
    fn is_loaded(&self) -> bool {
        self.current_report.is_some() && self.previous_report.is_some()
    }

    fn is_complete(&self) -> bool {
        [&self.current_report, &self.previous_report]
            .into_iter()
            .all(|report| report.as_ref().is_some_and(KeyedReport::is_complete))
    }

    /// Whether the previous period doesn't have this row. Returns false until all rows of the previous period are
    /// loaded.
    fn is_new(&self, row: &R) -> bool {
        let previous = self.previous_report.as_ref().filter(|previous| self.is_loaded() && previous.is_complete());
        previous.is_some_and(|previous| !previous.positions.contains_key(row.key()))
    }
}
