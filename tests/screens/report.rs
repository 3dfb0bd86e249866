//! The table of all pages of a range: in every order and shape, alone and compared.

use crate::screen_fixture::{ScreenFixture, counts, now};
use crate::{render, snapshots, style_of, text};
use docdeck::app::App;
use docdeck::model::report::Report;
use docdeck::model::text::CleanText;
use docdeck::model::views::{Count, Counts, PageRow, ViewsPage};
use docdeck::ui::{Depth, Theme, draw};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use std::sync::Arc;

fn row(path: &str, human: i64, ai: i64) -> PageRow {
    PageRow { path: CleanText::line(path), counts: counts(human, ai) }
}

fn pages() -> Vec<PageRow> {
    let mut rows = vec![
        row("/quickstart", 9120, 4310),
        row("/api/create-job", 3002, 7744),
        row("/guides/deploying/to-your-own-cluster/with-a-custom-certificate-authority", 2800, 900),
        row("/api", 1500, 1500),
        row("/ja/クイックスタート", 900, 30),
        row("/guides/deploying/aws", 620, 80),
        row("/api/list-jobs", 410, 390),
    ];
    rows.extend((1..=60).map(|n| row(&format!("/reference/endpoint-{n}"), 300 / n, 600 / n % 50)));
    rows.push(row("/never-read", 0, 0));
    rows
}

fn earlier() -> Vec<PageRow> {
    let mut rows = vec![
        row("/quickstart", 8760, 2900),
        row("/api/create-job", 3002, 0),
        row("/api", 2100, 700),
        row("/ja/クイックスタート", 30, 30),
        row("/api/list-jobs", 410, 390),
        row("/guides/removed-page", 1200, 400),
        row("/guides/removed-too", 12, 0),
    ];
    rows.extend((1..=60).map(|n| row(&format!("/reference/endpoint-{n}"), 250 / n, 900 / n % 40)));
    rows
}

fn report(world: &ScreenFixture, rows: Vec<PageRow>, complete: bool) -> Arc<Report> {
    let sums = rows.iter().fold((0, 0), |(human, ai), row| {
        let add = |sum: i64, count: &Count| match count {
            Count::Known(n) => sum.saturating_add((*n).max(0)),
            _ => sum,
        };
        (add(human, &row.counts.human), add(ai, &row.counts.ai))
    });
    let totals =
        if complete { counts(sums.0, sums.1.min(i64::MAX - sums.0)) } else { counts(sums.0 + 5000, sums.1 + 2000) };
    let answer = ViewsPage { totals, rows, has_more: Some(!complete) };
    let mut report = Report::begin(world.app.views.query().range, answer, complete, now());
    report.moved = 2;
    Arc::new(report)
}

/// All pages of the range are listed.
fn listed(world: &mut ScreenFixture) {
    world.jobs();
    world.views(50, true);
    let now = report(world, pages(), true);
    world.app.views.table.show_report(now, None);
}

/// The same, compared with the range before.
fn compared(world: &mut ScreenFixture) {
    listed(world);
    let (now, before) = (report(world, pages(), true), report(world, earlier(), true));
    world.app.views.table.show_report(now, Some(before));
}

#[test]
fn all_pages_by_their_totals() {
    snapshots("report", |world| {
        listed(world);
        world.keys("j j");
    });
}

#[test]
fn pages_that_are_not_all_have_no_rank() {
    snapshots("report_incomplete", |world| {
        world.jobs();
        world.views(50, true);
        let now = report(world, pages(), false);
        world.app.views.table.show_report(now, None);
        world.keys("j");
    });
}

#[test]
fn pages_sorted_by_their_share() {
    snapshots("report_sorted", |world| {
        listed(world);
        world.keys("s S j");
    });
}

#[test]
fn pages_while_their_filter_is_typed() {
    snapshots("report_filter_typed", |world| {
        listed(world);
        world.keys("/");
        world.paste("api ai>50% human>x");
    });
}

#[test]
fn pages_that_pass_a_filter_and_are_marked() {
    snapshots("report_filtered", |world| {
        listed(world);
        world.keys("/");
        world.paste("endpoint human>20");
        world.keys("Enter v v");
    });
}

#[test]
fn a_filter_that_no_page_passes() {
    snapshots("report_no_match", |world| {
        compared(world);
        world.keys("/");
        world.paste("no-such-page");
        world.keys("Enter");
    });
}

#[test]
fn pages_folded_into_folders() {
    snapshots("report_tree", |world| {
        listed(world);
        world.keys("z");
    });
}

#[test]
fn a_tree_with_open_folders() {
    snapshots("report_tree_open", |world| {
        compared(world);
        world.keys("z g j l j j j l k v");
    });
}

#[test]
fn pages_compared_with_the_range_before() {
    snapshots("report_compared", compared);
}

#[test]
fn a_comparison_with_a_range_that_is_not_all_loaded() {
    snapshots("report_compared_incomplete", |world| {
        listed(world);
        let (now, before) = (report(world, pages(), true), report(world, earlier(), false));
        world.app.views.table.show_report(now, Some(before));
        world.keys("s s s s");
    });
}

#[test]
fn pages_by_what_changed_most() {
    snapshots("report_by_change", |world| {
        compared(world);
        world.keys("s s s s S");
    });
}

#[test]
fn a_comparison_of_shares() {
    snapshots("report_compared_share", |world| {
        compared(world);
        world.keys("m");
    });
}

#[test]
fn bars_on_a_log_scale() {
    snapshots("report_log", |world| {
        listed(world);
        world.keys("x");
    });
}

#[test]
fn bars_of_ai_views_on_a_log_scale() {
    snapshots("report_log_ai", |world| {
        listed(world);
        world.keys("m m m x");
    });
}

#[test]
fn bars_of_the_share() {
    snapshots("report_share", |world| {
        listed(world);
        world.keys("m");
    });
}

#[test]
fn numbers_that_are_wide_or_odd_are_shown_as_received() {
    snapshots("report_odd", |world| {
        world.jobs();
        world.views(50, true);
        let odd = |path: &str, human: Count, ai: Count, total: Count| PageRow {
            path: CleanText::line(path),
            counts: Counts { human, ai, total },
        };
        let known = Count::Known;
        let fraction = |literal: &str| Count::from_literal(literal).expect("a number");
        let huge = Count::Odd(CleanText::line("99999999999999999999"));
        let rows = vec![
            odd("/most", known(i64::MAX), known(0), known(i64::MAX)),
            odd("/huge/a", huge, known(1), known(1)),
            odd("/huge/b", known(i64::MAX), known(1), known(7)),
            odd("/huge/c", known(i64::MAX), known(1), known(7)),
            odd("/sum", known(10), known(5), known(99)),
            odd("/negative", known(-3), known(5), known(2)),
            odd("/missing", Count::Missing, known(7), known(7)),
            odd("/fraction", fraction("1.5"), known(1), fraction("2.5")),
        ];
        let now = report(world, rows, true);
        world.app.views.table.show_report(now, None);
        world.keys("z");
    });
}

#[test]
fn sorting_one_page_of_rows_says_what_it_needs() {
    let mut world = ScreenFixture::new((80, 24));
    world.jobs();
    world.views(50, true);
    for (key, said) in [("s", "Sorting needs all pages: a loads them."), ("/", "Filtering needs all pages: a loads")] {
        world.keys(key);
        let shown = text(&render(&world.app, Depth::None));
        assert!(shown.contains(said), "{shown}");
        assert!(shown.contains("in the service's order"), "{shown}");
    }
    world.keys("z");
    assert!(text(&render(&world.app, Depth::None)).contains("Folding into a tree needs all pages"));
    world.keys("m m x");
    assert!(text(&render(&world.app, Depth::None)).contains("log"), "bars of one answer can be had on any scale");
}

#[test]
fn pages_that_are_gone_are_muted_and_have_no_bar() {
    let mut world = ScreenFixture::new((160, 48));
    compared(&mut world);
    world.keys("/");
    world.paste("removed-too");
    world.keys("Enter");
    let mut other = ScreenFixture::new((160, 48));
    compared(&mut other);
    other.keys("/");
    other.paste("removed");
    other.keys("Enter");
    let (alone, both) = (render(&world.app, Depth::Many), render(&other.app, Depth::Many));
    let line = |shown: &str, wanted: &str| shown.lines().find(|line| line.contains(wanted)).map(str::to_owned);
    let alone = line(&text(&alone), "/guides/removed-too").expect("it is listed");
    assert!(alone.contains("(12)") && alone.contains("gone") && !alone.contains(['█', '▒']), "{alone}");
    let muted = Theme::new(Depth::Many).muted.fg;
    assert_eq!(style_of(&both, "/guides/removed-too").fg, muted, "one that is not selected");
}

#[test]
fn enter_opens_and_closes_a_folder_and_the_footer_says_so() {
    let mut world = ScreenFixture::new((160, 48));
    listed(&mut world);
    world.keys("z g j");
    let closed = world.app.views.table.len();
    let shown = |world: &ScreenFixture| text(&render(&world.app, Depth::None));
    assert!(shown(&world).contains("Enter open folder"));
    world.keys("Enter");
    assert_eq!((world.app.views.table.len(), world.app.dialogs.len()), (closed + 2, 0));
    assert!(shown(&world).contains("Enter close folder"));
    world.keys("h");
    assert_eq!(world.app.views.table.len(), closed);
    world.effects.clear();
    world.keys("l l h");
    assert_eq!(world.app.views.table.selected(), 1, "back on the folder");
    assert!(world.effects.is_empty(), "no page of rows was turned: {:?}", world.effects);
}

#[test]
fn escape_takes_away_the_marks_and_then_the_filter() {
    let mut world = ScreenFixture::new((120, 40));
    listed(&mut world);
    world.keys("/");
    world.paste("api");
    world.keys("Enter v");
    assert_eq!((world.app.views.table.marked(), world.app.views.table.len()), (1, 3));
    world.keys("Esc");
    assert_eq!((world.app.views.table.marked(), world.app.views.table.len()), (0, 3));
    world.keys("Esc");
    assert_eq!(world.app.views.table.len(), 68);
    assert_eq!(world.app.filter_text(), "");
    world.keys("/");
    world.paste("api");
    world.keys("Esc");
    assert_eq!(world.app.views.table.len(), 68, "as on the jobs screen, Esc clears what is typed");
}

#[test]
fn the_filters_of_jobs_and_of_pages_are_two() {
    let mut world = ScreenFixture::new((120, 40));
    listed(&mut world);
    world.keys("/");
    world.paste("api");
    world.keys("Enter 1");
    assert_eq!(world.app.filter_text(), "");
    assert!(!world.app.jobs.is_empty() && world.app.jobs.filter().is_empty());
    world.keys("2");
    assert_eq!(world.app.filter_text(), "api");
}

#[test]
fn a_table_of_any_shape_is_drawn_at_any_size_and_in_ascii() {
    let draw_at = |app: &App, theme: &Theme, size: (u16, u16)| {
        let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).expect("a test terminal");
        terminal.draw(|frame| draw(frame, app, theme, now())).expect("a frame");
        text(terminal.backend().buffer())
    };
    for keys in ["", "z l j l", "x", "m", "m m x", "s s v", "/ a", "/ h > x", "/ z q"] {
        for columns in [40, 41, 59, 60, 69, 70, 79, 80, 119, 120, 159, 160, 300] {
            let mut world = ScreenFixture::new((columns, 12));
            compared(&mut world);
            world.keys(keys);
            let ascii = Theme { ascii: true, ..Theme::new(Depth::Many) };
            let shown = draw_at(&world.app, &ascii, (columns, 12));
            assert!(shown.is_ascii(), "{keys:?} at {columns}:\n{shown}");
        }
    }
}

#[test]
fn pages_that_are_gone_alone() {
    snapshots("report_gone", |world| {
        compared(world);
        world.keys("/ g o n e Enter");
    });
}
