//! Tests of loading all pages of a range and the totals of several ranges: the cost, what ends a load, and where it
//! continues.

use crate::engine_fixture::EngineFixture;
use chrono::{Days, TimeDelta};
use docdeck::model::connection::Connection;
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::failure::FailureKind;
use docdeck::model::ledger::{RateLimited, Wait};
use docdeck::model::log::Operation;
use docdeck::model::period::DateRange;
use docdeck::model::report::{LoadEndReason, LoadOutcome, LoadPlan, LoadProgress, Report};
use docdeck::model::views::{Count, LIMIT_MAX, ViewCount, ViewsQuery};
use docdeck::sim::{Sim, SimOptions};
use std::collections::HashSet;
use std::sync::Arc;

/// The number of requests for a site of 1,200 pages: some of its pages are new or gone.
const ALL: u32 = 5;

async fn site(pages: u32) -> Sim {
    let options = SimOptions { jobs: 0, pages, ..SimOptions::default() };
    Sim::start(options).await.expect("a simulator")
}

/// A week that ended two weeks ago: its numbers are final.
fn past(sim: &Sim) -> DateRange {
    let today = sim.now().date_naive();
    let back = |days| today.checked_sub_days(Days::new(days)).expect("a day");
    DateRange::new(back(20), back(14)).expect("a range")
}

fn plan(range: DateRange) -> LoadPlan {
    LoadPlan { range, from_start: false, max_requests: 100, stop_at_percent: None }
}

fn faults(sim: &Sim, faults: &[&str]) {
    sim.set_faults(faults.iter().map(|fault| fault.parse().expect("a fault")).collect());
}

fn request_count(sim: &Sim) -> u64 {
    sim.requests(Operation::Views)
}

fn report(end: &LoadOutcome) -> &Report {
    end.report.as_deref().expect("a report")
}

fn failed(end: &LoadOutcome) -> (FailureKind, &str) {
    match &end.ended {
        LoadEndReason::Failed(failure) => (failure.kind, failure.message.as_str()),
        other => panic!("{other:?}"),
    }
}

impl EngineFixture {
    async fn loads(&self, range: DateRange) -> LoadOutcome {
        self.engine.load_all(plan(range)).await
    }

    async fn progress(&mut self) -> LoadProgress {
        self.until("progress", |news| match news {
            EngineEvent::Loading(progress) => Some(*progress),
            _ => None,
        })
        .await
    }

    /// A background load that has received `answers`.
    async fn partly_loaded(&mut self, range: DateRange, answers: u32) -> tokio::task::JoinHandle<LoadOutcome> {
        let engine = self.engine.clone();
        let load = tokio::spawn(async move { engine.load_all(plan(range)).await });
        while self.progress().await.answers < answers {}
        load
    }
}

/// A site of which exactly `rows` pages have views in [`past`].
async fn site_with_rows(rows: u32) -> Sim {
    let mut pages = rows;
    loop {
        let sim = site(pages).await;
        let fixture = EngineFixture::begin_alone(&sim).await;
        let end = fixture.loads(past(&sim)).await;
        fixture.engine.stop().await;
        let found = u32::try_from(report(&end).rows.len()).expect("few");
        if found == rows {
            // Another site, whose requests are not counted yet.
            return site(pages).await;
        }
        pages += rows - found;
    }
}

#[tokio::test]
async fn a_site_of_any_size_is_loaded_without_an_extra_request() {
    for (rows, requests) in [(0_u32, 1), (1, 1), (50, 1), (51, 1), (249, 1), (250, 1), (251, 2)] {
        let sim = site_with_rows(rows).await;
        let fixture = EngineFixture::begin_alone(&sim).await;
        let end = fixture.loads(past(&sim)).await;
        assert_eq!(
            (&end.ended, end.requests, request_count(&sim)),
            (&LoadEndReason::Complete, requests, u64::from(requests))
        );
        let report = report(&end);
        assert_eq!((report.rows.len(), report.answers, report.duplicates), (rows as usize, requests, 0), "{rows}");
        assert!(report.complete);
        assert_eq!(report.totals.total.value(), Some(report.sums().total), "{rows}");
    }
}

#[tokio::test]
async fn progress_is_emitted_after_each_answer_and_ends_with_all_views_loaded() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    let end = fixture.loads(past(&sim)).await;
    let mut last = 0.0;
    for answers in 1..=ALL {
        let progress = fixture.progress().await;
        assert_eq!((progress.range, progress.answers, progress.requests), (past(&sim), answers, answers));
        let share = progress.share.expect("a share");
        assert!(share > last, "{share}");
        last = share;
        if answers == ALL {
            assert_eq!((progress.rows, share), (report(&end).rows.len(), 1.0));
        } else {
            assert_eq!(progress.rows, (answers * LIMIT_MAX) as usize);
        }
    }
    let recalled = fixture.engine.cached_report(past(&sim)).await.expect("read");
    assert_eq!((recalled.report, recalled.interrupted_after, recalled.last_time), (end.report, None, Some(ALL)));
    assert_eq!(recalled.totals.map(|totals| totals.value), Some(end_totals(&fixture, &sim).await));
}

async fn end_totals(fixture: &EngineFixture, sim: &Sim) -> docdeck::model::views::Counts {
    let query = ViewsQuery { range: past(sim), limit: LIMIT_MAX, page: 1 };
    fixture.engine.cached_views(query).await.expect("kept").value.totals
}

#[tokio::test]
async fn rows_that_move_during_a_load_are_merged_and_counted() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::begin(&sim, folder.path()).await;
    let today = sim.now().date_naive();
    let day = |days: i64| today.checked_add_signed(TimeDelta::days(days)).expect("a day");
    // Future days bring new views, and with them another plan.
    let range = DateRange::new(day(-6), day(4)).expect("a range");
    let first = fixture.engine.load_all(LoadPlan { max_requests: 2, ..plan(range) }).await;
    assert_eq!((&first.ended, report(&first).rows.len()), (&LoadEndReason::RequestLimit, 500));
    sim.advance(TimeDelta::days(4));
    let end = fixture.loads(range).await;
    let report = report(&end);
    assert_eq!((&end.ended, report.complete, report.answers), (&LoadEndReason::Complete, true, end.requests + 2));
    assert!(report.duplicates > 0, "rows from above came again further down");
    let paths: HashSet<&str> = report.rows.iter().map(|row| row.path.as_str()).collect();
    assert_eq!(paths.len(), report.rows.len(), "each path once");
    let rows = fixture.store.cached_report(&fixture.scope, range).await.expect("read").report.expect("a report");
    assert_eq!((&rows.rows, rows.duplicates), (&report.rows, report.duplicates), "on disk as in memory");
    assert!(report.totals.total.value() > Some(report.sums().total), "views of the first answers are old");
}

#[tokio::test]
async fn a_429_keeps_the_loaded_pages_and_the_next_load_costs_only_the_rest() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    faults(&sim, &["views=latency-50"]);
    let load = fixture.partly_loaded(past(&sim), 2).await;
    faults(&sim, &["views=429-1"]);
    let end = load.await.expect("an end");
    let (FailureKind::Limited(Wait { until, .. }), _) = failed(&end) else { panic!("{end:?}") };
    let kept = report(&end).answers;
    assert!(!report(&end).complete && (2..ALL).contains(&kept), "{kept}");
    assert_eq!((end.requests, request_count(&sim)), (kept + 1, u64::from(kept) + 1));
    faults(&sim, &[]);
    assert!(
        matches!(failed(&fixture.loads(past(&sim)).await), (FailureKind::Limited { .. }, _)),
        "nothing is requested yet"
    );
    assert_eq!(request_count(&sim), u64::from(kept) + 1);
    let wait = (until - fixture.engine.service_now()).to_std().unwrap_or_default();
    tokio::time::sleep(wait + std::time::Duration::from_millis(20)).await;
    let rest = fixture.loads(past(&sim)).await;
    assert_eq!((&rest.ended, rest.requests), (&LoadEndReason::Complete, ALL - kept));
    assert_eq!(request_count(&sim), u64::from(ALL) + 1);
    assert_eq!(report(&rest).totals.total.value(), Some(report(&rest).sums().total));
}

#[tokio::test]
async fn a_stopped_load_continues_where_it_stopped() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    faults(&sim, &["views=latency-50"]);
    let load = fixture.partly_loaded(past(&sim), 2).await;
    fixture.engine.stop_loading(past(&sim));
    let end = load.await.expect("an end");
    let kept = report(&end).answers;
    assert_eq!(end.ended, LoadEndReason::Stopped);
    assert!((2..ALL).contains(&kept), "{kept}");
    assert_eq!(request_count(&sim), u64::from(kept));
    assert_eq!(fixture.engine.cached_report(past(&sim)).await.expect("read").interrupted_after, Some(kept));
    let rest = fixture.loads(past(&sim)).await;
    assert_eq!(
        (&rest.ended, rest.requests, request_count(&sim)),
        (&LoadEndReason::Complete, ALL - kept, u64::from(ALL))
    );
}

#[tokio::test]
async fn loading_again_cancels_a_stop() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    faults(&sim, &["views=latency-200"]);
    let load = fixture.partly_loaded(past(&sim), 1).await;
    fixture.engine.stop_loading(past(&sim));
    let again = fixture.loads(past(&sim)).await;
    assert_eq!((&again.ended, request_count(&sim)), (&LoadEndReason::Complete, u64::from(ALL)));
    assert_eq!(load.await.expect("an end"), again);
}

#[tokio::test]
async fn a_new_process_continues_where_the_last_one_ended() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    faults(&sim, &["views=latency-50"]);
    let load = fixture.partly_loaded(past(&sim), 2).await;
    fixture.engine.stop().await;
    assert_eq!(failed(&load.await.expect("an end")).0, FailureKind::Local);
    fixture.store.close().await;
    faults(&sim, &[]);
    let fixture = EngineFixture::begin(&sim, folder.path()).await;
    let recalled = fixture.engine.cached_report(past(&sim)).await.expect("read");
    let kept = recalled.interrupted_after.expect("a load that was broken off");
    assert!((2..ALL).contains(&kept), "{kept}");
    assert_eq!(recalled.report.map(|report| report.rows.len()), Some((kept * LIMIT_MAX) as usize));
    let end = fixture.loads(past(&sim)).await;
    assert_eq!(end.ended, LoadEndReason::Complete);
    assert!(end.requests <= ALL - kept, "{}", end.requests);
    // The request that was in flight at the end may have to be repeated.
    assert!(request_count(&sim) <= u64::from(ALL) + 1, "{}", request_count(&sim));
}

#[tokio::test]
async fn an_answer_that_arrives_after_the_engine_ended_is_in_the_next_report() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    // A range that includes today: its cached answers soon expire, but its report continues however old it is.
    let range = DateRange::last_days(7, sim.now().date_naive());
    faults(&sim, &["views=latency-200"]);
    let load = fixture.partly_loaded(range, 2).await;
    let third = fixture.until("the third request", |news| match news {
        EngineEvent::Budget(RateLimited::Views, budget) if budget.used == 3 => Some(()),
        _ => None,
    });
    third.await;
    fixture.engine.stop().await;
    assert_eq!(failed(&load.await.expect("an end")).0, FailureKind::Local);
    fixture.until("the third answer", |news| matches!(news, EngineEvent::Totals { .. }).then_some(())).await;
    let unfinished = fixture.store.unfinished_report(&fixture.scope, range).await.expect("read").expect("a report");
    assert_eq!((unfinished.report.answers, unfinished.report.rows.len()), (3, 3 * LIMIT_MAX as usize));
    assert_eq!(request_count(&sim), 3);
}

/// How many transactions have changed the store's file: SQLite counts them at this offset of the first page.
fn transactions(folder: &std::path::Path) -> u32 {
    let file = std::fs::read(folder.join("docdeck.db")).expect("a file");
    let count = file.get(24..28).and_then(|bytes| bytes.try_into().ok());
    u32::from_be_bytes(count.expect("four bytes"))
}

#[tokio::test]
async fn an_answer_costs_two_transactions() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    fixture.engine.load_all(LoadPlan { max_requests: 2, ..plan(past(&sim)) }).await;
    // The first answer also saves data about the service.
    fixture.until("live", |news| matches!(news, EngineEvent::Connection(Connection::Ready)).then_some(())).await;
    let before = transactions(folder.path());
    let end = fixture.loads(past(&sim)).await;
    assert_eq!((&end.ended, end.requests), (&LoadEndReason::Complete, ALL - 2));
    assert_eq!(transactions(folder.path()) - before, 2 * (ALL - 2));
}

#[tokio::test]
async fn cached_answers_cost_no_request() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::begin(&sim, folder.path()).await;
    for page in [1, 3] {
        let query = ViewsQuery { range: past(&sim), limit: LIMIT_MAX, page };
        fixture.engine.load_views(query, false).await.expect("views");
    }
    let end = fixture.engine.load_all(LoadPlan { max_requests: ALL - 2, ..plan(past(&sim)) }).await;
    assert_eq!((&end.ended, end.requests, request_count(&sim)), (&LoadEndReason::Complete, ALL - 2, u64::from(ALL)));
    let again = fixture.loads(past(&sim)).await;
    assert_eq!((again.requests, request_count(&sim)), (0, u64::from(ALL)));
    assert_eq!((again.report, again.ended), (end.report, end.ended));
}

#[tokio::test]
async fn a_fresh_load_requests_every_page_and_keeps_the_old_report_until_it_is_complete() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::begin(&sim, folder.path()).await;
    let first = fixture.loads(past(&sim)).await;
    let from_start = LoadPlan { from_start: true, ..plan(past(&sim)) };
    let part = fixture.engine.load_all(LoadPlan { max_requests: 2, ..from_start }).await;
    assert_eq!(
        (&part.ended, part.requests, request_count(&sim)),
        (&LoadEndReason::RequestLimit, 2, u64::from(ALL) + 2)
    );
    assert_eq!(part.report, first.report, "the whole one from before");
    let recalled = fixture.engine.cached_report(past(&sim)).await.expect("read");
    assert_eq!((recalled.report, recalled.interrupted_after), (first.report.clone(), Some(2)));
    // The answers of the first load are fresh, but older than the start of this one.
    let rest = fixture.loads(past(&sim)).await;
    assert_eq!((&rest.ended, rest.requests), (&LoadEndReason::Complete, ALL - 2));
    assert!(report(&rest).as_of > report(&first).as_of);
    let again = fixture.engine.load_all(from_start).await;
    assert_eq!((again.requests, request_count(&sim)), (ALL, u64::from(3 * ALL)));
    assert!(report(&again).as_of > report(&rest).as_of);
}

#[tokio::test]
async fn a_load_stops_at_its_maximum_of_requests() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::begin(&sim, folder.path()).await;
    let at_most = async |max_requests| fixture.engine.load_all(LoadPlan { max_requests, ..plan(past(&sim)) }).await;
    let none = at_most(0).await;
    assert_eq!((none.report, none.ended, none.requests), (None, LoadEndReason::RequestLimit, 0));
    let some = at_most(3).await;
    assert_eq!((&some.ended, some.requests, report(&some).answers), (&LoadEndReason::RequestLimit, 3, 3));
    let rest = at_most(ALL - 3).await;
    assert_eq!((rest.ended, request_count(&sim)), (LoadEndReason::Complete, u64::from(ALL)));
}

#[tokio::test]
async fn concurrent_loads_of_the_same_range_are_one_load() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::begin(&sim, folder.path()).await;
    let (one, two) = tokio::join!(fixture.loads(past(&sim)), fixture.loads(past(&sim)));
    assert_eq!((one.ended.clone(), request_count(&sim)), (LoadEndReason::Complete, u64::from(ALL)));
    assert_eq!(one, two);
}

#[tokio::test]
async fn two_instances_that_load_the_same_range_leave_one_complete_report() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let (one, two) = (EngineFixture::begin(&sim, folder.path()).await, EngineFixture::begin(&sim, folder.path()).await);
    one.engine.load_all(LoadPlan { max_requests: 2, ..plan(past(&sim)) }).await;
    let (first, second) = tokio::join!(one.loads(past(&sim)), two.loads(past(&sim)));
    for end in [&first, &second] {
        assert_eq!((&end.ended, report(end).answers, report(end).duplicates), (&LoadEndReason::Complete, ALL, 0));
    }
    let recalled = two.engine.cached_report(past(&sim)).await.expect("read");
    assert_eq!(
        (recalled.interrupted_after, recalled.report.as_deref().map(|whole| &whole.rows)),
        (None, Some(&report(&first).rows))
    );
    assert!(recalled.report.is_some_and(|whole| (whole.complete, whole.answers, whole.duplicates) == (true, ALL, 0)));
}

#[tokio::test]
async fn the_end_of_a_load_is_reported_and_its_pages_are_saved() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::begin(&sim, folder.path()).await;
    fixture.engine.load_all(LoadPlan { max_requests: 1, ..plan(past(&sim)) }).await;
    let ends = [
        ("views=503", FailureKind::Offline),
        ("views=lost", FailureKind::Offline),
        ("views=malformed", FailureKind::Service),
        ("views=401", FailureKind::KeyRefused),
    ];
    for (fault, kind) in ends {
        faults(&sim, &[fault]);
        let end = fixture.loads(past(&sim)).await;
        assert_eq!((failed(&end).0, report(&end).answers, end.requests), (kind, 1, 1), "{fault}");
    }
    faults(&sim, &[]);
    assert_eq!(fixture.loads(past(&sim)).await.requests, ALL - 1);
}

#[tokio::test]
async fn an_endless_service_costs_one_extra_request() {
    for (fault, expected) in [("views=stuck", "returned only known ones"), ("views=endless", "returned none")] {
        let (sim, folder) = (site(120).await, tempfile::tempdir().expect("a folder"));
        let fixture = EngineFixture::begin(&sim, folder.path()).await;
        faults(&sim, &[fault]);
        let end = fixture.loads(past(&sim)).await;
        let (kind, sentence) = failed(&end);
        assert!(kind == FailureKind::Service && sentence.contains(expected), "{sentence}");
        assert_eq!((report(&end).answers, report(&end).duplicates, request_count(&sim)), (1, 0, 2), "{fault}");
        // The answer without progress is cached, but not trusted forever.
        faults(&sim, &[]);
        let rest = fixture.loads(past(&sim)).await;
        assert_eq!((&rest.ended, rest.requests, request_count(&sim)), (&LoadEndReason::Complete, 1, 3), "{fault}");
        assert_eq!(report(&rest).rows.len(), report(&end).rows.len());
    }
}

#[tokio::test]
async fn a_service_that_claims_more_without_a_row_leaves_nothing() {
    let (sim, folder) = (site(0).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::begin(&sim, folder.path()).await;
    faults(&sim, &["views=endless"]);
    let end = fixture.loads(past(&sim)).await;
    assert_eq!((failed(&end).0, &end.report, request_count(&sim)), (FailureKind::Service, &None, 1));
}

#[tokio::test]
async fn counts_with_a_fraction_are_loaded_summed_and_stored() {
    let (sim, folder) = (site(1_200).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::begin(&sim, folder.path()).await;
    faults(&sim, &["views=tenths"]);
    let end = fixture.loads(past(&sim)).await;
    let loaded = report(&end);
    assert!(loaded.rows.iter().filter(|row| matches!(row.counts.total, Count::Fraction(_))).count() > 500);
    assert!(loaded.rows.iter().all(|row| row.counts.add_up()));
    assert_eq!(loaded.totals.total.value(), Some(loaded.sums().total), "not a tenth is lost");
    assert_eq!(loaded.loaded_share(), Some(1.0));
    let again = fixture.engine.cached_report(past(&sim)).await.expect("read");
    assert_eq!(again.report.as_deref(), Some(loaded), "as it is on disk");
    fixture.engine.stop().await;
}

#[tokio::test]
async fn malformed_numbers_are_stored_unchanged() {
    let (sim, folder) = (site(300).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::begin(&sim, folder.path()).await;
    faults(&sim, &["views=odd"]);
    let end = fixture.loads(past(&sim)).await;
    let rows = &report(&end).rows;
    assert_eq!(rows[1].counts.human, Count::from_literal("12.5").expect("a number"));
    assert_eq!(rows[2].counts.ai, Count::Missing);
    assert!(matches!(&rows[3].counts.total, Count::Odd(_)), "{:?}", rows[3]);
    assert_eq!(rows[4].counts.human, Count::Known(-3));
    fixture.engine.stop().await;
    fixture.store.close().await;
    let fixture = EngineFixture::begin(&sim, folder.path()).await;
    assert_eq!(fixture.engine.cached_report(past(&sim)).await.expect("read").report, end.report);
}

#[cfg(unix)]
#[tokio::test]
async fn a_store_that_becomes_read_only_loses_no_answer_and_is_reported() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    fixture.engine.load_all(LoadPlan { max_requests: 2, ..plan(past(&sim)) }).await;
    // A journal that can't be created, as in a read-only folder; works for root too.
    let journal = folder.path().join("docdeck.db-journal");
    std::fs::remove_file(&journal).expect("the empty one of the last transaction");
    std::os::unix::fs::symlink("/nonexistent/journal", &journal).expect("a link");
    let end = fixture.loads(past(&sim)).await;
    assert_eq!((&end.ended, end.requests, report(&end).complete), (&LoadEndReason::Complete, ALL - 2, true));
    assert_eq!(report(&end).totals.total.value(), Some(report(&end).sums().total));
    let trouble = fixture.until("trouble", |news| match news {
        EngineEvent::InternalFailure(failure) => Some(failure.kind),
        _ => None,
    });
    assert_eq!(trouble.await, FailureKind::Store);
    let recalled = fixture.engine.cached_report(past(&sim)).await.expect("read");
    assert_eq!((recalled.interrupted_after, recalled.report.map(|report| report.rows.len())), (Some(2), Some(500)));
}

fn days(sim: &Sim) -> Vec<DateRange> {
    let last = past(sim).to();
    let day = |back| last.checked_sub_days(Days::new(back)).expect("a day");
    (0..3).map(|back| DateRange::new(day(back), day(back)).expect("a range")).collect()
}

#[tokio::test]
async fn the_totals_of_a_day_cost_one_request_and_then_none() {
    let (sim, folder) = (site(120).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::begin(&sim, folder.path()).await;
    let days = days(&sim);
    assert_eq!(fixture.engine.cached_totals(&days).await.expect("read"), []);
    fixture.engine.load_totals(&days[..2]).await.expect("totals");
    assert_eq!(request_count(&sim), 2);
    let known = fixture.engine.cached_totals(&days).await.expect("read");
    assert_eq!(known.iter().map(|(range, _)| *range).collect::<Vec<_>>(), days[..2]);
    fixture.engine.load_totals(&days).await.expect("totals");
    assert_eq!(request_count(&sim), 3);
    // Emitted when they arrived, and again when they were cached already.
    for expected in [days[0], days[1], days[0], days[1], days[2]] {
        let totals_event = fixture.until("totals", |news| match news {
            EngineEvent::Totals { range, totals } => Some((*range, totals.clone())),
            _ => None,
        });
        let (range, totals) = totals_event.await;
        assert_eq!(range, expected);
        assert!(totals.value.add_up() && totals.value.total.value() > Some(ViewCount::ZERO), "{totals:?}");
        assert!(known.iter().all(|(of, known)| *of != range || *known == totals));
    }
}

#[tokio::test]
async fn any_answer_about_a_range_emits_its_totals() {
    let (sim, folder) = (site(120).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::begin(&sim, folder.path()).await;
    let query = ViewsQuery { range: days(&sim)[0], limit: 50, page: 2 };
    let page = fixture.engine.load_views(query, false).await.expect("views");
    fixture.engine.load_totals(&[query.range]).await.expect("totals");
    assert_eq!(request_count(&sim), 1);
    let known = fixture.engine.cached_totals(&[query.range]).await.expect("read");
    assert_eq!(known.len(), 1);
    assert_eq!((&known[0].1.value, known[0].1.as_of), (&page.value.totals, page.as_of));
}

#[tokio::test]
async fn concurrent_loads_of_the_same_totals_share_requests_and_stop_at_the_first_failure() {
    let (sim, folder) = (site(120).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::begin(&sim, folder.path()).await;
    let days = days(&sim);
    faults(&sim, &["views=503"]);
    let failure = fixture.engine.load_totals(&days).await.expect_err("down");
    assert_eq!((failure.kind, request_count(&sim)), (FailureKind::Offline, 1));
    faults(&sim, &["views=latency-50"]);
    let (one, two) = tokio::join!(fixture.engine.load_totals(&days), fixture.engine.load_totals(&days));
    assert!(one.is_ok() && two.is_ok());
    assert_eq!(request_count(&sim), 4);
}

#[tokio::test]
async fn a_report_is_shared_by_its_waiters_without_copies() {
    let (sim, folder) = (site(120).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::begin(&sim, folder.path()).await;
    let (one, two) = tokio::join!(fixture.loads(past(&sim)), fixture.loads(past(&sim)));
    let (one, two) = (one.report.expect("a report"), two.report.expect("a report"));
    assert!(Arc::ptr_eq(&one, &two));
}
