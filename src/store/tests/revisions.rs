//! Whoever keeps a thread tells by its job's row whether it still counts: no call changes a thread without giving the row
//! another revision.

use super::*;
use crate::model::change::QueueChange;
use crate::model::ledger::Wait;
use std::collections::HashMap;

/// The record, and all that was last known of it.
struct Watched {
    store: Store,
    known: HashMap<JobKey, (i64, Thread)>,
}

impl Watched {
    async fn new(store: Store) -> Self {
        let mut watched = Self { store, known: HashMap::new() };
        watched.look().await;
        watched
    }

    /// How many threads changed, each with its row.
    async fn look(&mut self) -> usize {
        let mut now = HashMap::new();
        for row in self.store.jobs(&scope()).await.expect("rows") {
            now.insert(row.key, (row.revision, self.store.told(row.key).await));
        }
        let before = std::mem::replace(&mut self.known, now);
        let mut changed = 0;
        for (job, (revision, thread)) in &self.known {
            let Some((old_revision, old)) = before.get(job) else { continue };
            assert!(thread == old || revision > old_revision, "the row stays as it was, and this is new: {thread:?}");
            changed += usize::from(thread != old);
        }
        changed
    }

    /// After a call that changes a thread.
    async fn changed(&mut self, what: &str) {
        assert_eq!(self.look().await, 1, "{what}");
    }

    async fn sent(&mut self, prompt: PromptId, how: SendOutcome, seconds: i64) {
        assert!(matches!(self.store.turn(prompt, at(seconds)).await, SendPermit::Go { .. }));
        self.changed("its turn").await;
        let what = format!("{how:?}");
        self.store.end(prompt, how, at(seconds + 1)).await;
        self.changed(&what).await;
    }
}

#[tokio::test]
async fn sending_and_deciding_give_the_row_another_revision() {
    let store = memory();
    let job = store.accepted("j1", Status::Completed, at(0)).await.key;
    let mut watched = Watched::new(store.clone()).await;
    let prompt = store.follow_up(job, "more", at(10)).await;
    watched.changed("a follow-up").await;
    watched
        .sent(prompt, SendOutcome::Limited { wait: Wait { until: at(30), is_estimate: false }, at: at(0) }, 20)
        .await;
    watched.sent(prompt, SendOutcome::NotSent(line("no network")), 4000).await;
    store.requeue(prompt, Some("more of it"), at(4010)).await.expect("queued");
    watched.changed("an edited prompt").await;
    watched.sent(prompt, SendOutcome::Rejected(line("too long")), 4020).await;
    store.requeue(prompt, None, at(4030)).await.expect("queued");
    watched.changed("a prompt that is sent again").await;
    watched.sent(prompt, SendOutcome::Unconfirmed(line("?")), 4040).await;
    store.discard_prompt(prompt, at(4050)).await.expect("discarded");
    watched.changed("a prompt that is let go").await;
    let prompt = store.follow_up(job, "and more", at(4060)).await;
    watched.look().await;
    watched.sent(prompt, SendOutcome::Accepted(with_pr("j1", Status::Active, 7)), 4070).await;
    let prompt = store.follow_up(job, "the last", at(4080)).await;
    assert!(matches!(store.turn(prompt, at(4090)).await, SendPermit::Go { .. }));
    watched.look().await;
    store.abandon(&scope(), "instance-1", at(4100)).await.expect("done");
    watched.changed("what a dead instance left").await;
}

#[tokio::test]
async fn a_change_of_the_line_gives_the_row_another_revision() {
    let store = memory();
    let (prompt, row) = store.new_job("Fix it", at(0)).await;
    let mut watched = Watched::new(store.clone()).await;
    store.pause_prompt(prompt, at(1)).await.expect("paused");
    watched.changed("a pause").await;
    for change in [QueueChange::Release, QueueChange::Pause] {
        store.change_queue(&[row.key], change, at(1)).await.expect("changed");
        watched.changed(&format!("{change:?}")).await;
    }
    let removed = store.remove_from_queue(&[row.key], at(1)).await.expect("removed");
    watched.changed("a removal").await;
    store.restore_prompts(&removed.prompts).await.expect("restored");
    watched.changed("a restored prompt").await;
}

#[tokio::test]
async fn what_the_service_and_other_computers_say_gives_the_row_another_revision() {
    let store = memory();
    let job = store.accepted("j1", Status::Active, at(0)).await.key;
    let (prompt, _) = store.new_job("Another one", at(1)).await;
    store.turn(prompt, at(2)).await;
    store.end(prompt, SendOutcome::Unconfirmed(line("?")), at(3)).await;
    let tracked = store.track(&scope(), answer("j2", Status::Active), at(4)).await.expect("tracked");
    store.follow_up(tracked.key, "more", at(5)).await;
    let mut watched = Watched::new(store.clone()).await;
    store.got(job, with_pr("j1", Status::Completed, 7), at(10)).await;
    watched.changed("an answer").await;
    store.apply_fetched(job, Fetched::NotFound, at(11)).await.expect("applied");
    watched.changed("a job that is gone").await;
    store.track(&scope(), answer("j1", Status::Active), at(12)).await.expect("tracked");
    watched.changed("a job that is back").await;
    store.link(prompt, answer("j2", Status::Active), at(13)).await.expect("linked");
    watched.changed("two rows that are one job").await;
    let other = memory();
    backup::import(&other, &backup::export(&store).await).await;
    let copy = other.job_by_id(&scope(), &job_id("j1")).await.expect("read").expect("there").key;
    other.follow_up(copy, "from elsewhere", at(14)).await;
    backup::import(&store, &backup::export(&other).await).await;
    watched.changed("what was taken in").await;
}
