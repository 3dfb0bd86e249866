//! The jobs of all profiles.
//!
//! ```text
//! ┌ Jobs of all profiles: 48 · needs you 3 ─────────────────────────────────────────┐
//! │ NEEDS YOU 3                                                                     │
//! │▌●*✓ acme      Fix broken links in /api              #docs  PR 1423         14m  │
//! │ ● ✗ beta      Translate /billing                           failed           5h  │
//! ```

use super::jobs::{age, glyph, heading, info, tags};
use super::text::{TextRow, fit, left, right};
use super::{View, boxed, more_below, put};
use crate::app::all_jobs::AllJobs;
use crate::app::format::{coarse, plural};
use crate::app::jobs::JobLine as ListLine;
use crate::app::keymap::{Action, Context};
use crate::model::job_state::{MARKED, NEEDS_YOU, SELECTED};
use crate::model::load::Load;
use crate::model::row::{Job, JobGroup};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Wrap};
use unicode_width::UnicodeWidthStr;

const INFO: usize = 12;
const AGE: usize = 5;
/// Most cells of a profile's name, of one where there is less room, and of one in a narrow terminal.
const PROFILE: usize = 16;
const SHORT_PROFILE: usize = 12;
const NARROW_PROFILE: usize = 8;
/// From this width on a name has all of its cells.
const WITH_WHOLE_NAMES: usize = 100;
/// Cells of the lower border that more lines below take.
const BELOW: u16 = 16;
/// Below this width half of a name has to do, and below the second one the sign alone says how a job is.
const WITH_NAMES: usize = 60;
const WITH_INFO: usize = 50;

pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, open: &AllJobs, area: Rect) {
    let theme = view.theme;
    let title = super::list_title::all_jobs(view, usize::from(area.width.saturating_sub(2)));
    let inner = boxed(frame, area, title, theme.focus);
    if let Some((text, style)) = instead(view, open) {
        let inside = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
        frame.render_widget(Paragraph::new(Line::styled(text, style)).wrap(Wrap { trim: true }), inside);
        return;
    }
    let g = view.app.geometry();
    let (lines, rows, width) = (g.all_jobs_lines(), g.all_jobs_rows(), usize::from(inner.width));
    let names = names(view, open, rows, width);
    for (n, line) in open.list.visible(rows).enumerate() {
        let line = match line {
            ListLine::Heading(group, n, hidden) => heading(view, group, n, hidden),
            ListLine::Job(job) => job_line(view, open, job, names, width),
        };
        put(frame, lines, n, line);
    }
    put(frame, inner, rows, foot(view, open, width));
    let below = open.list.line_count().saturating_sub(open.list.top() + rows);
    more_below(frame, view, area, below);
    left_out(frame, view, open, area, if below > 0 { BELOW } else { 0 });
}

/// Says in the lower border how many jobs no profile leads to; `taken` cells of it are.
fn left_out(frame: &mut Frame<'_>, view: View<'_>, open: &AllJobs, area: Rect, taken: u16) {
    if open.left_out() == 0 {
        return;
    }
    let room = usize::from(area.width.saturating_sub(4 + taken));
    let jobs = plural(open.left_out(), "job");
    let texts = [
        format!(" {jobs} of projects without a profile not listed "),
        format!(" {jobs} without a profile "),
        format!(" {jobs} not listed "),
    ];
    let Some(text) = texts.iter().find(|text| text.width() <= room) else { return };
    let width = u16::try_from(text.width()).unwrap_or(0);
    let spot = Rect::new(area.x + 2, area.bottom().saturating_sub(1), width, 1);
    frame.render_widget(Line::styled(text.as_str(), view.theme.warning), spot);
}

/// What stands there where no job does.
fn instead(view: View<'_>, open: &AllJobs) -> Option<(String, ratatui::style::Style)> {
    let theme = view.theme;
    match (&open.reading, open.is_read()) {
        (Load::Failed { failure, .. }, false) => Some((failure.sentence.to_string(), theme.bad)),
        (_, false) => Some(("Reading what is known here…".to_owned(), theme.muted)),
        (_, true) if open.list.is_empty() && open.left_out() > 0 => {
            Some(("No jobs of these profiles are known on this computer yet.".to_owned(), theme.muted))
        }
        (_, true) if open.list.is_empty() => Some(("No jobs are known on this computer yet.".to_owned(), theme.muted)),
        (_, true) if open.list.passing() == 0 => {
            let jobs = plural(open.list.len(), "job");
            let back = if open.filter().trim().is_empty() {
                format!("{} goes back to all jobs", view.app.key_label(Context::AllJobs, Action::PreviousTab))
            } else {
                format!("{} clears the filter", view.app.key_label(Context::Everywhere, Action::Close))
            };
            let text = format!("None of the {jobs} known here matches; {back}.");
            Some((text, theme.muted))
        }
        _ => None,
    }
}

/// Cells of the column of profiles: as wide as its longest name, within limits.
fn names(view: View<'_>, open: &AllJobs, rows: usize, width: usize) -> usize {
    let app = view.app;
    let all = app.config.profiles.iter().map(|profile| profile.name.as_str().width());
    let shown = open.list.visible(rows).filter_map(|line| match line {
        ListLine::Job(job) => open.profile_of(job).map(|at| app.owners(at).width()),
        ListLine::Heading(..) => None,
    });
    let most = match width {
        0..WITH_NAMES => NARROW_PROFILE,
        WITH_NAMES..WITH_WHOLE_NAMES => SHORT_PROFILE,
        _ => PROFILE,
    };
    all.chain(shown).max().unwrap_or(0).min(most)
}

fn job_line<'a>(view: View<'_>, open: &AllJobs, job: &Job, names: usize, width: usize) -> Line<'a> {
    let View { app, theme, now } = view;
    let chosen = open.list.is_selected(job);
    let is_quiet = matches!(open.list.shown_group(job), JobGroup::Done | JobGroup::Dismissed);
    let (glyph, glyph_style) = glyph(view, job);
    let (info, info_style) = info(view, job);
    let mut row = TextRow::new(width);
    row.push(if chosen { SELECTED } else { " " }, theme.mark);
    row.push(if job.group() == JobGroup::NeedsYou { NEEDS_YOU } else { " " }, theme.warning);
    row.push(if open.list.is_marked(job.key) { MARKED } else { " " }, theme.mark);
    row.push(glyph, glyph_style).push(" ", theme.text);
    let name = open.profile_of(job).map(|at| app.owners(at)).unwrap_or_default();
    row.push(left(&name, names), theme.muted).push("  ", theme.text);
    // The title has the cells of a word that there is none of.
    let info_cells = if width < WITH_INFO || info.is_empty() { 0 } else { INFO };
    let room = row.room().saturating_sub(info_cells + AGE + 3);
    let style = match (chosen, is_quiet) {
        (true, _) => theme.selected,
        (false, true) => theme.muted,
        (false, false) => theme.text,
    };
    let tags = tags(job, room);
    row.push(left(job.title.as_str(), room.saturating_sub(tags.width())), style);
    row.push(tags, theme.muted).push("  ", theme.text);
    row.push(left(&info, info_cells), if is_quiet && !chosen { theme.muted } else { info_style });
    row.push(right(&age(job, now), AGE), theme.muted);
    row.line()
}

/// How old what is known of the selected one is: only the present profile's jobs are being watched.
fn foot<'a>(view: View<'_>, open: &AllJobs, width: usize) -> Line<'a> {
    let View { app, theme, now } = view;
    let Some(job) = open.list.selected() else { return Line::default() };
    let is_narrow = width < WITH_NAMES;
    let seen = match job.checked_at.map(|at| coarse(now - at)) {
        None if is_narrow => "not asked about yet".to_owned(),
        None => "the service was not asked about it yet".to_owned(),
        Some(age) if age == "now" => "as the service said just now".to_owned(),
        Some(age) if is_narrow => format!("as of {age} ago"),
        Some(age) => format!("as the service said {age} ago"),
    };
    let at = open.profile_of(job);
    let name =
        at.and_then(|at| app.config.profiles.get(at)).map(|profile| profile.name.to_string()).unwrap_or_default();
    let watched = match at == Some(app.config.current) {
        true => String::new(),
        false if is_narrow => ", not watched".to_owned(),
        false => format!("; not being watched: {} turns to {name}", app.key_label(Context::AllJobs, Action::Open)),
    };
    let mut row = TextRow::new(width);
    row.push(" ", theme.text).push(fit(&format!("{seen}{watched}"), width.saturating_sub(2)), theme.muted);
    row.line()
}
