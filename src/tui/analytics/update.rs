//! Applies messages to the reports, and loads what the shown tab needs.

use super::messages::{AnalyticsEffect, AnalyticsMsg, RowsMsg};
use super::report_row::ReportRow;
use super::state::AnalyticsState;
use super::tab::AnalyticsTab;
use crate::model::Time;
use crate::model::analytics::needs_work::ReportSet;
use crate::model::analytics::{
    AnalyticsKind, Feedback, PageFeedback, Question, RowsLoadPlan, RowsLoadProgress, Search,
};
use crate::model::comparison::ComparedRanges;
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::report::{CachedRange, LoadEndReason};
use crate::model::text::CleanText;
use crate::tui::confirm::{ConfirmAction, ConfirmDialog};
use crate::tui::format::{format_count, plural};
use crate::tui::keymap::{Action, Context};
use crate::tui::{App, Effect, Screen, Severity, ViewsEffect};

/// The number of requests that a load may use before docdeck asks whether to continue.
const REQUESTS_PER_CONFIRMATION: u32 = 20;

impl App {
    /// Shows a tab of the analytics screen.
    pub(in crate::tui) fn show_analytics_tab(&mut self, tab: AnalyticsTab) {
        self.close_filter_input();
        self.analytics.tab = tab;
        if tab == AnalyticsTab::NeedsWork {
            self.update_needs_work();
        }
        self.is_dirty = true;
    }

    /// Shows a tab that can show something of a cached range: the current tab if it can, otherwise the first that can.
    pub(in crate::tui) fn show_cached_tab(&mut self, cached: &CachedRange) {
        let current = self.analytics.tab;
        let mut tabs = std::iter::once(current).chain(AnalyticsTab::ALL);
        let tab = tabs.find(|tab| tab.can_show_cached(cached)).unwrap_or(current);
        let by_page =
            [AnalyticsKind::Feedback, AnalyticsKind::FeedbackByPage].map(|kind| cached.reports.contains(&kind));
        if tab == AnalyticsTab::Feedback && by_page != [true, true] {
            self.analytics.is_feedback_by_page = by_page == [false, true];
        }
        self.show_analytics_tab(tab);
    }

    pub(in crate::tui) fn handle_analytics_msg(&mut self, msg: AnalyticsMsg, now: Time, effects: &mut Vec<Effect>) {
        self.is_dirty = true;
        match msg {
            AnalyticsMsg::Visitors(msg) => self.apply_visitors_msg(msg, now, effects),
            AnalyticsMsg::Searches(msg) => self.apply_rows_msg::<Search>(msg, now, effects),
            AnalyticsMsg::Feedback(msg) => self.apply_rows_msg::<Feedback>(msg, now, effects),
            AnalyticsMsg::FeedbackByPage(msg) => self.apply_rows_msg::<PageFeedback>(msg, now, effects),
            AnalyticsMsg::Questions(msg) => {
                self.apply_rows_msg::<Question>(msg, now, effects);
                self.analytics.recount_question_groups();
            }
            AnalyticsMsg::CachedViews(report) => self.analytics.needs_work.set_cached_views(report, now),
            AnalyticsMsg::Conversation { id, result } => {
                let messages = result.map(|messages| Timed { value: messages, as_of: now });
                self.analytics.conversations.entry(id).or_default().finish(messages, now);
            }
            AnalyticsMsg::ViewsLoaded { range, outcome } => {
                self.analytics.needs_work.apply_loaded_views(range, outcome, now)
            }
        }
        if self.analytics.tab == AnalyticsTab::NeedsWork {
            self.update_needs_work();
        }
    }

    fn apply_rows_msg<R: ReportRow>(&mut self, msg: RowsMsg<R>, now: Time, effects: &mut Vec<Effect>) {
        if let RowsMsg::Ended { range, outcome } = &msg {
            // The details of the selected job show numbers from reports, perhaps from this one.
            self.reread_pages(effects);
            // The tab shows a failure for the range on screen. A failure for a compared range needs a notice.
            if let LoadEndReason::Failed(failure) = &outcome.end_reason
                && R::tab_in(&self.analytics).range() != Some(*range)
            {
                self.notify_failure(failure, now);
            }
        }
        let tab = R::tab_in_mut(&mut self.analytics);
        // The user is asked only once whether to load the reports to compare: after the cache was read, not after each
        // response.
        let is_for_comparison = matches!(&msg, RowsMsg::Cached { range, .. } if tab.is_reading_compared(*range));
        let next_effect = tab.receive(msg, now);
        if let Some(report) = tab.report().cloned() {
            tab.bar_maximum = R::bar_maximum(&report);
            tab.update_summary(R::summary);
        }
        // Only the tab on screen requests its report on its own. The others wait until they are shown, or until the user
        // confirms the cost of all reports.
        let is_shown = self.screen == Screen::Analytics && self.is_report_shown::<R>();
        if is_shown {
            effects.extend(next_effect);
            if is_for_comparison {
                self.ask_to_load_compared::<R>(now);
            }
        } else if next_effect.is_some() {
            R::tab_in_mut(&mut self.analytics).postpone_load();
        }
    }

    /// Compares the rows of a report with the previous period. If the rows are already compared, stops comparing.
    pub(super) fn compare_report<R: ReportRow>(&mut self, now: Time, effects: &mut Vec<Effect>) {
        let tab = R::tab_in_mut(&mut self.analytics);
        if tab.compared_ranges().is_some() {
            tab.stop_comparing();
            tab.update_summary(R::summary);
            self.analytics.recount_question_groups();
            return;
        }
        let ranges = self.views.try_days_to_compare_with_previous(now.date_naive());
        self.compare_report_ranges::<R>(ranges, now, effects);
    }

    /// Compares what the tab on screen shows with another range.
    pub(in crate::tui) fn compare_tab_with(&mut self, other: DateRange, now: Time, effects: &mut Vec<Effect>) {
        let ranges = self.views.days_to_compare(other, now.date_naive()).map_err(|why| why.to_string());
        match self.analytics.tab {
            AnalyticsTab::Pages | AnalyticsTab::NeedsWork => self.compare_with(other, now, effects),
            AnalyticsTab::Searches => self.compare_report_ranges::<Search>(ranges, now, effects),
            AnalyticsTab::Feedback if self.analytics.is_feedback_by_page => {
                self.compare_report_ranges::<PageFeedback>(ranges, now, effects);
            }
            AnalyticsTab::Feedback => self.compare_report_ranges::<Feedback>(ranges, now, effects),
            AnalyticsTab::Questions => self.compare_report_ranges::<Question>(ranges, now, effects),
        }
    }

    /// Asks whether to request the reports of a comparison that are not cached or not fresh.
    fn ask_to_load_compared<R: ReportRow>(&mut self, now: Time) {
        let ranges = R::tab_in(&self.analytics).compared_ranges_to_confirm();
        if ranges.is_empty() || !self.dialogs.is_empty() {
            return;
        }
        let names: Vec<String> = ranges.iter().map(|range| range.format_dates(true)).collect();
        let (ranges, costs, left) =
            (names.join(" and "), plural(ranges.len(), "analytics request"), self.view_requests_left());
        if left == 0 {
            return self.notify_no_requests_left(now);
        }
        let text =
            format!("Load the {} of {ranges} to compare? Uses {costs} ({left} left this hour).", R::KIND.label());
        self.open(ConfirmDialog {
            text,
            on_yes: ConfirmAction::LoadComparisonReports { kind: R::KIND, max_requests: 1 },
        });
    }

    /// Loads the reports of a comparison after the user has confirmed the cost.
    pub(in crate::tui) fn load_compared(&mut self, kind: AnalyticsKind, max_requests: u32, effects: &mut Vec<Effect>) {
        let analytics = &mut self.analytics;
        effects.extend(match kind {
            AnalyticsKind::Visitors => Vec::new(),
            AnalyticsKind::Searches => analytics.searches.load_compared(max_requests),
            AnalyticsKind::Feedback => analytics.feedback.load_compared(max_requests),
            AnalyticsKind::FeedbackByPage => analytics.feedback_by_page.load_compared(max_requests),
            AnalyticsKind::Questions => analytics.questions.load_compared(max_requests),
        });
        self.is_dirty = true;
    }

    fn compare_report_ranges<R: ReportRow>(
        &mut self,
        ranges: Result<ComparedRanges, String>,
        now: Time,
        effects: &mut Vec<Effect>,
    ) {
        match ranges {
            Ok(ranges) => {
                let tab = R::tab_in_mut(&mut self.analytics);
                effects.extend(tab.compare(ranges));
                tab.update_summary(R::summary);
                self.analytics.recount_question_groups();
            }
            Err(why) => self.notify(Severity::Info, &why, now),
        }
    }

    /// Whether the tab on screen shows this report.
    fn is_report_shown<R: ReportRow>(&self) -> bool {
        let is_by_page = R::KIND == AnalyticsKind::FeedbackByPage;
        self.analytics.tab == R::TAB
            && (R::TAB != AnalyticsTab::Feedback || self.analytics.is_feedback_by_page == is_by_page)
    }

    pub(in crate::tui) fn show_rows_progress(&mut self, progress: RowsLoadProgress) {
        match progress.kind {
            AnalyticsKind::Visitors => {}
            AnalyticsKind::Searches => self.analytics.searches.show_progress(progress),
            AnalyticsKind::Feedback => self.analytics.feedback.show_progress(progress),
            AnalyticsKind::FeedbackByPage => self.analytics.feedback_by_page.show_progress(progress),
            AnalyticsKind::Questions => self.analytics.questions.show_progress(progress),
        }
        self.is_dirty |= self.screen == Screen::Analytics;
    }

    /// Reads or requests what the tab on screen needs for the current range. Page views are requested only while their
    /// tab is shown.
    pub(in crate::tui) fn load_shown_tab(&mut self, now: Time, effects: &mut Vec<Effect>) {
        if self.screen != Screen::Analytics {
            return;
        }
        let (tab, range) = (self.analytics.tab, self.views.query().range);
        if tab == AnalyticsTab::Pages {
            effects.extend(self.views.load_unless_current());
            self.load_shown_visitors(now, effects);
            return;
        }
        let before = effects.len();
        effects.retain(|effect| !matches!(effect, Effect::Views(ViewsEffect::LoadCachedReport(of)) if *of == range));
        if effects.len() < before {
            self.views.ignore_running_load();
        }
        let analytics = &mut self.analytics;
        match tab {
            AnalyticsTab::Pages => {}
            AnalyticsTab::Searches => effects.extend(analytics.searches.show_range_on_screen(range)),
            AnalyticsTab::Feedback if analytics.is_feedback_by_page => {
                effects.extend(analytics.feedback_by_page.show_range_on_screen(range));
            }
            AnalyticsTab::Feedback => effects.extend(analytics.feedback.show_range_on_screen(range)),
            AnalyticsTab::Questions => effects.extend(analytics.questions.show_range_on_screen(range)),
            AnalyticsTab::NeedsWork => {
                let pages = &self.views.all_pages;
                let compared_ranges = self.views.days_to_compare_with_previous(now.date_naive());
                let unread = analytics
                    .needs_work
                    .show_range(range, compared_ranges)
                    .into_iter()
                    .filter(|of| pages.report(*of).is_none());
                effects.extend(unread.map(AnalyticsEffect::LoadCachedViews).map(Effect::Analytics));
                let has_new_views = analytics.needs_work.use_views_of_pages_tab(pages, now);
                effects.extend(analytics.searches.show_range(range));
                effects.extend(analytics.feedback_by_page.show_range(range));
                effects.extend(analytics.feedback.show_range(range));
                effects.extend(analytics.questions.show_range(range));
                if has_new_views {
                    self.update_needs_work();
                }
            }
        }
    }

    /// Asks whether to load all rows of a report. If they are loaded, asks about the missing rows of the compared
    /// ranges, or reports that nothing is missing.
    pub(super) fn ask_to_load_rows<R: ReportRow>(&mut self, now: Time) {
        let left = self.view_requests_left();
        if left == 0 {
            return self.notify_no_requests_left(now);
        }
        let tab = R::tab_in(&self.analytics);
        let (Some(range), Some(report)) = (tab.range(), tab.report()) else { return };
        let compared = tab.partial_compared_ranges();
        if report.is_complete() && !compared.is_empty() {
            return self.ask_to_load_other_compared_rows::<R>(&compared, left);
        }
        if report.is_complete() {
            let again = self.key_label(Context::Analytics, Action::Refresh);
            let text = format!("All rows of this range are loaded; {again} reloads them.");
            return self.notify(Severity::Info, &text, now);
        }
        let most = REQUESTS_PER_CONFIRMATION.min(left);
        let text = format!(
            "Load all {} of {}, continuing after {} rows? Uses at least 1 and at most {most} analytics requests ({left} left this \
             hour). The service does not report how many rows there are.",
            R::KIND.label(),
            range.format_dates(true),
            format_count(report.rows.len())
        );
        let on_yes = ConfirmAction::LoadAllRows { kind: R::KIND, max_requests: most, from_start: false };
        self.open(ConfirmDialog { text, on_yes });
    }

    /// Asks whether to load the missing rows of the compared ranges, which are needed for a complete comparison. `left`
    /// is the number of requests left this hour.
    fn ask_to_load_other_compared_rows<R: ReportRow>(&mut self, ranges: &[DateRange], left: u32) {
        let names: Vec<String> = ranges.iter().map(|range| range.format_dates(true)).collect();
        let each = (REQUESTS_PER_CONFIRMATION.min(left) / u32::try_from(ranges.len()).unwrap_or(1)).max(1);
        let text = format!(
            "Load the remaining {} of {} to compare? Uses at most {each} analytics requests for each range ({left} left this \
             hour).",
            R::KIND.label(),
            names.join(" and ")
        );
        let on_yes = ConfirmAction::LoadComparisonReports { kind: R::KIND, max_requests: each };
        self.open(ConfirmDialog { text, on_yes });
    }

    /// Requests a report again. If the report is complete and took several requests, asks first, because it stays
    /// complete only if all of these requests are sent again. After midnight, moves the range to today instead, which
    /// loads the report of the new range.
    pub(super) fn refresh_rows<R: ReportRow>(&mut self, now: Time, effects: &mut Vec<Effect>) {
        if let Some(read) = self.views.move_range_to_today(now) {
            return effects.push(read);
        }
        let tab = R::tab_in_mut(&mut self.analytics);
        let report = tab.report().filter(|report| report.is_complete() && report.responses > 1);
        let Some((range, responses)) = report.map(|report| (report.range, report.responses)) else {
            effects.extend(tab.load(1, true));
            return;
        };
        let left = self.view_requests_left();
        if left == 0 {
            return self.notify_no_requests_left(now);
        }
        let cost = plural(responses, "analytics request");
        let text = format!(
            "Load all {} of {} again? Uses about {cost} ({left} left this hour).",
            R::KIND.label(),
            range.format_dates(true)
        );
        // One request more than last time, because there may be more rows by now.
        let max_requests = REQUESTS_PER_CONFIRMATION.max(responses + 1).min(left);
        self.open(ConfirmDialog {
            text,
            on_yes: ConfirmAction::LoadAllRows { kind: R::KIND, max_requests, from_start: true },
        });
    }

    /// Requests a conversation with the assistant, unless it is loaded or being loaded. Shows a warning if no requests
    /// are left.
    pub(super) fn load_conversation(&mut self, id: &CleanText, now: Time, effects: &mut Vec<Effect>) {
        if self.view_requests_left() == 0 {
            return self.notify_no_requests_left(now);
        }
        let conversation = self.analytics.conversations.entry(id.clone()).or_default();
        if conversation.shown().is_none() && !conversation.is_loading() {
            conversation.start();
            effects.push(Effect::Analytics(AnalyticsEffect::LoadConversation(id.clone())));
        }
    }

    /// Asks whether to load the first rows of these reports of a range, to compare them with the numbers that are
    /// stored with a job.
    pub(in crate::tui) fn ask_to_load_reports(&mut self, range: DateRange, kinds: Vec<AnalyticsKind>, now: Time) {
        let left = self.view_requests_left();
        if left == 0 {
            return self.notify_no_requests_left(now);
        }
        let names: Vec<&str> = kinds.iter().map(|kind| kind.label()).collect();
        let (names, costs) = (names.join(", "), plural(kinds.len(), "analytics request"));
        let text = format!(
            "Load {names} of {}, the week after the job? Uses {costs} ({left} left this hour).",
            range.format_dates(true)
        );
        self.open(ConfirmDialog { text, on_yes: ConfirmAction::LoadReports(range, kinds) });
    }

    /// Loads the first rows of these reports of a range.
    pub(in crate::tui) fn load_reports(
        &mut self,
        range: DateRange,
        kinds: Vec<AnalyticsKind>,
        effects: &mut Vec<Effect>,
    ) {
        let plan = RowsLoadPlan { range, max_requests: 1, from_start: false };
        effects.extend(kinds.into_iter().map(|kind| Effect::Analytics(AnalyticsEffect::Load(kind, plan))));
    }

    /// Loads a report after the user has confirmed the cost.
    pub(in crate::tui) fn load_rows(
        &mut self,
        kind: AnalyticsKind,
        max_requests: u32,
        from_start: bool,
        effects: &mut Vec<Effect>,
    ) {
        match kind {
            AnalyticsKind::Visitors => self.load_visitors(max_requests, effects),
            _ => effects.extend(self.analytics.load(kind, max_requests, from_start)),
        }
    }

    /// Loads the missing reports for the pages that need work with one request each, or all reports again with as many
    /// requests as they took.
    pub(in crate::tui) fn load_signals(&mut self, reloads_all: bool, effects: &mut Vec<Effect>) {
        let analytics = &mut self.analytics;
        let reports = if reloads_all { ReportSet::all() } else { analytics.loaded_reports().missing() };
        let max_requests = |analytics: &AnalyticsState, kind| match analytics.requests_to_reload(kind) {
            // One request more than last time, because there may be more rows by now.
            several @ 2.. if reloads_all => several.saturating_add(1),
            _ => 1,
        };
        if reports.has_views {
            let most = max_requests(analytics, None);
            effects.extend(analytics.needs_work.load_views(most, reloads_all));
        }
        for kind in reports.kinds {
            let most = max_requests(analytics, Some(kind));
            effects.extend(analytics.load(kind, most, reloads_all));
        }
        self.is_dirty = true;
    }
}
