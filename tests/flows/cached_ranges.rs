//! Cached page views: listed, shown and compared again without a request, and exported completely.

use crate::dashboard_fixture::{DashboardFixture, exports_in, folder};
use crossterm::event::KeyCode;
use docdeck::app::dialog::Dialog;
use docdeck::model::log::Operation;
use docdeck::model::report::KnownRange;
use docdeck::sim::{Sim, SimOptions};

async fn site() -> Sim {
    let options = SimOptions { jobs: 0, pages: 300, ..SimOptions::default() };
    Sim::start(options).await.expect("a simulator")
}

fn is_idle(dashboard: &DashboardFixture) -> bool {
    dashboard.app.views.is_current()
        && !dashboard.app.views.load().is_loading()
        && dashboard.app.views.all_pages.active_load().is_none()
}

fn is_complete(dashboard: &DashboardFixture) -> bool {
    is_idle(dashboard) && dashboard.app.views.table.report().is_some_and(|report| report.complete)
}

/// A dashboard that has loaded all pages of the week before the last one.
async fn with_a_complete_week(sim: &Sim, folder: &tempfile::TempDir) -> DashboardFixture {
    let mut dashboard = DashboardFixture::start(sim, folder.path()).await;
    dashboard.keys("2[[");
    dashboard.until("the week before the last", |dashboard| is_idle(dashboard) && dashboard.shows("as of")).await;
    dashboard.keys("a");
    dashboard.until_shown("Load all pages of").await;
    dashboard.keys("y");
    dashboard.until("all pages", is_complete).await;
    dashboard
}

fn cached_ranges(dashboard: &DashboardFixture) -> Option<Vec<KnownRange>> {
    match dashboard.app.dialogs.last() {
        Some(Dialog::CachedRanges(open)) => open.cached.shown().map(|kept| kept.value.ranges.clone()),
        _ => None,
    }
}

#[tokio::test]
async fn a_cached_range_is_listed_and_shown_again_without_a_request() {
    let (sim, folder) = (site().await, folder());
    let mut dashboard = with_a_complete_week(&sim, &folder).await;
    let week = dashboard.app.views.query().range;
    dashboard.keys("d");
    dashboard.until("the preset", is_idle).await;
    let cost = sim.requests(Operation::Views);
    dashboard.keys("H");
    dashboard.until("the list", |dashboard| cached_ranges(dashboard).is_some()).await;
    let place =
        cached_ranges(&dashboard).expect("a list").iter().position(|known| known.range == week && known.complete);
    for _ in 0..place.expect("the whole week is in it") {
        dashboard.keys("j");
    }
    dashboard.assert_shows("docdeck prune frees space");
    dashboard.key(KeyCode::Enter);
    dashboard.until("the week", |dashboard| dashboard.app.views.query().range == week && is_complete(dashboard)).await;
    dashboard.terminate().await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.keys("2");
    dashboard.until("the first answer", is_idle).await;
    dashboard.keys(&format!("D{} {}", week.from(), week.to()));
    dashboard.key(KeyCode::Enter);
    dashboard
        .until("the week after a restart", |dashboard| {
            dashboard.app.views.query().range == week && is_complete(dashboard)
        })
        .await;
    assert_eq!(sim.requests(Operation::Views), cost);
}

#[tokio::test]
async fn a_complete_range_is_exported_completely_and_a_comparison_with_both_ranges() {
    let (sim, folder) = (site().await, folder());
    let mut dashboard = with_a_complete_week(&sim, &folder).await;
    let week = dashboard.app.views.query().range;
    let pages = dashboard.app.views.rows().len();
    assert!(pages > 250, "more than one answer: {pages}");
    dashboard.keys("ejl");
    dashboard.key(KeyCode::Enter);
    dashboard.until_shown("written to").await;
    let name = format!("docdeck-views-{}_{}.json", week.from(), week.to());
    let text = std::fs::read_to_string(exports_in(folder.path()).join(name)).expect("written");
    let read: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(read.get("complete"), Some(&serde_json::Value::Bool(true)));
    assert_eq!(read.get("views").and_then(|views| views.as_array()).map(Vec::len), Some(pages));

    let before = week.step(-1).expect("a range");
    dashboard.keys("Cb");
    dashboard.until_shown("Load all pages of").await;
    dashboard.keys("y");
    dashboard.until("a comparison", |dashboard| dashboard.app.views.is_comparing() && is_idle(dashboard)).await;
    let cost = sim.requests(Operation::Views);
    dashboard.keys("el");
    dashboard.key(KeyCode::Enter);
    let (from, to) = (before.from(), before.to());
    let name = format!("docdeck-views-{}_{}-vs-{from}_{to}.csv", week.from(), week.to());
    let path = exports_in(folder.path()).join(name);
    dashboard.until("the file", |_| path.exists()).await;
    dashboard.until_shown("written to").await;
    let text = std::fs::read_to_string(&path).expect("written");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    assert_eq!(reader.headers().expect("heads").get(8), Some("change"));
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    assert!(rows.len() >= pages, "those that are gone come on top");
    let row = rows.iter().find(|row| row.get(7).is_some_and(|total| !total.is_empty()) && row.get(8) != Some("gone"));
    let number = |at: usize| row.and_then(|row| row.get(at)?.parse::<i64>().ok()).expect("a number");
    assert_eq!(number(8), number(3) - number(7));
    assert_eq!(sim.requests(Operation::Views), cost, "an export asks for nothing");
}
