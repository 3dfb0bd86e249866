//! What reports said about a page when a job about it was started, to be compared with what they say later.

use super::needs_work::{NeedsWork, Signal};
use crate::model::period::DateRange;
use crate::model::text::CleanText;
use crate::model::views::{Count, ViewCount};
use std::collections::BTreeMap;

/// The signals of a page that a job can improve. Views are compared by themselves.
pub const EVIDENCE_SIGNALS: [Signal; 4] =
    [Signal::ThumbsDown, Signal::OpenComments, Signal::UnansweredQuestions, Signal::UnclickedSearches];

/// The numbers of a page in the reports of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageEvidence {
    pub path: CleanText,
    pub range: DateRange,
    /// The numbers by the name of their signal. A signal whose report was not loaded is missing.
    pub signals: BTreeMap<String, Count>,
}

impl PageEvidence {
    /// Returns what the reports of a range say about a page. Returns `None` if no report is loaded that could say
    /// anything.
    pub fn of_page(found: &NeedsWork, path: &CleanText, range: DateRange) -> Option<Self> {
        let page = found.pages.iter().find(|page| page.path.as_ref() == Some(path));
        // A page without any problem is not among the pages.
        let value = |signal: Signal| match page {
            Some(page) => page.value(signal),
            None => found.total(signal).map(|_| ViewCount::ZERO),
        };
        let known = EVIDENCE_SIGNALS.into_iter().filter_map(|signal| Some((signal, value(signal)?)));
        let signals: BTreeMap<String, Count> =
            known.map(|(signal, value)| (signal.name().to_owned(), value.into())).collect();
        (!signals.is_empty()).then(|| Self { path: path.clone(), range, signals })
    }

    /// Returns the number of a signal; `None` if its report was not loaded.
    pub fn value(&self, signal: Signal) -> Option<ViewCount> {
        self.signals.get(signal.name())?.value()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::analytics::needs_work::{LoadedReports, Weights};
    use crate::model::analytics::{PageFeedback, RowsAnswer, RowsMerge};
    use crate::model::views::Counts;

    #[test]
    fn a_page_without_problems_has_zeros_and_what_is_not_loaded_is_missing() {
        let range = DateRange::last_days(7, "2026-11-20".parse().expect("a day"));
        let row =
            PageFeedback { path: CleanText::line("/sso"), thumbs_down: Count::Known(4), ..PageFeedback::default() };
        let answer = RowsAnswer { rows: vec![row], totals: Counts::default(), next: None, is_cut: false };
        let votes = RowsMerge::start(range, answer, crate::model::Time::default()).into_report();
        let reports = LoadedReports { feedback_by_page: Some(&votes), ..LoadedReports::default() };
        let found = NeedsWork::compute(reports, &Weights::default());
        let down = |path: &str| {
            let evidence = PageEvidence::of_page(&found, &CleanText::line(path), range).expect("evidence");
            (evidence.value(Signal::ThumbsDown), evidence.value(Signal::OpenComments))
        };
        assert_eq!(down("/sso"), (Some(4.into()), None));
        assert_eq!(down("/quiet"), (Some(ViewCount::ZERO), None));
        let nothing = NeedsWork::compute(LoadedReports::default(), &Weights::default());
        assert_eq!(PageEvidence::of_page(&nothing, &CleanText::line("/sso"), range), None);
    }
}
