//! Tests of the tabs of the analytics screen against the simulated service: what they request, and what stays cached.

use crate::support::dashboard::DashboardFixture;
use crate::support::{create_folder, set_faults, start_sim};
use crossterm::event::KeyCode;
use docdeck::model::analytics::AnalyticsKind;
use docdeck::model::log::Operation;
use docdeck::sim::Sim;
use docdeck::tui::{Effect, PromptsEffect};

const SEARCHES: Operation = Operation::Analytics(AnalyticsKind::Searches);

/// Returns the number of requests about analytics other than page views.
fn report_requests(sim: &Sim) -> u64 {
    AnalyticsKind::ALL.into_iter().map(|kind| sim.requests(Operation::Analytics(kind))).sum()
}

/// Opens the tab that is this many to the right of the page views.
async fn open_tab(dashboard: &mut DashboardFixture, tab: usize) {
    dashboard.press_chars("2");
    dashboard.wait_until_shown("1 of 50").await;
    (0..tab).for_each(|_| dashboard.press_key(KeyCode::Tab));
}

#[tokio::test]
async fn a_tab_takes_one_request_at_the_first_visit_and_none_after_a_restart() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    open_tab(&mut dashboard, 1).await;
    dashboard.wait_until_shown("unclicked queries").await;
    dashboard.wait_until_shown("analytics requests: 98 of 100 left").await;
    dashboard.press_chars("12");
    dashboard.assert_shows("unclicked queries");
    dashboard.terminate().await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    open_tab(&mut dashboard, 1).await;
    dashboard.wait_until_shown("unclicked queries").await;
    assert_eq!((sim.requests(SEARCHES), report_requests(&sim)), (1, 1), "it was cached");
    dashboard.press_chars("r");
    dashboard.wait_until("a second request", |_| sim.requests(SEARCHES) == 2).await;
}

#[tokio::test]
async fn a_failed_request_shows_the_reason_and_can_be_repeated() {
    let (sim, folder) = (start_sim(&["searches=503"]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    open_tab(&mut dashboard, 1).await;
    dashboard.wait_until_shown("Press r to try again.").await;
    set_faults(&sim, &[]);
    dashboard.press_chars("r");
    dashboard.wait_until_shown("unclicked queries").await;
    assert_eq!(sim.requests(SEARCHES), 2);
}

#[tokio::test]
async fn pages_that_need_work_take_at_most_five_requests_and_nothing_is_sent_without_the_user() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    open_tab(&mut dashboard, 4).await;
    dashboard.wait_until_shown("Nothing is loaded for this range.").await;
    assert_eq!(report_requests(&sim), 0, "nothing is requested before the user confirms");
    let views = sim.requests(Operation::Views);
    dashboard.press_chars("a");
    dashboard.assert_shows("5 analytics requests");
    dashboard.press_chars("y");
    dashboard.wait_until("all reports", |_| report_requests(&sim) == 4).await;
    dashboard.wait_until_shown("score").await;
    dashboard
        .wait_until("page views", |dashboard| {
            dashboard.shows("only the most viewed pages have views")
                || dashboard.shows("the previous period is not loaded")
        })
        .await;
    assert!(report_requests(&sim) + sim.requests(Operation::Views) - views <= 5);
    dashboard.press_chars("jn");
    dashboard.press_key(KeyCode::Esc);
    dashboard.assert_shows("Evidence about");
    let submitted = dashboard
        .requested_effects
        .iter()
        .any(|effect| matches!(effect, Effect::Prompts(PromptsEffect::SubmitNewJob(..))));
    assert!(!submitted && sim.received_prompts().is_empty());
}

#[tokio::test]
async fn visitors_take_one_request_when_they_are_shown_and_none_after_a_restart() {
    let (sim, folder) = (start_sim(&[]).await, create_folder());
    let requests = |sim: &Sim| sim.requests(Operation::Analytics(AnalyticsKind::Visitors));
    for _ in 0..2 {
        let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
        open_tab(&mut dashboard, 0).await;
        dashboard.press_chars("u");
        dashboard.wait_until_shown("human visitors").await;
        dashboard
            .wait_until("the request", |dashboard| requests(&sim) == 1 && !dashboard.shows("loading visitors"))
            .await;
        dashboard.terminate().await;
    }
}
