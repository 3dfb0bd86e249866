use super::*;
use crate::model::prompt::DraftTarget;
use crate::store::{JobPruneFilter, PrunedJobCounts, ScopeFilter};

fn prune_before(seconds: i64) -> JobPruneFilter {
    JobPruneFilter { before: at(seconds), scopes: ScopeFilter::default() }
}

async fn ids(store: &Store) -> Vec<String> {
    let rows = store.jobs(&scope()).await.expect("rows");
    rows.iter().map(|row| row.id.as_ref().map_or_else(String::new, |id| id.as_str().to_owned())).collect()
}

/// Adds a finished job that was viewed.
async fn add_finished_job(store: &Store, id: &str, now: Time) -> Job {
    let row = store.add_accepted_job(id, Status::Completed, now).await;
    store.change_one_job(row.key, LocalChange::Viewed, now).await
}

#[tokio::test]
async fn old_finished_jobs_are_deleted_with_their_threads() {
    let store = memory_store();
    add_finished_job(&store, "old", at(10)).await;
    add_finished_job(&store, "new", at(100)).await;
    let planned = store.plan_prune_jobs(prune_before(50)).await.expect("read");
    assert_eq!((planned.counts.jobs, planned.counts.prompts, planned.counts.skipped), (1, 1, 0));
    assert_eq!(ids(&store).await, ["old", "new"], "only planned");
    let done = store.prune_jobs(prune_before(50)).await.expect("pruned");
    assert_eq!((done.counts.jobs, done.counts.prompts, done.shrinking_failed), (1, 1, false));
    assert_eq!(ids(&store).await, ["new"]);
    let left = store.with_connection(|db| {
        let count = |table: &str| -> i64 {
            db.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get(0)).expect("a number")
        };
        (count("prompt"), count("event"))
    });
    assert_eq!(left.await, (1, 1));
    assert_eq!(store.prune_jobs(prune_before(50)).await.expect("pruned").counts.jobs, 0);
}

#[tokio::test]
async fn unsent_unviewed_and_unfinished_jobs_and_jobs_with_a_draft_are_never_pruned() {
    let store = memory_store();
    store.add_accepted_job("unseen", Status::Failed, at(1)).await;
    let active = store.add_accepted_job("active", Status::Active, at(2)).await;
    store.change_one_job(active.key, LocalChange::Viewed, at(3)).await;
    store.change_one_job(active.key, LocalChange::Dismissed(true), at(3)).await;
    let undelivered = add_finished_job(&store, "undelivered", at(4)).await;
    store.follow_up(undelivered.key, "more", at(5)).await;
    let begun = add_finished_job(&store, "begun", at(6)).await;
    store.save_draft(&scope(), DraftTarget::FollowUp(begun.key), "text", at(7)).await.expect("stored");
    store.new_job("queued", at(8)).await;
    let (unsent, _) = store.new_job("not sent", at(9)).await;
    store.permit(unsent, at(9)).await;
    store.finish(unsent, Delivery::NotSent(line("no network")), at(9)).await;
    let done = store.prune_jobs(prune_before(1000)).await.expect("pruned");
    assert_eq!((done.counts.jobs, done.counts.skipped), (0, 6));
    assert_eq!(ids(&store).await.len(), 6);
}

#[tokio::test]
async fn dismissed_gone_and_discarded_jobs_are_pruned() {
    let store = memory_store();
    let row = add_finished_job(&store, "dismissed", at(1)).await;
    store.change_one_job(row.key, LocalChange::Dismissed(true), at(2)).await;
    let gone = store.add_accepted_job("gone", Status::Active, at(3)).await;
    store.apply_job_response(&gone, JobResponse::NotFound, at(4)).await.expect("stored");
    store.change_one_job(gone.key, LocalChange::Viewed, at(5)).await;
    let (prompt, _) = store.new_job("discarded", at(6)).await;
    store.discard_prompt(prompt, at(7)).await.expect("discarded");
    assert_eq!(store.prune_jobs(prune_before(1000)).await.expect("pruned").counts.jobs, 3);
    assert_eq!(ids(&store).await, Vec::<String>::new());
}

#[tokio::test]
async fn merged_rows_are_deleted_with_their_job() {
    let store = memory_store();
    store.track(&scope(), response("j", Status::Completed), at(1)).await.expect("tracked");
    let (prompt, _) = store.new_job("Do it", at(2)).await;
    store.permit(prompt, at(3)).await;
    let row = store.accept(prompt, response("j", Status::Completed), at(4)).await;
    store.change_one_job(row.key, LocalChange::Viewed, at(5)).await;
    assert_eq!(store.prune_jobs(prune_before(1000)).await.expect("pruned").counts.jobs, 1);
    let rows: i64 = store
        .with_connection(|db| db.query_row("SELECT count(*) FROM job", [], |row| row.get(0)).expect("a number"))
        .await;
    assert_eq!(rows, 0);
}

#[tokio::test]
async fn pruning_can_be_limited_to_a_project() {
    let store = memory_store();
    add_finished_job(&store, "j", at(1)).await;
    let only = ScopeFilter { project: Some("another".to_owned()), ..ScopeFilter::default() };
    let done = store.prune_jobs(JobPruneFilter { before: at(1000), scopes: only }).await.expect("pruned");
    assert_eq!(done.counts, PrunedJobCounts::default());
}
