//! Draws the dialog for new jobs from a list of prompts: the text field, then a preview with the cost.

use super::editor::draft_state_text;
use super::text::{TextRow, fit, right};
use super::{View, cursor, draw_box, draw_line, draw_more_below};
use crate::tui::batch::{BatchDialog, BatchStep, Preview};
use crate::tui::editor::DraftState;
use crate::tui::format::{format_count, plural};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Wrap};
use unicode_width::UnicodeWidthStr;

pub(in crate::tui) fn draw(frame: &mut Frame<'_>, view: View<'_>, batch: &BatchDialog, area: Rect) {
    match &batch.step {
        BatchStep::Writing | BatchStep::Reading(_) => draw_input(frame, view, batch, area),
        BatchStep::Preview(preview) => draw_preview(frame, view, batch, preview, area),
    }
}

fn draw_input(frame: &mut Frame<'_>, view: View<'_>, batch: &BatchDialog, area: Rect) {
    let theme = view.theme;
    let inner = draw_box(frame, area, Line::styled(" New jobs from a list ", theme.title), theme.focus);
    let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
    let width = usize::from(inner.width);
    // A message takes up to three lines.
    let draft_failure =
        matches!(batch.draft_state, DraftState::Failed(_)).then(|| draft_state_text(view, &batch.draft_state).0);
    let message = batch.message.as_ref().map(|message| message.to_string()).or(draft_failure);
    let message_lines = message.as_ref().map_or(1, |message| message.width().div_ceil(width.max(1)).clamp(1, 3));
    let text_rows = usize::from(inner.height).saturating_sub(message_lines + 1);
    let text = Rect { height: u16::try_from(text_rows).unwrap_or(0), ..inner };
    frame.render_widget(batch.input.area(), text);
    cursor::place_in_input(frame, view, text);
    if batch.input.is_blank() && batch.input.size().1 == 0 {
        let hint = "Prompts, separated by blank lines.";
        let spot = Rect { x: text.x + 1, width: text.width.saturating_sub(1), height: text.height.min(1), ..text };
        frame.render_widget(Line::styled(fit(hint, width.saturating_sub(1)), theme.muted), spot);
    }
    draw_line(frame, inner, text_rows, Line::styled("─".repeat(width), theme.border));
    let below = u16::try_from(text_rows + 1).unwrap_or(u16::MAX).min(inner.height);
    let below = Rect { y: inner.y + below, height: inner.height - below, ..inner };
    let (text, style) = match (&batch.step, message) {
        (BatchStep::Reading(file), _) => (format!("Reading {file}…"), theme.working),
        (_, Some(message)) => (message, theme.warning),
        _ => {
            let (lines, characters) = batch.input.size();
            let size = format!("{}, {}", plural(lines, "line"), plural(characters, "character"));
            let draft = draft_state_text(view, &batch.draft_state).0;
            let both = format!("{size}; {draft}");
            // If the size and the state of the draft don't fit together, the state of the draft matters more.
            (if both.width() <= width { both } else { draft }, theme.muted)
        }
    };
    frame.render_widget(Paragraph::new(text).style(style).wrap(Wrap { trim: true }), below);
}

fn draw_preview(frame: &mut Frame<'_>, view: View<'_>, batch: &BatchDialog, preview: &Preview, area: Rect) {
    let View { app, theme, now } = view;
    let title = match &preview.file {
        Some(file) => format!(" {} from {file} ", plural(preview.prompts.len(), "prompt")),
        None => format!(" {} ", plural(preview.prompts.len(), "typed prompt")),
    };
    let title = fit(&title, usize::from(area.width.saturating_sub(4)));
    let inner = draw_box(frame, area, Line::styled(title, theme.title), theme.focus);
    let width = usize::from(inner.width);
    let cost = app.batch_schedule(now).unwrap_or_default();
    draw_line(frame, inner, 0, Line::styled(fit(&format!(" {cost}"), width), theme.title));
    let g = app.geometry();
    let (lines, rows) = (g.batch_lines(), g.batch_rows());
    let digits = format_count(preview.titles.len()).len();
    for (n, ((at, title), chosen)) in preview.list.visible(preview.titles.iter().enumerate(), rows).enumerate() {
        let mut row = TextRow::new(width);
        row.push(if chosen { "▌" } else { " " }, theme.mark);
        row.push(right(&format_count(at + 1), digits), theme.muted).push("  ", theme.text);
        row.push(title.as_str(), if chosen { theme.selected } else { theme.text });
        draw_line(frame, lines, n, row.line());
    }
    draw_more_below(frame, view, area, preview.list.hidden_below(rows));
    if let Some(message) = &batch.message {
        let last = usize::from(inner.height.saturating_sub(1));
        draw_line(frame, inner, last, Line::styled(fit(&format!(" {message}"), width), theme.warning));
    }
}
