//! The visitors of the pages beside their views: what is loaded or requested, and whether it is shown. Visitors come
//! from a report of their own, which costs one more request for each range, so they are requested only while they are
//! shown.

use super::range_totals::RangeTotals;
use super::table::VisitorReports;
use crate::model::Time;
use crate::model::analytics::{AnalyticsKind, RowsLoadPlan, RowsReport};
use crate::model::failure::Failure;
use crate::model::load::{Load, Timed};
use crate::model::period::DateRange;
use crate::model::views::PageRow;
use crate::tui::{AnalyticsEffect, Effect};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The visitors that are loaded or requested, and whether they are shown.
#[derive(Debug)]
pub struct Visitors {
    pub(super) is_shown: bool,
    /// The reports that were read or requested, by their range.
    reports: HashMap<DateRange, Load<Arc<RowsReport<PageRow>>>>,
    /// The range that was on screen when the visitors were last read.
    last_read_range: Option<DateRange>,
    /// The range of a running load that needs several requests. The user can stop this load.
    pub(super) stoppable_range: Option<DateRange>,
    /// The days of the trend that are requested, one after the other. The first one is in flight.
    pub(super) queued_days: VecDeque<DateRange>,
    /// The visitors of the whole site, by range.
    pub(super) totals: RangeTotals,
}

impl Default for Visitors {
    fn default() -> Self {
        Self {
            is_shown: false,
            reports: HashMap::new(),
            last_read_range: None,
            stoppable_range: None,
            queued_days: VecDeque::new(),
            totals: RangeTotals { holds_visitors: true, ..RangeTotals::default() },
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

    /// Returns the report of the visitors in a range.
    pub fn report(&self, range: DateRange) -> Option<&RowsReport<PageRow>> {
        self.reports.get(&range)?.shown().map(|report| report.value.as_ref())
    }

    /// Returns why the visitors of a range could not be loaded. Ignores a rate limit whose waiting time is over.
    pub(super) fn failure(&self, range: DateRange, now: Time) -> Option<&Failure> {
        self.reports.get(&range)?.failure().filter(|failure| !failure.is_limit_over(now))
    }

    pub(super) fn is_loading(&self, range: DateRange) -> bool {
        self.reports.get(&range).is_some_and(Load::is_loading)
    }

    /// Whether to read a newer report of the visitors in a range. This is so if the visitors of the range were read
    /// before and are not being loaded.
    pub(in crate::tui) fn accepts_newer_report(&self, range: DateRange) -> bool {
        self.reports.get(&range).is_some_and(|load| !load.is_loading())
    }

    /// Returns the reports for the table; `None` if no visitors are shown.
    pub(super) fn for_table(&self) -> Option<VisitorReports> {
        let known = self.reports.iter().filter_map(|(range, load)| Some((*range, Arc::clone(&load.shown()?.value))));
        self.is_shown.then(|| known.collect())
    }

    /// Drops the reports that are outdated or could not be loaded, so that they are read again. Called when the user
    /// shows the visitors, and when the range on screen changes.
    pub(super) fn drop_outdated_reports(&mut self, range: DateRange, now: Time) {
        self.last_read_range = Some(range);
        self.reports.retain(|range, load| match load {
            Load::Idle | Load::Failed { .. } => false,
            Load::Loading { .. } => true,
            Load::Ready(report) => range.is_fresh(report.as_of, now),
        });
    }

    /// Whether the range on screen has changed since the visitors were last read.
    pub(super) fn has_range_changed(&self, range: DateRange) -> bool {
        self.last_read_range != Some(range)
    }

    /// Returns the effect that reads the visitors of a range from the cache, unless that was done before.
    pub(super) fn read(&mut self, range: DateRange) -> Option<Effect> {
        let load = self.reports.entry(range).or_default();
        if !matches!(load, Load::Idle) {
            return None;
        }
        load.start();
        Some(Effect::Analytics(AnalyticsEffect::LoadCached(AnalyticsKind::Visitors, range)))
    }

    pub(super) fn request(&mut self, plan: RowsLoadPlan) -> Effect {
        self.reports.entry(plan.range).or_default().start();
        Effect::Analytics(AnalyticsEffect::Load(AnalyticsKind::Visitors, plan))
    }

    pub(super) fn apply_load_result(
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
