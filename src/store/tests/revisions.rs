//! Tests that every call that changes a thread also changes the revision of its job: cached threads are compared by
//! this revision.

use super::*;
use crate::model::change::QueueChange;
use std::collections::HashMap;

/// A store, and its threads and revisions when they were last read.
struct WatchedStore {
    store: Store,
    last_read: HashMap<JobKey, (i64, Thread)>,
}

impl WatchedStore {
    async fn new(store: Store) -> Self {
        let mut watched = Self { store, last_read: HashMap::new() };
        watched.update().await;
        watched
    }

    /// Reads all threads again, and returns how many of them changed since they were last read.
    async fn update(&mut self) -> usize {
        let mut now = HashMap::new();
        for row in self.store.jobs(&scope()).await.expect("rows") {
            now.insert(row.key, (row.revision, self.store.thread_of(row.key).await));
        }
        let before = std::mem::replace(&mut self.last_read, now);
        let mut changed = 0;
        for (job, (revision, thread)) in &self.last_read {
            let Some((old_revision, old)) = before.get(job) else { continue };
            assert!(thread == old || revision > old_revision, "the thread changed without a new revision: {thread:?}");
            changed += usize::from(thread != old);
        }
        changed
    }

    /// Asserts that exactly one thread changed since the threads were last read.
    async fn assert_one_changed(&mut self, what: &str) {
        assert_eq!(self.update().await, 1, "{what}");
    }

    async fn permit(&mut self, prompt: PromptId, seconds: i64) {
        assert!(matches!(self.store.permit(prompt, at(seconds)).await, SendPermit::Granted { .. }));
        self.assert_one_changed("a permit").await;
    }

    async fn send(&mut self, prompt: PromptId, outcome: Delivery, seconds: i64) {
        self.permit(prompt, seconds).await;
        let what = format!("{outcome:?}");
        self.store.finish(prompt, outcome, at(seconds + 1)).await;
        self.assert_one_changed(&what).await;
    }
}

#[tokio::test]
async fn sending_and_resolving_change_the_revision() {
    let store = memory_store();
    let job = store.add_accepted_job("j1", Status::Completed, at(0)).await.key;
    let mut watched = WatchedStore::new(store.clone()).await;
    let prompt = store.follow_up(job, "more", at(10)).await;
    watched.assert_one_changed("a follow-up").await;
    watched.permit(prompt, 20).await;
    store.finish_with_429(prompt, at(30), at(0), at(21)).await;
    watched.assert_one_changed("a 429").await;
    watched.send(prompt, Delivery::NotSent(line("no network")), 4000).await;
    store.requeue(prompt, Some("more of it"), at(4010)).await.expect("queued");
    watched.assert_one_changed("an edited prompt").await;
    watched.send(prompt, Delivery::Rejected(line("too long")), 4020).await;
    store.requeue(prompt, None, at(4030)).await.expect("queued");
    watched.assert_one_changed("a prompt sent again").await;
    watched.send(prompt, Delivery::Unconfirmed(line("?")), 4040).await;
    store.discard_prompt(prompt, at(4050)).await.expect("discarded");
    watched.assert_one_changed("a discarded prompt").await;
    let prompt = store.follow_up(job, "and more", at(4060)).await;
    watched.update().await;
    watched.permit(prompt, 4070).await;
    store.accept(prompt, response_with_pr("j1", Status::Active, 7), at(4071)).await;
    watched.assert_one_changed("an accepted prompt").await;
    let prompt = store.follow_up(job, "the last", at(4080)).await;
    assert!(matches!(store.permit(prompt, at(4090)).await, SendPermit::Granted { .. }));
    watched.update().await;
    store.abandon_sends(&scope(), "instance-1", at(4100)).await.expect("done");
    watched.assert_one_changed("a send of a dead instance").await;
}

#[tokio::test]
async fn changes_of_the_queue_change_the_revision() {
    let store = memory_store();
    let (prompt, row) = store.new_job("Fix it", at(0)).await;
    let mut watched = WatchedStore::new(store.clone()).await;
    store.pause_prompt(prompt, at(1)).await.expect("paused");
    watched.assert_one_changed("a pause").await;
    for change in [QueueChange::Resume, QueueChange::Pause] {
        store.change_queue(&[row.key], change, at(1)).await.expect("changed");
        watched.assert_one_changed(&format!("{change:?}")).await;
    }
    let removed = store.remove_from_queue(&[row.key], at(1)).await.expect("removed");
    watched.assert_one_changed("a removal").await;
    store.restore_prompts(&removed.prompts).await.expect("restored");
    watched.assert_one_changed("a restored prompt").await;
}

#[tokio::test]
async fn responses_and_imports_change_the_revision() {
    let store = memory_store();
    let job = store.add_accepted_job("j1", Status::Active, at(0)).await;
    let (prompt, _) = store.new_job("Another one", at(1)).await;
    store.permit(prompt, at(2)).await;
    store.finish(prompt, Delivery::Unconfirmed(line("?")), at(3)).await;
    let tracked = store.track(&scope(), response("j2", Status::Active), at(4)).await.expect("tracked");
    store.follow_up(tracked.key, "more", at(5)).await;
    let mut watched = WatchedStore::new(store.clone()).await;
    store.apply_job(job.key, response_with_pr("j1", Status::Completed, 7), at(10)).await;
    watched.assert_one_changed("an answer").await;
    store.apply_job_response(&job, JobResponse::NotFound, at(11)).await.expect("applied");
    watched.assert_one_changed("a job that is gone").await;
    store.track(&scope(), response("j1", Status::Active), at(12)).await.expect("tracked");
    watched.assert_one_changed("a job that is back").await;
    store.link_job(prompt, response("j2", Status::Active), at(13)).await.expect("linked");
    watched.assert_one_changed("two merged rows").await;
    let other = memory_store();
    backup::import(&other, &backup::export(&store).await).await;
    let copy = other.job_by_id(&scope(), &job_id("j1")).await.expect("read").expect("there").key;
    other.follow_up(copy, "from elsewhere", at(14)).await;
    backup::import(&store, &backup::export(&other).await).await;
    watched.assert_one_changed("imported prompts").await;
}
