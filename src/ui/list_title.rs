//! The title of the jobs list: how many are shown, the filter, marks, sorting, saved filters as tabs, and what needs
//! the user. What has no room is left out, the least important first.

use super::View;
use super::text::{fit, fit_end};
use crate::app::Record;
use crate::app::format::count;
use crate::app::order::{Sort, Sorting};
use crate::model::row::Group;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

pub(super) type Part<'a> = Vec<Span<'a>>;

pub(super) fn line<'a>(view: View<'_>, width: usize) -> Line<'a> {
    let theme = view.theme;
    let mut parts: Vec<Part<'a>> = vec![head(view)];
    let mut room = width.saturating_sub(cells(parts.iter()) + 1);
    let push = |parts: &mut Vec<Part<'a>>, room: &mut usize, part: Part<'a>| {
        let needed = cells([&part].into_iter()) + 3;
        let fits = needed <= *room;
        if fits {
            *room -= needed;
            parts.push(part);
        }
        fits
    };
    let marked = view.app.jobs.marked();
    let marked = (marked > 0).then(|| vec![Span::styled(format!("{} marked", count(marked)), theme.mark)]);
    let sorting = sorting(view.app.jobs.sorting()).map(|text| vec![Span::styled(text, theme.text)]);
    // The filter is cut before it is left out: what narrows the list has to be seen.
    let others = [&marked, &sorting].into_iter().flatten().map(|part| cells([part].into_iter()) + 3).sum::<usize>();
    if let Some(part) = filter(view, room.saturating_sub(others + 3)) {
        push(&mut parts, &mut room, part);
    }
    for part in [marked, sorting].into_iter().flatten() {
        push(&mut parts, &mut room, part);
    }
    if let Some(part) = tabs(view) {
        let fits = push(&mut parts, &mut room, part);
        if !fits && let Some(part) = tab(view, room.saturating_sub(3)) {
            push(&mut parts, &mut room, part);
        }
    }
    for (group, style) in [(Group::NeedsYou, theme.warning), (Group::Working, theme.working)] {
        let n = view.app.jobs.count_of(group);
        if n > 0 {
            // The headings below count what passes the filter.
            let all = if view.app.jobs.filter().is_empty() { "" } else { " in all" };
            push(&mut parts, &mut room, vec![Span::styled(format!("{} {}{all}", group.name(), count(n)), style)]);
        }
    }
    let mut spans: Part<'a> = Vec::new();
    for (n, part) in parts.into_iter().enumerate() {
        if n > 0 {
            spans.push(Span::styled(" · ", theme.muted));
        }
        spans.extend(part);
    }
    spans.push(Span::raw(" "));
    Line::from(spans)
}

pub(super) fn cells<'s, 'a: 's>(parts: impl Iterator<Item = &'s Part<'a>>) -> usize {
    parts.flatten().map(|span| span.content.width()).sum()
}

fn head<'a>(view: View<'_>) -> Part<'a> {
    let View { app, theme, .. } = view;
    let mut spans = vec![Span::styled(" Jobs", theme.title)];
    if app.record == Record::Read {
        let (shown, all) = (app.jobs.passing(), app.jobs.len());
        let text = if app.jobs.filter().is_empty() {
            // Known on this computer, not all that the service has.
            format!(": {} known here", count(all))
        } else {
            format!(": {} of {}", count(shown), count(all))
        };
        spans.push(Span::styled(text, theme.muted));
    }
    spans
}

/// The filter's text in so many cells; with its cursor while it is typed.
pub(super) fn filter<'a>(view: View<'_>, room: usize) -> Option<Part<'a>> {
    let theme = view.theme;
    let Some(input) = view.app.filter_input() else {
        let text = view.app.filter_text().trim();
        return (!text.is_empty())
            .then(|| vec![Span::styled("/", theme.key), Span::styled(fit(text, room.saturating_sub(1)), theme.text)]);
    };
    let text = input.text();
    let at = input.column();
    let before: String = text.chars().take(at).collect();
    let under: String = text.chars().nth(at).map_or_else(|| " ".to_owned(), String::from);
    let after: String = text.chars().skip(at + 1).collect();
    let before = fit_end(&before, room.saturating_sub(1 + under.width()));
    let after = fit(&after, room.saturating_sub(1 + before.width() + under.width()));
    let cursor = theme.text.add_modifier(Modifier::REVERSED);
    Some(vec![
        Span::styled("/", theme.key),
        Span::styled(before, theme.text),
        Span::styled(under, cursor),
        Span::styled(after, theme.text),
    ])
}

/// Said when it is not the usual one.
fn sorting(sorting: Sorting) -> Option<String> {
    (sorting != Sorting::default()).then(|| {
        let arrow = if sorting.reversed { " ↑" } else { "" };
        match sorting.by {
            Sort::Need => "oldest first".to_owned(),
            by => format!("by {}{arrow}", by.name()),
        }
    })
}

fn tabs<'a>(view: View<'_>) -> Option<Part<'a>> {
    let theme = view.theme;
    let mut spans: Part<'a> = Vec::new();
    for (name, current) in view.app.tabs() {
        if !spans.is_empty() {
            spans.push(Span::raw(" "));
        }
        spans.push(tab_span(name, current, if current { theme.mark } else { theme.muted }));
    }
    (!spans.is_empty()).then_some(spans)
}

/// The tab that holds, where there is no room for all.
fn tab<'a>(view: View<'_>, room: usize) -> Option<Part<'a>> {
    let (name, _) = view.app.tabs().find(|(_, current)| *current)?;
    (room > 4).then(|| vec![tab_span(&fit(name, room.saturating_sub(2)), true, view.theme.mark)])
}

/// The current one stands in brackets: not by colour alone.
fn tab_span<'a>(name: &str, current: bool, style: Style) -> Span<'a> {
    Span::styled(if current { format!("[{name}]") } else { format!(" {name} ") }, style)
}
