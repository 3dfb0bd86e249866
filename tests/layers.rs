//! Checks the layers of the architecture in the source code. Fails if a file imports a layer that it must not use, if
//! layers or more than three files import each other in a cycle, or if the pure core (`model`, `tui`) uses I/O or a
//! clock.

#![expect(clippy::expect_used, reason = "a test that can't read the source should fail")]

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// The layers, each with the other layers that it may import.
const ALLOWED_IMPORTS: &[(&str, &[&str])] = &[
    ("model", &[]),
    ("api", &["model"]),
    ("store", &["model"]),
    ("config", &["api", "store", "model"]),
    ("team", &["api", "store", "model"]),
    ("engine", &["team", "api", "store", "model"]),
    ("sim", &["api", "model"]),
    ("terminal", &[]),
    ("tui", &["model"]),
    ("runtime", &["terminal", "tui", "engine", "team", "sim", "config", "api", "store", "model"]),
    ("cli", &["runtime", "terminal", "tui", "engine", "team", "sim", "config", "api", "store", "model"]),
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

/// The largest number of files that may import each other in a cycle.
const MAX_CYCLE: usize = 3;

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
        if inside.to_string_lossy().contains("tests") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("a source file");
        let shipped = text.split("mod tests {").next().unwrap_or_default();
        let code: Vec<&str> = shipped.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        layers.entry(layer.to_string_lossy().into_owned()).or_default().push((inside, code.join("\n")));
    }
    layers
}

/// Returns the paths that a `use` tree names: `a::{self, b::C}` names `a` and `a::b::C`.
fn expand_use_tree(tree: &str) -> Vec<String> {
    let Some((prefix, group)) = tree.split_once('{') else {
        return vec![tree.trim().trim_end_matches("::self").to_owned()];
    };
    let (mut items, mut depth) = (vec![String::new()], 1);
    for c in group.chars() {
        depth += i32::from(c == '{') - i32::from(c == '}');
        match (c, depth) {
            (_, 0) => break,
            (',', 1) => items.push(String::new()),
            _ => items.last_mut().expect("an item").push(c),
        }
    }
    let items = items.iter().map(|item| item.trim()).filter(|item| !item.is_empty());
    items.flat_map(|item| expand_use_tree(&format!("{}{item}", prefix.trim()))).collect()
}

/// The names in the code of a file.
#[derive(Debug, Default)]
struct Names {
    /// The paths in `use` declarations and in other code, such as `super::error::Error`.
    paths: Vec<String>,
    /// The paths in `pub use` declarations.
    reexports: Vec<String>,
    /// All words outside of `use` declarations.
    words: BTreeSet<String>,
}

impl Names {
    fn of(code: &str) -> Self {
        let mut names = Self::default();
        let mut lines = code.lines();
        while let Some(line) = lines.next() {
            let declaration = line.trim_start().split_once("use ").filter(|(visibility, _)| {
                visibility.is_empty()
                    || *visibility == "pub "
                    || visibility.starts_with("pub(") && visibility.ends_with(") ")
            });
            let Some((visibility, tree)) = declaration else {
                // A visibility such as `pub(in crate::sim)` names a module, but uses nothing of it.
                let limited = line.trim_start().strip_prefix("pub(in ").and_then(|rest| rest.split_once(')'));
                let line = limited.map_or(line, |(_, rest)| rest);
                let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
                names.paths.extend(line.split(|c| !is_part(c)).filter(|word| word.contains("::")).map(str::to_owned));
                names.words.extend(line.split(|c| c == ':' || !is_part(c)).map(str::to_owned));
                continue;
            };
            let mut tree = tree.to_owned();
            while !tree.ends_with(';') {
                tree.push_str(lines.next().expect("the end of the declaration").trim());
            }
            let list = if visibility.is_empty() { &mut names.paths } else { &mut names.reexports };
            list.extend(expand_use_tree(tree.trim_end_matches(';')));
        }
        names
    }
}

/// Returns the layers that this code names after `crate::`.
fn imports(code: &str) -> BTreeSet<String> {
    let Names { paths, reexports, .. } = Names::of(code);
    let inside = paths.iter().chain(&reexports).filter_map(|path| path.strip_prefix("crate::"));
    inside.filter_map(|path| path.split("::").next()).map(str::to_owned).collect()
}

/// The modules of all layers by their paths, such as `store::backup::lines`.
struct Modules(BTreeMap<String, Names>);

impl Modules {
    fn read() -> Self {
        let files = layers().into_values().flatten().map(|(file, code)| {
            let path = file.with_extension("").to_string_lossy().replace(std::path::MAIN_SEPARATOR, "::");
            (path.trim_end_matches("::mod").to_owned(), Names::of(&code))
        });
        Self(files.collect())
    }

    /// Returns the path from the root for a path in `module`; `None` if it leads to another crate.
    fn absolute(&self, module: &str, path: &str) -> Option<String> {
        if let Some(path) = path.strip_prefix("crate::") {
            return Some(path.to_owned());
        }
        let (mut outer, mut inside) = (module, path);
        while let Some(rest) = inside.strip_prefix("super::") {
            (outer, inside) = (outer.rsplit_once("::").map_or("", |(outer, _)| outer), rest);
        }
        let path = format!("{outer}::{inside}").trim_start_matches("::").to_owned();
        let child = inside.split("::").next().map(|child| format!("{module}::{child}"));
        (outer != module || child.is_some_and(|child| self.0.contains_key(&child))).then_some(path)
    }

    /// Returns the module that defines what `path` names. Follows `pub use`.
    fn definition(&self, path: &str) -> Option<&str> {
        let mut prefix = path;
        let (module, names) = loop {
            match self.0.get_key_value(prefix) {
                Some(found) => break found,
                None => prefix = prefix.rsplit_once("::")?.0,
            }
        };
        let item = path.strip_prefix(prefix)?.trim_start_matches("::").split("::").next()?;
        let original = names.reexports.iter().find(|reexport| exported_name(reexport) == item);
        let original = original.and_then(|reexport| self.absolute(module, reexport.split(" as ").next()?));
        original.and_then(|original| self.definition(&original)).or(Some(module))
    }

    /// Returns the other modules whose items `module` uses. A `pub use` counts only if the module uses the item itself.
    fn used_by(&self, module: &str, names: &Names) -> BTreeSet<&str> {
        let used = names.reexports.iter().filter(|path| names.words.contains(exported_name(path)));
        let paths = names.paths.iter().chain(used).filter_map(|path| self.absolute(module, path));
        paths.filter_map(|path| self.definition(&path)).filter(|other| *other != module).collect()
    }

    /// Returns each set of modules that use each other, directly or through others.
    fn cycles(&self) -> BTreeSet<BTreeSet<&str>> {
        let direct: BTreeMap<&str, _> =
            self.0.iter().map(|(module, names)| (module.as_str(), self.used_by(module, names))).collect();
        let mut reachable: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for module in direct.keys() {
            let (mut found, mut open) = (BTreeSet::new(), vec![*module]);
            while let Some(next) = open.pop() {
                open.extend(direct.get(next).into_iter().flatten().filter(|other| found.insert(**other)));
            }
            reachable.insert(module, found);
        }
        let uses = |from: &str, to: &str| reachable.get(from).is_some_and(|found| found.contains(to));
        let cycle_of =
            |module: &&str| direct.keys().copied().filter(|other| uses(module, other) && uses(other, module)).collect();
        direct.keys().map(cycle_of).filter(|cycle: &BTreeSet<&str>| !cycle.is_empty()).collect()
    }
}

fn exported_name(path: &str) -> &str {
    path.rsplit([':', ' ']).next().unwrap_or_default()
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
fn at_most_three_files_import_each_other_in_a_cycle() {
    let modules = Modules::read();
    let mut large = String::new();
    for cycle in modules.cycles().into_iter().filter(|cycle| cycle.len() > MAX_CYCLE) {
        let _ = writeln!(large, "a cycle of {} files:", cycle.len());
        for module in &cycle {
            let used = &modules.used_by(module, &modules.0[*module]) & &cycle;
            let _ = writeln!(large, "  {module} uses {}", used.into_iter().collect::<Vec<_>>().join(", "));
        }
    }
    assert!(large.is_empty(), "{large}");
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
fn the_terminal_layer_is_independent_of_docdeck() {
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

#[test]
fn a_cycle_through_parents_children_and_reexports_is_found() {
    let files = [
        ("a", "pub use b::B;\nfn f() { c::g(); }"),
        ("a::b", "use crate::d::D;"),
        ("a::c", "use super::B;"),
        ("d", "use crate::{a::{self, X}, e};"),
        ("e", "use std::a::b;\npub(in crate::a) fn f() {}"),
    ];
    let modules = Modules(files.map(|(module, code)| (module.to_owned(), Names::of(code))).into());
    assert_eq!(modules.cycles(), BTreeSet::from([BTreeSet::from(["a", "a::b", "a::c", "d"])]));
}
