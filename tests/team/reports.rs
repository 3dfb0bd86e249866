//! Reports of analytics that members share: one loads them, and the others have them without a request.

use crate::proxy::{Cut, Proxy};
use crate::support::engine::EngineFixture;
use crate::support::postgres::{Postgres, copy_folder};
use crate::support::slow::sample;
use crate::{Member, address, first_day, member_settings, now, start_database, text};
use chrono::{Days, TimeDelta};
use docdeck::engine::TeamAccess;
use docdeck::model::Time;
use docdeck::model::analytics::{AnalyticsKind, Cursor, Feedback, PageFeedback, RowsLoadPlan, RowsResponse, Search};
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::log::Operation;
use docdeck::model::period::DateRange;
use docdeck::model::report::{LoadEndReason, LoadPlan, Report};
use docdeck::model::team::{ReportKey, ReportKind, TeamStatus};
use docdeck::model::views::{Count, Counts, PageRow, ViewsResponse};
use docdeck::sim::{Sim, SimOptions};
use docdeck::store::{ReportResponse, ResponsePosition, Store};
use docdeck::team::{Exchange, ExchangeStep, ExchangeSummary};
use std::sync::Arc;

/// Ten days that ended some days ago.
pub(crate) fn range() -> DateRange {
    let day = |back| first_day().checked_sub_days(Days::new(back)).expect("a day");
    DateRange::new(day(20), day(11)).expect("a range")
}

fn minutes_ago(minutes: i64) -> Time {
    now() - TimeDelta::minutes(minutes)
}

fn counts(number: i64) -> Counts {
    Counts::new(Count::Known(number), Count::Known(1), Count::Known(number + 1))
}

fn pages(count: i64, views: i64) -> ViewsResponse {
    let row = |n| PageRow { path: text(&format!("/guides/a-page-with-a-long-name/{n}")), counts: counts(views + n) };
    ViewsResponse { totals: counts(views), rows: (0..count).map(row).collect(), has_more: Some(false) }
}

fn searches(query: &str) -> RowsResponse<Search> {
    let row = Search { query: text(query), hits: Count::Known(3), ..Search::default() };
    RowsResponse { rows: vec![row], totals: Counts::default(), next: None, has_unavailable_rows: false }
}

impl Member {
    async fn load_pages(&self, range: DateRange, response: ViewsResponse, as_of: Time) {
        let next = ReportResponse { range, number: 1, response, is_last: true, as_of, restarted_at: None };
        assert!(self.store.cache_and_add_report_response(&self.scope, next, None).await.expect("stored"));
    }

    async fn load_searches(&self, query: &str, as_of: Time) {
        let position =
            ResponsePosition { range: range(), number: 1, as_of, started_at: as_of, should_replace_unfinished: true };
        assert!(self.store.save_rows_response(&self.scope, &searches(query), position).await.expect("stored"));
    }

    async fn report(&self, range: DateRange) -> Option<Arc<Report>> {
        let stored = self.store.cached_report(&self.scope, range).await.expect("read");
        stored.report.filter(|report| report.complete)
    }

    async fn queries(&self) -> Vec<String> {
        let stored = self.store.rows_report::<Search>(&self.scope, range()).await.expect("read");
        stored.report.iter().flat_map(|report| &report.rows).map(|row| row.query.to_string()).collect()
    }

    /// Loads some report.
    pub(crate) async fn load_any_report(&self) {
        self.load_pages(range(), pages(3, 10), minutes_ago(1)).await;
    }

    /// Whether nothing is left to exchange.
    async fn is_idle(&self) -> bool {
        self.exchange().await == ExchangeSummary::default()
    }
}

async fn start_engine(sim: &Sim, server: &Postgres, name: &str) -> EngineFixture {
    let store = Store::in_memory().expect("a store");
    store.join_team(&crate::support::scope_of(sim), "docs").await.expect("joined");
    EngineFixture::start_as_member(sim, store, TeamAccess { address: address(&server.url("ana")), name: text(name) })
        .await
}

#[tokio::test]
async fn what_one_member_loads_costs_the_others_no_request() {
    let Some(server) = start_database(&[]).await else { return };
    let sim = Sim::start(SimOptions { jobs: 0, pages: 1_200, ..SimOptions::default() }).await.expect("a simulator");
    let ana = start_engine(&sim, &server, "ana").await;
    let mut bob = start_engine(&sim, &server, "bob").await;
    let pages = LoadPlan { range: range(), from_start: false, max_requests: 100, stop_at_percent: None };
    let rows = RowsLoadPlan { range: range(), max_requests: 100, from_start: false };
    let days: Vec<DateRange> = range().single_days().collect();
    let loaded = ana.engine.load_all(pages).await;
    let found = ana.engine.load_rows::<Search>(rows).await;
    let votes = ana.engine.load_rows::<PageFeedback>(rows).await;
    let visitors = ana.engine.load_rows::<PageRow>(rows).await;
    let comments = ana.engine.load_rows::<Feedback>(rows).await;
    ana.engine.load_totals(&days).await.expect("loaded");
    let used = loaded.requests + found.requests + votes.requests + visitors.requests + comments.requests;
    assert!(used > 8, "{used}");
    let requests = || -> u64 { Operation::ALL.into_iter().map(|operation| sim.requests(operation)).sum() };
    let before = requests();
    // Everything arrives by itself.
    let (mut kinds, mut totals) = (std::collections::BTreeSet::new(), std::collections::BTreeSet::new());
    while kinds.len() < 5 || totals.len() < days.len() {
        bob.wait_for_event("the reports", |event| match event {
            EngineEvent::ReportReceived(key) => {
                assert_eq!(key.range, range());
                kinds.insert(key.kind);
                Some(())
            }
            EngineEvent::Totals { range, .. } => {
                totals.extend(Some(*range).filter(|range| range.days() == 1));
                Some(())
            }
            _ => None,
        })
        .await;
    }
    let shown = bob.engine.load_all(pages).await;
    assert_eq!(shown.requests, 0);
    let (shown, loaded) = (shown.report.expect("a report"), loaded.report.expect("a report"));
    assert_eq!((&shown.rows, &shown.totals, shown.responses), (&loaded.rows, &loaded.totals, loaded.responses));
    assert!((shown.as_of - loaded.as_of).abs() < TimeDelta::seconds(5), "{} {}", shown.as_of, loaded.as_of);
    assert_eq!(bob.engine.stored_rows::<Search>(range()).await.expect("read").report, found.report);
    assert_eq!(
        bob.engine.load_rows::<PageRow>(rows).await.report.map(|report| report.rows.clone()),
        visitors.report.map(|report| report.rows.clone())
    );
    assert_eq!(bob.engine.load_rows::<PageFeedback>(rows).await.requests, 0);
    bob.engine.load_totals(&days).await.expect("cached");
    assert_eq!(requests(), before, "no request of bob");
    let shown = bob.engine.stored_rows::<Feedback>(range()).await.expect("read").report.expect("a report");
    assert_eq!(shown.rows, comments.report.expect("a report").rows);
    assert!(shown.rows.iter().any(|row| row.comment.is_some()));
    ana.engine.stop().await;
    bob.engine.stop().await;
}

#[tokio::test]
async fn all_dashboards_of_a_computer_show_a_report_that_one_of_them_receives() {
    let Some(server) = start_database(&[]).await else { return };
    let sim = Sim::start(SimOptions { jobs: 0, pages: 30, ..SimOptions::default() }).await.expect("a simulator");
    let folder = crate::support::create_folder();
    let store = crate::support::open_store(folder.path());
    store.join_team(&crate::support::scope_of(&sim), "docs").await.expect("joined");
    let access = || TeamAccess { address: address(&server.url("ana")), name: text("bob") };
    let mut bob = EngineFixture::start_as_member_in(&sim, folder.path(), access()).await;
    crate::engines::wait_for_status(&mut bob, |status| status == TeamStatus::Online).await;
    let mut other = EngineFixture::start_as_member_in(&sim, folder.path(), access()).await;
    let ana = start_engine(&sim, &server, "ana").await;
    let pages = LoadPlan { range: range(), from_start: false, max_requests: 100, stop_at_percent: None };
    let rows = RowsLoadPlan { range: range(), max_requests: 100, from_start: false };
    ana.engine.load_all(pages).await;
    ana.engine.load_rows::<Search>(rows).await;
    for member in [&mut bob, &mut other] {
        let mut missing = vec![ReportKind::PageViews, ReportKind::Rows(AnalyticsKind::Searches)];
        while !missing.is_empty() {
            let received = member.wait_for_event("a report", |event| match event {
                EngineEvent::ReportReceived(key) => Some(*key),
                _ => None,
            });
            let key = received.await;
            assert_eq!(key.range, range());
            missing.retain(|kind| *kind != key.kind);
        }
    }
    for member in [ana, bob, other] {
        member.engine.stop().await;
    }
}

#[tokio::test]
async fn two_members_who_load_the_same_reports_at_the_same_time_pay_once() {
    let Some(server) = start_database(&[]).await else { return };
    let sim = Sim::start(SimOptions { jobs: 0, pages: 1_200, ..SimOptions::default() }).await.expect("a simulator");
    let mut ana = start_engine(&sim, &server, "ana").await;
    let mut bob = start_engine(&sim, &server, "bob").await;
    for member in [&mut ana, &mut bob] {
        crate::engines::wait_for_status(member, |status| status == TeamStatus::Online).await;
    }
    let pages = LoadPlan { range: range(), from_start: false, max_requests: 100, stop_at_percent: None };
    let rows = RowsLoadPlan { range: range(), max_requests: 100, from_start: false };
    let (first, second) = tokio::join!(ana.engine.load_all(pages), bob.engine.load_all(pages));
    assert_eq!([first.requests, second.requests].iter().min(), Some(&0), "{first:?} {second:?}");
    assert_eq!(first.report.expect("a report").rows, second.report.expect("a report").rows);
    let (first, second) = tokio::join!(ana.engine.load_rows::<Feedback>(rows), bob.engine.load_rows::<Feedback>(rows));
    assert_eq!([first.requests, second.requests].iter().min(), Some(&0));
    assert_eq!(first.report.expect("a report").rows, second.report.expect("a report").rows);
    // Somebody who has begun to load searches never finishes.
    server.sql(&format!(
        "INSERT INTO docdeck.report_load SELECT organization, base_url, project, 'searches', '{}', '{}', 'gone',
             extract(epoch FROM now()) * 1000 FROM docdeck.project",
        range().from(),
        range().to()
    ));
    let found = ana.engine.load_rows::<Search>(rows).await;
    assert!(found.requests > 0 && found.end_reason == LoadEndReason::Complete, "{found:?}");
    // What the user loads again is not taken from another member.
    server.sql("UPDATE docdeck.report_load SET member = 'gone', begun_at = extract(epoch FROM now()) * 1000");
    let again = ana.engine.load_rows::<Search>(RowsLoadPlan { from_start: true, ..rows }).await;
    assert!(again.requests > 0);
    ana.engine.stop().await;
    bob.engine.stop().await;
}

#[tokio::test]
async fn only_a_recent_load_of_the_same_report_by_another_member_counts() {
    let Some(server) = start_database(&[]).await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    let elsewhere = Member::join(&server, "cam", "q").await;
    let connection = crate::connect(&server.url("ana")).await.expect("connected");
    let begin = async |member: &Member, kind, range| {
        let team = member.store.team_membership(&member.scope).await.expect("read").expect("shared");
        connection.begin_report_load(&member.scope, &team, ReportKey { kind, range }).await.expect("asked")
    };
    let (pages, searches) = (ReportKind::PageViews, ReportKind::Rows(AnalyticsKind::Searches));
    assert!(begin(&ana, pages, range()).await);
    assert!(!begin(&bob, pages, range()).await);
    assert!(begin(&ana, pages, range()).await, "its own load");
    assert!(begin(&bob, searches, range()).await && begin(&elsewhere, pages, range()).await);
    server.sql("UPDATE docdeck.report_load SET begun_at = begun_at - 61000");
    assert!(begin(&bob, pages, range()).await && !begin(&ana, pages, range()).await);
    assert!(begin(&ana, pages, DateRange::day(range().from())).await, "another range");
}

#[tokio::test]
async fn a_report_that_is_sent_while_others_are_received_is_not_left_out() {
    let Some(server) = start_database(&[]).await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    ana.load_pages(range(), pages(3, 10), minutes_ago(60)).await;
    ana.exchange().await;
    let connection = crate::connect(&server.url("ana")).await.expect("connected");
    let started = Exchange::start(&connection, &bob.store, &bob.scope, member_settings("bob")).await.expect("started");
    let mut exchange = started.expect("a shared project");
    // The names of the reports are read in the second step.
    for _ in 0..2 {
        assert_eq!(exchange.receive_next_reports(now()).await.expect("received"), ExchangeStep::HasMore);
    }
    ana.load_searches("sso", minutes_ago(5)).await;
    ana.exchange().await;
    while exchange.receive_next_reports(now()).await.expect("received") == ExchangeStep::HasMore {}
    assert_eq!(exchange.take_received_reports().len(), 2);
    assert_eq!(bob.queries().await, ["sso"]);
}

#[tokio::test]
async fn an_interrupted_load_is_not_continued_after_another_member_has_loaded_everything() {
    let Some(server) = start_database(&[]).await else { return };
    let sim = Sim::start(SimOptions { jobs: 0, pages: 1_200, ..SimOptions::default() }).await.expect("a simulator");
    let ana = start_engine(&sim, &server, "ana").await;
    let mut bob = start_engine(&sim, &server, "bob").await;
    let pages = |max_requests| LoadPlan { range: range(), from_start: false, max_requests, stop_at_percent: None };
    let rows = |max_requests| RowsLoadPlan { range: range(), max_requests, from_start: false };
    assert_eq!(bob.engine.load_all(pages(1)).await.end_reason, LoadEndReason::RequestLimit);
    assert_eq!(bob.engine.load_rows::<PageRow>(rows(1)).await.end_reason, LoadEndReason::RequestLimit);
    let stored = bob.engine.cached_report(range()).await.expect("read");
    assert_eq!(stored.responses_before_interruption, Some(1));
    // The members learn the service's time from a header in whole seconds, so their clocks can differ by a second.
    sim.advance(TimeDelta::seconds(10));
    let loaded = ana.engine.load_all(pages(100)).await;
    let visitors = ana.engine.load_rows::<PageRow>(rows(100)).await;
    for _ in 0..2 {
        bob.wait_for_event("both reports", |event| matches!(event, EngineEvent::ReportReceived(_)).then_some(())).await;
    }
    assert_eq!(bob.engine.cached_report(range()).await.expect("read").responses_before_interruption, None);
    let shown = bob.engine.load_all(pages(100)).await;
    assert_eq!((shown.requests, &shown.end_reason), (0, &LoadEndReason::Complete));
    assert_eq!(shown.report.expect("a report").rows, loaded.report.expect("a report").rows);
    let shown = bob.engine.load_rows::<PageRow>(rows(100)).await;
    assert_eq!((shown.requests, &shown.end_reason), (0, &LoadEndReason::Complete));
    assert_eq!(shown.report.expect("a report").rows, visitors.report.expect("a report").rows);
    // A new load replaces both.
    let again = bob.engine.load_all(LoadPlan { from_start: true, ..pages(100) }).await;
    assert_eq!((again.requests, again.end_reason), (5, LoadEndReason::Complete));
    let again = bob.engine.load_rows::<PageRow>(RowsLoadPlan { from_start: true, ..rows(100) }).await;
    assert_eq!((again.requests, again.end_reason), (5, LoadEndReason::Complete));
    ana.engine.stop().await;
    bob.engine.stop().await;
}

#[tokio::test]
async fn a_load_that_began_before_a_newer_report_arrived_ends_without_replacing_it() {
    let Some(server) = start_database(&[]).await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    let add = async |number, minutes| {
        let response = ViewsResponse { has_more: Some(number == 1), ..pages(3, 7) };
        let (is_last, as_of) = (number == 2, minutes_ago(minutes));
        let next = ReportResponse { range: range(), number, response, is_last, as_of, restarted_at: None };
        bob.store.add_report_response(&bob.scope, next).await.expect("stored")
    };
    let started_at = minutes_ago(40);
    let add_search = async |number: u32, minutes| {
        let next = (number == 1).then(|| Cursor::new("more").expect("a cursor"));
        let response = RowsResponse { next, ..searches(&format!("of bob {number}")) };
        let as_of = minutes_ago(minutes);
        let position = ResponsePosition { range: range(), number, as_of, started_at, should_replace_unfinished: false };
        bob.store.save_rows_response(&bob.scope, &response, position).await.expect("stored")
    };
    assert!(add(1, 40).await && add_search(1, 40).await);
    ana.load_pages(range(), pages(4, 900), minutes_ago(20)).await;
    ana.load_searches("of ana", minutes_ago(20)).await;
    ana.exchange().await;
    bob.exchange().await;
    assert!(add(2, 10).await && add_search(2, 10).await);
    assert_eq!(bob.report(range()).await.map(|report| report.rows.len()), Some(4));
    assert_eq!(bob.queries().await, ["of ana"]);
    assert!(bob.store.unfinished_rows::<Search>(&bob.scope, range()).await.expect("read").is_none());
    assert!(bob.is_idle().await && ana.is_idle().await);
}

#[tokio::test]
async fn the_report_that_was_loaded_last_counts_in_every_order() {
    let Some(server) = start_database(&[]).await else { return };
    for (n, first) in [0_usize, 1].into_iter().enumerate() {
        let project = format!("p{n}");
        let members = [Member::join(&server, "ana", &project).await, Member::join(&server, "bob", &project).await];
        let cam = Member::join(&server, "cam", &project).await;
        members[0].load_pages(range(), pages(3, 100), minutes_ago(30)).await;
        members[0].load_searches("older", minutes_ago(30)).await;
        members[1].load_pages(range(), pages(4, 900), minutes_ago(20)).await;
        members[1].load_searches("newer", minutes_ago(20)).await;
        // cam has a load that is not finished.
        let part = ReportResponse {
            range: range(),
            number: 1,
            response: ViewsResponse { has_more: Some(true), ..pages(250, 7) },
            is_last: false,
            as_of: minutes_ago(10),
            restarted_at: None,
        };
        cam.store.add_report_response(&cam.scope, part).await.expect("stored");
        for at in [first, 1 - first, first] {
            members[at].exchange().await;
            cam.exchange().await;
        }
        for member in [&members[0], &members[1], &cam] {
            let report = member.report(range()).await.expect("a report");
            assert_eq!((report.rows.len(), &report.totals), (4, &counts(900)), "{n} {}", member.name);
            assert_eq!(member.queries().await, ["newer"], "{n} {}", member.name);
        }
        let unfinished = cam.store.unfinished_report(&cam.scope, range()).await.expect("read");
        assert_eq!(unfinished.map(|unfinished| unfinished.report.rows.len()), Some(250));
        for member in [&members[0], &members[1], &cam] {
            assert!(member.is_idle().await, "{n} {}", member.name);
        }
    }
}

#[tokio::test]
async fn reports_of_the_same_time_become_the_same_on_all_computers() {
    let Some(server) = start_database(&[]).await else { return };
    let as_of = minutes_ago(30);
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    ana.load_pages(range(), pages(3, 100), as_of).await;
    bob.load_pages(range(), pages(3, 200), as_of).await;
    for member in [&ana, &bob, &ana, &bob] {
        member.exchange().await;
    }
    assert_eq!(ana.report(range()).await, bob.report(range()).await);
    assert!(ana.is_idle().await && bob.is_idle().await);
}

#[tokio::test]
async fn a_pruned_report_comes_back_only_in_a_newer_version() {
    let Some(server) = start_database(&[]).await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    ana.load_pages(range(), pages(3, 100), minutes_ago(30)).await;
    ana.exchange().await;
    bob.exchange().await;
    let all = docdeck::store::AnalyticsPruneFilter { should_delete_all: true, ..Default::default() };
    bob.store.prune_analytics(all).await.expect("pruned");
    bob.exchange().await;
    assert_eq!(bob.report(range()).await, None);
    ana.load_pages(range(), pages(4, 100), minutes_ago(1)).await;
    ana.exchange().await;
    bob.exchange().await;
    assert_eq!(bob.report(range()).await.map(|report| report.rows.len()), Some(4));
}

#[tokio::test]
async fn old_reports_are_neither_sent_nor_received() {
    let Some(server) = start_database(&[]).await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    ana.load_pages(range(), pages(3, 100), now() - TimeDelta::days(91)).await;
    assert!(ana.is_idle().await);
    ana.load_pages(range(), pages(3, 100), minutes_ago(1)).await;
    assert_eq!(ana.exchange().await.sent_reports, 1);
    // It gets old before bob exchanges.
    let day = "91::bigint * 86400000";
    server.sql(&format!(
        "UPDATE docdeck.report SET as_of = as_of - {day}, version = (as_of - {day}) || '-0';
         UPDATE docdeck.report_part SET version = report.version FROM docdeck.report"
    ));
    assert_eq!(bob.exchange().await.received_reports, 0);
    assert_eq!(bob.report(range()).await, None);
    // The next member who sends a report empties it.
    bob.load_searches("a query", minutes_ago(1)).await;
    assert_eq!(bob.exchange().await.sent_reports, 1);
    let left = "SELECT string_agg(kind || octet_length(content), ' ' ORDER BY kind) FROM docdeck.report_part";
    let left = server.sql(left);
    assert!(left.starts_with("page-views0 searches") && !left.ends_with("searches0"), "{left}");
}

#[tokio::test]
async fn a_report_with_25000_rows_arrives_and_jobs_arrive_before_it() {
    let Some(server) = start_database(&[]).await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    ana.load_pages(range(), pages(25_000, 100), minutes_ago(1)).await;
    ana.track("j1", docdeck::model::remote_job::Status::Active).await;
    let sent = ana.exchange().await;
    assert_eq!((sent.sent, sent.sent_reports), (1, 1));
    let sizes = "SELECT count(*) > 10 AND max(octet_length(content)) <= 262144 FROM docdeck.report_part";
    assert_eq!(server.sql(sizes), "t");
    let cam = Member::join(&server, "cam", "p").await;
    let proxy = Proxy::start(server.folder(), usize::MAX, Cut::Request);
    cam.exchange_over(&proxy.url("ana")).await.expect("exchanged");
    // The last rows are cut off, but not the job.
    let proxy = Proxy::start(server.folder(), proxy.messages() - 2, Cut::Request);
    bob.exchange_over(&proxy.url("ana")).await.expect_err("cut");
    assert_eq!(bob.job("j1").await.id, ana.job("j1").await.id);
    assert_eq!(bob.report(range()).await, None);
    assert_eq!(bob.exchange().await.received_reports, 1);
    assert_eq!(bob.report(range()).await, ana.report(range()).await);
    assert_eq!(cam.report(range()).await, ana.report(range()).await);
    assert!(ana.is_idle().await && bob.is_idle().await);
}

#[tokio::test]
async fn a_new_member_receives_the_reports_that_were_loaded_last_first() {
    let Some(server) = start_database(&[]).await else { return };
    let ana = Member::join(&server, "ana", "p").await;
    let days: Vec<DateRange> = range().single_days().collect();
    // The middle days were loaded last.
    let minutes = |at: usize| 10 + 10 * i64::try_from(at.abs_diff(5)).expect("few");
    for (at, day) in days.iter().enumerate() {
        ana.load_pages(*day, pages(2_000, 10), minutes_ago(minutes(at))).await;
    }
    ana.exchange().await;
    for missing in [3, 6, 9] {
        let bob = Member::join(&server, "bob", "p").await;
        let proxy = Proxy::start(server.folder(), usize::MAX, Cut::Request);
        Member::join(&server, "cam", "p").await.exchange_over(&proxy.url("ana")).await.expect("exchanged");
        let proxy = Proxy::start(server.folder(), proxy.messages() - missing, Cut::Request);
        bob.exchange_over(&proxy.url("ana")).await.expect_err("cut");
        let (mut arrived, mut absent) = (Vec::new(), Vec::new());
        for (at, day) in days.iter().enumerate() {
            let list = if bob.report(*day).await.is_some() { &mut arrived } else { &mut absent };
            list.push(minutes(at));
        }
        assert!(!arrived.is_empty() && !absent.is_empty(), "{missing}: {arrived:?} {absent:?}");
        assert!(arrived.iter().max() <= absent.iter().min(), "{missing}: {arrived:?} {absent:?}");
        bob.exchange().await;
        for day in &days {
            assert!(bob.report(*day).await.is_some(), "{missing}");
        }
    }
}

/// Loads reports of several sizes.
async fn load_several(member: &Member) {
    member.load_pages(range(), pages(5_000, 100), minutes_ago(30)).await;
    member.load_searches("how to log in", minutes_ago(20)).await;
    for day in range().single_days() {
        member.load_pages(day, pages(2, 10), minutes_ago(10)).await;
    }
}

async fn check_equal(ana: &Member, bob: &Member, context: &str) {
    assert_eq!(bob.report(range()).await, ana.report(range()).await, "{context}");
    assert!(bob.report(range()).await.is_some_and(|report| report.rows.len() == 5_000), "{context}");
    assert_eq!(bob.queries().await, ["how to log in"], "{context}");
    let days: Vec<DateRange> = range().single_days().collect();
    for day in &days {
        assert_eq!(bob.report(*day).await, ana.report(*day).await, "{context}");
    }
    let totals = bob.store.views_totals(&bob.scope, &days).await.expect("read");
    assert_eq!(totals, ana.store.views_totals(&ana.scope, &days).await.expect("read"), "{context}");
    assert_eq!(totals.len(), days.len(), "{context}");
    for member in [ana, bob] {
        assert!(member.is_idle().await, "{context}: {}", member.name);
    }
}

#[tokio::test]
async fn an_exchange_of_reports_that_is_cut_at_any_message_repeats_and_loses_nothing() {
    let Some(server) = start_database(&[]).await else { return };
    let count = |project: &str, table: &str| {
        server.sql(&format!(
            "SELECT count(*) FROM docdeck.{table} AS row JOIN docdeck.project ON project.id = row.project
             WHERE project.project = '{project}'"
        ))
    };
    // Each version of a row is written by another transaction.
    let parts = |project: &str| {
        server.sql(&format!(
            "SELECT coalesce(string_agg(part.kind || part.date_from || part.number || ':' || part.xmin, ' '), '')
             FROM docdeck.report_part AS part JOIN docdeck.project ON project.id = part.project
             WHERE project.project = '{project}'"
        ))
    };
    for cut in [Cut::Request, Cut::Answer] {
        for at in sample(5..100, 7) {
            let context = format!("{cut:?} {at}");
            let (ana, bob) =
                (Member::join(&server, "ana", &context).await, Member::join(&server, "bob", &context).await);
            load_several(&ana).await;
            let proxy = Proxy::start(server.folder(), at, cut);
            let is_sent = ana.exchange_over(&proxy.url("ana")).await.is_ok();
            let stored = parts(&context);
            ana.exchange().await;
            let complete = parts(&context);
            for part in stored.split_whitespace() {
                assert!(complete.split_whitespace().any(|known| known == part), "{context}: {part} was sent twice");
            }
            assert_eq!(count(&context, "report"), "22", "{context}: pages, searches, and 10 days twice");
            let proxy = Proxy::start(server.folder(), at, cut);
            let is_received = bob.exchange_over(&proxy.url("ana")).await.is_ok();
            bob.exchange().await;
            check_equal(&ana, &bob, &context).await;
            if is_sent && is_received {
                assert!(at > 20, "the exchanges have only {at} messages");
                break;
            }
        }
    }
}

#[tokio::test]
async fn after_the_database_is_restored_reports_are_sent_again_and_newer_ones_count() {
    let Some(mut server) = start_database(&[]).await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    ana.load_pages(range(), pages(3, 100), minutes_ago(60)).await;
    ana.exchange().await;
    bob.exchange().await;
    server.kill();
    let copy = server.folder().join("copy");
    copy_folder(&server.data_folder(), &copy);
    server.restart();
    load_several(&ana).await;
    ana.exchange().await;
    bob.exchange().await;
    server.kill();
    server.restart_with(&copy);
    // A new member writes first, so that the numbers of changes go on differently.
    let cam = Member::join(&server, "cam", "p").await;
    for n in 0..4 {
        let day = first_day().checked_sub_days(Days::new(40 + n)).expect("a day");
        cam.load_pages(DateRange::day(day), pages(1, 5), minutes_ago(5)).await;
        cam.exchange().await;
    }
    assert_eq!(cam.report(range()).await.map(|report| report.rows.len()), Some(3), "from the older copy");
    let restored = bob.exchange().await;
    assert!(restored.was_database_restored, "{restored:?}");
    assert_eq!(restored.sent_reports, 22, "all that the copy lacks");
    for member in [&ana, &cam, &bob] {
        member.exchange().await;
    }
    check_equal(&ana, &bob, "restored").await;
    check_equal(&ana, &cam, "restored").await;
}

#[tokio::test]
async fn malformed_and_hostile_reports_are_left_out_or_cleaned() {
    let Some(server) = start_database(&[]).await else { return };
    let (ana, bob) = (Member::join(&server, "ana", "p").await, Member::join(&server, "bob", "p").await);
    ana.load_searches("a query", minutes_ago(5)).await;
    for back in 0..6 {
        let day = first_day().checked_sub_days(Days::new(30 + back)).expect("a day");
        ana.load_pages(DateRange::day(day), pages(3, 10), minutes_ago(30 + i64::try_from(back).expect("few"))).await;
    }
    ana.exchange().await;
    let day = |back: u64| first_day().checked_sub_days(Days::new(back)).expect("a day");
    let one = |back: u64| format!("kind = 'page-views' AND date_from = '{}'", day(back));
    // A changed part, a missing part, an unknown kind, an invalid date, and a time in the future.
    server.sql(&format!("UPDATE docdeck.report_part SET content = '[]' WHERE {}", one(30)));
    server.sql(&format!("DELETE FROM docdeck.report_part WHERE {}", one(31)));
    server.sql(&format!("UPDATE docdeck.report SET kind = 'secrets' WHERE {}", one(32)));
    server.sql(&format!("UPDATE docdeck.report SET date_to = '2026-02-31' WHERE {}", one(33)));
    server.sql(&format!(
        "UPDATE docdeck.report SET as_of = as_of + 864000000, version = (as_of + 864000000) || '-0' WHERE {}",
        one(34)
    ));
    // The right hash, but not the content of a report; and one with control characters and wrong types of
    // numbers.
    let put = |back: u64, summary: &str, content: &str| {
        let bytes = format!("{summary}\n{content}\n");
        let hash = docdeck::model::hash::stable_hash(bytes.bytes());
        let version = format!("{}-{hash:016x}", minutes_ago(1).timestamp_millis());
        server.sql(&format!(
            "UPDATE docdeck.report SET version = '{version}', as_of = split_part('{version}', '-', 1)::bigint,
                 summary = E'{summary}' WHERE {0};
             UPDATE docdeck.report_part SET version = '{version}', content = E'{content}' WHERE {0}",
            one(back),
            summary = summary.replace('\\', "\\\\"),
            content = content.replace('\\', "\\\\"),
        ));
    };
    put(35, r#"{"totals":{"human":1,"ai":2,"total":3},"responses":0}"#, r#"{"rows": 7}"#);
    let report = bob.exchange().await;
    assert_eq!(report.unreadable, 6, "{report:?}");
    assert_eq!(bob.queries().await, ["a query"]);
    for back in 30..36 {
        assert_eq!(bob.report(DateRange::day(day(back))).await, None, "{back}");
    }
    let hostile = r#"[{"path":"/a\u001b[2Jb\u202e","human":"many\u001b[31m","ai":1.5},{"path":"/b","total":4},{"path":"/c","human":-7}]"#;
    put(35, r#"{"totals":{"human":"x\u0007y"},"responses":4000000000,"duplicates":1}"#, hostile);
    server.sql(
        "WITH next AS (UPDATE docdeck.project SET last_change = last_change + 1 RETURNING id, last_change)
         INSERT INTO docdeck.batch SELECT id, 'by hand', last_change, 0, 'evil' FROM next;
         UPDATE docdeck.report SET change = last_change FROM docdeck.project WHERE summary LIKE '%4000000000%'",
    );
    let report = bob.exchange().await;
    assert_eq!((report.received_reports, report.unreadable), (1, 0), "{report:?}");
    let shown = bob.report(DateRange::day(day(35))).await.expect("cleaned");
    assert_eq!(shown.rows.iter().map(|row| row.path.as_str()).collect::<Vec<_>>(), ["/ab", "/b", "/c"]);
    assert_eq!(shown.totals.human, Count::Other(text("xy")));
    let debug = format!("{shown:?}");
    assert!(!debug.contains("\\u{1b}") && !debug.contains("\\u{7}") && !debug.contains("\\u{202e}"), "{debug}");
    // The future report doesn't keep others from sharing theirs.
    ana.load_pages(DateRange::day(day(34)), pages(9, 10), now()).await;
    ana.exchange().await;
    bob.exchange().await;
    assert_eq!(bob.report(DateRange::day(day(34))).await.map(|report| report.rows.len()), Some(9));
}
