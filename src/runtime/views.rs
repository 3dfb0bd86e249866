//! Runs the effects about page views: requests to the service, and reads of cached views, which cost no request.

use super::effect_runner::{EffectRunner, save_failure};
use super::impact::ImpactReader;
use crate::model::period::DateRange;
use crate::model::report::{CachedViews, LoadEndReason, LoadOutcome, LoadPlan};
use crate::model::row::JobKey;
use crate::model::text::CleanText;
use crate::model::views::ViewsQuery;
use crate::tui::Msg;

impl EffectRunner {
    pub(super) async fn load_views(&self, query: ViewsQuery, force: bool) -> Msg {
        let engine = match self.engine().await {
            Ok(engine) => engine,
            Err(failure) => return Msg::Views { query, result: Err(failure), old: None },
        };
        let result = engine.load_views(query, force).await;
        let old = if result.is_err() { engine.cached_views(query).await } else { None };
        Msg::Views { query, result, old }
    }

    pub(super) async fn load_cached(&self, range: DateRange) -> Msg {
        Msg::CachedReport { range, recalled: self.with_engine(async |engine| engine.cached_report(range).await).await }
    }

    pub(super) async fn load_all(&self, plan: LoadPlan) -> Msg {
        let end = match self.engine().await {
            Ok(engine) => engine.load_all(plan).await,
            Err(failure) => LoadOutcome { report: None, end_reason: LoadEndReason::Failed(failure), requests: 0 },
        };
        Msg::LoadEnded { range: plan.range, end }
    }

    pub(super) async fn load_cached_totals(&self, ranges: &[DateRange]) -> Msg {
        Msg::CachedTotals(self.with_engine(async |engine| engine.cached_totals(ranges).await).await)
    }

    pub(super) async fn load_totals(&self, ranges: &[DateRange]) -> Msg {
        Msg::TotalsLoaded(self.with_engine(async |engine| engine.load_totals(ranges).await).await)
    }

    pub(super) async fn load_page_history(&self, path: CleanText) -> Msg {
        let result = self.impact_reader().read_page_history(&path).await.map_err(save_failure);
        Msg::PageHistory { path, result }
    }

    pub(super) async fn load_job_impact(&self, job: JobKey) -> Msg {
        Msg::JobImpact { job, result: self.impact_reader().read_job_impact(job).await.map_err(save_failure) }
    }

    pub(super) async fn list_cached_ranges(&self) -> Msg {
        let cached = self.store.cached_ranges(&self.scope).await.map(|cached| self.with_local_times(cached));
        Msg::CachedRanges(cached.map_err(save_failure))
    }

    fn impact_reader(&self) -> ImpactReader<'_> {
        let engine = self.engine.borrow().clone().and_then(Result::ok);
        ImpactReader { store: &self.store, scope: &self.scope, engine }
    }

    /// Converts the load times of cached ranges from the service's clock to the local clock. Without a running engine,
    /// the clocks are assumed to be equal.
    fn with_local_times(&self, mut cached: CachedViews) -> CachedViews {
        let Some(Ok(engine)) = self.engine.borrow().clone() else { return cached };
        for known in &mut cached.ranges {
            known.as_of = engine.to_local_time(known.as_of);
        }
        cached
    }
}
