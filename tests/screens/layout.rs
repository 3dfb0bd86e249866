//! The position of list and detail pane: at sizes between and beyond the usual sizes, with the detail pane below the
//! list, and with the detail pane hidden.

use super::screen_fixture::ScreenFixture;
use super::{render, text};
use docdeck::tui::draw::ColorDepth;

fn snapshots(name: &str, sizes: &[(u16, u16)], build: impl Fn(&mut ScreenFixture)) {
    for &(columns, rows) in sizes {
        let mut fixture = ScreenFixture::new((columns, rows));
        build(&mut fixture);
        insta::assert_snapshot!(format!("{name}_{columns}x{rows}"), text(&render(&fixture.app, ColorDepth::None)));
    }
}

#[test]
fn jobs_at_unusual_sizes_have_the_detail_pane_where_it_fits() {
    snapshots("jobs_full", &[(40, 50), (60, 20), (90, 50), (300, 100)], ScreenFixture::load_jobs);
}

#[test]
fn no_jobs_with_the_detail_pane_below_the_list() {
    snapshots("jobs_empty", &[(90, 50)], ScreenFixture::load_no_jobs);
}

#[test]
fn an_open_job_below_the_list() {
    snapshots("job_open", &[(90, 50)], |fixture| {
        fixture.load_jobs();
        fixture.load_long_thread();
        fixture.press_keys("Enter j j");
    });
}

#[test]
fn pressing_i_hides_the_detail_pane() {
    snapshots("jobs_hidden", &[(90, 50), (160, 48)], |fixture| {
        fixture.load_jobs();
        fixture.press_keys("i");
    });
}

#[test]
fn page_views_at_unusual_sizes() {
    snapshots("views_full", &[(60, 20), (90, 50), (300, 100)], |fixture| fixture.load_views(50, true));
}
