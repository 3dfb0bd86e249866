//! The views of one answer, and a page's card; reports of all pages are `report`'s.

use crate::screen_fixture::{ScreenFixture, now};
use crate::{render, snapshots, text};
use docdeck::app::Msg;
use docdeck::model::impact::PageHistory;
use docdeck::model::load::Timed;
use docdeck::model::views::ViewsPage;
use docdeck::ui::Depth;

#[test]
fn views_before_the_first_answer() {
    snapshots("views_loading", |world| {
        world.jobs();
        world.keys("2");
    });
}

#[test]
fn views_without_any_answer() {
    snapshots("views_failed", |world| {
        world.jobs();
        world.views_fail();
    });
}

#[test]
fn views_of_an_empty_range() {
    snapshots("views_empty", |world| {
        world.jobs();
        world.views(0, false);
    });
}

#[test]
fn views_in_full() {
    snapshots("views_full", |world| {
        world.jobs();
        world.views(50, true);
        world.keys("j j");
    });
}

#[test]
fn views_that_are_old_since_asking_again_failed() {
    snapshots("views_stale", |world| {
        world.jobs();
        world.views(50, true);
        world.keys("r");
        world.views_fail_again();
    });
}

#[test]
fn views_of_the_range_before_while_another_one_loads() {
    snapshots("views_switching", |world| {
        world.jobs();
        world.views(50, true);
        world.keys("d");
    });
}

#[test]
fn views_with_numbers_that_do_not_add_up() {
    snapshots("views_odd", |world| {
        world.jobs();
        world.odd_views();
    });
}

#[test]
fn a_pages_card_while_its_past_is_read() {
    snapshots("card_reading", |world| {
        world.jobs();
        world.views(50, true);
        world.keys("Enter");
    });
}

#[test]
fn a_pages_card_in_full() {
    snapshots("card_full", |world| {
        world.jobs();
        world.views(50, true);
        world.keys("Enter");
        world.page_with_a_past();
        world.keys("j");
    });
}

#[test]
fn a_pages_card_among_all_pages_scrolled_to_its_end() {
    snapshots("card_ranked", |world| {
        world.jobs();
        world.views(50, true);
        world.all_pages();
        world.keys("Enter");
        world.page_with_a_past();
        world.keys("G");
    });
}

#[test]
fn a_pages_card_without_a_past() {
    snapshots("card_empty", |world| {
        world.jobs();
        world.views(50, true);
        world.keys("Enter");
        world.page_history(PageHistory::default());
    });
}

#[test]
fn a_pages_card_with_numbers_that_do_not_add_up() {
    snapshots("card_odd", |world| {
        world.jobs();
        world.views(50, true);
        world.keys("Enter");
        world.page_with_odd_numbers();
    });
}

#[test]
fn a_page_whose_answer_is_late_never_shows_zero() {
    let mut world = ScreenFixture::new((80, 24));
    world.jobs();
    world.keys("2");
    let shown = text(&render(&world.app, Depth::None));
    assert!(shown.contains("Loading"), "{shown}");
    assert!(!shown.contains("human 0"));
    let empty = Timed { value: ViewsPage::default(), as_of: now() };
    world.tell(Msg::Views { query: world.app.views.query(), result: Ok(empty), old: None });
    let shown = text(&render(&world.app, Depth::None));
    assert!(shown.contains("human ?"), "counts that are missing are not 0: {shown}");
}
