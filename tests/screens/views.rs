//! The page views of a single response, and page details. The module `report` tests tables of all pages.

use crate::screen_fixture::{ScreenFixture, now};
use crate::{LARGE, SMALL, WIDE, render, snapshots, text};
use docdeck::model::impact::PageHistory;
use docdeck::model::load::Timed;
use docdeck::model::views::ViewsResponse;
use docdeck::tui::draw::ColorDepth;
use docdeck::tui::{Msg, ViewsMsg};

#[test]
fn views_before_the_first_response() {
    snapshots("views_loading", &[], &["a load all"], |fixture| {
        fixture.load_jobs();
        fixture.press_keys("2");
    });
}

#[test]
fn views_without_any_response() {
    snapshots(
        "views_failed",
        &[],
        &["Not loaded. The service can't be reached: no network. Press r to try again."],
        |fixture| {
            fixture.load_jobs();
            fixture.load_failing_views();
        },
    );
}

#[test]
fn views_of_an_empty_range() {
    snapshots("views_empty", &[], &["No page was viewed in this range.", "no rows"], |fixture| {
        fixture.load_jobs();
        fixture.load_views(0, false);
    });
}

#[test]
fn complete_views() {
    snapshots("views_full", &[SMALL], &["? help"], |fixture| {
        fixture.load_jobs();
        fixture.load_views(50, true);
        fixture.press_keys("j j");
    });
}

#[test]
fn old_views_after_a_failed_reload() {
    snapshots("views_stale", &[], &["! The service can't be reached: no network."], |fixture| {
        fixture.load_jobs();
        fixture.load_views(50, true);
        fixture.press_keys("r");
        fixture.fail_views_request();
    });
}

#[test]
fn views_of_the_previous_range_while_another_one_loads() {
    snapshots("views_switching", &[], &["of 50"], |fixture| {
        fixture.load_jobs();
        fixture.load_views(50, true);
        fixture.press_keys("d");
    });
}

#[test]
fn views_with_numbers_that_do_not_add_up() {
    snapshots("views_mismatch", &[], &["1 of 4", "human 20"], |fixture| {
        fixture.load_jobs();
        fixture.load_odd_views();
    });
}

#[test]
fn page_details_while_the_history_is_read() {
    snapshots("page_details_loading", &[], &["change unknown"], |fixture| {
        fixture.load_jobs();
        fixture.load_views(50, true);
        fixture.press_keys("Enter");
    });
}

#[test]
fn complete_page_details() {
    snapshots("page_details", &[SMALL], &["Reports"], |fixture| {
        fixture.load_jobs();
        fixture.load_views(50, true);
        fixture.press_keys("Enter");
        fixture.load_long_page_history();
        fixture.press_keys("j");
    });
}

#[test]
fn page_details_among_all_pages_scrolled_to_the_end() {
    snapshots("page_details_ranked", &[], &["Enter go to job"], |fixture| {
        fixture.load_jobs();
        fixture.load_views(50, true);
        fixture.show_all_pages();
        fixture.press_keys("Enter");
        fixture.load_long_page_history();
        fixture.press_keys("G");
    });
}

#[test]
fn page_details_with_a_trend_and_reports() {
    snapshots("page_details_trend", &[WIDE, LARGE], &["Reports"], |fixture| {
        fixture.load_jobs();
        fixture.load_views(50, true);
        fixture.press_keys("Enter");
        fixture.load_daily_page_history();
    });
}

#[test]
fn page_details_without_history() {
    snapshots("page_details_empty", &[], &["c in the list"], |fixture| {
        fixture.load_jobs();
        fixture.load_views(50, true);
        fixture.press_keys("Enter");
        fixture.load_page_history(PageHistory::default());
    });
}

#[test]
fn page_details_with_numbers_that_do_not_add_up() {
    snapshots("page_details_mismatch", &[], &["Reports"], |fixture| {
        fixture.load_jobs();
        fixture.load_views(50, true);
        fixture.press_keys("Enter");
        fixture.load_odd_page_history();
    });
}

#[test]
fn missing_views_are_never_shown_as_zero() {
    let mut fixture = ScreenFixture::new((80, 24));
    fixture.load_jobs();
    fixture.press_keys("2");
    let shown = text(&render(&fixture.app, ColorDepth::None));
    assert!(shown.contains("Loading"), "{shown}");
    assert!(!shown.contains("human 0"));
    let empty = Timed { value: ViewsResponse::default(), as_of: now() };
    fixture.handle(Msg::Views(ViewsMsg::Loaded { query: fixture.app.views.query(), result: Ok(empty), old: None }));
    let shown = text(&render(&fixture.app, ColorDepth::None));
    assert!(shown.contains("human ?"), "counts that are missing are not 0: {shown}");
}
