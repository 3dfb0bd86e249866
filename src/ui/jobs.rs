//! The jobs list in its groups.
//!
//! ```text
//! ┌ Jobs: all 48 · needs you 3 · working 1 ─────────────────┐
//! │ NEEDS YOU 3                                             │
//! │▌● ✓ Fix broken links in /api           PR 1423     14m  │
//! ```

use super::text::{Row, left, right};
use super::{View, boxed, put};
use crate::app::format::{coarse, count};
use crate::app::jobs::Line as ListLine;
use crate::app::{Pane, Record};
use crate::model::job::Status;
use crate::model::prompt::DeliveryKind;
use crate::model::row::{Group, JobRow};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Wrap};

const INFO: usize = 12;
const AGE: usize = 4;

pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, area: Rect) {
    let View { app, theme, .. } = view;
    let border = if app.pane == Pane::List { theme.focus } else { theme.border };
    let inner = boxed(frame, area, title(view), border);
    if app.jobs.is_empty() {
        empty(frame, view, inner);
        return;
    }
    for (row, line) in app.jobs.visible(usize::from(inner.height)).enumerate() {
        let line = match line {
            ListLine::Heading(group, n, hidden) => heading(view, group, n, hidden),
            ListLine::Job(job) => job_line(view, job, usize::from(inner.width)),
        };
        put(frame, inner, row, line);
    }
}

fn title<'a>(view: View<'_>) -> Line<'a> {
    let View { app, theme, .. } = view;
    let mut spans = vec![Span::styled(" Jobs", theme.title)];
    if app.record == Record::Read {
        // Known on this computer, not all that the service has.
        spans.push(Span::styled(format!(": {} known here", count(app.jobs.len())), theme.muted));
    }
    for (group, style) in [(Group::NeedsYou, theme.warning), (Group::Working, theme.working)] {
        let n = app.jobs.count_of(group);
        if n > 0 {
            spans.push(Span::styled(" · ", theme.muted));
            spans.push(Span::styled(format!("{} {}", group.name(), count(n)), style));
        }
    }
    spans.push(Span::raw(" "));
    Line::from(spans)
}

fn empty(frame: &mut Frame<'_>, view: View<'_>, inner: Rect) {
    let View { app, theme, .. } = view;
    let lines = match &app.record {
        Record::Reading => vec![Line::styled("Reading what is known here…", theme.muted)],
        Record::Unreadable(failure) => vec![Line::styled(failure.sentence.to_string(), theme.bad)],
        Record::Read => vec![
            Line::styled("No jobs are known on this computer yet.", theme.title),
            Line::default(),
            Line::from(vec![Span::styled("n", theme.key), Span::raw("  starts a job from a prompt")]),
            Line::from(vec![
                Span::styled("+", theme.key),
                Span::raw("  tracks a job that was created elsewhere, by its id"),
            ]),
            Line::default(),
            Line::styled("The service can't list its jobs, so docdeck keeps its own record.", theme.muted),
        ],
    };
    let area = Rect {
        x: inner.x + 2,
        width: inner.width.saturating_sub(3),
        y: inner.y + 1,
        height: inner.height.saturating_sub(1),
    };
    frame.render_widget(Paragraph::new(lines).wrap(Wrap { trim: false }), area);
}

fn heading<'a>(view: View<'_>, group: Group, n: usize, hidden: bool) -> Line<'a> {
    let theme = view.theme;
    let style = if group == Group::NeedsYou { theme.warning } else { theme.muted };
    let mut spans = vec![
        Span::styled(format!(" {}", group.name().to_uppercase()), style),
        Span::styled(format!(" {}", count(n)), theme.muted),
    ];
    if hidden {
        spans.push(Span::styled("  z shows them", theme.muted));
    }
    Line::from(spans)
}

fn job_line<'a>(view: View<'_>, job: &JobRow, width: usize) -> Line<'a> {
    let View { app, theme, now } = view;
    let selected = app.jobs.is_selected(job);
    let group = app.jobs.shown_group(job);
    let is_quiet = matches!(group, Group::Done | Group::Dismissed);
    let needs = job.group() == Group::NeedsYou;
    let (glyph, glyph_style) = glyph(view, job);
    let mut row = Row::new(width);
    row.push(if selected { "▌" } else { " " }, theme.mark);
    row.push(if needs { "●" } else { " " }, theme.warning);
    row.push(" ", theme.text).push(glyph, glyph_style).push(" ", theme.text);
    let title_width = row.room().saturating_sub(INFO + AGE + 4);
    let title_style = match (selected, is_quiet) {
        (true, _) => theme.selected,
        (false, true) => theme.muted,
        (false, false) => theme.text,
    };
    row.push(left(job.title.as_str(), title_width), title_style).push("  ", theme.text);
    let (info, info_style) = info(view, job);
    row.push(left(&info, INFO), if is_quiet && !selected { theme.muted } else { info_style });
    row.push(right(&coarse(now - job.age_from()), AGE + 1), theme.muted);
    row.line()
}

/// The sign before a title: its delivery where that is not done, else its status.
pub(super) fn glyph(view: View<'_>, job: &JobRow) -> (&'static str, Style) {
    let theme = view.theme;
    match job.undelivered {
        Some(DeliveryKind::Unconfirmed) => return ("!", theme.warning),
        Some(DeliveryKind::NotSent | DeliveryKind::Rejected) => return ("!", theme.bad),
        Some(DeliveryKind::Sending) => return ("↑", theme.working),
        Some(DeliveryKind::Queued) => return ("…", theme.muted),
        Some(DeliveryKind::Paused) => return ("‖", theme.muted),
        Some(DeliveryKind::Accepted | DeliveryKind::Dismissed) | None => {}
    }
    if job.gone {
        return ("×", theme.muted);
    }
    match &job.status {
        Some(Status::Completed) => ("✓", theme.good),
        Some(Status::Failed) => ("✗", theme.bad),
        Some(Status::Archived) => ("▪", theme.muted),
        Some(Status::Active) => ("◐", theme.working),
        Some(Status::Unknown(_)) => ("?", theme.working),
        None => ("·", theme.muted),
    }
}

/// The word behind a title: what needs to be known beside the sign.
fn info(view: View<'_>, job: &JobRow) -> (String, Style) {
    let theme = view.theme;
    if let Some(kind) = job.undelivered {
        let style = if kind.needs_user() { theme.warning } else { theme.muted };
        return (kind.word().to_owned(), style);
    }
    if job.gone {
        return ("gone".to_owned(), theme.muted);
    }
    if job.id.is_none() {
        return ("let go".to_owned(), theme.muted);
    }
    let pr = || job.pr_number().map_or_else(|| "PR".to_owned(), |number| format!("PR {number}"));
    match &job.status {
        Some(Status::Failed) => ("failed".to_owned(), theme.bad),
        Some(Status::Archived) => ("archived".to_owned(), theme.muted),
        Some(Status::Unknown(word)) => (word.to_string(), theme.working),
        Some(Status::Completed) if job.pr_link.is_some() => (pr(), theme.good),
        Some(Status::Completed) => ("no PR".to_owned(), theme.muted),
        Some(Status::Active) if job.pr_link.is_some() => (pr(), theme.muted),
        Some(Status::Active) => (String::new(), theme.muted),
        None => ("not seen yet".to_owned(), theme.muted),
    }
}
