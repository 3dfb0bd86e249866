//! Wraps text to a width in cells, between words if possible.

use super::format::display_width;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// Wraps `text` into at most `max` lines of `width` cells. Returns the lines, and whether text was left out.
pub fn wrap(text: &str, width: usize, max: usize) -> (Vec<String>, bool) {
    let mut lines = Vec::new();
    for paragraph in text.lines() {
        // One line more than `max` is wrapped, to find out whether text is left out.
        wrap_paragraph(paragraph, width.max(1), max + 1, &mut lines);
        if lines.len() > max {
            lines.truncate(max);
            return (lines, true);
        }
    }
    (lines, false)
}

/// Appends the lines of a paragraph to `lines`. Stops before the next word once there are `max` lines.
fn wrap_paragraph(paragraph: &str, width: usize, max: usize, lines: &mut Vec<String>) {
    if paragraph.len() <= width && paragraph.is_ascii() {
        // An ASCII character is one byte and at most one cell wide, so the paragraph fits on a line.
        lines.push(paragraph.trim_end().to_owned());
        return;
    }
    let mut line = String::new();
    let mut cells = 0;
    for word in split_words(paragraph, width) {
        if lines.len() >= max {
            return;
        }
        let word_cells = display_width(word);
        if cells > 0 && cells + word_cells > width {
            lines.push(std::mem::take(&mut line).trim_end().to_owned());
            cells = 0;
            if word.trim().is_empty() {
                continue;
            }
        }
        if cells + word_cells <= width {
            line.push_str(word);
            cells += word_cells;
            continue;
        }
        // A word that is wider than a line is broken between graphemes.
        for grapheme in word.graphemes(true) {
            if cells > 0 && cells + grapheme.width() > width {
                lines.push(std::mem::take(&mut line));
                cells = 0;
            }
            line.push_str(grapheme);
            cells += grapheme.width();
        }
    }
    lines.push(line.trim_end().to_owned());
}

/// Splits a paragraph into pieces between which a line may end. Punctuation stays with the word that it touches if both
/// fit on a line. A line may end after any wide character, because scripts with wide characters have no spaces.
fn split_words(paragraph: &str, width: usize) -> Vec<&str> {
    let mut words = Vec::new();
    let mut start = 0;
    let mut before = "";
    for (at, part) in paragraph.split_word_bound_indices() {
        let is_joined = !is_whitespace(before) && !is_whitespace(part) && !is_wide(before) && !is_wide(part);
        let fits = paragraph.get(start..at + part.len()).is_some_and(|word| display_width(word) <= width);
        if !(is_joined && fits) {
            words.extend(paragraph.get(start..at).filter(|word| !word.is_empty()));
            start = at;
        }
        before = part;
    }
    words.extend(paragraph.get(start..).filter(|word| !word.is_empty()));
    words
}

fn is_whitespace(part: &str) -> bool {
    part.trim().is_empty()
}

fn is_wide(part: &str) -> bool {
    !part.is_ascii() && part.graphemes(true).any(|grapheme| grapheme.width() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_break_between_words_and_long_words_are_split() {
        let (lines, cut) = wrap("Fix the broken links", 10, 9);
        assert_eq!((lines, cut), (vec!["Fix the".to_owned(), "broken".to_owned(), "links".to_owned()], false));
        let (lines, _) = wrap("abcdefghij日本語", 4, 9);
        assert_eq!(lines, ["abcd", "efgh", "ij日", "本語"]);
    }

    #[test]
    fn text_that_fits_stays_on_one_line() {
        for text in ["Fix it.", "a  b (c)/d", "  in front", "behind  ", "日本 ok."] {
            assert_eq!(wrap(text, 10, 9), (vec![text.trim_end().to_owned()], false));
        }
        assert_eq!(wrap("a\n\nb", 10, 9).0, ["a", "", "b"]);
    }

    #[test]
    fn punctuation_stays_with_its_word() {
        assert_eq!(wrap("carry it out.", 12, 9).0, ["carry it", "out."]);
        assert_eq!(wrap("see /guides (soon)", 12, 9).0, ["see /guides", "(soon)"]);
        assert_eq!(wrap("a /guides/deploy", 8, 9).0, ["a", "/guides/", "deploy"]);
    }

    #[test]
    fn text_that_is_too_long_is_cut_and_flagged() {
        let (lines, cut) = wrap("a b c d e f g h", 1, 3);
        assert_eq!((lines.len(), cut), (3, true));
        let (lines, cut) = wrap("1\n2\n3\n4", 10, 2);
        assert_eq!((lines.len(), cut), (2, true));
    }

    proptest! {
        #[test]
        fn no_line_exceeds_the_width(text in "[a-z 日é\\n]{0,200}", width in 2_usize..30, max in 1_usize..20) {
            let (lines, _) = wrap(&text, width, max);
            prop_assert!(lines.len() <= max);
            prop_assert!(lines.iter().all(|line| line.width() <= width));
        }
    }
}
