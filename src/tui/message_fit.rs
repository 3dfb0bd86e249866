//! Shortens a message to the space on screen. The quotation in the message is shortened first, because the words around
//! the quotation explain what happened and what to do.

use super::format::truncate;
use super::wrap::wrap;

/// Breaks `text` into at most `max` lines of `width` cells. If the text doesn't fit, a `…` marks where it was cut.
pub fn fit_message(text: &str, width: usize, max: usize) -> Vec<String> {
    let (mut lines, cut) = wrap(text, width, max);
    if !cut {
        return lines;
    }
    if let Some(shorter) = shorten_quotation(text, |text| !wrap(text, width, max).1) {
        return wrap(&shorter, width, max).0;
    }
    if let Some(last) = lines.last_mut() {
        *last = truncate(&format!("{last}…"), width);
    }
    lines
}

/// Returns the text with as much of its quotation as fits. `None` if the text has no quotation, or doesn't fit even
/// with an empty quotation.
fn shorten_quotation(text: &str, fits: impl Fn(&str) -> bool) -> Option<String> {
    let (before, rest) = text.split_once('“')?;
    let (quoted, after) = rest.rsplit_once('”')?;
    let with = |length: usize| {
        let quoted: String = quoted.chars().take(length).collect();
        format!("{before}“{}…”{after}", quoted.trim_end())
    };
    let (mut fitting, mut too_long) = (0, quoted.chars().count());
    if !fits(&with(fitting)) {
        return None;
    }
    // A binary search works because a text that fits also fits with a shorter quotation.
    while too_long - fitting > 1 {
        let middle = fitting + (too_long - fitting) / 2;
        if fits(&with(middle)) {
            fitting = middle;
        } else {
            too_long = middle;
        }
    }
    Some(with(fitting))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn the_quotation_is_cut_before_the_rest_of_the_message() {
        let text = "Refused (400: “the words of the service”); correct it.";
        assert_eq!(fit_message(text, 60, 1), [text]);
        assert_eq!(fit_message(text, 20, 2), ["Refused (400: “the", "word…”); correct it."]);
        assert_eq!(fit_message(text, 16, 2), ["Refused (400:", "“the words of…"]);
        assert_eq!(fit_message("nothing is quoted here", 10, 1), ["nothing i…"]);
        assert_eq!(fit_message("", 10, 3), [""; 0]);
    }

    proptest! {
        #[test]
        fn no_line_is_too_wide_and_cut_text_ends_in_an_ellipsis(
            text in "[a-z “”日]{0,200}",
            width in 4_usize..40,
            max in 1_usize..6,
        ) {
            let lines = fit_message(&text, width, max);
            prop_assert!(lines.len() <= max);
            prop_assert!(lines.iter().all(|line| line.width() <= width), "{lines:?}");
            let (_, cut) = wrap(&text, width, max);
            prop_assert_eq!(cut, lines.concat().contains('…'));
        }
    }
}
