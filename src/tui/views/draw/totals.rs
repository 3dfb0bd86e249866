//! Draws the numbers of the site or of a page, each with its change since the compared days.

use crate::model::period::DateRange;
use crate::model::views::{Count, Counts};
use crate::tui::draw::Theme;
use crate::tui::format::{count_text, mismatch_sign, plural};
use crate::tui::view::View;
use crate::tui::views::compare::SiteChange;
use crate::tui::views::draw::change::ChangeWeight;
use crate::tui::views::draw::table::{percentage_points_text, summary_change};
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

/// Which numbers the line of totals shows.
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
    /// `AI share 36.8%`, as a separate number.
    Named,
    /// As `Named`, followed by the change of the share in percentage points.
    WithChange,
}

impl TotalsForm {
    const fn new(has_total: bool, has_changes: bool, share: ShareForm) -> Self {
        Self { has_total, has_changes, share }
    }
}

/// The forms of the line, from the longest to the shortest.
const FORMS: [TotalsForm; 6] = [
    TotalsForm::new(true, true, ShareForm::WithChange),
    TotalsForm::new(true, true, ShareForm::Named),
    TotalsForm::new(true, true, ShareForm::None),
    TotalsForm::new(true, false, ShareForm::Named),
    TotalsForm::new(false, true, ShareForm::None),
    TotalsForm::new(false, false, ShareForm::Short),
];

/// Returns the longest form of the site's numbers that fits.
pub(in crate::tui) fn site_totals_line<'a>(view: View<'_>, totals: &Counts, width: usize) -> Line<'a> {
    let views = &view.app.views;
    let change = views.site_change(view.now);
    let report = views.visitors.report(views.query().range).filter(|_| views.visitors.is_shown());
    let visitors = report.filter(|_| views.lists_current_query()).map(|report| &report.totals.total);
    // The totals may belong to an earlier query, not to the range on screen. They are then muted.
    fitting_totals_line(view.theme, totals, change.as_ref(), visitors, !views.lists_current_query(), width)
}

/// Returns the longest form of the totals that fits, followed by the visitors if they fit too.
pub(in crate::tui) fn fitting_totals_line<'a>(
    theme: &Theme,
    totals: &Counts,
    change: Option<&SiteChange>,
    visitors: Option<&Count>,
    is_muted: bool,
    width: usize,
) -> Line<'a> {
    // A narrow screen leaves out the total and keeps the changes: readers can add up human and AI views, but they can't
    // calculate a change.
    let forms =
        FORMS.into_iter().filter(|form| !(form.has_total && width < 60 || form.has_changes && change.is_none()));
    let mut lines = forms.map(|form| totals_line(theme, totals, change, form, is_muted, width));
    let longest = lines.find(|line| line.width() < width);
    let shortest = TotalsForm::new(false, false, ShareForm::None);
    let mut line = longest.unwrap_or_else(|| totals_line(theme, totals, None, shortest, is_muted, width));
    let visitors = visitors.map(|count| {
        let count = Span::styled(count_text(count), theme.text.add_modifier(Modifier::BOLD));
        [Span::styled("   visitors ", theme.muted), count]
    });
    if visitors.iter().flatten().map(Span::width).sum::<usize>() + line.width() < width {
        line.spans.extend(visitors.into_iter().flatten());
    }
    line
}

fn totals_line<'a>(
    theme: &Theme,
    totals: &Counts,
    change: Option<&SiteChange>,
    form: TotalsForm,
    is_muted: bool,
    width: usize,
) -> Line<'a> {
    let bold = |style: Style| if is_muted { theme.muted } else { style.add_modifier(Modifier::BOLD) };
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
        if let Some(change) = change.and_then(|site| site.ranges.change(of(&site.current), of(&site.previous))) {
            let weight = ChangeWeight::of(change, crate::model::views::DecimalCount::ZERO);
            spans.push(Span::styled(format!(" {}", summary_change(change)), weight.style(change, theme)));
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
        let points = change.and_then(|change| Some((change.current.ai_share()? - change.previous.ai_share()?) * 100.0));
        if let Some(points) = points.filter(|_| form.share == ShareForm::WithChange) {
            // A rise of the AI share is neither good nor bad.
            spans.push(Span::styled(format!(" {}", percentage_points_text(points)), theme.text));
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
