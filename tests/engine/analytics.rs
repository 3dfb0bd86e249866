//! Tests of loading reports other than page views: the number of requests, what ends a load, where the next load
//! continues, and what is stored. The service is a small server with a list of searches behind a cursor.

use crate::support::engine::EngineFixture;
use crate::support::open_store;
use crate::support::server::{Server, ServerBehavior};
use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Response, Uri};
use chrono::TimeDelta;
use docdeck::api::{Client, ClientOptions};
use docdeck::engine::{Engine, EngineSetup, LeaseRoles, PollOptions};
use docdeck::model::Time;
use docdeck::model::analytics::{
    AnalyticsKind, AnalyticsSettings, Feedback, Question, ReaderTextRetention, RowsLoadOutcome, RowsLoadPlan,
    RowsLoadProgress, RowsReport, RowsResponse, Search,
};
use docdeck::model::endpoint::{ApiKey, Scope};
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::failure::FailureKind;
use docdeck::model::ledger::Quota;
use docdeck::model::period::DateRange;
use docdeck::model::report::LoadEndReason;
use docdeck::model::text::CleanText;
use docdeck::model::views::Counts;
use docdeck::store::{ResponsePosition, Store};
use futures_util::stream;
use serde_json::json;
use std::collections::VecDeque;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::{Semaphore, mpsc};

/// The number of rows of the site, and of a response.
const ROWS: usize = 450;
const ROWS_PER_RESPONSE: usize = 100;
/// The number of requests that load all rows.
const REQUESTS_FOR_ALL: u32 = 5;
const KEY: &str = "mint_s3cr3tk3y";

/// What is wrong with a response.
enum Fault {
    /// Status 429 with this `Retry-After`, in seconds.
    Limited(u32),
    /// The connection is lost in the middle of the response.
    Lost,
    /// Announces more rows, but has none.
    Empty,
    /// Announces more rows, but has only those of the first response.
    OnlyKnown,
    /// Has new rows, but the cursor of the request.
    SameCursor,
    /// Status 400, as for a cursor that has expired.
    Invalid,
}

/// The service.
struct Site {
    /// The faults of the next responses, one each.
    faults: Mutex<VecDeque<Fault>>,
    /// The paths and parameters of all requests.
    requests: Mutex<Vec<String>>,
    /// One permit per response that may be sent.
    gate: Semaphore,
}

struct RunningSite {
    site: Arc<Site>,
    base_url: String,
}

impl RunningSite {
    async fn start() -> Self {
        let gate = Semaphore::new(Semaphore::MAX_PERMITS);
        let site = Arc::new(Site { faults: Mutex::default(), requests: Mutex::default(), gate });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let base_url = format!("http://{}", listener.local_addr().expect("an address"));
        let app = Router::new().fallback(respond).with_state(Arc::clone(&site));
        tokio::spawn(async move { axum::serve(listener, app).await });
        Self { site, base_url }
    }

    fn scope(&self) -> Scope {
        Scope { base_url: self.base_url.clone(), project: "acme-docs".to_owned(), organization: None }
    }

    async fn engine_on(&self, folder: &Path) -> EngineFixture {
        EngineFixture::start_with_scope(self.scope(), KEY, folder).await
    }

    fn set_faults<const N: usize>(&self, faults: [Fault; N]) {
        *self.site.faults.lock().expect("no poison") = faults.into();
    }

    fn request_count(&self) -> u32 {
        u32::try_from(self.site.requests.lock().expect("no poison").len()).expect("few")
    }

    /// Lets only this many more responses pass.
    fn pass_only(&self, responses: usize) {
        self.site.gate.forget_permits(usize::MAX);
        self.site.gate.add_permits(responses);
    }
}

fn json_response(body: &serde_json::Value) -> Response<Body> {
    Response::builder().header("content-type", "application/json").body(body.to_string().into()).expect("an answer")
}

async fn respond(State(site): State<Arc<Site>>, uri: Uri) -> Response<Body> {
    site.requests.lock().expect("no poison").push(uri.to_string());
    site.gate.acquire().await.expect("open").forget();
    if uri.path().contains("/threads/") {
        let message = json!({"id": "m1", "role": "user", "content": "How?\nReally?", "createdAt": null});
        return json_response(&json!({"threadId": "t", "messages": [message]}));
    }
    let query = uri.query().unwrap_or_default();
    let cursor = query.split('&').find_map(|part| part.strip_prefix("cursor=")).unwrap_or("0");
    let first: usize = cursor.parse().expect("a cursor of an earlier answer");
    let end = (first + ROWS_PER_RESPONSE).min(ROWS);
    let next = (end < ROWS).then(|| end.to_string());
    let fault = site.faults.lock().expect("no poison").pop_front();
    let (rows, next) = match fault {
        Some(Fault::Limited(seconds)) => {
            return Response::builder().status(429).header("retry-after", seconds).body(Body::empty()).expect("it");
        }
        Some(Fault::Lost) => {
            let parts = [Ok("{\"searches\": ["), Err(std::io::Error::other("lost"))];
            return Response::new(Body::from_stream(stream::iter(parts)));
        }
        Some(Fault::Invalid) => {
            return Response::builder().status(400).body(Body::from("{\"error\":\"cursor\"}")).expect("an answer");
        }
        Some(Fault::Empty) => (0..0, next),
        Some(Fault::OnlyKnown) => (0..ROWS_PER_RESPONSE, next),
        Some(Fault::SameCursor) => (first..end, Some(cursor.to_owned())),
        None => (first..end, next),
    };
    if uri.path().ends_with("/assistant") {
        let rows: Vec<_> = rows.map(|n| json!({"id": format!("q{n}"), "query": format!("Question {n}?")})).collect();
        return json_response(&json!({"conversations": rows, "nextCursor": next, "hasMore": next.is_some()}));
    }
    let rows: Vec<_> = rows.map(|n| json!({"searchQuery": format!("query {n}"), "hits": n, "ctr": 0.5})).collect();
    json_response(&json!({"searches": rows, "totalSearches": 9, "nextCursor": next}))
}

/// Returns a week that ended two weeks ago, whose reports stay fresh.
fn past_week() -> DateRange {
    let today = chrono::Utc::now().date_naive();
    DateRange::new(today - TimeDelta::days(20), today - TimeDelta::days(14)).expect("a range")
}

fn plan() -> RowsLoadPlan {
    RowsLoadPlan { range: past_week(), max_requests: 100, from_start: false }
}

fn report_of<R>(outcome: &RowsLoadOutcome<R>) -> &RowsReport<R> {
    outcome.report.as_deref().expect("a report")
}

fn failure_of(outcome: &RowsLoadOutcome<Search>) -> (FailureKind, &str) {
    match &outcome.end_reason {
        LoadEndReason::Failed(failure) => (failure.kind, failure.message.as_str()),
        other => panic!("{other:?}"),
    }
}

/// Asserts that the report has every row of the site once, in its order.
fn assert_complete(outcome: &RowsLoadOutcome<Search>) {
    let report = report_of(outcome);
    assert_eq!((&outcome.end_reason, report.is_complete()), (&LoadEndReason::Complete, true));
    let found: Vec<&str> = report.rows.iter().map(|row| row.query.as_str()).collect();
    let expected: Vec<String> = (0..ROWS).map(|n| format!("query {n}")).collect();
    assert_eq!((found, report.duplicates, report.responses), (expected.iter().map(String::as_str).collect(), 0, 5));
}

impl EngineFixture {
    async fn load_searches(&self, plan: RowsLoadPlan) -> RowsLoadOutcome<Search> {
        self.engine.load_rows(plan).await
    }

    async fn next_rows_progress(&mut self) -> RowsLoadProgress {
        self.wait_for_event("progress", |event| match event {
            EngineEvent::LoadingRows(progress) => Some(*progress),
            _ => None,
        })
        .await
    }

    /// Starts to load in the background, and returns after this many responses, when the next request waits.
    async fn start_rows_load(
        &mut self,
        site: &RunningSite,
        responses: usize,
    ) -> tokio::task::JoinHandle<RowsLoadOutcome<Search>> {
        site.pass_only(responses);
        let engine = self.engine.clone();
        let load = tokio::spawn(async move { engine.load_rows(plan()).await });
        for _ in 0..responses {
            self.next_rows_progress().await;
        }
        while site.request_count() <= u32::try_from(responses).expect("few") {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        load
    }

    async fn used_requests(&self) -> u32 {
        let now = self.engine.service_time();
        self.store.budget(&self.scope, Quota::Views, now).await.expect("read").used
    }
}

#[tokio::test]
async fn a_closed_range_is_loaded_once_with_one_request_per_response() {
    let (site, folder) = (RunningSite::start().await, tempfile::tempdir().expect("a folder"));
    let mut fixture = site.engine_on(folder.path()).await;
    assert_eq!(fixture.engine.cached_rows::<Search>(past_week()).await, None);
    let loaded = fixture.load_searches(plan()).await;
    assert_complete(&loaded);
    assert_eq!((loaded.requests, site.request_count(), fixture.used_requests().await), (5, 5, 5));
    for requests in 1..=REQUESTS_FOR_ALL {
        let rows = (requests as usize * ROWS_PER_RESPONSE).min(ROWS);
        let (kind, range, is_complete) = (AnalyticsKind::Searches, past_week(), requests == REQUESTS_FOR_ALL);
        assert_eq!(fixture.next_rows_progress().await, RowsLoadProgress { kind, range, rows, requests, is_complete });
    }
    let again = fixture.load_searches(plan()).await;
    assert_eq!((again.requests, &again.end_reason, &again.report), (0, &LoadEndReason::Complete, &loaded.report));
    fixture.engine.stop().await;
    let fixture = site.engine_on(folder.path()).await;
    let cached = fixture.engine.cached_rows::<Search>(past_week()).await.expect("a report");
    assert!(Some(&cached) == loaded.report.as_ref() && fixture.engine.is_report_complete_and_fresh(&cached));
    let stored = fixture.engine.stored_rows::<Search>(past_week()).await.expect("read");
    assert_eq!((stored.last_load_requests, stored.responses_before_interruption), (Some(5), None));
    assert_complete(&fixture.load_searches(plan()).await);
    assert_eq!(site.request_count(), 5, "a new process requests nothing");
    assert_eq!(fixture.load_searches(RowsLoadPlan { from_start: true, ..plan() }).await.requests, 5);
}

#[tokio::test]
async fn a_range_that_includes_today_is_fresh_for_five_minutes_only() {
    let (site, folder) = (RunningSite::start().await, tempfile::tempdir().expect("a folder"));
    let fixture = site.engine_on(folder.path()).await;
    let range = DateRange::last_days(7, fixture.engine.service_time().date_naive());
    let minutes_ago = |minutes| fixture.engine.service_time() - TimeDelta::minutes(minutes);
    for (age, requests) in [(6, 5), (4, 0)] {
        save_row(&fixture.store, &fixture.scope, range, Search::default(), minutes_ago(age)).await;
        let cached = fixture.engine.cached_rows::<Search>(range).await.expect("a report");
        assert_eq!(fixture.engine.is_report_complete_and_fresh(&cached), requests == 0);
        assert_eq!(fixture.load_searches(RowsLoadPlan { range, ..plan() }).await.requests, requests);
    }
}

/// Stores a complete report of one row that was loaded at `as_of`.
async fn save_row<R: docdeck::model::analytics::AnalyticsRow>(
    store: &Store,
    scope: &Scope,
    range: DateRange,
    row: R,
    as_of: Time,
) {
    let response = RowsResponse { rows: vec![row], totals: Counts::default(), next: None, has_unavailable_rows: false };
    let position = ResponsePosition { range, number: 1, as_of, started_at: as_of, should_replace_unfinished: true };
    assert!(store.save_rows_response(scope, &response, position).await.expect("written"));
}

#[tokio::test]
async fn a_load_that_reached_its_request_limit_continues_after_the_last_response() {
    let (site, folder) = (RunningSite::start().await, tempfile::tempdir().expect("a folder"));
    let fixture = site.engine_on(folder.path()).await;
    let part = fixture.load_searches(RowsLoadPlan { max_requests: 2, ..plan() }).await;
    assert_eq!((part.requests, part.end_reason), (2, LoadEndReason::RequestLimit));
    assert_eq!(part.report.as_deref().map(|report| report.rows.len()), Some(200));
    fixture.engine.stop().await;
    let fixture = site.engine_on(folder.path()).await;
    let rest = fixture.load_searches(plan()).await;
    assert_complete(&rest);
    assert_eq!((rest.requests, site.request_count()), (3, 5));
}

#[tokio::test]
async fn a_stopped_load_continues_where_it_stopped() {
    let (site, folder) = (RunningSite::start().await, tempfile::tempdir().expect("a folder"));
    let mut fixture = site.engine_on(folder.path()).await;
    let load = fixture.start_rows_load(&site, 2).await;
    fixture.engine.stop_loading_rows(AnalyticsKind::Questions, past_week());
    fixture.engine.stop_loading_rows(AnalyticsKind::Searches, past_week());
    site.pass_only(100);
    let stopped = load.await.expect("an end");
    assert_eq!((&stopped.end_reason, stopped.requests), (&LoadEndReason::Stopped, 3), "the answer in flight is kept");
    assert_eq!(report_of(&stopped).rows.len(), 300);
    let rest = fixture.load_searches(plan()).await;
    assert_complete(&rest);
    assert_eq!((rest.requests, site.request_count()), (2, 5));
}

#[tokio::test]
async fn a_response_that_arrives_after_the_engine_stopped_is_stored() {
    let (site, folder) = (RunningSite::start().await, tempfile::tempdir().expect("a folder"));
    let mut fixture = site.engine_on(folder.path()).await;
    let load = fixture.start_rows_load(&site, 1).await;
    fixture.engine.stop().await;
    assert_eq!(failure_of(&load.await.expect("an end")).0, FailureKind::Local);
    site.pass_only(100);
    let responses_before_interruption = async || {
        fixture
            .store
            .rows_report::<Search>(&fixture.scope, past_week())
            .await
            .expect("read")
            .responses_before_interruption
    };
    while responses_before_interruption().await != Some(2) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let next = site.engine_on(folder.path()).await;
    assert_complete(&next.load_searches(plan()).await);
    assert_eq!(site.request_count(), 5);
}

#[tokio::test]
async fn concurrent_loads_of_a_report_share_their_requests() {
    let (site, folder) = (RunningSite::start().await, tempfile::tempdir().expect("a folder"));
    let fixture = site.engine_on(folder.path()).await;
    let (one, other, questions) = futures_util::future::join3(
        fixture.load_searches(plan()),
        fixture.load_searches(RowsLoadPlan { max_requests: 1, ..plan() }),
        fixture.engine.load_rows::<Question>(plan()),
    )
    .await;
    assert_complete(&one);
    assert_eq!(one, other);
    assert_eq!((report_of(&questions).rows.len(), site.request_count()), (ROWS, 10));
}

#[tokio::test]
async fn a_load_continues_after_a_429_in_the_middle() {
    let (site, folder) = (RunningSite::start().await, tempfile::tempdir().expect("a folder"));
    let mut fixture = site.engine_on(folder.path()).await;
    assert_eq!(fixture.load_searches(RowsLoadPlan { max_requests: 1, ..plan() }).await.requests, 1);
    site.set_faults([Fault::Limited(1)]);
    let quota = fixture.load_searches(plan()).await;
    assert!(matches!(failure_of(&quota).0, FailureKind::Limited(_)), "{quota:?}");
    assert_eq!((quota.requests, report_of(&quota).rows.len()), (1, 100));
    let blocked = fixture.load_searches(plan()).await;
    assert!(matches!(failure_of(&blocked).0, FailureKind::Limited(_)), "{blocked:?}");
    assert_eq!((blocked.requests, site.request_count()), (0, 2), "no request before the wait is over");
    let budget = fixture.wait_for_event("the 429", |event| match event {
        EngineEvent::Budget(Quota::Views, budget) if budget.blocked.is_some() => Some(*budget),
        _ => None,
    });
    assert!(budget.await.blocked.is_some());
    tokio::time::sleep(Duration::from_millis(2_100)).await;
    let rest = fixture.load_searches(plan()).await;
    assert_complete(&rest);
    assert_eq!((rest.requests, site.request_count()), (4, 6));
}

#[tokio::test]
async fn a_load_whose_cursor_has_expired_starts_over() {
    let (site, folder) = (RunningSite::start().await, tempfile::tempdir().expect("a folder"));
    let fixture = site.engine_on(folder.path()).await;
    assert_eq!(fixture.load_searches(RowsLoadPlan { max_requests: 3, ..plan() }).await.requests, 3);
    site.set_faults([Fault::Invalid]);
    let restarted = fixture.load_searches(plan()).await;
    assert_complete(&restarted);
    assert_eq!((restarted.requests, site.request_count()), (1 + REQUESTS_FOR_ALL, 4 + REQUESTS_FOR_ALL));
    // Also a load with a single request gets new rows.
    assert_eq!(fixture.load_searches(RowsLoadPlan { max_requests: 1, from_start: true, ..plan() }).await.requests, 1);
    site.set_faults([Fault::Invalid]);
    let single = fixture.load_searches(RowsLoadPlan { max_requests: 1, ..plan() }).await;
    assert_eq!((single.requests, &single.end_reason), (2, &LoadEndReason::RequestLimit));
    // A load that did not continue an earlier one is not restarted.
    site.set_faults([Fault::Invalid]);
    let refused = fixture.load_searches(RowsLoadPlan { from_start: true, ..plan() }).await;
    assert_eq!((failure_of(&refused).0, refused.requests), (FailureKind::Service, 1));
}

#[tokio::test]
async fn a_load_continues_after_a_lost_response() {
    let (site, folder) = (RunningSite::start().await, tempfile::tempdir().expect("a folder"));
    let fixture = site.engine_on(folder.path()).await;
    assert_eq!(fixture.load_searches(RowsLoadPlan { max_requests: 3, ..plan() }).await.requests, 3);
    site.set_faults([Fault::Lost]);
    let lost = fixture.load_searches(plan()).await;
    assert_eq!((failure_of(&lost).0, lost.requests), (FailureKind::Offline, 1));
    assert_eq!((report_of(&lost).rows.len(), fixture.used_requests().await), (300, 4));
    assert_complete(&fixture.load_searches(plan()).await);
    assert_eq!(site.request_count(), 6);
}

#[tokio::test]
async fn a_load_ends_if_the_service_announces_more_rows_but_sends_no_new_ones() {
    for (fault, expected) in [
        (Fault::Empty, "but returned none. The loaded rows are saved."),
        (Fault::OnlyKnown, "but returned only known ones. The loaded rows are saved."),
        (Fault::SameCursor, "but doesn't say where they begin. The loaded rows are saved."),
    ] {
        let (site, folder) = (RunningSite::start().await, tempfile::tempdir().expect("a folder"));
        let fixture = site.engine_on(folder.path()).await;
        assert_eq!(fixture.load_searches(RowsLoadPlan { max_requests: 1, ..plan() }).await.requests, 1);
        site.set_faults([fault]);
        let stuck = fixture.load_searches(plan()).await;
        let (kind, message) = failure_of(&stuck);
        let start = "Loading stopped: the service reports more searches after the first 100, ";
        assert!(kind == FailureKind::Service && message.starts_with(start), "{message}");
        assert!(message.contains(expected), "{message}");
        assert_eq!((stuck.requests, report_of(&stuck).rows.len()), (1, 100));
        assert_complete(&fixture.load_searches(plan()).await);
        assert_eq!(site.request_count(), 6);
    }
}

#[tokio::test]
async fn a_complete_report_stays_in_the_store_until_a_load_from_the_start_has_ended() {
    let (site, folder) = (RunningSite::start().await, tempfile::tempdir().expect("a folder"));
    let fixture = site.engine_on(folder.path()).await;
    assert_complete(&fixture.load_searches(plan()).await);
    let from_start = RowsLoadPlan { from_start: true, max_requests: 2, ..plan() };
    let part = fixture.load_searches(from_start).await;
    assert_eq!((&part.end_reason, report_of(&part).rows.len()), (&LoadEndReason::RequestLimit, 2 * ROWS_PER_RESPONSE));
    let cached = fixture.engine.cached_rows::<Search>(past_week()).await.expect("a report");
    assert_eq!(cached.rows.len(), ROWS);
    let stored = fixture.engine.stored_rows::<Search>(past_week()).await.expect("read");
    assert_eq!((stored.responses_before_interruption, stored.last_load_requests), (Some(2), Some(5)));
    assert_eq!(fixture.load_searches(RowsLoadPlan { max_requests: 1, ..from_start }).await.requests, 1);
    let stored = fixture.engine.stored_rows::<Search>(past_week()).await.expect("read");
    assert_eq!(stored.responses_before_interruption, Some(1), "it was started again");
    let rest = fixture.load_searches(plan()).await;
    assert_complete(&rest);
    assert_eq!(rest.requests, 4);
}

#[tokio::test]
async fn two_engines_and_all_reports_share_one_ledger() {
    let (site, folder) = (RunningSite::start().await, tempfile::tempdir().expect("a folder"));
    let (one, other) = (site.engine_on(folder.path()).await, site.engine_on(folder.path()).await);
    assert_eq!(one.load_searches(plan()).await.requests, 5);
    let thread = one.engine.get_question_thread(&CleanText::line("t1")).await.expect("messages");
    assert_eq!(thread.iter().map(|message| message.content.as_str()).collect::<Vec<_>>(), ["How?\nReally?"]);
    assert_eq!(other.used_requests().await, 6);
    let now = one.engine.service_time();
    while one.store.budget(&one.scope, Quota::Views, now).await.expect("read").used < 98 {
        one.store.spend(&one.scope, Quota::Views, now).await.expect("written").expect("a request");
    }
    let questions = other.engine.load_rows::<Question>(plan()).await;
    assert_eq!((questions.requests, report_of(&questions).rows.len()), (2, 200));
    let LoadEndReason::Failed(failure) = &questions.end_reason else { panic!("{questions:?}") };
    assert!(failure.message.as_str().starts_with("The hourly limit of 100 analytics requests"), "{failure:?}");
    assert!(one.engine.get_question_thread(&CleanText::line("t1")).await.is_err());
    assert_eq!(site.request_count(), 8);
}

#[tokio::test]
async fn a_request_that_never_reached_the_service_is_refunded() {
    let (server, folder) = (Server::start(ServerBehavior::NotListening).await, tempfile::tempdir().expect("a folder"));
    let scope = Scope { base_url: server.base_url(), project: "acme-docs".to_owned(), organization: None };
    let fixture = EngineFixture::start_with_scope(scope, KEY, folder.path()).await;
    let failed = fixture.load_searches(plan()).await;
    assert_eq!((failure_of(&failed).0, failed.requests), (FailureKind::Offline, 0));
    assert!(fixture.engine.get_question_thread(&CleanText::line("..")).await.is_err(), "an id that can't be sent");
    assert_eq!((failed.report, fixture.used_requests().await), (None, 0));
}

#[cfg(unix)]
#[tokio::test]
async fn rows_are_returned_if_the_store_cannot_be_written() {
    let (site, folder) = (RunningSite::start().await, tempfile::tempdir().expect("a folder"));
    let fixture = site.engine_on(folder.path()).await;
    fixture.store.set_value("k", "v").await.expect("written");
    // SQLite can't create the journal, as in a read-only folder. This works even for root.
    let journal = folder.path().join("docdeck.db-journal");
    std::fs::remove_file(&journal).expect("the empty journal of the last transaction");
    std::os::unix::fs::symlink("/nonexistent/journal", &journal).expect("a link");
    let loaded = fixture.load_searches(plan()).await;
    assert_complete(&loaded);
    assert_eq!((loaded.requests, fixture.engine.cached_rows::<Search>(past_week()).await), (5, None));
}

/// Starts an engine that stores the texts of readers for this many days.
async fn start_engine(site: &RunningSite, store: Store, days: u16) -> (Engine, mpsc::Receiver<EngineEvent>) {
    let key = ApiKey::new(KEY).expect("a key");
    let (events, receiver) = mpsc::channel(4096);
    let setup = EngineSetup {
        client: Client::new(site.scope(), key, ClientOptions::default()).expect("a client"),
        store,
        scope: site.scope(),
        poll: PollOptions::default(),
        analytics: AnalyticsSettings { reader_text_days: ReaderTextRetention(days), ..AnalyticsSettings::default() },
        roles: LeaseRoles::None,
        lock_folder: None,
        on_change: None,
        hosts: None,
        team: None,
        events,
    };
    (Engine::start(setup).await.expect("an engine"), receiver)
}

#[tokio::test]
async fn with_0_days_texts_of_readers_are_returned_but_not_stored() {
    let (site, folder) = (RunningSite::start().await, tempfile::tempdir().expect("a folder"));
    let store = open_store(folder.path());
    let (engine, _events) = start_engine(&site, store.clone(), 0).await;
    let part = engine.load_rows::<Question>(RowsLoadPlan { max_requests: 2, ..plan() }).await;
    assert_eq!((&part.end_reason, report_of(&part).rows.len()), (&LoadEndReason::RequestLimit, 200));
    let all = engine.load_rows::<Question>(plan()).await;
    assert_eq!((&all.end_reason, all.requests, report_of(&all).rows.len()), (&LoadEndReason::Complete, 5, ROWS));
    assert_eq!(engine.cached_rows::<Question>(past_week()).await, None);
    assert_eq!(engine.load_rows::<Search>(plan()).await.requests, 5);
    assert!(engine.cached_rows::<Search>(past_week()).await.is_some(), "searches have no texts of readers");
    engine.stop().await;
    store.close().await;
    let bytes = std::fs::read(folder.path().join("docdeck.db")).expect("bytes");
    assert!(!bytes.windows(9).any(|window| window == b"Question "), "a question is in the file");
}

#[tokio::test]
async fn expired_texts_of_readers_are_deleted_when_an_engine_starts() {
    let (site, folder) = (RunningSite::start().await, tempfile::tempdir().expect("a folder"));
    let store = open_store(folder.path());
    let other_project = Scope { project: "blog".to_owned(), ..site.scope() };
    let days_ago = |days| chrono::Utc::now() - TimeDelta::days(days);
    save_row(&store, &other_project, past_week(), Feedback::default(), days_ago(8)).await;
    save_row(&store, &site.scope(), past_week(), Question::default(), days_ago(6)).await;
    save_row(&store, &site.scope(), past_week(), Search::default(), days_ago(8)).await;
    let (engine, _events) = start_engine(&site, store.clone(), 7).await;
    while store.rows_report::<Feedback>(&other_project, past_week()).await.expect("read").report.is_some() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    assert!(engine.cached_rows::<Question>(past_week()).await.is_some());
    assert!(engine.cached_rows::<Search>(past_week()).await.is_some());
}
