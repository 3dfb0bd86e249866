//! Draws the site's numbers, each with its change since the compared days.

use crate::model::period::DateRange;
use crate::model::views::{Count, Counts};
use crate::tui::format::{count_text, mismatch_sign, plural};
use crate::tui::view::View;
use crate::tui::views::compare::SiteChange;
use crate::tui::views::draw::change::ChangeWeight;
use crate::tui::views::draw::table::{change_cell, points_cell};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

/// How much the line shows.
#[derive(Debug, Clone, Copy)]
struct TotalsForm {
    has_total: bool,
    has_changes: bool,
    share: ShareForm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ShareForm {
    None,
    /// ` (36.8%)` after the AI views.
    Short,
    Named,
    WithChange,
}

impl TotalsForm {
    const fn new(has_total: bool, has_changes: bool, share: ShareForm) -> Self {
        Self { has_total, has_changes, share }
    }
}

/// From the most to the least that is shown.
const FORMS: [TotalsForm; 6] = [
    TotalsForm::new(true, true, ShareForm::WithChange),
    TotalsForm::new(true, true, ShareForm::Named),
    TotalsForm::new(true, true, ShareForm::None),
    TotalsForm::new(true, false, ShareForm::Named),
    TotalsForm::new(false, true, ShareForm::None),
    TotalsForm::new(false, false, ShareForm::Short),
];

/// Returns the longest form that fits.
pub(in crate::tui) fn site_totals_line<'a>(view: View<'_>, totals: &Counts, width: usize) -> Line<'a> {
    let change = view.app.views.site_change(view.now);
    // On a narrow screen, the total is left out: it can be added up, unlike a change.
    let forms =
        FORMS.into_iter().filter(|form| !(form.has_total && width < 60 || form.has_changes && change.is_none()));
    let mut lines = forms.map(|form| totals_line(view, totals, change.as_ref(), form, width));
    let longest = lines.find(|line| line.width() < width);
    let mut line = longest
        .unwrap_or_else(|| totals_line(view, totals, None, TotalsForm::new(false, false, ShareForm::None), width));
    let visitors = site_visitors(view);
    if visitors.iter().map(Span::width).sum::<usize>() + line.width() < width {
        line.spans.extend(visitors);
    }
    line
}

/// Returns the number of the site's visitors; empty if visitors are not shown or not loaded.
fn site_visitors<'a>(view: View<'_>) -> Vec<Span<'a>> {
    let (views, theme) = (&view.app.views, view.theme);
    let report = views.visitors.report(views.query().range).filter(|_| views.visitors.is_shown());
    let Some(report) = report.filter(|_| views.is_current()) else { return Vec::new() };
    let count = Span::styled(count_text(&report.totals.total), theme.text.add_modifier(Modifier::BOLD));
    vec![Span::styled("   visitors ", theme.muted), count]
}

fn totals_line<'a>(
    view: View<'_>,
    totals: &Counts,
    change: Option<&SiteChange>,
    form: TotalsForm,
    width: usize,
) -> Line<'a> {
    let theme = view.theme;
    // Whether these totals belong to another query than the range on screen.
    let is_other = !view.app.views.is_current();
    let bold = |style: Style| if is_other { theme.muted } else { style.add_modifier(Modifier::BOLD) };
    type CountOf = fn(&Counts) -> &Count;
    let numbers: [(&str, Style, CountOf); 3] = [
        ("human", theme.human, |counts| &counts.human),
        ("AI", theme.ai, |counts| &counts.ai),
        ("total", theme.text, |counts| &counts.total),
    ];
    let mut spans = Vec::new();
    for (name, style, of) in numbers.into_iter().take(if form.has_total { 3 } else { 2 }) {
        let gap = match (spans.is_empty(), width < 60) {
            (true, _) => " ",
            (false, true) => "  ",
            (false, false) => "   ",
        };
        spans.push(Span::styled(format!("{gap}{name} "), theme.muted));
        spans.push(Span::styled(count_text(of(totals)), bold(style)));
        let change = change.filter(|_| form.has_changes);
        if let Some(change) = change.and_then(|site| site.ranges.change(of(&site.now), of(&site.before))) {
            let weight = ChangeWeight::of(change, crate::model::views::ViewCount::ZERO);
            spans.push(Span::styled(format!(" {}", change_cell(change)), weight.style(change, theme)));
        }
    }
    spans.push(Span::styled(mismatch_sign(totals), theme.warning));
    if let Some(share) = totals.ai_share() {
        let percent = format!("{:.1}%", share * 100.0);
        match form.share {
            ShareForm::None => {}
            ShareForm::Short => spans.push(Span::styled(format!(" ({percent})"), theme.muted)),
            ShareForm::Named | ShareForm::WithChange => {
                spans.push(Span::styled("   AI share ", theme.muted));
                spans.push(Span::styled(percent, bold(theme.text)));
            }
        }
        let points = change.and_then(|change| Some((change.now.ai_share()? - change.before.ai_share()?) * 100.0));
        if let Some(points) = points.filter(|_| form.share == ShareForm::WithChange) {
            // A rise of the AI share is neither good nor bad.
            spans.push(Span::styled(format!(" {}", points_cell(points)), theme.text));
        }
    }
    Line::from(spans)
}

/// Returns a warning if two ranges overlap: `ranges overlap by 1 day`.
pub(in crate::tui) fn overlap_warning(one: DateRange, other: DateRange) -> Option<String> {
    let common = DateRange::new(one.from().max(other.from()), one.to().min(other.to()))?;
    Some(format!("ranges overlap by {}", plural(common.days(), "day")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_days_of_two_ranges_are_counted() {
        let range = |from: &str, to: &str| {
            DateRange::new(from.parse().expect("a day"), to.parse().expect("a day")).expect("a range")
        };
        let week = range("2026-07-01", "2026-07-07");
        assert_eq!(
            overlap_warning(range("2026-07-07", "2026-10-06"), week).as_deref(),
            Some("ranges overlap by 1 day")
        );
        assert_eq!(overlap_warning(week, week.step(-1).expect("a week")), None);
    }
}
