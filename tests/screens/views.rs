//! Page views of one answer, and page details; `report` has the tables of all pages.

use crate::screen_fixture::{ScreenFixture, now};
use crate::{render, snapshots, text};
use docdeck::app::Msg;
use docdeck::model::impact::PageHistory;
use docdeck::model::load::Timed;
use docdeck::model::views::ViewsPage;
use docdeck::ui::Depth;

#[test]
fn views_before_the_first_answer() {
    snapshots("views_loading", |fixture| {
        fixture.jobs();
        fixture.keys("2");
    });
}

#[test]
fn views_without_any_answer() {
    snapshots("views_failed", |fixture| {
        fixture.jobs();
        fixture.views_fail();
    });
}

#[test]
fn views_of_an_empty_range() {
    snapshots("views_empty", |fixture| {
        fixture.jobs();
        fixture.views(0, false);
    });
}

#[test]
fn complete_views() {
    snapshots("views_full", |fixture| {
        fixture.jobs();
        fixture.views(50, true);
        fixture.keys("j j");
    });
}

#[test]
fn old_views_after_a_failed_reload() {
    snapshots("views_stale", |fixture| {
        fixture.jobs();
        fixture.views(50, true);
        fixture.keys("r");
        fixture.views_fail_again();
    });
}

#[test]
fn views_of_the_previous_range_while_another_one_loads() {
    snapshots("views_switching", |fixture| {
        fixture.jobs();
        fixture.views(50, true);
        fixture.keys("d");
    });
}

#[test]
fn views_with_numbers_that_do_not_add_up() {
    snapshots("views_odd", |fixture| {
        fixture.jobs();
        fixture.odd_views();
    });
}

#[test]
fn page_details_while_the_history_is_read() {
    snapshots("card_reading", |fixture| {
        fixture.jobs();
        fixture.views(50, true);
        fixture.keys("Enter");
    });
}

#[test]
fn complete_page_details() {
    snapshots("card_full", |fixture| {
        fixture.jobs();
        fixture.views(50, true);
        fixture.keys("Enter");
        fixture.page_with_a_past();
        fixture.keys("j");
    });
}

#[test]
fn page_details_among_all_pages_scrolled_to_the_end() {
    snapshots("card_ranked", |fixture| {
        fixture.jobs();
        fixture.views(50, true);
        fixture.all_pages();
        fixture.keys("Enter");
        fixture.page_with_a_past();
        fixture.keys("G");
    });
}

#[test]
fn page_details_without_history() {
    snapshots("card_empty", |fixture| {
        fixture.jobs();
        fixture.views(50, true);
        fixture.keys("Enter");
        fixture.page_history(PageHistory::default());
    });
}

#[test]
fn page_details_with_numbers_that_do_not_add_up() {
    snapshots("card_odd", |fixture| {
        fixture.jobs();
        fixture.views(50, true);
        fixture.keys("Enter");
        fixture.page_with_odd_numbers();
    });
}

#[test]
fn a_page_whose_answer_is_late_never_shows_zero() {
    let mut fixture = ScreenFixture::new((80, 24));
    fixture.jobs();
    fixture.keys("2");
    let shown = text(&render(&fixture.app, Depth::None));
    assert!(shown.contains("Loading"), "{shown}");
    assert!(!shown.contains("human 0"));
    let empty = Timed { value: ViewsPage::default(), as_of: now() };
    fixture.handle(Msg::Views { query: fixture.app.views.query(), result: Ok(empty), old: None });
    let shown = text(&render(&fixture.app, Depth::None));
    assert!(shown.contains("human ?"), "counts that are missing are not 0: {shown}");
}
