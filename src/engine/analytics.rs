//! Loads reports of visitors, searches, feedback and questions, one response after the other, within the hourly limit
//! that all analytics share. Each response is stored immediately. Whatever ends a load (the user, a 429, a lost
//! connection, a killed process), the next load continues after the last response.

use super::Engine;
use super::ledger::RequestFailure;
use super::reports::store_read_failure;
use super::state::EngineState;
use crate::api::DecodableRow;
use crate::model::Time;
use crate::model::analytics::{
    AnalyticsKind, AnalyticsRow, ConversationMessage, RowsLoadOutcome, RowsLoadPlan, RowsLoadProgress, RowsMerge,
    RowsReport, RowsResponse, StoredRows,
};
use crate::model::engine_event::EngineEvent;
use crate::model::failure::{Failure, FailureKind};
use crate::model::log::Operation;
use crate::model::period::DateRange;
use crate::model::report::LoadEndReason;
use crate::model::team::{ReportKey, ReportKind};
use crate::model::text::CleanText;
use crate::store::{ResponsePosition, StoreError, UnfinishedRows};
use std::any::Any;
use std::sync::Arc;

impl Engine {
    /// Loads a report within the hourly limit. Emits [`EngineEvent::LoadingRows`] after each response. However a load
    /// ends, its responses stay on disk, and the next load of the range continues after them. A complete report that
    /// is fresh costs no request, unless `plan.from_start` is set. If a load of the same kind and range is running,
    /// waits for that load and ignores `plan`.
    ///
    /// If the configuration disables storing the texts that readers wrote, each load of a report with such texts starts
    /// from the beginning.
    pub async fn load_rows<R: DecodableRow>(&self, plan: RowsLoadPlan) -> RowsLoadOutcome<R> {
        let inner = Arc::clone(&self.inner);
        let load = async move { Arc::new(inner.run_rows_load::<R>(plan).await) as Arc<dyn Any + Send + Sync> };
        let crashed = || Arc::new(crashed_outcome::<R>()) as Arc<dyn Any + Send + Sync>;
        let outcome = self.inner.running_row_loads.join_or_start((R::KIND, plan.range), load, crashed).await;
        outcome.downcast_ref::<RowsLoadOutcome<R>>().cloned().unwrap_or_else(crashed_outcome)
    }

    /// Stops loading this report as soon as the request in flight has its response.
    pub fn stop_loading_rows(&self, kind: AnalyticsKind, range: DateRange) {
        self.inner.running_row_loads.request_stop((kind, range));
    }

    /// Returns the stored report of any age, without a request: the complete report, otherwise the rows of an
    /// interrupted load. Returns `None` if no rows are stored or the store can't be read.
    pub async fn cached_rows<R: AnalyticsRow>(&self, range: DateRange) -> Option<Arc<RowsReport<R>>> {
        match self.stored_rows(range).await {
            Ok(stored) => stored.report,
            Err(failure) => {
                self.inner.emit_problem(failure).await;
                None
            }
        }
    }

    /// Returns what is stored for a range, without a request.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn stored_rows<R: AnalyticsRow>(&self, range: DateRange) -> Result<StoredRows<R>, Failure> {
        self.inner.stored_rows(range).await.map_err(store_read_failure)
    }

    /// Whether reports of this kind are stored, so that a load can be continued later.
    pub fn stores_rows(&self, kind: AnalyticsKind) -> bool {
        self.inner.stores_rows(kind)
    }

    /// Whether the report is complete and so fresh that [`Engine::load_rows`] would not request it again.
    pub fn is_report_complete_and_fresh<R>(&self, report: &RowsReport<R>) -> bool {
        report.is_complete() && self.is_report_fresh(report)
    }

    /// Whether the report is still fresh. It may be partial.
    pub fn is_report_fresh<R>(&self, report: &RowsReport<R>) -> bool {
        self.inner.is_fresh(report.range, self.inner.clock.local_to_service(report.as_of))
    }

    /// Requests the messages of a conversation with the assistant, in the service's order, within the hourly limit of
    /// analytics. The messages are not stored.
    ///
    /// # Errors
    /// The request failed or no request is left. The kind is [`FailureKind::NotFound`] if the service doesn't have
    /// the conversation.
    pub async fn get_question_thread(&self, id: &CleanText) -> Result<Vec<ConversationMessage>, Failure> {
        let request = self.inner.client.get_question_thread(id);
        let result = self.inner.request_analytics(Operation::Conversation, id.clone(), request).await;
        result.map_err(|failed| failed.failure)
    }
}

impl EngineState {
    async fn stored_rows<R: AnalyticsRow>(&self, range: DateRange) -> Result<StoredRows<R>, StoreError> {
        let mut stored = self.store.rows_report::<R>(&self.scope, range).await?;
        stored.report = stored.report.map(|report| self.report_in_local_time(report));
        Ok(stored)
    }

    /// Converts the report's time from service time, as it is stored, to local wall time.
    fn report_in_local_time<R: Clone>(&self, mut report: Arc<RowsReport<R>>) -> Arc<RowsReport<R>> {
        let local = Arc::make_mut(&mut report);
        local.as_of = self.clock.service_to_local(local.as_of);
        report
    }

    async fn run_rows_load<R: DecodableRow>(self: Arc<Self>, plan: RowsLoadPlan) -> RowsLoadOutcome<R> {
        let mut load = RowsLoad { inner: &self, plan, so_far: PartialRows::default(), requests: 0, is_resumed: false };
        let end_reason = load.run().await;
        if end_reason != LoadEndReason::Stopped {
            self.running_row_loads.remove((R::KIND, plan.range));
        }
        let RowsLoad { so_far, requests, .. } = load;
        let stored = match end_reason {
            LoadEndReason::Complete => None,
            _ => self.stored_rows(plan.range).await.ok().and_then(|stored| stored.report),
        };
        let loaded = so_far.merge.map(|merge| self.report_in_local_time(Arc::new(merge.into_report())));
        // A complete older report is more useful than an incomplete new one, unless the plan demands new rows.
        let report = if plan.from_start { loaded.or(stored) } else { stored.or(loaded) };
        RowsLoadOutcome { report, end_reason, requests }
    }

    /// Makes one request for the response after `so_far`, stores the response and adds it to `so_far`. Without
    /// a usable response, returns `so_far` unchanged, with the failure.
    async fn load_next_rows<R: DecodableRow>(
        self: Arc<Self>,
        plan: RowsLoadPlan,
        so_far: PartialRows<R>,
    ) -> (PartialRows<R>, Result<(), RequestFailure>) {
        let number = so_far.report().map_or(0, |report| report.responses).saturating_add(1);
        let cursor = so_far.report().and_then(|report| report.next.clone());
        let subject = CleanText::line(&format!("{}, page {number}", plan.range.format_dates(true)));
        let request = self.client.get_report_rows::<R>(plan.range, cursor.as_ref());
        let response = match self.request_analytics(Operation::Analytics(R::KIND), subject, request).await {
            Ok(response) => response,
            Err(failed) => return (so_far, Err(failed)),
        };
        if let Some(failure) = so_far.no_progress_failure(&response, self.stores_rows(R::KIND)) {
            return (so_far, Err(RequestFailure { failure, has_used_request: true, is_bad_request: false }));
        }
        let as_of = self.clock.now();
        let started_at = so_far.started_at.unwrap_or(as_of);
        let position = ResponsePosition {
            range: plan.range,
            number,
            as_of,
            started_at,
            should_replace_unfinished: plan.from_start,
        };
        self.save_rows(&response, position).await;
        (so_far.with_response(position, response), Ok(()))
    }

    fn stores_rows(&self, kind: AnalyticsKind) -> bool {
        !(kind.has_reader_text() && self.analytics.reader_text_days.forbids_storing())
    }

    async fn save_rows<R: AnalyticsRow>(&self, response: &RowsResponse<R>, position: ResponsePosition) {
        if !self.stores_rows(R::KIND) {
            return;
        }
        if let Err(error) = self.store.save_rows_response(&self.scope, response, position).await {
            // The response is shown even if it can't be stored. The next load of the range requests it again.
            self.emit_problem(error.failure()).await;
        }
    }
}

/// The rows that a load has so far, including those from before an interruption.
struct PartialRows<R> {
    merge: Option<RowsMerge<R>>,
    /// When the first response was received, in service time.
    started_at: Option<Time>,
}

impl<R> Default for PartialRows<R> {
    fn default() -> Self {
        Self { merge: None, started_at: None }
    }
}

impl<R: AnalyticsRow> PartialRows<R> {
    fn report(&self) -> Option<&RowsReport<R>> {
        self.merge.as_ref().map(RowsMerge::report)
    }

    fn with_response(mut self, position: ResponsePosition, response: RowsResponse<R>) -> Self {
        match &mut self.merge {
            Some(merge) => drop(merge.add_response(response, position.as_of)),
            None => self.merge = Some(RowsMerge::start(position.range, response, position.as_of)),
        }
        self.started_at = Some(position.started_at);
        self
    }

    /// Returns a failure if the response announces more rows, but contains no new row or doesn't move the cursor,
    /// because the load would then never end.
    fn no_progress_failure(&self, response: &RowsResponse<R>, is_stored: bool) -> Option<Failure> {
        let next = response.next.as_ref()?;
        let is_new = |row: &R| !self.merge.as_ref().is_some_and(|merge| merge.contains(row.key()));
        let returned = match () {
            () if response.rows.is_empty() => "returned none",
            () if !response.rows.iter().any(is_new) => "returned only known ones",
            () if self.report().is_some_and(|report| report.next.as_ref() == Some(next)) => {
                "doesn't say where they begin"
            }
            () => return None,
        };
        let saved = if is_stored { " The loaded rows are saved." } else { "" };
        let sentence = format!(
            "Loading stopped: the service reports more {} after the first {}, but {returned}.{saved} Try again later.",
            R::KIND.label(),
            self.report().map_or(0, |report| report.rows.len())
        );
        Some(Failure::new(FailureKind::Service, &sentence))
    }
}

/// One load of a report.
struct RowsLoad<'a, R> {
    inner: &'a Arc<EngineState>,
    plan: RowsLoadPlan,
    so_far: PartialRows<R>,
    /// The number of requests that this load has used.
    requests: u32,
    /// Whether the next request continues an earlier load.
    is_resumed: bool,
}

impl<R: DecodableRow> RowsLoad<'_, R> {
    async fn run(&mut self) -> LoadEndReason {
        if !self.plan.from_start
            && let Err(error) = self.resume().await
        {
            return LoadEndReason::Failed(store_read_failure(error));
        }
        if let Err(end_reason) = self.wait_for_load_of_team_member().await {
            return end_reason;
        }
        while !self.so_far.report().is_some_and(RowsReport::is_complete) {
            if self.inner.running_row_loads.take_stop_request((R::KIND, self.plan.range)) {
                return LoadEndReason::Stopped;
            }
            if self.requests >= self.plan.max_requests.max(1) {
                return LoadEndReason::RequestLimit;
            }
            if let Err(failed) = self.load_next().await {
                if !(failed.is_bad_request && std::mem::take(&mut self.is_resumed)) {
                    return LoadEndReason::Failed(failed.failure);
                }
                // The service refuses the cursor of the earlier load. The earlier load can't be continued, so start
                // from the beginning.
                (self.so_far, self.plan.from_start) = (PartialRows::default(), true);
                // The refused request returned no rows, so it doesn't count toward the plan's requests.
                self.plan.max_requests = self.plan.max_requests.max(1).saturating_add(1);
                continue;
            }
            self.is_resumed = false;
            self.emit_progress().await;
        }
        LoadEndReason::Complete
    }

    /// Continues an interrupted load, even if its responses are old, because the report shows their age. If no load was
    /// interrupted, starts with the stored report if it is fresh.
    async fn resume(&mut self) -> Result<(), StoreError> {
        let (inner, range) = (self.inner, self.plan.range);
        if let Some(UnfinishedRows { report, started_at }) = inner.store.unfinished_rows(&inner.scope, range).await? {
            self.so_far = PartialRows { merge: Some(RowsMerge::resume(report)), started_at: Some(started_at) };
            self.is_resumed = true;
            return Ok(());
        }
        let stored = inner.store.rows_report::<R>(&inner.scope, range).await?.report;
        let fresh = stored.filter(|report| report.is_complete() && inner.is_fresh(range, report.as_of));
        self.so_far.merge = fresh.map(|report| RowsMerge::resume(Arc::unwrap_or_clone(report)));
        Ok(())
    }

    /// If a member of the team is loading the same report, waits a short time until the report arrives.
    async fn wait_for_load_of_team_member(&mut self) -> Result<(), LoadEndReason> {
        let is_shared = !self.plan.from_start && self.so_far.merge.is_none() && self.inner.stores_rows(R::KIND);
        if !is_shared {
            return Ok(());
        }
        let key = ReportKey { kind: ReportKind::Rows(R::KIND), range: self.plan.range };
        let Some(wait) = self.inner.begin_report_load(key).await else { return Ok(()) };
        while self.so_far.merge.is_none() && wait.sleep_until_check().await {
            if self.inner.running_row_loads.take_stop_request((R::KIND, self.plan.range)) {
                return Err(LoadEndReason::Stopped);
            }
            self.resume().await.map_err(|error| LoadEndReason::Failed(store_read_failure(error)))?;
        }
        Ok(())
    }

    async fn load_next(&mut self) -> Result<(), RequestFailure> {
        let so_far = std::mem::take(&mut self.so_far);
        // The request is a separate task, so that a response that cost a request is stored even if the load is aborted.
        let next = tokio::spawn(Arc::clone(self.inner).load_next_rows(self.plan, so_far));
        let (so_far, result) = next.await.map_err(|_| RequestFailure {
            failure: crash_failure(),
            has_used_request: false,
            is_bad_request: false,
        })?;
        self.so_far = so_far;
        let has_used_request = result.as_ref().err().is_none_or(|failed| failed.has_used_request);
        self.requests = self.requests.saturating_add(u32::from(has_used_request));
        result
    }

    async fn emit_progress(&self) {
        let Some(report) = self.so_far.report() else { return };
        let progress = RowsLoadProgress {
            kind: R::KIND,
            range: self.plan.range,
            rows: report.rows.len(),
            requests: self.requests,
            is_complete: report.is_complete(),
        };
        self.inner.emit(EngineEvent::LoadingRows(progress)).await;
    }
}

fn crash_failure() -> Failure {
    Failure::local("Loading the report failed inside docdeck. Load it again.")
}

fn crashed_outcome<R>() -> RowsLoadOutcome<R> {
    RowsLoadOutcome { report: None, end_reason: LoadEndReason::Failed(crash_failure()), requests: 0 }
}
