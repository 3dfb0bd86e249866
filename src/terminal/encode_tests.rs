use super::*;
use proptest::prelude::*;
use ratatui::backend::{Backend as _, CrosstermBackend};
use ratatui::layout::Rect;
use ratatui::style::Style;

const WIDTH: u16 = 24;
const HEIGHT: u16 = 3;

fn empty() -> Buffer {
    Buffer::empty(Rect::new(0, 0, WIDTH, HEIGHT))
}

fn line(parts: &[(&str, Style)]) -> Buffer {
    let mut buffer = empty();
    let mut x = 0;
    for (text, style) in parts {
        buffer.set_string(x, 0, text, *style);
        x += u16::try_from(text.width()).expect("short");
    }
    buffer.content.iter_mut().for_each(normalize_blank);
    buffer
}

fn sent(before: &Buffer, after: &Buffer) -> String {
    encode_cells(&before.diff(after), after, false)
}

fn muted() -> Style {
    Style::new().fg(Color::Rgb(158, 158, 158))
}

fn key_style() -> Style {
    Style::new().fg(Color::Rgb(95, 175, 215))
}

#[test]
fn no_changes_send_nothing() {
    assert_eq!(encode_cells(&[], &empty(), false), "");
}

#[test]
fn only_style_differences_are_sent_and_the_style_is_reset_at_the_end() {
    let after = line(&[("ab", muted()), ("cd", muted().add_modifier(Modifier::BOLD))]);
    assert_eq!(sent(&empty(), &after), "\x1b[1;1H\x1b[38;5;247mab\x1b[1mcd\x1b[m");
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
fn two_alternating_styles_are_drawn_style_by_style() {
    let after =
        line(&[("n", key_style()), (" new ", muted()), ("f", key_style()), (" follow ", muted()), ("?", key_style())]);
    let bytes = sent(&empty(), &after);
    assert_eq!(bytes.matches("\x1b[38;5;").count(), 2, "{bytes:?}");
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
    let mut parser = vt100::Parser::new(HEIGHT.try_into().expect("rows"), WIDTH.try_into().expect("columns"), 0);
    parser.process(sent(&empty(), &after).as_bytes());
    let inverse = |x| parser.screen().cell(0, x).expect("a cell").inverse();
    assert_eq!([0, 1, 2, 3].map(inverse), [true, true, false, false]);
}

#[test]
fn joined_emoji_leave_nothing_behind_in_terminals_that_do_not_join_them() {
    let mut parser = parser();
    let mut before = empty();
    for family in ["👨\u{200d}👩\u{200d}👧", "👍\u{1f3fd}", "日本"] {
        let after = line(&[("┌", Style::new()), (family, Style::new()), ("  ab   ", muted()), ("│ c", Style::new())]);
        parser.process(sent(&before, &after).as_bytes());
        let row = parser.screen().contents_between(0, 3, 0, WIDTH);
        let behind = if family == "日本" { "本  ab   │ c" } else { "  ab   │ c" };
        assert_eq!(row.trim_end(), behind, "{family}");
        before = after;
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

fn styles(is_visible_on_blank: bool) -> impl Strategy<Value = Style> {
    let colors = [Color::Reset, Color::Red, Color::LightBlue, Color::Indexed(74), Color::Rgb(1, 20, 200)];
    let fg = prop::sample::select(colors.to_vec());
    let bg = prop::sample::select(if is_visible_on_blank { colors.to_vec() } else { vec![Color::Reset] });
    // No style is both bold and dim, because the emulator keeps only one of them.
    let mut modifiers = vec![Modifier::empty(), Modifier::BOLD, Modifier::DIM, Modifier::ITALIC];
    if is_visible_on_blank {
        modifiers.extend([Modifier::UNDERLINED, Modifier::REVERSED, Modifier::BOLD | Modifier::UNDERLINED]);
    }
    (fg, bg, prop::sample::select(modifiers)).prop_map(|(fg, bg, modifiers)| {
        Style { sub_modifier: Modifier::all(), ..Style::new().fg(fg).bg(bg) }.add_modifier(modifiers)
    })
}

/// Generates screens with these texts at random positions.
fn screens(texts: &[&'static str], is_visible_on_blank: bool) -> impl Strategy<Value = Vec<Buffer>> {
    let text = prop::sample::select(texts.to_vec());
    let parts = prop::collection::vec((0..WIDTH, 0..HEIGHT, text, styles(is_visible_on_blank)), 0..12);
    let screen = parts.prop_map(|parts| {
        let mut buffer = empty();
        for (x, y, text, style) in parts {
            // Clears the row first, because a text that covers half of a wide glyph would leave a broken glyph.
            (0..WIDTH).for_each(|x| buffer.cell_mut((x, y)).expect("inside").reset());
            buffer.set_stringn(x, y, text, usize::from(WIDTH - x), style);
        }
        buffer.content.iter_mut().for_each(normalize_blank);
        buffer
    });
    prop::collection::vec(screen, 1..5)
}

fn check_same_screen(screens: Vec<Buffer>) -> Result<(), TestCaseError> {
    let (mut ours, mut theirs, mut before) = (parser(), parser(), empty());
    for after in screens {
        let on_blank = before == empty();
        ours.process(encode_cells(&before.diff(&after), &after, on_blank).as_bytes());
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
