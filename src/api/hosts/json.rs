//! Reads fields of a JSON response tolerantly: a missing field or one of another type is `None`, false or empty.

use crate::model::text::CleanText;
use crate::model::{Time, checked_rfc3339_time};
use serde_json::Value;

/// The maximum number of characters of a title or name.
const MAX_TEXT_CHARS: usize = 300;

pub(super) fn str_field<'a>(value: &'a Value, field: &str) -> Option<&'a str> {
    value.get(field)?.as_str()
}

/// Returns a string field as text for display. The text is empty if the field is missing or not a string.
pub(super) fn display_text_field(value: &Value, field: &str) -> CleanText {
    CleanText::title(str_field(value, field).unwrap_or_default(), MAX_TEXT_CHARS)
}

pub(super) fn u64_field(value: &Value, field: &str) -> Option<u64> {
    value.get(field)?.as_u64()
}

pub(super) fn bool_field(value: &Value, field: &str) -> bool {
    value.get(field).and_then(Value::as_bool).unwrap_or(false)
}

pub(super) fn time_field(value: &Value, field: &str) -> Option<Time> {
    let time = chrono::DateTime::parse_from_rfc3339(str_field(value, field)?).ok()?;
    checked_rfc3339_time(time.to_utc())
}

/// Returns the elements of the list at a JSON pointer such as `/a/b`; empty if there is no list.
pub(super) fn list_at<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
