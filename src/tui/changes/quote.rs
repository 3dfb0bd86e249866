//! Quotes the marked lines of a diff, for a follow-up.

use super::rows::{self, DiffRow, DiffRows};
use crate::model::diff::{Diff, LineKind};
use std::fmt::Write as _;
use std::ops::RangeInclusive;

/// The maximum number of lines in one quotation, over all files.
const MAX_QUOTED_LINES: usize = 200;

/// Returns a quotation of the marked rows: for each file its path with the line numbers, then the lines. `None` if only
/// blank rows are marked.
pub(super) fn quote(diff: &Diff, rows: &DiffRows, marked: RangeInclusive<usize>) -> Option<String> {
    let mut text = String::new();
    let (first, last) = (rows.file_of(*marked.start()), rows.file_of(*marked.end()));
    let mut left = MAX_QUOTED_LINES;
    for file in first..=last {
        let of_file = marked.clone().filter(|row| rows.file_of(*row) == file && rows.get(*row) != Some(DiffRow::Gap));
        if of_file.clone().next().is_none() {
            continue;
        }
        let lines: Vec<usize> = of_file
            .filter_map(|row| match rows.get(row) {
                Some(DiffRow::Line { line, .. }) => Some(line),
                _ => None,
            })
            .collect();
        let separator = if text.is_empty() { "" } else { "\n" };
        let _ = writeln!(text, "{separator}> {}{}", diff.files.get(file)?.path, line_numbers_text(diff, &lines));
        let kind = |line: &usize| diff.lines().get(*line).map_or(LineKind::Context, |line| line.kind);
        // If some of the lines are removed lines and others are not, signs distinguish them.
        let is_removed = |line: &usize| kind(line) == LineKind::Removed;
        let has_signs = lines.iter().any(is_removed) && !lines.iter().all(is_removed);
        for line in lines.iter().take(left) {
            let sign = match kind(line) {
                _ if !has_signs => "",
                LineKind::Removed => "- ",
                LineKind::Added => "+ ",
                LineKind::Context => "  ",
            };
            let shown = rows::line_text(diff, *line);
            let _ = writeln!(text, "{}", format!("> {sign}{shown}").trim_end());
        }
        if lines.len() > left {
            let _ = writeln!(text, "> …");
        }
        left = left.saturating_sub(lines.len());
    }
    Some(text).filter(|text| !text.is_empty())
}

/// Returns the line numbers in the new version: `:42` or `:42-45`. If all lines are removed lines, returns their
/// numbers in the old version: `:42 (removed)`. Empty if there are no lines.
fn line_numbers_text(diff: &Diff, lines: &[usize]) -> String {
    let lines: Vec<_> = lines.iter().filter_map(|line| diff.lines().get(*line)).collect();
    let kept: Vec<u32> =
        lines.iter().filter(|line| line.kind != LineKind::Removed).map(|line| line.new_number).collect();
    let (numbers, note) = match kept.is_empty() {
        false => (kept, ""),
        true => (lines.iter().map(|line| line.old_number).collect(), " (removed)"),
    };
    match (numbers.first(), numbers.last()) {
        (Some(first), Some(last)) if first == last => format!(":{first}{note}"),
        (Some(first), Some(last)) => format!(":{first}-{last}{note}"),
        _ => String::new(),
    }
}
