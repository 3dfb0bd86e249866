//! The line that says how fresh what is listed is, what it is when it isn't what was asked for, and how far loading is.

use crate::app::format::{coarse, count, plural, until};
use crate::app::keymap::{Action, Context};
use crate::app::views::all::UnderWay;
use crate::app::views::price::percent;
use crate::model::Time;
use crate::model::failure::{Failure, FailureKind};
use crate::model::load::Load;
use crate::model::period::DateRange;
use crate::model::report::Report;
use crate::ui::View;
use crate::ui::text::Row;
use chrono::Datelike;
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

fn ask_key(view: View<'_>) -> String {
    view.app.told(Context::Views, Action::Refresh)
}

fn load_key(view: View<'_>) -> String {
    view.app.told(Context::Views, Action::LoadAll)
}

fn loading<'a>(view: View<'_>, under_way: UnderWay, width: usize) -> Line<'a> {
    let theme = view.theme;
    let wanted = view.app.views.query().range;
    let of = if under_way.range == wanted { String::new() } else { format!(" of {}", under_way.range) };
    let mut row = Row::new(width);
    row.push(" ", theme.text);
    let stops = format!(" · {} stops", view.app.told(Context::Views, Action::Close));
    let end = if under_way.stopping { " · stopping after this answer" } else { &stops };
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
    let as_of = as_of(view, report.as_of);
    if !views.is_current() {
        return of_another(view, &format!("{}, all pages", dates(view, report.range, width)), &as_of, width);
    }
    let mut row = Row::new(width);
    row.push(" ", theme.text);
    let failure = views.trouble(now);
    let goes_on =
        views.all.broken_off(report.range).map(|rows| format!("{} goes on after {} rows", load_key(view), count(rows)));
    if report.complete {
        let fresh = report.range.is_fresh(report.as_of, now);
        row.push(format!("all pages {as_of}"), if fresh { theme.muted } else { theme.warning });
        match goes_on {
            Some(goes_on) => row.push(format!("; {goes_on}"), theme.muted),
            None if !fresh && failure.is_none() => row.push(format!("; {} asks anew", ask_key(view)), theme.muted),
            None => &mut row,
        };
    } else {
        let share = views.loaded_share().map(|share| format!(", {} of views", percent(share))).unwrap_or_default();
        row.push(format!("! not all pages: {} rows{share}", count(report.rows.len())), theme.warning);
        row.push(format!("; {} goes on", load_key(view)), theme.muted);
        if let Some(from) = failure.and_then(|failure| limited_until(view, failure)) {
            row.push(from.goes_on(), theme.warning);
        }
        row.push(format!("  {as_of}"), theme.muted);
    }
    if let Some(failure) = failure.filter(|failure| report.complete || limited_until(view, failure).is_none()) {
        row.push("  ", theme.text);
        let words = failure_words(view, failure, row.room());
        row.push(words, theme.warning);
    }
    row.line()
}

fn of_answer<'a>(view: View<'_>, width: usize) -> Line<'a> {
    let View { app, theme, now } = view;
    let views = &app.views;
    let mut row = Row::new(width);
    let Some(shown) = views.load().shown() else { return row.line() };
    let as_of = as_of(view, shown.as_of);
    if !views.is_current() {
        let (query, wanted) = (shown.value.query, views.query());
        let page = if query.limit == wanted.limit {
            format!("page {}", query.page)
        } else {
            format!("page {} at {} per page", query.page, query.limit)
        };
        let shown = if query.range == wanted.range {
            page
        } else if query.page > 1 {
            format!("{}, {page}", dates(view, query.range, width))
        } else {
            dates(view, query.range, width)
        };
        return of_another(view, &shown, &as_of, width);
    }
    row.push(" ", theme.text);
    match views.load() {
        Load::Loading { .. } => row.push(format!("asking again…  {as_of}"), theme.muted),
        _ => row.push(as_of, theme.muted),
    };
    if let Some(rows) = views.all.broken_off(views.query().range) {
        row.push(format!("   {} goes on after {} rows", load_key(view), count(rows)), theme.muted);
    }
    if let Some(failure) = views.trouble(now) {
        row.push("  ", theme.text);
        let words = failure_words(view, failure, row.room());
        row.push(words, theme.warning);
    }
    row.line()
}

/// What is listed where that is not what was asked for: it comes first, since the dates above are of something else;
/// then why.
fn of_another<'a>(view: View<'_>, shown: &str, as_of: &str, width: usize) -> Line<'a> {
    let View { app, theme, now } = view;
    let mut row = Row::new(width);
    row.push(format!(" shows {shown}"), theme.warning).push(" · ", theme.muted);
    let why = match (app.views.trouble(now), app.views.load()) {
        (_, Load::Loading { .. }) => "loading…".to_owned(),
        (Some(failure), _) => failure_words(view, failure, row.room()),
        (None, _) => format!("{} asks", ask_key(view)),
    };
    row.push(why, theme.warning);
    let as_of = format!("  {as_of}");
    if row.room() >= as_of.width() {
        row.push(as_of, theme.muted);
    }
    row.line()
}

/// A range in as few cells as tell it; without its year only where that is the present one.
fn dates(view: View<'_>, range: DateRange, width: usize) -> String {
    let (from, to) = (range.from(), range.to());
    let year = view.now.year();
    let format = if from.year() == year && to.year() == year { "%m-%d" } else { "%y-%m-%d" };
    let gap = if width < 60 { "…" } else { " … " };
    if width >= 100 || (width >= 60 && format != "%m-%d") {
        return range.to_string();
    }
    format!("{}{gap}{}", from.format(format), to.format(format))
}

/// When requests are possible again, while they are not.
enum Until {
    Clock(String),
    /// Less than a minute.
    Soon(String),
}

impl Until {
    fn goes_on(&self) -> String {
        match self {
            Self::Clock(at) => format!(" from {at} on"),
            Self::Soon(left) => format!(" in {left}"),
        }
    }
}

fn limited_until(view: View<'_>, failure: &Failure) -> Option<Until> {
    match failure.kind {
        FailureKind::Limited { until: at } if at > view.now => {
            let left = at - view.now;
            Some(if left.num_seconds() < 60 {
                Until::Soon(until(left))
            } else {
                Until::Clock(at.with_timezone(&view.app.start.offset).format("%H:%M").to_string())
            })
        }
        _ => None,
    }
}

/// Why there is nothing newer: the whole sentence where it has room, else the longest form that does. None is cut
/// where anything at all can be said; the footer has said the whole sentence.
fn failure_words(view: View<'_>, failure: &Failure, room: usize) -> String {
    let mut forms: Vec<String> = Vec::new();
    match limited_until(view, failure) {
        Some(limit) => {
            let (used_up, none) = match limit {
                Until::Clock(at) => (format!("limit used up until {at}"), format!("no requests until {at}")),
                Until::Soon(left) => (format!("limit used up for {left}"), format!("no requests for {left}")),
            };
            let told = |action| view.app.told(Context::Views, action);
            let (trend, kept) = (told(Action::Trend), told(Action::ListKept));
            forms.push(format!("{used_up}; {trend}, {kept} and what is cached can still be seen"));
            forms.extend([
                format!("{used_up}, {} asks then", ask_key(view)),
                used_up,
                none,
                "limit used up".to_owned(),
            ]);
        }
        None => {
            forms.push(failure.sentence.to_string());
            let r = ask_key(view);
            let kind = match failure.kind {
                FailureKind::Offline => "offline",
                FailureKind::KeyRefused => "key refused",
                FailureKind::NotFound => "not found",
                FailureKind::Limited { .. } => "limit used up",
                FailureKind::Service => "no usable answer",
                FailureKind::Store => "record failed",
                FailureKind::Local => "failed here",
            };
            forms.extend([format!("{kind}, {r} tries again"), format!("{kind}, {r} again"), kind.to_owned()]);
        }
    }
    let last = forms.last().cloned().unwrap_or_default();
    forms.into_iter().find(|form| form.width() <= room).unwrap_or(last)
}
