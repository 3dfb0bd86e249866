//! Exports page views as CSV (RFC 4180), JSON or Markdown.
//!
//! Counts are exported as received, and missing counts stay missing instead of becoming 0. The file name and every
//! format except CSV state the range and whether all its pages are included.

mod csv;
mod json;
mod markdown;

pub use csv::{guard_formulas, guard_unless_number};

use super::Time;
use super::comparison::{ComparedRanges, Comparison};
use super::period::DateRange;
use super::report::Report;
use super::views::{Count, Counts, PageRow, ViewCount, ViewsPage};
use std::collections::{HashMap, HashSet};

/// Maximum size in bytes of a text that is copied through the terminal. A larger text would be longer than 100,000
/// characters in base64, which some terminals reject.
pub const MAX_COPY_BYTES: usize = 74_994;

#[derive(Debug, thiserror::Error)]
#[error("The export could not be written: {0}.")]
pub struct ExportError(String);

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
    /// Fails if the format's writer fails, which it never does in memory.
    pub fn write(self, content: &ExportContent<'_>) -> Result<String, ExportError> {
        match self {
            Self::Csv => csv::write_csv(content),
            Self::Json => json::write_json(content),
            Self::Markdown => Ok(markdown::write_markdown(content)),
        }
    }
}

/// The views of a page in the previous range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PreviousViews<'a> {
    /// There is no comparison, or the previous range is only partly loaded and the page is not among its loaded pages.
    Unknown,
    /// The previous range is fully loaded and doesn't list the page.
    New,
    Counts(&'a Counts),
}

/// One page of an export with its views.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportedPage<'a> {
    pub path: &'a str,
    /// The views in the exported range; `None` if only a compared range lists the page.
    pub now: Option<&'a Counts>,
    /// The views in the compared days of the exported range; `None` if the page isn't listed for these days.
    pub compared: Option<&'a Counts>,
    /// The views in the previous range.
    pub before: PreviousViews<'a>,
}

/// The compared ranges and the site's totals in each of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ExportedComparison<'a> {
    pub ranges: ComparedRanges,
    pub now: &'a Counts,
    pub before: &'a Counts,
    /// Whether all pages of the previous range are loaded.
    pub complete: bool,
}

/// The data of an export.
#[derive(Debug, Clone)]
pub struct ExportContent<'a> {
    pub range: DateRange,
    /// The site's totals of the range, which don't depend on the exported pages.
    pub totals: &'a Counts,
    pub lines: Vec<ExportedPage<'a>>,
    /// Whether all pages of the range are loaded.
    pub is_fully_loaded: bool,
    /// The number of loaded pages that a filter or folding excludes from the export.
    pub excluded_count: usize,
    /// When the oldest answer that the data comes from was received.
    pub as_of: Time,
    pub comparison: Option<ExportedComparison<'a>>,
}

impl<'a> ExportContent<'a> {
    /// Creates the export of one answer. `has_all_pages` says whether the answer contains all pages of the range.
    pub fn of_answer(range: DateRange, answer: &'a ViewsPage, has_all_pages: bool, as_of: Time) -> Self {
        Self {
            range,
            totals: &answer.totals,
            lines: answer.rows.iter().map(uncompared_page).collect(),
            is_fully_loaded: has_all_pages,
            excluded_count: 0,
            as_of,
            comparison: None,
        }
    }

    /// Creates the export of all pages of a report in its order, then the pages that only the comparison's reports
    /// contain.
    pub fn of_report(report: &'a Report, comparison: Option<&'a Comparison>) -> Self {
        // If the range is only partly loaded, no pages are added, because they may be pages of it that aren't loaded.
        let others = comparison.filter(|_| report.complete).map(|comparison| [&comparison.now, &comparison.before]);
        let mut known: HashSet<&str> = match others {
            None => HashSet::new(),
            Some(_) => report.rows.iter().map(|row| row.path.as_str()).collect(),
        };
        let others = others.into_iter().flatten().flat_map(|other| &other.rows);
        let absent: Vec<&PageRow> = others.filter(|row| known.insert(row.path.as_str())).collect();
        Self::of_pages(report, comparison, report.rows.iter().chain(absent))
    }

    /// Creates the export of the given pages in the given order. With a comparison, only their paths are used: the
    /// counts of a page come from the report and from the two reports of the comparison.
    pub fn of_pages(
        report: &'a Report,
        comparison: Option<&'a Comparison>,
        pages: impl Iterator<Item = &'a PageRow>,
    ) -> Self {
        let lines: Vec<ExportedPage<'a>> = match comparison {
            None => pages.map(uncompared_page).collect(),
            Some(comparison) => {
                let [listed, now, past] = [report, &*comparison.now, &*comparison.before].map(by_path);
                let missing = if comparison.before.complete { PreviousViews::New } else { PreviousViews::Unknown };
                let compared = |row: &'a PageRow| {
                    let path = row.path.as_str();
                    let past = past.get(path).map_or(missing, |counts| PreviousViews::Counts(counts));
                    ExportedPage {
                        path,
                        now: listed.get(path).copied(),
                        compared: now.get(path).copied(),
                        before: past,
                    }
                };
                pages.map(compared).collect()
            }
        };
        let shown = lines.iter().filter(|line| line.now.is_some()).count();
        Self {
            range: report.range,
            totals: &report.totals,
            excluded_count: report.rows.len().saturating_sub(shown),
            lines,
            is_fully_loaded: report.complete,
            as_of: report.as_of,
            comparison: comparison.map(|comparison| ExportedComparison {
                ranges: comparison.ranges(),
                now: &comparison.now.totals,
                before: &comparison.before.totals,
                complete: comparison.before.complete,
            }),
        }
    }

    /// Returns the comparison if it covers only the complete days of a range that includes today.
    fn complete_days(&self) -> Option<ExportedComparison<'a>> {
        self.comparison.filter(|compared| compared.ranges.now != self.range)
    }

    /// Replaces the pages of the export with the given ones. The pages that this removes count as excluded.
    #[must_use]
    pub fn with_pages(mut self, pages: impl Iterator<Item = &'a PageRow>) -> Self {
        let before = self.lines.len();
        self.lines = pages.map(uncompared_page).collect();
        self.excluded_count = before.saturating_sub(self.lines.len());
        self
    }

    /// Whether the export contains all pages of the range.
    pub fn is_complete(&self) -> bool {
        self.is_fully_loaded && self.excluded_count == 0
    }

    /// Returns sentences about what is missing from the export; none if it is complete.
    pub fn missing_notes(&self) -> Vec<String> {
        let pages = if self.excluded_count == 1 { "page" } else { "pages" };
        let left_out =
            (self.excluded_count > 0).then(|| format!("Left out: {} more loaded {pages}.", self.excluded_count));
        let partial = (!self.is_fully_loaded).then(|| "Partial: not all pages are loaded.".to_owned());
        partial.into_iter().chain(left_out).collect()
    }

    /// Returns a name such as `docdeck-views-2026-11-14_2026-11-20.csv`. It also contains the compared range, and
    /// `-filtered` or `-partial` if pages are missing.
    pub fn file_name(&self, format: ExportFormat) -> String {
        let days = |range: DateRange| format!("{}_{}", range.from(), range.to());
        let against =
            self.comparison.map(|compared| format!("-vs-{}", days(compared.ranges.before))).unwrap_or_default();
        let filtered = if self.excluded_count > 0 { "-filtered" } else { "" };
        let partial = if self.is_fully_loaded { "" } else { "-partial" };
        format!("docdeck-views-{}{against}{filtered}{partial}.{}", days(self.range), format.extension())
    }
}

/// Creates the export of a page without a comparison.
fn uncompared_page(row: &PageRow) -> ExportedPage<'_> {
    ExportedPage {
        path: row.path.as_str(),
        now: Some(&row.counts),
        compared: Some(&row.counts),
        before: PreviousViews::Unknown,
    }
}

fn by_path(report: &Report) -> HashMap<&str, &Counts> {
    report.rows.iter().map(|row| (row.path.as_str(), &row.counts)).collect()
}

/// Returns the count as received, or an empty text if it is missing.
pub fn format_received(count: &Count) -> String {
    match count {
        Count::Known(n) => n.to_string(),
        Count::Fraction(n) => n.to_string(),
        Count::Other(text) => text.as_str().to_owned(),
        Count::Missing => String::new(),
    }
}

/// Marks a page that only one of the two compared ranges lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PagePresence {
    New,
    Gone,
}

impl PagePresence {
    /// Returns the status as it is written in all formats.
    fn word(self) -> &'static str {
        match self {
            Self::New => "new",
            Self::Gone => "gone",
        }
    }
}

/// Returns whether a page is new or gone, or `None` if both ranges list it or if this is unknown.
fn page_presence(line: &ExportedPage<'_>) -> Option<PagePresence> {
    match (line.compared, line.before) {
        (Some(_), PreviousViews::New) => Some(PagePresence::New),
        (None, PreviousViews::Counts(_)) => Some(PagePresence::Gone),
        _ => None,
    }
}

/// Returns the change of a page's total views, per day if the ranges differ in length. A new page had 0 views before,
/// and a page that is gone has 0 now. Returns `None` if the current or the previous total is unknown.
fn total_change(line: &ExportedPage<'_>, ranges: ComparedRanges) -> Option<ViewCount> {
    let now = line.compared.map(|counts| counts.total.value().map(|views| ranges.scale_now(views)));
    let past = |counts: &Counts| counts.total.value().map(|views| ranges.scale_before(views));
    match (now, line.before) {
        (Some(now), PreviousViews::New) => now,
        (Some(now), PreviousViews::Counts(counts)) => Some(now? - past(counts)?),
        (None, PreviousViews::Counts(counts)) => past(counts).map(|past| ViewCount::ZERO - past),
        (_, PreviousViews::Unknown) | (None, PreviousViews::New) => None,
    }
}

/// Formats the AI share (AI views divided by human + AI views, 0 to 1) with four decimals; empty if it is unknown.
fn share_text(counts: &Counts) -> String {
    counts.ai_share().map(|share| format!("{share:.4}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::text::CleanText;

    pub(super) fn counts(human: i64, ai: i64) -> Counts {
        Counts { human: Count::Known(human), ai: Count::Known(ai), total: Count::Known(human + ai) }
    }

    pub(super) fn report(days: &str, rows: &[(&str, i64, i64)], complete: bool) -> Report {
        let mut ends = days.split(' ').map(|day| day.parse().expect("a date"));
        let range = DateRange::new(ends.next().expect("a day"), ends.next().expect("a day")).expect("a range");
        let row =
            |(path, human, ai): &(&str, i64, i64)| PageRow { path: CleanText::line(path), counts: counts(*human, *ai) };
        let rows = rows.iter().map(row).collect();
        let page = ViewsPage { totals: counts(100, 50), rows, has_more: None };
        Report::from_first_answer(range, page, complete, "2026-11-20T14:02:30Z".parse().expect("a time"))
    }

    pub(super) fn comparison(now: &Report, past: &Report) -> Comparison {
        Comparison { now: now.clone().into(), before: past.clone().into() }
    }

    pub(super) const NOW: &str = "2026-11-14 2026-11-20";
    pub(super) const PAST: &str = "2026-11-07 2026-11-13";

    #[test]
    fn new_gone_and_unknown_pages_are_distinguished() {
        let now = report(NOW, &[("/a", 5, 5), ("/b", 3, 0)], true);
        let past = report(PAST, &[("/a", 1, 1), ("/c", 9, 0)], true);
        let both = comparison(&now, &past);
        let content = ExportContent::of_report(&now, Some(&both));
        let changes = |content: &ExportContent<'_>| -> Vec<_> {
            let ranges = content.comparison.expect("a comparison").ranges;
            let text = |line: &ExportedPage<'_>| total_change(line, ranges).map(|change| change.to_string());
            content.lines.iter().map(|line| (text(line), page_presence(line))).collect()
        };
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(
            changes(&content),
            [(text("8"), None), (text("3"), Some(PagePresence::New)), (text("-9"), Some(PagePresence::Gone))]
        );
        let half = Report { complete: false, ..past };
        let both = comparison(&now, &half);
        let content = ExportContent::of_report(&now, Some(&both));
        assert_eq!(changes(&content)[1], (None, None), "not loaded yet is not new");
        let unfinished = Report { complete: false, ..now.clone() };
        assert_eq!(ExportContent::of_report(&unfinished, Some(&both)).lines.len(), 2, "not loaded yet is not gone");
    }

    #[test]
    fn a_range_that_includes_today_is_exported_with_its_complete_days() {
        let shown = report(NOW, &[("/a", 90, 10), ("/back", 3, 0), ("/today", 7, 0)], true);
        let now = report("2026-11-14 2026-11-19", &[("/a", 70, 10)], true);
        let past = report("2026-11-07 2026-11-12", &[("/a", 50, 10), ("/back", 9, 0), ("/old", 4, 0)], true);
        let both = comparison(&now, &past);
        let content = ExportContent::of_report(&shown, Some(&both));
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
        let now = report("2026-10-01 2026-10-10", &[("/a", 50, 0)], true);
        let past = report("2026-09-26 2026-09-30", &[("/a", 20, 0)], true);
        let both = comparison(&now, &past);
        let content = ExportContent::of_report(&now, Some(&both));
        let csv = ExportFormat::Csv.write(&content).expect("written");
        assert!(
            csv.starts_with("path,human,ai,total,ai_share,human_before,ai_before,total_before,change_per_day,status")
        );
        assert!(csv.contains("/a,50,0,50,0.0000,20,0,20,1,\r\n"), "{csv}");
        let markdown = ExportFormat::Markdown.write(&content).expect("written");
        assert!(markdown.contains("Compared with 2026-09-26 … 2026-09-30, per day, 10 vs 5 days: "), "{markdown}");
    }

    #[test]
    fn the_file_name_describes_the_content() {
        let now = report(NOW, &[("/a", 5, 5), ("/b", 3, 0)], true);
        let past = report(PAST, &[], true);
        let all = ExportContent::of_report(&now, None);
        assert_eq!(all.file_name(ExportFormat::Csv), "docdeck-views-2026-11-14_2026-11-20.csv");
        assert!(all.is_complete() && all.missing_notes().is_empty());
        let both = comparison(&now, &past);
        let compared = ExportContent::of_pages(&now, Some(&both), now.rows.iter().skip(1));
        assert_eq!(
            compared.file_name(ExportFormat::Markdown),
            "docdeck-views-2026-11-14_2026-11-20-vs-2026-11-07_2026-11-13-filtered.md"
        );
        assert_eq!(compared.missing_notes(), ["Left out: 1 more loaded page."]);
        let half = Report { complete: false, ..now };
        let partial = ExportContent::of_report(&half, None);
        assert_eq!(partial.file_name(ExportFormat::Json), "docdeck-views-2026-11-14_2026-11-20-partial.json");
        assert!(!partial.is_complete());
    }

    #[test]
    fn every_format_writes_fractions_as_received_and_whole_numbers_without_a_point() {
        let counts = |literals: [&str; 3]| {
            let [human, ai, total] = literals.map(|literal| Count::from_literal(literal).expect("a number"));
            Counts { human, ai, total }
        };
        let row = |literals| vec![PageRow { path: CleanText::line("/a"), counts: counts(literals) }];
        let now = Report { rows: row(["12.0", "0.5", "12.5"]), ..report(NOW, &[], true) };
        let past = Report { rows: row(["12.1", "0.2", "12.3"]), ..report(PAST, &[], true) };
        let both = comparison(&now, &past);
        let content = ExportContent::of_report(&now, Some(&both));
        let change = total_change(&content.lines[0], both.ranges()).map(|change| change.to_string());
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
    fn an_answer_is_partial_if_more_pages_may_follow() {
        let now = report(NOW, &[("/a", 5, 5)], true);
        let answer = ViewsPage { totals: counts(5, 5), rows: now.rows.clone(), has_more: Some(true) };
        let content = ExportContent::of_answer(now.range, &answer, false, now.as_of);
        assert_eq!(content.missing_notes(), ["Partial: not all pages are loaded."]);
        assert_eq!(content.lines.len(), 1);
    }
}
