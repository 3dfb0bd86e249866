//! Converts page-view responses and counts to and from the JSON of a column. Keeps each number exactly as it was
//! received. The file may have been edited by hand, so unreadable JSON is no error: a response is `None` then, and a
//! count is `Missing`.

use super::error::StoreError;
use crate::model::text::CleanText;
use crate::model::views::{Count, Counts, PageRow, ViewsResponse};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A page-view response in the form in which it is written to disk.
#[derive(Debug, Serialize)]
struct EncodedViewsResponse<'a> {
    totals: EncodedCounts<'a>,
    rows: Vec<(&'a str, EncodedCounts<'a>)>,
    more: Option<bool>,
}

/// Three counts in this order: human, AI, total.
type EncodedCounts<'a> = [EncodedCount<'a>; 3];

/// A count in JSON: a number, the text that was received instead of a number, or null if there was no count.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum EncodedCount<'a> {
    Known(i64),
    NonInteger(f64),
    Other(&'a str),
    Missing(()),
}

/// A page-view response in the form in which it is read from disk.
#[derive(Debug, Deserialize)]
struct DecodedViewsResponse<'a> {
    #[serde(borrow)]
    totals: RawCounts<'a>,
    rows: Vec<(String, RawCounts<'a>)>,
    more: Option<bool>,
}

/// Three counts in this order: human, AI, total.
type RawCounts<'a> = [&'a RawValue; 3];

/// Encodes a response as JSON.
pub(super) fn encode_response(response: &ViewsResponse) -> Result<String, StoreError> {
    to_json(&EncodedViewsResponse {
        totals: to_encoded_counts(&response.totals),
        rows: response.rows.iter().map(|row| (row.path.as_str(), to_encoded_counts(&row.counts))).collect(),
        more: response.has_more,
    })
}

/// Parses a response from JSON; `None` if the JSON is invalid.
pub(super) fn decode_response(text: &str) -> Option<ViewsResponse> {
    let DecodedViewsResponse { totals, rows, more } = serde_json::from_str(text).ok()?;
    let row = |(path, counts): (String, _)| PageRow { path: CleanText::line(&path), counts: to_counts(counts) };
    Some(ViewsResponse { totals: to_counts(totals), rows: rows.into_iter().map(row).collect(), has_more: more })
}

/// Encodes three counts as JSON, exactly as received.
pub(super) fn encode_counts(counts: &Counts) -> Result<String, StoreError> {
    to_json(&to_encoded_counts(counts))
}

/// Parses three counts from JSON; a count that can't be read is `Missing`.
pub(super) fn decode_counts(text: &str) -> Counts {
    serde_json::from_str(text).map(to_counts).unwrap_or_default()
}

pub(super) fn to_json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Unusable(error.to_string()))
}

fn to_encoded_counts(counts: &Counts) -> EncodedCounts<'_> {
    [&counts.human, &counts.ai, &counts.total].map(|count| match count {
        Count::Known(n) => EncodedCount::Known(*n),
        Count::NonInteger(n) => EncodedCount::NonInteger(n.get()),
        Count::Other(text) => EncodedCount::Other(text.as_str()),
        Count::Missing => EncodedCount::Missing(()),
    })
}

fn to_counts(counts: RawCounts<'_>) -> Counts {
    let [human, ai, total] = counts.map(|raw| {
        Count::from_json_number(raw.get()).unwrap_or_else(|| {
            let text = serde_json::from_str::<String>(raw.get());
            text.map_or(Count::Missing, |text| Count::Other(CleanText::line(&text)))
        })
    });
    Counts::new(human, ai, total)
}
