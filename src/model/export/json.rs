//! Writes page views as JSON with the service's field names: `{"range", "totals", "views", "complete", "asOf"}`. Each
//! page is on its own line, so that two exports can be compared with a line diff.
//!
//! A comparison adds `comparedWith` (`range`, `totals`, `complete` and `perDay`), and to each page `before`, `change`
//! (the change of the total views, or null if unknown) and `status` (`new`, `gone` or null). If the range includes
//! today, only its complete days are compared: the comparison then also adds `completeDays` with the range and the
//! totals of the complete days, and to each page `completeDays` with the page's counts in these days. The counts of a
//! page that isn't listed in a range are null. `visitors` has the visitors of a page or the site, and is left out if
//! they are unknown.

use super::ExportError;
use super::content::{
    ExportContent, ExportedComparison, ExportedPage, PagePresence, PreviousViews, change_in_total, format_as_received,
    page_presence,
};
use crate::model::period::DateRange;
use crate::model::text::escaped_json;
use crate::model::views::{Count, Counts};
use chrono::SecondsFormat;
use serde::Serialize;
use serde_json::value::RawValue;

/// The JSON literal of a count or a change; `None` is written as null.
type JsonNumber = Option<Box<RawValue>>;

#[derive(Serialize)]
struct JsonRange {
    from: String,
    to: String,
}

#[derive(Default, Serialize)]
struct JsonCounts {
    human: JsonNumber,
    ai: JsonNumber,
    total: JsonNumber,
    #[serde(skip_serializing_if = "Option::is_none")]
    visitors: Option<Box<JsonCounts>>,
}

#[derive(Serialize)]
struct JsonPage<'a> {
    path: &'a str,
    #[serde(flatten)]
    counts: JsonCounts,
    #[serde(flatten)]
    comparison: Option<PageComparison>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct PageComparison {
    #[serde(skip_serializing_if = "Option::is_none")]
    complete_days: Option<JsonCounts>,
    before: Option<JsonCounts>,
    change: JsonNumber,
    status: Option<&'static str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonPreviousRange {
    range: JsonRange,
    totals: JsonCounts,
    complete: bool,
    per_day: bool,
}

#[derive(Serialize)]
struct JsonCompleteDays {
    range: JsonRange,
    totals: JsonCounts,
}

pub(super) fn write_json(content: &ExportContent<'_>) -> Result<String, ExportError> {
    let compared_with = content.comparison.map(|compared| {
        let (ranges, totals) = (compared.ranges, JsonCounts::new(compared.previous)?);
        let per_day = ranges.is_per_day();
        let (range, complete) = (JsonRange::new(ranges.previous), compared.is_previous_complete);
        Ok(JsonPreviousRange { range, totals, complete, per_day })
    });
    let compared_with = compared_with.transpose()?;
    let as_of = content.as_of.to_rfc3339_opts(SecondsFormat::Millis, true);
    let (range, totals) = (JsonRange::new(content.range), JsonCounts::new(content.totals)?);
    let mut out = format!(
        "{{\"range\": {}, \"totals\": {}, \"views\": [",
        serialize_escaped(&range)?,
        serialize_escaped(&totals)?
    );
    // Without a comparison, pages that have no counts in the exported range are left out.
    let pages = content.pages.iter().filter(|page| page.counts.is_some() || compared_with.is_some());
    for (n, page) in pages.enumerate() {
        out.push_str(if n == 0 { "\n  " } else { ",\n  " });
        out.push_str(&serialize_escaped(&json_page(page, content)?)?);
    }
    out.push_str(&format!("\n], \"complete\": {}, \"asOf\": {}", content.is_complete(), serialize_escaped(&as_of)?));
    if let Some(compared) = content.complete_days_comparison() {
        let complete_days = JsonCompleteDays {
            range: JsonRange::new(compared.ranges.current),
            totals: JsonCounts::new(compared.current)?,
        };
        out.push_str(&format!(", \"completeDays\": {}", serialize_escaped(&complete_days)?));
    }
    if let Some(compared_with) = compared_with {
        out.push_str(&format!(", \"comparedWith\": {}", serialize_escaped(&compared_with)?));
    }
    out.push_str("}\n");
    Ok(out)
}

fn json_page<'a>(page: &ExportedPage<'a>, content: &ExportContent<'_>) -> Result<JsonPage<'a>, ExportError> {
    let numbers = |counts: Option<&Counts>| counts.map_or_else(|| Ok(JsonCounts::default()), JsonCounts::new);
    let counts = numbers(page.counts)?;
    let Some(ExportedComparison { ranges, .. }) = content.comparison else {
        return Ok(JsonPage { path: page.path, counts, comparison: None });
    };
    let complete_days = content.complete_days_comparison().map(|_| numbers(page.compared_days_counts)).transpose()?;
    let before = match page.previous {
        PreviousViews::Counts(counts) => Some(JsonCounts::new(counts)?),
        PreviousViews::New | PreviousViews::Unknown => None,
    };
    let change = change_in_total(page, ranges).map(|change| raw_json(change.to_string())).transpose()?;
    let comparison =
        PageComparison { complete_days, before, change, status: page_presence(page).map(PagePresence::word) };
    Ok(JsonPage { path: page.path, counts, comparison: Some(comparison) })
}

impl JsonRange {
    fn new(range: DateRange) -> Self {
        Self { from: range.from().to_string(), to: range.to().to_string() }
    }
}

impl JsonCounts {
    fn new(counts: &Counts) -> Result<Self, ExportError> {
        Ok(Self {
            human: json_number(&counts.human)?,
            ai: json_number(&counts.ai)?,
            total: json_number(&counts.total)?,
            visitors: counts.visitors.as_deref().map(Self::new).transpose()?.map(Box::new),
        })
    }
}

fn serialize_escaped(value: &impl Serialize) -> Result<String, ExportError> {
    let text = serde_json::to_string(value).map_err(|error| ExportError(error.to_string()))?;
    Ok(escaped_json(&text).into_owned())
}

/// Returns the received number, the received text if it is not a number, or `None` if nothing was received.
fn json_number(count: &Count) -> Result<JsonNumber, ExportError> {
    let literal = match count {
        Count::Missing => return Ok(None),
        Count::Known(_) | Count::NonInteger(_) => format_as_received(count),
        // A JSON number that is too large for a count is stored as text, and exported as the number that was received.
        // A text such as `12` fits into a count, so it was received as a JSON string, and is exported as one below.
        Count::Other(odd) if is_json_number(odd.as_str()) && Count::from_json_number(odd.as_str()).is_none() => {
            odd.as_str().to_owned()
        }
        Count::Other(odd) => serialize_escaped(&odd.as_str())?,
    };
    raw_json(literal).map(Some)
}

fn raw_json(literal: String) -> Result<Box<RawValue>, ExportError> {
    RawValue::from_string(literal).map_err(|error| ExportError(error.to_string()))
}

/// Whether the text is a JSON number in the range of a double. A larger number would make many parsers reject the file.
fn is_json_number(text: &str) -> bool {
    let starts = text.starts_with(|c: char| c == '-' || c.is_ascii_digit());
    let fits = text.parse::<f64>().is_ok_and(f64::is_finite);
    starts && fits && serde_json::from_str::<&RawValue>(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CURRENT, PREVIOUS, comparison, report};
    use super::super::{ExportContent, ExportFormat};
    use super::*;
    use crate::model::report::Report;
    use crate::model::text::CleanText;
    use serde_json::json;

    fn to_json(content: &ExportContent<'_>) -> String {
        ExportFormat::Json.write(content).expect("written")
    }

    #[test]
    fn the_json_has_the_documented_shape() {
        let current = report(CURRENT, &[("/a \"b\"", 3, 1), ("/c", 2, 0)], true);
        let read: serde_json::Value =
            serde_json::from_str(&to_json(&ExportContent::from_report(&current, None))).expect("JSON");
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
    fn an_export_is_complete_only_with_all_pages_of_the_range() {
        let current = report(CURRENT, &[("/a", 3, 1), ("/b", 1, 1)], true);
        assert!(to_json(&ExportContent::from_report(&current, None)).contains("\"complete\": true"));
        assert!(
            to_json(&ExportContent::from_pages(&current, None, current.rows.iter().take(1)))
                .contains("\"complete\": false")
        );
        let half = Report { complete: false, ..current };
        assert!(to_json(&ExportContent::from_report(&half, None)).contains("\"complete\": false"));
    }

    #[test]
    fn an_empty_range_is_an_empty_list() {
        let read: serde_json::Value =
            serde_json::from_str(&to_json(&ExportContent::from_report(&report(CURRENT, &[], true), None)))
                .expect("JSON");
        assert_eq!(read.get("views"), Some(&json!([])));
    }

    #[test]
    fn a_comparison_adds_its_fields_to_every_page() {
        let current = report(CURRENT, &[("/a", 5, 5), ("/new", 3, 0)], true);
        let previous = report(PREVIOUS, &[("/a", 1, 1), ("/gone", 9, 0)], true);
        let both = comparison(&current, &previous);
        let read: serde_json::Value =
            serde_json::from_str(&to_json(&ExportContent::from_report(&current, Some(&both)))).expect("JSON");
        assert_eq!(
            read["views"],
            json!([
                { "path": "/a", "human": 5, "ai": 5, "total": 10,
                  "before": { "human": 1, "ai": 1, "total": 2 }, "change": 8, "status": null },
                { "path": "/new", "human": 3, "ai": 0, "total": 3, "before": null, "change": 3, "status": "new" },
                { "path": "/gone", "human": null, "ai": null, "total": null,
                  "before": { "human": 9, "ai": 0, "total": 9 }, "change": -9, "status": "gone" },
            ])
        );
        assert_eq!(
            read["comparedWith"],
            json!({
                "range": { "from": "2026-11-07", "to": "2026-11-13" },
                "totals": { "human": 100, "ai": 50, "total": 150 },
                "complete": true,
                "perDay": false,
            })
        );
        assert_eq!((&read["complete"], &read["range"]["from"]), (&json!(true), &json!("2026-11-14")));
    }

    #[test]
    fn unknown_values_of_a_comparison_are_null() {
        let current = report(CURRENT, &[("/a", 5, 5)], true);
        let half = Report { complete: false, ..report(PREVIOUS, &[], true) };
        let read: serde_json::Value =
            serde_json::from_str(&to_json(&ExportContent::from_report(&current, Some(&comparison(&current, &half)))))
                .expect("JSON");
        let page = &read["views"][0];
        assert_eq!([&page["before"], &page["change"], &page["status"]], [&json!(null); 3]);
        assert_eq!(read["comparedWith"]["complete"], json!(false));
    }

    #[test]
    fn values_that_are_not_counts_are_exported_as_received() {
        let number = |count: Count| {
            let literal = json_number(&count).expect("written");
            literal.map_or("null".to_owned(), |raw| raw.get().to_owned())
        };
        let odd = |text: &str| number(Count::Other(CleanText::line(text)));
        assert_eq!(number(Count::Known(-3)), "-3");
        assert_eq!(number(Count::Missing), "null");
        assert_eq!(odd("99999999999999999999"), "99999999999999999999");
        assert_eq!(odd("1.5"), "\"1.5\"", "received as text");
        for (literal, written) in [("1.5", "1.5"), ("12.0", "12"), ("-2.50", "-2.5"), ("1.5e-9", "1.5e-9")] {
            assert_eq!(number(Count::from_json_number(literal).expect("a number")), written);
        }
        assert_eq!(odd("1e99"), "1e99");
        assert_eq!(odd("1e999"), "\"1e999\"", "no parser accepts such a number");
        assert_eq!(odd("12"), "\"12\"", "received as text");
        assert_eq!(odd("many"), "\"many\"");
        assert_eq!(odd("1234567890123…"), "\"1234567890123…\"");
    }
}
