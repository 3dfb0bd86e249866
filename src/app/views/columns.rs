//! The columns of the table of pages for a width: which ones, and where. Shared by drawing and mouse input, so that
//! they agree.

use super::super::format::{format_views, grouped_number};
use super::ViewsScreen;
use super::table::{Metric, PageColumn, PageTable};

/// Width of a share.
const SHARE: usize = 6;
/// Width of a change with its sign: ` ▲ <0.1%`.
pub const CHANGE: usize = 9;
/// Largest width of a change in views, in the column that is sorted by.
const LARGEST_CHANGE: usize = 18;
/// Largest width of a bar, unless the path has all the space that it needs.
const BAR: usize = 60;
/// Largest width of the path.
const PATH: usize = 100;
/// Blanks before the bar.
pub const BAR_GAP: usize = 2;

/// A column of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberColumn {
    Now(Metric),
    Change(Metric),
}

impl NumberColumn {
    /// The column to sort by.
    pub fn column(self) -> PageColumn {
        match self {
            Self::Now(metric) => PageColumn::Now(metric),
            Self::Change(metric) => PageColumn::Change(metric),
        }
    }
}

/// The widths of the columns.
#[derive(Debug)]
pub struct PageColumns {
    /// Digits of the largest rank; 0 if ranks have no column.
    pub rank: usize,
    /// Whether marks have a column.
    pub marks: bool,
    /// Width of the path.
    pub path: usize,
    /// The number columns with their widths.
    pub numbers: Vec<(NumberColumn, usize)>,
    /// Index of the column that shows the sign for numbers that don't add up; `None` if it is shown before the bar.
    pub mismatch_column: Option<usize>,
    /// Width of the bar.
    pub bar: usize,
    /// Total width.
    pub width: usize,
    /// Rows before the first one of an answer.
    pub offset: u64,
}

impl PageColumns {
    /// The columns of the list for a width of `width` cells.
    pub fn for_width(views: &ViewsScreen, width: usize) -> Self {
        let table = &views.table;
        let offset = match views.load().shown() {
            Some(shown) if !table.is_report() => shown.value.query.offset(),
            _ => 0,
        };
        let rows = u64::try_from(table.rows().len()).unwrap_or(0);
        let rank = if width >= 60 { grouped_number(offset.saturating_add(rows)).len().max(2) } else { 0 };
        let mut columns = Self {
            rank,
            marks: rank > 0 || table.marked_count() > 0,
            path: 0,
            numbers: Vec::new(),
            mismatch_column: None,
            bar: 0,
            width,
            offset,
        };
        // Numbers that would leave no space for a readable path are cut.
        for most in [26, 14] {
            let shown = visible_columns(table, width);
            // The sign for numbers that don't add up is shown after the last of them.
            columns.mismatch_column =
                shown.iter().rposition(|cell| matches!(cell, NumberColumn::Now(metric) if *metric != Metric::Share));
            let with_width = |(n, cell): (usize, NumberColumn)| {
                (cell, cell_width(cell, table, most, width) + usize::from(columns.mismatch_column == Some(n)))
            };
            columns.numbers = shown.into_iter().enumerate().map(with_width).collect();
            let numbers: usize = columns.numbers.iter().map(|(_, cells)| cells).sum();
            let space = width.saturating_sub(columns.lead_width() + numbers + BAR_GAP + 1);
            columns.bar = (space * 2 / 5).clamp(6, BAR);
            columns.path = space.saturating_sub(columns.bar);
            // Numbers far from their paths are hard to follow: in a very wide terminal the bars take the extra space.
            let extra = columns.path.saturating_sub(PATH);
            (columns.path, columns.bar) = (columns.path - extra, columns.bar + extra);
            if columns.path >= 16 {
                break;
            }
        }
        columns
    }

    /// Columns before the path: selection, mark and rank.
    pub fn lead_width(&self) -> usize {
        1 + usize::from(self.marks) + if self.rank > 0 { self.rank + 2 } else { 0 }
    }

    /// The column whose head is at this position; over the ranks and the bars, that of their metric.
    pub fn column_at(&self, cell: usize, metric: Metric) -> Option<PageColumn> {
        if cell < self.lead_width() {
            return (self.rank > 0).then_some(PageColumn::Now(metric));
        }
        let mut end = self.lead_width() + self.path;
        if cell < end {
            return Some(PageColumn::Path);
        }
        for (column, width) in &self.numbers {
            end += width;
            if cell < end {
                return Some(column.column());
            }
        }
        (end + BAR_GAP..end + BAR_GAP + self.bar).contains(&cell).then_some(PageColumn::Now(metric))
    }
}

/// The most useful number columns for the width; always includes the one that is sorted by.
fn visible_columns(table: &PageTable, width: usize) -> Vec<NumberColumn> {
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
    // The change of the share gets a column if the share is what matters.
    let of_share = if [metric, sorted].contains(&Metric::Share) { Metric::Share } else { Metric::Ai };
    match (table.comparison().is_some(), width) {
        (false, 70..) => of(&Metric::ALL, &[]),
        (false, _) if metric != sorted => of(&[metric, sorted], &[]),
        (true, 160..) => of(&Metric::ALL, &Metric::ALL),
        (true, 120..) if sorted == Metric::Total => of(&Metric::ALL, &[Metric::Human, Metric::Ai, sorted, of_share]),
        (true, 120..) => of(&[Metric::Human, Metric::Ai, Metric::Share], &[Metric::Human, Metric::Ai, of_share]),
        (true, 60..) if metric != sorted => of(&[metric, sorted], &[sorted]),
        (true, ..60) => of(&[sorted], &[sorted]),
        // The share alone doesn't show how many views there were.
        (compared, _) => {
            let other = if metric == Metric::Share { Metric::Total } else { Metric::Share };
            let changes = if compared { vec![sorted] } else { Vec::new() };
            of(&[metric, other], &changes)
        }
    }
}

/// Whether the change of a new or gone page has space for that word and the number.
pub fn shows_new_and_gone(width: usize) -> bool {
    width >= 60
}

/// Whether a column is shown at this width, so that its head shows the sort direction.
pub fn is_column_visible(table: &PageTable, width: usize, column: PageColumn) -> bool {
    column == PageColumn::Path || visible_columns(table, width).iter().any(|cell| cell.column() == column)
}

fn cell_width(cell: NumberColumn, table: &PageTable, most: usize, width: usize) -> usize {
    match cell {
        NumberColumn::Change(metric) if metric != Metric::Share && table.sorting().by == cell.column() => {
            // `new` or `gone`, and the sign.
            let words = if shows_new_and_gone(width) { 5 } else { 0 };
            (words + 2 + format_views(table.measures().largest_change).len()).clamp(CHANGE, LARGEST_CHANGE)
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
    fn the_sorted_column_is_shown_at_every_width() {
        use crate::model::period::DateRange;
        use crate::model::report::Report;
        use crate::model::views::ViewsPage;
        let range = DateRange::last_days(7, chrono::NaiveDate::default());
        let report = || {
            std::sync::Arc::new(Report::from_first_answer(
                range,
                ViewsPage::default(),
                true,
                crate::model::Time::default(),
            ))
        };
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
                        let shown = visible_columns(&table, width);
                        assert!(is_column_visible(&table, width, by), "{by:?} of {metric:?} at {width}: {shown:?}");
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
