//! Tests of cached page views: they are listed, shown again and exported without a request.

use crate::support::create_folder;
use crate::support::dashboard::{DashboardFixture, export_folder_in};
use crossterm::event::KeyCode;
use docdeck::model::log::Operation;
use docdeck::model::report::CachedRange;
use docdeck::sim::{Sim, SimOptions};
use docdeck::tui::views::cached_ranges::CachedRanges;

async fn start_site() -> Sim {
    let options = SimOptions { jobs: 0, pages: 300, ..SimOptions::default() };
    Sim::start(options).await.expect("a simulator")
}

fn is_idle(dashboard: &DashboardFixture) -> bool {
    dashboard.app.views.lists_current_query()
        && !dashboard.app.views.load().is_loading()
        && dashboard.app.views.all_pages.active_load().is_none()
}

fn is_complete(dashboard: &DashboardFixture) -> bool {
    is_idle(dashboard) && dashboard.app.views.table.report().is_some_and(|report| report.complete)
}

/// Starts a dashboard and loads all pages of the week that ended two weeks ago.
async fn start_with_complete_week(sim: &Sim, folder: &tempfile::TempDir) -> DashboardFixture {
    let mut dashboard = DashboardFixture::start(sim, folder.path()).await;
    dashboard.press_chars("2[[");
    dashboard.wait_until("the week before the last", |dashboard| is_idle(dashboard) && dashboard.shows("as of")).await;
    dashboard.press_chars("a");
    dashboard.wait_until_shown("Load all pages of").await;
    dashboard.press_chars("y");
    dashboard.wait_until("all pages", is_complete).await;
    dashboard
}

fn cached_ranges(dashboard: &DashboardFixture) -> Option<Vec<CachedRange>> {
    dashboard.app.top::<CachedRanges>()?.overview.shown().map(|known| known.value.ranges.clone())
}

#[tokio::test]
async fn a_cached_range_is_listed_and_shown_again_without_a_request() {
    let (sim, folder) = (start_site().await, create_folder());
    let mut dashboard = start_with_complete_week(&sim, &folder).await;
    let week = dashboard.app.views.query().range;
    dashboard.press_chars("d");
    dashboard.wait_until("the preset", is_idle).await;
    let cost = sim.requests(Operation::Views);
    dashboard.press_chars("H");
    dashboard.wait_until("the list", |dashboard| cached_ranges(dashboard).is_some()).await;
    let position = cached_ranges(&dashboard)
        .expect("a list")
        .iter()
        .position(|known| known.range == week && known.views.as_ref().is_some_and(|views| views.complete));
    for _ in 0..position.expect("the complete week is listed") {
        dashboard.press_chars("j");
    }
    dashboard.assert_shows("docdeck prune");
    dashboard.press_key(KeyCode::Enter);
    dashboard
        .wait_until("the week", |dashboard| dashboard.app.views.query().range == week && is_complete(dashboard))
        .await;
    dashboard.terminate().await;
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.press_chars("2");
    dashboard.wait_until("the first answer", is_idle).await;
    dashboard.press_chars(&format!("D{} {}", week.from(), week.to()));
    dashboard.press_key(KeyCode::Enter);
    dashboard
        .wait_until("the week after a restart", |dashboard| {
            dashboard.app.views.query().range == week && is_complete(dashboard)
        })
        .await;
    assert_eq!(sim.requests(Operation::Views), cost);
}

#[tokio::test]
async fn an_export_contains_all_pages_of_a_complete_range_and_both_ranges_of_a_comparison() {
    let (sim, folder) = (start_site().await, create_folder());
    let mut dashboard = start_with_complete_week(&sim, &folder).await;
    let week = dashboard.app.views.query().range;
    let pages = dashboard.app.views.rows().len();
    assert!(pages > 250, "more than one answer: {pages}");
    dashboard.press_chars("ejl");
    dashboard.press_key(KeyCode::Enter);
    dashboard.wait_until_shown("written to").await;
    let name = format!("docdeck-views-{}_{}.json", week.from(), week.to());
    let text = std::fs::read_to_string(export_folder_in(folder.path()).join(name)).expect("written");
    let read: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(read.get("complete"), Some(&serde_json::Value::Bool(true)));
    assert_eq!(read.get("views").and_then(|views| views.as_array()).map(Vec::len), Some(pages));

    let previous = week.step(-1).expect("a range");
    dashboard.press_chars("Cb");
    dashboard.wait_until_shown("Load all pages of").await;
    dashboard.press_chars("y");
    dashboard.wait_until("a comparison", |dashboard| dashboard.app.views.is_comparing() && is_idle(dashboard)).await;
    let cost = sim.requests(Operation::Views);
    dashboard.press_chars("el");
    dashboard.press_key(KeyCode::Enter);
    let (from, to) = (previous.from(), previous.to());
    let name = format!("docdeck-views-{}_{}-vs-{from}_{to}.csv", week.from(), week.to());
    let path = export_folder_in(folder.path()).join(name);
    dashboard.wait_until("the file", |_| path.exists()).await;
    dashboard.wait_until_shown("written to").await;
    let text = std::fs::read_to_string(&path).expect("written");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    assert_eq!(reader.headers().expect("heads").get(8), Some("change"));
    let rows: Vec<csv::StringRecord> = reader.records().map(|row| row.expect("a row")).collect();
    assert!(rows.len() >= pages, "pages without views in this week are also exported");
    let row = rows.iter().find(|row| row.get(7).is_some_and(|total| !total.is_empty()) && row.get(8) != Some("gone"));
    let number = |at: usize| row.and_then(|row| row.get(at)?.parse::<i64>().ok()).expect("a number");
    assert_eq!(number(8), number(3) - number(7));
    assert_eq!(sim.requests(Operation::Views), cost, "an export asks for nothing");
}
