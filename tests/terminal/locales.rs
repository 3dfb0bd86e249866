//! Tests of unusual environments: a locale without UTF-8, and a keyboard without Latin letters.

use crate::support::pty::{Pty, Setup};

#[test]
fn without_a_utf_8_locale_the_screen_is_ascii_unless_the_configuration_overrides_it() {
    for (setup, is_ascii) in [
        (Setup::demo().with("LANG", "C"), true),
        (Setup::demo().with("LC_ALL", "POSIX"), true),
        (Setup::demo().with("LANG", "C").with("LC_ALL", "en_US.UTF-8"), false),
        (Setup::demo_with(&[], "[ui]\nascii = false\n").with("LANG", "C"), false),
    ] {
        let mut pty = Pty::spawn(setup);
        pty.wait_for_text("Needs you");
        assert_eq!(pty.screen().contents().is_ascii(), is_ascii, "{}", pty.screen().contents());
        pty.send("q");
        assert_eq!(pty.wait_for_end(), 0);
    }
}

#[test]
fn in_ascii_mode_typed_text_is_shown_as_it_is_or_marked_as_kept() {
    let shown = |setup: Setup, expected: &str| {
        let mut pty = Pty::spawn(setup);
        pty.wait_for_text("Needs you");
        pty.send("n");
        pty.wait_for_text("template");
        pty.send("Größe 日本");
        pty.wait_for_text(expected);
        let screen = pty.screen().contents();
        assert!(!screen.contains('─') && !screen.contains('·'), "{screen}");
        pty.send("\x1b");
        pty.wait_for_text("Needs you");
        pty.quit();
        screen
    };
    let kept = shown(Setup::demo_with(&["--ascii"], ""), "Größe 日本");
    assert!(!kept.contains("as typed"), "{kept}");
    let replaced = shown(Setup::demo().with("LC_ALL", "C"), "Gr??e ????");
    assert!(replaced.contains("sent as typed"), "{replaced}");
}

#[test]
fn ctrl_with_a_cyrillic_letter_is_the_shortcut_of_the_latin_letter_on_that_key() {
    let mut pty = Pty::spawn(Setup::demo());
    pty.wait_for_text("Needs you");
    // Ctrl with the Cyrillic letters on the keys P and C, as the kitty keyboard protocol encodes it.
    pty.send("\x1b[1079;5u");
    pty.wait_for_text("─ Commands ");
    pty.send("\x1b[1089;5u");
    pty.wait_for("the list alone", |screen| !screen.contents().contains("─ Commands "));
    pty.send("q");
    assert_eq!(pty.wait_for_end(), 0);
}
