//! The state of the analytics screen: the shown tab, and the reports of all tabs except page views.

use super::needs_work::NeedsWorkTab;
use super::question_groups::QuestionGroups;
use super::row_list::ListTab;
use super::rows_tab::RowsTab;
use super::tab::AnalyticsTab;
use crate::model::Time;
use crate::model::analytics::fields::FieldedRow;
use crate::model::analytics::needs_work::LoadedReports;
use crate::model::analytics::{
    AnalyticsKind, ConversationMessage, Feedback, PageFeedback, Question, RowsReport, Search,
};
use crate::model::failure::Failure;
use crate::model::load::Load;
use crate::model::period::DateRange;
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
    pub is_feedback_by_page: bool,
    pub questions: RowsTab<Question>,
    /// The questions, counted by page or by category.
    pub question_groups: QuestionGroups,
    pub needs_work: NeedsWorkTab,
    /// The conversations that were requested, by the id of their question. They are not stored on disk.
    pub(super) conversations: HashMap<CleanText, Load<Vec<ConversationMessage>>>,
}

impl AnalyticsState {
    /// Returns the loaded reports from which the ranking of the pages that need work is computed.
    pub(super) fn loaded_reports(&self) -> LoadedReports<'_> {
        self.needs_work.range.map(|range| self.reports_of(range)).unwrap_or_default()
    }

    /// Returns the loaded reports of a range.
    pub(in crate::tui) fn reports_of(&self, range: DateRange) -> LoadedReports<'_> {
        fn of_range<R: FieldedRow>(tab: &RowsTab<R>, range: DateRange) -> Option<&RowsReport<R>> {
            tab.report().map(AsRef::as_ref).filter(|report| report.range == range)
        }
        let is_of_range = self.needs_work.range == Some(range);
        LoadedReports {
            views: self.needs_work.views().filter(|_| is_of_range),
            comparison: self.needs_work.comparison.as_ref().filter(|_| is_of_range),
            feedback_by_page: of_range(&self.feedback_by_page, range),
            feedback: of_range(&self.feedback, range),
            questions: of_range(&self.questions, range),
            searches: of_range(&self.searches, range),
        }
    }

    /// Returns the effect that loads a report from its start, or continues a partial load.
    pub(super) fn load(&mut self, kind: AnalyticsKind, max_requests: u32, from_start: bool) -> Option<Effect> {
        match kind {
            AnalyticsKind::Visitors => None,
            AnalyticsKind::Searches => self.searches.load(max_requests, from_start),
            AnalyticsKind::Feedback => self.feedback.load(max_requests, from_start),
            AnalyticsKind::FeedbackByPage => self.feedback_by_page.load(max_requests, from_start),
            AnalyticsKind::Questions => self.questions.load(max_requests, from_start),
        }
    }

    /// Whether one of the tabs other than the page views has been shown since docdeck started.
    pub(in crate::tui) fn has_been_shown(&self) -> bool {
        let ranges = [
            self.searches.range(),
            self.feedback.range(),
            self.feedback_by_page.range(),
            self.questions.range(),
            self.needs_work.range,
        ];
        ranges.iter().any(Option::is_some)
    }

    /// Returns how many requests it takes to load a report of [`Self::loaded_reports`] again: one, unless the report is
    /// complete and took several. Fewer requests couldn't replace such a report. `None` stands for the page views.
    pub(super) fn requests_to_reload(&self, kind: Option<AnalyticsKind>) -> u32 {
        fn of_rows<R: FieldedRow>(tab: &RowsTab<R>) -> Option<u32> {
            tab.report().filter(|report| report.is_complete()).map(|report| report.responses)
        }
        let responses = match kind {
            None => self.needs_work.views().filter(|report| report.complete).map(|report| report.responses),
            Some(AnalyticsKind::Visitors) => None,
            Some(AnalyticsKind::Searches) => of_rows(&self.searches),
            Some(AnalyticsKind::Feedback) => of_rows(&self.feedback),
            Some(AnalyticsKind::FeedbackByPage) => of_rows(&self.feedback_by_page),
            Some(AnalyticsKind::Questions) => of_rows(&self.questions),
        };
        responses.unwrap_or(1).max(1)
    }

    /// Returns how many of the reports in [`Self::loaded_reports`] are being loaded.
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

    /// Returns why one of the reports in [`Self::loaded_reports`] could not be loaded; `None` if no load failed. Ignores
    /// a rate limit whose waiting time is over.
    pub(super) fn load_failure(&self, now: Time) -> Option<&Failure> {
        let views = self.needs_work.views.failure().filter(|failure| !failure.is_limit_over(now));
        let rows = [
            self.feedback_by_page.failure(now),
            self.feedback.failure(now),
            self.questions.failure(now),
            self.searches.failure(now),
        ];
        views.or_else(|| rows.into_iter().flatten().next())
    }

    /// Whether the questions are counted by page or by category.
    pub(in crate::tui) fn are_questions_grouped(&self) -> bool {
        self.question_groups.grouping().is_some()
    }

    /// Counts the questions again, by page or by category.
    pub(super) fn recount_question_groups(&mut self) {
        let questions = self.questions.report().map_or(&[][..], |report| report.rows.as_slice());
        self.question_groups.update_groups(questions, self.questions.compared_reports());
    }

    /// Returns the filter of the tab on screen; empty for a tab without a filter.
    pub(in crate::tui) fn filter_text(&self) -> &str {
        match self.tab {
            AnalyticsTab::Pages => "",
            AnalyticsTab::Searches => self.searches.list().filter_text(),
            AnalyticsTab::Feedback if self.is_feedback_by_page => self.feedback_by_page.list().filter_text(),
            AnalyticsTab::Feedback => self.feedback.list().filter_text(),
            AnalyticsTab::Questions if self.are_questions_grouped() => self.question_groups.list().filter_text(),
            AnalyticsTab::Questions => self.questions.list().filter_text(),
            AnalyticsTab::NeedsWork => self.needs_work.list().filter_text(),
        }
    }

    /// Filters the rows of the tab on screen.
    pub(in crate::tui) fn set_filter(&mut self, text: &str) {
        match self.tab {
            AnalyticsTab::Searches => self.searches.set_filter(text),
            AnalyticsTab::Feedback if self.is_feedback_by_page => self.feedback_by_page.set_filter(text),
            AnalyticsTab::Feedback => self.feedback.set_filter(text),
            AnalyticsTab::Questions if self.are_questions_grouped() => self.question_groups.set_filter(text),
            AnalyticsTab::Questions => self.questions.set_filter(text),
            AnalyticsTab::NeedsWork => self.needs_work.set_filter(text),
            AnalyticsTab::Pages => {}
        }
    }
}
