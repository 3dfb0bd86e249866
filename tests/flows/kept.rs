//! What was loaded is kept: listed, shown and compared again without a request, and exported whole.

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

fn at_rest(desk: &DashboardFixture) -> bool {
    desk.app.views.is_current() && !desk.app.views.load().is_loading() && desk.app.views.all.under_way().is_none()
}

fn is_whole(desk: &DashboardFixture) -> bool {
    at_rest(desk) && desk.app.views.table.report().is_some_and(|report| report.complete)
}

/// A dashboard that has loaded all pages of the week before the last.
async fn with_a_whole_week(sim: &Sim, folder: &tempfile::TempDir) -> DashboardFixture {
    let mut desk = DashboardFixture::begin(sim, folder.path()).await;
    desk.keys("2[[");
    desk.until("the week before the last", |desk| at_rest(desk) && desk.shows("as of")).await;
    desk.keys("a");
    desk.until_shown("Load all pages of").await;
    desk.keys("y");
    desk.until("all pages", is_whole).await;
    desk
}

fn kept(desk: &DashboardFixture) -> Option<Vec<KnownRange>> {
    match desk.app.dialogs.last() {
        Some(Dialog::Kept(open)) => open.kept.shown().map(|kept| kept.value.ranges.clone()),
        _ => None,
    }
}

#[tokio::test]
async fn a_range_that_is_kept_is_listed_and_shown_again_at_no_cost() {
    let (sim, folder) = (site().await, folder());
    let mut desk = with_a_whole_week(&sim, &folder).await;
    let week = desk.app.views.query().range;
    desk.keys("d");
    desk.until("the preset", at_rest).await;
    let cost = sim.requests(Operation::Views);
    desk.keys("H");
    desk.until("the list", |desk| kept(desk).is_some()).await;
    let place = kept(&desk).expect("a list").iter().position(|known| known.range == week && known.complete);
    for _ in 0..place.expect("the whole week is in it") {
        desk.keys("j");
    }
    desk.assert_shows("docdeck prune cuts it");
    desk.key(KeyCode::Enter);
    desk.until("the week", |desk| desk.app.views.query().range == week && is_whole(desk)).await;
    desk.terminate().await;
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.keys("2");
    desk.until("the first look", at_rest).await;
    desk.keys(&format!("D{} {}", week.from(), week.to()));
    desk.key(KeyCode::Enter);
    desk.until("the week after a restart", |desk| desk.app.views.query().range == week && is_whole(desk)).await;
    assert_eq!(sim.requests(Operation::Views), cost);
}

#[tokio::test]
async fn a_whole_range_is_exported_whole_and_a_compared_one_with_both_ranges() {
    let (sim, folder) = (site().await, folder());
    let mut desk = with_a_whole_week(&sim, &folder).await;
    let week = desk.app.views.query().range;
    let pages = desk.app.views.rows().len();
    assert!(pages > 250, "more than one answer: {pages}");
    desk.keys("ejl");
    desk.key(KeyCode::Enter);
    desk.until_shown("written to").await;
    let name = format!("docdeck-views-{}_{}.json", week.from(), week.to());
    let text = std::fs::read_to_string(exports_in(folder.path()).join(name)).expect("written");
    let read: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(read.get("complete"), Some(&serde_json::Value::Bool(true)));
    assert_eq!(read.get("views").and_then(|views| views.as_array()).map(Vec::len), Some(pages));

    let before = week.step(-1).expect("a range");
    desk.keys("Cb");
    desk.until_shown("Load all pages of").await;
    desk.keys("y");
    desk.until("a comparison", |desk| desk.app.views.is_comparing() && at_rest(desk)).await;
    let cost = sim.requests(Operation::Views);
    desk.keys("el");
    desk.key(KeyCode::Enter);
    let (from, to) = (before.from(), before.to());
    let name = format!("docdeck-views-{}_{}-vs-{from}_{to}.csv", week.from(), week.to());
    let path = exports_in(folder.path()).join(name);
    desk.until("the file", |_| path.exists()).await;
    desk.until_shown("written to").await;
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
