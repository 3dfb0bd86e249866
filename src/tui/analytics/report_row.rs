//! What is specific to a kind of row: where its report is in the state, its columns, its details, and its evidence
//! about a page.

use super::columns;
use super::rows_tab::RowsTab;
use super::state::AnalyticsState;
use super::tab::AnalyticsTab;
use crate::model::Time;
use crate::model::analytics::fields::FieldedRow;
use crate::model::analytics::{Feedback, PageFeedback, Question, RowsReport, Search, page_path};
use crate::model::text::CleanText;
use crate::model::views::{Count, DecimalCount};
use crate::tui::format::count_text;
use crate::tui::widgets::table::{Column, ListCell};

/// A named text of a row's details.
pub(in crate::tui) type DetailPart = (&'static str, String);

/// The names of the parts with the question and the answer. The messages of a loaded conversation replace these parts.
pub(super) const READER_PART_NAME: &str = "Reader";
pub(super) const ASSISTANT_PART_NAME: &str = "Assistant";

/// A row of a report on the screen.
pub(in crate::tui) trait ReportRow: FieldedRow {
    const TAB: AnalyticsTab;
    /// What one row is called, such as `search`.
    const ROW_NAME: &'static str;
    /// The names of the fields that have a column.
    const COLUMN_FIELDS: &'static [&'static str];

    fn tab_in(state: &AnalyticsState) -> &RowsTab<Self>;

    fn tab_in_mut(state: &mut AnalyticsState) -> &mut RowsTab<Self>;

    /// Returns the columns of the table.
    fn columns() -> Vec<Column<ListCell<Self>>>;

    /// Returns the numbers above the table, with their names.
    fn summary(report: &RowsReport<Self>) -> Vec<(&'static str, DecimalCount)>;

    /// Returns the number that a bar of full length stands for. All rows have the same scale.
    fn bar_maximum(_report: &RowsReport<Self>) -> f64 {
        1.0
    }

    /// Returns the path of the page that the row is about.
    fn page(&self) -> Option<CleanText>;

    /// Returns the time from which the age in the row's columns is measured; `None` if there is no age.
    fn age_start(&self) -> Option<Time> {
        None
    }

    /// Returns the line that presents this row as evidence in a prompt. The reader's text is added after this line.
    fn evidence_line(&self) -> String;

    /// Returns the text of the row that readers wrote; empty if there is none.
    fn reader_text(&self) -> &str {
        ""
    }

    /// Returns the id of the conversation that begins with this row; `None` if there is none.
    fn conversation_id(&self) -> Option<&CleanText> {
        None
    }

    /// Returns the complete row as named texts.
    fn details(&self) -> Vec<DetailPart>;
}

/// Returns how many rows of a report have a property.
fn count_rows<R>(report: &RowsReport<R>, has: impl Fn(&R) -> bool) -> DecimalCount {
    let count = report.rows.iter().filter(|row| has(row)).count();
    DecimalCount::from(u64::try_from(count).unwrap_or(u64::MAX))
}

fn how_often_text(count: &Count) -> String {
    if matches!(count, Count::Known(1)) { "once".to_owned() } else { format!("{} times", count_text(count)) }
}

fn time_text(time: Option<Time>) -> String {
    time.map(|time| time.format("%Y-%m-%d %H:%M UTC").to_string()).unwrap_or_default()
}

impl ReportRow for Search {
    const TAB: AnalyticsTab = AnalyticsTab::Searches;
    const ROW_NAME: &'static str = "search";
    const COLUMN_FIELDS: &'static [&'static str] = &["search", "hits", "ctr", "page", "last"];

    fn tab_in(state: &AnalyticsState) -> &RowsTab<Self> {
        &state.searches
    }

    fn tab_in_mut(state: &mut AnalyticsState) -> &mut RowsTab<Self> {
        &mut state.searches
    }

    fn columns() -> Vec<Column<ListCell<Self>>> {
        columns::columns_of_searches()
    }

    fn summary(report: &RowsReport<Self>) -> Vec<(&'static str, DecimalCount)> {
        let total = report.totals.total.value().map(|total| ("searches", total));
        let [queries, unclicked] = match report.is_complete() {
            true => ["queries", "unclicked queries"],
            false => ["loaded queries", "of these unclicked"],
        };
        let rows = [(queries, count_rows(report, |_| true)), (unclicked, count_rows(report, Self::is_unclicked))];
        total.into_iter().chain(rows).collect()
    }

    fn page(&self) -> Option<CleanText> {
        self.top_page.as_ref().map(|page| page_path(page.as_str()))
    }

    fn age_start(&self) -> Option<Time> {
        self.last_searched_at
    }

    fn evidence_line(&self) -> String {
        if matches!(self.hits, Count::Known(0)) {
            return "not searched in this range:".to_owned();
        }
        let clicks = match (self.is_unclicked(), columns::percent(&self.click_rate)) {
            (true, _) => "nobody clicked a result".to_owned(),
            (false, Some(percent)) => format!("{percent} clicked a result"),
            (false, None) => "unknown clicks".to_owned(),
        };
        format!("searched {}, {clicks}:", how_often_text(&self.hits))
    }

    fn reader_text(&self) -> &str {
        self.query.as_str()
    }

    fn details(&self) -> Vec<DetailPart> {
        let page = self.top_page.as_ref().map_or_else(|| "nobody clicked a result".to_owned(), CleanText::to_string);
        vec![
            ("Query", self.query.to_string()),
            ("Searched", how_often_text(&self.hits)),
            ("Clicked", columns::percent(&self.click_rate).unwrap_or_else(|| "unknown".to_owned())),
            ("Most clicked page", page),
            ("Last searched", time_text(self.last_searched_at)),
        ]
    }
}

impl ReportRow for Feedback {
    const TAB: AnalyticsTab = AnalyticsTab::Feedback;
    const ROW_NAME: &'static str = "feedback";
    const COLUMN_FIELDS: &'static [&'static str] = &["time", "page", "status", "helpful", "comment"];

    fn tab_in(state: &AnalyticsState) -> &RowsTab<Self> {
        &state.feedback
    }

    fn tab_in_mut(state: &mut AnalyticsState) -> &mut RowsTab<Self> {
        &mut state.feedback
    }

    fn columns() -> Vec<Column<ListCell<Self>>> {
        columns::columns_of_feedback()
    }

    fn summary(report: &RowsReport<Self>) -> Vec<(&'static str, DecimalCount)> {
        vec![
            (if report.is_complete() { "feedback" } else { "loaded feedback" }, count_rows(report, |_| true)),
            ("open", count_rows(report, |row| row.status.is_open())),
            ("comments", count_rows(report, |row| row.comment.is_some())),
            ("thumbs down", count_rows(report, |row| row.helpful == Some(false))),
        ]
    }

    fn page(&self) -> Option<CleanText> {
        Some(page_path(self.path.as_str()))
    }

    fn age_start(&self) -> Option<Time> {
        self.created_at
    }

    fn evidence_line(&self) -> String {
        let vote = match self.helpful {
            Some(true) => "thumbs up",
            Some(false) => "thumbs down",
            None => "feedback about a code sample",
        };
        let text = if self.reader_text().is_empty() { "" } else { ":" };
        format!("{vote}, {}{text}", self.status.label())
    }

    fn reader_text(&self) -> &str {
        self.comment.as_ref().map(CleanText::as_str).unwrap_or_default()
    }

    fn details(&self) -> Vec<DetailPart> {
        let optional = |text: &Option<CleanText>| text.as_ref().map(CleanText::to_string).unwrap_or_default();
        let vote = match self.helpful {
            Some(true) => "thumbs up",
            Some(false) => "thumbs down",
            None => "code sample",
        };
        vec![
            ("Page", self.path.to_string()),
            ("Given", time_text(self.created_at)),
            ("Status", self.status.label().to_owned()),
            ("Type", vote.to_owned()),
            ("Source", optional(&self.source).replace('_', " ")),
            ("File", optional(&self.filename)),
            ("Language", optional(&self.lang)),
            ("Comment", optional(&self.comment)),
            ("Code", optional(&self.code)),
        ]
    }
}

impl ReportRow for PageFeedback {
    const TAB: AnalyticsTab = AnalyticsTab::Feedback;
    const ROW_NAME: &'static str = "feedback on a page";
    const COLUMN_FIELDS: &'static [&'static str] = &["page", "up", "down", "code"];

    fn tab_in(state: &AnalyticsState) -> &RowsTab<Self> {
        &state.feedback_by_page
    }

    fn tab_in_mut(state: &mut AnalyticsState) -> &mut RowsTab<Self> {
        &mut state.feedback_by_page
    }

    fn columns() -> Vec<Column<ListCell<Self>>> {
        columns::columns_of_page_feedback()
    }

    fn summary(report: &RowsReport<Self>) -> Vec<(&'static str, DecimalCount)> {
        let sum = |of: fn(&Self) -> &Count| report.rows.iter().filter_map(|row| of(row).value()).sum();
        vec![
            (if report.is_complete() { "pages" } else { "loaded pages" }, count_rows(report, |_| true)),
            ("thumbs up", sum(|row| &row.thumbs_up)),
            ("thumbs down", sum(|row| &row.thumbs_down)),
        ]
    }

    fn bar_maximum(report: &RowsReport<Self>) -> f64 {
        let votes = report.rows.iter().flat_map(|row| [&row.thumbs_up, &row.thumbs_down]);
        votes.filter_map(|count| count.value()).max().map_or(0.0, DecimalCount::as_f64)
    }

    fn page(&self) -> Option<CleanText> {
        Some(page_path(self.path.as_str()))
    }

    fn evidence_line(&self) -> String {
        format!("{} thumbs up, {} thumbs down", count_text(&self.thumbs_up), count_text(&self.thumbs_down))
    }

    fn details(&self) -> Vec<DetailPart> {
        vec![
            ("Page", self.path.to_string()),
            ("Thumbs up", count_text(&self.thumbs_up)),
            ("Thumbs down", count_text(&self.thumbs_down)),
            ("About code", count_text(&self.code)),
            ("Total", count_text(&self.total)),
        ]
    }
}

impl ReportRow for Question {
    const TAB: AnalyticsTab = AnalyticsTab::Questions;
    const ROW_NAME: &'static str = "question";
    const COLUMN_FIELDS: &'static [&'static str] = &["time", "status", "page", "category", "question"];

    fn tab_in(state: &AnalyticsState) -> &RowsTab<Self> {
        &state.questions
    }

    fn tab_in_mut(state: &mut AnalyticsState) -> &mut RowsTab<Self> {
        &mut state.questions
    }

    fn columns() -> Vec<Column<ListCell<Self>>> {
        columns::columns_of_questions()
    }

    fn summary(report: &RowsReport<Self>) -> Vec<(&'static str, DecimalCount)> {
        vec![
            (if report.is_complete() { "questions" } else { "loaded questions" }, count_rows(report, |_| true)),
            ("unanswered", count_rows(report, |row| row.is_answered == Some(false))),
        ]
    }

    fn page(&self) -> Option<CleanText> {
        self.subject_page().map(|path| CleanText::line(&path))
    }

    fn age_start(&self) -> Option<Time> {
        self.asked_at
    }

    fn evidence_line(&self) -> String {
        match self.is_answered {
            Some(false) => "question that the assistant could not answer:".to_owned(),
            _ => "question to the assistant:".to_owned(),
        }
    }

    fn reader_text(&self) -> &str {
        self.query.as_str()
    }

    fn conversation_id(&self) -> Option<&CleanText> {
        self.conversation_id()
    }

    fn details(&self) -> Vec<DetailPart> {
        let sources: Vec<String> =
            self.sources.iter().map(|source| format!("{} ({})", source.title, source.url)).collect();
        let status = match (self.is_answered, self.is_clarifying) {
            (Some(false), _) => "unanswered",
            (Some(true), _) => "answered",
            (None, true) => "the assistant asked for clarification",
            (None, false) => "unknown",
        };
        vec![
            ("Asked", time_text(self.asked_at)),
            ("Status", status.to_owned()),
            ("Page", self.subject_page().map(|page| page.to_string()).unwrap_or_default()),
            ("Category", self.category.as_ref().map(CleanText::to_string).unwrap_or_default()),
            (READER_PART_NAME, self.query.to_string()),
            (ASSISTANT_PART_NAME, self.response.to_string()),
            ("Sources", sources.join("\n")),
        ]
    }
}
