//! Page views: from the cache while they are fresh, else by one request within the ledger. What is fresh is the model's
//! rule. The same query asked twice at once is one request, and it ends in the cache even when nobody waits any more.

use super::inner::{Inner, lock};
use super::look::Heard;
use super::poll::Order;
use crate::api::Reached;
use crate::model::Time;
use crate::model::failure::{Failure, FailureKind};
use crate::model::ledger::Limited;
use crate::model::load::Stamped;
use crate::model::log::Operation;
use crate::model::news::News;
use crate::model::period::DateRange;
use crate::model::text::CleanText;
use crate::model::views::{ViewsPage, ViewsQuery};
use chrono::TimeDelta;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use std::sync::Arc;

/// What came of a load.
pub(super) type Loaded = Result<Stamped<ViewsPage>, Failure>;
/// A load under way, with whether it has cost a request.
pub(super) type Loading = Shared<BoxFuture<'static, (Loaded, bool)>>;

/// A cached answer from further ahead than this was stamped by a clock that was wrong.
const AHEAD: TimeDelta = TimeDelta::minutes(1);

impl Inner {
    pub(super) async fn load_views(self: &Arc<Self>, query: ViewsQuery, force: bool) -> Loaded {
        if !force && let Some(cached) = self.fresh_views(query).await {
            return Ok(cached);
        }
        self.ask_for_views(query, force).await.0
    }

    /// As [`Inner::load_views`] without the first look at the cache; also gives whether this call has cost a request.
    pub(super) async fn ask_for_views(self: &Arc<Self>, query: ViewsQuery, force: bool) -> (Loaded, bool) {
        let (loading, is_own) = Arc::clone(self).join_load(query, force);
        let (loaded, asked) = loading.await;
        (loaded, is_own && asked)
    }

    pub(super) async fn cached_views(&self, query: ViewsQuery) -> Option<Stamped<ViewsPage>> {
        match self.store.cached_views(&self.scope, query).await {
            Ok(cached) => cached,
            Err(error) => {
                self.trouble(error.failure()).await;
                None
            }
        }
    }

    /// From the cache, if it need not be asked for again.
    pub(super) async fn fresh_views(&self, query: ViewsQuery) -> Option<Stamped<ViewsPage>> {
        self.cached_views(query).await.filter(|cached| self.is_fresh(query.range, cached.as_of))
    }

    /// An answer from the cache that holds all pages of the range, if it need not be asked for again.
    pub(super) async fn fresh_whole_views(&self, range: DateRange) -> Option<Stamped<ViewsPage>> {
        match self.store.whole_views(&self.scope, range).await {
            Ok(cached) => cached.filter(|cached| self.is_fresh(range, cached.as_of)),
            Err(error) => {
                self.trouble(error.failure()).await;
                None
            }
        }
    }

    /// Whether numbers about the range from this moment of the service's time need not be asked for again.
    pub(super) fn is_fresh(&self, range: DateRange, as_of: Time) -> bool {
        is_fresh(range, as_of, self.clock.now())
    }

    /// The load of this query that is under way, or a new one, which the second value says.
    fn join_load(self: Arc<Self>, query: ViewsQuery, force: bool) -> (Loading, bool) {
        let mut loading = lock(&self.loading);
        if let Some(under_way) = loading.get(&query) {
            return (under_way.clone(), false);
        }
        // A task of its own: whoever asked may stop waiting, what was paid for is kept.
        let inner = Arc::clone(&self);
        let task = tokio::spawn(async move {
            let loaded = inner.ask_views(query, force).await;
            lock(&inner.loading).remove(&query);
            loaded
        });
        let shared = async move { task.await.unwrap_or_else(|_| (Err(broken_off()), true)) }.boxed().shared();
        loading.insert(query, shared.clone());
        (shared, true)
    }

    async fn ask_views(&self, query: ViewsQuery, force: bool) -> (Loaded, bool) {
        // Another load of it may have ended between the caller's look at the cache and this task.
        if !force && let Some(cached) = self.fresh_views(query).await {
            return (Ok(cached), false);
        }
        match self.spend_view().await {
            Ok(paid_at) => self.ask_paid_views(query, paid_at).await,
            Err(failure) => (Err(failure), false),
        }
    }

    /// One request; a request that never reached the service has cost nothing.
    async fn ask_paid_views(&self, query: ViewsQuery, paid_at: Time) -> (Loaded, bool) {
        let answer = self.client.views(&query).await;
        let subject = CleanText::line(&format!("{}, page {}", query.range, query.page));
        let result = self.account(Operation::Views, subject, answer).await;
        let now = self.clock.now();
        let page = match result {
            Ok(page) => page,
            Err(error) => {
                if let Some(until) = error.limited_until(now) {
                    if let Err(error) = self.store.mark_full(&self.scope, Limited::Views, until).await {
                        self.trouble(error.failure()).await;
                    }
                    self.report_budget(Limited::Views).await;
                } else if error.reached() == Reached::No {
                    self.refund_view(paid_at).await;
                    self.order(Order::Heard(Heard::unreachable(error.failure(now).sentence)));
                    return (Err(error.failure(now)), false);
                }
                let failure = error.failure(now);
                if failure.kind == FailureKind::Service {
                    self.order(Order::Heard(Heard::odd(failure.sentence.clone())));
                }
                return (Err(failure), true);
            }
        };
        self.order(Order::Heard(Heard::well()));
        if let Err(error) = self.store.save_views(&self.scope, query, &page, now).await {
            // Shown all the same; the next look costs another request.
            self.trouble(error.failure()).await;
        }
        let totals = Stamped { value: page.totals.clone(), as_of: now };
        self.tell(News::Totals { range: query.range, totals }).await;
        (Ok(Stamped { value: page, as_of: now }), true)
    }
}

/// Whether numbers about the range from this moment need not be asked for again now, both of the service's time.
pub(super) fn is_fresh(range: DateRange, as_of: Time, now: Time) -> bool {
    as_of <= now + AHEAD && range.is_fresh(as_of, now)
}

fn broken_off() -> Failure {
    Failure::new(FailureKind::Local, "Loading the page views broke off by a fault in docdeck: try again.")
}
