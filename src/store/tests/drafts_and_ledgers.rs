use super::*;
use crate::model::ledger::{Budget, CountedBy, Quota, Wait};
use crate::model::period::DateRange;
use crate::model::prompt::DraftTarget;
use crate::model::views::{Count, Counts, PageRow, ViewsQuery, ViewsResponse};
use crate::store::Draft;

fn draft(slot: DraftTarget, text: &str, seconds: i64) -> Draft {
    Draft { slot, text: text.to_owned(), pages: Vec::new(), saved_at: at(seconds) }
}

#[tokio::test]
async fn there_is_one_draft_for_a_new_job_and_one_for_each_follow_up() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    let follow_up = DraftTarget::FollowUp(row.key);
    for (slot, text, seconds) in
        [(DraftTarget::NewJob, "Fi", 1), (DraftTarget::NewJob, "Fix\n", 2), (follow_up, " more ", 3)]
    {
        store.save_draft(&scope(), slot, text, at(seconds)).await.expect("stored");
    }
    let drafts = store.drafts(&scope()).await.expect("drafts");
    assert_eq!(drafts, [draft(DraftTarget::NewJob, "Fix\n", 2), draft(follow_up, " more ", 3)]);
    let other = Scope { project: "other".to_owned(), ..scope() };
    assert_eq!(store.drafts(&other).await.expect("drafts"), []);
    store.delete_draft(&scope(), follow_up).await.expect("deleted");
    store.save_draft(&scope(), DraftTarget::NewJob, "", at(4)).await.expect("deleted");
    assert_eq!(store.drafts(&scope()).await.expect("drafts"), []);
}

#[tokio::test]
async fn submitting_a_draft_deletes_only_this_draft() {
    let store = memory_store();
    let row = store.add_accepted_job("j1", Status::Active, at(0)).await;
    let follow_up = DraftTarget::FollowUp(row.key);
    for slot in [DraftTarget::NewJob, follow_up] {
        store.save_draft(&scope(), slot, "typed", at(1)).await.expect("stored");
    }
    store.new_job("typed", at(2)).await;
    assert_eq!(store.drafts(&scope()).await.expect("drafts"), [draft(follow_up, "typed", 1)]);
    store.follow_up(row.key, "typed", at(3)).await;
    assert_eq!(store.drafts(&scope()).await.expect("drafts"), []);
}

#[tokio::test]
async fn the_batch_draft_is_deleted_only_when_a_batch_with_the_same_prompts_is_submitted() {
    let store = memory_store();
    let batch = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    store.save_draft(&scope(), DraftTarget::NewJob, "one job", at(1)).await.expect("stored");
    store.save_draft(&scope(), DraftTarget::Batch, "one\n\ntwo\n", at(2)).await.expect("stored");
    let both = [draft(DraftTarget::NewJob, "one job", 1), draft(DraftTarget::Batch, "one\n\ntwo\n", 2)];
    assert_eq!(store.drafts(&scope()).await.expect("drafts"), both);
    store.add_batch(&scope(), &batch(&["from", "a file"]), at(3)).await.expect("queued");
    store.add_batch(&scope(), &batch(&["one", " "]), at(4)).await.expect_err("a blank one");
    assert_eq!(store.drafts(&scope()).await.expect("drafts"), both);
    store.add_batch(&scope(), &batch(&["one", "two"]), at(5)).await.expect("queued");
    assert_eq!(store.drafts(&scope()).await.expect("drafts"), both[..1]);
}

#[tokio::test]
async fn an_edited_prompt_is_stored_beside_the_new_job_draft_until_it_is_sent_again() {
    let store = memory_store();
    let (prompt, _) = store.add_new_job(&scope(), "first words", at(0)).await.expect("on disk");
    let slot = DraftTarget::Prompt(prompt);
    store.save_draft(&scope(), DraftTarget::NewJob, "another", at(1)).await.expect("stored");
    store.save_draft(&scope(), slot, "better words", at(2)).await.expect("stored");
    let drafts = store.drafts(&scope()).await.expect("drafts");
    assert_eq!(drafts, [draft(DraftTarget::NewJob, "another", 1), draft(slot, "better words", 2)]);
    store.requeue(prompt, Some("better words"), at(3)).await.expect("queued");
    assert_eq!(store.drafts(&scope()).await.expect("drafts"), [draft(DraftTarget::NewJob, "another", 1)]);
}

#[tokio::test]
async fn a_refused_submission_keeps_the_draft() {
    let store = memory_store();
    store.save_draft(&scope(), DraftTarget::NewJob, " \n", at(1)).await.expect("stored");
    assert!(store.add_new_job(&scope(), " \n", at(2)).await.is_err());
    assert_eq!(store.drafts(&scope()).await.expect("drafts"), [draft(DraftTarget::NewJob, " \n", 1)]);
}

#[tokio::test]
async fn views_are_counted_by_organization_and_prompts_by_project() {
    let store = memory_store();
    let one = Scope { organization: Some("acme".to_owned()), ..scope() };
    let two = Scope { project: "blog".to_owned(), ..one.clone() };
    for quota in [Quota::Views, Quota::Create] {
        store.spend(&one, quota, at(0)).await.expect("written").expect("a request left");
    }
    let used = async |scope: &Scope, quota| store.budget(scope, quota, at(1)).await.expect("a budget").used;
    assert_eq!((used(&two, Quota::Views).await, used(&two, Quota::Create).await), (1, 0));
    assert_eq!((used(&one, Quota::Views).await, used(&one, Quota::Create).await), (1, 1));
    assert_eq!(used(&scope(), Quota::Create).await, 1, "the organization doesn't matter");
    let elsewhere = Scope { base_url: "http://127.0.0.1:2".to_owned(), ..one };
    assert_eq!(used(&elsewhere, Quota::Views).await, 0);
}

#[tokio::test]
async fn at_the_hourly_limit_no_use_is_recorded_and_the_wait_is_returned() {
    let store = memory_store();
    for n in 0..100 {
        let budget = store.spend(&scope(), Quota::Views, at(n)).await.expect("written").expect("a request left");
        assert_eq!(i64::from(budget.used), n + 1);
    }
    let wait = Wait { until: at(3600), is_estimate: false };
    assert_eq!(store.spend(&scope(), Quota::Views, at(100)).await.expect("read"), Err(wait));
    assert_eq!(store.budget(&scope(), Quota::Views, at(100)).await.expect("a budget").used, 100);
}

#[tokio::test]
async fn two_processes_share_one_ledger() {
    let folder = tempdir().expect("a folder");
    let (one, two) = (open(folder.path()), open(folder.path()));
    for n in 0..10 {
        one.spend(&scope(), Quota::Views, at(n)).await.expect("written").expect("a request left");
        let budget = two.spend(&scope(), Quota::Views, at(n)).await.expect("written").expect("a request left");
        assert_eq!(i64::from(budget.used), 2 * n + 2);
    }
}

#[tokio::test]
async fn a_429_blocks_a_ledger_and_a_later_429_with_a_shorter_wait_does_not_unblock_it() {
    let store = memory_store();
    let (long, short) = (Wait { until: at(60), is_estimate: true }, Wait { until: at(30), is_estimate: false });
    store.record_rate_limit(&scope(), Quota::Views, long, at(0)).await.expect("marked");
    store.record_rate_limit(&scope(), Quota::Views, short, at(0)).await.expect("marked");
    let budget = store.budget(&scope(), Quota::Views, at(0)).await.expect("a budget");
    assert_eq!(
        budget,
        Budget {
            used: 0,
            limit: 100,
            resets_at: Some(at(60)),
            blocked: Some(long),
            counted_by: CountedBy::ThisComputer
        }
    );
    assert_eq!(store.spend(&scope(), Quota::Views, at(59)).await.expect("read"), Err(long));
    assert!(store.spend(&scope(), Quota::Views, at(60)).await.expect("written").is_ok());
}

#[tokio::test]
async fn old_uses_are_deleted_but_enough_stay_to_reach_the_limit_if_the_clock_is_set_back() {
    let store = memory_store();
    for n in 0..350 {
        // One use per minute, so that a request is always left.
        store.spend(&scope(), Quota::Views, at(60 * n)).await.expect("written").expect("a request left");
    }
    let kept: u32 = store
        .with_connection(|db| db.query_row("SELECT count(*) FROM ledger_use", [], |row| row.get(0)).expect("a count"))
        .await;
    assert_eq!(kept, 200);
    let budget = store.budget(&scope(), Quota::Views, at(0)).await.expect("a budget");
    assert_eq!(budget.requests_left(), 0);
}

#[tokio::test]
async fn uses_recorded_while_the_clock_was_ten_days_ahead_count_for_only_one_hour() {
    let store = memory_store();
    let ahead = 240 * 3600;
    for n in 0..100 {
        store.spend(&scope(), Quota::Create, at(ahead + n)).await.expect("written").expect("a request left");
    }
    // Then the clock is corrected. The uses count for one hour from the first reading of the corrected clock.
    for now in [0, 1800, 3599] {
        let budget = store.budget(&scope(), Quota::Create, at(now)).await.expect("a budget");
        assert_eq!((budget.requests_left(), budget.resets_at), (0, Some(at(3600))), "at {now}");
    }
    assert!(store.spend(&scope(), Quota::Create, at(3599)).await.expect("read").is_err());
    let budget = store.spend(&scope(), Quota::Create, at(3600)).await.expect("written").expect("a request left");
    assert_eq!(budget.used, 1);
    let later = store.budget(&scope(), Quota::Create, at(ahead + 100)).await.expect("a budget");
    assert_eq!(later.used, 0, "each use counts only once");
}

#[tokio::test]
async fn a_short_429_received_while_the_clock_was_ten_days_ahead_stays_short() {
    let store = memory_store();
    let ahead = 240 * 3600;
    let wait = Wait { until: at(ahead + 10), is_estimate: false };
    store.record_rate_limit(&scope(), Quota::Create, wait, at(ahead)).await.expect("marked");
    for now in [0, 4, 9] {
        let budget = store.budget(&scope(), Quota::Create, at(now)).await.expect("a budget");
        assert_eq!(budget.wait().map(|wait| wait.until), Some(at(10)), "at {now}");
    }
    assert!(store.spend(&scope(), Quota::Create, at(10)).await.expect("written").is_ok());
    let later = store.spend(&scope(), Quota::Create, at(ahead + 5)).await.expect("written");
    assert!(later.is_ok(), "the wait is not repeated when the clock reaches the time of the 429: {later:?}");
}

#[tokio::test]
async fn a_429_that_was_stored_without_its_time_blocks_for_at_most_one_day() {
    let store = memory_store();
    let wait = Wait { until: at(60), is_estimate: false };
    store.record_rate_limit(&scope(), Quota::Create, wait, at(0)).await.expect("marked");
    // An older docdeck stored the wait like this while its clock was ahead.
    let until = at(240 * 3600).timestamp_millis();
    store
        .with_connection(move |db| {
            db.execute("UPDATE ledger SET blocked_until = ?1, blocked_at = NULL", [until]).expect("set")
        })
        .await;
    for now in [0, 3600] {
        let budget = store.budget(&scope(), Quota::Create, at(now)).await.expect("a budget");
        assert_eq!(budget.wait().map(|wait| wait.until), Some(at(24 * 3600)), "at {now}");
    }
}

fn query(page: u32, limit: u32) -> ViewsQuery {
    let day = |text: &str| text.parse().expect("a date");
    let range = DateRange::new(day("2026-11-14"), day("2026-11-20")).expect("a range");
    ViewsQuery { range, limit, page }
}

#[tokio::test]
async fn a_response_with_every_kind_of_count_is_read_unchanged() {
    let store = memory_store();
    let odd = Counts::new(Count::Other(line("12.5")), Count::Missing, Count::Known(-3));
    let page = ViewsResponse {
        totals: Counts::new(Count::Known(i64::MAX), Count::Known(0), Count::Known(7)),
        rows: vec![
            PageRow { path: line("/quickstart \"ü\""), counts: odd },
            PageRow { path: line(""), counts: Counts::default() },
        ],
        has_more: None,
    };
    store.save_views(&scope(), query(1, 50), &page, at(5)).await.expect("stored");
    let found = store.cached_views(&scope(), query(1, 50)).await.expect("read").expect("there");
    assert_eq!((found.value, found.as_of), (page, at(5)));
}

#[tokio::test]
async fn a_new_response_replaces_only_the_response_to_the_same_query() {
    let store = memory_store();
    let page = |more| ViewsResponse { has_more: Some(more), ..ViewsResponse::default() };
    store.save_views(&scope(), query(1, 50), &page(true), at(1)).await.expect("stored");
    store.save_views(&scope(), query(2, 50), &page(true), at(2)).await.expect("stored");
    store.save_views(&scope(), query(1, 50), &page(false), at(3)).await.expect("stored");
    let found = async |scope: &Scope, query| {
        let found = store.cached_views(scope, query).await.expect("read");
        found.map(|stamped| (stamped.value.has_more, stamped.as_of))
    };
    assert_eq!(found(&scope(), query(1, 50)).await, Some((Some(false), at(3))));
    assert_eq!(found(&scope(), query(2, 50)).await, Some((Some(true), at(2))));
    assert_eq!(found(&scope(), query(1, 100)).await, None);
    let other = Scope { project: "other".to_owned(), ..scope() };
    assert_eq!(found(&other, query(1, 50)).await, None);
}

#[tokio::test]
async fn a_stored_value_is_returned_until_it_is_replaced() {
    let store = memory_store();
    assert_eq!(store.value("layout").await.expect("read"), None);
    store.set_value("layout", "wide").await.expect("stored");
    store.set_value("layout", "narrow").await.expect("stored");
    store.set_value("other", "x").await.expect("stored");
    assert_eq!(store.value("layout").await.expect("read").as_deref(), Some("narrow"));
}

#[test]
fn every_error_states_what_happened_and_what_to_do() {
    let errors = [
        StoreError::ReadOnly,
        StoreError::DiskFull,
        StoreError::Busy,
        StoreError::Damaged,
        StoreError::Closed,
        StoreError::Unusable("disk I/O error".to_owned()),
        StoreError::NewerSchema { path: "docdeck.db".into(), found: 2, supported: 1 },
    ];
    for error in errors {
        let failure = error.failure();
        assert_eq!(failure.kind, crate::model::failure::FailureKind::Store);
        let sentence = failure.message.to_string();
        assert!(sentence.contains(": "), "{sentence}");
        assert!(!sentence.contains("  ") && !sentence.contains("StoreError"), "{sentence}");
    }
}
