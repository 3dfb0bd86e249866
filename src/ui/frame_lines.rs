//! The first and the last line: where one is, how the talk with the service goes, what is used; and the keys of this
//! moment or what there is to say.

use super::View;
use super::text::Row;
use crate::app::format::{count, until};
use crate::app::keymap::{Action, Context};
use crate::app::{App, Screen, Tone};
use crate::model::connection::Connection;
use crate::model::ledger::Limited;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::Line;
use ratatui::widgets::Clear;
use unicode_width::UnicodeWidthStr;

/// Most lines that a problem takes at the foot.
const PROBLEM_LINES: usize = 4;

pub(super) fn header(frame: &mut Frame<'_>, view: View<'_>, area: Rect) {
    let theme = view.theme;
    let width = usize::from(area.width);
    let mut row = Row::new(width);
    // In a narrow terminal the name gives way to the tabs.
    let name_of_program = if width < 60 && view.app.screen != Screen::Welcome { "" } else { " docdeck" };
    row.push(name_of_program, theme.title);
    if view.app.screen == Screen::Welcome {
        frame.render_widget(row.line(), area);
        return;
    }
    let tabs = tabs(view.app);
    let name = if view.app.start.demo { "demo" } else { view.app.start.profile.as_str() };
    let connection = connection(view);
    // What has no room is left out, the least important first: the count of active jobs, the profile, the ledger.
    let mut room = width.saturating_sub(name_of_program.len() + 1 + connection.0.width());
    room = room.saturating_sub(tabs.iter().map(|(text, _)| text.width() + 2).sum::<usize>() + 2);
    let mut fits = |text: &str| {
        let needed = text.width() + 2;
        let fits = needed <= room;
        room -= if fits { needed } else { 0 };
        fits
    };
    let ledger = ledger(view).filter(|(text, _)| fits(text));
    let name = fits(name).then_some(name);
    let active = active(view).filter(|(text, _)| fits(text));
    if let Some(name) = name {
        row.push("  ", theme.text).push(name, theme.muted);
    }
    for (text, current) in &tabs {
        let style = if *current { theme.mark.add_modifier(Modifier::UNDERLINED) } else { theme.muted };
        row.push("  ", theme.text).push(text, style);
    }
    let parts: Vec<(String, Style)> = [Some(connection), active, ledger].into_iter().flatten().collect();
    let needed = parts.iter().map(|(text, _)| text.width() + 2).sum::<usize>();
    row.to((width + 1).saturating_sub(needed));
    for (n, (text, style)) in parts.into_iter().enumerate() {
        row.push(if n == 0 { "" } else { "  " }, theme.text).push(text, style);
    }
    frame.render_widget(row.line(), area);
}

fn tabs(app: &App) -> Vec<(String, bool)> {
    let jobs = match app.jobs.len() {
        0 => "1 Jobs".to_owned(),
        n => format!("1 Jobs {}", count(n)),
    };
    [(jobs, Screen::Jobs), ("2 Views".to_owned(), Screen::Views), ("3 Log".to_owned(), Screen::Log)]
        .into_iter()
        .map(|(text, screen)| (text, app.screen == screen))
        .collect()
}

fn connection(view: View<'_>) -> (String, Style) {
    let View { app, theme, now } = view;
    let active = app.jobs.active();
    let heart = if app.is_beating(now) { "○" } else { "●" };
    match &app.connection {
        Connection::Unknown if active > 0 => ("○ connecting".to_owned(), theme.muted),
        Connection::Unknown => ("○ no answer yet".to_owned(), theme.muted),
        Connection::Live => (format!("{heart} live"), theme.good),
        Connection::Offline { next_try: Some(next_try), .. } if *next_try > now => {
            (format!("✗ offline, next try in {} s", ((*next_try - now).num_seconds()).max(1)), theme.bad)
        }
        Connection::Offline { next_try: None, .. } => ("✗ offline".to_owned(), theme.bad),
        Connection::Offline { .. } => ("✗ offline, trying".to_owned(), theme.bad),
        Connection::Resting { until: end } => (format!("! resting {}", until(*end - now)), theme.warning),
        Connection::Refused { .. } => {
            let again = app.told(Context::Jobs, Action::Refresh);
            (format!("✗ key refused, {again} tries again"), theme.bad)
        }
    }
}

fn active(view: View<'_>) -> Option<(String, Style)> {
    let active = view.app.jobs.active();
    (active > 0).then(|| (format!("{} active", count(active)), view.theme.text))
}

/// What was used of the limit that matters on this screen, as far as this computer knows.
fn ledger(view: View<'_>) -> Option<(String, Style)> {
    let View { app, theme, now } = view;
    let limited = if app.screen == Screen::Views { Limited::Views } else { Limited::Create };
    if !app.knows_budget(limited) {
        return None;
    }
    let budget = app.budget(limited);
    let mut text = match budget.blocked_until {
        Some(_) => format!("{} limit reached", limited.word()),
        None => format!("{} {}/{} used here", limited.word(), budget.used, budget.limit),
    };
    if let Some(at) = budget.resets_at.filter(|at| *at > now) {
        text.push_str(&format!(" ↺ {}", until(at - now)));
    }
    Some((text, if budget.left() == 0 { theme.warning } else { theme.muted }))
}

pub(super) fn footer(frame: &mut Frame<'_>, view: View<'_>, area: Rect) {
    let View { app, theme, .. } = view;
    if let Some(notice) = &app.notice {
        let style = match notice.tone {
            Tone::Info => theme.title,
            Tone::Greeting => theme.good,
            Tone::Problem => theme.warning,
        };
        let mark = match notice.tone {
            Tone::Info => " ",
            Tone::Greeting => " ✓ ",
            Tone::Problem => " ! ",
        };
        let width = usize::from(area.width);
        let text = format!("{mark}{}", notice.text.as_str());
        let lines = if notice.tone != Tone::Info { wrapped(&text, width) } else { vec![text] };
        // What is long grows upward over the body.
        for (above, text) in (0..).zip(lines.into_iter().rev()) {
            let spot = Rect { y: area.y.saturating_sub(above), ..area };
            let mut row = Row::new(width);
            row.push(text, style);
            frame.render_widget(Clear, spot);
            frame.render_widget(row.line(), spot);
        }
        return;
    }
    if let Some(tip) = app.tip() {
        let mut row = Row::new(usize::from(area.width));
        row.push(" ", theme.text).push(tip, theme.muted);
        frame.render_widget(row.line(), area);
        return;
    }
    frame.render_widget(hints(view, usize::from(area.width)), area);
}

/// The lines of a text, parted between words; what is more than so many lines can hold stays in the last one.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = text.to_owned();
    while lines.len() + 1 < PROBLEM_LINES && rest.width() > width {
        let spaces = rest.match_indices(' ').map(|(at, _)| rest.split_at(at));
        let fitting = spaces.take_while(|(upper, _)| upper.width() <= width).last();
        let Some((upper, lower)) = fitting.filter(|(upper, _)| upper.trim().len() > 1) else { break };
        let (upper, lower) = (upper.to_owned(), format!("  {lower}"));
        lines.push(upper);
        rest = lower;
    }
    lines.push(rest);
    lines
}

/// The keys of this moment, whole ones only; the last two, help and quit, come what may.
fn hints<'a>(view: View<'_>, width: usize) -> Line<'a> {
    let mut items: Vec<(String, String)> =
        view.app.hints().map(|(chord, row)| (chord.to_string(), view.app.hint(row))).collect();
    // The user's own come behind what belongs to this screen, before what holds everywhere.
    let place = items.iter().position(|(_, hint)| matches!(hint.as_str(), "refresh" | "help")).unwrap_or(items.len());
    let own = view.app.own_hints().map(|own| (own.key.to_string(), own.name.to_string()));
    items.splice(place..place, own.collect::<Vec<_>>());
    let cells = |(key, hint): &(String, String)| key.width() + hint.width() + 3;
    let is_kept = |(_, hint): &&(String, String)| matches!(hint.as_str(), "help" | "quit");
    let reserved: usize = items.iter().filter(is_kept).map(cells).sum();
    let mut used = 0;
    let mut row = Row::new(width);
    for item in &items {
        let kept = is_kept(&item);
        if !kept && used + cells(item) + reserved > width {
            continue;
        }
        if !kept {
            used += cells(item);
        }
        row.push(" ", view.theme.text);
        row.push(&item.0, view.theme.key);
        row.push(format!(" {} ", item.1), view.theme.muted);
    }
    row.line()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_problem_that_needs_more_lines_is_parted_between_words() {
        assert_eq!(wrapped(" ! all fits", 20), [" ! all fits"]);
        let said = " ! The service can't be reached, so nothing was sent";
        assert_eq!(wrapped(said, 31), [" ! The service can't be", "   reached, so nothing was sent"]);
        let said = " ! one two three four five six seven eight";
        assert_eq!(wrapped(said, 10), [" ! one two", "   three", "   four", "   five six seven eight"]);
        assert_eq!(wrapped(" ! averyverylongword", 10), [" ! averyverylongword"]);
    }
}
