//! Reads the impact of jobs on pages from the store, without requests: a page's views before and after a job, and in
//! every cached range.

use crate::engine::Engine;
use crate::model::Time;
use crate::model::analytics::needs_work::{LoadedReports, NeedsWorkRanking, ProblemSignal, SignalWeights};
use crate::model::analytics::page_reports::PageReports;
use crate::model::analytics::signal_snapshot::{JobSnapshots, SignalSnapshot};
use crate::model::analytics::{AnalyticsKind, Feedback, PageFeedback, Question, RowsReport, Search};
use crate::model::endpoint::Scope;
use crate::model::impact::{
    ImpactWeeks, PageHistory, PageImpact, PageViewsState, SignalImpact, WeekAfterState, week_after,
    weeks_before_and_after,
};
use crate::model::job::{Job, JobKey};
use crate::model::load::Timed;
use crate::model::period::DateRange;
use crate::model::report::Report;
use crate::model::text::CleanText;
use crate::model::views::Counts;
use crate::store::{Store, StoreError};
use crate::tui::impact::MAX_LISTED_PAGES;
use chrono::Utc;
use std::sync::Arc;

/// Reads the impact of jobs on pages.
#[derive(Debug)]
pub(super) struct ImpactReader<'a> {
    pub(super) store: &'a Store,
    pub(super) scope: &'a Scope,
    /// Converts times from the service's clock, which the store uses, to the local clock, and decides which kinds of
    /// reports may be stored. `None` before the engine runs; times then stay unchanged, and all kinds of reports may be
    /// stored.
    pub(super) engine: Option<Engine>,
}

/// The stored reports of the days after a job.
struct StoredReports {
    range: DateRange,
    views: Option<Arc<Report>>,
    feedback_by_page: Option<Arc<RowsReport<PageFeedback>>>,
    feedback: Option<Arc<RowsReport<Feedback>>>,
    questions: Option<Arc<RowsReport<Question>>>,
    searches: Option<Arc<RowsReport<Search>>>,
    /// The pages that need work, computed from the stored reports, with the signals of each page.
    needs_work: NeedsWorkRanking,
}

impl StoredReports {
    fn as_loaded_reports(&self) -> LoadedReports<'_> {
        LoadedReports {
            views: self.views.as_deref(),
            comparison: None,
            feedback_by_page: self.feedback_by_page.as_deref(),
            feedback: self.feedback.as_deref(),
            questions: self.questions.as_deref(),
            searches: self.searches.as_deref(),
        }
    }

    fn snapshot_of_page(&self, path: &CleanText) -> Option<SignalSnapshot> {
        SignalSnapshot::for_page(self.as_loaded_reports(), &self.needs_work, path, self.range)
    }
}

impl ImpactReader<'_> {
    /// Returns the views and the signals of each page of a job, both from before and from after the job. Returns only
    /// the first [`MAX_LISTED_PAGES`] pages. Returns an empty list for an unknown job.
    pub(super) async fn read_job_impact(&self, job: JobKey) -> Result<Vec<PageImpact>, StoreError> {
        let Some(row) = self.store.job(job).await? else { return Ok(Vec::new()) };
        let mut snapshots = self.store.signal_snapshots_of_job(job).await?;
        let after = match week_after(&row, Utc::now().date_naive()) {
            WeekAfterState::Complete(range) => Some(range),
            _ => None,
        };
        let missing = match after {
            Some(range) => self.fill_in_missing_snapshots(job, &mut snapshots, range).await?,
            None => Vec::new(),
        };
        let mut pages = Vec::new();
        for path in row.local.pages.iter().take(MAX_LISTED_PAGES) {
            let signals = snapshots.before(path).map(|before| SignalImpact {
                before: before.clone(),
                after: after.and_then(|range| snapshots.after(path, range)).cloned(),
                missing: missing.clone(),
            });
            let (before, after) = self.views_before_and_after(&row, path).await?;
            pages.push(PageImpact { path: path.clone(), before, after, signals });
        }
        Ok(pages)
    }

    /// Reads the missing numbers of the days after a job from the stored reports, and stores them with the job, because
    /// the reports expire. Returns the reports that have to be loaded for the numbers that are still missing.
    async fn fill_in_missing_snapshots(
        &self,
        job: JobKey,
        snapshots: &mut JobSnapshots,
        range: DateRange,
    ) -> Result<Vec<AnalyticsKind>, StoreError> {
        if snapshots.signals_missing_after(range).is_empty() {
            return Ok(Vec::new());
        }
        let reports = self.read_reports(range).await?;
        let paths: Vec<CleanText> = snapshots.before.iter().map(|page| page.path.clone()).collect();
        let mut has_added = false;
        for page in paths.iter().filter_map(|path| reports.snapshot_of_page(path)) {
            has_added |= snapshots.add_snapshot_after_job(page);
        }
        if has_added {
            // If the numbers can't be stored, the next read tries again.
            let _ = self.store.replace_snapshots_after_job(job, snapshots.after.clone()).await;
        }
        Ok(self.missing_reports(&reports.as_loaded_reports(), &snapshots.signals_missing_after(range)))
    }

    /// Reads the stored reports of a range. Leaves out reports that were loaded before the range was over.
    async fn read_reports(&self, range: DateRange) -> Result<StoredReports, StoreError> {
        let (store, scope) = (self.store, self.scope);
        let is_final = |as_of: Time| as_of.date_naive() > range.to();
        let mut reports = StoredReports {
            range,
            views: store.cached_report(scope, range).await?.report,
            feedback_by_page: store.rows_report(scope, range).await?.report,
            feedback: store.rows_report(scope, range).await?.report,
            questions: store.rows_report(scope, range).await?.report,
            searches: store.rows_report(scope, range).await?.report,
            needs_work: NeedsWorkRanking::default(),
        };
        reports.views.take_if(|report| !is_final(report.as_of));
        reports.feedback_by_page.take_if(|report| !is_final(report.as_of));
        reports.feedback.take_if(|report| !is_final(report.as_of));
        reports.questions.take_if(|report| !is_final(report.as_of));
        reports.searches.take_if(|report| !is_final(report.as_of));
        reports.needs_work = NeedsWorkRanking::compute(reports.as_loaded_reports(), &SignalWeights::default());
        Ok(reports)
    }

    /// Returns the reports that have to be loaded for these signals. Leaves out reports that are never stored.
    fn missing_reports(&self, loaded: &LoadedReports<'_>, signals: &[ProblemSignal]) -> Vec<AnalyticsKind> {
        let is_wanted = |kind: &AnalyticsKind| {
            signals.iter().any(|signal| signal.report_kind() == Some(*kind))
                && self.engine.as_ref().is_none_or(|engine| engine.stores_rows(*kind))
        };
        loaded.missing().kinds.into_iter().filter(is_wanted).collect()
    }

    /// Reads all stored data about a page: its views in every cached range, which of these `days` had no views, its
    /// numbers in the reports of `range`, and its views before and after each job about it.
    pub(super) async fn read_page_history(
        &self,
        path: &CleanText,
        range: DateRange,
        days: &[DateRange],
    ) -> Result<PageHistory, StoreError> {
        let mut periods = self.store.page_views_by_range(self.scope, path).await?;
        for period in &mut periods {
            self.convert_to_local_clock(&mut period.views);
        }
        let days_with_state = days.iter().zip(self.store.page_views(self.scope, path, days).await?);
        let without_views = |(day, views): (&DateRange, PageViewsState)| match views {
            PageViewsState::NotListed(as_of) => Some(Timed { value: *day, as_of: self.to_local_clock(as_of) }),
            PageViewsState::Known(_) | PageViewsState::Unknown => None,
        };
        let days_without_views = days_with_state.filter_map(without_views).collect();
        let reports = self.read_page_reports(path, range).await?;
        let mut jobs = Vec::new();
        for row in self.store.jobs_about_page(self.scope, path).await? {
            let (before, after) = self.views_before_and_after(&row, path).await?;
            jobs.push((row.key, before, after));
        }
        Ok(PageHistory { periods, days_without_views, reports, jobs })
    }

    /// Reads what the stored reports of a range contain about a page.
    async fn read_page_reports(&self, path: &CleanText, range: DateRange) -> Result<PageReports, StoreError> {
        let (store, scope) = (self.store, self.scope);
        let feedback_by_page = store.rows_report(scope, range).await?.report;
        let feedback = store.rows_report(scope, range).await?.report;
        let questions = store.rows_report(scope, range).await?.report;
        let searches = store.rows_report(scope, range).await?.report;
        let loaded = LoadedReports {
            feedback_by_page: feedback_by_page.as_deref(),
            feedback: feedback.as_deref(),
            questions: questions.as_deref(),
            searches: searches.as_deref(),
            ..LoadedReports::default()
        };
        let mut reports = PageReports::of_page(path, loaded);
        let times = [
            reports.votes.as_mut().map(|known| &mut known.as_of),
            reports.comments.as_mut().map(|known| &mut known.as_of),
            reports.questions.as_mut().map(|known| &mut known.as_of),
            reports.searches.as_mut().map(|known| &mut known.as_of),
        ];
        times.into_iter().flatten().for_each(|as_of| *as_of = self.to_local_clock(*as_of));
        Ok(reports)
    }

    async fn views_before_and_after(
        &self,
        row: &Job,
        path: &CleanText,
    ) -> Result<(PageViewsState, PageViewsState), StoreError> {
        let Some(ImpactWeeks { before, after }) = weeks_before_and_after(row) else {
            return Ok((PageViewsState::Unknown, PageViewsState::Unknown));
        };
        let ranges: Vec<_> = std::iter::once(before).chain(after).collect();
        let mut known = self.store.page_views(self.scope, path, &ranges).await?.into_iter();
        let mut next = || {
            let mut views = known.next().unwrap_or(PageViewsState::Unknown);
            match &mut views {
                PageViewsState::Known(known) => self.convert_to_local_clock(known),
                PageViewsState::NotListed(as_of) => *as_of = self.to_local_clock(*as_of),
                PageViewsState::Unknown => {}
            }
            views
        };
        Ok((next(), next()))
    }

    fn convert_to_local_clock(&self, views: &mut Timed<Counts>) {
        views.as_of = self.to_local_clock(views.as_of);
    }

    fn to_local_clock(&self, service: crate::model::Time) -> crate::model::Time {
        self.engine.as_ref().map_or(service, |engine| engine.to_local_time(service))
    }
}
