//! Tests of loading all pages of a range (its cost, what stops it, and where it continues), of comparisons, and of the
//! trend.

use crate::support::dashboard::{DashboardFixture, export_folder_in};
use crate::support::{create_folder, set_faults};
use chrono::TimeDelta;
use crossterm::event::KeyCode;
use docdeck::model::ledger::Quota;
use docdeck::model::log::Operation;
use docdeck::model::report::Report;
use docdeck::model::views::DecimalCount;
use docdeck::sim::{Sim, SimOptions};
use docdeck::tui::views::movers::Movers;
use docdeck::tui::views::table::{Metric, PageColumn};
use std::time::Duration;

/// The number of requests that load all pages of a site with 1,200 pages, not all of which have views in a week.
const REQUESTS_FOR_ALL: u64 = 5;

async fn start_site(pages: u32) -> Sim {
    let options = SimOptions { jobs: 0, pages, ..SimOptions::default() };
    Sim::start(options).await.expect("a simulator")
}

fn view_requests(sim: &Sim) -> u64 {
    sim.requests(Operation::Views)
}

fn listed_report(dashboard: &DashboardFixture) -> Option<&Report> {
    let listed = dashboard.app.views.table.report()?;
    (listed.range == dashboard.app.views.query().range).then_some(listed.as_ref())
}

fn is_complete(dashboard: &DashboardFixture) -> bool {
    listed_report(dashboard).is_some_and(|report| report.complete)
        && dashboard.app.views.all_pages.active_load().is_none()
}

/// Selects the week that ended two weeks ago, whose counts no longer change, and waits until its first rows are shown.
async fn select_final_week(dashboard: &mut DashboardFixture) {
    dashboard.press_chars("2[[");
    dashboard
        .wait_until("the week before the last", |dashboard| {
            dashboard.app.views.lists_current_query()
                && !dashboard.app.views.load().is_loading()
                && dashboard.shows("as of")
        })
        .await;
}

async fn start_with_final_week(sim: &Sim, folder: &tempfile::TempDir) -> DashboardFixture {
    let mut dashboard = DashboardFixture::start(sim, folder.path()).await;
    select_final_week(&mut dashboard).await;
    dashboard
}

/// Presses the key, waits until the cost is shown, and confirms it.
async fn confirm_cost(dashboard: &mut DashboardFixture, key: &str, cost: &str) {
    dashboard.press_chars(key);
    dashboard.wait_until_shown(cost).await;
    dashboard.press_chars("y");
}

async fn load_all(dashboard: &mut DashboardFixture) {
    confirm_cost(dashboard, "a", "Load all pages of").await;
    dashboard.wait_until("all pages", is_complete).await;
}

/// Returns the number of responses that the running load has received.
fn response_count(dashboard: &DashboardFixture) -> u32 {
    dashboard.app.views.all_pages.progress().map_or(0, |progress| progress.responses)
}

/// Starts a slow load, and waits until it has received at least `min_responses` responses.
async fn load_partly(sim: &Sim, dashboard: &mut DashboardFixture, min_responses: u32) {
    set_faults(sim, &["views=latency-250"]);
    confirm_cost(dashboard, "a", "Load all pages of").await;
    dashboard.wait_until("half of it", |dashboard| response_count(dashboard) >= min_responses).await;
}

fn is_idle(dashboard: &DashboardFixture) -> bool {
    dashboard.app.views.all_pages.active_load().is_none()
}

#[tokio::test]
async fn loading_all_pages_costs_the_confirmed_requests_once() {
    let (sim, folder) = (start_site(1200).await, create_folder());
    let mut dashboard = start_with_final_week(&sim, &folder).await;
    assert_eq!(view_requests(&sim), 1, "ranges that were selected only briefly are not requested");
    dashboard.press_chars("a");
    dashboard.wait_until_shown("of the views).").await;
    dashboard.press_chars("n");
    assert_eq!(view_requests(&sim), 1);
    load_all(&mut dashboard).await;
    assert_eq!(view_requests(&sim), 1 + REQUESTS_FOR_ALL);
    let listed = listed_report(&dashboard).expect("a report").clone();
    assert_eq!((u64::from(listed.responses), listed.duplicates), (REQUESTS_FOR_ALL, 0));
    assert_eq!(listed.totals.total.value(), Some(listed.sums().total));
    dashboard.assert_shows("all pages as of");
    dashboard.press_chars("a");
    dashboard.assert_shows("All pages of this range are loaded");
    // Returning from another range shows the report again without a request.
    dashboard.press_chars("]");
    dashboard
        .wait_until("the week after", |dashboard| {
            dashboard.app.views.lists_current_query() && listed_report(dashboard).is_none()
        })
        .await;
    dashboard.press_chars("[");
    dashboard.wait_until("the report again", is_complete).await;
    assert_eq!(view_requests(&sim), 2 + REQUESTS_FOR_ALL);
    dashboard.terminate().await;
    let dashboard = start_with_final_week(&sim, &folder).await;
    assert_eq!(listed_report(&dashboard).expect("a report").rows, listed.rows, "also after a restart");
    assert_eq!(view_requests(&sim), 2 + REQUESTS_FOR_ALL);
}

/// Starts a site of which exactly `rows` pages have views in the week of [`select_final_week`].
async fn site_with_rows(rows: u32) -> Sim {
    let mut pages = rows;
    loop {
        let (sim, folder) = (start_site(pages).await, create_folder());
        let mut dashboard = start_with_final_week(&sim, &folder).await;
        dashboard.press_chars("a");
        dashboard
            .wait_until("the cost or all pages", |dashboard| {
                is_complete(dashboard) || !dashboard.app.dialogs.is_empty()
            })
            .await;
        if !is_complete(&dashboard) {
            dashboard.press_chars("y");
            dashboard.wait_until("all pages", is_complete).await;
        }
        let found = u32::try_from(listed_report(&dashboard).expect("a report").rows.len()).expect("few");
        dashboard.terminate().await;
        if found == rows {
            return start_site(pages).await;
        }
        pages += rows - found;
    }
}

#[tokio::test]
async fn a_site_of_any_size_loads_completely_and_asks_only_if_requests_are_needed() {
    // With up to 50 rows, the first response already contains all pages, so no request and no confirmation are needed.
    for (rows, requests, needs_confirmation) in
        [(0_u32, 0, false), (1, 0, false), (50, 0, false), (51, 1, true), (250, 1, true), (251, 2, true)]
    {
        let (sim, folder) = (site_with_rows(rows).await, create_folder());
        let mut dashboard = start_with_final_week(&sim, &folder).await;
        dashboard.press_chars("a");
        dashboard
            .wait_until("the cost or all pages", |dashboard| {
                is_complete(dashboard) || !dashboard.app.dialogs.is_empty()
            })
            .await;
        assert_eq!(!dashboard.app.dialogs.is_empty(), needs_confirmation, "{rows}");
        if needs_confirmation {
            dashboard.press_chars("y");
            dashboard.wait_until("all pages", is_complete).await;
        }
        let listed = listed_report(&dashboard).expect("a report");
        assert_eq!((listed.rows.len(), listed.duplicates, listed.complete), (rows as usize, 0, true));
        assert_eq!(view_requests(&sim), 1 + requests, "{rows}");
        if rows == 0 {
            dashboard.assert_shows("No page was viewed in this range.");
        }
        dashboard.terminate().await;
    }
}

#[tokio::test]
async fn rows_that_appear_in_two_responses_are_listed_once() {
    let (sim, folder) = (start_site(1200).await, create_folder());
    // After each response, the simulator's clock advances by a day, so that the new views change the order of the rows.
    sim.advance(TimeDelta::days(-4));
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.press_chars("2");
    dashboard.wait_until_shown("1 of 50").await;
    load_partly(&sim, &mut dashboard, 1).await;
    for received in 1..=4 {
        dashboard
            .wait_until("one more answer", |dashboard| response_count(dashboard) >= received || is_complete(dashboard))
            .await;
        sim.advance(TimeDelta::days(1));
    }
    set_faults(&sim, &[]);
    dashboard.wait_until("all pages", is_complete).await;
    let listed = listed_report(&dashboard).expect("a report");
    assert!(listed.duplicates > 0, "none moved");
    let paths: std::collections::HashSet<&str> = listed.rows.iter().map(|row| row.path.as_str()).collect();
    assert_eq!(paths.len(), listed.rows.len());
}

#[tokio::test]
async fn after_a_429_during_a_load_the_next_load_continues_where_it_stopped() {
    let (sim, folder) = (start_site(1200).await, create_folder());
    let mut dashboard = start_with_final_week(&sim, &folder).await;
    load_partly(&sim, &mut dashboard, 2).await;
    set_faults(&sim, &["views=429-2"]);
    dashboard.wait_until("the end of the load", is_idle).await;
    let kept = listed_report(&dashboard).expect("what came").responses;
    assert!(kept >= 2 && u64::from(kept) < REQUESTS_FOR_ALL, "{kept}");
    dashboard.assert_shows("press a to resume");
    dashboard.assert_shows("! partial: ");
    let so_far = view_requests(&sim);
    assert_eq!(so_far, 1 + u64::from(kept) + 1);
    set_faults(&sim, &[]);
    dashboard
        .wait_until("the limit in the ledger", |dashboard| dashboard.app.budget(Quota::Views).requests_left() == 0)
        .await;
    dashboard.press_chars("a");
    dashboard.assert_shows("No analytics requests are left this hour; the next one is possible");
    assert_eq!(view_requests(&sim), so_far);
    // On a busy computer, an older count may arrive late and show requests before the wait is over. A load that is
    // refused for this reason makes no request, and is started again.
    while !is_complete(&dashboard) {
        dashboard
            .wait_until("requests to be possible again", |dashboard| {
                dashboard.app.budget(Quota::Views).requests_left() > 0
            })
            .await;
        confirm_cost(&mut dashboard, "a", "continuing after").await;
        dashboard.wait_until("the end of the load", is_idle).await;
    }
    assert_eq!(view_requests(&sim), so_far + REQUESTS_FOR_ALL - u64::from(kept));
}

#[tokio::test]
async fn esc_stops_a_load_whose_rows_are_listed_and_which_can_be_continued() {
    let (sim, folder) = (start_site(1200).await, create_folder());
    let mut dashboard = start_with_final_week(&sim, &folder).await;
    load_partly(&sim, &mut dashboard, 2).await;
    dashboard.assert_shows("of views");
    dashboard.assert_shows("Esc stops");
    dashboard.press_key(KeyCode::Esc);
    dashboard.wait_until("the end of the load", is_idle).await;
    let kept = listed_report(&dashboard).expect("what came");
    let (rows, responses) = (kept.rows.len(), u64::from(kept.responses));
    assert!(!kept.complete && rows >= 500);
    assert_eq!(view_requests(&sim), 1 + responses);
    set_faults(&sim, &[]);
    confirm_cost(&mut dashboard, "a", "continuing after").await;
    dashboard.wait_until("all pages", is_complete).await;
    assert!(listed_report(&dashboard).expect("all").rows.len() > rows);
    assert_eq!(view_requests(&sim), 1 + REQUESTS_FOR_ALL);
}

#[tokio::test]
async fn after_a_crash_during_a_load_the_partial_report_is_shown_and_can_be_continued() {
    let (sim, folder) = (start_site(1200).await, create_folder());
    let mut dashboard = start_with_final_week(&sim, &folder).await;
    load_partly(&sim, &mut dashboard, 2).await;
    dashboard.crash().await;
    set_faults(&sim, &[]);
    let mut dashboard = start_with_final_week(&sim, &folder).await;
    dashboard.wait_until_shown("! partial: ").await;
    assert!(listed_report(&dashboard).expect("what came").rows.len() >= 500, "all loaded rows are listed");
    let before = view_requests(&sim);
    confirm_cost(&mut dashboard, "a", "continuing after").await;
    dashboard.wait_until("all pages", is_complete).await;
    assert!(view_requests(&sim) <= before + REQUESTS_FOR_ALL - 2, "cached answers are not requested again");
    let listed = listed_report(&dashboard).expect("all");
    assert_eq!(listed.totals.total.value(), Some(listed.sums().total));
}

#[tokio::test]
async fn a_load_continues_while_another_screen_or_range_is_shown() {
    let (sim, folder) = (start_site(1200).await, create_folder());
    let mut dashboard = start_with_final_week(&sim, &folder).await;
    load_partly(&sim, &mut dashboard, 1).await;
    dashboard.press_chars("]1");
    dashboard.wait_until("the end of the load", is_idle).await;
    dashboard.assert_shows("are loaded: ");
    set_faults(&sim, &[]);
    dashboard.press_chars("2");
    dashboard
        .wait_until("the other range", |dashboard| {
            dashboard.app.views.lists_current_query() && listed_report(dashboard).is_none()
        })
        .await;
    dashboard.press_chars("[");
    dashboard.wait_until("all of the first", is_complete).await;
    assert_eq!(view_requests(&sim), 2 + REQUESTS_FOR_ALL);
}

#[tokio::test]
async fn comparing_the_same_two_weeks_again_costs_no_request() {
    let (sim, folder) = (start_site(1200).await, create_folder());
    let mut dashboard = start_with_final_week(&sim, &folder).await;
    confirm_cost(&mut dashboard, "c", "about 6").await;
    dashboard.wait_until("a comparison", |dashboard| dashboard.app.views.is_comparing()).await;
    let cost = view_requests(&sim);
    assert!((1 + 2 * REQUESTS_FOR_ALL - 1..=1 + 2 * REQUESTS_FOR_ALL).contains(&cost), "{cost}");
    dashboard.assert_shows(" vs ");
    dashboard.assert_shows("   total ");
    dashboard.press_chars("w");
    dashboard.assert_shows("Largest changes: total");
    let movers = dashboard.app.top::<Movers>().expect("the movers");
    assert!(!movers.gained.is_empty() && !movers.lost.is_empty());
    dashboard.press_key(KeyCode::Esc);
    dashboard.press_chars("c");
    dashboard.wait_until("no comparison", |dashboard| !dashboard.app.views.is_comparing()).await;
    dashboard.press_chars("c");
    dashboard.wait_until("a comparison again", |dashboard| dashboard.app.views.is_comparing()).await;
    // The previous week is also cached. The week before it is not, so the comparison ends.
    dashboard.press_chars("[");
    dashboard.wait_until_shown("Comparison ended").await;
    assert!(is_complete(&dashboard));
    assert_eq!(view_requests(&sim), cost);
    dashboard.terminate().await;
    let mut dashboard = start_with_final_week(&sim, &folder).await;
    dashboard.press_chars("c");
    dashboard.wait_until("a comparison after a restart", |dashboard| dashboard.app.views.is_comparing()).await;
    assert_eq!(view_requests(&sim), cost);
}

#[tokio::test]
async fn a_week_up_to_today_is_compared_by_complete_days_with_the_same_numbers_everywhere() {
    let (sim, folder) = (start_site(600).await, create_folder());
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.press_chars("2");
    dashboard.wait_until_shown("1 of 50").await;
    let week = dashboard.app.views.query().range;
    confirm_cost(&mut dashboard, "c", "Load all pages of").await;
    dashboard.wait_until("a comparison", |dashboard| dashboard.app.views.is_comparing() && is_idle(dashboard)).await;
    let cost = view_requests(&sim);
    dashboard.assert_shows(" complete days, ");
    let comparison = dashboard.app.views.table.comparison().expect("two reports").clone();
    let ranges = comparison.ranges();
    assert_eq!((ranges.current, ranges.previous), (week.first_days(6), week.step(-1).expect("a week").first_days(6)));
    assert_eq!(
        listed_report(&dashboard).map(|listed| listed.range),
        Some(week),
        "the table has the range's own numbers"
    );

    // Sorts by the change of the total, whose column is then visible.
    while dashboard.app.views.table.sorting().by != PageColumn::Change(Metric::Total) {
        dashboard.press_chars("s");
    }
    let change = |dashboard: &DashboardFixture, path: &str| {
        let figures = dashboard.app.views.table.metrics(path).expect("listed");
        figures.change(Metric::Total).difference()
    };
    let listed: Vec<String> = dashboard.app.views.table.shown_pages().map(|row| row.path.to_string()).collect();
    let changes: Vec<DecimalCount> = listed.iter().filter_map(|path| change(&dashboard, path)).collect();
    assert!(changes.is_sorted_by(|a, b| a >= b) && changes.len() > 500, "{}", changes.len());
    assert_eq!(dashboard.app.views.table.selected(), 0);
    let first = format!("+{}", docdeck::tui::format::format_views(changes[0]));
    dashboard.assert_shows(&first);

    // The dialog of the top movers has the same changes as the table.
    dashboard.press_chars("w");
    dashboard.assert_shows("complete days, ");
    let movers = dashboard.app.top::<Movers>().expect("the movers");
    assert!(movers.gained.len() > 5);
    for (mover, _) in movers.gained.visible(250).chain(movers.lost.visible(250)) {
        assert_eq!(change(&dashboard, mover.path.as_str()), Some(mover.delta()), "{}", mover.path);
    }
    dashboard.press_key(KeyCode::Esc);

    // The export of the rows that match a filter by change also has the same changes.
    dashboard.press_chars("/Δ<-5%");
    dashboard.press_key(KeyCode::Enter);
    let shown: Vec<String> = dashboard.app.views.table.shown_pages().map(|row| row.path.to_string()).collect();
    assert!(!shown.is_empty() && shown.len() < listed.len());
    dashboard.press_chars("e");
    dashboard.press_key(KeyCode::Enter);
    dashboard.wait_until_shown("written to").await;
    let name = format!(
        "docdeck-views-{}_{}-vs-{}_{}-filtered.csv",
        week.from(),
        week.to(),
        ranges.previous.from(),
        ranges.previous.to()
    );
    let text = std::fs::read_to_string(export_folder_in(folder.path()).join(name)).expect("written");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers().expect("heads").clone();
    let column = |name: &str| heads.iter().position(|head| head == name).expect("a column");
    let (complete, previous_total) = (column("total_complete_days"), column("total_before"));
    let (changed, status) = (column("change"), column("status"));
    let mut rows = 0;
    for (row, path) in reader.records().map(|row| row.expect("a row")).zip(&shown) {
        assert_eq!(row.get(0), Some(path.as_str()), "in the order shown");
        let number = |at: usize| row.get(at).and_then(|cell| cell.parse::<i64>().ok());
        let views = number(changed).expect("a number");
        let (current, previous) = (number(complete), number(previous_total));
        assert_eq!(views, current.unwrap_or(0) - previous.unwrap_or(0), "{path}");
        assert_eq!(row.get(status), Some(if current.is_none() { "gone" } else { "" }), "{path}");
        assert_eq!(change(&dashboard, path).map(|views| views.to_string()), Some(views.to_string()));
        rows += 1;
    }
    assert_eq!(rows, shown.len());

    // The comparison is cached, so it opens again without a request.
    dashboard.press_chars("cc");
    dashboard
        .wait_until("the comparison again", |dashboard| dashboard.app.views.is_comparing() && is_idle(dashboard))
        .await;
    assert_eq!(view_requests(&sim), cost);
}

#[tokio::test]
async fn the_trend_loads_its_days_after_confirmation_and_caches_them() {
    let (sim, folder) = (start_site(60).await, create_folder());
    let mut dashboard = start_with_final_week(&sim, &folder).await;
    dashboard.press_chars("t");
    dashboard.wait_until_shown("7 of 7 days not loaded").await;
    assert_eq!(view_requests(&sim), 1, "opening the trend sends no request");
    confirm_cost(&mut dashboard, "a", "Load 7 of 7 days (not loaded or outdated)?").await;
    dashboard.wait_until_shown("all 7 days loaded").await;
    dashboard.wait_until("rest", |dashboard| dashboard.app.views.totals.pending_count() == 0).await;
    assert_eq!(view_requests(&sim), 8);
    dashboard.press_chars("a");
    dashboard.assert_shows("loaded and up to date");
    dashboard.press_key(KeyCode::Esc);
    dashboard.press_chars("t");
    dashboard.assert_shows("all 7 days loaded");
    dashboard.terminate().await;
    let mut dashboard = start_with_final_week(&sim, &folder).await;
    dashboard.press_chars("t");
    dashboard.wait_until_shown("all 7 days loaded").await;
    assert_eq!(view_requests(&sim), 8);
}

#[tokio::test]
async fn after_a_failed_load_the_trend_keeps_its_days_and_requests_only_the_missing_ones() {
    let (sim, folder) = (start_site(60).await, create_folder());
    let mut dashboard = start_with_final_week(&sim, &folder).await;
    set_faults(&sim, &["views=latency-200"]);
    dashboard.press_chars("t");
    confirm_cost(&mut dashboard, "a", "Load 7 of 7 days").await;
    dashboard.wait_until("some days", |dashboard| dashboard.app.views.totals.pending_count() < 6).await;
    set_faults(&sim, &["views=500"]);
    dashboard.wait_until_shown("Press a to load the rest.").await;
    set_faults(&sim, &[]);
    dashboard.press_chars("a");
    dashboard.wait_until("the cost of the rest", |dashboard| dashboard.app.dialogs.len() == 2).await;
    assert!(!dashboard.shows("Load 7 of 7 days"));
    dashboard.press_chars("y");
    dashboard.wait_until_shown("all 7 days loaded").await;
    assert_eq!(view_requests(&sim), 1 + 7 + 1, "each day once, and the one that failed");
}

#[tokio::test]
async fn while_offline_an_old_report_is_shown_with_its_age_and_survives_a_failed_reload() {
    let (sim, folder) = (start_site(120).await, create_folder());
    let mut dashboard = start_with_final_week(&sim, &folder).await;
    load_all(&mut dashboard).await;
    dashboard.terminate().await;
    let so_far = view_requests(&sim);
    set_faults(&sim, &["views=refuse"]);
    let mut dashboard = start_with_final_week(&sim, &folder).await;
    assert!(is_complete(&dashboard));
    dashboard.assert_shows("all pages as of");
    dashboard.run_for(Duration::from_millis(50)).await;
    assert_eq!(view_requests(&sim), so_far, "nothing was even tried");
    dashboard.press_chars("r");
    dashboard
        .wait_until("an attempt", |dashboard| {
            dashboard.app.views.all_pages.failure_of(dashboard.app.views.query().range).is_some()
                || !dashboard.app.dialogs.is_empty()
        })
        .await;
    dashboard.press_chars("y");
    dashboard
        .wait_until("the failure", |dashboard| {
            dashboard.app.views.all_pages.failure_of(dashboard.app.views.query().range).is_some()
        })
        .await;
    assert!(is_complete(&dashboard));
    dashboard.assert_shows("all pages as of");
}

#[tokio::test]
async fn with_no_requests_left_the_screen_shows_what_is_still_available() {
    let (sim, folder) = (start_site(120).await, create_folder());
    set_faults(&sim, &["views=429-600"]);
    let mut dashboard = DashboardFixture::start(&sim, folder.path()).await;
    dashboard.press_chars("2");
    dashboard.wait_until_shown("Not loaded.").await;
    dashboard.assert_shows("can still be shown.");
    dashboard
        .wait_until("the limit in the ledger", |dashboard| dashboard.app.budget(Quota::Views).requests_left() == 0)
        .await;
    dashboard.press_chars("a");
    dashboard.wait_until_shown("this hour; the next one is possible after").await;
    assert_eq!(view_requests(&sim), 1);
}
