//! Draws the table of pages: as many columns as the width allows, and one line per page or folder.
//!
//! ```text
//!    #  path                    human        Δ       AI        Δ   AI %    total 0 ─────────── 13,430
//! ▌* 1  ▾ /api/ 12 pages        3,002   ▲ 4.1%    7,744    ▼ 12%    72%    █████▒▒▒▒▒▒▒▒▒▒▒▒▒▒
//!    2      create-job          9,120      new    4,310      new    32%    ████████████████▒▒▒▒▒▒▒▒
//! ```

use super::count_text;
use crate::model::comparison::ViewsChange;
use crate::model::views::ViewCount;
use crate::tui::draw::text::{TextRow, display_width, fit, fit_from_end, left, right};
use crate::tui::draw::{View, bars, draw_line};
use crate::tui::format::{format_count, format_views, grouped_number, plural};
use crate::tui::keymap::{Action, Context};
use crate::tui::views::columns::{BAR_GAP, NumberColumn, PageColumns, shows_new_and_gone};
use crate::tui::views::table::{ComparisonBaseline, Metric, PageColumn, PageMetrics, PageTable, RowKind, VisibleRow};
use ratatui::Frame;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

/// Draws the column heads and one line per page or folder, or a text if there are no pages.
pub(in crate::tui) fn draw(frame: &mut Frame<'_>, view: View<'_>) {
    let table = &view.app.views.table;
    let g = view.app.geometry();
    let (lines, rows) = (g.views_lines(), g.views_rows());
    let columns = PageColumns::for_width(&view.app.views, usize::from(lines.width));
    draw_line(frame, g.views_headings(), 0, page_heads(&columns, view));
    for (n, shown) in table.visible(rows).enumerate() {
        draw_line(frame, lines, n, page_line(&columns, view, &shown));
    }
    if table.is_empty() {
        for (n, text) in no_pages_lines(view).into_iter().take(rows.saturating_sub(1)).enumerate() {
            let text = fit(&text, usize::from(lines.width));
            draw_line(frame, lines, n + 1, Line::styled(text, view.theme.muted));
        }
    }
}

fn no_pages_lines(view: View<'_>) -> Vec<String> {
    let views = &view.app.views;
    let table = &views.table;
    if table.is_filtered() && !table.rows().is_empty() {
        let none = format!("  None of the {} matches.", plural(table.rows().len(), "page"));
        let mut lines =
            vec![none, format!("  {} shows all.", view.app.key_label(Context::Views, Action::Close)), String::new()];
        lines.push("  words  !word  ai>50%  share<10%  human>1000  total<=1k".to_owned());
        if table.comparison().is_some() {
            lines.push("  Δ<-20%  Δhuman>100  Δai>5%  new  gone".to_owned());
        }
        return lines;
    }
    let beyond = !table.is_report() && views.load().shown().is_some_and(|shown| shown.value.query.page > 1);
    let back = || view.app.key_label(Context::Views, Action::PreviousPage);
    let none = "  No page was viewed in this range.";
    vec![if beyond { format!("  No rows on this page: {} goes back.", back()) } else { none.to_owned() }]
}

fn page_heads<'a>(columns: &PageColumns, view: View<'_>) -> Line<'a> {
    let theme = view.theme;
    let table = &view.app.views.table;
    let sorting = table.is_report().then(|| table.sorting());
    let arrow = |column: PageColumn| sorting.filter(|sorting| sorting.by == column).map(|sorting| sorting.arrow());
    let style = |column: PageColumn, style: Style| if arrow(column).is_some() { theme.mark } else { style };
    let mut row = TextRow::new(columns.width);
    let lead = columns.lead_width();
    row.push(
        if columns.rank_width > 0 { format!("{}  ", right("#", lead - 2)) } else { " ".repeat(lead) },
        theme.muted,
    );
    let mut path = format!("path{}", arrow(PageColumn::Path).map(|arrow| format!(" {arrow}")).unwrap_or_default());
    // Ranks are always by the metric, so the head names the metric if the table is sorted by another column.
    if columns.rank_width > 0
        && table.report().is_some_and(|report| report.complete)
        && sorting.is_some_and(|sorting| sorting.by != PageColumn::Now(table.metric()))
    {
        path = format!("{path}  (# by {})", table.metric().name());
    }
    row.push(left(&path, columns.path_width), style(PageColumn::Path, theme.muted));
    for (n, (cell, width)) in columns.numbers.iter().enumerate() {
        let (name, column, usual) = match *cell {
            NumberColumn::Now(metric) => (metric.name(), PageColumn::Now(metric), head_style(metric, view)),
            NumberColumn::Change(metric) => {
                (change_head(table, metric), PageColumn::Change(metric), head_style(metric, view))
            }
        };
        let name = format!("{name}{}", arrow(column).unwrap_or_default());
        let sign = usize::from(columns.mismatch_column == Some(n));
        row.push(right(&name, width - sign), style(column, usual)).push(" ".repeat(sign), theme.muted);
    }
    if table.is_empty() {
        return row.line();
    }
    row.push(" ".repeat(BAR_GAP), theme.muted);
    row.push(bars::scale_line(table.metric(), table.scale(), columns.bar_width), theme.muted);
    row.line()
}

fn page_line<'a>(columns: &PageColumns, view: View<'_>, shown: &VisibleRow<'_>) -> Line<'a> {
    let View { app, theme, .. } = view;
    let table = &app.views.table;
    let selected = table.selected() == shown.index;
    let text = match (selected, !shown.metrics.is_listed || is_stale(view)) {
        (true, _) => theme.selected,
        (false, true) => theme.muted,
        (false, false) => theme.text,
    };
    let mut row = TextRow::new(columns.width);
    row.push_cow(if selected { "▌" } else { " " }, theme.mark);
    if columns.has_marks {
        row.push_cow(if shown.is_marked { "*" } else { " " }, theme.mark);
    }
    if columns.rank_width > 0 {
        let (rank, style) = rank_cell(columns, view, shown);
        row.right(rank, columns.rank_width, style).push_cow("  ", theme.text);
    }
    push_name(columns, &mut row, view, shown, text);
    let mark = if shown.adds_up { " " } else { "≠" };
    for (n, (cell, width)) in columns.numbers.iter().enumerate() {
        let sign = usize::from(columns.mismatch_column == Some(n));
        let width = width - sign;
        let (value, style) = cell_text(*cell, &shown.metrics, view, text, shows_new_and_gone(columns.width));
        // Even a number that had to be cut has a blank before it.
        row.right(if display_width(&value) < width { value } else { fit(&value, width - 1) }, width, style);
        row.push_cow(if sign > 0 { mark } else { "" }, theme.warning);
    }
    row.left(if columns.mismatch_column.is_none() { mark } else { "" }, BAR_GAP, theme.warning);
    for Span { content, style, .. } in
        bars::bar_spans(&shown.metrics, table.metric(), table.scale(), columns.bar_width, theme)
    {
        row.push_cow(content, if is_stale(view) { theme.muted } else { style });
    }
    row.line()
}

/// Returns the rank by the metric if all pages are loaded; otherwise the position in the service's order, which is not
/// a rank.
fn rank_cell(columns: &PageColumns, view: View<'_>, shown: &VisibleRow<'_>) -> (String, Style) {
    let theme = view.theme;
    let table = &view.app.views.table;
    match shown.kind {
        RowKind::Folder(_) => (String::new(), theme.muted),
        RowKind::Page { rank: Some(rank), .. } => (grouped_number(rank), theme.text),
        RowKind::Page { .. } if table.report().is_some_and(|report| report.complete) => ("–".to_owned(), theme.muted),
        RowKind::Page { order, .. } => {
            let order = order.and_then(|order| u64::try_from(order).ok());
            let place = order.map(|order| columns.rows_before.saturating_add(order).saturating_add(1));
            (place.map_or_else(|| "–".to_owned(), grouped_number), theme.muted)
        }
    }
}

/// Adds the path; in a tree, only the part of the path that the folder above doesn't show. Adds the number of pages to
/// a folder.
fn push_name(columns: &PageColumns, row: &mut TextRow<'_>, view: View<'_>, shown: &VisibleRow<'_>, text: Style) {
    let indent = (shown.depth * 2).min(columns.path_width / 2);
    let (sign, pages) = match shown.kind {
        RowKind::Folder(folder) => {
            (if folder.is_open { "▾ " } else { "▸ " }, format!(" {} pages", format_count(folder.page_count)))
        }
        RowKind::Page { .. } if view.app.views.table.is_tree() => ("  ", String::new()),
        RowKind::Page { .. } => ("", String::new()),
    };
    let pages = if columns.path_width < 24 { String::new() } else { pages };
    let space = columns.path_width.saturating_sub(indent + sign.width() + pages.len() + 1);
    let name = fit_from_end(shown.name, space);
    let used = indent + sign.width() + display_width(&name) + pages.len();
    row.left("", indent, text).push_cow(sign, view.theme.key).push_cow(name, text).push_cow(pages, view.theme.muted);
    row.left("", columns.path_width.saturating_sub(used), text);
}

fn head_style(metric: Metric, view: View<'_>) -> Style {
    match metric {
        Metric::Human => view.theme.human,
        Metric::Ai => view.theme.ai,
        Metric::Total | Metric::Share => view.theme.muted,
    }
}

fn cell_text(
    cell: NumberColumn,
    figures: &PageMetrics<'_>,
    view: View<'_>,
    text: Style,
    shows_words: bool,
) -> (String, Style) {
    let theme = view.theme;
    let value = match cell {
        NumberColumn::Change(metric) => {
            let is_sorted = view.app.views.table.sorting().by == cell.sort_column();
            let change = figures.change(metric);
            let value = match metric {
                Metric::Share => points_text(figures),
                _ if is_sorted => difference_text(change, shows_words),
                _ => change_cell(change),
            };
            let is_gain = match value.chars().find(|c| "▲▼+-".contains(*c)) {
                Some('▲' | '+') => Some(true),
                Some(_) => Some(false),
                None => None,
            };
            return (value, is_gain.map_or(theme.muted, |is_gain| if is_gain { theme.good } else { theme.bad }));
        }
        NumberColumn::Now(Metric::Share) => {
            let share = figures.counts_shown().ai_share();
            share.map_or_else(|| "–".to_owned(), |share| format!("{:.0}%", share * 100.0))
        }
        NumberColumn::Now(metric) => metric.count(figures.counts_shown()).map(count_text).unwrap_or_default(),
    };
    let style = if cell == NumberColumn::Now(Metric::Share) { theme.muted } else { text };
    // A page that is not listed in the current range is shown with its numbers of the compared range, in parentheses.
    if figures.is_listed { (value, style) } else { (format!("({value})"), theme.muted) }
}

/// Returns the head of a column of changes. If the table is sorted by this column, the column shows differences.
/// Otherwise it shows percentages.
fn change_head(table: &PageTable, metric: Metric) -> &'static str {
    let is_per_day = table.comparison().is_some_and(|comparison| comparison.ranges().is_per_day());
    match metric {
        Metric::Share => "Δ",
        _ if table.sorting().by != PageColumn::Change(metric) => "Δ%",
        _ if is_per_day => "Δ/day",
        _ => "Δ",
    }
}

/// Formats a difference in views: `+1,234`, `gone -56`.
fn difference_text(change: ViewsChange, shows_words: bool) -> String {
    let word = match change {
        ViewsChange::New(_) if shows_words => "new ",
        ViewsChange::Gone(_) if shows_words => "gone ",
        ViewsChange::InBoth { .. } | ViewsChange::New(_) | ViewsChange::Gone(_) | ViewsChange::Unknown => "",
    };
    match change.difference() {
        None => "–".to_owned(),
        Some(difference) if difference.is_zero() => format!("{word}="),
        Some(difference) => {
            let sign = if difference > ViewCount::ZERO { "+" } else { "" };
            format!("{word}{sign}{}", format_views(difference))
        }
    }
}

/// Formats a change of views in percent, in at most 8 cells.
pub(in crate::tui) fn change_cell(change: ViewsChange) -> String {
    let (now, before) = match change {
        ViewsChange::Unknown => return "–".to_owned(),
        ViewsChange::New(_) => return "new".to_owned(),
        ViewsChange::Gone(_) => return "gone".to_owned(),
        ViewsChange::InBoth { now, before } if now == before => return "=".to_owned(),
        ViewsChange::InBoth { now, before } => (now, before),
    };
    let sign = if now > before { "▲" } else { "▼" };
    let Some(percent) = change.percent().map(f64::abs) else {
        return format!("{sign} +{}", bars::short_number(now));
    };
    match percent {
        ..0.05 => format!("{sign} <0.1%"),
        0.05..9.95 => format!("{sign} {percent:.1}%"),
        9.95..999.5 => format!("{sign} {percent:.0}%"),
        _ => format!("{sign} ×{:.0}", now.ratio_to(before).min(99_999.0)),
    }
}

/// Formats the change of the AI share in percentage points.
fn points_text(figures: &PageMetrics<'_>) -> String {
    match (figures.baseline, figures.share_change()) {
        (ComparisonBaseline::New, _) => "new".to_owned(),
        (ComparisonBaseline::Gone(_), _) => "gone".to_owned(),
        (_, None) => "–".to_owned(),
        (_, Some(points)) if points.abs() < 0.05 => "=".to_owned(),
        (_, Some(points)) => {
            let sign = if points > 0.0 { "▲" } else { "▼" };
            if points.abs() < 9.95 {
                format!("{sign} {:.1}pp", points.abs())
            } else {
                format!("{sign} {:.0}pp", points.abs())
            }
        }
    }
}

/// Whether the listed rows don't belong to the current query.
fn is_stale(view: View<'_>) -> bool {
    !view.app.views.is_current()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_has_a_sign_and_fits_a_narrow_column() {
        let cell = |now: u64, before: u64| change_cell(ViewsChange::InBoth { now: now.into(), before: before.into() });
        assert_eq!(cell(1041, 1000), "▲ 4.1%");
        assert_eq!(cell(80, 100), "▼ 20%");
        assert_eq!(cell(0, 100), "▼ 100%");
        assert_eq!(cell(10_000, 9_999), "▲ <0.1%");
        assert_eq!(cell(12_000, 1000), "▲ ×12");
        assert_eq!(cell(7, 7), "=");
        assert_eq!([cell(12, 0), cell(12_345, 0)], ["▲ +12", "▲ +12k"], "no percentage of nothing");
        assert_eq!(
            [ViewsChange::New(3.into()), ViewsChange::Gone(3.into()), ViewsChange::Unknown].map(change_cell),
            ["new", "gone", "–"]
        );
    }

    proptest::proptest! {
        #[test]
        fn a_change_fits_its_column(now: u64, before: u64, small in 0_u64..2000) {
            for (now, before) in [(now, before), (small, before), (now, small), (small, 1), (small, 1000)] {
                if before > 0 || now < 1_000_000_000 {
                    let change = ViewsChange::InBoth { now: now.into(), before: before.into() };
                    proptest::prop_assert!(change_cell(change).width() < crate::tui::views::columns::CHANGE_WIDTH);
                }
            }
        }
    }
}
