//! Tests of the mouse in a real terminal: which modes are switched on and off again, how mouse events arrive, and that
//! a burst of wheel events costs few frames.

use crate::support::pty::{Pty, Setup};
use vt100::{MouseProtocolEncoding, MouseProtocolMode};

const MOUSE_MODES: [&str; 4] = ["?1000", "?1002", "?1003", "?1006"];

fn start_demo() -> Pty {
    let mut pty = Pty::spawn(Setup::demo());
    pty.wait_for_text("Needs you");
    pty
}

fn quit(mut pty: Pty) {
    pty.quit();
}

/// A click at this column and row, counted from 1.
fn click(pty: &mut Pty, column: u16, row: u16) {
    pty.send(&format!("\x1b[<0;{column};{row}M\x1b[<0;{column};{row}m"));
}

#[test]
fn the_mouse_is_captured_while_it_is_on_but_never_for_every_motion() {
    let mut pty = start_demo();
    assert_eq!(pty.screen().mouse_protocol_mode(), MouseProtocolMode::ButtonMotion);
    assert_eq!(pty.screen().mouse_protocol_encoding(), MouseProtocolEncoding::Sgr);
    pty.send("M");
    pty.wait_for_text("Mouse off");
    assert_eq!(pty.screen().mouse_protocol_mode(), MouseProtocolMode::None);
    pty.send("M");
    pty.wait_for_text("Mouse on");
    assert_eq!(pty.screen().mouse_protocol_mode(), MouseProtocolMode::ButtonMotion);
    // In a wide terminal the position of a tab does not depend on the rest of the header.
    pty.resize(160, 40);
    pty.wait_for("both panes", |screen| screen.contents().contains("┬"));
    let before = pty.screen().contents().split_once("2 Analytics").expect("the second tab").0.chars().count();
    click(&mut pty, u16::try_from(before + 1).expect("a column"), 1);
    pty.wait_for_text("Searches  Feedback");
    assert!(!pty.sent().contains("?1003"));
    quit(pty);
}

#[test]
fn with_the_mouse_off_in_the_configuration_no_mouse_mode_is_sent() {
    let mut pty = Pty::spawn(Setup::demo_with(&[], "[ui]\nmouse = false\n"));
    pty.wait_for_text("Needs you");
    pty.send("q");
    assert_eq!(pty.wait_for_end(), 0);
    let sent = pty.sent();
    assert!(MOUSE_MODES.iter().all(|mode| !sent.contains(mode)), "{sent:?}");
}

#[test]
fn a_foreground_program_runs_without_the_mouse_and_the_mode_is_restored_afterwards() {
    let command = "[[commands]]\nkey = \"X\"\nname = \"greet\"\nrun = [\"sh\", \"-c\", \"echo hello\"]\n";
    let mut pty = Pty::spawn(Setup::demo_with(&[], command));
    pty.wait_for_text("Needs you");
    for (times, mode) in [(1, MouseProtocolMode::ButtonMotion), (2, MouseProtocolMode::None)] {
        pty.send("X");
        pty.wait_for("the command", |screen| {
            !screen.alternate_screen() && screen.contents().matches("Press Enter").count() == times
        });
        pty.assert_modes_off();
        pty.send("\r");
        pty.wait_for("the dashboard", |screen| screen.alternate_screen() && screen.contents().contains("Needs you"));
        assert_eq!(pty.screen().mouse_protocol_mode(), mode);
        pty.send("M");
        pty.wait_for_text(if mode == MouseProtocolMode::None { "Mouse on" } else { "Mouse off" });
    }
    quit(pty);
}

#[test]
fn columns_above_223_can_be_clicked_and_a_drag_survives_a_resize() {
    let mut pty = start_demo();
    pty.resize(300, 50);
    pty.wait_for("the detail beside the list", |screen| screen.contents_between(1, 180, 1, 181).contains('┬'));
    // Drags the divider, and resizes the terminal in the middle of the drag.
    pty.send("\x1b[<0;181;20M\x1b[<32;240;20M");
    pty.wait_for("the divider", |screen| screen.contents_between(1, 239, 1, 240).contains('┬'));
    pty.resize(290, 50);
    pty.send("\x1b[<32;251;20M\x1b[<32;9999;9999M\x1b[<32;241;20M\x1b[<0;241;20m");
    pty.wait_for("the divider again", |screen| screen.contents_between(1, 240, 1, 241).contains('┬'));
    // A click in the detail pane focuses it, so that the footer shows its shortcuts.
    click(&mut pty, 280, 20);
    pty.wait_for_text("rename");
    quit(pty);
}

#[test]
fn a_burst_of_wheel_events_is_handled_before_the_next_frame() {
    let mut pty = Pty::spawn(Setup::demo_with(&["--jobs", "400"], ""));
    pty.wait_for_text("Needs you");
    let frames = |pty: &Pty| pty.sent().matches("\x1b[?2026h").count();
    let before = frames(&pty);
    pty.send(&"\x1b[<65;10;10M".repeat(300));
    // The end of the list is visible only after every wheel event was handled.
    pty.send("3");
    pty.wait_for_text("3 Log");
    pty.send("1");
    pty.wait_for("the end of the list", |screen| {
        !screen.contents().contains("Needs you") && screen.contents().contains("1 Jobs")
    });
    let drawn = frames(&pty) - before;
    assert!(drawn < 100, "{drawn} frames for 300 notches");
    quit(pty);
}
