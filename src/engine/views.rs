//! Page views: from the cache while they are fresh, else by one request within the ledger. What is fresh is the model's
//! rule. The same query asked twice at once is one request, and it ends in the cache even when nobody waits any more.

use super::inner::{Inner, lock};
use super::look::Heard;
use super::poll::Order;
use crate::api::Reached;
use crate::model::failure::{Failure, FailureKind};
use crate::model::ledger::Limited;
use crate::model::load::Stamped;
use crate::model::log::Operation;
use crate::model::text::CleanText;
use crate::model::views::{ViewsPage, ViewsQuery};
use chrono::TimeDelta;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use std::sync::Arc;

/// What came of a load.
pub(super) type Loaded = Result<Stamped<ViewsPage>, Failure>;
/// A load under way.
pub(super) type Loading = Shared<BoxFuture<'static, Loaded>>;

/// A cached answer from further ahead than this was stamped by a clock that was wrong.
const AHEAD: TimeDelta = TimeDelta::minutes(1);

impl Inner {
    pub(super) async fn load_views(self: &Arc<Self>, query: ViewsQuery, force: bool) -> Loaded {
        if !force && let Some(cached) = self.fresh_views(query).await {
            return Ok(cached);
        }
        let loading = Arc::clone(self).join_load(query, force);
        loading.await
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

    async fn fresh_views(&self, query: ViewsQuery) -> Option<Stamped<ViewsPage>> {
        let now = self.clock.now();
        let fresh =
            |cached: &Stamped<ViewsPage>| cached.as_of <= now + AHEAD && query.range.is_fresh(cached.as_of, now);
        self.cached_views(query).await.filter(fresh)
    }

    /// The load of this query that is under way, or a new one.
    fn join_load(self: Arc<Self>, query: ViewsQuery, force: bool) -> Loading {
        let mut loading = lock(&self.loading);
        if let Some(under_way) = loading.get(&query) {
            return under_way.clone();
        }
        // A task of its own: whoever asked may stop waiting, what was paid for is kept.
        let inner = Arc::clone(&self);
        let task = tokio::spawn(async move {
            let loaded = inner.ask_views(query, force).await;
            lock(&inner.loading).remove(&query);
            loaded
        });
        let shared = async move { task.await.unwrap_or_else(|_| Err(broken_off())) }.boxed().shared();
        loading.insert(query, shared.clone());
        shared
    }

    async fn ask_views(&self, query: ViewsQuery, force: bool) -> Loaded {
        // Another load of it may have ended between the caller's look at the cache and this task.
        if !force && let Some(cached) = self.fresh_views(query).await {
            return Ok(cached);
        }
        let paid_at = self.spend_view().await?;
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
                }
                return Err(error.failure(now));
            }
        };
        self.order(Order::Heard(Heard::well()));
        if let Err(error) = self.store.save_views(&self.scope, query, &page, now).await {
            // Shown all the same; the next look costs another request.
            self.trouble(error.failure()).await;
        }
        Ok(Stamped { value: page, as_of: now })
    }
}

fn broken_off() -> Failure {
    Failure::new(FailureKind::Local, "Loading the page views broke off by a fault in docdeck: try again.")
}
