//! Runs single effects and returns messages with their results.

use super::current_time;
use super::first_run::FirstRun;
use super::new_file;
use super::templates;
use crate::engine::Engine;
use crate::model::Time;
use crate::model::endpoint::Scope;
use crate::model::failure::Failure;
use crate::model::layout::Layout;
use crate::model::prompt::{Delivery, DraftTarget, PromptId, Resolution, Thread};
use crate::model::row::{Job, JobKey};
use crate::model::text::CleanText;
use crate::store::{Store, StoreError};
use crate::tui::{AllProfilesJobs, Effect, InitialData, MAX_THREAD_BYTES, Msg, SubmitError};
use std::path::PathBuf;
use tokio::sync::watch;

/// Maximum number of log entries that are loaded at the start.
const MAX_LOG_ENTRIES: u32 = 500;
/// The key under which the store keeps which tips were already shown.
const TIPS_KEY: &str = "tips";

/// The engine, or why it did not start; `None` until one of them is known.
pub(super) type StartedEngine = Option<Result<Engine, Failure>>;

/// Everything that a task needs to run an effect.
#[derive(Debug, Clone)]
pub(super) struct EffectRunner {
    pub(super) store: Store,
    pub(super) scope: Scope,
    /// The folder of the user's own templates.
    pub(super) templates: Option<PathBuf>,
    /// The folder for exports; `None` for the current folder.
    pub(super) exports: Option<PathBuf>,
    /// What the setup form needs from this computer.
    pub(super) first_run: FirstRun,
    pub(super) engine: watch::Receiver<StartedEngine>,
}

impl EffectRunner {
    /// Runs an effect. Returns `None` if the effect has no result, or if the event loop runs it.
    pub(super) async fn run(self, effect: Effect) -> Option<Msg> {
        Some(match effect {
            Effect::LoadFirstRows(limit) => {
                Msg::FirstRows(self.store.first_jobs(&self.scope, limit).await.map_err(save_failure))
            }
            Effect::LoadInitialData => Msg::InitialDataLoaded(self.read_initial_data().await.map(Box::new)),
            Effect::LoadLayout(key) => {
                let text = self.store.value(&key).await.ok().flatten();
                Msg::Layout(key, text.map(|text| Layout::parse(&text)))
            }
            Effect::SaveLayout { key, text } => {
                // Errors are ignored: only the layout is lost.
                let _ = self.store.set_value(&key, &text).await;
                return None;
            }
            Effect::LoadThread(job) => {
                let read = self.read_threads(vec![job], None).await;
                let thread = read.map(|mut read| read.pop().map(|(_, thread)| thread));
                let result = thread.and_then(|thread| thread.ok_or_else(|| save_failure(StoreError::NoSuchJob)));
                Msg::Thread { job, result }
            }
            Effect::PrefetchThreads(jobs) => {
                Msg::ThreadsPrefetched(self.read_threads(jobs, Some(MAX_THREAD_BYTES)).await)
            }
            Effect::SubmitNewJob(text) => {
                let result = self.with_engine(async |engine| engine.submit_new_job(&text).await).await;
                submitted(DraftTarget::NewJob, text, Vec::new(), result)
            }
            Effect::SubmitJobAbout(text, pages) => {
                let result = self.with_engine(async |engine| engine.submit_job_about(&text, &pages).await).await;
                submitted(DraftTarget::AboutPages, text, pages, result)
            }
            Effect::SubmitFollowUp(job, text) => {
                let result = self.with_engine(async |engine| engine.submit_follow_up(job, &text).await).await;
                submitted(DraftTarget::FollowUp(job), text, Vec::new(), result)
            }
            Effect::Resolve(prompt, Resolution::SendEdited(text)) => {
                let edited = Resolution::SendEdited(text.clone());
                let result = self.with_engine(async |engine| engine.resolve(prompt, edited).await).await;
                submitted(DraftTarget::Prompt(prompt), text, Vec::new(), result.map(|row| (prompt, row)))
            }
            Effect::Resolve(prompt, resolution) => {
                let result = self.with_engine(async |engine| engine.resolve(prompt, resolution).await).await;
                Msg::Resolved { prompt, result }
            }
            Effect::CheckJob(job) => {
                let result = self.with_engine(async |engine| engine.refresh(job).await).await;
                Msg::JobChecked { job, result }
            }
            Effect::Track(job) => {
                let result = self.with_engine(async |engine| engine.track(&job).await).await;
                Msg::Tracked { id: job.clean(), result }
            }
            Effect::ChangeLocalData(jobs, change) => {
                Msg::LocalDataChanged(self.store.change_jobs(&jobs, change, current_time()).await.map_err(save_failure))
            }
            Effect::ChangeQueue(jobs, change) => {
                let result = self.with_engine(async |engine| engine.change_queue(&jobs, change).await).await;
                Msg::LocalDataChanged(result)
            }
            Effect::Discard(prompt, sentence) => {
                let result = self.with_engine(async |engine| engine.discard(prompt).await).await;
                Msg::Discarded { sentence, result }
            }
            Effect::RemoveFromQueue(jobs) => {
                Msg::RemovedFromQueue(self.with_engine(async |engine| engine.remove_from_queue(&jobs).await).await)
            }
            Effect::RestorePrompts(prompts) => {
                Msg::PromptsRestored(self.with_engine(async |engine| engine.restore(&prompts).await).await)
            }
            Effect::FindPrompts(text) => {
                let jobs = self.store.find_jobs_by_prompt(&self.scope, &text).await.map_err(save_failure);
                Msg::PromptsFound { text, jobs }
            }
            Effect::FindPromptsIn(scopes, text) => {
                let jobs = self.find_prompts_in(&scopes, &text).await.map_err(save_failure);
                Msg::PromptsFound { text, jobs }
            }
            Effect::LoadHistory => Msg::History(self.store.sent_prompts(&self.scope).await.map_err(save_failure)),
            Effect::SubmitBatch { prompts, typed_text: typed } => {
                let result = self.with_engine(async |engine| engine.submit_batch(&prompts).await).await;
                Msg::BatchAdded(result.map_err(|failure| SubmitError { failure, text: typed, pages: Vec::new() }))
            }
            Effect::LoadTemplates => {
                let folder = self.templates.clone();
                Msg::Templates(
                    tokio::task::spawn_blocking(move || templates::read_templates(folder.as_deref())).await.ok()?,
                )
            }
            Effect::ReadPrompts(file) => {
                let name = file.clone();
                let result = tokio::task::spawn_blocking(move || templates::read_prompt_file(&name)).await.ok()?;
                Msg::PromptsRead { file, result }
            }
            Effect::WriteFile(file, overwrite) => new_file::save_new_file(self.exports.clone(), file, overwrite).await,
            Effect::ReadKey { attempt, key } => self.first_run.read_api_key(attempt, &key).await,
            Effect::WriteConfig { attempt, profile, allowed } => {
                self.first_run.write_new_profile(attempt, profile, allowed).await
            }
            Effect::TestProfile { attempt, profile, key } => self.first_run.test_profile(attempt, &profile, key).await,
            Effect::CheckProfile { attempt, profile } => self.first_run.check(attempt, profile).await,
            Effect::SaveFilter { filter, replace } => self.first_run.save_filter(filter, replace).await,
            Effect::UseTheme { .. }
            | Effect::AddProfile(..)
            | Effect::OpenExternalEditor(_)
            | Effect::RunCommand(_)
            | Effect::Notify(_)
            | Effect::Relaunch(_) => return None,
            Effect::SaveDraft(slot, text) => {
                let at = current_time();
                draft_saved(slot, at, self.store.save_draft(&self.scope, slot, &text, at).await)
            }
            Effect::SaveDraftAbout(text, pages) => {
                let at = current_time();
                let result = self.store.save_draft_about(&self.scope, &text, &pages, at).await;
                draft_saved(DraftTarget::AboutPages, at, result)
            }
            Effect::ReadDraft(slot) => {
                // An error is ignored here, because other reads report it; the editor keeps its text.
                let drafts = self.store.drafts(&self.scope).await.unwrap_or_default();
                let found = drafts.into_iter().find(|draft| draft.slot == slot);
                let (text, pages) = found.map(|draft| (draft.text, draft.pages)).unzip();
                Msg::DraftRead { slot, text, pages: pages.unwrap_or_default() }
            }
            Effect::DeleteDraft(slot) => {
                draft_saved(slot, current_time(), self.store.delete_draft(&self.scope, slot).await)
            }
            Effect::LoadViews { query, force } => self.load_views(query, force).await,
            Effect::LoadCachedReport(range) => self.load_cached(range).await,
            Effect::LoadAll(order) => self.load_all(order).await,
            Effect::LoadCachedTotals(ranges) => self.load_cached_totals(&ranges).await,
            Effect::LoadTotals(ranges) => self.load_totals(&ranges).await,
            Effect::LoadCachedPage(path) => self.load_page_history(path).await,
            Effect::LoadJobImpact(job) => self.load_job_impact(job).await,
            Effect::ListCachedRanges => self.list_cached_ranges().await,
            Effect::StopLoading(range) => {
                self.engine().await.ok()?.stop_loading(range);
                return None;
            }
            Effect::SaveSeenTips(words) => {
                // Errors are ignored: the tips are shown once more.
                let _ = self.store.set_value(TIPS_KEY, &words).await;
                return None;
            }
            Effect::ReportVisibleJobs(jobs) => {
                self.engine().await.ok()?.set_on_screen(jobs);
                return None;
            }
            Effect::ReportBudgets => {
                self.engine().await.ok()?.emit_budgets().await;
                return None;
            }
            Effect::ListAllJobs(scopes) => Msg::AllJobs(self.jobs_of(scopes).await.map_err(save_failure)),
            Effect::ReadProfileKey(_) | Effect::TestProfileKey(..) | Effect::SwitchProfile(..) => return None,
            Effect::OpenUrl(_) | Effect::Copy { .. } => return None,
            Effect::SetMouse(_) | Effect::Repaint | Effect::Suspend | Effect::Quit => return None,
        })
    }

    /// Waits until the engine has started or failed to start, and returns it or the failure.
    pub(super) async fn engine(&self) -> Result<Engine, Failure> {
        let mut engine = self.engine.clone();
        let ended = || Failure::local("docdeck is shutting down; nothing was sent.");
        let started = engine.wait_for(Option::is_some).await.map_err(|_| ended())?;
        started.clone().unwrap_or_else(|| Err(ended()))
    }

    /// Waits until the engine has started, and passes it to `call`. Fails if the engine failed to start.
    pub(super) async fn with_engine<T>(
        &self,
        call: impl AsyncFnOnce(Engine) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        call(self.engine().await?).await
    }

    /// Reads the threads of jobs. With `max_bytes`, reads only threads up to this size, as a prefetch for later use. A
    /// prefetch fails before the engine runs, because only the engine reports later changes of the threads.
    async fn read_threads(
        &self,
        jobs: Vec<JobKey>,
        max_bytes: Option<usize>,
    ) -> Result<Vec<(JobKey, Thread)>, Failure> {
        let is_engine_running = matches!(*self.engine.borrow(), Some(Ok(_)));
        if max_bytes.is_some() && !is_engine_running {
            return Err(Failure::local("Threads are not prefetched before the engine runs."));
        }
        let mut threads = self.store.threads(&jobs, max_bytes).await.map_err(save_failure)?;
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

    async fn jobs_of(&self, scopes: Vec<(usize, Scope)>) -> Result<AllProfilesJobs, StoreError> {
        let mut jobs = Vec::new();
        for (profile, scope) in &scopes {
            jobs.extend(self.store.jobs(scope).await?.into_iter().map(|row| (*profile, row)));
        }
        let scopes = scopes.into_iter().map(|(_, scope)| scope).collect();
        Ok(AllProfilesJobs { jobs, without_profile_count: self.store.count_in_other_scopes(scopes).await? })
    }

    async fn find_prompts_in(&self, scopes: &[Scope], text: &str) -> Result<Vec<JobKey>, StoreError> {
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
            let log = self.store.recent_events(&self.scope, MAX_LOG_ENTRIES).await?;
            let about = drafts.iter().find(|draft| draft.slot == DraftTarget::AboutPages);
            let draft_pages = about.map(|draft| draft.pages.clone()).unwrap_or_default();
            let drafts = drafts.into_iter().map(|draft| (draft.slot, draft.text)).collect();
            // If no tips are stored, none was shown yet, even if there are jobs, which commands may have created.
            let tips = Some(self.store.value(TIPS_KEY).await?.unwrap_or_default());
            Ok(InitialData { jobs, drafts, draft_pages, log, tips })
        };
        read.await.map_err(save_failure)
    }
}

pub(super) fn save_failure(error: StoreError) -> Failure {
    error.not_saved_failure()
}

fn submitted(slot: DraftTarget, text: String, pages: Vec<CleanText>, result: Result<(PromptId, Job), Failure>) -> Msg {
    Msg::Submitted { slot, result: result.map_err(|failure| SubmitError { failure, text, pages }) }
}

fn draft_saved(slot: DraftTarget, at: Time, result: Result<(), StoreError>) -> Msg {
    Msg::DraftSaved { slot, result: result.map(|()| at).map_err(save_failure) }
}
