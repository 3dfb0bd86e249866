//! Writes page views as Markdown for pull requests and chats: the range, the site's totals, then a table of pages.

use super::content::{
    ExportContent, ExportedPage, PagePresence, PreviousViews, change_in_total, format_as_received, page_presence,
};
use crate::model::comparison::ComparedRanges;
use crate::model::views::{Count, Counts, DecimalCount};
use chrono::SecondsFormat;
use std::borrow::Cow;

pub(super) fn write_markdown(content: &ExportContent<'_>) -> String {
    let mut out = format!("**Page views {} (UTC)**: {}\n", content.range, markdown_totals(content.totals));
    if let Some(compared) = content.comparison {
        let whole = if compared.is_previous_complete { "" } else { ", partial" };
        let ranges = compared.ranges;
        if content.complete_days_comparison().is_some() {
            out.push_str(&format!("\nComplete days {}: {}\n", ranges.current, markdown_totals(compared.current)));
        }
        let per_day = ranges.per_day_text().map(|words| format!(", {words}")).unwrap_or_default();
        out.push_str(&format!(
            "\nCompared with {}{per_day}{whole}: {}\n",
            ranges.previous,
            markdown_totals(compared.previous)
        ));
    }
    for missing in content.notes_on_missing_pages() {
        out.push_str(&format!("\n{missing}\n"));
    }
    out.push_str(&format!("\nAs of {}.\n\n", content.as_of.to_rfc3339_opts(SecondsFormat::Secs, true)));
    let (complete, rule) =
        if content.complete_days_comparison().is_some() { (" total, complete days |", " ---: |") } else { ("", "") };
    let (heads, rule) = match content.comparison {
        Some(compared) => {
            let change = if compared.ranges.is_per_day() { "change per day" } else { "change" };
            (format!("{complete} total before | {change} |"), format!("{rule} ---: | ---: |"))
        }
        None => Default::default(),
    };
    let (visitors, visitors_rule) = if content.has_visitors() { (" visitors |", " ---: |") } else { ("", "") };
    out.push_str(&format!(
        "| path | human | AI | total | AI % |{visitors}{heads}\n| --- | ---: | ---: | ---: | ---: |{visitors_rule}{rule}\n"
    ));
    for page in &content.pages {
        out.push_str(&markdown_row(page, content));
    }
    out
}

fn markdown_totals(counts: &Counts) -> String {
    let share = counts.ai_share().map(|share| format!(", AI share {:.1}%", share * 100.0)).unwrap_or_default();
    let number = |count: &Count| escape_markdown(&count_text(count)).into_owned();
    format!("human {}, AI {}, total {}{share}", number(&counts.human), number(&counts.ai), number(&counts.total))
}

/// Returns the count as received, or `?` if it is missing.
fn count_text(count: &Count) -> String {
    if *count == Count::Missing { "?".to_owned() } else { format_as_received(count) }
}

fn markdown_row(page: &ExportedPage<'_>, content: &ExportContent<'_>) -> String {
    let cells = |counts: &Counts| {
        let share = counts.ai_share().map_or_else(|| "–".to_owned(), |share| format!("{:.0}%", share * 100.0));
        [count_text(&counts.human), count_text(&counts.ai), count_text(&counts.total), share]
    };
    // A page that is gone has no counts in this range, so each of its cells shows a dash.
    let mut numbers = page.counts.map_or_else(|| vec!["–".to_owned(); 4], |counts| cells(counts).to_vec());
    if content.has_visitors() {
        let visitors = page.counts.and_then(|counts| counts.visitors.as_deref());
        numbers.push(visitors.map_or_else(|| "–".to_owned(), |visitors| count_text(&visitors.total)));
    }
    if let Some(compared) = content.comparison {
        if content.complete_days_comparison().is_some() {
            numbers.push(page.compared_days_counts.map_or_else(|| "–".to_owned(), |counts| count_text(&counts.total)));
        }
        numbers.push(match page.previous {
            PreviousViews::Counts(counts) => count_text(&counts.total),
            PreviousViews::New => "–".to_owned(),
            PreviousViews::Unknown => "?".to_owned(),
        });
        numbers.push(markdown_change(page, compared.ranges));
    }
    let numbers: String = numbers.iter().map(|number| format!(" {} |", escape_markdown(number))).collect();
    format!("| {} |{numbers}\n", escape_markdown(page.path))
}

/// Formats the change of the total with its sign, and whether the page is new or gone: `+8`, `new (+3)`, `gone (-9)`.
/// Returns `?` if the change is unknown and the page is neither new nor gone.
fn markdown_change(page: &ExportedPage<'_>, ranges: ComparedRanges) -> String {
    let change = change_in_total(page, ranges).map(|change| {
        let sign = if change > DecimalCount::ZERO { "+" } else { "" };
        format!("{sign}{change}")
    });
    match (page_presence(page).map(PagePresence::word), change) {
        (Some(word), Some(change)) => format!("{word} ({change})"),
        (Some(word), None) => word.to_owned(),
        (None, change) => change.unwrap_or_else(|| "?".to_owned()),
    }
}

/// Escapes all characters that Markdown or HTML would interpret in a table cell. Line breaks and tabs become spaces;
/// other control characters are removed.
pub(in crate::model) fn escape_markdown(text: &str) -> Cow<'_, str> {
    let special = |c: char| "|`\\*_[]<>~#&!".contains(c) || c.is_control();
    if !text.contains(special) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => out.push(' '),
            c if c.is_control() => {}
            c => {
                if special(c) {
                    out.push('\\');
                }
                out.push(c);
            }
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{CURRENT, PREVIOUS, comparison, report};
    use super::super::{ExportContent, ExportFormat};
    use super::*;
    use crate::model::report::Report;
    use proptest::prelude::*;

    fn to_markdown(content: &ExportContent<'_>) -> String {
        ExportFormat::Markdown.write(content).expect("written")
    }

    #[test]
    fn the_range_and_the_totals_come_before_the_table() {
        let current = report(CURRENT, &[("/a|b`c`", 3, 1)], true);
        assert_eq!(
            to_markdown(&ExportContent::from_report(&current, None)),
            "**Page views 2026-11-14 … 2026-11-20 (UTC)**: human 100, AI 50, total 150, AI share 33.3%\n\n\
             As of 2026-11-20T14:02:30Z.\n\n\
             | path | human | AI | total | AI % |\n\
             | --- | ---: | ---: | ---: | ---: |\n\
             | /a\\|b\\`c\\` | 3 | 1 | 4 | 25% |\n"
        );
    }

    #[test]
    fn partial_and_unknown_data_is_marked() {
        let current = Report { complete: false, ..report(CURRENT, &[("/a", 5, 5), ("/b", 0, 0)], true) };
        let previous = Report { complete: false, ..report(PREVIOUS, &[("/a", 1, 1)], true) };
        let text = to_markdown(&ExportContent::from_report(&current, Some(&comparison(&current, &previous))));
        assert!(text.contains("Partial: not all pages are loaded."), "{text}");
        assert!(text.contains("Compared with 2026-11-07 … 2026-11-13, partial: "), "{text}");
        assert!(text.contains("| /a | 5 | 5 | 10 | 50% | 2 | +8 |"), "{text}");
        assert!(text.contains("| /b | 0 | 0 | 0 | – | ? | ? |"), "{text}");
        let (current, previous) = (report(CURRENT, &[("/new", 2, 1)], true), report(PREVIOUS, &[("/old", 9, 0)], true));
        let text = to_markdown(&ExportContent::from_report(&current, Some(&comparison(&current, &previous))));
        assert!(text.contains("| /new | 2 | 1 | 3 | 33% | – | new (+3) |"), "{text}");
        assert!(text.contains("| /old | – | – | – | – | 9 | gone (-9) |"), "{text}");
    }

    proptest! {
        #[test]
        fn every_page_is_one_row_with_the_same_number_of_cells(paths in prop::collection::vec("[|`\\\\a/\\n\\r<*_-]{0,10}|\\PC{0,10}", 1..10)) {
            let counts = super::super::tests::counts(1, 1);
            let current = report(CURRENT, &[], true);
            let lines = paths.iter().map(|path| ExportedPage { path, counts: Some(&counts), compared_days_counts: Some(&counts), previous: PreviousViews::Unknown }).collect();
            let text = to_markdown(&ExportContent { pages: lines, ..ExportContent::from_report(&current, None) });
            let table: Vec<&str> = text.split('\n').filter(|line| line.starts_with('|')).collect();
            prop_assert_eq!(table.len(), paths.len() + 2);
            for row in table {
                // A pipe after an odd number of backslashes is part of a cell's text.
                let mut escaped = false;
                let pipes = row.chars().filter(|c| {
                    let counts = *c == '|' && !escaped;
                    escaped = *c == '\\' && !escaped;
                    counts
                });
                prop_assert_eq!(pipes.count(), 6, "{}", row);
            }
        }
    }
}
