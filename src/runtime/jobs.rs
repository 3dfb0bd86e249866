//! Runs the effects about jobs.

use super::effect_runner::{EffectRunner, TIPS_STORE_KEY, store_failure};
use crate::model::endpoint::Scope;
use crate::model::failure::Failure;
use crate::model::job::JobKey;
use crate::model::prompt::{Delivery, DraftTarget, Thread};
use crate::model::pull_request_action::{ActionOutcome, SeenHeadCommit};
use crate::store::StoreError;
use crate::tui::{AllProfilesJobs, InitialData, JobsEffect, JobsMsg, MAX_PREFETCHED_THREAD_BYTES};
use chrono::Utc;
use std::time::Duration;

/// How long to wait before each request for the state of a build.
const BUILD_POLL_INTERVAL: Duration = Duration::from_secs(3);
/// Maximum number of log entries that are loaded at the start.
const MAX_LOG_ENTRIES: u32 = 500;

impl EffectRunner {
    pub(super) async fn run_jobs_effect(&self, effect: JobsEffect) -> Option<JobsMsg> {
        Some(match effect {
            JobsEffect::LoadFirstRows(limit) => {
                JobsMsg::FirstRowsLoaded(self.store.first_jobs(&self.scope, limit).await.map_err(store_failure))
            }
            JobsEffect::LoadInitialData => JobsMsg::InitialDataLoaded(self.read_initial_data().await.map(Box::new)),
            JobsEffect::LoadThread(job) => {
                let read = self.read_threads(vec![job], None).await;
                let thread = read.map(|mut read| read.pop().map(|(_, thread)| thread));
                let result = thread.and_then(|thread| thread.ok_or_else(|| store_failure(StoreError::NoSuchJob)));
                JobsMsg::ThreadLoaded { job, result }
            }
            JobsEffect::PrefetchThreads(jobs) => {
                JobsMsg::ThreadsPrefetched(self.read_threads(jobs, Some(MAX_PREFETCHED_THREAD_BYTES)).await)
            }
            JobsEffect::Check(job) => {
                JobsMsg::Checked(self.with_engine(async |engine| engine.refresh(job).await).await)
            }
            JobsEffect::Track(job) => {
                let result = self.with_engine(async |engine| engine.track(&job).await).await;
                JobsMsg::Tracked { id: job.to_clean_text(), result }
            }
            JobsEffect::ChangeLocalData(jobs, change) => {
                let result = self.store.change_jobs(&jobs, change, Utc::now()).await;
                JobsMsg::LocalDataChanged(result.map_err(store_failure))
            }
            JobsEffect::ChangeQueue(jobs, change) => {
                let result = self.with_engine(async |engine| engine.change_queue(&jobs, change).await).await;
                JobsMsg::LocalDataChanged(result)
            }
            JobsEffect::FindJobsByPrompt(text) => {
                let jobs = self.store.find_jobs_by_prompt(&self.scope, &text).await.map_err(store_failure);
                JobsMsg::JobsFoundByPrompt { text, jobs }
            }
            JobsEffect::FindJobsByPromptIn(scopes, text) => {
                let jobs = self.find_jobs_by_prompt_in(&scopes, &text).await.map_err(store_failure);
                JobsMsg::JobsFoundByPrompt { text, jobs }
            }
            JobsEffect::LoadJobImpact(job) => {
                let result = self.impact_reader().read_job_impact(job).await.map_err(store_failure);
                JobsMsg::ImpactLoaded { job, result }
            }
            JobsEffect::ListAllJobs(scopes) => {
                JobsMsg::AllJobsListed(self.list_jobs_of_profiles(scopes).await.map_err(store_failure))
            }
            JobsEffect::ReportVisibleJobs(jobs) => {
                self.running_engine().await?.set_on_screen(jobs);
                return None;
            }
            JobsEffect::LoadDiff { job, is_reload } => {
                JobsMsg::DiffLoaded { job, result: self.read_diff(job, is_reload).await.map(Box::new) }
            }
            JobsEffect::RunPullRequestAction { target: SeenHeadCommit { job, head }, action } => {
                let outcome = match self.engine().await {
                    Ok(engine) => engine.perform_pull_request_action(job, head, action.clone()).await,
                    Err(failure) => ActionOutcome::not_done(&failure),
                };
                JobsMsg::PullRequestActionEnded { job, action, outcome }
            }
            JobsEffect::SaveUnsentReview { links, kind, text } => {
                let result = self.store.save_unsent_review(&links, kind, &text).await;
                JobsMsg::UnsentReviewSaved { links, kind, result: result.map(|()| Utc::now()).map_err(store_failure) }
            }
            JobsEffect::LoadPullRequestDetails { job, reads_stored } => {
                let result = if reads_stored { self.read_details(job).await } else { self.request_details(job).await };
                let pages = result.iter().flatten().flat_map(|details| details.value.pages()).collect();
                let site = self.site_facts(job, pages).await.unwrap_or_default();
                JobsMsg::PullRequestDetailsLoaded { job, result, site }
            }
            JobsEffect::StartPreview(job) => {
                let result = self.with_engine(async |engine| engine.start_preview(job).await).await;
                JobsMsg::PreviewStarted { job, result }
            }
            JobsEffect::CheckBuild { job, build } => {
                tokio::time::sleep(BUILD_POLL_INTERVAL).await;
                let result = self.fetch_build(job, &build).await;
                JobsMsg::BuildChecked { job, id: build.id, result }
            }
            JobsEffect::RefreshPullRequests(jobs) => {
                self.engine().await.ok()?.refresh_pull_requests(Some(jobs));
                return None;
            }
            // `EffectTasks` handles this effect itself.
            JobsEffect::ReportFocus(_) => return None,
        })
    }

    /// Reads the threads of jobs. With `max_bytes`, the call is a prefetch: it skips each thread that is larger. A
    /// prefetch fails while no engine runs, because only the engine reports later changes of the threads.
    async fn read_threads(
        &self,
        jobs: Vec<JobKey>,
        max_bytes: Option<usize>,
    ) -> Result<Vec<(JobKey, Thread)>, Failure> {
        let is_engine_running = matches!(*self.engine.borrow(), Some(Ok(_)));
        if max_bytes.is_some() && !is_engine_running {
            return Err(Failure::local("Threads are not prefetched before the engine runs."));
        }
        let mut threads = self.store.threads(&jobs, max_bytes).await.map_err(store_failure)?;
        // The store contains service time, and the screen needs local time. Without a running engine, both are assumed
        // to be equal.
        if let Some(Ok(engine)) = self.engine.borrow().as_ref() {
            for prompt in threads.iter_mut().flat_map(|(_, thread)| &mut thread.prompts) {
                if let Delivery::Queued { until: Some(until) } = &mut prompt.delivery {
                    *until = engine.to_local_time(*until);
                }
            }
        }
        Ok(threads)
    }

    async fn list_jobs_of_profiles(&self, scopes: Vec<(usize, Scope)>) -> Result<AllProfilesJobs, StoreError> {
        let mut jobs = Vec::new();
        for (profile, scope) in &scopes {
            jobs.extend(self.store.jobs(scope).await?.into_iter().map(|row| (*profile, row)));
        }
        let scopes = scopes.into_iter().map(|(_, scope)| scope).collect();
        Ok(AllProfilesJobs { jobs, jobs_without_profile_count: self.store.count_jobs_in_other_scopes(scopes).await? })
    }

    async fn find_jobs_by_prompt_in(&self, scopes: &[Scope], text: &str) -> Result<Vec<JobKey>, StoreError> {
        let mut all = Vec::new();
        for scope in scopes {
            all.extend(self.store.find_jobs_by_prompt(scope, text).await?);
        }
        Ok(all)
    }

    async fn read_initial_data(&self) -> Result<InitialData, Failure> {
        let read = async {
            let jobs = self.store.jobs(&self.scope).await?;
            let drafts = self.store.drafts(&self.scope).await?;
            let unsent_reviews = self.store.unsent_reviews().await?;
            let log = self.store.recent_events(&self.scope, MAX_LOG_ENTRIES).await?;
            let about = drafts.iter().find(|draft| draft.slot == DraftTarget::AboutPages);
            let draft_pages = about.map(|draft| draft.pages.clone()).unwrap_or_default();
            let drafts = drafts.into_iter().map(|draft| (draft.slot, draft.text)).collect();
            // A missing value means that no tip was shown yet, even if there are jobs, because commands create jobs
            // without showing tips.
            let seen_tips = Some(self.store.value(TIPS_STORE_KEY).await?.unwrap_or_default());
            let is_project_shared = self.store.team_membership(&self.scope).await?.is_some();
            Ok(InitialData { jobs, drafts, draft_pages, unsent_reviews, log, seen_tips, is_project_shared })
        };
        read.await.map_err(store_failure)
    }
}
