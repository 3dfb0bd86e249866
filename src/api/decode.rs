//! Decodes the service's answers tolerantly: a field that is missing, null, unknown or of another type costs at most
//! that field. Only a body that is not a JSON object and a job without an id are rejected.

use super::error::Unreadable;
use super::fields::{
    ViewsRowFields, WithRows, body_text, field_values, object, object_and_rows, parse_line, parse_rows, scalar_text,
};
use crate::model::job::{JobId, RemoteJob, Status};
use crate::model::text::CleanText;
use crate::model::views::{Count, Counts, PageRow, ViewsPage};
use crate::model::{Time, in_rfc3339_range};
use chrono::{DateTime, NaiveDate, NaiveDateTime};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The path shown for a row without one.
const NO_PATH: &str = "(no path)";
/// The fields of an answer with page views, and of a row in it.
const VIEWS: [&str; 3] = ["totals", "hasMore", "views"];
const ROW: [&str; 4] = ["path", "human", "ai", "total"];
/// The longest malformed number that is shown unchanged, in characters.
const MAX_NUMBER_CHARS: usize = 40;

/// Decodes a job. The id may also be a number.
pub(super) fn decode_job(body: &[u8]) -> Result<RemoteJob, Unreadable> {
    let body = body_text(body);
    let names = &["id", "status", "source", "model", "prLink", "createdAt", "archivedAt"];
    let [id, status, source, model, pr_link, created_at, archived_at] = object(&body, names)?;
    let id = id.and_then(job_id).ok_or(Unreadable::NoId)?;
    // A source that is a string is the repository.
    let [repository, git_ref] = source.map_or([None; 2], |raw| field_values(raw, &["repository", "ref"]));
    Ok(RemoteJob {
        id,
        status: Status::parse(status.and_then(scalar_text).as_deref().unwrap_or_default()),
        repository: repository.and_then(parse_line),
        git_ref: git_ref.and_then(parse_line),
        model: model.and_then(parse_line),
        // A link is a string: `false` or `0` mean that there is none.
        pr_link: pr_link.filter(|raw| raw.get().starts_with('"')).and_then(parse_line),
        created_at: created_at.and_then(parse_time),
        archived_at: archived_at.and_then(parse_time),
    })
}

/// Decodes page views. An object with neither totals nor rows is rejected; it is not a site without views.
pub(super) fn decode_views(body: &[u8]) -> Result<ViewsPage, Unreadable> {
    let body = body_text(body);
    let ([totals, has_more], rows) =
        object_and_rows(&body, &VIEWS, &ROW).or_else(|_| views_with_malformed_rows(&body))?;
    if rows.is_none() && totals.is_none() {
        return Err(Unreadable::NoViews);
    }
    // The totals are a row without a path.
    let [_, human, ai, total] = totals.map_or([None; 4], |raw| field_values(raw, &ROW));
    Ok(ViewsPage {
        totals: parse_counts(human, ai, total),
        rows: rows.unwrap_or_default().into_iter().map(parse_page_row).collect(),
        has_more: has_more.and_then(flag),
    })
}

/// Decodes an answer that can't be read in one pass: a row that is not an object, or has unreadable names, costs only
/// itself.
fn views_with_malformed_rows(body: &str) -> Result<WithRows<'_>, Unreadable> {
    let [totals, has_more, views] = object(body, &VIEWS)?;
    let rows = views.map(|raw| parse_rows(raw, &ROW).ok_or(Unreadable::NoViews)).transpose()?;
    Ok(([totals, has_more], rows))
}

/// The message of an error body: `error` and `details[].message`, or the fields commonly used instead.
pub(super) fn error_message(body: &[u8]) -> Option<String> {
    let body = body_text(body);
    if let Ok(message) = serde_json::from_str::<String>(&body) {
        return Some(message);
    }
    let [error, message, details] = object(&body, &["error", "message", "details"]).ok()?;
    let message = error.and_then(self::message_text).or_else(|| message.and_then(self::message_text));
    let details = details.and_then(|raw| parse_rows(raw, &["message"])).unwrap_or_default();
    let details: Vec<String> =
        details.into_iter().filter_map(|[message, ..]| message.and_then(scalar_text)).map(Cow::into_owned).collect();
    match (message, details.is_empty()) {
        (message, true) => message,
        (Some(message), false) => Some(format!("{message}: {}", details.join("; "))),
        (None, false) => Some(details.join("; ")),
    }
}

/// An id that can be used to fetch the job again. One with a character lost in transit could not be found, and a
/// boolean is not an id: an unconfirmed prompt is better than one accepted as a job that can't be found.
fn job_id(raw: &RawValue) -> Option<JobId> {
    let id = match raw.get().bytes().next()? {
        b'"' => serde_json::from_str(raw.get()).ok().filter(|id: &String| !id.contains(char::REPLACEMENT_CHARACTER)),
        b'-' | b'0'..=b'9' => Some(raw.get().to_owned()),
        _ => None,
    };
    JobId::new(&id?)
}

/// The text of a message, as a string or inside an object.
fn message_text(raw: &RawValue) -> Option<String> {
    let [message] = field_values(raw, &["message"]);
    message.and_then(scalar_text).map(Cow::into_owned)
}

fn parse_page_row([path, human, ai, total]: ViewsRowFields<'_>) -> PageRow {
    let path = path.and_then(parse_line).unwrap_or_else(|| CleanText::line(NO_PATH));
    PageRow { path, counts: parse_counts(human, ai, total) }
}

fn parse_counts(human: Option<&RawValue>, ai: Option<&RawValue>, total: Option<&RawValue>) -> Counts {
    Counts { human: parse_count(human), ai: parse_count(ai), total: parse_count(total) }
}

/// A JSON number is a count (`12`, `12.0`, `12.5`, `1.2e1`). Everything else is kept unchanged.
fn parse_count(raw: Option<&RawValue>) -> Count {
    let Some(raw) = raw else {
        return Count::Missing;
    };
    Count::from_literal(raw.get()).unwrap_or_else(|| {
        Count::Odd(CleanText::title(scalar_text(raw).as_deref().unwrap_or(raw.get()), MAX_NUMBER_CHARS))
    })
}

fn flag(raw: &RawValue) -> Option<bool> {
    let text = scalar_text(raw)?;
    match text.trim() {
        yes if yes == "1" || yes.eq_ignore_ascii_case("true") => Some(true),
        no if no == "0" || no.eq_ignore_ascii_case("false") => Some(false),
        _ => None,
    }
}

/// RFC 3339; a time without a zone and a bare date are UTC. `None` for a year of more than four digits.
fn parse_time(raw: &RawValue) -> Option<Time> {
    let text = scalar_text(raw)?;
    let text = text.trim();
    if let Ok(time) = DateTime::parse_from_rfc3339(text) {
        return in_rfc3339_range(time.to_utc());
    }
    let spaced = text.replacen('T', " ", 1);
    let local = NaiveDateTime::parse_from_str(&spaced, "%Y-%m-%d %H:%M:%S%.f").ok();
    let local = local.or_else(|| text.parse::<NaiveDate>().ok()?.and_hms_opt(0, 0, 0));
    local.and_then(|local| in_rfc3339_range(local.and_utc()))
}

#[cfg(test)]
#[path = "decode_tests.rs"]
mod tests;
