//! Tests what docdeck sends to each kind of terminal: only sequences that the terminal supports, and only colours that
//! it can show. Every mode is switched off again.

use crate::support::pty::{Pty, Setup};
use std::collections::BTreeSet;
use std::time::Duration;

/// Returns the kinds of sequences in the sent bytes: private modes and keyboard flags in full, other sequences by their
/// final letter.
fn sequences(sent: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut rest = sent;
    while let Some((_, after)) = rest.split_once('\x1b') {
        rest = after;
        let kind = after.chars().next().expect("a sequence that ends");
        match kind {
            '[' => {
                let body: String = after.chars().skip(1).take_while(|c| !('@'..='~').contains(c)).collect();
                let last = after.chars().nth(1 + body.chars().count()).expect("a final letter");
                let is_mode = body.starts_with(['?', '>', '<', '=']) || last == 't';
                found.insert(if is_mode { format!("[{body}{last}") } else { format!("[{last}") });
            }
            ']' => {
                let number: String = after.chars().skip(1).take_while(char::is_ascii_digit).collect();
                found.insert(format!("]{number}"));
            }
            'P' => drop(found.insert("P".to_owned())),
            // ESC `\\`, which ends a string.
            '\\' => {}
            other => drop(found.insert(other.to_string())),
        }
    }
    found
}

/// Returns the kinds of colours in the sent bytes: 16 colours, a palette of 256 colours, or any colour.
fn colors(sent: &str) -> BTreeSet<&'static str> {
    let mut found = BTreeSet::new();
    for body in sent.split("\x1b[").skip(1) {
        let Some((codes, _)) =
            body.split_once('m').filter(|(codes, _)| codes.chars().all(|c| c.is_ascii_digit() || c == ';'))
        else {
            continue;
        };
        let mut codes = codes.split(';').map(|code| code.parse::<u8>().unwrap_or(0));
        while let Some(code) = codes.next() {
            match (code, if matches!(code, 38 | 48) { codes.next() } else { None }) {
                (_, Some(2)) => {
                    found.insert("any");
                    codes.by_ref().take(3).for_each(drop);
                }
                (_, Some(5)) => {
                    found.insert("256");
                    codes.next();
                }
                (30..=37 | 40..=47 | 90..=97 | 100..=107, _) => {
                    found.insert("16");
                }
                _ => {}
            }
        }
    }
    found
}

/// Opens screens and dialogs of the demo and quits it; returns the sent bytes.
fn run_demo(setup: Setup) -> String {
    let mut pty = Pty::spawn(setup);
    pty.wait_for_text("Needs you");
    for (keys, shown) in [("j", "Needs you"), ("2", "Searches  Feedback"), ("3", "Log"), ("?", "Help: ")] {
        pty.send(keys);
        pty.wait_for_text(shown);
    }
    pty.send("\x1b");
    pty.wait_for("no layer", |screen| !screen.contents().contains("Help: "));
    pty.send("1");
    pty.wait_for_text("Needs you");
    pty.resize(120, 40);
    pty.wait_for("a frame of that size", |screen| screen.contents().lines().count() == 40);
    pty.quit();
    pty.sent()
}

/// Switched on and off on every terminal: alternate screen, bracketed paste, cursor, focus reports.
const ALWAYS: [&str; 8] = ["[?1049h", "[?1049l", "[?2004h", "[?2004l", "[?25h", "[?25l", "[?1004h", "[?1004l"];
/// Drawing: moves of the cursor, erasing, styles.
const DRAWING: [&str; 6] = ["[H", "[G", "[C", "[X", "[J", "[m"];
/// Ignored by terminals that don't support them: synchronized output, keyboard flags, the background query.
const MODERN: [&str; 5] = ["[?2026h", "[?2026l", "[>1u", "[<1u", "]11"];
/// Saving, setting and restoring the window title.
const TITLE: [&str; 3] = ["[22;2t", "[23;2t", "]2"];
/// Reporting of clicks, drags and the wheel.
const MOUSE: [&str; 6] = ["[?1000h", "[?1000l", "[?1002h", "[?1002l", "[?1006h", "[?1006l"];

/// Asserts that only `allowed` sequences were sent, and that all `wanted` sequences were sent.
fn assert_sequences(sent: &str, allowed: &[&[&str]], wanted: &[&[&str]], term: &str) {
    let found = sequences(sent);
    let allowed: BTreeSet<String> = allowed.concat().into_iter().map(str::to_owned).collect();
    let stray: Vec<_> = found.difference(&allowed).collect();
    assert!(stray.is_empty(), "{term}: {stray:?}");
    for wanted in wanted.concat() {
        assert!(found.contains(wanted), "{term}: no {wanted}");
    }
}

#[test]
fn each_terminal_is_sent_only_the_sequences_that_it_supports() {
    let all: [&[&str]; 6] = [&ALWAYS, &DRAWING, &MODERN, &TITLE, &MOUSE, &["]8"]];
    for (term, color) in [("xterm", "16"), ("xterm-256color", "256"), ("tmux-256color", "256")] {
        let sent = run_demo(Setup::demo().with("TERM", term));
        assert_sequences(&sent, &all, &[&ALWAYS, &MODERN, &TITLE], term);
        assert_eq!(colors(&sent), BTreeSet::from([color]), "{term}");
    }
    // GNU screen doesn't pass links and titles to the terminal.
    let sent = run_demo(Setup::demo().with("TERM", "screen"));
    assert_sequences(&sent, &[&ALWAYS, &DRAWING, &MODERN, &MOUSE], &[&ALWAYS], "screen");
    assert_eq!(colors(&sent), BTreeSet::from(["16"]));
    for term in ["linux", ""] {
        let sent = run_demo(Setup::demo().with("TERM", term));
        assert_sequences(&sent, &[&ALWAYS, &DRAWING, &MOUSE], &[&ALWAYS], term);
        assert_eq!(colors(&sent), BTreeSet::from(["16"]), "{term}");
    }
}

#[test]
fn only_as_many_colours_are_used_as_the_terminal_advertises() {
    // A colour with a palette number is sent as that number, because it is shorter. All colours of the default theme
    // have one, but the tones of the texture of bars don't, and neither do some colours of the theme
    // `colour-blind-safe`.
    let many = BTreeSet::from(["256"]);
    assert_eq!(colors(&run_demo(Setup::demo())), many);
    let theme = || Setup::demo_with(&[], "[ui]\ntheme = \"colour-blind-safe\"\nbackground = \"dark\"\n");
    assert_eq!(colors(&run_demo(theme())), many);
    assert!(colors(&run_demo(theme().with("COLORTERM", "truecolor"))).contains("any"));
    let inside_screen = Setup::demo().with("TERM", "screen").with("COLORTERM", "truecolor").with("STY", "1.tty");
    assert_eq!(colors(&run_demo(inside_screen)), BTreeSet::from(["16"]));
    let none = BTreeSet::new();
    assert_eq!(colors(&run_demo(Setup::demo().with("NO_COLOR", "1"))), none);
    assert_eq!(colors(&run_demo(Setup::demo_with(&["--color", "never"], "").with("COLORTERM", "truecolor"))), none);
    assert_eq!(colors(&run_demo(Setup::demo_with(&["--color", "auto"], "").with("NO_COLOR", "1"))), none);
    assert_eq!(
        colors(&run_demo(Setup::demo_with(&["--color", "always"], "").with("NO_COLOR", "1"))),
        BTreeSet::from(["256"])
    );
}

/// The request for the background colour. A terminal replies only after it.
const QUERY: &str = "\x1b]11;?";

/// Returns the parts into which a reply may be split. The beginning of a reply may be typed as well, so docdeck waits
/// for the rest only a fraction of a second, which may be too short on a busy computer. Therefore the beginning is not
/// split; unit tests cover that.
fn splits(reply: &str) -> impl Iterator<Item = [&str; 2]> {
    let first_cut = if reply.starts_with("\x1b[") { 3 } else { "\x1b]11;".len() };
    (first_cut..reply.len()).map(|cut| reply.split_at(cut).into())
}

/// Types a filter into the demo's list, with these parts of a terminal's reply between the typed keys. Asserts that the
/// filter contains only the typed keys.
fn type_filter_around(pty: &mut Pty, parts: &[&str]) {
    pty.send("/gui");
    pty.wait_for_text("/gui");
    for part in parts {
        pty.send(part);
        pty.sends_within(Duration::from_millis(8));
    }
    pty.send("des");
    pty.wait_for("what was typed around it, and nothing else", |screen| screen.contents().contains("─ /guides "));
    pty.send("\r\x1b");
    pty.wait_for_text("─ Jobs ─");
}

#[test]
fn a_reply_in_two_pieces_types_nothing_and_loses_no_key() {
    let mut pty = Pty::spawn(Setup::demo());
    pty.wait_for_text("Needs you");
    pty.wait_for_sent(QUERY);
    for reply in ["\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\", "\x1b]11;rgb:ff/ff/ff\x07"] {
        for parts in splits(reply) {
            type_filter_around(&mut pty, &parts);
        }
    }
    pty.quit();
}

#[test]
fn unsolicited_replies_type_nothing() {
    let mut pty = Pty::spawn(Setup::demo());
    pty.wait_for_text("Needs you");
    pty.wait_for_sent(QUERY);
    // Device attributes, status, cursor position, keyboard flags, foreground colour, terminal version.
    let replies = [
        "\x1b[?62;1;2;22c",
        "\x1b[0n",
        "\x1b[12;40R",
        "\x1b[?1u",
        "\x1b]10;rgb:ffff/ffff/ffff\x1b\\",
        "\x1bP>|XTerm(370)\x1b\\",
    ];
    for reply in replies {
        type_filter_around(&mut pty, &[reply]);
        for parts in splits(reply) {
            type_filter_around(&mut pty, &parts);
        }
    }
    pty.quit();
}

#[test]
fn a_terminal_that_replies_after_300_ms_between_typed_keys_loses_none() {
    let mut pty = Pty::spawn(Setup::demo());
    pty.wait_for_text("Needs you");
    pty.send("/gu");
    pty.sends_within(Duration::from_millis(300));
    pty.send("i\x1b]11;rgb:ffff/ffff/ffff\x1b\\d");
    // The light theme's colours show that docdeck has understood the reply.
    pty.wait_for_sent("38;5;24");
    pty.send("es");
    pty.wait_for_text("─ /guides ");
    pty.send("\r\x1b");
    pty.wait_for_text("─ Jobs ─");
    pty.quit();
}
