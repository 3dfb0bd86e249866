//! Draws the jobs list with its groups.
//!
//! ```text
//! ─ Jobs ────────────────────────────────────────────────────
//!     status       title                      by    PR       age
//!  Needs you 3
//! ▌*✓ ready        Fix broken links in /api   ana   #1423    14m
//! ```

use crate::model::Time;
use crate::model::job::{Job, JobGroup};
use crate::model::job_state::{
    JobState, MARKED_SYMBOL, NEEDS_YOU_SYMBOL, SELECTED_SYMBOL, UNSEEN_SYMBOL, fact_shown_as_state, pull_request_cell,
    state_word_in_lists,
};
use crate::model::text::CleanText;
use crate::tui::draw::boxes::draw_line;
use crate::tui::draw::rules::draw_pane_rule;
use crate::tui::draw::text::{align_left, selected_line};
use crate::tui::draw::{cursor, list_title};
use crate::tui::format::{capitalized, format_count, short_age, truncate_title};
use crate::tui::geometry::{Geometry, MIN_COLUMNS_SIDE_BY_SIDE, title_area};
use crate::tui::jobs::{AUTHOR_GAP, JobLine as ListLine, JobList};
use crate::tui::keymap::{Action, Context};
use crate::tui::order::Sort;
use crate::tui::view::View;
use crate::tui::widgets::table::{Column, Table, TableCell};
use crate::tui::{App, Pane, StoreState};
use chrono::TimeDelta;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};
use std::borrow::Cow;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use unicode_width::UnicodeWidthStr;

/// Width of the column with the word for the state.
const STATE_CELLS: usize = 11;
/// Width of the column with the number of the pull request.
const PULL_REQUEST_CELLS: usize = 6;
/// Width of the column with the number of the pull request, followed by the symbol of the pull request's state.
const PULL_REQUEST_CELLS_WITH_SYMBOL: usize = 8;
/// Width of the column that shows for how long the job has been in its state.
const AGE_CELLS: usize = 4;
/// Minimum width of the list at which it has columns for the state in words and for the pull request.
const MIN_WIDTH_WITH_STATE: usize = 56;
/// Minimum width of the list at which a symbol follows the number of a pull request. In a narrower list, the titles
/// need the space.
const MIN_WIDTH_WITH_SYMBOL: usize = 60;

pub(in crate::tui) fn draw(frame: &mut Frame<'_>, view: View<'_>, g: Geometry) {
    let View { app, theme, .. } = view;
    let (inner, rule) = (g.list, g.list_rule());
    let is_focused = app.focused_pane() == Some(Pane::List);
    let name = if is_focused { theme.focus } else { theme.text };
    let title = list_title::list_title_line(view, usize::from(title_area(rule).width), name);
    draw_pane_rule(frame, view, rule, is_focused && g.shows_both_panes(), title, Line::default());
    cursor::place_cursor_in_corner(frame, inner);
    if app.jobs.is_empty() {
        draw_empty_list(frame, view, inner);
        return;
    }
    if app.jobs.matching_count() == 0 {
        draw_no_match(frame, view, inner);
        return;
    }
    let columns = list_table(app, inner.width);
    let lines = g.list_lines();
    draw_headings(frame, view, &columns, inner, lines);
    let rows = usize::from(lines.height);
    for ((row, line), part) in app.jobs.visible(rows).enumerate().zip(lines.rows()) {
        match line {
            ListLine::Job(job) if app.jobs.is_selected(job) => {
                view.kept_cells.discard_kept_row(frame.buffer_mut(), part.y)
            }
            _ if view.kept_cells.try_keep(frame.buffer_mut(), part, line_cache_key(&line, &app.jobs)) => continue,
            _ => {}
        }
        let line = match line {
            ListLine::Heading(group, n, hidden) => group_heading(view, group, n, hidden),
            ListLine::Job(job) => job_line(view, &columns, &app.jobs, job, None),
        };
        draw_line(frame, lines, row, line);
    }
}

/// Returns the key by which [`KeptCells`](crate::tui::draw::KeptCells) recognizes a line. The key of a job includes its
/// group, because the group may change when another job is selected.
fn line_cache_key(line: &ListLine<'_>, list: &JobList) -> u64 {
    let mut hasher = DefaultHasher::new();
    match line {
        ListLine::Heading(group, n, hidden) => (group, n, hidden).hash(&mut hasher),
        ListLine::Job(job) => (job.key, list.shown_group(job)).hash(&mut hasher),
    }
    hasher.finish()
}

/// Draws the column headings above the lines of a list, if there is a row for them.
pub(in crate::tui) fn draw_headings(
    frame: &mut Frame<'_>,
    view: View<'_>,
    columns: &JobTable,
    inner: Rect,
    lines: Rect,
) {
    if lines.y > inner.y {
        draw_line(frame, inner, 0, columns.headings(view.theme.muted));
    }
}

/// Draws the message that is shown if the filter or the tab hides all jobs, with the keys that show jobs again.
fn draw_no_match(frame: &mut Frame<'_>, view: View<'_>, inner: Rect) {
    let View { app, theme, .. } = view;
    let mut lines = vec![Line::styled("No jobs match.", theme.title), Line::default()];
    if app.filter_text().trim().is_empty() {
        lines.extend(shortcut_lines(view, &[(Context::Jobs, Action::PreviousTab, "shows the previous tab")]));
    } else if app.filter_input().is_some() {
        lines.extend(shortcut_lines(view, &[(Context::Filter, Action::Close, "clears the filter")]));
    } else {
        let all = [(Context::Jobs, Action::Close, "clears the filter"), (Context::Jobs, Action::Filter, "changes it")];
        lines.extend(shortcut_lines(view, &all));
    }
    lines.push(Line::default());
    let by = if app.jobs.author_cells().is_some() { "by:ana  mine  " } else { "" };
    let syntax = format!("For example: word  s:failed  pr:ready  m:sonnet  #1423  tag:x  {by}!word");
    lines.push(Line::styled(syntax, theme.muted));
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), inset(inner));
}

/// Returns one line per action: its keyboard shortcut and what it does.
fn shortcut_lines<'a>(view: View<'_>, all: &[(Context, Action, &'static str)]) -> Vec<Line<'a>> {
    let label = |(context, action, _): &(Context, Action, _)| view.app.key_label(*context, *action);
    let widest = all.iter().map(|row| label(row).width()).max().unwrap_or(0);
    let line = |row: &(Context, Action, &'static str)| {
        Line::from(vec![
            Span::styled(align_left(&label(row), widest), view.theme.key),
            Span::raw(format!("  {}", row.2)),
        ])
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
        StoreState::Loaded => vec![Line::styled("No jobs yet.", theme.title), Line::default()]
            .into_iter()
            .chain(shortcut_lines(
                view,
                &[
                    (Context::Jobs, Action::NewJob, "starts a job from a prompt"),
                    (Context::Jobs, Action::Track, "tracks a job created elsewhere"),
                ],
            ))
            .chain([
                Line::default(),
                Line::styled("Mintlify's API can't list jobs, so docdeck tracks them.", theme.muted),
            ])
            .collect(),
    };
    let area = inset(inner);
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), area);
}

pub(in crate::tui) fn group_heading<'a>(view: View<'_>, group: JobGroup, count: usize, is_hidden: bool) -> Line<'a> {
    let theme = view.theme;
    let style = if group == JobGroup::NeedsYou { theme.warning.add_modifier(Modifier::BOLD) } else { theme.title };
    let mut spans = vec![
        Span::styled(format!(" {}", capitalized(group.name())), style),
        Span::styled(format!(" {}", format_count(count)), theme.muted),
    ];
    if is_hidden {
        spans.push(Span::styled(
            format!("  {} to show", view.app.key_label(Context::Jobs, Action::FoldDismissed)),
            theme.muted,
        ));
    }
    Line::from(spans)
}

/// A column of a list of jobs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::tui) enum JobColumn {
    /// The symbol `▌` at the start of the selected row.
    SelectionMark,
    Mark,
    Symbol,
    State,
    /// The profile, in the list of all profiles.
    Profile,
    Title,
    /// The member of the team who started the job; blank for the user's own jobs.
    Author,
    PullRequest,
    Age,
}

impl JobColumn {
    /// Returns the order in which a click on the heading sorts the jobs.
    pub(super) fn sort_when_clicked(self) -> Option<Sort> {
        match self {
            Self::State => Some(Sort::Status),
            Self::Title => Some(Sort::Group),
            Self::Age => Some(Sort::Age),
            Self::SelectionMark | Self::Mark | Self::Symbol | Self::Profile | Self::Author | Self::PullRequest => None,
        }
    }
}

pub(in crate::tui) type JobTable = Table<JobColumn>;

/// Returns the columns of the jobs list at this width.
pub(super) fn list_table(app: &App, width: u16) -> JobTable {
    job_table(usize::from(width), None, author_column_width(app, &app.jobs))
}

/// Returns the width of the column with the author. Returns `None` if the screen is too narrow, or if the list has no
/// job of another member.
pub(in crate::tui) fn author_column_width(app: &App, list: &JobList) -> Option<usize> {
    list.author_cells().filter(|_| app.size.0 >= MIN_COLUMNS_SIDE_BY_SIDE)
}

/// Returns the columns of a list of jobs. `profile` is the width of the column with the profile, in the list of all
/// profiles; `author` is the width of the column with the author.
pub(in crate::tui) fn job_table(width: usize, profile: Option<usize>, author: Option<usize>) -> JobTable {
    use JobColumn as C;
    let is_wide = width >= MIN_WIDTH_WITH_STATE;
    let state = is_wide.then(|| Column::left_aligned("status", STATE_CELLS, C::State).with_gap_before(1));
    let profile = profile.map(|cells| {
        Column::left_aligned("profile", cells.max(7), C::Profile).with_gap_before(if is_wide { 2 } else { 1 })
    });
    let number_cells = if width >= MIN_WIDTH_WITH_SYMBOL { PULL_REQUEST_CELLS_WITH_SYMBOL } else { PULL_REQUEST_CELLS };
    let pull_request = is_wide.then(|| Column::left_aligned("PR", number_cells, C::PullRequest).with_gap_before(2));
    let first = [
        Column::left_aligned("", 1, C::SelectionMark),
        Column::left_aligned("", 1, C::Mark),
        Column::left_aligned("", 1, C::Symbol),
    ];
    let title = Column::flexible("title", 8, C::Title).with_gap_before(if is_wide { 2 } else { 1 });
    let author = author
        .filter(|_| is_wide)
        .map(|cells| Column::left_aligned("by", cells, C::Author).with_gap_before(AUTHOR_GAP));
    let age = Column::right_aligned("age", AGE_CELLS, C::Age).with_gap_before(1);
    let first = first.into_iter().chain(state).chain(profile);
    let columns = first.chain([title]).chain(author).chain(pull_request).chain([age]);
    // One cell at the right stays blank.
    Table::new(columns, width.saturating_sub(1))
}

/// Returns the row of a job. `profile` is the name of its profile, in the list of all profiles.
pub(in crate::tui) fn job_line<'a>(
    view: View<'_>,
    columns: &JobTable,
    list: &JobList,
    job: &'a Job,
    profile: Option<&str>,
) -> Line<'a> {
    let View { app, theme, now, .. } = view;
    let is_selected = list.is_selected(job);
    let is_quiet = matches!(list.shown_group(job), JobGroup::Done | JobGroup::Dismissed);
    let quiet = |style| if is_quiet { theme.muted } else { style };
    let line = columns.line(|column, width| match column {
        JobColumn::SelectionMark => TableCell::new(if is_selected { SELECTED_SYMBOL } else { "" }, theme.mark),
        JobColumn::Mark => mark_cell(view, list, job, profile.is_none()),
        JobColumn::Symbol => {
            let (symbol, style) = state_glyph(view, job);
            TableCell::new(symbol, style)
        }
        JobColumn::State => match app.hourly_limit_wait(job, now).filter(|_| profile.is_none()) {
            Some(wait) if wait.is_estimate => TableCell::new("in ~1 min", theme.muted),
            // “after”, because other queued prompts may be sent first at this time. The prompts of this job are then
            // sent later.
            Some(wait) if wait.until - now >= TimeDelta::minutes(1) => {
                let clock = wait.until.with_timezone(&app.config.offset).format("%H:%M");
                TableCell::new(format!("after {clock}"), theme.muted)
            }
            _ => TableCell::new(state_word_in_lists(job), quiet(state_word_style(view, job))),
        },
        JobColumn::Profile => TableCell::new(profile.unwrap_or_default().to_owned(), theme.muted),
        JobColumn::Title => {
            let tags = fitting_tags(job, width);
            let title = truncate_title(job.local.title.as_str(), width.saturating_sub(tags.width()));
            TableCell::Spans(vec![Span::styled(title, quiet(theme.text)), Span::styled(tags, theme.muted)])
        }
        JobColumn::Author => TableCell::new(job.author().map_or("", CleanText::as_str), theme.muted),
        JobColumn::PullRequest => {
            let style = match job.pr_fact() {
                Some(fact) => theme.role(fact.color_role()),
                None if job.remote.pr_link.is_some() => theme.text,
                None => theme.muted,
            };
            let with_symbol = width >= PULL_REQUEST_CELLS_WITH_SYMBOL;
            TableCell::new(pull_request_cell(job, with_symbol), quiet(style))
        }
        JobColumn::Age => TableCell::new(state_age(job, now), theme.muted),
    });
    if is_selected { selected_line(line, theme) } else { line }
}

/// Returns the cell before the symbol of a job. The cell of a marked job has the mark. In a list without group
/// headings, a full dot means that the job needs the user. On the jobs screen, a small dot means that the job has
/// finished and the user has not opened it since.
fn mark_cell<'a>(view: View<'_>, list: &JobList, job: &Job, is_of_this_profile: bool) -> TableCell<'a> {
    let theme = view.theme;
    let ended_unseen = job.remote.is_finished() && job.is_unseen() && !job.local.dismissed;
    match job.group() == JobGroup::NeedsYou {
        _ if list.is_marked(job.key) => TableCell::new(MARKED_SYMBOL, theme.mark),
        true if list.is_flat() => TableCell::new(NEEDS_YOU_SYMBOL, theme.warning),
        false if ended_unseen && is_of_this_profile => TableCell::new(UNSEEN_SYMBOL, theme.muted),
        _ => TableCell::new("", theme.text),
    }
}

/// Returns the style of the word for a job's state.
fn state_word_style(view: View<'_>, job: &Job) -> Style {
    let theme = view.theme;
    if let Some(fact) = fact_shown_as_state(job) {
        return theme.role(fact.color_role());
    }
    match JobState::of(job) {
        JobState::Unconfirmed => theme.warning,
        JobState::NotSent | JobState::Rejected | JobState::Failed => theme.bad,
        JobState::Sending | JobState::Other => theme.working,
        JobState::Active => theme.text,
        JobState::Completed if job.remote.pr_link.is_some() => theme.good,
        _ => theme.muted,
    }
}

/// Returns how long the job has been in its state, as text. Empty if unknown.
pub(in crate::tui) fn state_age(job: &Job, now: Time) -> Cow<'static, str> {
    job.state_since().map_or(Cow::Borrowed(""), |since| short_age(now - since).into())
}

/// Returns the tags that fit after the title. A tag is shown in full or not at all.
fn fitting_tags(job: &Job, space: usize) -> String {
    let mut out = String::new();
    if job.local.tags.is_empty() {
        return out;
    }
    let mut left = space.saturating_sub(job.local.title.as_str().width() + 1);
    for tag in &job.local.tags {
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
    if let Some(fact) = fact_shown_as_state(job) {
        return (fact.symbol(), view.theme.role(fact.color_role()));
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::jobs::CELLS_BESIDE_TITLE;

    #[test]
    fn a_list_of_the_needed_width_shows_whole_titles() {
        for title_width in [40, 90] {
            let columns = job_table(title_width + CELLS_BESIDE_TITLE, None, None);
            let mut cells = 0;
            columns.line(|column, width| {
                cells = if *column == JobColumn::Title { width } else { cells };
                TableCell::new("", Style::new())
            });
            assert_eq!(cells, title_width);
        }
    }
}
