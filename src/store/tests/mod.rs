//! Tests of the store through its public calls. Many of them use a store in memory, others a real file.

mod analytics;
mod backup;
mod cached_ranges;
mod drafts_and_ledgers;
mod job_counts;
mod jobs;
mod labels;
mod opening;
mod page_views;
mod pages;
mod prune_jobs;
mod pull_requests;
mod queue;
mod reports;
mod revisions;
mod salvage;
mod sending;
mod status_summary;

use super::{JobResponse, SendPermit, Store, StoreError};
use crate::model::Time;
use crate::model::change::LocalChange;
use crate::model::endpoint::Scope;
use crate::model::job::{Job, JobKey};
use crate::model::ledger::Wait;
use crate::model::prompt::{Delivery, PromptId, Thread};
use crate::model::remote_job::{JobId, RemoteJob, Status};
use crate::model::text::CleanText;
use rusqlite::Connection;

fn at(seconds: i64) -> Time {
    Time::from_timestamp(1_800_000_000 + seconds, 0).expect("in range")
}

fn scope() -> Scope {
    Scope { base_url: "http://127.0.0.1:1".to_owned(), project: "acme-docs".to_owned(), organization: None }
}

/// Creates a folder, in memory if the system allows it. The tests open hundreds of stores, whose commits would
/// otherwise wait for the disk.
fn tempdir() -> std::io::Result<tempfile::TempDir> {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())
}

fn memory_store() -> Store {
    Store::in_memory().expect("a store")
}

fn open(folder: &std::path::Path) -> Store {
    Store::open(folder, at(0)).expect("a store").0
}

fn line(text: &str) -> CleanText {
    CleanText::line(text)
}

fn job_id(id: &str) -> JobId {
    JobId::new(id).expect("an id")
}

/// Returns a response of the service that contains only an id and a status.
fn response(id: &str, status: Status) -> RemoteJob {
    RemoteJob::new(job_id(id), status)
}

fn response_with_pr(id: &str, status: Status, number: u32) -> RemoteJob {
    let mut job = response(id, status);
    job.state.pr_link = Some(line(&format!("https://github.com/acme/docs/pull/{number}")));
    job
}

impl Store {
    /// Runs `work` on the connection, to create or read states for which there is no call.
    async fn with_connection<T: Send + 'static>(&self, work: impl FnOnce(&mut Connection) -> T + Send + 'static) -> T {
        self.run_without_transaction(|db| Ok(work(db))).await.expect("no failure")
    }

    async fn new_job(&self, text: &str, now: Time) -> (PromptId, Job) {
        self.add_new_job(&scope(), text, now).await.expect("stored")
    }

    async fn follow_up(&self, job: JobKey, text: &str, now: Time) -> PromptId {
        self.add_follow_up(job, text, now).await.expect("stored").0
    }

    async fn permit(&self, prompt: PromptId, now: Time) -> SendPermit {
        self.request_permit(prompt, "instance-1", now, now).await.expect("an answer")
    }

    async fn accept(&self, prompt: PromptId, job: RemoteJob, now: Time) -> Job {
        self.record_accepted_send(prompt, job, now).await.expect("stored").job
    }

    async fn finish(&self, prompt: PromptId, delivery: Delivery, now: Time) -> Job {
        self.record_unaccepted_send(prompt, delivery, None, now).await.expect("stored").job
    }

    /// Stores a 429 that was received at `received_at` and demands to wait until `until`.
    async fn finish_with_429(&self, prompt: PromptId, until: Time, received_at: Time, now: Time) -> Job {
        let limit = Some((Wait { until, is_estimate: false }, received_at));
        self.record_unaccepted_send(prompt, Delivery::Queued { until: Some(until) }, limit, now)
            .await
            .expect("stored")
            .job
    }

    async fn add_accepted_job(&self, id: &str, status: Status, now: Time) -> Job {
        let (prompt, _) = self.new_job(&format!("Prompt of {id}"), now).await;
        assert!(matches!(self.permit(prompt, now).await, SendPermit::Granted { .. }));
        self.accept(prompt, response(id, status), now).await
    }

    async fn change_one_job(&self, job: JobKey, change: LocalChange, now: Time) -> Job {
        self.change_jobs(&[job], change, now).await.expect("changed").remove(0)
    }

    /// Returns the prompts that may be sent, each with the time until which it has to wait.
    async fn sendable_prompts_with_wait(&self) -> Vec<(PromptId, Option<Time>)> {
        let queued = self.sendable_prompts(&scope()).await.expect("list");
        queued.into_iter().map(|queued| (queued.prompt, queued.not_before)).collect()
    }

    async fn apply_job(&self, job: JobKey, response: RemoteJob, now: Time) -> super::JobMergeResult {
        let requested = self.job(job).await.expect("read").expect("a job");
        self.apply_job_response(&requested, JobResponse::Job(response), now).await.expect("applied")
    }

    async fn thread_of(&self, job: JobKey) -> Thread {
        self.thread(job).await.expect("a thread")
    }
}
