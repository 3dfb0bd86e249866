//! The line that says how fresh what is listed is, what it is when it isn't what was asked for, and how far loading is.

use crate::app::format::{coarse, count, plural};
use crate::app::views::all::UnderWay;
use crate::app::views::price::percent;
use crate::model::Time;
use crate::model::failure::{Failure, FailureKind};
use crate::model::load::Load;
use crate::model::report::Report;
use crate::ui::View;
use crate::ui::text::Row;
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr;

/// Longest and shortest bar of progress, in cells.
const BAR: (usize, usize) = (24, 6);

pub(super) fn line<'a>(view: View<'_>, width: usize) -> Line<'a> {
    let views = &view.app.views;
    if let Some(under_way) = views.all.under_way() {
        return loading(view, under_way, width);
    }
    match views.table.report() {
        Some(report) => of_report(view, report, width),
        None => of_answer(view, width),
    }
}

/// `as of 14:02`, with the date when that was another day and the age when it is one.
pub(super) fn as_of(view: View<'_>, as_of: Time) -> String {
    let at = as_of.with_timezone(&view.app.start.offset);
    let age = coarse(view.now - as_of);
    let is_today = at.date_naive() == view.now.with_timezone(&view.app.start.offset).date_naive();
    let clock = at.format(if is_today { "%H:%M" } else { "%m-%d %H:%M" });
    if age == "now" { format!("as of {clock}") } else { format!("as of {clock}, {age} ago") }
}

fn loading<'a>(view: View<'_>, under_way: UnderWay, width: usize) -> Line<'a> {
    let theme = view.theme;
    let wanted = view.app.views.query().range;
    let of = if under_way.range == wanted { String::new() } else { format!(" of {}", under_way.range) };
    let mut row = Row::new(width);
    row.push(" ", theme.text);
    let end = if under_way.stopping { " · stopping after this answer" } else { " · Esc stops" };
    let Some(progress) = under_way.progress else {
        row.push(format!("loading all pages{of}…"), theme.working).push(end, theme.muted);
        return row.line();
    };
    let rows = format!(" · {} rows", count(progress.rows));
    let requests = format!(" · {}", plural(progress.requests as usize, "request"));
    let share = progress.share.map(|share| format!("{} of views", percent(share)));
    let said = format!("{}{rows}{requests}{end}", share.clone().unwrap_or_else(|| "share not known".to_owned()));
    let lead = format!("loading all pages{of}  ");
    if width < lead.width() + said.width() + 2 {
        // What has no room goes: first the words before it, then the requests.
        let share = progress.share.map_or_else(|| "?".to_owned(), percent);
        row.push(format!("loading {share}{rows}"), theme.working).push(end, theme.muted);
        return row.line();
    }
    row.push(lead, theme.working);
    let bar = row.room().saturating_sub(said.width() + 2).min(BAR.0);
    if let Some(share) = progress.share.filter(|_| bar >= BAR.1) {
        let done = (0..=bar).rev().find(|cells| cells_share(*cells, bar) <= share).unwrap_or(0);
        row.push("█".repeat(done), theme.working).push("▒".repeat(bar - done), theme.muted).push(" ", theme.text);
    }
    row.push(said, theme.working);
    row.line()
}

fn cells_share(cells: usize, all: usize) -> f64 {
    let float = |n: usize| crate::model::views::as_f64(u64::try_from(n).unwrap_or(0));
    float(cells) / float(all.max(1))
}

fn of_report<'a>(view: View<'_>, report: &Report, width: usize) -> Line<'a> {
    let View { app, theme, now } = view;
    let views = &app.views;
    let mut row = Row::new(width);
    row.push(" ", theme.text);
    let as_of = as_of(view, report.as_of);
    if !views.is_current() {
        let old = format!("still showing {}, all pages", report.range);
        match views.load() {
            Load::Failed { failure, .. } => {
                row.push(failure_words(view, failure), theme.warning).push(format!("  {old}"), theme.muted)
            }
            _ => row.push(format!("loading… {old}"), theme.warning),
        };
        return row.line();
    }
    let failure = views.all.trouble(report.range).or_else(|| views.load().failure());
    let goes_on = views.all.broken_off(report.range).map(|rows| format!("a goes on after {} rows", count(rows)));
    if report.complete {
        let fresh = report.range.is_fresh(report.as_of, now);
        row.push(format!("all pages {as_of}"), if fresh { theme.muted } else { theme.warning });
        match goes_on {
            Some(goes_on) => row.push(format!("; {goes_on}"), theme.muted),
            None if !fresh => row.push("; r asks anew", theme.muted),
            None => &mut row,
        };
    } else {
        let share = views.loaded_share().map(|share| format!(", {} of views", percent(share))).unwrap_or_default();
        row.push(format!("! not all pages: {} rows{share}", count(report.rows.len())), theme.warning);
        row.push("; a goes on", theme.muted);
        if let Some(until) = failure.and_then(|failure| limited_until(view, failure)) {
            row.push(format!(" from {until} on"), theme.warning);
        }
        row.push(format!("  {as_of}"), theme.muted);
    }
    if let Some(failure) = failure.filter(|failure| report.complete || limited_until(view, failure).is_none()) {
        row.push("  ", theme.text).push(failure_words(view, failure), theme.warning);
    }
    row.line()
}

fn of_answer<'a>(view: View<'_>, width: usize) -> Line<'a> {
    let View { app, theme, .. } = view;
    let views = &app.views;
    let mut row = Row::new(width);
    let Some(shown) = views.load().shown() else { return row.line() };
    let as_of = as_of(view, shown.as_of);
    row.push(" ", theme.text);
    let other = (!views.is_current())
        .then(|| format!("still showing {}, page {}", shown.value.query.range, shown.value.query.page));
    match (views.load(), other) {
        (Load::Loading { .. }, Some(other)) => row.push(format!("loading… {other}"), theme.warning),
        (Load::Loading { .. }, None) => row.push(format!("asking again…  {as_of}"), theme.muted),
        (Load::Failed { failure, .. }, other) => {
            row.push(failure_words(view, failure), theme.warning);
            let old = other.unwrap_or(as_of);
            row.push(format!("  {old}"), theme.muted)
        }
        (_, Some(other)) => row.push(other, theme.warning),
        (_, None) => row.push(as_of, theme.muted),
    };
    if let Some(rows) = views.all.broken_off(views.query().range) {
        row.push(format!("   a goes on after {} rows", count(rows)), theme.muted);
    }
    if let Some(failure) = views.all.trouble(views.query().range) {
        row.push("  ", theme.text).push(failure_words(view, failure), theme.warning);
    }
    row.line()
}

/// The time of day at which requests are possible again, while they are not.
fn limited_until(view: View<'_>, failure: &Failure) -> Option<String> {
    match failure.kind {
        FailureKind::Limited { until } if until > view.now => {
            Some(until.with_timezone(&view.app.start.offset).format("%H:%M").to_string())
        }
        _ => None,
    }
}

/// Why there is nothing newer, and what can be seen all the same.
fn failure_words(view: View<'_>, failure: &Failure) -> String {
    match limited_until(view, failure) {
        Some(until) => format!("no requests left until {until}; t, H and what is cached can still be seen"),
        None => failure.sentence.to_string(),
    }
}
