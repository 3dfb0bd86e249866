//! The state of all reports.

use super::needs_work::NeedsWorkTab;
use super::rows_tab::RowsTab;
use super::tab::AnalyticsTab;
use crate::model::analytics::{Feedback, PageFeedback, Question, Search};

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
}

impl AnalyticsState {
    /// Returns the filter of the tab; empty for a tab without a filter.
    pub(in crate::tui) fn filter_text(&self) -> &str {
        match self.tab {
            AnalyticsTab::Searches => self.searches.filter_text(),
            AnalyticsTab::Feedback if self.is_by_page => self.feedback_by_page.filter_text(),
            AnalyticsTab::Feedback => self.feedback.filter_text(),
            AnalyticsTab::Questions => self.questions.filter_text(),
            AnalyticsTab::Pages | AnalyticsTab::NeedsWork => "",
        }
    }

    /// Filters the rows of the tab.
    pub(in crate::tui) fn set_filter(&mut self, text: &str) {
        match self.tab {
            AnalyticsTab::Searches => self.searches.set_filter(text),
            AnalyticsTab::Feedback if self.is_by_page => self.feedback_by_page.set_filter(text),
            AnalyticsTab::Feedback => self.feedback.set_filter(text),
            AnalyticsTab::Questions => self.questions.set_filter(text),
            AnalyticsTab::Pages | AnalyticsTab::NeedsWork => {}
        }
    }
}
