//! Tests which queries `docdeck doctor` sends to a terminal, and that no reply reaches the shell.

use crate::support::pty::{Pty, Setup};

#[test]
fn doctor_queries_the_terminal_and_prints_its_replies() {
    let mut pty = Pty::spawn(Setup::doctor());
    pty.wait_for_sent("\x1b]11;?\x1b\\\x1b[?u\x1b[c");
    pty.send("\x1b]11;rgb:ffff/ffff/ffff\x1b\\\x1b[?0u\x1b[?62;22c");
    assert_eq!(pty.wait_for_end(), 1);
    pty.assert_restored();
    let sent = pty.sent();
    assert!(sent.contains("light, #ffffff (OSC 11)"), "{sent}");
    assert!(sent.contains("Ctrl-Enter works (kitty protocol)"), "{sent}");
    assert!(sent.contains("62;22 (DA1)"), "{sent}");
    assert!(sent.contains("80 columns, 24 rows"), "{sent}");
}

#[test]
fn doctor_waits_at_most_a_second_for_a_silent_terminal() {
    let mut pty = Pty::spawn(Setup::doctor());
    assert_eq!(pty.wait_for_end(), 1);
    pty.assert_restored();
    let sent = pty.sent();
    assert!(sent.contains("no reply (OSC 11), so docdeck"), "{sent}");
    assert!(sent.contains("some replies are missing"), "{sent}");
}

#[test]
fn doctor_sends_no_queries_to_a_terminal_that_might_print_them() {
    for term in ["linux", "dumb"] {
        let mut pty = Pty::spawn(Setup::doctor().with("TERM", term));
        assert_eq!(pty.wait_for_end(), 1);
        let sent = pty.sent();
        assert!(!sent.contains("]11;?") && sent.contains("not queried: this terminal may print"), "{sent}");
    }
}

#[test]
fn a_late_reply_does_not_reach_the_shell() {
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
