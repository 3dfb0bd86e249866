//! Applies messages to the reports, and loads what the shown tab needs.

use super::messages::{AnalyticsEffect, AnalyticsMsg, RowsMsg};
use super::report_row::ReportRow;
use super::tab::AnalyticsTab;
use crate::model::Time;
use crate::model::analytics::{AnalyticsKind, Feedback, PageFeedback, Question, RowsPlan, RowsProgress, Search};
use crate::model::report::{LoadEndReason, LoadPlan};
use crate::tui::confirm::{ConfirmAction, ConfirmDialog};
use crate::tui::format::format_count;
use crate::tui::{App, Effect, Screen, ViewsEffect};

/// The maximum number of requests after which loading asks again.
const REQUESTS_PER_CONFIRMATION: u32 = 20;

impl App {
    /// Shows a tab of the analytics screen.
    pub(in crate::tui) fn show_analytics_tab(&mut self, tab: AnalyticsTab) {
        self.close_filter_input();
        self.analytics.tab = tab;
        if tab == AnalyticsTab::NeedsWork {
            self.update_needs_work();
        }
        self.dirty = true;
    }

    pub(in crate::tui) fn handle_analytics_msg(&mut self, msg: AnalyticsMsg, now: Time, effects: &mut Vec<Effect>) {
        self.dirty = true;
        match msg {
            // Visitors are columns of the page views.
            AnalyticsMsg::Visitors(_) => {}
            AnalyticsMsg::Searches(msg) => self.rows_received::<Search>(msg, now, effects),
            AnalyticsMsg::Feedback(msg) => self.rows_received::<Feedback>(msg, now, effects),
            AnalyticsMsg::FeedbackByPage(msg) => self.rows_received::<PageFeedback>(msg, now, effects),
            AnalyticsMsg::Questions(msg) => self.rows_received::<Question>(msg, now, effects),
            AnalyticsMsg::CachedViews { range, report } => self.analytics.needs_work.set_views(range, report),
            AnalyticsMsg::ViewsLoaded { range, outcome } => {
                let tab = &mut self.analytics.needs_work;
                tab.loading = tab.loading.saturating_sub(1);
                tab.set_views(range, outcome.report);
                if let LoadEndReason::Failed(failure) = outcome.end_reason {
                    tab.failure = Some(failure.message.to_string());
                }
            }
        }
        if self.analytics.tab == AnalyticsTab::NeedsWork {
            self.update_needs_work();
        }
    }

    fn rows_received<R: ReportRow>(&mut self, msg: RowsMsg<R>, now: Time, effects: &mut Vec<Effect>) {
        if let RowsMsg::Ended { outcome, .. } = &msg {
            let tab = &mut self.analytics.needs_work;
            tab.loading = tab.loading.saturating_sub(1);
            if let LoadEndReason::Failed(failure) = &outcome.end_reason {
                tab.failure = Some(failure.message.to_string());
            }
        }
        let tab = R::of_mut(&mut self.analytics);
        let follows = tab.receive(msg, now);
        if let Some(report) = tab.report().cloned() {
            (tab.summary, tab.full_bar) = (R::summary(&report), R::full_bar(&report));
        }
        // Only the tab on screen requests its report on its own. The others wait for a confirmation of the cost.
        let is_shown = self.screen == Screen::Views && self.is_report_shown::<R>();
        if is_shown {
            effects.extend(follows);
        } else if follows.is_some() {
            R::of_mut(&mut self.analytics).stop_waiting();
        }
    }

    /// Whether the tab on screen shows this report.
    fn is_report_shown<R: ReportRow>(&self) -> bool {
        let is_by_page = R::KIND == AnalyticsKind::FeedbackByPage;
        self.analytics.tab == R::TAB && (R::TAB != AnalyticsTab::Feedback || self.analytics.is_by_page == is_by_page)
    }

    pub(in crate::tui) fn rows_progressed(&mut self, progress: RowsProgress) {
        match progress.kind {
            AnalyticsKind::Visitors => {}
            AnalyticsKind::Searches => self.analytics.searches.progressed(progress),
            AnalyticsKind::Feedback => self.analytics.feedback.progressed(progress),
            AnalyticsKind::FeedbackByPage => self.analytics.feedback_by_page.progressed(progress),
            AnalyticsKind::Questions => self.analytics.questions.progressed(progress),
        }
        self.dirty |= self.screen == Screen::Views;
    }

    /// Reads or requests what the tab on screen needs for the current range. Page views are requested only while their
    /// tab is shown.
    pub(in crate::tui) fn load_shown_tab(&mut self, effects: &mut Vec<Effect>) {
        if self.screen != Screen::Views {
            return;
        }
        let (tab, range) = (self.analytics.tab, self.views.query().range);
        if tab == AnalyticsTab::Pages {
            effects.extend(self.views.load_unless_current());
            return;
        }
        let before = effects.len();
        effects.retain(|effect| !matches!(effect, Effect::Views(ViewsEffect::LoadCachedReport(of)) if *of == range));
        if effects.len() < before {
            self.views.postpone_loading();
        }
        let analytics = &mut self.analytics;
        match tab {
            AnalyticsTab::Pages => {}
            AnalyticsTab::Searches => effects.extend(analytics.searches.show_range(range)),
            AnalyticsTab::Feedback if analytics.is_by_page => {
                effects.extend(analytics.feedback_by_page.show_range(range));
            }
            AnalyticsTab::Feedback => effects.extend(analytics.feedback.show_range(range)),
            AnalyticsTab::Questions => effects.extend(analytics.questions.show_range(range)),
            AnalyticsTab::NeedsWork => {
                effects.extend(analytics.needs_work.show_range(range));
                effects.extend(analytics.searches.show_range(range));
                effects.extend(analytics.feedback_by_page.show_range(range));
                effects.extend(analytics.feedback.show_range(range));
                effects.extend(analytics.questions.show_range(range));
            }
        }
    }

    /// Asks whether to load all rows of a report.
    pub(super) fn ask_to_load_rows<R: ReportRow>(&mut self, now: Time) {
        let left = self.view_requests_left();
        if left == 0 {
            return self.notify_no_requests_left(now);
        }
        let tab = R::of(&self.analytics);
        let (Some(range), Some(report)) = (tab.range(), tab.report()) else { return };
        let most = REQUESTS_PER_CONFIRMATION.min(left);
        let text = format!(
            "Load all {} of {range}, continuing after {} rows? At least 1 request and at most {most}, {left} left. The \
             service does not say how many rows there are.",
            R::KIND.label(),
            format_count(report.rows.len())
        );
        self.open(ConfirmDialog { text, on_yes: ConfirmAction::LoadRows(R::KIND, most) });
    }

    /// Loads a report after the user has confirmed the cost.
    pub(in crate::tui) fn load_rows(&mut self, kind: AnalyticsKind, max_requests: u32, effects: &mut Vec<Effect>) {
        let analytics = &mut self.analytics;
        effects.extend(match kind {
            AnalyticsKind::Visitors => None,
            AnalyticsKind::Searches => analytics.searches.load(max_requests, false),
            AnalyticsKind::Feedback => analytics.feedback.load(max_requests, false),
            AnalyticsKind::FeedbackByPage => analytics.feedback_by_page.load(max_requests, false),
            AnalyticsKind::Questions => analytics.questions.load(max_requests, false),
        });
    }

    /// Loads the missing reports for the pages that need work, or all of them, with one request each.
    pub(in crate::tui) fn load_signals(&mut self, everything: bool, effects: &mut Vec<Effect>) {
        let Some(range) = self.analytics.needs_work.range() else { return };
        let analytics = &mut self.analytics;
        let mut started = Vec::new();
        if everything || !analytics.needs_work.has_views() {
            let plan = LoadPlan { range, from_start: everything, max_requests: 1, stop_at_percent: None };
            started.push(Effect::Analytics(AnalyticsEffect::LoadViews(plan)));
        }
        let plan = RowsPlan { range, max_requests: 1, from_start: everything };
        let load = |kind| Effect::Analytics(AnalyticsEffect::Load(kind, plan));
        let reports = [
            (AnalyticsKind::FeedbackByPage, analytics.feedback_by_page.report().is_none()),
            (AnalyticsKind::Feedback, analytics.feedback.report().is_none()),
            (AnalyticsKind::Questions, analytics.questions.report().is_none()),
            (AnalyticsKind::Searches, analytics.searches.report().is_none()),
        ];
        started.extend(
            reports.into_iter().filter(|(_, is_missing)| everything || *is_missing).map(|(kind, _)| load(kind)),
        );
        analytics.needs_work.failure = None;
        analytics.needs_work.loading = u32::try_from(started.len()).unwrap_or(0);
        effects.extend(started);
        self.dirty = true;
    }
}
