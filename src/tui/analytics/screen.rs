//! The component of the tabs that show a report.

use super::detail::{RowContent, RowDetail, RowFunctions};
use super::draw;
use super::report_row::ReportRow;
use super::row_list::{ListTab, RowList};
use super::rows_tab::RowsTab;
use super::tab::AnalyticsTab;
use crate::model::analytics::export::RowsExport;
use crate::model::analytics::fields::{Field, HasFields, find_field};
use crate::model::export::ExportFormat;
use crate::model::text::CleanText;
use crate::tui::component::prelude::*;
use crate::tui::filter_input::FilterInput;
use crate::tui::format::{capitalized, plural, short_age_changes_at};
use crate::tui::views::cached_ranges::CachedRanges;
use crate::tui::views::calendar::{Calendar, CalendarPurpose};
use crate::tui::views::range_line::RangeNameAction;
use crate::tui::widgets::list_state::ClickedRow;
use crate::tui::widgets::table::{ListCell, Table};
use crate::tui::widgets::text_input::TextInput;
use crate::tui::{NewFile, Overwrite};
use std::marker::PhantomData;

/// The component of a tab with rows of one kind.
#[derive(Debug)]
pub(in crate::tui) struct ReportScreen<R>(PhantomData<R>);

impl<R> ReportScreen<R> {
    pub(in crate::tui) const NEW: Self = Self(PhantomData);

    pub(in crate::tui) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<R: ReportRow> Component for ReportScreen<R> {
    fn contexts(&self) -> &'static [Context] {
        &[Context::Analytics, Context::Lists, Context::Everywhere]
    }

    fn footer_label(&self, action: Action, app: &App) -> Option<FooterLabel> {
        let tab = R::tab_in(&app.analytics);
        let has_rows = tab.report().is_some_and(|report| !report.rows.is_empty());
        let is_shown = tab.selected().is_some();
        match action {
            Action::Open | Action::Mark | Action::Copy | Action::NewJob => FooterLabel::default_if(is_shown),
            Action::Filter | Action::NextSort | Action::ReverseSort | Action::Export => {
                FooterLabel::default_if(has_rows)
            }
            Action::LoadAll if tab.stop().is_some() => Some("stop loading".into()),
            Action::LoadAll if tab.is_loading() => None,
            Action::LoadAll => {
                let is_partial = tab.report().is_some_and(|report| !report.is_complete());
                FooterLabel::default_if(is_partial || !tab.partial_compared_ranges().is_empty())
            }
            Action::Compare if tab.compared_ranges().is_some() => Some("stop comparing".into()),
            Action::Compare | Action::CompareWith => FooterLabel::default_if(has_rows),
            Action::Fold => match (R::TAB, app.analytics.is_feedback_by_page) {
                (AnalyticsTab::Feedback, true) => Some("comments".into()),
                (AnalyticsTab::Feedback, false) | (AnalyticsTab::Questions, _) => Some("by page".into()),
                _ => None,
            },
            Action::Close if tab.stop().is_some() => Some("stop loading".into()),
            Action::Close => close_label(tab.list()),
            _ => Some(FooterLabel::Default),
        }
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        if handle_range_action(action, cx) {
            return Flow::Handled;
        }
        if handle_list_action(action, R::COLUMN_FIELDS, self, |app| R::tab_in_mut(&mut app.analytics), cx) {
            return Flow::Handled;
        }
        let app = &mut *cx.app;
        let tab = R::tab_in_mut(&mut app.analytics);
        match action {
            Action::Open => {
                let functions = RowFunctions {
                    content: row_content::<R>,
                    select_relative: |app, by| R::tab_in_mut(&mut app.analytics).select_relative(by),
                    start_job: App::open_new_job_about_selected_row::<R>,
                };
                RowDetail::open(functions, cx);
            }
            Action::NewJob => cx.app.open_new_job_about_rows::<R>(cx.now, cx.effects),
            Action::Compare => cx.app.compare_report::<R>(cx.now, cx.effects),
            Action::CompareWith => Calendar::open(CalendarPurpose::Compare, cx),
            Action::Fold if R::TAB == AnalyticsTab::Feedback => {
                app.analytics.is_feedback_by_page = !app.analytics.is_feedback_by_page;
            }
            Action::Fold if R::TAB == AnalyticsTab::Questions => {
                app.analytics.question_groups.switch_grouping();
                app.analytics.recount_question_groups();
            }
            Action::LoadAll => match tab.stop() {
                Some(stop) => cx.effects.push(stop),
                None => cx.app.ask_to_load_rows::<R>(cx.now),
            },
            Action::Refresh => cx.app.refresh_rows::<R>(cx.now, cx.effects),
            Action::Export => cx.effects.extend(export(tab)),
            Action::Copy => {
                let copy = tab.selected().map(|row| {
                    let lines = row.details().into_iter().filter(|(_, text)| !text.is_empty());
                    let text: Vec<String> = lines.map(|(name, text)| format!("{name}: {text}")).collect();
                    Effect::copy("the row", text.join("\n"))
                });
                cx.effects.extend(copy);
            }
            _ => return Flow::Unhandled,
        }
        Flow::Handled
    }

    /// Stops loading, or clears the marks or the filter, whichever applies first.
    fn close(&mut self, cx: &mut Cx<'_>) -> Flow {
        let tab = R::tab_in_mut(&mut cx.app.analytics);
        match tab.stop() {
            Some(stop) => {
                cx.effects.push(stop);
                Flow::Handled
            }
            None => clear_marks_or_filter(tab),
        }
    }

    fn scroll(&mut self, by: Scroll, cx: &mut Cx<'_>) {
        let rows = usize::from(cx.app.report_areas().lines.height).max(1);
        R::tab_in_mut(&mut cx.app.analytics).list_mut().state.scroll(by, rows);
    }

    fn click(&mut self, at: Position, cx: &mut Cx<'_>) -> Flow {
        let areas = cx.app.report_areas();
        if click_range_rule(R::TAB, at, areas.range, cx) {
            return Flow::Handled;
        }
        let tab = R::tab_in_mut(&mut cx.app.analytics);
        if areas.headings.contains(at) {
            let table = draw::table(R::columns(), usize::from(areas.lines.width), tab.compared_ranges().is_some());
            sort_by_heading(&table, at, tab);
        } else if tab.list_mut().state.click(areas.lines, at) == Some(ClickedRow::AlreadySelected) {
            return self.handle_action(Action::Open, cx);
        }
        Flow::Handled
    }

    /// Returns the next time at which one of the visible ages or the text about a reached limit changes.
    fn next_timer(&self, app: &App, now: Time) -> Option<Time> {
        let tab = R::tab_in(&app.analytics);
        let rows = tab.visible(usize::from(app.report_areas().lines.height));
        let ages = rows.filter_map(|(row, _)| Some(short_age_changes_at(row.age_start()?, now)));
        ages.chain(tab.failure(now).and_then(|failure| app.failure_text_changes_at(failure, now))).min()
    }

    fn position_text(&self, app: &App) -> String {
        R::tab_in(&app.analytics).list().state.position_text(usize::from(app.report_areas().lines.height))
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        draw::draw_report::<R>(frame, view, self);
    }
}

/// Returns the complete selected row.
fn row_content<R: ReportRow>(app: &App) -> Option<RowContent> {
    let tab = R::tab_in(&app.analytics);
    let row = tab.selected()?;
    Some(RowContent {
        title: capitalized(R::ROW_NAME),
        parts: row.details(),
        page: row.page(),
        conversation_id: row.conversation_id().cloned(),
        position: tab.position(),
    })
}

/// Returns the effect that writes the shown rows as CSV. What readers wrote is left out.
fn export<R: ReportRow>(tab: &RowsTab<R>) -> Option<Effect> {
    let report = tab.report()?;
    let rows: Vec<&R> = tab.rows().collect();
    let what = CleanText::line(&format!("{} (without readers' texts)", plural(rows.len(), "row")));
    let text = RowsExport::new(report, rows, false).write(ExportFormat::Csv).ok()?;
    let days = format!("{}_{}", report.range.from(), report.range.to());
    let name = format!("docdeck-{}-{days}.csv", R::KIND.name());
    Some(Effect::WriteFile(NewFile { name, text, description: what }, Overwrite::Ask))
}

/// Sorts the rows of a tab by the column whose heading was clicked.
pub(super) fn sort_by_heading<T: ListTab>(table: &Table<ListCell<T::Row>>, at: Position, tab: &mut T) {
    let column = usize::from(at.x).checked_sub(draw::table_start()).and_then(|cell| table.column_at(cell));
    if let Some(field) = column.and_then(|column| field_of_heading::<T::Row>(column.heading())) {
        tab.sort_by(field.name);
    }
}

/// Returns the field that a column shows.
pub(super) fn field_of_heading<R: HasFields>(heading: &str) -> Option<&'static Field<R>> {
    let name = match heading {
        "change  of loss" => "change",
        "down  of all" => "down",
        "comments  of all" => "comments",
        "unanswered  of all" => "unanswered",
        "clicked  of all" => "clicked",
        other => other,
    };
    find_field(name).or_else(|| match name {
        // The first column of a list of groups shows the field `name`. Its heading is the kind of group instead.
        "page" | "category" => find_field("name"),
        // The second line of the heading “never clicked”.
        "clicked" => find_field("searches"),
        _ => None,
    })
}

/// Handles the actions that all tabs with a list have in common: filtering, sorting and marking. `columns` are the
/// names of the fields that have a column. Returns false if the action is a different one.
pub(super) fn handle_list_action<T: ListTab>(
    action: Action,
    columns: &[&str],
    screen: &mut dyn Component,
    tab: impl FnOnce(&mut App) -> &mut T,
    cx: &mut Cx<'_>,
) -> bool {
    let tab = tab(cx.app);
    match action {
        Action::Filter => {
            let input = TextInput::single_line(tab.list().filter_text());
            cx.open(FilterInput { input });
        }
        Action::NextSort => tab.sort_by_next(|name| columns.contains(&name)),
        Action::ReverseSort => tab.reverse(),
        Action::Mark => {
            tab.toggle_mark();
            screen.scroll(Scroll::By(1), cx);
        }
        _ => return false,
    }
    true
}

/// Returns the label of Esc in the footer of a list.
pub(super) fn close_label<R: HasFields>(list: &RowList<R>) -> Option<FooterLabel> {
    match list.marked_count() {
        0 if list.filter_text().is_empty() => list.listed_group().map(|_| "list all".into()),
        0 => Some("clear filter".into()),
        _ => Some("unmark".into()),
    }
}

/// Clears the marks or the filter, whichever applies first. Otherwise lists the rows of all groups again.
pub(super) fn clear_marks_or_filter(tab: &mut impl ListTab) -> Flow {
    if tab.list().marked_count() > 0 {
        tab.list_mut().clear_marks();
    } else if !tab.list().filter_text().is_empty() {
        tab.set_filter("");
    } else if tab.list().listed_group().is_some() {
        tab.list_mut().limit_to_group(None);
        tab.filter_and_sort();
    } else {
        return Flow::Unhandled;
    }
    Flow::Handled
}

/// Handles an action that changes the tab or the range. Used in all tabs except the page views. Returns false if the
/// action is a different one.
pub(super) fn handle_range_action(action: Action, cx: &mut Cx<'_>) -> bool {
    let views = &mut cx.app.views;
    match action {
        Action::NextPane => cx.app.show_analytics_tab(cx.app.analytics.tab.step(1)),
        Action::PreviousPane => cx.app.show_analytics_tab(cx.app.analytics.tab.step(-1)),
        Action::NextRange => cx.effects.extend(views.switch_to_next_preset(cx.now)),
        Action::PreviousPeriod => cx.app.step_period(-1, cx.now, cx.effects),
        Action::NextPeriod => cx.app.step_period(1, cx.now, cx.effects),
        Action::CustomRange => Calendar::open(CalendarPurpose::Show, cx),
        Action::CachedRanges => CachedRanges::open(cx),
        _ => return false,
    }
    true
}

/// Handles a click on the upper rule: shows the clicked tab or range. Returns whether the click was on the rule.
pub(in crate::tui) fn click_range_rule(tab: AnalyticsTab, at: Position, rule: Rect, cx: &mut Cx<'_>) -> bool {
    if !rule.contains(at) {
        return false;
    }
    if let Some(clicked) = tab.tab_at(at, rule, cx.app.is_filtering()) {
        cx.app.show_analytics_tab(clicked);
        return true;
    }
    match cx.app.range_choice_at(usize::from(at.x), usize::from(cx.app.size.0), cx.now) {
        Some(RangeNameAction::Preset(preset)) => {
            let period = preset.period(cx.now.date_naive());
            cx.effects.extend(cx.app.views.set_period(period, Some(preset), cx.now));
        }
        Some(RangeNameAction::Custom) => Calendar::open(CalendarPurpose::Show, cx),
        Some(RangeNameAction::Next) => cx.effects.extend(cx.app.views.switch_to_next_preset(cx.now)),
        None => {}
    }
    true
}
