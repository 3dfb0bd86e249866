//! The state of the tab with the pages that need work.

use super::messages::AnalyticsEffect;
use super::row_list::{ListTab, RowList, Rows};
use crate::model::Time;
use crate::model::analytics::fields::HasFields;
use crate::model::analytics::needs_work::{NeedsWorkRanking, PageSignals};
use crate::model::comparison::{ComparedRanges, Comparison};
use crate::model::load::{Load, Timed};
use crate::model::period::DateRange;
use crate::model::report::{LoadEndReason, LoadOutcome, LoadPlan, Report};
use crate::tui::msg::Effect;
use crate::tui::views::all_pages::AllPages;
use std::sync::Arc;

#[derive(Debug, Default)]
pub struct NeedsWorkTab {
    pub(super) range: Option<DateRange>,
    pub(super) views: Load<Arc<Report>>,
    /// The complete days of the range, and the days of the previous period that they are compared with.
    compared_ranges: Option<ComparedRanges>,
    /// The complete reports of the two compared ranges: first of the current one, then of the previous one.
    complete_views: [Option<Arc<Report>>; 2],
    /// The comparison of the two reports in `complete_views`; `None` until both are loaded.
    pub(in crate::tui) comparison: Option<Comparison>,
    pub(super) ranking: NeedsWorkRanking,
    pub(super) list: RowList<PageSignals>,
}

impl NeedsWorkTab {
    /// Shows this range, with the change between `compared_ranges`. Returns the ranges whose cached page views have to
    /// be read, or none if all of this is already shown.
    pub(super) fn show_range(&mut self, range: DateRange, compared_ranges: Option<ComparedRanges>) -> Vec<DateRange> {
        if (self.range, self.compared_ranges) == (Some(range), compared_ranges) {
            return Vec::new();
        }
        let list = std::mem::take(&mut self.list);
        *self = Self { range: Some(range), compared_ranges, list, ..Self::default() };
        self.filter_and_sort();
        self.shown_and_compared_ranges()
    }

    /// Returns the range on screen, and the ranges that are compared.
    fn shown_and_compared_ranges(&self) -> Vec<DateRange> {
        let compared = self.compared_ranges.into_iter().flat_map(|ranges| [ranges.current, ranges.previous]);
        let compared = compared.filter(|range| self.range != Some(*range));
        self.range.into_iter().chain(compared).collect()
    }

    /// Whether the page views of this range are shown or compared.
    pub(in crate::tui) fn uses_views_of(&self, range: DateRange) -> bool {
        self.shown_and_compared_ranges().contains(&range)
    }

    /// Uses page views that the Pages tab has loaded, if they are newer or more complete. Returns whether any were
    /// used.
    pub(super) fn use_views_of_pages_tab(&mut self, pages: &AllPages, now: Time) -> bool {
        let ranges = self.shown_and_compared_ranges();
        let known: Vec<&Arc<Report>> = ranges.into_iter().filter_map(|range| pages.report(range)).collect();
        known.into_iter().filter(|report| self.use_views(report, now)).count() > 0
    }

    /// Uses page views that were read from the cache. Ignores page views of a range that is neither shown nor compared.
    pub(super) fn set_cached_views(&mut self, report: Option<Arc<Report>>, now: Time) {
        if let Some(report) = report {
            self.use_views(&report, now);
        }
    }

    /// Uses page views of a range that is shown or compared, if they are newer or more complete. Returns whether they
    /// were used.
    fn use_views(&mut self, report: &Arc<Report>, now: Time) -> bool {
        let is_better = |known: Option<&Report>| {
            known.is_none_or(|known| {
                (report.complete && !known.complete)
                    || (report.complete == known.complete && report.as_of > known.as_of)
            })
        };
        let mut is_used = false;
        if self.range == Some(report.range) && is_better(self.views()) {
            self.show_views(Arc::clone(report), now);
            is_used = true;
        }
        let compared = self.compared_ranges.map(|ranges| [ranges.current, ranges.previous]);
        for (known, range) in self.complete_views.iter_mut().zip(compared.into_iter().flatten()) {
            if range == report.range && report.complete && is_better(known.as_deref()) {
                *known = Some(Arc::clone(report));
                is_used = true;
            }
        }
        if let [Some(current), Some(previous)] = &self.complete_views {
            self.comparison = Some(Comparison { current: Arc::clone(current), previous: Arc::clone(previous) });
        }
        is_used
    }

    /// Returns the effect that loads the page views, from their start or continuing a partial load.
    pub(super) fn load_views(&mut self, max_requests: u32, from_start: bool) -> Option<Effect> {
        let plan = LoadPlan { range: self.range?, from_start, max_requests, stop_at_percent: None };
        self.views.start();
        Some(Effect::Analytics(AnalyticsEffect::LoadViews(plan)))
    }

    /// Stores the outcome of loading page views. Ignores the outcome for another range.
    pub(super) fn apply_loaded_views(&mut self, range: DateRange, outcome: LoadOutcome, now: Time) {
        if self.range != Some(range) {
            return;
        }
        if let Some(report) = outcome.report {
            self.use_views(&report, now);
        }
        if let LoadEndReason::Failed(failure) = outcome.end_reason {
            self.views.finish(Err(failure), now);
        } else if self.views.is_loading() {
            // A load that doesn't complete returns the older complete report, which is shown already.
            self.views = self.views.shown().cloned().map_or(Load::Idle, Load::Ready);
        }
    }

    fn show_views(&mut self, report: Arc<Report>, now: Time) {
        let as_of = report.as_of;
        self.views.finish(Ok(Timed { value: report, as_of }), now);
    }

    pub(super) fn views(&self) -> Option<&Report> {
        self.views.shown().map(|views| views.value.as_ref())
    }

    /// Shows these pages. The selection stays on its page, or on the first row until the user has moved it.
    pub(super) fn show(&mut self, ranking: NeedsWorkRanking) {
        let selected = self.selected_identity().filter(|_| self.list.state.selected() > 0);
        self.ranking = ranking;
        self.filter_sort_and_select(selected.as_deref());
    }

    fn selected_identity(&self) -> Option<String> {
        self.selected().map(|page| page.identity().to_owned())
    }

    fn filter_sort_and_select(&mut self, selected: Option<&str>) {
        self.list.filter_and_sort(&Rows { loaded_rows: &self.ranking.pages, gone_rows: &[] }, selected, |_| false);
    }
}

impl ListTab for NeedsWorkTab {
    type Row = PageSignals;

    fn list(&self) -> &RowList<PageSignals> {
        &self.list
    }

    fn list_mut(&mut self) -> &mut RowList<PageSignals> {
        &mut self.list
    }

    fn all_rows(&self) -> Rows<'_, PageSignals> {
        Rows { loaded_rows: &self.ranking.pages, gone_rows: &[] }
    }

    fn filter_and_sort(&mut self) {
        let selected = self.selected_identity();
        self.filter_sort_and_select(selected.as_deref());
    }
}
