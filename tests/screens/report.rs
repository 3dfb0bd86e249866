//! The table of all pages of a range: in every order and layout, alone and compared.

use crate::screen_fixture::{ScreenFixture, counts, now};
use crate::{render, snapshots, style_of, text};
use docdeck::model::period::DateRange;
use docdeck::model::report::Report;
use docdeck::model::text::CleanText;
use docdeck::model::views::{Count, Counts, PageRow, ViewsResponse};
use docdeck::tui::App;
use docdeck::tui::draw::{ColorDepth, Theme, draw};
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

fn pages_of_previous_period() -> Vec<PageRow> {
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

fn report(range: DateRange, rows: Vec<PageRow>, complete: bool) -> Arc<Report> {
    let sums = rows.iter().fold((0, 0), |(human, ai), row| {
        let add = |sum: i64, count: &Count| match count {
            Count::Known(n) => sum.saturating_add((*n).max(0)),
            _ => sum,
        };
        (add(human, &row.counts.human), add(ai, &row.counts.ai))
    });
    let totals =
        if complete { counts(sums.0, sums.1.min(i64::MAX - sums.0)) } else { counts(sums.0 + 5000, sums.1 + 2000) };
    let response = ViewsResponse { totals, rows, has_more: Some(!complete) };
    let mut report = Report::from_first_response(range, response, complete, now());
    report.duplicates = 2;
    Arc::new(report)
}

/// Shows all pages of the range.
fn show_all_pages(fixture: &mut ScreenFixture) {
    fixture.load_jobs();
    fixture.load_views(50, true);
    let current_report = report(fixture.app.views.query().range, pages(), true);
    fixture.app.views.table.show_report(current_report, None);
}

/// Shows all pages of the range, compared with the previous period.
fn show_comparison(fixture: &mut ScreenFixture) {
    show_comparison_with(fixture, true);
}

/// Shows all pages of the range, compared with all or some pages of the previous period.
fn show_comparison_with(fixture: &mut ScreenFixture, is_previous_complete: bool) {
    show_all_pages(fixture);
    let shown = fixture.app.views.query().range;
    let previous = shown.step(-1).expect("a range");
    let current_report = report(shown, pages(), true);
    let previous_report = report(previous, pages_of_previous_period(), is_previous_complete);
    fixture.app.views.table.show_report(current_report, Some(previous_report));
}

#[test]
fn all_pages_by_their_totals() {
    snapshots("report", &[], &["of 68"], |fixture| {
        show_all_pages(fixture);
        fixture.press_keys("j j");
    });
}

#[test]
fn pages_of_a_partial_report_have_no_rank() {
    snapshots("report_incomplete", &[], &["! partial: 68 rows; press a to resume"], |fixture| {
        fixture.load_jobs();
        fixture.load_views(50, true);
        let current_report = report(fixture.app.views.query().range, pages(), false);
        fixture.app.views.table.show_report(current_report, None);
        fixture.press_keys("j");
    });
}

#[test]
fn pages_sorted_by_their_share() {
    snapshots("report_sorted", &[], &["of 68"], |fixture| {
        show_all_pages(fixture);
        fixture.press_keys("s S j");
    });
}

#[test]
fn pages_while_their_filter_is_typed() {
    snapshots("report_filter_typed", &[], &["/api ai>50% human>x"], |fixture| {
        show_all_pages(fixture);
        fixture.press_keys("/");
        fixture.paste("api ai>50% human>x");
    });
}

#[test]
fn filtered_and_marked_pages() {
    snapshots("report_filtered", &[], &["/endpoint human>20", "14 of 68 pages"], |fixture| {
        show_all_pages(fixture);
        fixture.press_keys("/");
        fixture.paste("endpoint human>20");
        fixture.press_keys("Enter v v");
    });
}

#[test]
fn a_filter_that_matches_no_page() {
    snapshots("report_no_match", &[], &["No matches among 68 pages.", "Esc shows all."], |fixture| {
        show_comparison(fixture);
        fixture.press_keys("/");
        fixture.paste("no-such-page");
        fixture.press_keys("Enter");
    });
}

#[test]
fn pages_grouped_into_folders() {
    snapshots("report_tree", &[], &["▸ /api/", "11,546"], |fixture| {
        show_all_pages(fixture);
        fixture.press_keys("z");
    });
}

#[test]
fn a_tree_with_open_folders() {
    snapshots("report_tree_open", &[], &["▾ /guides/ 4"], |fixture| {
        show_comparison(fixture);
        fixture.press_keys("z g j l j j j l k v");
    });
}

#[test]
fn pages_compared_with_the_previous_period() {
    snapshots("report_compared", &[], &["of 70"], show_comparison);
}

#[test]
fn a_comparison_with_a_partial_range() {
    snapshots("report_compared_incomplete", &[], &["partial"], |fixture| {
        show_comparison_with(fixture, false);
        fixture.press_keys("s s s s");
    });
}

#[test]
fn pages_by_largest_change() {
    snapshots("report_by_change", &[], &["−1,600", "of 70"], |fixture| {
        show_comparison(fixture);
        fixture.press_keys("s s s s S");
    });
}

#[test]
fn a_comparison_of_shares() {
    snapshots("report_compared_share", &[], &["of 70"], |fixture| {
        show_comparison(fixture);
        fixture.press_keys("m");
    });
}

#[test]
fn bars_on_a_log_scale() {
    snapshots("report_log", &[], &["of 68"], |fixture| {
        show_all_pages(fixture);
        fixture.press_keys("x");
    });
}

#[test]
fn bars_of_ai_views_on_a_log_scale() {
    snapshots("report_log_ai", &[], &["of 68"], |fixture| {
        show_all_pages(fixture);
        fixture.press_keys("m m m x");
    });
}

#[test]
fn bars_of_the_share() {
    snapshots("report_share", &[], &["of 68", "AI share"], |fixture| {
        show_all_pages(fixture);
        fixture.press_keys("m");
    });
}

#[test]
fn wide_or_odd_numbers_are_shown_as_received() {
    snapshots("report_odd_numbers", &[], &["human 9,223,372,036,854,775,807", "1 of 6"], |fixture| {
        fixture.load_jobs();
        fixture.load_views(50, true);
        let odd = |path: &str, human: Count, ai: Count, total: Count| PageRow {
            path: CleanText::line(path),
            counts: Counts::new(human, ai, total),
        };
        let known = Count::Known;
        let fraction = |literal: &str| Count::from_json_number(literal).expect("a number");
        let huge = Count::Other(CleanText::line("99999999999999999999"));
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
        let current_report = report(fixture.app.views.query().range, rows, true);
        fixture.app.views.table.show_report(current_report, None);
        fixture.press_keys("z");
    });
}

#[test]
fn the_bars_of_one_page_of_rows_can_be_logarithmic() {
    let mut fixture = ScreenFixture::new((80, 24));
    fixture.load_jobs();
    fixture.load_views(50, true);
    fixture.press_keys("m m x");
    assert!(
        text(&render(&fixture.app, ColorDepth::None)).contains("log"),
        "the bars of a single answer can be drawn on any scale"
    );
}

#[test]
fn removed_pages_are_muted_and_have_no_bar() {
    let mut fixture = ScreenFixture::new((160, 48));
    show_comparison(&mut fixture);
    fixture.press_keys("/");
    fixture.paste("removed-too");
    fixture.press_keys("Enter");
    let mut other = ScreenFixture::new((160, 48));
    show_comparison(&mut other);
    other.press_keys("/");
    other.paste("removed");
    other.press_keys("Enter");
    let (alone, both) = (render(&fixture.app, ColorDepth::Indexed256), render(&other.app, ColorDepth::Indexed256));
    let line = |shown: &str, wanted: &str| shown.lines().find(|line| line.contains(wanted)).map(str::to_owned);
    let alone = line(&text(&alone), "/guides/removed-too").expect("it is listed");
    assert!(alone.contains("(12)") && alone.contains("▼ to 0") && !alone.contains(['█', '▒']), "{alone}");
    let muted = Theme::new(ColorDepth::Indexed256).muted.fg;
    assert_eq!(style_of(&both, "/guides/removed-too").fg, muted, "a removed page that is not selected");
}

#[test]
fn enter_opens_and_closes_a_folder_and_the_footer_shows_it() {
    let mut fixture = ScreenFixture::new((160, 48));
    show_all_pages(&mut fixture);
    fixture.press_keys("z g j");
    let closed = fixture.app.views.table.len();
    let shown = |fixture: &ScreenFixture| text(&render(&fixture.app, ColorDepth::None));
    assert!(shown(&fixture).contains("Enter open folder"));
    fixture.press_keys("Enter");
    assert_eq!((fixture.app.views.table.len(), fixture.app.dialogs.len()), (closed + 2, 0));
    assert!(shown(&fixture).contains("Enter close folder"));
    fixture.press_keys("h");
    assert_eq!(fixture.app.views.table.len(), closed);
    fixture.effects.clear();
    fixture.press_keys("l l h");
    assert_eq!(fixture.app.views.table.selected(), 1, "back on the folder");
    assert!(fixture.effects.is_empty(), "no page of rows was turned: {:?}", fixture.effects);
}

#[test]
fn escape_clears_the_marks_and_then_the_filter() {
    let mut fixture = ScreenFixture::new((120, 40));
    show_all_pages(&mut fixture);
    fixture.press_keys("/");
    fixture.paste("api");
    fixture.press_keys("Enter v");
    assert_eq!((fixture.app.views.table.marked_count(), fixture.app.views.table.len()), (1, 3));
    fixture.press_keys("Esc");
    assert_eq!((fixture.app.views.table.marked_count(), fixture.app.views.table.len()), (0, 3));
    fixture.press_keys("Esc");
    assert_eq!(fixture.app.views.table.len(), 68);
    assert_eq!(fixture.app.filter_text(), "");
    fixture.press_keys("/");
    fixture.paste("api");
    fixture.press_keys("Esc");
    assert_eq!(fixture.app.views.table.len(), 68, "as on the jobs screen, Esc clears what is typed");
}

#[test]
fn jobs_and_pages_have_separate_filters() {
    let mut fixture = ScreenFixture::new((120, 40));
    show_all_pages(&mut fixture);
    fixture.press_keys("/");
    fixture.paste("api");
    fixture.press_keys("Enter 1");
    assert_eq!(fixture.app.filter_text(), "");
    assert!(!fixture.app.jobs.is_empty() && fixture.app.jobs.filter().is_empty());
    fixture.press_keys("2");
    assert_eq!(fixture.app.filter_text(), "api");
}

#[test]
fn a_table_of_any_layout_can_be_drawn_at_any_size_and_in_ascii() {
    let draw_at = |app: &App, theme: &Theme, size: (u16, u16)| {
        let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).expect("a test terminal");
        terminal.draw(|frame| draw(frame, app, theme, now())).expect("a frame");
        text(terminal.backend().buffer())
    };
    for keys in ["", "z l j l", "x", "m", "m m x", "s s v", "/ a", "/ h > x", "/ z q"] {
        for columns in [40, 41, 59, 60, 69, 70, 79, 80, 119, 120, 159, 160, 300] {
            let mut fixture = ScreenFixture::new((columns, 12));
            show_comparison(&mut fixture);
            fixture.press_keys(keys);
            let ascii = Theme { ascii: true, shows_unicode_text: false, ..Theme::new(ColorDepth::Indexed256) };
            let shown = draw_at(&fixture.app, &ascii, (columns, 12));
            assert!(shown.is_ascii(), "{keys:?} at {columns}:\n{shown}");
        }
    }
}

#[test]
fn a_filter_for_removed_pages() {
    snapshots("report_gone", &[], &["2 pages without views"], |fixture| {
        show_comparison(fixture);
        fixture.press_keys("/ g o n e Enter");
    });
}
