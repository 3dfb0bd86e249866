//! What the doctor asks of a terminal, and what is left of it afterwards.

use crate::pty::{Pty, Setup};

#[test]
fn a_terminal_is_asked_and_its_answers_are_told() {
    let mut pty = Pty::spawn(Setup::doctor());
    pty.wait_for_sent("\x1b]11;?\x1b\\\x1b[?u\x1b[c");
    pty.send("\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?0u\x1b[?62;22c");
    assert_eq!(pty.wait_for_end(), 1);
    pty.assert_given_back();
    let sent = pty.sent();
    assert!(sent.contains("asked (OSC 11), answered #ffffff: light"), "{sent}");
    assert!(sent.contains("asked (kitty protocol), answered: Ctrl-Enter"), "{sent}");
    assert!(sent.contains("asked (DA1), answered 62;22"), "{sent}");
    assert!(sent.contains("80 columns, 24 rows"), "{sent}");
}

#[test]
fn a_terminal_that_answers_nothing_is_waited_for_a_second_and_no_longer() {
    let mut pty = Pty::spawn(Setup::doctor());
    assert_eq!(pty.wait_for_end(), 1);
    pty.assert_given_back();
    let sent = pty.sent();
    assert!(sent.contains("no answer: the theme suits any ground"), "{sent}");
    assert!(sent.contains("not all that was asked was answered"), "{sent}");
}

#[test]
fn a_terminal_that_may_print_what_it_does_not_know_is_not_asked() {
    for term in ["linux", "dumb"] {
        let mut pty = Pty::spawn(Setup::doctor().with("TERM", term));
        assert_eq!(pty.wait_for_end(), 1);
        let sent = pty.sent();
        assert!(!sent.contains("]11;?") && sent.contains("not asked: one of this name"), "{sent}");
    }
}

#[test]
fn a_late_answer_is_not_left_to_the_shell() {
    let mut pty = Pty::spawn(Setup::shell());
    pty.send("PS1='rea''dy> '; stty -echo\r");
    pty.wait_for_text("ready>");
    pty.send("$DOCDECK doctor --offline\r");
    pty.wait_for_sent("\x1b[c");
    pty.send("\x1b]11;rgb:0000/0000/0000\x07\x1b[?1;2c");
    pty.wait_for("the prompt again", |screen| {
        let text = screen.contents();
        text.contains("2 problems.") && text.trim_end().ends_with("ready>")
    });
    pty.send("echo typed=$((1+1))\r");
    pty.wait_for_text("typed=2");
    assert!(!pty.screen().contents().contains("rgb"), "{}", pty.screen().contents());
    pty.send("exit\r");
    pty.wait_for_end();
}
