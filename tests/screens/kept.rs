//! Frames that keep cells of the frame before show the same as frames that are drawn completely.

use crate::screen_fixture::{ScreenFixture, now};
use crate::support::slow::sample;
use crate::{SIZES, Size, WIDE, render_with_theme, reports, text};
use chrono::{DateTime, TimeDelta, Utc};
use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use docdeck::config::themes;
use docdeck::model::colors::Background;
use docdeck::tui::draw::{ColorDepth, KeptCells, Theme, draw, draw_with_kept_cells};
use docdeck::tui::{App, Msg};
use ratatui::backend::{Backend as _, TestBackend};
use ratatui::buffer::{Buffer, Cell};
use ratatui::layout::{Position, Rect};
use ratatui::{Frame, Terminal};

/// The number of messages of each random sequence.
const STEPS: usize = 60;
/// Keys that move the selection.
const MOVES: [KeyCode; 8] = [
    KeyCode::Char('j'),
    KeyCode::Char('j'),
    KeyCode::Char('k'),
    KeyCode::Down,
    KeyCode::Up,
    KeyCode::Char('g'),
    KeyCode::Char('G'),
    KeyCode::PageDown,
];
/// All other keys that are pressed.
const OTHERS: &str = "12JKvVsSziwtmuxace?:/nfydbT\t\n";

/// The screen of a dashboard that keeps cells as the event loop does.
#[derive(Default)]
struct KeepingScreen {
    cells: Buffer,
    kept: KeptCells,
}

impl KeepingScreen {
    /// Draws a frame, and returns it with the position of the cursor.
    fn draw(&mut self, app: &App, theme: &Theme, at: DateTime<Utc>) -> (Buffer, Position) {
        let (columns, rows) = app.size;
        let area = Rect::new(0, 0, columns, rows);
        if self.cells.area != area {
            self.cells = Buffer::empty(area);
        }
        let mut frame_cells = std::mem::take(&mut self.cells);
        let (_, cursor) = drawn((columns, rows), |frame| {
            std::mem::swap(frame.buffer_mut(), &mut frame_cells);
            draw_with_kept_cells(frame, app, theme, at, &self.kept);
            std::mem::swap(frame.buffer_mut(), &mut frame_cells);
        });
        let shown = frame_cells.clone();
        self.kept.blank_others(&mut frame_cells);
        self.cells = frame_cells;
        (shown, cursor)
    }

    /// Returns the number of cells with content that the next frame can keep.
    fn kept_count(&self) -> usize {
        self.cells.content.iter().filter(|cell| **cell != Cell::EMPTY).count()
    }
}

/// Draws a frame on a blank screen, and returns it with the position of the cursor.
fn drawn(size: Size, render: impl FnOnce(&mut Frame<'_>)) -> (Buffer, Position) {
    let mut terminal = Terminal::new(TestBackend::new(size.0, size.1)).expect("a test terminal");
    let mut cells = Buffer::default();
    let render = |frame: &mut Frame<'_>| {
        render(frame);
        cells.clone_from(frame.buffer_mut());
    };
    terminal.draw(render).expect("a frame");
    (cells, terminal.backend_mut().get_cursor_position().expect("a position"))
}

fn press(code: KeyCode) -> Msg {
    Msg::Input(Event::Key(KeyEvent::new(code, KeyModifiers::NONE)))
}

fn fixture(size: Size) -> ScreenFixture {
    let mut fixture = ScreenFixture::new(size);
    fixture.load_jobs();
    fixture.load_pull_requests();
    fixture.load_views(50, true);
    fixture.press_keys("1");
    fixture
}

#[test]
fn frames_that_keep_cells_look_like_complete_frames_after_any_messages() {
    let dark = themes::default_theme().for_background(Background::Dark).clone();
    let ascii = Theme { ascii: true, ..Theme::new(ColorDepth::None) };
    let painted = themes::load_theme("nord", None).expect("a shipped theme").for_background(Background::Dark).clone();
    let themes = [
        Theme::from_palette(&dark, ColorDepth::TrueColor),
        Theme::new(ColorDepth::Sixteen),
        ascii,
        Theme::from_palette(&painted, ColorDepth::TrueColor),
    ];
    let mut kept = 0;
    for seed in sample(0..240_u64, 24) {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut fixture = fixture(SIZES[random.usize(..SIZES.len())]);
        let mut screen = KeepingScreen::default();
        let mut theme = &themes[random.usize(..themes.len())];
        let (mut at, mut next_timer) = (now(), None);
        if random.bool() {
            reports::open_comparison(&mut fixture);
        }
        if random.bool() {
            fixture.press_keys("2");
        }
        for step in 0..STEPS {
            // The texts of kept cells may be late by a second.
            at += TimeDelta::seconds(if random.usize(..5) == 0 { random.i64(1..20) } else { 0 });
            if next_timer.is_some_and(|timer| timer <= at) && random.bool() {
                fixture.app.update(Msg::Timer, at);
            }
            match random.usize(..40) {
                0 => {
                    let (columns, rows) = SIZES[random.usize(..SIZES.len())];
                    fixture.app.update(Msg::Input(Event::Resize(columns, rows)), at);
                }
                1 => theme = &themes[random.usize(..themes.len())],
                2 => fixture.load_pull_requests(),
                3 => fixture.load_history(),
                4 => fixture.lose_connection(),
                5..=7 => {
                    fixture.app.update(press(KeyCode::Esc), at);
                }
                8..=12 => {
                    let key = OTHERS.chars().nth(random.usize(..OTHERS.len())).expect("a key");
                    let code = match key {
                        '\t' => KeyCode::Tab,
                        '\n' => KeyCode::Enter,
                        other => KeyCode::Char(other),
                    };
                    fixture.app.update(press(code), at);
                }
                _ => {
                    fixture.app.update(press(MOVES[random.usize(..MOVES.len())]), at);
                }
            }
            kept += screen.kept_count();
            let (shown, cursor) = screen.draw(&fixture.app, theme, at);
            let (expected, expected_cursor) = drawn(fixture.app.size, |frame| draw(frame, &fixture.app, theme, at));
            assert_eq!(text(&shown), text(&expected), "seed {seed}, step {step}");
            assert!(shown.content == expected.content, "seed {seed}, step {step}: other styles\n{}", text(&shown));
            assert_eq!(cursor, expected_cursor, "seed {seed}, step {step}");
            next_timer = fixture.app.next_timer(at);
        }
    }
    assert!(kept > 0);
}

#[test]
fn a_move_keeps_the_rows_that_it_does_not_concern() {
    for (keys, min) in [("1", 300), ("2", 900)] {
        let mut fixture = fixture(WIDE);
        fixture.press_keys(keys);
        // Closes the message about the pull requests, which covers rows.
        fixture.press_keys("Esc");
        let (mut screen, theme) = (KeepingScreen::default(), Theme::new(ColorDepth::Sixteen));
        screen.draw(&fixture.app, &theme, now());
        let version = fixture.app.content_version;
        fixture.app.update(press(KeyCode::Char('j')), now());
        assert_eq!(fixture.app.content_version, version, "only the selection has moved");
        assert!(
            screen.kept_count() > min,
            "{keys}: {}\n{}",
            screen.kept_count(),
            text(&screen.draw(&fixture.app, &theme, now()).0)
        );
        // Cells that are kept are not drawn, so a sign in them stays.
        let at = Position::new(0, 0);
        screen.cells.cell_mut(at).expect("inside").set_symbol("%");
        let (shown, _) = screen.draw(&fixture.app, &theme, now());
        assert_eq!(shown.cell(at).expect("inside").symbol(), "%");
        // After any other message, everything is drawn.
        fixture.app.update(press(KeyCode::Char('v')), now());
        let (shown, _) = screen.draw(&fixture.app, &theme, now());
        assert_eq!(shown.cell(at).expect("inside").symbol(), " ");
    }
}

#[test]
fn only_cells_of_the_last_second_are_kept() {
    let fixture = fixture(WIDE);
    for (passed, expected) in [(999, "%"), (1000, " "), (-1, " ")] {
        let (mut screen, theme) = (KeepingScreen::default(), Theme::new(ColorDepth::Sixteen));
        screen.draw(&fixture.app, &theme, now());
        screen.cells.cell_mut((0, 0)).expect("inside").set_symbol("%");
        let (shown, _) = screen.draw(&fixture.app, &theme, now() + TimeDelta::milliseconds(passed));
        assert_eq!(shown.cell((0, 0)).expect("inside").symbol(), expected, "{passed} ms");
    }
}

#[test]
fn nothing_is_kept_after_queued_keys_that_end_with_a_move() {
    let mut fixture = ScreenFixture::new(WIDE);
    // The jobs are not loaded yet, so these keys are queued.
    fixture.app.update(press(KeyCode::Char('v')), now());
    fixture.app.update(press(KeyCode::Char('j')), now());
    let version = fixture.app.content_version;
    fixture.load_no_jobs();
    assert_ne!(fixture.app.content_version, version);
}

#[test]
fn the_status_line_of_a_comparison_follows_the_visible_rows() {
    let (mut fixture, theme) = (ScreenFixture::new((160, 16)), Theme::new(ColorDepth::Sixteen));
    reports::open_site_comparison(&mut fixture);
    let mut screen = KeepingScreen::default();
    let mut has_sign = Vec::new();
    for key in "gGkg".chars().chain("j".repeat(40).chars()) {
        fixture.app.update(press(KeyCode::Char(key)), now());
        let (shown, _) = screen.draw(&fixture.app, &theme, now());
        has_sign.push(text(&shown).contains("! = large change"));
        assert_eq!(text(&shown), text(&render_with_theme(&fixture.app, &theme)), "{key}");
    }
    assert!(has_sign.contains(&true) && has_sign.contains(&false), "the line has changed: {has_sign:?}");
}
