//! The effects about page views: what the service is asked, and what the record knows of them at no cost.

use super::effect_runner::{EffectRunner, failure};
use super::impact::About;
use crate::app::Msg;
use crate::model::period::DateRange;
use crate::model::report::{CachedViews, LoadEnded, LoadOutcome, LoadPlan};
use crate::model::row::JobKey;
use crate::model::text::CleanText;
use crate::model::views::ViewsQuery;

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

    pub(super) async fn recall(&self, range: DateRange) -> Msg {
        Msg::CachedReport { range, recalled: self.with_engine(async |engine| engine.recall(range).await).await }
    }

    pub(super) async fn load_all(&self, order: LoadPlan) -> Msg {
        let end = match self.engine().await {
            Ok(engine) => engine.load_all(order).await,
            Err(failure) => LoadOutcome { report: None, ended: LoadEnded::Failed(failure), requests: 0 },
        };
        Msg::LoadEnded { range: order.range, end }
    }

    pub(super) async fn recall_totals(&self, ranges: &[DateRange]) -> Msg {
        Msg::TotalsRecalled(self.with_engine(async |engine| engine.recall_totals(ranges).await).await)
    }

    pub(super) async fn load_totals(&self, ranges: &[DateRange]) -> Msg {
        Msg::TotalsLoaded(self.with_engine(async |engine| engine.load_totals(ranges).await).await)
    }

    pub(super) async fn page_history(&self, path: CleanText) -> Msg {
        let result = self.about().history(&path).await.map_err(failure);
        Msg::PageHistory { path, result }
    }

    pub(super) async fn pages_of(&self, job: JobKey) -> Msg {
        Msg::About { job, result: self.about().pages_of(job).await.map_err(failure) }
    }

    pub(super) async fn kept(&self) -> Msg {
        let kept = self.store.kept_views(&self.scope).await.map(|kept| self.kept_in_local_time(kept));
        Msg::Kept(kept.map_err(failure))
    }

    fn about(&self) -> About<'_> {
        let engine = self.engine.borrow().clone().and_then(Result::ok);
        About { store: &self.store, scope: &self.scope, engine }
    }

    /// What is kept says its ages in the service's time; before the engine runs, the clocks count as one.
    fn kept_in_local_time(&self, mut kept: CachedViews) -> CachedViews {
        let Some(Ok(engine)) = self.engine.borrow().clone() else { return kept };
        for known in &mut kept.ranges {
            known.as_of = engine.local_of(known.as_of);
        }
        kept
    }
}
