//! Page views: from the cache while they are fresh (see `model::period`), otherwise by one request
//! within the hourly limit. Concurrent loads of the same query share one request, whose answer is
//! cached even if its caller has stopped waiting. An answer for a load of all pages is also merged
//! into the report on disk, in the same transaction.

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
use crate::model::report::ReportMerge;
use crate::model::text::CleanText;
use crate::model::views::{ViewsPage, ViewsQuery};
use crate::store::{ReportAnswer, StoreError};
use chrono::TimeDelta;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use std::sync::Arc;

/// The result of a load.
pub(super) type LoadedViews = Result<Timed<ViewsPage>, Failure>;
/// A running load, shared by its waiters.
pub(super) type PendingLoad = Shared<BoxFuture<'static, ViewsRequestResult>>;

/// What a request is made for.
#[derive(Debug)]
pub(super) enum RequestPurpose {
    /// The answer is only cached.
    Page,
    /// The answer is also merged into the report that is being loaded, unless the answer makes no progress.
    /// Answers from before `since` are not part of that report.
    Report { since: Option<Time>, so_far: Option<Arc<ReportMerge>> },
}

/// The result of a request.
#[derive(Debug, Clone)]
pub(super) struct ViewsRequestResult {
    pub(super) loaded: LoadedViews,
    /// Whether it used up a request.
    pub(super) cost_request: bool,
    /// Whether it was passed to the report on disk, successfully or not, so that the caller need not do
    /// that.
    pub(super) is_saved: bool,
}

/// A cached answer that is further ahead than this has a time from a wrong clock.
const MAX_CLOCK_ERROR: TimeDelta = TimeDelta::minutes(1);

impl EngineState {
    pub(super) async fn load_views(self: &Arc<Self>, query: ViewsQuery, force: bool) -> LoadedViews {
        if !force && let Some(cached) = self.fresh_views(query).await {
            return Ok(cached);
        }
        self.load_and_count(query, force, RequestPurpose::Page).await.loaded
    }

    /// Like [`EngineState::load_views`] without the first cache lookup. A request that is already in
    /// flight keeps its original purpose, and is not charged to this call.
    pub(super) async fn load_and_count(
        self: &Arc<Self>,
        query: ViewsQuery,
        force: bool,
        purpose: RequestPurpose,
    ) -> ViewsRequestResult {
        let (loading, is_own) = Arc::clone(self).join_load(query, force, purpose);
        let answer = loading.await;
        // An answer requested by another caller may have been merged into a report that was dropped since.
        ViewsRequestResult {
            cost_request: is_own && answer.cost_request,
            is_saved: is_own && answer.is_saved,
            ..answer
        }
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

    /// The cached answer, if it is fresh.
    pub(super) async fn fresh_views(&self, query: ViewsQuery) -> Option<Timed<ViewsPage>> {
        self.cached_views(query).await.filter(|cached| self.is_fresh(query.range, cached.as_of))
    }

    /// A fresh cached answer that contains all pages of the range.
    pub(super) async fn fresh_complete_views(&self, range: DateRange) -> Option<Timed<ViewsPage>> {
        match self.store.complete_views(&self.scope, range).await {
            Ok(cached) => cached.filter(|cached| self.is_fresh(range, cached.as_of)),
            Err(error) => {
                self.trouble(error.failure()).await;
                None
            }
        }
    }

    /// Whether data of this age (in service time) is still fresh.
    pub(super) fn is_fresh(&self, range: DateRange, as_of: Time) -> bool {
        is_fresh(range, as_of, self.clock.now())
    }

    /// Joins the running load of this query or starts one; the flag is set for a new one.
    fn join_load(self: Arc<Self>, query: ViewsQuery, force: bool, purpose: RequestPurpose) -> (PendingLoad, bool) {
        let mut loading = lock(&self.loading);
        if let Some(under_way) = loading.get(&query) {
            return (under_way.clone(), false);
        }
        // A separate task: the caller may stop waiting, but a paid answer is still cached.
        let inner = Arc::clone(&self);
        let task = tokio::spawn(async move {
            let answer = inner.request_views(query, force, purpose).await;
            lock(&inner.loading).remove(&query);
            answer
        });
        let shared = async move { task.await.unwrap_or_else(|_| ViewsRequestResult::with(Err(crashed()), true)) };
        let shared = shared.boxed().shared();
        loading.insert(query, shared.clone());
        (shared, true)
    }

    async fn request_views(&self, query: ViewsQuery, force: bool, purpose: RequestPurpose) -> ViewsRequestResult {
        // Another load of the query may have ended between the caller's cache lookup and this task.
        if !force && let Some(cached) = self.fresh_views(query).await {
            return ViewsRequestResult::with(Ok(cached), false);
        }
        match self.spend_view().await {
            Ok(spent_at) => self.send_views_request(query, spent_at, purpose).await,
            Err(failure) => ViewsRequestResult::with(Err(failure), false),
        }
    }

    /// Makes one request. A request that never reached the service is refunded.
    async fn send_views_request(
        &self,
        query: ViewsQuery,
        spent_at: Time,
        purpose: RequestPurpose,
    ) -> ViewsRequestResult {
        let _in_flight = self.in_flight();
        let answer = self.client.views(&query).await;
        let subject = CleanText::line(&format!("{}, page {}", query.range, query.page));
        let result = self.record_answer(Operation::Views, subject, answer).await;
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
                    self.refund_view(spent_at).await;
                    self.order(PollerCommand::Outcome(FetchOutcome::unreachable(error.failure(now).message)));
                    return ViewsRequestResult::with(Err(error.failure(now)), false);
                }
                let failure = error.failure(now);
                if failure.kind == FailureKind::Service {
                    self.order(PollerCommand::Outcome(FetchOutcome::unusable(failure.message.clone())));
                }
                return ViewsRequestResult::with(Err(failure), true);
            }
        };
        self.order(PollerCommand::Outcome(FetchOutcome::good()));
        let answer = Timed { value: page, as_of: now };
        let is_saved = matches!(purpose, RequestPurpose::Report { .. });
        if let Err(error) = self.save(query, &answer, purpose).await {
            // The answer is shown even if it can't be saved: the next lookup costs another request, and
            // the next load starts before this answer.
            self.trouble(error.failure()).await;
        }
        let totals = Timed { value: answer.value.totals.clone(), as_of: now };
        self.emit(EngineEvent::Totals { range: query.range, totals }).await;
        ViewsRequestResult { loaded: Ok(answer), cost_request: true, is_saved }
    }

    /// Saves an answer that cost a request in one transaction, because each transaction waits for the disk.
    async fn save(
        &self,
        query: ViewsQuery,
        answer: &Timed<ViewsPage>,
        purpose: RequestPurpose,
    ) -> Result<(), StoreError> {
        match purpose {
            RequestPurpose::Report { since, so_far }
                if makes_no_progress(query, &answer.value, so_far.as_deref()).is_none() =>
            {
                let next = report_answer(query, answer.clone(), since);
                self.store.cache_and_absorb(&self.scope, next, so_far).await.map(drop)
            }
            _ => self.store.save_views(&self.scope, query, &answer.value, answer.as_of).await,
        }
    }
}

impl ViewsRequestResult {
    /// A result that was not passed to the report on disk.
    fn with(loaded: LoadedViews, cost_request: bool) -> Self {
        Self { loaded, cost_request, is_saved: false }
    }
}

/// An answer to be merged into the report.
pub(super) fn report_answer(query: ViewsQuery, answer: Timed<ViewsPage>, since: Option<Time>) -> ReportAnswer {
    let (complete, Timed { value, as_of }) = (!query.has_next(&answer.value), answer);
    ReportAnswer { range: query.range, number: query.page, answer: value, complete, as_of, restarted_at: since }
}

/// Returns an error if the answer claims that there are more pages but contains no new row: the
/// load would never end.
pub(super) fn makes_no_progress(
    query: ViewsQuery,
    answer: &ViewsPage,
    so_far: Option<&ReportMerge>,
) -> Option<Failure> {
    let is_new = |path: &CleanText| !so_far.is_some_and(|report| report.contains(path));
    if !query.has_next(answer) || answer.rows.iter().any(|row| is_new(&row.path)) {
        return None;
    }
    let what = if answer.rows.is_empty() { "returned none" } else { "returned only known ones" };
    let sentence = format!(
        "Loading stopped: the service reports more pages after the first {}, but {what}. The loaded pages are saved. \
         Try again later.",
        so_far.map_or(0, |so_far| so_far.report().rows.len())
    );
    Some(Failure::new(FailureKind::Service, &sentence))
}

/// Whether data with this time is still fresh; both times are service time.
pub(super) fn is_fresh(range: DateRange, as_of: Time, now: Time) -> bool {
    as_of <= now + MAX_CLOCK_ERROR && range.is_fresh(as_of, now)
}

fn crashed() -> Failure {
    Failure::local("Loading the page views failed because of a bug in docdeck. Try again.")
}
