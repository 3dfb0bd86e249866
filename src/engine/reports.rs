//! Reads the cached report of a date range, and loads the site's totals of several ranges. Totals that are
//! not fresh in the store cost one request per range, within the hourly limit. The module `load_all` loads
//! all pages of a range.

use super::Engine;
use super::state::EngineState;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::Failure;
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::report::{Report, StoredReport};
use crate::model::views::{Counts, DEFAULT_PAGE_SIZE, MIN_PAGE_SIZE, ViewsQuery};
use crate::store::StoreError;
use std::sync::Arc;

impl Engine {
    /// Returns the cached report and totals of a range, without a request.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn cached_report(&self, range: DateRange) -> Result<StoredReport, Failure> {
        self.inner.load_cached_report(range).await
    }

    /// Returns the cached totals of these ranges, without a request.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn cached_totals(&self, ranges: &[DateRange]) -> Result<Vec<(DateRange, Timed<Counts>)>, Failure> {
        let inner = &self.inner;
        let cached = inner.store.views_totals(&inner.scope, ranges).await.map_err(store_read_failure)?;
        Ok(cached.into_iter().map(|(range, totals)| (range, inner.in_local_time(totals))).collect())
    }

    /// Loads the site's totals of each range in the order of `ranges`, with one small request per range, and
    /// emits them as [`EngineEvent::Totals`]. Cached totals that are fresh cost no request.
    ///
    /// # Errors
    /// A request failed. The ranges after it are not requested.
    pub async fn load_totals(&self, ranges: &[DateRange]) -> Result<(), Failure> {
        let inner = &self.inner;
        for &range in ranges {
            let cached = inner.store.views_totals(&inner.scope, &[range]).await.map_err(store_read_failure)?;
            match cached.into_iter().find(|(_, totals)| inner.is_fresh(range, totals.as_of)) {
                Some((range, totals)) => inner.emit(EngineEvent::Totals { range, totals }).await,
                // `load_views` emits the totals, which every response contains. So the smallest page size is enough.
                // For a single day, the default page size is requested, because sparklines show the rows.
                None => {
                    let limit = if range.days() == 1 { DEFAULT_PAGE_SIZE } else { MIN_PAGE_SIZE };
                    self.load_views(ViewsQuery { range, limit, page: 1 }, false).await?;
                }
            }
        }
        Ok(())
    }
}

impl EngineState {
    pub(super) async fn load_cached_report(&self, range: DateRange) -> Result<StoredReport, Failure> {
        let mut cached = self.store.cached_report(&self.scope, range).await.map_err(store_read_failure)?;
        if let Some(report) = &mut cached.report {
            self.convert_to_local_time(Arc::make_mut(report));
        }
        cached.totals = cached.totals.map(|totals| self.in_local_time(totals));
        Ok(cached)
    }

    /// Converts the report's time from service time, as it is stored, to local wall time, as the screen needs
    /// it.
    pub(super) fn convert_to_local_time(&self, report: &mut Report) {
        report.as_of = self.clock.service_to_local(report.as_of);
    }

    /// Converts the time of loaded data from service time to local wall time.
    pub(super) fn in_local_time<T>(&self, loaded: Timed<T>) -> Timed<T> {
        Timed { as_of: self.clock.service_to_local(loaded.as_of), ..loaded }
    }
}

pub(super) fn store_read_failure(error: StoreError) -> Failure {
    error.failure()
}
