//! The numbers of one page in the reports of a range. The numbers of a report that is not loaded are unknown, never
//! zero.

use super::needs_work::LoadedReports;
use super::{RowsReport, borrowed_page_path};
use crate::model::Time;
use crate::model::text::CleanText;
use crate::model::views::DecimalCount;

/// Numbers of a report, and whether they may be too small, because only some of its rows are loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportNumbers<N> {
    pub numbers: N,
    pub is_partial: bool,
    pub as_of: Time,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageVotes {
    pub down: DecimalCount,
    pub up: DecimalCount,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageComments {
    pub all: usize,
    pub open: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageQuestions {
    pub all: usize,
    pub unanswered: usize,
}

/// The searches for which this page is the most clicked result.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageSearches {
    pub hits: DecimalCount,
    /// How many of the searches ended with a click on a result; `None` if that is unknown.
    pub searches_with_click: Option<DecimalCount>,
    /// What was searched for, in the service's order.
    pub queries: Vec<CleanText>,
}

/// The numbers of a page in each report; `None` for a report that is not loaded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PageReports {
    pub votes: Option<ReportNumbers<PageVotes>>,
    pub comments: Option<ReportNumbers<PageComments>>,
    pub questions: Option<ReportNumbers<PageQuestions>>,
    pub searches: Option<ReportNumbers<PageSearches>>,
}

impl PageReports {
    /// Adds up the numbers of all rows about the page, for each loaded report.
    pub fn of_page(path: &CleanText, reports: LoadedReports<'_>) -> Self {
        // Some reports name a page by its path, others by its web address, so only the paths are compared.
        let wanted = borrowed_page_path(path);
        let is_wanted = |path: &CleanText| borrowed_page_path(path) == wanted;
        let votes = reports.feedback_by_page.map(|report| {
            let matching = report.rows.iter().filter(|row| is_wanted(&row.path));
            report_numbers(
                report,
                matching.fold(PageVotes::default(), |sum, row| PageVotes {
                    down: sum.down + row.thumbs_down.value().unwrap_or_default(),
                    up: sum.up + row.thumbs_up.value().unwrap_or_default(),
                }),
            )
        });
        let comments = reports.feedback.map(|report| {
            let matching = report.rows.iter().filter(|row| row.comment.is_some() && is_wanted(&row.path));
            let matching: Vec<bool> = matching.map(|row| row.status.is_open()).collect();
            let open = matching.iter().filter(|is_open| **is_open).count();
            report_numbers(report, PageComments { all: matching.len(), open })
        });
        let questions = reports.questions.map(|report| {
            let matching = report.rows.iter().filter(|row| row.subject_page().as_ref() == Some(&wanted));
            let matching: Vec<bool> = matching.map(|row| row.is_answered == Some(false)).collect();
            let unanswered = matching.iter().filter(|is_unanswered| **is_unanswered).count();
            report_numbers(report, PageQuestions { all: matching.len(), unanswered })
        });
        let searches = reports.searches.map(|report| {
            let matching = report.rows.iter().filter(|row| row.top_page.as_ref().is_some_and(is_wanted));
            report_numbers(
                report,
                matching.fold(
                    PageSearches { searches_with_click: Some(DecimalCount::ZERO), ..PageSearches::default() },
                    |mut sum, row| {
                        sum.hits = sum.hits + row.hits.value().unwrap_or_default();
                        sum.searches_with_click =
                            sum.searches_with_click.zip(row.searches_with_click()).map(|(sum, clicked)| sum + clicked);
                        sum.queries.push(row.query.clone());
                        sum
                    },
                ),
            )
        });
        Self { votes, comments, questions, searches }
    }

    /// Returns these numbers. The numbers of a report that is not loaded in `self` are taken from `other`.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        Self {
            votes: self.votes.or(other.votes),
            comments: self.comments.or(other.comments),
            questions: self.questions.or(other.questions),
            searches: self.searches.or(other.searches),
        }
    }
}

/// Returns the numbers together with two facts about their report: whether it is partial, and when it was received.
fn report_numbers<R, N>(report: &RowsReport<R>, numbers: N) -> ReportNumbers<N> {
    ReportNumbers { numbers, is_partial: !report.is_complete() || report.has_unavailable_rows, as_of: report.as_of }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::analytics::{PageFeedback, RowsMerge, RowsResponse, Search};
    use crate::model::period::DateRange;
    use crate::model::views::{Count, Counts};

    fn report<R: crate::model::analytics::AnalyticsRow>(rows: Vec<R>, has_unavailable_rows: bool) -> RowsReport<R> {
        let range = DateRange::last_days(7, "2026-11-20".parse().expect("a day"));
        let response = RowsResponse { rows, totals: Counts::default(), next: None, has_unavailable_rows };
        RowsMerge::start(range, response, Time::default()).into_report()
    }

    #[test]
    fn the_rows_about_a_page_are_counted_and_a_report_that_is_not_loaded_is_unknown() {
        let vote = |path: &str, down| PageFeedback {
            path: CleanText::line(path),
            thumbs_down: Count::Known(down),
            ..PageFeedback::default()
        };
        let votes = report(vec![vote("/sso", 4), vote("/api", 9)], true);
        let search = |query: &str, page: &str| Search {
            query: CleanText::line(query),
            hits: Count::Known(7),
            top_page: Some(CleanText::line(page)),
            ..Search::default()
        };
        let searches = report(vec![search("sso", "/sso/"), search("port", "/sso"), search("api", "/api")], false);
        let loaded =
            LoadedReports { feedback_by_page: Some(&votes), searches: Some(&searches), ..LoadedReports::default() };
        let found = PageReports::of_page(&CleanText::line("/sso"), loaded);
        assert_eq!(found.votes.as_ref().map(|known| (known.numbers.down, known.is_partial)), Some((4.into(), true)));
        let searched = found.searches.as_ref().map(|known| (known.numbers.hits, known.numbers.queries.len()));
        assert_eq!((searched, &found.questions, &found.comments), (Some((14.into(), 2)), &None, &None));
        let quiet = PageReports::of_page(&CleanText::line("/quiet"), loaded);
        assert_eq!(quiet.votes.as_ref().map(|known| known.numbers), Some(PageVotes::default()), "loaded: zero");
        assert_eq!(PageReports::default().or(found.clone()), found);
    }
}
