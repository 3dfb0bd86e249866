//! Finds the page that a search is about, by the words in the paths of all pages.

use std::borrow::Cow;
use std::collections::HashMap;

/// An index of the words in all paths, to find the page that a search is about.
pub(super) struct PathIndex<'a, 'b> {
    paths: Vec<&'a Cow<'b, str>>,
    /// The number that stands for each word in `entries`.
    word_numbers: HashMap<String, u32>,
    /// Pairs of a word's number and the index of a path that contains the word, sorted. One list takes less memory than
    /// a set of paths per word.
    entries: Vec<(u32, u32)>,
}

/// Words that don't help to find a page.
const STOP_WORDS: [&str; 16] =
    ["a", "an", "and", "the", "to", "of", "in", "for", "on", "with", "how", "do", "i", "is", "what", "docs"];

fn significant_words(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase);
    words.filter(|word| !STOP_WORDS.contains(&word.as_str()))
}

impl<'a, 'b> PathIndex<'a, 'b> {
    pub(super) fn new(paths: impl Iterator<Item = &'a Cow<'b, str>>) -> Self {
        let mut index = Self { paths: paths.collect(), word_numbers: HashMap::new(), entries: Vec::new() };
        // The shortest path comes first, so that the first match of a search is the best one.
        index.paths.sort_unstable_by_key(|path| (path.len(), *path));
        index.paths.dedup();
        for (path, at) in index.paths.iter().zip(0..) {
            for word in significant_words(path) {
                let next = u32::try_from(index.word_numbers.len()).unwrap_or(u32::MAX);
                index.entries.push((*index.word_numbers.entry(word).or_insert(next), at));
            }
        }
        index.entries.sort_unstable();
        index
    }

    /// Returns the path that contains all words of the search except [`STOP_WORDS`]. Of several paths, it returns the
    /// shortest one; of equally short ones, the alphabetically first. `None` if there is no such path, or if the search
    /// consists only of [`STOP_WORDS`].
    pub(super) fn find(&self, query: &str) -> Option<&'a Cow<'b, str>> {
        let words: Option<Vec<u32>> =
            significant_words(query).map(|word| self.word_numbers.get(&word).copied()).collect();
        let words = words?;
        let rarest = words.iter().map(|word| self.entries_of(*word)).min_by_key(|entries| entries.len())?;
        let has_all =
            |(_, path): &&(u32, u32)| words.iter().all(|word| self.entries.binary_search(&(*word, *path)).is_ok());
        let (_, path) = rarest.iter().find(has_all)?;
        self.paths.get(usize::try_from(*path).ok()?).copied()
    }

    fn entries_of(&self, word: u32) -> &[(u32, u32)] {
        let start = self.entries.partition_point(|(other, _)| *other < word);
        let entries = self.entries.get(start..).unwrap_or_default();
        let count = entries.partition_point(|(other, _)| *other == word);
        entries.get(..count).unwrap_or_default()
    }
}
