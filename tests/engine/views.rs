//! Tests of loading page views: the cache, the hourly limit, and one request for concurrent loads of the same query.

use crate::support::engine::EngineFixture;
use crate::support::{scope_of, start_sim};
use docdeck::model::connection::ConnectionState;
use docdeck::model::engine_event::EngineEvent;
use docdeck::model::failure::FailureKind;
use docdeck::model::ledger::{Quota, Wait};
use docdeck::model::log::Operation;
use docdeck::model::period::DateRange;
use docdeck::model::views::ViewsQuery;
use docdeck::sim::Sim;

fn last_week(sim: &Sim, page: u32) -> ViewsQuery {
    ViewsQuery { range: DateRange::last_days(7, sim.now().date_naive()), limit: 50, page }
}

#[tokio::test]
async fn a_fresh_cached_response_costs_no_request_unless_a_new_load_is_forced() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let query = last_week(&sim, 1);
    let first = fixture.engine.load_views(query, false).await.expect("views");
    assert_eq!(first.value.rows.len(), 50);
    let second = fixture.engine.load_views(query, false).await.expect("views");
    assert_eq!((first, sim.requests(Operation::Views)), (second, 1));
    fixture.engine.load_views(query, true).await.expect("views");
    assert_eq!(sim.requests(Operation::Views), 2);
    fixture.engine.load_views(last_week(&sim, 2), false).await.expect("views");
    assert_eq!(sim.requests(Operation::Views), 3);
}

#[tokio::test]
async fn concurrent_loads_of_the_same_query_are_one_request() {
    let (sim, folder) = (start_sim(&["views=latency-100"]).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let query = last_week(&sim, 1);
    let (one, two, three) = tokio::join!(
        fixture.engine.load_views(query, false),
        fixture.engine.load_views(query, true),
        fixture.engine.load_views(query, false)
    );
    assert!(one.is_ok() && one == two && two == three);
    assert_eq!(sim.requests(Operation::Views), 1);
}

#[tokio::test]
async fn at_the_hourly_limit_a_load_fails_without_a_request_and_reports_when_it_resets() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let start = fixture.engine.service_time();
    for _ in 0..100 {
        fixture.store.spend(&fixture.scope, Quota::Views, start).await.expect("written").expect("a place");
    }
    let failure = fixture.engine.load_views(last_week(&sim, 1), false).await.expect_err("full");
    let until = start + chrono::TimeDelta::hours(1);
    let FailureKind::Limited(Wait { until: reported, .. }) = failure.kind else { panic!("{failure:?}") };
    assert!((reported - until).abs() < chrono::TimeDelta::seconds(1), "{reported}");
    assert_eq!(sim.requests(Operation::Views), 0);
}

#[tokio::test]
async fn after_a_429_the_limit_counts_as_reached_whatever_the_ledger_counted() {
    let (sim, folder) = (start_sim(&["views=429-600"]).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let limited = |failure: docdeck::model::failure::Failure| matches!(failure.kind, FailureKind::Limited { .. });
    assert!(limited(fixture.engine.load_views(last_week(&sim, 1), true).await.expect_err("limited")));
    sim.set_faults(Vec::new());
    assert!(limited(fixture.engine.load_views(last_week(&sim, 1), true).await.expect_err("not asked")));
    assert_eq!(sim.requests(Operation::Views), 1);
}

#[tokio::test]
async fn the_response_of_an_abandoned_load_is_cached() {
    let (sim, folder) = (start_sim(&["views=latency-200"]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let query = last_week(&sim, 1);
    let engine = fixture.engine.clone();
    let waiting = tokio::spawn(async move { engine.load_views(query, false).await });
    let used = fixture.wait_for_event("the spend", |event| match event {
        EngineEvent::Budget(Quota::Views, budget) if budget.used > 0 => Some(budget.used),
        _ => None,
    });
    assert_eq!(used.await, 1);
    waiting.abort();
    fixture.wait_for_event("the answer", |event| matches!(event, EngineEvent::Logged(_)).then_some(())).await;
    let again = fixture.engine.load_views(query, false).await.expect("views");
    assert_eq!((again.value.rows.len(), sim.requests(Operation::Views)), (50, 1));
}

#[tokio::test]
async fn a_failed_load_returns_the_error_and_keeps_the_older_cached_response() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    let query = last_week(&sim, 1);
    let good = fixture.engine.load_views(query, false).await.expect("views");
    sim.set_faults(vec!["views=503".parse().expect("a fault")]);
    assert_eq!(fixture.engine.load_views(query, true).await.expect_err("down").kind, FailureKind::Offline);
    assert_eq!(fixture.engine.cached_views(query).await, Some(good));
}

#[tokio::test]
async fn a_load_that_never_reached_the_service_is_not_counted_as_used() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let query = last_week(&sim, 1);
    // No server listens on port 9 of this computer.
    let scope = docdeck::model::endpoint::Scope { base_url: "http://127.0.0.1:9".to_owned(), ..scope_of(&sim) };
    let mut fixture = EngineFixture::start_with_scope(scope, "mint_x", folder.path()).await;
    fixture.engine.load_views(query, false).await.expect_err("nobody there");
    for (used, what) in [(1, "the spend"), (0, "the place given back")] {
        fixture
            .wait_for_event(what, |event| match event {
                EngineEvent::Budget(Quota::Views, budget) if budget.used == used => Some(()),
                _ => None,
            })
            .await;
    }
    let budget =
        fixture.store.budget(&fixture.scope, Quota::Views, fixture.engine.service_time()).await.expect("a budget");
    assert_eq!(budget.used, 0);
}

#[tokio::test]
async fn the_connection_state_shows_whether_a_load_reached_the_service() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let scope = docdeck::model::endpoint::Scope { base_url: "http://127.0.0.1:9".to_owned(), ..scope_of(&sim) };
    let mut fixture = EngineFixture::start_with_scope(scope, "mint_x", folder.path()).await;
    fixture.engine.load_views(last_week(&sim, 1), false).await.expect_err("nobody there");
    let offline = fixture.wait_for_event("offline", |event| match event {
        EngineEvent::ConnectionState(ConnectionState::Offline { next_try, .. }) => Some(*next_try),
        _ => None,
    });
    assert_eq!(offline.await, None, "no job is there to probe with, so no next try is promised");
    let folder = tempfile::tempdir().expect("a folder");
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    fixture.engine.load_views(last_week(&sim, 1), false).await.expect("views");
    fixture
        .wait_for_event("live", |event| {
            matches!(event, EngineEvent::ConnectionState(ConnectionState::Ready)).then_some(())
        })
        .await;
}

#[tokio::test]
async fn the_three_budgets_are_emitted_at_the_start() {
    let (sim, folder) = (start_sim(&[]).await, tempfile::tempdir().expect("a folder"));
    let mut fixture = EngineFixture::start_on_folder(&sim, folder.path()).await;
    for expected in Quota::HOURLY {
        let budget = fixture.wait_for_event("a budget", |event| match event {
            EngineEvent::Budget(quota, budget) => Some((*quota, budget.used)),
            _ => None,
        });
        assert_eq!(budget.await, (expected, 0));
    }
}
