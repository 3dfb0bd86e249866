//! Loading all pages of a range: the cached reports, and the actions that load all pages after the user confirmed the
//! cost. The cost is computed in `request_cost`, loads run in `loading`, and comparisons of two complete ranges are in
//! `compare`.

use super::super::keymap::{Action, Context};
use super::super::{App, Effect, Severity};
use super::compare::RequestedComparison;
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::load::Load;
use crate::model::period::DateRange;
use crate::model::report::{LoadEndReason, LoadOutcome, LoadPlan, LoadProgress, Report, StoredReport};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Requests that a load may use before docdeck asks whether to continue.
pub const REQUESTS_PER_CONFIRMATION: u32 = 20;

/// The cached reports, and the running and queued loads.
#[derive(Debug, Default)]
pub struct AllPages {
    /// Data of the ranges that are listed, compared or requested. Other ranges are read from disk when they are needed.
    cached: HashMap<DateRange, StoredReport>,
    pub(super) active: Option<ActiveLoad>,
    /// The loads that start after the active load, in this order.
    pub(super) queued_loads: VecDeque<LoadPlan>,
    /// Requests that the active load and the queued loads may still use before docdeck asks again.
    pub(super) confirmed_requests_left: u32,
    request: Option<LoadRequest>,
    pub(super) comparison: Option<RequestedComparison>,
    /// The range of the last load and why the load failed; `None` if it didn't fail.
    pub(super) failure: Option<(DateRange, Failure)>,
}

/// A running load of all pages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ActiveLoad {
    pub range: DateRange,
    /// Whether the load started over instead of continuing an interrupted load.
    pub(super) from_start: bool,
    /// `None` before the first answer.
    pub progress: Option<LoadProgress>,
    /// Whether the user stopped the load. The answer that is being received is still used.
    pub is_stopping: bool,
    /// The percentage of all views at which docdeck last offered to stop; 0 before the first offer.
    pub(super) last_offer_percent: u8,
}

/// Ranges whose pages the user wants to load. The request waits until all of them are read from the cache, because the
/// cost is known only then.
#[derive(Debug)]
struct LoadRequest {
    ranges: Vec<(DateRange, RequiredData)>,
    /// Ranges that are still being read from the cache.
    unread: Vec<DateRange>,
}

/// The pages of a range that an action needs. If the cache contains them, nothing is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RequiredData {
    /// All pages, however old.
    Complete,
    /// All pages, loaded after the last day of the range had ended.
    Final,
    /// All pages, still fresh.
    Fresh,
    /// More pages than the cache contains, so a load always starts. If a load was interrupted, it is continued.
    More,
    /// All pages, loaded again from the start even if the cache contains them.
    Reload,
}

impl AllPages {
    /// Returns the progress of the running load.
    pub fn progress(&self) -> Option<LoadProgress> {
        self.active.and_then(|under_way| under_way.progress)
    }

    /// Returns the running load.
    pub fn active_load(&self) -> Option<ActiveLoad> {
        self.active
    }

    /// Whether a load is running and has not been stopped yet.
    pub fn can_stop(&self) -> bool {
        self.active.is_some_and(|under_way| !under_way.is_stopping)
    }

    /// Returns the cached data of a range; `None` if it has not been read from disk.
    pub fn cached_info(&self, range: DateRange) -> Option<&StoredReport> {
        self.cached.get(&range)
    }

    /// Returns the report of a range, complete or partial.
    pub fn report(&self, range: DateRange) -> Option<&Arc<Report>> {
        self.cached.get(&range)?.report.as_ref()
    }

    /// Returns the complete report of a range.
    pub fn complete_report(&self, range: DateRange) -> Option<&Arc<Report>> {
        self.report(range).filter(|report| report.complete)
    }

    /// Returns the number of rows after which an interrupted load can continue; `None` if no load of the range was
    /// interrupted.
    pub fn rows_to_continue_after(&self, range: DateRange) -> Option<usize> {
        let known = self.cached.get(&range)?;
        let answers = known.interrupted_after?;
        let partial = known.report.as_ref().filter(|report| !report.complete);
        Some(partial.map_or(answers as usize * crate::model::views::MAX_PAGE_SIZE as usize, |report| report.rows.len()))
    }

    /// Returns why the last load failed; `None` if it didn't fail or if it loaded another range.
    pub fn failure_of(&self, range: DateRange) -> Option<&Failure> {
        self.failure.as_ref().filter(|(of, _)| *of == range).map(|(_, failure)| failure)
    }

    /// Whether a load is running, queued or being prepared.
    pub(super) fn is_busy(&self) -> bool {
        self.active.is_some() || self.request.is_some() || !self.queued_loads.is_empty()
    }

    pub(super) fn set_cached(&mut self, range: DateRange, recalled: StoredReport) {
        self.cached.insert(range, recalled);
    }

    fn satisfies(&self, range: DateRange, need: RequiredData, now: Time) -> bool {
        let complete = self.complete_report(range);
        match need {
            RequiredData::Complete => complete.is_some(),
            RequiredData::Final => complete.is_some_and(|report| is_final(range, report.as_of)),
            RequiredData::Fresh => complete.is_some_and(|report| range.is_fresh(report.as_of, now)),
            RequiredData::More | RequiredData::Reload => false,
        }
    }

    /// Records the result of a load. A complete report is not replaced by a later load that was interrupted.
    pub(super) fn record_outcome(&mut self, range: DateRange, end: &LoadOutcome, load: Option<ActiveLoad>) {
        let known = self.cached.entry(range).or_default();
        let loaded_answers = load.and_then(|load| load.progress).map(|progress| progress.answers);
        let part = end.report.as_ref().filter(|report| !report.complete).map(|report| report.answers);
        known.interrupted_after = match end.end_reason {
            LoadEndReason::Complete => None,
            // A load that started over has discarded the rows of an earlier load, so only its own answers count.
            _ if load.is_some_and(|load| load.from_start) => loaded_answers.or(part),
            _ => loaded_answers.or(part).or(known.interrupted_after),
        };
        let Some(report) = &end.report else { return };
        if end.end_reason == LoadEndReason::Complete {
            known.requests_last_time = Some(report.answers);
        }
        if report.complete || !known.report.as_ref().is_some_and(|old| old.complete) {
            known.report = Some(Arc::clone(report));
        }
    }

    /// Drops the data of ranges that are not listed, compared, requested or being loaded. The data can be read from
    /// disk again.
    pub(super) fn drop_unused(&mut self, listed: DateRange) {
        let compared = self.comparison.as_ref().map(|request| [request.ranges.now, request.ranges.before]);
        let requested: Vec<DateRange> =
            self.request.iter().flat_map(|request| request.ranges.iter().map(|(range, _)| *range)).collect();
        let (loading, queued) = (self.active.map(|load| load.range), &self.queued_loads);
        self.cached.retain(|range, _| {
            *range == listed
                || compared.is_some_and(|compared| compared.contains(range))
                || loading == Some(*range)
                || requested.contains(range)
                || queued.iter().any(|plan| plan.range == *range)
        });
    }
}

/// Whether numbers that were loaded at `as_of` include the complete last day of the range.
pub(super) fn is_final(range: DateRange, as_of: Time) -> bool {
    as_of.date_naive() > range.to()
}

impl App {
    /// Loads all pages of the current range, or stops the running load.
    pub(in crate::tui) fn load_all(&mut self, now: Time, effects: &mut Vec<Effect>) {
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

    /// Whether the key that loads all pages has nothing to do: all pages are loaded and fresh, and no load can be
    /// continued.
    pub(in crate::tui) fn has_fresh_pages(&self, now: Time) -> bool {
        let (all, range) = (&self.views.all_pages, self.views.query().range);
        all.satisfies(range, RequiredData::Fresh, now) && all.rows_to_continue_after(range).is_none()
    }

    /// Returns the label of the key that loads all pages.
    pub(in crate::tui) fn load_all_label(&self) -> &'static str {
        let all = &self.views.all_pages;
        match all.active {
            Some(_) => "stop loading",
            None if all.rows_to_continue_after(self.views.query().range).is_some() => "load the rest",
            None => "load all",
        }
    }

    /// Stops the running load after the answer that is being received. Returns whether a load was running.
    pub(in crate::tui) fn stop_loading(&mut self, effects: &mut Vec<Effect>) -> bool {
        let Some(under_way) = self.views.all_pages.active.as_mut() else { return false };
        if !under_way.is_stopping {
            under_way.is_stopping = true;
            effects.push(Effect::StopLoading(under_way.range));
        }
        self.dirty = true;
        true
    }

    /// Reloads the listed rows. After midnight, first moves the range to today.
    pub(in crate::tui) fn refresh_views(&mut self, now: Time, effects: &mut Vec<Effect>) {
        if !self.dialogs.is_empty() || self.views.load().is_loading() {
            return;
        }
        let lists_all = self.views.table.report().is_some();
        if self.views.follow_today(now) && lists_all {
            effects.push(self.views.load_cached());
        } else if lists_all {
            let mut ranges = vec![(self.views.query().range, RequiredData::Reload)];
            ranges.extend(self.update_comparison(now));
            self.request_load(ranges, now, effects);
        } else {
            effects.push(self.views.request_page(true));
        }
    }

    /// Asks to confirm the total cost, then loads all pages of these ranges, one range after the other. Ranges that are
    /// complete and fresh cost nothing.
    pub(in crate::tui) fn ask_to_load(&mut self, ranges: Vec<DateRange>, now: Time, effects: &mut Vec<Effect>) {
        self.request_load(ranges.into_iter().map(|range| (range, RequiredData::Fresh)).collect(), now, effects);
    }

    pub(super) fn request_load(
        &mut self,
        ranges: Vec<(DateRange, RequiredData)>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        if let Some(under_way) = self.views.all_pages.active {
            let range = under_way.range;
            let load_key = self.key_label(Context::Views, Action::LoadAll);
            let text =
                format!("Already loading all pages of {range}. Wait, or press {load_key} on the views screen to stop.");
            self.notify(Severity::Info, &text, now);
            return;
        }
        let all = &mut self.views.all_pages;
        let unread = ranges.iter().map(|(range, _)| *range).filter(|range| !all.cached.contains_key(range));
        let unread: Vec<DateRange> = unread.collect();
        effects.extend(unread.iter().copied().map(Effect::LoadCachedReport));
        all.request = Some(LoadRequest { ranges, unread });
        self.confirm_or_load(now, effects);
    }

    /// Stores the data of a range that was read from the cache, and continues whatever waited for this read.
    pub(in crate::tui) fn cached_report_loaded(
        &mut self,
        range: DateRange,
        recalled: Result<StoredReport, Failure>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        self.dirty = true;
        // A report that can't be read counts as not cached.
        self.views.all_pages.set_cached(range, recalled.unwrap_or_default());
        if let Some(request) = &mut self.views.all_pages.request {
            request.unread.retain(|unread| *unread != range);
        }
        if self.views.reading_range == Some(range) {
            self.views.reading_range = None;
            self.show_range(range, now, effects);
        }
        self.continue_comparison(range, now);
        self.confirm_or_load(now, effects);
        self.views.all_pages.drop_unused(self.views.query().range);
    }

    /// Shows `range` if it is still the current range: lists all pages if they are cached, otherwise requests one page
    /// of rows.
    fn show_range(&mut self, range: DateRange, now: Time, effects: &mut Vec<Effect>) {
        if range != self.views.query().range {
            return;
        }
        if !self.list_complete_report() {
            effects.push(self.views.request_page(false));
        }
        let totals = self.views.totals_to_compare(now);
        if !totals.is_empty() {
            effects.push(Effect::LoadCachedTotals(totals));
        }
        self.compare_new_range(range, now, effects);
    }

    /// Lists all pages of the current range, if they are cached. Returns whether they are.
    pub(super) fn list_complete_report(&mut self) -> bool {
        let Some(complete) = self.views.all_pages.complete_report(self.views.query().range).cloned() else {
            return false;
        };
        let comparison = self.views.all_pages.comparison_of(self.views.query().range);
        self.views.table.show_compared(complete, comparison);
        self.views.load = Load::Idle;
        true
    }

    /// Once all requested ranges are read from the cache, asks to confirm the cost. If one request is enough, starts
    /// the load without asking.
    fn confirm_or_load(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let Some(request) = self.views.all_pages.request.take_if(|request| request.unread.is_empty()) else { return };
        let all = &self.views.all_pages;
        let missing = request.ranges.iter().filter(|(range, need)| !all.satisfies(*range, *need, now));
        let plans: Vec<LoadPlan> = missing
            .map(|(range, need)| LoadPlan {
                range: *range,
                from_start: *need == RequiredData::Reload,
                max_requests: REQUESTS_PER_CONFIRMATION,
                stop_at_percent: None,
            })
            .collect();
        self.show_comparison();
        match plans.as_slice() {
            [] if self.views.is_comparing() => {}
            [] => self.notify(Severity::Info, "Everything is loaded already.", now),
            [plan] if self.needs_one_request(plan) && self.view_requests_left() > 0 => {
                // A load that was not confirmed never uses more than one request, whatever the service answers.
                self.load_sequentially(vec![LoadPlan { max_requests: 1, ..*plan }], effects);
            }
            _ => {
                let text = self.load_question(&plans, now);
                self.ask_before_loading(text, plans, now);
            }
        }
    }
}

#[cfg(test)]
#[path = "all_pages_tests.rs"]
mod tests;
