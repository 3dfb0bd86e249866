//! The layers point down: reads the `use crate::` lines of every file and fails on an upward import, on a cycle between
//! rooms, and on what the pure core must not know.

#![expect(clippy::expect_used, reason = "a test that can't read the source should fail")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// What each room may import; a room may always import itself.
const ALLOWED: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("api", &["model"]),
    ("store", &["model"]),
    ("config", &["api", "store", "model"]),
    ("engine", &["api", "store", "model"]),
    ("sim", &["api", "model"]),
    ("app", &["model"]),
    ("ui", &["app", "model"]),
    ("runtime", &["ui", "app", "engine", "sim", "config", "api", "store", "model"]),
    ("cli", &["runtime", "app", "engine", "sim", "config", "api", "store", "model"]),
];

/// The rooms of the pure core, with what each must not contain beyond [`IMPURE`], tests aside.
const PURE: &[(&str, &[&str])] =
    &[("model", &["ratatui", "crossterm"]), ("app", &[".await"]), ("ui", &[".await", "&mut App"])];

/// What no room of the pure core contains: I/O, runtimes, clocks.
const IMPURE: &[&str] = &[
    "tokio",
    "reqwest",
    "rusqlite",
    "axum",
    "Utc::now",
    "Local::now",
    "Instant::now",
    "std::fs",
    "std::env",
    "std::net",
    "std::process",
    "std::thread",
];

fn sources(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder of sources");
    let mut found = Vec::new();
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(sources(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
    found
}

/// Each room with the code of its files: comments and what stands in test modules left out.
fn rooms() -> BTreeMap<String, Vec<(PathBuf, String)>> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut rooms: BTreeMap<String, Vec<(PathBuf, String)>> = BTreeMap::new();
    for path in sources(&src) {
        let inside = path.strip_prefix(&src).expect("below src").to_owned();
        let Some(room) = inside.iter().next().filter(|_| inside.iter().count() > 1) else { continue };
        if inside.file_stem().is_some_and(|stem| stem.to_string_lossy().contains("tests")) {
            continue;
        }
        let whole = std::fs::read_to_string(&path).expect("a source file");
        let shipped = whole.split("#[cfg(test)]").next().unwrap_or_default();
        let code: Vec<&str> = shipped.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        rooms.entry(room.to_string_lossy().into_owned()).or_default().push((inside, code.join("\n")));
    }
    rooms
}

/// Rooms that a file imports by `crate::room`.
fn imports(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for part in code.split("crate::").skip(1) {
        if let Some(group) = part.strip_prefix('{') {
            // `use crate::{a::x, b}`: the first word after each brace or comma at the top level.
            let mut depth = 0;
            let mut word = String::new();
            for c in group.chars() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => {
                        found.insert(std::mem::take(&mut word));
                    }
                    c if depth == 0 => word.push(c),
                    _ => {}
                }
            }
            found.insert(word);
        } else {
            found.insert(part.to_owned());
        }
    }
    let first_word = |text: &String| -> String {
        text.trim_start().chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
    };
    found.iter().map(first_word).filter(|word| !word.is_empty()).collect()
}

#[test]
fn every_room_has_its_place_in_the_layers() {
    let known: BTreeSet<String> = ALLOWED.iter().map(|(room, _)| (*room).to_owned()).collect();
    let found: BTreeSet<String> = rooms().into_keys().collect();
    assert_eq!(found, known);
}

#[test]
fn imports_point_down() {
    let mut upward = Vec::new();
    for (room, files) in rooms() {
        let allowed = ALLOWED.iter().find(|(name, _)| *name == room).map_or(&[][..], |(_, allowed)| allowed);
        for (file, code) in files {
            for other in imports(&code) {
                if other != room && !allowed.contains(&other.as_str()) {
                    upward.push(format!("{} imports {other}", file.display()));
                }
            }
        }
    }
    assert!(upward.is_empty(), "{upward:#?}");
}

#[test]
fn the_allowed_imports_have_no_cycle() {
    // A room may import only rooms whose own imports are settled before it.
    let mut settled: BTreeSet<&str> = BTreeSet::new();
    while settled.len() < ALLOWED.len() {
        let ready = |(room, allowed): &&(&'static str, &'static [&'static str])| {
            !settled.contains(room) && allowed.iter().all(|other| settled.contains(other))
        };
        let next: Vec<&str> = ALLOWED.iter().filter(ready).map(|(room, _)| *room).collect();
        assert!(!next.is_empty(), "a cycle among what is not settled yet; settled: {settled:?}");
        settled.extend(next);
    }
}

#[test]
fn the_core_knows_no_clock_no_runtime_and_no_io() {
    let mut found = Vec::new();
    let rooms = rooms();
    for (room, own) in PURE {
        for (file, code) in rooms.get(*room).expect("a room of the core") {
            let words = IMPURE.iter().chain(*own).filter(|word| code.contains(**word));
            found.extend(words.map(|word| format!("{}: {word}", file.display())));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn the_reader_of_imports_sees_every_form() {
    let code =
        "use crate::app::App;\nuse crate::{ui::draw, model::{Time, row}, store};\nlet x = crate::engine::Engine;";
    let found: Vec<String> = imports(code).into_iter().collect();
    assert_eq!(found, ["app", "engine", "model", "store", "ui"]);
}
