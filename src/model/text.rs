//! Makes text from outside docdeck safe to show. Such text must be converted to [`CleanText`] before it reaches the
//! screen or the log.
//!
//! Cleaning removes everything that could move the cursor, hide or reorder text, or create links (control characters
//! with their escape sequences, bidi controls, zero-width and tag characters) and limits combining marks.

use super::redaction::redacted;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::borrow::Cow;
use std::fmt;

/// Maximum combining marks per base character. Real scripts need up to four.
const MAX_COMBINING_MARKS: usize = 4;

/// Text without control characters, hidden characters or service keys. Every constructor cleans its input.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CleanText(Box<str>);

impl CleanText {
    /// Cleans text for a single line: line breaks and tabs become spaces, and both ends are trimmed.
    pub fn line(raw: &str) -> Self {
        if is_printable_ascii(raw) {
            return Self(redacted(raw.trim()).into());
        }
        let text = remove_controls(raw, Whitespace::Spaces);
        Self(redacted(text.trim()).into())
    }

    /// Cleans text of several lines: CR and CRLF become LF, and a tab becomes four spaces.
    pub fn block(raw: &str) -> Self {
        if is_printable_ascii(raw) {
            return Self(redacted(raw).into());
        }
        Self(redacted(&remove_controls(raw, Whitespace::Lines)).into())
    }

    /// Returns the first line that isn't blank, cut to `max` characters with `…` if it is longer. Used for titles and
    /// quotes.
    pub fn title(raw: &str, max: usize) -> Self {
        let first = raw.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("");
        // Redacts before cutting, because a key that was cut would not be recognized as a key.
        let first = redacted(first);
        let head: String = first.chars().take(max.saturating_mul(2)).collect();
        let line = Self::line(&head);
        if line.0.chars().count() <= max && head.len() == first.len() {
            return line;
        }
        let mut cut: String = line.0.chars().take(max.saturating_sub(1)).collect();
        cut.push('…');
        Self(cut.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for CleanText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for CleanText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl Serialize for CleanText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// Cleans the text for a single line.
impl<'de> Deserialize<'de> for CleanText {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Cow::<str>::deserialize(deserializer).map(|raw| Self::line(&raw))
    }
}

impl AsRef<str> for CleanText {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// Cleans source text line by line. Tabs, LF and CRLF stay, so that the lines of a diff stay the same. Does not remove
/// service keys.
pub fn clean_source_code(raw: &str) -> Cow<'_, str> {
    let is_clean = |text: &str| text.bytes().all(|byte| matches!(byte, b' '..=b'~' | b'\n' | b'\t'));
    if is_clean(raw) {
        return Cow::Borrowed(raw);
    }
    let mut out = String::with_capacity(raw.len());
    for line in raw.split_inclusive('\n') {
        // Each line is cleaned separately, so that an unterminated escape sequence can't remove the following lines.
        if is_clean(line) { out.push_str(line) } else { out.push_str(&remove_controls(line, Whitespace::Source)) }
    }
    Cow::Owned(out)
}

/// Filters the output of a command right before it is written to stdout or stderr. Of all control and format
/// characters, only line breaks, tabs and well-formed colours (SGR sequences) pass.
pub fn filter_output(text: &str) -> Cow<'_, str> {
    if !text.contains(|c: char| is_hidden(c) && c != '\n' && c != '\t') {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let (taken, after) = rest.split_at(if c == '\x1b' { sgr_length(rest).unwrap_or(1) } else { c.len_utf8() });
        if taken.len() > 1 && c == '\x1b' || matches!(c, '\n' | '\t') || !is_hidden(c) {
            out.push_str(taken);
        }
        rest = after;
    }
    Cow::Owned(out)
}

/// Returns the length in bytes of the SGR sequence at the start of the text, or `None` if there is none.
fn sgr_length(text: &str) -> Option<usize> {
    let parameters = text.strip_prefix("\x1b[")?;
    let end = parameters.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    parameters.get(end..)?.starts_with('m').then_some(end + 3)
}

/// Replaces every control and format character in JSON, except LF, with an escape such as `\u001b`. A JSON parser reads
/// the same text, but a terminal never receives these characters.
pub fn escaped_json(json: &str) -> Cow<'_, str> {
    if !json.contains(|c: char| is_hidden(c) && c != '\n') {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if c == '\n' || !is_hidden(c) {
            out.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            out.push_str(&format!("\\u{unit:04x}"));
        }
    }
    Cow::Owned(out)
}

/// How tabs and line breaks are converted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whitespace {
    /// Each tab and each line break becomes a space.
    Spaces,
    /// CR and CRLF become LF, and a tab becomes four spaces.
    Lines,
    /// Tabs, LF and CRLF stay. A CR without an LF becomes a space.
    Source,
}

/// Whether the text is only printable ASCII and therefore needs no cleaning, like most text.
pub fn is_printable_ascii(raw: &str) -> bool {
    raw.bytes().all(|byte| matches!(byte, b' '..=b'~'))
}

fn remove_controls(raw: &str, whitespace: Whitespace) -> String {
    let line_break = if whitespace == Whitespace::Spaces { ' ' } else { '\n' };
    let mut out = String::with_capacity(raw.len());
    let mut marks = 0;
    let mut chars = raw.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' => match (chars.next_if_eq(&'\n').is_some(), whitespace) {
                (true, Whitespace::Source) => out.push_str("\r\n"),
                (false, Whitespace::Source) => out.push(' '),
                _ => out.push(line_break),
            },
            '\n' => out.push(line_break),
            // In source text, line and paragraph separators become spaces, because they don't end a line of a diff.
            '\u{2028}' | '\u{2029}' => out.push(if whitespace == Whitespace::Lines { '\n' } else { ' ' }),
            '\t' => out.push_str(match whitespace {
                Whitespace::Spaces => " ",
                Whitespace::Lines => "    ",
                Whitespace::Source => "\t",
            }),
            // An escape sequence is removed completely, so combining marks after it belong to the character before it.
            '\x1b' => {
                skip_escape(&mut chars);
                continue;
            }
            '\u{9b}' => {
                skip_csi(&mut chars);
                continue;
            }
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => {
                skip_control_string(&mut chars);
                continue;
            }
            c if is_hidden(c) => continue,
            c if is_combining_mark(c) => {
                marks += 1;
                if marks <= MAX_COMBINING_MARKS {
                    out.push(c);
                }
                continue;
            }
            c => out.push(c),
        }
        marks = 0;
    }
    out
}

type Chars<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn skip_escape(chars: &mut Chars<'_>) {
    match chars.peek() {
        Some('[') => {
            chars.next();
            skip_csi(chars);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            chars.next();
            skip_control_string(chars);
        }
        // An escape sequence with intermediate characters before its final character, for example one that selects a
        // character set.
        Some(' '..='/') => {
            while chars.next_if(|c| (' '..='/').contains(c)).is_some() {}
            chars.next_if(|c| ('0'..='~').contains(c));
        }
        Some('0'..='~') => {
            chars.next();
        }
        _ => {}
    }
}

fn skip_csi(chars: &mut Chars<'_>) {
    while chars.next_if(|c| (' '..='?').contains(c)).is_some() {}
    chars.next_if(|c| ('@'..='~').contains(c));
}

/// Skips an OSC, DCS, SOS, PM or APC sequence. A sequence without a terminator ends at the end of its line.
fn skip_control_string(chars: &mut Chars<'_>) {
    while let Some(&c) = chars.peek() {
        match c {
            '\n' | '\r' => return,
            '\x07' | '\u{9c}' => {
                chars.next();
                return;
            }
            '\x1b' => {
                chars.next();
                chars.next_if_eq(&'\\');
                return;
            }
            _ => {
                chars.next();
            }
        }
    }
}

/// Formats names as a list within a sentence: `a, b and c`.
pub fn join_with_and(names: &[&str]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}

/// Returns the text with its first letter in upper case.
pub fn sentence_case(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(char::to_uppercase).into_iter().flatten();
    first.chain(letters).collect()
}

/// Whether a character is a control or format character, which is invisible or changes how its neighbours are shown.
pub fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}'
            | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{3164}'
            | '\u{feff}' | '\u{ffa0}' | '\u{fff9}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Whether a character is a combining mark, joiner or variation selector. These have no width and can be stacked.
fn is_combining_mark(c: char) -> bool {
    !c.is_ascii() && unicode_width::UnicodeWidthChar::width(c) == Some(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn source_text_keeps_its_lines_tabs_and_line_ends() {
        assert_eq!(clean_source_code("a\tb\r\nc\n"), "a\tb\r\nc\n");
        assert_eq!(clean_source_code("+a\x1b]0;title\n-b\rc\u{200b}d\u{2028}e\n"), "+a\n-b cd e\n");
    }

    #[test]
    fn escape_sequences_are_removed_with_their_contents() {
        let raw = "a\x1b[31mb\x1b]8;;https://evil\x1b\\c\x1b]52;c;AAAA\x07d\x1bP1$q\x1b\\e\u{9b}2Jf\x1b(0g";
        assert_eq!(CleanText::line(raw).as_str(), "abcdefg");
    }

    #[test]
    fn bidi_zero_width_and_tag_characters_are_removed() {
        let raw = "a\u{202e}b\u{2066}c\u{200b}d\u{feff}e\u{e0041}f\u{61c}";
        assert_eq!(CleanText::line(raw).as_str(), "abcdef");
    }

    #[test]
    fn the_number_of_combining_marks_is_limited() {
        let raw = format!("e{}x", "\u{301}\u{200b}".repeat(500));
        assert_eq!(CleanText::line(&raw).as_str().chars().count(), 1 + MAX_COMBINING_MARKS + 1);
    }

    #[test]
    fn an_emoji_family_keeps_its_joiners() {
        let family = "👨\u{200d}👩\u{200d}👧";
        assert_eq!(CleanText::line(family).as_str(), family);
    }

    #[test]
    fn a_block_keeps_line_breaks_and_a_line_replaces_them() {
        assert_eq!(CleanText::block("a\r\nb\rc\nd").as_str(), "a\nb\nc\nd");
        assert_eq!(CleanText::line("a\r\nb\tc\n").as_str(), "a b c");
    }

    #[test]
    fn an_unterminated_sequence_ends_at_the_end_of_its_line() {
        assert_eq!(CleanText::block("a\x1b]0;title\nb").as_str(), "a\nb");
    }

    #[test]
    fn a_title_is_the_first_line_that_is_not_blank() {
        assert_eq!(CleanText::title("\n  \n Fix the links \nmore", 40).as_str(), "Fix the links");
        assert_eq!(CleanText::title("abcdefghij", 5).as_str(), "abcd…");
    }

    #[test]
    fn only_colours_line_breaks_and_tabs_pass_the_output_filter() {
        let painted = "\x1b[1;38;2;1;2;3mfailed\x1b[0m\tx\n";
        assert_eq!(filter_output(painted), painted);
        let bad = "a\x1b[2Jb\x1b]0;t\x07c\u{9b}31md\x1b[31\u{202e}me\rf\u{200b}\x1b[3";
        assert_eq!(filter_output(bad), "a[2Jb]0;tc31md[31mef[3");
    }

    #[test]
    fn escaped_json_parses_to_the_same_text() {
        let text = "a\x1b\u{7f}\u{9b}\u{202e}\u{e0041}\u{2028}世\"\\\n";
        let json = serde_json::to_string_pretty(&[text]).expect("JSON");
        let escaped = escaped_json(&json);
        assert!(!escaped.contains(|c: char| c != '\n' && is_hidden(c)), "{escaped:?}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&escaped).expect("JSON"), [text]);
    }

    proptest! {
        #[test]
        fn filtering_output_twice_changes_nothing_more(raw in "[\\x00-\\x7f\u{80}-\u{a0}\u{200b}-\u{202f}]*|\\PC*") {
            let once = filter_output(&raw).into_owned();
            let only_colors = once.split('\x1b').skip(1).all(|part| part.starts_with('['));
            prop_assert!(only_colors && !once.contains(|c: char| is_hidden(c) && !matches!(c, '\n' | '\t' | '\x1b')));
        }

        #[test]
        fn no_control_character_survives(raw in "\\PC*|[\\x00-\\x1f\\x7f-\\u{9f}a-z\\[\\]]*") {
            let line = CleanText::line(&raw);
            prop_assert!(!line.as_str().chars().any(is_hidden));
            let block = CleanText::block(&raw);
            prop_assert!(!block.as_str().chars().any(|c| c != '\n' && is_hidden(c)));
        }
    }
}
