//! The words that differ between two versions of a line.

use similar::{Algorithm, DiffTag, capture_diff_slices};
use std::ops::Range;
use unicode_segmentation::UnicodeSegmentation as _;

/// Longer lines are not compared word by word, because that takes quadratic time.
const MAX_COMPARED_LINE_WORDS: usize = 1000;
const MAX_COMPARED_LINE_BYTES: usize = 8 * 1024;

/// The maximum number of texts in each list that [`equal_pairs`] compares.
const MAX_COMPARED_LINES: usize = 2000;

/// Returns the positions (in `old`, in `new`) of the texts that a diff of the two lists leaves unchanged, in ascending
/// order. Returns none if a list has more than [`MAX_COMPARED_LINES`] texts.
pub(super) fn equal_pairs(old: &[String], new: &[String]) -> Vec<(usize, usize)> {
    if old.is_empty() || new.is_empty() || old.len().max(new.len()) > MAX_COMPARED_LINES {
        return Vec::new();
    }
    let operations = capture_diff_slices(Algorithm::Myers, old, new).into_iter();
    let equal = operations.filter(|operation| operation.tag() == DiffTag::Equal);
    equal.flat_map(|operation| operation.old_range().zip(operation.new_range())).collect()
}

/// Returns the changed byte ranges of the old and of the new line. Both lists are empty if a line is very long, or if
/// the lines have so little in common that highlighting words would not help.
pub fn changed_words(old: &str, new: &str) -> (Vec<Range<usize>>, Vec<Range<usize>>) {
    if old.len().max(new.len()) > MAX_COMPARED_LINE_BYTES {
        return Default::default();
    }
    let (old_words, new_words) = (words(old), words(new));
    if old_words.len().max(new_words.len()) > MAX_COMPARED_LINE_WORDS {
        return Default::default();
    }
    let old_texts: Vec<&str> = old_words.iter().map(|(_, word)| *word).collect();
    let new_texts: Vec<&str> = new_words.iter().map(|(_, word)| *word).collect();
    let operations = capture_diff_slices(Algorithm::Myers, &old_texts, &new_texts);
    let (mut old_ranges, mut new_ranges, mut common) = (Vec::new(), Vec::new(), 0);
    for operation in operations {
        let (tag, old_range, new_range) = operation.as_tag_tuple();
        if tag == DiffTag::Equal {
            let equal = old_words.get(old_range).unwrap_or_default();
            common += equal.iter().map(|(_, word)| word.trim().len()).sum::<usize>();
        } else {
            push_or_extend_last(&mut old_ranges, byte_range(&old_words, old_range, old), old);
            push_or_extend_last(&mut new_ranges, byte_range(&new_words, new_range, new), new);
        }
    }
    let visible = |text: &str| text.split_whitespace().map(str::len).sum::<usize>();
    // Words are highlighted only if at least a third of the longer line is unchanged.
    if common * 3 < visible(old).max(visible(new)) { Default::default() } else { (old_ranges, new_ranges) }
}

fn words(text: &str) -> Vec<(usize, &str)> {
    text.split_word_bound_indices().collect()
}

/// Returns the byte range of these words in the text.
fn byte_range(words: &[(usize, &str)], range: Range<usize>, text: &str) -> Range<usize> {
    let start_of = |n: usize| words.get(n).map_or(text.len(), |(at, _)| *at);
    start_of(range.start)..start_of(range.end)
}

/// Adds a range to the list. If at most white space is between the last range and this one, extends the last range.
fn push_or_extend_last(ranges: &mut Vec<Range<usize>>, range: Range<usize>, text: &str) {
    if range.is_empty() {
        return;
    }
    match ranges.last_mut() {
        Some(last) if text.get(last.end..range.start).is_some_and(|gap| gap.trim().is_empty()) => last.end = range.end,
        _ => ranges.push(range),
    }
}
