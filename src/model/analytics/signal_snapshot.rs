//! The numbers of a page in the reports of a range. They are stored when a job about the page is started, and compared
//! with the numbers after the job.

use super::needs_work::{LoadedReports, NeedsWorkRanking, ProblemSignal};
use super::page_path;
use crate::model::period::DateRange;
use crate::model::text::CleanText;
use crate::model::views::{Count, DecimalCount};
use std::collections::BTreeMap;

/// The signals that a job about a page can improve. Views are compared separately.
pub const SNAPSHOT_SIGNALS: [ProblemSignal; 4] = [
    ProblemSignal::ThumbsDown,
    ProblemSignal::OpenComments,
    ProblemSignal::UnansweredQuestions,
    ProblemSignal::UnclickedSearches,
];

/// The numbers of a page in the reports of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignalSnapshot {
    pub path: CleanText,
    pub range: DateRange,
    /// The numbers by the name of their signal. A signal with an unknown number is missing.
    pub signals: BTreeMap<String, Count>,
}

impl SignalSnapshot {
    /// Returns the known numbers of a page, or `None` if all are unknown. A number is unknown if its report may lack a
    /// row about the page.
    pub fn for_page(
        reports: LoadedReports<'_>,
        needs_work: &NeedsWorkRanking,
        path: &CleanText,
        range: DateRange,
    ) -> Option<Self> {
        // `path` can be a web address, but `needs_work` has only paths.
        let wanted = page_path(path.as_str());
        let page = needs_work.pages.iter().find(|page| page.path.as_ref() == Some(&wanted));
        let partial = reports.partial();
        let value = |signal: ProblemSignal| {
            let is_partial = signal.report_kind().is_some_and(|kind| partial.kinds.contains(&kind));
            let is_known = match signal {
                // A page has one row with all of its votes, so even a partial report with this row has the number.
                ProblemSignal::ThumbsDown => {
                    !is_partial || page.is_some_and(|page| page.value(signal) > Some(DecimalCount::ZERO))
                }
                // Searches without a click are matched with the paths in the page views, so these must be loaded.
                ProblemSignal::UnclickedSearches => !is_partial && reports.views.is_some(),
                _ => !is_partial,
            };
            // `needs_work` has only pages with a problem, so the numbers of any other page are 0.
            let value =
                page.map_or_else(|| needs_work.total(signal).map(|_| DecimalCount::ZERO), |page| page.value(signal));
            value.filter(|_| is_known)
        };
        let known = SNAPSHOT_SIGNALS.into_iter().filter_map(|signal| Some((signal, value(signal)?)));
        let signals: BTreeMap<String, Count> =
            known.map(|(signal, value)| (signal.name().to_owned(), value.into())).collect();
        (!signals.is_empty()).then(|| Self { path: path.clone(), range, signals })
    }

    /// Returns the number of a signal; `None` if it was unknown when the snapshot was made.
    pub fn value(&self, signal: ProblemSignal) -> Option<DecimalCount> {
        self.signals.get(signal.name())?.value()
    }
}

/// The stored numbers of a job's pages.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobSnapshots {
    /// The numbers when the job was started.
    pub before: Vec<SignalSnapshot>,
    /// The numbers in the days after the job, if their reports were loaded.
    pub after: Vec<SignalSnapshot>,
}

impl JobSnapshots {
    /// Returns the numbers of a page when the job was started.
    pub fn before(&self, path: &CleanText) -> Option<&SignalSnapshot> {
        self.before.iter().find(|page| page.path == *path)
    }

    /// Returns the numbers of a page in this range after the job.
    pub fn after(&self, path: &CleanText, range: DateRange) -> Option<&SignalSnapshot> {
        self.after.iter().find(|page| page.path == *path && page.range == range)
    }

    /// Returns the signals that can't be compared yet: at least one page has a number for the signal from the start of
    /// the job, but no number for it from this range after the job.
    pub fn signals_missing_after(&self, range: DateRange) -> Vec<ProblemSignal> {
        let lacks = |page: &SignalSnapshot, signal| {
            let after = self.after(&page.path, range).and_then(|after| after.value(signal));
            page.value(signal).is_some() && after.is_none()
        };
        let is_missing = |signal: &ProblemSignal| self.before.iter().any(|page| lacks(page, *signal));
        SNAPSHOT_SIGNALS.into_iter().filter(is_missing).collect()
    }

    /// Adds the numbers of a page after the job. If the stored numbers of the page are about another range, they are
    /// replaced. If they are about the same range, they stay, and only missing numbers are added. Returns whether
    /// anything was changed.
    pub fn add_snapshot_after_job(&mut self, page: SignalSnapshot) -> bool {
        let Some(known) = self.after.iter_mut().find(|known| known.path == page.path) else {
            self.after.push(page);
            return true;
        };
        if known.range != page.range {
            *known = page;
            return true;
        }
        let count = known.signals.len();
        for (signal, number) in page.signals {
            known.signals.entry(signal).or_insert(number);
        }
        known.signals.len() > count
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::analytics::needs_work::SignalWeights;
    use crate::model::analytics::{PageFeedback, RowsMerge, RowsReport, RowsResponse};
    use crate::model::views::Counts;

    #[test]
    fn a_page_without_problems_has_zeros_and_what_is_not_loaded_is_missing() {
        let range = DateRange::last_days(7, "2026-11-20".parse().expect("a day"));
        let row =
            PageFeedback { path: CleanText::line("/sso"), thumbs_down: Count::Known(4), ..PageFeedback::default() };
        let votes = |has_unavailable_rows| {
            let response =
                RowsResponse { rows: vec![row.clone()], totals: Counts::default(), next: None, has_unavailable_rows };
            RowsMerge::start(range, response, crate::model::Time::default()).into_report()
        };
        let down = |votes: &RowsReport<PageFeedback>, path: &str| {
            let reports = LoadedReports { feedback_by_page: Some(votes), ..LoadedReports::default() };
            let found = NeedsWorkRanking::compute(reports, &SignalWeights::default());
            let snapshot = SignalSnapshot::for_page(reports, &found, &CleanText::line(path), range)?;
            assert_eq!(snapshot.value(ProblemSignal::OpenComments), None);
            snapshot.value(ProblemSignal::ThumbsDown)
        };
        assert_eq!([down(&votes(false), "/sso/"), down(&votes(false), "/quiet")], [Some(4.into()), Some(0.into())]);
        assert_eq!([down(&votes(true), "/sso"), down(&votes(true), "/quiet")], [Some(4.into()), None]);
    }
}
