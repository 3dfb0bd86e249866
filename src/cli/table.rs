//! Prints tables on stdout. On a terminal, columns are aligned by display width and cut to the terminal's width. In a
//! pipe, there are no headings, and each row is an uncut line with tabs between the columns.

use super::out::{Out, cut_to_width};
use crate::model::colors::ColorRole;
use crate::model::export::guard_formulas;
use crate::model::views::as_f64;
use std::borrow::Cow;
use unicode_width::UnicodeWidthStr as _;

/// The space between two columns.
const COLUMN_GAP: &str = "  ";
/// The column of ids is not cut to fewer cells than this.
const MIN_ID_WIDTH: usize = 9;
/// The flexible column keeps at least this many cells when bars are added.
const MIN_FLEXIBLE_WIDTH_BESIDE_BARS: usize = 16;
/// The minimum and maximum width of a bar, in cells. Bars that would be narrower are left out.
const MIN_BAR_WIDTH: usize = 12;
const MAX_BAR_WIDTH: usize = 48;

/// A column of a table whose rows are made from values of the type `T`.
pub(super) struct TextColumn<'a, T> {
    heading: Cow<'static, str>,
    kind: ColumnKind,
    is_written_to_pipe: bool,
    make_cell: Box<MakeCell<'a, T>>,
}

/// Makes the cell for a value.
type MakeCell<'a, T> = dyn Fn(&T, &Out) -> TextCell + 'a;

/// How a column is aligned and cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ColumnKind {
    Left,
    Right,
    /// Right-aligned numbers. They are never cut, even if the line becomes too wide, because a part of a number would
    /// be a wrong number.
    Number,
    /// Left-aligned; the first column that is cut on a narrow terminal, but not to fewer than `min` cells.
    Flexible {
        min: usize,
    },
    /// Left-aligned ids; cut if cutting the flexible column is not enough. A prefix of an id still identifies the job.
    Id,
    /// Bars, which fill the rest of the line; the last column, printed only on a terminal.
    Bar,
}

impl<'a, T> TextColumn<'a, T> {
    pub(super) fn new(
        heading: impl Into<Cow<'static, str>>,
        kind: ColumnKind,
        make_cell: impl Fn(&T, &Out) -> TextCell + 'a,
    ) -> Self {
        Self {
            heading: heading.into(),
            kind,
            is_written_to_pipe: kind != ColumnKind::Bar,
            make_cell: Box::new(make_cell),
        }
    }

    /// Leaves the column out in a pipe.
    pub(super) fn only_on_terminal(self) -> Self {
        Self { is_written_to_pipe: false, ..self }
    }
}

/// A cell of a row. In a pipe, `piped_text` replaces `text` if there is one.
#[derive(Debug, Clone, Default)]
pub(super) struct TextCell {
    text: String,
    piped_text: Option<String>,
    role: Option<ColorRole>,
    bar: Vec<BarPart>,
}

/// A part of a bar: its colour, its symbol and where it ends, as a share of the longest possible bar. It begins where
/// the previous part ends.
pub(super) type BarPart = (ColorRole, &'static str, f64);

impl TextCell {
    /// Creates a cell without a colour, with the same text on a terminal and in a pipe.
    pub(super) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Creates a cell with the same text on a terminal and in a pipe.
    pub(super) fn new(role: ColorRole, text: impl Into<String>) -> Self {
        Self { role: Some(role), ..Self::plain(text) }
    }

    /// Creates a cell of a column of bars.
    pub(super) fn bar(bar: Vec<BarPart>) -> Self {
        Self { bar, ..Self::default() }
    }

    /// Sets the text that is written if the output is a pipe, for example a complete URL or time.
    pub(super) fn with_piped_text(self, text: impl Into<String>) -> Self {
        Self { piped_text: Some(text.into()), ..self }
    }

    fn paint(&self, text: &str, out: &Out) -> String {
        self.role.map_or_else(|| text.to_owned(), |role| out.paint(role, text))
    }
}

/// Returns the lines of a table for stdout, or no lines if there are no rows.
pub(super) fn table_lines<T>(columns: &[TextColumn<'_, T>], items: &[T], out: &Out) -> Vec<String> {
    let row = |item| columns.iter().map(|column| (column.make_cell)(item, out)).collect();
    let rows: Vec<Vec<TextCell>> = items.iter().map(row).collect();
    match out.width() {
        _ if rows.is_empty() => Vec::new(),
        Some(width) => aligned_lines(columns, &rows, width, out),
        None => rows.iter().map(|row| piped_line(columns, row, out)).collect(),
    }
}

fn piped_line<T>(columns: &[TextColumn<'_, T>], row: &[TextCell], out: &Out) -> String {
    let cells = row.iter().zip(columns).filter(|(_, column)| column.is_written_to_pipe).map(|(cell, column)| {
        let text = cell.piped_text.as_ref().unwrap_or(&cell.text).replace(['\t', '\r', '\n'], " ");
        // The flexible column contains text from outside, which may look like a spreadsheet formula. Other columns are
        // unchanged, because scripts read them.
        let is_flexible = matches!(column.kind, ColumnKind::Flexible { .. });
        cell.paint(&if is_flexible { guard_formulas(&text) } else { text }, out)
    });
    cells.collect::<Vec<_>>().join("\t")
}

fn aligned_lines<T>(columns: &[TextColumn<'_, T>], rows: &[Vec<TextCell>], width: usize, out: &Out) -> Vec<String> {
    let widths = column_widths(columns, rows, width);
    let heading = |(column, cells): (&TextColumn<'_, T>, &usize)| match column.kind {
        ColumnKind::Bar if column.heading.width() > *cells => TextCell::default(),
        _ => TextCell::new(ColorRole::Muted, column.heading.clone()),
    };
    let headings: Vec<TextCell> = columns.iter().zip(&widths).map(heading).collect();
    let rows = std::iter::once(&headings).chain(rows);
    rows.map(|row| aligned_line(columns, row, &widths, width, out)).collect()
}

/// Returns the width of each column: the width of its widest cell, or less if the column must be cut. Bars get the
/// remaining width, up to [`MAX_BAR_WIDTH`]. If less than [`MIN_BAR_WIDTH`] remains, bars are left out.
fn column_widths<T>(columns: &[TextColumn<'_, T>], rows: &[Vec<TextCell>], width: usize) -> Vec<usize> {
    let widest = |(at, column): (usize, &TextColumn<'_, T>)| {
        let heading = if column.kind == ColumnKind::Bar { 0 } else { column.heading.width() };
        rows.iter().filter_map(|row| row.get(at)).map(|cell| cell.text.width()).fold(heading, usize::max)
    };
    let mut widths: Vec<usize> = columns.iter().enumerate().map(widest).collect();
    let seen = widths.iter().filter(|cells| **cells > 0).count();
    let gaps = COLUMN_GAP.len() * seen.saturating_sub(1);
    let place = |kind| columns.iter().position(|column| column.kind == kind);
    let flexible = columns.iter().enumerate().find_map(|(at, column)| match column.kind {
        ColumnKind::Flexible { min } => Some((at, min)),
        _ => None,
    });
    let (flexible, min) = flexible.unzip();
    let bar = place(ColumnKind::Bar);
    let bar_space = if bar.is_some() { COLUMN_GAP.len() + MIN_BAR_WIDTH } else { 0 };
    let cuts = [
        (flexible, bar_space, MIN_FLEXIBLE_WIDTH_BESIDE_BARS),
        (flexible, 0, min.unwrap_or_default()),
        (place(ColumnKind::Id), 0, MIN_ID_WIDTH),
    ];
    for (column, reserved, least) in cuts {
        let over = (widths.iter().sum::<usize>() + gaps + reserved).saturating_sub(width);
        if let Some(cells) = column.and_then(|at| widths.get_mut(at)) {
            *cells = cells.saturating_sub(over).max(least.min(*cells));
        }
    }
    let rest = width.saturating_sub(widths.iter().sum::<usize>() + gaps + COLUMN_GAP.len());
    if let Some(cells) = bar.and_then(|at| widths.get_mut(at)).filter(|_| rest >= MIN_BAR_WIDTH) {
        *cells = rest.min(MAX_BAR_WIDTH);
    }
    widths
}

fn aligned_line<T>(
    columns: &[TextColumn<'_, T>],
    row: &[TextCell],
    widths: &[usize],
    width: usize,
    out: &Out,
) -> String {
    let mut line = String::new();
    let mut used = 0;
    for ((cell, column), cells) in row.iter().zip(columns).zip(widths).filter(|(_, cells)| **cells > 0) {
        let gap = if used == 0 { "" } else { COLUMN_GAP };
        let rest = if column.kind == ColumnKind::Number { usize::MAX } else { width.saturating_sub(used + gap.len()) };
        let available = (*cells).min(rest);
        if available == 0 {
            break;
        }
        let text = cut_to_width(&cell.text, available);
        let blank = " ".repeat(available.saturating_sub(text.width()));
        let painted = cell.paint(&text, out);
        line.push_str(gap);
        match column.kind {
            ColumnKind::Right | ColumnKind::Number => line.extend([blank, painted]),
            ColumnKind::Bar => line.extend([painted, draw_bar(&cell.bar, available, out)]),
            _ => line.extend([painted, blank]),
        }
        used += gap.len() + available;
    }
    line.truncate(line.trim_end().len());
    line
}

fn draw_bar(parts: &[BarPart], width: usize, out: &Out) -> String {
    let mut drawn = 0;
    let draw_part = |(role, symbol, end): &BarPart| {
        let begin = std::mem::replace(&mut drawn, share_in_cells(*end, width));
        out.paint(*role, &symbol.repeat(drawn.saturating_sub(begin)))
    };
    parts.iter().map(draw_part).collect()
}

/// Returns how many of `width` cells stand for the share. Rounds to the nearest number, but a share above zero gets at
/// least one cell.
fn share_in_cells(share: f64, width: usize) -> usize {
    if share <= 0.0 {
        return 0;
    }
    let number = |n: usize| as_f64(u64::try_from(n).unwrap_or_default());
    let off = |n: usize| (number(n) / number(width) - share.min(1.0)).abs();
    (1..=width).min_by(|a, b| off(*a).total_cmp(&off(*b))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    type Row = [&'static str; 3];

    fn column(at: usize, heading: &'static str, kind: ColumnKind) -> TextColumn<'static, Row> {
        TextColumn::new(heading, kind, move |row: &Row, _| TextCell::new(ColorRole::Text, row[at]))
    }

    const FLEXIBLE: ColumnKind = ColumnKind::Flexible { min: 12 };

    fn columns() -> [TextColumn<'static, Row>; 3] {
        let age = |row: &Row, _: &Out| TextCell::new(ColorRole::Muted, row[2]).with_piped_text("2026-11-20T12:00:00Z");
        [column(0, "ID", ColumnKind::Id), column(1, "TITLE", FLEXIBLE), TextColumn::new("AGE", ColumnKind::Right, age)]
    }

    const ROWS: [Row; 2] = [["j1", "Fix the broken links in /api", "14m"], ["j-22", "世界 guide", "5h"]];

    fn lines(columns: &[TextColumn<'_, Row>], rows: &[Row], width: usize) -> Vec<String> {
        let out = Out::from_process();
        let cells = |row| columns.iter().map(|column| (column.make_cell)(row, &out)).collect();
        aligned_lines(columns, &rows.iter().map(cells).collect::<Vec<_>>(), width, &out)
    }

    #[test]
    fn columns_are_aligned_by_display_width() {
        assert_eq!(
            lines(&columns(), &ROWS, 80),
            [
                "ID    TITLE                         AGE",
                "j1    Fix the broken links in /api  14m",
                "j-22  世界 guide                     5h"
            ]
        );
    }

    #[test]
    fn a_narrow_terminal_cuts_the_flexible_column_first() {
        assert_eq!(lines(&columns(), &ROWS, 24)[1], "j1    Fix the brok…  14m");
        for width in 1..40 {
            assert!(lines(&columns(), &ROWS, width).iter().all(|line| line.width() <= width), "{width}");
        }
    }

    #[test]
    fn a_column_without_heading_and_cells_takes_no_space() {
        let columns =
            [column(0, "", ColumnKind::Left), column(1, "ID", ColumnKind::Left), column(2, "TITLE", FLEXIBLE)];
        assert_eq!(lines(&columns, &[["", "j1", "Fix"]], 80), ["ID  TITLE", "j1  Fix"]);
        let both = [["", "j1", "Fix"], ["●", "j2", "Do"]];
        assert_eq!(lines(&columns, &both, 80), ["   ID  TITLE", "   j1  Fix", "●  j2  Do"]);
    }

    #[test]
    fn bars_fill_the_rest_of_the_line_or_are_left_out() {
        let bar = |row: &Row, _: &Out| {
            let (human, all) = if row[2] == "all" { (0.5, 1.0) } else { (0.001, 0.001) };
            TextCell::bar(vec![(ColorRole::Human, "#", human), (ColorRole::Ai, "=", all)])
        };
        let columns =
            [column(1, "path", ColumnKind::Flexible { min: 4 }), TextColumn::new("0 to 9", ColumnKind::Bar, bar)];
        let rows = [["", "/a", "all"], ["", "/guide", ""]];
        assert_eq!(lines(&columns, &rows, 20), ["path    0 to 9", "/a      ######======", "/guide  #"]);
        assert_eq!(lines(&columns, &rows, 19), ["path", "/a", "/guide"]);
    }

    #[test]
    fn in_a_pipe_nothing_is_cut_and_tabs_separate_the_columns() {
        let (columns, out) = (columns(), Out::from_process());
        let cells: Vec<TextCell> = columns.iter().map(|column| (column.make_cell)(&ROWS[0], &out)).collect();
        assert_eq!(piped_line(&columns, &cells, &out), "j1\tFix the broken links in /api\t2026-11-20T12:00:00Z");
    }
}
