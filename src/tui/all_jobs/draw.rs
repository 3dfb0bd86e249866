//! Draws the list of the jobs of all profiles.
//!
//! ```text
//! ─ All profiles ──────────────────────────────── 3 more jobs without a profile ─
//!     status       profile  title                                    PR      age
//!  Needs you 3
//! ▌*✓ review       acme     Fix broken links in /api  #docs          #1423   14m
//!   ✗ failed       beta     Translate /billing                                5h
//! ─ updated 3h ago · not updating, Enter switches to beta ─ 2 of 48, 28 more ↓ ─
//! ```

use super::list::AllJobs;
use crate::model::load::Load;
use crate::tui::component::Component;
use crate::tui::draw::boxes::draw_line;
use crate::tui::draw::list_title;
use crate::tui::draw::rules::DialogFrame;
use crate::tui::format::{plural, short_age};
use crate::tui::geometry::{inside_margin, title_area};
use crate::tui::jobs::JobLine as ListLine;
use crate::tui::jobs::list_draw::{author_column_width, draw_headings, group_heading, job_line, job_table};
use crate::tui::keymap::{Action, Context};
use crate::tui::order::JobSorting;
use crate::tui::view::View;
use ratatui::Frame;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Wrap};
use unicode_width::UnicodeWidthStr;

/// Maximum width of the profile column.
const MAX_PROFILE_CELLS: usize = 16;
/// Maximum width of the profile column in a list of medium width.
const MAX_PROFILE_CELLS_MEDIUM: usize = 12;
/// Maximum width of the profile column in a narrow list.
const MAX_PROFILE_CELLS_NARROW: usize = 8;
/// The minimum width of a list whose profile column can have up to [`MAX_PROFILE_CELLS`] cells.
const MIN_WIDE_LIST_WIDTH: usize = 100;
/// The minimum width of a list whose profile column can have up to [`MAX_PROFILE_CELLS_MEDIUM`] cells.
const MIN_MEDIUM_LIST_WIDTH: usize = 60;
/// The width of the list's name in its upper rule, including the gap after the name.
const LIST_NAME_CELLS: usize = 20;

pub(in crate::tui) fn draw(frame: &mut Frame<'_>, view: View<'_>, all_jobs: &AllJobs, dialog: &dyn Component) {
    let g = view.app.geometry();
    let width = usize::from(title_area(g.upper_rule()).width);
    let note = omitted_jobs_text(all_jobs, width);
    let title_width = if note.is_empty() { width } else { width.saturating_sub(note.width() + 3) };
    let frame_texts = DialogFrame {
        title: list_title::all_jobs_title_line(view, title_width),
        upper_right: Line::styled(note, view.theme.warning),
        lower_left: Line::styled(last_check_text(view, all_jobs, width), view.theme.muted),
        is_heavy: false,
    };
    let inner = frame_texts.draw(frame, view, dialog);
    if let Some((text, style)) = no_jobs_text(view, all_jobs) {
        let inside = inside_margin(inner);
        frame.render_widget(Paragraph::new(Line::styled(text, style)).wrap(Wrap { trim: true }), inside);
        return;
    }
    let (lines, rows, width) = (g.all_jobs_lines(), g.all_jobs_rows(), usize::from(inner.width));
    let author = author_column_width(view.app, &all_jobs.list);
    let columns = job_table(width, Some(profile_column_width(view, all_jobs, rows, width)), author);
    draw_headings(frame, view, &columns, inner, lines);
    for (n, line) in all_jobs.list.visible(rows).enumerate() {
        let line = match line {
            ListLine::Heading(group, n, hidden) => group_heading(view, group, n, hidden),
            ListLine::Job(job) => {
                let name = all_jobs.profile_of(job).map(|at| view.app.possible_profile_names(at)).unwrap_or_default();
                job_line(view, &columns, &all_jobs.list, job, Some(&name))
            }
        };
        draw_line(frame, lines, n, line);
    }
}

/// Returns the text about jobs that are not listed because no profile has their project. Empty if there are none, or if
/// the text doesn't fit.
fn omitted_jobs_text(all_jobs: &AllJobs, width: usize) -> String {
    let omitted = all_jobs.omitted_count();
    let forms = [
        format!("{} in projects without a profile", plural(omitted, "more job")),
        format!("{} without a profile", plural(omitted, "job")),
        format!("{omitted} not listed"),
    ];
    // If the line also shows a filter, the order or the number of marked jobs, the text about omitted jobs may take
    // only half of the line.
    let list = &all_jobs.list;
    let has_only_name = !all_jobs.has_filter() && list.marked_count() == 0 && list.sorting() == JobSorting::default();
    let space = if has_only_name { width.saturating_sub(LIST_NAME_CELLS) } else { width / 2 };
    let fitting = forms.into_iter().find(|text| omitted > 0 && text.width() <= space);
    fitting.unwrap_or_default()
}

/// Returns the text, and its style, that is shown instead of an empty list; `None` if there are jobs to list.
fn no_jobs_text(view: View<'_>, all_jobs: &AllJobs) -> Option<(String, ratatui::style::Style)> {
    let theme = view.theme;
    match (&all_jobs.read_state, all_jobs.is_loaded()) {
        (Load::Failed { failure, .. }, false) => Some((failure.message.to_string(), theme.bad)),
        (_, false) => Some(("Loading jobs…".to_owned(), theme.muted)),
        (_, true) if all_jobs.list.is_empty() && all_jobs.omitted_count() > 0 => {
            Some(("No jobs of these profiles yet.".to_owned(), theme.muted))
        }
        (_, true) if all_jobs.list.is_empty() => Some(("No jobs yet.".to_owned(), theme.muted)),
        (_, true) if all_jobs.list.matching_count() == 0 => {
            let jobs = plural(all_jobs.list.len(), "job");
            let hint = if !all_jobs.has_filter() {
                format!("{} shows all jobs", view.app.key_label(Context::AllJobs, Action::PreviousTab))
            } else {
                format!("{} clears the filter", view.app.key_label(Context::Everywhere, Action::Close))
            };
            let text = format!("No matches among {jobs}; {hint}.");
            Some((text, theme.muted))
        }
        _ => None,
    }
}

/// Returns the width of the profile column. All profile names and all visible cells fit into it, unless that exceeds
/// the limit for a list of this `width`. A cell can contain several names.
fn profile_column_width(view: View<'_>, all_jobs: &AllJobs, rows: usize, width: usize) -> usize {
    let app = view.app;
    let all = app.config.profiles.iter().map(|profile| profile.name.as_str().width());
    let shown = all_jobs.list.visible(rows).filter_map(|line| match line {
        ListLine::Job(job) => all_jobs.profile_of(job).map(|at| app.possible_profile_names(at).width()),
        ListLine::Heading(..) => None,
    });
    let most = match width {
        0..MIN_MEDIUM_LIST_WIDTH => MAX_PROFILE_CELLS_NARROW,
        MIN_MEDIUM_LIST_WIDTH..MIN_WIDE_LIST_WIDTH => MAX_PROFILE_CELLS_MEDIUM,
        _ => MAX_PROFILE_CELLS,
    };
    all.chain(shown).max().unwrap_or(0).min(most)
}

/// Returns the text that states when the selected job was last checked and, if it belongs to another profile, that it
/// is not updated. Empty if no job is selected.
fn last_check_text(view: View<'_>, all_jobs: &AllJobs, width: usize) -> String {
    let View { app, now, .. } = view;
    let Some(job) = all_jobs.list.selected() else { return String::new() };
    let is_narrow = width < MIN_MEDIUM_LIST_WIDTH;
    let seen = match job.local.checked_at.map(|at| short_age(now - at)) {
        None => "not checked yet".to_owned(),
        Some(age) if age == "now" => "updated just now".to_owned(),
        Some(age) => format!("updated {age} ago"),
    };
    let at = all_jobs.profile_of(job);
    let name =
        at.and_then(|at| app.config.profiles.get(at)).map(|profile| profile.name.to_string()).unwrap_or_default();
    let updating = match at == Some(app.config.current_profile) {
        true => String::new(),
        false if is_narrow => " · not updating".to_owned(),
        false => format!(" · not updating, {} switches to {name}", app.key_label(Context::AllJobs, Action::Open)),
    };
    format!("{seen}{updating}")
}
