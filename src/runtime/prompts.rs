//! Runs the effects about prompts and drafts.

use super::effect_runner::{EffectRunner, store_failure};
use super::templates;
use crate::model::Time;
use crate::model::failure::Failure;
use crate::model::job::Job;
use crate::model::prompt::{DraftTarget, PromptId, PromptResolution};
use crate::model::text::CleanText;
use crate::store::StoreError;
use crate::tui::{PromptsEffect, PromptsMsg, SubmitError};
use chrono::Utc;

impl EffectRunner {
    pub(super) async fn run_prompts_effect(&self, effect: PromptsEffect) -> Option<PromptsMsg> {
        Some(match effect {
            PromptsEffect::SubmitNewJob(text) => {
                let result = self.with_engine(async |engine| engine.submit_new_job(&text).await).await;
                submitted_msg(DraftTarget::NewJob, text, Vec::new(), result)
            }
            PromptsEffect::SubmitJobAbout(text, pages, snapshots) => {
                let submit = async |engine: crate::engine::Engine| {
                    engine.submit_job_about_pages(&text, &pages, &snapshots).await
                };
                let result = self.with_engine(submit).await;
                submitted_msg(DraftTarget::AboutPages, text, pages, result)
            }
            PromptsEffect::SubmitFollowUp(job, text) => {
                let result = self.with_engine(async |engine| engine.submit_follow_up(job, &text).await).await;
                submitted_msg(DraftTarget::FollowUp(job), text, Vec::new(), result)
            }
            PromptsEffect::Retry(job) => {
                let result = self.with_engine(async |engine| engine.retry(job).await).await;
                PromptsMsg::Retried { job, result: result.map(|(_, row)| row) }
            }
            PromptsEffect::SubmitBatch { prompts, typed_text: text } => {
                let result = self.with_engine(async |engine| engine.submit_batch(&prompts).await).await;
                PromptsMsg::BatchAdded(result.map_err(|failure| SubmitError { failure, text, pages: Vec::new() }))
            }
            PromptsEffect::Resolve(prompt, PromptResolution::SendEdited(text)) => {
                let edited = PromptResolution::SendEdited(text.clone());
                let result = self.with_engine(async |engine| engine.resolve(prompt, edited).await).await;
                submitted_msg(DraftTarget::Prompt(prompt), text, Vec::new(), result.map(|row| (prompt, row)))
            }
            PromptsEffect::Resolve(prompt, resolution) => {
                let result = self.with_engine(async |engine| engine.resolve(prompt, resolution).await).await;
                PromptsMsg::Resolved { prompt, result }
            }
            PromptsEffect::Discard(prompt, sentence) => {
                let result = self.with_engine(async |engine| engine.discard(prompt).await).await;
                PromptsMsg::Discarded { sentence, result }
            }
            PromptsEffect::RemoveFromQueue(jobs) => {
                let result = self.with_engine(async |engine| engine.remove_from_queue(&jobs).await).await;
                PromptsMsg::RemovedFromQueue(result)
            }
            PromptsEffect::RestorePrompts(prompts) => PromptsMsg::PromptsRestored(
                self.with_engine(async |engine| engine.restore_discarded(&prompts).await).await,
            ),
            PromptsEffect::LoadHistory => {
                PromptsMsg::HistoryLoaded(self.store.sent_prompts(&self.scope).await.map_err(store_failure))
            }
            PromptsEffect::LoadTemplates => {
                let folder = self.templates_folder.clone();
                let read = tokio::task::spawn_blocking(move || templates::read_templates(folder.as_deref()));
                PromptsMsg::TemplatesLoaded(read.await.ok()?)
            }
            PromptsEffect::ReadPrompts(file) => {
                let name = file.clone();
                let result = tokio::task::spawn_blocking(move || templates::read_prompt_file(&name)).await.ok()?;
                PromptsMsg::PromptsRead { file, result }
            }
            PromptsEffect::SaveDraft(draft_target, text) => {
                let at = Utc::now();
                draft_saved_msg(draft_target, at, self.store.save_draft(&self.scope, draft_target, &text, at).await)
            }
            PromptsEffect::SaveDraftAbout(text, pages) => {
                let at = Utc::now();
                let result = self.store.save_draft_about_pages(&self.scope, &text, &pages, at).await;
                draft_saved_msg(DraftTarget::AboutPages, at, result)
            }
            PromptsEffect::ReadDraft(draft_target) => {
                // An error is ignored here, because other reads report it. The editor then keeps its text.
                let drafts = self.store.drafts(&self.scope).await.unwrap_or_default();
                let found = drafts.into_iter().find(|draft| draft.slot == draft_target);
                let (text, pages) = found.map(|draft| (draft.text, draft.pages)).unzip();
                PromptsMsg::DraftRead { draft_target, text, pages: pages.unwrap_or_default() }
            }
            PromptsEffect::DeleteDraft(draft_target) => {
                draft_saved_msg(draft_target, Utc::now(), self.store.delete_draft(&self.scope, draft_target).await)
            }
        })
    }
}

fn submitted_msg(
    draft_target: DraftTarget,
    text: String,
    pages: Vec<CleanText>,
    result: Result<(PromptId, Job), Failure>,
) -> PromptsMsg {
    PromptsMsg::Submitted { draft_target, result: result.map_err(|failure| SubmitError { failure, text, pages }) }
}

fn draft_saved_msg(draft_target: DraftTarget, at: Time, result: Result<(), StoreError>) -> PromptsMsg {
    PromptsMsg::DraftSaved { draft_target, result: result.map(|()| at).map_err(store_failure) }
}
