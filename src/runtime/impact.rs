//! What the record says of pages: before and after the jobs about them, and in every range that is known. No request.

use crate::app::impact::PAGES_MAX;
use crate::engine::Engine;
use crate::model::endpoint::Scope;
use crate::model::impact::{ImpactWindows, PageHistory, PageImpact, PageViews, windows_of};
use crate::model::load::Timed;
use crate::model::row::{Job, JobKey};
use crate::model::text::CleanText;
use crate::model::views::Counts;
use crate::store::{Store, StoreError};

/// What it takes to look.
#[derive(Debug)]
pub(super) struct About<'a> {
    pub(super) store: &'a Store,
    pub(super) scope: &'a Scope,
    /// Knows local time, once it runs; the record is in the service's.
    pub(super) engine: Option<Engine>,
}

impl About<'_> {
    /// The pages of a job that are listed, in their order, with what is known before and after it.
    pub(super) async fn pages_of(&self, job: JobKey) -> Result<Vec<PageImpact>, StoreError> {
        let Some(row) = self.store.job(job).await? else { return Ok(Vec::new()) };
        let mut pages = Vec::new();
        for path in row.pages.iter().take(PAGES_MAX) {
            let (before, after) = self.around(&row, path).await?;
            pages.push(PageImpact { path: path.clone(), before, after });
        }
        Ok(pages)
    }

    /// All that is known of a page.
    pub(super) async fn history(&self, path: &CleanText) -> Result<PageHistory, StoreError> {
        let mut periods = self.store.page_periods(self.scope, path).await?;
        for period in &mut periods {
            self.to_local(&mut period.views);
        }
        let mut jobs = Vec::new();
        for row in self.store.jobs_about(self.scope, path).await? {
            let (before, after) = self.around(&row, path).await?;
            jobs.push((row.key, before, after));
        }
        Ok(PageHistory { periods, jobs })
    }

    async fn around(&self, row: &Job, path: &CleanText) -> Result<(PageViews, PageViews), StoreError> {
        let Some(ImpactWindows { before, after }) = windows_of(row) else {
            return Ok((PageViews::Unknown, PageViews::Unknown));
        };
        let ranges: Vec<_> = std::iter::once(before).chain(after).collect();
        let mut known = self.store.page_views(self.scope, path, &ranges).await?.into_iter();
        let mut next = || {
            let mut views = known.next().unwrap_or(PageViews::Unknown);
            match &mut views {
                PageViews::Known(known) => self.to_local(known),
                PageViews::NotListed(as_of) => *as_of = self.local(*as_of),
                PageViews::Unknown => {}
            }
            views
        };
        Ok((next(), next()))
    }

    fn to_local(&self, views: &mut Timed<Counts>) {
        views.as_of = self.local(views.as_of);
    }

    fn local(&self, service: crate::model::Time) -> crate::model::Time {
        self.engine.as_ref().map_or(service, |engine| engine.local_of(service))
    }
}
