//! The messages and effects about page views.

use crate::model::failure::Failure;
use crate::model::impact::PageHistory;
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::report::{CacheOverview, LoadOutcome, LoadPlan, Report, StoredReport};
use crate::model::text::CleanText;
use crate::model::views::{Counts, ViewsQuery, ViewsResponse};

/// A message about page views.
#[derive(Debug)]
pub enum ViewsMsg {
    /// The page views for a query. If the request failed, `old` is the cached response to the query, if any.
    Loaded { query: ViewsQuery, result: Result<Timed<ViewsResponse>, Failure>, old: Option<Timed<ViewsResponse>> },
    /// The cached report of a range.
    CachedReportLoaded { range: DateRange, stored: Result<StoredReport, Failure> },
    /// The cached reports of single days of a range, complete or partial; none if they can't be read.
    DailyReportsLoaded { range: DateRange, reports: Vec<Report> },
    /// Loading all pages of a range ended, whether or not all pages were loaded.
    LoadEnded { range: DateRange, end: LoadOutcome },
    /// The cached site totals of the requested ranges.
    CachedTotalsLoaded(Result<Vec<(DateRange, Timed<Counts>)>, Failure>),
    /// Loading site totals ended. The totals themselves arrived as engine events.
    TotalsLoadEnded(Result<(), Failure>),
    /// The cached history of a page.
    PageHistoryLoaded { path: CleanText, result: Result<PageHistory, Failure> },
    /// The cached ranges, with their page views and other reports.
    CachedRangesListed(Result<CacheOverview, Failure>),
}

/// A side effect about page views.
#[derive(Debug, Clone, PartialEq)]
pub enum ViewsEffect {
    /// Loads the page views for a query, from the cache if they are fresh. Otherwise, or if `ignores_cache` is set,
    /// sends a request. Answered by [`ViewsMsg::Loaded`].
    Load { query: ViewsQuery, ignores_cache: bool },
    /// Loads the cached report of a range, without a request; answered by [`ViewsMsg::CachedReportLoaded`].
    LoadCachedReport(DateRange),
    /// Loads the report of a range that another member of the team has loaded, without a request; answered by
    /// [`ViewsMsg::CachedReportLoaded`].
    LoadReceivedReport(DateRange),
    /// Loads the cached reports of single days of a range, without a request; answered by
    /// [`ViewsMsg::DailyReportsLoaded`].
    LoadDailyReports(DateRange),
    /// Loads all pages of a range, or continues a partial load; answered by [`ViewsMsg::LoadEnded`].
    LoadAll(LoadPlan),
    /// Stops the load of all pages of this range once its current request has its response.
    StopLoading(DateRange),
    /// Loads the cached site totals of these ranges, without a request; answered by [`ViewsMsg::CachedTotalsLoaded`].
    LoadCachedTotals(Vec<DateRange>),
    /// Requests the site totals of these ranges in this order, with one request each, and stops if a request fails.
    LoadTotals(Vec<DateRange>),
    /// Loads the cached history of a page, without a request; answered by [`ViewsMsg::PageHistoryLoaded`].
    LoadPageHistory {
        path: CleanText,
        /// The range whose reports about the page are read.
        range: DateRange,
        /// The single days for which the history has to show whether the page had views.
        days: Vec<DateRange>,
    },
    /// Lists the cached ranges, with their page views and other reports; answered by [`ViewsMsg::CachedRangesListed`].
    ListCachedRanges,
}
