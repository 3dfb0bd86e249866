//! The jobs of all profiles.
//!
//! ```text
//! ┌ Jobs of all profiles: 48, 3 need you ──────────────────────────────────────────┐
//! │▌● ✓ acme      Fix broken links in /api                     PR 1423       14m  │
//! │ ● ✗ beta      Translate /billing                           failed         5h  │
//! ```

use super::jobs::{glyph, info};
use super::text::{Row, left, right};
use super::{View, boxed, more_below, put};
use crate::app::all_jobs::{AllJobs, Known};
use crate::app::format::{coarse, count};
use crate::app::keymap::{Action, Context};
use crate::model::load::Load;
use crate::model::row::Group;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Wrap};
use unicode_width::UnicodeWidthStr;

const INFO: usize = 12;
const AGE: usize = 5;
/// Most cells of a profile's name.
const PROFILE: usize = 16;

pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, open: &AllJobs, area: Rect) {
    let theme = view.theme;
    let title = match (open.len(), open.needing()) {
        (0, _) => " Jobs of all profiles ".to_owned(),
        (n, 0) => format!(" Jobs of all profiles: {} ", count(n)),
        (n, needing) => format!(" Jobs of all profiles: {}, {} need you ", count(n), count(needing)),
    };
    let inner = boxed(frame, area, Line::styled(title, theme.title), theme.focus);
    let said = match (&open.jobs, open.jobs.shown()) {
        (Load::Failed { failure, .. }, None) => Some((failure.sentence.to_string(), theme.bad)),
        (_, None) => Some(("Reading what is known here…".to_owned(), theme.muted)),
        (_, Some(_)) if open.is_empty() => Some(("No jobs are known on this computer yet.".to_owned(), theme.muted)),
        _ => None,
    };
    if let Some((text, style)) = said {
        let inside = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
        frame.render_widget(Paragraph::new(Line::styled(text, style)).wrap(Wrap { trim: true }), inside);
        return;
    }
    let g = view.app.geometry();
    let (lines, rows) = (g.all_jobs_lines(), g.all_jobs_rows());
    let names = view.app.start.profiles.iter().map(|profile| profile.name.as_str().width());
    let shown = open.visible(rows).map(|(known, _)| view.app.owners(known).width());
    let names = names.chain(shown).max().unwrap_or(0);
    for (n, (known, chosen)) in open.visible(rows).enumerate() {
        put(frame, lines, n, line(view, known, chosen, names.min(PROFILE), usize::from(inner.width)));
    }
    put(frame, inner, rows, foot(view, open, usize::from(inner.width)));
    more_below(frame, view, area, open.below(rows));
}

fn line<'a>(view: View<'_>, known: &Known, chosen: bool, names: usize, width: usize) -> Line<'a> {
    let View { app, theme, now } = view;
    let job = &known.row;
    let (glyph, glyph_style) = glyph(view, job);
    let (info, info_style) = info(view, job);
    let needs = job.group() == Group::NeedsYou;
    let mut row = Row::new(width);
    row.push(if chosen { "▌" } else { " " }, theme.mark);
    row.push(if needs { "● " } else { "  " }, theme.warning);
    row.push(glyph, glyph_style).push(" ", theme.text);
    let name = app.owners(known);
    // In a narrow terminal half of a name has to do.
    let names = if width < 60 { names.min(8) } else { names };
    row.push(left(&name, names), theme.muted).push("  ", theme.text);
    // The sign says the same in one cell.
    let info_cells = if width < 50 { 0 } else { INFO };
    let room = row.room().saturating_sub(info_cells + AGE + 3);
    let style = match (chosen, job.group()) {
        (true, _) => theme.selected,
        (false, Group::Done) => theme.muted,
        (false, _) => theme.text,
    };
    row.push(left(job.title.as_str(), room), style).push("  ", theme.text);
    row.push(left(&info, info_cells), info_style);
    row.push(right(&coarse(now - job.age_from()), AGE), theme.muted);
    row.line()
}

/// How old what is known of the selected one is: only the present profile's jobs are being watched.
fn foot<'a>(view: View<'_>, open: &AllJobs, width: usize) -> Line<'a> {
    let View { app, theme, now } = view;
    let Some(known) = open.selected() else { return Line::default() };
    let seen = match known.row.checked_at.map(|at| coarse(now - at)) {
        None => "the service was not asked about it yet".to_owned(),
        Some(age) if age == "now" => "as the service said just now".to_owned(),
        Some(age) => format!("as the service said {age} ago"),
    };
    let name = app.start.profiles.get(known.profile).map(|profile| profile.name.to_string()).unwrap_or_default();
    let watched = match known.profile == app.start.current {
        true => String::new(),
        false => format!("; not being watched: {} turns to {name}", app.told(Context::AllJobs, Action::Open)),
    };
    let mut row = Row::new(width);
    row.push(" ", theme.text).push(super::text::fit(&format!("{seen}{watched}"), width.saturating_sub(2)), theme.muted);
    row.line()
}
