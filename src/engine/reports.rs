//! Reads the cached report of a date range, and loads the site's totals of several ranges. Totals that are
//! not fresh in the store cost one request per range, within the hourly limit. The module `load_all` loads
//! all pages of a range.

use super::state::EngineState;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::Failure;
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::report::{Report, StoredReport};
use crate::model::views::{Counts, MIN_PAGE_SIZE, ViewsQuery};
use crate::store::StoreError;
use std::sync::Arc;

impl EngineState {
    pub(super) async fn load_cached_report(&self, range: DateRange) -> Result<StoredReport, Failure> {
        let mut cached = self.store.cached_report(&self.scope, range).await.map_err(read_failure)?;
        if let Some(report) = &mut cached.report {
            self.to_local_time(Arc::make_mut(report));
        }
        cached.totals = cached.totals.map(|totals| self.totals_in_local_time(totals));
        Ok(cached)
    }

    pub(super) async fn load_cached_totals(
        &self,
        ranges: &[DateRange],
    ) -> Result<Vec<(DateRange, Timed<Counts>)>, Failure> {
        let cached = self.store.views_totals(&self.scope, ranges).await.map_err(read_failure)?;
        Ok(cached.into_iter().map(|(range, totals)| (range, self.totals_in_local_time(totals))).collect())
    }

    pub(super) async fn load_totals(self: &Arc<Self>, ranges: &[DateRange]) -> Result<(), Failure> {
        for &range in ranges {
            let cached = self.store.views_totals(&self.scope, &[range]).await.map_err(read_failure)?;
            match cached.into_iter().find(|(_, totals)| self.is_fresh(range, totals.as_of)) {
                Some((range, totals)) => self.emit(EngineEvent::Totals { range, totals }).await,
                // Requests the smallest possible page of views: `load_views` emits the totals that come with it.
                None => drop(self.load_views(ViewsQuery { range, limit: MIN_PAGE_SIZE, page: 1 }, false).await?),
            }
        }
        Ok(())
    }

    /// Converts the report's time from service time, as it is stored, to local wall time, as the screen needs
    /// it.
    pub(super) fn to_local_time(&self, report: &mut Report) {
        report.as_of = self.clock.service_to_local(report.as_of);
    }

    fn totals_in_local_time(&self, totals: Timed<Counts>) -> Timed<Counts> {
        Timed { as_of: self.clock.service_to_local(totals.as_of), ..totals }
    }
}

pub(super) fn read_failure(error: StoreError) -> Failure {
    error.failure()
}
