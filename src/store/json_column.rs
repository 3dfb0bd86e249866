//! Stores page-view responses and counts as JSON in a column, each number exactly as it was received. Since others may
//! have edited the file, reading never fails: what can't be read is treated as missing.

use super::error::StoreError;
use crate::model::text::CleanText;
use crate::model::views::{Count, Counts, PageRow, ViewsPage};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// A page-view response in the form in which it is written to disk.
#[derive(Debug, Serialize)]
struct EncodedViews<'a> {
    totals: WrittenCounts<'a>,
    rows: Vec<(&'a str, WrittenCounts<'a>)>,
    more: Option<bool>,
}

/// Three counts in this order: human, AI, total.
type WrittenCounts<'a> = [WrittenCount<'a>; 3];

/// A count in JSON: a number, the text that was received instead of a number, or null if nothing was received.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum WrittenCount<'a> {
    Known(i64),
    Fraction(f64),
    Other(&'a str),
    Missing(()),
}

/// A page-view response in the form in which it is read from disk.
#[derive(Debug, Deserialize)]
struct DecodedResponse<'a> {
    #[serde(borrow)]
    totals: ReadCounts<'a>,
    rows: Vec<(String, ReadCounts<'a>)>,
    more: Option<bool>,
}

/// Three counts in this order: human, AI, total.
type ReadCounts<'a> = [&'a RawValue; 3];

/// Encodes a response as JSON.
pub(super) fn encode_response(page: &ViewsPage) -> Result<String, StoreError> {
    json(&EncodedViews {
        totals: to_written_counts(&page.totals),
        rows: page.rows.iter().map(|row| (row.path.as_str(), to_written_counts(&row.counts))).collect(),
        more: page.has_more,
    })
}

/// Parses a response from JSON; `None` if the JSON is invalid.
pub(super) fn decode_response(text: &str) -> Option<ViewsPage> {
    let DecodedResponse { totals, rows, more } = serde_json::from_str(text).ok()?;
    let row = |(path, counts): (String, _)| PageRow { path: CleanText::line(&path), counts: to_counts(counts) };
    Some(ViewsPage { totals: to_counts(totals), rows: rows.into_iter().map(row).collect(), has_more: more })
}

/// Encodes three counts as JSON, exactly as received.
pub(super) fn encode_counts(counts: &Counts) -> Result<String, StoreError> {
    json(&to_written_counts(counts))
}

/// Parses three counts from JSON; a count that can't be read is `Missing`.
pub(super) fn decode_counts(text: &str) -> Counts {
    serde_json::from_str(text).map(to_counts).unwrap_or_default()
}

/// Encodes a value as JSON.
pub(super) fn json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Unusable(error.to_string()))
}

fn to_written_counts(counts: &Counts) -> WrittenCounts<'_> {
    [&counts.human, &counts.ai, &counts.total].map(|count| match count {
        Count::Known(n) => WrittenCount::Known(*n),
        Count::Fraction(n) => WrittenCount::Fraction(n.get()),
        Count::Other(text) => WrittenCount::Other(text.as_str()),
        Count::Missing => WrittenCount::Missing(()),
    })
}

fn to_counts(counts: ReadCounts<'_>) -> Counts {
    let [human, ai, total] = counts.map(|raw| {
        Count::from_literal(raw.get()).unwrap_or_else(|| {
            let text = serde_json::from_str::<String>(raw.get());
            text.map_or(Count::Missing, |text| Count::Other(CleanText::line(&text)))
        })
    });
    Counts::new(human, ai, total)
}
