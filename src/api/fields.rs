//! The parts of an answer while they are still JSON: the fields of an object, the rows of a list, the text in a value.
//!
//! What is asked for is kept as the raw text that came until its meaning is known, so numbers lose no digit. What nobody
//! asks for is skipped, however deep it nests, and costs no stack.

use super::error::Unreadable;
use crate::model::text::CleanText;
use serde::de::{DeserializeSeed, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// Longest text of a field that is kept, in characters; far beyond any link or path that works.
const LONGEST_TEXT: usize = 8_192;

/// The values of fields, in the order in which they were asked for: none for what is missing or null. A name that comes
/// twice is no error: the last one counts.
pub(super) type FieldValues<'a, const N: usize> = [Option<&'a RawValue>; N];

/// The fields of an element of a list: up to four are asked for.
pub(super) type ViewsRowFields<'a> = FieldValues<'a, 4>;

/// Two fields of an object and the list in it; none where that is missing or null.
pub(super) type WithRows<'a> = (FieldValues<'a, 2>, Option<Vec<ViewsRowFields<'a>>>);

/// Bytes that are no UTF-8 cost the character, not the answer; a byte order mark is skipped.
pub(super) fn as_text(body: &[u8]) -> Cow<'_, str> {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body);
    // The check alone costs a fraction of the mending, and there is hardly ever anything to mend.
    std::str::from_utf8(body).map_or_else(|_| String::from_utf8_lossy(body), Cow::Borrowed)
}

/// The fields of a body that is one object.
pub(super) fn object<'a, const N: usize>(body: &'a str, names: &[&str; N]) -> Result<FieldValues<'a, N>, Unreadable> {
    let mut values = [None; N];
    whole(body, Fields { names, values: &mut values, list: None })?;
    Ok(values)
}

/// As [`object`], but the last of the three fields is a list whose elements are read in the same pass. It fails where that
/// is no list, or one of them no object.
pub(super) fn object_and_rows<'a>(
    body: &'a str,
    names: &[&str; 3],
    of_row: &[&str],
) -> Result<WithRows<'a>, Unreadable> {
    let (mut values, mut rows) = ([None; 2], None);
    let list = Some((Rows { names: of_row, tolerant: false }, &mut rows));
    whole(body, Fields { names, values: &mut values, list })?;
    Ok((values, rows))
}

fn whole<'a>(body: &'a str, fields: Fields<'_, 'a>) -> Result<(), Unreadable> {
    if body.trim().is_empty() {
        return Err(Unreadable::Empty);
    }
    let mut json = serde_json::Deserializer::from_str(body);
    json.deserialize_map(fields).and_then(|()| json.end()).map_err(|_| Unreadable::NotJson)
}

/// The fields of an object; anything else stands in the place of the first, like an object whose names can't be read.
pub(super) fn parts<'a, const N: usize>(raw: &'a RawValue, names: &[&str; N]) -> FieldValues<'a, N> {
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

/// The elements of a list, whatever they are, each read like [`parts`]; none of what is no list.
pub(super) fn rows<'a>(raw: &'a RawValue, names: &[&str]) -> Option<Vec<ViewsRowFields<'a>>> {
    Rows { names, tolerant: true }.deserialize(raw).ok()
}

/// Reads the fields of an object into `values`.
struct Fields<'f, 'de> {
    names: &'f [&'f str],
    values: &'f mut [Option<&'de RawValue>],
    /// What becomes of a field whose name comes after those of the values.
    list: Option<(Rows<'f>, &'f mut Option<Vec<ViewsRowFields<'de>>>)>,
}

impl<'de> Visitor<'de> for Fields<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut map: A) -> Result<(), A::Error> {
        while let Some(place) = map.next_key_seed(Name(self.names))? {
            let value = place.and_then(|place| self.values.get_mut(place));
            match (value, &mut self.list) {
                (Some(value), _) => *value = map.next_value()?,
                (None, Some((list, rows))) if place.is_some() => **rows = Some(map.next_value_seed(*list)?),
                (None, _) => drop(map.next_value::<IgnoredAny>()?),
            }
        }
        Ok(())
    }
}

/// Reads the name of a field as its place among those that are asked for, so that it need not be kept.
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

/// Reads a list of objects.
#[derive(Clone, Copy)]
struct Rows<'f> {
    names: &'f [&'f str],
    /// Whether other elements are taken too. What an element is shows only once it is read, so each is scanned twice then.
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

/// Reads an element of a list.
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

/// A string, or the literal of a number or a boolean; none for null, lists and objects.
pub(super) fn text(raw: &RawValue) -> Option<Cow<'_, str>> {
    let literal = raw.get();
    match literal.bytes().next()? {
        b'"' => Some(string(literal)),
        b'{' | b'[' | b'n' => None,
        _ => Some(Cow::Borrowed(literal)),
    }
}

/// What a string literal says: what stands between its quotes, unless there is a backslash.
fn string(literal: &str) -> Cow<'_, str> {
    let within = literal.trim_matches('"');
    if !literal.as_bytes().contains(&b'\\') {
        return Cow::Borrowed(within);
    }
    // A string with half of a surrogate pair in it is no string to serde; what came is better than nothing.
    serde_json::from_str(literal).map_or(Cow::Borrowed(within), Cow::Owned)
}

/// A text to show; none where nothing would be shown.
pub(super) fn line(raw: &RawValue) -> Option<CleanText> {
    let text = text(raw)?;
    let line = CleanText::line(head(&text));
    (!line.is_empty()).then_some(line)
}

/// As much of a text as is kept. Only one with more bytes can have more characters.
fn head(text: &str) -> &str {
    let end = (text.len() > LONGEST_TEXT).then(|| text.char_indices().nth(LONGEST_TEXT)).flatten();
    end.and_then(|(end, _)| text.get(..end)).unwrap_or(text)
}
