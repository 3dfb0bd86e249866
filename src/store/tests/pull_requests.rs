//! Tests of the state of pull requests: it is merged into the jobs, decides their group, and survives export and
//! import.

use super::*;
use crate::model::job::JobGroup;
use crate::model::load::Timed;
use crate::model::pull_request::tests::open_pull_request;
use crate::model::pull_request::{Checks, ChecksState, PullRequest, PullRequestState};
use crate::model::pull_request_action::UnsentReviewKind;
use crate::model::pull_request_details::{FileDiffStat, PullRequestDetails};
use crate::store::{JobPruneFilter, ReportedPullRequest, ScopeFilter, StoredDiff, StoredPullRequest};

/// Adds a completed job with a pull request.
async fn add_completed_job(store: &Store) -> Job {
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    store.apply_job(row.key, response_with_pr("j1", Status::Completed, 7), at(10)).await;
    store.job(row.key).await.expect("read").expect("there")
}

async fn apply_state(store: &Store, row: &Job, state: PullRequest, minute: i64) -> Job {
    let link = row.remote.pr_link.clone().expect("a link");
    let reported = ReportedPullRequest { job: row.key, link, state: PullRequest { as_of: at(minute), ..state } };
    store.apply_pull_requests(vec![reported], at(minute)).await.expect("written").pop().expect("its row").job
}

#[tokio::test]
async fn a_job_needs_the_user_after_the_state_of_its_open_pull_request_is_forgotten() {
    let store = memory_store();
    let row = add_completed_job(&store).await;
    let pending = Checks { state: ChecksState::Pending, ..Checks::default() };
    let row = apply_state(&store, &row, PullRequest { checks: pending, ..open_pull_request(at(30)) }, 30).await;
    assert_eq!(row.group(), JobGroup::Working);
    let forgotten = store.forget_open_pull_requests(&scope()).await.expect("written");
    assert_eq!(forgotten.iter().map(|job| (job.key, job.group())).collect::<Vec<_>>(), [(row.key, JobGroup::NeedsYou)]);
    assert_eq!(store.forget_open_pull_requests(&scope()).await.expect("read"), []);
    let failing = Checks { state: ChecksState::Failing, ..Checks::default() };
    apply_state(&store, &row, PullRequest { checks: failing, ..open_pull_request(at(35)) }, 35).await;
    let forgotten = store.forget_open_pull_requests(&scope()).await.expect("written");
    assert_eq!(forgotten.iter().map(|job| job.pull_request.clone()).collect::<Vec<_>>(), [None]);
    let merged = PullRequest { state: PullRequestState::Merged, ..open_pull_request(at(40)) };
    apply_state(&store, &row, merged, 40).await;
    assert_eq!(store.forget_open_pull_requests(&scope()).await.expect("read"), [], "a merge is final");
}

#[tokio::test]
async fn a_job_that_was_tracked_by_its_id_gets_the_title_of_its_pull_request() {
    let store = memory_store();
    let tracked = store.track(&scope(), response_with_pr("j2", Status::Completed, 8), at(0)).await.expect("tracked");
    assert_eq!(tracked.local.title.as_str(), "j2");
    let named = apply_state(&store, &tracked, open_pull_request(at(10)), 10).await;
    assert_eq!((named.local.title.as_str(), named.local.has_custom_title), ("Fix broken links", false));
    let own = add_completed_job(&store).await;
    let title = own.local.title.clone();
    assert_eq!(apply_state(&store, &own, open_pull_request(at(10)), 10).await.local.title, title, "that of its prompt");
}

#[tokio::test]
async fn a_job_needs_the_user_when_the_checks_have_finished_and_is_done_when_it_is_merged() {
    let store = memory_store();
    let row = add_completed_job(&store).await;
    store.change_one_job(row.key, LocalChange::Handled, at(20)).await;
    let pending = Checks { state: ChecksState::Pending, ..Checks::default() };
    let state = PullRequest { checks: pending, ..open_pull_request(at(30)) };
    let row = apply_state(&store, &row, state.clone(), 30).await;
    assert_eq!((row.group(), row.counts_as_working()), (JobGroup::Working, true));
    let failing = Checks { state: ChecksState::Failing, passed: 2, total: 3, failed: Vec::new() };
    let row = apply_state(&store, &row, PullRequest { checks: failing, ..state.clone() }, 40).await;
    assert_eq!(row.group(), JobGroup::NeedsYou, "the failure is news, although the job was handled before");
    let failing = Checks { state: ChecksState::Failing, ..Checks::default() };
    apply_state(&store, &row, PullRequest { checks: failing, ..open_pull_request(at(35)) }, 35).await;
    let forgotten = store.forget_open_pull_requests(&scope()).await.expect("written");
    assert_eq!(forgotten.iter().map(|job| job.pull_request.clone()).collect::<Vec<_>>(), [None]);
    let merged = PullRequest { state: PullRequestState::Merged, merged_at: Some(at(50)), ..state };
    let row = apply_state(&store, &row, merged, 50).await;
    assert_eq!(row.group(), JobGroup::Done);
    assert_eq!(store.jobs_with_pull_requests(&scope(), false).await.expect("read"), []);
    let all = store.jobs_with_pull_requests(&scope(), true).await.expect("read");
    assert_eq!(all, std::slice::from_ref(&row));
    store.track(&scope(), response_with_pr("later", Status::Completed, 9), at(60)).await.expect("tracked");
    let visit = async |include_merged_and_closed| {
        let collect = |all: &mut Vec<_>, found: StoredPullRequest<'_>| {
            all.push((found.job, found.link.clone(), found.state.cloned()));
        };
        store.visit_pull_requests(&scope(), include_merged_and_closed, collect).await.expect("read")
    };
    let all = visit(true).await;
    let [(later, _, None), (job, link, state)] = all.as_slice() else { panic!("{all:?}") };
    assert!(later > job, "the newest job comes first");
    assert_eq!((*job, Some(link), state.as_ref()), (row.key, row.remote.pr_link.as_ref(), row.pull_request.as_deref()));
    assert_eq!(visit(false).await.len(), 1);
}

#[tokio::test]
async fn points_are_counted_per_host_and_are_free_again_after_an_hour() {
    let store = memory_store();
    for (host, points, minute) in [("github.com", 480, 0), ("github.com", 15, 0), ("github.com", 3, 30), ("b", 7, 1)] {
        store.record_host_points(host, points, at(60 * minute)).await.expect("written");
    }
    for (host, minute, expected) in [("github.com", 30, 498), ("github.com", 60, 3), ("github.com", 90, 0), ("b", 2, 7)]
    {
        assert_eq!(store.spent_host_points(host, at(60 * minute)).await.expect("read"), expected, "{host} {minute}");
    }
    // The clock was set back by more than an hour.
    assert_eq!(store.spent_host_points("github.com", at(-61 * 60)).await.expect("read"), 0);
}

#[tokio::test]
async fn the_state_of_another_pull_request_is_dropped() {
    let store = memory_store();
    let row = add_completed_job(&store).await;
    apply_state(&store, &row, open_pull_request(at(30)), 30).await;
    store.apply_job(row.key, response_with_pr("j1", Status::Completed, 8), at(40)).await;
    let newer = store.job(row.key).await.expect("read").expect("there");
    assert_eq!(newer.pull_request, None, "it has another pull request now");
    let link = row.remote.pr_link.clone().expect("a link");
    let late = ReportedPullRequest { job: row.key, link, state: open_pull_request(at(50)) };
    assert_eq!(store.apply_pull_requests(vec![late], at(50)).await.expect("written"), []);
}

fn diff_of(head: &str, bytes: usize, minute: i64) -> StoredDiff {
    StoredDiff { head: line(head), text: "é".repeat(bytes / 2), is_truncated: false, as_of: at(minute) }
}

#[tokio::test]
async fn a_diff_is_replaced_by_the_diff_of_a_newer_commit_and_the_oldest_diffs_are_deleted() {
    let store = memory_store();
    let link = |n: i64| line(&format!("https://github.com/acme/docs/pull/{n}"));
    store.save_diff(&link(1), diff_of("a", 10, 1)).await.expect("written");
    store.save_diff(&link(1), diff_of("b", 20, 2)).await.expect("written");
    assert_eq!(store.diff(&link(1)).await.expect("read"), Some(diff_of("b", 20, 2)));
    for n in 2..=9 {
        store.save_diff(&link(n), diff_of("c", 10 << 20, n)).await.expect("written");
    }
    let mut kept = Vec::new();
    for n in 1..=9 {
        kept.extend(store.diff(&link(n)).await.expect("read").map(|_| n));
    }
    assert_eq!(kept, [4, 5, 6, 7, 8, 9], "at most 64 MiB");
    store.save_diff(&link(10), diff_of("c", 65 << 20, 0)).await.expect("written");
    assert!(store.diff(&link(10)).await.expect("read").is_some(), "the newest is kept");
}

#[tokio::test]
async fn pruning_a_job_deletes_its_diff() {
    let store = memory_store();
    let row = add_completed_job(&store).await;
    let link = row.remote.pr_link.clone().expect("a link");
    let failing = Checks { state: ChecksState::Failing, ..Checks::default() };
    apply_state(&store, &row, PullRequest { checks: failing, ..open_pull_request(at(35)) }, 35).await;
    let forgotten = store.forget_open_pull_requests(&scope()).await.expect("written");
    assert_eq!(forgotten.iter().map(|job| job.pull_request.clone()).collect::<Vec<_>>(), [None]);
    let merged = PullRequest { state: PullRequestState::Merged, ..open_pull_request(at(20)) };
    apply_state(&store, &row, merged, 20).await;
    store.change_one_job(row.key, LocalChange::Handled, at(21)).await;
    store.save_diff(&link, diff_of("a", 10, 22)).await.expect("written");
    for kind in UnsentReviewKind::ALL {
        store.save_unsent_review(std::slice::from_ref(&link), kind, "No").await.expect("written");
    }
    let filter = JobPruneFilter { before: at(1000), scopes: ScopeFilter::default() };
    assert_eq!(store.prune_jobs(filter).await.expect("pruned").counts.jobs, 1);
    assert_eq!(store.diff(&link).await.expect("read"), None);
    assert!(store.unsent_reviews().await.expect("read").is_empty());
}

#[tokio::test]
async fn the_text_of_a_review_is_stored_until_it_is_replaced_with_a_blank_one() {
    let store = memory_store();
    let links = [line("https://github.com/acme/docs/pull/1"), line("https://github.com/acme/docs/pull/2")];
    store.set_value("layout", "wide").await.expect("written");
    let (review, comment) = (UnsentReviewKind::ChangeRequest, UnsentReviewKind::Comment);
    store.set_value(&format!("review:{}", links[0]), "Of an older version").await.expect("written");
    let stored = store.unsent_reviews().await.expect("read");
    assert_eq!(stored, [((links[0].clone(), review), "Of an older version".to_owned())].into());
    store.save_unsent_review(&links, review, "Two\nlines").await.expect("written");
    store.save_unsent_review(&links[1..], comment, "A comment").await.expect("written");
    store.save_unsent_review(&links[1..], review, " \n").await.expect("written");
    let expected =
        [((links[0].clone(), review), "Two\nlines".to_owned()), ((links[1].clone(), comment), "A comment".to_owned())]
            .into();
    assert_eq!(store.unsent_reviews().await.expect("read"), expected);
    let filter = JobPruneFilter { before: at(1000), scopes: ScopeFilter::default() };
    store.prune_jobs(filter).await.expect("pruned");
    assert_eq!(store.unsent_reviews().await.expect("read"), expected, "no job was deleted");
    assert_eq!(store.value("layout").await.expect("read").as_deref(), Some("wide"));
}

#[tokio::test]
async fn a_job_without_pages_is_about_the_changed_pages() {
    let store = memory_store();
    let row = add_completed_job(&store).await;
    let link = row.remote.pr_link.clone().expect("a link");
    let file = |path: &str| FileDiffStat { path: line(path), additions: 1, deletions: 0 };
    let value =
        PullRequestDetails { files: vec![file("guides/sso.mdx"), file("docs.json")], ..PullRequestDetails::default() };
    let details = Timed { value, as_of: at(30) };
    store.save_pull_request_details(&link, vec![row.key], details.clone()).await.expect("written");
    assert_eq!(store.pull_request_details(&link).await.expect("read"), Some(details.clone()));
    let pages = async || store.job(row.key).await.expect("read").expect("there").local.pages;
    assert_eq!(pages().await.as_slice(), [line("/guides/sso")]);
    let value = PullRequestDetails { files: vec![file("other.mdx")], ..PullRequestDetails::default() };
    let other = Timed { value, ..details };
    store.save_pull_request_details(&link, vec![row.key], other).await.expect("written");
    assert_eq!(pages().await.as_slice(), [line("/guides/sso")], "it names pages now");
}
