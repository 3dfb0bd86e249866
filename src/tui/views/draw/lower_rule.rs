//! Draws the horizontal rule below the table: which pages are listed, how they are sorted, the position among them,
//! whether all pages are loaded, and what the symbols of the bars mean. Parts that don't fit are left out, the least
//! important first.

use crate::model::period::DateRange;
use crate::model::report::{EstimateBasis, SimilarRange};
use crate::tui::draw::bars;
use crate::tui::draw::list_title::{TitleSpans, spans_width};
use crate::tui::draw::rules::draw_rule;
use crate::tui::draw::text::{TextRow, truncate};
use crate::tui::format::{format_count, format_views, grouped_number, plural};
use crate::tui::geometry::title_area;
use crate::tui::keymap::{Action, Context};
use crate::tui::view::View;
use crate::tui::views::table::{BarScale, Metric, PageColumn, PageSorting, PageTable};
use crate::tui::views::trend::TrendDialog;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

/// The number of cells that are reserved for a position, such as `12 of 1,099, 1,085 more ↓`, and for the rule
/// beside it.
const MAX_POSITION_CELLS: usize = 34;

/// The minimum width at which the line above the table shows how much of a partial report is loaded.
const MIN_WIDTH_WITH_SHARE: usize = 60;
/// The minimum width at which the legend shows the key for loading the missing days of the trend.
const MIN_WIDTH_WITH_TREND_KEY: usize = 120;

/// A part of the text at the left of the rule. A needed part may use the space of the legend; any other part is left
/// out if the legend would no longer fit.
struct LowerRulePart<'a> {
    spans: TitleSpans<'a>,
    is_needed: bool,
}

fn needed_part(part: TitleSpans<'_>) -> LowerRulePart<'_> {
    LowerRulePart { spans: part, is_needed: true }
}

fn optional_part<'a>(view: View<'_>, text: String) -> LowerRulePart<'a> {
    LowerRulePart { spans: vec![Span::styled(text, view.theme.muted)], is_needed: false }
}

/// Draws the rule below the table.
pub(in crate::tui) fn draw_lower_rule(frame: &mut Frame<'_>, view: View<'_>, row: Rect, position: String) {
    let table = &view.app.views.table;
    let width = usize::from(row.width);
    let parts = if table.lists_report() { report_parts(view, width) } else { single_response_parts(view) };
    let mut right = Line::styled(position, view.theme.muted);
    let space = usize::from(title_area(row).width).saturating_sub(right.width() + 3);
    let mut legend = legend(view);
    let legend_cells = spans_width([&legend].into_iter()) + 4;
    let mut left = TextRow::new(space);
    for (n, LowerRulePart { spans: part, is_needed }) in parts.into_iter().enumerate() {
        let gap = if left.remaining_cells() == space { "" } else { " · " };
        let free = left.remaining_cells().saturating_sub(if is_needed { 0 } else { legend_cells });
        if (n == 0 && is_needed) || spans_width([&part].into_iter()) + gap.width() <= free {
            left.push(gap, view.theme.muted);
            part.into_iter().for_each(|Span { content, style, .. }| {
                left.push(content, style);
            });
        }
    }
    if left.remaining_cells() >= legend_cells {
        let unloaded =
            unloaded_trend_text(view, width).filter(|text| left.remaining_cells() >= legend_cells + text.width());
        legend.extend(unloaded.map(|text| Span::styled(text, view.theme.muted)));
        let separator = (right.width() > 0).then(|| Span::styled(" ── ", view.theme.border));
        let position = std::mem::take(&mut right.spans).into_iter().map(|span| span.style(view.theme.muted));
        right = Line::from_iter(legend.into_iter().chain(separator).chain(position));
    }
    draw_rule(frame, view, row, left.line(), right);
}

/// Returns the legend: what the symbols of the bars mean.
fn legend<'a>(view: View<'_>) -> TitleSpans<'a> {
    let theme = view.theme;
    let table = &view.app.views.table;
    let metrics: &[(Metric, &str)] = match (table.metric(), table.scale()) {
        (Metric::Total, BarScale::Log(_)) => &[(Metric::Total, "total")],
        (Metric::Total, _) => &[(Metric::Human, "human"), (Metric::Ai, "AI")],
        (Metric::Human, _) => &[(Metric::Human, "human")],
        (Metric::Ai, _) => &[(Metric::Ai, "AI")],
        (Metric::Share, _) => &[(Metric::Share, "AI share")],
        (Metric::HumanVisitors, _) => &[(Metric::HumanVisitors, "human visitors")],
        (Metric::AiVisitors, _) => &[(Metric::AiVisitors, "AI visitors")],
        (Metric::Visitors, _) => &[(Metric::Visitors, "visitors")],
    };
    let mut part = Vec::new();
    let rows = view.app.visible_table_rows();
    if table.visible(rows).any(|row| !row.metrics.is_listed) {
        part.push(Span::styled("( ) = compared range", theme.muted));
    }
    for (metric, name) in metrics {
        let (sign, style) = bars::symbol_and_style(*metric, theme);
        part.push(Span::styled(if part.is_empty() { "" } else { "  " }, theme.muted));
        part.push(Span::styled(sign, style));
        part.push(Span::styled(format!(" {name}"), theme.muted));
    }
    if table.has_log_scale() {
        part.push(Span::styled(", log", theme.muted));
    }
    part
}

/// Returns the text about the `?` in the trend above the table; `None` if no trend is drawn there, or if all of its
/// bars are known.
fn unloaded_trend_text(view: View<'_>, width: usize) -> Option<String> {
    let views = &view.app.views;
    let trend = TrendDialog::new(views.trend_range.filter(|_| view.app.shows_trend_above_table())?);
    let has_unknown_bars = trend.bars(&views.totals).any(|bar| bar.totals.is_none());
    let key = match width >= MIN_WIDTH_WITH_TREND_KEY {
        true => format!(" (press {})", view.app.key_label(Context::Views, Action::Trend)),
        false => String::new(),
    };
    has_unknown_bars.then(|| format!("  ? {} not loaded{key}", trend.unit()))
}

/// Returns the parts about a single response of the service, that is, the rows of one request in the service's order.
/// They show which rows are listed, and whether there are more.
fn single_response_parts<'a>(view: View<'_>) -> Vec<LowerRulePart<'a>> {
    let theme = view.theme;
    let views = &view.app.views;
    let mut parts: Vec<LowerRulePart<'a>> = Vec::new();
    if view.app.filter_input().is_some() {
        let text = "the filter works once all pages are loaded";
        parts.push(needed_part(vec![Span::styled(text, theme.muted)]));
    }
    let Some(shown) = views.load().shown() else { return parts };
    let query = shown.value.query;
    let n = u64::try_from(shown.value.page.rows.len()).unwrap_or(0);
    let (first, last) = (query.offset().saturating_add(1), query.offset().saturating_add(n));
    let has_next = query.has_next(&shown.value.page);
    let which = match n {
        0 if query.page > 1 && !has_next => "beyond the last row".to_owned(),
        0 => "no rows".to_owned(),
        _ => {
            let all = page_count_estimate(view, query.range).filter(|_| has_next);
            let all = all.map(|pages| format!(" of about {}", grouped_number(pages))).unwrap_or_default();
            format!("rows {}–{}{all}", grouped_number(first), grouped_number(last))
        }
    };
    parts.push(needed_part(vec![Span::styled(which, theme.text)]));
    parts.extend(visitors_part(view));
    parts.extend(marks_part(view));
    parts
}

/// Returns about how many pages a range has, estimated from a similar range; `None` without such a range.
fn page_count_estimate(view: View<'_>, range: DateRange) -> Option<u64> {
    let EstimateBasis::Similar(SimilarRange { rows, .. }) = view.app.expected_cost(range)?.basis else { return None };
    let unit = match rows {
        ..100 => 1,
        100..1_000 => 10,
        _ => 100,
    };
    Some(u64::from(rows.div_ceil(unit) * unit))
}

/// If the visitors were loaded more than this long before the views, the load time of the visitors is shown.
const MAX_AGE_DIFFERENCE: chrono::TimeDelta = chrono::TimeDelta::minutes(5);

/// Returns a note if visitors are shown, but are not loaded, not complete or not as new as the views.
fn visitors_part<'a>(view: View<'_>) -> Option<LowerRulePart<'a>> {
    let (visitors, range) = (&view.app.views.visitors, view.app.views.query().range);
    if !visitors.is_shown() {
        return None;
    }
    if let Some(failure) = visitors.failure(range, view.now) {
        let text = format!("visitors not loaded: {}", view.app.failure_text(failure, view.now));
        return Some(needed_part(vec![Span::styled(text, view.theme.warning)]));
    }
    if visitors.is_loading(range) {
        return Some(optional_part(view, "loading visitors…".to_owned()));
    }
    let report = visitors.report(range)?;
    let is_older = view.app.views.as_of().is_some_and(|views| views - report.as_of > MAX_AGE_DIFFERENCE);
    let age = if is_older { format!(" {}", view.as_of_text(report.as_of)) } else { String::new() };
    let text = match report.is_complete() {
        true if age.is_empty() => return None,
        true => format!("visitors{age}"),
        false => format!("visitors loaded for {}{age}", plural(report.rows.len(), "page")),
    };
    Some(optional_part(view, text))
}

/// Returns the parts about a report (the loaded pages of a range). The most important part is first.
fn report_parts<'a>(view: View<'_>, width: usize) -> Vec<LowerRulePart<'a>> {
    let theme = view.theme;
    let table = &view.app.views.table;
    let warning = |text: String| needed_part(vec![Span::styled(text, theme.warning)]);
    let problem = table.filter_problem();
    let space = width.saturating_sub(MAX_POSITION_CELLS);
    let mut parts = Vec::new();
    // If the message about an invalid term of the filter is too long, it is cut rather than left out. Otherwise, the
    // user would not learn why the term has no effect.
    parts.extend(problem.map(|problem| warning(truncate(problem, space))));
    parts.extend(partial_warning(table).filter(|_| width < MIN_WIDTH_WITH_SHARE).map(warning));
    parts.extend(sum_warning(table, width).map(warning));
    if table.comparison().is_some_and(|comparison| !comparison.previous.complete) {
        let text = if width < MIN_WIDTH_WITH_SHARE { "vs partial data" } else { "compared range: partial" };
        parts.push(warning(text.to_owned()));
    }
    parts.extend(marks_part(view));
    let mut scope = if table.is_filtered() { TitleSpans::new() } else { page_count_spans(view) };
    let gap = if scope.is_empty() { "" } else { ", " };
    scope.push(Span::styled(format!("{gap}{}", sort_label(table.sorting())), theme.muted));
    parts.push(LowerRulePart { spans: scope, is_needed: false });
    parts.extend(visitors_part(view));
    if let Some(report) = table.report().filter(|report| report.duplicates > 0) {
        let rows = plural(report.duplicates, "duplicate row");
        let why = if report.responses > 1 { ": rows moved while loading" } else { "" };
        parts.push(optional_part(view, format!("{rows} merged{why}")));
    }
    parts
}

/// Returns the number of pages or, if there is a filter, of matching pages. Adds the number of pages that are gone
/// since the compared range. The pages of a partial report are called rows, because there may be more pages.
pub(super) fn page_count_spans<'a>(view: View<'_>) -> TitleSpans<'a> {
    let theme = view.theme;
    let table = &view.app.views.table;
    let (measures, all) = (table.measures(), table.rows().len());
    let unit = if table.report().is_some_and(|report| !report.complete) { "row" } else { "page" };
    if table.is_filtered() && measures.gone_count > 0 && measures.gone_count == measures.passing_count {
        let text = format!("{} without views", plural(measures.gone_count, "page"));
        return vec![Span::styled(text, theme.text)];
    }
    let text = if table.is_filtered() {
        format!(
            "{} of {}",
            format_count(measures.passing_count.saturating_sub(measures.compared_only_count)),
            plural(all, unit)
        )
    } else {
        plural(all, unit)
    };
    let mut part = vec![Span::styled(text, theme.text)];
    if measures.gone_count > 0 {
        part.push(Span::styled(format!(" + {} now at 0", format_count(measures.gone_count)), theme.muted));
    }
    part
}

fn marks_part<'a>(view: View<'_>) -> Option<LowerRulePart<'a>> {
    let (marked, hidden) = (view.app.views.table.marked_count(), view.app.views.table.hidden_marked_count());
    let text = match (marked, hidden) {
        (0, 0) => return None,
        (marked, 0) => format!("{} marked", format_count(marked)),
        (0, hidden) => format!("{} marked, hidden by the filter", format_count(hidden)),
        (marked, hidden) => format!("{} marked, {} more hidden", format_count(marked), format_count(hidden)),
    };
    Some(needed_part(vec![Span::styled(text, view.theme.mark)]))
}

fn sort_label(sorting: PageSorting) -> String {
    // Calls the share `AI share`, as the legend does. The name `AI %` is only for the heading of the narrow column.
    let name = sorting.by.name().replace(Metric::Share.name(), "AI share");
    match (sorting.by, sorting.is_descending) {
        (PageColumn::Path, true) => "sorted by path, reversed".to_owned(),
        (PageColumn::Path, false) => "sorted by path".to_owned(),
        (_, true) => format!("sorted by {name}"),
        (_, false) => format!("sorted by {name} {}", sorting.arrow()),
    }
}

/// Returns a warning if the report is partial.
fn partial_warning(table: &PageTable) -> Option<String> {
    table.report().filter(|report| !report.complete)?;
    Some(match table.measures().loaded_share {
        // Even 100% of the views may not be all pages, because some pages may have no views.
        Some(share) => format!("partial: {:.0}%", (share * 100.0).floor()),
        None => "not all pages loaded".to_owned(),
    })
}

/// Returns a warning if the rows of a complete report don't add up to the total, or if some of them have no total.
fn sum_warning(table: &PageTable, width: usize) -> Option<String> {
    let report = table.report().filter(|report| report.complete)?;
    let total = report.totals.total.value()?;
    let (sum, unread) = (table.sums().total, table.rows_without_total());
    let left_out = match unread {
        0 => String::new(),
        1 => ", 1 page without a count left out".to_owned(),
        n => format!(", {} pages without a count left out", format_count(n)),
    };
    if unread > 0 && sum.nearly_equals(total) {
        return Some(left_out.trim_start_matches(", ").to_owned());
    }
    (!sum.nearly_equals(total)).then(|| {
        let full = format!("sum of pages {} ≠ total {}{left_out}", format_views(sum), format_views(total));
        match (full.width() + 20 > width, unread) {
            (false, _) => full,
            (true, 0) if width < MIN_WIDTH_WITH_SHARE => "sum ≠ total".to_owned(),
            (true, 0) => "sum of pages ≠ total".to_owned(),
            (true, n) => format!("sum of pages ≠ total, {} without count", format_count(n)),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_metric_has_its_own_sign_in_the_legend() {
        let theme = crate::tui::draw::Theme::new(crate::tui::draw::ColorDepth::None);
        let signs = [Metric::Human, Metric::Ai, Metric::Total].map(|metric| bars::symbol_and_style(metric, &theme).0);
        assert!(signs[0] != signs[1] && signs[1] != signs[2] && signs[0] != signs[2]);
        assert!(signs.iter().all(|sign| sign.width() == 1));
    }
}
