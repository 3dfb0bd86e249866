//! Submits prompts (writes them to disk, then wakes the dispatcher), changes the queue, and applies the
//! user's decisions about undelivered prompts.

use super::Engine;
use super::clock::local_now;
use super::lock::lock;
use super::poller_message::PollerMessage;
use crate::model::analytics::signal_snapshot::SignalSnapshot;
use crate::model::change::{DiscardedPrompts, QueueChange};
use crate::model::engine_event::EngineEvent;
use crate::model::failure::Failure;
use crate::model::job::{Job, JobKey};
use crate::model::prompt::{Delivery, Prompt, PromptId, PromptResolution};
use crate::model::text::CleanText;
use crate::store::{PausedBy, StoreError};

impl Engine {
    /// Submits a new job. When the method returns, the prompt is on disk. The dispatcher sends the prompt in the
    /// background, and events show the progress.
    ///
    /// # Errors
    /// Nothing was written (the text is blank, or the store can't write), so the caller must keep the text.
    pub async fn submit_new_job(&self, text: &str) -> Result<(PromptId, Job), Failure> {
        reject_blank(text)?;
        let (store, scope) = (&self.inner.store, &self.inner.scope);
        let added = store.add_new_job_for_instance(scope, text, self.reserving_instance(), local_now()).await;
        Ok(self.schedule_send(added.map_err(store_failure)?).await)
    }

    /// Returns the name of this instance if no other instance may send the prompts that it submits.
    fn reserving_instance(&self) -> Option<&str> {
        self.inner.should_reserve_prompts.then(|| self.inner.instance.name())
    }

    /// Like [`Engine::submit_new_job`], but also stores the pages that the job is about, and the current signals of
    /// these pages, such as lost views.
    ///
    /// # Errors
    /// Nothing was written, so the caller must keep the text and the pages.
    pub async fn submit_job_about_pages(
        &self,
        text: &str,
        pages: &[CleanText],
        snapshots: &[SignalSnapshot],
    ) -> Result<(PromptId, Job), Failure> {
        reject_blank(text)?;
        let added = self
            .inner
            .store
            .add_job_about_pages(&self.inner.scope, text, pages, snapshots, local_now())
            .await
            .map_err(store_failure)?;
        Ok(self.schedule_send(added).await)
    }

    /// Submits a follow-up in the same way as [`Engine::submit_new_job`] submits a new job. The follow-up is sent after
    /// the earlier prompts of its job.
    ///
    /// # Errors
    /// Nothing was written, so the caller must keep the text.
    pub async fn submit_follow_up(&self, job: JobKey, text: &str) -> Result<(PromptId, Job), Failure> {
        reject_blank(text)?;
        let added =
            self.inner.store.add_follow_up_for_instance(job, text, self.reserving_instance(), local_now()).await;
        Ok(self.schedule_send(added.map_err(store_failure)?).await)
    }

    /// Submits the last accepted prompt of a failed job again (see [`crate::store::Store::retry`]).
    ///
    /// # Errors
    /// Nothing was written: the job can't be retried, or the store can't write.
    pub async fn retry(&self, job: JobKey) -> Result<(PromptId, Job), Failure> {
        Ok(self.schedule_send(self.inner.store.retry(job, local_now()).await.map_err(store_failure)?).await)
    }

    /// Like [`Engine::submit_follow_up`], but first discards the job's `Rejected` and `NotSent` prompts, which
    /// would block the follow-up. Returns the discarded prompts in their previous state.
    ///
    /// # Errors
    /// Nothing was written, so the caller must keep the text.
    pub async fn submit_follow_up_discarding_undelivered(
        &self,
        job: JobKey,
        text: &str,
    ) -> Result<(PromptId, Job, Vec<Prompt>), Failure> {
        reject_blank(text)?;
        let add_result = self
            .inner
            .store
            .add_follow_up_discarding_undelivered(job, text, self.reserving_instance(), local_now())
            .await;
        let (prompt, row, discarded) = add_result.map_err(store_failure)?;
        for prompt in &discarded {
            lock(&self.inner.submitted_prompts).remove(&prompt.id);
            self.inner
                .emit_delivery(prompt.id, Delivery::Discarded { from: Some(prompt.delivery.kind()) }, row.clone())
                .await;
        }
        let (prompt, row) = self.schedule_send((prompt, row)).await;
        Ok((prompt, row, discarded))
    }

    /// Queues new jobs on disk in the order of `prompts`. The instance with the dispatch lease sends them as
    /// fast as the hourly limit allows, now or after a restart; events show the progress.
    ///
    /// # Errors
    /// Nothing was written: the batch is empty, a prompt is blank, or the store can't write.
    pub async fn submit_batch(&self, prompts: &[String]) -> Result<Vec<Job>, Failure> {
        if prompts.is_empty() {
            return Err(Failure::local("Nothing was queued: the batch contains no prompt."));
        }
        for prompt in prompts {
            reject_blank(prompt)?;
        }
        let rows = self.inner.store.add_batch(&self.inner.scope, prompts, local_now()).await.map_err(store_failure)?;
        self.inner.dispatch_wake.notify_one();
        Ok(rows)
    }

    /// Changes the queued prompts of these jobs (see [`crate::store::Store::change_queue`]). The dispatcher sends
    /// resumed prompts at once. Returns every job that changed.
    ///
    /// # Errors
    /// Nothing was written: one of the jobs is unknown, or the store can't write.
    pub async fn change_queue(&self, jobs: &[JobKey], change: QueueChange) -> Result<Vec<Job>, Failure> {
        let rows = self.inner.store.change_queue(jobs, change, local_now()).await.map_err(store_failure)?;
        self.inner.dispatch_wake.notify_one();
        self.emit_thread_changes(&rows).await;
        Ok(rows)
    }

    /// Discards all queued prompts of these jobs. Prompts that are being sent are not affected.
    ///
    /// # Errors
    /// Nothing was written: one of the jobs is unknown, or the store can't write.
    pub async fn remove_from_queue(&self, jobs: &[JobKey]) -> Result<DiscardedPrompts, Failure> {
        let removed = self.inner.store.remove_from_queue(jobs, local_now()).await.map_err(store_failure)?;
        self.wake_and_emit_after_discard(&removed).await;
        Ok(removed)
    }

    /// Discards a prompt that was not delivered. Later prompts of the job may then be sent.
    ///
    /// # Errors
    /// Nothing was written: the prompt is being sent or was accepted, or the store can't write.
    pub async fn discard(&self, prompt: PromptId) -> Result<DiscardedPrompts, Failure> {
        let discarded = self.inner.store.discard_prompt(prompt, local_now()).await.map_err(store_failure)?;
        self.wake_and_emit_after_discard(&discarded).await;
        Ok(discarded)
    }

    async fn wake_and_emit_after_discard(&self, discarded: &DiscardedPrompts) {
        lock(&self.inner.submitted_prompts).retain(|prompt, _| !discarded.prompts.contains(prompt));
        // Later prompts of the same jobs may be sent now.
        self.inner.dispatch_wake.notify_one();
        self.emit_thread_changes(&discarded.jobs).await;
    }

    /// Restores all these discarded prompts to their previous states, or none of them. A prompt that was queued is
    /// queued again.
    ///
    /// # Errors
    /// Nothing was written: the service had accepted one of the prompts after all, or a later prompt of the
    /// same job was sent.
    pub async fn restore_discarded(&self, prompts: &[PromptId]) -> Result<Vec<Job>, Failure> {
        let rows = self.inner.store.restore_prompts(prompts).await.map_err(store_failure)?;
        // A restored prompt may now be in the queue again.
        self.inner.dispatch_wake.notify_one();
        self.emit_thread_changes(&rows).await;
        Ok(rows)
    }

    async fn emit_thread_changes(&self, rows: &[Job]) {
        for row in rows {
            self.inner.emit(EngineEvent::Thread(row.key)).await;
        }
    }

    /// Pauses a queued prompt until the user resumes it. Returns `None` if the prompt is no longer queued;
    /// an event shows what happened to it.
    ///
    /// # Errors
    /// The store can't write, so the prompt is still queued and will be sent.
    pub async fn pause(&self, prompt: PromptId) -> Result<Option<Job>, Failure> {
        let row = self.inner.store.pause_prompt(prompt, local_now()).await.map_err(store_failure)?;
        if let Some(row) = &row {
            lock(&self.inner.submitted_prompts).remove(&prompt);
            self.inner.emit_delivery(prompt, Delivery::Paused, row.clone()).await;
        }
        Ok(row)
    }

    /// Applies the user's decision about an undelivered prompt (an `Unconfirmed` prompt, for example). Linking
    /// the prompt to an existing job costs one GET.
    ///
    /// # Errors
    /// Nothing changed: the store can't write, the prompt's state does not allow this decision, or the job
    /// to link can't be fetched.
    pub async fn resolve(&self, prompt: PromptId, resolution: PromptResolution) -> Result<Job, Failure> {
        match resolution {
            PromptResolution::SendAgain => self.requeue(prompt, None).await,
            PromptResolution::SendEdited(text) => {
                reject_blank(&text)?;
                self.requeue(prompt, Some(&text)).await
            }
            PromptResolution::Link(id) => {
                let job = self.inner.fetch_by_id(&id).await?;
                let row = self.inner.store.link_job(prompt, job, local_now()).await.map_err(store_failure)?;
                self.emit_resolved(prompt, Delivery::Accepted, &row).await;
                self.inner.emit_merged_jobs(row.key).await;
                Ok(row)
            }
        }
    }

    async fn requeue(&self, prompt: PromptId, edited_text: Option<&str>) -> Result<Job, Failure> {
        let row = self.inner.store.requeue(prompt, edited_text, local_now()).await.map_err(store_failure)?;
        Ok(self.schedule_send((prompt, row)).await.1)
    }

    /// Makes this instance send a prompt that is on disk, unless another instance starts to send it first.
    async fn schedule_send(&self, (prompt, row): (PromptId, Job)) -> (PromptId, Job) {
        lock(&self.inner.submitted_prompts).insert(prompt, row.key);
        // Wake the dispatcher before emitting the event: emitting may have to wait for space in the channel, and if the
        // caller stops waiting then, the prompt must still be sent.
        self.inner.dispatch_wake.notify_one();
        self.inner.emit_delivery(prompt, Delivery::Queued { until: None }, row.clone()).await;
        (prompt, row)
    }

    async fn emit_resolved(&self, prompt: PromptId, delivery: Delivery, row: &Job) {
        self.inner
            .send_to_poller(PollerMessage::JobsChanged { rows: vec![row.clone()], maybe_changed_by_others: false });
        // Later prompts of the job may be sent now.
        self.inner.dispatch_wake.notify_one();
        self.inner.emit_delivery(prompt, delivery, row.clone()).await;
    }

    /// Whether this prompt is sent only after the user has resumed it. False for a prompt that a running command has
    /// reserved for itself, but true once that command has died.
    ///
    /// # Errors
    /// The store can't be read.
    pub async fn is_paused(&self, prompt: PromptId) -> Result<bool, Failure> {
        Ok(match self.inner.store.paused_by(prompt).await.map_err(store_failure)? {
            PausedBy::None => false,
            PausedBy::User => true,
            PausedBy::Instance(name) => self.inner.instance.is_dead(&name),
        })
    }
}

fn store_failure(error: StoreError) -> Failure {
    error.failure()
}

fn reject_blank(text: &str) -> Result<(), Failure> {
    if text.trim().is_empty() {
        let sentence = "Not sent: the prompt is blank. Write what the agent should do.";
        return Err(Failure::local(sentence));
    }
    Ok(())
}
