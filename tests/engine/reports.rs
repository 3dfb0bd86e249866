//! Tests of loading all pages of a range, and the totals of several ranges: the number of requests, what ends a load,
//! and where the next load continues.

use crate::support::engine::EngineFixture;
use chrono::{Days, TimeDelta};
use docdeck::model::connection::ConnectionState;
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::failure::FailureKind;
use docdeck::model::ledger::Quota;
use docdeck::model::log::Operation;
use docdeck::model::period::DateRange;
use docdeck::model::report::{LoadEndReason, LoadOutcome, LoadPlan, LoadProgress, Report};
use docdeck::model::views::{Count, DecimalCount, MAX_PAGE_SIZE, ViewsQuery};
use docdeck::sim::{Sim, SimOptions};
use std::collections::HashSet;
use std::sync::Arc;

/// The number of requests that load all pages of a site of 1,200 pages, not all of which have views.
const REQUESTS_FOR_ALL: u32 = 5;

async fn start_site(pages: u32) -> Sim {
    let options = SimOptions { jobs: 0, pages, ..SimOptions::default() };
    Sim::start(options).await.expect("a simulator")
}

/// Returns a week that ended two weeks ago, whose counts no longer change.
fn past_week(sim: &Sim) -> DateRange {
    let today = sim.now().date_naive();
    let back = |days| today.checked_sub_days(Days::new(days)).expect("a day");
    DateRange::new(back(20), back(14)).expect("a range")
}

fn plan_for(range: DateRange) -> LoadPlan {
    LoadPlan { range, from_start: false, max_requests: 100, stop_at_percent: None }
}

fn set_faults(sim: &Sim, faults: &[&str]) {
    sim.set_faults(faults.iter().map(|fault| fault.parse().expect("a fault")).collect());
}

fn request_count(sim: &Sim) -> u64 {
    sim.requests(Operation::Views)
}

fn report_of(outcome: &LoadOutcome) -> &Report {
    outcome.report.as_deref().expect("a report")
}

fn failure_of(outcome: &LoadOutcome) -> (FailureKind, &str) {
    match &outcome.end_reason {
        LoadEndReason::Failed(failure) => (failure.kind, failure.message.as_str()),
        other => panic!("{other:?}"),
    }
}

impl EngineFixture {
    async fn load_all_pages(&self, range: DateRange) -> LoadOutcome {
        self.engine.load_all(plan_for(range)).await
    }

    async fn next_progress(&mut self) -> LoadProgress {
        self.wait_for_event("progress", |event| match event {
            EngineEvent::Loading(progress) => Some(*progress),
            _ => None,
        })
        .await
    }

    /// Starts to load all pages in the background, and returns after `responses` responses have arrived.
    async fn start_load(&mut self, range: DateRange, responses: u32) -> tokio::task::JoinHandle<LoadOutcome> {
        let engine = self.engine.clone();
        let load = tokio::spawn(async move { engine.load_all(plan_for(range)).await });
        while self.next_progress().await.responses < responses {}
        load
    }
}

/// Starts a site of which exactly `rows` pages have views in [`past_week`].
async fn site_with_rows(rows: u32) -> Sim {
    let mut pages = rows;
    loop {
        let sim = start_site(pages).await;
        let fixture = EngineFixture::start_in_memory(&sim).await;
        let end = fixture.load_all_pages(past_week(&sim)).await;
        fixture.engine.stop().await;
        let found = u32::try_from(report_of(&end).rows.len()).expect("few");
        if found == rows {
            // The requests so far count on this simulator, so the test gets a new one.
            return start_site(pages).await;
        }
        pages += rows - found;
    }
}

#[tokio::test]
async fn a_site_of_any_size_is_loaded_without_an_extra_request() {
    for (rows, requests) in [(0_u32, 1), (1, 1), (50, 1), (51, 1), (249, 1), (250, 1), (251, 2)] {
        let sim = site_with_rows(rows).await;
        let fixture = EngineFixture::start_in_memory(&sim).await;
        let end = fixture.load_all_pages(past_week(&sim)).await;
        assert_eq!(
            (&end.end_reason, end.requests, request_count(&sim)),
            (&LoadEndReason::Complete, requests, u64::from(requests))
        );
        let report = report_of(&end);
        assert_eq!((report.rows.len(), report.responses, report.duplicates), (rows as usize, requests, 0), "{rows}");
        assert!(report.complete);
        assert_eq!(report.totals.total.value(), Some(report.sums().total), "{rows}");
    }
}

#[tokio::test]
async fn progress_is_emitted_after_each_response_and_ends_with_all_views_loaded() {
    let (sim, folder) = (start_site(1200).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let end = fixture.load_all_pages(past_week(&sim)).await;
    let mut last = 0.0;
    for responses in 1..=REQUESTS_FOR_ALL {
        let progress = fixture.next_progress().await;
        assert_eq!((progress.range, progress.responses, progress.requests), (past_week(&sim), responses, responses));
        let share = progress.share.expect("a share");
        assert!(share > last, "{share}");
        last = share;
        if responses == REQUESTS_FOR_ALL {
            assert_eq!((progress.rows, share), (report_of(&end).rows.len(), 1.0));
        } else {
            assert_eq!(progress.rows, (responses * MAX_PAGE_SIZE) as usize);
        }
    }
    let stored = fixture.engine.cached_report(past_week(&sim)).await.expect("read");
    assert_eq!(
        (stored.report, stored.responses_before_interruption, stored.last_load_requests),
        (end.report, None, Some(REQUESTS_FOR_ALL))
    );
    assert_eq!(stored.totals.map(|totals| totals.value), Some(end_totals(&fixture, &sim).await));
}

async fn end_totals(fixture: &EngineFixture, sim: &Sim) -> docdeck::model::views::Counts {
    let query = ViewsQuery { range: past_week(sim), limit: MAX_PAGE_SIZE, page: 1 };
    fixture.engine.cached_views(query).await.expect("kept").value.totals
}

#[tokio::test]
async fn rows_that_appear_in_two_responses_are_merged_and_counted_as_duplicates() {
    let (sim, folder) = (start_site(1200).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let today = sim.now().date_naive();
    let day = |days: i64| today.checked_add_signed(TimeDelta::days(days)).expect("a day");
    // The range includes future days. After the clock advances, the site has new views and the rows move.
    let range = DateRange::new(day(-6), day(4)).expect("a range");
    let first = fixture.engine.load_all(LoadPlan { max_requests: 2, ..plan_for(range) }).await;
    assert_eq!((&first.end_reason, report_of(&first).rows.len()), (&LoadEndReason::RequestLimit, 500));
    sim.advance(TimeDelta::days(4));
    let end = fixture.load_all_pages(range).await;
    let report = report_of(&end);
    assert_eq!(
        (&end.end_reason, report.complete, report.responses),
        (&LoadEndReason::Complete, true, end.requests + 2)
    );
    assert!(report.duplicates > 0, "rows from above came again further down");
    let paths: HashSet<&str> = report.rows.iter().map(|row| row.path.as_str()).collect();
    assert_eq!(paths.len(), report.rows.len(), "each path once");
    let rows = fixture.store.cached_report(&fixture.scope, range).await.expect("read").report.expect("a report");
    assert_eq!((&rows.rows, rows.duplicates), (&report.rows, report.duplicates), "on disk as in memory");
    assert!(report.totals.total.value() > Some(report.sums().total), "views of the first answers are old");
}

#[tokio::test]
async fn after_a_429_the_loaded_pages_are_kept_and_the_next_load_requests_only_the_rest() {
    let (sim, folder) = (start_site(1200).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    // The latency leaves time to set the next fault while the third request is under way, even on a busy computer.
    set_faults(&sim, &["views=latency-400"]);
    let load = fixture.start_load(past_week(&sim), 2).await;
    set_faults(&sim, &["views=429-2"]);
    let end = load.await.expect("an end");
    assert!(matches!(failure_of(&end), (FailureKind::Limited(_), _)), "{end:?}");
    let kept = report_of(&end).responses;
    assert!(!report_of(&end).complete && (2..REQUESTS_FOR_ALL).contains(&kept), "{kept}");
    assert_eq!((end.requests, request_count(&sim)), (kept + 1, u64::from(kept) + 1));
    set_faults(&sim, &[]);
    assert!(
        matches!(failure_of(&fixture.load_all_pages(past_week(&sim)).await), (FailureKind::Limited { .. }, _)),
        "nothing is requested yet"
    );
    assert_eq!(request_count(&sim), u64::from(kept) + 1);
    let mut rest = fixture.load_all_pages(past_week(&sim)).await;
    while matches!(&rest.end_reason, LoadEndReason::Failed(failure) if matches!(failure.kind, FailureKind::Limited(_)))
    {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        rest = fixture.load_all_pages(past_week(&sim)).await;
    }
    assert_eq!((&rest.end_reason, rest.requests), (&LoadEndReason::Complete, REQUESTS_FOR_ALL - kept));
    assert_eq!(request_count(&sim), u64::from(REQUESTS_FOR_ALL) + 1);
    assert_eq!(report_of(&rest).totals.total.value(), Some(report_of(&rest).sums().total));
}

#[tokio::test]
async fn a_stopped_load_continues_where_it_stopped() {
    let (sim, folder) = (start_site(1200).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    set_faults(&sim, &["views=latency-300"]);
    let load = fixture.start_load(past_week(&sim), 2).await;
    fixture.engine.stop_loading(past_week(&sim));
    let end = load.await.expect("an end");
    let kept = report_of(&end).responses;
    assert_eq!(end.end_reason, LoadEndReason::Stopped);
    assert!((2..REQUESTS_FOR_ALL).contains(&kept), "{kept}");
    assert_eq!(request_count(&sim), u64::from(kept));
    assert_eq!(
        fixture.engine.cached_report(past_week(&sim)).await.expect("read").responses_before_interruption,
        Some(kept)
    );
    let rest = fixture.load_all_pages(past_week(&sim)).await;
    assert_eq!(
        (&rest.end_reason, rest.requests, request_count(&sim)),
        (&LoadEndReason::Complete, REQUESTS_FOR_ALL - kept, u64::from(REQUESTS_FOR_ALL))
    );
}

#[tokio::test]
async fn loading_a_range_again_cancels_a_stop_of_its_load() {
    let (sim, folder) = (start_site(1200).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    set_faults(&sim, &["views=latency-200"]);
    let load = fixture.start_load(past_week(&sim), 1).await;
    fixture.engine.stop_loading(past_week(&sim));
    let again = fixture.load_all_pages(past_week(&sim)).await;
    assert_eq!((&again.end_reason, request_count(&sim)), (&LoadEndReason::Complete, u64::from(REQUESTS_FOR_ALL)));
    assert_eq!(load.await.expect("an end"), again);
}

#[tokio::test]
async fn a_new_process_continues_the_load_of_the_last_process() {
    let (sim, folder) = (start_site(1200).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    set_faults(&sim, &["views=latency-300"]);
    let load = fixture.start_load(past_week(&sim), 2).await;
    fixture.engine.stop().await;
    assert_eq!(failure_of(&load.await.expect("an end")).0, FailureKind::Local);
    fixture.store.close().await;
    set_faults(&sim, &[]);
    let fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let stored = fixture.engine.cached_report(past_week(&sim)).await.expect("read");
    let kept = stored.responses_before_interruption.expect("an interrupted load");
    assert!((2..REQUESTS_FOR_ALL).contains(&kept), "{kept}");
    assert_eq!(stored.report.map(|report| report.rows.len()), Some((kept * MAX_PAGE_SIZE) as usize));
    let end = fixture.load_all_pages(past_week(&sim)).await;
    assert_eq!(end.end_reason, LoadEndReason::Complete);
    assert!(end.requests <= REQUESTS_FOR_ALL - kept, "{}", end.requests);
    // The request that was in flight when the first engine ended may have to be repeated.
    assert!(request_count(&sim) <= u64::from(REQUESTS_FOR_ALL) + 1, "{}", request_count(&sim));
}

#[tokio::test]
async fn a_response_that_arrives_after_the_engine_stopped_is_saved_in_the_unfinished_report() {
    let (sim, folder) = (start_site(1200).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    // The cached responses of a range that includes today soon expire, but its unfinished report can still be
    // continued.
    let range = DateRange::last_days(7, sim.now().date_naive());
    set_faults(&sim, &["views=latency-200"]);
    let load = fixture.start_load(range, 2).await;
    let third = fixture.wait_for_event("the third request", |event| match event {
        EngineEvent::Budget(Quota::Views, budget) if budget.used == 3 => Some(()),
        _ => None,
    });
    third.await;
    fixture.engine.stop().await;
    assert_eq!(failure_of(&load.await.expect("an end")).0, FailureKind::Local);
    fixture.wait_for_event("the third answer", |event| matches!(event, EngineEvent::Totals { .. }).then_some(())).await;
    let unfinished = fixture.store.unfinished_report(&fixture.scope, range).await.expect("read").expect("a report");
    assert_eq!((unfinished.report.responses, unfinished.report.rows.len()), (3, 3 * MAX_PAGE_SIZE as usize));
    assert_eq!(request_count(&sim), 3);
}

/// Returns the number of transactions that have changed the store. SQLite counts them at offset 24 of the file.
fn transaction_count(folder: &std::path::Path) -> u32 {
    let file = std::fs::read(folder.join("docdeck.db")).expect("a file");
    let count = file.get(24..28).and_then(|bytes| bytes.try_into().ok());
    u32::from_be_bytes(count.expect("four bytes"))
}

#[tokio::test]
async fn each_response_takes_two_transactions() {
    let (sim, folder) = (start_site(1200).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    fixture.engine.load_all(LoadPlan { max_requests: 2, ..plan_for(past_week(&sim)) }).await;
    // The first response causes extra transactions, which save data about the service. They are done once it is ready.
    fixture
        .wait_for_event("live", |event| {
            matches!(event, EngineEvent::ConnectionState(ConnectionState::Ready)).then_some(())
        })
        .await;
    let before = transaction_count(folder.path());
    let end = fixture.load_all_pages(past_week(&sim)).await;
    assert_eq!((&end.end_reason, end.requests), (&LoadEndReason::Complete, REQUESTS_FOR_ALL - 2));
    assert_eq!(transaction_count(folder.path()) - before, 2 * (REQUESTS_FOR_ALL - 2));
}

#[tokio::test]
async fn cached_responses_cost_no_request() {
    let (sim, folder) = (start_site(1200).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    for page in [1, 3] {
        let query = ViewsQuery { range: past_week(&sim), limit: MAX_PAGE_SIZE, page };
        fixture.engine.load_views(query, false).await.expect("views");
    }
    let end =
        fixture.engine.load_all(LoadPlan { max_requests: REQUESTS_FOR_ALL - 2, ..plan_for(past_week(&sim)) }).await;
    assert_eq!(
        (&end.end_reason, end.requests, request_count(&sim)),
        (&LoadEndReason::Complete, REQUESTS_FOR_ALL - 2, u64::from(REQUESTS_FOR_ALL))
    );
    let again = fixture.load_all_pages(past_week(&sim)).await;
    assert_eq!((again.requests, request_count(&sim)), (0, u64::from(REQUESTS_FOR_ALL)));
    assert_eq!((again.report, again.end_reason), (end.report, end.end_reason));
}

#[tokio::test]
async fn a_fresh_load_requests_every_page_and_keeps_the_old_report_until_it_is_complete() {
    let (sim, folder) = (start_site(1200).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    // On a busy computer, late responses set the estimate of the service's clock back. The loads are further apart than
    // that, because the test compares their times.
    let pass_time = async || tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    let first = fixture.load_all_pages(past_week(&sim)).await;
    pass_time().await;
    let from_start = LoadPlan { from_start: true, ..plan_for(past_week(&sim)) };
    let part = fixture.engine.load_all(LoadPlan { max_requests: 2, ..from_start }).await;
    assert_eq!(
        (&part.end_reason, part.requests, request_count(&sim)),
        (&LoadEndReason::RequestLimit, 2, u64::from(REQUESTS_FOR_ALL) + 2)
    );
    assert_eq!(part.report, first.report, "the previous complete report");
    let stored = fixture.engine.cached_report(past_week(&sim)).await.expect("read");
    assert_eq!((stored.report, stored.responses_before_interruption), (first.report.clone(), Some(2)));
    // The cached responses of the first load are fresh, but older than the start of the second load, which ignores
    // them.
    let rest = fixture.load_all_pages(past_week(&sim)).await;
    assert_eq!((&rest.end_reason, rest.requests), (&LoadEndReason::Complete, REQUESTS_FOR_ALL - 2));
    assert!(report_of(&rest).as_of > report_of(&first).as_of);
    pass_time().await;
    let again = fixture.engine.load_all(from_start).await;
    assert_eq!((again.requests, request_count(&sim)), (REQUESTS_FOR_ALL, u64::from(3 * REQUESTS_FOR_ALL)));
    assert!(report_of(&again).as_of > report_of(&rest).as_of);
}

#[tokio::test]
async fn a_load_stops_at_its_maximum_number_of_requests() {
    let (sim, folder) = (start_site(1200).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let at_most =
        async |max_requests| fixture.engine.load_all(LoadPlan { max_requests, ..plan_for(past_week(&sim)) }).await;
    let none = at_most(0).await;
    assert_eq!((none.report, none.end_reason, none.requests), (None, LoadEndReason::RequestLimit, 0));
    let some = at_most(3).await;
    assert_eq!((&some.end_reason, some.requests, report_of(&some).responses), (&LoadEndReason::RequestLimit, 3, 3));
    let rest = at_most(REQUESTS_FOR_ALL - 3).await;
    assert_eq!((rest.end_reason, request_count(&sim)), (LoadEndReason::Complete, u64::from(REQUESTS_FOR_ALL)));
}

#[tokio::test]
async fn concurrent_loads_of_the_same_range_are_one_load() {
    let (sim, folder) = (start_site(1200).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let (one, two) = tokio::join!(fixture.load_all_pages(past_week(&sim)), fixture.load_all_pages(past_week(&sim)));
    assert_eq!((one.end_reason.clone(), request_count(&sim)), (LoadEndReason::Complete, u64::from(REQUESTS_FOR_ALL)));
    assert_eq!(one, two);
}

#[tokio::test]
async fn two_instances_that_load_the_same_range_leave_one_complete_report() {
    let (sim, folder) = (start_site(1200).await, tempfile::tempdir().expect("a folder"));
    let (one, two) = (
        EngineFixture::start_on_folder(&sim, folder.path()).await,
        EngineFixture::start_on_folder(&sim, folder.path()).await,
    );
    one.engine.load_all(LoadPlan { max_requests: 2, ..plan_for(past_week(&sim)) }).await;
    let (first, second) = tokio::join!(one.load_all_pages(past_week(&sim)), two.load_all_pages(past_week(&sim)));
    for end in [&first, &second] {
        assert_eq!(
            (&end.end_reason, report_of(end).responses, report_of(end).duplicates),
            (&LoadEndReason::Complete, REQUESTS_FOR_ALL, 0)
        );
    }
    let stored = two.engine.cached_report(past_week(&sim)).await.expect("read");
    assert_eq!(
        (stored.responses_before_interruption, stored.report.as_deref().map(|whole| &whole.rows)),
        (None, Some(&report_of(&first).rows))
    );
    assert!(
        stored
            .report
            .is_some_and(|whole| (whole.complete, whole.responses, whole.duplicates) == (true, REQUESTS_FOR_ALL, 0))
    );
}

#[tokio::test]
async fn a_failed_load_returns_the_failure_and_keeps_the_loaded_pages() {
    let (sim, folder) = (start_site(1200).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    fixture.engine.load_all(LoadPlan { max_requests: 1, ..plan_for(past_week(&sim)) }).await;
    let ends = [
        ("views=503", FailureKind::Offline),
        ("views=lost", FailureKind::Offline),
        ("views=malformed", FailureKind::Service),
        ("views=401", FailureKind::KeyRefused),
    ];
    for (fault, kind) in ends {
        set_faults(&sim, &[fault]);
        let end = fixture.load_all_pages(past_week(&sim)).await;
        assert_eq!((failure_of(&end).0, report_of(&end).responses, end.requests), (kind, 1, 1), "{fault}");
    }
    set_faults(&sim, &[]);
    assert_eq!(fixture.load_all_pages(past_week(&sim)).await.requests, REQUESTS_FOR_ALL - 1);
}

#[tokio::test]
async fn a_service_that_never_ends_the_pages_costs_one_extra_request() {
    for (fault, expected) in [("views=stuck", "returned only known ones"), ("views=endless", "returned none")] {
        let (sim, folder) = (start_site(120).await, tempfile::tempdir().expect("a folder"));
        let fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
        set_faults(&sim, &[fault]);
        let end = fixture.load_all_pages(past_week(&sim)).await;
        let (kind, sentence) = failure_of(&end);
        assert!(kind == FailureKind::Service && sentence.contains(expected), "{sentence}");
        assert_eq!((report_of(&end).responses, report_of(&end).duplicates, request_count(&sim)), (1, 0, 2), "{fault}");
        // The response without new rows is cached, but the next load requests it again.
        set_faults(&sim, &[]);
        let rest = fixture.load_all_pages(past_week(&sim)).await;
        assert_eq!((&rest.end_reason, rest.requests, request_count(&sim)), (&LoadEndReason::Complete, 1, 3), "{fault}");
        assert_eq!(report_of(&rest).rows.len(), report_of(&end).rows.len());
    }
}

#[tokio::test]
async fn a_service_that_announces_more_rows_but_returns_none_leaves_no_report() {
    let (sim, folder) = (start_site(0).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    set_faults(&sim, &["views=endless"]);
    let end = fixture.load_all_pages(past_week(&sim)).await;
    assert_eq!((failure_of(&end).0, &end.report, request_count(&sim)), (FailureKind::Service, &None, 1));
}

#[tokio::test]
async fn counts_with_a_fraction_are_loaded_summed_and_stored() {
    let (sim, folder) = (start_site(1_200).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    set_faults(&sim, &["views=tenths"]);
    let end = fixture.load_all_pages(past_week(&sim)).await;
    let loaded = report_of(&end);
    assert!(loaded.rows.iter().filter(|row| matches!(row.counts.total, Count::NonInteger(_))).count() > 500);
    assert!(loaded.rows.iter().all(|row| row.counts.adds_up()));
    assert_eq!(loaded.totals.total.value(), Some(loaded.sums().total), "not a tenth is lost");
    assert_eq!(loaded.loaded_share(), Some(1.0));
    let again = fixture.engine.cached_report(past_week(&sim)).await.expect("read");
    assert_eq!(again.report.as_deref(), Some(loaded), "as it is on disk");
    fixture.engine.stop().await;
}

#[tokio::test]
async fn malformed_numbers_are_stored_unchanged() {
    let (sim, folder) = (start_site(300).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    set_faults(&sim, &["views=odd"]);
    let end = fixture.load_all_pages(past_week(&sim)).await;
    let rows = &report_of(&end).rows;
    assert_eq!(rows[1].counts.human, Count::from_json_number("12.5").expect("a number"));
    assert_eq!(rows[2].counts.ai, Count::Missing);
    assert!(matches!(&rows[3].counts.total, Count::Other(_)), "{:?}", rows[3]);
    assert_eq!(rows[4].counts.human, Count::Known(-3));
    fixture.engine.stop().await;
    fixture.store.close().await;
    let fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    assert_eq!(fixture.engine.cached_report(past_week(&sim)).await.expect("read").report, end.report);
}

#[cfg(unix)]
#[tokio::test]
async fn a_store_that_becomes_read_only_loses_no_response_and_is_reported() {
    let (sim, folder) = (start_site(1200).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    fixture.engine.load_all(LoadPlan { max_requests: 2, ..plan_for(past_week(&sim)) }).await;
    // SQLite can't create its journal through this dangling link. Unlike a read-only folder, the link also stops root.
    let journal = folder.path().join("docdeck.db-journal");
    std::fs::remove_file(&journal).expect("the empty journal of the last transaction");
    std::os::unix::fs::symlink("/nonexistent/journal", &journal).expect("a link");
    let end = fixture.load_all_pages(past_week(&sim)).await;
    assert_eq!(
        (&end.end_reason, end.requests, report_of(&end).complete),
        (&LoadEndReason::Complete, REQUESTS_FOR_ALL - 2, true)
    );
    assert_eq!(report_of(&end).totals.total.value(), Some(report_of(&end).sums().total));
    let trouble = fixture.wait_for_event("trouble", |event| match event {
        EngineEvent::InternalFailure(failure) => Some(failure.kind),
        _ => None,
    });
    assert_eq!(trouble.await, FailureKind::Store);
    let stored = fixture.engine.cached_report(past_week(&sim)).await.expect("read");
    assert_eq!(
        (stored.responses_before_interruption, stored.report.map(|report| report.rows.len())),
        (Some(2), Some(500))
    );
}

fn three_days(sim: &Sim) -> Vec<DateRange> {
    let last = past_week(sim).to();
    let day = |back| last.checked_sub_days(Days::new(back)).expect("a day");
    (0..3).map(|back| DateRange::new(day(back), day(back)).expect("a range")).collect()
}

#[tokio::test]
async fn the_totals_of_a_day_cost_one_request_and_are_cached() {
    let (sim, folder) = (start_site(120).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let days = three_days(&sim);
    assert_eq!(fixture.engine.cached_totals(&days).await.expect("read"), []);
    fixture.engine.load_totals(&days[..2]).await.expect("totals");
    assert_eq!(request_count(&sim), 2);
    let known = fixture.engine.cached_totals(&days).await.expect("read");
    assert_eq!(known.iter().map(|(range, _)| *range).collect::<Vec<_>>(), days[..2]);
    fixture.engine.load_totals(&days).await.expect("totals");
    assert_eq!(request_count(&sim), 3);
    // The first call emits two totals as they arrive. The second call emits them again, from the cache, and a third
    // one.
    for expected in [days[0], days[1], days[0], days[1], days[2]] {
        let totals_event = fixture.wait_for_event("totals", |event| match event {
            EngineEvent::Totals { range, totals } => Some((*range, totals.clone())),
            _ => None,
        });
        let (range, totals) = totals_event.await;
        assert_eq!(range, expected);
        assert!(totals.value.adds_up() && totals.value.total.value() > Some(DecimalCount::ZERO), "{totals:?}");
        assert!(known.iter().all(|(of, known)| *of != range || *known == totals));
    }
}

#[tokio::test]
async fn any_response_about_a_range_caches_the_totals_of_the_range() {
    let (sim, folder) = (start_site(120).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let query = ViewsQuery { range: three_days(&sim)[0], limit: 50, page: 2 };
    let page = fixture.engine.load_views(query, false).await.expect("views");
    fixture.engine.load_totals(&[query.range]).await.expect("totals");
    assert_eq!(request_count(&sim), 1);
    let known = fixture.engine.cached_totals(&[query.range]).await.expect("read");
    assert_eq!(known.len(), 1);
    assert_eq!((&known[0].1.value, known[0].1.as_of), (&page.value.totals, page.as_of));
}

#[tokio::test]
async fn concurrent_loads_of_the_same_totals_share_requests_and_stop_at_the_first_failure() {
    let (sim, folder) = (start_site(120).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let days = three_days(&sim);
    set_faults(&sim, &["views=503"]);
    let failure = fixture.engine.load_totals(&days).await.expect_err("down");
    assert_eq!((failure.kind, request_count(&sim)), (FailureKind::Offline, 1));
    set_faults(&sim, &["views=latency-300"]);
    let (one, two) = tokio::join!(fixture.engine.load_totals(&days), fixture.engine.load_totals(&days));
    assert!(one.is_ok() && two.is_ok());
    assert_eq!(request_count(&sim), 4);
}

#[tokio::test]
async fn concurrent_loads_of_the_same_range_share_one_report_without_copies() {
    let (sim, folder) = (start_site(120).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let (one, two) = tokio::join!(fixture.load_all_pages(past_week(&sim)), fixture.load_all_pages(past_week(&sim)));
    let (one, two) = (one.report.expect("a report"), two.report.expect("a report"));
    assert!(Arc::ptr_eq(&one, &two));
}
