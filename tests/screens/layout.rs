//! The position of list and detail pane at sizes between and beyond the usual ones: the detail pane below the list, and
//! hidden.

use crate::checks;
use crate::screen_fixture::ScreenFixture;
use crate::{LARGE, Size, assert_snapshot, render, text};
use docdeck::tui::draw::ColorDepth;
use ratatui::buffer::Buffer;

/// Wide and high enough for the detail pane below the list, but not beside it.
const HIGH: Size = (90, 50);

fn snapshots(name: &str, sizes: &[Size], build: impl Fn(&mut ScreenFixture)) {
    for size in sizes {
        let shown = text(&draw_at(*size, &build));
        assert_snapshot(&format!("{name}_{}x{}", size.0, size.1), &shown);
    }
}

fn draw_at(size: Size, build: impl Fn(&mut ScreenFixture)) -> Buffer {
    let mut fixture = ScreenFixture::new(size);
    build(&mut fixture);
    render(&fixture.app, ColorDepth::None)
}

fn open_scrolled_job(fixture: &mut ScreenFixture) {
    fixture.load_jobs();
    fixture.load_long_thread();
    fixture.press_keys("Enter j j");
}

fn hide_detail(fixture: &mut ScreenFixture) {
    fixture.load_jobs();
    fixture.press_keys("i");
}

fn load_views(fixture: &mut ScreenFixture) {
    fixture.load_jobs();
    fixture.load_views(50, true);
}

#[test]
fn the_detail_pane_is_below_the_list_in_a_high_terminal() {
    snapshots("jobs_full", &[HIGH], ScreenFixture::load_jobs);
}

#[test]
fn pressing_i_hides_the_detail_pane() {
    snapshots("jobs_hidden", &[LARGE], hide_detail);
    let shown = text(&draw_at(HIGH, hide_detail));
    assert!(shown.contains("Dismissed 1") && !shown.contains("after 6m 00s"), "{shown}");
}

#[test]
fn unusual_sizes_cut_no_text_off() {
    type Build = fn(&mut ScreenFixture);
    let scenes: [(&str, &str, Build); 5] = [
        ("jobs", "Needs you 3", ScreenFixture::load_jobs),
        ("no jobs", "No jobs yet.", ScreenFixture::load_no_jobs),
        ("job", "Fix broken links in /api", open_scrolled_job),
        ("hidden detail", "Needs you 3", hide_detail),
        ("views", "1 of 50", load_views),
    ];
    for (name, expected, build) in scenes {
        let sizes = [(40, 50), (60, 20), HIGH, LARGE, (300, 100)];
        checks::assert_readable(name, &[expected], &sizes.map(|size| draw_at(size, build)));
    }
}
