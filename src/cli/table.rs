//! Prints tables on stdout. On a terminal, columns are aligned by display width and cut to the terminal's width. In a
//! pipe, there are no headings, and each row is an uncut line with tabs between the columns.

use super::out::{Out, cut_to_width};
use crate::model::colors::ColorRole;
use crate::model::export::guard_formulas;
use unicode_width::UnicodeWidthStr as _;

/// The space between two columns.
const GAP: &str = "  ";
/// The flexible column is not cut to fewer cells than this.
const MIN_FLEXIBLE_WIDTH: usize = 12;
/// The column of ids is not cut to fewer cells than this.
const MIN_ID_WIDTH: usize = 9;

#[derive(Debug, Clone, Copy)]
pub(super) struct TextColumn {
    pub(super) heading: &'static str,
    pub(super) kind: ColumnKind,
}

/// How a column is aligned and cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnKind {
    Left,
    Right,
    /// Left-aligned; the first column that is cut on a narrow terminal.
    Flexible,
    /// Left-aligned ids; cut if cutting the flexible column is not enough. A prefix of an id still identifies the job.
    Id,
    /// Left-aligned; printed only on a terminal.
    TerminalOnly,
}

/// A cell of a row. In a pipe, `piped` replaces `text`.
#[derive(Debug, Clone)]
pub(super) struct TextCell {
    text: String,
    piped: Option<String>,
    role: ColorRole,
}

impl TextCell {
    /// Creates a cell with the same text on a terminal and in a pipe.
    pub(super) fn new(role: ColorRole, text: impl Into<String>) -> Self {
        Self { text: text.into(), piped: None, role }
    }

    /// Sets the text that is written in a pipe, for example a complete URL or time.
    pub(super) fn with_piped_text(mut self, text: impl Into<String>) -> Self {
        self.piped = Some(text.into());
        self
    }
}

#[derive(Debug)]
pub(super) struct TextTable {
    columns: Vec<TextColumn>,
    rows: Vec<Vec<TextCell>>,
}

impl TextTable {
    pub(super) fn new(columns: &[TextColumn]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; the cells are in the order of the columns.
    pub(super) fn add_row(&mut self, cells: Vec<TextCell>) {
        self.rows.push(cells);
    }

    /// Writes the table, or nothing if it has no rows.
    pub(super) fn write(&self, out: &mut Out) {
        let lines = match out.width() {
            _ if self.rows.is_empty() => return,
            Some(width) => self.aligned_lines(out, width),
            None => self.rows.iter().map(|row| self.piped_line(out, row)).collect(),
        };
        out.lines(&lines);
    }

    fn piped_line(&self, out: &Out, row: &[TextCell]) -> String {
        let cells = row.iter().zip(&self.columns).filter(|(_, column)| column.kind != ColumnKind::TerminalOnly);
        let cells = cells.map(|(cell, column)| {
            let text = cell.piped.as_ref().unwrap_or(&cell.text).replace(['\t', '\r', '\n'], " ");
            // The flexible column contains text from outside, which may look like a spreadsheet formula. Other columns
            // are unchanged, because scripts read them.
            let text = if column.kind == ColumnKind::Flexible { guard_formulas(&text) } else { text };
            out.paint(cell.role, &text)
        });
        cells.collect::<Vec<_>>().join("\t")
    }

    fn aligned_lines(&self, out: &Out, width: usize) -> Vec<String> {
        let widths = self.widths(width);
        let headings: Vec<TextCell> =
            self.columns.iter().map(|column| TextCell::new(ColorRole::Muted, column.heading)).collect();
        let rows = std::iter::once(&headings).chain(&self.rows);
        rows.map(|row| self.aligned_row(out, row, &widths, width)).collect()
    }

    /// Returns the width of each column: the width of its widest cell, or less if the column must be cut.
    fn widths(&self, width: usize) -> Vec<usize> {
        let widest = |at: usize, heading: &str| {
            let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.text.width());
            cells.fold(heading.width(), usize::max)
        };
        let mut widths: Vec<usize> =
            self.columns.iter().enumerate().map(|(at, column)| widest(at, column.heading)).collect();
        let seen = widths.iter().filter(|cells| **cells > 0).count();
        let gaps = GAP.len() * seen.saturating_sub(1);
        for (kind, least) in [(ColumnKind::Flexible, MIN_FLEXIBLE_WIDTH), (ColumnKind::Id, MIN_ID_WIDTH)] {
            let over = (widths.iter().sum::<usize>() + gaps).saturating_sub(width);
            let place = self.columns.iter().position(|column| column.kind == kind);
            if let Some(cells) = place.and_then(|at| widths.get_mut(at)) {
                *cells = cells.saturating_sub(over).max(least.min(*cells));
            }
        }
        widths
    }

    fn aligned_row(&self, out: &Out, row: &[TextCell], widths: &[usize], width: usize) -> String {
        let mut line = String::new();
        let mut used = 0;
        let last = self.columns.len().saturating_sub(1);
        for (at, ((cell, column), cells)) in row.iter().zip(&self.columns).zip(widths).enumerate() {
            if *cells == 0 {
                continue;
            }
            let gap = if used == 0 { "" } else { GAP };
            let available = (*cells).min(width.saturating_sub(used + gap.len()));
            if available == 0 {
                break;
            }
            let text = cut_to_width(&cell.text, available);
            let blank = " ".repeat(available.saturating_sub(text.width()));
            let painted = out.paint(cell.role, &text);
            line.push_str(gap);
            match column.kind {
                ColumnKind::Right => line.extend([blank.as_str(), painted.as_str()]),
                _ if at == last => line.push_str(&painted),
                _ => line.extend([painted.as_str(), blank.as_str()]),
            }
            used += gap.len() + available;
        }
        line.truncate(line.trim_end().len());
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> TextTable {
        let column = |heading, kind| TextColumn { heading, kind };
        let mut table = TextTable::new(&[
            column("ID", ColumnKind::Id),
            column("TITLE", ColumnKind::Flexible),
            column("AGE", ColumnKind::Right),
        ]);
        for (id, title, age) in [("j1", "Fix the broken links in /api", "14m"), ("j-22", "世界 guide", "5h")] {
            table.add_row(vec![
                TextCell::new(ColorRole::Text, id),
                TextCell::new(ColorRole::Text, title),
                TextCell::new(ColorRole::Muted, age).with_piped_text("2026-11-20T12:00:00Z"),
            ]);
        }
        table
    }

    #[test]
    fn columns_are_aligned_by_display_width() {
        let lines = table().aligned_lines(&Out::of_process(), 80);
        assert_eq!(
            lines,
            [
                "ID    TITLE                         AGE",
                "j1    Fix the broken links in /api  14m",
                "j-22  世界 guide                     5h"
            ]
        );
    }

    #[test]
    fn a_narrow_terminal_cuts_the_flexible_column_first() {
        let lines = table().aligned_lines(&Out::of_process(), 24);
        assert_eq!(lines[1], "j1    Fix the brok…  14m");
        for width in 1..40 {
            assert!(
                table().aligned_lines(&Out::of_process(), width).iter().all(|line| line.width() <= width),
                "{width}"
            );
        }
    }

    #[test]
    fn a_column_without_heading_and_cells_takes_no_space() {
        let column = |heading, kind| TextColumn { heading, kind };
        let mut table = TextTable::new(&[
            column("", ColumnKind::TerminalOnly),
            column("ID", ColumnKind::Left),
            column("TITLE", ColumnKind::Flexible),
        ]);
        table.add_row(["", "j1", "Fix"].map(|text| TextCell::new(ColorRole::Text, text)).to_vec());
        assert_eq!(table.aligned_lines(&Out::of_process(), 80), ["ID  TITLE", "j1  Fix"]);
        table.add_row(["●", "j2", "Do"].map(|text| TextCell::new(ColorRole::Text, text)).to_vec());
        assert_eq!(table.aligned_lines(&Out::of_process(), 80), ["   ID  TITLE", "   j1  Fix", "●  j2  Do"]);
    }

    #[test]
    fn in_a_pipe_nothing_is_cut_and_tabs_separate_the_columns() {
        let table = table();
        let lines: Vec<String> = table.rows.iter().map(|row| table.piped_line(&Out::of_process(), row)).collect();
        assert_eq!(lines[0], "j1\tFix the broken links in /api\t2026-11-20T12:00:00Z");
    }
}
