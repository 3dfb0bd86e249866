//! The actions that load all pages of a range after the user has confirmed the cost. The cost is computed in
//! `request_cost`, loads run in `loading`, and comparisons of two complete ranges are in `compare`.

use super::all_pages::{LoadRequest, REQUESTS_PER_CONFIRMATION, RequiredData};
use super::daily::DailyViews;
use super::screen::why_all_pages_are_needed;
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::load::Load;
use crate::model::period::DateRange;
use crate::model::report::{LoadPlan, StoredReport};
use crate::tui::keymap::{Action, Context};
use crate::tui::{App, Effect, Severity, ViewsEffect};

impl App {
    /// Stops the running load. If none is running, loads all pages of the current range, or reports that they are
    /// loaded and fresh.
    pub(in crate::tui) fn load_all_or_stop(&mut self, now: Time, effects: &mut Vec<Effect>) {
        if self.stop_loading(effects) {
            return;
        }
        let range = self.views.query().range;
        if self.has_fresh_pages(now) {
            let again = self.key_label(Context::Views, Action::Refresh);
            let text = format!("All pages of this range are loaded; {again} reloads them.");
            self.notify(Severity::Info, &text, now);
            return;
        }
        self.request_load(vec![(range, RequiredData::More)], now, effects);
    }

    /// Runs the action once all pages of the current range are loaded. If they are not cached and one request may not
    /// be enough, asks before loading them.
    pub(super) fn load_all_then(&mut self, action: Action, now: Time, effects: &mut Vec<Effect>) {
        self.request_load_with_next_action(
            vec![(self.views.query().range, RequiredData::Complete)],
            Some(action),
            now,
            effects,
        );
    }

    /// Whether the key that loads all pages has nothing to do: all pages are loaded and fresh, and no load can be
    /// continued.
    pub(in crate::tui) fn has_fresh_pages(&self, now: Time) -> bool {
        let (all, range) = (&self.views.all_pages, self.views.query().range);
        all.has_required_data(range, RequiredData::Fresh, now) && all.rows_of_interrupted_load(range).is_none()
    }

    /// Returns the label of the key that loads all pages.
    pub(in crate::tui) fn load_all_label(&self) -> &'static str {
        let all = &self.views.all_pages;
        match all.active {
            Some(_) => "stop loading",
            None if all.rows_of_interrupted_load(self.views.query().range).is_some() => "resume loading",
            None if all.complete_report(self.views.query().range).is_some() => "load again",
            None => "load all",
        }
    }

    /// Stops the running load after the response that is being received. Returns whether a load was running.
    pub(in crate::tui) fn stop_loading(&mut self, effects: &mut Vec<Effect>) -> bool {
        let Some(under_way) = self.views.all_pages.active.as_mut() else { return false };
        if !under_way.is_stopping {
            under_way.is_stopping = true;
            effects.push(Effect::Views(ViewsEffect::StopLoading(under_way.range)));
        }
        self.is_dirty = true;
        true
    }

    /// Reloads the listed rows, unless a dialog is open or rows are being loaded. After midnight, first moves the range
    /// to today. If this changes the range and a report is listed, reads the new range from the cache instead of
    /// reloading the rows.
    pub(in crate::tui) fn refresh_views(&mut self, now: Time, effects: &mut Vec<Effect>) {
        if !self.dialogs.is_empty() || self.views.load().is_loading() {
            return;
        }
        let lists_all = self.views.table.report().is_some();
        if self.views.update_for_today(now) && lists_all {
            effects.push(self.views.load_cached());
        } else if lists_all {
            let mut ranges = vec![(self.views.query().range, RequiredData::Reload)];
            ranges.extend(self.update_compared_days(now));
            self.request_load(ranges, now, effects);
        } else {
            effects.push(self.views.request_page(true));
        }
    }

    /// Loads all pages of these ranges, one range after the other. Asks to confirm the total cost first, unless one
    /// request is enough. Ranges that are complete and fresh cost nothing.
    pub(in crate::tui) fn ask_to_load(&mut self, ranges: Vec<DateRange>, now: Time, effects: &mut Vec<Effect>) {
        self.request_load(ranges.into_iter().map(|range| (range, RequiredData::Fresh)).collect(), now, effects);
    }

    pub(super) fn request_load(
        &mut self,
        ranges: Vec<(DateRange, RequiredData)>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        self.request_load_with_next_action(ranges, None, now, effects);
    }

    fn request_load_with_next_action(
        &mut self,
        ranges: Vec<(DateRange, RequiredData)>,
        next_action: Option<Action>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        if let Some(under_way) = self.views.all_pages.active {
            let range = under_way.range.format_dates(true);
            let load_key = self.key_label(Context::Views, Action::LoadAll);
            let text = format!(
                "Already loading all pages of {range}. Wait, or press {load_key} in the list of pages to stop."
            );
            self.notify(Severity::Info, &text, now);
            return;
        }
        let all = &mut self.views.all_pages;
        let unread_ranges = ranges.iter().map(|(range, _)| *range).filter(|range| all.stored_report(*range).is_none());
        let unread_ranges: Vec<DateRange> = unread_ranges.collect();
        effects.extend(unread_ranges.iter().copied().map(ViewsEffect::LoadCachedReport).map(Effect::Views));
        all.request = Some(LoadRequest { ranges, unread_ranges, next_action });
        self.ask_or_load(now, effects);
    }

    /// Stores the data of a range that was read from the cache, and continues whatever waited for this read.
    pub(in crate::tui) fn apply_cached_report(
        &mut self,
        range: DateRange,
        stored: Result<StoredReport, Failure>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        self.is_dirty = true;
        // A report that can't be read counts as not cached.
        self.views.all_pages.set_cached(range, stored.unwrap_or_default());
        if let Some(request) = &mut self.views.all_pages.request {
            request.unread_ranges.retain(|unread| *unread != range);
        }
        if self.views.range_being_read == Some(range) {
            self.views.range_being_read = None;
            self.show_range(range, now, effects);
        }
        self.handle_range_read_for_comparison(range, now);
        self.ask_or_load(now, effects);
        self.views.all_pages.drop_unused_reports(self.views.query().range);
    }

    /// Shows `range` if it is still the current range: lists all pages if they are cached, otherwise requests one page
    /// of rows.
    fn show_range(&mut self, range: DateRange, now: Time, effects: &mut Vec<Effect>) {
        if range != self.views.query().range {
            return;
        }
        if !self.list_report_if_complete() {
            effects.push(self.views.request_page(false));
        }
        let totals = self.views.totals_to_read(now);
        effects.push(Effect::Views(ViewsEffect::LoadCachedTotals(totals)));
        self.load_daily_reports(effects);
        self.continue_comparison_in_new_range(range, now, effects);
    }

    /// Reads the cached pages of the single days of the current range, unless the range is too short or too long for
    /// sparklines.
    pub(in crate::tui) fn load_daily_reports(&self, effects: &mut Vec<Effect>) {
        let range = self.views.query().range;
        if DailyViews::RANGE_LENGTHS.contains(&range.days()) {
            effects.push(Effect::Views(ViewsEffect::LoadDailyReports(range)));
        }
    }

    /// Lists all pages of the current range, if they are cached. Returns whether they are.
    pub(super) fn list_report_if_complete(&mut self) -> bool {
        let Some(complete) = self.views.all_pages.complete_report(self.views.query().range).cloned() else {
            return false;
        };
        let comparison = self.views.all_pages.comparison_of(self.views.query().range);
        self.views.table.show_compared(complete, comparison);
        self.views.load = Load::Idle;
        true
    }

    /// Once all requested ranges are read from the cache, asks to confirm the cost. If one request is enough, starts
    /// the load without asking. If nothing has to be loaded, runs the next action or reports that everything is loaded.
    fn ask_or_load(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some(request) = self.views.all_pages.request.take_if(|request| request.unread_ranges.is_empty()) else {
            return;
        };
        let all = &self.views.all_pages;
        let missing = request.ranges.iter().filter(|(range, need)| !all.has_required_data(*range, *need, now));
        let plans: Vec<LoadPlan> = missing
            .map(|(range, need)| LoadPlan {
                range: *range,
                from_start: *need == RequiredData::Reload,
                max_requests: REQUESTS_PER_CONFIRMATION,
                stop_at_percent: None,
            })
            .collect();
        self.show_comparison();
        self.views.all_pages.waiting_action = request.next_action.map(|action| (self.views.query().range, action));
        match plans.as_slice() {
            [] if request.next_action.is_some() => self.run_waiting_action(self.views.query().range, now, effects),
            [] if self.views.is_comparing() => {}
            [] => self.notify(Severity::Info, "Everything is loaded already.", now),
            [plan] if self.is_one_request_enough(plan) && self.view_requests_left() > 0 => {
                // A load that was not confirmed never uses more than one request, whatever the service responds.
                self.load_sequentially(vec![LoadPlan { max_requests: 1, ..*plan }], effects);
            }
            _ => {
                // Without a next action, only a comparison needs `Complete` or `Final` data. Any other load needs newer
                // or more data.
                let is_for_comparison =
                    request.ranges.iter().all(|(_, need)| matches!(need, RequiredData::Complete | RequiredData::Final));
                let why = match request.next_action {
                    None if is_for_comparison => Some("Comparing needs all pages."),
                    action => action.and_then(why_all_pages_are_needed),
                };
                let why = why.map(|why| format!("{why} ")).unwrap_or_default();
                let text = format!("{why}{}", self.load_question(&plans, now));
                self.ask_before_loading(text, plans, now);
            }
        }
    }
}

#[cfg(test)]
#[path = "all_pages_tests.rs"]
mod tests;
