//! Runs the effects about a single pull request: its changes, its details and its preview.

use super::effect_runner::{EffectRunner, store_failure};
use crate::model::diff::{Diff, LoadedDiff};
use crate::model::failure::Failure;
use crate::model::job::JobKey;
use crate::model::load::Timed;
use crate::model::preview::{Build, BuildState, StartedBuild};
use crate::model::pull_request_details::{PullRequestDetails, SiteFacts};
use crate::model::text::CleanText;
use crate::store::{StoreError, StoredDiff};
use chrono::Utc;
use std::collections::HashMap;
use std::ops::RangeInclusive;

/// The maximum number of changed pages whose views are read from the cache.
const MAX_PAGES_WITH_VIEWS: usize = 100;
/// The views of a changed page come from a cached range whose number of days is within these limits.
const COMPARABLE_RANGE_DAYS: RangeInclusive<u32> = 7..=31;

impl EffectRunner {
    /// Requests the state of a build and returns it. If the build has succeeded, stores the address of the preview.
    pub(super) async fn fetch_build(&self, job: JobKey, build: &StartedBuild) -> Result<Build, Failure> {
        let checked = self.with_engine(async |engine| engine.fetch_preview_build(&build.id).await).await?;
        if let (BuildState::Success, Some(url)) = (&checked.state, &build.url) {
            let row = self.store.job(job).await.map_err(store_failure)?;
            if let Some(link) = row.and_then(|row| row.remote.pr_link.clone()) {
                self.store.save_built_preview(&link, url, Utc::now()).await.map_err(store_failure)?;
            }
        }
        Ok(checked)
    }

    /// Reads the changes of a job's pull request from the store. Requests them if they are not stored, if they belong
    /// to an older commit, or if `again` is set. If the request fails, returns the stored changes together with the
    /// failure.
    pub(super) async fn read_diff(&self, job: JobKey, again: bool) -> Result<LoadedDiff, Failure> {
        let row =
            self.store.job(job).await.map_err(store_failure)?.ok_or_else(|| store_failure(StoreError::NoSuchJob))?;
        let stored = match &row.remote.pr_link {
            Some(link) => self.store.diff(link).await.map_err(store_failure)?,
            None => None,
        };
        let head = row.pull_request.as_ref().map(|state| &state.head);
        let is_current = stored.as_ref().is_some_and(|stored| Some(&stored.head) == head);
        let (stored, problem) = match stored {
            Some(stored) if is_current && !again => (stored, None),
            stored => match (self.with_engine(async |engine| engine.load_diff(job, again).await).await, stored) {
                (Ok(loaded), _) => (loaded, None),
                (Err(failure), Some(older)) => (older, Some(failure)),
                (Err(failure), None) => return Err(failure),
            },
        };
        let StoredDiff { head, text, is_truncated, as_of } = stored;
        // Parsing a large diff would block the runtime.
        let parsed = tokio::task::spawn_blocking(|| Diff::parse(text)).await;
        let diff = parsed.map_err(|_| Failure::local("The changes can't be shown."))?;
        let site = self.site_facts(job, diff.pages()).await.map_err(store_failure)?;
        Ok(LoadedDiff { head, diff, is_truncated, as_of, problem, site })
    }

    /// Returns the stored details of a job's pull request; `None` if there are none.
    pub(super) async fn read_details(&self, job: JobKey) -> Result<Option<Timed<PullRequestDetails>>, Failure> {
        let row = self.store.job(job).await.map_err(store_failure)?;
        match row.and_then(|row| row.remote.pr_link) {
            Some(link) => self.store.pull_request_details(&link).await.map_err(store_failure),
            None => Ok(None),
        }
    }

    /// Returns the stored address of the preview for a job's pull request, and the cached views of the first
    /// [`MAX_PAGES_WITH_VIEWS`] of these pages.
    pub(super) async fn site_facts(&self, job: JobKey, pages: Vec<CleanText>) -> Result<SiteFacts, StoreError> {
        let link = self.store.job(job).await?.and_then(|row| row.remote.pr_link);
        let preview = match link {
            Some(link) => self.store.preview_url(&link).await?,
            None => None,
        };
        let mut views = HashMap::new();
        for page in pages.into_iter().take(MAX_PAGES_WITH_VIEWS) {
            // Chooses the newest cached range of a week to a month. A day is too short to compare pages, and a year is
            // too long.
            let periods = self.store.page_views_by_range(&self.scope, &page).await?;
            let newest = periods.into_iter().filter(|period| COMPARABLE_RANGE_DAYS.contains(&period.range.days()));
            if let Some(period) = newest.max_by_key(|period| (period.range.to(), period.views.as_of)) {
                views.insert(page, period);
            }
        }
        Ok(SiteFacts { preview, views })
    }

    pub(super) async fn request_details(&self, job: JobKey) -> Result<Option<Timed<PullRequestDetails>>, Failure> {
        self.with_engine(async |engine| engine.load_pull_request_details(job).await).await.map(Some)
    }
}
