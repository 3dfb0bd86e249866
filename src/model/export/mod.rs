//! Exports page views as CSV (RFC 4180), JSON or Markdown.
//!
//! Counts are exported as received, and missing counts stay missing instead of becoming 0. The file name and every
//! format except CSV state the range and whether all its pages are included.

mod content;
mod csv;
mod json;
mod markdown;

pub use content::{ExportContent, ExportedComparison, ExportedPage, PreviousViews, format_as_received};
pub(super) use csv::csv_text;
pub use csv::{guard_formulas, guard_formulas_unless_number};
pub(super) use markdown::escape_markdown;

use super::period::DateRange;

/// Maximum size in bytes of a text that is copied through the terminal. A larger text would be longer than 100,000
/// characters in base64, which some terminals reject.
pub const MAX_TERMINAL_COPY_BYTES: usize = 74_994;

#[derive(Debug, thiserror::Error)]
#[error("The export could not be written: {0}.")]
pub struct ExportError(String);

impl ExportError {
    pub(in crate::model) fn new(error: impl std::fmt::Display) -> Self {
        Self(error.to_string())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExportFormat {
    Csv,
    Json,
    Markdown,
}

impl ExportFormat {
    /// All formats, in the order in which the screen lists them.
    pub const ALL: [Self; 3] = [Self::Csv, Self::Json, Self::Markdown];

    pub fn name(self) -> &'static str {
        match self {
            Self::Csv => "CSV",
            Self::Json => "JSON",
            Self::Markdown => "Markdown",
        }
    }

    /// The file extension, without the dot.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Markdown => "md",
        }
    }

    /// Returns the content of the exported file.
    ///
    /// # Errors
    /// Fails only if the format's writer fails, which never happens when it writes to memory.
    pub fn write(self, content: &ExportContent<'_>) -> Result<String, ExportError> {
        match self {
            Self::Csv => csv::write_csv(content),
            Self::Json => json::write_json(content),
            Self::Markdown => Ok(markdown::write_markdown(content)),
        }
    }
}

impl ExportContent<'_> {
    /// Returns a name such as `docdeck-views-2026-11-14_2026-11-20.csv`. With a comparison, the name also contains the
    /// previous range. It contains `-filtered` if loaded pages are excluded, and `-partial` if pages are not loaded.
    pub fn file_name(&self, format: ExportFormat) -> String {
        let days = |range: DateRange| format!("{}_{}", range.from(), range.to());
        let against =
            self.comparison.map(|compared| format!("-vs-{}", days(compared.ranges.previous))).unwrap_or_default();
        let filtered = if self.excluded_count > 0 { "-filtered" } else { "" };
        let partial = if self.is_fully_loaded { "" } else { "-partial" };
        format!("docdeck-views-{}{against}{filtered}{partial}.{}", days(self.range), format.extension())
    }
}

#[cfg(test)]
mod tests {
    use super::content::{PagePresence, change_in_total, page_presence};
    use super::*;
    use crate::model::comparison::Comparison;
    use crate::model::report::Report;
    use crate::model::text::CleanText;
    use crate::model::views::{Count, Counts, PageRow, ViewsResponse};

    pub(super) fn counts(human: i64, ai: i64) -> Counts {
        Counts::new(Count::Known(human), Count::Known(ai), Count::Known(human + ai))
    }

    pub(super) fn report(days: &str, rows: &[(&str, i64, i64)], complete: bool) -> Report {
        let mut ends = days.split(' ').map(|day| day.parse().expect("a date"));
        let range = DateRange::new(ends.next().expect("a day"), ends.next().expect("a day")).expect("a range");
        let row =
            |(path, human, ai): &(&str, i64, i64)| PageRow { path: CleanText::line(path), counts: counts(*human, *ai) };
        let rows = rows.iter().map(row).collect();
        let page = ViewsResponse { totals: counts(100, 50), rows, has_more: None };
        Report::from_first_response(range, page, complete, "2026-11-20T14:02:30Z".parse().expect("a time"))
    }

    pub(super) fn comparison(current: &Report, previous: &Report) -> Comparison {
        Comparison { current: current.clone().into(), previous: previous.clone().into() }
    }

    pub(super) const CURRENT: &str = "2026-11-14 2026-11-20";
    pub(super) const PREVIOUS: &str = "2026-11-07 2026-11-13";

    #[test]
    fn new_gone_and_unknown_pages_are_distinguished() {
        let current = report(CURRENT, &[("/a", 5, 5), ("/b", 3, 0)], true);
        let previous = report(PREVIOUS, &[("/a", 1, 1), ("/c", 9, 0)], true);
        let both = comparison(&current, &previous);
        let content = ExportContent::from_report(&current, Some(&both));
        let changes = |content: &ExportContent<'_>| -> Vec<_> {
            let ranges = content.comparison.expect("a comparison").ranges;
            let text = |page: &ExportedPage<'_>| change_in_total(page, ranges).map(|change| change.to_string());
            content.pages.iter().map(|page| (text(page), page_presence(page))).collect()
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            changes(&content),
            [(text("8"), None), (text("3"), Some(PagePresence::New)), (text("-9"), Some(PagePresence::Gone))]
        );
        let half = Report { complete: false, ..previous };
        let both = comparison(&current, &half);
        let content = ExportContent::from_report(&current, Some(&both));
        assert_eq!(changes(&content)[1], (None, None), "not loaded yet is not new");
        let unfinished = Report { complete: false, ..current.clone() };
        assert_eq!(ExportContent::from_report(&unfinished, Some(&both)).pages.len(), 2, "not loaded yet is not gone");
    }

    #[test]
    fn known_visitors_are_exported_in_every_format() {
        let mut current = report(CURRENT, &[("/a", 90, 10), ("/b", 3, 0)], true);
        current.rows[0].counts.visitors = Some(Box::new(counts(40, 5)));
        let write = |format: ExportFormat| format.write(&ExportContent::from_report(&current, None)).expect("written");
        let csv = write(ExportFormat::Csv);
        assert!(csv.contains("total,ai_share,human_visitors,ai_visitors,visitors\r\n"), "{csv}");
        assert!(csv.contains("/a,90,10,100,0.1000,40,5,45\r\n") && csv.contains("/b,3,0,3,0.0000,,,\r\n"), "{csv}");
        let json = write(ExportFormat::Json);
        assert!(json.contains(r#""total":100,"visitors":{"human":40,"ai":5,"total":45}}"#), "{json}");
        let markdown = write(ExportFormat::Markdown);
        assert!(markdown.contains("| AI % | visitors |") && markdown.contains("| 10% | 45 |"), "{markdown}");
    }

    #[test]
    fn a_range_that_includes_today_is_exported_with_its_complete_days() {
        let shown = report(CURRENT, &[("/a", 90, 10), ("/back", 3, 0), ("/today", 7, 0)], true);
        let current = report("2026-11-14 2026-11-19", &[("/a", 70, 10)], true);
        let previous = report("2026-11-07 2026-11-12", &[("/a", 50, 10), ("/back", 9, 0), ("/old", 4, 0)], true);
        let both = comparison(&current, &previous);
        let content = ExportContent::from_report(&shown, Some(&both));
        let csv = ExportFormat::Csv.write(&content).expect("written");
        assert_eq!(
            csv.lines().collect::<Vec<_>>(),
            [
                "path,human,ai,total,ai_share,human_complete_days,ai_complete_days,total_complete_days,\
                 human_before,ai_before,total_before,change,status",
                "/a,90,10,100,0.1000,70,10,80,50,10,60,20,",
                "/back,3,0,3,0.0000,,,,9,0,9,-9,gone",
                "/today,7,0,7,0.0000,,,,,,,,",
                "/old,,,,,,,,4,0,4,-4,gone",
            ]
        );
        let markdown = ExportFormat::Markdown.write(&content).expect("written");
        assert!(markdown.contains("Complete days 2026-11-14 … 2026-11-19: human 100,"), "{markdown}");
        let json = ExportFormat::Json.write(&content).expect("written");
        assert!(json.contains(r#""completeDays":{"human":70,"ai":10,"total":80},"before":{"human":50"#), "{json}");
        assert!(json.contains(r#""completeDays": {"range":{"from":"2026-11-14","to":"2026-11-19"}"#), "{json}");
        assert!(markdown.contains("| /a | 90 | 10 | 100 | 10% | 80 | 60 | +20 |"), "{markdown}");
    }

    #[test]
    fn ranges_that_differ_in_length_are_exported_with_their_change_per_day() {
        let current = report("2026-10-01 2026-10-10", &[("/a", 50, 0)], true);
        let previous = report("2026-09-26 2026-09-30", &[("/a", 20, 0)], true);
        let both = comparison(&current, &previous);
        let content = ExportContent::from_report(&current, Some(&both));
        let csv = ExportFormat::Csv.write(&content).expect("written");
        assert!(
            csv.starts_with("path,human,ai,total,ai_share,human_before,ai_before,total_before,change_per_day,status")
        );
        assert!(csv.contains("/a,50,0,50,0.0000,20,0,20,1,\r\n"), "{csv}");
        let markdown = ExportFormat::Markdown.write(&content).expect("written");
        assert!(
            markdown.contains("Compared with 2026-09-26 … 2026-09-30, views per day, 10 vs 5 days: "),
            "{markdown}"
        );
    }

    #[test]
    fn the_file_name_describes_the_content() {
        let current = report(CURRENT, &[("/a", 5, 5), ("/b", 3, 0)], true);
        let previous = report(PREVIOUS, &[], true);
        let all = ExportContent::from_report(&current, None);
        assert_eq!(all.file_name(ExportFormat::Csv), "docdeck-views-2026-11-14_2026-11-20.csv");
        assert!(all.is_complete() && all.notes_on_missing_pages().is_empty());
        let both = comparison(&current, &previous);
        let compared = ExportContent::from_pages(&current, Some(&both), current.rows.iter().skip(1));
        assert_eq!(
            compared.file_name(ExportFormat::Markdown),
            "docdeck-views-2026-11-14_2026-11-20-vs-2026-11-07_2026-11-13-filtered.md"
        );
        assert_eq!(compared.notes_on_missing_pages(), ["Left out: 1 more loaded page."]);
        let half = Report { complete: false, ..current };
        let partial = ExportContent::from_report(&half, None);
        assert_eq!(partial.file_name(ExportFormat::Json), "docdeck-views-2026-11-14_2026-11-20-partial.json");
        assert!(!partial.is_complete());
    }

    #[test]
    fn every_format_writes_fractions_as_received_and_whole_numbers_without_a_point() {
        let counts = |literals: [&str; 3]| {
            let [human, ai, total] = literals.map(|literal| Count::from_json_number(literal).expect("a number"));
            Counts::new(human, ai, total)
        };
        let row = |literals| vec![PageRow { path: CleanText::line("/a"), counts: counts(literals) }];
        let current = Report { rows: row(["12.0", "0.5", "12.5"]), ..report(CURRENT, &[], true) };
        let previous = Report { rows: row(["12.1", "0.2", "12.3"]), ..report(PREVIOUS, &[], true) };
        let both = comparison(&current, &previous);
        let content = ExportContent::from_report(&current, Some(&both));
        let change = change_in_total(&content.pages[0], both.ranges()).map(|change| change.to_string());
        assert_eq!(change.as_deref(), Some("0.2"), "not 0.1999…");
        for (format, cells) in [
            (ExportFormat::Csv, "/a,12,0.5,12.5,0.0400,12.1,0.2,12.3,0.2,\r\n"),
            (
                ExportFormat::Json,
                r#""human":12,"ai":0.5,"total":12.5,"before":{"human":12.1,"ai":0.2,"total":12.3},"change":0.2"#,
            ),
            (ExportFormat::Markdown, "| /a | 12 | 0.5 | 12.5 | 4% | 12.3 | +0.2 |"),
        ] {
            let text = format.write(&content).expect("written");
            assert!(text.contains(cells), "{text}");
        }
    }

    #[test]
    fn a_response_is_partial_if_more_pages_may_follow() {
        let current = report(CURRENT, &[("/a", 5, 5)], true);
        let response = ViewsResponse { totals: counts(5, 5), rows: current.rows.clone(), has_more: Some(true) };
        let content = ExportContent::from_response(current.range, &response, false, current.as_of);
        assert_eq!(content.notes_on_missing_pages(), ["Partial: not all pages are loaded."]);
        assert_eq!(content.pages.len(), 1);
    }
}
