//! The visitors of the pages beside their views. They come from a report of their own, which costs one more request for
//! each range, so they are requested only while they are shown.

use super::all_pages::REQUESTS_PER_CONFIRMATION;
use super::range_totals::RangeTotals;
use super::table::VisitorReports;
use crate::model::Time;
use crate::model::analytics::{AnalyticsKind, RowsPlan, RowsReport};
use crate::model::failure::Failure;
use crate::model::load::{Load, Timed};
use crate::model::period::DateRange;
use crate::model::report::LoadEndReason;
use crate::model::views::PageRow;
use crate::tui::analytics::AnalyticsTab;
use crate::tui::confirm::{ConfirmAction, ConfirmDialog};
use crate::tui::format::format_count;
use crate::tui::{AnalyticsEffect, App, Effect, RowsMsg, Screen, Severity};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// What is known about the visitors.
#[derive(Debug)]
pub struct Visitors {
    is_shown: bool,
    /// The reports that were read or requested, by their range.
    reports: HashMap<DateRange, Load<Arc<RowsReport<PageRow>>>>,
    /// The days of the trend that are requested, one after the other. The first one is in flight.
    queued: VecDeque<DateRange>,
    /// The visitors of the whole site, by range.
    totals: RangeTotals,
}

impl Default for Visitors {
    fn default() -> Self {
        Self {
            is_shown: false,
            reports: HashMap::new(),
            queued: VecDeque::new(),
            totals: RangeTotals { days_overlap: true, ..RangeTotals::default() },
        }
    }
}

impl Visitors {
    /// Whether the visitors are shown, even if they are still being loaded.
    pub fn is_shown(&self) -> bool {
        self.is_shown
    }

    /// Returns the visitors of the whole site.
    pub(super) fn totals(&self) -> &RangeTotals {
        &self.totals
    }

    /// Returns the report of a range.
    pub fn report(&self, range: DateRange) -> Option<&RowsReport<PageRow>> {
        self.reports.get(&range)?.shown().map(|report| report.value.as_ref())
    }

    /// Returns why the visitors of a range could not be loaded.
    pub(super) fn failure(&self, range: DateRange) -> Option<&Failure> {
        self.reports.get(&range)?.failure()
    }

    pub(super) fn is_loading(&self, range: DateRange) -> bool {
        self.reports.get(&range).is_some_and(Load::is_loading)
    }

    /// Returns the reports for the table; `None` if no visitors are shown.
    fn for_table(&self) -> Option<VisitorReports> {
        let known = self.reports.iter().filter_map(|(range, load)| Some((*range, Arc::clone(&load.shown()?.value))));
        self.is_shown.then(|| known.collect())
    }

    /// Returns the effect that reads the visitors of a range from the cache, unless that was done before.
    fn read(&mut self, range: DateRange) -> Option<Effect> {
        let load = self.reports.entry(range).or_default();
        if !matches!(load, Load::Idle) {
            return None;
        }
        load.start();
        Some(Effect::Analytics(AnalyticsEffect::LoadCached(AnalyticsKind::Visitors, range)))
    }

    fn request(&mut self, plan: RowsPlan) -> Effect {
        self.reports.entry(plan.range).or_default().start();
        Effect::Analytics(AnalyticsEffect::Load(AnalyticsKind::Visitors, plan))
    }

    fn finish(
        &mut self,
        range: DateRange,
        report: Option<Arc<RowsReport<PageRow>>>,
        failure: Option<Failure>,
        now: Time,
    ) {
        let load = self.reports.entry(range).or_default();
        if let Some(report) = report {
            let as_of = report.as_of;
            self.totals.by_range.insert(range, Timed { value: report.totals.clone(), as_of });
            load.finish(Ok(Timed { value: report, as_of }), now);
        }
        if let Some(failure) = failure {
            load.finish(Err(failure), now);
        } else if load.is_loading() {
            *load = load.shown().cloned().map_or(Load::Idle, Load::Ready);
        }
    }
}

/// Returns the plan that uses one request.
fn one_request(range: DateRange) -> RowsPlan {
    RowsPlan { range, max_requests: 1, from_start: false }
}

impl App {
    /// Shows or hides the visitors of the pages.
    pub(super) fn toggle_visitors(&mut self) {
        self.views.visitors.is_shown = !self.views.visitors.is_shown;
        self.update_visitors();
    }

    /// Hands the visitors to the table.
    fn update_visitors(&mut self) {
        let visitors = self.views.visitors.for_table();
        self.views.table.set_visitors(visitors);
        self.dirty = true;
    }

    /// Reads the visitors that the table needs, if it shows any. Those that are not cached take one request per range.
    pub(in crate::tui) fn load_shown_visitors(&mut self, effects: &mut Vec<Effect>) {
        let is_visible = self.screen == Screen::Views && self.analytics.tab == AnalyticsTab::Pages;
        if !is_visible || !self.views.visitors.is_shown || self.views.as_of().is_none() {
            return;
        }
        let compared = self.views.table.comparison().map(|comparison| comparison.ranges());
        let compared = compared.into_iter().flat_map(|ranges| [ranges.now, ranges.before]);
        let ranges: Vec<DateRange> = [self.views.query().range].into_iter().chain(compared).collect();
        effects.extend(ranges.into_iter().filter_map(|range| self.views.visitors.read(range)));
    }

    /// Loads the visitors of the range on screen again, if they are shown.
    pub(super) fn refresh_visitors(&mut self, effects: &mut Vec<Effect>) {
        let range = self.views.query().range;
        if self.views.visitors.is_shown && !self.views.visitors.is_loading(range) {
            effects.push(self.views.visitors.request(RowsPlan { from_start: true, ..one_request(range) }));
        }
    }

    /// Whether only a part of the pages on screen has visitors, although they are shown.
    pub(super) fn has_more_visitors(&self) -> bool {
        let report = self.views.visitors.report(self.views.query().range);
        self.views.visitors.is_shown && report.is_some_and(|report| !report.is_complete())
    }

    /// Asks whether to load the visitors of all pages of the range on screen.
    pub(super) fn ask_to_load_visitors(&mut self, now: Time) {
        let left = self.view_requests_left();
        if left == 0 {
            return self.notify_no_requests_left(now);
        }
        let range = self.views.query().range;
        let most = REQUESTS_PER_CONFIRMATION.min(left);
        let rows = self.views.visitors.report(range).map_or(0, |report| report.rows.len());
        let text = format!(
            "Load the visitors of all pages of {range}, continuing after {} pages? At least 1 request and at most {most}, \
             {left} left. The service does not say how many pages there are.",
            format_count(rows)
        );
        self.open(ConfirmDialog { text, on_yes: ConfirmAction::LoadRows(AnalyticsKind::Visitors, most) });
    }

    /// Loads the visitors of the range on screen after the user has confirmed the cost.
    pub(in crate::tui) fn load_visitors(&mut self, max_requests: u32, effects: &mut Vec<Effect>) {
        let plan = RowsPlan { max_requests, ..one_request(self.views.query().range) };
        effects.push(self.views.visitors.request(plan));
    }

    /// Returns the effect that stops loading the visitors of the range on screen; `None` if they are not being loaded.
    pub(super) fn stop_loading_visitors(&self) -> Option<Effect> {
        let range = self.views.query().range;
        let stop = Effect::Analytics(AnalyticsEffect::Stop(AnalyticsKind::Visitors, range));
        self.views.visitors.is_loading(range).then_some(stop)
    }

    /// Loads the site's visitors in these ranges, one after the other.
    pub(in crate::tui) fn load_visitor_totals(&mut self, ranges: Vec<DateRange>, effects: &mut Vec<Effect>) {
        let visitors = &mut self.views.visitors;
        visitors.totals.pending.clone_from(&ranges);
        visitors.queued = ranges.into();
        effects.extend(visitors.queued.front().copied().map(|range| visitors.request(one_request(range))));
    }

    /// Returns the effects that read the site's visitors in these ranges from the cache.
    pub(super) fn read_visitor_totals(&mut self, ranges: Vec<DateRange>, effects: &mut Vec<Effect>) {
        effects.extend(ranges.into_iter().filter_map(|range| self.views.visitors.read(range)));
    }

    pub(in crate::tui) fn visitors_received(&mut self, msg: RowsMsg<PageRow>, now: Time, effects: &mut Vec<Effect>) {
        let is_for_table = |app: &Self, range| {
            let compared = app.views.table.comparison().map(|comparison| comparison.ranges());
            let mut compared = compared.into_iter().flat_map(|ranges| [ranges.now, ranges.before]);
            app.views.visitors.is_shown && (range == app.views.query().range || compared.any(|other| other == range))
        };
        match msg {
            RowsMsg::Cached { range, report, is_fresh } => {
                let is_known = report.is_some() && is_fresh;
                self.views.visitors.finish(range, report, None, now);
                if !is_known && is_for_table(self, range) {
                    effects.push(self.views.visitors.request(one_request(range)));
                }
            }
            RowsMsg::Ended { range, outcome } => {
                let failure = match outcome.end_reason {
                    LoadEndReason::Failed(failure) => Some(failure),
                    _ => None,
                };
                self.views.visitors.finish(range, outcome.report, failure.clone(), now);
                self.continue_visitor_totals(range, failure, now, effects);
            }
        }
        self.update_visitors();
    }

    /// Requests the next day of the trend. Stops after a failure.
    fn continue_visitor_totals(
        &mut self,
        range: DateRange,
        failure: Option<Failure>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        let visitors = &mut self.views.visitors;
        if visitors.queued.front() != Some(&range) {
            return;
        }
        visitors.queued.pop_front();
        visitors.totals.pending.retain(|pending| *pending != range);
        if let Some(failure) = failure {
            visitors.queued.clear();
            visitors.totals.pending.clear();
            self.notify(Severity::Error, failure.message.as_str(), now);
        } else if let Some(next) = visitors.queued.front().copied() {
            effects.push(visitors.request(one_request(next)));
        }
    }
}
