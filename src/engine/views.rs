//! Page views: from the cache while they are fresh, else by one request within the ledger. What is fresh is the model's
//! rule. The same query asked twice at once is one request, and it ends in the cache even when nobody waits any more; one
//! that a load of all pages asked for ends in the report on disk as well, in the same transaction.

use super::fetch::FetchOutcome;
use super::poll::PollerCommand;
use super::state::{EngineState, lock};
use crate::api::Reached;
use crate::model::Time;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::{Failure, FailureKind};
use crate::model::ledger::RateLimited;
use crate::model::load::Timed;
use crate::model::log::Operation;
use crate::model::period::DateRange;
use crate::model::report::Merge;
use crate::model::text::CleanText;
use crate::model::views::{ViewsPage, ViewsQuery};
use crate::store::{ReportAnswer, StoreError};
use chrono::TimeDelta;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use std::sync::Arc;

/// What came of a load.
pub(super) type LoadedViews = Result<Timed<ViewsPage>, Failure>;
/// A load under way.
pub(super) type PendingLoad = Shared<BoxFuture<'static, PaidAnswer>>;

/// What an answer is asked for.
#[derive(Debug)]
pub(super) enum RequestPurpose {
    /// To be kept in the cache.
    Page,
    /// To be taken into the report that is being loaded as well, of which no answer from before that moment may be a part:
    /// unless it leads nowhere after what came so far.
    Report { since: Option<Time>, so_far: Option<Arc<Merge>> },
}

/// What came of asking.
#[derive(Debug, Clone)]
pub(super) struct PaidAnswer {
    pub(super) loaded: LoadedViews,
    /// Whether it has cost a request.
    pub(super) asked: bool,
    /// Whether it was handed to the report on disk, with whatever success: whoever had it asked for need not.
    pub(super) handed_on: bool,
}

/// A cached answer from further ahead than this was stamped by a clock that was wrong.
const AHEAD: TimeDelta = TimeDelta::minutes(1);

impl EngineState {
    pub(super) async fn load_views(self: &Arc<Self>, query: ViewsQuery, force: bool) -> LoadedViews {
        if !force && let Some(cached) = self.fresh_views(query).await {
            return Ok(cached);
        }
        self.ask_for_views(query, force, RequestPurpose::Page).await.loaded
    }

    /// As [`Inner::load_views`] without the first look at the cache; says whether this very call has cost a request. One
    /// that is under way already keeps the purpose that it was begun for.
    pub(super) async fn ask_for_views(
        self: &Arc<Self>,
        query: ViewsQuery,
        force: bool,
        purpose: RequestPurpose,
    ) -> PaidAnswer {
        let (loading, is_own) = Arc::clone(self).join_load(query, force, purpose);
        let answered = loading.await;
        // What was begun for somebody else may have been handed to a report that was dropped since.
        PaidAnswer { asked: is_own && answered.asked, handed_on: is_own && answered.handed_on, ..answered }
    }

    pub(super) async fn cached_views(&self, query: ViewsQuery) -> Option<Timed<ViewsPage>> {
        match self.store.cached_views(&self.scope, query).await {
            Ok(cached) => cached,
            Err(error) => {
                self.trouble(error.failure()).await;
                None
            }
        }
    }

    /// From the cache, if it need not be asked for again.
    pub(super) async fn fresh_views(&self, query: ViewsQuery) -> Option<Timed<ViewsPage>> {
        self.cached_views(query).await.filter(|cached| self.is_fresh(query.range, cached.as_of))
    }

    /// An answer from the cache that holds all pages of the range, if it need not be asked for again.
    pub(super) async fn fresh_whole_views(&self, range: DateRange) -> Option<Timed<ViewsPage>> {
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
    fn join_load(self: Arc<Self>, query: ViewsQuery, force: bool, purpose: RequestPurpose) -> (PendingLoad, bool) {
        let mut loading = lock(&self.loading);
        if let Some(under_way) = loading.get(&query) {
            return (under_way.clone(), false);
        }
        // A task of its own: whoever asked may stop waiting, what was paid for is kept.
        let inner = Arc::clone(&self);
        let task = tokio::spawn(async move {
            let answered = inner.ask_views(query, force, purpose).await;
            lock(&inner.loading).remove(&query);
            answered
        });
        let shared = async move { task.await.unwrap_or_else(|_| PaidAnswer::with(Err(broken_off()), true)) };
        let shared = shared.boxed().shared();
        loading.insert(query, shared.clone());
        (shared, true)
    }

    async fn ask_views(&self, query: ViewsQuery, force: bool, purpose: RequestPurpose) -> PaidAnswer {
        // Another load of it may have ended between the caller's look at the cache and this task.
        if !force && let Some(cached) = self.fresh_views(query).await {
            return PaidAnswer::with(Ok(cached), false);
        }
        match self.spend_view().await {
            Ok(paid_at) => self.ask_paid_views(query, paid_at, purpose).await,
            Err(failure) => PaidAnswer::with(Err(failure), false),
        }
    }

    /// One request; a request that never reached the service has cost nothing.
    async fn ask_paid_views(&self, query: ViewsQuery, paid_at: Time, purpose: RequestPurpose) -> PaidAnswer {
        let _in_flight = self.in_flight();
        let answer = self.client.views(&query).await;
        let subject = CleanText::line(&format!("{}, page {}", query.range, query.page));
        let result = self.account(Operation::Views, subject, answer).await;
        let now = self.clock.now();
        let page = match result {
            Ok(page) => page,
            Err(error) => {
                if let Some(wait) = error.wait(now) {
                    if let Err(error) = self.store.mark_full(&self.scope, RateLimited::Views, wait, now).await {
                        self.trouble(error.failure()).await;
                    }
                    self.report_budget(RateLimited::Views).await;
                } else if error.reached() == Reached::No {
                    self.refund_view(paid_at).await;
                    self.order(PollerCommand::Heard(FetchOutcome::unreachable(error.failure(now).sentence)));
                    return PaidAnswer::with(Err(error.failure(now)), false);
                }
                let failure = error.failure(now);
                if failure.kind == FailureKind::Service {
                    self.order(PollerCommand::Heard(FetchOutcome::odd(failure.sentence.clone())));
                }
                return PaidAnswer::with(Err(failure), true);
            }
        };
        self.order(PollerCommand::Heard(FetchOutcome::well()));
        let answer = Timed { value: page, as_of: now };
        let handed_on = matches!(purpose, RequestPurpose::Report { .. });
        if let Err(error) = self.keep(query, &answer, purpose).await {
            // Shown all the same; the next look costs another request, and the next load begins before this answer.
            self.trouble(error.failure()).await;
        }
        let totals = Timed { value: answer.value.totals.clone(), as_of: now };
        self.emit(EngineEvent::Totals { range: query.range, totals }).await;
        PaidAnswer { loaded: Ok(answer), asked: true, handed_on }
    }

    /// Writes down what was paid for, in one transaction: each one waits for the disk.
    async fn keep(
        &self,
        query: ViewsQuery,
        answer: &Timed<ViewsPage>,
        purpose: RequestPurpose,
    ) -> Result<(), StoreError> {
        match purpose {
            RequestPurpose::Report { since, so_far }
                if leads_nowhere(query, &answer.value, so_far.as_deref()).is_none() =>
            {
                let next = report_answer(query, answer.clone(), since);
                self.store.keep_and_absorb(&self.scope, next, so_far).await.map(drop)
            }
            _ => self.store.save_views(&self.scope, query, &answer.value, answer.as_of).await,
        }
    }
}

impl PaidAnswer {
    /// One that the report on disk hears nothing of.
    fn with(loaded: LoadedViews, asked: bool) -> Self {
        Self { loaded, asked, handed_on: false }
    }
}

/// An answer on its way into the report.
pub(super) fn report_answer(query: ViewsQuery, answer: Timed<ViewsPage>, since: Option<Time>) -> ReportAnswer {
    let (complete, Timed { value, as_of }) = (!query.has_next(&answer.value), answer);
    ReportAnswer { range: query.range, number: query.page, answer: value, complete, as_of, since }
}

/// Why this answer, that says that there is more, would have the load go on for ever: no row of it is new.
pub(super) fn leads_nowhere(query: ViewsQuery, answer: &ViewsPage, so_far: Option<&Merge>) -> Option<Failure> {
    let is_new = |path: &CleanText| !so_far.is_some_and(|report| report.has(path));
    if !query.has_next(answer) || answer.rows.iter().any(|row| is_new(&row.path)) {
        return None;
    }
    let what = if answer.rows.is_empty() { "sent none" } else { "sent only pages that it had sent before" };
    let sentence = format!(
        "The service says that there are more pages after the first {}, but {what}, so loading stopped: what came is \
         kept. Try again later.",
        so_far.map_or(0, |so_far| so_far.report().rows.len())
    );
    Some(Failure::new(FailureKind::Service, &sentence))
}

/// Whether numbers about the range from this moment need not be asked for again now, both of the service's time.
pub(super) fn is_fresh(range: DateRange, as_of: Time, now: Time) -> bool {
    as_of <= now + AHEAD && range.is_fresh(as_of, now)
}

fn broken_off() -> Failure {
    Failure::new(FailureKind::Local, "Loading the page views broke off by a fault in docdeck: try again.")
}
