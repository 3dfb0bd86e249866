//! Shows reports that another member of the team has loaded, as if this computer had loaded them.

use super::{AnalyticsEffect, App, Effect};
use crate::model::analytics::AnalyticsKind;
use crate::model::period::DateRange;
use crate::model::team::{ReportKey, ReportKind};

impl App {
    /// Reads a report that has arrived, if it is on screen or was read before. Otherwise it is read when it is needed.
    pub(super) fn apply_received_report(&mut self, key: ReportKey, effects: &mut Vec<Effect>) {
        match key.kind {
            // Totals of days need no reading: `EngineEvent::Totals` contains them.
            ReportKind::DayTotals => {}
            ReportKind::PageViews => self.apply_received_page_views(key.range, effects),
            ReportKind::Rows(kind) => {
                let is_used = match kind {
                    AnalyticsKind::Visitors => self.views.visitors.accepts_newer_report(key.range),
                    AnalyticsKind::Searches => self.analytics.searches.accepts_newer_report(key.range),
                    AnalyticsKind::Feedback => self.analytics.feedback.accepts_newer_report(key.range),
                    AnalyticsKind::FeedbackByPage => self.analytics.feedback_by_page.accepts_newer_report(key.range),
                    AnalyticsKind::Questions => self.analytics.questions.accepts_newer_report(key.range),
                };
                if is_used {
                    effects.push(Effect::Analytics(AnalyticsEffect::LoadReceivedReport(kind, key.range)));
                }
            }
        }
    }

    fn apply_received_page_views(&mut self, range: DateRange, effects: &mut Vec<Effect>) {
        effects.extend(self.views.read_received_report(range).map(Effect::Views));
        if self.analytics.needs_work.uses_views_of(range) {
            effects.push(Effect::Analytics(AnalyticsEffect::LoadCachedViews(range)));
        }
        if range.days() == 1 && self.views.query().range.contains(range.from()) {
            self.load_daily_reports(effects);
        }
    }
}
