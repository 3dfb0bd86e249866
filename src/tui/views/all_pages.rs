//! The cached reports of all pages of a range, the running and queued loads, and the requested comparison.

use crate::model::Time;
use crate::model::comparison::ComparedRanges;
use crate::model::failure::Failure;
use crate::model::period::DateRange;
use crate::model::report::{LoadEndReason, LoadOutcome, LoadPlan, LoadProgress, Report, StoredReport};
use crate::tui::keymap::Action;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Requests that a load may use before docdeck asks whether to continue.
pub const REQUESTS_PER_CONFIRMATION: u32 = 20;

/// The cached reports, and the running and queued loads.
#[derive(Debug, Default)]
pub struct AllPages {
    /// Data of the ranges that are listed, compared, requested or being loaded. Other ranges are read from disk when
    /// they are needed.
    cached: HashMap<DateRange, StoredReport>,
    pub(super) active: Option<ActiveLoad>,
    /// The loads that start after the active load, in this order.
    pub(super) queued_loads: VecDeque<LoadPlan>,
    /// Requests that the active load and the queued loads may still use before docdeck asks again.
    pub(super) confirmed_requests_left: u32,
    pub(super) request: Option<LoadRequest>,
    /// The action that waits until all pages of the range are loaded.
    pub(super) waiting_action: Option<(DateRange, Action)>,
    pub(super) comparison: Option<RequestedComparison>,
    /// The range of the last load and why the load failed; `None` if it didn't fail.
    pub(super) failure: Option<(DateRange, Failure)>,
}

/// A comparison that is on screen, or will be once all its pages are loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RequestedComparison {
    /// The range on screen.
    pub(super) shown_range: DateRange,
    /// The range to compare with, before it is cut to complete days.
    pub(super) other_range: DateRange,
    /// The days of `shown_range` and of `other_range` that are compared.
    pub(super) ranges: ComparedRanges,
    /// The ranges that are still being read from the cache after a change of range. If the cache lacks their pages, the
    /// comparison ends and nothing is requested.
    pub(super) unread_ranges: Vec<DateRange>,
}

/// A running load of all pages.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ActiveLoad {
    pub range: DateRange,
    /// Whether the load started over instead of continuing an interrupted load.
    pub(super) from_start: bool,
    /// `None` before the first response.
    pub progress: Option<LoadProgress>,
    /// Whether the user stopped the load. The response that is being received is still used.
    pub is_stopping: bool,
    /// The percentage of all views at which docdeck last offered to stop; 0 before the first offer.
    pub(super) last_stop_offer_percent: u8,
}

/// Ranges whose pages the user wants to load. The request waits until all of them are read from the cache, because the
/// cost is known only then.
#[derive(Debug)]
pub(super) struct LoadRequest {
    pub(super) ranges: Vec<(DateRange, RequiredData)>,
    /// Ranges that are still being read from the cache.
    pub(super) unread_ranges: Vec<DateRange>,
    /// The action that the user wants to run once the pages are loaded.
    pub(super) next_action: Option<Action>,
}

/// Which pages of a range an action needs. If the cache contains them, nothing is requested, except for `More` and
/// `Reload`.
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
    /// Returns the progress of the running load; `None` before its first response, or if no load is running.
    pub fn progress(&self) -> Option<LoadProgress> {
        self.active.and_then(|under_way| under_way.progress)
    }

    pub fn active_load(&self) -> Option<ActiveLoad> {
        self.active
    }

    /// Whether a load is running and has not been stopped yet.
    pub fn can_stop(&self) -> bool {
        self.active.is_some_and(|under_way| !under_way.is_stopping)
    }

    /// Returns the cached data of a range; `None` if it has not been read from disk.
    pub fn stored_report(&self, range: DateRange) -> Option<&StoredReport> {
        self.cached.get(&range)
    }

    /// Returns the report of a range, complete or partial.
    pub fn report(&self, range: DateRange) -> Option<&Arc<Report>> {
        self.cached.get(&range)?.report.as_ref()
    }

    pub fn complete_report(&self, range: DateRange) -> Option<&Arc<Report>> {
        self.report(range).filter(|report| report.complete)
    }

    /// Returns the number of rows that an interrupted load of the range had loaded. A new load can continue after these
    /// rows. If the rows themselves are not cached, returns the maximum number of rows that the responses of the
    /// interrupted load can have contained. `None` if no load of the range was interrupted.
    pub fn rows_of_interrupted_load(&self, range: DateRange) -> Option<usize> {
        let known = self.cached.get(&range)?;
        let responses = known.responses_before_interruption?;
        let partial = known.report.as_ref().filter(|report| !report.complete);
        Some(
            partial
                .map_or(responses as usize * crate::model::views::MAX_PAGE_SIZE as usize, |report| report.rows.len()),
        )
    }

    /// Returns why the last load failed; `None` if it didn't fail or if it loaded another range.
    pub fn failure_of(&self, range: DateRange) -> Option<&Failure> {
        self.failure.as_ref().filter(|(of, _)| *of == range).map(|(_, failure)| failure)
    }

    /// Whether a load is running, queued or being prepared.
    pub(super) fn is_busy(&self) -> bool {
        self.active.is_some() || self.request.is_some() || !self.queued_loads.is_empty()
    }

    pub(super) fn set_cached(&mut self, range: DateRange, stored: StoredReport) {
        self.cached.insert(range, stored);
    }

    pub(super) fn has_required_data(&self, range: DateRange, need: RequiredData, now: Time) -> bool {
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
        let loaded_responses = load.and_then(|load| load.progress).map(|progress| progress.responses);
        let part = end.report.as_ref().filter(|report| !report.complete).map(|report| report.responses);
        known.responses_before_interruption = match end.end_reason {
            LoadEndReason::Complete => None,
            // This load started over and discarded the rows of an earlier, interrupted load. The responses of the
            // earlier load therefore no longer count.
            _ if load.is_some_and(|load| load.from_start) => loaded_responses.or(part),
            _ => loaded_responses.or(part).or(known.responses_before_interruption),
        };
        let Some(report) = &end.report else { return };
        if end.end_reason == LoadEndReason::Complete {
            known.last_load_requests = Some(report.responses);
        }
        if report.complete || !known.report.as_ref().is_some_and(|old| old.complete) {
            known.report = Some(Arc::clone(report));
        }
    }

    /// Drops the data of ranges that are not listed, compared, requested or being loaded. The data can be read from
    /// disk again.
    pub(super) fn drop_unused_reports(&mut self, listed: DateRange) {
        let compared = self.comparison.as_ref().map(|request| [request.ranges.current, request.ranges.previous]);
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
