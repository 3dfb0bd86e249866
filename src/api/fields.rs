//! Reads parts of an answer as raw JSON: the fields of an object, the elements of a list, the text of a value.
//!
//! Requested values stay raw text until they are interpreted, so numbers lose no digits. Other values are skipped
//! without recursion, so deep nesting can't overflow the stack.

use super::error::Unreadable;
use crate::model::text::CleanText;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// The maximum number of characters of a text that are kept; far more than any usable link or path has.
const MAX_TEXT_CHARS: usize = 8_192;

/// The values of the requested fields of an object, in the order of the request; `None` if a field is missing or null.
/// If a name occurs twice, its last value counts.
pub(super) type FieldValues<'a, const N: usize> = [Option<&'a RawValue>; N];

/// The values of up to four fields of a list element.
pub(super) type ViewsRowFields<'a> = FieldValues<'a, 4>;

/// The values of two fields of an object, and the elements of the list in its third field; `None` instead of the
/// elements if the list is missing or null.
pub(super) type FieldsAndRows<'a> = (FieldValues<'a, 2>, Option<Vec<ViewsRowFields<'a>>>);

/// Returns the body as text, without a byte order mark. Invalid UTF-8 becomes replacement characters, so that the rest
/// of the answer can be used.
pub(super) fn body_text(body: &[u8]) -> Cow<'_, str> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    // Checking is much cheaper than replacing, and hardly any body has invalid UTF-8.
    std::str::from_utf8(body).map_or_else(|_| String::from_utf8_lossy(body), Cow::Borrowed)
}

/// Returns the requested fields of a body that is one object.
pub(super) fn object_fields<'a, const N: usize>(
    body: &'a str,
    names: &[&str; N],
) -> Result<FieldValues<'a, N>, Unreadable> {
    let mut values = [None; N];
    read_body(body, Fields { names, values: &mut values, list: None })?;
    Ok(values)
}

/// Returns the first two of three requested fields of a body that is one object, and the elements of the list in the
/// third field, which are read in the same pass. Fails if the third field is not a list, or if an element is not an
/// object.
pub(super) fn object_and_rows<'a>(
    body: &'a str,
    names: &[&str; 3],
    row_names: &[&str],
) -> Result<FieldsAndRows<'a>, Unreadable> {
    let (mut values, mut rows) = ([None; 2], None);
    let list = Some((Rows { names: row_names, tolerant: false }, &mut rows));
    read_body(body, Fields { names, values: &mut values, list })?;
    Ok((values, rows))
}

fn read_body<'a>(body: &'a str, fields: Fields<'_, 'a>) -> Result<(), Unreadable> {
    if body.trim().is_empty() {
        return Err(Unreadable::Empty);
    }
    let mut json = serde_json::Deserializer::from_str(body);
    json.deserialize_map(fields).and_then(|()| json.end()).map_err(|_| Unreadable::NotJson)
}

/// Returns the requested fields of an object. If `raw` is anything else, or an object with unreadable names, `raw`
/// itself becomes the first value.
pub(super) fn field_values<'a, const N: usize>(raw: &'a RawValue, names: &[&str; N]) -> FieldValues<'a, N> {
    let mut values = [None; N];
    read_parts(raw, names, &mut values);
    values
}

fn read_parts<'a>(raw: &'a RawValue, names: &[&str], values: &mut [Option<&'a RawValue>]) {
    if raw.deserialize_map(Fields { names, values: &mut *values, list: None }).is_err() {
        values.fill(None);
        if let Some(first) = values.first_mut() {
            *first = Some(raw);
        }
    }
}

/// Reads each element of a list like [`field_values`]. Elements may have any type. Returns `None` if `raw` is not a
/// list.
pub(super) fn parse_rows<'a>(raw: &'a RawValue, names: &[&str]) -> Option<Vec<ViewsRowFields<'a>>> {
    Rows { names, tolerant: true }.deserialize(raw).ok()
}

/// Reads the fields of an object into `values`.
struct Fields<'f, 'de> {
    names: &'f [&'f str],
    values: &'f mut [Option<&'de RawValue>],
    /// How to read the list in the last requested field, and where to store its elements. If this is set, `names` has
    /// one more name than `values`.
    list: Option<(Rows<'f>, &'f mut Option<Vec<ViewsRowFields<'de>>>)>,
}

impl<'de> Visitor<'de> for Fields<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(index) = map.next_key_seed(Name(self.names))? {
            let value = index.and_then(|index| self.values.get_mut(index));
            match (value, &mut self.list) {
                (Some(value), _) => *value = map.next_value()?,
                (None, Some((list, rows))) if index.is_some() => **rows = Some(map.next_value_seed(*list)?),
                (None, _) => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Reads the name of a field as its index among the requested names, without allocating.
struct Name<'f>(&'f [&'f str]);

impl<'de> DeserializeSeed<'de> for Name<'_> {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, name: D) -> Result<Option<usize>, D::Error> {
        name.deserialize_str(self)
    }
}

impl Visitor<'_> for Name<'_> {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Option<usize>, E> {
        Ok(self.0.iter().position(|known| *known == name))
    }
}

/// Reads the requested fields of each object in a list.
#[derive(Clone, Copy)]
struct Rows<'f> {
    names: &'f [&'f str],
    /// Whether to accept elements that are not objects. If so, each element is scanned twice.
    tolerant: bool,
}

impl<'de> DeserializeSeed<'de> for Rows<'_> {
    type Value = Vec<ViewsRowFields<'de>>;

    fn deserialize<D: Deserializer<'de>>(self, list: D) -> Result<Self::Value, D::Error> {
        list.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Rows<'_> {
    type Value = Vec<ViewsRowFields<'de>>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut rows = Vec::new();
        while let Some(row) = list.next_element_seed(Element(self))? {
            rows.push(row);
        }
        Ok(rows)
    }
}

/// Reads the requested fields of one element of a list.
struct Element<'f>(Rows<'f>);

impl<'de> DeserializeSeed<'de> for Element<'_> {
    type Value = ViewsRowFields<'de>;

    fn deserialize<D: Deserializer<'de>>(self, element: D) -> Result<ViewsRowFields<'de>, D::Error> {
        let Self(Rows { names, tolerant }) = self;
        let mut values = ViewsRowFields::default();
        match tolerant {
            true => read_parts(<&RawValue>::deserialize(element)?, names, &mut values),
            false => element.deserialize_map(Fields { names, values: &mut values, list: None })?,
        }
        Ok(values)
    }
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
    // A string with half of a surrogate pair is an error for serde; the raw text is better than nothing.
    serde_json::from_str(literal).map_or(Cow::Borrowed(within), Cow::Owned)
}

/// Returns the text of a value, cleaned for display, or `None` if nothing would be visible.
pub(super) fn parse_line(raw: &RawValue) -> Option<CleanText> {
    let text = scalar_text(raw)?;
    let line = CleanText::line(truncated(&text));
    (!line.is_empty()).then_some(line)
}

/// Cuts a text to [`MAX_TEXT_CHARS`] characters. Characters are counted only if there are more bytes than that.
fn truncated(text: &str) -> &str {
    let end = (text.len() > MAX_TEXT_CHARS).then(|| text.char_indices().nth(MAX_TEXT_CHARS)).flatten();
    end.and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}
