//! Reads the service's answers into the model's types, as tolerantly as api.md asks: a field that is missing, null, of
//! another type or unknown costs that field at most. Only a body that is no JSON object, or a job without an id, is refused.
//!
//! Values are kept as the raw text that came until their field is known, so numbers lose no digit and nesting that nobody
//! asks for costs no stack.

use super::error::Unreadable;
use crate::model::job::{Job, JobId, Status};
use crate::model::text::CleanText;
use crate::model::views::{Count, Counts, PageRow, ViewsPage};
use crate::model::{Time, sayable};
use chrono::{DateTime, NaiveDate, NaiveDateTime};
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// What a row without a path is listed as.
const NO_PATH: &str = "(no path)";
/// Longest text of a field that is kept, in characters; far beyond any link or path that works.
const LONGEST_TEXT: usize = 8_192;
/// Longest number that is kept as it came, in characters.
const LONGEST_NUMBER: usize = 40;

/// A job. The id may also come as a number.
pub(super) fn job(body: &[u8]) -> Result<Job, Unreadable> {
    let body = as_text(body);
    let fields = object(&body)?;
    let id = fields.get("id").and_then(job_id).ok_or(Unreadable::NoId)?;
    let source = fields.get("source");
    let within = source.and_then(|raw| serde_json::from_str::<Fields<'_>>(raw.get()).ok()).unwrap_or_default();
    Ok(Job {
        id,
        status: Status::parse(&fields.get("status").and_then(text).unwrap_or_default()),
        repository: within.text("repository").or_else(|| source.and_then(line)),
        git_ref: within.text("ref"),
        model: fields.text("model"),
        pr_link: fields.link("prLink"),
        created_at: fields.get("createdAt").and_then(time),
        archived_at: fields.get("archivedAt").and_then(time),
    })
}

/// Page views. An object that has neither totals nor rows is something else, not a site without views.
pub(super) fn views(body: &[u8]) -> Result<ViewsPage, Unreadable> {
    let body = as_text(body);
    let fields = object(&body)?;
    let rows = match fields.get("views") {
        Some(raw) => serde_json::from_str::<Vec<&RawValue>>(raw.get()).map_err(|_| Unreadable::NoViews)?,
        None if fields.get("totals").is_some() => Vec::new(),
        None => return Err(Unreadable::NoViews),
    };
    let totals = fields.get("totals").and_then(|raw| serde_json::from_str::<Fields<'_>>(raw.get()).ok());
    Ok(ViewsPage {
        totals: counts(&totals.unwrap_or_default()),
        rows: rows.into_iter().map(row).collect(),
        has_more: fields.get("hasMore").and_then(flag),
    })
}

/// The message of an error body: `error` and `details[].message`, or what commonly stands in their place.
pub(super) fn error_message(body: &[u8]) -> Option<String> {
    let body = as_text(body);
    if let Ok(message) = serde_json::from_str::<String>(&body) {
        return Some(message);
    }
    let fields = object(&body).ok()?;
    let message = fields.get("error").and_then(message).or_else(|| fields.get("message").and_then(message));
    let details = fields.get("details").and_then(|raw| serde_json::from_str::<Vec<&RawValue>>(raw.get()).ok());
    let details: Vec<String> = details.unwrap_or_default().into_iter().filter_map(self::message).collect();
    match (message, details.is_empty()) {
        (message, true) => message,
        (Some(message), false) => Some(format!("{message}: {}", details.join("; "))),
        (None, false) => Some(details.join("; ")),
    }
}

/// A JSON object with its values unread. A name that comes twice is no error: the last one counts.
#[derive(Default)]
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Fields<'a> {
    /// None for what is missing or null.
    fn get(&self, name: &str) -> Option<&'a RawValue> {
        let (_, raw) = self.0.iter().rev().find(|(known, _)| known == name)?;
        (raw.get() != "null").then_some(*raw)
    }

    fn text(&self, name: &str) -> Option<CleanText> {
        self.get(name).and_then(line)
    }

    /// A link is a string: `false` or `0` say that there is none.
    fn link(&self, name: &str) -> Option<CleanText> {
        self.get(name).filter(|raw| raw.get().starts_with('"')).and_then(line)
    }

    fn count(&self, name: &str) -> Count {
        self.get(name).map_or(Count::Missing, count)
    }
}

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Fields<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some(field) = map.next_entry()? {
                    fields.push(field);
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

/// Bytes that are no UTF-8 cost the character, not the answer; a byte order mark is skipped.
fn as_text(body: &[u8]) -> Cow<'_, str> {
    String::from_utf8_lossy(body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body))
}

fn object(body: &str) -> Result<Fields<'_>, Unreadable> {
    if body.trim().is_empty() {
        return Err(Unreadable::Empty);
    }
    serde_json::from_str(body).map_err(|_| Unreadable::NotJson)
}

/// An id that leads back to the job. One with a character that got lost on the way would be asked for in vain, and a
/// boolean is none: better a prompt that is unconfirmed than one that is accepted as a job nobody finds again.
fn job_id(raw: &RawValue) -> Option<JobId> {
    let id = match raw.get().bytes().next()? {
        b'"' => serde_json::from_str(raw.get()).ok().filter(|id: &String| !id.contains(char::REPLACEMENT_CHARACTER)),
        b'-' | b'0'..=b'9' => Some(raw.get().to_owned()),
        _ => None,
    };
    JobId::new(&id?)
}

/// A string, or the literal of a number or a boolean; none for null, lists and objects.
fn text(raw: &RawValue) -> Option<String> {
    match raw.get().bytes().next()? {
        // A string with half of a surrogate pair in it is no string to serde; what came is better than nothing.
        b'"' => Some(serde_json::from_str(raw.get()).unwrap_or_else(|_| raw.get().trim_matches('"').to_owned())),
        b'{' | b'[' | b'n' => None,
        _ => Some(raw.get().to_owned()),
    }
}

/// A text to show; none where nothing would be shown.
fn line(raw: &RawValue) -> Option<CleanText> {
    let text = text(raw)?;
    let line = match text.char_indices().nth(LONGEST_TEXT) {
        Some((end, _)) => CleanText::line(text.get(..end).unwrap_or_default()),
        None => CleanText::line(&text),
    };
    (!line.is_empty()).then_some(line)
}

/// The text of a message, on its own or inside an object.
fn message(raw: &RawValue) -> Option<String> {
    text(raw).or_else(|| {
        let fields: Fields<'_> = serde_json::from_str(raw.get()).ok()?;
        fields.get("message").and_then(text)
    })
}

fn row(raw: &RawValue) -> PageRow {
    let fields: Fields<'_> = serde_json::from_str(raw.get()).unwrap_or_default();
    let path = fields.text("path").or_else(|| line(raw));
    PageRow { path: path.unwrap_or_else(|| CleanText::line(NO_PATH)), counts: counts(&fields) }
}

fn counts(fields: &Fields<'_>) -> Counts {
    Counts { human: fields.count("human"), ai: fields.count("ai"), total: fields.count("total") }
}

/// `12`, `12.0` and `1.2e1` are whole numbers; everything else is kept as it came.
fn count(raw: &RawValue) -> Count {
    let literal = raw.get();
    let is_number = literal.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    match is_number.then(|| whole(literal)).flatten() {
        Some(number) => Count::Known(number),
        None => Count::Odd(CleanText::title(text(raw).as_deref().unwrap_or(literal), LONGEST_NUMBER)),
    }
}

fn whole(literal: &str) -> Option<i64> {
    if let Ok(number) = literal.parse() {
        return Some(number);
    }
    if let Some((number, fraction)) = literal.split_once('.')
        && fraction.bytes().all(|b| b == b'0')
    {
        return number.parse().ok();
    }
    // Only an exponent is left. Doubles are exact up to 2⁵³; what is larger is not guessed at.
    let number: f64 = literal.contains(['e', 'E']).then(|| literal.parse().ok()).flatten()?;
    (number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_992.0).then(|| format!("{number:.0}").parse().ok())?
}

fn flag(raw: &RawValue) -> Option<bool> {
    match text(raw)?.trim().to_ascii_lowercase().as_str() {
        "true" | "1" => Some(true),
        "false" | "0" => Some(false),
        _ => None,
    }
}

/// RFC 3339; a time without a zone and a bare date count as UTC. A year of more than four digits is none.
fn time(raw: &RawValue) -> Option<Time> {
    let text = text(raw)?;
    let text = text.trim();
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return sayable(time.to_utc());
    }
    let spaced = text.replacen('T', " ", 1);
    let local = NaiveDateTime::parse_from_str(&spaced, "%Y-%m-%d %H:%M:%S%.f").ok();
    let local = local.or_else(|| text.parse::<NaiveDate>().ok()?.and_hms_opt(0, 0, 0));
    local.and_then(|local| sayable(local.and_utc()))
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
