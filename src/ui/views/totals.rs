//! The site's totals, and what they were in the range that they are held against.

use super::{count_text, mark};
use crate::app::views::compare::{Before, change};
use crate::model::period::DateRange;
use crate::model::views::{Count, Counts, as_f64};
use crate::ui::text::Row;
use crate::ui::{View, bars};
use chrono::Datelike;
use ratatui::style::Modifier;
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr;

/// From so many columns on the changes stand beside the totals, else in the line below.
const ROOMY: usize = 100;

pub(super) fn line<'a>(view: View<'_>, totals: &Counts, width: usize) -> Line<'a> {
    let theme = view.theme;
    let before = view.app.views.before().filter(|_| width >= ROOMY);
    let changed = |of: fn(&Counts) -> &Count| {
        before
            .and_then(|before| delta(of(before.totals), of(totals)))
            .map(|delta| format!(" {delta}"))
            .unwrap_or_default()
    };
    let human = format!("human {}{}", count_text(&totals.human), changed(|counts| &counts.human));
    let ai = format!("AI {}{}", count_text(&totals.ai), changed(|counts| &counts.ai));
    let share = totals.ai_share().map(|share| format!("   AI share {:.1}%", share * 100.0)).unwrap_or_default();
    let total = format!("   total {}{share}{}", count_text(&totals.total), mark(totals));
    let narrow = width < 60;
    let total = match totals.ai_share() {
        Some(share) if narrow => format!(" ({:.1}%)", share * 100.0),
        _ if narrow => String::new(),
        _ => total,
    };
    let mut row = Row::new(width);
    row.push(" ", theme.text).push(&human, theme.human.add_modifier(Modifier::BOLD)).push("  ", theme.text);
    let rest = ai.width() + total.width() + 3;
    let bar_width = row.room().saturating_sub(rest).min(60);
    if bar_width >= 6 {
        let whole = totals.human.value().unwrap_or(0).saturating_add(totals.ai.value().unwrap_or(0));
        for span in bars::stacked(totals, as_f64(whole), bar_width, theme) {
            row.push(span.content, span.style);
        }
        row.push("  ", theme.text);
    }
    row.push(&ai, theme.ai.add_modifier(Modifier::BOLD)).push(&total, theme.text);
    row.line()
}

/// What the totals are held against, how they changed, and what makes that unfair; empty where nothing is known of it.
pub(super) fn against<'a>(view: View<'_>, totals: &Counts, width: usize) -> Line<'a> {
    let View { app, theme, now } = view;
    let Some(before) = app.views.before() else { return Line::default() };
    let mut row = Row::new(width);
    let narrow = width < 60;
    let range = range_words(&before, app.views.query().range, width);
    row.push(range, if before.by_page { theme.title } else { theme.muted });
    let deltas = [("human", delta(&before.totals.human, &totals.human)), ("AI", delta(&before.totals.ai, &totals.ai))];
    let mut sign = if narrow { " " } else { ": " };
    for (name, delta) in deltas.into_iter().filter(|_| width < ROOMY) {
        let Some(delta) = delta else { continue };
        let said = if narrow { delta.replace(' ', "") } else { format!("{name} {delta}") };
        row.push(format!("{sign}{said}"), theme.text);
        sign = if narrow { " " } else { ", " };
    }
    let share = points(before.totals, totals).map(|points| format!("{sign}AI share {points}")).unwrap_or_default();
    let warnings: Vec<&str> = unfair(&before, app.views.query().range.contains(now.date_naive())).collect();
    let warning: String = if narrow && !warnings.is_empty() { " partial".to_owned() } else { warnings.concat() };
    // What makes it unfair has to be seen, the share has not.
    if row.room() > share.width() + warning.width() {
        row.push(share, theme.text);
    }
    row.push(warning, theme.warning);
    if !before.by_page {
        let text = "  c compares page by page";
        if row.room() > text.width() {
            row.push(text, theme.muted);
        }
    }
    row.line()
}

/// The range, the shorter the less room there is; without its year only where that is the listed range's.
fn range_words(before: &Before<'_>, listed: DateRange, width: usize) -> String {
    let (from, to) = (before.range.from(), before.range.to());
    let same_year = from.year() == listed.to().year() && to.year() == listed.to().year();
    match width {
        ROOMY.. => format!(" against {}", before.range),
        60.. if same_year => format!(" against {} … {}", from.format("%m-%d"), to.format("%m-%d")),
        60.. => format!(" against {}", before.range),
        _ if same_year => format!(" vs {}…{}", from.format("%m-%d"), to.format("%m-%d")),
        _ => format!(" vs {}…{}", from.format("%y-%m-%d"), to.format("%y-%m-%d")),
    }
}

/// Why the two ranges are not of a kind.
fn unfair(before: &Before<'_>, holds_today: bool) -> impl Iterator<Item = &'static str> {
    let today = holds_today.then_some(", today partial");
    let other = before.is_partial().then_some(", that one not whole when it was loaded");
    today.into_iter().chain(other)
}

/// A change in percent, its direction told by a sign: `▲ 4.1%`.
pub(super) fn delta(before: &Count, now: &Count) -> Option<String> {
    if before.value() == Some(0) && now.value().is_some_and(|now| now > 0) {
        return Some("▲ from 0".to_owned());
    }
    change(before, now).map(|percent| signed(percent, "%"))
}

/// The change of the AI share in points.
fn points(before: &Counts, now: &Counts) -> Option<String> {
    let (before, now) = (before.ai_share()?, now.ai_share()?);
    Some(signed((now - before) * 100.0, " points"))
}

pub(super) fn signed(change: f64, unit: &str) -> String {
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

    #[test]
    fn a_change_says_its_direction_without_colour() {
        let known = Count::Known;
        assert_eq!(delta(&known(100), &known(104)).as_deref(), Some("▲ 4.0%"));
        assert_eq!(delta(&known(100), &known(69)).as_deref(), Some("▼ 31.0%"));
        assert_eq!(delta(&known(10_000), &known(10_001)).as_deref(), Some("= 0.0%"));
        assert_eq!(delta(&known(0), &known(7)).as_deref(), Some("▲ from 0"));
        assert_eq!(delta(&known(0), &known(0)), None);
        assert_eq!(delta(&Count::Missing, &known(7)), None, "nothing is known of it");
        assert_eq!(delta(&known(-3), &known(7)), None);
    }
}
