use super::*;
use crate::model::change::{DiscardedPrompts, QueueChange};
use crate::model::job::JobGroup;
use crate::model::prompt::{Delivery, DeliveryKind, DraftTarget, PromptKind};
use std::time::{Duration, Instant};

async fn add_batch(store: &Store, texts: &[&str]) -> Vec<JobKey> {
    let texts: Vec<String> = texts.iter().map(|text| (*text).to_owned()).collect();
    let rows = store.add_batch(&scope(), &texts, at(0)).await.expect("queued");
    rows.into_iter().map(|row| row.key).collect()
}

/// Returns the first lines of the prompts that may be sent, in the order of the queue.
async fn first_lines(store: &Store) -> Vec<String> {
    let mut titles = Vec::new();
    for queued in store.sendable_prompts(&scope()).await.expect("list") {
        titles.push(store.job(queued.job).await.expect("read").expect("there").local.title.to_string());
    }
    titles
}

async fn change_queue(store: &Store, jobs: &[JobKey], change: QueueChange) -> Vec<Job> {
    store.change_queue(jobs, change, at(1)).await.expect("changed")
}

#[tokio::test]
async fn a_batch_is_queued_in_order_behind_earlier_prompts_but_a_batch_with_a_blank_prompt_is_refused() {
    let folder = tempdir().expect("a folder");
    let store = open(folder.path());
    store.new_job("before", at(0)).await;
    let keys = add_batch(&store, &["a\nmore", "b", "c"]).await;
    let blank = ["d".to_owned(), " \n".to_owned()];
    assert!(matches!(store.add_batch(&scope(), &blank, at(1)).await, Err(StoreError::BlankPrompt)));
    let next = open(folder.path());
    assert_eq!(first_lines(&next).await, ["before", "a", "b", "c"]);
    assert_eq!(next.jobs(&scope()).await.expect("rows").len(), 4);
    let waiting = next.sendable_prompts(&scope()).await.expect("list")[1];
    assert_eq!((waiting.job, waiting.kind, waiting.not_before), (keys[0], PromptKind::Create, None));
    assert_eq!(next.thread_of(keys[0]).await.prompts[0].text, "a\nmore");
}

#[tokio::test]
async fn a_thousand_prompts_are_queued_in_one_transaction() {
    let folder = tempdir().expect("a folder");
    let store = open(folder.path());
    let texts: Vec<String> = (0..1000).map(|n| format!("Prompt {n}")).collect();
    let start = Instant::now();
    let rows = store.add_batch(&scope(), &texts, at(0)).await.expect("queued");
    // All prompts are stored in one transaction, which takes a fraction of a second; one transaction per prompt would
    // take longer than the limit.
    assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    assert_eq!((rows.len(), rows[999].local.title.as_str()), (1000, "Prompt 999"));
    assert!(rows.windows(2).all(|pair| pair[0].local.queue_position < pair[1].local.queue_position));
}

#[tokio::test]
async fn a_paused_prompt_is_not_sent_until_it_is_resumed() {
    let store = memory_store();
    let keys = add_batch(&store, &["a", "b", "c"]).await;
    let prompt = store.thread_of(keys[1]).await.prompts[0].id;
    let rows = change_queue(&store, &[keys[1]], QueueChange::Pause).await;
    assert_eq!((rows.len(), rows[0].local.undelivered), (1, Some(DeliveryKind::Paused)));
    assert_eq!(first_lines(&store).await, ["a", "c"]);
    assert_eq!(store.permit(prompt, at(2)).await, SendPermit::Blocked);
    assert_eq!(store.thread_of(keys[1]).await.prompts[0].delivery, Delivery::Paused);
    assert_eq!(change_queue(&store, &[keys[1]], QueueChange::Pause).await, [], "nothing changes twice");
    let rows = change_queue(&store, &keys, QueueChange::Resume).await;
    assert_eq!((rows.len(), rows[0].local.undelivered), (1, Some(DeliveryKind::Queued)));
    assert_eq!(first_lines(&store).await, ["a", "b", "c"]);
    assert!(matches!(store.permit(prompt, at(3)).await, SendPermit::Granted { .. }));
    assert_eq!(change_queue(&store, &[keys[1]], QueueChange::Pause).await, [], "it is being sent");
    assert_eq!(store.thread_of(keys[1]).await.prompts[0].delivery, Delivery::Sending);
}

#[tokio::test]
async fn a_paused_follow_up_blocks_later_follow_ups_of_its_job() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    store.follow_up(row.key, "first", at(1)).await;
    change_queue(&store, &[row.key], QueueChange::Pause).await;
    let second = store.follow_up(row.key, "second", at(2)).await;
    assert_eq!(store.sendable_prompts_with_wait().await, []);
    assert_eq!(store.permit(second, at(3)).await, SendPermit::Blocked);
    let row = store.job(row.key).await.expect("read").expect("there");
    assert_eq!(row.local.undelivered, Some(DeliveryKind::Queued), "queued is more urgent than paused");
}

#[tokio::test]
async fn requeueing_a_paused_prompt_resumes_it() {
    let store = memory_store();
    let keys = add_batch(&store, &["a"]).await;
    change_queue(&store, &keys, QueueChange::Pause).await;
    let prompt = store.thread_of(keys[0]).await.prompts[0].id;
    let row = store.requeue(prompt, Some("a, edited"), at(2)).await.expect("queued");
    assert_eq!((row.local.undelivered, row.local.title.as_str()), (Some(DeliveryKind::Queued), "a, edited"));
    assert!(matches!(store.permit(prompt, at(3)).await, SendPermit::Granted { .. }));
}

#[tokio::test]
async fn moving_several_new_jobs_keeps_their_order() {
    let store = memory_store();
    let keys = add_batch(&store, &["a", "b", "c", "d", "e"]).await;
    let rows = change_queue(&store, &[keys[2]], QueueChange::Up).await;
    assert_eq!(first_lines(&store).await, ["a", "c", "b", "d", "e"]);
    let mut moved: Vec<(JobKey, Option<i64>)> = rows.iter().map(|row| (row.key, row.local.queue_position)).collect();
    moved.sort_unstable();
    assert!(
        matches!(moved[..], [(b, Some(behind)), (c, Some(before))] if b == keys[1] && c == keys[2] && before < behind)
    );
    change_queue(&store, &[keys[1], keys[3]], QueueChange::Up).await;
    assert_eq!(first_lines(&store).await, ["a", "b", "d", "c", "e"]);
    for _ in 0..3 {
        change_queue(&store, &[keys[1], keys[3]], QueueChange::Up).await;
    }
    assert_eq!(first_lines(&store).await, ["b", "d", "a", "c", "e"]);
    for _ in 0..9 {
        change_queue(&store, &[keys[1], keys[3]], QueueChange::Down).await;
    }
    assert_eq!(first_lines(&store).await, ["a", "c", "e", "b", "d"]);
    assert_eq!(change_queue(&store, &[keys[3]], QueueChange::Down).await, [], "the last one stays the last");
    add_batch(&store, &["f"]).await;
    assert_eq!(first_lines(&store).await, ["a", "c", "e", "b", "d", "f"], "a new one is last");
}

#[tokio::test]
async fn a_prompt_that_waits_for_the_limit_keeps_its_position() {
    let store = memory_store();
    let keys = add_batch(&store, &["a", "b"]).await;
    change_queue(&store, &[keys[1]], QueueChange::Up).await;
    let prompt = store.thread_of(keys[1]).await.prompts[0].id;
    store.permit(prompt, at(1)).await;
    store.finish_with_429(prompt, at(60), at(0), at(2)).await;
    assert_eq!(first_lines(&store).await, ["b", "a"]);
}

#[tokio::test]
async fn a_removed_prompt_is_never_sent_and_stays_stored_as_discarded() {
    let store = memory_store();
    let keys = add_batch(&store, &["a", "b"]).await;
    change_queue(&store, &[keys[0]], QueueChange::Pause).await;
    let removed = store.remove_from_queue(&[keys[0]], at(1)).await.expect("removed");
    let row = &removed.jobs[0];
    assert_eq!(
        (row.local.dismissed, row.local.undelivered, row.local.queue_position),
        (false, Some(DeliveryKind::Discarded), None)
    );
    let prompt = &store.thread_of(keys[0]).await.prompts[0];
    let from = Some(DeliveryKind::Paused);
    assert_eq!((prompt.delivery.clone(), prompt.text.as_str()), (Delivery::Discarded { from }, "a"));
    assert_eq!(store.permit(prompt.id, at(2)).await, SendPermit::NotQueued);
    assert_eq!(first_lines(&store).await, ["b"]);

    let kept = store.add_accepted_job("j1", Status::Active, at(3)).await;
    store.follow_up(kept.key, "one", at(4)).await;
    store.follow_up(kept.key, "two", at(5)).await;
    let removed = store.remove_from_queue(&[kept.key], at(6)).await.expect("removed");
    assert_eq!((removed.prompts.len(), removed.jobs[0].local.undelivered), (2, None));
}

#[tokio::test]
async fn a_removed_prompt_is_restored_at_its_position_with_its_wait() {
    let store = memory_store();
    let keys = add_batch(&store, &["a", "b", "c"]).await;
    change_queue(&store, &[keys[2]], QueueChange::Up).await;
    change_queue(&store, &[keys[0]], QueueChange::Pause).await;
    let limited = store.thread_of(keys[1]).await.prompts[0].id;
    store.permit(limited, at(2)).await;
    store.finish_with_429(limited, at(900), at(3), at(3)).await;
    let before: Vec<_> = store
        .jobs(&scope())
        .await
        .expect("rows")
        .into_iter()
        .map(|row| (row.local.queue_position, row.group()))
        .collect();
    let prompts = store.thread_of(keys[1]).await.prompts;
    let removed = store.remove_from_queue(&keys, at(4)).await.expect("removed");
    assert_eq!(removed.prompts.len(), 3);
    assert!(removed.jobs.iter().all(|row| row.group() == JobGroup::Done && row.local.undelivered_at == Some(at(4))));
    store.restore_prompts(&removed.prompts).await.expect("restored");
    let after: Vec<_> = store
        .jobs(&scope())
        .await
        .expect("rows")
        .into_iter()
        .map(|row| (row.local.queue_position, row.group()))
        .collect();
    assert_eq!(before, after);
    assert_eq!(store.thread_of(keys[1]).await.prompts, prompts, "with its wait and its times");
    assert_eq!(store.thread_of(keys[0]).await.prompts[0].delivery, Delivery::Paused);
    assert!(matches!(store.restore_prompts(&removed.prompts).await, Err(StoreError::StateChanged)), "only once");
}

#[tokio::test]
async fn a_removed_follow_up_is_not_restored_if_a_later_follow_up_was_sent() {
    let store = memory_store();
    let job = store.add_accepted_job("j1", Status::Active, at(0)).await;
    let first = store.follow_up(job.key, "first", at(1)).await;
    let removed = store.remove_from_queue(&[job.key], at(2)).await.expect("removed");
    let second = store.follow_up(job.key, "second", at(3)).await;
    store.permit(second, at(4)).await;
    assert!(matches!(store.restore_prompts(&removed.prompts).await, Err(StoreError::StateChanged)));
    assert_eq!(store.permit(first, at(5)).await, SendPermit::NotQueued, "it is still discarded");
}

#[tokio::test]
async fn a_prompt_that_is_being_sent_is_not_removed() {
    let store = memory_store();
    let (prompt, row) = store.new_job("Fix it", at(0)).await;
    store.permit(prompt, at(1)).await;
    assert_eq!(store.remove_from_queue(&[row.key], at(2)).await.expect("nothing"), DiscardedPrompts::default());
}

#[tokio::test]
async fn changing_the_queue_skips_jobs_without_a_queued_prompt_and_fails_for_unknown_jobs() {
    let store = memory_store();
    let keys = add_batch(&store, &["a"]).await;
    let done = store.add_accepted_job("j1", Status::Completed, at(0)).await;
    for change in [QueueChange::Pause, QueueChange::Resume, QueueChange::Up, QueueChange::Down] {
        assert_eq!(change_queue(&store, &[done.key], change).await, []);
        assert_eq!(change_queue(&store, &[], change).await, []);
    }
    let refused = store.change_queue(&[keys[0], JobKey(99)], QueueChange::Pause, at(1)).await;
    assert!(matches!(refused, Err(StoreError::NoSuchJob)));
    assert_eq!(first_lines(&store).await, ["a"]);
}

#[tokio::test]
async fn a_store_of_the_first_schema_keeps_its_queue_and_its_drafts() {
    let folder = tempdir().expect("a folder");
    {
        let db = Connection::open(folder.path().join("docdeck.db")).expect("a file");
        db.execute_batch(include_str!("../../../assets/schema/0001_begin.sql")).expect("the first schema");
        db.execute_batch(
            "PRAGMA user_version = 1;
             INSERT INTO scope VALUES (1, 'http://127.0.0.1:1', 'acme-docs');
             INSERT INTO job (key, scope, title, created_at, started_at, changed_at, undelivered, revision)
                 VALUES (1, 1, 'one', 0, 0, 0, 'queued', 1), (2, 1, 'two', 0, 0, 0, 'queued', 2), (3, 1, 'three', 0, 0, 0, NULL, 3);
             INSERT INTO prompt (id, job, kind, text, state, written_at)
                 VALUES (5, 2, 'create', 'two', 'queued', 0), (6, 1, 'create', 'one', 'queued', 0);
             INSERT INTO draft (scope, job, text, saved_at) VALUES (1, NULL, 'typed', 0), (1, 3, 'more', 1);",
        )
        .expect("filled");
    }
    let store = open(folder.path());
    assert_eq!(first_lines(&store).await, ["two", "one"]);
    let rows = store.jobs(&scope()).await.expect("rows");
    assert_eq!(rows.iter().map(|row| row.local.queue_position).collect::<Vec<_>>(), [Some(6), Some(5), None]);
    assert!(
        rows.iter().all(|row| !row.local.has_custom_title && row.local.tags.is_empty() && row.local.note.is_none())
    );
    store.save_draft(&scope(), DraftTarget::Batch, "many", at(0)).await.expect("stored");
    let drafts = store.drafts(&scope()).await.expect("drafts").into_iter().map(|draft| (draft.slot, draft.text));
    let expected =
        [(DraftTarget::NewJob, "typed"), (DraftTarget::FollowUp(JobKey(3)), "more"), (DraftTarget::Batch, "many")];
    assert_eq!(drafts.collect::<Vec<_>>(), expected.map(|(slot, text)| (slot, text.to_owned())));
}

#[tokio::test]
async fn a_single_prompt_can_be_paused_only_while_it_is_queued() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    let (first, second) =
        (store.follow_up(row.key, "First", at(1)).await, store.follow_up(row.key, "Second", at(2)).await);
    let paused = store.pause_prompt(second, at(1)).await.expect("written").expect("was queued");
    assert!(paused.revision > row.revision);
    let states: Vec<DeliveryKind> = store.thread_of(row.key).await.prompts.iter().map(|p| p.delivery.kind()).collect();
    assert_eq!(states, [DeliveryKind::Accepted, DeliveryKind::Queued, DeliveryKind::Paused]);
    assert!(matches!(store.permit(first, at(3)).await, SendPermit::Granted { .. }));
    assert_eq!(store.pause_prompt(first, at(1)).await.expect("read"), None, "it is being sent");
}

#[tokio::test]
async fn recent_prompts_are_those_that_are_queued_or_were_sent_recently() {
    let store = memory_store();
    store.add_accepted_job("old", Status::Active, at(0)).await;
    store.add_accepted_job("new", Status::Active, at(100)).await;
    let (lost, _) = store.new_job("Lost", at(0)).await;
    store.permit(lost, at(100)).await;
    store.finish(lost, Delivery::Unconfirmed(line("?")), at(101)).await;
    let (refused, _) = store.new_job("Refused", at(100)).await;
    store.permit(refused, at(100)).await;
    store.finish(refused, Delivery::Rejected(line("no")), at(101)).await;
    let (waits, _) = store.new_job("Waits", at(0)).await;
    store.pause_prompt(waits, at(1)).await.expect("paused");
    let known = store.recent_prompts(&scope(), at(50)).await.expect("read");
    let recent: Vec<(&str, DeliveryKind)> = known.iter().map(|known| (known.text.as_str(), known.state)).collect();
    assert_eq!(
        recent,
        [
            ("Prompt of new", DeliveryKind::Accepted),
            ("Lost", DeliveryKind::Unconfirmed),
            ("Waits", DeliveryKind::Paused)
        ]
    );
}
