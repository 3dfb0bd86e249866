//! All pages of a range: what they cost, what ends loading them and where it goes on; comparing; the trend.

use crate::dashboard_fixture::{DashboardFixture, exports_in, faults, folder};
use chrono::TimeDelta;
use crossterm::event::KeyCode;
use docdeck::app::dialog::Dialog;
use docdeck::app::views::table::{Metric, PageColumn};
use docdeck::model::ledger::RateLimited;
use docdeck::model::log::Operation;
use docdeck::model::report::Report;
use docdeck::model::views::ViewCount;
use docdeck::sim::{Sim, SimOptions};
use std::time::Duration;

/// Requests that all pages of a site of 1,200 take: not each of them is read every week.
const ALL: u64 = 5;

async fn site(pages: u32) -> Sim {
    let options = SimOptions { jobs: 0, pages, ..SimOptions::default() };
    Sim::start(options).await.expect("a simulator")
}

fn asked(sim: &Sim) -> u64 {
    sim.requests(Operation::Views)
}

fn report(desk: &DashboardFixture) -> Option<&Report> {
    let listed = desk.app.views.table.report()?;
    (listed.range == desk.app.views.query().range).then_some(listed.as_ref())
}

fn is_whole(desk: &DashboardFixture) -> bool {
    report(desk).is_some_and(|report| report.complete) && desk.app.views.all.under_way().is_none()
}

/// To the week that ended two weeks ago, whose numbers are final; what is known of it is listed.
async fn look_back(desk: &mut DashboardFixture) {
    desk.keys("2[[");
    desk.until("the week before the last", |desk| {
        desk.app.views.is_current() && !desk.app.views.load().is_loading() && desk.shows("as of")
    })
    .await;
}

async fn looking_back(sim: &Sim, folder: &tempfile::TempDir) -> DashboardFixture {
    let mut desk = DashboardFixture::begin(sim, folder.path()).await;
    look_back(&mut desk).await;
    desk
}

/// Presses the key and says yes to the price.
async fn agree(desk: &mut DashboardFixture, key: &str, price: &str) {
    desk.keys(key);
    desk.until_shown(price).await;
    desk.keys("y");
}

async fn load_all(desk: &mut DashboardFixture) {
    agree(desk, "a", "Load all pages of").await;
    desk.until("all pages", is_whole).await;
}

/// Answers taken in by the load under way.
fn answers(desk: &DashboardFixture) -> u32 {
    desk.app.views.all.progress().map_or(0, |progress| progress.answers)
}

/// A load that has taken in `least` answers and is slow to go on.
async fn half_way(sim: &Sim, desk: &mut DashboardFixture, least: u32) {
    faults(sim, &["views=latency-250"]);
    agree(desk, "a", "Load all pages of").await;
    desk.until("half of it", |desk| answers(desk) >= least).await;
}

fn at_rest(desk: &DashboardFixture) -> bool {
    desk.app.views.all.under_way().is_none()
}

#[tokio::test]
async fn all_pages_cost_what_was_agreed_to_and_afterwards_nothing() {
    let (sim, folder) = (site(1200).await, folder());
    let mut desk = looking_back(&sim, &folder).await;
    assert_eq!(asked(&sim), 1, "ranges that were only passed by were not asked for");
    desk.keys("a");
    desk.until_shown("the views), 99 left here.").await;
    desk.keys("n");
    assert_eq!(asked(&sim), 1);
    load_all(&mut desk).await;
    assert_eq!(asked(&sim), 1 + ALL);
    let listed = report(&desk).expect("a report").clone();
    assert_eq!((u64::from(listed.answers), listed.moved), (ALL, 0));
    assert_eq!(listed.totals.total.value(), Some(listed.sums().total));
    desk.assert_shows("all pages as of");
    desk.keys("a");
    desk.assert_shows("All pages of this range are loaded");
    // Another range and back.
    desk.keys("]");
    desk.until("the week after", |desk| desk.app.views.is_current() && report(desk).is_none()).await;
    desk.keys("[");
    desk.until("it again", is_whole).await;
    assert_eq!(asked(&sim), 2 + ALL);
    desk.terminate().await;
    let desk = looking_back(&sim, &folder).await;
    assert_eq!(report(&desk).expect("a report").rows, listed.rows, "also after a restart");
    assert_eq!(asked(&sim), 2 + ALL);
}

/// A site of which exactly so many pages were read in the week that is looked at.
async fn site_with_rows(rows: u32) -> Sim {
    let mut pages = rows;
    loop {
        let (sim, folder) = (site(pages).await, folder());
        let mut desk = looking_back(&sim, &folder).await;
        desk.keys("a");
        desk.until("a price or all pages", |desk| is_whole(desk) || !desk.app.dialogs.is_empty()).await;
        if !is_whole(&desk) {
            desk.keys("y");
            desk.until("all pages", is_whole).await;
        }
        let found = u32::try_from(report(&desk).expect("a report").rows.len()).expect("few");
        desk.terminate().await;
        if found == rows {
            return site(pages).await;
        }
        pages += rows - found;
    }
}

#[tokio::test]
async fn a_site_of_any_size_is_loaded_to_its_end_and_what_is_provably_there_without_a_question_or_a_request() {
    // Up to 50 rows the answer that is listed holds all pages.
    for (rows, requests, is_question) in
        [(0_u32, 0, false), (1, 0, false), (50, 0, false), (51, 1, true), (250, 1, true), (251, 2, true)]
    {
        let (sim, folder) = (site_with_rows(rows).await, folder());
        let mut desk = looking_back(&sim, &folder).await;
        desk.keys("a");
        desk.until("a price or all pages", |desk| is_whole(desk) || !desk.app.dialogs.is_empty()).await;
        assert_eq!(!desk.app.dialogs.is_empty(), is_question, "{rows}");
        if is_question {
            desk.keys("y");
            desk.until("all pages", is_whole).await;
        }
        let listed = report(&desk).expect("a report");
        assert_eq!((listed.rows.len(), listed.moved, listed.complete), (rows as usize, 0, true));
        assert_eq!(asked(&sim), 1 + requests, "{rows}");
        if rows == 0 {
            desk.assert_shows("No page was viewed in this range.");
        }
        desk.terminate().await;
    }
}

#[tokio::test]
async fn rows_that_move_between_two_answers_are_there_once_and_counted() {
    let (sim, folder) = (site(1200).await, folder());
    // A day of views comes in after each answer, so that rows change places whatever day and hour it is now.
    sim.advance(TimeDelta::days(-4));
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.keys("2");
    desk.until_shown("page 1, rows 1–50, more →").await;
    half_way(&sim, &mut desk, 1).await;
    for taken_in in 1..=4 {
        desk.until("one more answer", |desk| answers(desk) >= taken_in || is_whole(desk)).await;
        sim.advance(TimeDelta::days(1));
    }
    faults(&sim, &[]);
    desk.until("all pages", is_whole).await;
    let listed = report(&desk).expect("a report");
    assert!(listed.moved > 0, "none moved");
    let paths: std::collections::HashSet<&str> = listed.rows.iter().map(|row| row.path.as_str()).collect();
    assert_eq!(paths.len(), listed.rows.len());
}

#[tokio::test]
async fn after_a_429_half_way_loading_goes_on_where_it_stopped() {
    let (sim, folder) = (site(1200).await, folder());
    let mut desk = looking_back(&sim, &folder).await;
    half_way(&sim, &mut desk, 2).await;
    faults(&sim, &["views=429-2"]);
    desk.until("the end of it", at_rest).await;
    let kept = report(&desk).expect("what came").answers;
    assert!(kept >= 2 && u64::from(kept) < ALL, "{kept}");
    desk.assert_shows("a goes on where it stopped");
    desk.assert_shows("! not all pages: ");
    let so_far = asked(&sim);
    assert_eq!(so_far, 1 + u64::from(kept) + 1);
    faults(&sim, &[]);
    desk.until("the limit in the ledger", |desk| desk.app.budget(RateLimited::Views).left() == 0).await;
    desk.keys("a");
    desk.assert_shows("No requests for page views are left on this computer this hour; the next is free in");
    assert_eq!(asked(&sim), so_far);
    desk.until("requests to be possible again", |desk| desk.app.budget(RateLimited::Views).left() > 0).await;
    agree(&mut desk, "a", "going on after").await;
    desk.until("all pages", is_whole).await;
    assert_eq!(asked(&sim), so_far + ALL - u64::from(kept));
}

#[tokio::test]
async fn esc_stops_half_way_what_came_is_listed_and_it_goes_on_from_there() {
    let (sim, folder) = (site(1200).await, folder());
    let mut desk = looking_back(&sim, &folder).await;
    half_way(&sim, &mut desk, 2).await;
    desk.assert_shows("of views");
    desk.assert_shows("Esc stops");
    desk.key(KeyCode::Esc);
    desk.until("the end of it", at_rest).await;
    let kept = report(&desk).expect("what came");
    let (rows, answers) = (kept.rows.len(), u64::from(kept.answers));
    assert!(!kept.complete && rows >= 500);
    assert_eq!(asked(&sim), 1 + answers);
    faults(&sim, &[]);
    agree(&mut desk, "a", "going on after").await;
    desk.until("all pages", is_whole).await;
    assert!(report(&desk).expect("all").rows.len() > rows);
    assert_eq!(asked(&sim), 1 + ALL);
}

#[tokio::test]
async fn after_a_crash_half_way_the_next_start_says_so_and_goes_on() {
    let (sim, folder) = (site(1200).await, folder());
    let mut desk = looking_back(&sim, &folder).await;
    half_way(&sim, &mut desk, 2).await;
    desk.crash().await;
    faults(&sim, &[]);
    let mut desk = looking_back(&sim, &folder).await;
    desk.until_shown("! not all pages: ").await;
    assert!(report(&desk).expect("what came").rows.len() >= 500, "all that was taken in is listed");
    let before = asked(&sim);
    agree(&mut desk, "a", "going on after").await;
    desk.until("all pages", is_whole).await;
    assert!(asked(&sim) <= before + ALL - 2, "what was there already was not asked for again");
    let listed = report(&desk).expect("all");
    assert_eq!(listed.totals.total.value(), Some(listed.sums().total));
}

#[tokio::test]
async fn a_load_goes_on_while_another_screen_and_another_range_are_looked_at() {
    let (sim, folder) = (site(1200).await, folder());
    let mut desk = looking_back(&sim, &folder).await;
    half_way(&sim, &mut desk, 1).await;
    desk.keys("]1");
    desk.until("the end of it", at_rest).await;
    desk.assert_shows("are loaded: ");
    faults(&sim, &[]);
    desk.keys("2");
    desk.until("the other range", |desk| desk.app.views.is_current() && report(desk).is_none()).await;
    desk.keys("[");
    desk.until("all of the first", is_whole).await;
    assert_eq!(asked(&sim), 2 + ALL);
}

#[tokio::test]
async fn two_weeks_compare_at_one_price_and_the_second_time_at_none() {
    let (sim, folder) = (site(1200).await, folder());
    let mut desk = looking_back(&sim, &folder).await;
    agree(&mut desk, "c", "About 6 requests").await;
    desk.until("a comparison", |desk| desk.app.views.is_comparing()).await;
    let cost = asked(&sim);
    assert!((1 + 2 * ALL - 1..=1 + 2 * ALL).contains(&cost), "{cost}");
    desk.assert_shows(" vs ");
    desk.assert_shows(": total ");
    desk.keys("w");
    desk.assert_shows("Movers by human");
    let Some(Dialog::Movers(movers)) = desk.app.dialogs.last() else { panic!("movers") };
    assert!(!movers.gained.is_empty() && !movers.lost.is_empty());
    desk.key(KeyCode::Esc);
    desk.keys("c");
    desk.until("no comparison", |desk| !desk.app.views.is_comparing()).await;
    desk.keys("c");
    desk.until("a comparison again", |desk| desk.app.views.is_comparing()).await;
    // The week before, too, is known; the one before that is not.
    desk.keys("[");
    desk.until_shown("No longer compared").await;
    assert!(is_whole(&desk));
    assert_eq!(asked(&sim), cost);
    desk.terminate().await;
    let mut desk = looking_back(&sim, &folder).await;
    desk.keys("c");
    desk.until("a comparison after a restart", |desk| desk.app.views.is_comparing()).await;
    assert_eq!(asked(&sim), cost);
}

#[tokio::test]
async fn a_week_up_to_today_is_compared_by_its_complete_days_and_every_view_of_it_agrees() {
    let (sim, folder) = (site(600).await, folder());
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.keys("2");
    desk.until_shown("page 1, rows 1–50, more →").await;
    let week = desk.app.views.query().range;
    agree(&mut desk, "c", "Load all pages of").await;
    desk.until("a comparison", |desk| desk.app.views.is_comparing() && at_rest(desk)).await;
    let cost = asked(&sim);
    desk.assert_shows(" complete days, ");
    desk.assert_shows("today so far: ");
    let comparison = desk.app.views.table.comparison().expect("two reports").clone();
    let ranges = comparison.ranges();
    assert_eq!((ranges.now, ranges.before), (week.first_days(6), week.step(-1).expect("a week").first_days(6)));
    assert_eq!(report(&desk).map(|listed| listed.range), Some(week), "the table has the range's own numbers");

    // Sorted by the change of the total: the column shows what it is sorted by.
    while desk.app.views.table.sorting().by != PageColumn::Change(Metric::Total) {
        desk.keys("s");
    }
    let change = |desk: &DashboardFixture, path: &str| {
        let figures = desk.app.views.table.figures(path).expect("listed");
        figures.change(Metric::Total).difference()
    };
    let listed: Vec<String> = desk.app.views.table.shown_pages().map(|row| row.path.to_string()).collect();
    let changes: Vec<ViewCount> = listed.iter().filter_map(|path| change(&desk, path)).collect();
    assert!(changes.is_sorted_by(|a, b| a >= b) && changes.len() > 500, "{}", changes.len());
    assert_eq!(desk.app.views.table.selected(), 0);
    let first = format!("+{}", docdeck::app::format::views(changes[0]));
    desk.assert_shows(&first);

    // Movers by total have the same numbers.
    desk.keys("wmm");
    desk.assert_shows("complete days, ");
    let Some(Dialog::Movers(movers)) = desk.app.dialogs.last() else { panic!("movers") };
    assert!(movers.gained.len() > 5);
    for (mover, _) in movers.gained.visible(250).chain(movers.lost.visible(250)) {
        assert_eq!(change(&desk, mover.path.as_str()), Some(mover.delta()), "{}", mover.path);
    }
    desk.key(KeyCode::Esc);

    // So does the export, of what a filter of the change passes.
    desk.keys("/Δ<-5%");
    desk.key(KeyCode::Enter);
    let shown: Vec<String> = desk.app.views.table.shown_pages().map(|row| row.path.to_string()).collect();
    assert!(!shown.is_empty() && shown.len() < listed.len());
    desk.keys("e");
    desk.key(KeyCode::Enter);
    desk.until_shown("written to").await;
    let name = format!(
        "docdeck-views-{}_{}-vs-{}_{}-filtered.csv",
        week.from(),
        week.to(),
        ranges.before.from(),
        ranges.before.to()
    );
    let text = std::fs::read_to_string(exports_in(folder.path()).join(name)).expect("written");
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers().expect("heads").clone();
    let column = |name: &str| heads.iter().position(|head| head == name).expect("a column");
    let (complete, before) = (column("total_complete_days"), column("total_before"));
    let (changed, status) = (column("change"), column("status"));
    let mut rows = 0;
    for (row, path) in reader.records().map(|row| row.expect("a row")).zip(&shown) {
        assert_eq!(row.get(0), Some(path.as_str()), "in the order shown");
        let number = |at: usize| row.get(at).and_then(|cell| cell.parse::<i64>().ok());
        let views = number(changed).expect("a number");
        let (now, before) = (number(complete), number(before));
        assert_eq!(views, now.unwrap_or(0) - before.unwrap_or(0), "{path}");
        assert_eq!(row.get(status), Some(if now.is_none() { "gone" } else { "" }), "{path}");
        assert_eq!(change(&desk, path).map(|views| views.to_string()), Some(views.to_string()));
        rows += 1;
    }
    assert_eq!(rows, shown.len());

    // Cached, it opens again without a request.
    desk.keys("cc");
    desk.until("the comparison again", |desk| desk.app.views.is_comparing() && at_rest(desk)).await;
    assert_eq!(asked(&sim), cost);
}

#[tokio::test]
async fn the_trend_says_its_price_fills_in_and_opens_free_the_second_time() {
    let (sim, folder) = (site(60).await, folder());
    let mut desk = looking_back(&sim, &folder).await;
    desk.keys("t");
    desk.until_shown("0 of 7 days known").await;
    assert_eq!(asked(&sim), 1, "looking costs nothing");
    agree(&mut desk, "a", "7 of 7 days are not known or not fresh: 7 requests, 99 left here.").await;
    desk.until_shown("7 of 7 days known").await;
    desk.until("rest", |desk| desk.app.views.totals.still_to_come() == 0).await;
    assert_eq!(asked(&sim), 8);
    desk.keys("a");
    desk.assert_shows("nothing to ask for");
    desk.key(KeyCode::Esc);
    desk.keys("t");
    desk.assert_shows("7 of 7 days known");
    desk.terminate().await;
    let mut desk = looking_back(&sim, &folder).await;
    desk.keys("t");
    desk.until_shown("7 of 7 days known").await;
    assert_eq!(asked(&sim), 8);
}

#[tokio::test]
async fn a_trend_that_fails_half_way_keeps_what_came_and_asks_for_the_rest_only() {
    let (sim, folder) = (site(60).await, folder());
    let mut desk = looking_back(&sim, &folder).await;
    faults(&sim, &["views=latency-60"]);
    desk.keys("t");
    agree(&mut desk, "a", "7 requests").await;
    desk.until("some days", |desk| desk.app.views.totals.still_to_come() < 6).await;
    faults(&sim, &["views=500"]);
    desk.until_shown("What came is kept; a asks for the rest.").await;
    faults(&sim, &[]);
    desk.keys("a");
    desk.until("the price of the rest", |desk| desk.app.dialogs.len() == 2).await;
    assert!(!desk.shows("7 of 7 days are not known"));
    desk.keys("y");
    desk.until_shown("7 of 7 days known").await;
    assert_eq!(asked(&sim), 1 + 7 + 1, "each day once, and the one that failed");
}

#[tokio::test]
async fn offline_an_old_report_is_listed_with_its_age_and_asking_anew_leaves_it_there() {
    let (sim, folder) = (site(120).await, folder());
    let mut desk = looking_back(&sim, &folder).await;
    load_all(&mut desk).await;
    desk.terminate().await;
    let so_far = asked(&sim);
    faults(&sim, &["views=refuse"]);
    let mut desk = looking_back(&sim, &folder).await;
    assert!(is_whole(&desk));
    desk.assert_shows("all pages as of");
    desk.go_on_for(Duration::from_millis(50)).await;
    assert_eq!(asked(&sim), so_far, "nothing was even tried");
    desk.keys("r");
    desk.until("an attempt", |desk| {
        desk.app.views.all.trouble(desk.app.views.query().range).is_some() || !desk.app.dialogs.is_empty()
    })
    .await;
    desk.keys("y");
    desk.until("the failure", |desk| desk.app.views.all.trouble(desk.app.views.query().range).is_some()).await;
    assert!(is_whole(&desk));
    desk.assert_shows("all pages as of");
}

#[tokio::test]
async fn with_no_requests_left_the_screen_says_what_can_still_be_seen() {
    let (sim, folder) = (site(120).await, folder());
    faults(&sim, &["views=429-600"]);
    let mut desk = DashboardFixture::begin(&sim, folder.path()).await;
    desk.keys("2");
    desk.until_shown("Not loaded.").await;
    desk.assert_shows("The trend (t), what is kept (H) and");
    desk.assert_shows("cached range can still be seen.");
    desk.until("the limit in the ledger", |desk| desk.app.budget(RateLimited::Views).left() == 0).await;
    desk.keys("a");
    desk.until_shown("this computer this hour; the next is free in 10m").await;
    assert_eq!(asked(&sim), 1);
}
