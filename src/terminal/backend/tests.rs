//! Draws frames and checks what is sent, or what a terminal emulator shows after it.

use super::*;
use proptest::prelude::*;
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::CellDiffOption;
use ratatui::layout::Rect;
use ratatui::style::{Color, Modifier, Style};
use std::num::NonZeroU16;
use unicode_width::UnicodeWidthStr as _;

const WIDTH: u16 = 24;
const HEIGHT: u16 = 3;

#[derive(Debug, Default)]
struct RecordedWrites(Vec<Vec<u8>>);

impl Write for RecordedWrites {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.push(bytes.to_vec());
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct ScreenFixture(TerminalScreen<RecordedWrites>);

impl ScreenFixture {
    fn new(is_synchronized: bool) -> Self {
        let size = Size::new(WIDTH, HEIGHT);
        Self(
            TerminalScreen::new(RecordedWrites::default(), size, is_synchronized, char::is_control)
                .expect("a terminal"),
        )
    }

    /// Draws a frame and returns what was sent.
    fn draw_with(&mut self, shows_cursor: bool, render: impl FnOnce(&mut Frame<'_>)) -> String {
        self.0.draw(Size::new(WIDTH, HEIGHT), shows_cursor, render, Buffer::reset).expect("drawn");
        let sent = std::mem::take(&mut self.0.terminal.backend_mut().out.0);
        assert!(sent.len() < 2, "one write");
        String::from_utf8(sent.concat()).expect("text")
    }

    fn draw(&mut self, buffer: &Buffer) -> String {
        self.draw_with(false, |frame| frame.buffer_mut().clone_from(buffer))
    }

    /// Draws a frame with this text and cursor, and returns what was sent.
    fn draw_text(&mut self, shows_cursor: bool, text: &str, cursor: (u16, u16)) -> String {
        self.draw_with(shows_cursor, |frame| {
            let area = frame.buffer_mut().area;
            frame.render_widget(text, area);
            frame.set_cursor_position(Position::from(cursor));
        })
    }
}

/// Returns a screen with a mark in its last row, so that no screen is blank.
fn empty() -> Buffer {
    let mut buffer = Buffer::empty(Rect::new(0, 0, WIDTH, HEIGHT));
    buffer.set_string(WIDTH - 1, HEIGHT - 1, "#", Style::new());
    buffer
}

fn line(parts: &[(&str, Style)]) -> Buffer {
    let mut buffer = empty();
    let mut x = 0;
    for (text, style) in parts {
        buffer.set_string(x, 0, text, *style);
        x += u16::try_from(text.width()).expect("short");
    }
    buffer
}

/// Returns what is sent for `after` if the terminal shows `before`.
fn sent(before: &Buffer, after: &Buffer) -> String {
    let mut screen = ScreenFixture::new(false);
    screen.draw(before);
    screen.draw(after)
}

fn muted() -> Style {
    Style::new().fg(Color::Rgb(158, 158, 158))
}

#[test]
fn hidden_characters_are_removed_and_an_unchanged_cell_with_one_is_not_sent_again() {
    let mut screen = ScreenFixture::new(false);
    let mut frame = empty();
    for (x, symbol) in (0..).zip(["a\u{1b}", "\u{9b}", "\u{7}", "é\u{85}"]) {
        frame.cell_mut((x, 0)).expect("on the screen").set_symbol(symbol);
    }
    let sent = screen.draw(&frame);
    assert!(sent.contains("a\u{fffd}\u{fffd}é"), "{sent:?}");
    assert_eq!(screen.draw(&frame), "");
}

#[test]
fn a_frame_with_a_cursor_is_one_write_inside_synchronized_output() {
    let frame = ScreenFixture::new(true).draw_text(true, "hello", (1, 1));
    assert!(frame.starts_with(SYNC_BEGIN) && frame.ends_with(SYNC_END));
    assert!(frame.contains("hello"));
}

#[test]
fn an_old_terminal_gets_no_synchronized_output() {
    assert!(!ScreenFixture::new(false).draw_text(false, "hello", (0, 0)).contains("2026"));
}

#[test]
fn a_frame_that_is_drawn_again_sends_nothing_until_the_terminal_is_cleared() {
    let mut screen = ScreenFixture::new(true);
    let first = screen.draw(&line(&[("ab", Style::new())]));
    assert!(first.contains("ab") && !first.contains(CLEAR));
    assert_eq!(screen.draw(&line(&[("ab", Style::new())])), "");
    screen.0.clear();
    let again = screen.draw(&line(&[("ab", Style::new())]));
    assert!(again.contains(CLEAR) && again.contains("ab") && again.contains('#'), "{again:?}");
}

#[test]
fn a_frame_of_another_size_is_drawn_completely() {
    for size in [Size::new(WIDTH - 2, HEIGHT), Size::new(WIDTH + 2, HEIGHT + 1)] {
        let mut screen = ScreenFixture::new(true);
        screen.draw_text(false, "hello", (0, 0));
        let render = |frame: &mut Frame<'_>| {
            let area = frame.buffer_mut().area;
            frame.render_widget("hello", area);
        };
        screen.0.draw(size, false, render, Buffer::reset).expect("drawn");
        let sent = String::from_utf8(screen.0.terminal.backend_mut().out.0.concat()).expect("text");
        assert!(sent.contains(CLEAR) && sent.contains("hello"), "{sent:?}");
    }
}

#[test]
fn a_hidden_cursor_is_moved_and_nothing_is_sent_while_it_stays() {
    let mut screen = ScreenFixture::new(false);
    let first = screen.draw_text(false, "hello", (2, 1));
    assert!(first.starts_with("\x1b[?25l") && first.ends_with("\x1b[2;3H"), "{first:?}");
    assert_eq!(screen.draw_text(false, "hello", (2, 1)), "", "nothing changed");
    assert_eq!(screen.draw_text(false, "hello", (2, 2)), "\x1b[3;3H");
    let changed = screen.draw_text(false, "hallo", (2, 2));
    assert!(changed.ends_with("\x1b[3;3H") && !changed.contains("?25"), "{changed:?}");
}

#[test]
fn the_sequences_that_show_and_hide_the_cursor_are_sent_once() {
    let mut synchronized = ScreenFixture::new(true);
    synchronized.draw_text(false, "a", (1, 0));
    let shown = synchronized.draw_text(true, "ab", (2, 0));
    assert!(shown.ends_with("\x1b[1;3H\x1b[?25h\x1b[?2026l"), "{shown:?}");
    let typed = synchronized.draw_text(true, "abc", (3, 0));
    assert!(!typed.contains("?25"), "visible only when the frame is complete: {typed:?}");
    assert_eq!(synchronized.draw_text(false, "abc", (3, 0)), "\x1b[?2026h\x1b[?25l\x1b[?2026l");
    let mut plain = ScreenFixture::new(false);
    plain.draw_text(true, "a", (1, 0));
    let typed = plain.draw_text(true, "ab", (2, 0));
    assert!(typed.starts_with("\x1b[?25l") && typed.ends_with("\x1b[1;3H\x1b[?25h"), "no flicker: {typed:?}");
}

#[test]
fn the_cursor_position_is_sent_again_after_another_program_had_the_terminal() {
    let mut screen = ScreenFixture::new(false);
    screen.draw_text(false, "a", (1, 0));
    screen.0.clear();
    assert_eq!(screen.draw_text(false, "a", (1, 0)), "\x1b[?25l\x1b[2J\x1b[1;1Ha\x1b[1;2H");
}

#[test]
fn a_removed_wide_glyph_leaves_nothing_behind() {
    let after = line(&[("     ", Style::new())]);
    assert_eq!(sent(&line(&[("日本x", Style::new())]), &after), "\x1b[1;1H     ");
}

#[test]
fn a_removed_link_leaves_nothing_behind() {
    let plain = line(&[("a link", Style::new())]);
    let mut with_link = plain.clone();
    for (x, width) in [(2, 4), (3, 1), (4, 1), (5, 1)] {
        with_link[(x, 0)].set_diff_option(CellDiffOption::ForcedWidth(NonZeroU16::new(width).expect("not 0")));
    }
    with_link[(2, 0)].set_symbol("\x1b]8;;u\x1b\\link\x1b]8;;\x1b\\");
    let mut screen = ScreenFixture::new(false);
    screen.draw(&plain);
    assert_eq!(screen.draw(&with_link), "\x1b[1;3H\x1b]8;;u\x1b\\link\x1b]8;;\x1b\\");
    assert_eq!(screen.draw(&plain), "\x1b[1;3Hlink");
}

#[test]
fn only_style_differences_are_sent_and_the_style_is_reset_at_the_end() {
    let after = line(&[("ab", muted()), ("cd", muted().add_modifier(Modifier::BOLD))]);
    assert_eq!(sent(&empty(), &after), "\x1b[1;1H\x1b[38;5;247mab\x1b[1mcd\x1b[m");
}

#[test]
fn cells_are_sent_style_by_style_if_their_styles_alternate() {
    let key = muted().fg(Color::Rgb(95, 135, 175)).add_modifier(Modifier::BOLD);
    let after = line(&[("ab", muted()), ("cd", key), ("ef", muted()), ("gh", key)]);
    let sent = sent(&empty(), &after);
    assert!(sent.contains("ab\x1b[2Cef") && sent.contains("cd\x1b[2Cgh"), "{sent:?}");
}

#[test]
fn a_blank_does_not_change_the_style() {
    let after = line(&[("ab", muted()), (" ", Style::new()), ("cd", muted())]);
    let before = line(&[("xxxxxx", Style::new())]);
    assert_eq!(sent(&before, &after), "\x1b[1;1H\x1b[38;5;247mab cd \x1b[m");
}

#[test]
fn a_blank_with_an_invisible_colour_is_not_sent() {
    let plain = line(&[("ab          ", Style::new())]);
    let bold = line(&[("ab          ", Style::new().add_modifier(Modifier::BOLD))]);
    assert_eq!(sent(&plain, &bold), "\x1b[1;1H\x1b[1mab\x1b[m");
}

#[test]
fn a_gap_is_skipped_and_a_long_blank_is_erased() {
    let before = line(&[("abcdefghijklmnopqrst", Style::new())]);
    let after = line(&[("aXcdYf              ", Style::new())]);
    assert_eq!(sent(&before, &after), "\x1b[1;2HXcdYf\x1b[14X");
}

#[test]
fn after_a_wide_glyph_the_cursor_column_is_sent_explicitly() {
    let before = line(&[("aaaaaaaa", Style::new())]);
    let after = line(&[("日aaab", Style::new())]);
    let bytes = sent(&before, &after);
    assert!(bytes.starts_with("\x1b[1;1H日\x1b[6Gb"), "{bytes:?}");
}

#[test]
fn the_sixteen_colours_use_codes_that_every_terminal_supports() {
    let after = line(&[("a", Style::new().fg(Color::Red)), ("b", Style::new().fg(Color::White).bg(Color::DarkGray))]);
    assert_eq!(sent(&empty(), &after), "\x1b[1;1H\x1b[31ma\x1b[97;100mb\x1b[m");
}

#[test]
fn a_style_that_is_visible_on_a_blank_is_sent() {
    let reversed = Style::new().add_modifier(Modifier::REVERSED);
    let after = line(&[("a ", reversed), (" b", Style::new())]);
    let mut parser = parser();
    parser.process(sent(&empty(), &after).as_bytes());
    let inverse = |x| parser.screen().cell(0, x).expect("a cell").inverse();
    assert_eq!([0, 1, 2, 3].map(inverse), [true, true, false, false]);
}

#[test]
fn joined_emoji_leave_nothing_behind_in_terminals_that_do_not_join_them() {
    let mut parser = parser();
    let mut screen = ScreenFixture::new(false);
    for family in ["👨\u{200d}👩\u{200d}👧", "👍\u{1f3fd}", "日本"] {
        let after = line(&[("┌", Style::new()), (family, Style::new()), ("  ab   ", muted()), ("│ c", Style::new())]);
        parser.process(screen.draw(&after).as_bytes());
        let row = parser.screen().contents_between(0, 3, 0, WIDTH);
        let behind = if family == "日本" { "本  ab   │ c" } else { "  ab   │ c" };
        assert_eq!(row.trim_end(), behind, "{family}");
    }
}

/// Returns what an emulator shows in each cell.
fn displayed_cells(screen: &vt100::Screen) -> Vec<String> {
    let cells = (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| (y, x)));
    let one = |(y, x)| {
        let cell = screen.cell(y, x).expect("inside");
        let glyph = if cell.has_contents() { cell.contents() } else { " " };
        if cell.is_wide_continuation() {
            return String::new();
        }
        if glyph == " " {
            return format!(" {:?} {} {}", cell.bgcolor(), cell.underline(), cell.inverse());
        }
        let style = (cell.fgcolor(), cell.bgcolor(), cell.bold(), cell.dim(), cell.italic());
        format!("{glyph} {style:?} {} {}", cell.underline(), cell.inverse())
    };
    cells.map(one).collect()
}

fn parser() -> vt100::Parser {
    vt100::Parser::new(HEIGHT.try_into().expect("rows"), WIDTH.try_into().expect("columns"), 0)
}

/// Encodes the change with ratatui's own backend.
fn encode_with_ratatui(before: &Buffer, after: &Buffer) -> Vec<u8> {
    let mut bytes = Vec::new();
    CrosstermBackend::new(&mut bytes).draw(before.diff(after).into_iter()).expect("drawn");
    bytes
}

fn styles(allows_visible_blanks: bool) -> impl Strategy<Value = Style> {
    let colors = [Color::Reset, Color::Red, Color::LightBlue, Color::Indexed(74), Color::Rgb(1, 20, 200)];
    let fg = prop::sample::select(colors.to_vec());
    let bg = prop::sample::select(if allows_visible_blanks { colors.to_vec() } else { vec![Color::Reset] });
    // No style is both bold and dim, because the emulator keeps only one of them.
    let mut modifiers = vec![Modifier::empty(), Modifier::BOLD, Modifier::DIM, Modifier::ITALIC];
    if allows_visible_blanks {
        modifiers.extend([Modifier::UNDERLINED, Modifier::REVERSED, Modifier::BOLD | Modifier::UNDERLINED]);
    }
    (fg, bg, prop::sample::select(modifiers)).prop_map(|(fg, bg, modifiers)| {
        Style { sub_modifier: Modifier::all(), ..Style::new().fg(fg).bg(bg) }.add_modifier(modifiers)
    })
}

/// Generates screens with these texts at random positions.
fn screens(texts: &[&'static str], allows_visible_blanks: bool) -> impl Strategy<Value = Vec<Buffer>> {
    let text = prop::sample::select(texts.to_vec());
    let parts = prop::collection::vec((0..WIDTH, 0..HEIGHT, text, styles(allows_visible_blanks)), 0..12);
    let screen = parts.prop_map(|parts| {
        let mut buffer = empty();
        for (x, y, text, style) in parts {
            // Clears the row first, because a text that covers half of a wide glyph would leave a broken glyph.
            (0..WIDTH).for_each(|x| buffer.cell_mut((x, y)).expect("inside").reset());
            buffer.set_stringn(x, y, text, usize::from(WIDTH - x), style);
        }
        buffer
    });
    prop::collection::vec(screen, 1..5)
}

fn check_same_screen(screens: Vec<Buffer>) -> Result<(), TestCaseError> {
    let (mut ours, mut theirs, mut before) = (parser(), parser(), Buffer::empty(Rect::new(0, 0, WIDTH, HEIGHT)));
    let mut screen = ScreenFixture::new(false);
    for after in screens {
        ours.process(screen.draw(&after).as_bytes());
        theirs.process(&encode_with_ratatui(&before, &after));
        prop_assert_eq!(displayed_cells(ours.screen()), displayed_cells(theirs.screen()));
        before = after;
    }
    Ok(())
}

const NARROW: [&str; 7] = ["a", "ab c", "       ", "            ", "…│✓", "e\u{301}b", "─ x"];
const WIDE: [&str; 8] = ["a", "ab c", "       ", "            ", "日本", "x日 y", "日 ✓│", "─ x"];

proptest! {
    #[test]
    fn a_terminal_shows_the_same_as_with_ratatuis_backend(screens in screens(&NARROW, true)) {
        check_same_screen(screens)?;
    }

    // No blank has a visible style here: emulators differ in the style of the blank that replaces one half of an
    // overwritten wide glyph.
    #[test]
    fn a_terminal_shows_the_same_as_with_ratatuis_backend_for_wide_glyphs(screens in screens(&WIDE, false)) {
        check_same_screen(screens)?;
    }
}
