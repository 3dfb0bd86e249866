//! The rows of the reports as a client decodes them, so that tests can compare them with the rows that a client loaded.

use super::feedback::count_by_page;
use super::parameters::SimRange;
use super::questions::QuestionOutcome;
use super::{ReportInputs, SimAnalytics};
use crate::model::analytics::{
    AnalyticsKind, AnalyticsRow, AnswerSource, Feedback, FeedbackStatus, PageFeedback, Question, RowsResponse, Search,
};
use crate::model::period::DateRange;
use crate::model::text::CleanText;
use crate::model::views::{Count, Counts, PageRow};
use crate::sim::views::{counts_body, counts_from_body};
use sealed::RowsSource;

/// A row of a report of the simulated service. Only this crate can implement this trait.
pub trait SimulatedRow: AnalyticsRow + sealed::SealedRow {}

impl<R: AnalyticsRow + sealed::SealedRow> SimulatedRow for R {}

/// The part of [`SimulatedRow`] that other crates can neither call nor implement.
mod sealed {
    use super::{Counts, ReportInputs, SimAnalytics, SimRange};

    pub trait SealedRow: Sized {
        /// Returns all rows of the range, and the totals of the site. The totals are missing if the report has none.
        fn all(source: RowsSource<'_>) -> (Vec<Self>, Counts);
    }

    /// The reports of a range, from which the rows are made.
    #[derive(Debug, Clone, Copy)]
    pub struct RowsSource<'a> {
        pub(super) analytics: &'a SimAnalytics,
        pub(super) range: SimRange,
        pub(super) inputs: ReportInputs<'a>,
    }
}

impl SimAnalytics {
    /// Returns all rows that a client can load.
    pub(in crate::sim) fn rows<R: SimulatedRow>(&self, range: DateRange, inputs: ReportInputs<'_>) -> RowsResponse<R> {
        let range = SimRange { from: range.from(), exclusive_end: range.exclusive_end() };
        let (mut rows, totals) = R::all(RowsSource { analytics: self, range, inputs });
        let most = usize::try_from(R::KIND.max_rows()).unwrap_or(usize::MAX);
        let has_unavailable_rows = R::KIND == AnalyticsKind::FeedbackByPage && rows.len() > most;
        if has_unavailable_rows {
            rows.truncate(most);
        }
        RowsResponse { rows, totals, next: None, has_unavailable_rows }
    }
}

fn count(number: u64) -> Count {
    i64::try_from(number).map_or(Count::Missing, Count::Known)
}

impl sealed::SealedRow for PageRow {
    fn all(RowsSource { analytics, range, inputs }: RowsSource<'_>) -> (Vec<Self>, Counts) {
        let visitors = analytics.visitors(range, inputs);
        let rows = visitors.pages.iter().map(|(page, of)| Self {
            path: CleanText::line(inputs.site.path(*page)),
            counts: counts_from_body(&counts_body(*of)),
        });
        (rows.collect(), counts_from_body(&counts_body(visitors.totals)))
    }
}

impl sealed::SealedRow for Search {
    fn all(RowsSource { analytics, range, inputs }: RowsSource<'_>) -> (Vec<Self>, Counts) {
        let searches = analytics.searches(range, inputs);
        let rows = searches.iter().map(|search| Self {
            query: CleanText::line(&search.text),
            hits: count(search.hits),
            click_rate: Count::from_f64(f64::from(search.clicks_per_ten_thousand) / 10_000.0).unwrap_or_default(),
            top_page: search.page.map(|page| CleanText::line(inputs.site.path(page))),
            last_searched_at: Some(search.last_search_at),
        });
        let total = count(searches.iter().map(|search| search.hits).sum());
        (rows.collect(), Counts { total, ..Counts::default() })
    }
}

impl sealed::SealedRow for Feedback {
    fn all(RowsSource { analytics, range, inputs }: RowsSource<'_>) -> (Vec<Self>, Counts) {
        let entries = analytics.feedback(range, inputs);
        let rows = entries.iter().map(|entry| {
            let text = entry.text(inputs);
            Self {
                id: CleanText::line(&entry.id()),
                path: CleanText::line(inputs.site.path(entry.page())),
                comment: text.comment.as_deref().map(CleanText::block),
                created_at: Some(entry.created_at()),
                source: Some(CleanText::line(entry.source)),
                status: FeedbackStatus::parse(entry.status),
                helpful: entry.is_helpful,
                code: text.code.map(|example| CleanText::block(example.code)),
                filename: text.code.map(|example| CleanText::line(example.filename)),
                lang: text.code.map(|example| CleanText::line(example.language)),
            }
        });
        (rows.collect(), Counts::default())
    }
}

impl sealed::SealedRow for PageFeedback {
    fn all(RowsSource { analytics, range, inputs }: RowsSource<'_>) -> (Vec<Self>, Counts) {
        let pages = count_by_page(analytics.feedback(range, inputs).iter(), inputs);
        let rows = pages.into_iter().map(|(page, votes)| Self {
            path: CleanText::line(inputs.site.path(page)),
            thumbs_up: count(votes.up),
            thumbs_down: count(votes.down),
            code: count(votes.code),
            total: count(votes.total),
        });
        (rows.collect(), Counts::default())
    }
}

impl sealed::SealedRow for Question {
    fn all(RowsSource { analytics, range, inputs }: RowsSource<'_>) -> (Vec<Self>, Counts) {
        let asked_questions = analytics.questions(range, inputs);
        let rows = asked_questions.iter().map(|asked_question| {
            let text = asked_question.text(inputs.site);
            let source = |(title, url): (String, String)| AnswerSource {
                title: CleanText::line(&title),
                url: CleanText::line(&url),
            };
            Self {
                id: CleanText::line(&asked_question.id()),
                asked_at: Some(asked_question.asked_at()),
                query: CleanText::line(&text.query),
                response: CleanText::block(&text.response),
                is_clarifying: asked_question.outcome == QuestionOutcome::Clarifying,
                sources: text.sources.into_iter().map(source).collect(),
                is_answered: Some(asked_question.outcome != QuestionOutcome::Unanswered),
                category: text.category.map(CleanText::line),
                page: text.page.as_deref().map(CleanText::line),
            }
        });
        (rows.collect(), Counts::default())
    }
}
