//! Reads fresh analytics from the store without an engine: cached data needs neither an API key nor a request. The
//! engine determines by the same rule what is fresh.

use super::clock::{ServiceClock, local_now};
use super::reports::store_read_failure;
use super::views::is_fresh;
use crate::model::Time;
use crate::model::analytics::{AnalyticsRow, RowsReport};
use crate::model::endpoint::Scope;
use crate::model::failure::Failure;
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::report::Report;
use crate::model::views::{ViewsQuery, ViewsResponse};
use crate::store::Store;
use std::sync::Arc;

/// The stored analytics of one scope.
#[derive(Debug)]
pub struct StoredAnalytics<'a> {
    store: &'a Store,
    scope: &'a Scope,
    clock: ServiceClock,
}

impl<'a> StoredAnalytics<'a> {
    /// Opens the analytics of `scope`. Service time is the local time plus the last saved offset.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn open(store: &'a Store, scope: &'a Scope) -> Result<Self, Failure> {
        let offset = store.service_clock_offset(scope).await.map_err(store_read_failure)?;
        Ok(Self { store, scope, clock: ServiceClock::new(local_now(), offset) })
    }

    /// See [`super::Engine::service_time`].
    pub fn service_time(&self) -> Time {
        self.clock.now()
    }

    /// Returns the rows of a query if they are cached and fresh. The rows come from the newest response that contains
    /// all of them, or from the complete report of the range if the report is newer.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn fresh_cached_response(&self, query: ViewsQuery) -> Result<Option<Timed<ViewsResponse>>, Failure> {
        let responses = self.store.cached_views_covering(self.scope, query).await.map_err(store_read_failure)?;
        let report = self.store.cached_report(self.scope, query.range).await.map_err(store_read_failure)?.report;
        let from_report = report.filter(|report| report.complete).map(Arc::unwrap_or_clone).and_then(|report| {
            let first = ViewsResponse { totals: report.totals, rows: report.rows, has_more: None };
            Some(Timed { value: query.select_from(first, false)?, as_of: report.as_of })
        });
        let pages = from_report.into_iter().chain(responses);
        let fresh = pages.filter(|page| self.is_fresh(query.range, page.as_of)).max_by_key(|page| page.as_of);
        Ok(fresh.map(|page| Timed { as_of: self.clock.service_to_local(page.as_of), ..page }))
    }

    /// Returns the cached report of a range if it is complete and fresh, so that
    /// [`super::Engine::load_all`] would make no request. If there is no such report, but a fresh cached response that
    /// contains all pages, returns a report made from this response.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn fresh_report(&self, range: DateRange) -> Result<Option<Arc<Report>>, Failure> {
        let cached = self.store.cached_report(self.scope, range).await.map_err(store_read_failure)?;
        // If a later load of the range was interrupted, `load_all` would send requests to finish it, so no cached
        // report counts as complete.
        if cached.responses_before_interruption.is_some() {
            return Ok(None);
        }
        let complete = cached.report.filter(|report| report.complete && self.is_fresh(range, report.as_of));
        let fresh = match complete {
            Some(report) => Some(report),
            None => {
                let response = self.store.cached_complete_views(self.scope, range).await.map_err(store_read_failure)?;
                let fresh = response.filter(|response| self.is_fresh(range, response.as_of));
                fresh.map(|Timed { value, as_of }| Arc::new(Report::from_first_response(range, value, true, as_of)))
            }
        };
        Ok(fresh.map(|mut report| {
            let local = Arc::make_mut(&mut report);
            local.as_of = self.clock.service_to_local(local.as_of);
            report
        }))
    }

    /// Returns the stored report of a range if it is complete and fresh, so that [`super::Engine::load_rows`] would
    /// make no request.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn fresh_rows<R: AnalyticsRow>(&self, range: DateRange) -> Result<Option<Arc<RowsReport<R>>>, Failure> {
        let stored = self.store.rows_report::<R>(self.scope, range).await.map_err(store_read_failure)?;
        let complete =
            stored.report.filter(|report| report.is_complete() && stored.responses_before_interruption.is_none());
        let fresh = complete.filter(|report| self.is_fresh(range, report.as_of));
        Ok(fresh.map(|mut report| {
            let local = Arc::make_mut(&mut report);
            local.as_of = self.clock.service_to_local(local.as_of);
            report
        }))
    }

    fn is_fresh(&self, range: DateRange, as_of: Time) -> bool {
        is_fresh(range, as_of, self.clock.now())
    }
}
