//! Which pages need work, according to all reports of a date range. There is no hidden formula: each signal of a page
//! is a number with its share of the site's total, and the pages are ranked by the weighted sum of these shares. A
//! signal is unknown, not zero, if its report is not loaded, or if its report is partial and doesn't contain the page.

use super::path_index::PathIndex;
use super::{AnalyticsKind, Feedback, PageFeedback, Question, RowsReport, Search, borrowed_page_path};
use crate::model::Time;
use crate::model::comparison::{Comparison, ViewsChange};
use crate::model::report::Report;
use crate::model::text::{CleanText, join_with_and};
use crate::model::views::{Count, DecimalCount};
use std::borrow::Cow;
use std::collections::HashMap;
use thin_vec::ThinVec;

/// A number that can show that a page needs work.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProblemSignal {
    /// The views of the page.
    Views,
    /// How many fewer views the page has than in the previous period.
    LostViews,
    ThumbsDown,
    /// Comments in feedback that is pending or in progress.
    OpenComments,
    UnansweredQuestions,
    /// Searches that are about the page and ended without a click on a result.
    UnclickedSearches,
}

impl ProblemSignal {
    pub const ALL: [Self; 6] = [
        Self::Views,
        Self::LostViews,
        Self::ThumbsDown,
        Self::OpenComments,
        Self::UnansweredQuestions,
        Self::UnclickedSearches,
    ];

    fn index(self) -> usize {
        Self::ALL.iter().position(|signal| *signal == self).unwrap_or(0)
    }

    /// Returns the name in the configuration and in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Views => "views",
            Self::LostViews => "lostViews",
            Self::ThumbsDown => "thumbsDown",
            Self::OpenComments => "openComments",
            Self::UnansweredQuestions => "unansweredQuestions",
            Self::UnclickedSearches => "unclickedSearches",
        }
    }

    /// Returns the report that the signal comes from; `None` for page views.
    pub fn report_kind(self) -> Option<AnalyticsKind> {
        match self {
            Self::Views | Self::LostViews => None,
            Self::ThumbsDown => Some(AnalyticsKind::FeedbackByPage),
            Self::OpenComments => Some(AnalyticsKind::Feedback),
            Self::UnansweredQuestions => Some(AnalyticsKind::Questions),
            Self::UnclickedSearches => Some(AnalyticsKind::Searches),
        }
    }

    /// Returns the name as it is written within a sentence.
    pub fn label(self) -> &'static str {
        match self {
            Self::Views => "views",
            Self::LostViews => "lost views",
            Self::ThumbsDown => "thumbs down",
            Self::OpenComments => "open comments",
            Self::UnansweredQuestions => "unanswered questions",
            Self::UnclickedSearches => "searches never clicked",
        }
    }
}

/// One value per signal.
pub type PerSignal<T> = [T; ProblemSignal::ALL.len()];

/// The weight of each signal's share in the score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SignalWeights(pub PerSignal<f64>);

impl Default for SignalWeights {
    /// All signals have the same weight, except views: their weight is 0, because many views alone are no problem.
    fn default() -> Self {
        Self(ProblemSignal::ALL.map(|signal| if signal == ProblemSignal::Views { 0.0 } else { 1.0 }))
    }
}

impl SignalWeights {
    pub fn get(&self, signal: ProblemSignal) -> f64 {
        self.0.get(signal.index()).copied().unwrap_or_default()
    }

    pub fn set(&mut self, signal: ProblemSignal, weight: f64) {
        if let Some(slot) = self.0.get_mut(signal.index()) {
            *slot = weight;
        }
    }
}

/// The reports from which the signals are computed; `None` for those that are not loaded.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoadedReports<'a> {
    pub views: Option<&'a Report>,
    /// The page views of the range's complete days, and the page views of the previous period to compare them with.
    pub comparison: Option<&'a Comparison>,
    pub feedback_by_page: Option<&'a RowsReport<PageFeedback>>,
    pub feedback: Option<&'a RowsReport<Feedback>>,
    pub questions: Option<&'a RowsReport<Question>>,
    pub searches: Option<&'a RowsReport<Search>>,
}

impl<'a> LoadedReports<'a> {
    /// Returns the reports that are not loaded.
    pub fn missing(&self) -> ReportSet {
        let rows = [
            (AnalyticsKind::FeedbackByPage, self.feedback_by_page.is_none()),
            (AnalyticsKind::Feedback, self.feedback.is_none()),
            (AnalyticsKind::Questions, self.questions.is_none()),
            (AnalyticsKind::Searches, self.searches.is_none()),
        ];
        ReportSet::from_flags(self.views.is_none(), rows)
    }

    /// Returns the loaded reports of which some rows are missing.
    pub fn partial(&self) -> ReportSet {
        fn is_partial<R>(report: Option<&RowsReport<R>>) -> bool {
            report.is_some_and(|report| !report.is_complete() || report.has_unavailable_rows)
        }
        let rows = [
            (AnalyticsKind::FeedbackByPage, is_partial(self.feedback_by_page)),
            (AnalyticsKind::Feedback, is_partial(self.feedback)),
            (AnalyticsKind::Questions, is_partial(self.questions)),
            (AnalyticsKind::Searches, is_partial(self.searches)),
        ];
        ReportSet::from_flags(self.views.is_some_and(|views| !views.complete), rows)
    }

    /// Returns when the oldest loaded report was received, not counting the comparison; `None` if none is loaded.
    pub fn as_of(&self) -> Option<Time> {
        let times = [
            self.views.map(|report| report.as_of),
            self.feedback_by_page.map(|report| report.as_of),
            self.feedback.map(|report| report.as_of),
            self.questions.map(|report| report.as_of),
            self.searches.map(|report| report.as_of),
        ];
        times.into_iter().flatten().min()
    }

    /// Returns the page views that can be compared; `None` unless both reports are complete, because a page that is
    /// missing in a partial report may still have views.
    fn complete_comparison(&self) -> Option<&'a Comparison> {
        self.comparison.filter(|comparison| comparison.current.complete && comparison.previous.complete)
    }
}

/// Some of the reports from which the signals are computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportSet {
    /// Whether the page views are in the set.
    pub has_views: bool,
    /// The kinds of the reports in the set other than page views.
    pub kinds: Vec<AnalyticsKind>,
}

impl ReportSet {
    /// Returns the set of all reports.
    pub fn all() -> Self {
        LoadedReports::default().missing()
    }

    fn from_flags(has_views: bool, kinds: [(AnalyticsKind, bool); 4]) -> Self {
        Self {
            has_views,
            kinds: kinds.into_iter().filter(|(_, is_included)| *is_included).map(|(kind, _)| kind).collect(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Returns the number of reports, which is also the number of requests that load the first rows of each.
    pub fn count(&self) -> usize {
        usize::from(self.has_views) + self.kinds.len()
    }

    /// Returns the names of the reports in the JSON output.
    pub fn names(&self) -> Vec<&'static str> {
        self.has_views.then_some("page views").into_iter().chain(self.kinds.iter().map(|kind| kind.label())).collect()
    }

    /// Returns the names of the reports as a list within a sentence.
    pub fn names_in_sentence(&self) -> String {
        let has_feedback_by_page = self.kinds.contains(&AnalyticsKind::FeedbackByPage);
        let name = |name| if name == "feedback" && has_feedback_by_page { "individual feedback" } else { name };
        let names: Vec<&str> = self.names().into_iter().map(name).collect();
        join_with_and(&names)
    }
}

/// A page with its signals.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PageSignals {
    /// The path of the page; `None` for signals that can't be assigned to any page.
    pub path: Option<CleanText>,
    values: PerSignal<Option<DecimalCount>>,
    /// The change of views from the previous period. Only complete days are compared. So if the range includes today,
    /// today's views don't count.
    pub views_change: ViewsChange,
    /// The first [`Self::MAX_SEARCHES`] searches that are about the page and ended without a click, in the service's
    /// order.
    pub unclicked_searches: ThinVec<CleanText>,
    /// The weighted sum of the shares, divided by the sum of the weights of all signals whose total is above zero; 0 to
    /// 1.
    pub score: f64,
}

impl PageSignals {
    /// The maximum number of searches to keep.
    pub const MAX_SEARCHES: usize = 10;

    /// Returns the number of this signal; `None` if its report is not loaded, or is partial and doesn't contain the
    /// page.
    pub fn value(&self, signal: ProblemSignal) -> Option<DecimalCount> {
        self.values.get(signal.index()).copied().flatten()
    }

    /// Returns the path; empty for signals that can't be assigned to any page.
    pub fn path_text(&self) -> &str {
        self.path.as_ref().map(CleanText::as_str).unwrap_or_default()
    }

    /// Returns the number of a signal with all its digits; empty if the number is unknown.
    pub fn number_text(&self, signal: ProblemSignal) -> String {
        self.value(signal).map(|value| value.to_string()).unwrap_or_default()
    }

    /// Whether any signal other than the views is above zero.
    pub fn has_problem(&self) -> bool {
        has_problem(&self.values)
    }
}

fn has_problem(values: &PerSignal<Option<DecimalCount>>) -> bool {
    let signals = ProblemSignal::ALL.into_iter().zip(values);
    signals
        .into_iter()
        .any(|(signal, value)| signal != ProblemSignal::Views && value.is_some_and(|value| value > DecimalCount::ZERO))
}

/// The pages of a site with their signals.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct NeedsWorkRanking {
    /// The pages with at least one problem, highest score first, then by path.
    pub pages: Vec<PageSignals>,
    totals: PerSignal<Option<DecimalCount>>,
    /// For each signal, whether its total is the sum of the loaded rows only.
    has_partial_total: PerSignal<bool>,
}

impl NeedsWorkRanking {
    /// Computes the signals of all pages.
    pub fn compute(reports: LoadedReports<'_>, weights: &SignalWeights) -> Self {
        let mut collected = CollectedSignals::new(reports);
        collected.add_views(reports);
        collected.add_feedback(reports);
        collected.add_questions(reports);
        collected.add_searches(reports);
        collected.rank(weights)
    }

    /// Returns the site's total of a signal; `None` if its report is not loaded.
    pub fn total(&self, signal: ProblemSignal) -> Option<DecimalCount> {
        self.totals.get(signal.index()).copied().flatten()
    }

    /// Whether the total of a signal is the sum of the loaded rows only, because its report is partial.
    pub fn has_partial_total(&self, signal: ProblemSignal) -> bool {
        self.has_partial_total.get(signal.index()).copied().unwrap_or_default()
    }

    /// Returns the page's share of the site's total, 0 to 1; `None` if the total is 0 or a number is unknown.
    pub fn share(&self, page: &PageSignals, signal: ProblemSignal) -> Option<f64> {
        let total = self.total(signal).filter(|total| !total.is_zero())?;
        Some(page.value(signal)?.ratio_to(total))
    }
}

/// The signals collected so far. In `pages`, the key `None` is for signals that can't be assigned to any page. Paths
/// are borrowed from the reports, since there can be tens of thousands.
struct CollectedSignals<'a> {
    is_loaded: PerSignal<bool>,
    is_partial: PerSignal<bool>,
    /// The site's views, which the service reports even if only some pages are loaded.
    site_views: Option<DecimalCount>,
    pages: HashMap<Option<Cow<'a, str>>, CollectedPageSignals>,
}

#[derive(Default)]
struct CollectedPageSignals {
    /// The number of each signal; `None` if no row is about the page.
    values: PerSignal<Option<DecimalCount>>,
    /// The views of complete days, first of the range, then of the previous period; `None` for a report that doesn't
    /// list the page.
    compared_views: [Option<DecimalCount>; 2],
    unclicked_searches: ThinVec<CleanText>,
}

impl<'a> CollectedSignals<'a> {
    fn new(reports: LoadedReports<'a>) -> Self {
        let is_loaded = ProblemSignal::ALL.map(|signal| match signal {
            ProblemSignal::Views => reports.views.is_some(),
            ProblemSignal::LostViews => reports.complete_comparison().is_some(),
            ProblemSignal::ThumbsDown => reports.feedback_by_page.is_some(),
            ProblemSignal::OpenComments => reports.feedback.is_some(),
            ProblemSignal::UnansweredQuestions => reports.questions.is_some(),
            ProblemSignal::UnclickedSearches => reports.searches.is_some(),
        });
        let partial = reports.partial();
        let is_partial = ProblemSignal::ALL.map(|signal| match signal.report_kind() {
            Some(kind) => partial.kinds.contains(&kind),
            None => signal == ProblemSignal::Views && partial.has_views,
        });
        let rows = reports.views.map_or(0, |report| report.rows.len());
        let rows = rows.max(reports.feedback_by_page.map_or(0, |report| report.rows.len()));
        Self {
            is_loaded,
            is_partial,
            site_views: reports.views.and_then(|views| views.totals.total.value()),
            pages: HashMap::with_capacity(rows),
        }
    }

    fn add(&mut self, path: Option<Cow<'a, str>>, signal: ProblemSignal, value: DecimalCount) {
        if let Some(slot) = self.pages.entry(path).or_default().values.get_mut(signal.index()) {
            add_to(slot, value);
        }
    }

    fn add_views(&mut self, reports: LoadedReports<'a>) {
        for row in reports.views.iter().flat_map(|report| &report.rows) {
            self.add(Some(borrowed_page_path(&row.path)), ProblemSignal::Views, count_or_zero(&row.counts.total));
        }
        let Some(comparison) = reports.complete_comparison() else { return };
        for (at, report) in [&comparison.current, &comparison.previous].into_iter().enumerate() {
            for row in &report.rows {
                let page = self.pages.entry(Some(borrowed_page_path(&row.path))).or_default();
                if let Some(slot) = page.compared_views.get_mut(at) {
                    add_to(slot, count_or_zero(&row.counts.total));
                }
            }
        }
        for page in self.pages.values_mut() {
            let [current, previous] = page.compared_views.map(Option::unwrap_or_default);
            if let Some(slot) = page.values.get_mut(ProblemSignal::LostViews.index())
                && previous > current
            {
                *slot = Some(previous - current);
            }
        }
    }

    fn add_feedback(&mut self, reports: LoadedReports<'a>) {
        for row in reports.feedback_by_page.iter().flat_map(|report| &report.rows) {
            self.add(Some(borrowed_page_path(&row.path)), ProblemSignal::ThumbsDown, count_or_zero(&row.thumbs_down));
        }
        let comments = reports.feedback.iter().flat_map(|report| &report.rows);
        for row in comments.filter(|row| row.status.is_open() && row.comment.is_some()) {
            self.add(Some(borrowed_page_path(&row.path)), ProblemSignal::OpenComments, DecimalCount::ONE);
        }
    }

    fn add_questions(&mut self, reports: LoadedReports<'a>) {
        let questions = reports.questions.iter().flat_map(|report| &report.rows);
        for row in questions.filter(|row| row.is_answered == Some(false)) {
            self.add(row.subject_page(), ProblemSignal::UnansweredQuestions, DecimalCount::ONE);
        }
    }

    fn add_searches(&mut self, reports: LoadedReports<'a>) {
        let Some(searches) = reports.searches else { return };
        let mut found: Vec<(Option<Cow<'a, str>>, &Search)> = Vec::new();
        let index = PathIndex::new(self.pages.keys().flatten());
        for row in searches.rows.iter().filter(|row| row.is_unclicked()) {
            let clicked = row.top_page.as_ref().map(borrowed_page_path);
            found.push((clicked.or_else(|| index.find(row.query.as_str()).cloned()), row));
        }
        for (path, row) in found {
            self.add(path.clone(), ProblemSignal::UnclickedSearches, count_or_zero(&row.hits));
            let page = self.pages.entry(path).or_default();
            if page.unclicked_searches.len() < PageSignals::MAX_SEARCHES {
                page.unclicked_searches.push(row.query.clone());
            }
        }
    }

    fn rank(self, weights: &SignalWeights) -> NeedsWorkRanking {
        let Self { is_loaded, is_partial, site_views, pages } = self;
        let mut totals = is_loaded.map(|is_loaded| is_loaded.then_some(DecimalCount::ZERO));
        for page in pages.values() {
            let sums = totals.iter_mut().zip(&page.values);
            sums.for_each(|(sum, value)| *sum = sum.map(|sum| sum + value.unwrap_or_default()));
        }
        let mut has_partial_total = is_partial;
        let at_views = ProblemSignal::Views.index();
        if let (Some(Some(total)), Some(is_partial), Some(site_views)) =
            (totals.get_mut(at_views), has_partial_total.get_mut(at_views), site_views)
        {
            *total = site_views;
            *is_partial = false;
        }
        let mut ranked = NeedsWorkRanking { pages: Vec::new(), totals, has_partial_total };
        let weighed =
            ProblemSignal::ALL.into_iter().filter(|signal| ranked.total(*signal).is_some_and(|sum| !sum.is_zero()));
        let all: f64 = weighed.map(|signal| weights.get(signal)).sum();
        let mut rows = Vec::with_capacity(pages.values().filter(|page| has_problem(&page.values)).count());
        for (path, CollectedPageSignals { mut values, compared_views: [current, previous], unclicked_searches }) in
            pages
        {
            for ((value, is_loaded), is_partial) in values.iter_mut().zip(is_loaded).zip(is_partial) {
                // If a complete report has no row about the page, the number is 0. If a partial report has none, the
                // number is unknown, because the row may not be loaded yet.
                let without_row = (is_loaded && !is_partial).then_some(DecimalCount::ZERO);
                *value = value.or(without_row);
            }
            if path.is_none()
                && let Some(views) = values.get_mut(at_views)
            {
                // This is the row of the signals that belong to no page. Its views are unknown, not 0.
                *views = None;
            }
            let views_change = views_change(current, previous);
            let mut page = PageSignals { path: None, values, views_change, unclicked_searches, score: 0.0 };
            if page.has_problem() {
                let shares =
                    ProblemSignal::ALL.into_iter().filter_map(|signal| Some((signal, ranked.share(&page, signal)?)));
                let sum: f64 = shares.map(|(signal, share)| weights.get(signal) * share).sum();
                page.score = if all > 0.0 { sum / all } else { 0.0 };
                page.path = path.map(|path| CleanText::line(&path));
                rows.push(page);
            }
        }
        rows.sort_unstable_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.path.cmp(&b.path)));
        ranked.pages = rows;
        ranked
    }
}

fn add_to(sum: &mut Option<DecimalCount>, value: DecimalCount) {
    *sum = Some(sum.unwrap_or_default() + value);
}

/// Returns the change of a page's views from one complete report to another. A report that doesn't list the page counts
/// as 0 views. If both have 0 views, the change is unknown.
fn views_change(current: Option<DecimalCount>, previous: Option<DecimalCount>) -> ViewsChange {
    match (current.filter(|current| !current.is_zero()), previous.filter(|previous| !previous.is_zero())) {
        (Some(current), Some(previous)) => ViewsChange::InBoth { current, previous },
        (None, Some(previous)) => ViewsChange::Gone(previous),
        (Some(current), None) => ViewsChange::New(current),
        (None, None) => ViewsChange::Unknown,
    }
}

fn count_or_zero(count: &Count) -> DecimalCount {
    count.value().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::analytics::{FeedbackStatus, RowsMerge, RowsResponse};
    use crate::model::period::DateRange;
    use crate::model::views::{Counts, PageRow, ViewsResponse};
    use std::sync::Arc;

    fn range() -> DateRange {
        DateRange::last_days(7, chrono::NaiveDate::default())
    }

    fn views(rows: &[(&str, i64)]) -> Report {
        let row = |(path, total): &(&str, i64)| PageRow {
            path: CleanText::line(path),
            counts: Counts { total: Count::Known(*total), ..Counts::default() },
        };
        let response = ViewsResponse { rows: rows.iter().map(row).collect(), ..ViewsResponse::default() };
        Report::from_first_response(range(), response, true, Time::default())
    }

    fn report<R: super::super::AnalyticsRow>(rows: Vec<R>) -> RowsReport<R> {
        let response = RowsResponse { rows, totals: Counts::default(), next: None, has_unavailable_rows: false };
        RowsMerge::start(range(), response, Time::default()).into_report()
    }

    fn votes(path: &str, down: i64) -> PageFeedback {
        PageFeedback { path: CleanText::line(path), thumbs_down: Count::Known(down), ..PageFeedback::default() }
    }

    fn search(query: &str, hits: i64, page: Option<&str>) -> Search {
        let click_rate = if page.is_some() { Count::from_f64(0.4).expect("a count") } else { Count::Known(0) };
        let top_page = page.map(CleanText::line);
        Search { query: CleanText::line(query), hits: Count::Known(hits), click_rate, top_page, last_searched_at: None }
    }

    fn page<'a>(found: &'a NeedsWorkRanking, path: &str) -> &'a PageSignals {
        found.pages.iter().find(|page| page.path.as_ref().is_some_and(|found| found.as_str() == path)).expect("a page")
    }

    #[test]
    fn a_signal_that_is_not_loaded_is_unknown_and_not_zero() {
        let down = report(vec![votes("/a", 3), votes("/b", 1)]);
        let reports = LoadedReports { feedback_by_page: Some(&down), ..LoadedReports::default() };
        let found = NeedsWorkRanking::compute(reports, &SignalWeights::default());
        let first = page(&found, "/a");
        assert_eq!(first.value(ProblemSignal::ThumbsDown), Some(3.into()));
        assert_eq!(first.value(ProblemSignal::OpenComments), None);
        assert_eq!((found.total(ProblemSignal::Views), first.views_change), (None, ViewsChange::Unknown));
        assert!((first.score - 0.75).abs() < 1e-9, "the only known signal decides: {}", first.score);
    }

    #[test]
    fn a_page_that_a_partial_report_does_not_contain_is_unknown_and_not_zero() {
        let totals = Counts { total: Count::Known(1_000), ..Counts::default() };
        let row = PageRow {
            path: CleanText::line("/alpha"),
            counts: Counts { total: Count::Known(250), ..Counts::default() },
        };
        let response = ViewsResponse { rows: vec![row], totals, has_more: Some(true) };
        let partial_views = Report::from_first_response(range(), response, false, Time::default());
        let response = RowsResponse {
            rows: vec![votes("/beta", 4)],
            totals: Counts::default(),
            next: None,
            has_unavailable_rows: true,
        };
        let partial_votes = RowsMerge::start(range(), response, Time::default()).into_report();
        let searches = report(vec![search("alpha", 3, None)]);
        let reports = LoadedReports {
            views: Some(&partial_views),
            feedback_by_page: Some(&partial_votes),
            searches: Some(&searches),
            ..LoadedReports::default()
        };
        let found = NeedsWorkRanking::compute(reports, &SignalWeights::default());
        let values = |path: &str| {
            [ProblemSignal::Views, ProblemSignal::ThumbsDown, ProblemSignal::OpenComments]
                .map(|signal| page(&found, path).value(signal))
        };
        assert_eq!(values("/alpha"), [Some(250.into()), None, None]);
        assert_eq!(values("/beta"), [None, Some(4.into()), None]);
        assert_eq!(found.share(page(&found, "/alpha"), ProblemSignal::Views), Some(0.25), "of the site's total");
        assert_eq!(
            [ProblemSignal::Views, ProblemSignal::ThumbsDown].map(|signal| found.has_partial_total(signal)),
            [false, true]
        );
    }

    #[test]
    fn views_of_complete_days_are_compared() {
        let with_today = views(&[("/a", 110), ("/new", 5)]);
        let comparison = Comparison {
            current: Arc::new(views(&[("/a", 100)])),
            previous: Arc::new(views(&[("/a", 100), ("/b", 20), ("/gone", 10)])),
        };
        let down = report(vec![votes("/a", 1), votes("/b", 1), votes("/new", 1)]);
        let reports = LoadedReports {
            views: Some(&with_today),
            comparison: Some(&comparison),
            feedback_by_page: Some(&down),
            ..LoadedReports::default()
        };
        let found = NeedsWorkRanking::compute(reports, &SignalWeights::default());
        let change = |path: &str| page(&found, path).views_change;
        assert_eq!(page(&found, "/a").value(ProblemSignal::Views), Some(110.into()));
        assert_eq!(change("/a"), ViewsChange::InBoth { current: 100.into(), previous: 100.into() });
        assert_eq!([change("/b"), change("/gone")], [ViewsChange::Gone(20.into()), ViewsChange::Gone(10.into())]);
        assert_eq!(change("/new"), ViewsChange::Unknown, "it has no complete day yet");
        assert_eq!(found.total(ProblemSignal::LostViews), Some(30.into()));
    }

    #[test]
    fn shares_add_up_to_one_and_decide_the_order() {
        let (current, previous) = (views(&[("/a", 50), ("/b", 100)]), views(&[("/a", 100), ("/b", 90), ("/gone", 10)]));
        let down = report(vec![votes("/b", 4), votes("/a", 1)]);
        let comparison = Comparison { current: Arc::new(current.clone()), previous: Arc::new(previous) };
        let reports = LoadedReports {
            views: Some(&current),
            comparison: Some(&comparison),
            feedback_by_page: Some(&down),
            ..LoadedReports::default()
        };
        let found = NeedsWorkRanking::compute(reports, &SignalWeights::default());
        for signal in [ProblemSignal::LostViews, ProblemSignal::ThumbsDown] {
            let sum: f64 = found.pages.iter().filter_map(|page| found.share(page, signal)).sum();
            assert!((sum - 1.0).abs() < 1e-9, "{signal:?} {sum}");
        }
        let paths: Vec<_> = found.pages.iter().filter_map(|page| page.path.as_ref().map(CleanText::as_str)).collect();
        assert_eq!(paths, ["/a", "/b", "/gone"]);
        assert_eq!(page(&found, "/a").views_change.percent(), Some(-50.0));
        assert_eq!(page(&found, "/gone").value(ProblemSignal::LostViews), Some(10.into()));
        let mut only_votes = SignalWeights(ProblemSignal::ALL.map(|_| 0.0));
        only_votes.set(ProblemSignal::ThumbsDown, 2.0);
        let found = NeedsWorkRanking::compute(reports, &only_votes);
        assert_eq!(found.pages.first().and_then(|page| page.path.clone()), Some(CleanText::line("/b")));
    }

    #[test]
    fn a_search_without_clicks_belongs_to_the_page_with_its_words_or_to_none() {
        let current =
            views(&[("/guides/preview-deployments", 9), ("/guides/preview-deployments/limits", 1), ("/sso", 5)]);
        let searches = report(vec![
            search("how do preview deployments", 5, None),
            search("preview deployments limits", 2, None),
            search("webhook retries", 3, None),
            search("sso", 9, Some("/sso")),
        ]);
        let reports = LoadedReports { views: Some(&current), searches: Some(&searches), ..LoadedReports::default() };
        let found = NeedsWorkRanking::compute(reports, &SignalWeights::default());
        let of = |path: &str| page(&found, path).value(ProblemSignal::UnclickedSearches);
        assert_eq!(of("/guides/preview-deployments"), Some(5.into()));
        assert_eq!(of("/guides/preview-deployments/limits"), Some(2.into()));
        let unassigned = found.pages.iter().find(|page| page.path.is_none()).expect("a row");
        assert_eq!(unassigned.value(ProblemSignal::UnclickedSearches), Some(3.into()));
        assert_eq!(
            (unassigned.value(ProblemSignal::Views), &unassigned.unclicked_searches),
            (None, &thin_vec::thin_vec![CleanText::line("webhook retries")])
        );
        assert!(found.pages.iter().all(|page| page.path.as_ref().is_none_or(|path| path.as_str() != "/sso")));
    }

    #[test]
    fn only_open_comments_and_unanswered_questions_count() {
        let comment = |id: &str, status| Feedback {
            id: CleanText::line(id),
            path: CleanText::line("/a"),
            comment: Some(CleanText::line("Which port?")),
            status,
            ..Feedback::default()
        };
        let vote = Feedback { comment: None, ..comment("4", FeedbackStatus::Pending) };
        let comments = report(vec![
            comment("1", FeedbackStatus::Pending),
            comment("2", FeedbackStatus::Resolved),
            comment("3", FeedbackStatus::InProgress),
            vote,
        ]);
        let question = |id: &str, is_answered| Question {
            id: CleanText::line(id),
            is_answered,
            page: Some(CleanText::line("https://docs.acme.dev/a?x=1")),
            ..Question::default()
        };
        let questions = report(vec![question("1", Some(false)), question("2", Some(true)), question("3", None)]);
        let reports =
            LoadedReports { feedback: Some(&comments), questions: Some(&questions), ..LoadedReports::default() };
        let found = NeedsWorkRanking::compute(reports, &SignalWeights::default());
        assert_eq!(page(&found, "/a").value(ProblemSignal::OpenComments), Some(2.into()));
        assert_eq!(page(&found, "/a").value(ProblemSignal::UnansweredQuestions), Some(1.into()));
    }
}
