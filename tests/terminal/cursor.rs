//! The terminal cursor: hidden on the selected row in lists, visible after the typed text in inputs.

use crate::support::pty::{Pty, Setup};

/// Returns the text of the cursor's row, and the part of that text that begins at the cursor.
fn text_at_cursor(pty: &mut Pty) -> (String, String) {
    let screen = pty.screen();
    let (row, column) = screen.cursor_position();
    let text = |from: u16| screen.contents_between(row, from, row, 80);
    (text(0), text(column))
}

fn start_demo() -> Pty {
    let mut pty = Pty::spawn(Setup::demo());
    pty.wait_for_text("Needs you");
    pty.wait_for_quiet();
    pty
}

#[test]
fn in_a_list_the_cursor_is_hidden_on_the_first_letter_of_the_selected_row() {
    let mut pty = start_demo();
    for _ in 0..3 {
        let (row, rest) = text_at_cursor(&mut pty);
        assert!(pty.screen().hide_cursor());
        assert!(row.contains('▌') && rest.starts_with(char::is_alphanumeric), "{row:?} {rest:?}");
        let before = pty.screen().cursor_position();
        pty.send("j");
        pty.wait_for("the cursor on the next row", |screen| screen.cursor_position() != before);
        pty.wait_for_quiet();
    }
    pty.send("2");
    pty.wait_for_text("Searches  Feedback");
    pty.wait_for("the rows", |screen| screen.contents().contains('▌'));
    pty.wait_for_quiet();
    let (row, _) = text_at_cursor(&mut pty);
    assert!(row.contains('▌') && pty.screen().hide_cursor(), "{row:?}");
    pty.quit();
}

#[test]
fn in_an_input_the_cursor_is_visible_after_the_typed_text() {
    let mut pty = start_demo();
    pty.send("n");
    pty.wait_for_text("New job");
    pty.send("Begun here");
    pty.wait_for_text("Begun here");
    pty.wait_for_quiet();
    assert!(!pty.screen().hide_cursor());
    let (row, rest) = text_at_cursor(&mut pty);
    assert!(row.contains("Begun here") && !rest.contains("here"), "{row:?} {rest:?}");
    pty.send("\x1b[D\x1b[D");
    pty.wait_for("two to the left", |screen| {
        let (row, column) = screen.cursor_position();
        screen.contents_between(row, column, row, 80).starts_with("re")
    });
    let (row, column) = pty.screen().cursor_position();
    assert!(!pty.screen().cell(row, column).expect("a cell").inverse(), "the terminal draws the cursor");
    pty.send("\x1b");
    pty.wait_for("the list again", vt100::Screen::hide_cursor);
    for (keys, typed) in [("/", "sso"), (":", "sus"), ("+", "01J")] {
        pty.send(keys);
        pty.send(typed);
        pty.wait_for("a cursor after the typed text", |screen| {
            let (row, column) = screen.cursor_position();
            !screen.hide_cursor() && screen.contents_between(row, 0, row, column).ends_with(typed)
        });
        pty.send("\x1b");
        pty.wait_for("the list again", vt100::Screen::hide_cursor);
    }
    pty.quit();
}

#[test]
fn keys_that_change_nothing_send_nothing() {
    let mut pty = start_demo();
    pty.send("g");
    // The demo changes something now and then, such as the state of a pull request.
    let is_silent = (0..20).any(|_| {
        pty.wait_for_quiet();
        let before = pty.sent_bytes();
        pty.send("gkkk");
        pty.wait_for_quiet();
        pty.sent_bytes() == before
    });
    assert!(is_silent, "{}", pty.sent());
}
