//! The placement of list and detail pane: at sizes between and beyond the usual ones, with the detail below, and
//! hidden.

use super::screen_fixture::ScreenFixture;
use super::{render, text};
use docdeck::ui::Depth;

fn snapshots(name: &str, sizes: &[(u16, u16)], build: impl Fn(&mut ScreenFixture)) {
    for &(columns, rows) in sizes {
        let mut fixture = ScreenFixture::new((columns, rows));
        build(&mut fixture);
        insta::assert_snapshot!(format!("{name}_{columns}x{rows}"), text(&render(&fixture.app, Depth::None)));
    }
}

#[test]
fn jobs_at_unusual_sizes_with_the_detail_where_it_fits() {
    snapshots("jobs_full", &[(40, 50), (60, 20), (90, 50), (300, 100)], ScreenFixture::jobs);
}

#[test]
fn no_jobs_with_the_detail_below() {
    snapshots("jobs_empty", &[(90, 50)], ScreenFixture::no_jobs);
}

#[test]
fn an_open_job_below_the_list() {
    snapshots("job_open", &[(90, 50)], |fixture| {
        fixture.jobs();
        fixture.long_thread();
        fixture.keys("Enter j j");
    });
}

#[test]
fn a_key_hides_the_detail() {
    snapshots("jobs_hidden", &[(90, 50), (160, 48)], |fixture| {
        fixture.jobs();
        fixture.keys("i");
    });
}

#[test]
fn page_views_at_unusual_sizes() {
    snapshots("views_full", &[(60, 20), (90, 50), (300, 100)], |fixture| fixture.views(50, true));
}
