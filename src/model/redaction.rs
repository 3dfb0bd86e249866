//! Removes API keys from text before it is shown, logged or exported. Text may contain a key because the user put it
//! into the wrong field of the configuration, or because a response of the service repeats it.
//!
//! [`redacted`] finds the service's keys by their form and leaves all other text alone. [`Redactor`] finds one known
//! key in any form. [`redacted_setting`] and [`redacted_except_words`] are for texts about the user's settings, where
//! it does little harm to hide too much.

use super::endpoint::ApiKey;
use super::text::CleanText;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// The text that replaces a removed key.
const REDACTED: &str = "***";
/// The prefix of all keys of the service, without the underscore that follows it.
const KEY_PREFIX: &[u8] = b"mint";
/// The minimum length of the random part of a service key. A shorter part after the prefix is an ordinary word, such
/// as `config` in `mint_config`.
const MIN_KEY_RANDOM_PART_LENGTH: usize = 8;
/// The maximum length of a word in bytes. A longer text without separators may be a key.
const MAX_WORD_LENGTH: usize = 19;
/// The prefixes `mint_` and `MINT_` in base64, without characters that also depend on neighbouring bytes. Each prefix
/// has three forms, for 0, 1 or 2 bytes (modulo 3) before it.
const ENCODED_PREFIXES: [[u8; 6]; 6] = [*b"bWludF", *b"1pbnRf", *b"taW50X", *b"TUlOVF", *b"1JTlRf", *b"NSU5UX"];
/// The minimum length of a base64 text that can contain a service key, and of the part of a token after its prefix.
const MIN_ENCODED_LENGTH: usize = 16;
/// The minimum length of a known key that is also searched for in encoded forms. A shorter key could be part of any
/// text.
const MIN_KEY_LENGTH_FOR_ENCODED_SEARCH: usize = 8;

/// Removes everything that has the form of a service key: plain, percent-encoded or in base64.
pub fn redacted(text: &str) -> Cow<'_, str> {
    replace_keys(text, |bytes, at| key_at(bytes, at, false))
}

/// Redacts a text that quotes a setting. Like [`redacted`], but also removes everything that looks like a token of any
/// service.
pub fn redacted_setting(text: &str) -> Cow<'_, str> {
    let text = match replace_keys(text, |bytes, at| key_at(bytes, at, true)) {
        Cow::Borrowed(text) => return replace_keys(text, token_at),
        Cow::Owned(text) => text,
    };
    Cow::Owned(replace_keys(&text, token_at).into_owned())
}

/// Redacts an error about a settings file. Like [`redacted_setting`], but also removes every sequence of letters and
/// digits that is not a word, because the mistake in the file may have split a key into pieces.
pub fn redacted_except_words(text: &str) -> String {
    let text = redacted_setting(text);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    while let Some(first) = rest.chars().next() {
        let is_word = first.is_alphanumeric();
        let end = rest.find(|c: char| c.is_alphanumeric() != is_word).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        out.push_str(if is_word && !looks_like_word(part) { REDACTED } else { part });
        rest = after;
    }
    out
}

/// Redacts a path from the settings like [`redacted_setting`], and the last part of the path like
/// [`redacted_except_words`], because a key in the wrong field looks like a file name.
pub fn redacted_path(path: &Path) -> PathBuf {
    let original = path.display().to_string();
    let text = redacted_setting(&original);
    let (folder, name) = text.rsplit_once('/').map_or(("", text.as_ref()), |(folder, name)| (folder, name));
    let name = redacted_except_words(name);
    match text.strip_suffix(name.as_str()) {
        // Nothing was removed: return the path unchanged, even if it is not valid UTF-8.
        Some(_) if text == original => path.to_path_buf(),
        _ if text.contains('/') => PathBuf::from(format!("{folder}/{name}")),
        _ => PathBuf::from(name),
    }
}

/// Removes one known key from texts, even if it is in another letter case, percent-encoded or in base64.
#[derive(Debug)]
pub struct Redactor {
    /// The key and its percent-encoded form, searched for in any letter case. If the key is short, only the key itself,
    /// searched for in its exact letter case.
    text_forms: Vec<Zeroizing<String>>,
    /// The base64 forms of the key.
    base64_forms: Vec<Zeroizing<String>>,
}

impl Redactor {
    /// Creates a redactor for this key. Drop it as soon as possible, because it contains the key in several forms.
    pub fn new(key: &ApiKey) -> Self {
        let key = key.expose();
        let mut text_forms = vec![Zeroizing::new(key.to_owned())];
        let mut base64_forms = Vec::new();
        if key.len() >= MIN_KEY_LENGTH_FOR_ENCODED_SEARCH {
            let in_url = percent_encoding::utf8_percent_encode(key, percent_encoding::NON_ALPHANUMERIC);
            text_forms.push(Zeroizing::new(in_url.to_string()));
            for form in [key.to_owned(), key.to_ascii_uppercase(), key.to_ascii_lowercase()].map(Zeroizing::new) {
                base64_forms.extend((0..3).map(|before| base64_form(form.as_bytes(), before)));
            }
            base64_forms.dedup();
        }
        Self { text_forms, base64_forms }
    }

    pub fn redacted<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let text = self.redacted_except_base64(text);
        if !self.base64_forms.iter().any(|form| text.contains(form.as_str())) {
            return text;
        }
        let is_encoded = |bytes: &[u8], at: usize| {
            let form = self.base64_forms.iter().find(|form| starts_with(bytes, at, form.as_bytes()))?;
            Some(extend_range(bytes, at..at + form.len(), is_base64_byte))
        };
        Cow::Owned(replace_keys(&text, is_encoded).into_owned())
    }

    /// Removes the key from a text of one line.
    pub fn redact_line(&self, text: &mut CleanText) {
        if let Cow::Owned(redacted) = self.redacted(text.as_str()) {
            *text = CleanText::line(&redacted);
        }
    }

    /// Removes the key from a clean text of several lines.
    pub fn redact_block(&self, text: &mut CleanText) {
        if let Cow::Owned(redacted) = self.redacted(text.as_str()) {
            *text = CleanText::block(&redacted);
        }
    }

    /// Whether the text contains the key.
    pub fn finds_key_in(&self, text: &str) -> bool {
        matches!(self.redacted(text), Cow::Owned(_))
    }

    fn redacted_except_base64<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let is_short = self.base64_forms.is_empty();
        replace_keys(text, |bytes, at| {
            let form = self.text_forms.iter().find(|form| match bytes.get(at..at + form.len()) {
                Some(found) if is_short => found == form.as_bytes(),
                Some(found) => found.eq_ignore_ascii_case(form.as_bytes()),
                None => false,
            })?;
            Some(at..at + form.len())
        })
    }
}

/// Returns the base64 characters of the key that don't depend on neighbouring bytes, if `before` other bytes precede
/// the key.
fn base64_form(key: &[u8], before: usize) -> Zeroizing<String> {
    let mut bytes = Zeroizing::new(vec![0; before]);
    bytes.extend_from_slice(key);
    let text = Zeroizing::new(STANDARD_NO_PAD.encode(bytes.as_slice()));
    let whole = bytes.len() * 8 / 6;
    Zeroizing::new(text.get((before * 8).div_ceil(6)..whole).unwrap_or_default().to_owned())
}

/// Replaces every key in the text with `***`. `find` gets the bytes of the text and a position, and returns the range
/// of the key that it recognizes at this position, if there is one. The key may start before the position.
fn replace_keys(text: &str, find: impl Fn(&[u8], usize) -> Option<Range<usize>>) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let (mut copied, mut at) = (0, 0);
    while at < bytes.len() {
        match find(bytes, at) {
            Some(key) => {
                out.push_str(text.get(copied..key.start.max(copied)).unwrap_or_default());
                out.push_str(REDACTED);
                copied = key.end;
                at = key.end.max(at + 1);
            }
            None => at += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(copied..).unwrap_or_default());
    Cow::Owned(out)
}

/// Returns the range of the service key around the position `at`. A key is found only if `at` is the position of the
/// separator after the key's prefix (`_` or `%5F`) or, in base64, of the last character of the prefix. If `is_strict`
/// is true, the prefix may be inside a word, and any text after the prefix counts as a key.
#[inline]
fn key_at(bytes: &[u8], at: usize, is_strict: bool) -> Option<Range<usize>> {
    // Inlined without the rest, because nearly all bytes of a text end here.
    match bytes.get(at)? {
        b'_' => plain_key_at(bytes, at..at + 1, is_strict),
        b'%' if bytes.get(at + 1..at + 3)?.eq_ignore_ascii_case(b"5f") => plain_key_at(bytes, at..at + 3, is_strict),
        b'F' | b'f' | b'X' => encoded_key_at(bytes, at),
        _ => None,
    }
}

/// Returns the range of the plain or percent-encoded key with this separator after its prefix.
fn plain_key_at(bytes: &[u8], separator: Range<usize>, is_strict: bool) -> Option<Range<usize>> {
    let start = separator.start.checked_sub(KEY_PREFIX.len())?;
    if !bytes.get(start..separator.start)?.eq_ignore_ascii_case(KEY_PREFIX) {
        return None;
    }
    let secret = separator.end..extend_range(bytes, separator.end..separator.end, is_key_byte).end;
    let begins_a_word = start == 0 || bytes.get(start - 1).is_some_and(|before| !before.is_ascii_alphanumeric());
    let is_key = if is_strict { !secret.is_empty() } else { begins_a_word && is_random(bytes.get(secret.clone())?) };
    is_key.then(|| start..extend_range(bytes, secret, |byte| is_key_byte(byte) || b"+=~%".contains(&byte)).end)
}

/// Returns the range of the base64 text with a key whose prefix ends at the position `at`.
fn encoded_key_at(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let last = bytes.get(..=at)?.last_chunk()?;
    if !ENCODED_PREFIXES.contains(last) {
        return None;
    }
    let text = extend_range(bytes, at + 1 - last.len()..at + 1, is_base64_byte);
    (text.len() >= MIN_ENCODED_LENGTH).then_some(text)
}

/// Whether a part of `name`, between `_` or `-`, is too long to be a word, or has digits or mixed case like a key.
fn is_random(name: &[u8]) -> bool {
    name.split(|byte| matches!(byte, b'_' | b'-')).any(|part| {
        let has = |is: fn(&u8) -> bool| part.iter().any(is);
        let is_mixed = has(u8::is_ascii_digit) || has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
        part.len() > MAX_WORD_LENGTH || part.len() >= MIN_KEY_RANDOM_PART_LENGTH && is_mixed
    })
}

/// Returns the range of a token of any service that starts at `at`: a long sequence of letters and digits, alone or
/// after a prefix.
fn token_at(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let is_inside = at > 0 && bytes.get(at - 1).is_some_and(|before| is_key_byte(*before));
    if is_inside || !bytes.get(at).is_some_and(|byte| is_key_byte(*byte)) {
        return None;
    }
    let token = extend_range(bytes, at..at, is_key_byte);
    let mut has_prefix = false;
    let is_token = bytes.get(token.clone())?.split(|byte| matches!(byte, b'_' | b'-')).any(|part| {
        let digits = part.iter().filter(|byte| byte.is_ascii_digit()).count();
        let is_mixed = digits > 0 && digits < part.len();
        let max_word_length = if has_prefix { MIN_ENCODED_LENGTH - 1 } else { MAX_WORD_LENGTH };
        has_prefix |= part.len() >= 2;
        is_mixed && part.len() > max_word_length
    });
    is_token.then_some(token)
}

/// Whether a sequence of letters and digits is a word or a name, and not a piece of a key.
fn looks_like_word(part: &str) -> bool {
    let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = part.len() - letters.len();
    if part.len() <= 4 || letters.is_empty() || !part.is_ascii() {
        return true;
    }
    let capitals = letters.bytes().filter(u8::is_ascii_uppercase).count();
    let has_digits_inside = letters.bytes().any(|byte| byte.is_ascii_digit());
    !has_digits_inside
        && digits <= 3
        && letters.len() <= MAX_WORD_LENGTH
        && (capitals <= 3 || capitals == letters.len())
}

fn starts_with(bytes: &[u8], at: usize, form: &[u8]) -> bool {
    !form.is_empty() && bytes.get(at..).is_some_and(|rest| rest.starts_with(form))
}

/// Extends the range on both sides over all bytes for which `accepts` returns true.
fn extend_range(bytes: &[u8], range: Range<usize>, accepts: impl Fn(u8) -> bool) -> Range<usize> {
    let before = bytes.get(..range.start).unwrap_or_default().iter().rev().take_while(|byte| accepts(**byte)).count();
    let after = bytes.get(range.end..).unwrap_or_default().iter().take_while(|byte| accepts(**byte)).count();
    range.start - before..range.end + after
}

fn is_key_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_base64_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    use proptest::prelude::*;

    #[test]
    fn a_service_key_is_removed_in_every_form() {
        let key = "mint_0a1b2c3d4e5f6071";
        for form in
            [key.to_owned(), key.to_uppercase(), key.replace('_', "%5F"), "mint_sim_read_00ff00ff00ff".to_owned()]
        {
            for (before, after) in
                [("", ""), ("the key ", " is wrong"), ("https://", "/x"), ("\"", "\""), ("Bearer ", ".")]
            {
                let text = format!("{before}{form}{after}");
                assert_eq!(redacted(&text).trim_end_matches('.'), format!("{before}***{after}").trim_end_matches('.'));
            }
        }
        for before in ["", "a", "ab", "Bearer ", "user:"] {
            let inner = format!("{before}{key}");
            for form in [STANDARD.encode(&inner), URL_SAFE_NO_PAD.encode(&inner), STANDARD.encode(inner.to_uppercase())]
            {
                let text = format!("got {form}.");
                assert!(redacted(&text).starts_with("got ***"), "{text}");
            }
        }
    }

    #[test]
    fn text_without_a_key_stays_unchanged() {
        for text in [
            "mint_config and peppermint_candy12345 and mint_…",
            "/guides/mint_condition/2024",
            "job_01HZX3V7Q2M8R4T6Y9B1C5D7F9 in https://github.com/acme/docs/pull/1423",
            "Rewrite the page about DOCDECK_API_KEY=mint_...",
            "64f1c0e2a9b3d4f5061728394a5b6c7d",
            "",
        ] {
            assert_eq!(redacted(text), text);
            assert!(matches!(redacted(text), Cow::Borrowed(_)));
        }
    }

    #[test]
    fn tokens_of_any_service_and_short_keys_are_removed_from_settings() {
        for (text, left) in [
            ("mint_a", "***"),
            ("ghp_16C7e42F292c6912E7710c838347Ae178B4a is it", "*** is it"),
            ("sk_live_51H8a2b3c4d5e6f7g8 is it", "*** is it"),
            ("/home/me/.tmpAb12Cd/config.toml, api_key_command", "/home/me/.tmpAb12Cd/config.toml, api_key_command"),
        ] {
            assert_eq!(redacted_setting(text), left);
        }
        let mistake = "unknown field `mnt_m4rk3dk3y`, expected one of `base_url`, `api_key_file`, F12, PgDown or UTF-8";
        assert_eq!(redacted_except_words(mistake), mistake.replace("m4rk3dk3y", "***"));
        let (word, key) = ("a".repeat(MAX_WORD_LENGTH), "a".repeat(MAX_WORD_LENGTH + 1));
        assert_eq!(redacted_except_words(&format!("{word}, {key}")), format!("{word}, ***"));
        assert_eq!(redacted(&format!("mint_{word}, mint_{key}")), format!("mint_{word}, ***"));
    }

    proptest! {
        #[test]
        fn a_known_key_is_found_in_every_form(
            key in "[a-z]{3,6}_[A-Za-z0-9/+=.]{8,40}",
            before in "[ -~é日]{0,9}",
            after in "[ ,;\"]?",
        ) {
            let known = ApiKey::new(&key).expect("a key");
            let redactor = Redactor::new(&known);
            let encoded = |text: &str| STANDARD.encode(format!("{before}{text}"));
            for form in [key.clone(), key.to_uppercase(), key.to_lowercase()] {
                let text = format!("{before}{form}{after}");
                prop_assert!(!redactor.redacted(&text).contains(&form), "{text}");
                let core = base64_form(form.as_bytes(), before.len() % 3);
                let text = format!("it is {}{after}", encoded(&form));
                prop_assert!(!redactor.redacted(&text).contains(core.as_str()), "{text}");
            }
            let in_url = percent_encoding::utf8_percent_encode(&key, percent_encoding::NON_ALPHANUMERIC).to_string();
            prop_assert!(!redactor.redacted(&in_url).contains(&in_url));
        }

        #[test]
        fn redacting_twice_changes_nothing_more(text in "\\PC{0,60}(mint_[a-f0-9]{0,20})?\\PC{0,20}") {
            let once = redacted(&text).into_owned();
            prop_assert_eq!(redacted(&once).into_owned(), once.clone());
            prop_assert!(redacted_except_words(&text).len() <= 3 * text.len() + 3);
        }
    }
}
