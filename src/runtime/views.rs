//! Runs the effects about page views: requests to the service, and reads of cached views, which cost no request.

use super::effect_runner::{EffectRunner, store_failure};
use super::impact::ImpactReader;
use crate::model::report::{CacheOverview, LoadEndReason, LoadOutcome};
use crate::tui::{ViewsEffect, ViewsMsg};

impl EffectRunner {
    pub(super) async fn run_views_effect(&self, effect: ViewsEffect) -> Option<ViewsMsg> {
        Some(match effect {
            ViewsEffect::Load { query, ignores_cache } => {
                let engine = match self.engine().await {
                    Ok(engine) => engine,
                    Err(failure) => return Some(ViewsMsg::Loaded { query, result: Err(failure), old: None }),
                };
                let result = engine.load_views(query, ignores_cache).await;
                let old = if result.is_err() { engine.cached_views(query).await } else { None };
                ViewsMsg::Loaded { query, result, old }
            }
            ViewsEffect::LoadCachedReport(range) | ViewsEffect::LoadReceivedReport(range) => {
                let stored = self.with_engine(async |engine| engine.cached_report(range).await).await;
                ViewsMsg::CachedReportLoaded { range, stored }
            }
            ViewsEffect::LoadDailyReports(range) => {
                let reports = self.store.daily_reports(&self.scope, range).await.unwrap_or_default();
                ViewsMsg::DailyReportsLoaded { range, reports }
            }
            ViewsEffect::LoadAll(plan) => {
                let end = match self.engine().await {
                    Ok(engine) => engine.load_all(plan).await,
                    Err(failure) => {
                        LoadOutcome { report: None, end_reason: LoadEndReason::Failed(failure), requests: 0 }
                    }
                };
                ViewsMsg::LoadEnded { range: plan.range, end }
            }
            ViewsEffect::StopLoading(range) => {
                self.engine().await.ok()?.stop_loading(range);
                return None;
            }
            ViewsEffect::LoadCachedTotals(ranges) => {
                let totals = self.with_engine(async |engine| engine.cached_totals(&ranges).await).await;
                ViewsMsg::CachedTotalsLoaded(totals)
            }
            ViewsEffect::LoadTotals(ranges) => {
                ViewsMsg::TotalsLoadEnded(self.with_engine(async |engine| engine.load_totals(&ranges).await).await)
            }
            ViewsEffect::LoadPageHistory { path, range, days } => {
                let history = self.impact_reader().read_page_history(&path, range, &days).await;
                let result = history.map_err(store_failure);
                ViewsMsg::PageHistoryLoaded { path, result }
            }
            ViewsEffect::ListCachedRanges => {
                let cached =
                    self.store.cached_ranges(&self.scope).await.map(|cached| self.with_times_on_local_clock(cached));
                ViewsMsg::CachedRangesListed(cached.map_err(store_failure))
            }
        })
    }

    pub(super) fn impact_reader(&self) -> ImpactReader<'_> {
        let engine = self.engine.borrow().clone().and_then(Result::ok);
        ImpactReader { store: &self.store, scope: &self.scope, engine }
    }

    /// Converts the load times of cached ranges from the service's clock to the local clock. Without a running engine,
    /// the clocks are assumed to be equal.
    fn with_times_on_local_clock(&self, mut cached: CacheOverview) -> CacheOverview {
        let Some(Ok(engine)) = self.engine.borrow().clone() else { return cached };
        for known in &mut cached.ranges {
            known.as_of = engine.to_local_time(known.as_of);
        }
        cached
    }
}
