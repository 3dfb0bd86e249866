//! The state of the page views screen: the date range, the current page of rows, and the loaded rows with their age.

pub mod all_pages;
pub mod areas;
pub mod cached_ranges;
pub mod calendar;
pub mod calendar_layout;
pub mod columns;
pub mod compare;
mod daily;
#[cfg(test)]
mod dialog_tests;
pub(in crate::tui) mod draw;
pub mod export;
mod load_all;
mod loading;
pub mod messages;
pub mod movers;
pub mod page_detail;
pub(in crate::tui) mod page_job;
pub mod range_line;
pub mod range_totals;
mod ranges;
pub mod request_cost;
mod saved_settings;
pub(in crate::tui) mod screen;
pub mod table;
pub mod trend;
pub mod visitors;
#[cfg(test)]
mod visitors_tests;
mod visitors_update;

use self::areas::AboveTable;
use self::trend::TrendDialog;
use super::msg::Effect;
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::load::{Load, Timed};
use crate::model::period::{DateRange, Period, Preset};
use crate::model::report::Report;
use crate::model::views::{DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE, MIN_PAGE_SIZE, PageRow, ViewsQuery, ViewsResponse};
use crate::tui::ViewsEffect;
use chrono::TimeDelta;
use std::sync::Arc;

/// One page of rows from the service, with the query that requested it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnsweredQuery {
    pub query: ViewsQuery,
    pub page: ViewsResponse,
}

#[derive(Debug)]
pub struct ViewsState {
    /// The preset that determines the range; `None` if the range is not a preset.
    preset: Option<Preset>,
    /// The period that is shown: a number of days, a week, a month or a quarter. The range of `query` has the days of
    /// this period up to today. `[` and `]` go to the previous and the next period.
    period: Period,
    query: ViewsQuery,
    /// The page of rows that is requested or listed. Becomes idle when a [`Report`] is listed instead.
    load: Load<AnsweredQuery>,
    /// The share of the site's views, 0 to 1, that the rows of a partial report cover. Computed when that report is
    /// listed.
    loaded_share: Option<f64>,
    /// The range that is being read from the cache. It is requested from the service only after this read has ended.
    range_being_read: Option<DateRange>,
    /// The listed rows.
    pub table: table::PageTable,
    /// Cached reports, and running and queued loads.
    pub all_pages: all_pages::AllPages,
    /// The visitors of the pages, which are requested only while they are shown.
    pub visitors: visitors::Visitors,
    /// The site's totals by range.
    pub totals: range_totals::RangeTotals,
    /// The range of the trend above the table; `None` until the cache is read for the first time. After the range on
    /// screen has changed, the trend keeps its old range until the cache is read again, so that it doesn't disappear
    /// for a moment.
    pub(super) trend_range: Option<DateRange>,
    /// Whether the views of at least one day or week of the trend above the table are known.
    has_trend_bars: bool,
    /// The views of each page per day; `None` if there is no page whose views are known on at least two days.
    pub(in crate::tui) daily: Option<daily::DailyViews>,
}

/// Maximum difference between the times of two responses that count as equally new. The times aren't exact: the
/// service's times have whole seconds, and the estimate of the service's clock is corrected with each response.
const CLOCK_TOLERANCE: TimeDelta = TimeDelta::seconds(2);

impl ViewsState {
    /// Starts with the last seven days, without requesting anything.
    pub fn new(now: Time) -> Self {
        let preset = Preset::SevenDays;
        let range = preset.range(now.date_naive());
        let query = ViewsQuery { range, limit: DEFAULT_PAGE_SIZE, page: 1 };
        Self {
            preset: Some(preset),
            period: preset.period(now.date_naive()),
            query,
            load: Load::Idle,
            loaded_share: None,
            range_being_read: None,
            table: table::PageTable::default(),
            all_pages: all_pages::AllPages::default(),
            visitors: visitors::Visitors::default(),
            totals: range_totals::RangeTotals::default(),
            trend_range: None,
            has_trend_bars: false,
            daily: None,
        }
    }

    pub fn query(&self) -> ViewsQuery {
        self.query
    }

    /// Returns the page of rows that is requested or listed. Its rows may still belong to an earlier query.
    pub fn load(&self) -> &Load<AnsweredQuery> {
        &self.load
    }

    /// Returns all loaded rows, including rows that the filter or a closed folder hides.
    pub fn rows(&self) -> &[PageRow] {
        self.table.rows()
    }

    pub fn selected_row(&self) -> Option<&PageRow> {
        self.table.selected_row()
    }

    /// Whether the listed rows belong to the current query, not to an earlier one.
    pub fn lists_current_query(&self) -> bool {
        match self.table.report() {
            Some(report) => report.range == self.query.range,
            None => self.load.shown().is_some_and(|shown| shown.value.query == self.query),
        }
    }

    /// Returns why the last attempt to load the current range failed. Ignores a rate limit whose waiting time is over.
    pub fn load_failure(&self, now: Time) -> Option<&Failure> {
        let counts = |failure: &&Failure| !failure.is_limit_over(now);
        let of_all = self.all_pages.failure_of(self.query.range).filter(counts);
        of_all.or_else(|| self.load.failure().filter(counts))
    }

    /// Returns the share of the site's views that the rows of a partial report cover, 0 to 1.
    pub fn loaded_share(&self) -> Option<f64> {
        self.loaded_share
    }

    /// Lists the rows of a partial report.
    fn list_partial_report(&mut self, report: Arc<Report>) {
        self.loaded_share = report.loaded_share();
        self.table.show_report(report, None);
    }

    /// Returns the time at which the listed rows were loaded; `None` if nothing is listed.
    pub fn as_of(&self) -> Option<Time> {
        let report = self.table.report().map(|report| report.as_of);
        report.or_else(|| self.load.shown().map(|shown| shown.as_of))
    }

    /// Whether there is a next page of rows. `false` until the current page is loaded, and while a report is listed.
    pub fn has_next(&self) -> bool {
        self.table.report().is_none()
            && self
                .load
                .shown()
                .is_some_and(|shown| shown.value.query == self.query && self.query.has_next(&shown.value.page))
    }

    /// Shows the trend of the current range above the table, and checks whether any of its bars is known.
    fn update_trend(&mut self) {
        let trend = TrendDialog::new(self.query.range);
        self.trend_range = Some(self.query.range);
        self.has_trend_bars = trend.bars(&self.totals).any(|bar| bar.totals.is_some());
    }

    /// Returns what is above the table. A single day has no trend.
    fn above_table(&self) -> AboveTable {
        match self.trend_range {
            Some(range) if range.days() > 1 && self.has_trend_bars => AboveTable::Trend,
            Some(range) if range.days() > 1 => AboveTable::TrendNote,
            _ => AboveTable::Nothing,
        }
    }

    /// Whether rows are listed, but it is not yet known whether the cache has a trend to show above them.
    pub(super) fn is_reading_trend(&self) -> bool {
        self.trend_range.is_none() && self.site_totals().is_some()
    }

    /// Returns the effect that reads the cache, if nothing has been loaded or requested yet.
    pub fn load_if_idle(&mut self) -> Option<Effect> {
        let is_first = matches!(self.load, Load::Idle) && self.table.report().is_none();
        is_first.then(|| self.load_cached())
    }

    /// Ignores the running read of the current range, because a tab with another report is shown.
    pub(in crate::tui) fn ignore_running_load(&mut self) {
        self.range_being_read = None;
        if self.load.is_loading() {
            self.load = Load::Idle;
        }
    }

    /// Returns the effect that reads the current range from the cache, unless its rows are shown, are being loaded or
    /// could not be loaded.
    pub(in crate::tui) fn load_unless_current(&mut self) -> Option<Effect> {
        let is_waiting = matches!(self.load, Load::Idle) && !self.lists_current_query();
        is_waiting.then(|| self.load_cached())
    }

    /// Returns the effect that reads a complete report that another member of the team has loaded, if its range is
    /// listed or was read before. Returns `None` while this instance loads the same range, because that load ends with
    /// the newer report.
    pub(in crate::tui) fn read_received_report(&mut self, range: DateRange) -> Option<ViewsEffect> {
        if self.all_pages.active_load().is_some_and(|load| load.range == range) {
            return None;
        }
        let is_used = !matches!(self.load, Load::Idle) || self.table.report().is_some();
        let is_listed = range == self.query.range && is_used;
        if is_listed {
            self.range_being_read = Some(range);
        }
        (is_listed || self.all_pages.stored_report(range).is_some()).then_some(ViewsEffect::LoadReceivedReport(range))
    }

    fn request_page(&mut self, ignores_cache: bool) -> Effect {
        self.load.start();
        Effect::Views(ViewsEffect::Load { query: self.query, ignores_cache })
    }

    /// Returns the effect that reads the current range from the cache. Whether anything is requested depends on the
    /// result.
    fn load_cached(&mut self) -> Effect {
        self.load.start();
        self.range_being_read = Some(self.query.range);
        Effect::Views(ViewsEffect::LoadCachedReport(self.query.range))
    }

    fn set_query(&mut self, query: ViewsQuery) -> Option<Effect> {
        let same_range = query.range == self.query.range;
        let lists_all = self.table.report().is_some() && self.lists_current_query();
        if same_range && lists_all {
            // A report of this range is listed instead of one page of rows, so nothing is requested. Only the page size
            // is stored.
            self.query.limit = query.limit;
            return None;
        }
        if query == self.query && !matches!(self.load, Load::Idle | Load::Failed { .. }) {
            return None;
        }
        self.query = query;
        self.table.select_first_or_last_line(false);
        Some(if same_range { self.request_page(false) } else { self.load_cached() })
    }

    /// Goes to the next or the previous page of rows.
    pub fn turn_page(&mut self, is_forward: bool) -> Option<Effect> {
        let page = if is_forward {
            self.has_next().then(|| self.query.page.saturating_add(1))?
        } else {
            (self.query.page > 1).then(|| self.query.page - 1)?
        };
        self.go_to_page(page)
    }

    /// Goes to a page of rows. `page` is counted from 1.
    pub fn go_to_page(&mut self, page: u32) -> Option<Effect> {
        self.set_query(ViewsQuery { page: page.max(1), ..self.query })
    }

    /// Changes the number of rows per page. The new page contains the first row of the old one.
    pub fn set_page_size(&mut self, limit: u32) -> Option<Effect> {
        let limit = limit.clamp(MIN_PAGE_SIZE, MAX_PAGE_SIZE);
        let page = u32::try_from(self.query.offset() / u64::from(limit)).unwrap_or(0).saturating_add(1);
        self.set_query(ViewsQuery { limit, page, ..self.query })
    }

    fn set_range(&mut self, range: DateRange) -> Option<Effect> {
        self.set_query(ViewsQuery { range, page: 1, ..self.query })
    }

    /// Applies the result of a query and returns whether anything changed. The result of an older query is dropped.
    /// `old` is the cached response, which is listed if the request failed.
    pub fn apply_response(
        &mut self,
        query: ViewsQuery,
        result: Result<Timed<ViewsResponse>, Failure>,
        old: Option<Timed<ViewsResponse>>,
        now: Time,
    ) -> bool {
        if query != self.query {
            return false;
        }
        if self.table.report().is_some_and(|report| report.range == query.range) {
            // A report of the range was listed while this response was being loaded, so the response isn't needed.
            self.load = Load::Idle;
            return true;
        }
        let with_query = |timed: Timed<ViewsResponse>| Timed {
            value: AnsweredQuery { query, page: timed.value },
            as_of: timed.as_of,
        };
        match (result, old) {
            (Err(failure), Some(old)) => {
                self.load = Load::Failed { failure, at: now, previous: Some(with_query(old)) };
            }
            (result, _) => self.load.finish(result.map(with_query), now),
        }
        match (self.load.shown(), self.all_pages.report(query.range)) {
            // The request failed or brought nothing newer, and the partial report has more rows than the response.
            (Some(shown), Some(report))
                if query.page == 1
                    && report.rows.len() > shown.value.page.rows.len()
                    && (self.load.failure().is_some() || shown.as_of - report.as_of <= CLOCK_TOLERANCE) =>
            {
                let report = Arc::clone(report);
                self.list_partial_report(report);
                if self.load.failure().is_none() {
                    self.load = Load::Idle;
                }
            }
            (Some(shown), _) => self.table.show_response(query.range, &shown.value.page.rows),
            // There is no response to list, only the partial report.
            (None, Some(report)) => {
                let report = Arc::clone(report);
                self.list_partial_report(report);
            }
            (None, None) => {}
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::failure::FailureKind;
    use crate::model::text::CleanText;
    use crate::model::views::Counts;

    fn now() -> Time {
        "2026-11-20T12:00:00Z".parse().expect("a time")
    }

    fn page(rows: usize, has_more: bool) -> Timed<ViewsResponse> {
        let row = |n: usize| PageRow { path: CleanText::line(&format!("/{n}")), counts: Counts::default() };
        let value =
            ViewsResponse { totals: Counts::default(), rows: (0..rows).map(row).collect(), has_more: Some(has_more) };
        Timed { value, as_of: now() }
    }

    fn query(effect: Option<Effect>) -> ViewsQuery {
        match effect {
            Some(Effect::Views(ViewsEffect::Load { query, .. })) => query,
            other => panic!("expected a request, got {other:?}"),
        }
    }

    fn cached_range(effect: Option<Effect>) -> DateRange {
        match effect {
            Some(Effect::Views(ViewsEffect::LoadCachedReport(range))) => range,
            other => panic!("expected a read of the cache, got {other:?}"),
        }
    }

    #[test]
    fn paging_stops_at_the_first_and_the_last_page() {
        let mut views = ViewsState::new(now());
        cached_range(views.load_if_idle());
        assert!(views.turn_page(true).is_none(), "no next page is known yet");
        assert!(views.turn_page(false).is_none());
        views.apply_response(views.query(), Ok(page(50, true)), None, now());
        let second = query(views.turn_page(true));
        assert_eq!((second.page, second.offset()), (2, 50));
        views.apply_response(second, Ok(page(3, false)), None, now());
        assert!(views.turn_page(true).is_none());
    }

    #[test]
    fn a_response_to_an_older_query_is_dropped() {
        let mut views = ViewsState::new(now());
        cached_range(views.load_if_idle());
        let first = views.query();
        cached_range(views.switch_to_next_preset(now()));
        assert!(!views.apply_response(first, Ok(page(5, false)), None, now()));
        assert!(views.load().is_loading());
    }

    #[test]
    fn loaded_rows_stay_if_a_refresh_fails() {
        let mut views = ViewsState::new(now());
        views.load_if_idle();
        let first = views.query();
        views.apply_response(first, Ok(page(5, false)), None, now());
        views.request_page(true);
        views.apply_response(first, Err(Failure::new(FailureKind::Offline, "no network")), None, now());
        assert_eq!(views.rows().len(), 5);
        assert!(views.load().failure().is_some());
    }

    #[test]
    fn an_expired_rate_limit_is_no_longer_a_failure() {
        let mut views = ViewsState::new(now());
        views.load_if_idle();
        let until = now() + TimeDelta::minutes(5);
        let failure = Failure::new(
            FailureKind::Limited(crate::model::ledger::Wait { until, is_estimate: false }),
            "the limit is used up",
        );
        views.apply_response(views.query(), Err(failure), None, now());
        assert!(views.load_failure(now()).is_some());
        assert!(views.load_failure(until).is_none());
    }

    #[test]
    fn a_partial_report_is_listed_if_the_request_fails() {
        let mut views = ViewsState::new(now());
        views.load_if_idle();
        let query = views.query();
        let partial = Report::from_first_response(query.range, page(250, true).value, false, now());
        let cached = crate::model::report::StoredReport {
            report: Some(Arc::new(partial)),
            responses_before_interruption: Some(1),
            ..crate::model::report::StoredReport::default()
        };
        views.all_pages.set_cached(query.range, cached);
        let offline = || Err(Failure::new(FailureKind::Offline, "no network"));
        views.apply_response(query, offline(), Some(page(50, true)), now());
        assert_eq!(views.rows().len(), 250);
        assert!(views.lists_current_query() && views.load_failure(now()).is_some());
    }

    #[test]
    fn changing_the_page_size_keeps_the_first_row_on_the_page() {
        let mut views = ViewsState::new(now());
        query(views.go_to_page(5));
        let resized = query(views.set_page_size(25));
        assert_eq!((resized.limit, resized.page), (25, 9));
        assert_eq!(query(views.set_page_size(9999)).limit, MAX_PAGE_SIZE);
    }
}
