//! Page views: the range, the site's totals, and one page of rows with bars on a printed scale.
//!
//! ```text
//!  2026-11-14 … 2026-11-20, 7 days UTC, today partial   [7d] 30d 90d custom      as of 14:02
//!  human 128,402   ███████████████████████▒▒▒▒▒▒▒▒▒▒▒  AI 61,220      total 189,622   AI share 32.3%
//!
//!    #  path                                human       AI    total  share   0 ─────────────────────── 13,430
//!    1  /quickstart                         9,120    4,310   13,430    32%   ████████████████▒▒▒▒▒▒▒▒
//! ```

pub(super) mod calendar;
pub(super) mod card;
pub(super) mod export;
pub(super) mod kept;
pub(super) mod movers;
mod place;
mod presets;
mod table;
pub(super) mod trend;

use super::text::Row;
use super::{View, bars, put};
use crate::app::format::{coarse, number};
use crate::app::views::Answered;
use crate::model::load::{Load, Stamped};
use crate::model::period::DateRange;
use crate::model::views::{Count, Counts, as_f64};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Wrap};
use unicode_width::UnicodeWidthStr;

pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, area: Rect) {
    let width = usize::from(area.width);
    put(frame, area, 0, range_line(view, width));
    let Some(shown) = view.app.views.load().shown() else {
        nothing_yet(frame, view, area);
        return;
    };
    put(frame, area, 1, state_line(view, shown, width));
    put(frame, area, 2, totals_line(view, &shown.value.page.totals, width));
    table::draw(frame, view, area);
    let last = usize::from(area.height.saturating_sub(1));
    put(frame, area, last, place::line(view, width));
}

/// Before the first answer: loading, or why there is none.
fn nothing_yet(frame: &mut Frame<'_>, view: View<'_>, area: Rect) {
    let theme = view.theme;
    let (text, style) = match view.app.views.load() {
        Load::Failed { failure, .. } => (format!("Not loaded. {}", failure.sentence), theme.warning),
        Load::Loading { .. } => ("Loading…".to_owned(), theme.muted),
        Load::Idle | Load::Ready(_) => ("Not loaded; r asks for it.".to_owned(), theme.muted),
    };
    let inner = Rect {
        x: area.x + 2,
        y: area.y + 2,
        width: area.width.saturating_sub(4),
        height: area.height.saturating_sub(2),
    };
    frame.render_widget(Paragraph::new(Line::styled(text, style)).wrap(Wrap { trim: true }), inner);
}

/// The range as people say it: both days included, UTC, and whether today is in it.
pub(super) fn describe(range: DateRange, view: View<'_>, width: usize) -> String {
    let days = match range.days() {
        1 => "1 day".to_owned(),
        n => format!("{n} days"),
    };
    let holds_today = range.contains(view.now.date_naive());
    let whole = format!("{range}, {days} UTC{}", if holds_today { ", today partial" } else { "" });
    if whole.width() < width { whole } else { format!("{range} UTC{}", if holds_today { ", partial" } else { "" }) }
}

fn range_line<'a>(view: View<'_>, width: usize) -> Line<'a> {
    let View { app, theme, .. } = view;
    let mut row = Row::new(width);
    row.push(" ", theme.text).push(describe(app.views.query().range, view, width), theme.title);
    presets::names(&mut row, view);
    row.line()
}

/// How fresh what is shown is, and what it is when it isn't what was asked for.
fn state_line<'a>(view: View<'_>, shown: &Stamped<Answered>, width: usize) -> Line<'a> {
    let View { app, theme, now } = view;
    let at = shown.as_of.with_timezone(&app.start.offset);
    let age = coarse(now - shown.as_of);
    let is_today = at.date_naive() == now.with_timezone(&app.start.offset).date_naive();
    let clock = at.format(if is_today { "%H:%M" } else { "%m-%d %H:%M" });
    let as_of = if age == "now" { format!("as of {clock}") } else { format!("as of {clock}, {age} ago") };
    let mut row = Row::new(width);
    row.push(" ", theme.text);
    let other = (!app.views.is_current())
        .then(|| format!("still showing {}, page {}", shown.value.query.range, shown.value.query.page));
    match (app.views.load(), other) {
        (Load::Loading { .. }, Some(other)) => row.push(format!("loading… {other}"), theme.warning),
        (Load::Loading { .. }, None) => row.push(format!("asking again…  {as_of}"), theme.muted),
        (Load::Failed { failure, .. }, other) => {
            row.push(failure.sentence.as_str(), theme.warning);
            let old = other.unwrap_or(as_of);
            row.push(format!("  {old}"), theme.muted)
        }
        (_, Some(other)) => row.push(other, theme.warning),
        (_, None) => row.push(as_of, theme.muted),
    };
    row.line()
}

fn totals_line<'a>(view: View<'_>, totals: &Counts, width: usize) -> Line<'a> {
    let theme = view.theme;
    let human = format!("human {}", count_text(&totals.human));
    let ai = format!("AI {}", count_text(&totals.ai));
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
    let rest = ai.len() + total.chars().count() + 3;
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

pub(in crate::ui) fn count_text(count: &Count) -> String {
    match count {
        Count::Known(n) => number(*n),
        Count::Odd(raw) => raw.to_string(),
        Count::Missing => "?".to_owned(),
    }
}

/// A sign on numbers that don't add up; they are shown as received.
pub(in crate::ui) fn mark(counts: &Counts) -> &'static str {
    if counts.add_up() { "" } else { "≠" }
}
