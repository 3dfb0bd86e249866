//! Loads page views: from the cache while they are fresh (see `model::period`), otherwise with one request
//! within the hourly limit. Concurrent loads of the same query share one request. Its response is cached even
//! if no caller waits for it any more. In a load of all pages, the transaction that caches a response also
//! merges it into the report on disk.

use super::Engine;
use super::ledger::RequestFailure;
use super::lock::lock;
use super::running_loads::{SharedViewsLoad, ViewsRequestResult};
use super::state::EngineState;
use crate::model::Time;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::{Failure, FailureKind};
use crate::model::load::Timed;
use crate::model::log::Operation;
use crate::model::period::DateRange;
use crate::model::report::ReportMerge;
use crate::model::text::CleanText;
use crate::model::views::{ViewsQuery, ViewsResponse};
use crate::store::{ReportResponse, StoreError};
use chrono::TimeDelta;
use futures_util::FutureExt;
use std::sync::Arc;

/// Why page views are requested, which determines where the response is saved.
#[derive(Debug)]
pub(super) enum RequestPurpose {
    /// To show one page of views: the response is only cached.
    Page,
    /// To load all pages: the response is cached. It is also merged into the unfinished report if it contains new pages
    /// or is the last response. `so_far` is the report without this response; it contains only responses received
    /// after `restarted_at`.
    Report { restarted_at: Option<Time>, so_far: Option<Arc<ReportMerge>> },
}

/// A cached response whose time is further than this in the future was recorded with a wrong clock and is not
/// fresh.
const MAX_CLOCK_ERROR: TimeDelta = TimeDelta::minutes(1);

impl Engine {
    /// Returns cached page views if they are fresh and `should_skip_cache` is false. Otherwise makes one request within
    /// the hourly limit. Concurrent calls with the same query share one request.
    ///
    /// # Errors
    /// The request failed or no request is left. [`Engine::cached_views`] may return older page views.
    pub async fn load_views(
        &self,
        query: ViewsQuery,
        should_skip_cache: bool,
    ) -> Result<Timed<ViewsResponse>, Failure> {
        let cached = if should_skip_cache { None } else { self.inner.fresh_cached_views(query).await };
        let loaded = match cached {
            Some(cached) => Ok(cached),
            None => self.inner.load_views_for_purpose(query, should_skip_cache, RequestPurpose::Page).await.loaded,
        };
        loaded.map(|loaded| self.inner.in_local_time(loaded))
    }

    /// Returns cached page views of any age, without a request.
    pub async fn cached_views(&self, query: ViewsQuery) -> Option<Timed<ViewsResponse>> {
        self.inner.cached_views(query).await.map(|cached| self.inner.in_local_time(cached))
    }
}

impl EngineState {
    /// Loads page views like [`Engine::load_views`], but returns their time as service time, and looks them up in the
    /// cache only when it starts a load.
    ///
    /// If another call is already loading the query, waits for that load and ignores `purpose`. In this case, the
    /// result states that this call used no request and did not try to merge the response into a report.
    pub(super) async fn load_views_for_purpose(
        self: &Arc<Self>,
        query: ViewsQuery,
        should_skip_cache: bool,
        purpose: RequestPurpose,
    ) -> ViewsRequestResult {
        let (loading, is_new_load) = Arc::clone(self).join_or_start_load(query, should_skip_cache, purpose);
        let response = loading.await;
        // Another call may have merged its response into a report that was deleted in the meantime, so this caller
        // merges the response again.
        ViewsRequestResult {
            has_used_request: is_new_load && response.has_used_request,
            has_tried_merge: is_new_load && response.has_tried_merge,
            ..response
        }
    }

    pub(super) async fn cached_views(&self, query: ViewsQuery) -> Option<Timed<ViewsResponse>> {
        match self.store.cached_views(&self.scope, query).await {
            Ok(cached) => cached,
            Err(error) => {
                self.emit_problem(error.failure()).await;
                None
            }
        }
    }

    /// Returns the cached response to a query if it is fresh.
    pub(super) async fn fresh_cached_views(&self, query: ViewsQuery) -> Option<Timed<ViewsResponse>> {
        self.cached_views(query).await.filter(|cached| self.is_fresh(query.range, cached.as_of))
    }

    /// Returns a fresh cached response that contains all pages of the range, if there is one.
    pub(super) async fn fresh_cached_complete_views(&self, range: DateRange) -> Option<Timed<ViewsResponse>> {
        match self.store.cached_complete_views(&self.scope, range).await {
            Ok(cached) => cached.filter(|cached| self.is_fresh(range, cached.as_of)),
            Err(error) => {
                self.emit_problem(error.failure()).await;
                None
            }
        }
    }

    /// Whether data loaded at the service time `as_of` is still fresh.
    pub(super) fn is_fresh(&self, range: DateRange, as_of: Time) -> bool {
        is_fresh(range, as_of, self.clock.now())
    }

    /// Joins the running load of this query or starts a new load. Returns the load, and whether it is new.
    fn join_or_start_load(
        self: Arc<Self>,
        query: ViewsQuery,
        should_skip_cache: bool,
        purpose: RequestPurpose,
    ) -> (SharedViewsLoad, bool) {
        let mut loading = lock(&self.running_views_loads);
        if let Some(running_load) = loading.get(&query) {
            return (running_load.clone(), false);
        }
        // The load is a separate task, so that a response that cost a request is cached even if the caller stops
        // waiting.
        let inner = Arc::clone(&self);
        let task = tokio::spawn(async move {
            let response = inner.request_views(query, should_skip_cache, purpose).await;
            lock(&inner.running_views_loads).remove(&query);
            response
        });
        let shared =
            async move { task.await.unwrap_or_else(|_| ViewsRequestResult::not_merged(Err(crash_failure()), true)) };
        let shared = shared.boxed().shared();
        loading.insert(query, shared.clone());
        (shared, true)
    }

    async fn request_views(
        &self,
        query: ViewsQuery,
        should_skip_cache: bool,
        purpose: RequestPurpose,
    ) -> ViewsRequestResult {
        // Another load of the query may have ended between the caller's cache lookup and this task.
        if !should_skip_cache && let Some(cached) = self.fresh_cached_views(query).await {
            return ViewsRequestResult::not_merged(Ok(cached), false);
        }
        let subject = CleanText::line(&format!("{}, page {}", query.range.format_dates(true), query.page));
        let page = match self.request_analytics(Operation::Views, subject, self.client.get_views(&query)).await {
            Ok(page) => page,
            Err(RequestFailure { failure, has_used_request, .. }) => {
                return ViewsRequestResult::not_merged(Err(failure), has_used_request);
            }
        };
        let now = self.clock.now();
        let response = Timed { value: page, as_of: now };
        let has_tried_merge = matches!(purpose, RequestPurpose::Report { .. });
        if let Err(error) = self.save_response(query, &response, purpose).await {
            // The response is shown even if it can't be saved. To see it again costs another request, and the next
            // load of all pages requests it again.
            self.emit_problem(error.failure()).await;
        }
        let totals = Timed { value: response.value.totals.clone(), as_of: now };
        self.emit(EngineEvent::Totals { range: query.range, totals }).await;
        ViewsRequestResult { loaded: Ok(response), has_used_request: true, has_tried_merge }
    }

    /// Caches a response. For a load of all pages, also merges it into the report, unless the load makes no progress
    /// (see [`no_progress_failure`]). Does both in one transaction, because each transaction waits for the disk.
    async fn save_response(
        &self,
        query: ViewsQuery,
        response: &Timed<ViewsResponse>,
        purpose: RequestPurpose,
    ) -> Result<(), StoreError> {
        match purpose {
            RequestPurpose::Report { restarted_at, so_far }
                if no_progress_failure(query, &response.value, so_far.as_deref()).is_none() =>
            {
                let next = to_report_response(query, response.clone(), restarted_at);
                self.store.cache_and_add_report_response(&self.scope, next, so_far).await.map(drop)
            }
            _ => self.store.save_views(&self.scope, query, &response.value, response.as_of).await,
        }
    }
}

/// Builds the [`ReportResponse`] that the store merges into the report on disk.
pub(super) fn to_report_response(
    query: ViewsQuery,
    response: Timed<ViewsResponse>,
    restarted_at: Option<Time>,
) -> ReportResponse {
    let (is_last, Timed { value, as_of }) = (!query.has_next(&response.value), response);
    ReportResponse { range: query.range, number: query.page, response: value, is_last, as_of, restarted_at }
}

/// Returns a failure if the response announces more pages but contains no row that is new to the report,
/// because the load would then never end. Returns `None` if the load can go on or is complete.
pub(super) fn no_progress_failure(
    query: ViewsQuery,
    response: &ViewsResponse,
    so_far: Option<&ReportMerge>,
) -> Option<Failure> {
    let is_new = |path: &CleanText| !so_far.is_some_and(|report| report.contains(path));
    if !query.has_next(response) || response.rows.iter().any(|row| is_new(&row.path)) {
        return None;
    }
    let what = if response.rows.is_empty() { "returned none" } else { "returned only known ones" };
    let sentence = format!(
        "Loading stopped: the service reports more pages after the first {}, but {what}. The loaded pages are saved. \
         Try again later.",
        so_far.map_or(0, |so_far| so_far.report().rows.len())
    );
    Some(Failure::new(FailureKind::Service, &sentence))
}

/// Whether data of a range, loaded at `as_of`, is still fresh at `now`. Both times are service time.
pub(super) fn is_fresh(range: DateRange, as_of: Time, now: Time) -> bool {
    as_of <= now + MAX_CLOCK_ERROR && range.is_fresh(as_of, now)
}

fn crash_failure() -> Failure {
    Failure::local("Loading the page views failed because of a bug in docdeck. Try again.")
}
