//! Draws a report: the tabs and the range, its numbers, and its rows.

use super::report_row::ReportRow;
use super::row_list::{ListTab, RowList, sort_arrow_points_up};
use super::rows_tab::{RowsTab, SummaryNumber};
use super::screen::field_of_heading;
use super::tab::AnalyticsTab;
use super::tab_names::tab_names;
use crate::model::Time;
use crate::model::analytics::RowsReport;
use crate::model::analytics::fields::HasFields;
use crate::model::job_state::{MARKED_SYMBOL, SELECTED_SYMBOL};
use crate::tui::component::Component;
use crate::tui::draw::boxes::draw_line;
use crate::tui::draw::list_title::filter_spans;
use crate::tui::draw::rules::draw_rule;
use crate::tui::draw::text::TextRow;
use crate::tui::draw::text::selected_line;
use crate::tui::draw::theme::Theme;
use crate::tui::format::format_views;
use crate::tui::format::{capitalized, display_width, format_count};
use crate::tui::geometry::title_area;
use crate::tui::keymap::{Action, Context};
use crate::tui::view::View;
use crate::tui::views::areas::{AboveTable, ViewsAreas};
use crate::tui::views::draw::presets::range_names_line;
use crate::tui::views::draw::table::summary_change;
use crate::tui::widgets::table::{Column, ListCell, ListRow, Table, TableCell};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

/// Minimum width of the screen at which two blanks separate a note from the time.
const MIN_WIDTH_WITH_GAP_BEFORE_TIME: usize = 60;

/// The minimum number of cells for the filter beside the range.
const MIN_FILTER_CELLS: usize = 20;
/// The blank cells between two numbers.
const NUMBER_GAP: &str = "   ";
/// The cells at the start of each row: one for the selection and one for the mark.
const MARK_CELLS: usize = 2;

pub(super) fn draw_report<R: ReportRow>(frame: &mut Frame<'_>, view: View<'_>, screen: &dyn Component) {
    let areas = view.app.report_areas();
    let tab = R::tab_in(&view.app.analytics);
    draw_range_rule(frame, view, areas.range, R::TAB);
    draw_lower_rule(frame, view, areas.lower_rule_row, tab.list(), screen.position_text(view.app));
    if draw_summary(frame, view, &areas, tab, tab.list()).is_none_or(|report| report.rows.is_empty()) {
        return;
    }
    let table = table(R::columns(), usize::from(areas.lines.width), tab.compared_ranges().is_some());
    draw_rows(frame, view, &areas, &table, tab);
}

/// Draws the summary numbers of a report and a note about the report. If no report is loaded, draws the reason instead.
/// `list` has the listed rows of the report. Returns the report, if it is loaded.
pub(super) fn draw_summary<'a, R: ReportRow, L: HasFields>(
    frame: &mut Frame<'_>,
    view: View<'_>,
    areas: &ViewsAreas,
    tab: &'a RowsTab<R>,
    list: &RowList<L>,
) -> Option<&'a RowsReport<R>> {
    let Some(report) = tab.report() else {
        let failure = tab.failure(view.now).map(|failure| view.app.failure_text(failure, view.now));
        draw_not_loaded(frame, view, failure, tab.is_loading());
        return None;
    };
    draw_line(frame, areas.totals, 0, summary_line(view, &tab.summary, areas.totals.width));
    draw_note(frame, view, areas.status, note_text(view, tab, list), Some(report.as_of));
    if report.rows.is_empty() {
        draw_placeholder(frame, areas.lines, &format!("No {} in this range.", R::KIND.label()), view.theme.muted);
    }
    Some(report)
}

/// Draws the rows of a tab below their headings.
pub(super) fn draw_rows<T: ListTab>(
    frame: &mut Frame<'_>,
    view: View<'_>,
    areas: &ViewsAreas,
    table: &Table<ListCell<T::Row>>,
    tab: &T,
) {
    let (sorted, is_ascending) = tab.list().sort_order();
    let headings = table.headings_with(|column, width| {
        let heading = column.heading();
        let is_sorted = field_of_heading::<T::Row>(heading).is_some_and(|field| field.name == sorted)
            && display_width(heading) < width;
        if !is_sorted {
            return column.heading_cell(view.theme.muted);
        }
        let arrow = if sort_arrow_points_up(sorted, is_ascending) { "↑" } else { "↓" };
        TableCell::new(format!("{heading}{arrow}"), view.theme.mark)
    });
    draw_headings(frame, areas.headings, headings);
    let rows = usize::from(areas.lines.height);
    for (n, (item, is_selected)) in tab.visible(rows).enumerate() {
        let row = ListRow { view, item, is_selected };
        let mut line = Line::from(vec![
            Span::styled(if is_selected { SELECTED_SYMBOL } else { " " }, view.theme.mark),
            Span::styled(if tab.list().is_marked(item) { MARKED_SYMBOL } else { " " }, view.theme.mark),
        ]);
        line.extend(table.line(|cell, width| cell(&row, width)).spans);
        draw_line(frame, areas.lines, n, if is_selected { selected_line(line, view.theme) } else { line });
    }
    if tab.list().is_empty() {
        let clears = view.app.key_label(Context::Analytics, Action::Close);
        draw_placeholder(frame, areas.lines, &format!("No matches. {clears} clears the filter."), view.theme.muted);
    }
}

/// Draws a line of headings above the rows.
pub(super) fn draw_headings(frame: &mut Frame<'_>, area: Rect, headings: Line<'_>) {
    let mut line = Line::from(" ".repeat(MARK_CELLS));
    line.extend(headings.spans);
    draw_line(frame, area, 0, line);
}

/// Returns the table of a tab on a screen of this width. Changes are shown if the rows are compared.
pub(super) fn table<R>(columns: Vec<Column<ListCell<R>>>, width: usize, is_compared: bool) -> Table<ListCell<R>> {
    let is_shown = |column: &Column<ListCell<R>>| is_compared || column.heading() != "change";
    Table::new(columns.into_iter().filter(is_shown), width.saturating_sub(MARK_CELLS))
}

/// Returns the column of the screen at which the tables begin.
pub(super) fn table_start() -> usize {
    MARK_CELLS
}

/// Draws the rule above a report: the tabs, the range, and the names of ranges that fit beside them. A filter takes the
/// place of these names, and of the range if there is too little space for both.
pub(super) fn draw_range_rule(frame: &mut Frame<'_>, view: View<'_>, row: Rect, tab: AnalyticsTab) {
    let View { app, theme, now, .. } = view;
    let is_filtered = app.is_filtering();
    let mut title = Line::from(tab_names(tab, view, row.width));
    let (range, mut names) = app.range_line(usize::from(row.width), now);
    let cells = usize::from(title_area(row).width);
    let space = |title: &Line<'_>| cells.saturating_sub(title.width() + 2);
    if !is_filtered {
        title.push_span(Span::styled(range, theme.title));
    } else {
        if space(&title) >= range.len() + MIN_FILTER_CELLS {
            title.push_span(Span::styled(format!("{range}  "), theme.title));
        }
        if let Some(filter) = filter_spans(view, space(&title)) {
            title.extend(filter);
        }
        names.clear();
    }
    draw_rule(frame, view, row, title, range_names_line(view, names));
}

/// Draws the rule below a report: notes on how its rows are listed or, if the filter is invalid, what is wrong with it;
/// and the position of the selected row.
pub(super) fn draw_lower_rule<L: HasFields>(
    frame: &mut Frame<'_>,
    view: View<'_>,
    row: Rect,
    list: &RowList<L>,
    position: String,
) {
    let left = match list.filter_problem() {
        Some(problem) => Line::styled(capitalized(problem), view.theme.warning),
        None => Line::styled(list.notes().collect::<Vec<_>>().join(" · "), view.theme.muted),
    };
    draw_rule(frame, view, row, left, Line::styled(position, view.theme.muted));
}

/// Draws the line below the numbers: a note about the report at the left, and the time at which it was loaded at the
/// right.
pub(super) fn draw_note(
    frame: &mut Frame<'_>,
    view: View<'_>,
    area: Rect,
    (text, is_problem): (String, bool),
    as_of: Option<Time>,
) {
    let style = if is_problem { view.theme.warning } else { view.theme.muted };
    let as_of = as_of.map(|at| view.as_of_text(at)).unwrap_or_default();
    let width = usize::from(area.width);
    let end = width.saturating_sub(display_width(&as_of) + 1);
    let mut row = TextRow::new(width);
    row.push(" ", style);
    // With a single blank before it, the time reads like a part of the note, but a narrow screen has no space for two.
    let gap = if width < MIN_WIDTH_WITH_GAP_BEFORE_TIME { 1 } else { 2 };
    row.push_left_aligned(&text, end.saturating_sub(1 + gap), style);
    if !text.is_empty() || end > row.used_cells() {
        row.pad_to(end).push(as_of, view.theme.muted);
    }
    draw_line(frame, area, 0, row.line());
}

/// Returns the line with the numbers of a report.
pub(super) fn summary_line<'a>(view: View<'_>, numbers: &[SummaryNumber], width: u16) -> Line<'a> {
    let change =
        |number: &SummaryNumber| number.change.map(|change| format!(" {}", summary_change(change))).unwrap_or_default();
    let texts = numbers.iter().map(|number| (number.name, format_views(number.value), change(number)));
    numbers_line(view.theme, texts.collect(), width)
}

/// Returns a line of numbers with their names, as many as fit completely, but at least one. The changes are shown only
/// if all numbers fit with their changes.
pub(super) fn numbers_line<'a>(theme: &Theme, numbers: Vec<(&'static str, String, String)>, width: u16) -> Line<'a> {
    let cells = |(name, number, change): &(&str, String, String)| {
        NUMBER_GAP.len() + name.len() + 1 + display_width(number) + display_width(change)
    };
    let shows_changes = numbers.iter().map(cells).sum::<usize>() < usize::from(width);
    let mut row = TextRow::new(usize::from(width));
    for (n, (name, number, change)) in numbers.into_iter().enumerate() {
        let gap = if n == 0 { " " } else { NUMBER_GAP };
        if n > 0 && gap.len() + name.len() + 1 + display_width(&number) >= row.remaining_cells() {
            break;
        }
        row.push(gap, theme.text).push(name, theme.muted).push(" ", theme.muted);
        row.push(number, theme.text.add_modifier(Modifier::BOLD));
        row.push(if shows_changes { change } else { String::new() }, theme.muted);
    }
    row.line()
}

/// Returns the note about a report, and whether the note states a problem.
fn note_text<R: ReportRow, L: HasFields>(view: View<'_>, tab: &RowsTab<R>, list: &RowList<L>) -> (String, bool) {
    let key = |action| view.app.key_label(Context::Analytics, action);
    if list.needs_comparison() && !tab.is_comparison_complete() {
        let text = format!("“new” needs a comparison: press {} to compare", key(Action::Compare));
        return (text, true);
    }
    if let Some(progress) = tab.progress() {
        let rows = format_count(progress.rows);
        return (format!("loading: {rows} rows so far, {} stops", key(Action::Close)), false);
    }
    let Some(report) = tab.report() else { return (String::new(), false) };
    if let Some(failure) = tab.failure(view.now) {
        return (format!("Not updated. {}", view.app.failure_text(failure, view.now)), true);
    }
    if tab.is_loading() {
        return ("loading…".to_owned(), false);
    }
    let mut parts = Vec::new();
    if !report.is_complete() {
        parts.push(format!("first {} rows, {} loads the rest", format_count(report.rows.len()), key(Action::LoadAll)));
    } else if report.has_unavailable_rows {
        parts.push(format!("the service offers only {} rows", format_count(report.rows.len())));
    }
    if let Some((ranges, shown)) = tab.compared_ranges().zip(tab.range()) {
        // The counts come first, because the end of the note is cut off on a narrow screen.
        let counts = tab.new_and_gone_counts().filter(|_| R::IS_COMPARED);
        parts.extend(counts.map(|(new, gone)| format!("{} new, {} gone", format_count(new), format_count(gone))));
        let in_part = if tab.is_comparison_partial() {
            format!(" (partial: {} loads the rest)", key(Action::LoadAll))
        } else {
            String::new()
        };
        let days = ranges.day_counts_text().map(|days| format!("per day, {days}"));
        let label = days.unwrap_or_else(|| ranges.short_label(shown));
        let state = if tab.compared_reports().is_some() { "" } else { " (not loaded yet)" };
        parts.push(format!("change: {label}{in_part}{state}"));
    }
    (parts.join(" · "), false)
}

/// Draws the text that is shown instead of a report until one is loaded.
pub(super) fn draw_not_loaded(frame: &mut Frame<'_>, view: View<'_>, failure: Option<String>, is_loading: bool) {
    let theme = view.theme;
    let refresh = view.app.key_label(Context::Analytics, Action::Refresh);
    let (text, style) = match (failure, is_loading) {
        (Some(failure), _) => (format!("Not loaded. {failure} Press {refresh} to try again."), theme.warning),
        (None, true) => ("Loading…".to_owned(), theme.muted),
        (None, false) => (format!("Not loaded. Press {refresh} to load it."), theme.muted),
    };
    let content = view.app.geometry().content;
    let below = Rect { y: content.y + 1, height: content.height.saturating_sub(1), ..content };
    draw_placeholder(frame, below, &text, style);
}

/// Draws a sentence instead of rows.
pub(super) fn draw_placeholder(frame: &mut Frame<'_>, area: Rect, text: &str, style: Style) {
    let inner = Rect { x: area.x + 2, width: area.width.saturating_sub(4), ..area };
    frame.render_widget(Paragraph::new(Line::styled(text, style)).wrap(Wrap { trim: true }), inner);
}

impl crate::tui::App {
    /// Returns the areas of a tab without a trend: every tab except the page views.
    pub(super) fn report_areas(&self) -> ViewsAreas {
        ViewsAreas::new(self.geometry().body, AboveTable::Nothing)
    }
}
