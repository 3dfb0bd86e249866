//! Fresh page views from the store, without an engine: cached data needs neither key nor request.
//! The freshness rules are those of the engine.

use super::clock::{ServiceClock, local_now, saved_offset};
use super::reports::unread;
use super::views::is_fresh;
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::failure::Failure;
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::report::Report;
use crate::model::views::{ViewsPage, ViewsQuery};
use crate::store::Store;
use std::sync::Arc;

/// The stored page views of one scope.
#[derive(Debug)]
pub struct StoredViews<'a> {
    store: &'a Store,
    scope: &'a Scope,
    clock: ServiceClock,
}

impl<'a> StoredViews<'a> {
    /// Uses the last saved offset of the service's clock.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn open(store: &'a Store, scope: &'a Scope) -> Result<Self, Failure> {
        let offset = saved_offset(store, scope).await.map_err(unread)?;
        Ok(Self { store, scope, clock: ServiceClock::new(local_now(), offset) })
    }

    /// See [`super::Engine::service_now`].
    pub fn service_now(&self) -> Time {
        self.clock.now()
    }

    /// The answer to a query, if an engine would not request it again.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn fresh_answer(&self, query: ViewsQuery) -> Result<Option<Timed<ViewsPage>>, Failure> {
        let cached = self.store.cached_views(self.scope, query).await.map_err(unread)?;
        let fresh = cached.filter(|cached| is_fresh(query.range, cached.as_of, self.clock.now()));
        Ok(fresh.map(|cached| Timed { as_of: self.clock.local_of(cached.as_of), ..cached }))
    }

    /// The complete report of a range, if [`super::Engine::load_all`] would make no request for it.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn fresh_report(&self, range: DateRange) -> Result<Option<Arc<Report>>, Failure> {
        let known = self.store.cached_report(self.scope, range).await.map_err(unread)?;
        // If a newer load was interrupted, the next load continues that one.
        let complete = known.report.filter(|report| report.complete && known.interrupted_after.is_none());
        let fresh = complete.filter(|report| is_fresh(range, report.as_of, self.clock.now()));
        Ok(fresh.map(|mut report| {
            let local = Arc::make_mut(&mut report);
            local.as_of = self.clock.local_of(local.as_of);
            report
        }))
    }
}
