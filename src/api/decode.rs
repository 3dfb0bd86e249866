//! Decodes the service's responses tolerantly: if a field is missing, null, unknown or of another type, at most this
//! field is lost. Of the responses decoded here, only three are rejected: a body that is not a JSON object, a job
//! without a usable id, and page views that have neither totals nor rows, or whose rows are not a list. `analytics` and
//! `previews` decode the service's other responses in the same way.

use super::error::Unreadable;
use super::fields::{FieldValues, body_text, field_values, object_fields, parse_display_text, parse_rows, scalar_text};
use crate::model::remote_job::{JobId, JobSource, RemoteJob, RemoteState, Status};
use crate::model::text::CleanText;
use crate::model::views::{Count, Counts, PageRow, ViewsResponse};
use crate::model::{Time, checked_rfc3339_time};
use chrono::{DateTime, NaiveDate, NaiveDateTime};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::sync::Arc;

/// The path that is shown for a row without a path.
pub(super) const NO_PATH: &str = "(no path)";
/// The names of the fields of one row of page views.
pub(super) const ROW_FIELDS: [&str; 4] = ["path", "human", "ai", "total"];
/// The maximum number of characters of a malformed number; a longer one is cut.
const MAX_NUMBER_CHARS: usize = 40;

/// Decodes a job. The id may also be a number.
pub(super) fn decode_job(body: &[u8]) -> Result<RemoteJob, Unreadable> {
    let body = body_text(body);
    let names = &["id", "status", "source", "model", "prLink", "createdAt", "archivedAt"];
    let [id, status, source, model, pr_link, created_at, archived_at] = object_fields(&body, names)?;
    let id = id.and_then(parse_job_id).ok_or(Unreadable::NoId)?;
    // If the source is a string, this string is the repository.
    let [repository, git_ref] = source.map_or([None; 2], |raw| field_values(raw, &["repository", "ref"]));
    let state = RemoteState {
        status: Some(Status::parse(status.and_then(scalar_text).as_deref().unwrap_or_default())),
        source: JobSource {
            repository: repository.and_then(parse_display_text).map(Arc::new),
            git_ref: git_ref.and_then(parse_display_text),
        },
        model: model.and_then(parse_display_text).map(Arc::new),
        // A link must be a string: `false` or `0` means that there is no link.
        pr_link: pr_link.filter(|raw| raw.get().starts_with('"')).and_then(parse_display_text),
        archived_at: archived_at.and_then(parse_time),
    };
    Ok(RemoteJob { id, created_at: created_at.and_then(parse_time), state })
}

/// Decodes page views. Rejects an object that has neither totals nor rows, or whose rows are not a list, because the
/// object would look like a site without views. If a row is not an object, or its field names can't be decoded, only
/// the values of this row are lost.
pub(super) fn decode_views(body: &[u8]) -> Result<ViewsResponse, Unreadable> {
    let body = body_text(body);
    let [totals, has_more, views] = object_fields(&body, &["totals", "hasMore", "views"])?;
    let rows = views.map(|raw| parse_rows(raw, &ROW_FIELDS).ok_or(Unreadable::NoViews)).transpose()?;
    if rows.is_none() && totals.is_none() {
        return Err(Unreadable::NoViews);
    }
    // The totals have the same fields as a row, except for the path.
    let [_, human, ai, total] = totals.map_or([None; 4], |raw| field_values(raw, &ROW_FIELDS));
    Ok(ViewsResponse {
        totals: parse_counts(human, ai, total),
        rows: rows.unwrap_or_default().into_iter().map(parse_page_row).collect(),
        has_more: has_more.and_then(parse_flag),
    })
}

/// Returns the message of an error body: `error` and `details[].message`, or the fields that other services use
/// instead. Returns `None` if there is no message.
pub(super) fn error_message(body: &[u8]) -> Option<String> {
    let body = body_text(body);
    if let Ok(message) = serde_json::from_str::<String>(&body) {
        return Some(message);
    }
    let [error, message, details] = object_fields(&body, &["error", "message", "details"]).ok()?;
    let message = error.and_then(self::message_text).or_else(|| message.and_then(self::message_text));
    let details = details.and_then(|raw| parse_rows(raw, &["message"])).unwrap_or_default();
    let details: Vec<String> =
        details.into_iter().filter_map(|[message]| message.and_then(scalar_text)).map(Cow::into_owned).collect();
    match (message, details.is_empty()) {
        (message, true) => message,
        (Some(message), false) => Some(format!("{message}: {}", details.join("; "))),
        (None, false) => Some(details.join("; ")),
    }
}

/// Returns the id if it can be used to fetch the job again, otherwise `None`: for example, for a boolean, or for an id
/// with a replacement character, which shows that the id was damaged. Without an id, the prompt becomes unconfirmed,
/// which is better than tracking a job that can't be fetched again.
fn parse_job_id(raw: &RawValue) -> Option<JobId> {
    let id = match raw.get().bytes().next()? {
        b'"' => serde_json::from_str(raw.get()).ok().filter(|id: &String| !id.contains(char::REPLACEMENT_CHARACTER)),
        b'-' | b'0'..=b'9' => Some(raw.get().to_owned()),
        _ => None,
    };
    JobId::new(&id?)
}

/// Returns the text of a message, which is a string or the field `message` of an object.
fn message_text(raw: &RawValue) -> Option<String> {
    let [message] = field_values(raw, &["message"]);
    message.and_then(scalar_text).map(Cow::into_owned)
}

fn parse_page_row([path, human, ai, total]: FieldValues<'_, 4>) -> PageRow {
    let path = path.and_then(parse_display_text).unwrap_or_else(|| CleanText::line(NO_PATH));
    PageRow { path, counts: parse_counts(human, ai, total) }
}

fn parse_counts(human: Option<&RawValue>, ai: Option<&RawValue>, total: Option<&RawValue>) -> Counts {
    Counts::new(parse_count(human), parse_count(ai), parse_count(total))
}

/// Parses a count from a JSON number (`12`, `12.0`, `12.5`, `1.2e1`). Any other value is kept as text, cut to
/// [`MAX_NUMBER_CHARS`].
pub(super) fn parse_count(raw: Option<&RawValue>) -> Count {
    let Some(raw) = raw else {
        return Count::Missing;
    };
    Count::from_json_number(raw.get()).unwrap_or_else(|| {
        Count::Other(CleanText::title(scalar_text(raw).as_deref().unwrap_or(raw.get()), MAX_NUMBER_CHARS))
    })
}

pub(super) fn parse_flag(raw: &RawValue) -> Option<bool> {
    let text = scalar_text(raw)?;
    match text.trim() {
        yes if yes == "1" || yes.eq_ignore_ascii_case("true") => Some(true),
        no if no == "0" || no.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// Parses an RFC 3339 time. A time without a zone, or a date without a time, is read as UTC. Returns `None` for any
/// other text and for years of more than four digits.
pub(super) fn parse_time(raw: &RawValue) -> Option<Time> {
    let text = scalar_text(raw)?;
    let text = text.trim();
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return checked_rfc3339_time(time.to_utc());
    }
    let spaced = text.replacen('T', " ", 1);
    let local = NaiveDateTime::parse_from_str(&spaced, "%Y-%m-%d %H:%M:%S%.f").ok();
    let local = local.or_else(|| text.parse::<NaiveDate>().ok()?.and_hms_opt(0, 0, 0));
    local.and_then(|local| checked_rfc3339_time(local.and_utc()))
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
