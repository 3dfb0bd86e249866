//! Draws the details of the selected job, and its thread.

use super::detail::{DetailLines, ENTRY_INDENT, EntryKind, Fact, LABEL_WIDTH, ThreadLine, facts};
use super::list_draw::{state_glyph, symbol_style};
use super::next_step::{is_unreachable, next_step};
use crate::model::Time;
use crate::model::impact::{after_window, job_windows};
use crate::model::job_state::{JobState, state_fact, state_word};
use crate::model::link::short_display_url;
use crate::model::load::Load;
use crate::model::period::DateRange;
use crate::model::prompt::{Delivery, DeliveryKind};
use crate::model::pull_request::{Checks, ChecksState, PullRequest, PullRequestFact};
use crate::model::row::Job;
use crate::tui::Pane;
use crate::tui::draw::boxes::draw_line;
use crate::tui::draw::cursor;
use crate::tui::draw::impact;
use crate::tui::draw::links::ScreenLink;
use crate::tui::draw::rules::draw_rule;
use crate::tui::draw::text::{TextRow, align_left, truncate_path, truncate_start};
use crate::tui::format::{fit_title, format_count, format_duration, plural, short_age};
use crate::tui::geometry::{Geometry, JobsArrangement, title_area};
use crate::tui::impact::PagesLine;
use crate::tui::job_tabs::JobTab;
use crate::tui::view::View;
use chrono::TimeDelta;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

/// The minimum number of cells for the title after the names of the tabs.
const MIN_TITLE_CELLS: usize = 16;

pub(in crate::tui) fn draw(frame: &mut Frame<'_>, view: View<'_>, g: Geometry) {
    let View { app, theme, .. } = view;
    let (text, rule) = (g.detail_text(), g.detail_rule());
    let title_style = if app.pane == Pane::Detail { theme.focus } else { theme.text };
    cursor::place_in_corner(frame, text);
    let Some(job) = app.jobs.selected() else {
        draw_rule(frame, view, rule, Line::default(), Line::default());
        return;
    };
    // Below the list, the rule also has the position in the list.
    let is_below = g.arrangement == JobsArrangement::Below;
    let position = if is_below { app.jobs.position_text(g.list_rows()) } else { String::new() };
    let taken = if is_below { position.width() + 3 } else { 0 };
    let title_width = usize::from(title_area(rule).width).saturating_sub(taken);
    let marks = marked_jobs_text(view, title_width);
    let space = title_width.saturating_sub(marks.width());
    let (names, space) = match app.has_job_tabs() {
        true => (JobTab::Thread.names(view, rule), space.saturating_sub(JobTab::names_width(rule, app))),
        false => (Vec::new(), space),
    };
    // The list next to the tabs shows the title too.
    let is_cut = !names.is_empty() && space < MIN_TITLE_CELLS;
    let title = if is_cut { String::new() } else { fit_title(job.local.title.as_str(), space) };
    let own = [Span::styled(title, title_style), Span::styled(marks, theme.mark)];
    let title = names.into_iter().chain(own).collect();
    draw_rule(frame, view, rule, title, Line::styled(position, theme.muted));
    let width = usize::from(text.width);
    let lines =
        app.detail.layout(facts(job, &app.detail.job_pages, &next_step(app, job), width), usize::from(text.height));
    for (row, fact) in lines.head.iter().enumerate() {
        draw_line(frame, text, row, fact_line(view, job, fact, width));
    }
    let first_row = lines.head.len() + 1;
    for row in 0..lines.rows.min(lines.total.saturating_sub(lines.top)) {
        let line = match row {
            0 if lines.top > 0 => Line::styled(format!("↑ {} more", format_count(lines.top + 1)), theme.muted),
            _ => scrolled_line(view, job, &lines, lines.top + row, width),
        };
        draw_line(frame, text, first_row + row, line);
    }
}

/// Returns the line at this index among those that scroll: facts, a blank line, and the timeline.
fn scrolled_line<'a>(view: View<'_>, job: &Job, lines: &DetailLines, at: usize, width: usize) -> Line<'a> {
    let detail = &view.app.detail;
    if let Some(fact) = lines.scrolled.get(at) {
        return fact_line(view, job, fact, width);
    }
    let above = if lines.scrolled.is_empty() { 0 } else { lines.scrolled.len() + 1 };
    match (at.checked_sub(above), detail.thread()) {
        (None, _) => Line::default(),
        (Some(_), Load::Idle | Load::Loading { before: None }) => Line::styled("Loading the thread…", view.theme.muted),
        (Some(_), Load::Failed { failure, before: None, .. }) => {
            Line::styled(failure.message.to_string(), view.theme.bad)
        }
        (Some(at), _) => detail.lines().get(at).map_or_else(Line::default, |line| thread_line(view, line, width)),
    }
}

/// Returns the part of the title that shows how many jobs are marked, and on which jobs the keys act. The pane shows
/// the selected job, which need not be a marked one.
fn marked_jobs_text(view: View<'_>, width: usize) -> String {
    let marked = view.app.jobs.marked_count();
    if marked == 0 {
        return String::new();
    }
    let marked = format_count(marked);
    let texts = match view.app.acts_on_marks() {
        true => [format!("  keys act on {marked} marked"), format!("  {marked} marked")],
        false => [format!("  {marked} marked, keys act on this job"), "  keys act on this job".to_owned()],
    };
    let [long, short] = texts;
    // The job's own title keeps at least a third of the width.
    if long.width() <= width * 2 / 3 { long } else { short }
}

/// Returns the link to the pull request, if its line is visible.
pub(in crate::tui) fn pr_screen_link(view: View<'_>, text: Rect) -> Option<ScreenLink> {
    let job = view.app.jobs.selected()?;
    let target = job.remote.pr_link.as_ref()?;
    let facts = facts(job, &view.app.detail.job_pages, &next_step(view.app, job), usize::from(text.width));
    let line = facts.iter().position(|fact| *fact == Fact::PullRequest)?;
    let row = u16::try_from(line).ok().filter(|row| *row < text.height)?;
    let rect = Rect { y: text.y + row, height: 1, ..text };
    ScreenLink::new(rect, &short_display_url(target), target.as_str())
}

fn fact_line<'a>(view: View<'_>, job: &Job, fact: &Fact, width: usize) -> Line<'a> {
    let theme = view.theme;
    let mut row = TextRow::new(width);
    let mut labelled = |label: &str, value: &str, style: Style| {
        row.push(align_left(label, LABEL_WIDTH), theme.muted).push(value, style);
    };
    match fact {
        Fact::State => {
            let (glyph, style) = state_glyph(view, job);
            row.push(glyph, style).push(" ", theme.text);
            let (text, style) = job_state_text(view, job, row.remaining());
            row.push(text, style);
        }
        Fact::NextStep(pieces) => {
            for (text, is_key) in pieces {
                row.push(text, if *is_key { theme.key } else { theme.text });
            }
        }
        Fact::PullRequest => {
            row.push(job.remote.pr_link.as_ref().map(short_display_url).unwrap_or_default(), theme.text);
            // The first line already shows the state of a completed job's pull request.
            if let Some(fact) = job.pr_fact().filter(|_| state_fact(job).is_none()) {
                row.push(format!(" · {}", fact.word_and_meaning().1), theme.role(fact.role()));
            }
        }
        Fact::Source => {
            row.push(source_text(job, width), theme.muted);
        }
        Fact::Tags => {
            let tags: Vec<String> = job.local.tags.iter().map(|tag| format!("#{tag}")).collect();
            labelled("tags", &tags.join(" "), theme.text);
        }
        Fact::Note(line, first) => labelled(if *first { "note" } else { "" }, line, theme.text),
        Fact::Pages(line) => return pages_line(view, job, *line, width),
    }
    row.line()
}

/// Returns where the job works: the repository, the branch, the model and the id. Leaves out what doesn't fit, the last
/// first.
fn source_text(job: &Job, width: usize) -> String {
    let source = &job.remote.source;
    let repository = source.repository.as_ref().map(|text| text.as_str()).unwrap_or_default();
    let repository = repository.strip_prefix("https://github.com/").unwrap_or(repository);
    let parts = [
        repository.to_owned(),
        source.git_ref.as_ref().map(ToString::to_string).unwrap_or_default(),
        job.remote.model.as_ref().map(ToString::to_string).unwrap_or_default(),
        job.id.as_ref().map(|id| id.to_clean_text().to_string()).unwrap_or_default(),
    ];
    let mut text = String::new();
    for part in parts.into_iter().filter(|part| !part.is_empty()) {
        let longer = if text.is_empty() { part } else { format!("{text} · {part}") };
        if !text.is_empty() && longer.width() > width {
            break;
        }
        text = longer;
    }
    truncate_start(&text, width)
}

/// Returns a line about the pages for which the job was started.
fn pages_line<'a>(view: View<'_>, job: &Job, line: PagesLine, width: usize) -> Line<'a> {
    let View { app, theme, now } = view;
    let mut row = TextRow::new(width);
    let (windows, after) = (job_windows(job), after_window(job, now.date_naive()));
    let label = if line == PagesLine::DaysBefore { "pages" } else { "" };
    row.push(align_left(label, LABEL_WIDTH), theme.muted);
    let known = |place: usize| (app.detail.job_pages.page(place), windows);
    match line {
        PagesLine::DaysBefore => {
            let before = windows.map(|windows| window_text(windows.before, row.remaining())).unwrap_or_default();
            row.push(format!("before  {before}"), theme.muted);
        }
        PagesLine::DaysAfter => {
            let range = windows.and_then(|windows| windows.after).map(|range| window_text(range, row.remaining()));
            row.push(format!("after   {}", range.unwrap_or_else(|| impact::after_text(after))), theme.muted);
        }
        PagesLine::Path(place) => {
            let path = job.local.pages.get(place).map(|path| path.as_str()).unwrap_or_default();
            let space = row.remaining();
            row.push(truncate_path(path, space), theme.text);
        }
        PagesLine::Signal(place, signal) => {
            if let Some(signals) = app.detail.job_pages.page(place).and_then(|page| page.signals.as_ref()) {
                row.push("  ", theme.text).push(format!("{}  ", signal.label()), theme.muted);
                impact::push_signal(&mut row, view, signals, signal, after);
            }
        }
        PagesLine::More(more) => {
            row.push(format!("… {} more", plural(more, "page")), theme.muted);
        }
        PagesLine::Before(place) | PagesLine::After(place) | PagesLine::Views(place) => {
            row.push("  ", theme.text);
            let (Some(page), Some(windows)) = known(place) else {
                let text = if line == PagesLine::After(place) { String::new() } else { loading_text(view) };
                row.push(text, theme.muted);
                return row.line();
            };
            if line != PagesLine::After(place) {
                impact::push_views_before(&mut row, view, &page.before, windows.before, false);
            }
            if matches!(line, PagesLine::Views(_)) {
                row.push("   ", theme.text);
            }
            if line != PagesLine::Before(place) {
                impact::push_views_after(
                    &mut row,
                    view,
                    &page.after,
                    Some((&page.before, windows.before)),
                    after,
                    false,
                );
            }
        }
    }
    row.line()
}

/// Formats the days before or after a job, in a short form if space is short.
fn window_text(range: DateRange, space: usize) -> String {
    let full = format!("{} UTC", impact::range_or_day(range));
    if space >= 8 + full.chars().count() { full } else { range.words(false) }
}

/// Returns why there are no numbers for a page: they are being loaded, or loading failed.
fn loading_text(view: View<'_>) -> String {
    match view.app.detail.job_pages.pages() {
        Load::Failed { failure, .. } => failure.message.to_string(),
        _ => "loading…".to_owned(),
    }
}

/// Returns what the job is doing or how it ended, and the style of that text. The timeline shows when that was.
fn job_state_text(view: View<'_>, job: &Job, space: usize) -> (String, Style) {
    let View { app, theme, now } = view;
    let (text, style) = match JobState::of(job) {
        JobState::Unconfirmed => ("Unconfirmed", theme.warning),
        JobState::NotSent => ("Not sent", theme.bad),
        JobState::Rejected => ("Rejected", theme.bad),
        JobState::Sending => ("Sending…", theme.working),
        JobState::Queued => return (queue_text(view, job, space), theme.text),
        JobState::Paused => ("Paused", theme.text),
        JobState::Active => {
            let checked = job.local.checked_at.map(|at| now - at);
            return match checked {
                Some(age) if is_unreachable(app) => (format!("Working when checked {}", age_text(age)), theme.warning),
                _ => {
                    let working = format!("Working for {}", format_duration(now - job.last_accepted_at()));
                    let checked = checked.map(|age| format!(" · checked {}", age_text(age))).unwrap_or_default();
                    (working + &checked, theme.working)
                }
            };
        }
        JobState::Completed if job.pull_request.is_some() => {
            let style = job.pr_fact().map_or(theme.text, |fact| theme.role(fact.role()));
            return (
                job.pull_request.as_deref().map_or_else(String::new, |state| pull_request_text(state, space)),
                style,
            );
        }
        JobState::Completed if job.remote.pr_link.is_none() => ("Completed without a pull request", theme.text),
        JobState::Completed if job.wants_action() && !job.is_handled() => ("Ready for review", theme.good),
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

/// Describes the state of a pull request: its most important fact, then as much as fits of its checks and its size.
fn pull_request_text(state: &PullRequest, space: usize) -> String {
    let mut text = format!("Pull request: {}", state.fact().word_and_meaning().1);
    let checks = match (&state.checks, state.fact()) {
        (_, PullRequestFact::Merged | PullRequestFact::Closed) => None,
        (Checks { state: ChecksState::Unavailable, .. }, _) => Some("checks unavailable".to_owned()),
        (Checks { total: 0, .. }, _) => None,
        (Checks { passed, total, .. }, _) => Some(format!("checks {passed}/{total}")),
    };
    let size = state.additions.zip(state.deletions).map(|(added, deleted)| format!("+{added} −{deleted}"));
    for part in checks.into_iter().chain(size) {
        let longer = format!("{text} · {part}");
        if longer.width() <= space {
            text = longer;
        }
    }
    text
}

/// Formats how long ago something was.
fn age_text(age: TimeDelta) -> String {
    match age.num_seconds() {
        ..1 => "just now".to_owned(),
        seconds @ 1..60 => format!("{seconds} s ago"),
        _ => format!("{} ago", short_age(age)),
    }
}

/// Returns when the first queued prompt of a job is sent, in the longest form that fits.
fn queue_text(view: View<'_>, job: &Job, space: usize) -> String {
    let View { app, now, .. } = view;
    let thread = app.detail.thread().shown();
    let first = thread.and_then(|thread| {
        thread.value.prompts.iter().find_map(|prompt| match prompt.delivery {
            Delivery::Queued { until } => Some(until),
            _ => None,
        })
    });
    // Only the first prompts in the queue have a send time; the other prompts wait behind them.
    let known = first.flatten().filter(|until| *until > now).map(|until| app.prompt_wait(Some(job), until, now));
    let forms = match (known, app.queue_wait(job, now)) {
        (Some(wait), _) => {
            let when = app.send_time(wait, now);
            [format!("Queued, will be sent {when} if docdeck is running"), format!("Queued, will be sent {when}")]
        }
        (None, Some(wait)) => {
            let when = app.send_time(wait, now);
            let long = format!("Queued behind others; the next will be sent {when} if docdeck is running");
            [long, "Queued behind others".to_owned()]
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
    let format = if then.date_naive() == today.date_naive() { "%H:%M" } else { "%m-%d" };
    then.format(format).to_string()
}

fn thread_line<'a>(view: View<'_>, line: &ThreadLine, width: usize) -> Line<'a> {
    let theme = view.theme;
    let mut row = TextRow::new(width);
    match line {
        ThreadLine::Entry { at, kind, text } => {
            let (symbol, symbol_style, style) = match kind {
                EntryKind::Prompt => ("›", theme.key, theme.text),
                EntryKind::Events(state) => (state.symbol(), symbol_style(view, *state), theme.muted),
            };
            row.push(align_left(&time_or_day(view, *at), 6), theme.muted);
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
