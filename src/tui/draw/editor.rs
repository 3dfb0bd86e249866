//! Draws the prompt editor: the text, the state of the draft, and how many requests are left.

use super::text::{TextRow, fit};
use super::{View, cursor, draw_box, draw_line};
use crate::model::ledger::RateLimited;
use crate::model::prompt::PromptKind;
use crate::tui::editor::{DraftState, Editor};
use crate::tui::format::plural;
use crate::tui::keymap::Action;
use crate::tui::message_fit::fit_message as laid_out;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Line;
use unicode_width::UnicodeWidthStr;

/// Maximum number of lines for a message.
const MESSAGE_LINES: usize = 8;

pub(in crate::tui) fn draw(frame: &mut Frame<'_>, view: View<'_>, editor: &Editor, area: Rect) {
    let theme = view.theme;
    let title = fit(editor.title.as_str(), usize::from(area.width.saturating_sub(4)));
    let inner = draw_box(frame, area, Line::styled(format!(" {title} "), theme.title), theme.focus);
    let inner = Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner };
    let (message, style) = editor_message(view, editor);
    let width = usize::from(inner.width).max(1);
    // A failure message may use the line with the size of the text, but one line of the text and the rule stay visible.
    let space = usize::from(inner.height).saturating_sub(2).max(1);
    let message = laid_out(&message, width, space.min(MESSAGE_LINES));
    let below = u16::try_from(message.len() + if message.len() < space { 2 } else { 1 }).unwrap_or(inner.height);
    let text = Rect { height: inner.height.saturating_sub(below), ..inner };
    frame.render_widget(editor.input.area(), text);
    cursor::place_in_input(frame, view, text);
    if editor.input.is_blank() && editor.input.size().1 == 0 {
        let hint = editor.placeholder();
        let spot = Rect { x: text.x + 1, width: text.width.saturating_sub(1), height: text.height.min(1), ..text };
        // In a narrow terminal, only the question at the start of the hint is shown.
        let question = hint.split_inclusive('?').next().unwrap_or(hint);
        let hint = if hint.width() < width { hint } else { question };
        frame.render_widget(Line::styled(fit(hint, width - 1), theme.muted), spot);
    }
    let rule = usize::from(text.height);
    draw_line(frame, inner, rule, Line::styled("─".repeat(width), theme.border));
    if message.len() < space {
        draw_line(frame, inner, usize::from(inner.height.saturating_sub(1)), size_line(view, editor, width));
    }
    for (n, line) in message.into_iter().enumerate() {
        draw_line(frame, inner, rule + 1 + n, Line::styled(line, style));
    }
}

/// Returns the text below the editor and its style: a message, why the prompt was not delivered, or the state of the
/// draft.
fn editor_message(view: View<'_>, editor: &Editor) -> (String, Style) {
    let theme = view.theme;
    if let Some(message) = &editor.message {
        return (message.to_string(), theme.warning);
    }
    if editor.is_in_external_editor {
        return ("open in your editor".to_owned(), theme.working);
    }
    if let Some(reason) = &editor.last_failure {
        return (format!("Last attempt: {reason}"), theme.warning);
    }
    if editor.draft_state == DraftState::Unchanged && editor.is_unchanged() && !editor.input.is_blank() {
        return (format!("Nothing to save; {} closes", close_key(view)), theme.muted);
    }
    draft_state_text(view, &editor.draft_state)
}

fn close_key(view: View<'_>) -> String {
    view.app.contexts().first().map_or_else(String::new, |context| view.app.key_label(*context, Action::Close))
}

/// Returns the state of the draft as text, and its style.
pub(in crate::tui) fn draft_state_text(view: View<'_>, saved: &DraftState) -> (String, Style) {
    let theme = view.theme;
    match saved {
        DraftState::Unchanged => (format!("{} closes and keeps the draft", close_key(view)), theme.muted),
        DraftState::Due(_) => ("draft not saved yet".to_owned(), theme.muted),
        DraftState::Saving => ("saving the draft…".to_owned(), theme.muted),
        DraftState::Saved(_) if view.app.config.is_demo => ("draft kept until the demo ends".to_owned(), theme.muted),
        DraftState::Saved(at) => {
            let at = at.with_timezone(&view.app.config.offset).format("%H:%M:%S");
            (format!("draft saved at {at}"), theme.muted)
        }
        DraftState::Failed(reason) => (format!("Could not save the draft: {reason}"), theme.warning),
    }
}

fn size_line<'a>(view: View<'_>, editor: &Editor, width: usize) -> Line<'a> {
    let theme = view.theme;
    let (lines, characters) = editor.input.size();
    let line_count = plural(lines, "line");
    let both = format!("{line_count}, {}", plural(characters, "character"));
    let mut row = TextRow::new(width);
    let limited = match editor.kind {
        PromptKind::FollowUp => RateLimited::FollowUp,
        PromptKind::Create => RateLimited::Create,
    };
    if view.app.has_budget(limited) {
        let budget = view.app.budget(limited);
        let short = format!("{} {} left", budget.requests_left(), limited.label());
        let long = format!("{short} this hour");
        let size = [both, line_count];
        let fits = |size: &str, left: &str| size.width() + 2 + left.width() <= width;
        // In a narrow terminal, the number of requests left matters more than the number of characters.
        let size = if fits(&size[0], &long) { &size[0] } else { &size[1] };
        let left = if fits(size, &long) { long } else { short };
        row.push(size, theme.muted);
        row.pad_to(width.saturating_sub(left.width()).max(width - row.remaining() + 2));
        row.push(left, if budget.requests_left() == 0 { theme.warning } else { theme.muted });
    } else {
        row.push(both, theme.muted);
    }
    row.line()
}
