//! A list of texts to choose from: what narrows it, the titles, the chosen one in full.
//!
//! ```text
//! ┌ Prompts that were sent: 12 ──────────────────────────────┐
//! │ sso▏                                                     │
//! │▌Rewrite the SSO guide                            4 lines │
//! │ Fix broken links in /api                                 │
//! │──────────────────────────────────────────────────────────│
//! │ Rewrite the SSO guide …                                  │
//! ```

use super::text::{TextRow, fit};
use super::{View, boxed, cursor, more_below, put};
use crate::app::format::count;
use crate::app::picker::{Picker, PickerLoad, Picking};
use crate::model::text::CleanText;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::text::Line;
use ratatui::widgets::{Paragraph, Wrap};
use unicode_width::UnicodeWidthStr;

/// Characters of the chosen text that are laid out; more has no room on any screen.
const PREVIEW: usize = 8000;

pub(super) fn draw(frame: &mut Frame<'_>, view: View<'_>, picker: &Picker, area: Rect) {
    let theme = view.theme;
    let inner = boxed(frame, area, Line::styled(title(picker), theme.title), theme.focus);
    let text = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
    let width = usize::from(inner.width);
    narrowing(frame, view, picker, text);
    let g = view.app.geometry();
    let (lines, rows) = (g.picker_lines(), g.picker_rows());
    for (n, (entry, chosen)) in picker.visible(rows).enumerate() {
        let mut row = TextRow::new(width);
        let style = if chosen { theme.selected } else { theme.text };
        // A template's file name says less than its title.
        let has_note = width >= 60 || picker.picking != Picking::Templates;
        let note = if has_note { fit(entry.note.as_str(), width / 2) } else { String::new() };
        row.push(if chosen { "▌" } else { " " }, theme.mark);
        row.push(fit(entry.title.as_str(), width.saturating_sub(note.width() + 4)), style);
        row.to(width.saturating_sub(note.width() + 1)).push(note, theme.muted);
        put(frame, lines, n, row.line());
    }
    if picker.takes_text() {
        let field = Rect { height: text.height.min(1), ..text };
        cursor::enter(frame, field);
        if !picker.filter.is_blank() {
            cursor::type_at(frame, view, field);
        }
    }
    put(frame, inner, rows + 1, Line::styled("─".repeat(width), theme.border));
    // The rule is the lower border of the list.
    let list = Rect { height: u16::try_from(rows + 3).unwrap_or(u16::MAX).min(area.height), ..area };
    more_below(frame, view, list, picker.hidden_below(rows));
    let below = u16::try_from(rows + 2).unwrap_or(u16::MAX).min(inner.height);
    let preview = Rect { y: text.y + below, height: inner.height - below, ..text };
    if let Some(entry) = picker.selected() {
        let head: String = entry.text.chars().take(PREVIEW).collect();
        let shown = Paragraph::new(CleanText::block(&head).to_string()).wrap(Wrap { trim: false });
        frame.render_widget(shown, preview);
    }
}

fn title(picker: &Picker) -> String {
    let what = match picker.picking {
        Picking::History => "Prompts that were sent",
        Picking::Templates => "Templates",
        Picking::Drafts => "Drafts",
    };
    let (all, left) = picker.counts();
    match &picker.reading {
        PickerLoad::Done if all == left => format!(" {what}: {} ", count(all)),
        PickerLoad::Done => format!(" {what}: {} of {} ", count(left), count(all)),
        PickerLoad::Waiting | PickerLoad::Failed(_) => format!(" {what} "),
    }
}

/// What is typed, or what there is to say instead of a list.
fn narrowing(frame: &mut Frame<'_>, view: View<'_>, picker: &Picker, area: Rect) {
    let theme = view.theme;
    let width = usize::from(area.width);
    let say = |frame: &mut Frame<'_>, row: usize, text: &str, style| {
        put(frame, area, row, Line::styled(fit(text, width), style));
    };
    let hint = picker.picking.invitation(view.app.config.demo);
    if picker.takes_text() && !picker.filter.is_blank() {
        frame.render_widget(picker.filter.area(), Rect { height: area.height.min(1), ..area });
    } else {
        say(frame, 0, hint, theme.muted);
    }
    let nothing = match (&picker.reading, picker.counts(), picker.picking) {
        (PickerLoad::Waiting, ..) => Some("Reading…"),
        (PickerLoad::Done, (0, _), Picking::History) => Some("No prompts were sent from here yet."),
        (PickerLoad::Done, (0, _), Picking::Templates) => Some("There are no templates."),
        (PickerLoad::Done, (0, _), Picking::Drafts) => Some("There are no drafts."),
        (PickerLoad::Done, (_, 0), _) => Some("None has all these words."),
        _ => None,
    };
    if let Some(text) = nothing {
        say(frame, 1, text, theme.muted);
    }
    if let PickerLoad::Failed(reason) = &picker.reading {
        say(frame, 1, reason.as_str(), theme.bad);
    }
}
