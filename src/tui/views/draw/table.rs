//! Draws the table of pages: as many columns as the width allows, and one line per page or folder.
//!
//! ```text
//!    #  page                    human    change       AI   change   AI %  0 ─────────────────── 14k
//! ▌* 1  ▾ /api/ 12 pages        3,002    ▲ 4.1%    7,744    ▼ 48%!   72%  █████▎▒▒▒▒▒▒▒▒▒▒▒▒▒▌
//!    2      create-job          9,120      new     4,310     new     32%  ████████████████▌▒▒▒▒▒▒▒▎
//! ```

use crate::model::comparison::ViewsChange;
use crate::model::job_state::{MARKED_SYMBOL, SELECTED_SYMBOL};
use crate::model::views::DecimalCount;
use crate::tui::draw::FIXED_CONTENT_KEY;
use crate::tui::draw::bars;
use crate::tui::draw::boxes::draw_line;
use crate::tui::draw::text::{blanks, display_width, selected_line, truncate, truncate_path};
use crate::tui::format::count_text;
use crate::tui::format::{format_count, format_views, grouped_number, plural};
use crate::tui::keymap::{Action, Context};
use crate::tui::view::View;
use crate::tui::views::columns::{
    NumberColumn, PageTableColumn, page_table, rows_before_listed_rows, shows_new_and_gone,
};
use crate::tui::views::draw::change::{ChangeWeight, larger_site_views};
use crate::tui::views::table::{ComparisonBaseline, Metric, PageColumn, PageMetrics, RowKind, VisibleRow};
use crate::tui::widgets::table::{Table, TableCell};
use ratatui::Frame;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::cmp::Ordering;
use unicode_width::UnicodeWidthStr;

/// Draws the column headings and one line per page or folder, or a text if there are no pages.
pub(in crate::tui) fn draw(frame: &mut Frame<'_>, view: View<'_>) {
    let table = &view.app.views.table;
    let areas = view.app.views_areas();
    let lines = areas.lines;
    let rows = usize::from(lines.height);
    let columns = page_table(&view.app.views, usize::from(lines.width));
    if !view.kept_cells.try_keep(frame.buffer_mut(), areas.headings, FIXED_CONTENT_KEY) {
        draw_line(frame, areas.headings, 0, page_headings(&columns, view));
    }
    for ((n, shown), part) in table.visible(rows).enumerate().zip(lines.rows()) {
        if shown.index == table.selected() {
            view.kept_cells.discard_kept_row(frame.buffer_mut(), part.y);
        } else if view.kept_cells.try_keep(frame.buffer_mut(), part, shown.index as u64) {
            continue;
        }
        draw_line(frame, lines, n, page_line(&columns, view, &shown));
    }
    if table.is_empty() {
        for (n, text) in no_pages_lines(view).into_iter().take(rows.saturating_sub(1)).enumerate() {
            let text = truncate(&text, usize::from(lines.width));
            draw_line(frame, lines, n + 1, Line::styled(text, view.theme.muted));
        }
    }
}

fn no_pages_lines(view: View<'_>) -> Vec<String> {
    let views = &view.app.views;
    let table = &views.table;
    if table.is_filtered() && !table.rows().is_empty() {
        let none = format!("  No matches among {}.", plural(table.rows().len(), "page"));
        let mut lines =
            vec![none, format!("  {} shows all.", view.app.key_label(Context::Views, Action::Close)), String::new()];
        lines.push("  words  !word  ai>100  share<10% (AI share)  human>1000  total<=1k".to_owned());
        if table.comparison().is_some() {
            lines.push("  d<-20% (change)  dhuman>100  dai>5%  new  gone (no views left)".to_owned());
        }
        return lines;
    }
    let beyond = !table.lists_report() && views.load().shown().is_some_and(|shown| shown.value.query.page > 1);
    let back = || view.app.key_label(Context::Views, Action::PreviousPage);
    let none = "  No page was viewed in this range.";
    vec![if beyond { format!("  No rows here: {} goes back.", back()) } else { none.to_owned() }]
}

fn page_headings<'a>(columns: &Table<PageTableColumn>, view: View<'_>) -> Line<'a> {
    let theme = view.theme;
    let table = &view.app.views.table;
    let sorting = table.lists_report().then(|| table.sorting());
    let arrow = |column: PageColumn| sorting.filter(|sorting| sorting.by == column).map(|sorting| sorting.arrow());
    let style = |column: PageColumn, style: Style| if arrow(column).is_some() { theme.mark } else { style };
    columns.headings_with(|column, width| match column.key {
        PageTableColumn::Path => {
            let arrow = arrow(PageColumn::Path).map(|arrow| format!(" {arrow}")).unwrap_or_default();
            // Ranks are by the metric. If the table is sorted by another column, the heading names the metric. The
            // ranks in a partial report are unknown, so `#` stands for the position in the service's order.
            let is_by_other = sorting.is_some_and(|sorting| sorting.by != PageColumn::Value(table.metric()));
            let heading = format!("{}{arrow}", column.heading());
            let metric = table.metric().name();
            let ranks = match table.report().filter(|_| columns.has(PageTableColumn::Rank)) {
                Some(report) if !report.complete => ["  (# = as received)".into(), "  (# unsorted)".into()],
                Some(_) if is_by_other => [format!("  (# = rank by {metric})"), format!("  (# by {metric})")],
                _ => Default::default(),
            };
            let fitting = ranks.into_iter().find(|ranks| display_width(&heading) + display_width(ranks) <= width);
            let heading = heading + &fitting.unwrap_or_default();
            TableCell::new(heading, style(PageColumn::Path, theme.muted))
        }
        PageTableColumn::Number(number) => {
            // The last cell of a change is reserved for the sign of an outlier.
            let end = if matches!(number, NumberColumn::Change(_)) { " " } else { "" };
            let text = format!("{}{}", column.heading(), arrow(number.sort_column()).unwrap_or(end));
            TableCell::new(text, style(number.sort_column(), metric_heading_style(number.metric(), view)))
        }
        PageTableColumn::Bar if !table.is_empty() => {
            TableCell::new(bars::scale_line(table.scale(), width), theme.muted)
        }
        _ => column.heading_cell(theme.muted),
    })
}

fn page_line<'a>(columns: &Table<PageTableColumn>, view: View<'_>, shown: &VisibleRow<'_>) -> Line<'a> {
    let View { app, theme, .. } = view;
    let table = &app.views.table;
    let is_selected = table.selected() == shown.index;
    let text = if !shown.metrics.is_listed || is_stale(view) { theme.muted } else { theme.text };
    let line = columns.line(|cell, width| match *cell {
        PageTableColumn::SelectionMark => TableCell::new(if is_selected { SELECTED_SYMBOL } else { "" }, theme.mark),
        PageTableColumn::Mark => TableCell::new(if shown.is_marked { MARKED_SYMBOL } else { "" }, theme.mark),
        PageTableColumn::Rank => rank_cell(view, shown),
        PageTableColumn::Path => TableCell::Spans(name_spans(view, shown, text, width)),
        PageTableColumn::Number(column) => {
            let (value, style) = cell_text(column, &shown.metrics, view, text, shows_new_and_gone(columns.width()));
            // Even a number that had to be cut has a blank before it.
            TableCell::new(if display_width(&value) < width { value } else { truncate(&value, width - 1) }, style)
        }
        PageTableColumn::Daily => {
            let row = match shown.kind {
                RowKind::Page { service_index, .. } => {
                    service_index.and_then(|service_index| table.rows().get(service_index))
                }
                RowKind::Folder(_) => None,
            };
            let has_eighth_blocks = theme.parts_per_cell() > 1;
            let daily = app.views.daily.as_ref().zip(row);
            let line =
                daily.and_then(|(daily, row)| daily.sparkline(row.path.as_str(), table.metric(), has_eighth_blocks));
            TableCell::new(line.unwrap_or_default(), theme.muted)
        }
        PageTableColumn::MismatchSign => TableCell::new(if shown.adds_up { "" } else { "≠" }, theme.warning),
        PageTableColumn::Bar => {
            let mut bar = bars::bar_spans(&shown.metrics, table.metric(), table.scale(), width, theme);
            if is_stale(view) {
                bar.iter_mut().for_each(|part| part.style = theme.muted);
            }
            TableCell::Spans(bar)
        }
    });
    if is_selected { selected_line(line, theme) } else { line }
}

/// Returns the rank by the metric if all pages are loaded; otherwise the position in the service's order, which is not
/// a rank. The cell of a folder is empty; `–` stands for an unknown rank or position.
fn rank_cell<'a>(view: View<'_>, shown: &VisibleRow<'_>) -> TableCell<'a> {
    let theme = view.theme;
    let views = &view.app.views;
    match shown.kind {
        RowKind::Folder(_) => TableCell::new("", theme.muted),
        RowKind::Page { rank: Some(rank), .. } => TableCell::new(grouped_number(rank), theme.text),
        RowKind::Page { .. } if views.table.report().is_some_and(|report| report.complete) => {
            TableCell::new("–", theme.muted)
        }
        RowKind::Page { service_index, .. } => {
            let service_index = service_index.and_then(|service_index| u64::try_from(service_index).ok());
            let place = service_index
                .map(|service_index| rows_before_listed_rows(views).saturating_add(service_index).saturating_add(1));
            TableCell::new(place.map_or_else(|| "–".to_owned(), grouped_number), theme.muted)
        }
    }
}

/// Returns the path; in a tree, only the part of the path that the folder above doesn't show. Adds the number of pages
/// to a folder.
fn name_spans<'a>(view: View<'_>, shown: &VisibleRow<'_>, text: Style, width: usize) -> Vec<Span<'a>> {
    let indent = (shown.depth * 2).min(width / 2);
    let (sign, pages) = match shown.kind {
        RowKind::Folder(folder) => {
            (if folder.is_open { "▾ " } else { "▸ " }, format!(" {} pages", format_count(folder.page_count)))
        }
        RowKind::Page { .. } if view.app.views.table.is_tree() => ("  ", String::new()),
        RowKind::Page { .. } => ("", String::new()),
    };
    let pages = if width < 24 { String::new() } else { pages };
    let name = truncate_path(shown.name, width.saturating_sub(indent + sign.width() + pages.len() + 1));
    vec![
        Span::styled(blanks(indent), text),
        Span::styled(sign, view.theme.key),
        Span::styled(name, text),
        Span::styled(pages, view.theme.muted),
    ]
}

fn metric_heading_style(metric: Metric, view: View<'_>) -> Style {
    match metric {
        Metric::Human | Metric::HumanVisitors => view.theme.human,
        Metric::Ai | Metric::AiVisitors => view.theme.ai,
        Metric::Total | Metric::Share | Metric::Visitors => view.theme.muted,
    }
}

fn cell_text(
    cell: NumberColumn,
    figures: &PageMetrics<'_>,
    view: View<'_>,
    text: Style,
    shows_new_or_gone: bool,
) -> (String, Style) {
    let theme = view.theme;
    let value = match cell {
        NumberColumn::Change(metric) => {
            let is_sorted = view.app.views.table.sorting().by == cell.sort_column();
            // A rise of the AI share is neither good nor bad.
            if metric == Metric::Share {
                return (ai_share_change_text(figures) + " ", theme.text);
            }
            let change = figures.change(metric);
            let weight = ChangeWeight::of(change, larger_site_views(view));
            let value =
                if is_sorted { difference_text(change, shows_new_or_gone) } else { percent_change_text(change) };
            return (value + weight.outlier_mark(), weight.style(change, theme));
        }
        NumberColumn::Value(Metric::Share) => {
            let share = figures.counts_shown().ai_share();
            share.map_or_else(|| "–".to_owned(), |share| format!("{:.0}%", share * 100.0))
        }
        NumberColumn::Value(metric) => metric.count(figures.counts_shown()).map(count_text).unwrap_or_default(),
    };
    let style = if cell == NumberColumn::Value(Metric::Share) { theme.muted } else { text };
    // A page that is not listed in the current range is shown with its numbers of the compared range, in parentheses.
    if figures.is_listed { (value, style) } else { (format!("({value})"), theme.muted) }
}

/// Formats a difference in views: `+1,234`, `to 0 −56`.
fn difference_text(change: ViewsChange, shows_new_or_gone: bool) -> String {
    let word = match change {
        ViewsChange::New(_) if shows_new_or_gone => "new ",
        ViewsChange::Gone(_) if shows_new_or_gone => "to 0 ",
        ViewsChange::InBoth { .. } | ViewsChange::New(_) | ViewsChange::Gone(_) | ViewsChange::Unknown => "",
    };
    match change.difference() {
        None => "–".to_owned(),
        Some(difference) => format!("{word}{}", signed_views(difference)),
    }
}

/// Formats a difference in views with its sign: `+1,234`, `−56`, `0`.
pub(in crate::tui) fn signed_views(difference: DecimalCount) -> String {
    let sign = match difference.cmp(&DecimalCount::ZERO) {
        Ordering::Greater => "+",
        Ordering::Equal => "",
        Ordering::Less => "−",
    };
    format!("{sign}{}", format_views(difference.abs()))
}

/// Formats a change of views in percent or, if the percentage would be too long, as a factor such as `▲ ×12`. The text
/// has at most 8 cells.
pub(in crate::tui) fn percent_change_text(change: ViewsChange) -> String {
    let (current, previous) = match change {
        ViewsChange::Unknown => return "–".to_owned(),
        ViewsChange::New(_) => return "new".to_owned(),
        ViewsChange::Gone(_) => return "▼ to 0".to_owned(),
        ViewsChange::InBoth { current, previous } if current == previous => return "±0%".to_owned(),
        ViewsChange::InBoth { current, previous } => (current, previous),
    };
    let sign = if current > previous { "▲" } else { "▼" };
    let Some(percent) = change.percent().map(f64::abs) else {
        // A change from 0 views has no percentage.
        return "new".to_owned();
    };
    match percent {
        ..0.05 => format!("{sign} <0.1%"),
        0.05..9.95 => format!("{sign} {percent:.1}%"),
        9.95..999.5 => format!("{sign} {percent:.0}%"),
        _ => format!("{sign} ×{:.0}", current.ratio_to(previous).min(99_999.0)),
    }
}

/// Formats a change of a number outside the table. A change from 0 is `▲ from 0` rather than `new`, because outside the
/// table it would be unclear what is new.
pub(in crate::tui) fn summary_change(change: ViewsChange) -> String {
    match change {
        ViewsChange::InBoth { current, previous } if previous.is_zero() && current > previous => "▲ from 0".to_owned(),
        _ => percent_change_text(change),
    }
}

fn ai_share_change_text(figures: &PageMetrics<'_>) -> String {
    match (figures.baseline, figures.share_change()) {
        (ComparisonBaseline::New, _) => "new".to_owned(),
        (ComparisonBaseline::Gone(_), _) => "no views".to_owned(),
        (_, None) => "–".to_owned(),
        (_, Some(points)) => percentage_points_text(points),
    }
}

/// Formats a change in percentage points.
pub(in crate::tui) fn percentage_points_text(points: f64) -> String {
    let sign = if points > 0.0 { "▲" } else { "▼" };
    match points.abs() {
        ..0.05 => "0 pp".to_owned(),
        0.05..9.95 => format!("{sign} {:.1} pp", points.abs()),
        _ => format!("{sign} {:.0} pp", points.abs()),
    }
}

/// Whether the listed rows don't belong to the current query.
fn is_stale(view: View<'_>) -> bool {
    !view.app.views.lists_current_query()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_has_a_sign_and_fits_a_narrow_column() {
        let cell = |current: u64, previous: u64| {
            percent_change_text(ViewsChange::InBoth { current: current.into(), previous: previous.into() })
        };
        assert_eq!(cell(1041, 1000), "▲ 4.1%");
        assert_eq!(cell(80, 100), "▼ 20%");
        assert_eq!(cell(0, 100), "▼ 100%");
        assert_eq!(cell(10_000, 9_999), "▲ <0.1%");
        assert_eq!(cell(12_000, 1000), "▲ ×12");
        assert_eq!(cell(7, 7), "±0%");
        assert_eq!([cell(12, 0), cell(12_345, 0)], ["new", "new"], "no percentage of nothing");
        assert_eq!(
            [ViewsChange::New(3.into()), ViewsChange::Gone(3.into()), ViewsChange::Unknown].map(percent_change_text),
            ["new", "▼ to 0", "–"]
        );
    }

    proptest::proptest! {
        #[test]
        fn a_change_fits_its_column(current: u64, previous: u64, small in 0_u64..2000) {
            let pairs = [(current, previous), (small, previous), (current, small), (small, 1), (small, 1000)];
            for (current, previous) in pairs {
                if previous > 0 || current < 1_000_000_000 {
                    let change = ViewsChange::InBoth { current: current.into(), previous: previous.into() };
                    // One cell is for the sign of an outlier, one is blank.
                    proptest::prop_assert!(percent_change_text(change).width() + 2 <= crate::tui::views::columns::PERCENT_CHANGE_WIDTH);
                }
            }
        }
    }
}
