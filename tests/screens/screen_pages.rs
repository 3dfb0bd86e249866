//! The pictures in `assets/screens` are snapshots. A comment before each picture names its snapshot. The test fails if
//! a picture differs from its snapshot; with `UPDATE_GUIDE=1` it writes the pictures again.

use std::fmt::Write as _;
use std::path::Path;

const FENCE: &str = "```";

/// Returns the page with the text of its snapshot after each comment that names one.
fn with_pictures(page: &str) -> String {
    let mut out = String::new();
    let mut lines = page.lines().peekable();
    let mut heading = "";
    while let Some(line) = lines.next() {
        assert!(!line.starts_with(FENCE), "below {heading}: add a line <!-- snapshot: NAME --> before the picture");
        out.push_str(line);
        out.push('\n');
        if line.starts_with('#') {
            heading = line;
        }
        let Some(name) = line.strip_prefix("<!-- snapshot: ").and_then(|rest| rest.strip_suffix(" -->")) else {
            continue;
        };
        assert!(heading.starts_with(&format!("#### {}", size(name))), "{name} is below {heading}");
        if lines.next_if(|next| next.starts_with(FENCE)).is_some() {
            let _ = lines.by_ref().find(|next| *next == FENCE);
        }
        let _ = writeln!(out, "{FENCE}text\n{}\n{FENCE}", snapshot(name));
    }
    out
}

/// Returns the size at the end of the name of a snapshot. A name without a size is that of a snapshot at the usual one.
fn size(name: &str) -> String {
    let suffix = name.rsplit('_').next().unwrap_or_default();
    let is_size = suffix.contains('x') && suffix.chars().all(|c| c == 'x' || c.is_ascii_digit());
    if is_size { suffix.replace('x', "×") } else { "80×24".to_owned() }
}

/// Returns the text of a snapshot, without the header that insta writes.
fn snapshot(name: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/screens/snapshots/{name}.snap"));
    let file = std::fs::read_to_string(path).unwrap_or_default();
    assert!(!file.is_empty(), "there is no snapshot {name}");
    let (_, text) = file.split_once("\n---\n").expect("a header");
    text.trim_end().to_owned()
}

#[test]
fn every_picture_in_the_pages_about_the_screens_is_a_snapshot() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/screens");
    for entry in std::fs::read_dir(folder).expect("the pages") {
        let path = entry.expect("a page").path();
        let page = std::fs::read_to_string(&path).expect("a page");
        let with_pictures = with_pictures(&page);
        if std::env::var_os("UPDATE_GUIDE").is_some() {
            std::fs::write(&path, with_pictures).expect("written");
        } else {
            let update = "UPDATE_GUIDE=1 cargo test --test screens screen_pages";
            assert!(page == with_pictures, "{} is out of date: {update}", path.display());
        }
    }
}
