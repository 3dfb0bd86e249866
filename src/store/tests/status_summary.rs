use super::*;
use crate::model::change::QueueChange;
use crate::model::job::{JobGroup, PullRequestCounts};
use crate::model::prompt::DeliveryKind;
use crate::model::pull_request::tests::open_pull_request;
use crate::model::pull_request::{Checks, ChecksState, PullRequest, PullRequestState, PullRequestTurn, ReviewDecision};
use crate::store::{ReportedPullRequest, schema};
use std::fs;

#[tokio::test]
async fn the_status_summary_has_the_sizes_of_the_groups_in_the_jobs_list() {
    let folder = tempdir().expect("a folder");
    let store = open(folder.path());
    assert_eq!(Store::status_summary(folder.path(), &scope()).expect("read"), None, "nothing of this scope");
    for word in ["active", "completed", "failed", "archived", "reviewing"] {
        for (is_viewed, number) in [(false, None), (true, None), (false, Some(7)), (true, Some(7))] {
            let id = format!("{word}-{is_viewed}-{number:?}");
            let row = store.add_accepted_job(&id, Status::Active, at(0)).await;
            let seen = response(&id, Status::parse(word));
            let seen = number.map_or(seen.clone(), |number| response_with_pr(&id, Status::parse(word), number));
            store.apply_job(row.key, seen, at(60)).await;
            if is_viewed {
                store.change_one_job(row.key, LocalChange::Handled, at(90)).await;
            }
        }
    }
    let (_, queued) = store.new_job("queued", at(0)).await;
    assert_eq!(queued.local.undelivered, Some(DeliveryKind::Queued));
    let (_, paused) = store.new_job("paused", at(0)).await;
    store.change_queue(&[paused.key], QueueChange::Pause, at(0)).await.expect("paused");
    let dismissed_job = store.add_accepted_job("dismissed", Status::Failed, at(0)).await;
    store.change_one_job(dismissed_job.key, LocalChange::Dismissed(true), at(90)).await;
    let gone = store.add_accepted_job("gone", Status::Active, at(0)).await;
    store.apply_job_response(&gone, JobResponse::NotFound, at(70)).await.expect("seen");
    let rows = store.jobs(&scope()).await.expect("rows");
    let count = |group| rows.iter().filter(|row| row.group() == group).count();
    let summary = Store::status_summary(folder.path(), &scope()).expect("read").expect("known");
    assert_eq!(
        (summary.needs_you, summary.active, summary.queued + summary.paused, summary.tracked),
        (count(JobGroup::NeedsYou), count(JobGroup::Working), count(JobGroup::Queued), rows.len() - 1)
    );
    assert_eq!((summary.needs_you, summary.active, summary.queued, summary.paused), (3, 8, 1, 1));
    for id in ["active-false-None", "archived-true-None"] {
        let row = store.job_by_id(&scope(), &job_id(id)).await.expect("read").expect("known");
        store.change_one_job(row.key, LocalChange::Dismissed(true), at(95)).await;
    }
    let dismissed = Store::status_summary(folder.path(), &scope()).expect("read").expect("known");
    assert_eq!((dismissed.active, dismissed.tracked), (8, summary.tracked - 2), "dismissed jobs can be working");
    assert_eq!(summary.as_of, Some(at(60)));
}

#[tokio::test]
async fn the_status_summary_creates_no_store_but_rolls_back_the_journal_of_a_killed_process() {
    let (folder, left) = (tempdir().expect("a folder"), tempdir().expect("a folder"));
    assert_eq!(Store::status_summary(folder.path(), &scope()).expect("read"), None);
    assert!(!Store::exists(folder.path()));
    let store = open(folder.path());
    store.add_accepted_job("j1", Status::Active, at(0)).await;
    let (from, to) = (folder.path().to_owned(), left.path().to_owned());
    store
        .with_connection(move |db| {
            // The changed pages don't fit into SQLite's cache, so it writes some of them before the transaction ends.
            // The journal therefore contains data.
            db.execute_batch("PRAGMA cache_size = 2; BEGIN IMMEDIATE; UPDATE job SET dismissed = 1;").expect("started");
            for n in 0..200 {
                db.execute("INSERT INTO key_value (key, value) VALUES (?1, ?2)", (n, "x".repeat(2000)))
                    .expect("written");
            }
            for name in ["docdeck.db", "docdeck.db-journal"] {
                fs::copy(from.join(name), to.join(name)).expect("copied as a killed process leaves it");
            }
            db.execute_batch("ROLLBACK").expect("rolled back");
        })
        .await;
    let summary = Store::status_summary(left.path(), &scope()).expect("read").expect("known");
    assert_eq!((summary.tracked, summary.active), (1, 1), "{summary:?}");
}

/// Returns open, draft, queued and merged pull requests with every result of checks, reviews and conflicts.
fn pull_requests() -> Vec<PullRequest> {
    use {ChecksState as C, PullRequestState as S, ReviewDecision as R};
    let mut all = Vec::new();
    for state in [S::Open, S::Draft, S::Queued, S::Merged, S::Closed] {
        for checks in [C::Passing, C::Failing, C::Pending, C::None, C::Unavailable] {
            for review in [Some(R::Approved), Some(R::ChangesRequested), Some(R::Required), Some(R::None), None] {
                for conflict in [None, Some(false), Some(true)] {
                    let checks = Checks { state: checks, ..Checks::default() };
                    all.push(PullRequest { state, checks, review, conflict, ..open_pull_request(at(0)) });
                }
            }
        }
    }
    all
}

/// Adds completed jobs, each with one of [`pull_requests`].
fn fill_pull_requests(db: &Connection, schema: usize) {
    for (state, n) in pull_requests().iter().zip(1000..) {
        let json = serde_json::to_string(state).expect("JSON");
        let permit = match state.main_fact().turn() {
            PullRequestTurn::User => "user",
            PullRequestTurn::Host => "host",
            PullRequestTurn::Nobody => "nobody",
        };
        db.execute(
            "INSERT INTO job (scope, title, status, pr_link, changed_at, created_at, started_at, revision, id,
                 checked_at, pull_request, pr_turn)
             VALUES (1, 't', 'completed', 'https://x.test/1', 10000, 1000, 2000, 1, ?1, 5000, ?2, ?3)",
            (format!("j{n}"), json, permit),
        )
        .expect("a job");
    }
    if schema >= 15 {
        let (_, update) = schema::MIGRATIONS[14].split_once("UPDATE").expect("fills the column");
        db.execute_batch(&format!("UPDATE{update}").replace("CREATE INDEX", "CREATE INDEX IF NOT EXISTS"))
            .expect("filled");
    }
}

#[tokio::test]
async fn pull_requests_are_counted_in_the_status_summary_and_in_the_first_rows() {
    let folder = tempdir().expect("a folder");
    let store = open(folder.path());
    for (n, state) in pull_requests().into_iter().enumerate() {
        let row = store
            .track(&scope(), response_with_pr(&format!("j{n}"), Status::Completed, 7), at(60))
            .await
            .expect("tracked");
        let link = row.remote.pr_link.clone().expect("a link");
        let reported = ReportedPullRequest { job: row.key, link, state };
        store.apply_pull_requests(vec![reported], at(70)).await.expect("written");
        if n % 10 == 1 {
            store.change_one_job(row.key, LocalChange::Handled, at(80)).await;
        }
    }
    let mut expected = PullRequestCounts::default();
    store.jobs(&scope()).await.expect("rows").iter().for_each(|row| expected.adjust(row.group(), row.pr_fact(), 1));
    assert!(expected.to_review > 5 && expected.failing > expected.to_review, "{expected:?}");
    let summary = Store::status_summary(folder.path(), &scope()).expect("read").expect("known");
    let first = store.first_jobs(&scope(), 3).await.expect("read");
    assert_eq!((summary.pull_requests, first.pull_requests), (expected, expected));
}

/// Adds jobs in every combination of states, using only columns that every schema has.
fn fill_jobs(db: &Connection, schema: usize) {
    let scope = scope();
    db.execute("INSERT INTO scope (id, base_url, project) VALUES (1, ?1, ?2)", (&scope.base_url, &scope.project))
        .expect("a scope");
    let viewed_at = if schema < 11 { "looked_at" } else { "viewed_at" };
    let insert = format!(
        "INSERT INTO job (scope, title, status, undelivered, gone, dismissed, pr_link, {viewed_at}, changed_at,
         checked_at, created_at, started_at, revision, merged_into, id)
         VALUES (1, 't', ?1, ?2, ?3, ?4, ?5, ?6, 10000, ?7, 1000, 2000, 1, ?8, ?9)"
    );
    let mut ids = (1..).map(|n| format!("j{n}"));
    // This is a new job whose prompt was discarded, so it has no id.
    db.execute(
        &insert,
        (None::<&str>, None::<&str>, 0, 1, None::<&str>, None::<i64>, None::<i64>, None::<i64>, None::<String>),
    )
    .expect("a job");
    db.execute(
        "INSERT INTO prompt (job, kind, text, state, written_at) VALUES (1, 'create', 't', 'dismissed', 1000)",
        [],
    )
    .expect("a prompt");
    for status in [None, Some("active"), Some("completed"), Some("failed"), Some("archived"), Some("odd")] {
        for undelivered in [None, Some("queued"), Some("paused"), Some("sending"), Some("rejected")] {
            for bits in 0..16 {
                let link = (bits & 4 > 0).then_some("https://x.test/1");
                let viewed_at = (bits & 8 > 0).then_some(20_000);
                db.execute(
                    &insert,
                    (
                        status,
                        undelivered,
                        bits & 1,
                        bits >> 1 & 1,
                        link,
                        viewed_at,
                        3000 + bits,
                        None::<i64>,
                        ids.next(),
                    ),
                )
                .expect("a job");
            }
        }
    }
    let merged = (Some("failed"), None::<&str>, 0, 0, None::<&str>, None::<i64>, 4000, Some(1), None::<String>);
    db.execute(&insert, merged).expect("merged");
}

#[tokio::test]
async fn the_status_summary_reads_every_older_schema_without_changing_the_file() {
    for schema in 1..=schema::MIGRATIONS.len() {
        let folder = tempdir().expect("a folder");
        let file = folder.path().join("docdeck.db");
        let db = Connection::open(&file).expect("a database");
        db.execute_batch("BEGIN").expect("started");
        db.execute_batch(&schema::MIGRATIONS[..schema].concat()).expect("created");
        db.pragma_update(None, "user_version", i64::try_from(schema).expect("small")).expect("numbered");
        fill_jobs(&db, schema);
        if schema >= 12 {
            fill_pull_requests(&db, schema);
        }
        db.execute_batch("COMMIT").expect("written");
        drop(db);
        let before = fs::read(&file).expect("bytes");
        let old = Store::status_summary(folder.path(), &scope()).expect("read").expect("known");
        assert_eq!(fs::read(&file).expect("bytes"), before, "schema {schema}");
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1, "schema {schema}");
        let rows = open(folder.path()).jobs(&scope()).await.expect("rows");
        let count = |group| rows.iter().filter(|row| row.group() == group).count();
        let working = rows.iter().filter(|row| row.counts_as_working()).count();
        let counted = [count(JobGroup::NeedsYou), working, count(JobGroup::Queued)];
        let mut pull_requests = PullRequestCounts::default();
        rows.iter().for_each(|row| pull_requests.adjust(row.group(), row.pr_fact(), 1));
        assert_eq!(old.pull_requests, pull_requests, "schema {schema}");
        assert_eq!(pull_requests.to_review > 0 && pull_requests.failing > 0, schema >= 12, "schema {schema}");
        assert_eq!([old.needs_you, old.active, old.queued + old.paused], counted, "schema {schema}");
        assert!(working > count(JobGroup::Working), "some dismissed jobs are working");
        let discarded = rows.iter().filter(|row| row.local.undelivered == Some(DeliveryKind::Discarded)).count();
        assert_eq!(discarded, usize::from(schema < 9), "schema {schema}: later schemas store it");
        assert_eq!(Some(old), Store::status_summary(folder.path(), &scope()).expect("read"), "schema {schema}");
        assert!(old.needs_you > 0 && old.queued > 0 && old.paused > 0, "{old:?}");
        assert_eq!(old.as_of, Time::from_timestamp_millis(3000), "schema {schema}");
    }
}
