//! A table: columns with a heading, a width and an alignment. It chooses the columns that fit, makes the line of
//! headings and the lines of the visible rows, and finds the column at a cell, for clicks on headings.
//!
//! ```text
//!  range                    days   pages            age       human          AI       total
//! ▌2026-11-14 … 2026-11-20     7   1,200 complete    3m     128,402      61,220     189,622
//! ```

use crate::model::job_state::SELECTED_SYMBOL;
use crate::tui::draw::text::{TextRow, display_width, selected_line};
use crate::tui::view::View;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::borrow::Cow;

/// The width that the flexible column gets before other columns are widened.
const COMFORTABLE_FLEXIBLE_CELLS: usize = 32;

/// A column. `key` is what the column shows: a value of an enum, or a function that creates its cells.
#[derive(Debug, Clone)]
pub struct Column<K> {
    pub key: K,
    heading: Cow<'static, str>,
    is_right_aligned: bool,
    is_flexible: bool,
    /// The width in cells. For a flexible column, this is its minimum width until a [`Table`] sets the actual width.
    width: usize,
    /// The maximum width of a column that can be widened.
    max_width: usize,
    /// Blank cells before the column.
    gap: usize,
    /// Columns with the highest value are left out first; columns with 0 are always shown.
    drop_priority: u8,
}

impl<K> Column<K> {
    pub fn left_aligned(heading: impl Into<Cow<'static, str>>, width: usize, key: K) -> Self {
        Self {
            key,
            heading: heading.into(),
            is_right_aligned: false,
            is_flexible: false,
            width,
            max_width: width,
            gap: 0,
            drop_priority: 0,
        }
    }

    pub fn right_aligned(heading: impl Into<Cow<'static, str>>, width: usize, key: K) -> Self {
        Self { is_right_aligned: true, ..Self::left_aligned(heading, width, key) }
    }

    /// Creates a left-aligned column that takes the space that the other columns leave. Optional columns are left out
    /// before it becomes narrower than `min_width`.
    pub fn flexible(heading: impl Into<Cow<'static, str>>, min_width: usize, key: K) -> Self {
        Self { is_flexible: true, max_width: usize::MAX, ..Self::left_aligned(heading, min_width, key) }
    }

    /// Sets the maximum width. If a flexible column reaches it, the space at the right of the table stays blank, so
    /// that numbers stay close to the texts. Any other column is widened up to its maximum once the flexible column has
    /// [`COMFORTABLE_FLEXIBLE_CELLS`].
    pub fn with_max_width(self, max_width: usize) -> Self {
        Self { max_width, ..self }
    }

    /// Adds blank cells before the column.
    pub fn with_gap_before(self, gap: usize) -> Self {
        Self { gap, ..self }
    }

    /// Lets the column be left out of a narrow table. All columns with the highest `drop_priority` are left out first.
    pub fn optional(self, drop_priority: u8) -> Self {
        Self { drop_priority, ..self }
    }

    pub fn heading(&self) -> &str {
        &self.heading
    }

    pub fn heading_cell<'a>(&self, style: Style) -> TableCell<'a> {
        let heading = self.heading.clone();
        if self.is_right_aligned { TableCell::Text(heading, style) } else { TableCell::Overflowing(heading, style) }
    }
}

/// The content of one cell.
#[derive(Debug)]
pub enum TableCell<'a> {
    Text(Cow<'a, str>, Style),
    /// Several texts, one after the other.
    Spans(Vec<Span<'a>>),
    /// A left-aligned text that can extend beyond its column. The cells to its right get the space that is left.
    Overflowing(Cow<'a, str>, Style),
}

impl<'a> TableCell<'a> {
    pub fn new(text: impl Into<Cow<'a, str>>, style: Style) -> Self {
        Self::Text(text.into(), style)
    }
}

/// The columns that fit into a width.
#[derive(Debug)]
pub struct Table<K> {
    columns: Vec<Column<K>>,
    width: usize,
}

impl<K> Table<K> {
    /// Leaves out optional columns until the others fit into `width` cells.
    pub fn new(columns: impl IntoIterator<Item = Column<K>>, width: usize) -> Self {
        let mut columns: Vec<Column<K>> = columns.into_iter().collect();
        let needed = |columns: &[Column<K>]| columns.iter().map(|column| column.gap + column.width).sum::<usize>();
        while needed(&columns) > width {
            let highest = columns.iter().map(|column| column.drop_priority).max().unwrap_or(0);
            if highest == 0 {
                break;
            }
            columns.retain(|column| column.drop_priority < highest);
        }
        if let Some(first) = columns.first_mut() {
            first.gap = 0;
        }
        let flexible = columns.iter().find(|column| column.is_flexible).map_or(0, |column| column.width);
        let reserved = needed(&columns) + COMFORTABLE_FLEXIBLE_CELLS.saturating_sub(flexible);
        let mut spare = width.saturating_sub(reserved);
        for column in columns.iter_mut().filter(|column| !column.is_flexible) {
            let added = column.max_width.saturating_sub(column.width).min(spare);
            column.width += added;
            spare -= added;
        }
        let needed = needed(&columns);
        if let Some(column) = columns.iter_mut().find(|column| column.is_flexible) {
            column.width = (column.width + width).saturating_sub(needed).min(column.max_width);
        }
        Self { columns, width }
    }

    pub fn width(&self) -> usize {
        self.width
    }

    /// Whether the column with this key is shown.
    pub fn has(&self, key: K) -> bool
    where
        K: PartialEq,
    {
        self.columns.iter().any(|column| column.key == key)
    }

    /// Returns the line of headings in this style.
    pub fn headings<'a>(&self, style: Style) -> Line<'a> {
        self.headings_with(|column, _| column.heading_cell(style))
    }

    /// Returns the line of headings. `heading` gets a column and its width, and returns the column's cell.
    pub fn headings_with<'a>(&self, mut heading: impl FnMut(&Column<K>, usize) -> TableCell<'a>) -> Line<'a> {
        self.lay_out(|column| heading(column, column.width))
    }

    /// Returns the line of a row. `cell` returns the cell for the key and the width of a column.
    pub fn line<'a>(&self, mut cell: impl FnMut(&K, usize) -> TableCell<'a>) -> Line<'a> {
        self.lay_out(|column| cell(&column.key, column.width))
    }

    fn lay_out<'a>(&self, mut cell: impl FnMut(&Column<K>) -> TableCell<'a>) -> Line<'a> {
        let mut row = TextRow::new(self.width);
        let mut end = 0;
        for column in &self.columns {
            row.pad_to(end + column.gap);
            end += column.gap + column.width;
            // Less than the width of the column if the previous cell covers a part of it.
            let space = end.saturating_sub(row.used_cells());
            match cell(column) {
                TableCell::Text(text, style) if column.is_right_aligned => row.push_right_aligned(text, space, style),
                TableCell::Text(text, style) => row.push_left_aligned(text, space, style),
                TableCell::Overflowing(text, style) => row.push_cow(text, style).pad_to(end),
                TableCell::Spans(spans) => {
                    if column.is_right_aligned {
                        row.pad_to(end.saturating_sub(spans.iter().map(|span| display_width(&span.content)).sum()));
                    }
                    for Span { content, style, .. } in spans {
                        row.push_up_to(end, content, style);
                    }
                    row.pad_to(end)
                }
            };
        }
        row.line()
    }

    /// Returns the key of the column at a cell of the table. The gap after a column belongs to that column.
    pub fn key_at(&self, cell: usize) -> Option<&K> {
        self.column_at(cell).map(|column| &column.key)
    }

    /// Returns the column at a cell. Blank cells belong to the column to their left.
    pub fn column_at(&self, cell: usize) -> Option<&Column<K>> {
        let begins = self.columns.iter().scan(0, |end, column| {
            let begin = *end + column.gap;
            *end = begin + column.width;
            Some((begin, column))
        });
        begins.take_while(|(begin, _)| *begin <= cell).last().map(|(_, column)| column)
    }
}

/// A row of a list, as passed to the functions that create its cells.
#[derive(Debug)]
pub struct ListRow<'a, T> {
    pub view: View<'a>,
    pub item: &'a T,
    pub is_selected: bool,
}

impl<'a, T> ListRow<'a, T> {
    /// Returns the mark of the selected row.
    pub fn selection_mark(&self) -> TableCell<'a> {
        TableCell::new(if self.is_selected { SELECTED_SYMBOL } else { "" }, self.view.theme.mark)
    }

    /// Returns a cell in the style of normal text.
    pub fn cell(&self, text: impl Into<Cow<'a, str>>) -> TableCell<'a> {
        TableCell::new(text, self.view.theme.text)
    }

    pub fn muted_cell(&self, text: impl Into<Cow<'a, str>>) -> TableCell<'a> {
        TableCell::new(text, self.view.theme.muted)
    }
}

/// A function that creates a cell of a row, given the width of the column.
pub type ListCell<T> = for<'a> fn(&ListRow<'a, T>, usize) -> TableCell<'a>;

impl<T> Table<ListCell<T>> {
    /// Returns the line of a row of a list.
    pub fn row<'a>(&self, view: View<'a>, item: &'a T, is_selected: bool) -> Line<'a> {
        let row = ListRow { view, item, is_selected };
        let line = self.line(|cell, width| cell(&row, width));
        if is_selected { selected_line(line, view.theme) } else { line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(width: usize) -> Table<char> {
        let columns = [
            Column::left_aligned("", 1, 'c'),
            Column::flexible("name", 6, 'n'),
            Column::right_aligned("views", 8, 'v').optional(2),
            Column::left_aligned("state", 6, 's').with_gap_before(2).optional(1),
        ];
        Table::new(columns, width)
    }

    fn text(line: &Line<'_>) -> String {
        line.spans.iter().map(|span| span.content.as_ref()).collect()
    }

    fn row(width: usize) -> String {
        let cell = |key: &char, width| {
            let text = match key {
                'c' => "▌".to_owned(),
                'n' => format!("{width} cells"),
                key => key.to_string(),
            };
            TableCell::new(text, Style::new())
        };
        text(&table(width).line(cell))
    }

    #[test]
    fn a_narrow_table_leaves_out_optional_columns_before_it_cuts_the_flexible_one() {
        assert_eq!(text(&table(30).headings(Style::new())), " name            views  state ");
        assert_eq!(row(30), "▌13 cells            v  s     ");
        assert_eq!(row(22), "▌13 cells       s     ");
        assert_eq!(row(14), "▌13 cells     ");
        assert_eq!(row(4), "▌3 …");
    }

    #[test]
    fn a_column_is_widened_once_the_flexible_column_is_comfortable() {
        let widths = |width| {
            let columns = [Column::flexible("text", 10, 0), Column::left_aligned("page", 12, 1).with_max_width(20)];
            Table::new(columns, width).columns.iter().map(|column| column.width).collect::<Vec<_>>()
        };
        assert_eq!(widths(30), [18, 12]);
        assert_eq!(widths(44), [32, 12]);
        assert_eq!(widths(47), [32, 15]);
        assert_eq!(widths(60), [40, 20]);
    }

    #[test]
    fn the_first_column_has_no_gap_whichever_column_that_is() {
        let columns =
            [Column::right_aligned("age", 4, 'a').optional(1), Column::flexible("text", 4, 't').with_gap_before(2)];
        let line = |width| text(&Table::new(columns.clone(), width).headings(Style::new()));
        assert_eq!((line(12), line(6)), (" age  text  ".to_owned(), "text  ".to_owned()));
    }

    #[test]
    fn a_cell_of_several_texts_is_aligned_and_cut() {
        let spans = || TableCell::Spans(["ab", "cd"].map(Span::raw).into());
        let columns = [Column::right_aligned("", 6, ()), Column::left_aligned("", 3, ()).with_gap_before(1)];
        assert_eq!(text(&Table::new(columns, 20).line(|(), _| spans())), "  abcd ab…");
    }

    #[test]
    fn the_column_at_a_cell_is_found_and_blank_cells_belong_to_the_column_at_their_left() {
        let at = [0, 1, 13, 14, 21, 22, 23, 24, 99].map(|cell| table(30).key_at(cell).copied());
        assert_eq!(at, ['c', 'n', 'n', 'v', 'v', 'v', 'v', 's', 's'].map(Some));
    }
}
