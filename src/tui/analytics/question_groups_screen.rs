//! The component of the questions tab while the questions are counted by page or by category.
//!
//! ```text
//!    page                        questions    change  unanswered  share  0 ──── 100%  last asked
//! ▌  /guides/preview-deployments        20     ▲ 25%           9    45%  █████▍               2h
//! ```

use super::columns::MAX_TEXT_CELLS;
use super::draw;
use super::question_groups::{Grouping, QuestionGroup};
use super::row_list::ListTab;
use super::screen::{
    ReportScreen, clear_marks_or_filter, click_range_rule, close_label, handle_list_action, handle_range_action,
    sort_by_heading,
};
use super::tab::AnalyticsTab;
use crate::model::analytics::Question;
use crate::tui::component::prelude::*;
use crate::tui::draw::bars::{fraction_bar, linear_scale_line};
use crate::tui::format::{format_views, short_age, short_age_changes_at, truncate_path};
use crate::tui::views::columns::PERCENT_CHANGE_WIDTH;
use crate::tui::views::draw::table::percent_change_text;
use crate::tui::widgets::list_state::ClickedRow;
use crate::tui::widgets::table::{Column, ListCell, Table, TableCell};

const BAR_CELLS: usize = 14;
/// The names of the fields that have a column.
const COLUMN_FIELDS: [&str; 5] = ["name", "questions", "unanswered", "share", "last"];

/// The component of the questions tab while the questions are counted by page or by category.
#[derive(Debug)]
pub(in crate::tui) struct QuestionGroupsScreen;

impl Component for QuestionGroupsScreen {
    fn contexts(&self) -> &'static [Context] {
        &[Context::Analytics, Context::Lists, Context::Everywhere]
    }

    fn footer_label(&self, action: Action, app: &App) -> Option<FooterLabel> {
        let groups = &app.analytics.question_groups;
        let is_shown = groups.selected().is_some();
        match action {
            Action::Open => is_shown.then(|| "show questions".into()),
            Action::Mark | Action::Copy | Action::NewJob => FooterLabel::default_if(is_shown),
            Action::Export => None,
            Action::Fold => Some(match groups.grouping() {
                Some(Grouping::Page) => "by category".into(),
                _ => "ungroup".into(),
            }),
            Action::Close if app.analytics.questions.stop().is_none() => close_label(groups.list()),
            _ => ReportScreen::<Question>::new().footer_label(action, app),
        }
    }

    fn handle_action(&mut self, action: Action, cx: &mut Cx<'_>) -> Flow {
        if handle_range_action(action, cx)
            || handle_list_action(action, &COLUMN_FIELDS, self, |app| &mut app.analytics.question_groups, cx)
        {
            return Flow::Handled;
        }
        match action {
            Action::Open => cx.app.list_questions_of_group(),
            Action::NewJob => cx.app.open_new_job_about_question_groups(cx.now, cx.effects),
            Action::Copy => {
                let name = cx.app.analytics.question_groups.selected().map(|group| group.name.to_string());
                cx.effects.extend(name.map(|name| Effect::copy(&name, name.clone())));
            }
            Action::Export => return Flow::Unhandled,
            _ => return ReportScreen::<Question>::new().handle_action(action, cx),
        }
        Flow::Handled
    }

    fn close(&mut self, cx: &mut Cx<'_>) -> Flow {
        match cx.app.analytics.questions.stop() {
            Some(stop) => {
                cx.effects.push(stop);
                Flow::Handled
            }
            None => clear_marks_or_filter(&mut cx.app.analytics.question_groups),
        }
    }

    fn scroll(&mut self, by: Scroll, cx: &mut Cx<'_>) {
        let rows = usize::from(cx.app.report_areas().lines.height).max(1);
        cx.app.analytics.question_groups.list_mut().state.scroll(by, rows);
    }

    fn click(&mut self, at: Position, cx: &mut Cx<'_>) -> Flow {
        let areas = cx.app.report_areas();
        if click_range_rule(AnalyticsTab::Questions, at, areas.range, cx) {
            return Flow::Handled;
        }
        let is_compared = cx.app.analytics.questions.compared_ranges().is_some();
        let groups = &mut cx.app.analytics.question_groups;
        if areas.headings.contains(at) {
            sort_by_heading(&table(groups.grouping(), usize::from(areas.lines.width), is_compared), at, groups);
        } else if groups.list_mut().state.click(areas.lines, at) == Some(ClickedRow::AlreadySelected) {
            return self.handle_action(Action::Open, cx);
        }
        Flow::Handled
    }

    /// Returns the next time at which one of the visible ages or the text about a reached limit changes.
    fn next_timer(&self, app: &App, now: Time) -> Option<Time> {
        let groups = app.analytics.question_groups.visible(usize::from(app.report_areas().lines.height));
        let ages = groups.filter_map(|(group, _)| Some(short_age_changes_at(group.last_asked_at?, now)));
        let failure = app.analytics.questions.failure(now);
        ages.chain(failure.and_then(|failure| app.failure_text_changes_at(failure, now))).min()
    }

    fn position_text(&self, app: &App) -> String {
        let rows = usize::from(app.report_areas().lines.height);
        app.analytics.question_groups.list().state.position_text(rows)
    }

    fn draw(&self, frame: &mut Frame<'_>, view: View<'_>) {
        let areas = view.app.report_areas();
        let (questions, groups) = (&view.app.analytics.questions, &view.app.analytics.question_groups);
        draw::draw_range_rule(frame, view, areas.range, AnalyticsTab::Questions);
        draw::draw_lower_rule(frame, view, areas.lower_rule_row, groups.list(), self.position_text(view.app));
        if let Some(report) = draw::draw_summary(frame, view, &areas, questions, groups.list())
            && !report.rows.is_empty()
        {
            let is_compared = questions.compared_ranges().is_some();
            let table = table(groups.grouping(), usize::from(areas.lines.width), is_compared);
            draw::draw_rows(frame, view, &areas, &table, groups);
        }
    }
}

fn table(grouping: Option<Grouping>, width: usize, is_compared: bool) -> Table<ListCell<QuestionGroup>> {
    type C = Column<ListCell<QuestionGroup>>;
    let columns = vec![
        C::flexible(grouping.unwrap_or(Grouping::Page).word(), 20, |row, width| match row.item.name.as_str() {
            "" => row.muted_cell("(none)"),
            name => row.cell(truncate_path(name, width.saturating_sub(1))),
        })
        .with_max_width(MAX_TEXT_CELLS),
        C::right_aligned("questions", 11, |row, _| row.cell(format_views(row.item.questions.into()))),
        C::right_aligned("change", PERCENT_CHANGE_WIDTH, |row, _| match row.item.change {
            Some(change) => row.cell(percent_change_text(change)),
            None => row.muted_cell("–"),
        }),
        C::right_aligned("unanswered", 12, |row, _| row.cell(format_views(row.item.unanswered.into()))),
        C::right_aligned("share", 7, |row, _| match row.item.unanswered_share() {
            Some(share) => row.cell(format!("{:.0}%", share * 100.0)),
            None => row.muted_cell("–"),
        }),
        C::left_aligned(linear_scale_line("100%", BAR_CELLS), BAR_CELLS, |row, width| {
            let theme = row.view.theme;
            let share = row.item.unanswered_share().unwrap_or_default();
            TableCell::Spans(fraction_bar(share, width, theme.warning, theme))
        })
        .with_gap_before(2)
        .optional(2),
        C::right_aligned("last asked", 11, |row, _| match row.item.last_asked_at {
            Some(at) => row.muted_cell(short_age(row.view.now - at)),
            None => row.muted_cell("–"),
        })
        .optional(1),
        C::left_aligned("", 1, |row, _| row.cell("")),
    ];
    draw::table(columns, width, is_compared)
}
