//! Checks the layers of the architecture in the source code. Fails if a file imports a layer that it must not use, if
//! layers depend on each other in a cycle, or if the pure core (`model`, `tui`) uses I/O or a clock.

#![expect(clippy::expect_used, reason = "a test that can't read the source should fail")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The layers, each with the other layers that it may import.
const ALLOWED_IMPORTS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("api", &["model"]),
    ("store", &["model"]),
    ("config", &["api", "store", "model"]),
    ("engine", &["api", "store", "model"]),
    ("sim", &["api", "model"]),
    ("terminal", &[]),
    ("tui", &["model"]),
    ("runtime", &["terminal", "tui", "engine", "sim", "config", "api", "store", "model"]),
    ("cli", &["runtime", "terminal", "tui", "engine", "sim", "config", "api", "store", "model"]),
];

/// The layers of the pure core, each with texts that its code must not contain in addition to [`FORBIDDEN_IN_CORE`].
/// Test modules may contain them.
const PURE_LAYERS: &[(&str, &[&str])] = &[("model", &["ratatui", "crossterm"]), ("tui", &[".await"])];

/// Texts that the code of the pure core must not contain: the names of I/O, async runtimes and clocks.
const FORBIDDEN_IN_CORE: &[&str] = &[
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

fn source_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).expect("a folder of sources");
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files.extend(source_files(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
    files
}

/// Returns the files of each layer: the path below `src`, and the code without comments and test modules.
fn layers() -> BTreeMap<String, Vec<(PathBuf, String)>> {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut layers: BTreeMap<String, Vec<(PathBuf, String)>> = BTreeMap::new();
    for path in source_files(&src) {
        let inside = path.strip_prefix(&src).expect("below src").to_owned();
        let Some(layer) = inside.iter().next().filter(|_| inside.iter().count() > 1) else { continue };
        if inside.file_stem().is_some_and(|stem| stem.to_string_lossy().contains("tests")) {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source file");
        let shipped = text.split("#[cfg(test)]").next().unwrap_or_default();
        let code: Vec<&str> = shipped.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        layers.entry(layer.to_string_lossy().into_owned()).or_default().push((inside, code.join("\n")));
    }
    layers
}

/// Returns the layers that this code names after `crate::`.
fn imports(code: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for part in code.split("crate::").skip(1) {
        if let Some(group) = part.strip_prefix('{') {
            // In `use crate::{a::x, b}`, the layer is the first word of each item between the outer braces.
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
fn every_layer_is_listed_in_the_import_rules() {
    let known: BTreeSet<String> = ALLOWED_IMPORTS.iter().map(|(layer, _)| (*layer).to_owned()).collect();
    let found: BTreeSet<String> = layers().into_keys().collect();
    assert_eq!(found, known);
}

#[test]
fn files_import_only_the_allowed_layers() {
    let mut forbidden_imports = Vec::new();
    for (layer, files) in layers() {
        let allowed = ALLOWED_IMPORTS.iter().find(|(name, _)| *name == layer).map_or(&[][..], |(_, allowed)| allowed);
        for (file, code) in files {
            for other in imports(&code) {
                if other != layer && !allowed.contains(&other.as_str()) {
                    forbidden_imports.push(format!("{} imports {other}", file.display()));
                }
            }
        }
    }
    assert!(forbidden_imports.is_empty(), "{forbidden_imports:#?}");
}

#[test]
fn the_allowed_imports_have_no_cycle() {
    // A layer is resolved once all layers that it imports are resolved.
    let mut resolved: BTreeSet<&str> = BTreeSet::new();
    while resolved.len() < ALLOWED_IMPORTS.len() {
        let ready = |(layer, allowed): &&(&'static str, &'static [&'static str])| {
            !resolved.contains(layer) && allowed.iter().all(|other| resolved.contains(other))
        };
        let next: Vec<&str> = ALLOWED_IMPORTS.iter().filter(ready).map(|(layer, _)| *layer).collect();
        assert!(!next.is_empty(), "the layers that are not resolved form a cycle; resolved: {resolved:?}");
        resolved.extend(next);
    }
}

#[test]
fn the_pure_core_uses_no_clock_no_async_runtime_and_no_io() {
    let mut found = Vec::new();
    let layers = layers();
    for (layer, words) in PURE_LAYERS {
        for (file, code) in layers.get(*layer).expect("a layer of the core") {
            let forbidden = FORBIDDEN_IN_CORE.iter().chain(*words).filter(|word| code.contains(**word));
            found.extend(forbidden.map(|word| format!("{}: {word}", file.display())));
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn the_terminal_layer_knows_nothing_of_docdeck() {
    let layers = layers();
    let files = layers.get("terminal").expect("the layer");
    let found: Vec<_> = files.iter().filter(|(_, code)| code.to_lowercase().contains("docdeck")).collect();
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn every_form_of_import_is_found() {
    let code =
        "use crate::tui::App;\nuse crate::{sim::draw, model::{Time, row}, store};\nlet x = crate::engine::Engine;";
    let found: Vec<String> = imports(code).into_iter().collect();
    assert_eq!(found, ["engine", "model", "sim", "store", "tui"]);
}
