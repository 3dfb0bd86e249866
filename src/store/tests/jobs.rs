use super::*;
use crate::model::change::LocalChange;
use crate::model::job::{FirstJobs, JobGroup};
use crate::model::log::LogKind;
use crate::model::prompt::{EventKind, JobEvent};
use crate::model::pull_request::tests::open_pull_request;
use crate::model::pull_request::{Checks, ChecksState, PullRequest, PullRequestState};
use std::time::{Duration, Instant};

fn status_event(seconds: i64, from: Option<Status>, to: Status) -> JobEvent {
    JobEvent { at: at(seconds), kind: EventKind::Status { from, to } }
}

#[tokio::test]
async fn a_change_of_status_is_stored_with_its_time_which_becomes_the_finish_time() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    let applied = store.apply_job(row.key, response_with_pr("j1", Status::Completed, 3), at(60)).await;
    let link = line("https://github.com/acme/docs/pull/3");
    let events = vec![
        status_event(60, Some(Status::Active), Status::Completed),
        JobEvent { at: at(60), kind: EventKind::PullRequest(link.clone()) },
    ];
    assert_eq!(applied.events, events);
    let row = applied.job;
    assert_eq!((row.remote.status, row.remote.pr_link), (Some(Status::Completed), Some(link)));
    assert_eq!(
        (row.local.finished_at, row.local.changed_at, row.local.checked_at),
        (Some(at(60)), at(60), Some(at(60)))
    );
    let mut all = vec![status_event(0, None, Status::Active)];
    all.extend(events);
    assert_eq!(store.thread_of(row.key).await.events, all);
}

#[tokio::test]
async fn an_unchanged_response_updates_only_the_time_of_the_last_check() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    let applied = store.apply_job(row.key, response("j1", Status::Active), at(5)).await;
    assert_eq!(applied.events, []);
    let mut expected = row.clone();
    expected.local.checked_at = Some(at(5));
    expected.revision = applied.job.revision;
    assert!(applied.job.revision > row.revision);
    assert_eq!(applied.job, expected);
}

#[tokio::test]
async fn a_field_that_a_response_leaves_out_keeps_its_value() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    let mut full = response_with_pr("j1", Status::Archived, 3);
    full.state.source.repository = Some(line("repo").into());
    full.state.source.git_ref = Some(line("ref"));
    full.state.model = Some(line("model").into());
    full.created_at = Some(at(-5));
    full.state.archived_at = Some(at(9));
    let known = store.apply_job(row.key, full, at(10)).await.job;
    let applied = store.apply_job(row.key, response("j1", Status::parse("")), at(20)).await;
    assert_eq!(applied.events, []);
    let mut expected = known;
    expected.local.checked_at = Some(at(20));
    expected.revision = applied.job.revision;
    assert_eq!(applied.job, expected);
    assert_eq!(expected.created_at, at(-5));
}

#[tokio::test]
async fn an_unknown_status_is_stored_as_received() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    store.apply_job(row.key, response("j1", Status::parse("Re-Viewing")), at(5)).await;
    let row = store.job(row.key).await.expect("read").expect("there");
    assert_eq!(row.remote.status.as_ref().map(Status::word), Some("Re-Viewing"));
    let none = store.add_accepted_job("j2", Status::parse(""), at(6)).await;
    assert_eq!(none.remote.status, Some(Status::parse("")));
}

#[tokio::test]
async fn a_finished_job_that_works_again_gets_a_new_start_time() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    store.apply_job(row.key, response("j1", Status::Failed), at(50)).await;
    let row = store.apply_job(row.key, response("j1", Status::Active), at(90)).await.job;
    assert_eq!((row.local.started_at, row.local.finished_at, row.local.changed_at), (at(90), None, at(90)));
    let row = store.apply_job(row.key, response("j1", Status::Completed), at(95)).await.job;
    assert_eq!(row.local.finished_at, Some(at(95)));
    let row = store.apply_job(row.key, response("j1", Status::Archived), at(99)).await.job;
    assert_eq!(row.local.finished_at, Some(at(95)), "archiving does not change it");
}

#[tokio::test]
async fn a_job_that_is_gone_stays_listed_and_can_come_back() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    let gone = store.apply_job_response(&row, JobResponse::NotFound, at(5)).await.expect("applied");
    assert!(gone.job.local.gone);
    assert_eq!(gone.events, [JobEvent { at: at(5), kind: EventKind::Gone }]);
    assert_eq!(gone.job.remote.status, Some(Status::Active));
    let again = store.apply_job_response(&row, JobResponse::NotFound, at(6)).await.expect("applied");
    assert_eq!(again.events, []);
    let back = store.apply_job(row.key, response("j1", Status::Active), at(7)).await;
    assert!(!back.job.local.gone);
    assert_eq!(back.events, [JobEvent { at: at(7), kind: EventKind::Back }]);
}

#[tokio::test]
async fn viewing_a_job_marks_it_as_seen_until_its_next_change() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    let row = store.apply_job(row.key, response("j1", Status::Failed), at(10)).await.job;
    assert!(row.is_unseen());
    let row = store.change_one_job(row.key, LocalChange::Viewed, at(11)).await;
    assert_eq!((row.local.viewed_at, row.is_unseen()), (Some(at(11)), false));
    assert!(store.apply_job(row.key, response("j1", Status::Archived), at(12)).await.job.is_unseen());
}

#[tokio::test]
async fn a_job_becomes_seen_and_unseen_even_if_the_clock_was_set_back() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Active, at(1000)).await;
    let row = store.change_one_job(row.key, LocalChange::Viewed, at(500)).await;
    assert!(!row.is_unseen());
    assert!(store.apply_job(row.key, response("j1", Status::Failed), at(600)).await.job.is_unseen());
}

#[tokio::test]
async fn a_job_can_be_dismissed_and_restored() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    assert!(store.change_one_job(row.key, LocalChange::Dismissed(true), at(1)).await.local.dismissed);
    assert!(store.jobs(&scope()).await.expect("rows")[0].local.dismissed);
    assert!(!store.change_one_job(row.key, LocalChange::Dismissed(false), at(2)).await.local.dismissed);
}

#[tokio::test]
async fn a_tracked_job_has_its_id_as_title_and_no_invented_finish_time() {
    let store = memory_store();
    let job = RemoteJob { created_at: Some(at(-900)), ..response_with_pr("j1", Status::Completed, 5) };
    let row = store.track(&scope(), job.clone(), at(0)).await.expect("tracked");
    assert_eq!((row.local.title.as_str(), row.local.finished_at, row.local.started_at), ("j1", None, at(-900)));
    assert_eq!((row.local.changed_at, row.local.checked_at), (at(0), Some(at(0))));
    store.change_one_job(row.key, LocalChange::Dismissed(true), at(1)).await;
    let again = store.track(&scope(), job, at(2)).await.expect("tracked");
    assert_eq!((again.key, again.local.dismissed), (row.key, false));
    assert_eq!(store.jobs(&scope()).await.expect("rows").len(), 1);
}

#[tokio::test]
async fn only_rows_that_changed_since_the_revision_are_returned() {
    let store = memory_store();
    let first = store.add_accepted_job("j1", Status::Active, at(0)).await;
    let second = store.add_accepted_job("j2", Status::Active, at(1)).await;
    assert!(second.revision > first.revision);
    let nothing = store.jobs_changed_since(&scope(), second.revision).await.expect("rows");
    assert_eq!((nothing.jobs, nothing.revision), (Vec::new(), second.revision));
    let changed = store.apply_job(first.key, response("j1", Status::Failed), at(2)).await.job;
    let since = store.jobs_changed_since(&scope(), second.revision).await.expect("rows");
    assert_eq!((since.revision, since.jobs), (changed.revision, vec![changed]));
    assert_eq!(store.jobs_changed_since(&scope(), 0).await.expect("rows").jobs.len(), 2);
}

#[tokio::test]
async fn projects_and_services_have_separate_jobs() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    let other = Scope { project: "other".to_owned(), ..scope() };
    assert_eq!(store.jobs(&other).await.expect("rows"), []);
    assert_eq!(store.job_by_id(&other, &job_id("j1")).await.expect("read"), None);
    let same_id = store.track(&other, response("j1", Status::Failed), at(1)).await.expect("tracked");
    assert_ne!(same_id.key, row.key);
    // The organization doesn't matter for jobs.
    let named = Scope { organization: Some("acme".to_owned()), ..scope() };
    assert_eq!(store.jobs(&named).await.expect("rows").len(), 1);
}

#[tokio::test]
async fn the_last_events_are_returned_as_log_entries_without_prompt_texts() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    store.apply_job(row.key, response_with_pr("j1", Status::Completed, 3), at(5)).await;
    let words = |lines: Vec<crate::model::log::LogEntry>| -> Vec<String> {
        lines
            .into_iter()
            .map(|entry| match entry.kind {
                LogKind::Transition(what) => {
                    format!("{} {} {what}", entry.at.timestamp() - at(0).timestamp(), entry.subject)
                }
                other => format!("{other:?}"),
            })
            .collect()
    };
    let all = words(store.recent_events(&scope(), 10).await.expect("lines"));
    let expected = [
        "0 Prompt of j1 working",
        "5 Prompt of j1 working → completed",
        "5 Prompt of j1 pull request https://github.com/acme/docs/pull/3",
    ];
    assert_eq!(all, expected);
    assert_eq!(words(store.recent_events(&scope(), 1).await.expect("lines")), expected[2..]);
}

#[tokio::test]
async fn ten_thousand_jobs_are_read_with_few_queries() {
    let store = memory_store();
    store.add_accepted_job("j0", Status::Active, at(0)).await;
    store
        .with_connection(|db| {
            db.execute_batch(
                "INSERT INTO job (scope, id, title, status, repository, created_at, started_at, changed_at, revision)
                 WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 9999)
                 SELECT 1, 'id-' || i, 'Title of job ' || i, 'completed', 'https://github.com/acme/docs', i, i, i, 1
                 FROM n",
            )
            .expect("filled");
        })
        .await;
    let start = Instant::now();
    assert_eq!(store.jobs(&scope()).await.expect("rows").len(), 10_000);
    // The limit is far above the usual time, even for a debug build on a busy machine; one query per row would take
    // longer.
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[tokio::test]
async fn frequent_queries_use_an_index() {
    let store = memory_store();
    let plan = |sql: String| {
        let store = store.clone();
        async move {
            store
                .with_connection(move |db| {
                    let mut statement = db.prepare(&format!("EXPLAIN QUERY PLAN {sql}")).expect("a plan");
                    let steps = statement.query_map([], |row| row.get::<_, String>(3)).expect("steps");
                    steps.map(|step| step.expect("a step")).collect::<Vec<_>>().join("; ")
                })
                .await
        }
    };
    let changed = plan("SELECT * FROM job WHERE scope = 1 AND revision > 5 ORDER BY revision".to_owned()).await;
    assert!(changed.contains("job_by_revision") && !changed.contains("TEMP B-TREE"), "{changed}");
    let by_id = plan("SELECT * FROM job WHERE scope = 1 AND id = 'x'".to_owned()).await;
    assert!(by_id.contains("job_by_id"), "{by_id}");
    let queued = plan(crate::store::queue::SENDABLE_PROMPTS_SQL.replace("?1", "1").replace("?2", "NULL")).await;
    assert!(queued.contains("prompt_queued") && !queued.contains("SCAN job"), "{queued}");
    let sent = plan(crate::store::labels::SENT_PROMPTS_SQL.replace("?1", "1")).await;
    assert!(sent.contains("prompt_by_sent") && !sent.contains("TEMP B-TREE"), "{sent}");
    let first = plan(
        crate::store::columns::select_jobs_sql(crate::store::jobs::FIRST_JOBS_SQL)
            .replace("?1", "1")
            .replace("?2", "45"),
    )
    .await;
    let sorts = first.replace("group_concat(ORDER BY)", "").contains("ORDER BY");
    assert!(first.contains("job_by_list_order") && !sorts, "{first}");
    let needs = plan(crate::store::jobs::PULL_REQUEST_COUNTS_SQL.replace("?1", "1").replace("?2", "0")).await;
    assert!(needs.contains("job_by_pr_need (scope=? AND list_group=? AND pr_need=? AND merged_into=?)"), "{needs}");
}

#[tokio::test]
async fn only_jobs_that_may_still_change_are_checked() {
    let store = memory_store();
    let active = store.add_accepted_job("active", Status::Active, at(0)).await;
    let odd = store.add_accepted_job("odd", Status::parse("Re-Viewing"), at(0)).await;
    let late = store.add_accepted_job("late", Status::Active, at(0)).await;
    store.apply_job(late.key, response("late", Status::Completed), at(50)).await;
    let woken = store.add_accepted_job("woken", Status::Active, at(0)).await;
    store.apply_job(woken.key, response_with_pr("woken", Status::Completed, 1), at(10)).await;
    store.add_follow_up(woken.key, "more", at(20)).await.expect("written");
    for (id, status) in [("failed", Status::Failed), ("archived", Status::Archived)] {
        let finished = store.add_accepted_job(id, Status::Active, at(0)).await;
        store.apply_job(finished.key, response(id, status), at(50)).await;
    }
    let finished = store.add_accepted_job("over", Status::Active, at(0)).await;
    store.apply_job(finished.key, response_with_pr("over", Status::Completed, 2), at(50)).await;
    let gone = store.add_accepted_job("gone", Status::Active, at(0)).await;
    store.apply_job_response(&gone, JobResponse::NotFound, at(50)).await.expect("written");
    store.add_new_job(&scope(), "not sent yet", at(60)).await.expect("written");
    let unfinished = store.jobs_to_check(&scope()).await.expect("read");
    let keys: Vec<JobKey> = unfinished.iter().map(|row| row.key).collect();
    assert_eq!(keys, [active.key, odd.key, late.key]);
    for row in store.jobs(&scope()).await.expect("read") {
        assert!(crate::model::poll::next_poll(&row).is_none() || keys.contains(&row.key), "{row:?}");
    }
}

#[tokio::test]
async fn the_revision_of_a_scope_is_the_revision_of_its_last_change() {
    let store = memory_store();
    assert_eq!(store.latest_job_revision(&scope()).await.expect("read"), 0);
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    assert_eq!(store.latest_job_revision(&scope()).await.expect("read"), row.revision);
}

/// Returns the sort key of a row in the jobs list, by the rules of the model.
fn list_position(row: &Job) -> (usize, bool, i64, i64) {
    let group = row.group();
    let index = JobGroup::ALL.iter().position(|&other| other == group).expect("one of all");
    match group {
        JobGroup::Queued => (index, false, row.local.queue_position.unwrap_or(i64::MAX), row.key.0),
        _ => {
            let is_over = group == JobGroup::Dismissed && !row.counts_as_working();
            (index, is_over, -row.sort_time().timestamp_millis(), -row.key.0)
        }
    }
}

/// Returns SQL for the values of the columns `pull_request` and `pr_turn`: first NULL for an unknown state, then one
/// pair for each turn.
fn stored_pull_requests() -> Vec<String> {
    let open = open_pull_request(at(0));
    let pending = Checks { state: ChecksState::Pending, ..Checks::default() };
    let states = [
        (open.clone(), "user"),
        (PullRequest { checks: pending, ..open.clone() }, "host"),
        (PullRequest { state: PullRequestState::Merged, ..open }, "nobody"),
    ];
    let known = states.map(|(state, turn)| format!("'{}', '{turn}'", serde_json::to_string(&state).expect("JSON")));
    std::iter::once("NULL, NULL".to_owned()).chain(known).collect()
}

#[tokio::test]
async fn the_first_rows_are_the_start_of_the_complete_sorted_list() {
    let store = memory_store();
    store.new_job("makes the scope", at(0)).await;
    let states =
        ["NULL", "'queued'", "'paused'", "'sending'", "'not sent'", "'rejected'", "'unconfirmed'", "'discarded'"];
    let statuses = ["NULL", "'active'", "'completed'", "'archived'", "'failed'", "'Re-Viewing'", "''"];
    let pull_requests = stored_pull_requests();
    // The rows have every combination of states. They are not in the order of the list, and some have the same times.
    let mut rows = Vec::new();
    for (n, undelivered) in states.iter().enumerate() {
        for (m, status) in statuses.iter().enumerate() {
            for bits in 0..64 {
                let [gone, dismissed, handled, pr, old, named] =
                    [1, 2, 4, 8, 16, 32].map(|bit| i32::from(bits & bit != 0));
                let spread = (n * 7919 + m * 104_729 + bits * 31) % 50;
                let state = if pr == 1 { &pull_requests[spread % pull_requests.len()] } else { "NULL, NULL" };
                rows.push(format!(
                    "INSERT INTO job (scope, title, status, undelivered, gone, dismissed, pr_link, created_at, started_at,
                         archived_at, finished_at, changed_at, handled_at, queue_position, undelivered_at, gone_at, id,
                         revision, pull_request, pr_turn)
                     VALUES (1, 'a job', {status}, {undelivered}, {gone}, {dismissed}, iif({pr}, 'https://x.test/1', NULL),
                         {spread}000, {spread}500, iif({old}, {spread}700, NULL), iif({pr}, {spread}600, NULL), 60000,
                         iif({handled}, 60000, iif({old}, 59999, NULL)), iif({old}, {spread}, NULL),
                         iif({old}, {spread}800, NULL), iif({pr}, {spread}900, NULL), iif({named}, 'j{n}-{m}-{bits}', NULL),
                         1, {state});"
                ));
            }
        }
    }
    store.with_connection(move |db| db.execute_batch(&rows.concat()).expect("inserted")).await;
    let mut all = store.jobs(&scope()).await.expect("read");
    all.sort_by_key(list_position);
    let group_counts = JobGroup::ALL.map(|group| all.iter().filter(|row| row.group() == group).count());
    let working = all.iter().filter(|row| row.counts_as_working()).count();
    assert!(group_counts.iter().all(|&size| size > 20) && working > group_counts[1] + 20, "{group_counts:?} {working}");
    for limit in [1, 40, 700, 4_000] {
        let first = store.first_jobs(&scope(), limit).await.expect("read");
        let expected: Vec<JobKey> = all.iter().take(limit as usize).map(|row| row.key).collect();
        assert!(first.jobs.iter().map(|row| row.key).eq(expected), "the first {limit}");
        assert_eq!((first.group_counts, first.working_count), (group_counts, working));
    }
}

#[tokio::test]
async fn an_empty_store_has_no_first_rows() {
    assert_eq!(memory_store().first_jobs(&scope(), 10).await.expect("read"), FirstJobs::default());
}

#[tokio::test]
async fn jobs_of_other_projects_are_counted_without_dismissed_ones() {
    let store = memory_store();
    let other = |project: &str| Scope { project: project.to_owned(), ..scope() };
    for (project, prompts) in [("acme-docs", 1), ("beta", 2), ("gamma", 3)] {
        for n in 0..prompts {
            store.add_new_job(&other(project), &format!("Prompt {n}"), at(0)).await.expect("written");
        }
    }
    let gamma = store.jobs(&other("gamma")).await.expect("rows");
    store.change_jobs(&[gamma[0].key], LocalChange::Dismissed(true), at(1)).await.expect("dismissed");
    assert_eq!(store.count_jobs_in_other_scopes(vec![scope()]).await.expect("a count"), 4);
    assert_eq!(store.count_jobs_in_other_scopes(vec![scope(), other("gamma")]).await.expect("a count"), 2);
    assert_eq!(
        store.count_jobs_in_other_scopes(vec![scope(), other("beta"), other("gamma")]).await.expect("a count"),
        0
    );
}

#[tokio::test]
async fn a_job_needs_the_user_until_it_is_handled_and_again_after_its_next_change() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    let row = store.apply_job(row.key, response_with_pr("j1", Status::Completed, 7), at(10)).await.job;
    let key = row.key;
    assert_eq!(row.group(), JobGroup::NeedsYou);
    let row = store.change_one_job(key, LocalChange::Viewed, at(20)).await;
    assert!(row.group() == JobGroup::NeedsYou && !row.is_unseen(), "viewing is not handling");
    let row = store.change_one_job(key, LocalChange::Handled, at(30)).await;
    assert_eq!((row.group(), row.local.handled_at), (JobGroup::Done, Some(at(30))));
    let row = store.apply_job(key, response_with_pr("j1", Status::Completed, 8), at(40)).await.job;
    assert_eq!(row.group(), JobGroup::NeedsYou, "another pull request");
    let row = store.change_one_job(key, LocalChange::RestoreHandledAt(Some(at(40))), at(50)).await;
    assert_eq!(row.group(), JobGroup::Done);
    let prompt = store.follow_up(key, "more", at(60)).await;
    store.permit(prompt, at(61)).await;
    let row = store.accept(prompt, response_with_pr("j1", Status::Completed, 8), at(62)).await;
    assert_eq!(row.group(), JobGroup::Done, "the answer is unchanged since the follow-up");
    let row = store.apply_job(key, response_with_pr("j1", Status::Completed, 8), at(64)).await.job;
    assert_eq!(row.group(), JobGroup::NeedsYou, "the follow-up is done");
}

#[tokio::test]
async fn a_follow_up_to_a_failed_job_marks_it_as_handled() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    let row = store.apply_job(row.key, response("j1", Status::Failed), at(10)).await.job;
    assert_eq!(row.group(), JobGroup::NeedsYou);
    let prompt = store.follow_up(row.key, "try again", at(20)).await;
    let discarded = store.discard_prompt(prompt, at(21)).await.expect("discarded");
    assert_eq!(discarded.jobs[0].group(), JobGroup::NeedsYou, "it was not sent");
    let prompt = store.follow_up(row.key, "try again", at(22)).await;
    store.permit(prompt, at(23)).await;
    let row = store.accept(prompt, response("j1", Status::Failed), at(24)).await;
    assert_eq!(row.group(), JobGroup::Done);
}

#[tokio::test]
async fn a_gone_job_stores_the_time_of_the_first_404() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    for moment in [50, 60] {
        let row = store.apply_job_response(&row, JobResponse::NotFound, at(moment)).await.expect("written").job;
        assert_eq!((row.local.gone, row.state_since()), (true, Some(at(50))));
    }
    let row = store.apply_job(row.key, response("j1", Status::Active), at(70)).await.job;
    assert_eq!((row.local.gone_at, row.state_since()), (None, Some(at(0))));
}
