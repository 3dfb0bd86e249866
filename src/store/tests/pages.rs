//! Tests of jobs about pages, and of the draft of such a job.

use super::*;
use crate::model::analytics::signal_snapshot::{JobSnapshots, SignalSnapshot};
use crate::model::period::DateRange;
use crate::model::prompt::DraftTarget;
use crate::model::views::Count;
use crate::store::Draft;
use crate::store::query::Query as _;

fn paths(paths: &[&str]) -> Vec<CleanText> {
    paths.iter().map(|path| line(path)).collect()
}

async fn submit_job_about(store: &Store, text: &str, pages: &[&str], seconds: i64) -> (PromptId, Job) {
    store.add_job_about_pages(&scope(), text, &paths(pages), &[], at(seconds)).await.expect("on disk")
}

#[tokio::test]
async fn the_pages_of_a_job_and_their_order_survive_a_restart() {
    let folder = tempdir().expect("a folder");
    let store = open(folder.path());
    let (_, row) = submit_job_about(&store, "Fix them", &["/z", "/a", "/z"], 1).await;
    assert_eq!(row.local.pages, paths(&["/z", "/a"]));
    let (_, plain) = store.new_job("Another", at(2)).await;
    assert!(plain.local.pages.is_empty());
    store.close().await;
    let rows = open(folder.path()).jobs(&scope()).await.expect("rows");
    assert_eq!(rows.iter().map(|row| row.local.pages.len()).collect::<Vec<_>>(), [2, 0]);
    assert_eq!(rows[0].local.pages, row.local.pages);
}

#[tokio::test]
async fn jobs_about_a_page_are_listed_for_one_scope_newest_first() {
    let store = memory_store();
    let (_, one) = submit_job_about(&store, "One", &["/a", "/b"], 1).await;
    submit_job_about(&store, "Two", &["/b"], 2).await;
    let (_, three) = submit_job_about(&store, "Three", &["/a"], 3).await;
    let other = Scope { project: "other".to_owned(), ..scope() };
    store.add_job_about_pages(&other, "Theirs", &paths(&["/a"]), &[], at(4)).await.expect("on disk");
    let found = store.jobs_about_page(&scope(), &line("/a")).await.expect("rows");
    assert_eq!(found.iter().map(|row| row.key).collect::<Vec<_>>(), [three.key, one.key]);
    assert_eq!(store.jobs_about_page(&scope(), &line("/none")).await.expect("rows"), []);
}

#[tokio::test]
async fn merging_two_rows_keeps_the_pages_of_both() {
    let store = memory_store();
    let (prompt, row) = submit_job_about(&store, "Fix it", &["/b", "/a"], 0).await;
    store.permit(prompt, at(1)).await;
    store.finish(prompt, Delivery::Unconfirmed(line("?")), at(2)).await;
    let (other, _) = submit_job_about(&store, "The same", &["/c", "/a"], 3).await;
    store.permit(other, at(4)).await;
    let known = store.accept(other, response("j1", Status::Active), at(5)).await;
    let one = store.link_job(prompt, response("j1", Status::Active), at(6)).await.expect("linked");
    assert_eq!((one.key, one.local.pages.to_vec()), (row.key, paths(&["/b", "/a", "/c"])));
    let found = store.jobs_about_page(&scope(), &line("/c")).await.expect("rows");
    assert_eq!(found.iter().map(|row| row.key).collect::<Vec<_>>(), [row.key]);
    assert_ne!(known.key, row.key);
}

#[tokio::test]
async fn the_draft_about_pages_is_stored_with_its_pages_separately_from_other_drafts() {
    let store = memory_store();
    let draft = |slot: DraftTarget, text: &str, pages: &[&str], seconds: i64| Draft {
        slot,
        text: text.to_owned(),
        pages: paths(pages),
        saved_at: at(seconds),
    };
    let save = async |text: &str, pages: &[&str], seconds: i64| {
        store.save_draft_about_pages(&scope(), text, &paths(pages), at(seconds)).await.expect("stored");
    };
    store.save_draft(&scope(), DraftTarget::NewJob, "new", at(1)).await.expect("stored");
    store.save_draft(&scope(), DraftTarget::Batch, "many", at(2)).await.expect("stored");
    save("abou", &["/a"], 3).await;
    save("about", &["/a", "/b c"], 4).await;
    let plain = [draft(DraftTarget::NewJob, "new", &[], 1), draft(DraftTarget::Batch, "many", &[], 2)];
    let all = [plain[0].clone(), plain[1].clone(), draft(DraftTarget::AboutPages, "about", &["/a", "/b c"], 4)];
    assert_eq!(store.drafts(&scope()).await.expect("drafts"), all);
    store.new_job("new", at(5)).await;
    assert_eq!(store.drafts(&scope()).await.expect("drafts"), all[1..]);
    submit_job_about(&store, "about", &["/a", "/b c"], 6).await;
    assert_eq!(store.drafts(&scope()).await.expect("drafts"), plain[1..]);
    save("again", &["/a"], 7).await;
    store.delete_draft(&scope(), DraftTarget::AboutPages).await.expect("deleted");
    assert_eq!(store.drafts(&scope()).await.expect("drafts"), plain[1..]);
}

#[tokio::test]
async fn a_blank_prompt_about_pages_stores_nothing_and_keeps_the_draft() {
    let store = memory_store();
    store.save_draft_about_pages(&scope(), " ", &paths(&["/a"]), at(1)).await.expect("stored");
    assert!(store.add_job_about_pages(&scope(), " ", &paths(&["/a"]), &[], at(2)).await.is_err());
    assert_eq!(store.jobs(&scope()).await.expect("rows"), []);
    assert_eq!(store.drafts(&scope()).await.expect("drafts").len(), 1);
}

fn snapshot(page: &str, thumbs_down: i64) -> SignalSnapshot {
    let signals = [("thumbsDown".to_owned(), Count::Known(thumbs_down))].into();
    SignalSnapshot { path: line(page), range: DateRange::last_days(7, at(0).date_naive()), signals }
}

#[tokio::test]
async fn signal_snapshots_survive_a_restart_a_retry_and_a_merge_of_rows() {
    let folder = tempdir().expect("a folder");
    let store = open(folder.path());
    let add = async |text: &str, page: &str, down: i64, seconds: i64| {
        let (pages, snapshot) = (paths(&[page]), [snapshot(page, down)]);
        store.add_job_about_pages(&scope(), text, &pages, &snapshot, at(seconds)).await.expect("on disk")
    };
    let (prompt, row) = add("Fix it", "/a", 12, 0).await;
    let (other, _) = add("The same", "/b", 3, 1).await;
    store.permit(prompt, at(2)).await;
    store.finish(prompt, Delivery::Unconfirmed(line("?")), at(3)).await;
    store.permit(other, at(4)).await;
    store.accept(other, response("j1", Status::Failed), at(5)).await;
    store.link_job(prompt, response("j1", Status::Failed), at(6)).await.expect("linked");
    let before = vec![snapshot("/a", 12), snapshot("/b", 3)];
    let after = vec![snapshot("/a", 7)];
    store.replace_snapshots_after_job(row.key, vec![snapshot("/b", 9)]).await.expect("stored");
    store.replace_snapshots_after_job(row.key, after.clone()).await.expect("replaced");
    let all = JobSnapshots { before: before.clone(), after };
    assert_eq!(store.signal_snapshots_of_job(row.key).await.expect("read"), all);
    let (_, again) = store.retry(row.key, at(7)).await.expect("queued");
    assert_ne!(again.key, row.key);
    store.close().await;
    let store = open(folder.path());
    let snapshots_of_retry = JobSnapshots { before, after: Vec::new() };
    assert_eq!(
        store.signal_snapshots_of_job(again.key).await.expect("read"),
        snapshots_of_retry,
        "the numbers after the first try"
    );
    assert_eq!(store.signal_snapshots_of_job(row.key).await.expect("read"), all);
}

#[tokio::test]
async fn unreadable_snapshots_are_skipped() {
    let store = memory_store();
    let all = [snapshot("/a", 1), snapshot("/b", 2), snapshot("/c", 3)];
    let (_, row) = store
        .add_job_about_pages(&scope(), "Fix them", &paths(&["/a", "/b", "/c"]), &all, at(0))
        .await
        .expect("on disk");
    store
        .write(|tx| {
            tx.change("UPDATE job_signals SET signals = 'not JSON' WHERE path = '/a'", [])?;
            tx.change("UPDATE job_signals SET date_from = '2999-01-01' WHERE path = '/b'", [])?;
            Ok(())
        })
        .await
        .expect("edited");
    assert_eq!(store.signal_snapshots_of_job(row.key).await.expect("read").before, all[2..]);
}
