//! The state of the tab with the pages that need work.

use super::messages::AnalyticsEffect;
use super::row_list::{ListTab, RowList, Rows};
use crate::model::Time;
use crate::model::analytics::fields::HasFields;
use crate::model::analytics::needs_work::{NeedsWork, PageSignals};
use crate::model::load::{Load, Timed};
use crate::model::period::DateRange;
use crate::model::report::{LoadEndReason, LoadOutcome, LoadPlan, Report};
use crate::tui::msg::Effect;
use crate::tui::views::all_pages::AllPages;
use std::sync::Arc;

/// The state of the tab.
#[derive(Debug, Default)]
pub struct NeedsWorkTab {
    pub(super) range: Option<DateRange>,
    pub(super) views: Load<Arc<Report>>,
    pub(super) previous_views: Option<Arc<Report>>,
    pub(super) found: NeedsWork,
    pub(super) list: RowList<PageSignals>,
}

impl NeedsWorkTab {
    /// Shows this range. Returns the ranges whose cached page views have to be read, or none if it is already shown.
    pub(super) fn show_range(&mut self, range: DateRange) -> Vec<DateRange> {
        if self.range == Some(range) {
            return Vec::new();
        }
        let list = std::mem::take(&mut self.list);
        *self = Self { range: Some(range), list, ..Self::default() };
        self.arrange();
        [Some(range), range.step(-1)].into_iter().flatten().collect()
    }

    /// Takes over page views that the tab Pages has loaded, if they are newer or more complete. Returns whether it did.
    pub(super) fn share_views(&mut self, pages: &AllPages, now: Time) -> bool {
        let is_better = |known: &Arc<Report>, shown: Option<&Report>| {
            shown.is_none_or(|shown| {
                (known.complete && !shown.complete) || (known.complete == shown.complete && known.as_of > shown.as_of)
            })
        };
        let known = self.range.and_then(|range| pages.report(range)).filter(|known| is_better(known, self.views()));
        let before = self.range.and_then(|range| pages.complete_report(range.step(-1)?));
        let before = before.filter(|known| is_better(known, self.previous_views.as_deref()));
        let has_changed = known.is_some() || before.is_some();
        if let Some(before) = before {
            self.previous_views = Some(Arc::clone(before));
        }
        if let Some(known) = known {
            self.show_views(Arc::clone(known), now);
        }
        has_changed
    }

    /// Stores page views that were read from the cache. Ignores those of another range.
    pub(super) fn set_cached_views(&mut self, range: DateRange, report: Option<Arc<Report>>, now: Time) {
        let Some(report) = report else { return };
        if self.range == Some(range) {
            self.show_views(report, now);
        } else if self.range.and_then(|shown| shown.step(-1)) == Some(range) && report.complete {
            self.previous_views = Some(report);
        }
    }

    /// Requests page views. Returns the effect.
    pub(super) fn load_views(&mut self, from_start: bool) -> Option<Effect> {
        let plan = LoadPlan { range: self.range?, from_start, max_requests: 1, stop_at_percent: None };
        self.views.start();
        Some(Effect::Analytics(AnalyticsEffect::LoadViews(plan)))
    }

    /// Stores the outcome of a load. Ignores that of another range.
    pub(super) fn views_loaded(&mut self, range: DateRange, outcome: LoadOutcome, now: Time) {
        if self.range != Some(range) {
            return;
        }
        if let Some(report) = outcome.report {
            self.show_views(report, now);
        }
        if let LoadEndReason::Failed(failure) = outcome.end_reason {
            self.views.finish(Err(failure), now);
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
    pub(super) fn show(&mut self, found: NeedsWork) {
        let selected = self.selected_identity().filter(|_| self.list.state.selected() > 0);
        self.found = found;
        self.arrange_around(selected.as_deref());
    }

    fn selected_identity(&self) -> Option<String> {
        self.selected().map(|page| page.identity().to_owned())
    }

    fn arrange_around(&mut self, selected: Option<&str>) {
        self.list.arrange(&Rows { loaded: &self.found.pages, gone: &[] }, selected, |_| false);
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
        Rows { loaded: &self.found.pages, gone: &[] }
    }

    fn arrange(&mut self) {
        let selected = self.selected_identity();
        self.arrange_around(selected.as_deref());
    }
}
