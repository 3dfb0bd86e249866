//! Exports the rows of a report as CSV (RFC 4180), JSON or Markdown. Text that readers of the site wrote is exported
//! only on request.

use super::fields::{Field, FieldValue, FieldedRow};
use super::{AnalyticsKind, RowsReport};
use crate::model::Time;
use crate::model::export::{
    ExportError, ExportFormat, csv_text, escape_markdown, format_as_received, guard_formulas,
    guard_formulas_unless_number,
};
use crate::model::period::DateRange;
use crate::model::text::{escaped_json, sentence_case};
use crate::model::time_format::json_time;
use crate::model::views::{Count, Counts};
use serde_json::{Value, json};

/// The rows to export, and the data about their report that the exported file states.
#[derive(Debug, Clone)]
pub struct RowsExport<'a, R> {
    pub range: DateRange,
    pub rows: Vec<&'a R>,
    pub totals: &'a Counts,
    /// Whether all rows of the range are exported.
    pub is_complete: bool,
    pub as_of: Time,
    /// Whether text that readers of the site wrote is exported.
    pub includes_reader_text: bool,
}

impl<'a, R: FieldedRow> RowsExport<'a, R> {
    /// Returns an export of these rows of a report.
    pub fn new(report: &'a RowsReport<R>, rows: Vec<&'a R>, includes_reader_text: bool) -> Self {
        let is_complete = report.is_complete() && !report.has_unavailable_rows && rows.len() == report.rows.len();
        Self {
            range: report.range,
            rows,
            totals: &report.totals,
            is_complete,
            as_of: report.as_of,
            includes_reader_text,
        }
    }

    /// Returns the exported fields.
    pub fn fields(&self) -> impl Iterator<Item = &'static Field<R>> + use<R> {
        let includes_reader_text = self.includes_reader_text;
        R::FIELDS.iter().filter(move |field| includes_reader_text || !field.is_reader_text)
    }

    /// Returns the content of the exported file.
    ///
    /// # Errors
    /// Fails only if the format's writer fails, which never happens when it writes to memory.
    pub fn write(&self, format: ExportFormat) -> Result<String, ExportError> {
        match format {
            ExportFormat::Csv => self.write_csv(),
            ExportFormat::Json => self.write_json(),
            ExportFormat::Markdown => Ok(self.write_markdown()),
        }
    }

    /// Writes a header line and one line per row. Unlike the JSON, the CSV contains neither the range nor the totals.
    fn write_csv(&self) -> Result<String, ExportError> {
        let heads: Vec<&str> = self.fields().map(|field| field.service_name).collect();
        let records: Result<Vec<Vec<String>>, ExportError> = self.rows.iter().map(|row| self.csv_record(row)).collect();
        csv_text(&heads, records?)
    }

    fn csv_record(&self, row: &R) -> Result<Vec<String>, ExportError> {
        let values = serde_json::to_value(row).map_err(ExportError::new)?;
        let cell = |field: &Field<R>| match values.get(field.service_name) {
            Some(Value::String(text)) if field.is_number(row) => guard_formulas_unless_number(text.clone()),
            Some(Value::String(text)) => guard_formulas(text),
            Some(Value::Null) | None => String::new(),
            Some(value) => value.to_string(),
        };
        Ok(self.fields().map(cell).collect())
    }

    /// Writes each row on its own line, so that two exports can be compared with a line diff.
    fn write_json(&self) -> Result<String, ExportError> {
        let range = json!({ "from": self.range.from(), "to": self.range.to() });
        let totals = match R::KIND {
            AnalyticsKind::Visitors => format!("\n  \"totals\": {},", to_json(self.totals)?),
            AnalyticsKind::Searches => format!("\n  \"totalSearches\": {},", to_json(&self.totals.total)?),
            AnalyticsKind::Feedback | AnalyticsKind::FeedbackByPage | AnalyticsKind::Questions => String::new(),
        };
        let rows: Result<Vec<String>, ExportError> = self.rows.iter().map(|row| self.json_row(row)).collect();
        let rows = rows?.iter().map(|row| format!("\n    {row}")).collect::<Vec<_>>().join(",");
        let end = if self.rows.is_empty() { "" } else { "\n  " };
        let (list, complete, as_of) = (R::JSON_LIST_NAME, self.is_complete, json_time(self.as_of));
        Ok(format!(
            "{{\n  \"range\": {range},{totals}\n  \"{list}\": [{rows}{end}],\n  \"complete\": {complete},\n  \
             \"asOf\": \"{as_of}\"\n}}\n"
        ))
    }

    fn json_row(&self, row: &R) -> Result<String, ExportError> {
        let mut value = serde_json::to_value(row).map_err(ExportError::new)?;
        if let Value::Object(fields) = &mut value {
            let hidden = R::FIELDS.iter().filter(|field| field.is_reader_text && !self.includes_reader_text);
            hidden.for_each(|field| drop(fields.remove(field.service_name)));
        }
        to_json(&value)
    }

    fn write_markdown(&self) -> String {
        let mut out = format!("**{} {} (UTC)**\n\n", sentence_case(R::KIND.label()), self.range);
        if !self.is_complete {
            out.push_str("Partial: rows are missing.\n\n");
        }
        out.push_str(&format!("As of {}.\n\n", json_time(self.as_of)));
        let sample = R::default();
        out.push('|');
        self.fields().for_each(|field| out.push_str(&format!(" {} |", field.name)));
        out.push_str("\n|");
        self.fields().for_each(|field| out.push_str(if field.is_number(&sample) { " ---: |" } else { " --- |" }));
        out.push('\n');
        for row in &self.rows {
            out.push('|');
            self.fields().for_each(|field| {
                out.push_str(&format!(" {} |", escape_markdown(&format_value(&(field.value)(row)))));
            });
            out.push('\n');
        }
        out
    }
}

pub(super) fn to_json(value: &impl serde::Serialize) -> Result<String, ExportError> {
    serde_json::to_string(value).map(|text| escaped_json(&text).into_owned()).map_err(ExportError::new)
}

/// Formats a value for people: a share in percent, a time as date and time in UTC, an unknown number as `?`.
fn format_value(value: &FieldValue<'_>) -> String {
    match value {
        FieldValue::Text(text) => text.to_string(),
        FieldValue::Count(Count::Missing) | FieldValue::Share(Count::Missing) => "?".to_owned(),
        FieldValue::Count(count) => format_as_received(count),
        FieldValue::Share(count) => {
            value.number().map_or_else(|| format_as_received(count), |percent| format!("{percent:.1}%"))
        }
        FieldValue::Number(number) => number.map_or_else(|| "?".to_owned(), |number| number.to_string()),
        FieldValue::Percent(percent) => percent.map_or_else(|| "?".to_owned(), |percent| format!("{percent:.1}%")),
        FieldValue::Time(time) => time.map(|time| time.format("%Y-%m-%d %H:%M").to_string()).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::analytics::{Feedback, FeedbackStatus, RowsMerge, RowsResponse, Search};
    use crate::model::text::CleanText;

    fn report<R: FieldedRow>(rows: Vec<R>) -> RowsReport<R> {
        let totals = Counts { total: Count::Known(40), ..Counts::default() };
        let range = DateRange::last_days(7, "2026-11-20".parse().expect("a day"));
        let as_of = "2026-11-20T14:02:30Z".parse().expect("a time");
        RowsMerge::start(range, RowsResponse { rows, totals, next: None, has_unavailable_rows: false }, as_of)
            .into_report()
    }

    fn searches() -> RowsReport<Search> {
        report(vec![Search {
            query: CleanText::line("=cmd|x"),
            hits: Count::Known(12),
            click_rate: Count::from_f64(0.25).expect("a count"),
            top_page: None,
            last_searched_at: Some("2026-11-19T08:00:00Z".parse().expect("a time")),
        }])
    }

    #[test]
    fn csv_has_the_names_of_the_service_and_no_formulas() {
        let report = searches();
        let csv = RowsExport::new(&report, report.rows.iter().collect(), false).write(ExportFormat::Csv).expect("CSV");
        assert_eq!(
            csv,
            "searchQuery,hits,ctr,topClickedPage,lastSearchedAt\r\n'=cmd|x,12,0.25,,2026-11-19T08:00:00.000Z\r\n"
        );
    }

    #[test]
    fn csv_has_the_values_of_the_service() {
        let comment = Feedback { status: FeedbackStatus::InProgress, helpful: Some(false), ..Feedback::default() };
        let report = report(vec![comment]);
        let csv = RowsExport::new(&report, report.rows.iter().collect(), false).write(ExportFormat::Csv).expect("CSV");
        assert!(csv.contains(",in_progress,false,"), "{csv}");
    }

    #[test]
    fn json_has_the_form_of_the_service() {
        let report = searches();
        let text =
            RowsExport::new(&report, report.rows.iter().collect(), false).write(ExportFormat::Json).expect("JSON");
        let read: Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(read["totalSearches"], 40);
        assert_eq!(read["searches"][0]["ctr"], 0.25);
        assert_eq!(read["range"]["to"], "2026-11-20");
        assert_eq!((&read["complete"], &read["asOf"]), (&Value::Bool(true), &Value::from("2026-11-20T14:02:30.000Z")));
        let none = RowsExport::new(&report, Vec::new(), false).write(ExportFormat::Json).expect("JSON");
        let read: Value = serde_json::from_str(&none).expect("JSON");
        assert_eq!(read["complete"], false, "a row is left out");
    }

    #[test]
    fn what_readers_wrote_is_exported_only_on_request() {
        let comment = CleanText::line("My port is 8080 | call me");
        let report = report(vec![Feedback { comment: Some(comment), ..Feedback::default() }]);
        for format in ExportFormat::ALL {
            let write = |includes_reader_text| {
                RowsExport::new(&report, report.rows.iter().collect(), includes_reader_text)
                    .write(format)
                    .expect("text")
            };
            assert!(!write(false).contains("8080"), "{format:?}");
            assert!(write(true).contains("8080"), "{format:?}");
        }
    }

    #[test]
    fn markdown_shows_shares_in_percent() {
        let report = searches();
        let text =
            RowsExport::new(&report, report.rows.iter().collect(), false).write(ExportFormat::Markdown).expect("text");
        assert!(text.contains("| =cmd\\|x | 12 | 25.0% |  | 2026-11-19 08:00 |"), "{text}");
        assert!(text.starts_with("**Searches 2026-11-14 … 2026-11-20 (UTC)**"), "{text}");
    }
}
