//! Passes the inputs in `seeds`, both unchanged and randomly changed, to every parser of text from outside of docdeck.
//! No parser may panic, and all results must meet the conditions in `bodies`. A fuzzer can run the same bodies:
//! `Cargo.toml` in this folder is a separate package, which `.ci/fuzz` runs. Inputs for which the fuzzer finds a bug
//! become seeds.

#![expect(clippy::expect_used, reason = "a test fails by panicking")]

mod bodies;

use proptest::prelude::*;
use proptest::test_runner::TestError;
use std::path::Path;

/// Reads the seeds of a target with their file names. Panics if the target has no seeds.
fn seeds(target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz/seeds").join(target);
    let entries = std::fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry"));
    let name = |entry: &std::fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    let mut seeds: Vec<_> = entries.map(|entry| (name(&entry), std::fs::read(entry.path()).expect("read"))).collect();
    seeds.sort();
    assert!(!seeds.is_empty(), "{target} has no seeds");
    seeds
}

/// Returns a strategy for the seeds of a target with up to 11 random changes.
fn changed_seeds(target: &str) -> impl Strategy<Value = Vec<u8>> + use<> {
    let change = (any::<prop::sample::Index>(), 0..5_u8, any::<u8>());
    let seeds: Vec<Vec<u8>> = seeds(target).into_iter().map(|(_, seed)| seed).collect();
    let changed = (prop::sample::select(seeds), prop::collection::vec(change, 0..12));
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

#[test]
fn all_seeds_are_parsed_or_rejected() {
    let mut failed = Vec::new();
    for (target, body) in bodies::TARGETS {
        let seeds = seeds(target);
        println!("{target}: {} seeds", seeds.len());
        let fails = |(name, seed): &&(String, Vec<u8>)| {
            let read = std::panic::catch_unwind(|| body(seed));
            read.is_err().then(|| format!("{target}/{name}"))
        };
        failed.extend(seeds.iter().filter_map(|seed| fails(&seed)));
    }
    assert_eq!(failed, [""; 0]);
}

#[test]
fn every_target_can_be_run_by_a_fuzzer() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fuzz");
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
    for (target, _) in bodies::TARGETS {
        let source = std::fs::read_to_string(folder.join(format!("fuzz_targets/{target}.rs"))).expect("its source");
        assert!(source.contains(&format!("run(\"{target}\"")), "{source}");
        assert!(manifest.contains(&format!("name = \"{target}\"")), "{target} is not in the manifest");
    }
}

/// Runs a target with changed seeds. Returns a description of the first failure, or `None` if there is none.
fn run_changed_seeds(target: &str, cases: u32) -> Option<String> {
    let config = ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let read = runner.run(&changed_seeds(target), |bytes| {
        bodies::run(target, &bytes);
        Ok(())
    });
    read.err().map(|error| match error {
        TestError::Fail(why, bytes) => format!("{target}: {why}: {:?}", String::from_utf8_lossy(&bytes)),
        TestError::Abort(why) => format!("{target}: {why}"),
    })
}

#[test]
fn changed_seeds_are_parsed_or_rejected() {
    let cases = |target: &str| if target == "merge" { 24 } else { 256 };
    let failed: Vec<String> =
        bodies::TARGETS.iter().filter_map(|(target, _)| run_changed_seeds(target, cases(target))).collect();
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Returns a strategy for any JSON as text, including fractions, negative numbers and numbers beyond 64 bits.
fn any_json() -> impl Strategy<Value = String> {
    let string = any::<String>().prop_map(|text| serde_json::Value::from(text).to_string());
    let hostile = "[ -~\\x00-\\x1f\u{80}-\u{9f}\u{200b}-\u{202e}\u{2066}\u{e0041}\u{301}]{0,12}"
        .prop_map(|text| serde_json::Value::from(text).to_string());
    let number = "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,5})?([eE][+-]?[0-9]{1,4})?";
    let time = prop::sample::select(vec!["\"2026-11-20T13:02:00Z\"", "\"9999-12-31T23:59:60-14:00\"", "\"-1\""]);
    let leaf = prop_oneof![
        1 => Just("null".to_owned()),
        1 => any::<bool>().prop_map(|b| b.to_string()),
        2 => number,
        2 => string,
        2 => hostile,
        1 => time.prop_map(str::to_owned),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        let fields = prop::collection::vec((field_name(), inner.clone()), 0..8);
        prop_oneof![
            prop::collection::vec(inner, 0..6).prop_map(|items| format!("[{}]", items.join(","))),
            fields.prop_map(|fields| object(&fields)),
        ]
    })
}

/// Returns a strategy for the field names of all parsers.
fn field_name() -> impl Strategy<Value = &'static str> {
    let names = "id status source repository ref model prLink createdAt archivedAt error message details totals views \
                 hasMore path human ai total kind version baseUrl project title named tags note pages prompts text \
                 delivery reason writtenAt sentAt draft savedAt events at from to of jobs drafts columns rows hidden place \
                 filter tab sort by reversed range limit metric log folded preset days prompt searches searchQuery hits ctr \
                 topClickedPage feedback comment helpful contact code thumbsUp thumbsDown conversations query response \
                 sources resolutionStatus pageUrl nextCursor visitors";
    prop::sample::select(names.split_ascii_whitespace().collect::<Vec<_>>())
}

fn object(fields: &[(&str, String)]) -> String {
    let fields: Vec<String> = fields.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
    format!("{{{}}}", fields.join(","))
}

/// Returns a strategy for lines of a backup in which any field can have any value.
fn backup_line() -> impl Strategy<Value = String> {
    let kind = prop::sample::select(vec!["\"docdeck\"", "\"job\"", "\"draft\"", "\"end\"", "7"]);
    let good = [("baseUrl", "\"u\""), ("project", "\"p\""), ("id", "\"j\""), ("version", "1"), ("of", "\"new job\"")];
    (kind, prop::collection::vec((field_name(), any_json()), 0..6)).prop_map(move |(kind, mut fields)| {
        fields.push(("kind", kind.to_owned()));
        let missing = good.iter().filter(|(name, _)| fields.iter().all(|(there, _)| there != name));
        let missing: Vec<_> = missing.map(|(name, value)| (*name, (*value).to_owned())).collect();
        fields.extend(missing);
        object(&fields)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_json_is_parsed_to_clean_text_or_rejected(
        fields in prop::collection::vec((field_name(), any_json()), 0..10), other in any_json(), status in 100_u16..600,
    ) {
        for json in [object(&fields), object(&[("id", "\"x\"".to_owned()), ("views", "[]".to_owned())]), other] {
            for target in ["job", "views", "rows", "layout", "prompts"] {
                bodies::run(target, json.as_bytes());
            }
            bodies::run("error_body", format!("{status} {other}\n{json}", other = json.len()).as_bytes());
        }
    }

    #[test]
    fn any_backup_is_imported_or_rejected(lines in prop::collection::vec(backup_line(), 0..4)) {
        let file = format!("{{\"kind\":\"docdeck\",\"version\":1}}\n{}\n", lines.join("\n"));
        bodies::run("import", file.as_bytes());
        bodies::run("merge", file.as_bytes());
    }
}
