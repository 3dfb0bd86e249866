//! Finds the blanks of prompt templates, such as `{{path}}`.

use std::ops::Range;

/// The maximum length of a blank's name, in bytes.
const MAX_BLANK_NAME_BYTES: usize = 40;

/// Returns the byte range of the first blank: a name of lower-case letters, digits, `_` and `-` between `{{` and `}}`.
/// `None` if there is no blank.
pub fn find_template_blank(text: &str) -> Option<Range<usize>> {
    let (before, blank, _) = split_at_template_blank(text)?;
    Some(before.len()..before.len() + blank.len())
}

pub fn count_template_blanks(text: &str) -> usize {
    std::iter::successors(split_at_template_blank(text), |(.., rest)| split_at_template_blank(rest)).count()
}

/// Splits the text into the part before the first blank, the blank with its braces, and the rest. `None` if there is no
/// blank.
pub(super) fn split_at_template_blank(text: &str) -> Option<(&str, &str, &str)> {
    let mut from = 0;
    loop {
        let open = from + text.get(from..)?.find("{{")?;
        let inside = text.get(open + 2..)?;
        let is_name_char = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'_' | b'-');
        let length = inside.bytes().take(MAX_BLANK_NAME_BYTES + 1).take_while(is_name_char).count();
        if (1..=MAX_BLANK_NAME_BYTES).contains(&length) && inside.get(length..)?.starts_with("}}") {
            let end = open + length + 4;
            return Some((text.get(..open)?, text.get(open..end)?, text.get(end..)?));
        }
        from = open + 1;
    }
}
