//! The rows of the changes, and how many screen lines each of them needs. Only visible rows are laid out.

use crate::model::diff::{Diff, FileContent, LineKind};
use crate::model::text::{CleanText, is_printable_ascii};
use crate::tui::geometry::Geometry;
use crate::tui::wrap::wrap;
use std::borrow::Cow;

/// The width of the sign and the line number before the text of a line.
pub(super) const GUTTER_WIDTH: usize = 10;
/// The maximum number of characters of a line that are shown. Longer lines are not meant to be read.
const MAX_SHOWN_LINE_CHARS: usize = 4000;
/// The maximum number of screen lines of one line of a file.
const MAX_WRAPPED_LINES: usize = 200;

/// A row of the changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum DiffRow {
    /// A blank row above a file.
    Gap,
    /// The heading of a file, by its index.
    File(usize),
    /// The reason why a file has no lines, by the index of the file.
    Remark(usize),
    /// The heading of a hunk, by the indexes of the file and the hunk.
    Hunk(usize, usize),
    /// A line of the diff, by its index. A changed line is shown as context if only its whitespace has changed and
    /// whitespace is ignored.
    Line { line: usize, is_context: bool },
}

#[derive(Debug, Default)]
pub(super) struct DiffRows {
    rows: Vec<DiffRow>,
    file_starts: Vec<usize>,
}

impl DiffRows {
    pub(super) fn new(diff: &Diff, ignores_whitespace: bool) -> Self {
        let mut out = Self::default();
        for (n, file) in diff.files.iter().enumerate() {
            out.rows.extend((n > 0).then_some(DiffRow::Gap));
            out.file_starts.push(out.rows.len());
            out.rows.push(DiffRow::File(n));
            let before = out.rows.len();
            for (place, hunk) in file.hunks.iter().enumerate() {
                let unchanged =
                    if ignores_whitespace { diff.lines_differing_in_whitespace(hunk) } else { Default::default() };
                let has_changed = |line: &usize| {
                    !unchanged.contains(line)
                        && diff.lines().get(*line).is_some_and(|line| line.kind != LineKind::Context)
                };
                if !hunk.lines.clone().any(|line| has_changed(&line)) {
                    continue;
                }
                out.rows.push(DiffRow::Hunk(n, place));
                for line in hunk.lines.clone() {
                    let is_context = unchanged.contains(&line);
                    let is_removed = diff.lines().get(line).is_some_and(|line| line.kind == LineKind::Removed);
                    if !(is_context && is_removed) {
                        out.rows.push(DiffRow::Line { line, is_context });
                    }
                }
            }
            if out.rows.len() == before {
                out.rows.push(DiffRow::Remark(n));
            }
        }
        out
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn get(&self, row: usize) -> Option<DiffRow> {
        self.rows.get(row).copied()
    }

    /// Returns the rows at which files begin.
    pub(super) fn file_starts(&self) -> impl DoubleEndedIterator<Item = usize> {
        self.file_starts.iter().copied()
    }

    /// Returns the index of the file to which a row belongs.
    pub(super) fn file_of(&self, row: usize) -> usize {
        self.file_starts.partition_point(|start| *start <= row).saturating_sub(1)
    }

    /// Returns the position of a row. If the row is no longer listed, returns the position of a listed row before it,
    /// or 0.
    pub(super) fn nearest_position(&self, row: DiffRow) -> usize {
        let exact = self.rows.iter().position(|other| *other == row);
        let before = || match row {
            DiffRow::Line { line, .. } => {
                self.rows.iter().rposition(|other| matches!(other, DiffRow::Line { line: other, .. } if *other <= line))
            }
            DiffRow::Hunk(file, _) | DiffRow::Remark(file) => self.file_starts.get(file).copied(),
            DiffRow::Gap | DiffRow::File(_) => None,
        };
        exact.or_else(before).unwrap_or(0)
    }

    /// Returns the text of a row, for searching: the path of a file, or the text of a line. Empty for other rows.
    pub(super) fn text<'a>(&self, row: usize, diff: &'a Diff) -> &'a str {
        match self.get(row) {
            Some(DiffRow::File(file)) => diff.files.get(file).map_or("", |file| file.path.as_str()),
            Some(DiffRow::Line { line, .. }) => diff.lines().get(line).map_or("", |line| diff.line_text(line)),
            _ => "",
        }
    }

    /// Returns how many screen lines a row needs, if there are `width` columns for the text of a line.
    pub(super) fn height(&self, row: usize, diff: &Diff, width: usize) -> usize {
        match self.get(row) {
            Some(DiffRow::Line { line, .. }) => {
                let text = diff.lines().get(line).map_or("", |line| diff.line_text(line));
                // Only for printable ASCII is the number of bytes also the width. A tab, for example, is wider than one
                // cell.
                let fits = text.len() <= width && is_printable_ascii(text);
                if fits { 1 } else { wrap_line(&line_text(diff, line), width).len() }
            }
            _ => 1,
        }
    }
}

/// Returns how many columns there are for the text of a line.
pub(super) fn text_columns(g: Geometry) -> usize {
    g.dialog_columns().saturating_sub(GUTTER_WIDTH).max(1)
}

/// Returns the text of a line of the diff without control characters, cut at [`MAX_SHOWN_LINE_CHARS`].
pub(super) fn line_text(diff: &Diff, line: usize) -> String {
    let raw = diff.lines().get(line).map_or("", |line| diff.line_text(line)).trim_end_matches('\r');
    let cut = raw.char_indices().nth(MAX_SHOWN_LINE_CHARS).and_then(|(end, _)| raw.get(..end));
    let shown = cut.map_or(Cow::Borrowed(raw), |cut| Cow::Owned(format!("{cut}…")));
    CleanText::block(&shown).as_str().replace('\n', " ")
}

/// Wraps the text of a line. An empty text is one empty line.
pub(super) fn wrap_line(text: &str, width: usize) -> Vec<String> {
    if text.len() <= width && is_printable_ascii(text) {
        return vec![text.to_owned()];
    }
    let mut lines = wrap(text, width, MAX_WRAPPED_LINES).0;
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

/// Returns why a file has no lines.
pub(super) fn no_lines_reason(diff: &Diff, file: usize) -> &'static str {
    match diff.files.get(file) {
        Some(file) if file.content == FileContent::Binary => "binary file",
        Some(file) if file.content == FileContent::Missing => "too large: the code host doesn't report the lines",
        Some(file) if !file.hunks.is_empty() => "only whitespace has changed",
        Some(file) if file.old_path.is_some() => "only the name has changed",
        _ => "no changed lines",
    }
}
