//! The columns of the table of pages: which ones fit, and where they are. Drawing and mouse input share them, so that
//! they agree.

use super::super::format::{format_views, grouped_number};
use super::ViewsState;
use super::table::{Metric, PageColumn, PageTable};
use crate::tui::widgets::table::{Column, Table};

/// Width of an AI share.
const SHARE_WIDTH: usize = 6;
/// Width of a change: a blank, a text of at most 8 cells such as `▲ <0.1%`, and the sign of an outlier.
pub const PERCENT_CHANGE_WIDTH: usize = 10;
/// Maximum width of a change that is shown as a number of views. Only the column that the table is sorted by shows such
/// changes.
const MAX_VIEWS_CHANGE_WIDTH: usize = 19;
/// Minimum width of a path, so that it can still be recognized.
const MIN_PATH_WIDTH: usize = 16;
/// Minimum width of the rank or position of a page, so that the paths rarely move when more pages are loaded.
const MIN_RANK_WIDTH: usize = 4;
const MIN_BAR_WIDTH: usize = 6;
/// Path and bar share the space that the other columns leave. The path gets at most this percentage of the shared
/// space. The first number is for tables narrower than [`MIN_WIDE_TABLE_WIDTH`], the second for all others.
const MAX_PATH_PERCENT_NARROW_AND_WIDE: (usize, usize) = (60, 55);
/// Minimum width of a table that shows the AI share besides the counts.
const MIN_WIDE_TABLE_WIDTH: usize = 100;
/// Sparklines are shown only if the table has at least this many cells per day of its range.
const MIN_WIDTH_PER_DAY: usize = 6;
/// Blank columns before the bar.
const BAR_GAP: usize = 2;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberColumn {
    /// The numbers in the range on screen.
    Value(Metric),
    /// The changes since the compared range.
    Change(Metric),
}

impl NumberColumn {
    /// Returns the same column as a [`PageColumn`], to sort by it.
    pub fn sort_column(self) -> PageColumn {
        match self {
            Self::Value(metric) => PageColumn::Value(metric),
            Self::Change(metric) => PageColumn::Change(metric),
        }
    }

    pub fn metric(self) -> Metric {
        match self {
            Self::Value(metric) | Self::Change(metric) => metric,
        }
    }
}

/// What a column shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageTableColumn {
    /// The mark of the selected row.
    SelectionMark,
    Mark,
    Rank,
    Path,
    Number(NumberColumn),
    /// The sign after numbers that don't add up.
    MismatchSign,
    /// The views per day, as a sparkline.
    Daily,
    Bar,
}

impl PageTableColumn {
    /// Returns the column to sort by after a click on this column's heading: for ranks and bars, the column of
    /// `metric`. `None` if the click doesn't sort.
    pub fn sort_column(self, metric: Metric) -> Option<PageColumn> {
        match self {
            Self::Path => Some(PageColumn::Path),
            Self::Number(column) => Some(column.sort_column()),
            Self::Rank | Self::Bar => Some(PageColumn::Value(metric)),
            Self::SelectionMark | Self::Mark | Self::MismatchSign | Self::Daily => None,
        }
    }
}

/// Returns the columns of a table of `width` terminal cells.
pub fn page_table(views: &ViewsState, width: usize) -> Table<PageTableColumn> {
    type C = Column<PageTableColumn>;
    let table = &views.table;
    let rows = u64::try_from(table.rows().len()).unwrap_or(0);
    let rank = if width >= 60 {
        grouped_number(rows_before_listed_rows(views).saturating_add(rows)).len().max(MIN_RANK_WIDTH)
    } else {
        0
    };
    let has_marks = rank > 0 || table.marked_count() > 0;
    let lead_width = 1 + usize::from(has_marks) + if rank > 0 { rank + 2 } else { 0 };
    let shown = visible_columns(table, width);
    let daily = daily_width(views, width);
    let daily_gap = if daily > 0 { BAR_GAP } else { 0 };
    // The sign for numbers that don't add up is after the last column of counts. Without such a column, it is before
    // the sparklines and bars.
    let last_count =
        shown.iter().rposition(|shown| matches!(shown, NumberColumn::Value(metric) if *metric != Metric::Share));
    // Tries columns for wide numbers first. If these leave too little space for the path, uses narrower columns.
    let mut layout = (Vec::new(), 0, 0);
    for (max_count_width, gap) in [(26, if width < 70 { 1 } else { 3 }), (14, 1)] {
        let count_width = |metric: Metric| {
            let least = metric.name().len().max(5);
            table.measures().width_of(metric).clamp(least, max_count_width) + gap
        };
        let widths: Vec<usize> = shown.iter().map(|column| column_width(*column, table, count_width, width)).collect();
        let numbers = widths.iter().sum::<usize>() + usize::from(last_count.is_some());
        let space = width.saturating_sub(lead_width + numbers + daily_gap + daily + BAR_GAP + 1);
        // Numbers far from their paths are hard to follow, so the path column is only as wide as the longest path and
        // the blank before the numbers.
        let percent = if width < MIN_WIDE_TABLE_WIDTH {
            MAX_PATH_PERCENT_NARROW_AND_WIDE.0
        } else {
            MAX_PATH_PERCENT_NARROW_AND_WIDE.1
        };
        let longest = table.longest_path_width().max("page".len()) + 1;
        let path = (space * percent / 100).min(space.saturating_sub(MIN_BAR_WIDTH)).min(longest);
        layout = (widths, path, space - path);
        if path >= MIN_PATH_WIDTH.min(longest) {
            break;
        }
        // The path is too narrow beside a bar, so the bar is left out and its space is used for the path.
        let path = (space + BAR_GAP).min(longest);
        layout = (layout.0, path, 0);
    }
    let (widths, path, bar) = layout;
    let heading = |column: NumberColumn| match column {
        NumberColumn::Value(metric) => metric.name(),
        NumberColumn::Change(metric) => change_heading(table, metric),
    };
    let mut columns = vec![C::left_aligned("", 1, PageTableColumn::SelectionMark)];
    columns.extend(has_marks.then(|| C::left_aligned("", 1, PageTableColumn::Mark)));
    columns.extend((rank > 0).then(|| C::right_aligned("#", rank, PageTableColumn::Rank)));
    columns.push(C::left_aligned("page", path, PageTableColumn::Path).with_gap_before(if rank > 0 { 2 } else { 0 }));
    for (n, (column, width)) in shown.into_iter().zip(widths).enumerate() {
        columns.push(C::right_aligned(heading(column), width, PageTableColumn::Number(column)));
        columns.extend((last_count == Some(n)).then(|| C::left_aligned("", 1, PageTableColumn::MismatchSign)));
    }
    if last_count.is_none() {
        columns.push(C::left_aligned("", 1, PageTableColumn::MismatchSign));
    }
    let gap = if last_count.is_some() { BAR_GAP } else { BAR_GAP - 1 };
    columns.extend((daily > 0).then(|| C::left_aligned("daily", daily, PageTableColumn::Daily).with_gap_before(gap)));
    columns.extend((bar > 0).then(|| C::left_aligned("", bar, PageTableColumn::Bar).with_gap_before(gap)));
    Table::new(columns, width)
}

/// Returns the width of the column of sparklines: one cell per day, but at least the width of its heading. Returns 0 if
/// there are no sparklines or the table is too narrow.
fn daily_width(views: &ViewsState, width: usize) -> usize {
    let listed = views.daily.as_ref().filter(|daily| daily.range == views.query().range && views.lists_current_query());
    let days = listed.map_or(usize::MAX, |daily| usize::try_from(daily.range.days()).unwrap_or(usize::MAX));
    if width >= MIN_WIDE_TABLE_WIDTH && days <= width / MIN_WIDTH_PER_DAY { days.max("daily".len()) } else { 0 }
}

/// Returns the number of rows that precede the first listed row in the service's order; 0 if a report is listed.
pub fn rows_before_listed_rows(views: &ViewsState) -> u64 {
    match views.load().shown() {
        Some(shown) if !views.table.lists_report() => shown.value.query.offset(),
        _ => 0,
    }
}

/// Returns the heading of a column of changes. If the table is sorted by this column, the column shows differences,
/// otherwise percentages. The change of the share is always in percentage points.
fn change_heading(table: &PageTable, metric: Metric) -> &'static str {
    let is_per_day = table.comparison().is_some_and(|comparison| comparison.ranges().is_per_day());
    match metric {
        Metric::Share => "change",
        _ if table.sorting().by != PageColumn::Change(metric) => "change",
        _ if is_per_day => "Δ/day",
        _ => "Δ",
    }
}

/// Returns the most useful number columns for the width. They always include the column that the table is sorted by.
fn visible_columns(table: &PageTable, width: usize) -> Vec<NumberColumn> {
    let metric = table.metric();
    let sorted = match table.sorting().by {
        PageColumn::Value(sorted) | PageColumn::Change(sorted) if table.lists_report() => sorted,
        _ => metric,
    };
    let is_compared = table.comparison().is_some();
    let is_needed = |of: Metric| [metric, sorted].contains(&of);
    let has_value = |of: Metric| match of {
        Metric::Share => width >= MIN_WIDE_TABLE_WIDTH || is_needed(of),
        // If the metric is the share, the total is shown too, because a share alone doesn't show how many views there
        // were.
        Metric::Total => {
            width >= 70 && !is_compared || width >= MIN_WIDE_TABLE_WIDTH || is_needed(of) || metric == Metric::Share
        }
        Metric::Human | Metric::Ai => width >= 70 && !is_compared || width >= MIN_WIDE_TABLE_WIDTH || is_needed(of),
        Metric::Visitors => {
            table.has_visitors() && (width >= 70 && !is_compared || width >= MIN_WIDE_TABLE_WIDTH || is_needed(of))
        }
        Metric::HumanVisitors | Metric::AiVisitors => table.has_visitors() && (width >= 140 || is_needed(of)),
    };
    // The change of the share has a column only if the share is the metric or the table is sorted by it.
    let has_change = |of: Metric| match of {
        Metric::Share => is_compared && is_needed(of),
        // The user spent requests on comparing visitors, so their change gets a column even on narrower screens.
        Metric::Visitors if table.has_visitors() => is_compared && (of == sorted || width >= 120),
        of if of.counts_visitors() => is_compared && of == sorted,
        _ => is_compared && (of == sorted || width >= 160),
    };
    // A narrow table with a comparison shows only the numbers that it is sorted by, and their change.
    let is_narrow = is_compared && width < 60;
    let cells = Metric::ALL.map(|metric| [NumberColumn::Value(metric), NumberColumn::Change(metric)]).concat();
    let is_shown = |cell: &NumberColumn| match *cell {
        cell if is_narrow => cell.metric() == sorted,
        NumberColumn::Value(of) => has_value(of),
        NumberColumn::Change(of) => has_change(of),
    };
    cells.into_iter().filter(is_shown).collect()
}

/// Whether a table of this width has space for the word `new` or the words `to 0` in the column of changes.
pub fn shows_new_and_gone(width: usize) -> bool {
    width >= 60
}

/// Whether a column is shown at this width, so that its heading can show the sort direction.
pub fn is_column_visible(table: &PageTable, width: usize, column: PageColumn) -> bool {
    column == PageColumn::Path || visible_columns(table, width).iter().any(|cell| cell.sort_column() == column)
}

fn column_width(
    column: NumberColumn,
    table: &PageTable,
    count_width: impl Fn(Metric) -> usize,
    table_width: usize,
) -> usize {
    match column {
        NumberColumn::Change(metric) if metric != Metric::Share && table.sorting().by == column.sort_column() => {
            // `words` is the space for `to 0` and a blank, which is longer than `new` and a blank. The three cells that
            // are added below are for the blank before the column, the plus or minus sign, and the sign of an outlier.
            let words = if shows_new_and_gone(table_width) { 5 } else { 0 };
            (words + 3 + format_views(table.measures().largest_change).len())
                .clamp(PERCENT_CHANGE_WIDTH, MAX_VIEWS_CHANGE_WIDTH)
        }
        NumberColumn::Change(_) => PERCENT_CHANGE_WIDTH,
        NumberColumn::Value(Metric::Share) => SHARE_WIDTH,
        NumberColumn::Value(metric) => count_width(metric),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sorted_column_is_shown_at_every_width() {
        use crate::model::period::DateRange;
        use crate::model::report::Report;
        use crate::model::views::ViewsResponse;
        let range = DateRange::last_days(7, chrono::NaiveDate::default());
        let report = || {
            std::sync::Arc::new(Report::from_first_response(
                range,
                ViewsResponse::default(),
                true,
                crate::model::Time::default(),
            ))
        };
        let mut table = PageTable::default();
        table.set_visitors(Some(crate::tui::views::table::VisitorReports::new()));
        for compared in [false, true] {
            table.show_report(report(), compared.then(report));
            for (sorted, metric) in
                Metric::ALL.into_iter().flat_map(|sorted| Metric::ALL.map(|metric| (sorted, metric)))
            {
                table.set_metric(metric);
                for width in [40, 60, 80, 120, 160] {
                    let mut orders = vec![PageColumn::Value(sorted)];
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
