//! The columns of the reports, without the marks at the start of each row.

use super::report_row::ReportRow;
use crate::model::analytics::{Feedback, FeedbackStatus, PageFeedback, Question, Search};
use crate::model::views::{Count, DecimalCount};
use crate::tui::draw::bars::{bar_cells, fraction_bar, linear_scale_line};
use crate::tui::format::{count_text, short_age, truncate_path};
use crate::tui::views::columns::PERCENT_CHANGE_WIDTH;
use crate::tui::views::draw::change::ChangeWeight;
use crate::tui::views::draw::table::percent_change_text;
use crate::tui::widgets::table::{Column, ListCell, ListRow, TableCell};
use ratatui::style::Style;
use ratatui::text::Span;

/// The maximum width of the column with a text or path, in a table whose other columns are mostly numbers.
pub(in crate::tui) const MAX_TEXT_CELLS: usize = 60;
/// The width of a path beside a text, unless the text leaves space for a wider one.
const PATH_CELLS: usize = 22;
/// The maximum width of a path beside a text.
const MAX_PATH_CELLS: usize = 36;
const BAR_CELLS: usize = 10;

/// Formats a share, 0 to 1, as a percentage; `None` if it is not a number.
pub(super) fn percent(share: &Count) -> Option<String> {
    let percent = share.signed_value()?.as_f64() * 100.0;
    Some(if percent > 0.0 && percent < 9.95 { format!("{percent:.1}%") } else { format!("{percent:.0}%") })
}

fn age<'a, R>(row: &ListRow<'a, R>, time: Option<crate::model::Time>) -> TableCell<'a> {
    row.muted_cell(time.map_or_else(|| "–".to_owned(), |time| short_age(row.view.now - time)))
}

fn path<'a, R>(row: &ListRow<'a, R>, path: Option<&str>, width: usize) -> TableCell<'a> {
    match path {
        Some(path) => row.cell(truncate_path(path, width.saturating_sub(1))),
        None => row.muted_cell("–"),
    }
}

pub(super) fn columns_of_searches() -> Vec<Column<ListCell<Search>>> {
    type C = Column<ListCell<Search>>;
    vec![
        C::flexible("query", 16, |row, _| row.cell(row.item.query.as_str().to_owned())).with_max_width(MAX_TEXT_CELLS),
        C::right_aligned("searches", 10, |row, _| row.cell(count_text(&row.item.hits))),
        C::right_aligned("change", PERCENT_CHANGE_WIDTH, change).optional(1),
        C::right_aligned("clicked", 9, |row, _| {
            let style = if row.item.is_unclicked() { row.view.theme.warning } else { row.view.theme.text };
            TableCell::new(percent(&row.item.click_rate).unwrap_or_else(|| "–".to_owned()), style)
        }),
        C::left_aligned(linear_scale_line("100%", BAR_CELLS), BAR_CELLS, |row, _| {
            let (share, theme) = (row.item.click_rate.value().map_or(0.0, DecimalCount::as_f64), row.view.theme);
            TableCell::Spans(fraction_bar(share, BAR_CELLS, theme.human, theme))
        })
        .with_gap_before(2)
        .optional(3),
        C::left_aligned("most clicked page", PATH_CELLS, |row, width| {
            path(row, row.item.top_page.as_ref().map(|page| page.as_str()), width)
        })
        .with_max_width(MAX_PATH_CELLS)
        .with_gap_before(2)
        .optional(2),
        C::right_aligned("last searched", 15, |row, _| age(row, row.item.last_searched_at)).optional(4),
        C::left_aligned("", 1, |row, _| row.cell("")),
    ]
}

/// Returns the change from the previous period; blank if nothing is compared. The change has no colour, because more
/// searches, for example, are neither good nor bad.
fn change<'a, R: ReportRow>(row: &ListRow<'a, R>, _width: usize) -> TableCell<'a> {
    let theme = row.view.theme;
    let Some(change) = R::tab_in(&row.view.app.analytics).change(row.item) else { return row.cell("") };
    let is_small = ChangeWeight::of(change, DecimalCount::ZERO) == ChangeWeight::Small;
    TableCell::new(percent_change_text(change), if is_small { theme.muted } else { theme.text })
}

fn status_style(row: &ListRow<'_, Feedback>) -> Style {
    match row.item.status {
        FeedbackStatus::Pending => row.view.theme.text,
        FeedbackStatus::InProgress => row.view.theme.working,
        FeedbackStatus::Resolved | FeedbackStatus::Dismissed | FeedbackStatus::Other(_) => row.view.theme.muted,
    }
}

pub(super) fn columns_of_feedback() -> Vec<Column<ListCell<Feedback>>> {
    type C = Column<ListCell<Feedback>>;
    vec![
        C::right_aligned("age", 4, |row, _| age(row, row.item.created_at)).optional(3),
        C::left_aligned("type", 13, |row, _| match row.item.helpful {
            Some(true) => TableCell::new("thumbs up", row.view.theme.good),
            Some(false) => TableCell::new("thumbs down", row.view.theme.bad),
            None => row.muted_cell("code sample"),
        })
        .with_gap_before(2),
        C::left_aligned("status", 13, |row, _| TableCell::new(row.item.status.label().to_owned(), status_style(row)))
            .optional(2),
        C::left_aligned("page", PATH_CELLS, |row, width| path(row, Some(row.item.path.as_str()), width))
            .with_max_width(MAX_PATH_CELLS)
            .optional(1),
        C::flexible("comment", 16, |row, _| match &row.item.comment {
            Some(comment) => row.cell(comment.as_str().lines().collect::<Vec<_>>().join(" ")),
            None => row.muted_cell("–"),
        })
        .with_gap_before(1),
        C::left_aligned("", 1, |row, _| row.cell("")),
    ]
}

/// The width of each half of a diverging bar.
const HALF_BAR_CELLS: usize = 12;
/// The heading of a diverging bar: the names of its halves, left and right of their axis.
const VOTES_HEADING: &str = "       down │ up";

pub(super) fn columns_of_page_feedback() -> Vec<Column<ListCell<PageFeedback>>> {
    type C = Column<ListCell<PageFeedback>>;
    vec![
        C::flexible("page", 16, |row, width| path(row, Some(row.item.path.as_str()), width))
            .with_max_width(MAX_TEXT_CELLS),
        C::right_aligned("down", 7, |row, _| row.cell(count_text(&row.item.thumbs_down))),
        C::right_aligned("change", PERCENT_CHANGE_WIDTH, change).optional(1),
        C::right_aligned("up", 7, |row, _| row.cell(count_text(&row.item.thumbs_up))),
        C::right_aligned("code samples", 14, |row, _| row.cell(count_text(&row.item.code))).optional(3),
        C::left_aligned(VOTES_HEADING, 2 * HALF_BAR_CELLS + 1, votes).with_gap_before(2).optional(2),
        C::left_aligned("", 1, |row, _| row.cell("")),
    ]
}

/// Returns a bar to the left for thumbs down and one to the right for thumbs up. All pages have the same scale.
fn votes<'a>(row: &ListRow<'a, PageFeedback>, _width: usize) -> TableCell<'a> {
    let theme = row.view.theme;
    let full = row.view.app.analytics.feedback_by_page.bar_maximum;
    let cells = |count: &Count| bar_cells(count.value().unwrap_or_default(), full, HALF_BAR_CELLS);
    let (left, right) = (cells(&row.item.thumbs_down), cells(&row.item.thumbs_up));
    TableCell::Spans(vec![
        Span::raw(" ".repeat(HALF_BAR_CELLS.saturating_sub(left))),
        Span::styled("▒".repeat(left), theme.bad),
        Span::styled("│", theme.border),
        Span::styled("█".repeat(right), theme.good),
    ])
}

pub(super) fn columns_of_questions() -> Vec<Column<ListCell<Question>>> {
    type C = Column<ListCell<Question>>;
    vec![
        C::right_aligned("age", 4, |row, _| age(row, row.item.asked_at)).optional(3),
        C::left_aligned("status", 12, |row, _| match row.item.is_answered {
            Some(false) => TableCell::new("unanswered", row.view.theme.warning),
            Some(true) => row.muted_cell("answered"),
            None => row.muted_cell("–"),
        })
        .with_gap_before(2),
        C::flexible("question", 28, |row, _| row.cell(row.item.query.as_str().to_owned())),
        C::left_aligned("page", PATH_CELLS, |row, width| {
            let about = row.item.subject_page();
            path(row, about.as_deref(), width)
        })
        .with_max_width(MAX_PATH_CELLS)
        .with_gap_before(2)
        .optional(1),
        C::left_aligned("category", 16, |row, _| match &row.item.category {
            Some(category) => row.muted_cell(category.as_str().to_owned()),
            None => row.muted_cell("–"),
        })
        .with_gap_before(1)
        .optional(2),
        C::left_aligned("", 1, |row, _| row.cell("")),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_shares_have_a_decimal() {
        let share = |share| percent(&Count::from_f64(share).expect("a count"));
        assert_eq!(share(0.046).as_deref(), Some("4.6%"));
        assert_eq!(share(0.25).as_deref(), Some("25%"));
        assert_eq!(share(0.0).as_deref(), Some("0%"));
        assert_eq!(percent(&Count::Missing), None);
    }
}
