//! Takes keys out of texts that are about to be shown, logged or exported: a key that stands in the wrong field of a
//! configuration, or that the service repeats.
//!
//! Three rules, from mild to strict: [`redacted`] finds keys of the service by their form and leaves all other text alone;
//! [`Redactor`] also finds one key that is known; [`redacted_setting`] and [`redacted_words`] are for the user's own settings,
//! where hiding too much costs little.

use super::endpoint::ApiKey;
use super::text::CleanText;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// What stands for a key that was taken out.
const REDACTED: &str = "***";
/// What every key of the service begins with, without the underscore behind it.
const PREFIX: &[u8] = b"mint";
/// Characters of a key's random part, at least; shorter ones are words, such as `mint_config`.
const SHORTEST: usize = 8;
/// A part of a name that is as long as this is no word, whatever it is made of.
const LONGEST_WORD: usize = 20;
/// What base64 makes of `mint_` and `MINT_`, depending on how many bytes stand before it; incomplete characters left out.
const ENCODED: [&[u8]; 6] = [b"bWludF", b"1pbnRf", b"taW50X", b"TUlOVF", b"1JTlRf", b"NSU5UX"];
/// Shortest run of base64 that can hold a key.
const SHORTEST_ENCODED: usize = 16;
/// Shortest key that is looked for in other forms than its own: a shorter one could be a part of anything.
const SHORTEST_KNOWN: usize = 8;

/// The text without anything that has the form of a service's key, plain, percent-encoded or in base64.
pub fn redacted(text: &str) -> Cow<'_, str> {
    without(text, |bytes, at| key_at(bytes, at, false))
}

/// A text that repeats a setting of the user's own: as [`redacted`], and without anything that a token of whatever service
/// looks like.
pub fn redacted_setting(text: &str) -> Cow<'_, str> {
    let text = match without(text, |bytes, at| key_at(bytes, at, true)) {
        Cow::Borrowed(text) => return without(text, token_at),
        Cow::Owned(text) => text,
    };
    Cow::Owned(without(&text, token_at).into_owned())
}

/// What a mistake in a file of settings says: as [`redacted_setting`], and without anything that is no word. A piece of a key
/// that was torn apart by the mistake is not seen either.
pub fn redacted_words(text: &str) -> String {
    let text = redacted_setting(text);
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_ref();
    while let Some(first) = rest.chars().next() {
        let is_word = first.is_alphanumeric();
        let end = rest.find(|c: char| c.is_alphanumeric() != is_word).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        out.push_str(if is_word && !is_a_word(part) { REDACTED } else { part });
        rest = after;
    }
    out
}

/// A path from the settings: as [`redacted_setting`], and its last part as [`redacted_words`], since a key that is taken for
/// the name of a file stands there.
pub fn redacted_path(path: &Path) -> PathBuf {
    let whole = path.display().to_string();
    let text = redacted_setting(&whole);
    let (folder, name) = text.rsplit_once('/').map_or(("", text.as_ref()), |(folder, name)| (folder, name));
    let name = redacted_words(name);
    match text.strip_suffix(name.as_str()) {
        // Nothing is taken out: the path stays what it is, text or not.
        Some(_) if text == whole => path.to_path_buf(),
        _ if text.contains('/') => PathBuf::from(format!("{folder}/{name}")),
        _ => PathBuf::from(name),
    }
}

/// Takes one known key out of texts, as it is, in other case, percent-encoded or in base64.
#[derive(Debug)]
pub struct Redactor {
    /// Found whatever the case of their letters.
    plain: Vec<Zeroizing<String>>,
    encoded: Vec<Zeroizing<String>>,
}

impl Redactor {
    /// For this key. Keep it no longer than needed: it has the key in several forms.
    pub fn new(key: &ApiKey) -> Self {
        let key = key.expose();
        let mut plain = vec![Zeroizing::new(key.to_owned())];
        let mut encoded = Vec::new();
        if key.len() >= SHORTEST_KNOWN {
            let in_url = percent_encoding::utf8_percent_encode(key, percent_encoding::NON_ALPHANUMERIC);
            plain.push(Zeroizing::new(in_url.to_string()));
            for form in [key.to_owned(), key.to_ascii_uppercase(), key.to_ascii_lowercase()].map(Zeroizing::new) {
                encoded.extend((0..3).map(|before| in_base64(form.as_bytes(), before)));
            }
            encoded.dedup();
        }
        Self { plain, encoded }
    }

    /// The text without the key.
    pub fn redacted<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let text = self.redacted_plain(text);
        if !self.encoded.iter().any(|form| text.contains(form.as_str())) {
            return text;
        }
        let is_encoded = |bytes: &[u8], at: usize| {
            let form = self.encoded.iter().find(|form| starts_with(bytes, at, form.as_bytes()))?;
            Some(around(bytes, at..at + form.len(), is_base64))
        };
        Cow::Owned(without(&text, is_encoded).into_owned())
    }

    /// Takes the key out of a text that is clean already.
    pub fn clean(&self, text: &mut CleanText) {
        if let Cow::Owned(redacted) = self.redacted(text.as_str()) {
            *text = CleanText::line(&redacted);
        }
    }

    /// Whether the text has the key in it.
    pub fn finds(&self, text: &str) -> bool {
        matches!(self.redacted(text), Cow::Owned(_))
    }

    fn redacted_plain<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let is_short = self.encoded.is_empty();
        without(text, |bytes, at| {
            let form = self.plain.iter().find(|form| match bytes.get(at..at + form.len()) {
                Some(found) if is_short => found == form.as_bytes(),
                Some(found) => found.eq_ignore_ascii_case(form.as_bytes()),
                None => false,
            })?;
            Some(at..at + form.len())
        })
    }
}

/// The key in base64 behind so many other bytes, as far as only the key decides about the characters.
fn in_base64(key: &[u8], before: usize) -> Zeroizing<String> {
    let mut bytes = Zeroizing::new(vec![0; before]);
    bytes.extend_from_slice(key);
    let text = Zeroizing::new(STANDARD_NO_PAD.encode(bytes.as_slice()));
    let whole = bytes.len() * 8 / 6;
    Zeroizing::new(text.get((before * 8).div_ceil(6)..whole).unwrap_or_default().to_owned())
}

/// The text without what `find` finds; `find` gets a place and tells which range around it is a key.
fn without(text: &str, find: impl Fn(&[u8], usize) -> Option<Range<usize>>) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let (mut kept, mut at) = (0, 0);
    while at < bytes.len() {
        match find(bytes, at) {
            Some(key) => {
                out.push_str(text.get(kept..key.start.max(kept)).unwrap_or_default());
                out.push_str(REDACTED);
                kept = key.end;
                at = key.end.max(at + 1);
            }
            None => at += 1,
        }
    }
    if kept == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(text.get(kept..).unwrap_or_default());
    Cow::Owned(out)
}

/// A key of the service whose telling character is at this place.
fn key_at(bytes: &[u8], at: usize, is_strict: bool) -> Option<Range<usize>> {
    let separator = match bytes.get(at)? {
        b'_' => 1,
        b'%' if bytes.get(at + 1..at + 3)?.eq_ignore_ascii_case(b"5f") => 3,
        b'F' | b'f' | b'X' => {
            let form = ENCODED.iter().find(|form| bytes.get(..=at).is_some_and(|head| head.ends_with(form)))?;
            let run = around(bytes, at + 1 - form.len()..at + 1, is_base64);
            return (run.len() >= SHORTEST_ENCODED).then_some(run);
        }
        _ => return None,
    };
    let start = at.checked_sub(PREFIX.len())?;
    if !bytes.get(start..at)?.eq_ignore_ascii_case(PREFIX) {
        return None;
    }
    let secret = around(bytes, at + separator..at + separator, is_of_key);
    let secret = at + separator..secret.end;
    let begins_a_word = start == 0 || bytes.get(start - 1).is_some_and(|before| !before.is_ascii_alphanumeric());
    let is_key = if is_strict { !secret.is_empty() } else { begins_a_word && is_random(bytes.get(secret.clone())?) };
    is_key.then(|| start..around(bytes, secret, |byte| is_of_key(byte) || b"+=~%".contains(&byte)).end)
}

/// Whether a part of this name is too long or too mixed for a word.
fn is_random(name: &[u8]) -> bool {
    name.split(|byte| matches!(byte, b'_' | b'-')).any(|part| {
        let has = |is: fn(&u8) -> bool| part.iter().any(is);
        let is_mixed = has(u8::is_ascii_digit) || has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
        part.len() >= LONGEST_WORD || part.len() >= SHORTEST && is_mixed
    })
}

/// A token of any service that begins at this place: a long run of letters and digits, on its own or behind a prefix.
fn token_at(bytes: &[u8], at: usize) -> Option<Range<usize>> {
    let is_inside = at > 0 && bytes.get(at - 1).is_some_and(|before| is_of_key(*before));
    if is_inside || !bytes.get(at).is_some_and(|byte| is_of_key(*byte)) {
        return None;
    }
    let token = around(bytes, at..at, is_of_key);
    let mut has_prefix = false;
    let is_token = bytes.get(token.clone())?.split(|byte| matches!(byte, b'_' | b'-')).any(|part| {
        let digits = part.iter().filter(|byte| byte.is_ascii_digit()).count();
        let is_mixed = digits > 0 && digits < part.len();
        let least = if has_prefix { SHORTEST_ENCODED } else { LONGEST_WORD };
        has_prefix |= part.len() >= 2;
        is_mixed && part.len() >= least
    });
    is_token.then_some(token)
}

/// Whether letters and digits read as a word of a sentence or a name, not as a piece of a key.
fn is_a_word(part: &str) -> bool {
    let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = part.len() - letters.len();
    if part.len() <= 4 || letters.is_empty() || !part.is_ascii() {
        return true;
    }
    let capitals = letters.bytes().filter(u8::is_ascii_uppercase).count();
    let has_digits_inside = letters.bytes().any(|byte| byte.is_ascii_digit());
    !has_digits_inside && digits <= 3 && letters.len() <= LONGEST_WORD && (capitals <= 3 || capitals == letters.len())
}

fn starts_with(bytes: &[u8], at: usize, form: &[u8]) -> bool {
    !form.is_empty() && bytes.get(at..).is_some_and(|rest| rest.starts_with(form))
}

/// The range with all such bytes next to it on both sides.
fn around(bytes: &[u8], range: Range<usize>, is: impl Fn(u8) -> bool) -> Range<usize> {
    let before = bytes.get(..range.start).unwrap_or_default().iter().rev().take_while(|byte| is(**byte)).count();
    let after = bytes.get(range.end..).unwrap_or_default().iter().take_while(|byte| is(**byte)).count();
    range.start - before..range.end + after
}

fn is_of_key(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
    use proptest::prelude::*;

    #[test]
    fn a_key_of_the_service_is_taken_out_wherever_it_stands() {
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
    fn what_is_no_key_stays_as_it_is() {
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
    fn settings_lose_tokens_of_any_service_and_short_keys() {
        for (text, left) in [
            ("mint_a", "***"),
            ("ghp_16C7e42F292c6912E7710c838347Ae178B4a is it", "*** is it"),
            ("sk_live_51H8a2b3c4d5e6f7g8 is it", "*** is it"),
            ("/home/me/.tmpAb12Cd/config.toml, api_key_command", "/home/me/.tmpAb12Cd/config.toml, api_key_command"),
        ] {
            assert_eq!(redacted_setting(text), left);
        }
        let mistake = "unknown field `mnt_m4rk3dk3y`, expected one of `base_url`, `api_key_file`, F12, PgDown or UTF-8";
        assert_eq!(redacted_words(mistake), mistake.replace("m4rk3dk3y", "***"));
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
                let core = in_base64(form.as_bytes(), before.len() % 3);
                let text = format!("it is {}{after}", encoded(&form));
                prop_assert!(!redactor.redacted(&text).contains(core.as_str()), "{text}");
            }
            let in_url = percent_encoding::utf8_percent_encode(&key, percent_encoding::NON_ALPHANUMERIC).to_string();
            prop_assert!(!redactor.redacted(&in_url).contains(&in_url));
        }

        #[test]
        fn a_text_stays_text_whatever_is_taken_out(text in "\\PC{0,60}(mint_[a-f0-9]{0,20})?\\PC{0,20}") {
            let once = redacted(&text).into_owned();
            prop_assert_eq!(redacted(&once).into_owned(), once.clone());
            prop_assert!(redacted_words(&text).len() <= 3 * text.len() + 3);
        }
    }
}
