//! The site's totals, and what they were in the range that they are held against.

use super::{count_text, mark};
use crate::app::format::plural;
use crate::app::keymap::{Action, Context};
use crate::app::views::compare::{Before, change};
use crate::model::Time;
use crate::model::period::DateRange;
use crate::model::views::{Count, Counts, ViewCount};
use crate::ui::text::Row;
use crate::ui::{View, bars};
use chrono::Datelike;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr;

/// From so many columns on the changes stand beside the totals, else in the line below.
const ROOMY: usize = 100;
/// From so many columns on the total's change stands there, too.
const WIDE: usize = 160;

pub(super) fn line<'a>(view: View<'_>, totals: &Counts, width: usize) -> Line<'a> {
    let theme = view.theme;
    let before = view.app.views.before().filter(|_| width >= ROOMY);
    let changed = |of: fn(&Counts) -> &Count| {
        before
            .and_then(|before| delta(of(before.totals), of(totals)))
            .map(|delta| format!(" {delta}"))
            .unwrap_or_default()
    };
    // Of something else than what the dates above say.
    let is_other = !view.app.views.is_current();
    let style = |style: Style| if is_other { theme.muted } else { style };
    let human = format!("human {}{}", count_text(&totals.human), changed(|counts| &counts.human));
    let ai = format!("AI {}{}", count_text(&totals.ai), changed(|counts| &counts.ai));
    let share = totals.ai_share().map(|share| format!("   AI share {:.1}%", share * 100.0)).unwrap_or_default();
    let change = if width >= WIDE { changed(|counts| &counts.total) } else { String::new() };
    let total = format!("   total {}{change}{share}{}", count_text(&totals.total), mark(totals));
    let narrow = width < 60;
    let total = match totals.ai_share() {
        Some(share) if narrow => format!(" ({:.1}%)", share * 100.0),
        _ if narrow => String::new(),
        _ => total,
    };
    let mut row = Row::new(width);
    row.push(" ", theme.text).push(&human, style(theme.human.add_modifier(Modifier::BOLD))).push("  ", theme.text);
    let rest = ai.width() + total.width() + 3;
    let bar_width = row.room().saturating_sub(rest).min(60);
    if bar_width >= 6 {
        let whole = totals.human.value().unwrap_or_default() + totals.ai.value().unwrap_or_default();
        for span in bars::stacked(totals, whole.as_f64(), bar_width, theme) {
            row.push(span.content, style(span.style));
        }
        row.push("  ", theme.text);
    }
    row.push(&ai, style(theme.ai.add_modifier(Modifier::BOLD))).push(&total, style(theme.text));
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
    // Before the changes, which mean little then.
    if let Some(lengths) = lengths(app.views.query().range, before.range, narrow) {
        row.push(format!("{sign}{lengths}"), theme.warning);
        sign = if narrow { " " } else { ", " };
    }
    for (name, delta) in deltas.into_iter().filter(|_| width < ROOMY) {
        let Some(delta) = delta else { continue };
        let said = if narrow { delta.replace(' ', "") } else { format!("{name} {delta}") };
        let said = format!("{sign}{said}");
        if row.room() < said.width() {
            break;
        }
        row.push(said, theme.text);
        sign = if narrow { " " } else { ", " };
    }
    let share = points(before.totals, totals).map(|points| format!("{sign}AI share {points}")).unwrap_or_default();
    let warning = unfair(&before, app.views.query().range, now, narrow, row.room());
    // What makes it unfair has to be seen, the share has not.
    if row.room() > share.width() + warning.width() {
        row.push(share, theme.text);
    }
    row.push(warning, theme.warning);
    if !before.by_page {
        let text = format!("  {} compares page by page", app.told(Context::Views, Action::Compare));
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

/// Said of two ranges of which one is longer: `92 days against 7`.
pub(super) fn lengths(now: DateRange, before: DateRange, short: bool) -> Option<String> {
    let (now, before) = (now.days(), before.days());
    if now == before {
        return None;
    }
    let days = if now == 1 { "day" } else { "days" };
    Some(if short { format!("{now} vs {before} days") } else { format!("{now} {days} against {before}") })
}

/// Said of two ranges that have days in common: `overlap by 1 day`.
pub(super) fn overlap(one: DateRange, other: DateRange) -> Option<String> {
    let common = DateRange::new(one.from().max(other.from()), one.to().min(other.to()))?;
    Some(format!("overlap by {}", plural(usize::try_from(common.days()).unwrap_or(usize::MAX), "day")))
}

/// Why the two ranges are not of a kind, in shorter words where there is little room.
fn unfair(before: &Before<'_>, listed: DateRange, now: Time, narrow: bool, room: usize) -> String {
    let today = listed.contains(now.date_naive());
    let days = overlap(listed, before.range);
    let short_partial = match (today, before.is_partial()) {
        (true, true) => ", both partial",
        (true, false) => ", today partial",
        (false, true) => ", that one partial",
        (false, false) => "",
    };
    if narrow && !short_partial.is_empty() {
        return " partial".to_owned();
    }
    let long = [
        days.as_ref().map(|days| format!(", {days}")).unwrap_or_default(),
        if today { ", today partial".to_owned() } else { String::new() },
        if before.is_partial() { ", that one not whole when it was loaded".to_owned() } else { String::new() },
    ]
    .concat();
    // Whole words only; that today is partial stands beside the dates as well.
    let short_days = if days.is_some() { ", overlapping" } else { "" };
    let forms = [long, format!("{short_partial}{short_days}"), short_days.to_owned(), short_partial.to_owned()];
    forms.into_iter().find(|form| !form.is_empty() && form.width() <= room).unwrap_or_default()
}

/// A change in percent, its direction told by a sign: `▲ 4.1%`.
pub(super) fn delta(before: &Count, now: &Count) -> Option<String> {
    if before.value() == Some(ViewCount::ZERO) && now.value().is_some_and(|now| !now.is_zero()) {
        return Some("▲ from 0".to_owned());
    }
    change(before, now).map(|percent| signed(percent, "%"))
}

/// The change of the AI share in points.
fn points(before: &Counts, now: &Counts) -> Option<String> {
    let (before, now) = (before.ai_share()?, now.ai_share()?);
    let points = signed((now - before) * 100.0, " points");
    Some(if points.starts_with('=') { "unchanged".to_owned() } else { points })
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

    #[test]
    fn a_share_that_did_not_change_is_said_in_words() {
        let counts = |human, ai| Counts { human: Count::Known(human), ai: Count::Known(ai), total: Count::Missing };
        assert_eq!(points(&counts(3, 1), &counts(30, 10)).as_deref(), Some("unchanged"));
        assert_eq!(points(&counts(3, 1), &counts(1, 1)).as_deref(), Some("▲ 25.0 points"));
    }

    #[test]
    fn ranges_that_are_not_of_a_kind_are_told() {
        let range = |from: &str, to: &str| {
            DateRange::new(from.parse().expect("a day"), to.parse().expect("a day")).expect("a range")
        };
        let week = range("2026-07-01", "2026-07-07");
        let quarter = range("2026-07-07", "2026-10-06");
        assert_eq!(lengths(quarter, week, false).as_deref(), Some("92 days against 7"));
        assert_eq!(lengths(range("2026-07-01", "2026-07-01"), week, false).as_deref(), Some("1 day against 7"));
        assert_eq!(lengths(quarter, week, true).as_deref(), Some("92 vs 7 days"));
        assert_eq!(lengths(week, week.step(-1).expect("a week"), false), None);
        assert_eq!(overlap(quarter, week).as_deref(), Some("overlap by 1 day"));
        assert_eq!(overlap(week, week.step(-1).expect("a week")), None);
    }
}
