//! Draws the jobs list with its groups.
//!
//! ```text
//! ┌ Jobs: all 48 · needs you 3 · working 1 ─────────────────┐
//! │ NEEDS YOU 3                                             │
//! │▌●*✓ Fix broken links in /api     #docs PR 1423     14m  │
//! ```

use super::text::{TextRow, left};
use super::{View, draw_line, draw_more_below, draw_pane};
use crate::model::Time;
use crate::model::job::Status;
use crate::model::job_state::{JobState, MARKED, NEEDS_YOU, NOT_OPENED, SELECTED, list_word};
use crate::model::row::{Job, JobGroup};
use crate::tui::format::{format_count, plural, short_age};
use crate::tui::jobs::JobLine as ListLine;
use crate::tui::keymap::{Action, Context};
use crate::tui::{Pane, StoreState};
use chrono::TimeDelta;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};
use std::borrow::Cow;
use unicode_width::UnicodeWidthStr;

/// Width of the column with the queue wait, the pull request or the status.
const INFO_CELLS: usize = 12;
/// Width of the column that shows for how long the job has been in its state.
const AGE_CELLS: usize = 4;

pub(in crate::tui) fn draw(frame: &mut Frame<'_>, view: View<'_>, area: Rect) {
    let View { app, theme, .. } = view;
    let border = if app.pane == Pane::List { theme.focus } else { theme.border };
    let title = super::list_title::list_title_line(view, usize::from(view.app.geometry().list_title().width));
    let inner = draw_pane(frame, area, &title, border);
    if app.jobs.is_empty() {
        draw_empty_list(frame, view, inner);
        return;
    }
    if app.jobs.matching_count() == 0 {
        draw_no_match(frame, view, inner);
        return;
    }
    for (row, line) in app.jobs.visible(usize::from(inner.height)).enumerate() {
        let line = match line {
            ListLine::Heading(group, n, hidden) => group_heading(view, group, n, hidden),
            ListLine::Job(job) => job_line(view, job, usize::from(inner.width)),
        };
        draw_line(frame, inner, row, line);
    }
    draw_more_below(
        frame,
        view,
        area,
        app.jobs.line_count().saturating_sub(app.jobs.top() + usize::from(inner.height)),
    );
}

/// Draws the message that is shown if the filter or the tab hides all jobs, with the keys that show jobs again.
fn draw_no_match(frame: &mut Frame<'_>, view: View<'_>, inner: Rect) {
    let View { app, theme, .. } = view;
    let mut lines = vec![
        Line::styled(format!("None of the {} matches.", plural(app.jobs.len(), "job")), theme.title),
        Line::default(),
    ];
    if app.filter_text().trim().is_empty() {
        lines.extend(key_lines(view, &[(Context::Jobs, Action::PreviousTab, "shows the previous tab")]));
    } else if app.filter_input().is_some() {
        lines.extend(key_lines(view, &[(Context::Filter, Action::Close, "clears the filter")]));
    } else {
        let all = [(Context::Jobs, Action::Close, "clears the filter"), (Context::Jobs, Action::Filter, "changes it")];
        lines.extend(key_lines(view, &all));
    }
    lines.push(Line::default());
    lines.push(Line::styled("words  s:failed  m:sonnet  #1423  tag:x  !word", theme.muted));
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), inset(inner));
}

/// Returns one line per action: its keyboard shortcut and what it does.
fn key_lines<'a>(view: View<'_>, all: &[(Context, Action, &'static str)]) -> Vec<Line<'a>> {
    let label = |(context, action, _): &(Context, Action, _)| view.app.key_label(*context, *action);
    let widest = all.iter().map(|row| label(row).width()).max().unwrap_or(0);
    let line = |row: &(Context, Action, &'static str)| {
        Line::from(vec![Span::styled(left(&label(row), widest), view.theme.key), Span::raw(format!("  {}", row.2))])
    };
    all.iter().map(line).collect()
}

fn inset(inner: Rect) -> Rect {
    Rect {
        x: inner.x + 2,
        width: inner.width.saturating_sub(3),
        y: inner.y + 1,
        height: inner.height.saturating_sub(1),
    }
}

fn draw_empty_list(frame: &mut Frame<'_>, view: View<'_>, inner: Rect) {
    let View { app, theme, .. } = view;
    let lines = match &app.store {
        StoreState::Reading => vec![Line::styled("Loading jobs…", theme.muted)],
        StoreState::Unreadable { why, .. } => vec![Line::styled(why.message.to_string(), theme.bad)],
        StoreState::Read => vec![Line::styled("No jobs yet.", theme.title), Line::default()]
            .into_iter()
            .chain(key_lines(
                view,
                &[
                    (Context::Jobs, Action::NewJob, "starts a job from a prompt"),
                    (Context::Jobs, Action::Track, "tracks a job created elsewhere"),
                ],
            ))
            .chain([Line::default(), Line::styled("The service can't list jobs, so docdeck tracks them.", theme.muted)])
            .collect(),
    };
    let area = inset(inner);
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), area);
}

pub(in crate::tui) fn group_heading<'a>(view: View<'_>, group: JobGroup, n: usize, hidden: bool) -> Line<'a> {
    let theme = view.theme;
    let style = if group == JobGroup::NeedsYou { theme.warning } else { theme.muted };
    let mut spans = vec![
        Span::styled(format!(" {}", group.name().to_uppercase()), style),
        Span::styled(format!(" {}", format_count(n)), theme.muted),
    ];
    if hidden {
        spans.push(Span::styled(
            format!("  {} to show", view.app.key_label(Context::Jobs, Action::FoldDismissed)),
            theme.muted,
        ));
    }
    Line::from(spans)
}

fn job_line<'a>(view: View<'_>, job: &'a Job, width: usize) -> Line<'a> {
    let View { app, theme, now } = view;
    let selected = app.jobs.is_selected(job);
    let group = app.jobs.shown_group(job);
    let is_quiet = matches!(group, JobGroup::Done | JobGroup::Dismissed);
    let needs_user = job.group() == JobGroup::NeedsYou;
    let (glyph, glyph_style) = state_glyph(view, job);
    let mut row = TextRow::new(width);
    row.push_cow(if selected { SELECTED } else { " " }, theme.mark);
    // A full dot means that the job needs the user. A hollow dot means that the job has finished, doesn't need the
    // user, and was not opened since.
    let ended_unseen = job.status.as_ref().is_some_and(Status::is_finished) && job.is_unseen() && !job.dismissed;
    let (sign, style) = match (needs_user, ended_unseen) {
        (true, _) => (NEEDS_YOU, theme.warning),
        (false, true) => (NOT_OPENED, theme.muted),
        (false, false) => (" ", theme.text),
    };
    row.push_cow(sign, style);
    row.push_cow(if app.jobs.is_marked(job.key) { MARKED } else { " " }, theme.mark);
    row.push_cow(glyph, glyph_style).push_cow(" ", theme.text);
    let title_width = row.remaining().saturating_sub(INFO_CELLS + AGE_CELLS + 4);
    let title_style = match (selected, is_quiet) {
        (true, _) => theme.selected,
        (false, true) => theme.muted,
        (false, false) => theme.text,
    };
    let tags = fitting_tags(job, title_width);
    row.left(job.title.as_str(), title_width.saturating_sub(tags.width()), title_style);
    row.push_cow(tags, theme.muted).push_cow("  ", theme.text);
    let (info, info_style) = match app.queue_wait(job, now) {
        Some(wait) if wait.is_estimate => ("about 1 min".into(), theme.muted),
        // Other queued prompts may be sent first, so the text says “after” the time at which the next one is sent.
        Some(wait) if wait.until - now >= TimeDelta::minutes(1) => {
            let clock = wait.until.with_timezone(&app.config.offset).format("%H:%M");
            (format!("after {clock}").into(), theme.muted)
        }
        _ => job_info(view, job),
    };
    row.left(info, INFO_CELLS, if is_quiet && !selected { theme.muted } else { info_style });
    row.right(state_age(job, now), AGE_CELLS + 1, theme.muted);
    row.line()
}

/// Returns how long the job has been in its state, as text. Empty if unknown.
pub(in crate::tui) fn state_age(job: &Job, now: Time) -> Cow<'static, str> {
    job.state_since().map_or(Cow::Borrowed(""), |since| short_age(now - since).into())
}

/// Returns the tags that fit behind the title. A tag is shown in full or not at all.
pub(in crate::tui) fn fitting_tags(job: &Job, space: usize) -> String {
    let mut out = String::new();
    if job.tags.is_empty() {
        return out;
    }
    let mut left = space.saturating_sub(job.title.as_str().width() + 1);
    for tag in &job.tags {
        let needed = tag.as_str().width() + 2;
        if needed <= left {
            left -= needed;
            out.push_str(&format!(" #{tag}"));
        }
    }
    out
}

/// Returns the symbol of the job's state, which is drawn before the title, and its style.
pub(in crate::tui) fn state_glyph(view: View<'_>, job: &Job) -> (&'static str, Style) {
    let state = JobState::of(job);
    (state.symbol(), symbol_style(view, state))
}

/// Returns the style of a state's symbol.
pub(in crate::tui) fn symbol_style(view: View<'_>, state: JobState) -> Style {
    let theme = view.theme;
    match state {
        JobState::Unconfirmed => theme.warning,
        JobState::NotSent | JobState::Rejected | JobState::Failed => theme.bad,
        JobState::Sending | JobState::Active | JobState::Other => theme.working,
        JobState::Completed => theme.good,
        _ => theme.muted,
    }
}

/// Returns the text and the style of the column behind the title. The text shows what the symbol alone doesn't.
pub(in crate::tui) fn job_info<'a>(view: View<'_>, job: &'a Job) -> (Cow<'a, str>, Style) {
    let theme = view.theme;
    let style = match JobState::of(job) {
        JobState::Unconfirmed | JobState::NotSent | JobState::Rejected => theme.warning,
        JobState::Failed => theme.bad,
        JobState::Other => theme.working,
        JobState::Completed if job.pr_link.is_some() => theme.good,
        _ => theme.muted,
    };
    (list_word(job), style)
}
