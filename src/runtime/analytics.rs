//! Runs the effects about the reports of the analytics screen.

use super::effect_runner::EffectRunner;
use crate::api::DecodableRow;
use crate::model::analytics::{AnalyticsKind, RowsLoadOutcome, RowsLoadPlan};
use crate::model::period::DateRange;
use crate::model::report::{LoadEndReason, LoadOutcome};
use crate::tui::{AnalyticsEffect, AnalyticsMsg, RowsMsg};

impl EffectRunner {
    pub(super) async fn run_analytics_effect(&self, effect: AnalyticsEffect) -> Option<AnalyticsMsg> {
        Some(match effect {
            AnalyticsEffect::LoadCached(kind, range) => match kind {
                AnalyticsKind::Visitors => AnalyticsMsg::Visitors(self.cached_rows(range).await),
                AnalyticsKind::Searches => AnalyticsMsg::Searches(self.cached_rows(range).await),
                AnalyticsKind::Feedback => AnalyticsMsg::Feedback(self.cached_rows(range).await),
                AnalyticsKind::FeedbackByPage => AnalyticsMsg::FeedbackByPage(self.cached_rows(range).await),
                AnalyticsKind::Questions => AnalyticsMsg::Questions(self.cached_rows(range).await),
            },
            AnalyticsEffect::LoadReceivedReport(kind, range) => match kind {
                AnalyticsKind::Visitors => AnalyticsMsg::Visitors(self.rows_received_from_team(range).await?),
                AnalyticsKind::Searches => AnalyticsMsg::Searches(self.rows_received_from_team(range).await?),
                AnalyticsKind::Feedback => AnalyticsMsg::Feedback(self.rows_received_from_team(range).await?),
                AnalyticsKind::FeedbackByPage => {
                    AnalyticsMsg::FeedbackByPage(self.rows_received_from_team(range).await?)
                }
                AnalyticsKind::Questions => AnalyticsMsg::Questions(self.rows_received_from_team(range).await?),
            },
            AnalyticsEffect::Load(kind, plan) => match kind {
                AnalyticsKind::Visitors => AnalyticsMsg::Visitors(self.load_rows(plan).await),
                AnalyticsKind::Searches => AnalyticsMsg::Searches(self.load_rows(plan).await),
                AnalyticsKind::Feedback => AnalyticsMsg::Feedback(self.load_rows(plan).await),
                AnalyticsKind::FeedbackByPage => AnalyticsMsg::FeedbackByPage(self.load_rows(plan).await),
                AnalyticsKind::Questions => AnalyticsMsg::Questions(self.load_rows(plan).await),
            },
            AnalyticsEffect::Stop(kind, range) => {
                self.engine().await.ok()?.stop_loading_rows(kind, range);
                return None;
            }
            AnalyticsEffect::LoadCachedViews(range) => {
                let stored = self.with_engine(async |engine| engine.cached_report(range).await).await;
                AnalyticsMsg::CachedViews(stored.ok().and_then(|stored| stored.report))
            }
            AnalyticsEffect::LoadViews(plan) => {
                let outcome = match self.engine().await {
                    Ok(engine) => engine.load_all(plan).await,
                    Err(failure) => {
                        LoadOutcome { report: None, end_reason: LoadEndReason::Failed(failure), requests: 0 }
                    }
                };
                AnalyticsMsg::ViewsLoaded { range: plan.range, outcome }
            }
            AnalyticsEffect::LoadConversation(id) => {
                let result = self.with_engine(async |engine| engine.get_question_thread(&id).await).await;
                AnalyticsMsg::Conversation { id, result }
            }
        })
    }

    async fn cached_rows<R: DecodableRow>(&self, range: DateRange) -> RowsMsg<R> {
        let Ok(engine) = self.engine().await else { return RowsMsg::Cached { range, report: None, is_fresh: false } };
        let report = engine.cached_rows::<R>(range).await;
        let is_fresh = report.as_ref().is_some_and(|report| engine.is_report_fresh(report));
        RowsMsg::Cached { range, report, is_fresh }
    }

    /// Returns the message about a report that another member of the team loaded, as if this computer had loaded the
    /// report. Returns `None` if the store has no complete report, for example because it was removed after it arrived.
    async fn rows_received_from_team<R: DecodableRow>(&self, range: DateRange) -> Option<RowsMsg<R>> {
        let report = self.engine().await.ok()?.cached_rows::<R>(range).await.filter(|report| report.is_complete())?;
        let outcome = RowsLoadOutcome { report: Some(report), end_reason: LoadEndReason::Complete, requests: 0 };
        Some(RowsMsg::Ended { range, outcome })
    }

    async fn load_rows<R: DecodableRow>(&self, plan: RowsLoadPlan) -> RowsMsg<R> {
        let outcome = match self.engine().await {
            Ok(engine) => engine.load_rows::<R>(plan).await,
            Err(failure) => RowsLoadOutcome { report: None, end_reason: LoadEndReason::Failed(failure), requests: 0 },
        };
        RowsMsg::Ended { range: plan.range, outcome }
    }
}
