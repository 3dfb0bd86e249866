//! Cached data of complete ranges and totals of several ranges: from the store, or requested within
//! the hourly limit. `load_all` loads all pages of a range.

use super::state::EngineState;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::Failure;
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::report::{Report, StoredReport};
use crate::model::views::{Counts, LIMIT_MIN, ViewsQuery};
use crate::store::StoreError;
use std::sync::Arc;

impl EngineState {
    pub(super) async fn load_cached_report(&self, range: DateRange) -> Result<StoredReport, Failure> {
        let mut cached = self.store.cached_report(&self.scope, range).await.map_err(unread)?;
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
        let known = self.store.views_totals(&self.scope, ranges).await.map_err(unread)?;
        Ok(known.into_iter().map(|(range, totals)| (range, self.totals_in_local_time(totals))).collect())
    }

    pub(super) async fn load_totals(self: &Arc<Self>, ranges: &[DateRange]) -> Result<(), Failure> {
        for &range in ranges {
            let known = self.store.views_totals(&self.scope, &[range]).await.map_err(unread)?;
            match known.into_iter().find(|(_, totals)| self.is_fresh(range, totals.as_of)) {
                Some((range, totals)) => self.emit(EngineEvent::Totals { range, totals }).await,
                // The smallest possible answer; loading it emits the totals.
                None => drop(self.load_views(ViewsQuery { range, limit: LIMIT_MIN, page: 1 }, false).await?),
            }
        }
        Ok(())
    }

    /// The store has service time; the screen compares with the local clock.
    pub(super) fn to_local_time(&self, report: &mut Report) {
        report.as_of = self.clock.local_of(report.as_of);
    }

    fn totals_in_local_time(&self, totals: Timed<Counts>) -> Timed<Counts> {
        Timed { as_of: self.clock.local_of(totals.as_of), ..totals }
    }
}

pub(super) fn unread(error: StoreError) -> Failure {
    error.failure()
}
