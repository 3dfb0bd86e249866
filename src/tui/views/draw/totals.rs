//! Draws the site's totals, and how they have changed since the compared range.

use crate::model::comparison::ViewsChange;
use crate::model::period::DateRange;
use crate::model::views::{Count, Counts};
use crate::tui::draw::bars;
use crate::tui::draw::text::TextRow;
use crate::tui::format::{self, plural};
use crate::tui::format::{count_text, mismatch_sign};
use crate::tui::keymap::{Action, Context};
use crate::tui::view::View;
use crate::tui::views::compare::SiteChange;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr;

pub(in crate::tui) fn site_totals_line<'a>(view: View<'_>, totals: &Counts, width: usize) -> Line<'a> {
    let theme = view.theme;
    // Whether these totals belong to another query than the dates above.
    let is_other = !view.app.views.is_current();
    let style = |style: Style| if is_other { theme.muted } else { style };
    let human = format!("human {}", count_text(&totals.human));
    let ai = format!("AI {}", count_text(&totals.ai));
    let share = totals.ai_share().map(|share| format!("   AI share {:.1}%", share * 100.0)).unwrap_or_default();
    let total = format!("   total {}{share}{}", count_text(&totals.total), mismatch_sign(totals));
    let narrow = width < 60;
    let total = match totals.ai_share() {
        Some(share) if narrow => format!(" ({:.1}%)", share * 100.0),
        _ if narrow => String::new(),
        _ => total,
    };
    let mut row = TextRow::new(width);
    row.push(" ", theme.text).push(&human, style(theme.human.add_modifier(Modifier::BOLD))).push("  ", theme.text);
    let rest = ai.width() + total.width() + 3;
    let bar_width = row.remaining().saturating_sub(rest).min(60);
    if bar_width >= 6 {
        let both = totals.human.value().unwrap_or_default() + totals.ai.value().unwrap_or_default();
        for span in bars::stacked_bar(totals, both.as_f64(), bar_width, theme) {
            row.push(span.content, style(span.style));
        }
        row.push("  ", theme.text);
    }
    row.push(&ai, style(theme.ai.add_modifier(Modifier::BOLD))).push(&total, style(theme.text));
    row.line()
}

/// A part of the line that shows the changes.
struct ChangePart {
    text: String,
    style: Style,
    /// Parts with a lower rank get space first. Parts that don't fit are left out.
    rank: u8,
}

/// Returns the line that shows which ranges are compared and how the totals have changed. Empty if nothing is known.
pub(in crate::tui) fn totals_change_line<'a>(view: View<'_>, width: usize) -> Line<'a> {
    let View { app, theme, now } = view;
    let Some(change) = app.views.site_change(now) else { return Line::default() };
    let shown = app.views.query().range;
    let is_narrow = width < 60;
    // If there is space, `daily total` shows that the numbers are per day; otherwise the label does.
    let day_counts = change.ranges.day_counts().filter(|_| !is_narrow);
    let (daily, label) = match day_counts {
        Some(_) => ("daily ", change.ranges.label_without_per_day(shown)),
        None => ("", change.ranges.label(shown)),
    };
    // The label is shortened if the change of the total would not fit behind it.
    let label = match day_counts {
        _ if label.width() + daily.width() + 24 <= width => label,
        Some(day_counts) => day_counts,
        None => change.ranges.short_label(shown),
    };
    let mut parts = Vec::new();
    let named = [("total", 0), ("human", 4), ("AI", 2)];
    for ((name, rank), delta) in named.into_iter().zip(deltas(&change)) {
        let Some(delta) = delta else { continue };
        let sign = if parts.is_empty() { ": " } else { ", " };
        let text = match (is_narrow, rank) {
            (true, 0) => format!(" {}", delta.replace(' ', "")),
            (true, _) => format!(" {name} {}", delta.replace(' ', "")),
            (false, _) if parts.is_empty() => format!("{sign}{daily}{name} {delta}"),
            (false, _) => format!("{sign}{name} {delta}"),
        };
        parts.push(ChangePart { text, style: theme.text, rank });
    }
    if let Some(points) = share_change_text(&change.before, &change.now) {
        parts.push(ChangePart { text: format!(", AI share {points}"), style: theme.text, rank: 5 });
    }
    if let Some(overlap) = overlap_warning(change.ranges.now, change.ranges.before) {
        parts.push(ChangePart { text: format!(", {overlap}"), style: theme.warning, rank: 3 });
    }
    if let Some((day, views)) = change.so_far {
        let when = if day == now.date_naive() { "today".to_owned() } else { day.format("%-d %b").to_string() };
        let text = format!(" · {when} so far: {}", format::format_views(views));
        parts.push(ChangePart { text, style: theme.muted, rank: 1 });
    }
    if !change.compares_pages {
        let key = app.key_label(Context::Views, Action::Compare);
        parts.push(ChangePart { text: format!("  {key} compares page by page"), style: theme.muted, rank: 6 });
    }
    let mut row = TextRow::new(width);
    row.push(format!(" {label}"), if change.compares_pages { theme.title } else { theme.muted });
    let mut ranks: Vec<(u8, usize)> = parts.iter().map(|part| (part.rank, part.text.width())).collect();
    ranks.sort_unstable();
    let mut space = row.remaining();
    ranks.retain(|(_, width)| {
        let fits = *width <= space;
        space -= if fits { *width } else { 0 };
        fits
    });
    for part in parts.into_iter().filter(|part| ranks.iter().any(|(rank, _)| *rank == part.rank)) {
        row.push(part.text, part.style);
    }
    row.line()
}

/// Returns a warning if two ranges have common days: `1 day in both`.
pub(in crate::tui) fn overlap_warning(one: DateRange, other: DateRange) -> Option<String> {
    let common = DateRange::new(one.from().max(other.from()), one.to().min(other.to()))?;
    Some(format!("{} in both", plural(usize::try_from(common.days()).unwrap_or(usize::MAX), "day")))
}

/// Returns the changes of the total, the human and the AI views in percent. A symbol shows the direction without
/// colour: `▲ 4.1%`.
fn deltas(change: &SiteChange) -> [Option<String>; 3] {
    let delta = |of: fn(&Counts) -> &Count| {
        let change = change.ranges.change(of(&change.now), of(&change.before))?;
        match change {
            ViewsChange::InBoth { now, before } if before.is_zero() && !now.is_zero() => Some("▲ from 0".to_owned()),
            change => change.percent().map(|percent| signed_change(percent, "%")),
        }
    };
    [delta(|counts| &counts.total), delta(|counts| &counts.human), delta(|counts| &counts.ai)]
}

/// Formats the change of the AI share in percentage points.
fn share_change_text(before: &Counts, now: &Counts) -> Option<String> {
    let (before, now) = (before.ai_share()?, now.ai_share()?);
    let points = signed_change((now - before) * 100.0, " points");
    Some(if points.starts_with('=') { "unchanged".to_owned() } else { points })
}

pub(in crate::tui) fn signed_change(change: f64, unit: &str) -> String {
    let amount = format!("{:.1}", change.abs());
    let sign = match (amount.as_str(), change > 0.0) {
        ("0.0", _) => "=",
        (_, true) => "▲",
        (_, false) => "▼",
    };
    format!("{sign} {amount}{unit}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::comparison::ComparedRanges;

    #[test]
    fn a_change_shows_its_direction_without_colour() {
        let day = |text: &str| DateRange::last_days(1, text.parse().expect("a day"));
        let ranges = ComparedRanges { now: day("2026-11-20"), before: day("2026-11-19") };
        let counts = |total: Count| Counts { total, ..Counts::default() };
        let delta = |before: Count, now: Count| {
            let change =
                SiteChange { ranges, now: counts(now), before: counts(before), compares_pages: true, so_far: None };
            let [total, ..] = deltas(&change);
            total
        };
        let known = Count::Known;
        assert_eq!(delta(known(100), known(104)).as_deref(), Some("▲ 4.0%"));
        assert_eq!(delta(known(100), known(69)).as_deref(), Some("▼ 31.0%"));
        assert_eq!(delta(known(10_000), known(10_001)).as_deref(), Some("= 0.0%"));
        assert_eq!(delta(known(0), known(7)).as_deref(), Some("▲ from 0"));
        assert_eq!(delta(known(0), known(0)), None);
        assert_eq!(delta(Count::Missing, known(7)), None, "it is unknown");
        assert_eq!(delta(known(-3), known(7)), None);
    }

    #[test]
    fn an_unchanged_share_is_shown_as_a_word() {
        let counts = |human, ai| Counts { human: Count::Known(human), ai: Count::Known(ai), total: Count::Missing };
        assert_eq!(share_change_text(&counts(3, 1), &counts(30, 10)).as_deref(), Some("unchanged"));
        assert_eq!(share_change_text(&counts(3, 1), &counts(1, 1)).as_deref(), Some("▲ 25.0 points"));
    }

    #[test]
    fn common_days_of_two_ranges_are_counted() {
        let range = |from: &str, to: &str| {
            DateRange::new(from.parse().expect("a day"), to.parse().expect("a day")).expect("a range")
        };
        let week = range("2026-07-01", "2026-07-07");
        assert_eq!(overlap_warning(range("2026-07-07", "2026-10-06"), week).as_deref(), Some("1 day in both"));
        assert_eq!(overlap_warning(week, week.step(-1).expect("a week")), None);
    }
}
