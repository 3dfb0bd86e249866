//! Tables on stdout: aligned by display width on a terminal and never wider than it; when piped one line a row, nothing
//! cut, columns apart by tabs, without a heading.

use super::out::{Out, cut};
use crate::model::colors::ColorRole;
use crate::model::export::guarded;
use unicode_width::UnicodeWidthStr as _;

/// Between two columns.
const GAP: &str = "  ";
/// Columns that give way keep so many cells, as long as there are any.
const LEAST: usize = 12;
const LEAST_ID: usize = 9;

/// A column and how it is set.
#[derive(Debug, Clone, Copy)]
pub(super) struct TextColumn {
    pub(super) heading: &'static str,
    pub(super) set: Set,
}

/// How a column is set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Set {
    Left,
    Right,
    /// To the left; the one that is cut when the terminal is too narrow.
    Flexible,
    /// To the left; cut when that is not enough, since its beginning says as much.
    Id,
    /// Only on a terminal.
    Seen,
}

/// A cell: what people see, and what is piped where that is something else.
#[derive(Debug, Clone)]
pub(super) struct TextCell {
    text: String,
    piped: Option<String>,
    meaning: ColorRole,
}

impl TextCell {
    /// The same text on a terminal and when piped.
    pub(super) fn new(meaning: ColorRole, text: impl Into<String>) -> Self {
        Self { text: text.into(), piped: None, meaning }
    }

    /// Another text when piped: all of it, for a program.
    pub(super) fn piped(mut self, text: impl Into<String>) -> Self {
        self.piped = Some(text.into());
        self
    }
}

/// Rows under headings.
#[derive(Debug)]
pub(super) struct TextTable {
    columns: Vec<TextColumn>,
    rows: Vec<Vec<TextCell>>,
}

impl TextTable {
    /// Without rows.
    pub(super) fn new(columns: &[TextColumn]) -> Self {
        Self { columns: columns.to_vec(), rows: Vec::new() }
    }

    /// Adds a row; its cells are those of the columns, in order.
    pub(super) fn row(&mut self, cells: Vec<TextCell>) {
        self.rows.push(cells);
    }

    /// Writes it. A table without rows writes nothing.
    pub(super) fn write(&self, out: &mut Out) {
        let lines = match out.width() {
            _ if self.rows.is_empty() => return,
            Some(width) => self.aligned(out, width),
            None => self.rows.iter().map(|row| self.joined(out, row)).collect(),
        };
        out.lines(&lines);
    }

    fn joined(&self, out: &Out, row: &[TextCell]) -> String {
        let cells = row.iter().zip(&self.columns).filter(|(_, column)| column.set != Set::Seen);
        let cells = cells.map(|(cell, column)| {
            let text = cell.piped.as_ref().unwrap_or(&cell.text).replace(['\t', '\r', '\n'], " ");
            // Text from outside; all else are words, numbers and links that scripts read as they are.
            let text = if column.set == Set::Flexible { guarded(&text) } else { text };
            out.paint(cell.meaning, &text)
        });
        cells.collect::<Vec<_>>().join("\t")
    }

    fn aligned(&self, out: &Out, width: usize) -> Vec<String> {
        let widths = self.widths(width);
        let headings: Vec<TextCell> =
            self.columns.iter().map(|column| TextCell::new(ColorRole::Muted, column.heading)).collect();
        let rows = std::iter::once(&headings).chain(&self.rows);
        rows.map(|row| self.set(out, row, &widths, width)).collect()
    }

    /// The widest cell of each column; what is too much for the terminal goes from the flexible one.
    fn widths(&self, width: usize) -> Vec<usize> {
        let widest = |at: usize, heading: &str| {
            let cells = self.rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.text.width());
            cells.fold(heading.width(), usize::max)
        };
        let mut widths: Vec<usize> =
            self.columns.iter().enumerate().map(|(at, column)| widest(at, column.heading)).collect();
        let seen = widths.iter().filter(|cells| **cells > 0).count();
        let gaps = GAP.len() * seen.saturating_sub(1);
        for (set, least) in [(Set::Flexible, LEAST), (Set::Id, LEAST_ID)] {
            let over = (widths.iter().sum::<usize>() + gaps).saturating_sub(width);
            let place = self.columns.iter().position(|column| column.set == set);
            if let Some(cells) = place.and_then(|at| widths.get_mut(at)) {
                *cells = cells.saturating_sub(over).max(least.min(*cells));
            }
        }
        widths
    }

    fn set(&self, out: &Out, row: &[TextCell], widths: &[usize], width: usize) -> String {
        let mut line = String::new();
        let mut used = 0;
        let last = self.columns.len().saturating_sub(1);
        for (at, ((cell, column), cells)) in row.iter().zip(&self.columns).zip(widths).enumerate() {
            if *cells == 0 {
                continue;
            }
            let gap = if used == 0 { "" } else { GAP };
            let room = (*cells).min(width.saturating_sub(used + gap.len()));
            if room == 0 {
                break;
            }
            let text = cut(&cell.text, room);
            let blank = " ".repeat(room.saturating_sub(text.width()));
            let painted = out.paint(cell.meaning, &text);
            line.push_str(gap);
            match column.set {
                Set::Right => line.extend([blank.as_str(), painted.as_str()]),
                _ if at == last => line.push_str(&painted),
                _ => line.extend([painted.as_str(), blank.as_str()]),
            }
            used += gap.len() + room;
        }
        line.truncate(line.trim_end().len());
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> TextTable {
        let column = |heading, set| TextColumn { heading, set };
        let mut table =
            TextTable::new(&[column("ID", Set::Id), column("TITLE", Set::Flexible), column("AGE", Set::Right)]);
        for (id, title, age) in [("j1", "Fix the broken links in /api", "14m"), ("j-22", "世界 guide", "5h")] {
            table.row(vec![
                TextCell::new(ColorRole::Text, id),
                TextCell::new(ColorRole::Text, title),
                TextCell::new(ColorRole::Muted, age).piped("2026-11-20T12:00:00Z"),
            ]);
        }
        table
    }

    #[test]
    fn columns_stand_below_their_headings_whatever_their_width_in_cells() {
        let lines = table().aligned(&Out::of_process(), 80);
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
    fn a_narrow_terminal_cuts_the_flexible_column_first_and_no_line_is_wider() {
        let lines = table().aligned(&Out::of_process(), 24);
        assert_eq!(lines[1], "j1    Fix the brok…  14m");
        for width in 1..40 {
            assert!(table().aligned(&Out::of_process(), width).iter().all(|line| line.width() <= width), "{width}");
        }
    }

    #[test]
    fn a_column_without_heading_and_cells_takes_no_room() {
        let column = |heading, set| TextColumn { heading, set };
        let mut table =
            TextTable::new(&[column("", Set::Seen), column("ID", Set::Left), column("TITLE", Set::Flexible)]);
        table.row(["", "j1", "Fix"].map(|text| TextCell::new(ColorRole::Text, text)).to_vec());
        assert_eq!(table.aligned(&Out::of_process(), 80), ["ID  TITLE", "j1  Fix"]);
        table.row(["●", "j2", "Do"].map(|text| TextCell::new(ColorRole::Text, text)).to_vec());
        assert_eq!(table.aligned(&Out::of_process(), 80), ["   ID  TITLE", "   j1  Fix", "●  j2  Do"]);
    }

    #[test]
    fn piped_nothing_is_cut_and_tabs_part_the_columns() {
        let table = table();
        let lines: Vec<String> = table.rows.iter().map(|row| table.joined(&Out::of_process(), row)).collect();
        assert_eq!(lines[0], "j1\tFix the broken links in /api\t2026-11-20T12:00:00Z");
    }
}
