//! Stores page-view answers and counts as JSON in a column, each number exactly as it was received. Since others may
//! have edited the file, reading never fails: what can't be read is treated as missing.

use super::error::StoreError;
use crate::model::text::CleanText;
use crate::model::views::{Count, Counts, PageRow, ViewsPage};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// A page-view answer in the form in which it is written to disk.
#[derive(Debug, Serialize)]
struct EncodedAnswer<'a> {
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
    Odd(&'a str),
    Missing(()),
}

/// A page-view answer in the form in which it is read from disk.
#[derive(Debug, Deserialize)]
struct DecodedAnswer {
    totals: [ReadCount; 3],
    rows: Vec<(ReadPath, [ReadCount; 3])>,
    more: Option<bool>,
}

#[derive(Debug)]
struct ReadPath(CleanText);

#[derive(Debug)]
struct ReadCount(Count);

/// Encodes an answer as JSON.
pub(super) fn encode_answer(page: &ViewsPage) -> Result<String, StoreError> {
    json(&EncodedAnswer {
        totals: to_written_counts(&page.totals),
        rows: page.rows.iter().map(|row| (row.path.as_str(), to_written_counts(&row.counts))).collect(),
        more: page.has_more,
    })
}

/// Parses an answer from JSON; `None` if the JSON is invalid.
pub(super) fn decode_answer(text: &str) -> Option<ViewsPage> {
    let DecodedAnswer { totals, rows, more } = serde_json::from_str(text).ok()?;
    let row = |(ReadPath(path), numbers)| PageRow { path, counts: to_counts(numbers) };
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

fn json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Unusable(error.to_string()))
}

fn to_written_counts(counts: &Counts) -> WrittenCounts<'_> {
    [&counts.human, &counts.ai, &counts.total].map(|count| match count {
        Count::Known(n) => WrittenCount::Known(*n),
        Count::Fraction(n) => WrittenCount::Fraction(n.get()),
        Count::Other(text) => WrittenCount::Odd(text.as_str()),
        Count::Missing => WrittenCount::Missing(()),
    })
}

fn to_counts([human, ai, total]: [ReadCount; 3]) -> Counts {
    Counts { human: human.0, ai: ai.0, total: total.0 }
}

impl<'de> Deserialize<'de> for ReadPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PathVisitor;
        impl Visitor<'_> for PathVisitor {
            type Value = ReadPath;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a path")
            }

            fn visit_str<E: Error>(self, path: &str) -> Result<ReadPath, E> {
                Ok(ReadPath(CleanText::line(path)))
            }
        }
        deserializer.deserialize_str(PathVisitor)
    }
}

impl<'de> Deserialize<'de> for ReadCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CountVisitor;
        impl Visitor<'_> for CountVisitor {
            type Value = ReadCount;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, a text or null")
            }

            fn visit_i64<E: Error>(self, number: i64) -> Result<ReadCount, E> {
                Ok(ReadCount(Count::Known(number)))
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<ReadCount, E> {
                Ok(ReadCount(i64::try_from(number).map_or(Count::Missing, Count::Known)))
            }

            fn visit_f64<E: Error>(self, number: f64) -> Result<ReadCount, E> {
                Ok(ReadCount(Count::from_f64(number).unwrap_or_default()))
            }

            fn visit_bool<E: Error>(self, _: bool) -> Result<ReadCount, E> {
                Ok(ReadCount(Count::Missing))
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<ReadCount, E> {
                Ok(ReadCount(Count::Other(CleanText::line(text))))
            }

            fn visit_unit<E: Error>(self) -> Result<ReadCount, E> {
                Ok(ReadCount(Count::Missing))
            }
        }
        deserializer.deserialize_any(CountVisitor)
    }
}
