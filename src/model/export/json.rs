//! JSON with the service's field names: `{"range", "totals", "views", "complete", "asOf"}` (design.md: the command line).
//! One page a line, so that a difference between two exports is one between lines.

use super::{Count, Counts, ExportError, Extract, received};
use crate::model::text::escaped_json;
use chrono::SecondsFormat;
use serde::Serialize;
use serde_json::value::RawValue;

#[derive(Serialize)]
struct Range {
    from: String,
    to: String,
}

#[derive(Serialize)]
struct Totals {
    human: Option<Box<RawValue>>,
    ai: Option<Box<RawValue>>,
    total: Option<Box<RawValue>>,
}

#[derive(Serialize)]
struct Page<'a> {
    path: &'a str,
    human: Option<Box<RawValue>>,
    ai: Option<Box<RawValue>>,
    total: Option<Box<RawValue>>,
}

pub(super) fn write(extract: &Extract<'_>) -> Result<String, ExportError> {
    let range = Range { from: extract.range.from().to_string(), to: extract.range.to().to_string() };
    let [human, ai, total] = numbers(extract.totals)?;
    let totals = Totals { human, ai, total };
    let as_of = extract.as_of.to_rfc3339_opts(SecondsFormat::Millis, true);
    let mut out = format!("{{\"range\": {}, \"totals\": {}, \"views\": [", text(&range)?, text(&totals)?);
    // A page that only the other range has is no page of this one.
    for (n, (path, counts)) in extract.lines.iter().filter_map(|line| Some((line.path, line.now?))).enumerate() {
        let [human, ai, total] = numbers(counts)?;
        out.push_str(if n == 0 { "\n  " } else { ",\n  " });
        out.push_str(&text(&Page { path, human, ai, total })?);
    }
    out.push_str(&format!("\n], \"complete\": {}, \"asOf\": {}}}\n", extract.is_complete(), text(&as_of)?));
    Ok(out)
}

fn text(value: &impl Serialize) -> Result<String, ExportError> {
    let text = serde_json::to_string(value).map_err(|error| ExportError(error.to_string()))?;
    Ok(escaped_json(&text).into_owned())
}

fn numbers(counts: &Counts) -> Result<[Option<Box<RawValue>>; 3], ExportError> {
    Ok([number(&counts.human)?, number(&counts.ai)?, number(&counts.total)?])
}

/// A number where one was received, else the text that came in its place; null where nothing came.
fn number(count: &Count) -> Result<Option<Box<RawValue>>, ExportError> {
    let literal = match count {
        Count::Missing => return Ok(None),
        Count::Known(_) | Count::Fraction(_) => received(count),
        // A number in range would have been read as a count, so it came as text.
        Count::Odd(odd) if is_number(odd.as_str()) && Count::from_literal(odd.as_str()).is_none() => {
            odd.as_str().to_owned()
        }
        Count::Odd(odd) => text(&odd.as_str())?,
    };
    RawValue::from_string(literal).map(Some).map_err(|error| ExportError(error.to_string()))
}

/// Whether it is a number as JSON writes one, in the range of a double: readers refuse larger ones with the whole file.
fn is_number(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    let fits = text.parse::<f64>().is_ok_and(f64::is_finite);
    starts && fits && serde_json::from_str::<&RawValue>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{NOW, PAST, report};
    use super::super::{Extract, Format};
    use super::*;
    use crate::model::report::Report;
    use crate::model::text::CleanText;
    use serde_json::json;

    fn written(extract: &Extract<'_>) -> String {
        Format::Json.write(extract).expect("written")
    }

    #[test]
    fn it_has_the_promised_shape() {
        let now = report(NOW, &[("/a \"b\"", 3, 1), ("/c", 2, 0)], true);
        let read: serde_json::Value = serde_json::from_str(&written(&Extract::of_report(&now, None))).expect("JSON");
        assert_eq!(
            read,
            json!({
                "range": { "from": "2026-11-14", "to": "2026-11-20" },
                "totals": { "human": 100, "ai": 50, "total": 150 },
                "views": [
                    { "path": "/a \"b\"", "human": 3, "ai": 1, "total": 4 },
                    { "path": "/c", "human": 2, "ai": 0, "total": 2 },
                ],
                "complete": true,
                "asOf": "2026-11-20T14:02:30.000Z",
            })
        );
    }

    #[test]
    fn it_is_complete_only_with_all_pages_of_the_range() {
        let now = report(NOW, &[("/a", 3, 1), ("/b", 1, 1)], true);
        assert!(written(&Extract::of_report(&now, None)).contains("\"complete\": true"));
        assert!(written(&Extract::of_pages(&now, None, now.rows.iter().take(1))).contains("\"complete\": false"));
        let half = Report { complete: false, ..now };
        assert!(written(&Extract::of_report(&half, None)).contains("\"complete\": false"));
    }

    #[test]
    fn an_empty_range_is_an_empty_list_and_a_gone_page_is_not_in_it() {
        let (now, past) = (report(NOW, &[], true), report(PAST, &[("/old", 1, 1)], true));
        let read: serde_json::Value =
            serde_json::from_str(&written(&Extract::of_report(&now, Some(&past)))).expect("JSON");
        assert_eq!(read.get("views"), Some(&json!([])));
    }

    #[test]
    fn odd_numbers_stay_what_they_were() {
        let number = |count: Count| {
            let literal = number(&count).expect("written");
            literal.map_or("null".to_owned(), |raw| raw.get().to_owned())
        };
        let odd = |text: &str| number(Count::Odd(CleanText::line(text)));
        assert_eq!(number(Count::Known(-3)), "-3");
        assert_eq!(number(Count::Missing), "null");
        assert_eq!(odd("99999999999999999999"), "99999999999999999999");
        assert_eq!(odd("1.5"), "\"1.5\"", "it came as text");
        for (literal, written) in [("1.5", "1.5"), ("12.0", "12"), ("-2.50", "-2.5"), ("1.5e-9", "1.5e-9")] {
            assert_eq!(number(Count::from_literal(literal).expect("a number")), written);
        }
        assert_eq!(odd("1e99"), "1e99");
        assert_eq!(odd("1e999"), "\"1e999\"", "no reader has such a number");
        assert_eq!(odd("12"), "\"12\"", "it came as text");
        assert_eq!(odd("many"), "\"many\"");
        assert_eq!(odd("1234567890123…"), "\"1234567890123…\"");
    }
}
