//! The page views screen: its shortcuts, clicks and timers. Its data is in [`App::views`], because dialogs and messages
//! use it while other screens are shown.

use super::cached_ranges::CachedRanges;
use super::calendar::{Calendar, CalendarPurpose};
use super::columns::page_table;
use super::draw;
use super::export::ExportDialog;
use super::movers::Movers;
use super::page_detail::PageDetail;
use super::range_line::RangeNameAction;
use super::table::{Metric, PageSorting, PageTable};
use super::trend::TrendDialog;
use crate::tui::analytics::AnalyticsTab;
use crate::tui::component::prelude::*;
use crate::tui::filter_input::FilterInput;
use crate::tui::format::position_text;
use crate::tui::input_dialog::InputField;
use crate::tui::widgets::list_state::line_at;
use crate::tui::widgets::scroll::page_step;
use crate::tui::widgets::text_input::TextInput;

#[derive(Debug)]
pub(in crate::tui) struct ViewsScreen;

impl Component for ViewsScreen {
    fn contexts(&self) -> &'static [Context] {
        &[Context::Views, Context::Lists, Context::Everywhere]
    }

    fn footer_label(&self, action: Action, app: &App) -> Option<FooterLabel> {
        is_shown_in_footer(action, app).then(|| label(action, app).map_or(FooterLabel::Default, FooterLabel::from))
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        let views = &mut cx.app.views;
        match action {
            Action::NextPage if views.table.is_tree() => views.table.enter_folder(),
            Action::PreviousPage if views.table.is_tree() => views.table.leave_folder(),
            Action::NextPage => cx.effects.extend(views.turn_page(true)),
            Action::PreviousPage => cx.effects.extend(views.turn_page(false)),
            Action::NextPane => cx.app.show_analytics_tab(AnalyticsTab::Pages.step(1)),
            Action::PreviousPane => cx.app.show_analytics_tab(AnalyticsTab::Pages.step(-1)),
            Action::NextRange => cx.effects.extend(views.switch_to_next_preset(cx.now)),
            Action::PreviousPeriod => cx.app.step_period(-1, cx.now, cx.effects),
            Action::NextPeriod => cx.app.step_period(1, cx.now, cx.effects),
            Action::JumpToPage if views.table.report().is_some() => {
                cx.notify(Severity::Info, "All pages are in one list. Press g for the first, G for the last.");
            }
            Action::JumpToPage => cx.app.open_input(InputField::RowBlock, ""),
            Action::PageSize => cx.app.open_input(InputField::PageSize, ""),
            Action::CustomRange => Calendar::open(CalendarPurpose::Show, cx),
            Action::LoadAll => match load_all_includes_visitors(cx.app) {
                true => cx.app.ask_to_load_visitors(cx.now),
                false => cx.app.load_all_or_stop(cx.now, cx.effects),
            },
            Action::Compare => cx.app.toggle_comparison(cx.now, cx.effects),
            Action::CompareWith => Calendar::open(CalendarPurpose::Compare, cx),
            Action::Trend => TrendDialog::open(cx),
            Action::Visitors => cx.app.toggle_visitors(cx.now),
            Action::Movers => Movers::open(cx),
            Action::NewJob => cx.app.open_new_job_about_pages(cx.now, cx.effects),
            Action::Open => {
                if !views.table.toggle_folder()
                    && let Some(path) = views.selected_row().map(|row| row.path.clone())
                {
                    PageDetail::open(path, cx);
                }
            }
            Action::Export => ExportDialog::open(cx),
            Action::CachedRanges => CachedRanges::open(cx),
            Action::Refresh => {
                let dialogs = cx.app.dialogs.len();
                cx.app.refresh_views(cx.now, cx.effects);
                // If a dialog was opened to ask the user, nothing is requested yet.
                if cx.app.dialogs.len() == dialogs {
                    cx.app.refresh_visitors(cx.effects);
                }
            }
            Action::Copy => {
                let row = views.selected_row();
                let copy = row.map(|row| Effect::copy(&format!("the path {}", row.path), row.path.to_string()));
                cx.effects.extend(copy);
            }
            _ => return apply_table_action(action, cx),
        }
        Flow::Handled
    }

    /// Stops loading, or clears the marks or the filter, whichever applies first.
    fn close(&mut self, cx: &mut Cx<'_>) -> Flow {
        if cx.app.views.all_pages.can_stop() {
            cx.app.stop_loading(cx.effects);
            return Flow::Handled;
        }
        if cx.app.stop_loading_visitors(cx.effects) {
            return Flow::Handled;
        }
        let marks = cx.app.views.table.marked_count();
        if cx.app.warn_once_before_clearing_marks(marks, cx.now) {
            return Flow::Handled;
        }
        let table = &mut cx.app.views.table;
        if marks > 0 {
            table.clear_marks();
        } else if table.is_filtered() {
            table.set_filter("");
        } else {
            return Flow::Unhandled;
        }
        Flow::Handled
    }

    fn scroll(&mut self, by: Scroll, cx: &mut Cx<'_>) {
        let rows = cx.app.visible_table_rows();
        let table = &mut cx.app.views.table;
        match by {
            Scroll::By(n) => table.move_by(n),
            Scroll::Page(n) => table.move_by(n.saturating_mul(page_step(rows))),
            Scroll::Top => table.select_first_or_last_line(false),
            Scroll::Bottom => table.select_first_or_last_line(true),
        }
    }

    fn click(&mut self, at: Position, cx: &mut Cx<'_>) -> Flow {
        let areas = cx.app.views_areas();
        if areas.range.contains(at) {
            match AnalyticsTab::Pages.tab_at(at, areas.range, cx.app.is_filtering()) {
                Some(tab) => cx.app.show_analytics_tab(tab),
                None => click_range(usize::from(at.x), cx),
            }
            return Flow::Handled;
        }
        // There is no table until page views are loaded.
        if cx.app.views.as_of().is_none() {
            return Flow::Handled;
        }
        if areas.headings.contains(at) {
            sort_by_clicked_column(usize::from(at.x), cx);
        } else if let Some(line) = line_at(areas.lines, at) {
            if cx.app.views.table.is_visible_line_selected(line) {
                cx.app.close_filter_input();
                run(Action::Open, cx);
            } else {
                cx.app.views.table.select_visible(line);
            }
        }
        Flow::Handled
    }

    fn scroll_with_wheel(&mut self, _at: Position, by: isize, cx: &mut Cx<'_>) {
        let rows = cx.app.visible_table_rows();
        cx.app.views.table.scroll_by(by, rows);
    }

    /// Returns the next time at which a text about a reached limit changes; `None` if no limit is reached.
    fn next_timer(&self, app: &App, now: Time) -> Option<Time> {
        let visitors = &app.views.visitors;
        let of_visitors = visitors.failure(app.views.query().range, now).filter(|_| visitors.is_shown());
        let failures = app.views.load_failure(now).into_iter().chain(of_visitors);
        failures.filter_map(|failure| app.failure_text_changes_at(failure, now)).min()
    }

    fn position_text(&self, app: &App) -> String {
        let (table, rows) = (&app.views.table, app.visible_table_rows());
        if table.is_empty() {
            return String::new();
        }
        position_text(table.selected(), table.len(), table.len().saturating_sub(table.top() + rows))
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        draw::draw(frame, view);
    }
}

/// Whether “load all” would load visitors. This is so if all pages are loaded, but not all of their visitors.
fn load_all_includes_visitors(app: &App) -> bool {
    let (views, range) = (&app.views, app.views.query().range);
    let is_complete = views.all_pages.complete_report(range).is_some() && !views.all_pages.can_stop();
    is_complete && app.can_load_more_visitors() && !views.visitors.is_loading(range)
}

/// Whether the footer offers an action now.
fn is_shown_in_footer(action: Action, app: &App) -> bool {
    let (views, table) = (&app.views, &app.views.table);
    let has_pages = !table.rows().is_empty() || table.compared_only_count() > 0;
    match action {
        Action::NextSort | Action::ReverseSort | Action::Fold => table.lists_report() && has_pages,
        Action::Filter => table.lists_report() && has_pages || table.is_filtered(),
        Action::LogScale => !table.rows().is_empty() && table.metric() != Metric::Share,
        Action::Metric | Action::Visitors => !table.rows().is_empty(),
        Action::Mark | Action::MarkRange | Action::Open => !table.is_empty(),
        Action::NewJob => table.selected_folder().is_none() && !table.is_empty() || table.marked_count() > 0,
        Action::Copy => table.selected_row().is_some(),
        Action::NextPage if table.is_tree() => table.selected_folder().is_some(),
        Action::PreviousPage if table.is_tree() => table.can_leave_folder(),
        // A report lists all pages at once, so it has no next page of rows.
        Action::NextPage => !table.lists_report() && views.has_next(),
        Action::PreviousPage => !table.lists_report() && views.query().page > 1,
        Action::JumpToPage => table.report().is_none(),
        // Without requests left, the footer leaves out the key, although pressing it would still show a notice.
        Action::LoadAll => {
            let (all, range) = (&views.all_pages, views.query().range);
            all.can_stop()
                || load_all_includes_visitors(app)
                || app.view_requests_left() > 0
                    && (all.complete_report(range).is_none() || all.rows_of_interrupted_load(range).is_some())
        }
        Action::Close => {
            views.all_pages.can_stop()
                || app.can_stop_loading_visitors()
                || table.marked_count() > 0
                || table.is_filtered()
        }
        Action::Compare => views.as_of().is_some(),
        Action::Movers => has_pages && views.is_comparing(),
        _ => true,
    }
}

/// Returns the label of an action whose label depends on the state.
fn label(action: Action, app: &App) -> Option<&'static str> {
    let table: &PageTable = &app.views.table;
    let is_open = table.selected_folder().map(|folder| folder.is_open);
    match action {
        Action::Open | Action::NextPage if is_open == Some(false) => Some("open folder"),
        Action::Open | Action::PreviousPage if is_open == Some(true) => Some("close folder"),
        Action::NextPage if is_open.is_some() => Some("enter folder"),
        Action::PreviousPage if table.is_tree() => Some("parent"),
        Action::Fold if table.is_tree() => Some("list"),
        Action::LogScale if table.has_log_scale() => Some("linear"),
        Action::NewJob if table.marked_count() > 0 => Some("job about marked"),
        Action::LoadAll if load_all_includes_visitors(app) => Some("load visitors"),
        Action::LoadAll => Some(app.load_all_label()),
        Action::Compare if app.views.is_comparing() => Some("stop comparing"),
        Action::Visitors if table.has_visitors() => Some("hide visitors"),
        Action::Close if app.views.all_pages.can_stop() || app.can_stop_loading_visitors() => Some("stop loading"),
        Action::Close if table.marked_count() > 0 => Some("unmark"),
        Action::Close if table.is_filtered() => Some("clear filter"),
        _ => None,
    }
}

/// Runs an action, as its shortcut does.
fn run(action: Action, cx: &mut Cx<'_>) {
    cx.app.run_action(action, cx.now, cx.effects);
}

/// Handles an action that changes how the pages are listed. If the action needs all pages and no report is listed,
/// loads all pages first, which may cost requests.
fn apply_table_action(action: Action, cx: &mut Cx<'_>) -> Flow {
    if why_all_pages_are_needed(action).is_some() && !cx.app.views.table.lists_report() {
        cx.app.load_all_then(action, cx.now, cx.effects);
        return Flow::Handled;
    }
    let table = &mut cx.app.views.table;
    let sorting = table.sorting();
    match action {
        Action::NextSort => {
            table.sort(PageSorting::by(sorting.by.next(table.comparison().is_some(), table.has_visitors())))
        }
        Action::ReverseSort => table.sort(PageSorting { is_descending: !sorting.is_descending, ..sorting }),
        Action::Fold => table.toggle_tree(),
        Action::Metric => table.set_metric(table.metric().next(table.has_visitors())),
        Action::LogScale if table.metric() == Metric::Share => {
            let metric = cx.app.key_label(Context::Views, Action::Metric);
            cx.notify(Severity::Info, &format!("Shares are always drawn from 0 to 100%; {metric} changes the metric."));
        }
        Action::LogScale => table.toggle_log_scale(),
        Action::Mark => table.toggle_mark(),
        Action::MarkRange => table.mark_range(),
        Action::Filter => {
            let input = TextInput::single_line(table.filter_text());
            cx.open(FilterInput { input });
        }
        _ => return Flow::Unhandled,
    }
    Flow::Handled
}

/// Handles a click on the names beside the range: applies the clicked preset or the next preset, or opens the calendar
/// for a custom range.
fn click_range(cell: usize, cx: &mut Cx<'_>) {
    let choice = cx.app.range_choice_at(cell, usize::from(cx.app.size.0), cx.now);
    if choice.is_some() {
        cx.app.close_filter_input();
    }
    match choice {
        Some(RangeNameAction::Preset(preset)) => {
            let period = preset.period(cx.now.date_naive());
            cx.effects.extend(cx.app.views.set_period(period, Some(preset), cx.now));
        }
        Some(RangeNameAction::Custom) => run(Action::CustomRange, cx),
        Some(RangeNameAction::Next) => run(Action::NextRange, cx),
        None => {}
    }
}

/// Sorts by the clicked column or, if the pages are already sorted by it, reverses the order.
fn sort_by_clicked_column(cell: usize, cx: &mut Cx<'_>) {
    let table = &cx.app.views.table;
    let columns = page_table(&cx.app.views, usize::from(cx.app.size.0));
    let Some(by) = columns.key_at(cell).and_then(|column| column.sort_column(table.metric())) else { return };
    if !table.lists_report() {
        // Only a report can be sorted, so the action asks whether to load all pages.
        apply_table_action(Action::NextSort, cx);
        return;
    }
    let current = table.sorting();
    let reversed = PageSorting { is_descending: !current.is_descending, ..current };
    cx.app.views.table.sort(if current.by == by { reversed } else { PageSorting::by(by) });
}

/// Returns why all pages of the range have to be loaded before an action; `None` for other actions.
pub(super) fn why_all_pages_are_needed(action: Action) -> Option<&'static str> {
    match action {
        Action::NextSort | Action::ReverseSort => Some("Sorting needs all pages."),
        Action::Filter => Some("Filtering needs all pages."),
        Action::Fold => Some("The tree needs all pages."),
        _ => None,
    }
}
