//! Where list and detail stand: at sizes between and beyond the usual ones, with the detail below, and hidden.

use super::screen_fixture::ScreenFixture;
use super::{render, text};
use docdeck::ui::Depth;

fn snapshots(name: &str, sizes: &[(u16, u16)], build: impl Fn(&mut ScreenFixture)) {
    for &(columns, rows) in sizes {
        let mut world = ScreenFixture::new((columns, rows));
        build(&mut world);
        insta::assert_snapshot!(format!("{name}_{columns}x{rows}"), text(&render(&world.app, Depth::None)));
    }
}

#[test]
fn jobs_at_odd_sizes_with_the_detail_where_it_has_room() {
    snapshots("jobs_full", &[(40, 50), (60, 20), (90, 50), (300, 100)], ScreenFixture::jobs);
}

#[test]
fn no_jobs_with_the_detail_below() {
    snapshots("jobs_empty", &[(90, 50)], ScreenFixture::nothing_known);
}

#[test]
fn a_job_that_is_open_below_the_list() {
    snapshots("job_open", &[(90, 50)], |world| {
        world.jobs();
        world.long_thread();
        world.keys("Enter j j");
    });
}

#[test]
fn the_detail_is_hidden_by_a_key() {
    snapshots("jobs_hidden", &[(90, 50), (160, 48)], |world| {
        world.jobs();
        world.keys("i");
    });
}

#[test]
fn page_views_at_odd_sizes() {
    snapshots("views_full", &[(60, 20), (90, 50), (300, 100)], |world| world.views(50, true));
}
