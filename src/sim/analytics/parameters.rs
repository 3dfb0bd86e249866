//! Parses the query parameters of reports as strictly as documented.

use crate::api::wire::ErrorDetailBody;
use crate::model::analytics::AnalyticsKind;
use crate::sim::rng::mix;
use crate::sim::views::{Parameters, error_details, parse_number};
use chrono::{Datelike, NaiveDate};

/// Where readers give feedback, in the service's words.
pub(super) const FEEDBACK_SOURCES: [&str; 4] = ["code_snippet", "contextual", "agent", "thumbs_only"];
const FEEDBACK_STATUSES: [&str; 4] = ["pending", "in_progress", "resolved", "dismissed"];

/// A range from the day `from` up to, but not including, the day `exclusive_end`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::sim) struct SimRange {
    pub(in crate::sim) from: NaiveDate,
    pub(in crate::sim) exclusive_end: NaiveDate,
}

/// Which feedback to return. A field that is `None` accepts any feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::sim) struct FeedbackFilter {
    pub(super) source: Option<&'static str>,
    pub(super) status: Option<&'static str>,
}

/// The parsed parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::sim) struct RowsQuery {
    pub(super) range: SimRange,
    pub(super) limit: usize,
    /// The number of rows before the requested ones; only for visitors.
    pub(super) offset: usize,
    /// Where the response begins; `None` for the first row.
    pub(super) cursor: Option<String>,
    pub(super) filter: FeedbackFilter,
    /// Whether the response contains a cursor even if there are no more rows.
    pub(super) should_claim_more_rows: bool,
}

impl RowsQuery {
    /// Parses the parameters of a report. On failure, returns a message for each invalid parameter. A parameter that
    /// the report doesn't have is ignored.
    pub(in crate::sim) fn parse(
        kind: AnalyticsKind,
        parameters: &Parameters,
        should_claim_more_rows: bool,
    ) -> Result<Self, Vec<ErrorDetailBody>> {
        let has_cursor = !matches!(kind, AnalyticsKind::Visitors | AnalyticsKind::FeedbackByPage);
        let has_filter = matches!(kind, AnalyticsKind::Feedback | AnalyticsKind::FeedbackByPage);
        let filtered = |value: &Option<String>| value.clone().filter(|_| has_filter);
        let dates = parameters.parse_dates();
        let limit = parse_number("limit", parameters.limit.as_deref(), default_limit(kind), 1, kind.max_rows());
        let offset = match kind {
            AnalyticsKind::Visitors => parse_number("offset", parameters.offset.as_deref(), 0, 0, u32::MAX),
            _ => Ok(0),
        };
        let source = parse_word("source", filtered(&parameters.source), &FEEDBACK_SOURCES);
        let status = parse_word("status", filtered(&parameters.status), &FEEDBACK_STATUSES);
        match (dates, limit, offset, source, status) {
            (Ok((from, exclusive_end)), Ok(limit), Ok(offset), Ok(source), Ok(status)) => Ok(Self {
                range: SimRange { from, exclusive_end },
                limit,
                offset,
                cursor: parameters.cursor.clone().filter(|_| has_cursor),
                filter: FeedbackFilter { source, status },
                should_claim_more_rows,
            }),
            (dates, limit, offset, source, status) => {
                let others = [limit.err(), offset.err(), source.err(), status.err()];
                Err(error_details(dates.err().into_iter().flatten().chain(others.into_iter().flatten())))
            }
        }
    }

    /// Returns the number of the list that a cursor belongs to. Another report, range or filter has another number, so
    /// that a cursor is valid for only one list.
    pub(super) fn cursor_list_id(&self, kind: AnalyticsKind) -> u64 {
        let day = |day: NaiveDate| u64::try_from(day.num_days_from_ce()).unwrap_or(0);
        let number = |index: Option<usize>| index.and_then(|index| u64::try_from(index).ok()).unwrap_or(9);
        let position = |words: &[&str], word: Option<&str>| number(words.iter().position(|known| Some(*known) == word));
        let parts = [
            number(AnalyticsKind::ALL.iter().position(|known| *known == kind)),
            day(self.range.from),
            day(self.range.exclusive_end),
            position(&FEEDBACK_SOURCES, self.filter.source),
            position(&FEEDBACK_STATUSES, self.filter.status),
        ];
        parts.into_iter().fold(0, |number, part| mix(number ^ part))
    }
}

fn default_limit(kind: AnalyticsKind) -> u32 {
    match kind {
        AnalyticsKind::Visitors | AnalyticsKind::Searches | AnalyticsKind::Feedback => 50,
        AnalyticsKind::FeedbackByPage => 10,
        AnalyticsKind::Questions => 100,
    }
}

fn parse_word(name: &str, value: Option<String>, words: &[&'static str]) -> Result<Option<&'static str>, String> {
    let Some(value) = value else { return Ok(None) };
    let known = words.iter().find(|word| **word == value);
    known.map(|word| Some(*word)).ok_or_else(|| format!("{name} must be one of {}", words.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(kind: AnalyticsKind, change: impl FnOnce(&mut Parameters)) -> Result<RowsQuery, Vec<String>> {
        let mut parameters = Parameters {
            date_from: Some("2026-11-14".to_owned()),
            date_to: Some("2026-11-21".to_owned()),
            ..Parameters::default()
        };
        change(&mut parameters);
        let parsed = RowsQuery::parse(kind, &parameters, false);
        parsed.map_err(|details| details.into_iter().map(|detail| detail.message).collect())
    }

    #[test]
    fn each_report_has_the_documented_limits() {
        for (kind, default, high) in [
            (AnalyticsKind::Visitors, 50, 250),
            (AnalyticsKind::Searches, 50, 100),
            (AnalyticsKind::Feedback, 50, 100),
            (AnalyticsKind::FeedbackByPage, 10, 100),
            (AnalyticsKind::Questions, 100, 1_000),
        ] {
            let limit = |text: &str| {
                parse(kind, |parameters| parameters.limit = Some(text.to_owned())).map(|query| query.limit)
            };
            assert_eq!(parse(kind, |_| {}).map(|query| query.limit), Ok(default));
            assert_eq!((limit("1"), limit(&high.to_string())), (Ok(1), Ok(high)));
            for wrong in ["0", "-1", "1.5", "+5", "ten", "", &(high + 1).to_string()] {
                let expected = format!("limit must be a whole number from 1 to {high}");
                assert_eq!(limit(wrong), Err(vec![expected]), "{wrong:?}");
            }
        }
    }

    #[test]
    fn every_invalid_parameter_is_listed_and_others_are_ignored() {
        let wrong = |parameters: &mut Parameters| {
            let wrong = || Some("x".to_owned());
            *parameters = Parameters {
                date_from: None,
                date_to: wrong(),
                limit: wrong(),
                offset: wrong(),
                cursor: wrong(),
                source: wrong(),
                status: wrong(),
            };
        };
        let count = |kind| parse(kind, wrong).expect_err("wrong").len();
        assert_eq!(AnalyticsKind::ALL.map(count), [4, 3, 5, 5, 3]);
        let query = parse(AnalyticsKind::Feedback, |parameters| parameters.status = Some("pending".to_owned()));
        assert_eq!(query.map(|query| query.filter.status), Ok(Some("pending")));
    }

    #[test]
    fn a_list_number_differs_for_other_ranges_filters_and_reports() {
        let number = |kind, change: fn(&mut Parameters)| parse(kind, change).expect("valid").cursor_list_id(kind);
        let week = number(AnalyticsKind::Feedback, |_| {});
        assert_eq!(week, number(AnalyticsKind::Feedback, |parameters| parameters.limit = Some("7".to_owned())));
        for other in AnalyticsKind::ALL.into_iter().filter(|kind| *kind != AnalyticsKind::Feedback) {
            assert_ne!(week, number(other, |_| {}), "{other:?}");
        }
        assert_ne!(week, number(AnalyticsKind::Feedback, |parameters| parameters.source = Some("agent".to_owned())));
        assert_ne!(
            week,
            number(AnalyticsKind::Feedback, |parameters| parameters.date_from = Some("2026-11-13".to_owned()))
        );
    }
}
