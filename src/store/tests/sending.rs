use super::*;
use crate::model::backup::PromptRecord;
use crate::model::change::QueueChange;
use crate::model::job::JobGroup;
use crate::model::ledger::Quota;
use crate::model::prompt::{Delivery, DeliveryKind, DraftTarget, PromptKind};
use crate::store::error::StoreResult;
use crate::store::prompts;
use crate::store::query::Query as _;
use chrono::TimeDelta;

async fn delivery(store: &Store, job: JobKey, prompt: PromptId) -> Delivery {
    let thread = store.thread_of(job).await;
    thread.prompts.into_iter().find(|found| found.id == prompt).expect("in the thread").delivery
}

async fn used_requests(store: &Store, quota: Quota, now: Time) -> u32 {
    store.budget(&scope(), quota, now).await.expect("a budget").used
}

#[tokio::test]
async fn a_new_job_is_queued_with_its_text_and_titled_by_its_first_line() {
    let store = memory_store();
    let text = format!("\n  Fix the links \r\n{}", "x".repeat(1 << 20));
    let (prompt, row) = store.new_job(&text, at(1)).await;
    assert_eq!((row.local.title.as_str(), row.local.undelivered), ("Fix the links", Some(DeliveryKind::Queued)));
    assert_eq!((row.id, row.remote.status, row.created_at), (None, None, at(1)));
    let thread = store.thread_of(row.key).await;
    assert_eq!((thread.prompts[0].id, &thread.prompts[0].text), (prompt, &text));
    assert_eq!(thread.prompts[0].delivery, Delivery::Queued { until: None });
}

#[tokio::test]
async fn a_prompt_without_visible_text_is_refused() {
    let store = memory_store();
    for text in ["", " \n\t ", "\u{200b}\u{feff}"] {
        assert!(matches!(store.add_new_job(&scope(), text, at(0)).await, Err(StoreError::BlankPrompt)), "{text:?}");
    }
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    assert!(matches!(store.add_follow_up(row.key, "  ", at(1)).await, Err(StoreError::BlankPrompt)));
    assert_eq!(store.thread_of(row.key).await.prompts.len(), 1);
}

#[tokio::test]
async fn the_sending_state_and_the_ledger_entry_are_on_disk_before_a_prompt_is_sent() {
    let folder = tempdir().expect("a folder");
    let store = open(folder.path());
    let (prompt, row) = store.new_job("Fix it", at(1)).await;
    let permit = store.permit(prompt, at(2)).await;
    assert_eq!(
        permit,
        SendPermit::Granted { kind: PromptKind::Create, text: "Fix it".to_owned(), job: row.key, id: None }
    );
    // Another store reads the file in the state that a process killed at this moment would leave.
    let next = open(folder.path());
    assert_eq!(delivery(&next, row.key, prompt).await, Delivery::Sending);
    assert_eq!(next.thread_of(row.key).await.prompts[0].sent_at, Some(at(2)));
    assert_eq!(used_requests(&next, Quota::Create, at(2)).await, 1);
    assert_eq!(next.sending_instances(&scope()).await.expect("names"), ["instance-1"]);
}

#[tokio::test]
async fn only_a_prompt_that_never_reached_the_service_is_refunded_and_only_once() {
    let store = memory_store();
    let (first, row) = store.new_job("First", at(1)).await;
    let (second, _) = store.new_job("Second", at(1)).await;
    store.permit(first, at(2)).await;
    store.permit(second, at(1800)).await;
    store.finish(first, Delivery::NotSent(line("no network")), at(1801)).await;
    let budget = store.budget(&scope(), Quota::Create, at(1801)).await.expect("a budget");
    assert_eq!((budget.used, budget.resets_at), (1, Some(at(1800 + 3600))), "the other use stays");
    // The same outcome is stored a second time.
    store.finish(first, Delivery::NotSent(line("no network")), at(1802)).await;
    assert_eq!(used_requests(&store, Quota::Create, at(1802)).await, 1);
    store.finish(second, Delivery::Unconfirmed(line("lost")), at(1803)).await;
    assert_eq!(used_requests(&store, Quota::Create, at(1803)).await, 1);
    store.requeue(first, None, at(1804)).await.expect("queued");
    store.permit(first, at(1805)).await;
    store.accept(first, response("j1", Status::Active), at(1806)).await;
    let follow_up = store.follow_up(row.key, "More", at(1807)).await;
    store.permit(follow_up, at(1808)).await;
    store.finish(follow_up, Delivery::NotSent(line("no network")), at(1809)).await;
    assert_eq!(used_requests(&store, Quota::Create, at(1809)).await, 2);
    assert_eq!(used_requests(&store, Quota::FollowUp, at(1809)).await, 0);
}

#[tokio::test(flavor = "current_thread")]
async fn two_instances_never_get_the_permit_for_the_same_prompt() {
    let folder = tempdir().expect("a folder");
    let (one, two) = (open(folder.path()), open(folder.path()));
    for n in 0..20 {
        let (prompt, _) = one.new_job(&format!("Prompt {n}"), at(n)).await;
        // Each store has its own thread and connection, so the two calls run at the same time.
        let (first, second) = tokio::join!(
            one.request_permit(prompt, "one", at(n), at(n)),
            two.request_permit(prompt, "two", at(n), at(n))
        );
        let permits = [first.expect("an answer"), second.expect("an answer")];
        let permitted = permits.iter().filter(|permit| matches!(permit, SendPermit::Granted { .. })).count();
        assert_eq!(permitted, 1, "{permits:?}");
        assert!(permits.contains(&SendPermit::NotQueued), "{permits:?}");
    }
    assert_eq!(used_requests(&one, Quota::Create, at(20)).await, 20);
}

#[tokio::test]
async fn follow_ups_are_sent_in_order_and_an_undelivered_follow_up_blocks_later_ones() {
    let store = memory_store();
    let (create, row) = store.new_job("Fix it", at(0)).await;
    let first = store.follow_up(row.key, "first", at(1)).await;
    let second = store.follow_up(row.key, "second", at(2)).await;
    assert_eq!(store.sendable_prompts_with_wait().await, [(create, None)]);
    assert_eq!(store.permit(first, at(3)).await, SendPermit::Blocked);
    store.permit(create, at(3)).await;
    store.accept(create, response("j1", Status::Active), at(4)).await;
    assert_eq!(store.permit(second, at(5)).await, SendPermit::Blocked);
    assert_eq!(store.sendable_prompts_with_wait().await, [(first, None)]);
    let go = store.permit(first, at(5)).await;
    assert!(matches!(go, SendPermit::Granted { kind: PromptKind::FollowUp, id: Some(id), .. } if id == job_id("j1")));
    store.finish(first, Delivery::Rejected(line("no")), at(6)).await;
    assert_eq!(store.permit(second, at(7)).await, SendPermit::Blocked);
    assert_eq!(store.sendable_prompts_with_wait().await, []);
    store.discard_prompt(first, at(8)).await.expect("discarded");
    assert!(matches!(store.permit(second, at(9)).await, SendPermit::Granted { .. }));
}

#[tokio::test]
async fn a_superseding_follow_up_discards_failed_prompts_and_waits_for_other_undelivered_ones() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    for how in [Delivery::Rejected(line("no")), Delivery::NotSent(line("offline"))] {
        let prompt = store.follow_up(row.key, "an earlier one", at(1)).await;
        store.permit(prompt, at(2)).await;
        store.finish(prompt, how, at(3)).await;
        // The prompt `queued` can only be sent if the failed prompt no longer blocks it.
        let (queued, _, discarded) =
            store.add_follow_up_discarding_undelivered(row.key, "queued", None, at(4)).await.expect("written");
        assert_eq!(discarded.iter().map(|prompt| prompt.id).collect::<Vec<_>>(), [prompt]);
        assert_eq!(delivery(&store, row.key, prompt).await.kind(), DeliveryKind::Discarded);
        let (last, _, discarded) =
            store.add_follow_up_discarding_undelivered(row.key, "last", None, at(5)).await.expect("written");
        assert!(discarded.is_empty(), "a queued prompt stays");
        assert_eq!(store.sendable_prompts_with_wait().await, [(queued, None)]);
        for prompt in [queued, last] {
            store.permit(prompt, at(6)).await;
            store.accept(prompt, response("j1", Status::Active), at(7)).await;
        }
    }
    let lost = store.follow_up(row.key, "lost", at(8)).await;
    store.permit(lost, at(8)).await;
    store.finish(lost, Delivery::Unconfirmed(line("lost")), at(9)).await;
    let (behind, ..) =
        store.add_follow_up_discarding_undelivered(row.key, "behind", None, at(10)).await.expect("written");
    assert_eq!(
        store.permit(behind, at(11)).await,
        SendPermit::Blocked,
        "it may have been carried out, so the user decides"
    );
    assert!(matches!(delivery(&store, row.key, lost).await, Delivery::Unconfirmed(_)));
}

#[tokio::test]
async fn a_follow_up_without_a_job_id_is_blocked() {
    let store = memory_store();
    let (create, row) = store.new_job("Fix it", at(0)).await;
    let follow_up = store.follow_up(row.key, "more", at(1)).await;
    store.discard_prompt(create, at(2)).await.expect("discarded");
    assert_eq!(store.permit(follow_up, at(3)).await, SendPermit::Blocked);
    assert_eq!(store.sendable_prompts_with_wait().await, []);
}

#[tokio::test]
async fn when_the_hourly_limit_is_reached_the_next_prompt_stays_queued() {
    let store = memory_store();
    let mut permitted = Vec::new();
    for n in 0..130 {
        let (prompt, row) = store.new_job(&format!("Prompt {n}"), at(n)).await;
        match store.permit(prompt, at(n)).await {
            SendPermit::Granted { .. } => permitted.push(n),
            SendPermit::Wait { until } => {
                assert_eq!(until, at(3600));
                assert_eq!(delivery(&store, row.key, prompt).await, Delivery::Queued { until: Some(until) });
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(permitted, (0..100).collect::<Vec<_>>());
    let (first, until) = store.sendable_prompts_with_wait().await[0];
    assert_eq!(until, Some(at(3600)));
    assert_eq!(store.permit(first, at(3599)).await, SendPermit::Wait { until: at(3600) });
    assert!(matches!(store.permit(first, at(3600)).await, SendPermit::Granted { .. }));
    assert_eq!(used_requests(&store, Quota::Create, at(3600)).await, 100);
    assert_eq!(used_requests(&store, Quota::FollowUp, at(3600)).await, 0);
}

#[tokio::test]
async fn the_ledger_follows_the_services_time_and_not_the_local_clock() {
    let store = memory_store();
    for n in 0..100 {
        let (prompt, _) = store.new_job("p", at(n)).await;
        assert!(matches!(store.permit(prompt, at(n)).await, SendPermit::Granted { .. }));
    }
    let (prompt, _) = store.new_job("p", at(100)).await;
    let local = at(100) + TimeDelta::days(3);
    let permit = store.request_permit(prompt, "i", local, at(100)).await.expect("an answer");
    assert_eq!(permit, SendPermit::Wait { until: at(3600) });
}

#[tokio::test]
async fn a_429_queues_the_prompt_again_and_blocks_the_ledger() {
    let store = memory_store();
    let (first, _) = store.new_job("first", at(0)).await;
    let (second, _) = store.new_job("second", at(0)).await;
    store.permit(first, at(1)).await;
    let row = store.finish_with_429(first, at(61), at(1), at(2)).await;
    assert_eq!(row.local.undelivered, Some(DeliveryKind::Queued));
    assert_eq!(delivery(&store, row.key, first).await, Delivery::Queued { until: Some(at(61)) });
    assert_eq!(store.permit(second, at(3)).await, SendPermit::Wait { until: at(61) });
    assert_eq!(store.permit(first, at(60)).await, SendPermit::Wait { until: at(61) });
    // The ledger decides when the prompt may be sent, and not the wait that is stored with the prompt.
    let late = at(240 * 3600).timestamp_millis();
    store.with_connection(move |db| db.execute("UPDATE prompt SET until = ?1", [late]).expect("set")).await;
    assert_eq!(store.permit(first, at(60)).await, SendPermit::Wait { until: at(61) });
    assert_eq!(delivery(&store, row.key, first).await, Delivery::Queued { until: Some(at(61)) });
    assert!(matches!(store.permit(first, at(61)).await, SendPermit::Granted { .. }));
}

#[tokio::test]
async fn an_accepted_new_job_gets_the_data_from_the_response() {
    let store = memory_store();
    let (prompt, _) = store.new_job("Fix it", at(0)).await;
    store.permit(prompt, at(1)).await;
    let mut job = response("j/1 ü", Status::Active);
    job.state.source.repository = Some(line("https://github.com/acme/docs").into());
    job.state.source.git_ref = Some(line("agent/links"));
    job.state.model = Some(line("sonnet").into());
    job.created_at = Some(at(2));
    let row = store.accept(prompt, job.clone(), at(3)).await;
    assert_eq!((row.id.clone(), row.remote.status.clone()), (Some(job.id.clone()), Some(Status::Active)));
    assert_eq!(row.remote, job.state);
    assert_eq!((row.created_at, row.local.started_at, row.local.changed_at), (at(2), at(3), at(3)));
    assert_eq!((row.local.undelivered, row.local.finished_at), (None, None));
    assert_eq!(store.job_by_id(&scope(), &job.id).await.expect("read"), Some(row.clone()));
    assert_eq!(crate::model::poll::next_poll(&row), Some(at(5)));
    assert_eq!(store.permit(prompt, at(4)).await, SendPermit::NotQueued);
}

#[tokio::test]
async fn every_outcome_of_sending_is_stored_with_its_reason() {
    let store = memory_store();
    for expected in [
        Delivery::NotSent(line("no network")),
        Delivery::Rejected(line("too long")),
        Delivery::Unconfirmed(line("no answer")),
    ] {
        let (prompt, _) = store.new_job("Fix it", at(0)).await;
        store.permit(prompt, at(1)).await;
        let row = store.finish(prompt, expected.clone(), at(2)).await;
        assert_eq!(row.local.undelivered, Some(expected.kind()));
        assert_eq!(delivery(&store, row.key, prompt).await, expected);
        assert_eq!(store.permit(prompt, at(3)).await, SendPermit::NotQueued, "never sent again by itself");
    }
}

#[tokio::test]
async fn a_row_shows_its_most_urgent_prompt() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Completed, at(0)).await;
    let first = store.follow_up(row.key, "first", at(1)).await;
    store.follow_up(row.key, "second", at(2)).await;
    store.permit(first, at(3)).await;
    let undelivered = async |store: &Store| store.job(row.key).await.expect("read").expect("there").local.undelivered;
    assert_eq!(undelivered(&store).await, Some(DeliveryKind::Sending));
    store.finish(first, Delivery::Unconfirmed(line("?")), at(4)).await;
    assert_eq!(undelivered(&store).await, Some(DeliveryKind::Unconfirmed));
    store.discard_prompt(first, at(5)).await.expect("discarded");
    assert_eq!(undelivered(&store).await, Some(DeliveryKind::Queued));
}

#[tokio::test]
async fn a_follow_up_to_a_finished_job_is_checked_even_if_the_response_is_still_finished() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    let row = store.apply_job(row.key, response_with_pr("j1", Status::Completed, 1), at(60)).await.job;
    assert_eq!((row.local.finished_at, crate::model::poll::next_poll(&row)), (Some(at(60)), None));
    let prompt = store.follow_up(row.key, "more", at(100)).await;
    store.permit(prompt, at(100)).await;
    let row = store.accept(prompt, response("j1", Status::Completed), at(101)).await;
    assert_eq!(
        (row.remote.status.clone(), row.local.started_at, row.local.finished_at),
        (Some(Status::Completed), at(101), None)
    );
    assert_eq!(crate::model::poll::next_poll(&row), Some(at(103)));
    let row = store.apply_job(row.key, response("j1", Status::Active), at(103)).await.job;
    assert_eq!((row.local.started_at, row.local.finished_at, row.local.checked_at), (at(101), None, Some(at(103))));
    assert!(row.remote.pr_link.is_some());
}

#[tokio::test]
async fn a_response_to_a_request_before_a_follow_up_was_accepted_changes_nothing() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    let requested = store.apply_job(row.key, response("j1", Status::Completed), at(60)).await.job;
    let prompt = store.follow_up(row.key, "more", at(100)).await;
    store.permit(prompt, at(100)).await;
    let restarted = store.accept(prompt, response("j1", Status::Active), at(101)).await;
    for outdated in [JobResponse::Job(response("j1", Status::Completed)), JobResponse::NotFound] {
        let merged = store.apply_job_response(&requested, outdated, at(102)).await.expect("read");
        assert_eq!((merged.job, merged.events), (restarted.clone(), Vec::new()));
    }
    assert_eq!(store.job(row.key).await.expect("read"), Some(restarted.clone()));
    let merged = store.apply_job_response(&restarted, JobResponse::NotFound, at(103)).await.expect("stored");
    assert!(merged.job.local.gone);
}

#[tokio::test]
async fn a_job_that_does_not_restart_after_a_follow_up_is_finished_at_the_next_check() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Completed, at(0)).await;
    let prompt = store.follow_up(row.key, "more", at(100)).await;
    store.permit(prompt, at(100)).await;
    store.accept(prompt, response("j1", Status::Completed), at(101)).await;
    let row = store.apply_job(row.key, response("j1", Status::Completed), at(103)).await.job;
    assert_eq!(row.local.finished_at, Some(at(103)));
}

#[tokio::test]
async fn only_prompts_that_an_ended_instance_was_sending_become_unconfirmed() {
    let store = memory_store();
    let (dead, dead_row) = store.new_job("dead", at(0)).await;
    let (live, live_row) = store.new_job("live", at(0)).await;
    store.request_permit(dead, "dead", at(1), at(1)).await.expect("a permit");
    store.request_permit(live, "live", at(1), at(1)).await.expect("a permit");
    assert_eq!(store.sending_instances(&scope()).await.expect("names"), ["dead", "live"]);
    let rows = store.abandon_sends(&scope(), "dead", at(2)).await.expect("done");
    assert_eq!(rows.iter().map(|row| row.key).collect::<Vec<_>>(), [dead_row.key]);
    let Delivery::Unconfirmed(reason) = delivery(&store, dead_row.key, dead).await else { panic!("not unconfirmed") };
    assert!(reason.as_str().contains("before the answer arrived"), "{reason}");
    assert_eq!(delivery(&store, live_row.key, live).await, Delivery::Sending);
    assert_eq!(store.permit(dead, at(3)).await, SendPermit::NotQueued);
    assert_eq!(store.abandon_sends(&scope(), "dead", at(4)).await.expect("done"), []);
}

#[tokio::test]
async fn an_acceptance_is_stored_even_if_the_send_was_marked_as_abandoned() {
    let store = memory_store();
    let (prompt, _) = store.new_job("Fix it", at(0)).await;
    store.permit(prompt, at(1)).await;
    store.abandon_sends(&scope(), "instance-1", at(2)).await.expect("done");
    store.requeue(prompt, None, at(3)).await.expect("queued again");
    let row = store.accept(prompt, response("j1", Status::Active), at(4)).await;
    assert_eq!((row.id, row.local.undelivered), (Some(job_id("j1")), None));
    assert_eq!(store.permit(prompt, at(5)).await, SendPermit::NotQueued, "not sent a second time");
    // A late rejection doesn't change a prompt that was already accepted.
    let row = store.finish(prompt, Delivery::Rejected(line("late")), at(6)).await;
    assert_eq!(row.local.undelivered, None);
}

#[tokio::test]
async fn the_second_job_of_a_prompt_that_was_sent_twice_is_listed() {
    let store = memory_store();
    let (prompt, row) = store.new_job("Fix it", at(0)).await;
    store.permit(prompt, at(1)).await;
    store.accept(prompt, response("j1", Status::Active), at(2)).await;
    let same = store.accept(prompt, response("j2", Status::Active), at(3)).await;
    assert_eq!((same.key, same.id), (row.key, Some(job_id("j1"))));
    let ids: Vec<_> = store.jobs(&scope()).await.expect("rows").into_iter().filter_map(|row| row.id).collect();
    assert_eq!(ids, [job_id("j1"), job_id("j2")]);
}

#[tokio::test]
async fn sending_again_queues_the_prompt_and_an_edit_changes_text_and_title() {
    let store = memory_store();
    let (prompt, row) = store.new_job("Fix it", at(0)).await;
    store.permit(prompt, at(1)).await;
    store.finish(prompt, Delivery::Rejected(line("no")), at(2)).await;
    assert!(matches!(store.requeue(prompt, Some(" \n"), at(3)).await, Err(StoreError::BlankPrompt)));
    let row = store.requeue(prompt, Some("Fix that\nplease"), at(3)).await.unwrap_or(row);
    assert_eq!((row.local.title.as_str(), row.local.undelivered), ("Fix that", Some(DeliveryKind::Queued)));
    let go = store.permit(prompt, at(4)).await;
    assert!(matches!(go, SendPermit::Granted { text, .. } if text == "Fix that\nplease"));
    assert!(matches!(store.requeue(prompt, None, at(5)).await, Err(StoreError::StateChanged)), "it is being sent");
}

#[tokio::test]
async fn an_unconfirmed_prompt_can_be_sent_again_but_not_edited() {
    let store = memory_store();
    let (prompt, row) = store.new_job("Fix it", at(0)).await;
    store.permit(prompt, at(1)).await;
    store.finish(prompt, Delivery::Unconfirmed(line("?")), at(2)).await;
    assert!(matches!(store.requeue(prompt, Some("Other"), at(3)).await, Err(StoreError::NotEditable)));
    assert_eq!(store.thread_of(row.key).await.prompts[0].text, "Fix it");
    store.requeue(prompt, None, at(4)).await.expect("queued");
    assert!(matches!(store.permit(prompt, at(5)).await, SendPermit::Granted { .. }));
}

#[tokio::test]
async fn discarding_a_new_jobs_prompt_discards_the_job_and_restoring_it_undoes_that() {
    for how in [
        Delivery::NotSent(line("no network")),
        Delivery::Rejected(line("too vague")),
        Delivery::Unconfirmed(line("the answer was lost")),
    ] {
        let store = memory_store();
        let (prompt, row) = store.new_job("Fix it", at(0)).await;
        store.permit(prompt, at(1)).await;
        assert!(matches!(store.discard_prompt(prompt, at(2)).await, Err(StoreError::StateChanged)), "it is being sent");
        store.finish(prompt, how, at(2)).await;
        let before = (store.thread_of(row.key).await, store.job(row.key).await.expect("read").expect("a row"));
        let discarded = store.discard_prompt(prompt, at(3)).await.expect("discarded");
        let [row] = &discarded.jobs[..] else { panic!("{discarded:?}") };
        assert_eq!((row.local.undelivered, row.local.undelivered_at), (Some(DeliveryKind::Discarded), Some(at(3))));
        assert!(row.group() == JobGroup::Done && !row.local.dismissed && !row.is_working() && !row.counts_as_working());
        assert_eq!(crate::model::poll::next_poll(row), None);
        assert_eq!(store.thread_of(row.key).await.prompts[0].text, "Fix it");
        assert!(matches!(store.requeue(prompt, None, at(4)).await, Err(StoreError::StateChanged)));
        assert!(matches!(store.discard_prompt(prompt, at(4)).await, Err(StoreError::StateChanged)), "only once");
        let restored = store.restore_prompts(&discarded.prompts).await.expect("restored").remove(0);
        assert_eq!(store.thread_of(row.key).await, before.0);
        assert_eq!(Job { revision: 0, ..restored }, Job { revision: 0, ..before.1 });
    }
    let store = memory_store();
    let kept = store.add_accepted_job("j1", Status::Active, at(5)).await;
    let follow_up = store.follow_up(kept.key, "more", at(6)).await;
    let discarded = store.discard_prompt(follow_up, at(7)).await.expect("discarded");
    assert_eq!((discarded.jobs[0].local.undelivered, discarded.jobs[0].group()), (None, JobGroup::Working));
}

#[tokio::test]
async fn a_discarded_prompt_that_was_accepted_after_all_is_not_restored() {
    let store = memory_store();
    let (prompt, _) = store.new_job("Fix it", at(0)).await;
    store.permit(prompt, at(1)).await;
    store.finish(prompt, Delivery::Unconfirmed(line("lost")), at(2)).await;
    store.discard_prompt(prompt, at(3)).await.expect("discarded");
    let row = store.accept(prompt, response("j1", Status::Active), at(4)).await;
    assert_eq!((row.local.undelivered, row.group()), (None, JobGroup::Working));
    assert!(matches!(store.restore_prompts(&[prompt]).await, Err(StoreError::StateChanged)));
}

#[tokio::test]
async fn a_follow_up_resets_the_start_time_of_a_finished_job_but_not_of_a_working_one() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    let prompt = store.follow_up(row.key, "more", at(50)).await;
    store.permit(prompt, at(60)).await;
    let row = store.accept(prompt, response("j1", Status::Active), at(61)).await;
    assert_eq!((row.local.started_at, row.state_since(), row.local.finished_at), (at(0), Some(at(0)), None));
    assert_eq!(row.local.followed_up_at, Some(at(61)), "polled soon after it");
    let row = store.apply_job(row.key, response("j1", Status::Completed), at(100)).await.job;
    assert_eq!((row.local.finished_at, row.state_since()), (Some(at(100)), Some(at(100))));
    let prompt = store.follow_up(row.key, "again", at(150)).await;
    store.permit(prompt, at(160)).await;
    let row = store.accept(prompt, response("j1", Status::Active), at(161)).await;
    assert_eq!((row.local.started_at, row.local.finished_at), (at(161), None));
}

#[tokio::test]
async fn each_delivery_state_has_the_time_at_which_it_began() {
    let store = memory_store();
    let (prompt, row) = store.new_job("Fix it", at(0)).await;
    let key = row.key;
    let since = async || store.job(key).await.expect("read").expect("a row").state_since();
    assert_eq!(since().await, Some(at(0)), "queued");
    store.permit(prompt, at(10)).await;
    assert_eq!(since().await, Some(at(10)), "sending");
    store.finish_with_429(prompt, at(90), at(20), at(20)).await;
    assert_eq!(since().await, Some(at(20)), "queued again");
    store.permit(prompt, at(95)).await;
    store.finish(prompt, Delivery::NotSent(line("no network")), at(100)).await;
    assert_eq!(since().await, Some(at(100)), "not sent");
    store.requeue(prompt, None, at(110)).await.expect("queued");
    store.permit(prompt, at(115)).await;
    store.finish(prompt, Delivery::Rejected(line("no")), at(120)).await;
    assert_eq!(since().await, Some(at(120)), "rejected");
    store.requeue(prompt, None, at(125)).await.expect("queued");
    store.permit(prompt, at(130)).await;
    store.abandon_sends(&scope(), "instance-1", at(140)).await.expect("abandoned");
    assert_eq!(since().await, Some(at(140)), "unconfirmed");
    store.discard_prompt(prompt, at(150)).await.expect("discarded");
    assert_eq!(since().await, Some(at(150)), "discarded");
    store.restore_prompts(&[prompt]).await.expect("restored");
    assert_eq!(since().await, Some(at(140)), "unconfirmed since before");
}

#[tokio::test]
async fn an_unconfirmed_new_job_can_be_linked_to_its_job_at_the_service() {
    let store = memory_store();
    let (prompt, _) = store.new_job("Fix it", at(0)).await;
    store.permit(prompt, at(1)).await;
    store.finish(prompt, Delivery::Unconfirmed(line("?")), at(2)).await;
    let row = store.link_job(prompt, response_with_pr("j1", Status::Completed, 7), at(500)).await.expect("linked");
    assert_eq!((row.id, row.local.title.as_str(), row.local.undelivered), (Some(job_id("j1")), "Fix it", None));
    assert_eq!((row.local.started_at, row.local.finished_at), (at(1), None));
    assert!(matches!(
        store.link_job(prompt, response("j2", Status::Active), at(501)).await,
        Err(StoreError::StateChanged)
    ));
}

#[tokio::test]
async fn linking_merges_a_job_that_was_tracked_meanwhile() {
    let store = memory_store();
    let (prompt, row) = store.new_job("Fix it", at(0)).await;
    store.permit(prompt, at(1)).await;
    store.finish(prompt, Delivery::Unconfirmed(line("?")), at(2)).await;
    let tracked = store.track(&scope(), response("j1", Status::Active), at(10)).await.expect("tracked");
    let follow_up = store.follow_up(tracked.key, "more", at(11)).await;
    store
        .save_draft(&scope(), crate::model::prompt::DraftTarget::FollowUp(tracked.key), "typed", at(12))
        .await
        .expect("stored");
    let seen = tracked.revision;

    let one = store.link_job(prompt, response_with_pr("j1", Status::Completed, 7), at(20)).await.expect("linked");
    assert_eq!((one.key, one.local.title.as_str(), one.id.clone()), (row.key, "Fix it", Some(job_id("j1"))));
    assert_eq!(one.local.undelivered, Some(DeliveryKind::Queued));
    assert_eq!(store.jobs(&scope()).await.expect("rows"), vec![one.clone()]);
    let thread = store.thread_of(one.key).await;
    assert_eq!(thread.prompts.iter().map(|prompt| prompt.id).collect::<Vec<_>>(), [prompt, follow_up]);
    assert_eq!(thread.events.len(), 3, "{:?}", thread.events);
    let drafts = store.drafts(&scope()).await.expect("drafts");
    assert_eq!(
        (drafts[0].slot, drafts[0].text.as_str()),
        (crate::model::prompt::DraftTarget::FollowUp(one.key), "typed")
    );
    // A screen that shows the merged row finds out that it was merged, and the row's key still leads to the job.
    let left = store.jobs_changed_since(&scope(), seen).await.expect("rows");
    assert_eq!(left.merged_job_keys, [(tracked.key, one.key)]);
    assert_eq!(left.jobs.iter().map(|row| row.key).collect::<Vec<_>>(), [one.key]);
    assert_eq!(store.job_keys_merged_into(one.key).await.expect("keys"), [tracked.key]);
    assert_eq!(store.apply_job(tracked.key, response("j1", Status::Archived), at(30)).await.job.key, one.key);
    assert!(matches!(store.permit(follow_up, at(31)).await, SendPermit::Granted { job, .. } if job == one.key));
}

#[tokio::test]
async fn unknown_prompts_and_jobs_return_errors() {
    let store = memory_store();
    assert!(matches!(store.request_permit(PromptId(9), "i", at(0), at(0)).await, Err(StoreError::NoSuchPrompt)));
    assert!(matches!(store.add_follow_up(JobKey(9), "x", at(0)).await, Err(StoreError::NoSuchJob)));
    assert!(matches!(store.thread(JobKey(9)).await, Err(StoreError::NoSuchJob)));
    assert_eq!(store.job(JobKey(9)).await.expect("read"), None);
}

#[tokio::test]
async fn several_threads_can_be_read_together_without_large_ones() {
    let store = memory_store();
    let small = store.add_accepted_job("j1", Status::Completed, at(0)).await.key;
    let (_, large) = store.new_job(&"word ".repeat(2000), at(1)).await;
    let other = store.add_accepted_job("j2", Status::Failed, at(2)).await.key;
    store.follow_up(other, "more", at(3)).await;
    let requested_keys = [other, JobKey(99), large.key, small];
    let both_threads = vec![(other, store.thread_of(other).await), (small, store.thread_of(small).await)];
    assert_eq!(store.threads(&requested_keys, Some(10_000 - 1)).await.expect("threads"), both_threads);
    let all = store.threads(&requested_keys, Some(10_000)).await.expect("threads");
    assert_eq!(all.iter().map(|(job, _)| *job).collect::<Vec<_>>(), [other, large.key, small]);
    assert_eq!(all[1].1, store.thread_of(large.key).await);
}

#[tokio::test]
async fn the_keys_of_two_merged_rows_lead_to_the_same_thread() {
    let store = memory_store();
    let (prompt, row) = store.new_job("Fix it", at(0)).await;
    store.permit(prompt, at(1)).await;
    store.finish(prompt, Delivery::Unconfirmed(line("?")), at(2)).await;
    let gone = store.track(&scope(), response("j1", Status::Active), at(10)).await.expect("tracked").key;
    store.link_job(prompt, response("j1", Status::Active), at(20)).await.expect("linked");
    let thread = store.thread_of(row.key).await;
    let both = vec![(gone, thread.clone()), (row.key, thread)];
    assert_eq!(store.threads(&[gone, row.key], None).await.expect("threads"), both);
}

#[tokio::test]
async fn a_reserved_prompt_is_paused_for_other_instances() {
    let store = memory_store();
    let (prompt, row) =
        store.add_new_job_for_instance(&scope(), "Fix it", Some("command"), at(0)).await.expect("written");
    assert_eq!(row.local.undelivered, Some(DeliveryKind::Paused));
    assert_eq!(store.sendable_prompts(&scope()).await.expect("read"), []);
    assert_eq!(store.sendable_prompts_for(&scope(), "dashboard").await.expect("read"), []);
    assert_eq!(store.permit(prompt, at(1)).await, SendPermit::Blocked);
    let sendable = store.sendable_prompts_for(&scope(), "command").await.expect("read");
    assert_eq!(sendable.iter().map(|queued| queued.prompt).collect::<Vec<_>>(), [prompt]);
    assert_eq!(store.paused_by(prompt).await.expect("read"), crate::store::PausedBy::Instance("command".to_owned()));
    let permit = store.request_permit(prompt, "command", at(1), at(1)).await.expect("an answer");
    assert!(matches!(permit, SendPermit::Granted { .. }), "{permit:?}");
    // After a 429 the prompt is queued again, and still no other instance may send it.
    store.finish_with_429(prompt, at(60), at(2), at(2)).await;
    assert_eq!(store.sendable_prompts(&scope()).await.expect("read"), []);
    assert_eq!(store.sendable_prompts_for(&scope(), "command").await.expect("read").len(), 1);
    let permit = store.request_permit(prompt, "command", at(3), at(3)).await.expect("an answer");
    assert!(matches!(permit, SendPermit::Wait { .. }), "{permit:?}");
    assert_eq!(store.sendable_prompts(&scope()).await.expect("read"), [], "nor while the limit is used up");
    // The command that reserved the prompt pauses it and ends: now the prompt waits for the user.
    store.pause_prompt(prompt, at(90)).await.expect("written").expect("it was queued");
    assert_eq!(store.request_permit(prompt, "command", at(99), at(99)).await.expect("an answer"), SendPermit::Blocked);
    assert_eq!(store.paused_by(prompt).await.expect("read"), crate::store::PausedBy::User);
    store.change_queue(&[row.key], QueueChange::Resume, at(100)).await.expect("resumed");
    assert!(matches!(store.permit(prompt, at(4000)).await, SendPermit::Granted { .. }));
}

#[tokio::test]
async fn a_reserved_prompt_that_the_user_resumes_may_be_sent_by_any_instance() {
    let store = memory_store();
    let (_, job) = store.new_job("Fix it", at(0)).await;
    let (prompt, row) =
        store.add_new_job_for_instance(&scope(), "Fix that", Some("command"), at(0)).await.expect("written");
    store.change_queue(&[row.key], QueueChange::Resume, at(1)).await.expect("resumed");
    assert!(store.sendable_prompts(&scope()).await.expect("read").iter().any(|queued| queued.prompt == prompt));
    store.change_queue(&[row.key, job.key], QueueChange::Pause, at(2)).await.expect("paused");
    assert_eq!(store.request_permit(prompt, "command", at(3), at(3)).await.expect("an answer"), SendPermit::Blocked);
}

#[tokio::test]
async fn a_retry_sends_the_last_accepted_prompt_once_more_and_keeps_the_drafts() {
    let store = memory_store();
    let about = [line("/a"), line("/b")];
    let (prompt, row) = store.add_job_about_pages(&scope(), "Fix it", &about, &[], at(0)).await.expect("stored");
    assert!(store.retry(row.key, at(1)).await.is_err(), "not failed yet");
    store.permit(prompt, at(1)).await;
    store.accept(prompt, response("job-1", Status::Failed), at(2)).await;
    store.save_draft(&scope(), DraftTarget::NewJob, "Not yet", at(3)).await.expect("stored");
    let (again, new) = store.retry(row.key, at(4)).await.expect("stored");
    assert_eq!((new.key != row.key, new.local.pages.as_slice()), (true, &about[..]));
    let thread = store.thread_of(new.key).await;
    assert_eq!((thread.prompts.len(), thread.prompts[0].id, thread.prompts[0].text.as_str()), (1, again, "Fix it"));
    assert_eq!(store.drafts(&scope()).await.expect("drafts").len(), 1);

    let follow_up = store.follow_up(row.key, "More", at(5)).await;
    assert!(store.retry(row.key, at(6)).await.is_err(), "a prompt is queued");
    store.permit(follow_up, at(6)).await;
    store.accept(follow_up, response("job-1", Status::Failed), at(7)).await;
    let failed = store.jobs(&scope()).await.expect("rows").into_iter().find(|job| job.key == row.key).expect("a row");
    assert!(failed.can_retry(), "{failed:?}");
    let (again, same) = store.retry(row.key, at(8)).await.expect("stored");
    assert_eq!(same.key, row.key);
    let thread = store.thread_of(row.key).await;
    assert_eq!(thread.prompts.last().map(|last| (last.id, last.text.as_str())), Some((again, "More")));
    assert!(store.retry(row.key, at(9)).await.is_err(), "only once");
}

#[tokio::test]
async fn a_prompt_of_another_computer_is_never_sent_and_blocks_nothing() {
    let store = memory_store();
    let (create, _) = store.new_job("Fix it", at(0)).await;
    store.permit(create, at(1)).await;
    let row = store.accept(create, response("j1", Status::Active), at(2)).await;
    for (number, delivery) in (3..).zip([
        Delivery::Queued { until: None },
        Delivery::Paused,
        Delivery::Sending,
        Delivery::NotSent(line("no network")),
        Delivery::Unconfirmed(line("lost")),
        Delivery::Discarded { from: None },
    ]) {
        let record = PromptRecord {
            kind: PromptKind::FollowUp,
            text: format!("Of ana {number}"),
            delivery: delivery.clone(),
            written_at: at(number),
            sent_at: None,
            state_at: None,
            author: Some(line("ana")),
            draft: None,
        };
        let key = row.key;
        let theirs = store.write(move |tx| prompts::insert_imported_prompt(tx, key, &record)).await.expect("stored");
        let stored = store.thread(row.key).await.expect("a thread").prompts.pop().expect("a prompt");
        assert_eq!((stored.delivery, stored.author), (delivery, Some(line("ana"))));
        assert_eq!(store.permit(theirs, at(20)).await, SendPermit::NotQueued);
        let refused =
            |result: StoreResult<()>| assert!(matches!(result, Err(StoreError::WrittenElsewhere)), "{result:?}");
        refused(store.requeue(theirs, None, at(20)).await.map(drop));
        refused(store.discard_prompt(theirs, at(20)).await.map(drop));
        refused(store.restore_prompts(&[theirs]).await.map(drop));
        refused(store.pause_prompt(theirs, at(20)).await.map(drop));
        // A constraint of the table forbids marking the prompt as being sent.
        let forced = store
            .write(move |tx| tx.change("UPDATE prompt SET state = 'sending', instance = 'me' WHERE id = ?1", [theirs]));
        assert!(forced.await.is_err());
    }
    for change in [QueueChange::Pause, QueueChange::Resume] {
        assert_eq!(store.change_queue(&[row.key], change, at(21)).await.expect("unchanged"), []);
    }
    assert_eq!(store.remove_from_queue(&[row.key], at(21)).await.expect("unchanged").prompts, []);
    assert_eq!(store.sendable_prompts_with_wait().await, []);
    let mine = store.follow_up(row.key, "Mine", at(22)).await;
    assert_eq!(store.sendable_prompts_with_wait().await, [(mine, None)]);
    let row = store.job(row.key).await.expect("read").expect("the job");
    assert_eq!(row.local.undelivered, Some(DeliveryKind::Queued), "only the own prompt counts");
    assert!(matches!(store.permit(mine, at(23)).await, SendPermit::Granted { .. }));
    store.accept(mine, response("j1", Status::Active), at(24)).await;
    assert_eq!(store.job(row.key).await.expect("read").expect("the job").local.undelivered, None);
}
