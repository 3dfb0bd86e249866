//! The analytics of the service besides page views: visitors, searches, feedback and questions. Each report is a list
//! of rows for a date range, received in one or more responses.
//!
//! `rows` defines the kinds of rows, and `fields` their values for filters, sorting and exports. `stored` describes the
//! reports on this computer. `needs_work` finds the pages that need work according to all reports, and
//! `signal_snapshot` has the numbers of a page that are stored with a job.

pub mod export;
pub mod fields;
pub mod filter;
pub mod needs_work;
pub mod needs_work_export;
pub mod page_reports;
mod path_index;
mod rows;
pub mod signal_snapshot;
mod stored;

pub use rows::{
    AnswerSource, ConversationMessage, Feedback, FeedbackStatus, GENERATED_ID_PREFIX, PageFeedback, Question, Search,
    borrowed_page_path, page_path,
};
pub use stored::{AnalyticsSettings, ReaderTextRetention, StoredRows};

use super::Time;
use super::period::DateRange;
use super::report::LoadEndReason;
use super::text::CleanText;
use super::views::{Counts, PageRow};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Debug;
use std::sync::Arc;

/// A kind of report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AnalyticsKind {
    /// The visitors of each page.
    Visitors,
    /// What readers searched for.
    Searches,
    /// What readers wrote about pages.
    Feedback,
    /// The votes and comments of each page, counted.
    FeedbackByPage,
    /// The questions that readers asked the assistant.
    Questions,
}

impl AnalyticsKind {
    pub const ALL: [Self; 5] = [Self::Visitors, Self::Searches, Self::Feedback, Self::FeedbackByPage, Self::Questions];

    /// Returns the name in the log, in the option `--fault` and in the store.
    pub fn name(self) -> &'static str {
        match self {
            Self::Visitors => "visitors",
            Self::Searches => "searches",
            Self::Feedback => "feedback",
            Self::FeedbackByPage => "feedback-by-page",
            Self::Questions => "questions",
        }
    }

    /// Returns the name as it is written within a sentence.
    pub fn label(self) -> &'static str {
        match self {
            Self::FeedbackByPage => "feedback by page",
            other => other.name(),
        }
    }

    /// Returns the maximum number of rows that one request can ask for.
    pub fn max_rows(self) -> u32 {
        match self {
            Self::Visitors => 250,
            Self::Searches | Self::Feedback | Self::FeedbackByPage => 100,
            Self::Questions => 1_000,
        }
    }

    /// Whether the rows contain what readers wrote, which is stored for a limited time only.
    pub fn has_reader_text(self) -> bool {
        matches!(self, Self::Feedback | Self::Questions)
    }
}

/// The service's opaque marker for the start of the next response. For visitors, it is the number of rows before that
/// start.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Cursor(String);

impl Cursor {
    /// The maximum length in bytes. A longer cursor is rejected.
    const MAX_BYTES: usize = 2_048;

    /// Returns `None` if the text is empty or too long.
    pub fn new(text: impl Into<String>) -> Option<Self> {
        let text = text.into();
        (1..=Self::MAX_BYTES).contains(&text.len()).then_some(Self(text))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A row of a report.
pub trait AnalyticsRow: Clone + PartialEq + Debug + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// The kind of report that consists of these rows.
    const KIND: AnalyticsKind;

    /// Returns the key that identifies the row in its report. If two responses contain the same key, because the data
    /// changed in between, the later row replaces the earlier one.
    fn key(&self) -> &CleanText;
}

impl AnalyticsRow for PageRow {
    const KIND: AnalyticsKind = AnalyticsKind::Visitors;

    fn key(&self) -> &CleanText {
        &self.path
    }
}

/// One response of the service.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowsResponse<R> {
    pub rows: Vec<R>,
    /// The totals of the whole site. A report of visitors has all counts. A report of searches has only `total`, the
    /// number of searches. Reports of other kinds have no totals.
    pub totals: Counts,
    /// Where the next response begins; `None` if this is the last response.
    pub next: Option<Cursor>,
    /// Whether the service has more rows, but offers no way to request them.
    pub has_unavailable_rows: bool,
}

/// The rows of a date range, all or only those loaded so far.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowsReport<R> {
    pub range: DateRange,
    /// The rows, each key once, in the service's order.
    pub rows: Vec<R>,
    /// The totals of the whole site, from the last response; see [`RowsResponse::totals`].
    pub totals: Counts,
    /// Where loading continues; `None` if no more rows can be requested.
    pub next: Option<Cursor>,
    /// Whether the service has more rows, but offers no way to request them.
    pub has_unavailable_rows: bool,
    /// The number of received rows that replaced an earlier row with the same key.
    pub duplicates: u32,
    /// The number of responses that were merged.
    pub responses: u32,
    /// When the oldest response was received.
    pub as_of: Time,
}

impl<R> RowsReport<R> {
    /// Whether all rows that the service offers are loaded.
    pub fn is_complete(&self) -> bool {
        self.next.is_none()
    }
}

/// A report that responses are added to, with an index of its rows.
#[derive(Debug, Clone)]
pub struct RowsMerge<R> {
    report: RowsReport<R>,
    row_indices: HashMap<CleanText, usize>,
}

impl<R: AnalyticsRow> RowsMerge<R> {
    /// Starts a report with its first response.
    pub fn start(range: DateRange, response: RowsResponse<R>, as_of: Time) -> Self {
        let report = RowsReport {
            range,
            rows: Vec::with_capacity(response.rows.len()),
            totals: Counts::default(),
            next: None,
            has_unavailable_rows: false,
            duplicates: 0,
            responses: 0,
            as_of,
        };
        let mut merge = Self { report, row_indices: HashMap::new() };
        merge.add_response(response, as_of);
        merge
    }

    /// Creates the index of a partial report, so that more responses can be added to it.
    pub fn resume(report: RowsReport<R>) -> Self {
        let row_indices = report.rows.iter().enumerate().map(|(position, row)| (row.key().clone(), position)).collect();
        Self { report, row_indices }
    }

    /// Adds the next response. Returns whether the response contains a row that is new to the report.
    pub fn add_response(&mut self, response: RowsResponse<R>, as_of: Time) -> bool {
        let (report, before) = (&mut self.report, self.row_indices.len());
        for row in response.rows {
            match self.row_indices.entry(row.key().clone()) {
                Entry::Occupied(entry) => {
                    if let Some(known) = report.rows.get_mut(*entry.get()) {
                        *known = row;
                    }
                    report.duplicates = report.duplicates.saturating_add(1);
                }
                Entry::Vacant(entry) => {
                    entry.insert(report.rows.len());
                    report.rows.push(row);
                }
            }
        }
        (report.totals, report.next, report.has_unavailable_rows) =
            (response.totals, response.next, response.has_unavailable_rows);
        report.responses = report.responses.saturating_add(1);
        report.as_of = report.as_of.min(as_of);
        self.row_indices.len() > before
    }

    /// Whether the report contains a row with this key.
    pub fn contains(&self, key: &CleanText) -> bool {
        self.row_indices.contains_key(key)
    }

    pub fn report(&self) -> &RowsReport<R> {
        &self.report
    }

    pub fn into_report(self) -> RowsReport<R> {
        self.report
    }
}

/// How to load a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowsLoadPlan {
    pub range: DateRange,
    /// The maximum number of requests; 0 counts as 1.
    pub max_requests: u32,
    /// Whether to request everything again, even if it is cached.
    pub from_start: bool,
}

/// The progress of loading a report.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowsLoadProgress {
    pub kind: AnalyticsKind,
    pub range: DateRange,
    /// The number of rows loaded so far.
    pub rows: usize,
    /// The number of requests of this load so far.
    pub requests: u32,
    pub is_complete: bool,
}

/// The result of loading a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowsLoadOutcome<R> {
    /// The report to show, complete or partial; `None` if there is none. After a load that ended early, this can be an
    /// older report from the store.
    pub report: Option<Arc<RowsReport<R>>>,
    pub end_reason: LoadEndReason,
    /// The number of requests that this load used.
    pub requests: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(query: &str, hits: i64) -> Search {
        Search { query: CleanText::line(query), hits: crate::model::views::Count::Known(hits), ..Search::default() }
    }

    fn response(rows: Vec<Search>, next: Option<&str>) -> RowsResponse<Search> {
        RowsResponse { rows, totals: Counts::default(), next: next.and_then(Cursor::new), has_unavailable_rows: false }
    }

    #[test]
    fn a_row_that_arrives_twice_is_kept_once_with_its_last_values() {
        let range = DateRange::last_days(7, chrono::NaiveDate::default());
        let mut merge =
            RowsMerge::start(range, response(vec![search("a", 1), search("b", 2)], Some("x")), Time::default());
        assert!(!merge.report().is_complete());
        assert!(merge.add_response(response(vec![search("b", 3), search("c", 4)], Some("y")), Time::default()));
        assert!(!merge.add_response(response(vec![search("c", 4)], None), Time::default()), "nothing new");
        let report = merge.into_report();
        assert_eq!(report.rows, [search("a", 1), search("b", 3), search("c", 4)]);
        assert_eq!((report.duplicates, report.responses, report.is_complete()), (2, 3, true));
    }

    #[test]
    fn a_cursor_is_never_empty_or_very_long() {
        assert_eq!(Cursor::new(""), None);
        assert_eq!(Cursor::new("x".repeat(2_049)), None);
        assert_eq!(Cursor::new("01J").as_ref().map(Cursor::as_str), Some("01J"));
    }
}
