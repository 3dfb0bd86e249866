//! Handing prompts over: on disk first, then to the dispatcher; and what the user decides about those that docdeck will
//! not send by itself (design.md: submitting).

use super::clock::local_now;
use super::poll::PollerCommand;
use super::state::{EngineState, lock};
use crate::model::change::{Discarded, QueueChange};
use crate::model::engine_event::EngineEvent;
use crate::model::failure::{Failure, FailureKind};
use crate::model::prompt::{Delivery, Prompt, PromptId, Resolution};
use crate::model::row::{Job, JobKey};
use crate::model::text::CleanText;
use crate::store::StoreError;

impl EngineState {
    pub(super) async fn submit_new_job(&self, text: &str) -> Result<(PromptId, Job), Failure> {
        refuse_blank(text)?;
        let added = match self.reserving {
            true => self.store.reserve_new_job(&self.scope, text, self.instance.name(), local_now()).await,
            false => self.store.add_new_job(&self.scope, text, local_now()).await,
        };
        Ok(self.hand_over(added.map_err(unwritten)?).await)
    }

    pub(super) async fn submit_job_about(&self, text: &str, pages: &[CleanText]) -> Result<(PromptId, Job), Failure> {
        refuse_blank(text)?;
        let added = self.store.add_job_about(&self.scope, text, pages, local_now()).await.map_err(unwritten)?;
        Ok(self.hand_over(added).await)
    }

    pub(super) async fn submit_follow_up(&self, job: JobKey, text: &str) -> Result<(PromptId, Job), Failure> {
        refuse_blank(text)?;
        let added = match self.reserving {
            true => self.store.reserve_follow_up(job, text, self.instance.name(), local_now()).await,
            false => self.store.add_follow_up(job, text, local_now()).await,
        };
        Ok(self.hand_over(added.map_err(unwritten)?).await)
    }

    pub(super) async fn supersede_follow_ups(
        &self,
        job: JobKey,
        text: &str,
    ) -> Result<(PromptId, Job, Vec<Prompt>), Failure> {
        refuse_blank(text)?;
        let only = self.reserving.then(|| self.instance.name());
        let superseded = self.store.supersede_follow_ups(job, text, only, local_now()).await.map_err(unwritten)?;
        let (prompt, row, discarded) = superseded;
        for one in &discarded {
            lock(&self.own).remove(&one.id);
            self.emit_step(one.id, Delivery::Discarded { from: Some(one.delivery.kind()) }, row.clone()).await;
        }
        let (prompt, row) = self.hand_over((prompt, row)).await;
        Ok((prompt, row, discarded))
    }

    /// Not handed over as its own: whoever holds the lease sends them, in the order of the line.
    pub(super) async fn submit_batch(&self, prompts: &[String]) -> Result<Vec<Job>, Failure> {
        if prompts.is_empty() {
            return Err(Failure::new(FailureKind::Local, "There is no prompt in this batch, so nothing was queued."));
        }
        for prompt in prompts {
            refuse_blank(prompt)?;
        }
        let rows = self.store.add_batch(&self.scope, prompts, local_now()).await.map_err(unwritten)?;
        self.dispatch_wake.notify_one();
        Ok(rows)
    }

    pub(super) async fn change_queue(&self, jobs: &[JobKey], change: QueueChange) -> Result<Vec<Job>, Failure> {
        let rows = self.store.change_queue(jobs, change, local_now()).await.map_err(unwritten)?;
        self.dispatch_wake.notify_one();
        self.tell_threads(&rows).await;
        Ok(rows)
    }

    pub(super) async fn remove_from_queue(&self, jobs: &[JobKey]) -> Result<Discarded, Failure> {
        let removed = self.store.remove_from_queue(jobs, local_now()).await.map_err(unwritten)?;
        self.after_discarding(&removed).await;
        Ok(removed)
    }

    pub(super) async fn discard(&self, prompt: PromptId) -> Result<Discarded, Failure> {
        let discarded = self.store.discard_prompt(prompt, local_now()).await.map_err(unwritten)?;
        self.after_discarding(&discarded).await;
        Ok(discarded)
    }

    async fn after_discarding(&self, discarded: &Discarded) {
        lock(&self.own).retain(|prompt, _| !discarded.prompts.contains(prompt));
        // Those behind them may go now.
        self.dispatch_wake.notify_one();
        self.tell_threads(&discarded.rows).await;
    }

    pub(super) async fn restore(&self, prompts: &[PromptId]) -> Result<Vec<Job>, Failure> {
        let rows = self.store.restore_prompts(prompts).await.map_err(unwritten)?;
        // One that is queued again is sent by the instance that sends what is queued.
        self.dispatch_wake.notify_one();
        self.tell_threads(&rows).await;
        Ok(rows)
    }

    async fn tell_threads(&self, rows: &[Job]) {
        for row in rows {
            self.emit(EngineEvent::Thread(row.key)).await;
        }
    }

    pub(super) async fn pause(&self, prompt: PromptId) -> Result<Option<Job>, Failure> {
        let row = self.store.pause_prompt(prompt, local_now()).await.map_err(unwritten)?;
        if let Some(row) = &row {
            lock(&self.own).remove(&prompt);
            self.emit_step(prompt, Delivery::Paused, row.clone()).await;
        }
        Ok(row)
    }

    pub(super) async fn resolve(&self, prompt: PromptId, resolution: Resolution) -> Result<Job, Failure> {
        match resolution {
            Resolution::SendAgain => self.requeue(prompt, None).await,
            Resolution::SendEdited(text) => {
                refuse_blank(&text)?;
                self.requeue(prompt, Some(&text)).await
            }
            Resolution::Link(id) => {
                let job = self.fetch(&id).await?;
                let row = self.store.link(prompt, job, local_now()).await.map_err(unwritten)?;
                self.emit_resolved(prompt, Delivery::Accepted, &row).await;
                self.emit_merged(row.key).await;
                Ok(row)
            }
        }
    }

    async fn requeue(&self, prompt: PromptId, edited: Option<&str>) -> Result<Job, Failure> {
        let row = self.store.requeue(prompt, edited, local_now()).await.map_err(unwritten)?;
        Ok(self.hand_over((prompt, row)).await.1)
    }

    /// The prompt is on disk: this instance sends it, unless another one is quicker.
    async fn hand_over(&self, (prompt, row): (PromptId, Job)) -> (PromptId, Job) {
        lock(&self.own).insert(prompt, row.key);
        // Before the news, which may have to wait for room: a caller that stops waiting leaves nothing unsent.
        self.dispatch_wake.notify_one();
        self.emit_step(prompt, Delivery::Queued { until: None }, row.clone()).await;
        (prompt, row)
    }

    async fn emit_resolved(&self, prompt: PromptId, delivery: Delivery, row: &Job) {
        self.order(PollerCommand::Rows { rows: vec![row.clone()], by_others: false });
        // Those behind it may go now.
        self.dispatch_wake.notify_one();
        self.emit_step(prompt, delivery, row.clone()).await;
    }
}

fn unwritten(error: StoreError) -> Failure {
    error.failure()
}

fn refuse_blank(text: &str) -> Result<(), Failure> {
    if text.trim().is_empty() {
        let sentence = "The prompt is blank, so nothing was sent: write what the agent should do.";
        return Err(Failure::new(FailureKind::Local, sentence));
    }
    Ok(())
}
