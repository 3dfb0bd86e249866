//! Tests of the hyperlinks that are sent to the terminal: each is opened once and closed, and changes no text.

use crate::support::pty::{Pty, Setup};

/// Starts the demo and opens the details of a job that has a pull request. Returns the rows of the screen.
fn demo_with_detail(setup: Setup) -> (Pty, Vec<String>) {
    let mut pty = Pty::spawn(setup);
    pty.wait_for_text("Needs you");
    // The filter keeps only one job, which has a pull request.
    pty.send("/Remove the beta\r");
    pty.wait_for("the job alone", |screen| screen.contents().contains(" 1 of 28 "));
    pty.send("\r");
    // The state of the pull request can arrive after the details are open: its branch and its files.
    pty.wait_for("the state of the pull request", |screen| {
        let contents = screen.contents();
        ["agent/remove-", " files"].iter().all(|part| contents.contains(part))
    });
    pty.wait_for_quiet();
    // A row can end in spaces or in cells that were never written, depending on what was on the screen before.
    let rows = pty.screen().contents().lines().map(|row| row.trim_end().to_owned()).collect();
    (pty, rows)
}

/// Returns the targets of all links in the order of the sent bytes. Asserts that each link is closed before the next
/// link is opened.
fn link_targets(sent: &str) -> Vec<String> {
    let parts: Vec<&str> = sent.split("\x1b]8;;").skip(1).collect();
    assert_eq!(parts.len() % 2, 0, "a link is left open: {parts:?}");
    let closing = parts.iter().skip(1).step_by(2);
    assert!(closing.clone().all(|close| close.starts_with("\x1b\\")), "{parts:?}");
    let opening = parts.iter().step_by(2).map(|open| open.split_once("\x1b\\").expect("a target that ends"));
    opening
        .map(|(target, text)| {
            assert!(!text.contains('\x1b'), "{text:?}");
            target.to_owned()
        })
        .collect()
}

#[test]
fn a_pull_request_link_is_sent_once_and_does_not_change_the_screen() {
    let (mut pty, rows) = demo_with_detail(Setup::demo());
    let line = rows.iter().find(|row| row.trim_start().starts_with('#')).expect("its line").clone();
    let number = line.trim_start().split([' ', '#']).nth(1).expect("a number");
    assert_eq!(link_targets(&pty.sent()), [format!("https://github.com/acme/docs/pull/{number}")]);
    // The palette covers the link. After the palette is closed, the link is sent again.
    pty.send("j:");
    pty.wait_for_text("─ Commands ");
    pty.send("\x1b");
    pty.wait_for("the line again", |screen| screen.contents().contains(&line));
    assert_eq!(link_targets(&pty.sent()).len(), 2);
    let (_plain, without) = demo_with_detail(Setup::demo_with(&[], "[ui]\nlinks = false\n"));
    assert!(without.contains(&line), "the same text without links");
}

#[test]
fn no_link_is_sent_if_links_are_off_or_unsupported() {
    for setup in [
        Setup::demo_with(&[], "[ui]\nlinks = false\n"),
        Setup::demo().with("TERM", "linux"),
        Setup::demo().with("TERM", "screen-256color"),
    ] {
        let (pty, _rows) = demo_with_detail(setup);
        assert!(!pty.sent().contains("\x1b]8;"));
    }
}

#[test]
fn links_are_sent_in_ascii_without_colours_and_inside_tmux() {
    for setup in [
        Setup::demo_with(&["--ascii"], ""),
        Setup::demo().with("NO_COLOR", "1"),
        Setup::demo().with("TERM", "screen-256color").with("TMUX", "/tmp/none,1,0"),
    ] {
        let (pty, _rows) = demo_with_detail(setup);
        assert_eq!(link_targets(&pty.sent()).len(), 1);
    }
}
