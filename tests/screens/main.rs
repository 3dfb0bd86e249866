//! Snapshots of every screen and dialog in its states, at small, usual and large sizes.

#![expect(clippy::expect_used, reason = "a test that can't build its fixture should fail")]

mod analytics;
mod changes;
mod checks;
mod help;
mod jobs;
mod kept;
mod keys;
mod layout;
mod pictures;
mod profiles;
mod ranges;
mod report;
mod reports;
mod screen_fixture;
mod screen_pages;
mod sending;
mod styles;
mod views;
mod welcome;

#[path = "../support/mod.rs"]
mod support;

use docdeck::tui::draw::{ColorDepth, Theme, draw};
use docdeck::tui::{App, Effect};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::style::{Color, Style};
use screen_fixture::{ScreenFixture, now};
use support::slow::sample;
use unicode_width::UnicodeWidthStr;

/// Columns and rows of a screen.
type Size = (u16, u16);

const SMALL: Size = (40, 12);
const USUAL: Size = (80, 24);
const WIDE: Size = (120, 40);
const LARGE: Size = (160, 48);
const SIZES: [Size; 5] = [SMALL, (60, 20), USUAL, WIDE, LARGE];

fn render(app: &App, depth: ColorDepth) -> Buffer {
    render_with_theme(app, &Theme::new(depth))
}

fn render_with_theme(app: &App, theme: &Theme) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(app.size.0, app.size.1)).expect("a test terminal");
    terminal.draw(|frame| draw(frame, app, theme, now())).expect("a frame");
    terminal.backend().buffer().clone()
}

fn text(buffer: &Buffer) -> String {
    let width = usize::from(buffer.area.width);
    let rows = buffer.content.chunks(width.max(1)).map(|row| {
        // The cell after a wide character has no content.
        let mut line = String::new();
        let mut covered = 0;
        for cell in row {
            if covered == 0 {
                line.push_str(cell.symbol());
                covered = cell.symbol().width().saturating_sub(1);
            } else {
                covered -= 1;
            }
        }
        line.trim_end().to_owned()
    });
    rows.collect::<Vec<_>>().join("\n")
}

/// Checks the state that `build` creates at every size: see [`checks::assert_readable`]; ASCII mode draws only ASCII;
/// no text names a default key after all keys were rebound. Compares the screen with its snapshot at the usual size,
/// and at the sizes in `also`, for screens whose layout there is of another kind.
fn snapshots(name: &str, also: &[Size], texts: &[&str], build: impl Fn(&mut ScreenFixture)) {
    snapshots_of(ScreenFixture::new, name, also, texts, &build);
    keys::assert_no_default_key_is_named(name, build);
}

/// Does the same as [`snapshots`] for an app that `start` creates, with its default keys.
fn snapshots_of(
    start: impl Fn(Size) -> ScreenFixture,
    name: &str,
    also: &[Size],
    texts: &[&str],
    build: impl Fn(&mut ScreenFixture),
) {
    let fixtures = SIZES.map(|size| {
        let mut fixture = start(size);
        build(&mut fixture);
        fixture
    });
    for fixture in &fixtures {
        let shown = text(&render_with_theme(
            &fixture.app,
            &Theme { ascii: true, shows_unicode_text: false, ..Theme::new(ColorDepth::None) },
        ));
        assert!(shown.is_ascii(), "{name} in ASCII:\n{shown}");
    }
    let screens = fixtures.map(|fixture| render(&fixture.app, ColorDepth::None));
    checks::assert_readable(name, texts, &screens);
    for (size, screen) in SIZES.iter().zip(&screens) {
        match size {
            &USUAL => assert_snapshot(name, &text(screen)),
            (columns, rows) if also.contains(size) => {
                assert_snapshot(&format!("{name}_{columns}x{rows}"), &text(screen));
            }
            _ => {}
        }
    }
}

/// Compares with the snapshot of this name, which no move of code changes.
fn assert_snapshot(name: &str, shown: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, shown));
}

#[test]
fn the_log_before_the_first_request() {
    snapshots("log_empty", &[], &["No requests yet."], |fixture| {
        fixture.load_no_jobs();
        fixture.press_keys("3");
    });
}

#[test]
fn the_complete_log() {
    snapshots("log_full", &[WIDE], &["follow-up – Fix broken", "create 201 Fix broken"], |fixture| {
        fixture.load_jobs();
        fixture.fill_log();
        fixture.press_keys("3");
    });
}

#[test]
fn a_terminal_that_is_too_small() {
    let screens = [(39, 12), (40, 11), (20, 5), (7, 2), (1, 1)].map(|size| {
        let mut fixture = ScreenFixture::new(size);
        fixture.load_jobs();
        let shown = text(&render(&fixture.app, ColorDepth::None));
        format!("{}x{}\n{}", size.0, size.1, shown.trim_end())
    });
    assert_snapshot("too_small", &screens.join("\n\n"));
}

#[test]
fn q_closes_a_dialog_without_a_text_input_instead_of_quitting() {
    for keys in ["?", "v v d", "2 D", "2 C", "2 e", "2 H", "2 Enter"] {
        let mut fixture = ScreenFixture::new((160, 48));
        fixture.load_jobs();
        fixture.load_views(50, true);
        fixture.press_keys("1");
        fixture.press_keys(keys);
        assert_eq!(fixture.app.dialogs.len(), 1, "{keys} opens a dialog");
        fixture.effects.clear();
        fixture.press_keys("q");
        assert!(fixture.app.dialogs.is_empty() && !fixture.effects.contains(&Effect::Quit), "{keys}");
        // Quitting asks for confirmation, because a prompt is queued.
        fixture.press_keys("q y");
        assert!(fixture.effects.contains(&Effect::Quit), "{keys}");
    }
}

/// Runs a sample of the sizes, and all of them with `DOCDECK_SLOW_TESTS`.
#[test]
fn drawing_never_fails_at_any_size_or_in_any_dialog() {
    let widths = [1, 2, 5, 13, 39, 40, 41, 59, 60, 69, 70, 80, 119, 120, 121, 200, 300];
    let sizes = widths.iter().flat_map(|columns| [1, 2, 3, 5, 11, 12, 13, 24, 100].map(|rows| (*columns, rows)));
    let sizes: Vec<Size> = sizes.collect();
    let keys = [
        "",
        "Enter",
        "n",
        "+",
        "?",
        "2",
        "2 D",
        "3",
        "d",
        "n Ctrl-r",
        "b",
        "b Ctrl-f",
        "/ a",
        "v v d",
        "v v f",
        "T",
        "s s v",
        "2 Enter",
        "2 n",
        "2 C",
        "2 C 2 0 2 6",
        "2 e",
        "2 H",
    ];
    // The step has no factor in common with the number of sizes, so that each dialog is drawn at other sizes.
    for (keys, (columns, rows)) in sample(keys.iter().flat_map(|keys| sizes.iter().map(move |size| (keys, *size))), 11)
    {
        let mut fixture = ScreenFixture::new((160, 48));
        fixture.load_jobs();
        fixture.load_views(50, true);
        fixture.press_keys("1");
        fixture.press_keys(keys);
        fixture.load_job_about_pages();
        fixture.load_long_page_history();
        fixture.resize(columns, rows);
        render(&fixture.app, ColorDepth::Indexed256);
    }
}

/// Returns the style of the first cell of the first occurrence of `wanted`.
fn style_of(buffer: &Buffer, wanted: &str) -> Style {
    let shown = text(buffer);
    let (row, line) = shown.lines().enumerate().find(|(_, line)| line.contains(wanted)).expect("the text is shown");
    let column = line.split(wanted).next().map(|before| before.chars().count()).expect("a start");
    let at = (u16::try_from(column).expect("small"), u16::try_from(row).expect("small"));
    buffer.cell(at).expect("inside").style()
}

#[test]
fn colours_match_the_meaning_of_the_symbols() {
    let mut fixture = ScreenFixture::new((160, 48));
    fixture.load_jobs();
    let buffer = render(&fixture.app, ColorDepth::Sixteen);
    assert_eq!(style_of(&buffer, "failed").fg, Some(Color::Red));
    assert_eq!(style_of(&buffer, "unconfirmed").fg, Some(Color::Yellow));
    assert_eq!(style_of(&buffer, "●3").fg, Some(Color::Yellow));
    assert_eq!(style_of(&buffer, "◐ working").fg, Some(Color::Cyan));
    fixture.load_views(50, true);
    let buffer = render(&fixture.app, ColorDepth::Sixteen);
    assert_eq!(style_of(&buffer, "█ human").fg, Some(Color::Cyan));
    assert_eq!(style_of(&buffer, "▒ AI").fg, Some(Color::Yellow));
}

#[test]
fn without_colour_nothing_is_coloured() {
    let mut fixture = ScreenFixture::new((160, 48));
    fixture.load_jobs();
    fixture.load_views(50, true);
    let buffer = render(&fixture.app, ColorDepth::None);
    let coloured = |cell: &ratatui::buffer::Cell| cell.fg != Color::Reset || cell.bg != Color::Reset;
    assert!(!buffer.content.iter().any(coloured));
}

#[test]
fn in_ascii_mode_every_screen_and_dialog_is_ascii() {
    for keys in ["", "Enter", "n", "+", "?", ":", "2", "3", "!", "2 Enter", "2 n", "2 D", "2 C", "2 e", "2 H"] {
        let mut fixture = ScreenFixture::new((120, 40));
        fixture.load_jobs();
        fixture.fill_log();
        fixture.select_unconfirmed_job();
        fixture.load_views(50, true);
        fixture.press_keys("1");
        fixture.press_keys(keys);
        fixture.load_long_page_history();
        let mut terminal = Terminal::new(TestBackend::new(120, 40)).expect("a test terminal");
        let theme = Theme { ascii: true, shows_unicode_text: false, ..Theme::new(ColorDepth::None) };
        terminal.draw(|frame| draw(frame, &fixture.app, &theme, now())).expect("a frame");
        let shown = text(terminal.backend().buffer());
        assert!(shown.is_ascii(), "after {keys:?}:\n{shown}");
    }
}
