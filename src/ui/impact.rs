//! Views before and after, as the job's detail and a page's card show them.
//!
//! ```text
//! before  9,120 human · 4,310 AI   after   10,002 ▲ 9.7% · 5,100 ▲ 18%
//! ```

use super::View;
use super::text::TextRow;
use super::views::{count_text, mark};
use crate::app::format::views;
use crate::model::impact::{AfterWindow, PageViews};
use crate::model::period::DateRange;
use crate::model::views::{Counts, ViewCount};

/// A range of whole days.
pub(super) fn days(range: DateRange) -> String {
    if range.days() == 1 { range.from().to_string() } else { range.to_string() }
}

/// How a number changed: the sign says the direction, whatever the colours.
pub(super) fn change(now: ViewCount, before: ViewCount) -> String {
    if now == before {
        return "same".to_owned();
    }
    let sign = if now > before { "▲" } else { "▼" };
    if before.is_zero() {
        return format!("{sign} from 0");
    }
    let percent = (now.ratio_to(before) - 1.0).abs() * 100.0;
    let text = match percent {
        ..9.95 => format!("{percent:.1}%"),
        // So many views from so few that the percentage says nothing.
        10_000.0.. => format!("from {}", views(before)),
        _ => format!("{percent:.0}%"),
    };
    format!("{sign} {text}")
}

/// The days in short, where they have no line of their own.
fn push_days(row: &mut TextRow<'_>, view: View<'_>, range: Option<DateRange>) {
    if let Some(range) = range {
        let days = format!("{}…{}  ", range.from().format("%m-%d"), range.to().format("%m-%d"));
        row.push(days, view.theme.muted);
    }
}

/// What is known of the days before a job.
pub(super) fn push_before(row: &mut TextRow<'_>, view: View<'_>, views: &PageViews, range: DateRange, dated: bool) {
    let theme = view.theme;
    row.push("before  ", theme.muted);
    push_days(row, view, dated.then_some(range));
    match views {
        PageViews::Known(known) => {
            let Counts { human, ai, .. } = &known.value;
            row.push(count_text(human), theme.human).push(" human · ", theme.muted);
            row.push(count_text(ai), theme.ai).push(" AI", theme.muted);
            push_signs(row, view, views, range);
        }
        _ => push_unknown(row, view, views),
    }
}

/// What is known of the days after it, against those before where both are whole.
pub(super) fn push_after(
    row: &mut TextRow<'_>,
    view: View<'_>,
    views: &PageViews,
    before: Option<(&PageViews, DateRange)>,
    after: AfterWindow,
    dated: bool,
) {
    let theme = view.theme;
    row.push("after   ", theme.muted);
    let range = match after {
        AfterWindow::Over(range) => range,
        other => {
            row.push(not_over(other), theme.muted);
            return;
        }
    };
    push_days(row, view, dated.then_some(range));
    let PageViews::Known(known) = views else {
        push_unknown(row, view, views);
        return;
    };
    let before = before.filter(|(before, days)| before.is_whole(*days) && views.is_whole(range));
    let before = before.and_then(|(before, _)| before.counts());
    let Counts { human, ai, .. } = &known.value;
    let human = (" human", human, before.map(|counts| &counts.human), theme.human);
    let ai = (" AI", ai, before.map(|counts| &counts.ai), theme.ai);
    for (n, (label, count, before, style)) in [human, ai].into_iter().enumerate() {
        row.push(if n == 0 { "" } else { " · " }, theme.muted);
        row.push(count_text(count), style);
        // Which is which stands with those before.
        if before.is_none() {
            row.push(label, theme.muted);
        }
        if let Some(change) = before.and_then(|before| Some(change(count.value()?, before.value()?))) {
            row.push(format!(" {change}"), theme.text);
        }
    }
    push_signs(row, view, views, range);
}

/// Why nothing stands there, where the days are not over.
pub(super) fn not_over(after: AfterWindow) -> String {
    match after {
        AfterWindow::NotSent => "not sent yet".to_owned(),
        AfterWindow::Working => "while it works".to_owned(),
        AfterWindow::NoDay => "when it finished is not known here".to_owned(),
        AfterWindow::Until(day) => format!("not over before {day}"),
        AfterWindow::Over(range) => days(range),
    }
}

fn push_unknown(row: &mut TextRow<'_>, view: View<'_>, views: &PageViews) {
    let text = match views {
        PageViews::NotListed(_) => "not listed: no views",
        _ => "not known here",
    };
    row.push(text, view.theme.muted);
}

/// Numbers that don't add up, and such as were loaded before the range was over.
fn push_signs(row: &mut TextRow<'_>, view: View<'_>, views: &PageViews, range: DateRange) {
    if let Some(counts) = views.counts() {
        row.push(mark(counts), view.theme.warning);
    }
    if !views.is_whole(range) {
        row.push(" partial", view.theme.warning);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(now: u64, before: u64) -> String {
        change(now.into(), before.into())
    }

    #[test]
    fn a_change_says_its_direction_and_no_percentage_of_nothing() {
        assert_eq!(said(10_002, 9_120), "▲ 9.7%");
        assert_eq!(said(5_100, 4_310), "▲ 18%");
        assert_eq!(said(1, 2), "▼ 50%");
        assert_eq!(said(2, 2), "same");
        assert_eq!(said(5, 0), "▲ from 0");
        assert_eq!(said(0, 0), "same");
        assert_eq!(said(20_000, 3), "▲ from 3");
    }
}
