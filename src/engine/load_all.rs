//! Loads all pages of a range, one response after the other, at the largest page size. The transaction that caches a
//! response also merges it into the report on disk (see `views`). Whatever ends a load (the user, a 429, a lost
//! connection, a killed process), the next load continues after the last response. Fresh cached responses cost no
//! request.

use super::Engine;
use super::reports::store_read_failure;
use super::running_loads::ViewsRequestResult;
use super::state::EngineState;
use super::views::{RequestPurpose, no_progress_failure, to_report_response};
use crate::model::Time;
use crate::model::engine_event::EngineEvent;
use crate::model::failure::Failure;
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::report::{LoadEndReason, LoadOutcome, LoadPlan, LoadProgress, Report, ReportMerge};
use crate::model::team::{ReportKey, ReportKind};
use crate::model::views::{MAX_PAGE_SIZE, ViewsQuery, ViewsResponse};
use crate::store::UnfinishedReport;
use std::sync::Arc;

impl Engine {
    /// Loads all pages of a range within the hourly limit, with one request for each response that is not
    /// cached. Emits [`EngineEvent::Loading`] after each response. However a load ends, its responses stay on disk,
    /// and the next load of the range continues after them. A complete report that is fresh costs no request,
    /// unless `plan.from_start` is set. If a load of the same range is running, waits for that load and ignores
    /// `plan`.
    pub async fn load_all(&self, plan: LoadPlan) -> LoadOutcome {
        let load = Arc::clone(&self.inner).run_load(plan);
        self.inner.running_all_pages_loads.join_or_start(plan.range, load, crashed_load_outcome).await
    }

    /// Stops loading all pages of this range as soon as the request in flight has its response.
    pub fn stop_loading(&self, range: DateRange) {
        self.inner.running_all_pages_loads.request_stop(range);
    }
}

impl EngineState {
    /// Aborts every running load. The response to a request in flight is nevertheless stored.
    pub(super) fn abort_loading(&self) {
        self.running_all_pages_loads.abort_all();
        self.running_row_loads.abort_all();
    }

    async fn run_load(self: Arc<Self>, plan: LoadPlan) -> LoadOutcome {
        let mut load = AllPagesLoad { inner: &self, plan, report: None, restarted_at: None, requests: 0 };
        let end_reason = load.run().await;
        if end_reason != LoadEndReason::Stopped {
            self.running_all_pages_loads.remove(plan.range);
        }
        let AllPagesLoad { report, requests, .. } = load;
        let cached = match end_reason {
            LoadEndReason::Complete => None,
            // A complete older report is more useful than an incomplete new one.
            _ => self.load_cached_report(plan.range).await.ok().and_then(|cached| cached.report),
        };
        let loaded = || {
            report.map(|report| {
                let mut report = Arc::unwrap_or_clone(report).into_report();
                self.convert_to_local_time(&mut report);
                Arc::new(report)
            })
        };
        LoadOutcome { report: cached.or_else(loaded), end_reason, requests }
    }
}

/// One load of all pages of a range, with what it has loaded so far.
struct AllPagesLoad<'a> {
    inner: &'a Arc<EngineState>,
    plan: LoadPlan,
    report: Option<Arc<ReportMerge>>,
    /// When the user restarted the load, in service time: responses that were loaded earlier are not used. `None` if
    /// the load was not restarted.
    restarted_at: Option<Time>,
    /// The number of requests that this load has used.
    requests: u32,
}

impl AllPagesLoad<'_> {
    async fn run(&mut self) -> LoadEndReason {
        let preparation = if self.plan.from_start { self.start_over().await } else { self.resume().await };
        if let Err(failure) = preparation {
            return LoadEndReason::Failed(failure);
        }
        if let Err(end_reason) = self.wait_for_load_of_team_member().await {
            return end_reason;
        }
        // If the load starts with a fresh complete report, it needs no further response.
        while !self.loaded_report().is_some_and(|report| report.complete) {
            if self.inner.running_all_pages_loads.take_stop_request(self.plan.range) {
                return LoadEndReason::Stopped;
            }
            if self.has_reached_target() {
                return LoadEndReason::TargetReached;
            }
            let query = self.next_query();
            let (response, has_tried_merge) = match self.next_response(query).await {
                Ok(response) => response,
                Err(end_reason) => return end_reason,
            };
            if let Some(failure) = no_progress_failure(query, &response.value, self.report.as_deref()) {
                return LoadEndReason::Failed(failure);
            }
            if !has_tried_merge {
                self.save_response(query, &response).await;
            }
            self.merge_and_emit(query, response).await;
        }
        LoadEndReason::Complete
    }

    fn loaded_report(&self) -> Option<&Report> {
        self.report.as_deref().map(ReportMerge::report)
    }

    /// Whether the loaded share of all views has reached the plan's target.
    fn has_reached_target(&self) -> bool {
        let share = self.report.as_deref().and_then(ReportMerge::loaded_share);
        share.zip(self.plan.stop_at_percent).is_some_and(|(share, until)| share * 100.0 >= f64::from(until))
    }

    async fn start_over(&mut self) -> Result<(), Failure> {
        self.restarted_at = Some(self.inner.clock.now());
        if let Err(error) = self.inner.store.delete_unfinished_report(&self.inner.scope, self.plan.range).await {
            // All pages are loaded and shown even if the store can't be written.
            self.inner.emit_problem(error.failure()).await;
        }
        Ok(())
    }

    /// Continues an interrupted load, even if its responses are old, because the report shows their age. If no
    /// load was interrupted, starts with the cached report if it is fresh.
    async fn resume(&mut self) -> Result<(), Failure> {
        let (inner, range) = (self.inner, self.plan.range);
        if let Some(UnfinishedReport { report, restarted_at }) =
            inner.store.unfinished_report(&inner.scope, range).await.map_err(store_read_failure)?
        {
            (self.report, self.restarted_at) = (Some(Arc::new(ReportMerge::new(report))), restarted_at);
            return Ok(());
        }
        let cached = inner.store.cached_report(&inner.scope, range).await.map_err(store_read_failure)?.report;
        let fresh = cached.filter(|report| inner.is_fresh(range, report.as_of));
        self.report = fresh.map(Arc::unwrap_or_clone).map(ReportMerge::new).map(Arc::new);
        Ok(())
    }

    /// If a member of the team is loading the same report, waits a short time until the report arrives. Doesn't wait if
    /// the plan may end before the report is complete, since only complete reports are shared.
    async fn wait_for_load_of_team_member(&mut self) -> Result<(), LoadEndReason> {
        if self.plan.from_start || self.plan.stop_at_percent.is_some() || self.report.is_some() {
            return Ok(());
        }
        let key = ReportKey { kind: ReportKind::PageViews, range: self.plan.range };
        let Some(wait) = self.inner.begin_report_load(key).await else { return Ok(()) };
        while self.report.is_none() && wait.sleep_until_check().await {
            if self.inner.running_all_pages_loads.take_stop_request(self.plan.range) {
                return Err(LoadEndReason::Stopped);
            }
            self.resume().await.map_err(LoadEndReason::Failed)?;
        }
        Ok(())
    }

    fn next_query(&self) -> ViewsQuery {
        let page = self.loaded_report().map_or(0, |report| report.responses).saturating_add(1);
        ViewsQuery { range: self.plan.range, limit: MAX_PAGE_SIZE, page }
    }

    /// Returns the next response from the cache or by a request. Also returns whether merging it into the report on
    /// disk was already tried.
    async fn next_response(&mut self, query: ViewsQuery) -> Result<(Timed<ViewsResponse>, bool), LoadEndReason> {
        let cached = if self.plan.from_start { None } else { self.inner.fresh_cached_views(query).await };
        let is_usable = |cached: &Timed<ViewsResponse>| {
            self.restarted_at.is_none_or(|restarted_at| cached.as_of > restarted_at)
                && no_progress_failure(query, &cached.value, self.report.as_deref()).is_none()
        };
        let should_skip_cache = match cached {
            Some(cached) if is_usable(&cached) => return Ok((cached, false)),
            Some(_) => true,
            None => self.plan.from_start,
        };
        // A cached response with another page size can be used if it contains all pages.
        if !self.plan.from_start && self.report.is_none() {
            let complete_response = self.inner.fresh_cached_complete_views(query.range).await;
            if let Some(complete_response) = complete_response.filter(is_usable) {
                return Ok((complete_response, false));
            }
        }
        if self.requests >= self.plan.max_requests {
            return Err(LoadEndReason::RequestLimit);
        }
        let purpose = RequestPurpose::Report { restarted_at: self.restarted_at, so_far: self.report.clone() };
        let ViewsRequestResult { loaded, has_used_request: cost_request, has_tried_merge } =
            self.inner.load_views_for_purpose(query, should_skip_cache, purpose).await;
        self.requests = self.requests.saturating_add(u32::from(cost_request));
        loaded.map(|response| (response, has_tried_merge)).map_err(LoadEndReason::Failed)
    }

    /// Adds the rows of a response to the report on disk. The response itself is already in the cache.
    async fn save_response(&self, query: ViewsQuery, response: &Timed<ViewsResponse>) {
        let next = to_report_response(query, response.clone(), self.restarted_at);
        if let Err(error) = self.inner.store.add_report_response(&self.inner.scope, next).await {
            // The response is shown even if it can't be saved. The next load of the range has to load it again.
            self.inner.emit_problem(error.failure()).await;
        }
    }

    /// Merges the response into the report in memory and emits the progress.
    async fn merge_and_emit(&mut self, query: ViewsQuery, response: Timed<ViewsResponse>) {
        let (complete, Timed { value: page, as_of }) = (!query.has_next(&response.value), response);
        // The request had a second reference to the report. The request has ended, so `unwrap_or_clone` clones nothing.
        let so_far = self.report.take().map(Arc::unwrap_or_clone);
        let report = ReportMerge::add_or_start(so_far, query.range, page, complete, as_of);
        let progress = LoadProgress {
            range: query.range,
            rows: report.report().rows.len(),
            responses: report.report().responses,
            requests: self.requests,
            share: report.loaded_share(),
            is_complete: complete,
        };
        self.report = Some(Arc::new(report));
        self.inner.emit(EngineEvent::Loading(progress)).await;
    }
}

fn crashed_load_outcome() -> LoadOutcome {
    let sentence = "Loading all pages failed inside docdeck. The loaded pages are saved: load again to continue.";
    let failure = Failure::local(sentence);
    LoadOutcome { report: None, end_reason: LoadEndReason::Failed(failure), requests: 0 }
}
