//! Draws a list of texts from which the user chooses: a search field, the titles, and a preview of the selected text.
//!
//! ```text
//! ┌ Sent prompts: 12 ────────────────────────────────────────┐
//! │ sso▏                                                     │
//! │▌Rewrite the SSO guide                            4 lines │
//! │ Fix broken links in /api                                 │
//! │──────────────────────────────────────────────────────────│
//! │ Rewrite the SSO guide …                                  │
//! ```

use super::text::{TextRow, fit};
use super::{View, cursor, draw_box, draw_line, draw_more_below};
use crate::model::text::CleanText;
use crate::tui::format::format_count;
use crate::tui::picker::{Picker, PickerKind, PickerLoad};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Wrap};
use unicode_width::UnicodeWidthStr;

/// Maximum number of characters of the selected text that are laid out. No screen has space for more.
const MAX_PREVIEW_CHARS: usize = 8000;

pub(in crate::tui) fn draw(frame: &mut Frame<'_>, view: View<'_>, picker: &Picker, area: Rect) {
    let theme = view.theme;
    let inner = draw_box(frame, area, Line::styled(picker_title(picker), theme.title), theme.focus);
    let text = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
    let width = usize::from(inner.width);
    draw_picker_search(frame, view, picker, text);
    let g = view.app.geometry();
    let (lines, rows) = (g.picker_lines(), g.picker_rows());
    for (n, (entry, chosen)) in picker.visible(rows).enumerate() {
        let mut row = TextRow::new(width);
        let style = if chosen { theme.selected } else { theme.text };
        // In a narrow terminal, a template's file name matters less than its title.
        let has_note = width >= 60 || picker.kind != PickerKind::Templates;
        let note = if has_note { fit(entry.note.as_str(), width / 2) } else { String::new() };
        row.push(if chosen { "▌" } else { " " }, theme.mark);
        row.push(fit(entry.title.as_str(), width.saturating_sub(note.width() + 4)), style);
        row.pad_to(width.saturating_sub(note.width() + 1)).push(note, theme.muted);
        draw_line(frame, lines, n, row.line());
    }
    if picker.takes_text() {
        let field = Rect { height: text.height.min(1), ..text };
        cursor::place_in_corner(frame, field);
        if !picker.filter.is_blank() {
            cursor::place_in_input(frame, view, field);
        }
    }
    draw_line(frame, inner, rows + 1, Line::styled("─".repeat(width), theme.border));
    // The rule is also the lower border of the list.
    let list = Rect { height: u16::try_from(rows + 3).unwrap_or(u16::MAX).min(area.height), ..area };
    draw_more_below(frame, view, list, picker.list.hidden_below(rows));
    let below = u16::try_from(rows + 2).unwrap_or(u16::MAX).min(inner.height);
    let preview = Rect { y: text.y + below, height: inner.height - below, ..text };
    if let Some(entry) = picker.selected() {
        let head: String = entry.text.chars().take(MAX_PREVIEW_CHARS).collect();
        let shown = Paragraph::new(CleanText::block(&head).to_string()).wrap(Wrap { trim: false });
        frame.render_widget(shown, preview);
    }
}

fn picker_title(picker: &Picker) -> String {
    let what = match picker.kind {
        PickerKind::History => "Sent prompts",
        PickerKind::Templates => "Templates",
        PickerKind::Drafts => "Drafts",
    };
    let (all, left) = picker.counts();
    match &picker.load {
        PickerLoad::Done if all == left => format!(" {what}: {} ", format_count(all)),
        PickerLoad::Done => format!(" {what}: {} of {} ", format_count(left), format_count(all)),
        PickerLoad::Waiting | PickerLoad::Failed(_) => format!(" {what} "),
    }
}

/// Draws the search field, and a message if the list is empty.
fn draw_picker_search(frame: &mut Frame<'_>, view: View<'_>, picker: &Picker, area: Rect) {
    let theme = view.theme;
    let width = usize::from(area.width);
    let put_text = |frame: &mut Frame<'_>, row: usize, text: &str, style| {
        draw_line(frame, area, row, Line::styled(fit(text, width), style));
    };
    let hint = picker.kind.hint(view.app.config.is_demo);
    if picker.takes_text() && !picker.filter.is_blank() {
        frame.render_widget(picker.filter.area(), Rect { height: area.height.min(1), ..area });
    } else {
        put_text(frame, 0, hint, theme.muted);
    }
    let empty_text = match (&picker.load, picker.counts(), picker.kind) {
        (PickerLoad::Waiting, ..) => Some("Loading…"),
        (PickerLoad::Done, (0, _), PickerKind::History) => Some("No sent prompts yet."),
        (PickerLoad::Done, (0, _), PickerKind::Templates) => Some("No templates."),
        (PickerLoad::Done, (0, _), PickerKind::Drafts) => Some("No drafts."),
        (PickerLoad::Done, (_, 0), _) => Some("No match."),
        _ => None,
    };
    if let Some(text) = empty_text {
        put_text(frame, 1, text, theme.muted);
    }
    if let PickerLoad::Failed(reason) = &picker.load {
        put_text(frame, 1, reason.as_str(), theme.bad);
    }
}
