//! The columns of the table of pages: which ones fit, and where they are. Drawing and mouse input share them, so that
//! they agree.

use super::super::format::{format_views, grouped_number};
use super::ViewsScreen;
use super::table::{Metric, PageColumn, PageTable};

/// Width of an AI share.
const SHARE_WIDTH: usize = 6;
/// Width of a change with its sign: ` ▲ <0.1%`.
pub const CHANGE_WIDTH: usize = 9;
/// Maximum width of a change in views, in the column that the table is sorted by.
const MAX_CHANGE_WIDTH: usize = 18;
/// Maximum width of a bar. A bar becomes wider only if the path already has its maximum width.
const MAX_BAR_WIDTH: usize = 60;
/// Maximum width of the path.
const MAX_PATH_WIDTH: usize = 100;
/// Blank columns before the bar.
pub const BAR_GAP: usize = 2;

/// A column of numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberColumn {
    Now(Metric),
    Change(Metric),
}

impl NumberColumn {
    /// Returns the same column as a [`PageColumn`], to sort by it.
    pub fn sort_column(self) -> PageColumn {
        match self {
            Self::Now(metric) => PageColumn::Now(metric),
            Self::Change(metric) => PageColumn::Change(metric),
        }
    }
}

/// The columns of the table, with their widths in terminal cells.
#[derive(Debug)]
pub struct PageColumns {
    /// Width of the largest rank; 0 if ranks are not shown.
    pub rank_width: usize,
    /// Whether there is a column for marks.
    pub has_marks: bool,
    /// Width of the path.
    pub path_width: usize,
    /// The number columns with their widths.
    pub numbers: Vec<(NumberColumn, usize)>,
    /// Index in `numbers` of the column that shows the sign for numbers that don't add up; `None` if the sign is shown
    /// before the bar.
    pub mismatch_column: Option<usize>,
    /// Width of the bar.
    pub bar_width: usize,
    /// Total width.
    pub width: usize,
    /// Number of rows that come before the listed page of rows; 0 if a report is listed.
    pub rows_before: u64,
}

impl PageColumns {
    /// Chooses the columns for a table of `width` terminal cells.
    pub fn for_width(views: &ViewsScreen, width: usize) -> Self {
        let table = &views.table;
        let offset = match views.load().shown() {
            Some(shown) if !table.is_report() => shown.value.query.offset(),
            _ => 0,
        };
        let rows = u64::try_from(table.rows().len()).unwrap_or(0);
        let rank = if width >= 60 { grouped_number(offset.saturating_add(rows)).len().max(2) } else { 0 };
        let mut columns = Self {
            rank_width: rank,
            has_marks: rank > 0 || table.marked_count() > 0,
            path_width: 0,
            numbers: Vec::new(),
            mismatch_column: None,
            bar_width: 0,
            width,
            rows_before: offset,
        };
        // Tries columns for wide numbers first. If these leave too little space for the path, uses narrower columns.
        for max_count_width in [26, 14] {
            let shown = visible_columns(table, width);
            // The sign for numbers that don't add up is shown after the last column of counts.
            columns.mismatch_column =
                shown.iter().rposition(|shown| matches!(shown, NumberColumn::Now(metric) if *metric != Metric::Share));
            let with_width = |(n, column): (usize, NumberColumn)| {
                let sign_width = usize::from(columns.mismatch_column == Some(n));
                (column, column_width(column, table, max_count_width, width) + sign_width)
            };
            columns.numbers = shown.into_iter().enumerate().map(with_width).collect();
            let numbers: usize = columns.numbers.iter().map(|(_, cells)| cells).sum();
            let space = width.saturating_sub(columns.lead_width() + numbers + BAR_GAP + 1);
            columns.bar_width = (space * 2 / 5).clamp(6, MAX_BAR_WIDTH);
            columns.path_width = space.saturating_sub(columns.bar_width);
            // Numbers far from their paths are hard to follow: in a very wide terminal the bars take the extra space.
            let extra = columns.path_width.saturating_sub(MAX_PATH_WIDTH);
            (columns.path_width, columns.bar_width) = (columns.path_width - extra, columns.bar_width + extra);
            if columns.path_width >= 16 {
                break;
            }
        }
        columns
    }

    /// Returns the width of everything before the path: selection, mark and rank.
    pub fn lead_width(&self) -> usize {
        1 + usize::from(self.has_marks) + if self.rank_width > 0 { self.rank_width + 2 } else { 0 }
    }

    /// Returns the column whose heading is at this terminal cell. Over the ranks and the bars, that is the column of
    /// `metric`.
    pub fn column_at(&self, cell: usize, metric: Metric) -> Option<PageColumn> {
        if cell < self.lead_width() {
            return (self.rank_width > 0).then_some(PageColumn::Now(metric));
        }
        let mut end = self.lead_width() + self.path_width;
        if cell < end {
            return Some(PageColumn::Path);
        }
        for (column, width) in &self.numbers {
            end += width;
            if cell < end {
                return Some(column.sort_column());
            }
        }
        (end + BAR_GAP..end + BAR_GAP + self.bar_width).contains(&cell).then_some(PageColumn::Now(metric))
    }
}

/// Returns the most useful number columns for the width. They always include the column that the table is sorted by.
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
    // From 120 to 159 cells, the change of the share has a column only if the share is the metric or the table is
    // sorted by it. Otherwise `of_share` is `Ai`, which adds no further column.
    let of_share = if [metric, sorted].contains(&Metric::Share) { Metric::Share } else { Metric::Ai };
    match (table.comparison().is_some(), width) {
        (false, 70..) => of(&Metric::ALL, &[]),
        (false, _) if metric != sorted => of(&[metric, sorted], &[]),
        (true, 160..) => of(&Metric::ALL, &Metric::ALL),
        (true, 120..) if sorted == Metric::Total => of(&Metric::ALL, &[Metric::Human, Metric::Ai, sorted, of_share]),
        (true, 120..) => of(&[Metric::Human, Metric::Ai, Metric::Share], &[Metric::Human, Metric::Ai, of_share]),
        (true, 60..) if metric != sorted => of(&[metric, sorted], &[sorted]),
        (true, ..60) => of(&[sorted], &[sorted]),
        // The metric is shown with the share. The share itself is shown with the total, because a share alone doesn't
        // tell how many views there were.
        (compared, _) => {
            let other = if metric == Metric::Share { Metric::Total } else { Metric::Share };
            let changes = if compared { vec![sorted] } else { Vec::new() };
            of(&[metric, other], &changes)
        }
    }
}

/// Whether a table of this width has space for the word `new` or `gone` in the column of changes.
pub fn shows_new_and_gone(width: usize) -> bool {
    width >= 60
}

/// Whether a column is shown at this width, so that its heading can show the sort direction.
pub fn is_column_visible(table: &PageTable, width: usize, column: PageColumn) -> bool {
    column == PageColumn::Path || visible_columns(table, width).iter().any(|cell| cell.sort_column() == column)
}

fn column_width(column: NumberColumn, table: &PageTable, max_count_width: usize, table_width: usize) -> usize {
    match column {
        NumberColumn::Change(metric) if metric != Metric::Share && table.sorting().by == column.sort_column() => {
            // `words` is the space for a blank and the word `new` or `gone`. The two cells that are added below are for
            // the sign.
            let words = if shows_new_and_gone(table_width) { 5 } else { 0 };
            (words + 2 + format_views(table.measures().largest_change).len()).clamp(CHANGE_WIDTH, MAX_CHANGE_WIDTH)
        }
        NumberColumn::Change(_) => CHANGE_WIDTH,
        NumberColumn::Now(Metric::Share) => SHARE_WIDTH,
        NumberColumn::Now(metric) => table.measures().width_of(metric).clamp(6, max_count_width) + 1,
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
                        table.sort(crate::tui::views::table::PageSorting::by(by));
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
