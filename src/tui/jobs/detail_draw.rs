//! Draws the details of the selected job, and its thread.

use super::detail::{DetailLines, ENTRY_INDENT, EntryKind, Fact, TIME_CELLS, ThreadLine};
use super::job_facts::{FACT_SEPARATOR, FactName, LABEL_WIDTH, link_text};
use super::list_draw::{state_glyph, symbol_style};
use super::next_step::is_poll_blocked;
use crate::model::Time;
use crate::model::impact::{PageViewsState, WeekAfterState, week_after, weeks_before_and_after};
use crate::model::job::Job;
use crate::model::job_state::{JobState, fact_shown_as_state, state_word};
use crate::model::load::Load;
use crate::model::period::DateRange;
use crate::model::prompt::{Delivery, DeliveryKind};
use crate::model::views::{Count, Counts};
use crate::tui::Pane;
use crate::tui::draw::Theme;
use crate::tui::draw::boxes::draw_line;
use crate::tui::draw::cursor;
use crate::tui::draw::impact::{self, change_with_sign};
use crate::tui::draw::links::ScreenLink;
use crate::tui::draw::rules::{draw_pane_rule, draw_rule};
use crate::tui::draw::text::{TextRow, align_left, truncate_path};
use crate::tui::format::{
    capitalized, count_text, display_width, format_count, format_duration, mismatch_sign, plural, short_age,
};
use crate::tui::geometry::{Geometry, JobsArrangement, title_area};
use crate::tui::impact::{PagesLine, SIGNALS_INDENT};
use crate::tui::job_tabs::JobTab;
use crate::tui::keymap::{Action, Context};
use crate::tui::view::View;
use chrono::TimeDelta;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

/// The minimum width in cells of the path of a page whose views are on the same line.
const MIN_PATH_CELLS: usize = 12;

/// Draws the details. `lines` are their lines; `None` if no job is selected.
pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, g: Geometry, lines: Option<&DetailLines>) {
    let View { app, theme, .. } = view;
    let (text, rule) = (g.detail_text(), g.detail_rule());
    let is_focused = app.focused_pane() == Some(Pane::Detail);
    cursor::place_cursor_in_corner(frame, text);
    let Some((job, lines)) = app.jobs.selected().zip(lines) else {
        draw_rule(frame, view, rule, Line::default(), Line::default());
        return;
    };
    // If the details are below the list, the rule between them also shows the position in the list.
    let is_below = g.arrangement == JobsArrangement::Stacked;
    let position = if is_below { app.jobs.position_text(g.list_rows()) } else { String::new() };
    let taken = if is_below { position.width() + 3 } else { 0 };
    let title_width = usize::from(title_area(rule).width).saturating_sub(taken);
    let mut title = match app.selected_job_has_tabs() {
        true => JobTab::Thread.names(view, rule, is_focused),
        false => vec![Span::styled(JobTab::Thread.name(), if is_focused { theme.focus } else { theme.text })],
    };
    let taken = title.iter().map(Span::width).sum();
    title.push(Span::styled(marked_jobs_text(view, title_width.saturating_sub(taken)), theme.mark));
    let position = Line::styled(position, theme.muted);
    draw_pane_rule(frame, view, rule, is_focused && g.shows_both_panes(), title.into(), position);
    let width = usize::from(text.width);
    for (row, fact) in lines.fixed_facts.iter().enumerate() {
        draw_line(frame, text, row, fact_line(view, job, fact, width));
    }
    let first_row = lines.fixed_facts.len() + 1;
    for row in 0..lines.scrolled_area_rows.min(lines.scrolled_line_count.saturating_sub(lines.top)) {
        let line = match row {
            0 if lines.top > 0 => Line::styled(format!("↑ {} more", format_count(lines.top + 1)), theme.muted),
            _ => scrollable_line(view, job, lines, lines.top + row, width),
        };
        draw_line(frame, text, first_row + row, line);
    }
}

/// Returns the line at this index among those that scroll: facts, a blank line, and the timeline.
fn scrollable_line<'a>(view: View<'_>, job: &'a Job, lines: &DetailLines, at: usize, width: usize) -> Line<'a> {
    let detail = &view.app.detail;
    if let Some(fact) = lines.scrollable_facts.get(at) {
        return fact_line(view, job, fact, width);
    }
    let above = if lines.scrollable_facts.is_empty() { 0 } else { lines.scrollable_facts.len() + 1 };
    match (at.checked_sub(above), detail.thread()) {
        (None, _) => Line::default(),
        (Some(_), Load::Idle | Load::Loading { previous: None }) => {
            Line::styled("Loading the thread…", view.theme.muted)
        }
        (Some(_), Load::Failed { failure, previous: None, .. }) => {
            Line::styled(failure.message.to_string(), view.theme.bad)
        }
        (Some(at), _) => match detail.lines().split_at_checked(at) {
            Some((before, [line, ..])) => thread_line(view, before, line, width),
            _ => Line::default(),
        },
    }
}

/// Returns the part of the title that shows how many jobs are marked, and on which jobs the keys act. The pane shows
/// the selected job, which need not be a marked one.
fn marked_jobs_text(view: View<'_>, width: usize) -> String {
    let marked = view.app.jobs.marked_count();
    if marked == 0 {
        return String::new();
    }
    let texts = match view.app.acts_on_marks() {
        true => [" · keys act on the marked jobs".to_owned(), " · keys act on marked jobs".to_owned()],
        false => {
            [format!("  {} marked, keys act on this job", format_count(marked)), "  keys act on this job".to_owned()]
        }
    };
    texts.into_iter().find(|text| text.width() <= width).unwrap_or_default()
}

/// Returns the link to the pull request, if its line is visible.
pub(in crate::tui) fn pr_screen_link(view: View<'_>, text: Rect) -> Option<ScreenLink> {
    let job = view.app.jobs.selected()?;
    let target = job.remote.pr_link.as_ref()?;
    let size = (usize::from(text.width), usize::from(text.height));
    let facts = view.app.facts_about(job, size);
    let is_link =
        |fact: &Fact| matches!(fact, Fact::ShortFacts(names) if names.first() == Some(&FactName::PullRequest));
    let row = u16::try_from(facts.iter().position(is_link)?).ok().filter(|row| *row < text.height)?;
    let rect = Rect { y: text.y + row, height: 1, ..text };
    ScreenLink::new(rect, &link_text(job, usize::from(rect.width)), target.as_str())
}

fn fact_line<'a>(view: View<'_>, job: &'a Job, fact: &Fact, width: usize) -> Line<'a> {
    let theme = view.theme;
    let mut row = TextRow::new(width);
    let mut labelled = |label: &str, value: &str, style: Style| {
        row.push(align_left(label, LABEL_WIDTH), theme.muted).push(value, style);
    };
    match fact {
        Fact::Title(line) => _ = row.push(line.as_str(), theme.title),
        Fact::Blank => {}
        Fact::ShortFacts(names) => {
            for (place, name) in names.iter().enumerate() {
                row.push(if place > 0 { FACT_SEPARATOR } else { "" }, theme.muted);
                for (text, role) in name.value(job, width) {
                    row.push_up_to(width, text, theme.role(role));
                }
            }
        }
        Fact::State => {
            let (glyph, style) = state_glyph(view, job);
            row.push(glyph, style).push(" ", theme.text);
            let (text, style) = job_state_text(view, job, row.remaining_cells());
            row.push(text, style);
        }
        Fact::NextStep(pieces) => {
            for (text, is_key) in pieces {
                row.push(text, if *is_key { theme.key } else { theme.text });
            }
        }
        Fact::Tags => {
            let tags: Vec<String> = job.local.tags.iter().map(|tag| format!("#{tag}")).collect();
            labelled("tags", &tags.join(" "), theme.text);
        }
        Fact::Note(line, first) => labelled(if *first { "note" } else { "" }, line, theme.text),
        Fact::Pages(line) => return pages_line(view, job, line, width),
    }
    row.line()
}

/// Returns a line about the pages for which the job was started.
fn pages_line<'a>(view: View<'_>, job: &'a Job, line: &PagesLine, width: usize) -> Line<'a> {
    let theme = view.theme;
    let mut row = TextRow::new(width);
    let label = if *line == PagesLine::Days { "views" } else { "" };
    row.push(align_left(label, LABEL_WIDTH), theme.muted);
    let path = |place: usize| job.local.pages.get(place).map(|path| path.as_str()).unwrap_or_default();
    match line {
        PagesLine::Days => {
            let space = row.remaining_cells();
            row.push_up_to(width, weeks_around_text(view, job, space), theme.muted);
        }
        PagesLine::Path(place) => {
            let space = row.remaining_cells();
            row.push(truncate_path(path(*place), space), theme.text);
        }
        PagesLine::Page(place) => {
            let path_space = |views: &[(String, Style)]| row.remaining_cells().saturating_sub(pieces_width(views) + 2);
            let full = page_views(view, job, *place, ViewsForm::Full);
            let is_fitting = display_width(path(*place)) <= path_space(&full);
            let views = if is_fitting { full } else { page_views(view, job, *place, ViewsForm::Short) };
            let gap = if views.is_empty() { 0 } else { 2 };
            let space = row.remaining_cells().saturating_sub(pieces_width(&views) + gap).max(MIN_PATH_CELLS);
            row.push(truncate_path(path(*place), space), theme.text).push(" ".repeat(gap), theme.text);
            views.into_iter().for_each(|(text, style)| _ = row.push_up_to(width, text, style));
        }
        PagesLine::Views(place) => {
            row.push("  ", theme.text);
            let fitting = [ViewsForm::Full, ViewsForm::Short].map(|form| page_views(view, job, *place, form));
            let fitting = fitting.into_iter().find(|views| pieces_width(views) <= row.remaining_cells());
            let views = fitting.unwrap_or_else(|| page_views(view, job, *place, ViewsForm::WithoutChanges));
            views.into_iter().for_each(|(text, style)| _ = row.push_up_to(width, text, style));
        }
        PagesLine::Signals(text) => {
            row.pad_to(SIGNALS_INDENT).push(text.clone(), theme.muted);
        }
        PagesLine::More(more) => {
            row.push(format!("… {} more", plural(*more, "page")), theme.muted);
        }
    }
    row.line()
}

fn pieces_width(pieces: &[(String, Style)]) -> usize {
    pieces.iter().map(|(text, _)| display_width(text)).sum()
}

/// Returns the days before and after a job in which views are counted, or why there are no views.
fn weeks_around_text(view: View<'_>, job: &Job, space: usize) -> String {
    let View { app, now, .. } = view;
    let pages = &app.detail.job_pages;
    if let Load::Failed { failure, .. } = pages.pages() {
        return failure.message.to_string();
    }
    if pages.lacks_views() {
        return format!("not loaded ({} loads them)", app.key_label(Context::Jobs, Action::BeforeAfter));
    }
    let before = weeks_before_and_after(job).map(|weeks| weeks.before.format_dates(false)).unwrap_or_default();
    let (after, medium, short) = match week_after(job, now.date_naive()) {
        WeekAfterState::Complete(range) => {
            let after = range.format_dates(false);
            let days = format!("{before} → {after}");
            (after, days.clone(), days)
        }
        // Not `{before} → from {day}`, which would say that the first number becomes available on that day.
        WeekAfterState::LoadableFrom(day) => {
            let day = day.format("%-d %b");
            let medium = format!("{before}, week after from {day}");
            (format!("available from {day}"), medium, format!("week before job: {before}"))
        }
        other => (impact::week_after_text(other), before.clone(), before.clone()),
    };
    let zone = if pages.pages().shown().is_some() { " UTC" } else { "" };
    let long = format!("week before job: {before} · week after: {after}");
    let forms = [format!("{long}{zone}"), long, medium, short];
    forms.into_iter().find(|text| display_width(text) <= space).unwrap_or(before)
}

/// How much detail is shown about the views of a page before and after a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ViewsForm {
    Full,
    /// Without blanks around the arrows.
    Short,
    WithoutChanges,
}

/// Returns the views of a page before and after a job, in styled pieces: `human 4,647 → 5,100 ▲ 9.7% · AI 1,575 → 1,800
/// ▲ 14%`. Empty if no views of any page of the job are loaded.
fn page_views(view: View<'_>, job: &Job, page_index: usize, form: ViewsForm) -> Vec<(String, Style)> {
    let View { app, theme, now, .. } = view;
    let pages = &app.detail.job_pages;
    let Some((page, weeks)) = pages.page(page_index).zip(weeks_before_and_after(job)).filter(|_| !pages.lacks_views())
    else {
        return Vec::new();
    };
    let mut sides = vec![("before", &page.before, weeks.before)];
    if let WeekAfterState::Complete(range) = week_after(job, now.date_naive()) {
        sides.push(("after", &page.after, range));
    }
    let known: Vec<&Counts> = sides.iter().filter_map(|(_, views, _)| views.counts()).collect();
    let mut pieces: Vec<(String, Style)> = Vec::new();
    if known.len() < sides.len() {
        for (name, views, _) in &sides {
            let name = match (form, pieces.is_empty()) {
                (ViewsForm::Full, true) => format!("{name}: "),
                (ViewsForm::Full, false) => format!(" · {name}: "),
                (_, true) => format!("{name}: "),
                (_, false) => format!(", {name}: "),
            };
            pieces.push((name, theme.muted));
            match (views, views.counts()) {
                (_, Some(counts)) => pieces.extend([
                    (count_text(&counts.human), theme.human),
                    (" human, ".to_owned(), theme.muted),
                    (count_text(&counts.ai), theme.ai),
                    (" AI".to_owned(), theme.muted),
                ]),
                (PageViewsState::NotListed(_), None) => pieces.push(("no views".to_owned(), theme.muted)),
                _ => pieces.push(("not loaded".to_owned(), theme.muted)),
            }
        }
        pieces.extend(views_warning(&sides, theme));
        return pieces;
    }
    let has_changes =
        form != ViewsForm::WithoutChanges && sides.iter().all(|(_, views, range)| views.is_complete(*range));
    let human: fn(&Counts) -> &Count = |counts| &counts.human;
    let ai: fn(&Counts) -> &Count = |counts| &counts.ai;
    for (name, style, count) in [("human ", theme.human, human), ("AI ", theme.ai, ai)] {
        let is_first = pieces.is_empty();
        pieces.push((if is_first { "" } else { " · " }.to_owned(), theme.muted));
        pieces.push((name.to_owned(), theme.muted));
        for (n, counts) in known.iter().enumerate() {
            let arrow = if form == ViewsForm::Short { "→" } else { " → " };
            pieces.push((if n > 0 { arrow } else { "" }.to_owned(), theme.muted));
            pieces.push((count_text(count(counts)), style));
        }
        let values = known.iter().map(|counts| count(counts).value()).collect::<Option<Vec<_>>>();
        match values.as_deref().filter(|_| has_changes) {
            // A change from 0 has no percentage, and the 0 is shown already. Only the sign is added.
            Some([before, after]) if before.is_zero() && !after.is_zero() => pieces.push((" ▲".to_owned(), theme.text)),
            Some([before, after]) => pieces.push((format!(" {}", change_with_sign(*after, *before)), theme.text)),
            _ => {}
        }
    }
    pieces.extend(views_warning(&sides, theme));
    pieces
}

/// Returns a warning about the known views: a sign if counts don't add up, and which views were loaded before their
/// days were over.
fn views_warning(sides: &[(&str, &PageViewsState, DateRange)], theme: &Theme) -> Option<(String, Style)> {
    let known =
        sides.iter().filter_map(|(name, views, range)| Some((*name, views.counts()?, views.is_complete(*range))));
    let (mut sign, mut incomplete) = ("", Vec::new());
    for (name, counts, is_complete) in known {
        sign = if sign.is_empty() { mismatch_sign(counts) } else { sign };
        incomplete.extend((!is_complete).then_some(name));
    }
    let text = match incomplete.as_slice() {
        [] => sign.to_owned(),
        names => format!("{sign} {} incomplete", names.join(" and ")),
    };
    (!text.is_empty()).then_some((text, theme.warning))
}

/// Returns the text that states what the job is doing or how it ended, in at most `space` cells if possible, and its
/// style. The text of a finished job has no time, because the timeline shows it.
fn job_state_text(view: View<'_>, job: &Job, space: usize) -> (String, Style) {
    let View { app, theme, now, .. } = view;
    if let Some(state) = job.pull_request.as_deref().filter(|_| fact_shown_as_state(job).is_some()) {
        return (capitalized(state.fact_text()), theme.role(state.main_fact().color_role()));
    }
    let (text, style) = match JobState::of(job) {
        JobState::Unconfirmed => ("Unconfirmed", theme.warning),
        JobState::NotSent => ("Not sent", theme.bad),
        JobState::Rejected => ("Rejected", theme.bad),
        JobState::Sending => ("Sending…", theme.working),
        JobState::Queued => return (queued_send_time_text(view, job, space), theme.text),
        JobState::Paused => ("Paused", theme.text),
        JobState::Active => {
            let checked = job.local.checked_at.map(|at| now - at);
            return match checked {
                Some(age) if is_poll_blocked(app) => (format!("Working when checked {}", age_text(age)), theme.warning),
                _ => {
                    let working = format!("Working for {}", format_duration(now - job.last_accepted_at()));
                    let checked = checked.map(|age| format!(" · checked {}", age_text(age))).unwrap_or_default();
                    let fits = working.width() + checked.width() <= space;
                    (if fits { working + &checked } else { working }, theme.working)
                }
            };
        }
        JobState::Completed if job.remote.pr_link.is_none() => ("Completed without a pull request", theme.text),
        JobState::Completed if job.needs_action() && !job.is_handled() => ("Completed with a pull request", theme.good),
        JobState::Completed => ("Completed", theme.text),
        JobState::Failed if job.is_handled() => ("Failed", theme.muted),
        JobState::Failed => ("Failed", theme.bad),
        JobState::Archived => ("Archived", theme.muted),
        JobState::Gone => ("Gone: the service no longer has this job", theme.warning),
        JobState::Other => return (format!("Status: {}", state_word(job)), theme.working),
        JobState::Discarded => ("Discarded", theme.muted),
        JobState::NoStatus => ("Accepted, not checked yet", theme.text),
    };
    (text.to_owned(), style)
}

/// Formats how long ago something was.
fn age_text(age: TimeDelta) -> String {
    match age.num_seconds() {
        ..1 => "just now".to_owned(),
        seconds @ 1..60 => format!("{seconds} s ago"),
        _ => format!("{} ago", short_age(age)),
    }
}

/// Returns a text that says when the first queued prompt of a job will be sent: the long form if it fits, otherwise a
/// short one.
fn queued_send_time_text(view: View<'_>, job: &Job, space: usize) -> String {
    let View { app, now, .. } = view;
    let thread = app.detail.thread().shown();
    let first = thread.and_then(|thread| {
        thread.value.prompts.iter().find_map(|prompt| match prompt.delivery {
            Delivery::Queued { until } if prompt.is_from_this_computer() => Some(until),
            _ => None,
        })
    });
    // Only the first prompts in the queue have a send time; the other prompts wait behind them.
    let known = first.flatten().filter(|until| *until > now).map(|until| app.prompt_wait(Some(job), until, now));
    let forms = match (known, app.hourly_limit_wait(job, now)) {
        (Some(wait), _) => {
            let when = app.send_time_text(wait, now);
            [format!("Queued, will be sent {when} if docdeck is running"), format!("Queued, will be sent {when}")]
        }
        (None, Some(wait)) => {
            let when = app.send_time_text(wait, now);
            let long = format!("Queued behind other prompts; the first will be sent {when} if docdeck is running");
            [long, "Queued behind other prompts".to_owned()]
        }
        (None, None) => ["Queued, will be sent in turn if docdeck is running".to_owned(), "Queued".to_owned()],
    };
    let [long, short] = forms;
    if long.width() <= space { long } else { short }
}

fn in_local_zone(view: View<'_>, at: Time) -> chrono::DateTime<chrono::FixedOffset> {
    at.with_timezone(&view.app.config.offset)
}

/// Formats a time: the time of day if it is today, otherwise the date.
fn time_or_day(view: View<'_>, at: Time) -> String {
    let (then, today) = (in_local_zone(view, at), in_local_zone(view, view.now));
    let format = if then.date_naive() == today.date_naive() { "%H:%M" } else { "%-d %b" };
    then.format(format).to_string()
}

/// Returns a line of the timeline. `before` are the lines above it. Of successive entries with the same time, only the
/// first shows the time.
fn thread_line<'a>(view: View<'_>, before: &[ThreadLine], line: &ThreadLine, width: usize) -> Line<'a> {
    let theme = view.theme;
    let mut row = TextRow::new(width);
    match line {
        ThreadLine::Entry { at, kind, text } => {
            let (symbol, symbol_style, style) = match kind {
                EntryKind::Prompt => ("›", theme.key, theme.text),
                EntryKind::Author => ("›", theme.key, theme.title),
                EntryKind::Events(state) => (state.symbol(), symbol_style(view, *state), theme.muted),
            };
            let last = before.iter().rev().find_map(|line| match line {
                ThreadLine::Entry { at, .. } => Some(time_or_day(view, *at)),
                _ => None,
            });
            let time = Some(time_or_day(view, *at)).filter(|time| last.as_ref() != Some(time)).unwrap_or_default();
            row.push(align_left(&time, TIME_CELLS), theme.muted);
            row.push(symbol, symbol_style).pad_to(ENTRY_INDENT).push(text, style);
        }
        ThreadLine::Continuation(text) => {
            row.pad_to(ENTRY_INDENT).push(text, theme.text);
        }
        ThreadLine::Remark(text) => {
            row.pad_to(ENTRY_INDENT).push(text, theme.muted);
        }
        ThreadLine::Delivery(kind) => {
            let (text, style) = match kind {
                DeliveryKind::Queued => ("… queued", theme.muted),
                DeliveryKind::Paused => ("‖ paused", theme.muted),
                DeliveryKind::Sending => ("↑ sending", theme.working),
                DeliveryKind::NotSent => ("! not sent", theme.bad),
                DeliveryKind::Rejected => ("! rejected", theme.bad),
                DeliveryKind::Unconfirmed => ("! unconfirmed", theme.warning),
                DeliveryKind::Accepted | DeliveryKind::Discarded => ("", theme.muted),
            };
            row.pad_to(ENTRY_INDENT).push(text, style);
        }
    }
    row.line()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::load::Timed;
    use crate::tui::draw::ColorDepth;

    #[test]
    fn views_that_were_loaded_too_early_or_do_not_add_up_are_marked_even_if_the_other_side_is_unknown() {
        let range = DateRange::day("2026-11-20".parse().expect("a day"));
        let views = |total: i64, as_of: &str| {
            let counts = Counts::new(Count::Known(1), Count::Known(2), Count::Known(total));
            PageViewsState::Known(Timed { value: counts, as_of: as_of.parse().expect("a time") })
        };
        let (early, odd) = (views(3, "2026-11-20T12:00:00Z"), views(9, "2026-11-21T12:00:00Z"));
        let theme = Theme::new(ColorDepth::None);
        let warning = |before: &PageViewsState, after: &PageViewsState| {
            views_warning(&[("before", before, range), ("after", after, range)], &theme).map(|(text, _)| text)
        };
        assert_eq!(warning(&early, &PageViewsState::Unknown).as_deref(), Some(" before incomplete"));
        assert_eq!(warning(&odd, &early).as_deref(), Some("≠ after incomplete"));
        assert_eq!(warning(&early, &early).as_deref(), Some(" before and after incomplete"));
        assert_eq!(warning(&PageViewsState::Unknown, &PageViewsState::Unknown), None);
    }
}
