//! Emits which reports have arrived from other members, no matter which instance on this computer has received them.

use crate::engine::state::EngineState;
use crate::model::engine_event::EngineEvent;
use crate::model::period::DateRange;
use crate::model::team::{ReportKey, ReportKind};
use crate::store::StoreError;

impl EngineState {
    /// Emits the reports whose version in the store has changed since the last call, because another instance on this
    /// computer has exchanged them with the team. Does nothing if the project is not shared.
    pub(in crate::engine) async fn emit_reports_of_other_instances(&self) -> Result<(), StoreError> {
        let mut seen = self.team.seen_reports.lock().await;
        let Some(seen) = seen.as_mut() else { return Ok(()) };
        let stored = self.store.team_report_versions(&self.scope).await?;
        let is_new = |key: &&ReportKey| seen.get(*key) != stored.get(*key);
        let received: Vec<ReportKey> = stored.keys().filter(is_new).copied().collect();
        self.emit_received_reports(&received).await?;
        *seen = stored;
        Ok(())
    }

    /// Marks reports that this instance has received and emitted, so that they are not emitted again.
    pub(super) async fn mark_reports_as_emitted(&self, received: &[ReportKey]) -> Result<(), StoreError> {
        let mut seen = self.team.seen_reports.lock().await;
        if let Some(seen) = seen.as_mut()
            && !received.is_empty()
        {
            let stored = self.store.team_report_versions(&self.scope).await?;
            seen.extend(stored.into_iter().filter(|(key, _)| received.contains(key)));
        }
        Ok(())
    }

    /// Emits which reports were received from other members, with the totals of their ranges.
    pub(super) async fn emit_received_reports(&self, received: &[ReportKey]) -> Result<(), StoreError> {
        let is_of_views = |key: &&ReportKey| matches!(key.kind, ReportKind::PageViews | ReportKind::DayTotals);
        let ranges: Vec<DateRange> = received.iter().filter(is_of_views).map(|key| key.range).collect();
        if !ranges.is_empty() {
            for (range, totals) in self.store.views_totals(&self.scope, &ranges).await? {
                self.emit(EngineEvent::Totals { range, totals }).await;
            }
        }
        for key in received.iter().filter(|key| key.kind != ReportKind::DayTotals) {
            self.emit(EngineEvent::ReportReceived(*key)).await;
        }
        Ok(())
    }
}
