//! The state of all reports.

use super::needs_work::NeedsWorkTab;
use super::row_list::ListTab;
use super::rows_tab::RowsTab;
use super::tab::AnalyticsTab;
use crate::model::analytics::needs_work::LoadedReports;
use crate::model::analytics::{AnalyticsKind, Feedback, PageFeedback, Question, Search, ThreadMessage};
use crate::model::failure::Failure;
use crate::model::load::Load;
use crate::model::text::CleanText;
use crate::tui::msg::Effect;
use std::collections::HashMap;

/// The state of the analytics screen, except for the page views.
#[derive(Debug, Default)]
pub struct AnalyticsState {
    /// The tab that is shown.
    pub tab: AnalyticsTab,
    pub searches: RowsTab<Search>,
    pub feedback: RowsTab<Feedback>,
    pub feedback_by_page: RowsTab<PageFeedback>,
    /// Whether the tab about feedback has a row per page.
    pub is_by_page: bool,
    pub questions: RowsTab<Question>,
    pub needs_work: NeedsWorkTab,
    /// The conversations that were requested, by the id of their question. They are not stored on disk.
    pub(super) conversations: HashMap<CleanText, Load<Vec<ThreadMessage>>>,
}

impl AnalyticsState {
    /// Returns the reports from which the pages that need work are found.
    pub(super) fn loaded_reports(&self) -> LoadedReports<'_> {
        LoadedReports {
            views: self.needs_work.views(),
            previous_views: self.needs_work.previous_views.as_deref(),
            feedback_by_page: self.feedback_by_page.report().map(AsRef::as_ref),
            feedback: self.feedback.report().map(AsRef::as_ref),
            questions: self.questions.report().map(AsRef::as_ref),
            searches: self.searches.report().map(AsRef::as_ref),
        }
    }

    /// Requests a report, from its start or continuing it. Returns the effect.
    pub(super) fn load(&mut self, kind: AnalyticsKind, max_requests: u32, from_start: bool) -> Option<Effect> {
        match kind {
            AnalyticsKind::Visitors => None,
            AnalyticsKind::Searches => self.searches.load(max_requests, from_start),
            AnalyticsKind::Feedback => self.feedback.load(max_requests, from_start),
            AnalyticsKind::FeedbackByPage => self.feedback_by_page.load(max_requests, from_start),
            AnalyticsKind::Questions => self.questions.load(max_requests, from_start),
        }
    }

    /// Returns how many of these reports are being loaded.
    pub(super) fn loading_count(&self) -> usize {
        let loading = [
            self.needs_work.views.is_loading(),
            self.feedback_by_page.is_loading(),
            self.feedback.is_loading(),
            self.questions.is_loading(),
            self.searches.is_loading(),
        ];
        loading.into_iter().filter(|is_loading| *is_loading).count()
    }

    /// Returns why one of these reports could not be loaded.
    pub(super) fn load_failure(&self) -> Option<&Failure> {
        let views = self.needs_work.views.failure();
        let rows = [
            self.feedback_by_page.failure(),
            self.feedback.failure(),
            self.questions.failure(),
            self.searches.failure(),
        ];
        views.or_else(|| rows.into_iter().flatten().next())
    }

    /// Returns the filter of the tab; empty for a tab without a filter.
    pub(in crate::tui) fn filter_text(&self) -> &str {
        match self.tab {
            AnalyticsTab::Pages => "",
            AnalyticsTab::Searches => self.searches.list().filter_text(),
            AnalyticsTab::Feedback if self.is_by_page => self.feedback_by_page.list().filter_text(),
            AnalyticsTab::Feedback => self.feedback.list().filter_text(),
            AnalyticsTab::Questions => self.questions.list().filter_text(),
            AnalyticsTab::NeedsWork => self.needs_work.list().filter_text(),
        }
    }

    /// Filters the rows of the tab.
    pub(in crate::tui) fn set_filter(&mut self, text: &str) {
        match self.tab {
            AnalyticsTab::Searches => self.searches.set_filter(text),
            AnalyticsTab::Feedback if self.is_by_page => self.feedback_by_page.set_filter(text),
            AnalyticsTab::Feedback => self.feedback.set_filter(text),
            AnalyticsTab::Questions => self.questions.set_filter(text),
            AnalyticsTab::NeedsWork => self.needs_work.set_filter(text),
            AnalyticsTab::Pages => {}
        }
    }
}
