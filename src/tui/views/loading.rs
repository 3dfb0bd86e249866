//! Runs loads of all pages, one after the other, once their cost is confirmed, and handles how each one ends.

use super::super::confirm::{ConfirmAction, ConfirmDialog};
use super::super::keymap::{Action, Context};
use super::super::{App, Effect, Screen, Severity, format};
use super::all_pages::{ActiveLoad, REQUESTS_PER_CONFIRMATION};
use super::daily::DailyViews;
use super::messages::ViewsMsg;
use super::request_cost::floor_percent;
use crate::model::Time;
use crate::model::failure::{Failure, FailureKind};
use crate::model::load::{Load, Timed};
use crate::model::period::DateRange;
use crate::model::report::{LoadEndReason, LoadOutcome, LoadPlan, LoadProgress};
use crate::model::views::{Counts, ViewsQuery, ViewsResponse};
use crate::tui::ViewsEffect;

/// Percentages of all views at which a notice offers to stop. From then on, the remaining pages have few views but need
/// most of the requests.
const OFFER_TO_STOP_PERCENTS: [u8; 2] = [95, 99];

impl App {
    pub(in crate::tui) fn handle_views_msg(&mut self, msg: ViewsMsg, now: Time, effects: &mut Vec<Effect>) {
        match msg {
            ViewsMsg::Loaded { query, result, old } => self.apply_loaded_views(query, result, old, now),
            ViewsMsg::CachedReportLoaded { range, stored } => {
                self.apply_cached_report(range, stored, now, effects);
            }
            ViewsMsg::DailyReportsLoaded { range, reports } => {
                self.views.daily = DailyViews::new(range, &reports);
                self.is_dirty = true;
            }
            ViewsMsg::LoadEnded { range, end } => {
                self.finish_load(range, end, now, effects);
                self.reread_pages(effects);
            }
            ViewsMsg::CachedTotalsLoaded(result) => self.apply_cached_totals(result),
            ViewsMsg::TotalsLoadEnded(result) => {
                self.finish_totals_load(result, now);
                self.load_daily_reports(effects);
            }
            // The dialog that requested these data was closed.
            ViewsMsg::PageHistoryLoaded { .. } | ViewsMsg::CachedRangesListed(_) => {}
        }
    }

    /// Handles the result of a query. If rows are listed, shows the full message of a failure as a notice, since the
    /// line above the list may only have space for the kind of failure.
    pub(in crate::tui) fn apply_loaded_views(
        &mut self,
        query: ViewsQuery,
        result: Result<Timed<ViewsResponse>, Failure>,
        cached: Option<Timed<ViewsResponse>>,
        now: Time,
    ) {
        let failure = result.as_ref().err().map(|failure| self.failure_notice_text(failure, now));
        if !self.views.apply_response(query, result, cached, now) || self.screen != Screen::Analytics {
            return;
        }
        self.is_dirty = true;
        let lists_something = self.views.as_of().is_some();
        if let Some(sentence) = failure.filter(|_| lists_something) {
            self.notify_until_done(Action::Refresh, Severity::Error, &sentence, now);
        }
    }

    /// If no requests are left, reports that. Otherwise, asks whether to start these loads, unless another dialog takes
    /// text or asks a question.
    pub(super) fn ask_before_loading(&mut self, text: String, mut plans: Vec<LoadPlan>, now: Time) {
        let left = self.view_requests_left();
        if left == 0 {
            self.notify_no_requests_left(now);
            return;
        }
        // Keys that are meant for another dialog must not answer the question.
        if self.dialogs.last().is_some_and(|dialog| dialog.takes_text()) || self.top::<ConfirmDialog>().is_some() {
            return;
        }
        plans.iter_mut().for_each(|plan| plan.max_requests = REQUESTS_PER_CONFIRMATION.min(left));
        self.open(ConfirmDialog { text, on_yes: ConfirmAction::LoadAllPageViews(plans) });
        self.is_dirty = true;
    }

    /// Runs these loads one after the other. Together they use at most [`LoadPlan::max_requests`] of the first plan.
    /// Does nothing if a load is already running.
    pub(in crate::tui) fn load_sequentially(&mut self, plans: Vec<LoadPlan>, effects: &mut Vec<Effect>) {
        let all = &mut self.views.all_pages;
        if all.active.is_some() {
            return;
        }
        all.confirmed_requests_left = plans.first().map_or(0, |plan| plan.max_requests);
        all.queued_loads = plans.into();
        self.start_next_load(effects);
    }

    fn start_next_load(&mut self, effects: &mut Vec<Effect>) {
        let all = &mut self.views.all_pages;
        let Some(plan) = all.queued_loads.pop_front() else { return };
        all.failure = None;
        let LoadPlan { range, from_start, .. } = plan;
        all.active =
            Some(ActiveLoad { range, from_start, progress: None, is_stopping: false, last_stop_offer_percent: 0 });
        effects
            .push(Effect::Views(ViewsEffect::LoadAll(LoadPlan { max_requests: all.confirmed_requests_left, ..plan })));
        self.is_dirty = true;
    }

    pub(in crate::tui) fn show_load_progress(&mut self, progress: LoadProgress, now: Time) {
        if let Some(under_way) = self.views.all_pages.active.as_mut().filter(|load| load.range == progress.range) {
            under_way.progress = Some(progress);
            self.is_dirty |= self.screen == Screen::Analytics;
            self.offer_to_stop(progress, now);
        }
    }

    /// Offers to stop once nearly all views are loaded and the remaining pages still need requests. The offer is a
    /// notice, not a question: loading continues unless the user presses the key that the notice names.
    fn offer_to_stop(&mut self, progress: LoadProgress, now: Time) {
        let on_screen = self.screen == Screen::Analytics && self.dialogs.is_empty();
        let Some(load) = self.views.all_pages.active.as_mut().filter(|load| on_screen && !load.is_stopping) else {
            return;
        };
        let Some(share) = progress.share.filter(|_| !progress.is_complete) else { return };
        let reached = OFFER_TO_STOP_PERCENTS.into_iter().rfind(|offer| share * 100.0 >= f64::from(*offer));
        let Some(reached) = reached.filter(|reached| *reached > load.last_stop_offer_percent) else { return };
        load.last_stop_offer_percent = reached;
        let rest = self
            .expected_cost(progress.range)
            .and_then(|expected| expected.requests.checked_sub(progress.responses))
            .filter(|rest| *rest > 0);
        let rest = match rest {
            Some(rest) => format!("about {}", format::plural(rest as usize, "more request")),
            None => "more requests".to_owned(),
        };
        let stops = self.key_label(Context::Views, Action::Close);
        let text = format!("{reached}% of all views are loaded; the rest needs {rest}. {stops} stops loading.");
        self.notify(Severity::Info, &text, now);
    }

    pub(in crate::tui) fn finish_load(
        &mut self,
        range: DateRange,
        end: LoadOutcome,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        self.is_dirty = true;
        let all = &mut self.views.all_pages;
        let load = all.active.take_if(|under_way| under_way.range == range);
        all.record_outcome(range, &end, load);
        all.confirmed_requests_left = all.confirmed_requests_left.saturating_sub(end.requests);
        let progress = load.and_then(|under_way| under_way.progress);
        match end.end_reason {
            LoadEndReason::Complete => self.handle_completed_load(range, now, effects),
            LoadEndReason::RequestLimit => {
                let mut rest = vec![LoadPlan {
                    range,
                    from_start: false,
                    max_requests: REQUESTS_PER_CONFIRMATION,
                    stop_at_percent: None,
                }];
                rest.extend(std::mem::take(&mut self.views.all_pages.queued_loads));
                self.ask_to_continue(rest, progress, now);
            }
            // `TargetReached` never happens here, because the dashboard always sets `stop_at_percent` to `None`.
            LoadEndReason::Stopped | LoadEndReason::TargetReached => {
                self.views.all_pages.queued_loads.clear();
                self.views.all_pages.waiting_action = None;
                let rows = self.views.all_pages.rows_of_interrupted_load(range).map(format::format_count);
                let text = match rows {
                    Some(rows) => {
                        let load_key = self.key_label(Context::Views, Action::LoadAll);
                        let share = progress.and_then(|progress| progress.share);
                        let share =
                            share.map(|share| format!(" ({} of the views)", floor_percent(share))).unwrap_or_default();
                        format!("Stopped after {rows} rows{share}; press {load_key} to resume.")
                    }
                    None => "Stopped; nothing was loaded.".to_owned(),
                };
                self.notify(Severity::Info, &text, now);
            }
            LoadEndReason::Failed(failure) => self.handle_failed_load(range, failure, now),
        }
        self.list_loaded_rows(range);
        self.show_comparison();
        self.views.all_pages.drop_unused_reports(self.views.query().range);
        self.run_waiting_action(range, now, effects);
    }

    /// Runs the action that waited for all pages of a range, once they are loaded. If the screen shows something else
    /// by then, drops the action.
    pub(super) fn run_waiting_action(&mut self, range: DateRange, now: Time, effects: &mut Vec<Effect>) {
        let is_visible =
            self.screen == Screen::Analytics && self.dialogs.is_empty() && self.views.query().range == range;
        let is_complete = self.views.all_pages.complete_report(range).is_some();
        let waiting = self.views.all_pages.waiting_action.take_if(|(of, _)| *of == range && is_complete);
        if let Some((_, action)) = waiting.filter(|_| is_visible) {
            // The pages may have been read from the cache without being listed yet. They are listed first, because the
            // action would otherwise ask again and again whether to load them.
            if !self.views.table.lists_report() {
                self.list_report_if_complete();
            }
            self.run_action(action, now, effects);
        }
    }

    fn handle_completed_load(&mut self, range: DateRange, now: Time, effects: &mut Vec<Effect>) {
        let rows = self.views.all_pages.complete_report(range).map_or(0, |report| report.rows.len());
        if self.screen != Screen::Analytics || range != self.views.query().range {
            let text =
                format!("All pages of {} are loaded: {}.", range.format_dates(true), format::plural(rows, "row"));
            self.notify(Severity::Info, &text, now);
        }
        if self.views.all_pages.confirmed_requests_left > 0 {
            self.start_next_load(effects);
        } else if !self.views.all_pages.queued_loads.is_empty() {
            let rest = std::mem::take(&mut self.views.all_pages.queued_loads).into();
            self.ask_to_continue(rest, None, now);
        }
    }

    fn handle_failed_load(&mut self, range: DateRange, failure: Failure, now: Time) {
        self.views.all_pages.queued_loads.clear();
        self.views.all_pages.waiting_action = None;
        let message = self.failure_notice_text(&failure, now);
        let load_key = self.key_label(Context::Views, Action::LoadAll);
        let text = match self.views.all_pages.rows_of_interrupted_load(range) {
            None => message,
            Some(_) if range != self.views.query().range => format!("{message} Load it again to resume."),
            // The message about a limit ends with `Try again after 14:12.` The key is appended after a colon:
            // `Try again after 14:12: press L to resume.`
            Some(_) if matches!(failure.kind, FailureKind::Limited(_)) => {
                format!("{}: press {load_key} to resume.", message.trim_end_matches('.'))
            }
            Some(_) => format!("{message} Press {load_key} to resume."),
        };
        self.notify_until_done(Action::LoadAll, Severity::Error, &text, now);
        self.views.all_pages.failure = Some((range, failure));
    }

    /// Asks whether to continue after the confirmed number of requests is used. Shows a notice instead if another
    /// screen or dialog has the focus.
    fn ask_to_continue(&mut self, remaining_plans: Vec<LoadPlan>, progress: Option<LoadProgress>, now: Time) {
        let is_visible = self.screen == Screen::Analytics && self.dialogs.is_empty();
        if is_visible {
            let text = self.continue_question(&remaining_plans, progress);
            self.ask_before_loading(text, remaining_plans, now);
        } else {
            let load_key = self.key_label(Context::Views, Action::LoadAll);
            let text = format!("Paused: the agreed number of requests is used. Press {load_key} to resume.");
            self.notify(Severity::Info, &text, now);
        }
    }

    /// Lists the rows of a load that has ended, if it loaded the current range. A complete report stays listed, even if
    /// newer rows of a partial report were loaded.
    fn list_loaded_rows(&mut self, range: DateRange) {
        if range != self.views.query().range || self.list_report_if_complete() {
            return;
        }
        if let Some(report) = self.views.all_pages.report(range).cloned() {
            self.views.list_partial_report(report);
            self.views.load = Load::Idle;
        }
    }

    pub(in crate::tui) fn load_totals(&mut self, ranges: Vec<DateRange>, effects: &mut Vec<Effect>) {
        self.views.totals.pending_ranges.clone_from(&ranges);
        effects.push(Effect::Views(ViewsEffect::LoadTotals(ranges)));
    }

    pub(in crate::tui) fn apply_totals(&mut self, range: DateRange, totals: Timed<Counts>) {
        let known = &mut self.views.totals;
        known.pending_ranges.retain(|asked| *asked != range);
        // A response that arrives late doesn't replace newer totals.
        if known.get(range).is_none_or(|old| old.as_of <= totals.as_of) {
            known.by_range.insert(range, totals);
        }
        self.views.update_trend();
        self.is_dirty |= self.screen == Screen::Analytics;
    }

    pub(in crate::tui) fn apply_cached_totals(&mut self, result: Result<Vec<(DateRange, Timed<Counts>)>, Failure>) {
        for (range, totals) in result.unwrap_or_default() {
            if self.views.totals.get(range).is_none_or(|old| old.as_of <= totals.as_of) {
                self.views.totals.by_range.insert(range, totals);
            }
        }
        self.views.update_trend();
        self.is_dirty = true;
    }

    pub(in crate::tui) fn finish_totals_load(&mut self, result: Result<(), Failure>, now: Time) {
        let open = self.views.totals.pending_count();
        self.views.totals.pending_ranges.clear();
        if let Err(failure) = result {
            let load_key = self.key_label(Context::Trend, Action::LoadAll);
            let rest = if open > 0 { format!(" Press {load_key} to load the rest.") } else { String::new() };
            let text = format!("{}{rest}", self.failure_notice_text(&failure, now));
            self.notify_until_done(Action::LoadAll, Severity::Error, &text, now);
        }
        self.is_dirty = true;
    }
}
