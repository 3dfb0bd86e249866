//! What reads text from outside, on the seeds in `seeds` and on what becomes of them when bytes are changed, cut out,
//! repeated and put together: it never panics, and what it gives keeps its promises.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

use docdeck::api::RetryAfter;
use docdeck::model::Time;
use docdeck::model::batch;
use docdeck::model::link::WebLink;
use docdeck::model::text::{CleanText, escaped_json, gated, is_hidden};
use docdeck::store::check_import;
use proptest::prelude::*;
use std::path::Path;

/// The seeds of a target, by name; there is at least one.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/seeds").join(target);
    let mut paths: Vec<_> =
        std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    assert!(!paths.is_empty(), "{target} has no seeds");
    paths.iter().map(|path| std::fs::read(path).expect("read")).collect()
}

/// Each seed as it is, then seeds with a few changes.
fn inputs(target: &str) -> impl Strategy<Value = Vec<u8>> + use<> {
    let change = (any::<prop::sample::Index>(), 0..5_u8, any::<u8>());
    let changed = (prop::sample::select(seeds(target)), prop::collection::vec(change, 0..12));
    changed.prop_map(|(mut bytes, changes)| {
        for (at, kind, byte) in changes {
            let at = at.index(bytes.len() + 1);
            match kind {
                0 => bytes.insert(at, byte),
                1 => bytes.truncate(at),
                2 => bytes.extend_from_within(at..),
                3 if at < bytes.len() => {
                    bytes.remove(at);
                }
                _ => {
                    if let Some(there) = bytes.get_mut(at) {
                        *there = byte;
                    }
                }
            }
            bytes.truncate(1 << 16);
        }
        bytes
    })
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn read_text(raw: &str) {
    let block = CleanText::block(raw);
    assert!(!block.as_str().contains(|c: char| c != '\n' && is_hidden(c)), "{block:?}");
    assert!(!CleanText::line(raw).as_str().contains(is_hidden));
    assert!(CleanText::title(raw, 40).as_str().chars().count() <= 40);
    assert_eq!(CleanText::block(block.as_str()), block, "clean text stays as it is");
    assert_eq!(gated(block.as_str()), block.as_str());
    let json = serde_json::to_string(raw).expect("JSON");
    assert_eq!(serde_json::from_str::<String>(&escaped_json(&json)).expect("JSON"), raw);
    let _ = WebLink::parse(raw);
}

fn read_prompts(raw: &str) {
    for name in [None, Some("a.jsonl"), Some("a.json"), Some("a.md"), Some("a.txt")] {
        if let Ok(prompts) = batch::parse(name, raw) {
            assert!(prompts.iter().all(|prompt| !prompt.trim().is_empty()), "{prompts:?}");
        }
    }
}

fn read_retry_after(raw: &str) {
    let now = Time::default();
    let pause = RetryAfter::parse(Some(raw)).until(now) - now;
    assert!((1..=24 * 3600).contains(&pause.num_seconds()), "{pause}");
}

fn read_import(bytes: &[u8]) {
    // A reason is told to people.
    if let Err(error) = check_import(bytes, Time::default()) {
        assert!(!error.to_string().contains(is_hidden), "{error}");
    }
}

#[test]
fn every_seed_is_read() {
    seeds("text").iter().for_each(|seed| read_text(&text(seed)));
    seeds("prompts").iter().for_each(|seed| read_prompts(&text(seed)));
    seeds("retry_after").iter().for_each(|seed| read_retry_after(&text(seed)));
    seeds("import").iter().for_each(|seed| read_import(seed));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn changed_text_is_cleaned(bytes in inputs("text")) {
        read_text(&text(&bytes));
    }

    #[test]
    fn changed_prompts_are_read_or_refused(bytes in inputs("prompts")) {
        read_prompts(&text(&bytes));
    }

    #[test]
    fn a_changed_retry_after_asks_for_a_second_to_a_day(bytes in inputs("retry_after")) {
        read_retry_after(&text(&bytes));
    }

    #[test]
    fn a_changed_export_is_taken_in_or_refused(bytes in inputs("import")) {
        read_import(&bytes);
    }
}
