//! Draws every state again with all keys rebound: no text may name a key that does nothing any more.

use crate::screen_fixture::ScreenFixture;
use crate::{SIZES, render, text};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use docdeck::app::App;
use docdeck::app::keymap::{BINDINGS, Chord, Keymap};
use docdeck::ui::Depth;
use std::collections::HashSet;

/// Binds an unusual key for each row of the key table; no two rows share one.
fn rebind_all_keys(fixture: &mut ScreenFixture) {
    for (row, key) in BINDINGS.iter().zip('\u{1200}'..) {
        let chord = Chord { code: KeyCode::Char(key), mods: KeyModifiers::ALT };
        assert!(fixture.app.config.keymap.set_keys(row.context, row.action.config_name(), vec![chord]), "{row:?}");
    }
}

/// The key that does in this app what the given key does by default; the given key itself if it does nothing or types.
pub(crate) fn rebound_key(app: &App, key: KeyEvent) -> KeyEvent {
    let chord = Chord::from_event(key);
    let contexts = match app.contexts() {
        [first, ..] if app.is_typing() && chord.types_text() => std::slice::from_ref(first),
        all => all,
    };
    let usual = Keymap::default();
    let row = contexts.iter().find_map(|context| usual.binding(*context, chord));
    let custom = row.filter(|row| !app.config.keymap.keys(row).contains(&chord));
    let custom = custom.and_then(|row| app.config.keymap.keys(row).first());
    custom.map_or(key, |custom| KeyEvent::new(custom.code, custom.mods))
}

/// The default keys as they are printed: named keys and chords, and single characters.
fn usual_keys() -> (HashSet<String>, HashSet<String>) {
    let all = BINDINGS.iter().flat_map(|row| row.keys).map(ToString::to_string);
    all.partition(|key| key.chars().count() > 1)
}

/// A word without the punctuation at its ends.
fn bare(word: &str) -> &str {
    word.trim_matches(['.', ',', ':', ';', '·'])
}

/// Whether a line names a default key: by its name, as a lone letter, or as a symbol before a description; returns the
/// key.
fn default_key_in(shown: &str) -> Option<String> {
    let (chords, characters) = usual_keys();
    let is_verb = |word: &str| word.len() > 2 && word.ends_with('s') && word.bytes().all(|b| b.is_ascii_lowercase());
    let is_letter = |word: &str| word.len() == 1 && word.bytes().all(|b| b.is_ascii_alphabetic());
    let is_number = |word: &str| word.bytes().all(|b| b.is_ascii_digit());
    let tells = |before: &str, word: &str, next: &str| {
        let is_article = matches!(word, "a" | "A") && !is_verb(next);
        let is_word = next == "is";
        let is_unit = is_letter(word) && !before.is_empty() && is_number(before);
        let is_pressed = matches!(before, "press" | "Press") || next == "to";
        let is_told = !is_number(word) && (is_letter(word) || is_verb(next) || is_pressed);
        chords.contains(word) || characters.contains(word) && is_told && !is_article && !is_unit && !is_word
    };
    let is_told = |words: &[&str]| {
        let at = |n: Option<usize>| n.and_then(|n| words.get(n)).copied().unwrap_or_default();
        (0..words.len()).any(|n| tells(at(n.checked_sub(1)), at(Some(n)), at(Some(n + 1))))
    };
    // A dialog may cover the middle of a word below it.
    let inside = |part: &str| part.strip_prefix(' ').and_then(|part| part.strip_suffix(' ')).map(str::to_owned);
    shown
        .lines()
        .find(|line| {
            let parts = format!(" {line} ").split(['│', '┌', '┐', '└', '┘', '─']).map(inside).collect::<Vec<_>>();
            parts.iter().flatten().any(|part| is_told(&part.split_whitespace().map(bare).collect::<Vec<_>>()))
        })
        .map(str::to_owned)
}

/// Fails if the state that `build` creates names a key that does nothing there once all keys are rebound.
pub(crate) fn names_no_key_that_does_nothing(name: &str, build: impl Fn(&mut ScreenFixture)) {
    for size in SIZES {
        let mut fixture = ScreenFixture::new(size);
        rebind_all_keys(&mut fixture);
        build(&mut fixture);
        let shown = text(&render(&fixture.app, Depth::None));
        let default_key_in = default_key_in(&shown);
        assert!(
            default_key_in.is_none(),
            "{name} names a key that does nothing: {}\n{shown}",
            default_key_in.unwrap_or_default()
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
        assert!(default_key_in(line).is_some(), "{line}");
    }
    for other in [
        "a page",
        "more →",
        "! rejected",
        "completed → active",
        "Alt-\u{1200} a",
        "5 more ↓ · rows",
        "in 12 s",
        "cut│d off",
    ] {
        assert_eq!(default_key_in(other), None, "{other}");
    }
}
