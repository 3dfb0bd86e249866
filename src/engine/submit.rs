//! Submits prompts (writes them to disk, then wakes the dispatcher), changes the queue, and applies the
//! user's decisions about undelivered prompts.

use super::clock::local_now;
use super::poll::PollerCommand;
use super::state::{EngineState, lock};
use crate::model::change::{DiscardedPrompts, QueueChange};
use crate::model::engine_event::EngineEvent;
use crate::model::failure::Failure;
use crate::model::prompt::{Delivery, Prompt, PromptId, Resolution};
use crate::model::row::{Job, JobKey};
use crate::model::text::CleanText;
use crate::store::StoreError;

impl EngineState {
    pub(super) async fn submit_new_job(&self, text: &str) -> Result<(PromptId, Job), Failure> {
        reject_blank(text)?;
        let added = match self.reserves_prompts {
            true => self.store.reserve_new_job(&self.scope, text, self.instance.name(), local_now()).await,
            false => self.store.add_new_job(&self.scope, text, local_now()).await,
        };
        Ok(self.enqueue(added.map_err(submit_failure)?).await)
    }

    pub(super) async fn submit_job_about(&self, text: &str, pages: &[CleanText]) -> Result<(PromptId, Job), Failure> {
        reject_blank(text)?;
        let added = self.store.add_job_about(&self.scope, text, pages, local_now()).await.map_err(submit_failure)?;
        Ok(self.enqueue(added).await)
    }

    pub(super) async fn submit_follow_up(&self, job: JobKey, text: &str) -> Result<(PromptId, Job), Failure> {
        reject_blank(text)?;
        let added = match self.reserves_prompts {
            true => self.store.reserve_follow_up(job, text, self.instance.name(), local_now()).await,
            false => self.store.add_follow_up(job, text, local_now()).await,
        };
        Ok(self.enqueue(added.map_err(submit_failure)?).await)
    }

    pub(super) async fn supersede_follow_ups(
        &self,
        job: JobKey,
        text: &str,
    ) -> Result<(PromptId, Job, Vec<Prompt>), Failure> {
        reject_blank(text)?;
        let reserved_for = self.reserves_prompts.then(|| self.instance.name());
        let superseded =
            self.store.supersede_follow_ups(job, text, reserved_for, local_now()).await.map_err(submit_failure)?;
        let (prompt, row, discarded) = superseded;
        for prompt in &discarded {
            lock(&self.own_prompts).remove(&prompt.id);
            self.emit_delivery(prompt.id, Delivery::Discarded { from: Some(prompt.delivery.kind()) }, row.clone())
                .await;
        }
        let (prompt, row) = self.enqueue((prompt, row)).await;
        Ok((prompt, row, discarded))
    }

    /// Queues new jobs. Their prompts are not added to `own_prompts`, so the instance with the dispatch
    /// lease sends them, in queue order.
    pub(super) async fn submit_batch(&self, prompts: &[String]) -> Result<Vec<Job>, Failure> {
        if prompts.is_empty() {
            return Err(Failure::local("Nothing was queued: the batch contains no prompt."));
        }
        for prompt in prompts {
            reject_blank(prompt)?;
        }
        let rows = self.store.add_batch(&self.scope, prompts, local_now()).await.map_err(submit_failure)?;
        self.dispatch_wake.notify_one();
        Ok(rows)
    }

    pub(super) async fn change_queue(&self, jobs: &[JobKey], change: QueueChange) -> Result<Vec<Job>, Failure> {
        let rows = self.store.change_queue(jobs, change, local_now()).await.map_err(submit_failure)?;
        self.dispatch_wake.notify_one();
        self.emit_threads(&rows).await;
        Ok(rows)
    }

    pub(super) async fn remove_from_queue(&self, jobs: &[JobKey]) -> Result<DiscardedPrompts, Failure> {
        let removed = self.store.remove_from_queue(jobs, local_now()).await.map_err(submit_failure)?;
        self.after_discarding(&removed).await;
        Ok(removed)
    }

    pub(super) async fn discard(&self, prompt: PromptId) -> Result<DiscardedPrompts, Failure> {
        let discarded = self.store.discard_prompt(prompt, local_now()).await.map_err(submit_failure)?;
        self.after_discarding(&discarded).await;
        Ok(discarded)
    }

    async fn after_discarding(&self, discarded: &DiscardedPrompts) {
        lock(&self.own_prompts).retain(|prompt, _| !discarded.prompts.contains(prompt));
        // Later prompts of the same jobs may be sent now.
        self.dispatch_wake.notify_one();
        self.emit_threads(&discarded.rows).await;
    }

    pub(super) async fn restore(&self, prompts: &[PromptId]) -> Result<Vec<Job>, Failure> {
        let rows = self.store.restore_prompts(prompts).await.map_err(submit_failure)?;
        // A restored prompt may be queued again.
        self.dispatch_wake.notify_one();
        self.emit_threads(&rows).await;
        Ok(rows)
    }

    async fn emit_threads(&self, rows: &[Job]) {
        for row in rows {
            self.emit(EngineEvent::Thread(row.key)).await;
        }
    }

    pub(super) async fn pause(&self, prompt: PromptId) -> Result<Option<Job>, Failure> {
        let row = self.store.pause_prompt(prompt, local_now()).await.map_err(submit_failure)?;
        if let Some(row) = &row {
            lock(&self.own_prompts).remove(&prompt);
            self.emit_delivery(prompt, Delivery::Paused, row.clone()).await;
        }
        Ok(row)
    }

    pub(super) async fn resolve(&self, prompt: PromptId, resolution: Resolution) -> Result<Job, Failure> {
        match resolution {
            Resolution::SendAgain => self.requeue(prompt, None).await,
            Resolution::SendEdited(text) => {
                reject_blank(&text)?;
                self.requeue(prompt, Some(&text)).await
            }
            Resolution::Link(id) => {
                let job = self.fetch(&id).await?;
                let row = self.store.link_job(prompt, job, local_now()).await.map_err(submit_failure)?;
                self.emit_resolved(prompt, Delivery::Accepted, &row).await;
                self.emit_merged(row.key).await;
                Ok(row)
            }
        }
    }

    async fn requeue(&self, prompt: PromptId, edited: Option<&str>) -> Result<Job, Failure> {
        let row = self.store.requeue(prompt, edited, local_now()).await.map_err(submit_failure)?;
        Ok(self.enqueue((prompt, row)).await.1)
    }

    /// Makes this instance send a prompt that is on disk, unless another instance starts to send it first.
    async fn enqueue(&self, (prompt, row): (PromptId, Job)) -> (PromptId, Job) {
        lock(&self.own_prompts).insert(prompt, row.key);
        // Wake the dispatcher before emitting the event, because that may have to wait for space in the channel.
        // If the caller stops waiting meanwhile, the prompt is sent anyway.
        self.dispatch_wake.notify_one();
        self.emit_delivery(prompt, Delivery::Queued { until: None }, row.clone()).await;
        (prompt, row)
    }

    async fn emit_resolved(&self, prompt: PromptId, delivery: Delivery, row: &Job) {
        self.send_to_poller(PollerCommand::JobsChanged { rows: vec![row.clone()], by_others: false });
        // Later prompts of the job may be sent now.
        self.dispatch_wake.notify_one();
        self.emit_delivery(prompt, delivery, row.clone()).await;
    }
}

fn submit_failure(error: StoreError) -> Failure {
    error.failure()
}

fn reject_blank(text: &str) -> Result<(), Failure> {
    if text.trim().is_empty() {
        let sentence = "Not sent: the prompt is blank. Write what the agent should do.";
        return Err(Failure::local(sentence));
    }
    Ok(())
}
