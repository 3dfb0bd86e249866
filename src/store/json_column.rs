//! How an answer and its counts lie in a column: as JSON, each number as it came. Read with care: the file may have been
//! edited by others.

use super::error::StoreError;
use crate::model::text::CleanText;
use crate::model::views::{Count, Counts, PageRow, ViewsPage};
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// An answer on its way to the disk.
#[derive(Debug, Serialize)]
struct EncodedAnswer<'a> {
    totals: WrittenCounts<'a>,
    rows: Vec<(&'a str, WrittenCounts<'a>)>,
    more: Option<bool>,
}

/// Human, AI, total.
type WrittenCounts<'a> = [WrittenCount<'a>; 3];

/// A number, what came in place of one, or null for nothing.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum WrittenCount<'a> {
    Known(i64),
    Fraction(f64),
    Odd(&'a str),
    Missing(()),
}

/// The same on its way back.
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

/// The answer as one text.
pub(super) fn text_of(page: &ViewsPage) -> Result<String, StoreError> {
    json(&EncodedAnswer {
        totals: written(&page.totals),
        rows: page.rows.iter().map(|row| (row.path.as_str(), written(&row.counts))).collect(),
        more: page.has_more,
    })
}

/// The answer in a text; none when it can't be read any more.
pub(super) fn answer_of(text: &str) -> Option<ViewsPage> {
    let DecodedAnswer { totals, rows, more } = serde_json::from_str(text).ok()?;
    let row = |(ReadPath(path), numbers)| PageRow { path, counts: counts(numbers) };
    Some(ViewsPage { totals: counts(totals), rows: rows.into_iter().map(row).collect(), has_more: more })
}

/// Three numbers as one text, exactly as received.
pub(super) fn counts_text(counts: &Counts) -> Result<String, StoreError> {
    json(&written(counts))
}

/// Three numbers from one text; what can't be read any more is missing.
pub(super) fn counts_of(text: &str) -> Counts {
    serde_json::from_str(text).map(counts).unwrap_or_default()
}

fn json(value: &impl Serialize) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Unusable(error.to_string()))
}

fn written(counts: &Counts) -> WrittenCounts<'_> {
    [&counts.human, &counts.ai, &counts.total].map(|count| match count {
        Count::Known(n) => WrittenCount::Known(*n),
        Count::Fraction(n) => WrittenCount::Fraction(n.get()),
        Count::Odd(text) => WrittenCount::Odd(text.as_str()),
        Count::Missing => WrittenCount::Missing(()),
    })
}

fn counts([human, ai, total]: [ReadCount; 3]) -> Counts {
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
