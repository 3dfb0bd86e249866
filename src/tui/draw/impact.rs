//! Draws the page views before and after a job, for the job's details and for the page details.
//!
//! ```text
//! before  9,120 human · 4,310 AI   after   10,002 ▲ 9.7% · 5,100 ▲ 18%
//! ```

use super::text::TextRow;
use crate::model::impact::{PageViewsState, WeekAfterState};
use crate::model::period::DateRange;
use crate::model::views::{Counts, DecimalCount};
use crate::tui::format::format_views;
use crate::tui::format::{count_text, mismatch_sign};
use crate::tui::view::View;

/// Formats a range: a single day or two dates.
pub(in crate::tui) fn format_range_or_day(range: DateRange) -> String {
    if range.days() == 1 { range.from().to_string() } else { range.to_string() }
}

/// Formats the change of a number. A sign shows the direction of the change, even without colour.
pub(in crate::tui) fn change_with_sign(current: DecimalCount, previous: DecimalCount) -> String {
    if current == previous {
        return "same".to_owned();
    }
    let sign = if current > previous { "▲" } else { "▼" };
    let percent = (current.ratio_to(previous) - 1.0).abs() * 100.0;
    let text = match percent {
        ..9.95 => format!("{percent:.1}%"),
        // After 0 views there is no percentage, and after very few views a huge percentage means little. The text then
        // names the previous number of views.
        10_000.0.. => format!("from {}", format_views(previous)),
        _ => format!("{percent:.0}%"),
    };
    format!("{sign} {text}")
}

/// Adds the days of `range` in short form, for rows that have no separate line with the days.
fn push_range_dates(row: &mut TextRow<'_>, view: View<'_>, range: Option<DateRange>) {
    if let Some(range) = range {
        row.push(format!("{}  ", range.format_dates(false)), view.theme.muted);
    }
}

/// Adds the views before a job, with the days if `has_days` is set.
pub(in crate::tui) fn push_views_before(
    row: &mut TextRow<'_>,
    view: View<'_>,
    views: &PageViewsState,
    range: DateRange,
    has_days: bool,
) {
    let theme = view.theme;
    row.push("before  ", theme.muted);
    push_range_dates(row, view, has_days.then_some(range));
    match views {
        PageViewsState::Known(known) => {
            let Counts { human, ai, .. } = &known.value;
            row.push(count_text(human), theme.human).push(" human · ", theme.muted);
            row.push(count_text(ai), theme.ai).push(" AI", theme.muted);
            push_warnings(row, view, views, range);
        }
        _ => push_no_views_text(row, view, views),
    }
}

/// Adds the views after a job, compared with the views before it if both ranges are complete. Adds the days if
/// `has_days` is set.
pub(in crate::tui) fn push_views_after(
    row: &mut TextRow<'_>,
    view: View<'_>,
    views: &PageViewsState,
    before: Option<(&PageViewsState, DateRange)>,
    after: WeekAfterState,
    has_days: bool,
) {
    let theme = view.theme;
    row.push("after   ", theme.muted);
    let range = match after {
        WeekAfterState::Complete(range) => range,
        other => {
            row.push(week_after_text(other), theme.muted);
            return;
        }
    };
    push_range_dates(row, view, has_days.then_some(range));
    let PageViewsState::Known(known) = views else {
        push_no_views_text(row, view, views);
        return;
    };
    let before = before.filter(|(before, days)| before.is_complete(*days) && views.is_complete(range));
    let before = before.and_then(|(before, _)| before.counts());
    let Counts { human, ai, .. } = &known.value;
    let human = (" human", human, before.map(|counts| &counts.human), theme.human);
    let ai = (" AI", ai, before.map(|counts| &counts.ai), theme.ai);
    for (n, (label, count, before, style)) in [human, ai].into_iter().enumerate() {
        row.push(if n == 0 { "" } else { " · " }, theme.muted);
        row.push(count_text(count), style);
        // In a narrow terminal, only the numbers before the job are labelled “human” and “AI”, to save space.
        if before.is_none() || has_days {
            row.push(label, theme.muted);
        }
        if let Some(change) = before.and_then(|before| Some(change_with_sign(count.value()?, before.value()?))) {
            row.push(format!(" {change}"), theme.text);
        }
    }
    push_warnings(row, view, views, range);
}

/// Returns the days after a job if they are over, otherwise the reason why there are no views after the job yet.
pub(in crate::tui) fn week_after_text(after: WeekAfterState) -> String {
    match after {
        WeekAfterState::NotSent => "not sent yet".to_owned(),
        WeekAfterState::Working => "not yet (the job is still working)".to_owned(),
        WeekAfterState::FinishUnknown => "finish time unknown".to_owned(),
        WeekAfterState::LoadableFrom(day) => format!("available from {}", day.format("%-d %b")),
        WeekAfterState::Complete(range) => format_range_or_day(range),
    }
}

fn push_no_views_text(row: &mut TextRow<'_>, view: View<'_>, views: &PageViewsState) {
    let text = match views {
        PageViewsState::NotListed(_) => "no views",
        _ => "not loaded",
    };
    row.push(text, view.theme.muted);
}

/// Adds a warning if the counts don't add up, and a warning if the views were loaded before the range was over.
fn push_warnings(row: &mut TextRow<'_>, view: View<'_>, views: &PageViewsState, range: DateRange) {
    if let Some(counts) = views.counts() {
        row.push(mismatch_sign(counts), view.theme.warning);
    }
    if !views.is_complete(range) {
        row.push(" incomplete", view.theme.warning);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change_text(current: u64, previous: u64) -> String {
        change_with_sign(current.into(), previous.into())
    }

    #[test]
    fn a_change_shows_its_direction_and_no_percentage_of_zero() {
        assert_eq!(change_text(10_002, 9_120), "▲ 9.7%");
        assert_eq!(change_text(5_100, 4_310), "▲ 18%");
        assert_eq!(change_text(1, 2), "▼ 50%");
        assert_eq!(change_text(2, 2), "same");
        assert_eq!(change_text(5, 0), "▲ from 0");
        assert_eq!(change_text(0, 0), "same");
        assert_eq!(change_text(20_000, 3), "▲ from 3");
    }
}
