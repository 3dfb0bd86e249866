//! Every state once more with all keys changed: no sentence may name a key that does nothing any more.

use crate::screen_fixture::ScreenFixture;
use crate::{SIZES, render, text};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use docdeck::app::App;
use docdeck::app::keymap::{BINDINGS, Chord, Keymap};
use docdeck::ui::Depth;
use std::collections::HashSet;

/// A key of one's own for each row of the table; no other row has it.
fn other_keys(world: &mut ScreenFixture) {
    for (row, key) in BINDINGS.iter().zip('\u{1200}'..) {
        let chord = Chord { code: KeyCode::Char(key), mods: KeyModifiers::ALT };
        assert!(world.app.config.keymap.change(row.context, row.action.word(), vec![chord]), "{row:?}");
    }
}

/// The key that does in this app what the given one usually does; the given one where that does nothing, or types.
pub(crate) fn own(app: &App, key: KeyEvent) -> KeyEvent {
    let chord = Chord::from_event(key);
    let contexts = match app.contexts() {
        [first, ..] if app.is_typing() && chord.types_text() => std::slice::from_ref(first),
        all => all,
    };
    let usual = Keymap::default();
    let row = contexts.iter().find_map(|context| usual.binding(*context, chord));
    let own = row.filter(|row| !app.config.keymap.keys(row).contains(&chord));
    let own = own.and_then(|row| app.config.keymap.keys(row).first());
    own.map_or(key, |own| KeyEvent::new(own.code, own.mods))
}

/// The usual keys as they are printed: named ones and chords, and those of a single character.
fn usual_keys() -> (HashSet<String>, HashSet<String>) {
    let all = BINDINGS.iter().flat_map(|row| row.keys).map(ToString::to_string);
    all.partition(|key| key.chars().count() > 1)
}

/// A word without what stands at its ends in a sentence.
fn bare(word: &str) -> &str {
    word.trim_matches(['.', ',', ':', ';', '·'])
}

/// A line that tells of a usual key: by its name, or a lone letter, or a sign before what it does.
fn named(shown: &str) -> Option<String> {
    let (chords, characters) = usual_keys();
    let is_verb = |word: &str| word.len() > 2 && word.ends_with('s') && word.bytes().all(|b| b.is_ascii_lowercase());
    let is_letter = |word: &str| word.len() == 1 && word.bytes().all(|b| b.is_ascii_alphabetic());
    let is_number = |word: &str| word.bytes().all(|b| b.is_ascii_digit());
    let tells = |before: &str, word: &str, next: &str| {
        let is_article = matches!(word, "a" | "A") && !is_verb(next);
        let is_word = next == "is";
        let is_unit = is_letter(word) && !before.is_empty() && is_number(before);
        let is_told = !is_number(word) && (is_letter(word) || is_verb(next));
        chords.contains(word) || characters.contains(word) && is_told && !is_article && !is_unit && !is_word
    };
    let is_told = |words: &[&str]| {
        let at = |n: Option<usize>| n.and_then(|n| words.get(n)).copied().unwrap_or_default();
        (0..words.len()).any(|n| tells(at(n.checked_sub(1)), at(Some(n)), at(Some(n + 1))))
    };
    // A layer may stand in the middle of a word of what is below it.
    let inside = |part: &str| part.strip_prefix(' ').and_then(|part| part.strip_suffix(' ')).map(str::to_owned);
    shown
        .lines()
        .find(|line| {
            let parts = format!(" {line} ").split(['│', '┌', '┐', '└', '┘', '─']).map(inside).collect::<Vec<_>>();
            parts.iter().flatten().any(|part| is_told(&part.split_whitespace().map(bare).collect::<Vec<_>>()))
        })
        .map(str::to_owned)
}

/// Fails where the state that `build` makes tells of a key that does nothing there, all keys being others.
pub(crate) fn names_no_key_that_does_nothing(name: &str, build: impl Fn(&mut ScreenFixture)) {
    for size in SIZES {
        let mut world = ScreenFixture::new(size);
        other_keys(&mut world);
        build(&mut world);
        let shown = text(&render(&world.app, Depth::None));
        let named = named(&shown);
        assert!(named.is_none(), "{name} names a key that does nothing: {}\n{shown}", named.unwrap_or_default());
    }
}

#[test]
fn a_key_in_a_sentence_is_noticed() {
    for told in
        ["Sent: Ctrl-Y copies it", "t, H and more", "│ a asks for them", "x: ! decides", "  Esc  clears", "← goes"]
    {
        assert!(named(told).is_some(), "{told}");
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
        assert_eq!(named(other), None, "{other}");
    }
}
