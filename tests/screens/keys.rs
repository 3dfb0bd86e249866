//! Draws the state of every snapshot again with all keys rebound. No text may then name a default key.

use crate::screen_fixture::ScreenFixture;
use crate::{SIZES, render, text};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use docdeck::tui::App;
use docdeck::tui::draw::ColorDepth;
use docdeck::tui::keymap::{BINDINGS, Chord, Keymap};
use std::collections::HashSet;

/// Binds each action of the key table to a different, unusual key.
fn rebind_all_keys(fixture: &mut ScreenFixture) {
    for (row, key) in BINDINGS.iter().zip('\u{1200}'..) {
        let chord = Chord { code: KeyCode::Char(key), modifiers: KeyModifiers::ALT };
        assert!(fixture.app.config.keymap.set_keys(row.context, row.action.config_name(), vec![chord]), "{row:?}");
    }
}

/// Returns the key that has the default action of `key` in this app. Returns `key` itself if it is not rebound or types
/// text.
pub(crate) fn rebound_key(app: &App, key: KeyEvent) -> KeyEvent {
    let chord = Chord::from_event(key);
    let contexts = match app.contexts() {
        [first, ..] if app.has_text_context() && chord.types_text() => std::slice::from_ref(first),
        all => all,
    };
    let defaults = Keymap::default();
    let row = contexts.iter().find_map(|context| defaults.binding(*context, chord));
    let custom = row.filter(|row| !app.config.keymap.keys(row).contains(&chord));
    let custom = custom.and_then(|row| app.config.keymap.keys(row).first());
    custom.map_or(key, |custom| KeyEvent::new(custom.code, custom.modifiers))
}

/// Returns the default keys as texts name them: keys with longer names (`Esc`, `Ctrl-S`), and single characters.
fn default_keys() -> (HashSet<String>, HashSet<String>) {
    let all = BINDINGS.iter().flat_map(|row| row.keys).map(ToString::to_string);
    all.partition(|key| key.chars().count() > 1)
}

/// Returns the word without the punctuation at its ends.
fn without_punctuation(word: &str) -> &str {
    word.trim_matches(['.', ',', ':', ';', '·'])
}

/// Returns the first line that names a default key: by its name, as a single letter, or as a symbol in a description of
/// what the key does. Returns `None` if no line does.
fn line_with_default_key(shown: &str) -> Option<String> {
    let (chords, characters) = default_keys();
    let is_verb = |word: &str| word.len() > 2 && word.ends_with('s') && word.bytes().all(|b| b.is_ascii_lowercase());
    let is_letter = |word: &str| word.len() == 1 && word.bytes().all(|b| b.is_ascii_alphabetic());
    let is_number = |word: &str| word.bytes().all(|b| b.is_ascii_digit());
    let names_key = |before: &str, word: &str, next: &str| {
        let is_article = matches!(word, "a" | "A") && !is_verb(next);
        let is_word = next == "is";
        let is_unit = is_letter(word) && !before.is_empty() && is_number(before);
        let is_pressed = matches!(before, "press" | "Press") || next == "to";
        let is_described = !is_number(word) && (is_letter(word) || is_verb(next) || is_pressed);
        chords.contains(word) || characters.contains(word) && is_described && !is_article && !is_unit && !is_word
    };
    let any_names_key = |words: &[&str]| {
        let at = |n: Option<usize>| n.and_then(|n| words.get(n)).copied().unwrap_or_default();
        (0..words.len()).any(|n| names_key(at(n.checked_sub(1)), at(Some(n)), at(Some(n + 1))))
    };
    // Only parts between blanks are searched, because a dialog may cover the middle of a word below it.
    let inside = |part: &str| part.strip_prefix(' ').and_then(|part| part.strip_suffix(' ')).map(str::to_owned);
    shown
        .lines()
        .find(|line| {
            let parts = format!(" {line} ").split(['│', '┌', '┐', '└', '┘', '─']).map(inside).collect::<Vec<_>>();
            parts.iter().flatten().any(|part| {
                let words = part.split_whitespace().map(without_punctuation).collect::<Vec<_>>();
                any_names_key(&words)
            })
        })
        .map(str::to_owned)
}

/// Rebinds all keys and fails if the state that `build` creates names a default key, which then does nothing.
pub(crate) fn assert_no_default_key_is_named(name: &str, build: impl Fn(&mut ScreenFixture)) {
    for size in SIZES {
        let mut fixture = ScreenFixture::new(size);
        rebind_all_keys(&mut fixture);
        build(&mut fixture);
        let shown = text(&render(&fixture.app, ColorDepth::None));
        let line_with_default_key = line_with_default_key(&shown);
        assert!(
            line_with_default_key.is_none(),
            "{name} names a key that does nothing: {}\n{shown}",
            line_with_default_key.unwrap_or_default()
        );
    }
}

#[test]
fn a_default_key_in_a_text_is_detected() {
    for line in [
        "Sent: Ctrl-Y copies it",
        "t, H and more",
        "│ a asks for them",
        "x: ! resolves",
        "x: press !",
        "! to retry",
        "  Esc  clears",
        "← goes",
    ] {
        assert!(line_with_default_key(line).is_some(), "{line}");
    }
    for other in [
        "a page",
        "more →",
        "! rejected",
        "completed → working",
        "Alt-\u{1200} a",
        "5 more ↓ · rows",
        "in 12 s",
        "cut│d off",
    ] {
        assert_eq!(line_with_default_key(other), None, "{other}");
    }
}
