//! The changes of simulated pull requests, put together from the examples in `assets/demo/changes.txt`.

use crate::sim::paths::paths;
use crate::sim::rng::SeededRng;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use std::fmt::Write as _;

const EXAMPLE_CHANGES: &str = include_str!("../../../assets/demo/changes.txt");
/// Added to the number of a pull request to get the random stream for its changes.
const CHANGES_RNG_STREAM: u64 = 12 << 32;
/// The maximum number of files in a diff. The REST API refuses a larger diff.
pub(super) const MAX_DIFF_FILES: usize = 300;
/// The characters that are encoded in the path of a URL.
const ENCODED_IN_PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_');
/// The changed pages of a normal pull request are chosen from this many pages of the site.
const CHANGEABLE_PAGE_COUNT: u32 = 60;

/// A changed file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::sim) struct ChangedFile {
    pub(in crate::sim) path: String,
    /// As GitHub names it: `added` or `modified`.
    pub(in crate::sim) status: &'static str,
    pub(super) hunks: String,
    additions: u32,
    deletions: u32,
}

/// Returns the changed files of a pull request. If `is_large` is true, returns more than [`MAX_DIFF_FILES`] files.
pub(super) fn changed_files(seed: u64, number: u32, is_large: bool) -> Vec<ChangedFile> {
    let mut rng = SeededRng::new(seed, CHANGES_RNG_STREAM + u64::from(number));
    let count = if is_large { MAX_DIFF_FILES + 20 } else { usize::try_from(rng.between(1, 5)).unwrap_or(1) };
    let mut pages = paths(seed, if is_large { 1000 } else { CHANGEABLE_PAGE_COUNT });
    // Paths with a dot, such as `/llms.txt`, are not pages.
    pages.retain(|page| !page.contains('.'));
    rng.shuffle(&mut pages);
    let mut files: Vec<ChangedFile> =
        pages.iter().take(count).map(|page| ChangedFile::for_page(page, &mut rng)).collect();
    if rng.chance(300) {
        files.push(ChangedFile::new("docs.json".to_owned(), "modified", &[(14, first_example_under("docs.json"))]));
    }
    files
}

impl ChangedFile {
    fn for_page(page: &str, rng: &mut SeededRng) -> Self {
        let path = format!("{}.mdx", page.trim_matches('/'));
        let mut examples: Vec<&str> = examples_under("page").collect();
        rng.shuffle(&mut examples);
        if rng.chance(120) {
            let text: String = examples.iter().take(2).copied().collect();
            let added =
                text.lines().filter(|line| !line.starts_with('-')).map(|line| format!("+{}\n", without_sign(line)));
            return Self::new(path, "added", &[(0, &added.collect::<String>())]);
        }
        let mut hunks = Vec::new();
        let mut line = 1;
        if rng.chance(400) {
            hunks.push((line, first_example_under("start")));
        }
        let count = usize::try_from(rng.between(1, 3)).unwrap_or(1);
        for example in examples.iter().take(count) {
            line += rng.between(12, 60);
            hunks.push((line, *example));
        }
        Self::new(path, "modified", &hunks)
    }

    /// Creates a file from hunks, each with the number of its first line in the old version.
    fn new(path: String, status: &'static str, hunks: &[(u32, &str)]) -> Self {
        let mut file = Self { path, status, hunks: String::new(), additions: 0, deletions: 0 };
        for (old_start, text) in hunks {
            let count =
                |sign: char| u32::try_from(text.lines().filter(|line| line.starts_with(sign)).count()).unwrap_or(0);
            let (added, removed, kept) = (count('+'), count('-'), count(' '));
            let new_start = old_start + file.additions - file.deletions + u32::from(*old_start == 0);
            let (old_lines, new_lines) = (removed + kept, added + kept);
            let _ = writeln!(file.hunks, "@@ -{old_start},{old_lines} +{new_start},{new_lines} @@");
            file.hunks.push_str(text);
            file.additions += added;
            file.deletions += removed;
        }
        file
    }

    fn json(&self) -> Value {
        let blob =
            format!("https://github.com/acme/docs/blob/main/{}", utf8_percent_encode(&self.path, ENCODED_IN_PATH));
        json!({ "filename": self.path, "status": self.status, "additions": self.additions, "deletions": self.deletions,
                "changes": self.additions + self.deletions, "patch": self.hunks.trim_end(), "sha": "bf2a1c9",
                "blob_url": blob, "raw_url": blob, "contents_url": blob })
    }
}

/// Returns the numbers of added and removed lines, and of files.
pub(super) fn count_lines_and_files(files: &[ChangedFile]) -> [u32; 3] {
    let sum = |of: fn(&ChangedFile) -> u32| files.iter().map(of).sum();
    [sum(|file| file.additions), sum(|file| file.deletions), u32::try_from(files.len()).unwrap_or(u32::MAX)]
}

pub(super) fn unified_diff(files: &[ChangedFile]) -> String {
    let mut diff = String::new();
    for ChangedFile { path, status, hunks, .. } in files {
        let _ = writeln!(diff, "diff --git a/{path} b/{path}");
        let old = if *status == "added" {
            diff.push_str("new file mode 100644\nindex 0000000..4b825dc\n");
            "/dev/null".to_owned()
        } else {
            diff.push_str("index 83db48f..bf2a1c9 100644\n");
            format!("a/{path}")
        };
        let _ = write!(diff, "--- {old}\n+++ b/{path}\n{hunks}");
    }
    diff
}

/// Returns the files as GraphQL nodes: the paths and the numbers of changed lines.
pub(super) fn file_nodes(files: &[ChangedFile]) -> Vec<Value> {
    let size =
        |file: &ChangedFile| json!({ "path": file.path, "additions": file.additions, "deletions": file.deletions });
    files.iter().map(size).collect()
}

/// Returns a page of the list of files.
pub(super) fn paginate_files(files: &[ChangedFile], page: usize, per_page: usize) -> Value {
    files.iter().skip(page.saturating_sub(1) * per_page).take(per_page).map(ChangedFile::json).collect()
}

fn first_example_under(name: &str) -> &'static str {
    examples_under(name).next().unwrap_or_default()
}

/// Returns the examples under each occurrence of this heading, without the heading.
fn examples_under(name: &str) -> impl Iterator<Item = &'static str> {
    let examples = EXAMPLE_CHANGES.split_inclusive('\n').scan(0, |at, line| {
        let start = *at;
        *at += line.len();
        Some((start, line))
    });
    let heads: Vec<(usize, &str)> = examples.filter(|(_, line)| line.starts_with("# ")).collect();
    let ends = heads.iter().skip(1).map(|(at, _)| *at).chain([EXAMPLE_CHANGES.len()]).collect::<Vec<_>>();
    let wanted = format!("# {name}\n");
    let found = heads.into_iter().zip(ends).filter(move |((_, line), _)| *line == wanted);
    found.filter_map(|((at, line), end)| EXAMPLE_CHANGES.get(at + line.len()..end))
}

/// Returns a line of a diff without its first character: `+`, `-` or a space.
fn without_sign(line: &str) -> &str {
    line.get(1..).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::diff::Diff;

    #[test]
    fn the_diff_matches_the_totals() {
        for number in 1400..1440 {
            let files = changed_files(7, number, false);
            let diff = Diff::parse(unified_diff(&files));
            let [additions, deletions, count] = count_lines_and_files(&files).map(u64::from);
            assert_eq!(
                (diff.added_and_removed_lines(), diff.files.len() as u64),
                ((additions, deletions), count),
                "{number}"
            );
            assert!(additions + deletions > 0);
        }
        assert_eq!(changed_files(7, 1, true).len() / MAX_DIFF_FILES, 1);
    }
}
