//! The columns of the table of pages at a width: which there are and where each stands. Drawing and the mouse both ask
//! here, so that they agree.

use super::super::format::{number, views};
use super::ViewsScreen;
use super::table::{Metric, PageColumn, PageTable};

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
pub enum NumberColumn {
    Now(Metric),
    Change(Metric),
}

impl NumberColumn {
    /// What sorting by it is called.
    pub fn column(self) -> PageColumn {
        match self {
            Self::Now(metric) => PageColumn::Now(metric),
            Self::Change(metric) => PageColumn::Change(metric),
        }
    }
}

/// Widths of the columns at the present width.
#[derive(Debug)]
pub struct PageColumns {
    /// Digits of the largest place; 0 where places have no column.
    pub rank: usize,
    /// Whether marks have a column.
    pub marks: bool,
    /// Cells of the path.
    pub path: usize,
    /// With their widths.
    pub cells: Vec<(NumberColumn, usize)>,
    /// The one of them with the sign on numbers that don't add up, by its place; else it stands before the bar.
    pub signed: Option<usize>,
    /// Cells of the bar.
    pub bar: usize,
    /// Cells in all.
    pub width: usize,
    /// Rows before the first one of an answer.
    pub offset: u64,
}

impl PageColumns {
    /// Those of what is listed, in so many cells.
    pub fn fitting(views: &ViewsScreen, width: usize) -> Self {
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
                shown.iter().rposition(|cell| matches!(cell, NumberColumn::Now(metric) if *metric != Metric::Share));
            let with_width = |(n, cell): (usize, NumberColumn)| {
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
    pub fn at(&self, cell: usize, metric: Metric) -> Option<PageColumn> {
        if cell < self.lead() {
            return (self.rank > 0).then_some(PageColumn::Now(metric));
        }
        let mut end = self.lead() + self.path;
        if cell < end {
            return Some(PageColumn::Path);
        }
        for (column, width) in &self.cells {
            end += width;
            if cell < end {
                return Some(column.column());
            }
        }
        (end + AIR..end + AIR + self.bar).contains(&cell).then_some(PageColumn::Now(metric))
    }
}

/// The most telling columns for the width: all where there is room, at the least the one that is sorted by.
fn cells(table: &PageTable, width: usize) -> Vec<NumberColumn> {
    let metric = table.metric();
    let sorted = match table.sorting().by {
        PageColumn::Now(sorted) | PageColumn::Change(sorted) if table.is_report() => sorted,
        _ => metric,
    };
    let of = |metrics: &[Metric], changes: &[Metric]| {
        let cells = Metric::ALL.map(|metric| [NumberColumn::Now(metric), NumberColumn::Change(metric)]).concat();
        let is_shown = |cell: &NumberColumn| match cell {
            NumberColumn::Now(metric) => metrics.contains(metric),
            NumberColumn::Change(metric) => changes.contains(metric),
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
pub fn has_column(table: &PageTable, width: usize, column: PageColumn) -> bool {
    column == PageColumn::Path || cells(table, width).iter().any(|cell| cell.column() == column)
}

fn cell_width(cell: NumberColumn, table: &PageTable, most: usize, width: usize) -> usize {
    match cell {
        NumberColumn::Change(metric) if metric != Metric::Share && table.sorting().by == cell.column() => {
            // `new` or `gone`, and the sign.
            let words = if says_new_and_gone(width) { 5 } else { 0 };
            (words + 2 + views(table.measures().largest_change).len()).clamp(CHANGE, LARGEST_CHANGE)
        }
        NumberColumn::Change(_) => CHANGE,
        NumberColumn::Now(Metric::Share) => SHARE,
        NumberColumn::Now(metric) => table.measures().cells(metric).clamp(6, most) + 1,
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
        let mut table = PageTable::default();
        for compared in [false, true] {
            table.show_report(report(), compared.then(report));
            for (sorted, metric) in
                Metric::ALL.into_iter().flat_map(|sorted| Metric::ALL.map(|metric| (sorted, metric)))
            {
                table.set_metric(metric);
                for width in [40, 60, 80, 120, 160] {
                    let mut orders = vec![PageColumn::Now(sorted)];
                    orders.extend(compared.then_some(PageColumn::Change(sorted)));
                    for by in orders {
                        table.sort(crate::app::views::table::PageSorting::by(by));
                        let shown = cells(&table, width);
                        assert!(has_column(&table, width, by), "{by:?} of {metric:?} at {width}: {shown:?}");
                        assert!(
                            !compared || shown.contains(&NumberColumn::Change(sorted)),
                            "{by:?} at {width}: {shown:?}"
                        );
                    }
                }
            }
        }
    }
}
