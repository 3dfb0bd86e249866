//! The columns of the table of pages at a width: which there are and where each stands. Drawing and the mouse both ask
//! here, so that they agree.

use super::super::format::{number, views};
use super::Views;
use super::table::{Column, Metric, Table};

/// Cells of a share.
const SHARE: usize = 6;
/// Cells of a change with its sign: ` ▲ <0.1%`.
pub const CHANGE: usize = 9;
/// Cells of a change in views at most, in the column that is sorted by.
const LARGEST_CHANGE: usize = 18;
/// Cells of a bar, unless the path has all that it needs.
const BAR: usize = 60;
/// Cells that a path needs at most.
const PATH: usize = 100;
/// Cells of air before the bar.
pub const AIR: usize = 2;

/// One column of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell {
    Now(Metric),
    Change(Metric),
}

impl Cell {
    /// What sorting by it is called.
    pub fn column(self) -> Column {
        match self {
            Self::Now(metric) => Column::Now(metric),
            Self::Change(metric) => Column::Change(metric),
        }
    }
}

/// Widths of the columns at the present width.
#[derive(Debug)]
pub struct Columns {
    /// Digits of the largest place; 0 where places have no column.
    pub rank: usize,
    /// Whether marks have a column.
    pub marks: bool,
    /// Cells of the path.
    pub path: usize,
    /// With their widths.
    pub cells: Vec<(Cell, usize)>,
    /// The one of them with the sign on numbers that don't add up, by its place; else it stands before the bar.
    pub signed: Option<usize>,
    /// Cells of the bar.
    pub bar: usize,
    /// Cells in all.
    pub width: usize,
    /// Rows before the first one of an answer.
    pub offset: u64,
}

impl Columns {
    /// Those of what is listed, in so many cells.
    pub fn fitting(views: &Views, width: usize) -> Self {
        let table = &views.table;
        let offset = match views.load().shown() {
            Some(shown) if !table.is_report() => shown.value.query.offset(),
            _ => 0,
        };
        let rows = u64::try_from(table.rows().len()).unwrap_or(0);
        let rank = if width >= 60 { number(offset.saturating_add(rows)).len().max(2) } else { 0 };
        let mut columns = Self {
            rank,
            marks: rank > 0 || table.marked() > 0,
            path: 0,
            cells: Vec::new(),
            signed: None,
            bar: 0,
            width,
            offset,
        };
        // Numbers that would leave no path to read are cut, and say so.
        for most in [26, 14] {
            let shown = cells(table, width);
            // The sign on numbers that don't add up stands behind the last of them.
            columns.signed =
                shown.iter().rposition(|cell| matches!(cell, Cell::Now(metric) if *metric != Metric::Share));
            let with_width = |(n, cell): (usize, Cell)| {
                (cell, cell_width(cell, table, most, width) + usize::from(columns.signed == Some(n)))
            };
            columns.cells = shown.into_iter().enumerate().map(with_width).collect();
            let numbers: usize = columns.cells.iter().map(|(_, cells)| cells).sum();
            let room = width.saturating_sub(columns.lead() + numbers + AIR + 1);
            columns.bar = (room * 2 / 5).clamp(6, BAR);
            columns.path = room.saturating_sub(columns.bar);
            // Numbers far from their paths are hard to follow: in a very wide terminal the bars take what is over.
            let over = columns.path.saturating_sub(PATH);
            (columns.path, columns.bar) = (columns.path - over, columns.bar + over);
            if columns.path >= 16 {
                break;
            }
        }
        columns
    }

    /// Cells before the path: what is selected, what is marked, the place.
    pub fn lead(&self) -> usize {
        1 + usize::from(self.marks) + if self.rank > 0 { self.rank + 2 } else { 0 }
    }

    /// The column whose head stands in a cell; over the places and the bars, that of the metric that they show.
    pub fn at(&self, cell: usize, metric: Metric) -> Option<Column> {
        if cell < self.lead() {
            return (self.rank > 0).then_some(Column::Now(metric));
        }
        let mut end = self.lead() + self.path;
        if cell < end {
            return Some(Column::Path);
        }
        for (column, width) in &self.cells {
            end += width;
            if cell < end {
                return Some(column.column());
            }
        }
        (end + AIR..end + AIR + self.bar).contains(&cell).then_some(Column::Now(metric))
    }
}

/// The most telling columns for the width: all where there is room, at the least the one that is sorted by.
fn cells(table: &Table, width: usize) -> Vec<Cell> {
    let metric = table.metric();
    let sorted = match table.sorting().by {
        Column::Now(sorted) | Column::Change(sorted) if table.is_report() => sorted,
        _ => metric,
    };
    let of = |metrics: &[Metric], changes: &[Metric]| {
        let cells = Metric::ALL.map(|metric| [Cell::Now(metric), Cell::Change(metric)]).concat();
        let is_shown = |cell: &Cell| match cell {
            Cell::Now(metric) => metrics.contains(metric),
            Cell::Change(metric) => changes.contains(metric),
        };
        cells.into_iter().filter(is_shown).collect()
    };
    // Its change has a place where the share is what matters.
    let of_share = if [metric, sorted].contains(&Metric::Share) { Metric::Share } else { Metric::Ai };
    match (table.comparison().is_some(), width) {
        (false, 70..) => of(&Metric::ALL, &[]),
        (false, _) if metric != sorted => of(&[metric, sorted], &[]),
        (true, 160..) => of(&Metric::ALL, &Metric::ALL),
        (true, 120..) if sorted == Metric::Total => of(&Metric::ALL, &[Metric::Human, Metric::Ai, sorted, of_share]),
        (true, 120..) => of(&[Metric::Human, Metric::Ai, Metric::Share], &[Metric::Human, Metric::Ai, of_share]),
        (true, 60..) if metric != sorted => of(&[metric, sorted], &[sorted]),
        (true, ..60) => of(&[sorted], &[sorted]),
        // The share alone says nothing of how much was read.
        (compared, _) => {
            let other = if metric == Metric::Share { Metric::Total } else { Metric::Share };
            let changes = if compared { vec![sorted] } else { Vec::new() };
            of(&[metric, other], &changes)
        }
    }
}

/// Whether the change of a new page and of one that is gone has room for that word and for the number.
pub fn says_new_and_gone(width: usize) -> bool {
    width >= 60
}

/// Whether a column is shown at this width; its head then says which way it is sorted.
pub fn has_column(table: &Table, width: usize, column: Column) -> bool {
    column == Column::Path || cells(table, width).iter().any(|cell| cell.column() == column)
}

fn cell_width(cell: Cell, table: &Table, most: usize, width: usize) -> usize {
    match cell {
        Cell::Change(metric) if metric != Metric::Share && table.sorting().by == cell.column() => {
            // `new` or `gone`, and the sign.
            let words = if says_new_and_gone(width) { 5 } else { 0 };
            (words + 2 + views(table.measures().largest_change).len()).clamp(CHANGE, LARGEST_CHANGE)
        }
        Cell::Change(_) => CHANGE,
        Cell::Now(Metric::Share) => SHARE,
        Cell::Now(metric) => table.measures().cells(metric).clamp(6, most) + 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sorted_by_has_a_column_at_every_width_and_its_change_when_comparing() {
        use crate::model::period::DateRange;
        use crate::model::report::Report;
        use crate::model::views::ViewsPage;
        let range = DateRange::last_days(7, chrono::NaiveDate::default());
        let report =
            || std::sync::Arc::new(Report::begin(range, ViewsPage::default(), true, crate::model::Time::default()));
        let mut table = Table::default();
        for compared in [false, true] {
            table.show_report(report(), compared.then(report));
            for (sorted, metric) in
                Metric::ALL.into_iter().flat_map(|sorted| Metric::ALL.map(|metric| (sorted, metric)))
            {
                table.set_metric(metric);
                for width in [40, 60, 80, 120, 160] {
                    let mut orders = vec![Column::Now(sorted)];
                    orders.extend(compared.then_some(Column::Change(sorted)));
                    for by in orders {
                        table.sort(crate::app::views::table::Sorting::by(by));
                        let shown = cells(&table, width);
                        assert!(has_column(&table, width, by), "{by:?} of {metric:?} at {width}: {shown:?}");
                        assert!(!compared || shown.contains(&Cell::Change(sorted)), "{by:?} at {width}: {shown:?}");
                    }
                }
            }
        }
    }
}
