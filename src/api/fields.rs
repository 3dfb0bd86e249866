//! Reads parts of a response as raw JSON: the fields of an object, the elements of a list, the text of a value.
//!
//! Requested values stay raw text until they are interpreted, so numbers lose no digits. Other values are skipped
//! without recursion, so deep nesting can't overflow the stack.

use super::error::Unreadable;
use crate::model::text::CleanText;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::HashMap;

/// The maximum number of characters that are kept of a text: far more than any usable link or path has.
const MAX_TEXT_CHARS: usize = 8_192;

/// The values of the requested fields of an object, in the order of the requested names; `None` if a field is missing
/// or null. If a name occurs twice, its last value counts.
pub(super) type FieldValues<'a, const N: usize> = [Option<&'a RawValue>; N];

/// An object with raw values; `None` instead of null.
type RawObject<'a> = HashMap<String, Option<&'a RawValue>>;

/// Returns the body as text, without a byte order mark. Invalid UTF-8 becomes replacement characters, so that the rest
/// of the response can be used.
pub(super) fn body_text(body: &[u8]) -> Cow<'_, str> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    // Checking is much cheaper than replacing, and hardly any body has invalid UTF-8.
    std::str::from_utf8(body).map_or_else(|_| String::from_utf8_lossy(body), Cow::Borrowed)
}

/// Returns the requested fields of a body that is one object. Fails if the body is anything else; an empty body has an
/// error of its own.
pub(super) fn object_fields<'a, const N: usize>(
    body: &'a str,
    names: &[&str; N],
) -> Result<FieldValues<'a, N>, Unreadable> {
    if body.trim().is_empty() {
        return Err(Unreadable::Empty);
    }
    let object = serde_json::from_str(body).map_err(|_| Unreadable::NotJson)?;
    Ok(select_fields(&object, names))
}

/// Returns the requested fields of an object. If `raw` is anything else, such as a string, or if its field names can't
/// be decoded, `raw` itself becomes the first value, and the other values are `None`.
pub(super) fn field_values<'a, const N: usize>(raw: &'a RawValue, names: &[&str; N]) -> FieldValues<'a, N> {
    match serde_json::from_str(raw.get()) {
        Ok(object) => select_fields(&object, names),
        Err(_) => std::array::from_fn(|index| (index == 0).then_some(raw)),
    }
}

fn select_fields<'a, const N: usize>(object: &RawObject<'a>, names: &[&str; N]) -> FieldValues<'a, N> {
    names.map(|name| object.get(name).copied().flatten())
}

/// Applies [`field_values`] to each element of a list. Elements may have any type. Returns `None` if `raw` is not a
/// list.
pub(super) fn parse_rows<'a, const N: usize>(raw: &'a RawValue, names: &[&str; N]) -> Option<Vec<FieldValues<'a, N>>> {
    let elements: Vec<&RawValue> = serde_json::from_str(raw.get()).ok()?;
    Some(elements.into_iter().map(|element| field_values(element, names)).collect())
}

/// Returns the content of a string, or the literal of a number or a boolean. Returns `None` for null, lists and
/// objects.
pub(super) fn scalar_text(raw: &RawValue) -> Option<Cow<'_, str>> {
    let literal = raw.get();
    match literal.bytes().next()? {
        b'"' => Some(string_content(literal)),
        b'{' | b'[' | b'n' => None,
        _ => Some(Cow::Borrowed(literal)),
    }
}

/// Returns the content of a string literal, with its escapes decoded.
fn string_content(literal: &str) -> Cow<'_, str> {
    let within = literal.trim_matches('"');
    if !literal.as_bytes().contains(&b'\\') {
        return Cow::Borrowed(within);
    }
    // serde can't decode a string with half of a surrogate pair. Then the raw text is returned, which is better than
    // nothing.
    serde_json::from_str(literal).map_or(Cow::Borrowed(within), Cow::Owned)
}

/// Returns the text of a value, cleaned for display, or `None` if nothing would be visible.
pub(super) fn parse_display_text(raw: &RawValue) -> Option<CleanText> {
    let text = scalar_text(raw)?;
    let line = CleanText::line(truncated(&text));
    (!line.is_empty()).then_some(line)
}

/// Cuts a text to [`MAX_TEXT_CHARS`] characters. Characters are counted only if the text has more bytes than this
/// number.
pub(super) fn truncated(text: &str) -> &str {
    let end = (text.len() > MAX_TEXT_CHARS).then(|| text.char_indices().nth(MAX_TEXT_CHARS)).flatten();
    end.and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}
