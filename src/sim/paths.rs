//! Generates the page paths of a plausible documentation site from the words in `assets/demo/pages.txt`, most read
//! page first. `pages` determines how often each page is read.

use super::rng::SeededRng;
use std::collections::HashSet;
use std::sync::LazyLock;

const PATH_WORDS: &str = include_str!("../../assets/demo/pages.txt");
/// The random stream for the order of the paths; see [`SeededRng::new`].
const PATH_RNG_STREAM: u64 = 4 << 32;
/// The paths of [`all_paths`]. They are formed once, because every simulated pull request needs them.
static ALL_PATHS: LazyLock<Vec<String>> = LazyLock::new(all_paths);

/// Returns `count` different paths: the well-known pages in the order of the file, then all other pages in an order
/// that depends on the seed, then translations of these other pages.
pub(super) fn paths(seed: u64, count: u32) -> Vec<Box<str>> {
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let mut paths: Vec<Box<str>> = section_lines("top").take(count).map(Box::from).collect();
    let mut site: Vec<&str> = ALL_PATHS.iter().map(String::as_str).collect();
    SeededRng::new(seed, PATH_RNG_STREAM).shuffle(&mut site);
    let editions = std::iter::once("").chain(section_lines("locales"));
    for edition in editions {
        let missing = count.saturating_sub(paths.len());
        let edition = if edition.is_empty() { String::new() } else { format!("/{edition}") };
        paths.extend(site.iter().take(missing).map(|path| format!("{edition}{path}").into_boxed_str()));
    }
    // If more paths are needed than the words can form, the additional paths have numbers.
    let first_number = paths.len();
    paths.extend((first_number..count).map(|n| format!("/archive/note-{n}").into_boxed_str()));
    paths
}

/// Returns all paths that can be formed from the words, without the paths of the well-known pages.
fn all_paths() -> Vec<String> {
    let mut site = Vec::new();
    for object in section_lines("objects") {
        site.extend(section_lines("verbs").map(|verb| format!("/api/{verb}-{object}")));
        site.extend(section_lines("languages").map(|language| format!("/sdks/{language}/{object}")));
    }
    for topic in section_lines("topics") {
        site.push(format!("/guides/{topic}"));
        site.extend(section_lines("languages").map(|language| format!("/guides/{topic}/{language}")));
        site.push(format!("/concepts/{topic}"));
    }
    for name in section_lines("integrations") {
        site.push(format!("/integrations/{name}"));
        site.extend(section_lines("facets").map(|facet| format!("/integrations/{name}/{facet}")));
    }
    for year in 2023..=2026 {
        site.extend((1..=12).map(|month| format!("/changelog/{year}-{month:02}")));
    }
    let top: HashSet<&str> = section_lines("top").collect();
    site.retain(|path| !top.contains(path.as_str()));
    site
}

fn section_lines(name: &'static str) -> impl Iterator<Item = &'static str> {
    let mut lines = PATH_WORDS.lines();
    lines.by_ref().find(move |line| line.strip_prefix("# ") == Some(name));
    lines.take_while(|line| !line.starts_with("# "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_path_occurs_twice_for_any_count() {
        for count in [1, 30, 1_200, 25_000, 40_000] {
            let paths = paths(7, count);
            let different: HashSet<&str> = paths.iter().map(AsRef::as_ref).collect();
            assert_eq!((paths.len(), different.len()), (count as usize, count as usize));
            assert!(paths.iter().all(|path| path.starts_with('/')));
        }
    }

    #[test]
    fn the_most_read_page_comes_first_and_some_paths_are_not_ascii() {
        let paths = paths(7, 1_200);
        assert_eq!(&*paths[0], "/quickstart");
        assert!(paths.iter().any(|path| !path.is_ascii()));
        assert_ne!(paths[600], super::paths(8, 1_200)[600]);
    }
}
