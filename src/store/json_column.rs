//! Stores answers and counts in a column as JSON, each number exactly as received. Reading tolerates anything: the file
//! may have been edited by others.

use super::error::StoreError;
use crate::model::text::CleanText;
use crate::model::views::{Count, Counts, PageRow, ViewsPage};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// An answer to write to disk.
#[derive(Debug, Serialize)]
struct EncodedAnswer<'a> {
    totals: WrittenCounts<'a>,
    rows: Vec<(&'a str, WrittenCounts<'a>)>,
    more: Option<bool>,
}

/// Human, AI, total.
type WrittenCounts<'a> = [WrittenCount<'a>; 3];

/// A number, what was received instead of one, or null if nothing was.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum WrittenCount<'a> {
    Known(i64),
    Fraction(f64),
    Odd(&'a str),
    Missing(()),
}

/// An answer read from disk.
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

/// The answer as JSON.
pub(super) fn encode_answer(page: &ViewsPage) -> Result<String, StoreError> {
    json(&EncodedAnswer {
        totals: encodable(&page.totals),
        rows: page.rows.iter().map(|row| (row.path.as_str(), encodable(&row.counts))).collect(),
        more: page.has_more,
    })
}

/// Parses an answer; `None` if it can't be read.
pub(super) fn decode_answer(text: &str) -> Option<ViewsPage> {
    let DecodedAnswer { totals, rows, more } = serde_json::from_str(text).ok()?;
    let row = |(ReadPath(path), numbers)| PageRow { path, counts: stored_counts(numbers) };
    Some(ViewsPage { totals: stored_counts(totals), rows: rows.into_iter().map(row).collect(), has_more: more })
}

/// Three counts as JSON, exactly as received.
pub(super) fn encode_counts(counts: &Counts) -> Result<String, StoreError> {
    json(&encodable(counts))
}

/// Parses three counts; what can't be read is missing.
pub(super) fn decode_counts(text: &str) -> Counts {
    serde_json::from_str(text).map(stored_counts).unwrap_or_default()
}

fn json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Unusable(error.to_string()))
}

fn encodable(counts: &Counts) -> WrittenCounts<'_> {
    [&counts.human, &counts.ai, &counts.total].map(|count| match count {
        Count::Known(n) => WrittenCount::Known(*n),
        Count::Fraction(n) => WrittenCount::Fraction(n.get()),
        Count::Odd(text) => WrittenCount::Odd(text.as_str()),
        Count::Missing => WrittenCount::Missing(()),
    })
}

fn stored_counts([human, ai, total]: [ReadCount; 3]) -> Counts {
    Counts { human: human.0, ai: ai.0, total: total.0 }
}

impl<'de> Deserialize<'de> for ReadPath {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Path;
        impl Visitor<'_> for Path {
            type Value = ReadPath;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a path")
            }

            fn visit_str<E: Error>(self, path: &str) -> Result<ReadPath, E> {
                Ok(ReadPath(CleanText::line(path)))
            }
        }
        deserializer.deserialize_str(Path)
    }
}

impl<'de> Deserialize<'de> for ReadCount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct NumberSeed;
        impl Visitor<'_> for NumberSeed {
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
                Ok(ReadCount(Count::Odd(CleanText::line(text))))
            }

            fn visit_unit<E: Error>(self) -> Result<ReadCount, E> {
                Ok(ReadCount(Count::Missing))
            }
        }
        deserializer.deserialize_any(NumberSeed)
    }
}
