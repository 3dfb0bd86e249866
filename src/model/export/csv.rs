//! Writes page views as CSV (RFC 4180): a header line, CRLF line ends, and quotes where needed. Cells are changed so
//! that no spreadsheet runs them as formulas.

use super::ExportError;
use super::content::{
    ExportContent, ExportedPage, PagePresence, PreviousViews, ai_share_text, change_in_total, format_as_received,
    page_presence,
};
use crate::model::views::Counts;
use ::csv::{QuoteStyle, Terminator, WriterBuilder};

const COLUMN_NAMES: [&str; 5] = ["path", "human", "ai", "total", "ai_share"];
/// The columns for the complete days of the range, if only these days are compared.
const COMPLETE_DAYS_COLUMN_NAMES: [&str; 3] = ["human_complete_days", "ai_complete_days", "total_complete_days"];
const BEFORE_COLUMN_NAMES: [&str; 3] = ["human_before", "ai_before", "total_before"];
/// The columns of visitors, which are left out if the visitors are unknown.
const VISITORS_COLUMN_NAMES: [&str; 3] = ["human_visitors", "ai_visitors", "visitors"];
const VISITORS_BEFORE_COLUMN_NAMES: [&str; 3] = ["human_visitors_before", "ai_visitors_before", "visitors_before"];

pub(super) fn write_csv(content: &ExportContent<'_>) -> Result<String, ExportError> {
    let mut heads = COLUMN_NAMES.to_vec();
    let has_visitors = content.has_visitors();
    heads.extend(VISITORS_COLUMN_NAMES.iter().filter(|_| has_visitors));
    if let Some(compared) = content.comparison {
        heads.extend(content.complete_days_comparison().iter().flat_map(|_| COMPLETE_DAYS_COLUMN_NAMES));
        heads.extend(BEFORE_COLUMN_NAMES);
        heads.extend(VISITORS_BEFORE_COLUMN_NAMES.iter().filter(|_| has_visitors));
        // `change` is the change of the total views, empty if unknown; `status` is `new`, `gone` or empty.
        heads.extend([if compared.ranges.is_per_day() { "change_per_day" } else { "change" }, "status"]);
    }
    let record = |page: &ExportedPage<'_>| {
        let mut cells = vec![guard_formulas(page.path)];
        cells.extend(csv_numbers(page.counts));
        cells.push(page.counts.map(ai_share_text).unwrap_or_default());
        let visitors = |counts: Option<&Counts>| {
            let cells = csv_numbers(counts.and_then(|counts| counts.visitors.as_deref()));
            cells.into_iter().filter(|_| has_visitors).collect::<Vec<_>>()
        };
        cells.extend(visitors(page.counts));
        if let Some(compared) = content.comparison {
            cells
                .extend(content.complete_days_comparison().iter().flat_map(|_| csv_numbers(page.compared_days_counts)));
            let previous = match page.previous {
                PreviousViews::Counts(counts) => Some(counts),
                PreviousViews::New | PreviousViews::Unknown => None,
            };
            cells.extend(csv_numbers(previous));
            cells.extend(visitors(previous));
            cells.push(change_in_total(page, compared.ranges).map(|change| change.to_string()).unwrap_or_default());
            cells.push(page_presence(page).map(PagePresence::word).unwrap_or_default().to_owned());
        }
        cells
    };
    csv_text(&heads, content.pages.iter().map(record))
}

/// Returns a header line and these records as CSV.
///
/// # Errors
/// Fails only if the writer fails, which never happens when it writes to memory.
pub(in crate::model) fn csv_text(
    heads: &[&str],
    records: impl IntoIterator<Item = Vec<String>>,
) -> Result<String, ExportError> {
    let mut writer =
        WriterBuilder::new().terminator(Terminator::CRLF).quote_style(QuoteStyle::Necessary).from_writer(Vec::new());
    writer.write_record(heads).map_err(ExportError::new)?;
    for record in records {
        writer.write_record(record).map_err(ExportError::new)?;
    }
    let bytes = writer.into_inner().map_err(ExportError::new)?;
    String::from_utf8(bytes).map_err(ExportError::new)
}

fn csv_numbers(counts: Option<&Counts>) -> [String; 3] {
    let Some(counts) = counts else { return Default::default() };
    [&counts.human, &counts.ai, &counts.total].map(|count| guard_formulas_unless_number(format_as_received(count)))
}

/// Returns a number such as `-5` unchanged. Changes any other text as [`guard_formulas`] does.
#[must_use]
pub fn guard_formulas_unless_number(text: String) -> String {
    if is_spreadsheet_number(&text) { text } else { guard_formulas(&text) }
}

/// Whether a spreadsheet reads the text as a plain number. For example, it would take `-inf` for a formula.
fn is_spreadsheet_number(text: &str) -> bool {
    let has_number_characters = text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte));
    has_number_characters && !text.starts_with('+') && text.parse::<f64>().is_ok()
}

/// Adds an apostrophe before each part of the text that a spreadsheet could run as a formula. A part begins at the
/// start of the text, and after each character that some spreadsheets take for the end of a cell. A part that starts
/// with apostrophes and then a formula gets one more apostrophe, so that removing one always restores the original.
#[must_use]
pub fn guard_formulas(text: &str) -> String {
    let mut guarded = String::with_capacity(text.len());
    for part in text.split_inclusive(CELL_ENDS) {
        if is_formula(part.trim_start_matches('\'')) {
            guarded.push('\'');
        }
        guarded.push_str(part);
    }
    guarded
}

/// Characters that some spreadsheets take for the end of a cell.
const CELL_ENDS: [char; 4] = [';', '\t', '\r', '\n'];

fn is_formula(text: &str) -> bool {
    // Full-width signs also start a formula in East Asian locales.
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠'])
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CURRENT, PREVIOUS, comparison, counts, report};
    use super::super::{ExportFormat, ExportedPage};
    use super::*;
    use crate::model::text::CleanText;
    use crate::model::views::Count;
    use proptest::prelude::*;

    /// Parses CSV into its cells, as defined by RFC 4180.
    fn read(text: &str) -> Vec<Vec<String>> {
        let mut reader = ::csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        reader.records().map(|record| record.expect("a record").iter().map(str::to_owned).collect()).collect()
    }

    fn unguarded(cell: &str) -> String {
        let part = |part: &str| match part.strip_prefix('\'') {
            Some(rest) if is_formula(rest.trim_start_matches('\'')) => rest.to_owned(),
            _ => part.to_owned(),
        };
        cell.split_inclusive(CELL_ENDS).map(part).collect()
    }

    #[test]
    fn a_formula_after_a_separator_of_another_locale_is_guarded() {
        assert_eq!(guard_formulas("/a;=1+1"), "/a;'=1+1");
        assert_eq!(guard_formulas("/a\t@x\r=y\n-z"), "/a\t'@x\r'=y\n'-z");
        assert_eq!(guard_formulas("/a;b=1;"), "/a;b=1;");
        assert_eq!(guard_formulas("/guides/a-b"), "/guides/a-b");
    }

    #[test]
    fn lines_end_in_crlf_and_quotes_are_used_where_needed() {
        let current = report(CURRENT, &[("/a,b", 3, 1), ("/say \"hi\"", 0, 0)], true);
        let text = ExportFormat::Csv.write(&ExportContent::from_report(&current, None)).expect("written");
        assert_eq!(text, "path,human,ai,total,ai_share\r\n\"/a,b\",3,1,4,0.2500\r\n\"/say \"\"hi\"\"\",0,0,0,\r\n");
    }

    #[test]
    fn a_comparison_adds_columns_with_empty_cells_for_unknown_values() {
        let current = report(CURRENT, &[("/a", 5, 5), ("/b", 3, 0)], true);
        let previous = report(PREVIOUS, &[("/a", 1, 1), ("/c", 9, 0)], true);
        let text = ExportFormat::Csv
            .write(&ExportContent::from_report(&current, Some(&comparison(&current, &previous))))
            .expect("written");
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines,
            [
                "path,human,ai,total,ai_share,human_before,ai_before,total_before,change,status",
                "/a,5,5,10,0.5000,1,1,2,8,",
                "/b,3,0,3,0.0000,,,,3,new",
                "/c,,,,,9,0,9,-9,gone",
            ]
        );
    }

    #[test]
    fn values_that_are_not_counts_are_exported_as_received_and_never_as_a_formula() {
        let mut current = report(CURRENT, &[("=1+1", 0, 0)], true);
        current.rows[0].counts = Counts {
            human: Count::Known(-3),
            ai: Count::Other(CleanText::line("=cmd()")),
            total: Count::Other(CleanText::line("99999999999999999999")),
            ..Counts::default()
        };
        let text = ExportFormat::Csv.write(&ExportContent::from_report(&current, None)).expect("written");
        assert_eq!(text.lines().nth(1), Some("'=1+1,-3,'=cmd(),99999999999999999999,"));
    }

    proptest! {
        #[test]
        fn paths_and_counts_are_read_back_and_no_path_is_a_formula(
            rows in prop::collection::vec(("[=+@'/a\\t\\r\\n\",;é -]{0,8}|\\PC{0,12}", any::<i32>(), any::<i32>()), 0..20)
        ) {
            let kept: Vec<Counts> = rows.iter().map(|(_, human, ai)| counts(i64::from(*human), i64::from(*ai))).collect();
            let totals = counts(1, 1);
            let current = report(CURRENT, &[], true);
            let lines = rows.iter().zip(&kept);
            let lines = lines.map(|((path, ..), counts)| ExportedPage { path, counts: Some(counts), compared_days_counts: Some(counts), previous: PreviousViews::Unknown }).collect();
            let content = ExportContent { pages: lines, totals: &totals, ..ExportContent::from_report(&current, None) };
            let read = read(&ExportFormat::Csv.write(&content).expect("written"));
            prop_assert_eq!(read.len(), rows.len() + 1);
            for (cells, (path, human, ai)) in read.iter().skip(1).zip(&rows) {
                prop_assert!(!cells[0].split(CELL_ENDS).any(is_formula), "{:?}", cells[0]);
                prop_assert_eq!(&unguarded(&cells[0]), path);
                prop_assert_eq!(&cells[1], &human.to_string());
                prop_assert_eq!(&cells[2], &ai.to_string());
                prop_assert_eq!(&cells[3], &(i64::from(*human) + i64::from(*ai)).to_string());
            }
        }
    }
}
