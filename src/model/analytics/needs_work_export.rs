//! Exports the pages that need work as CSV, JSON or Markdown. An unknown number is empty, or `null` in JSON.

use super::export::to_json;
use super::needs_work::{LoadedReports, NeedsWorkRanking, PageSignals, ProblemSignal};
use crate::model::export::{
    ExportError, ExportFormat, csv_text, escape_markdown, guard_formulas, guard_formulas_unless_number,
};
use crate::model::period::DateRange;
use crate::model::time_format::json_time;
use crate::model::views::DecimalCount;
use serde_json::{Map, Value, json};

/// The pages to export, and the data that the exported file states about them.
#[derive(Debug, Clone)]
pub struct NeedsWorkExport<'a> {
    pub range: DateRange,
    pub needs_work: &'a NeedsWorkRanking,
    /// The exported pages.
    pub pages: &'a [&'a PageSignals],
    pub reports: LoadedReports<'a>,
}

impl NeedsWorkExport<'_> {
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

    fn write_csv(&self) -> Result<String, ExportError> {
        let mut heads = vec!["path", "score"];
        heads.extend(ProblemSignal::ALL.map(ProblemSignal::name));
        heads.push("change");
        let record = |page: &&PageSignals| {
            let mut cells = vec![guard_formulas(page.path_text()), format!("{:.4}", page.score)];
            cells.extend(ProblemSignal::ALL.map(|signal| guard_formulas_unless_number(page.number_text(signal))));
            cells
                .push(page.views_change.percent().map(|percent| format!("{:.4}", percent / 100.0)).unwrap_or_default());
            cells
        };
        csv_text(&heads, self.pages.iter().map(record))
    }

    fn write_json(&self) -> Result<String, ExportError> {
        let signals = |value: &dyn Fn(ProblemSignal) -> Option<DecimalCount>| -> Map<String, Value> {
            ProblemSignal::ALL
                .into_iter()
                .map(|signal| (signal.name().to_owned(), json_number(value(signal))))
                .collect()
        };
        let page = |page: &&PageSignals| {
            let mut row = signals(&|signal| page.value(signal));
            row.insert("path".to_owned(), json!(page.path));
            row.insert("score".to_owned(), json!(page.score));
            let change = page.views_change.percent().map(|percent| percent / 100.0);
            row.insert("change".to_owned(), json!(change));
            row
        };
        let text = to_json(&json!({
            "range": { "from": self.range.from(), "to": self.range.to() },
            "totals": signals(&|signal| self.needs_work.total(signal)),
            "pages": self.pages.iter().map(page).collect::<Vec<_>>(),
            "missing": self.reports.missing().names(),
            "partial": self.reports.partial().names(),
            "asOf": self.reports.as_of().map(json_time),
        }))?;
        Ok(format!("{text}\n"))
    }

    fn write_markdown(&self) -> String {
        let names = ProblemSignal::ALL.map(ProblemSignal::label).join(" | ");
        let mut out = format!("**Pages that need work, {} (UTC)**\n\n", self.range);
        for (what, reports) in [("Not loaded", self.reports.missing()), ("Partial", self.reports.partial())] {
            if !reports.is_empty() {
                out.push_str(&format!("{what}: {}.\n\n", reports.names_in_sentence()));
            }
        }
        if let Some(as_of) = self.reports.as_of() {
            out.push_str(&format!("As of {}.\n\n", json_time(as_of)));
        }
        out.push_str(&format!(
            "| page | score | {names} |\n| --- |{}\n",
            " ---: |".repeat(ProblemSignal::ALL.len() + 1)
        ));
        for page in self.pages {
            let path = escape_markdown(page.path_text());
            let numbers = ProblemSignal::ALL.map(|signal| page.number_text(signal)).join(" | ");
            out.push_str(&format!("| {path} | {:.1}% | {numbers} |\n", page.score * 100.0));
        }
        out
    }
}

fn json_number(value: Option<DecimalCount>) -> Value {
    // A JSON number keeps all digits, which a floating-point number would not.
    value.and_then(|value| serde_json::from_str(&value.to_string()).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Time;
    use crate::model::analytics::needs_work::SignalWeights;
    use crate::model::analytics::{Cursor, PageFeedback, RowsMerge, RowsResponse};
    use crate::model::text::CleanText;
    use crate::model::views::{Count, Counts};

    fn written(format: ExportFormat) -> String {
        let range = DateRange::last_days(7, chrono::NaiveDate::default());
        let row = PageFeedback {
            path: CleanText::line("/a|b<i>,c"),
            thumbs_down: Count::Known(3),
            ..PageFeedback::default()
        };
        let next = Cursor::new("more");
        let response = RowsResponse { rows: vec![row], totals: Counts::default(), next, has_unavailable_rows: false };
        let votes = RowsMerge::start(range, response, Time::default()).into_report();
        let reports = LoadedReports { feedback_by_page: Some(&votes), ..LoadedReports::default() };
        let found = NeedsWorkRanking::compute(reports, &SignalWeights::default());
        let pages: Vec<&PageSignals> = found.pages.iter().collect();
        NeedsWorkExport { range, needs_work: &found, pages: &pages, reports }.write(format).expect("written")
    }

    #[test]
    fn unknown_signals_are_empty_in_csv_and_null_in_json() {
        assert_eq!(
            written(ExportFormat::Csv),
            "path,score,views,lostViews,thumbsDown,openComments,unansweredQuestions,unclickedSearches,change\r\n\
             \"/a|b<i>,c\",1.0000,,,3,,,,\r\n"
        );
        let json: Value = serde_json::from_str(&written(ExportFormat::Json)).expect("JSON");
        let page = json.pointer("/pages/0").expect("a page");
        assert_eq!((page.get("thumbsDown"), page.get("views")), (Some(&json!(3)), Some(&Value::Null)));
        assert_eq!(json.get("missing"), Some(&json!(["page views", "feedback", "questions", "searches"])));
        assert_eq!(json.get("partial"), Some(&json!(["feedback by page"])));
        assert_eq!(json.get("asOf"), Some(&json!("1970-01-01T00:00:00.000Z")));
    }

    #[test]
    fn markdown_states_what_is_partial_and_escapes_paths() {
        let text = written(ExportFormat::Markdown);
        assert!(
            text.contains("Not loaded: page views, feedback, questions and searches.\n\nPartial: feedback by page.")
        );
        assert!(text.contains("\n| /a\\|b\\<i\\>,c | 100.0% |  |  | 3 |  |  |  |\n"), "{text}");
    }
}
