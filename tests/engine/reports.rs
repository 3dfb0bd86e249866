//! All pages of a range and the totals of many: what it costs, what ends it, and where it goes on.

use crate::engine_fixture::EngineFixture;
use chrono::{Days, TimeDelta};
use docdeck::model::connection::Connection;
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::failure::FailureKind;
use docdeck::model::ledger::{RateLimited, Wait};
use docdeck::model::log::Operation;
use docdeck::model::period::DateRange;
use docdeck::model::report::{LoadEnded, LoadOutcome, LoadPlan, LoadProgress, Report};
use docdeck::model::views::{Count, LIMIT_MAX, ViewCount, ViewsQuery};
use docdeck::sim::{Sim, SimOptions};
use std::collections::HashSet;
use std::sync::Arc;

/// Requests that a site of 1,200 pages takes: some of its pages are new or gone.
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

fn order(range: DateRange) -> LoadPlan {
    LoadPlan { range, afresh: false, at_most: 100, until: None }
}

fn faults(sim: &Sim, faults: &[&str]) {
    sim.set_faults(faults.iter().map(|fault| fault.parse().expect("a fault")).collect());
}

fn asked(sim: &Sim) -> u64 {
    sim.requests(Operation::Views)
}

fn report(end: &LoadOutcome) -> &Report {
    end.report.as_deref().expect("a report")
}

fn failed(end: &LoadOutcome) -> (FailureKind, &str) {
    match &end.ended {
        LoadEnded::Failed(failure) => (failure.kind, failure.sentence.as_str()),
        other => panic!("{other:?}"),
    }
}

impl EngineFixture {
    async fn loads(&self, range: DateRange) -> LoadOutcome {
        self.engine.load_all(order(range)).await
    }

    async fn progress(&mut self) -> LoadProgress {
        self.until("progress", |news| match news {
            EngineEvent::Loading(progress) => Some(*progress),
            _ => None,
        })
        .await
    }

    /// A load in the background that has taken in `answers`.
    async fn half_way(&mut self, range: DateRange, answers: u32) -> tokio::task::JoinHandle<LoadOutcome> {
        let engine = self.engine.clone();
        let load = tokio::spawn(async move { engine.load_all(order(range)).await });
        while self.progress().await.answers < answers {}
        load
    }
}

/// A site of which exactly so many pages have views in [`past`].
async fn site_with_rows(rows: u32) -> Sim {
    let mut pages = rows;
    loop {
        let sim = site(pages).await;
        let desk = EngineFixture::begin_alone(&sim).await;
        let end = desk.loads(past(&sim)).await;
        desk.engine.stop().await;
        let found = u32::try_from(report(&end).rows.len()).expect("few");
        if found == rows {
            // Another one, whose requests are not counted yet.
            return site(pages).await;
        }
        pages += rows - found;
    }
}

#[tokio::test]
async fn a_site_of_any_size_is_loaded_to_its_end_and_not_a_request_further() {
    for (rows, requests) in [(0_u32, 1), (1, 1), (50, 1), (51, 1), (249, 1), (250, 1), (251, 2)] {
        let sim = site_with_rows(rows).await;
        let desk = EngineFixture::begin_alone(&sim).await;
        let end = desk.loads(past(&sim)).await;
        assert_eq!((&end.ended, end.requests, asked(&sim)), (&LoadEnded::Complete, requests, u64::from(requests)));
        let report = report(&end);
        assert_eq!((report.rows.len(), report.answers, report.moved), (rows as usize, requests, 0), "{rows}");
        assert!(report.complete);
        assert_eq!(report.totals.total.value(), Some(report.sums().total), "{rows}");
    }
}

#[tokio::test]
async fn progress_is_told_after_each_answer_and_ends_with_all_views_loaded() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let mut desk = EngineFixture::begin(&sim, folder.path()).await;
    let end = desk.loads(past(&sim)).await;
    let mut last = 0.0;
    for answers in 1..=ALL {
        let told = desk.progress().await;
        assert_eq!((told.range, told.answers, told.requests), (past(&sim), answers, answers));
        let share = told.share.expect("a share");
        assert!(share > last, "{share}");
        last = share;
        if answers == ALL {
            assert_eq!((told.rows, share), (report(&end).rows.len(), 1.0));
        } else {
            assert_eq!(told.rows, (answers * LIMIT_MAX) as usize);
        }
    }
    let recalled = desk.engine.recall(past(&sim)).await.expect("read");
    assert_eq!((recalled.report, recalled.broken_off, recalled.last_time), (end.report, None, Some(ALL)));
    assert_eq!(recalled.totals.map(|totals| totals.value), Some(end_totals(&desk, &sim).await));
}

async fn end_totals(desk: &EngineFixture, sim: &Sim) -> docdeck::model::views::Counts {
    let query = ViewsQuery { range: past(sim), limit: LIMIT_MAX, page: 1 };
    desk.engine.cached_views(query).await.expect("kept").value.totals
}

#[tokio::test]
async fn rows_that_move_while_it_loads_are_merged_and_counted() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let desk = EngineFixture::begin(&sim, folder.path()).await;
    let today = sim.now().date_naive();
    let day = |days: i64| today.checked_add_signed(TimeDelta::days(days)).expect("a day");
    // Days that have not been yet bring new views, and with them another order.
    let range = DateRange::new(day(-6), day(4)).expect("a range");
    let first = desk.engine.load_all(LoadPlan { at_most: 2, ..order(range) }).await;
    assert_eq!((&first.ended, report(&first).rows.len()), (&LoadEnded::AtMost, 500));
    sim.advance(TimeDelta::days(4));
    let end = desk.loads(range).await;
    let report = report(&end);
    assert_eq!((&end.ended, report.complete, report.answers), (&LoadEnded::Complete, true, end.requests + 2));
    assert!(report.moved > 0, "rows from above came again further down");
    let paths: HashSet<&str> = report.rows.iter().map(|row| row.path.as_str()).collect();
    assert_eq!(paths.len(), report.rows.len(), "each path once");
    let rows = desk.store.recall_views(&desk.scope, range).await.expect("read").report.expect("a report");
    assert_eq!((&rows.rows, rows.moved), (&report.rows, report.moved), "on disk as in memory");
    assert!(report.totals.total.value() > Some(report.sums().total), "views of the first answers are old");
}

#[tokio::test]
async fn a_429_half_way_keeps_what_came_and_the_next_load_costs_only_the_rest() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let mut desk = EngineFixture::begin(&sim, folder.path()).await;
    faults(&sim, &["views=latency-50"]);
    let load = desk.half_way(past(&sim), 2).await;
    faults(&sim, &["views=429-1"]);
    let end = load.await.expect("an end");
    let (FailureKind::Limited(Wait { until, .. }), _) = failed(&end) else { panic!("{end:?}") };
    let kept = report(&end).answers;
    assert!(!report(&end).complete && (2..ALL).contains(&kept), "{kept}");
    assert_eq!((end.requests, asked(&sim)), (kept + 1, u64::from(kept) + 1));
    faults(&sim, &[]);
    assert!(matches!(failed(&desk.loads(past(&sim)).await), (FailureKind::Limited { .. }, _)), "nothing is asked yet");
    assert_eq!(asked(&sim), u64::from(kept) + 1);
    let wait = (until - desk.engine.service_now()).to_std().unwrap_or_default();
    tokio::time::sleep(wait + std::time::Duration::from_millis(20)).await;
    let rest = desk.loads(past(&sim)).await;
    assert_eq!((&rest.ended, rest.requests), (&LoadEnded::Complete, ALL - kept));
    assert_eq!(asked(&sim), u64::from(ALL) + 1);
    assert_eq!(report(&rest).totals.total.value(), Some(report(&rest).sums().total));
}

#[tokio::test]
async fn a_load_that_is_stopped_goes_on_where_it_was() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let mut desk = EngineFixture::begin(&sim, folder.path()).await;
    faults(&sim, &["views=latency-50"]);
    let load = desk.half_way(past(&sim), 2).await;
    desk.engine.stop_loading(past(&sim));
    let end = load.await.expect("an end");
    let kept = report(&end).answers;
    assert_eq!(end.ended, LoadEnded::Stopped);
    assert!((2..ALL).contains(&kept), "{kept}");
    assert_eq!(asked(&sim), u64::from(kept));
    assert_eq!(desk.engine.recall(past(&sim)).await.expect("read").broken_off, Some(kept));
    let rest = desk.loads(past(&sim)).await;
    assert_eq!((&rest.ended, rest.requests, asked(&sim)), (&LoadEnded::Complete, ALL - kept, u64::from(ALL)));
}

#[tokio::test]
async fn who_asks_for_a_load_that_was_just_told_to_stop_has_it_go_on() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let mut desk = EngineFixture::begin(&sim, folder.path()).await;
    faults(&sim, &["views=latency-200"]);
    let load = desk.half_way(past(&sim), 1).await;
    desk.engine.stop_loading(past(&sim));
    let again = desk.loads(past(&sim)).await;
    assert_eq!((&again.ended, asked(&sim)), (&LoadEnded::Complete, u64::from(ALL)));
    assert_eq!(load.await.expect("an end"), again);
}

#[tokio::test]
async fn a_new_process_goes_on_where_the_last_one_ended() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let mut desk = EngineFixture::begin(&sim, folder.path()).await;
    faults(&sim, &["views=latency-50"]);
    let load = desk.half_way(past(&sim), 2).await;
    desk.engine.stop().await;
    assert_eq!(failed(&load.await.expect("an end")).0, FailureKind::Local);
    desk.store.close().await;
    faults(&sim, &[]);
    let desk = EngineFixture::begin(&sim, folder.path()).await;
    let recalled = desk.engine.recall(past(&sim)).await.expect("read");
    let kept = recalled.broken_off.expect("a load that was broken off");
    assert!((2..ALL).contains(&kept), "{kept}");
    assert_eq!(recalled.report.map(|report| report.rows.len()), Some((kept * LIMIT_MAX) as usize));
    let end = desk.loads(past(&sim)).await;
    assert_eq!(end.ended, LoadEnded::Complete);
    assert!(end.requests <= ALL - kept, "{}", end.requests);
    // The request that was under way when it ended may have been in vain.
    assert!(asked(&sim) <= u64::from(ALL) + 1, "{}", asked(&sim));
}

#[tokio::test]
async fn an_answer_that_comes_after_the_engine_ended_is_in_the_report_that_the_next_load_goes_on_with() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let mut desk = EngineFixture::begin(&sim, folder.path()).await;
    // A range with today in it: its answers in the cache are soon not fresh any more, its report goes on however old it is.
    let range = DateRange::last_days(7, sim.now().date_naive());
    faults(&sim, &["views=latency-200"]);
    let load = desk.half_way(range, 2).await;
    let third = desk.until("the third request", |news| match news {
        EngineEvent::Budget(RateLimited::Views, budget) if budget.used == 3 => Some(()),
        _ => None,
    });
    third.await;
    desk.engine.stop().await;
    assert_eq!(failed(&load.await.expect("an end")).0, FailureKind::Local);
    desk.until("the third answer", |news| matches!(news, EngineEvent::Totals { .. }).then_some(())).await;
    let unfinished = desk.store.unfinished_report(&desk.scope, range).await.expect("read").expect("a report");
    assert_eq!((unfinished.report.answers, unfinished.report.rows.len()), (3, 3 * LIMIT_MAX as usize));
    assert_eq!(asked(&sim), 3);
}

/// How many transactions have changed the store's file: SQLite counts them at this place of its first page.
fn transactions(folder: &std::path::Path) -> u32 {
    let file = std::fs::read(folder.join("docdeck.db")).expect("a file");
    let count = file.get(24..28).and_then(|bytes| bytes.try_into().ok());
    u32::from_be_bytes(count.expect("four bytes"))
}

#[tokio::test]
async fn an_answer_costs_two_transactions_one_before_its_request_and_one_for_all_that_came() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let mut desk = EngineFixture::begin(&sim, folder.path()).await;
    desk.engine.load_all(LoadPlan { at_most: 2, ..order(past(&sim)) }).await;
    // What the first answer of all says of the service is written down as well.
    desk.until("live", |news| matches!(news, EngineEvent::Connection(Connection::Ready)).then_some(())).await;
    let before = transactions(folder.path());
    let end = desk.loads(past(&sim)).await;
    assert_eq!((&end.ended, end.requests), (&LoadEnded::Complete, ALL - 2));
    assert_eq!(transactions(folder.path()) - before, 2 * (ALL - 2));
}

#[tokio::test]
async fn answers_that_are_there_already_cost_no_request() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let desk = EngineFixture::begin(&sim, folder.path()).await;
    for page in [1, 3] {
        let query = ViewsQuery { range: past(&sim), limit: LIMIT_MAX, page };
        desk.engine.load_views(query, false).await.expect("views");
    }
    let end = desk.engine.load_all(LoadPlan { at_most: ALL - 2, ..order(past(&sim)) }).await;
    assert_eq!((&end.ended, end.requests, asked(&sim)), (&LoadEnded::Complete, ALL - 2, u64::from(ALL)));
    let again = desk.loads(past(&sim)).await;
    assert_eq!((again.requests, asked(&sim)), (0, u64::from(ALL)));
    assert_eq!((again.report, again.ended), (end.report, end.ended));
}

#[tokio::test]
async fn a_load_that_begins_anew_asks_for_every_page_and_leaves_the_whole_report_until_it_is_whole() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let desk = EngineFixture::begin(&sim, folder.path()).await;
    let first = desk.loads(past(&sim)).await;
    let anew = LoadPlan { afresh: true, ..order(past(&sim)) };
    let part = desk.engine.load_all(LoadPlan { at_most: 2, ..anew }).await;
    assert_eq!((&part.ended, part.requests, asked(&sim)), (&LoadEnded::AtMost, 2, u64::from(ALL) + 2));
    assert_eq!(part.report, first.report, "the whole one from before");
    let recalled = desk.engine.recall(past(&sim)).await.expect("read");
    assert_eq!((recalled.report, recalled.broken_off), (first.report.clone(), Some(2)));
    // The answers of the first load are fresh, and still from before it was begun anew.
    let rest = desk.loads(past(&sim)).await;
    assert_eq!((&rest.ended, rest.requests), (&LoadEnded::Complete, ALL - 2));
    assert!(report(&rest).as_of > report(&first).as_of);
    let again = desk.engine.load_all(anew).await;
    assert_eq!((again.requests, asked(&sim)), (ALL, u64::from(3 * ALL)));
    assert!(report(&again).as_of > report(&rest).as_of);
}

#[tokio::test]
async fn a_load_stops_at_the_requests_that_it_may_cost() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let desk = EngineFixture::begin(&sim, folder.path()).await;
    let at_most = async |at_most| desk.engine.load_all(LoadPlan { at_most, ..order(past(&sim)) }).await;
    let none = at_most(0).await;
    assert_eq!((none.report, none.ended, none.requests), (None, LoadEnded::AtMost, 0));
    let some = at_most(3).await;
    assert_eq!((&some.ended, some.requests, report(&some).answers), (&LoadEnded::AtMost, 3, 3));
    let rest = at_most(ALL - 3).await;
    assert_eq!((rest.ended, asked(&sim)), (LoadEnded::Complete, u64::from(ALL)));
}

#[tokio::test]
async fn the_same_range_asked_for_twice_at_once_is_one_load() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let desk = EngineFixture::begin(&sim, folder.path()).await;
    let (one, two) = tokio::join!(desk.loads(past(&sim)), desk.loads(past(&sim)));
    assert_eq!((one.ended.clone(), asked(&sim)), (LoadEnded::Complete, u64::from(ALL)));
    assert_eq!(one, two);
}

#[tokio::test]
async fn two_instances_that_load_the_same_range_leave_one_whole_report() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let (one, two) = (EngineFixture::begin(&sim, folder.path()).await, EngineFixture::begin(&sim, folder.path()).await);
    one.engine.load_all(LoadPlan { at_most: 2, ..order(past(&sim)) }).await;
    let (first, second) = tokio::join!(one.loads(past(&sim)), two.loads(past(&sim)));
    for end in [&first, &second] {
        assert_eq!((&end.ended, report(end).answers, report(end).moved), (&LoadEnded::Complete, ALL, 0));
    }
    let recalled = two.engine.recall(past(&sim)).await.expect("read");
    assert_eq!(
        (recalled.broken_off, recalled.report.as_deref().map(|whole| &whole.rows)),
        (None, Some(&report(&first).rows))
    );
    assert!(recalled.report.is_some_and(|whole| (whole.complete, whole.answers, whole.moved) == (true, ALL, 0)));
}

#[tokio::test]
async fn what_ends_a_load_is_said_and_what_came_is_kept() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let desk = EngineFixture::begin(&sim, folder.path()).await;
    desk.engine.load_all(LoadPlan { at_most: 1, ..order(past(&sim)) }).await;
    let ends = [
        ("views=503", FailureKind::Offline),
        ("views=lost", FailureKind::Offline),
        ("views=malformed", FailureKind::Service),
        ("views=401", FailureKind::KeyRefused),
    ];
    for (fault, kind) in ends {
        faults(&sim, &[fault]);
        let end = desk.loads(past(&sim)).await;
        assert_eq!((failed(&end).0, report(&end).answers, end.requests), (kind, 1, 1), "{fault}");
    }
    faults(&sim, &[]);
    assert_eq!(desk.loads(past(&sim)).await.requests, ALL - 1);
}

#[tokio::test]
async fn a_service_that_never_comes_to_an_end_is_asked_once_too_often_and_no_more() {
    for (fault, said) in [("views=stuck", "sent only pages that it had sent before"), ("views=endless", "sent none")] {
        let (sim, folder) = (site(120).await, tempfile::tempdir().expect("a folder"));
        let desk = EngineFixture::begin(&sim, folder.path()).await;
        faults(&sim, &[fault]);
        let end = desk.loads(past(&sim)).await;
        let (kind, sentence) = failed(&end);
        assert!(kind == FailureKind::Service && sentence.contains(said), "{sentence}");
        assert_eq!((report(&end).answers, report(&end).moved, asked(&sim)), (1, 0, 2), "{fault}");
        // The answer that led nowhere is in the cache, and is not believed for ever.
        faults(&sim, &[]);
        let rest = desk.loads(past(&sim)).await;
        assert_eq!((&rest.ended, rest.requests, asked(&sim)), (&LoadEnded::Complete, 1, 3), "{fault}");
        assert_eq!(report(&rest).rows.len(), report(&end).rows.len());
    }
}

#[tokio::test]
async fn a_service_without_a_single_row_that_says_there_is_more_leaves_nothing() {
    let (sim, folder) = (site(0).await, tempfile::tempdir().expect("a folder"));
    let desk = EngineFixture::begin(&sim, folder.path()).await;
    faults(&sim, &["views=endless"]);
    let end = desk.loads(past(&sim)).await;
    assert_eq!((failed(&end).0, &end.report, asked(&sim)), (FailureKind::Service, &None, 1));
}

#[tokio::test]
async fn counts_with_a_fraction_are_loaded_summed_and_kept() {
    let (sim, folder) = (site(1_200).await, tempfile::tempdir().expect("a folder"));
    let desk = EngineFixture::begin(&sim, folder.path()).await;
    faults(&sim, &["views=tenths"]);
    let end = desk.loads(past(&sim)).await;
    let loaded = report(&end);
    assert!(loaded.rows.iter().filter(|row| matches!(row.counts.total, Count::Fraction(_))).count() > 500);
    assert!(loaded.rows.iter().all(|row| row.counts.add_up()));
    assert_eq!(loaded.totals.total.value(), Some(loaded.sums().total), "not a tenth is lost");
    assert_eq!(loaded.loaded_share(), Some(1.0));
    let again = desk.engine.recall(past(&sim)).await.expect("read");
    assert_eq!(again.report.as_deref(), Some(loaded), "as it is on disk");
    desk.engine.stop().await;
}

#[tokio::test]
async fn odd_numbers_are_kept_as_they_came() {
    let (sim, folder) = (site(300).await, tempfile::tempdir().expect("a folder"));
    let desk = EngineFixture::begin(&sim, folder.path()).await;
    faults(&sim, &["views=odd"]);
    let end = desk.loads(past(&sim)).await;
    let rows = &report(&end).rows;
    assert_eq!(rows[1].counts.human, Count::from_literal("12.5").expect("a number"));
    assert_eq!(rows[2].counts.ai, Count::Missing);
    assert!(matches!(&rows[3].counts.total, Count::Odd(_)), "{:?}", rows[3]);
    assert_eq!(rows[4].counts.human, Count::Known(-3));
    desk.engine.stop().await;
    desk.store.close().await;
    let desk = EngineFixture::begin(&sim, folder.path()).await;
    assert_eq!(desk.engine.recall(past(&sim)).await.expect("read").report, end.report);
}

#[cfg(unix)]
#[tokio::test]
async fn a_store_that_can_not_be_written_half_way_costs_no_answer_and_is_said() {
    let (sim, folder) = (site(1200).await, tempfile::tempdir().expect("a folder"));
    let mut desk = EngineFixture::begin(&sim, folder.path()).await;
    desk.engine.load_all(LoadPlan { at_most: 2, ..order(past(&sim)) }).await;
    // A journal that can't be made, as in a folder that can't be written; works for root as well.
    let journal = folder.path().join("docdeck.db-journal");
    std::fs::remove_file(&journal).expect("the empty one of the last transaction");
    std::os::unix::fs::symlink("/nonexistent/journal", &journal).expect("a link");
    let end = desk.loads(past(&sim)).await;
    assert_eq!((&end.ended, end.requests, report(&end).complete), (&LoadEnded::Complete, ALL - 2, true));
    assert_eq!(report(&end).totals.total.value(), Some(report(&end).sums().total));
    let trouble = desk.until("trouble", |news| match news {
        EngineEvent::Trouble(failure) => Some(failure.kind),
        _ => None,
    });
    assert_eq!(trouble.await, FailureKind::Store);
    let recalled = desk.engine.recall(past(&sim)).await.expect("read");
    assert_eq!((recalled.broken_off, recalled.report.map(|report| report.rows.len())), (Some(2), Some(500)));
}

fn days(sim: &Sim) -> Vec<DateRange> {
    let last = past(sim).to();
    let day = |back| last.checked_sub_days(Days::new(back)).expect("a day");
    (0..3).map(|back| DateRange::new(day(back), day(back)).expect("a range")).collect()
}

#[tokio::test]
async fn each_days_totals_cost_one_request_and_then_none() {
    let (sim, folder) = (site(120).await, tempfile::tempdir().expect("a folder"));
    let mut desk = EngineFixture::begin(&sim, folder.path()).await;
    let days = days(&sim);
    assert_eq!(desk.engine.recall_totals(&days).await.expect("read"), []);
    desk.engine.load_totals(&days[..2]).await.expect("totals");
    assert_eq!(asked(&sim), 2);
    let known = desk.engine.recall_totals(&days).await.expect("read");
    assert_eq!(known.iter().map(|(range, _)| *range).collect::<Vec<_>>(), days[..2]);
    desk.engine.load_totals(&days).await.expect("totals");
    assert_eq!(asked(&sim), 3);
    // Told when they came, and again when they were known already.
    for expected in [days[0], days[1], days[0], days[1], days[2]] {
        let told = desk.until("totals", |news| match news {
            EngineEvent::Totals { range, totals } => Some((*range, totals.clone())),
            _ => None,
        });
        let (range, totals) = told.await;
        assert_eq!(range, expected);
        assert!(totals.value.add_up() && totals.value.total.value() > Some(ViewCount::ZERO), "{totals:?}");
        assert!(known.iter().all(|(of, known)| *of != range || *known == totals));
    }
}

#[tokio::test]
async fn any_answer_about_a_range_tells_its_totals() {
    let (sim, folder) = (site(120).await, tempfile::tempdir().expect("a folder"));
    let desk = EngineFixture::begin(&sim, folder.path()).await;
    let query = ViewsQuery { range: days(&sim)[0], limit: 50, page: 2 };
    let page = desk.engine.load_views(query, false).await.expect("views");
    desk.engine.load_totals(&[query.range]).await.expect("totals");
    assert_eq!(asked(&sim), 1);
    let known = desk.engine.recall_totals(&[query.range]).await.expect("read");
    assert_eq!(known.len(), 1);
    assert_eq!((&known[0].1.value, known[0].1.as_of), (&page.value.totals, page.as_of));
}

#[tokio::test]
async fn several_who_want_the_same_totals_ask_once_and_stop_at_the_first_failure() {
    let (sim, folder) = (site(120).await, tempfile::tempdir().expect("a folder"));
    let desk = EngineFixture::begin(&sim, folder.path()).await;
    let days = days(&sim);
    faults(&sim, &["views=503"]);
    let failure = desk.engine.load_totals(&days).await.expect_err("down");
    assert_eq!((failure.kind, asked(&sim)), (FailureKind::Offline, 1));
    faults(&sim, &["views=latency-50"]);
    let (one, two) = tokio::join!(desk.engine.load_totals(&days), desk.engine.load_totals(&days));
    assert!(one.is_ok() && two.is_ok());
    assert_eq!(asked(&sim), 4);
}

#[tokio::test]
async fn a_report_is_shared_and_not_copied_for_each_who_waits() {
    let (sim, folder) = (site(120).await, tempfile::tempdir().expect("a folder"));
    let desk = EngineFixture::begin(&sim, folder.path()).await;
    let (one, two) = tokio::join!(desk.loads(past(&sim)), desk.loads(past(&sim)));
    let (one, two) = (one.report.expect("a report"), two.report.expect("a report"));
    assert!(Arc::ptr_eq(&one, &two));
}
