//! Draws the details of the selected job, and its thread.

use super::links::ScreenLink;
use super::text::{TextRow, fit_from_end, left};
use super::{View, draw_line, draw_more_below, draw_pane, impact};
use crate::model::Time;
use crate::model::connection::Connection;
use crate::model::impact::{after_window, job_windows};
use crate::model::job::Status;
use crate::model::link::short_display_url;
use crate::model::load::Load;
use crate::model::period::DateRange;
use crate::model::poll::next_poll;
use crate::model::prompt::{Delivery, DeliveryKind};
use crate::model::row::Job;
use crate::tui::Pane;
use crate::tui::detail::{Author, ENTRY_INDENT, Fact, LABEL_WIDTH, ThreadLine, facts};
use crate::tui::format::{format_count, format_duration, plural, short_age};
use crate::tui::impact::PagesLine;
use crate::tui::keymap::{Action, Context};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::Block;
use unicode_width::UnicodeWidthStr;

pub(in crate::tui) fn draw(frame: &mut Frame<'_>, view: View<'_>, area: Rect) {
    let View { app, theme, .. } = view;
    let border = if app.pane == Pane::Detail { theme.focus } else { theme.border };
    let Some(job) = app.jobs.selected() else {
        let inner = draw_pane(frame, area, &Line::styled(" Detail ", theme.muted), border);
        draw_line(frame, inner, 1, Line::styled("  Select a job to see its thread here.", theme.muted));
        return;
    };
    let title_width = usize::from(area.width.saturating_sub(4));
    let marks = marked_jobs_text(view, title_width);
    let space = title_width.saturating_sub(marks.width());
    let mut title = Line::styled(format!(" {} ", super::text::fit(job.title.as_str(), space)), theme.title);
    if !marks.is_empty() {
        title.push_span(Span::styled(format!("{marks} "), theme.mark));
    }
    let inner = draw_pane(frame, area, &title, border);
    let text = text_area(inner);
    let width = usize::from(text.width);
    let facts = facts(job, width);
    let mut lines = facts.iter().map(|fact| fact_line(view, job, fact, width)).collect::<Vec<_>>();
    lines.push(Line::default());
    match app.detail.thread() {
        Load::Idle | Load::Loading { before: None } => lines.push(Line::styled("Loading the thread…", theme.muted)),
        Load::Failed { failure, before: None, .. } => {
            lines.push(Line::styled(failure.message.to_string(), theme.bad));
        }
        _ => {}
    }
    let above = lines.len();
    let skip = app.detail.scroll;
    for (row, line) in lines.into_iter().skip(skip).enumerate() {
        draw_line(frame, text, row, line);
    }
    let thread = app.detail.lines();
    let first = skip.saturating_sub(above);
    let at = above.saturating_sub(skip);
    for (n, line) in thread.iter().skip(first).take(usize::from(text.height)).enumerate() {
        draw_line(frame, text, at + n, thread_line(view, line, width));
    }
    draw_more_below(frame, view, area, (above + thread.len()).saturating_sub(skip + usize::from(text.height)));
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
        true => [format!("· keys act on {marked} marked"), format!("· {marked} marked")],
        false => [format!("· {marked} marked, keys act on this job"), "· keys act on this job".to_owned()],
    };
    let [long, short] = texts;
    // The job's own title keeps at least a third of the width.
    if long.width() <= width * 2 / 3 { long } else { short }
}

/// Returns the area for text inside the borders.
fn text_area(inner: Rect) -> Rect {
    Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner }
}

/// Returns the link to the pull request, if its line is visible.
pub(in crate::tui) fn pr_screen_link(view: View<'_>, area: Rect) -> Option<ScreenLink> {
    let job = view.app.jobs.selected()?;
    let target = job.pr_link.as_ref()?;
    let text = text_area(Block::bordered().inner(area));
    let facts = facts(job, usize::from(text.width));
    let line = facts.iter().position(|fact| *fact == Fact::PullRequest)?;
    let row = u16::try_from(line.checked_sub(view.app.detail.scroll)?).ok().filter(|row| *row < text.height)?;
    let label = u16::try_from(LABEL_WIDTH).ok()?;
    let spot = Rect { x: text.x + label, y: text.y + row, width: text.width.saturating_sub(label), height: 1 };
    ScreenLink::new(spot, &short_display_url(target), target.as_str())
}

fn fact_line<'a>(view: View<'_>, job: &Job, fact: &Fact, width: usize) -> Line<'a> {
    let theme = view.theme;
    let mut row = TextRow::new(width);
    let mut labelled = |label: &str, value: &str, style: Style| {
        row.push(left(label, LABEL_WIDTH), theme.muted).push(value, style);
    };
    match fact {
        Fact::State => {
            let (glyph, style) = super::jobs::state_glyph(view, job);
            row.push(glyph, style).push(" ", theme.text);
            let (text, style) = job_state_text(view, job);
            row.push(text, style);
        }
        Fact::Checked => labelled("checked", &poll_times(view, job), theme.muted),
        Fact::PullRequest => {
            labelled("PR", &job.pr_link.as_ref().map(short_display_url).unwrap_or_default(), theme.text);
        }
        Fact::Repository => {
            let repository = job.repository.as_ref().map(|text| text.as_str()).unwrap_or_default();
            let short = repository.strip_prefix("https://github.com/").unwrap_or(repository);
            let at = job.git_ref.as_ref().map(|git_ref| format!(" @ {git_ref}")).unwrap_or_default();
            labelled("repo", &format!("{short}{at}"), theme.text);
        }
        Fact::Model => labelled("model", job.model.as_ref().map(|text| text.as_str()).unwrap_or_default(), theme.text),
        Fact::Id => {
            labelled("job", &job.id.as_ref().map(|id| id.clean().to_string()).unwrap_or_default(), theme.text);
        }
        Fact::Created => {
            let created = in_local_zone(view, job.created_at).format("%Y-%m-%d %H:%M");
            labelled("created", &created.to_string(), theme.muted);
        }
        Fact::Tags => {
            let tags: Vec<String> = job.tags.iter().map(|tag| format!("#{tag}")).collect();
            labelled("tags", &tags.join(" "), theme.text);
        }
        Fact::Note(line, first) => labelled(if *first { "note" } else { "" }, line, theme.text),
        Fact::Pages(line) => return pages_line(view, job, *line, width),
    }
    row.line()
}

/// Returns a line about the pages for which the job was started.
fn pages_line<'a>(view: View<'_>, job: &Job, line: PagesLine, width: usize) -> Line<'a> {
    let View { app, theme, now } = view;
    let mut row = TextRow::new(width);
    let (windows, after) = (job_windows(job), after_window(job, now.date_naive()));
    let label = if line == PagesLine::DaysBefore { "pages" } else { "" };
    row.push(left(label, LABEL_WIDTH), theme.muted);
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
            let path = job.pages.get(place).map(|path| path.as_str()).unwrap_or_default();
            let space = row.remaining();
            row.push(fit_from_end(path, space), theme.text);
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
                impact::push_before(&mut row, view, &page.before, windows.before, false);
            }
            if matches!(line, PagesLine::Views(_)) {
                row.push("   ", theme.text);
            }
            if line != PagesLine::Before(place) {
                impact::push_after(&mut row, view, &page.after, Some((&page.before, windows.before)), after, false);
            }
        }
    }
    row.line()
}

/// Formats the days before or after a job, in a short form if space is short.
fn window_text(range: DateRange, space: usize) -> String {
    let full = format!("{} UTC", impact::range_or_day(range));
    if space >= 8 + full.chars().count() { full } else { format!("{}, {} days", range.from(), range.days()) }
}

/// Returns why there are no numbers for a page: they are being loaded, or loading failed.
fn loading_text(view: View<'_>) -> String {
    match view.app.detail.job_pages.pages() {
        Load::Failed { failure, .. } => failure.message.to_string(),
        _ => "loading…".to_owned(),
    }
}

fn ago(from: Time, now: Time) -> String {
    match short_age(now - from) {
        text if text == "now" => "just now".to_owned(),
        text => format!("{text} ago"),
    }
}

/// Returns `lead` with the time since the job entered its state: `… for 5m` if `lead` ends in “for”, otherwise
/// `… 5m ago`. Returns an empty text if that time is unknown.
fn duration_since(lead: &str, job: &Job, now: Time) -> String {
    match job.state_since() {
        Some(since) => match (lead.strip_suffix(" for"), short_age(now - since)) {
            (Some(lead), age) if age == "now" => format!("{lead} just now"),
            (Some(lead), age) => format!("{lead} for {age}"),
            (None, _) => format!("{lead} {}", ago(since, now)),
        },
        None => String::new(),
    }
}

/// Returns what the job is doing or how it ended, and the style of that text.
fn job_state_text(view: View<'_>, job: &Job) -> (String, Style) {
    let View { theme, now, .. } = view;
    if let Some(kind) = job.undelivered {
        let text = match kind {
            DeliveryKind::Unconfirmed => format!("prompt unconfirmed{}", duration_since(" for", job, now)),
            DeliveryKind::NotSent => format!("prompt not sent{}", duration_since(", tried", job, now)),
            DeliveryKind::Rejected => format!("prompt rejected{}", duration_since("", job, now)),
            DeliveryKind::Sending => "sending…".to_owned(),
            DeliveryKind::Queued if view.app.queue_wait(job, now).is_some() => {
                "prompt queued: hourly limit reached".to_owned()
            }
            DeliveryKind::Queued => format!("prompt queued{}", duration_since(" for", job, now)),
            DeliveryKind::Paused => format!("prompt paused{}", duration_since(" for", job, now)),
            DeliveryKind::Discarded => format!("discarded{}", duration_since("", job, now)),
            DeliveryKind::Accepted => String::new(),
        };
        let style = match kind {
            DeliveryKind::Discarded => theme.muted,
            kind if kind.needs_user() => theme.warning,
            _ => theme.text,
        };
        let press_key = format!(": press {}", view.app.key_label(Context::Detail, Action::Resolve));
        return (format!("{text}{}", if kind.needs_user() { &press_key } else { "" }), style);
    }
    if job.gone {
        let text = format!("gone{}: the service no longer has this job", duration_since(" for", job, now));
        return (text, theme.warning);
    }
    let took = || {
        let end = job.finished_at.filter(|end| *end >= job.started_at);
        end.map(|end| format!(", took {}", format_duration(end - job.started_at))).unwrap_or_default()
    };
    match &job.status {
        None => ("accepted, not checked yet".to_owned(), theme.text),
        Some(Status::Active) => (format!("working for {}", format_duration(now - job.started_at)), theme.working),
        Some(Status::Unknown(_)) => {
            let word = job.status.as_ref().map(Status::word).unwrap_or_default();
            (format!("status: {word}"), theme.working)
        }
        Some(status @ Status::Completed) if job.pr_link.is_none() => {
            (format!("{status}{} without a pull request{}", duration_since("", job, now), took()), theme.text)
        }
        Some(Status::Failed) => (format!("failed{}{}", duration_since("", job, now), took()), theme.bad),
        Some(status) => (format!("{status}{}{}", duration_since("", job, now), took()), theme.text),
    }
}

/// Returns when the job was last checked, and when it will be checked again.
fn poll_times(view: View<'_>, job: &Job) -> String {
    let View { app, now, .. } = view;
    let last = job.checked_at.map_or_else(|| "not yet".to_owned(), |at| ago_exact(at, now, job.is_working()));
    let next = match (&app.connection, next_poll(job)) {
        (_, None) => String::new(),
        (Connection::Offline { .. } | Connection::Limited(_) | Connection::Refused { .. }, Some(_)) => {
            ", again when the service answers".to_owned()
        }
        (_, Some(at)) if at > now => format!(", again in {}", format_duration(at - now)),
        (_, Some(_)) => ", due now".to_owned(),
    };
    format!("{last}{next}")
}

fn ago_exact(at: Time, now: Time, is_exact: bool) -> String {
    if is_exact { format!("{} ago", format_duration(now - at)) } else { ago(at, now) }
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
        ThreadLine::Entry { at, who, text } => {
            let (name, style) = match who {
                Author::You => ("you", theme.key),
                Author::Agent => ("agent", theme.good),
                Author::Docdeck => ("docdeck", theme.muted),
            };
            row.push(left(&time_or_day(view, *at), 6), theme.muted);
            row.push(left(name, ENTRY_INDENT - 6), style).push(text, theme.text);
        }
        ThreadLine::Continuation(text) => {
            row.pad_to(ENTRY_INDENT).push(text, theme.text);
        }
        ThreadLine::PromptLength(text) | ThreadLine::Discarded(text) => {
            row.pad_to(ENTRY_INDENT).push(text, theme.muted);
        }
        ThreadLine::WaitsForEarlierPrompt => {
            row.pad_to(ENTRY_INDENT).push("… behind another prompt", theme.muted);
        }
        ThreadLine::Delivery(delivery) => {
            row.pad_to(ENTRY_INDENT);
            let (text, style) = delivery_text(view, delivery, row.remaining());
            row.push(text, style);
        }
    }
    row.line()
}

/// Returns the state of a delivery and what to do about it, in the longest form that fits, and the style of that text.
fn delivery_text(view: View<'_>, delivery: &Delivery, space: usize) -> (String, Style) {
    let theme = view.theme;
    let fitting = |how: &str, forms: [&str; 3]| {
        let fits = |form: &&str| format!("{how}{form}").chars().count() <= space;
        let form = forms.iter().find(|form| fits(form)).or(forms.last());
        format!("{how}{}", form.unwrap_or(&""))
    };
    let resolve_key = view.app.key_label(Context::Detail, Action::Resolve);
    match delivery {
        Delivery::Queued { until } => {
            let (app, now) = (view.app, view.now);
            let job = app.jobs.selected();
            // Only the first prompts in the queue have a send time; the other prompts wait behind them.
            let known = until.filter(|until| *until > now).map(|until| app.prompt_wait(job, until, now));
            let text = match (known, job.and_then(|job| app.queue_wait(job, now))) {
                (Some(wait), _) => {
                    let when = app.send_time(wait, now);
                    let long = format!("queued, will send {when} if docdeck is running");
                    fitting("… ", [&long, &format!("sends {when} if docdeck runs"), &format!("sends {when}")])
                }
                (None, Some(wait)) => {
                    let when = app.send_time(wait, now);
                    let long = format!("queued behind others, the next is sent {when} if docdeck is running");
                    fitting("… ", [&long, "sends after others if docdeck runs", "queued"])
                }
                (None, None) => {
                    fitting("… ", ["queued, will send in its turn if docdeck is running", "queued", "queued"])
                }
            };
            (text, theme.muted)
        }
        Delivery::Paused => ("‖ paused until resumed".to_owned(), theme.muted),
        Delivery::Sending => ("↑ sending".to_owned(), theme.working),
        Delivery::Accepted => (String::new(), theme.text),
        Delivery::NotSent(_) => {
            let how = format!("! not sent; press {resolve_key}");
            (fitting(&how, [" to retry or edit", " to retry", ""]), theme.bad)
        }
        Delivery::Rejected(_) => {
            let how = format!("! rejected; press {resolve_key}");
            (fitting(&how, [" to edit and send again", " to edit", ""]), theme.bad)
        }
        Delivery::Unconfirmed(_) => (format!("! unconfirmed; press {resolve_key}"), theme.warning),
        Delivery::Discarded { .. } => ("discarded".to_owned(), theme.muted),
    }
}
