//! Shows, hides and loads the visitors of the pages.

use super::all_pages::REQUESTS_PER_CONFIRMATION;
use crate::model::Time;
use crate::model::analytics::{AnalyticsKind, RowsLoadPlan};
use crate::model::failure::Failure;
use crate::model::period::DateRange;
use crate::model::report::LoadEndReason;
use crate::model::views::PageRow;
use crate::tui::analytics::AnalyticsTab;
use crate::tui::confirm::{ConfirmAction, ConfirmDialog};
use crate::tui::format::plural;
use crate::tui::{AnalyticsEffect, App, Effect, RowsMsg, Screen, Severity};

/// Returns a plan that loads only the first rows, with one request.
fn single_request_plan(range: DateRange) -> RowsLoadPlan {
    RowsLoadPlan { range, max_requests: 1, from_start: true }
}

impl App {
    /// Shows or hides the visitors of the pages.
    pub(super) fn toggle_visitors(&mut self, now: Time) {
        let range = self.views.query().range;
        self.views.visitors.is_shown = !self.views.visitors.is_shown;
        self.views.visitors.drop_outdated_reports(range, now);
        self.update_visitors();
    }

    /// Updates the visitors in the table.
    fn update_visitors(&mut self) {
        let visitors = self.views.visitors.for_table();
        self.views.table.set_visitors(visitors);
        self.is_dirty = true;
    }

    /// If the table shows visitors, reads the visitors that it needs from the cache. For each range whose visitors turn
    /// out to be outdated or not cached, [`Self::apply_visitors_msg`] then sends one request.
    pub(in crate::tui) fn load_shown_visitors(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let is_visible = self.screen == Screen::Analytics && self.analytics.tab == AnalyticsTab::Pages;
        if !is_visible || !self.views.visitors.is_shown || self.views.as_of().is_none() {
            return;
        }
        let range = self.views.query().range;
        if self.views.visitors.has_range_changed(range) {
            self.views.visitors.drop_outdated_reports(range, now);
        }
        let compared = self.views.table.comparison().map(|comparison| comparison.ranges());
        let compared = compared.into_iter().flat_map(|ranges| [ranges.current, ranges.previous]);
        let ranges: Vec<DateRange> = [range].into_iter().chain(compared).collect();
        effects.extend(ranges.into_iter().filter_map(|range| self.views.visitors.read(range)));
    }

    /// If visitors are shown, loads those of the range on screen again: with one request, which returns only the first
    /// rows.
    pub(super) fn refresh_visitors(&mut self, effects: &mut Vec<Effect>) {
        let range = self.views.query().range;
        if self.views.visitors.is_shown && !self.views.visitors.is_loading(range) {
            effects.push(self.views.visitors.request(single_request_plan(range)));
        }
    }

    /// Whether visitors are shown but not loaded for all pages.
    pub(super) fn can_load_more_visitors(&self) -> bool {
        let report = self.views.visitors.report(self.views.query().range);
        self.views.visitors.is_shown && report.is_some_and(|report| !report.is_complete())
    }

    /// Asks whether to load the visitors of all pages of the range on screen, or reports that no requests are left.
    pub(super) fn ask_to_load_visitors(&mut self, now: Time) {
        let left = self.view_requests_left();
        if left == 0 {
            return self.notify_no_requests_left(now);
        }
        let range = self.views.query().range;
        let most = REQUESTS_PER_CONFIRMATION.min(left);
        let rows = self.views.visitors.report(range).map_or(0, |report| report.rows.len());
        let text = format!(
            "Load the visitors of all pages of {}, continuing after {}? Uses at least 1 request and at most {most} \
             ({left} left this hour). The service does not report how many pages there are.",
            range.format_dates(true),
            plural(rows, "page")
        );
        self.open(ConfirmDialog {
            text,
            on_yes: ConfirmAction::LoadAllRows { kind: AnalyticsKind::Visitors, max_requests: most, from_start: false },
        });
    }

    /// Loads the visitors of the range on screen after the user has confirmed the cost.
    pub(in crate::tui) fn load_visitors(&mut self, max_requests: u32, effects: &mut Vec<Effect>) {
        let range = self.views.query().range;
        let plan = RowsLoadPlan { range, max_requests, from_start: false };
        self.views.visitors.stoppable_range = (max_requests > 1).then_some(range);
        effects.push(self.views.visitors.request(plan));
    }

    /// Whether visitors are loaded with several requests, so that loading can be stopped.
    pub(super) fn can_stop_loading_visitors(&self) -> bool {
        self.views.visitors.stoppable_range.is_some()
    }

    /// Stops a load of visitors with several requests once its current request has its response. Returns whether there
    /// is such a load.
    pub(super) fn stop_loading_visitors(&mut self, effects: &mut Vec<Effect>) -> bool {
        let stop = |range| Effect::Analytics(AnalyticsEffect::Stop(AnalyticsKind::Visitors, range));
        let range = self.views.visitors.stoppable_range.take();
        effects.extend(range.map(stop));
        range.is_some()
    }

    /// Loads the site's visitors in these ranges, one after the other.
    pub(in crate::tui) fn load_visitor_totals(&mut self, ranges: Vec<DateRange>, effects: &mut Vec<Effect>) {
        let visitors = &mut self.views.visitors;
        visitors.totals.pending_ranges.clone_from(&ranges);
        visitors.queued_days = ranges.into();
        effects.extend(visitors.queued_days.front().copied().map(|range| visitors.request(single_request_plan(range))));
    }

    /// Reads the site's visitors in these ranges from the cache.
    pub(super) fn read_visitor_totals(&mut self, ranges: Vec<DateRange>, effects: &mut Vec<Effect>) {
        effects.extend(ranges.into_iter().filter_map(|range| self.views.visitors.read(range)));
    }

    pub(in crate::tui) fn apply_visitors_msg(&mut self, msg: RowsMsg<PageRow>, now: Time, effects: &mut Vec<Effect>) {
        let (RowsMsg::Cached { range, .. } | RowsMsg::Ended { range, .. }) = msg;
        let compared = self.views.table.comparison().map(|comparison| comparison.ranges());
        let mut compared = compared.into_iter().flat_map(|ranges| [ranges.current, ranges.previous]);
        let is_listed = range == self.views.query().range || compared.any(|other| other == range);
        let is_for_table = self.views.visitors.is_shown && is_listed;
        match msg {
            RowsMsg::Cached { range, report, is_fresh } => {
                let is_known = report.is_some() && is_fresh;
                self.views.visitors.apply_load_result(range, report, None, now);
                if !is_known && is_for_table {
                    effects.push(self.views.visitors.request(single_request_plan(range)));
                }
            }
            RowsMsg::Ended { range, outcome } => {
                let failure = match outcome.end_reason {
                    LoadEndReason::Failed(failure) => Some(failure),
                    _ => None,
                };
                self.views.visitors.stoppable_range.take_if(|loaded| *loaded == range);
                self.views.visitors.apply_load_result(range, outcome.report, failure.clone(), now);
                self.continue_visitor_totals(range, failure, now, effects);
            }
        }
        if is_for_table {
            self.update_visitors();
        }
        self.is_dirty = true;
    }

    /// If `range` is the day of the trend that is being requested, requests the next day. After a failure, shows the
    /// failure and requests no more days.
    fn continue_visitor_totals(
        &mut self,
        range: DateRange,
        failure: Option<Failure>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        let visitors = &mut self.views.visitors;
        if visitors.queued_days.front() != Some(&range) {
            return;
        }
        visitors.queued_days.pop_front();
        visitors.totals.pending_ranges.retain(|pending_ranges| *pending_ranges != range);
        if let Some(failure) = failure {
            visitors.queued_days.clear();
            visitors.totals.pending_ranges.clear();
            self.notify(Severity::Error, failure.message.as_str(), now);
        } else if let Some(next) = visitors.queued_days.front().copied() {
            effects.push(visitors.request(single_request_plan(next)));
        }
    }
}
