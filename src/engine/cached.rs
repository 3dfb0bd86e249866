//! Page views as the record has them, for who has no way to the service: what is kept and fresh needs neither key nor
//! request. The rules are those of an engine.

use super::clock::{ServiceClock, local_now, remembered_offset};
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

/// The page views of one scope in the record.
#[derive(Debug)]
pub struct KeptViews<'a> {
    store: &'a Store,
    scope: &'a Scope,
    clock: ServiceClock,
}

impl<'a> KeptViews<'a> {
    /// With the service's time as it was last seen.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn of(store: &'a Store, scope: &'a Scope) -> Result<Self, Failure> {
        let offset = remembered_offset(store, scope).await.map_err(unread)?;
        Ok(Self { store, scope, clock: ServiceClock::new(local_now(), offset) })
    }

    /// As [`super::Engine::service_now`].
    pub fn service_now(&self) -> Time {
        self.clock.now()
    }

    /// The answer to a query, where an engine would not ask for it again.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn fresh_answer(&self, query: ViewsQuery) -> Result<Option<Timed<ViewsPage>>, Failure> {
        let kept = self.store.cached_views(self.scope, query).await.map_err(unread)?;
        let fresh = kept.filter(|kept| is_fresh(query.range, kept.as_of, self.clock.now()));
        Ok(fresh.map(|kept| Timed { as_of: self.clock.local_of(kept.as_of), ..kept }))
    }

    /// All pages of a range, where [`super::Engine::load_all`] would not ask for any again.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn fresh_report(&self, range: DateRange) -> Result<Option<Arc<Report>>, Failure> {
        let known = self.store.recall_views(self.scope, range).await.map_err(unread)?;
        // Where a newer load was broken off, the next one goes on with it.
        let whole = known.report.filter(|report| report.complete && known.broken_off.is_none());
        let fresh = whole.filter(|report| is_fresh(range, report.as_of, self.clock.now()));
        Ok(fresh.map(|mut report| {
            let own = Arc::make_mut(&mut report);
            own.as_of = self.clock.local_of(own.as_of);
            report
        }))
    }
}
